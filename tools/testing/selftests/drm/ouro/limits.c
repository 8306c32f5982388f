// SPDX-License-Identifier: GPL-2.0
/*
 * Limits: the last number that is taken, and the first that is not (uapi.rst, "Limits"). That a
 * number is taken shows by the next check that fails.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#define TOPIC limits
#define ANY_I915
#include "device.h"
#include "files.h"
#include "memory.h"
#include "sw_sync.h"
#include "test.h"

/* uapi.rst */
#define COUNT 1048576u
#define RELOCATIONS 67108864u
#define CONTEXTS 65536
#define OF_CLIENT 8192
#define OF_TIMELINE 512
/* A batch that is longer is not copied; copies of all clients that wait for foreign fences. */
#define COPIED (512u << 10)
#define COPIES_THAT_WAIT (1536u << 10)

static __u32 end_batch(const struct gpu *gpu)
{
	__u32 handle = gem_create(gpu->fd, PAGE);

	return gem_write(gpu->fd, handle, 0, &gpu->backend->batch_end, 4) ? 0 : handle;
}

TEST_F(limits, counts_at_their_limits)
{
	struct drm_i915_gem_exec_object2 objects[2] = { { .handle = end_batch(&self->gpu) },
							{ .handle = end_batch(&self->gpu) } };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = BAD_POINTER };
	struct drm_i915_gem_execbuffer_ext_timeline_fences fences = {
		.base.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES,
		.handles_ptr = BAD_POINTER,
		.values_ptr = BAD_POINTER,
	};
	struct drm_i915_query query = { .items_ptr = BAD_POINTER };

	/* objects */
	eb.buffer_count = COUNT;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EFAULT);
	eb.buffer_count = COUNT + 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	/* relocations of all objects together, where there are any */
	eb.buffers_ptr = U64(objects);
	eb.buffer_count = 2;
	objects[0].relocs_ptr = BAD_POINTER;
	objects[0].relocation_count = RELOCATIONS - 1;
	objects[1].relocs_ptr = BAD_POINTER;
	objects[1].relocation_count = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, addresses_chosen() ? EINVAL : EFAULT);
	objects[1].relocation_count = 2;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	objects[0].relocation_count = ~0u;
	objects[1].relocation_count = ~0u;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	objects[0].relocation_count = 0;
	objects[1].relocation_count = 0;
	/* fences, both ways */
	eb.flags = I915_EXEC_FENCE_ARRAY;
	eb.cliprects_ptr = BAD_POINTER;
	eb.num_cliprects = COUNT;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EFAULT);
	eb.num_cliprects = COUNT + 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	eb.flags = I915_EXEC_USE_EXTENSIONS;
	eb.num_cliprects = 0;
	eb.cliprects_ptr = U64(&fences);
	fences.fence_count = COUNT;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EFAULT);
	fences.fence_count = COUNT + 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	/* items of a query */
	query.num_items = 1024;
	BAD(self->fd, DRM_IOCTL_I915_QUERY, &query, EFAULT);
	query.num_items = 1025;
	BAD(self->fd, DRM_IOCTL_I915_QUERY, &query, EINVAL);
}

/* A fence that cannot be returned: then nothing runs. */
TEST_F(limits, no_descriptor_is_left)
{
	struct drm_i915_gem_exec_object2 object = { .handle = end_batch(&self->gpu) };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .flags = I915_EXEC_FENCE_OUT,
					       .rsvd2 = 77 };
	struct rlimit limit, none;
	int next = dup(0);

	close(next);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = next;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb, EMFILE);
	EXPECT_EQ(77, eb.rsvd2);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_EQ(0, gem_busy(self->fd, object.handle));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	close(eb.rsvd2 >> 32);
}

/* Memory that the machine does not have is not looked for. */
TEST_F(limits, more_than_the_machine_has)
{
	struct drm_i915_gem_set_domain set = { .handle = gem_create(self->fd, 1ull << 38),
					       .read_domains = I915_GEM_DOMAIN_CPU };

	if (!self->gpu.ouro)
		SKIP(return, "the upstream driver has other limits");
	if (addresses_chosen())
		SKIP(return, "no call here only looks for memory");
	ASSERT_NE(0, set.handle);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set, ENOMEM);
}

TEST_F(limits, bannable_is_for_root)
{
	struct drm_i915_gem_context_param set = { .ctx_id = context_create(self->fd),
						  .param = I915_CONTEXT_PARAM_BANNABLE };

	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set);
	set.value = 1;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set);
	ASSERT_EQ(0, seteuid(65534));
	/* who may be banned may say so, who may not must be asked */
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set);
	set.value = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set, EPERM);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &set);
	EXPECT_EQ(1, set.value);
	ASSERT_EQ(0, seteuid(0));
}

TEST_F(limits, contexts_of_a_client)
{
	unsigned int limit = rounds("OURO_CONTEXTS", CONTEXTS, 0), n;
	struct drm_i915_gem_context_create create = {};
	struct gpu other;
	__u32 last = 0;
	int got = 0;

	if (!self->gpu.ouro || !limit)
		SKIP(return, "65536 contexts are made on the plain kernel only");
	ASSERT_EQ(0, gpu_open(&other));
	for (n = 0; n < limit + 16; n++) {
		got = call(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create);
		if (got)
			break;
		last = create.ctx_id;
	}
	cover("DRM_IOCTL_I915_GEM_CONTEXT_CREATE");
	EXPECT_EQ(-ENOSPC, got);
	/* the default one may count */
	EXPECT_GE(n, limit - 1);
	EXPECT_LE(n, limit);
	/* one less, one more; others have their own */
	EXPECT_EQ(0, context_destroy(self->fd, last));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create, ENOSPC);
	GOOD(other.fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create);
	gpu_close(&other);
}

/* All timelines of a client together may have less under way than each of them. */
TEST_F(limits, requests_of_a_client)
{
	enum { N = OF_CLIENT / OF_TIMELINE + 1 };
	struct drm_i915_gem_exec_object2 object = { .handle = end_batch(&self->gpu) };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .flags = self->gpu.engines[0].ring };
	unsigned int taken = 0, i, k;
	int flags = fcntl(self->fd, F_GETFL), got = 0;
	struct gpu other;
	struct spin spin;

	if (!self->gpu.ouro || !rounds("OURO_REQUESTS", OF_CLIENT, 0))
		SKIP(return, "8192 requests are made on the plain kernel only");
	ASSERT_EQ(0, gpu_open(&other));
	hang_check(self->fd, false);
	/* whatever the engine can run beside it: these wait for what it writes */
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, object.handle, NULL, &spin));
	taken = 1;
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags | O_NONBLOCK));
	for (i = 0; i < N && taken < OF_CLIENT; i++) {
		eb.rsvd1 = context_create(self->fd);
		for (k = 0, got = 0; k < OF_TIMELINE && !got; k++) {
			got = ioctl(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb) ? -errno : 0;
			taken += !got;
		}
	}
	/* the next one is one too many, on whatever timeline */
	eb.rsvd1 = context_create(self->fd);
	got = ioctl(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb) ? -errno : 0;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EAGAIN, got);
	EXPECT_EQ(OF_CLIENT, taken);
	/* not for others */
	EXPECT_EQ(0, store(&other, &other.engines[other.n_engines - 1], 0,
			   gem_create(other.fd, PAGE), 0, 1));
	spin_stop(&spin);
	EXPECT_EQ(0, gem_wait(self->fd, object.handle, -1));
	EXPECT_EQ(0, fcntl(self->fd, F_SETFL, flags));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	hang_check(self->fd, true);
	spin_free(&spin);
	gpu_close(&other);
}

/*
 * Many clients have each a copy that waits for a fence of theirs: a quarter of the memory is left
 * to batches that wait for no such fence.
 */
TEST_F(limits, copies_that_wait_leave_room)
{
	enum { CLIENTS = 6 };
	const __u32 end = self->gpu.backend->batch_end;
	struct drm_i915_gem_exec_object2 object = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .batch_len = COPIED };
	const __u64 ring = self->gpu.engines[0].ring;
	int timeline = sw_timeline(), fence, got;
	struct gpu others[CLIENTS];
	unsigned int i, taken = 0;

	if (!self->gpu.ouro || getparam(self->fd, I915_PARAM_CMD_PARSER_VERSION) <= 0)
		SKIP(return, "batches are not copied on this device");
	if (timeline < 0)
		SKIP(return, "the kernel was built without CONFIG_SW_SYNC");
	/* a copy of a request that has completed and is not released would divide the room */
	ASSERT_EQ(0, wait_freed(self->fd));
	fence = sw_fence(timeline);
	ASSERT_LE(0, fence);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < CLIENTS; i++) {
		int fd;

		ASSERT_EQ(0, gpu_open(&others[i]));
		fd = others[i].fd;
		ASSERT_EQ(0, fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
		object.handle = gem_create(fd, COPIED);
		ASSERT_EQ(0, gem_write(fd, object.handle, COPIED - 4, &end, sizeof(end)));
		eb.flags = ring | I915_EXEC_FENCE_IN;
		eb.rsvd2 = fence;
		got = ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb) ? -errno : 0;
		EXPECT_TRUE(!got || got == -EAGAIN);
		taken += !got;
	}
	EXPECT_EQ(COPIES_THAT_WAIT / COPIED, taken);
	/* of one whose copy found no room, and of another one */
	for (i = CLIENTS - 1; i <= CLIENTS; i++) {
		int fd = i < CLIENTS ? others[i].fd : self->fd;

		object.handle = gem_create(fd, COPIED);
		ASSERT_EQ(0, gem_write(fd, object.handle, COPIED - 4, &end, sizeof(end)));
		eb.flags = ring;
		eb.rsvd2 = 0;
		ASSERT_EQ(0, ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb) ? -errno : 0);
		EXPECT_EQ(0, gem_wait(fd, object.handle, -1));
	}
	ASSERT_EQ(0, sw_signal(timeline));
	for (i = 0; i < CLIENTS; i++)
		gpu_close(&others[i]);
	close(fence);
	close(timeline);
}

TEST_HARNESS_MAIN

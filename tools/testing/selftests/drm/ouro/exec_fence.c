// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GEM_EXECBUFFER2: fences. Fence files in and out, arrays of
 * syncobjs, and what they hold back.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <linux/sync_file.h>

#define TOPIC exec_fence
#define ANY_I915
#include "test.h"

static __u32 syncobj_create(int fd, __u32 flags)
{
	struct drm_syncobj_create create = { .flags = flags };

	return call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

/* 0: signalled; -ETIME: not. Waits for what is there now. */
static int syncobj_state(int fd, __u32 handle)
{
	struct drm_syncobj_wait wait = { .handles = U64(&handle),
					 .count_handles = 1,
					 .timeout_nsec = 0 };

	return call(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

static int fence_done(int fence, int timeout)
{
	struct pollfd p = { .fd = fence, .events = POLLIN };

	return poll(&p, 1, timeout) == 1;
}

TEST_F(exec_fence, out)
{
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		struct sync_file_info info = {};
		struct spin spin;
		int fence = -1;

		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[i], 0, 0, &fence, &spin));
		ASSERT_GT(fence, 2);
		EXPECT_NE(0, fcntl(fence, F_GETFD) & FD_CLOEXEC);
		EXPECT_FALSE(fence_done(fence, 0));
		spin_stop(&spin);
		EXPECT_TRUE(fence_done(fence, 60000));
		EXPECT_EQ(0, ioctl(fence, SYNC_IOC_FILE_INFO, &info));
		EXPECT_EQ(1, info.status);
		close(fence);
		spin_free(&spin);
	}
}

TEST_F(exec_fence, in_holds_back)
{
	const struct engine *first = &self->gpu.engines[0],
			    *second = &self->gpu.engines[self->gpu.n_engines - 1];
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_execbuffer2 eb;
	struct spin spin;
	struct batch b;
	int fence = -1;

	ASSERT_EQ(0, spin_start(&self->gpu, first, 0, 0, &fence, &spin));
	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, second, 4), target, 0, 5);
	batch_end(&b, self->gpu.backend);
	batch_finish(self->fd, &b, &eb);
	eb.flags = second->ring | I915_EXEC_FENCE_IN;
	eb.rsvd2 = fence;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	/* the fence is still ours, and the store waits for it */
	EXPECT_NE(-1, fcntl(fence, F_GETFD));
	EXPECT_EQ(1, gem_busy(self->fd, target));
	EXPECT_EQ(-ETIME, gem_wait(self->fd, target, 2000000));
	spin_stop(&spin);
	EXPECT_EQ(0, gem_wait(self->fd, target, -1));
	EXPECT_EQ(5, gem_read32(self->fd, target, 0));
	close(fence);
	spin_free(&spin);
}

TEST_F(exec_fence, in_and_out_in_one)
{
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i;
	int fence = -1;

	for (i = 0; i < 24; i++) {
		const struct engine *engine = &self->gpu.engines[i % self->gpu.n_engines];
		struct drm_i915_gem_execbuffer2 eb;
		struct batch b;

		batch_init(&b);
		batch_store(&b, store_for(&self->gpu, engine, 4), target, 8 * i, i + 1);
		batch_end(&b, self->gpu.backend);
		batch_finish(self->fd, &b, &eb);
		eb.flags = engine->ring | I915_EXEC_FENCE_OUT;
		if (fence >= 0) {
			eb.flags |= I915_EXEC_FENCE_IN;
			eb.rsvd2 = fence;
		}
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
		if (fence >= 0)
			close(fence);
		fence = eb.rsvd2 >> 32;
		ASSERT_GE(fence, 0);
	}
	EXPECT_TRUE(fence_done(fence, 60000));
	for (i = 0; i < 24; i++)
		EXPECT_EQ(i + 1, gem_read32(self->fd, target, 8 * i));
	close(fence);
}

TEST_F(exec_fence, files_that_are_no_fences)
{
	__u32 target = gem_create(self->fd, PAGE);
	int bad[] = { -1, 1000, 0, self->fd };
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	unsigned int i;

	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, &self->gpu.engines[0], 4), target, 0, 1);
	batch_end(&b, self->gpu.backend);
	batch_finish(self->fd, &b, &eb);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		eb.flags = self->gpu.engines[0].ring | I915_EXEC_FENCE_IN;
		eb.rsvd2 = (__u32)bad[i];
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	}
	EXPECT_EQ(0, gem_read32(self->fd, target, 0));
}

TEST_F(exec_fence, array_signals_and_waits)
{
	const struct engine *first = &self->gpu.engines[0],
			    *second = &self->gpu.engines[self->gpu.n_engines - 1];
	__u32 target = gem_create(self->fd, PAGE), syncobj = syncobj_create(self->fd, 0),
	      done = syncobj_create(self->fd, 0);
	struct drm_i915_gem_exec_fence fences[2] = { { .handle = syncobj,
						       .flags = I915_EXEC_FENCE_SIGNAL } };
	struct drm_i915_gem_execbuffer2 eb;
	struct spin spin;
	struct batch b;

	ASSERT_NE(0, syncobj);
	/* an endless batch, and behind it on the same ring one that signals */
	ASSERT_EQ(0, spin_start(&self->gpu, first, 0, 0, NULL, &spin));
	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, first, 4), target, 0, 1);
	batch_end(&b, self->gpu.backend);
	batch_finish(self->fd, &b, &eb);
	eb.flags = first->ring | I915_EXEC_FENCE_ARRAY;
	eb.num_cliprects = 1;
	eb.cliprects_ptr = U64(fences);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(-ETIME, syncobj_state(self->fd, syncobj));

	/* on the other ring one that waits for it and signals in its turn */
	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, second, 4), target, 64, 2);
	batch_end(&b, self->gpu.backend);
	batch_finish(self->fd, &b, &eb);
	fences[0].flags = I915_EXEC_FENCE_WAIT;
	fences[1] =
		(struct drm_i915_gem_exec_fence){ .handle = done, .flags = I915_EXEC_FENCE_SIGNAL };
	eb.flags = second->ring | I915_EXEC_FENCE_ARRAY;
	eb.num_cliprects = 2;
	eb.cliprects_ptr = U64(fences);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(-ETIME, syncobj_state(self->fd, done));
	spin_stop(&spin);
	EXPECT_EQ(0, gem_wait(self->fd, target, -1));
	EXPECT_EQ(1, gem_read32(self->fd, target, 0));
	EXPECT_EQ(2, gem_read32(self->fd, target, 64));
	EXPECT_EQ(0, syncobj_state(self->fd, syncobj));
	EXPECT_EQ(0, syncobj_state(self->fd, done));
	spin_free(&spin);
}

TEST_F(exec_fence, array_arguments)
{
	__u32 target = gem_create(self->fd, PAGE),
	      syncobj = syncobj_create(self->fd, DRM_SYNCOBJ_CREATE_SIGNALED);
	struct drm_i915_gem_exec_fence fence = { .handle = syncobj,
						 .flags = I915_EXEC_FENCE_SIGNAL };
	__u64 pointers[] = { 0, BAD_POINTER, KERNEL_POINTER };
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	unsigned int i;
	int got;

	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, &self->gpu.engines[0], 4), target, 0, 1);
	batch_end(&b, self->gpu.backend);
	batch_finish(self->fd, &b, &eb);
	eb.flags = self->gpu.engines[0].ring | I915_EXEC_FENCE_ARRAY;
	eb.num_cliprects = 1;
	for (i = 0; i < ARRAY_LEN(pointers); i++) {
		eb.cliprects_ptr = pointers[i];
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EFAULT);
	}
	eb.cliprects_ptr = U64(&fence);
	for (i = 2; i < 32; i++) {
		fence.flags = 1u << i;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	}
	fence.flags = I915_EXEC_FENCE_SIGNAL;
	fence.handle = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	fence.handle = 0xfffffff0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	fence.flags = I915_EXEC_FENCE_WAIT;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	/* there is nothing in it to wait for */
	fence.handle = syncobj_create(self->fd, 0);
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	eb.num_cliprects = 0xffffffff;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	got = call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_TRUE(got == -EINVAL || got == -EFAULT || got == -ENOMEM);
	EXPECT_EQ(0, gem_read32(self->fd, target, 0));

	eb.num_cliprects = 1;
	fence.handle = syncobj;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(1, gem_read32(self->fd, target, 0));
}

TEST_F(exec_fence, a_failed_submission_signals_nothing)
{
	__u32 syncobj = syncobj_create(self->fd, 0);
	struct drm_i915_gem_exec_fence fence = { .handle = syncobj,
						 .flags = I915_EXEC_FENCE_SIGNAL };
	struct drm_i915_gem_exec_object2 object = { .handle = 0 };
	struct drm_i915_gem_execbuffer2 eb = {
		.buffers_ptr = U64(&object),
		.buffer_count = 1,
		.num_cliprects = 1,
		.cliprects_ptr = U64(&fence),
		.flags = I915_EXEC_FENCE_ARRAY | I915_EXEC_FENCE_OUT,
		.rsvd2 = 0x1234,
	};
	int next, after;

	next = dup(0);
	close(next);
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb, ENOENT);
	EXPECT_EQ(-EINVAL, syncobj_state(self->fd, syncobj));
	/* and leaves no file open */
	after = dup(0);
	EXPECT_EQ(next, after);
	close(after);
}

TEST_HARNESS_MAIN

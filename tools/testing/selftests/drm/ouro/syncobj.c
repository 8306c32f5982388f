// SPDX-License-Identifier: GPL-2.0
/*
 * Syncobjs as the device has them: DRM_IOCTL_SYNCOBJ_*, binary and timeline,
 * and their use by submissions.
 */
#include <poll.h>
#include <time.h>

#define TOPIC syncobj
#define ANY_I915
#define MUTE_ENGINES
#include "test.h"
#include "batch_i915.h"

static __u32 make(int fd, __u32 flags)
{
	struct drm_syncobj_create create = { .flags = flags };

	return call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

static __s64 deadline(int seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec + seconds) * 1000000000ll + now.tv_nsec;
}

/* One store with fences; 0 or a negative errno. */
static int store_with(const struct gpu *gpu, const struct engine *engine, __u32 target, __u32 value,
		      __u64 flags, __u32 count, void *fences)
{
	struct drm_i915_gem_execbuffer2 eb = { .flags = flags,
					       .num_cliprects = count,
					       .cliprects_ptr = U64(fences) };

	return i915_store(gpu, engine, target, value, &eb);
}

TEST_F(syncobj, create_and_destroy)
{
	struct drm_syncobj_create create = {};
	struct drm_syncobj_destroy destroy = {};

	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);
	EXPECT_NE(0, create.handle);
	destroy.handle = create.handle;
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy, EINVAL);
	destroy.pad = 1;
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy, EINVAL);
	create.flags = 0x80;
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create, EINVAL);
}

TEST_F(syncobj, states)
{
	__u32 handle = make(self->fd, 0), done = make(self->fd, DRM_SYNCOBJ_CREATE_SIGNALED);
	struct drm_syncobj_wait wait = { .handles = U64(&handle), .count_handles = 1 };
	struct drm_syncobj_array array = { .handles = U64(&handle), .count_handles = 1 };

	/* nothing in it; nothing in time; something */
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait, EINVAL);
	wait.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait, ETIME);
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_SIGNAL, &array);
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_RESET, &array);
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait, ETIME);
	wait.handles = U64(&done);
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	handle = 0xfffffff0;
	wait.handles = U64(&handle);
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait, ENOENT);
}

TEST_F(syncobj, signalled_by_a_submission)
{
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int e;

	for (e = 0; e < self->gpu.n_engines; e++) {
		__u32 handle = make(self->fd, 0);
		struct drm_i915_gem_exec_fence fence = { .handle = handle,
							 .flags = I915_EXEC_FENCE_SIGNAL };
		struct drm_syncobj_wait wait = {
			.handles = U64(&handle),
			.count_handles = 1,
			.timeout_nsec = deadline(60),
		};

		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, store_with(&self->gpu, &self->gpu.engines[e], target, e + 1,
					I915_EXEC_FENCE_ARRAY, 1, &fence));
		GOOD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
		EXPECT_EQ(e + 1, gem_read32(self->fd, target, 0));
	}
}

TEST_F(syncobj, as_a_file_and_back)
{
	__u32 target = gem_create(self->fd, PAGE), handle = make(self->fd, 0);
	struct drm_i915_gem_exec_fence fence = { .handle = handle,
						 .flags = I915_EXEC_FENCE_SIGNAL };
	struct drm_syncobj_handle to = { .handle = handle,
					 .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE };
	struct drm_syncobj_handle from = {
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE
	};
	struct pollfd p = { .events = POLLIN };
	struct spin spin;

	/* nothing to export yet */
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &to, EINVAL);
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	ASSERT_EQ(0, store_with(&self->gpu, &self->gpu.engines[0], target, 9, I915_EXEC_FENCE_ARRAY,
				1, &fence));
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &to);
	p.fd = to.fd;
	EXPECT_EQ(0, poll(&p, 1, 0));
	/* and into another syncobj */
	from.fd = to.fd;
	from.handle = make(self->fd, 0);
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &from);
	spin_stop(&spin);
	EXPECT_EQ(1, poll(&p, 1, 60000));
	{
		struct drm_syncobj_wait wait = { .handles = U64(&from.handle),
						 .count_handles = 1,
						 .timeout_nsec = deadline(60) };

		GOOD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	}
	EXPECT_EQ(9, gem_read32(self->fd, target, 0));
	close(to.fd);
	spin_free(&spin);
}

TEST_F(syncobj, timeline)
{
	__u32 handle = make(self->fd, 0);
	__u64 point = 5, value = 0;
	struct drm_syncobj_timeline_array array = { .handles = U64(&handle),
						    .points = U64(&point),
						    .count_handles = 1 };
	struct drm_syncobj_timeline_array query = { .handles = U64(&handle),
						    .points = U64(&value),
						    .count_handles = 1 };
	struct drm_syncobj_timeline_wait wait = {
		.handles = U64(&handle),
		.points = U64(&point),
		.count_handles = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};

	BAD(self->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait, ETIME);
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &array);
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_QUERY, &query);
	EXPECT_EQ(5, value);
	point = 6;
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait, ETIME);
}

/* Points of a timeline that submissions wait for and signal. */
TEST_F(syncobj, timeline_in_a_submission)
{
	__u32 target = gem_create(self->fd, PAGE), handle = make(self->fd, 0);
	struct drm_i915_gem_exec_fence fences[2] = {
		{ .handle = handle, .flags = I915_EXEC_FENCE_WAIT },
		{ .handle = handle, .flags = I915_EXEC_FENCE_SIGNAL },
	};
	__u64 points[2] = {}, value = 0;
	struct drm_i915_gem_execbuffer_ext_timeline_fences ext = {
		.base = { .name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES },
		.fence_count = 2,
		.handles_ptr = U64(fences),
		.values_ptr = U64(points),
	};
	struct drm_syncobj_timeline_array query = { .handles = U64(&handle),
						    .points = U64(&value),
						    .count_handles = 1 };
	struct drm_syncobj_timeline_wait wait = {
		.handles = U64(&handle),
		.points = U64(&points[1]),
		.count_handles = 1,
		.timeout_nsec = deadline(60),
	};
	unsigned int i;

	if (getparam(self->fd, I915_PARAM_HAS_EXEC_TIMELINE_FENCES) <= 0)
		SKIP(return, "the driver takes no timeline fences");
	ext.fence_count = 1;
	ext.handles_ptr = U64(&fences[1]);
	ext.values_ptr = U64(&points[1]);
	points[1] = 1;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, store_with(&self->gpu, &self->gpu.engines[0], target, 1,
				I915_EXEC_USE_EXTENSIONS, 0, &ext));
	ext.fence_count = 2;
	ext.handles_ptr = U64(fences);
	ext.values_ptr = U64(points);
	for (i = 2; i < 12; i++) {
		points[0] = i - 1;
		points[1] = i;
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, store_with(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines],
					target, i, I915_EXEC_USE_EXTENSIONS, 0, &ext));
	}
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
	EXPECT_EQ(11, gem_read32(self->fd, target, 0));
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_QUERY, &query);
	EXPECT_EQ(11, value);
	/* bad ones */
	fences[0].flags = 1u << 5;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EINVAL, store_with(&self->gpu, &self->gpu.engines[0], target, 1,
				      I915_EXEC_USE_EXTENSIONS, 0, &ext));
	fences[0] = (struct drm_i915_gem_exec_fence){ .handle = 0xfffffff0,
						      .flags = I915_EXEC_FENCE_WAIT };
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-ENOENT, store_with(&self->gpu, &self->gpu.engines[0], target, 1,
				      I915_EXEC_USE_EXTENSIONS, 0, &ext));
	ext.handles_ptr = BAD_POINTER;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EFAULT, store_with(&self->gpu, &self->gpu.engines[0], target, 1,
				      I915_EXEC_USE_EXTENSIONS, 0, &ext));
	ext.base.name = 0x1234;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EINVAL, store_with(&self->gpu, &self->gpu.engines[0], target, 1,
				      I915_EXEC_USE_EXTENSIONS, 0, &ext));
}

/* All points of one batch are signalled with it, and there may be 1024 of them (uapi.rst). */
TEST_F(syncobj, many_points_in_a_submission)
{
	enum { MOST = 1024 };
	__u32 target = gem_create(self->fd, PAGE), handles[2] = { make(self->fd, 0),
								  make(self->fd, 0) };
	static struct drm_i915_gem_exec_fence fences[MOST + 1];
	static __u64 points[MOST + 1];
	__u64 values[2] = {}, middle[2] = { MOST / 4, MOST / 2 };
	struct drm_i915_gem_execbuffer_ext_timeline_fences ext = {
		.base = { .name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES },
		.fence_count = MOST,
		.handles_ptr = U64(fences),
		.values_ptr = U64(points),
	};
	struct drm_syncobj_timeline_array query = { .handles = U64(handles),
						    .points = U64(values),
						    .count_handles = 2 };
	struct drm_syncobj_timeline_wait wait = {
		.handles = U64(handles),
		.points = U64(middle),
		.count_handles = 2,
		.timeout_nsec = deadline(60),
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
	};
	unsigned int i;

	if (!self->gpu.ouro || getparam(self->fd, I915_PARAM_HAS_EXEC_TIMELINE_FENCES) <= 0)
		SKIP(return, "the driver has another limit, or takes no timeline fences");
	/* by turns; one timeline upwards, and the other one downwards */
	for (i = 0; i < MOST + 1; i++) {
		fences[i].handle = handles[i % 2];
		fences[i].flags = I915_EXEC_FENCE_SIGNAL;
		points[i] = i % 2 ? MOST - i : i + 1;
	}
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, store_with(&self->gpu, &self->gpu.engines[0], target, 1,
				I915_EXEC_USE_EXTENSIONS, 0, &ext));
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
	EXPECT_EQ(1, gem_read32(self->fd, target, 0));
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_QUERY, &query);
	EXPECT_EQ(MOST - 1, values[0]);
	EXPECT_EQ(MOST - 1, values[1]);
	ext.fence_count = MOST + 1;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EINVAL, store_with(&self->gpu, &self->gpu.engines[0], target, 2,
				      I915_EXEC_USE_EXTENSIONS, 0, &ext));
	EXPECT_EQ(1, gem_read32(self->fd, target, 0));
}

/* Each syncobj of a long list is signalled; the list may be as long as IGT's (uapi.rst). */
TEST_F(syncobj, many_in_a_submission)
{
	enum { MOST = 4096 };
	static struct drm_i915_gem_exec_fence fences[MOST + 1];
	static __u32 handles[MOST];
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_syncobj_wait wait = {
		.handles = U64(handles),
		.count_handles = MOST,
		.timeout_nsec = deadline(60),
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
	};
	const struct engine *engine = &self->gpu.engines[0];
	unsigned int i;

	for (i = 0; i < MOST; i++) {
		handles[i] = make(self->fd, 0);
		ASSERT_NE(0, handles[i]);
		fences[i].handle = handles[i];
		fences[i].flags = I915_EXEC_FENCE_SIGNAL;
	}
	fences[MOST] = fences[0];
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, store_with(&self->gpu, engine, target, 1, I915_EXEC_FENCE_ARRAY, MOST,
				fences));
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	EXPECT_EQ(1, gem_read32(self->fd, target, 0));
	if (!self->gpu.ouro)
		return;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EINVAL, store_with(&self->gpu, engine, target, 2, I915_EXEC_FENCE_ARRAY,
				      MOST + 1, fences));
	EXPECT_EQ(1, gem_read32(self->fd, target, 0));
}

/* Several lists of fences in one chain; and chains that have no end. */
TEST_F(syncobj, lists_of_points_in_a_chain)
{
	__u32 target = gem_create(self->fd, PAGE), handles[2] = { make(self->fd, 0),
								  make(self->fd, 0) };
	struct drm_i915_gem_execbuffer_ext_timeline_fences ext[2] = {};
	struct drm_i915_gem_exec_fence fences[2] = {};
	__u64 points[2] = { 3, 4 }, values[2] = {};
	struct drm_syncobj_timeline_array query = { .handles = U64(handles),
						    .points = U64(values),
						    .count_handles = 2 };
	unsigned int i;

	if (getparam(self->fd, I915_PARAM_HAS_EXEC_TIMELINE_FENCES) <= 0)
		SKIP(return, "the driver takes no timeline fences");
	for (i = 0; i < 2; i++) {
		fences[i].handle = handles[i];
		fences[i].flags = I915_EXEC_FENCE_SIGNAL;
		ext[i].base.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES;
		ext[i].fence_count = 1;
		ext[i].handles_ptr = U64(&fences[i]);
		ext[i].values_ptr = U64(&points[i]);
	}
	ext[0].base.next_extension = U64(&ext[1]);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, store_with(&self->gpu, &self->gpu.engines[0], target, 1,
				I915_EXEC_USE_EXTENSIONS, 0, ext));
	EXPECT_EQ(1, gem_read32(self->fd, target, 0));
	GOOD(self->fd, DRM_IOCTL_SYNCOBJ_QUERY, &query);
	EXPECT_EQ(3, values[0]);
	EXPECT_EQ(4, values[1]);
	/* a point that waits for itself */
	points[0] = 5;
	points[1] = 6;
	fences[1].flags = I915_EXEC_FENCE_WAIT | I915_EXEC_FENCE_SIGNAL;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EINVAL, store_with(&self->gpu, &self->gpu.engines[0], target, 2,
				      I915_EXEC_USE_EXTENSIONS, 0, ext));
	/* of point zero, the binary syncobj, this is the fence that it had before */
	points[1] = 0;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(0, store_with(&self->gpu, &self->gpu.engines[0], target, 3,
				I915_EXEC_USE_EXTENSIONS, 0, ext));
	fences[1].flags = I915_EXEC_FENCE_SIGNAL;
	ext[1].base.next_extension = U64(&ext[1]);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-E2BIG, store_with(&self->gpu, &self->gpu.engines[0], target, 4,
				     I915_EXEC_USE_EXTENSIONS, 0, ext));
	EXPECT_EQ(3, gem_read32(self->fd, target, 0));
}

TEST_HARNESS_MAIN

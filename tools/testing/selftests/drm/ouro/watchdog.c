// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_OURO_CONTEXT_PARAM_WATCHDOG (ouro_drm.h): for how long batches of a
 * context may run. The hang check is off here: what is ended was ended by the
 * watchdog.
 */
#include <stdio.h>

#define TOPIC watchdog
#define ANY_I915
#include "test.h"
#include "batch_i915.h"

#define NO_WATCHDOG "no engine here watches its batches"
/* Microseconds: of a batch that is ended, and of one that no machine is too slow for. */
#define SHORT 200000ull
#define LONG 60000000ull
/* What the counter of 32 bits can be told, in ticks of 80 ns; and the driver's own least. */
#define LEAST 1000ull
#define MOST 343597383ull

static const struct drm_ouro_watchdog video = { .engine_class = OURO_ENGINE_VIDEO };

static struct drm_i915_gem_context_param param(__u32 context, const void *value, __u32 size)
{
	return (struct drm_i915_gem_context_param){ .ctx_id = context,
						    .param = DRM_OURO_CONTEXT_PARAM_WATCHDOG,
						    .value = U64(value),
						    .size = size };
}

static int set(int fd, __u32 context, __u64 limit)
{
	struct drm_ouro_watchdog watchdog = video;
	struct drm_i915_gem_context_param arg = param(context, &watchdog, sizeof(watchdog));

	watchdog.limit_us = limit;
	cover("DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM");
	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg);
}

/* The limit, or ~0 for an error. */
static __u64 get(int fd, __u32 context)
{
	struct drm_ouro_watchdog watchdog = video;
	struct drm_i915_gem_context_param arg = param(context, &watchdog, sizeof(watchdog));

	watchdog.limit_us = 0x5555;
	cover("DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM");
	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &arg) ? ~0ull : watchdog.limit_us;
}

static __u32 active(int fd, __u32 context)
{
	struct drm_i915_reset_stats s = { .ctx_id = context };

	return call(fd, DRM_IOCTL_I915_GET_RESET_STATS, &s) ? ~0u : s.batch_active;
}

static const struct engine *video_engine(const struct gpu *gpu)
{
	unsigned int i;

	for (i = 0; i < gpu->n_engines; i++)
		if (gpu->engines[i].bit == VCS)
			return &gpu->engines[i];
	return NULL;
}

/* Microseconds that pass. */
static void rest(__u64 us)
{
	while (us) {
		__u64 part = us < 500000 ? us : 500000;

		usleep(part);
		us -= part;
	}
}

/* Where there is none, it does not matter what is said of it. Upstream knows no such parameter. */
TEST_F(watchdog, not_on_this_chip)
{
	int want = self->gpu.ouro ? ENODEV : EINVAL;
	struct drm_ouro_watchdog watchdog = video;
	struct drm_i915_gem_context_param args[] = {
		param(0, &watchdog, sizeof(watchdog)),
		param(0, &watchdog, 0),
		param(0, (void *)(uintptr_t)BAD_POINTER, sizeof(watchdog)),
	};
	unsigned int i;

	if (self->gpu.ouro && self->gpu.backend->has_watchdog)
		SKIP(return, "it is on this chip");
	watchdog.limit_us = SHORT;
	for (i = 0; i < ARRAY_LEN(args); i++) {
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &args[i], want);
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &args[i], want);
	}
	EXPECT_EQ(SHORT, watchdog.limit_us);
	args[0].ctx_id = 0x7fffffff;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &args[0], ENOENT);
}

TEST_F(watchdog, what_is_set_is_got)
{
	static const __u64 good[] = { LEAST, SHORT, LONG, MOST, 0 };
	__u32 mine, other;
	unsigned int i;

	if (!self->gpu.ouro || !self->gpu.backend->has_watchdog)
		SKIP(return, NO_WATCHDOG);
	mine = context_create(self->fd);
	other = context_create(self->fd);
	/* off at first */
	EXPECT_EQ(0, get(self->fd, mine));
	EXPECT_EQ(0, get(self->fd, 0));
	for (i = 0; i < ARRAY_LEN(good); i++) {
		EXPECT_EQ(0, set(self->fd, mine, good[i]));
		EXPECT_EQ(good[i], get(self->fd, mine));
		EXPECT_EQ(0, get(self->fd, other));
	}
	EXPECT_EQ(0, set(self->fd, 0, SHORT));
	EXPECT_EQ(SHORT, get(self->fd, 0));
	EXPECT_EQ(0, get(self->fd, mine));
	/* contexts that are made later begin without */
	EXPECT_EQ(0, get(self->fd, context_create(self->fd)));
}

TEST_F(watchdog, at_creation)
{
	struct drm_ouro_watchdog watchdog = video;
	struct drm_i915_gem_context_create_ext_setparam ext = {
		.base = { .name = I915_CONTEXT_CREATE_EXT_SETPARAM },
		.param = param(0, &watchdog, sizeof(watchdog)),
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
		.extensions = U64(&ext),
	};

	if (!self->gpu.ouro || !self->gpu.backend->has_watchdog)
		SKIP(return, NO_WATCHDOG);
	watchdog.limit_us = SHORT;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);
	EXPECT_EQ(SHORT, get(self->fd, create.ctx_id));
	watchdog.limit_us = LEAST - 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EINVAL);
}

/* Whatever is refused changes nothing. */
TEST_F(watchdog, hostile_arguments)
{
	static const struct drm_ouro_watchdog bad[] = {
		/* limits: one of 64 bits whose low half would do, too */
		{ .engine_class = OURO_ENGINE_VIDEO, .limit_us = 1 },
		{ .engine_class = OURO_ENGINE_VIDEO, .limit_us = LEAST - 1 },
		{ .engine_class = OURO_ENGINE_VIDEO, .limit_us = MOST + 1 },
		{ .engine_class = OURO_ENGINE_VIDEO, .limit_us = ~0u },
		{ .engine_class = OURO_ENGINE_VIDEO, .limit_us = (1ull << 32) + SHORT },
		{ .engine_class = OURO_ENGINE_VIDEO, .limit_us = 1ull << 63 },
		{ .engine_class = OURO_ENGINE_VIDEO, .limit_us = ~0ull },
		/* flags */
		{ .engine_class = OURO_ENGINE_VIDEO, .flags = 1, .limit_us = LONG },
		{ .engine_class = OURO_ENGINE_VIDEO, .flags = 1u << 31, .limit_us = LONG },
		/* engines that have none, and that are not there */
		{ .engine_class = OURO_ENGINE_RENDER, .limit_us = LONG },
		{ .engine_class = OURO_ENGINE_COPY, .limit_us = LONG },
		{ .engine_class = OURO_ENGINE_RENDER, .limit_us = 0 },
		{ .engine_class = OURO_ENGINE_VIDEO_ENHANCE, .limit_us = LONG },
		{ .engine_class = 0xffff, .limit_us = LONG },
		{ .engine_class = OURO_ENGINE_VIDEO, .engine_instance = 1, .limit_us = LONG },
		{ .engine_class = OURO_ENGINE_VIDEO, .engine_instance = 0x100, .limit_us = LONG },
		{ .engine_class = OURO_ENGINE_VIDEO, .engine_instance = 0xffff, .limit_us = LONG },
	};
	static const __u32 sizes[] = { 0, 1, 8, 15, 17, 32, ~0u };
	struct drm_ouro_watchdog watchdog;
	struct drm_i915_gem_context_param arg;
	__u32 context;
	unsigned int i;
	char *page;

	if (!self->gpu.ouro || !self->gpu.backend->has_watchdog)
		SKIP(return, NO_WATCHDOG);
	context = context_create(self->fd);
	ASSERT_EQ(0, set(self->fd, context, SHORT));
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		watchdog = bad[i];
		arg = param(context, &watchdog, sizeof(watchdog));
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg, EINVAL);
		EXPECT_EQ(SHORT, get(self->fd, context))
		{
			TH_LOG("case %u", i);
		}
		/* of these, the limit does not matter to who asks */
		if (i < 7)
			continue;
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &arg, EINVAL);
		EXPECT_EQ(bad[i].limit_us, watchdog.limit_us);
	}
	watchdog = video;
	watchdog.limit_us = LONG;
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		arg = param(context, &watchdog, sizes[i]);
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg, EINVAL);
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &arg, EINVAL);
		EXPECT_EQ(SHORT, get(self->fd, context));
	}
	/* memory that is not there, half there, and that is not to be written */
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + PAGE, PAGE));
	arg = param(context, page + PAGE - 8, sizeof(watchdog));
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg, EFAULT);
	arg.value = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &arg, EFAULT);
	arg.value = KERNEL_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg, EFAULT);
	arg.value = ~0ull - 3;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg, EFAULT);
	*(struct drm_ouro_watchdog *)page = watchdog;
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_READ));
	arg.value = U64(page);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &arg, EFAULT);
	EXPECT_EQ(SHORT, get(self->fd, context));
	/* numbers beside that of the parameter, and contexts that are not there */
	arg = param(context, &watchdog, sizeof(watchdog));
	for (i = 0; i < 64; i++) {
		arg.param = DRM_OURO_CONTEXT_PARAM_WATCHDOG ^ (1ull << i);
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg, EINVAL);
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &arg, EINVAL);
	}
	arg = param(0x7fffffff, &watchdog, sizeof(watchdog));
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &arg, ENOENT);
	EXPECT_EQ(SHORT, get(self->fd, context));
	munmap(page, PAGE);
}

/*
 * The watchdog ends an endless batch without the hang check; the context is guilty, others run on:
 * those queued behind it, and those on other engines.
 */
TEST_F(watchdog, a_batch_that_takes_too_long)
{
	const struct engine *engine = video_engine(&self->gpu);
	__u32 guilty, innocent, target;
	unsigned int i, round;
	struct spin spin;
	int fence = -1;

	if (!self->gpu.ouro || !self->gpu.backend->has_watchdog)
		SKIP(return, NO_WATCHDOG);
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 0));
	guilty = context_create(self->fd);
	innocent = context_create(self->fd);
	target = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, set(self->fd, guilty, SHORT));
	for (round = 1; round <= 2; round++) {
		ASSERT_EQ(0, hang_start(&self->gpu, engine, guilty, 0, &fence, &spin));
		for (i = 0; i < self->gpu.n_engines; i++)
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], innocent, target,
					   i * 8, round * 16 + i));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
		EXPECT_EQ(-EIO, fence_status(fence));
		for (i = 0; i < self->gpu.n_engines; i++)
			EXPECT_EQ(round * 16 + i, gem_read32(self->fd, target, i * 8));
		EXPECT_EQ(round, active(self->fd, guilty));
		EXPECT_EQ(0, active(self->fd, innocent));
		/* the context may go on, and so may the engine */
		ASSERT_EQ(0, set(self->fd, guilty, LONG));
		ASSERT_EQ(0, store(&self->gpu, engine, guilty, target, 0, 0x300));
		EXPECT_EQ(0x300, gem_read32(self->fd, target, 0));
		EXPECT_EQ(round, active(self->fd, guilty));
		ASSERT_EQ(0, set(self->fd, guilty, SHORT));
		close(fence);
		spin_free(&spin);
	}
	/* the third time within a minute: as for any hang */
	ASSERT_EQ(0, hang_start(&self->gpu, engine, guilty, 0, &fence, &spin));
	EXPECT_EQ(-EIO, fence_status(fence));
	EXPECT_EQ(-EIO, store(&self->gpu, engine, guilty, target, 0, 9));
	EXPECT_EQ(0, store(&self->gpu, engine, innocent, target, 0, 10));
	EXPECT_EQ(10, gem_read32(self->fd, target, 0));
	close(fence);
	spin_free(&spin);
	EXPECT_EQ(0, device_limits(&self->gpu, HANG_MS));
}

/* The same batch ends by itself without a limit, also one of its own context. */
TEST_F(watchdog, a_long_batch_without_it)
{
	const struct engine *engine = video_engine(&self->gpu);
	__u32 limited, mine, target;
	struct spin spin;
	unsigned int i;
	int fence = -1;

	if (!self->gpu.ouro || !self->gpu.backend->has_watchdog)
		SKIP(return, NO_WATCHDOG);
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 0));
	limited = context_create(self->fd);
	mine = context_create(self->fd);
	target = gem_create(self->fd, PAGE);
	/* others have one, or this one had one, or it is long enough */
	ASSERT_EQ(0, set(self->fd, limited, LEAST));
	for (i = 0; i < 3; i++) {
		if (i > 0)
			ASSERT_EQ(0, set(self->fd, mine, i == 1 ? LEAST : LONG));
		if (i == 1)
			ASSERT_EQ(0, set(self->fd, mine, 0));
		ASSERT_EQ(0, hang_start(&self->gpu, engine, mine, target, &fence, &spin));
		rest(5 * SHORT);
		EXPECT_EQ(1, gem_busy(self->fd, target));
		spin_stop(&spin);
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
		EXPECT_EQ(1, fence_status(fence));
		EXPECT_EQ(0, active(self->fd, mine));
		close(fence);
		spin_free(&spin);
	}
	EXPECT_EQ(0, device_limits(&self->gpu, HANG_MS));
}

/* A batch has the limit that its context had when it was submitted. */
TEST_F(watchdog, a_change_is_for_later_batches)
{
	const struct engine *engine = video_engine(&self->gpu);
	__u32 mine, target;
	struct spin spin;
	int fence = -1;

	if (!self->gpu.ouro || !self->gpu.backend->has_watchdog)
		SKIP(return, NO_WATCHDOG);
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 0));
	mine = context_create(self->fd);
	target = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, hang_start(&self->gpu, engine, mine, target, &fence, &spin));
	ASSERT_EQ(0, set(self->fd, mine, SHORT));
	rest(3 * SHORT);
	EXPECT_EQ(1, gem_busy(self->fd, target));
	spin_stop(&spin);
	EXPECT_EQ(1, fence_status(fence));
	close(fence);
	spin_free(&spin);

	ASSERT_EQ(0, hang_start(&self->gpu, engine, mine, target, &fence, &spin));
	ASSERT_EQ(0, set(self->fd, mine, 0));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	EXPECT_EQ(-EIO, fence_status(fence));
	EXPECT_EQ(1, active(self->fd, mine));
	close(fence);
	spin_free(&spin);
	EXPECT_EQ(0, device_limits(&self->gpu, HANG_MS));
}

/* On other engines of the context it does not count, whatever that calls the engines. */
TEST_F(watchdog, it_is_the_engines_own)
{
	I915_DEFINE_CONTEXT_PARAM_ENGINES(list, 2) = {
		.engines = { { I915_ENGINE_CLASS_COPY, 0 }, { I915_ENGINE_CLASS_VIDEO, 0 } },
	};
	struct engine places[2] = { { .ring = 0, .bit = BCS }, { .ring = 1, .bit = VCS } };
	struct drm_i915_gem_context_param arg = { .param = I915_CONTEXT_PARAM_ENGINES,
						  .value = U64(&list),
						  .size = sizeof(list) };
	__u32 target;
	struct spin spin;
	int fence = -1;

	if (!self->gpu.ouro || !self->gpu.backend->has_watchdog)
		SKIP(return, NO_WATCHDOG);
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 0));
	arg.ctx_id = context_create(self->fd);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg);
	target = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, set(self->fd, arg.ctx_id, SHORT));
	ASSERT_EQ(0, hang_start(&self->gpu, &places[0], arg.ctx_id, target, &fence, &spin));
	rest(3 * SHORT);
	EXPECT_EQ(1, gem_busy(self->fd, target));
	spin_stop(&spin);
	EXPECT_EQ(1, fence_status(fence));
	close(fence);
	spin_free(&spin);

	ASSERT_EQ(0, hang_start(&self->gpu, &places[1], arg.ctx_id, target, &fence, &spin));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	EXPECT_EQ(-EIO, fence_status(fence));
	EXPECT_EQ(1, active(self->fd, arg.ctx_id));
	close(fence);
	spin_free(&spin);
	EXPECT_EQ(0, device_limits(&self->gpu, HANG_MS));
}

/* Many batches with it and without it, one behind the other: none is taken for another. */
TEST_F(watchdog, nobody_is_taken_for_another)
{
	enum { N = 200 };
	const struct engine *engine = video_engine(&self->gpu);
	__u32 watched, mine, target;
	unsigned int i, bad = 0;

	if (!self->gpu.ouro || !self->gpu.backend->has_watchdog)
		SKIP(return, NO_WATCHDOG);
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 0));
	watched = context_create(self->fd);
	mine = context_create(self->fd);
	target = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, set(self->fd, watched, LONG));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, store(&self->gpu, engine, i & 1 ? watched : mine, target, i * 4,
				   0x1000 + i));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, gem_wait(self->fd, target, -1));
	for (i = 0; i < N; i++)
		bad += gem_read32(self->fd, target, i * 4) != 0x1000 + i;
	EXPECT_EQ(0, bad);
	EXPECT_EQ(0, active(self->fd, watched));
	EXPECT_EQ(0, active(self->fd, mine));
	EXPECT_EQ(0, device_limits(&self->gpu, HANG_MS));
}

TEST_HARNESS_MAIN

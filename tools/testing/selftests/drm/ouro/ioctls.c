// SPDX-License-Identifier: GPL-2.0
/*
 * All ioctls at once: undefined numbers, arguments of other sizes, of
 * ones, and of noise. The device must be there afterwards.
 */
#include <sys/ioctl.h>

#define TOPIC ioctls
#define ANY_I915
#include "test.h"
#include "known.h"

/* A store on each engine arrives: nothing is broken. */
static void still_works(struct __test_metadata *_metadata, const struct gpu *gpu)
{
	__u32 handle = gem_create(gpu->fd, PAGE);
	unsigned int i;

	ASSERT_NE(0, handle);
	for (i = 0; i < gpu->n_engines; i++) {
		ASSERT_EQ(0, store(gpu, &gpu->engines[i], 0, handle, 8 * i, 0x900d + i));
		EXPECT_EQ(0x900d + i, gem_read32(gpu->fd, handle, 8 * i));
	}
	gem_close(gpu->fd, handle);
}

TEST_F(ioctls, arguments_of_ones_fail)
{
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(known); i++) {
		char argument[512];
		int got;

		if (known[i].looks_at_nothing)
			continue;
		memset(argument, 0xff, sizeof(argument));
		cover(known[i].name);
		got = call(self->fd, known[i].request, argument);
		EXPECT_LT(got, 0)
		{
			TH_LOG("%s succeeds", known[i].name);
		}
	}
	still_works(_metadata, &self->gpu);
}

TEST_F(ioctls, numbers_that_nobody_has)
{
	/* of the driver's range: beyond i915's last one and ours, up to its end */
	unsigned int nr;

	for (nr = 0x54; nr < 0x60; nr++) {
		char argument[64] = {};
		int got = call(self->fd, DRM_IOWR(DRM_COMMAND_BASE + nr, argument), argument);

		cover("unknown");
		EXPECT_EQ(-EINVAL, got)
		{
			TH_LOG("number %#x: %s", nr, strerror(-got));
		}
	}
}

/* Of user mode setting, overlays, performance counters, and not given out: see uapi.rst. */
TEST_F(ioctls, numbers_of_what_is_not_here)
{
	static const struct {
		unsigned int first, last;
	} gone[] = {
		{ 0x00, 0x05 }, { 0x07, 0x16 }, { 0x19, 0x1a }, { 0x25, 0x25 },
		{ 0x27, 0x28 }, { 0x2a, 0x2b }, { 0x36, 0x38 }, { 0x3d, 0x4f },
	};
	unsigned int i, nr;

	if (!self->gpu.ouro)
		SKIP(return, "the upstream driver has more of them");
	for (i = 0; i < ARRAY_LEN(gone); i++)
		for (nr = gone[i].first; nr <= gone[i].last; nr++) {
			char argument[64] = {};
			int got = call(self->fd, DRM_IOWR(DRM_COMMAND_BASE + nr, argument),
				       argument);

			cover("not here");
			EXPECT_EQ(-EINVAL, got)
			{
				TH_LOG("number %#x: %s", nr, strerror(-got));
			}
		}
}

/*
 * Other sizes than those of the header: the core cuts them off or fills them up
 * with zeros, so that older and newer programs work.
 */
TEST_F(ioctls, sizes_of_older_and_newer_programs)
{
	struct {
		struct drm_i915_gem_busy busy;
		char more[120];
	} longer = { .busy.handle = gem_create(self->fd, PAGE) };
	struct drm_i915_gem_mmap_gtt gtt = { .handle = longer.busy.handle };
	__u32 handle = longer.busy.handle;
	int got;

	memset(longer.more, 0xff, sizeof(longer.more));
	cover("DRM_IOCTL_I915_GEM_BUSY");
	EXPECT_EQ(0,
		  call(self->fd, DRM_IOWR(DRM_COMMAND_BASE + DRM_I915_GEM_BUSY, longer), &longer));
	EXPECT_EQ(0, longer.busy.busy);
	cover("DRM_IOCTL_I915_GEM_BUSY");
	EXPECT_EQ(0,
		  call(self->fd, DRM_IOWR(DRM_COMMAND_BASE + DRM_I915_GEM_BUSY, handle), &handle));
	/* the first form of MMAP_OFFSET: without flags it asks for a view through the aperture */
	cover("DRM_IOCTL_I915_GEM_MMAP_GTT");
	got = call(self->fd, DRM_IOCTL_I915_GEM_MMAP_GTT, &gtt);
	EXPECT_TRUE(got == 0 || got == -ENODEV)
	{
		TH_LOG("%s", strerror(-got));
	}
	still_works(_metadata, &self->gpu);
}

/* Noise that is the same each time; handles and sizes are small now and then, so that some fit. */
TEST_F(ioctls, noise)
{
	enum { ROUNDS = 150 };
	__u32 seed = 0x2026, words[64], i, k, n;

	gem_create(self->fd, 4 * PAGE);
	for (n = 0; n < ROUNDS; n++)
		for (i = 0; i < ARRAY_LEN(known); i++) {
			/* a copy that lands in this process would be our own fault */
			bool writes = known[i].request == DRM_IOCTL_I915_GEM_PREAD ||
				      known[i].request == DRM_IOCTL_I915_GETPARAM;

			for (k = 0; k < ARRAY_LEN(words); k++) {
				seed = seed * 1664525 + 1013904223;
				words[k] = (seed >> 8) % 3 ? (seed >> 16) % 5 : seed;
				if (writes && k % 2 == 1 && words[k] == 0)
					words[k] = 0x80000000;
			}
			if (n == 0)
				cover(known[i].name);
			call(self->fd, known[i].request, words);
		}
	still_works(_metadata, &self->gpu);
}

TEST_HARNESS_MAIN

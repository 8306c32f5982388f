// SPDX-License-Identifier: GPL-2.0
/* A batch that never ends, of a client that never ends it. */
#define TOPIC hang
#define ANY_I915
#define HANGS
#include "test.h"

TEST_F(hang, others_get_on)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct gpu other;
	struct spin spin;

	if (getparam(self->fd, I915_PARAM_HAS_GPU_RESET) <= 0)
		SKIP(return, "the driver does not reset an engine that hangs (HAS_GPU_RESET is 0)");
	ASSERT_EQ(0, gpu_open(&other));
	ASSERT_EQ(0, spin_start(&other, &other.engines[0], 0, 0, NULL, &spin));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0xa11e));
	/* behind it on the same ring: it is stopped, and this is done */
	EXPECT_EQ(0xa11e, gem_read32(self->fd, target, 0));
	gpu_close(&other);
}

/* The client is gone, its batch is not. */
TEST_F(hang, gone_with_its_file)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct gpu other;
	struct spin spin;

	if (getparam(self->fd, I915_PARAM_HAS_GPU_RESET) <= 0)
		SKIP(return, "the driver does not reset an engine that hangs (HAS_GPU_RESET is 0)");
	ASSERT_EQ(0, gpu_open(&other));
	ASSERT_EQ(0, spin_start(&other, &other.engines[0], 0, 0, NULL, &spin));
	gpu_close(&other);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0xa11f));
	EXPECT_EQ(0xa11f, gem_read32(self->fd, target, 0));
}

TEST_HARNESS_MAIN

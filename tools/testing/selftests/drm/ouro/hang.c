// SPDX-License-Identifier: GPL-2.0
/* A batch that never ends, of a client that never ends it. */
#define TOPIC hang
#define ANY_I915
#define HANGS
#include "test.h"
#include "device.h"

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

/* Nobody looks for hangs: then what a closed context has published ends with it. */
TEST_F(hang, closed_while_nobody_watches)
{
	__u32 id = context_create(self->fd), target = gem_create(self->fd, PAGE);
	int fences[8];
	struct spin spins[8];
	unsigned int i;

	if (!self->gpu.ouro)
		SKIP(return, "how this driver is told not to look is not known here");
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 0));
	for (i = 0; i < self->gpu.n_engines; i++)
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[i], id, 0, &fences[i],
					&spins[i]));
	cover("DRM_IOCTL_I915_GEM_CONTEXT_DESTROY");
	EXPECT_EQ(0, context_destroy(self->fd, id));
	for (i = 0; i < self->gpu.n_engines; i++) {
		EXPECT_EQ(-EIO, fence_status(fences[i]));
		close(fences[i]);
		spin_free(&spins[i]);
	}
	ASSERT_EQ(0, device_hang_ms(&self->gpu, HANG_MS));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0xa120));
	EXPECT_EQ(0xa120, gem_read32(self->fd, target, 0));
}

TEST_HARNESS_MAIN

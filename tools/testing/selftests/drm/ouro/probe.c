// SPDX-License-Identifier: GPL-2.0
/*
 * A device that misbehaves while the driver comes to it: the probe says so, within bounded time, or
 * goes on without what failed; and when the device is well again, it works.
 */
#define ANY_I915
#define MUTE_ENGINES
#include "test.h"

FIXTURE(probe)
{
	struct gpu gpu;
	struct place place;
};

FIXTURE_SETUP(probe)
{
	gpu_setup(_metadata, &self->gpu);
	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours to unbind: it has no DRM_IOCTL_OURO_DEVICE");
	ASSERT_EQ(0, device_of(self->gpu.fd, &self->place));
	if (model_fault(&self->place, FAULT_NONE))
		SKIP(return, "the device is no model: nobody can make it fail");
	gpu_close(&self->gpu);
	ASSERT_EQ(0, device_unbind(&self->place));
}

FIXTURE_TEARDOWN(probe)
{
}

/* It works: each engine stores a value. */
static void works(struct __test_metadata *_metadata, const struct place *place)
{
	struct gpu gpu;
	__u32 handle;
	unsigned int i;

	ASSERT_EQ(0, device_open(place, &gpu));
	handle = gem_create(gpu.fd, PAGE);
	for (i = 0; i < gpu.n_engines; i++) {
		ASSERT_EQ(0, store(&gpu, &gpu.engines[i], 0, handle, 8 * i, 0x900d + i));
		EXPECT_EQ(0x900d + i, gem_read32(gpu.fd, handle, 8 * i));
	}
	gpu_close(&gpu);
}

/* core.rst, "The way in": a reset that does not happen is tried again. */
TEST_F(probe, a_reset_that_is_lost)
{
	ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET | FAULT_ONCE));
	ASSERT_EQ(0, device_bind(&self->place));
	works(_metadata, &self->place);
}

TEST_F(probe, no_reset_at_all)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET));
		EXPECT_EQ(-ETIMEDOUT, device_bind(&self->place));
		ASSERT_EQ(0, model_fault(&self->place, FAULT_NONE));
		ASSERT_EQ(0, device_bind(&self->place));
		works(_metadata, &self->place);
		ASSERT_EQ(0, device_unbind(&self->place));
	}
	ASSERT_EQ(0, device_bind(&self->place));
}

/* An engine that does not answer: the device is none for user space. */
TEST_F(probe, an_engine_that_hangs)
{
	ASSERT_EQ(0, model_fault(&self->place, FAULT_HANG));
	EXPECT_EQ(-EIO, device_bind(&self->place));
	ASSERT_EQ(0, model_fault(&self->place, FAULT_NONE));
	ASSERT_EQ(0, device_bind(&self->place));
	works(_metadata, &self->place);
}

/* Nobody is told of what is done, but by looking. */
TEST_F(probe, interrupts_that_are_lost)
{
	ASSERT_EQ(0, model_fault(&self->place, FAULT_LOSE_IRQ));
	ASSERT_EQ(0, device_bind(&self->place));
	works(_metadata, &self->place);
	ASSERT_EQ(0, model_fault(&self->place, FAULT_NONE));
	works(_metadata, &self->place);
}

/* A card that is not there: all ones. */
TEST_F(probe, a_card_that_is_gone)
{
	if (model_pull(&self->place))
		SKIP(return, "this model cannot be pulled out");
	EXPECT_GT(0, device_bind(&self->place));
	ASSERT_EQ(0, model_put_back(&self->place));
	works(_metadata, &self->place);
}

TEST_HARNESS_MAIN

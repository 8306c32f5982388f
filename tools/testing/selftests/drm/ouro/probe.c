// SPDX-License-Identifier: GPL-2.0
/*
 * A device that misbehaves while the driver comes to it: the probe says so, within bounded time, or
 * goes on without what failed; and when the device is well again, it works. A device that the
 * driver gave up may sleep, and its GGTT leads to nothing of what the driver had.
 *
 * OURO_LOOKED_AT is the PCI address of a device at which stop_after=probe has ended:
 * tools/vm/guest-tests/bringup.sh.
 */
#include <stdio.h>

#define ANY_I915
#define MUTE_ENGINES
#include "test.h"

FIXTURE(probe)
{
	struct gpu gpu;
	struct place place;
};

/* The device is not bound when a test begins. */
FIXTURE_SETUP(probe)
{
	gpu_setup(_metadata, &self->gpu);
	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours to unbind: it has no DRM_IOCTL_OURO_DEVICE");
	ASSERT_EQ(0, device_of(self->gpu.fd, &self->place));
	if (model_fault(&self->place, FAULT_NONE))
		SKIP(return, "the device is no model: it cannot be made to fail");
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

/*
 * The device sleeps, and as few entries lead to memory as after an unbind: those of the firmware's
 * picture.
 */
static void is_given_up(struct __test_metadata *_metadata, const struct looked_at *unbound,
			const struct place *place)
{
	struct looked_at seen;

	ASSERT_EQ(0, device_look(place, &seen));
	EXPECT_FALSE(seen.awake);
	EXPECT_EQ(unbound->valid, seen.valid);
}

TEST_F(probe, an_unbind_gives_all_up)
{
	struct looked_at bound = {}, unbound;
	int got = device_look(&self->place, &unbound);

	ASSERT_EQ(0, device_bind(&self->place));
	if (got == -EOPNOTSUPP)
		SKIP(return, "it is not known where this chip has its GGTT");
	ASSERT_EQ(0, got);
	/* a range is mapped in one way: this one fails where the driver's GGTT is write-combined */
	device_look(&self->place, &bound);
	/* each hole leads to a page of the driver's */
	if (bound.entries)
		EXPECT_LT(bound.entries / 4, bound.valid);
	EXPECT_GT(unbound.entries / 16, unbound.valid);
	ASSERT_EQ(0, device_unbind(&self->place));
	is_given_up(_metadata, &unbound, &self->place);
	ASSERT_EQ(0, device_bind(&self->place));
}

/* Not only the driver of the next boot does: another one may be bound at once. */
TEST_F(probe, a_probe_that_fails_gives_all_up)
{
	struct looked_at unbound;
	int got = device_look(&self->place, &unbound);

	if (got == -EOPNOTSUPP)
		SKIP(goto bind, "it is not known where this chip has its GGTT");
	ASSERT_EQ(0, got);
	/* its tables are written by then */
	ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET));
	EXPECT_EQ(-ETIMEDOUT, device_bind(&self->place));
	ASSERT_EQ(0, model_fault(&self->place, FAULT_NONE));
	is_given_up(_metadata, &unbound, &self->place);
	/* its engines run */
	ASSERT_EQ(0, model_fault(&self->place, FAULT_HANG));
	EXPECT_EQ(-EIO, device_bind(&self->place));
	ASSERT_EQ(0, model_fault(&self->place, FAULT_NONE));
	is_given_up(_metadata, &unbound, &self->place);
bind:
	ASSERT_EQ(0, device_bind(&self->place));
	works(_metadata, &self->place);
}

TEST(a_device_that_was_looked_at_sleeps)
{
	const char *name = getenv("OURO_LOOKED_AT");
	struct looked_at seen;
	struct place place;
	int got;

	if (!name)
		SKIP(return, "OURO_LOOKED_AT is not set: no probe has ended early");
	snprintf(place.name, sizeof(place.name), "%s", name);
	got = device_look(&place, &seen);
	if (got == -EOPNOTSUPP)
		SKIP(return, "it is not known where this chip has its registers");
	ASSERT_EQ(0, got);
	EXPECT_FALSE(seen.awake);
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
		if (i)
			ASSERT_EQ(0, device_unbind(&self->place));
		ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET));
		EXPECT_EQ(-ETIMEDOUT, device_bind(&self->place));
		ASSERT_EQ(0, model_fault(&self->place, FAULT_NONE));
		ASSERT_EQ(0, device_bind(&self->place));
		works(_metadata, &self->place);
	}
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

/* All interrupts are lost: the tick must find completions. */
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

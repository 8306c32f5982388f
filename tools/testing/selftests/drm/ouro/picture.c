// SPDX-License-Identifier: GPL-2.0
/*
 * The picture that the firmware has left stays after the unbind: pipe A and its
 * plane are on, the plane has the same surface, and the GGTT is enabled.
 *
 * The registers are those of the upstream driver (PIPEACONF, DSPACNTR, DSPASURF,
 * DSPASTRIDE, PIPEASRC); PGTBL_CTL is that of Gen4, whose bit 0 enables the GGTT of
 * 965 (G45 PRM Vol 1b §4.6). A reset of 965 turns all of them off (§5.9).
 */
#include <stdio.h>

#define ANY_I915
#define MUTE_ENGINES
#include "test.h"
#include "device.h"

/* TABLE is the last: only Gen4 has it. */
enum { PIPE, PLANE, SURFACE, STRIDE, SIZE, TABLE, REGISTERS };

static const unsigned int offsets[REGISTERS] = {
	0x70008, 0x70180, 0x7019c, 0x70188, 0x6001c, 0x2020
};

/* Entries behind a plane's surface that lead to memory, as planes prefetch: as in the driver. */
enum { BEHIND = 128 };

FIXTURE(picture)
{
	struct gpu gpu;
	struct place place;
	unsigned int count;
	__u32 lit[REGISTERS];
};

FIXTURE_SETUP(picture)
{
	int got;

	gpu_setup(_metadata, &self->gpu);
	if (self->gpu.speaks != &i915)
		return;
	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours to unbind: it has no DRM_IOCTL_OURO_DEVICE");
	ASSERT_EQ(0, device_of(self->gpu.fd, &self->place));
	self->count = strcmp(self->gpu.backend->name, "gen4") ? TABLE : REGISTERS;
	got = device_registers(&self->place, offsets, self->lit, self->count);
	if (got == -EOPNOTSUPP)
		SKIP(return, "the chip has its registers elsewhere");
	ASSERT_EQ(0, got);
	if (!(self->lit[PIPE] >> 31 && self->lit[PLANE] >> 31))
		SKIP(return, "the firmware has left no picture");
}

FIXTURE_TEARDOWN(picture)
{
	/* whatever a test left: the device is bound afterwards */
	if (self->place.name[0] && device_open(&self->place, &self->gpu))
		device_bind(&self->place);
	gpu_close(&self->gpu);
}

/* A store on each engine arrives. */
static void works(struct __test_metadata *_metadata, const struct gpu *gpu)
{
	__u32 handle = gem_create(gpu->fd, PAGE);
	unsigned int i;

	ASSERT_NE(0, handle);
	for (i = 0; i < gpu->n_engines; i++) {
		ASSERT_EQ(0, store(gpu, &gpu->engines[i], 0, handle, 8 * i, 0x600d + i));
		EXPECT_EQ(0x600d + i, gem_read32(gpu->fd, handle, 8 * i));
	}
	gem_close(gpu->fd, handle);
}

TEST_F(picture, stays_after_the_unbind)
{
	__u32 left[REGISTERS] = {}, bytes = self->lit[STRIDE] * ((self->lit[SIZE] & 0xfff) + 1);
	struct looked_at seen;
	unsigned int k;
	int got;

	works(_metadata, &self->gpu);
	gpu_close(&self->gpu);
	cover("unbind");
	ASSERT_EQ(0, device_unbind(&self->place));
	ASSERT_EQ(0, device_registers(&self->place, offsets, left, self->count));
	for (k = 0; k < self->count; k++)
		EXPECT_EQ(self->lit[k], left[k])
			TH_LOG("register %#x", offsets[k]);
	got = device_look(&self->place, &seen);
	if (got != -EOPNOTSUPP) {
		EXPECT_EQ(0, got);
		EXPECT_LE(bytes / PAGE + BEHIND, seen.valid);
		EXPECT_GT(seen.entries / 16, seen.valid);
	}
	ASSERT_EQ(0, device_bind(&self->place));
	ASSERT_EQ(0, device_open(&self->place, &self->gpu));
	works(_metadata, &self->gpu);
}

/* Work that is in flight at the unbind ends, and needs no reset. */
TEST_F(picture, stays_with_work_in_flight)
{
	__u32 left[REGISTERS] = {}, handle = gem_create(self->gpu.fd, PAGE);
	unsigned int i;

	ASSERT_NE(0, handle);
	for (i = 0; i < 64; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 0, i));
	ASSERT_EQ(0, device_unbind(&self->place));
	ASSERT_EQ(0, device_registers(&self->place, offsets, left, self->count));
	EXPECT_EQ(self->lit[PIPE], left[PIPE]);
	EXPECT_EQ(self->lit[TABLE], left[TABLE]);
	gpu_close(&self->gpu);
	ASSERT_EQ(0, device_bind(&self->place));
	ASSERT_EQ(0, device_open(&self->place, &self->gpu));
	works(_metadata, &self->gpu);
}

TEST_HARNESS_MAIN

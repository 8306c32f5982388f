// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GETPARAM: each parameter that clients ask for, and what a
 * driver must not say it has.
 */
#define TOPIC getparam
#define ANY_I915
#include "test.h"
#include "places.h"

/* Parameters that are 1 on every chip of this interface since Linux 5.12. */
static const int always_one[] = {
	I915_PARAM_HAS_GEM,
	I915_PARAM_HAS_EXECBUF2,
	I915_PARAM_HAS_RELAXED_FENCING,
	I915_PARAM_HAS_COHERENT_RINGS,
	I915_PARAM_HAS_RELAXED_DELTA,
	I915_PARAM_HAS_WAIT_TIMEOUT,
	I915_PARAM_HAS_PRIME_VMAP_FLUSH,
	I915_PARAM_HAS_EXEC_NO_RELOC,
	I915_PARAM_HAS_EXEC_HANDLE_LUT,
	I915_PARAM_HAS_EXEC_SOFTPIN,
	I915_PARAM_HAS_EXEC_ASYNC,
	I915_PARAM_HAS_EXEC_FENCE,
	I915_PARAM_HAS_EXEC_CAPTURE,
	I915_PARAM_HAS_EXEC_BATCH_FIRST,
	I915_PARAM_HAS_EXEC_FENCE_ARRAY,
	I915_PARAM_HAS_EXEC_TIMELINE_FENCES,
};

TEST_F(getparam, always_there)
{
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(always_one); i++) {
		int value = -1;
		struct drm_i915_getparam get = { .param = always_one[i], .value = &value };

		GOOD(self->fd, DRM_IOCTL_I915_GETPARAM, &get);
		EXPECT_EQ(1, value)
		{
			TH_LOG("parameter %d is %d", always_one[i], value);
		}
	}
}

/* Values of each backend: userspace that exists relies on them. */
static const struct {
	const char *backend;
	int param;
	int value;
} values[] = {
	{ "gen4", I915_PARAM_NUM_FENCES_AVAIL, 16 },
	{ "gen4", I915_PARAM_HAS_BLT, 0 },
	{ "gen4", I915_PARAM_HAS_VEBOX, 0 },
	{ "gen4", I915_PARAM_HAS_BSD2, 0 },
	{ "gen4", I915_PARAM_HAS_LLC, 0 },
	{ "gen4", I915_PARAM_HAS_ALIASING_PPGTT, 0 },
	/* the tests have CAP_SYS_ADMIN */
	{ "gen4", I915_PARAM_HAS_SECURE_BATCHES, 1 },
	{ "gen4", I915_PARAM_CMD_PARSER_VERSION, 0 },
	{ "gen4", I915_PARAM_HAS_SCHEDULER, 0 },
	{ "gen4", I915_PARAM_HAS_GPU_RESET, 1 },
	{ "gen4", I915_PARAM_MMAP_GTT_COHERENT, 1 },
	{ "gen6", I915_PARAM_HAS_BSD, 1 },
	{ "gen6", I915_PARAM_HAS_BLT, 1 },
	{ "gen6", I915_PARAM_HAS_VEBOX, 0 },
	{ "gen6", I915_PARAM_HAS_BSD2, 0 },
	{ "gen6", I915_PARAM_HAS_LLC, 1 },
	{ "gen6", I915_PARAM_HAS_ALIASING_PPGTT, 1 },
	{ "gen6", I915_PARAM_HAS_SECURE_BATCHES, 0 },
	{ "gen6", I915_PARAM_CMD_PARSER_VERSION, 0 },
	{ "gen6", I915_PARAM_HAS_SCHEDULER, 0 },
	{ "gen6", I915_PARAM_CS_TIMESTAMP_FREQUENCY, 12500000 },
	{ "gen7", I915_PARAM_NUM_FENCES_AVAIL, 32 },
	{ "gen7", I915_PARAM_HAS_BSD, 1 },
	{ "gen7", I915_PARAM_HAS_BLT, 1 },
	{ "gen7", I915_PARAM_HAS_VEBOX, 0 },
	{ "gen7", I915_PARAM_HAS_BSD2, 0 },
	{ "gen7", I915_PARAM_HAS_LLC, 1 },
	{ "gen7", I915_PARAM_HAS_ALIASING_PPGTT, 1 },
	{ "gen7", I915_PARAM_HAS_SECURE_BATCHES, 0 },
	{ "gen7", I915_PARAM_CMD_PARSER_VERSION, 10 },
	{ "gen7", I915_PARAM_HAS_SCHEDULER, 0 },
	{ "gen7", I915_PARAM_HAS_GPU_RESET, 2 },
	{ "gen7", I915_PARAM_CS_TIMESTAMP_FREQUENCY, 12500000 },
};

TEST_F(getparam, values_of_the_backend)
{
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(values); i++) {
		int value = -1;
		struct drm_i915_getparam get = { .param = values[i].param, .value = &value };

		if (strcmp(values[i].backend, self->gpu.backend->name))
			continue;
		GOOD(self->fd, DRM_IOCTL_I915_GETPARAM, &get);
		EXPECT_EQ(values[i].value, value)
		{
			TH_LOG("parameter %d is %d, should be %d", values[i].param, value,
			       values[i].value);
		}
	}
}

TEST_F(getparam, versions)
{
	/* From version 4 on there is MMAP_OFFSET. */
	EXPECT_GE(getparam(self->fd, I915_PARAM_MMAP_GTT_VERSION), 4);
	EXPECT_GE(getparam(self->fd, I915_PARAM_MMAP_VERSION), 1);
	/* classes of engines with context images: render alone, or all five of a card */
	EXPECT_EQ(is_card(&self->gpu) ? 0x1f : 1,
		  getparam(self->fd, I915_PARAM_HAS_CONTEXT_ISOLATION));
	/* only chips of later generations have numbers of these, and then of both */
	EXPECT_EQ(getparam(self->fd, I915_PARAM_SUBSLICE_TOTAL) > 0,
		  getparam(self->fd, I915_PARAM_EU_TOTAL) > 0);
}

TEST_F(getparam, chip_is_that_of_the_pci_device)
{
	struct drm_ouro_device device = {};

	EXPECT_GT(getparam(self->fd, I915_PARAM_CHIPSET_ID), 0);
	EXPECT_GE(getparam(self->fd, I915_PARAM_REVISION), 0);
	if (!self->gpu.ouro)
		SKIP(return, "the driver has no DRM_IOCTL_OURO_DEVICE");
	GOOD(self->fd, DRM_IOCTL_OURO_DEVICE, &device);
	EXPECT_EQ(device.pci_device, getparam(self->fd, I915_PARAM_CHIPSET_ID));
	EXPECT_EQ(device.revision, getparam(self->fd, I915_PARAM_REVISION));
}

TEST_F(getparam, what_is_gone_or_unknown)
{
	/* Parameters of user mode setting, of later chips, and an undefined one. */
	static const struct {
		int param;
		int error;
	} bad[] = {
		{ I915_PARAM_IRQ_ACTIVE, ENODEV },
		{ I915_PARAM_ALLOW_BATCHBUFFER, ENODEV },
		{ I915_PARAM_LAST_DISPATCH, ENODEV },
		{ I915_PARAM_HAS_EXEC_CONSTANTS, ENODEV },
		{ 0, EINVAL },
		{ -1, EINVAL },
		{ 0x7fffffff, EINVAL },
		{ 1000, EINVAL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		int value = 77;
		struct drm_i915_getparam get = { .param = bad[i].param, .value = &value };

		BAD(self->fd, DRM_IOCTL_I915_GETPARAM, &get, bad[i].error);
		EXPECT_EQ(77, value)
		{
			TH_LOG("parameter %d failed and was written", bad[i].param);
		}
	}
}

TEST_F(getparam, pointers)
{
	struct drm_i915_getparam get = { .param = I915_PARAM_HAS_GEM, .value = NULL };

	BAD(self->fd, DRM_IOCTL_I915_GETPARAM, &get, EFAULT);
	get.value = (int *)KERNEL_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GETPARAM, &get, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GETPARAM, NULL, EFAULT);
}

TEST_HARNESS_MAIN

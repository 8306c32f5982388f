// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_REG_READ: the timestamp, and nothing else; and the registers of context images. */
#define TOPIC reg_read
#define ANY_I915
#include "test.h"
#include "files.h"

/* The render engine's timestamp (i915_drm.h). */
#define TIMESTAMP 0x2358ull

TEST_F(reg_read, time_goes_on)
{
	__u64 flags[] = { 0, I915_REG_READ_8B_WA };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(flags); i++) {
		struct drm_i915_reg_read first = { .offset = TIMESTAMP | flags[i] }, second = first;

		GOOD(self->fd, DRM_IOCTL_I915_REG_READ, &first);
		usleep(10000);
		GOOD(self->fd, DRM_IOCTL_I915_REG_READ, &second);
		EXPECT_LT(first.val, second.val);
	}
}

/* Also when the device has gone to sleep. */
TEST_F(reg_read, an_idle_device_answers)
{
	struct drm_i915_reg_read read = { .offset = TIMESTAMP | I915_REG_READ_8B_WA };

	usleep(700000);
	GOOD(self->fd, DRM_IOCTL_I915_REG_READ, &read);
	EXPECT_NE(0, read.val);
	EXPECT_NE(~0ull, read.val);
}

TEST_F(reg_read, nothing_else)
{
	static const __u64 bad[] = {
		0, 1, 0x2030, 0x2350, 0x2360, TIMESTAMP | 2, TIMESTAMP | 3, TIMESTAMP | 4,
		TIMESTAMP | 7, 0x12358, 0x22358, 0x100002358ull, ~0ull, ~0ull - 7,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct drm_i915_reg_read read = { .offset = bad[i], .val = 77 };

		BAD(self->fd, DRM_IOCTL_I915_REG_READ, &read, EINVAL);
		EXPECT_EQ(77, read.val);
	}
	BAD(self->fd, DRM_IOCTL_I915_REG_READ, NULL, EFAULT);
}

/*
 * Registers of context images, as IGT reads them: a line with an engine and a count, then so many
 * registers. No value has a bit outside of its mask, and each register is a dword in the register
 * window. (Upstream has none on Gen4.)
 */
TEST_F(reg_read, workarounds_of_contexts_are_listed)
{
	unsigned int count, offset, value, mask, registers = 0;
	char path[128], text[4096], engine[16], *line;
	int found;

	debug_path(self->fd, "i915_wa_registers", path, sizeof(path));
	cover("debugfs i915_wa_registers");
	ASSERT_LE(0, file_read(path, text, sizeof(text)));
	line = strtok(text, "\n");
	while (line) {
		found = sscanf(line, "%15[a-z0-9]: Workarounds applied: %u", engine, &count);
		ASSERT_EQ(2, found);
		EXPECT_NE(0, count);
		for (; count; count--) {
			line = strtok(NULL, "\n");
			ASSERT_NE(NULL, line);
			found = sscanf(line, "0x%x: 0x%x, mask: 0x%x", &offset, &value, &mask);
			ASSERT_EQ(3, found);
			EXPECT_EQ(0, offset & 3);
			EXPECT_GT(0x1000000, offset);
			/* upstream says 0 for some */
			if (mask)
				EXPECT_EQ(0, value & ~mask);
			registers++;
		}
		line = strtok(NULL, "\n");
	}
	if (!self->gpu.backend->no_shared_cache)
		EXPECT_LT(0, registers);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/* The radeon interface: the device goes, hangs and sleeps. */
#include <stdio.h>
#include <sys/wait.h>

#include "radeon_fixture.h"

/* Whether a page can be read: if not, the reader is killed by SIGBUS. */
static bool readable(const __u32 *word)
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(peek(word) == 0x12345678 ? 0 : 1);
	waitpid(child, &status, 0);
	return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* The device goes while its memory is mapped, and comes back. */
TEST_F(radeon, unbind)
{
	__u32 handle = bo_create(self->fd, 4 * PAGE, RADEON_GEM_DOMAIN_VRAM), *words;
	struct drm_radeon_gem_info info = {};
	struct place place;
	struct cs cs;

	if (!self->ours)
		SKIP(return, "the driver is not ours to unbind");
	words = bo_map(self->fd, handle, 4 * PAGE);
	ASSERT_NE(MAP_FAILED, words);
	ASSERT_EQ(0, bo_use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	poke(words, 0x12345678);
	EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, bo_domain_of(self->fd, handle));
	ASSERT_EQ(0, device_of(self->fd, &place));
	ASSERT_EQ(0, device_unbind(&place));
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_INFO, &info, ENODEV);
	cs_init(&cs);
	BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, ENODEV);
	/* what is mapped is not what somebody else gets who has the bus address next */
	EXPECT_FALSE(readable(words));
	ASSERT_EQ(0, device_bind(&place));
	EXPECT_FALSE(readable(words));
	munmap(words, 4 * PAGE);
	close(self->fd);
	self->fd = radeon_open();
	ASSERT_LE(0, self->fd);
	handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM);
	ASSERT_EQ(0, bo_use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	EXPECT_EQ(0, bo_wait_idle(self->fd, handle));
	EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, bo_domain_of(self->fd, handle));
}

/* An engine that hangs is reset: what was sent after it is done, and memory keeps what it has. */
TEST_F(radeon, hang)
{
	__u32 handle = bo_create(self->fd, 4 * PAGE, RADEON_GEM_DOMAIN_VRAM), *words, resets = 0;
	struct drm_radeon_info info = { .request = RADEON_INFO_GPU_RESET_COUNTER,
					.value = U64(&resets) };
	struct place place;
	__u32 before;

	if (!self->ours)
		SKIP(return, "the upstream driver has calls fail after a reset");
	words = bo_map(self->fd, handle, 4 * PAGE);
	ASSERT_NE(MAP_FAILED, words);
	ASSERT_EQ(0, bo_use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	ASSERT_EQ(0, bo_wait_idle(self->fd, handle));
	poke(words, 0x12345678);
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &info);
	before = resets;
	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "no model that can be told to hang");
	ASSERT_EQ(0, model_fault(&place, FAULT_HANG | FAULT_ONCE));
	ASSERT_EQ(0, bo_use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	ASSERT_EQ(0, bo_use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	EXPECT_EQ(0, bo_wait_idle(self->fd, handle));
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &info);
	EXPECT_LT(before, resets);
	EXPECT_EQ(0x12345678, peek(words));
	ASSERT_EQ(0, bo_use(self->fd, handle, RADEON_GEM_DOMAIN_GTT));
	EXPECT_EQ(0, bo_wait_idle(self->fd, handle));
	EXPECT_EQ(0x12345678, peek(words));
	munmap(words, 4 * PAGE);
}

/* What is in the device's memory is there after a sleep, in which it forgets. */
TEST_F(radeon, sleep)
{
	static const char *const ways[] = { "freeze platform", "mem core" };
	const char *command = getenv("OURO_SLEEP");
	const __u64 size = 16 * PAGE;
	unsigned int i, at, other;
	__u32 handles[4], *words[4];
	char line[256];

	if (!command)
		SKIP(return, "OURO_SLEEP is not set: nothing here may send the machine to sleep");
	for (i = 0; i < 4; i++) {
		handles[i] = bo_create(self->fd, size, RADEON_GEM_DOMAIN_VRAM);
		words[i] = bo_map(self->fd, handles[i], size);
		ASSERT_NE(MAP_FAILED, words[i]);
		for (at = 0; at < size / 4; at += 61)
			poke(&words[i][at], at ^ i);
		ASSERT_EQ(0, bo_use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
	}
	for (i = 0; i < ARRAY_LEN(ways); i++) {
		snprintf(line, sizeof(line), "%s %s >/tmp/sleep-said 2>&1", command, ways[i]);
		ASSERT_EQ(0, system(line));
		ASSERT_EQ(0, bo_use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
		ASSERT_EQ(0, bo_wait_idle(self->fd, handles[i]));
		EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, bo_domain_of(self->fd, handles[i]));
	}
	for (i = 0, other = 0; i < 4; i++)
		for (at = 0; at < size / 4; at += 61)
			other += peek(&words[i][at]) != (at ^ i);
	EXPECT_EQ(0, other);
}

TEST_HARNESS_MAIN

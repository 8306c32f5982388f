// SPDX-License-Identifier: GPL-2.0
/* The radeon interface: the device goes, hangs and sleeps. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "radeon_fixture.h"

/* True if a page can be read: if not, the reader is killed by SIGBUS. */
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
	/* after the unbind the mapping must not reach the BAR, which another device may own */
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

/* The first error state that is kept, or what is there instead of one. It is forgotten. */
static void error_state(int fd, char *text, size_t size)
{
	struct stat st = {};
	size_t len = 0;
	ssize_t got;
	char path[64];
	int file;

	fstat(fd, &st);
	snprintf(path, sizeof(path), "/sys/class/drm/card%u/error", minor(st.st_rdev) & 63);
	file = open(path, O_RDWR);
	while (file >= 0 && (got = read(file, text + len, size - len - 1)) > 0)
		len += got;
	text[len] = 0;
	if (file >= 0 && write(file, "x", 1) == 1)
		cover("sysfs error");
	close(file);
}

/* An engine that hangs is reset: what was sent after it is done, and memory keeps what it has. */
TEST_F(radeon, hang)
{
	__u32 handle = bo_create(self->fd, 4 * PAGE, RADEON_GEM_DOMAIN_VRAM), *words, resets = 0;
	struct drm_radeon_info info = { .request = RADEON_INFO_GPU_RESET_COUNTER,
					.value = U64(&resets) };
	struct place place;
	char text[4096], line[96];
	const char *const said[] = {
		"ouro error state 1\n", "\ngeneration: r5xx\n", "\nreason: rcs0: ",
		"\nengine: rcs0\n", "\nguilty: 1\n", line, "\nrcs0: busy, head ",
		"\n  errors: 0x00000000 (none)",
		/* HI: the read itself, which every log of such cards has */
		"\n  busy units: command stream HI GUI ", " CP (",
	}, *missing = "";
	unsigned long long batch;
	unsigned int i;
	__u32 before;
	char *at;

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
	error_state(self->fd, text, sizeof(text));
	ASSERT_EQ(0, model_fault(&place, FAULT_HANG | FAULT_ONCE));
	ASSERT_EQ(0, bo_use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	ASSERT_EQ(0, bo_use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	EXPECT_EQ(0, bo_wait_idle(self->fd, handle));
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &info);
	EXPECT_LT(before, resets);
	EXPECT_EQ(0x12345678, peek(words));

	/* who it was; units that are busy (digest §3.1); the batch, which is fillers (§5.1.3) */
	error_state(self->fd, text, sizeof(text));
	snprintf(line, sizeof(line), "\nprocess: radeon_life[%d]\n", getpid());
	for (i = 0; i < ARRAY_LEN(said); i++)
		missing = strstr(text, said[i]) ? missing : said[i];
	EXPECT_STREQ("", missing);
	at = strstr(text, "\nbatch: 0x");
	ASSERT_NE(NULL, at);
	batch = strtoull(at + 8, NULL, 16);
	EXPECT_NE(0, batch);
	snprintf(line, sizeof(line), "\nrcs0 --- batch = 0x%08llx %08llx\n~J,fQLJ,fQLJ,fQL",
		 batch >> 32, batch & 0xffffffff);
	EXPECT_NE(NULL, strstr(text, line));
	error_state(self->fd, text, sizeof(text));
	EXPECT_STREQ("No error state collected\n", text);

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

/*
 * If a card resumes and its firmware has not run, the driver wedges it before it writes
 * a page table: the card's memory holds noise, and the card would access any address. No
 * wait hangs, and the BOs keep their contents. With firmware it works after the next bind.
 */
TEST_F(radeon, sleep_unposted)
{
	const char *command = getenv("OURO_SLEEP");
	__u32 handles[2], *words[2];
	struct place place;
	unsigned int i;
	char line[256];
	struct cs cs;

	if (!self->ours)
		SKIP(return, "the upstream driver runs the firmware itself");
	if (!command)
		SKIP(return, "OURO_SLEEP is not set: nothing here may send the machine to sleep");
	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "no model that can be told to forget its firmware");
	for (i = 0; i < 2; i++) {
		handles[i] = bo_create(self->fd, 4 * PAGE, RADEON_GEM_DOMAIN_VRAM);
		words[i] = bo_map(self->fd, handles[i], 4 * PAGE);
		ASSERT_NE(MAP_FAILED, words[i]);
		poke(words[i], 0x12345678 + i);
		poke(words[i] + PAGE - 1, ~i);
		ASSERT_EQ(0, bo_use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
	}
	ASSERT_EQ(0, model_fault(&place, FAULT_UNPOSTED | FAULT_ONCE));
	snprintf(line, sizeof(line), "%s mem real >/tmp/sleep-said 2>&1", command);
	ASSERT_EQ(0, system(line));
	EXPECT_EQ(1, device_is_wedged(self->fd));
	cs_init(&cs);
	cs_reloc(&cs, handles[0], 0, RADEON_GEM_DOMAIN_GTT);
	BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EIO);
	/* neither is it brought back by a reset */
	device_ask_for_reset(self->fd);
	EXPECT_EQ(1, device_is_wedged(self->fd));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, bo_wait_idle(self->fd, handles[i]));
		EXPECT_EQ(0x12345678 + i, peek(words[i]));
		EXPECT_EQ(~i, peek(words[i] + PAGE - 1));
		munmap(words[i], 4 * PAGE);
	}
	ASSERT_EQ(0, device_unbind(&place));
	EXPECT_EQ(-ENODEV, device_bind(&place));
	close(self->fd);
	ASSERT_EQ(0, model_pull(&place));
	ASSERT_EQ(0, model_put_back(&place));
	self->fd = radeon_open();
	ASSERT_LE(0, self->fd);
	handles[0] = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM);
	ASSERT_EQ(0, bo_use(self->fd, handles[0], RADEON_GEM_DOMAIN_VRAM));
	EXPECT_EQ(0, bo_wait_idle(self->fd, handles[0]));
	EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, bo_domain_of(self->fd, handles[0]));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Failing allocations and copies of user memory: see failing.h, and
 * Documentation/fault-injection of the kernel for the files.
 */
#include <fcntl.h>
#include <stdio.h>

#include "failing.h"

#define DEBUG "/sys/kernel/debug/"

static int set(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), got;

	if (fd < 0)
		return -errno;
	got = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return got;
}

int failing_prepare(void)
{
	/* allocations that may sleep fail too, pages of every order; nothing is printed of it */
	static const char *const settings[][2] = {
		{ DEBUG "failslab/ignore-gfp-wait", "N" },
		{ DEBUG "failslab/verbose", "0" },
		{ DEBUG "fail_page_alloc/ignore-gfp-wait", "N" },
		{ DEBUG "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ DEBUG "fail_page_alloc/min-order", "0" },
		{ DEBUG "fail_page_alloc/verbose", "0" },
	};
	unsigned int i;
	int got;

	for (i = 0; i < ARRAY_LEN(settings); i++) {
		got = set(settings[i][0], settings[i][1]);
		if (got)
			return got;
	}
	/* not every kernel counts copies of user memory */
	got = set(DEBUG "fail_usercopy/verbose", "0");
	return got && got != -ENOENT ? got : failing_arm(0);
}

static int file = -1;

int failing_arm(unsigned int n)
{
	char text[16];
	int length;

	if (file < 0)
		file = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (file < 0)
		return -errno;
	length = snprintf(text, sizeof(text), "%u", n);
	return pwrite(file, text, length, 0) < 0 ? -errno : 0;
}

int failing_left(void)
{
	char text[16] = "";

	/* where copies count, this one does: the last one that was left */
	if (pread(file, text, sizeof(text) - 1, 0) < 0)
		return errno == EFAULT ? 1 : -errno;
	return strtoul(text, NULL, 10);
}

int failing_disarm(void)
{
	int left = failing_left(), got = failing_arm(0);

	/* and this one; then nothing is left either */
	if (got && got != -EFAULT)
		return got;
	return left < 0 ? left : left == 0;
}

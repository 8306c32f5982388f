/* SPDX-License-Identifier: GPL-2.0 */
/* The files of a device in debugfs, sysfs and procfs: their paths and contents. */
#ifndef OURO_SELFTEST_FILES_H
#define OURO_SELFTEST_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "gpu.h"

/* Returns the path of a device's file in debugfs, which is mounted if necessary. */
static inline void debug_path(int fd, const char *name, char *path, size_t size)
{
	struct stat st;

	if (access("/sys/kernel/debug/dri", F_OK))
		mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	if (fstat(fd, &st))
		memset(&st, 0, sizeof(st));
	snprintf(path, size, "/sys/kernel/debug/dri/%u/%s", minor(st.st_rdev), name);
}

/* Finds the path of a card's file in sysfs. Returns 0 or a negative errno. */
static inline int card_path(int fd, const char *name, char *path, size_t size)
{
	char folder[64];
	struct dirent *entry;
	struct stat st;
	DIR *dir;
	int found = -ENOENT;

	if (fstat(fd, &st))
		return -errno;
	snprintf(folder, sizeof(folder), "/sys/dev/char/%u:%u/device/drm", major(st.st_rdev),
		 minor(st.st_rdev));
	dir = opendir(folder);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, "card", 4)) {
			snprintf(path, size, "%s/%.16s/%s", folder, entry->d_name, name);
			found = 0;
		}
	closedir(dir);
	return found;
}

/* Reads the text of a file. Returns its length or a negative errno. */
static inline int file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n;

	text[0] = 0;
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	else
		text[n] = 0;
	close(fd);
	return n;
}

/* Returns the result of write(), or a negative errno. */
static inline int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}

/*
 * Enables or disables the hang check: a test that queues work behind a spinning batch disables it.
 */
static inline void hang_check(int fd, bool on)
{
	char path[128];

	debug_path(fd, "i915_params/enable_hangcheck", path, sizeof(path));
	file_write(path, on ? "1" : "0");
}

/* Parses nanoseconds or bytes. */
static inline long long with_unit(const char *text)
{
	char *unit;
	long long value = strtoll(text, &unit, 10);

	if (strstr(unit, "KiB"))
		return value << 10;
	return strstr(unit, "MiB") ? value << 20 : value;
}

/* Returns the value of a key of fdinfo, or -1. */
static inline long long client_usage(int fd, const char *key)
{
	char path[64], text[4096], *line;
	size_t n = strlen(key);

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (file_read(path, text, sizeof(text)) < 0)
		return -1;
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, key, n) && line[n] == ':')
			return with_unit(line + n + 1);
	return -1;
}

/*
 * Returns the CPU cache lines that the driver has flushed for a reason (uapi.rst, ouro_caches); -1
 * if it does not report them.
 */
static inline long flushed(int fd, const char *cause)
{
	char path[128], text[1024];
	const char *line;
	long lines = -1;

	debug_path(fd, "ouro_caches", path, sizeof(path));
	if (file_read(path, text, sizeof(text)) <= 0)
		return -1;
	line = strstr(text, cause);
	if (!line || sscanf(line + strlen(cause), " %ld lines", &lines) != 1)
		return -1;
	return lines;
}

#endif

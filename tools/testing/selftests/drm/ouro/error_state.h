/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readers of the error state: Documentation/gpu/ouro/error-state.rst.
 */
#ifndef OURO_ERROR_STATE_H
#define OURO_ERROR_STATE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NOTHING "No error state collected\n"

/* The file of a device: beside its first node, the number of which is 128 lower. */
static inline void file_of(int fd, char *path, size_t size)
{
	struct stat st = {};

	fstat(fd, &st);
	snprintf(path, size, "/sys/class/drm/card%u/error", minor(st.st_rdev) & 63);
}

/* The whole file, ending in zero; to be freed. */
static inline char *read_file(const char *path)
{
	char *text = NULL;
	size_t len = 0, room = 0;
	ssize_t got;
	int file;

	file = open(path, O_RDONLY);
	if (file < 0)
		return NULL;
	do {
		if (room - len < 65536) {
			room = room * 2 + 131072;
			text = realloc(text, room);
		}
		got = read(file, text + len, room - len - 1);
		if (got > 0)
			len += got;
	} while (got > 0);
	close(file);
	text[len] = 0;
	return text;
}

static inline char *read_all(int fd)
{
	char path[64];

	file_of(fd, path, sizeof(path));
	return read_file(path);
}

static inline int write_one(const char *path)
{
	int file, got;

	file = open(path, O_WRONLY);
	if (file < 0)
		return -errno;
	got = write(file, "x", 1);
	close(file);
	return got == 1 ? 0 : -errno;
}

static inline int clear(int fd)
{
	char path[64];

	file_of(fd, path, sizeof(path));
	return write_one(path);
}

/* Dwords of the memory at an address, up to `n`; how many there were, -1 if it is not there. */
static inline int memory(const char *text, const char *kind, __u64 address, __u32 *out, int n)
{
	char head[64];
	const char *at;
	int i, digit;

	snprintf(head, sizeof(head), " --- %s = 0x%08x %08x\n~", kind, (__u32)(address >> 32),
		 (__u32)address);
	at = strstr(text, head);
	if (!at)
		return -1;
	at += strlen(head);
	for (i = 0; i < n && *at != '\n' && *at; i++) {
		__u32 value = 0;

		if (*at == 'z') {
			at++;
		} else {
			for (digit = 0; digit < 5; digit++)
				value = value * 85 + (*at++ - '!');
		}
		out[i] = value;
	}
	return i;
}

/* The same of the first piece of a kind, wherever it was. */
static inline int memory_of(const char *text, const char *kind, __u32 *out, int n)
{
	char head[32];
	__u32 high, low;
	const char *at;

	snprintf(head, sizeof(head), " --- %s = ", kind);
	at = strstr(text, head);
	if (!at || sscanf(at + strlen(head), "0x%8x %8x", &high, &low) != 2)
		return -1;
	return memory(text, kind, (__u64)high << 32 | low, out, n);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of objects' memory: touching pages, and memory pressure. */
#ifndef OURO_SELFTEST_MEMORY_H
#define OURO_SELFTEST_MEMORY_H

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "gpu.h"

static sigjmp_buf touch_out;

static void touch_fails(int signal)
{
	siglongjmp(touch_out, 1);
}

/* Returns whether a word can be read (or written); its old value is returned in value. */
static inline bool touch(__u32 *word, bool write, __u32 *value)
{
	struct sigaction fails = { .sa_handler = touch_fails }, old;

	sigaction(SIGBUS, &fails, &old);
	if (sigsetjmp(touch_out, 1)) {
		sigaction(SIGBUS, &old, NULL);
		return false;
	}
	*value = peek(word);
	if (write)
		poke(word, *value);
	sigaction(SIGBUS, &old, NULL);
	return true;
}

/* Allocates all pages of an object, by a read through a mapping; a partial write need not do so. */
static inline int gem_populate(int fd, __u32 handle)
{
	__u32 *map = gem_map(fd, handle, PAGE, I915_MMAP_OFFSET_WB);
	__u32 value;
	bool there;

	if (!map)
		return -errno;
	there = touch(map, false, &value);
	munmap(map, PAGE);
	return there ? 0 : -ENOMEM;
}

/* Like gem_populate() without signals, so that several threads can call it. */
static inline int give_memory(const struct gpu *gpu, __u32 handle)
{
	struct drm_i915_gem_set_domain set = { .handle = handle,
					       .read_domains = I915_GEM_DOMAIN_CPU };
	__u32 value = handle;
	int got = gem_write(gpu->fd, handle, 0, &value, 4);

	/* a write that is not through a mapping need not do so */
	if (got || gpu->speaks != &i915)
		return got;
	return call(gpu->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
}

/* Requests memory from all shrinkers. Returns 0 or a negative errno. */
static inline int want_memory(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	int got = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "2", 1) != 1)
		got = -errno;
	close(fd);
	return got;
}

/* Writes to i915_gem_drop_caches. Returns 0 or a negative errno. */
static inline int drop_caches(int fd, const char *what)
{
	char path[100];
	struct stat st;
	int file, got = 0;

	if (access("/sys/kernel/debug/dri", F_OK))
		mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	if (fstat(fd, &st))
		return -errno;
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/i915_gem_drop_caches",
		 minor(st.st_rdev));
	file = open(path, O_WRONLY);
	if (file < 0)
		return -errno;
	if (write(file, what, strlen(what)) != (ssize_t)strlen(what))
		got = -errno;
	close(file);
	return got;
}

/*
 * Waits until closed objects are freed, those of ended processes too. Reclaim skips an object
 * while their freeing holds the lock of the aperture. Returns 0 or a negative errno.
 */
static inline int wait_freed(int fd)
{
	return drop_caches(fd, "0x10");
}

/*
 * Makes the driver free all idle pages, those with needed contents too, as if swap had room for
 * them. Returns 0 or a negative errno.
 */
static inline int drop_pages(int fd)
{
	/* unbound, bound, all; waits until the pages are freed */
	return drop_caches(fd, "0x33");
}

/* Returns the pages of the device's objects, or -1. */
static inline __s64 object_pages(int fd)
{
	struct drm_ouro_stats stats = {};

	return call(fd, DRM_IOCTL_OURO_STATS, &stats) ? -1 : (__s64)stats.object_pages;
}

#endif

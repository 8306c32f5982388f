/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What became of batches that the kernel checks before they run: `ouro_batches` of debugfs
 * (uapi.rst). On chips whose kernel checks none there is nothing to be seen.
 */
#ifndef CHECKED_H
#define CHECKED_H

#include <drm/i915_drm.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct checked {
	/* with privilege, from a copy */
	unsigned long copies;
	/* as user space wrote them, without */
	unsigned long originals;
};

/* Whether batches of this device are checked: its checker has a version (CMD_PARSER_VERSION). */
static inline int checked_are(int fd)
{
	int version = 0;
	struct drm_i915_getparam get = { I915_PARAM_CMD_PARSER_VERSION, &version };

	return !ioctl(fd, DRM_IOCTL_I915_GETPARAM, &get) && version > 0;
}

/* Both counts of the device since it came; 0 if the kernel does not say. */
static inline int checked_counts(int fd, struct checked *counts)
{
	char path[64];
	struct stat node;
	FILE *file;
	int good;

	memset(counts, 0, sizeof(*counts));
	if (fstat(fd, &node))
		return 0;
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/ouro_batches", minor(node.st_rdev));
	file = fopen(path, "r");
	if (!file)
		return 0;
	good = fscanf(file, "%lu copies\n%lu originals", &counts->copies, &counts->originals);
	fclose(file);
	return good == 2;
}

#endif

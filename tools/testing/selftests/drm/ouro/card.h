/* SPDX-License-Identifier: GPL-2.0 */
/* Primary nodes, for the ioctls of the DRM core that render nodes do not have. */
#ifndef OURO_SELFTEST_CARD_H
#define OURO_SELFTEST_CARD_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "gpu.h"

/* Opens a primary node of the driver of that name. Returns -1 on failure. */
static inline int open_card(const char *driver)
{
	struct dirent *entry;
	DIR *dir = opendir("/dev/dri");
	int fd = -1;

	while (dir && (entry = readdir(dir))) {
		char path[300], name[16] = "";
		struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

		if (strncmp(entry->d_name, "card", 4))
			continue;
		snprintf(path, sizeof(path), "/dev/dri/%s", entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!call(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, driver))
			break;
		close(fd);
		fd = -1;
	}
	if (dir)
		closedir(dir);
	return fd;
}

#endif

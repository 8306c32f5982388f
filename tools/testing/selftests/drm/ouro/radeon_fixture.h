/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of programs about radeon: a device, and whether its driver is ouro. The programs also
 * run with the upstream driver, to verify the promises of both. It accepts much that ouro refuses;
 * promises of ouro alone are tested with ouro only (ours, OURS_BAD), and are in the table of
 * uapi.rst.
 */
#ifndef OURO_SELFTEST_RADEON_FIXTURE_H
#define OURO_SELFTEST_RADEON_FIXTURE_H

#include "radeon.h"
#include "test.h"

FIXTURE(radeon)
{
	int fd;
	bool ours;
};

/* Checks that ouro refuses a call. */
#define OURS_BAD(fd, request, argument, error)                   \
	do {                                                     \
		if (self->ours)                                  \
			BAD_NAMED(#request, fd, request, argument, error); \
	} while (0)

FIXTURE_SETUP(radeon)
{
	const char *kernel = getenv("OURO_KERNEL");
	struct drm_ouro_device device = {};

	alarm(kernel && !strcmp(kernel, "debug") ? SECONDS_DEBUG : SECONDS_PLAIN);
	self->fd = radeon_open();
	if (self->fd == -ENODEV)
		SKIP(return, "no device here speaks radeon");
	ASSERT_LE(0, self->fd);
	self->ours = !call(self->fd, DRM_IOCTL_OURO_DEVICE, &device);
}

FIXTURE_TEARDOWN(radeon)
{
	if (self->fd >= 0)
		close(self->fd);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Devices that speak radeon. */
#ifndef OURO_SELFTEST_RADEON_H
#define OURO_SELFTEST_RADEON_H

#include <drm/radeon_drm.h>

/* Opens the first render node that speaks radeon: a descriptor, or -ENODEV, or another errno. */
int radeon_open(void);

#endif

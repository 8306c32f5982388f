/* SPDX-License-Identifier: GPL-2.0 */
/* What bindgen reads: the structures and numbers of the ioctls. */
#include <drm/drm.h>
#include <drm/i915_drm.h>
#include <drm/ouro_drm.h>

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The address of a byte of a tiled surface: Sandy Bridge PRM Vol 1 Part 2 §4.5.2 (tile formats)
 * and §4.5.3 (tiling algorithm). Bit 6 of the address is swizzled as GEM_GET_TILING reports.
 */
#ifndef OURO_SELFTEST_TILED_H
#define OURO_SELFTEST_TILED_H

#include "gpu.h"

struct tiling {
	__u32 mode;
	__u32 stride;
	__u32 swizzle;
};

/* Returns the rows of a tile; and the bytes of each row. */
static inline __u32 tile_rows(const struct tiling *t)
{
	return t->mode == I915_TILING_X ? 8 : 32;
}

static inline __u32 tile_width(const struct tiling *t)
{
	return t->mode == I915_TILING_X ? 512 : 128;
}

/* Returns the bytes of a row of tiles. */
static inline __u64 tile_row(const struct tiling *t)
{
	return (__u64)t->stride * tile_rows(t);
}

/* Returns the offset in memory of byte `linear` of the surface, counted along its rows. */
static inline __u64 tiled_offset(const struct tiling *t, __u64 linear)
{
	__u64 x, y, at;

	if (t->mode == I915_TILING_NONE)
		return linear;
	x = linear % t->stride;
	y = linear / t->stride;
	/* Tiles of 4 KiB follow each other along the row. */
	at = (y / tile_rows(t) * (t->stride / tile_width(t)) + x / tile_width(t)) * 4096;
	if (t->mode == I915_TILING_X)
		/* 8 rows of 512 bytes */
		at += y % 8 * 512 + x % 512;
	else
		/* 8 columns of 16 bytes by 32 rows */
		at += x % 128 / 16 * 512 + y % 32 * 16 + x % 16;
	switch (t->swizzle) {
	case I915_BIT_6_SWIZZLE_9:
		return at ^ (at >> 9 & 1) << 6;
	case I915_BIT_6_SWIZZLE_9_10:
		return at ^ ((at >> 9 ^ at >> 10) & 1) << 6;
	}
	return at;
}

/* Sets the tiling of an object, and reads its swizzle. Returns 0 or a negative errno. */
static inline int tile(int fd, __u32 handle, struct tiling *t)
{
	struct drm_i915_gem_set_tiling set = { .handle = handle,
					       .tiling_mode = t->mode,
					       .stride = t->stride };
	int got = call(fd, DRM_IOCTL_I915_GEM_SET_TILING, &set);

	t->swizzle = set.swizzle_mode;
	return got;
}

#endif

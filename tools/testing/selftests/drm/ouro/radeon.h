/* SPDX-License-Identifier: GPL-2.0 */
/* Devices with the radeon uAPI, and a client of them. */
#ifndef OURO_SELFTEST_RADEON_H
#define OURO_SELFTEST_RADEON_H

#include <drm/radeon_drm.h>

/*
 * Opens the first render node with the radeon uAPI. Returns a descriptor, -ENODEV or another
 * negative errno.
 */
int radeon_open(void);

/* Creates an object in a domain. Returns its handle or 0. */
__u32 bo_create(int fd, __u64 size, __u32 domain);
/* Maps an object. Returns MAP_FAILED on failure. */
void *bo_map(int fd, __u32 handle, __u64 size);
/* Returns 0 or a negative errno. */
int bo_wait_idle(int fd, __u32 handle);
/* Returns the domain of an object. */
__u32 bo_domain_of(int fd, __u32 handle);
/* Sends a stream without effect that uses an object in a domain. Returns 0 or a negative errno. */
int bo_use(int fd, __u32 handle, __u32 domain);

/* A CS ioctl, whose parts a test can change. */
struct cs {
	__u32 words[64];
	struct drm_radeon_cs_reloc relocs[8];
	__u32 flags[3];
	struct drm_radeon_cs_chunk chunks[3];
	__u64 pointers[3];
	struct drm_radeon_cs arg;
};

/* Initializes it with eight fillers (type 2), no relocation, and tiling by the stream. */
void cs_init(struct cs *cs);
/* Adds a relocation. */
void cs_reloc(struct cs *cs, __u32 handle, __u32 read, __u32 write);
/* Adds a register write (type 0). */
void cs_set(struct cs *cs, __u32 reg, __u32 value);
/* Adds the relocation of the last register write. */
void cs_name(struct cs *cs, unsigned int reloc);
/* Fills a rectangle with one colour, in rows of 256 bytes. */
void cs_fill(struct cs *cs, __u32 handle, __u32 domain, __u32 x, __u32 y, __u32 width, __u32 height,
	     __u32 colour);

#endif

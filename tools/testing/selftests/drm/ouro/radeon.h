/* SPDX-License-Identifier: GPL-2.0 */
/* Devices that speak radeon, and a client of theirs. */
#ifndef OURO_SELFTEST_RADEON_H
#define OURO_SELFTEST_RADEON_H

#include <drm/radeon_drm.h>

/* Opens the first render node that speaks radeon: a descriptor, or -ENODEV, or another errno. */
int radeon_open(void);

/* An object of a domain, or 0. */
__u32 bo_create(int fd, __u64 size, __u32 domain);
/* Its memory, or MAP_FAILED. */
void *bo_map(int fd, __u32 handle, __u64 size);
/* 0, or an errno below it. */
int bo_wait_idle(int fd, __u32 handle);
/* Where an object is. */
__u32 bo_domain_of(int fd, __u32 handle);
/* Sends a stream without effect that wants an object in a domain: 0, or an errno below it. */
int bo_use(int fd, __u32 handle, __u32 domain);

/* A call of CS, of parts that a test can change. */
struct cs {
	__u32 words[64];
	struct drm_radeon_cs_reloc relocs[8];
	__u32 flags[3];
	struct drm_radeon_cs_chunk chunks[3];
	__u64 pointers[3];
	struct drm_radeon_cs arg;
};

/* Eight fillers (type 2), no relocation, tiles as the stream says. */
void cs_init(struct cs *cs);
/* One more relocation. */
void cs_reloc(struct cs *cs, __u32 handle, __u32 read, __u32 write);
/* A register is written (type 0). */
void cs_set(struct cs *cs, __u32 reg, __u32 value);
/* The relocation of what was set last. */
void cs_name(struct cs *cs, unsigned int reloc);
/* A rectangle of one colour in rows of 256 bytes. */
void cs_fill(struct cs *cs, __u32 handle, __u32 domain, __u32 x, __u32 y, __u32 width, __u32 height,
	     __u32 colour);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * A client of the radeon interface: objects, and streams made of few commands. Commands: "R5xx
 * Acceleration" §5.1; registers that streams may write, and the order of a relocation: its digest
 * §5.7.
 */
#include <string.h>
#include <sys/mman.h>

#include "gpu.h"
#include "radeon.h"

/* An object of a domain, or 0. */
__u32 bo_create(int fd, __u64 size, __u32 domain)
{
	struct drm_radeon_gem_create arg = { .size = size, .initial_domain = domain };

	return call(fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg) ? 0 : arg.handle;
}

void *bo_map(int fd, __u32 handle, __u64 size)
{
	struct drm_radeon_gem_mmap arg = { .handle = handle, .size = size };

	if (call(fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg))
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, arg.addr_ptr);
}

int bo_wait_idle(int fd, __u32 handle)
{
	struct drm_radeon_gem_wait_idle arg = { .handle = handle };

	return call(fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &arg);
}

/* Where an object is. */
__u32 bo_domain_of(int fd, __u32 handle)
{
	struct drm_radeon_gem_busy arg = { .handle = handle };

	call(fd, DRM_IOCTL_RADEON_GEM_BUSY, &arg);
	return arg.domain;
}

/* Eight fillers (type 2), no relocation, tiles as the stream says. */
void cs_init(struct cs *cs)
{
	unsigned int i;

	memset(cs, 0, sizeof(*cs));
	for (i = 0; i < 8; i++)
		cs->words[i] = 0x80000000;
	cs->flags[0] = RADEON_CS_KEEP_TILING_FLAGS;
	cs->chunks[0] = (struct drm_radeon_cs_chunk){ RADEON_CHUNK_ID_IB, 8, U64(cs->words) };
	cs->chunks[1] = (struct drm_radeon_cs_chunk){ RADEON_CHUNK_ID_RELOCS, 0, U64(cs->relocs) };
	cs->chunks[2] = (struct drm_radeon_cs_chunk){ RADEON_CHUNK_ID_FLAGS, 3, U64(cs->flags) };
	for (i = 0; i < 3; i++)
		cs->pointers[i] = U64(&cs->chunks[i]);
	cs->arg.num_chunks = 3;
	cs->arg.chunks = U64(cs->pointers);
}

void cs_reloc(struct cs *cs, __u32 handle, __u32 read, __u32 write)
{
	cs->relocs[cs->chunks[1].length_dw / 4] =
		(struct drm_radeon_cs_reloc){ handle, read, write, 0 };
	cs->chunks[1].length_dw += 4;
}

/* A stream without effect that wants an object in a domain. */
int bo_use(int fd, __u32 handle, __u32 domain)
{
	struct cs cs;

	cs_init(&cs);
	cs_reloc(&cs, handle, 0, domain);
	return call(fd, DRM_IOCTL_RADEON_CS, &cs.arg);
}

/* A register is written (type 0, digest §2.1), and a relocation is named behind it. */
void cs_set(struct cs *cs, __u32 reg, __u32 value)
{
	cs->words[cs->chunks[0].length_dw++] = reg / 4;
	cs->words[cs->chunks[0].length_dw++] = value;
}

void cs_name(struct cs *cs, unsigned int reloc)
{
	cs->words[cs->chunks[0].length_dw++] = 0xc0001000;
	cs->words[cs->chunks[0].length_dw++] = 4 * reloc;
}

/*
 * A rectangle of one colour in rows of 256 bytes (digest §2.3, §3.3): GUI_CONTROL with a pitch
 * and offset of its own, a solid brush, 32 bits, ROP3 of the pattern; to the right and down.
 */
void cs_fill(struct cs *cs, __u32 handle, __u32 domain, __u32 x, __u32 y, __u32 width,
	     __u32 height, __u32 colour)
{
	cs_init(cs);
	cs_reloc(cs, handle, 0, domain);
	cs->chunks[0].length_dw = 0;
	cs_set(cs, 0x146c, 0x52f036d2);
	cs_set(cs, 0x142c, 4 << 22);
	cs_name(cs, 0);
	cs_set(cs, 0x147c, colour);
	cs_set(cs, 0x16c0, 3);
	cs_set(cs, 0x1438, y << 16 | x);
	cs_set(cs, 0x1598, width << 16 | height);
}

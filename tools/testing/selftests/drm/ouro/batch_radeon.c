// SPDX-License-Identifier: GPL-2.0
/*
 * The radeon interface: its objects, and streams that store values. See gpu.h.
 *
 * A store is a rectangle of one pixel by the 2D engine of R5xx ("R5xx
 * Acceleration" §5.1, §5.2.2; registers: its digest §2.3, §3.3).
 */
#include <stdio.h>
#include <time.h>

#include <drm/radeon_drm.h>

#include "gpu.h"
#include "radeon.h"

static int identify(struct gpu *gpu)
{
	struct drm_radeon_info info = { .request = RADEON_INFO_DEVICE_ID,
					.value = U64(&gpu->chip) };
	int got = call(gpu->fd, DRM_IOCTL_RADEON_INFO, &info);

	if (got)
		return got;
	gpu->engines[0] = (struct engine){ .name = "rcs0", .bit = RCS };
	gpu->n_engines = 1;
	return 0;
}

/* In the system's memory, which is there when the device is not. */
static __u32 create(int fd, __u64 size)
{
	struct drm_radeon_gem_create arg = { .size = size,
					     .initial_domain = RADEON_GEM_DOMAIN_GTT };

	return call(fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg) ? 0 : arg.handle;
}

/* There is one way to map. NULL with errno if not. */
static void *map(int fd, __u32 handle, __u64 size, __u64 how)
{
	struct drm_radeon_gem_mmap arg = { .handle = handle, .size = size };
	void *at;

	if (call(fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg))
		return NULL;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, arg.addr_ptr);
	return at == MAP_FAILED ? NULL : at;
}

static int wait_idle(int fd, __u32 handle)
{
	struct drm_radeon_gem_wait_idle arg = { .handle = handle };

	return call(fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &arg);
}

static int busy(int fd, __u32 handle)
{
	struct drm_radeon_gem_busy arg = { .handle = handle };
	int got = call(fd, DRM_IOCTL_RADEON_GEM_BUSY, &arg);

	return got == -EBUSY ? 1 : got;
}

/* The call has no timeout: one that is not endless looks again and again. */
static int wait_for(int fd, __u32 handle, __s64 timeout)
{
	struct timespec start, now;
	int got;

	if (timeout < 0)
		return wait_idle(fd, handle);
	clock_gettime(CLOCK_MONOTONIC, &start);
	while ((got = busy(fd, handle)) == 1) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec - start.tv_sec) * 1000000000ll + now.tv_nsec - start.tv_nsec >
		    timeout)
			return -ETIME;
		usleep(1000);
	}
	return got;
}

/* A stream in the making. */
struct stream {
	__u32 words[4096];
	unsigned int n;
};

/* A register is written: a packet of type 0. */
static void set(struct stream *s, __u32 reg, __u32 value)
{
	s->words[s->n++] = reg / 4;
	s->words[s->n++] = value;
}

/* One pixel, in a row of 1024 bytes. */
static void pixel(struct stream *s, __u32 offset, __u32 value)
{
	enum { ROW = 1024, PITCH_UNIT = 64, OFFSET_UNIT = 1024 };

	/* a pitch and offset of its own, a solid brush, 32 bits, ROP3 of the pattern */
	set(s, 0x146c, 0x52f036d2);
	set(s, 0x142c, ROW / PITCH_UNIT << 22 | offset / OFFSET_UNIT);
	/* the first relocation, behind the register that needs it */
	s->words[s->n++] = 0xc0001000;
	s->words[s->n++] = 0;
	set(s, 0x147c, value);
	/* to the right and down, from x, one by one */
	set(s, 0x16c0, 3);
	set(s, 0x1438, offset % ROW / 4);
	set(s, 0x1598, 1 << 16 | 1);
}

static int stores(const struct gpu *gpu, const struct engine *engine, __u32 context,
		  const struct stores *list)
{
	struct drm_radeon_cs_reloc reloc = { list->handle, 0, RADEON_GEM_DOMAIN_GTT, 0 };
	__u32 flags[2] = { RADEON_CS_KEEP_TILING_FLAGS, RADEON_CS_RING_GFX };
	struct stream s = {};
	struct drm_radeon_cs_chunk chunks[3] = {
		{ RADEON_CHUNK_ID_IB, 0, U64(s.words) },
		{ RADEON_CHUNK_ID_RELOCS, sizeof(reloc) / 4, U64(&reloc) },
		{ RADEON_CHUNK_ID_FLAGS, ARRAY_LEN(flags), U64(flags) },
	};
	__u64 pointers[3] = { U64(&chunks[0]), U64(&chunks[1]), U64(&chunks[2]) };
	struct drm_radeon_cs arg = { .num_chunks = 3, .chunks = U64(pointers) };
	unsigned int i;

	for (i = 0; i < list->n; i++)
		pixel(&s, list->offset + i * list->step, list->value + i);
	chunks[0].length_dw = s.n;
	return call(gpu->fd, DRM_IOCTL_RADEON_CS, &arg);
}

const struct interface radeon = {
	.name = "radeon",
	.identify = identify,
	.create = create,
	.map = map,
	.write = write_mapped,
	.read = read_mapped,
	.wait = wait_for,
	.busy = busy,
	.stores = stores,
};

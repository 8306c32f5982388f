// SPDX-License-Identifier: GPL-2.0
/*
 * Copies a picture of 64 by 64 pixels from one buffer object to another, by the
 * blitter of an Intel GPU up to Ivy Bridge. It uses nothing but the i915
 * interface, so it runs on the upstream driver too.
 *
 *	copy
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <drm/i915_drm.h>

#define WIDTH 64u
#define HEIGHT 64u
#define PITCH (WIDTH * 4)
#define BYTES (PITCH * HEIGHT)

/* G45 PRM Vol 1b, chapter 8: client 2, opcode 53h, all four bytes written, 8 dwords */
#define XY_SRC_COPY_BLT 0x54f00006u
#define DEPTH_32 (3u << 24)
#define ROP_SOURCE (0xccu << 16)
#define MI_BATCH_BUFFER_END 0x05000000u

static int fd;

static void call(unsigned long request, void *argument, const char *what)
{
	while (ioctl(fd, request, argument)) {
		if (errno == EINTR || errno == EAGAIN)
			continue;
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static __u32 object_new(__u64 size)
{
	struct drm_i915_gem_create create = { .size = size };

	call(DRM_IOCTL_I915_GEM_CREATE, &create, "GEM_CREATE");
	return create.handle;
}

static void object_write(__u32 handle, const void *data, __u64 size)
{
	struct drm_i915_gem_pwrite write = {
		.handle = handle, .size = size, .data_ptr = (uintptr_t)data
	};

	call(DRM_IOCTL_I915_GEM_PWRITE, &write, "GEM_PWRITE");
}

/* Chips with a blitter of its own have it in another ring. */
static __u64 ring_of_blits(void)
{
	int has_blitter = 0;
	struct drm_i915_getparam param = {
		.param = I915_PARAM_HAS_BLT, .value = &has_blitter
	};

	call(DRM_IOCTL_I915_GETPARAM, &param, "GETPARAM");
	return has_blitter ? I915_EXEC_BLT : I915_EXEC_RENDER;
}

int main(void)
{
	static __u32 picture[WIDTH * HEIGHT], result[WIDTH * HEIGHT];
	__u32 commands[10] = {
		XY_SRC_COPY_BLT,
		DEPTH_32 | ROP_SOURCE | PITCH,
		0,			/* y and x of the first pixel */
		HEIGHT << 16 | WIDTH,	/* of the one behind the last */
		0,			/* destination: relocations[0] */
		0,			/* y and x in the source */
		PITCH,
		0,			/* source: relocations[1] */
		MI_BATCH_BUFFER_END,
	};
	/* The kernel writes the addresses of the objects into these dwords. */
	struct drm_i915_gem_relocation_entry relocations[2] = {
		{ .offset = 4 * 4, .presumed_offset = -1,
		  .read_domains = I915_GEM_DOMAIN_RENDER,
		  .write_domain = I915_GEM_DOMAIN_RENDER },
		{ .offset = 7 * 4, .presumed_offset = -1,
		  .read_domains = I915_GEM_DOMAIN_RENDER },
	};
	/* the batch is the last one */
	struct drm_i915_gem_exec_object2 objects[3] = {
		[2] = { .relocation_count = 2, .relocs_ptr = (uintptr_t)relocations },
	};
	struct drm_i915_gem_execbuffer2 execbuffer = {
		.buffers_ptr = (uintptr_t)objects,
		.buffer_count = 3,
		.batch_len = sizeof(commands),
	};
	struct drm_i915_gem_pread read = {
		.size = BYTES, .data_ptr = (uintptr_t)result
	};
	struct drm_i915_gem_wait wait = { .timeout_ns = 20000000000 };
	unsigned int i;

	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror("/dev/dri/renderD128");
		return 1;
	}
	for (i = 0; i < WIDTH * HEIGHT; i++)
		picture[i] = i * 0x10001;

	objects[0].handle = object_new(BYTES);
	objects[1].handle = object_new(BYTES);
	objects[2].handle = object_new(4096);
	relocations[0].target_handle = objects[1].handle;
	relocations[1].target_handle = objects[0].handle;
	object_write(objects[0].handle, picture, BYTES);
	object_write(objects[2].handle, commands, sizeof(commands));

	execbuffer.flags = ring_of_blits();
	call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &execbuffer, "GEM_EXECBUFFER2");
	wait.bo_handle = objects[1].handle;
	call(DRM_IOCTL_I915_GEM_WAIT, &wait, "GEM_WAIT");

	read.handle = objects[1].handle;
	call(DRM_IOCTL_I915_GEM_PREAD, &read, "GEM_PREAD");
	if (memcmp(picture, result, BYTES)) {
		printf("the copy differs\n");
		return 1;
	}
	printf("copied %u pixels, all right\n", WIDTH * HEIGHT);
	return 0;
}

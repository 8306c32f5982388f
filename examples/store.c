// SPDX-License-Identifier: GPL-2.0
/*
 * One batch on the render engine of a Sandy Bridge or Ivy Bridge: it jumps over
 * a gap and stores a number, and a fence says when it is done. It uses nothing
 * but the i915 interface, so it runs on the upstream driver too.
 *
 *	store [wrong]
 *
 * With "wrong" the jump leads back to the start of the batch, and the GPU
 * hangs: Documentation/gpu/ouro/debug-hang.rst follows that hang from the
 * kernel log to this line.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <drm/i915_drm.h>

#define PAGE 4096u
/* Where the second part of the batch begins, in bytes. */
#define SECOND_PART 64u
#define NUMBER 0xc0ffee

/* G45 PRM Vol 1b, "Memory Interface Commands", and the Sandy Bridge PRM, Vol 1 Part 3 */
#define MI_BATCH_BUFFER_START 0x18800100u /* in the batch's own address space */
#define MI_BATCH_BUFFER_END 0x05000000u
#define MI_STORE_DATA_IMM 0x10000002u

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

/* A buffer object of one page, which is zero. */
static __u32 page_new(void)
{
	struct drm_i915_gem_create create = { .size = PAGE };

	call(DRM_IOCTL_I915_GEM_CREATE, &create, "GEM_CREATE");
	return create.handle;
}

int main(int argc, char **argv)
{
	int wrong = argc > 1 && !strcmp(argv[1], "wrong");
	__u32 commands[SECOND_PART / 4 + 6] = {
		[0] = MI_BATCH_BUFFER_START,
		[1] = 0, /* its address: relocations[0] */
		[SECOND_PART / 4] = MI_STORE_DATA_IMM,
		[SECOND_PART / 4 + 2] = 0, /* its address: relocations[1] */
		[SECOND_PART / 4 + 3] = NUMBER,
		[SECOND_PART / 4 + 4] = MI_BATCH_BUFFER_END,
	};
	/* delta is added to the address of the target: without it the jump is a loop */
	struct drm_i915_gem_relocation_entry relocations[2] = {
		{ .offset = 4, .delta = wrong ? 0 : SECOND_PART, .presumed_offset = -1,
		  .read_domains = I915_GEM_DOMAIN_COMMAND },
		{ .offset = SECOND_PART + 8, .presumed_offset = -1,
		  .read_domains = I915_GEM_DOMAIN_INSTRUCTION,
		  .write_domain = I915_GEM_DOMAIN_INSTRUCTION },
	};
	/* the batch is the last one */
	struct drm_i915_gem_exec_object2 objects[2] = {
		[1] = { .relocation_count = 2, .relocs_ptr = (uintptr_t)relocations },
	};
	struct drm_i915_gem_execbuffer2 execbuffer = {
		.buffers_ptr = (uintptr_t)objects,
		.buffer_count = 2,
		.batch_len = sizeof(commands),
		.flags = I915_EXEC_RENDER | I915_EXEC_FENCE_OUT,
	};
	struct drm_i915_gem_pwrite write = {
		.size = sizeof(commands),
		.data_ptr = (uintptr_t)commands,
	};
	struct drm_i915_reset_stats stats = {};
	struct drm_i915_gem_pread read = {};
	struct pollfd fence = { .events = POLLIN };
	__u32 value = 0;

	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror("/dev/dri/renderD128");
		return 1;
	}
	objects[0].handle = page_new();
	objects[1].handle = page_new();
	relocations[0].target_handle = objects[1].handle;
	relocations[1].target_handle = objects[0].handle;
	write.handle = objects[1].handle;
	call(DRM_IOCTL_I915_GEM_PWRITE, &write, "GEM_PWRITE");
	call(DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &execbuffer, "GEM_EXECBUFFER2");

	/* The fence's file is in the upper half; it can be read when the batch is done. */
	fence.fd = execbuffer.rsvd2 >> 32;
	if (poll(&fence, 1, 20000) != 1) {
		fprintf(stderr, "the batch is not done after 20 seconds\n");
		return 1;
	}
	/* A batch that was reset is done as well: who wants to know asks. */
	call(DRM_IOCTL_I915_GET_RESET_STATS, &stats, "GET_RESET_STATS");
	if (stats.batch_active) {
		fprintf(stderr, "the GPU hung in this batch, and was reset\n");
		return 1;
	}
	read.handle = objects[0].handle;
	read.size = sizeof(value);
	read.data_ptr = (uintptr_t)&value;
	call(DRM_IOCTL_I915_GEM_PREAD, &read, "GEM_PREAD");
	printf("stored 0x%x, wanted 0x%x\n", value, NUMBER);
	return value != NUMBER;
}

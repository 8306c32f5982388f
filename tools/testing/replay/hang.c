// SPDX-License-Identifier: GPL-2.0
/*
 * Hangs the render engine of an execlist GPU (Gen12.5) through i915's uAPI, in
 * a batch whose error state shows whether a replay began as the hang did.
 *
 *	hang	one context keeps 0x5eed in a register of its image; then its
 *		batch adds a dword of a captured BO to the register, stores the
 *		sum in that dword, and jumps to the same command for ever.
 *
 * The dword is 0x5eed in the error state. A replay with the image and the BO
 * of that error state makes 0xbdda of it; without one of the two, another number.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <drm/i915_drm.h>

#define PAGE 4096u
/* A multiple of 2 MiB, since BOs in VRAM may have larger pages. */
#define BATCH_AT 0x200000u
#define DATA_AT 0x400000u
#define KEPT 0x5eed

/*
 * DG2 PRM Vol 2a, "Command Reference: Instructions": MI_LOAD_REGISTER_IMM,
 * MI_LOAD_REGISTER_MEM, MI_MATH, MI_STORE_REGISTER_MEM, MI_BATCH_BUFFER_START
 * (in the PPGTT).
 */
#define MI_LOAD_REGISTER_IMM 0x11000001u
#define MI_LOAD_REGISTER_MEM 0x14800002u
#define MI_STORE_REGISTER_MEM 0x12000002u
#define MI_MATH(dwords) (0x0d000000u | ((dwords) - 1))
#define MI_BATCH_BUFFER_START 0x18800101u
#define MI_BATCH_BUFFER_END 0x05000000u
/* Vol 2a, MI_MATH: an operation and its operands; registers are 0 to 15. */
#define MATH(op, a, b) ((op) << 20 | (a) << 10 | (b))
#define LOAD 0x080u
#define STORE 0x180u
#define ADD 0x100u
#define SRCA 0x20u
#define SRCB 0x21u
#define ACCU 0x31u
/* Vol 2c, CS_GPR: 16 registers of 64 bits. */
#define GPR(n) (0x2600u + 8 * (n))

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

static __u32 page_new(const __u32 *words, size_t count)
{
	struct drm_i915_gem_create create = { .size = PAGE };
	struct drm_i915_gem_mmap_offset arg = { .flags = I915_MMAP_OFFSET_FIXED };
	__u32 *map;

	call(DRM_IOCTL_I915_GEM_CREATE, &create, "GEM_CREATE");
	arg.handle = create.handle;
	call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &arg, "GEM_MMAP_OFFSET");
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, arg.offset);
	if (map == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memcpy(map, words, count * sizeof(*words));
	munmap(map, PAGE);
	return create.handle;
}

/* i915 captures BOs only of contexts that end with their first hang. */
static __u32 context_new(void)
{
	struct drm_i915_gem_context_create arg = {};
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_RECOVERABLE };

	call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &arg, "GEM_CONTEXT_CREATE");
	param.ctx_id = arg.ctx_id;
	call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, "GEM_CONTEXT_SETPARAM");
	return arg.ctx_id;
}

/* Runs a batch in a context, and waits until it is done or was reset. */
static void run(__u32 context, const __u32 *words, size_t count, __u32 data)
{
	const __u64 pinned = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
	struct drm_i915_gem_exec_object2 objects[2] = {
		{ .handle = data, .offset = DATA_AT,
		  .flags = pinned | EXEC_OBJECT_CAPTURE | EXEC_OBJECT_WRITE },
		{ .handle = page_new(words, count), .offset = BATCH_AT, .flags = pinned },
	};
	struct drm_i915_gem_execbuffer2 execbuffer = {
		.buffers_ptr = (uintptr_t)objects,
		.buffer_count = 2,
		.flags = I915_EXEC_RENDER,
		.rsvd1 = context,
	};
	struct drm_i915_gem_wait wait = { .bo_handle = objects[1].handle, .timeout_ns = -1 };

	call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &execbuffer, "GEM_EXECBUFFER2");
	call(DRM_IOCTL_I915_GEM_WAIT, &wait, "GEM_WAIT");
}

int main(void)
{
	static const __u32 nothing[] = { MI_BATCH_BUFFER_END };
	static const __u32 keep[] = {
		MI_LOAD_REGISTER_IMM, GPR(0), KEPT,
		MI_BATCH_BUFFER_END,
	};
	static const __u32 sum[] = {
		MI_LOAD_REGISTER_MEM, GPR(2), DATA_AT, 0,
		MI_MATH(4),
		MATH(LOAD, SRCA, 0), MATH(LOAD, SRCB, 2), MATH(ADD, 0, 0), MATH(STORE, 1, ACCU),
		MI_STORE_REGISTER_MEM, GPR(1), DATA_AT, 0,
		/* The loop is in dword 13. A batch that can be preempted would be no hang. */
		MI_BATCH_BUFFER_START, BATCH_AT + 13 * 4, 0,
	};
	struct drm_i915_reset_stats stats = {};
	__u32 hung, other, data;

	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror("/dev/dri/renderD128");
		return 1;
	}
	hung = context_new();
	other = context_new();
	data = page_new(nothing, 0);
	run(hung, keep, sizeof(keep) / 4, data);
	/* The engine saves the first context when another one runs. */
	run(other, nothing, 1, data);
	run(hung, sum, sizeof(sum) / 4, data);
	stats.ctx_id = hung;
	call(DRM_IOCTL_I915_GET_RESET_STATS, &stats, "GET_RESET_STATS");
	if (!stats.batch_active) {
		fprintf(stderr, "the batch did not hang\n");
		return 1;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The i915 interface: its objects, its commands, batches. See gpu.h.
 *
 * Commands of gen6: G45 PRM Vol 1b §1 and §8.9 for MI and blitter commands,
 * Sandy Bridge PRM Vol 1 Part 3 and Vol 2 Part 1 for MI_FLUSH_DW and
 * PIPE_CONTROL. Addresses are those of the batch's own space, but for the one
 * PIPE_CONTROL whose bit 2 says that it is a global one. Gen7: IHD-OS-V1 Pt 5
 * (May 2012) §1.2, where the video engine has MI_STORE_DATA_IMM too; its
 * PIPE_CONTROL says by a flag that an address is global, which is not for users.
 * Gen4: the same document as gen6's; one engine draws and copies, and batches of
 * users store by the blitter and PIPE_CONTROL alone (§1.5.2).
 */
#include <fcntl.h>
#include <stdio.h>

#include "batch_i915.h"

#define NEEDS_GTT EXEC_OBJECT_NEEDS_GTT

static const struct store_command gen4_stores[] = {
	{ "XY_COLOR_BLT", RCS, 6, { 0x54300004, 0x03f00040, 0, 0x00010001 }, 4, 0, 5, 4, 0 },
	{ "COLOR_BLT", RCS, 5, { 0x50300003, 0x03f00040, 0x00010004 }, 3, 0, 4, 4, 0 },
	/* 64 bits afterwards; its flags are in the header */
	{ "PIPE_CONTROL", RCS, 4, { 0x7a004002 }, 1, 0, 2, 8, 0 },
	{ "PIPE_CONTROL global", RCS, 4, { 0x7a004002 }, 1, 4, 2, 8, NEEDS_GTT },
};

static const struct store_command gen6_stores[] = {
	{ "MI_STORE_DATA_IMM", RCS | BCS, 4, { 0x10000002 }, 2, 0, 3, 4, 0 },
	{ "MI_STORE_DATA_IMM qword", RCS | BCS, 5, { 0x10000003 }, 2, 0, 3, 8, 0 },
	{ "PIPE_CONTROL", RCS, 5, { 0x7a000003, 1 << 14 }, 2, 0, 3, 8, 0 },
	{ "PIPE_CONTROL global", RCS, 5, { 0x7a000003, 1 << 14 }, 2, 4, 3, 8, NEEDS_GTT },
	{ "MI_FLUSH_DW", BCS | VCS, 3, { 0x13004001 }, 1, 0, 2, 4, 0 },
	{ "MI_FLUSH_DW qword", BCS | VCS, 4, { 0x13004002 }, 1, 0, 2, 8, 0 },
	/* one pixel of 32 bits by a fill */
	{ "XY_COLOR_BLT", BCS, 6, { 0x54300004, 0x03f00040, 0, 0x00010001 }, 4, 0, 5, 4, 0 },
	/* 4 bytes by a linear fill */
	{ "COLOR_BLT", BCS, 5, { 0x50300003, 0x03f00040, 0x00010004 }, 3, 0, 4, 4, 0 },
};

static const struct store_command gen7_stores[] = {
	{ "MI_STORE_DATA_IMM", RCS | BCS | VCS, 4, { 0x10000002 }, 2, 0, 3, 4, 0 },
	{ "MI_STORE_DATA_IMM qword", RCS | BCS | VCS, 5, { 0x10000003 }, 2, 0, 3, 8, 0 },
	/* the streamer stalls: each fourth one has to */
	{ "PIPE_CONTROL", RCS, 5, { 0x7a000003, 1 << 20 | 1 << 14 | 1 << 1 }, 2, 0, 3, 8, 0 },
	{ "MI_FLUSH_DW", BCS | VCS, 3, { 0x13004001 }, 1, 0, 2, 4, 0 },
	{ "MI_FLUSH_DW qword", BCS | VCS, 4, { 0x13004002 }, 1, 0, 2, 8, 0 },
	{ "XY_COLOR_BLT", BCS, 6, { 0x54300004, 0x03f00040, 0, 0x00010001 }, 4, 0, 5, 4, 0 },
	{ "COLOR_BLT", BCS, 5, { 0x50300003, 0x03f00040, 0x00010004 }, 3, 0, 4, 4, 0 },
};

static const struct backend backends[] = {
	{ "gen4", 0, 0x05000000, 0x18800180, gen4_stores, ARRAY_LEN(gen4_stores),
	  0x1f800000, 0x01800008, 0x11000001, 0x12000001,
	  /* INSTPM, CACHE_MODE_0 and _1, MI_ARB_STATE */
	  { 0x20c0, 0x2120, 0x2124, 0x20e4 },
	  8, { 0x54f00006, 0x03cc1000, 0, 0x00010400, 0, 0, 0x1000, 0 }, 4, 7,
	  .has_local = false, .has_shader_query = false, .has_read_only_pages = false,
	  .has_later_exec_flags = false, .requests_flush = true, .wide_batch_starts = true,
	  .swizzle_may_be_unknown = true, .no_shared_cache = true,
	  /* §2.4 reserves it, and only §1.5 has it for the address space */
	  .not_in_video_start = 1 << 7,
	  .widest_tiles = 128 * 1024 },
	{ "gen6", 0, 0x05000000, 0x18800100, gen6_stores, ARRAY_LEN(gen6_stores),
	  /* MI, opcode 3fh; MI_WAIT_FOR_EVENT, vertical blank of pipe A */
	  0x1f800000, 0x01800008,
	  /* MI_LOAD_REGISTER_IMM, MI_STORE_REGISTER_MEM */
	  0x11000001, 0x12000001,
	  /* INSTPM, CACHE_MODE_0 and _1, IA_VERTICES_COUNT, CL_INVOCATION_COUNT, PS_DEPTH_COUNT */
	  { 0x20c0, 0x2120, 0x2124, 0x2310, 0x2338, 0x2350 },
	  /* XY_SRC_COPY_BLT: 32 bits, one row of 1024, copied as it is */
	  8, { 0x54f00006, 0x03cc1000, 0, 0x00010400, 0, 0, 0x1000, 0 }, 4, 7,
	  /* all memory is the system's */
	  .has_local = false, .has_shader_query = false, .has_read_only_pages = false,
	  .has_later_exec_flags = false, .widest_tiles = 128 * 1024 },
	{ "gen7", 0, 0x05000000, 0x18800100, gen7_stores, ARRAY_LEN(gen7_stores),
	  0x1f800000, 0x01800008, 0x11000001, 0x12000001,
	  /*
	   * What users may load: IA_VERTICES_COUNT, CL_INVOCATION_COUNT,
	   * PS_INVOCATION_COUNT, SO_WRITE_OFFSET0
	   */
	  { 0x2310, 0x2338, 0x2348, 0x5280 },
	  8, { 0x54f00006, 0x03cc1000, 0, 0x00010400, 0, 0, 0x1000, 0 }, 4, 7,
	  .has_local = false, .has_shader_query = false, .has_read_only_pages = false,
	  .has_later_exec_flags = true, .has_checker = true, .has_streams = true,
	  .has_one_user = true, .has_own_spaces = true, .has_watchdog = true,
	  .has_tables_shown = true, .widest_tiles = 256 * 1024 },
};

/* Chips of a backend, for drivers that do not name it: PCI device ids. */
static const struct {
	const char *backend;
	__u16 chip;
} chips[] = {
	{ "gen4", 0x2972 }, { "gen4", 0x2982 }, { "gen4", 0x2992 }, { "gen4", 0x29a2 },
	{ "gen4", 0x2a02 }, { "gen4", 0x2a12 }, { "gen4", 0x2a42 }, { "gen4", 0x2e02 },
	{ "gen4", 0x2e12 }, { "gen4", 0x2e22 }, { "gen4", 0x2e32 }, { "gen4", 0x2e42 },
	{ "gen4", 0x2e92 },
	{ "gen6", 0x0102 }, { "gen6", 0x0106 }, { "gen6", 0x010a }, { "gen6", 0x0112 },
	{ "gen6", 0x0116 }, { "gen6", 0x0122 }, { "gen6", 0x0126 },
	{ "gen7", 0x0152 }, { "gen7", 0x0156 }, { "gen7", 0x015a }, { "gen7", 0x0162 },
	{ "gen7", 0x0166 }, { "gen7", 0x016a },
};

static const struct engine all_engines[] = {
	{ "rcs0", RCS, I915_EXEC_RENDER, 1 },
	{ "bcs0", BCS, I915_EXEC_BLT, 3 },
	{ "vcs0", VCS, I915_EXEC_BSD, 2 },
};

int getparam(int fd, int param)
{
	int value = 0;
	struct drm_i915_getparam get = { .param = param, .value = &value };
	int got = call(fd, DRM_IOCTL_I915_GETPARAM, &get);

	return got ? got : value;
}

void *query_answer(int fd, __u64 id, __s32 *length)
{
	struct drm_i915_query_item item = { .query_id = id };
	struct drm_i915_query ask = { .num_items = 1, .items_ptr = U64(&item) };
	void *answer;

	if (call(fd, DRM_IOCTL_I915_QUERY, &ask) || item.length <= 0)
		return NULL;
	answer = calloc(1, item.length);
	item.data_ptr = U64(answer);
	if (call(fd, DRM_IOCTL_I915_QUERY, &ask) || item.length <= 0) {
		free(answer);
		return NULL;
	}
	if (length)
		*length = item.length;
	return answer;
}

/*
 * True if the ring exists: EXECBUFFER2 looks up objects after it, so that the errno for an unknown
 * handle tells.
 */
bool i915_has_ring(int fd, __u64 ring)
{
	struct drm_i915_gem_exec_object2 object = { .handle = 0 };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .flags = ring };

	return call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb) == -ENOENT;
}

static int identify(struct gpu *gpu)
{
	const char *name = NULL, *ppgtt = getenv("OURO_PPGTT");
	struct drm_ouro_device device = {};
	unsigned int i;

	gpu->chip = getparam(gpu->fd, I915_PARAM_CHIPSET_ID);
	if (gpu->ouro) {
		call(gpu->fd, DRM_IOCTL_OURO_DEVICE, &device);
		name = device.backend;
	} else {
		for (i = 0; i < ARRAY_LEN(chips); i++)
			if (chips[i].chip == gpu->chip)
				name = chips[i].backend;
	}
	for (i = 0; name && i < ARRAY_LEN(backends); i++)
		if (!strcmp(name, backends[i].name))
			gpu->backend = &backends[i];
	if (!gpu->backend)
		return -EOPNOTSUPP;
	/* i915 has one PPGTT for all contexts there, ouro if the module's parameter says so */
	gpu->own_spaces = gpu->ouro && gpu->backend->has_own_spaces &&
			  !(ppgtt && !strcmp(ppgtt, "1"));
	for (i = 0; i < ARRAY_LEN(all_engines); i++) {
		if (!mute_engines && !store_for(gpu, &all_engines[i], 4))
			continue;
		if (i915_has_ring(gpu->fd, all_engines[i].ring))
			gpu->engines[gpu->n_engines++] = all_engines[i];
	}
	return gpu->n_engines ? 0 : -ENXIO;
}

__u32 i915_create(int fd, __u64 size)
{
	struct drm_i915_gem_create arg = { .size = size };

	return call(fd, DRM_IOCTL_I915_GEM_CREATE, &arg) ? 0 : arg.handle;
}

void *i915_map(int fd, __u32 handle, __u64 size, __u64 how)
{
	struct drm_i915_gem_mmap_offset get = { .handle = handle, .flags = how };
	void *at;

	if (call(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get))
		return NULL;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, get.offset);
	return at == MAP_FAILED ? NULL : at;
}

static int write_bytes(int fd, __u32 handle, __u64 offset, const void *data, __u64 size)
{
	struct drm_i915_gem_pwrite arg = {
		.handle = handle, .offset = offset, .size = size, .data_ptr = U64(data)
	};

	return call(fd, DRM_IOCTL_I915_GEM_PWRITE, &arg);
}

static int read_bytes(int fd, __u32 handle, __u64 offset, void *data, __u64 size)
{
	struct drm_i915_gem_pread arg = {
		.handle = handle, .offset = offset, .size = size, .data_ptr = U64(data)
	};

	return call(fd, DRM_IOCTL_I915_GEM_PREAD, &arg);
}

int i915_wait(int fd, __u32 handle, __s64 timeout)
{
	struct drm_i915_gem_wait wait = { .bo_handle = handle, .timeout_ns = timeout };
	int got;

	/* the upstream driver says EAGAIN if some of the time is left, less than it can wait */
	do {
		got = call(fd, DRM_IOCTL_I915_GEM_WAIT, &wait);
	} while (got == -EAGAIN);
	return got;
}

int i915_busy(int fd, __u32 handle)
{
	struct drm_i915_gem_busy arg = { .handle = handle };
	int got = call(fd, DRM_IOCTL_I915_GEM_BUSY, &arg);

	return got ? got : !!arg.busy;
}

__u32 i915_context(int fd)
{
	struct drm_i915_gem_context_create create = {};

	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create) ? 0 : create.ctx_id;
}

int i915_context_end(int fd, __u32 id)
{
	struct drm_i915_gem_context_destroy destroy = { .ctx_id = id };

	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy);
}

int i915_context_set(int fd, __u32 id, __u64 param, __u64 value)
{
	struct drm_i915_gem_context_param arg = { .ctx_id = id, .param = param, .value = value };

	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg);
}

/*
 * A request without a store, for an engine whose batches cannot store. It runs after what the
 * object has waited for, and before what waits for the object.
 */
static int pass(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 target)
{
	struct batch b;

	batch_init(&b);
	batch_object(&b, target)->flags |= EXEC_OBJECT_WRITE;
	batch_end(&b, gpu->backend);
	return batch_run(gpu->fd, &b, engine->ring, context);
}

/*
 * Sets `engine` to the one that stores in its place, behind it: itself if it can. 0, or a negative
 * errno.
 */
static int who_stores(const struct gpu *gpu, const struct engine **engine, __u32 context,
		      __u32 target)
{
	const struct engine *mute = *engine;

	if (store_for(gpu, mute, 4))
		return 0;
	*engine = &gpu->engines[0];
	return pass(gpu, mute, context, target);
}

int i915_store(const struct gpu *gpu, const struct engine *engine, __u32 target, __u32 value,
	       struct drm_i915_gem_execbuffer2 *eb)
{
	const struct drm_i915_gem_execbuffer2 asked = *eb;
	struct batch b;
	__u32 handle;
	int got = who_stores(gpu, &engine, eb->rsvd1, target);

	if (got)
		return got;
	batch_init(&b);
	batch_store(&b, store_for(gpu, engine, 4), target, 0, value);
	batch_end(&b, gpu->backend);
	handle = batch_finish(gpu->fd, &b, eb);
	eb->flags = engine->ring | asked.flags;
	eb->rsvd1 = asked.rsvd1;
	eb->rsvd2 = asked.rsvd2;
	eb->num_cliprects = asked.num_cliprects;
	eb->cliprects_ptr = asked.cliprects_ptr;
	got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, eb);
	gem_close(gpu->fd, handle);
	return got;
}

static int stores(const struct gpu *gpu, const struct engine *engine, __u32 context,
		  const struct stores *list)
{
	int got = who_stores(gpu, &engine, context, list->handle);
	const struct store_command *command = store_for(gpu, engine, 4);
	struct batch b;
	unsigned int i;

	if (got)
		return got;
	batch_init(&b);
	for (i = 0; i < list->n; i++)
		batch_store(&b, command, list->handle, list->offset + i * list->step,
			    list->value + i);
	batch_end(&b, gpu->backend);
	return batch_run(gpu->fd, &b, engine->ring, context);
}

static int endless(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 extra,
		   int *fence, bool preemptible, struct spin *spin)
{
	/* Words before the jump: time for others while it runs. The first one becomes the end. */
	enum { JUMP = 254 };
	struct drm_i915_gem_relocation_entry reloc = {
		.offset = (JUMP + 1) * 4,
		.presumed_offset = ~0ull,
		.read_domains = I915_GEM_DOMAIN_COMMAND,
	};
	struct drm_i915_gem_exec_object2 objects[2] = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects),
					       .flags = engine->ring,
					       .rsvd1 = context };
	__u32 words[JUMP + 2] = {};
	unsigned int n = 0;
	int got;

	memset(spin, 0, sizeof(*spin));
	spin->fd = gpu->fd;
	spin->end = gpu->backend->batch_end;
	spin->handle = gem_create(gpu->fd, PAGE);
	if (!spin->handle)
		return -ENOMEM;
	words[JUMP] = batch_start_of(gpu, engine);
	got = gem_write(gpu->fd, spin->handle, 0, words, sizeof(words));
	if (got)
		return got;
	spin->map = gem_map(gpu->fd, spin->handle, PAGE, I915_MMAP_OFFSET_WC);
	if (!spin->map)
		return -ENOMEM;
	if (extra) {
		objects[n].handle = extra;
		objects[n++].flags = EXEC_OBJECT_WRITE;
	}
	reloc.target_handle = spin->handle;
	objects[n].handle = spin->handle;
	objects[n].relocs_ptr = U64(&reloc);
	objects[n++].relocation_count = 1;
	eb.buffer_count = n;
	if (fence)
		eb.flags |= I915_EXEC_FENCE_OUT;
	got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	if (!got && fence)
		*fence = eb.rsvd2 >> 32;
	return got;
}

const struct interface i915 = {
	.name = "i915",
	.identify = identify,
	.create = i915_create,
	.map = i915_map,
	.write = write_bytes,
	.read = read_bytes,
	.wait = i915_wait,
	.busy = i915_busy,
	.context = i915_context,
	.context_end = i915_context_end,
	.stores = stores,
	.endless = endless,
};

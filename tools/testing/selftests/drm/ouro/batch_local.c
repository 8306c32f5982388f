// SPDX-License-Identifier: GPL-2.0
/*
 * The i915 interface of cards with memory of their own: no relocations, no
 * call that copies, one way to map (i915_drm.h). See gpu.h.
 *
 * Objects have addresses that follow from their handles, so that no test has to
 * look for one. Batches do not: their handles are given out again while they
 * run. Commands of Gen12.5: MI_STORE_DATA_IMM,
 * MI_BATCH_BUFFER_START in the batch's own space, MI_ARB_CHECK, at which the
 * engine may be taken away.
 */
#include "batch_i915.h"
#include "batch_local.h"

/* Chips, for drivers that do not name their backend: PCI device ids. */
static const __u16 chips[] = {
	0x5690, 0x5691, 0x5692, 0x5693, 0x5694, 0x5695, 0x5696, 0x5697, 0x56a0, 0x56a1,
	0x56a2, 0x56a3, 0x56a4, 0x56a5, 0x56a6, 0x56b0, 0x56b1, 0x56b2, 0x56b3, 0x56ba,
	0x56bb, 0x56bc, 0x56bd, 0x56be, 0x56bf, 0x56c0, 0x56c1, 0x56c2,
};

enum { ALL = RCS | BCS | VCS | VECS };

/* Digest §2.1, rows 22 and 27, and §2.2, rows 1 and 2. */
static const struct store_command stores_of_all[] = {
	{ "MI_STORE_DATA_IMM", ALL, 4, { MI_STORE_DATA_IMM }, 1, 0, 3, 4, 0 },
	{ "MI_STORE_DATA_IMM qword", ALL, 5, { 0x10200003 }, 1, 0, 3, 8, 0 },
	{ "PIPE_CONTROL", RCS, 6, { 0x7a000004, 1 << 20 | 1 << 14 }, 2, 0, 4, 8, 0 },
	{ "MI_FLUSH_DW", BCS | VCS | VECS, 4, { 0x13004002 }, 1, 0, 3, 4, 0 },
	{ "MI_FLUSH_DW qword", BCS | VCS | VECS, 5, { 0x13004003 }, 1, 0, 3, 8, 0 },
	/* one pixel of 32 bits by a fill, in the system's memory */
	{ "XY_FAST_COLOR_BLT", BCS, 16, { 0x5110000e, 3, 0, 0x10001, 0, 0, 1u << 31 }, 4, 0, 7, 4,
	  0 },
};

static const struct backend backend = {
	.name = "gen12",
	.noop = MI_NOOP,
	.batch_end = MI_BATCH_BUFFER_END,
	.batch_start = MI_BATCH_BUFFER_START,
	.stores = stores_of_all,
	.n_stores = ARRAY_LEN(stores_of_all),
	/* MI, opcode 3fh */
	.unknown = 0x1f800000,
	/* general registers: their offsets are the engine's own */
	.load_register = MI_LOAD_REGISTER_IMM,
	.store_register = MI_STORE_REGISTER_MEM,
	.context_registers = { 0x600, 0x604, 0x608, 0x640, 0x678 },
	/* XY_FAST_COPY_BLT: 32 bits, linear, one row of 1024 */
	.copy_dwords = 10,
	.copy_page = { 0x50800008, 0x03001000, 0, 0x00010400, 0, 0, 0, 0x1000, 0, 0 },
	.copy_to = 4,
	.copy_from = 8,
	.has_local = true,
	.has_shader_query = true,
	.has_read_only_pages = true,
	.has_later_exec_flags = true,
	.has_own_spaces = true,
};

static const struct engine all_engines[] = {
	{ "rcs0", RCS, I915_EXEC_RENDER, 1 },
	{ "bcs0", BCS, I915_EXEC_BLT, 2 },
	{ "vcs0", VCS, I915_EXEC_BSD, 7 },
	{ "vecs0", VECS, I915_EXEC_VEBOX, 9 },
};

bool is_local(int fd)
{
	int chip = getparam(fd, I915_PARAM_CHIPSET_ID);
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(chips); i++)
		if (chips[i] == chip)
			return true;
	return false;
}

static int identify(struct gpu *gpu)
{
	unsigned int i;

	gpu->chip = getparam(gpu->fd, I915_PARAM_CHIPSET_ID);
	gpu->backend = &backend;
	gpu->own_spaces = true;
	for (i = 0; i < ARRAY_LEN(all_engines); i++)
		if (i915_has_ring(gpu->fd, all_engines[i].ring))
			gpu->engines[gpu->n_engines++] = all_engines[i];
	return gpu->n_engines ? 0 : -ENXIO;
}

static void *map(int fd, __u32 handle, __u64 size, __u64 how)
{
	return i915_map(fd, handle, size, I915_MMAP_OFFSET_FIXED);
}

__u64 address_of(__u32 handle)
{
	return (__u64)handle << 30;
}

__u64 address_of_none(void)
{
	/* behind those of 32768 handles, 64 KB each, for as many processes as there are */
	static __u32 last;
	const __u32 n = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);

	return 1ull << 46 | (__u64)(getpid() % (1 << 15)) << 31 | (n % (1 << 15)) << 16;
}

__u32 context_on(int fd, struct i915_engine_class_instance engine)
{
	return context_on_in(fd, engine, 0);
}

__u32 context_on_in(int fd, struct i915_engine_class_instance engine, __u32 vm)
{
	I915_DEFINE_CONTEXT_PARAM_ENGINES(engines, 1) = { .engines = { engine } };
	struct drm_i915_gem_context_create_ext_setparam in = {
		.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM,
		.param = { .param = I915_CONTEXT_PARAM_VM, .value = vm },
	};
	struct drm_i915_gem_context_create_ext_setparam set = {
		.base = { .name = I915_CONTEXT_CREATE_EXT_SETPARAM,
			  .next_extension = vm ? U64(&in) : 0 },
		.param = { .param = I915_CONTEXT_PARAM_ENGINES,
			   .size = sizeof(engines),
			   .value = U64(&engines) },
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
		.extensions = U64(&set),
	};

	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create) ? 0 : create.ctx_id;
}

int context_priority(int fd, __u32 context, int priority)
{
	return i915_context_set(fd, context, I915_CONTEXT_PARAM_PRIORITY, (__u64)(__s64)priority);
}

void words_store(struct words *w, __u64 address, __u32 value)
{
	w->words[w->n++] = MI_STORE_DATA_IMM;
	w->words[w->n++] = (__u32)address;
	w->words[w->n++] = address >> 32;
	w->words[w->n++] = value;
}

void words_end(struct words *w)
{
	w->words[w->n++] = MI_BATCH_BUFFER_END;
	if (w->n & 1)
		w->words[w->n++] = MI_NOOP;
}

void words_object(struct words *w, __u32 handle, __u64 flags)
{
	w->objects[w->n_objects++] = (struct drm_i915_gem_exec_object2){
		.handle = handle,
		.offset = address_of(handle),
		.flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS | flags,
	};
}

static int submit(int fd, struct words *w, __u64 flags, __u32 context, int *fence)
{
	struct drm_i915_gem_execbuffer2 eb = { .flags = flags, .rsvd1 = context };
	int got;

	eb.buffers_ptr = U64(w->objects);
	eb.buffer_count = w->n_objects;
	if (fence)
		eb.flags |= I915_EXEC_FENCE_OUT;
	got = call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	if (!got && fence)
		*fence = eb.rsvd2 >> 32;
	return got;
}

int words_submit(int fd, struct words *w, __u32 batch, __u64 at, __u64 flags, __u32 context,
		 int *fence)
{
	words_object(w, batch, 0);
	w->objects[w->n_objects - 1].offset = at;
	return submit(fd, w, flags, context, fence);
}

int words_run(int fd, struct words *w, __u64 flags, __u32 context)
{
	__u32 batch = gem_create(fd, sizeof(w->words));
	int got;

	if (!batch)
		return -ENOMEM;
	got = gem_write(fd, batch, 0, w->words, w->n * 4);
	if (!got)
		got = words_submit(fd, w, batch, address_of_none(), flags, context, NULL);
	gem_close(fd, batch);
	return got;
}

int words_store_one(int fd, __u32 context, __u32 handle, __u32 offset, __u32 value)
{
	struct words w = {};

	words_store(&w, address_of(handle) + offset, value);
	words_end(&w);
	words_object(&w, handle, EXEC_OBJECT_WRITE);
	return words_run(fd, &w, 0, context);
}

static int stores(const struct gpu *gpu, const struct engine *engine, __u32 context,
		  const struct stores *list)
{
	struct words w = {};
	unsigned int i;

	/* a store has four words, the end two */
	if (list->n > (ARRAY_LEN(w.words) - 2) / 4)
		return -E2BIG;
	for (i = 0; i < list->n; i++)
		words_store(&w, address_of(list->handle) + list->offset + i * list->step,
			    list->value + i);
	words_end(&w);
	words_object(&w, list->handle, EXEC_OBJECT_WRITE);
	return words_run(gpu->fd, &w, engine->ring, context);
}

static int endless(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 extra,
		   int *fence, bool preemptible, struct spin *spin)
{
	/*
	 * Words before the jump: time for others while it runs. The first one becomes the end. One
	 * that keeps its engine marks its page, so that a test can wait until it runs.
	 */
	enum { MARK = 4, JUMP = 254 };
	struct words w = {};
	__u64 at;
	int got;

	memset(spin, 0, sizeof(*spin));
	spin->fd = gpu->fd;
	spin->end = MI_BATCH_BUFFER_END;
	spin->handle = gem_create(gpu->fd, PAGE);
	if (!spin->handle)
		return -ENOMEM;
	at = address_of_none();
	if (preemptible) {
		w.words[1] = MI_ARB_CHECK;
	} else {
		w.n = MARK;
		words_store(&w, at + SPIN_BEGUN * 4, 1);
	}
	w.words[JUMP] = MI_BATCH_BUFFER_START;
	w.words[JUMP + 1] = (__u32)at;
	w.words[JUMP + 2] = at >> 32;
	got = gem_write(gpu->fd, spin->handle, 0, w.words, (JUMP + 3) * 4);
	if (got)
		return got;
	spin->map = gem_map(gpu->fd, spin->handle, PAGE, I915_MMAP_OFFSET_FIXED);
	if (!spin->map)
		return -ENOMEM;
	if (extra)
		words_object(&w, extra, EXEC_OBJECT_WRITE);
	return words_submit(gpu->fd, &w, spin->handle, at, engine->ring, context, fence);
}

const struct interface i915_local = {
	.name = "i915",
	.identify = identify,
	.create = i915_create,
	.map = map,
	.write = write_mapped,
	.read = read_mapped,
	.wait = i915_wait,
	.busy = i915_busy,
	.context = i915_context,
	.context_end = i915_context_end,
	.stores = stores,
	.endless = endless,
};

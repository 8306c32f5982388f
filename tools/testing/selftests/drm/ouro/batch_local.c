// SPDX-License-Identifier: GPL-2.0
/*
 * The i915 interface of cards with memory of their own: no relocations, no
 * call that copies, one way to map (i915_drm.h). See gpu.h.
 *
 * Objects have addresses that follow from their handles, so that nobody has to
 * look for one. Commands of Gen12.5: MI_STORE_DATA_IMM,
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

static const struct backend backend = {
	.name = "gen12",
	.noop = MI_NOOP,
	.batch_end = MI_BATCH_BUFFER_END,
};

static const struct engine all_engines[] = {
	{ "rcs0", RCS, I915_EXEC_RENDER },
	{ "bcs0", BCS, I915_EXEC_BLT },
	{ "vcs0", VCS, I915_EXEC_BSD },
	{ "vecs0", VECS, I915_EXEC_VEBOX },
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
	return (__u64)handle << 26;
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

int words_submit(int fd, struct words *w, __u32 batch, __u64 flags, __u32 context, int *fence)
{
	struct drm_i915_gem_execbuffer2 eb = { .flags = flags, .rsvd1 = context };
	int got;

	words_object(w, batch, 0);
	eb.buffers_ptr = U64(w->objects);
	eb.buffer_count = w->n_objects;
	if (fence)
		eb.flags |= I915_EXEC_FENCE_OUT;
	got = call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	if (!got && fence)
		*fence = eb.rsvd2 >> 32;
	return got;
}

int words_run(int fd, struct words *w, __u64 flags, __u32 context)
{
	__u32 batch = gem_create(fd, sizeof(w->words));
	int got;

	if (!batch)
		return -ENOMEM;
	got = gem_write(fd, batch, 0, w->words, w->n * 4);
	if (!got)
		got = words_submit(fd, w, batch, flags, context, NULL);
	gem_close(fd, batch);
	return got;
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
		   int *fence, struct spin *spin)
{
	/* Words before the jump: time for others while it runs. The first one becomes the end. */
	enum { JUMP = 254 };
	struct words w = {};
	__u64 at;
	int got;

	memset(spin, 0, sizeof(*spin));
	spin->fd = gpu->fd;
	spin->end = MI_BATCH_BUFFER_END;
	spin->handle = gem_create(gpu->fd, PAGE);
	if (!spin->handle)
		return -ENOMEM;
	at = address_of(spin->handle);
	w.words[1] = MI_ARB_CHECK;
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
	return words_submit(gpu->fd, &w, spin->handle, engine->ring, context, fence);
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

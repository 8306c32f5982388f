// SPDX-License-Identifier: GPL-2.0
/*
 * Cards with memory of their own, whose engines take lists of contexts: all
 * engines store to both kinds of memory, the blitter copies between them,
 * registers belong to a context, more urgent work overtakes, equal work takes
 * turns, and an engine that stops takes no other context's work with it.
 *
 * Commands of Gen12.5: see batch_local.h; those of the blitter stand here.
 */
#define TOPIC discrete
#define ONLY_CARDS
#include "test.h"
#include "batch_i915.h"
#include "batch_local.h"

/* General register 0 of an engine, from its own registers on: it is in each context's image. */
enum { GPR0 = 0x600 };

/* No command: MI, opcode 3fh. */
enum { UNKNOWN = 0x1f800000 };

static const struct drm_i915_gem_memory_class_instance SYSTEM = { I915_MEMORY_CLASS_SYSTEM, 0 };
static const struct drm_i915_gem_memory_class_instance LOCAL = { I915_MEMORY_CLASS_DEVICE, 0 };

static __u32 create_in(int fd, __u64 size, struct drm_i915_gem_memory_class_instance place)
{
	struct drm_i915_gem_create_ext_memory_regions regions = {
		.base.name = I915_GEM_CREATE_EXT_MEMORY_REGIONS,
		.num_regions = 1,
		.regions = U64(&place),
	};
	struct drm_i915_gem_create_ext create = { .size = size, .extensions = U64(&regions) };

	return call(fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create) ? 0 : create.handle;
}

static const struct i915_engine_class_instance copy_engine = { I915_ENGINE_CLASS_COPY, 0 };
static const struct i915_engine_class_instance render_engine = { I915_ENGINE_CLASS_RENDER, 0 };

/* The regions that QUERY names: the system's, and the card's own. */
TEST_F(discrete, memory_has_two_places)
{
	struct drm_i915_query_memory_regions *list;
	unsigned int i, system = 0, local = 0;
	__s32 length = 0;

	cover("DRM_IOCTL_I915_QUERY");
	list = query_answer(self->fd, DRM_I915_QUERY_MEMORY_REGIONS, &length);
	ASSERT_NE(NULL, list);
	EXPECT_EQ((__s32)(sizeof(*list) + list->num_regions * sizeof(list->regions[0])), length);
	for (i = 0; i < list->num_regions; i++) {
		const struct drm_i915_memory_region_info *r = &list->regions[i];

		EXPECT_LT(0, r->probed_size);
		system += r->region.memory_class == I915_MEMORY_CLASS_SYSTEM;
		local += r->region.memory_class == I915_MEMORY_CLASS_DEVICE;
	}
	EXPECT_EQ(1, system);
	EXPECT_EQ(1, local);
	free(list);
}

/* New memory is zero, and what is written is there, whatever its place. */
TEST_F(discrete, memory_of_its_own)
{
	const __u64 size = 256 << 10;
	__u32 handles[2];
	unsigned int i;

	cover("DRM_IOCTL_I915_GEM_CREATE_EXT");
	handles[0] = create_in(self->fd, size, SYSTEM);
	handles[1] = create_in(self->fd, size, LOCAL);
	for (i = 0; i < 2; i++) {
		__u32 *at = gem_map(self->fd, handles[i], size, I915_MMAP_OFFSET_FIXED);
		__u64 k;

		ASSERT_NE(0, handles[i]);
		ASSERT_NE(NULL, at);
		for (k = 0; k < size / 4; k += 512)
			EXPECT_EQ(0, peek(&at[k]));
		for (k = 0; k < size / 4; k += 512)
			poke(&at[k], 0x01000000 * (i + 1) + k);
		for (k = 0; k < size / 4; k += 512)
			EXPECT_EQ(0x01000000 * (i + 1) + k, peek(&at[k]));
		munmap(at, size);
		gem_close(self->fd, handles[i]);
	}
}

/* Each engine that QUERY names stores to both kinds of memory, and nowhere else. */
TEST_F(discrete, every_engine_stores)
{
	struct drm_i915_query_engine_info *list;
	__u32 handles[2];
	__s32 length = 0;
	unsigned int i, k, classes = 0;

	list = query_answer(self->fd, DRM_I915_QUERY_ENGINE_INFO, &length);
	ASSERT_NE(NULL, list);
	handles[0] = create_in(self->fd, PAGE, SYSTEM);
	handles[1] = create_in(self->fd, PAGE, LOCAL);
	for (i = 0; i < list->num_engines; i++) {
		const struct i915_engine_class_instance engine = list->engines[i].engine;
		__u32 context = context_on(self->fd, engine);
		struct words w = {};

		ASSERT_NE(0, context);
		classes |= 1 << engine.engine_class;
		for (k = 0; k < 2; k++) {
			words_store(&w, address_of(handles[k]) + 16 * i, 0xd0 + 16 * k + i);
			words_object(&w, handles[k], EXEC_OBJECT_WRITE);
		}
		words_end(&w);
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, words_run(self->fd, &w, 0, context));
		ASSERT_EQ(0, gem_wait(self->fd, handles[0], -1));
		for (k = 0; k < 2; k++) {
			EXPECT_EQ(0xd0 + 16 * k + i, gem_read32(self->fd, handles[k], 16 * i))
			{
				TH_LOG("class %u instance %u, %s memory", engine.engine_class,
				       engine.engine_instance, k ? "local" : "system");
			}
			EXPECT_EQ(0, gem_read32(self->fd, handles[k], 16 * i + 4));
			EXPECT_EQ(0, gem_read32(self->fd, handles[k], 16 * i + 16));
		}
		context_destroy(self->fd, context);
	}
	/* render, copy and compute are on every card of the family; video can be fused off */
	EXPECT_EQ(1u << I915_ENGINE_CLASS_RENDER | 1u << I915_ENGINE_CLASS_COPY |
			  1u << I915_ENGINE_CLASS_COMPUTE,
		  classes & ~(1u << I915_ENGINE_CLASS_VIDEO |
			      1u << I915_ENGINE_CLASS_VIDEO_ENHANCE));
	free(list);
}

/* All engines write one word, and the last one that was asked wins: writers of an object wait. */
TEST_F(discrete, engines_wait_for_each_other)
{
	struct drm_i915_query_engine_info *list;
	__u32 contexts[16], target;
	unsigned int i, round;
	__s32 length = 0;

	list = query_answer(self->fd, DRM_I915_QUERY_ENGINE_INFO, &length);
	ASSERT_NE(NULL, list);
	ASSERT_GE(ARRAY_LEN(contexts), list->num_engines);
	target = create_in(self->fd, PAGE, LOCAL);
	for (i = 0; i < list->num_engines; i++)
		contexts[i] = context_on(self->fd, list->engines[i].engine);
	for (round = 1; round <= 8; round++) {
		for (i = 0; i < list->num_engines; i++)
			ASSERT_EQ(0, words_store_one(self->fd, contexts[i], target, 0,
						     round << 8 | i));
		EXPECT_EQ(round << 8 | (list->num_engines - 1),
			  gem_read32(self->fd, target, 0));
	}
	free(list);
}

/* XY_FAST_COPY_BLT: 32 bits, linear, rows of 256 bytes, 64 rows of 64 pixels. */
static void words_copy(struct words *w, __u64 to, __u64 from)
{
	const __u32 copy[] = { 0x50800008, 3 << 24 | 256, 0,	       64 << 16 | 64, (__u32)to,
			       to >> 32,   0,		 256, (__u32)from,   from >> 32 };

	memcpy(&w->words[w->n], copy, sizeof(copy));
	w->n += ARRAY_LEN(copy);
}

/* From the system's memory to the card's, within it, and back. */
TEST_F(discrete, the_blitter_copies_between_places)
{
	const __u32 size = 16 << 10;
	__u32 context, handles[4], *words;
	unsigned int i;

	context = context_on(self->fd, copy_engine);
	for (i = 0; i < 4; i++)
		handles[i] = create_in(self->fd, size, i == 0 || i == 3 ? SYSTEM : LOCAL);
	words = malloc(size);
	for (i = 0; i < size / 4; i++)
		words[i] = 0x9e3779b9u * (i + 1);
	ASSERT_EQ(0, gem_write(self->fd, handles[0], 0, words, size));
	for (i = 0; i < 3; i++) {
		struct words w = {};

		words_copy(&w, address_of(handles[i + 1]), address_of(handles[i]));
		words_end(&w);
		words_object(&w, handles[i], 0);
		words_object(&w, handles[i + 1], EXEC_OBJECT_WRITE);
		ASSERT_EQ(0, words_run(self->fd, &w, 0, context));
	}
	for (i = 1; i < 4; i++) {
		__u32 *got = malloc(size);

		ASSERT_EQ(0, gem_read(self->fd, handles[i], 0, got, size));
		EXPECT_EQ(0, memcmp(words, got, size))
		{
			TH_LOG("copy %u", i);
		}
		free(got);
	}
	free(words);
}

static int read_register(int fd, __u32 context, __u32 handle)
{
	struct words w = {};
	const __u64 to = address_of(handle);

	w.words[w.n++] = MI_STORE_REGISTER_MEM;
	w.words[w.n++] = GPR0;
	w.words[w.n++] = (__u32)to;
	w.words[w.n++] = to >> 32;
	words_end(&w);
	words_object(&w, handle, EXEC_OBJECT_WRITE);
	return words_run(fd, &w, 0, context);
}

/*
 * A register of a context has its value when the context runs again; other contexts do not see it.
 */
TEST_F(discrete, registers_belong_to_a_context)
{
	const struct i915_engine_class_instance engines[] = { render_engine, copy_engine };
	unsigned int i, k;

	for (i = 0; i < ARRAY_LEN(engines); i++) {
		__u32 target = create_in(self->fd, PAGE, SYSTEM), contexts[3];

		for (k = 0; k < 3; k++)
			contexts[k] = context_on(self->fd, engines[i]);
		for (k = 0; k < 2; k++) {
			struct words w = {};

			w.words[w.n++] = MI_LOAD_REGISTER_IMM;
			w.words[w.n++] = GPR0;
			w.words[w.n++] = 0x5eed0000 + k;
			words_end(&w);
			ASSERT_EQ(0, words_run(self->fd, &w, 0, contexts[k]));
		}
		for (k = 0; k < 3; k++) {
			ASSERT_EQ(0, read_register(self->fd, contexts[k], target));
			EXPECT_EQ(k < 2 ? 0x5eed0000 + k : 0, gem_read32(self->fd, target, 0));
		}
	}
}

/* More urgent work overtakes a batch without end, and that goes on afterwards. */
TEST_F(discrete, more_urgent_work_overtakes)
{
	const struct i915_engine_class_instance engines[] = { render_engine, copy_engine };
	const struct engine at_0 = { .name = "0" };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(engines); i++) {
		__u32 low = context_on(self->fd, engines[i]);
		__u32 high = context_on(self->fd, engines[i]);
		__u32 target = create_in(self->fd, PAGE, LOCAL);
		struct spin spin;

		ASSERT_EQ(0, context_priority(self->fd, low, -512));
		ASSERT_EQ(0, context_priority(self->fd, high, 512));
		ASSERT_EQ(0, spin_start(&self->gpu, &at_0, low, 0, NULL, &spin));
		ASSERT_EQ(0, words_store_one(self->fd, high, target, 0, 0x600d));
		EXPECT_EQ(0, gem_wait(self->fd, target, -1));
		EXPECT_EQ(0x600d, gem_read32(self->fd, target, 0));
		EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
		spin_stop(&spin);
		EXPECT_EQ(0, gem_wait(self->fd, spin.handle, -1));
		spin_free(&spin);
	}
}

/* Two batches without end share an engine: what comes behind both is done all the same. */
TEST_F(discrete, equal_work_takes_turns)
{
	const struct engine at_0 = { .name = "0" };
	__u32 contexts[3], target;
	struct spin spins[2];
	unsigned int i;

	target = create_in(self->fd, PAGE, LOCAL);
	for (i = 0; i < 3; i++)
		contexts[i] = context_on(self->fd, copy_engine);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, spin_start(&self->gpu, &at_0, contexts[i], 0, NULL, &spins[i]));
	ASSERT_EQ(0, words_store_one(self->fd, contexts[2], target, 0, 0x7777));
	EXPECT_EQ(0, gem_wait(self->fd, target, -1));
	EXPECT_EQ(0x7777, gem_read32(self->fd, target, 0));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(1, gem_busy(self->fd, spins[i].handle));
		spin_free(&spins[i]);
	}
}

/*
 * Without time slices a batch does not yield to one of its own priority, until slices are on again.
 */
TEST_F(discrete, who_is_first_goes_on_without_slices)
{
	const struct engine at_0 = { .name = "0" };
	__u32 contexts[3], target = create_in(self->fd, PAGE, SYSTEM);
	__u32 urgent = create_in(self->fd, PAGE, SYSTEM);
	struct spin spin;
	unsigned int i;

	ASSERT_EQ(0, device_slice_ms(&self->gpu, "bcs0", 0));
	for (i = 0; i < 3; i++)
		contexts[i] = context_on(self->fd, copy_engine);
	ASSERT_EQ(0, context_priority(self->fd, contexts[2], 1));
	ASSERT_EQ(0, spin_start(&self->gpu, &at_0, contexts[0], 0, NULL, &spin));
	ASSERT_EQ(0, words_store_one(self->fd, contexts[1], target, 0, 0x51ce));
	EXPECT_EQ(-ETIME, gem_wait(self->fd, target, 700000000));
	/* what is more urgent does not wait for that */
	ASSERT_EQ(0, words_store_one(self->fd, contexts[2], urgent, 0, 0x51cf));
	EXPECT_EQ(0, gem_wait(self->fd, urgent, -1));
	EXPECT_EQ(0, device_slice_ms(&self->gpu, "bcs0", SLICE_MS_DEFAULT));
	EXPECT_EQ(0, gem_wait(self->fd, target, -1));
	EXPECT_EQ(0x51ce, gem_read32(self->fd, target, 0));
	EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
	spin_stop(&spin);
	EXPECT_EQ(0, gem_wait(self->fd, spin.handle, -1));
	spin_free(&spin);
}

static struct drm_i915_reset_stats reset_stats(int fd, __u32 context)
{
	struct drm_i915_reset_stats stats = { .ctx_id = context };

	call(fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats);
	return stats;
}

/* gen12.rst, "Preemption probe": a batch that yields when preempted may run without limit. */
TEST_F(discrete, endless_work_that_is_preemptible_goes_on)
{
	/*
	 * The time-out of a preemption is longer than machines stand still. If it cannot be set,
	 * such a machine is taken for an engine that hangs: so the test is shorter there.
	 */
	const unsigned int limit = self->gpu.ouro ? 6000 : 1500;
	const struct engine at_0 = { .name = "0" };
	__u32 contexts[2];
	struct spin spins[2];
	unsigned int i;

	if (self->gpu.ouro)
		ASSERT_EQ(0, device_hang_ms(&self->gpu, limit));
	/* one alone, then two by turns */
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < 2; i++) {
		contexts[i] = context_on(self->fd, copy_engine);
		ASSERT_EQ(0, spin_start(&self->gpu, &at_0, contexts[i], 0, NULL, &spins[i]));
		usleep(limit * 2 * 1000);
	}
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(1, gem_busy(self->fd, spins[i].handle));
		spin_stop(&spins[i]);
		EXPECT_EQ(0, gem_wait(self->fd, spins[i].handle, -1));
		EXPECT_EQ(0, reset_stats(self->fd, contexts[i]).batch_active);
		spin_free(&spins[i]);
	}
}

/* Waits until a batch runs: before that its context may be preempted. Returns whether it does. */
static bool begins(const struct spin *spin)
{
	return becomes(spin->map + SPIN_BEGUN, 1, 10000);
}

/* And a batch that does not yield delays others by no more than the time-out. */
TEST_F(discrete, work_that_is_not_preemptible_is_found)
{
	static const struct {
		unsigned int hang_ms, preempt_ms;
	} limits[] = {
		{ HANG_MS_DEFAULT, PREEMPT_MS_DEFAULT },
		{ 0, 300 },
		/* the preemption probe is off */
		{ 1000, 0 },
	};
	const struct engine at_0 = { .name = "0" };
	__u32 target = create_in(self->fd, PAGE, SYSTEM), contexts[2];
	struct spin spin;
	unsigned int i, k;

	for (k = 0; k < (self->gpu.ouro ? ARRAY_LEN(limits) : 1); k++) {
		if (self->gpu.ouro) {
			ASSERT_EQ(0, device_hang_ms(&self->gpu, limits[k].hang_ms));
			ASSERT_EQ(0, device_preempt_ms(&self->gpu, limits[k].preempt_ms));
		}
		for (i = 0; i < 2; i++)
			contexts[i] = context_on(self->fd, copy_engine);
		ASSERT_EQ(0, context_priority(self->fd, contexts[0], -512));
		ASSERT_EQ(0, hang_start(&self->gpu, &at_0, contexts[0], 0, NULL, &spin));
		ASSERT_TRUE(begins(&spin));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, words_store_one(self->fd, contexts[1], target, 0, 0xde4f + k));
		EXPECT_EQ(0, gem_wait(self->fd, target, -1));
		EXPECT_EQ(0xde4f + k, gem_read32(self->fd, target, 0));
		EXPECT_EQ(1, reset_stats(self->fd, contexts[0]).batch_active);
		EXPECT_EQ(0, reset_stats(self->fd, contexts[1]).batch_active);
		spin_free(&spin);
	}
	if (self->gpu.ouro) {
		EXPECT_EQ(0, device_hang_ms(&self->gpu, HANG_MS_DEFAULT));
		EXPECT_EQ(0, device_preempt_ms(&self->gpu, PREEMPT_MS_DEFAULT));
	}
}

/*
 * A batch of a closed context leaves the engine at its next preemption point: in its order and with
 * an error, without a reset; no batch behind it in its context runs. Other contexts go on.
 */
TEST_F(discrete, closed_work_that_is_preemptible_costs_no_reset)
{
	enum { CONTEXTS = 6, BEHIND = 3 };
	const struct engine at_0 = { .name = "0" };
	__u32 target = create_in(self->fd, PAGE, SYSTEM), contexts[CONTEXTS], other;
	struct drm_ouro_stats before = {}, after = {};
	int fences[CONTEXTS];
	struct spin spins[CONTEXTS], mine;
	unsigned int i, k;

	if (self->gpu.ouro)
		ASSERT_EQ(0, stats_settled(self->fd, &before));
	other = context_on(self->fd, copy_engine);
	ASSERT_EQ(0, spin_start(&self->gpu, &at_0, other, 0, NULL, &mine));
	for (i = 0; i < CONTEXTS; i++) {
		contexts[i] = context_on(self->fd, copy_engine);
		ASSERT_EQ(0, i915_context_set(self->fd, contexts[i],
					      I915_CONTEXT_PARAM_PERSISTENCE, 0));
		ASSERT_EQ(0, spin_start(&self->gpu, &at_0, contexts[i], 0, &fences[i], &spins[i]));
		for (k = 0; k < BEHIND; k++)
			ASSERT_EQ(0, words_store_one(self->fd, contexts[i], target,
						     4 * (i * BEHIND + k), 1));
	}
	cover("DRM_IOCTL_I915_GEM_CONTEXT_DESTROY");
	for (i = 0; i < CONTEXTS; i++)
		EXPECT_EQ(0, context_destroy(self->fd, contexts[i]));
	for (i = 0; i < CONTEXTS; i++) {
		EXPECT_EQ(-EIO, fence_status(fences[i]));
		close(fences[i]);
	}
	EXPECT_EQ(0, gem_wait(self->fd, target, -1));
	for (i = 0; i < CONTEXTS * BEHIND; i++)
		EXPECT_EQ(0, gem_read32(self->fd, target, 4 * i));
	EXPECT_EQ(1, gem_busy(self->fd, mine.handle));
	EXPECT_EQ(0, reset_stats(self->fd, other).batch_active);
	EXPECT_EQ(0, reset_stats(self->fd, other).batch_pending);
	spin_stop(&mine);
	EXPECT_EQ(0, gem_wait(self->fd, mine.handle, -1));
	for (i = 0; i < CONTEXTS; i++)
		spin_free(&spins[i]);
	spin_free(&mine);
	if (self->gpu.ouro) {
		ASSERT_EQ(0, stats_settled(self->fd, &after));
		EXPECT_EQ(before.resets, after.resets);
	}
}

/* An engine stops at what is no command: its context is guilty, others' work is done. */
TEST_F(discrete, a_bad_batch_is_its_own_contexts)
{
	__u32 bad, good, target;
	struct words w = {};

	bad = context_on(self->fd, copy_engine);
	good = context_on(self->fd, copy_engine);
	target = create_in(self->fd, PAGE, SYSTEM);
	ASSERT_EQ(0, words_store_one(self->fd, good, target, 0, 1));
	w.words[w.n++] = UNKNOWN;
	words_end(&w);
	words_object(&w, target, EXEC_OBJECT_WRITE);
	ASSERT_EQ(0, words_run(self->fd, &w, 0, bad));
	/* waits for the bad one, which writes the same object as far as the kernel knows */
	ASSERT_EQ(0, words_store_one(self->fd, good, target, 4, 2));
	ASSERT_EQ(0, gem_wait(self->fd, target, -1));
	EXPECT_EQ(1, gem_read32(self->fd, target, 0));
	EXPECT_EQ(2, gem_read32(self->fd, target, 4));
	cover("DRM_IOCTL_I915_GET_RESET_STATS");
	EXPECT_EQ(1, reset_stats(self->fd, bad).batch_active);
	EXPECT_EQ(0, reset_stats(self->fd, good).batch_active);
	ASSERT_EQ(0, words_store_one(self->fd, good, target, 8, 3));
	EXPECT_EQ(3, gem_read32(self->fd, target, 8));
}

/* What i915_drm.h says of such cards: one way to map, no caching to choose, no relocations. */
TEST_F(discrete, what_is_refused)
{
	__u32 target, batch;
	struct drm_i915_gem_mmap_offset map = { .flags = I915_MMAP_OFFSET_WC };
	struct drm_i915_gem_caching caching = { .caching = I915_CACHING_CACHED };
	struct drm_i915_gem_set_domain domain = { .read_domains = I915_GEM_DOMAIN_CPU };
	__u64 data = 0;
	struct drm_i915_gem_pread get = { .size = sizeof(data), .data_ptr = U64(&data) };
	struct drm_i915_gem_pwrite put = { .size = sizeof(data), .data_ptr = U64(&data) };
	struct drm_i915_gem_mmap old = { .size = PAGE };
	struct drm_i915_gem_relocation_entry reloc = {};
	struct drm_i915_gem_exec_object2 objects[2] = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects), .buffer_count = 2 };
	const __u32 end[2] = { MI_BATCH_BUFFER_END, MI_NOOP };

	target = gem_create(self->fd, PAGE);
	batch = gem_create(self->fd, PAGE);
	map.handle = target;
	caching.handle = target;
	domain.handle = target;
	get.handle = target;
	put.handle = target;
	old.handle = target;
	BAD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &get, EOPNOTSUPP);
	BAD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &put, EOPNOTSUPP);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &old, EOPNOTSUPP);
	BAD(self->fd, DRM_IOCTL_I915_GEM_GET_CACHING, &caching, ENODEV);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map, ENODEV);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching, ENODEV);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain, ENODEV);
	ASSERT_EQ(0, gem_write(self->fd, batch, 0, end, sizeof(end)));
	reloc.target_handle = target;
	objects[0].handle = target;
	objects[1].handle = batch;
	objects[1].relocs_ptr = U64(&reloc);
	objects[1].relocation_count = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	objects[1].relocation_count = 0;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

TEST_HARNESS_MAIN

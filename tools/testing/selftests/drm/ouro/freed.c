// SPDX-License-Identifier: GPL-2.0
/*
 * Freed memory while batches run that do not end: it is free soon, for all clients, and those
 * batches do not reach it any more.
 */
#define TOPIC freed
#define ONLY_CARDS
#include "test.h"
#include "batch_i915.h"
#include "batch_local.h"
#include "memory.h"
#include "places.h"

/* The last one has nothing else to do, neither for tests nor for the driver. */
static const struct i915_engine_class_instance engines[] = {
	{ I915_ENGINE_CLASS_RENDER, 0 },
	{ I915_ENGINE_CLASS_COPY, 0 },
	{ I915_ENGINE_CLASS_COMPUTE, 0 },
};

/* Frees half of the region, so many times. Returns how often it was free soon. */
static unsigned int turnover(struct gpu *gpu, __u64 base, unsigned int times)
{
	const __u64 size = part(local_region(gpu->fd).size, 2);
	unsigned int i;

	for (i = 0; i < times; i++) {
		int handle = create_local(gpu->fd, size);

		if (handle < 0 || begin(gpu, handle) || local_region(gpu->fd).used < base + size)
			break;
		gem_close(gpu->fd, handle);
		if (!wait_used(gpu->fd, base))
			break;
	}
	return i;
}

/* core.rst, "Quarantine": a batch that can be preempted is, and goes on. */
TEST_F(freed, memory_does_not_wait_for_a_batchs_end)
{
	const struct engine at_0 = { .name = "0" };
	struct spin spins[ARRAY_LEN(engines)];
	struct gpu other;
	unsigned int i;
	__u64 base;

	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours: it has no DRM_IOCTL_OURO_REGIONS");
	ASSERT_TRUE(wait_used(self->fd, 0));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < ARRAY_LEN(engines); i++)
		ASSERT_EQ(0, spin_start(&self->gpu, &at_0, context_on(self->fd, engines[i]), 0,
					NULL, &spins[i]));
	base = local_region(self->fd).used;
	ASSERT_EQ(0, gpu_open(&other));
	EXPECT_EQ(4, turnover(&other, base, 4));
	gpu_close(&other);
	for (i = 0; i < ARRAY_LEN(engines); i++) {
		EXPECT_EQ(1, gem_busy(self->fd, spins[i].handle));
		spin_stop(&spins[i]);
		EXPECT_EQ(0, gem_wait(self->fd, spins[i].handle, -1));
		spin_free(&spins[i]);
	}
}

/* Waits until a batch that runs has stored a value. */
static bool stores(__u32 *word, __u32 value)
{
	poke(word, 0);
	return becomes(word, value, 20000);
}

/* Returns the number of pages of an object that do not begin with a zero. */
static unsigned int stained(int fd, int handle, __u64 size)
{
	__u32 *map = gem_map(fd, handle, size, I915_MMAP_OFFSET_FIXED);
	unsigned int count = 0;
	__u64 i;

	if (!map)
		return ~0u;
	for (i = 0; i < size / 4; i += PAGE / 4)
		count += peek(&map[i]) != 0;
	munmap(map, size);
	return count;
}

/*
 * A batch that stores to a closed object without an end, and does not name it: the memory's next
 * owner does not see that.
 */
TEST_F(freed, a_batch_that_runs_does_not_reach_it)
{
	enum { VALUE = 0x57a1e, STORE = 4, JUMP = 254 };
	const __u64 at = address_of_none();
	__u32 context, batch, *words, *map;
	struct words w = {};
	unsigned int i, k;
	int handle;

	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours: it has no DRM_IOCTL_OURO_REGIONS");
	for (k = 0; k < ARRAY_LEN(engines); k++) {
		const __u64 size = part(local_region(self->fd).size, 2);
		int handles[2];
		struct gpu other;

		ASSERT_TRUE(wait_used(self->fd, 0));
		context = context_on(self->fd, engines[k]);
		handle = create_visible(self->fd, 64 << 10);
		ASSERT_LT(0, handle);
		ASSERT_EQ(0, words_store_one(self->fd, context, handle, 0, 1));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		map = gem_map(self->fd, handle, PAGE, I915_MMAP_OFFSET_FIXED);
		ASSERT_NE(NULL, map);

		batch = gem_create(self->fd, PAGE);
		words = gem_map(self->fd, batch, PAGE, I915_MMAP_OFFSET_FIXED);
		ASSERT_NE(NULL, words);
		memset(&w, 0, sizeof(w));
		w.words[1] = MI_ARB_CHECK;
		w.n = STORE;
		words_store(&w, address_of(handle), VALUE);
		w.words[JUMP] = MI_BATCH_BUFFER_START;
		w.words[JUMP + 1] = (__u32)at;
		w.words[JUMP + 2] = at >> 32;
		memcpy(words, w.words, (JUMP + 3) * 4);
		ASSERT_EQ(0, words_submit(self->fd, &w, batch, at, 0, context, NULL));
		ASSERT_TRUE(stores(map, VALUE));

		munmap(map, PAGE);
		gem_close(self->fd, handle);
		ASSERT_TRUE(wait_used(self->fd, 0));
		ASSERT_EQ(0, gpu_open(&other));
		for (i = 0; i < 2; i++) {
			handles[i] = create_local(other.fd, size);
			ASSERT_LT(0, handles[i]);
			ASSERT_EQ(0, store_at(&other, handles[i], FAR_AWAY, 0, 0));
			ASSERT_EQ(0, gem_wait(other.fd, handles[i], -1));
		}
		usleep(100000);
		for (i = 0; i < 2; i++)
			EXPECT_EQ(0, stained(other.fd, handles[i], size));
		EXPECT_EQ(1, gem_busy(self->fd, batch));
		poke(&words[0], MI_BATCH_BUFFER_END);
		EXPECT_EQ(0, gem_wait(self->fd, batch, -1));
		munmap(words, PAGE);
		gem_close(self->fd, batch);
		gpu_close(&other);
		context_destroy(self->fd, context);
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Room in VRAM: new memory of an object is seen by no batch before it is filled, and a client that
 * needs room does not wait for endless batches of others.
 *
 * Commands of Gen12.5: see batch_local.h; some stand here.
 */
#define TOPIC eviction
#define ONLY_CARDS
#include <pthread.h>

#include "test.h"
#include "places.h"

/* General register 0 of an engine, from its own registers on. */
enum { GPR0 = 0x600 };

/* Commands that only these tests use. */
enum {
	/* polls until the dword in memory is this one */
	MI_SEMAPHORE_WAIT = 0x0e00c003,
	/* with an offset from the engine's own registers */
	MI_LOAD_REGISTER_MEM = 0x14880002,
};

/* Where the batch that looks is released, ends, and stores what it sees. */
enum { GO = 0, DONE = 4, SEEN = 64, SAMPLES = 64 };

static const struct i915_engine_class_instance copy_engine = { I915_ENGINE_CLASS_COPY, 0 };
static const struct i915_engine_class_instance render_engine = { I915_ENGINE_CLASS_RENDER, 0 };
static const struct engine at_0 = { .name = "0" };

/* A thread that stores to an object at an address. */
struct storer {
	int fd;
	__u32 context;
	__u32 handle;
	__u64 address;
	int got;
	__u32 done;
};

static void *store_there(void *arg)
{
	struct storer *s = arg;
	struct words w = {};

	words_store(&w, s->address, 0x51);
	words_end(&w);
	words_object(&w, s->handle, EXEC_OBJECT_WRITE);
	w.objects[0].offset = s->address;
	s->got = words_run(s->fd, &w, 0, s->context);
	poke(&s->done, 1);
	return NULL;
}

/* All of the region has data of a client, which is gone. */
static int leave_data(const struct gpu *gpu, __u64 region)
{
	const __u64 size = part(region, 4);
	unsigned int i;
	int got = 0;

	for (i = 0; i < 4 && !got; i++) {
		int handle = create_local(gpu->fd, size);
		__u32 *map = gem_map(gpu->fd, handle, size, I915_MMAP_OFFSET_FIXED);
		__u64 k;

		if (handle < 0 || !map)
			return -ENOMEM;
		for (k = 0; k < size / 4; k += 16)
			poke(&map[k], 0xbad00001);
		munmap(map, size);
		got = begin(gpu, handle);
		gem_close(gpu->fd, handle);
	}
	return got ? got : wait_used(gpu->fd, 0) ? 0 : -ETIME;
}

/*
 * A batch reads an address where nothing is yet. Meanwhile another one is given an object there,
 * which the busy blitter has not cleared: the first batch does not see what others left.
 */
TEST_F(eviction, new_memory_is_not_seen_before_it_is_filled)
{
	const __u64 region = local_region(self->fd).size, size = part(region, 2);
	const __u64 step = (size / SAMPLES) & ~63ull;
	__u32 looker = context_on(self->fd, render_engine), hog, result, *map, batch, i, wrong = 0;
	struct storer storer = { .fd = self->fd, .context = looker, .address = FAR_AWAY };
	struct words w = {};
	struct spin spin;
	pthread_t thread;
	__u64 to;

	ASSERT_TRUE(wait_used(self->fd, 0));
	ASSERT_EQ(0, leave_data(&self->gpu, region));
	result = gem_create(self->fd, PAGE);
	map = gem_map(self->fd, result, PAGE, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, map);
	to = address_of(result);
	w.words[w.n++] = MI_SEMAPHORE_WAIT;
	w.words[w.n++] = 1;
	w.words[w.n++] = (__u32)(to + GO);
	w.words[w.n++] = (to + GO) >> 32;
	w.words[w.n++] = 0;
	for (i = 0; i < SAMPLES; i++) {
		const __u64 from = FAR_AWAY + i * step, at = to + SEEN + 4 * i;
		const __u32 look[] = { MI_LOAD_REGISTER_MEM,  GPR0, (__u32)from, from >> 32,
				       MI_STORE_REGISTER_MEM, GPR0, (__u32)at,	 at >> 32 };

		memcpy(&w.words[w.n], look, sizeof(look));
		w.n += ARRAY_LEN(look);
	}
	words_store(&w, to + DONE, 1);
	words_end(&w);
	words_object(&w, result, EXEC_OBJECT_WRITE);
	batch = gem_create(self->fd, sizeof(w.words));
	ASSERT_EQ(0, gem_write(self->fd, batch, 0, w.words, w.n * 4));
	ASSERT_EQ(0, words_submit(self->fd, &w, batch, address_of_none(), 0, looker, NULL));
	hog = context_on(self->fd, copy_engine);
	ASSERT_EQ(0, hang_start(&self->gpu, &at_0, hog, 0, NULL, &spin));
	ASSERT_TRUE(becomes(spin.map + SPIN_BEGUN, 1, 10000));
	storer.handle = create_local(self->fd, size);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, pthread_create(&thread, NULL, store_there, &storer));
	/* it would be bound by then; now it waits for the blitter */
	becomes(&storer.done, 1, 2000);
	poke(&map[GO / 4], 1);
	EXPECT_TRUE(becomes(&map[DONE / 4], 1, 60000));
	for (i = 0; i < SAMPLES; i++)
		wrong += peek(&map[SEEN / 4 + i]) != 0;
	EXPECT_EQ(0, wrong)
	{
		TH_LOG("%u of %u words are of others: %#x", wrong, SAMPLES, peek(&map[SEEN / 4]));
	}
	spin_stop(&spin);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, storer.got);
	EXPECT_EQ(0x51, gem_read32(self->fd, storer.handle, 0));
	EXPECT_EQ(0, gem_read32(self->fd, storer.handle, step));
	EXPECT_EQ(0, gem_read32(self->fd, storer.handle, size - 64));
	spin_free(&spin);
	munmap(map, PAGE);
}

/*
 * An endless batch lists an object that has all VRAM. Others run from system memory, and do not
 * wait for it; they come to VRAM when it has ended.
 */
TEST_F(eviction, endless_batches_of_others_are_not_waited_for)
{
	const __u64 region = local_region(self->fd).size, size = part(region, 4);
	struct storer storer = {};
	struct spin spin;
	struct gpu other;
	unsigned int i;
	__u32 big;

	ASSERT_TRUE(wait_used(self->fd, 0));
	big = create_local(self->fd, region);
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, big, NULL, &spin));
	EXPECT_EQ(region, local_region(self->fd).used);
	ASSERT_EQ(0, gpu_open(&other));
	for (i = 0; i < 3; i++) {
		pthread_t thread;

		storer = (struct storer){
			.fd = other.fd,
			.context = context_on(other.fd, copy_engine),
			.handle = create_local(other.fd, size),
			.address = FAR_AWAY,
		};
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, pthread_create(&thread, NULL, store_there, &storer));
		EXPECT_TRUE(becomes(&storer.done, 1, 30000));
		if (!peek(&storer.done))
			spin_stop(&spin);
		pthread_join(thread, NULL);
		EXPECT_EQ(0, storer.got);
		EXPECT_EQ(0, gem_wait(other.fd, storer.handle, -1));
		EXPECT_EQ(0x51, gem_read32(other.fd, storer.handle, 0));
	}
	EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
	EXPECT_EQ(region, local_region(self->fd).used);
	spin_stop(&spin);
	EXPECT_EQ(0, gem_wait(self->fd, spin.handle, -1));
	spin_free(&spin);
	gem_close(self->fd, big);
	ASSERT_TRUE(wait_used(self->fd, 0));
	storer.done = 0;
	store_there(&storer);
	EXPECT_EQ(0, storer.got);
	EXPECT_EQ(size, local_region(self->fd).used);
	gpu_close(&other);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/* Objects in a card's memory: sizes, addresses, contents, and the region that QUERY reports. */
#include <fcntl.h>
#include <setjmp.h>
#include <sys/wait.h>

#define ANY_INTERFACE
#include "test.h"
#include "device.h"
#include "memory.h"
#include "places.h"

/* What a card has its memory in (i915_drm.h, drm_i915_gem_create_ext.size). */
#define PIECE (64ul << 10)

/* The blitter is the second engine of this family, for its model's faults. */
enum { FAULT_COPIES = 2 << 8 };

FIXTURE(local)
{
	struct gpu gpu;
	int fd;
	/* bytes for objects */
	__u64 size;
};

FIXTURE_SETUP(local)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!is_card(&self->gpu))
		SKIP(return, "no memory of its own here");
	self->size = local_region(self->fd).size;
	/* what others had there is on its way back */
	wait_used(self->fd, 0);
}

FIXTURE_TEARDOWN(local)
{
	gpu_close(&self->gpu);
}

/* Moves of objects from one region to another. */
static __u64 moves(int fd)
{
	struct drm_ouro_stats stats = {};

	return call(fd, DRM_IOCTL_OURO_STATS, &stats) ? 0 : stats.moves;
}

/* A whole object, one word for each 64 bytes. */
static void paint(__u32 *map, __u64 size, __u32 seed)
{
	__u64 i;

	for (i = 0; i < size / 4; i += 16)
		poke(&map[i], seed ^ (__u32)(i * 0x9e3779b1));
}

/* Words that are not as they were painted; word 0 is left out, which batches write. */
static __u64 spots(const __u32 *map, __u64 size, __u32 seed)
{
	__u64 i, wrong = 0;

	for (i = 16; i < size / 4; i += 16)
		wrong += peek(&map[i]) != (seed ^ (__u32)(i * 0x9e3779b1));
	return wrong;
}

/* Words that are not zero, of those that are painted. */
static __u64 dirt(const __u32 *map, __u64 size)
{
	__u64 i, wrong = 0;

	for (i = 0; i < size / 4; i += 16)
		wrong += peek(&map[i]) != 0;
	return wrong;
}

TEST_F(local, sizes_are_whole_pieces)
{
	static const __u64 asked[] = { 1, PAGE, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE - PAGE };
	static const __u64 want[] = { PIECE, PIECE, PIECE, PIECE, 2 * PIECE, 5 * PIECE };
	const struct drm_i915_gem_memory_class_instance both[] = { SYSTEM, LOCAL };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(asked); i++) {
		__u64 size = asked[i];

		ASSERT_LT(0, place_object(self->fd, &size, &LOCAL, 1, 0));
		EXPECT_EQ(want[i], size);
		size = asked[i];
		ASSERT_LT(0, place_object(self->fd, &size, both, 2, 0));
		EXPECT_EQ(want[i], size);
		/* memory of the system's has its own pages */
		size = asked[i];
		ASSERT_LT(0, place_object(self->fd, &size, &SYSTEM, 1, 0));
		EXPECT_EQ((asked[i] + PAGE - 1) & ~(PAGE - 1), size);
	}
}

TEST_F(local, addresses_are_of_whole_pieces)
{
	const __u64 base = 1ull << 40;
	int local, system;
	__u64 size = PAGE;

	local = create_local(self->fd, PAGE);
	system = place_object(self->fd, &size, &SYSTEM, 1, 0);
	ASSERT_LT(0, local);
	ASSERT_LT(0, system);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EINVAL, store_at(&self->gpu, local, base + PAGE, 0, 1));
	EXPECT_EQ(-EINVAL, store_at(&self->gpu, local, base + PIECE / 2, 0, 1));
	EXPECT_EQ(0, store_at(&self->gpu, system, base + PAGE, 0, 2));
	EXPECT_EQ(0, store_at(&self->gpu, local, base + PIECE, 0, 3));
	EXPECT_EQ(2, gem_read32(self->fd, system, 0));
	EXPECT_EQ(3, gem_read32(self->fd, local, 0));
	/* also where it lives in the system's memory by now */
	ASSERT_EQ(0, crowd(&self->gpu, self->size));
	EXPECT_EQ(-EINVAL, store_at(&self->gpu, local, base + PAGE, 0, 1));
	EXPECT_EQ(3, gem_read32(self->fd, local, 0));
}

/* i915_drm.h, I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS. */
TEST_F(local, who_needs_the_cpu_names_system_memory)
{
	const struct drm_i915_gem_memory_class_instance both[] = { LOCAL, SYSTEM };
	const __u32 flag = I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS;
	__u64 size = PIECE;

	cover("DRM_IOCTL_I915_GEM_CREATE_EXT");
	EXPECT_LT(0, place_object(self->fd, &size, both, 2, flag));
	EXPECT_EQ(-EINVAL, place_object(self->fd, &size, &LOCAL, 1, flag));
	EXPECT_EQ(-EINVAL, place_object(self->fd, &size, &SYSTEM, 1, flag));
	EXPECT_EQ(-EINVAL, place_object(self->fd, &size, both, 2, flag << 1));
}

/* Returns what QUERY says of a class of memory. */
static struct drm_i915_memory_region_info region_info(int fd, __u16 class)
{
	struct {
		struct drm_i915_query_memory_regions head;
		struct drm_i915_memory_region_info list[4];
	} answer = {};
	struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_MEMORY_REGIONS,
					    .length = sizeof(answer),
					    .data_ptr = U64(&answer) };
	struct drm_i915_query ask = { .num_items = 1, .items_ptr = U64(&item) };
	const struct drm_i915_memory_region_info none = {};
	unsigned int i;

	cover("DRM_IOCTL_I915_QUERY");
	if (call(fd, DRM_IOCTL_I915_QUERY, &ask) || item.length <= 0)
		return none;
	for (i = 0; i < answer.head.num_regions && i < ARRAY_LEN(answer.list); i++)
		if (answer.list[i].region.memory_class == class)
			return answer.list[i];
	return none;
}

/* i915_drm.h, drm_i915_memory_region_info. */
TEST_F(local, query_says_what_there_is)
{
	struct drm_i915_memory_region_info system, card;
	int handle;
	__u64 size;

	system = region_info(self->fd, I915_MEMORY_CLASS_SYSTEM);
	EXPECT_LT(0, system.probed_size);
	EXPECT_EQ(system.probed_size, system.unallocated_size);
	EXPECT_EQ(system.probed_size, system.probed_cpu_visible_size);
	EXPECT_EQ(system.probed_size, system.unallocated_cpu_visible_size);

	card = region_info(self->fd, I915_MEMORY_CLASS_DEVICE);
	EXPECT_EQ(self->size, card.probed_size);
	EXPECT_LT(0, card.probed_cpu_visible_size);
	EXPECT_GE(card.probed_size, card.probed_cpu_visible_size);
	/* root may know */
	EXPECT_EQ(card.probed_size, card.unallocated_size);
	EXPECT_EQ(card.probed_cpu_visible_size, card.unallocated_cpu_visible_size);
	size = part(self->size, 2);
	handle = create_local(self->fd, size);
	ASSERT_EQ(0, begin(&self->gpu, handle));
	card = region_info(self->fd, I915_MEMORY_CLASS_DEVICE);
	EXPECT_EQ(card.probed_size - size, card.unallocated_size);
	EXPECT_GE(card.unallocated_size, card.unallocated_cpu_visible_size);
	EXPECT_GE(card.probed_cpu_visible_size, card.unallocated_cpu_visible_size);
	/* without CAP_PERFMON the use by others is hidden */
	ASSERT_EQ(0, seteuid(65534));
	card = region_info(self->fd, I915_MEMORY_CLASS_DEVICE);
	EXPECT_EQ(0, seteuid(0));
	EXPECT_EQ(card.probed_size, card.unallocated_size);
	EXPECT_EQ(card.probed_cpu_visible_size, card.unallocated_cpu_visible_size);
}

/*
 * i915_gem_drop_caches waits until the memory of closed objects is free, while other processes work
 * and workers are late.
 */
TEST_F(local, what_is_dropped_is_free)
{
	enum { BUSY = 3, TRIES = 40, OBJECTS = 6 };
	const __u64 size = part(self->size, 16);
	pid_t busy[BUSY];
	int handles[OBJECTS], i, n, got = 0, late = 0;

	for (i = 0; i < BUSY; i++) {
		busy[i] = fork();
		if (!busy[i])
			for (;;)
				;
	}
	for (n = 0; n < TRIES && !got; n++) {
		struct drm_i915_memory_region_info card;

		for (i = 0; i < OBJECTS; i++) {
			const struct engine *engine = &self->gpu.engines[i % self->gpu.n_engines];

			handles[i] = create_local(self->fd, size);
			store(&self->gpu, engine, 0, handles[i], 0, n);
		}
		for (i = 0; i < OBJECTS; i++)
			gem_close(self->fd, handles[i]);
		got = drop_caches(self->fd, "0x3ff");
		card = region_info(self->fd, I915_MEMORY_CLASS_DEVICE);
		late += card.unallocated_size != card.probed_size;
	}
	for (i = 0; i < BUSY; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
	ASSERT_EQ(0, got);
	EXPECT_EQ(0, late)
	{
		TH_LOG("%d of %d times memory was not free yet", late, n);
	}
}

/*
 * A client never finds the data of another one: neither by a batch that reads first, nor by the
 * CPU.
 */
TEST_F(local, recycled_memory_is_zero)
{
	const __u64 size = part(self->size, 4);
	unsigned int round, i;

	for (round = 0; round < 2; round++) {
		int handles[4];
		struct gpu other;

		for (i = 0; i < 4; i++) {
			__u32 *map;

			handles[i] = create_local(self->fd, size);
			ASSERT_LT(0, handles[i]);
			map = gem_map(self->fd, handles[i], size, I915_MMAP_OFFSET_FIXED);
			ASSERT_NE(NULL, map);
			paint(map, size, 0xdead0000 + i);
			munmap(map, size);
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handles[i], 0, 1));
		}
		for (i = 0; i < 4; i++) {
			ASSERT_EQ(0, gem_wait(self->fd, handles[i], -1));
			gem_close(self->fd, handles[i]);
		}
		ASSERT_TRUE(wait_used(self->fd, 0));
		ASSERT_EQ(0, gpu_open(&other));
		for (i = 0; i < 4; i++) {
			/* XY_FAST_COPY_BLT: 32 bits, linear, rows of 4 KiB, as in discrete.c */
			__u64 from = FAR_AWAY, to = FAR_AWAY + (1ull << 32), got = size;
			int mine = create_local(other.fd, size);
			int seen = place_object(other.fd, &got, &SYSTEM, 1, 0);
			const __u32 rows = size / 4096;
			const __u32 copy[] = { 0x50800008, 3 << 24 | 4096, 0, rows << 16 | 1024,
					       (__u32)to, to >> 32, 0, 4096, (__u32)from,
					       from >> 32 };
			struct words w = {};
			__u32 *map;

			ASSERT_GE(0x7fff, rows);
			memcpy(w.words, copy, sizeof(copy));
			w.n = ARRAY_LEN(copy);
			words_end(&w);
			words_object(&w, mine, 0);
			words_object(&w, seen, EXEC_OBJECT_WRITE);
			w.objects[0].offset = from;
			w.objects[1].offset = to;
			ASSERT_EQ(0, words_run(other.fd, &w, I915_EXEC_BLT, 0));
			ASSERT_EQ(0, gem_wait(other.fd, seen, -1));
			map = gem_map(other.fd, seen, size, I915_MMAP_OFFSET_FIXED);
			ASSERT_NE(NULL, map);
			EXPECT_EQ(0, dirt(map, size));
			munmap(map, size);
			map = gem_map(other.fd, mine, size, I915_MMAP_OFFSET_FIXED);
			ASSERT_NE(NULL, map);
			EXPECT_EQ(0, dirt(map, size));
			munmap(map, size);
			gem_close(other.fd, seen);
		}
		gpu_close(&other);
		ASSERT_TRUE(wait_used(self->fd, 0));
	}
}

/* More than there is: objects come and go, and keep what is in them, at the addresses they have. */
TEST_F(local, more_than_there_is)
{
	enum { OBJECTS = 12, ROUNDS = 3 };
	const __u64 size = part(self->size, 8), before = moves(self->fd);
	int handles[OBJECTS];
	__u32 *maps[OBJECTS], round, i;

	for (i = 0; i < OBJECTS; i++) {
		handles[i] = create_local(self->fd, size);
		ASSERT_LT(0, handles[i]);
		maps[i] = gem_map(self->fd, handles[i], size, I915_MMAP_OFFSET_FIXED);
		ASSERT_NE(NULL, maps[i]);
		paint(maps[i], size, i << 24);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < OBJECTS; i++)
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines],
					   0, handles[i], 0, round << 8 | i));
		for (i = 0; i < OBJECTS; i++) {
			ASSERT_EQ(0, gem_wait(self->fd, handles[i], -1));
			EXPECT_EQ(round << 8 | i, peek(maps[i]));
			EXPECT_EQ(0, spots(maps[i], size, i << 24));
		}
	}
	/* those that did not fit have made others leave, each round */
	EXPECT_LT(before + ROUNDS * (OBJECTS - 8), moves(self->fd));
	for (i = 0; i < OBJECTS; i++)
		munmap(maps[i], size);
}

/* Blocks of 256 bytes of a state of compression, each of a piece of memory: to and from memory. */
static int copy_state(const struct gpu *gpu, __u32 surface, __u32 data, unsigned int blocks,
		      bool back)
{
	/* XY_CTRL_SURF_COPY_BLT: bit 20, the destination is data, bit 21, the source is */
	const __u32 head = 0x52000003 | (blocks - 1) << 8 | 1u << (back ? 20 : 21);
	const __u64 of[2] = { FAR_AWAY, FAR_AWAY + (1ull << 32) };
	const __u64 from = of[!back], to = of[back];
	const __u32 copy[] = { head, (__u32)from, from >> 32, (__u32)to, to >> 32 };
	struct words w = {};

	memcpy(w.words, copy, sizeof(copy));
	w.n = ARRAY_LEN(copy);
	words_end(&w);
	words_object(&w, surface, back ? 0 : EXEC_OBJECT_WRITE);
	words_object(&w, data, back ? EXEC_OBJECT_WRITE : 0);
	w.objects[0].offset = of[0];
	w.objects[1].offset = of[1];
	return words_run(gpu->fd, &w, I915_EXEC_BLT, 0);
}

/* What says how it is compressed leaves with an object, and comes back with it. */
TEST_F(local, what_is_compressed_stays_so)
{
	/* it is more than a page */
	enum { PIECES = 20, WORDS = PIECES * 64 };
	int surface = create_local(self->fd, PIECES * PIECE);
	__u32 given = gem_create(self->fd, 2 * PAGE), got = gem_create(self->fd, 2 * PAGE);
	__u32 *words, i, round, wrong = 0;
	__u64 before;

	if (!self->gpu.ouro)
		SKIP(return, "another driver may not let it leave");
	ASSERT_LT(0, surface);
	words = gem_map(self->fd, given, 2 * PAGE, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, words);
	for (i = 0; i < WORDS; i++)
		poke(&words[i], (i + 1) * 0x9e3779b1);
	ASSERT_EQ(0, store_at(&self->gpu, surface, FAR_AWAY, 0, 0xc0));
	ASSERT_EQ(0, copy_state(&self->gpu, surface, given, PIECES, false));
	ASSERT_EQ(0, gem_wait(self->fd, surface, -1));
	munmap(words, 2 * PAGE);
	words = gem_map(self->fd, got, 2 * PAGE, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, words);
	for (round = 0; round < 2; round++) {
		before = moves(self->fd);
		ASSERT_EQ(0, crowd(&self->gpu, self->size));
		ASSERT_TRUE(wait_used(self->fd, 0));
		EXPECT_LT(before, moves(self->fd));
		memset(words, 0, 2 * PAGE);
		ASSERT_EQ(0, copy_state(&self->gpu, surface, got, PIECES, true));
		ASSERT_EQ(0, gem_wait(self->fd, got, -1));
		EXPECT_EQ(PIECES * PIECE, local_region(self->fd).used);
		for (i = 0; i < WORDS; i++)
			wrong += peek(&words[i]) != (i + 1) * 0x9e3779b1;
		EXPECT_EQ(0, wrong);
	}
	EXPECT_EQ(0xc0, gem_read32(self->fd, surface, 0));
	munmap(words, 2 * PAGE);
}

/* A batch whose objects are more than there is runs: some of them are elsewhere. */
TEST_F(local, a_batch_of_more_than_there_is)
{
	const __u64 size = part(self->size, 4);
	int handles[6];
	__u32 round, i;

	for (i = 0; i < ARRAY_LEN(handles); i++)
		handles[i] = create_local(self->fd, size);
	for (round = 1; round < 4; round++) {
		struct words w = {};

		for (i = 0; i < ARRAY_LEN(handles); i++) {
			const __u64 at = FAR_AWAY + i * (1ull << 32);

			ASSERT_LT(0, handles[i]);
			words_store(&w, at + size - 4, round << 16 | i);
			words_object(&w, handles[i], EXEC_OBJECT_WRITE);
			w.objects[i].offset = at;
		}
		words_end(&w);
		ASSERT_EQ(0, words_run(self->fd, &w, self->gpu.engines[0].ring, 0));
		for (i = 0; i < ARRAY_LEN(handles); i++)
			EXPECT_EQ(round << 16 | i, gem_read32(self->fd, handles[i], size - 4));
	}
}

/* Every byte of every object is seen: all of the memory, however small its window. */
TEST_F(local, the_cpu_sees_every_byte)
{
	const struct drm_i915_gem_memory_class_instance both[] = { LOCAL, SYSTEM };
	__u64 size = part(self->size, 4);
	int handles[4];
	__u32 *maps[4], i;

	for (i = 0; i < 4; i++) {
		/* half of them say that the CPU will look */
		handles[i] = place_object(self->fd, &size, both, 2, i % 2);
		ASSERT_LT(0, handles[i]);
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handles[i], 0, i));
		ASSERT_EQ(0, gem_wait(self->fd, handles[i], -1));
	}
	EXPECT_EQ(4 * size, local_region(self->fd).used);
	for (i = 0; i < 4; i++) {
		maps[i] = gem_map(self->fd, handles[i], size, I915_MMAP_OFFSET_FIXED);
		ASSERT_NE(NULL, maps[i]);
		EXPECT_EQ(i, peek(maps[i]));
		poke(maps[i], 0);
		EXPECT_EQ(0, dirt(maps[i], size));
		paint(maps[i], size, i << 20);
	}
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handles[i], 0, 7 + i));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, gem_wait(self->fd, handles[i], -1));
		EXPECT_EQ(7 + i, peek(maps[i]));
		EXPECT_EQ(0, spots(maps[i], size, i << 20));
	}
}

/* An object is closed while a batch runs in it, and while it moves: its memory comes back. */
TEST_F(local, closed_in_use)
{
	const __u64 size = part(self->size, 2);
	struct drm_ouro_stats stats;
	struct spin spin;
	unsigned int i;
	int handle;

	ASSERT_EQ(0, stats_settled(self->fd, &stats));
	EXPECT_EQ(0, stats.objects);
	for (i = 0; i < 8; i++) {
		/* filled, or moved, and not waited for */
		handle = create_local(self->fd, size);
		if (i % 2)
			ASSERT_EQ(0, gem_write(self->fd, handle, 0, &i, sizeof(i)));
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 8, i));
		gem_close(self->fd, handle);
	}
	handle = create_local(self->fd, part(self->size, 4));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, handle, NULL, &spin));
	gem_close(self->fd, handle);
	EXPECT_LE(part(self->size, 4), local_region(self->fd).used);
	spin_stop(&spin);
	spin_free(&spin);
	EXPECT_TRUE(wait_used(self->fd, 0));
	ASSERT_EQ(0, stats_settled(self->fd, &stats));
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.object_pages);
}

/* Two files of a card have one object in its memory. */
TEST_F(local, shared_by_two_files)
{
	struct drm_prime_handle out = { .flags = DRM_CLOEXEC | DRM_RDWR }, in = {};
	struct gpu other;
	__u32 *map;

	ASSERT_EQ(0, gpu_open(&other));
	out.handle = create_local(self->fd, PIECE);
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out));
	in.fd = out.fd;
	ASSERT_EQ(0, call(other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in));
	map = gem_map(other.fd, in.handle, PIECE, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, map);
	poke(&map[4], 0x44);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, out.handle, 0, 0x11));
	ASSERT_EQ(0, store_at(&other, in.handle, 1ull << 40, 8, 0x22));
	ASSERT_EQ(0, gem_wait(self->fd, out.handle, -1));
	/* it has no other handle: it does not have to leave */
	EXPECT_EQ(PIECE, local_region(self->fd).used);
	EXPECT_EQ(0x22, gem_read32(self->fd, out.handle, 8));
	EXPECT_EQ(0x11, peek(&map[0]));
	EXPECT_EQ(0x44, peek(&map[4]));
	close(out.fd);
	gem_close(self->fd, out.handle);
	EXPECT_EQ(0x22, peek(&map[2]));
	gpu_close(&other);
}

/*
 * The engine that fills and copies hangs for good: the device is given up. What was to be filled is
 * zero; what was to be copied is as it was.
 */
TEST_F(local, the_blitter_dies)
{
	const __u64 size = part(self->size, 2);
	__u64 i, zeros = 0, old = 0, none = 0;
	__u32 *map, *kept, value = 0;
	struct place place;
	int leaves, filled;
	pid_t busy;

	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours: it has no DRM_IOCTL_OURO_DEVICE");
	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "not a model: its blitter works");
	ASSERT_EQ(0, device_limits(&self->gpu, HANG_MS_DEFAULT));
	/* all of the memory has been used by some client */
	for (i = 0; i < 2; i++) {
		leaves = create_local(self->fd, size);
		kept = gem_map(self->fd, leaves, size, I915_MMAP_OFFSET_FIXED);
		ASSERT_NE(NULL, kept);
		paint(kept, size, 0xbad00000);
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, leaves, 0, 1));
		ASSERT_EQ(0, gem_wait(self->fd, leaves, -1));
		munmap(kept, size);
		gem_close(self->fd, leaves);
	}
	ASSERT_TRUE(wait_used(self->fd, 0));
	leaves = create_local(self->fd, size);
	kept = gem_map(self->fd, leaves, size, I915_MMAP_OFFSET_FIXED);
	paint(kept, size, 0x600d0000);
	ASSERT_EQ(0, model_fault(&place, FAULT_HANG | FAULT_COPIES));
	filled = create_local(self->fd, size);
	/* both wait for the blitter, until the device is given up */
	busy = fork();
	store(&self->gpu, &self->gpu.engines[0], 0, busy ? leaves : filled, 0, 0x600d0000);
	if (!busy)
		_exit(0);
	waitpid(busy, NULL, 0);
	EXPECT_EQ(-EIO, store(&self->gpu, &self->gpu.engines[0], 0, filled, 0, 0));
	map = gem_map(self->fd, filled, size, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, map);
	for (i = 0; i < size / 4; i += PAGE / 4) {
		if (!touch(&map[i], false, &value))
			none++;
		else if (dirt(&map[i], PAGE))
			old++;
		else
			zeros++;
	}
	/* what was to be filled is, by the CPU; where that does not see it, elsewhere */
	EXPECT_EQ(0, old);
	EXPECT_EQ(0, none);
	EXPECT_EQ(size / PAGE, zeros);
	for (i = 0, old = 0, none = 0; i < size / 4; i++) {
		if (i % (PAGE / 4) == 0 && !touch(&kept[i], false, &value)) {
			none++;
			i += PAGE / 4 - 1;
		} else if (i % 16 == 0) {
			old += peek(&kept[i]) != (0x600d0000 ^ (__u32)(i * 0x9e3779b1));
		}
	}
	EXPECT_EQ(0, old);
	/* where the CPU does not see the new pages, the object keeps the old ones */
	EXPECT_EQ(0, none);
	EXPECT_EQ(0, model_fault(&place, FAULT_NONE));
	munmap(map, size);
	munmap(kept, size);
	gpu_close(&self->gpu);
	EXPECT_EQ(0, device_unbind(&place));
	ASSERT_EQ(0, device_bind(&place));
	ASSERT_EQ(0, gpu_open(&self->gpu));
	filled = create_local(self->gpu.fd, PIECE);
	EXPECT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, filled, 4, 5));
	EXPECT_EQ(0, gem_read32(self->gpu.fd, filled, 0));
	EXPECT_EQ(5, gem_read32(self->gpu.fd, filled, 4));
}

TEST_HARNESS_MAIN

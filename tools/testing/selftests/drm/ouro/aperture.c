// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings through the aperture (DRM_IOCTL_I915_GEM_MMAP_GTT, and MMAP_OFFSET
 * with I915_MMAP_OFFSET_GTT): what they show, and how they give way to each
 * other and to batches.
 *
 * Where the device is modelled each access is slow, so that these tests look
 * at few places.
 */
#include <pthread.h>

#define TOPIC aperture
#include "test.h"
#include "memory.h"
#include "tiled.h"

#define MIB (1024 * 1024ull)

/* Bytes of the aperture: of the device's third BAR; 0 if there is none. */
static __u64 aperture_size(int fd)
{
	unsigned long long start = 0, end = 0;
	char path[96];
	struct stat st;
	FILE *file;
	int line;

	if (fstat(fd, &st))
		return 0;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/resource", major(st.st_rdev),
		 minor(st.st_rdev));
	file = fopen(path, "r");
	if (!file)
		return 0;
	for (line = 0; line < 3; line++)
		if (fscanf(file, "%llx %llx %*x", &start, &end) != 2)
			end = 0;
	fclose(file);
	return end ? end - start + 1 : 0;
}

static __u32 *map_gtt(int fd, __u32 handle, __u64 size)
{
	return gem_map(fd, handle, size, I915_MMAP_OFFSET_GTT);
}

TEST_F(aperture, both_forms_of_the_ioctl_give_one_offset)
{
	__u32 handle = gem_create(self->fd, PAGE);
	struct drm_i915_gem_mmap_gtt old = { .handle = handle };
	struct drm_i915_gem_mmap_offset get = { .handle = handle, .flags = I915_MMAP_OFFSET_GTT };
	struct drm_i915_gem_mmap_offset wb = { .handle = handle, .flags = I915_MMAP_OFFSET_WB };

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_GTT, &old);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &wb);
	EXPECT_EQ(old.offset, get.offset);
	EXPECT_NE(old.offset, wb.offset);
	EXPECT_EQ(0, old.offset % PAGE);
	old.handle = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_GTT, &old, ENOENT);
	old.handle = handle + 100;
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_GTT, &old, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_GTT, NULL, EFAULT);
}

TEST_F(aperture, a_linear_object_is_seen_as_it_is)
{
	__u64 size = 24 * PAGE;
	__u32 handle = gem_create(self->fd, size);
	__u32 *gtt = map_gtt(self->fd, handle, size);
	__u32 *wb = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_WB);
	__u32 *part;
	__u64 at;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	ASSERT_NE(NULL, gtt);
	ASSERT_NE(NULL, wb);
	for (at = 0; at < size; at += 2052)
		EXPECT_EQ(0, peek(&gtt[at / 4]));
	for (at = 0; at < size; at += 2052)
		poke(&gtt[at / 4], 0x1000 + at);
	for (at = 0; at < size; at += 2052) {
		EXPECT_EQ(0x1000 + at, gem_read32(self->fd, handle, at));
		poke(&wb[at / 4], 0x2000 + at);
	}
	for (at = 0; at < size; at += 2052)
		EXPECT_EQ(0x2000 + at, peek(&gtt[at / 4]));
	/* a second mapping, of the first pages, and unmapping the other one by pieces */
	part = map_gtt(self->fd, handle, 10 * PAGE);
	ASSERT_NE(NULL, part);
	ASSERT_EQ(0, munmap((char *)gtt + 4 * PAGE, 16 * PAGE));
	poke(&wb[8 * PAGE / 4], 0x3000);
	EXPECT_EQ(0x3000, peek(&part[8 * PAGE / 4]));
	EXPECT_EQ(0x2000, peek(&gtt[0]));
	poke(&wb[23 * PAGE / 4], 0x4000);
	EXPECT_EQ(0x4000, peek(&gtt[23 * PAGE / 4]));
}

/* What the GPU writes is there, and its address for the object is not disturbed. */
TEST_F(aperture, the_gpu_and_the_aperture_see_one_object)
{
	__u32 handle = gem_create(self->fd, PAGE);
	__u32 *gtt = map_gtt(self->fd, handle, PAGE);
	unsigned int i;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	ASSERT_NE(NULL, gtt);
	for (i = 0; i < self->gpu.n_engines; i++) {
		poke(&gtt[2 * i], 7);
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, handle, 8 * i, 0x77 + i));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(0x77 + i, peek(&gtt[2 * i]));
	}
}

TEST_F(aperture, a_mapping_outlives_its_handle_and_file)
{
	struct gpu other;
	__u32 *map, handle;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	ASSERT_EQ(0, gpu_open(&other));
	handle = gem_create(other.fd, 600 * PAGE);
	map = map_gtt(other.fd, handle, 600 * PAGE);
	ASSERT_NE(NULL, map);
	poke(&map[0], 42);
	ASSERT_EQ(0, gem_close(other.fd, handle));
	EXPECT_EQ(42, peek(&map[0]));
	/* pages that were never touched come in now */
	poke(&map[PAGE / 4], 43);
	gpu_close(&other);
	poke(&map[599 * PAGE / 4], 44);
	EXPECT_EQ(43, peek(&map[PAGE / 4]));
	EXPECT_EQ(44, peek(&map[599 * PAGE / 4]));
	EXPECT_EQ(42, peek(&map[0]));
	munmap(map, 600 * PAGE);
}

TEST_F(aperture, fork_shares_the_memory)
{
	struct tiling t = { .mode = I915_TILING_Y, .stride = 256 };
	__u64 size = 4 * PAGE, at = 3 * 256 + 20;
	__u32 handle = gem_create(self->fd, size);
	__u32 *map;
	int status;
	pid_t pid;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	ASSERT_EQ(0, tile(self->fd, handle, &t));
	map = map_gtt(self->fd, handle, size);
	ASSERT_NE(NULL, map);
	poke(&map[0], 5);
	pid = fork();
	if (pid == 0) {
		bool good = peek(&map[0]) == 5;

		poke(&map[at / 4], 0xc0ffee);
		munmap(map, size);
		_exit(good ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0xc0ffee, peek(&map[at / 4]));
	EXPECT_EQ(0xc0ffee, gem_read32(self->fd, handle, tiled_offset(&t, at)));
}

TEST_F(aperture, private_copies_cannot_be_written)
{
	__u32 handle = gem_create(self->fd, PAGE);
	struct drm_i915_gem_mmap_offset get = { .handle = handle };
	void *map;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, get.offset);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EINVAL, errno);
}

/*
 * An object that is not shown whole: one page in each mebibyte, and one on
 * each side of it. Where memory allows, the object is larger than the aperture.
 */
static const struct tiling large[] = {
	{ .mode = I915_TILING_NONE },
	/* rows of 40 pages: no mebibyte begins with a row */
	{ .mode = I915_TILING_X, .stride = 20480 },
	/* rows of 4 MiB */
	{ .mode = I915_TILING_Y, .stride = 131072 },
};

TEST_F(aperture, objects_larger_than_views_and_the_aperture)
{
	__u64 aperture = aperture_size(self->fd), size, at;
	struct drm_ouro_stats before = {}, after = {};
	unsigned int s;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	/* more than the aperture where memory allows, and always more than one view shows */
	size = aperture <= 64 * MIB ? aperture + 16 * MIB : aperture / 8 + 8 * MIB;
	for (s = 0; s < ARRAY_LEN(large); s++) {
		struct tiling t = large[s];
		__u32 handle = gem_create(self->fd, size), *map, n;
		__u64 step = MIB / 2 - 60;

		call(self->fd, DRM_IOCTL_OURO_STATS, &before);
		ASSERT_EQ(0, tile(self->fd, handle, &t));
		map = map_gtt(self->fd, handle, size);
		ASSERT_NE(NULL, map);
		for (at = 0, n = 1; at + 4 <= size; at += step, n++)
			poke(&map[at / 4], n);
		for (at = 0, n = 1; at + 4 <= size; at += step, n++)
			ASSERT_EQ(n, gem_read32(self->fd, handle, tiled_offset(&t, at)))
			{
				TH_LOG("mode %u, byte %llu", t.mode, at);
			}
		for (at = 0, n = 1; at + 4 <= size; at += 3 * step, n += 3) {
			__u32 value = ~n;

			ASSERT_EQ(0, gem_write(self->fd, handle, tiled_offset(&t, at), &value, 4));
		}
		for (at = 0, n = 1; at + 4 <= size; at += step, n++)
			ASSERT_EQ(n % 3 == 1 ? ~n : n, peek(&map[at / 4]))
			{
				TH_LOG("mode %u, byte %llu", t.mode, at);
			}
		if (self->gpu.ouro) {
			call(self->fd, DRM_IOCTL_OURO_STATS, &after);
			/* parts are not larger than a row of tiles, or a mebibyte and a row */
			EXPECT_LE(size / (5 * MIB), after.aperture_views - before.aperture_views);
		}
		munmap(map, size);
		gem_close(self->fd, handle);
	}
}

/*
 * The first addresses may be those of the picture that the firmware has left, and among the
 * last may be pages of the kernel: they have the last sixteenth of the table, and on G4X a status
 * page is in the aperture.
 */
#define PICTURE (4 * MIB)
#define STATUS(aperture) ((aperture) / 16)

/* A view gives way to a batch that must have its addresses, and comes back. */
TEST_F(aperture, views_give_way_to_pinned_objects)
{
	__u64 aperture = aperture_size(self->fd), size = 8 * MIB, at;
	__u32 seen = gem_create(self->fd, MIB), *map = map_gtt(self->fd, seen, MIB);
	__u32 words[2] = { self->gpu.backend->batch_end, 0 };
	struct drm_i915_gem_exec_object2 objects[2] = {
		{ .handle = gem_create(self->fd, size),
		  .flags = EXEC_OBJECT_PINNED },
		{ .handle = gem_create(self->fd, PAGE) },
	};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects),
					       .buffer_count = 2,
					       .flags = self->gpu.engines[0].ring };
	__u32 n = 0;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	ASSERT_NE(NULL, map);
	ASSERT_EQ(0, gem_write(self->fd, objects[1].handle, 0, words, sizeof(words)));
	for (at = PICTURE + PAGE; at + size <= aperture - STATUS(aperture); at += size / 2 + PAGE) {
		poke(&map[n], n + 1);
		objects[0].offset = at;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(at, objects[0].offset);
		EXPECT_EQ(n + 1, peek(&map[n]));
		n++;
	}
	EXPECT_EQ(1, gem_read32(self->fd, seen, 0));
}

/* Objects of batches all over the aperture make room for a view; those in use are waited for. */
static void *stop_later(void *arg)
{
	usleep(200000);
	spin_stop(arg);
	return NULL;
}

TEST_F(aperture, objects_of_batches_give_way_to_views)
{
	__u64 aperture = aperture_size(self->fd), whole = 8 * MIB, at;
	__u32 big[64] = {}, seen, *map, words[2] = { self->gpu.backend->batch_end, 0 };
	struct drm_i915_gem_exec_object2 objects[65] = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects),
					       .flags = self->gpu.engines[0].ring };
	unsigned int n = 0, round;
	struct spin spin;
	pthread_t thread;

	if (aperture == 0 || aperture > 64 * MIB)
		SKIP(return, "an aperture of 64 MiB is filled; this one has %llu", aperture / MIB);
	for (at = 0; at < aperture; at += whole) {
		__u64 skip = at ? 0 : PICTURE;

		big[n] = gem_create(self->fd, whole - skip);
		objects[n].handle = big[n];
		objects[n].offset = at + skip;
		objects[n++].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
	}
	objects[n].handle = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, gem_write(self->fd, objects[n].handle, 0, words, sizeof(words)));
	eb.buffer_count = n + 1;
	for (round = 0; round < 3; round++) {
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		seen = gem_create(self->fd, 3 * MIB);
		map = map_gtt(self->fd, seen, 3 * MIB);
		ASSERT_NE(NULL, map);
		poke(&map[5], 11 + round);
		EXPECT_EQ(11 + round, gem_read32(self->fd, seen, 20));
		munmap(map, 3 * MIB);
		gem_close(self->fd, seen);
	}
	/* now all of them are in use for a while */
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	seen = gem_create(self->fd, 3 * MIB);
	map = map_gtt(self->fd, seen, 3 * MIB);
	ASSERT_NE(NULL, map);
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_later, &spin));
	poke(&map[5], 99);
	EXPECT_EQ(99, peek(&map[5]));
	pthread_join(thread, NULL);
	spin_free(&spin);
}

/* Threads that look at more tiled objects than there are fences, while others change them. */
enum { SHARED = 24, THREADS = 3, LOOKS = 120 };

struct crowd {
	int fd;
	__u32 handles[SHARED];
	__u32 *maps[SHARED];
	struct tiling t[SHARED];
	int bad[THREADS];
	int index;
};

static void *look(void *arg)
{
	struct crowd *c = arg;
	int me = __atomic_fetch_add(&c->index, 1, __ATOMIC_SEQ_CST);
	unsigned int i, o;

	for (i = 0; i < LOOKS; i++) {
		/* each thread has a word of its own in each object */
		__u64 at;

		o = (i * 7 + me * 5) % SHARED;
		at = c->t[o].stride * 5 + 32 * me;
		poke(&c->maps[o][at / 4], i << 8 | me);
		if (peek(&c->maps[o][at / 4]) != (i << 8 | me))
			c->bad[me]++;
		if (gem_read32(c->fd, c->handles[o], tiled_offset(&c->t[o], at)) != (i << 8 | me))
			c->bad[me]++;
	}
	return NULL;
}

TEST_F(aperture, threads_take_fences_from_each_other)
{
	pthread_t threads[THREADS];
	struct crowd *c = calloc(1, sizeof(*c));
	unsigned int i;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	c->fd = self->fd;
	for (i = 0; i < SHARED; i++) {
		c->t[i].mode = i % 2 ? I915_TILING_X : I915_TILING_Y;
		c->t[i].stride = 512 * (i % 3 + 1);
		c->handles[i] = gem_create(self->fd, 16 * PAGE);
		ASSERT_EQ(0, tile(self->fd, c->handles[i], &c->t[i]));
		c->maps[i] = map_gtt(self->fd, c->handles[i], 16 * PAGE);
		ASSERT_NE(NULL, c->maps[i]);
	}
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, look, c));
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, c->bad[i]);
	}
	for (i = 0; i < SHARED; i++)
		munmap(c->maps[i], 16 * PAGE);
	free(c);
}

/* One thread touches, another changes the tiling, maps and unmaps: nothing breaks. */
struct flipper {
	int fd;
	__u32 handle;
	__u64 size;
	bool stop;
};

static void *flip(void *arg)
{
	struct flipper *f = arg;
	unsigned int i;

	for (i = 0; !__atomic_load_n(&f->stop, __ATOMIC_SEQ_CST); i++) {
		struct tiling t = { .mode = i % 3, .stride = i % 3 ? 512 * (i % 4 + 1) : 0 };
		__u32 *map;

		tile(f->fd, f->handle, &t);
		map = map_gtt(f->fd, f->handle, f->size);
		if (map) {
			peek(&map[i * 64 % (f->size / 4)]);
			munmap(map, f->size);
		}
	}
	return NULL;
}

TEST_F(aperture, tiling_changes_under_those_who_look)
{
	struct flipper f = { .fd = self->fd, .size = 64 * PAGE };
	pthread_t thread;
	__u32 *map, i;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	f.handle = gem_create(self->fd, f.size);
	map = map_gtt(self->fd, f.handle, f.size);
	ASSERT_NE(NULL, map);
	ASSERT_EQ(0, pthread_create(&thread, NULL, flip, &f));
	for (i = 0; i < 300; i++) {
		poke(&map[i * 211 % (f.size / 4)], i);
		peek(&map[i * 97 % (f.size / 4)]);
	}
	__atomic_store_n(&f.stop, true, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, gem_close(self->fd, f.handle));
}

/* Pages that go when memory is wanted come back with their contents. */
TEST_F(aperture, pages_go_and_come_back)
{
	enum { N = 6 };
	struct drm_i915_gem_get_tiling get = {};
	struct tiling t[N] = {};
	__u32 handles[N], *maps[N], i, round, kept = 0;
	__s64 pages;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	if (drop_pages(self->fd))
		SKIP(return, "no i915_gem_drop_caches in debugfs");
	for (i = 0; i < N; i++) {
		t[i].mode = i % 3;
		t[i].stride = i % 3 ? 512 * (i + 1) : 0;
		handles[i] = gem_create(self->fd, 32 * PAGE);
		ASSERT_EQ(0, tile(self->fd, handles[i], &t[i]));
		maps[i] = map_gtt(self->fd, handles[i], 32 * PAGE);
		ASSERT_NE(NULL, maps[i]);
		/* where the swizzle may depend on addresses of pages, those of tiles stay */
		get.handle = handles[i];
		GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_TILING, &get);
		kept += t[i].mode && get.phys_swizzle_mode == I915_BIT_6_SWIZZLE_UNKNOWN;
	}
	for (round = 0; round < 3; round++) {
		for (i = 0; i < N; i++)
			poke(&maps[i][i + 1100 * round], 77 * round + i);
		pages = object_pages(self->fd);
		ASSERT_EQ(0, drop_pages(self->fd));
		if (self->gpu.ouro)
			EXPECT_LE(object_pages(self->fd), pages - (N - kept) * 32);
		for (i = 0; i < N; i++) {
			__u64 at = 4 * (i + 1100 * round);

			EXPECT_EQ(77 * round + i, peek(&maps[i][at / 4]));
			EXPECT_EQ(77 * round + i,
				  gem_read32(self->fd, handles[i], tiled_offset(&t[i], at)));
		}
	}
	for (i = 0; i < N; i++)
		munmap(maps[i], 32 * PAGE);
}

/* What was thrown away is not to be seen, though its page was in the aperture. */
TEST_F(aperture, thrown_away_pages_are_not_shown)
{
	struct drm_i915_gem_madvise madvise = { .madv = I915_MADV_DONTNEED };
	__u32 *map, value = 0;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	if (want_memory())
		SKIP(return, "drop_caches is for root");
	madvise.handle = gem_create(self->fd, 4 * PAGE);
	map = map_gtt(self->fd, madvise.handle, 4 * PAGE);
	ASSERT_NE(NULL, map);
	poke(map, 5);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &madvise);
	EXPECT_EQ(1, madvise.retained);
	wait_freed(self->fd);
	ASSERT_EQ(0, want_memory());
	EXPECT_FALSE(touch(map, false, &value));
	EXPECT_FALSE(touch(map, true, &value));
	EXPECT_FALSE(touch(&map[3 * PAGE / 4], true, &value));
	munmap(map, 4 * PAGE);
}

/* Memory is wanted while threads look at more tiled objects than there are fences. */
static void *want(void *arg)
{
	const bool *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST))
		want_memory();
	return NULL;
}

TEST_F(aperture, memory_is_wanted_under_those_who_look)
{
	enum { N = 20, ROUNDS = 6 };
	__u32 handles[N], *maps[N], i, round;
	bool stop = false;
	pthread_t thread;

	if (aperture_size(self->fd) == 0)
		SKIP(return, "the chip has no aperture");
	if (want_memory())
		SKIP(return, "drop_caches is for root");
	for (i = 0; i < N; i++) {
		struct tiling t = { .mode = I915_TILING_X, .stride = 1024 };

		handles[i] = gem_create(self->fd, 8 * PAGE);
		ASSERT_EQ(0, tile(self->fd, handles[i], &t));
		maps[i] = map_gtt(self->fd, handles[i], 8 * PAGE);
		ASSERT_NE(NULL, maps[i]);
	}
	ASSERT_EQ(0, pthread_create(&thread, NULL, want, &stop));
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < N; i++)
			poke(&maps[i][round * 300], round << 8 | i);
		drop_pages(self->fd);
		for (i = 0; i < N; i++)
			EXPECT_EQ(round << 8 | i, peek(&maps[i][round * 300]));
	}
	__atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	for (i = 0; i < N; i++)
		munmap(maps[i], 8 * PAGE);
}

/*
 * A batch whose objects do not fit into the addresses of its context: views do not have these, so
 * those of other clients stay.
 */
TEST_F(aperture, views_do_not_give_way_to_a_contexts_own_addresses)
{
	struct drm_i915_gem_context_param size = { .param = I915_CONTEXT_PARAM_GTT_SIZE };
	__u32 handle = gem_create(self->fd, PAGE), context = context_create(self->fd), *map;
	__u32 end = self->gpu.backend->batch_end;
	struct drm_i915_gem_exec_object2 objects[2] = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects),
					       .buffer_count = 2,
					       .rsvd1 = context };
	struct drm_ouro_stats before = {}, after = {};
	unsigned int i;

	if (!self->gpu.ouro || !self->gpu.own_spaces)
		SKIP(return, "a context has no addresses of its own");
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &size);
	map = map_gtt(self->fd, handle, PAGE);
	ASSERT_NE(NULL, map);
	poke(map, 1);
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_OURO_STATS, &before));
	for (i = 0; i < 2; i++) {
		objects[i].handle = gem_create(self->fd, PAGE);
		objects[i].flags = EXEC_OBJECT_PAD_TO_SIZE;
		/* one has room, two have not */
		objects[i].pad_to_size = size.value / 4 * 3;
		ASSERT_EQ(0, gem_write(self->fd, objects[i].handle, 0, &end, sizeof(end)));
	}
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOSPC);
	EXPECT_EQ(1, peek(map));
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_OURO_STATS, &after));
	EXPECT_EQ(before.aperture_views, after.aperture_views);
	munmap(map, PAGE);
}

TEST_HARNESS_MAIN

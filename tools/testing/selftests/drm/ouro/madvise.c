// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_MADVISE, and what becomes of an object whose contents were thrown away. */
#define TOPIC madvise
#define ANY_I915
#include "test.h"

#include "memory.h"

/* 1: the contents are there; 0: they are gone; or a negative errno. */
static int advise(int fd, __u32 handle, __u32 madv)
{
	struct drm_i915_gem_madvise madvise = { .handle = handle, .madv = madv, .retained = 77 };
	int got = call(fd, DRM_IOCTL_I915_GEM_MADVISE, &madvise);

	cover("DRM_IOCTL_I915_GEM_MADVISE");
	return got ? got : (int)madvise.retained;
}

/*
 * Waits until completed requests are retired: that is a little later than their fences, and until
 * then their memory stays. Another driver waits for it when it is asked for memory.
 */
static void release(struct __test_metadata *_metadata, const struct gpu *gpu)
{
	struct drm_ouro_stats stats;

	wait_freed(gpu->fd);
	if (gpu->ouro)
		ASSERT_EQ(0, stats_settled(gpu->fd, &stats));
}

/* Nothing can be done with the contents any more; all else works. */
static void expect_purged(struct __test_metadata *_metadata, const struct gpu *gpu, __u32 handle)
{
	static const __u64 kinds[] = { I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_WC,
				       I915_MMAP_OFFSET_GTT };
	struct drm_i915_gem_set_domain set = { .handle = handle,
					       .read_domains = I915_GEM_DOMAIN_CPU };
	__u32 value = 5;
	unsigned int i;

	EXPECT_EQ(0, advise(gpu->fd, handle, I915_MADV_WILLNEED));
	EXPECT_EQ(0, advise(gpu->fd, handle, I915_MADV_DONTNEED));
	if (gpu->speaks == &i915) {
		EXPECT_EQ(-EFAULT, gem_write(gpu->fd, handle, 0, &value, 4));
		EXPECT_EQ(-EFAULT, gem_read(gpu->fd, handle, 0, &value, 4));
		BAD(gpu->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set, EFAULT);
	}
	for (i = 0; i < gpu->n_engines; i++)
		EXPECT_EQ(-EFAULT, store(gpu, &gpu->engines[i], 0, handle, 0, 1));
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		__u32 *map = gem_map(gpu->fd, handle, PAGE, kinds[i]);

		ASSERT_NE(NULL, map);
		EXPECT_FALSE(touch(map, false, &value));
		EXPECT_FALSE(touch(map, true, &value));
		munmap(map, PAGE);
	}
	EXPECT_EQ(0, gem_busy(gpu->fd, handle));
	EXPECT_EQ(0, gem_wait(gpu->fd, handle, -1));
}

TEST_F(madvise, arguments)
{
	struct drm_i915_gem_madvise madvise = { .madv = I915_MADV_WILLNEED };
	__u32 madv;

	BAD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &madvise, ENOENT);
	madvise.handle = 0xfffffff0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &madvise, ENOENT);
	/* what is asked for is looked at first */
	for (madv = I915_MADV_DONTNEED + 1; madv; madv <<= 1) {
		madvise.madv = madv;
		BAD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &madvise, EINVAL);
	}
	madvise.madv = 3;
	madvise.handle = gem_create(self->fd, PAGE);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &madvise, EINVAL);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, NULL, EFAULT);
}

TEST_F(madvise, what_is_needed_stays)
{
	__u32 handle = gem_create(self->fd, PAGE), value = 0x1234;

	EXPECT_EQ(1, advise(self->fd, handle, I915_MADV_WILLNEED));
	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &value, 4));
	ASSERT_EQ(0, gem_populate(self->fd, handle));
	EXPECT_EQ(1, advise(self->fd, handle, I915_MADV_DONTNEED));
	EXPECT_EQ(1, advise(self->fd, handle, I915_MADV_DONTNEED));
	/* there was no memory pressure: its pages are still there */
	EXPECT_EQ(1, advise(self->fd, handle, I915_MADV_WILLNEED));
	EXPECT_EQ(0x1234, gem_read32(self->fd, handle, 0));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 8, 9));
	EXPECT_EQ(9, gem_read32(self->fd, handle, 8));
}

TEST_F(madvise, without_memory_it_is_gone_at_once)
{
	__u32 handle = gem_create(self->fd, PAGE);

	EXPECT_EQ(0, advise(self->fd, handle, I915_MADV_DONTNEED));
	expect_purged(_metadata, &self->gpu, handle);
}

/* With memory, but without an address: a batch that uses it does not run. */
TEST_F(madvise, not_for_a_batch)
{
	__u32 handle = gem_create(self->fd, PAGE), value = 7;

	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &value, 4));
	ASSERT_EQ(0, gem_populate(self->fd, handle));
	ASSERT_LE(0, advise(self->fd, handle, I915_MADV_DONTNEED));
	EXPECT_EQ(-EFAULT, store(&self->gpu, &self->gpu.engines[0], 0, handle, 0, 8));
	ASSERT_LE(0, advise(self->fd, handle, I915_MADV_WILLNEED));
}

TEST_F(madvise, thrown_away_when_memory_is_wanted)
{
	enum { N = 32 };
	__u32 gone[N], kept[N], value = 0;
	__u32 *map;
	__s64 pages;
	int i, n;

	if (want_memory())
		SKIP(return, "drop_caches is for root");
	for (i = 0; i < N; i++) {
		gone[i] = gem_create(self->fd, 16 * PAGE);
		kept[i] = gem_create(self->fd, 16 * PAGE);
		value = i + 1;
		ASSERT_EQ(0, gem_write(self->fd, gone[i], 15 * PAGE, &value, 4));
		ASSERT_EQ(0, gem_write(self->fd, kept[i], 15 * PAGE, &value, 4));
		ASSERT_EQ(0, gem_populate(self->fd, gone[i]));
		ASSERT_EQ(0, gem_populate(self->fd, kept[i]));
		/* some of them have been seen by the GPU, some have not */
		if (i % 2) {
			const struct engine *engine = &self->gpu.engines[i % self->gpu.n_engines];

			ASSERT_EQ(0, store(&self->gpu, engine, 0, gone[i], 0, i));
			ASSERT_EQ(0, store(&self->gpu, engine, 0, kept[i], 0, i));
			ASSERT_EQ(0, gem_wait(self->fd, gone[i], -1));
			ASSERT_EQ(0, gem_wait(self->fd, kept[i], -1));
		}
	}
	map = gem_map(self->fd, gone[0], PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	EXPECT_TRUE(touch(map, true, &value));
	for (i = 0; i < N; i++)
		ASSERT_EQ(1, advise(self->fd, gone[i], I915_MADV_DONTNEED));
	release(_metadata, &self->gpu);
	pages = object_pages(self->fd);
	ASSERT_EQ(0, want_memory());
	if (self->gpu.ouro)
		EXPECT_LE(object_pages(self->fd), pages - N * 16);
	for (i = n = 0; i < N; i++) {
		n += advise(self->fd, gone[i], I915_MADV_WILLNEED) == 0;
		EXPECT_EQ(i + 1, gem_read32(self->fd, kept[i], 15 * PAGE));
		if (i % 2)
			EXPECT_EQ(i, gem_read32(self->fd, kept[i], 0));
	}
	EXPECT_EQ(N, n);
	EXPECT_FALSE(touch(map, false, &value));
	expect_purged(_metadata, &self->gpu, gone[0]);
	expect_purged(_metadata, &self->gpu, gone[1]);
	munmap(map, PAGE);
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, gem_close(self->fd, gone[i]));
		EXPECT_EQ(0, gem_close(self->fd, kept[i]));
	}
}

/* Pages of what is needed go too when there is room in swap; the contents come back. */
TEST_F(madvise, pages_go_and_contents_stay)
{
	enum { N = 16 };
	__u32 handle[N], value;
	__u32 *map[N];
	__s64 pages;
	int i, round;

	if (drop_pages(self->fd))
		SKIP(return, "no i915_gem_drop_caches in debugfs");
	for (i = 0; i < N; i++) {
		handle[i] = gem_create(self->fd, 8 * PAGE);
		map[i] = gem_map(self->fd, handle[i], 8 * PAGE,
				 i % 2 ? I915_MMAP_OFFSET_WB : I915_MMAP_OFFSET_WC);
		ASSERT_NE(NULL, map[i]);
		poke(&map[i][7 * 1024], ~i);
	}
	for (round = 1; round < 4; round++) {
		for (i = 0; i < N; i++) {
			const struct engine *engine = &self->gpu.engines[i % self->gpu.n_engines];

			ASSERT_EQ(0, store(&self->gpu, engine, 0, handle[i], 8 * round, i + round));
			ASSERT_EQ(0, gem_wait(self->fd, handle[i], -1));
		}
		release(_metadata, &self->gpu);
		pages = object_pages(self->fd);
		ASSERT_EQ(0, drop_pages(self->fd));
		if (self->gpu.ouro)
			EXPECT_LE(object_pages(self->fd), pages - N * 8);
		for (i = 0; i < N; i++) {
			EXPECT_EQ(i + round, peek(&map[i][2 * round]));
			EXPECT_TRUE(touch(&map[i][7 * 1024], true, &value));
			EXPECT_EQ(~i, value);
		}
	}
	for (i = 0; i < N; i++) {
		munmap(map[i], 8 * PAGE);
		EXPECT_EQ(0, gem_close(self->fd, handle[i]));
	}
}

/*
 * A CPU that touches some pages of a large object gets these alone, if the GPU snoops them. They
 * are those that the GPU uses later, they can be taken away, and they are thrown away at once.
 */
TEST_F(madvise, touched_pages_come_first)
{
	enum { N = 64, STEP = PAGE / 4 };
	const struct engine *engine = &self->gpu.engines[0];
	const struct backend *backend = self->gpu.backend;
	bool alone = self->gpu.ouro && !backend->has_local && !backend->no_shared_cache;
	__u32 handle = gem_create(self->fd, N * PAGE), value;
	__s64 pages = object_pages(self->fd);
	__u32 *map, *other;
	int i;

	map = gem_map(self->fd, handle, N * PAGE, I915_MMAP_OFFSET_WB);
	other = gem_map(self->fd, handle, N * PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	ASSERT_NE(NULL, other);
	ASSERT_TRUE(touch(&map[40 * STEP], true, &value));
	EXPECT_EQ(0, value);
	poke(&map[40 * STEP], 40);
	poke(&map[41 * STEP], 41);
	/* the same page in another mapping */
	EXPECT_EQ(40, peek(&other[40 * STEP]));
	EXPECT_EQ(41, gem_read32(self->fd, handle, 41 * PAGE));
	if (alone)
		EXPECT_EQ(pages + 2, object_pages(self->fd));
	if (alone && !drop_pages(self->fd)) {
		EXPECT_EQ(pages, object_pages(self->fd));
		EXPECT_EQ(40, peek(&map[40 * STEP]));
		EXPECT_EQ(pages + 1, object_pages(self->fd));
	}
	/* now it has all of its memory, and mappings show that */
	ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 40 * PAGE + 4, 7));
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(7, peek(&map[40 * STEP + 1]));
	EXPECT_EQ(7, peek(&other[40 * STEP + 1]));
	EXPECT_EQ(40, peek(&map[40 * STEP]));
	EXPECT_EQ(41, peek(&other[41 * STEP]));
	if (alone)
		EXPECT_LE(pages + N, object_pages(self->fd));
	munmap(map, N * PAGE);
	munmap(other, N * PAGE);
	EXPECT_EQ(0, gem_close(self->fd, handle));

	/* one after the other, until it has all of them */
	handle = gem_create(self->fd, N * PAGE);
	map = gem_map(self->fd, handle, N * PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	for (i = N - 1; i >= 0; i--) {
		ASSERT_TRUE(touch(&map[i * STEP], true, &value));
		poke(&map[i * STEP], ~i);
	}
	for (i = 0; i < N; i++)
		EXPECT_EQ(~i, gem_read32(self->fd, handle, i * PAGE));
	munmap(map, N * PAGE);
	EXPECT_EQ(0, gem_close(self->fd, handle));

	handle = gem_create(self->fd, N * PAGE);
	map = gem_map(self->fd, handle, N * PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	ASSERT_TRUE(touch(map, true, &value));
	value = advise(self->fd, handle, I915_MADV_DONTNEED);
	if (alone)
		EXPECT_EQ(0, value);
	if (!value) {
		EXPECT_FALSE(touch(map, false, &value));
		expect_purged(_metadata, &self->gpu, handle);
	}
	munmap(map, N * PAGE);
	EXPECT_EQ(0, gem_close(self->fd, handle));
}

TEST_F(madvise, what_the_gpu_uses_stays)
{
	__u32 handle = gem_create(self->fd, PAGE), value = 3;
	struct spin spin;

	if (want_memory())
		SKIP(return, "drop_caches is for root");
	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &value, 4));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, handle, NULL, &spin));
	EXPECT_EQ(1, advise(self->fd, handle, I915_MADV_DONTNEED));
	ASSERT_EQ(0, want_memory());
	EXPECT_EQ(1, advise(self->fd, handle, I915_MADV_DONTNEED));
	spin_stop(&spin);
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(3, gem_read32(self->fd, handle, 0));
	release(_metadata, &self->gpu);
	ASSERT_EQ(0, want_memory());
	EXPECT_EQ(0, advise(self->fd, handle, I915_MADV_WILLNEED));
	spin_free(&spin);
}

/* Reclaim comes while batches are made of objects that may go. */
TEST_F(madvise, in_the_middle_of_executions)
{
	__u32 handle[8] = {}, value = 1;
	int i, round, times = rounds("OURO_ROUNDS", 100, 25) / 2, status;
	pid_t pid;

	if (want_memory())
		SKIP(return, "drop_caches is for root");
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0) {
		for (round = 0; round < times / 4; round++)
			want_memory();
		_exit(0);
	}
	for (round = 0; round < times; round++) {
		for (i = 0; i < ARRAY_LEN(handle); i++) {
			const struct engine *engine = &self->gpu.engines[i % self->gpu.n_engines];
			int got;

			if (!handle[i])
				handle[i] = gem_create(self->fd, 4 * PAGE);
			got = gem_write(self->fd, handle[i], 4, &value, 4);
			if (!got)
				got = store(&self->gpu, engine, 0, handle[i], 0, round);
			if (got) {
				ASSERT_EQ(-EFAULT, got);
				ASSERT_EQ(0, advise(self->fd, handle[i], I915_MADV_WILLNEED));
			} else {
				got = advise(self->fd, handle[i], I915_MADV_DONTNEED);
				ASSERT_LE(0, got);
				got = advise(self->fd, handle[i], I915_MADV_WILLNEED);
				ASSERT_LE(0, got);
				if (got) {
					EXPECT_EQ(round, gem_read32(self->fd, handle[i], 0));
					if (round % 8 == i)
						advise(self->fd, handle[i], I915_MADV_DONTNEED);
					continue;
				}
			}
			gem_close(self->fd, handle[i]);
			handle[i] = 0;
		}
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN

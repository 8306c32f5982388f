// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_MMAP_OFFSET and the mappings that it leads to. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#define TOPIC gem_mmap
#include "test.h"

static const __u64 kinds[] = { I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_WC };

TEST_F(gem_mmap, writes_are_seen_by_reads)
{
	unsigned int k;

	for (k = 0; k < ARRAY_LEN(kinds); k++) {
		struct drm_i915_gem_mmap_offset get = { .flags = kinds[k] };
		__u32 *map, i;

		get.handle = gem_create(self->fd, 4 * PAGE);
		GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
		EXPECT_EQ(0, get.offset % PAGE);
		map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
			   get.offset);
		ASSERT_NE(MAP_FAILED, map);
		for (i = 0; i < PAGE; i++)
			EXPECT_EQ(0, map[i]) break;
		for (i = 0; i < PAGE; i++)
			map[i] = i * 2654435761u;
		__sync_synchronize();
		for (i = 0; i < PAGE; i += 513)
			EXPECT_EQ(i * 2654435761u, gem_read32(self->fd, get.handle, i * 4));
		munmap(map, 4 * PAGE);
		gem_close(self->fd, get.handle);
	}
}

TEST_F(gem_mmap, kinds_show_the_same_memory)
{
	__u32 handle = gem_create(self->fd, PAGE);
	__u32 *wb = gem_map(self->fd, handle, PAGE, I915_MMAP_OFFSET_WB);
	__u32 *wc = gem_map(self->fd, handle, PAGE, I915_MMAP_OFFSET_WC);
	__u32 *again = gem_map(self->fd, handle, PAGE, I915_MMAP_OFFSET_WB);
	struct drm_i915_gem_set_domain set = { .handle = handle };

	ASSERT_NE(NULL, wb);
	ASSERT_NE(NULL, wc);
	ASSERT_NE(NULL, again);
	set.read_domains = I915_GEM_DOMAIN_CPU;
	set.write_domain = I915_GEM_DOMAIN_CPU;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	poke(&wb[3], 0x11223344);
	set.read_domains = I915_GEM_DOMAIN_WC;
	set.write_domain = I915_GEM_DOMAIN_WC;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	EXPECT_EQ(0x11223344, peek(&wc[3]));
	poke(&wc[4], 0x55667788);
	set.read_domains = I915_GEM_DOMAIN_CPU;
	set.write_domain = 0;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	EXPECT_EQ(0x55667788, peek(&again[4]));
}

TEST_F(gem_mmap, arguments)
{
	struct drm_i915_gem_mmap_offset get = { .flags = I915_MMAP_OFFSET_WB };
	struct i915_user_extension unknown = { .name = 0x7777 };
	__u64 flags;

	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get, ENOENT);
	get.handle = 0xfffffff0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get, ENOENT);
	get.handle = gem_create(self->fd, PAGE);
	for (flags = I915_MMAP_OFFSET_FIXED + 1; flags; flags <<= 1) {
		get.flags = flags;
		BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get, EINVAL);
	}
	get.flags = I915_MMAP_OFFSET_WB | 1ull << 32;
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get, EINVAL);
	get.flags = I915_MMAP_OFFSET_WB;
	get.extensions = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get, EFAULT);
	get.extensions = U64(&unknown);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get, EINVAL);
	get.extensions = 0;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, NULL, EFAULT);
}

TEST_F(gem_mmap, fixed_is_for_other_chips)
{
	struct drm_i915_gem_mmap_offset get = { .flags = I915_MMAP_OFFSET_FIXED };

	if (self->gpu.backend->has_local)
		SKIP(return, "only chips without memory of their own refuse it");
	get.handle = gem_create(self->fd, PAGE);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get, ENODEV);
}

TEST_F(gem_mmap, only_what_is_there_can_be_mapped)
{
	struct drm_i915_gem_mmap_offset get = { .flags = I915_MMAP_OFFSET_WB };
	void *map;

	get.handle = gem_create(self->fd, 2 * PAGE);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
	map = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, get.offset);
	EXPECT_EQ(MAP_FAILED, map);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
		   get.offset + (1ull << 40));
	EXPECT_EQ(MAP_FAILED, map);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	EXPECT_EQ(MAP_FAILED, map);
	/* a part of it is fine */
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, get.offset);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, *(__u32 *)map);
	munmap(map, PAGE);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, get.offset + PAGE);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, *(__u32 *)map);
	munmap(map, PAGE);
	map = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, self->fd, get.offset + PAGE);
	EXPECT_EQ(MAP_FAILED, map);
}

TEST_F(gem_mmap, another_file_may_not_map)
{
	struct drm_i915_gem_mmap_offset get = { .flags = I915_MMAP_OFFSET_WB };
	struct gpu other;
	void *map;

	ASSERT_EQ(0, gpu_open(&other));
	get.handle = gem_create(self->fd, PAGE);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
	errno = 0;
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, other.fd, get.offset);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EACCES, errno);
	gpu_close(&other);
}

TEST_F(gem_mmap, mapping_outlives_its_handle_and_file)
{
	unsigned int k;

	for (k = 0; k < ARRAY_LEN(kinds); k++) {
		struct gpu other;
		__u32 *map;
		__u32 handle;

		ASSERT_EQ(0, gpu_open(&other));
		handle = gem_create(other.fd, 2 * PAGE);
		map = gem_map(other.fd, handle, 2 * PAGE, kinds[k]);
		ASSERT_NE(NULL, map);
		poke(&map[0], 42);
		ASSERT_EQ(0, gem_close(other.fd, handle));
		EXPECT_EQ(42, peek(&map[0]));
		/* a page that was never touched comes in now */
		poke(&map[1024], 43);
		gpu_close(&other);
		EXPECT_EQ(43, peek(&map[1024]));
		EXPECT_EQ(42, peek(&map[0]));
		munmap(map, 2 * PAGE);
	}
}

TEST_F(gem_mmap, offset_ends_with_the_handle)
{
	struct drm_i915_gem_mmap_offset get = { .flags = I915_MMAP_OFFSET_WB };
	void *map;

	get.handle = gem_create(self->fd, PAGE);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
	gem_close(self->fd, get.handle);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, get.offset);
	EXPECT_EQ(MAP_FAILED, map);
}

static sigjmp_buf no_page;

static void bus_error(int signal)
{
	(void)signal;
	siglongjmp(no_page, 1);
}

/* More than any machine has: a touch must not be tried again and again. */
TEST_F(gem_mmap, no_memory_will_ever_be_there)
{
	static const __u64 kinds[] = { I915_MMAP_OFFSET_GTT, I915_MMAP_OFFSET_WC,
				       I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_UC };
	/* static: they outlive the jump */
	static unsigned int i, errors;
	__u32 handle;

	if (!self->gpu.ouro)
		SKIP(return, "the upstream driver has other limits");
	handle = gem_create(self->fd, 1ull << 36);
	ASSERT_NE(0, handle);
	signal(SIGBUS, bus_error);
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		__u32 *map = gem_map(self->fd, handle, PAGE, kinds[i]);

		ASSERT_NE(NULL, map);
		if (sigsetjmp(no_page, 1))
			errors++;
		else
			peek(map);
	}
	EXPECT_EQ(4, errors);
}

TEST_F(gem_mmap, fork_shares_the_memory)
{
	__u32 handle = gem_create(self->fd, PAGE);
	__u32 *map = gem_map(self->fd, handle, PAGE, I915_MMAP_OFFSET_WB);
	int status;
	pid_t pid;

	ASSERT_NE(NULL, map);
	pid = fork();
	if (pid == 0) {
		poke(&map[7], 0xc0ffee);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0xc0ffee, peek(&map[7]));
}

/* Opens the memory of the process as a debugger does: /proc/<pid>/mem. */
static int open_memory(int how)
{
	return open("/proc/self/mem", how);
}

TEST_F(gem_mmap, a_debugger_reads_and_writes_mappings)
{
	static const __u64 ways[] = { I915_MMAP_OFFSET_GTT, I915_MMAP_OFFSET_WC,
				      I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_UC };
	int memory = open_memory(O_RDWR);
	unsigned int i;

	ASSERT_LE(0, memory);
	for (i = 0; i < ARRAY_LEN(ways); i++) {
		__u32 handle = gem_create(self->fd, 3 * PAGE), word;
		__u32 *map = gem_map(self->fd, handle, 3 * PAGE, ways[i]);
		__u64 both = 0x1111222233334444ull + i;

		ASSERT_NE(NULL, map);
		/* never touched: there is memory, and it is zero */
		ASSERT_EQ(4, pread(memory, &word, 4, U64(&map[5])));
		EXPECT_EQ(0, word);
		poke(&map[5], 0xabcd + i);
		ASSERT_EQ(4, pread(memory, &word, 4, U64(&map[5])));
		EXPECT_EQ(0xabcd + i, word);
		/* across pages */
		ASSERT_EQ(8, pwrite(memory, &both, 8, U64(&map[2 * 1024 - 1])));
		EXPECT_EQ((__u32)both, peek(&map[2 * 1024 - 1]));
		EXPECT_EQ(both >> 32, peek(&map[2 * 1024]));
		EXPECT_EQ((__u32)both, gem_read32(self->fd, handle, 2 * PAGE - 4));
		munmap(map, 3 * PAGE);
		EXPECT_EQ(-1, pread(memory, &word, 4, U64(&map[5])));
		gem_close(self->fd, handle);
	}
	close(memory);
}

TEST_F(gem_mmap, a_debugger_stays_within_the_mapping)
{
	struct drm_i915_gem_mmap_offset get = { .flags = I915_MMAP_OFFSET_WB };
	__u32 one[2] = { 1, 2 }, back[2] = { 7, 7 }, word = 0x77;
	int memory = open_memory(O_RDWR);
	char *map, *hole, *last;

	if (!self->gpu.ouro)
		SKIP(return, "the upstream driver takes the mapping for all of the object");
	ASSERT_LE(0, memory);
	get.handle = gem_create(self->fd, 4 * PAGE);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
	ASSERT_EQ(0, gem_write(self->fd, get.handle, 2 * PAGE - 4, one, 8));
	/* one page of the object, in front of one of nothing */
	hole = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, hole);
	map = mmap(hole, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, self->fd, get.offset + PAGE);
	ASSERT_EQ(hole, map);
	munmap(map + PAGE, PAGE);
	EXPECT_EQ(4, pread(memory, back, 8, U64(map + PAGE - 4)));
	EXPECT_EQ(1, back[0]);
	EXPECT_EQ(7, back[1]);
	EXPECT_EQ(-1, pread(memory, back, 4, U64(map + PAGE)));
	/* and all or nothing at the end of the object */
	last = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, get.offset + 3 * PAGE);
	ASSERT_NE(MAP_FAILED, last);
	EXPECT_EQ(4, pread(memory, back, 4, U64(last + PAGE - 4)));
	errno = 0;
	EXPECT_EQ(-1, pread(memory, back, 8, U64(last + PAGE - 4)));
	EXPECT_EQ(EIO, errno);
	munmap(last, PAGE);
	/* what may not be written is not written from outside either */
	EXPECT_EQ(-1, pwrite(memory, &word, 4, U64(map)));
	EXPECT_EQ(0, gem_read32(self->fd, get.handle, PAGE));
	munmap(map, PAGE);
	close(memory);
}

/* Who closes its file is gone, whatever it has mapped; what is mapped stays. */
TEST_F(gem_mmap, a_mapping_does_not_keep_its_file)
{
	struct drm_ouro_stats before, stats = {};
	__u32 *maps[2];
	struct gpu other;
	unsigned int i;

	if (!self->gpu.ouro)
		SKIP(return, "contexts are not counted: the driver has no DRM_IOCTL_OURO_STATS");
	ASSERT_EQ(0, stats_settled(self->fd, &before));
	ASSERT_EQ(0, gpu_open(&other));
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		maps[i] = gem_map(other.fd, gem_create(other.fd, 2 * PAGE), 2 * PAGE, kinds[i]);
		ASSERT_NE(NULL, maps[i]);
	}
	/* one has its memory already */
	poke(maps[0], 5);
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_OURO_STATS, &stats));
	EXPECT_EQ(before.contexts + 1, stats.contexts);
	gpu_close(&other);
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(0, stats_settled(self->fd, &stats));
		if (stats.contexts == before.contexts)
			break;
		usleep(10000);
	}
	EXPECT_EQ(before.contexts, stats.contexts);
	EXPECT_EQ(before.objects + 2, stats.objects);
	EXPECT_EQ(5, peek(maps[0]));
	EXPECT_EQ(0, peek(maps[1] + 1024));
	poke(maps[1] + 1024, 6);
	EXPECT_EQ(6, peek(maps[1] + 1024));
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		munmap(maps[i], 2 * PAGE);
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(0, stats_settled(self->fd, &stats));
		if (stats.objects == before.objects)
			break;
		usleep(10000);
	}
	EXPECT_EQ(before.objects, stats.objects);
}

/* Faults of this thread so far. */
static long faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_minflt + usage.ru_majflt;
}

/* All memory of an object comes at once; so its pages need no fault each. */
TEST_F(gem_mmap, one_fault_shows_many_pages)
{
	enum { PAGES = 1024, EACH = 16 };
	static const __u64 how[] = { I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_WC, I915_MMAP_OFFSET_UC,
				     I915_MMAP_OFFSET_GTT };
	unsigned int i, page;
	long before, after;

	for (i = 0; i < ARRAY_LEN(how); i++) {
		__u32 handle = gem_create(self->fd, PAGES * PAGE);
		__u32 *map = gem_map(self->fd, handle, PAGES * PAGE, how[i]);

		ASSERT_NE(NULL, map);
		before = faults();
		/* backwards, so that what is mapped is not what just follows */
		for (page = PAGES; page-- > 0;)
			poke(&map[page * PAGE / 4 + page], page + i);
		after = faults();
		EXPECT_GE(before + PAGES / EACH, after)
		{
			TH_LOG("mapping %u: %ld faults", i, after - before);
		}
		for (page = 0; page < PAGES; page += 37)
			EXPECT_EQ(page + i, peek(&map[page * PAGE / 4 + page]));
		munmap(map, PAGES * PAGE);
		/* the next one sees them in the pages that were touched, and nowhere else */
		map = gem_map(self->fd, handle, PAGES * PAGE, how[0]);
		ASSERT_NE(NULL, map);
		for (page = 0; page < PAGES; page += 37) {
			EXPECT_EQ(page + i, peek(&map[page * PAGE / 4 + page]));
			EXPECT_EQ(0, peek(&map[page * PAGE / 4 + (page + 1) % 1024]));
		}
		munmap(map, PAGES * PAGE);
		gem_close(self->fd, handle);
	}
}

TEST_HARNESS_MAIN

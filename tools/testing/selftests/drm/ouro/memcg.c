// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of objects is charged to the group of the process that touches it, ends at the group's
 * limit, and goes to swap (Documentation/admin-guide/cgroup-v2.rst, "Memory Interface Files").
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/swap.h>
#include <linux/fs.h>

#include "device.h"
#include "files.h"
#include "memory.h"
#define ANY_INTERFACE
#include "test.h"

#define MB 1048576ul
#define ROOT "/tmp/ouro-cgroup"
#define GROUP ROOT "/ouro-memcg"
/* RAM disks to swap to, of four megabytes each unless the kernel was told otherwise */
#define DISKS 12
#define MAX_FILLED (4 * MB)

FIXTURE(memcg)
{
	struct gpu gpu;
	int fd;
	/* bytes of swap that this test has turned on, and on how many disks */
	unsigned long swap;
	unsigned int disks;
	bool joined;
};

static int put(const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), GROUP "/%s", file);
	return file_write(path, text);
}

/* A number in a file of the group, by its name if there are several; or -1. */
static long long get(const char *file, const char *name)
{
	char path[128], text[8192], *at = text;

	snprintf(path, sizeof(path), GROUP "/%s", file);
	if (file_read(path, text, sizeof(text)) <= 0)
		return -1;
	if (name) {
		for (at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
			if (!strncmp(at, name, strlen(name)) && at[strlen(name)] == ' ')
				return atoll(at + strlen(name));
		return -1;
	}
	return atoll(text);
}

static long long charged(void)
{
	return get("memory.current", NULL);
}

/* Sets the limit of the group; 0: there is none. */
static bool limit(long long bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", bytes);
	return put("memory.max", bytes ? text : "max") > 0;
}

/* True if a number of the group falls to a limit soon: memory comes back late. */
static bool falls(const char *file, const char *name, long long limit)
{
	unsigned int i;

	for (i = 0; i < 3000 && get(file, name) > limit; i++)
		usleep(10000);
	return get(file, name) <= limit;
}

FIXTURE_SETUP(memcg)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!self->gpu.ouro)
		SKIP(return, "the upstream driver charges as it likes");
	/* what the debug kernel keeps beside each allocation is charged as well */
	if (!rounds("OURO_MEMCG", 1, 0))
		SKIP(return, "limits are told on the plain kernel only");
	mkdir(ROOT, 0755);
	if (access(ROOT "/cgroup.controllers", F_OK) &&
	    mount("cgroup2", ROOT, "cgroup2", 0, NULL))
		SKIP(return, "there is no cgroup2 that could be mounted");
	file_write(ROOT "/cgroup.subtree_control", "+memory");
	mkdir(GROUP, 0755);
	if (access(GROUP "/memory.current", F_OK))
		SKIP(return, "memory is charged to no groups here");
	ASSERT_LT(0, put("cgroup.procs", "0"));
	self->joined = true;
}

FIXTURE_TEARDOWN(memcg)
{
	char path[32];
	unsigned int i;

	for (i = 0; i < self->disks; i++) {
		snprintf(path, sizeof(path), "/dev/ram%u", i);
		swapoff(path);
	}
	gpu_close(&self->gpu);
	if (self->joined) {
		put("memory.max", "max");
		file_write(ROOT "/cgroup.procs", "0");
	}
	rmdir(GROUP);
}

/*
 * The header of swap space: signature at the end of the first page, after a kilobyte for boot
 * sectors the version and the last page (mkswap(8); swapon(2)).
 */
static int swap_to(const char *path, unsigned long *bytes)
{
	struct {
		char boot[1024];
		__u32 version, last_page, bad_pages;
		char more[PAGE - 1024 - 12 - 10];
		char signature[10];
	} header = { .version = 1 };
	int fd = open(path, O_RDWR), got = -1;
	__u64 size = 0;

	if (fd < 0)
		return -errno;
	memcpy(header.signature, "SWAPSPACE2", 10);
	if (!ioctl(fd, BLKGETSIZE64, &size) && size >= 16 * PAGE) {
		header.last_page = size / PAGE - 1;
		if (write(fd, &header, sizeof(header)) == sizeof(header) && !fsync(fd))
			got = 0;
	}
	close(fd);
	if (got || swapon(path, 0))
		return -errno;
	*bytes += size;
	return 0;
}

/* At least so much swap; false: it cannot be had. */
static bool swap_on(unsigned long want, unsigned long *bytes, unsigned int *disks)
{
	char path[32];

	for (; *disks < DISKS && *bytes < want; (*disks)++) {
		snprintf(path, sizeof(path), "/dev/ram%u", *disks);
		if (swap_to(path, bytes))
			break;
	}
	return *bytes >= want;
}

/*
 * An object with one word in each megabyte, or 0; *error says why. It is written whole: a write of
 * a part takes no more memory than that.
 */
static __u32 filled(int fd, unsigned long size, __u32 value, int *error)
{
	static char bytes[MAX_FILLED];
	__u32 handle = gem_create(fd, size);
	unsigned long at;

	for (at = 0; at < size; at += MB) {
		__u32 word = value + at / MB;

		memcpy(bytes + at + 8, &word, 4);
	}
	*error = handle ? gem_write(fd, handle, 0, bytes, size) : -ENOMEM;
	if (handle && *error) {
		gem_close(fd, handle);
		handle = 0;
	}
	return handle;
}

TEST_F(memcg, charged_to_who_touches_it)
{
	long long before = charged(), shmem = get("memory.stat", "shmem");
	__u32 handle = gem_create(self->fd, 8 * MB), value = 1;

	ASSERT_LE(0, before);
	/* an object has no memory before it is touched, and all of it once a batch has used it */
	EXPECT_LT(charged(), before + (long long)MB);
	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &value, 4));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 8, 2));
	EXPECT_GE(charged(), before + 8 * (long long)MB);
	EXPECT_TRUE(get("memory.stat", "shmem") >= shmem + 8 * (long long)MB);
	EXPECT_EQ(1, gem_read32(self->fd, handle, 0));
	EXPECT_EQ(2, gem_read32(self->fd, handle, 8));
	gem_close(self->fd, handle);
	EXPECT_TRUE(falls("memory.stat", "shmem", shmem))
	{
		TH_LOG("%lld bytes are left of %lld", get("memory.stat", "shmem"), shmem);
	}
}

/* A context's memory is charged even if it is never used: half a kilobyte, with all its limits. */
TEST_F(memcg, contexts_are_charged_to_who_makes_them)
{
	enum { CONTEXTS = 8192 };
	const long long before = get("memory.stat", "kernel");
	unsigned int i;

	if (!self->gpu.speaks->context)
		SKIP(return, "no contexts");
	ASSERT_LE(0, before);
	for (i = 0; i < CONTEXTS; i++)
		ASSERT_NE(0, context_create(self->fd));
	EXPECT_LE(before + CONTEXTS * 512ll, get("memory.stat", "kernel"))
	{
		TH_LOG("%lld bytes", get("memory.stat", "kernel") - before);
	}
}

/*
 * Limits end in the middle of an object, whose pages say so and go back. At the limit itself the
 * kernel's own small allocations would have the process killed, as everywhere.
 */
TEST_F(memcg, beyond_the_limit_there_is_none)
{
	enum { N = 20, ROOM = 12 };
	unsigned int n, i, round;
	__u32 handles[N];
	int error = 0;

	/* other tests' swap would make room */
	put("memory.swap.max", "0");
	for (round = 0; round < 3; round++) {
		ASSERT_TRUE(limit(charged() + (2 * ROOM + 1) * (long long)MB));
		for (n = 0; n < N; n++) {
			handles[n] = filled(self->fd, 2 * MB, 1000 * n, &error);
			if (!handles[n])
				break;
			if (n % 4 == 0)
				ASSERT_EQ(0, store(&self->gpu,
						   &self->gpu.engines[n % self->gpu.n_engines], 0,
						   handles[n], 16, n));
		}
		/* the call returns an error, and no process is killed */
		EXPECT_EQ(-ENOMEM, error)
		{
			TH_LOG("after %u objects: %s", n, strerror(-error));
		}
		EXPECT_EQ(0, get("memory.events", "oom_kill"));
		/* nearly all of it can be used */
		EXPECT_GE(n, ROOM - 1);
		EXPECT_LE(n, ROOM);
		for (i = 0; i < n; i++) {
			EXPECT_EQ(1000 * i, gem_read32(self->fd, handles[i], 8));
			gem_close(self->fd, handles[i]);
		}
		/* all of it comes back */
		EXPECT_TRUE(limit(0));
		EXPECT_TRUE(falls("memory.stat", "shmem", 0));
	}
}

/* Touches a word in each megabyte of 32: a few pages may come alone, but then all come together. */
static bool touch_32(__u32 *map)
{
	__u32 value;
	int i;

	for (i = 0; i < 32; i++)
		if (!touch(&map[i * (MB / 4)], true, &value) || value)
			return false;
	return true;
}

/* A mapping cannot answer ENOMEM: a touch ends with SIGBUS, and not never. */
TEST_F(memcg, a_touch_beyond_the_limit_ends)
{
	__u32 handle = gem_create(self->fd, 32 * MB);
	__u32 *map = gem_map(self->fd, handle, 32 * MB, I915_MMAP_OFFSET_WB);

	ASSERT_NE(NULL, map);
	put("memory.swap.max", "0");
	ASSERT_TRUE(limit(charged() + 16 * (long long)MB));
	EXPECT_FALSE(touch_32(map));
	EXPECT_EQ(0, get("memory.events", "oom_kill"));
	ASSERT_TRUE(limit(0));
	EXPECT_TRUE(touch_32(map));
	munmap(map, 32 * MB);
	gem_close(self->fd, handle);
}

/* More than the limit, if what is idle has room in swap. */
TEST_F(memcg, idle_objects_are_swapped_for_others)
{
	enum { N = 10, SIZE = 4 * MB };
	__u32 handles[N];
	unsigned int i;
	int error;

	if (!swap_on(N * (unsigned long)SIZE, &self->swap, &self->disks))
		SKIP(return, "no RAM disks of 40 MB together to swap to");
	put("memory.swap.max", "max");
	/* half an object more than five, so that half of one is free when one did not fit */
	ASSERT_TRUE(limit(charged() + 11ll * SIZE / 2));
	for (i = 0; i < N; i++) {
		handles[i] = filled(self->fd, SIZE, 77 * i, &error);
		ASSERT_NE(0, handles[i])
		{
			TH_LOG("object %u: %s", i, strerror(-error));
		}
		/* each has an address, too */
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines], 0,
				   handles[i], 4096, 3 * i));
	}
	EXPECT_GE(get("memory.swap.current", NULL), 3ll * SIZE);
	for (i = 0; i < N; i++) {
		EXPECT_EQ(77 * i + 3, gem_read32(self->fd, handles[i], 3 * MB + 8));
		EXPECT_EQ(3 * i, gem_read32(self->fd, handles[i], 4096));
		/* a batch brings it back, too */
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines], 0,
				   handles[(i + 5) % N], 8192, i));
	}
	EXPECT_EQ(0, get("memory.events", "oom_kill"));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(i, gem_read32(self->fd, handles[(i + 5) % N], 8192));
		gem_close(self->fd, handles[(i + 5) % N]);
	}
	EXPECT_TRUE(falls("memory.stat", "shmem", 0));
	EXPECT_TRUE(falls("memory.swap.current", NULL, 64 << 10))
	{
		TH_LOG("%lld bytes stay in swap", get("memory.swap.current", NULL));
	}
	ASSERT_TRUE(limit(0));
}

/* The shrinker releases idle objects while there is room in swap. */
TEST_F(memcg, the_shrinker_frees_idle_objects)
{
	enum { N = 8 };
	__u32 handles[N], busy = gem_create(self->fd, MB), value = 5;
	unsigned int i, round;
	struct spin spin;
	__s64 pages;
	int error;

	if (!has_spin(&self->gpu))
		SKIP(return, NO_SPIN);
	if (!swap_on(24 * MB, &self->swap, &self->disks))
		SKIP(return, "no RAM disks of 24 MB together to swap to");
	put("memory.swap.max", "max");
	hang_check(self->fd, false);
	ASSERT_EQ(0, gem_write(self->fd, busy, 0, &value, 4));
	for (i = 0; i < N; i++) {
		handles[i] = filled(self->fd, 2 * MB, 500 * i, &error);
		ASSERT_NE(0, handles[i]);
	}
	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, busy, NULL, &spin));
		pages = object_pages(self->fd);
		ASSERT_EQ(0, want_memory());
		/*
		 * What the GPU uses stays. So does what it has used, until it has run the flush
		 * that drops its translations, where only requests bring one.
		 */
		if (round == 0 || !self->gpu.backend->requests_flush)
			EXPECT_LE(object_pages(self->fd), pages - N * 2 * (__s64)(MB / PAGE));
		EXPECT_GE(object_pages(self->fd), (__s64)(MB / PAGE));
		spin_stop(&spin);
		ASSERT_EQ(0, gem_wait(self->fd, busy, -1));
		spin_free(&spin);
		/* pages that an engine has reached are released a little later */
		for (i = 0; i < 3000; i++) {
			/* one whose request was still being retired is found by the next shrink */
			if (i % 100 == 99)
				ASSERT_EQ(0, want_memory());
			put("memory.reclaim", "16M");
			if (get("memory.swap.current", NULL) >= 4 * (long long)MB)
				break;
			usleep(10000);
		}
		EXPECT_GE(get("memory.swap.current", NULL), 4 * (long long)MB);
		for (i = 0; i < N; i++) {
			EXPECT_EQ(500 * i, gem_read32(self->fd, handles[i], 8));
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handles[i],
					   MB + 8, 500 * i + 1));
			EXPECT_EQ(500 * i + 1, gem_read32(self->fd, handles[i], MB + 8));
		}
	}
	hang_check(self->fd, true);
	for (i = 0; i < N; i++)
		gem_close(self->fd, handles[i]);
	gem_close(self->fd, busy);
	EXPECT_TRUE(falls("memory.swap.current", NULL, 64 << 10));
	EXPECT_TRUE(falls("memory.stat", "shmem", 0));
}

TEST_HARNESS_MAIN

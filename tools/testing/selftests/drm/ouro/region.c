// SPDX-License-Identifier: GPL-2.0
/*
 * GEM_CREATE_EXT, and objects that live in more than one region of memory.
 *
 * The latter needs a device with memory of its own, or the module parameter
 * test_region_mb, which makes a region out of system memory.
 */
#include <fcntl.h>
#include <pthread.h>

#define ANY_I915
#include "test.h"
#include "places.h"

/* Objects, each an eighth of the region. */
#define COUNT 6

FIXTURE(region)
{
	struct gpu gpu;
	int fd;
	/* bytes of the first region of device memory, 0 without one */
	__u64 size;
};

FIXTURE_SETUP(region)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	self->size = local_region(self->fd).size;
	/* what others had there is on its way back */
	wait_used(self->fd, 0);
}

FIXTURE_TEARDOWN(region)
{
	gpu_close(&self->gpu);
}

/* A test that cannot run without device memory skips itself with this reason. */
#define NO_REGION "no device memory: test_region_mb is 0"

/* The same where only a card, or only what stands for one, is asked. */
#define HAS_REFUGE "a card's objects have system memory to go to"

TEST_F(region, create_without_extensions)
{
	struct drm_i915_gem_create_ext create = { .size = 5000 };

	GOOD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create);
	EXPECT_NE(0, create.handle);
	EXPECT_EQ(8192, create.size);
	EXPECT_EQ(0, gem_read32(self->fd, create.handle, 4096));
}

TEST_F(region, create_arguments)
{
	struct drm_i915_gem_memory_class_instance places[5] = { SYSTEM, SYSTEM };
	struct drm_i915_gem_create_ext_memory_regions regions = {
		.base.name = I915_GEM_CREATE_EXT_MEMORY_REGIONS,
		.num_regions = 1,
		.regions = U64(places),
	};
	struct drm_i915_gem_create_ext_protected_content content = {
		.base.name = I915_GEM_CREATE_EXT_PROTECTED_CONTENT,
	};
	struct drm_i915_gem_create_ext_set_pat pat = { .base.name = I915_GEM_CREATE_EXT_SET_PAT };
	struct drm_i915_gem_create_ext create = { .size = PAGE };

	create.extensions = U64(&regions);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create);

	create.flags = I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS;
	/* valid with device memory only */
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	create.flags = 2;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	create.flags = 0;

	create.size = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	create.size = PAGE;

	regions.num_regions = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	/* each must be unique */
	regions.num_regions = 2;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	regions.num_regions = 0xffffffff;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	regions.num_regions = 1;
	regions.pad = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	regions.pad = 0;
	places[0].memory_instance = 7;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	places[0].memory_instance = 0;
	places[0].memory_class = 9;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	places[0].memory_class = I915_MEMORY_CLASS_SYSTEM;
	regions.regions = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EFAULT);
	regions.regions = KERNEL_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EFAULT);
	regions.regions = U64(places);

	regions.base.flags = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	regions.base.flags = 0;
	regions.base.rsvd[3] = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	regions.base.rsvd[3] = 0;
	regions.base.name = 77;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	regions.base.name = I915_GEM_CREATE_EXT_MEMORY_REGIONS;
	/* a chain that comes back to its start names the regions twice */
	regions.base.next_extension = U64(&regions);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	regions.base.next_extension = 0;

	create.extensions = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EFAULT);
	create.extensions = U64(&content);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, ENODEV);
	content.flags = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, EINVAL);
	create.extensions = U64(&pat);
	if (self->gpu.ouro)
		BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create, ENODEV);
	create.extensions = U64(&regions);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create);
}

TEST_F(region, device_memory_is_refused_where_there_is_none)
{
	if (self->size)
		SKIP(return, "there is some");
	EXPECT_EQ(-EINVAL, create_local(self->fd, PAGE));
	EXPECT_EQ(-EINVAL, create_anywhere(self->fd, PAGE));
}

TEST_F(region, an_object_lives_in_device_memory)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u64 before = local_region(self->fd).used, size = 4 * PAGE;
	__u32 *map;
	int handle;

	if (!self->size)
		SKIP(return, NO_REGION);
	handle = place_object(self->fd, &size, &LOCAL, 1, 0);
	ASSERT_GT(handle, 0);
	/* no memory before the first touch */
	EXPECT_EQ(before, local_region(self->fd).used);
	map = gem_map(self->fd, handle, 4 * PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, peek(&map[1025]));
	/* a card's objects come there with a batch */
	if (is_card(&self->gpu))
		ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 8, 1));
	EXPECT_EQ(before + size, local_region(self->fd).used);

	poke(&map[1025], 0x11);
	EXPECT_EQ(0x11, gem_read32(self->fd, handle, 4100));
	ASSERT_EQ(0, gem_write(self->fd, handle, 4092, (__u32[]){ 0x22, 0x33 }, 8));
	EXPECT_EQ(0x22, peek(&map[1023]));
	EXPECT_EQ(0x33, peek(&map[1024]));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 3 * PAGE, 0x44));
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(0x44, peek(&map[3 * 1024]));
	munmap(map, 4 * PAGE);
	gem_close(self->fd, handle);
}

TEST_F(region, recycled_memory_is_zero)
{
	__u64 before = local_region(self->fd).used;
	unsigned int round, i;
	__u32 *map;
	int handle;

	if (!self->size)
		SKIP(return, NO_REGION);
	for (round = 0; round < 3; round++) {
		handle = create_local(self->fd, self->size / 2);
		ASSERT_GT(handle, 0);
		map = gem_map(self->fd, handle, self->size / 2, I915_MMAP_OFFSET_WC);
		ASSERT_NE(MAP_FAILED, map);
		for (i = 0; i < self->size / 8; i += 256) {
			ASSERT_EQ(0, peek(&map[i]));
			poke(&map[i], 0xdeadbeef);
		}
		munmap(map, self->size / 2);
		gem_close(self->fd, handle);
		EXPECT_TRUE(wait_used(self->fd, before));
	}
}

TEST_F(region, a_full_region_says_so)
{
	int one, two;

	if (!self->size)
		SKIP(return, NO_REGION);
	if (is_card(&self->gpu))
		SKIP(return, HAS_REFUGE);
	one = create_local(self->fd, self->size / 4 * 3);
	two = create_local(self->fd, self->size / 2);
	ASSERT_EQ(0, gem_write(self->fd, one, 0, &one, 4));
	/* it has nowhere to go, and the other one no choice */
	EXPECT_EQ(-ENOMEM, gem_write(self->fd, two, 0, &two, 4));
	EXPECT_EQ(-ENOMEM, store(&self->gpu, &self->gpu.engines[0], 0, two, 0, 1));
	EXPECT_EQ(one, gem_read32(self->fd, one, 0));
	gem_close(self->fd, one);
	EXPECT_EQ(0, gem_write(self->fd, two, 0, &two, 4));
	EXPECT_EQ(two, gem_read32(self->fd, two, 0));
	gem_close(self->fd, two);
}

TEST_F(region, objects_leave_a_full_region_with_their_contents)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u64 size = part(self->size, 8), before = local_region(self->fd).used;
	unsigned int i, round;
	__u32 *maps[COUNT];
	int handles[COUNT];

	if (!self->size)
		SKIP(return, NO_REGION);
	for (i = 0; i < COUNT; i++) {
		handles[i] = create_anywhere(self->fd, size);
		ASSERT_GT(handles[i], 0);
		maps[i] = gem_map(self->fd, handles[i], size, I915_MMAP_OFFSET_WB);
		ASSERT_NE(MAP_FAILED, maps[i]);
		poke(&maps[i][0], 1000 + i);
		poke(&maps[i][size / 4 - 1], 2000 + i);
		if (is_card(&self->gpu))
			ASSERT_EQ(0, store(&self->gpu, engine, 0, handles[i], 512, i));
	}
	EXPECT_EQ(before + COUNT * size, local_region(self->fd).used);
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, crowd(&self->gpu, self->size));
		EXPECT_TRUE(wait_used(self->fd, before));
		/* looked at where they are now, and written by the GPU, which brings them back */
		for (i = 0; i < COUNT; i++) {
			EXPECT_EQ(1000 + i, peek(&maps[i][0]));
			EXPECT_EQ(2000 + i, gem_read32(self->fd, handles[i], size - 4));
			ASSERT_EQ(0, store(&self->gpu, engine, 0, handles[i], 512,
					   3000 + 100 * round + i));
		}
		/* what the CPU does not see may leave again when it looks */
		EXPECT_TRUE(wait_used(self->fd, before + COUNT * size));
		for (i = 0; i < COUNT; i++)
			EXPECT_EQ(3000 + 100 * round + i, gem_read32(self->fd, handles[i], 512));
	}
	for (i = 0; i < COUNT; i++) {
		munmap(maps[i], size);
		gem_close(self->fd, handles[i]);
	}
}

/* What a thread needs of the fixture. */
struct region_data {
	const struct gpu *gpu;
	__u64 size;
};

struct look_later {
	__u32 *map;
	__u32 seen;
	bool done;
};

static void *look_thread(void *data)
{
	struct look_later *look = data;

	look->seen = peek(&look->map[16]);
	__atomic_store_n(&look->done, true, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Requests so far, of all clients and the kernel. */
static __u64 requests(int fd)
{
	struct drm_ouro_stats stats = {};

	call(fd, DRM_IOCTL_OURO_STATS, &stats);
	return stats.requests;
}

static void *crowd_thread(void *data)
{
	struct region_data *self = data;

	return (void *)(intptr_t)crowd(self->gpu, self->size);
}

TEST_F(region, a_busy_object_moves_when_it_is_idle)
{
	const struct engine *engine = &self->gpu.engines[0];
	struct region_data data = { &self->gpu, self->size };
	__u64 size = part(self->size, 2);
	struct look_later later = {};
	pthread_t looker, mover;
	struct spin spin;
	__u64 before;
	void *moved;
	int one;

	if (!self->size)
		SKIP(return, NO_REGION);
	one = create_anywhere(self->fd, size);
	later.map = gem_map(self->fd, one, size, I915_MMAP_OFFSET_WB);
	ASSERT_NE(MAP_FAILED, later.map);
	poke(&later.map[16], 0x1234);
	/* the way there is a request, too */
	ASSERT_EQ(0, store(&self->gpu, engine, 0, one, 0, 1));
	ASSERT_EQ(0, gem_wait(self->fd, one, -1));
	ASSERT_EQ(0, spin_start(&self->gpu, engine, 0, one, NULL, &spin));
	before = requests(self->fd);
	ASSERT_EQ(0, pthread_create(&mover, NULL, crowd_thread, &data));
	/* until the move is queued, behind the batch; on a card, what needs no room there runs */
	while (requests(self->fd) == before)
		usleep(1000);
	/* it is on its way: a touch waits until it has arrived; a card's object stays until then */
	ASSERT_EQ(0, pthread_create(&looker, NULL, look_thread, &later));
	usleep(50000);
	if (!is_card(&self->gpu))
		EXPECT_FALSE(__atomic_load_n(&later.done, __ATOMIC_SEQ_CST));
	spin_stop(&spin);
	ASSERT_EQ(0, pthread_join(looker, NULL));
	ASSERT_EQ(0, pthread_join(mover, &moved));
	EXPECT_EQ(0x1234, later.seen);
	EXPECT_EQ(0, (int)(intptr_t)moved);
	spin_free(&spin);
	munmap(later.map, size);
	gem_close(self->fd, one);
}

struct churn {
	__u32 *map;
	__u32 words;
	unsigned int wrong;
	bool stop;
};

static void *churn_thread(void *data)
{
	struct churn *churn = data;
	__u32 value = 1;

	while (!__atomic_load_n(&churn->stop, __ATOMIC_SEQ_CST)) {
		__u32 at = (value * 1031) % churn->words;

		poke(&churn->map[at], value);
		if (peek(&churn->map[at]) != value)
			churn->wrong++;
		value++;
	}
	return NULL;
}

TEST_F(region, user_space_writes_while_objects_move)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u64 size = part(self->size, 4);
	struct churn churn = { .words = size / 4 - 2 };
	pthread_t thread;
	unsigned int i;
	int handle;

	if (!self->size)
		SKIP(return, NO_REGION);
	handle = create_anywhere(self->fd, size);
	ASSERT_GT(handle, 0);
	churn.map = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_WB);
	ASSERT_NE(MAP_FAILED, churn.map);
	ASSERT_EQ(0, pthread_create(&thread, NULL, churn_thread, &churn));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, crowd(&self->gpu, self->size));
		/* brings it back */
		ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, size - 8, i));
		EXPECT_EQ(i, gem_read32(self->fd, handle, size - 8));
	}
	__atomic_store_n(&churn.stop, true, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, churn.wrong);
	munmap(churn.map, size);
	gem_close(self->fd, handle);
}

/* The aperture shows an object where it is now. */
TEST_F(region, the_aperture_follows_a_move)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u64 size = part(self->size, 4);
	__u32 *map, i;
	int handle;

	if (!self->size)
		SKIP(return, NO_REGION);
	handle = create_anywhere(self->fd, size);
	ASSERT_GT(handle, 0);
	map = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_GTT);
	if (!map || is_card(&self->gpu))
		SKIP(return, "the chip has no aperture that detiles");
	for (i = 1; i < 6; i++) {
		poke(&map[size / 4 - 1], i);
		poke(&map[0], ~i);
		ASSERT_EQ(0, crowd(&self->gpu, self->size));
		EXPECT_EQ(i, peek(&map[size / 4 - 1]));
		EXPECT_EQ(~i, peek(&map[0]));
		/* brings it back */
		ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 8, 100 + i));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(100 + i, peek(&map[2]));
		EXPECT_EQ(i, peek(&map[size / 4 - 1]));
	}
	munmap(map, size);
	gem_close(self->fd, handle);
}

/* An export that no other device has moves like any object, and what the dma-buf shows with it. */
TEST_F(region, the_map_of_a_dma_buf_follows_a_move)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u64 size = part(self->size, 4);
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	__u32 *map, i;
	int handle;

	if (!self->size)
		SKIP(return, NO_REGION);
	handle = create_anywhere(self->fd, size);
	ASSERT_GT(handle, 0);
	prime.handle = handle;
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	for (i = 1; i < 6; i++) {
		poke(&map[size / 4 - 1], i);
		poke(&map[0], ~i);
		ASSERT_EQ(0, crowd(&self->gpu, self->size));
		/* what is written now must be where the object is now */
		poke(&map[1], 50 + i);
		EXPECT_EQ(i, peek(&map[size / 4 - 1]));
		EXPECT_EQ(~i, gem_read32(self->fd, handle, 0));
		EXPECT_EQ(50 + i, gem_read32(self->fd, handle, 4));
		/* brings it back */
		ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 8, 100 + i));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(100 + i, peek(&map[2]));
		EXPECT_EQ(50 + i, peek(&map[1]));
	}
	munmap(map, size);
	close(prime.fd);
	gem_close(self->fd, handle);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers that two devices share. The other one is vgem, which has memory and
 * fences, and no GPU.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <drm/vgem_drm.h>

#include "card.h"
#include "device.h"
#define ANY_INTERFACE
#include "test.h"

#include "memory.h"
#include "places.h"

FIXTURE(prime)
{
	struct gpu gpu;
	int fd;
	int vgem;
};

/*
 * It stays loaded: a module with fences must not be removed while one of them is referenced, and
 * nothing in the kernel holds it.
 */
static bool load(const char *path)
{
	int module = open(path, O_RDONLY);
	bool loaded = module >= 0 && !syscall(SYS_finit_module, module, "", 0);

	if (module >= 0)
		close(module);
	return loaded;
}

FIXTURE_SETUP(prime)
{
	bool loaded;
	int i;

	self->vgem = open_card("vgem");
	if (self->vgem < 0) {
		/* what it needs may be there already */
		load("/lib/modules/drm_shmem_helper.ko");
		loaded = load("/lib/modules/vgem.ko");
		for (i = 0; i < 3000 && loaded && self->vgem < 0; i++) {
			usleep(10000);
			self->vgem = open_card("vgem");
		}
	}
	if (self->vgem < 0)
		SKIP(return, "there is no vgem");
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
}

FIXTURE_TEARDOWN(prime)
{
	if (self->fd > 0)
		gpu_close(&self->gpu);
	if (self->vgem >= 0)
		close(self->vgem);
}

struct buffer {
	__u32 handle;
	int fd;
	__u32 *map;
	__u64 size;
};

/* A buffer of vgem's, mapped and exported. */
static int buffer_make(int vgem, struct buffer *b, unsigned int pages)
{
	struct drm_mode_create_dumb create = { .width = 1024, .height = pages, .bpp = 32 };
	struct drm_mode_map_dumb map = {};
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	int got = call(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create);

	memset(b, 0, sizeof(*b));
	if (got)
		return got;
	b->handle = create.handle;
	b->size = create.size;
	map.handle = create.handle;
	prime.handle = create.handle;
	got = call(vgem, DRM_IOCTL_MODE_MAP_DUMB, &map);
	if (!got)
		got = call(vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	if (got)
		return got;
	b->fd = prime.fd;
	b->map = mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_SHARED, vgem, map.offset);
	return b->map == MAP_FAILED ? -errno : 0;
}

static void buffer_free(int vgem, struct buffer *b)
{
	munmap(b->map, b->size);
	gem_close(vgem, b->handle);
	close(b->fd);
}

static __u32 import(int fd, int buffer)
{
	struct drm_prime_handle prime = { .fd = buffer };

	cover("DRM_IOCTL_PRIME_FD_TO_HANDLE");
	return call(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime) ? 0 : prime.handle;
}

static int export(int fd, __u32 handle)
{
	struct drm_prime_handle prime = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };

	cover("DRM_IOCTL_PRIME_HANDLE_TO_FD");
	return call(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) ? -1 : prime.fd;
}

/* A fence of vgem's on one of its handles, or a negative errno. */
static int attach(int vgem, __u32 handle, bool write)
{
	struct drm_vgem_fence_attach arg = { .handle = handle,
					     .flags = write ? VGEM_FENCE_WRITE : 0 };
	int got = call(vgem, DRM_IOCTL_VGEM_FENCE_ATTACH, &arg);

	return got ? got : (int)arg.out_fence;
}

static int signal_fence(int vgem, int fence)
{
	struct drm_vgem_fence_signal arg = { .fence = fence };

	return call(vgem, DRM_IOCTL_VGEM_FENCE_SIGNAL, &arg);
}

TEST_F(prime, an_import_is_the_exporters_memory)
{
	struct drm_i915_gem_mmap legacy = { .size = PAGE };
	struct drm_i915_gem_set_domain set = { .read_domains = I915_GEM_DOMAIN_CPU,
					       .write_domain = I915_GEM_DOMAIN_CPU };
	struct buffer b;
	__u32 handle, value = 0x5ca1ab1e;
	const bool intel = self->gpu.speaks == &i915;
	__u32 *map;
	unsigned int e;

	ASSERT_EQ(0, buffer_make(self->vgem, &b, 3));
	poke(&b.map[0], 0x1111);
	handle = import(self->fd, b.fd);
	ASSERT_NE(0, handle);
	EXPECT_EQ(handle, import(self->fd, b.fd));
	EXPECT_EQ(0x1111, gem_read32(self->fd, handle, 0));
	EXPECT_EQ(0, gem_write(self->fd, handle, 2 * PAGE + 4, &value, 4));
	EXPECT_EQ(0x5ca1ab1e, peek(&b.map[2 * 1024 + 1]));
	EXPECT_EQ(-EINVAL, gem_write(self->fd, handle, 3 * PAGE, &value, 4));
	if (intel)
		EXPECT_EQ(-EFAULT,
			  gem_read(self->fd, handle, 0, (void *)(uintptr_t)BAD_POINTER, 4));
	for (e = 0; e < self->gpu.n_engines; e++) {
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[e], 0, handle, PAGE + 8 * e,
				   0x77 + e));
		EXPECT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(0x77 + e, peek(&b.map[1024 + 2 * e]));
	}
	set.handle = handle;
	if (intel)
		GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	/* the exporter maps it; the kernel's old way is for memory of our own */
	map = gem_map(self->fd, handle, 3 * PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	EXPECT_EQ(0x77, peek(&map[1024]));
	poke(&map[1025], 0x99);
	EXPECT_EQ(0x99, peek(&b.map[1025]));
	munmap(map, 3 * PAGE);
	legacy.handle = handle;
	if (intel)
		BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &legacy, ENXIO);
	/* memory that is asked for, is not the importer's to give */
	EXPECT_EQ(0, drop_pages(self->fd));
	EXPECT_EQ(0x77, gem_read32(self->fd, handle, PAGE));
	EXPECT_EQ(0, gem_close(self->fd, handle));
	EXPECT_EQ(0x99, peek(&b.map[1025]));
	buffer_free(self->vgem, &b);
}

/* The kernel writes addresses into it, though it is not ours. */
TEST_F(prime, a_batch_in_an_import)
{
	__u32 target = gem_create(self->fd, PAGE), handle;
	struct drm_i915_gem_execbuffer2 eb = {};
	struct batch batch;
	struct buffer b;
	__u32 own;

	if (self->gpu.speaks != &i915)
		SKIP(return, NO_I915);
	ASSERT_EQ(0, buffer_make(self->vgem, &b, 1));
	handle = import(self->fd, b.fd);
	ASSERT_NE(0, handle);
	batch_init(&batch);
	batch_store(&batch, store_for(&self->gpu, &self->gpu.engines[0], 4), target, 0, 0xba7c4);
	batch_end(&batch, self->gpu.backend);
	own = batch_finish(self->fd, &batch, &eb);
	memcpy(b.map, batch.words, batch.n * 4);
	batch.objects[batch.n_objects - 1].handle = handle;
	eb.flags = self->gpu.engines[0].ring;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(0xba7c4, gem_read32(self->fd, target, 0));
	gem_close(self->fd, own);
	buffer_free(self->vgem, &b);
}

TEST_F(prime, the_gpu_waits_for_the_exporter)
{
	unsigned int e;
	int write;

	for (e = 0; e < self->gpu.n_engines; e++) {
		for (write = 0; write < 2; write++) {
			struct buffer b;
			__u32 handle;
			int fence;

			ASSERT_EQ(0, buffer_make(self->vgem, &b, 1));
			handle = import(self->fd, b.fd);
			ASSERT_NE(0, handle);
			fence = attach(self->vgem, b.handle, write);
			ASSERT_LT(0, fence);
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[e], 0, handle, 0, 0xf00));
			EXPECT_EQ(-ETIME, gem_wait(self->fd, handle, 20000000));
			EXPECT_EQ(0, peek(&b.map[0]));
			EXPECT_EQ(0, signal_fence(self->vgem, fence));
			EXPECT_EQ(0, gem_wait(self->fd, handle, -1));
			EXPECT_EQ(0xf00, peek(&b.map[0]));
			gem_close(self->fd, handle);
			buffer_free(self->vgem, &b);
		}
	}
}

TEST_F(prime, the_exporter_sees_what_the_gpu_does)
{
	struct pollfd all = { .events = POLLOUT }, writers = { .events = POLLIN };
	struct buffer b;
	struct spin spin;
	__u32 handle;
	int fence;

	if (!has_spin(&self->gpu))
		SKIP(return, NO_SPIN);
	ASSERT_EQ(0, buffer_make(self->vgem, &b, 1));
	handle = import(self->fd, b.fd);
	ASSERT_NE(0, handle);
	all.fd = b.fd;
	writers.fd = b.fd;
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, handle, NULL, &spin));
	EXPECT_EQ(-EBUSY, attach(self->vgem, b.handle, false));
	EXPECT_EQ(-EBUSY, attach(self->vgem, b.handle, true));
	EXPECT_EQ(0, poll(&all, 1, 0));
	EXPECT_EQ(0, poll(&writers, 1, 0));
	spin_stop(&spin);
	EXPECT_EQ(1, poll(&all, 1, -1));
	EXPECT_EQ(1, poll(&writers, 1, -1));
	fence = attach(self->vgem, b.handle, true);
	EXPECT_LT(0, fence);
	EXPECT_EQ(0, signal_fence(self->vgem, fence));
	spin_free(&spin);
	buffer_free(self->vgem, &b);
}

/* Another device has the pages: they stay, also when memory is short. */
TEST_F(prime, an_export_stays_where_it_is)
{
	struct drm_i915_gem_madvise madvise = { .handle = gem_create(self->fd, 4 * PAGE),
						.madv = I915_MADV_DONTNEED };
	__u32 value = 0xfee1, handle = madvise.handle, theirs;
	int buffer = export(self->fd, handle), fence;
	const bool intel = self->gpu.speaks == &i915;
	struct spin spin;
	__u32 *map;

	ASSERT_LE(0, buffer);
	theirs = import(self->vgem, buffer);
	ASSERT_NE(0, theirs);
	EXPECT_EQ(handle, import(self->fd, buffer));
	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &value, 4));
	map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, buffer, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0xfee1, peek(&map[0]));
	if (intel)
		GOOD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &madvise);
	EXPECT_EQ(0, drop_pages(self->fd));
	want_memory();
	madvise.madv = I915_MADV_WILLNEED;
	if (intel) {
		GOOD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &madvise);
		EXPECT_EQ(1, madvise.retained);
	}
	EXPECT_EQ(0xfee1, peek(&map[0]));
	/* fences go both ways */
	fence = attach(self->vgem, theirs, true);
	ASSERT_LT(0, fence);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 8, 0xabc));
	EXPECT_EQ(-ETIME, gem_wait(self->fd, handle, 20000000));
	EXPECT_EQ(0, signal_fence(self->vgem, fence));
	EXPECT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(0xabc, peek(&map[2]));
	if (has_spin(&self->gpu)) {
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, handle, NULL, &spin));
		EXPECT_EQ(-EBUSY, attach(self->vgem, theirs, true));
		spin_stop(&spin);
		spin_free(&spin);
	}
	/* the other device keeps it alive, and lets it go */
	EXPECT_EQ(0, gem_close(self->fd, handle));
	close(buffer);
	EXPECT_EQ(0xabc, peek(&map[2]));
	EXPECT_EQ(0, gem_close(self->vgem, theirs));
	EXPECT_EQ(0xabc, peek(&map[2]));
	munmap(map, 4 * PAGE);
}

/*
 * What is in a card's memory leaves it for another device, which sees what the GPU has written
 * there; it stays away as long as that has it, and comes back with the next batch.
 */
TEST_F(prime, an_export_leaves_the_memory_of_a_card)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u64 before, size = 64 << 10;
	__u32 theirs, *map, *mine, i;
	int handle, buffer;

	if (self->gpu.speaks == &radeon || !local_region(self->fd).size)
		SKIP(return, "no memory of its own that i915 knows");
	ASSERT_TRUE(wait_used(self->fd, 0));
	handle = create_anywhere(self->fd, size);
	ASSERT_LT(0, handle);
	mine = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, mine);
	poke(&mine[16], 0x1234);
	ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 0, 0xfee1));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, size - 8, 0xfee2));
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	before = local_region(self->fd).used;
	EXPECT_EQ(size, before);
	buffer = export(self->fd, handle);
	ASSERT_LE(0, buffer);
	theirs = import(self->vgem, buffer);
	ASSERT_NE(0, theirs);
	EXPECT_TRUE(wait_used(self->fd, 0));
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer, 0);
	ASSERT_NE(MAP_FAILED, map);
	for (i = 1; i < 4; i++) {
		EXPECT_EQ(0xfee1, peek(&map[0]));
		EXPECT_EQ(0x1234, peek(&map[16]));
		EXPECT_EQ(0xfee2, peek(&map[size / 4 - 2]));
		poke(&map[32], i);
		ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 64 * 4, i));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(i, peek(&map[64]));
		EXPECT_EQ(i, peek(&mine[32]));
		EXPECT_EQ(0, local_region(self->fd).used);
	}
	EXPECT_EQ(0, gem_close(self->vgem, theirs));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 4, 0xfee3));
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(before, local_region(self->fd).used);
	EXPECT_EQ(0xfee3, peek(&map[1]));
	EXPECT_EQ(0xfee2, peek(&mine[size / 4 - 2]));
	munmap(map, size);
	munmap(mine, size);
	close(buffer);
	gem_close(self->fd, handle);
}

/* The export has no attachment: its pages may be moved, and the dma-buf shows what is there. */
TEST_F(prime, the_map_of_an_export_follows_its_pages)
{
	__u32 handle = gem_create(self->fd, 4 * PAGE), i;
	int buffer = export(self->fd, handle);
	__u32 *map;

	ASSERT_LE(0, buffer);
	map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, buffer, 0);
	ASSERT_NE(MAP_FAILED, map);
	for (i = 1; i < 5; i++) {
		poke(&map[0], i);
		ASSERT_EQ(0, drop_pages(self->fd));
		poke(&map[1], 10 + i);
		EXPECT_EQ(i, gem_read32(self->fd, handle, 0));
		EXPECT_EQ(10 + i, gem_read32(self->fd, handle, 4));
		ASSERT_EQ(0, drop_pages(self->fd));
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 8, 20 + i));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(20 + i, peek(&map[2]));
	}
	munmap(map, 4 * PAGE);
	close(buffer);
	gem_close(self->fd, handle);
}

TEST_F(prime, pages_go_when_the_other_device_is_done)
{
	__u32 value = 0xbeef, handle = gem_create(self->fd, 64 * PAGE), theirs;
	int buffer = export(self->fd, handle);
	__s64 pages;

	if (!self->gpu.ouro)
		SKIP(return, "there are no statistics");
	ASSERT_LE(0, buffer);
	theirs = import(self->vgem, buffer);
	ASSERT_NE(0, theirs);
	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &value, 4));
	ASSERT_EQ(0, drop_pages(self->fd));
	pages = object_pages(self->fd);
	EXPECT_LE(64, pages);
	EXPECT_EQ(0, gem_close(self->vgem, theirs));
	ASSERT_EQ(0, drop_pages(self->fd));
	EXPECT_GE(pages - 64, object_pages(self->fd));
	EXPECT_EQ(0xbeef, gem_read32(self->fd, handle, 0));
	close(buffer);
}

/* The importer dies with work that waits for the exporter. */
TEST_F(prime, a_client_dies_in_the_middle)
{
	struct drm_ouro_stats stats;
	struct buffer b;
	int fence, status, ready[2];
	char done = 0;
	pid_t pid;

	ASSERT_EQ(0, buffer_make(self->vgem, &b, 1));
	fence = attach(self->vgem, b.handle, true);
	ASSERT_LT(0, fence);
	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0) {
		struct gpu gpu;
		__u32 handle = 0;

		if (!gpu_open(&gpu))
			handle = import(gpu.fd, b.fd);
		done = handle && !store(&gpu, &gpu.engines[0], 0, handle, 0, 0xdead);
		if (write(ready[1], &done, 1) == 1)
			gem_wait(gpu.fd, handle, -1);
		_exit(1);
	}
	ASSERT_EQ(1, read(ready[0], &done, 1));
	EXPECT_EQ(1, done);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, signal_fence(self->vgem, fence));
	/* the buffer is whole, and nothing of the client is left */
	poke(&b.map[1], 3);
	EXPECT_EQ(3, peek(&b.map[1]));
	if (self->gpu.ouro) {
		EXPECT_EQ(0, stats_settled(self->fd, &stats));
		EXPECT_EQ(0, stats.objects);
	}
	buffer_free(self->vgem, &b);
	close(ready[0]);
	close(ready[1]);
}

TEST_F(prime, unbind_with_shared_buffers)
{
	struct buffer b;
	struct place place;
	__u32 value = 0x900d, mine, theirs, handle;
	int buffer, fence;
	__u32 *map;

	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours to unbind");
	ASSERT_EQ(0, device_of(self->fd, &place));
	ASSERT_EQ(0, buffer_make(self->vgem, &b, 2));
	handle = import(self->fd, b.fd);
	ASSERT_NE(0, handle);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 0, 0xcafe));
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	mine = gem_create(self->fd, 2 * PAGE);
	ASSERT_EQ(0, gem_write(self->fd, mine, 0, &value, 4));
	buffer = export(self->fd, mine);
	ASSERT_LE(0, buffer);
	theirs = import(self->vgem, buffer);
	ASSERT_NE(0, theirs);
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, buffer, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0x900d, peek(&map[0]));
	/* and one request that waits for the other device */
	fence = attach(self->vgem, b.handle, true);
	ASSERT_LT(0, fence);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 4, 1));

	EXPECT_EQ(0, device_unbind(&place));
	EXPECT_EQ(0xcafe, peek(&b.map[0]));
	EXPECT_EQ(0x900d, peek(&map[0]));
	EXPECT_EQ(0, signal_fence(self->vgem, fence));
	EXPECT_EQ(0, gem_close(self->vgem, theirs));
	munmap(map, 2 * PAGE);
	close(buffer);
	close(self->fd);
	EXPECT_EQ(0xcafe, peek(&b.map[0]));
	buffer_free(self->vgem, &b);
	ASSERT_EQ(0, device_bind(&place));
	/* for the teardown, and to see that it works */
	ASSERT_EQ(0, gpu_open(&self->gpu));
	self->fd = self->gpu.fd;
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, gem_create(self->fd, PAGE), 0, 1));
}

/* A batch that wants an import at another address than it has. */
struct elsewhere {
	const struct gpu *gpu;
	__u32 handle;
	__u64 address;
	__u32 entered;
	int got;
};

static void *use_elsewhere(void *argument)
{
	struct elsewhere *e = argument;
	struct batch batch;
	struct drm_i915_gem_exec_object2 *object;

	batch_init(&batch);
	object = batch_object(&batch, e->handle);
	object->flags |= EXEC_OBJECT_PINNED;
	object->offset = e->address;
	batch_end(&batch, e->gpu->backend);
	poke(&e->entered, 1);
	e->got = batch_run(e->gpu->fd, &batch, e->gpu->engines[0].ring, 0);
	return NULL;
}

/*
 * A batch waits for the other device until it can have the buffer elsewhere, and the card goes
 * meanwhile. What the exporter had made for the card went with it: the batch must not look at it.
 */
TEST_F(prime, unbind_while_an_import_is_to_move)
{
	struct elsewhere e = { .gpu = &self->gpu, .address = 256 << 20 };
	struct place place;
	struct buffer b;
	pthread_t thread;
	int fence, got;

	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours to unbind");
	if (self->gpu.speaks == &radeon)
		SKIP(return, "no addresses are chosen here");
	ASSERT_EQ(0, device_of(self->fd, &place));
	/* in many pieces, so that there is something to follow */
	ASSERT_EQ(0, buffer_make(self->vgem, &b, 64));
	e.handle = import(self->fd, b.fd);
	ASSERT_NE(0, e.handle);
	use_elsewhere(&e);
	ASSERT_EQ(0, e.got);
	ASSERT_EQ(0, gem_wait(self->fd, e.handle, -1));
	fence = attach(self->vgem, b.handle, true);
	ASSERT_LT(0, fence);
	e.address = 512 << 20;
	e.entered = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, use_elsewhere, &e));
	while (!peek(&e.entered))
		usleep(1000);
	usleep(200000);
	EXPECT_EQ(0, device_unbind(&place));
	/* by itself, vgem signals its fences after ten seconds */
	got = signal_fence(self->vgem, fence);
	EXPECT_TRUE(got == 0 || got == -ETIMEDOUT);
	pthread_join(thread, NULL);
	EXPECT_EQ(-ENODEV, e.got);
	close(self->fd);
	buffer_free(self->vgem, &b);
	ASSERT_EQ(0, device_bind(&place));
	/* for the teardown, and to see that it works */
	ASSERT_EQ(0, gpu_open(&self->gpu));
	self->fd = self->gpu.fd;
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, gem_create(self->fd, PAGE), 0, 1));
}

TEST_HARNESS_MAIN

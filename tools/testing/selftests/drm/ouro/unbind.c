// SPDX-License-Identifier: GPL-2.0
/* The device goes while files, mappings, exports, requests and waiters are left, and returns. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>

#define ANY_INTERFACE
#define MUTE_ENGINES
#include "test.h"
#include "device.h"
#include "memory.h"
#include "known.h"
#include "tiled.h"
#include "waiters.h"

FIXTURE(unbind)
{
	struct gpu gpu;
	struct place place;
	int fd;
	/* it was pulled out */
	bool removed;
};

FIXTURE_SETUP(unbind)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours to unbind: it has no DRM_IOCTL_OURO_DEVICE");
	ASSERT_EQ(0, device_of(self->fd, &self->place));
}

/* A store on each engine arrives. */
static void works(struct __test_metadata *_metadata, const struct gpu *gpu)
{
	__u32 handle = gem_create(gpu->fd, PAGE);
	unsigned int i;

	ASSERT_NE(0, handle);
	for (i = 0; i < gpu->n_engines; i++) {
		ASSERT_EQ(0, store(gpu, &gpu->engines[i], 0, handle, 8 * i, 0xbac0 + i));
		EXPECT_EQ(0xbac0 + i, gem_read32(gpu->fd, handle, 8 * i));
	}
	gem_close(gpu->fd, handle);
}

/* Whatever a test left: the device is bound afterwards, answers, and has nothing of before. */
FIXTURE_TEARDOWN(unbind)
{
	struct drm_ouro_stats stats;
	struct gpu again;
	unsigned int i;

	gpu_close(&self->gpu);
	if (!self->gpu.ouro)
		return;
	device_unbind(&self->place);
	ASSERT_EQ(0, self->removed ? model_put_back(&self->place) : device_bind(&self->place));
	ASSERT_EQ(0, device_open(&self->place, &again));
	works(_metadata, &again);
	/* frees that wait for a slow write of the GGTT: 10 s at most */
	for (i = 0; i < 500; i++) {
		ASSERT_EQ(0, stats_settled(again.fd, &stats));
		if (!stats.objects && !stats.object_pages)
			break;
	}
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.object_pages);
	gpu_close(&again);
}

/* Every ioctl of the driver's says so, whatever its argument. */
static void all_say_gone(struct __test_metadata *_metadata, const struct gpu *gpu)
{
	const bool intel = gpu->speaks == &i915;
	const struct known *list = intel ? known : known_radeon;
	unsigned int i;

	for (i = 0; i < (intel ? ARRAY_LEN(known) : ARRAY_LEN(known_radeon)); i++) {
		char argument[512] = {};

		cover(list[i].name);
		EXPECT_EQ(-ENODEV, call(gpu->fd, list[i].request, argument))
		{
			TH_LOG("%s", list[i].name);
		}
	}
}

TEST_F(unbind, every_ioctl_says_that_it_is_gone)
{
	struct drm_gem_close close = { .handle = gem_create(self->fd, PAGE) };
	struct drm_syncobj_create create = {};
	struct drm_prime_handle prime = { .handle = close.handle };

	ASSERT_NE(0, close.handle);
	ASSERT_EQ(0, device_unbind(&self->place));
	all_say_gone(_metadata, &self->gpu);
	BAD(self->fd, DRM_IOCTL_GEM_CLOSE, &close, ENODEV);
	BAD(self->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create, ENODEV);
	BAD(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime, ENODEV);
}

/* The old file stays what it is when the device is back. */
TEST_F(unbind, an_old_file_does_not_come_back)
{
	struct gpu again;

	ASSERT_EQ(0, device_unbind(&self->place));
	ASSERT_EQ(0, device_bind(&self->place));
	ASSERT_EQ(0, device_open(&self->place, &again));
	works(_metadata, &again);
	all_say_gone(_metadata, &self->gpu);
	works(_metadata, &again);
	gpu_close(&again);
}

static sigjmp_buf no_page;

static void bus_error(int signal)
{
	(void)signal;
	siglongjmp(no_page, 1);
}

/* Reads a word; -1 if its page is not there. */
static long long look(const __u32 *word)
{
	struct sigaction action = { .sa_handler = bus_error }, before;
	long long value;

	sigaction(SIGBUS, &action, &before);
	if (sigsetjmp(no_page, 1)) {
		sigaction(SIGBUS, &before, NULL);
		return -1;
	}
	value = peek(word);
	sigaction(SIGBUS, &before, NULL);
	return value;
}

TEST_F(unbind, mappings_stay)
{
	static const struct {
		const char *name;
		__u64 how;
	} kinds[] = {
		{ "WB", I915_MMAP_OFFSET_WB },
		{ "WC", I915_MMAP_OFFSET_WC },
		{ "UC", I915_MMAP_OFFSET_UC },
		/* its pages were the device's, and are the memory itself then */
		{ "GTT", I915_MMAP_OFFSET_GTT },
	};
	__u32 *seen[ARRAY_LEN(kinds)], *unseen[ARRAY_LEN(kinds)], *empty[ARRAY_LEN(kinds)];
	__u32 handles[ARRAY_LEN(kinds)];
	const __u32 value = 0x5eed0001;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		handles[i] = gem_create(self->fd, 4 * PAGE);
		ASSERT_EQ(0, gem_write(self->fd, handles[i], 0, &value, 4));
		ASSERT_EQ(0, gem_write(self->fd, handles[i], 3 * PAGE, &value, 4));
		if (self->gpu.speaks == &i915)
			cover("DRM_IOCTL_I915_GEM_MMAP_OFFSET");
		seen[i] = gem_map(self->fd, handles[i], 4 * PAGE, kinds[i].how);
		unseen[i] = gem_map(self->fd, handles[i], 4 * PAGE, kinds[i].how);
		empty[i] = gem_map(self->fd, gem_create(self->fd, PAGE), PAGE, kinds[i].how);
		ASSERT_TRUE(seen[i] && unseen[i] && empty[i]);
		ASSERT_EQ(value, look(seen[i]));
		poke(seen[i] + 1, value + 1);
	}
	/* its handle is gone, its mapping is not */
	gem_close(self->fd, handles[0]);
	ASSERT_EQ(0, device_unbind(&self->place));
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		long long first = look(seen[i]), later = look(seen[i] + 3 * PAGE / 4);
		long long other = look(unseen[i]);

		EXPECT_EQ(value, first)
		{
			TH_LOG("%s", kinds[i].name);
		}
		EXPECT_EQ(value, later)
		{
			TH_LOG("%s: a page that was untouched", kinds[i].name);
		}
		EXPECT_EQ(value, other);
		EXPECT_EQ(value + 1, look(unseen[i] + 1));
		/* an object that never had memory does not get any */
		EXPECT_EQ(-1, look(empty[i]));
		poke(seen[i], i);
		EXPECT_EQ(i, look(unseen[i]));
	}
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		munmap(seen[i], 4 * PAGE);
		munmap(empty[i], PAGE);
		/* unseen[i] goes with the process */
	}
}

/* Tiles are not undone any more; but what is there is the object's, and can be touched. */
TEST_F(unbind, tiles_stay)
{
	struct tiling t = { .mode = I915_TILING_Y, .stride = 512 };
	__u32 handle = gem_create(self->fd, 8 * PAGE), *seen, *wb;
	/* in the second column of 16 bytes */
	const __u64 at = 20;

	if (self->gpu.speaks != &i915)
		SKIP(return, NO_I915);
	ASSERT_EQ(0, tile(self->fd, handle, &t));
	seen = gem_map(self->fd, handle, 8 * PAGE, I915_MMAP_OFFSET_GTT);
	wb = gem_map(self->fd, handle, 8 * PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_TRUE(seen && wb);
	poke(&seen[at / 4], 0x711ed);
	ASSERT_EQ(0x711ed, look(&wb[tiled_offset(&t, at) / 4]));
	ASSERT_EQ(0, device_unbind(&self->place));
	EXPECT_EQ(0x711ed, look(&wb[tiled_offset(&t, at) / 4]));
	EXPECT_EQ(0x711ed, look(&seen[tiled_offset(&t, at) / 4]));
	poke(&seen[7 * PAGE / 4], 0x0ff);
	EXPECT_EQ(0x0ff, look(&wb[7 * PAGE / 4]));
}

/* A mapping that outlives its file, its device, and the next file. */
TEST_F(unbind, a_mapping_outlives_all)
{
	__u32 handle = gem_create(self->fd, PAGE), value = 0x11ee77;
	__u32 *map;
	struct gpu again;

	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &value, 4));
	map = gem_map(self->fd, handle, PAGE, I915_MMAP_OFFSET_WC);
	ASSERT_NE(NULL, map);
	/* by the write it need not have memory that can be mapped */
	ASSERT_EQ(value, look(map));
	gpu_close(&self->gpu);
	self->gpu.fd = -1;
	ASSERT_EQ(0, device_unbind(&self->place));
	EXPECT_EQ(value, look(map));
	ASSERT_EQ(0, device_bind(&self->place));
	ASSERT_EQ(0, device_open(&self->place, &again));
	works(_metadata, &again);
	EXPECT_EQ(value, look(map));
	munmap(map, PAGE);
	gpu_close(&again);
}

TEST_F(unbind, an_exported_buffer_stays)
{
	struct drm_prime_handle prime = { .handle = gem_create(self->fd, PAGE),
					  .flags = DRM_CLOEXEC | DRM_RDWR };
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_RW | DMA_BUF_SYNC_START };
	__u32 value = 0xdb0f, *map;
	struct pollfd ready;
	struct gpu again;

	ASSERT_EQ(0, gem_write(self->fd, prime.handle, 0, &value, 4));
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, prime.handle, 4, 0xdb10));
	ASSERT_EQ(0, device_unbind(&self->place));
	EXPECT_EQ(value, look(map));
	/* nothing is under way on it any more */
	ready = (struct pollfd){ .fd = prime.fd, .events = POLLIN | POLLOUT };
	EXPECT_EQ(1, poll(&ready, 1, 60000));
	EXPECT_EQ(0, call(prime.fd, DMA_BUF_IOCTL_SYNC, &sync));
	sync.flags = DMA_BUF_SYNC_RW | DMA_BUF_SYNC_END;
	EXPECT_EQ(0, call(prime.fd, DMA_BUF_IOCTL_SYNC, &sync));
	/* to the device that came back it is a stranger's, which it may take or refuse */
	ASSERT_EQ(0, device_bind(&self->place));
	ASSERT_EQ(0, device_open(&self->place, &again));
	prime.handle = 0;
	cover("DRM_IOCTL_PRIME_FD_TO_HANDLE");
	if (call(again.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime) == 0) {
		EXPECT_NE(0, prime.handle);
		EXPECT_EQ(0, gem_close(again.fd, prime.handle));
	}
	gpu_close(&again);
	EXPECT_EQ(value, look(map));
	munmap(map, PAGE);
	close(prime.fd);
}

static int status_now(int fence)
{
	struct sync_file_info info = {};

	return ioctl(fence, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

/* Work without end on an engine: where no commands can be that, the model hangs. */
static int endless_work(const struct gpu *gpu, const struct place *place,
			const struct engine *engine, __u32 context, __u32 extra, int *fence,
			struct spin *spin)
{
	int got;

	*fence = -1;
	if (has_spin(gpu))
		return spin_start(gpu, engine, context, extra, fence, spin);
	memset(spin, 0, sizeof(*spin));
	got = model_fault(place, FAULT_HANG | FAULT_ONCE);
	return got ? got : store(gpu, engine, context, extra, 0, 1);
}

/* Endless work on each engine, other work behind it, and every way to wait for it. */
static void in_flight(struct __test_metadata *_metadata, struct gpu *gpu,
		      const struct place *place, bool removed)
{
	int (*const ways[])(struct waiter *) = { by_wait,  by_read,    by_write,     by_domain,
						 by_fence, by_syncobj, by_relocation };
	static const char *const names[] = { "WAIT",	  "PREAD",   "PWRITE",	    "SET_DOMAIN",
					     "sync file", "syncobj", "EXECBUFFER2" };
	struct waiter waiters[ARRAY_LEN(ways)] = {};
	struct drm_syncobj_create create = {};
	struct drm_syncobj_handle import = {
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE
	};
	__u32 shared = gem_create(gpu->fd, PAGE);
	/* one that submissions have fences of: the last ways are i915's */
	const unsigned int n = gpu->speaks == &i915 ? ARRAY_LEN(ways) : 3;
	struct spin spins[8];
	int fences[8];
	unsigned int i, k;

	ASSERT_NE(0, shared);
	for (i = 0; i < gpu->n_engines; i++) {
		__u32 context = i ? context_create(gpu->fd) : 0;

		ASSERT_EQ(0, endless_work(gpu, place, &gpu->engines[i], context, i ? 0 : shared,
					  &fences[i], &spins[i]));
		/* in the ring behind it, and blocked on another engine's */
		ASSERT_EQ(0, store(gpu, &gpu->engines[i], 0, shared, 8, i));
	}
	ASSERT_EQ(0, call(gpu->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	import.handle = create.handle;
	import.fd = fences[0];
	if (fences[0] >= 0)
		ASSERT_EQ(0, call(gpu->fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import));
	for (i = 0; i < n; i++) {
		waiters[i] = (struct waiter){ .gpu = gpu,
					      .handle = i == 6 ? spins[0].handle : shared,
					      .syncobj = create.handle,
					      .fence = fences[0],
					      .wait = ways[i],
					      .name = names[i] };
		ASSERT_EQ(0, pthread_create(&waiters[i].thread, NULL, wait_in_thread, &waiters[i]));
	}
	for (i = 0; i < n; i++)
		while (!peek(&waiters[i].entered))
			usleep(1000);
	/* most of them are asleep by now; it must be right for those that are not, too */
	usleep(20000);
	if (removed)
		ASSERT_EQ(0, model_pull(place));
	ASSERT_EQ(0, device_unbind(place));
	for (i = 0; i < n; i++) {
		pthread_join(waiters[i].thread, NULL);
		EXPECT_TRUE(waiters[i].got == 0 || waiters[i].got == -ENODEV ||
			    waiters[i].got == -EIO)
		{
			TH_LOG("%s: %s", waiters[i].name, strerror(-waiters[i].got));
		}
	}
	for (k = 0; k < gpu->n_engines; k++) {
		int status = fences[k] < 0 ? -ENODEV : status_now(fences[k]);

		/* it never ended, and it says so */
		EXPECT_TRUE(status == -ENODEV || status == -EIO)
		{
			TH_LOG("%s: %d", gpu->engines[k].name, status);
		}
		close(fences[k]);
	}
	EXPECT_EQ(-ENODEV, gem_wait(gpu->fd, shared, -1));
}

TEST_F(unbind, work_in_flight_and_all_who_wait)
{
	if (!has_spin(&self->gpu) && model_is(&self->place))
		SKIP(return, "no model: it cannot be told to hang");
	in_flight(_metadata, &self->gpu, &self->place, false);
}

/* Surprise: everything of the card reads ones from some moment on. */
TEST_F(unbind, removed_with_work_in_flight)
{
	if (model_is(&self->place))
		SKIP(return, "no model: this card cannot be pulled");
	self->removed = true;
	in_flight(_metadata, &self->gpu, &self->place, true);
}

TEST_F(unbind, removed_while_idle)
{
	__u32 handle = gem_create(self->fd, PAGE), value = 0x1d1e;

	if (model_is(&self->place))
		SKIP(return, "no model: this card cannot be pulled");
	self->removed = true;
	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &value, 4));
	works(_metadata, &self->gpu);
	ASSERT_EQ(0, model_pull(&self->place));
	/* memory is memory */
	EXPECT_EQ(value, gem_read32(self->fd, handle, 0));
	ASSERT_EQ(0, device_unbind(&self->place));
	all_say_gone(_metadata, &self->gpu);
}

/* Threads that submit and open all the while. */
struct busy {
	const struct gpu *gpu;
	__u32 stop;
	unsigned int done, odd;
	unsigned int number;
	pthread_t thread;
};

static void *submit(void *argument)
{
	struct busy *b = argument;
	__u32 target = gem_create(b->gpu->fd, PAGE);
	unsigned int i;

	for (i = b->number; !peek(&b->stop); i++) {
		int got = store(b->gpu, &b->gpu->engines[i % b->gpu->n_engines], 0, target, 0, i);

		/* batch_run() says ENOMEM when there is no object for the batch */
		if (!got)
			__atomic_fetch_add(&b->done, 1, __ATOMIC_RELAXED);
		else if (got != -ENODEV && got != -ENOENT && got != -ENOMEM && got != -EIO)
			b->odd++;
		if (got)
			usleep(1000); /* the unbind needs a processor, too */
	}
	return NULL;
}

static void *come_and_go(void *argument)
{
	struct busy *b = argument;
	struct gpu gpu;
	unsigned int i;

	for (i = 0; !peek(&b->stop); i++) {
		if (gpu_open(&gpu) == 0) {
			if (store(&gpu, &gpu.engines[i % gpu.n_engines], 0,
				  gem_create(gpu.fd, PAGE), 0, i) == 0)
				b->done++;
		} else {
			usleep(1000);
		}
		gpu_close(&gpu);
	}
	return NULL;
}

TEST_F(unbind, while_others_submit)
{
	unsigned int times = rounds("OURO_UNBINDS", 6, 2), i, k, odd = 0, done = 0;
	struct gpu gpu;

	gpu_close(&self->gpu);
	self->gpu.fd = -1;
	for (i = 0; i < times; i++) {
		struct busy busy[4] = {};

		ASSERT_EQ(0, gpu_open(&gpu));
		for (k = 0; k < ARRAY_LEN(busy); k++) {
			busy[k].gpu = &gpu;
			busy[k].number = k;
			ASSERT_EQ(0, pthread_create(&busy[k].thread, NULL,
						    k == 3 ? come_and_go : submit, &busy[k]));
		}
		for (k = 0; k < 3; k++)
			while (!__atomic_load_n(&busy[k].done, __ATOMIC_RELAXED))
				usleep(1000);
		usleep(15000 + 7000 * i);
		EXPECT_EQ(0, device_unbind(&self->place));
		cover("unbind");
		usleep(5000);
		for (k = 0; k < ARRAY_LEN(busy); k++)
			poke(&busy[k].stop, 1);
		for (k = 0; k < ARRAY_LEN(busy); k++) {
			pthread_join(busy[k].thread, NULL);
			odd += busy[k].odd;
			done += busy[k].done;
		}
		gpu_close(&gpu);
		ASSERT_EQ(0, device_bind(&self->place));
	}
	EXPECT_EQ(0, odd);
	EXPECT_LE(3 * times, done);
	TH_LOG("%u times unbound, %u requests meanwhile", times, done);
}

/*
 * Memory is mapped for the device, and given back, all the while. One thread has so much of it
 * that it spends its time on that, and the removal nearly always comes in the middle.
 */
static void *map_and_free(void *argument)
{
	const unsigned int many = rounds("OURO_PAGES", 4096, 1024);
	struct busy *b = argument;
	unsigned int i, handle;

	for (i = 0; !peek(&b->stop); i++) {
		handle = gem_create(b->gpu->fd, (b->number ? 1 + i % 32 : many) * PAGE);
		if (!handle) {
			usleep(1000); /* the removal needs a processor, too */
			continue;
		}
		if (give_memory(b->gpu, handle) == 0)
			__atomic_fetch_add(&b->done, 1, __ATOMIC_RELAXED);
		gem_close(b->gpu->fd, handle);
		/* now and then all of it at once, by the end of a file */
		if (i % 8 == 7) {
			struct gpu gpu;

			if (gpu_open(&gpu) == 0) {
				handle = gem_create(gpu.fd, 8 * PAGE);
				give_memory(&gpu, handle);
			}
			gpu_close(&gpu);
		}
	}
	return NULL;
}

/*
 * Returns the number of errors that CONFIG_DMA_API_DEBUG has found so far; 0 if this kernel lacks
 * it.
 */
static unsigned int dma_errors(void)
{
	FILE *file = fopen("/sys/kernel/debug/dma-api/error_count", "r");
	unsigned int n = 0;

	if (file) {
		if (fscanf(file, "%u", &n) != 1)
			n = 0;
		fclose(file);
	}
	return n;
}

/*
 * The device leaves the bus while memory is mapped for it and given back. A kernel with
 * CONFIG_DMA_API_DEBUG counts it if anything is still mapped when the driver has gone.
 */
TEST_F(unbind, removed_while_others_map_and_free)
{
	unsigned int times = rounds("OURO_REMOVALS", 8, 2), i, k, done = 0;
	unsigned int errors = dma_errors();
	struct gpu gpu;

	gpu_close(&self->gpu);
	self->gpu.fd = -1;
	for (i = 0; i < times; i++) {
		struct busy busy[4] = {};

		ASSERT_EQ(0, gpu_open(&gpu));
		for (k = 0; k < ARRAY_LEN(busy); k++) {
			busy[k].gpu = &gpu;
			busy[k].number = k;
			ASSERT_EQ(0, pthread_create(&busy[k].thread, NULL, map_and_free, &busy[k]));
		}
		for (k = 0; k < ARRAY_LEN(busy); k++)
			while (!__atomic_load_n(&busy[k].done, __ATOMIC_RELAXED))
				usleep(1000);
		usleep(3000 * i);
		EXPECT_EQ(0, device_remove(&self->place));
		cover("remove");
		usleep(5000);
		for (k = 0; k < ARRAY_LEN(busy); k++)
			poke(&busy[k].stop, 1);
		for (k = 0; k < ARRAY_LEN(busy); k++) {
			pthread_join(busy[k].thread, NULL);
			done += busy[k].done;
		}
		gpu_close(&gpu);
		ASSERT_EQ(0, device_rescan(&self->place));
	}
	EXPECT_EQ(errors, dma_errors());
	EXPECT_LE(4 * times, done);
	TH_LOG("%u times removed, %u objects meanwhile", times, done);
}

TEST_HARNESS_MAIN

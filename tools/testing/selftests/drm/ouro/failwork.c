// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations fail in the kernel's workers, to which calls leave what ends late: to release
 * requests and what they held, to find engines that hang, to reset them, to keep their error state.
 * The n-th one of each worker fails, for one n after the other. No caller sees an error: what was
 * called is done, an engine that hangs is found, its context is to blame and no other; nothing is
 * left.
 *
 * Only those that run by no processor of their own fail, as ouro's do; others of the kernel that do
 * are hit as well.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#define ANY_I915
#include "test.h"
#include "failing.h"
#include "files.h"
#include "memory.h"

enum { WORKERS = 256 };

FIXTURE(failwork)
{
	struct gpu gpu;
	/* fail-nth of each worker that was armed, or -1 */
	int workers[WORKERS];
	unsigned int n_workers;
};

FIXTURE_SETUP(failwork)
{
	int got;

	gpu_setup(_metadata, &self->gpu);
	if (!self->gpu.ouro)
		SKIP(return, "what is left is not counted: the driver has no DRM_IOCTL_OURO_STATS");
	if (!has_spin(&self->gpu))
		SKIP(return, NO_SPIN);
	got = failing_prepare();
	if (got == -ENOENT)
		SKIP(return, "the kernel was built without fault injection");
	ASSERT_EQ(0, got);
}

FIXTURE_TEARDOWN(failwork)
{
	gpu_close(&self->gpu);
}

/* True for a worker of unbound queues, and for the rescuer of a queue of the driver. */
static bool is_worker(const char *name)
{
	return !strncmp(name, "kworker/u", 9) || strstr(name, "ouro");
}

/* The n-th allocation of each worker that there is fails, once. Returns how many there are. */
static unsigned int arm(int *workers, unsigned int n)
{
	DIR *tasks = opendir("/proc");
	unsigned int count = 0;
	struct dirent *task;
	char path[300], text[64];

	while (tasks && (task = readdir(tasks)) && count < WORKERS) {
		if (!isdigit(task->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", task->d_name);
		if (file_read(path, text, sizeof(text)) <= 0 || !is_worker(text))
			continue;
		/* this program's own name is not meant */
		snprintf(path, sizeof(path), "/proc/%s/exe", task->d_name);
		if (readlink(path, text, sizeof(text)) > 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/fail-nth", task->d_name);
		workers[count] = open(path, O_RDWR | O_CLOEXEC);
		if (workers[count] < 0)
			continue;
		snprintf(text, sizeof(text), "%u", n);
		if (pwrite(workers[count], text, strlen(text), 0) > 0)
			count++;
		else
			close(workers[count]);
	}
	if (tasks)
		closedir(tasks);
	return count;
}

/* None fails any more. Returns how many did: those that have counted to the end, and are there. */
static unsigned int disarm(int *workers, unsigned int n_workers)
{
	unsigned int i, failed = 0;
	char text[16];

	for (i = 0; i < n_workers; i++) {
		ssize_t got = pread(workers[i], text, sizeof(text) - 1, 0);

		text[got > 0 ? got : 0] = 0;
		failed += got > 0 && strtoul(text, NULL, 10) == 0;
		pwrite(workers[i], "0", 1, 0);
		close(workers[i]);
	}
	return failed;
}

/* The first error state is kept: room for the next one. */
static void forget_error(int fd)
{
	char path[128];
	struct stat st = {};

	fstat(fd, &st);
	snprintf(path, sizeof(path), "/sys/class/drm/card%u/error", minor(st.st_rdev) & 63);
	file_write(path, "x");
}

/* Work on all engines, of a file that is closed before it is over. */
static void leave_work(struct __test_metadata *_metadata)
{
	struct gpu other;
	unsigned int i, k;

	ASSERT_EQ(0, gpu_open(&other));
	for (k = 0; k < 4; k++) {
		__u32 context = context_create(other.fd);
		__u32 handle = gem_create(other.fd, 4 * PAGE);

		for (i = 0; i < other.n_engines; i++)
			ASSERT_EQ(0, store(&other, &other.engines[i], context, handle, 8 * i, k));
		context_destroy(other.fd, context);
		gem_close(other.fd, handle);
	}
	gpu_close(&other);
}

/* An engine that hangs, with others' work behind it. */
static void hang(struct __test_metadata *_metadata, const struct gpu *gpu, unsigned int at)
{
	const struct engine *engine = &gpu->engines[at % gpu->n_engines];
	struct drm_i915_reset_stats stats = {};
	__u32 target = gem_create(gpu->fd, PAGE);
	struct spin spin;
	struct gpu other;

	ASSERT_EQ(0, gpu_open(&other));
	ASSERT_EQ(0, device_hang_ms(&other, 500));
	stats.ctx_id = context_create(other.fd);
	ASSERT_EQ(0, spin_start(&other, engine, stats.ctx_id, 0, NULL, &spin));
	ASSERT_EQ(0, store(gpu, engine, 0, target, 0, 0xf00d));
	ASSERT_EQ(0, gem_wait(gpu->fd, target, -1));
	EXPECT_EQ(0xf00d, gem_read32(gpu->fd, target, 0));
	ASSERT_EQ(0, call(other.fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats));
	EXPECT_EQ(1, stats.batch_active);
	ASSERT_EQ(0, device_hang_ms(&other, HANG_MS_DEFAULT));
	munmap(spin.map, PAGE);
	gpu_close(&other);
	gem_close(gpu->fd, target);
	stats.ctx_id = 0;
	ASSERT_EQ(0, call(gpu->fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats));
	EXPECT_EQ(0, stats.batch_active);
}

/* Waits until no engine has the context of a file that is closed, and checks what is left. */
static void settle(struct __test_metadata *_metadata, const struct gpu *gpu,
		   struct drm_ouro_stats *stats)
{
	__u32 handle = gem_create(gpu->fd, PAGE);
	unsigned int i;

	for (i = 0; i < gpu->n_engines; i++) {
		ASSERT_EQ(0, store(gpu, &gpu->engines[i], 0, handle, 8 * i, i + 1));
		EXPECT_EQ(i + 1, gem_read32(gpu->fd, handle, 8 * i));
	}
	gem_close(gpu->fd, handle);
	/*
	 * A queue without a worker, whose allocation failed, waits for a tenth of a second, and the
	 * counts stay as they are meanwhile: first all requests complete, which the tick may find,
	 * then what they held is freed.
	 */
	ASSERT_EQ(0, stats_settled(gpu->fd, stats));
	ASSERT_EQ(0, wait_freed(gpu->fd));
	ASSERT_EQ(0, stats_settled(gpu->fd, stats));
}

/* Allocations of one worker that fail at most, and rounds with an engine that hangs. */
enum { MOST = 60, HANGS = 12, SECONDS = 12 };

TEST_F_TIMEOUT(failwork, each_one_of_the_workers, 1800)
{
	unsigned int n, failed, hangs = 0, total = 0, idle = 0;
	struct drm_ouro_stats before, after;
	struct timespec begin, now;

	/* caches of the kernel fill at the first time */
	leave_work(_metadata);
	hang(_metadata, &self->gpu, 0);
	settle(_metadata, &self->gpu, &before);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (n = 1; n <= MOST && idle < 3; n++) {
		forget_error(self->gpu.fd);
		self->n_workers = arm(self->workers, n);
		ASSERT_LT(0, self->n_workers);
		leave_work(_metadata);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (n <= HANGS && (n == 1 || now.tv_sec - begin.tv_sec < SECONDS)) {
			hang(_metadata, &self->gpu, n);
			hangs++;
		}
		settle(_metadata, &self->gpu, &after);
		failed = disarm(self->workers, self->n_workers);
		total += failed;
		/* some ends later than the calls: three rounds without one are the end */
		idle = failed ? 0 : idle + 1;
		EXPECT_EQ(before.objects, after.objects);
		EXPECT_EQ(before.object_pages, after.object_pages);
		EXPECT_EQ(before.contexts, after.contexts);
		EXPECT_EQ(before.fences, after.fences);
	}
	forget_error(self->gpu.fd);
	/* a kernel that fails none would pass all the above */
	EXPECT_LT(0, total);
	printf("# cover: allocations of workers failed: %u, %u of each at most, with %u hangs\n",
	       total, n - 1, hangs);
	fflush(stdout);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that wait in the kernel because the GPU is to use their memory: others do not wait with
 * them, and they do not wait without a limit.
 */
#include <signal.h>
#include <sys/wait.h>

#define TOPIC userptr_waits
#define ANY_I915
#include "test.h"
#include "sw_sync.h"

static int make(int fd, const void *memory, __u64 size, __u32 flags, __u32 *handle)
{
	struct drm_i915_gem_userptr arg = { .user_ptr = U64(memory),
					    .user_size = size,
					    .flags = flags };
	int got = call(fd, DRM_IOCTL_I915_GEM_USERPTR, &arg);

	cover("DRM_IOCTL_I915_GEM_USERPTR");
	*handle = got ? 0 : arg.handle;
	return got;
}

static void *memory_at(void *address, __u64 size)
{
	void *map = mmap(address, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0), -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

static int gpu_store(const struct gpu *gpu, unsigned int i, __u32 handle, __u32 offset, __u32 value)
{
	return store(gpu, &gpu->engines[i % gpu->n_engines], 0, handle, offset, value);
}

/* Stores to the object when the fence is signalled, and does not wait for that. */
static int store_behind(const struct gpu *gpu, __u32 handle, int fence)
{
	const struct engine *engine = &gpu->engines[0];
	struct drm_i915_gem_execbuffer2 eb = { 0 };
	static struct batch b;
	__u32 batch;
	int got;

	batch_init(&b);
	batch_store(&b, store_for(gpu, engine, 4), handle, 0, 1);
	batch_end(&b, gpu->backend);
	batch = batch_finish(gpu->fd, &b, &eb);
	eb.flags = engine->ring | I915_EXEC_FENCE_IN;
	eb.rsvd2 = fence;
	got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	gem_close(gpu->fd, batch);
	return got;
}

/* The memory objects of a child that unmaps one of them while the GPU is to use it. */
enum { IDLE = 16 };
struct child {
	__u32 busy, idle[IDLE];
};

/* That child. Its waiting blocks all mmap() of a process, and so it is not the test's. */
static void use_and_unmap(const struct gpu *gpu, int fence, int out)
{
	char *memory = memory_at(NULL, IDLE * PAGE);
	void *last = memory_at(NULL, PAGE);
	struct child c = {};
	unsigned int i;
	int got = 0;

	for (i = 0; i < IDLE && !got; i++) {
		got = make(gpu->fd, memory + i * PAGE, PAGE, 0, &c.idle[i]);
		if (!got)
			got = gpu_store(gpu, 0, c.idle[i], 0, 1);
		if (!got)
			got = gem_wait(gpu->fd, c.idle[i], -1);
	}
	if (!got)
		got = make(gpu->fd, last, PAGE, 0, &c.busy);
	if (!got)
		got = store_behind(gpu, c.busy, fence);
	if (!got && write(out, &c, sizeof(c)) == sizeof(c))
		munmap(last, PAGE);
	_exit(0);
}

/*
 * A process that waits for the GPU may take as long as it likes, and with it the end of its other
 * ranges. Objects of other clients, and what else ends late, do not wait for that.
 */
TEST_F(userptr_waits, others_do_not_wait_for_a_process)
{
	enum { PAGES = 256, LOOKS = 1000 };
	struct drm_ouro_stats stats = {};
	int timeline, fence, ready[2];
	__u32 handle, target;
	struct gpu other;
	struct child c;
	unsigned int i;
	__u64 before;
	pid_t child;

	if (!self->gpu.ouro)
		SKIP(return, "only ouro has DRM_IOCTL_OURO_STATS");
	timeline = sw_timeline();
	if (timeline < 0)
		SKIP(return, "no foreign fences (CONFIG_SW_SYNC)");
	fence = sw_fence(timeline);
	ASSERT_LE(0, fence);
	ASSERT_EQ(0, gpu_open(&other));
	handle = gem_create(other.fd, PAGES * PAGE);
	ASSERT_EQ(0, store(&other, &other.engines[0], 0, handle, 0, 1));
	ASSERT_EQ(0, gem_wait(other.fd, handle, -1));
	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		use_and_unmap(&self->gpu, fence, ready[1]);
	close(ready[1]);
	ASSERT_EQ(sizeof(c), read(ready[0], &c, sizeof(c)));
	usleep(200000);
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	for (i = 0; i < IDLE; i++)
		EXPECT_EQ(0, gem_close(self->fd, c.idle[i]));

	cover("DRM_IOCTL_GEM_CLOSE");
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_OURO_STATS, &stats));
	before = stats.object_pages;
	ASSERT_EQ(0, gem_close(other.fd, handle));
	for (i = 0; i < LOOKS; i++) {
		memset(&stats, 0, sizeof(stats));
		ASSERT_EQ(0, call(self->fd, DRM_IOCTL_OURO_STATS, &stats));
		if (stats.object_pages + PAGES <= before)
			break;
		usleep(5000);
	}
	EXPECT_GE(before, stats.object_pages + PAGES);
	target = gem_create(other.fd, PAGE);
	EXPECT_EQ(0, store(&other, &other.engines[0], 0, target, 0, 0x0e));
	EXPECT_EQ(0, gem_wait(other.fd, target, -1));
	EXPECT_EQ(0x0e, gem_read32(other.fd, target, 0));
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));

	EXPECT_EQ(0, sw_signal(timeline));
	EXPECT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_EQ(0, gem_close(self->fd, c.busy));
	gpu_close(&other);
	close(ready[0]);
	close(fence);
	close(timeline);
}

/* A process ends while the hang check is off: its batch without end has a limit then, too. */
TEST_F(userptr_waits, a_process_ends_while_hangs_are_not_looked_for)
{
	enum { LOOKS = 1200, UNTIL_HANG = 600 };
	unsigned int i, ended = 0;
	int ready[2];
	char done = 0;
	pid_t pid;

	if (!self->gpu.ouro)
		SKIP(return, "another driver may wait for as long as the batch likes");
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 0));
	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0) {
		struct spin spin;
		struct gpu gpu;
		__u32 handle;

		done = !gpu_open(&gpu) &&
		       !make(gpu.fd, memory_at(NULL, 4 * PAGE), 4 * PAGE, 0, &handle) &&
		       !spin_start(&gpu, &gpu.engines[0], 0, 0, NULL, &spin) &&
		       !gpu_store(&gpu, 0, handle, 0, 1);
		if (write(ready[1], &done, 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(1, read(ready[0], &done, 1));
	EXPECT_EQ(1, done);
	kill(pid, SIGKILL);
	for (i = 0; i < LOOKS && !ended; i++) {
		ended = waitpid(pid, NULL, WNOHANG) == pid;
		usleep(50000);
		/* for the tests that come next */
		if (i == UNTIL_HANG)
			device_limits(&self->gpu, HANG_MS_DEFAULT);
	}
	EXPECT_EQ(1, ended);
	EXPECT_GT(UNTIL_HANG, i);
	ASSERT_EQ(0, device_limits(&self->gpu, HANG_MS_DEFAULT));
	ASSERT_EQ(0, gpu_store(&self->gpu, 0, gem_create(self->fd, PAGE), 0, 1));
	close(ready[0]);
	close(ready[1]);
}

TEST_HARNESS_MAIN

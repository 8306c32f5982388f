// SPDX-License-Identifier: GPL-2.0
/*
 * A client with very many contexts is killed. They end with it, and are not
 * waited for one by one: how long that took is printed, not judged. What the
 * driver says is the event: tests wait until its count of contexts is what it
 * was.
 */
#define TOPIC leaving
#define ANY_I915
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "test.h"

/*
 * Contexts that never ran anything, and such as have; the memory of a card has
 * room for fewer of these.
 */
#define IDLE_CONTEXTS rounds("OURO_CONTEXTS", 40000, 600)
#define USED_CONTEXTS (IDLE_CONTEXTS / 16)
#define USED_ON_CARDS 200u

static __u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* Contexts that are alive, of all clients. */
static __u64 alive(int fd)
{
	struct drm_ouro_stats stats = {};

	return call(fd, DRM_IOCTL_OURO_STATS, &stats) ? ~0ull : stats.contexts;
}

/* The same count once it has been stable for 200 ms. */
static __u64 settled(int fd)
{
	unsigned int calm = 0;
	__u64 count = alive(fd);

	while (calm < 10) {
		__u64 now;

		usleep(20000);
		now = alive(fd);
		calm = now == count ? calm + 1 : 0;
		count = now;
	}
	return count;
}

/* A client of its own makes so many, lets each of them run an empty batch or not, and says so. */
static void be_client(unsigned int count, bool run, int tell)
{
	struct drm_i915_gem_exec_object2 object = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object), .buffer_count = 1 };
	struct gpu gpu;
	unsigned int i;
	__u8 good = 0;

	/* not longer than who waits for it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (gpu_open(&gpu))
		_exit(1);
	object.handle = gem_create(gpu.fd, PAGE);
	gem_write(gpu.fd, object.handle, 0, &gpu.backend->batch_end, 4);
	eb.flags = gpu.engines[0].ring;
	for (i = 0; i < count; i++) {
		eb.rsvd1 = context_create(gpu.fd);
		if (!eb.rsvd1)
			break;
		if (run && call(gpu.fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb))
			break;
	}
	good = i == count;
	if (write(tell, &good, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/*
 * Each engine runs an empty batch of a context that stays: until another one comes, an engine keeps
 * the context that it ran last, also if that has been closed.
 */
static void take_engines(struct __test_metadata *_metadata, const struct gpu *gpu)
{
	struct drm_i915_gem_exec_object2 object = { .handle = gem_create(gpu->fd, PAGE) };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object), .buffer_count = 1 };
	unsigned int i;

	ASSERT_EQ(0, gem_write(gpu->fd, object.handle, 0, &gpu->backend->batch_end, 4));
	for (i = 0; i < gpu->n_engines; i++) {
		eb.flags = gpu->engines[i].ring;
		ASSERT_EQ(0, call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb));
	}
	ASSERT_EQ(0, gem_wait(gpu->fd, object.handle, -1));
	gem_close(gpu->fd, object.handle);
}

static void leave(struct __test_metadata *_metadata, const struct gpu *gpu, unsigned int count,
		  bool run)
{
	__u64 before, killed, closed, gone;
	int fd = gpu->fd, tell[2], status;
	__u8 good = 0;
	pid_t child;

	take_engines(_metadata, gpu);
	before = settled(fd);
	ASSERT_EQ(0, pipe(tell));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		be_client(count, run, tell[1]);
	close(tell[1]);
	ASSERT_EQ(1, read(tell[0], &good, 1));
	close(tell[0]);
	EXPECT_EQ(1, good);
	EXPECT_LE(before + count, alive(fd));
	killed = now_ms();
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	closed = now_ms();
	take_engines(_metadata, gpu);
	while (alive(fd) > before)
		usleep(1000);
	gone = now_ms();
	EXPECT_EQ(before, alive(fd));
	printf("# leaving: %u contexts%s: client gone after %llu ms, contexts after %llu ms\n",
	       count, run ? " that have run" : "", (unsigned long long)(closed - killed),
	       (unsigned long long)(gone - killed));
}

TEST_F(leaving, contexts_that_never_ran)
{
	if (!self->gpu.ouro)
		SKIP(return, "the upstream driver does not count contexts");
	leave(_metadata, &self->gpu, IDLE_CONTEXTS, false);
}

TEST_F(leaving, contexts_that_have_run)
{
	unsigned int count = USED_CONTEXTS;

	if (!self->gpu.ouro)
		SKIP(return, "the upstream driver does not count contexts");
	if (self->gpu.speaks != &i915 && count > USED_ON_CARDS)
		count = USED_ON_CARDS;
	leave(_metadata, &self->gpu, count, true);
}

TEST_HARNESS_MAIN

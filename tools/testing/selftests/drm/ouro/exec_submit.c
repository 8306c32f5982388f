// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GEM_EXECBUFFER2: when a request is taken and when it begins.
 * I915_EXEC_FENCE_SUBMIT, and what happens when too many requests wait.
 */
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define ANY_I915
#include "test.h"
#include "files.h"

FIXTURE(exec_submit)
{
	struct gpu gpu;
	int fd;
};

FIXTURE_SETUP(exec_submit)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	/* batches spin here until much has been queued behind them */
	hang_check(self->fd, false);
}

FIXTURE_TEARDOWN(exec_submit)
{
	hang_check(self->fd, true);
	gpu_close(&self->gpu);
}

/* More than a ring holds, and than a timeline may have: see uapi.rst. */
#define MANY 2000
#define OF_TIMELINE 512

static bool fence_done(int fence, int timeout)
{
	struct pollfd p = { .fd = fence, .events = POLLIN };

	return poll(&p, 1, timeout) == 1;
}

/* A store with a fence before it and one after it. 0 or a negative errno. */
static int store_after(const struct gpu *gpu, const struct engine *engine, __u32 target,
		       __u32 value, int before, __u64 flags, int *after)
{
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	__u32 handle;
	int got;

	batch_init(&b);
	batch_store(&b, store_for(gpu, engine, 4), target, 0, value);
	batch_end(&b, gpu->backend);
	/* implicit order is not what is tested */
	batch_object(&b, target)->flags |= EXEC_OBJECT_ASYNC;
	handle = batch_finish(gpu->fd, &b, &eb);
	eb.flags = engine->ring | flags | (after ? I915_EXEC_FENCE_OUT : 0);
	eb.rsvd2 = before;
	got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	if (!got && after)
		*after = eb.rsvd2 >> 32;
	gem_close(gpu->fd, handle);
	return got;
}

/* The n-th engine that can store, round. */
static const struct engine *storing(const struct gpu *gpu, unsigned int n)
{
	for (;; n++) {
		const struct engine *engine = &gpu->engines[n % gpu->n_engines];

		if (store_for(gpu, engine, 4))
			return engine;
	}
}

TEST_F(exec_submit, begins_when_the_other_has_begun)
{
	__u32 target = gem_create(self->fd, PAGE);
	int running = -1, done = -1;
	struct spin spin;

	if (getparam(self->fd, I915_PARAM_HAS_EXEC_SUBMIT_FENCE) != 1)
		SKIP(return, "no I915_EXEC_FENCE_SUBMIT here");
	if (self->gpu.n_engines < 2)
		SKIP(return, "one ring: nothing ends before what began before it");
	ASSERT_EQ(0, spin_start(&self->gpu, storing(&self->gpu, 0), 0, 0, &running, &spin));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	ASSERT_EQ(0, store_after(&self->gpu, storing(&self->gpu, 1), target, 0x51, running,
				 I915_EXEC_FENCE_SUBMIT, &done));
	/* the other one has begun, and has not ended */
	EXPECT_TRUE(fence_done(done, 60000));
	EXPECT_FALSE(fence_done(running, 0));
	spin_stop(&spin);
	EXPECT_TRUE(fence_done(running, 60000));
	EXPECT_EQ(0x51, gem_read32(self->fd, target, 0));
	close(running);
	close(done);
	spin_free(&spin);
}

TEST_F(exec_submit, not_before_the_other_has_begun)
{
	__u32 a = gem_create(self->fd, PAGE), b = gem_create(self->fd, PAGE);
	int running = -1, lead = -1, done = -1;
	struct spin spin;

	if (getparam(self->fd, I915_PARAM_HAS_EXEC_SUBMIT_FENCE) != 1)
		SKIP(return, "no I915_EXEC_FENCE_SUBMIT here");
	/* the second waits until the first is done, the third until the second has begun */
	ASSERT_EQ(0, spin_start(&self->gpu, storing(&self->gpu, 0), 0, 0, &running, &spin));
	ASSERT_EQ(0, store_after(&self->gpu, storing(&self->gpu, 1), a, 0x61, running,
				 I915_EXEC_FENCE_IN, &lead));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	ASSERT_EQ(0, store_after(&self->gpu, storing(&self->gpu, 1), b, 0x62, lead,
				 I915_EXEC_FENCE_SUBMIT, &done));
	EXPECT_FALSE(fence_done(done, 100));
	EXPECT_NE(0, gem_busy(self->fd, a));
	spin_stop(&spin);
	EXPECT_TRUE(fence_done(done, 60000));
	EXPECT_EQ(0x61, gem_read32(self->fd, a, 0));
	EXPECT_EQ(0x62, gem_read32(self->fd, b, 0));
	close(running);
	close(lead);
	close(done);
	spin_free(&spin);
}

/* Each begins when the one before it has: all at once, however many. */
TEST_F(exec_submit, a_long_chain)
{
	__u32 target = gem_create(self->fd, PAGE);
	int running = -1, last, next;
	struct spin spin;
	unsigned int i;

	if (getparam(self->fd, I915_PARAM_HAS_EXEC_SUBMIT_FENCE) != 1)
		SKIP(return, "no I915_EXEC_FENCE_SUBMIT here");
	ASSERT_EQ(0, spin_start(&self->gpu, storing(&self->gpu, 0), 0, 0, &running, &spin));
	ASSERT_EQ(0, store_after(&self->gpu, storing(&self->gpu, 1), target, 1, running,
				 I915_EXEC_FENCE_IN, &last));
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, store_after(&self->gpu, storing(&self->gpu, i & 1), target, i, last,
					 I915_EXEC_FENCE_SUBMIT, &next));
		close(last);
		last = next;
	}
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	EXPECT_FALSE(fence_done(last, 0));
	spin_stop(&spin);
	EXPECT_TRUE(fence_done(last, 60000));
	EXPECT_EQ(0, gem_wait(self->fd, target, -1));
	close(running);
	close(last);
	spin_free(&spin);
}

TEST_F(exec_submit, arguments)
{
	__u32 target = gem_create(self->fd, PAGE);
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EINVAL, store_after(&self->gpu, storing(&self->gpu, 0), target, 1, pipes[0],
				       I915_EXEC_FENCE_SUBMIT, NULL));
	EXPECT_EQ(-EINVAL, store_after(&self->gpu, storing(&self->gpu, 0), target, 1, -1,
				       I915_EXEC_FENCE_SUBMIT, NULL));
	EXPECT_EQ(-EINVAL, store_after(&self->gpu, storing(&self->gpu, 0), target, 1, pipes[0],
				       I915_EXEC_FENCE_SUBMIT | I915_EXEC_FENCE_IN, NULL));
	EXPECT_EQ(0, gem_busy(self->fd, target));
	EXPECT_EQ(0, gem_read32(self->fd, target, 0));
	close(pipes[0]);
	close(pipes[1]);
}

/* An empty batch, by a call that is not made again. */
static int nop(int fd, __u32 handle, __u64 ring, __u32 context)
{
	struct drm_i915_gem_exec_object2 object = { .handle = handle };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .flags = ring,
					       .rsvd1 = context };

	return ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb) ? -errno : 0;
}

static __u32 nop_batch(const struct gpu *gpu)
{
	__u32 handle = gem_create(gpu->fd, PAGE);

	gem_write(gpu->fd, handle, 0, &gpu->backend->batch_end, 4);
	return handle;
}

TEST_F(exec_submit, a_full_timeline_would_block)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u32 handle = nop_batch(&self->gpu), other = context_create(self->fd);
	int flags = fcntl(self->fd, F_GETFL), got = 0;
	struct spin spin;
	unsigned int n;

	ASSERT_EQ(0, spin_start(&self->gpu, engine, 0, 0, NULL, &spin));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags | O_NONBLOCK));
	for (n = 0; n < MANY && !got; n++)
		got = nop(self->fd, handle, engine->ring, 0);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EWOULDBLOCK, got);
	/* the batch that spins is one of them */
	EXPECT_EQ(OF_TIMELINE, n);
	/* another context has a timeline of its own */
	EXPECT_EQ(0, nop(self->fd, handle, engine->ring, other));
	spin_stop(&spin);
	EXPECT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(0, nop(self->fd, handle, engine->ring, 0));
	EXPECT_EQ(0, fcntl(self->fd, F_SETFL, flags));
	spin_free(&spin);
}

static void nothing(int signal)
{
}

TEST_F(exec_submit, a_full_timeline_is_waited_for)
{
	struct sigaction act = { .sa_handler = nothing };
	const struct engine *engine = &self->gpu.engines[0];
	__u32 handle = nop_batch(&self->gpu);
	__u32 *interrupted = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				  -1, 0);
	struct spin spin;
	unsigned int n;
	int status, got;
	pid_t child;

	ASSERT_NE(MAP_FAILED, interrupted);
	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	ASSERT_EQ(0, spin_start(&self->gpu, engine, 0, 0, NULL, &spin));
	for (n = 0; n < OF_TIMELINE - 1; n++)
		ASSERT_EQ(0, nop(self->fd, handle, engine->ring, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		/* one of them comes while it waits */
		while (!peek(interrupted)) {
			usleep(20000);
			kill(getppid(), SIGUSR1);
		}
		usleep(200000);
		spin_stop(&spin);
		_exit(0);
	}
	/* a signal ends the wait, and so does room */
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EINTR, nop(self->fd, handle, engine->ring, 0));
	poke(interrupted, 1);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	do {
		got = nop(self->fd, handle, engine->ring, 0);
	} while (got == -EINTR);
	EXPECT_EQ(0, got);
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, gem_wait(self->fd, handle, -1));
	spin_free(&spin);
}

TEST_HARNESS_MAIN

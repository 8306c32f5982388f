// SPDX-License-Identifier: GPL-2.0
/*
 * What an urgent batch waits for is as urgent as that, where engines take lists
 * of contexts: batches without end of a priority in between do not starve it.
 *
 * All is of one client, so that no batch here runs because its client has waited long.
 */
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define ANY_I915
#include "test.h"
#include "batch_local.h"
#include "sw_sync.h"

/* Nanoseconds that anything here may take. */
#define PATIENCE 60000000000ll

enum { LOW = -512, NOISE = 0, HIGH = 512 };

FIXTURE(lift)
{
	struct gpu gpu;
	int fd;
	__u32 noise, low, high;
	struct spin spins[8];
};

FIXTURE_SETUP(lift)
{
	unsigned int i;

	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!addresses_chosen() ||
	    !(getparam(self->fd, I915_PARAM_HAS_SCHEDULER) & I915_SCHEDULER_CAP_PREEMPTION))
		SKIP(return, "engines are not preempted here");
	/* what ends a batch without end would let the others run */
	if (self->gpu.ouro)
		ASSERT_EQ(0, device_limits(&self->gpu, 4 * PATIENCE / 1000000));
	self->noise = context_create(self->fd);
	self->low = context_create(self->fd);
	self->high = context_create(self->fd);
	ASSERT_EQ(0, context_priority(self->fd, self->low, LOW));
	ASSERT_EQ(0, context_priority(self->fd, self->high, HIGH));
	for (i = 0; i < self->gpu.n_engines; i++)
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[i], self->noise, 0, NULL,
					&self->spins[i]));
}

FIXTURE_TEARDOWN(lift)
{
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++)
		spin_stop(&self->spins[i]);
	for (i = 0; i < self->gpu.n_engines; i++) {
		gem_wait(self->fd, self->spins[i].handle, PATIENCE);
		spin_free(&self->spins[i]);
	}
	if (self->gpu.ouro)
		device_limits(&self->gpu, HANG_MS_DEFAULT);
	gpu_close(&self->gpu);
}

/* Stores a value in an object, by the n-th engine, after the writers of `after` (or 0). */
static int store_after(const struct gpu *gpu, unsigned int n, __u32 context, __u32 after,
		       __u32 handle, __u32 value)
{
	struct words w = {};

	words_store(&w, address_of(handle), value);
	words_end(&w);
	words_object(&w, handle, EXEC_OBJECT_WRITE);
	if (after)
		words_object(&w, after, 0);
	return words_run(gpu->fd, &w, gpu->engines[n % gpu->n_engines].ring, context);
}

/* A value into an object behind a file of the kind that the flag says, if any; gives one. */
static int store_on(const struct gpu *gpu, unsigned int n, __u32 context, __u64 flag, int before,
		    __u32 handle, __u32 value, int *fence)
{
	struct drm_i915_gem_execbuffer2 eb = { .rsvd1 = context, .rsvd2 = before };
	__u32 batch = gem_create(gpu->fd, PAGE);
	struct words w = {};
	int got;

	words_store(&w, address_of(handle), value);
	words_end(&w);
	/* no other batch waits for the object */
	words_object(&w, handle, EXEC_OBJECT_WRITE | EXEC_OBJECT_ASYNC);
	words_object(&w, batch, 0);
	w.objects[w.n_objects - 1].offset = address_of_none();
	got = gem_write(gpu->fd, batch, 0, w.words, w.n * 4);
	eb.flags = gpu->engines[n % gpu->n_engines].ring | I915_EXEC_FENCE_OUT | flag;
	eb.buffers_ptr = U64(w.objects);
	eb.buffer_count = w.n_objects;
	if (!got)
		got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	if (!got)
		*fence = eb.rsvd2 >> 32;
	gem_close(gpu->fd, batch);
	return got;
}

/*
 * A batch of the first engine that is more urgent than all others, behind a fence or not. When it
 * is done, the engine has a list that was made after all that was submitted, or ready, before it.
 */
static int list_taken(const struct gpu *gpu, __u64 flag, int before, int *done)
{
	__u32 context = context_create(gpu->fd);
	int got = context_priority(gpu->fd, context, HIGH + 2);

	if (!got)
		got = store_on(gpu, 0, context, flag, before, gem_create(gpu->fd, PAGE), 1, done);
	return got;
}

/* On each engine: the low one writes, and the high one reads it on the next engine. */
TEST_F(lift, one_that_is_waited_for)
{
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		__u32 a = gem_create(self->fd, PAGE), b = gem_create(self->fd, PAGE);

		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, store_after(&self->gpu, i, self->low, 0, a, 0x100 + i));
		ASSERT_EQ(0, store_after(&self->gpu, i + 1, self->high, a, b, 0x200 + i));
		EXPECT_EQ(0, gem_wait(self->fd, b, PATIENCE))
		{
			TH_LOG("engine %s", self->gpu.engines[i].name);
		}
		EXPECT_EQ(0x100 + i, gem_read32(self->fd, a, 0));
		EXPECT_EQ(0x200 + i, gem_read32(self->fd, b, 0));
		/* the endless batches still run */
		EXPECT_EQ(1, gem_busy(self->fd, self->spins[i].handle));
		gem_close(self->fd, a);
		gem_close(self->fd, b);
	}
}

/* A batch waits for one on each of the engines, of a context each. */
TEST_F(lift, one_of_each_engine)
{
	__u32 target = gem_create(self->fd, PAGE), low[8];
	struct words w = {};
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines && i < 6; i++) {
		__u32 context = context_create(self->fd);

		ASSERT_EQ(0, context_priority(self->fd, context, LOW));
		low[i] = gem_create(self->fd, PAGE);
		ASSERT_EQ(0, store_after(&self->gpu, i, context, 0, low[i], 0x300 + i));
		words_object(&w, low[i], 0);
	}
	words_store(&w, address_of(target), 0x3ff);
	words_end(&w);
	words_object(&w, target, EXEC_OBJECT_WRITE);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, words_run(self->fd, &w, self->gpu.engines[0].ring, self->high));
	EXPECT_EQ(0, gem_wait(self->fd, target, PATIENCE));
	EXPECT_EQ(0x3ff, gem_read32(self->fd, target, 0));
	for (i = 0; i < self->gpu.n_engines && i < 6; i++)
		EXPECT_EQ(0x300 + i, gem_read32(self->fd, low[i], 0));
}

/*
 * A child: starts a batch without end that writes memory of its own, and unmaps that. Its waiting
 * blocks all mmap() of a process, and so it is not ours.
 */
static void spin_and_unmap(const struct gpu *gpu, __u32 context, int out)
{
	struct drm_i915_gem_userptr arg = { .user_size = PAGE };
	struct spin spin = {};
	void *memory;

	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arg.user_ptr = U64(memory);
	if (memory != MAP_FAILED && !call(gpu->fd, DRM_IOCTL_I915_GEM_USERPTR, &arg) &&
	    !spin_start(gpu, &gpu->engines[0], context, arg.handle, NULL, &spin) &&
	    write(out, &spin, sizeof(spin)) == sizeof(spin))
		munmap(memory, PAGE);
	_exit(0);
}

/*
 * A process waits in munmap() for a batch of default priority, so that this must end. It does not
 * overtake what is urgent by a privilege for that: after the half second it takes until the batch
 * is pressed, the urgent one still has the engine when it likes.
 */
TEST_F(lift, not_by_memory_that_is_unmapped)
{
	__u32 target = gem_create(self->fd, PAGE), context = context_create(self->fd);
	struct spin spin;
	unsigned int i;
	int ready[2];
	pid_t child;

	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		spin_and_unmap(&self->gpu, context, ready[1]);
	close(ready[1]);
	ASSERT_EQ(sizeof(spin), read(ready[0], &spin, sizeof(spin)));
	spin.map = gem_map(self->fd, spin.handle, PAGE, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, spin.map);
	usleep(1500000);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, store_after(&self->gpu, 0, self->high, 0, target, 0x500 + i));
		EXPECT_EQ(0, gem_wait(self->fd, target, PATIENCE / 6));
		EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
	}
	spin_stop(&spin);
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_EQ(0x503, gem_read32(self->fd, target, 0));
	spin_free(&spin);
	close(ready[0]);
}

/* A child: has a batch write memory of its own, and unmaps that. */
static void store_and_unmap(const struct gpu *gpu, __u32 context, int out)
{
	struct drm_i915_gem_userptr arg = { .user_size = PAGE };
	void *memory;

	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arg.user_ptr = U64(memory);
	if (memory != MAP_FAILED && !call(gpu->fd, DRM_IOCTL_I915_GEM_USERPTR, &arg) &&
	    !store_after(gpu, 0, context, 0, arg.handle, 0x5a) && write(out, "", 1) == 1)
		munmap(memory, PAGE);
	_exit(0);
}

/*
 * Without timeslices nothing takes an engine from a batch without end that could be preempted. If a
 * process waits in munmap() for a batch behind it, it has to end.
 */
TEST_F(lift, by_memory_that_is_unmapped_without_slices)
{
	enum { LOOKS = 600 };
	const char *engine = self->gpu.engines[0].name;
	__u32 context = context_create(self->fd);
	unsigned int i, ended = 0;
	int ready[2];
	pid_t child;
	char done;

	if (!self->gpu.ouro)
		SKIP(return, "another driver may wait for as long as the batch likes");
	if (self->gpu.n_engines < 2)
		SKIP(return, "one engine: others are not compared");
	ASSERT_EQ(0, device_slice_ms(&self->gpu, engine, 0));
	EXPECT_EQ(0, device_limits(&self->gpu, HANG_MS_DEFAULT));
	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		store_and_unmap(&self->gpu, context, ready[1]);
	close(ready[1]);
	cover("DRM_IOCTL_I915_GEM_USERPTR");
	EXPECT_EQ(1, read(ready[0], &done, 1));
	for (i = 0; i < LOOKS && !ended; i++) {
		ended = waitpid(child, NULL, WNOHANG) == child;
		usleep(50000);
	}
	EXPECT_EQ(1, ended);
	/* only what blocks it */
	EXPECT_EQ(0, gem_busy(self->fd, self->spins[0].handle));
	EXPECT_EQ(1, gem_busy(self->fd, self->spins[1].handle));
	spin_stop(&self->spins[0]);
	if (!ended)
		waitpid(child, NULL, 0);
	EXPECT_EQ(0, device_slice_ms(&self->gpu, engine, SLICE_MS_DEFAULT));
	close(ready[0]);
}

/* Each waits for the one before it, on another engine; the last one is urgent. */
TEST_F(lift, a_long_chain)
{
	enum { N = 40 };
	__u32 objects[N];
	unsigned int i;

	for (i = 0; i < N; i++) {
		__u32 context = i == N - 1 ? self->high : context_create(self->fd);

		if (i < N - 1)
			ASSERT_EQ(0, context_priority(self->fd, context, LOW + i));
		objects[i] = gem_create(self->fd, PAGE);
		ASSERT_EQ(0, store_after(&self->gpu, i, context, i ? objects[i - 1] : 0, objects[i],
					 0x400 + i));
	}
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(0, gem_wait(self->fd, objects[N - 1], PATIENCE));
	for (i = 0; i < N; i++)
		EXPECT_EQ(0x400 + i, gem_read32(self->fd, objects[i], 0));
}

/*
 * Who waits is next on the same engine, and not who is less urgent, and was ready
 * before: the last one of three stores is seen.
 */
TEST_F(lift, nobody_comes_between)
{
	__u32 top = context_create(self->fd), middle = context_create(self->fd);
	__u32 a = gem_create(self->fd, PAGE), target = gem_create(self->fd, PAGE);
	int low_done = -1, high_done = -1, middle_done = -1, taken = -1;
	struct spin spin;
	unsigned int i;

	ASSERT_EQ(0, context_priority(self->fd, top, HIGH + 1));
	ASSERT_EQ(0, context_priority(self->fd, middle, NOISE + 1));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, spin_start(&self->gpu, self->gpu.engines, top, 0, NULL, &spin));
		ASSERT_EQ(0, store_on(&self->gpu, 0, middle, 0, 0, target, 0x83, &middle_done));
		ASSERT_EQ(0, store_on(&self->gpu, 0, self->low, 0, 0, a, 0x81, &low_done));
		ASSERT_EQ(0, store_on(&self->gpu, 0, self->high, I915_EXEC_FENCE_IN, low_done,
				      target, 0x82, &high_done));
		/* until then the engine may have an older list, in which the high one is not */
		ASSERT_EQ(0, list_taken(&self->gpu, 0, 0, &taken));
		ASSERT_EQ(1, fence_status(taken));
		spin_stop(&spin);
		EXPECT_EQ(1, fence_status(middle_done));
		EXPECT_EQ(1, fence_status(high_done));
		EXPECT_EQ(0x83, gem_read32(self->fd, target, 0));
		spin_free(&spin);
		close(low_done);
		close(high_done);
		close(middle_done);
		close(taken);
	}
}

/*
 * The same with all of them behind one fence: those of a context come as one, with
 * what they wait for, also if there are more than go into a ring.
 */
TEST_F(lift, a_context_comes_as_one)
{
	enum { N = 150 };
	__u32 top = context_create(self->fd), middle = context_create(self->fd);
	__u32 a = gem_create(self->fd, PAGE), target = gem_create(self->fd, PAGE);
	int timeline = sw_timeline(), foreign, low_done = -1, middle_done = -1, taken = -1;
	int done[N];
	struct spin spin;
	unsigned int i;

	if (timeline < 0)
		SKIP(return, "the kernel was built without CONFIG_SW_SYNC");
	foreign = sw_fence(timeline);
	ASSERT_LE(0, foreign);
	ASSERT_EQ(0, context_priority(self->fd, top, HIGH + 1));
	ASSERT_EQ(0, context_priority(self->fd, middle, NOISE + 1));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	/* ready in this order, if none waited for another one */
	ASSERT_EQ(0, store_on(&self->gpu, 0, middle, I915_EXEC_FENCE_IN, foreign, target, 0x93,
			      &middle_done));
	ASSERT_EQ(0, store_on(&self->gpu, 0, self->low, I915_EXEC_FENCE_IN, foreign, target, 0x91,
			      &low_done));
	ASSERT_EQ(0, store_after(&self->gpu, 0, self->low, 0, a, 0x92));
	ASSERT_EQ(0, store_after(&self->gpu, 0, self->high, 0, a, 0x94));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, store_on(&self->gpu, 0, self->high, 0, 0, target, 0x1000 + i,
				      &done[i]));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], top, 0, NULL, &spin));
	/* the fence's last waiter */
	ASSERT_EQ(0, list_taken(&self->gpu, I915_EXEC_FENCE_IN, foreign, &taken));
	ASSERT_EQ(0, sw_signal(timeline));
	ASSERT_EQ(1, fence_status(taken));
	spin_stop(&spin);
	EXPECT_EQ(1, fence_status(middle_done));
	EXPECT_EQ(1, fence_status(done[N - 1]));
	EXPECT_EQ(0x94, gem_read32(self->fd, a, 0));
	EXPECT_EQ(0x93, gem_read32(self->fd, target, 0));
	spin_free(&spin);
	for (i = 0; i < N; i++)
		close(done[i]);
	close(low_done);
	close(middle_done);
	close(taken);
	close(foreign);
	close(timeline);
}

/*
 * A batch has the priority that its context had when it was submitted, and takes along
 * what is before it.
 */
TEST_F(lift, as_urgent_as_when_submitted)
{
	__u32 context = context_create(self->fd), first = gem_create(self->fd, PAGE);
	__u32 then = gem_create(self->fd, PAGE), last = gem_create(self->fd, PAGE);

	cover("DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM");
	ASSERT_EQ(0, context_priority(self->fd, context, LOW));
	ASSERT_EQ(0, store_after(&self->gpu, 0, context, 0, first, 0xa1));
	ASSERT_EQ(0, context_priority(self->fd, context, HIGH));
	usleep(50000);
	EXPECT_EQ(-ETIME, gem_wait(self->fd, first, 0));
	ASSERT_EQ(0, store_after(&self->gpu, 0, context, 0, then, 0xa2));
	ASSERT_EQ(0, context_priority(self->fd, context, LOW));
	ASSERT_EQ(0, store_after(&self->gpu, 0, context, 0, last, 0xa3));
	EXPECT_EQ(0, gem_wait(self->fd, then, PATIENCE));
	EXPECT_EQ(0xa1, gem_read32(self->fd, first, 0));
	EXPECT_EQ(0xa2, gem_read32(self->fd, then, 0));
	/* what was listed with it was there first: the engine may have had it by then */
	ASSERT_EQ(0, store_after(&self->gpu, 0, context, 0, last, 0xa4));
	usleep(50000);
	EXPECT_EQ(-ETIME, gem_wait(self->fd, last, 0));
	EXPECT_EQ(1, gem_busy(self->fd, self->spins[0].handle));
	spin_stop(&self->spins[0]);
	EXPECT_EQ(0, gem_wait(self->fd, last, PATIENCE));
	EXPECT_EQ(0xa4, gem_read32(self->fd, last, 0));
}

/* When it is done, its context is as urgent as before. */
TEST_F(lift, no_longer_than_needed)
{
	__u32 a = gem_create(self->fd, PAGE), b = gem_create(self->fd, PAGE);
	__u32 later = gem_create(self->fd, PAGE);
	unsigned int i;

	ASSERT_EQ(0, store_after(&self->gpu, 0, self->low, 0, a, 0x51));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, store_after(&self->gpu, 1, self->high, a, b, 0x52));
	EXPECT_EQ(0, gem_wait(self->fd, b, PATIENCE));
	ASSERT_EQ(0, store_after(&self->gpu, 0, self->low, 0, later, 0x53));
	for (i = 0; i < 20; i++) {
		/* urgent batches run meanwhile */
		ASSERT_EQ(0, store_after(&self->gpu, 0, self->high, 0, b, 0x600 + i));
		EXPECT_EQ(0, gem_wait(self->fd, b, PATIENCE));
		usleep(10000);
	}
	EXPECT_EQ(-ETIME, gem_wait(self->fd, later, 0));
	spin_stop(&self->spins[0]);
	EXPECT_EQ(0, gem_wait(self->fd, later, PATIENCE));
	EXPECT_EQ(0x53, gem_read32(self->fd, later, 0));
}

/* It waits for a file of two fences. */
TEST_F(lift, by_a_file)
{
	__u32 a = gem_create(self->fd, PAGE), b = gem_create(self->fd, PAGE);
	struct sync_merge_data both = { .name = "both" };
	int first = -1, second = -1, done = -1;

	ASSERT_EQ(0, store_on(&self->gpu, 0, self->low, 0, 0, a, 0x61, &first));
	ASSERT_EQ(0, store_on(&self->gpu, 1, self->low, 0, 0, b, 0x62, &second));
	both.fd2 = second;
	ASSERT_EQ(0, call(first, SYNC_IOC_MERGE, &both));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	ASSERT_EQ(0, store_on(&self->gpu, 2, self->high, I915_EXEC_FENCE_IN, both.fence, a, 0x63,
			      &done));
	EXPECT_EQ(1, fence_status(done));
	EXPECT_EQ(0x63, gem_read32(self->fd, a, 0));
	EXPECT_EQ(0x62, gem_read32(self->fd, b, 0));
	close(first);
	close(second);
	close(both.fence);
	close(done);
}

/* It begins with another one, and that waits for a third. */
TEST_F(lift, by_who_goes_before)
{
	__u32 a = gem_create(self->fd, PAGE), b = gem_create(self->fd, PAGE);
	__u32 c = gem_create(self->fd, PAGE), middle = context_create(self->fd);
	int first = -1, lead = -1, done = -1;

	if (getparam(self->fd, I915_PARAM_HAS_EXEC_SUBMIT_FENCE) != 1)
		SKIP(return, "no I915_EXEC_FENCE_SUBMIT here");
	ASSERT_EQ(0, context_priority(self->fd, middle, LOW + 1));
	ASSERT_EQ(0, store_on(&self->gpu, 0, self->low, 0, 0, a, 0x71, &first));
	ASSERT_EQ(0, store_on(&self->gpu, 1, middle, I915_EXEC_FENCE_IN, first, b, 0x72, &lead));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	ASSERT_EQ(0, store_on(&self->gpu, 2, self->high, I915_EXEC_FENCE_SUBMIT, lead, c, 0x73,
			      &done));
	EXPECT_EQ(1, fence_status(done));
	EXPECT_EQ(0x71, gem_read32(self->fd, a, 0));
	EXPECT_EQ(0x73, gem_read32(self->fd, c, 0));
	close(first);
	close(lead);
	close(done);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of everybody when an engine hangs: the guilty, those behind
 * them, those beside them. i915_drm.h: drm_i915_reset_stats, context
 * parameters BANNABLE, RECOVERABLE, PERSISTENCE; dma-fence errors by
 * linux/sync_file.h.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define TOPIC reset
#define ANY_I915
#define MUTE_ENGINES
#define HANGS
#include "test.h"
#include "batch_i915.h"
#include "device.h"

/* Seconds that anything here may take: a hang is found after three. */
#define PATIENCE 60

static int stats(int fd, __u32 context, struct drm_i915_reset_stats *out)
{
	*out = (struct drm_i915_reset_stats){ .ctx_id = context };
	return call(fd, DRM_IOCTL_I915_GET_RESET_STATS, out);
}

static __u32 active(int fd, __u32 context)
{
	struct drm_i915_reset_stats s;

	return stats(fd, context, &s) ? ~0u : s.batch_active;
}

static __u32 pending(int fd, __u32 context)
{
	struct drm_i915_reset_stats s;

	return stats(fd, context, &s) ? ~0u : s.batch_pending;
}

/* One word in place of the batch; an out-fence in *fence. 0 or a negative errno. */
static int run_word(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 word,
		    int *fence)
{
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	__u32 handle;
	int got;

	batch_init(&b);
	b.words[b.n++] = word;
	batch_end(&b, gpu->backend);
	handle = batch_finish(gpu->fd, &b, &eb);
	/* where batches are checked, the word would be an error; not of a batch without a length */
	eb.batch_len = 0;
	eb.flags = engine->ring | I915_EXEC_FENCE_OUT;
	eb.rsvd1 = context;
	got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	if (!got)
		*fence = eb.rsvd2 >> 32;
	gem_close(gpu->fd, handle);
	return got;
}

/*
 * On each engine in turn: a batch without end, work of the same client and of another behind it, on
 * all engines. All of that completes, and only the endless batch is blamed.
 */
TEST_F(reset, endless_batch_on_each_engine)
{
	struct gpu other;
	unsigned int i, j;

	ASSERT_EQ(0, gpu_open(&other));
	for (i = 0; i < self->gpu.n_engines; i++) {
		const struct engine *engine = &self->gpu.engines[i];
		__u32 guilty = context_create(self->fd), innocent = context_create(self->fd);
		__u32 mine = gem_create(self->fd, PAGE), theirs = gem_create(other.fd, PAGE);
		struct spin spin;
		int fence = -1;

		ASSERT_EQ(0, hang_start(&self->gpu, engine, guilty, 0, &fence, &spin));
		for (j = 0; j < self->gpu.n_engines; j++) {
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[j], innocent, mine, j * 8,
					   0x100 + j));
			ASSERT_EQ(0, store(&other, &other.engines[j], 0, theirs, j * 8, 0x200 + j));
		}
		cover("DRM_IOCTL_I915_GET_RESET_STATS");
		EXPECT_EQ(-EIO, fence_status(fence))
		{
			TH_LOG("%s", engine->name);
		}
		for (j = 0; j < self->gpu.n_engines; j++) {
			EXPECT_EQ(0x100 + j, gem_read32(self->fd, mine, j * 8));
			EXPECT_EQ(0x200 + j, gem_read32(other.fd, theirs, j * 8));
		}
		EXPECT_EQ(1, active(self->fd, guilty));
		EXPECT_EQ(0, pending(self->fd, guilty));
		EXPECT_EQ(0, active(self->fd, innocent));
		EXPECT_EQ(0, active(other.fd, 0));
		/* the guilty one may go on */
		ASSERT_EQ(0, store(&self->gpu, engine, guilty, mine, 0, 0x300));
		EXPECT_EQ(0x300, gem_read32(self->fd, mine, 0));
		close(fence);
		spin_free(&spin);
		context_destroy(self->fd, guilty);
		context_destroy(self->fd, innocent);
		gem_close(self->fd, mine);
		gem_close(other.fd, theirs);
	}
	gpu_close(&other);
}

/* Every engine hangs at the same time. */
TEST_F(reset, all_engines_at_once)
{
	__u32 target = gem_create(self->fd, PAGE), contexts[8];
	struct spin spins[8];
	int fences[8];
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		contexts[i] = context_create(self->fd);
		ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[i], contexts[i], 0,
					&fences[i], &spins[i]));
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, target, i * 8, 0x400 + i));
	}
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	for (i = 0; i < self->gpu.n_engines; i++) {
		EXPECT_EQ(-EIO, fence_status(fences[i]));
		EXPECT_EQ(0x400 + i, gem_read32(self->fd, target, i * 8));
		EXPECT_EQ(1, active(self->fd, contexts[i]));
		close(fences[i]);
		spin_free(&spins[i]);
	}
	EXPECT_EQ(0, active(self->fd, 0));
}

/* A command that does not exist stops the engine. */
TEST_F(reset, unknown_command)
{
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		__u32 guilty = context_create(self->fd);
		int fence = -1;

		ASSERT_EQ(0, run_word(&self->gpu, &self->gpu.engines[i], guilty,
				      self->gpu.backend->unknown, &fence));
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, target, 0, 0x500 + i));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
		EXPECT_EQ(-EIO, fence_status(fence));
		EXPECT_EQ(0x500 + i, gem_read32(self->fd, target, 0));
		EXPECT_EQ(1, active(self->fd, guilty));
		close(fence);
	}
}

/* A lost event: the driver makes the engine go on, and no context is to blame. */
TEST_F(reset, event_that_does_not_come)
{
	__u32 target = gem_create(self->fd, PAGE);
	int fence = -1;

	ASSERT_EQ(0, run_word(&self->gpu, &self->gpu.engines[0], 0, self->gpu.backend->wait_event,
			      &fence));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0x601));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	EXPECT_EQ(1, fence_status(fence));
	EXPECT_EQ(0x601, gem_read32(self->fd, target, 0));
	EXPECT_EQ(0, active(self->fd, 0));
	close(fence);
}

/* More than the ring holds waits behind the hang. */
TEST_F(reset, full_ring)
{
	enum { N = 600 };
	__u32 guilty = context_create(self->fd), target = gem_create(self->fd, PAGE);
	struct spin spin;
	unsigned int i, bad = 0;

	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], guilty, 0, NULL, &spin));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], i & 1 ? guilty : 0, target,
				   i * 4 % PAGE, 0x1000 + i));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, gem_wait(self->fd, target, PATIENCE * 1000000000ll));
	for (i = 0; i < N; i++)
		bad += gem_read32(self->fd, target, i * 4 % PAGE) != 0x1000 + i;
	EXPECT_EQ(0, bad);
	EXPECT_EQ(1, active(self->fd, guilty));
	EXPECT_EQ(0, active(self->fd, 0));
	spin_free(&spin);
}

/* Three times within a minute, and a context runs nothing any more; others of its client do. */
TEST_F(reset, ban)
{
	__u32 guilty = context_create(self->fd), target = gem_create(self->fd, PAGE);
	const struct engine *engine = &self->gpu.engines[0];
	struct spin spin;
	unsigned int i;
	int fence;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, hang_start(&self->gpu, engine, guilty, 0, &fence, &spin))
		{
			TH_LOG("refused after %u hangs", i);
		}
		/* published before the ban */
		ASSERT_EQ(0, store(&self->gpu, engine, guilty, target, 0, i + 1));
		EXPECT_EQ(-EIO, fence_status(fence));
		EXPECT_EQ(i + 1, active(self->fd, guilty));
		/* the last one is not run, since its context is banned by then */
		EXPECT_EQ(i < 2 ? i + 1 : 2, gem_read32(self->fd, target, 0));
		close(fence);
		spin_free(&spin);
	}
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EIO, store(&self->gpu, engine, guilty, target, 0, 9));
	EXPECT_EQ(0, store(&self->gpu, engine, 0, target, 0, 10));
	EXPECT_EQ(10, gem_read32(self->fd, target, 0));
	/* it can be asked and destroyed */
	EXPECT_EQ(3, active(self->fd, guilty));
	EXPECT_EQ(0, context_destroy(self->fd, guilty));
}

/* The second engine, or the one that there is. */
static const struct engine *second(const struct gpu *gpu)
{
	return &gpu->engines[gpu->n_engines > 1];
}

/* A context that is not recoverable is banned at once. */
TEST_F(reset, not_recoverable)
{
	__u32 guilty = context_create(self->fd), target = gem_create(self->fd, PAGE);
	struct spin spin;
	int fence;

	ASSERT_EQ(0, i915_context_set(self->fd, guilty, I915_CONTEXT_PARAM_RECOVERABLE, 0));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], guilty, 0, &fence, &spin));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EIO, fence_status(fence));
	EXPECT_EQ(-EIO, store(&self->gpu, &self->gpu.engines[0], guilty, target, 0, 9));
	EXPECT_EQ(-EIO, store(&self->gpu, second(&self->gpu), guilty, target, 0, 9));
	EXPECT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 10));
	EXPECT_EQ(10, gem_read32(self->fd, target, 0));
	close(fence);
	spin_free(&spin);
}

/* A client that goes through its contexts is refused as a whole; others are not. */
TEST_F(reset, client_ban)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_context_create_ext create = {};
	struct gpu other;
	unsigned int i;

	ASSERT_EQ(0, gpu_open(&other));
	for (i = 0; i < 4; i++) {
		__u32 id = context_create(other.fd);
		struct spin spin;
		int fence;

		ASSERT_NE(0, id);
		ASSERT_EQ(0, i915_context_set(other.fd, id, I915_CONTEXT_PARAM_RECOVERABLE, 0));
		ASSERT_EQ(0, hang_start(&other, second(&other), id, 0, &fence, &spin));
		EXPECT_EQ(-EIO, fence_status(fence));
		close(fence);
		spin_free(&spin);
	}
	BAD(other.fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EIO);
	EXPECT_EQ(0, store(&self->gpu, second(&self->gpu), 0, target, 0, 11));
	EXPECT_EQ(11, gem_read32(self->fd, target, 0));
	gpu_close(&other);
}

/*
 * Requests of a context that is not persistent end with it, and other work goes on. Fifty times,
 * where that takes no time: an engine with time slices is asked for longer before it is reset.
 */
TEST_F(reset, not_persistent_fifty_times)
{
	const unsigned int times = self->gpu.speaks == &i915 ? 50 : 12;
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_i915_reset_stats before, after;
	unsigned int i;

	ASSERT_EQ(0, stats(self->fd, 0, &before));
	for (i = 0; i < times; i++) {
		const struct engine *engine = &self->gpu.engines[i % self->gpu.n_engines];
		__u32 id = context_create(self->fd);
		struct spin spin;
		int fence;

		ASSERT_EQ(0, i915_context_set(self->fd, id, I915_CONTEXT_PARAM_PERSISTENCE, 0));
		ASSERT_EQ(0, hang_start(&self->gpu, engine, id, 0, &fence, &spin));
		ASSERT_EQ(0, store(&self->gpu, engine, 0, target, 0, i + 1));
		ASSERT_EQ(0, context_destroy(self->fd, id));
		cover("DRM_IOCTL_I915_GEM_CONTEXT_DESTROY");
		EXPECT_EQ(-EIO, fence_status(fence));
		EXPECT_EQ(i + 1, gem_read32(self->fd, target, 0));
		close(fence);
		spin_free(&spin);
	}
	EXPECT_EQ(0, active(self->fd, 0));
	/*
	 * Only root is told how many there were; tests are. One that has not got to its engine when
	 * its context goes needs none: while the one before it ends, on a slow machine.
	 */
	ASSERT_EQ(0, stats(self->fd, 0, &after));
	EXPECT_LE(times / 2, after.reset_count - before.reset_count);
}

/*
 * The same when the file is closed, by the death of its process. Others may have run by then: not
 * every engine makes them wait, and it goes on after them.
 */
TEST_F(reset, not_persistent_with_its_file)
{
	__u32 target = gem_create(self->fd, PAGE);
	int status, fence = -1;
	struct spin spin;
	struct gpu own;
	pid_t child;

	ASSERT_EQ(0, gpu_open(&own));
	ASSERT_EQ(0, i915_context_set(own.fd, 0, I915_CONTEXT_PARAM_PERSISTENCE, 0));
	ASSERT_EQ(0, hang_start(&own, &own.engines[0], 0, 0, &fence, &spin));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		pause();
		_exit(0);
	}
	/* from here on the file is the child's alone; a mapping would keep it, too */
	munmap(spin.map, PAGE);
	gpu_close(&own);
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 12));
	EXPECT_EQ(12, gem_read32(self->fd, target, 0));
	EXPECT_EQ(0, active(self->fd, 0));
	EXPECT_EQ(-EIO, fence_status(fence));
	close(fence);
}

/* A batch that ends by itself within the time of grace is not stopped. */
TEST_F(reset, not_persistent_but_done)
{
	__u32 id = context_create(self->fd), target = gem_create(self->fd, PAGE);

	ASSERT_EQ(0, i915_context_set(self->fd, id, I915_CONTEXT_PARAM_PERSISTENCE, 0));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], id, target, 0, 13));
	ASSERT_EQ(0, gem_wait(self->fd, target, PATIENCE * 1000000000ll));
	cover("DRM_IOCTL_I915_GEM_CONTEXT_DESTROY");
	ASSERT_EQ(0, context_destroy(self->fd, id));
	EXPECT_EQ(13, gem_read32(self->fd, target, 0));
}

TEST_F(reset, arguments_of_the_statistics)
{
	struct drm_i915_reset_stats s = { .flags = 1 };
	__u32 id = context_create(self->fd);
	pid_t child;
	int status;

	BAD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, &s, EINVAL);
	s = (struct drm_i915_reset_stats){ .pad = 1 };
	BAD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, &s, EINVAL);
	s = (struct drm_i915_reset_stats){ .ctx_id = 0xfffffff0 };
	BAD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, &s, ENOENT);
	s = (struct drm_i915_reset_stats){ .ctx_id = id };
	GOOD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, &s);
	EXPECT_EQ(0, s.batch_active);
	EXPECT_EQ(0, s.batch_pending);
	ASSERT_EQ(0, context_destroy(self->fd, id));
	BAD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, &s, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, NULL, EFAULT);
	/* How many resets there were is told to root alone. */
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		struct drm_i915_reset_stats mine;

		if (setuid(65534) || stats(self->fd, 0, &mine) || mine.reset_count != 0)
			_exit(1);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

/* The engine stops by itself, in the middle of a batch without a fault. */
TEST_F(reset, ring_that_stops)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct place place;
	unsigned int i;

	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "not a model: the engines stop when they like");
	for (i = 0; i < self->gpu.n_engines; i++) {
		__u32 guilty = context_create(self->fd);

		/* what follows the last number of work before is done, too */
		usleep(20000);
		ASSERT_EQ(0, model_fault(&place, FAULT_HANG | FAULT_ENGINE(&self->gpu.engines[i]) |
							     FAULT_ONCE));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], guilty, target, 0, 0x701));
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, target, 8, 0x702 + i));
		EXPECT_EQ(0x702 + i, gem_read32(self->fd, target, 8));
		EXPECT_EQ(1, active(self->fd, guilty));
	}
	EXPECT_EQ(0, model_fault(&place, FAULT_NONE));
}

/* All interrupts are lost: clients that wait wake all the same. */
TEST_F(reset, lost_interrupts)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct place place;
	unsigned int i;
	int fence;

	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "not a model: no interrupt can be lost at will");
	ASSERT_EQ(0, model_fault(&place, FAULT_LOSE_IRQ));
	for (i = 0; i < self->gpu.n_engines; i++) {
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, target, 0, 0x801 + i));
		ASSERT_EQ(0, run_word(&self->gpu, &self->gpu.engines[i], 0,
				      self->gpu.backend->noop, &fence));
		cover("DRM_IOCTL_I915_GEM_WAIT");
		EXPECT_EQ(0, gem_wait(self->fd, target, PATIENCE * 1000000000ll));
		EXPECT_EQ(0x801 + i, gem_read32(self->fd, target, 0));
		EXPECT_EQ(1, fence_status(fence));
		close(fence);
	}
	EXPECT_EQ(0, model_fault(&place, FAULT_NONE));
	EXPECT_EQ(0, active(self->fd, 0));
}

static __u64 interrupts(int fd)
{
	struct drm_ouro_stats stats = {};

	call(fd, DRM_IOCTL_OURO_STATS, &stats);
	return stats.interrupts;
}

/*
 * A message is lost, and the device holds the next one back until its events are taken off. The
 * next client that waits is woken by an interrupt again.
 */
TEST_F(reset, lost_message)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u32 target = gem_create(self->fd, PAGE);
	struct place place;
	__u64 before;
	struct spin spin;
	unsigned int i;

	if (!self->gpu.ouro)
		SKIP(return, "another driver does not count its interrupts");
	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "not a model: no message can be lost at will");
	ASSERT_EQ(0, model_fault(&place, FAULT_LOSE_MESSAGE | FAULT_ONCE));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, target, 0, 0xa01));
	EXPECT_EQ(0, gem_wait(self->fd, target, PATIENCE * 1000000000ll));
	before = interrupts(self->fd);
	for (i = 0; i < 20; i++) {
		/* it is waited for before it is done */
		ASSERT_EQ(0, hang_start(&self->gpu, engine, 0, target, NULL, &spin));
		EXPECT_EQ(-ETIME, gem_wait(self->fd, target, 1000));
		spin_stop(&spin);
		EXPECT_EQ(0, gem_wait(self->fd, target, PATIENCE * 1000000000ll));
		spin_free(&spin);
	}
	EXPECT_LT(before, interrupts(self->fd));
	EXPECT_EQ(0, model_fault(&place, FAULT_NONE));
}

/* The first reset does nothing; the second one does. */
TEST_F(reset, reset_that_works_the_second_time)
{
	__u32 target = gem_create(self->fd, PAGE), guilty = context_create(self->fd);
	struct place place;
	struct spin spin;
	int fence;

	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "not a model: its resets work when they like");
	ASSERT_EQ(0, model_fault(&place, FAULT_STUCK_RESET | FAULT_ONCE));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], guilty, 0, &fence, &spin));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0x901));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EIO, fence_status(fence));
	EXPECT_EQ(0x901, gem_read32(self->fd, target, 0));
	close(fence);
	spin_free(&spin);
	EXPECT_EQ(0, model_fault(&place, FAULT_NONE));
}

/* After all that is above: the device works, and says how often it was reset. */
TEST_F(reset, survived)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_ouro_stats got;
	unsigned int i;

	if (!self->gpu.ouro)
		SKIP(return, "another driver does not count its resets");
	for (i = 0; i < self->gpu.n_engines; i++) {
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, target, 8 * i, 0xb01 + i));
		EXPECT_EQ(0xb01 + i, gem_read32(self->fd, target, 8 * i));
	}
	gem_close(self->fd, target);
	ASSERT_EQ(0, stats_settled(self->fd, &got));
	EXPECT_EQ(0, got.fences);
	EXPECT_EQ(0, got.objects);
	EXPECT_EQ(0, got.object_pages);
	printf("# cover: resets survived: %llu\n", got.resets);
	fflush(stdout);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Who has an engine that takes lists of contexts, and for how long: urgent work
 * takes it away, equal work shares it, and a batch that does not yield it is
 * stopped. Batches count in a register of their context and store what they
 * have, so that one that starts again is told from one that goes on.
 *
 * Commands of Gen12.5: see batch_local.h.
 */
#include <sys/ioctl.h>

#define ANY_I915
#include "test.h"
#include "batch_local.h"
#include "device.h"

/* Seconds that anything here may take. */
#define PATIENCE 120

/* General registers 0 and 1 of an engine, from its own registers on, with 64 bits each. */
enum { GPR0 = 0x600, GPR1 = 0x608 };

/* Of MI_MATH, by the document's chapter of the ALU: R0 and R1 are added, into R0. */
static const __u32 add[] = { 0x08008000, 0x08008401, 0x10000000, 0x18000031 };

/* A batch without end that counts. */
struct counting {
	struct spin spin;
	__u32 handle;
	__u32 *count;
	int fence;
};

FIXTURE(preempt)
{
	struct gpu gpu;
	struct drm_i915_query_engine_info *engines;
	int fd;
};

FIXTURE_SETUP(preempt)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!addresses_chosen() ||
	    !(getparam(self->fd, I915_PARAM_HAS_SCHEDULER) & I915_SCHEDULER_CAP_PREEMPTION))
		SKIP(return, "engines are not preempted here");
	self->engines = query_answer(self->fd, DRM_I915_QUERY_ENGINE_INFO, NULL);
	ASSERT_NE(NULL, self->engines);
}

FIXTURE_TEARDOWN(preempt)
{
	free(self->engines);
	gpu_close(&self->gpu);
}

static void words_load(struct words *w, __u32 reg, __u32 value)
{
	w->words[w->n++] = MI_LOAD_REGISTER_IMM;
	w->words[w->n++] = reg;
	w->words[w->n++] = value;
}

/* On the engine at index 0 of a context. gives_way: whether it may be taken off somewhere. */
static int counting_start(int fd, __u32 context, bool gives_way, struct counting *c)
{
	enum { LOOP = 16, ROUND = 64 };
	struct words w = {};
	unsigned int i;
	__u64 at;
	int got;

	memset(c, 0, sizeof(*c));
	c->fence = -1;
	c->handle = gem_create(fd, PAGE);
	c->spin = (struct spin){ .fd = fd,
				 .handle = gem_create(fd, PAGE),
				 .end = MI_BATCH_BUFFER_END };
	if (!c->handle || !c->spin.handle)
		return -ENOMEM;
	c->count = gem_map(fd, c->handle, PAGE, I915_MMAP_OFFSET_FIXED);
	if (!c->count)
		return -ENOMEM;
	words_load(&w, GPR0, 0);
	words_load(&w, GPR0 + 4, 0);
	words_load(&w, GPR1, 1);
	words_load(&w, GPR1 + 4, 0);
	/* what is here becomes the end */
	w.n = LOOP;
	w.words[w.n++] = MI_NOOP;
	w.words[w.n++] = MI_MATH;
	for (i = 0; i < ARRAY_LEN(add); i++)
		w.words[w.n++] = add[i];
	at = address_of(c->handle);
	w.words[w.n++] = MI_STORE_REGISTER_MEM;
	w.words[w.n++] = GPR0;
	w.words[w.n++] = (__u32)at;
	w.words[w.n++] = at >> 32;
	if (gives_way)
		w.words[w.n++] = MI_ARB_CHECK;
	w.n = LOOP + ROUND;
	at = address_of_none();
	w.words[w.n++] = MI_BATCH_BUFFER_START;
	w.words[w.n++] = (__u32)(at + LOOP * 4);
	w.words[w.n++] = (at + LOOP * 4) >> 32;
	got = gem_write(fd, c->spin.handle, 0, w.words, w.n * 4);
	if (got)
		return got;
	c->spin.map = gem_map(fd, c->spin.handle, PAGE, I915_MMAP_OFFSET_FIXED);
	if (!c->spin.map)
		return -ENOMEM;
	words_object(&w, c->handle, EXEC_OBJECT_WRITE);
	return words_submit(fd, &w, c->spin.handle, at, 0, context, &c->fence);
}

static void counting_end(struct counting *c)
{
	int fd = c->spin.fd;

	if (c->spin.map)
		poke(c->spin.map + 16, c->spin.end);
	gem_wait(fd, c->handle, -1);
	if (c->spin.map)
		munmap(c->spin.map, PAGE);
	if (c->count)
		munmap(c->count, PAGE);
	gem_close(fd, c->spin.handle);
	gem_close(fd, c->handle);
	if (c->fence >= 0)
		close(c->fence);
}

/* Waits until it has counted on, by more than what one look behind another would miss. */
static bool counts_on(const struct counting *c)
{
	const __u32 from = peek(c->count);
	unsigned int i;

	for (i = 0; i < PATIENCE * 1000; i++) {
		__u32 now = peek(c->count);

		if (now < from)
			return false;
		if (now - from >= 3)
			return true;
		usleep(1000);
	}
	return false;
}

static __u32 blamed(int fd, __u32 context)
{
	struct drm_i915_reset_stats stats = { .ctx_id = context };

	return call(fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats) ? ~0u : stats.batch_active;
}

/* On each engine: a batch without end gives way to more urgent work, and goes on where it was. */
TEST_F(preempt, urgent_work_overtakes)
{
	unsigned int i;

	for (i = 0; i < self->engines->num_engines; i++) {
		const struct i915_engine_class_instance engine = self->engines->engines[i].engine;
		__u32 low = context_on(self->fd, engine), high = context_on(self->fd, engine);
		__u32 target = gem_create(self->fd, PAGE);
		struct counting c;
		unsigned int k;
		__u32 before;

		ASSERT_EQ(0, context_priority(self->fd, low, -512));
		ASSERT_EQ(0, context_priority(self->fd, high, 512));
		ASSERT_EQ(0, counting_start(self->fd, low, true, &c));
		for (k = 0; k < 5; k++) {
			EXPECT_TRUE(counts_on(&c))
			{
				TH_LOG("class %u instance %u, after %u", engine.engine_class,
				       engine.engine_instance, k);
			}
			before = peek(c.count);
			cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
			ASSERT_EQ(0, words_store_one(self->fd, high, target, 8 * k, 0x600d + k));
			EXPECT_EQ(0, gem_wait(self->fd, target, PATIENCE * 1000000000ll));
			EXPECT_EQ(0x600d + k, gem_read32(self->fd, target, 8 * k));
			EXPECT_LE(before, peek(c.count));
			EXPECT_EQ(1, gem_busy(self->fd, c.spin.handle));
		}
		counting_end(&c);
		context_destroy(self->fd, low);
		context_destroy(self->fd, high);
		gem_close(self->fd, target);
	}
}

/*
 * Sets `counts` to what the model has counted since the last call; false if the device is no model.
 */
static bool counted(const struct place *place, __u64 counts[4])
{
	static const unsigned int which[] = { COUNTER_LOADS, COUNTER_INTERRUPTS, COUNTER_READS,
					      COUNTER_WRITES };
	static __u64 last[ARRAY_LEN(which)];
	unsigned int i;
	__u64 now;

	for (i = 0; i < ARRAY_LEN(which); i++) {
		if (model_counter(place, which[i], &now))
			return false;
		counts[i] = now - last[i];
		last[i] = now;
	}
	return true;
}

/* Waits as a client does that never asks for an interrupt, and until the engine has switched. */
static bool becomes_idle(int fd, __u32 handle)
{
	unsigned int i;

	for (i = 0; i < PATIENCE * 100; i++) {
		usleep(10000);
		if (!gem_busy(fd, handle))
			return true;
	}
	return false;
}

/* A batch that stores, in an object of its own, which outlives the run. */
static __u32 store_batch(int fd, __u32 target, __u32 offset, __u32 value)
{
	__u32 batch = gem_create(fd, PAGE);
	struct words w = {};

	words_store(&w, address_of(target) + offset, value);
	words_end(&w);
	return batch && !gem_write(fd, batch, 0, w.words, w.n * 4) ? batch : 0;
}

static int store_run(int fd, __u32 context, __u32 target, __u32 batch)
{
	struct words w = {};

	words_object(&w, target, EXEC_OBJECT_WRITE);
	return words_submit(fd, &w, batch, address_of(batch), 0, context, NULL);
}

/*
 * Requests that follow the running one in its context are loaded together when it ends: a burst on
 * an idle engine costs two loads and an interrupt, a lone request a load (bench.rst). Some more are
 * allowed here: where the CPU is slow, the driver may see a seqno long before the engine's event.
 */
TEST_F(preempt, a_burst_is_loaded_together)
{
	enum { BURST = 50, LONE = 20, INTERRUPT = 14 };
	__u32 target = gem_create(self->fd, PAGE), batches[BURST];
	unsigned int i, k;
	struct place place;
	__u64 counts[4];

	ASSERT_EQ(0, device_of(self->fd, &place));
	if (!self->gpu.ouro || !counted(&place, counts))
		SKIP(return, "this counts what ouro does on a model");
	for (k = 0; k < BURST; k++) {
		batches[k] = store_batch(self->fd, target, 8 * k, k + 1);
		ASSERT_NE(0, batches[k]);
	}
	for (i = 0; i < self->engines->num_engines; i++) {
		const struct i915_engine_class_instance engine = self->engines->engines[i].engine;
		__u32 context = context_on(self->fd, engine);
		struct counting c;

		/* nothing is done for the first time below */
		for (k = 0; k < BURST; k++)
			ASSERT_EQ(0, store_run(self->fd, context, target, batches[k]));
		ASSERT_TRUE(becomes_idle(self->fd, target));
		counted(&place, counts);
		for (k = 0; k < LONE; k++) {
			ASSERT_EQ(0, store_run(self->fd, context, target, batches[k]));
			ASSERT_TRUE(becomes_idle(self->fd, target));
		}
		EXPECT_TRUE(counted(&place, counts));
		EXPECT_EQ(LONE, counts[0]);
		EXPECT_LE(counts[1], LONE / 4);
		EXPECT_LE(counts[2] + counts[3], LONE * 4 + LONE / 4 * INTERRUPT)
		{
			TH_LOG("class %u instance %u: %llu reads, %llu writes", engine.engine_class,
			       engine.engine_instance, counts[2], counts[3]);
		}

		ASSERT_EQ(0, counting_start(self->fd, context, true, &c));
		EXPECT_TRUE(counts_on(&c));
		for (k = 1; k < BURST; k++)
			ASSERT_EQ(0, store_run(self->fd, context, target, batches[k]));
		poke(c.spin.map + 16, c.spin.end);
		ASSERT_TRUE(becomes_idle(self->fd, target));
		EXPECT_TRUE(counted(&place, counts));
		EXPECT_LE(counts[0], 3);
		EXPECT_LE(counts[1], 5);
		EXPECT_LE(counts[2] + counts[3], 4 * BURST)
		{
			TH_LOG("class %u instance %u", engine.engine_class, engine.engine_instance);
		}
		for (k = 1; k < BURST; k++)
			EXPECT_EQ(k + 1, gem_read32(self->fd, target, 8 * k));
		counting_end(&c);
		context_destroy(self->fd, context);
	}
}

/* Two clients, a batch without end each: both get on, again and again, as does a third one. */
TEST_F(preempt, clients_share_an_engine)
{
	struct gpu other;
	unsigned int i, k;

	ASSERT_EQ(0, gpu_open(&other));
	for (i = 0; i < self->engines->num_engines; i++) {
		const struct i915_engine_class_instance engine = self->engines->engines[i].engine;
		const int fds[2] = { self->fd, other.fd };
		__u32 contexts[2], third = context_on(self->fd, engine);
		__u32 target = gem_create(self->fd, PAGE);
		struct counting c[2];

		for (k = 0; k < 2; k++) {
			contexts[k] = context_on(fds[k], engine);
			cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
			ASSERT_EQ(0, counting_start(fds[k], contexts[k], true, &c[k]));
		}
		for (k = 0; k < 10; k++)
			EXPECT_TRUE(counts_on(&c[k % 2]))
			{
				TH_LOG("class %u instance %u, client %u, after %u turns",
				       engine.engine_class, engine.engine_instance, k % 2, k / 2);
			}
		ASSERT_EQ(0, words_store_one(self->fd, third, target, 0, 0x7777));
		EXPECT_EQ(0x7777, gem_read32(self->fd, target, 0));
		for (k = 0; k < 2; k++) {
			EXPECT_EQ(1, gem_busy(fds[k], c[k].spin.handle));
			counting_end(&c[k]);
			EXPECT_EQ(0, blamed(fds[k], contexts[k]));
			context_destroy(fds[k], contexts[k]);
		}
		context_destroy(self->fd, third);
		gem_close(self->fd, target);
	}
	gpu_close(&other);
}

/* A list has eight contexts at most: more than that have their turns, too. */
TEST_F(preempt, more_than_a_list_holds)
{
	enum { N = 20 };
	const struct i915_engine_class_instance engine = self->engines->engines[0].engine;
	struct counting c[N];
	unsigned int i;

	for (i = 0; i < N; i++)
		ASSERT_EQ(0, counting_start(self->fd, context_on(self->fd, engine), true, &c[i]));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < 2 * N; i++)
		EXPECT_TRUE(counts_on(&c[i % N]))
		{
			TH_LOG("context %u, turn %u", i % N, i / N);
		}
	for (i = 0; i < N; i++)
		counting_end(&c[i]);
}

/* Behind urgent work without end, what is not urgent gets a little (gen12.rst, "Scheduling"). */
TEST_F(preempt, who_waits_is_not_forgotten)
{
	const struct i915_engine_class_instance engine = self->engines->engines[0].engine;
	struct counting urgent, patient;
	__u32 low, high;
	struct gpu other;
	unsigned int i;

	if (!self->gpu.ouro)
		SKIP(return, "another driver lets it wait as long as there is urgent work");
	ASSERT_EQ(0, gpu_open(&other));
	low = context_on(other.fd, engine);
	high = context_on(self->fd, engine);
	ASSERT_EQ(0, context_priority(other.fd, low, -512));
	ASSERT_EQ(0, context_priority(self->fd, high, 512));
	ASSERT_EQ(0, counting_start(self->fd, high, true, &urgent));
	EXPECT_TRUE(counts_on(&urgent));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, counting_start(other.fd, low, true, &patient));
	for (i = 0; i < 2; i++) {
		EXPECT_TRUE(counts_on(&patient));
		EXPECT_TRUE(counts_on(&urgent));
	}
	counting_end(&urgent);
	counting_end(&patient);
	gpu_close(&other);
}

/*
 * A batch that never yields the engine is stopped and blamed. The batches that wait for the engine,
 * of this client and of another, get it, and one that was in the middle of its work goes on there.
 */
TEST_F(preempt, who_gives_no_way_is_stopped)
{
	struct gpu other;
	unsigned int i;

	ASSERT_EQ(0, gpu_open(&other));
	/* each takes as long as a hang is watched: one reset by itself, and one that is not */
	for (i = 0; i < self->engines->num_engines; i++) {
		const struct i915_engine_class_instance engine = self->engines->engines[i].engine;
		__u32 first = context_on(other.fd, engine), guilty = context_on(self->fd, engine);
		__u32 mine = context_on(self->fd, engine), theirs = context_on(other.fd, engine);
		__u32 target = gem_create(self->fd, PAGE);
		__u32 their_target = gem_create(other.fd, PAGE);
		struct counting innocent, endless;
		__u32 before;

		if (engine.engine_class != I915_ENGINE_CLASS_COPY &&
		    engine.engine_class != I915_ENGINE_CLASS_VIDEO_ENHANCE)
			continue;
		ASSERT_EQ(0, counting_start(other.fd, first, true, &innocent));
		EXPECT_TRUE(counts_on(&innocent));
		before = peek(innocent.count);
		ASSERT_EQ(0, counting_start(self->fd, guilty, false, &endless));
		/* it has the engine, and keeps it; from here on no other is asked to yield */
		EXPECT_TRUE(counts_on(&endless));
		if (self->gpu.ouro)
			ASSERT_EQ(0, device_limits(&self->gpu, HANG_MS_DEFAULT));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, words_store_one(self->fd, mine, target, 0, 0x300 + i));
		ASSERT_EQ(0, words_store_one(other.fd, theirs, their_target, 0, 0x400 + i));
		EXPECT_EQ(-EIO, fence_status(endless.fence))
		{
			TH_LOG("class %u instance %u", engine.engine_class,
			       engine.engine_instance);
		}
		if (self->gpu.ouro)
			ASSERT_EQ(0, device_limits(&self->gpu, HANG_MS));
		EXPECT_EQ(0x300 + i, gem_read32(self->fd, target, 0));
		EXPECT_EQ(0x400 + i, gem_read32(other.fd, their_target, 0));
		EXPECT_LE(before, peek(innocent.count));
		EXPECT_TRUE(counts_on(&innocent));
		cover("DRM_IOCTL_I915_GET_RESET_STATS");
		EXPECT_EQ(1, blamed(self->fd, guilty));
		EXPECT_EQ(0, blamed(self->fd, mine));
		EXPECT_EQ(0, blamed(other.fd, theirs));
		EXPECT_EQ(0, blamed(other.fd, first));
		counting_end(&innocent);
		counting_end(&endless);
		context_destroy(self->fd, guilty);
		context_destroy(self->fd, mine);
		context_destroy(other.fd, first);
		context_destroy(other.fd, theirs);
	}
	gpu_close(&other);
}

TEST_HARNESS_MAIN

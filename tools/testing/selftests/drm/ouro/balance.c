// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual engines: I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE, on cards with two
 * video engines, and the extensions of lists of engines beside it.
 *
 * Which engine a batch has run on is shown by others that are busy with what
 * cannot be taken off them.
 */
#include <pthread.h>

#define TOPIC balance
#define ONLY_CARDS
#include "test.h"
#include "balance.h"
#include "batch_local.h"

/* General register 0 of an engine, from its own registers on: it is in each context's image. */
enum { GPR0 = 0x600 };

/* With bit 14: then a qword is stored. */
enum { MI_FLUSH_DW = 0x13004003 };

/* No command: MI, opcode 3fh. */
enum { UNKNOWN = 0x1f800000 };

/* What is free has done it by then (nanoseconds), and what is not has not (microseconds). */
#define SOON 30000000000ll
#define NOT_YET_US 200000

/* A context whose first place is both video engines, with each of them behind; 0: none. */
static __u32 balanced(int fd)
{
	I915_DEFINE_CONTEXT_ENGINES_LOAD_BALANCE(both, 2) = {
		.base.name = I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE,
		.engine_index = VIRTUAL,
		.num_siblings = 2,
		.engines = { video[0], video[1] },
	};
	struct list list = {
		.extensions = U64(&both),
		.engines = { gap, video[0], video[1], CLASS(RENDER, 0) },
	};
	__u32 context;

	return with_list(fd, &list, &context) ? 0 : context;
}

/* What an engine cannot be taken off, once it has said that it runs, until it is stopped. */
struct hog {
	struct spin spin;
	__u32 begun;
	__u32 *seen;
};

static int hog_start(const struct gpu *gpu, __u32 context, __u32 place, struct hog *hog)
{
	/* A batch that is fetched while it is written needs some room. */
	enum { JUMP = 254 };
	struct words w = {};
	__u64 at;
	int got;

	*hog = (struct hog){ .spin = { .fd = gpu->fd,
				       .end = MI_BATCH_BUFFER_END,
				       .handle = gem_create(gpu->fd, PAGE) },
			     .begun = gem_create(gpu->fd, PAGE) };
	at = address_of(hog->spin.handle) + 4 * 8;
	/* a store alone may be seen as late as at the batch's end */
	w.words[0] = MI_FLUSH_DW;
	w.words[1] = (__u32)address_of(hog->begun);
	w.words[2] = address_of(hog->begun) >> 32;
	w.words[3] = 1;
	/* no MI_ARB_CHECK */
	w.words[JUMP] = MI_BATCH_BUFFER_START;
	w.words[JUMP + 1] = (__u32)at;
	w.words[JUMP + 2] = at >> 32;
	got = gem_write(gpu->fd, hog->spin.handle, 0, w.words, (JUMP + 3) * 4);
	if (got)
		return got;
	hog->seen = gem_map(gpu->fd, hog->begun, PAGE, I915_MMAP_OFFSET_FIXED);
	hog->spin.map = gem_map(gpu->fd, hog->spin.handle, PAGE, I915_MMAP_OFFSET_FIXED);
	if (!hog->seen || !hog->spin.map)
		return -ENOMEM;
	words_object(&w, hog->begun, EXEC_OBJECT_WRITE);
	return words_submit(gpu->fd, &w, hog->spin.handle, at - 4 * 8, place, context, NULL);
}

/* Waits up to some seconds; true if the batch runs. */
static bool hog_runs(const struct hog *hog)
{
	unsigned int i;

	for (i = 0; i < 20000 && !peek(hog->seen); i++)
		usleep(1000);
	return peek(hog->seen);
}

static void hog_stop(struct hog *hog)
{
	if (hog->spin.map) {
		poke(&hog->spin.map[8], MI_BATCH_BUFFER_END);
		gem_wait(hog->spin.fd, hog->spin.handle, -1);
	}
	if (hog->seen)
		munmap(hog->seen, PAGE);
	gem_close(hog->spin.fd, hog->begun);
	if (hog->spin.map)
		munmap(hog->spin.map, PAGE);
	gem_close(hog->spin.fd, hog->spin.handle);
}

static int store_at(int fd, __u32 context, __u32 place, __u32 handle, __u32 offset, __u32 value)
{
	struct words w = {};

	words_store(&w, address_of(handle) + offset, value);
	words_end(&w);
	words_object(&w, handle, EXEC_OBJECT_WRITE);
	return words_run(fd, &w, place, context);
}

static int set_register(int fd, __u32 context, __u32 place, __u32 value)
{
	struct words w = {};

	w.words[w.n++] = MI_LOAD_REGISTER_IMM;
	w.words[w.n++] = GPR0;
	w.words[w.n++] = value;
	words_end(&w);
	return words_run(fd, &w, place, context);
}

/* The register goes to the beginning of an object. */
static int keep_register(int fd, __u32 context, __u32 place, __u32 handle)
{
	const __u64 to = address_of(handle);
	struct words w = {};

	w.words[w.n++] = MI_STORE_REGISTER_MEM;
	w.words[w.n++] = GPR0;
	w.words[w.n++] = (__u32)to;
	w.words[w.n++] = to >> 32;
	words_end(&w);
	words_object(&w, handle, EXEC_OBJECT_WRITE);
	return words_run(fd, &w, place, context);
}

TEST_F(balance, goes_where_there_is_nothing_to_do)
{
	__u32 context = balanced(self->fd), other = balanced(self->fd);
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i;

	ASSERT_NE(0, context);
	for (i = 0; i < 6; i++) {
		struct hog hog;

		/* the engines in turn are busy */
		ASSERT_EQ(0, hog_start(&self->gpu, other, FIRST + i % 2, &hog));
		ASSERT_TRUE(hog_runs(&hog));
		ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, target, 4 * i, 0xba1 + i));
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
		EXPECT_EQ(0xba1 + i, gem_read32(self->fd, target, 4 * i));
		EXPECT_EQ(1, gem_busy(self->fd, hog.spin.handle));
		hog_stop(&hog);
	}
}

/* Two virtual engines of the same two: each has one of them. */
TEST_F(balance, work_is_spread)
{
	__u32 contexts[2] = { balanced(self->fd), balanced(self->fd) };
	struct hog hogs[2];
	unsigned int i;

	ASSERT_NE(0, contexts[0]);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, hog_start(&self->gpu, contexts[i], VIRTUAL, &hogs[i]));
	for (i = 0; i < 2; i++)
		EXPECT_TRUE(hog_runs(&hogs[i]));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(1, gem_busy(self->fd, hogs[i].spin.handle));
		hog_stop(&hogs[i]);
	}
}

/* Both engines are busy when a batch is submitted: it runs on whichever has time first. */
TEST_F(balance, whichever_engine_is_free_first)
{
	__u32 contexts[2] = { balanced(self->fd), balanced(self->fd) };
	__u32 context = balanced(self->fd), target = gem_create(self->fd, PAGE);
	struct hog hogs[2];
	unsigned int i, j;

	ASSERT_NE(0, context);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 2; j++) {
			ASSERT_EQ(0, hog_start(&self->gpu, contexts[j], FIRST + j, &hogs[j]));
			ASSERT_TRUE(hog_runs(&hogs[j]));
		}
		ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, target, 4 * i, 0xf1e + i));
		/* long enough for time slices, and not for an engine that cannot be preempted */
		usleep(50000);
		EXPECT_EQ(1, gem_busy(self->fd, target));
		hog_stop(&hogs[i % 2]);
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
		EXPECT_EQ(0xf1e + i, gem_read32(self->fd, target, 4 * i));
		EXPECT_EQ(1, gem_busy(self->fd, hogs[1 - i % 2].spin.handle));
		hog_stop(&hogs[1 - i % 2]);
	}
}

/* Which engine it is depends on what they do when the batch could run, not when it is submitted. */
TEST_F(balance, what_waits_has_no_engine_yet)
{
	const struct engine render = { .name = "3", .ring = RENDER };
	__u32 context = balanced(self->fd), other = balanced(self->fd);
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct spin spin;
		struct hog hog;

		ASSERT_EQ(0, spin_start(&self->gpu, &render, other, target, NULL, &spin));
		ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, target, 4 * i, 0x3a1e + i));
		ASSERT_EQ(0, hog_start(&self->gpu, other, FIRST + i, &hog));
		ASSERT_TRUE(hog_runs(&hog));
		EXPECT_EQ(1, gem_busy(self->fd, target));
		spin_stop(&spin);
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
		EXPECT_EQ(0x3a1e + i, gem_read32(self->fd, target, 4 * i));
		EXPECT_EQ(1, gem_busy(self->fd, hog.spin.handle));
		hog_stop(&hog);
		spin_free(&spin);
	}
}

/* A batch that has begun, and was taken off for what is more urgent, continues on the other one. */
TEST_F(balance, a_batch_goes_on_elsewhere)
{
	const struct engine virtual = { .name = "0", .ring = VIRTUAL };
	__u32 context = balanced(self->fd), other = balanced(self->fd);
	__u32 urgent = balanced(self->fd), target = gem_create(self->fd, PAGE);
	unsigned int i;

	ASSERT_EQ(0, context_priority(self->fd, urgent, 512));
	for (i = 0; i < 2; i++) {
		struct hog hog, on_top;
		struct spin spin;

		/* one engine is left for it */
		ASSERT_EQ(0, hog_start(&self->gpu, other, FIRST + i, &hog));
		ASSERT_TRUE(hog_runs(&hog));
		ASSERT_EQ(0, set_register(self->fd, context, VIRTUAL, 0x6035 + i));
		ASSERT_EQ(0, spin_start(&self->gpu, &virtual, context, target, NULL, &spin));
		ASSERT_EQ(0, keep_register(self->fd, context, VIRTUAL, target));
		ASSERT_EQ(0, hog_start(&self->gpu, urgent, SECOND - i, &on_top));
		ASSERT_TRUE(hog_runs(&on_top));
		hog_stop(&hog);
		spin_stop(&spin);
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
		EXPECT_EQ(0x6035 + i, gem_read32(self->fd, target, 0));
		EXPECT_EQ(1, gem_busy(self->fd, on_top.spin.handle));
		hog_stop(&on_top);
		spin_free(&spin);
	}
}

/* What is submitted to one virtual engine runs in that order, though another engine is free. */
TEST_F(balance, a_virtual_engine_is_one_timeline)
{
	__u32 context = balanced(self->fd), target = gem_create(self->fd, PAGE);
	struct hog hog;

	ASSERT_EQ(0, hog_start(&self->gpu, context, VIRTUAL, &hog));
	ASSERT_TRUE(hog_runs(&hog));
	ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, target, 0, 0x0dde));
	usleep(NOT_YET_US);
	EXPECT_EQ(1, gem_busy(self->fd, target));
	hog_stop(&hog);
	EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
	EXPECT_EQ(0x0dde, gem_read32(self->fd, target, 0));
}

/* What a batch has left in registers is there for the next one, on whatever engine. */
TEST_F(balance, the_state_goes_along)
{
	__u32 context = balanced(self->fd), other = balanced(self->fd);
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct hog hog;

		ASSERT_EQ(0, hog_start(&self->gpu, other, FIRST + i % 2, &hog));
		ASSERT_TRUE(hog_runs(&hog));
		ASSERT_EQ(0, keep_register(self->fd, context, VIRTUAL, target));
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
		EXPECT_EQ(i ? 0x57a7e000 + i : 0, gem_read32(self->fd, target, 0));
		ASSERT_EQ(0, set_register(self->fd, context, VIRTUAL, 0x57a7e001 + i));
		/* behind that */
		ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, target, 4, i));
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
		EXPECT_EQ(1, gem_busy(self->fd, hog.spin.handle));
		hog_stop(&hog);
	}
	/* the engines themselves are other places, with states of their own */
	for (i = FIRST; i <= SECOND; i++) {
		ASSERT_EQ(0, keep_register(self->fd, context, i, target));
		EXPECT_EQ(0, gem_read32(self->fd, target, 0));
	}
}

/* One engine at two places: each has a state of its own. */
TEST_F(balance, an_engine_twice)
{
	struct list list = { .engines = { video[0], video[0], video[1], CLASS(RENDER, 0) } };
	__u32 context, target = gem_create(self->fd, PAGE);
	unsigned int i;

	ASSERT_EQ(0, with_list(self->fd, &list, &context));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, set_register(self->fd, context, i, 0x7e15 + i));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, keep_register(self->fd, context, i, target));
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
		EXPECT_EQ(0x7e15 + i, gem_read32(self->fd, target, 0));
	}
}

/*
 * Batches of one context have an order, too: one that waits on one engine does not hold up others
 * on the other.
 */
TEST_F(balance, an_engine_twice_has_two_orders)
{
	const struct engine render = { .name = "3", .ring = RENDER };
	struct list list = { .engines = { video[0], video[0], video[1], CLASS(RENDER, 0) } };
	__u32 context, target = gem_create(self->fd, PAGE), lent = gem_create(self->fd, PAGE);
	struct spin spin;

	if (!self->gpu.ouro)
		SKIP(return, "another driver may have the engine wait, and then needs time slices");
	ASSERT_EQ(0, with_list(self->fd, &list, &context));
	ASSERT_EQ(0, spin_start(&self->gpu, &render, context, lent, NULL, &spin));
	ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, lent, 0, 0x7e1e));
	ASSERT_EQ(0, store_at(self->fd, context, FIRST, target, 0, 0x7e1f));
	EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
	EXPECT_EQ(0x7e1f, gem_read32(self->fd, target, 0));
	EXPECT_EQ(-ETIME, gem_wait(self->fd, lent, 0));
	spin_stop(&spin);
	EXPECT_EQ(0, gem_wait(self->fd, lent, SOON));
	EXPECT_EQ(0x7e1e, gem_read32(self->fd, lent, 0));
	spin_free(&spin);
}

/* A context whose batches run one by one, at whatever place. */
TEST_F(balance, one_timeline_for_all_engines)
{
	struct list list = { .engines = { video[0], video[0], video[1], CLASS(RENDER, 0) } };
	struct drm_i915_gem_context_create_ext_setparam set = {
		.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM,
		.param = { .param = I915_CONTEXT_PARAM_ENGINES,
			   .size = sizeof(list),
			   .value = U64(&list) },
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS |
			 I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE,
		.extensions = U64(&set),
	};
	__u32 targets[PLACES];
	struct hog hog;
	unsigned int i;

	cover("DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT");
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create));
	ASSERT_EQ(0, hog_start(&self->gpu, create.ctx_id, FIRST, &hog));
	ASSERT_TRUE(hog_runs(&hog));
	for (i = 0; i < PLACES; i++) {
		targets[i] = gem_create(self->fd, PAGE);
		ASSERT_EQ(0, store_at(self->fd, create.ctx_id, i, targets[i], 0, 0x1e0 + i));
	}
	usleep(NOT_YET_US);
	for (i = 0; i < PLACES; i++)
		EXPECT_EQ(1, gem_busy(self->fd, targets[i]));
	hog_stop(&hog);
	/* the last one is behind all others */
	EXPECT_EQ(0, gem_wait(self->fd, targets[PLACES - 1], SOON));
	for (i = 0; i < PLACES; i++) {
		EXPECT_EQ(0, gem_busy(self->fd, targets[i]));
		EXPECT_EQ(0x1e0 + i, gem_read32(self->fd, targets[i], 0));
	}
}

/* It sees the objects of its context. */
TEST_F(balance, one_space_with_its_context)
{
	__u32 context = balanced(self->fd), target = gem_create(self->fd, PAGE);
	const struct engine render = { .name = "3", .ring = RENDER };
	struct words w = {};
	struct spin spin;

	/* as long as this runs, the object keeps its address */
	ASSERT_EQ(0, spin_start(&self->gpu, &render, context, target, NULL, &spin));
	words_store(&w, address_of(target), 0x5ee);
	words_end(&w);
	ASSERT_EQ(0, words_run(self->fd, &w, VIRTUAL, context));
	/* behind it */
	ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, gem_create(self->fd, PAGE), 0, 1));
	spin_stop(&spin);
	EXPECT_EQ(0x5ee, gem_read32(self->fd, target, 0));
	spin_free(&spin);
}

static struct drm_i915_reset_stats reset_stats(int fd, __u32 context)
{
	struct drm_i915_reset_stats stats = { .ctx_id = context };

	call(fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats);
	return stats;
}

/* What goes wrong there is its context's fault, and that goes on. */
TEST_F(balance, a_bad_batch_is_its_contexts)
{
	__u32 context = balanced(self->fd), other = balanced(self->fd);
	__u32 target = gem_create(self->fd, PAGE);
	struct words w = {};

	w.words[w.n++] = UNKNOWN;
	words_end(&w);
	words_object(&w, target, EXEC_OBJECT_WRITE);
	ASSERT_EQ(0, words_run(self->fd, &w, VIRTUAL, context));
	ASSERT_EQ(0, gem_wait(self->fd, target, SOON));
	EXPECT_EQ(1, reset_stats(self->fd, context).batch_active);
	EXPECT_EQ(0, reset_stats(self->fd, other).batch_active);
	ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, target, 0, 0x90d));
	EXPECT_EQ(0x90d, gem_read32(self->fd, target, 0));
	ASSERT_EQ(0, store_at(self->fd, other, VIRTUAL, target, 0, 0x90e));
	EXPECT_EQ(0x90e, gem_read32(self->fd, target, 0));
}

/* What is published goes on without its context. */
TEST_F(balance, destroyed_while_it_works)
{
	__u32 context = balanced(self->fd), target = gem_create(self->fd, PAGE);
	struct hog hog;

	ASSERT_EQ(0, hog_start(&self->gpu, context, VIRTUAL, &hog));
	ASSERT_EQ(0, store_at(self->fd, context, VIRTUAL, target, 0, 0xe2d));
	ASSERT_EQ(0, context_destroy(self->fd, context));
	EXPECT_TRUE(hog_runs(&hog));
	EXPECT_EQ(1, gem_busy(self->fd, hog.spin.handle));
	hog_stop(&hog);
	EXPECT_EQ(0xe2d, gem_read32(self->fd, target, 0));
}

/* One thread counts in a register, and with a word of memory after each step. */
struct counter {
	int fd;
	__u32 context, target, offset;
	int got;
};

enum { STEPS = 100 };

/* MI_MATH: opcode 1ah; its instructions: opcode, two operands of ten bits. */
#define MATH(op, a, b) ((op) << 20 | (a) << 10 | (b))

static void *count(void *argument)
{
	struct counter *c = argument;
	const __u64 to = address_of(c->target) + c->offset;
	unsigned int i;

	for (i = 0; i < STEPS && !c->got; i++) {
		const __u32 step[] = {
			/* R1 = 1; R0 += R1 */
			MI_LOAD_REGISTER_IMM, GPR0 + 8, 1,
			0x0d000003,
			MATH(0x080, 0x20, 0), /* SRCA = R0 */
			MATH(0x080, 0x21, 1), /* SRCB = R1 */
			MATH(0x100, 0, 0), /* ADD */
			MATH(0x180, 0, 0x31), /* R0 = ACCU */
			MI_STORE_REGISTER_MEM, GPR0, (__u32)to, to >> 32,
		};
		struct words w = {};

		memcpy(w.words, step, sizeof(step));
		w.n = ARRAY_LEN(step);
		words_end(&w);
		/* ordered by the engine alone */
		words_object(&w, c->target, EXEC_OBJECT_WRITE | EXEC_OBJECT_ASYNC);
		c->got = words_run(c->fd, &w, VIRTUAL, c->context);
	}
	return NULL;
}

TEST_F(balance, threads_on_virtual_engines)
{
	/* two threads have a context together */
	__u32 contexts[3] = { balanced(self->fd), balanced(self->fd), balanced(self->fd) };
	__u32 target = gem_create(self->fd, PAGE);
	struct counter counters[4];
	pthread_t threads[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		counters[i] = (struct counter){ .fd = self->fd,
						.context = contexts[i / 2 + i / 3],
						.target = target,
						.offset = 8 * (i / 2 + i / 3) };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, count, &counters[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, counters[i].got);
	}
	for (i = 0; i < 3; i++) {
		/* the last one of each */
		ASSERT_EQ(0, store_at(self->fd, contexts[i], VIRTUAL, target, 64, i));
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
	}
	EXPECT_EQ(2 * STEPS, gem_read32(self->fd, target, 0));
	EXPECT_EQ(STEPS, gem_read32(self->fd, target, 8));
	EXPECT_EQ(STEPS, gem_read32(self->fd, target, 16));
}

/* Engines are reset for one client's work: no harm to virtual engines that change them. */
TEST_F(balance, while_engines_are_reset)
{
	__u32 contexts[2] = { balanced(self->fd), balanced(self->fd) };
	__u32 target = gem_create(self->fd, PAGE);
	struct counter counters[2];
	pthread_t threads[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		counters[i] = (struct counter){ .fd = self->fd,
						.context = contexts[i],
						.target = target,
						.offset = 8 * i };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, count, &counters[i]));
	}
	for (i = 0; i < 6; i++) {
		__u32 bad = balanced(self->fd), handle = gem_create(self->fd, PAGE);
		struct words w = {};

		w.words[w.n++] = UNKNOWN;
		words_end(&w);
		words_object(&w, handle, EXEC_OBJECT_WRITE);
		ASSERT_EQ(0, words_run(self->fd, &w, i % 3, bad));
		EXPECT_EQ(0, gem_wait(self->fd, handle, SOON));
		EXPECT_EQ(1, reset_stats(self->fd, bad).batch_active);
		ASSERT_EQ(0, context_destroy(self->fd, bad));
		gem_close(self->fd, handle);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, counters[i].got);
		ASSERT_EQ(0, store_at(self->fd, contexts[i], VIRTUAL, target, 64, i));
		EXPECT_EQ(0, gem_wait(self->fd, target, SOON));
		EXPECT_EQ(0, reset_stats(self->fd, contexts[i]).batch_active);
		EXPECT_EQ(STEPS, gem_read32(self->fd, target, 8 * i));
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * A fence is signalled, its callback starts a request, whose emission or failure
 * signals the next fence, and so on: the driver's callbacks call the driver again.
 * However long such a chain is, it must neither wait for itself nor run out of
 * stack; lockdep watches on the debug kernel.
 */
#define TOPIC reentry
#define ANY_I915
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <linux/sync_file.h>

#include "test.h"
#include "batch_i915.h"
#include "files.h"

/* More than a kernel stack could hold if each one called the next. */
enum { LINKS = 150 };

/* One that stores its number, and begins when `in` is signalled; its own fence. */
static int link_of(struct __test_metadata *_metadata, const struct gpu *gpu, __u32 context,
		   unsigned int n, __u32 handle, int in, __u64 how)
{
	const struct engine *engine = &gpu->engines[n % gpu->n_engines];
	struct drm_i915_gem_execbuffer2 eb;
	static struct batch b;
	__u32 batch;

	batch_init(&b);
	/* nothing else orders them */
	batch_object(&b, handle)->flags |= EXEC_OBJECT_ASYNC;
	batch_store(&b, store_for(gpu, engine, 4), handle, 8 * n, n + 1);
	batch_end(&b, gpu->backend);
	batch = batch_finish(gpu->fd, &b, &eb);
	eb.flags = engine->ring | how | I915_EXEC_FENCE_OUT;
	eb.rsvd1 = context;
	eb.rsvd2 = (__u32)in;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(0, call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb));
	gem_close(gpu->fd, batch);
	return eb.rsvd2 >> 32;
}

/* 1 done, 0 not yet, or the error that it was signalled with. */
static int status_of(int fence)
{
	struct sync_file_info info = {};

	return call(fence, SYNC_IOC_FILE_INFO, &info) ? -EINVAL : info.status;
}

static void ended(int fence)
{
	struct pollfd p = { .fd = fence, .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

/* Each waits for the one before it, as `how` says; the first one for a batch that spins. */
static void chain(struct __test_metadata *_metadata, const struct gpu *gpu, __u32 context,
		  __u64 how, __u32 handle, struct spin *spin, int *fences)
{
	unsigned int n;
	int in;

	/* however long it takes to make them all */
	hang_check(gpu->fd, false);
	/* not on the first one's engine, in whose ring it would be already */
	ASSERT_LT(1, gpu->n_engines);
	ASSERT_EQ(0, spin_start(gpu, &gpu->engines[gpu->n_engines - 1], 0, 0, &in, spin));
	for (n = 0; n < LINKS; n++) {
		/* none begins before the spinning one is done */
		fences[n] = link_of(_metadata, gpu, context, n, handle, in,
				    n ? how : I915_EXEC_FENCE_IN);
		ASSERT_LE(0, fences[n]);
		if (n == 0)
			close(in);
		in = fences[n];
	}
	for (n = 0; n < LINKS; n++)
		ASSERT_EQ(0, status_of(fences[n]));
}

#define ONE_ENGINE "one engine: what waits for its own ring is in order already"

TEST_F(reentry, each_fence_begins_the_next_request)
{
	__u32 handle = gem_create(self->fd, 8 * LINKS);
	unsigned int n;
	int fences[LINKS];
	struct spin spin;

	if (self->gpu.n_engines < 2)
		SKIP(return, ONE_ENGINE);
	chain(_metadata, &self->gpu, 0, I915_EXEC_FENCE_IN, handle, &spin, fences);
	spin_stop(&spin);
	hang_check(self->fd, true);
	ended(fences[LINKS - 1]);
	for (n = 0; n < LINKS; n++) {
		ASSERT_EQ(1, status_of(fences[n]));
		ASSERT_EQ(n + 1, gem_read32(self->fd, handle, 8 * n));
		close(fences[n]);
	}
	spin_free(&spin);
}

/*
 * The context is gone before the first one could begin: all of them fail, and each one's failure
 * ends the wait of the next.
 */
TEST_F(reentry, each_failure_ends_the_next_wait)
{
	__u32 handle = gem_create(self->fd, 8 * LINKS);
	__u32 context = context_create(self->fd);
	unsigned int n;
	int fences[LINKS];
	struct spin spin;

	if (self->gpu.n_engines < 2)
		SKIP(return, ONE_ENGINE);
	ASSERT_EQ(0, i915_context_set(self->fd, context, I915_CONTEXT_PARAM_PERSISTENCE, 0));
	chain(_metadata, &self->gpu, context, I915_EXEC_FENCE_IN, handle, &spin, fences);
	ASSERT_EQ(0, context_destroy(self->fd, context));
	spin_stop(&spin);
	hang_check(self->fd, true);
	ended(fences[LINKS - 1]);
	for (n = 0; n < LINKS; n++) {
		ended(fences[n]);
		ASSERT_GT(0, status_of(fences[n]));
		ASSERT_EQ(0, gem_read32(self->fd, handle, 8 * n));
		close(fences[n]);
	}
	spin_free(&spin);
}

/* Each follows the begin of the one before it, which is told by a gate and not by a callback. */
TEST_F(reentry, each_begin_begins_the_next)
{
	__u32 handle = gem_create(self->fd, 8 * LINKS);
	unsigned int n;
	int fences[LINKS];
	struct spin spin;

	if (self->gpu.n_engines < 2)
		SKIP(return, ONE_ENGINE);
	if (!self->gpu.ouro)
		SKIP(return, "without a scheduler the upstream driver has no FENCE_SUBMIT");
	chain(_metadata, &self->gpu, 0, I915_EXEC_FENCE_SUBMIT, handle, &spin, fences);
	spin_stop(&spin);
	hang_check(self->fd, true);
	for (n = 0; n < LINKS; n++) {
		ended(fences[n]);
		ASSERT_EQ(1, status_of(fences[n]));
		ASSERT_EQ(n + 1, gem_read32(self->fd, handle, 8 * n));
		close(fences[n]);
	}
	spin_free(&spin);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Implicit order: who writes an object comes after its readers and writers,
 * who reads it after its writers, on whatever engine, in whatever context.
 */
#define TOPIC order
#define ANY_I915
#include "test.h"

/* The last one to write wins, over all engines. */
TEST_F(order, writes_keep_their_order)
{
	__u32 target = gem_create(self->fd, PAGE), contexts[3];
	unsigned int i, k;

	for (k = 0; k < 3; k++)
		contexts[k] = context_create(self->fd);
	for (i = 1; i <= 60; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines],
				   contexts[(i / 2) % 3], target, 0, i));
	EXPECT_EQ(60, gem_read32(self->fd, target, 0));
}

/* An endless writer on one engine holds back a writer on another, and no other client. */
TEST_F(order, a_writer_waits_for_a_writer)
{
	unsigned int a, b;

	for (a = 0; a < self->gpu.n_engines; a++)
		for (b = 0; b < self->gpu.n_engines; b++) {
			__u32 target = gem_create(self->fd, PAGE),
			      free_one = gem_create(self->fd, PAGE);
			struct spin spin;

			if (a == b)
				continue;
			ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[a], 0, target, NULL,
						&spin));
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[b],
					   context_create(self->fd), free_one, 0, 3));
			EXPECT_EQ(3, gem_read32(self->fd, free_one, 0));
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[b], 0, target, 0, 4));
			EXPECT_EQ(-ETIME, gem_wait(self->fd, target, 3000000));
			EXPECT_EQ(1, gem_busy(self->fd, target));
			spin_stop(&spin);
			EXPECT_EQ(4, gem_read32(self->fd, target, 0));
			spin_free(&spin);
			gem_close(self->fd, target);
			gem_close(self->fd, free_one);
		}
}

/* The batch itself is read: it cannot be rewritten by the GPU before it has run. */
TEST_F(order, a_batch_is_read_before_it_is_written)
{
	const struct engine *first = &self->gpu.engines[0],
			    *last = &self->gpu.engines[self->gpu.n_engines - 1];
	unsigned int i;

	for (i = 0; i < 12; i++) {
		__u32 target = gem_create(self->fd, PAGE), handle;
		struct drm_i915_gem_execbuffer2 eb;
		struct batch b;

		batch_init(&b);
		batch_store(&b, store_for(&self->gpu, first, 4), target, 0, 0x900d);
		batch_end(&b, self->gpu.backend);
		handle = batch_finish(self->fd, &b, &eb);
		batch_is_target(&b, handle);
		eb.flags = first->ring;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		/* the other engine ends it at its start, too late */
		ASSERT_EQ(0, store(&self->gpu, last, 0, handle, 0, self->gpu.backend->batch_end));
		EXPECT_EQ(0x900d, gem_read32(self->fd, target, 0));
		EXPECT_EQ(self->gpu.backend->batch_end, gem_read32(self->fd, handle, 0));
		gem_close(self->fd, handle);
		gem_close(self->fd, target);
	}
}

/* Commands that the GPU wrote are seen when they are executed by another engine. */
TEST_F(order, a_batch_is_written_before_it_is_read)
{
	const struct engine *first = &self->gpu.engines[0],
			    *last = &self->gpu.engines[self->gpu.n_engines - 1];
	unsigned int i;

	for (i = 0; i < 12; i++) {
		const struct store_command *c = store_for(&self->gpu, last, 4);
		__u32 target = gem_create(self->fd, PAGE), handle;
		struct drm_i915_gem_execbuffer2 eb;
		struct batch b;

		batch_init(&b);
		batch_store(&b, c, target, 0, 0xbad);
		batch_end(&b, self->gpu.backend);
		handle = batch_finish(self->fd, &b, &eb);
		batch_is_target(&b, handle);
		eb.flags = last->ring;
		/* the first engine changes the value in the batch, the last one runs it */
		ASSERT_EQ(0, store(&self->gpu, first, 0, handle, c->value * 4, 0x1234 + i));
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(0x1234 + i, gem_read32(self->fd, target, 0));
		gem_close(self->fd, handle);
		gem_close(self->fd, target);
	}
}

/* EXEC_OBJECT_ASYNC: the caller asked for no order. */
TEST_F(order, async_objects_do_not_wait)
{
	const struct engine *first = &self->gpu.engines[0],
			    *last = &self->gpu.engines[self->gpu.n_engines - 1];
	__u32 target = gem_create(self->fd, PAGE), marker = gem_create(self->fd, PAGE);
	struct drm_i915_gem_execbuffer2 eb;
	struct spin spin;
	struct batch b;

	if (self->gpu.n_engines < 2)
		SKIP(return, "there is one engine");
	ASSERT_EQ(0, spin_start(&self->gpu, first, 0, target, NULL, &spin));
	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, last, 4), target, 0, 21);
	batch_store(&b, store_for(&self->gpu, last, 4), marker, 0, 22);
	batch_end(&b, self->gpu.backend);
	batch_finish(self->fd, &b, &eb);
	batch_object(&b, target)->flags |= EXEC_OBJECT_ASYNC;
	eb.flags = last->ring;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	/* done while the first one still runs */
	EXPECT_EQ(22, gem_read32(self->fd, marker, 0));
	EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
	spin_stop(&spin);
	EXPECT_EQ(21, gem_read32(self->fd, target, 0));
	spin_free(&spin);
}

TEST_HARNESS_MAIN

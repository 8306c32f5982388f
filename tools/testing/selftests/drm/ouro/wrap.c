// SPDX-License-Identifier: GPL-2.0
/* More submissions than a ring has room for: it wraps, and it fills. */
#include <pthread.h>

#define TOPIC wrap
#define ANY_I915
#include "test.h"

/*
 * A ring of 64 KB or less, some 100 to 250 bytes for each request: around it more than once.
 * The debug kernel is some ten times slower: there it is a quarter of a ring, for its checks' sake.
 */
static unsigned int many(unsigned int usual)
{
	const char *kernel = getenv("OURO_KERNEL");

	return kernel && !strcmp(kernel, "debug") ? usual / 5 : usual;
}

static void resubmit(struct __test_metadata *_metadata, const struct gpu *gpu,
		     const struct engine *engine, bool contexts)
{
	__u32 target = gem_create(gpu->fd, PAGE), ids[3] = {}, handle;
	unsigned int count = many(1000);
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	unsigned int i;

	for (i = 0; contexts && i < 3; i++)
		ids[i] = context_create(gpu->fd);
	batch_init(&b);
	batch_store(&b, store_for(gpu, engine, 4), target, 0, 0x3a3a);
	batch_end(&b, gpu->backend);
	handle = batch_finish(gpu->fd, &b, &eb);
	eb.flags = engine->ring;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < count; i++) {
		eb.rsvd1 = ids[i % 3];
		ASSERT_EQ(0, call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb))
		{
			TH_LOG("%s: submission %u", engine->name, i);
		}
	}
	EXPECT_EQ(0x3a3a, gem_read32(gpu->fd, target, 0));
	/* and each request is still done in its turn: the last one's value counts */
	ASSERT_EQ(0, store(gpu, engine, 0, target, 8, 0x4b4b));
	EXPECT_EQ(0x4b4b, gem_read32(gpu->fd, target, 8));
	gem_close(gpu->fd, handle);
	gem_close(gpu->fd, target);
}

TEST_F(wrap, render)
{
	resubmit(_metadata, &self->gpu, &self->gpu.engines[0], false);
}

TEST_F(wrap, render_with_context_switches)
{
	resubmit(_metadata, &self->gpu, &self->gpu.engines[0], true);
}

TEST_F(wrap, second_engine)
{
	if (self->gpu.n_engines < 2)
		SKIP(return, "there is one engine");
	resubmit(_metadata, &self->gpu, &self->gpu.engines[1], false);
}

TEST_F(wrap, third_engine)
{
	if (self->gpu.n_engines < 3)
		SKIP(return, "there are two engines");
	resubmit(_metadata, &self->gpu, &self->gpu.engines[2], false);
}

static void *stop_later(void *argument)
{
	usleep(300000);
	spin_stop(argument);
	return NULL;
}

/* Behind a batch that does not end the ring fills up; who submits then waits, and gets on. */
TEST_F(wrap, a_full_ring_drains)
{
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int behind = many(300);
	pthread_t thread;
	struct spin spin;
	unsigned int i;

	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_later, &spin));
	for (i = 0; i < behind; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 8 * i, i + 1))
		{
			TH_LOG("submission %u", i);
		}
	pthread_join(thread, NULL);
	for (i = 0; i < behind; i++)
		EXPECT_EQ(i + 1, gem_read32(self->fd, target, 8 * i));
	spin_free(&spin);
}

TEST_HARNESS_MAIN

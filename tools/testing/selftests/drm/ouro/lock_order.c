// SPDX-License-Identifier: GPL-2.0
/*
 * Two clients with the same objects, named in opposite order: each locks all
 * objects of a batch together, and neither may wait for the other without end.
 */
#include <fcntl.h>
#include <pthread.h>

#define TOPIC lock_order
#define ANY_I915
#include "test.h"

#define OBJECTS 8
#define ROUNDS 200

struct side {
	const struct gpu *gpu;
	const struct engine *engine;
	__u32 handles[OBJECTS];
	bool backwards;
	unsigned int done;
	int error;
};

static void *submit(void *arg)
{
	struct side *side = arg;
	unsigned int i;

	for (; side->done < ROUNDS && !side->error; side->done++) {
		struct drm_i915_gem_execbuffer2 eb;
		struct batch b;
		__u32 handle;

		batch_init(&b);
		for (i = 0; i < OBJECTS; i++) {
			unsigned int k = side->backwards ? OBJECTS - 1 - i : i;

			batch_object(&b, side->handles[k])->flags |= EXEC_OBJECT_WRITE;
		}
		batch_store(&b, store_for(side->gpu, side->engine, 4), side->handles[0],
			    side->backwards ? 4 : 0, side->done + 1);
		batch_end(&b, side->gpu->backend);
		handle = batch_finish(side->gpu->fd, &b, &eb);
		eb.flags = side->engine->ring;
		side->error = call(side->gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		gem_close(side->gpu->fd, handle);
	}
	return NULL;
}

TEST_F(lock_order, two_clients_in_opposite_order)
{
	struct side sides[2] = {};
	struct gpu other;
	pthread_t threads[2];
	unsigned int i;

	ASSERT_EQ(0, gpu_open(&other));
	sides[0].gpu = &self->gpu;
	sides[1].gpu = &other;
	sides[1].backwards = true;
	for (i = 0; i < OBJECTS; i++) {
		struct drm_prime_handle out = { .handle = gem_create(self->fd, PAGE),
						.flags = DRM_CLOEXEC | DRM_RDWR };
		struct drm_prime_handle in = {};

		ASSERT_EQ(0, call(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out));
		in.fd = out.fd;
		ASSERT_EQ(0, call(other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in));
		close(out.fd);
		sides[0].handles[i] = out.handle;
		sides[1].handles[i] = in.handle;
	}
	for (i = 0; i < 2; i++) {
		sides[i].engine = &self->gpu.engines[0];
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, submit, &sides[i]));
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, sides[i].error);
		EXPECT_EQ(ROUNDS, sides[i].done);
		EXPECT_EQ(ROUNDS, gem_read32(self->fd, sides[0].handles[0], i * 4));
	}
	gpu_close(&other);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GEM_EXECBUFFER2: the objects of a submission. Handles, flags,
 * alignment, addresses given by the kernel and by the caller.
 */
#include <pthread.h>

#define TOPIC exec_objects
#define ANY_I915
#include "test.h"

/* A batch that ends at once, as an object. */
static __u32 end_batch(const struct gpu *gpu)
{
	__u32 words[2] = { gpu->backend->batch_end, 0 };
	__u32 handle = gem_create(gpu->fd, PAGE);

	return gem_write(gpu->fd, handle, 0, words, sizeof(words)) ? 0 : handle;
}

static struct drm_i915_gem_execbuffer2 of(struct drm_i915_gem_exec_object2 *objects, __u32 count)
{
	return (struct drm_i915_gem_execbuffer2){ .buffers_ptr = U64(objects),
						  .buffer_count = count };
}

TEST_F(exec_objects, handles)
{
	__u32 batch = end_batch(&self->gpu), other = gem_create(self->fd, PAGE),
	      closed = gem_create(self->fd, PAGE);
	struct drm_i915_gem_exec_object2 objects[3] = { { .handle = other },
							{ .handle = 0 },
							{ .handle = batch } };
	struct drm_i915_gem_execbuffer2 eb = of(objects, 3);
	int got;

	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	objects[1].handle = 0xfffffff0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	gem_close(self->fd, closed);
	objects[1].handle = closed;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	/* twice the same: older kernels refused it, newer ones do not; neither may stumble */
	objects[1].handle = other;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	got = call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_TRUE(got == 0 || got == -EINVAL);
	objects[1].handle = batch;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	got = call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_TRUE(got == 0 || got == -EINVAL);
	objects[1].handle = gem_create(self->fd, PAGE);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

/*
 * What the caller believes of an object without an address is so, if that is free: it
 * stands in the commands already.
 */
TEST_F(exec_objects, where_it_is_believed_to_be)
{
	static const __u64 bad[] = { 0x30001004, 0x7fffffff000, 1ull << 63 };
	struct drm_i915_gem_exec_object2 objects[2] = {};
	struct drm_i915_gem_execbuffer2 eb = of(objects, 2);
	unsigned int i;

	for (i = 0; i < 8; i++) {
		const __u64 wanted = 0x30000000 + (8 - i) * 0x200000;

		objects[0] = (struct drm_i915_gem_exec_object2){
			.handle = gem_create(self->fd, 2 * PAGE), .offset = wanted };
		objects[1] = (struct drm_i915_gem_exec_object2){
			.handle = end_batch(&self->gpu), .offset = wanted + PAGE };
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(wanted, objects[0].offset);
		/* that one was first */
		EXPECT_NE(wanted + PAGE, objects[1].offset);
		/* and it stays where it is */
		objects[0].offset = 0x38000000;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(wanted, objects[0].offset);
	}
	/* not where it may not be */
	objects[0] = (struct drm_i915_gem_exec_object2){ .handle = gem_create(self->fd, PAGE),
							 .offset = 0x39001000,
							 .alignment = 0x200000 };
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(0, objects[0].offset % 0x200000);
	objects[0].alignment = 0;
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		objects[0].handle = gem_create(self->fd, PAGE);
		objects[0].offset = bad[i];
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_NE(bad[i], objects[0].offset);
		EXPECT_EQ(0, objects[0].offset % PAGE);
		EXPECT_GT(1ull << 32, objects[0].offset);
	}
}

/* A handle that is closed while the GPU uses its object, and given out again. */
TEST_F(exec_objects, closed_while_in_use)
{
	struct drm_i915_gem_exec_object2 object = {};
	struct drm_i915_gem_execbuffer2 eb = of(&object, 1);
	unsigned int i;

	for (i = 0; i < 64; i++) {
		object = (struct drm_i915_gem_exec_object2){ .handle = end_batch(&self->gpu) };
		ASSERT_NE(0, object.handle);
		eb.flags = self->gpu.engines[i % self->gpu.n_engines].ring;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		ASSERT_EQ(0, gem_close(self->fd, object.handle));
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	}
}

TEST_F(exec_objects, flags)
{
	__u32 batch = end_batch(&self->gpu);
	__u64 good[] = { 0,
			 EXEC_OBJECT_WRITE,
			 EXEC_OBJECT_SUPPORTS_48B_ADDRESS,
			 EXEC_OBJECT_ASYNC,
			 EXEC_OBJECT_CAPTURE,
			 EXEC_OBJECT_NEEDS_GTT,
			 EXEC_OBJECT_NEEDS_FENCE };
	struct drm_i915_gem_exec_object2 objects[2] = { { .handle = gem_create(self->fd, PAGE) },
							{ .handle = batch } };
	struct drm_i915_gem_execbuffer2 eb = of(objects, 2);
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(good); i++) {
		objects[0].flags = good[i];
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	}
	for (i = 8; i < 64; i++) {
		objects[0].flags = 1ull << i;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	}
	/* a batch that is written while it runs */
	objects[0].flags = 0;
	objects[1].flags = EXEC_OBJECT_WRITE;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	/* nothing of these failures stays behind */
	objects[1].flags = 0;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

TEST_F(exec_objects, alignment)
{
	struct drm_i915_gem_exec_object2 objects[2] = { { .handle = gem_create(self->fd, PAGE) },
							{ .handle = end_batch(&self->gpu) } };
	struct drm_i915_gem_execbuffer2 eb = of(objects, 2);
	__u64 bad[] = { 3, 4097, 12288, ~0ull, (1ull << 40) + 1 };
	unsigned int i;

	for (i = 0; i <= 22; i++) {
		objects[0].alignment = 1ull << i;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(0, objects[0].offset % (1ull << i))
		{
			TH_LOG("alignment %llx, address %llx", 1ull << i, objects[0].offset);
		}
	}
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		objects[0].alignment = bad[i];
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	}
}

TEST_F(exec_objects, padding)
{
	struct drm_i915_gem_exec_object2 objects[2] = { { .handle = gem_create(self->fd, PAGE) },
							{ .handle = end_batch(&self->gpu) } };
	struct drm_i915_gem_execbuffer2 eb = of(objects, 2);

	objects[0].flags = EXEC_OBJECT_PAD_TO_SIZE;
	objects[0].pad_to_size = 16 * PAGE;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	objects[0].pad_to_size = PAGE + 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	/* without its flag the field means nothing */
	objects[0].flags = 0;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

/* Addresses come back, do not overlap, and stay while nothing moves. */
TEST_F(exec_objects, addresses_are_told)
{
	enum { N = 16 };
	struct drm_i915_gem_exec_object2 objects[N + 1] = {};
	struct drm_i915_gem_execbuffer2 eb = of(objects, N + 1);
	__u64 first[N + 1];
	unsigned int i, k;

	for (i = 0; i < N; i++) {
		objects[i].handle = gem_create(self->fd, 4 * PAGE);
		objects[i].offset = ~0ull;
	}
	objects[N].handle = end_batch(&self->gpu);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	for (i = 0; i <= N; i++) {
		first[i] = objects[i].offset;
		EXPECT_EQ(0, first[i] % PAGE);
		for (k = 0; k < i; k++)
			EXPECT_TRUE(first[k] + 4 * PAGE <= first[i] ||
				    first[i] + (i < N ? 4 : 1) * PAGE <= first[k]);
	}
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	for (i = 0; i <= N; i++)
		EXPECT_EQ(first[i], objects[i].offset);
}

TEST_F(exec_objects, pinned_addresses)
{
	struct drm_i915_gem_exec_object2 objects[2] = {
		{ .handle = gem_create(self->fd, 4 * PAGE) }, { .handle = end_batch(&self->gpu) }
	};
	struct drm_i915_gem_execbuffer2 eb = of(objects, 2);
	/* below the last one may be the picture that the firmware has left */
	static const __u64 places[] = { 256 << 20, (256 << 20) + PAGE, 512 << 20, 8 << 20 };
	unsigned int i;

	objects[0].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
	for (i = 0; i < ARRAY_LEN(places); i++) {
		objects[0].offset = places[i];
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(places[i], objects[0].offset);
	}
	objects[0].offset = (256 << 20) + 64;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	objects[0].offset = 1ull << 60;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	objects[0].offset = 1ull << 40;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	objects[0].offset = ~0ull & ~(PAGE - 1);
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	/* an alignment that the address does not have */
	objects[0].offset = (256 << 20) + PAGE;
	objects[0].alignment = 2 * PAGE;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
}

TEST_F(exec_objects, pinned_addresses_at_the_end_of_space)
{
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_GTT_SIZE };
	struct drm_i915_gem_exec_object2 objects[2] = {
		{ .handle = gem_create(self->fd, 4 * PAGE) }, { .handle = end_batch(&self->gpu) }
	};
	struct drm_i915_gem_execbuffer2 eb = of(objects, 2);
	unsigned int i;

	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param);
	ASSERT_GT(param.value, 1ull << 20);
	objects[0].flags = EXEC_OBJECT_PINNED;
	for (i = 0; i < 4; i++) {
		objects[0].offset = param.value - i * PAGE;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	}
}

/* Two objects at one address, or across each other. */
TEST_F(exec_objects, pinned_addresses_that_overlap)
{
	struct drm_i915_gem_exec_object2 objects[3] = {
		{ .handle = gem_create(self->fd, 4 * PAGE) },
		{ .handle = gem_create(self->fd, 4 * PAGE) },
		{ .handle = end_batch(&self->gpu) }
	};
	struct drm_i915_gem_execbuffer2 eb = of(objects, 3);
	int step;

	objects[0].flags = EXEC_OBJECT_PINNED;
	objects[1].flags = EXEC_OBJECT_PINNED;
	for (step = -3; step <= 3; step++) {
		objects[0].offset = 300 << 20;
		objects[1].offset = (300 << 20) + step * (int)PAGE;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOSPC);
	}
	objects[1].offset = (300 << 20) + 4 * PAGE;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	objects[1].offset = (300 << 20) - 4 * PAGE;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

/* A pinned object takes the place of one that the kernel had put there. */
TEST_F(exec_objects, pinned_objects_push_others_away)
{
	struct drm_i915_gem_exec_object2 objects[2] = { { .handle = gem_create(self->fd, PAGE) },
							{ .handle = end_batch(&self->gpu) } };
	struct drm_i915_gem_execbuffer2 eb = of(objects, 2);
	__u64 place;
	unsigned int i;

	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	for (i = 0; i < 8; i++) {
		place = objects[0].offset;
		objects[0].handle = gem_create(self->fd, PAGE);
		objects[0].flags = EXEC_OBJECT_PINNED;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(place, objects[0].offset);
	}
}

#define CROWD 8
#define CROWD_ROUNDS rounds("OURO_RACES", 150, 25)

/* A thread that softpins new objects at addresses that others use, too. */
struct claimant {
	const struct gpu *gpu;
	unsigned int rounds;
	unsigned int done;
	unsigned int refused;
	int error;
};

/*
 * The upstream driver does not wait for an object that another thread has just put there:
 * while that makes its request, the address is full (i915_gem_evict_for_node()). So it is
 * asked again; a full one stays full.
 */
static bool held_by_the_other(struct claimant *claimant)
{
	return !claimant->gpu->ouro && claimant->error == -ENOSPC &&
	       claimant->refused++ < 100 * claimant->rounds;
}

static void *claim(void *arg)
{
	struct claimant *claimant = arg;
	int fd = claimant->gpu->fd;
	unsigned int i;

	for (; claimant->done < claimant->rounds && !claimant->error; claimant->done++) {
		struct drm_i915_gem_exec_object2 objects[CROWD + 1] = {};
		struct drm_i915_gem_execbuffer2 eb = of(objects, CROWD + 1);

		for (i = 0; i < CROWD; i++) {
			objects[i].handle = gem_create(fd, PAGE);
			objects[i].flags = EXEC_OBJECT_PINNED;
			objects[i].offset = (320ull << 20) + i * PAGE;
		}
		objects[CROWD].handle = end_batch(claimant->gpu);
		do {
			claimant->error = call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		} while (held_by_the_other(claimant));
		/* they leave when their request is retired, each at a time of its own */
		for (i = 0; i <= CROWD; i++)
			gem_close(fd, objects[i].handle);
	}
	return NULL;
}

/* An address whose object has been closed is free as soon as the request is done, not full. */
TEST_F(exec_objects, addresses_of_closed_objects_are_free)
{
	struct claimant claimants[2] = {};
	pthread_t threads[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		claimants[i].gpu = &self->gpu;
		claimants[i].rounds = CROWD_ROUNDS;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, claim, &claimants[i]));
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, claimants[i].error);
		EXPECT_EQ(claimants[i].rounds, claimants[i].done);
	}
}

/* What the GPU writes goes where the address says: pinned, without relocations. */
TEST_F(exec_objects, pinned_stores_arrive)
{
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		const struct engine *engine = &self->gpu.engines[i];
		const struct store_command *c = store_for(&self->gpu, engine, 4);
		__u64 place = (320ull << 20) + i * 16 * PAGE;
		__u32 target = gem_create(self->fd, PAGE);
		struct drm_i915_gem_execbuffer2 eb;
		struct batch b;
		__u32 handle;

		batch_init(&b);
		batch_store(&b, c, target, 128, 0xcafe0000 + i);
		batch_end(&b, self->gpu.backend);
		b.words[c->address] = (__u32)(place + 128) | c->address_flags;
		/* of addresses that are chosen the upper half is there, too */
		if (addresses_chosen())
			b.words[c->address + 1] = place >> 32;
		b.n_relocs = 0;
		batch_object(&b, target)->offset = place;
		batch_object(&b, target)->flags |= EXEC_OBJECT_PINNED;
		handle = batch_finish(self->fd, &b, &eb);
		eb.flags = engine->ring | I915_EXEC_NO_RELOC;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(0xcafe0000 + i, gem_read32(self->fd, target, 128))
		{
			TH_LOG("%s", engine->name);
		}
		gem_close(self->fd, handle);
	}
}

/* Nothing is bound there: the store is lost, all else goes on (Gen6 faults are silent). */
TEST_F(exec_objects, a_store_to_nowhere_harms_nobody)
{
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		const struct engine *engine = &self->gpu.engines[i];
		const struct store_command *c = store_for(&self->gpu, engine, 4);
		__u32 target = gem_create(self->fd, PAGE);
		struct batch b;

		batch_init(&b);
		batch_store(&b, c, target, 0, 0x11111111);
		b.n_relocs = 0;
		b.words[c->address] = 0x70000000 | c->address_flags;
		if (addresses_chosen())
			b.words[c->address + 1] = 0;
		batch_store(&b, c, target, 16, 0x22222222);
		batch_end(&b, self->gpu.backend);
		ASSERT_EQ(0, batch_run(self->fd, &b, engine->ring, 0));
		EXPECT_EQ(0x22222222, gem_read32(self->fd, target, 16));
		EXPECT_EQ(0, gem_read32(self->fd, target, 0));
		gem_close(self->fd, target);
	}
}

/* As many objects as a large frame has; all stay apart. */
TEST_F(exec_objects, several_hundred)
{
	enum { N = 400 };
	static struct drm_i915_gem_exec_object2 objects[N + 1];
	struct drm_i915_gem_execbuffer2 eb = of(objects, N + 1);
	unsigned int i, k, round;

	for (i = 0; i < N; i++) {
		objects[i].handle = gem_create(self->fd, PAGE);
		objects[i].flags = i % 2 ? EXEC_OBJECT_WRITE : 0;
	}
	objects[N].handle = end_batch(&self->gpu);
	for (round = 0; round < 6; round++) {
		eb.flags = self->gpu.engines[round % self->gpu.n_engines].ring;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	}
	for (i = 0; i < N; i += 7)
		for (k = 0; k < i; k++)
			EXPECT_NE(objects[k].offset, objects[i].offset)
	break;
}

/* Alignments so large that few places are left in the whole space. */
TEST_F(exec_objects, more_than_there_is_room_for)
{
	enum { N = 64 };
	const __u64 step = 256ull << 20;
	struct drm_i915_gem_context_param space = { .param = I915_CONTEXT_PARAM_GTT_SIZE };
	struct drm_i915_gem_exec_object2 objects[N + 1] = {};
	struct drm_i915_gem_execbuffer2 eb = of(objects, N + 1);
	unsigned int i;

	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &space));
	if (space.value > N * step)
		SKIP(return, "the address space is too large to be filled by alignment");
	for (i = 0; i < N; i++) {
		objects[i].handle = gem_create(self->fd, PAGE);
		objects[i].alignment = step;
	}
	objects[N].handle = end_batch(&self->gpu);
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOSPC);

	/* one after the other they fit: those that are idle make room */
	for (i = 0; i < N; i++) {
		struct drm_i915_gem_exec_object2 pair[2] = { objects[i], objects[N] };
		struct drm_i915_gem_execbuffer2 one = of(pair, 2);

		one.flags = self->gpu.engines[i % self->gpu.n_engines].ring;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &one);
		EXPECT_EQ(0, pair[0].offset % step);
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/* Two threads on one file, each pulling the ground from under the other. */
#include <pthread.h>

#define TOPIC races
#define ANY_INTERFACE
#include "test.h"

struct shared {
	const struct gpu *gpu;
	__u32 handle;
	__u32 context;
	__u32 stop;
	unsigned int odd;
};

#define ROUNDS rounds("OURO_RACES", 400, 60)

/* Takes what the other thread is about to close. */
static void *submit(void *argument)
{
	struct shared *s = argument;
	unsigned int i = 0;

	while (!peek(&s->stop)) {
		const struct engine *engine = &s->gpu->engines[i++ % s->gpu->n_engines];
		int got = store(s->gpu, engine, peek(&s->context), peek(&s->handle), 0, i);

		/* closed; or given out again to the batch, which may not be written */
		if (got && got != -ENOENT && got != -EINVAL)
			s->odd++;
	}
	return NULL;
}

TEST_F(races, close_while_submitting)
{
	struct shared s = { .gpu = &self->gpu };
	pthread_t thread;
	const unsigned int n = ROUNDS;
	unsigned int i;

	s.handle = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, pthread_create(&thread, NULL, submit, &s));
	for (i = 0; i < n; i++) {
		__u32 next = gem_create(self->fd, PAGE), old = s.handle;

		ASSERT_NE(0, next);
		poke(&s.handle, next);
		cover("DRM_IOCTL_GEM_CLOSE");
		EXPECT_EQ(0, gem_close(self->fd, old));
	}
	poke(&s.stop, 1);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.odd);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, s.handle, 0, 0x600d));
	EXPECT_EQ(0x600d, gem_read32(self->fd, s.handle, 0));
}

TEST_F(races, context_ends_while_submitting)
{
	struct shared s = { .gpu = &self->gpu };
	pthread_t thread;
	const unsigned int n = ROUNDS;
	unsigned int i;

	if (self->gpu.speaks != &i915)
		SKIP(return, NO_I915);
	s.handle = gem_create(self->fd, PAGE);
	s.context = context_create(self->fd);
	ASSERT_EQ(0, pthread_create(&thread, NULL, submit, &s));
	for (i = 0; i < n / 2; i++) {
		__u32 next = context_create(self->fd), old = s.context;

		ASSERT_NE(0, next);
		poke(&s.context, next);
		cover("DRM_IOCTL_I915_GEM_CONTEXT_DESTROY");
		EXPECT_EQ(0, context_destroy(self->fd, old));
	}
	poke(&s.stop, 1);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.odd);
}

/* Two threads close the same handles: each is closed once. */
struct closers {
	int fd;
	__u32 handles[256];
	unsigned int closed[2];
};

static void *close_all(void *argument)
{
	struct closers *c = argument;
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_LEN(c->handles); i++)
		n += gem_close(c->fd, c->handles[i]) == 0;
	return (void *)(uintptr_t)n;
}

TEST_F(races, both_close)
{
	struct closers c = { .fd = self->fd };
	pthread_t thread;
	uintptr_t here, there;
	unsigned int i;
	void *result;

	for (i = 0; i < ARRAY_LEN(c.handles); i++)
		c.handles[i] = gem_create(self->fd, PAGE);
	cover("DRM_IOCTL_GEM_CLOSE");
	ASSERT_EQ(0, pthread_create(&thread, NULL, close_all, &c));
	here = (uintptr_t)close_all(&c);
	pthread_join(thread, &result);
	there = (uintptr_t)result;
	EXPECT_EQ(ARRAY_LEN(c.handles), here + there);
}

/* One maps and touches while the other one closes. */
static void *touch(void *argument)
{
	struct shared *s = argument;

	while (!peek(&s->stop)) {
		__u32 *map = gem_map(s->gpu->fd, peek(&s->handle), PAGE, I915_MMAP_OFFSET_WB);

		if (map) {
			poke(&map[1], 1);
			munmap(map, PAGE);
		}
	}
	return NULL;
}

TEST_F(races, close_while_mapping)
{
	struct shared s = { .gpu = &self->gpu };
	pthread_t thread;
	const unsigned int n = ROUNDS;
	unsigned int i;

	s.handle = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, pthread_create(&thread, NULL, touch, &s));
	for (i = 0; i < n; i++) {
		__u32 next = gem_create(self->fd, PAGE), old = s.handle;

		poke(&s.handle, next);
		cover("DRM_IOCTL_GEM_CLOSE");
		EXPECT_EQ(0, gem_close(self->fd, old));
	}
	poke(&s.stop, 1);
	pthread_join(thread, NULL);
}

/* Another thread rewrites the arguments meanwhile: what was checked must be what is used. */
struct liar {
	struct batch *b;
	struct drm_i915_gem_execbuffer2 *eb;
	__u32 good;
	__u32 stop;
};

static void *rewrite(void *argument)
{
	struct liar *l = argument;
	__u32 *offset = (__u32 *)&l->b->relocs[0].offset;
	__u32 *handle = &l->b->objects[0].handle;
	__u32 *target = &l->b->relocs[0].target_handle;
	__u32 *count = &l->b->objects[1].relocation_count;
	__u32 right = *offset;

	while (!peek(&l->stop)) {
		poke(offset, 0xfffffffc);
		poke(handle, 0xfffffff0);
		poke(count, 0x7fffffff);
		poke(target, 0);
		poke(offset, right);
		poke(handle, l->good);
		poke(count, 1);
		poke(target, l->good);
	}
	return NULL;
}

TEST_F(races, arguments_change_while_they_are_read)
{
	const struct engine *engine = &self->gpu.engines[0];
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	struct liar liar = { .b = &b, .eb = &eb, .good = gem_create(self->fd, PAGE) };
	const unsigned int n = ROUNDS;
	unsigned int i, odd = 0;
	pthread_t thread;

	if (self->gpu.speaks != &i915)
		SKIP(return, NO_I915);
	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, engine, 4), liar.good, 0, 1);
	batch_end(&b, self->gpu.backend);
	ASSERT_NE(0, batch_finish(self->fd, &b, &eb));
	eb.flags = engine->ring;
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, pthread_create(&thread, NULL, rewrite, &liar));
	for (i = 0; i < n; i++) {
		int got = call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);

		if (got && got != -EINVAL && got != -ENOENT && got != -EFAULT && got != -ENOMEM)
			odd++;
	}
	poke(&liar.stop, 1);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, odd);
	ASSERT_EQ(0, store(&self->gpu, engine, 0, liar.good, 0, 0x600d));
	EXPECT_EQ(0x600d, gem_read32(self->fd, liar.good, 0));
}

/* All threads submit to all engines, each into its own place. */
struct worker {
	const struct gpu *gpu;
	__u32 target;
	unsigned int place;
	int failed;
};

static void *work(void *argument)
{
	struct worker *w = argument;
	unsigned int i;

	for (i = 1; i <= 60; i++)
		if (store(w->gpu, &w->gpu->engines[(i + w->place) % w->gpu->n_engines], 0,
			  w->target, 8 * w->place, i))
			w->failed++;
	return NULL;
}

TEST_F(races, many_submit)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct worker workers[6];
	pthread_t threads[6];
	unsigned int i;

	for (i = 0; i < 6; i++) {
		workers[i] = (struct worker){ .gpu = &self->gpu, .target = target, .place = i };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, work, &workers[i]));
	}
	for (i = 0; i < 6; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, workers[i].failed);
	}
	for (i = 0; i < 6; i++)
		EXPECT_EQ(60, gem_read32(self->fd, target, 8 * i));
}

TEST_HARNESS_MAIN

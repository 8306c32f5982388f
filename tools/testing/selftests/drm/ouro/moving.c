// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that move from one region of memory to another, and back, while user
 * space writes them, by PWRITE and by a mapping: what was written is there, wherever
 * the object is by then.
 *
 * Needs a device with memory of its own, or the module parameter test_region_mb.
 */
#define TOPIC moving
#define ANY_I915
#include <pthread.h>
#include <stdio.h>

#include "test.h"
#include "places.h"

enum { WORDS = 64 * 1024, ROUNDS = 60 };

struct mover {
	const struct gpu *gpu;
	__u32 handle;
	__u64 size;
	__u32 stop;
	/* how often */
	__u32 there;
	__u32 back;
};

/* A batch that uses it, and does nothing. */
static int use(const struct gpu *gpu, __u32 handle)
{
	struct drm_i915_gem_execbuffer2 eb;
	struct words w = {};
	struct batch b;
	__u32 batch;
	int got;

	if (is_card(gpu)) {
		words_object(&w, handle, 0);
		words_end(&w);
		return words_run(gpu->fd, &w, gpu->engines[0].ring, 0);
	}
	batch_init(&b);
	batch_object(&b, handle);
	batch_end(&b, gpu->backend);
	batch = batch_finish(gpu->fd, &b, &eb);
	got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	gem_close(gpu->fd, batch);
	return got;
}

/* Sends it away by an object that takes the whole region, and back by a batch that uses it. */
static void *move(void *arg)
{
	struct mover *m = arg;

	while (!peek(&m->stop)) {
		if (!crowd(m->gpu, m->size))
			m->there++;
		if (!use(m->gpu, m->handle))
			m->back++;
	}
	return NULL;
}

static void fill(__u32 *words, __u32 round)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		words[i] = round << 20 | i;
}

/* The first word that is not what was written, or WORDS. */
static unsigned int differs(const __u32 *words, __u32 round)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		if (words[i] != (round << 20 | i))
			break;
	return i;
}

TEST_F(moving, writes_arrive)
{
	struct mover m = { .gpu = &self->gpu, .size = local_region(self->fd).size };
	__u32 *words, *back, *map;
	pthread_t thread;
	__u32 round;

	if (self->gpu.speaks == &radeon)
		SKIP(return, NO_I915);
	if (!m.size)
		SKIP(return, "no device memory: test_region_mb is 0");
	words = malloc(2 * WORDS * 4);
	ASSERT_NE(NULL, words);
	back = words + WORDS;
	m.handle = create_anywhere(self->fd, WORDS * 4);
	ASSERT_NE(0, m.handle);
	map = gem_map(self->fd, m.handle, WORDS * 4, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	ASSERT_EQ(0, pthread_create(&thread, NULL, move, &m));
	/* as many writes as there are, and until it has moved often enough */
	for (round = 1; round < ROUNDS || peek(&m.there) < 5 || peek(&m.back) < 5; round++) {
		if (!is_card(&self->gpu))
			cover("DRM_IOCTL_I915_GEM_PWRITE");
		if (round % 2) {
			fill(words, round & 0xfff);
			ASSERT_EQ(0, gem_write(self->fd, m.handle, 0, words, WORDS * 4));
		} else {
			fill(map, round & 0xfff);
		}
		ASSERT_EQ(0, gem_read(self->fd, m.handle, 0, back, WORDS * 4));
		ASSERT_EQ(WORDS, differs(back, round & 0xfff))
		{
			TH_LOG("round %u: word %u is %#x", round, differs(back, round & 0xfff),
			       back[differs(back, round & 0xfff)]);
		}
		ASSERT_EQ(WORDS, differs(map, round & 0xfff));
	}
	poke(&m.stop, 1);
	pthread_join(thread, NULL);
	printf("# cover: writes against moves: %u, of the object: %u away, %u back\n", round,
	       m.there, m.back);
	fflush(stdout);
	free(words);
}

TEST_HARNESS_MAIN

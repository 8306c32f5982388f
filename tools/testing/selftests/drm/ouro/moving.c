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

enum { WORDS = 64 * 1024, ROUNDS = 60 };

static const struct drm_i915_gem_memory_class_instance PLACES[] = {
	{ I915_MEMORY_CLASS_DEVICE, 0 },
	{ I915_MEMORY_CLASS_SYSTEM, 0 },
};

/* An object that may be in the device's memory, or in `places` kinds. */
static __u32 create(int fd, __u64 size, unsigned int places)
{
	struct drm_i915_gem_create_ext_memory_regions regions = {
		.base.name = I915_GEM_CREATE_EXT_MEMORY_REGIONS,
		.num_regions = places,
		.regions = U64(PLACES),
	};
	struct drm_i915_gem_create_ext create = { .size = size, .extensions = U64(&regions) };

	return call(fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create) ? 0 : create.handle;
}

struct mover {
	const struct gpu *gpu;
	__u32 handle;
	__u64 size;
	__u32 stop;
	/* how often */
	__u32 there;
	__u32 back;
};

/* Sends it away by an object that takes the whole region, and back by a batch that uses it. */
static void *move(void *arg)
{
	struct mover *m = arg;
	int fd = m->gpu->fd;

	while (!peek(&m->stop)) {
		struct drm_i915_gem_execbuffer2 eb;
		__u32 all = create(fd, m->size, 1), batch, word = 1;
		struct batch b;

		if (!gem_write(fd, all, 0, &word, sizeof(word)))
			m->there++;
		gem_close(fd, all);
		batch_init(&b);
		batch_object(&b, m->handle);
		batch_end(&b, m->gpu->backend);
		batch = batch_finish(fd, &b, &eb);
		if (!call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb))
			m->back++;
		gem_close(fd, batch);
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

	if (!m.size)
		SKIP(return, "no device memory: test_region_mb is 0");
	words = malloc(2 * WORDS * 4);
	ASSERT_NE(NULL, words);
	back = words + WORDS;
	m.handle = create(self->fd, WORDS * 4, 2);
	ASSERT_NE(0, m.handle);
	map = gem_map(self->fd, m.handle, WORDS * 4, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	ASSERT_EQ(0, pthread_create(&thread, NULL, move, &m));
	/* as many writes as there are, and until it has moved often enough */
	for (round = 1; round < ROUNDS || peek(&m.there) < 5 || peek(&m.back) < 5; round++) {
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

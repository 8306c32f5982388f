// SPDX-License-Identifier: GPL-2.0
/*
 * The device goes and comes back again and again, each time with something else
 * in use, by chance: files, objects, mappings that were touched or not, exported
 * buffers, work that ends and work that does not. Part of it is released before
 * it is back, part of it after. Then it works, and nothing of before is left.
 *
 * OURO_SEED is where the random numbers begin, OURO_UNBINDS how often it goes.
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#define ANY_INTERFACE
#define MUTE_ENGINES
#include "test.h"

enum { FILES = 3, THINGS = 12, MOST_PAGES = 16 };

FIXTURE(rebind)
{
	struct gpu gpu;
	struct place place;
	__u32 random;
};

FIXTURE_SETUP(rebind)
{
	gpu_setup(_metadata, &self->gpu);
	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours to unbind: it has no DRM_IOCTL_OURO_DEVICE");
	ASSERT_EQ(0, device_of(self->gpu.fd, &self->place));
	gpu_close(&self->gpu);
}

FIXTURE_TEARDOWN(rebind)
{
}

static __u32 rnd(__u32 *random, __u32 below)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random % below;
}

/* An object, and what is made of it; none of it has to be there. */
struct thing {
	__u32 *map;
	size_t size;
	int exported;
	int fence;
};

static sigjmp_buf no_page;

static void bus_error(int signal)
{
	(void)signal;
	siglongjmp(no_page, 1);
}

/* Reads and writes a word, if its page is there. */
static void touch(__u32 *word)
{
	if (!sigsetjmp(no_page, 1))
		poke(word, peek(word) + 1);
}

static void release(struct thing *t)
{
	if (t->map)
		munmap(t->map, t->size);
	if (t->exported >= 0)
		close(t->exported);
	if (t->fence >= 0)
		close(t->fence);
	*t = (struct thing){ .exported = -1, .fence = -1 };
}

/* Makes a thing on one of the files. */
static void make(struct __test_metadata *_metadata, const struct gpu *gpu, __u32 *random,
		 struct thing *t)
{
	static const __u64 how[] = { I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_WC, I915_MMAP_OFFSET_UC,
				     I915_MMAP_OFFSET_GTT };
	const struct engine *engine = &gpu->engines[rnd(random, gpu->n_engines)];
	__u32 handle, context = rnd(random, 2) ? context_create(gpu->fd) : 0;
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	struct spin spin;

	t->size = (1 + rnd(random, MOST_PAGES)) * PAGE;
	handle = gem_create(gpu->fd, t->size);
	ASSERT_NE(0, handle);
	if (rnd(random, 2)) {
		t->map = gem_map(gpu->fd, handle, t->size, how[rnd(random, ARRAY_LEN(how))]);
		ASSERT_NE(NULL, t->map);
		if (rnd(random, 2))
			touch(t->map + rnd(random, t->size / 4));
	}
	if (rnd(random, 3) == 0) {
		prime.handle = handle;
		ASSERT_EQ(0, call(gpu->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
		t->exported = prime.fd;
	}
	if (rnd(random, 4) == 0 && has_spin(gpu)) {
		ASSERT_EQ(0, spin_start(gpu, engine, context, rnd(random, 2) ? handle : 0,
					&t->fence, &spin));
		munmap(spin.map, PAGE);
	} else if (rnd(random, 4)) {
		ASSERT_EQ(0, store(gpu, engine, context, handle, 0, 1));
	}
	if (rnd(random, 3) == 0)
		gem_close(gpu->fd, handle);
}

TEST_F(rebind, with_anything_in_use)
{
	unsigned int times = rounds("OURO_UNBINDS", 12, 4), i, k;
	struct sigaction action = { .sa_handler = bus_error };
	__u32 seed = rounds("OURO_SEED", 2026, 2026), random = seed * 2654435761u | 1;
	struct drm_ouro_stats stats;
	struct gpu gpu;
	__u32 handle;

	TH_LOG("seed %u, %u times", seed, times);
	ASSERT_EQ(0, sigaction(SIGBUS, &action, NULL));
	for (i = 0; i < times; i++) {
		struct gpu files[FILES];
		struct thing things[THINGS];

		for (k = 0; k < FILES; k++)
			ASSERT_EQ(0, device_open(&self->place, &files[k]));
		for (k = 0; k < THINGS; k++) {
			things[k] = (struct thing){ .exported = -1, .fence = -1 };
			make(_metadata, &files[rnd(&random, FILES)], &random, &things[k]);
		}
		usleep(rnd(&random, 20000));
		cover("unbind");
		ASSERT_EQ(0, device_unbind(&self->place));
		/* whatever was published is over, one way or the other */
		for (k = 0; k < THINGS; k++) {
			struct pollfd over = { .fd = things[k].fence, .events = POLLIN };

			if (over.fd >= 0)
				EXPECT_EQ(1, poll(&over, 1, 0));
			if (things[k].map)
				touch(things[k].map);
			if (rnd(&random, 2))
				release(&things[k]);
		}
		for (k = 0; k < FILES; k++)
			if (rnd(&random, 2))
				gpu_close(&files[k]), files[k].fd = -1;
		ASSERT_EQ(0, device_bind(&self->place));
		for (k = 0; k < THINGS; k++) {
			if (things[k].map)
				touch(things[k].map);
			release(&things[k]);
		}
		for (k = 0; k < FILES; k++)
			gpu_close(&files[k]);
		ASSERT_EQ(0, device_open(&self->place, &gpu));
		handle = gem_create(gpu.fd, PAGE);
		for (k = 0; k < gpu.n_engines; k++) {
			ASSERT_EQ(0, store(&gpu, &gpu.engines[k], 0, handle, 8 * k, 0xb1 + k));
			EXPECT_EQ(0xb1 + k, gem_read32(gpu.fd, handle, 8 * k));
		}
		gem_close(gpu.fd, handle);
		ASSERT_EQ(0, stats_settled(gpu.fd, &stats));
		EXPECT_EQ(0, stats.objects);
		EXPECT_EQ(0, stats.object_pages);
		EXPECT_EQ(0, stats.fences);
		gpu_close(&gpu);
	}
	printf("# cover: unbound with anything in use: %u times\n", times);
	fflush(stdout);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GEM_SET_TILING and GET_TILING, and what the aperture makes of
 * tiled objects.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#define TOPIC tiling
#include "test.h"
#include "tiled.h"

#define TILES(mode_, stride_) { .mode = I915_TILING_##mode_, .stride = (stride_) }

/* True if the chip has detiling fences. */
static bool has_fences(int fd)
{
	return getparam(fd, I915_PARAM_NUM_FENCES_AVAIL) > 0;
}

/* Returns the word at this offset in memory, in the tests below. */
static __u32 word_at(__u64 at)
{
	return 0x5eed0000u ^ (__u32)(at * 2654435761u);
}

static int fill(int fd, __u32 handle, __u64 size)
{
	__u32 *words = malloc(size);
	__u64 i;
	int got;

	for (i = 0; i < size / 4; i++)
		words[i] = word_at(i * 4);
	got = gem_write(fd, handle, 0, words, size);
	free(words);
	return got;
}

static __u32 mode_of(int fd, __u32 handle)
{
	struct drm_i915_gem_get_tiling get = { .handle = handle, .tiling_mode = 77 };

	return call(fd, DRM_IOCTL_I915_GEM_GET_TILING, &get) ? ~0u : get.tiling_mode;
}

TEST_F(tiling, what_is_set_is_got)
{
	static const struct tiling good[] = {
		TILES(X, 512),	   TILES(X, 1024),   TILES(X, 1536), TILES(X, 5120),
		TILES(X, 131072),  TILES(Y, 128),    TILES(Y, 256),  TILES(Y, 384),
		TILES(Y, 5248),	   TILES(Y, 131072), TILES(NONE, 0), TILES(X, 2048),
		TILES(NONE, 1234),
	};
	__u32 handle = gem_create(self->fd, 64 * PAGE);
	unsigned int i;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	EXPECT_EQ(I915_TILING_NONE, mode_of(self->fd, handle));
	for (i = 0; i < ARRAY_LEN(good); i++) {
		struct drm_i915_gem_set_tiling set = { .handle = handle,
						       .tiling_mode = good[i].mode,
						       .stride = good[i].stride,
						       .swizzle_mode = 99 };
		struct drm_i915_gem_get_tiling get = { .handle = handle, .swizzle_mode = 99 };

		GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_TILING, &set);
		EXPECT_EQ(good[i].mode, set.tiling_mode);
		EXPECT_EQ(good[i].mode ? good[i].stride : 0, set.stride);
		GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_TILING, &get);
		EXPECT_EQ(good[i].mode, get.tiling_mode);
		EXPECT_EQ(set.swizzle_mode, get.swizzle_mode);
		/* where it is not known what is mixed, the first says that nothing is */
		EXPECT_NE(I915_BIT_6_SWIZZLE_UNKNOWN, get.swizzle_mode);
		if (!self->gpu.backend->swizzle_may_be_unknown ||
		    get.phys_swizzle_mode != I915_BIT_6_SWIZZLE_UNKNOWN)
			EXPECT_EQ(set.swizzle_mode, get.phys_swizzle_mode);
		/* Either nothing is mixed, or what this generation can mix. */
		if (get.swizzle_mode != I915_BIT_6_SWIZZLE_NONE)
			EXPECT_EQ(good[i].mode == I915_TILING_X ? I915_BIT_6_SWIZZLE_9_10 :
				  good[i].mode == I915_TILING_Y ? I915_BIT_6_SWIZZLE_9 :
								  I915_BIT_6_SWIZZLE_NONE,
				  get.swizzle_mode);
	}
	gem_close(self->fd, handle);
}

TEST_F(tiling, what_cannot_be_is_refused)
{
	__u32 widest = self->gpu.backend->widest_tiles;
	const struct tiling bad[] = {
		TILES(X, 0),	  TILES(X, 1),	     TILES(X, 128),	   TILES(X, 511),
		TILES(X, 513),	  TILES(X, 640),     TILES(X, widest + 512), TILES(X, 1u << 31),
		TILES(X, -512u),  TILES(X, -1u),     TILES(Y, 0),	   TILES(Y, 64),
		TILES(Y, 127),	  TILES(Y, 129),     TILES(Y, widest + 128), TILES(Y, -128u),
		{ 3, 512, 0 },	  { 4, 4096, 0 },    { 1u << 31, 512, 0 }, { -1u, 512, 0 },
	};
	__u32 handle = gem_create(self->fd, 64 * PAGE);
	struct drm_i915_gem_set_tiling set = {};
	struct drm_i915_gem_get_tiling get = {};
	struct tiling kept = TILES(Y, 1024);
	unsigned int i;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	ASSERT_EQ(0, tile(self->fd, handle, &kept));
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		set.handle = handle;
		set.tiling_mode = bad[i].mode;
		set.stride = bad[i].stride;
		BAD(self->fd, DRM_IOCTL_I915_GEM_SET_TILING, &set, EINVAL);
		EXPECT_EQ(I915_TILING_Y, mode_of(self->fd, handle));
		/* who asks for an object that is not there hears of that first */
		set.handle = handle + 100;
		set.tiling_mode = bad[i].mode;
		set.stride = bad[i].stride;
		BAD(self->fd, DRM_IOCTL_I915_GEM_SET_TILING, &set, ENOENT);
	}
	set.handle = 0;
	set.tiling_mode = I915_TILING_X;
	set.stride = 512;
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_TILING, &set, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_GET_TILING, &get, ENOENT);
	get.handle = handle + 100;
	BAD(self->fd, DRM_IOCTL_I915_GEM_GET_TILING, &get, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_TILING, NULL, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_GET_TILING, NULL, EFAULT);
}

TEST_F(tiling, shared_objects_have_one_tiling)
{
	__u32 handle = gem_create(self->fd, PAGE);
	struct drm_gem_flink flink = { .handle = handle };
	struct drm_gem_open open = {};
	struct tiling t = TILES(X, 512);
	struct gpu other;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	ASSERT_EQ(0, gpu_open(&other));
	if (call(self->fd, DRM_IOCTL_GEM_FLINK, &flink)) {
		struct drm_prime_handle prime = { .handle = handle, .flags = O_CLOEXEC };

		ASSERT_EQ(0, call(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
		ASSERT_EQ(0, call(other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime));
		close(prime.fd);
		open.handle = prime.handle;
	} else {
		open.name = flink.name;
		ASSERT_EQ(0, call(other.fd, DRM_IOCTL_GEM_OPEN, &open));
	}
	ASSERT_EQ(0, tile(self->fd, handle, &t));
	EXPECT_EQ(I915_TILING_X, mode_of(other.fd, open.handle));
	gpu_close(&other);
}

/* Literal places, of surfaces four tiles wide: (513, 9) of X tiles, (145, 33) of Y tiles. */
TEST_F(tiling, the_formula_is_that_of_the_manual)
{
	struct tiling x = TILES(X, 4 * 512), y = TILES(Y, 4 * 128);

	EXPECT_EQ(0x5201, tiled_offset(&x, 9 * x.stride + 513));
	EXPECT_EQ(0x5211, tiled_offset(&y, 33 * y.stride + 145));
}

/* Surfaces of the tests below: eight rows of tiles each. */
static const struct tiling surfaces[] = {
	TILES(X, 512),	 TILES(X, 2048), TILES(X, 2560), TILES(X, 8192),
	TILES(Y, 128),	 TILES(Y, 512),	 TILES(Y, 640),	 TILES(Y, 2048),
	TILES(NONE, 0),
};

/* Places of a surface that are looked at: the corners, and some in between; multiples of 4. */
static __u64 place(const struct tiling *t, __u64 size, unsigned int i)
{
	const __u64 corners[] = { 0,
				  t->stride - 4,
				  t->stride,
				  tile_row(t) - 4,
				  tile_row(t),
				  size - 4 };
	const __u64 steps = 40;

	if (i < ARRAY_LEN(corners) && t->stride)
		return corners[i];
	/* an odd number of words, so that columns differ */
	return (i * (size / steps | 4) + i * 68) % size & ~3ull;
}

#define PLACES 46

TEST_F(tiling, the_aperture_undoes_tiles_for_reads)
{
	unsigned int s, i;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	for (s = 0; s < ARRAY_LEN(surfaces); s++) {
		struct tiling t = surfaces[s];
		__u64 size = t.mode ? 8 * tile_row(&t) : 16 * PAGE;
		__u32 handle = gem_create(self->fd, size);
		__u32 *map;

		ASSERT_EQ(0, tile(self->fd, handle, &t));
		ASSERT_EQ(0, fill(self->fd, handle, size));
		map = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_GTT);
		ASSERT_NE(NULL, map);
		for (i = 0; i < PLACES; i++) {
			__u64 at = place(&t, size, i);

			ASSERT_EQ(word_at(tiled_offset(&t, at)), peek(&map[at / 4]))
			{
				TH_LOG("mode %u, stride %u, byte %llu", t.mode, t.stride, at);
			}
		}
		munmap(map, size);
		gem_close(self->fd, handle);
	}
}

TEST_F(tiling, the_aperture_makes_tiles_of_writes)
{
	unsigned int s, i;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	for (s = 0; s < ARRAY_LEN(surfaces); s++) {
		struct tiling t = surfaces[s];
		__u64 size = t.mode ? 8 * tile_row(&t) : 16 * PAGE;
		__u32 handle = gem_create(self->fd, size);
		__u32 *map, *wb;

		/* The pages are there before the tiling is set. */
		ASSERT_EQ(0, fill(self->fd, handle, size));
		ASSERT_EQ(0, tile(self->fd, handle, &t));
		map = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_GTT);
		wb = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_WB);
		ASSERT_NE(NULL, map);
		ASSERT_NE(NULL, wb);
		for (i = 0; i < PLACES; i++)
			poke(&map[place(&t, size, i) / 4], 0xab000000 + i);
		for (i = PLACES; i--;) {
			__u64 at = tiled_offset(&t, place(&t, size, i));
			unsigned int j;

			/* the last write to a place counts */
			for (j = PLACES - 1; place(&t, size, j) != place(&t, size, i); j--)
				;
			ASSERT_EQ(0xab000000 + j, gem_read32(self->fd, handle, at))
			{
				TH_LOG("mode %u, stride %u, byte %llu", t.mode, t.stride,
				       place(&t, size, i));
			}
			ASSERT_EQ(0xab000000 + j, peek(&wb[at / 4]));
		}
		munmap(map, size);
		munmap(wb, size);
		gem_close(self->fd, handle);
	}
}

/* Bytes, halves and quadwords go where they belong, too. */
TEST_F(tiling, accesses_of_all_sizes)
{
	struct tiling t = TILES(Y, 512);
	__u64 size = 2 * tile_row(&t), at = 33 * t.stride + 144;
	__u32 handle = gem_create(self->fd, size);
	char *map;
	__u64 q;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	ASSERT_EQ(0, tile(self->fd, handle, &t));
	map = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_GTT);
	ASSERT_NE(NULL, map);
	map += at;
	__atomic_store_n((__u8 *)map + 1, 0x11, __ATOMIC_SEQ_CST);
	__atomic_store_n((__u16 *)(map + 2), 0x2233, __ATOMIC_SEQ_CST);
	__atomic_store_n((__u32 *)(map + 4), 0x44556677, __ATOMIC_SEQ_CST);
	__atomic_store_n((__u64 *)(map + 8), 0x8899aabbccddeeffull, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, gem_read(self->fd, handle, tiled_offset(&t, at), &q, 8));
	EXPECT_EQ(0x4455667722331100ull, q);
	ASSERT_EQ(0, gem_read(self->fd, handle, tiled_offset(&t, at + 8), &q, 8));
	EXPECT_EQ(0x8899aabbccddeeffull, q);
	EXPECT_EQ(0x11, __atomic_load_n((__u8 *)map + 1, __ATOMIC_SEQ_CST));
	EXPECT_EQ(0x2233, __atomic_load_n((__u16 *)(map + 2), __ATOMIC_SEQ_CST));
	EXPECT_EQ(0x8899aabbccddeeffull, __atomic_load_n((__u64 *)(map + 8), __ATOMIC_SEQ_CST));
	/* across a column of 16 bytes, which are 512 bytes apart */
	memcpy(&q, map + 12, 8);
	EXPECT_EQ(0x8899aabbull, q & 0xffffffff);
}

/* A mapping that is there shows the new order at once. */
TEST_F(tiling, a_change_shows_in_mappings)
{
	static const struct tiling modes[] = { TILES(NONE, 0), TILES(X, 2048), TILES(Y, 2048),
					       TILES(X, 1024), TILES(NONE, 0), TILES(Y, 128),
					       TILES(X, 512) };
	__u64 size = 32 * PAGE;
	__u32 handle = gem_create(self->fd, size);
	__u32 *map, *wb;
	unsigned int m, i;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	ASSERT_EQ(0, fill(self->fd, handle, size));
	map = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_GTT);
	wb = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	ASSERT_NE(NULL, wb);
	for (m = 0; m < ARRAY_LEN(modes); m++) {
		struct tiling t = modes[m];

		ASSERT_EQ(0, tile(self->fd, handle, &t));
		for (i = 0; i < PLACES; i += 3) {
			__u64 at = i * 2844 & ~3;

			ASSERT_EQ(word_at(tiled_offset(&t, at)), peek(&map[at / 4]))
			{
				TH_LOG("step %u: mode %u, stride %u, byte %llu", m, t.mode,
				       t.stride, at);
			}
			/* the other kinds show memory as it is */
			ASSERT_EQ(word_at(at), peek(&wb[at / 4]));
		}
	}
}

/* More tiled objects than fences, all mapped, each of its own shape. */
TEST_F(tiling, more_objects_than_fences)
{
	enum { OBJECTS = 40, ROUNDS = 4 };
	struct tiling t[OBJECTS] = {};
	struct drm_ouro_stats before = {}, after = {};
	__u32 handles[OBJECTS], *maps[OBJECTS];
	__u64 size = 64 * PAGE;
	int fences = getparam(self->fd, I915_PARAM_NUM_FENCES_AVAIL);
	unsigned int i, round;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	ASSERT_GT(OBJECTS, fences);
	call(self->fd, DRM_IOCTL_OURO_STATS, &before);
	for (i = 0; i < OBJECTS; i++) {
		t[i].mode = i % 2 ? I915_TILING_Y : I915_TILING_X;
		t[i].stride = i % 2 ? 128 * (i % 7 + 1) : 512 * (i % 5 + 1);
		handles[i] = gem_create(self->fd, size);
		ASSERT_EQ(0, tile(self->fd, handles[i], &t[i]));
		maps[i] = gem_map(self->fd, handles[i], size, I915_MMAP_OFFSET_GTT);
		ASSERT_NE(NULL, maps[i]);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < OBJECTS; i++) {
			__u64 at = (2 * round + 1) * t[i].stride + 16 * i + 4 * round;

			poke(&maps[i][at / 4], round << 16 | i);
			EXPECT_EQ(round << 16 | i,
				  gem_read32(self->fd, handles[i], tiled_offset(&t[i], at)));
		}
		/* backwards: what was written before they lost their fences */
		for (i = OBJECTS; i--;) {
			__u64 at = (2 * round + 1) * t[i].stride + 16 * i + 4 * round;

			EXPECT_EQ(round << 16 | i, peek(&maps[i][at / 4]));
		}
	}
	if (self->gpu.ouro) {
		ASSERT_EQ(0, call(self->fd, DRM_IOCTL_OURO_STATS, &after));
		/* some of 40 objects had to take another one's, in each half round but the first */
		EXPECT_LE((2 * ROUNDS - 1) * (OBJECTS - fences),
			  after.fence_steals - before.fence_steals);
	}
}

/*
 * An object that ends within a row of tiles: its part is shown, and accesses to the rest do no
 * harm.
 */
TEST_F(tiling, an_object_that_ends_within_a_row)
{
	struct tiling t = TILES(X, 2048);
	__u64 size = 5 * PAGE;
	__u32 handle = gem_create(self->fd, size), *map;
	__u64 at;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	ASSERT_EQ(0, fill(self->fd, handle, size));
	ASSERT_EQ(0, tile(self->fd, handle, &t));
	map = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_GTT);
	ASSERT_NE(NULL, map);
	for (at = 0; at < tile_row(&t); at += 1020)
		ASSERT_EQ(word_at(tiled_offset(&t, at)), peek(&map[at / 4]));
	/* the first tile of the second row is the object's last page */
	EXPECT_EQ(word_at(4 * PAGE + 8), peek(&map[(tile_row(&t) + 8) / 4]));
	/* the second one belongs to no object */
	poke(&map[(tile_row(&t) + 512) / 4], 0x600df00d);
	for (at = 0; at < size; at += 4)
		ASSERT_EQ(word_at(at), gem_read32(self->fd, handle, at));
}

/*
 * One thread writes and reads tiles again and again while the device is reset. Some chips forget
 * their fences then, and until these are written again an offset of the mapping leads to another
 * one in memory: no client may see that.
 */
struct painter {
	__u32 *map;
	unsigned int stop, passes, wrong;
};

enum { PAINT_STRIDE = 2048, PAINT_ROWS = 16, PAINT_STEP = 128 };

static void *paint(void *arg)
{
	const unsigned int n = PAINT_STRIDE * PAINT_ROWS / PAINT_STEP;
	struct painter *p = arg;
	unsigned int i;

	while (!peek(&p->stop)) {
		p->passes++;
		for (i = 0; i < n; i++)
			poke(&p->map[i * PAINT_STEP / 4], p->passes << 16 | i);
		for (i = 0; i < n; i++)
			p->wrong += peek(&p->map[i * PAINT_STEP / 4]) != (p->passes << 16 | i);
	}
	return NULL;
}

TEST_F(tiling, tiles_are_written_while_the_device_is_reset)
{
	struct tiling t = TILES(X, PAINT_STRIDE);
	__u64 size = PAINT_STRIDE * PAINT_ROWS;
	__u32 handle = gem_create(self->fd, size);
	struct painter painter = {};
	const unsigned int resets = rounds("OURO_RESETS", 12, 4);
	pthread_t thread;
	unsigned int i;

	if (!has_fences(self->fd))
		SKIP(return, "the chip has no detiling fences");
	if (device_is_wedged(self->fd) < 0)
		SKIP(return, "a reset cannot be requested here");
	ASSERT_EQ(0, tile(self->fd, handle, &t));
	painter.map = gem_map(self->fd, handle, size, I915_MMAP_OFFSET_GTT);
	ASSERT_NE(NULL, painter.map);
	ASSERT_EQ(0, pthread_create(&thread, NULL, paint, &painter));
	for (i = 0; i < resets; i++) {
		usleep(20000);
		EXPECT_EQ(0, device_ask_for_reset(self->fd));
	}
	poke(&painter.stop, 1);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, painter.wrong);
	EXPECT_LT(0, painter.passes);
	printf("# cover: tiles written while the device was reset %u times: %u passes\n", resets,
	       painter.passes);
	fflush(stdout);
}

TEST_HARNESS_MAIN

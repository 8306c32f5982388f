// SPDX-License-Identifier: GPL-2.0
/* The radeon interface: where objects live, and what is in them there. */
#include "radeon_fixture.h"

/* New memory is zero, also where another object was before. */
TEST_F(radeon, memory_is_zero)
{
	static const __u32 domains[] = { RADEON_GEM_DOMAIN_GTT, RADEON_GEM_DOMAIN_VRAM };
	unsigned int i, round, at, other;
	const __u64 size = 4 * PAGE;

	for (i = 0; i < ARRAY_LEN(domains); i++) {
		/* upstream leaves in VRAM what was there */
		if (!self->ours && domains[i] == RADEON_GEM_DOMAIN_VRAM)
			continue;
		for (round = 0; round < 3; round++) {
			__u32 handle = bo_create(self->fd, size, domains[i]);
			__u32 *words = bo_map(self->fd, handle, size);

			ASSERT_NE(0, handle);
			ASSERT_NE(MAP_FAILED, words);
			for (at = 0, other = 0; at < size / 4; at++)
				other += peek(&words[at]) != 0;
			EXPECT_EQ(0, other);
			/* where the GPU wants it, and what the one before it has left there */
			ASSERT_EQ(0, bo_use(self->fd, handle, domains[i]));
			ASSERT_EQ(0, bo_wait_idle(self->fd, handle));
			EXPECT_EQ(domains[i], bo_domain_of(self->fd, handle));
			for (at = 0, other = 0; at < size / 4; at++)
				other += peek(&words[at]) != 0;
			EXPECT_EQ(0, other);
			for (at = 0; at < size / 4; at++)
				poke(&words[at], 0xdeadbeef);
			munmap(words, size);
			gem_close(self->fd, handle);
		}
	}
}

/* Objects move where streams want them, with what is in them. */
TEST_F(radeon, moves)
{
	const __u64 size = 300 * PAGE;
	__u32 handle = bo_create(self->fd, size, RADEON_GEM_DOMAIN_VRAM), only;
	__u32 *words = bo_map(self->fd, handle, size);
	unsigned int i, at, other;

	ASSERT_NE(MAP_FAILED, words);
	for (at = 0; at < size / 4; at += 61)
		poke(&words[at], at * 7);
	for (i = 0; i < 6; i++) {
		__u32 domain = i % 2 ? RADEON_GEM_DOMAIN_VRAM : RADEON_GEM_DOMAIN_GTT;

		ASSERT_EQ(0, bo_use(self->fd, handle, domain));
		ASSERT_EQ(0, bo_wait_idle(self->fd, handle));
		EXPECT_EQ(domain, bo_domain_of(self->fd, handle));
		for (at = 0, other = 0; at < size / 4; at += 61)
			other += peek(&words[at]) != at * 7 + i;
		EXPECT_EQ(0, other);
		for (at = 0; at < size / 4; at += 61)
			poke(&words[at], at * 7 + i + 1);
	}
	/* one that was made for GTT stays there; upstream moves it as well */
	only = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	ASSERT_EQ(0, bo_use(self->fd, only, RADEON_GEM_DOMAIN_VRAM));
	EXPECT_EQ(self->ours ? RADEON_GEM_DOMAIN_GTT : RADEON_GEM_DOMAIN_VRAM,
		  bo_domain_of(self->fd, only));
	munmap(words, size);
}

/* More than the device's memory holds: some leave, and nothing is lost. */
TEST_F(radeon, eviction)
{
	struct drm_radeon_gem_info info = {};
	__u32 handles[9] = {};
	__u32 *words[9];
	unsigned int i, round, at, in_vram;
	__u64 size;

	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_INFO, &info);
	size = info.vram_size / 8 & ~(PAGE - 1);
	if (size > 8ull << 20)
		SKIP(return, "the device has so much memory that the machine has not");
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		handles[i] = bo_create(self->fd, size, RADEON_GEM_DOMAIN_VRAM);
		ASSERT_NE(0, handles[i]);
		words[i] = bo_map(self->fd, handles[i], size);
		ASSERT_NE(MAP_FAILED, words[i]);
		for (at = 0; at < size / 4; at += PAGE / 4)
			poke(&words[i][at], i << 24 | at);
	}
	for (round = 0; round < 2; round++) {
		for (i = 0; i < ARRAY_LEN(handles); i++)
			ASSERT_EQ(0, bo_use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
		for (i = 0, in_vram = 0; i < ARRAY_LEN(handles); i++) {
			ASSERT_EQ(0, bo_wait_idle(self->fd, handles[i]));
			in_vram += bo_domain_of(self->fd, handles[i]) == RADEON_GEM_DOMAIN_VRAM;
			for (at = 0; at < size / 4; at += PAGE / 4)
				ASSERT_EQ(i << 24 | at, peek(&words[i][at]));
		}
		EXPECT_LT(0, in_vram);
		EXPECT_GT(ARRAY_LEN(handles), in_vram);
	}
}

/*
 * An object that the CPU is not expected to look at is seen all the same: where its memory is
 * out of sight, it comes to the CPU.
 */
TEST_F(radeon, out_of_sight)
{
	struct drm_radeon_gem_create arg = { .size = 64 * PAGE,
					     .initial_domain = RADEON_GEM_DOMAIN_VRAM,
					     .flags = RADEON_GEM_NO_CPU_ACCESS };
	struct drm_radeon_gem_info info = {};
	unsigned int at, round, other;
	__u32 *words;

	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_INFO, &info);
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg);
	words = bo_map(self->fd, arg.handle, arg.size);
	ASSERT_NE(MAP_FAILED, words);
	for (round = 1; round < 4; round++) {
		for (at = 0; at < arg.size / 4; at += 31)
			poke(&words[at], round << 24 | at);
		ASSERT_EQ(0, bo_use(self->fd, arg.handle, RADEON_GEM_DOMAIN_VRAM));
		ASSERT_EQ(0, bo_wait_idle(self->fd, arg.handle));
		EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, bo_domain_of(self->fd, arg.handle));
		for (at = 0, other = 0; at < arg.size / 4; at += 31)
			other += peek(&words[at]) != (round << 24 | at);
		EXPECT_EQ(0, other);
		/* upstream keeps it in VRAM where the CPU sees it */
		if (self->ours && info.vram_visible < info.vram_size)
			EXPECT_EQ(RADEON_GEM_DOMAIN_GTT, bo_domain_of(self->fd, arg.handle));
	}
	munmap(words, arg.size);
	gem_close(self->fd, arg.handle);
}

/*
 * A tiled object in VRAM that asks for it is seen in rows, by a surface of the chip; there are
 * eight, and they are taken from each other. Without one, and in GTT, it is seen as it is. Places:
 * digest §4.1, 32 bits a pixel, rows of 256.
 */
TEST_F(radeon, surfaces)
{
	static const __u32 pixels[][2] = { { 1, 0 }, { 0, 1 }, { 5, 3 }, { 33, 17 }, { 255, 63 } };
	static const struct {
		__u32 flags, places[5];
	} tilings[] = {
		{ RADEON_TILING_MACRO | RADEON_TILING_MICRO,
		  { 0x4, 0x10, 0x134, 0x4814, 0xfffc } },
		{ RADEON_TILING_MACRO, { 0x4, 0x100, 0x314, 0x4184, 0xfffc } },
		{ RADEON_TILING_MICRO, { 0x4, 0x10, 0x834, 0x4114, 0xfffc } },
	};
	const __u64 size = 16 * PAGE;
	__u32 handles[10], *words[10];
	unsigned int i, n, round, wrong = 0;

	if (!self->ours)
		SKIP(return, "the upstream driver has surfaces for scanout alone");
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		struct drm_radeon_gem_set_tiling arg = {
			.tiling_flags = tilings[i % 3].flags | RADEON_TILING_SURFACE,
			.pitch = 1024,
		};

		handles[i] = bo_create(self->fd, size, RADEON_GEM_DOMAIN_VRAM);
		ASSERT_NE(0, handles[i]);
		words[i] = bo_map(self->fd, handles[i], size);
		ASSERT_NE(MAP_FAILED, words[i]);
		arg.handle = handles[i];
		GOOD(self->fd, DRM_IOCTL_RADEON_GEM_SET_TILING, &arg);
		ASSERT_EQ(0, bo_use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
		for (n = 0; n < ARRAY_LEN(pixels); n++)
			poke(&words[i][256 * pixels[n][1] + pixels[n][0]], i << 16 | n | 1 << 31);
	}
	for (round = 0; round < 2; round++) {
		for (i = 0; i < ARRAY_LEN(handles); i++) {
			for (n = 0; n < ARRAY_LEN(pixels); n++)
				wrong += peek(&words[i][256 * pixels[n][1] + pixels[n][0]]) !=
					 (i << 16 | n | 1u << 31);
		}
	}
	EXPECT_EQ(0, wrong);
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		struct drm_radeon_gem_set_tiling arg = { .handle = handles[i] };

		/* half of them leave, with their tiles; the others have none any more */
		ASSERT_EQ(0, i % 2 ? bo_use(self->fd, handles[i], RADEON_GEM_DOMAIN_GTT) :
				     call(self->fd, DRM_IOCTL_RADEON_GEM_SET_TILING, &arg));
		ASSERT_EQ(0, bo_wait_idle(self->fd, handles[i]));
		for (n = 0, wrong = 0; n < ARRAY_LEN(pixels); n++)
			wrong += peek(&words[i][tilings[i % 3].places[n] / 4]) !=
				 (i << 16 | n | 1u << 31);
		EXPECT_EQ(0, wrong);
		munmap(words[i], size);
		gem_close(self->fd, handles[i]);
	}
}

TEST_HARNESS_MAIN

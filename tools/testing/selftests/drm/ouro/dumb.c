// SPDX-License-Identifier: GPL-2.0
/*
 * Dumb buffers: DRM_IOCTL_MODE_CREATE_DUMB, MAP_DUMB and DESTROY_DUMB of the DRM core. What they
 * promise is in include/uapi/drm/drm_mode.h: rows and size large enough for the picture.
 */
#define TOPIC dumb
#define ANY_INTERFACE
#include "test.h"
#include "card.h"

TEST_F(dumb, pictures_have_room)
{
	static const struct {
		__u32 width, height, bpp;
	} good[] = {
		{ 1, 1, 8 },	    { 640, 480, 8 },   { 640, 480, 16 },    { 1024, 768, 32 },
		{ 1366, 768, 32 },  { 17, 3, 15 },     { 5000, 2, 32 }, { 1, 70000, 32 },
	};
	int fd = open_card(self->gpu.speaks->name);
	unsigned int i;

	ASSERT_LE(0, fd);
	for (i = 0; i < ARRAY_LEN(good); i++) {
		__u64 row = (__u64)good[i].width * ((good[i].bpp + 7) / 8);
		struct drm_mode_create_dumb make = { .width = good[i].width,
						     .height = good[i].height,
						     .bpp = good[i].bpp };
		struct drm_mode_map_dumb map = {};
		struct drm_mode_destroy_dumb end = {};
		__u32 *bytes;

		GOOD(fd, DRM_IOCTL_MODE_CREATE_DUMB, &make);
		EXPECT_NE(0, make.handle);
		EXPECT_LE(row, make.pitch);
		EXPECT_LE((__u64)make.pitch * make.height, make.size);
		map.handle = make.handle;
		GOOD(fd, DRM_IOCTL_MODE_MAP_DUMB, &map);
		bytes = mmap(NULL, make.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map.offset);
		ASSERT_NE(MAP_FAILED, bytes);
		/* new memory is zero, to the last byte; and it is the object's */
		EXPECT_EQ(0, peek(&bytes[0]));
		EXPECT_EQ(0, peek(&bytes[make.size / 4 - 1]));
		poke(&bytes[make.size / 4 - 1], 0xd0b0 + i);
		EXPECT_EQ(0xd0b0 + i, gem_read32(fd, make.handle, make.size - 4));
		munmap(bytes, make.size);
		end.handle = make.handle;
		GOOD(fd, DRM_IOCTL_MODE_DESTROY_DUMB, &end);
		BAD(fd, DRM_IOCTL_MODE_DESTROY_DUMB, &end, EINVAL);
		BAD(fd, DRM_IOCTL_MODE_MAP_DUMB, &map, ENOENT);
	}
	close(fd);
}

TEST_F(dumb, pictures_that_cannot_be)
{
	static const struct {
		__u32 width, height, bpp;
	} bad[] = {
		{ 0, 1, 32 },	  { 1, 0, 32 },		   { 1, 1, 0 },		 { 1, 1, 24 },
		{ 1, 1, 64 },	  { 1, 1, ~0u },	   { ~0u, 1, 8 },	 { ~0u / 4, 1, 32 },
		{ 1, ~0u, 32 },	  { 1 << 16, 1 << 16, 8 }, { 1 << 30, 1, 32 },
	};
	int fd = open_card(self->gpu.speaks->name);
	unsigned int i;

	ASSERT_LE(0, fd);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct drm_mode_create_dumb make = { .width = bad[i].width,
						     .height = bad[i].height,
						     .bpp = bad[i].bpp,
						     .handle = 77 };

		BAD(fd, DRM_IOCTL_MODE_CREATE_DUMB, &make, EINVAL);
		EXPECT_EQ(0, make.handle);
	}
	close(fd);
}

/* They are for who shows pictures, not for who renders. */
TEST_F(dumb, not_on_a_render_node)
{
	struct drm_mode_create_dumb make = { .width = 8, .height = 8, .bpp = 32 };

	BAD(self->fd, DRM_IOCTL_MODE_CREATE_DUMB, &make, EACCES);
}

TEST_HARNESS_MAIN

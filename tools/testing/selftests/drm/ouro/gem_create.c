// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_CREATE and DRM_IOCTL_GEM_CLOSE. */
#define TOPIC gem_create
#define ANY_I915
#include "test.h"

TEST_F(gem_create, sizes_are_whole_pages)
{
	static const struct {
		__u64 asked, given;
	} sizes[] = {
		{ 1, PAGE },	      { PAGE - 1, PAGE },
		{ PAGE, PAGE },	      { PAGE + 1, 2 * PAGE },
		{ 65536, 65536 },     { 1000000, 1003520 },
		{ 4 << 20, 4 << 20 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		struct drm_i915_gem_create create = { .size = sizes[i].asked };

		GOOD(self->fd, DRM_IOCTL_I915_GEM_CREATE, &create);
		EXPECT_NE(0, create.handle);
		EXPECT_EQ(sizes[i].given, create.size);
		EXPECT_EQ(0, gem_close(self->fd, create.handle));
	}
}

TEST_F(gem_create, sizes_that_cannot_be)
{
	static const struct {
		__u64 size;
		int error;
	} bad[] = {
		{ 0, EINVAL },
		{ ~0ull, EINVAL },
		{ ~0ull << 31, E2BIG },
		{ 1ull << 63, E2BIG },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct drm_i915_gem_create create = { .size = bad[i].size, .handle = 0 };

		BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE, &create, bad[i].error);
		EXPECT_EQ(0, create.handle);
	}
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE, NULL, EFAULT);
}

TEST_F(gem_create, memory_is_zero)
{
	static __u8 bytes[64 << 10], zero[64 << 10];
	int round;

	/* Fill and free, so that pages with something in them go round. */
	for (round = 0; round < 8; round++) {
		__u32 handle = gem_create(self->fd, sizeof(bytes));

		ASSERT_NE(0, handle);
		memset(bytes, 0x55, sizeof(bytes));
		ASSERT_EQ(0, gem_read(self->fd, handle, 0, bytes, sizeof(bytes)));
		EXPECT_EQ(0, memcmp(bytes, zero, sizeof(bytes)));
		memset(bytes, 0xa5, sizeof(bytes));
		ASSERT_EQ(0, gem_write(self->fd, handle, 0, bytes, sizeof(bytes)));
		EXPECT_EQ(0, gem_close(self->fd, handle));
	}
}

TEST_F(gem_create, handles_differ_and_end)
{
	struct drm_gem_close close = {};
	__u32 handles[32];
	unsigned int i, k;

	for (i = 0; i < ARRAY_LEN(handles); i++) {
		handles[i] = gem_create(self->fd, PAGE);
		ASSERT_NE(0, handles[i]);
		for (k = 0; k < i; k++)
			EXPECT_NE(handles[k], handles[i]);
	}
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		close.handle = handles[i];
		GOOD(self->fd, DRM_IOCTL_GEM_CLOSE, &close);
		BAD(self->fd, DRM_IOCTL_GEM_CLOSE, &close, EINVAL);
	}
	close.handle = 0;
	BAD(self->fd, DRM_IOCTL_GEM_CLOSE, &close, EINVAL);
	close.handle = ~0u;
	BAD(self->fd, DRM_IOCTL_GEM_CLOSE, &close, EINVAL);
	BAD(self->fd, DRM_IOCTL_GEM_CLOSE, NULL, EFAULT);
}

TEST_F(gem_create, pages_come_with_use)
{
	/* More than a small guest has: an object that nobody touches costs nothing. */
	__u32 handle = gem_create(self->fd, 4ull << 30);
	__u32 other;

	ASSERT_NE(0, handle);
	EXPECT_EQ(0, gem_close(self->fd, handle));
	other = gem_create(self->fd, PAGE);
	EXPECT_NE(0, other);
	EXPECT_EQ(0, gem_close(self->fd, other));
}

TEST_HARNESS_MAIN

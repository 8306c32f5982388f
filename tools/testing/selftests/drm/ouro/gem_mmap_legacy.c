// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_MMAP: the kernel maps the object for the caller. */
#define TOPIC gem_mmap_legacy
#include "test.h"

TEST_F(gem_mmap_legacy, shows_the_object)
{
	static const __u64 flags[] = { 0, I915_MMAP_WC };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(flags); i++) {
		struct drm_i915_gem_mmap get = { .size = 3 * PAGE, .flags = flags[i] };
		__u32 *map;

		get.handle = gem_create(self->fd, 3 * PAGE);
		GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &get);
		EXPECT_EQ(0, get.addr_ptr % PAGE);
		map = (__u32 *)(uintptr_t)get.addr_ptr;
		EXPECT_EQ(0, peek(&map[0]));
		poke(&map[0], 0x1111);
		poke(&map[2 * 1024 + 5], 0x2222);
		__sync_synchronize();
		EXPECT_EQ(0x1111, gem_read32(self->fd, get.handle, 0));
		EXPECT_EQ(0x2222, gem_read32(self->fd, get.handle, 2 * PAGE + 20));
		/* it outlives the handle */
		EXPECT_EQ(0, gem_close(self->fd, get.handle));
		EXPECT_EQ(0x2222, peek(&map[2 * 1024 + 5]));
		EXPECT_EQ(0, munmap(map, 3 * PAGE));
	}
}

TEST_F(gem_mmap_legacy, a_part_of_it)
{
	__u32 value = 0x600d, handle = gem_create(self->fd, 4 * PAGE);
	struct drm_i915_gem_mmap get = { .handle = handle, .offset = 2 * PAGE, .size = 100 };

	ASSERT_EQ(0, gem_write(self->fd, handle, 2 * PAGE + 8, &value, 4));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &get);
	EXPECT_EQ(0x600d, peek((__u32 *)(uintptr_t)get.addr_ptr + 2));
	munmap((void *)(uintptr_t)get.addr_ptr, PAGE);
}

TEST_F(gem_mmap_legacy, arguments)
{
	static const struct {
		__u64 offset, size;
	} ranges[] = {
		{ 0, 0 },
		{ 0, 2 * PAGE + 1 },
		{ PAGE, PAGE + 1 },
		{ 2 * PAGE, 1 },
		{ 16, PAGE },
		{ ~0ull, 2 },
		{ ~0ull - PAGE + 1, PAGE },
		{ PAGE, ~0ull },
		{ 0, 1ull << 63 },
	};
	struct drm_i915_gem_mmap get = { .size = PAGE, .addr_ptr = 77 };
	unsigned int i;

	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &get, ENOENT);
	get.handle = 0xfffffff0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &get, ENOENT);
	for (i = 1; i < 64; i++) {
		get.flags = 1ull << i;
		BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &get, EINVAL);
	}
	get.flags = 0;
	get.handle = gem_create(self->fd, 2 * PAGE);
	for (i = 0; i < ARRAY_LEN(ranges); i++) {
		get.offset = ranges[i].offset;
		get.size = ranges[i].size;
		BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &get, EINVAL);
	}
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP, NULL, EFAULT);
}

TEST_HARNESS_MAIN

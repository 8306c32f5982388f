// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_SET_DOMAIN, _BUSY, _WAIT and _GET_APERTURE. */
#define TOPIC gem_domain
#define MUTE_ENGINES
#include "test.h"

TEST_F(gem_domain, set_domain_arguments)
{
	static const struct {
		__u32 read, write;
		int error;
	} cases[] = {
		{ I915_GEM_DOMAIN_CPU, 0, 0 },
		{ I915_GEM_DOMAIN_CPU, I915_GEM_DOMAIN_CPU, 0 },
		{ I915_GEM_DOMAIN_WC, 0, 0 },
		{ I915_GEM_DOMAIN_WC, I915_GEM_DOMAIN_WC, 0 },
		{ I915_GEM_DOMAIN_GTT, 0, 0 },
		{ I915_GEM_DOMAIN_GTT, I915_GEM_DOMAIN_GTT, 0 },
		{ 0, 0, 0 },
		{ I915_GEM_DOMAIN_RENDER, 0, EINVAL },
		{ I915_GEM_DOMAIN_SAMPLER, 0, EINVAL },
		{ I915_GEM_DOMAIN_COMMAND, 0, EINVAL },
		{ I915_GEM_DOMAIN_INSTRUCTION, 0, EINVAL },
		{ I915_GEM_DOMAIN_VERTEX, 0, EINVAL },
		{ 0, I915_GEM_DOMAIN_RENDER, EINVAL },
		{ I915_GEM_DOMAIN_CPU, I915_GEM_DOMAIN_GTT, EINVAL },
		{ I915_GEM_DOMAIN_CPU | I915_GEM_DOMAIN_GTT, I915_GEM_DOMAIN_CPU, EINVAL },
		{ 0, I915_GEM_DOMAIN_CPU, EINVAL },
	};
	__u32 handle = gem_create(self->fd, PAGE);
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct drm_i915_gem_set_domain set = {
			.handle = handle,
			.read_domains = cases[i].read,
			.write_domain = cases[i].write,
		};

		if (cases[i].error)
			BAD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set, cases[i].error);
		else
			GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	}
}

TEST_F(gem_domain, handles_and_pointers)
{
	struct drm_i915_gem_set_domain set = { .handle = 0, .read_domains = I915_GEM_DOMAIN_CPU };
	struct drm_i915_gem_busy busy = { .handle = 0 };
	struct drm_i915_gem_wait wait = { .bo_handle = 0 };

	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_BUSY, &busy, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_WAIT, &wait, ENOENT);
	set.handle = 0xfffffff0;
	busy.handle = 0xfffffff0;
	wait.bo_handle = 0xfffffff0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_BUSY, &busy, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_WAIT, &wait, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, NULL, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_BUSY, NULL, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_WAIT, NULL, EFAULT);
}

TEST_F(gem_domain, wait_arguments)
{
	struct drm_i915_gem_wait wait = { .bo_handle = gem_create(self->fd, PAGE) };
	__s64 timeouts[] = { 0, 1, -1, INT64_MAX, INT64_MIN };
	unsigned int i;

	for (i = 0; i < 32; i++) {
		wait.flags = 1u << i;
		BAD(self->fd, DRM_IOCTL_I915_GEM_WAIT, &wait, EINVAL);
	}
	wait.flags = 0;
	for (i = 0; i < ARRAY_LEN(timeouts); i++) {
		wait.timeout_ns = timeouts[i];
		GOOD(self->fd, DRM_IOCTL_I915_GEM_WAIT, &wait);
	}
}

TEST_F(gem_domain, busy_while_the_gpu_works)
{
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		__u32 handle = gem_create(self->fd, PAGE), idle = gem_create(self->fd, PAGE);
		struct drm_i915_gem_busy busy = { .handle = handle };
		struct drm_i915_gem_wait wait = { .bo_handle = handle, .timeout_ns = 0 };
		struct spin spin;

		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[i], 0, handle, NULL, &spin));
		GOOD(self->fd, DRM_IOCTL_I915_GEM_BUSY, &busy);
		EXPECT_NE(0, busy.busy);
		/* upper half: classes that read; lower half: class that writes, plus one */
		EXPECT_NE(0, busy.busy >> 16);
		EXPECT_NE(0, busy.busy & 0xffff);
		EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
		EXPECT_EQ(0, gem_busy(self->fd, idle));
		BAD(self->fd, DRM_IOCTL_I915_GEM_WAIT, &wait, ETIME);
		wait.timeout_ns = 1000000;
		BAD(self->fd, DRM_IOCTL_I915_GEM_WAIT, &wait, ETIME);
		EXPECT_EQ(0, wait.timeout_ns);
		EXPECT_EQ(0, gem_wait(self->fd, idle, 0));
		spin_stop(&spin);
		wait.timeout_ns = -1;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_WAIT, &wait);
		EXPECT_EQ(0, gem_busy(self->fd, handle));
		EXPECT_EQ(0, gem_busy(self->fd, spin.handle));
		spin_free(&spin);
		gem_close(self->fd, handle);
		gem_close(self->fd, idle);
	}
}

TEST_F(gem_domain, what_is_left_of_a_timeout_comes_back)
{
	struct drm_i915_gem_wait wait = { .bo_handle = gem_create(self->fd, PAGE),
					  .timeout_ns = 60ll * 1000000000 };

	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, wait.bo_handle, 0, 1));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_WAIT, &wait);
	EXPECT_GE(wait.timeout_ns, 0);
	EXPECT_LE(wait.timeout_ns, 60ll * 1000000000);
}

TEST_F(gem_domain, set_domain_waits)
{
	__u32 handle = gem_create(self->fd, PAGE);
	__u32 *map = gem_map(self->fd, handle, PAGE, I915_MMAP_OFFSET_WB);
	struct drm_i915_gem_set_domain set = { .handle = handle,
					       .read_domains = I915_GEM_DOMAIN_CPU };
	unsigned int i;

	ASSERT_NE(NULL, map);
	for (i = 0; i < self->gpu.n_engines; i++) {
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, handle, 64, 100 + i));
		GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
		EXPECT_EQ(100 + i, peek(&map[16]));
	}
}

TEST_F(gem_domain, aperture)
{
	struct drm_i915_gem_get_aperture get = {};

	GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &get);
	EXPECT_GT(get.aper_size, 1ull << 20);
	EXPECT_LE(get.aper_available_size, get.aper_size);
	EXPECT_GT(get.aper_available_size, 0);
	BAD(self->fd, DRM_IOCTL_I915_GEM_GET_APERTURE, NULL, EFAULT);
}

TEST_HARNESS_MAIN

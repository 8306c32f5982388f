// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_SET_CACHING, _GET_CACHING and _SW_FINISH. */
#define TOPIC gem_caching
#include "test.h"

TEST_F(gem_caching, what_is_set_is_read_back)
{
	/* what the chip has not is told as uncached */
	static const struct {
		__u32 set, get;
	} cases[] = {
		{ I915_CACHING_NONE, I915_CACHING_NONE },
		{ I915_CACHING_CACHED, I915_CACHING_CACHED },
		{ I915_CACHING_DISPLAY, I915_CACHING_NONE },
		{ I915_CACHING_DISPLAY, I915_CACHING_NONE },
		{ I915_CACHING_CACHED, I915_CACHING_CACHED },
	};
	struct drm_i915_gem_caching caching = { .handle = gem_create(self->fd, PAGE) };
	unsigned int i;

	if (getparam(self->fd, I915_PARAM_HAS_LLC) != 1)
		SKIP(return, "no cache is shared with the CPU");
	GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_CACHING, &caching);
	EXPECT_EQ(I915_CACHING_CACHED, caching.caching);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		caching.caching = cases[i].set;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
		caching.caching = 99;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_CACHING, &caching);
		EXPECT_EQ(cases[i].get, caching.caching);
	}
}

TEST_F(gem_caching, arguments)
{
	struct drm_i915_gem_caching caching = { .caching = I915_CACHING_NONE };
	struct drm_i915_gem_sw_finish finish = {};
	__u32 i;

	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_GET_CACHING, &caching, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SW_FINISH, &finish, ENOENT);
	/* the level is looked at first */
	for (i = I915_CACHING_DISPLAY + 1; i; i <<= 1) {
		caching.caching = i;
		BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching, EINVAL);
	}
	caching.handle = gem_create(self->fd, PAGE);
	finish.handle = caching.handle;
	caching.caching = ~0u;
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching, EINVAL);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SW_FINISH, &finish);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, NULL, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_GET_CACHING, NULL, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SW_FINISH, NULL, EFAULT);
}

/* Whatever the level, each side sees what the other one wrote. */
TEST_F(gem_caching, the_gpu_and_the_cpu_agree)
{
	static const __u32 levels[] = { I915_CACHING_NONE, I915_CACHING_CACHED,
					I915_CACHING_DISPLAY, I915_CACHING_CACHED };
	struct drm_i915_gem_caching caching = { .handle = gem_create(self->fd, 2 * PAGE) };
	struct drm_i915_gem_set_domain set = { .handle = caching.handle };
	__u32 *map = gem_map(self->fd, caching.handle, 2 * PAGE, I915_MMAP_OFFSET_WB);
	unsigned int i, e;

	ASSERT_NE(NULL, map);
	for (i = 0; i < ARRAY_LEN(levels); i++) {
		caching.caching = levels[i];
		GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
		for (e = 0; e < self->gpu.n_engines; e++) {
			__u32 value = 0x10000 * (i + 1) + e;

			set.read_domains = I915_GEM_DOMAIN_CPU;
			set.write_domain = I915_GEM_DOMAIN_CPU;
			GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
			poke(&map[1024 + e], ~value);
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[e], 0, caching.handle,
					   8 * e, value));
			set.write_domain = 0;
			GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
			EXPECT_EQ(value, peek(&map[2 * e]));
			EXPECT_EQ(~value, peek(&map[1024 + e]));
		}
	}
}

/* The entries of an object are not changed under a batch that uses it. */
TEST_F(gem_caching, waits_until_the_gpu_is_done)
{
	struct drm_i915_gem_caching caching = { .handle = gem_create(self->fd, PAGE),
						.caching = I915_CACHING_NONE };
	struct spin spin;
	int status;
	pid_t pid;

	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, caching.handle, NULL, &spin));
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0)
		_exit(call(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching) ? 1 : 0);
	usleep(50000);
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	spin_stop(&spin);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_CACHING, &caching);
	EXPECT_EQ(I915_CACHING_NONE, caching.caching);
	spin_free(&spin);
}

TEST_HARNESS_MAIN

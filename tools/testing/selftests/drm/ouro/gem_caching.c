// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_SET_CACHING, _GET_CACHING and _SW_FINISH. */
#define TOPIC gem_caching
#include "test.h"
#include "files.h"
#include "memory.h"

static int write_bytes(int fd, __u32 handle, __u64 offset, __u64 size)
{
	static char bytes[PAGE];
	struct drm_i915_gem_pwrite arg = { .handle = handle, .offset = offset, .size = size,
					   .data_ptr = (__u64)(unsigned long)bytes };

	return call(fd, DRM_IOCTL_I915_GEM_PWRITE, &arg);
}

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

/* 965 sees none: then memory of a process, which is cached, is no object either. */
static bool sees_no_cache(int fd)
{
	return getparam(fd, I915_PARAM_HAS_USERPTR_PROBE) == 0;
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
		/* where no cache is seen by the GPU, none can be asked for */
		if (levels[i] == I915_CACHING_CACHED && sees_no_cache(self->fd)) {
			BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching, ENODEV);
			continue;
		}
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

/* An object with a level, as a batch names it. */
static struct drm_i915_gem_exec_object2 of_level(int fd, __u32 level)
{
	struct drm_i915_gem_caching caching = { .handle = gem_create(fd, PAGE), .caching = level };

	call(fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
	return (struct drm_i915_gem_exec_object2){ .handle = caching.handle };
}

/* Runs a batch that only ends, with other objects before it: the last object is the batch. */
static int run_with(const struct gpu *gpu, struct drm_i915_gem_exec_object2 *objects, __u32 count)
{
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects), .buffer_count = count };

	return call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

/*
 * Where the GPU looks into the CPU's caches if a page's entry says so, an unused page is between
 * two objects of different levels, as in the upstream driver (i915_gem_valid_gtt_space()).
 */
TEST_F(gem_caching, levels_are_no_neighbours)
{
	enum { EACH = 6, ALL = 2 * EACH };
	struct drm_i915_gem_exec_object2 objects[ALL + 1], beside[3];
	__u32 end[2] = { self->gpu.backend->batch_end, 0 };
	struct drm_i915_gem_caching caching = { .caching = I915_CACHING_NONE };
	unsigned int i, k;
	__u64 at;

	if (getparam(self->fd, I915_PARAM_HAS_LLC) == 1 || sees_no_cache(self->fd))
		SKIP(return, "the level does not part memory");
	for (i = 0; i < ALL; i++)
		objects[i] = of_level(self->fd, i % 2 ? I915_CACHING_CACHED : I915_CACHING_NONE);
	objects[ALL] = of_level(self->fd, I915_CACHING_NONE);
	ASSERT_EQ(0, gem_write(self->fd, objects[ALL].handle, 0, end, sizeof(end)));
	ASSERT_EQ(0, run_with(&self->gpu, objects, ALL + 1));
	for (i = 0; i < ALL; i += 2)
		for (k = 1; k < ALL; k += 2) {
			__u64 a = objects[i].offset, b = objects[k].offset;

			EXPECT_LE(2 * PAGE, a < b ? b - a : a - b);
		}

	/* what is pinned beside an idle object of another level drives it away */
	at = objects[0].offset + (64 << 20);
	beside[0] = of_level(self->fd, I915_CACHING_NONE);
	beside[0].offset = at;
	beside[0].flags = EXEC_OBJECT_PINNED;
	beside[1] = objects[ALL];
	ASSERT_EQ(0, run_with(&self->gpu, beside, 2));
	beside[1] = of_level(self->fd, I915_CACHING_CACHED);
	beside[1].offset = at + PAGE;
	beside[1].flags = EXEC_OBJECT_PINNED;
	beside[2] = objects[ALL];
	ASSERT_EQ(0, run_with(&self->gpu, beside + 1, 2));
	/* both at once cannot be */
	EXPECT_NE(0, run_with(&self->gpu, beside, 3));
	beside[0].flags = 0;
	ASSERT_EQ(0, run_with(&self->gpu, beside, 3));
	EXPECT_EQ(at + PAGE, beside[1].offset);
	EXPECT_LE(2 * PAGE, beside[0].offset < at + PAGE ? at + PAGE - beside[0].offset :
							   beside[0].offset - at - PAGE);
	/* of one level they can */
	caching.handle = beside[1].handle;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
	beside[0].offset = at;
	beside[0].flags = EXEC_OBJECT_PINNED;
	EXPECT_EQ(0, run_with(&self->gpu, beside, 3));
}

/*
 * An object that the GPU does not see in the CPU's caches is flushed line by line, and once; a
 * cached one is not. Lines have 64 bytes.
 */
TEST_F(gem_caching, what_was_written_is_flushed_once)
{
	struct drm_i915_gem_caching caching = { .handle = gem_create(self->fd, 16 * PAGE),
						.caching = I915_CACHING_NONE };
	__u32 cached = gem_create(self->fd, 16 * PAGE);
	struct drm_i915_gem_set_domain set = { .handle = caching.handle,
					       .read_domains = I915_GEM_DOMAIN_CPU,
					       .write_domain = I915_GEM_DOMAIN_CPU };
	const struct engine *engine = &self->gpu.engines[0];
	long populate = flushed(self->fd, "populate"), written = flushed(self->fd, "write");
	long batch = flushed(self->fd, "batch"), uncached = flushed(self->fd, "uncached");
	const long lines = 16 * PAGE / 64, page_lines = PAGE / 64;
	__u32 *map;

	if (populate < 0)
		SKIP(return, "no ouro_caches in debugfs");
	if (getparam(self->fd, I915_PARAM_HAS_LLC) != 1)
		SKIP(return, "the batch itself is flushed where no cache is shared");
	cover("debugfs ouro_caches");
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
	/* without memory there is nothing to flush, and all of it once it has some */
	ASSERT_EQ(0, write_bytes(self->fd, caching.handle, 100, 4));
	EXPECT_EQ(populate, flushed(self->fd, "populate"));
	EXPECT_EQ(written, flushed(self->fd, "write"));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, caching.handle, 0, 1));
	EXPECT_EQ(populate + lines, flushed(self->fd, "populate"));
	ASSERT_EQ(0, write_bytes(self->fd, caching.handle, 100, 4));
	EXPECT_EQ(written + 1, flushed(self->fd, "write"));
	ASSERT_EQ(0, write_bytes(self->fd, caching.handle, PAGE, PAGE));
	EXPECT_EQ(written + 1 + page_lines, flushed(self->fd, "write"));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, caching.handle, 0, 1));
	EXPECT_EQ(batch, flushed(self->fd, "batch"));

	map = gem_map(self->fd, caching.handle, 16 * PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	poke(&map[1024], 5);
	ASSERT_EQ(0, store(&self->gpu, engine, 0, caching.handle, 0, 1));
	EXPECT_EQ(batch + lines, flushed(self->fd, "batch"));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, caching.handle, 0, 1));
	EXPECT_EQ(batch + lines, flushed(self->fd, "batch"));
	EXPECT_EQ(uncached, flushed(self->fd, "uncached"));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	set.read_domains = I915_GEM_DOMAIN_WC;
	set.write_domain = 0;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	EXPECT_EQ(uncached + lines, flushed(self->fd, "uncached"));

	populate = flushed(self->fd, "populate");
	written = flushed(self->fd, "write");
	ASSERT_EQ(0, write_bytes(self->fd, cached, 100, 4));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, cached, 0, 1));
	EXPECT_EQ(populate, flushed(self->fd, "populate"));
	EXPECT_EQ(written, flushed(self->fd, "write"));
	/* the GPU shares that cache: what it writes is seen without a flush */
	EXPECT_EQ(0, flushed(self->fd, "domain"));
	EXPECT_EQ(0, flushed(self->fd, "read"));
	EXPECT_EQ(0, flushed(self->fd, "release"));
}

/*
 * Where the CPU's caches are its own: what the GPU wrote is read from memory, all of an object if
 * user space announces it, a line if the kernel copies. An object that is snooped needs none of
 * this, and is not shown through the aperture.
 */
TEST_F(gem_caching, what_the_gpu_wrote_is_read_from_memory)
{
	struct drm_i915_gem_caching caching = { .handle = gem_create(self->fd, 16 * PAGE),
						.caching = I915_CACHING_CACHED };
	struct drm_i915_gem_set_domain set = { .handle = caching.handle,
					       .read_domains = I915_GEM_DOMAIN_CPU };
	const struct engine *engine = &self->gpu.engines[0];
	const long lines = 16 * PAGE / 64;
	long domain = flushed(self->fd, "domain"), copied = flushed(self->fd, "read");
	long populate = flushed(self->fd, "populate");
	__u32 *map, value;

	if (domain < 0)
		SKIP(return, "no ouro_caches in debugfs");
	if (getparam(self->fd, I915_PARAM_HAS_LLC) == 1 || self->gpu.backend->has_local)
		SKIP(return, "the GPU sees all of the CPU's caches");
	ASSERT_EQ(0, store(&self->gpu, engine, 0, caching.handle, 0, 5));
	/* those of the batch come too */
	EXPECT_LE(populate + lines, flushed(self->fd, "populate"));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	EXPECT_EQ(domain + lines, flushed(self->fd, "domain"));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	EXPECT_EQ(domain + lines, flushed(self->fd, "domain"));
	EXPECT_EQ(5, gem_read32(self->fd, caching.handle, 0));
	EXPECT_EQ(copied, flushed(self->fd, "read"));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, caching.handle, 0, 6));
	EXPECT_EQ(6, gem_read32(self->fd, caching.handle, 0));
	EXPECT_EQ(copied + 1, flushed(self->fd, "read"));

	map = gem_map(self->fd, caching.handle, 16 * PAGE, I915_MMAP_OFFSET_GTT);
	ASSERT_NE(NULL, map);
	EXPECT_TRUE(touch(map, false, &value));
	if (call(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching)) {
		BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching, ENODEV);
		return;
	}
	EXPECT_FALSE(touch(map, false, &value));
	domain = flushed(self->fd, "domain");
	ASSERT_EQ(0, store(&self->gpu, engine, 0, caching.handle, 0, 7));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
	EXPECT_EQ(domain, flushed(self->fd, "domain"));
	EXPECT_EQ(7, gem_read32(self->fd, caching.handle, 0));
	caching.caching = I915_CACHING_NONE;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
	EXPECT_TRUE(touch(map, false, &value));
	EXPECT_EQ(7, value);
}

/* Memory of a process is in the CPU's caches: it is no object where the GPU sees none (USERPTR). */
TEST_F(gem_caching, memory_of_a_process_is_cached)
{
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_i915_gem_userptr arg = { .user_ptr = U64(memory), .user_size = PAGE };

	ASSERT_NE(MAP_FAILED, memory);
	if (!sees_no_cache(self->fd)) {
		GOOD(self->fd, DRM_IOCTL_I915_GEM_USERPTR, &arg);
	} else {
		BAD(self->fd, DRM_IOCTL_I915_GEM_USERPTR, &arg, ENODEV);
		EXPECT_EQ(0, arg.handle);
	}
}

/* The entries of an object are not changed under a batch that uses it. */
TEST_F(gem_caching, waits_until_the_gpu_is_done)
{
	struct drm_i915_gem_caching caching = { .handle = gem_create(self->fd, PAGE) };
	struct spin spin;
	__u32 other;
	int status;
	pid_t pid;

	GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_CACHING, &caching);
	other = caching.caching ? I915_CACHING_NONE : I915_CACHING_CACHED;
	caching.caching = other;
	if (sees_no_cache(self->fd)) {
		BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching, ENODEV);
		SKIP(return, "no cache is seen by the GPU: there is nothing to change");
	}
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
	/* back, and then there again under a batch */
	caching.caching = other ? I915_CACHING_NONE : I915_CACHING_CACHED;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
	caching.caching = other;
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
	EXPECT_EQ(other, caching.caching);
	spin_free(&spin);
}

TEST_HARNESS_MAIN

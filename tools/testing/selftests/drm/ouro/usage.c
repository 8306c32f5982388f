// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a client, as fdinfo tells it for each region (the kernel's
 * Documentation/gpu/drm-usage-stats.rst). Regions have the names of the
 * interface: i915's class and instance, radeon's domains.
 */
#define TOPIC usage
#define ANY_I915
#include "test.h"
#include "files.h"
#include "memory.h"
#include "places.h"

#define SIZE (3 * PAGE)

/* Returns the number of one line for a region. */
static long long of_region(int fd, const char *what, const char *region)
{
	char key[64];

	cover("fdinfo");
	snprintf(key, sizeof(key), "drm-%s-%s", what, region);
	return client_usage(fd, key);
}

/* True if a region has these numbers; logs them if not. */
static bool region_is(int fd, const char *region, long long total, long long shared,
		      long long resident, long long purgeable)
{
	static const char *const names[] = { "total", "shared", "resident", "purgeable" };
	const long long want[] = { total, shared, resident, purgeable };
	unsigned int i;
	bool good = true;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		long long got = of_region(fd, names[i], region);

		if (got == want[i])
			continue;
		printf("# %s of %s: %lld, should be %lld\n", names[i], region, got, want[i]);
		good = false;
	}
	return good;
}

/* Untouched memory counts as none; pages that are resident and DONTNEED count as purgeable. */
TEST_F(usage, total_resident_purgeable)
{
	struct drm_i915_gem_madvise advice = { .madv = I915_MADV_DONTNEED };
	__u32 word = 1;

	if (self->gpu.speaks == &radeon)
		SKIP(return, NO_I915);
	EXPECT_TRUE(region_is(self->fd, "system0", 0, 0, 0, 0));
	advice.handle = gem_create(self->fd, SIZE);
	EXPECT_TRUE(region_is(self->fd, "system0", SIZE, 0, 0, 0));
	EXPECT_EQ(0, gem_write(self->fd, advice.handle, 0, &word, sizeof(word)));
	EXPECT_EQ(0, gem_populate(self->fd, advice.handle));
	EXPECT_TRUE(region_is(self->fd, "system0", SIZE, 0, SIZE, 0));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &advice);
	EXPECT_TRUE(region_is(self->fd, "system0", SIZE, 0, SIZE, SIZE));
	EXPECT_EQ(0, gem_close(self->fd, advice.handle));
	EXPECT_TRUE(region_is(self->fd, "system0", 0, 0, 0, 0));
	/* the kernel's document has that name for what is i915's system0 */
	EXPECT_EQ(-1, of_region(self->fd, "total", "memory"));
}

/* While a batch uses an object it is active, and not purgeable, whatever its owner says of it. */
TEST_F(usage, active)
{
	struct drm_i915_gem_madvise advice = { .madv = I915_MADV_DONTNEED };
	struct spin spin;

	if (self->gpu.speaks == &radeon)
		SKIP(return, NO_I915);
	advice.handle = gem_create(self->fd, SIZE);
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, advice.handle, NULL, &spin));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_MADVISE, &advice);
	/* the batch and the object */
	EXPECT_LE(SIZE + PAGE, of_region(self->fd, "active", "system0"));
	EXPECT_EQ(0, of_region(self->fd, "purgeable", "system0"));
	spin_stop(&spin);
	ASSERT_EQ(0, gem_wait(self->fd, spin.handle, -1));
	ASSERT_EQ(0, gem_wait(self->fd, advice.handle, -1));
	EXPECT_EQ(0, of_region(self->fd, "active", "system0"));
	EXPECT_EQ(SIZE, of_region(self->fd, "purgeable", "system0"));
	spin_free(&spin);
}

/* An object of two clients is shared for both, and private again for the one that is left. */
TEST_F(usage, shared)
{
	struct drm_prime_handle out = {}, in = {};
	struct gpu other;

	if (self->gpu.speaks == &radeon)
		SKIP(return, NO_I915);
	ASSERT_EQ(0, gpu_open(&other));
	out.handle = gem_create(self->fd, SIZE);
	gem_create(self->fd, PAGE);
	GOOD(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out);
	in.fd = out.fd;
	GOOD(other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in);
	EXPECT_TRUE(region_is(self->fd, "system0", SIZE + PAGE, SIZE, 0, 0));
	EXPECT_TRUE(region_is(other.fd, "system0", SIZE, SIZE, 0, 0));
	close(out.fd);
	EXPECT_EQ(0, gem_close(self->fd, out.handle));
	EXPECT_TRUE(region_is(self->fd, "system0", PAGE, 0, 0, 0));
	gpu_close(&other);
}

/* An object counts where it is. test_region_mb, or a device with memory of its own. */
TEST_F(usage, two_regions)
{
	const struct drm_i915_gem_memory_class_instance both[] = { LOCAL, SYSTEM };
	const struct engine *engine = &self->gpu.engines[0];
	__u64 size = SIZE, all = local_region(self->fd).size;
	const bool card = is_card(&self->gpu);
	int handle, every;
	__u32 word = 1, tries;

	if (self->gpu.speaks == &radeon)
		SKIP(return, NO_I915);
	if (of_region(self->fd, "total", "local0") < 0)
		SKIP(return, "no device memory: test_region_mb is 0");
	EXPECT_TRUE(region_is(self->fd, "local0", 0, 0, 0, 0));
	handle = place_object(self->fd, &size, both, 2, 0);
	ASSERT_GT(handle, 0);
	EXPECT_LE(SIZE, size);
	/* where it will be */
	EXPECT_TRUE(region_is(self->fd, "local0", size, 0, 0, 0));
	EXPECT_EQ(0, gem_write(self->fd, handle, 0, &word, sizeof(word)));
	if (card) {
		/* until a batch uses it */
		EXPECT_TRUE(region_is(self->fd, "system0", size, 0, size, 0));
		ASSERT_EQ(0, store(&self->gpu, engine, 0, handle, 8, 2));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	}
	EXPECT_TRUE(region_is(self->fd, "local0", size, 0, size, 0));
	EXPECT_TRUE(region_is(self->fd, "system0", 0, 0, 0, 0));
	gem_create(self->fd, PAGE);
	EXPECT_TRUE(region_is(self->fd, "local0", size, 0, size, 0));
	EXPECT_TRUE(region_is(self->fd, "system0", PAGE, 0, 0, 0));
	/* it leaves for one that takes the whole region and wants to be nowhere else */
	every = create_local(self->fd, all);
	ASSERT_GT(every, 0);
	for (tries = 0; tries < 1000; tries++) {
		if (!begin(&self->gpu, every) &&
		    of_region(self->fd, "resident", "local0") == (long long)all)
			break;
		usleep(20000);
	}
	EXPECT_GT(1000, tries);
	EXPECT_TRUE(region_is(self->fd, "local0", all, 0, all, 0));
	EXPECT_TRUE(region_is(self->fd, "system0", size + PAGE, 0, size, 0));
	EXPECT_EQ(1, gem_read32(self->fd, handle, 0));
}

FIXTURE(usage_radeon)
{
	int fd;
};

FIXTURE_SETUP(usage_radeon)
{
	alarm(SECONDS_DEBUG);
	self->fd = radeon_open();
	if (self->fd == -ENODEV)
		SKIP(return, "no device here speaks radeon");
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(usage_radeon)
{
	if (self->fd >= 0)
		close(self->fd);
}

/* An object that only the CPU has touched is in GTT, until a stream wants it in VRAM. */
TEST_F(usage_radeon, domains)
{
	struct drm_radeon_gem_create create = { .size = SIZE,
						.initial_domain = RADEON_GEM_DOMAIN_VRAM };
	struct drm_radeon_gem_mmap map = { .size = SIZE };
	/* fillers of type 2 */
	__u32 words[8] = { 0x80000000, 0x80000000, 0x80000000, 0x80000000,
			   0x80000000, 0x80000000, 0x80000000, 0x80000000 };
	struct drm_radeon_cs_reloc reloc = { .write_domain = RADEON_GEM_DOMAIN_VRAM };
	struct drm_radeon_cs_chunk chunks[] = {
		{ RADEON_CHUNK_ID_IB, ARRAY_LEN(words), U64(words) },
		{ RADEON_CHUNK_ID_RELOCS, sizeof(reloc) / 4, U64(&reloc) },
	};
	__u64 pointers[] = { U64(&chunks[0]), U64(&chunks[1]) };
	struct drm_radeon_cs cs = { .num_chunks = 2, .chunks = U64(pointers) };
	__u32 *word;

	EXPECT_TRUE(region_is(self->fd, "vram", 0, 0, 0, 0));
	EXPECT_TRUE(region_is(self->fd, "gtt", 0, 0, 0, 0));
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &create);
	EXPECT_TRUE(region_is(self->fd, "vram", SIZE, 0, 0, 0));
	map.handle = create.handle;
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_MMAP, &map);
	word = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, map.addr_ptr);
	ASSERT_NE(MAP_FAILED, word);
	poke(word, 1);
	EXPECT_TRUE(region_is(self->fd, "vram", 0, 0, 0, 0));
	EXPECT_TRUE(region_is(self->fd, "gtt", SIZE, 0, SIZE, 0));
	reloc.handle = create.handle;
	GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs);
	EXPECT_TRUE(region_is(self->fd, "vram", SIZE, 0, SIZE, 0));
	EXPECT_TRUE(region_is(self->fd, "gtt", 0, 0, 0, 0));
	EXPECT_EQ(1, peek(word));
	munmap(word, SIZE);
}

TEST_HARNESS_MAIN

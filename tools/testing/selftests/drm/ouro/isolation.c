// SPDX-License-Identifier: GPL-2.0
/*
 * What one client wrote, another does not read: not in recycled pages, not
 * through offsets or handles of others, not in objects that were moved, not
 * through addresses that changed hands, not in registers or a context's image.
 *
 * What a batch can reach on a chip with one address space is another matter: see
 * Documentation/gpu/ouro/core.rst ("What a batch can reach").
 */
#include <fcntl.h>
#include <stdio.h>

#define ANY_I915
#include "test.h"

FIXTURE(isolation)
{
	struct gpu gpu;
	struct gpu other;
	const struct engine *blitter;
};

FIXTURE_SETUP(isolation)
{
	unsigned int i;

	gpu_setup(_metadata, &self->gpu);
	ASSERT_EQ(0, gpu_open(&self->other));
	/* the render engine copies where there is no other */
	self->blitter = &self->gpu.engines[0];
	for (i = 0; i < self->gpu.n_engines; i++)
		if (self->gpu.engines[i].bit == BCS)
			self->blitter = &self->gpu.engines[i];
}

FIXTURE_TEARDOWN(isolation)
{
	gpu_close(&self->gpu);
	gpu_close(&self->other);
}

enum { SECRET = 0x5ec12e70 };

static void fill_secret(__u32 *words, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		words[i] = SECRET ^ i;
}

static bool all_zero(const __u32 *words, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (words[i])
			return false;
	return true;
}

/* A page is copied by the GPU; the source is an object, or a bare address. */
static int copy_page(const struct gpu *gpu, const struct engine *blitter, __u32 to, __u32 from,
		     __u64 address)
{
	const struct backend *be = gpu->backend;
	struct batch b;
	unsigned int i;

	batch_init(&b);
	/* an address has one word, or two */
	for (i = 0; i < be->copy_dwords; i = b.n) {
		if (i == be->copy_to)
			batch_address(&b, to, 0, true, I915_GEM_DOMAIN_RENDER);
		else if (i == be->copy_from && from)
			batch_address(&b, from, address, false, I915_GEM_DOMAIN_RENDER);
		else
			b.words[b.n++] = i == be->copy_from ? (__u32)address : be->copy_page[i];
		if (i == be->copy_from && !from && addresses_chosen())
			b.words[b.n++] = address >> 32;
	}
	batch_end(&b, be);
	return batch_run(gpu->fd, &b, blitter->ring, 0);
}

/* Memory that was one's, and is another's now; looked at in every way that there is. */
TEST_F(isolation, recycled_pages_are_zero)
{
	enum { OBJECTS = 12, PAGES = 8, ROUNDS = 4 };
	static __u32 secret[PAGES * PAGE / 4], got[PAGES * PAGE / 4];
	unsigned int round, i, bad = 0, looked = 0;

	fill_secret(secret, ARRAY_LEN(secret));
	for (round = 0; round < ROUNDS; round++) {
		__u32 copies = gem_create(self->other.fd, PAGE);

		for (i = 0; i < OBJECTS; i++) {
			__u32 handle = gem_create(self->gpu.fd, sizeof(secret));

			ASSERT_EQ(0, gem_write(self->gpu.fd, handle, 0, secret, sizeof(secret)));
			/* in the tables and in the copies of them that engines hold */
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines],
					   0, handle, 0, SECRET));
			gem_close(self->gpu.fd, handle);
		}
		for (i = 0; i < OBJECTS; i++) {
			__u32 handle = gem_create(self->other.fd, sizeof(got));
			__u32 *map;

			switch (i % 3) {
			case 0:
				ASSERT_EQ(0, gem_read(self->other.fd, handle, 0, got, sizeof(got)));
				bad += !all_zero(got, ARRAY_LEN(got));
				looked += sizeof(got);
				break;
			case 1:
				map = gem_map(self->other.fd, handle, sizeof(got),
					      I915_MMAP_OFFSET_WC);
				ASSERT_NE(NULL, map);
				bad += !all_zero(map, ARRAY_LEN(got));
				looked += sizeof(got);
				munmap(map, sizeof(got));
				break;
			default:
				ASSERT_EQ(0, copy_page(&self->other, self->blitter, copies, handle,
						       3 * PAGE));
				ASSERT_EQ(0, gem_read(self->other.fd, copies, 0, got, PAGE));
				bad += !all_zero(got, PAGE / 4);
				looked += PAGE;
			}
			gem_close(self->other.fd, handle);
		}
		gem_close(self->other.fd, copies);
	}
	EXPECT_EQ(0, bad);
	cover("DRM_IOCTL_I915_GEM_PREAD");
	printf("# cover: isolation: %u bytes of recycled pages read\n", looked);
	fflush(stdout);
}

/* The copy really copies: what has something in it does not look like zeros. */
TEST_F(isolation, a_copy_shows_what_is_there)
{
	static __u32 secret[PAGE / 4], got[PAGE / 4];
	__u32 from = gem_create(self->gpu.fd, PAGE), to = gem_create(self->gpu.fd, PAGE);

	fill_secret(secret, ARRAY_LEN(secret));
	ASSERT_EQ(0, gem_write(self->gpu.fd, from, 0, secret, PAGE));
	ASSERT_EQ(0, copy_page(&self->gpu, self->blitter, to, from, 0));
	ASSERT_EQ(0, gem_read(self->gpu.fd, to, 0, got, PAGE));
	EXPECT_EQ(0, memcmp(secret, got, PAGE));
}

/* Offsets of mappings belong to the files that have a handle, as long as they have it. */
TEST_F(isolation, offsets_of_others)
{
	struct drm_i915_gem_mmap_offset get = { .handle = gem_create(self->gpu.fd, PAGE) };
	unsigned int kind, near, tried = 0;
	void *map;

	for (kind = 0; kind < 4; kind++) {
		get.flags = addresses_chosen() ? I915_MMAP_OFFSET_FIXED : kind;
		ASSERT_EQ(0, call(self->gpu.fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get));
		for (near = 0; near < 16; near++) {
			map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->other.fd,
				   get.offset + near * PAGE);
			EXPECT_EQ(MAP_FAILED, map)
			{
				TH_LOG("kind %u, page %u", kind, near);
			}
			EXPECT_TRUE(errno == EACCES || errno == EINVAL);
			tried++;
		}
		cover("DRM_IOCTL_I915_GEM_MMAP_OFFSET");
	}
	EXPECT_EQ(64, tried);
	/* one's own, but closed */
	gem_close(self->gpu.fd, get.handle);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->gpu.fd, get.offset);
	EXPECT_EQ(MAP_FAILED, map);
}

TEST_F(isolation, handles_of_others)
{
	__u32 mine = gem_create(self->gpu.fd, PAGE), value = SECRET, got = 0, h;

	/* numbers of the one up to far beyond it mean nothing to the other */
	ASSERT_EQ(0, gem_write(self->gpu.fd, mine, 0, &value, 4));
	for (h = 0; h < 64; h++) {
		struct drm_prime_handle prime = { .handle = h };
		struct drm_i915_gem_exec_object2 object = { .handle = h };
		struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
						       .buffer_count = 1 };

		EXPECT_EQ(-ENOENT, gem_read(self->other.fd, h, 0, &got, 4));
		EXPECT_EQ(-ENOENT, gem_write(self->other.fd, h, 0, &got, 4));
		EXPECT_EQ(-ENOENT, call(self->other.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
		EXPECT_EQ(-ENOENT, call(self->other.fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb));
	}
	EXPECT_EQ(0, got);
	EXPECT_EQ(SECRET, gem_read32(self->gpu.fd, mine, 0));
}

/* Stores at a fixed address, on one engine. */
static int store_at(const struct gpu *gpu, const struct engine *engine, __u32 handle,
		    __u64 address, __u32 offset, __u32 value)
{
	struct drm_i915_gem_exec_object2 *object;
	struct batch b;

	batch_init(&b);
	object = batch_object(&b, handle);
	object->flags |= EXEC_OBJECT_PINNED;
	object->offset = address;
	batch_store(&b, store_for(gpu, engine, 4), handle, offset, value);
	batch_end(&b, gpu->backend);
	return batch_run(gpu->fd, &b, engine->ring, 0);
}

/* One address, two owners in turn: the tables change, and engines' copies of them must. */
TEST_F(isolation, an_address_changes_hands)
{
	enum { TURNS = 40, ADDRESS = 0x2000000 };
	__u32 mine = gem_create(self->gpu.fd, PAGE), theirs = gem_create(self->other.fd, PAGE);
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		const struct engine *engine = &self->gpu.engines[i / 2 % self->gpu.n_engines];
		bool odd = i & 1;

		ASSERT_EQ(0, store_at(odd ? &self->other : &self->gpu, engine, odd ? theirs : mine,
				      ADDRESS, 8 * i, 0x100 + i));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	}
	for (i = 0; i < TURNS; i++) {
		bool odd = i & 1;

		EXPECT_EQ(odd ? 0 : 0x100 + i, gem_read32(self->gpu.fd, mine, 8 * i));
		EXPECT_EQ(odd ? 0x100 + i : 0, gem_read32(self->other.fd, theirs, 8 * i));
	}
}

/* The owner before is gone, with its pages, and work on them is still under way. */
TEST_F(isolation, an_address_is_inherited)
{
	enum { TURNS = 24, ADDRESS = 0x3000000 };
	static __u32 secret[PAGE / 4];
	unsigned int i, k;

	fill_secret(secret, ARRAY_LEN(secret));
	for (i = 0; i < TURNS; i++) {
		const struct engine *engine = &self->gpu.engines[i % self->gpu.n_engines];
		__u32 mine = gem_create(self->gpu.fd, PAGE);
		__u32 theirs = gem_create(self->other.fd, PAGE);
		__u32 got[PAGE / 4];

		ASSERT_EQ(0, gem_write(self->gpu.fd, mine, 0, secret, PAGE));
		ASSERT_EQ(0, store_at(&self->gpu, engine, mine, ADDRESS, 8, SECRET));
		gem_close(self->gpu.fd, mine);
		ASSERT_EQ(0, store_at(&self->other, engine, theirs, ADDRESS, 16, 0x200 + i));
		ASSERT_EQ(0, gem_read(self->other.fd, theirs, 0, got, PAGE));
		for (k = 0; k < ARRAY_LEN(got); k++)
			EXPECT_EQ(k == 4 ? 0x200 + i : 0, got[k]);
		gem_close(self->other.fd, theirs);
	}
}

/* Where one has an object, the other has nothing, whatever it guesses. */
TEST_F(isolation, addresses_of_others)
{
	enum { ADDRESS = 0x5000000 };
	static __u32 secret[PAGE / 4], got[PAGE / 4];
	__u32 mine = gem_create(self->gpu.fd, PAGE), to = gem_create(self->other.fd, PAGE);
	unsigned int i;

	if (!self->gpu.own_spaces)
		SKIP(return, "one space is everybody's: core.rst, \"What a batch can reach\"");
	fill_secret(secret, ARRAY_LEN(secret));
	ASSERT_EQ(0, gem_write(self->gpu.fd, mine, 0, secret, PAGE));
	for (i = 0; i < self->gpu.n_engines; i++)
		ASSERT_EQ(0, store_at(&self->gpu, &self->gpu.engines[i], mine, ADDRESS, 8, SECRET));
	ASSERT_EQ(0, gem_wait(self->gpu.fd, mine, -1));
	ASSERT_EQ(0, copy_page(&self->other, self->blitter, to, 0, ADDRESS));
	ASSERT_EQ(0, gem_read(self->other.fd, to, 0, got, PAGE));
	EXPECT_TRUE(all_zero(got, ARRAY_LEN(got)));
	/* and who has it finds it there */
	to = gem_create(self->gpu.fd, PAGE);
	ASSERT_EQ(0, copy_page(&self->gpu, self->blitter, to, 0, ADDRESS));
	ASSERT_EQ(0, gem_read(self->gpu.fd, to, 0, got, PAGE));
	secret[2] = SECRET;
	EXPECT_EQ(0, memcmp(secret, got, PAGE));
}

/* Registers of a context: what one writes, if it may, the other does not find. */
TEST_F(isolation, registers_of_a_context)
{
	const struct backend *be = self->gpu.backend;
	__u32 answer = gem_create(self->other.fd, PAGE);
	const struct engine *engine = &self->gpu.engines[0];
	struct batch b;
	unsigned int i;

	for (i = 0; be->context_registers[i]; i++) {
		batch_init(&b);
		b.words[b.n++] = be->load_register;
		b.words[b.n++] = be->context_registers[i];
		b.words[b.n++] = SECRET;
		batch_end(&b, be);
		ASSERT_EQ(0, batch_run(self->gpu.fd, &b, engine->ring, 0));
		batch_init(&b);
		b.words[b.n++] = be->store_register;
		b.words[b.n++] = be->context_registers[i];
		batch_address(&b, answer, 8 * i, true, I915_GEM_DOMAIN_RENDER);
		batch_end(&b, be);
		ASSERT_EQ(0, batch_run(self->other.fd, &b, engine->ring, 0));
		EXPECT_NE(SECRET, gem_read32(self->other.fd, answer, 8 * i))
		{
			TH_LOG("register %#x", be->context_registers[i]);
		}
	}
	EXPECT_LT(3, i);
}

/*
 * Rings, status pages and images of contexts are not in the tables that a batch uses: where no
 * object is, all addresses show the same page. The kernel's own are in the last sixteenth.
 */
TEST_F(isolation, the_kernels_pages_do_not_show)
{
	enum { PLACES = 96 };
	static __u32 first[PAGE / 4], got[PAGE / 4];
	__u32 to = gem_create(self->gpu.fd, PAGE), context = context_create(self->gpu.fd);
	struct drm_ouro_device device = {};
	unsigned int i, differ = 0;

	if (!self->gpu.ouro)
		SKIP(return, "the size of the address space is unknown");
	if (getparam(self->gpu.fd, I915_PARAM_HAS_ALIASING_PPGTT) == 0)
		SKIP(return, "the GGTT is all there is: core.rst, \"What a batch can reach\"");
	ASSERT_EQ(0, call(self->gpu.fd, DRM_IOCTL_OURO_DEVICE, &device));
	/* rings that have something in them, and an image */
	for (i = 0; i < 32; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines],
				   context, to, 0, i));
	for (i = 0; i < PLACES; i++) {
		/* the last pages one by one, then further apart: all of the last sixteenth */
		__u64 back = i < PLACES / 2 ? i + 1 :
					      (i - PLACES / 2 + 1) *
						      (device.gpu_address_space / 16 / PAGE) /
						      (PLACES / 2);

		ASSERT_EQ(0, copy_page(&self->gpu, self->blitter, to, 0,
				       device.gpu_address_space - back * PAGE));
		ASSERT_EQ(0, gem_read(self->gpu.fd, to, 0, i ? got : first, PAGE));
		differ += i && memcmp(first, got, PAGE) != 0;
	}
	EXPECT_EQ(0, differ);
}

TEST_HARNESS_MAIN

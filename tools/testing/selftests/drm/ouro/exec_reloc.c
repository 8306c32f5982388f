// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GEM_EXECBUFFER2: relocations. Bounds, overflow, domains,
 * targets by handle and by place, the batch itself, wrong guesses.
 */
#define TOPIC exec_reloc
#include "test.h"

/* One store of `value` at the start of `target`, ready to be spoiled. */
static __u32 one_store(const struct gpu *gpu, struct batch *b, __u32 target, __u32 value,
		       struct drm_i915_gem_execbuffer2 *eb)
{
	const struct engine *engine = &gpu->engines[0];
	__u32 handle;

	batch_init(b);
	batch_store(b, store_for(gpu, engine, 4), target, 0, value);
	batch_end(b, gpu->backend);
	handle = batch_finish(gpu->fd, b, eb);
	eb->flags = engine->ring;
	return handle;
}

TEST_F(exec_reloc, a_store_goes_where_it_says)
{
	__u32 target = gem_create(self->fd, 4 * PAGE), offsets[] = { 0, 8, 4088, 4096, 16376 };
	unsigned int e, i;

	for (e = 0; e < self->gpu.n_engines; e++)
		for (i = 0; i < ARRAY_LEN(offsets); i++) {
			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[e], 0, target, offsets[i],
					   256 * e + i + 1));
			EXPECT_EQ(256 * e + i + 1, gem_read32(self->fd, target, offsets[i]));
		}
}

TEST_F(exec_reloc, the_guess_is_corrected)
{
	const struct store_command *c = store_for(&self->gpu, &self->gpu.engines[0], 4);
	__u32 target = gem_create(self->fd, PAGE), handle, word = 0x12345000 | c->address_flags;
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;

	/* the guess, in all three places; the kernel may make it true, or correct it */
	handle = one_store(&self->gpu, &b, target, 7, &eb);
	ASSERT_EQ(0, gem_write(self->fd, handle, c->address * 4, &word, 4));
	b.relocs[0].presumed_offset = 0x12345000;
	b.objects[0].offset = 0x12345000;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(7, gem_read32(self->fd, target, 0));
	/* told in both places, so that the next one can be without relocations */
	EXPECT_EQ(b.objects[0].offset, b.relocs[0].presumed_offset);
}

TEST_F(exec_reloc, a_right_guess_is_taken)
{
	__u32 target = gem_create(self->fd, PAGE), handle, address;
	const struct store_command *c = store_for(&self->gpu, &self->gpu.engines[0], 4);
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	__u32 value = 0x600d;

	handle = one_store(&self->gpu, &b, target, 7, &eb);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	ASSERT_EQ(7, gem_read32(self->fd, target, 0));
	/* address and value written by hand; relocations are listed and not needed */
	address = (__u32)b.objects[0].offset | c->address_flags;
	ASSERT_EQ(0, gem_write(self->fd, handle, c->address * 4, &address, 4));
	ASSERT_EQ(0, gem_write(self->fd, handle, c->value * 4, &value, 4));
	eb.flags |= I915_EXEC_NO_RELOC;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(value, gem_read32(self->fd, target, 0));
}

TEST_F(exec_reloc, places_in_the_batch)
{
	static const struct {
		__u64 offset;
		int error;
	} cases[] = {
		{ 1, EINVAL },
		{ 2, EINVAL },
		{ 3, EINVAL },
		{ 4096, EINVAL },
		{ 4093, EINVAL },
		{ ~0ull, EINVAL },
		{ ~3ull, EINVAL },
		{ 1ull << 32, EINVAL },
		{ (1ull << 32) + 4, EINVAL },
		{ ~0ull - 4095, EINVAL },
		{ 4092, 0 },
	};
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	unsigned int i;

	one_store(&self->gpu, &b, target, 7, &eb);
	b.n_relocs = 2;
	batch_object(&b, b.objects[1].handle)->relocation_count = 2;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		b.relocs[0].presumed_offset = ~0ull;
		b.relocs[1] = b.relocs[0];
		b.relocs[1].offset = cases[i].offset;
		if (cases[i].error)
			BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, cases[i].error);
		else
			GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	}
}

TEST_F(exec_reloc, targets)
{
	__u32 target = gem_create(self->fd, PAGE), absent = gem_create(self->fd, PAGE);
	__u32 bad[] = { 0, absent, 0xfffffff0 };
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	unsigned int i;

	one_store(&self->gpu, &b, target, 7, &eb);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		b.relocs[0].target_handle = bad[i];
		b.relocs[0].presumed_offset = ~0ull;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	}
	/* by place in the list: 0 is the target, 1 the batch, 2 nothing */
	eb.flags |= I915_EXEC_HANDLE_LUT;
	b.relocs[0].target_handle = 2;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	b.relocs[0].target_handle = target + 1000;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	b.relocs[0].target_handle = ~0u;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, ENOENT);
	b.relocs[0].target_handle = 0;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(7, gem_read32(self->fd, target, 0));
}

TEST_F(exec_reloc, domains)
{
	static const struct {
		__u32 read, write;
		int error;
	} cases[] = {
		{ I915_GEM_DOMAIN_RENDER, I915_GEM_DOMAIN_RENDER, 0 },
		{ I915_GEM_DOMAIN_SAMPLER, 0, 0 },
		{ I915_GEM_DOMAIN_INSTRUCTION, I915_GEM_DOMAIN_INSTRUCTION, 0 },
		{ 0, 0, 0 },
		{ I915_GEM_DOMAIN_RENDER | I915_GEM_DOMAIN_SAMPLER,
		  I915_GEM_DOMAIN_RENDER | I915_GEM_DOMAIN_SAMPLER, EINVAL },
		{ I915_GEM_DOMAIN_CPU, 0, EINVAL },
		{ I915_GEM_DOMAIN_GTT, I915_GEM_DOMAIN_GTT, EINVAL },
		{ 0, I915_GEM_DOMAIN_CPU, EINVAL },
		{ 1u << 31, 0, EINVAL },
	};
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	unsigned int i;

	one_store(&self->gpu, &b, target, 7, &eb);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		b.relocs[0].read_domains = cases[i].read;
		b.relocs[0].write_domain = cases[i].write;
		b.relocs[0].presumed_offset = ~0ull;
		if (cases[i].error)
			BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, cases[i].error);
		else
			GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	}
}

TEST_F(exec_reloc, lists)
{
	__u64 pointers[] = { 0, BAD_POINTER, KERNEL_POINTER };
	__u32 counts[] = { 0xffffffff, 0x80000000, 0x08000000 };
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	unsigned int i;
	int got;

	one_store(&self->gpu, &b, target, 7, &eb);
	for (i = 0; i < ARRAY_LEN(pointers); i++) {
		b.objects[1].relocs_ptr = pointers[i];
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EFAULT);
	}
	b.objects[1].relocs_ptr = U64(b.relocs);
	for (i = 0; i < ARRAY_LEN(counts); i++) {
		b.objects[1].relocation_count = counts[i];
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		got = call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_TRUE(got == -EINVAL || got == -EFAULT || got == -ENOMEM)
		{
			TH_LOG("%u relocations: %s", counts[i], strerror(-got));
		}
	}
	b.objects[1].relocation_count = 1;
	b.relocs[0].presumed_offset = ~0ull;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(7, gem_read32(self->fd, target, 0));
}

TEST_F(exec_reloc, list_that_ends_in_the_middle)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	__u8 *edge;

	edge = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, edge);
	ASSERT_EQ(0, munmap(edge + PAGE, PAGE));
	one_store(&self->gpu, &b, target, 7, &eb);
	memcpy(edge + PAGE - sizeof(b.relocs[0]), b.relocs, sizeof(b.relocs[0]));
	b.objects[1].relocs_ptr = U64(edge + PAGE - sizeof(b.relocs[0]));
	b.objects[1].relocation_count = 2;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EFAULT);
	b.objects[1].relocation_count = 1;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(7, gem_read32(self->fd, target, 0));
}

/* Relocations that lie in the memory of the batch object itself: the copy faults it in. */
TEST_F(exec_reloc, list_inside_of_the_batch)
{
	__u32 target = gem_create(self->fd, PAGE), big = gem_create(self->fd, 4 * PAGE);
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	__u8 *map;

	one_store(&self->gpu, &b, target, 7, &eb);
	map = gem_map(self->fd, big, 4 * PAGE, I915_MMAP_OFFSET_WC);
	ASSERT_NE(NULL, map);
	memcpy(map, b.words, b.n * 4);
	memcpy(map + 2 * PAGE, b.relocs, sizeof(b.relocs[0]));
	b.objects[1].handle = big;
	b.objects[1].relocs_ptr = U64(map + 2 * PAGE);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(7, gem_read32(self->fd, target, 0));
}

/* The batch jumps to a part of itself: its own address, by relocation. */
TEST_F(exec_reloc, a_batch_can_name_itself)
{
	unsigned int e;

	for (e = 0; e < self->gpu.n_engines; e++) {
		__u32 target = gem_create(self->fd, PAGE), handle = gem_create(self->fd, PAGE);
		const struct store_command *c = store_for(&self->gpu, &self->gpu.engines[e], 4);
		struct drm_i915_gem_execbuffer2 eb = {};
		struct batch b;

		batch_init(&b);
		batch_object(&b, target);
		b.words[b.n++] = self->gpu.backend->batch_start;
		batch_address(&b, handle, 64, false, I915_GEM_DOMAIN_COMMAND);
		b.words[b.n++] = self->gpu.backend->batch_end;
		b.n = 16;
		batch_store(&b, c, target, 0, 0xabcd);
		batch_end(&b, self->gpu.backend);
		ASSERT_EQ(0, gem_write(self->fd, handle, 0, b.words, b.n * 4));
		batch_object(&b, handle)->relocs_ptr = U64(b.relocs);
		batch_object(&b, handle)->relocation_count = b.n_relocs;
		eb.buffers_ptr = U64(b.objects);
		eb.buffer_count = b.n_objects;
		eb.flags = self->gpu.engines[e].ring;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(0xabcd, gem_read32(self->fd, target, 0))
		{
			TH_LOG("%s", self->gpu.engines[e].name);
		}
	}
}

/* Several objects have relocations of their own; two places in the list, many relocations. */
TEST_F(exec_reloc, many)
{
	enum { N = 200 };
	__u32 target = gem_create(self->fd, PAGE), i;
	const struct store_command *c = store_for(&self->gpu, &self->gpu.engines[0], 4);
	struct batch b;

	batch_init(&b);
	for (i = 0; i < N; i++)
		batch_store(&b, c, target, i * 8, i + 1);
	batch_end(&b, self->gpu.backend);
	ASSERT_EQ(0, batch_run(self->fd, &b, self->gpu.engines[0].ring, 0));
	for (i = 0; i < N; i++)
		EXPECT_EQ(i + 1, gem_read32(self->fd, target, i * 8));
}

/* A delta outside of the object is the caller's business, but the kernel must survive it. */
TEST_F(exec_reloc, deltas_outside_of_the_target)
{
	__u32 deltas[] = { 0xfffffff0, 0x80000000, 4096, 0x7ffffff0 };
	__u32 target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	__u32 handle;
	unsigned int i;

	handle = one_store(&self->gpu, &b, target, 7, &eb);
	/* never executed: the first command is the end */
	ASSERT_EQ(0, gem_write(self->fd, handle, 0, &self->gpu.backend->batch_end, 4));
	for (i = 0; i < ARRAY_LEN(deltas); i++) {
		__u32 word;

		b.relocs[0].delta = deltas[i];
		b.relocs[0].presumed_offset = ~0ull;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		word = gem_read32(self->fd, handle, b.relocs[0].offset);
		EXPECT_EQ((__u32)(b.objects[0].offset + deltas[i]), word);
	}
}

/* While the GPU uses the batch, a second submission must not rewrite it under it. */
TEST_F(exec_reloc, of_a_batch_in_use)
{
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i;

	for (i = 0; i < 32; i++) {
		struct drm_i915_gem_execbuffer2 eb;
		struct batch b;
		__u32 handle = one_store(&self->gpu, &b, target, i, &eb);

		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		b.relocs[0].delta = 8;
		b.relocs[0].presumed_offset = ~0ull;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(i, gem_read32(self->fd, target, 0));
		EXPECT_EQ(i, gem_read32(self->fd, target, 8));
		gem_close(self->fd, handle);
	}
}

TEST_HARNESS_MAIN

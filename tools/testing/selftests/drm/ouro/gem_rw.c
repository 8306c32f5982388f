// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_PREAD and DRM_IOCTL_I915_GEM_PWRITE. */
#define TOPIC gem_rw
#include <signal.h>
#include <sys/mman.h>

#include "test.h"

enum { SIZE = 5 * 4096 };

TEST_F(gem_rw, any_piece_goes_in_and_out)
{
	static const struct {
		__u64 offset, size;
	} pieces[] = {
		{ 0, SIZE }, { 0, 1 },	  { SIZE - 1, 1 }, { 4095, 2 },
		{ 1, 4096 }, { 63, 130 }, { 4096, 4096 },  { 100, 12289 },
	};
	static __u8 model[SIZE], bytes[SIZE];
	__u32 handle = gem_create(self->fd, SIZE);
	unsigned int i, k;

	for (i = 0; i < ARRAY_LEN(pieces); i++) {
		struct drm_i915_gem_pwrite out = { .handle = handle,
						   .offset = pieces[i].offset,
						   .size = pieces[i].size };
		struct drm_i915_gem_pread in = { .handle = handle,
						 .offset = pieces[i].offset,
						 .size = pieces[i].size };

		for (k = 0; k < pieces[i].size; k++)
			model[pieces[i].offset + k] = k * 7 + i * 31 + 1;
		out.data_ptr = U64(model + pieces[i].offset);
		GOOD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out);
		memset(bytes, 0, sizeof(bytes));
		in.data_ptr = U64(bytes);
		GOOD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &in);
		EXPECT_EQ(0, memcmp(bytes, model + pieces[i].offset, pieces[i].size));
		ASSERT_EQ(0, gem_read(self->fd, handle, 0, bytes, SIZE));
		EXPECT_EQ(0, memcmp(bytes, model, SIZE))
		{
			TH_LOG("piece %u changed something else", i);
		}
	}
}

/*
 * A write of a part of an object that has no memory yet: the rest is zero, and a batch that uses
 * the object finds both.
 */
TEST_F(gem_rw, a_part_before_there_is_memory)
{
	static const struct {
		__u64 offset, size;
	} pieces[] = {
		{ 0, 1 }, { SIZE - 1, 1 }, { 4095, 2 }, { 1, 4096 }, { 4096, 4096 }, { 100, 10000 },
	};
	static __u8 model[SIZE], bytes[SIZE];
	unsigned int i, k;

	for (i = 0; i < ARRAY_LEN(pieces); i++) {
		struct drm_i915_gem_pwrite out = { .handle = gem_create(self->fd, SIZE),
						   .offset = pieces[i].offset,
						   .size = pieces[i].size,
						   .data_ptr = U64(model + pieces[i].offset) };
		const __u32 word = 0x600d + i;

		memset(model, 0, SIZE);
		for (k = 0; k < pieces[i].size; k++)
			model[pieces[i].offset + k] = k * 7 + i * 31 + 1;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out);
		/* not more than half of it at a time */
		for (k = 0; k < SIZE; k += PAGE)
			ASSERT_EQ(0, gem_read(self->fd, out.handle, k, bytes + k, PAGE));
		EXPECT_EQ(0, memcmp(bytes, model, SIZE));
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, out.handle, 12288, word));
		memcpy(model + 12288, &word, sizeof(word));
		ASSERT_EQ(0, gem_read(self->fd, out.handle, 0, bytes, SIZE));
		EXPECT_EQ(0, memcmp(bytes, model, SIZE))
		{
			TH_LOG("piece %u", i);
		}
		EXPECT_EQ(0, gem_close(self->fd, out.handle));
	}
}

/* User memory that has to be fetched first, and user memory that is not there. */
TEST_F(gem_rw, memory_that_is_not_there_yet)
{
	static __u8 bytes[SIZE], ones[SIZE];
	struct drm_i915_gem_pwrite out = { .size = SIZE };
	__u64 sizes[] = { SIZE, PAGE };
	unsigned int i;

	memset(ones, 1, SIZE);
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		__u8 *fresh = mmap(NULL, SIZE + PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ASSERT_NE(MAP_FAILED, fresh);
		ASSERT_EQ(0, munmap(fresh + SIZE, PAGE));
		out.handle = gem_create(self->fd, SIZE);
		ASSERT_EQ(0, gem_write(self->fd, out.handle, 0, ones, sizes[i]));
		out.size = sizes[i];
		out.data_ptr = U64(fresh);
		GOOD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out);
		ASSERT_EQ(0, gem_read(self->fd, out.handle, 0, bytes, SIZE));
		EXPECT_EQ(0, bytes[0] | bytes[sizes[i] - 1]);
		out.data_ptr += SIZE - sizes[i] + 1;
		BAD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out, EFAULT);
		munmap(fresh, SIZE);
		EXPECT_EQ(0, gem_close(self->fd, out.handle));
	}
}

TEST_F(gem_rw, ranges_that_cannot_be)
{
	static const struct {
		__u64 offset, size;
	} bad[] = {
		{ 0, SIZE + 1 },	{ SIZE, 1 },	   { SIZE - 1, 2 },   { ~0ull, 2 },
		{ ~0ull - 4095, 8192 }, { 1ull << 40, 4 }, { 0, 1ull << 40 },
	};
	static __u8 bytes[SIZE + 64];
	__u32 handle = gem_create(self->fd, SIZE);
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct drm_i915_gem_pwrite out = { .handle = handle, .data_ptr = U64(bytes) };
		struct drm_i915_gem_pread in = { .handle = handle, .data_ptr = U64(bytes) };

		out.offset = bad[i].offset;
		out.size = bad[i].size;
		in.offset = bad[i].offset;
		in.size = bad[i].size;
		BAD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out, EINVAL);
		BAD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &in, EINVAL);
	}
}

TEST_F(gem_rw, nothing_is_always_fine)
{
	struct drm_i915_gem_pwrite out = { .handle = gem_create(self->fd, PAGE) };
	struct drm_i915_gem_pread in = { .handle = out.handle };

	GOOD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &in);
}

TEST_F(gem_rw, handles)
{
	__u32 bytes[4] = {}, bad[] = { 0, 0xfffffff0 };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct drm_i915_gem_pwrite out = { .handle = bad[i],
						   .size = 16,
						   .data_ptr = U64(bytes) };
		struct drm_i915_gem_pread in = { .handle = bad[i],
						 .size = 16,
						 .data_ptr = U64(bytes) };

		BAD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out, ENOENT);
		BAD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &in, ENOENT);
	}
	BAD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, NULL, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_PREAD, NULL, EFAULT);
}

TEST_F(gem_rw, pointers)
{
	__u64 bad[] = { 0, BAD_POINTER, KERNEL_POINTER, ~0ull - 8 };
	__u32 handle = gem_create(self->fd, PAGE);
	__u8 *edge, *readonly;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct drm_i915_gem_pwrite out = { .handle = handle,
						   .size = 16,
						   .data_ptr = bad[i] };
		struct drm_i915_gem_pread in = { .handle = handle, .size = 16, .data_ptr = bad[i] };

		BAD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out, EFAULT);
		BAD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &in, EFAULT);
	}

	/* Memory that ends in the middle. */
	edge = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, edge);
	ASSERT_EQ(0, munmap(edge + PAGE, PAGE));
	{
		struct drm_i915_gem_pwrite out = { .handle = handle,
						   .size = 64,
						   .data_ptr = U64(edge + PAGE - 32) };
		struct drm_i915_gem_pread in = { .handle = handle,
						 .size = 64,
						 .data_ptr = U64(edge + PAGE - 32) };

		BAD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out, EFAULT);
		BAD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &in, EFAULT);
	}

	readonly = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, readonly);
	{
		struct drm_i915_gem_pread in = { .handle = handle,
						 .size = 64,
						 .data_ptr = U64(readonly) };
		struct drm_i915_gem_pwrite out = { .handle = handle,
						   .size = 64,
						   .data_ptr = U64(readonly) };

		BAD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &in, EFAULT);
		GOOD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out);
	}
}

/* User memory that is a mapping of the object itself: faults in the middle of the copy. */
TEST_F(gem_rw, the_object_is_its_own_buffer)
{
	__u32 handle = gem_create(self->fd, 2 * PAGE);
	__u64 kinds[] = { I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_WC };
	__u32 value = 0x12345678;
	unsigned int k;

	for (k = 0; k < ARRAY_LEN(kinds); k++) {
		__u32 *map = gem_map(self->fd, handle, 2 * PAGE, kinds[k]);
		struct drm_i915_gem_pread in = { .handle = handle,
						 .size = PAGE,
						 .data_ptr = U64(map) + PAGE };
		struct drm_i915_gem_pwrite out = { .handle = handle,
						   .size = PAGE,
						   .data_ptr = U64(map) + PAGE };

		ASSERT_NE(NULL, map);
		value += k;
		ASSERT_EQ(0, gem_write(self->fd, handle, 12, &value, 4));
		GOOD(self->fd, DRM_IOCTL_I915_GEM_PREAD, &in);
		EXPECT_EQ(value, gem_read32(self->fd, handle, PAGE + 12));
		munmap(map, 2 * PAGE);
		map = gem_map(self->fd, handle, 2 * PAGE, kinds[k]);
		out.data_ptr = U64(map) + PAGE;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_PWRITE, &out);
		EXPECT_EQ(value, gem_read32(self->fd, handle, 12));
		munmap(map, 2 * PAGE);
	}
}

/* Reading waits for the GPU, writing comes after what it reads. */
TEST_F(gem_rw, reads_come_after_the_gpu)
{
	__u32 handle = gem_create(self->fd, PAGE);
	unsigned int i, round;

	for (round = 0; round < 8; round++)
		for (i = 0; i < self->gpu.n_engines; i++) {
			__u32 value = round << 8 | i;

			ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, handle, 8 * i,
					   value));
			EXPECT_EQ(value, gem_read32(self->fd, handle, 8 * i));
		}
}

/* Through the aperture of a modelled chip this would take many minutes. */
TEST_F(gem_rw, a_copy_ends_with_its_process)
{
	const __u64 size = 64ul << 20;
	__u32 from = gem_create(self->fd, size), to = gem_create(self->fd, size);
	char *map = gem_map(self->fd, to, size, I915_MMAP_OFFSET_GTT);
	unsigned int write;
	int status;
	pid_t pid;

	if (!self->gpu.ouro)
		SKIP(return, "the upstream driver copies to the end");
	if (!map)
		SKIP(return, "the chip has no aperture");
	for (write = 0; write < 2; write++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0)
			_exit(write ? gem_write(self->fd, from, 0, map, size) :
				      gem_read(self->fd, from, 0, map, size));
		usleep(100000);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		/* or it was done before, on a chip that is none of these */
		EXPECT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && !WEXITSTATUS(status)));
	}
	munmap(map, size);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GEM_EXECBUFFER2: its own arguments. Each flag good and bad,
 * ring selection, the batch's range, hostile pointers and counts. The order of
 * the checks is that of i915: flags, secure, fences, context, engine, objects.
 */
#include <sys/wait.h>

#define ANY_I915
#include "test.h"

FIXTURE(exec_args)
{
	struct gpu gpu;
	int fd;
	__u32 handle;
	struct drm_i915_gem_exec_object2 object;
	struct drm_i915_gem_execbuffer2 eb;
};

/* A batch of one page that ends at once, wherever it is started. */
FIXTURE_SETUP(exec_args)
{
	__u32 words[1024];
	unsigned int i;

	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	for (i = 0; i < 1024; i++)
		words[i] = self->gpu.backend->batch_end;
	self->handle = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, gem_write(self->fd, self->handle, 0, words, sizeof(words)));
	memset(&self->object, 0, sizeof(self->object));
	memset(&self->eb, 0, sizeof(self->eb));
	self->object.handle = self->handle;
	self->eb.buffers_ptr = U64(&self->object);
	self->eb.buffer_count = 1;
}

FIXTURE_TEARDOWN(exec_args)
{
	gpu_close(&self->gpu);
}

#define RUNS(flags_)                                                  \
	({                                                            \
		struct drm_i915_gem_execbuffer2 eb_ = self->eb;       \
		eb_.flags = (flags_);                                 \
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb_); \
	})
#define FAILS(flags_, error_)                                                \
	({                                                                   \
		struct drm_i915_gem_execbuffer2 eb_ = self->eb;              \
		eb_.flags = (flags_);                                        \
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb_, error_); \
	})

TEST_F(exec_args, flags_that_change_nothing_here)
{
	__u64 good[] = {
		0,
		I915_EXEC_NO_RELOC,
		I915_EXEC_HANDLE_LUT,
		I915_EXEC_BATCH_FIRST,
		I915_EXEC_IS_PINNED,
		I915_EXEC_NO_RELOC | I915_EXEC_HANDLE_LUT | I915_EXEC_BATCH_FIRST,
		I915_EXEC_FENCE_ARRAY,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(good); i++)
		RUNS(good[i]);
}

TEST_F(exec_args, flags_that_do_not_exist)
{
	unsigned int bit;

	for (bit = 22; bit < 64; bit++)
		FAILS(1ull << bit, EINVAL);
	FAILS(I915_EXEC_CONSTANTS_ABSOLUTE, EINVAL);
	FAILS(I915_EXEC_CONSTANTS_REL_SURFACE, EINVAL);
	FAILS(I915_EXEC_CONSTANTS_MASK, EINVAL);
	FAILS(I915_EXEC_RESOURCE_STREAMER, EINVAL);
}

TEST_F(exec_args, flags_of_other_chips)
{
	if (self->gpu.backend->has_later_exec_flags)
		SKIP(return, "other chips have other ones");
	FAILS(I915_EXEC_GEN7_SOL_RESET, EINVAL);
	FAILS(I915_EXEC_RENDER | I915_EXEC_GEN7_SOL_RESET, EINVAL);
	FAILS(I915_EXEC_SECURE, EPERM);
}

/* Only Gen7 has registers for it, and only its render engine. */
TEST_F(exec_args, streams_start_anew)
{
	if (!self->gpu.backend->has_streams)
		SKIP(return, "Gen7 alone has the flag GEN7_SOL_RESET");
	RUNS(I915_EXEC_GEN7_SOL_RESET);
	RUNS(I915_EXEC_RENDER | I915_EXEC_GEN7_SOL_RESET);
	FAILS(I915_EXEC_BLT | I915_EXEC_GEN7_SOL_RESET, EINVAL);
	FAILS(I915_EXEC_BSD | I915_EXEC_GEN7_SOL_RESET, EINVAL);
}

/*
 * Another user's batch, while root's file has run one: on Gen7 it would find what root's left in
 * registers (CVE-2019-14615), and is refused. When root's files are closed the device is free.
 */
TEST_F(exec_args, one_user_at_a_time)
{
	bool apart = self->gpu.ouro && self->gpu.backend->has_one_user;
	struct gpu other;
	unsigned int round;
	pid_t child;
	int status;

	ASSERT_EQ(0, gpu_open(&other));
	for (round = 0; round < 2; round++) {
		int expected = apart && round == 0 ? EACCES : 0;

		if (round == 0)
			RUNS(I915_EXEC_DEFAULT);
		else
			gpu_close(&self->gpu);
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			struct drm_i915_gem_exec_object2 object = {};
			struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
							       .buffer_count = 1 };
			__u32 end = self->gpu.backend->batch_end;

			object.handle = gem_create(other.fd, PAGE);
			if (setuid(65534) || gem_write(other.fd, object.handle, 0, &end, 4))
				_exit(255);
			_exit(-call(other.fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb));
		}
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(expected, WEXITSTATUS(status));
	}
	gpu_close(&other);
	ASSERT_EQ(0, gpu_open(&self->gpu));
}

TEST_F(exec_args, rings)
{
	__u64 ring;
	unsigned int i;

	RUNS(I915_EXEC_DEFAULT);
	for (i = 0; i < self->gpu.n_engines; i++)
		RUNS(self->gpu.engines[i].ring);
	for (ring = I915_EXEC_VEBOX + 1; ring <= I915_EXEC_RING_MASK; ring++)
		FAILS(ring, EINVAL);
	if (getparam(self->fd, I915_PARAM_HAS_VEBOX) == 0)
		FAILS(I915_EXEC_VEBOX, EINVAL);
	/* The selector among video rings belongs to these alone. */
	FAILS(I915_EXEC_RENDER | I915_EXEC_BSD_RING1, EINVAL);
	FAILS(I915_EXEC_DEFAULT | I915_EXEC_BSD_RING2, EINVAL);
	FAILS(I915_EXEC_BLT | I915_EXEC_BSD_RING1, EINVAL);
}

/* The ring is looked at before the objects: so clients find out which rings there are. */
TEST_F(exec_args, a_ring_is_known_before_its_objects)
{
	unsigned int i;

	self->object.handle = 0;
	for (i = 0; i < self->gpu.n_engines; i++)
		FAILS(self->gpu.engines[i].ring, ENOENT);
	FAILS(I915_EXEC_VEBOX + 1, EINVAL);
}

TEST_F(exec_args, fields_of_old_must_be_zero)
{
	self->eb.DR1 = 1;
	FAILS(0, EINVAL);
	self->eb.DR1 = 0;
	self->eb.DR4 = 1;
	FAILS(0, EINVAL);
	self->eb.DR4 = 0;
	self->eb.num_cliprects = 1;
	FAILS(0, EINVAL);
	self->eb.num_cliprects = 0;
	self->eb.cliprects_ptr = U64(self);
	FAILS(0, EINVAL);
	self->eb.cliprects_ptr = 0;
	RUNS(0);
}

TEST_F(exec_args, range_of_the_batch)
{
	static const struct {
		__u32 start, length;
		int error;
	} cases[] = {
		{ 0, 0, 0 },
		{ 0, 8, 0 },
		{ 0, 4096, 0 },
		{ 8, 0, 0 },
		{ 4088, 8, 0 },
		{ 64, 128, 0 },
		{ 4, 0, EINVAL },
		{ 1, 0, EINVAL },
		{ 0, 4, EINVAL },
		{ 0, 7, EINVAL },
		{ 4096, 0, EINVAL },
		{ 4096, 8, EINVAL },
		{ 0, 4104, EINVAL },
		{ 4088, 16, EINVAL },
		{ 0xfffffff8, 8, EINVAL },
		{ 8, 0xfffffff8, EINVAL },
		{ 0x80000000, 0x80000000, EINVAL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		/* the call takes multiples of 8, whatever the chip makes of them */
		if (!cases[i].error && self->gpu.backend->wide_batch_starts &&
		    cases[i].start % 64)
			continue;
		self->eb.batch_start_offset = cases[i].start;
		self->eb.batch_len = cases[i].length;
		if (cases[i].error)
			FAILS(0, cases[i].error);
		else
			RUNS(0);
	}
}

TEST_F(exec_args, lists_of_objects)
{
	__u64 pointers[] = { 0, BAD_POINTER, KERNEL_POINTER };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(pointers); i++) {
		self->eb.buffers_ptr = pointers[i];
		FAILS(0, EFAULT);
	}
	self->eb.buffers_ptr = U64(&self->object);
	self->eb.buffer_count = 0;
	FAILS(0, EINVAL);
	self->eb.buffer_count = 0xffffffff;
	FAILS(0, EINVAL);
	self->eb.buffer_count = 0x80000000;
	FAILS(0, EINVAL);
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, NULL, EFAULT);
}

/* A length of the list that is small again after a wrap around 2^32: it must not be believed. */
TEST_F(exec_args, a_count_that_overflows)
{
	struct drm_i915_gem_execbuffer2 eb = self->eb;
	int got;

	eb.buffer_count = 76695845; /* times 56 is 2^32 + 24 */
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	got = call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_TRUE(got == -ENOMEM || got == -EFAULT || got == -EINVAL)
	{
		TH_LOG("%s", strerror(-got));
	}
}

TEST_F(exec_args, list_that_ends_in_the_middle)
{
	__u8 *edge =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, edge);
	ASSERT_EQ(0, munmap(edge + PAGE, PAGE));
	memcpy(edge + PAGE - sizeof(self->object), &self->object, sizeof(self->object));
	self->eb.buffers_ptr = U64(edge + PAGE - sizeof(self->object));
	RUNS(0);
	self->eb.buffer_count = 2;
	FAILS(0, EFAULT);
}

TEST_F(exec_args, contexts)
{
	self->eb.rsvd1 = context_create(self->fd);
	RUNS(0);
	ASSERT_EQ(0, context_destroy(self->fd, self->eb.rsvd1));
	FAILS(0, ENOENT);
	self->eb.rsvd1 = 0xfffffff0;
	FAILS(0, ENOENT);
	/* looked up before engine and objects */
	self->object.handle = 0;
	FAILS(I915_EXEC_VEBOX + 1, ENOENT);
}

TEST_F(exec_args, the_old_ioctl_is_gone)
{
	struct drm_i915_gem_execbuffer eb = { .buffers_ptr = U64(&self->object),
					      .buffer_count = 1 };
	int got;

	cover("DRM_IOCTL_I915_GEM_EXECBUFFER");
	got = call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER, &eb);
	EXPECT_LT(got, 0);
}

TEST_F(exec_args, a_failed_one_changes_nothing)
{
	struct drm_i915_gem_exec_object2 before = self->object;
	struct drm_i915_gem_execbuffer2 eb = self->eb;

	eb.batch_len = 4;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
	EXPECT_EQ(0, memcmp(&before, &self->object, sizeof(before)));
	EXPECT_EQ(0, gem_busy(self->fd, self->handle));
	RUNS(0);
}

TEST_HARNESS_MAIN

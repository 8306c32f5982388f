// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GEM_EXECBUFFER2: each flag that i915_drm.h defines, used well and badly. What the
 * flags do is the matter of the other programs; here none is forgotten.
 */
#include <fcntl.h>
#include <stdio.h>

#define TOPIC exec_flags
#define ANY_I915
#include "test.h"

/* A batch of two pages and an object of one; the batch needs both of its pages. */
struct call {
	struct drm_i915_gem_exec_object2 objects[2];
	struct drm_i915_gem_relocation_entry reloc;
	struct drm_i915_gem_exec_fence fence;
	struct drm_i915_gem_execbuffer2 eb;
	__u32 syncobj;
	int sync_file;
};

/* How a call is changed before it is made. */
typedef void change(struct call *c);

static void batch_first(struct call *c)
{
	struct drm_i915_gem_exec_object2 data = c->objects[0];

	c->objects[0] = c->objects[1];
	c->objects[1] = data;
	c->reloc.target_handle = c->objects[1].handle;
}

static void with_reloc(struct call *c)
{
	c->objects[1].relocs_ptr = U64(&c->reloc);
	c->objects[1].relocation_count = 1;
}

static void target_is_a_place(struct call *c)
{
	with_reloc(c);
	c->reloc.target_handle = 0;
}

static void target_is_no_place(struct call *c)
{
	with_reloc(c);
	c->reloc.target_handle = 2;
}

static void relocs_nowhere(struct call *c)
{
	with_reloc(c);
	c->objects[1].relocs_ptr = BAD_POINTER;
}

static void with_sync_file(struct call *c)
{
	c->eb.rsvd2 = (__u32)c->sync_file;
}

static void without_sync_file(struct call *c)
{
	c->eb.rsvd2 = ~0u;
}

static void with_array(struct call *c)
{
	c->eb.cliprects_ptr = U64(&c->fence);
	c->eb.num_cliprects = 1;
}

static void with_wait(struct call *c)
{
	with_array(c);
	c->fence.flags = I915_EXEC_FENCE_WAIT;
}

static void with_signal(struct call *c)
{
	with_array(c);
	c->fence.flags = I915_EXEC_FENCE_SIGNAL;
}

static void array_nowhere(struct call *c)
{
	with_array(c);
	c->eb.cliprects_ptr = BAD_POINTER;
}

static void array_of_none(struct call *c)
{
	with_array(c);
	c->fence.handle = 0;
}

static void chain_nowhere(struct call *c)
{
	c->eb.cliprects_ptr = BAD_POINTER;
}

/* Flags of which each is the only one, and what the call answers. */
static const struct {
	__u64 flags;
	int error;
	change *change;
} calls[] = {
	{ I915_EXEC_DEFAULT, 0, NULL },
	{ I915_EXEC_RENDER, 0, NULL },
	/* where there is such a ring: has_ring() */
	{ I915_EXEC_BSD, 0, NULL },
	{ I915_EXEC_BLT, 0, NULL },
	{ I915_EXEC_VEBOX, EINVAL, NULL },
	{ I915_EXEC_RING_MASK, EINVAL, NULL },
	{ I915_EXEC_RENDER | I915_EXEC_CONSTANTS_REL_GENERAL, 0, NULL },
	{ I915_EXEC_RENDER | I915_EXEC_CONSTANTS_ABSOLUTE, EINVAL, NULL },
	{ I915_EXEC_RENDER | I915_EXEC_CONSTANTS_REL_SURFACE, EINVAL, NULL },
	{ I915_EXEC_RENDER | I915_EXEC_CONSTANTS_MASK, EINVAL, NULL },
	{ I915_EXEC_RENDER | I915_EXEC_GEN7_SOL_RESET, EINVAL, NULL },
	{ I915_EXEC_SECURE, EPERM, NULL },
	{ I915_EXEC_IS_PINNED, 0, NULL },
	{ I915_EXEC_IS_PINNED | I915_EXEC_RING_MASK, EINVAL, NULL },
	{ I915_EXEC_NO_RELOC, 0, with_reloc },
	{ I915_EXEC_NO_RELOC, EFAULT, relocs_nowhere },
	{ I915_EXEC_HANDLE_LUT, 0, target_is_a_place },
	{ I915_EXEC_HANDLE_LUT, ENOENT, target_is_no_place },
	{ I915_EXEC_BSD | I915_EXEC_BSD_DEFAULT, 0, NULL },
	{ I915_EXEC_BSD | I915_EXEC_BSD_RING1, 0, NULL },
	{ I915_EXEC_BSD | I915_EXEC_BSD_RING2, 0, NULL },
	{ I915_EXEC_RENDER | I915_EXEC_BSD_RING1, EINVAL, NULL },
	{ I915_EXEC_BLT | I915_EXEC_BSD_RING2, EINVAL, NULL },
	{ I915_EXEC_RESOURCE_STREAMER, EINVAL, NULL },
	{ I915_EXEC_FENCE_IN, 0, with_sync_file },
	{ I915_EXEC_FENCE_IN, EINVAL, without_sync_file },
	{ I915_EXEC_FENCE_OUT, 0, NULL },
	{ I915_EXEC_FENCE_OUT | I915_EXEC_RING_MASK, EINVAL, NULL },
	{ I915_EXEC_BATCH_FIRST, 0, batch_first },
	{ I915_EXEC_BATCH_FIRST, EINVAL, NULL },
	{ 0, EINVAL, batch_first },
	{ I915_EXEC_FENCE_ARRAY, 0, with_wait },
	{ I915_EXEC_FENCE_ARRAY, 0, with_signal },
	{ I915_EXEC_FENCE_ARRAY, EFAULT, array_nowhere },
	{ I915_EXEC_FENCE_ARRAY, ENOENT, array_of_none },
	{ I915_EXEC_FENCE_SUBMIT, 0, with_sync_file },
	{ I915_EXEC_FENCE_SUBMIT, EINVAL, without_sync_file },
	{ I915_EXEC_USE_EXTENSIONS, 0, NULL },
	{ I915_EXEC_USE_EXTENSIONS, EFAULT, chain_nowhere },
};

static void call_init(struct call *c, const struct gpu *gpu)
{
	struct drm_syncobj_create syncobj = { .flags = DRM_SYNCOBJ_CREATE_SIGNALED };

	memset(c, 0, sizeof(*c));
	c->objects[0].handle = gem_create(gpu->fd, PAGE);
	c->objects[1].handle = gem_create(gpu->fd, 2 * PAGE);
	gem_write(gpu->fd, c->objects[1].handle, 0, &gpu->backend->batch_end, 4);
	c->reloc = (struct drm_i915_gem_relocation_entry){
		.target_handle = c->objects[0].handle,
		.offset = 64,
		.presumed_offset = ~0ull,
	};
	c->eb = (struct drm_i915_gem_execbuffer2){
		.buffers_ptr = U64(c->objects),
		.buffer_count = 2,
		.batch_len = PAGE + 8,
		.flags = I915_EXEC_FENCE_OUT,
	};
	call(gpu->fd, DRM_IOCTL_SYNCOBJ_CREATE, &syncobj);
	c->syncobj = syncobj.handle;
	c->fence.handle = syncobj.handle;
	/* a fence to wait for */
	c->sync_file = -1;
	if (!call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &c->eb))
		c->sync_file = c->eb.rsvd2 >> 32;
	c->eb.rsvd2 = 0;
	c->eb.flags = 0;
}

/* True if the chip has the ring. */
static bool has_ring(int fd, __u64 flags)
{
	const __u64 ring = flags & I915_EXEC_RING_MASK;

	if (ring == I915_EXEC_BLT)
		return getparam(fd, I915_PARAM_HAS_BLT);
	return ring != I915_EXEC_BSD || getparam(fd, I915_PARAM_HAS_BSD);
}

TEST_F(exec_flags, of_the_call)
{
	__u64 unknown = (__u64)__I915_EXEC_UNKNOWN_FLAGS, tried = 0;
	unsigned int i, good = 0, bad = 0, files = 0;
	struct call first;

	if (self->gpu.backend->has_later_exec_flags)
		SKIP(return, "other chips have other ones");
	call_init(&first, &self->gpu);
	ASSERT_LE(0, first.sync_file);
	for (i = 0; i < ARRAY_LEN(calls); i++) {
		/* one that is not there is EINVAL, whatever else is asked of it */
		const int error = has_ring(self->fd, calls[i].flags) ? calls[i].error : EINVAL;
		struct call c = first;
		int got;

		/* the pointers are those of the copy */
		c.eb.buffers_ptr = U64(c.objects);
		c.eb.flags = calls[i].flags;
		if (calls[i].change)
			calls[i].change(&c);
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
		got = call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &c.eb);
		EXPECT_EQ(-error, got)
		{
			TH_LOG("flags %#llx: %s, should be %s", calls[i].flags, strerror(-got),
			       strerror(error));
		}
		if (!got && calls[i].flags & I915_EXEC_FENCE_OUT) {
			files++;
			EXPECT_EQ(0, close(c.eb.rsvd2 >> 32));
		}
		tried |= calls[i].flags;
		good += !calls[i].error;
		bad += !!calls[i].error;
	}
	EXPECT_EQ(1, files);
	/* each bit that the header knows, and with each an unknown one that spoils it */
	EXPECT_EQ(~unknown, tried);
	for (i = 0; i < 64; i++) {
		if (1ull << i & unknown)
			continue;
		first.eb.buffers_ptr = U64(first.objects);
		first.eb.flags = 1ull << i | 1ull << 63;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &first.eb, EINVAL);
		bad++;
	}
	close(first.sync_file);
	printf("# cover: flags of EXECBUFFER2: %u bits, %u good cases, %u bad cases\n",
	       __builtin_popcountll(tried), good, bad);
}

TEST_F(exec_flags, that_exclude_each_other)
{
	struct call c;

	call_init(&c, &self->gpu);
	ASSERT_LE(0, c.sync_file);
	with_sync_file(&c);
	c.eb.flags = I915_EXEC_FENCE_IN | I915_EXEC_FENCE_SUBMIT;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
	c.eb.flags = I915_EXEC_FENCE_IN;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb);
	with_signal(&c);
	c.eb.flags = I915_EXEC_FENCE_ARRAY | I915_EXEC_USE_EXTENSIONS;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
	c.eb.flags = I915_EXEC_FENCE_ARRAY;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb);
	close(c.sync_file);
}

/* Undefined bits and fields must be zero, or they can never be defined. */
TEST_F(exec_flags, reserved_bits)
{
	struct call c;
	unsigned int i;

	call_init(&c, &self->gpu);
	for (i = 32; i < 64; i++) {
		c.eb.rsvd1 = 1ull << i;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
	}
	c.eb.rsvd1 = 0;
	c.objects[0].rsvd2 = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
	c.objects[0].rsvd2 = 1ull << 63;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
	c.objects[0].rsvd2 = 0;
	/* what programs of old have left there */
	c.eb.DR4 = ~0u;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb);
	close(c.sync_file);
}

TEST_F(exec_flags, extensions)
{
	struct drm_i915_gem_execbuffer_ext_timeline_fences fences = {
		.base.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES,
	}, again = fences;
	struct call c;

	call_init(&c, &self->gpu);
	c.eb.flags = I915_EXEC_USE_EXTENSIONS;
	c.eb.cliprects_ptr = U64(&fences);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb);
	/* several lists; an unknown one, cliprects beside them, a chain that ends nowhere */
	fences.base.next_extension = U64(&again);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb);
	fences.base.next_extension = 0;
	fences.base.name = 77;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
	fences.base.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES;
	c.eb.num_cliprects = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
	c.eb.num_cliprects = 0;
	fences.base.next_extension = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EFAULT);
	fences.base.next_extension = 0;
	/* one fence, and nothing behind either pointer */
	fences.fence_count = 1;
	fences.handles_ptr = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EFAULT);
	fences.handles_ptr = U64(&c.fence);
	fences.values_ptr = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EFAULT);
	fences.fence_count = ~0ull;
	BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
	close(c.sync_file);
}

TEST_F(exec_flags, of_objects)
{
	/* each as it may be, and as it may not; zero where nothing spoils it but an unknown bit */
	const struct {
		__u64 flag, good_offset, good_pad, bad_offset, bad_pad;
		bool bad, on_batch;
	} flags[] = {
		{ .flag = EXEC_OBJECT_NEEDS_FENCE },
		{ .flag = EXEC_OBJECT_NEEDS_GTT },
		{ .flag = EXEC_OBJECT_WRITE, .bad = true, .on_batch = true },
		{ .flag = EXEC_OBJECT_SUPPORTS_48B_ADDRESS },
		{ .flag = EXEC_OBJECT_PINNED,
		  .good_offset = 640 << 20,
		  .bad_offset = (640 << 20) + 8,
		  .bad = true },
		{ .flag = EXEC_OBJECT_PAD_TO_SIZE, .good_pad = 4 * PAGE, .bad_pad = PAGE + 1,
		  .bad = true },
		{ .flag = EXEC_OBJECT_ASYNC },
		{ .flag = EXEC_OBJECT_CAPTURE },
	};
	__u64 unknown = (__u64)__EXEC_OBJECT_UNKNOWN_FLAGS, tried = 0;
	unsigned int i, good = 0, bad = 0;
	struct call c;

	call_init(&c, &self->gpu);
	for (i = 0; i < ARRAY_LEN(flags); i++) {
		struct drm_i915_gem_exec_object2 *object = &c.objects[0];
		struct drm_i915_gem_exec_object2 before = *object;

		object->flags = flags[i].flag;
		object->offset = flags[i].good_offset;
		object->pad_to_size = flags[i].good_pad;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb);
		good++;
		object->flags |= 1ull << 63;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
		bad++;
		*object = before;
		object = &c.objects[flags[i].on_batch];
		if (flags[i].bad) {
			before = *object;
			object->flags = flags[i].flag;
			object->offset = flags[i].bad_offset;
			object->pad_to_size = flags[i].bad_pad;
			BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
			*object = before;
			bad++;
		}
		tried |= flags[i].flag;
	}
	EXPECT_EQ(~unknown, tried);
	close(c.sync_file);
	printf("# cover: flags of objects: %u bits, %u good cases, %u bad cases\n",
	       __builtin_popcountll(tried), good, bad);
}

TEST_F(exec_flags, of_fences)
{
	__u32 unknown = (__u32)__I915_EXEC_FENCE_UNKNOWN_FLAGS, tried = 0;
	unsigned int i, good = 0, bad = 0;
	struct call c;

	call_init(&c, &self->gpu);
	with_array(&c);
	c.eb.flags = I915_EXEC_FENCE_ARRAY;
	for (i = 0; i < 32; i++) {
		c.fence.flags = 1u << i;
		if (1u << i & unknown) {
			BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, EINVAL);
			bad++;
			continue;
		}
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb);
		good++;
		tried |= 1u << i;
		/* of no syncobj */
		c.fence.handle = 0xfffffff0;
		BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &c.eb, ENOENT);
		bad++;
		c.fence.handle = c.syncobj;
	}
	EXPECT_EQ(~unknown, tried);
	close(c.sync_file);
	printf("# cover: flags of fences: %u bits, %u good cases, %u bad cases\n",
	       __builtin_popcount(tried), good, bad);
}

TEST_HARNESS_MAIN

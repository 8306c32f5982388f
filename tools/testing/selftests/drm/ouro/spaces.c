// SPDX-License-Identifier: GPL-2.0
/*
 * Address spaces that contexts share: GEM_VM_CREATE, GEM_VM_DESTROY and
 * I915_CONTEXT_PARAM_VM, on cards whose contexts have spaces of their own.
 *
 * Who sees what is shown by stores to an address of another context's object,
 * which the batch that stores does not list.
 */
#include <pthread.h>

#define TOPIC spaces
#define ONLY_CARDS
#include "test.h"
#include "batch_local.h"

static const struct i915_engine_class_instance copy_engine = { I915_ENGINE_CLASS_COPY, 0 };
static const struct i915_engine_class_instance render_engine = { I915_ENGINE_CLASS_RENDER, 0 };
static const struct engine at_0 = { .name = "0" };

/* uapi.rst, "Limits" */
enum { SPACES = 65536 };

/* A new space; 0 if there is none. */
static __u32 space_create(int fd)
{
	struct drm_i915_gem_vm_control vm = {};

	cover("DRM_IOCTL_I915_GEM_VM_CREATE");
	return call(fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm) ? 0 : vm.vm_id;
}

static int space_destroy(int fd, __u32 space)
{
	struct drm_i915_gem_vm_control vm = { .vm_id = space };

	cover("DRM_IOCTL_I915_GEM_VM_DESTROY");
	return call(fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm);
}

/* A number more of the space that a context has; 0 if there is none. */
static __u32 space_of(int fd, __u32 context)
{
	struct drm_i915_gem_context_param param = { .ctx_id = context,
						    .param = I915_CONTEXT_PARAM_VM };

	cover("DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM");
	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param) ? 0 : param.value;
}

static int set_space(int fd, __u32 context, __u64 space)
{
	struct drm_i915_gem_context_param param = { .ctx_id = context,
						    .param = I915_CONTEXT_PARAM_VM,
						    .value = space };

	cover("DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM");
	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
}

/* A context in a space, with one engine, at index 0. 0 or a negative errno. */
static int context_in(int fd, __u64 space, struct i915_engine_class_instance engine,
		      __u32 *context)
{
	I915_DEFINE_CONTEXT_PARAM_ENGINES(engines, 1) = { .engines = { engine } };
	struct drm_i915_gem_context_create_ext_setparam list = {
		.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM,
		.param = { .param = I915_CONTEXT_PARAM_ENGINES,
			   .size = sizeof(engines),
			   .value = U64(&engines) },
	};
	struct drm_i915_gem_context_create_ext_setparam in = {
		.base = { .name = I915_CONTEXT_CREATE_EXT_SETPARAM, .next_extension = U64(&list) },
		.param = { .param = I915_CONTEXT_PARAM_VM, .value = space },
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
		.extensions = U64(&in),
	};
	int got = call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);

	cover("DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT");
	*context = create.ctx_id;
	return got;
}

/* A value to an address, whatever is there; `listed` is an object that the batch lists, or 0. */
static int store_at(int fd, __u32 context, __u64 address, __u32 listed, __u32 value)
{
	struct words w = {};

	words_store(&w, address, value);
	words_end(&w);
	if (listed)
		words_object(&w, listed, EXEC_OBJECT_WRITE);
	return words_run(fd, &w, 0, context);
}

/* The same, and the object is at that address in this batch. */
static int store_to(int fd, __u32 context, __u64 address, __u32 handle, __u32 value)
{
	struct words w = {};

	words_store(&w, address, value);
	words_end(&w);
	words_object(&w, handle, EXEC_OBJECT_WRITE);
	w.objects[0].offset = address;
	return words_run(fd, &w, 0, context);
}

/* Waits until nothing of a context's engine is under way that this file can wait for. */
static int settle(int fd, __u32 context)
{
	__u32 handle = gem_create(fd, PAGE);
	int got = store_at(fd, context, address_of(handle), handle, 1);

	if (!got)
		got = gem_wait(fd, handle, -1);
	gem_close(fd, handle);
	return got;
}

TEST_F(spaces, contexts_of_one_space_see_the_same)
{
	__u32 space = space_create(self->fd), other = space_create(self->fd);
	__u32 first, second, third, fourth, target;
	struct spin spin;
	__u32 *seen;

	ASSERT_NE(0, space);
	ASSERT_NE(0, other);
	EXPECT_NE(space, other);
	ASSERT_EQ(0, context_in(self->fd, space, copy_engine, &first));
	ASSERT_EQ(0, context_in(self->fd, space, render_engine, &second));
	ASSERT_EQ(0, context_in(self->fd, other, render_engine, &third));
	fourth = context_create(self->fd);
	target = gem_create(self->fd, PAGE);
	seen = gem_map(self->fd, target, PAGE, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, seen);
	/* as long as this runs, the object keeps its address in the space */
	ASSERT_EQ(0, spin_start(&self->gpu, &at_0, first, target, NULL, &spin));
	ASSERT_EQ(0, store_at(self->fd, second, address_of(target), 0, 0x5eed0002));
	ASSERT_EQ(0, settle(self->fd, second));
	EXPECT_EQ(0x5eed0002, peek(seen));
	ASSERT_EQ(0, store_at(self->fd, third, address_of(target), 0, 0x5eed0003));
	ASSERT_EQ(0, settle(self->fd, third));
	EXPECT_EQ(0x5eed0002, peek(seen));
	ASSERT_EQ(0, store_at(self->fd, fourth, address_of(target), 0, 0x5eed0004));
	ASSERT_EQ(0, settle(self->fd, fourth));
	EXPECT_EQ(0x5eed0002, peek(seen));
	EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
	spin_free(&spin);
}

/* Another object at the same address: in another space beside it, in the same one in its place. */
TEST_F(spaces, one_address_in_two_spaces)
{
	const __u64 address = 0x7ffe00000000;
	__u32 contexts[3], targets[3], space = space_create(self->fd);
	unsigned int i, round;

	ASSERT_EQ(0, context_in(self->fd, space, copy_engine, &contexts[0]));
	ASSERT_EQ(0, context_in(self->fd, space, render_engine, &contexts[1]));
	ASSERT_EQ(0, context_in(self->fd, space_create(self->fd), render_engine, &contexts[2]));
	for (i = 0; i < 3; i++)
		targets[i] = gem_create(self->fd, PAGE);
	for (round = 1; round <= 8; round++) {
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, store_to(self->fd, contexts[i], address, targets[i],
					      round << 8 | i));
		for (i = 0; i < 3; i++) {
			ASSERT_EQ(0, gem_wait(self->fd, targets[i], -1));
			EXPECT_EQ(round << 8 | i, gem_read32(self->fd, targets[i], 0));
		}
	}
}

/* GETPARAM gives a number of the space that a context has, and SETPARAM takes it. */
TEST_F(spaces, the_space_of_a_context)
{
	__u32 context, space, again, late, target;
	struct spin spin;

	/* the default one chooses none */
	EXPECT_EQ(-EINVAL, set_space(self->fd, 0, space_create(self->fd)));
	/* also of the default one, and of one that has run nothing */
	EXPECT_NE(0, space_of(self->fd, 0));
	ASSERT_EQ(0, context_in(self->fd, space_create(self->fd), copy_engine, &context));
	space = space_of(self->fd, context);
	again = space_of(self->fd, context);
	ASSERT_NE(0, space);
	ASSERT_NE(0, again);
	EXPECT_NE(space, again);
	/* not at its creation, but before its first batch; the last one counts */
	late = context_create(self->fd);
	EXPECT_EQ(0, set_space(self->fd, late, space_create(self->fd)));
	EXPECT_EQ(0, set_space(self->fd, late, space));
	target = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, spin_start(&self->gpu, &at_0, context, target, NULL, &spin));
	ASSERT_EQ(0, store_at(self->fd, late, address_of(target), 0, 0x1a7e));
	ASSERT_EQ(0, settle(self->fd, late));
	spin_stop(&spin);
	EXPECT_EQ(0x1a7e, gem_read32(self->fd, target, 0));
	spin_free(&spin);
	/* it has one now, and keeps it */
	EXPECT_EQ(-EINVAL, set_space(self->fd, late, space));
	EXPECT_EQ(-EINVAL, set_space(self->fd, context, again));
	EXPECT_EQ(-EINVAL, set_space(self->fd, 0, space));
	EXPECT_EQ(0, space_destroy(self->fd, space));
	EXPECT_EQ(0, space_destroy(self->fd, again));
	ASSERT_EQ(0, store_at(self->fd, late, address_of(target), target, 0x1a7f));
	EXPECT_EQ(0x1a7f, gem_read32(self->fd, target, 0));
}

/* Without its number, a space is there as long as a context is in it. */
TEST_F(spaces, destroyed_while_in_use)
{
	__u32 space, first, second, target = gem_create(self->fd, PAGE);
	struct spin spin;

	space = space_create(self->fd);
	ASSERT_EQ(0, context_in(self->fd, space, copy_engine, &first));
	ASSERT_EQ(0, context_in(self->fd, space, render_engine, &second));
	ASSERT_EQ(0, spin_start(&self->gpu, &at_0, first, target, NULL, &spin));
	EXPECT_EQ(0, space_destroy(self->fd, space));
	EXPECT_EQ(-ENOENT, space_destroy(self->fd, space));
	ASSERT_EQ(0, store_at(self->fd, second, address_of(target), 0, 0x90e));
	ASSERT_EQ(0, settle(self->fd, second));
	/* and a batch as long as it runs */
	EXPECT_EQ(0, context_destroy(self->fd, second));
	EXPECT_EQ(0, context_destroy(self->fd, first));
	EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
	spin_stop(&spin);
	EXPECT_EQ(0x90e, gem_read32(self->fd, target, 0));
	spin_free(&spin);
	/* what was in it is free again */
	ASSERT_EQ(0, store_at(self->fd, 0, address_of(target), target, 0x90f));
	EXPECT_EQ(0x90f, gem_read32(self->fd, target, 0));
}

TEST_F(spaces, arguments)
{
	struct i915_user_extension ext = {};
	struct drm_i915_gem_vm_control vm = { .flags = 1 };
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_VM };
	__u32 space, context;
	struct gpu other;

	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm, EINVAL);
	vm.flags = 0;
	vm.extensions = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm, EFAULT);
	vm.extensions = U64(&ext);
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm, EINVAL);
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm, EINVAL);
	vm.extensions = 0;
	/* there are no numbers before the first one */
	vm.vm_id = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm, ENOENT);
	vm.vm_id = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm, ENOENT);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm);
	space = vm.vm_id;
	EXPECT_NE(0, space);
	vm.flags = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm, EINVAL);

	param.ctx_id = context_create(self->fd);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENOENT);
	param.value = 1ull << 32 | space;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENOENT);
	param.value = space;
	param.size = 8;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	param.size = 0;
	/* another file has its own numbers */
	ASSERT_EQ(0, gpu_open(&other));
	EXPECT_EQ(-ENOENT, context_in(other.fd, space, copy_engine, &context));
	EXPECT_EQ(-ENOENT, space_destroy(other.fd, space));
	gpu_close(&other);
	EXPECT_EQ(-ENOENT, context_in(self->fd, space + 1, copy_engine, &context));
	EXPECT_EQ(-ENOENT, context_in(self->fd, 0, copy_engine, &context));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
	EXPECT_EQ(0, space_destroy(self->fd, space));
	EXPECT_EQ(-ENOENT, context_in(self->fd, space, copy_engine, &context));
}

/* Numbers are counted, not spaces. */
TEST_F(spaces, numbers_of_a_client)
{
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_VM };
	struct drm_i915_gem_vm_control vm = {};
	unsigned int i;

	if (!self->gpu.ouro)
		SKIP(return, "another driver has other limits");
	if (!rounds("OURO_MANY", 1, 0))
		SKIP(return, "so many take the debug kernel a minute: for the plain one");
	for (i = 0; i < SPACES; i++)
		if (!space_of(self->fd, 0))
			break;
	EXPECT_EQ(SPACES, i);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, ENOSPC);
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm, ENOSPC);
	EXPECT_EQ(0, space_destroy(self->fd, 1));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm);
}

/* One object has all of a space but the last page, where the batch is: no other object has room. */
TEST_F(spaces, all_of_a_space)
{
	struct drm_i915_gem_context_param size = { .param = I915_CONTEXT_PARAM_GTT_SIZE };
	__u32 target = gem_create(self->fd, PAGE), batch = gem_create(self->fd, PAGE);
	__u32 other = gem_create(self->fd, PAGE), i;
	__u64 last, at;

	ASSERT_EQ(0, context_in(self->fd, space_create(self->fd), render_engine, &size.ctx_id));
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &size));
	last = size.value - PAGE;
	/* bits above the 48 of an address are those of its last one */
	at = (__s64)(last << 16) >> 16;
	for (i = 0; i < 2; i++) {
		struct words w = {};

		words_store(&w, 8 * i, 0xa11 + i);
		words_end(&w);
		ASSERT_EQ(0, gem_write(self->fd, batch, 0, w.words, w.n * 4));
		words_object(&w, target, EXEC_OBJECT_WRITE | EXEC_OBJECT_PAD_TO_SIZE);
		w.objects[0].offset = 0;
		w.objects[0].pad_to_size = last;
		if (i) {
			words_object(&w, other, 0);
			w.objects[1].flags = EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
		}
		EXPECT_EQ(i ? -ENOSPC : 0,
			  words_submit(self->fd, &w, batch, at, 0, size.ctx_id, NULL));
		EXPECT_EQ(0, gem_wait(self->fd, target, -1));
		EXPECT_EQ(i ? 0 : 0xa11, gem_read32(self->fd, target, 8 * i));
	}
}

/* Two engines write their halves of one object, at one address, at the same time. */
struct writer {
	int fd;
	__u32 context, target;
	unsigned int half;
	int got;
};

enum { ROUNDS = 100 };

static void *write_half(void *argument)
{
	struct writer *w = argument;
	unsigned int i;

	for (i = 0; i < ROUNDS && !w->got; i++)
		w->got = store_at(w->fd, w->context,
				  address_of(w->target) + w->half * PAGE + 4 * i, w->target,
				  w->half << 16 | i);
	return NULL;
}

TEST_F(spaces, two_threads_in_one_space)
{
	struct writer writers[2];
	pthread_t threads[2];
	__u32 target = gem_create(self->fd, 2 * PAGE), space = space_create(self->fd);
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		writers[k] = (struct writer){ .fd = self->fd, .target = target, .half = k };
		ASSERT_EQ(0, context_in(self->fd, space, k ? copy_engine : render_engine,
					&writers[k].context));
	}
	for (k = 0; k < 2; k++)
		ASSERT_EQ(0, pthread_create(&threads[k], NULL, write_half, &writers[k]));
	for (k = 0; k < 2; k++)
		pthread_join(threads[k], NULL);
	ASSERT_EQ(0, gem_wait(self->fd, target, -1));
	for (k = 0; k < 2; k++) {
		EXPECT_EQ(0, writers[k].got);
		for (i = 0; i < ROUNDS; i++)
			EXPECT_EQ(k << 16 | i, gem_read32(self->fd, target, k * PAGE + 4 * i));
	}
}

/* One thread ends spaces that the other one makes contexts of. */
struct chase {
	int fd;
	__u32 space, target, stop;
	unsigned int in, late, odd;
};

static void *follow(void *argument)
{
	struct chase *c = argument;

	while (!peek(&c->stop)) {
		__u32 context, space = peek(&c->space);
		int got = context_in(c->fd, space, copy_engine, &context);

		if (got == -ENOENT) {
			c->late++;
			continue;
		}
		c->in++;
		if (got || store_at(c->fd, context, address_of(c->target), c->target, 0xc4a5e) ||
		    !space_of(c->fd, context) || context_destroy(c->fd, context))
			c->odd++;
	}
	return NULL;
}

TEST_F(spaces, destroyed_while_contexts_are_made)
{
	struct chase c = { .fd = self->fd, .target = gem_create(self->fd, PAGE) };
	pthread_t thread;
	unsigned int i;

	c.space = space_create(self->fd);
	ASSERT_EQ(0, pthread_create(&thread, NULL, follow, &c));
	for (i = 0; i < ROUNDS; i++) {
		__u32 next = space_create(self->fd), old = c.space;

		ASSERT_NE(0, next);
		EXPECT_EQ(0, space_destroy(self->fd, old));
		poke(&c.space, next);
	}
	/* the last one stays until there was a context in it */
	while (!peek(&c.in))
		usleep(1000);
	poke(&c.stop, 1);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, c.odd);
	ASSERT_EQ(0, gem_wait(self->fd, c.target, -1));
	EXPECT_EQ(0xc4a5e, gem_read32(self->fd, c.target, 0));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * I915_CONTEXT_PARAM_CONTEXT_IMAGE: a context that begins with the image of
 * another one, which an error state has. The module parameter `replay` allows
 * it (uapi.rst).
 *
 * Commands of Gen12.5: see batch_local.h.
 */
#define TOPIC replay
#define ONLY_CARDS
#define HANGS
#include <sys/wait.h>

#include "test.h"
#include "batch_i915.h"
#include "batch_local.h"
#include "error_state.h"

/* General registers of an engine, from its own registers on: they are in each context's image. */
enum { GPR0 = 0x600, GPR1 = 0x608 };
/* The largest image: §5.10 of the digest has 14 pages. */
enum { IMAGE = 16 * PAGE };

static const struct i915_engine_class_instance render = { I915_ENGINE_CLASS_RENDER, 0 };
static const struct i915_engine_class_instance blitter = { I915_ENGINE_CLASS_COPY, 0 };

static int set_param(int fd, __u32 context, struct i915_gem_context_param_context_image *image,
		     __u32 size)
{
	struct drm_i915_gem_context_param arg = {
		.ctx_id = context,
		.size = size,
		.param = I915_CONTEXT_PARAM_CONTEXT_IMAGE,
		.value = U64(image),
	};

	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &arg);
}

/* Of an engine in the context's map. */
static int set_image_at(int fd, __u32 context, __u16 slot, const void *image, __u32 size)
{
	struct i915_gem_context_param_context_image param = {
		.engine.engine_instance = slot,
		.flags = I915_CONTEXT_IMAGE_FLAG_ENGINE_INDEX,
		.size = size,
		.image = U64(image),
	};

	return set_param(fd, context, &param, sizeof(param));
}

/* Of the first one. */
static int set_image(int fd, __u32 context, const void *image, __u32 size)
{
	return set_image_at(fd, context, 0, image, size);
}

/* Without the module parameter, all calls are EINVAL. */
static bool is_allowed(int fd)
{
	const __u32 size = sizeof(struct i915_gem_context_param_context_image);

	return set_param(fd, 0, (void *)BAD_POINTER, size) == -EFAULT;
}

static int keep(int fd, __u32 context, __u32 value)
{
	struct words w = {};

	w.words[w.n++] = MI_LOAD_REGISTER_IMM;
	w.words[w.n++] = GPR0;
	w.words[w.n++] = value;
	words_end(&w);
	return words_run(fd, &w, 0, context);
}

static int show_at(int fd, __u32 context, __u64 slot, __u32 handle)
{
	const __u64 to = address_of(handle);
	struct words w = {};

	w.words[w.n++] = MI_STORE_REGISTER_MEM;
	w.words[w.n++] = GPR0;
	w.words[w.n++] = (__u32)to;
	w.words[w.n++] = to >> 32;
	words_end(&w);
	words_object(&w, handle, EXEC_OBJECT_WRITE);
	return words_run(fd, &w, slot, context);
}

static int show(int fd, __u32 context, __u32 handle)
{
	return show_at(fd, context, 0, handle);
}

/* Hangs a context; the image that its error state has, to be freed. */
static __u32 *image_of_hang(const struct gpu *gpu, __u32 context, int *dwords)
{
	const struct engine at_0 = { .name = "0" };
	__u32 *image = calloc(1, IMAGE);
	struct spin spin;
	char *text;

	*dwords = -1;
	clear(gpu->fd);
	if (hang_start(gpu, &at_0, context, 0, NULL, &spin))
		return image;
	gem_wait(gpu->fd, spin.handle, -1);
	spin_free(&spin);
	text = read_all(gpu->fd);
	if (text)
		*dwords = memory_of(text, "HW context", image, IMAGE / 4);
	free(text);
	clear(gpu->fd);
	return image;
}

/* What a context had in a register when it was saved, the replayed one has. */
TEST_F(replay, a_context_begins_with_the_image_of_a_hang)
{
	const struct i915_engine_class_instance engines[] = { render, blitter };
	unsigned int i;

	if (!is_allowed(self->fd))
		SKIP(return, "the module parameter replay is 0");
	for (i = 0; i < ARRAY_LEN(engines); i++) {
		__u32 target = gem_create(self->fd, PAGE), *image;
		__u32 hung = context_on(self->fd, engines[i]);
		__u32 other = context_on(self->fd, engines[i]);
		__u32 again = context_on(self->fd, engines[i]);
		int dwords;

		ASSERT_EQ(0, keep(self->fd, hung, 0x5eed0000 + i));
		/* it is saved when another one runs */
		ASSERT_EQ(0, show(self->fd, other, target));
		EXPECT_EQ(0, gem_read32(self->fd, target, 0));
		image = image_of_hang(&self->gpu, hung, &dwords);
		ASSERT_LE(2 * PAGE / 4, dwords);
		cover("DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM");
		ASSERT_EQ(0, set_image(self->fd, again, image, dwords * 4));
		EXPECT_EQ(-EBUSY, set_image(self->fd, again, image, dwords * 4));
		ASSERT_EQ(0, show(self->fd, again, target));
		EXPECT_EQ(0x5eed0000 + i, gem_read32(self->fd, target, 0));
		EXPECT_EQ(-EBUSY, set_image(self->fd, again, image, dwords * 4));
		/* it is a context like any other */
		ASSERT_EQ(0, keep(self->fd, again, 0x600d));
		ASSERT_EQ(0, show(self->fd, other, target));
		EXPECT_EQ(0, gem_read32(self->fd, target, 0));
		ASSERT_EQ(0, show(self->fd, again, target));
		EXPECT_EQ(0x600d, gem_read32(self->fd, target, 0));
		free(image);
	}
}

/* An engine in two slots of the map: each slot begins with an image of its own. */
TEST_F(replay, each_slot_of_an_engine_has_its_image)
{
	I915_DEFINE_CONTEXT_PARAM_ENGINES(engines, 2) = { .engines = { render, render } };
	struct drm_i915_gem_context_param map = { .param = I915_CONTEXT_PARAM_ENGINES,
						  .ctx_id = context_create(self->fd),
						  .size = sizeof(engines),
						  .value = U64(&engines) };
	__u32 target = gem_create(self->fd, PAGE), hung = context_on(self->fd, render);
	__u32 other = context_on(self->fd, render), *image;
	int dwords;

	if (!is_allowed(self->fd))
		SKIP(return, "the module parameter replay is 0");
	ASSERT_EQ(0, keep(self->fd, hung, 0x5eed));
	ASSERT_EQ(0, show(self->fd, other, target));
	image = image_of_hang(&self->gpu, hung, &dwords);
	ASSERT_LE(2 * PAGE / 4, dwords);
	cover("DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM");
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &map));
	ASSERT_EQ(0, set_image_at(self->fd, map.ctx_id, 1, image, dwords * 4));
	EXPECT_EQ(-EBUSY, set_image_at(self->fd, map.ctx_id, 1, image, dwords * 4));
	EXPECT_EQ(-EINVAL, set_image_at(self->fd, map.ctx_id, 2, image, dwords * 4));
	ASSERT_EQ(0, show_at(self->fd, map.ctx_id, 0, target));
	EXPECT_EQ(0, gem_read32(self->fd, target, 0));
	ASSERT_EQ(0, show_at(self->fd, map.ctx_id, 1, target));
	EXPECT_EQ(0x5eed, gem_read32(self->fd, target, 0));
	free(image);
}

/* Arguments, and images that no engine has saved: refused, and the context is as before. */
TEST_F(replay, images_that_are_refused)
{
	__u32 context = context_on(self->fd, render), target = gem_create(self->fd, PAGE), *image;
	__u32 plain = context_create(self->fd), random = 1, i;
	struct i915_gem_context_param_context_image param;
	const struct i915_gem_context_param_context_image good = {
		.flags = I915_CONTEXT_IMAGE_FLAG_ENGINE_INDEX,
		.size = IMAGE,
	};
	int dwords;

	image = image_of_hang(&self->gpu, context_on(self->fd, render), &dwords);
	ASSERT_NE(NULL, image);
	cover("DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM");
	if (!is_allowed(self->fd)) {
		EXPECT_EQ(-EINVAL, set_image(self->fd, context, image, IMAGE));
		free(image);
		return;
	}
	ASSERT_LE(2 * PAGE / 4, dwords);
	param = good;
	param.image = U64(image);
	EXPECT_EQ(-EINVAL, set_param(self->fd, context, &param, sizeof(param) - 1));
	EXPECT_EQ(-EFAULT, set_param(self->fd, context, (void *)BAD_POINTER, sizeof(param)));
	param.mbz = 1;
	EXPECT_EQ(-EINVAL, set_param(self->fd, context, &param, sizeof(param)));
	param.mbz = 0;
	param.flags |= 2;
	EXPECT_EQ(-EINVAL, set_param(self->fd, context, &param, sizeof(param)));
	/* a context with a map has its engines by index, one without by name */
	param.flags = 0;
	param.engine = render;
	EXPECT_EQ(-EINVAL, set_param(self->fd, context, &param, sizeof(param)));
	param.engine.engine_instance = 99;
	EXPECT_EQ(-EINVAL, set_param(self->fd, plain, &param, sizeof(param)));
	param = good;
	param.image = U64(image);
	EXPECT_EQ(-EINVAL, set_param(self->fd, plain, &param, sizeof(param)));
	param.engine.engine_instance = 1;
	EXPECT_EQ(-EINVAL, set_param(self->fd, context, &param, sizeof(param)));
	EXPECT_EQ(-EINVAL, set_image(self->fd, context, image, dwords * 4 - 4));
	EXPECT_EQ(-EINVAL, set_image(self->fd, context, image, 0));
	EXPECT_EQ(-EFAULT, set_image(self->fd, context, (void *)BAD_POINTER, IMAGE));
	/* no load in it at all, and loads of anything */
	memset(image, 0, IMAGE);
	EXPECT_EQ(-EINVAL, set_image(self->fd, context, image, IMAGE));
	for (i = 0; i < IMAGE / 4; i++) {
		random = random * 1664525 + 1013904223;
		image[i] = random;
	}
	EXPECT_EQ(-EINVAL, set_image(self->fd, context, image, IMAGE));
	for (i = 0; i < IMAGE / 4; i++)
		image[i] = MI_LOAD_REGISTER_IMM | (image[i] & 0xff);
	EXPECT_EQ(-EINVAL, set_image(self->fd, context, image, IMAGE));
	ASSERT_EQ(0, show(self->fd, context, target));
	EXPECT_EQ(0, gem_read32(self->fd, target, 0));
	free(image);
}

/* The engine restores an image with privilege: only root may give one. */
TEST_F(replay, only_root_may)
{
	__u32 context = context_on(self->fd, render);
	char image[PAGE] = {};
	pid_t child;
	int status;

	if (!is_allowed(self->fd))
		SKIP(return, "the module parameter replay is 0");
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (setuid(65534))
			_exit(1);
		_exit(set_image(self->fd, context, image, sizeof(image)) == -EPERM ? 0 : 2);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_CONTEXT_CREATE, _DESTROY, _GETPARAM, _SETPARAM. */
#define TOPIC context
#define ANY_I915
#include "test.h"

TEST_F(context, create_and_destroy)
{
	struct drm_i915_gem_context_create create = {};
	struct drm_i915_gem_context_destroy destroy = {};
	__u32 ids[16];
	unsigned int i, k;

	for (i = 0; i < ARRAY_LEN(ids); i++) {
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create);
		ids[i] = create.ctx_id;
		EXPECT_NE(0, ids[i]);
		for (k = 0; k < i; k++)
			EXPECT_NE(ids[k], ids[i]);
	}
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		destroy.ctx_id = ids[i];
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy);
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy, ENOENT);
	}
}

TEST_F(context, create_arguments)
{
	struct drm_i915_gem_context_create_ext_setparam ext = {
		.base = { .name = I915_CONTEXT_CREATE_EXT_SETPARAM },
		.param = { .param = I915_CONTEXT_PARAM_RECOVERABLE, .value = 0 },
	};
	struct drm_i915_gem_context_create_ext create = {};
	unsigned int bit;

	for (bit = 2; bit < 32; bit++) {
		create.flags = 1u << bit;
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EINVAL);
	}
	create.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS;
	create.extensions = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EFAULT);
	create.extensions = U64(&ext);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);
	EXPECT_NE(0, create.ctx_id);
	/* an unknown extension, an unknown parameter, a context that the caller names */
	ext.base.name = 0x4444;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EINVAL);
	ext.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM;
	ext.param.param = 0x4444;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EINVAL);
	ext.param.param = I915_CONTEXT_PARAM_RECOVERABLE;
	ext.param.ctx_id = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EINVAL);
	ext.param.ctx_id = 0;
	/* a chain that bites its own tail */
	ext.base.next_extension = U64(&ext);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, E2BIG);
	ext.base.next_extension = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, NULL, EFAULT);
}

TEST_F(context, destroy_arguments)
{
	struct drm_i915_gem_context_destroy destroy = { .ctx_id = context_create(self->fd) };

	destroy.pad = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy, EINVAL);
	destroy.pad = 0;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy);
	destroy.ctx_id = 0xfffffff0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy, ENOENT);
	/* the file's own one stays */
	destroy.ctx_id = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, NULL, EFAULT);
}

TEST_F(context, parameters_read)
{
	struct drm_i915_gem_context_param get = {};
	__u32 ids[2] = { 0, context_create(self->fd) };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		get = (struct drm_i915_gem_context_param){ .ctx_id = ids[i],
							   .param = I915_CONTEXT_PARAM_GTT_SIZE };
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
		EXPECT_GE(get.value, 1ull << 28);
		EXPECT_EQ(0, get.size);
		get = (struct drm_i915_gem_context_param){ .ctx_id = ids[i],
							   .param = I915_CONTEXT_PARAM_BANNABLE };
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
		EXPECT_EQ(1, get.value);
		get.param = I915_CONTEXT_PARAM_RECOVERABLE;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
		EXPECT_EQ(1, get.value);
		get.param = I915_CONTEXT_PARAM_NO_ERROR_CAPTURE;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
		EXPECT_EQ(0, get.value);
		get.param = I915_CONTEXT_PARAM_PRIORITY;
		get.value = 77;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
		EXPECT_EQ(0, get.value);
		get.param = I915_CONTEXT_PARAM_PERSISTENCE;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
		EXPECT_EQ(1, get.value);
	}
}

TEST_F(context, parameters_unknown_or_gone)
{
	__u64 bad[] = { 0,
			I915_CONTEXT_PARAM_BAN_PERIOD,
			I915_CONTEXT_PARAM_NO_ZEROMAP,
			0x100,
			0x7fffffff,
			~0ull };
	__u32 id = context_create(self->fd);
	struct drm_i915_gem_context_param param;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		param = (struct drm_i915_gem_context_param){ .ctx_id = id, .param = bad[i] };
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, EINVAL);
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	}
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, NULL, EFAULT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, NULL, EFAULT);
}

TEST_F(context, parameters_of_no_context)
{
	struct drm_i915_gem_context_param param = { .ctx_id = 0xfffffff0,
						    .param = I915_CONTEXT_PARAM_GTT_SIZE };

	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, ENOENT);
	param.param = I915_CONTEXT_PARAM_RECOVERABLE;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENOENT);
	param.ctx_id = context_create(self->fd);
	ASSERT_EQ(0, context_destroy(self->fd, param.ctx_id));
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, ENOENT);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENOENT);
}

TEST_F(context, parameters_set_and_read_back)
{
	__u64 params[] = { I915_CONTEXT_PARAM_RECOVERABLE, I915_CONTEXT_PARAM_NO_ERROR_CAPTURE,
			   I915_CONTEXT_PARAM_PERSISTENCE };
	__u32 id = context_create(self->fd), other = context_create(self->fd);
	unsigned int i, value;

	for (i = 0; i < ARRAY_LEN(params); i++)
		for (value = 0; value < 2; value++) {
			struct drm_i915_gem_context_param set = { .ctx_id = id,
								  .param = params[i],
								  .value = value };
			struct drm_i915_gem_context_param get = { .ctx_id = id,
								  .param = params[i] };
			__u64 before;

			get.ctx_id = other;
			GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
			before = get.value;
			GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set);
			get.ctx_id = id;
			GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
			EXPECT_EQ(value, get.value);
			/* each context has its own */
			get.ctx_id = other;
			GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
			EXPECT_EQ(before, get.value);
			set.size = 8;
			BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set, EINVAL);
		}
}

TEST_F(context, parameters_that_this_chip_lacks)
{
	struct drm_i915_gem_context_param set = { .ctx_id = context_create(self->fd) };

	if (getparam(self->fd, I915_PARAM_HAS_SCHEDULER) != 0)
		SKIP(return, "the chip has a scheduler");
	set.param = I915_CONTEXT_PARAM_PRIORITY;
	set.value = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set, ENODEV);
	set.size = 4;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set, EINVAL);
	set.size = 0;
	set.value = 5000;
	cover("DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM");
	EXPECT_LT(call(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set), 0);
	if (getparam(self->fd, I915_PARAM_HAS_ALIASING_PPGTT) < 2) {
		set.param = I915_CONTEXT_PARAM_VM;
		set.value = 0;
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &set, ENODEV);
	}
	/* what cannot be written at all */
	set.param = I915_CONTEXT_PARAM_GTT_SIZE;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set, EINVAL);
}

TEST_F(context, each_works_on_each_engine)
{
	__u32 target = gem_create(self->fd, PAGE), ids[4];
	unsigned int c, e, round;

	for (c = 0; c < ARRAY_LEN(ids); c++)
		ids[c] = context_create(self->fd);
	for (round = 0; round < 6; round++)
		for (c = 0; c < ARRAY_LEN(ids); c++)
			for (e = 0; e < self->gpu.n_engines; e++)
				ASSERT_EQ(0,
					  store(&self->gpu, &self->gpu.engines[e], ids[c], target,
						8 * (4 * e + c), round << 8 | c << 4 | e));
	for (c = 0; c < ARRAY_LEN(ids); c++)
		for (e = 0; e < self->gpu.n_engines; e++)
			EXPECT_EQ(5 << 8 | c << 4 | e,
				  gem_read32(self->fd, target, 8 * (4 * e + c)));
	for (c = 0; c < ARRAY_LEN(ids); c++)
		EXPECT_EQ(0, context_destroy(self->fd, ids[c]));
}

TEST_F(context, destroyed_while_it_works)
{
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i;

	for (i = 0; i < 64; i++) {
		const struct engine *engine = &self->gpu.engines[i % self->gpu.n_engines];
		__u32 id = context_create(self->fd);

		ASSERT_NE(0, id);
		ASSERT_EQ(0, store(&self->gpu, engine, id, target, 8 * i, i + 1));
		ASSERT_EQ(0, context_destroy(self->fd, id));
	}
	for (i = 0; i < 64; i++)
		EXPECT_EQ(i + 1, gem_read32(self->fd, target, 8 * i));
}

TEST_F(context, of_another_file)
{
	struct drm_i915_gem_context_param get = { .param = I915_CONTEXT_PARAM_GTT_SIZE };
	struct gpu other;
	__u32 id = 0;
	unsigned int i;

	ASSERT_EQ(0, gpu_open(&other));
	/* ids are per file: make one here that the other cannot have */
	for (i = 0; i < 8; i++)
		id = context_create(self->fd);
	get.ctx_id = id;
	BAD(other.fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get, ENOENT);
	EXPECT_EQ(-ENOENT, context_destroy(other.fd, id));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get);
	gpu_close(&other);
}

/*
 * The kernel keeps contexts' images in the last sixteenth of the address space. An object that must
 * be there displaces images of idle contexts; each gets another address when its context runs
 * again.
 */
TEST_F(context, images_make_room)
{
	struct drm_i915_gem_context_param space = { .param = I915_CONTEXT_PARAM_GTT_SIZE };
	const struct engine *engine = &self->gpu.engines[0];
	__u32 target = gem_create(self->fd, PAGE), wall = gem_create(self->fd, PAGE), ids[96];
	/* rings and tables; and memory that batches are copied to, which stays */
	unsigned long fixed = self->gpu.backend->has_checker ? 6ul << 20 : 4ul << 20;
	struct drm_i915_gem_exec_object2 *object;
	unsigned int c, round;
	struct batch batch;

	if (!self->gpu.ouro)
		SKIP(return, "another driver keeps images elsewhere");
	if (getparam(self->fd, I915_PARAM_HAS_ALIASING_PPGTT) > 1)
		SKIP(return, "images are in no space that objects can be in");
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &space);
	for (c = 0; c < ARRAY_LEN(ids); c++) {
		ids[c] = context_create(self->fd);
		ASSERT_EQ(0, store(&self->gpu, engine, ids[c], target, 8 * c, c + 1));
	}
	ASSERT_EQ(0, gem_wait(self->fd, target, -1));

	for (round = 0; round < 3; round++) {
		/* behind rings and tables, and behind the first images */
		batch_init(&batch);
		object = batch_object(&batch, wall);
		object->flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_PAD_TO_SIZE;
		object->offset = space.value / 16 * 15 + fixed;
		object->pad_to_size = space.value / 16 - fixed;
		if (object->pad_to_size > 32ul << 20)
			object->pad_to_size = 32ul << 20;
		batch_end(&batch, self->gpu.backend);
		ASSERT_EQ(0, batch_run(self->fd, &batch, engine->ring, 0));

		for (c = 0; c < ARRAY_LEN(ids); c++)
			ASSERT_EQ(0, store(&self->gpu, engine, ids[c], target, 8 * c,
					   round << 16 | c));
		for (c = 0; c < ARRAY_LEN(ids); c++)
			EXPECT_EQ(round << 16 | c, gem_read32(self->fd, target, 8 * c));
		/* and the wall goes away, so that they may come back */
		gem_close(self->fd, wall);
		wall = gem_create(self->fd, PAGE);
	}
}

TEST_HARNESS_MAIN

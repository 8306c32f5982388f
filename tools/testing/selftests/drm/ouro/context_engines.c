// SPDX-License-Identifier: GPL-2.0
/*
 * I915_CONTEXT_PARAM_ENGINES and what belongs to it: the ring selector of
 * EXECBUFFER2 as a place in a context's list of engines.
 */
#define TOPIC context_engines
#define ANY_I915
#include "test.h"
#include "sw_sync.h"

/* Nanoseconds that a batch may take. */
#define PATIENCE 60000000000ll

struct engines {
	__u64 extensions;
	struct i915_engine_class_instance engines[65];
};

#define SIZE(n) (sizeof(__u64) + (n) * sizeof(struct i915_engine_class_instance))

/* The class of an engine, by i915_drm.h. */
static struct i915_engine_class_instance name_of(const struct engine *engine)
{
	struct i915_engine_class_instance name = {};

	name.engine_class = engine->bit == BCS ? I915_ENGINE_CLASS_COPY :
			    engine->bit == VCS ? I915_ENGINE_CLASS_VIDEO :
						 I915_ENGINE_CLASS_RENDER;
	return name;
}

static const struct i915_engine_class_instance gap = {
	(__u16)I915_ENGINE_CLASS_INVALID,
	(__u16)I915_ENGINE_CLASS_INVALID_NONE,
};

/* The errno of a batch of one object that is not there: ENOENT if the engine is. */
static int probe(int fd, __u32 context, __u64 ring)
{
	struct drm_i915_gem_exec_object2 object = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .flags = ring,
					       .rsvd1 = context };

	return call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

/* A batch that does nothing, behind a file. */
static int wait_for_file(const struct gpu *gpu, const struct engine *engine, __u32 context,
			 int file)
{
	__u32 end[2] = { gpu->backend->batch_end };
	struct drm_i915_gem_exec_object2 object = { .handle = gem_create(gpu->fd, PAGE) };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .flags = engine->ring | I915_EXEC_FENCE_IN,
					       .rsvd1 = context,
					       .rsvd2 = file };
	int got = gem_write(gpu->fd, object.handle, 0, end, sizeof(end));

	if (!got)
		got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	gem_close(gpu->fd, object.handle);
	return got;
}

TEST_F(context_engines, a_place_is_an_engine)
{
	struct engines list = {};
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_ENGINES,
						    .value = U64(&list) };
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i, n = self->gpu.n_engines;

	param.ctx_id = context_create(self->fd);
	/* backwards, with a gap at the end */
	for (i = 0; i < n; i++)
		list.engines[i] = name_of(&self->gpu.engines[n - 1 - i]);
	list.engines[n] = gap;
	param.size = SIZE(n + 1);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
	for (i = 0; i < n; i++) {
		struct engine engine = self->gpu.engines[n - 1 - i];

		if (!store_for(&self->gpu, &engine, 4))
			continue;
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		engine.ring = i;
		ASSERT_EQ(0, store(&self->gpu, &engine, param.ctx_id, target, i * 4, 0xe0 + i));
		ASSERT_EQ(0, gem_wait(self->fd, target, -1));
		EXPECT_EQ(0xe0 + i, gem_read32(self->fd, target, i * 4));
	}
	EXPECT_EQ(-EINVAL, probe(self->fd, param.ctx_id, n));
	EXPECT_EQ(-EINVAL, probe(self->fd, param.ctx_id, n + 1));
	EXPECT_EQ(-EINVAL, probe(self->fd, param.ctx_id, I915_EXEC_RING_MASK));
	/* others are not concerned */
	EXPECT_EQ(-ENOENT, probe(self->fd, 0, self->gpu.engines[0].ring));
}

TEST_F(context_engines, the_largest_list)
{
	struct engines list = {};
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_ENGINES,
						    .value = U64(&list) };
	unsigned int i;

	param.ctx_id = context_create(self->fd);
	for (i = 0; i < ARRAY_LEN(list.engines); i++)
		list.engines[i] = gap;
	list.engines[63] = name_of(&self->gpu.engines[0]);
	param.size = SIZE(65);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	param.size = SIZE(64);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
	EXPECT_EQ(-ENOENT, probe(self->fd, param.ctx_id, 63));
	EXPECT_EQ(-EINVAL, probe(self->fd, param.ctx_id, 62));
	EXPECT_EQ(-EINVAL, probe(self->fd, param.ctx_id, 0));
}

TEST_F(context_engines, an_empty_list)
{
	struct engines list = {};
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_ENGINES,
						    .value = U64(&list) };

	param.ctx_id = context_create(self->fd);
	/* no list is not a list */
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	param.size = SIZE(0);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
	EXPECT_EQ(-EINVAL, probe(self->fd, param.ctx_id, 0));
}

TEST_F(context_engines, once_and_before_the_first_batch)
{
	struct engines list = { .engines = { gap } };
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_ENGINES,
						    .size = SIZE(1),
						    .value = U64(&list) };

	param.ctx_id = context_create(self->fd);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
	list.engines[0] = name_of(&self->gpu.engines[0]);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	EXPECT_EQ(-EINVAL, probe(self->fd, param.ctx_id, 0));
	/* a batch has gone by the names, if in vain */
	param.ctx_id = context_create(self->fd);
	EXPECT_EQ(-ENOENT, probe(self->fd, param.ctx_id, self->gpu.engines[0].ring));
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	EXPECT_EQ(-ENOENT, probe(self->fd, param.ctx_id, self->gpu.engines[0].ring));
	/* the default context has never been asked */
	param.ctx_id = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
}

/*
 * The same engine in three slots: a batch that waits in one slot does not hold up those of the
 * others.
 */
TEST_F(context_engines, a_timeline_for_each_place)
{
	enum { PLACES = 3 };
	struct engines list = {};
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_ENGINES,
						    .size = SIZE(PLACES),
						    .value = U64(&list) };
	unsigned int e, i;

	for (e = 0; e < self->gpu.n_engines; e++) {
		struct engine engine = self->gpu.engines[e];
		__u32 target = gem_create(self->fd, PAGE);
		int timeline = sw_timeline(), fence;

		if (timeline < 0)
			SKIP(return, "the kernel was built without CONFIG_SW_SYNC");
		if (!store_for(&self->gpu, &engine, 4))
			continue;
		param.ctx_id = context_create(self->fd);
		for (i = 0; i < PLACES; i++)
			list.engines[i] = name_of(&engine);
		cover("DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM");
		GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
		fence = sw_fence(timeline);
		ASSERT_LE(0, fence);
		for (i = 0; i < PLACES; i++) {
			engine.ring = i;
			ASSERT_EQ(0, wait_for_file(&self->gpu, &engine, param.ctx_id, fence));
			/* not behind what waits at the places before */
			engine.ring = (i + 1) % PLACES;
			if (i == PLACES - 1)
				break;
			ASSERT_EQ(0, store(&self->gpu, &engine, param.ctx_id, target, i * 8,
					   0xf0 + i));
			ASSERT_EQ(0, gem_wait(self->fd, target, PATIENCE));
			EXPECT_EQ(0xf0 + i, gem_read32(self->fd, target, i * 8));
		}
		/* but here */
		ASSERT_EQ(0, store(&self->gpu, &engine, param.ctx_id, target, 0, 0xff));
		EXPECT_EQ(-ETIME, gem_wait(self->fd, target, 0));
		ASSERT_EQ(0, sw_signal(timeline));
		EXPECT_EQ(0, gem_wait(self->fd, target, PATIENCE));
		EXPECT_EQ(0xff, gem_read32(self->fd, target, 0));
		close(fence);
		close(timeline);
		gem_close(self->fd, target);
		context_destroy(self->fd, param.ctx_id);
	}
}

TEST_F(context_engines, not_read_back)
{
	struct engines list = { .engines = { gap } };
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_ENGINES,
						    .size = SIZE(1),
						    .value = U64(&list) };

	param.ctx_id = context_create(self->fd);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, EINVAL);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, EINVAL);
}

TEST_F(context_engines, arguments)
{
	static const unsigned int sizes[] = { 1, 7, 9, 10, 11, 13 };
	struct engines list = { .engines = { gap } };
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_ENGINES,
						    .value = U64(&list) };
	unsigned int i;

	param.ctx_id = context_create(self->fd);
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		param.size = sizes[i];
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	}
	param.size = SIZE(1);
	param.value = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EFAULT);
	param.value = KERNEL_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EFAULT);
	param.value = U64(&list);
	/* engines that no chip has, and half a gap */
	list.engines[0] = (struct i915_engine_class_instance){ 77, 0 };
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENOENT);
	list.engines[0] = (struct i915_engine_class_instance){ I915_ENGINE_CLASS_RENDER, 77 };
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENOENT);
	list.engines[0] = gap;
	list.engines[0].engine_instance = 0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENOENT);
	list.engines[0] = gap;
	list.extensions = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EFAULT);
	/* whatever was wrong, nothing was set */
	EXPECT_EQ(-ENOENT, probe(self->fd, param.ctx_id, self->gpu.engines[0].ring));
	param.ctx_id = 0xfffffff0;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENOENT);
}

/* Where engines are not scheduled. */
TEST_F(context_engines, extensions)
{
	static const struct {
		__u32 name;
		int error;
	} bad[] = {
		{ I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE, ENODEV },
		{ I915_CONTEXT_ENGINES_EXT_BOND, ENODEV },
		{ I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT, ENODEV },
		{ 3, EINVAL },
		{ ~0u, EINVAL },
	};
	struct i915_user_extension ext = {};
	struct engines list = { .extensions = U64(&ext), .engines = { gap } };
	struct drm_i915_gem_context_param param = { .param = I915_CONTEXT_PARAM_ENGINES,
						    .size = SIZE(1),
						    .value = U64(&list) };
	unsigned int i;

	if (getparam(self->fd, I915_PARAM_HAS_SCHEDULER) > 0)
		SKIP(return, "engines of this chip are scheduled: see balance.c");
	param.ctx_id = context_create(self->fd);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		ext.name = bad[i].name;
		BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, bad[i].error);
	}
	ext.name = 0;
	ext.flags = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
}

TEST_F(context_engines, at_creation)
{
	struct engines list = { .engines = { gap } };
	struct drm_i915_gem_context_create_ext_setparam ext = {
		.base = { .name = I915_CONTEXT_CREATE_EXT_SETPARAM },
		.param = { .param = I915_CONTEXT_PARAM_ENGINES,
			   .size = SIZE(2),
			   .value = U64(&list) },
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
		.extensions = U64(&ext),
	};

	list.engines[1] = name_of(&self->gpu.engines[0]);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);
	EXPECT_EQ(-ENOENT, probe(self->fd, create.ctx_id, 1));
	EXPECT_EQ(-EINVAL, probe(self->fd, create.ctx_id, 0));
	list.engines[1].engine_class = 99;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, ENOENT);
}

/* What chips with a scheduler, address spaces or slices have. */
TEST_F(context_engines, not_on_this_chip)
{
	struct drm_i915_gem_context_param_sseu sseu = {};
	struct drm_i915_gem_context_param param = { .ctx_id = context_create(self->fd) };
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE,
	};
	struct drm_i915_gem_vm_control vm = {};

	if (getparam(self->fd, I915_PARAM_HAS_SCHEDULER) > 0 ||
	    getparam(self->fd, I915_PARAM_HAS_ALIASING_PPGTT) > 1)
		SKIP(return, "this chip has a scheduler, or address spaces");
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EINVAL);
	param.param = I915_CONTEXT_PARAM_VM;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENODEV);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, ENODEV);
	param.size = 8;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	param.param = I915_CONTEXT_PARAM_SSEU;
	param.value = U64(&sseu);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	param.size = sizeof(sseu);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, ENODEV);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, ENODEV);
	param.size = 0;
	param.param = I915_CONTEXT_PARAM_RINGSIZE;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param, EINVAL);
	param.param = I915_CONTEXT_PARAM_PROTECTED_CONTENT;
	param.value = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param, EINVAL);
	/* no context has it */
	EXPECT_EQ(0, ioctl(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &param));
	EXPECT_EQ(0, param.value);
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm, ENODEV);
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm, ENOENT);
	vm.flags = 1;
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm, EINVAL);
	BAD(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, NULL, EFAULT);
}

TEST_HARNESS_MAIN

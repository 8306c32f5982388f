/* SPDX-License-Identifier: GPL-2.0 */
/* Engine lists (engine maps) of a context. Include after test.h. */
#ifndef OURO_SELFTEST_BALANCE_H
#define OURO_SELFTEST_BALANCE_H

/*
 * Reasons to skip a test: i915_drm.h leaves the behaviour open, or other drivers report it later or
 * never.
 */
#define NOT_OURS "another driver answers in its own way"

#define CLASS(c, i) { I915_ENGINE_CLASS_##c, i }

static const struct i915_engine_class_instance gap = {
	(__u16)I915_ENGINE_CLASS_INVALID,
	(__u16)I915_ENGINE_CLASS_INVALID_NONE,
};

/* Indices of the contexts' engines here. */
enum { VIRTUAL, FIRST, SECOND, RENDER, PLACES };

static const struct i915_engine_class_instance video[2] = { CLASS(VIDEO, 0), CLASS(VIDEO, 1) };

struct list {
	__u64 extensions;
	struct i915_engine_class_instance engines[PLACES];
};

/* Creates a context with this list of engines. Returns 0 or a negative errno. */
static int with_list(int fd, struct list *list, __u32 *context)
{
	struct drm_i915_gem_context_create_ext_setparam set = {
		.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM,
		.param = { .param = I915_CONTEXT_PARAM_ENGINES,
			   .size = sizeof(*list),
			   .value = U64(list) },
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
		.extensions = U64(&set),
	};
	int got;

	cover("DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT");
	got = call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);
	*context = create.ctx_id;
	return got;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of the i915 uAPI that are the same on all cards. See gpu.h. */
#ifndef OURO_SELFTEST_BATCH_I915_H
#define OURO_SELFTEST_BATCH_I915_H

#include "gpu.h"

bool i915_has_ring(int fd, __u64 ring);
__u32 i915_create(int fd, __u64 size);
/* Maps an object. Returns NULL and sets errno on failure. */
void *i915_map(int fd, __u32 handle, __u64 size, __u64 how);
int i915_wait(int fd, __u32 handle, __s64 timeout);
int i915_busy(int fd, __u32 handle);
__u32 i915_context(int fd);
int i915_context_end(int fd, __u32 id);
/* Sets a numeric parameter of a context: I915_CONTEXT_PARAM_*. */
int i915_context_set(int fd, __u32 id, __u64 param, __u64 value);

/*
 * Stores one value at the beginning of an object, with the caller's flags, context and fences; the
 * driver's answers are returned in the same structure. Returns 0 or a negative errno.
 */
int i915_store(const struct gpu *gpu, const struct engine *engine, __u32 target, __u32 value,
	       struct drm_i915_gem_execbuffer2 *eb);

#endif

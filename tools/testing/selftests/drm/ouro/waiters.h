/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that wait for endless work, each by another call. */
#ifndef OURO_SELFTEST_WAITERS_H
#define OURO_SELFTEST_WAITERS_H

#include <poll.h>
#include <pthread.h>

#include "gpu.h"
#include "memory.h"

/*
 * A thread that waits for endless work by one call; with its result, and whether it has returned.
 */
struct waiter {
	const struct gpu *gpu;
	__u32 handle;
	__u32 syncobj;
	int fence;
	int (*wait)(struct waiter *w);
	const char *name;
	pthread_t thread;
	__u32 entered;
	int got;
};

static int by_wait(struct waiter *w)
{
	return gem_wait(w->gpu->fd, w->handle, -1);
}

static int by_domain(struct waiter *w)
{
	struct drm_i915_gem_set_domain set = { .handle = w->handle,
					       .read_domains = I915_GEM_DOMAIN_CPU,
					       .write_domain = I915_GEM_DOMAIN_CPU };

	return call(w->gpu->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
}

static int by_read(struct waiter *w)
{
	__u32 value;

	return gem_read(w->gpu->fd, w->handle, 0, &value, 4);
}

static int by_write(struct waiter *w)
{
	__u32 value = 0;

	return gem_write(w->gpu->fd, w->handle, 64, &value, 4);
}

static int by_fence(struct waiter *w)
{
	struct pollfd ready = { .fd = w->fence, .events = POLLIN };

	return poll(&ready, 1, -1) == 1 ? 0 : -errno;
}

static int by_syncobj(struct waiter *w)
{
	struct drm_syncobj_wait wait = { .handles = U64(&w->syncobj),
					 .count_handles = 1,
					 .timeout_nsec = INT64_MAX };

	return call(w->gpu->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

/* A relocation is written only to an idle object: this thread waits inside the submission. */
static int by_relocation(struct waiter *w)
{
	struct drm_i915_gem_relocation_entry reloc = { .target_handle = w->handle,
						       .presumed_offset = ~0ull };
	struct drm_i915_gem_exec_object2 object = { .handle = w->handle,
						    .relocs_ptr = U64(&reloc),
						    .relocation_count = 1 };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object), .buffer_count = 1 };

	return call(w->gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

static void *wait_in_thread(void *argument)
{
	struct waiter *w = argument;

	poke(&w->entered, 1);
	w->got = w->wait(w);
	return NULL;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Objects in memory regions that the test chooses, and a client that takes all of a region. */
#ifndef OURO_SELFTEST_PLACES_H
#define OURO_SELFTEST_PLACES_H

#include "batch_local.h"
#include "device.h"
#include "gpu.h"

static const struct drm_i915_gem_memory_class_instance SYSTEM = { I915_MEMORY_CLASS_SYSTEM, 0 };
static const struct drm_i915_gem_memory_class_instance LOCAL = { I915_MEMORY_CLASS_DEVICE, 0 };

/*
 * Returns whether the GPU is a card with VRAM behind a BAR, into which objects move when a batch
 * uses them.
 */
static inline bool is_card(const struct gpu *gpu)
{
	return gpu->speaks == &i915_local;
}

/*
 * Creates an object that may be in these regions. Returns its handle, or a negative errno; *size
 * becomes the object's size.
 */
static inline int place_object(int fd, __u64 *size,
			       const struct drm_i915_gem_memory_class_instance *places,
			       unsigned int n, __u32 flags)
{
	struct drm_i915_gem_create_ext_memory_regions regions = {
		.base.name = I915_GEM_CREATE_EXT_MEMORY_REGIONS,
		.num_regions = n,
		.regions = U64(places),
	};
	struct drm_i915_gem_create_ext create = { .size = *size,
						  .flags = flags,
						  .extensions = U64(&regions) };
	int got = call(fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create);

	*size = create.size;
	return got ? got : (int)create.handle;
}

static inline int create_local(int fd, __u64 size)
{
	return place_object(fd, &size, &LOCAL, 1, 0);
}

static inline int create_anywhere(int fd, __u64 size)
{
	const struct drm_i915_gem_memory_class_instance both[] = { LOCAL, SYSTEM };

	return place_object(fd, &size, both, 2, 0);
}

/* An object in a part of LOCAL that the CPU sees. */
static inline int create_visible(int fd, __u64 size)
{
	const struct drm_i915_gem_memory_class_instance both[] = { LOCAL, SYSTEM };

	return place_object(fd, &size, both, 2, I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS);
}

/* Waits until the region's use has this value. Returns whether that was soon. */
static inline bool wait_used(int fd, __u64 used)
{
	unsigned int i;

	/* memory is freed when no engine can access it any more */
	for (i = 0; i < 20000 && local_region(fd).used != used; i++)
		usleep(1000);
	return local_region(fd).used == used;
}

/* Stores to an object by a batch, on cards at an address that the caller chooses. */
static inline int store_at(const struct gpu *gpu, __u32 handle, __u64 address, __u64 offset,
			   __u32 value)
{
	struct words w = {};

	words_store(&w, address + offset, value);
	words_end(&w);
	words_object(&w, handle, EXEC_OBJECT_WRITE);
	w.objects[0].offset = address;
	return words_run(gpu->fd, &w, gpu->engines[0].ring, 0);
}

/* Above all addresses of address_of(): there is room for one object of any size. */
#define FAR_AWAY 0x400000000000ull

/* Allocates an object's memory in its preferred region. */
static inline int begin(const struct gpu *gpu, __u32 handle)
{
	int got;

	if (!is_card(gpu))
		return gem_write(gpu->fd, handle, 0, &handle, sizeof(handle));
	got = store_at(gpu, handle, FAR_AWAY, 0, handle);
	return got ? got : gem_wait(gpu->fd, handle, -1);
}

/*
 * Evicts all objects that may leave the region: returns the errno of a client that wants all of it.
 */
static inline int crowd(const struct gpu *gpu, __u64 size)
{
	unsigned int tries = 1000;
	int handle, got;

	do {
		handle = create_local(gpu->fd, size);
		got = handle < 0 ? handle : begin(gpu, handle);
		/* a card falls back to another region if memory is not yet free */
		if (!got && is_card(gpu) && local_region(gpu->fd).used < size)
			got = -ENOSPC;
		gem_close(gpu->fd, handle);
	} while (got == -ENOSPC && --tries && !usleep(1000));
	return got;
}

/* Returns a fraction of a region, in the granularity of a card. */
static inline __u64 part(__u64 size, unsigned int of)
{
	return size / of & ~0xffffull;
}

#endif

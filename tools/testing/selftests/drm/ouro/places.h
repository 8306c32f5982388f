/* SPDX-License-Identifier: GPL-2.0 */
/* Objects in places: kinds of memory that user space names, and who takes all of one. */
#ifndef OURO_SELFTEST_PLACES_H
#define OURO_SELFTEST_PLACES_H

#include "batch_local.h"
#include "device.h"
#include "gpu.h"

static const struct drm_i915_gem_memory_class_instance SYSTEM = { I915_MEMORY_CLASS_SYSTEM, 0 };
static const struct drm_i915_gem_memory_class_instance LOCAL = { I915_MEMORY_CLASS_DEVICE, 0 };

/* A card whose memory is behind a window, which objects enter when a batch uses them. */
static inline bool is_card(const struct gpu *gpu)
{
	return gpu->speaks == &i915_local;
}

/*
 * An object that may be in these places; its handle, or a negative errno. *size
 * becomes what it has.
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

/* Whether so much of the region is used, soon. */
static inline bool wait_used(int fd, __u64 used)
{
	unsigned int i;

	/* memory comes back when no engine can reach it any more */
	for (i = 0; i < 20000 && local_region(fd).used != used; i++)
		usleep(1000);
	return local_region(fd).used == used;
}

/* On a card: a batch stores to an object at an address that the caller has chosen. */
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

/* Above all that address_of() gives: there one object may be as large as it likes. */
#define FAR_AWAY 0x400000000000ull

/* Memory for an object, where it is to be. */
static inline int begin(const struct gpu *gpu, __u32 handle)
{
	int got;

	if (!is_card(gpu))
		return gem_write(gpu->fd, handle, 0, &handle, sizeof(handle));
	got = store_at(gpu, handle, FAR_AWAY, 0, handle);
	return got ? got : gem_wait(gpu->fd, handle, -1);
}

/* Lets all that may leave the region do so: the errno of who wants all of it. */
static inline int crowd(const struct gpu *gpu, __u64 size)
{
	unsigned int tries = 1000;
	int handle, got;

	do {
		handle = create_local(gpu->fd, size);
		got = handle < 0 ? handle : begin(gpu, handle);
		/* a card has another place for who comes too early: it would rather run */
		if (!got && is_card(gpu) && local_region(gpu->fd).used < size)
			got = -ENOSPC;
		gem_close(gpu->fd, handle);
	} while (got == -ENOSPC && --tries && !usleep(1000));
	return got;
}

/* A part of so many of a region, in the pieces that a card has. */
static inline __u64 part(__u64 size, unsigned int of)
{
	return size / of & ~0xffffull;
}

#endif

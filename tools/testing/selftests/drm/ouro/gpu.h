/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kselftests share: opening the device, the commands of its backend,
 * batches, and the counting of what was tried.
 *
 * The tests know no generation. A backend is a table of command templates,
 * found by the name that DRM_IOCTL_OURO_DEVICE gives; a driver that speaks
 * i915 and lacks that ioctl is known by its chip.
 */
#ifndef OURO_SELFTEST_GPU_H
#define OURO_SELFTEST_GPU_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/i915_drm.h>
#include <drm/ouro_drm.h>

#define PAGE 4096ul
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define U64(p) ((uint64_t)(uintptr_t)(p))
/* No user memory is there: the second one is the kernel's half. */
#define BAD_POINTER ((uint64_t)0x1000)
#define KERNEL_POINTER ((uint64_t)0xffff888000000000ull)

/* Bits of a set of engines. */
enum { RCS = 1, BCS = 2, VCS = 4 };

/* A command that stores a value, for the engines that may use it. */
struct store_command {
	const char *name;
	unsigned int engines;
	unsigned int dwords;
	uint32_t words[8];
	/* where the address goes, and flags that share its dword */
	unsigned int address;
	uint32_t address_flags;
	/* where the value goes, and its size in bytes: 4 or 8 */
	unsigned int value;
	unsigned int bytes;
	/* flags of the exec object that it needs */
	uint64_t object_flags;
	/* domain of its relocation */
	uint32_t domain;
};

/* The commands of a backend. */
struct backend {
	const char *name;
	uint32_t noop;
	uint32_t batch_end;
	/* jump: header, then the address */
	uint32_t batch_start;
	const struct store_command *stores;
	unsigned int n_stores;
};

struct engine {
	const char *name;
	unsigned int bit;
	uint64_t ring;
};

struct gpu {
	int fd;
	/* DRM_IOCTL_OURO_DEVICE is answered */
	bool ouro;
	uint32_t chip;
	const struct backend *backend;
	struct engine engines[8];
	unsigned int n_engines;
};

/* Opens a render node of a known backend; fails the test or skips it. */
int gpu_open(struct gpu *gpu);
void gpu_close(struct gpu *gpu);

/* An ioctl: 0 or a negative errno, again after a signal. */
int call(int fd, unsigned long request, void *argument);

/* A parameter, or a negative errno. */
int getparam(int fd, int param);

uint32_t gem_create(int fd, uint64_t size);
int gem_close(int fd, uint32_t handle);
void *gem_map(int fd, uint32_t handle, uint64_t size, uint64_t how);
int gem_write(int fd, uint32_t handle, uint64_t offset, const void *data, uint64_t size);
int gem_read(int fd, uint32_t handle, uint64_t offset, void *data, uint64_t size);
uint32_t gem_read32(int fd, uint32_t handle, uint64_t offset);
int gem_wait(int fd, uint32_t handle, int64_t timeout);
int gem_busy(int fd, uint32_t handle);
uint32_t context_create(int fd);
int context_destroy(int fd, uint32_t id);

/* A batch in the making, with its objects and relocations. */
struct batch {
	uint32_t words[4096];
	unsigned int n;
	struct drm_i915_gem_exec_object2 objects[34];
	unsigned int n_objects;
	struct drm_i915_gem_relocation_entry relocs[512];
	unsigned int n_relocs;
};

void batch_init(struct batch *b);
/* The object's entry, added if it is not there. */
struct drm_i915_gem_exec_object2 *batch_object(struct batch *b, uint32_t handle);
/* A word that holds the address of a place in an object. */
void batch_address(struct batch *b, uint32_t handle, uint32_t delta, bool write, uint32_t domain);
void batch_store(struct batch *b, const struct store_command *c, uint32_t handle, uint32_t offset, uint64_t value);
void batch_end(struct batch *b, const struct backend *be);
/* Fills in eb and the last object, a new one that holds the words; its handle. */
uint32_t batch_finish(int fd, struct batch *b, struct drm_i915_gem_execbuffer2 *eb);
/* All of it: make, submit, close the batch object. 0 or a negative errno. */
int batch_run(int fd, struct batch *b, uint64_t flags, uint32_t context);

/* The first store command of an engine that writes `bytes`. */
const struct store_command *store_for(const struct gpu *gpu, const struct engine *engine, unsigned int bytes);
/* One value by one engine; does not wait. 0 or a negative errno. */
int store(const struct gpu *gpu, const struct engine *engine, uint32_t context, uint32_t handle, uint32_t offset,
	  uint32_t value);

/* A batch that runs until it is told to stop. */
struct spin {
	uint32_t handle;
	volatile uint32_t *map;
	uint32_t end;
	int fd;
};

/* `extra` may be 0 or an object that the batch pretends to write. fence: NULL, or where an out-fence goes. */
int spin_start(const struct gpu *gpu, const struct engine *engine, uint32_t context, uint32_t extra, int *fence,
	       struct spin *spin);
void spin_stop(struct spin *spin);
void spin_free(struct spin *spin);

/* Counts a case of an ioctl; at its end each program prints the totals. */
void cover(const char *request);

#endif

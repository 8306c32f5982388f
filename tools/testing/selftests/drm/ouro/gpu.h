/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the kselftests: opening the device, the commands of its backend, batches, and the
 * counting of tested cases. Tests do not depend on a generation. Each uAPI has a table of functions
 * (batch_i915.c, batch_local.c, batch_radeon.c). A program that uses only these says ANY_INTERFACE,
 * and runs on all of them. A program that uses the i915 uAPI of all cards says ANY_I915, one about
 * cards with VRAM ONLY_CARDS; the others test what such cards refuse: relocations, domains, PREAD
 * and PWRITE. A backend is a table of command templates, found by the name that
 * DRM_IOCTL_OURO_DEVICE returns; for a driver without that ioctl, by the chip.
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
#define U64(p) ((__u64)(uintptr_t)(p))
/* An invalid user pointer; a second one is in the kernel's half. */
#define BAD_POINTER ((__u64)0x1000)
#define KERNEL_POINTER ((__u64)0xffff888000000000ull)

/* Bits of a set of engines. */
enum { RCS = 1, BCS = 2, VCS = 4, VECS = 8 };

/* A command that stores a value, and the engines that can execute it. */
struct store_command {
	const char *name;
	unsigned int engines;
	unsigned int dwords;
	__u32 words[16];
	/* index of the address's dword, and flags in that dword */
	unsigned int address;
	__u32 address_flags;
	/* index of the value's dword, and its size in bytes: 4 or 8 */
	unsigned int value;
	unsigned int bytes;
	/* flags that the exec object needs; a GGTT address also implies another domain */
	__u64 object_flags;
};

/* The commands of a backend. */
struct backend {
	const char *name;
	__u32 noop;
	__u32 batch_end;
	/* MI_BATCH_BUFFER_START: header, followed by the address */
	__u32 batch_start;
	const struct store_command *stores;
	unsigned int n_stores;
	/* an undefined command, which stops the engine */
	__u32 unknown;
	/* waits for an event that never comes, on the render engine */
	__u32 wait_event;
	/*
	 * Commands that load (header, register, value) and store a register (header, register,
	 * address); and the registers of a context, ending with a zero.
	 */
	__u32 load_register;
	__u32 store_register;
	__u32 context_registers[8];
	/* The blitter's copy of a page, and the indices of the addresses' dwords. */
	unsigned int copy_dwords;
	__u32 copy_page[10];
	unsigned int copy_to;
	unsigned int copy_from;
	/*
	 * Features of this backend's chips, for tests about those that others refuse: VRAM, shaders
	 * that a query counts, read-only userptr, other flags of EXECBUFFER2 than Gen6.
	 */
	bool has_local;
	bool has_shader_query;
	bool has_read_only_pages;
	bool has_later_exec_flags;
	/*
	 * batches are copied and checked, stream output restarts, one client uses the engine at a
	 * time
	 */
	bool has_checker;
	bool has_streams;
	bool has_one_user;
	/* a context's addresses are its own; i915 does not tell, and upstream has it on cards */
	bool has_own_spaces;
	/* the video engine watches how long batches take */
	bool has_watchdog;
	/* an error state has the video engine's address translations */
	bool has_tables_shown;
	/* the document aligns the start of batches to 64 bytes: §1.5, bits 31:6 */
	bool wide_batch_starts;
	/* the bit-6 swizzle is not always known */
	bool swizzle_may_be_unknown;
	/* the GPU is not coherent with the CPU's caches */
	bool no_shared_cache;
	/* only requests invalidate the render engine's TLBs, not a register */
	bool requests_flush;
	/* bits of MI_BATCH_BUFFER_START that the video engine does not have */
	__u32 not_in_video_start;
	/* largest stride of a fence in bytes; 0: the chip has no fences */
	__u32 widest_tiles;
};

/* Reads memory that the GPU, another thread or another mapping changes. */
static inline __u32 peek(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void poke(__u32 *word, __u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* Waits until memory has a value, for so many milliseconds at most. Returns whether it has. */
static inline bool becomes(const __u32 *word, __u32 value, unsigned int ms)
{
	while (ms-- && peek(word) != value)
		usleep(1000);
	return peek(word) == value;
}

struct engine {
	const char *name;
	unsigned int bit;
	__u64 ring;
	/* the engine's number in injected faults of its model, plus one */
	unsigned int model;
};

struct interface;

struct gpu {
	int fd;
	const struct interface *speaks;
	/* the driver answers DRM_IOCTL_OURO_DEVICE */
	bool ouro;
	__u32 chip;
	const struct backend *backend;
	/* each context has addresses of its own */
	bool own_spaces;
	struct engine engines[8];
	unsigned int n_engines;
};

/* Stores value, value + 1, ... in an object, `step` bytes apart. */
struct stores {
	__u32 handle;
	__u32 offset;
	unsigned int step;
	unsigned int n;
	__u32 value;
};

/* A batch that runs until the test stops it. */
struct spin {
	__u32 handle;
	__u32 *map;
	__u32 end;
	int fd;
};

/* The word of a batch of hang_start() that is not zero once it runs, on cards with VRAM. */
#define SPIN_BEGUN (PAGE / 4 - 2)

/* The implementation of the functions below for a uAPI. */
struct interface {
	/* name of the DRM driver */
	const char *name;
	/* finds the engines of an open file, and its backend */
	int (*identify)(struct gpu *gpu);
	__u32 (*create)(int fd, __u64 size);
	void *(*map)(int fd, __u32 handle, __u64 size, __u64 how);
	int (*write)(int fd, __u32 handle, __u64 offset, const void *data, __u64 size);
	int (*read)(int fd, __u32 handle, __u64 offset, void *data, __u64 size);
	int (*wait)(int fd, __u32 handle, __s64 timeout);
	int (*busy)(int fd, __u32 handle);
	/* NULL without contexts: all of them are 0 then */
	__u32 (*context)(int fd);
	int (*context_end)(int fd, __u32 id);
	int (*stores)(const struct gpu *gpu, const struct engine *engine, __u32 context,
		      const struct stores *list);
	/*
	 * NULL if no batch can run until the test stops it. preemptible: whether the engine may be
	 * preempted, if it can be.
	 */
	int (*endless)(const struct gpu *gpu, const struct engine *engine, __u32 context,
		       __u32 extra, int *fence, bool preemptible, struct spin *spin);
};

extern const struct interface i915;
/* The implementation for cards with VRAM, which refuse many of these calls. */
extern const struct interface i915_local;
extern const struct interface radeon;

/*
 * Whether a program wants engines whose batches cannot store, Gen4's video engine. To store a
 * value, such an engine uses the object for a while, and then the first engine stores the value. It
 * has no store_for(), and is the last engine. A program that wants these engines says MUTE_ENGINES.
 */
extern bool mute_engines;

/* Opens the first render node with one of these uAPIs. */
int gpu_open(struct gpu *gpu);
void gpu_close(struct gpu *gpu);

/* Calls an ioctl, again after a signal. Returns 0 or a negative errno. */
int call(int fd, unsigned long request, void *argument);

/* Returns a parameter, or a negative errno. */
int getparam(int fd, int param);

/*
 * Returns an answer of DRM_IOCTL_I915_QUERY, which the caller frees; NULL on failure. length may be
 * NULL.
 */
void *query_answer(int fd, __u64 id, __s32 *length);

__u32 gem_create(int fd, __u64 size);
int gem_close(int fd, __u32 handle);
void *gem_map(int fd, __u32 handle, __u64 size, __u64 how);
/* Writes and reads through a mapping, for uAPIs without a call for it. */
int write_mapped(int fd, __u32 handle, __u64 offset, const void *data, __u64 size);
int read_mapped(int fd, __u32 handle, __u64 offset, void *data, __u64 size);

int gem_write(int fd, __u32 handle, __u64 offset, const void *data, __u64 size);
int gem_read(int fd, __u32 handle, __u64 offset, void *data, __u64 size);
__u32 gem_read32(int fd, __u32 handle, __u64 offset);
int gem_wait(int fd, __u32 handle, __s64 timeout);
int gem_busy(int fd, __u32 handle);
__u32 context_create(int fd);
int context_destroy(int fd, __u32 id);

/* Waits for a sync_file with a timeout. Returns its status: 1, or a negative errno. */
int fence_status(int fence);

/* Returns whether programs choose addresses (softpin), and there are no relocations. */
bool addresses_chosen(void);

/* A batch under construction, with its objects and relocations. */
struct batch {
	__u32 words[4096];
	unsigned int n;
	struct drm_i915_gem_exec_object2 objects[34];
	unsigned int n_objects;
	struct drm_i915_gem_relocation_entry relocs[512];
	unsigned int n_relocs;
};

void batch_init(struct batch *b);
/* Returns the object's entry, after adding it if necessary. */
struct drm_i915_gem_exec_object2 *batch_object(struct batch *b, __u32 handle);
/* Writes the address of an offset in an object: one dword, or two if programs choose addresses. */
void batch_address(struct batch *b, __u32 handle, __u32 delta, bool write, __u32 domain);
void batch_store(struct batch *b, const struct store_command *c, __u32 handle, __u32 offset,
		 __u64 value);
void batch_end(struct batch *b, const struct backend *be);
/* Returns the header of MI_BATCH_BUFFER_START on an engine. */
__u32 batch_start_of(const struct gpu *gpu, const struct engine *engine);
/* Fills in eb and the last object, a new one with the words. Returns its handle. */
__u32 batch_finish(int fd, struct batch *b, struct drm_i915_gem_execbuffer2 *eb);
/* Like batch_finish(), for a batch whose last word jumps to its beginning. */
__u32 batch_to_itself(int fd, struct batch *b, struct drm_i915_gem_execbuffer2 *eb);
/* Gives the object its address, at which other requests store to it: it is a target, too. */
void batch_is_target(struct batch *b, __u32 handle);
/* Creates the batch, submits it and closes its object. Returns 0 or a negative errno. */
int batch_run(int fd, struct batch *b, __u64 flags, __u32 context);

/* Returns the first store command of an engine that writes `bytes`. */
const struct store_command *store_for(const struct gpu *gpu, const struct engine *engine,
				      unsigned int bytes);
/* Stores one value by one engine, without waiting. Returns 0 or a negative errno. */
int store(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 handle,
	  __u32 offset, __u32 value);

/* Stores several values by one engine, without waiting. */
int store_list(const struct gpu *gpu, const struct engine *engine, __u32 context,
	       const struct stores *list);

/* Returns whether a batch can run until the test stops it. */
bool has_spin(const struct gpu *gpu);
/* extra: 0, or an object that the batch pretends to write; fence: NULL, or room for one */
int spin_start(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 extra,
	       int *fence, struct spin *spin);
/*
 * Starts a batch that keeps its engine: it cannot be preempted, and hangs unless the test stops it.
 */
int hang_start(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 extra,
	       int *fence, struct spin *spin);
void spin_stop(struct spin *spin);
void spin_free(struct spin *spin);

/* Counts a case of an ioctl; each program prints the totals at its end. */
void cover(const char *request);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kselftests share: opening the device, the commands of its backend,
 * batches, and the counting of what was tried.
 *
 * The tests know no generation. What all interfaces have is in a table of
 * each (batch_i915.c, batch_local.c, batch_radeon.c); a program that uses nothing
 * else says so with ANY_INTERFACE, and runs on all of them. One that uses what
 * i915 has on all cards says ANY_I915, one about cards with memory of their
 * own ONLY_CARDS; the others are about what such cards refuse: relocations,
 * domains, calls that copy. A
 * backend is a table of command templates, found by the name that
 * DRM_IOCTL_OURO_DEVICE gives; a driver that lacks that ioctl is known by its
 * chip.
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
/* No user memory is there: the second one is the kernel's half. */
#define BAD_POINTER ((__u64)0x1000)
#define KERNEL_POINTER ((__u64)0xffff888000000000ull)

/* Bits of a set of engines. */
enum { RCS = 1, BCS = 2, VCS = 4, VECS = 8 };

/* A command that stores a value, for the engines that may use it. */
struct store_command {
	const char *name;
	unsigned int engines;
	unsigned int dwords;
	__u32 words[16];
	/* where the address goes, and flags that share its dword */
	unsigned int address;
	__u32 address_flags;
	/* where the value goes, and its size in bytes: 4 or 8 */
	unsigned int value;
	unsigned int bytes;
	/* flags of the exec object that it needs; a global address also means another domain */
	__u64 object_flags;
};

/* The commands of a backend. */
struct backend {
	const char *name;
	__u32 noop;
	__u32 batch_end;
	/* jump: header, then the address */
	__u32 batch_start;
	const struct store_command *stores;
	unsigned int n_stores;
	/* one that does not exist: the engine stops at it */
	__u32 unknown;
	/* waits for an event that does not come, on the render engine */
	__u32 wait_event;
	/*
	 * A register is loaded (header, register, value) and stored (header, register, address);
	 * and registers that belong to a context, up to a zero.
	 */
	__u32 load_register;
	__u32 store_register;
	__u32 context_registers[8];
	/* A page is copied by the blitter, and where the addresses go. */
	unsigned int copy_dwords;
	__u32 copy_page[10];
	unsigned int copy_to;
	unsigned int copy_from;
	/*
	 * What chips of this backend have, for tests about what others refuse: memory of the
	 * card's own, shaders that a query counts, pages of a process that batches cannot write,
	 * other flags of EXECBUFFER2 than Gen6.
	 */
	bool has_local;
	bool has_shader_query;
	bool has_read_only_pages;
	bool has_later_exec_flags;
	/* batches are copied and checked, streams start anew, one user has it at a time */
	bool has_checker;
	bool has_streams;
	bool has_one_user;
	/* a context's addresses are its own; i915 does not tell, and upstream has it on cards */
	bool has_own_spaces;
	/* the video engine watches how long batches take */
	bool has_watchdog;
	/* an error state has what the video engine's units hold of the tables */
	bool has_tables_shown;
	/* the document has batches begin at multiples of 64 bytes: §1.5, bits 31:6 */
	bool wide_batch_starts;
	/* what the memory controller mixes into bit 6 is not always known */
	bool swizzle_may_be_unknown;
	/* the CPU's caches are not the GPU's */
	bool no_shared_cache;
	/* translations of the render engine are dropped by requests alone, not by a register */
	bool requests_flush;
	/* bits of a jump that the video engine does not have */
	__u32 not_in_video_start;
	/* bytes of the widest row of tiles that a fence undoes; 0: the chip has no fences */
	__u32 widest_tiles;
};

/* Memory that others change: the GPU, another thread, another mapping. */
static inline __u32 peek(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void poke(__u32 *word, __u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

struct engine {
	const char *name;
	unsigned int bit;
	__u64 ring;
	/* how faults of its model call it: its number there, plus one */
	unsigned int model;
};

struct interface;

struct gpu {
	int fd;
	const struct interface *speaks;
	/* DRM_IOCTL_OURO_DEVICE is answered */
	bool ouro;
	__u32 chip;
	const struct backend *backend;
	struct engine engines[8];
	unsigned int n_engines;
};

/* Places in an object, `step` bytes from one to the next, get value, value + 1, ... */
struct stores {
	__u32 handle;
	__u32 offset;
	unsigned int step;
	unsigned int n;
	__u32 value;
};

/* A batch that runs until it is told to stop. */
struct spin {
	__u32 handle;
	__u32 *map;
	__u32 end;
	int fd;
};

/* What an interface has for what is declared below. */
struct interface {
	/* of the DRM driver */
	const char *name;
	/* engines of an open file, and its backend */
	int (*identify)(struct gpu *gpu);
	__u32 (*create)(int fd, __u64 size);
	void *(*map)(int fd, __u32 handle, __u64 size, __u64 how);
	int (*write)(int fd, __u32 handle, __u64 offset, const void *data, __u64 size);
	int (*read)(int fd, __u32 handle, __u64 offset, void *data, __u64 size);
	int (*wait)(int fd, __u32 handle, __s64 timeout);
	int (*busy)(int fd, __u32 handle);
	/* NULL where there are no contexts: all of them are 0 then */
	__u32 (*context)(int fd);
	int (*context_end)(int fd, __u32 id);
	int (*stores)(const struct gpu *gpu, const struct engine *engine, __u32 context,
		      const struct stores *list);
	/*
	 * NULL where no commands run until they are told to stop. preemptible: whether the engine may
	 * be taken away from them, where that can be.
	 */
	int (*endless)(const struct gpu *gpu, const struct engine *engine, __u32 context,
		       __u32 extra, int *fence, bool preemptible, struct spin *spin);
};

extern const struct interface i915;
/* The same of cards with memory of their own, which refuse much of it. */
extern const struct interface i915_local;
extern const struct interface radeon;

/*
 * Whether engines are wanted whose batches cannot store, Gen4's video engine: of a value that they
 * are told to store, they have the object for a while, and then the first engine stores it. Such an
 * engine has no store_for(). It comes last. A program that wants them says so with MUTE_ENGINES.
 */
extern bool mute_engines;

/* Opens the first render node that speaks one of them. */
int gpu_open(struct gpu *gpu);
void gpu_close(struct gpu *gpu);

/* An ioctl: 0 or a negative errno, again after a signal. */
int call(int fd, unsigned long request, void *argument);

/* A parameter, or a negative errno. */
int getparam(int fd, int param);

/* An answer of DRM_IOCTL_I915_QUERY, to be freed. NULL if there is none. length may be NULL. */
void *query_answer(int fd, __u64 id, __s32 *length);

__u32 gem_create(int fd, __u64 size);
int gem_close(int fd, __u32 handle);
void *gem_map(int fd, __u32 handle, __u64 size, __u64 how);
/* Where there is no call for it: write and read of an interface. */
int write_mapped(int fd, __u32 handle, __u64 offset, const void *data, __u64 size);
int read_mapped(int fd, __u32 handle, __u64 offset, void *data, __u64 size);

int gem_write(int fd, __u32 handle, __u64 offset, const void *data, __u64 size);
int gem_read(int fd, __u32 handle, __u64 offset, void *data, __u64 size);
__u32 gem_read32(int fd, __u32 handle, __u64 offset);
int gem_wait(int fd, __u32 handle, __s64 timeout);
int gem_busy(int fd, __u32 handle);
__u32 context_create(int fd);
int context_destroy(int fd, __u32 id);

/* Waits for a sync_file, not for ever; its status: 1, or a negative errno. */
int fence_status(int fence);

/* Whether programs say where objects are, and there are no relocations. */
bool addresses_chosen(void);

/* A batch in the making, with its objects and relocations. */
struct batch {
	__u32 words[4096];
	unsigned int n;
	struct drm_i915_gem_exec_object2 objects[34];
	unsigned int n_objects;
	struct drm_i915_gem_relocation_entry relocs[512];
	unsigned int n_relocs;
};

void batch_init(struct batch *b);
/* The object's entry, added if it is not there. */
struct drm_i915_gem_exec_object2 *batch_object(struct batch *b, __u32 handle);
/* The address of a place in an object: a word, or two where programs choose it. */
void batch_address(struct batch *b, __u32 handle, __u32 delta, bool write, __u32 domain);
void batch_store(struct batch *b, const struct store_command *c, __u32 handle, __u32 offset,
		 __u64 value);
void batch_end(struct batch *b, const struct backend *be);
/* The header of a jump on an engine. */
__u32 batch_start_of(const struct gpu *gpu, const struct engine *engine);
/* Fills in eb and the last object, a new one that holds the words; its handle. */
__u32 batch_finish(int fd, struct batch *b, struct drm_i915_gem_execbuffer2 *eb);
/* The same; the last word is a jump, which goes to the batch's beginning. */
__u32 batch_to_itself(int fd, struct batch *b, struct drm_i915_gem_execbuffer2 *eb);
/* The batch's own object is also what others write: it is where they look for it. */
void batch_is_target(struct batch *b, __u32 handle);
/* All of it: make, submit, close the batch object. 0 or a negative errno. */
int batch_run(int fd, struct batch *b, __u64 flags, __u32 context);

/* The first store command of an engine that writes `bytes`. */
const struct store_command *store_for(const struct gpu *gpu, const struct engine *engine,
				      unsigned int bytes);
/* One value by one engine; does not wait. 0 or a negative errno. */
int store(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 handle,
	  __u32 offset, __u32 value);

/* The same for more of them. */
int store_list(const struct gpu *gpu, const struct engine *engine, __u32 context,
	       const struct stores *list);

/* Whether there are batches that run until they are told to stop. */
bool has_spin(const struct gpu *gpu);
/* extra: 0, or an object that the batch pretends to write; fence: NULL, or room for one */
int spin_start(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 extra,
	       int *fence, struct spin *spin);
/* The same, and it keeps the engine: nobody else runs, and if nobody stops it, it hangs. */
int hang_start(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 extra,
	       int *fence, struct spin *spin);
void spin_stop(struct spin *spin);
void spin_free(struct spin *spin);

/* Counts a case of an ioctl; at its end each program prints the totals. */
void cover(const char *request);

#endif

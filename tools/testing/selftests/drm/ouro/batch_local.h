/* SPDX-License-Identifier: GPL-2.0 */
/* Batches without relocations, for cards with memory of their own. See batch_local.c. */
#ifndef OURO_SELFTEST_BATCH_LOCAL_H
#define OURO_SELFTEST_BATCH_LOCAL_H

#include "gpu.h"

/* Commands of Gen12.5, as far as programs put them together. */
enum {
	MI_NOOP = 0,
	MI_ARB_CHECK = 0x02800000,
	MI_BATCH_BUFFER_END = 0x05000000,
	/* a dword */
	MI_STORE_DATA_IMM = 0x10000002,
	/* one register, and its offset is the engine's own */
	MI_LOAD_REGISTER_IMM = 0x11080001,
	MI_STORE_REGISTER_MEM = 0x12080002,
	/* into the batch's own space */
	MI_BATCH_BUFFER_START = 0x18800101,
	/* four words for the unit that calculates follow */
	MI_MATH = 0x0d000003,
};

/* A batch in the making, with its objects; the batch's own comes last. */
struct words {
	__u32 words[1024];
	unsigned int n;
	struct drm_i915_gem_exec_object2 objects[8];
	unsigned int n_objects;
};

/* Whether the card behind an i915 node is one of these. */
bool is_local(int fd);

/* Where an object is, in every context: 1 GB for each handle. */
__u64 address_of(__u32 handle);
/* A place of 64 KB where no other object is that may be in use. */
__u64 address_of_none(void);

/* A context with one engine, at index 0; 0 if there is none. */
__u32 context_on(int fd, struct i915_engine_class_instance engine);
int context_priority(int fd, __u32 context, int priority);

void words_store(struct words *w, __u64 address, __u32 value);
void words_end(struct words *w);
void words_object(struct words *w, __u32 handle, __u64 flags);
/* Submits a batch that is written, at an address. fence: NULL, or room for one. 0 or an errno. */
int words_submit(int fd, struct words *w, __u32 batch, __u64 at, __u64 flags, __u32 context,
		 int *fence);
/* The same with an object for the words, which is closed. */
int words_run(int fd, struct words *w, __u64 flags, __u32 context);
/* One value into an object, by the engine at index 0 of a context. */
int words_store_one(int fd, __u32 context, __u32 handle, __u32 offset, __u32 value);

#endif

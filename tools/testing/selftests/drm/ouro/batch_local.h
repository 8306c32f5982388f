/* SPDX-License-Identifier: GPL-2.0 */
/* Batches without relocations, for cards with VRAM. See batch_local.c. */
#ifndef OURO_SELFTEST_BATCH_LOCAL_H
#define OURO_SELFTEST_BATCH_LOCAL_H

#include "gpu.h"

/* The commands of Gen12.5 that test programs build. */
enum {
	MI_NOOP = 0,
	MI_ARB_CHECK = 0x02800000,
	MI_BATCH_BUFFER_END = 0x05000000,
	/* stores a dword */
	MI_STORE_DATA_IMM = 0x10000002,
	/* loads one register, by its offset from the engine's base */
	MI_LOAD_REGISTER_IMM = 0x11080001,
	MI_STORE_REGISTER_MEM = 0x12080002,
	/* in the PPGTT */
	MI_BATCH_BUFFER_START = 0x18800101,
	/* followed by four instructions of the command streamer's ALU */
	MI_MATH = 0x0d000003,
};

/* A batch under construction with its objects; the batch's own object is the last one. */
struct words {
	__u32 words[1024];
	unsigned int n;
	struct drm_i915_gem_exec_object2 objects[8];
	unsigned int n_objects;
};

/* Returns whether the card behind an i915 node has VRAM. */
bool is_local(int fd);

/* Returns an object's address, the same in every context: 1 GB for each handle. */
__u64 address_of(__u32 handle);
/* Returns an address with 64 KB where no other object is in use. */
__u64 address_of_none(void);

/* Creates a context with one engine, at index 0. Returns 0 on failure. */
__u32 context_on(int fd, struct i915_engine_class_instance engine);
/* The same, in an address space. */
__u32 context_on_in(int fd, struct i915_engine_class_instance engine, __u32 vm);
int context_priority(int fd, __u32 context, int priority);

void words_store(struct words *w, __u64 address, __u32 value);
void words_end(struct words *w);
void words_object(struct words *w, __u32 handle, __u64 flags);
/*
 * Submits a written batch at an address. fence: NULL, or where to return a fence. Returns 0 or an
 * errno.
 */
int words_submit(int fd, struct words *w, __u32 batch, __u64 at, __u64 flags, __u32 context,
		 int *fence);
/* Submits the words in a new object, which it closes afterwards. */
int words_run(int fd, struct words *w, __u64 flags, __u32 context);
/* Stores one value in an object, by the engine at index 0 of a context. */
int words_store_one(int fd, __u32 context, __u32 handle, __u32 offset, __u32 value);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The i915 ioctls, and the set-up that each needs, so that a test can repeat each of them. */
#ifndef OURO_SELFTEST_CALLS_H
#define OURO_SELFTEST_CALLS_H

#include "gpu.h"

/* The state that a call works on. It is created again for each failing allocation. */
struct state {
	const struct gpu *gpu;
	int fd;
	struct gpu other;
	__u32 handle;
	__u32 second;
	__u32 context;
	__u32 syncobj;
	int file;
	void *map;
	struct batch *batch;
	struct drm_i915_gem_execbuffer2 eb;
	struct drm_i915_gem_exec_fence fences[2];
	struct drm_i915_gem_execbuffer_ext_timeline_fences timeline;
	__u64 points[2];
	struct spin spin;
	/* buffer for answers; user memory for a userptr object */
	__u8 *room;
	/* the handle of an object that a call creates without returning it */
	__u32 next_handle;
	__u32 next_context;
	int next_file;
};

/* A call: its set-up, the call itself, and how to undo its effects. */
struct subject {
	const char *name;
	int (*before)(struct state *s);
	int (*call)(struct state *s);
	void (*undo)(struct state *s);
	void (*after)(struct state *s);
	/*
	 * the driver may lack the call (another chip, an older driver): without faults it returns
	 * EINVAL
	 */
	bool optional;
	/* undoes what the call has created without returning it, if it has */
	void (*untold)(struct state *s);
};

enum { ROOM = 16 * PAGE, SIZE = 4 * PAGE, MARK = 0x0badcafe };

/* Creates an object with memory and a mark in it; and frees it. */
int calls_full_object(struct state *s);
void calls_drop_object(struct state *s);

/* Creates and frees batches. */
int calls_batch(struct state *s);
int calls_batch_with_fences(struct state *s);
int calls_batch_with_timelines(struct state *s);
int calls_batch_behind_work(struct state *s);
int calls_batch_of_user_memory(struct state *s);
void calls_drop_batch(struct state *s);

/* Calls EXECBUFFER2 with the batch of a state. Returns 0 or a negative errno. */
int calls_exec(struct state *s);

/* All calls. */
extern const struct subject subjects[];
extern const unsigned int n_subjects;

#endif

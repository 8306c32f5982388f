/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of i915, and what they need to be made: to do each of them again and again. */
#ifndef OURO_SELFTEST_CALLS_H
#define OURO_SELFTEST_CALLS_H

#include "gpu.h"

/* What a call works on. Made anew for each allocation that fails. */
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
	/* room for answers; user memory that an object is made of */
	__u8 *room;
	/* what a call will make that does not tell it */
	__u32 next_handle;
	__u32 next_context;
	int next_file;
};

/* One call: what it needs, itself, and how what it made is taken back. */
struct subject {
	const char *name;
	int (*before)(struct state *s);
	int (*call)(struct state *s);
	void (*undo)(struct state *s);
	void (*after)(struct state *s);
	/* the driver may be without it (another chip, an older driver): a plain run says EINVAL */
	bool optional;
	/* it may have done all, and not have told what it made: takes that back, if it is there */
	void (*untold)(struct state *s);
};

enum { ROOM = 16 * PAGE, SIZE = 8 * PAGE, MARK = 0x0badcafe };

/* An object with memory, and a mark in it; and how it goes. */
int calls_full_object(struct state *s);
void calls_drop_object(struct state *s);

/* Batches, and how each of them goes. */
int calls_batch(struct state *s);
int calls_batch_with_fences(struct state *s);
int calls_batch_with_timelines(struct state *s);
int calls_batch_behind_work(struct state *s);
int calls_batch_of_user_memory(struct state *s);
void calls_drop_batch(struct state *s);

/* The call of EXECBUFFER2: sends the batch of a state; 0, or an errno below it. */
int calls_exec(struct state *s);

/* All of them. */
extern const struct subject subjects[];
extern const unsigned int n_subjects;

#endif

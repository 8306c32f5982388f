// SPDX-License-Identifier: GPL-2.0
/*
 * What an ioctl costs: one client of the i915 interface, for any driver that has it. The output is
 * explained in measure.h.
 */

#include <drm/drm.h>
#include <drm/i915_drm.h>
#include <stdbool.h>

#include "measure.h"

#define MAX_OBJECTS 1000
/* objects that live while an empty batch is measured */
#define MANY 10000
#define RELOCATIONS 100
#define CONTEXTS 8
#define MI_BATCH_BUFFER_END (0x0a << 23)

static struct drm_i915_gem_exec_object2 objects[MAX_OBJECTS + 1];
/* a batch of one command, idle between the rounds */
static uint32_t batch;
/* the engine of most cases: the one for copies, if there is one */
static uint64_t copies = I915_EXEC_RENDER;

static uint32_t create(uint64_t size)
{
	struct drm_i915_gem_create arg = { .size = size };

	call(DRM_IOCTL_I915_GEM_CREATE, &arg, "GEM_CREATE");
	return arg.handle;
}

static void destroy(uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	call(DRM_IOCTL_GEM_CLOSE, &arg, "GEM_CLOSE");
}

static char *map(uint32_t handle, uint64_t size)
{
	/* the first for Sandy Bridge, the second for cards with memory of their own */
	static const uint64_t kinds[] = { I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_FIXED };
	void *there;

	for (unsigned int i = 0; i < 2; i++) {
		struct drm_i915_gem_mmap_offset arg = { .handle = handle, .flags = kinds[i] };

		if (try_call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &arg))
			continue;
		there = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, card, arg.offset);
		if (there != MAP_FAILED)
			return there;
	}
	fail("GEM_MMAP_OFFSET");
	return NULL;
}

static void put(uint32_t handle, const void *from, uint64_t len)
{
	struct drm_i915_gem_pwrite arg = {
		.handle = handle, .size = len, .data_ptr = (uintptr_t)from,
	};
	uint64_t size = (len + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	void *there;

	if (!try_call(DRM_IOCTL_I915_GEM_PWRITE, &arg))
		return;
	there = map(handle, size);
	memcpy(there, from, len);
	munmap(there, size);
}

static void get(uint32_t handle, void *to, uint64_t len)
{
	struct drm_i915_gem_pread arg = {
		.handle = handle, .size = len, .data_ptr = (uintptr_t)to,
	};

	try_call(DRM_IOCTL_I915_GEM_PREAD, &arg);
}

static void wait_for(uint32_t handle)
{
	struct drm_i915_gem_wait arg = { .bo_handle = handle, .timeout_ns = -1 };

	call(DRM_IOCTL_I915_GEM_WAIT, &arg, "GEM_WAIT");
}

static struct drm_i915_gem_execbuffer2 of(int count, uint64_t engine)
{
	return (struct drm_i915_gem_execbuffer2){
		.buffers_ptr = (uintptr_t)objects,
		.buffer_count = count,
		.batch_len = 8,
		.flags = engine | I915_EXEC_HANDLE_LUT | I915_EXEC_NO_RELOC,
	};
}

static void exec(struct drm_i915_gem_execbuffer2 *arg)
{
	call(DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, arg, "GEM_EXECBUFFER2");
}

/* The batch alone is the list. */
static void only_batch(void)
{
	memset(objects, 0, sizeof(*objects));
	objects[0].handle = batch;
}

/* What a row submits; if there are contexts, by turns. */
static struct drm_i915_gem_execbuffer2 submission;
static const uint32_t *turns;
static unsigned int turn;

static void submit_once(void)
{
	if (turns)
		submission.rsvd1 = turns[turn++ % CONTEXTS];
	exec(&submission);
}

static void is_done(void)
{
	wait_for(batch);
}

static void submit_and_wait(void)
{
	exec(&submission);
	wait_for(batch);
}

static void empty_batches(const char *name, uint64_t engine, const uint32_t *contexts, int calls)
{
	char line[64];

	only_batch();
	submission = of(1, engine);
	turns = contexts;
	turn = 0;
	if (try_call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &submission))
		return;
	/* a context's first batch makes its image */
	for (int i = 0; contexts && i < CONTEXTS; i++)
		submit_once();
	wait_for(batch);
	measure(name, calls, submit_once, is_done);
	turns = NULL;
	if (contexts)
		return;
	snprintf(line, sizeof(line), "%s-waited", name);
	measure(line, 20, submit_and_wait, NULL);
}

static void eight_contexts(void)
{
	uint32_t contexts[CONTEXTS];

	for (int i = 0; i < CONTEXTS; i++) {
		struct drm_i915_gem_context_create arg = { 0 };

		/* Gen4's driver upstream has none on most chips */
		if (try_call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &arg))
			return;
		contexts[i] = arg.ctx_id;
	}
	empty_batches("contexts-8", I915_EXEC_RENDER, contexts, 40);
}

static void many_objects(int count)
{
	char name[64];

	memset(objects, 0, sizeof(objects));
	for (int i = 0; i < count; i++)
		objects[i].handle = create(PAGE);
	objects[count].handle = batch;
	submission = of(count + 1, copies);
	submit_and_wait();
	snprintf(name, sizeof(name), "objects-%d", count);
	measure(name, count >= 1000 ? 4 : 20, submit_once, is_done);
	for (int i = 0; i < count; i++)
		destroy(objects[i].handle);
}

/* All of them say a wrong address. Where user space gives all addresses, there are none. */
static void hundred_relocations(void)
{
	static struct drm_i915_gem_relocation_entry list[RELOCATIONS];
	static const uint32_t end[] = { MI_BATCH_BUFFER_END, 0 };
	uint32_t target = create(PAGE), own = create(2 * PAGE);
	struct drm_i915_gem_execbuffer2 arg = of(2, copies);

	arg.flags &= ~(uint64_t)I915_EXEC_NO_RELOC;
	put(own, end, sizeof(end));
	start("relocations-100");
	for (int i = 0; i < ROUNDS; i++) {
		rounds[i] = 0;
		for (int k = 0; k < 10; k++) {
			double begin;

			memset(objects, 0, 2 * sizeof(*objects));
			for (int r = 0; r < RELOCATIONS; r++)
				list[r] = (struct drm_i915_gem_relocation_entry){
					.target_handle = 0,
					.offset = 1024 + r * 8,
					.presumed_offset = -1,
					.read_domains = I915_GEM_DOMAIN_RENDER,
				};
			objects[0].handle = target;
			objects[1].handle = own;
			objects[1].relocation_count = RELOCATIONS;
			objects[1].relocs_ptr = (uintptr_t)list;
			wait_for(own);
			begin = now();
			if (try_call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &arg))
				return;
			rounds[i] += now() - begin;
		}
		wait_for(own);
	}
	report("relocations-100", 10);
	destroy(own);
	destroy(target);
}

static void create_write_close(void)
{
	uint32_t handle = create(MIB);

	put(handle, "x", 1);
	destroy(handle);
}

/* Returns false where there are no contexts. */
static bool context_comes_and_goes(void)
{
	struct drm_i915_gem_context_create made = { 0 };
	struct drm_i915_gem_context_destroy gone = { 0 };

	if (try_call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &made))
		return false;
	gone.ctx_id = made.ctx_id;
	call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &gone, "GEM_CONTEXT_DESTROY");
	return true;
}

static void create_and_destroy_context(void)
{
	context_comes_and_goes();
}

static void life(void)
{
	measure("create-close-4k", 100, create_and_close, NULL);
	measure("create-write-close-1m", 10, create_write_close, NULL);
	if (context_comes_and_goes())
		measure("context-create-destroy", 20, create_and_destroy_context, NULL);
}

/* An object of 1 MiB, and as much memory. */
static uint32_t target_of_copies;
static char *memory;

static void put_all(void)
{
	put(target_of_copies, memory, MIB);
}

static void get_all(void)
{
	get(target_of_copies, memory, MIB);
}

static void bytes(void)
{
	memory = malloc(MIB);
	target_of_copies = create(MIB);
	if (!memory)
		fail("malloc");
	memset(memory, 3, MIB);
	put_all();
	measure("pwrite-1m", 4, put_all, NULL);
	measure("pread-1m", 4, get_all, NULL);
	touch_row(target_of_copies);
	free(memory);
}

static void is_busy(void)
{
	struct drm_i915_gem_busy arg = { .handle = batch };

	call(DRM_IOCTL_I915_GEM_BUSY, &arg, "GEM_BUSY");
}

static void idle_object(void)
{
	measure("busy-idle", 200, is_busy, NULL);
	measure("wait-idle", 200, is_done, NULL);
}

/* Each batch waits for the fence of the last. */
static void fences(void)
{
	only_batch();
	start("fence-in-out");
	for (int i = 0; i < ROUNDS; i++) {
		double begin = now();
		int fence = -1;

		for (int k = 0; k < 20; k++) {
			struct drm_i915_gem_execbuffer2 arg = of(1, copies);

			arg.flags |= I915_EXEC_FENCE_OUT;
			if (fence >= 0) {
				arg.flags |= I915_EXEC_FENCE_IN;
				arg.rsvd2 = fence;
			}
			exec(&arg);
			if (fence >= 0)
				close(fence);
			fence = arg.rsvd2 >> 32;
		}
		rounds[i] = now() - begin;
		close(fence);
		wait_for(batch);
	}
	report("fence-in-out", 20);
}

/* Does an empty batch cost more beside many objects with an address? */
static void beside_many(void)
{
	static uint32_t handles[MANY];
	struct drm_i915_gem_execbuffer2 arg;

	for (int done = 0; done < MANY; done += MAX_OBJECTS) {
		memset(objects, 0, sizeof(objects));
		for (int i = 0; i < MAX_OBJECTS; i++) {
			handles[done + i] = create(PAGE);
			objects[i].handle = handles[done + i];
		}
		objects[MAX_OBJECTS].handle = batch;
		arg = of(MAX_OBJECTS + 1, copies);
		exec(&arg);
	}
	wait_for(batch);
	empty_batches("beside-10000", copies, NULL, 50);
	for (int i = 0; i < MANY; i++)
		destroy(handles[i]);
}

static void empty_on_each(void)
{
	empty_batches("empty-rcs", I915_EXEC_RENDER, NULL, 50);
	empty_batches("empty-bcs", I915_EXEC_BLT, NULL, 50);
	empty_batches("empty-vcs", I915_EXEC_BSD, NULL, 50);
}

static void lists(void)
{
	many_objects(10);
	many_objects(100);
	many_objects(MAX_OBJECTS);
}

static const struct cost_case cases[] = {
	{ "empty", empty_on_each },
	{ "contexts", eight_contexts },
	{ "fences", fences },
	{ "lists", lists },
	{ "relocations", hundred_relocations },
	{ "life", life },
	{ "bytes", bytes },
	{ "idle", idle_object },
	{ "beside", beside_many },
};

/* exec_cost [CASE...]: those cases, or all. */
int main(int argc, char **argv)
{
	static const uint32_t end[] = { MI_BATCH_BUFFER_END, 0 };
	struct drm_i915_gem_execbuffer2 probe;

	open_card();
	batch = create(PAGE);
	put(batch, end, sizeof(end));
	/* Gen4 has no engine of its own for copies */
	only_batch();
	probe = of(1, I915_EXEC_BLT);
	if (!try_call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &probe))
		copies = I915_EXEC_BLT;
	wait_for(batch);
	run_cases(cases, sizeof(cases) / sizeof(*cases), argc, argv);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of contexts that wait for one fence: its signal runs the callbacks of all of them with
 * interrupts disabled. The engine's work is counted, in contexts that it looks at; the times are
 * printed, not judged: they are those of an emulated machine.
 */
#include <stdio.h>
#include <time.h>

#define TOPIC burst
#define ANY_I915
#include "test.h"
#include "batch_i915.h"
#include "files.h"
#include "memory.h"
#include "sw_sync.h"

#define MANY 1000u
#define FEW (MANY / 4)

/* What the contexts share, so that they need no tables of their own. */
static __u32 vm;

static __u32 context_in(int fd, __u32 space)
{
	struct drm_i915_gem_context_create_ext_setparam set = {
		.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM,
		.param = { .param = I915_CONTEXT_PARAM_VM, .value = space },
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
		.extensions = U64(&set),
	};

	return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create) ? 0 : create.ctx_id;
}

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Visits of contexts by all engines so far. */
static __u64 visits(int fd)
{
	char path[128], text[512], *line, *rest;
	__u64 sum = 0;

	debug_path(fd, "ouro_visits", path, sizeof(path));
	if (file_read(path, text, sizeof(text)) <= 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		sum += strtoull(strchr(line, ' ') ?: "", NULL, 0);
	return sum;
}

/*
 * So many contexts wait for one fence, each to store its number. Returns how often a context was
 * looked at from the signal until all are done.
 */
static __u64 behind_one_fence(struct __test_metadata *_metadata, const struct gpu *gpu, __u32 n)
{
	const __u32 target = gem_create(gpu->fd, n * 4);
	int timeline = sw_timeline(), fence = sw_fence(timeline);
	__u64 start, signalled, done, before;
	__u32 *contexts = calloc(n, sizeof(*contexts)), *handles = calloc(n, sizeof(*handles));
	unsigned int i, wrong = 0;

	ASSERT_NE(NULL, contexts);
	ASSERT_NE(NULL, handles);
	ASSERT_LE(0, fence);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	for (i = 0; i < n; i++) {
		struct drm_i915_gem_execbuffer2 eb;
		struct batch b;

		contexts[i] = context_in(gpu->fd, vm);
		ASSERT_NE(0, contexts[i]);
		batch_init(&b);
		batch_store(&b, store_for(gpu, &gpu->engines[0], 4), target, 4 * i, i + 1);
		batch_object(&b, target)->flags |= EXEC_OBJECT_ASYNC;
		batch_end(&b, gpu->backend);
		/* it stays: the next object of its number would have its address */
		handles[i] = batch_finish(gpu->fd, &b, &eb);
		eb.flags = gpu->engines[0].ring | I915_EXEC_FENCE_IN;
		i915_execbuffer2_set_context_id(eb, contexts[i]);
		eb.rsvd2 = fence;
		ASSERT_EQ(0, call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb));
	}
	before = visits(gpu->fd);
	start = now();
	ASSERT_EQ(0, sw_signal(timeline));
	signalled = now();
	ASSERT_EQ(0, gem_wait(gpu->fd, target, -1));
	done = now();
	before = visits(gpu->fd) - before;
	for (i = 0; i < n; i++)
		wrong += gem_read32(gpu->fd, target, 4 * i) != i + 1;
	EXPECT_EQ(0, wrong);
	printf("# burst: %u contexts: the signal took %llu us, all %llu us, %llu visits\n", n,
	       (unsigned long long)(signalled - start) / 1000,
	       (unsigned long long)(done - start) / 1000, (unsigned long long)before);
	for (i = 0; i < n; i++) {
		i915_context_end(gpu->fd, contexts[i]);
		gem_close(gpu->fd, handles[i]);
	}
	close(fence);
	close(timeline);
	gem_close(gpu->fd, target);
	free(contexts);
	free(handles);
	return before;
}

TEST_F(burst, contexts_behind_one_fence)
{
	const __u32 n = rounds("OURO_BURST", MANY, FEW);
	struct drm_i915_gem_vm_control control = {};
	int timeline = sw_timeline();
	__u64 few, many;

	if (timeline < 0)
		SKIP(return, "the kernel was built without CONFIG_SW_SYNC");
	close(timeline);
	if (!self->gpu.own_spaces)
		SKIP(return, "one ring has all contexts");
	if (call(self->fd, DRM_IOCTL_I915_GEM_VM_CREATE, &control) == -ENODEV)
		SKIP(return, "the uAPI of this chip has no VMs");
	ASSERT_NE(0, control.vm_id);
	vm = control.vm_id;
	few = behind_one_fence(_metadata, &self->gpu, n / 4);
	many = behind_one_fence(_metadata, &self->gpu, n);
	/* four times as many contexts, each looked at as often: ten times is not square */
	EXPECT_LT(0, few);
	EXPECT_LE(many, 10 * few);
	EXPECT_LE(many, 64 * n);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts on engines that take lists of contexts: each has a ring, an image and a number there
 * while it exists, and a client may have so many.
 */
#define TOPIC seats
#define ONLY_CARDS
#include "test.h"
#include "batch_i915.h"
#include "batch_local.h"

/* uapi.rst, "Limits" */
enum { SEATS = 4096 };

static const struct i915_engine_class_instance copy_engine = { I915_ENGINE_CLASS_COPY, 0 };

static __u32 new_vm(int fd)
{
	struct drm_i915_gem_vm_control vm = {};

	return call(fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm) ? 0 : vm.vm_id;
}

/* A client that has all its seats gets no more; others do, and it does for those it gives up. */
TEST_F(seats, of_a_client_have_a_limit)
{
	static __u32 contexts[SEATS + 1];
	const __u32 end[2] = { MI_BATCH_BUFFER_END, MI_NOOP };
	__u32 vm = new_vm(self->fd), batch = gem_create(self->fd, PAGE), target;
	const __u64 at = address_of_none();
	struct words w = {};
	unsigned int i, n;
	struct gpu other;
	int got = 0;

	if (!self->gpu.ouro)
		SKIP(return, "another driver takes the seats of idle contexts");
	ASSERT_NE(0, vm);
	ASSERT_EQ(0, gem_write(self->fd, batch, 0, end, sizeof(end)));
	for (n = 0; n < SEATS + 1; n++) {
		contexts[n] = context_on_in(self->fd, copy_engine, vm);
		ASSERT_NE(0, contexts[n]);
		w.n_objects = 0;
		got = words_submit(self->fd, &w, batch, at, 0, contexts[n], NULL);
		if (got)
			break;
	}
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-ENOSPC, got);
	ASSERT_EQ(SEATS, n);

	ASSERT_EQ(0, gpu_open(&other));
	target = gem_create(other.fd, PAGE);
	EXPECT_EQ(0, store(&other, &other.engines[1], 0, target, 0, 0x5ea7));
	EXPECT_EQ(0x5ea7, gem_read32(other.fd, target, 0));
	gpu_close(&other);

	/* what it has works, and what it gives up it can have again */
	w.n_objects = 0;
	EXPECT_EQ(0, words_submit(self->fd, &w, batch, at, 0, contexts[0], NULL));
	EXPECT_EQ(0, gem_wait(self->fd, batch, -1));
	EXPECT_EQ(0, context_destroy(self->fd, contexts[0]));
	w.n_objects = 0;
	EXPECT_EQ(0, words_submit(self->fd, &w, batch, at, 0, contexts[n], NULL));
	EXPECT_EQ(0, gem_wait(self->fd, batch, -1));
	for (i = 1; i <= n; i++)
		ASSERT_EQ(0, context_destroy(self->fd, contexts[i]));
}

TEST_HARNESS_MAIN

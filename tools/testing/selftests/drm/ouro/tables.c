// SPDX-License-Identifier: GPL-2.0
/* The part of a card's memory for page tables, if clients have taken all that they can get. */
#include <fcntl.h>

#define TOPIC tables
#define ONLY_CARDS
#include "test.h"
#include "batch_i915.h"
#include "device.h"
#include "memory.h"
#include "places.h"
#include "sw_sync.h"

/* Moves of objects from one region to another. */
static __u64 moves(int fd)
{
	struct drm_ouro_stats stats = {};

	return call(fd, DRM_IOCTL_OURO_STATS, &stats) ? 0 : stats.moves;
}

/* Creates spaces until an error, which is returned; counts them. */
static int fill(int fd, unsigned int *spaces)
{
	struct drm_i915_gem_vm_control vm = {};
	int got;

	cover("DRM_IOCTL_I915_GEM_VM_CREATE");
	for (*spaces = 0;; ++*spaces) {
		vm = (struct drm_i915_gem_vm_control){};
		got = call(fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm);
		if (got)
			return got;
	}
}

/*
 * Clients cannot take the tables that the kernel needs for moves; and a context that gets
 * none waits for the work of others for a while, not without end.
 */
TEST_F(tables, moves_have_tables_if_clients_have_none)
{
	const __u64 size = part(local_region(self->fd).size, 8) * 5;
	struct drm_i915_gem_execbuffer2 later = { .flags = I915_EXEC_FENCE_IN };
	__u32 target = gem_create(self->fd, PAGE), late = context_create(self->fd);
	int first, second, timeline = sw_timeline();
	unsigned int spaces, one, all = 0, others = 0;
	enum { CLIENTS = 32 };
	struct gpu clients[CLIENTS];
	__u64 before;

	if (timeline < 0)
		SKIP(return, "the kernel was built without CONFIG_SW_SYNC");
	/* tables of its own space, which it keeps */
	second = create_local(self->fd, size);
	ASSERT_LT(0, second);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, second, 0, 1));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 2));
	ASSERT_EQ(0, gem_wait(self->fd, second, -1));
	gem_close(self->fd, second);
	wait_used(self->fd, 0);
	first = create_local(self->fd, size);
	ASSERT_LT(0, first);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, first, 0, 0xf125));
	ASSERT_EQ(0, gem_wait(self->fd, first, -1));
	later.rsvd2 = sw_fence(timeline);
	ASSERT_EQ(0, i915_store(&self->gpu, &self->gpu.engines[0], target, 3, &later));

	ASSERT_EQ(-ENOSPC, fill(self->fd, &one));
	EXPECT_LT(1000, one);
	/* each takes what it can get, the second one as much as is left to it */
	do {
		ASSERT_EQ(0, gpu_open(&clients[others]));
		ASSERT_EQ(-ENOSPC, fill(clients[others].fd, &spaces));
		all += spaces;
		if (!others++)
			EXPECT_LT(one / 5, spaces);
	} while (spaces && others < CLIENTS);
	EXPECT_EQ(0, spaces);
	EXPECT_LT(all, one);
	EXPECT_EQ(-ENOSPC, store(&self->gpu, &self->gpu.engines[0], late, target, 0, 4));
	ASSERT_EQ(0, sw_signal(timeline));
	EXPECT_EQ(0, gem_wait(self->fd, target, -1));

	before = moves(self->fd);
	second = create_local(self->fd, size);
	ASSERT_LT(0, second);
	EXPECT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, second, 0, 0x5ec0));
	EXPECT_EQ(0, gem_wait(self->fd, second, -1));
	EXPECT_LT(before, moves(self->fd));
	EXPECT_EQ(0xf125, gem_read32(self->fd, first, 0));
	EXPECT_EQ(0x5ec0, gem_read32(self->fd, second, 0));
	while (others)
		gpu_close(&clients[--others]);
	close(timeline);
}

TEST_HARNESS_MAIN

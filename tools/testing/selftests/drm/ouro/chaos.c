// SPDX-License-Identifier: GPL-2.0
/*
 * The model on its worst day (Documentation/gpu/ouro/model.rst, "Chaos", the hard kind, and engines
 * that hang besides): accesses fault, resets fail, interrupts are lost and repeated, registers hold
 * garbage. Work may be lost, and then its fence has an error; work without an error is done.
 * When the day is over the device works, if need be after it was wedged, and nothing is left.
 *
 * OURO_SEED is where the random numbers begin, OURO_CHAOS how many batches there are.
 */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define HANGS
#define ANY_INTERFACE
#define MUTE_ENGINES
#include "test.h"
#include "batch_i915.h"
#include "device.h"

FIXTURE(chaos)
{
	struct gpu gpu;
	struct place place;
	int fd;
};

FIXTURE_SETUP(chaos)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours: it has no DRM_IOCTL_OURO_STATS");
	ASSERT_EQ(0, device_of(self->fd, &self->place));
	if (model_fault(&self->place, FAULT_NONE))
		SKIP(return, "not a model: it has bad days when it likes");
}

/* Whatever a test left: the device works, and has nothing of before. */
FIXTURE_TEARDOWN(chaos)
{
	struct drm_ouro_stats stats;
	struct gpu again;
	unsigned int i;
	__u32 handle;

	gpu_close(&self->gpu);
	if (!self->gpu.ouro || model_chaos(&self->place, 0, CALM))
		return;
	model_fault(&self->place, FAULT_NONE);
	ASSERT_EQ(0, gpu_open(&again));
	if (device_is_wedged(again.fd))
		EXPECT_EQ(0, device_ask_for_reset(again.fd));
	EXPECT_EQ(0, device_is_wedged(again.fd));
	handle = gem_create(again.fd, PAGE);
	for (i = 0; i < again.n_engines; i++) {
		EXPECT_EQ(0, store(&again, &again.engines[i], 0, handle, i * 8, 0xc0 + i));
		EXPECT_EQ(0xc0 + i, gem_read32(again.fd, handle, i * 8));
	}
	gem_close(again.fd, handle);
	EXPECT_EQ(0, stats_settled(again.fd, &stats));
	EXPECT_EQ(0, stats.fences);
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.object_pages);
	gpu_close(&again);
}

/*
 * The fence of the last submission that uses an object, where calls return none: a sync_file of its
 * dma-buf (the kernel's dma-buf.h). It lacks the error of a request that is completed by then.
 */
static int fence_of(const struct gpu *gpu, __u32 target)
{
	struct drm_prime_handle prime = { .handle = target, .flags = DRM_CLOEXEC | DRM_RDWR };
	struct dma_buf_export_sync_file arg = { .flags = DMA_BUF_SYNC_RW };

	if (call(gpu->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
		return -1;
	if (ioctl(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &arg))
		arg.fd = -1;
	close(prime.fd);
	return arg.fd;
}

static __u64 resets(int fd)
{
	struct drm_ouro_stats stats = {};

	call(fd, DRM_IOCTL_OURO_STATS, &stats);
	return stats.resets;
}

/* A value into an object of its own; 0, perhaps with a fence, or a negative errno. */
static int store_fenced(const struct gpu *gpu, const struct engine *engine, __u32 context,
			__u32 target, __u32 value, int *fence)
{
	struct drm_i915_gem_execbuffer2 eb = { .flags = I915_EXEC_FENCE_OUT, .rsvd1 = context };
	__u64 before;
	int got;

	if (gpu->speaks != &radeon) {
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
		got = i915_store(gpu, engine, target, value, &eb);
		if (!got)
			*fence = eb.rsvd2 >> 32;
		return got;
	}
	before = resets(gpu->fd);
	cover("DRM_IOCTL_RADEON_CS");
	got = store(gpu, engine, 0, target, 0, value);
	if (!got)
		*fence = fence_of(gpu, target);
	if (*fence >= 0 && resets(gpu->fd) != before) {
		close(*fence);
		*fence = -1;
	}
	return got;
}

TEST_F(chaos, what_is_lost_is_said_to_be_lost)
{
	enum { AT_ONCE = 8, HANG_EVERY = 4 };
	const unsigned int rows = rounds("OURO_CHAOS", 160, 32) / AT_ONCE;
	unsigned int row, i, done = 0, lost = 0, refused = 0, given_up = 0;
	struct drm_ouro_stats before, stats = {};

	ASSERT_EQ(0, stats_settled(self->fd, &before));
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 600));
	ASSERT_EQ(0, model_chaos(&self->place, rounds("OURO_SEED", 2026, 2026), HARD));
	for (row = 0; row < rows; row++) {
		__u32 context, targets[AT_ONCE];
		int fences[AT_ONCE];
		struct gpu gpu;

		/* a client that hangs several times would be banned: each row has its own client */
		ASSERT_EQ(0, gpu_open(&gpu));
		context = context_create(gpu.fd);
		if (row % HANG_EVERY == 0)
			ASSERT_EQ(0, model_fault(&self->place, FAULT_HANG | FAULT_ONCE));
		for (i = 0; i < AT_ONCE; i++) {
			const struct engine *engine = &gpu.engines[i % gpu.n_engines];
			int got;

			targets[i] = gem_create(gpu.fd, PAGE);
			fences[i] = -1;
			got = store_fenced(&gpu, engine, i % 2 ? context : 0, targets[i],
					   0x1000 + i, &fences[i]);
			EXPECT_TRUE(!got || got == -EIO || (got == -ENOENT && !context))
			{
				TH_LOG("%s", strerror(-got));
			}
			refused += got != 0;
		}
		for (i = 0; i < AT_ONCE; i++) {
			int status;

			if (fences[i] < 0)
				continue;
			status = fence_status(fences[i]);
			EXPECT_TRUE(status == 1 || status == -EIO)
			{
				TH_LOG("%d", status);
			}
			done += status == 1;
			lost += status != 1;
			if (status == 1)
				EXPECT_EQ(0x1000 + i, gem_read32(gpu.fd, targets[i], 0));
			close(fences[i]);
		}
		/* the rest of the day is for others, too */
		if (device_is_wedged(gpu.fd)) {
			given_up++;
			EXPECT_EQ(0, device_ask_for_reset(gpu.fd));
		}
		gpu_close(&gpu);
	}
	ASSERT_EQ(0, model_chaos(&self->place, 0, CALM));
	EXPECT_LT(0, done);
	EXPECT_LT(0, lost);
	call(self->fd, DRM_IOCTL_OURO_STATS, &stats);
	EXPECT_LT(before.resets, stats.resets);
	printf("# cover: hard chaos: batches done: %u, lost: %u, refused: %u, ",
	       done, lost, refused);
	printf("engines' resets: %llu, given up: %u times\n",
	       stats.resets - before.resets, given_up);
	fflush(stdout);
}

TEST_HARNESS_MAIN

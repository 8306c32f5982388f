// SPDX-License-Identifier: GPL-2.0
/*
 * A device that no reset helps: nothing runs any more, no client waits without end,
 * memory is still there, and the driver can be taken away and brought back.
 */
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define HANGS
#define ANY_I915
#define MUTE_ENGINES
#include "test.h"
#include "device.h"
#include "sw_sync.h"

FIXTURE(wedged)
{
	struct gpu gpu;
	struct place place;
	int fd;
};

FIXTURE_SETUP(wedged)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours: it has no DRM_IOCTL_OURO_DEVICE");
	ASSERT_EQ(0, device_of(self->fd, &self->place));
	if (model_fault(&self->place, FAULT_NONE))
		SKIP(return, "not a model: its resets work when they like");
}

/* Whatever a test left: the device works afterwards, with its driver bound again. */
FIXTURE_TEARDOWN(wedged)
{
	struct gpu again;
	unsigned int i;
	__u32 handle;

	gpu_close(&self->gpu);
	if (!self->gpu.ouro || model_fault(&self->place, FAULT_NONE))
		return;
	/* a test may have done so */
	device_unbind(&self->place);
	ASSERT_EQ(0, device_bind(&self->place));
	ASSERT_EQ(0, gpu_open(&again));
	handle = gem_create(again.fd, PAGE);
	for (i = 0; i < again.n_engines; i++) {
		EXPECT_EQ(0, store(&again, &again.engines[i], 0, handle, i * 8, 0xc0 + i));
		EXPECT_EQ(0xc0 + i, gem_read32(again.fd, handle, i * 8));
	}
	gpu_close(&again);
}

/* Everything that is not for work goes on. */
static void memory_is_there(struct __test_metadata *_metadata, const struct gpu *gpu, __u32 handle)
{
	struct drm_i915_gem_context_create_ext create = {};
	__u32 *map, fresh;
	char path[32];
	int other;

	EXPECT_EQ(0x5ee, gem_read32(gpu->fd, handle, 0));
	map = gem_map(gpu->fd, handle, PAGE, I915_MMAP_OFFSET_WB);
	ASSERT_NE(NULL, map);
	EXPECT_EQ(0x5ee, peek(map));
	poke(map + 1, 0x5ef);
	EXPECT_EQ(0x5ef, gem_read32(gpu->fd, handle, 4));
	munmap(map, PAGE);
	fresh = gem_create(gpu->fd, PAGE);
	EXPECT_NE(0, fresh);
	EXPECT_EQ(0, gem_read32(gpu->fd, fresh, 0));
	EXPECT_EQ(0, gem_close(gpu->fd, fresh));
	EXPECT_EQ(0, gem_busy(gpu->fd, handle));
	/* a context would be of no use */
	BAD(gpu->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EIO);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", gpu->fd);
	other = open(path, O_RDWR);
	ASSERT_LE(0, other);
	EXPECT_NE(0, gem_create(other, PAGE));
	close(other);
}

TEST_F(wedged, no_reset_helps)
{
	__u32 target = gem_create(self->fd, PAGE), kept = gem_create(self->fd, PAGE), word = 0x5ee;
	int fences[2];
	struct spin spin, behind;
	unsigned int i;

	ASSERT_EQ(0, gem_write(self->fd, kept, 0, &word, 4));
	ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], 0, 0, &fences[0], &spin));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], 0, target, &fences[1], &behind));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-EIO, fence_status(fences[i]));
		close(fences[i]);
	}
	cover("DRM_IOCTL_I915_GEM_WAIT");
	EXPECT_EQ(0, gem_wait(self->fd, target, 60000000000ll));
	EXPECT_EQ(1, device_is_wedged(self->fd));
	for (i = 0; i < self->gpu.n_engines; i++) {
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		EXPECT_EQ(-EIO, store(&self->gpu, &self->gpu.engines[i], 0, target, 0, 1));
	}
	BAD(self->fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL, EIO);
	memory_is_there(_metadata, &self->gpu, kept);
	/* It is asked again, in vain. */
	EXPECT_EQ(0, device_ask_for_reset(self->fd));
	EXPECT_EQ(1, device_is_wedged(self->fd));
	spin_free(&spin);
	spin_free(&behind);
	/* The driver goes while the device is stuck, and comes when it is not: see the teardown. */
	EXPECT_EQ(0, device_unbind(&self->place));
	BAD(self->fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL, ENODEV);
}

/* The last engine whose batches can store. */
static const struct engine *last_to_store(const struct gpu *gpu)
{
	unsigned int i = gpu->n_engines - 1;

	while (i && !store_for(gpu, &gpu->engines[i], 4))
		i--;
	return &gpu->engines[i];
}

/* What waits for others' fences waits for them all the same, and fails then. */
TEST_F(wedged, others_fences_come_first)
{
	const struct engine *last = last_to_store(&self->gpu);
	__u32 target = gem_create(self->fd, PAGE), handle;
	int timeline = sw_timeline(), foreign;
	struct drm_i915_gem_execbuffer2 eb;
	struct pollfd waits = { .events = POLLIN };
	struct batch b;
	struct spin spin;
	int guilty;

	if (timeline < 0)
		SKIP(return, "the kernel was built without CONFIG_SW_SYNC");
	foreign = sw_fence(timeline);
	ASSERT_LE(0, foreign);
	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, last, 4), target, 0, 0xbad);
	batch_end(&b, self->gpu.backend);
	handle = batch_finish(self->fd, &b, &eb);
	eb.flags = last->ring | I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT;
	eb.rsvd2 = foreign;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	waits.fd = eb.rsvd2 >> 32;
	ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET));
	/* its own context: one engine may have both, and a context's requests keep their order */
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], context_create(self->fd), 0,
				&guilty, &spin));
	EXPECT_EQ(-EIO, fence_status(guilty));
	EXPECT_EQ(0, poll(&waits, 1, 300));
	EXPECT_EQ(1, device_is_wedged(self->fd));
	EXPECT_EQ(1, gem_busy(self->fd, target));
	ASSERT_EQ(0, sw_signal(timeline));
	EXPECT_EQ(-EIO, fence_status(waits.fd));
	EXPECT_EQ(0, gem_wait(self->fd, target, 60000000000ll));
	EXPECT_EQ(0, gem_read32(self->fd, target, 0));
	gem_close(self->fd, handle);
	spin_free(&spin);
	close(waits.fd);
	close(guilty);
	close(foreign);
	close(timeline);
}

/* The same, but the device is removed: it waits for no client. */
TEST_F(wedged, others_fences_and_no_device)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u32 target = gem_create(self->fd, PAGE);
	int timeline = sw_timeline(), foreign;
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	int fence;

	if (timeline < 0)
		SKIP(return, "the kernel was built without CONFIG_SW_SYNC");
	foreign = sw_fence(timeline);
	ASSERT_LE(0, foreign);
	batch_init(&b);
	batch_store(&b, store_for(&self->gpu, engine, 4), target, 0, 0xbad);
	batch_end(&b, self->gpu.backend);
	batch_finish(self->fd, &b, &eb);
	eb.flags = engine->ring | I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT;
	eb.rsvd2 = foreign;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	fence = eb.rsvd2 >> 32;
	ASSERT_EQ(0, device_unbind(&self->place));
	EXPECT_EQ(-ENODEV, fence_status(fence));
	/* no process listens for the event */
	ASSERT_EQ(0, sw_signal(timeline));
	close(fence);
	close(foreign);
	close(timeline);
}

/* It comes to its senses, and is brought back without the loss of any file. */
TEST_F(wedged, brought_back)
{
	__u32 target = gem_create(self->fd, PAGE), context = context_create(self->fd);
	struct spin spin;
	unsigned int i;
	int fence;

	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], context, target, 0, 1));
	ASSERT_EQ(1, gem_read32(self->fd, target, 0));
	ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], 0, 0, &fence, &spin));
	EXPECT_EQ(-EIO, fence_status(fence));
	EXPECT_EQ(1, device_is_wedged(self->fd));
	ASSERT_EQ(0, model_fault(&self->place, FAULT_NONE));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, device_ask_for_reset(self->fd));
	EXPECT_EQ(0, device_is_wedged(self->fd));
	for (i = 0; i < self->gpu.n_engines; i++) {
		EXPECT_EQ(0, store(&self->gpu, &self->gpu.engines[i], context, target, 0, 2 + i));
		EXPECT_EQ(2 + i, gem_read32(self->fd, target, 0));
	}
	close(fence);
	spin_free(&spin);
}

/* A thread that looks whether the device is a bus master. */
struct look_out {
	pthread_t thread;
	int config;
	bool end;
	/* how often it looked, and saw that bus mastering was on */
	unsigned int looks, seen;
};

static void *look_out(void *argument)
{
	struct look_out *l = argument;
	__u16 command;

	while (!__atomic_load_n(&l->end, __ATOMIC_SEQ_CST)) {
		if (pread(l->config, &command, sizeof(command), PCI_COMMAND) != sizeof(command))
			continue;
		l->looks++;
		l->seen += !!(command & PCI_COMMAND_MASTER);
	}
	return NULL;
}

/*
 * An engine that still runs may have TLB entries of memory that others have by now: a wedged device
 * is not a bus master before a reset has succeeded. One that does not takes milliseconds.
 */
TEST_F(wedged, no_master_before_a_reset)
{
	struct look_out l = {};
	char path[80];
	struct spin spin;
	int fence;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", self->place.name);
	l.config = open(path, O_RDONLY);
	ASSERT_LE(0, l.config);
	ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], 0, 0, &fence, &spin));
	EXPECT_EQ(-EIO, fence_status(fence));
	EXPECT_EQ(1, device_is_wedged(self->fd));
	ASSERT_EQ(0, pthread_create(&l.thread, NULL, look_out, &l));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	device_ask_for_reset(self->fd);
	__atomic_store_n(&l.end, true, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, pthread_join(l.thread, NULL));
	EXPECT_EQ(1, device_is_wedged(self->fd));
	EXPECT_NE(0, l.looks);
	EXPECT_EQ(0, l.seen);
	close(l.config);
	close(fence);
	spin_free(&spin);
}

/* A reset is requested: what runs has failed, what waits has not. */
TEST_F(wedged, asked_for)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct spin spin;
	unsigned int i;
	int fence;

	for (i = 0; i < self->gpu.n_engines; i++) {
		/* one that hangs three times is banned */
		__u32 context = context_create(self->fd);

		ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[i], context, 0, &fence,
					&spin));
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, target, 0, 5 + i));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, device_ask_for_reset(self->fd));
		EXPECT_EQ(-EIO, fence_status(fence));
		EXPECT_EQ(5 + i, gem_read32(self->fd, target, 0));
		EXPECT_EQ(0, device_is_wedged(self->fd));
		close(fence);
		spin_free(&spin);
	}
}

/* The driver is unbound while all engines hang: clients that wait wake. */
TEST_F(wedged, unbound_while_hung)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct spin spins[8];
	int fences[8];
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++)
		ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[i], 0, target, &fences[i],
					&spins[i]));
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
	ASSERT_EQ(0, device_unbind(&self->place));
	for (i = 0; i < self->gpu.n_engines; i++) {
		EXPECT_EQ(-ENODEV, fence_status(fences[i]));
		close(fences[i]);
		munmap(spins[i].map, PAGE);
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * The machine sleeps: what objects, mappings, contexts and exported buffers
 * held is there afterwards, and work that was published is done.
 *
 * OURO_SLEEP names the command that sends the machine to sleep and wakes it,
 * with the state (freeze, mem, disk) and how far it goes (a word of
 * /sys/power/pm_test, or image: to disk and back) as its arguments:
 * tools/vm/guest-tests/sleep.sh.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#define ANY_INTERFACE
#define MUTE_ENGINES
#include "test.h"
#include "device.h"
#include "places.h"
#include "tiled.h"

FIXTURE(asleep)
{
	struct gpu gpu;
	int fd;
	const char *command;
};

FIXTURE_SETUP(asleep)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	self->command = getenv("OURO_SLEEP");
	if (!self->command)
		SKIP(return, "OURO_SLEEP is not set: nothing here may send the machine to sleep");
}

FIXTURE_TEARDOWN(asleep)
{
	struct place place;

	/* what a test that failed may have left */
	if (self->gpu.ouro && !device_of(self->fd, &place) && !model_fault(&place, FAULT_NONE) &&
	    device_is_wedged(self->fd) > 0)
		EXPECT_EQ(0, device_ask_for_reset(self->fd));
	gpu_close(&self->gpu);
}

/*
 * How it sleeps: the kernel's own levels of test, each with all that the ones before it do; or an
 * image of memory that is written, loaded, and goes on.
 */
FIXTURE_VARIANT(asleep)
{
	const char *state;
	const char *level;
};

FIXTURE_VARIANT_ADD(asleep, to_idle)
{
	.state = "freeze", .level = "platform",
};

FIXTURE_VARIANT_ADD(asleep, to_ram)
{
	.state = "mem", .level = "core",
};

FIXTURE_VARIANT_ADD(asleep, to_disk)
{
	.state = "disk", .level = "image",
};

#define ONCE "the slow kernel idles and goes to disk once, with most of all this in memory"

/* True unless this kernel goes to the level only once. */
static bool goes(const char *level)
{
	return !strcmp(level, "core") || rounds("OURO_IMAGES", 1, 0);
}

/* 0 when it has slept; 1 when the kernel cannot do it; else it failed. */
static int go_to_sleep(const char *command, const char *state, const char *level)
{
	char line[256], states[64] = "";
	FILE *file = fopen("/sys/power/state", "r");

	if (file) {
		if (!fgets(states, sizeof(states), file))
			states[0] = 0;
		fclose(file);
	}
	if (!strstr(states, state))
		return 1;
	snprintf(line, sizeof(line), "%s %s %s >/tmp/sleep-said 2>&1", command, state, level);
	return system(line) == 0 ? 0 : -1;
}

enum { KINDS = 4, BIG = 64 };

TEST_F(asleep, contents_are_there_and_work_is_done)
{
	static const __u64 how[KINDS] = { I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_WC,
					  I915_MMAP_OFFSET_UC, I915_MMAP_OFFSET_GTT };
	__u32 handles[KINDS], *maps[KINDS], big = gem_create(self->fd, BIG * PAGE);
	__u32 counter = gem_create(self->fd, PAGE), context = context_create(self->fd);
	struct drm_prime_handle prime = { .handle = counter, .flags = DRM_CLOEXEC | DRM_RDWR };
	struct drm_ouro_stats before, after;
	const struct engine *engine;
	__u32 *shared, i;
	int got;

	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, counter, 0, 0));
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	shared = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, prime.fd, 0);
	ASSERT_NE(MAP_FAILED, shared);
	for (i = 0; i < KINDS; i++) {
		handles[i] = gem_create(self->fd, 2 * PAGE);
		maps[i] = gem_map(self->fd, handles[i], 2 * PAGE, how[i]);
		ASSERT_NE(NULL, maps[i]);
		poke(maps[i], 0xa5000000 + i);
		/* bound, and written by the GPU */
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines],
				   context, handles[i], 2 * PAGE - 8, 0x5a000000 + i));
	}
	for (i = 0; i < BIG; i++)
		ASSERT_EQ(0, gem_write(self->fd, big, i * PAGE + 8 * i, &i, 4));
	if (self->gpu.ouro)
		ASSERT_EQ(0, stats_settled(self->fd, &before));
	/* requests that no client has waited for when the device is suspended */
	for (i = 1; i <= 200; i++) {
		engine = &self->gpu.engines[i % self->gpu.n_engines];
		ASSERT_EQ(0, store(&self->gpu, engine, i & 1 ? context : 0, counter, 0, i));
	}
	got = go_to_sleep(self->command, variant->state, variant->level);
	if (got == 1)
		SKIP(return, "this kernel does not know the state");
	ASSERT_EQ(0, got)
	{
		TH_LOG("it did not sleep: see /tmp/sleep-said");
	}
	/* from the same engines, the same contexts, at the same addresses */
	for (i = 0; i < self->gpu.n_engines; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], context, counter, 8 + 8 * i,
				   0x600d + i));
	EXPECT_EQ(200, gem_read32(self->fd, counter, 0));
	EXPECT_EQ(200, peek(shared));
	for (i = 0; i < self->gpu.n_engines; i++)
		EXPECT_EQ(0x600d + i, peek(shared + 2 + 2 * i));
	for (i = 0; i < KINDS; i++) {
		EXPECT_EQ(0xa5000000 + i, peek(maps[i]));
		EXPECT_EQ(0x5a000000 + i, peek(maps[i] + (2 * PAGE - 8) / 4));
		EXPECT_EQ(0xa5000000 + i, gem_read32(self->fd, handles[i], 0));
	}
	for (i = 0; i < BIG; i++)
		EXPECT_EQ(i, gem_read32(self->fd, big, i * PAGE + 8 * i));
	if (self->gpu.ouro) {
		ASSERT_EQ(0, stats_settled(self->fd, &after));
		EXPECT_EQ(before.objects, after.objects);
		EXPECT_EQ(before.object_pages, after.object_pages);
		EXPECT_EQ(before.contexts, after.contexts);
	}
	close(prime.fd);
}

/* A card forgets its memory: what objects and tables of contexts had there is kept elsewhere. */
TEST_F(asleep, the_memory_of_a_card_is_forgotten)
{
	enum { OBJECTS = 3 };
	/* an image takes what it holds twice, and its disk a third time */
	const unsigned int parts = strcmp(variant->level, "image") ? 4 : 64;
	const __u64 size = part(local_region(self->fd).size, parts);
	__u32 context, *maps[OBJECTS], i, wrong;
	int handles[OBJECTS], got;
	__u64 at;

	if (!goes(variant->level))
		SKIP(return, ONCE);
	if (!is_card(&self->gpu))
		SKIP(return, "no memory of its own that i915 knows");
	ASSERT_TRUE(wait_used(self->fd, 0));
	context = context_create(self->fd);
	for (i = 0; i < OBJECTS; i++) {
		handles[i] = create_local(self->fd, size);
		ASSERT_LT(0, handles[i]);
		maps[i] = gem_map(self->fd, handles[i], size, I915_MMAP_OFFSET_FIXED);
		ASSERT_NE(NULL, maps[i]);
		for (at = 0; at < size; at += PAGE)
			poke(&maps[i][at / 4], i << 28 ^ at);
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], context, handles[i], 8, i));
	}
	EXPECT_EQ(OBJECTS * size, local_region(self->fd).used);
	got = go_to_sleep(self->command, variant->state, variant->level);
	if (got == 1)
		SKIP(return, "this kernel does not know the state");
	ASSERT_EQ(0, got);
	for (i = 0; i < OBJECTS; i++) {
		EXPECT_EQ(i, peek(&maps[i][2]));
		for (at = 0, wrong = 0; at < size; at += PAGE)
			wrong += peek(&maps[i][at / 4]) != (i << 28 ^ (__u32)at);
		EXPECT_EQ(0, wrong);
	}
	/* and back */
	for (i = 0; i < OBJECTS; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], context, handles[i], 12,
				   ~i));
	for (i = 0; i < OBJECTS; i++)
		ASSERT_EQ(0, gem_wait(self->fd, handles[i], -1));
	EXPECT_EQ(OBJECTS * size, local_region(self->fd).used);
	for (i = 0; i < OBJECTS; i++) {
		EXPECT_EQ(~i, peek(&maps[i][3]));
		for (at = 0, wrong = 0; at < size; at += PAGE)
			wrong += peek(&maps[i][at / 4]) != (i << 28 ^ (__u32)at);
		EXPECT_EQ(0, wrong);
		munmap(maps[i], size);
		gem_close(self->fd, handles[i]);
	}
}

/* The device forgets its fences; mappings that have one see no tiles all the same. */
TEST_F(asleep, tiles_are_still_undone)
{
	enum { OBJECTS = 20 };
	struct tiling t[OBJECTS] = {};
	__u32 handles[OBJECTS], *maps[OBJECTS], i;
	int got;

	if (!goes(variant->level))
		SKIP(return, ONCE);
	if (self->gpu.speaks != &i915)
		SKIP(return, NO_I915);
	if (getparam(self->fd, I915_PARAM_NUM_FENCES_AVAIL) <= 0)
		SKIP(return, "the chip has no detiling fences");
	for (i = 0; i < OBJECTS; i++) {
		t[i].mode = i % 2 ? I915_TILING_Y : I915_TILING_X;
		t[i].stride = 512 * (i % 3 + 2);
		handles[i] = gem_create(self->fd, 16 * PAGE);
		ASSERT_EQ(0, tile(self->fd, handles[i], &t[i]));
		maps[i] = gem_map(self->fd, handles[i], 16 * PAGE, I915_MMAP_OFFSET_GTT);
		ASSERT_NE(NULL, maps[i]);
		poke(&maps[i][(3 * t[i].stride + 20) / 4], 0x711e0000 + i);
	}
	got = go_to_sleep(self->command, variant->state, variant->level);
	if (got == 1)
		SKIP(return, "this kernel does not know the state");
	ASSERT_EQ(0, got);
	/* those that were seen last still have their fences */
	for (i = OBJECTS; i--;) {
		__u64 at = 3 * t[i].stride + 20, next = 7 * t[i].stride + 36;

		EXPECT_EQ(0x711e0000 + i, peek(&maps[i][at / 4]));
		EXPECT_EQ(0x711e0000 + i,
			  gem_read32(self->fd, handles[i], tiled_offset(&t[i], at)));
		poke(&maps[i][next / 4], i + 1);
		EXPECT_EQ(i + 1, gem_read32(self->fd, handles[i], tiled_offset(&t[i], next)));
	}
}

/* Three times in a row, with nothing in between. */
TEST_F(asleep, again_and_again)
{
	__u32 handle = gem_create(self->fd, PAGE), i, k;

	if (!strcmp(variant->level, "image"))
		SKIP(return, "the images of the other tests come one after the other, too");
	if (!goes(variant->level))
		SKIP(return, ONCE);
	for (i = 0; i < 3; i++) {
		int got = go_to_sleep(self->command, variant->state, "devices");

		if (got == 1)
			SKIP(return, "this kernel does not know the state");
		ASSERT_EQ(0, got);
	}
	for (k = 0; k < self->gpu.n_engines; k++) {
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[k], 0, handle, 8 * k, k + 1));
		EXPECT_EQ(k + 1, gem_read32(self->fd, handle, 8 * k));
	}
}

/*
 * Batches without end do not keep the machine awake: they are ended, and what follows runs. Each
 * is of a context of its own: one that is found to hang three times is banned.
 */
TEST_F(asleep, engines_that_hang)
{
	__u32 target = gem_create(self->fd, PAGE), contexts[8], i;
	struct spin spins[8];
	int got;

	if (!goes(variant->level))
		SKIP(return, ONCE);
	if (!has_spin(&self->gpu))
		SKIP(return, NO_SPIN);
	if (getparam(self->fd, I915_PARAM_HAS_GPU_RESET) <= 0)
		SKIP(return, "the driver does not reset an engine that hangs (HAS_GPU_RESET is 0)");
	for (i = 0; i < self->gpu.n_engines; i++) {
		contexts[i] = context_create(self->fd);
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[i], contexts[i], 0, NULL,
					&spins[i]));
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i], 0, target, 8 * i, 0x51 + i));
	}
	got = go_to_sleep(self->command, variant->state, variant->level);
	if (got == 1)
		SKIP(return, "this kernel does not know the state");
	ASSERT_EQ(0, got);
	for (i = 0; i <= self->gpu.n_engines; i++) {
		struct drm_i915_reset_stats stats = {};

		/* the last one is that of what follows */
		if (i < self->gpu.n_engines) {
			EXPECT_EQ(0x51 + i, gem_read32(self->fd, target, 8 * i));
			munmap(spins[i].map, PAGE);
			stats.ctx_id = contexts[i];
		}
		/*
		 * no context is to blame; another driver may have found the hang before the suspend
		 */
		GOOD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats);
		EXPECT_GE(!self->gpu.ouro && i < self->gpu.n_engines, stats.batch_active);
	}
}

/*
 * A batch that is preemptible, and so may run without end, keeps an object in the memory that a
 * card forgets. It is ended, and the machine sleeps.
 */
TEST_F(asleep, endless_work_keeps_no_card_awake)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u32 context, target = gem_create(self->fd, PAGE);
	struct spin spin;
	int big, got;

	if (!goes(variant->level))
		SKIP(return, ONCE);
	if (!self->gpu.ouro || !is_card(&self->gpu))
		SKIP(return, "no memory of its own that i915 knows");
	/* the limit of the batch, which must end within 30 seconds */
	ASSERT_EQ(0, device_hang_ms(&self->gpu, HANG_MS_DEFAULT));
	big = create_local(self->fd, part(local_region(self->fd).size, 8));
	ASSERT_LT(0, big);
	context = context_create(self->fd);
	ASSERT_EQ(0, spin_start(&self->gpu, engine, context, big, NULL, &spin));
	got = go_to_sleep(self->command, variant->state, variant->level);
	if (got == 1)
		SKIP(return, "this kernel does not know the state");
	EXPECT_EQ(0, got);
	EXPECT_EQ(0, gem_busy(self->fd, spin.handle));
	spin_free(&spin);
	ASSERT_EQ(0, store(&self->gpu, engine, 0, target, 0, 0x57));
	EXPECT_EQ(0x57, gem_read32(self->fd, target, 0));
}

/* True if an object of the size can be in a part of the card's memory that the CPU does not see. */
static bool has_unseen(const struct gpu *gpu, __u64 size)
{
	const struct drm_ouro_region local = local_region(gpu->fd);

	return gpu->ouro && is_card(gpu) && local.cpu_visible + size <= local.size;
}

/*
 * The CPU accesses an object that it does not see, and that a batch without end uses: the object is
 * to move to system memory, and still has its contents in the memory that a card forgets.
 */
TEST_F(asleep, moves_that_have_begun_are_done)
{
	const struct engine *engine = &self->gpu.engines[0];
	__u64 size = part(local_region(self->fd).size, 8), at;
	__u32 context, *map, wrong = 0;
	struct spin spin;
	int unseen, got, status;
	pid_t reader;

	if (!goes(variant->level))
		SKIP(return, ONCE);
	if (!has_unseen(&self->gpu, size))
		SKIP(return, "no memory of its own that the CPU does not see and i915 knows");
	ASSERT_TRUE(wait_used(self->fd, 0));
	ASSERT_EQ(0, device_hang_ms(&self->gpu, HANG_MS_DEFAULT));
	/* without I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS it is behind what the CPU sees */
	unseen = create_local(self->fd, size);
	ASSERT_LT(0, unseen);
	map = gem_map(self->fd, unseen, size, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, map);
	for (at = 0; at < size; at += PAGE)
		poke(&map[at / 4], 0xa0000000 ^ at);
	context = context_create(self->fd);
	ASSERT_EQ(0, store(&self->gpu, engine, context, unseen, 8, 0x5a));
	ASSERT_EQ(0, gem_wait(self->fd, unseen, -1));
	EXPECT_EQ(size, local_region(self->fd).used);
	ASSERT_EQ(0, spin_start(&self->gpu, engine, context, unseen, NULL, &spin));
	/* a process: the fault holds mmap_lock, which system() takes */
	reader = fork();
	ASSERT_LE(0, reader);
	if (!reader)
		_exit(peek(map) != 0xa0000000);
	usleep(200000);
	EXPECT_EQ(0, waitpid(reader, &status, WNOHANG));
	got = go_to_sleep(self->command, variant->state, variant->level);
	spin_stop(&spin);
	EXPECT_EQ(reader, waitpid(reader, &status, 0));
	EXPECT_EQ(0, status);
	if (got == 1)
		SKIP(return, "this kernel does not know the state");
	EXPECT_EQ(0, got);
	EXPECT_EQ(0x5a, peek(&map[2]));
	for (at = 0; at < size; at += PAGE)
		wrong += peek(&map[at / 4]) != (0xa0000000 ^ (__u32)at);
	EXPECT_EQ(0, wrong);
	spin_free(&spin);
	munmap(map, size);
	gem_close(self->fd, unseen);
}

/*
 * The device is wedged, so that no engine moves an object that the CPU does not see: the memory
 * that a card forgets has its contents. They are lost, and are not what the card finds there.
 */
TEST_F(asleep, what_cannot_be_moved_is_zero)
{
	__u64 size = part(local_region(self->fd).size, 8), at;
	__u32 context, *map, wrong = 0;
	struct place place;
	struct spin spin;
	int unseen, got, fence;

	if (!goes(variant->level))
		SKIP(return, ONCE);
	if (!has_unseen(&self->gpu, size))
		SKIP(return, "no memory of its own that the CPU does not see and i915 knows");
	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "not a model: its resets work when they like");
	ASSERT_TRUE(wait_used(self->fd, 0));
	unseen = create_local(self->fd, size);
	ASSERT_LT(0, unseen);
	context = context_create(self->fd);
	for (at = 0; at < size; at += size / 8)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], context, unseen, at, 0x5a));
	ASSERT_EQ(0, gem_wait(self->fd, unseen, -1));
	EXPECT_EQ(size, local_region(self->fd).used);
	ASSERT_EQ(0, device_hang_ms(&self->gpu, HANG_MS_DEFAULT));
	ASSERT_EQ(0, model_fault(&place, FAULT_STUCK_RESET));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], 0, 0, &fence, &spin));
	EXPECT_EQ(-EIO, fence_status(fence));
	EXPECT_EQ(1, device_is_wedged(self->fd));
	ASSERT_EQ(0, model_fault(&place, FAULT_NONE));
	got = go_to_sleep(self->command, variant->state, variant->level);
	EXPECT_EQ(0, device_ask_for_reset(self->fd));
	EXPECT_EQ(0, device_is_wedged(self->fd));
	spin_free(&spin);
	close(fence);
	if (got == 1)
		SKIP(return, "this kernel does not know the state");
	EXPECT_EQ(0, got);
	map = gem_map(self->fd, unseen, size, I915_MMAP_OFFSET_FIXED);
	ASSERT_NE(NULL, map);
	for (at = 0; at < size; at += PAGE)
		wrong += peek(&map[at / 4]) != 0;
	EXPECT_EQ(0, wrong);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, unseen, 8, 0x5b));
	EXPECT_EQ(0x5b, gem_read32(self->fd, unseen, 8));
	munmap(map, size);
	gem_close(self->fd, unseen);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/* A batch that never ends, of a client that never ends it. */
#define TOPIC hang
#define ANY_I915
#define MUTE_ENGINES
#define HANGS
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "test.h"
#include "device.h"

static __u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/* Milliseconds in which the machine did not stand still: of 10 that become more, 100 count. */
static unsigned int awake_ms, awake_stop;

static void *stay_awake(void *unused)
{
	__u64 last = now_ms(), now;

	while (!peek(&awake_stop)) {
		usleep(10000);
		now = now_ms();
		poke(&awake_ms, peek(&awake_ms) + (now - last < 100 ? now - last : 100));
		last = now;
	}
	return unused;
}

/*
 * A batch without end of one client, work of another behind it on the same ring: it is stopped,
 * and that is done, within five seconds with the driver's own settings. A machine that does other
 * work stops a guest for seconds now and then: these do not count, and what is late is tried
 * again, since the model alone may have been stopped.
 */
TEST_F(hang, others_get_on_within_five_seconds)
{
	enum { TIMES = 3, MOST_MS = 5000 };
	unsigned int i, ms = ~0u;
	__u32 target = gem_create(self->fd, PAGE);
	pthread_t thread;

	if (getparam(self->fd, I915_PARAM_HAS_GPU_RESET) <= 0)
		SKIP(return, "the driver does not reset an engine that hangs (HAS_GPU_RESET is 0)");
	if (self->gpu.ouro)
		ASSERT_EQ(0, device_hang_ms(&self->gpu, device_loaded_hang_ms(&self->gpu)));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stay_awake, NULL));
	for (i = 0; i < TIMES && ms >= MOST_MS; i++) {
		struct gpu other;
		struct spin spin;
		int fence, status;
		unsigned int began;

		/* one client that hangs again and again would be refused */
		ASSERT_EQ(0, gpu_open(&other));
		began = peek(&awake_ms);
		ASSERT_EQ(0, hang_start(&other, &other.engines[0], 0, 0, &fence, &spin));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0xa11e + i));
		EXPECT_EQ(0xa11e + i, gem_read32(self->fd, target, 0));
		status = fence_status(fence);
		ms = peek(&awake_ms) - began;
		if (self->gpu.ouro)
			EXPECT_EQ(-EIO, status);
		close(fence);
		munmap(spin.map, PAGE);
		gpu_close(&other);
	}
	poke(&awake_stop, 1);
	pthread_join(thread, NULL);
	/* another driver has its own idea of a hang */
	if (self->gpu.ouro) {
		EXPECT_GT(MOST_MS, ms);
		printf("# cover: hang to recovered: %u ms\n", ms);
		fflush(stdout);
	}
}

/* The client is gone, its batch is not. */
TEST_F(hang, gone_with_its_file)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct gpu other;
	struct spin spin;

	if (getparam(self->fd, I915_PARAM_HAS_GPU_RESET) <= 0)
		SKIP(return, "the driver does not reset an engine that hangs (HAS_GPU_RESET is 0)");
	ASSERT_EQ(0, gpu_open(&other));
	ASSERT_EQ(0, hang_start(&other, &other.engines[0], 0, 0, NULL, &spin));
	gpu_close(&other);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0xa11f));
	EXPECT_EQ(0xa11f, gem_read32(self->fd, target, 0));
}

/* The hang check is off: what a closed context has published ends with it. */
TEST_F(hang, closed_while_nobody_watches)
{
	__u32 id = context_create(self->fd), target = gem_create(self->fd, PAGE);
	int fences[8];
	struct spin spins[8];
	unsigned int i;

	if (!self->gpu.ouro)
		SKIP(return, "how this driver is told not to look is not known here");
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 0));
	for (i = 0; i < self->gpu.n_engines; i++)
		ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[i], id, 0, &fences[i],
					&spins[i]));
	cover("DRM_IOCTL_I915_GEM_CONTEXT_DESTROY");
	EXPECT_EQ(0, context_destroy(self->fd, id));
	for (i = 0; i < self->gpu.n_engines; i++) {
		EXPECT_EQ(-EIO, fence_status(fences[i]));
		close(fences[i]);
		spin_free(&spins[i]);
	}
	ASSERT_EQ(0, device_hang_ms(&self->gpu, HANG_MS));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0xa120));
	EXPECT_EQ(0xa120, gem_read32(self->fd, target, 0));
}

/* Returns the number of requests that the engine has completed, by the model. */
static __u64 completed(const struct place *place, const struct engine *engine)
{
	unsigned int index = engine->bit == RCS ? COUNTER_RCS_INTERRUPTS :
			     engine->bit == BCS ? COUNTER_BCS_INTERRUPTS :
						  COUNTER_VCS_INTERRUPTS;
	__u64 value;

	return model_counter(place, index, &value) ? 0 : value;
}

/*
 * One engine hangs, and is reset alone, while each of the others completes a thousand batches and
 * more (fewer on a kernel that looks at everything): none of them is lost, none runs twice, and no
 * other context is blamed.
 */
TEST_F(hang, others_complete_a_thousand_batches)
{
	const unsigned int batches = rounds("OURO_BEHIND", 1000, 100),
			   places = rounds("OURO_PLACES", 512, 32);
	struct drm_ouro_stats before, after;
	unsigned int hung, e, i, n;
	struct place place;
	__u64 reset, resets;

	if (getparam(self->fd, I915_PARAM_HAS_GPU_RESET) != 2 || !self->gpu.ouro)
		SKIP(return, "engines are not reset alone (HAS_GPU_RESET is not 2)");
	if (self->gpu.speaks != &i915)
		SKIP(return, "this is about engines with a ring each");
	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_counter(&place, COUNTER_RESETS, &reset))
		SKIP(return, "not a model: engines' requests are not counted");
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 1000));
	for (hung = 0; hung < self->gpu.n_engines; hung++) {
		__u32 guilty = context_create(self->fd), targets[8];
		struct drm_i915_reset_stats blame = {};
		__u64 done[8];
		struct spin spin;
		int fence, status = 0;

		ASSERT_EQ(0, stats_settled(self->fd, &before));
		ASSERT_EQ(0, model_counter(&place, COUNTER_RESETS, &reset));
		for (e = 0; e < self->gpu.n_engines; e++) {
			targets[e] = gem_create(self->fd, 8 * places);
			done[e] = completed(&place, &self->gpu.engines[e]);
		}
		ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[hung], guilty, 0, &fence,
					&spin));
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2_WR");
		/* to the reset, and on */
		for (n = 0, i = 0; n < batches || i < batches / 4; n++) {
			struct pollfd ended = { .fd = fence, .events = POLLIN };

			for (e = 0; e < self->gpu.n_engines; e++) {
				const struct engine *engine = &self->gpu.engines[e];
				__u32 at = n % places * 8;

				if (e != hung)
					ASSERT_EQ(0, store(&self->gpu, engine, 0, targets[e], at,
							   n + 1));
			}
			i += poll(&ended, 1, 0) == 1;
		}
		/* some were before */
		EXPECT_LT(i, n);
		printf("# cover: batches beside a hang of %s: %u, and %u behind its reset\n",
		       self->gpu.engines[hung].name, n - i, i);
		status = fence_status(fence);
		EXPECT_EQ(-EIO, status);
		for (e = 0; e < self->gpu.n_engines; e++) {
			for (i = 0; e != hung && i < places; i++) {
				__u32 last = n - (n - 1 - i) % places;

				EXPECT_EQ(last, gem_read32(self->fd, targets[e], 8 * i));
			}
			gem_close(self->fd, targets[e]);
			/* the interrupt is behind the number that says that it is done */
			for (i = 0; i < 1000 && completed(&place, &self->gpu.engines[e]) <
							done[e] + (e == hung ? 1 : n); i++)
				usleep(1000);
			/* of the one that hung, the end without its batch, behind the reset */
			EXPECT_EQ(e == hung ? 1 : n,
				  completed(&place, &self->gpu.engines[e]) - done[e])
			{
				TH_LOG("%s, while %s hung", self->gpu.engines[e].name,
				       self->gpu.engines[hung].name);
			}
		}
		/* twice, as the first one may be lost; of three engines it would be six */
		ASSERT_EQ(0, model_counter(&place, COUNTER_RESETS, &resets));
		EXPECT_EQ(2, resets - reset);
		GOOD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, &blame);
		EXPECT_EQ(0, blame.batch_active);
		EXPECT_EQ(0, blame.batch_pending);
		blame.ctx_id = guilty;
		GOOD(self->fd, DRM_IOCTL_I915_GET_RESET_STATS, &blame);
		EXPECT_EQ(1, blame.batch_active);
		close(fence);
		spin_free(&spin);
		context_destroy(self->fd, guilty);
		ASSERT_EQ(0, stats_settled(self->fd, &after));
		EXPECT_EQ(1, after.resets - before.resets);
	}
	fflush(stdout);
	ASSERT_EQ(0, device_hang_ms(&self->gpu, HANG_MS));
}

/*
 * Each of some clients hangs the same engine, which gives them time slices. Each is found once: no
 * reset hits another client's slice, and the error state names the client of the first one.
 */
TEST_F(hang, several_on_one_engine)
{
	/* again where they take turns: it depends on whose turn it is */
	const unsigned int times = self->gpu.speaks == &i915 ? 1 : 2;
	enum { CLIENTS = 3 };
	struct drm_ouro_stats before, after;
	struct stat st;
	char path[64], text[4096] = "";
	unsigned int time, i;
	int file;

	if (!self->gpu.ouro)
		SKIP(return, "another driver does not count its resets");
	ASSERT_EQ(0, device_hang_ms(&self->gpu, 900));
	ASSERT_EQ(0, fstat(self->fd, &st));
	snprintf(path, sizeof(path), "/sys/class/drm/card%u/error", minor(st.st_rdev) & 63);
	file = open(path, O_RDWR);
	ASSERT_LE(0, file);
	for (time = 0; time < times; time++) {
		struct gpu clients[CLIENTS];
		struct spin spins[CLIENTS];
		int fences[CLIENTS];

		/* whatever is there is forgotten */
		ASSERT_EQ(1, write(file, "x", 1));
		ASSERT_EQ(0, stats_settled(self->fd, &before));
		for (i = 0; i < CLIENTS; i++) {
			ASSERT_EQ(0, gpu_open(&clients[i]));
			ASSERT_EQ(0, hang_start(&clients[i], &clients[i].engines[0], 0, 0,
						&fences[i], &spins[i]));
		}
		for (i = 0; i < CLIENTS; i++) {
			struct drm_i915_reset_stats stats = {};

			EXPECT_EQ(-EIO, fence_status(fences[i]));
			GOOD(clients[i].fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats);
			EXPECT_EQ(1, stats.batch_active);
			close(fences[i]);
			munmap(spins[i].map, PAGE);
			gpu_close(&clients[i]);
		}
		ASSERT_EQ(0, stats_settled(self->fd, &after));
		EXPECT_EQ(CLIENTS, after.resets - before.resets);
		memset(text, 0, sizeof(text));
		ASSERT_LT(0, pread(file, text, sizeof(text) - 1, 0));
		EXPECT_NE(NULL, strstr(text, "\nprocess: hang["))
		{
			TH_LOG("%.300s", text);
		}
	}
	EXPECT_EQ(1, write(file, "x", 1));
	close(file);
	ASSERT_EQ(0, device_hang_ms(&self->gpu, HANG_MS));
}

TEST_HARNESS_MAIN

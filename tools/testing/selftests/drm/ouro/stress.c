// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile load: sixteen threads in four processes make calls at random, on
 * files that all have and on their own, with arguments that are right, at the
 * limits, or garbage; what one uses, another closes. Afterwards nothing is left.
 *
 * OURO_SEED is where the random numbers begin, OURO_STRESS how many rounds each
 * thread makes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#define HANGS
#define ANY_I915
#define MUTE_ENGINES
#include "test.h"
#include "device.h"
#include "stress.h"

FIXTURE(stress)
{
	struct gpu gpu;
	struct place place;
	struct crowd *crowd;
};

FIXTURE_SETUP(stress)
{
	gpu_setup(_metadata, &self->gpu);
	if (!self->gpu.ouro)
		SKIP(return, "what is left is not counted: the driver has no DRM_IOCTL_OURO_STATS");
	ASSERT_EQ(0, device_of(self->gpu.fd, &self->place));
	self->crowd = mmap(NULL, sizeof(*self->crowd), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->crowd);
	self->crowd->gpu = self->gpu;
	self->crowd->seed = rounds("OURO_SEED", 2026, 2026);
}

FIXTURE_TEARDOWN(stress)
{
	gpu_close(&self->gpu);
}

static void start(struct crowd *crowd, pid_t *processes, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		processes[i] = fork();
		if (processes[i] == 0)
			_exit(stress_process(crowd, i));
	}
}

static void finish(struct __test_metadata *_metadata, pid_t *processes, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		int status = -1;

		ASSERT_EQ(processes[i], waitpid(processes[i], &status, 0));
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
		{
			TH_LOG("process %u ended with %#x", i, status);
		}
	}
}

/* Checks what is left when all files are closed, and that the device works. */
static void nothing_is_left(struct __test_metadata *_metadata, struct stress_counts *counts)
{
	struct drm_ouro_stats stats;
	struct gpu gpu;
	__u32 handle;
	unsigned int i;

	ASSERT_EQ(0, gpu_open(&gpu));
	/* it works; and what an engine has loaded last is this file's */
	handle = gem_create(gpu.fd, PAGE);
	for (i = 0; i < gpu.n_engines; i++) {
		ASSERT_EQ(0, store(&gpu, &gpu.engines[i], 0, handle, 8 * i, 0x900d + i));
		EXPECT_EQ(0x900d + i, gem_read32(gpu.fd, handle, 8 * i));
	}
	gem_close(gpu.fd, handle);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, stats_settled(gpu.fd, &stats));
		if (!stats.objects && !stats.object_pages && stats.contexts == 2)
			break;
	}
	EXPECT_EQ(0, stats.objects);
	EXPECT_EQ(0, stats.object_bytes);
	EXPECT_EQ(0, stats.object_pages);
	EXPECT_EQ(0, stats.fences);
	/* that of this file, and the kernel's own */
	EXPECT_EQ(2, stats.contexts);
	gpu_close(&gpu);
	EXPECT_EQ(0, counts->odd)
	{
		TH_LOG("%u answers that no call documents, the last: %s said %s", counts->odd,
		       counts->odd_name, strerror(counts->odd_errno));
	}
	printf("# cover: stress calls: %u, of them good: %u, batches run: %u, ", counts->calls,
	       counts->good, counts->batches);
	printf("engines' resets: %llu\n", stats.resets);
	fflush(stdout);
}

/* As long as it takes on the debug kernel, and longer when it is asked to be longer. */
enum { LIMIT = 1200 };

TEST_F_TIMEOUT(stress, sixteen_threads_in_four_processes, LIMIT + 10)
{
	pid_t processes[4];

	alarm(LIMIT);
	self->crowd->rounds = rounds("OURO_STRESS", 150, 40);
	gpu_close(&self->gpu);
	self->gpu.fd = -1;
	stress_open_shared(self->crowd);
	start(self->crowd, processes, ARRAY_LEN(processes));
	stress_close_shared(self->crowd);
	finish(_metadata, processes, ARRAY_LEN(processes));
	/* 150 rounds of 16 threads make some thousands; a crowd that fails at all did nothing */
	EXPECT_LT(16 * self->crowd->rounds, self->crowd->counts.calls);
	EXPECT_LT(self->crowd->rounds, self->crowd->counts.good);
	EXPECT_LT(0, self->crowd->counts.batches);
	nothing_is_left(_metadata, &self->crowd->counts);
}

/* The device goes in the middle of it. */
TEST_F_TIMEOUT(stress, and_the_device_goes, LIMIT + 10)
{
	pid_t processes[4];

	alarm(LIMIT);
	/* until they are told to stop */
	self->crowd->rounds = ~0u;
	gpu_close(&self->gpu);
	self->gpu.fd = -1;
	stress_open_shared(self->crowd);
	start(self->crowd, processes, ARRAY_LEN(processes));
	stress_close_shared(self->crowd);
	while (__atomic_load_n(&self->crowd->counts.batches, __ATOMIC_RELAXED) < 20)
		usleep(10000);
	poke(&self->crowd->unbinds, 1);
	EXPECT_EQ(0, device_unbind(&self->place));
	usleep(100000);
	poke(&self->crowd->stop, 1);
	finish(_metadata, processes, ARRAY_LEN(processes));
	ASSERT_EQ(0, device_bind(&self->place));
	nothing_is_left(_metadata, &self->crowd->counts);
}

TEST_HARNESS_MAIN

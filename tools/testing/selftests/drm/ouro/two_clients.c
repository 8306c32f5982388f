// SPDX-License-Identifier: GPL-2.0
/* Two clients at once: each sees its own work and none of the other's memory. */
#define TOPIC two_clients
#define ANY_INTERFACE
#define MUTE_ENGINES
#include "test.h"

enum { WORDS = 64, ROUNDS = 24 };

/* A client: stores and reads back its own numbers. 0 if all is right. */
static int client(__u32 seed)
{
	struct gpu gpu;
	__u32 target, context[2];
	unsigned int i, round;
	int wrong = 0;

	if (gpu_open(&gpu))
		return 100;
	target = gem_create(gpu.fd, PAGE);
	context[0] = context_create(gpu.fd);
	context[1] = context_create(gpu.fd);
	for (round = 0; round < ROUNDS; round++) {
		const struct engine *engine = &gpu.engines[(round + seed) % gpu.n_engines];
		struct stores list = { .handle = target,
				       .step = 8,
				       .n = WORDS,
				       .value = seed + round * WORDS };

		if (store_list(&gpu, engine, context[round & 1], &list))
			return 101;
		for (i = 0; i < WORDS; i += 7)
			wrong += gem_read32(gpu.fd, target, 8 * i) != seed + round * WORDS + i;
	}
	gpu_close(&gpu);
	return wrong > 99 ? 99 : wrong;
}

TEST_F(two_clients, at_the_same_time)
{
	pid_t pids[3];
	unsigned int i;
	int status;

	for (i = 0; i < ARRAY_LEN(pids); i++) {
		pids[i] = fork();
		ASSERT_GE(pids[i], 0);
		if (pids[i] == 0)
			_exit(client((i + 1) * 0x01000000));
	}
	for (i = 0; i < ARRAY_LEN(pids); i++) {
		ASSERT_EQ(pids[i], waitpid(pids[i], &status, 0));
		EXPECT_EQ(0, status)
		{
			TH_LOG("client %u: %d", i, WEXITSTATUS(status));
		}
	}
}

/* Pages that one client filled come to another one empty. */
TEST_F(two_clients, memory_comes_empty)
{
	enum { SIZE = 64 * 4096 };
	static __u8 bytes[SIZE], zero[SIZE];
	unsigned int round;

	for (round = 0; round < 6; round++) {
		struct gpu a, b;
		__u32 handle;

		ASSERT_EQ(0, gpu_open(&a));
		handle = gem_create(a.fd, SIZE);
		memset(bytes, 0xee, SIZE);
		ASSERT_EQ(0, gem_write(a.fd, handle, 0, bytes, SIZE));
		ASSERT_EQ(0, store(&a, &a.engines[0], 0, handle, 0, 0xeeeeeeee));
		gpu_close(&a);
		ASSERT_EQ(0, gpu_open(&b));
		handle = gem_create(b.fd, SIZE);
		ASSERT_EQ(0, gem_read(b.fd, handle, 0, bytes, SIZE));
		EXPECT_EQ(0, memcmp(bytes, zero, SIZE));
		gpu_close(&b);
	}
}

/* A file that is closed while the GPU works for it: nothing is left of it, and others go on. */
TEST_F(two_clients, one_leaves_in_the_middle)
{
	__u32 target = gem_create(self->fd, PAGE);
	unsigned int i;

	for (i = 0; i < 24; i++) {
		struct gpu other;
		__u32 handle;

		ASSERT_EQ(0, gpu_open(&other));
		handle = gem_create(other.fd, 16 * PAGE);
		ASSERT_EQ(0, store(&other, &other.engines[i % other.n_engines],
				   context_create(other.fd), handle, 64, i));
		gpu_close(&other);
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[i % self->gpu.n_engines], 0,
				   target, 8 * i, i + 1));
	}
	for (i = 0; i < 24; i++)
		EXPECT_EQ(i + 1, gem_read32(self->fd, target, 8 * i));
}

/* A process that dies with a batch that never ends: killed, and the device is there for others. */
TEST_F(two_clients, one_dies_while_waiting)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct spin spin;
	int status;
	pid_t pid;

	if (!has_spin(&self->gpu))
		SKIP(return, NO_SPIN);
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	pid = fork();
	if (pid == 0) {
		/*
		 * Behind the endless one on its ring: waits until it is killed. Where
		 * contexts take turns it may be done before, and then waits for nothing.
		 */
		struct gpu other;
		__u32 handle;

		if (gpu_open(&other))
			_exit(1);
		handle = gem_create(other.fd, PAGE);
		if (store(&other, &other.engines[0], 0, handle, 0, 1))
			_exit(2);
		gem_wait(other.fd, handle, -1);
		pause();
		_exit(0);
	}
	usleep(100000);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	spin_stop(&spin);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 77));
	EXPECT_EQ(77, gem_read32(self->fd, target, 0));
	spin_free(&spin);
}

TEST_HARNESS_MAIN

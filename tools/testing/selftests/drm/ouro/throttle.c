// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_THROTTLE: waits for what the caller submitted more than 20 ms ago. */
#include <signal.h>
#include <sys/ioctl.h>

#define TOPIC throttle
#define ANY_I915
#define MUTE_ENGINES
#include "test.h"

static int throttle(int fd)
{
	return call(fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL);
}

TEST_F(throttle, returns_at_once_when_nothing_is_old)
{
	GOOD(self->fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, gem_create(self->fd, PAGE), 0, 1));
	GOOD(self->fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL);
}

TEST_F(throttle, waits_for_old_requests)
{
	__u32 contexts[2] = { 0, context_create(self->fd) };
	unsigned int i, e;

	for (i = 0; i < ARRAY_LEN(contexts); i++) {
		for (e = 0; e < self->gpu.n_engines; e++) {
			struct spin spin;
			int status;
			pid_t pid;

			ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[e], contexts[i], 0,
						NULL, &spin));
			usleep(40000);
			/* the file is the parent's, so that the request is the child's too */
			pid = fork();
			ASSERT_LE(0, pid);
			if (pid == 0)
				_exit(throttle(self->fd) ? 1 : 0);
			usleep(30000);
			EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
			spin_stop(&spin);
			ASSERT_EQ(pid, waitpid(pid, &status, 0));
			EXPECT_EQ(0, status);
			cover("DRM_IOCTL_I915_GEM_THROTTLE");
			EXPECT_EQ(0, gem_busy(self->fd, spin.handle));
			spin_free(&spin);
		}
	}
}

/* Many after the first one: what is old is still known. */
TEST_F(throttle, finds_the_old_one_among_many)
{
	__u32 handle = gem_create(self->fd, PAGE);
	struct spin spin;
	int status, i;
	pid_t pid;

	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	for (i = 0; i < 60; i++) {
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 0, i));
		usleep(1000);
	}
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0)
		_exit(throttle(self->fd) ? 1 : 0);
	usleep(30000);
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	spin_stop(&spin);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, gem_busy(self->fd, spin.handle));
	spin_free(&spin);
}

static void nothing(int signal)
{
}

TEST_F(throttle, a_signal_ends_it)
{
	struct sigaction act = { .sa_handler = nothing };
	struct spin spin;
	pid_t pid;
	int got;

	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	usleep(40000);
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0) {
		/* until it is heard: the first ones may come before the call */
		for (;;) {
			usleep(20000);
			kill(getppid(), SIGUSR1);
		}
	}
	cover("DRM_IOCTL_I915_GEM_THROTTLE");
	got = ioctl(self->fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL) ? -errno : 0;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	EXPECT_EQ(-EINTR, got);
	EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
	spin_stop(&spin);
	spin_free(&spin);
}

TEST_F(throttle, another_client_is_not_waited_for)
{
	struct gpu other;
	struct spin spin;

	ASSERT_EQ(0, gpu_open(&other));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	usleep(40000);
	GOOD(other.fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL);
	EXPECT_EQ(1, gem_busy(self->fd, spin.handle));
	spin_stop(&spin);
	spin_free(&spin);
	gpu_close(&other);
}

TEST_HARNESS_MAIN

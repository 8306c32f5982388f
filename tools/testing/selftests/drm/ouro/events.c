// SPDX-License-Identifier: GPL-2.0
/*
 * What user space is told when an engine hangs: kernel events of the device
 * (uapi.rst, "Files about a device"), as a netlink socket has them.
 */
#include <linux/netlink.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define HANGS
#define ANY_I915
#define MUTE_ENGINES
#include "test.h"

/* Milliseconds that an event may take. */
#define PATIENCE 60000

FIXTURE(events)
{
	struct gpu gpu;
	struct place place;
	int fd;
	int socket;
	/* of the primary node, in an event */
	char devname[32];
};

FIXTURE_SETUP(events)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	struct stat st;

	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!self->gpu.ouro)
		SKIP(return, "another driver may send others besides");
	ASSERT_EQ(0, device_of(self->fd, &self->place));
	ASSERT_EQ(0, fstat(self->fd, &st));
	snprintf(self->devname, sizeof(self->devname), "DEVNAME=dri/card%u",
		 minor(st.st_rdev) & 63);
	self->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	ASSERT_LE(0, self->socket);
	ASSERT_EQ(0, bind(self->socket, (struct sockaddr *)&address, sizeof(address)));
}

FIXTURE_TEARDOWN(events)
{
	if (self->gpu.ouro)
		close(self->socket);
	gpu_close(&self->gpu);
}

/* A variable of an event, which is text after text. */
static bool has(const char *event, size_t len, const char *variable)
{
	const char *at;

	for (at = event; at < event + len; at += strlen(at) + 1)
		if (!strcmp(at, variable))
			return true;
	return false;
}

/* The next event: 'e' ERROR=1, 'r' RESET=1, 'o' ERROR=0, '?' another, 0 none in time. */
static char next(int socket, const char *devname)
{
	struct pollfd ready = { .fd = socket, .events = POLLIN };
	char event[8192];
	ssize_t len;

	while (poll(&ready, 1, PATIENCE) == 1) {
		len = recv(socket, event, sizeof(event) - 1, 0);
		if (len <= 0)
			return 0;
		event[len] = 0;
		if (!has(event, len, "SUBSYSTEM=drm") || !has(event, len, devname))
			continue;
		if (!has(event, len, "ACTION=change"))
			return '?';
		return has(event, len, "ERROR=1") ? 'e' :
		       has(event, len, "RESET=1") ? 'r' :
		       has(event, len, "ERROR=0") ? 'o' :
						    '?';
	}
	return 0;
}

static int wait_for(int fence)
{
	struct pollfd p = { .fd = fence, .events = POLLIN };
	struct sync_file_info info = {};

	if (poll(&p, 1, PATIENCE) != 1)
		return -ETIME;
	return ioctl(fence, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

TEST_F(events, a_hang_and_its_reset)
{
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		__u32 guilty = context_create(self->fd);
		struct spin spin;
		int fence = -1;

		ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[i], guilty, 0, &fence,
					&spin));
		cover("uevent");
		EXPECT_EQ('e', next(self->socket, self->devname));
		EXPECT_EQ('r', next(self->socket, self->devname));
		EXPECT_EQ('o', next(self->socket, self->devname));
		EXPECT_EQ(-EIO, wait_for(fence));
		close(fence);
		spin_free(&spin);
	}
}

/* A client that is gone causes no event: the next event is that of the hang after it. */
TEST_F(events, none_for_what_nobody_wants)
{
	struct drm_i915_gem_context_param param = { .ctx_id = context_create(self->fd),
						    .param = I915_CONTEXT_PARAM_PERSISTENCE };
	__u32 guilty = context_create(self->fd);
	struct spin unwanted, spin;
	int fence = -1;

	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], param.ctx_id, 0, &fence,
				&unwanted));
	ASSERT_EQ(0, context_destroy(self->fd, param.ctx_id));
	EXPECT_EQ(-EIO, wait_for(fence));
	close(fence);
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], guilty, 0, NULL, &spin));
	cover("uevent");
	EXPECT_EQ('e', next(self->socket, self->devname));
	EXPECT_EQ('r', next(self->socket, self->devname));
	EXPECT_EQ('o', next(self->socket, self->devname));
	spin_free(&unwanted);
	spin_free(&spin);
}

/* A device that is given up does not say that it is over, until it is brought back. */
TEST_F(events, given_up)
{
	char path[128];
	struct stat st;
	struct spin spin;
	FILE *wedged;
	int fence;

	if (model_fault(&self->place, FAULT_NONE))
		SKIP(return, "not a model: its resets work when they like");
	ASSERT_EQ(0, model_fault(&self->place, FAULT_STUCK_RESET));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], context_create(self->fd), 0,
				&fence, &spin));
	cover("uevent");
	EXPECT_EQ('e', next(self->socket, self->devname));
	EXPECT_EQ('r', next(self->socket, self->devname));
	EXPECT_EQ(-EIO, wait_for(fence));
	close(fence);
	EXPECT_EQ(0, model_fault(&self->place, FAULT_NONE));
	ASSERT_EQ(0, fstat(self->fd, &st));
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/i915_wedged", minor(st.st_rdev));
	wedged = fopen(path, "w");
	ASSERT_NE(NULL, wedged);
	fprintf(wedged, "-1");
	ASSERT_EQ(0, fclose(wedged));
	EXPECT_EQ('r', next(self->socket, self->devname));
	EXPECT_EQ('o', next(self->socket, self->devname));
	spin_free(&spin);
}

TEST_HARNESS_MAIN

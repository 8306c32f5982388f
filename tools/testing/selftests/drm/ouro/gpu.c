// SPDX-License-Identifier: GPL-2.0
/* The device, and what all interfaces have: see gpu.h. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "gpu.h"
#include "batch_local.h"
#include "radeon.h"

/* What the device speaks that was opened last: it is the one that a program asks for objects. */
static const struct interface *speaks = &i915;

bool mute_engines;

int call(int fd, unsigned long request, void *argument)
{
	int got;

	do {
		got = ioctl(fd, request, argument);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : 0;
}

static bool has_name(int fd, const char *interface)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	return call(fd, DRM_IOCTL_VERSION, &version) == 0 && strcmp(name, interface) == 0;
}

static bool is_wanted(int fd, const char *interface)
{
	if (interface)
		return has_name(fd, interface);
	return has_name(fd, i915.name) || has_name(fd, radeon.name);
}

/*
 * The node that the environment asks for, or the first that speaks an interface
 * (NULL: either).
 */
static int find_node(const char *interface)
{
	char path[300], first[300] = "";
	struct dirent *entry;
	const char *asked = getenv("OURO_NODE");
	DIR *dir;
	int fd;

	if (asked) {
		fd = open(asked, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (is_wanted(fd, interface))
			return fd;
		close(fd);
		return -ENODEV;
	}
	dir = opendir("/dev/dri");
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, "renderD", 7))
			continue;
		snprintf(path, sizeof(path), "/dev/dri/%s", entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_wanted(fd, interface) && (!first[0] || strcmp(path, first) < 0))
			memcpy(first, path, sizeof(first));
		close(fd);
	}
	closedir(dir);
	if (!first[0])
		return -ENODEV;
	fd = open(first, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int radeon_open(void)
{
	return find_node(radeon.name);
}

int gpu_open(struct gpu *gpu)
{
	struct drm_ouro_device device = {};

	memset(gpu, 0, sizeof(*gpu));
	gpu->fd = find_node(NULL);
	if (gpu->fd < 0)
		return gpu->fd;
	speaks = has_name(gpu->fd, radeon.name) ? &radeon :
		 is_local(gpu->fd)		? &i915_local :
						  &i915;
	gpu->speaks = speaks;
	gpu->ouro = call(gpu->fd, DRM_IOCTL_OURO_DEVICE, &device) == 0;
	return speaks->identify(gpu);
}

void gpu_close(struct gpu *gpu)
{
	if (gpu->fd > 0)
		close(gpu->fd);
}

__u32 gem_create(int fd, __u64 size)
{
	return speaks->create(fd, size);
}

int gem_close(int fd, __u32 handle)
{
	struct drm_gem_close close = { .handle = handle };

	return call(fd, DRM_IOCTL_GEM_CLOSE, &close);
}

void *gem_map(int fd, __u32 handle, __u64 size, __u64 how)
{
	return speaks->map(fd, handle, size, how);
}

int gem_write(int fd, __u32 handle, __u64 offset, const void *data, __u64 size)
{
	return speaks->write(fd, handle, offset, data, size);
}

int gem_read(int fd, __u32 handle, __u64 offset, void *data, __u64 size)
{
	return speaks->read(fd, handle, offset, data, size);
}

__u32 gem_read32(int fd, __u32 handle, __u64 offset)
{
	__u32 value = 0xdeadbeef;

	gem_read(fd, handle, offset, &value, sizeof(value));
	return value;
}

int gem_wait(int fd, __u32 handle, __s64 timeout)
{
	return speaks->wait(fd, handle, timeout);
}

int gem_busy(int fd, __u32 handle)
{
	return speaks->busy(fd, handle);
}

__u32 context_create(int fd)
{
	return speaks->context ? speaks->context(fd) : 0;
}

int context_destroy(int fd, __u32 id)
{
	return speaks->context_end ? speaks->context_end(fd, id) : 0;
}

int store_list(const struct gpu *gpu, const struct engine *engine, __u32 context,
	       const struct stores *list)
{
	return gpu->speaks->stores(gpu, engine, context, list);
}

int store(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 handle,
	  __u32 offset, __u32 value)
{
	struct stores one = { .handle = handle, .offset = offset, .n = 1, .value = value };

	return store_list(gpu, engine, context, &one);
}

bool addresses_chosen(void)
{
	return speaks == &i915_local;
}

bool has_spin(const struct gpu *gpu)
{
	return gpu->speaks->endless;
}

int spin_start(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 extra,
	       int *fence, struct spin *spin)
{
	if (!has_spin(gpu))
		return -EOPNOTSUPP;
	return gpu->speaks->endless(gpu, engine, context, extra, fence, true, spin);
}

int hang_start(const struct gpu *gpu, const struct engine *engine, __u32 context, __u32 extra,
	       int *fence, struct spin *spin)
{
	if (!has_spin(gpu))
		return -EOPNOTSUPP;
	return gpu->speaks->endless(gpu, engine, context, extra, fence, false, spin);
}

void spin_stop(struct spin *spin)
{
	if (spin->map)
		poke(spin->map, spin->end);
}

void spin_free(struct spin *spin)
{
	spin_stop(spin);
	if (spin->map)
		munmap(spin->map, PAGE);
	if (spin->handle)
		gem_close(spin->fd, spin->handle);
	memset(spin, 0, sizeof(*spin));
}

/*
 * Coverage: the harness runs each test in a process of its own, so the table
 * lies in shared memory, and the process that made it prints it.
 */
struct case_count {
	char name[48];
	unsigned int cases;
};

static struct case_count *counts;
static pid_t first_process;
enum { MOST = 64 };

static void __attribute__((constructor)) cover_start(void)
{
	counts = mmap(NULL, sizeof(*counts) * MOST, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		counts = NULL;
	first_process = getpid();
}

static void __attribute__((destructor)) cover_end(void)
{
	int i;

	if (!counts || getpid() != first_process)
		return;
	for (i = 0; i < MOST && counts[i].cases; i++)
		printf("# cover: ioctl %s %u cases (%s)\n", counts[i].name, counts[i].cases,
		       program_invocation_short_name);
}

void cover(const char *request)
{
	static const char prefix[] = "DRM_IOCTL_";
	int i;

	if (!counts)
		return;
	if (!strncmp(request, prefix, sizeof(prefix) - 1))
		request += sizeof(prefix) - 1;
	for (i = 0; i < MOST; i++) {
		if (!counts[i].cases)
			snprintf(counts[i].name, sizeof(counts[i].name), "%s", request);
		if (!strncmp(counts[i].name, request, sizeof(counts[i].name) - 1)) {
			__atomic_fetch_add(&counts[i].cases, 1, __ATOMIC_RELAXED);
			return;
		}
	}
}

int fence_status(int fence)
{
	struct pollfd p = { .fd = fence, .events = POLLIN };
	struct sync_file_info info = {};

	/* longer than anything that a hang makes wait */
	if (poll(&p, 1, 120000) != 1)
		return -ETIME;
	if (ioctl(fence, SYNC_IOC_FILE_INFO, &info))
		return -errno;
	return info.status;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What a driver costs beside its calls: time to load, to sleep, and to recover from a hang; memory
 * of a client, a context and an object.
 *
 *	life_cost load FILE [PARAMETERS]	loads a module, whose dependencies are loaded
 *	life_cost memory objects|contexts|clients	1,000 of them
 *	life_cost hang				a batch that never ends
 *	life_cost slept BUS-ID			the log of a suspend with pm_print_times
 *	life_cost profile NAME COMMAND		COMMAND between marks, as a call of a profile
 *
 * Times are printed in nanoseconds of the guest's clock, of which an instruction takes one where
 * QEMU counts them, and waits take what they take, as
 *
 *	figure NAME TIME TIME
 *
 * and memory in bytes of one, all of it and of that in slabs, as
 *
 *	memory NAME ALL SLABS
 *
 * Free lists of each processor make it inexact: by 0.2 KiB of one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpu.h"
#include "mark.h"

#define COUNT 1000
#define LOG_BYTES (4 << 20)

static void fail(const char *what)
{
	printf("life_cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void took(const char *name, double ns)
{
	printf("figure %s %.0f %.0f\n", name, ns, ns);
	fflush(stdout);
}

static void load(const char *file, const char *parameters)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	double begin = now();

	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		fail(file);
	took("load", now() - begin);
	close(fd);
}

struct used {
	long all, slabs;
};

static struct used in_use_now(void)
{
	struct used used = { 0, 0 };
	char line[128];
	long value;
	FILE *file;

	file = fopen("/proc/meminfo", "r");
	if (!file)
		fail("/proc/meminfo");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemFree: %ld", &value) == 1)
			used.all = -value * 1024;
		if (sscanf(line, "Slab: %ld", &value) == 1)
			used.slabs = value * 1024;
	}
	fclose(file);
	return used;
}

/* Bytes in use. What was freed a moment ago is free only after RCU and workers. */
static struct used in_use(void)
{
	struct used used = in_use_now(), last;
	int i = 0;

	do {
		last = used;
		usleep(500000);
		used = in_use_now();
	} while (labs(used.all - last.all) > 16 * (long)PAGE && i++ < 20);
	return used;
}

static struct used before;

static void grew(const char *name)
{
	struct used now = in_use();

	printf("memory %s %ld %ld\n", name, (now.all - before.all) / COUNT,
	       (now.slabs - before.slabs) / COUNT);
	fflush(stdout);
	before = now;
}

static __u32 target;

static void run(const struct gpu *gpu, __u32 context, __u32 handle)
{
	if (store(gpu, &gpu->engines[0], context, handle, 0, 1) || gem_wait(gpu->fd, handle, -1))
		fail("a batch");
}

static void clients(void)
{
	static struct gpu all[COUNT];
	struct gpu *gpu;

	before = in_use();
	for (gpu = all; gpu < all + COUNT; gpu++)
		if (gpu_open(gpu))
			fail("open");
	grew("client");
	for (gpu = all; gpu < all + COUNT; gpu++) {
		__u32 handle = gem_create(gpu->fd, PAGE);

		run(gpu, 0, handle);
		gem_close(gpu->fd, handle);
	}
	grew("client-first-batch");
	for (gpu = all; gpu < all + COUNT; gpu++)
		gpu_close(gpu);
}

static void contexts(const struct gpu *gpu)
{
	static __u32 all[COUNT];
	int i;

	before = in_use();
	for (i = 0; i < COUNT; i++) {
		all[i] = context_create(gpu->fd);
		if (!all[i])
			return;
	}
	grew("context");
	for (i = 0; i < COUNT; i++)
		run(gpu, all[i], target);
	grew("context-first-batch");
	for (i = 0; i < COUNT; i++)
		context_destroy(gpu->fd, all[i]);
}

static void objects(const struct gpu *gpu)
{
	static __u32 all[COUNT];
	int i;

	before = in_use();
	for (i = 0; i < COUNT; i++) {
		all[i] = gem_create(gpu->fd, PAGE);
		if (!all[i])
			fail("GEM_CREATE");
	}
	grew("object");
	for (i = 0; i < COUNT; i++)
		run(gpu, 0, all[i]);
	grew("object-first-batch");
	for (i = 0; i < COUNT; i++)
		gem_close(gpu->fd, all[i]);
}

/* One kind for each boot: another one would find memory that was freed. */
static void memory(const char *kind)
{
	struct rlimit files = { 2 * COUNT, 2 * COUNT };
	struct gpu gpu;

	if (setrlimit(RLIMIT_NOFILE, &files))
		fail("setrlimit");
	if (gpu_open(&gpu))
		fail("no render node");
	target = gem_create(gpu.fd, PAGE);
	run(&gpu, 0, target);
	if (!strcmp(kind, "objects"))
		objects(&gpu);
	else if (!strcmp(kind, "contexts"))
		contexts(&gpu);
	else
		clients();
}

/* From the call to the end of a batch of another client, which waits behind it. */
static void never_ends(void)
{
	struct gpu gpu, other;
	struct pollfd end;
	struct spin spin;
	double begin;

	if (gpu_open(&gpu) || gpu_open(&other))
		fail("no render node");
	target = gem_create(other.fd, PAGE);
	run(&other, 0, target);
	begin = now();
	errno = -hang_start(&gpu, &gpu.engines[0], 0, 0, &end.fd, &spin);
	if (errno == EOPNOTSUPP) {
		printf("# no hang: streams of this interface cannot jump\n");
		return;
	}
	if (errno)
		fail("no batch that hangs");
	run(&other, 0, target);
	took("hang-to-recovered", now() - begin);
	end.events = POLLIN;
	if (poll(&end, 1, 60000) != 1)
		fail("it goes on");
}

/* "... BUS-ID: PM: pci_pm_suspend returned 0 after 17 usecs", for each phase */
static void slept(const char *device)
{
	char *text = malloc(LOG_BYTES), *line, *rest, *at, phase[32], mark[64];
	long suspend = 0, resume = 0, usecs;
	int len = klogctl(3, text, LOG_BYTES - 1);

	if (len < 0)
		fail("klogctl");
	text[len] = 0;
	snprintf(mark, sizeof(mark), "%s: PM: pci_pm_", device);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		at = strstr(line, mark);
		if (!at)
			continue;
		at += strlen(mark);
		if (sscanf(at, "%31s returned %*d after %ld usecs", phase, &usecs) != 2)
			continue;
		if (!strncmp(phase, "suspend", 7))
			suspend += usecs;
		else if (!strncmp(phase, "resume", 6))
			resume += usecs;
	}
	took("suspend", suspend * 1e3);
	took("resume", resume * 1e3);
}

/* What the command executes is counted by QEMU's plugin. */
static int run_marked(const char *name, const char *command)
{
	int status;

	mark_begin();
	status = system(command);
	mark_end();
	printf("profile %s 1\n", name);
	return status ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "load") && argc > 2)
		load(argv[2], argc > 3 ? argv[3] : "");
	else if (!strcmp(what, "memory") && argc > 2)
		memory(argv[2]);
	else if (!strcmp(what, "hang"))
		never_ends();
	else if (!strcmp(what, "slept") && argc > 2)
		slept(argv[2]);
	else if (!strcmp(what, "profile") && argc > 3)
		return run_marked(argv[2], argv[3]);
	else
		return 2;
	return 0;
}

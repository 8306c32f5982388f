/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a call costs: the part that clients of all interfaces share.
 *
 * Each case is run ROUNDS times; the median and the least are printed, in nanoseconds a call, as
 *
 *     figure NAME MEDIAN LEAST
 *
 * The least has no timer's interrupt and no other thread in it. On a modelled GPU, what the model
 * counted in the rounds, with the waits between them, follows as
 *
 *     count NAME ACCESSES LOADS INTERRUPTS
 *
 * a call: register accesses, lists loaded and interrupts.
 *
 * The row that the environment's PROFILE names is between marks (mark.h), with the waits of its
 * rounds; its number of calls is printed as
 *
 *     profile NAME CALLS
 *
 * Where QEMU counts instructions (-icount shift=0), a nanosecond of the guest's clock is one of
 * them.
 */
#ifndef OURO_BENCH_MEASURE_H
#define OURO_BENCH_MEASURE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

#define ROUNDS 15
#define PAGE 4096
#define MIB 0x100000

static int card;
static double rounds[ROUNDS];

static void fail(const char *what)
{
	printf("cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int try_call(unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(card, request, arg);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	return ret;
}

static void call(unsigned long request, void *arg, const char *what)
{
	if (try_call(request, arg))
		fail(what);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int smaller(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A model's counters, by their indexes (model.rst, "The counters window"). */
static const uint32_t counters[] = { 0, 1, 26, 59 };
enum { READS, WRITES, INTERRUPTS, LOADS, COUNTERS };

/* All zeros if the device is no model. */
static void look(uint64_t counts[COUNTERS])
{
	uint32_t word = 0, half[2];
	char path[64];
	struct stat st;
	int fd;

	memset(counts, 0, COUNTERS * sizeof(*counts));
	if (fstat(card, &st))
		return;
	snprintf(path, sizeof(path), "/sys/dev/char/226:%u/device/config", minor(st.st_rdev));
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (pread(fd, &word, 4, 0xb4) == 4 && word == 0x4d555047)
		for (int i = 0; i < COUNTERS; i++)
			if (pwrite(fd, &counters[i], 4, 0xb8) == 4 &&
			    pread(fd, &half[0], 4, 0xbc) == 4 && pread(fd, &half[1], 4, 0xc0) == 4)
				counts[i] = (uint64_t)half[1] << 32 | half[0];
	close(fd);
}

static uint64_t before[COUNTERS];

static int is_profiled(const char *name)
{
	const char *wanted = getenv("PROFILE");

	return wanted && !strcmp(name, wanted);
}

/* The rounds of a row begin. */
static void start(const char *name)
{
	look(before);
	if (is_profiled(name))
		mark_begin();
}

/* What the rounds since start() cost, each of so many calls. */
static void report(const char *name, int calls)
{
	uint64_t counts[COUNTERS];
	double all = (double)ROUNDS * calls;

	if (is_profiled(name)) {
		mark_end();
		printf("profile %s %d\n", name, ROUNDS * calls);
	}
	qsort(rounds, ROUNDS, sizeof(*rounds), smaller);
	printf("figure %s %.0f %.0f\n", name, rounds[ROUNDS / 2] / calls, rounds[0] / calls);
	look(counts);
	if (counts[READS])
		printf("count %s %.2f %.2f %.2f\n", name,
		       (counts[READS] + counts[WRITES] - before[READS] - before[WRITES]) / all,
		       (counts[LOADS] - before[LOADS]) / all,
		       (counts[INTERRUPTS] - before[INTERRUPTS]) / all);
	fflush(stdout);
}

/* A row: rounds of so many calls. `after` ends each round, and is not measured. */
static __always_inline void measure(const char *name, int calls, void (*call_once)(void),
				    void (*after)(void))
{
	start(name);
	for (int i = 0; i < ROUNDS; i++) {
		double begin = now();

		for (int k = 0; k < calls; k++)
			call_once();
		rounds[i] = now() - begin;
		if (after)
			after();
	}
	report(name, calls);
}

/* Each client has these for its interface. */
static uint32_t create(uint64_t size);
static void destroy(uint32_t handle);
static char *map(uint32_t handle, uint64_t size);

static void create_and_close(void)
{
	destroy(create(PAGE));
}

/* The object of the row below. */
static uint32_t touched;

static void map_and_touch(void)
{
	char *there = map(touched, MIB);

	for (int page = 0; page < MIB / PAGE; page++)
		__atomic_store_n(&there[page * PAGE], 1, __ATOMIC_RELAXED);
	munmap(there, MIB);
}

/* `handle` is an object of 1 MiB, which is closed. */
static void touch_row(uint32_t handle)
{
	touched = handle;
	measure("map-touch-256", 1, map_and_touch, NULL);
	destroy(handle);
}

/* Opens the first render node. */
static void open_card(void)
{
	char path[64];

	for (int i = 128; i < 136 && card <= 0; i++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", i);
		card = open(path, O_RDWR | O_CLOEXEC);
	}
	if (card <= 0)
		fail("no render node");
}

/* A case, which is run if the program's arguments name it, or if there are none. */
struct cost_case {
	const char *name;
	void (*run)(void);
};

static void run_cases(const struct cost_case *cases, unsigned int count, int argc, char **argv)
{
	for (unsigned int i = 0; i < count; i++) {
		int wanted = argc < 2;

		for (int k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], cases[i].name);
		if (wanted)
			cases[i].run();
	}
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A crowd of threads that make calls at random: see stress.c. */
#ifndef OURO_SELFTEST_STRESS_H
#define OURO_SELFTEST_STRESS_H

#include "gpu.h"

/* What was done, by all. */
struct stress_counts {
	unsigned int calls;
	unsigned int good;
	unsigned int batches;
	/* answers that no call has */
	unsigned int odd;
	int odd_errno;
	char odd_name[32];
};

enum { STRESS_FILES = 3 };

/* In memory that all processes share. */
struct crowd {
	struct gpu gpu;
	__u32 seed;
	/* of each thread */
	unsigned int rounds;
	__u32 stop;
	/* batches of garbage that may still be run: each costs seconds, if the chip stops at it */
	int garbage;
	/* open before the processes are made; the last one may be a primary node */
	int files[STRESS_FILES];
	struct stress_counts counts;
};

void stress_open_shared(struct crowd *crowd);
void stress_close_shared(struct crowd *crowd);
/* What a process does, in four threads; its exit status. */
int stress_process(struct crowd *crowd, unsigned int number);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A crowd of threads with random calls: see stress.c. */
#ifndef OURO_SELFTEST_STRESS_H
#define OURO_SELFTEST_STRESS_H

#include "gpu.h"

/* Counts of what all threads have done. */
struct stress_counts {
	unsigned int calls;
	unsigned int good;
	unsigned int batches;
	/* answers that no call may return */
	unsigned int odd;
	int odd_errno;
	char odd_name[32];
};

enum { STRESS_FILES = 3 };

/* Shared memory of all processes. */
struct crowd {
	struct gpu gpu;
	__u32 seed;
	/* rounds of each thread */
	unsigned int rounds;
	__u32 stop;
	/* the device is being unbound; other calls say ENODEV for other reasons, too */
	__u32 unbinds;
	/*
	 * garbage batches that may still be submitted: each takes seconds, if the chip stops at it
	 */
	int garbage;
	/* opened before the processes are forked; the last one may be a primary node */
	int files[STRESS_FILES];
	struct stress_counts counts;
};

void stress_open_shared(struct crowd *crowd);
void stress_close_shared(struct crowd *crowd);
/* Runs a process with four threads. Returns its exit status. */
int stress_process(struct crowd *crowd, unsigned int number);

#endif

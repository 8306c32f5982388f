/* SPDX-License-Identifier: GPL-2.0 */
/* The Test Anything Protocol, for clients that are built without the kernel's tree. */
#ifndef TAP_H
#define TAP_H

#include <stdio.h>
#include <stdlib.h>

static int tap_number, tap_bad;

/* One result; returns it. */
static inline int ok(int good, const char *name)
{
	tap_number++;
	tap_bad += !good;
	printf("%sok %d %s\n", good ? "" : "not ", tap_number, name);
	fflush(stdout);
	return good;
}

/* One result that cannot be had here. */
static inline void skip(const char *name, const char *why)
{
	tap_number++;
	printf("ok %d %s # SKIP %s\n", tap_number, name, why);
	fflush(stdout);
}

/* The end, with the plan. */
static inline int tap_end(void)
{
	printf("1..%d\n", tap_number);
	return tap_bad ? 1 : 0;
}

/* The end before its time: what cannot be gone on from. */
static inline void tap_bail(const char *why)
{
	ok(0, why);
	exit(tap_end());
}

#endif

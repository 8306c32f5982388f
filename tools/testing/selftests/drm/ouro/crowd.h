/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a crowd's threads, and how they choose their actions: see stress.c. */
#ifndef OURO_SELFTEST_CROWD_H
#define OURO_SELFTEST_CROWD_H

#include <pthread.h>
#include <sys/ioctl.h>

#include "stress.h"

enum { THREADS = 4, OWN_FILES = 2, FDS = 8, MAPS = 6, ROOM = 16 * PAGE, HANDLES = 12 };

/* The state that the threads of a process share. */
struct process {
	struct crowd *crowd;
	int files[OWN_FILES];
	/* sync files and dma-bufs, -1 for none: the thread that takes one out owns it */
	int fds[FDS];
};

struct thread {
	struct process *p;
	struct crowd *crowd;
	__u32 random;
	/* buffer for answers, with no memory after it */
	__u8 *room;
	void *maps[MAPS];
	unsigned int number;
	pthread_t id;
};

static inline __u32 rnd(struct thread *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	return t->random;
}

static inline bool chance(struct thread *t, unsigned int one_in)
{
	return rnd(t) % one_in == 0;
}

static const __u32 limits[] = { 0,	    1,		2,	    3,		4,
				7,	    8,		0xfff,	    0x1000,	0x1001,
				0xffff,	    0x10000,	0x7fffffff, 0x80000000, 0xfffff000,
				0xffffffff };

static inline __u32 limit(struct thread *t)
{
	return chance(t, 4) ? rnd(t) : limits[rnd(t) % ARRAY_LEN(limits)];
}

static inline int file(struct thread *t)
{
	__u32 which = rnd(t) % (STRESS_FILES + OWN_FILES);

	if (which < STRESS_FILES)
		return t->crowd->files[which];
	return __atomic_load_n(&t->p->files[which - STRESS_FILES], __ATOMIC_RELAXED);
}

static inline __u32 handle(struct thread *t)
{
	return chance(t, 24) ? limit(t) : 1 + rnd(t) % HANDLES;
}

static inline __u32 context(struct thread *t)
{
	return chance(t, 24) ? limit(t) : rnd(t) % 4;
}

/*
 * Returns a pointer for an argument or an answer: mostly the thread's own buffer, or an invalid
 * one.
 */
static inline __u64 pointer(struct thread *t)
{
	switch (rnd(t) % 16) {
	case 0:
		return 0;
	case 1:
		return BAD_POINTER;
	case 2:
		return KERNEL_POINTER;
	case 3:
		return U64(t->room) + ROOM - 8;
	case 4:
		return U64(t->room) + 1 + rnd(t) % 64;
	default:
		return U64(t->room);
	}
}

/* Changes one word of an argument; pointers excepted: one bit of the mask per word. */
static inline void spoil(struct thread *t, void *argument, size_t size, __u64 pointers)
{
	__u32 word;

	if (!chance(t, 10))
		return;
	word = rnd(t) % (size / 4);
	if (!(pointers >> word & 1))
		((__u32 *)argument)[word] = limit(t);
}

/* Reads and writes a word of a mapping, if it has a page. */
void crowd_touch(void *map, __u32 offset);
/* Opens a node. Returns a descriptor or -1. */
int crowd_open(void);
/* Does one of all actions. */
void crowd_act(struct thread *t);

#endif

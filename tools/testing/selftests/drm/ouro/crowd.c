// SPDX-License-Identifier: GPL-2.0
/* One process of a crowd: see stress.c. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>

#include "crowd.h"

static __thread sigjmp_buf no_page;
static __thread int touching;

static void fault(int signal)
{
	if (__atomic_load_n(&touching, __ATOMIC_SEQ_CST))
		siglongjmp(no_page, 1);
	_exit(128 + signal);
}

void crowd_touch(void *map, __u32 offset)
{
	__u32 *word = (__u32 *)((__u8 *)map + offset);

	if (!sigsetjmp(no_page, 1)) {
		__atomic_store_n(&touching, 1, __ATOMIC_SEQ_CST);
		poke(word, peek(word) & 0x5000000);
	}
	__atomic_store_n(&touching, 0, __ATOMIC_SEQ_CST);
}

int crowd_open(void)
{
	struct gpu gpu;

	return gpu_open(&gpu) == 0 ? gpu.fd : -1;
}

static void *run(void *argument)
{
	struct thread *t = argument;
	unsigned int i;

	for (i = 0; i < t->crowd->rounds && !peek(&t->crowd->stop); i++)
		crowd_act(t);
	return NULL;
}

void stress_open_shared(struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < STRESS_FILES - 1; i++)
		crowd->files[i] = crowd_open();
	/* names (GEM_FLINK) are for primary nodes */
	crowd->files[i] = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	crowd->garbage = getparam(crowd->files[0], I915_PARAM_HAS_GPU_RESET) > 0 ? 2 : 0;
}

void stress_close_shared(struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < STRESS_FILES; i++)
		close(crowd->files[i]);
}

int stress_process(struct crowd *crowd, unsigned int number)
{
	struct sigaction action = { .sa_handler = fault, .sa_flags = SA_NODEFER };
	struct process p = { .crowd = crowd };
	struct thread threads[THREADS] = {};
	unsigned int i;

	/* a crowd that hangs ends */
	alarm(1100);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (i = 0; i < OWN_FILES; i++)
		p.files[i] = crowd_open();
	for (i = 0; i < FDS; i++)
		p.fds[i] = -1;
	for (i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		t->p = &p;
		t->crowd = crowd;
		t->number = i;
		t->random = crowd->seed * 2654435761u + number * 40503 + i * 977 + 1;
		t->room = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (t->room == MAP_FAILED || mprotect(t->room + ROOM, PAGE, PROT_NONE) ||
		    pthread_create(&t->id, NULL, run, t))
			return 2;
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	return 0;
}

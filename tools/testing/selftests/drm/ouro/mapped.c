// SPDX-License-Identifier: GPL-2.0
/* Copying to and from objects where there is no call that does it. See gpu.h. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "gpu.h"

/* Who copies in this process: all share one handler, and the first and the last change it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int copying;
static struct sigaction before;
static __thread sigjmp_buf no_page;

static void bus_error(int signal)
{
	siglongjmp(no_page, 1);
}

static void begin(void)
{
	struct sigaction fails = { .sa_handler = bus_error };

	pthread_mutex_lock(&lock);
	if (!copying++)
		sigaction(SIGBUS, &fails, &before);
	pthread_mutex_unlock(&lock);
}

static void end(void)
{
	pthread_mutex_lock(&lock);
	if (!--copying)
		sigaction(SIGBUS, &before, NULL);
	pthread_mutex_unlock(&lock);
}

static int move(char *at, void *to, const void *from, __u64 size)
{
	if (sigsetjmp(no_page, 1))
		return -ENOMEM;
	if (from)
		memcpy(at, from, size);
	else if (to)
		memcpy(to, at, size);
	return 0;
}

/*
 * Through a mapping, once the GPU is done. From its beginning: not all who
 * export memory show a part of it. -ENOMEM: a page could not be had.
 */
static int copy(int fd, __u32 handle, __u64 offset, void *to, const void *from, __u64 size)
{
	const __u64 length = offset + size;
	int got = gem_wait(fd, handle, -1);
	char *at;

	if (got || !size)
		return got;
	at = gem_map(fd, handle, length, I915_MMAP_OFFSET_FIXED);
	if (!at)
		return -errno;
	begin();
	got = move(at + offset, to, from, size);
	end();
	munmap(at, length);
	return got;
}

int write_mapped(int fd, __u32 handle, __u64 offset, const void *data, __u64 size)
{
	return copy(fd, handle, offset, NULL, data, size);
}

int read_mapped(int fd, __u32 handle, __u64 offset, void *data, __u64 size)
{
	return copy(fd, handle, offset, data, NULL, size);
}

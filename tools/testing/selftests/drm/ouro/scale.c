// SPDX-License-Identifier: GPL-2.0
/*
 * What a submission costs when there is much else: 10,000 objects with
 * addresses, contexts, clients, or OURO_MANY hundred. The times are printed, not
 * judged: they are those of an emulated machine. The writes of registers are
 * counted. The debug kernel looks for other things: it makes 300, and each figure once.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#define TOPIC scale
#define ANY_I915
#include "test.h"
#include "memory.h"

#define HUNDREDS 100
/* Submissions for one figure, and how often that is done: the best one counts. */
#define ROUNDS 64
#define TRIES 5

static unsigned int tries(void)
{
	return rounds("OURO_TRIES", TRIES, 1);
}

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * Nanoseconds of a submission of an empty batch, and register writes of all. Closed objects are
 * taken out of the table by a worker, and the next submission lets that take effect: it is not
 * measured while they are.
 */
static __u64 cost(const struct gpu *gpu, __u64 *writes)
{
	struct drm_i915_gem_exec_object2 object = { .handle = gem_create(gpu->fd, PAGE) };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .flags = gpu->engines[0].ring };
	struct drm_ouro_stats before = {}, after = {};
	__u64 best = ~0ull;
	unsigned int i, k, often = tries();

	gem_write(gpu->fd, object.handle, 0, &gpu->backend->batch_end, 4);
	/* memory, address, image */
	call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	gem_wait(gpu->fd, object.handle, -1);
	wait_freed(gpu->fd);
	call(gpu->fd, DRM_IOCTL_OURO_STATS, &before);
	for (k = 0; k < often; k++) {
		__u64 start = now(), ns;

		for (i = 0; i < ROUNDS; i++)
			call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		ns = (now() - start) / ROUNDS;
		if (ns < best)
			best = ns;
		gem_wait(gpu->fd, object.handle, -1);
	}
	call(gpu->fd, DRM_IOCTL_OURO_STATS, &after);
	*writes = after.port_writes - before.port_writes + after.table_flushes -
		  before.table_flushes;
	gem_close(gpu->fd, object.handle);
	return best;
}

/* Objects are used so many at a time: lockdep counts no more than 2047 locks of a kind. */
#define CHUNK 1000u

/* A multiple of CHUNK, or less than that. */
static unsigned int much(void)
{
	unsigned int hundreds = rounds("OURO_MANY", HUNDREDS, 3), n;

	n = 100 * (hundreds && hundreds <= HUNDREDS ? hundreds : HUNDREDS);
	return n < CHUNK ? n : n - n % CHUNK;
}

/*
 * Writes that so many objects, contexts or clients may cost more. What comes while a list is on its
 * way goes with the next one: how many there are is a matter of time, up to one a request.
 */
static __u64 slack(const struct gpu *gpu)
{
	return gpu->speaks == &i915 ? 1 : ROUNDS * tries();
}

static void report(struct __test_metadata *_metadata, const char *what, __u64 few, __u64 many)
{
	printf("# scale: %s: a submission takes %llu ns with 1, %llu ns with %u\n", what,
	       (unsigned long long)few, (unsigned long long)many, much());
}

TEST_F(scale, objects)
{
	static struct drm_i915_gem_exec_object2 objects[CHUNK + 1];
	const unsigned int n = much(), chunk = n < CHUNK ? n : CHUNK;
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects),
					       .buffer_count = chunk + 1,
					       .flags = self->gpu.engines[0].ring };
	__u64 few, many, few_writes, many_writes;
	static __u32 handles[HUNDREDS * 100];
	unsigned int i, k;

	if (wait_freed(self->fd))
		SKIP(return, "no i915_gem_drop_caches in debugfs");
	few = cost(&self->gpu, &few_writes);
	objects[chunk].handle = gem_create(self->fd, PAGE);
	gem_write(self->fd, objects[chunk].handle, 0, &self->gpu.backend->batch_end, 4);
	for (i = 0; i < n; i += chunk) {
		for (k = 0; k < chunk; k++) {
			handles[i + k] = gem_create(self->fd, PAGE);
			ASSERT_NE(0, handles[i + k]);
			objects[k].handle = handles[i + k];
			objects[k].offset = 0;
		}
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	}
	ASSERT_EQ(0, gem_wait(self->fd, objects[chunk].handle, -1));
	many = cost(&self->gpu, &many_writes);
	report(_metadata, "objects", few, many);
	EXPECT_LE(many_writes, few_writes + slack(&self->gpu));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, gem_close(self->fd, handles[i]));
	gem_close(self->fd, objects[chunk].handle);
}

TEST_F(scale, contexts)
{
	__u64 few, many, few_writes, many_writes;
	unsigned int i, n = much();

	if (wait_freed(self->fd))
		SKIP(return, "no i915_gem_drop_caches in debugfs");
	few = cost(&self->gpu, &few_writes);
	for (i = 0; i < n; i++)
		ASSERT_NE(0, context_create(self->fd));
	cover("DRM_IOCTL_I915_GEM_CONTEXT_CREATE");
	many = cost(&self->gpu, &many_writes);
	report(_metadata, "contexts", few, many);
	EXPECT_LE(many_writes, few_writes + slack(&self->gpu));
}

TEST_F(scale, clients)
{
	unsigned int i, n = much();
	struct rlimit limit = { n + 100, n + 100 };
	__u64 few, many, few_writes, many_writes;
	char path[64];
	int *fds = calloc(n, sizeof(*fds));

	ASSERT_NE(NULL, fds);
	if (setrlimit(RLIMIT_NOFILE, &limit))
		SKIP(return, "no more descriptors are allowed: %s", strerror(errno));
	if (wait_freed(self->fd))
		SKIP(return, "no i915_gem_drop_caches in debugfs");
	few = cost(&self->gpu, &few_writes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	for (i = 0; i < n; i++) {
		fds[i] = open(path, O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, fds[i]);
	}
	cover("open");
	many = cost(&self->gpu, &many_writes);
	report(_metadata, "clients", few, many);
	EXPECT_LE(many_writes, few_writes + slack(&self->gpu));
	for (i = 0; i < n; i++)
		close(fds[i]);
	free(fds);
}

TEST_HARNESS_MAIN

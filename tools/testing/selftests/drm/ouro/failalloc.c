// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation of each call (on cards, of very many each fifth: next_one()), and
 * where the kernel can each copy of user memory, is failed in turn, until a run has none
 * left to fail. The call must then say ENOMEM or EFAULT, or do without; leave
 * nothing behind; and change nothing: the same counts, the next handle and
 * descriptor the same, the objects' contents as they were. Only a call whose
 * answer could not be copied is done (drm_ioctl() of the kernel copies it last):
 * what it made is there, and is taken back by who was not told.
 */
#include <fcntl.h>
#include <stdio.h>

#define ANY_I915
#include "test.h"
#include "calls.h"
#include "failing.h"

/* What must be the same again. */
struct counts {
	struct drm_ouro_stats stats;
	__u32 next_handle;
	int next_file;
};

static void next_ones(const struct state *s, struct counts *c)
{
	c->next_handle = gem_create(s->fd, PAGE);
	gem_close(s->fd, c->next_handle);
	c->next_file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(c->next_file);
}

static bool same_stats(const struct drm_ouro_stats *a, const struct drm_ouro_stats *b)
{
	return a->objects == b->objects && a->object_bytes == b->object_bytes &&
	       a->object_pages == b->object_pages && a->contexts == b->contexts &&
	       a->fences == b->fences;
}

/* Milliseconds that what ends late may take. */
enum { MOMENTS = 60000 };

/* True if the counts return to what they were: work that ends late ends soon. */
static bool same_again(const struct state *s, const struct counts *before, struct counts *now)
{
	unsigned int tries;

	for (tries = 0; tries < MOMENTS; tries++) {
		memset(&now->stats, 0, sizeof(now->stats));
		if (call(s->fd, DRM_IOCTL_OURO_STATS, &now->stats))
			return false;
		if (same_stats(&before->stats, &now->stats))
			break;
		usleep(1000);
	}
	next_ones(s, now);
	return tries < MOMENTS && before->next_handle == now->next_handle &&
	       before->next_file == now->next_file;
}

FIXTURE(failalloc)
{
	struct gpu gpu;
	struct state state;
};

FIXTURE_SETUP(failalloc)
{
	int got;

	gpu_setup(_metadata, &self->gpu);
	if (!self->gpu.ouro)
		SKIP(return, "what is left is not counted: the driver has no DRM_IOCTL_OURO_STATS");
	got = failing_prepare();
	if (got == -ENOENT)
		SKIP(return, "the kernel was built without fault injection");
	ASSERT_EQ(0, got);
	self->state.gpu = &self->gpu;
	self->state.fd = self->gpu.fd;
	self->state.batch = malloc(sizeof(struct batch));
	self->state.room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(NULL, self->state.batch);
	ASSERT_NE(MAP_FAILED, self->state.room);
}

FIXTURE_TEARDOWN(failalloc)
{
	gpu_close(&self->gpu);
}

/* Sets the handles that the next call will return. */
static void foretell(struct state *s)
{
	s->next_handle = gem_create(s->fd, PAGE);
	gem_close(s->fd, s->next_handle);
	s->next_file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(s->next_file);
	s->next_context = context_create(s->fd);
	context_destroy(s->fd, s->next_context);
}

/* The n-th allocation or copy fails. Returns whether there was one; `said` is the answer. */
static bool fail_nth(struct __test_metadata *_metadata, struct state *s,
		     const struct subject *subject, unsigned int n, int *said)
{
	int failed;

	s->syncobj = 0;
	s->context = 0;
	s->file = -1;
	memset(&s->spin, 0, sizeof(s->spin));
	if (subject->before)
		*said = subject->before(s);
	else
		*said = 0;
	if (*said) {
		if (subject->after)
			subject->after(s);
		return false;
	}
	if (subject->untold)
		foretell(s);
	ASSERT_EQ(0, failing_arm(n));
	*said = subject->call(s);
	failed = failing_disarm();
	ASSERT_LE(0, failed);
	if (*said == -EFAULT && subject->untold)
		subject->untold(s);
	if (*said && subject->call == calls_exec) {
		__u32 ran;

		/* nothing ran, unless it was the last copy; and without the failure it does */
		if (*said == -EFAULT)
			spin_stop(&s->spin);
		ran = gem_read32(s->fd, s->handle, 64);
		EXPECT_TRUE(ran == 0 || (*said == -EFAULT && ran == 0x1234));
		EXPECT_EQ(MARK, gem_read32(s->fd, s->handle, 0));
		EXPECT_EQ(0, calls_exec(s));
		spin_stop(&s->spin);
		EXPECT_EQ(0x1234, gem_read32(s->fd, s->handle, 64));
	} else if (*said == 0 && subject->undo) {
		subject->undo(s);
	}
	if (subject->after)
		subject->after(s);
	return failed;
}

/* True if the device lacks a call: an older driver, or a card, which does not need it. */
static bool is_without(const struct subject *subject, int said)
{
	if (said == -EINVAL && subject->optional)
		return true;
	return addresses_chosen() && (said == -ENODEV || said == -EOPNOTSUPP);
}

/* As long as some thousand calls on the debug kernel take. */
enum { LIMIT = 3600 };

/*
 * Cards: allocations of a run that fail one by one. A call with more makes them page by page, for
 * an image or a ring, and each try makes all those before its own: of what is behind, each fifth
 * fails. What is had for a page is fewer than that, so each of it comes to be the one that fails.
 */
enum { ONE_BY_ONE = 100, STRIDE = 5 };

static unsigned int next_one(const struct gpu *gpu, unsigned int n)
{
	return n + (n < ONE_BY_ONE || gpu->speaks != &i915_local ? 1 : STRIDE);
}

static void nothing_left(struct __test_metadata *_metadata, const struct state *s,
			 const struct subject *subject, unsigned int n, const struct counts *before)
{
	struct counts now;

	ASSERT_TRUE(same_again(s, before, &now))
	{
		TH_LOG("%s: allocation %u or the few before it; now and before:", subject->name, n);
		TH_LOG("objects %llu, %llu; pages %llu, %llu; contexts %llu, %llu",
		       now.stats.objects, before->stats.objects, now.stats.object_pages,
		       before->stats.object_pages, now.stats.contexts, before->stats.contexts);
		TH_LOG("fences %llu, %llu; next handle %u, %u; next file %d, %d", now.stats.fences,
		       before->stats.fences, now.next_handle, before->next_handle, now.next_file,
		       before->next_file);
	}
}

TEST_F_TIMEOUT(failalloc, each_one_of_each_call, LIMIT + 10)
{
	unsigned int i, n, total = 0, without = 0, copies = 0;
	struct counts before;

	alarm(LIMIT);
	/* caches of the kernel fill at the first call, and what ended before this test goes */
	for (i = 0; i < n_subjects; i++) {
		int said;

		fail_nth(_metadata, &self->state, &subjects[i], 0, &said);
	}
	for (n = 0; n < 2000; n++) {
		ASSERT_EQ(0, stats_settled(self->gpu.fd, &before.stats));
		if (!before.stats.objects && !before.stats.object_pages)
			break;
	}
	ASSERT_EQ(0, before.stats.objects);
	next_ones(&self->state, &before);
	for (i = 0; i < n_subjects; i++) {
		const struct subject *subject = &subjects[i];
		unsigned int refused = 0, tried;
		int said;

		fail_nth(_metadata, &self->state, subject, 0, &said);
		if (is_without(subject, said)) {
			TH_LOG("%s: this device is without it", subject->name);
			continue;
		}
		ASSERT_EQ(0, said)
		{
			TH_LOG("%s: %s", subject->name, strerror(-said));
		}
		for (n = 1, tried = 0;; n = next_one(&self->gpu, n), tried++) {
			ASSERT_LT(n, 5000);
			if (!fail_nth(_metadata, &self->state, subject, n, &said))
				break;
			EXPECT_TRUE(said == 0 || said == -ENOMEM || said == -EFAULT)
			{
				TH_LOG("%s: allocation %u: %s", subject->name, n, strerror(-said));
			}
			refused += said != 0;
			copies += said == -EFAULT;
			total++;
			/* to wait for the end of what ends late costs more than all else */
			if (tried % 8 == 7)
				nothing_left(_metadata, &self->state, subject, n, &before);
		}
		nothing_left(_metadata, &self->state, subject, n, &before);
		EXPECT_EQ(0, said);
		without += tried - refused;
		TH_LOG("%s: fewer than %u allocations and copies, %u failed, %u refused the call",
		       subject->name, n, tried, refused);
	}
	/* a kernel that fails none would pass all the above */
	EXPECT_LT(100, total);
	printf("# cover: allocations and copies failed: %u, of them done without: %u, EFAULT: %u\n",
	       total, without, copies);
	fflush(stdout);
}

TEST_HARNESS_MAIN

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included by each test program: the kselftest harness, the device, and the two checks that count a
 * case.
 */
#ifndef OURO_SELFTEST_TEST_H
#define OURO_SELFTEST_TEST_H

#include "kselftest_harness.h"

#include "device.h"
#include "radeon.h"

/*
 * Timeouts of tests, for those that hang: the debug kernel is ten times slower than the plain one,
 * and a busy machine slower still.
 */
#define SECONDS_PLAIN 300
#define SECONDS_DEBUG 900

/*
 * Milliseconds after which an endless batch counts as a hang; a preemption request has half of
 * them. Tests keep such a batch running during other work, which takes seconds on a slow machine
 * and must not be taken for a hang. A test about hangs defines HANGS, and uses the driver's
 * default.
 */
#ifdef HANGS
#define HANG_MS HANG_MS_DEFAULT
#else
#define HANG_MS 60000
#endif

#ifdef MUTE_ENGINES
static void __attribute__((constructor)) want_mute_engines(void)
{
	mute_engines = true;
}
#endif

/* The harness would time out after 30 seconds. */
#undef TEST_F
#define TEST_F(topic, name) TEST_F_TIMEOUT(topic, name, SECONDS_DEBUG + 10)

/* A call that must succeed, and one that must fail with an error; both count as a case. */
#define GOOD(fd, request, argument)                                                  \
	({                                                                           \
		cover(#request);                                                     \
		int got_ = call(fd, request, argument);                              \
		EXPECT_EQ(0, got_)                                                   \
		{                                                                    \
			TH_LOG("%s: %s, should succeed", #request, strerror(-got_)); \
		}                                                                    \
		got_;                                                                \
	})
#define BAD(fd, request, argument, error) BAD_NAMED(#request, fd, request, argument, error)
/* BAD() for use in another macro, which passes the name. */
#define BAD_NAMED(name, fd, request, argument, error)                           \
	({                                                                      \
		const char *name_ = (name);                                     \
		int want_ = (error);                                            \
		int got_;                                                       \
		cover(name_);                                                   \
		got_ = call(fd, request, argument);                             \
		EXPECT_EQ(-want_, got_)                                         \
		{                                                               \
			TH_LOG("%s: %s, should be %s", name_, strerror(-got_),  \
			       strerror(want_));                                \
		}                                                               \
		got_;                                                           \
	})

/* Reasons to skip a test that needs another uAPI: SKIP(return, NO_...). */
#define NO_I915 "this is about the i915 ioctls"
#define NO_RELOCATIONS "no relocations here"
/* The checker of R5xx accepts no commands that loop. */
#define NO_SPIN "no commands here run until they are told to stop"

/* The set-up of every test: an open device within the timeout, or a skip. */
static inline void gpu_setup(struct __test_metadata *_metadata, struct gpu *gpu)
{
	const char *kernel = getenv("OURO_KERNEL");
	int got;

	alarm(kernel && !strcmp(kernel, "debug") ? SECONDS_DEBUG : SECONDS_PLAIN);
	got = gpu_open(gpu);
	if (got == -EOPNOTSUPP)
		SKIP(return, "the commands of this chip are not known here");
#ifdef ONLY_CARDS
	if (!got && gpu->speaks != &i915_local)
		SKIP(return, "this is about cards with memory of their own");
#elif !defined(ANY_INTERFACE)
	if (!got && gpu->speaks == &radeon)
		SKIP(return, "the device here speaks radeon, and this is about i915");
#ifndef ANY_I915
	if (!got && gpu->speaks != &i915)
		SKIP(return, "this is about what cards with memory of their own refuse");
#endif
#endif
	ASSERT_EQ(0, got)
	{
		TH_LOG("no render node of a driver that is known here: %s", strerror(-got));
	}
	if (gpu->ouro)
		ASSERT_EQ(0, device_limits(gpu, HANG_MS));
}

#ifdef TOPIC
/* The fixture of most programs, named after the program: one open device. */
#define FIXTURE_OF(topic) FIXTURE(topic)
#define FIXTURE_SETUP_OF(topic) FIXTURE_SETUP(topic)
#define FIXTURE_TEARDOWN_OF(topic) FIXTURE_TEARDOWN(topic)

FIXTURE_OF(TOPIC)
{
	struct gpu gpu;
	int fd;
};

FIXTURE_SETUP_OF(TOPIC)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
}

FIXTURE_TEARDOWN_OF(TOPIC)
{
	gpu_close(&self->gpu);
}
#endif

#endif

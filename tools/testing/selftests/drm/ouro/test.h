/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every test program includes: the kselftest harness, the device, and
 * the two checks that count a case.
 */
#ifndef OURO_SELFTEST_TEST_H
#define OURO_SELFTEST_TEST_H

#include "kselftest_harness.h"

#include "gpu.h"

/* A call that must succeed, and one that must fail so; both count as a case. */
#define GOOD(fd, request, argument) \
	({ \
		cover(#request); \
		int got_ = call(fd, request, argument); \
		EXPECT_EQ(0, got_) { \
			TH_LOG("%s: %s, should succeed", #request, strerror(-got_)); \
		} \
		got_; \
	})
#define BAD(fd, request, argument, error) \
	({ \
		cover(#request); \
		int got_ = call(fd, request, argument); \
		EXPECT_EQ(-(error), got_) { \
			TH_LOG("%s: %s, should be %s", #request, strerror(-got_), strerror(error)); \
		} \
		got_; \
	})

/* What every test starts and ends with. */
#define GPU_FIXTURE(name) \
	FIXTURE(name) { struct gpu gpu; int fd; }; \
	FIXTURE_SETUP(name) \
	{ \
		alarm(20); \
		int got_ = gpu_open(&self->gpu); \
		if (got_ == -EOPNOTSUPP) \
			SKIP(return, "the commands of this chip are not known here"); \
		ASSERT_EQ(0, got_) { \
			TH_LOG("no render node of a driver that speaks i915: %s", strerror(-got_)); \
		} \
		self->fd = self->gpu.fd; \
	} \
	FIXTURE_TEARDOWN(name) \
	{ \
		gpu_close(&self->gpu); \
	}

#endif

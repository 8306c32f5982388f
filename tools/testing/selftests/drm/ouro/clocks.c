// SPDX-License-Identifier: GPL-2.0
/*
 * The engines' clock in sysfs (uapi.rst), on chips that let the driver choose it. The modelled
 * chips' clocks are those of model.rst, and a clock that is requested is in force at once; on a
 * card the power unit may take longer, or choose a lower one.
 */
#define ANY_I915
#include "test.h"
#include "files.h"

/* Each is a multiple of it. */
#define STEP 50

FIXTURE(clocks)
{
	struct gpu gpu;
	unsigned int lowest, steady, highest;
	bool model;
};

static void clock_path(int fd, const char *name, char *path, size_t size)
{
	char file[64];

	cover("sysfs clocks");
	snprintf(file, sizeof(file), "gt_%s_freq_mhz", name);
	if (card_path(fd, file, path, size))
		path[0] = 0;
}

/* Returns a clock in MHz, or a negative errno. */
static int clock_of(const struct gpu *gpu, const char *name)
{
	char path[256], text[64];
	int got;

	clock_path(gpu->fd, name, path, sizeof(path));
	got = file_read(path, text, sizeof(text));
	return got < 0 ? got : atoi(text);
}

/* Returns 0, or a negative errno. */
static int clock_write(const struct gpu *gpu, const char *name, const char *text)
{
	char path[256];
	int got;

	clock_path(gpu->fd, name, path, sizeof(path));
	got = file_write(path, text);
	return got < 0 ? got : 0;
}

static int clock_set(const struct gpu *gpu, const char *name, unsigned int mhz)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", mhz);
	return clock_write(gpu, name, text);
}

/* True if the GT's file has the same value. */
static bool is_of_gt(const struct gpu *gpu, const char *name)
{
	char file[64], path[256], text[64];

	snprintf(file, sizeof(file), "gt/gt0/rps_%s_freq_mhz", name);
	if (card_path(gpu->fd, file, path, sizeof(path)) || file_read(path, text, sizeof(text)) < 0)
		return false;
	return atoi(text) == clock_of(gpu, name);
}

FIXTURE_SETUP(clocks)
{
	struct place place;

	gpu_setup(_metadata, &self->gpu);
	if (clock_of(&self->gpu, "RP0") == -ENOENT)
		SKIP(return, "the driver does not choose the clock of this chip");
	self->lowest = clock_of(&self->gpu, "RPn");
	self->steady = clock_of(&self->gpu, "RP1");
	self->highest = clock_of(&self->gpu, "RP0");
	ASSERT_EQ(0, device_of(self->gpu.fd, &place));
	self->model = !model_fault(&place, FAULT_NONE);
}

FIXTURE_TEARDOWN(clocks)
{
	if (self->highest) {
		clock_set(&self->gpu, "max", self->highest);
		clock_set(&self->gpu, "min", self->lowest);
		clock_set(&self->gpu, "boost", self->highest);
	}
	gpu_close(&self->gpu);
}

TEST_F(clocks, those_of_the_chip)
{
	const bool ivb = !strcmp(self->gpu.backend->name, "gen7");

	if (self->model) {
		EXPECT_EQ(ivb ? 350 : 650, self->lowest);
		EXPECT_EQ(650, self->steady);
		EXPECT_EQ(ivb ? 1150 : 1300, self->highest);
	}
	EXPECT_LE(self->lowest, self->steady);
	EXPECT_LE(self->steady, self->highest);
	EXPECT_LT(self->lowest, self->highest);
	EXPECT_EQ(self->lowest, clock_of(&self->gpu, "min"));
	EXPECT_EQ(self->highest, clock_of(&self->gpu, "max"));
	EXPECT_EQ(self->highest, clock_of(&self->gpu, "boost"));
	/* these cannot be changed, not by root either */
	EXPECT_GT(0, clock_set(&self->gpu, "RPn", self->lowest));
	EXPECT_GT(0, clock_set(&self->gpu, "RP1", self->steady));
	EXPECT_GT(0, clock_set(&self->gpu, "RP0", self->highest));
	EXPECT_GT(0, clock_set(&self->gpu, "cur", self->highest));
	EXPECT_GT(0, clock_set(&self->gpu, "act", self->highest));
}

TEST_F(clocks, limits_are_clocks_of_the_chip)
{
	static const char *const bad[] = { "fast", "-650", "0", "4294967295", "4294967296",
					   "1000 MHz", "1e3" };
	const unsigned int low = self->lowest + STEP, high = self->highest - STEP;
	unsigned int i;

	ASSERT_EQ(0, clock_set(&self->gpu, "min", low));
	ASSERT_EQ(0, clock_set(&self->gpu, "max", high));
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		EXPECT_EQ(-EINVAL, clock_write(&self->gpu, "min", bad[i]));
		EXPECT_EQ(-EINVAL, clock_write(&self->gpu, "max", bad[i]));
	}
	EXPECT_EQ(-EINVAL, clock_set(&self->gpu, "min", self->lowest - STEP));
	EXPECT_EQ(-EINVAL, clock_set(&self->gpu, "max", self->highest + STEP));
	/* the limits do not cross */
	EXPECT_EQ(-EINVAL, clock_set(&self->gpu, "min", high + STEP));
	EXPECT_EQ(-EINVAL, clock_set(&self->gpu, "max", low - STEP));
	EXPECT_EQ(low, clock_of(&self->gpu, "min"));
	EXPECT_EQ(high, clock_of(&self->gpu, "max"));
	/* the nearest clock that there is */
	EXPECT_EQ(0, clock_set(&self->gpu, "min", low + STEP / 2 - 1));
	EXPECT_EQ(low, clock_of(&self->gpu, "min"));
	EXPECT_EQ(0, clock_set(&self->gpu, "min", low + STEP / 2));
	EXPECT_EQ(low + STEP, clock_of(&self->gpu, "min"));
	/* both may be the same */
	EXPECT_EQ(0, clock_set(&self->gpu, "min", high));
	EXPECT_EQ(high, clock_of(&self->gpu, "min"));
}

/* Waits until the device sleeps. Returns whether it does. */
static bool sleeps(const struct gpu *gpu)
{
	unsigned int tries;

	for (tries = 0; tries < 500 && clock_of(gpu, "act"); tries++)
		usleep(10000);
	return !clock_of(gpu, "act");
}

/* Returns whether the engines run at a clock: a card may have a lower one. */
static bool runs_at(const struct gpu *gpu, unsigned int mhz, bool model)
{
	int act = clock_of(gpu, "act");

	return model ? act == (int)mhz : act > 0;
}

TEST_F(clocks, of_the_gt)
{
	static const char *const all[] = { "RPn", "RP1", "RP0", "min", "max", "boost", "act" };
	char path[256], text[32];
	unsigned int i;

	ASSERT_TRUE(sleeps(&self->gpu));
	for (i = 0; i < ARRAY_LEN(all); i++)
		EXPECT_TRUE(is_of_gt(&self->gpu, all[i]))
		{
			TH_LOG("clock %u", i);
		}
	ASSERT_EQ(0, card_path(self->gpu.fd, "gt/gt0/rps_max_freq_mhz", path, sizeof(path)));
	EXPECT_EQ(-EINVAL, file_write(path, "1"));
	snprintf(text, sizeof(text), "%u", self->highest - STEP);
	EXPECT_LT(0, file_write(path, text));
	EXPECT_EQ(self->highest - STEP, clock_of(&self->gpu, "max"));
	EXPECT_TRUE(is_of_gt(&self->gpu, "max"));
}

/* It is kept, whatever the limits are. */
TEST_F(clocks, boost)
{
	EXPECT_EQ(-EINVAL, clock_set(&self->gpu, "boost", self->lowest - STEP));
	EXPECT_EQ(-EINVAL, clock_set(&self->gpu, "boost", self->highest + STEP));
	EXPECT_EQ(-EINVAL, clock_set(&self->gpu, "boost", 0));
	EXPECT_EQ(self->highest, clock_of(&self->gpu, "boost"));
	ASSERT_EQ(0, clock_set(&self->gpu, "max", self->highest - STEP));
	EXPECT_EQ(self->highest, clock_of(&self->gpu, "boost"));
	EXPECT_EQ(0, clock_set(&self->gpu, "boost", self->lowest + STEP + 1));
	EXPECT_EQ(self->lowest + STEP, clock_of(&self->gpu, "boost"));
	EXPECT_EQ(self->highest - STEP, clock_of(&self->gpu, "max"));
}

TEST_F(clocks, engines_run_at_the_highest)
{
	const unsigned int middle = self->highest - 3 * STEP;
	struct spin spin;

	ASSERT_TRUE(sleeps(&self->gpu));
	EXPECT_EQ(self->lowest, clock_of(&self->gpu, "cur"));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	EXPECT_TRUE(runs_at(&self->gpu, self->highest, self->model));
	EXPECT_EQ(self->highest, clock_of(&self->gpu, "cur"));
	/* at once */
	EXPECT_EQ(0, clock_set(&self->gpu, "max", middle));
	EXPECT_TRUE(runs_at(&self->gpu, middle, self->model));
	EXPECT_EQ(middle, clock_of(&self->gpu, "cur"));
	spin_stop(&spin);
	ASSERT_EQ(0, gem_wait(self->gpu.fd, spin.handle, -1));
	spin_free(&spin);
	/* the limit is kept while the device sleeps, and in a reset */
	ASSERT_TRUE(sleeps(&self->gpu));
	ASSERT_EQ(0, device_limits(&self->gpu, 1000));
	ASSERT_EQ(0, hang_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	EXPECT_TRUE(runs_at(&self->gpu, middle, self->model));
	ASSERT_EQ(0, gem_wait(self->gpu.fd, spin.handle, -1));
	EXPECT_TRUE(runs_at(&self->gpu, middle, self->model));
	spin_free(&spin);
	ASSERT_EQ(0, clock_set(&self->gpu, "min", self->lowest + STEP));
	ASSERT_TRUE(sleeps(&self->gpu));
	EXPECT_EQ(self->lowest + STEP, clock_of(&self->gpu, "cur"));
}

TEST_HARNESS_MAIN

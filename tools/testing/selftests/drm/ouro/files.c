// SPDX-License-Identifier: GPL-2.0
/*
 * Files about a device: debugfs and sysfs, as IGT uses them. They are
 * described in Documentation/gpu/ouro/uapi.rst.
 */
#define TOPIC files
#define ANY_I915
#define MUTE_ENGINES
#include <time.h>

#include "test.h"
#include "batch_i915.h"
#include "files.h"

static __u64 room(int fd)
{
	struct drm_i915_gem_get_aperture get = {};

	call(fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &get);
	return get.aper_available_size;
}

TEST_F(files, drop_caches_reads_as_the_mask_of_all)
{
	char path[128], text[64];

	cover("debugfs i915_gem_drop_caches");
	debug_path(self->fd, "i915_gem_drop_caches", path, sizeof(path));
	ASSERT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("0x000003ff\n", text);
}

TEST_F(files, drop_caches_takes_numbers)
{
	static const char *const good[] = { "0", "0x4\n", "0x3ff", "64\n", "0x37f\n" };
	static const char *const bad[] = { "\n", "all", "0x", "0x1g", "99999999999999999999999" };
	char path[128];
	unsigned int i;

	debug_path(self->fd, "i915_gem_drop_caches", path, sizeof(path));
	for (i = 0; i < ARRAY_LEN(good); i++) {
		cover("debugfs i915_gem_drop_caches");
		EXPECT_EQ(strlen(good[i]), file_write(path, good[i]))
		{
			TH_LOG("'%s'", good[i]);
		}
	}
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		int got = file_write(path, bad[i]);

		cover("debugfs i915_gem_drop_caches");
		EXPECT_TRUE(got == -EINVAL || got == -ERANGE)
		{
			TH_LOG("'%s' is %d", bad[i], got);
		}
	}
}

/* DROP_BOUND: what is idle has no address any more. What it holds is still there. */
TEST_F(files, drop_caches_takes_addresses)
{
	const __u64 size = 16 * PAGE;
	__u32 handle = gem_create(self->fd, size);
	char path[128];
	__u64 before;

	if (getparam(self->fd, I915_PARAM_HAS_ALIASING_PPGTT) > 1)
		SKIP(return, "contexts have addresses of their own: the room is unknown");
	debug_path(self->fd, "i915_gem_drop_caches", path, sizeof(path));
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 0, 0x1dea));
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	before = room(self->fd);
	cover("debugfs i915_gem_drop_caches");
	ASSERT_LT(0, file_write(path, "0x46"));
	/* what is left is told of the global table, where a context's own addresses are not */
	if (!self->gpu.own_spaces)
		EXPECT_LE(before + size, room(self->fd));
	EXPECT_EQ(0x1dea, gem_read32(self->fd, handle, 0));
	/* and it gets another one */
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 4, 0x2dea));
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(0x2dea, gem_read32(self->fd, handle, 4));
}

/* DROP_ACTIVE waits for work. */
TEST_F(files, drop_caches_waits_for_work)
{
	char path[128];
	struct spin spin;
	int status;
	pid_t child;

	debug_path(self->fd, "i915_gem_drop_caches", path, sizeof(path));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(file_write(path, "0x8") > 0 && !gem_busy(self->fd, spin.handle) ? 0 : 1);
	usleep(50000);
	EXPECT_EQ(0, waitpid(child, &status, WNOHANG));
	spin_stop(&spin);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	spin_free(&spin);
}

/*
 * The first number, once what is on its way to be freed is (0x5c, as IGT does
 * it); or a negative errno.
 */
static int objects(int fd)
{
	char path[128], text[4096];
	int got;

	debug_path(fd, "i915_gem_drop_caches", path, sizeof(path));
	got = file_write(path, "0x5c");
	if (got < 0)
		return got;
	debug_path(fd, "i915_gem_objects", path, sizeof(path));
	cover("debugfs i915_gem_objects");
	got = file_read(path, text, sizeof(text));
	return got < 0 ? got : atoi(text);
}

/* Objects that the GPU has used are counted, and nothing is left of them. */
TEST_F(files, objects_are_counted)
{
	__u32 handles[3];
	unsigned int i;
	int before;

	/* what comes with the first use of an engine stays */
	handles[0] = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handles[0], 0, 1));
	ASSERT_EQ(0, gem_wait(self->fd, handles[0], -1));
	ASSERT_EQ(0, gem_close(self->fd, handles[0]));
	before = objects(self->fd);
	ASSERT_LE(0, before);
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		handles[i] = gem_create(self->fd, PAGE);
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handles[i], 0, i));
		ASSERT_EQ(0, gem_wait(self->fd, handles[i], -1));
	}
	EXPECT_LE(before + ARRAY_LEN(handles), objects(self->fd));
	for (i = 0; i < ARRAY_LEN(handles); i++)
		ASSERT_EQ(0, gem_close(self->fd, handles[i]));
	EXPECT_EQ(before, objects(self->fd));
}

TEST_F(files, reset_parameter_is_kept)
{
	char path[128], was[64], text[64];

	debug_path(self->fd, "i915_params/reset", path, sizeof(path));
	ASSERT_LT(0, file_read(path, was, sizeof(was)));
	EXPECT_STREQ("3\n", was);
	cover("debugfs i915_params/reset");
	EXPECT_EQ(2, file_write(path, "1\n"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("1\n", text);
	EXPECT_EQ(-EINVAL, file_write(path, "yes\n"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("1\n", text);
	/* i915's is an unsigned number, and programs write all ones for "whatever there is" */
	EXPECT_LT(0, file_write(path, "4294967295"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("4294967295\n", text);
	EXPECT_GT(0, file_write(path, "4294967296"));
	EXPECT_LT(0, file_write(path, was));
}

/* DROP_RESET_ACTIVE: work without end is over, and so is what stood behind it. */
TEST_F(files, drop_caches_ends_work)
{
	__u32 target = gem_create(self->fd, PAGE);
	struct spin spin[2];
	char path[128];
	unsigned int i;

	debug_path(self->fd, "i915_gem_drop_caches", path, sizeof(path));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin[i]));
	cover("debugfs i915_gem_drop_caches");
	EXPECT_LT(0, file_write(path, "0x80"));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, gem_busy(self->fd, spin[i].handle));
		spin_free(&spin[i]);
	}
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0x90));
	EXPECT_EQ(0x90, gem_read32(self->fd, target, 0));
}

/*
 * All engines reset: what runs has failed, the device goes on. That holds also while the driver has
 * not retired completed requests yet, which it does every 50 ms if no client waits.
 */
TEST_F(files, wedged_resets)
{
	__u32 target = gem_create(self->fd, PAGE);
	char path[128], text[64];
	unsigned int i;

	debug_path(self->fd, "i915_wedged", path, sizeof(path));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("0\n", text);
	ASSERT_EQ(0, i915_context_set(self->fd, 0, I915_CONTEXT_PARAM_BANNABLE, 0));
	for (i = 0; i < 8; i++) {
		struct spin spin;

		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, i));
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
		usleep(20000);
		cover("debugfs i915_wedged");
		EXPECT_EQ(2, file_write(path, "-1"));
		/* sooner than such a batch is stopped by itself */
		EXPECT_EQ(0, gem_wait(self->fd, spin.handle, HANG_MS / 2 * 1000000ll));
		spin_free(&spin);
		EXPECT_EQ(i, gem_read32(self->fd, target, 0));
		EXPECT_LT(0, file_read(path, text, sizeof(text)));
		EXPECT_STREQ("0\n", text);
	}
	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0x91));
	EXPECT_EQ(0x91, gem_read32(self->fd, target, 0));
	EXPECT_EQ(-EINVAL, file_write(path, "now"));
}

/* Without resets the device is wedged, until root revives it. */
TEST_F(files, wedged_without_resets)
{
	struct drm_i915_gem_context_create_ext create = {};
	char path[128], param[128], drop[128], text[64];
	__u32 target = gem_create(self->fd, PAGE);

	debug_path(self->fd, "i915_wedged", path, sizeof(path));
	debug_path(self->fd, "i915_params/reset", param, sizeof(param));
	debug_path(self->fd, "i915_gem_drop_caches", drop, sizeof(drop));
	ASSERT_LT(0, file_write(param, "0"));
	cover("debugfs i915_wedged");
	EXPECT_LT(0, file_write(path, "-1"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("1\n", text);
	EXPECT_EQ(-EIO, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 1));
	BAD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create, EIO);
	/* a write of all bits to drop_caches succeeds; without resets the device stays wedged */
	EXPECT_LT(0, file_write(drop, "0x3ff"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("1\n", text);
	ASSERT_LT(0, file_write(param, "3"));
	EXPECT_LT(0, file_write(drop, "0x80"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("0\n", text);
	EXPECT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, target, 0, 0x92));
	EXPECT_EQ(0x92, gem_read32(self->fd, target, 0));
}

TEST_F(files, hang_check_is_turned_off_and_on)
{
	char path[128], text[64];

	debug_path(self->fd, "i915_params/enable_hangcheck", path, sizeof(path));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("Y\n", text);
	cover("debugfs i915_params/enable_hangcheck");
	EXPECT_EQ(1, file_write(path, "0"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("N\n", text);
	EXPECT_EQ(-EINVAL, file_write(path, "perhaps"));
	EXPECT_EQ(2, file_write(path, "1\n"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("Y\n", text);
}

/* Class and instance are those of i915_drm.h. */
static const struct {
	const char *folder, *name, *class, *instance, *known;
	/* Sandy Bridge's (VCS 1.1.1), DG2's (Vol 2c), and those of Gen4 (digest, G-04) */
	const char *registers[3];
} engine_files[] = {
	{ "rcs0", "rcs0\n", "0\n", "0\n", "\n", { "0x2000\n", "0x2000\n", "0x2000\n" } },
	{ "bcs0", "bcs0\n", "1\n", "0\n", "\n", { "0x22000\n", "0x22000\n", "" } },
	{ "vcs0", "vcs0\n", "2\n", "0\n", "hevc sfc\n",
	  { "0x12000\n", "0x1c0000\n", "0x4000\n" } },
};

TEST_F(files, engines_in_sysfs)
{
	struct {
		const char *file;
		const char *want;
	} of[] = {
		{ .file = "name" }, { .file = "class" }, { .file = "instance" },
		{ .file = "capabilities" }, { .file = "known_capabilities" },
		{ .file = "mmio_base" },
	};
	bool lists = getparam(self->fd, I915_PARAM_HAS_SCHEDULER) & I915_SCHEDULER_CAP_PREEMPTION;
	unsigned int place = !strcmp(self->gpu.backend->name, "gen4") ? 2 : lists;
	char path[256], name[64], text[64];
	unsigned int i, k;

	for (i = 0; i < ARRAY_LEN(engine_files); i++) {
		bool there = false;

		for (k = 0; k < self->gpu.n_engines; k++)
			there |= !strcmp(self->gpu.engines[k].name, engine_files[i].folder);
		if (!there)
			continue;
		of[0].want = engine_files[i].name;
		of[1].want = engine_files[i].class;
		of[2].want = engine_files[i].instance;
		of[3].want = "\n";
		of[4].want = engine_files[i].known;
		of[5].want = engine_files[i].registers[place];
		for (k = 0; k < ARRAY_LEN(of); k++) {
			snprintf(name, sizeof(name), "engine/%s/%s", engine_files[i].folder,
				 of[k].file);
			ASSERT_EQ(0, card_path(self->fd, name, path, sizeof(path)));
			cover("sysfs engine");
			EXPECT_LT(0, file_read(path, text, sizeof(text)))
			{
				TH_LOG("%s", path);
			}
			EXPECT_STREQ(of[k].want, text);
			EXPECT_GT(0, file_write(path, "1"));
		}
	}
}

/* A fifth of the hang time-out, which is 3000 ms by default; one for all engines. */
TEST_F(files, heartbeat_in_sysfs)
{
	char path[256], hangcheck[128], before[64], text[64], name[64];

	if (!self->gpu.ouro)
		SKIP(return, "another driver has a scheduler's heartbeat there");
	snprintf(name, sizeof(name), "engine/%s/heartbeat_interval_ms", self->gpu.engines[0].name);
	ASSERT_EQ(0, card_path(self->fd, name, path, sizeof(path)));
	cover("sysfs engine");
	ASSERT_LT(0, file_read(path, before, sizeof(before)));
	/* enabled again it has the value with which the module was loaded */
	debug_path(self->fd, "i915_params/enable_hangcheck", hangcheck, sizeof(hangcheck));
	EXPECT_LT(0, file_write(hangcheck, "Y"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("600\n", text);
	EXPECT_EQ(4, file_write(path, "5000"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("5000\n", text);
	EXPECT_EQ(-EINVAL, file_write(path, "soon"));
	EXPECT_EQ(-EINVAL, file_write(path, "-1"));
	EXPECT_EQ(-EINVAL, file_write(path, "4294967296"));
	/* five of them are more than 32 bits can count */
	EXPECT_EQ(-EINVAL, file_write(path, "858993460"));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("5000\n", text);
	EXPECT_LT(0, file_write(path, before));
	/* IGT writes what is there to where the other one is */
	snprintf(name, sizeof(name), "engine/%s/.defaults/heartbeat_interval_ms",
		 self->gpu.engines[0].name);
	ASSERT_EQ(0, card_path(self->fd, name, path, sizeof(path)));
	EXPECT_LT(0, file_read(path, text, sizeof(text)));
	EXPECT_STREQ("600\n", text);
	EXPECT_GT(0, file_write(path, "1"));
}

/*
 * Parameters of the scheduler, where there is one: the preemption time-out of an engine, and the
 * time slice while others of the same priority wait.
 */
TEST_F(files, settings_of_lists_in_sysfs)
{
	static const struct {
		const char *name, *first;
	} all[] = {
		{ "preempt_timeout_ms", "1500\n" },
		{ "timeslice_duration_ms", "5\n" },
	};
	const bool there = getparam(self->fd, I915_PARAM_HAS_SCHEDULER) &
			   I915_SCHEDULER_CAP_PREEMPTION;
	const char *engine = self->gpu.engines[0].name;
	char path[256], before[64], text[64], name[64];
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(all); i++) {
		cover("sysfs engine");
		snprintf(name, sizeof(name), "engine/%s/.defaults/%s", engine, all[i].name);
		ASSERT_EQ(0, card_path(self->fd, name, path, sizeof(path)));
		if (!there) {
			EXPECT_GT(0, file_read(path, text, sizeof(text)));
			continue;
		}
		EXPECT_LT(0, file_read(path, before, sizeof(before)));
		EXPECT_GT(0, file_write(path, "1"));
		if (self->gpu.ouro)
			EXPECT_STREQ(all[i].first, before);
		snprintf(name, sizeof(name), "engine/%s/%s", engine, all[i].name);
		ASSERT_EQ(0, card_path(self->fd, name, path, sizeof(path)));
		EXPECT_EQ(3, file_write(path, "400"));
		EXPECT_LT(0, file_read(path, text, sizeof(text)));
		EXPECT_STREQ("400\n", text);
		EXPECT_EQ(-EINVAL, file_write(path, "soon"));
		EXPECT_GT(0, file_write(path, "18446744073709551616"));
		EXPECT_LT(0, file_read(path, text, sizeof(text)));
		EXPECT_STREQ("400\n", text);
		EXPECT_LT(0, file_write(path, before));
	}
}

/* Keys are those of the kernel's Documentation/gpu/drm-usage-stats.rst. */
TEST_F(files, fdinfo_tells_who_is_busy)
{
	static const char *const names[] = { "render", "copy", "video", "video-enhance" };
	struct gpu other;
	char key[64];
	unsigned int i, k, tries;

	ASSERT_EQ(0, gpu_open(&other));
	for (i = 0; i < self->gpu.n_engines; i++) {
		const struct engine *engine = &self->gpu.engines[i];
		long long before, while_, after, of_other;
		struct spin spin;

		k = __builtin_ctz(engine->bit);
		snprintf(key, sizeof(key), "drm-engine-%s", names[k]);
		cover("fdinfo");
		before = client_usage(self->fd, key);
		of_other = client_usage(other.fd, key);
		ASSERT_LE(0, before);
		ASSERT_LE(0, of_other);
		ASSERT_EQ(0, spin_start(&self->gpu, engine, 0, 0, NULL, &spin));
		usleep(100000);
		/* 100 ms, also before it is done */
		while_ = client_usage(self->fd, key);
		EXPECT_LE(before + 50000000, while_);
		spin_stop(&spin);
		ASSERT_EQ(0, gem_wait(self->fd, spin.handle, -1));
		/* it is idle when the driver has seen that; and the other one was all the time */
		for (tries = 0; tries < 1000; tries++) {
			after = client_usage(self->fd, key);
			EXPECT_LE(while_, after);
			usleep(50000);
			if (after == client_usage(self->fd, key))
				break;
		}
		EXPECT_GT(1000, tries);
		EXPECT_EQ(of_other, client_usage(other.fd, key));
		spin_free(&spin);
	}
	/* unused, or unknown */
	EXPECT_EQ(self->gpu.speaks == &i915 ? -1 : 0,
		  client_usage(self->fd, "drm-engine-compute"));
	gpu_close(&other);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* A client's time ends when it is told that its batch is done, not when the driver looks next. */
TEST_F(files, fdinfo_stops_when_told_done)
{
	static const char *const names[] = { "render", "copy", "video", "video-enhance" };
	unsigned int i, n;

	for (i = 0; i < self->gpu.n_engines; i++) {
		const struct engine *engine = &self->gpu.engines[i];
		long long used = 0, passed = 0;
		char key[64];

		snprintf(key, sizeof(key), "drm-engine-%s", names[__builtin_ctz(engine->bit)]);
		cover("fdinfo");
		/* the driver looks by itself every 50 ms, which may be soon: not each time */
		for (n = 0; n < 8; n++) {
			long long before = client_usage(self->fd, key), began = now();
			struct spin spin;

			ASSERT_EQ(0, spin_start(&self->gpu, engine, 0, 0, NULL, &spin));
			spin_stop(&spin);
			while (gem_busy(self->fd, spin.handle) > 0)
				usleep(1000);
			passed += now() - began;
			usleep(45000);
			used += client_usage(self->fd, key) - before;
			spin_free(&spin);
		}
		EXPECT_GE(passed, used);
	}
}

/* Counts the wakes of the device. */
static __u64 wakes(int fd)
{
	struct drm_ouro_stats stats = {};

	return call(fd, DRM_IOCTL_OURO_STATS, &stats) ? 0 : stats.wakes;
}

/* Works and rests until the device was woken again, or has not been for so many times. */
static bool is_woken(struct gpu *gpu, __u32 target, unsigned int tries)
{
	const __u64 before = wakes(gpu->fd);

	while (tries-- && wakes(gpu->fd) == before) {
		if (store(gpu, &gpu->engines[0], 0, target, 0, 1) ||
		    gem_wait(gpu->fd, target, -1))
			return false;
		usleep(200000);
	}
	return wakes(gpu->fd) != before;
}

/* The idle device sleeps, except while the file is open. */
TEST_F(files, a_file_keeps_the_device_awake)
{
	const __u32 target = gem_create(self->fd, PAGE);
	char path[128];
	int first, second;

	if (!wakes(self->fd))
		SKIP(return, "the driver does not say how often the device was woken");
	debug_path(self->fd, "i915_forcewake_user", path, sizeof(path));
	EXPECT_TRUE(is_woken(&self->gpu, target, 150));
	first = open(path, O_RDONLY);
	second = open(path, O_RDONLY);
	ASSERT_LE(0, first);
	ASSERT_LE(0, second);
	cover("debugfs i915_forcewake_user");
	EXPECT_FALSE(is_woken(&self->gpu, target, 10));
	close(first);
	EXPECT_FALSE(is_woken(&self->gpu, target, 10));
	close(second);
	EXPECT_TRUE(is_woken(&self->gpu, target, 150));
}

TEST_HARNESS_MAIN

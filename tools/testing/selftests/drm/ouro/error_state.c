// SPDX-License-Identifier: GPL-2.0
/*
 * The error state: Documentation/gpu/ouro/error-state.rst. The first one is
 * kept, has what was marked with EXEC_OBJECT_CAPTURE, and is root's alone.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define TOPIC error_state
#define ANY_I915
#define MUTE_ENGINES
#define HANGS
#include "test.h"
#include "error_state.h"
#include "files.h"

/* The value of a line of the head, compared with what it should be. */
static bool says(const char *text, const char *name, const char *value)
{
	char line[128];

	snprintf(line, sizeof(line), "\n%s: %s\n", name, value);
	return strstr(text, line);
}

static int wait_for(int fence)
{
	struct pollfd p = { .fd = fence, .events = POLLIN };
	struct sync_file_info info = {};

	if (poll(&p, 1, 60000) != 1)
		return -ETIME;
	return ioctl(fence, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

/* A batch without end that has marked two objects of four; their addresses. Waits for its end. */
static int hang(const struct gpu *gpu, const struct engine *engine, __u32 context,
		const __u32 *marked, __u64 *addresses, __u64 *batch)
{
	struct drm_i915_gem_execbuffer2 eb;
	struct batch b;
	__u32 itself;
	int got, i;

	batch_init(&b);
	batch_object(&b, marked[0])->flags |= EXEC_OBJECT_CAPTURE;
	batch_object(&b, gem_create(gpu->fd, PAGE));
	batch_object(&b, marked[1])->flags |= EXEC_OBJECT_CAPTURE;
	b.n = 8;
	b.words[b.n++] = batch_start_of(gpu, engine);
	itself = batch_to_itself(gpu->fd, &b, &eb);
	eb.flags = engine->ring | I915_EXEC_FENCE_OUT;
	eb.rsvd1 = context;
	got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	if (!got) {
		got = wait_for(eb.rsvd2 >> 32);
		close(eb.rsvd2 >> 32);
	}
	for (i = 0; i < 2; i++)
		addresses[i] = b.objects[i * 2].offset;
	*batch = b.objects[3].offset;
	gem_close(gpu->fd, b.objects[1].handle);
	gem_close(gpu->fd, itself);
	return got;
}

TEST_F(error_state, what_is_in_it)
{
	enum { BIG = 3 * PAGE };
	static const char *const order[] = {
		"ouro error state 1\n", "\nengine: ",   "\nrcs0: ",
		" --- user = ",	        " --- batch = ", " --- ring = ",
		"\n--- end of error state\n",
	};
	__u32 marked[2] = { gem_create(self->fd, PAGE), gem_create(self->fd, BIG) };
	__u32 pattern[BIG / 4], got[BIG / 4], i, context = context_create(self->fd);
	char *text, value[64], *at;
	__u64 addresses[2], batch;

	for (i = 0; i < ARRAY_LEN(pattern); i++)
		pattern[i] = i % 3 ? i * 0x9e3779b9u : 0;
	ASSERT_EQ(0, gem_write(self->fd, marked[1], 0, pattern, sizeof(pattern)));
	if (clear(self->fd) == -ENOENT)
		SKIP(return, "the driver keeps no error state");
	cover("sysfs error");
	text = read_all(self->fd);
	ASSERT_NE(NULL, text);
	EXPECT_STREQ(NOTHING, text);
	free(text);

	ASSERT_EQ(-EIO, hang(&self->gpu, &self->gpu.engines[0], context, marked, addresses,
			     &batch));
	cover("sysfs error");
	text = read_all(self->fd);
	ASSERT_NE(NULL, text);
	for (i = 0, at = text; i < ARRAY_LEN(order); i++) {
		at = strstr(at, order[i]);
		ASSERT_NE(NULL, at)
		{
			TH_LOG("%s is missing, or not in its place", order[i]);
		}
	}
	EXPECT_TRUE(says(text, "engine", "rcs0"));
	/* where the machine stands still for a while, nothing has moved in the loop */
	EXPECT_TRUE(says(text, "reason", "rcs0: not complete within the hang timeout") ||
		    says(text, "reason", "rcs0: no progress") ||
		    says(text, "reason", "rcs0: preemption timeout"));
	EXPECT_TRUE(says(text, "guilty", "1"));
	EXPECT_TRUE(says(text, "left out", "0"));
	snprintf(value, sizeof(value), "error_state[%d]", getpid());
	EXPECT_TRUE(says(text, "process", value))
	{
		TH_LOG("%.400s", text);
	}
	snprintf(value, sizeof(value), "0x%016llx", (unsigned long long)batch);
	EXPECT_TRUE(says(text, "batch", value));
	/* of cards it is in the context's image */
	EXPECT_EQ(self->gpu.own_spaces && !addresses_chosen(),
		  !!strstr(text, "\ndirectory: 0x"));

	EXPECT_EQ(PAGE / 4, memory(text, "user", addresses[0], got, BIG / 4));
	for (i = 0; i < PAGE / 4 && !got[i]; i++)
		;
	EXPECT_EQ(PAGE / 4, i);
	EXPECT_EQ(BIG / 4, memory(text, "user", addresses[1], got, BIG / 4));
	EXPECT_EQ(0, memcmp(got, pattern, BIG));
	EXPECT_EQ(PAGE / 4, memory(text, "batch", batch, got, BIG / 4));
	EXPECT_EQ(self->gpu.backend->batch_start, got[8]);
	EXPECT_EQ((__u32)batch, got[9]);
	/* what has no mark is not there: two objects of four, the batch, and the rings */
	for (i = 0, at = text; (at = strstr(at, " --- user = ")); at++)
		i++;
	EXPECT_EQ(2, i);
	free(text);
	EXPECT_EQ(0, clear(self->fd));
	text = read_all(self->fd);
	EXPECT_STREQ(NOTHING, text);
	free(text);
}

/* The video engine says how it fetches batches, and that a TLB of its holds the batch's page. */
TEST_F(error_state, the_video_engines_tables)
{
	__u32 marked[2] = { gem_create(self->fd, PAGE), gem_create(self->fd, PAGE) };
	char line[128], *text, *block, *end;
	const struct engine *video = NULL;
	__u64 addresses[2], batch;
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++)
		if (self->gpu.engines[i].bit == VCS)
			video = &self->gpu.engines[i];
	if (!self->gpu.ouro || !self->gpu.backend->has_tables_shown)
		SKIP(return, "no engine here shows its tables");
	ASSERT_NE(NULL, video);
	ASSERT_EQ(0, clear(self->fd));
	ASSERT_EQ(-EIO, hang(&self->gpu, video, context_create(self->fd), marked, addresses,
			     &batch));
	cover("sysfs error");
	text = read_all(self->fd);
	ASSERT_NE(NULL, text);
	/* as user space sent it, it is without privilege */
	block = strstr(text, "\nvcs0: ");
	ASSERT_NE(NULL, block);
	EXPECT_NE(NULL, strstr(block, "\n  batches: first level through the PPGTT, "));
	block = strstr(text, "\nvcs0: translations\n");
	ASSERT_NE(NULL, block)
	{
		TH_LOG("%.3000s", text);
	}
	end = strstr(block, " --- ");
	ASSERT_NE(NULL, end);
	snprintf(line, sizeof(line), ": 0x%llx through the PPGTT\n",
		 (unsigned long long)batch & ~(PAGE - 1));
	block = strstr(block, line);
	EXPECT_TRUE(block && block < end)
	{
		TH_LOG("%.3000s", text);
	}
	/* once, and of no other engine */
	for (i = 0, block = text; (block = strstr(block, ": translations\n")); block++)
		i++;
	EXPECT_EQ(1, i);
	free(text);
	EXPECT_EQ(0, clear(self->fd));
}

/* The second one is dropped; after clearing, the third is kept. */
TEST_F(error_state, first_is_kept)
{
	__u32 marked[2] = { gem_create(self->fd, PAGE), gem_create(self->fd, PAGE) };
	const struct engine *other = &self->gpu.engines[self->gpu.n_engines > 1];
	__u64 addresses[2], batch;
	char *first, *second;

	if (clear(self->fd) == -ENOENT)
		SKIP(return, "the driver keeps no error state");
	cover("sysfs error");
	ASSERT_EQ(-EIO, hang(&self->gpu, other, context_create(self->fd), marked,
			     addresses, &batch));
	first = read_all(self->fd);
	ASSERT_NE(NULL, first);
	EXPECT_TRUE(says(first, "engine", other->name));
	ASSERT_EQ(-EIO, hang(&self->gpu, &self->gpu.engines[0], context_create(self->fd), marked,
			     addresses, &batch));
	second = read_all(self->fd);
	ASSERT_NE(NULL, second);
	EXPECT_EQ(0, strcmp(first, second));
	free(first);
	free(second);
	EXPECT_EQ(0, clear(self->fd));
	ASSERT_EQ(-EIO, hang(&self->gpu, &self->gpu.engines[0], context_create(self->fd), marked,
			     addresses, &batch));
	second = read_all(self->fd);
	ASSERT_NE(NULL, second);
	EXPECT_TRUE(says(second, "engine", "rcs0"));
	free(second);
	EXPECT_EQ(0, clear(self->fd));
}

/*
 * What the GPU wrote past the CPU's caches is in it, and not what they held of it: where they share
 * none, the lines of the marked object are dropped first.
 */
TEST_F(error_state, what_the_gpu_wrote_is_in_it)
{
	__u32 marked[2] = { gem_create(self->fd, PAGE), gem_create(self->fd, PAGE) };
	long before = flushed(self->fd, "capture"), lines;
	const struct engine *engine = &self->gpu.engines[0];
	__u64 addresses[2], batch;
	__u32 got[PAGE / 4] = {};
	char *text;

	if (clear(self->fd) == -ENOENT)
		SKIP(return, "the driver keeps no error state");
	/* into the caches, and written by the GPU then */
	EXPECT_EQ(0, gem_read32(self->fd, marked[0], 64));
	ASSERT_EQ(0, store(&self->gpu, engine, 0, marked[0], 64, 0xca97));
	ASSERT_EQ(0, gem_wait(self->fd, marked[0], -1));
	ASSERT_EQ(-EIO, hang(&self->gpu, engine, context_create(self->fd), marked, addresses,
			     &batch));
	text = read_all(self->fd);
	ASSERT_NE(NULL, text);
	ASSERT_LE(17, memory(text, "user", addresses[0], got, ARRAY_LEN(got)));
	EXPECT_EQ(0xca97, got[16]);
	free(text);
	lines = flushed(self->fd, "capture") - before;
	/* the two and the batch, of a page each, in lines of 64 bytes */
	if (before >= 0 && self->gpu.backend->no_shared_cache)
		EXPECT_EQ(3 * PAGE / 64, lines);
	if (before >= 0 && !self->gpu.backend->no_shared_cache)
		EXPECT_EQ(0, lines);
	EXPECT_EQ(0, clear(self->fd));
}

/* A context that wants nothing kept; and a user who is not root. */
TEST_F(error_state, nothing_is_shown)
{
	__u32 marked[2] = { gem_create(self->fd, PAGE), gem_create(self->fd, PAGE) };
	__u32 context = context_create(self->fd);
	struct drm_i915_gem_context_param param = { .ctx_id = context,
						    .param = I915_CONTEXT_PARAM_NO_ERROR_CAPTURE,
						    .value = 1 };
	__u64 addresses[2], batch;
	char *text;
	pid_t child;
	int status;

	if (clear(self->fd) == -ENOENT)
		SKIP(return, "the driver keeps no error state");
	GOOD(self->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &param);
	ASSERT_EQ(-EIO, hang(&self->gpu, &self->gpu.engines[0], context, marked, addresses,
			     &batch));
	cover("sysfs error");
	text = read_all(self->fd);
	EXPECT_STREQ(NOTHING, text);
	free(text);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (setuid(65534))
			_exit(2);
		_exit(read_all(self->fd) || clear(self->fd) != -EACCES);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

#define DUMPS "/sys/class/devcoredump"

/* Devcoredump's file of a device, if there is one. */
static bool dump_of(const struct place *place, char *path, size_t size)
{
	DIR *dir = opendir(DUMPS);
	char link[300], target[256];
	struct dirent *entry;
	bool found = false;
	ssize_t n;

	while (dir && !found && (entry = readdir(dir))) {
		snprintf(link, sizeof(link), DUMPS "/%s/failing_device", entry->d_name);
		n = readlink(link, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = 0;
		found = strstr(target, place->name);
		snprintf(path, size, DUMPS "/%s/data", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Waits until there is one, or none. */
static bool dump_comes(const struct place *place, bool wanted, char *path, size_t size)
{
	unsigned int i;

	for (i = 0; i < 6000 && dump_of(place, path, size) != wanted; i++)
		usleep(10000);
	return dump_of(place, path, size) == wanted;
}

/* The same text is left for devcoredump: once, and root's alone. */
TEST_F(error_state, devcoredump)
{
	__u32 marked[2] = { gem_create(self->fd, PAGE), gem_create(self->fd, PAGE) };
	__u64 addresses[2], batch;
	struct place place;
	char path[300], *kept, *dump;
	pid_t child;
	int status;

	if (access(DUMPS, F_OK))
		SKIP(return, "the kernel has no devcoredump");
	if (clear(self->fd) == -ENOENT)
		SKIP(return, "the driver keeps no error state");
	ASSERT_EQ(0, device_of(self->fd, &place));
	/* one of before keeps others out */
	if (dump_of(&place, path, sizeof(path)))
		ASSERT_EQ(0, write_one(path));
	ASSERT_TRUE(dump_comes(&place, false, path, sizeof(path)));
	ASSERT_EQ(-EIO, hang(&self->gpu, &self->gpu.engines[0], context_create(self->fd), marked,
			     addresses, &batch));
	cover("devcoredump");
	ASSERT_TRUE(dump_comes(&place, true, path, sizeof(path)));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (setuid(65534))
			_exit(2);
		_exit(!!read_file(path));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	kept = read_all(self->fd);
	dump = read_file(path);
	ASSERT_TRUE(kept && dump);
	EXPECT_EQ(0, strncmp(dump, "ouro error state 1\n", 19));
	EXPECT_EQ(0, strcmp(kept, dump));
	free(kept);
	free(dump);
	/* it goes when it is written to, and the other one stays */
	EXPECT_EQ(0, write_one(path));
	EXPECT_TRUE(dump_comes(&place, false, path, sizeof(path)));
	kept = read_all(self->fd);
	EXPECT_STRNE(NOTHING, kept);
	free(kept);
	EXPECT_EQ(0, clear(self->fd));
}

/*
 * The line about a hang that comes after what `log` has been read of, without
 * its head: false if there is none. What comes later is left for the next call.
 */
static bool logged(int log, char *line, size_t size)
{
	char record[8192], *at;
	ssize_t got;

	while ((got = read(log, record, sizeof(record) - 1)) > 0 || (got < 0 && errno == EPIPE)) {
		if (got < 0)
			continue;
		record[got] = 0;
		at = strstr(record, ": GPU hang on ");
		if (!at)
			continue;
		snprintf(line, size, "%s", at + 2);
		*strchrnul(line, '\n') = 0;
		return true;
	}
	return false;
}

/* Engine, process, how long it ran, and where the error state is: one line of the kernel's log. */
TEST_F(error_state, the_log_tells_of_it)
{
	__u32 marked[2] = { gem_create(self->fd, PAGE), gem_create(self->fd, PAGE) };
	const struct engine *engine = &self->gpu.engines[0];
	char line[512] = "", head[128], path[64], tail[128];
	unsigned int ms = 0, round;
	__u64 addresses[2], batch;
	int log, at;

	if (!self->gpu.ouro)
		SKIP(return, "another driver says it in other words");
	log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, log);
	file_of(self->fd, path, sizeof(path));
	ASSERT_EQ(0, clear(self->fd));
	for (round = 0; round < 2; round++) {
		lseek(log, 0, SEEK_END);
		ASSERT_EQ(-EIO, hang(&self->gpu, engine, context_create(self->fd), marked,
				     addresses, &batch));
		ASSERT_TRUE(logged(log, line, sizeof(line)));
		snprintf(head, sizeof(head), "GPU hang on %s: error_state[%d] ran for %%u ms, %%n",
			 engine->name, getpid());
		at = 0;
		if (sscanf(line, head, &ms, &at) != 1)
			at = 0;
		/* a limit is 300 ms at least, and half of it without a move is enough */
		EXPECT_TRUE(at && ms >= 100 && ms < 60000);
		/* the first one is kept */
		snprintf(tail, sizeof(tail), "; %s%s",
			 round ? "an earlier error state is in " : "error state: ", path);
		EXPECT_TRUE(strlen(line) > strlen(tail) &&
			    !strcmp(line + strlen(line) - strlen(tail), tail))
		{
			TH_LOG("%s", line);
		}
		EXPECT_FALSE(logged(log, line, sizeof(line)));
	}
	EXPECT_EQ(0, access(path, R_OK));
	EXPECT_EQ(0, clear(self->fd));
	close(log);
}

TEST_HARNESS_MAIN

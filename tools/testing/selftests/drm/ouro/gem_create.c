// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_CREATE and DRM_IOCTL_GEM_CLOSE. */
#define TOPIC gem_create
#define ANY_I915
#include <sys/wait.h>

#include "test.h"
#include "files.h"

TEST_F(gem_create, sizes_are_whole_pages)
{
	static const struct {
		__u64 asked, given;
	} sizes[] = {
		{ 1, PAGE },	      { PAGE - 1, PAGE },
		{ PAGE, PAGE },	      { PAGE + 1, 2 * PAGE },
		{ 65536, 65536 },     { 1000000, 1003520 },
		{ 4 << 20, 4 << 20 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		struct drm_i915_gem_create create = { .size = sizes[i].asked };

		GOOD(self->fd, DRM_IOCTL_I915_GEM_CREATE, &create);
		EXPECT_NE(0, create.handle);
		EXPECT_EQ(sizes[i].given, create.size);
		EXPECT_EQ(0, gem_close(self->fd, create.handle));
	}
}

TEST_F(gem_create, sizes_that_cannot_be)
{
	static const struct {
		__u64 size;
		int error;
	} bad[] = {
		{ 0, EINVAL },
		{ ~0ull, EINVAL },
		{ ~0ull << 31, E2BIG },
		{ 1ull << 63, E2BIG },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct drm_i915_gem_create create = { .size = bad[i].size, .handle = 0 };

		BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE, &create, bad[i].error);
		EXPECT_EQ(0, create.handle);
	}
	BAD(self->fd, DRM_IOCTL_I915_GEM_CREATE, NULL, EFAULT);
}

TEST_F(gem_create, memory_is_zero)
{
	static __u8 bytes[64 << 10], zero[64 << 10];
	int round;

	/* Fill and free, so that pages with something in them go round. */
	for (round = 0; round < 8; round++) {
		__u32 handle = gem_create(self->fd, sizeof(bytes));

		ASSERT_NE(0, handle);
		memset(bytes, 0x55, sizeof(bytes));
		ASSERT_EQ(0, gem_read(self->fd, handle, 0, bytes, sizeof(bytes)));
		EXPECT_EQ(0, memcmp(bytes, zero, sizeof(bytes)));
		memset(bytes, 0xa5, sizeof(bytes));
		ASSERT_EQ(0, gem_write(self->fd, handle, 0, bytes, sizeof(bytes)));
		EXPECT_EQ(0, gem_close(self->fd, handle));
	}
}

TEST_F(gem_create, handles_differ_and_end)
{
	struct drm_gem_close close = {};
	__u32 handles[32];
	unsigned int i, k;

	for (i = 0; i < ARRAY_LEN(handles); i++) {
		handles[i] = gem_create(self->fd, PAGE);
		ASSERT_NE(0, handles[i]);
		for (k = 0; k < i; k++)
			EXPECT_NE(handles[k], handles[i]);
	}
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		close.handle = handles[i];
		GOOD(self->fd, DRM_IOCTL_GEM_CLOSE, &close);
		BAD(self->fd, DRM_IOCTL_GEM_CLOSE, &close, EINVAL);
	}
	close.handle = 0;
	BAD(self->fd, DRM_IOCTL_GEM_CLOSE, &close, EINVAL);
	close.handle = ~0u;
	BAD(self->fd, DRM_IOCTL_GEM_CLOSE, &close, EINVAL);
	BAD(self->fd, DRM_IOCTL_GEM_CLOSE, NULL, EFAULT);
}

TEST_F(gem_create, pages_come_with_use)
{
	/* More than a small guest has: an untouched object costs nothing. */
	__u32 handle = gem_create(self->fd, 4ull << 30);
	__u32 other;

	ASSERT_NE(0, handle);
	EXPECT_EQ(0, gem_close(self->fd, handle));
	other = gem_create(self->fd, PAGE);
	EXPECT_NE(0, other);
	EXPECT_EQ(0, gem_close(self->fd, other));
}

/*
 * Returns the number of open files of the system, and sets `limit` to the most; or a negative
 * errno.
 */
static int files(int *limit)
{
	char text[64];
	int got = file_read("/proc/sys/fs/file-nr", text, sizeof(text));
	int used, unused;

	if (got < 0)
		return got;
	return sscanf(text, "%d %d %d", &used, &unused, limit) == 3 ? used : -EIO;
}

static bool limit_files(int n)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", n);
	return file_write("/proc/sys/fs/file-max", text) > 0;
}

/*
 * GEM_CREATE by a user that is not root, when all files are taken. Returns 0 or a negative errno.
 */
static int create_without_files(int fd)
{
	struct drm_i915_gem_create create = { .size = PAGE };
	unsigned int i;
	int got = 0;

	if (setgid(65534) || setuid(65534))
		return errno;
	/* an object that is made in spite of that is kept: it may have been the last file */
	for (i = 0; i < 512 && !got; i++) {
		while (open("/dev/null", O_RDONLY) >= 0)
			;
		if (errno != ENFILE)
			return errno;
		create.handle = 0;
		got = call(fd, DRM_IOCTL_I915_GEM_CREATE, &create);
	}
	cover("DRM_IOCTL_I915_GEM_CREATE");
	return -got;
}

/*
 * An object in the memory of the system is a file of it. Who makes one is told
 * that there are no more.
 */
TEST_F(gem_create, without_files_there_are_none)
{
	int limit, used, status;
	pid_t child;

	if (geteuid())
		SKIP(return, "only root can set a limit");
	used = files(&limit);
	ASSERT_LT(0, used);
	ASSERT_TRUE(limit_files(used + 200));
	child = fork();
	if (!child)
		_exit(create_without_files(self->fd));
	if (child > 0)
		waitpid(child, &status, 0);
	ASSERT_TRUE(limit_files(limit));
	ASSERT_LT(0, child);
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(ENFILE, WEXITSTATUS(status));
	/* and then there are some again */
	EXPECT_NE(0, gem_create(self->fd, PAGE));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that several files share: flink names, dma-bufs, and what a file may
 * not do to another's.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <linux/dma-buf.h>

#define ANY_INTERFACE
#include "card.h"
#include "test.h"

FIXTURE(share)
{
	struct gpu gpu;
	struct gpu other;
	int fd;
};

FIXTURE_SETUP(share)
{
	gpu_setup(_metadata, &self->gpu);
	ASSERT_EQ(0, gpu_open(&self->other));
	self->fd = self->gpu.fd;
}

FIXTURE_TEARDOWN(share)
{
	gpu_close(&self->gpu);
	gpu_close(&self->other);
}

static int export(int fd, __u32 handle, __u32 flags)
{
	struct drm_prime_handle prime = { .handle = handle, .flags = flags };

	return call(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) ? -1 : prime.fd;
}

TEST_F(share, dma_buf_between_files)
{
	struct drm_prime_handle prime = { .handle = gem_create(self->fd, PAGE),
					  .flags = DRM_CLOEXEC | DRM_RDWR };
	struct drm_prime_handle import = {};
	const struct engine *engine = &self->gpu.engines[0];
	unsigned int i;

	GOOD(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	import.fd = prime.fd;
	GOOD(self->other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &import);
	EXPECT_NE(0, import.handle);
	for (i = 0; i < 8; i++) {
		/* written by one, read by the other, both ways */
		ASSERT_EQ(0, store(&self->gpu, engine, 0, prime.handle, 0, 100 + i));
		EXPECT_EQ(100 + i, gem_read32(self->other.fd, import.handle, 0));
		ASSERT_EQ(0, store(&self->other, engine, 0, import.handle, 8, 200 + i));
		EXPECT_EQ(200 + i, gem_read32(self->fd, prime.handle, 8));
	}
	gem_close(self->fd, prime.handle);
	EXPECT_EQ(207, gem_read32(self->other.fd, import.handle, 8));
	close(prime.fd);
	EXPECT_EQ(207, gem_read32(self->other.fd, import.handle, 8));
}

TEST_F(share, own_dma_buf_comes_back_as_the_same_handle)
{
	__u32 handle = gem_create(self->fd, PAGE);
	struct drm_prime_handle import = {};

	import.fd = export(self->fd, handle, DRM_CLOEXEC);
	ASSERT_GE(import.fd, 0);
	GOOD(self->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &import);
	EXPECT_EQ(handle, import.handle);
	close(import.fd);
}

TEST_F(share, dma_buf_arguments)
{
	__u32 handle = gem_create(self->fd, PAGE);
	struct drm_prime_handle prime = { .handle = 0xfffffff0, .flags = DRM_CLOEXEC };
	struct drm_prime_handle import = { .fd = -1 };

	BAD(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime, ENOENT);
	prime.handle = handle;
	prime.flags = 0x100;
	BAD(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime, EINVAL);
	BAD(self->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &import, EBADF);
	import.fd = self->fd;
	BAD(self->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &import, EINVAL);
}

TEST_F(share, dma_buf_can_be_mapped_and_has_a_size)
{
	__u32 handle = gem_create(self->fd, 2 * PAGE);
	int buf = export(self->fd, handle, DRM_CLOEXEC | DRM_RDWR);
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW };
	__u32 *map;

	ASSERT_GE(buf, 0);
	EXPECT_EQ(2 * PAGE, lseek(buf, 0, SEEK_END));
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, buf, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, ioctl(buf, DMA_BUF_IOCTL_SYNC, &sync));
	map[5] = 0xbeef;
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
	EXPECT_EQ(0, ioctl(buf, DMA_BUF_IOCTL_SYNC, &sync));
	EXPECT_EQ(0xbeef, gem_read32(self->fd, handle, 20));
	munmap(map, 2 * PAGE);
	close(buf);
}

/* A client that polls the dma-buf sees the GPU's work. */
TEST_F(share, dma_buf_waits_for_the_gpu)
{
	__u32 handle = gem_create(self->fd, PAGE);
	int buf = export(self->fd, handle, DRM_CLOEXEC);
	struct pollfd p = { .fd = buf, .events = POLLIN };
	struct spin spin;

	if (!has_spin(&self->gpu))
		SKIP(return, NO_SPIN);
	ASSERT_GE(buf, 0);
	EXPECT_EQ(1, poll(&p, 1, 0));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, handle, NULL, &spin));
	EXPECT_EQ(0, poll(&p, 1, 0));
	spin_stop(&spin);
	EXPECT_EQ(1, poll(&p, 1, 60000));
	spin_free(&spin);
	close(buf);
}

TEST_F(share, flink)
{
	struct drm_gem_flink flink = { .handle = gem_create(self->fd, PAGE) };
	struct drm_gem_open open_ = {};
	int card, got;

	/* Names are for primary nodes alone. */
	card = open_card(self->gpu.speaks->name);
	if (card < 0)
		SKIP(return, "there is no primary node to name objects on");
	cover("DRM_IOCTL_GEM_FLINK");
	got = call(self->fd, DRM_IOCTL_GEM_FLINK, &flink);
	EXPECT_EQ(-EACCES, got);
	flink.handle = gem_create(card, PAGE);
	ASSERT_NE(0, flink.handle);
	GOOD(card, DRM_IOCTL_GEM_FLINK, &flink);
	EXPECT_NE(0, flink.name);
	open_.name = flink.name;
	GOOD(card, DRM_IOCTL_GEM_OPEN, &open_);
	EXPECT_EQ(PAGE, open_.size);
	EXPECT_NE(0, open_.handle);
	open_.name = 0xfffffff0;
	BAD(card, DRM_IOCTL_GEM_OPEN, &open_, ENOENT);
	flink.handle = 0xfffffff0;
	BAD(card, DRM_IOCTL_GEM_FLINK, &flink, ENOENT);
	close(card);
}

TEST_F(share, handles_are_per_file)
{
	__u32 value, handle = 0;
	unsigned int i;

	for (i = 0; i < 32; i++)
		handle = gem_create(self->fd, PAGE);
	EXPECT_EQ(-ENOENT, gem_read(self->other.fd, handle, 0, &value, 4));
	EXPECT_EQ(-ENOENT, gem_busy(self->other.fd, handle));
}

TEST_HARNESS_MAIN

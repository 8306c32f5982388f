// SPDX-License-Identifier: GPL-2.0
/* The radeon interface: what each ioctl but CS takes, answers and refuses. */
#include "radeon_fixture.h"

/* Mesa picks its driver by these (userspace: 2.50 at least). */
TEST_F(radeon, version)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	GOOD(self->fd, DRM_IOCTL_VERSION, &version);
	EXPECT_STREQ("radeon", name);
	EXPECT_EQ(2, version.version_major);
	EXPECT_LE(50, version.version_minor);
}

TEST_F(radeon, info)
{
	struct drm_ouro_device device = {};
	struct drm_radeon_info arg = {};
	__u64 long_value;
	__u32 value, i;

	arg.value = U64(&value);
	arg.request = RADEON_INFO_DEVICE_ID;
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
	if (self->ours) {
		GOOD(self->fd, DRM_IOCTL_OURO_DEVICE, &device);
		EXPECT_EQ(device.pci_device, value);
	}
	/* digest §5.2: one to four pipes, one or two of depth */
	arg.request = RADEON_INFO_NUM_GB_PIPES;
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
	EXPECT_LE(1, value);
	EXPECT_GE(4, value);
	arg.request = RADEON_INFO_NUM_Z_PIPES;
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
	EXPECT_LE(1, value);
	EXPECT_GE(2, value);
	arg.request = RADEON_INFO_ACCEL_WORKING2;
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
	EXPECT_EQ(1, value);
	/* one of five rings that others have; upstream takes work for COMPUTE to the first one */
	arg.request = RADEON_INFO_RING_WORKING;
	for (i = RADEON_CS_RING_GFX; i <= RADEON_CS_RING_VCE; i++) {
		if (i == RADEON_CS_RING_COMPUTE && !self->ours)
			continue;
		value = i;
		GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
		EXPECT_EQ(i == RADEON_CS_RING_GFX, value);
	}
	value = RADEON_CS_RING_VCE + 1;
	BAD(self->fd, DRM_IOCTL_RADEON_INFO, &arg, EINVAL);
	for (i = RADEON_INFO_WANT_HYPERZ; i <= RADEON_INFO_WANT_CMASK; i++) {
		arg.request = i;
		value = 1;
		GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
		/* upstream gives it to the first who asks */
		EXPECT_EQ(!self->ours, value);
		value = 2;
		BAD(self->fd, DRM_IOCTL_RADEON_INFO, &arg, EINVAL);
	}
	/* what these chips have one of, or none */
	for (i = 0; i < 6; i++) {
		static const __u32 known[][2] = {
			{ RADEON_INFO_MAX_SE, 1 },
			{ RADEON_INFO_ACTIVE_CU_COUNT, 1 },
			{ RADEON_INFO_SI_CP_DMA_COMPUTE, 1 },
			{ RADEON_INFO_VA_UNMAP_WORKING, 1 },
			{ RADEON_INFO_VCE_FW_VERSION, 0 },
			{ RADEON_INFO_FASTFB_WORKING, 0 },
		};

		arg.request = known[i][0];
		value = ~0u;
		GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
		EXPECT_EQ(known[i][1], value);
	}
	/* digest §5.6: 27 MHz; other clocks are the firmware's to tell, whom upstream asks */
	arg.request = RADEON_INFO_CLOCK_CRYSTAL_FREQ;
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
	EXPECT_EQ(27000, value);
	arg.request = RADEON_INFO_MAX_SCLK;
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
	/* no register may be read */
	arg.request = RADEON_INFO_READ_REG;
	value = 0;
	BAD(self->fd, DRM_IOCTL_RADEON_INFO, &arg, EINVAL);
	/* numbers of 64 bits */
	arg.value = U64(&long_value);
	arg.request = RADEON_INFO_VRAM_USAGE;
	long_value = ~0ull;
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &arg);
	EXPECT_NE(~0ull, long_value);
	EXPECT_EQ(0, long_value % PAGE);

	/* parameters of later chips, and an undefined one */
	for (i = 0; i < 3; i++) {
		static const __u32 unknown[] = { RADEON_INFO_VA_START, RADEON_INFO_MAX_PIPES,
						 0x1000 };

		arg.request = unknown[i];
		BAD(self->fd, DRM_IOCTL_RADEON_INFO, &arg, EINVAL);
	}
	arg.request = RADEON_INFO_DEVICE_ID;
	arg.value = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_RADEON_INFO, &arg, EFAULT);
	arg.value = KERNEL_POINTER;
	BAD(self->fd, DRM_IOCTL_RADEON_INFO, &arg, EFAULT);
	arg.request = RADEON_INFO_RING_WORKING;
	BAD(self->fd, DRM_IOCTL_RADEON_INFO, &arg, EFAULT);
}

TEST_F(radeon, sizes)
{
	struct drm_radeon_gem_info info = {};
	struct drm_ouro_region regions[4] = {};
	struct drm_ouro_list list = { .ptr = U64(regions),
				      .count = 4,
				      .stride = sizeof(regions[0]) };

	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_INFO, &info);
	EXPECT_LT(0, info.vram_visible);
	EXPECT_GE(info.vram_size, info.vram_visible);
	if (!self->ours) {
		/* without what the driver itself uses */
		EXPECT_LT(0, info.gart_size);
		EXPECT_GE(512ull << 20, info.gart_size);
		return;
	}
	GOOD(self->fd, DRM_IOCTL_OURO_REGIONS, &list);
	ASSERT_LE(2, list.count);
	EXPECT_EQ(1, regions[1].kind);
	EXPECT_EQ(regions[1].size, info.vram_size);
	EXPECT_EQ(regions[1].cpu_visible, info.vram_visible);
	/* digest §5.2: 512 MiB */
	EXPECT_EQ(512ull << 20, info.gart_size);
}

TEST_F(radeon, create)
{
	static const __u32 domains[] = { 0, RADEON_GEM_DOMAIN_CPU, RADEON_GEM_DOMAIN_GTT,
					 RADEON_GEM_DOMAIN_VRAM,
					 RADEON_GEM_DOMAIN_VRAM | RADEON_GEM_DOMAIN_GTT };
	struct drm_radeon_gem_create arg;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(domains); i++) {
		arg = (struct drm_radeon_gem_create){ .size = 1, .alignment = 4096,
						      .initial_domain = domains[i] };
		GOOD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg);
		EXPECT_NE(0, arg.handle);
		gem_close(self->fd, arg.handle);
	}
	for (i = 0; i < 5; i++) {
		arg = (struct drm_radeon_gem_create){ .size = 4096, .flags = 1u << i,
						      .initial_domain = RADEON_GEM_DOMAIN_GTT };
		GOOD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg);
		gem_close(self->fd, arg.handle);
	}
	arg = (struct drm_radeon_gem_create){ .size = 4096, .flags = 1u << 5 };
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg, EINVAL);
	arg = (struct drm_radeon_gem_create){ .size = 4096, .initial_domain = 8 };
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg, EINVAL);
	arg = (struct drm_radeon_gem_create){ .size = 4096, .alignment = 4097 };
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg, EINVAL);
	arg = (struct drm_radeon_gem_create){ .size = 4096, .alignment = 1ull << 63 };
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg, EINVAL);
	arg = (struct drm_radeon_gem_create){ .size = 0 };
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg, EINVAL);
	arg = (struct drm_radeon_gem_create){ .size = ~0ull };
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg, ENOMEM);
	arg = (struct drm_radeon_gem_create){ .size = 1ull << 32 };
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg, ENOMEM);
}

TEST_F(radeon, mmap)
{
	struct drm_radeon_gem_mmap arg = { .handle = 0xffffff };

	BAD(self->fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg, ENOENT);
	arg.handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM);
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg);
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, self->fd, arg.addr_ptr));
	gem_close(self->fd, arg.handle);
}

TEST_F(radeon, tiling)
{
	static const __u32 good[] = { 0x1, 0x2, 0x3, 0x20, 0x21, 0x10 };
	struct drm_radeon_gem_set_tiling set = {};
	struct drm_radeon_gem_get_tiling get = {};
	unsigned int i;

	set.handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM);
	get.handle = set.handle;
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_GET_TILING, &get);
	EXPECT_EQ(0, get.tiling_flags);
	for (i = 0; i < ARRAY_LEN(good); i++) {
		set.tiling_flags = good[i];
		set.pitch = 64 * (i + 1);
		GOOD(self->fd, DRM_IOCTL_RADEON_GEM_SET_TILING, &set);
		GOOD(self->fd, DRM_IOCTL_RADEON_GEM_GET_TILING, &get);
		EXPECT_EQ(good[i], get.tiling_flags);
		EXPECT_EQ(64 * (i + 1), get.pitch);
	}
	set.tiling_flags = 0x40;
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_SET_TILING, &set, EINVAL);
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_GET_TILING, &get);
	EXPECT_EQ(0x10, get.tiling_flags);
	set.tiling_flags = 0;
	set.handle = 0xffffff;
	get.handle = 0xffffff;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_SET_TILING, &set, ENOENT);
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_GET_TILING, &get, ENOENT);
}

TEST_F(radeon, op)
{
	struct drm_radeon_gem_op op = { .op = RADEON_GEM_OP_GET_INITIAL_DOMAIN };

	op.handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM | RADEON_GEM_DOMAIN_GTT);
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_OP, &op);
	EXPECT_EQ(6, op.value);
	op.op = RADEON_GEM_OP_SET_INITIAL_DOMAIN;
	op.value = RADEON_GEM_DOMAIN_GTT;
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_OP, &op);
	op.op = RADEON_GEM_OP_GET_INITIAL_DOMAIN;
	op.value = 0;
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_OP, &op);
	EXPECT_EQ(2, op.value);
	op.op = RADEON_GEM_OP_SET_INITIAL_DOMAIN;
	op.value = 8;
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_OP, &op, EINVAL);
	op.value = 1ull << 32 | 2;
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_OP, &op, EINVAL);
	op.op = 2;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_OP, &op, EINVAL);
	op.handle = 0xffffff;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_OP, &op, ENOENT);
}

TEST_F(radeon, idle)
{
	struct drm_radeon_gem_wait_idle wait = { .handle = 0xffffff };
	struct drm_radeon_gem_busy busy = { .handle = 0xffffff };
	struct drm_radeon_gem_set_domain set = { .handle = 0xffffff,
						 .read_domains = RADEON_GEM_DOMAIN_CPU };

	BAD(self->fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &wait, ENOENT);
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_BUSY, &busy, ENOENT);
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_SET_DOMAIN, &set, ENOENT);
	wait.handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	busy.handle = wait.handle;
	set.handle = wait.handle;
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &wait);
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_BUSY, &busy);
	EXPECT_EQ(RADEON_GEM_DOMAIN_GTT, busy.domain);
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_SET_DOMAIN, &set);
	set.write_domain = 8;
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_SET_DOMAIN, &set, EINVAL);
}

TEST_F(radeon, userptr)
{
	const __u32 flags = RADEON_GEM_USERPTR_ANONONLY | RADEON_GEM_USERPTR_REGISTER;
	void *memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	struct drm_radeon_gem_userptr arg = {};
	struct drm_radeon_gem_mmap show = {};
	struct drm_radeon_gem_op op = {};

	/* the probe of user space */
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EACCES);
	arg = (struct drm_radeon_gem_userptr){ .addr = U64(memory), .size = 4 * PAGE,
					       .flags = flags | RADEON_GEM_USERPTR_VALIDATE };
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg);
	show.handle = arg.handle;
	op.handle = arg.handle;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_MMAP, &show, EPERM);
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_OP, &op, EPERM);
	gem_close(self->fd, arg.handle);

	arg.addr = U64(memory) + 1;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EINVAL);
	arg.addr = U64(memory);
	arg.size = PAGE + 1;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EINVAL);
	arg.size = 0;
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EINVAL);
	arg.size = PAGE;
	arg.flags = flags | RADEON_GEM_USERPTR_READONLY;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EINVAL);
	arg.flags = flags | 1u << 4;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EINVAL);
	arg.flags = RADEON_GEM_USERPTR_REGISTER;
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EACCES);
	arg.flags = flags;
	arg.addr = KERNEL_POINTER;
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EFAULT);
	arg.addr = 0;
	arg.flags = flags | RADEON_GEM_USERPTR_VALIDATE;
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg, EFAULT);
	munmap(memory, 4 * PAGE);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * The radeon interface: what each ioctl takes and refuses, where objects live,
 * and streams of commands. Commands: "R5xx Acceleration" §5.1; registers that
 * streams may write, and the order of a relocation: its digest §5.7.
 *
 * The upstream driver is run too, as a judge of what both promise. It takes much that this one
 * refuses; what only this one promises is asked of it alone (ours, OURS_BAD), and is in the table
 * of uapi.rst.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>

#include "test.h"

FIXTURE(radeon)
{
	int fd;
	bool ours;
};

/* Refused by this driver. */
#define OURS_BAD(fd, request, argument, error)                   \
	do {                                                     \
		if (self->ours)                                  \
			BAD_NAMED(#request, fd, request, argument, error); \
	} while (0)

FIXTURE_SETUP(radeon)
{
	const char *kernel = getenv("OURO_KERNEL");
	struct drm_ouro_device device = {};

	alarm(kernel && !strcmp(kernel, "debug") ? SECONDS_DEBUG : SECONDS_PLAIN);
	self->fd = radeon_open();
	if (self->fd == -ENODEV)
		SKIP(return, "no device here speaks radeon");
	ASSERT_LE(0, self->fd);
	self->ours = !call(self->fd, DRM_IOCTL_OURO_DEVICE, &device);
}

FIXTURE_TEARDOWN(radeon)
{
	if (self->fd >= 0)
		close(self->fd);
}

/* An object of a domain, or 0. */
static __u32 create(int fd, __u64 size, __u32 domain)
{
	struct drm_radeon_gem_create arg = { .size = size, .initial_domain = domain };

	return call(fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg) ? 0 : arg.handle;
}

static void *map(int fd, __u32 handle, __u64 size)
{
	struct drm_radeon_gem_mmap arg = { .handle = handle, .size = size };

	if (call(fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg))
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, arg.addr_ptr);
}

static int wait_idle(int fd, __u32 handle)
{
	struct drm_radeon_gem_wait_idle arg = { .handle = handle };

	return call(fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &arg);
}

/* Where an object is. */
static __u32 domain_of(int fd, __u32 handle)
{
	struct drm_radeon_gem_busy arg = { .handle = handle };

	call(fd, DRM_IOCTL_RADEON_GEM_BUSY, &arg);
	return arg.domain;
}

/* A call of CS, of parts that a test can change. */
struct cs {
	__u32 words[64];
	struct drm_radeon_cs_reloc relocs[8];
	__u32 flags[3];
	struct drm_radeon_cs_chunk chunks[3];
	__u64 pointers[3];
	struct drm_radeon_cs arg;
};

/* Eight fillers (type 2), no relocation, tiles as the stream says. */
static void cs_init(struct cs *cs)
{
	unsigned int i;

	memset(cs, 0, sizeof(*cs));
	for (i = 0; i < 8; i++)
		cs->words[i] = 0x80000000;
	cs->flags[0] = RADEON_CS_KEEP_TILING_FLAGS;
	cs->chunks[0] = (struct drm_radeon_cs_chunk){ RADEON_CHUNK_ID_IB, 8, U64(cs->words) };
	cs->chunks[1] = (struct drm_radeon_cs_chunk){ RADEON_CHUNK_ID_RELOCS, 0, U64(cs->relocs) };
	cs->chunks[2] = (struct drm_radeon_cs_chunk){ RADEON_CHUNK_ID_FLAGS, 3, U64(cs->flags) };
	for (i = 0; i < 3; i++)
		cs->pointers[i] = U64(&cs->chunks[i]);
	cs->arg.num_chunks = 3;
	cs->arg.chunks = U64(cs->pointers);
}

static void cs_reloc(struct cs *cs, __u32 handle, __u32 read, __u32 write)
{
	cs->relocs[cs->chunks[1].length_dw / 4] =
		(struct drm_radeon_cs_reloc){ handle, read, write, 0 };
	cs->chunks[1].length_dw += 4;
}

/* A stream without effect that wants an object in a domain. */
static int use(int fd, __u32 handle, __u32 domain)
{
	struct cs cs;

	cs_init(&cs);
	cs_reloc(&cs, handle, 0, domain);
	return call(fd, DRM_IOCTL_RADEON_CS, &cs.arg);
}

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

	/* what later chips have, and nobody */
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

/* New memory is zero, also where another object was before. */
TEST_F(radeon, memory_is_zero)
{
	static const __u32 domains[] = { RADEON_GEM_DOMAIN_GTT, RADEON_GEM_DOMAIN_VRAM };
	unsigned int i, round, at, other;
	const __u64 size = 4 * PAGE;

	for (i = 0; i < ARRAY_LEN(domains); i++) {
		/* upstream leaves in VRAM what was there */
		if (!self->ours && domains[i] == RADEON_GEM_DOMAIN_VRAM)
			continue;
		for (round = 0; round < 3; round++) {
			__u32 handle = create(self->fd, size, domains[i]);
			__u32 *words = map(self->fd, handle, size);

			ASSERT_NE(0, handle);
			ASSERT_NE(MAP_FAILED, words);
			for (at = 0, other = 0; at < size / 4; at++)
				other += peek(&words[at]) != 0;
			EXPECT_EQ(0, other);
			/* where the GPU wants it, and what the one before it has left there */
			ASSERT_EQ(0, use(self->fd, handle, domains[i]));
			ASSERT_EQ(0, wait_idle(self->fd, handle));
			EXPECT_EQ(domains[i], domain_of(self->fd, handle));
			for (at = 0, other = 0; at < size / 4; at++)
				other += peek(&words[at]) != 0;
			EXPECT_EQ(0, other);
			for (at = 0; at < size / 4; at++)
				poke(&words[at], 0xdeadbeef);
			munmap(words, size);
			gem_close(self->fd, handle);
		}
	}
}

TEST_F(radeon, mmap)
{
	struct drm_radeon_gem_mmap arg = { .handle = 0xffffff };

	BAD(self->fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg, ENOENT);
	arg.handle = create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM);
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

	set.handle = create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM);
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

	op.handle = create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM | RADEON_GEM_DOMAIN_GTT);
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
	wait.handle = create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
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

TEST_F(radeon, streams)
{
	__u32 handle = create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	struct cs cs;

	cs_init(&cs);
	GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
	if (self->ours) {
		EXPECT_EQ(512ull << 20, cs.arg.gart_limit);
		EXPECT_LT(0, cs.arg.vram_limit);
	}
	/* the same object by two relocations; by one that writes, it is busy and then idle */
	cs_init(&cs);
	cs_reloc(&cs, handle, RADEON_GEM_DOMAIN_GTT, 0);
	cs_reloc(&cs, handle, 0, RADEON_GEM_DOMAIN_GTT);
	GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
	EXPECT_EQ(0, wait_idle(self->fd, handle));
	/* flags and relocations may be missing, the stream not */
	cs_init(&cs);
	cs.arg.num_chunks = 1;
	GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
	cs.pointers[0] = U64(&cs.chunks[1]);
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
}

TEST_F(radeon, chunks)
{
	__u32 handle = create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	struct cs cs;

#define REFUSED(error)                                                 \
	({                                                             \
		BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, error);    \
		cs_init(&cs);                                          \
	})
#define OURS_REFUSED(error)                                            \
	({                                                             \
		OURS_BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, error); \
		cs_init(&cs);                                          \
	})
	cs_init(&cs);
	cs.arg.num_chunks = 0;
	OURS_REFUSED(EINVAL);
	cs.arg.num_chunks = ~0u;
	OURS_REFUSED(EINVAL);
	cs.arg.chunks = BAD_POINTER;
	REFUSED(EFAULT);
	cs.pointers[1] = KERNEL_POINTER;
	REFUSED(EFAULT);
	cs.chunks[0].chunk_data = BAD_POINTER;
	REFUSED(EFAULT);
	cs.chunks[0].length_dw = 0;
	REFUSED(EINVAL);
	cs.chunks[0].length_dw = ~0u;
	OURS_REFUSED(EINVAL);
	cs.chunks[1].chunk_id = RADEON_CHUNK_ID_IB;
	REFUSED(EINVAL);
	cs.chunks[1].chunk_id = RADEON_CHUNK_ID_CONST_IB;
	REFUSED(EINVAL);
	cs.chunks[1].chunk_id = 9;
	OURS_REFUSED(EINVAL);
	/* half a relocation (digest §5.7, weakness 8) */
	cs_reloc(&cs, handle, RADEON_GEM_DOMAIN_GTT, 0);
	cs.chunks[1].length_dw = 2;
	OURS_REFUSED(EINVAL);
	cs.chunks[1].length_dw = 0x40000004;
	OURS_REFUSED(EINVAL);
	cs_reloc(&cs, 0xffffff, RADEON_GEM_DOMAIN_GTT, 0);
	REFUSED(ENOENT);
	/* domains: none, the CPU's, unknown; flags */
	cs_reloc(&cs, handle, 0, 0);
	OURS_REFUSED(EINVAL);
	cs_reloc(&cs, handle, RADEON_GEM_DOMAIN_CPU, 0);
	REFUSED(EINVAL);
	cs_reloc(&cs, handle, RADEON_GEM_DOMAIN_GTT, RADEON_GEM_DOMAIN_CPU);
	REFUSED(EINVAL);
	cs_reloc(&cs, handle, 8 | RADEON_GEM_DOMAIN_GTT, 0);
	OURS_REFUSED(EINVAL);
	cs_reloc(&cs, handle, RADEON_GEM_DOMAIN_GTT, 0);
	cs.relocs[0].flags = 0x10;
	OURS_REFUSED(EINVAL);
	/* no translation for each client, no other ring, no other flag */
	cs.flags[0] |= RADEON_CS_USE_VM;
	REFUSED(EINVAL);
	cs.flags[0] |= 8;
	OURS_REFUSED(EINVAL);
	cs.flags[1] = RADEON_CS_RING_DMA;
	REFUSED(EINVAL);
	cs.chunks[2].length_dw = 0;
	REFUSED(EINVAL);
	GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
}

/* What the checker refuses is refused whole, and nothing of it has run. */
TEST_F(radeon, refused_streams)
{
	static const __u32 bad[][4] = {
		/* type 1; type 0 of CP_RB_BASE, of the scratch register of fences, of CP_IB_BASE */
		{ 0x40000000, 0, 0 },
		{ 0x000001c0, 0x1000 },
		{ 0x00000578, 7 },
		{ 0x000001ce, 0x1000 },
		/* type 3: no such opcode, COND_EXEC (22h), a 2D packet (91h), one cut off */
		{ 0xc000ff00, 0 },
		{ 0xc0002200, 0 },
		{ 0xc0009100, 0 },
		{ 0xc0051000, 0 },
		/* the colour buffer's address without a relocation */
		{ 0x0000138a, 0 },
	};
	struct drm_ouro_stats before = {}, after = {};
	struct cs cs;
	unsigned int i;

	if (self->ours)
		GOOD(self->fd, DRM_IOCTL_OURO_STATS, &before);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		cs_init(&cs);
		memcpy(&cs.words[4], bad[i], sizeof(bad[i]));
		cs.chunks[0].length_dw = 6;
		BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
	}
	if (self->ours)
		GOOD(self->fd, DRM_IOCTL_OURO_STATS, &after);
	EXPECT_EQ(before.requests, after.requests);
}

/* Objects move where streams want them, with what is in them. */
TEST_F(radeon, moves)
{
	const __u64 size = 300 * PAGE;
	__u32 handle = create(self->fd, size, RADEON_GEM_DOMAIN_VRAM), only;
	__u32 *words = map(self->fd, handle, size);
	unsigned int i, at, other;

	ASSERT_NE(MAP_FAILED, words);
	for (at = 0; at < size / 4; at += 61)
		poke(&words[at], at * 7);
	for (i = 0; i < 6; i++) {
		__u32 domain = i % 2 ? RADEON_GEM_DOMAIN_VRAM : RADEON_GEM_DOMAIN_GTT;

		ASSERT_EQ(0, use(self->fd, handle, domain));
		ASSERT_EQ(0, wait_idle(self->fd, handle));
		EXPECT_EQ(domain, domain_of(self->fd, handle));
		for (at = 0, other = 0; at < size / 4; at += 61)
			other += peek(&words[at]) != at * 7 + i;
		EXPECT_EQ(0, other);
		for (at = 0; at < size / 4; at += 61)
			poke(&words[at], at * 7 + i + 1);
	}
	/* one that was made for GTT stays there; upstream moves it as well */
	only = create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	ASSERT_EQ(0, use(self->fd, only, RADEON_GEM_DOMAIN_VRAM));
	EXPECT_EQ(self->ours ? RADEON_GEM_DOMAIN_GTT : RADEON_GEM_DOMAIN_VRAM,
		  domain_of(self->fd, only));
	munmap(words, size);
}

/* A register is written (type 0, digest §2.1), and a relocation is named behind it. */
static void cs_set(struct cs *cs, __u32 reg, __u32 value)
{
	cs->words[cs->chunks[0].length_dw++] = reg / 4;
	cs->words[cs->chunks[0].length_dw++] = value;
}

static void cs_name(struct cs *cs, unsigned int reloc)
{
	cs->words[cs->chunks[0].length_dw++] = 0xc0001000;
	cs->words[cs->chunks[0].length_dw++] = 4 * reloc;
}

/*
 * A rectangle of one colour in rows of 256 bytes (digest §2.3, §3.3): GUI_CONTROL with a pitch
 * and offset of its own, a solid brush, 32 bits, ROP3 of the pattern; to the right and down.
 */
static void cs_fill(struct cs *cs, __u32 handle, __u32 domain, __u32 x, __u32 y, __u32 width,
		    __u32 height, __u32 colour)
{
	cs_init(cs);
	cs_reloc(cs, handle, 0, domain);
	cs->chunks[0].length_dw = 0;
	cs_set(cs, 0x146c, 0x52f036d2);
	cs_set(cs, 0x142c, 4 << 22);
	cs_name(cs, 0);
	cs_set(cs, 0x147c, colour);
	cs_set(cs, 0x16c0, 3);
	cs_set(cs, 0x1438, y << 16 | x);
	cs_set(cs, 0x1598, width << 16 | height);
}

/* The GPU writes where the stream says, in either memory, and nowhere else. */
TEST_F(radeon, fills)
{
	static const __u32 domains[] = { RADEON_GEM_DOMAIN_GTT, RADEON_GEM_DOMAIN_VRAM };
	unsigned int i, x, y, other;
	struct cs cs;

	for (i = 0; i < ARRAY_LEN(domains); i++) {
		__u32 before = create(self->fd, PAGE, domains[i]);
		__u32 handle = create(self->fd, PAGE, domains[i]);
		__u32 after = create(self->fd, PAGE, domains[i]);
		__u32 *words = map(self->fd, handle, PAGE);
		__u32 *around[2];

		ASSERT_EQ(0, use(self->fd, before, domains[i]));
		around[0] = map(self->fd, before, PAGE);
		around[1] = map(self->fd, after, PAGE);
		ASSERT_NE(MAP_FAILED, words);
		if (!self->ours) {
			/* see memory_is_zero */
			memset(words, 0, PAGE);
			memset(around[0], 0, PAGE);
			memset(around[1], 0, PAGE);
		}
		cs_fill(&cs, handle, domains[i], 9, 4, 5, 3, 0xc0ffee00 | i);
		GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
		ASSERT_EQ(0, use(self->fd, after, domains[i]));
		ASSERT_EQ(0, wait_idle(self->fd, handle));
		EXPECT_EQ(domains[i], domain_of(self->fd, handle));
		for (y = 0, other = 0; y < 16; y++) {
			for (x = 0; x < 64; x++) {
				bool in = x >= 9 && x < 14 && y >= 4 && y < 7;

				other += peek(&words[64 * y + x]) != (in ? 0xc0ffee00 | i : 0);
			}
		}
		EXPECT_EQ(0, other);
		/* a row too many, the wrong object, and none: nothing of it is done */
		cs_fill(&cs, handle, domains[i], 0, 14, 64, 3, ~0u);
		OURS_BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
		cs_fill(&cs, handle, domains[i], 0, 0, 64, 1, ~0u);
		cs.words[5] = 4;
		BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
		cs_fill(&cs, handle, domains[i], 0, 0, 64, 1, ~0u);
		cs.words[4] = 0x80000000;
		cs.words[5] = 0x80000000;
		BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
		ASSERT_EQ(0, wait_idle(self->fd, handle));
		for (x = 0, other = 0; x < PAGE / 4; x++)
			other += (peek(&words[x]) == ~0u) + (peek(&around[0][x]) != 0) +
				 (peek(&around[1][x]) != 0);
		EXPECT_EQ(0, other);
	}
}

/* More than the device's memory holds: some leave, and nothing is lost. */
TEST_F(radeon, eviction)
{
	struct drm_radeon_gem_info info = {};
	__u32 handles[9] = {};
	__u32 *words[9];
	unsigned int i, round, at, in_vram;
	__u64 size;

	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_INFO, &info);
	size = info.vram_size / 8 & ~(PAGE - 1);
	if (size > 8ull << 20)
		SKIP(return, "the device has so much memory that the machine has not");
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		handles[i] = create(self->fd, size, RADEON_GEM_DOMAIN_VRAM);
		ASSERT_NE(0, handles[i]);
		words[i] = map(self->fd, handles[i], size);
		ASSERT_NE(MAP_FAILED, words[i]);
		for (at = 0; at < size / 4; at += PAGE / 4)
			poke(&words[i][at], i << 24 | at);
	}
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_LEN(handles); i++)
			ASSERT_EQ(0, use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
		for (i = 0, in_vram = 0; i < ARRAY_LEN(handles); i++) {
			ASSERT_EQ(0, wait_idle(self->fd, handles[i]));
			in_vram += domain_of(self->fd, handles[i]) == RADEON_GEM_DOMAIN_VRAM;
			for (at = 0; at < size / 4; at += PAGE / 4)
				ASSERT_EQ(i << 24 | at, peek(&words[i][at]));
		}
		EXPECT_LT(0, in_vram);
		EXPECT_GT(ARRAY_LEN(handles), in_vram);
	}
}

/*
 * An object that the CPU is not expected to look at is seen all the same: where its memory is
 * out of sight, it comes to the CPU.
 */
TEST_F(radeon, out_of_sight)
{
	struct drm_radeon_gem_create arg = { .size = 64 * PAGE,
					     .initial_domain = RADEON_GEM_DOMAIN_VRAM,
					     .flags = RADEON_GEM_NO_CPU_ACCESS };
	struct drm_radeon_gem_info info = {};
	unsigned int at, round, other;
	__u32 *words;

	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_INFO, &info);
	GOOD(self->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg);
	words = map(self->fd, arg.handle, arg.size);
	ASSERT_NE(MAP_FAILED, words);
	for (round = 1; round < 4; round++) {
		for (at = 0; at < arg.size / 4; at += 31)
			poke(&words[at], round << 24 | at);
		ASSERT_EQ(0, use(self->fd, arg.handle, RADEON_GEM_DOMAIN_VRAM));
		ASSERT_EQ(0, wait_idle(self->fd, arg.handle));
		EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, domain_of(self->fd, arg.handle));
		for (at = 0, other = 0; at < arg.size / 4; at += 31)
			other += peek(&words[at]) != (round << 24 | at);
		EXPECT_EQ(0, other);
		/* upstream keeps it in VRAM where the CPU sees it */
		if (self->ours && info.vram_visible < info.vram_size)
			EXPECT_EQ(RADEON_GEM_DOMAIN_GTT, domain_of(self->fd, arg.handle));
	}
	munmap(words, arg.size);
	gem_close(self->fd, arg.handle);
}

/*
 * A tiled object in VRAM that asks for it is seen in rows, by a surface of the chip; there are
 * eight, and they are taken from each other. Without one, and in GTT, it is seen as it is. Places:
 * digest §4.1, 32 bits a pixel, rows of 256.
 */
TEST_F(radeon, surfaces)
{
	static const __u32 pixels[][2] = { { 1, 0 }, { 0, 1 }, { 5, 3 }, { 33, 17 }, { 255, 63 } };
	static const struct {
		__u32 flags, places[5];
	} tilings[] = {
		{ RADEON_TILING_MACRO | RADEON_TILING_MICRO,
		  { 0x4, 0x10, 0x134, 0x4814, 0xfffc } },
		{ RADEON_TILING_MACRO, { 0x4, 0x100, 0x314, 0x4184, 0xfffc } },
		{ RADEON_TILING_MICRO, { 0x4, 0x10, 0x834, 0x4114, 0xfffc } },
	};
	const __u64 size = 16 * PAGE;
	__u32 handles[10], *words[10];
	unsigned int i, n, round, wrong = 0;

	if (!self->ours)
		SKIP(return, "the upstream driver has surfaces for scanout alone");
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		struct drm_radeon_gem_set_tiling arg = {
			.tiling_flags = tilings[i % 3].flags | RADEON_TILING_SURFACE,
			.pitch = 1024,
		};

		handles[i] = create(self->fd, size, RADEON_GEM_DOMAIN_VRAM);
		ASSERT_NE(0, handles[i]);
		words[i] = map(self->fd, handles[i], size);
		ASSERT_NE(MAP_FAILED, words[i]);
		arg.handle = handles[i];
		GOOD(self->fd, DRM_IOCTL_RADEON_GEM_SET_TILING, &arg);
		ASSERT_EQ(0, use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
		for (n = 0; n < ARRAY_LEN(pixels); n++)
			poke(&words[i][256 * pixels[n][1] + pixels[n][0]], i << 16 | n | 1 << 31);
	}
	for (round = 0; round < 2; round++) {
		for (i = 0; i < ARRAY_LEN(handles); i++) {
			for (n = 0; n < ARRAY_LEN(pixels); n++)
				wrong += peek(&words[i][256 * pixels[n][1] + pixels[n][0]]) !=
					 (i << 16 | n | 1u << 31);
		}
	}
	EXPECT_EQ(0, wrong);
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		struct drm_radeon_gem_set_tiling arg = { .handle = handles[i] };

		/* half of them leave, with their tiles; the others have none any more */
		ASSERT_EQ(0, i % 2 ? use(self->fd, handles[i], RADEON_GEM_DOMAIN_GTT) :
				     call(self->fd, DRM_IOCTL_RADEON_GEM_SET_TILING, &arg));
		ASSERT_EQ(0, wait_idle(self->fd, handles[i]));
		for (n = 0, wrong = 0; n < ARRAY_LEN(pixels); n++)
			wrong += peek(&words[i][tilings[i % 3].places[n] / 4]) !=
				 (i << 16 | n | 1u << 31);
		EXPECT_EQ(0, wrong);
		munmap(words[i], size);
		gem_close(self->fd, handles[i]);
	}
}

/* What a thread of two does with a file that it shares. */
struct worker {
	pthread_t thread;
	int fd;
	__u32 seed;
	unsigned int failed;
};

enum { WORKER_ROUNDS = 40 };

/* Fills objects of its own, and closes some while they are filled. */
static void *fill_and_close(void *data)
{
	struct worker *w = data;
	struct cs cs;
	__u32 i, at;

	for (i = 0; i < WORKER_ROUNDS; i++) {
		__u32 domain = i % 2 ? RADEON_GEM_DOMAIN_VRAM : RADEON_GEM_DOMAIN_GTT;
		__u32 colour = w->seed | i, handle = create(w->fd, PAGE, domain);
		__u32 *words = map(w->fd, handle, PAGE);

		if (!handle || words == MAP_FAILED) {
			w->failed++;
			continue;
		}
		cs_fill(&cs, handle, domain, 0, 0, 64, 16, colour);
		w->failed += call(w->fd, DRM_IOCTL_RADEON_CS, &cs.arg) != 0;
		if (i % 4 < 2)
			w->failed += wait_idle(w->fd, handle) != 0;
		/* the stream, and the mapping, keep what it was */
		gem_close(w->fd, handle);
		if (i % 4 < 2) {
			for (at = 0; at < PAGE / 4; at += 7)
				w->failed += peek(&words[at]) != colour;
		}
		munmap(words, PAGE);
	}
	return NULL;
}

/* Two threads send streams through one file, and close what is in use. */
TEST_F(radeon, threads)
{
	struct worker workers[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		workers[i] = (struct worker){ .fd = self->fd, .seed = (i + 1) << 28 };
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL, fill_and_close, &workers[i]));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(workers[i].thread, NULL);
		EXPECT_EQ(0, workers[i].failed);
	}
}

/* One thread closes a handle, and makes objects that get it, which another one names in streams. */
static void *close_and_create(void *data)
{
	struct worker *w = data;
	unsigned int i;

	for (i = 0; i < 10 * WORKER_ROUNDS; i++) {
		gem_close(w->fd, w->seed);
		/* the lowest handle that is free */
		w->failed += create(w->fd, PAGE, RADEON_GEM_DOMAIN_GTT) == 0;
	}
	return NULL;
}

TEST_F(radeon, handles_that_change)
{
	__u32 handle = create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	__u32 other = create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	struct worker worker = { .fd = self->fd, .seed = handle };
	__u32 *words = map(self->fd, other, PAGE);
	unsigned int i, at, wrong = 0;
	struct cs cs;
	int got;

	ASSERT_NE(0, handle);
	ASSERT_NE(MAP_FAILED, words);
	ASSERT_EQ(0, pthread_create(&worker.thread, NULL, close_and_create, &worker));
	for (i = 0; i < 2 * WORKER_ROUNDS; i++) {
		cs_fill(&cs, handle, RADEON_GEM_DOMAIN_GTT, 0, 0, 64, 16, ~0u);
		got = call(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
		wrong += got && got != -ENOENT;
	}
	pthread_join(worker.thread, NULL);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, worker.failed);
	ASSERT_EQ(0, use(self->fd, other, RADEON_GEM_DOMAIN_GTT));
	ASSERT_EQ(0, wait_idle(self->fd, other));
	for (at = 0, wrong = 0; at < PAGE / 4; at++)
		wrong += peek(&words[at]) != 0;
	EXPECT_EQ(0, wrong);
}

/* Whether a page can be read: if not, the reader is killed by SIGBUS. */
static bool readable(const __u32 *word)
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(peek(word) == 0x12345678 ? 0 : 1);
	waitpid(child, &status, 0);
	return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* The device goes while its memory is mapped, and comes back. */
TEST_F(radeon, unbind)
{
	__u32 handle = create(self->fd, 4 * PAGE, RADEON_GEM_DOMAIN_VRAM), *words;
	struct drm_radeon_gem_info info = {};
	struct place place;
	struct cs cs;

	if (!self->ours)
		SKIP(return, "the driver is not ours to unbind");
	words = map(self->fd, handle, 4 * PAGE);
	ASSERT_NE(MAP_FAILED, words);
	ASSERT_EQ(0, use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	poke(words, 0x12345678);
	EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, domain_of(self->fd, handle));
	ASSERT_EQ(0, device_of(self->fd, &place));
	ASSERT_EQ(0, device_unbind(&place));
	BAD(self->fd, DRM_IOCTL_RADEON_GEM_INFO, &info, ENODEV);
	cs_init(&cs);
	BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, ENODEV);
	/* what is mapped is not what somebody else gets who has the bus address next */
	EXPECT_FALSE(readable(words));
	ASSERT_EQ(0, device_bind(&place));
	EXPECT_FALSE(readable(words));
	munmap(words, 4 * PAGE);
	close(self->fd);
	self->fd = radeon_open();
	ASSERT_LE(0, self->fd);
	handle = create(self->fd, PAGE, RADEON_GEM_DOMAIN_VRAM);
	ASSERT_EQ(0, use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	EXPECT_EQ(0, wait_idle(self->fd, handle));
	EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, domain_of(self->fd, handle));
}

/* An engine that hangs is reset: what was sent after it is done, and memory keeps what it has. */
TEST_F(radeon, hang)
{
	__u32 handle = create(self->fd, 4 * PAGE, RADEON_GEM_DOMAIN_VRAM), *words, resets = 0;
	struct drm_radeon_info info = { .request = RADEON_INFO_GPU_RESET_COUNTER,
					.value = U64(&resets) };
	struct place place;
	__u32 before;

	if (!self->ours)
		SKIP(return, "the upstream driver has calls fail after a reset");
	words = map(self->fd, handle, 4 * PAGE);
	ASSERT_NE(MAP_FAILED, words);
	ASSERT_EQ(0, use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	ASSERT_EQ(0, wait_idle(self->fd, handle));
	poke(words, 0x12345678);
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &info);
	before = resets;
	ASSERT_EQ(0, device_of(self->fd, &place));
	if (model_fault(&place, FAULT_NONE))
		SKIP(return, "no model that can be told to hang");
	ASSERT_EQ(0, model_fault(&place, FAULT_HANG | FAULT_ONCE));
	ASSERT_EQ(0, use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	ASSERT_EQ(0, use(self->fd, handle, RADEON_GEM_DOMAIN_VRAM));
	EXPECT_EQ(0, wait_idle(self->fd, handle));
	GOOD(self->fd, DRM_IOCTL_RADEON_INFO, &info);
	EXPECT_LT(before, resets);
	EXPECT_EQ(0x12345678, peek(words));
	ASSERT_EQ(0, use(self->fd, handle, RADEON_GEM_DOMAIN_GTT));
	EXPECT_EQ(0, wait_idle(self->fd, handle));
	EXPECT_EQ(0x12345678, peek(words));
	munmap(words, 4 * PAGE);
}

/* What is in the device's memory is there after a sleep, in which it forgets. */
TEST_F(radeon, sleep)
{
	static const char *const ways[] = { "freeze platform", "mem core" };
	const char *command = getenv("OURO_SLEEP");
	const __u64 size = 16 * PAGE;
	unsigned int i, at, other;
	__u32 handles[4], *words[4];
	char line[256];

	if (!command)
		SKIP(return, "OURO_SLEEP is not set: nothing here may send the machine to sleep");
	for (i = 0; i < 4; i++) {
		handles[i] = create(self->fd, size, RADEON_GEM_DOMAIN_VRAM);
		words[i] = map(self->fd, handles[i], size);
		ASSERT_NE(MAP_FAILED, words[i]);
		for (at = 0; at < size / 4; at += 61)
			poke(&words[i][at], at ^ i);
		ASSERT_EQ(0, use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
	}
	for (i = 0; i < ARRAY_LEN(ways); i++) {
		snprintf(line, sizeof(line), "%s %s >/tmp/sleep-said 2>&1", command, ways[i]);
		ASSERT_EQ(0, system(line));
		ASSERT_EQ(0, use(self->fd, handles[i], RADEON_GEM_DOMAIN_VRAM));
		ASSERT_EQ(0, wait_idle(self->fd, handles[i]));
		EXPECT_EQ(RADEON_GEM_DOMAIN_VRAM, domain_of(self->fd, handles[i]));
	}
	for (i = 0, other = 0; i < 4; i++)
		for (at = 0; at < size / 4; at += 61)
			other += peek(&words[i][at]) != (at ^ i);
	EXPECT_EQ(0, other);
}

TEST_HARNESS_MAIN

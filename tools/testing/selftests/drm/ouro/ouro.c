// SPDX-License-Identifier: GPL-2.0
/*
 * Our own ioctls: device, engines, regions, counters; and that submissions
 * cost the registers that they should.
 */
#include <sys/wait.h>

#define ANY_INTERFACE
#include "test.h"

FIXTURE(ouro)
{
	struct gpu gpu;
	int fd;
};

FIXTURE_SETUP(ouro)
{
	gpu_setup(_metadata, &self->gpu);
	self->fd = self->gpu.fd;
	if (!self->gpu.ouro)
		SKIP(return, "the driver has no DRM_IOCTL_OURO_DEVICE");
}

FIXTURE_TEARDOWN(ouro)
{
	gpu_close(&self->gpu);
}

static bool is_text(const char *text, size_t size)
{
	return text[0] && memchr(text, 0, size);
}

/*
 * Returns the number of engines that the interface names: on i915 a list, which has those without
 * an old selector.
 */
static unsigned int engines_of(const struct gpu *gpu)
{
	struct drm_i915_query_engine_info *list;
	unsigned int n = gpu->n_engines;

	if (gpu->speaks == &radeon)
		return n;
	list = query_answer(gpu->fd, DRM_I915_QUERY_ENGINE_INFO, NULL);
	if (list)
		n = list->num_engines;
	free(list);
	return n;
}

/* What the documents say of the chips of a backend: a row for each; 0 is not looked at. */
static const struct documented {
	const char *backend;
	__u32 dma_bits;
	__u64 address_space;
	__u32 n_engines;
	__u32 n_regions;
	/* of one chip alone */
	__u16 chip;
} documented[] = {
	/* digest of Gen4, G-08 and G-10: bits of an address; G45 PRM Vol 1b §5.3.4: rings */
	{ "gen4", 36, 0, 2, 0, 0x2e22 },
	{ "gen4", 36, 0, 2, 0, 0x2a42 },
	{ "gen4", 32, 0, 1, 0, 0x29a2 },
	{ "gen4", 32, 0, 1, 0, 0x2a02 },
	/* Sandy Bridge PRM Vol 1 Part 2 §4.6: 2 GB; an entry holds 40 bits of address */
	{ "gen6", 40, 2ull << 30, 3, 0, 0 },
	/* IHD-OS-V1 Pt 5 (May 2012) §1.1.2: 512 directory entries, 2 GB; digest of it, §4.1 */
	{ "gen7", 40, 2ull << 30, 3, 0, 0 },
	/* digest of DG2, §4.5 and §5.2 */
	{ "gen12", 46, (1ull << 48) - (64 << 10), 0, 0, 0 },
	/* digest of "R5xx Acceleration", §4.4 and §5.2 */
	{ "r5xx", 40, 0, 1, 2, 0 },
};

/* Returns 2 if the GGTT of a Sandy Bridge or Ivy Bridge has 1 MB, and so maps the half; else 1. */
static unsigned int halves(const struct gpu *gpu, const struct drm_ouro_device *device)
{
	struct place place;

	if (strcmp(device->backend, "gen6") && strcmp(device->backend, "gen7"))
		return 1;
	return !device_of(gpu->fd, &place) && device_ggms(&place) == 1 ? 2 : 1;
}

TEST_F(ouro, device)
{
	struct drm_ouro_device device = {};
	unsigned int i;

	GOOD(self->fd, DRM_IOCTL_OURO_DEVICE, &device);
	EXPECT_EQ(self->gpu.speaks == &radeon ? 0x1002 : 0x8086, device.pci_vendor);
	EXPECT_EQ(self->gpu.chip, device.pci_device);
	EXPECT_TRUE(is_text(device.backend, sizeof(device.backend)));
	EXPECT_TRUE(is_text(device.chip, sizeof(device.chip)));
	EXPECT_EQ(engines_of(&self->gpu), device.n_engines);
	EXPECT_GE(device.n_regions, 1);
	EXPECT_GE(device.dma_bits, 32);
	EXPECT_LE(device.dma_bits, 64);
	EXPECT_GE(device.gpu_address_bits, 28);
	EXPECT_GE(device.gpu_address_space, 1ull << 28);
	EXPECT_LE(device.gpu_address_space - 1, ~0ull >> (64 - device.gpu_address_bits));
	for (i = 0; i < ARRAY_LEN(device.reserved); i++)
		EXPECT_EQ(0, device.reserved[i]);
	for (i = 0; i < ARRAY_LEN(documented); i++) {
		const struct documented *known = &documented[i];

		if (strcmp(device.backend, known->backend))
			continue;
		if (known->chip && known->chip != device.pci_device)
			continue;
		EXPECT_EQ(known->dma_bits, device.dma_bits);
		if (known->address_space)
			EXPECT_EQ(known->address_space / halves(&self->gpu, &device),
				  device.gpu_address_space);
		if (known->n_engines)
			EXPECT_EQ(known->n_engines, device.n_engines);
		if (known->n_regions)
			EXPECT_EQ(known->n_regions, device.n_regions);
	}
}

TEST_F(ouro, device_arguments)
{
	struct drm_ouro_device device = { .flags = 1 };

	BAD(self->fd, DRM_IOCTL_OURO_DEVICE, &device, EINVAL);
	device.flags = 0x80000000;
	BAD(self->fd, DRM_IOCTL_OURO_DEVICE, &device, EINVAL);
	device.flags = 0;
	device.pad = 1;
	BAD(self->fd, DRM_IOCTL_OURO_DEVICE, &device, EINVAL);
	EXPECT_EQ(0, device.pci_vendor);
	BAD(self->fd, DRM_IOCTL_OURO_DEVICE, NULL, EFAULT);
}

TEST_F(ouro, engines)
{
	struct drm_ouro_engine engines[16] = {};
	struct drm_ouro_list list = { .stride = sizeof(engines[0]) };
	unsigned int i, k;

	GOOD(self->fd, DRM_IOCTL_OURO_ENGINES, &list);
	ASSERT_EQ(engines_of(&self->gpu), list.count);
	list.ptr = U64(engines);
	list.count = 16;
	GOOD(self->fd, DRM_IOCTL_OURO_ENGINES, &list);
	ASSERT_EQ(engines_of(&self->gpu), list.count);
	for (i = 0; i < list.count; i++) {
		EXPECT_LE(engines[i].engine_class, OURO_ENGINE_COMPUTE);
		EXPECT_TRUE(is_text(engines[i].name, sizeof(engines[i].name)));
		EXPECT_EQ(0, engines[i].pad);
		EXPECT_LE(engines[i].completed, engines[i].submitted);
		for (k = 0; k < i; k++)
			EXPECT_STRNE(engines[k].name, engines[i].name);
	}
	for (k = 0; k < self->gpu.n_engines; k++) {
		for (i = 0; i < list.count; i++)
			if (!strcmp(self->gpu.engines[k].name, engines[i].name))
				break;
		EXPECT_LT(i, list.count)
		{
			TH_LOG("%s", self->gpu.engines[k].name);
		}
	}
	/* what is beyond them was not touched */
	EXPECT_EQ(0, engines[list.count].name[0]);
}

TEST_F(ouro, list_arguments)
{
	struct drm_ouro_engine engines[16] = {};
	__u64 pointers[] = { 0, BAD_POINTER, KERNEL_POINTER };
	struct drm_ouro_list list;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(pointers); i++) {
		list = (struct drm_ouro_list){ .stride = sizeof(engines[0]),
					       .count = 16,
					       .ptr = pointers[i] };
		BAD(self->fd, DRM_IOCTL_OURO_ENGINES, &list, EFAULT);
		list.stride = sizeof(struct drm_ouro_region);
		BAD(self->fd, DRM_IOCTL_OURO_REGIONS, &list, EFAULT);
	}
	list = (struct drm_ouro_list){ .stride = sizeof(engines[0]) - 8,
				       .count = 16,
				       .ptr = U64(engines) };
	BAD(self->fd, DRM_IOCTL_OURO_ENGINES, &list, EINVAL);
	list.stride = 0;
	BAD(self->fd, DRM_IOCTL_OURO_ENGINES, &list, EINVAL);
	list.stride = ~0u;
	BAD(self->fd, DRM_IOCTL_OURO_REGIONS, &list, EINVAL);
	BAD(self->fd, DRM_IOCTL_OURO_ENGINES, NULL, EFAULT);
	BAD(self->fd, DRM_IOCTL_OURO_REGIONS, NULL, EFAULT);
	/* room for one alone: that one, and how many there are */
	list = (struct drm_ouro_list){ .stride = sizeof(engines[0]),
				       .count = 1,
				       .ptr = U64(engines) };
	GOOD(self->fd, DRM_IOCTL_OURO_ENGINES, &list);
	EXPECT_EQ(engines_of(&self->gpu), list.count);
	EXPECT_NE(0, engines[0].name[0]);
	EXPECT_EQ(0, engines[1].name[0]);
}

TEST_F(ouro, regions)
{
	struct drm_ouro_region regions[8] = {};
	struct drm_ouro_list list = { .stride = sizeof(regions[0]),
				      .ptr = U64(regions),
				      .count = 8 };
	__u64 before;
	__u32 handle;
	unsigned int i, system = 0;

	GOOD(self->fd, DRM_IOCTL_OURO_REGIONS, &list);
	ASSERT_GE(list.count, 1);
	for (i = 0; i < list.count; i++) {
		if (regions[i].kind == OURO_REGION_SYSTEM)
			system++;
		EXPECT_GT(regions[i].size, 0);
		EXPECT_LE(regions[i].cpu_visible, regions[i].size);
		EXPECT_EQ(0, regions[i].pad);
	}
	EXPECT_EQ(1, system);
	before = regions[0].used;
	handle = gem_create(self->fd, 64 * PAGE);
	GOOD(self->fd, DRM_IOCTL_OURO_REGIONS, &list);
	EXPECT_GE(regions[0].used, before);
	gem_close(self->fd, handle);
}

TEST_F(ouro, stats_count_what_happens)
{
	struct drm_ouro_stats before = {}, after = {};
	__u32 handle, context;
	unsigned int i;

	GOOD(self->fd, DRM_IOCTL_OURO_STATS, &before);
	handle = gem_create(self->fd, 16 * PAGE);
	context = context_create(self->fd);
	GOOD(self->fd, DRM_IOCTL_OURO_STATS, &after);
	EXPECT_EQ(before.objects + 1, after.objects);
	EXPECT_EQ(before.object_bytes + 16 * PAGE, after.object_bytes);
	EXPECT_EQ(before.contexts + !!context, after.contexts);

	before = after;
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], context, handle, 0, i));
	EXPECT_EQ(9, gem_read32(self->fd, handle, 0));
	/* requests are counted as completed when they are retired, which is soon and not at once */
	for (i = 0; i < 12000; i++) {
		memset(&after, 0, sizeof(after));
		ASSERT_EQ(0, call(self->fd, DRM_IOCTL_OURO_STATS, &after));
		if (after.completed >= before.completed + 10)
			break;
		usleep(5000);
	}
	EXPECT_EQ(before.requests + 10, after.requests);
	EXPECT_GE(after.completed, before.completed + 10);
	EXPECT_GE(after.port_writes, before.port_writes + 1);
	EXPECT_LE(after.port_writes, before.port_writes + 10);
	EXPECT_GE(after.reg_writes, after.port_writes);
	EXPECT_GE(after.object_pages, 1);
	EXPECT_EQ(0, after.reserved);
	gem_close(self->fd, handle);
	context_destroy(self->fd, context);
}

TEST_F(ouro, stats_arguments)
{
	struct drm_ouro_stats stats = { .flags = 1 };

	BAD(self->fd, DRM_IOCTL_OURO_STATS, &stats, EINVAL);
	stats.flags = 0;
	stats.pad = 1;
	BAD(self->fd, DRM_IOCTL_OURO_STATS, &stats, EINVAL);
	BAD(self->fd, DRM_IOCTL_OURO_STATS, NULL, EFAULT);
}

/* A child without privileges: what it is told about others. Returns 0, or which answer is wrong. */
static int look_around(int fd)
{
	struct drm_ouro_region regions[8] = {};
	struct drm_ouro_engine engines[32] = {};
	struct drm_ouro_list list = { .stride = sizeof(regions[0]),
				      .ptr = U64(regions),
				      .count = ARRAY_LEN(regions) };
	struct drm_ouro_stats stats = {}, none = {};
	unsigned int i;

	if (setgid(65534) || setuid(65534))
		return 1;
	if (call(fd, DRM_IOCTL_OURO_STATS, &stats) || memcmp(&stats, &none, sizeof(stats)))
		return 2;
	if (call(fd, DRM_IOCTL_OURO_REGIONS, &list) || !list.count)
		return 3;
	for (i = 0; i < ARRAY_LEN(regions); i++)
		if (regions[i].used)
			return 4;
	list = (struct drm_ouro_list){ .stride = sizeof(engines[0]),
				       .ptr = U64(engines),
				       .count = ARRAY_LEN(engines) };
	if (call(fd, DRM_IOCTL_OURO_ENGINES, &list) || !list.count || !engines[0].name[0])
		return 5;
	for (i = 0; i < ARRAY_LEN(engines); i++)
		if (engines[i].submitted || engines[i].completed || engines[i].port_writes ||
		    engines[i].context_switches)
			return 6;
	return 0;
}

/* Counters of all clients together are for the privileged ones: ouro_drm.h. */
TEST_F(ouro, others_are_not_seen)
{
	__u32 handle = gem_create(self->fd, PAGE);
	struct drm_ouro_stats stats = {};
	int status;
	pid_t child;

	ASSERT_EQ(0, store(&self->gpu, &self->gpu.engines[0], 0, handle, 0, 1));
	EXPECT_EQ(1, gem_read32(self->fd, handle, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(look_around(self->fd));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	GOOD(self->fd, DRM_IOCTL_OURO_STATS, &stats);
	EXPECT_NE(0, stats.requests);
	EXPECT_NE(0, stats.objects);
}

/* Counts register accesses of a row of submissions without a wait. */
static int measure(const struct gpu *gpu, struct drm_i915_gem_execbuffer2 *eb, __u32 target,
		   unsigned int n, struct drm_ouro_stats *before, struct drm_ouro_stats *after)
{
	const int fd = gpu->fd;
	unsigned int i;
	int got;

	memset(before, 0, sizeof(*before));
	memset(after, 0, sizeof(*after));
	got = call(fd, DRM_IOCTL_OURO_STATS, before);
	for (i = 0; i < n && !got; i++)
		got = eb->buffer_count ? call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, eb) :
					 store(gpu, &gpu->engines[0], 0, target, 0, 1);
	return got ? got : call(fd, DRM_IOCTL_OURO_STATS, after);
}

/* True if a row of `n` cost what it should. */
static bool is_exact(const struct gpu *gpu, unsigned int n, const struct drm_ouro_stats *before,
		     const struct drm_ouro_stats *after)
{
	const __u64 starts = after->port_writes - before->port_writes;
	const __u64 flushes = after->table_flushes - before->table_flushes;
	const __u64 interrupts = after->interrupts - before->interrupts;
	__u64 writes = after->reg_writes - before->reg_writes;
	const __u64 reads = after->reg_reads - before->reg_reads;
	/* a context's two words and the load of a list; or a tail */
	const __u64 each = gpu->speaks == &i915_local ? 3 : 1;

	if (after->requests != before->requests + n || starts > n ||
	    writes < starts * each + flushes || after->irq_arms != before->irq_arms ||
	    after->wakes != before->wakes)
		return false;
	writes -= starts * each + flushes;
	if (gpu->speaks == &i915_local)
		/* engines report by interrupts, even if no client waits; some of them in one */
		return interrupts ? writes <= interrupts * 24 : !writes && !reads;
	return !writes && reads == after->fifo_reads - before->fifo_reads;
}

/*
 * A submission whose objects are bound, while no client waits: one posted write and no read, on
 * engines whose document asks for no handshake; on those that take lists of contexts, the list of
 * one and its load. FIFO room and table flushes are counted apart.
 * A row in which an interrupt of earlier work came in or was disarmed, or the device woke, says
 * nothing: another one is measured. One that costs just this must come soon, as no client waits for
 * these; were a submission to cost more, none would.
 */
TEST_F(ouro, a_submission_costs_one_write)
{
	enum { N = 24, TRIES = 30 };
	unsigned int e, try;

	for (e = 0; e < self->gpu.n_engines; e++) {
		const struct engine *engine = &self->gpu.engines[e];
		__u32 target = gem_create(self->fd, PAGE);
		struct drm_ouro_stats before, after;
		struct drm_i915_gem_execbuffer2 eb = {};
		bool exact = false;
		struct batch b;

		if (self->gpu.speaks == &i915 && engine->bit == VCS)
			continue;
		if (self->gpu.speaks != &radeon) {
			/* the same batch again and again */
			batch_init(&b);
			batch_store(&b, store_for(&self->gpu, engine, 4), target, 0, 1);
			batch_end(&b, self->gpu.backend);
			batch_finish(self->fd, &b, &eb);
			eb.flags = engine->ring | I915_EXEC_NO_RELOC;
		}
		ASSERT_EQ(0, store(&self->gpu, engine, 0, target, 0, 1));
		ASSERT_EQ(0, gem_wait(self->fd, target, -1));
		for (try = 0; try < TRIES && !exact; try++) {
			cover("DRM_IOCTL_OURO_STATS");
			ASSERT_EQ(0, measure(&self->gpu, &eb, target, N, &before, &after));
			exact = is_exact(&self->gpu, N, &before, &after);
			if (!exact)
				usleep(10000);
		}
		EXPECT_TRUE(exact)
		{
			TH_LOG("%s: in the last row of %d: %llu to the port, %llu interrupts",
			       engine->name, N, after.port_writes - before.port_writes,
			       after.interrupts - before.interrupts);
			TH_LOG("%llu writes and %llu reads in all",
			       after.reg_writes - before.reg_writes,
			       after.reg_reads - before.reg_reads);
		}
		EXPECT_EQ(0, gem_wait(self->fd, target, -1));
	}
}

TEST_HARNESS_MAIN

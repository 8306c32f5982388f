// SPDX-License-Identifier: GPL-2.0
/*
 * What an ioctl costs: one client of the radeon interface, for any driver that has it. The output
 * is explained in measure.h. The rows have the names of exec_cost.c where they are the same for
 * user space; the interface lacks contexts, relocations of its own, and PREAD and PWRITE.
 */

#include <drm/drm.h>
#include <drm/radeon_drm.h>

#include "measure.h"

#define MAX_OBJECTS 1000
/* of a stream: no commands, as many as the upstream driver wants */
#define FILLERS 8
#define FILLER 0x80000000

static uint32_t words[FILLERS], flags[3];
static struct drm_radeon_cs_reloc relocs[MAX_OBJECTS];
static struct drm_radeon_cs_chunk chunks[3];
static uint64_t pointers[3];
/* idle between the rounds */
static uint32_t object;

static uint32_t create(uint64_t size)
{
	struct drm_radeon_gem_create arg = {
		.size = size, .alignment = PAGE, .initial_domain = RADEON_GEM_DOMAIN_GTT,
	};

	call(DRM_IOCTL_RADEON_GEM_CREATE, &arg, "GEM_CREATE");
	return arg.handle;
}

static void destroy(uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	call(DRM_IOCTL_GEM_CLOSE, &arg, "GEM_CLOSE");
}

static char *map(uint32_t handle, uint64_t size)
{
	struct drm_radeon_gem_mmap arg = { .handle = handle, .size = size };
	void *there;

	call(DRM_IOCTL_RADEON_GEM_MMAP, &arg, "GEM_MMAP");
	there = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, card, arg.addr_ptr);
	if (there == MAP_FAILED)
		fail("mmap");
	return there;
}

static void wait_for(uint32_t handle)
{
	struct drm_radeon_gem_wait_idle arg = { .handle = handle };

	call(DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &arg, "GEM_WAIT_IDLE");
}

/* A stream of nothing that uses the first `count` of `relocs`. */
static void submit(unsigned int count)
{
	struct drm_radeon_cs arg = { .num_chunks = 3, .chunks = (uintptr_t)pointers };

	chunks[0] = (struct drm_radeon_cs_chunk){ RADEON_CHUNK_ID_IB, FILLERS, (uintptr_t)words };
	chunks[1] = (struct drm_radeon_cs_chunk){
		RADEON_CHUNK_ID_RELOCS, 4 * count, (uintptr_t)relocs,
	};
	chunks[2] = (struct drm_radeon_cs_chunk){ RADEON_CHUNK_ID_FLAGS, 3, (uintptr_t)flags };
	call(DRM_IOCTL_RADEON_CS, &arg, "CS");
}

static void name(unsigned int n, uint32_t handle)
{
	relocs[n] = (struct drm_radeon_cs_reloc){ .handle = handle,
						  .write_domain = RADEON_GEM_DOMAIN_GTT };
}

/* How many objects the streams of a row have, and the one to wait for. */
static unsigned int listed;
static uint32_t last;

static void submit_once(void)
{
	submit(listed);
}

static void is_done(void)
{
	wait_for(last);
}

static void submit_and_wait(void)
{
	submit(listed);
	wait_for(last);
}

static void no_commands(void)
{
	listed = 1;
	last = object;
	name(0, object);
	submit_and_wait();
	measure("empty-rcs", 50, submit_once, is_done);
	measure("empty-rcs-waited", 20, submit_and_wait, NULL);
}

static void many(int count)
{
	static uint32_t handles[MAX_OBJECTS];
	char line[64];

	for (int i = 0; i < count; i++) {
		handles[i] = create(PAGE);
		name(i, handles[i]);
	}
	listed = count;
	last = handles[0];
	submit_and_wait();
	snprintf(line, sizeof(line), "objects-%d", count);
	measure(line, count >= 1000 ? 4 : 20, submit_once, is_done);
	for (int i = 0; i < count; i++)
		destroy(handles[i]);
}

static void lists(void)
{
	many(10);
	many(100);
	many(MAX_OBJECTS);
}

static void create_write_close(void)
{
	uint32_t handle = create(MIB);
	char *there = map(handle, MIB);

	__atomic_store_n(there, 1, __ATOMIC_RELAXED);
	munmap(there, MIB);
	destroy(handle);
}

static void life(void)
{
	measure("create-close-4k", 100, create_and_close, NULL);
	measure("create-write-close-1m", 10, create_write_close, NULL);
}

static void bytes(void)
{
	touch_row(create(MIB));
}

static void is_busy(void)
{
	struct drm_radeon_gem_busy arg = { .handle = object };

	call(DRM_IOCTL_RADEON_GEM_BUSY, &arg, "GEM_BUSY");
}

static void idle_object(void)
{
	last = object;
	measure("busy-idle", 200, is_busy, NULL);
	measure("wait-idle", 200, is_done, NULL);
}

static const struct cost_case cases[] = {
	{ "empty", no_commands },
	{ "lists", lists },
	{ "life", life },
	{ "bytes", bytes },
	{ "idle", idle_object },
};

/* cs_cost [CASE...]: those cases, or all. */
int main(int argc, char **argv)
{
	open_card();
	for (unsigned int i = 0; i < FILLERS; i++)
		words[i] = FILLER;
	flags[0] = RADEON_CS_KEEP_TILING_FLAGS;
	for (unsigned int i = 0; i < 3; i++)
		pointers[i] = (uintptr_t)&chunks[i];
	object = create(PAGE);
	run_cases(cases, sizeof(cases) / sizeof(*cases), argc, argv);
	return 0;
}

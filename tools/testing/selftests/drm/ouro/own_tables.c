// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts whose tables are their own although the uAPI does not show it: an
 * address is the context's. Their directories have places in the
 * global table, of which there are fewer than contexts, and engines load them
 * by requests (Documentation/gpu/ouro/gen7.rst).
 *
 * A batch here names an object by its address, without listing it, where it is
 * shown who reaches what.
 */
#include <stdio.h>

#define TOPIC own_tables
#include "test.h"
#include "files.h"

/* What a table behind an entry of a directory maps (VCS-004: 64 MiB are 16 entries). */
#define TABLE (4ull << 20)
/* Behind where the driver puts what may be anywhere. */
#define FIRST 0x20000000ull
#define MANY 100u

static const struct engine *engine_of(const struct gpu *gpu, unsigned int bit)
{
	unsigned int i;

	for (i = 0; i < gpu->n_engines; i++)
		if (gpu->engines[i].bit == bit)
			return &gpu->engines[i];
	return NULL;
}

/* True if contexts have tables of their own here. */
static bool has_tables(const struct gpu *gpu)
{
	return gpu->ouro && gpu->own_spaces;
}

#define NO_TABLES "one space is everybody's on this chip, or with this driver"

static void at(struct batch *b, __u32 handle, __u64 address)
{
	struct drm_i915_gem_exec_object2 *object = batch_object(b, handle);

	object->flags |= EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
	object->offset = address;
}

/* MI_STORE_DATA_IMM of a dword to an address, whatever is there (VCS §1.2.12). */
static void value_to(struct batch *b, __u64 address, __u32 value)
{
	b->words[b->n++] = 0x10000002;
	b->words[b->n++] = 0;
	b->words[b->n++] = address;
	b->words[b->n++] = value;
}

/* The blitter copies the page at an address to a page of an object. */
static void page_from(const struct gpu *gpu, struct batch *b, __u64 address, __u32 to, __u32 page)
{
	const struct backend *be = gpu->backend;
	unsigned int i;

	for (i = 0; i < be->copy_dwords; i++) {
		if (i == be->copy_to)
			batch_address(b, to, page * PAGE, true, I915_GEM_DOMAIN_RENDER);
		else
			b->words[b->n++] = i == be->copy_from ? address : be->copy_page[i];
	}
}

static int run(const struct gpu *gpu, struct batch *b, unsigned int engine, __u32 context)
{
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	batch_end(b, gpu->backend);
	return batch_run(gpu->fd, b, engine_of(gpu, engine)->ring, context);
}

/* Binds an object at an address of a context, and stores a value at its beginning. */
static int store_to(const struct gpu *gpu, unsigned int engine, __u32 context, __u32 handle,
		    __u64 address, __u32 value)
{
	struct batch b;

	batch_init(&b);
	at(&b, handle, address);
	value_to(&b, address, value);
	return run(gpu, &b, engine, context);
}

/* Reads a dword at an address of a context. 0, or a negative errno. */
static int read_from(const struct gpu *gpu, __u32 context, __u64 address, __u32 *value)
{
	__u32 to = gem_create(gpu->fd, PAGE);
	struct batch b;
	int got;

	batch_init(&b);
	page_from(gpu, &b, address, to, 0);
	got = run(gpu, &b, BCS, context);
	*value = gem_read32(gpu->fd, to, 0);
	gem_close(gpu->fd, to);
	return got;
}

/* Returns how often an engine has loaded a directory. */
static long loads(const struct gpu *gpu, const char *name)
{
	char path[128], text[512], *line;

	debug_path(gpu->fd, "ouro_directories", path, sizeof(path));
	if (file_read(path, text, sizeof(text)) <= 0)
		return -1;
	line = strstr(text, name);
	return line ? atol(line + strlen(name)) : -1;
}

static unsigned long free_kib(void)
{
	char text[1024], *line;

	if (file_read("/proc/meminfo", text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "MemAvailable:");
	return line ? strtoul(line + 13, NULL, 10) : 0;
}

/*
 * A hundred contexts (20 on the debug kernel) have something at each sixteenth of the same 64 MiB.
 * If there is memory for it, these are objects of 64 MiB; else pages, each behind another table.
 */
TEST_F(own_tables, contexts_read_their_own_bytes)
{
	enum { PARTS = 16 };
	const bool whole = free_kib() / 2 > MANY * (64ul << 10);
	static __u32 contexts[MANY], handles[MANY][PARTS];
	__u32 answers = gem_create(self->fd, PARTS * PAGE);
	const unsigned int wanted = rounds("OURO_TABLES", MANY, 20);
	const unsigned int many = wanted < MANY ? wanted : MANY;
	unsigned int n, i, bad = 0;
	struct batch b;

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	for (n = 0; n < many; n++) {
		contexts[n] = context_create(self->fd);
		ASSERT_NE(0, contexts[n]);
		batch_init(&b);
		for (i = 0; i < PARTS; i++) {
			if (!whole || i == 0) {
				handles[n][i] = gem_create(self->fd, whole ? PARTS * TABLE : PAGE);
				ASSERT_NE(0, handles[n][i]);
				at(&b, handles[n][i], FIRST + i * TABLE);
			}
			value_to(&b, FIRST + i * TABLE, n << 8 | i);
		}
		ASSERT_EQ(0, run(&self->gpu, &b, n & 1 ? RCS : VCS, contexts[n]));
	}
	for (n = 0; n < many; n++)
		ASSERT_EQ(0, gem_wait(self->fd, handles[n][0], -1));
	for (n = 0; n < many; n++) {
		batch_init(&b);
		for (i = 0; i < PARTS; i++)
			page_from(&self->gpu, &b, FIRST + i * TABLE, answers, i);
		ASSERT_EQ(0, run(&self->gpu, &b, BCS, contexts[n]));
		for (i = 0; i < PARTS; i++)
			bad += gem_read32(self->fd, answers, i * PAGE) != (n << 8 | i);
	}
	EXPECT_EQ(0, bad);
	for (n = 0; n < many; n++) {
		for (i = 0; i < PARTS; i++)
			bad += !whole && gem_read32(self->fd, handles[n][i], 0) != (n << 8 | i);
		context_destroy(self->fd, contexts[n]);
	}
	EXPECT_EQ(0, bad);
	printf("# cover: own_tables: %u contexts of 64 MiB, %s\n", many,
	       whole ? "all of it memory" : "a page behind each of 16 tables");
	fflush(stdout);
}

/* A page that leaves one space stays in another. */
TEST_F(own_tables, what_is_unmapped_in_one_is_mapped_in_another)
{
	__u32 one = context_create(self->fd), other = context_create(self->fd);
	__u32 shared = gem_create(self->fd, PAGE), got = ~0u;

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	ASSERT_EQ(0, store_to(&self->gpu, RCS, one, shared, FIRST, 0x51));
	ASSERT_EQ(0, store_to(&self->gpu, BCS, other, shared, FIRST, 0x52));
	ASSERT_EQ(0, gem_wait(self->fd, shared, -1));
	/* in the one it goes somewhere else */
	ASSERT_EQ(0, store_to(&self->gpu, RCS, one, shared, FIRST + 3 * TABLE, 0x53));
	ASSERT_EQ(0, gem_wait(self->fd, shared, -1));
	ASSERT_EQ(0, read_from(&self->gpu, one, FIRST, &got));
	EXPECT_EQ(0, got);
	ASSERT_EQ(0, read_from(&self->gpu, other, FIRST, &got));
	EXPECT_EQ(0x53, got);
	ASSERT_EQ(0, read_from(&self->gpu, other, FIRST + 3 * TABLE, &got));
	EXPECT_EQ(0, got);
	ASSERT_EQ(0, read_from(&self->gpu, one, FIRST + 3 * TABLE, &got));
	EXPECT_EQ(0x53, got);
}

/*
 * An unmapped address leads to the scratch page of its space: a client does not find there what
 * another one wrote.
 */
TEST_F(own_tables, holes_are_the_spaces_own)
{
	__u32 one = context_create(self->fd), other = context_create(self->fd), got = ~0u;
	struct batch b;

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	batch_init(&b);
	value_to(&b, FIRST, 0x61);
	ASSERT_EQ(0, run(&self->gpu, &b, BCS, one));
	ASSERT_EQ(0, read_from(&self->gpu, other, FIRST, &got));
	EXPECT_EQ(0, got);
	ASSERT_EQ(0, read_from(&self->gpu, one, FIRST, &got));
	EXPECT_EQ(0x61, got);
}

/*
 * Engines have the directory loaded, and one works in the space: what is added is seen by the next
 * request of each.
 */
TEST_F(own_tables, a_table_is_added_while_an_engine_runs)
{
	__u32 context = context_create(self->fd);
	const struct engine *render = engine_of(&self->gpu, RCS);
	__u32 handles[8], first = gem_create(self->fd, PAGE);
	const unsigned int others[] = { BCS, VCS };
	struct spin spin;
	unsigned int i;

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	for (i = 0; i < ARRAY_LEN(others); i++)
		ASSERT_EQ(0, store_to(&self->gpu, others[i], context, first, FIRST, i));
	ASSERT_EQ(0, spin_start(&self->gpu, render, context, 0, NULL, &spin));
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		handles[i] = gem_create(self->fd, PAGE);
		ASSERT_EQ(0, store_to(&self->gpu, others[i % 2], context, handles[i],
				      FIRST + (i + 1) * TABLE, 0x70 + i));
		ASSERT_EQ(0, gem_wait(self->fd, handles[i], -1));
		EXPECT_EQ(0x70 + i, gem_read32(self->fd, handles[i], 0));
	}
	/* behind the batch that runs, on the engine that has loaded none of them */
	for (i = 0; i < ARRAY_LEN(handles); i++)
		ASSERT_EQ(0, store_to(&self->gpu, RCS, context, handles[i],
				      FIRST + (i + 1) * TABLE, 0x80 + i));
	EXPECT_EQ(1, gem_busy(self->fd, handles[0]) != 0);
	spin_stop(&spin);
	for (i = 0; i < ARRAY_LEN(handles); i++) {
		ASSERT_EQ(0, gem_wait(self->fd, handles[i], -1));
		EXPECT_EQ(0x80 + i, gem_read32(self->fd, handles[i], 0));
	}
	spin_free(&spin);
}

/*
 * One directory takes 2 MiB of addresses: those of idle contexts make room, and come back. (On the
 * debug kernel each sixteenth comes back.)
 */
TEST_F(own_tables, there_are_more_contexts_than_places)
{
	struct drm_ouro_device device = {};
	__u32 shared = gem_create(self->fd, 4 * PAGE), context[2048];
	unsigned int n, round, bad = 0, many, step = rounds("OURO_BACK", 1, 16);

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	ASSERT_EQ(0, call(self->fd, DRM_IOCTL_OURO_DEVICE, &device));
	many = device.gpu_address_space / (2 << 20) + 32;
	ASSERT_GE(ARRAY_LEN(context), many);
	for (n = 0; n < many; n++) {
		context[n] = context_create(self->fd);
		ASSERT_NE(0, context[n]);
	}
	for (round = 0; round < 2; round++) {
		for (n = 0; n < many; n += round ? step : 1) {
			__u32 own = gem_create(self->fd, PAGE);

			ASSERT_EQ(0, store_to(&self->gpu, BCS, context[n], own, FIRST, n + 1))
			{
				TH_LOG("context %u of %u, round %u", n, many, round);
			}
			ASSERT_EQ(0, gem_wait(self->fd, own, -1));
			bad += gem_read32(self->fd, own, 0) != n + 1;
			gem_close(self->fd, own);
		}
	}
	EXPECT_EQ(0, bad);
	gem_close(self->fd, shared);
	for (n = 0; n < many; n++)
		context_destroy(self->fd, context[n]);
	printf("# cover: own_tables: %u contexts in %llu MiB of addresses, each %u. came back\n",
	       many, device.gpu_address_space >> 20, step);
	fflush(stdout);
}

TEST_F(own_tables, the_space_that_stays_is_not_loaded_again)
{
	enum { TIMES = 20 };
	static const struct {
		unsigned int bit;
		const char *name;
	} all[] = { { RCS, "rcs0" }, { BCS, "bcs0" }, { VCS, "vcs0" } };
	__u32 one = context_create(self->fd), other = context_create(self->fd);
	__u32 handle = gem_create(self->fd, PAGE);
	unsigned int i, k;
	long before;

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	for (i = 0; i < ARRAY_LEN(all); i++) {
		/* the batch has a place after the first two */
		for (k = 0; k < 2; k++)
			ASSERT_EQ(0, store_to(&self->gpu, all[i].bit, one, handle, FIRST, k));
		ASSERT_EQ(0, store_to(&self->gpu, all[i].bit, other, handle, FIRST, k));
		ASSERT_EQ(0, store_to(&self->gpu, all[i].bit, one, handle, FIRST, k));
		before = loads(&self->gpu, all[i].name);
		ASSERT_LE(1, before);
		for (k = 0; k < TIMES; k++)
			ASSERT_EQ(0, store_to(&self->gpu, all[i].bit, one, handle, FIRST, k));
		EXPECT_EQ(before, loads(&self->gpu, all[i].name));
		for (k = 0; k < TIMES; k++)
			ASSERT_EQ(0, store_to(&self->gpu, all[i].bit, k & 1 ? one : other, handle,
					      FIRST, k));
		/* the last one may not have gone to the ring yet */
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(before + TIMES, loads(&self->gpu, all[i].name));
	}
}

/*
 * Rings, status pages, images and copies of batches are in a part of the global table where no
 * context maps anything: a command streamer's TLB may take the entry of one table for the other's
 * (SNB PRM V1P2 2.3.4; the VCS PRM does not say that Gen7 is better). That is the last eighth
 * below 512 MiB, the end of the rings' addresses (VCS PRM 1.1.4).
 */
#define KERNEL_START 0x1c000000ull
#define KERNEL_END 0x20000000ull

TEST_F(own_tables, no_context_has_the_kernels_addresses)
{
	static const __u64 places[] = { KERNEL_START, KERNEL_START + (16 << 20),
					KERNEL_END - (16 << 20), KERNEL_END - PAGE };
	__u32 context = context_create(self->fd), page = gem_create(self->fd, PAGE);
	__u32 wide = gem_create(self->fd, 2 * PAGE);
	unsigned int i;

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	for (i = 0; i < ARRAY_LEN(places); i++)
		EXPECT_EQ(-ENOSPC, store_to(&self->gpu, RCS, context, page, places[i], i));
	EXPECT_EQ(-ENOSPC, store_to(&self->gpu, RCS, context, wide, KERNEL_START - PAGE, i));
	EXPECT_EQ(-ENOSPC, store_to(&self->gpu, RCS, context, wide, KERNEL_END - PAGE, i));
	EXPECT_EQ(0, store_to(&self->gpu, RCS, context, page, KERNEL_START - PAGE, 1));
	EXPECT_EQ(0, store_to(&self->gpu, RCS, context, page, KERNEL_END, 1));
}

/*
 * Batches of all engines behind so much that they would lie at a page of a ring, which is in its
 * engine's TLB when it starts the batch.
 */
TEST_F(own_tables, batches_lie_beside_the_kernels_addresses)
{
	/* where rings are, and where they were while contexts mapped these addresses */
	static const __u64 rings[] = { KERNEL_START + PAGE, KERNEL_END - (16 << 20) };
	enum { PAGES = 100 };
	__u32 wall = gem_create(self->fd, PAGE), target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_exec_object2 *object;
	unsigned int i, k, n = 0;
	struct batch b;
	__u64 first, pad;

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	batch_init(&b);
	object = batch_object(&b, wall);
	ASSERT_EQ(0, run(&self->gpu, &b, RCS, context_create(self->fd)));
	/* the first address of a space is the end of the aperture */
	first = object->offset;
	ASSERT_GT(KERNEL_START, first);
	for (k = 0; k < PAGES * ARRAY_LEN(rings); k++) {
		__u32 context = context_create(self->fd);

		pad = rings[k / PAGES] + k % PAGES * PAGE - first;
		for (i = 0; i < self->gpu.n_engines; i++, n++) {
			const struct engine *engine = &self->gpu.engines[i];

			batch_init(&b);
			object = batch_object(&b, wall);
			object->flags |= EXEC_OBJECT_PAD_TO_SIZE;
			object->pad_to_size = pad;
			batch_store(&b, store_for(&self->gpu, engine, 4), target, 0, n + 1);
			ASSERT_EQ(0, run(&self->gpu, &b, engine->bit, context));
			ASSERT_EQ(0, gem_wait(self->fd, target, -1));
			ASSERT_EQ(n + 1, gem_read32(self->fd, target, 0))
			{
				TH_LOG("engine %u behind %llu bytes", i, pad);
			}
		}
		context_destroy(self->fd, context);
	}
}

/* After a reset it is not known which directory an engine has loaded. */
TEST_F(own_tables, a_reset_engine_loads_again)
{
	__u32 context = context_create(self->fd), handle = gem_create(self->fd, PAGE);
	long before;
	unsigned int i;

	if (!has_tables(&self->gpu))
		SKIP(return, NO_TABLES);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, store_to(&self->gpu, BCS, context, handle, FIRST, 0x90 + i));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(0x90 + i, gem_read32(self->fd, handle, 0));
		before = loads(&self->gpu, "bcs0");
		ASSERT_EQ(0, device_ask_for_reset(self->fd));
		ASSERT_EQ(0, store_to(&self->gpu, BCS, context, handle, FIRST, 0xa0 + i));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(0xa0 + i, gem_read32(self->fd, handle, 0));
		EXPECT_LT(before, loads(&self->gpu, "bcs0"));
	}
}

TEST_HARNESS_MAIN

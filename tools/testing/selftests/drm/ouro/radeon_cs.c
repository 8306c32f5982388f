// SPDX-License-Identifier: GPL-2.0
/* The radeon interface: streams of commands, which are done whole or not at all. */
#include <pthread.h>

#include "radeon_fixture.h"

TEST_F(radeon, streams)
{
	__u32 handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
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
	EXPECT_EQ(0, bo_wait_idle(self->fd, handle));
	/* flags and relocations may be missing, the stream not */
	cs_init(&cs);
	cs.arg.num_chunks = 1;
	GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
	cs.pointers[0] = U64(&cs.chunks[1]);
	OURS_BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
}

TEST_F(radeon, chunks)
{
	__u32 handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
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

/* The limits of uapi.rst: what has as much passes, and one more is refused. */
TEST_F(radeon, limits)
{
	enum { MAX_DWORDS = 65536, MAX_RELOCS = 65536, MAX_CHUNKS = 8 };
	__u32 handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	__u32 *words = calloc(MAX_DWORDS + 1, sizeof(*words));
	struct drm_radeon_cs_reloc *relocs = calloc(MAX_RELOCS + 1, sizeof(*relocs));
	__u64 pointers[MAX_CHUNKS + 1];
	struct cs cs;
	unsigned int i;

	if (!self->ours)
		SKIP(return, "the limits of ouro");
	ASSERT_NE(0, handle);
	ASSERT_NE(NULL, words);
	ASSERT_NE(NULL, relocs);
	/* fillers, packets of type 2 (§5.1.3) */
	for (i = 0; i <= MAX_DWORDS; i++)
		words[i] = 0x80000000;
	cs_init(&cs);
	cs.chunks[0].chunk_data = U64(words);
	cs.chunks[0].length_dw = MAX_DWORDS;
	GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
	cs.chunks[0].length_dw = MAX_DWORDS + 1;
	BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
	/* one object by all relocations */
	for (i = 0; i <= MAX_RELOCS; i++)
		relocs[i] = (struct drm_radeon_cs_reloc){
			.handle = handle,
			.read_domains = RADEON_GEM_DOMAIN_GTT,
		};
	cs_init(&cs);
	cs.chunks[1].chunk_data = U64(relocs);
	cs.chunks[1].length_dw = MAX_RELOCS * sizeof(*relocs) / 4;
	GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
	cs.chunks[1].length_dw += sizeof(*relocs) / 4;
	BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
	/* each kind may be there once, so more than the limit cannot pass */
	cs_init(&cs);
	for (i = 0; i <= MAX_CHUNKS; i++)
		pointers[i] = U64(&cs.chunks[0]);
	cs.arg.chunks = U64(pointers);
	for (i = 2; i <= MAX_CHUNKS + 1; i++) {
		cs.arg.num_chunks = i;
		BAD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg, EINVAL);
	}
	ASSERT_EQ(0, bo_wait_idle(self->fd, handle));
	free(relocs);
	free(words);
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

/* The GPU writes where the stream says, in either memory, and nowhere else. */
TEST_F(radeon, fills)
{
	static const __u32 domains[] = { RADEON_GEM_DOMAIN_GTT, RADEON_GEM_DOMAIN_VRAM };
	unsigned int i, x, y, other;
	struct cs cs;

	for (i = 0; i < ARRAY_LEN(domains); i++) {
		__u32 before = bo_create(self->fd, PAGE, domains[i]);
		__u32 handle = bo_create(self->fd, PAGE, domains[i]);
		__u32 after = bo_create(self->fd, PAGE, domains[i]);
		__u32 *words = bo_map(self->fd, handle, PAGE);
		__u32 *around[2];

		ASSERT_EQ(0, bo_use(self->fd, before, domains[i]));
		around[0] = bo_map(self->fd, before, PAGE);
		around[1] = bo_map(self->fd, after, PAGE);
		ASSERT_NE(MAP_FAILED, words);
		if (!self->ours) {
			/* see memory_is_zero */
			memset(words, 0, PAGE);
			memset(around[0], 0, PAGE);
			memset(around[1], 0, PAGE);
		}
		cs_fill(&cs, handle, domains[i], 9, 4, 5, 3, 0xc0ffee00 | i);
		GOOD(self->fd, DRM_IOCTL_RADEON_CS, &cs.arg);
		ASSERT_EQ(0, bo_use(self->fd, after, domains[i]));
		ASSERT_EQ(0, bo_wait_idle(self->fd, handle));
		EXPECT_EQ(domains[i], bo_domain_of(self->fd, handle));
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
		ASSERT_EQ(0, bo_wait_idle(self->fd, handle));
		for (x = 0, other = 0; x < PAGE / 4; x++)
			other += (peek(&words[x]) == ~0u) + (peek(&around[0][x]) != 0) +
				 (peek(&around[1][x]) != 0);
		EXPECT_EQ(0, other);
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
		__u32 colour = w->seed | i, handle = bo_create(w->fd, PAGE, domain);
		__u32 *words = bo_map(w->fd, handle, PAGE);

		if (!handle || words == MAP_FAILED) {
			w->failed++;
			continue;
		}
		cs_fill(&cs, handle, domain, 0, 0, 64, 16, colour);
		w->failed += call(w->fd, DRM_IOCTL_RADEON_CS, &cs.arg) != 0;
		if (i % 4 < 2)
			w->failed += bo_wait_idle(w->fd, handle) != 0;
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
		w->failed += bo_create(w->fd, PAGE, RADEON_GEM_DOMAIN_GTT) == 0;
	}
	return NULL;
}

TEST_F(radeon, handles_that_change)
{
	__u32 handle = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	__u32 other = bo_create(self->fd, PAGE, RADEON_GEM_DOMAIN_GTT);
	struct worker worker = { .fd = self->fd, .seed = handle };
	__u32 *words = bo_map(self->fd, other, PAGE);
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
	ASSERT_EQ(0, bo_use(self->fd, other, RADEON_GEM_DOMAIN_GTT));
	ASSERT_EQ(0, bo_wait_idle(self->fd, other));
	for (at = 0, wrong = 0; at < PAGE / 4; at++)
		wrong += peek(&words[at]) != 0;
	EXPECT_EQ(0, wrong);
}

TEST_HARNESS_MAIN

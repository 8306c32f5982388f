// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_I915_GEM_EXECBUFFER2 where batches are checked before they run
 * (I915_PARAM_CMD_PARSER_VERSION): what is harmless runs with privilege, from
 * a copy; what is not, as it is and without; and what makes no sense is an
 * error.
 *
 * Commands: IHD-OS-V1 Pt 5 §1.2. The registers are the offsets of transform
 * feedback, which a context keeps, and which only a batch with privilege loads.
 */
#define TOPIC checked
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#include "test.h"
#include "device.h"
#include "files.h"
#include "sw_sync.h"

#define BATCH_END 0x05000000
#define USER_INTERRUPT 0x01000000
#define STORE_DATA 0x10000002
#define LOAD_REGISTER 0x11000001
#define STORE_REGISTER 0x12000001
#define JUMP 0x18800100
/* SO_WRITE_OFFSET0; the ring's start */
#define OFFSET 0x5280
#define RING_START 0x2038
/* MI_PREDICATE_RESULT: no batch may load it, nothing else does, and no context keeps it */
#define RESULT 0x2418
/* A batch that is longer is not copied: uapi.rst. */
#define COPIED (512u << 10)

/*
 * Counts the batches that were copied, and those that ran as they are; 0 for the upstream driver.
 */
static void counts(struct gpu *gpu, unsigned long *copies, unsigned long *originals)
{
	char path[128], text[128];

	*copies = *originals = 0;
	debug_path(gpu->fd, "ouro_batches", path, sizeof(path));
	if (file_read(path, text, sizeof(text)) > 0)
		sscanf(text, "%lu copies\n%lu originals", copies, originals);
}

static void word(struct batch *b, __u32 value)
{
	b->words[b->n++] = value;
}

static void load(struct batch *b, __u32 reg, __u32 value)
{
	word(b, LOAD_REGISTER);
	word(b, reg);
	word(b, value);
}

static void load_to(struct batch *b, __u32 reg, __u32 target, __u32 at)
{
	word(b, STORE_REGISTER);
	word(b, reg);
	batch_address(b, target, at, true, I915_GEM_DOMAIN_RENDER);
}

static void value_to(struct batch *b, __u32 value, __u32 target, __u32 at)
{
	word(b, STORE_DATA);
	word(b, 0);
	batch_address(b, target, at, true, I915_GEM_DOMAIN_RENDER);
	word(b, value);
}

/* Ends and runs it; `sized`: its length is told. 0 or a negative errno. */
static int run(struct gpu *gpu, struct batch *b, bool sized)
{
	struct drm_i915_gem_execbuffer2 eb;
	__u32 handle;
	int got;

	batch_end(b, gpu->backend);
	handle = batch_finish(gpu->fd, b, &eb);
	if (!handle)
		return -ENOMEM;
	if (!sized)
		eb.batch_len = 0;
	eb.flags = gpu->engines[0].ring;
	got = call(gpu->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	gem_close(gpu->fd, handle);
	return got;
}

/* Reads a register. */
static __u32 register_now(struct gpu *gpu, __u32 reg)
{
	__u32 target = gem_create(gpu->fd, PAGE), value;
	struct batch b;

	batch_init(&b);
	load_to(&b, reg, target, 0);
	if (run(gpu, &b, true))
		return ~0;
	value = gem_read32(gpu->fd, target, 0);
	gem_close(gpu->fd, target);
	return value;
}

static __u32 offset_now(struct gpu *gpu)
{
	return register_now(gpu, OFFSET);
}

/* Why a test is skipped. */
#define NOT_CHECKED "batches are not checked on this device"

static bool is_checked(int fd)
{
	return getparam(fd, I915_PARAM_CMD_PARSER_VERSION) > 0;
}

/* A batch, what it stores, and whether it ran as a copy. */
#define RAN_AS(copied, original)                                                 \
	do {                                                                     \
		unsigned long copies_, originals_;                               \
		if (!self->gpu.ouro)                                             \
			break;                                                   \
		counts(&self->gpu, &copies_, &originals_);                       \
		EXPECT_EQ((copied), copies_ - copies);                           \
		EXPECT_EQ((original), originals_ - originals);                   \
	} while (0)

TEST_F(checked, version)
{
	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	EXPECT_EQ(10, getparam(self->fd, I915_PARAM_CMD_PARSER_VERSION));
}

TEST_F(checked, a_listed_register_is_loaded)
{
	unsigned long copies, originals;
	__u32 target;
	struct batch b;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	target = gem_create(self->fd, PAGE);
	counts(&self->gpu, &copies, &originals);
	batch_init(&b);
	load(&b, OFFSET, 0x1230);
	load_to(&b, OFFSET, target, 8);
	value_to(&b, 77, target, 16);
	ASSERT_EQ(0, run(&self->gpu, &b, true));
	EXPECT_EQ(0x1230, gem_read32(self->fd, target, 8));
	EXPECT_EQ(77, gem_read32(self->fd, target, 16));
	RAN_AS(1, 0);
	/* and a later batch of the context finds it */
	EXPECT_EQ(0x1230, offset_now(&self->gpu));
}

/* Each is refused its privilege, without an error, and the rest of it runs. */
TEST_F(checked, what_does_not_pass_runs_without_privilege)
{
	unsigned long copies, originals;
	unsigned int i;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	for (i = 0; i < 3; i++) {
		__u32 target = gem_create(self->fd, PAGE);
		struct batch b;

		batch_init(&b);
		load(&b, OFFSET, 0x100);
		ASSERT_EQ(0, run(&self->gpu, &b, true));
		counts(&self->gpu, &copies, &originals);
		batch_init(&b);
		load(&b, OFFSET, 0x2000 + 16 * i);
		value_to(&b, 80 + i, target, 0);
		switch (i) {
		case 0:
			load(&b, RING_START, 0);
			break;
		case 1:
			/* only in part a listed one */
			word(&b, LOAD_REGISTER + 2);
			word(&b, OFFSET);
			word(&b, 0x300);
			word(&b, RING_START);
			word(&b, 0);
			break;
		default:
			word(&b, USER_INTERRUPT);
		}
		ASSERT_EQ(0, run(&self->gpu, &b, true));
		EXPECT_EQ(80 + i, gem_read32(self->fd, target, 0));
		RAN_AS(0, 1);
		EXPECT_EQ(0x100, offset_now(&self->gpu));
		gem_close(self->fd, target);
	}
}

/* The end of a batch without a length is not known: it is not checked. */
TEST_F(checked, a_batch_without_length_has_no_privilege)
{
	unsigned long copies, originals;
	struct batch b;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	batch_init(&b);
	load(&b, OFFSET, 0x100);
	ASSERT_EQ(0, run(&self->gpu, &b, true));
	counts(&self->gpu, &copies, &originals);
	batch_init(&b);
	load(&b, OFFSET, 0x200);
	ASSERT_EQ(0, run(&self->gpu, &b, false));
	RAN_AS(0, 0);
	EXPECT_EQ(0x100, offset_now(&self->gpu));
}

TEST_F(checked, what_makes_no_sense_is_an_error)
{
	/* two words in place of a batch */
	static const __u32 bad[][2] = {
		/* a client that no engine has */
		{ 0xe0000000, BATCH_END },
		/* no end */
		{ 0, 0 },
		/* longer than the batch; a length is looked at before the right to it */
		{ STORE_DATA, BATCH_END },
		{ 0x0c000020, BATCH_END },
		/* an end that is not one */
		{ BATCH_END | 1, BATCH_END },
	};
	unsigned int i, e;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	for (e = 0; e < self->gpu.n_engines; e++) {
		for (i = 0; i < ARRAY_LEN(bad); i++) {
			struct drm_i915_gem_exec_object2 object = {
				.handle = gem_create(self->fd, PAGE)
			};
			struct drm_i915_gem_execbuffer2 eb = {
				.buffers_ptr = U64(&object),
				.buffer_count = 1,
				.batch_start_offset = 8,
				.batch_len = 8,
				.flags = self->gpu.engines[e].ring,
			};

			ASSERT_EQ(0, gem_write(self->fd, object.handle, 8, bad[i], 8));
			BAD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb, EINVAL);
			EXPECT_EQ(0, gem_busy(self->fd, object.handle));
			gem_close(self->fd, object.handle);
		}
	}
}

/* What another batch does was not looked at. */
TEST_F(checked, a_chain_has_no_privilege)
{
	__u32 target, second;
	struct batch b;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	target = gem_create(self->fd, PAGE);
	second = gem_create(self->fd, PAGE);
	batch_init(&b);
	load(&b, OFFSET, 0x100);
	ASSERT_EQ(0, run(&self->gpu, &b, true));
	{
		/* the second one has no address to be told */
		static const __u32 words[] = { LOAD_REGISTER, OFFSET, 0x200, BATCH_END };

		ASSERT_EQ(0, gem_write(self->fd, second, 0, words, sizeof(words)));
	}
	batch_init(&b);
	value_to(&b, 5, target, 0);
	word(&b, JUMP);
	batch_address(&b, second, 0, false, I915_GEM_DOMAIN_COMMAND);
	ASSERT_EQ(0, run(&self->gpu, &b, true));
	EXPECT_EQ(5, gem_read32(self->fd, target, 0));
	EXPECT_EQ(0x100, offset_now(&self->gpu));
}

/* A batch writes itself: what runs is a copy, so nothing of that is seen, and the object has it. */
TEST_F(checked, a_batch_that_writes_itself_runs_as_it_was)
{
	enum { VALUE = 20 };
	struct drm_i915_gem_relocation_entry relocs[2] = {};
	struct drm_i915_gem_exec_object2 objects[2] = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects), .buffer_count = 2,
					       .batch_len = 28 * 4 };
	__u32 words[28] = {
		STORE_DATA, 0, 0, 0x2220,
		[VALUE - 2] = LOAD_REGISTER, OFFSET, 0x1110,
		STORE_REGISTER, OFFSET, 0,
		BATCH_END,
	};
	unsigned int i;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	objects[0].handle = gem_create(self->fd, PAGE);
	objects[1].handle = gem_create(self->fd, PAGE);
	relocs[0].target_handle = objects[1].handle;
	relocs[0].offset = 2 * 4;
	relocs[0].delta = VALUE * 4;
	relocs[1].target_handle = objects[0].handle;
	relocs[1].offset = (VALUE + 3) * 4;
	for (i = 0; i < 2; i++) {
		relocs[i].presumed_offset = ~0ull;
		relocs[i].read_domains = I915_GEM_DOMAIN_RENDER;
		relocs[i].write_domain = I915_GEM_DOMAIN_RENDER;
	}
	objects[1].relocs_ptr = U64(relocs);
	objects[1].relocation_count = 2;
	ASSERT_EQ(0, gem_write(self->fd, objects[1].handle, 0, words, sizeof(words)));
	eb.flags = self->gpu.engines[0].ring;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(0x1110, gem_read32(self->fd, objects[0].handle, 0));
	EXPECT_EQ(0x2220, gem_read32(self->fd, objects[1].handle, VALUE * 4));
	/* the next time it is what it has become */
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(0x2220, gem_read32(self->fd, objects[0].handle, 0));
}

/* The batch is what another batch has written by then. */
TEST_F(checked, a_batch_that_another_one_writes_is_waited_for)
{
	struct drm_i915_gem_exec_object2 objects[2] = {};
	struct drm_i915_gem_relocation_entry reloc = {
		.presumed_offset = ~0ull,
		.offset = 5 * 4,
		.read_domains = I915_GEM_DOMAIN_RENDER,
		.write_domain = I915_GEM_DOMAIN_RENDER,
	};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects), .buffer_count = 2,
					       .batch_len = 32 };
	static const __u32 words[8] = { LOAD_REGISTER, OFFSET, 0x1110, STORE_REGISTER, OFFSET, 0,
					BATCH_END };
	struct spin spin;
	struct batch b;
	pid_t stopper;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	objects[0].handle = gem_create(self->fd, PAGE);
	objects[1].handle = gem_create(self->fd, PAGE);
	ASSERT_EQ(0, gem_write(self->fd, objects[1].handle, 0, words, sizeof(words)));
	reloc.target_handle = objects[0].handle;
	objects[1].relocs_ptr = U64(&reloc);
	objects[1].relocation_count = 1;
	eb.flags = self->gpu.engines[0].ring;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(0x1110, gem_read32(self->fd, objects[0].handle, 0));

	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	batch_init(&b);
	value_to(&b, 0x2220, objects[1].handle, 2 * 4);
	ASSERT_EQ(0, run(&self->gpu, &b, true));
	stopper = fork();
	ASSERT_LE(0, stopper);
	if (!stopper) {
		usleep(200000);
		spin_stop(&spin);
		_exit(0);
	}
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(0x2220, gem_read32(self->fd, objects[0].handle, 0));
	spin_free(&spin);
}

/*
 * Another thread rewrites a batch all the time: the registers that its loads name. What runs as it
 * is may be in any state by then, so each state of it is harmless.
 */
enum { LOADS = 8, APART = 400, WORDS = LOADS * APART };
struct writer {
	__u32 *words;
	__u32 allowed;
	__u32 stop;
};

static void *rewrite(void *argument)
{
	struct writer *w = argument;
	unsigned int i;

	for (i = 0; !peek(&w->stop); i++) {
		__u32 *load = &w->words[i % LOADS * APART];

		poke(&load[1], RESULT);
		poke(&load[1], w->allowed);
	}
	return NULL;
}

/*
 * What runs with privilege is what was checked, whatever becomes of the object meanwhile: a
 * register that is refused keeps its value. And no such batch is an error.
 */
TEST_F(checked, a_batch_that_a_thread_rewrites_runs_as_it_was_checked)
{
	/* the second one is how blits are tiled; zero is as it was */
	static const struct {
		__u32 engine, allowed, value;
	} cases[] = { { RCS, OFFSET, 0x1230 }, { BCS, 0x22200, 0 } };
	const unsigned int times = rounds("OURO_REWRITES", 600, 200);
	unsigned int c, i, e;
	__u32 before;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	before = register_now(&self->gpu, RESULT);
	for (c = 0; c < ARRAY_LEN(cases); c++) {
		struct drm_i915_gem_exec_object2 object = {};
		struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
						       .buffer_count = 1,
						       .batch_len = (WORDS + 2) * 4 };
		struct writer w = { .allowed = cases[c].allowed };
		unsigned long copies[2], originals[2];
		pthread_t thread;

		for (e = 0; e < self->gpu.n_engines; e++)
			if (self->gpu.engines[e].bit == cases[c].engine)
				eb.flags = self->gpu.engines[e].ring;
		object.handle = gem_create(self->fd, 4 * WORDS + PAGE);
		w.words = gem_map(self->fd, object.handle, 4 * WORDS + PAGE, I915_MMAP_OFFSET_WB);
		ASSERT_NE(NULL, w.words);
		for (i = 0; i < WORDS; i += APART) {
			w.words[i] = LOAD_REGISTER;
			w.words[i + 1] = cases[c].allowed;
			w.words[i + 2] = cases[c].value;
		}
		w.words[WORDS] = BATCH_END;
		counts(&self->gpu, &copies[0], &originals[0]);
		ASSERT_EQ(0, pthread_create(&thread, NULL, rewrite, &w));
		for (i = 0; i < times; i++) {
			GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
			if (i % 50 == 49)
				EXPECT_EQ(before, register_now(&self->gpu, RESULT));
		}
		poke(&w.stop, 1);
		pthread_join(thread, NULL);
		counts(&self->gpu, &copies[1], &originals[1]);
		printf("# cover: rewritten: %lu copies, %lu as they were\n",
		       copies[1] - copies[0], originals[1] - originals[0]);
		fflush(stdout);
		if (self->gpu.ouro) {
			EXPECT_LT(times / 20, copies[1] - copies[0]);
			EXPECT_LT(times / 20, originals[1] - originals[0]);
		}
		EXPECT_EQ(before, register_now(&self->gpu, RESULT));
		/* and what is allowed goes through */
		EXPECT_EQ(0, call(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb));
		munmap(w.words, 4 * WORDS + PAGE);
		gem_close(self->fd, object.handle);
	}
	EXPECT_EQ(0x1230, offset_now(&self->gpu));
}

/* Long ones: copied up to a bound, above which they run as they are, unless they end before it. */
TEST_F(checked, long_batches)
{
	static const struct {
		__u32 len, end;
		bool copied;
	} cases[] = {
		{ 256 << 10, (256 << 10) - 4, true },
		{ (256 << 10) + 8, (256 << 10) + 4, true },
		{ COPIED, COPIED - 4, true },
		{ COPIED + 8, COPIED + 4, false },
		{ 4 << 20, (4 << 20) - 4, false },
		{ 4 << 20, 4096, true },
	};
	unsigned long copies, originals;
	unsigned int i;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	if (!self->gpu.ouro)
		SKIP(return, "another driver has no such bound");
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		static const __u32 end = BATCH_END;
		const __u32 words[] = { LOAD_REGISTER, OFFSET, 0x1000 + 16 * i };
		struct drm_i915_gem_exec_object2 object = {
			.handle = gem_create(self->fd, cases[i].len + PAGE)
		};
		struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
						       .buffer_count = 1,
						       .batch_start_offset = 64,
						       .batch_len = cases[i].len,
						       .flags = self->gpu.engines[0].ring };
		__u32 expected = offset_now(&self->gpu);

		ASSERT_EQ(0, gem_write(self->fd, object.handle, 64, words, sizeof(words)));
		ASSERT_EQ(0, gem_write(self->fd, object.handle, 64 + cases[i].end, &end, 4));
		counts(&self->gpu, &copies, &originals);
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		RAN_AS(cases[i].copied, !cases[i].copied);
		if (cases[i].copied)
			expected = words[2];
		EXPECT_EQ(expected, offset_now(&self->gpu));
		gem_close(self->fd, object.handle);
	}
}

/*
 * A client's copies take half of the memory for them, 2 MiB. Another one waits until one of them
 * has ended, or fails if the file must not wait; other clients have memory left.
 */
TEST_F(checked, copies_of_a_client_have_a_limit)
{
	static const __u32 end = BATCH_END;
	struct drm_i915_gem_exec_object2 object = { .handle = gem_create(self->fd, COPIED) };
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .batch_len = COPIED,
					       .flags = self->gpu.engines[0].ring };
	int flags = fcntl(self->fd, F_GETFL), timeline = sw_timeline(), got;
	const __u64 ring = eb.flags;
	unsigned int taken = 0;
	struct gpu other;

	if (!is_checked(self->fd))
		SKIP(return, NOT_CHECKED);
	if (!self->gpu.ouro)
		SKIP(return, "another driver has no such limit");
	if (timeline < 0)
		SKIP(return, "the kernel was built without CONFIG_SW_SYNC");
	ASSERT_EQ(0, gem_write(self->fd, object.handle, COPIED - 4, &end, sizeof(end)));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags | O_NONBLOCK));
	eb.rsvd2 = sw_fence(timeline);
	do {
		eb.flags = ring | I915_EXEC_FENCE_IN;
		got = ioctl(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb) ? -errno : 0;
		taken += !got;
	} while (!got && taken < 16);
	cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
	EXPECT_EQ(-EAGAIN, got);
	EXPECT_EQ((1u << 20) / COPIED, taken);
	ASSERT_EQ(0, gpu_open(&other));
	EXPECT_NE(0, register_now(&other, RING_START));
	gpu_close(&other);
	ASSERT_EQ(0, sw_signal(timeline));
	EXPECT_EQ(0, fcntl(self->fd, F_SETFL, flags));
	eb.flags = ring;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(0, gem_wait(self->fd, object.handle, -1));
	close(eb.rsvd2);
	close(timeline);
}

TEST_HARNESS_MAIN

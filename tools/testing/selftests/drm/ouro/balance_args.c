// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments of the extensions of lists of engines: I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE, _BOND and
 * _PARALLEL_SUBMIT, on cards with two video engines.
 */
#define TOPIC balance_args
#define ONLY_CARDS
#include "test.h"
#include "balance.h"

/* The errno of a batch of one object that is not there: ENOENT if the engine is. */
static int probe(int fd, __u32 context, __u64 place)
{
	struct drm_i915_gem_exec_object2 object = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(&object),
					       .buffer_count = 1,
					       .flags = place,
					       .rsvd1 = context };

	return call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
}

TEST_F(balance_args, arguments)
{
	I915_DEFINE_CONTEXT_ENGINES_LOAD_BALANCE(good, 2) = {
		.base.name = I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE,
		.num_siblings = 2,
		.engines = { video[0], video[1] },
	};
	struct list list = { .engines = { gap, video[0], gap, CLASS(RENDER, 0) } };
	typeof(good) ext = good, second = good;
	__u32 context;

	list.extensions = U64(&ext);
	EXPECT_EQ(0, with_list(self->fd, &list, &context));
	EXPECT_EQ(-ENOENT, probe(self->fd, context, 0));
	EXPECT_EQ(-EINVAL, probe(self->fd, context, 2));
	/* two of them */
	ext.base.next_extension = U64(&second);
	second.engine_index = 2;
	EXPECT_EQ(0, with_list(self->fd, &list, &context));
	EXPECT_EQ(-ENOENT, probe(self->fd, context, 2));
	/* the place is taken, by the first one or in the list; or is none */
	second.engine_index = 0;
	EXPECT_EQ(-EEXIST, with_list(self->fd, &list, &context));
	ext = good;
	ext.engine_index = 1;
	EXPECT_EQ(-EEXIST, with_list(self->fd, &list, &context));
	ext.engine_index = PLACES;
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	ext.engine_index = 0xffff;
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	ext = good;
	ext.flags = 1;
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	ext = good;
	ext.mbz64 = 1ull << 63;
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	ext = good;
	ext.base.flags = 1;
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	/* none: a gap as before. One: that one */
	ext = good;
	ext.num_siblings = 0;
	EXPECT_EQ(0, with_list(self->fd, &list, &context));
	EXPECT_EQ(-EINVAL, probe(self->fd, context, 0));
	/* a chain that bites its own tail, without a place that is taken */
	ext.base.next_extension = U64(&ext);
	EXPECT_EQ(-E2BIG, with_list(self->fd, &list, &context));
	ext.base.next_extension = 0;
	ext.num_siblings = 1;
	EXPECT_EQ(0, with_list(self->fd, &list, &context));
	EXPECT_EQ(-ENOENT, probe(self->fd, context, 0));
	/* engines that are not there, gaps */
	ext = good;
	ext.engines[1].engine_instance = 77;
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	ext.engines[1] = gap;
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
}

/* What has no order, or no sense. */
TEST_F(balance_args, sets_that_cannot_be)
{
	I915_DEFINE_CONTEXT_ENGINES_LOAD_BALANCE(ext, 2) = {
		.base.name = I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE,
		.num_siblings = 2,
		.engines = { video[0], CLASS(RENDER, 0) },
	};
	struct list list = { .extensions = U64(&ext), .engines = { gap, gap, gap, gap } };
	__u32 context;

	if (!self->gpu.ouro)
		SKIP(return, NOT_OURS);
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	/* one of them twice */
	ext.engines[1] = video[0];
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	ext.num_siblings = 0xffff;
	EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context));
	list.extensions = BAD_POINTER;
	EXPECT_EQ(-EFAULT, with_list(self->fd, &list, &context));
}

/* Pairs that run together are for chips with less engines. */
TEST_F(balance_args, bonds)
{
	I915_DEFINE_CONTEXT_ENGINES_BOND(bond, 1) = {
		.base.name = I915_CONTEXT_ENGINES_EXT_BOND,
		.master = video[0],
		.virtual_index = FIRST,
		.num_bonds = 1,
		.engines = { video[1] },
	};
	struct list list = { .extensions = U64(&bond),
			     .engines = { gap, video[0], video[1], CLASS(RENDER, 0) } };
	__u32 context;

	EXPECT_EQ(-ENODEV, with_list(self->fd, &list, &context));
	/* whatever is wrong with them */
	bond.flags = 1;
	EXPECT_EQ(-ENODEV, with_list(self->fd, &list, &context));
}

/* Batches that begin together are not offered; what could not be anyway is said first. */
TEST_F(balance_args, parallel_submission)
{
	I915_DEFINE_CONTEXT_ENGINES_PARALLEL_SUBMIT(good, 2) = {
		.base.name = I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT,
		.width = 2,
		.num_siblings = 1,
		.engines = { video[0], video[1] },
	};
	struct list list = { .engines = { gap, video[0], video[1], CLASS(RENDER, 0) } };
	typeof(good) bad[10];
	unsigned int i;
	__u32 context;

	if (!self->gpu.ouro)
		SKIP(return, NOT_OURS);
	list.extensions = U64(&good);
	EXPECT_EQ(-ENODEV, with_list(self->fd, &list, &context));
	for (i = 0; i < ARRAY_LEN(bad); i++)
		bad[i] = good;
	bad[0].engine_index = PLACES;
	bad[1].engine_index = FIRST;
	bad[2].width = 1;
	bad[3].num_siblings = 0;
	bad[4].mbz16 = 1;
	bad[5].flags = 1;
	bad[6].mbz64[2] = 1;
	bad[7].engines[1].engine_instance = 77;
	bad[8].engines[1].engine_class = I915_ENGINE_CLASS_RENDER;
	bad[9].engines[1] = video[0];
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		list.extensions = U64(&bad[i]);
		EXPECT_EQ(-EINVAL, with_list(self->fd, &list, &context))
		{
			TH_LOG("case %u", i);
		}
	}
}

TEST_HARNESS_MAIN

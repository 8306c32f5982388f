// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_QUERY: items, sizes, hostile arguments. Errors of an item go into its length. */
#define TOPIC query
#define ANY_I915
#include "test.h"

static struct drm_i915_query one(struct drm_i915_query_item *item)
{
	return (struct drm_i915_query){ .num_items = 1, .items_ptr = U64(item) };
}

TEST_F(query, arguments)
{
	struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_ENGINE_INFO };
	struct drm_i915_query query = one(&item);

	query.flags = 1;
	BAD(self->fd, DRM_IOCTL_I915_QUERY, &query, EINVAL);
	query.flags = 0x80000000;
	BAD(self->fd, DRM_IOCTL_I915_QUERY, &query, EINVAL);
	query.flags = 0;
	query.items_ptr = BAD_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_QUERY, &query, EFAULT);
	query.items_ptr = KERNEL_POINTER;
	BAD(self->fd, DRM_IOCTL_I915_QUERY, &query, EFAULT);
	query.num_items = 0;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	query = one(&item);
	item.query_id = 0;
	BAD(self->fd, DRM_IOCTL_I915_QUERY, &query, EINVAL);
	BAD(self->fd, DRM_IOCTL_I915_QUERY, NULL, EFAULT);
}

TEST_F(query, unknown_items)
{
	__u64 ids[] = { 100, 0x7fffffff, 0xffffffffffffull, ~0ull };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(ids); i++) {
		struct drm_i915_query_item item = { .query_id = ids[i] };
		struct drm_i915_query query = one(&item);

		GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
		EXPECT_EQ(-EINVAL, item.length)
		{
			TH_LOG("item %llx", (unsigned long long)ids[i]);
		}
	}
}

TEST_F(query, items_do_not_disturb_each_other)
{
	struct drm_i915_query_item items[3] = {
		{ .query_id = DRM_I915_QUERY_ENGINE_INFO },
		{ .query_id = 100 },
		{ .query_id = DRM_I915_QUERY_MEMORY_REGIONS },
	};
	struct drm_i915_query query = { .num_items = 3, .items_ptr = U64(items) };

	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_GT(items[0].length, 0);
	EXPECT_EQ(-EINVAL, items[1].length);
	EXPECT_GT(items[2].length, 0);
}

TEST_F(query, engines)
{
	static const __u16 classes[] = { I915_ENGINE_CLASS_RENDER, I915_ENGINE_CLASS_COPY,
					 I915_ENGINE_CLASS_VIDEO, I915_ENGINE_CLASS_VIDEO_ENHANCE,
					 I915_ENGINE_CLASS_COMPUTE };
	struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_ENGINE_INFO };
	struct drm_i915_query query = one(&item);
	struct drm_i915_query_engine_info *info;
	unsigned int i, k;
	__s32 size;

	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	size = item.length;
	ASSERT_GE(size, (int)(sizeof(*info) + self->gpu.n_engines * sizeof(info->engines[0])));
	info = calloc(1, size + 64);

	/* too small, and not zero */
	item.data_ptr = U64(info);
	item.length = size - 1;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EINVAL, item.length);
	item.length = size;
	info->num_engines = 1;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EINVAL, item.length);
	info->num_engines = 0;
	info->rsvd[1] = 1;
	item.length = size;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EINVAL, item.length);
	info->rsvd[1] = 0;
	/* nowhere, and with a flag */
	item.length = size;
	item.data_ptr = BAD_POINTER;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EFAULT, item.length);
	item.length = 0;
	item.flags = 1;
	item.data_ptr = U64(info);
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EINVAL, item.length);

	item.flags = 0;
	item.length = size;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(size, item.length);
	EXPECT_LE(self->gpu.n_engines, info->num_engines);
	for (i = 0; i < info->num_engines; i++) {
		for (k = 0; k < ARRAY_LEN(classes); k++)
			if (classes[k] == info->engines[i].engine.engine_class)
				break;
		EXPECT_LT(k, ARRAY_LEN(classes));
		for (k = 0; k < i; k++)
			EXPECT_NE(0, memcmp(&info->engines[k].engine, &info->engines[i].engine,
					    sizeof(info->engines[i].engine)));
	}
}

/* A negative length counts as a large size; the next error is returned. */
TEST_F(query, an_error_left_in_the_length_is_room)
{
	struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_MEMORY_REGIONS };
	struct drm_i915_query query = one(&item);
	__u8 *info;
	__s32 size;

	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	size = item.length;
	ASSERT_LT(0, size);
	item.data_ptr = BAD_POINTER;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EFAULT, item.length);
	item.data_ptr = ~0ull;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EFAULT, item.length);
	info = calloc(1, size);
	ASSERT_NE(NULL, info);
	item.data_ptr = U64(info);
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(size, item.length);
	free(info);
}

TEST_F(query, memory_regions)
{
	struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_MEMORY_REGIONS };
	struct drm_i915_query query = one(&item);
	struct drm_i915_query_memory_regions *info;
	unsigned int i, system = 0;
	__s32 size;

	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	size = item.length;
	ASSERT_GE(size, (int)(sizeof(*info) + sizeof(info->regions[0])));
	info = calloc(1, size + 64);
	item.data_ptr = U64(info);
	item.length = size - 1;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EINVAL, item.length);
	item.length = size;
	info->num_regions = 1;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EINVAL, item.length);
	info->num_regions = 0;
	item.length = size;
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(size, item.length);
	ASSERT_GE(info->num_regions, 1);
	for (i = 0; i < info->num_regions; i++) {
		if (info->regions[i].region.memory_class == I915_MEMORY_CLASS_SYSTEM)
			system++;
		EXPECT_GT(info->regions[i].probed_size, 0);
	}
	EXPECT_EQ(1, system);
}

/* One slice, and a flat row of subslices with a mask of units for each that is there. */
TEST_F(query, subslices)
{
	struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_TOPOLOGY_INFO };
	struct drm_i915_query query = one(&item);
	const __u64 ids[2] = {
		DRM_I915_QUERY_TOPOLOGY_INFO, DRM_I915_QUERY_GEOMETRY_SUBSLICES,
	};
	struct drm_i915_query_topology_info *info;
	__u8 answers[2][512], *all;
	unsigned int i, n;
	int size;

	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	if (item.length == -ENODEV)
		SKIP(return, "this chip has no subslices to tell of");
	size = item.length;
	ASSERT_GT(size, (int)sizeof(*info));
	ASSERT_LE(size, (int)sizeof(answers[0]));
	for (i = 0; i < 2; i++) {
		memset(answers[i], 0, sizeof(answers[i]));
		item = (struct drm_i915_query_item){
			.query_id = ids[i],
			.length = size,
			.data_ptr = (uintptr_t)answers[i],
		};
		GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
		ASSERT_EQ(size, item.length);
		info = (void *)answers[i];
		EXPECT_EQ(0, info->flags);
		EXPECT_EQ(1, info->max_slices);
		EXPECT_EQ(1, info->data[0]);
		ASSERT_LE(sizeof(*info) + info->eu_offset + info->max_subslices * info->eu_stride,
			  (size_t)size);
		for (n = 0; n < info->max_subslices; n++) {
			bool there = info->data[info->subslice_offset + n / 8] >> n % 8 & 1;
			bool units = info->data[info->eu_offset + n * info->eu_stride];

			EXPECT_EQ(there, units);
			/* what draws is among all */
			all = answers[0] + sizeof(*info) + info->subslice_offset;
			if (i && there)
				EXPECT_TRUE(all[n / 8] >> n % 8 & 1);
		}
	}
	/* only render engines draw; the other question is about no engine */
	item = (struct drm_i915_query_item){
		.query_id = DRM_I915_QUERY_GEOMETRY_SUBSLICES,
		.flags = I915_ENGINE_CLASS_COPY,
	};
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EINVAL, item.length);
	item = (struct drm_i915_query_item){ .query_id = DRM_I915_QUERY_TOPOLOGY_INFO, .flags = 1 };
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-EINVAL, item.length);
}

TEST_F(query, what_this_chip_lacks)
{
	struct drm_i915_query_item item = { .query_id = DRM_I915_QUERY_TOPOLOGY_INFO };
	struct drm_i915_query query = one(&item);

	if (self->gpu.backend->has_shader_query)
		SKIP(return, "other chips have it");
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-ENODEV, item.length);
	item = (struct drm_i915_query_item){ .query_id = DRM_I915_QUERY_HWCONFIG_BLOB };
	GOOD(self->fd, DRM_IOCTL_I915_QUERY, &query);
	EXPECT_EQ(-ENODEV, item.length);
}

TEST_HARNESS_MAIN

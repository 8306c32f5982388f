// SPDX-License-Identifier: GPL-2.0
/*
 * Each engine, each store command that it may use from a batch without
 * privilege, at the ends of an object and in contexts.
 */
#define TOPIC engines
#define ANY_I915
#include "test.h"

static __u64 read_value(int fd, __u32 handle, __u32 offset, unsigned int bytes)
{
	__u64 value = 0;

	gem_read(fd, handle, offset, &value, bytes);
	return value;
}

TEST_F(engines, every_store_command_arrives)
{
	unsigned int e, c, k, tried = 0;

	for (e = 0; e < self->gpu.n_engines; e++)
		for (c = 0; c < self->gpu.backend->n_stores; c++) {
			const struct engine *engine = &self->gpu.engines[e];
			const struct store_command *command = &self->gpu.backend->stores[c];
			__u32 offsets[] = { 0, 8, 64, 4088, 8192, 12280 };
			__u32 handle = gem_create(self->fd, 3 * PAGE);
			__u64 value = 0x0123456789abcdefull + c * 0x1111 + e;

			if (!(command->engines & engine->bit))
				continue;
			if (command->bytes == 4)
				value = (__u32)value;
			for (k = 0; k < ARRAY_LEN(offsets); k++) {
				struct batch b;

				batch_init(&b);
				batch_store(&b, command, handle, offsets[k], value + k);
				batch_end(&b, self->gpu.backend);
				cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
				ASSERT_EQ(0, batch_run(self->fd, &b, engine->ring, 0));
				EXPECT_EQ(value + k,
					  read_value(self->fd, handle, offsets[k], command->bytes))
				{
					TH_LOG("%s on %s at %u", command->name, engine->name,
					       offsets[k]);
				}
				/* neighbours are as they were */
				EXPECT_EQ(0, gem_read32(self->fd, handle,
							offsets[k] == 0 ? 16 :
							offsets[k] == 8 ? 16 :
									  32));
			}
			tried++;
			gem_close(self->fd, handle);
		}
	EXPECT_GE(tried, self->gpu.n_engines);
}

TEST_F(engines, all_commands_in_one_batch)
{
	unsigned int e, c;

	for (e = 0; e < self->gpu.n_engines; e++) {
		const struct engine *engine = &self->gpu.engines[e];
		__u32 handle = gem_create(self->fd, PAGE);
		struct batch b;

		batch_init(&b);
		for (c = 0; c < self->gpu.backend->n_stores; c++)
			if (self->gpu.backend->stores[c].engines & engine->bit)
				batch_store(&b, &self->gpu.backend->stores[c], handle, 16 * c,
					    0x77770000 + c);
		batch_end(&b, self->gpu.backend);
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		ASSERT_EQ(0, batch_run(self->fd, &b, engine->ring, 0));
		for (c = 0; c < self->gpu.backend->n_stores; c++)
			if (self->gpu.backend->stores[c].engines & engine->bit)
				EXPECT_EQ(0x77770000 + c, gem_read32(self->fd, handle, 16 * c))
				{
					TH_LOG("%s on %s", self->gpu.backend->stores[c].name,
					       engine->name);
				}
		gem_close(self->fd, handle);
	}
}

TEST_F(engines, in_several_contexts)
{
	__u32 contexts[4], handle = gem_create(self->fd, PAGE);
	unsigned int e, c, k, n = 0;

	for (k = 0; k < ARRAY_LEN(contexts); k++)
		contexts[k] = context_create(self->fd);
	for (e = 0; e < self->gpu.n_engines; e++)
		for (c = 0; c < self->gpu.backend->n_stores; c++)
			for (k = 0; k < ARRAY_LEN(contexts); k++) {
				const struct store_command *command = &self->gpu.backend->stores[c];
				struct batch b;

				if (!(command->engines & self->gpu.engines[e].bit))
					continue;
				batch_init(&b);
				batch_store(&b, command, handle, 8 * n, n + 1);
				batch_end(&b, self->gpu.backend);
				cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
				ASSERT_EQ(0, batch_run(self->fd, &b, self->gpu.engines[e].ring,
						       contexts[k]));
				n++;
			}
	for (k = 0; k < n; k++)
		EXPECT_EQ(k + 1, gem_read32(self->fd, handle, 8 * k));
	EXPECT_GT(n, 0);
}

/* A batch that starts somewhere in its object, and one that jumps into another object. */
TEST_F(engines, batches_start_and_jump_anywhere)
{
	unsigned int e;

	for (e = 0; e < self->gpu.n_engines; e++) {
		const struct engine *engine = &self->gpu.engines[e];
		const struct store_command *c = store_for(&self->gpu, engine, 4);
		__u32 target = gem_create(self->fd, PAGE), second = gem_create(self->fd, PAGE);
		struct drm_i915_gem_relocation_entry relocs[2];
		struct drm_i915_gem_execbuffer2 eb;
		struct batch b;

		/* the second object stores and ends; it has its own relocation */
		batch_init(&b);
		batch_store(&b, c, target, 0, 0x5ec0);
		batch_end(&b, self->gpu.backend);
		ASSERT_EQ(0, gem_write(self->fd, second, 0, b.words, b.n * 4));
		relocs[0] = b.relocs[0];

		/* the first one starts behind a page of nothing and jumps */
		batch_init(&b);
		batch_object(&b, target)->flags |= EXEC_OBJECT_WRITE;
		batch_object(&b, second)->relocs_ptr = U64(relocs);
		batch_object(&b, second)->relocation_count = !addresses_chosen();
		b.n = 1024;
		b.words[b.n++] = self->gpu.backend->batch_start;
		batch_address(&b, second, 0, false, I915_GEM_DOMAIN_COMMAND);
		batch_finish(self->fd, &b, &eb);
		eb.batch_start_offset = PAGE;
		eb.batch_len = 8;
		eb.flags = engine->ring;
		GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
		EXPECT_EQ(0x5ec0, gem_read32(self->fd, target, 0))
		{
			TH_LOG("%s", engine->name);
		}
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Batches of the i915 interface: their words and objects. Addresses of objects
 * are the kernel's, told by relocations, or follow from their handles
 * (addresses_chosen()). See gpu.h.
 */
#include "batch_local.h"

void batch_init(struct batch *b)
{
	memset(b, 0, sizeof(*b));
}

struct drm_i915_gem_exec_object2 *batch_object(struct batch *b, __u32 handle)
{
	struct drm_i915_gem_exec_object2 *object;
	unsigned int i;

	for (i = 0; i < b->n_objects; i++)
		if (b->objects[i].handle == handle)
			return &b->objects[i];
	object = &b->objects[b->n_objects++];
	object->handle = handle;
	if (addresses_chosen()) {
		object->offset = address_of(handle);
		object->flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
	}
	return object;
}

void batch_address(struct batch *b, __u32 handle, __u32 delta, bool write, __u32 domain)
{
	struct drm_i915_gem_exec_object2 *object = batch_object(b, handle);

	if (write)
		object->flags |= EXEC_OBJECT_WRITE;
	if (addresses_chosen()) {
		b->words[b->n++] = (__u32)(object->offset + delta);
		b->words[b->n++] = (object->offset + delta) >> 32;
		return;
	}
	b->relocs[b->n_relocs++] = (struct drm_i915_gem_relocation_entry){
		.target_handle = handle,
		.delta = delta,
		.offset = b->n * 4,
		.presumed_offset = ~0ull,
		.read_domains = domain,
		.write_domain = write ? domain : 0,
	};
	b->words[b->n++] = 0;
}

void batch_store(struct batch *b, const struct store_command *c, __u32 handle, __u32 offset,
		 __u64 value)
{
	__u32 domain = c->object_flags & EXEC_OBJECT_NEEDS_GTT ? I915_GEM_DOMAIN_INSTRUCTION :
								 I915_GEM_DOMAIN_RENDER;
	unsigned int i, start = b->n;

	for (i = 0; i < c->dwords; i++) {
		if (i == c->address) {
			batch_address(b, handle, offset | c->address_flags, true, domain);
			batch_object(b, handle)->flags |= c->object_flags;
			/* one word, or two */
			i = b->n - start - 1;
			continue;
		}
		b->words[b->n++] = c->words[i];
	}
	b->words[start + c->value] = (__u32)value;
	if (c->bytes == 8)
		b->words[start + c->value + 1] = value >> 32;
}

void batch_end(struct batch *b, const struct backend *be)
{
	b->words[b->n++] = be->batch_end;
	if (b->n & 1)
		b->words[b->n++] = be->noop;
}

__u32 batch_start_of(const struct gpu *gpu, const struct engine *engine)
{
	const struct backend *be = gpu->backend;

	return engine->bit == VCS ? be->batch_start & ~be->not_in_video_start : be->batch_start;
}

__u32 batch_finish(int fd, struct batch *b, struct drm_i915_gem_execbuffer2 *eb)
{
	__u64 size = (b->n * 4 + PAGE - 1) & ~(PAGE - 1);
	__u32 handle = gem_create(fd, size);
	struct drm_i915_gem_exec_object2 *own;

	if (!handle || gem_write(fd, handle, 0, b->words, b->n * 4))
		return 0;
	own = batch_object(b, handle);
	if (addresses_chosen())
		own->offset = address_of_none();
	if (b->n_relocs) {
		own->relocs_ptr = U64(b->relocs);
		own->relocation_count = b->n_relocs;
	}
	memset(eb, 0, sizeof(*eb));
	eb->buffers_ptr = U64(b->objects);
	eb->buffer_count = b->n_objects;
	eb->batch_len = b->n * 4;
	return handle;
}

__u32 batch_to_itself(int fd, struct batch *b, struct drm_i915_gem_execbuffer2 *eb)
{
	struct drm_i915_gem_exec_object2 *own;
	const unsigned int at = b->n;
	__u32 handle;

	/* room for the address; a batch has an even number of words */
	b->n = (b->n + 4) & ~1;
	handle = batch_finish(fd, b, eb);
	own = batch_object(b, handle);
	b->n = at;
	batch_address(b, handle, 0, false, I915_GEM_DOMAIN_COMMAND);
	own->relocs_ptr = U64(b->relocs);
	own->relocation_count = b->n_relocs;
	return gem_write(fd, handle, 0, b->words, b->n * 4) ? 0 : handle;
}

void batch_is_target(struct batch *b, __u32 handle)
{
	if (addresses_chosen())
		batch_object(b, handle)->offset = address_of(handle);
}

int batch_run(int fd, struct batch *b, __u64 flags, __u32 context)
{
	struct drm_i915_gem_execbuffer2 eb;
	__u32 handle = batch_finish(fd, b, &eb);
	int got;

	if (!handle)
		return -ENOMEM;
	eb.flags = flags;
	eb.rsvd1 = context;
	got = call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	gem_close(fd, handle);
	return got;
}

const struct store_command *store_for(const struct gpu *gpu, const struct engine *engine,
				      unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < gpu->backend->n_stores; i++) {
		const struct store_command *c = &gpu->backend->stores[i];

		if (c->engines & engine->bit && c->bytes == bytes)
			return c;
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0
/* Batches for EXECBUFFER2, with all that one can come with. */
#include "calls.h"
#include "places.h"

/* An object without memory: on a card, one whose memory is to be the card's. */
static __u32 an_untouched_object(struct state *s)
{
	int handle;

	if (!is_card(s->gpu))
		return gem_create(s->fd, SIZE);
	handle = create_local(s->fd, SIZE);
	return handle < 0 ? 0 : handle;
}

/* A batch that stores to an object with memory, and to one that has none yet. */
int calls_batch(struct state *s)
{
	const struct engine *engine = &s->gpu->engines[0];
	struct batch *b = s->batch;
	int got = calls_full_object(s);

	if (got)
		return got;
	s->second = an_untouched_object(s);
	batch_init(b);
	batch_store(b, store_for(s->gpu, engine, 4), s->handle, 64, 0x1234);
	batch_store(b, store_for(s->gpu, engine, 4), s->second, 64, 0x1234);
	batch_end(b, s->gpu->backend);
	s->file = -1;
	s->context = 0;
	/* the batch's object is the last one of the list */
	if (!s->second || !batch_finish(s->fd, b, &s->eb))
		return -ENOMEM;
	s->eb.flags = engine->ring;
	return 0;
}

/* The first one of a context, which gets its image; with fences in, out and in an array. */
int calls_batch_with_fences(struct state *s)
{
	struct drm_syncobj_create create = { .flags = DRM_SYNCOBJ_CREATE_SIGNALED };
	int got = calls_batch(s);

	if (!got)
		got = call(s->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);
	if (got)
		return got;
	s->syncobj = create.handle;
	s->context = context_create(s->fd);
	if (!s->context)
		return -ENOMEM;
	s->fences[0] = (struct drm_i915_gem_exec_fence){
		.handle = s->syncobj, .flags = I915_EXEC_FENCE_WAIT | I915_EXEC_FENCE_SIGNAL
	};
	s->eb.rsvd1 = s->context;
	s->eb.cliprects_ptr = U64(s->fences);
	s->eb.num_cliprects = 1;
	s->eb.flags |= I915_EXEC_FENCE_ARRAY | I915_EXEC_FENCE_OUT;
	return 0;
}

int calls_batch_with_timelines(struct state *s)
{
	int got = calls_batch_with_fences(s);

	if (got)
		return got;
	s->fences[0].flags = I915_EXEC_FENCE_SIGNAL;
	s->points[0] = 5;
	s->timeline = (struct drm_i915_gem_execbuffer_ext_timeline_fences){
		.base.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES,
		.fence_count = 1,
		.handles_ptr = U64(s->fences),
		.values_ptr = U64(s->points),
	};
	s->eb.flags &= ~I915_EXEC_FENCE_ARRAY;
	s->eb.flags |= I915_EXEC_USE_EXTENSIONS;
	s->eb.num_cliprects = 0;
	s->eb.cliprects_ptr = U64(&s->timeline);
	return 0;
}

/* Behind endless work: its dependencies are more than none. */
int calls_batch_behind_work(struct state *s)
{
	const struct engine *last = &s->gpu->engines[s->gpu->n_engines - 1];
	int got = calls_batch(s);

	return got ? got : spin_start(s->gpu, last, 0, s->second, NULL, &s->spin);
}

/* An object that is user memory. */
int calls_batch_of_user_memory(struct state *s)
{
	struct drm_i915_gem_userptr make = { .user_ptr = U64(s->room), .user_size = ROOM };
	struct batch *b = s->batch;
	int got = calls_batch(s);

	if (got)
		return got;
	got = call(s->fd, DRM_IOCTL_I915_GEM_USERPTR, &make);
	if (got)
		return got;
	gem_close(s->fd, s->second);
	/* in the place of the second one */
	b->objects[1].handle = make.handle;
	b->relocs[1].target_handle = make.handle;
	s->second = make.handle;
	return 0;
}

int calls_exec(struct state *s)
{
	int got = call(s->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &s->eb);

	if (!got && s->eb.flags & I915_EXEC_FENCE_OUT)
		s->file = s->eb.rsvd2 >> 32;
	return got;
}

void calls_drop_batch(struct state *s)
{
	spin_stop(&s->spin);
	gem_wait(s->fd, s->handle, -1);
	spin_free(&s->spin);
	if (s->file >= 0)
		close(s->file);
	if (s->context) {
		context_destroy(s->fd, s->context);
		/* an engine keeps what it has loaded until it has loaded another one */
		store(s->gpu, &s->gpu->engines[0], 0, s->handle, 128, 0);
		gem_wait(s->fd, s->handle, -1);
	}
	if (s->syncobj) {
		struct drm_syncobj_destroy destroy = { .handle = s->syncobj };

		call(s->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	}
	gem_close(s->fd, s->batch->objects[s->batch->n_objects - 1].handle);
	gem_close(s->fd, s->second);
	calls_drop_object(s);
}

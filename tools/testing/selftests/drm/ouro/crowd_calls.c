// SPDX-License-Identifier: GPL-2.0
/*
 * What a crowd does: see stress.c. Objects hold zeros, ends of batches and
 * addresses, so that whatever is run by mistake ends, or is found to hang; real
 * garbage is run as often as the crowd allows.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>

#include "crowd.h"

static int count(struct thread *t, const char *name, int got)
{
	/* all that calls here or below can say */
	static const int known[] = { EINVAL, ENOENT,	 EFAULT, ENOMEM, ENOSPC, EBUSY, EACCES,
				     EPERM,  ENODEV,	 EIO,	 ETIME,	 E2BIG,	 EBADF, ENOTTY,
				     EOPNOTSUPP, EAGAIN, EEXIST, ENXIO, EINTR, EOVERFLOW };
	struct stress_counts *c = &t->crowd->counts;
	unsigned int i;

	__atomic_fetch_add(&c->calls, 1, __ATOMIC_RELAXED);
	if (got >= 0) {
		__atomic_fetch_add(&c->good, 1, __ATOMIC_RELAXED);
		return got;
	}
	/* The device is gone, or nearly: its unbind needs a processor, too. */
	if (got == -ENODEV && __atomic_load_n(&t->crowd->unbinds, __ATOMIC_RELAXED))
		usleep(5000);
	for (i = 0; i < ARRAY_LEN(known); i++)
		if (got == -known[i])
			return got;
	__atomic_fetch_add(&c->odd, 1, __ATOMIC_RELAXED);
	c->odd_errno = -got;
	snprintf(c->odd_name, sizeof(c->odd_name), "%s", name);
	return got;
}

#define TRY(t, fd, request, argument) count(t, #request, call(fd, request, argument))

/* A call with an argument that may be spoilt. */
static int spoilt(struct thread *t, const char *name, int fd, unsigned long request, void *argument,
		  __u64 pointers)
{
	spoil(t, argument, _IOC_SIZE(request), pointers);
	return count(t, name, call(fd, request, argument));
}

#define SPOIL(t, fd, request, argument, pointers) \
	spoilt(t, #request, fd, request, &(argument), pointers)

static void keep_fd(struct thread *t, int fd)
{
	int old = __atomic_exchange_n(&t->p->fds[rnd(t) % FDS], fd, __ATOMIC_RELAXED);

	if (old >= 0)
		close(old);
}

static int some_fd(struct thread *t)
{
	return __atomic_load_n(&t->p->fds[rnd(t) % FDS], __ATOMIC_RELAXED);
}

/* Objects. */

/*
 * The crowd allocates little memory, or far more than exists: an object of such a size can be
 * created, and never gets pages. If an object took just all of the memory, the kernel would kill
 * programs of its choice.
 */
enum { LITTLE = 16 * PAGE };
static const __u64 far_more = 1ull << 40;

static __u64 size_of_object(__u64 size)
{
	return size > LITTLE && size < far_more ? far_more : size;
}

static void make(struct thread *t)
{
	struct drm_i915_gem_create create = { .size = (1 + rnd(t) % 16) * PAGE };

	if (chance(t, 32))
		create.size = far_more;
	spoil(t, &create, sizeof(create), 0);
	create.size = size_of_object(create.size);
	TRY(t, file(t), DRM_IOCTL_I915_GEM_CREATE, &create);
}

static void make_ext(struct thread *t)
{
	struct drm_i915_gem_create_ext create = { .size = (1 + rnd(t) % 4) * PAGE };

	spoil(t, &create, sizeof(create), 0x30);
	create.size = size_of_object(create.size);
	TRY(t, file(t), DRM_IOCTL_I915_GEM_CREATE_EXT, &create);
}

static void drop(struct thread *t)
{
	struct drm_gem_close close = { .handle = handle(t) };

	SPOIL(t, file(t), DRM_IOCTL_GEM_CLOSE, close, 0);
}

static void copy(struct thread *t)
{
	struct drm_i915_gem_pread get = { .handle = handle(t), .data_ptr = pointer(t) };
	struct drm_i915_gem_pwrite put;
	int fd = file(t);

	get.offset = chance(t, 3) ? 0 : rnd(t) % (4 * PAGE) & ~3ull;
	get.size = rnd(t) % (3 * PAGE) & ~3ull;
	/* dwords 0 to 7: handle, pad, offset, size, pointer */
	if (chance(t, 2)) {
		SPOIL(t, fd, DRM_IOCTL_I915_GEM_PREAD, get, 0xc0);
		return;
	}
	memset(t->room, 0, ROOM);
	*(__u32 *)t->room = t->crowd->gpu.backend->batch_end;
	put = (struct drm_i915_gem_pwrite){ .handle = get.handle,
					    .offset = get.offset,
					    .size = get.size,
					    .data_ptr = get.data_ptr };
	SPOIL(t, fd, DRM_IOCTL_I915_GEM_PWRITE, put, 0xc0);
}

static void look(struct thread *t)
{
	struct drm_i915_gem_busy busy = { .handle = handle(t) };
	struct drm_i915_gem_wait wait = { .bo_handle = handle(t),
					  .timeout_ns = rnd(t) % 20000000 };
	struct drm_i915_gem_set_domain set = { .handle = handle(t),
					       .read_domains = 1 << rnd(t) % 8 };
	struct drm_i915_gem_sw_finish finish = { .handle = handle(t) };
	struct drm_i915_gem_get_aperture aperture;

	switch (rnd(t) % 6) {
	case 0:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_BUSY, busy, 0);
		break;
	case 1:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_WAIT, wait, 0);
		break;
	case 2:
		if (chance(t, 2))
			set.write_domain = set.read_domains;
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_SET_DOMAIN, set, 0);
		break;
	case 3:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_SW_FINISH, finish, 0);
		break;
	case 4:
		TRY(t, file(t), DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture);
		break;
	default:
		TRY(t, file(t), DRM_IOCTL_I915_GEM_THROTTLE, NULL);
	}
}

static void properties(struct thread *t)
{
	struct drm_i915_gem_caching caching = { .handle = handle(t), .caching = rnd(t) % 3 };
	struct drm_i915_gem_set_tiling tile = { .handle = handle(t),
						.tiling_mode = rnd(t) % 3,
						.stride = 128 << rnd(t) % 5 };
	struct drm_i915_gem_get_tiling tiled = { .handle = handle(t) };
	struct drm_i915_gem_madvise advise = { .handle = handle(t), .madv = rnd(t) % 2 };

	switch (rnd(t) % 5) {
	case 0:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_SET_CACHING, caching, 0);
		break;
	case 1:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_GET_CACHING, caching, 0);
		break;
	case 2:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_SET_TILING, tile, 0);
		break;
	case 3:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_GET_TILING, tiled, 0);
		break;
	default:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_MADVISE, advise, 0);
	}
}

static void user_memory(struct thread *t)
{
	struct drm_i915_gem_userptr make = { .user_ptr = pointer(t),
					     .user_size = (1 + rnd(t) % 4) * PAGE };

	/* dwords 0 and 1 are the pointer */
	SPOIL(t, file(t), DRM_IOCTL_I915_GEM_USERPTR, make, 3);
}

static void map(struct thread *t)
{
	struct drm_i915_gem_mmap_offset get = { .handle = handle(t), .flags = rnd(t) % 4 };
	struct drm_i915_gem_mmap legacy = { .handle = handle(t), .size = PAGE };
	unsigned int slot = rnd(t) % MAPS;
	int fd = file(t);

	if (t->maps[slot]) {
		crowd_touch(t->maps[slot], rnd(t) % PAGE & ~3);
		if (chance(t, 2)) {
			munmap(t->maps[slot], PAGE);
			t->maps[slot] = NULL;
		}
		return;
	}
	if (chance(t, 4)) {
		/* its answer is where the pointer would be */
		if (SPOIL(t, fd, DRM_IOCTL_I915_GEM_MMAP, legacy, 0x30) == 0 &&
		    legacy.size == PAGE)
			t->maps[slot] = (void *)(uintptr_t)legacy.addr_ptr;
		return;
	}
	if (SPOIL(t, fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, get, 0xc0))
		return;
	if (chance(t, 8))
		get.offset += limit(t);
	t->maps[slot] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file(t), get.offset);
	count(t, "mmap", t->maps[slot] == MAP_FAILED ? -errno : 0);
	if (t->maps[slot] == MAP_FAILED)
		t->maps[slot] = NULL;
	else
		crowd_touch(t->maps[slot], 0);
}

/* Sharing. */

static void share(struct thread *t)
{
	struct drm_prime_handle prime = { .handle = handle(t), .flags = DRM_CLOEXEC | DRM_RDWR };
	struct drm_gem_flink flink = { .handle = handle(t) };
	struct drm_gem_open open = { .name = 1 + rnd(t) % 8 };
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_RW | (rnd(t) & DMA_BUF_SYNC_END) };
	struct sync_file_info info = {};
	struct pollfd ready = { .fd = some_fd(t), .events = POLLIN | POLLOUT };

	switch (rnd(t) % 7) {
	case 0:
	case 1:
		if (SPOIL(t, file(t), DRM_IOCTL_PRIME_HANDLE_TO_FD, prime, 0) == 0)
			keep_fd(t, prime.fd);
		break;
	case 2:
		prime = (struct drm_prime_handle){ .fd = some_fd(t) };
		SPOIL(t, file(t), DRM_IOCTL_PRIME_FD_TO_HANDLE, prime, 0);
		break;
	case 3:
		SPOIL(t, file(t), DRM_IOCTL_GEM_FLINK, flink, 0);
		break;
	case 4:
		SPOIL(t, file(t), DRM_IOCTL_GEM_OPEN, open, 0);
		break;
	case 5:
		TRY(t, some_fd(t), DMA_BUF_IOCTL_SYNC, &sync);
		break;
	default:
		count(t, "poll", poll(&ready, 1, rnd(t) % 5) < 0 ? -errno : 0);
		TRY(t, some_fd(t), SYNC_IOC_FILE_INFO, &info);
	}
}

static void syncobjs(struct thread *t)
{
	struct drm_syncobj_create create = { .flags = rnd(t) % 2 };
	struct drm_syncobj_destroy destroy = { .handle = 1 + rnd(t) % 8 };
	__u32 handles[2] = { 1 + rnd(t) % 8, 1 + rnd(t) % 8 };
	struct drm_syncobj_wait wait = { .handles = U64(handles),
					 .count_handles = 2,
					 .timeout_nsec = rnd(t) % 1000,
					 .flags = rnd(t) % 4 };
	struct drm_syncobj_array reset = { .handles = U64(handles), .count_handles = 1 };

	switch (rnd(t) % 5) {
	case 0:
	case 1:
		TRY(t, file(t), DRM_IOCTL_SYNCOBJ_CREATE, &create);
		break;
	case 2:
		TRY(t, file(t), DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
		break;
	case 3:
		TRY(t, file(t), DRM_IOCTL_SYNCOBJ_WAIT, &wait);
		break;
	default:
		TRY(t, file(t), DRM_IOCTL_SYNCOBJ_RESET, &reset);
	}
}

/* Contexts and questions. */

/* A context with engines by place, a virtual one for the render engine's, where there are such. */
static void context_of_engines(struct thread *t)
{
	static const struct i915_engine_class_instance video[2] = {
		{ I915_ENGINE_CLASS_VIDEO, 0 },
		{ I915_ENGINE_CLASS_VIDEO, 1 },
	};
	static const struct i915_engine_class_instance gap = {
		(__u16)I915_ENGINE_CLASS_INVALID,
		(__u16)I915_ENGINE_CLASS_INVALID_NONE,
	};
	I915_DEFINE_CONTEXT_ENGINES_LOAD_BALANCE(both, 2) = {
		.base.name = I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE,
		.engine_index = I915_EXEC_RENDER,
		.num_siblings = 2,
		.engines = { video[0], video[1] },
	};
	struct {
		__u64 extensions;
		struct i915_engine_class_instance engines[4];
	} list = {
		.extensions = U64(&both),
		.engines = { video[0], gap, video[1], { I915_ENGINE_CLASS_COPY, 0 } },
	};
	struct drm_i915_gem_context_create_ext_setparam set = {
		.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM,
		.param = { .param = I915_CONTEXT_PARAM_ENGINES,
			   .size = sizeof(list),
			   .value = U64(&list) },
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
		.extensions = U64(&set),
	};

	if (chance(t, 8))
		spoil(t, &both, sizeof(both), 3);
	TRY(t, file(t), DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);
}

static void contexts(struct thread *t)
{
	struct drm_i915_gem_context_create_ext create = {};
	struct drm_i915_gem_context_destroy destroy = { .ctx_id = context(t) };
	struct drm_i915_gem_context_param param = { .ctx_id = context(t),
						    .param = rnd(t) % 16,
						    .value = rnd(t) % 2 };
	struct drm_i915_reset_stats stats = { .ctx_id = context(t) };

	switch (rnd(t) % 6) {
	case 0:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create, 0xc);
		break;
	case 1:
		context_of_engines(t);
		break;
	case 2:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, destroy, 0);
		break;
	case 3:
		/* dwords 0 and 1: number and size; 4 and 5 may be a pointer */
		param.size = chance(t, 4) ? 64 : 0;
		if (param.size)
			param.value = pointer(t);
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, param, 0x30);
		break;
	case 4:
		param.value = pointer(t);
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, param, 0x30);
		break;
	default:
		SPOIL(t, file(t), DRM_IOCTL_I915_GET_RESET_STATS, stats, 0);
	}
}

static void ask(struct thread *t)
{
	struct drm_i915_getparam param = { .param = rnd(t) % 64,
					   .value = (int *)(uintptr_t)pointer(t) };
	struct drm_i915_query_item items[2] = {
		{ .query_id = rnd(t) % 8, .length = 256 * (rnd(t) % 8), .data_ptr = pointer(t) },
		{ .query_id = rnd(t) % 8, .data_ptr = pointer(t) },
	};
	struct drm_i915_query query = { .num_items = 2, .items_ptr = U64(items) };
	struct drm_i915_reg_read read = { .offset = chance(t, 2) ? 0x2358 | I915_REG_READ_8B_WA :
								   limit(t) };
	struct drm_i915_gem_vm_control vm = { .vm_id = rnd(t) % 3 };
	struct drm_ouro_list list = { .ptr = pointer(t), .count = rnd(t) % 8, .stride = 64 };
	struct drm_ouro_stats stats = {};
	struct drm_ouro_device device = {};

	switch (rnd(t) % 9) {
	case 0:
		/* dword 0 is the number */
		SPOIL(t, file(t), DRM_IOCTL_I915_GETPARAM, param, 0xc);
		break;
	case 1:
		SPOIL(t, file(t), DRM_IOCTL_I915_QUERY, query, 0xc);
		break;
	case 2:
		SPOIL(t, file(t), DRM_IOCTL_I915_REG_READ, read, 0);
		break;
	case 3:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_VM_CREATE, vm, 3);
		break;
	case 4:
		SPOIL(t, file(t), DRM_IOCTL_I915_GEM_VM_DESTROY, vm, 3);
		break;
	case 5:
		SPOIL(t, file(t), DRM_IOCTL_OURO_ENGINES, list, 3);
		break;
	case 6:
		SPOIL(t, file(t), DRM_IOCTL_OURO_REGIONS, list, 3);
		break;
	case 7:
		SPOIL(t, file(t), DRM_IOCTL_OURO_DEVICE, device, 0);
		break;
	default:
		SPOIL(t, file(t), DRM_IOCTL_OURO_STATS, stats, 0);
	}
}

/* Batches. */

static void fill(struct thread *t, __u32 *words, unsigned int n)
{
	unsigned int i;

	memset(words, 0, n * 4);
	if (chance(t, 8) && __atomic_fetch_sub(&t->crowd->garbage, 1, __ATOMIC_RELAXED) > 0)
		for (i = 0; i < n; i++)
			words[i] = rnd(t);
	words[n - 1] = t->crowd->gpu.backend->batch_end;
}

static void execute(struct thread *t)
{
	const struct gpu *gpu = &t->crowd->gpu;
	const struct engine *engine = &gpu->engines[rnd(t) % gpu->n_engines];
	const struct store_command *c = store_for(gpu, engine, 4);
	struct drm_i915_gem_exec_object2 objects[5] = {};
	struct drm_i915_gem_relocation_entry relocs[2] = {};
	struct drm_i915_gem_exec_fence fence = { .handle = 1 + rnd(t) % 8, .flags = rnd(t) % 4 };
	struct drm_i915_gem_create create = { .size = PAGE };
	struct drm_i915_gem_pwrite put = { .size = 256 };
	struct drm_i915_gem_execbuffer2 eb = {};
	struct drm_gem_close close = {};
	unsigned int n = rnd(t) % 4, i;
	__u32 words[64];
	int fd = file(t), got;

	if (TRY(t, fd, DRM_IOCTL_I915_GEM_CREATE, &create))
		return;
	fill(t, words, ARRAY_LEN(words));
	for (i = 0; i < n; i++) {
		objects[i].handle = handle(t);
		objects[i].flags = chance(t, 2) ? EXEC_OBJECT_WRITE : 0;
		if (chance(t, 4)) {
			/* where another one may be */
			objects[i].flags |= EXEC_OBJECT_PINNED;
			objects[i].offset = 0x400000 + (rnd(t) % 64) * 0x8000;
		} else if (chance(t, 6)) {
			/* so much that others must go */
			objects[i].flags |= EXEC_OBJECT_PAD_TO_SIZE;
			objects[i].pad_to_size = 256ull << 20;
		}
		if (chance(t, 8))
			objects[i].flags |= EXEC_OBJECT_ASYNC | EXEC_OBJECT_CAPTURE;
		spoil(t, &objects[i], sizeof(objects[i]), 0xc);
	}
	objects[n].handle = create.handle;
	if (c && n && words[0] == 0) {
		/* a store to the first one of an end of a batch, which is what it may hold */
		memcpy(words, c->words, c->dwords * 4);
		words[c->value] = gpu->backend->batch_end;
		relocs[0] = (struct drm_i915_gem_relocation_entry){
			.target_handle = objects[0].handle,
			.delta = 64 | c->address_flags,
			.offset = c->address * 4,
			.presumed_offset = ~0ull,
			.read_domains = I915_GEM_DOMAIN_RENDER,
			.write_domain = I915_GEM_DOMAIN_RENDER,
		};
		objects[0].flags |= EXEC_OBJECT_WRITE | c->object_flags;
		objects[n].relocs_ptr = U64(relocs);
		objects[n].relocation_count = 1;
		spoil(t, &relocs[0], sizeof(relocs[0]), 0);
	}
	put.handle = create.handle;
	put.data_ptr = U64(words);
	TRY(t, fd, DRM_IOCTL_I915_GEM_PWRITE, &put);
	eb.buffers_ptr = chance(t, 24) ? pointer(t) : U64(objects);
	eb.buffer_count = n + 1;
	eb.flags = engine->ring;
	eb.rsvd1 = chance(t, 2) ? 0 : context(t);
	if (chance(t, 4))
		eb.flags |= I915_EXEC_FENCE_OUT;
	if (chance(t, 10)) {
		eb.flags |= I915_EXEC_FENCE_IN;
		eb.rsvd2 = some_fd(t);
	} else if (chance(t, 8)) {
		eb.flags |= I915_EXEC_FENCE_ARRAY;
		eb.cliprects_ptr = U64(&fence);
		eb.num_cliprects = 1;
	}
	/* dwords 0 and 1, 8 and 9 are pointers */
	spoil(t, &eb, sizeof(eb), 0x303);
	got = TRY(t, fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &eb);
	if (!got) {
		__atomic_fetch_add(&t->crowd->counts.batches, 1, __ATOMIC_RELAXED);
		if (eb.flags & I915_EXEC_FENCE_OUT)
			keep_fd(t, eb.rsvd2 >> 32);
	}
	close.handle = create.handle;
	TRY(t, fd, DRM_IOCTL_GEM_CLOSE, &close);
}

/* Files. */

static void reopen(struct thread *t)
{
	int fresh, old;

	if (!chance(t, 6))
		return;
	fresh = crowd_open();
	count(t, "open", fresh < 0 ? -ENODEV : 0);
	old = __atomic_exchange_n(&t->p->files[rnd(t) % OWN_FILES], fresh, __ATOMIC_RELAXED);
	if (old >= 0)
		close(old);
}

static void (*const actions[])(struct thread *) = {
	make,	  make,	    make,	make,	     make_ext, drop,  copy,	copy,	 look,
	look,	  properties, user_memory, map,	     map,      share, syncobjs, contexts, contexts,
	ask,	  execute,  execute,	execute,     execute,  reopen,
};

void crowd_act(struct thread *t)
{
	actions[rnd(t) % ARRAY_LEN(actions)](t);
}

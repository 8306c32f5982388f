// SPDX-License-Identifier: GPL-2.0
/* The calls of i915: what each one needs, itself, and how what it made is taken back. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "calls.h"
#include "places.h"

static int an_object(struct state *s)
{
	s->handle = gem_create(s->fd, SIZE);
	return s->handle ? 0 : -ENOMEM;
}

/* With memory, and a mark in it. */
int calls_full_object(struct state *s)
{
	__u32 mark = MARK;
	int got = an_object(s);

	return got ? got : gem_write(s->fd, s->handle, 0, &mark, 4);
}

void calls_drop_object(struct state *s)
{
	gem_close(s->fd, s->handle);
}

static int do_open(struct state *s)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
	s->file = open(path, O_RDWR | O_CLOEXEC);
	return s->file < 0 ? -errno : 0;
}

static void undo_open(struct state *s)
{
	close(s->file);
}

static int do_create(struct state *s)
{
	struct drm_i915_gem_create create = { .size = SIZE };
	int got = call(s->fd, DRM_IOCTL_I915_GEM_CREATE, &create);

	s->second = create.handle;
	return got;
}

static int do_create_ext(struct state *s)
{
	struct drm_i915_gem_create_ext create = { .size = SIZE };
	int got = call(s->fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &create);

	s->second = create.handle;
	return got;
}

static void undo_create(struct state *s)
{
	gem_close(s->fd, s->second);
}

static void untold_object(struct state *s)
{
	gem_close(s->fd, s->next_handle);
}

static void untold_context(struct state *s)
{
	context_destroy(s->fd, s->next_context);
}

static void untold_file(struct state *s)
{
	close(s->next_file);
}

static void untold_import(struct state *s)
{
	/* the first one of its file */
	gem_close(s->other.fd, 1);
}

/* A mapping of the device is gone: there is no other one. */
static void untold_mapping(struct state *s)
{
	unsigned long from, to, found = 0, end = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	(void)s;
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 &&
		    (strstr(line, "[ouro]") || strstr(line, "drm mm object"))) {
			found = from;
			end = to;
		}
	}
	if (maps)
		fclose(maps);
	if (found)
		munmap((void *)found, end - found);
}

static int do_pwrite(struct state *s)
{
	return gem_write(s->fd, s->handle, 100, s->room, SIZE - 100);
}

static int do_pread(struct state *s)
{
	return gem_read(s->fd, s->handle, 100, s->room, SIZE - 100);
}

static int do_set_domain(struct state *s)
{
	struct drm_i915_gem_set_domain set = { .handle = s->handle,
					       .read_domains = I915_GEM_DOMAIN_CPU };

	return call(s->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
}

static int do_mmap_offset(struct state *s)
{
	struct drm_i915_gem_mmap_offset get = { .handle = s->handle, .flags = I915_MMAP_OFFSET_WC };

	/* the one way there is */
	if (is_card(s->gpu))
		get.flags = I915_MMAP_OFFSET_FIXED;

	return call(s->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
}

static int do_map(struct state *s, __u64 how)
{
	struct drm_i915_gem_mmap_offset get = { .handle = s->handle, .flags = how };
	int got;

	s->map = NULL;
	if (is_card(s->gpu) && how != I915_MMAP_OFFSET_GTT)
		get.flags = I915_MMAP_OFFSET_FIXED;
	got = call(s->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &get);
	if (got)
		return got;
	s->map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, get.offset);
	return s->map == MAP_FAILED ? -errno : 0;
}

static int map_wc(struct state *s)
{
	return do_map(s, I915_MMAP_OFFSET_WC);
}

static void unmap(struct state *s)
{
	munmap(s->map, SIZE);
}

static int object_mapped_wb(struct state *s)
{
	int got = calls_full_object(s);

	return got ? got : do_map(s, I915_MMAP_OFFSET_WB);
}

static int object_mapped_gtt(struct state *s)
{
	int got = calls_full_object(s);

	return got ? got : do_map(s, I915_MMAP_OFFSET_GTT);
}

/* A fault that finds no memory is tried again by the kernel: it comes back in the end. */
static int do_touch(struct state *s)
{
	const __u32 *words = s->map;

	peek(words + (SIZE - PAGE) / 4);
	return peek(words) == MARK ? 0 : -EIO;
}

static void drop_mapped(struct state *s)
{
	unmap(s);
	calls_drop_object(s);
}

static int do_mmap_legacy(struct state *s)
{
	struct drm_i915_gem_mmap map = { .handle = s->handle, .size = SIZE };
	int got = call(s->fd, DRM_IOCTL_I915_GEM_MMAP, &map);

	s->map = (void *)(uintptr_t)map.addr_ptr;
	return got;
}

static int do_sw_finish(struct state *s)
{
	struct drm_i915_gem_sw_finish finish = { .handle = s->handle };

	return call(s->fd, DRM_IOCTL_I915_GEM_SW_FINISH, &finish);
}

static int do_set_caching(struct state *s)
{
	struct drm_i915_gem_caching set = { .handle = s->handle, .caching = I915_CACHING_NONE };

	return call(s->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &set);
}

static int do_get_caching(struct state *s)
{
	struct drm_i915_gem_caching get = { .handle = s->handle };

	return call(s->fd, DRM_IOCTL_I915_GEM_GET_CACHING, &get);
}

static int do_set_tiling(struct state *s)
{
	struct drm_i915_gem_set_tiling set = { .handle = s->handle,
					       .tiling_mode = I915_TILING_X,
					       .stride = 512 };

	return call(s->fd, DRM_IOCTL_I915_GEM_SET_TILING, &set);
}

static int do_get_tiling(struct state *s)
{
	struct drm_i915_gem_get_tiling get = { .handle = s->handle };

	return call(s->fd, DRM_IOCTL_I915_GEM_GET_TILING, &get);
}

static int do_madvise(struct state *s)
{
	struct drm_i915_gem_madvise advise = { .handle = s->handle, .madv = I915_MADV_DONTNEED };

	return call(s->fd, DRM_IOCTL_I915_GEM_MADVISE, &advise);
}

static int do_userptr(struct state *s)
{
	struct drm_i915_gem_userptr make = { .user_ptr = U64(s->room), .user_size = ROOM };
	int got = call(s->fd, DRM_IOCTL_I915_GEM_USERPTR, &make);

	s->second = make.handle;
	return got;
}

static int do_busy(struct state *s)
{
	struct drm_i915_gem_busy busy = { .handle = s->handle };

	return call(s->fd, DRM_IOCTL_I915_GEM_BUSY, &busy);
}

static int do_wait(struct state *s)
{
	int got = gem_wait(s->fd, s->handle, 0);

	return got == -ETIME ? 0 : got;
}

static int do_throttle(struct state *s)
{
	return call(s->fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL);
}

static int a_busy_object(struct state *s)
{
	int got = an_object(s);

	return got ? got : spin_start(s->gpu, &s->gpu->engines[0], 0, s->handle, NULL, &s->spin);
}

static void drop_busy(struct state *s)
{
	spin_stop(&s->spin);
	gem_wait(s->fd, s->handle, -1);
	spin_free(&s->spin);
	calls_drop_object(s);
}

static int do_context(struct state *s)
{
	struct drm_i915_gem_context_create_ext_setparam set = {
		.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM,
		.param.param = I915_CONTEXT_PARAM_RECOVERABLE,
		.param.value = 0,
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS, .extensions = U64(&set)
	};
	int got = call(s->fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);

	s->context = create.ctx_id;
	return got;
}

static void undo_context(struct state *s)
{
	context_destroy(s->fd, s->context);
}

static int do_context_param(struct state *s)
{
	struct drm_i915_gem_context_param set = { .param = I915_CONTEXT_PARAM_BANNABLE,
						  .value = 1 };
	int got = call(s->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set);

	return got ? got : call(s->fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &set);
}

static int do_reset_stats(struct state *s)
{
	struct drm_i915_reset_stats stats = {};

	return call(s->fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats);
}

static int do_query(struct state *s)
{
	struct drm_i915_query_item items[2] = {
		{ .query_id = DRM_I915_QUERY_ENGINE_INFO,
		  .length = 2048,
		  .data_ptr = U64(s->room) },
		{ .query_id = DRM_I915_QUERY_MEMORY_REGIONS,
		  .length = 2048,
		  .data_ptr = U64(s->room + PAGE) },
	};
	struct drm_i915_query query = { .num_items = 2, .items_ptr = U64(items) };
	int got;

	memset(s->room, 0, 2 * PAGE);
	got = call(s->fd, DRM_IOCTL_I915_QUERY, &query);
	if (got)
		return got;
	/* each item has an error of its own */
	if (items[0].length == -ENOMEM || items[1].length == -ENOMEM)
		return -ENOMEM;
	if (items[0].length == -EFAULT || items[1].length == -EFAULT)
		return -EFAULT;
	return items[0].length > 0 && items[1].length > 0 ? 0 : -EIO;
}

static int do_ouro(struct state *s)
{
	struct drm_ouro_device device = {};
	struct drm_ouro_list engines = { .ptr = U64(s->room),
					 .count = 8,
					 .stride = sizeof(struct drm_ouro_engine) };
	struct drm_ouro_list regions = { .ptr = U64(s->room),
					 .count = 8,
					 .stride = sizeof(struct drm_ouro_region) };
	int got = call(s->fd, DRM_IOCTL_OURO_DEVICE, &device);

	if (!got)
		got = call(s->fd, DRM_IOCTL_OURO_ENGINES, &engines);
	return got ? got : call(s->fd, DRM_IOCTL_OURO_REGIONS, &regions);
}

static int do_getparam(struct state *s)
{
	int got = getparam(s->fd, I915_PARAM_CHIPSET_ID);

	return got < 0 ? got : 0;
}

static int do_aperture(struct state *s)
{
	struct drm_i915_gem_get_aperture get;

	return call(s->fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &get);
}

static int do_reg_read(struct state *s)
{
	/* the render engine's timestamp, whole (i915_drm.h) */
	struct drm_i915_reg_read read = { .offset = 0x2358 | I915_REG_READ_8B_WA };

	return call(s->fd, DRM_IOCTL_I915_REG_READ, &read);
}

static int do_export(struct state *s)
{
	struct drm_prime_handle prime = { .handle = s->handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int got = call(s->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	s->file = prime.fd;
	return got;
}

static void undo_export(struct state *s)
{
	close(s->file);
}

static int an_exported_object(struct state *s)
{
	int got = gpu_open(&s->other);

	if (!got)
		got = calls_full_object(s);
	return got ? got : do_export(s);
}

static int do_import(struct state *s)
{
	struct drm_prime_handle prime = { .fd = s->file };
	int got = call(s->other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	s->second = prime.handle;
	return got;
}

static void undo_import(struct state *s)
{
	gem_close(s->other.fd, s->second);
}

static void drop_exported(struct state *s)
{
	close(s->file);
	calls_drop_object(s);
	gpu_close(&s->other);
}

static int do_map_export(struct state *s)
{
	s->map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
	if (s->map == MAP_FAILED)
		return -errno;
	return peek(s->map) == MARK ? 0 : -EIO;
}

const struct subject subjects[] = {
	{ "open", NULL, do_open, undo_open, NULL, false, NULL },
	{ "GEM_CREATE", NULL, do_create, undo_create, NULL, false, untold_object },
	{ "GEM_CREATE_EXT", NULL, do_create_ext, undo_create, NULL, true, untold_object },
	{ "GEM_PWRITE", an_object, do_pwrite, NULL, calls_drop_object, false, NULL },
	{ "GEM_PREAD", an_object, do_pread, NULL, calls_drop_object, false, NULL },
	{ "GEM_SET_DOMAIN", an_object, do_set_domain, NULL, calls_drop_object, false, NULL },
	{ "GEM_SET_DOMAIN with memory", calls_full_object, do_set_domain, NULL,
	  calls_drop_object, false, NULL },
	{ "GEM_MMAP_OFFSET", an_object, do_mmap_offset, NULL, calls_drop_object, false, NULL },
	{ "mmap", an_object, map_wc, unmap, calls_drop_object, false, NULL },
	{ "fault, cached", object_mapped_wb, do_touch, NULL, drop_mapped, false, NULL },
	{ "fault, aperture", object_mapped_gtt, do_touch, NULL, drop_mapped, true, NULL },
	{ "GEM_MMAP", an_object, do_mmap_legacy, unmap, calls_drop_object, true, untold_mapping },
	{ "GEM_SW_FINISH", an_object, do_sw_finish, NULL, calls_drop_object, true, NULL },
	{ "GEM_SET_CACHING", calls_full_object, do_set_caching, NULL, calls_drop_object, true,
	  NULL },
	{ "GEM_GET_CACHING", calls_full_object, do_get_caching, NULL, calls_drop_object, true,
	  NULL },
	{ "GEM_SET_TILING", calls_full_object, do_set_tiling, NULL, calls_drop_object, true, NULL },
	{ "GEM_GET_TILING", calls_full_object, do_get_tiling, NULL, calls_drop_object, true, NULL },
	{ "GEM_MADVISE", calls_full_object, do_madvise, NULL, calls_drop_object, true, NULL },
	{ "GEM_USERPTR", NULL, do_userptr, undo_create, NULL, true, untold_object },
	{ "GEM_BUSY", a_busy_object, do_busy, NULL, drop_busy, false, NULL },
	{ "GEM_WAIT", a_busy_object, do_wait, NULL, drop_busy, false, NULL },
	{ "GEM_THROTTLE", NULL, do_throttle, NULL, NULL, true, NULL },
	{ "GEM_GET_APERTURE", NULL, do_aperture, NULL, NULL, false, NULL },
	{ "GETPARAM", NULL, do_getparam, NULL, NULL, false, NULL },
	{ "REG_READ", NULL, do_reg_read, NULL, NULL, true, NULL },
	{ "QUERY", NULL, do_query, NULL, NULL, false, NULL },
	{ "OURO_DEVICE, _ENGINES, _REGIONS", NULL, do_ouro, NULL, NULL, false, NULL },
	{ "CONTEXT_CREATE", NULL, do_context, undo_context, NULL, false, untold_context },
	{ "CONTEXT_SETPARAM, _GETPARAM", NULL, do_context_param, NULL, NULL, false, NULL },
	{ "GET_RESET_STATS", NULL, do_reset_stats, NULL, NULL, true, NULL },
	{ "PRIME_HANDLE_TO_FD", calls_full_object, do_export, undo_export, calls_drop_object, false,
	  untold_file },
	{ "PRIME_FD_TO_HANDLE", an_exported_object, do_import, undo_import, drop_exported, false,
	  untold_import },
	{ "mmap of a dma-buf", an_exported_object, do_map_export, unmap, drop_exported, false,
	  NULL },
	{ "EXECBUFFER2", calls_batch, calls_exec, NULL, calls_drop_batch, false, NULL },
	{ "EXECBUFFER2, fences", calls_batch_with_fences, calls_exec, NULL, calls_drop_batch, false,
	  untold_file },
	{ "EXECBUFFER2, timelines", calls_batch_with_timelines, calls_exec, NULL,
	  calls_drop_batch, false,
	  untold_file },
	{ "EXECBUFFER2, dependencies", calls_batch_behind_work, calls_exec, NULL,
	  calls_drop_batch, false,
	  NULL },
	{ "EXECBUFFER2, user memory", calls_batch_of_user_memory, calls_exec, NULL,
	  calls_drop_batch, true,
	  NULL },
};

const unsigned int n_subjects = ARRAY_LEN(subjects);

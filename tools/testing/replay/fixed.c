// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD for Mesa's intel_hang_replay on cards with VRAM: it maps BOs
 * write-back, and i915's interface has mappings of a fixed caching only there
 * (-ENODEV otherwise).
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>

#include <drm/i915_drm.h>

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	if (request == DRM_IOCTL_I915_GEM_MMAP_OFFSET)
		((struct drm_i915_gem_mmap_offset *)argument)->flags = I915_MMAP_OFFSET_FIXED;
	return next(fd, request, argument);
}

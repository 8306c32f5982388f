/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_OURO_DRM_H_
#define _UAPI_OURO_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: overview
 *
 * These ioctls are answered by every ouro device, whatever its chip and
 * whichever other interface (i915, radeon) it speaks. They lie at 0x50-0x5f of
 * the driver's range, which both of those leave free: a device that answers
 * DRM_IOCTL_OURO_DEVICE is driven by ouro.
 *
 * Rules of all of them: fields named pad and flags must be zero on input, or
 * the answer is -EINVAL; reserved space is zero on output; the argument is not
 * changed when an error is returned (of a list, entries may have been written
 * before bad memory was met: -EFAULT).
 *
 * New fields take the place of reserved space, so that sizes and numbers of
 * ioctls stay. A field that an older driver does not know reads as zero.
 */

#define DRM_OURO_DEVICE		0x50
#define DRM_OURO_ENGINES	0x51
#define DRM_OURO_REGIONS	0x52
#define DRM_OURO_STATS		0x53

/**
 * struct drm_ouro_device - what the device is
 */
struct drm_ouro_device {
	/** @flags: in: zero */
	__u32 flags;
	/** @pci_vendor: PCI vendor id */
	__u16 pci_vendor;
	/** @pci_device: PCI device id */
	__u16 pci_device;
	/** @revision: PCI revision id */
	__u16 revision;
	/** @pad: in: zero */
	__u16 pad;
	/** @n_engines: number of engines */
	__u32 n_engines;
	/** @n_regions: number of memory regions */
	__u32 n_regions;
	/** @backend: name of the backend, e.g. "gen6"; ends in a zero byte */
	char backend[16];
	/** @chip: name of the chip, e.g. "Sandy Bridge GT2 mobile"; ends in a zero byte */
	char chip[48];
	/** @gpu_address_bits: width of a GPU virtual address */
	__u32 gpu_address_bits;
	/** @dma_bits: width of a physical address that the device can reach */
	__u32 dma_bits;
	/** @pad2: zero */
	__u32 pad2;
	/** @gpu_address_space: bytes of one GPU virtual address space */
	__u64 gpu_address_space;
	/** @reserved: zero */
	__u64 reserved[4];
};

/**
 * enum drm_ouro_engine_class - what an engine is for
 */
enum drm_ouro_engine_class {
	/** @OURO_ENGINE_RENDER: 3D, media and general commands */
	OURO_ENGINE_RENDER = 0,
	/** @OURO_ENGINE_COPY: the blitter */
	OURO_ENGINE_COPY = 1,
	/** @OURO_ENGINE_VIDEO: video decoding */
	OURO_ENGINE_VIDEO = 2,
	/** @OURO_ENGINE_VIDEO_ENHANCE: video post-processing */
	OURO_ENGINE_VIDEO_ENHANCE = 3,
	/** @OURO_ENGINE_COMPUTE: compute only */
	OURO_ENGINE_COMPUTE = 4,
};

/**
 * struct drm_ouro_engine - one engine, and what it has done so far
 *
 * The counters tell about all clients: they are zero for callers without CAP_PERFMON.
 */
struct drm_ouro_engine {
	/** @engine_class: enum drm_ouro_engine_class */
	__u16 engine_class;
	/** @instance: number within the class */
	__u16 instance;
	/** @pad: zero */
	__u32 pad;
	/** @name: "rcs0", "bcs0"; ends in a zero byte */
	char name[16];
	/** @submitted: requests published */
	__u64 submitted;
	/** @completed: requests completed */
	__u64 completed;
	/** @port_writes: register writes that started work: ring tail, list load */
	__u64 port_writes;
	/** @context_switches: context switches emitted, or reported by the engine */
	__u64 context_switches;
};

/**
 * enum drm_ouro_region_kind - where a region's memory is
 */
enum drm_ouro_region_kind {
	/** @OURO_REGION_SYSTEM: system memory */
	OURO_REGION_SYSTEM = 0,
	/** @OURO_REGION_LOCAL: memory of the device (VRAM) */
	OURO_REGION_LOCAL = 1,
};

/**
 * struct drm_ouro_region - one kind of memory
 */
struct drm_ouro_region {
	/** @kind: enum drm_ouro_region_kind */
	__u16 kind;
	/** @instance: number within the kind */
	__u16 instance;
	/** @pad: zero */
	__u32 pad;
	/** @size: bytes; of system memory: what the kernel has */
	__u64 size;
	/** @cpu_visible: bytes of it that the CPU can map */
	__u64 cpu_visible;
	/**
	 * @used: bytes that objects of this device, of all clients, have there now; zero for
	 * callers without CAP_PERFMON
	 */
	__u64 used;
};

/**
 * struct drm_ouro_list - arguments of DRM_IOCTL_OURO_ENGINES and _REGIONS
 */
struct drm_ouro_list {
	/** @ptr: where the entries go: struct drm_ouro_engine or _region */
	__u64 ptr;
	/** @count: in: room in entries, 0 to ask; out: entries there are */
	__u32 count;
	/** @stride: in: bytes of one entry in the caller's header, must be that of this one */
	__u32 stride;
};

/**
 * struct drm_ouro_stats - counters since the driver was bound
 *
 * The register counters count what the driver itself did, by why it did it.
 *
 * The counters tell about all clients: they are zero for callers without CAP_PERFMON, and @resets
 * is for callers without CAP_SYS_ADMIN.
 */
struct drm_ouro_stats {
	/** @flags: in: zero */
	__u32 flags;
	/** @pad: in: zero */
	__u32 pad;
	/** @requests: requests published */
	__u64 requests;
	/** @completed: requests completed */
	__u64 completed;
	/** @port_writes: register writes that started work */
	__u64 port_writes;
	/**
	 * @port_extra_reads: reads that starting work needed on engines whose document
	 * asks for a handshake
	 */
	__u64 port_extra_reads;
	/** @port_extra_writes: writes of the same */
	__u64 port_extra_writes;
	/** @fifo_reads: reads of the room in the device's write FIFO */
	__u64 fifo_reads;
	/** @reg_reads: all register reads */
	__u64 reg_reads;
	/** @reg_writes: all register writes, translation tables not counted */
	__u64 reg_writes;
	/** @pte_writes: entries written to translation tables */
	__u64 pte_writes;
	/** @interrupts: interrupts that were ours */
	__u64 interrupts;
	/** @irq_arms: times that a wait unmasked an interrupt */
	__u64 irq_arms;
	/** @wakes: times that the device was woken */
	__u64 wakes;
	/** @resets: resets of an engine or the device */
	__u64 resets;
	/** @objects: buffer objects alive */
	__u64 objects;
	/** @object_bytes: bytes of them */
	__u64 object_bytes;
	/** @object_pages: pages that back them now */
	__u64 object_pages;
	/** @contexts: contexts alive */
	__u64 contexts;
	/** @fences: requests published and not yet retired */
	__u64 fences;
	/**
	 * @table_flushes: writes that let changed table entries take effect: one for each
	 * submission that is the first after objects were bound or unbound
	 */
	__u64 table_flushes;
	/** @aperture_views: views of objects made in the aperture */
	__u64 aperture_views;
	/** @fence_writes: times that a detiling fence was set or cleared */
	__u64 fence_writes;
	/** @fence_steals: times that a view lost its fence to another one */
	__u64 fence_steals;
	/**
	 * @lite_restores: times that a context went on with a new tail: nothing of it was
	 * saved or restored (engines that take lists of contexts)
	 */
	__u64 lite_restores;
	/**
	 * @preemptions: times that a context was left for a new list and was not at its end,
	 * as the engine says
	 */
	__u64 preemptions;
	/** @moves: times that an object went from one memory region to another */
	__u64 moves;
	/** @reserved: zero */
	__u64 reserved;
};

/**
 * define DRM_OURO_CONTEXT_PARAM_WATCHDOG - for how long batches of a context may run on an engine
 *
 * A parameter of DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, _GETPARAM and of the creation of a context,
 * on devices that answer the i915 interface. The upstream driver does not know it: -EINVAL. Its
 * value is the address of a &struct drm_ouro_watchdog, its size the size of that.
 *
 * An engine may have a watchdog: a counter that runs as long as the batch does. When a batch
 * exceeds its limit, the engine is reset, others go on, and the context is to blame, as if it had
 * hung: the batch's fence is -EIO. That is much earlier than a hang is found, and happens also
 * where hangs are not looked for. Off (0) at first; a change counts for batches that are submitted
 * after it.
 *
 * No document says how long a tick of the counter is. The driver takes it to be that of the
 * engine's time stamp: 80 ns on Ivy Bridge. If it is shorter, the driver waits until the limit is
 * over by the CPU's clock; if it is longer, batches may run for longer than the limit in
 * proportion.
 *
 * Errors, of both calls: -ENOENT if there is no such context (no case at its creation), before all
 * others; -ENODEV if no engine of the device has a watchdog; -EINVAL for another
 * size, flags, an engine that is not there or has none, and a limit beyond what the counter can be
 * told (1000 to 343597383 microseconds on Ivy Bridge); -EFAULT. Nothing is changed then.
 */
#define DRM_OURO_CONTEXT_PARAM_WATCHDOG	0x6f75726f00000001ull

/**
 * struct drm_ouro_watchdog - argument of DRM_OURO_CONTEXT_PARAM_WATCHDOG
 */
struct drm_ouro_watchdog {
	/** @engine_class: in: enum drm_ouro_engine_class */
	__u16 engine_class;
	/** @engine_instance: in: number within the class */
	__u16 engine_instance;
	/** @flags: in: zero */
	__u32 flags;
	/** @limit_us: microseconds that a batch may run, 0 for as long as it likes */
	__u64 limit_us;
};

/**
 * define DRM_IOCTL_OURO_DEVICE - asks what the device is: &struct drm_ouro_device
 */
#define DRM_IOCTL_OURO_DEVICE	DRM_IOWR(DRM_COMMAND_BASE + DRM_OURO_DEVICE, struct drm_ouro_device)
/**
 * define DRM_IOCTL_OURO_ENGINES - lists the engines, as &struct drm_ouro_engine; takes a
 * &struct drm_ouro_list
 */
#define DRM_IOCTL_OURO_ENGINES	DRM_IOWR(DRM_COMMAND_BASE + DRM_OURO_ENGINES, struct drm_ouro_list)
/**
 * define DRM_IOCTL_OURO_REGIONS - lists the kinds of memory, as &struct drm_ouro_region; takes
 * a &struct drm_ouro_list
 */
#define DRM_IOCTL_OURO_REGIONS	DRM_IOWR(DRM_COMMAND_BASE + DRM_OURO_REGIONS, struct drm_ouro_list)
/**
 * define DRM_IOCTL_OURO_STATS - reads the counters: &struct drm_ouro_stats
 */
#define DRM_IOCTL_OURO_STATS	DRM_IOWR(DRM_COMMAND_BASE + DRM_OURO_STATS, struct drm_ouro_stats)

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_OURO_DRM_H_ */

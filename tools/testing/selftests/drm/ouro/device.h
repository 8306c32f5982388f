/* SPDX-License-Identifier: GPL-2.0 */
/* The device behind the node: unbind, bind, removal, and the faults that its model can inject. */
#ifndef OURO_SELFTEST_DEVICE_H
#define OURO_SELFTEST_DEVICE_H

#include "gpu.h"

/* The device's name in sysfs: 0000:00:02.0 */
struct place {
	char name[32];
};

/* Finds the device of an open node. All functions here return 0 or a negative errno. */
int device_of(int fd, struct place *place);
/* Opens the device's render node, whatever its number is now. */
int device_open(const struct place *place, struct gpu *gpu);
/* Unbinds the driver from the device. Returns when that is complete. */
int device_unbind(const struct place *place);
/* Binds the driver to the device. Returns when its render node exists. */
int device_bind(const struct place *place);

/* Removes the device from the bus. Returns when nothing of it is left there. */
int device_remove(const struct place *place);
/* Rescans the bus. Returns when the device's render node exists. */
int device_rescan(const struct place *place);

/* Faults of a model, by the codes of Documentation/gpu/ouro/model.rst ("The test capability"). */
enum {
	FAULT_NONE = 0,
	FAULT_HANG = 1,
	FAULT_LOSE_IRQ = 2,
	FAULT_STUCK_RESET = 5,
	FAULT_REMOVE = 6,
	FAULT_LOSE_MESSAGE = 16,
	FAULT_UNPOSTED = 24,
	/* may be added: only once */
	FAULT_ONCE = 1 << 12,
};

/* May be added: only on one engine. */
#define FAULT_ENGINE(engine) ((engine)->model << 8)

/*
 * Injects a fault at every opportunity from now on, or as the flags say. -ENOTTY: the device is no
 * model.
 */
int model_fault(const struct place *place, unsigned int code);

/* Counters of a model: their indexes in its capability (model.rst, "The test capability"). */
enum {
	COUNTER_READS = 0,
	COUNTER_WRITES = 1,
	COUNTER_INTERRUPTS = 26,
	COUNTER_RCS_INTERRUPTS = 27,
	COUNTER_VCS_INTERRUPTS = 28,
	COUNTER_BCS_INTERRUPTS = 29,
	COUNTER_RESETS = 39,
	COUNTER_LOADS = 59,
};

/* Reads a counter of a model. Returns 0 or a negative errno. -ENOTTY: the device is no model. */
int model_counter(const struct place *place, unsigned int index, __u64 *value);

/*
 * Starts random faults of all kinds, with a seed; or ends them (model.rst, "Chaos"). -ENOTTY as
 * above.
 */
enum chaos { CALM = 0x10, GENTLE = 0x20, HARD = 0x40 };
int model_chaos(const struct place *place, __u32 seed, enum chaos kind);

/*
 * Pulls a model's card, so that it reads all ones, and puts it back (model.rst, "The test
 * capability"). -ENOTTY: the device is no model. After that the bus is rescanned, and the driver
 * bound again.
 */
int model_is(const struct place *place);
int model_pull(const struct place *place);
int model_put_back(const struct place *place);

/*
 * GGMS of a Sandy Bridge or Ivy Bridge, bits 9:8 of the configuration space's word 50h: the size of
 * the GGTT in MB. 0 if it cannot be read, which takes privileges.
 */
unsigned int device_ggms(const struct place *place);

/* The registers and the GGTT of an Intel device; a driver may have it, or not. */
struct looked_at {
	/* it is held awake; false for chips that always are */
	bool awake;
	/* GGTT entries, and how many of them lead to memory */
	unsigned int entries, valid;
};

/* Maps the device's registers, and looks. -EOPNOTSUPP: it is not known where this chip has them. */
int device_look(const struct place *place, struct looked_at *seen);

/*
 * Reads registers of an Intel device at offsets in BAR 0, below 512 KiB; a driver may have the
 * device, or not. -EOPNOTSUPP: it is not Intel's.
 */
int device_registers(const struct place *place, const unsigned int *offsets, __u32 *values,
		     unsigned int count);

/* Defaults of ouro (Documentation/gpu/ouro/core.rst, "Recovery"). */
enum { HANG_MS_DEFAULT = 3000, PREEMPT_MS_DEFAULT = HANG_MS_DEFAULT / 2, SLICE_MS_DEFAULT = 5 };
/* Sets the time after which a request's engine is reset; until the driver is bound again. */
int device_hang_ms(const struct gpu *gpu, unsigned int ms);
/* Sets the time in which an engine must preempt its context; until the driver is bound again. */
int device_preempt_ms(const struct gpu *gpu, unsigned int ms);
/* Sets both, the preemption timeout to half of the hang timeout as the driver's defaults are. */
int device_limits(const struct gpu *gpu, unsigned int hang_ms);
/* Sets the timeslice of contexts of equal priority; 0: none. */
int device_slice_ms(const struct gpu *gpu, const char *engine, unsigned int ms);
/* Returns hang_ms as of the module's load, whatever was set later; or a negative errno. */
int device_loaded_hang_ms(const struct gpu *gpu);

/* Returns whether the device is wedged; or a negative errno. By debugfs, for root. */
int device_is_wedged(int fd);
/* Resets all engines as if they hung; this may revive a wedged device. */
int device_ask_for_reset(int fd);

/*
 * Returns the number of live objects after the clean-up of ended ones is complete. -ETIME: that
 * never ends.
 */
int stats_settled(int fd, struct drm_ouro_stats *stats);
/* Returns the VRAM region; its size is 0 if there is none. */
struct drm_ouro_region local_region(int fd);

/* Returns a test's number of rounds: from the environment, or a default for the running kernel. */
unsigned int rounds(const char *variable, unsigned int plain, unsigned int debug);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device under the node: how it comes and goes, and the faults that its
 * model can be told to make.
 */
#ifndef OURO_SELFTEST_DEVICE_H
#define OURO_SELFTEST_DEVICE_H

#include "gpu.h"

/* Where a device is, as sysfs names it: 0000:00:02.0 */
struct place {
	char name[32];
};

/* The device of an open node. All of these: 0 or a negative errno. */
int device_of(int fd, struct place *place);
/* Opens its render node, whatever number that has now. */
int device_open(const struct place *place, struct gpu *gpu);
/* Takes the driver away from the device; back when all of it is done. */
int device_unbind(const struct place *place);
/* Gives the device to the driver; back when its render node is there. */
int device_bind(const struct place *place);

/* Takes the device off the bus; back when nothing of it is left there. */
int device_remove(const struct place *place);
/* Finds it again; back when its render node is there. */
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
	/* may be added: once */
	FAULT_ONCE = 1 << 12,
};

/* May be added: on one engine only. */
#define FAULT_ENGINE(engine) ((engine)->model << 8)

/* Every opportunity from now on, unless it says otherwise. -ENOTTY: this device is no model. */
int model_fault(const struct place *place, unsigned int code);

/* Counters of a model: their indexes in its capability (model.rst, "The test capability"). */
enum {
	COUNTER_RCS_INTERRUPTS = 27,
	COUNTER_VCS_INTERRUPTS = 28,
	COUNTER_BCS_INTERRUPTS = 29,
	COUNTER_RESETS = 39,
};

/* What a model has counted: 0 or a negative errno. -ENOTTY: this device is no model. */
int model_counter(const struct place *place, unsigned int index, __u64 *value);

/* Faults of all kinds at random, by a seed; or no more (model.rst, "Chaos"). -ENOTTY as above. */
enum chaos { CALM = 0x10, GENTLE = 0x20, HARD = 0x40 };
int model_chaos(const struct place *place, __u32 seed, enum chaos kind);

/*
 * A model's card is pulled out: it answers all ones, until it is put back (model.rst, "The counters
 * window"). -ENOTTY: this device is no model. Then the bus is told, and the driver has it again.
 */
int model_is(const struct place *place);
int model_pull(const struct place *place);
int model_put_back(const struct place *place);

/* What ouro does by itself (Documentation/gpu/ouro/core.rst, "Recovery"). */
enum { HANG_MS_DEFAULT = 3000, PREEMPT_MS_DEFAULT = HANG_MS_DEFAULT / 2, SLICE_MS_DEFAULT = 5 };
/* How long a request may take before its engine is reset; until the driver is bound anew. */
int device_hang_ms(const struct gpu *gpu, unsigned int ms);
/* How long an engine may keep what it is asked to let go of; until the driver is bound anew. */
int device_preempt_ms(const struct gpu *gpu, unsigned int ms);
/* Both, as the driver has them by itself: half as long for that as for a request. */
int device_limits(const struct gpu *gpu, unsigned int hang_ms);
/* How long a context has an engine while others of its priority wait; 0: to its end. */
int device_slice_ms(const struct gpu *gpu, const char *engine, unsigned int ms);
/* hang_ms as the driver was loaded, whatever was set since; or a negative errno. */
int device_loaded_hang_ms(const struct gpu *gpu);

/* Whether the device was given up; or a negative errno. By debugfs, for root. */
int device_is_wedged(int fd);
/* All engines are reset, as if they hung; a device that was given up may come back. */
int device_ask_for_reset(int fd);

/* What is alive, once nothing of what has ended is under way any more. -ETIME: it never settles. */
int stats_settled(int fd, struct drm_ouro_stats *stats);
/* The device's own memory; a size of 0 if there is none. */
struct drm_ouro_region local_region(int fd);

/* A number for the length of a test: of the environment, or one for the kernel that runs. */
unsigned int rounds(const char *variable, unsigned int plain, unsigned int debug);

#endif

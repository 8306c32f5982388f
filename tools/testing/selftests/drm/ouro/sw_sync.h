/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fences that a test signals itself (drivers/dma-buf/sw_sync.c of the kernel).
 */
#ifndef SW_SYNC_H
#define SW_SYNC_H

#include <fcntl.h>
#include <linux/types.h>
#include <string.h>
#include <sys/ioctl.h>

struct sw_fence {
	__u32 value;
	char name[32];
	__s32 fence;
};

#define SW_SYNC_IOC_CREATE_FENCE _IOWR('W', 0, struct sw_fence)
#define SW_SYNC_IOC_INC _IOW('W', 1, __u32)

/* Returns a timeline at 0, or -1 if the kernel has none (CONFIG_SW_SYNC). */
static inline int sw_timeline(void)
{
	return open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC);
}

/* Returns the file of a fence that is signalled when the timeline is at 1; or -1. */
static inline int sw_fence(int timeline)
{
	struct sw_fence made = { .value = 1 };

	strcpy(made.name, "foreign");
	return ioctl(timeline, SW_SYNC_IOC_CREATE_FENCE, &made) ? -1 : made.fence;
}

/* Signals the fences. */
static inline int sw_signal(int timeline)
{
	__u32 one = 1;

	return ioctl(timeline, SW_SYNC_IOC_INC, &one);
}

#endif

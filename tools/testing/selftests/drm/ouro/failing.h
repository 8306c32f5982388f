/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failing allocations: the kernel fails the n-th allocation of this thread from now on. A kernel
 * with CONFIG_FAULT_INJECTION_USERCOPY also counts copies of user memory.
 */
#ifndef OURO_SELFTEST_FAILING_H
#define OURO_SELFTEST_FAILING_H

#include "device.h"

/* Enables fault injection. -ENOENT: the kernel was built without it. */
int failing_prepare(void);
/* Fails the n-th allocation or copy of this thread from now on, once. */
int failing_arm(unsigned int n);
/* Returns how many are left until one fails, or a negative errno. */
int failing_left(void);
/* Ends fault injection. Returns 1 if one failed, 0 if there were fewer, or a negative errno. */
int failing_disarm(void);

#endif

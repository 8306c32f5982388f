/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failing allocations: the kernel is told that the n-th one from now on, of this thread, fails. One
 * that was built with CONFIG_FAULT_INJECTION_USERCOPY counts copies of user memory as well.
 */
#ifndef OURO_SELFTEST_FAILING_H
#define OURO_SELFTEST_FAILING_H

#include "device.h"

/* Makes the kernel able to. -ENOENT: it was built without. */
int failing_prepare(void);
/* The n-th allocation or copy of this thread from now on fails, once. */
int failing_arm(unsigned int n);
/* How many are still to come before one fails, or a negative errno. */
int failing_left(void);
/* None fails any more. 1 if one did, 0 if there were not so many, or a negative errno. */
int failing_disarm(void);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks of a profile: a client executes them, and the plugin of QEMU (profile_plugin.c) counts what
 * is executed in between. They are no-ops of seven bytes with a displacement of their own,
 * nopl disp32(%rax).
 */
#ifndef OURO_BENCH_MARK_H
#define OURO_BENCH_MARK_H

/* The displacements. */
#define MARK_BEGIN 0x6f72756f
#define MARK_END 0x7072756f

static inline void mark_begin(void)
{
	asm volatile("nopl %c0(%%rax)" : : "i"(MARK_BEGIN) : "memory");
}

static inline void mark_end(void)
{
	asm volatile("nopl %c0(%%rax)" : : "i"(MARK_END) : "memory");
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks of a profile: a client executes them, and the plugin of QEMU (profile_plugin.c) counts what
 * is executed in between. They are no-ops of seven bytes with a displacement of their own,
 * nopl disp32(%rax).
 */
#ifndef OURO_BENCH_MARK_H
#define OURO_BENCH_MARK_H

#define MARK_BYTES 7
#define MARK_BEGIN "\x0f\x1f\x80\x6f\x75\x72\x6f"
#define MARK_END "\x0f\x1f\x80\x6f\x75\x72\x70"

static inline void mark_begin(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0x6f, 0x75, 0x72, 0x6f" ::: "memory");
}

static inline void mark_end(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0x6f, 0x75, 0x72, 0x70" ::: "memory");
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for QEMU: counts what the guest executes between two marks, by translated block. A mark
 * is a no-op whose displacement says what it is (mark.h). At QEMU's end FILE has a line for each
 * block that was executed, its address and the instructions executed in it:
 *
 *     qemu-system-x86_64 -plugin profile.so,out=FILE ...
 *
 * For guests with one processor.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"
#include "qemu_plugin.h"

/* The version of the interface that qemu_plugin.h declares. */
EXPORT int qemu_plugin_version = 7;

/* A translation of a block; a block is translated again when QEMU has dropped it. */
struct block {
	struct block *next;
	uint64_t address;
	uint64_t length;
	uint64_t times;
};

static struct block *blocks;
static const char *path;
/* Whether the last mark was a beginning. */
static bool is_between;

static void executed(unsigned int cpu, void *data)
{
	struct block *block = data;

	(void)cpu;
	if (is_between)
		block->times++;
}

static void begun(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	is_between = true;
}

static void ended(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	is_between = false;
}

/* nopl disp32(%rax), without the displacement. */
static const unsigned char nopl[] = { 0x0f, 0x1f, 0x80 };
enum { MARK_BYTES = sizeof(nopl) + 4 };

/* Returns the displacement of a mark, or 0 for another instruction. */
static uint32_t mark_of(const struct qemu_plugin_insn *insn)
{
	unsigned char code[MARK_BYTES];
	uint32_t displacement = 0;
	unsigned int i;

	if (qemu_plugin_insn_data(insn, code, sizeof(code)) != sizeof(code) ||
	    memcmp(code, nopl, sizeof(nopl)))
		return 0;
	for (i = MARK_BYTES; i > sizeof(nopl); i--)
		displacement = displacement << 8 | code[i - 1];
	return displacement;
}

static void translated(struct qemu_plugin_tb *tb, void *data)
{
	struct block *block = calloc(1, sizeof(*block));

	(void)data;
	if (!block)
		abort();
	block->address = qemu_plugin_tb_vaddr(tb);
	block->length = qemu_plugin_tb_n_insns(tb);
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, NO_REGS, block);
	for (size_t n = 0; n < block->length; n++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n);

		switch (mark_of(insn)) {
		case MARK_BEGIN:
			qemu_plugin_register_vcpu_insn_exec_cb(insn, begun, NO_REGS, NULL);
			break;
		case MARK_END:
			qemu_plugin_register_vcpu_insn_exec_cb(insn, ended, NO_REGS, NULL);
			break;
		}
	}
}

static void leave(void *data)
{
	FILE *out = fopen(path, "w");

	(void)data;
	if (!out) {
		perror(path);
		return;
	}
	for (struct block *block = blocks; block; block = block->next)
		if (block->times)
			fprintf(out, "%016llx %llu\n", (unsigned long long)block->address,
				(unsigned long long)(block->length * block->times));
	fclose(out);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "profile: out=FILE is wanted\n");
		return 1;
	}
	path = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
	qemu_plugin_register_atexit_cb(id, leave, NULL);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for QEMU: counts what the guest executes between two marks, by translated block. A mark
 * is a no-op whose displacement says what it is (measure.h). At QEMU's end FILE has a line for each
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

static void translated(struct qemu_plugin_tb *tb, void *data)
{
	struct block *block = calloc(1, sizeof(*block));
	unsigned char code[MARK_BYTES];

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

		if (qemu_plugin_insn_data(insn, code, sizeof(code)) != sizeof(code))
			continue;
		if (!memcmp(code, MARK_BEGIN, sizeof(code)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, begun, NO_REGS, NULL);
		else if (!memcmp(code, MARK_END, sizeof(code)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, ended, NO_REGS, NULL);
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

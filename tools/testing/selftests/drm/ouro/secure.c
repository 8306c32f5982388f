// SPDX-License-Identifier: GPL-2.0
/*
 * I915_EXEC_SECURE: batches with privilege, on chips whose batches of users may
 * store nothing by MI commands. Who is DRM master with CAP_SYS_ADMIN may send
 * them, on any engine: the only way to have Gen4's video engine store.
 *
 * MI_STORE_DATA_IMM with bit 22, to the global table: G45 PRM Vol 1b §1.16,
 * §2.5 for the video engine.
 */
#include <fcntl.h>

#define TOPIC secure
#define ANY_I915
#include "test.h"
#include "card.h"

enum { STORE = 0x10400002 };

static const struct {
	const char *name;
	__u64 ring;
	int has;
} rings[] = {
	{ "rcs0", I915_EXEC_RENDER, I915_PARAM_HAS_GEM },
	{ "vcs0", I915_EXEC_BSD, I915_PARAM_HAS_BSD },
};

/* The batch stores 32 bits; 0 or a negative errno. */
static int store_mi(int fd, const struct backend *be, __u64 flags, __u32 target, __u32 value)
{
	struct batch b;

	batch_init(&b);
	b.words[b.n++] = STORE;
	b.words[b.n++] = 0;
	batch_address(&b, target, 0, true, I915_GEM_DOMAIN_INSTRUCTION);
	b.words[b.n++] = value;
	batch_end(&b, be);
	return batch_run(fd, &b, flags, 0);
}

TEST_F(secure, the_master_stores_on_each_engine)
{
	const struct backend *be = self->gpu.backend;
	unsigned int i;
	int card;

	if (getparam(self->fd, I915_PARAM_HAS_SECURE_BATCHES) != 1)
		SKIP(return, "no batch runs with privilege because its sender asks for it");
	card = open_card("i915");
	if (card < 0)
		SKIP(return, "there is no primary node");
	for (i = 0; i < ARRAY_LEN(rings); i++) {
		__u32 target = gem_create(card, PAGE);

		if (getparam(card, rings[i].has) != 1)
			continue;
		cover("DRM_IOCTL_I915_GEM_EXECBUFFER2");
		EXPECT_EQ(0, store_mi(card, be, rings[i].ring | I915_EXEC_SECURE, target,
				      0x5ec0 + i));
		EXPECT_EQ(0x5ec0 + i, gem_read32(card, target, 0))
		{
			TH_LOG("%s", rings[i].name);
		}
		/* no file of a render node is the master */
		target = gem_create(self->fd, PAGE);
		EXPECT_EQ(-EPERM, store_mi(self->fd, be, rings[i].ring | I915_EXEC_SECURE, target,
					   1));
		EXPECT_EQ(0, gem_read32(self->fd, target, 0));
	}
	/* after DROP_MASTER the file may not submit secure batches */
	GOOD(card, DRM_IOCTL_DROP_MASTER, NULL);
	EXPECT_EQ(-EPERM, store_mi(card, be, I915_EXEC_RENDER | I915_EXEC_SECURE,
				   gem_create(card, PAGE), 1));
	close(card);
}

TEST_HARNESS_MAIN

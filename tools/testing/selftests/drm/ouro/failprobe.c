// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation of a probe is failed in turn, until a probe has none left to
 * fail. The driver must then not have the device, or do without; and whatever it
 * was, the next probe must succeed, with a device that works and that has not been
 * used. What is left behind is for kmemleak and the DMA debugging to say.
 *
 * OURO_PROBES is how many of them are failed, spread over all; 0 for each one. Without
 * it nothing is done: allocations of the kernel's own fail as well, of its buses,
 * interrupts and files, and not all of that is ready for it.
 */
#include <fcntl.h>
#include <stdio.h>

#define ANY_I915
#include "test.h"
#include "failing.h"

#define DRIVER "/sys/bus/pci/drivers/ouro/"

FIXTURE(failprobe)
{
	struct gpu gpu;
	struct place place;
};

FIXTURE_SETUP(failprobe)
{
	char path[96];
	int got, fd;

	if (!getenv("OURO_PROBES"))
		SKIP(return, "OURO_PROBES is not set: it says how many allocations fail");
	gpu_setup(_metadata, &self->gpu);
	if (!self->gpu.ouro)
		SKIP(return, "the driver is not ours to unbind: it has no DRM_IOCTL_OURO_DEVICE");
	got = failing_prepare();
	if (got == -ENOENT)
		SKIP(return, "the kernel was built without fault injection");
	ASSERT_EQ(0, got);
	ASSERT_EQ(0, device_of(self->gpu.fd, &self->place));
	gpu_close(&self->gpu);
	ASSERT_EQ(0, device_unbind(&self->place));
	/*
	 * The bus has enabled it already: ACPI's interrupt routing uses memory that it has
	 * freed, if it gets none.
	 */
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/enable", self->place.name);
	fd = open(path, O_WRONLY);
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, write(fd, "1", 1));
	close(fd);
}

FIXTURE_TEARDOWN(failprobe)
{
}

/*
 * Binds the device by hand, in this very task, with the n-th allocation failing; 0 or a negative
 * errno. Returns whether there was one.
 */
static bool bind_failing(struct __test_metadata *_metadata, const struct place *place,
			 unsigned int n, int *said)
{
	int fd = open(DRIVER "bind", O_WRONLY), failed;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, failing_arm(n));
	*said = write(fd, place->name, strlen(place->name)) < 0 ? -errno : 0;
	failed = failing_disarm();
	ASSERT_LE(0, failed);
	close(fd);
	return failed;
}

static bool is_bound(const struct place *place)
{
	char path[96];

	snprintf(path, sizeof(path), DRIVER "%s", place->name);
	return access(path, F_OK) == 0;
}

/* It works, and what there is, is of this file and the kernel's. */
static void works(struct __test_metadata *_metadata, const struct place *place)
{
	struct drm_ouro_stats stats;
	struct gpu gpu;
	__u32 handle;
	unsigned int i;

	ASSERT_EQ(0, device_open(place, &gpu));
	handle = gem_create(gpu.fd, PAGE);
	for (i = 0; i < gpu.n_engines; i++) {
		ASSERT_EQ(0, store(&gpu, &gpu.engines[i], 0, handle, 8 * i, 0x900d + i));
		EXPECT_EQ(0x900d + i, gem_read32(gpu.fd, handle, 8 * i));
	}
	gem_close(gpu.fd, handle);
	ASSERT_EQ(0, stats_settled(gpu.fd, &stats));
	EXPECT_EQ(2, stats.contexts);
	EXPECT_EQ(0, stats.resets);
	gpu_close(&gpu);
}

/* As long as some hundred probes on the debug kernel take. */
enum { LIMIT = 3600 };

/* One probe; what it made is undone. Returns whether it had an n-th allocation. */
static bool probe(struct __test_metadata *_metadata, const struct place *place, unsigned int n,
		  unsigned int *failed, unsigned int *refused)
{
	bool there;
	int said;

	there = bind_failing(_metadata, place, n, &said);
	EXPECT_TRUE(said == 0 || said == -ENOMEM)
	{
		TH_LOG("allocation %u: %s", n, strerror(-said));
	}
	EXPECT_EQ(said == 0, is_bound(place))
	{
		TH_LOG("allocation %u: %s", n, strerror(-said));
	}
	if (is_bound(place))
		ASSERT_EQ(0, device_unbind(place));
	*failed += there;
	*refused += said != 0;
	if (!there)
		ASSERT_EQ(0, said);
	/* now and then, that nothing of all this is in the way */
	if (*failed % 16 == 0) {
		ASSERT_EQ(0, device_bind(place));
		works(_metadata, place);
		ASSERT_EQ(0, device_unbind(place));
	}
	return there;
}

TEST_F_TIMEOUT(failprobe, each_allocation, LIMIT + 10)
{
	unsigned int most = rounds("OURO_PROBES", 40, 40), all = 64, step, n;
	unsigned int failed = 0, refused = 0;
	const struct place *place = &self->place;

	alarm(LIMIT);
	/* how many there are, about */
	while (probe(_metadata, place, all, &failed, &refused)) {
		all *= 2;
		ASSERT_GT(1 << 20, all);
	}
	step = most ? all / most + 1 : 1;
	for (n = 1; probe(_metadata, place, n, &failed, &refused); n += step)
		;
	ASSERT_EQ(0, device_bind(place));
	works(_metadata, place);
	/* a kernel that fails none would pass all the above */
	EXPECT_LT(0, refused);
	printf("# cover: allocations of probes failed: %u of about %u, of them done without: %u\n",
	       failed, n - 1, failed - refused);
	fflush(stdout);
}

TEST_HARNESS_MAIN

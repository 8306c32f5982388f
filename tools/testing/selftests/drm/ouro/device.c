// SPDX-License-Identifier: GPL-2.0
/* The device under the node: see device.h. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "device.h"

#define DRIVER "/sys/bus/pci/drivers/ouro/"
#define DEVICES "/sys/bus/pci/devices/"

/* The window of a model in its configuration space, and what says that it is one. */
enum {
	WINDOW_SIGNATURE = 0xb4,
	WINDOW_INDEX = 0xb8,
	WINDOW_LOW = 0xbc,
	WINDOW_HIGH = 0xc0,
	WINDOW_CONTROL = 0xc4,
	WINDOW_FAULT = 0xc8,
	WINDOW_VALUE = 0xcc,
	SIGNATURE = 0x4d555047,
};

/* What is written to the control word. */
enum { PULL = 0x80, PUT_BACK = 0x8 };

int device_of(int fd, struct place *place)
{
	char path[64], target[256];
	const char *name;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(st.st_rdev),
		 minor(st.st_rdev));
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = 0;
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (strlen(name) >= sizeof(place->name))
		return -ENAMETOOLONG;
	strcpy(place->name, name);
	return 0;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), got;

	if (fd < 0)
		return -errno;
	got = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return got;
}

int device_unbind(const struct place *place)
{
	return write_text(DRIVER "unbind", place->name);
}

/* Writes the path of the device's render node, if it has one. */
static bool node_of(const struct place *place, char *node, size_t size)
{
	char path[128];
	int minor;

	/* 128 to 191 are render nodes */
	for (minor = 128; minor < 192; minor++) {
		snprintf(path, sizeof(path), DEVICES "%s/drm/renderD%d", place->name, minor);
		snprintf(node, size, "/dev/dri/renderD%d", minor);
		if (!access(path, F_OK) && !access(node, R_OK | W_OK))
			return true;
	}
	return false;
}

static bool has_node(const struct place *place)
{
	char node[64];

	return node_of(place, node, sizeof(node));
}

int device_open(const struct place *place, struct gpu *gpu)
{
	char node[64];

	if (!node_of(place, node, sizeof(node)))
		return -ENODEV;
	/* what this process opens from here on, too */
	setenv("OURO_NODE", node, 1);
	return gpu_open(gpu);
}

static int wait_for_node(const struct place *place)
{
	unsigned int i;

	for (i = 0; !has_node(place); i++) {
		if (i == 6000)
			return -ETIME;
		usleep(10000);
	}
	return 0;
}

int device_bind(const struct place *place)
{
	int got = write_text(DRIVER "bind", place->name);

	return got ? got : wait_for_node(place);
}

int model_fault(const struct place *place, unsigned int code)
{
	char path[128];
	__u32 word = 0;
	int fd, got = 0;

	snprintf(path, sizeof(path), DEVICES "%s/%s", place->name, "config");
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	if (pread(fd, &word, 4, WINDOW_SIGNATURE) != 4 || word != SIGNATURE)
		got = -ENOTTY;
	/* any engine, no skip, times without end: all zero */
	word = code;
	if (!got && pwrite(fd, &word, 4, WINDOW_FAULT) != 4)
		got = -EIO;
	close(fd);
	return got;
}

int model_counter(const struct place *place, unsigned int index, __u64 *value)
{
	char path[128];
	__u32 word = 0, high = 0;
	int fd, got = 0;

	snprintf(path, sizeof(path), DEVICES "%s/%s", place->name, "config");
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	if (pread(fd, &word, 4, WINDOW_SIGNATURE) != 4 || word != SIGNATURE)
		got = -ENOTTY;
	word = index;
	if (!got && (pwrite(fd, &word, 4, WINDOW_INDEX) != 4 ||
		     pread(fd, &word, 4, WINDOW_LOW) != 4 || pread(fd, &high, 4, WINDOW_HIGH) != 4))
		got = -EIO;
	close(fd);
	*value = (__u64)high << 32 | word;
	return got;
}

/* Reads a number of the device's, in hexadecimal. */
static int number_of(const struct place *place, const char *name, unsigned int *number)
{
	char path[128];
	FILE *file;
	int got;

	snprintf(path, sizeof(path), DEVICES "%s/%s", place->name, name);
	file = fopen(path, "r");
	if (!file)
		return -errno;
	got = fscanf(file, "%x", number) == 1 ? 0 : -EIO;
	fclose(file);
	return got;
}

unsigned int device_ggms(const struct place *place)
{
	char path[128];
	__u16 ggc = 0;
	int fd;

	snprintf(path, sizeof(path), DEVICES "%s/config", place->name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	/* without privileges, the file ends at 40h */
	if (pread(fd, &ggc, sizeof(ggc), 0x50) != sizeof(ggc))
		ggc = 0;
	close(fd);
	return ggc >> 8 & 3;
}

/* Which register has the size of a chip's GGTT; WINDOW: none, it fills its window in BAR 0. */
enum sized_by { WINDOW, PGTBL, GGMS };

/*
 * Per chip: offset and entry size of the GGTT in BAR 0, and the forcewake acknowledge register
 * (i915).
 */
static const struct chip {
	unsigned int first, last, table, entry_bytes, awake;
	enum sized_by sized_by;
} chips[] = {
	{ 0x0102, 0x0126, 2 << 20, 4, 0x130090, GGMS },	/* Sandy Bridge */
	{ 0x0152, 0x016a, 2 << 20, 4, 0x130040, GGMS },	/* Ivy Bridge */
	{ 0x2972, 0x29a2, 512 << 10, 4, 0, PGTBL },	/* 965 */
	{ 0x2a02, 0x2a12, 512 << 10, 4, 0, PGTBL },	/* 965GM */
	{ 0x2a42, 0x2a42, 2 << 20, 4, 0, PGTBL },	/* GM45 */
	{ 0x2e02, 0x2e92, 2 << 20, 4, 0, PGTBL },	/* G45 */
	{ 0x5690, 0x56c2, 8 << 20, 8, 0x130044, WINDOW },	/* DG2 */
};

/*
 * Bytes of the table. Its window in BAR 0 may be larger, and each read behind the table's end is a
 * message to the model. Gen4 has the size in bits 3:1 of PGTBL_CTL (2020h).
 */
static unsigned int table_size(const struct place *place, const struct chip *chip, const __u32 *bar)
{
	static const unsigned int kib[8] = { 512, 256, 128, 1024, 2048, 1536 };

	switch (chip->sized_by) {
	case PGTBL:
		return kib[bar[0x2020 / 4] >> 1 & 7] << 10;
	case GGMS:
		/* 0 and 3 are no sizes */
		return device_ggms(place) == 1 ? 1 << 20 : chip->table;
	case WINDOW:
		break;
	}
	return chip->table;
}

/* Bit 0 of the acknowledge, until the domain sleeps after its release. */
static bool is_awake(const __u32 *answer)
{
	unsigned int i;

	for (i = 0; i < 100 && __atomic_load_n(answer, __ATOMIC_RELAXED) & 1; i++)
		usleep(1000);
	return i == 100;
}

/* Between the ends of the table each seventh pair is read, for seven: to read all takes seconds. */
enum { STRIDE = 7 };

int device_look(const struct place *place, struct looked_at *seen)
{
	unsigned int vendor, id, i, size, begin, end, whole, step, n;
	const struct chip *chip = NULL;
	const __u32 *bar;
	char path[128];
	int got, fd;

	got = number_of(place, "vendor", &vendor);
	if (!got)
		got = number_of(place, "device", &id);
	if (got)
		return got;
	for (i = 0; i < sizeof(chips) / sizeof(*chips); i++)
		if (vendor == 0x8086 && id >= chips[i].first && id <= chips[i].last)
			chip = &chips[i];
	if (!chip)
		return -EOPNOTSUPP;
	size = 2 * chip->table;
	snprintf(path, sizeof(path), DEVICES "%s/resource0", place->name);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	bar = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	got = bar == MAP_FAILED ? -errno : 0;
	close(fd);
	if (got)
		return got;
	memset(seen, 0, sizeof(*seen));
	seen->awake = chip->awake && is_awake(bar + chip->awake / 4);
	/* eight bytes at a time: a read may be a message to the model, and waits for its answer */
	n = 8 / chip->entry_bytes;
	begin = chip->table / 8;
	end = begin + table_size(place, chip, bar) / 8;
	whole = (end - begin) / 16;
	for (i = begin; i < end; i += step) {
		__u64 entries = __atomic_load_n((const __u64 *)bar + i, __ATOMIC_RELAXED);

		/* behind the end of a smaller table there are ones, which take minutes to read */
		if ((__u32)entries == ~0u)
			break;
		step = i < begin + whole || i >= end - whole ? 1 : STRIDE;
		seen->entries += step * n;
		seen->valid += step * ((entries & 1) + (n == 2 ? entries >> 32 & 1 : 0));
	}
	munmap((void *)bar, size);
	return seen->entries ? 0 : -EIO;
}

int device_registers(const struct place *place, const unsigned int *offsets, __u32 *values,
		     unsigned int count)
{
	const size_t size = 512 << 10;
	unsigned int vendor, i;
	const __u32 *bar;
	char path[128];
	int got, fd;

	got = number_of(place, "vendor", &vendor);
	if (got)
		return got;
	if (vendor != 0x8086)
		return -EOPNOTSUPP;
	snprintf(path, sizeof(path), DEVICES "%s/resource0", place->name);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	bar = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	got = bar == MAP_FAILED ? -errno : 0;
	close(fd);
	if (got)
		return got;
	for (i = 0; i < count; i++)
		values[i] = __atomic_load_n(bar + offsets[i] / 4, __ATOMIC_RELAXED);
	munmap((void *)bar, size);
	return 0;
}

/* A file of an engine. */
static int file_of(const struct gpu *gpu, const char *engine, const char *name, char *path,
		   size_t size)
{
	struct stat st;

	if (fstat(gpu->fd, &st))
		return -errno;
	/* primary nodes have the numbers from 0, render nodes those from 128 */
	snprintf(path, size, "/sys/class/drm/card%u/engine/%s/%s",
		 minor(st.st_rdev) & 63, engine, name);
	return 0;
}

/* One of the first engine, where it does not matter which. */
static int engine_file(const struct gpu *gpu, const char *name, char *path, size_t size)
{
	return file_of(gpu, gpu->engines[0].name, name, path, size);
}

int device_slice_ms(const struct gpu *gpu, const char *engine, unsigned int ms)
{
	char path[128], text[16];
	int got = file_of(gpu, engine, "timeslice_duration_ms", path, sizeof(path));

	snprintf(text, sizeof(text), "%u", ms);
	return got ? got : write_text(path, text);
}

int device_hang_ms(const struct gpu *gpu, unsigned int ms)
{
	char path[128], text[16];
	int got = engine_file(gpu, "heartbeat_interval_ms", path, sizeof(path));

	/* a request may take five heartbeats (uapi.rst) */
	snprintf(text, sizeof(text), "%u", ms / 5);
	return got ? got : write_text(path, text);
}

int device_preempt_ms(const struct gpu *gpu, unsigned int ms)
{
	char path[128], text[16];
	int got = engine_file(gpu, "preempt_timeout_ms", path, sizeof(path));

	snprintf(text, sizeof(text), "%u", ms);
	return got ? got : write_text(path, text);
}

int device_limits(const struct gpu *gpu, unsigned int hang_ms)
{
	int got = device_hang_ms(gpu, hang_ms);

	if (!got)
		got = device_preempt_ms(gpu, hang_ms / 2);
	/* engines without lists cannot be asked */
	return got == -ENOENT ? 0 : got;
}

int device_loaded_hang_ms(const struct gpu *gpu)
{
	char path[128], text[16] = "";
	int got = engine_file(gpu, ".defaults/heartbeat_interval_ms", path, sizeof(path)), fd;

	if (got)
		return got;
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof(text) - 1) < 0 ? -errno : 5 * (int)strtoul(text, NULL, 10);
	close(fd);
	return got;
}

static int config(const struct place *place, bool write, unsigned int offset, __u32 *word)
{
	char path[128];
	ssize_t done;
	int fd;

	snprintf(path, sizeof(path), DEVICES "%s/%s", place->name, "config");
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	done = write ? pwrite(fd, word, 4, offset) : pread(fd, word, 4, offset);
	close(fd);
	return done == 4 ? 0 : -EIO;
}

int model_is(const struct place *place)
{
	__u32 word = 0;
	int got = config(place, false, WINDOW_SIGNATURE, &word);

	return got ? got : word == SIGNATURE ? 0 : -ENOTTY;
}

int model_chaos(const struct place *place, __u32 seed, enum chaos kind)
{
	__u32 word = kind;
	int got = model_is(place);

	if (!got)
		got = config(place, true, WINDOW_VALUE, &seed);
	return got ? got : config(place, true, WINDOW_CONTROL, &word);
}

int model_pull(const struct place *place)
{
	__u32 word = PULL;
	int got = model_is(place);

	return got ? got : config(place, true, WINDOW_CONTROL, &word);
}

int device_remove(const struct place *place)
{
	char path[128];

	snprintf(path, sizeof(path), DEVICES "%s/remove", place->name);
	return write_text(path, "1");
}

int device_rescan(const struct place *place)
{
	int got = write_text("/sys/bus/pci/rescan", "1");

	return got ? got : wait_for_node(place);
}

int model_put_back(const struct place *place)
{
	__u32 word = PUT_BACK;
	int got = config(place, true, WINDOW_CONTROL, &word);

	/* it has forgotten its BARs: the bus scans it again */
	if (!got)
		got = device_remove(place);
	return got ? got : device_rescan(place);
}

/* i915_wedged of the device. */
static int wedged_file(int fd, int flags)
{
	struct stat st;
	char path[64];

	if (fstat(fd, &st))
		return -errno;
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/i915_wedged", minor(st.st_rdev));
	fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

int device_is_wedged(int fd)
{
	int file = wedged_file(fd, O_RDONLY), got;
	char text[8] = {};

	if (file < 0)
		return file;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	return got == 2 ? text[0] - '0' : -EIO;
}

int device_ask_for_reset(int fd)
{
	int file = wedged_file(fd, O_WRONLY), got;

	if (file < 0)
		return file;
	got = write(file, "-1", 2);
	close(file);
	return got == 2 ? 0 : -EIO;
}

struct drm_ouro_region local_region(int fd)
{
	struct drm_ouro_region regions[4] = {};
	struct drm_ouro_list list = { .ptr = U64(regions),
				      .count = ARRAY_LEN(regions),
				      .stride = sizeof(regions[0]) };
	struct drm_ouro_region none = {};
	unsigned int i;

	if (call(fd, DRM_IOCTL_OURO_REGIONS, &list))
		return none;
	for (i = 0; i < list.count && i < ARRAY_LEN(regions); i++)
		if (regions[i].kind == 1)
			return regions[i];
	return none;
}

int stats_settled(int fd, struct drm_ouro_stats *stats)
{
	struct drm_ouro_stats last = {};
	unsigned int same = 0, i;
	int got;

	/* An idle device has nothing to retire; what goes late goes within a few looks. */
	for (i = 0; i < 12000; i++) {
		memset(stats, 0, sizeof(*stats));
		got = call(fd, DRM_IOCTL_OURO_STATS, stats);
		if (got)
			return got;
		if (!stats->fences && stats->objects == last.objects &&
		    stats->object_pages == last.object_pages && stats->contexts == last.contexts)
			same++;
		else
			same = 0;
		if (same == 3)
			return 0;
		last = *stats;
		usleep(5000);
	}
	return -ETIME;
}

unsigned int rounds(const char *variable, unsigned int plain, unsigned int debug)
{
	const char *kernel = getenv("OURO_KERNEL"), *text = getenv(variable);

	if (text)
		return strtoul(text, NULL, 0);
	return kernel && !strcmp(kernel, "debug") ? debug : plain;
}

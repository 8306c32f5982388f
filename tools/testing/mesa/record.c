// SPDX-License-Identifier: GPL-2.0
/*
 * Writes down the streams that a program sends to a device that speaks radeon: a library for
 * LD_PRELOAD, with OURO_RECORD the file. Streams that are the same but for the handles of the
 * objects are written once. OURO_RECORD_MOST is how many at the most, 200 if not given.
 *
 * Text, a thing a line, numbers in hexadecimal. A stream is its objects, one for each relocation
 * and in their order, then its dwords as they came from user space, then what the kernel said (0,
 * or an errno):
 *   object SIZE TILING PITCH READ-DOMAINS WRITE-DOMAIN
 *   dwords D D D ...
 *   answer N
 * SIZE is in bytes; TILING and PITCH are what SET_TILING has said of the object.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <drm/drm.h>
#include <drm/radeon_drm.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANDLES 65536
#define SEEN 4096

struct object {
	uint64_t size;
	uint32_t tiling, pitch;
};

static struct object objects[HANDLES];
static uint64_t seen[SEEN];
static unsigned int streams;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct object *object(uint32_t handle)
{
	return &objects[handle % HANDLES];
}

/* FNV-1a. */
static uint64_t hash(uint64_t value, const void *data, size_t size)
{
	const unsigned char *byte = data;

	while (size--)
		value = (value ^ *byte++) * 0x100000001b3ull;
	return value;
}

static const struct drm_radeon_cs_chunk *chunk(const struct drm_radeon_cs *cs, uint32_t id)
{
	const uint64_t *pointers = (void *)(uintptr_t)cs->chunks;
	uint32_t i;

	for (i = 0; i < cs->num_chunks; i++) {
		const struct drm_radeon_cs_chunk *one = (void *)(uintptr_t)pointers[i];

		if (one->chunk_id == id)
			return one;
	}
	return NULL;
}

/* True for one that was not there before; at most as many as there is room for. */
static int is_new(uint64_t key)
{
	const char *most = getenv("OURO_RECORD_MOST");
	unsigned int i, room = most ? strtoul(most, NULL, 10) : 200;

	if (streams >= room || streams >= SEEN)
		return 0;
	for (i = 0; i < streams; i++)
		if (seen[i] == key)
			return 0;
	seen[streams++] = key;
	return 1;
}

static void record(const struct drm_radeon_cs *cs, int answer)
{
	const struct drm_radeon_cs_chunk *ib = chunk(cs, RADEON_CHUNK_ID_IB);
	const struct drm_radeon_cs_chunk *relocs = chunk(cs, RADEON_CHUNK_ID_RELOCS);
	const struct drm_radeon_cs_reloc *reloc;
	uint32_t i, count = relocs ? relocs->length_dw / 4 : 0;
	uint64_t key = 0xcbf29ce484222325ull;
	const uint32_t *dwords;
	FILE *file;

	if (!ib)
		return;
	reloc = relocs ? (void *)(uintptr_t)relocs->chunk_data : NULL;
	dwords = (void *)(uintptr_t)ib->chunk_data;
	key = hash(key, dwords, ib->length_dw * 4ul);
	for (i = 0; i < count; i++)
		key = hash(key, object(reloc[i].handle), sizeof(struct object));
	if (!is_new(key))
		return;
	file = fopen(getenv("OURO_RECORD"), "a");
	if (!file)
		return;
	for (i = 0; i < count; i++) {
		const struct object *one = object(reloc[i].handle);

		fprintf(file, "object %llx %x %x %x %x\n", (unsigned long long)one->size,
			one->tiling, one->pitch, reloc[i].read_domains, reloc[i].write_domain);
	}
	fprintf(file, "dwords");
	for (i = 0; i < ib->length_dw; i++)
		fprintf(file, " %x", dwords[i]);
	fprintf(file, "\nanswer %x\n", answer);
	fclose(file);
}

static void look(unsigned long request, const void *arg, int answer)
{
	const struct drm_radeon_gem_create *create = arg;
	const struct drm_radeon_gem_set_tiling *tiling = arg;
	const struct drm_prime_handle *prime = arg;

	switch (request) {
	case DRM_IOCTL_RADEON_GEM_CREATE:
		if (!answer)
			*object(create->handle) = (struct object){ create->size, 0, 0 };
		break;
	case DRM_IOCTL_PRIME_FD_TO_HANDLE:
		if (!answer && !object(prime->handle)->size)
			object(prime->handle)->size = lseek(prime->fd, 0, SEEK_END);
		break;
	case DRM_IOCTL_RADEON_GEM_SET_TILING:
		if (!answer) {
			object(tiling->handle)->tiling = tiling->tiling_flags;
			object(tiling->handle)->pitch = tiling->pitch;
		}
		break;
	case DRM_IOCTL_RADEON_CS:
		record(arg, answer);
		break;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int fd, unsigned long request, void *arg);
	va_list list;
	void *arg;
	int got, error;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	if (!next)
		next = dlsym(RTLD_NEXT, "ioctl");
	got = next(fd, request, arg);
	error = errno;
	if (getenv("OURO_RECORD") && (got >= 0 || (error != EINTR && error != EAGAIN))) {
		pthread_mutex_lock(&lock);
		look((unsigned int)request, arg, got < 0 ? error : 0);
		pthread_mutex_unlock(&lock);
	}
	errno = error;
	return got;
}

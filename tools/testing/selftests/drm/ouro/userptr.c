// SPDX-License-Identifier: GPL-2.0
/* DRM_IOCTL_I915_GEM_USERPTR: objects that are memory of the process. */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#define TOPIC userptr
#define ANY_I915
#include "test.h"

static int make(int fd, const void *memory, __u64 size, __u32 flags, __u32 *handle)
{
	struct drm_i915_gem_userptr arg = { .user_ptr = U64(memory),
					    .user_size = size,
					    .flags = flags };
	int got = call(fd, DRM_IOCTL_I915_GEM_USERPTR, &arg);

	cover("DRM_IOCTL_I915_GEM_USERPTR");
	*handle = got ? 0 : arg.handle;
	return got;
}

static void *memory_at(void *address, __u64 size)
{
	void *map = mmap(address, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0), -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

static int gpu_store(const struct gpu *gpu, unsigned int i, __u32 handle, __u32 offset, __u32 value)
{
	return store(gpu, &gpu->engines[i % gpu->n_engines], 0, handle, offset, value);
}

/* Waits until the GPU is done with it, and looks for its memory where a call does only that. */
static int look_for(const struct gpu *gpu, __u32 handle)
{
	struct drm_i915_gem_set_domain set = { .handle = handle,
					       .read_domains = I915_GEM_DOMAIN_CPU };

	if (gpu->speaks != &i915)
		return gem_wait(gpu->fd, handle, -1);
	cover("DRM_IOCTL_I915_GEM_SET_DOMAIN");
	return call(gpu->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &set);
}

TEST_F(userptr, arguments)
{
	void *memory = memory_at(NULL, 64 * PAGE);
	__u32 gem = gem_create(self->fd, PAGE), handle;
	void *mapped = gem_map(self->fd, gem, PAGE, I915_MMAP_OFFSET_WB);
	const struct {
		__u64 address, size;
		__u32 flags;
		int error;
	} cases[] = {
		{ U64(memory), 0, 0, EINVAL },
		{ U64(memory), PAGE - 1, 0, EINVAL },
		{ U64(memory), PAGE + 8, 0, EINVAL },
		{ U64(memory) + 8, PAGE, 0, EINVAL },
		{ U64(memory), ~0ull - PAGE + 1, 0, E2BIG },
		{ ~0ull - PAGE + 1, PAGE, 0, EFAULT },
		{ KERNEL_POINTER, PAGE, 0, EFAULT },
		{ U64(memory), PAGE, 1 << 2, EINVAL },
		{ U64(memory), PAGE, 1 << 30, EINVAL },
		/* the range is looked at before what the chip cannot do */
		{ U64(memory), 0, I915_USERPTR_UNSYNCHRONIZED, EINVAL },
		{ KERNEL_POINTER, PAGE, I915_USERPTR_UNSYNCHRONIZED, EFAULT },
		{ U64(memory), PAGE, I915_USERPTR_UNSYNCHRONIZED, ENODEV },
		{ BAD_POINTER, PAGE, I915_USERPTR_PROBE, EFAULT },
		{ U64(memory), 64 * PAGE, I915_USERPTR_PROBE, EFAULT },
		{ U64(mapped), PAGE, I915_USERPTR_PROBE, EFAULT },
	};
	unsigned int i;

	ASSERT_NE(NULL, memory);
	ASSERT_NE(NULL, mapped);
	/* nothing is behind the first four pages */
	munmap((char *)memory + 4 * PAGE, 60 * PAGE);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct drm_i915_gem_userptr arg = { .user_ptr = cases[i].address,
						    .user_size = cases[i].size,
						    .flags = cases[i].flags };

		BAD(self->fd, DRM_IOCTL_I915_GEM_USERPTR, &arg, cases[i].error);
	}
	BAD(self->fd, DRM_IOCTL_I915_GEM_USERPTR, NULL, EFAULT);
	if (!self->gpu.backend->has_read_only_pages)
		EXPECT_EQ(-ENODEV, make(self->fd, memory, PAGE, I915_USERPTR_READ_ONLY, &handle));
	EXPECT_EQ(1, getparam(self->fd, I915_PARAM_HAS_USERPTR_PROBE));
	EXPECT_EQ(0, make(self->fd, memory, 4 * PAGE, I915_USERPTR_PROBE, &handle));
	EXPECT_NE(0, handle);
	/* without a probe, what is there matters when it is used */
	EXPECT_EQ(0, make(self->fd, mapped, PAGE, 0, &handle));
}

TEST_F(userptr, what_it_is_not_for)
{
	struct drm_i915_gem_mmap legacy = { .size = PAGE };
	struct drm_i915_gem_mmap_offset offset = { .flags = I915_MMAP_OFFSET_WB };
	struct drm_i915_gem_set_tiling tiling = { .tiling_mode = I915_TILING_X, .stride = 512 };
	struct drm_i915_gem_caching caching = {};
	struct drm_prime_handle prime = {};
	__u32 handle, value = 0;

	ASSERT_EQ(0, make(self->fd, memory_at(NULL, PAGE), PAGE, 0, &handle));
	legacy.handle = handle;
	offset.handle = handle;
	tiling.handle = handle;
	caching.handle = handle;
	prime.handle = handle;
	BAD(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime, EINVAL);
	if (self->gpu.speaks != &i915) {
		offset.flags = I915_MMAP_OFFSET_FIXED;
		BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset, ENODEV);
		return;
	}
	EXPECT_EQ(-EINVAL, gem_read(self->fd, handle, 0, &value, 4));
	EXPECT_EQ(-EINVAL, gem_write(self->fd, handle, 0, &value, 4));
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP, &legacy, ENXIO);
	BAD(self->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset, ENODEV);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_TILING, &tiling, ENXIO);
	BAD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching, ENXIO);
	caching.caching = I915_CACHING_CACHED;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_SET_CACHING, &caching);
	GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_CACHING, &caching);
	EXPECT_EQ(I915_CACHING_CACHED, caching.caching);
}

TEST_F(userptr, the_gpu_writes_memory_of_the_process)
{
	__u32 *memory = memory_at(NULL, 8 * PAGE), handle;
	unsigned int i;

	ASSERT_NE(NULL, memory);
	ASSERT_EQ(0, make(self->fd, memory, 8 * PAGE, 0, &handle));
	for (i = 0; i < 24; i++) {
		memory[1024 * (i % 8) + 512] = i;
		ASSERT_EQ(0, gpu_store(&self->gpu, i, handle, (i % 8) * PAGE, 0xa0 + i));
		EXPECT_EQ(0, look_for(&self->gpu, handle));
		EXPECT_EQ(0xa0 + i, peek(&memory[1024 * (i % 8)]));
		EXPECT_EQ(i, peek(&memory[1024 * (i % 8) + 512]));
	}
	EXPECT_EQ(0, gem_close(self->fd, handle));
	EXPECT_EQ(0xa0 + 23, peek(&memory[1024 * 7]));
}

/* The kernel writes addresses into it. */
TEST_F(userptr, a_batch_in_memory_of_the_process)
{
	__u32 target = gem_create(self->fd, PAGE), handle, own;
	__u32 *memory = memory_at(NULL, 4 * PAGE);
	struct drm_i915_gem_execbuffer2 eb = {};
	struct batch batch;

	ASSERT_EQ(0, make(self->fd, memory, 4 * PAGE, 0, &handle));
	batch_init(&batch);
	batch_store(&batch, store_for(&self->gpu, &self->gpu.engines[0], 4), target, 0, 0xba7c4);
	batch_end(&batch, self->gpu.backend);
	own = batch_finish(self->fd, &batch, &eb);
	memcpy(memory, batch.words, batch.n * 4);
	batch.objects[batch.n_objects - 1].handle = handle;
	eb.flags = self->gpu.engines[0].ring;
	GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb);
	EXPECT_EQ(0xba7c4, gem_read32(self->fd, target, 0));
	gem_close(self->fd, own);
}

TEST_F(userptr, memory_that_cannot_be_used)
{
	__u32 gem = gem_create(self->fd, PAGE), handle;
	void *gone = memory_at(NULL, PAGE), *constant = memory_at(NULL, PAGE);
	void *mapped = gem_map(self->fd, gem, PAGE, I915_MMAP_OFFSET_WB);
	void *bad[] = { gone, constant, mapped };
	unsigned int i;

	ASSERT_NE(NULL, mapped);
	mprotect(constant, PAGE, PROT_READ);
	munmap(gone, PAGE);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		ASSERT_EQ(0, make(self->fd, bad[i], PAGE, 0, &handle));
		EXPECT_EQ(-EFAULT, gpu_store(&self->gpu, i, handle, 0, 1));
		if (self->gpu.speaks == &i915)
			EXPECT_EQ(-EFAULT, look_for(&self->gpu, handle));
		EXPECT_EQ(0, gem_busy(self->fd, handle));
		EXPECT_EQ(0, gem_close(self->fd, handle));
	}
}

struct unmap {
	void *memory;
	__u64 size;
	int done;
};

static void *unmap(void *data)
{
	struct unmap *u = data;

	munmap(u->memory, u->size);
	__atomic_store_n(&u->done, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* The process waits for the GPU; then the object is what is mapped there next. */
TEST_F(userptr, unmapped_while_the_gpu_uses_it)
{
	unsigned int i;

	for (i = 0; i < self->gpu.n_engines; i++) {
		struct unmap u = { .memory = memory_at(NULL, 4 * PAGE), .size = 4 * PAGE };
		__u32 *memory = u.memory;
		struct spin spin;
		pthread_t thread;
		__u32 handle;

		ASSERT_EQ(0, make(self->fd, u.memory, u.size, 0, &handle));
		ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[i], 0, handle, NULL, &spin));
		ASSERT_EQ(0, pthread_create(&thread, NULL, unmap, &u));
		usleep(50000);
		EXPECT_EQ(0, __atomic_load_n(&u.done, __ATOMIC_SEQ_CST));
		spin_stop(&spin);
		pthread_join(thread, NULL);
		spin_free(&spin);
		EXPECT_EQ(-EFAULT, gpu_store(&self->gpu, i, handle, 0, 1));
		ASSERT_EQ(memory, memory_at(memory, 4 * PAGE));
		ASSERT_EQ(0, gpu_store(&self->gpu, i, handle, 8, 0x11 + i));
		EXPECT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(0x11 + i, peek(&memory[2]));
		EXPECT_EQ(0, gem_close(self->fd, handle));
		munmap(memory, 4 * PAGE);
	}
}

/*
 * Memory of the same file, and of the same huge page where there is one: no call waits for the GPU.
 */
TEST_F(userptr, memory_beside_it_is_replaced)
{
	const __u64 size = 4 << 20, middle = size / 2 - PAGE;
	int file = memfd_create("beside", MFD_CLOEXEC);
	__u32 handle, value = 0;
	struct spin spin;
	char *memory;

	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, size));
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, (void *)memory);
	madvise(memory, size, MADV_HUGEPAGE);
	ASSERT_EQ(0, make(self->fd, memory + middle, 2 * PAGE, 0, &handle));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, handle, NULL, &spin));
	EXPECT_NE(NULL, memory_at(memory, middle));
	EXPECT_NE(NULL, memory_at(memory + middle + 2 * PAGE, size - middle - 2 * PAGE));
	EXPECT_NE(0, gem_busy(self->fd, handle));
	spin_stop(&spin);
	spin_free(&spin);
	/* what is left of the mapping is still the file */
	ASSERT_EQ(0, gpu_store(&self->gpu, 0, handle, PAGE + 4, 0xbe51de));
	EXPECT_EQ(0, look_for(&self->gpu, handle));
	ASSERT_EQ(4, pread(file, &value, 4, middle + PAGE + 4));
	EXPECT_EQ(0xbe51de, value);
	EXPECT_EQ(0, gem_close(self->fd, handle));
	munmap(memory, size);
	close(file);
}

TEST_F(userptr, other_ways_to_change_memory)
{
	__u32 *memory = memory_at(NULL, 4 * PAGE), *moved;
	int status, i;
	__u32 handle;
	pid_t pid;

	ASSERT_EQ(0, make(self->fd, memory, 4 * PAGE, 0, &handle));
	for (i = 0; i < 4; i++) {
		/* other pages at the same addresses */
		ASSERT_EQ(0, gpu_store(&self->gpu, i, handle, 0, 0x100 + i));
		ASSERT_EQ(0, madvise(memory, 4 * PAGE, MADV_DONTNEED));
		EXPECT_EQ(0, peek(&memory[0]));
		ASSERT_EQ(0, gpu_store(&self->gpu, i, handle, 8, 0x200 + i));
		ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
		EXPECT_EQ(0x200 + i, peek(&memory[2]));
		EXPECT_EQ(0, peek(&memory[0]));
	}
	/* a child gets copies, and has no part in the object */
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0) {
		poke(&memory[2], 7);
		_exit(gpu_store(&self->gpu, 0, handle, 8, 0xbad) == -EFAULT ? 0 : 1);
	}
	ASSERT_EQ(0, gpu_store(&self->gpu, 0, handle, 16, 0x44));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(0x203, peek(&memory[2]));
	EXPECT_EQ(0x44, peek(&memory[4]));
	/* they move away */
	moved = mremap(memory, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       memory_at(NULL, 8 * PAGE));
	ASSERT_NE(MAP_FAILED, moved);
	EXPECT_EQ(0x44, peek(&moved[4]));
	EXPECT_EQ(-EFAULT, gpu_store(&self->gpu, 0, handle, 8, 1));
	/* and are not to be written */
	ASSERT_EQ(memory, memory_at(memory, 4 * PAGE));
	ASSERT_EQ(0, gpu_store(&self->gpu, 0, handle, 8, 0x55));
	ASSERT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(0x55, peek(&memory[2]));
	ASSERT_EQ(0, mprotect(memory, 4 * PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, gpu_store(&self->gpu, 0, handle, 8, 1));
	EXPECT_EQ(0x55, peek(&memory[2]));
}

TEST_F(userptr, no_more_than_may_be_locked)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (pid == 0) {
		struct rlimit limit = { 64 * PAGE, 64 * PAGE };
		__u32 big, small, again;

		if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresuid(65534, 65534, 65534))
			_exit(4);
		if (make(self->fd, memory_at(NULL, 128 * PAGE), 128 * PAGE, 0, &big) ||
		    make(self->fd, memory_at(NULL, 40 * PAGE), 40 * PAGE, 0, &small) ||
		    make(self->fd, memory_at(NULL, 40 * PAGE), 40 * PAGE, 0, &again))
			_exit(5);
		if (gpu_store(&self->gpu, 0, big, 0, 1) != -ENOMEM)
			_exit(6);
		if (gpu_store(&self->gpu, 0, small, 0, 1))
			_exit(7);
		if (gpu_store(&self->gpu, 0, again, 0, 1) != -ENOMEM)
			_exit(8);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_TRUE(WIFEXITED(status));
}

static void *change(void *data)
{
	struct unmap *u = data;
	unsigned int i = 0;

	while (!__atomic_load_n(&u->done, __ATOMIC_SEQ_CST)) {
		switch (i++ % 3) {
		case 0:
			madvise(u->memory, u->size, MADV_DONTNEED);
			break;
		case 1:
			memory_at(u->memory, u->size);
			break;
		case 2:
			mprotect(u->memory, u->size, PROT_READ);
			mprotect(u->memory, u->size, PROT_READ | PROT_WRITE);
			break;
		}
	}
	return NULL;
}

/* The notifier against executions: neither waits for the other without end. */
TEST_F(userptr, changed_all_the_time)
{
	struct unmap u = { .memory = memory_at(NULL, 16 * PAGE), .size = 16 * PAGE };
	__u32 *memory = u.memory, handle;
	unsigned int good = 0, i, times = rounds("OURO_ROUNDS", 100, 25);
	pthread_t thread;

	ASSERT_EQ(0, make(self->fd, u.memory, u.size, 0, &handle));
	ASSERT_EQ(0, pthread_create(&thread, NULL, change, &u));
	for (i = 0; i < times; i++) {
		int got = gpu_store(&self->gpu, i, handle, 8 * (i % 100), i);

		good += got == 0;
		EXPECT_TRUE(got == 0 || got == -EFAULT)
		{
			TH_LOG("%s", strerror(-got));
		}
	}
	__atomic_store_n(&u.done, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	TH_LOG("%u of %u ran", good, i);
	ASSERT_EQ(0, gpu_store(&self->gpu, 0, handle, 0, 0xe0d));
	EXPECT_EQ(0, gem_wait(self->fd, handle, -1));
	EXPECT_EQ(0xe0d, peek(&memory[0]));
}

TEST_F(userptr, a_process_ends_while_the_gpu_uses_its_memory)
{
	int status, ready[2];
	struct spin spin;
	char done = 0;
	pid_t pid;

	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, spin_start(&self->gpu, &self->gpu.engines[0], 0, 0, NULL, &spin));
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0) {
		struct gpu gpu;
		__u32 handle;

		done = !gpu_open(&gpu) &&
		       !make(gpu.fd, memory_at(NULL, 4 * PAGE), 4 * PAGE, 0, &handle) &&
		       !gpu_store(&gpu, 0, handle, 0, 1);
		if (write(ready[1], &done, 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(1, read(ready[0], &done, 1));
	EXPECT_EQ(1, done);
	kill(pid, SIGKILL);
	/* its memory goes when the GPU is done */
	usleep(20000);
	spin_stop(&spin);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	spin_free(&spin);
	ASSERT_EQ(0, gpu_store(&self->gpu, 0, gem_create(self->fd, PAGE), 0, 1));
}

/*
 * A process loses its memory before its files, so its contexts are not closed yet: the kernel must
 * end an endless batch, be it the one that has the memory or one that it waits for, in the same
 * ring or on another engine.
 */
TEST_F(userptr, a_process_ends_while_its_batch_does_not)
{
	enum { ITSELF, BEHIND, ELSEWHERE, WAYS };
	unsigned int how;

	if (!self->gpu.ouro)
		SKIP(return, "another driver may wait for as long as the batch likes");
	ASSERT_EQ(0, device_limits(&self->gpu, HANG_MS_DEFAULT));
	for (how = 0; how < WAYS; how++) {
		int status, ready[2];
		char done = 0;
		pid_t pid;

		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0) {
			struct spin spin;
			struct gpu gpu;
			__u32 handle, shared;

			done = !gpu_open(&gpu) &&
			       !make(gpu.fd, memory_at(NULL, 4 * PAGE), 4 * PAGE, 0, &handle);
			shared = done ? gem_create(gpu.fd, PAGE) : 0;
			done = done && !spin_start(&gpu, &gpu.engines[0], 0,
						   how == ITSELF ? handle : shared, NULL, &spin);
			/* what the spin pretends to write is written behind it, then the memory */
			if (how == ELSEWHERE)
				done = done && !gpu_store(&gpu, 1, shared, 0, 1);
			if (how != ITSELF)
				done = done && !gpu_store(&gpu, how == ELSEWHERE, handle, 0, 1);
			if (write(ready[1], &done, 1) == 1)
				pause();
			_exit(1);
		}
		ASSERT_EQ(1, read(ready[0], &done, 1));
		EXPECT_EQ(1, done);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		close(ready[0]);
		close(ready[1]);
	}
	ASSERT_EQ(0, gpu_store(&self->gpu, 0, gem_create(self->fd, PAGE), 0, 1));
}

/*
 * An object of three quarters of the addresses that there are, which is what clients take for the
 * most that they may use, has room: the kernel's own pages are not in the middle. It is one piece
 * of memory, again and again.
 */
TEST_F(userptr, three_quarters_of_all_addresses)
{
	struct drm_i915_gem_get_aperture get = {};
	__u64 piece = 8 << 20, size, at;
	struct sysinfo machine;
	__u32 handle, target = gem_create(self->fd, PAGE);
	struct drm_i915_gem_exec_object2 objects[2] = {};
	struct drm_i915_gem_execbuffer2 eb = { .buffers_ptr = U64(objects),
					       .buffer_count = 2,
					       .flags = self->gpu.engines[0].ring };
	__u32 words[2] = { self->gpu.backend->batch_end, self->gpu.backend->noop };
	int file;
	char *all;

	if (self->gpu.speaks != &i915)
		SKIP(return, "there are more addresses here than a process has");
	GOOD(self->fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &get);
	size = get.aper_size / 4 * 3 / piece * piece;
	ASSERT_EQ(0, sysinfo(&machine));
	if (size > (__u64)machine.totalram * machine.mem_unit)
		SKIP(return, "so much memory is not in this machine, and is not looked for");
	file = memfd_create("piece", 0);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, piece));
	all = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, all);
	for (at = 0; at < size; at += piece)
		ASSERT_EQ(all + at, mmap(all + at, piece, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_FIXED, file, 0));
	ASSERT_EQ(0, make(self->fd, all, size, 0, &handle));
	ASSERT_EQ(0, gem_write(self->fd, target, 0, words, sizeof(words)));
	objects[0].handle = handle;
	objects[1].handle = target;
	EXPECT_EQ(0, GOOD(self->fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &eb))
	{
		TH_LOG("%llu of %llu MiB", size >> 20, get.aper_size >> 20);
	}
	EXPECT_EQ(0, gem_wait(self->fd, target, -1));
	gem_close(self->fd, handle);
	munmap(all, size);
	close(file);
}

TEST_HARNESS_MAIN

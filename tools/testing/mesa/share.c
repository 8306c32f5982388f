// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes and one buffer, by dma-buf: one makes it and writes it, the other imports it, reads
 * it, draws to it with OpenGL and writes it, the first sees that.
 *   share GPU [NODE]    GPU: part of Mesa's name for the renderer
 */
#include <fcntl.h>
#include <gbm.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "screen.h"

#define FORMAT GBM_FORMAT_ARGB8888

struct note {
	uint32_t stride;
	uint64_t modifier;
};

static int send_buffer(int to, int fd, const struct note *note)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec words = { (void *)note, sizeof(*note) };
	struct msghdr message = {
		.msg_iov = &words, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(int));
	return sendmsg(to, &message, 0) == sizeof(*note);
}

static int receive_buffer(int from, struct note *note)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec words = { note, sizeof(*note) };
	struct msghdr message = {
		.msg_iov = &words, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(from, &message, 0) == sizeof(*note) && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return fd;
}

static uint32_t pattern(uint32_t seed, uint32_t x, uint32_t y)
{
	return (y * SIDE + x + seed) * 2654435761u;
}

/* Writes the pattern, or compares with it; by a mapping of GBM. */
static int touch(struct gbm_bo *bo, uint32_t seed, int write)
{
	uint32_t stride, x, y, good = 1;
	void *state = NULL;
	char *map = gbm_bo_map(bo, 0, 0, SIDE, SIDE,
			       write ? GBM_BO_TRANSFER_WRITE : GBM_BO_TRANSFER_READ, &stride,
			       &state);

	if (!map)
		return 0;
	for (y = 0; y < SIDE; y++) {
		uint32_t *row = (uint32_t *)(map + y * stride);

		for (x = 0; x < SIDE; x++) {
			if (write)
				row[x] = pattern(seed, x, y);
			else if (row[x] != pattern(seed, x, y))
				good = 0;
		}
	}
	gbm_bo_unmap(bo, state);
	return good;
}

/* Reads the buffer, and judges it where that can be done. */
static void looks(struct gbm_bo *bo, uint32_t seed, const char *what)
{
	int good = touch(bo, seed, 0);

	if (copies_arrive())
		ok(good, what);
	else
		skip(what, "Mesa copies by drawing here, and the model draws nothing");
}

/* Draws to the imported buffer. */
static int draw(struct gbm_device *gbm, int fd, const struct note *note, const char *gpu)
{
	EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_GBM_KHR, gbm, NULL);
	EGLAttrib what[] = {
		EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_LINUX_DRM_FOURCC_EXT, FORMAT,
		EGL_DMA_BUF_PLANE0_FD_EXT, fd, EGL_DMA_BUF_PLANE0_OFFSET_EXT, 0,
		EGL_DMA_BUF_PLANE0_PITCH_EXT, note->stride, EGL_NONE,
	};
	PFNGLEGLIMAGETARGETTEXTURE2DOESPROC target =
		(void *)eglGetProcAddress("glEGLImageTargetTexture2DOES");
	EGLContext context;
	EGLImage image;
	GLuint texture, buffer;
	int good;

	if (!eglInitialize(display, NULL, NULL) || !target)
		return 0;
	eglBindAPI(EGL_OPENGL_API);
	context = screen_context(display, EGL_NO_CONTEXT);
	screen_current(display, context);
	screen_is(gpu);
	image = eglCreateImage(display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, what);
	if (image == EGL_NO_IMAGE)
		return 0;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	target(GL_TEXTURE_2D, image);
	glGenFramebuffers(1, &buffer);
	glBindFramebuffer(GL_FRAMEBUFFER, buffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	good = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
	glViewport(0, 0, SIDE, SIDE);
	screen_program();
	screen_triangle();
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glFinish();
	good = good && !glGetError();
	eglDestroyImage(display, image);
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, context);
	eglTerminate(display);
	return good;
}

/* The importing process. */
static int import(int socket, const char *node, const char *gpu)
{
	struct gbm_import_fd_data data = { .width = SIDE, .height = SIDE, .format = FORMAT };
	struct gbm_device *gbm = gbm_create_device(open(node, O_RDWR | O_CLOEXEC));
	struct pollfd unused = { .events = POLLOUT };
	struct gbm_bo *bo;
	struct note note;
	char word;

	if (!gbm)
		tap_bail("GBM on the node, importing");
	data.fd = receive_buffer(socket, &note);
	unused.fd = data.fd;
	data.stride = note.stride;
	bo = gbm_bo_import(gbm, GBM_BO_IMPORT_FD, &data, GBM_BO_USE_RENDERING | GBM_BO_USE_LINEAR);
	if (!bo)
		tap_bail("the buffer is imported");
	looks(bo, 1, "the other process reads what the first wrote");
	ok(draw(gbm, data.fd, &note, gpu), "it draws to the buffer");
	/* what is written while somebody uses it, Mesa may copy by drawing */
	ok(poll(&unused, 1, 60000) == 1, "nobody uses the buffer any more");
	ok(touch(bo, 2, 1), "it writes the buffer");
	gbm_bo_destroy(bo);
	close(data.fd);
	word = 1;
	return write(socket, &word, 1) == 1 ? tap_bad : 1;
}

int main(int argc, char **argv)
{
	const char *gpu = argc > 1 ? argv[1] : "SNB";
	const char *node = argc > 2 ? argv[2] : "/dev/dri/renderD128";
	struct gbm_device *gbm;
	struct gbm_bo *bo;
	struct note note;
	int pair[2], fd, status = 1;
	pid_t other;
	char word;

	alarm(120);
	/* before anything of Mesa's runs: a fork does not take its threads along */
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		tap_bail("a pair of sockets");
	other = fork();
	if (other < 0)
		tap_bail("fork");
	if (!other) {
		alarm(120);
		close(pair[0]);
		return import(pair[1], node, gpu);
	}
	close(pair[1]);
	gbm = gbm_create_device(open(node, O_RDWR | O_CLOEXEC));
	if (!gbm)
		tap_bail("GBM on the node");
	bo = gbm_bo_create(gbm, SIDE, SIDE, FORMAT, GBM_BO_USE_RENDERING | GBM_BO_USE_LINEAR);
	if (!bo)
		tap_bail("a buffer");
	if (!touch(bo, 1, 1) || (copies_arrive() && !touch(bo, 1, 0)))
		tap_bail("the first process writes the buffer and reads it");
	fd = gbm_bo_get_fd(bo);
	note.stride = gbm_bo_get_stride(bo);
	note.modifier = gbm_bo_get_modifier(bo);
	if (fd < 0 || !send_buffer(pair[0], fd, &note))
		tap_bail("the buffer is sent");
	if (read(pair[0], &word, 1) != 1)
		tap_bail("the other process answers");
	waitpid(other, &status, 0);
	/* the other one printed its own results before these */
	tap_number = 5;
	ok(!status, "the other process ends well");
	looks(bo, 2, "the first reads what the other wrote");
	close(fd);
	gbm_bo_destroy(bo);
	gbm_device_destroy(gbm);
	return tap_end();
}

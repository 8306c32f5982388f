// SPDX-License-Identifier: GPL-2.0
/*
 * What an OpenGL program does, on Mesa as it is: draw, wait, ask, read back. Where the modelled
 * GPU skips drawing, colours are not looked at, but all that fences, queries and copies promise
 * is. draws: they are.
 *   draw GPU    GPU: part of Mesa's name for the renderer
 */
#include <poll.h>
#include <stdint.h>
#include <unistd.h>
#include "screen.h"
#include "usage.h"

#define FRAMES 1000
/* One minute, in ns. */
#define PATIENCE (60ull * 1000 * 1000 * 1000)

static int no_error(void)
{
	GLenum error = glGetError();

	if (error)
		printf("# GL error %x\n", error);
	return !error;
}

/* The colour of a pixel of the picture is this one. */
static void looks(int x, int y, uint32_t rgba, const char *what)
{
	uint32_t pixel = 0;

	glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, &pixel);
	if (pixel != rgba)
		printf("# %d, %d: %08x, not %08x\n", x, y, pixel, rgba);
	if (draws())
		ok(pixel == rgba, what);
}

static void clear_and_draw(void)
{
	static const uint32_t red = 0xff0000ff, green = 0xff00ff00;
	unsigned char pixel[4];

	ok(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE,
	   "the framebuffer is complete");
	glClearColor(1, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glFinish();
	ok(no_error(), "clear and finish");
	looks(SIDE / 2, 2, red, "it is cleared");
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glFinish();
	ok(no_error(), "draw and finish");
	looks(SIDE / 2, 2, green, "the triangle is drawn");
	looks(SIDE / 2, SIDE - 4, green, "up to its corner");
	looks(2, SIDE - 3, red, "and nothing beside it");
	glReadPixels(1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
	ok(no_error(), "read a pixel");
}

/* Bytes that go to a buffer come back, whichever way. */
static void buffers(void)
{
	static uint32_t there[4096], back[4096];
	GLuint name;
	uint32_t *map;
	int i;

	for (i = 0; i < 4096; i++)
		there[i] = i * 2654435761u;
	glGenBuffers(1, &name);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, name);
	glBufferData(GL_PIXEL_PACK_BUFFER, sizeof(there), NULL, GL_STREAM_READ);
	glBufferSubData(GL_PIXEL_PACK_BUFFER, 0, sizeof(there), there);
	glGetBufferSubData(GL_PIXEL_PACK_BUFFER, 0, sizeof(back), back);
	ok(no_error() && !memcmp(there, back, sizeof(back)), "a buffer gives back its bytes");

	map = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, sizeof(there), GL_MAP_WRITE_BIT);
	for (i = 0; i < 4096; i++)
		map[i] = ~there[i];
	glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
	glGetBufferSubData(GL_PIXEL_PACK_BUFFER, 0, sizeof(back), back);
	for (i = 0; i < 4096 && back[i] == ~there[i]; i++)
		;
	ok(no_error() && i == 4096, "a mapped buffer gives back its bytes");
	glDeleteBuffers(1, &name);
}

static void paint(uint32_t *texels, int n, uint32_t seed)
{
	int i;

	for (i = 0; i < n; i++)
		texels[i] = (i + seed) * 2654435761u;
}

/* A texture goes up and comes down through tiled memory. */
static void textures(void)
{
	static uint32_t there[SIDE * SIDE], back[SIDE * SIDE];
	GLuint name;
	int same;

	paint(there, SIDE * SIDE, 0);
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, there);
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
	same = !memcmp(there, back, sizeof(back));
	if (copies_arrive())
		ok(no_error() && same, "a texture gives back its texels");
	else
		ok(no_error(), "a texture goes up and comes down");
	glDeleteTextures(1, &name);
}

/* Draws from the texture that is bound. */
static void draw_from_it(void)
{
	GLuint program = glCreateProgram();
	GLint before;

	glGetIntegerv(GL_CURRENT_PROGRAM, &before);
	glAttachShader(program, screen_shader(GL_VERTEX_SHADER, SCREEN_VERTEX));
	glAttachShader(program,
		       screen_shader(GL_FRAGMENT_SHADER,
				     "uniform sampler2D t;"
				     "void main() { gl_FragColor = texture2D(t, vec2(.5, .5)); }"));
	glBindAttribLocation(program, 0, "p");
	glLinkProgram(program);
	glUseProgram(program);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glUseProgram(before);
	glDeleteProgram(program);
}

/*
 * A texture of one row, which is not tiled anywhere: while nobody uses it, Mesa's drivers write
 * and read it with the processor, and each texel is compared. While it is used, what is written
 * goes to a buffer first, and is copied from there: by drawing, or by the blitter (blitted). Then
 * the new ones must be there; where the model skips drawing, those of before, each one.
 */
static void row_of_texels(void)
{
	enum { WIDE = 2048 };
	static uint32_t there[WIDE], other[WIDE], back[WIDE];
	GLuint name;

	paint(there, WIDE, 1);
	paint(other, WIDE, 0x10000);
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDE, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, there);
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
	ok(no_error() && !memcmp(there, back, sizeof(back)), "a row gives back its texels");

	draw_from_it();
	glFinish();
	memset(back, 0, sizeof(back));
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
	ok(no_error() && !memcmp(there, back, sizeof(back)), "it has them after a draw");

	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDE, 1, GL_RGBA, GL_UNSIGNED_BYTE, other);
	memset(back, 0, sizeof(back));
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
	ok(no_error() && !memcmp(other, back, sizeof(back)), "they are replaced");

	/* in a stream that Mesa has not sent yet: it is in use, however fast the machine is */
	draw_from_it();
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDE, 1, GL_RGBA, GL_UNSIGNED_BYTE, there);
	glFinish();
	memset(back, 0, sizeof(back));
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
	if (lacks("blitted") || draws())
		ok(no_error() && !memcmp(there, back, sizeof(back)), "in use they are copied");
	else
		ok(no_error() && !memcmp(other, back, sizeof(back)),
		   "in use they are replaced by drawing");
	glDeleteTextures(1, &name);
}

static void time_queries(void)
{
	GLuint name[3];
	GLuint64 begin = 0, end = 0, elapsed = 0;
	GLint64 now = 0, later = 0;
	GLint ready = 0;

	if (lacks("timestamps")) {
		skip("timestamps", "Mesa does not have them here");
		return;
	}
	glGenQueries(3, name);
	glGetInteger64v(GL_TIMESTAMP, &now);
	glQueryCounter(name[0], GL_TIMESTAMP);
	glBeginQuery(GL_TIME_ELAPSED, name[2]);
	glClear(GL_COLOR_BUFFER_BIT);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glEndQuery(GL_TIME_ELAPSED);
	glQueryCounter(name[1], GL_TIMESTAMP);
	glFinish();
	glGetQueryObjectiv(name[1], GL_QUERY_RESULT_AVAILABLE, &ready);
	ok(ready, "a timestamp is there after the finish");
	glGetQueryObjectui64v(name[0], GL_QUERY_RESULT, &begin);
	glGetQueryObjectui64v(name[1], GL_QUERY_RESULT, &end);
	glGetQueryObjectui64v(name[2], GL_QUERY_RESULT, &elapsed);
	glGetInteger64v(GL_TIMESTAMP, &later);
	printf("# now %lld, begin %llu, end %llu, elapsed %llu, later %lld\n", (long long)now,
	       (unsigned long long)begin, (unsigned long long)end, (unsigned long long)elapsed,
	       (long long)later);
	ok(begin > 0 && end > begin, "the GPU wrote timestamps, in order");
	ok(elapsed > 0 && elapsed <= end - begin, "the time that a draw took is between them");
	ok(now > 0 && later > now, "the clock that the driver reads goes on");
	glDeleteQueries(3, name);
}

static void sample_queries(void)
{
	GLuint name, samples = 0;

	if (lacks("samples")) {
		skip("a query of samples ends", "Mesa does not have them here");
		return;
	}
	glGenQueries(1, &name);
	glBeginQuery(GL_SAMPLES_PASSED, name);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glEndQuery(GL_SAMPLES_PASSED);
	glGetQueryObjectuiv(name, GL_QUERY_RESULT, &samples);
	printf("# samples %u\n", samples);
	ok(no_error(), "a query of samples ends");
	glDeleteQueries(1, &name);
}

static void wait_fences(EGLDisplay display)
{
	static const EGLint none[] = { EGL_NONE };
	PFNEGLCREATESYNCKHRPROC create = (void *)eglGetProcAddress("eglCreateSyncKHR");
	PFNEGLDESTROYSYNCKHRPROC destroy = (void *)eglGetProcAddress("eglDestroySyncKHR");
	PFNEGLDUPNATIVEFENCEFDANDROIDPROC dup_fence =
		(void *)eglGetProcAddress("eglDupNativeFenceFDANDROID");
	GLsync sync;
	GLenum answer;
	EGLSyncKHR native;
	struct pollfd fence = { .fd = -1, .events = POLLIN };

	glClear(GL_COLOR_BUFFER_BIT);
	sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	answer = glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, PATIENCE);
	ok(answer == GL_ALREADY_SIGNALED || answer == GL_CONDITION_SATISFIED,
	   "a fence is waited for");
	glDeleteSync(sync);

	if (lacks("native-fences")) {
		skip("a native fence is signalled", "Mesa does not have them here");
		return;
	}
	if (!create || !destroy || !dup_fence) {
		ok(0, "Mesa can make a native fence");
		return;
	}
	glDrawArrays(GL_TRIANGLES, 0, 3);
	native = create(display, EGL_SYNC_NATIVE_FENCE_ANDROID, none);
	glFlush();
	fence.fd = dup_fence(display, native);
	ok(fence.fd >= 0, "a native fence is a file");
	ok(poll(&fence, 1, 60000) == 1 && fence.revents & POLLIN, "a native fence is signalled");
	close(fence.fd);
	destroy(display, native);
}

/* Frame by frame into the same buffers, as a program does that never ends. */
static void frames(GLuint vertices)
{
	long long early = -1, end;
	GLsync sync = NULL;
	int i, late = 0;

	for (i = 0; i < FRAMES; i++) {
		float place[] = { -1, -1, 1, -1, i % 3 - 1.0f, 1 };

		glBindBuffer(GL_ARRAY_BUFFER, vertices);
		if (i % 10)
			glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(place), place);
		else
			glBufferData(GL_ARRAY_BUFFER, sizeof(place), place, GL_DYNAMIC_DRAW);
		glClear(GL_COLOR_BUFFER_BIT);
		glDrawArrays(GL_TRIANGLES, 0, 3);
		glFlush();
		if (i % 8)
			continue;
		if (i == FRAMES / 5)
			early = usage("drm-total-");
		if (sync) {
			late += glClientWaitSync(sync, 0, PATIENCE) == GL_TIMEOUT_EXPIRED;
			glDeleteSync(sync);
		}
		sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	}
	glFinish();
	glDeleteSync(sync);
	ok(no_error() && !late, "a thousand times into the same buffers");
	end = usage("drm-total-");
	printf("# memory after %d times %lld, after %d %lld\n", FRAMES / 5, early, FRAMES, end);
	/* each takes a batch and a piece of a buffer: without reuse it would be five times */
	if (lacks("usage"))
		skip("the buffers are used again", "the driver does not say");
	else
		ok(early > 0 && end <= 2 * early, "the buffers are used again");
}

/* Two contexts that share a buffer, one after the other. */
static void two_contexts(EGLDisplay display, EGLContext one, GLuint vertices)
{
	EGLContext two = screen_context(display, one);
	int i;

	screen_current(display, two);
	screen_target(GL_RGBA8);
	screen_program();
	glBindBuffer(GL_ARRAY_BUFFER, vertices);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	for (i = 0; i < 50; i++) {
		screen_current(display, i % 2 ? one : two);
		glClear(GL_COLOR_BUFFER_BIT);
		glDrawArrays(GL_TRIANGLES, 0, 3);
		glFlush();
	}
	screen_current(display, two);
	glFinish();
	ok(no_error(), "two contexts draw in turn");
	screen_current(display, one);
	glFinish();
	eglDestroyContext(display, two);
	ok(no_error(), "one outlives the other");
}

/* The engine has worked for this process, not something that stands in for it. */
static void busy(void)
{
	static const char *const name = "the render engine has worked for it";
	long long ns = usage("drm-engine-render");

	printf("# the render engine worked %lld ns\n", ns);
	if (lacks("usage"))
		skip(name, "the driver does not say");
	else
		ok(ns > 0, name);
}

int main(int argc, char **argv)
{
	EGLDisplay display = screen_open();
	EGLContext context = screen_context(display, EGL_NO_CONTEXT);
	GLuint vertices;

	alarm(300);
	screen_current(display, context);
	screen_is(argc > 1 ? argv[1] : "SNB");
	screen_target(GL_RGBA8);
	screen_program();
	vertices = screen_triangle();
	clear_and_draw();
	buffers();
	textures();
	if (copies_arrive())
		row_of_texels();
	else
		skip("a row of texels", "Mesa copies by drawing here, and the model draws nothing");
	time_queries();
	sample_queries();
	wait_fences(display);
	frames(vertices);
	two_contexts(display, context, vertices);
	busy();
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, context);
	ok(eglTerminate(display), "the display closes");
	return tap_end();
}

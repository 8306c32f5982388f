/* SPDX-License-Identifier: GPL-2.0 */
/* OpenGL without a window system, on the render node; and the check that it is the GPU. */
#ifndef SCREEN_H
#define SCREEN_H

#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"

#define SIDE 256

#define SCREEN_VERTEX "attribute vec4 p; void main() { gl_Position = p; }"
#define SCREEN_FRAGMENT "void main() { gl_FragColor = vec4(0, 1, 0, 1); }"

static inline EGLDisplay screen_open(void)
{
	EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA,
						   EGL_DEFAULT_DISPLAY, NULL);

	if (!eglInitialize(display, NULL, NULL))
		tap_bail("eglInitialize");
	eglBindAPI(EGL_OPENGL_API);
	return display;
}

static inline EGLContext screen_context(EGLDisplay display, EGLContext shared)
{
	EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, shared, NULL);

	if (context == EGL_NO_CONTEXT)
		tap_bail("eglCreateContext");
	return context;
}

static inline void screen_current(EGLDisplay display, EGLContext context)
{
	if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
		tap_bail("eglMakeCurrent");
}

/*
 * Mesa falls back to its software renderer without a word. The name of the GPU comes from the
 * command line: it is part of what Mesa calls the renderer.
 */
static inline void screen_is(const char *gpu)
{
	const char *name = (const char *)glGetString(GL_RENDERER);

	printf("# GL_RENDERER %s, GL_VERSION %s\n", name, (const char *)glGetString(GL_VERSION));
	if (!ok(name && strstr(name, gpu) && !strstr(name, "llvmpipe"), "the renderer is the GPU"))
		exit(tap_end());
}

/* What Mesa does not have on this GPU: words of OURO_LACKS. What is not named, must be there. */
static inline int lacks(const char *what)
{
	const char *all = getenv("OURO_LACKS");

	return all && strstr(all, what);
}

/*
 * Whether pixels that were copied can be looked at: where Mesa copies by drawing, they cannot,
 * as the models draw nothing.
 */
static inline int copies_arrive(void)
{
	return !lacks("drawn-copies");
}

/* Whether the modelled GPU draws, so that what is drawn can be looked at. */
static inline int draws(void)
{
	return lacks("draws");
}

/* A picture to draw to. */
static inline GLuint screen_target(GLenum format)
{
	GLuint buffer, target;

	glGenRenderbuffers(1, &buffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffer);
	glRenderbufferStorage(GL_RENDERBUFFER, format, SIDE, SIDE);
	glGenFramebuffers(1, &target);
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffer);
	glViewport(0, 0, SIDE, SIDE);
	return target;
}

static inline GLuint screen_shader(GLenum kind, const char *source)
{
	GLuint shader = glCreateShader(kind);
	GLint good = 0;

	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
	if (!good)
		tap_bail("a shader compiles");
	return shader;
}

/* A program that draws green; its one attribute is the place. */
static inline void screen_program(void)
{
	GLuint program = glCreateProgram();

	glAttachShader(program, screen_shader(GL_VERTEX_SHADER, SCREEN_VERTEX));
	glAttachShader(program, screen_shader(GL_FRAGMENT_SHADER, SCREEN_FRAGMENT));
	glBindAttribLocation(program, 0, "p");
	glLinkProgram(program);
	glUseProgram(program);
}

/* Vertices of a triangle in a buffer of their own, used by the attribute. */
static inline GLuint screen_triangle(void)
{
	static const float place[] = { -1, -1, 1, -1, 0, 1 };
	GLuint buffer;

	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(place), place, GL_DYNAMIC_DRAW);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	return buffer;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What all scenes draw with: vertices, and the calls that send them. */
#ifndef OURO_MESA_SCENE_H
#define OURO_MESA_SCENE_H

#include "screen.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Place, colour and two coordinates: what all draws are of. */
struct vertex {
	float place[3];
	uint8_t colour[4];
	float at[2];
};

static const struct vertex few[] = {
	{ { -1, -1, 0 }, { 255, 0, 0, 255 }, { 0, 0 } },
	{ { 1, -1, .5 }, { 0, 255, 0, 127 }, { 1, 0 } },
	{ { -1, 1, -.5 }, { 0, 0, 255, 63 }, { 0, 1 } },
	{ { 1, 1, 0 }, { 255, 255, 255, 0 }, { 1, 1 } },
	{ { 0, .5, 0 }, { 9, 8, 7, 6 }, { .5, .75 } },
	{ { .5, 0, .25 }, { 1, 2, 3, 4 }, { .75, .5 } },
};

static const GLenum shapes[] = {
	GL_POINTS, GL_LINES, GL_LINE_LOOP, GL_LINE_STRIP, GL_TRIANGLES, GL_TRIANGLE_STRIP,
	GL_TRIANGLE_FAN, GL_QUADS, GL_QUAD_STRIP, GL_POLYGON,
};

static GLuint target, vertices;

static int has(const char *extension)
{
	return !!strstr((const char *)glGetString(GL_EXTENSIONS), extension);
}

/* What was sent is done, and nothing of it was wrong. */
static void done(const char *name)
{
	GLenum error = glGetError();

	glFinish();
	if (error)
		printf("# GL error %x\n", error);
	ok(!error && !glGetError(), name);
}

static void arrays(const void *base)
{
	const char *from = base;

	glVertexPointer(3, GL_FLOAT, sizeof(struct vertex), from);
	glColorPointer(4, GL_UNSIGNED_BYTE, sizeof(struct vertex), from + 12);
	glTexCoordPointer(2, GL_FLOAT, sizeof(struct vertex), from + 16);
	glEnableClientState(GL_VERTEX_ARRAY);
	glEnableClientState(GL_COLOR_ARRAY);
	glEnableClientState(GL_TEXTURE_COORD_ARRAY);
}

static void draw(void)
{
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

#endif

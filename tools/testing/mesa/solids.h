/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stands in the picture: a snake along a ring, whose mouth is around its own tail, eyes, a
 * ball, the floor and what is behind all. Lengths are in radii of the ring.
 */
#ifndef SOLIDS_H
#define SOLIDS_H

#include <math.h>
#include <stdint.h>
#include "screen.h"

#define TURN 6.2831853f

/* Where the lips are, where the tip of the tail is (in the mouth), and how long the head is. */
#define LIPS 0.95f
#define TIP (LIPS - 0.22f)
#define HEAD 0.62f

struct vec {
	float x, y, z;
};

struct corner {
	struct vec place, normal;
	float at[2];
};

/* A grid of corners, columns by rows, as it is in the GPU's buffers. */
struct solid {
	GLuint corners, order;
	GLsizei count;
};

/* A surface: its place at (s, t), both from 0 to 1. */
typedef struct vec (*surface)(float s, float t);

static struct vec vec_add(struct vec a, struct vec b, float times)
{
	return (struct vec){ a.x + b.x * times, a.y + b.y * times, a.z + b.z * times };
}

static struct vec vec_cross(struct vec a, struct vec b)
{
	return (struct vec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static struct vec vec_unit(struct vec a)
{
	float length = sqrtf(a.x * a.x + a.y * a.y + a.z * a.z);

	return vec_add((struct vec){ 0, 0, 0 }, a, length > 0 ? 1 / length : 0);
}

static float blend(float a, float b, float t)
{
	return a + (b - a) * t;
}

/* From 0 to 1 while x goes from a to b, without a corner at either. */
static float ease(float a, float b, float x)
{
	float t = fminf(fmaxf((x - a) / (b - a), 0), 1);

	return t * t * (3 - 2 * t);
}

/*
 * A point around the ring at an angle, off its middle line by `out` away from the centre and by
 * `side` along the axis.
 */
static struct vec around(float angle, float out, float side)
{
	return (struct vec){ (1 + out) * cosf(angle), (1 + out) * sinf(angle), side };
}

/* Both radii of the head at v, 0 at the neck and 1 at the lips. */
static void head_radii(float v, float *out, float *side)
{
	*out = blend(blend(.155f, .205f, ease(0, .45f, v)), .15f, ease(.5f, 1, v));
	*side = blend(blend(.155f, .25f, ease(0, .5f, v)), .13f, ease(.55f, 1, v));
}

/* How much farther back the lips are at the corners of the mouth than at the jaws. */
static float lips_back(float around_it)
{
	return .3f * (1 - powf(fabsf(cosf(around_it)), .55f));
}

static struct vec skin(float s, float t)
{
	float neck = LIPS + TURN - HEAD, angle = blend(TIP, LIPS + TURN, s);
	float out, side, v, phi = t * TURN;

	if (angle < neck) {
		v = (angle - TIP) / (neck - TIP);
		out = blend(.03f, .19f, ease(-.12f, .5f, v)) - .035f * ease(.72f, 1, v);
		out *= ease(-.004f, .012f, v);
		side = out;
	} else {
		v = (angle - neck) / HEAD;
		head_radii(v, &out, &side);
		angle -= v * v * lips_back(phi);
		/* the jaws are open */
		out += .05f * ease(.45f, 1, v);
	}
	return around(angle, out * cosf(phi), side * sinf(phi));
}

/* From the lips back into the head. */
static struct vec mouth(float s, float t)
{
	float out, side, phi = t * TURN;

	head_radii(1, &out, &side);
	out = (out + .05f) * (1 - .75f * s * s);
	side = side * (1 - .75f * s * s);
	return around(LIPS + TURN - lips_back(phi) * (1 - s) - .42f * s, out * cosf(phi),
		      side * sinf(phi));
}

/* Its pole at t = 0 looks to us. */
static struct vec ball(float s, float t)
{
	float phi = s * TURN, theta = t * TURN / 2;

	return (struct vec){ sinf(theta) * cosf(phi), sinf(theta) * sinf(phi), cosf(theta) };
}

static struct vec plane(float s, float t)
{
	return (struct vec){ s * 2 - 1, 0, 1 - t * 2 };
}

static struct vec screen(float s, float t)
{
	return (struct vec){ s * 2 - 1, t * 2 - 1, 0 };
}

/* Where normals are not those of differences: at the poles. */
static struct vec solid_normal(surface shape, float s, float t)
{
	const float step = .0015f;
	struct vec along = vec_add(shape(s + step, t), shape(s - step, t), -1);
	struct vec across = vec_add(shape(s, t + step), shape(s, t - step), -1);

	return shape == ball ? ball(s, t) : vec_unit(vec_cross(along, across));
}

/* A surface as a grid of so many columns and rows; a texture repeats so often along s and t. */
static struct solid solid_make(surface shape, int columns, int rows, float along, float across)
{
	struct corner *corners = calloc((columns + 1) * (rows + 1), sizeof(*corners));
	uint16_t *order = calloc(columns * rows * 6, sizeof(*order)), *next = order;
	struct solid solid = { .count = columns * rows * 6 };
	int i, k, wide = columns + 1;

	if (!corners || !order)
		tap_bail("memory");
	for (k = 0; k <= rows; k++) {
		for (i = 0; i <= columns; i++) {
			float s = (float)i / columns, t = (float)k / rows;

			corners[k * wide + i] = (struct corner){
				shape(s, t), solid_normal(shape, s, t), { s * along, t * across }
			};
		}
	}
	for (k = 0; k < rows; k++) {
		for (i = 0; i < columns; i++) {
			uint16_t a = k * wide + i, c = a + wide;

			*next++ = a;
			*next++ = a + 1;
			*next++ = c;
			*next++ = c;
			*next++ = a + 1;
			*next++ = c + 1;
		}
	}
	glGenBuffers(1, &solid.corners);
	glBindBuffer(GL_ARRAY_BUFFER, solid.corners);
	glBufferData(GL_ARRAY_BUFFER, wide * (rows + 1) * sizeof(*corners), corners,
		     GL_STATIC_DRAW);
	glGenBuffers(1, &solid.order);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, solid.order);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, solid.count * sizeof(*order), order, GL_STATIC_DRAW);
	free(corners);
	free(order);
	return solid;
}

/* Attributes 0, 1 and 2: place, normal, coordinates of the texture. */
static void solid_draw(const struct solid *solid)
{
	static const struct corner *none;
	int i;

	glBindBuffer(GL_ARRAY_BUFFER, solid->corners);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, solid->order);
	glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof(*none), &none->place);
	glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, sizeof(*none), &none->normal);
	glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, sizeof(*none), none->at);
	for (i = 0; i < 3; i++)
		glEnableVertexAttribArray(i);
	glDrawElements(GL_TRIANGLES, solid->count, GL_UNSIGNED_SHORT, NULL);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The textures of the picture, made by the program, with levels that it makes as well. */
#ifndef PAINTS_H
#define PAINTS_H

#include "solids.h"

/* Texels of a side, at most. */
#define PAINT 256

/* Red, green, blue, from 0 to 1, at (s, t) of the same range. */
typedef struct vec (*paint)(float s, float t);

static struct vec vec_mix(struct vec a, struct vec b, float t)
{
	return (struct vec){ blend(a.x, b.x, t), blend(a.y, b.y, t), blend(a.z, b.z, t) };
}

/* A value from 0 to 1 that looks like chance, one for each pair. */
static float chance(int i, int k)
{
	uint32_t x = i * 0x9e3779b1u ^ k * 0x85ebca6bu;

	x = (x ^ x >> 15) * 0x2c1b3c6du;
	x = (x ^ x >> 12) * 0x297a2d39u;
	return (x >> 8) / 16777216.0f;
}

/* The same, smooth between whole numbers, repeating after so many. */
static float cloud(float x, float y, int wide, int high)
{
	int i = (int)floorf(x), k = (int)floorf(y);
	float s = ease(0, 1, x - i), t = ease(0, 1, y - k);
	int i1 = (i + 1) % wide, k1 = (k + 1) % high;

	i %= wide;
	k %= high;
	return blend(blend(chance(i, k), chance(i1, k), s),
		     blend(chance(i, k1), chance(i1, k1), s), t);
}

/* Two by two squares of wood, the grain of each across that of the next, with a seam around. */
static struct vec wood(float s, float t)
{
	static const struct vec light = { .78f, .60f, .40f }, dark = { .36f, .20f, .12f };
	int i = s < .5f, k = t < .5f, odd = i ^ k;
	float x = s * 2 - floorf(s * 2), y = t * 2 - floorf(t * 2);
	float along = odd ? x : y, across = odd ? y : x, seam, grain;

	grain = .55f * cloud(across * 40, along * 3 + 4 * i, 64, 64);
	grain += .45f * cloud(across * 13 + 20 * k, along * 2, 64, 64);
	seam = fminf(fminf(x, 1 - x), fminf(y, 1 - y));
	return vec_mix((struct vec){ .1f, .06f, .04f },
		       vec_mix(odd ? light : dark, odd ? dark : light, .1f + .28f * grain),
		       ease(.002f, .016f, seam));
}

/* Rows of scales, each row half a scale beside the last; t goes around the snake from its back. */
static struct vec scales(float s, float t)
{
	static const struct vec back = { .05f, .30f, .16f }, gold = { .85f, .62f, .15f },
				flank = { .10f, .48f, .34f }, belly = { .88f, .82f, .58f };
	const int rows = 8, count = 18;
	float from_back = fabsf(t < .5f ? t : 1 - t) * 2, best = 9, edge = 9;
	struct vec colour;
	int i, k;

	/* the nearest middle of a scale, and how much nearer it is than the next */
	for (i = (int)(s * rows) - 2; i <= (int)(s * rows) + 1; i++) {
		for (k = (int)(t * count) - 2; k <= (int)(t * count) + 1; k++) {
			float x = s * rows - i - .5f;
			float y = t * count - k - (i & 1 ? 0 : .5f) - .25f;
			float d = sqrtf(x * x * .8f + y * y);

			if (d < best) {
				edge = best;
				best = d;
			} else if (d < edge) {
				edge = d;
			}
		}
	}
	colour = vec_mix(back, flank, ease(.1f, .5f, from_back));
	/* a gold band, narrow and wide in turn */
	colour = vec_mix(colour, gold,
			 ease(.12f, 0, fabsf(from_back - .3f - .1f * cosf(s * 2 * TURN))));
	colour = vec_mix(colour, belly, ease(.62f, .74f, from_back));
	return vec_mix(vec_mix(colour, (struct vec){ 0, .03f, .02f }, .75f), colour,
		       ease(0, .28f, edge - best));
}

static struct vec iris(float s, float t)
{
	static const struct vec amber = { 1, .68f, .05f }, ember = { .75f, .2f, .02f };
	struct vec colour = vec_mix(amber, ember, ease(.24f, .42f, t));

	(void)s;
	return vec_mix((struct vec){ .01f, .01f, .01f }, colour, ease(.16f, .2f, t));
}

static struct vec flesh(float s, float t)
{
	(void)t;
	return vec_mix((struct vec){ .62f, .16f, .16f }, (struct vec){ .08f, .01f, .02f }, s);
}

/* The next level: each texel is the mean of four. */
static void paint_halve(uint8_t *texels, int side)
{
	int i, k, c;

	for (k = 0; k < side / 2; k++) {
		for (i = 0; i < side / 2; i++) {
			const uint8_t *from = texels + 4 * (2 * k * side + 2 * i);
			uint8_t *to = texels + 4 * (k * side / 2 + i);

			for (c = 0; c < 4; c++)
				to[c] = (from[c] + from[4 + c] + from[4 * side + c] +
					 from[4 * side + 4 + c] + 2) / 4;
		}
	}
}

/* A texture of side by side texels, with all its levels. */
static GLuint paint_make(paint colour, int side)
{
	static uint8_t texels[4 * PAINT * PAINT];
	GLuint name;
	int i, k, level;

	for (k = 0; k < side; k++) {
		for (i = 0; i < side; i++) {
			struct vec c = colour((i + .5f) / side, (k + .5f) / side);
			uint8_t *texel = texels + 4 * (k * side + i);

			texel[0] = (uint8_t)(fminf(c.x, 1) * 255 + .5f);
			texel[1] = (uint8_t)(fminf(c.y, 1) * 255 + .5f);
			texel[2] = (uint8_t)(fminf(c.z, 1) * 255 + .5f);
			texel[3] = 255;
		}
	}
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	for (level = 0; side; level++, side /= 2) {
		glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA8, side, side, 0, GL_RGBA,
			     GL_UNSIGNED_BYTE, texels);
		paint_halve(texels, side);
	}
	return name;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* How like two pictures are: 8 bits a channel, red, green, blue and alpha. */
#ifndef LIKENESS_H
#define LIKENESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct likeness {
	/* that differ at all */
	int differ;
	/* by more than the tolerance, with a colour that the other has in the pixels around it */
	int moved;
	/* by more than the tolerance, with another colour */
	int wrong;
	/* difference of a channel: of all pixels, and of those that did not move */
	int largest, largest_still;
	/* one that is wrong, or else the one that differs most */
	int x, y;
};

/*
 * Whether all channels of the pixel are among those of the 3 by 3 pixels of the other picture at
 * that place: what an edge looks like that is elsewhere by part of a pixel.
 */
static inline int likeness_moved(const uint8_t *pixel, const uint8_t *other, int x, int y,
				 int width, int height, int tolerance)
{
	int c, i, k;

	for (c = 0; c < 3; c++) {
		int least = 255, most = 0;

		for (k = y > 0 ? y - 1 : 0; k <= y + 1 && k < height; k++) {
			for (i = x > 0 ? x - 1 : 0; i <= x + 1 && i < width; i++) {
				int value = other[4 * (k * width + i) + c];

				least = value < least ? value : least;
				most = value > most ? value : most;
			}
		}
		if (pixel[c] < least - tolerance || pixel[c] > most + tolerance)
			return 0;
	}
	return 1;
}

/* Both pictures, pixel by pixel. Alpha is not seen, and not looked at. */
static inline struct likeness likeness_of(const uint8_t *picture, const uint8_t *other, int width,
					  int height, int tolerance)
{
	struct likeness all = { 0 };
	int c, i;

	for (i = 0; i < width * height; i++) {
		const uint8_t *a = picture + 4 * i, *b = other + 4 * i;
		int x = i % width, y = i / width, most = 0, moved = 0, wrong = 0;

		for (c = 0; c < 3; c++)
			most = abs(a[c] - b[c]) > most ? abs(a[c] - b[c]) : most;
		if (most > tolerance) {
			moved = likeness_moved(a, other, x, y, width, height, tolerance);
			wrong = !moved;
		}
		if (wrong ? !all.wrong || most > all.largest_still :
			    !all.wrong && most > all.largest) {
			all.x = x;
			all.y = y;
		}
		all.differ += most > 0;
		all.moved += moved;
		all.wrong += wrong;
		all.largest = most > all.largest ? most : all.largest;
		if (!moved && most > all.largest_still)
			all.largest_still = most;
	}
	return all;
}

/* Writes a picture, the lowest row first in memory, as a portable pixmap; 0 if it cannot. */
static inline int likeness_write(const char *folder, const char *name, const uint8_t *picture,
				 int width, int height)
{
	char path[256];
	FILE *file;
	int x, y;

	snprintf(path, sizeof(path), "%s/%s.ppm", folder, name);
	file = fopen(path, "wb");
	if (!file)
		return 0;
	fprintf(file, "P6\n%d %d\n255\n", width, height);
	for (y = height - 1; y >= 0; y--)
		for (x = 0; x < width; x++)
			fwrite(picture + 4 * (y * width + x), 1, 3, file);
	return !fclose(file);
}

#endif

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes PNG files of portable pixmaps, and a picture of where two of them differ.

    png.py FROM.ppm TO.png
    png.py FROM.ppm OTHER.ppm TO.png    the difference of each channel, sixteen times as bright
"""

import struct
import sys
import zlib


def read(path):
    """Width, height and the bytes (red, green, blue, rows from the top) of a P6 file."""
    with open(path, "rb") as file:
        kind, size, most, pixels = file.read().split(b"\n", 3)
    width, height = map(int, size.split())
    if kind != b"P6" or most != b"255" or len(pixels) != 3 * width * height:
        sys.exit(f"{path}: no pixmap of 8 bits a channel")
    return width, height, pixels


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def beside(row):
    """A row as what is to be added to the pixel on the left, of three bytes: PNG's filter 1."""
    return b"\1" + bytes((a - b) & 255 for a, b in zip(row, bytes(3) + row))


def write(path, width, height, pixels):
    size = 3 * width
    rows = b"".join(beside(pixels[row * size:(row + 1) * size]) for row in range(height))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(rows, 9)))
        file.write(chunk(b"IEND", b""))


def main(first, *rest):
    width, height, pixels = read(first)
    if len(rest) == 2:
        other = read(rest[0])
        if other[:2] != (width, height):
            sys.exit("the pictures are not of one size")
        pixels = bytes(min(255, 16 * abs(a - b)) for a, b in zip(pixels, other[2]))
    write(rest[-1], width, height, pixels)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])

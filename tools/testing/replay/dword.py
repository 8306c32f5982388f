#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints the first dword of the captured BO at a GPU address (argument: its lower 32 bits, in hexadecimal) in an
error state of i915 or ouro (standard input). Contents are ascii85 of dwords, behind ':' compressed by zlib."""
import re
import sys
import zlib


def dwords(text):
    """Each dword is five digits to the base 85, the first one the most significant; 0 is a single z."""
    out, at = [], 0
    while at < len(text):
        if text[at] == "z":
            out.append(0)
            at += 1
            continue
        value = 0
        for digit in text[at : at + 5]:
            value = value * 85 + ord(digit) - 0x21
        out.append(value & 0xFFFFFFFF)
        at += 5
    return out


head = re.compile(r"^\S+ --- user = 0x[0-9a-f]{8} " + sys.argv[1] + "$")
lines = sys.stdin.read().splitlines()
at = next((n for n, line in enumerate(lines) if head.match(line)), None)
if at is None or at + 1 == len(lines):
    sys.exit("no such BO")
text = lines[at + 1]
found = dwords(text[1:].strip())
if text[0] == ":":
    packed = b"".join(dword.to_bytes(4, "little") for dword in found)
    found = [int.from_bytes(zlib.decompressobj().decompress(packed)[:4], "little")]
print(f"{found[0]:08x}")

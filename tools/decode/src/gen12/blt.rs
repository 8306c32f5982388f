// SPDX-License-Identifier: GPL-2.0
//! Commands of the blitter of Gen12.5: client 2, opcode in 28:22 (digest §2.2; the older two as in G45 PRM
//! Vol 1b §8.9.9 and §8.9.15, with addresses of two dwords).

use super::mi::above;
use crate::command::{address, bits, choice, flag, hex, number, Command, Field, Length, Show};

/// Bits 31:22: client and opcode.
const MASK: u32 = 0xffc0_0000;

const fn blt(name: &'static str, opcode: u32, fields: &'static [Field]) -> Command {
    Command::new(name, MASK, 2 << 29 | opcode << 22, Length::Upto(7)).with(fields)
}

const OLD_DEPTHS: &[(u32, &str)] = &[(0, "8"), (1, "16 (565)"), (2, "16 (1555)"), (3, "32")];
const ACCESS: &[(u32, &str)] = &[(0, "indirect"), (1, "direct")];

const fn low(dword: usize, name: &'static str) -> Field {
    bits(dword, 15, 0, name, Show::Signed)
}

const fn high(dword: usize, name: &'static str) -> Field {
    bits(dword, 31, 16, name, Show::Signed)
}

const fn destination(dword: usize) -> Field {
    address(dword, 31, 0, "destination")
}

const fn source(dword: usize) -> Field {
    address(dword, 31, 0, "source")
}

/// All of them.
pub const COMMANDS: &[Command] = &[
    blt("XY_BLOCK_COPY_BLT", 0x41, &[]),
    blt(
        "XY_FAST_COPY_BLT",
        0x42,
        &[
            number(0, 21, 20, "source tiles"),
            number(0, 14, 13, "destination tiles"),
            flag(1, 31, "source in tiles 4"),
            flag(1, 30, "destination in tiles 4"),
            choice(1, 26, 24, "depth", &[(3, "32")]),
            number(1, 15, 0, "pitch"),
            low(2, "left"),
            high(2, "top"),
            low(3, "right"),
            high(3, "bottom"),
            destination(4),
            above(5),
            low(6, "source left"),
            high(6, "source top"),
            number(7, 15, 0, "source pitch"),
            source(8),
            above(9),
        ],
    ),
    blt(
        "XY_FAST_COLOR_BLT",
        0x44,
        &[
            choice(0, 20, 19, "depth", &[(2, "32")]),
            bits(1, 27, 21, "caching", Show::Some),
            number(1, 17, 0, "pitch less 1"),
            low(2, "left"),
            high(2, "top"),
            low(3, "right"),
            high(3, "bottom"),
            destination(4),
            above(5),
            number(6, 31, 31, "memory type"),
            hex(7, 31, 0, "colour"),
            hex(8, 31, 0, "colour"),
            hex(9, 31, 0, "colour"),
            hex(10, 31, 0, "colour"),
        ],
    ),
    blt(
        "XY_CTRL_SURF_COPY_BLT",
        0x48,
        &[
            choice(0, 21, 21, "source", ACCESS),
            choice(0, 20, 20, "destination", ACCESS),
            number(0, 17, 8, "blocks less 1"),
            source(1),
            hex(2, 15, 0, "address above"),
            destination(3),
            hex(4, 15, 0, "address above"),
        ],
    ),
    blt(
        "XY_COLOR_BLT",
        0x50,
        &[
            flag(0, 21, "write alpha"),
            flag(0, 20, "write RGB"),
            choice(1, 25, 24, "depth", OLD_DEPTHS),
            hex(1, 23, 16, "rop"),
            low(1, "pitch"),
            low(2, "left"),
            high(2, "top"),
            low(3, "right"),
            high(3, "bottom"),
            destination(4),
            above(5),
            hex(6, 31, 0, "colour"),
        ],
    ),
    blt(
        "XY_SRC_COPY_BLT",
        0x53,
        &[
            flag(0, 21, "write alpha"),
            flag(0, 20, "write RGB"),
            choice(1, 25, 24, "depth", OLD_DEPTHS),
            hex(1, 23, 16, "rop"),
            low(1, "pitch"),
            low(2, "left"),
            high(2, "top"),
            low(3, "right"),
            high(3, "bottom"),
            destination(4),
            above(5),
            low(6, "source left"),
            high(6, "source top"),
            low(7, "source pitch"),
            source(8),
            above(9),
        ],
    ),
    blt("COLOR_BLT", 0x40, &[]),
    blt("SRC_COPY_BLT", 0x43, &[]),
];

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A second blitter that does one pixel after the other, and the encoder of its parameters, written from G45 PRM V1b
//! chapter 8 without a look at the model's own tables.

use super::{header, xy, Ram};

/// A colour operand: base address, pitch in bytes, X-tiled or linear.
#[derive(Clone, Copy, Debug)]
pub struct Surf {
    pub base: u32,
    pub pitch: i32,
    pub tiled: bool,
}

impl Surf {
    /// Address of a byte column in a line: §8.9 for linear surfaces, §4.5.3 for X tiles.
    fn address(&self, x: i64, y: i64) -> i64 {
        let pitch = i64::from(self.pitch);
        let offset = if self.tiled {
            (y >> 3) * (pitch * 8) + (x >> 9) * 4096 + (y & 7) * 512 + (x & 511)
        } else {
            y * pitch + x
        };
        i64::from(self.base) + offset
    }

    /// The pitch field: bytes if linear, dwords if tiled (§8.10.2).
    fn pitch_field(&self) -> u32 {
        let field = if self.tiled {
            self.pitch / 4
        } else {
            self.pitch
        };
        field as u32 & 0xffff
    }
}

/// Every drawing command's parameters; each command takes those that it has.
#[derive(Clone, Debug)]
pub struct Draw {
    pub opcode: u32,
    pub depth: u32,
    pub rop: u8,
    pub mask: u32,
    pub dst: Surf,
    pub rect: (i32, i32, i32, i32),
    pub clip: Option<(i32, i32, i32, i32)>,
    pub src: Surf,
    pub src_at: (i32, i32),
    pub right_to_left: bool,
    pub mono_at: u32,
    pub mono_imm: Vec<u8>,
    pub bit: u32,
    pub byte_packed: bool,
    pub src_bg: u32,
    pub src_fg: u32,
    pub src_transparent: bool,
    pub pat_at: u32,
    pub pat_imm: Vec<u8>,
    pub pat_rows: [u8; 8],
    pub pat_bg: u32,
    pub pat_fg: u32,
    pub pat_transparent: bool,
    pub solid: bool,
    /// XY_SCANLINES_BLT after XY_SETUP_MONO_PATTERN_SL_BLT.
    pub mono_setup: bool,
    pub fixed: u32,
    pub seed: (u32, u32),
    pub key: (u32, u32, u32),
}

/// Opcodes of the drawing commands.
pub const DRAWING: [u32; 23] = [
    0x24, 0x25, 0x26, 0x31, 0x40, 0x43, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77,
];

impl Draw {
    pub fn pixel(&self) -> usize {
        [1, 2, 2, 4][self.depth as usize]
    }

    fn colour_source(&self) -> bool {
        matches!(self.opcode, 0x43 | 0x53 | 0x55 | 0x57 | 0x73 | 0x74)
    }

    fn mono_source(&self) -> bool {
        matches!(self.opcode, 0x26 | 0x31 | 0x54 | 0x56 | 0x58 | 0x71 | 0x75)
    }

    fn text(&self) -> bool {
        matches!(self.opcode, 0x26 | 0x31)
    }

    fn on_setup(&self) -> bool {
        matches!(self.opcode, 0x24..=0x26 | 0x31)
    }

    fn mono_pattern(&self) -> bool {
        matches!(self.opcode, 0x52 | 0x57 | 0x58 | 0x59) || self.opcode == 0x25 && self.mono_setup
    }

    fn can_be_solid(&self) -> bool {
        matches!(self.opcode, 0x57 | 0x58) || self.opcode == 0x25 && self.mono_setup
    }

    fn keyed(&self) -> bool {
        matches!(self.opcode, 0x73 | 0x76 | 0x77)
    }

    /// Bits from a line of the monochrome source to the next, and its first bit.
    fn mono_layout(&self) -> (i64, i64) {
        let width = i64::from(self.rect.2 - self.rect.0).max(0);
        if !self.text() {
            // §8.9.17: lines are word aligned, and start at the bit position.
            let bit = i64::from(self.bit);
            return ((bit + width + 15) / 16 * 16, bit);
        }
        if self.byte_packed {
            ((width + 7) / 8 * 8, 0)
        } else {
            (width, 0)
        }
    }

    /// The command, with the setup in front of it where it needs one.
    pub fn encode(&self) -> Vec<Vec<u32>> {
        let bit = |flag: bool, at: u32| u32::from(flag) << at;
        let control = self.depth << 24
            | u32::from(self.rop) << 16
            | self.dst.pitch_field()
            | bit(self.clip.is_some(), 30)
            | bit(self.src_transparent && self.mono_source(), 29)
            | bit(self.pat_transparent && self.mono_pattern(), 28)
            | bit(self.solid && self.can_be_solid(), 31);
        let (cx1, cy1, cx2, cy2) = self.clip.unwrap_or((0, 0, 0x7fff, 0x7fff));
        let mask = self.mask << 20;
        let tiled = bit(self.dst.tiled, 11);
        let seeds = self.seed.0 << 12 | self.seed.1 << 8;
        let key = self.key.0 << 17;
        let bits = match self.opcode {
            0x24 => tiled,
            0x25 => tiled | seeds,
            0x26 | 0x31 => tiled | bit(self.byte_packed, 16),
            0x40 | 0x43 => mask,
            0x50 => mask | tiled,
            0x51 | 0x52 | 0x72 => mask | tiled | seeds,
            0x59 => mask | tiled | seeds | self.fixed << 15,
            0x53 => mask | tiled | bit(self.src.tiled, 15),
            0x73 => mask | tiled | bit(self.src.tiled, 15) | key,
            0x76 | 0x77 => mask | tiled | seeds | key,
            0x54 | 0x71 => mask | tiled | self.bit << 17,
            0x55 | 0x57 | 0x74 => mask | tiled | seeds | bit(self.src.tiled, 15),
            0x56 | 0x58 | 0x75 => mask | tiled | seeds | self.bit << 17,
            other => panic!("opcode {other:#x}"),
        };
        let (x1, y1, x2, y2) = self.rect;
        let rect = [xy(x1, y1), xy(x2, y2)];
        let dwords = |bytes: &[u8]| -> Vec<u32> {
            bytes
                .chunks(4)
                .map(|c| {
                    c.iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u32::from(*byte))
                })
                .collect()
        };
        let [low, high] =
            [0, 4].map(|i| u32::from_le_bytes(self.pat_rows[i..i + 4].try_into().unwrap()));
        let src_pitch = self.src.pitch_field();
        let src_at = xy(self.src_at.0, self.src_at.1);
        let size = (((y2 - y1) as u32) << 16) | ((x2 - x1) as u32 * self.pixel() as u32);
        let drawn = [&[control][..], &rect, &[self.dst.base]].concat();
        let full = [&drawn[..], &[src_pitch, src_at, self.src.base]].concat();
        let mono = [&drawn[..], &[self.mono_at, self.src_bg, self.src_fg]].concat();
        let operands: Vec<u32> = match self.opcode {
            0x24 => vec![rect[0]],
            0x25 => rect.to_vec(),
            0x26 => [&rect[..], &[self.mono_at]].concat(),
            0x31 => [&rect[..], &dwords(&self.mono_imm)].concat(),
            0x40 => vec![control & !(1 << 30), size, self.dst.base, self.pat_bg],
            0x43 => vec![
                control & !(1 << 30) | bit(self.right_to_left, 30),
                size,
                self.dst.base,
                src_pitch,
                self.src.base,
            ],
            0x50 => [&drawn[..], &[self.pat_bg]].concat(),
            0x51 => [&drawn[..], &[self.pat_at]].concat(),
            0x52 => [&drawn[..], &[self.pat_bg, self.pat_fg, low, high]].concat(),
            0x53 => [&drawn[..], &[src_at, src_pitch, self.src.base]].concat(),
            0x54 => mono,
            0x55 => [&full[..], &[self.pat_at]].concat(),
            0x56 => [&mono[..], &[self.pat_at]].concat(),
            0x57 => [&full[..], &[self.pat_bg, self.pat_fg, low, high]].concat(),
            0x58 => [&mono[..], &[self.pat_bg, self.pat_fg, low, high]].concat(),
            0x59 => [&drawn[..], &[self.pat_bg, self.pat_fg]].concat(),
            0x71 => [
                &drawn[..],
                &[self.src_bg, self.src_fg],
                &dwords(&self.mono_imm)[..],
            ]
            .concat(),
            0x72 => [&drawn[..], &dwords(&self.pat_imm)].concat(),
            0x73 => [
                &drawn[..],
                &[src_at, src_pitch, self.src.base, self.key.1, self.key.2],
            ]
            .concat(),
            0x74 => [&full[..], &dwords(&self.pat_imm)].concat(),
            0x75 => [&mono[..], &dwords(&self.pat_imm)].concat(),
            0x76 => [&drawn[..], &[self.pat_at, self.key.1, self.key.2]].concat(),
            _ => [
                &drawn[..],
                &[self.key.1, self.key.2],
                &dwords(&self.pat_imm)[..],
            ]
            .concat(),
        };
        let mut cmds = Vec::new();
        let clip = [xy(cx1, cy1), xy(cx2, cy2)];
        let linear = matches!(self.opcode, 0x40 | 0x43);
        if self.on_setup() && self.mono_setup && self.opcode == 0x25 {
            let setup = [
                control,
                clip[0],
                clip[1],
                self.dst.base,
                self.pat_bg,
                self.pat_fg,
                low,
                high,
            ];
            cmds.push([&[header(0x11, mask | tiled, 9)][..], &setup].concat());
        } else if self.on_setup() {
            let (bg, fg) = if self.text() {
                (self.src_bg, self.src_fg)
            } else {
                (self.pat_bg, self.pat_fg)
            };
            let setup = [
                control,
                clip[0],
                clip[1],
                self.dst.base,
                bg,
                fg,
                self.pat_at,
            ];
            cmds.push([&[header(0x01, mask | tiled, 8)][..], &setup].concat());
        } else if self.clip.is_some() && !linear {
            cmds.push(vec![header(0x03, 0, 3), clip[0], clip[1]]);
        }
        cmds.push(
            [
                &[header(self.opcode, bits, 1 + operands.len())][..],
                &operands,
            ]
            .concat(),
        );
        cmds
    }

    /// Draws pixel by pixel.
    pub fn reference(&self, ram: &mut Ram) {
        let pixel = self.pixel();
        let linear = matches!(self.opcode, 0x40 | 0x43);
        let (x1, y1, x2, y2) = self.rect;
        let (mut x1, mut y1, mut x2, mut y2) =
            (i64::from(x1), i64::from(y1), i64::from(x2), i64::from(y2));
        let (mut sx, mut sy) = (i64::from(self.src_at.0), i64::from(self.src_at.1));
        if self.opcode == 0x24 {
            (x2, y2) = (x1 + 1, y1 + 1);
        }
        if linear {
            (x1, x2, y1, y2, sx, sy) = (0, x2 - x1, 0, y2 - y1, 0, 0);
        } else if self.colour_source() {
            // §8.9: the absolute value of a negative source coordinate is added to the destination's.
            if sx < 0 {
                x1 -= sx;
                sx = 0;
            }
            if sy < 0 {
                y1 -= sy;
                sy = 0;
            }
        }
        let pattern = self.pattern_pixels(ram);
        let same = self.colour_source() && !linear && self.src.base == self.dst.base;
        let (back_x, back_y) = if linear {
            (self.opcode == 0x43 && self.right_to_left, false)
        } else {
            (same && sx < x1, same && sy < y1)
        };
        let order = |first: i64, end: i64, back: bool| -> Vec<i64> {
            let all = first..end;
            if back {
                all.rev().collect()
            } else {
                all.collect()
            }
        };
        for y in order(y1, y2, back_y) {
            for x in order(x1, x2, back_x) {
                if x < 0 || y < 0 {
                    continue;
                }
                if let (Some((cx1, cy1, cx2, cy2)), false) = (self.clip, linear) {
                    let inside = (i64::from(cx1)..i64::from(cx2)).contains(&x)
                        && (i64::from(cy1)..i64::from(cy2)).contains(&y);
                    if !inside {
                        continue;
                    }
                }
                // Backwards, the linear commands' addresses are those of the line's last byte (§8.8.2).
                let shift = if linear && back_x {
                    1 - x2 * pixel as i64
                } else {
                    0
                };
                let bytes = pixel as i64;
                let to = self.dst.address(x * bytes, y) + shift;
                let from = self.src.address((sx + x - x1) * bytes, sy + y - y1) + shift;
                self.pixel_at(ram, &pattern, (x, y), (x1, y1), (to, from));
            }
        }
    }

    fn pixel_at(
        &self,
        ram: &mut Ram,
        pattern: &[u32; 64],
        at: (i64, i64),
        first: (i64, i64),
        (to, from): (i64, i64),
    ) {
        let pixel = self.pixel();
        let column = ((at.0 + i64::from(self.seed_x())) & 7) as usize;
        let row = ((at.1 + i64::from(self.seed_y())) & 7) as usize;
        let p = pattern[row * 8 + column];
        let mut written = true;
        let s = if self.colour_source() {
            ram.get(from, pixel)
        } else if self.mono_source() {
            let (stride, start) = self.mono_layout();
            let bit = start + stride * (at.1 - first.1) + at.0 - first.0;
            let byte = if matches!(self.opcode, 0x31 | 0x71) {
                u32::from(self.mono_imm[(bit / 8) as usize])
            } else {
                ram.get(i64::from(self.mono_at) + bit / 8, 1)
            };
            let set = byte >> (7 - bit % 8) & 1 != 0;
            written &= set || !self.src_transparent;
            if set {
                self.src_fg
            } else {
                self.src_bg
            }
        } else {
            0
        };
        let d = ram.get(to, pixel);
        if self.mono_pattern() && self.pat_transparent {
            let rows = self.rows();
            let solid = self.solid && self.can_be_solid();
            written &= !solid && rows[row] >> (7 - column) & 1 != 0;
        }
        if self.keyed() {
            let fields: &[(u32, u32, bool)] = match self.depth {
                0 => &[(0, 0xff, false)],
                1 => &[(0, 0x1f, false), (5, 0x3f, false), (11, 0x1f, false)],
                2 => &[
                    (0, 0x1f, false),
                    (5, 0x1f, false),
                    (10, 0x1f, false),
                    (15, 1, true),
                ],
                _ => &[
                    (0, 0xff, false),
                    (8, 0xff, false),
                    (16, 0xff, false),
                    (24, 0xff, true),
                ],
            };
            let (mode, low, high) = self.key;
            let within = |value: u32, alpha: bool| {
                fields
                    .iter()
                    .filter(|f| alpha || !f.2)
                    .all(|(shift, mask, _)| {
                        let part = |v: u32| v >> shift & mask;
                        part(low) <= part(value) && part(value) <= part(high)
                    })
            };
            written &= match mode {
                1 => !within(s, false),
                3 => !within(s, true),
                5 => within(d, true),
                7 => within(d, false),
                _ => true,
            };
        }
        if !written {
            return;
        }
        let mut result = 0;
        for bit in 0..8 * pixel {
            let index = (p >> bit & 1) << 2 | (s >> bit & 1) << 1 | (d >> bit & 1);
            result |= (u32::from(self.rop) >> index & 1) << bit;
        }
        let mut enable = u32::MAX;
        if self.depth == 3 {
            enable = 0;
            if self.mask & 1 != 0 {
                enable |= 0x00ff_ffff;
            }
            if self.mask & 2 != 0 {
                enable |= 0xff00_0000;
            }
        }
        ram.set(to, pixel, result, enable);
    }

    fn has_seeds(&self) -> bool {
        matches!(self.opcode, 0x25 | 0x51 | 0x52 | 0x55..=0x59 | 0x72 | 0x74..=0x77)
    }

    fn seed_x(&self) -> u32 {
        if self.has_seeds() {
            self.seed.0
        } else {
            0
        }
    }

    fn seed_y(&self) -> u32 {
        if self.has_seeds() {
            self.seed.1
        } else {
            0
        }
    }

    /// Rows of the monochrome pattern; the fixed ones as §8.9.14 draws them.
    fn rows(&self) -> [u8; 8] {
        if self.opcode != 0x59 {
            return self.pat_rows;
        }
        match self.fixed {
            0 => [0, 0, 0, 0xff, 0, 0, 0, 0],
            4 => [8, 8, 8, 0xff, 8, 8, 8, 8],
            5 => [0x81, 0x42, 0x24, 0x18, 0x18, 0x24, 0x42, 0x81],
            9 => [0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33],
            0xb => [0x77, 0xbb, 0xdd, 0xee, 0x77, 0xbb, 0xdd, 0xee],
            other => panic!("fixed pattern {other}"),
        }
    }

    fn pattern_pixels(&self, ram: &Ram) -> [u32; 64] {
        let pixel = self.pixel();
        let mut pixels = [0; 64];
        for (i, to) in pixels.iter_mut().enumerate() {
            *to = match self.opcode {
                0x24 | 0x40 | 0x50 => self.pat_bg,
                _ if self.mono_pattern() => {
                    let set = self.rows()[i / 8] >> (7 - i % 8) & 1 != 0;
                    if set && !(self.solid && self.can_be_solid()) {
                        self.pat_fg
                    } else {
                        self.pat_bg
                    }
                }
                0x25 | 0x51 | 0x55 | 0x56 | 0x76 => {
                    ram.get(i64::from(self.pat_at) + (i * pixel) as i64, pixel)
                }
                0x72 | 0x74 | 0x75 | 0x77 => {
                    let bytes = &self.pat_imm[i * pixel..(i + 1) * pixel];
                    bytes
                        .iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u32::from(*byte))
                }
                _ => 0,
            };
        }
        pixels
    }
}

/// A drawing command of ordinary parameters, at the given depth, with operands in different parts of 64 KB.
pub fn ordinary(opcode: u32, depth: u32, rop: u8) -> Draw {
    let pixel = [1, 2, 2, 4][depth as usize];
    let noise = |length: usize, seed: u32| Ram::noise(length, seed).bytes;
    Draw {
        opcode,
        depth,
        rop,
        mask: 3,
        dst: Surf {
            base: 0x1000,
            pitch: 64,
            tiled: false,
        },
        rect: (1, 2, 12, 6),
        clip: None,
        src: Surf {
            base: 0x4000,
            pitch: 96,
            tiled: false,
        },
        src_at: (2, 1),
        right_to_left: false,
        mono_at: 0x8000,
        mono_imm: noise(16, 5),
        bit: 3,
        byte_packed: false,
        src_bg: 0x5a3c_c369,
        src_fg: 0x0ff0_1e2d,
        src_transparent: false,
        pat_at: 0xa000,
        pat_imm: noise(64 * pixel, 7),
        pat_rows: [0x80, 0x41, 0x22, 0x14, 0x38, 0xf0, 0x0f, 0x99],
        pat_bg: 0x1122_3344,
        pat_fg: 0xfedc_ba98,
        pat_transparent: false,
        solid: false,
        mono_setup: false,
        fixed: 5,
        seed: (3, 5),
        key: (0, 0, 0),
    }
}

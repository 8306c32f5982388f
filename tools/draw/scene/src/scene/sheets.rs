// SPDX-License-Identifier: GPL-2.0
//! Proof sheets, outside of the picture: one surface for each colour depth and
//! tiling, on which every three-operand command draws with every raster
//! operation, and every other command with several, masks, seeds and clips.

use super::geometry::Noise;
use super::{Studio, Upload};
use crate::blt::{
    Blit, Command, Ink, Key, KeyMode, Mask, Packing, Pattern, Seed, Setup, SetupKind, Source,
};
use crate::reference::ReferenceError;
use crate::rop::Rop;
use crate::surface::{Address, Depth, Rect, Surface, Tiling};

/// Edge of a cell, the size of a pattern.
const CELL: i32 = 8;
/// Cells across, and cells down for each three-operand command.
const CELLS: i32 = 16;
/// Commands that take source and pattern.
const FULL: i32 = 6;
/// Rows below those, for the other commands.
const REST: i32 = 64;

/// What the commands of one sheet read.
struct Props {
    dst: Surface,
    noise: Surface,
    pattern: Address,
    bits: Address,
    data: Vec<u32>,
    random: Noise,
}

impl Props {
    fn colour(&mut self) -> u32 {
        self.random.next() & self.dst.depth.mask()
    }

    fn ink(&mut self) -> Ink {
        let background = (self.random.below(2) == 0).then(|| self.colour());
        Ink {
            foreground: self.colour(),
            background,
        }
    }

    fn seed(&mut self) -> Seed {
        Seed {
            x: self.random.below(8) as u8,
            y: self.random.below(8) as u8,
        }
    }

    fn rows(&mut self) -> [u8; 8] {
        std::array::from_fn(|_| self.random.next() as u8)
    }

    fn colour_source(&mut self) -> Source {
        let (x, y) = (self.random.below(52) as i16, self.random.below(52) as i16);
        Source::Colour {
            surface: self.noise,
            x,
            y,
        }
    }

    fn mono_source(&mut self) -> Source {
        let at = Address {
            offset: self.bits.offset + self.random.below(64),
            ..self.bits
        };
        let ink = self.ink();
        Source::Mono {
            at,
            bit: self.random.below(8) as u8,
            ink,
        }
    }

    fn mono_pattern(&mut self) -> Pattern {
        Pattern::Mono {
            rows: self.rows(),
            ink: self.ink(),
            seed: self.seed(),
        }
    }

    fn colour_pattern(&mut self) -> Pattern {
        Pattern::Colour {
            at: self.pattern,
            seed: self.seed(),
        }
    }

    fn immediate_pattern(&mut self) -> Pattern {
        Pattern::ColourImmediate {
            data: self.data.clone(),
            seed: self.seed(),
        }
    }
}

fn tiling_name(tiling: Tiling) -> &'static str {
    match tiling {
        Tiling::Linear => "linear",
        Tiling::X => "X-tiled",
    }
}

fn sheet(studio: &mut Studio, depth: Depth, tiling: Tiling, random: u32) -> Surface {
    let base = Address {
        buffer: studio.next_buffer(),
        offset: 0,
    };
    let (width, height) = (
        (CELLS * CELL) as u32 + 8,
        (CELLS * CELL * FULL + REST) as u32,
    );
    let grain = if tiling == Tiling::X { 512 } else { 64 };
    let pitch = (width * depth.bytes()).next_multiple_of(grain);
    let surface = Surface {
        base,
        pitch,
        width,
        height,
        depth,
        tiling,
    };
    let upload = if random.is_multiple_of(2) {
        Upload::WriteBack
    } else {
        Upload::Pwrite
    };
    studio.surface(
        format!("{} {:?}", tiling_name(tiling), depth),
        surface,
        upload,
    );
    surface
}

/// A surface full of noise to read from.
fn noise(studio: &mut Studio, depth: Depth, tiling: Tiling, random: &mut Noise) -> Surface {
    let base = Address {
        buffer: studio.next_buffer(),
        offset: 0,
    };
    let grain = if tiling == Tiling::X { 512 } else { 64 };
    let pitch = (64 * depth.bytes()).next_multiple_of(grain);
    let surface = Surface {
        base,
        pitch,
        width: 64,
        height: 64,
        depth,
        tiling,
    };
    let contents: Vec<u8> = (0..surface.bytes()).map(|_| random.next() as u8).collect();
    let upload = if tiling == Tiling::X {
        Upload::WriteCombined
    } else {
        Upload::Pwrite
    };
    studio.image(
        format!("noise {} {:?}", tiling_name(tiling), depth),
        surface,
        upload,
        &contents,
    );
    surface
}

/// Every raster operation with each command that has three operands.
fn three_operands(studio: &mut Studio, p: &mut Props) -> Result<(), ReferenceError> {
    for command in 0..FULL {
        let top = command * CELLS * CELL;
        let dst = p.dst;
        for (x, y) in [(0, 0), (64, 0), (0, 64), (64, 64)] {
            studio.push(Blit::copy(
                dst,
                Rect::new(x, top + y, 64, 64),
                p.noise,
                0,
                0,
            ))?;
        }
        for code in 0..=255u8 {
            let (column, row) = (i32::from(code) % CELLS, i32::from(code) / CELLS);
            let rect = Rect::new(column * CELL, top + row * CELL, CELL, CELL);
            let (source, pattern) = match command {
                0 => (p.colour_source(), p.colour_pattern()),
                1 => (p.colour_source(), p.immediate_pattern()),
                2 => (p.colour_source(), p.mono_pattern()),
                3 => (p.mono_source(), p.colour_pattern()),
                4 => (p.mono_source(), p.immediate_pattern()),
                _ => (p.mono_source(), p.mono_pattern()),
            };
            studio.push(Blit {
                rop: Rop(code),
                source,
                pattern,
                ..Blit::fill(dst, rect, 0)
            })?;
        }
    }
    Ok(())
}

/// The sixteen raster operations of pattern and destination.
const PATTERN_ROPS: [u8; 16] = [
    0x00, 0x05, 0x0a, 0x0f, 0x50, 0x55, 0x5a, 0x5f, 0xa0, 0xa5, 0xaa, 0xaf, 0xf0, 0xf5, 0xfa, 0xff,
];
/// The sixteen of source and destination.
const SOURCE_ROPS: [u8; 16] = [
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
];
/// Masks by turns.
const MASKS: [Mask; 4] = [
    Mask::ALL,
    Mask::RGB,
    Mask::ALPHA,
    Mask {
        rgb: false,
        alpha: false,
    },
];

/// The commands with one operand beside the destination, below the others.
fn two_operands(studio: &mut Studio, p: &mut Props) -> Result<(), ReferenceError> {
    let dst = p.dst;
    let top = CELLS * CELL * FULL;
    for x in [0, 64] {
        studio.push(Blit::copy(dst, Rect::new(x, top, 64, 64), p.noise, 0, 0))?;
    }
    let clip_rect = Rect::new(5, top + 3, 115, 58);
    for (i, (code, source_code)) in PATTERN_ROPS.into_iter().zip(SOURCE_ROPS).enumerate() {
        let mask = MASKS[i / 4];
        let place = |kind: i32| Rect::new(i as i32 * CELL, top + kind * 6, 11, 9);
        let clip = i % 2 == 1;
        let setup = Setup {
            dst,
            clip_rect,
            clip,
            rop: Rop(code),
            mask,
            background: p.colour(),
            foreground: p.colour(),
            kind: SetupKind::MonoPattern {
                rows: p.rows(),
                transparent: i % 3 == 1,
                solid: i % 3 == 2,
            },
        };
        studio.push(Command::Setup(setup.clone()))?;
        studio.push(Command::Scanlines {
            rect: place(0),
            seed: p.seed(),
            tiling: dst.tiling,
        })?;
        studio.push(Command::Pixel {
            x: 8 * i as i16 + 3,
            y: top as i16 + 2,
            tiling: dst.tiling,
        })?;
        studio.push(Command::Pixel {
            x: 8 * i as i16 + 3,
            y: top as i16 + 4,
            tiling: dst.tiling,
        })?;

        let kind = SetupKind::Text {
            transparent: i % 3 == 0,
            pattern: Some(p.pattern),
        };
        studio.push(Command::Setup(Setup {
            kind: kind.clone(),
            ..setup.clone()
        }))?;
        studio.push(Command::Scanlines {
            rect: place(1),
            seed: p.seed(),
            tiling: dst.tiling,
        })?;
        studio.push(Command::Setup(Setup {
            kind,
            rop: Rop(source_code),
            ..setup
        }))?;
        let packing = if i % 2 == 0 {
            Packing::Bit
        } else {
            Packing::Byte
        };
        studio.push(Command::Text {
            rect: place(2),
            at: p.bits,
            packing,
            tiling: dst.tiling,
        })?;
        studio.push(Command::SetupClip {
            rect: clip_rect.inset(2),
        })?;
        let data = (0..6).map(|_| p.random.next()).collect();
        studio.push(Command::TextImmediate {
            rect: place(3),
            data,
            packing,
            tiling: dst.tiling,
        })?;

        let patterns = [
            Pattern::Solid(p.colour()),
            p.colour_pattern(),
            p.immediate_pattern(),
            p.mono_pattern(),
        ];
        let fixed = Pattern::Fixed {
            code: [0, 1, 2, 3, 4, 5, 8, 9, 10, 11][i % 10],
            ink: p.ink(),
            seed: p.seed(),
        };
        for (kind, pattern) in (4..).zip(patterns.into_iter().chain([fixed])) {
            studio.push(Blit {
                clip,
                mask,
                ..Blit::pattern(dst, place(kind), pattern).with_rop(Rop(code))
            })?;
        }
        let imm = Source::MonoImmediate {
            data: (0..6).map(|_| p.random.next()).collect(),
            ink: p.ink(),
        };
        for (kind, source) in (0..).zip([p.colour_source(), p.mono_source(), imm]) {
            let rect = Rect::new(i as i32 * CELL, top + 24 + kind * 10, 9, 11);
            studio.push(Blit {
                clip,
                mask,
                source,
                pattern: Pattern::None,
                ..Blit::fill(dst, rect, 0).with_rop(Rop(source_code))
            })?;
        }
        keyed(studio, p, i as i32, Rop(source_code), Rop(code))?;
    }
    overlaps(studio, p, top)
}

/// Colour keys, of source and destination.
fn keyed(
    studio: &mut Studio,
    p: &mut Props,
    i: i32,
    source: Rop,
    pattern: Rop,
) -> Result<(), ReferenceError> {
    let dst = p.dst;
    let rect = Rect::new(i * CELL, CELLS * CELL * FULL + 52, 10, 11);
    let key = |mode| {
        Some(Key {
            mode,
            low: 0x2020_1020,
            high: 0xc0c0_b0b7,
        })
    };
    let from = p.colour_source();
    for mode in [KeyMode::Source, KeyMode::Destination] {
        let blit = Blit {
            source: from.clone(),
            pattern: Pattern::None,
            ..Blit::fill(dst, rect, 0)
        };
        studio.push(Blit {
            key: key(mode),
            ..blit.with_rop(source)
        })?;
    }
    for operand in [p.colour_pattern(), p.immediate_pattern()] {
        studio.push(Blit {
            key: key(KeyMode::Destination),
            ..Blit::pattern(dst, rect, operand).with_rop(pattern)
        })?;
    }
    Ok(())
}

/// Copies onto itself in all eight directions, and the two linear commands.
fn overlaps(studio: &mut Studio, p: &mut Props, top: i32) -> Result<(), ReferenceError> {
    let dst = p.dst;
    for (i, (dx, dy)) in [
        (1, 0),
        (-1, 0),
        (0, 1),
        (0, -1),
        (3, 2),
        (-3, 2),
        (3, -2),
        (-3, -2),
    ]
    .into_iter()
    .enumerate()
    {
        let (x, y) = (4 + 15 * i as i32, top + 20);
        let to = Rect::new(x + dx, y + dy, 9, 20);
        studio.push(Blit::copy(dst, to, dst, x as i16, y as i16))?;
    }
    if dst.tiling == Tiling::Linear {
        let at = |y: u32| Address {
            offset: dst.offset(0, top as u32 + y),
            ..dst.base
        };
        let (pitch, width) = (dst.pitch as u16, (40 * dst.depth.bytes()) as u16);
        let (depth, colour) = (dst.depth, p.colour());
        studio.push(Command::LinearFill {
            at: at(8),
            pitch,
            width,
            height: 5,
            depth,
            rop: Rop::PATTERN_XOR,
            mask: Mask::RGB,
            colour,
        })?;
        let from = p.noise.base;
        let from_pitch = p.noise.pitch as u16;
        if p.noise.tiling == Tiling::Linear {
            studio.push(Command::LinearCopy {
                to: at(16),
                to_pitch: pitch,
                from,
                from_pitch,
                width,
                height: 6,
                depth,
                rop: Rop::SOURCE_XOR,
            })?;
        }
        // Upwards onto itself: the one direction that needs no help.
        studio.push(Command::LinearCopy {
            to: at(28),
            to_pitch: pitch,
            from: at(30),
            from_pitch: pitch,
            width,
            height: 9,
            depth,
            rop: Rop::SOURCE,
        })?;
    }
    Ok(())
}

/// Draws the sheets.
pub fn draw(studio: &mut Studio) -> Result<(), ReferenceError> {
    studio.section("proof sheets");
    let mut random = Noise(0x6_2026);
    let bits: Vec<u8> = (0..256).map(|_| random.next() as u8).collect();
    let bits = studio.asset(&bits, 8);
    for depth in Depth::ALL {
        let pattern: Vec<u8> = (0..64 * depth.bytes())
            .map(|_| random.next() as u8)
            .collect();
        let data = pattern
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect::<Vec<_>>();
        let pattern = studio.asset(&pattern, 64 * depth.bytes() as usize);
        let linear = noise(studio, depth, Tiling::Linear, &mut random);
        let tiled = noise(studio, depth, Tiling::X, &mut random);
        for (tiling, noise) in [
            (Tiling::Linear, linear),
            (Tiling::X, linear),
            (Tiling::Linear, tiled),
            (Tiling::X, tiled),
        ] {
            // The full set once for each tiling; the mixed pairs get the shorter one.
            let full = tiling == noise.tiling;
            let dst = sheet(studio, depth, tiling, random.next());
            let mut props = Props {
                dst,
                noise,
                pattern,
                bits,
                data: data.clone(),
                random: Noise(random.next()),
            };
            if full {
                three_operands(studio, &mut props)?;
            }
            two_operands(studio, &mut props)?;
        }
    }
    Ok(())
}

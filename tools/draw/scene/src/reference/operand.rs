// SPDX-License-Identifier: GPL-2.0
//! The operands of a blit: source and pattern, each asked for one pixel at a
//! time. `None` means that this pixel is transparent and nothing is drawn.

use super::{Memory, ReferenceError};
use crate::blt::{Pattern, Seed};
use crate::surface::{Address, Depth, Rect, Surface};

/// Bits in memory order: bit 7 of the first byte is the first (G45 PRM Vol 1b §8.2.2.3).
pub struct Bits(Vec<u8>);

impl Bits {
    /// `count` bits from an address on.
    pub fn from_memory(memory: &Memory, at: Address, count: usize) -> Result<Bits, ReferenceError> {
        let start = at.offset as usize;
        let bytes = memory
            .buffers
            .get(at.buffer.0)
            .and_then(|b| b.get(start..start + count.div_ceil(8)));
        Ok(Bits(
            bytes
                .ok_or(ReferenceError::Outside(at.buffer.0, start))?
                .to_vec(),
        ))
    }

    /// Immediate data: the lowest byte of a dword is the first.
    pub fn from_dwords(data: &[u32]) -> Bits {
        Bits(data.iter().flat_map(|d| d.to_le_bytes()).collect())
    }

    /// One bit; beyond the end there are zeros.
    fn get(&self, index: usize) -> bool {
        self.0
            .get(index / 8)
            .is_some_and(|byte| byte & (0x80 >> (index % 8)) != 0)
    }
}

/// The source operand.
pub enum SourcePixels {
    /// There is none; the raster operation does not ask.
    None,
    /// Pixels, row by row, as they were before the command.
    Colour {
        /// Pixels.
        pixels: Vec<u32>,
        /// Pixels in a row.
        width: usize,
    },
    /// Bits and their colours.
    Mono {
        /// The bits.
        bits: Bits,
        /// Bits before the first.
        first: usize,
        /// Bits from row to row.
        stride: usize,
        /// Colour of ones.
        foreground: u32,
        /// Colour of zeros, if they have one.
        background: Option<u32>,
    },
}

impl SourcePixels {
    /// Reads the source of a copy to `rect` whole, before anything is written: what the
    /// blitter's choice of direction amounts to where the document promises it (§8.9.15).
    pub fn capture(
        memory: &Memory,
        surface: &Surface,
        x: i32,
        y: i32,
        rect: &Rect,
    ) -> Result<SourcePixels, ReferenceError> {
        let width = rect.width() as usize;
        let mut pixels = Vec::with_capacity(width * rect.height() as usize);
        for row in 0..rect.height() {
            for column in 0..rect.width() {
                pixels.push(memory.pixel(surface, x as u32 + column, y as u32 + row)?);
            }
        }
        Ok(SourcePixels::Colour { pixels, width })
    }

    /// The source for the pixel that lies so far from the rectangle's corner.
    pub fn at(&self, column: usize, row: usize) -> Option<u32> {
        match self {
            SourcePixels::None => Some(0),
            SourcePixels::Colour { pixels, width } => Some(pixels[row * width + column]),
            SourcePixels::Mono {
                bits,
                first,
                stride,
                foreground,
                background,
            } => {
                if bits.get(row * stride + first + column) {
                    Some(*foreground)
                } else {
                    *background
                }
            }
        }
    }
}

/// The pattern operand.
pub enum PatternPixels {
    /// There is none; the raster operation does not ask.
    None,
    /// One colour.
    Solid(u32),
    /// 64 pixels.
    Colour(Vec<u32>, Seed),
    /// 64 bits and their colours.
    Mono {
        /// Rows; bit 7 is the left end.
        rows: [u8; 8],
        /// Phase.
        seed: Seed,
        /// Colour of ones.
        foreground: u32,
        /// Colour of zeros, if they have one.
        background: Option<u32>,
    },
}

impl PatternPixels {
    /// The operand that a command names.
    pub fn of(
        memory: &Memory,
        pattern: &Pattern,
        depth: Depth,
    ) -> Result<PatternPixels, ReferenceError> {
        Ok(match pattern {
            Pattern::None => PatternPixels::None,
            Pattern::Solid(colour) => PatternPixels::Solid(*colour),
            Pattern::Colour { at, seed } => PatternPixels::from_memory(memory, *at, depth, *seed)?,
            Pattern::ColourImmediate { data, seed } => {
                let bytes: Vec<u8> = data.iter().flat_map(|d| d.to_le_bytes()).collect();
                PatternPixels::Colour(pixels(&bytes, depth), *seed)
            }
            Pattern::Mono { rows, ink, seed } => PatternPixels::Mono {
                rows: *rows,
                seed: *seed,
                foreground: ink.foreground,
                background: ink.background,
            },
            Pattern::Fixed { code, ink, seed } => PatternPixels::Mono {
                rows: fixed(*code).ok_or(ReferenceError::FixedPattern(*code))?,
                seed: *seed,
                foreground: ink.foreground,
                background: ink.background,
            },
        })
    }

    /// A colour pattern in memory: 64 pixels, row by row.
    pub fn from_memory(
        memory: &Memory,
        at: Address,
        depth: Depth,
        seed: Seed,
    ) -> Result<PatternPixels, ReferenceError> {
        let start = at.offset as usize;
        let bytes = memory
            .buffers
            .get(at.buffer.0)
            .and_then(|b| b.get(start..start + 64 * depth.bytes() as usize));
        let bytes = bytes.ok_or(ReferenceError::Outside(at.buffer.0, start))?;
        Ok(PatternPixels::Colour(pixels(bytes, depth), seed))
    }

    /// The pattern at a pixel of the destination (§8.9.5: coordinate plus seed, modulo 8).
    pub fn at(&self, x: u32, y: u32) -> Option<u32> {
        let place = |seed: &Seed| ((x + u32::from(seed.x)) % 8, (y + u32::from(seed.y)) % 8);
        match self {
            PatternPixels::None => Some(0),
            PatternPixels::Solid(colour) => Some(*colour),
            PatternPixels::Colour(pixels, seed) => {
                let (column, row) = place(seed);
                Some(pixels[(row * 8 + column) as usize])
            }
            PatternPixels::Mono {
                rows,
                seed,
                foreground,
                background,
            } => {
                let (column, row) = place(seed);
                if rows[row as usize] & (0x80 >> column) != 0 {
                    Some(*foreground)
                } else {
                    *background
                }
            }
        }
    }
}

fn pixels(bytes: &[u8], depth: Depth) -> Vec<u32> {
    let size = depth.bytes() as usize;
    bytes
        .chunks_exact(size)
        .map(|p| p.iter().rev().fold(0, |v, b| (v << 8) | u32::from(*b)))
        .collect()
}

/// Rows of the patterns that the blitter knows by code (§8.9.14; the two diagonals
/// are damaged in the document and follow their names).
pub(crate) fn fixed(code: u8) -> Option<[u8; 8]> {
    Some(match code {
        0 => [0, 0, 0, 0xff, 0, 0, 0, 0],
        1 => [0x08; 8],
        2 => [0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01],
        3 => [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80],
        4 => [0x08, 0x08, 0x08, 0xff, 0x08, 0x08, 0x08, 0x08],
        5 => [0x81, 0x42, 0x24, 0x18, 0x18, 0x24, 0x42, 0x81],
        8 => [0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa],
        9 => [0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33],
        10 => [0x88, 0x44, 0x22, 0x11, 0x88, 0x44, 0x22, 0x11],
        11 => [0x77, 0xbb, 0xdd, 0xee, 0x77, 0xbb, 0xdd, 0xee],
        _ => return None,
    })
}

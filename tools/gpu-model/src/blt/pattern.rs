// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Patterns: 8 x 8 pixels, in colour or expanded from one bit per pixel (G45 PRM V1b §8.2.2.4, §8.9.14.1).

use super::surface::Surface;
use super::{BltMemory, Depth};
use crate::slip::{self, Slip};

/// A pattern operand as the command gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// The command has none: reads as 0.
    Absent,
    /// One colour.
    Solid(u32),
    /// Colour pixels in linear memory, row after row.
    Memory(u64),
    /// Colour pixels that came with the command.
    Immediate(Vec<u8>),
    /// One bit per pixel: byte n is row n, bit 7 its first pixel.
    Mono {
        /// The rows.
        rows: [u8; 8],
        /// Colour of bits 0.
        background: u32,
        /// Colour of bits 1.
        foreground: u32,
    },
}

/// A pattern as the raster operation takes it: pixels of the destination's depth.
pub(super) struct Cell {
    /// Rows of 8 pixels.
    pixels: [u8; 256],
    bytes_per_pixel: usize,
    /// Whether all pixels are the same.
    pub solid: bool,
}

impl Pattern {
    /// Fetches and expands the pattern. Only memory patterns read: one read of 64, 128 or 256 bytes.
    pub fn load(&self, mem: &mut dyn BltMemory, depth: Depth) -> Cell {
        let bytes_per_pixel = depth.bytes();
        let mut pixels = [0; 256];
        let all = &mut pixels[..64 * bytes_per_pixel];
        match self {
            Pattern::Absent => {}
            Pattern::Solid(colour) => fill(all, *colour, bytes_per_pixel),
            Pattern::Memory(address) => Surface::plain(*address).read(mem, 0, 0, all),
            Pattern::Immediate(bytes) => {
                for (to, from) in all.iter_mut().zip(bytes) {
                    *to = *from;
                }
            }
            Pattern::Mono {
                rows,
                background,
                foreground,
            } => {
                for (i, pixel) in all.chunks_exact_mut(bytes_per_pixel).enumerate() {
                    let bit = match slip::is(Slip::PatternBitsReversed) {
                        true => rows[i / 8] & (1 << (i % 8)),
                        false => rows[i / 8] & (0x80 >> (i % 8)),
                    };
                    let colour = if bit != 0 { foreground } else { background };
                    pixel.copy_from_slice(&colour.to_le_bytes()[..bytes_per_pixel]);
                }
            }
        }
        Cell {
            pixels,
            bytes_per_pixel,
            solid: matches!(self, Pattern::Absent | Pattern::Solid(_)),
        }
    }
}

impl Cell {
    /// Fills a line with row `row` of the pattern, beginning at its pixel `first`.
    pub fn line(&self, row: usize, first: usize, line: &mut [u8]) {
        let bytes = 8 * self.bytes_per_pixel;
        let row = &self.pixels[(row & 7) * bytes..][..bytes];
        let start = (first & 7) * self.bytes_per_pixel;
        for (chunk, at) in line.chunks_mut(bytes).map(|c| (c.len(), c)) {
            let head = (bytes - start).min(chunk);
            at[..head].copy_from_slice(&row[start..start + head]);
            let tail = chunk - head;
            at[head..].copy_from_slice(&row[..tail]);
        }
    }
}

/// Fills a buffer with one colour.
pub(super) fn fill(buf: &mut [u8], colour: u32, bytes_per_pixel: usize) {
    let colour = colour.to_le_bytes();
    for pixel in buf.chunks_mut(bytes_per_pixel) {
        let length = pixel.len();
        pixel.copy_from_slice(&colour[..length]);
    }
}

/// Rows of a fixed pattern (§8.9.14.2 to §8.9.14.11); `None` for a reserved code.
///
/// The document's pictures of the two diagonals are damaged. What is left of them fits the single diagonals that
/// HS_DIAGCROSS is made of, and BDIAGONAL's last row is legible as 80h.
pub(super) fn fixed(code: u8) -> Option<[u8; 8]> {
    let code = match code {
        2 | 3 if slip::is(Slip::FixedPatternsMirrored) => code ^ 1,
        _ => code,
    };
    Some(match code {
        0x0 => [0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, 0x00], // HS_HORIZONTAL
        0x1 => [0x08; 8],                                        // HS_VERTICAL
        0x2 => [0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01], // HS_FDIAGONAL
        0x3 => [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80], // HS_BDIAGONAL
        0x4 => [0x08, 0x08, 0x08, 0xff, 0x08, 0x08, 0x08, 0x08], // HS_CROSS
        0x5 => [0x81, 0x42, 0x24, 0x18, 0x18, 0x24, 0x42, 0x81], // HS_DIAGCROSS
        0x8 => [0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa], // screen door
        0x9 => [0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33], // wide screen door
        0xa => [0x88, 0x44, 0x22, 0x11, 0x88, 0x44, 0x22, 0x11], // walking one
        0xb => [0x77, 0xbb, 0xdd, 0xee, 0x77, 0xbb, 0xdd, 0xee], // walking zero
        _ => return None,
    })
}

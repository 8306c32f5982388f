// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Monochrome sources: one bit per pixel, in memory or in the command (G45 PRM V1b §8.2.2.3, §8.9.6, §8.9.17).

use super::surface::Surface;
use super::BltMemory;
use crate::slip::{self, Slip};

/// A monochrome source operand. Bit 7 of a byte is its first pixel (§8.9.14.1 says so of patterns; §8.2.3.2 draws a
/// glyph the same way).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mono {
    /// Where the bits are.
    pub bits: Bits,
    /// Bit that is the first pixel of the first line.
    pub first: u64,
    /// Bits from a line to the next.
    pub stride: u64,
    /// Colour of bits 0.
    pub background: u32,
    /// Colour of bits 1.
    pub foreground: u32,
    /// Pixels of bit 0 are not written.
    pub transparent: bool,
}

/// Where a monochrome source's bits are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    /// In memory, from this address on.
    Memory(u64),
    /// In the command.
    Immediate(Vec<u8>),
}

/// How the lines of a monochrome source follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Text: the next line starts with the next bit.
    Bit,
    /// Text: the next line starts with the next byte.
    Byte,
    /// All others: the next line starts with the next 16 bits, at the same bit position as the first.
    Word,
}

impl Packing {
    /// Bits from a line to the next, of lines of `width` pixels that start at bit `position`.
    pub const fn stride(self, width: u64, position: u64) -> u64 {
        match self {
            Packing::Bit => width,
            Packing::Byte => width.next_multiple_of(8),
            Packing::Word => (position + width).next_multiple_of(16),
        }
    }
}

/// The place in a byte of its pixel `n`: the first is bit 7.
fn first_is(n: usize) -> usize {
    match slip::is(Slip::MonoBitsReversed) {
        true => n,
        false => 7 - n,
    }
}

impl Mono {
    /// Bytes that `lines` lines of `width` pixels take.
    pub const fn size(&self, width: u64, lines: u64) -> u64 {
        if width == 0 || lines == 0 {
            return 0;
        }
        (self.first + (lines - 1) * self.stride + width).div_ceil(8)
    }

    /// Fetches `out.len()` pixels of line `line` from pixel `column` on: 1 or 0 each.
    pub fn line(
        &self,
        mem: &mut dyn BltMemory,
        line: u64,
        column: u64,
        scratch: &mut Vec<u8>,
        out: &mut [u8],
    ) {
        let first = self.first + line * self.stride + column;
        let bytes = (first % 8 + out.len() as u64).div_ceil(8) as usize;
        let start = first / 8;
        let bytes = match &self.bits {
            Bits::Memory(address) => {
                scratch.clear();
                scratch.resize(bytes, 0);
                Surface::plain(*address).read(mem, start, 0, scratch);
                &scratch[..]
            }
            // The parser has seen that the data suffice for the rectangle.
            Bits::Immediate(data) => data
                .get(start as usize..start as usize + bytes)
                .unwrap_or(&[]),
        };
        let phase = (first % 8) as usize;
        for (i, out) in out.iter_mut().enumerate() {
            let bit = phase + i;
            *out = bytes
                .get(bit / 8)
                .map_or(0, |byte| (byte >> first_is(bit % 8)) & 1);
        }
    }
}

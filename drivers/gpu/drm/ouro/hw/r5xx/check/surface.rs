// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Computes the memory that rows of pixels take, with or without tiling (§2.2, §2.3; digest §4.1).
//!
//! A micro block is 32 bytes, a macro tile 8 by 8 of them. A row of blocks or tiles is contiguous
//! in memory, so sizes are rounded up to the next row of them.

use super::{require, Checked, Refused};
use crate::fence_regs::Tiling;

/// Blocks of 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Micro {
    /// Part of a row.
    #[default]
    Linear,
    /// The usual rectangle.
    Tiled,
    /// A square; only for 16 bits per pixel.
    Square,
}

/// A pixel has fewer bytes than this.
const BYTES: usize = 17;

/// Pixels and rows of a block, by its kind and the bytes per pixel; zero if there is no such block.
static BLOCKS: [[[u8; 2]; BYTES]; 3] = [
    blocks([[32, 1], [16, 1], [8, 1], [4, 1], [2, 1]]),
    blocks([[8, 4], [8, 2], [4, 2], [2, 2], [0, 0]]),
    blocks([[0, 0], [4, 4], [0, 0], [0, 0], [0, 0]]),
];

/// Returns a table by bytes per pixel, from the values for 1, 2, 4, 8 and 16 bytes.
const fn blocks(by_logarithm: [[u8; 2]; 5]) -> [[u8; 2]; BYTES] {
    let mut all = [[0; 2]; BYTES];
    let mut n = 0;
    while n < by_logarithm.len() {
        all[1 << n] = by_logarithm[n];
        n += 1;
    }
    all
}

/// Tiling of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tiles {
    /// Whether there are macro tiles.
    pub(super) macro_tiles: bool,
    /// The blocks.
    pub(super) micro: Micro,
}

impl Tiles {
    /// Decodes the two fields of surface registers: one bit, and two bits.
    pub(super) fn from_fields(macro_bit: u32, micro: u32) -> Checked<Self> {
        const KINDS: [Option<Micro>; 4] = [
            Some(Micro::Linear),
            Some(Micro::Tiled),
            Some(Micro::Square),
            None,
        ];
        let micro = KINDS[(micro & 3) as usize].ok_or(Refused::Tiling)?;
        Ok(Self {
            macro_tiles: macro_bit != 0,
            micro,
        })
    }

    /// Returns the two fields.
    pub(super) const fn fields(self) -> (u32, u32) {
        let micro = match self.micro {
            Micro::Linear => 0,
            Micro::Tiled => 1,
            Micro::Square => 2,
        };
        (self.macro_tiles as u32, micro)
    }

    /// Returns the tiling of a BO.
    pub(super) fn of(tiling: Option<Tiling>) -> Checked<Self> {
        let (macro_tiles, micro) = match tiling {
            None => (false, Micro::Linear),
            Some(Tiling::Macro) => (true, Micro::Linear),
            Some(Tiling::Micro) => (false, Micro::Tiled),
            Some(Tiling::MacroMicro) => (true, Micro::Tiled),
            Some(Tiling::Square) => (false, Micro::Square),
            Some(Tiling::MacroSquare) => (true, Micro::Square),
            Some(Tiling::X | Tiling::Y) => return Err(Refused::Tiling),
        };
        Ok(Self { macro_tiles, micro })
    }

    /// Returns the pixels and rows of the smallest contiguous unit, for `pixel` bytes per pixel.
    /// Refused if there is no such block.
    pub(super) fn grain(self, pixel: u32) -> Checked<(u32, u32)> {
        let blocks = BLOCKS[self.micro as usize].get(pixel as usize);
        let [width, rows] = *blocks.ok_or(Refused::Tiling)?;
        require(width != 0, Refused::Tiling)?;
        let blocks = if self.macro_tiles { 3 } else { 0 };
        Ok((u32::from(width) << blocks, u32::from(rows) << blocks))
    }

    /// Returns the alignment of a surface in bytes.
    pub(super) const fn alignment(self) -> u32 {
        match self.macro_tiles {
            true => 2048,
            false => 32,
        }
    }
}

/// Returns whether a value is a multiple of a power of two. All blocks and tiles are powers of two,
/// so the checker divides nothing.
pub(super) const fn is_aligned(value: u32, to: u32) -> bool {
    value & to.wrapping_sub(1) == 0
}

/// Returns the next multiple of a power of two, for values far below 64 bits.
pub(super) const fn align(value: u64, to: u32) -> u64 {
    let mask = (to as u64).wrapping_sub(1);
    value.wrapping_add(mask) & !mask
}

/// Returns the bytes of the first `rows` rows of a surface. Refused if its pitch, in pixels, is not
/// a multiple of blocks or tiles.
pub(super) fn bytes(pitch: u32, rows: u32, pixel: u32, tiles: Tiles) -> Checked<u64> {
    let (width, height) = tiles.grain(pixel)?;
    require(pitch != 0 && is_aligned(pitch, width), Refused::Tiling)?;
    padded(pitch.into(), rows, pixel, height)
}

/// Returns the bytes of the first `rows` rows of a surface, with the pitch rounded up to whole
/// blocks or tiles. Refused if the pitch is zero.
pub(super) fn rounded(pitch: u32, rows: u32, pixel: u32, tiles: Tiles) -> Checked<u64> {
    let (width, height) = tiles.grain(pixel)?;
    require(pitch != 0, Refused::Tiling)?;
    padded(align(pitch.into(), width), rows, pixel, height)
}

/// Returns the bytes up to the last pixel of `rows` rows that have more columns than the pitch, by
/// the address formula (§2.2, §2.3): a pixel behind the pitch is in the next row of blocks or
/// tiles. The pitch is rounded up to whole ones.
pub(super) fn beyond(
    pitch: u32,
    columns: u32,
    rows: u32,
    pixel: u32,
    tiles: Tiles,
) -> Checked<u64> {
    let (width, height) = tiles.grain(pixel)?;
    let before = padded(
        align(pitch.into(), width),
        rows.saturating_sub(height),
        pixel,
        height,
    )?;
    let last = padded(align(columns.into(), width), 1, pixel, height)?;
    before.checked_add(last).ok_or(Refused::Offset)
}

/// Returns the bytes of rows, rounded up to a multiple of `height` rows.
pub(super) fn padded(pitch: u64, rows: u32, pixel: u32, height: u32) -> Checked<u64> {
    pitch
        .checked_mul(pixel.into())
        .and_then(|row| row.checked_mul(align(rows.into(), height)))
        .ok_or(Refused::Offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_tiles_are_those_of_2_2_and_2_3() {
        let grain = |pixel, macro_tiles, micro| Tiles { macro_tiles, micro }.grain(pixel);
        for (pixel, micro, block, tile) in [
            (1, Micro::Linear, (32, 1), (256, 8)),
            (1, Micro::Tiled, (8, 4), (64, 32)),
            (2, Micro::Linear, (16, 1), (128, 8)),
            (2, Micro::Tiled, (8, 2), (64, 16)),
            (2, Micro::Square, (4, 4), (32, 32)),
            (4, Micro::Linear, (8, 1), (64, 8)),
            (4, Micro::Tiled, (4, 2), (32, 16)),
            (8, Micro::Linear, (4, 1), (32, 8)),
            (8, Micro::Tiled, (2, 2), (16, 16)),
            (16, Micro::Linear, (2, 1), (16, 8)),
        ] {
            assert_eq!(grain(pixel, false, micro), Ok(block), "{pixel} {micro:?}");
            assert_eq!(grain(pixel, true, micro), Ok(tile), "{pixel} {micro:?}");
        }
        for (pixel, micro) in [
            (16, Micro::Tiled),
            (1, Micro::Square),
            (4, Micro::Square),
            (8, Micro::Square),
            (3, Micro::Linear),
        ] {
            assert_eq!(grain(pixel, false, micro), Err(Refused::Tiling));
        }
    }

    #[test]
    fn sizes_are_those_of_digest_4_1() {
        let tiles = Tiles {
            macro_tiles: true,
            micro: Micro::Tiled,
        };
        // The last pixel of 256 by 64 of four bytes is at FFFCh, of 8-bit ones at 3FFFh.
        assert_eq!(bytes(256, 64, 4, tiles), Ok(0x1_0000));
        assert_eq!(bytes(256, 64, 1, tiles), Ok(0x4000));
        assert_eq!(bytes(256, 1, 4, tiles), Ok(16384));
        assert_eq!(bytes(256, 17, 4, tiles), Ok(2 * 16384));
        // Pitches of whole tiles only.
        assert_eq!(bytes(48, 1, 4, tiles), Err(Refused::Tiling));
        assert_eq!(bytes(0, 1, 4, tiles), Err(Refused::Tiling));
        assert_eq!(bytes(8, 3, 4, Tiles::default()), Ok(96));
        assert_eq!(bytes(12, 3, 4, Tiles::default()), Err(Refused::Tiling));
    }

    #[test]
    fn columns_beyond_the_pitch_are_in_the_next_rows() {
        let square = Tiles {
            macro_tiles: false,
            micro: Micro::Square,
        };
        // Blocks of 4 by 4 of two bytes, one in a row: the block of column 127 is the 32nd of its
        // row, that of row 63 the 16th.
        assert_eq!(beyond(4, 128, 1, 2, square), Ok(32 * 32));
        assert_eq!(beyond(4, 128, 64, 2, square), Ok((15 + 32) * 32));
        assert_eq!(beyond(4, 129, 65, 2, square), Ok((16 + 33) * 32));
        // Macro tiles of 32 by 32, two in a row.
        let tiles = Tiles {
            macro_tiles: true,
            ..square
        };
        assert_eq!(beyond(64, 65, 33, 2, tiles), Ok((2 + 3) * 2048));
        assert_eq!(beyond(33, 65, 33, 2, tiles), Ok((2 + 3) * 2048));
        // Rows of 32 bytes.
        assert_eq!(beyond(8, 20, 3, 4, Tiles::default()), Ok((2 + 3) * 32));
    }
}

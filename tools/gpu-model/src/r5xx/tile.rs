// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Where a byte of a surface lies: micro-blocks of 32 bytes, macro tiles of 64 of them (R5xx guide
//! §2.2, §2.3; the order inside, which the document leaves to figures, from digest §4.1).
//!
//! Everything is counted in bytes and rows. A micro-block is 32 bytes in every case; its shape
//! depends on the micro mode and the pixel's size ([`Micro`]). One function serves the engines and
//! the host path, so that both agree.

use crate::slip::{self, Slip};

/// Bytes of a micro-block.
pub const MICRO_BYTES: u64 = 32;
/// Bytes of a macro tile: 8 x 8 micro-blocks.
pub const MACRO_BYTES: u64 = 2048;

/// Shape of a micro-block (§2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Micro {
    /// A run of 32 bytes.
    #[default]
    Linear,
    /// 16 bytes by 2 rows: 8x2 pixels of 16 bits, 4x2 of 32, 2x2 of 64.
    Tiled,
    /// 8 bytes by 4 rows: 8x4 pixels of 8 bits, and the "square" 4x4 of 16 bits.
    Square,
}

impl Micro {
    /// The shape that the "tiled" bit selects for pixels of so many bytes; `None` where the document
    /// has no micro-tiled form (128 bits).
    pub const fn tiled(bytes_per_pixel: u32) -> Option<Micro> {
        match bytes_per_pixel {
            1 => Some(Micro::Square),
            2 | 4 | 8 => Some(Micro::Tiled),
            _ => None,
        }
    }

    /// Bytes across a micro-block.
    pub const fn width(self) -> u64 {
        1 << self.log2_width()
    }

    /// Rows of a micro-block.
    pub const fn height(self) -> u64 {
        1 << self.log2_height()
    }

    const fn log2_width(self) -> u32 {
        match self {
            Micro::Linear => 5,
            Micro::Tiled => 4,
            Micro::Square => 3,
        }
    }

    const fn log2_height(self) -> u32 {
        MICRO_BYTES.ilog2() - self.log2_width()
    }
}

/// Layout of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Macro tiles.
    pub macro_tiled: bool,
    /// Shape of the micro-blocks.
    pub micro: Micro,
    /// Bytes from a row to the next, as if there were no tiles.
    pub pitch: u64,
}

impl Layout {
    /// A surface of plain rows.
    pub const fn linear(pitch: u64) -> Self {
        Layout {
            macro_tiled: false,
            micro: Micro::Linear,
            pitch,
        }
    }

    /// True if bytes of a row follow each other, and rows too.
    pub fn is_linear(&self) -> bool {
        !self.macro_tiled && self.micro == Micro::Linear
    }

    /// The least width, in bytes, of which the pitch must be a multiple (§2.3).
    pub const fn pitch_unit(&self) -> u64 {
        self.micro.width() * if self.macro_tiled { 8 } else { 1 }
    }

    /// Rows that are stored together; the height of a surface is rounded up to a multiple (§2.3).
    pub const fn row_unit(&self) -> u64 {
        self.micro.height() * if self.macro_tiled { 8 } else { 1 }
    }

    /// True if the pitch fits the tiles and is not zero.
    pub fn pitch_ok(&self) -> bool {
        self.pitch != 0 && (self.is_linear() || self.pitch.is_multiple_of(self.pitch_unit()))
    }

    /// Bytes of a surface with `rows` rows, rounded as it is stored.
    pub fn size(&self, rows: u64) -> u64 {
        let unit = if self.is_linear() { 1 } else { self.row_unit() };
        self.pitch.saturating_mul(rows.div_ceil(unit) * unit)
    }

    /// Offset from the surface's base of the byte at column `x` (in bytes) of row `y`.
    pub fn offset(&self, x: u64, y: u64) -> u64 {
        if self.is_linear() {
            return y * self.pitch + x;
        }
        // All units are powers of two: each pixel that is drawn comes here, and a division takes longer than the rest.
        let (w, h) = (self.micro.log2_width(), self.micro.log2_height());
        let inside = (y & ((1 << h) - 1)) << w | (x & ((1 << w) - 1));
        let (column, row) = (x >> w, y >> h);
        if !self.macro_tiled {
            return (row * (self.pitch >> w) + column) * MICRO_BYTES + inside;
        }
        let tile = (row >> 3) * (self.pitch >> (w + 3)) + (column >> 3);
        let block = match slip::is(Slip::MacroTileByColumns) {
            true => (column & 7) * 8 + (row & 7),
            false => (row & 7) * 8 + (column & 7),
        };
        tile * MACRO_BYTES + block * MICRO_BYTES + inside
    }

    /// Returns how many bytes from column `x` on are contiguous in memory.
    pub fn run(&self, x: u64) -> u64 {
        if self.is_linear() {
            u64::MAX
        } else {
            self.micro.width() - x % self.micro.width()
        }
    }

    /// Offset and length of everything in columns `x` (bytes) and rows `y`, whose second ends are outside: rows
    /// where it is linear, runs of whole blocks where it is micro-tiled, else of whole tiles.
    pub fn ranges(
        &self,
        (x0, x1): (u64, u64),
        (y0, y1): (u64, u64),
    ) -> impl Iterator<Item = (u64, u64)> + use<> {
        let layout = *self;
        let (rows, columns, bytes) = if layout.macro_tiled {
            (layout.row_unit(), layout.pitch_unit(), MACRO_BYTES)
        } else if layout.micro == Micro::Linear {
            (1, 1, 1)
        } else {
            (layout.micro.height(), layout.micro.width(), MICRO_BYTES)
        };
        let empty = x1 <= x0 || y1 <= y0;
        let end = if empty { 0 } else { y1.div_ceil(rows) };
        let (first, last) = (x0 / columns, x1.div_ceil(columns));
        (y0 / rows..end).map(move |row| {
            let start = layout.offset(first * columns, row * rows);
            (start, last.saturating_sub(first) * bytes)
        })
    }

    /// The inverse of [`Self::offset`]: column in bytes and row of the byte stored at `offset`.
    pub fn position(&self, offset: u64) -> (u64, u64) {
        if self.pitch == 0 {
            return (offset, 0);
        }
        if self.is_linear() {
            return (offset % self.pitch, offset / self.pitch);
        }
        let (mw, mh) = (self.micro.width(), self.micro.height());
        let (inside, block) = (offset % MICRO_BYTES, offset / MICRO_BYTES);
        let (bx, by) = if self.macro_tiled {
            let across = (self.pitch / (8 * mw)).max(1);
            let (tile, block) = (block / 64, block % 64);
            (tile % across * 8 + block % 8, tile / across * 8 + block / 8)
        } else {
            let across = (self.pitch / mw).max(1);
            (block % across, block / across)
        };
        (bx * mw + inside % mw, by * mh + inside / mw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, macro, micro shape, bytes per pixel, then the offsets that digest §4.1 prints.
    type Row = (&'static str, bool, Micro, u64, [u64; 5]);

    /// Pixels whose offsets are printed, for a pitch of 256 pixels.
    const PIXELS: [(u64, u64); 5] = [(1, 0), (0, 1), (5, 3), (33, 17), (255, 63)];

    const PRINTED: &[Row] = &[
        (
            "8 macro+micro",
            true,
            Micro::Square,
            1,
            [0x1, 0x8, 0x1d, 0x489, 0x3fff],
        ),
        (
            "16 macro+micro",
            true,
            Micro::Tiled,
            2,
            [0x2, 0x10, 0x11a, 0x2092, 0x7ffe],
        ),
        (
            "16 macro+square",
            true,
            Micro::Square,
            2,
            [0x2, 0x8, 0x3a, 0xc0a, 0x7ffe],
        ),
        (
            "16 macro",
            true,
            Micro::Linear,
            2,
            [0x2, 0x100, 0x30a, 0x2142, 0x7ffe],
        ),
        (
            "32 macro+micro",
            true,
            Micro::Tiled,
            4,
            [0x4, 0x10, 0x134, 0x4814, 0xfffc],
        ),
        (
            "32 macro",
            true,
            Micro::Linear,
            4,
            [0x4, 0x100, 0x314, 0x4184, 0xfffc],
        ),
        (
            "32 micro",
            false,
            Micro::Tiled,
            4,
            [0x4, 0x10, 0x834, 0x4114, 0xfffc],
        ),
        (
            "64 macro+micro",
            true,
            Micro::Tiled,
            8,
            [0x8, 0x10, 0x158, 0x9018, 0x1fff8],
        ),
    ];

    #[test]
    fn the_printed_offsets() {
        for (name, macro_tiled, micro, bytes, expected) in PRINTED {
            let layout = Layout {
                macro_tiled: *macro_tiled,
                micro: *micro,
                pitch: 256 * bytes,
            };
            let found = PIXELS.map(|(x, y)| layout.offset(x * bytes, y));
            assert_eq!(found, *expected, "{name}");
        }
    }

    #[test]
    fn every_byte_has_one_place() {
        for macro_tiled in [false, true] {
            for micro in [Micro::Linear, Micro::Tiled, Micro::Square] {
                let layout = Layout {
                    macro_tiled,
                    micro,
                    pitch: 512,
                };
                let rows = 2 * layout.row_unit();
                let mut seen = vec![false; layout.size(rows) as usize];
                for y in 0..rows {
                    for x in 0..512 {
                        let at = layout.offset(x, y);
                        assert!(!seen[at as usize], "{layout:?} {x} {y}");
                        seen[at as usize] = true;
                        assert_eq!(layout.position(at), (x, y), "{layout:?}");
                    }
                }
                assert!(seen.iter().all(|s| *s), "{layout:?}");
            }
        }
    }

    /// The shapes of §2.2 in pixels, and the widths and heights of macro tiles of §2.3.
    #[test]
    fn shapes_are_those_of_the_document() {
        for (bytes, block, tile) in [
            (1, (8, 4), (64, 32)),
            (2, (8, 2), (64, 16)),
            (4, (4, 2), (32, 16)),
            (8, (2, 2), (16, 16)),
        ] {
            let micro = Micro::tiled(bytes).expect("a shape");
            let pixels = micro.width() / u64::from(bytes);
            assert_eq!((pixels, micro.height()), block, "{bytes}");
            assert_eq!((8 * pixels, 8 * micro.height()), tile, "{bytes}");
        }
        assert_eq!(Micro::tiled(16), None);
    }
}

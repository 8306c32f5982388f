// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Where a byte of a tiled surface lies, for the tilings that DG2's blitter knows: X tiles of 512 bytes
//! by 8 rows, row after row, and Tile4, 128 bytes by 32 rows, made of blocks of 16 bytes by 4 rows.
//! The document has no tilings; Tile4's order of blocks is that of published drivers. Tile64 is not
//! modelled.

use crate::slip::{self, Slip};

/// A tiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Row after row.
    Linear,
    /// X tiles.
    X,
    /// Tile4.
    Four,
}

impl Tiling {
    /// Bytes and rows of a tile; a linear surface has none.
    pub fn tile(self) -> (u64, u64) {
        match self {
            Tiling::Linear => (1, 1),
            Tiling::X => (512, 8),
            Tiling::Four => (128, 32),
        }
    }

    /// Bytes that lie side by side.
    pub fn run(self) -> u64 {
        match self {
            Tiling::Linear => u64::MAX,
            Tiling::X => 512,
            Tiling::Four => 16,
        }
    }

    /// Offset of the byte at `x` (in bytes) of row `y`, in a surface of `pitch` bytes.
    pub fn offset(self, x: u64, y: u64, pitch: u64) -> u64 {
        let (width, height) = self.tile();
        let tile = (y / height * height) * pitch + x / width * (width * height);
        let (x, y) = (x % width, y % height);
        match self {
            Tiling::Linear => tile,
            Tiling::X => tile + y * 512 + x,
            Tiling::Four => {
                let (column, row) = (x / 16, y / 4);
                // Eight blocks make 64 bytes by 8 rows: four, and the four below. Two of these stand
                // side by side.
                let block = match slip::is(Slip::TileFourByRows) {
                    true => row * 8 + column,
                    false => (row >> 1) * 16 + (column >> 2) * 8 + (row & 1) * 4 + (column & 3),
                };
                tile + block * 64 + (y % 4) * 16 + x % 16
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_is_filled_without_holes() {
        for tiling in [Tiling::X, Tiling::Four] {
            let (width, height) = tiling.tile();
            let mut seen = vec![false; 4096];
            for y in 0..height {
                for x in 0..width {
                    let at = tiling.offset(x, y, 1024) as usize;
                    assert!(
                        !std::mem::replace(&mut seen[at], true),
                        "{tiling:?} {x} {y}"
                    );
                }
            }
        }
    }

    #[test]
    fn blocks_of_tile4() {
        // Block numbers of the first rows and columns: 0 1 2 3 8 9 10 11, then 4 5 6 7 12 13 14 15,
        // then 16 17 18 19 24 …
        for (x, y, block) in [
            (0, 0, 0),
            (48, 0, 3),
            (64, 0, 8),
            (112, 0, 11),
            (0, 4, 4),
            (64, 4, 12),
            (0, 8, 16),
            (64, 8, 24),
            (112, 28, 63),
        ] {
            assert_eq!(Tiling::Four.offset(x, y, 128), block * 64, "{x} {y}");
        }
        // The next tile of a row of two, and the first of the second row of tiles.
        assert_eq!(Tiling::Four.offset(128, 0, 256), 4096);
        assert_eq!(Tiling::Four.offset(0, 32, 256), 8192);
        assert_eq!(Tiling::X.offset(512, 9, 1024), 2 * 4096 + 4096 + 512);
        assert_eq!(Tiling::Linear.offset(3, 2, 100), 203);
    }
}

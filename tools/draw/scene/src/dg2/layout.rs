// SPDX-License-Identifier: GPL-2.0
//! How rows of a surface lie in memory on DG2. X tiles are those of Sandy Bridge, of 512 bytes by 8 rows.
//! No document of the project has Tile4: 128 bytes by 32 rows, of blocks of 16 bytes by 4 rows, as the
//! published drivers have it.

use serde::Serialize;

/// How rows lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Layout {
    /// One after the other.
    Linear,
    /// X tiles.
    X,
    /// Tile4.
    Four,
}

/// Numbers of the blocks in the upper left quarter of a tile of Tile4: those that are more to the right or
/// below are so many more.
const BLOCKS: [[usize; 4]; 2] = [[0, 1, 2, 3], [4, 5, 6, 7]];

impl Layout {
    /// All of them.
    pub const ALL: [Layout; 3] = [Layout::Linear, Layout::X, Layout::Four];

    /// Bytes across and rows of a tile.
    pub fn tile(self) -> (u32, u32) {
        match self {
            Layout::Linear => (1, 1),
            Layout::X => (512, 8),
            Layout::Four => (128, 32),
        }
    }

    /// The place of byte `x` of row `y`.
    pub fn offset(self, x: usize, y: usize, pitch: usize) -> usize {
        let (width, height) = self.tile();
        let (width, height) = (width as usize, height as usize);
        let tile = y / height * height * pitch + x / width * width * height;
        let (x, y) = (x % width, y % height);
        tile + match self {
            Layout::Linear => 0,
            Layout::X => y * 512 + x,
            Layout::Four => {
                let (column, row) = (x / 16, y / 4);
                let block = BLOCKS[row % 2][column % 4] + column / 4 * 8 + row / 2 * 16;
                block * 64 + y % 4 * 16 + x % 16
            }
        }
    }

    /// Bytes of a surface in this layout, row after row.
    pub fn to_rows(self, bytes: &[u8], pitch: usize, rows: usize) -> Vec<u8> {
        let run = match self {
            Layout::Linear => return bytes.to_vec(),
            Layout::X => 512,
            Layout::Four => 16,
        };
        let mut out = bytes.to_vec();
        for y in 0..rows {
            for x in (0..pitch).step_by(run) {
                let at = self.offset(x, y, pitch);
                out[y * pitch + x..][..run].copy_from_slice(&bytes[at..at + run]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of Tile4 by row: 0 1 2 3 8 9 10 11, then 4 5 6 7 12 13 14 15, then 16 and on. X tiles: Sandy
    /// Bridge PRM Vol 1 Part 2 §4.5.
    #[test]
    fn bytes_are_where_they_should_be() {
        let cases = [
            (Layout::Four, 256, (0, 0), 0),
            (Layout::Four, 256, (48, 1), 3 * 64 + 16),
            (Layout::Four, 256, (64, 0), 8 * 64),
            (Layout::Four, 256, (16, 4), 5 * 64),
            (Layout::Four, 256, (127, 31), 4095),
            (Layout::Four, 256, (128, 0), 4096),
            (Layout::Four, 256, (0, 32), 8192),
            (Layout::X, 2048, (513, 9), 0x5201),
            (Layout::Linear, 100, (3, 2), 203),
        ];
        for (layout, pitch, (x, y), at) in cases {
            let found = match layout {
                Layout::Linear => y * pitch + x,
                _ => layout.offset(x, y, pitch),
            };
            assert_eq!(found, at, "{layout:?} {x} {y}");
        }
    }

    #[test]
    fn rows_are_put_together() {
        for layout in [Layout::X, Layout::Four] {
            let (pitch, rows) = (1024, 64);
            let mut bytes = vec![0; pitch * rows];
            for y in 0..rows {
                for x in 0..pitch {
                    bytes[layout.offset(x, y, pitch)] = (x * 7 + y * 31) as u8;
                }
            }
            for (n, byte) in layout.to_rows(&bytes, pitch, rows).iter().enumerate() {
                assert_eq!(*byte, (n % pitch * 7 + n / pitch * 31) as u8);
            }
        }
    }
}

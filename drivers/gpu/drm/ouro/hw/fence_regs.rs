// SPDX-License-Identifier: GPL-2.0
//! Detiling fences: regions of the aperture where the CPU sees a tiled surface as a linear one.

use crate::{io::Registers, types::GgttAddr};

/// How a surface is cut into tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tiling {
    /// Rows of tiles of 512 bytes by 8 rows.
    X,
    /// Rows of tiles of 128 bytes by 32 rows.
    Y,
    /// R5xx: rows of macro tiles of 256 bytes by 8 rows.
    Macro,
    /// R5xx: micro blocks of 16 bytes by 2 rows, in rows of blocks.
    Micro,
    /// R5xx: such blocks in macro tiles, of 128 bytes by 16 rows.
    MacroMicro,
    /// R5xx: square micro blocks, of 8 bytes by 4 rows, in rows of blocks.
    Square,
    /// R5xx: such blocks in macro tiles, of 64 bytes by 32 rows.
    MacroSquare,
}

impl Tiling {
    /// Rows of a tile.
    pub const fn rows(self) -> u32 {
        match self {
            Tiling::X | Tiling::Macro => 8,
            Tiling::Y | Tiling::MacroSquare => 32,
            Tiling::Micro => 2,
            Tiling::MacroMicro => 16,
            Tiling::Square => 4,
        }
    }
}

/// A region to detile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FenceRegion {
    /// First byte; a page.
    pub start: GgttAddr,
    /// Bytes; whole pages.
    pub len: u32,
    /// Bytes from one row to the next.
    pub stride: u32,
    /// The tiles.
    pub tiling: Tiling,
}

/// A region that no fence can describe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadRegion;

/// A chip's fences.
pub trait FenceRegs: Sync {
    /// How many there are.
    fn count(&self) -> u8;
    /// Whether a surface can be fenced.
    fn check(&self, region: &FenceRegion) -> Result<(), BadRegion>;
    /// Sets fence `n`, or clears it.
    fn set(
        &self,
        regs: &dyn Registers,
        n: u8,
        region: Option<&FenceRegion>,
    ) -> Result<(), BadRegion>;
}

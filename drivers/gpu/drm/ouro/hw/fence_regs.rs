// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Fence registers: ranges of the aperture through which the CPU sees a tiled surface as a linear
//! one.

use crate::{io::Registers, types::GgttAddr};

/// The tiling of a surface.
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
    /// Returns the number of rows of a tile.
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

/// A range of the aperture to detile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FenceRegion {
    /// GGTT address of the first byte; page-aligned.
    pub start: GgttAddr,
    /// Length in bytes; whole pages.
    pub len: u32,
    /// Bytes from one row to the next.
    pub stride: u32,
    /// The tiling of the surface.
    pub tiling: Tiling,
}

/// The range, stride or tiling cannot be encoded in a fence register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadRegion;

/// The fence registers of a chip.
pub trait FenceRegs: Sync {
    /// Returns the number of fence registers.
    fn count(&self) -> u8;
    /// Checks whether a surface can be fenced.
    fn check(&self, region: &FenceRegion) -> Result<(), BadRegion>;
    /// Sets or clears fence register `n`.
    fn set(
        &self,
        regs: &dyn Registers,
        n: u8,
        region: Option<&FenceRegion>,
    ) -> Result<(), BadRegion>;
}

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
}

impl Tiling {
    /// Rows of a tile.
    pub const fn rows(self) -> u32 {
        match self {
            Tiling::X => 8,
            Tiling::Y => 32,
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

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Masks of pipes (AMD's page of `ZB_ZPASS_ADDR`; digest §5.7).
//!
//! `SU_REG_DEST` selects the raster pipes whose registers behind the set-up unit are written:
//! scissors, textures, shaders, depth, colour and others; `FG_ZBREG_DEST`, of RV530, selects the
//! units of depth. The checker keeps one state for all pipes, so it must not pass a write that some
//! pipes do not see. Clients use the masks for occlusion queries only: each pipe counts its own
//! pixels, and is told an address for its count. So while a mask is not full, a stream may write
//! only the masks and the registers of the count; each mask must be full before any other write,
//! and at the stream's end, since the flushes that follow are for all pipes.
//!
//! `FG_ZBREG_DEST` is itself behind the set-up unit, so a partial `SU_REG_DEST` hides a write of it
//! from some pipes or from all (AMD's page of `ZB_ZPASS_ADDR`; digest §5.7). `SU_REG_DEST` must be
//! full before such a write: otherwise the chip may keep a mask that the checker takes for full.

use super::refused::{require, Checked, Refused};

/// `SU_REG_DEST`.
const RASTER: u32 = 0x42c8;
/// `FG_ZBREG_DEST`, which only RV530 has.
const DEPTH: u32 = 0x4be8;
/// `ZB_ZPASS_DATA`: the count.
const COUNT: u32 = 0x4f58;
/// `ZB_ZPASS_ADDR`: address of the count.
const COUNT_TO: u32 = 0x4f5c;

/// All raster pipes; the value in the known state (digest §2.9).
const ALL_RASTER: u32 = 0xf;
/// Both units of depth.
const ALL_DEPTH: u32 = 3;

/// The masks, as a stream has written them so far.
pub(super) struct Masks {
    raster: u32,
    depth: u32,
    /// Whether the chip has the register of the units of depth.
    depth_pipes: bool,
}

impl Masks {
    /// The known state: all full.
    pub(super) const fn new(depth_pipes: bool) -> Self {
        Self {
            raster: ALL_RASTER,
            depth: ALL_DEPTH,
            depth_pipes,
        }
    }

    /// Returns whether all pipes are selected.
    #[inline]
    pub(super) const fn are_full(&self) -> bool {
        self.raster == ALL_RASTER && self.depth == ALL_DEPTH
    }

    /// Fails if the register must not be written while a mask is not full.
    #[inline]
    pub(super) fn pass(&self, register: u32) -> Checked<()> {
        let counts = matches!(register, RASTER | DEPTH | COUNT | COUNT_TO);
        require(self.are_full() || counts, Refused::PipeMask)
    }

    /// Writes a mask, if the register is a mask of this chip. Errors: `Bits` that select no
    /// existing pipe; `PipeMask` if `SU_REG_DEST` hides the write.
    pub(super) fn write(&mut self, register: u32, value: u32) -> Checked<()> {
        let is_seen = register != DEPTH || self.raster == ALL_RASTER;
        let (mask, all) = match register {
            RASTER => (&mut self.raster, ALL_RASTER),
            DEPTH if self.depth_pipes => (&mut self.depth, ALL_DEPTH),
            _ => return Err(Refused::Register),
        };
        require(value & !all == 0, Refused::Bits)?;
        require(is_seen, Refused::PipeMask)?;
        *mask = value;
        Ok(())
    }

    /// Returns the number of units that write their count: those that the masks select, or one.
    pub(super) fn counting(&self) -> u32 {
        let units = match self.depth_pipes {
            true => self.depth,
            false => self.raster,
        };
        units.count_ones().max(1)
    }
}

// SPDX-License-Identifier: GPL-2.0
//! Masks of pipes (AMD's page of `ZB_ZPASS_ADDR`; digest §5.7).
//!
//! `SU_REG_DEST` says which raster pipes get what is written to registers behind the set-up unit, scissors, textures,
//! shaders, depth and colour among them; `FG_ZBREG_DEST`, of RV530, does so for the two units of depth. A checker that
//! holds one state must not let a write pass that some pipes do not see. Masks are there for one thing: each pipe
//! counts its own pixels, and is asked by itself where its count goes. So while a mask is not full, only the masks
//! and the registers of the count may be written; and each mask is full before anything else, and at the stream's
//! end, since the flushes behind it are for all pipes.

use super::refused::{require, Checked, Refused};

/// `SU_REG_DEST`.
const RASTER: u32 = 0x42c8;
/// `FG_ZBREG_DEST`, which RV530 alone has.
const DEPTH: u32 = 0x4be8;
/// `ZB_ZPASS_DATA`: the count.
const COUNT: u32 = 0x4f58;
/// `ZB_ZPASS_ADDR`: where it goes.
const COUNT_TO: u32 = 0x4f5c;

/// All pipes there may be; the known state leaves this (digest §2.9).
const ALL_RASTER: u32 = 0xf;
/// Both units of depth.
const ALL_DEPTH: u32 = 3;

/// The masks, as a stream has written them so far.
pub(super) struct Masks {
    raster: u32,
    depth: u32,
    /// Whether the register of units of depth is there.
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

    /// Whether every pipe gets what is written.
    #[inline]
    pub(super) const fn are_full(&self) -> bool {
        self.raster == ALL_RASTER && self.depth == ALL_DEPTH
    }

    /// Whether a register may be written now.
    #[inline]
    pub(super) fn pass(&self, register: u32) -> Checked<()> {
        let counts = matches!(register, RASTER | DEPTH | COUNT | COUNT_TO);
        require(self.are_full() || counts, Refused::PipeMask)
    }

    /// Writes a mask, if the register is one that this chip has. Errors: `Bits` that stand for no pipe.
    pub(super) fn write(&mut self, register: u32, value: u32) -> Checked<()> {
        let (mask, all) = match register {
            RASTER => (&mut self.raster, ALL_RASTER),
            DEPTH if self.depth_pipes => (&mut self.depth, ALL_DEPTH),
            _ => return Err(Refused::Register),
        };
        require(value & !all == 0, Refused::Bits)?;
        *mask = value;
        Ok(())
    }

    /// How many units write their count when they are asked: those that the masks reach, or one.
    pub(super) fn counting(&self) -> u32 {
        let units = match self.depth_pipes {
            true => self.depth,
            false => self.raster,
        };
        units.count_ones().max(1)
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The registers whose values the proof needs, each in its own slot, as the stream has written them
//! so far. Slots are consecutive; registers that exist several times have consecutive slots.

use static_assertions::const_assert;

/// Most registers of a packet whose values are kept all at once.
pub(super) const SHORT: usize = 4;

/// The first of several slots for values that no rule needs.
pub(super) const NO_RULE: u8 = 0;

/// `VAP_ALT_NUM_VERTICES`.
pub(super) const VERTICES: u8 = NO_RULE + SHORT as u8;
/// `VAP_INDEX_OFFSET`.
pub(super) const INDEX_OFFSET: u8 = VERTICES + 1;
/// `VAP_VTX_SIZE`.
pub(super) const VERTEX_SIZE: u8 = INDEX_OFFSET + 1;
/// `VAP_VF_MAX_VTX_INDX`.
pub(super) const MAX_INDEX: u8 = VERTEX_SIZE + 1;
/// `VAP_VF_MIN_VTX_INDX`.
pub(super) const MIN_INDEX: u8 = MAX_INDEX + 1;
/// `GB_AA_CONFIG`.
pub(super) const SAMPLES: u8 = MIN_INDEX + 1;
/// `SC_SCISSOR0`, which no rule needs, and the next register.
pub(super) const SCISSORS: u8 = SAMPLES + 1;
/// `SC_SCISSOR1`: the last column 12:0 and row 25:13 that are drawn.
pub(super) const SCISSOR: u8 = SCISSORS + 1;
/// `TX_ENABLE`.
pub(super) const TEXTURES_ON: u8 = SCISSOR + 1;
/// `RB3D_CCTL`.
pub(super) const COLOUR_CONTROL: u8 = TEXTURES_ON + 1;
/// `RB3D_BLENDCNTL`.
pub(super) const BLEND: u8 = COLOUR_CONTROL + 1;
/// `RB3D_ROPCNTL`.
pub(super) const COLOUR_ROP: u8 = BLEND + 1;
/// `RB3D_COLOR_CHANNEL_MASK`.
pub(super) const CHANNELS: u8 = COLOUR_ROP + 1;
/// `RB3D_COLORPITCH`, of four.
pub(super) const COLOUR_PITCH: u8 = CHANNELS + 1;
/// `RB3D_AARESOLVE_PITCH`.
pub(super) const RESOLVED_PITCH: u8 = COLOUR_PITCH + 4;
/// `RB3D_AARESOLVE_CTL`.
pub(super) const RESOLVE: u8 = RESOLVED_PITCH + 1;
/// `RB3D_DSTCACHE_CTLSTAT`; zero since the last draw if it was not written.
pub(super) const COLOUR_CACHE: u8 = RESOLVE + 1;
/// `ZB_ZCACHE_CTLSTAT`; the same.
pub(super) const DEPTH_CACHE: u8 = COLOUR_CACHE + 1;
/// `ZB_CNTL`.
pub(super) const DEPTH_CONTROL: u8 = DEPTH_CACHE + 1;
/// `ZB_FORMAT`.
pub(super) const DEPTH_FORMAT: u8 = DEPTH_CONTROL + 1;
/// `ZB_BW_CNTL`.
pub(super) const BANDWIDTH: u8 = DEPTH_FORMAT + 1;
/// `ZB_DEPTHPITCH`.
pub(super) const DEPTH_PITCH: u8 = BANDWIDTH + 1;
/// `US_OUT_FMT`, of four.
pub(super) const OUT_FORMAT: u8 = DEPTH_PITCH + 1;
/// `TX_FILTER0`, of sixteen; the next ones have sixteen, too.
pub(super) const TX_FILTER: u8 = OUT_FORMAT + 4;
/// `TX_FORMAT0`.
pub(super) const TX_SIZE: u8 = TX_FILTER + 16;
/// `TX_FORMAT1`.
pub(super) const TX_FORMAT: u8 = TX_SIZE + 16;
/// `TX_FORMAT2`.
pub(super) const TX_PITCH: u8 = TX_FORMAT + 16;
/// `TX_OFFSET`.
pub(super) const TX_OFFSET: u8 = TX_PITCH + 16;

/// Number of slots: a power of two, so that an index needs no bounds check.
pub(super) const SLOTS: usize = 0x80;
const_assert!(TX_OFFSET as usize + 16 <= SLOTS);

/// The values, with room behind them for several values that are kept at once.
pub(super) struct Kept([u32; SLOTS + SHORT]);

impl Kept {
    /// All are zero.
    pub(super) const fn new() -> Self {
        Self([0; SLOTS + SHORT])
    }

    /// Returns the value in a slot.
    pub(super) const fn get(&self, slot: u8) -> u32 {
        self.0[slot as usize % SLOTS]
    }

    /// Stores a value in a slot.
    pub(super) const fn set(&mut self, slot: u8, value: u32) {
        self.0[slot as usize % SLOTS] = value;
    }

    /// Stores several values in consecutive slots.
    #[inline]
    pub(super) fn set_all<const N: usize>(&mut self, slot: u8, values: &[u32; N]) {
        const { assert!(N <= SHORT) };
        let slots = self.0.get_mut(slot as usize % SLOTS..);
        if let Some(slots) = slots.and_then(|s| s.first_chunk_mut()) {
            *slots = *values;
        }
    }

    /// Returns the value in the `n`th slot from `slot` on.
    pub(super) const fn nth(&self, slot: u8, n: usize) -> u32 {
        self.get(slot.wrapping_add(n as u8))
    }

    /// Stores a value in the `n`th slot from `slot` on.
    pub(super) const fn set_nth(&mut self, slot: u8, n: usize, value: u32) {
        self.set(slot.wrapping_add(n as u8), value);
    }
}

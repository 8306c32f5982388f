// SPDX-License-Identifier: GPL-2.0
//! The registers whose values a proof needs, each in a slot of its own, as a stream has written them so far.
//! Each begins where the one before it ends: where there are several of a kind, they are one behind the other.

use static_assertions::const_assert;

/// Registers of a packet that is kept whole where it stands.
pub(super) const SHORT: usize = 4;

/// Of what is kept for nobody: the first of as many.
pub(super) const NOBODYS: u8 = 0;

// Registers that are looked at before they are kept: mostly, some bits must be zero.

/// `RB3D_CCTL`.
pub(super) const COLOUR_CONTROL: u8 = NOBODYS + SHORT as u8;
/// `ZB_BW_CNTL`.
pub(super) const BANDWIDTH: u8 = COLOUR_CONTROL + 1;
/// `WAIT_UNTIL`, which nobody asks for; nor for the next.
pub(super) const WAIT: u8 = BANDWIDTH + 1;
/// Order of bytes from the host.
pub(super) const SWAP: u8 = WAIT + 1;
/// `SC_HYPERZ_EN`.
pub(super) const HYPERZ: u8 = SWAP + 1;
/// All that must be zero whole.
pub(super) const ZERO: u8 = HYPERZ + 1;
/// `RB3D_COLORPITCH`, of four.
pub(super) const COLOUR_PITCH: u8 = ZERO + 1;
/// `ZB_DEPTHPITCH`.
pub(super) const DEPTH_PITCH: u8 = COLOUR_PITCH + 4;
/// The first of the others, of which any value is kept: a power of two.
pub(super) const ANY: u8 = 16;
const_assert!(DEPTH_PITCH < ANY);

/// `VAP_ALT_NUM_VERTICES`.
pub(super) const VERTICES: u8 = ANY;
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
/// `SU_REG_DEST`.
pub(super) const PIPES: u8 = SAMPLES + 1;
/// `FG_ZBREG_DEST`, of RV530.
pub(super) const DEPTH_UNITS: u8 = PIPES + 1;
/// `SC_SCISSOR0`, which nobody asks for, and the next.
pub(super) const SCISSORS: u8 = DEPTH_UNITS + 1;
/// `SC_SCISSOR1`: the last column 12:0 and row 25:13 that are drawn.
pub(super) const SCISSOR: u8 = SCISSORS + 1;
/// `TX_ENABLE`.
pub(super) const TEXTURES_ON: u8 = SCISSOR + 1;
/// `RB3D_BLENDCNTL`, and the one for alpha, which nobody asks for.
pub(super) const BLEND: u8 = TEXTURES_ON + 1;
/// `RB3D_COLOR_CHANNEL_MASK`.
pub(super) const CHANNELS: u8 = BLEND + 2;
/// `RB3D_AARESOLVE_PITCH`.
pub(super) const RESOLVED_PITCH: u8 = CHANNELS + 1;
/// `RB3D_AARESOLVE_CTL`.
pub(super) const RESOLVE: u8 = RESOLVED_PITCH + 1;
/// `ZB_CNTL`, and two for depth and stencil, which nobody asks for.
pub(super) const DEPTH_CONTROL: u8 = RESOLVE + 1;
/// `ZB_FORMAT`.
pub(super) const DEPTH_FORMAT: u8 = DEPTH_CONTROL + 3;
/// `DP_GUI_MASTER_CNTL`.
pub(super) const BLIT_CONTROL: u8 = DEPTH_FORMAT + 1;
/// `CLR_CMP_CNTL`.
pub(super) const BLIT_COMPARE: u8 = BLIT_CONTROL + 1;
/// `US_OUT_FMT`, of four.
pub(super) const OUT_FORMAT: u8 = BLIT_COMPARE + 1;
/// `TX_FILTER0`, of sixteen; so are the next.
pub(super) const TX_FILTER: u8 = OUT_FORMAT + 4;
/// `TX_FORMAT0`.
pub(super) const TX_SIZE: u8 = TX_FILTER + 16;
/// `TX_FORMAT1`.
pub(super) const TX_FORMAT: u8 = TX_SIZE + 16;
/// `TX_FORMAT2`.
pub(super) const TX_PITCH: u8 = TX_FORMAT + 16;
/// `TX_OFFSET`.
pub(super) const TX_OFFSET: u8 = TX_PITCH + 16;

/// How many there are. It is a power of two, so that no number has to be compared with it.
const SLOTS: usize = 0x80;
const_assert!(TX_OFFSET as usize + 16 <= SLOTS);

/// The values, with room behind them for the last of several that are kept at once.
pub(super) struct Kept([u32; SLOTS + SHORT]);

impl Kept {
    /// All are zero.
    pub(super) const fn new() -> Self {
        Self([0; SLOTS + SHORT])
    }

    /// The value in a slot.
    pub(super) const fn get(&self, slot: u8) -> u32 {
        self.0[slot as usize % SLOTS]
    }

    /// Puts a value into a slot.
    pub(super) const fn set(&mut self, slot: u8, value: u32) {
        self.0[slot as usize % SLOTS] = value;
    }

    /// Puts some values into the slots from one on.
    #[inline]
    pub(super) fn set_all<const N: usize>(&mut self, slot: u8, values: &[u32; N]) {
        const { assert!(N <= SHORT) };
        let from = slot as usize % SLOTS;
        if let Some(slots) = self.0.get_mut(from..).and_then(|s| s.first_chunk_mut()) {
            *slots = *values;
        }
    }

    /// The value of number `n` of those that begin with a slot.
    pub(super) const fn nth(&self, slot: u8, n: usize) -> u32 {
        self.get(slot.wrapping_add(n as u8))
    }

    /// Puts a value into the slot of number `n`.
    pub(super) const fn set_nth(&mut self, slot: u8, n: usize, value: u32) {
        self.set(slot.wrapping_add(n as u8), value);
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers that each engine of this generation has, beside those that all of Intel's have
//! ([`crate::intel::ring_regs`]), at offsets from the engine's base.
//!
//! The document names most of them and prints offsets where they stand in an image; offsets and
//! bits are those of digest §3.2, which is cited by its row.

pub(super) use crate::intel::ring_regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// The upper half of [`DMA_FADD`], bits 63:32 (row 9).
pub(super) const DMA_FADD_UDW: u32 = 0x60;
/// The upper half of [`ACTHD`], bits 63:32 (row 9).
pub(super) const ACTHD_UDW: u32 = 0x5c;

/// Bit 12 of [`MI_MODE`]: a second-level batch may start a third level, and bits of the command
/// have another meaning for that. Set at power-on (according to the upstream driver).
pub(super) const MI_MODE_NESTED: u16 = 1 << 12;

/// The value that no-ops leave (row 23, L6).
pub(super) const NOPID: u32 = 0x94;

/// How the parser's own accesses are cached; masked (row 24).
pub(super) const CMD_CCTL: u32 = 0xc4;

/// [`CMD_CCTL`], without its upper half.
#[bitfield(u16)]
#[derive(PartialEq, Eq)]
pub(super) struct CmdCctl {
    /// Bits 6:0: for reads, `index << 1` (§5.4).
    #[bits(7)]
    pub(super) read: u8,
    /// Bits 13:7: for writes.
    #[bits(7)]
    pub(super) write: u8,
    #[bits(2)]
    __: u8,
}
const_assert_eq!(core::mem::size_of::<CmdCctl>(), 2);

/// Handshake around a reset; masked (row 27, §5.6).
pub(super) const RESET_CTL: u32 = 0xd0;
/// Bit 0 of [`RESET_CTL`]: request to get ready.
pub(super) const RESET_REQUEST: u16 = 1 << 0;
/// Bit 1 of [`RESET_CTL`]: ready. Read only.
pub(super) const RESET_READY: u32 = 1 << 1;
/// Bit 2 of [`RESET_CTL`]: stopped by an error that only a reset ends.
pub(super) const RESET_CATASTROPHE: u16 = 1 << 2;

/// State of the batch (row 29).
pub(super) const BB_STATE: u32 = 0x110;
/// Bit 5 of [`BB_STATE`]: it is in the PPGTT.
pub(super) const BB_STATE_OWN_SPACE: u32 = 1 << 5;
/// Commands before each context restore, low and high half of the address (row 31, K2).
pub(super) const PRT_BB_STATE: [u32; 2] = [0x120, 0x124];
/// The upper half of [`BB_ADDR`], bits 63:32.
pub(super) const BB_ADDR_UDW: u32 = 0x168;
/// An offset that batches may add to their addresses (row 39, J10).
pub(super) const BB_OFFSET: u32 = 0x158;
/// Control of the watchdog (row 40, P1).
pub(super) const WATCHDOG_CONTROL: u32 = 0x178;
/// A value of [`WATCHDOG_CONTROL`]: stopped at zero.
pub(super) const WATCHDOG_STOP: u32 = 1;
/// Legacy context; off (row 41, J12).
pub(super) const CCID: u32 = 0x180;
/// Commands behind each restore; off (row 46, K6).
pub(super) const BB_PER_CTX_PTR: u32 = 0x1c0;
/// Commands within each restore; off (row 47, K6).
pub(super) const INDIRECT_CTX: u32 = 0x1c4;
/// Place in the restore (row 48).
pub(super) const INDIRECT_CTX_OFFSET: u32 = 0x1c8;

/// How the blitter's accesses are cached, on the blitter alone (row 52).
pub(super) const BLIT_CCTL: u32 = 0x204;

/// [`BLIT_CCTL`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct BlitCctl {
    /// Bits 6:0: sources, `index << 1`.
    #[bits(7)]
    pub(super) source: u8,
    #[bits(1)]
    __: u8,
    /// Bits 14:8: destinations.
    #[bits(7)]
    pub(super) destination: u8,
    #[bits(17)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<BlitCctl>(), 4);

/// Not zero while a context runs; the meaning of the bits is unknown (row 57, E21).
pub(super) const EXECLIST_STATUS: u32 = 0x234;
/// Bit 15 of [`EXECLIST_STATUS`]: no context runs.
pub(super) const EXECLIST_STATUS_IDLE: u32 = 1 << 15;
/// The context that runs, as the upper half of its descriptor (row 57, E21).
pub(super) const EXECLIST_STATUS_HI: u32 = 0x238;

/// Controls restore and save; masked (row 60).
pub(super) const CTX_CONTROL: u32 = 0x244;
/// Bit 0 of [`CTX_CONTROL`]: inhibits the restore of the engine context (D6).
pub(super) const CTX_RESTORE_INHIBIT: u16 = 1 << 0;
/// Bit 3 of [`CTX_CONTROL`]: a wait does not switch contexts (D7).
pub(super) const CTX_NO_SYNC_SWITCH: u16 = 1 << 3;

/// Root tables of the PPGTT: low halves of four, each followed by its high half (row 63, U1).
pub(super) const PDP: [u32; 4] = [0x270, 0x278, 0x280, 0x288];

/// Bit 3 of [`GFX_MODE`]: execlists, not ring registers (A5).
pub(super) const GFX_MODE_LISTS: u16 = 1 << 3;
/// Bit 10 of [`GFX_MODE`]: disables prefetching (T4).
pub(super) const GFX_MODE_NO_PREFETCH: u16 = 1 << 10;

/// A semaphore's token (row 66, G5).
pub(super) const SEMAPHORE_TOKEN: u32 = 0x2b4;
/// Indices of the last event written and read; masked (row 70).
pub(super) const CONTEXT_STATUS_PTR: u32 = 0x3a0;

/// [`CONTEXT_STATUS_PTR`], without its upper half.
#[bitfield(u16)]
#[derive(PartialEq, Eq)]
pub(super) struct StatusPointers {
    /// Bits 3:0: the last event written.
    #[bits(4)]
    pub(super) written: u8,
    #[bits(4)]
    __: u8,
    /// Bits 11:8: the last event read.
    #[bits(4)]
    pub(super) read: u8,
    #[bits(4)]
    __: u8,
}
const_assert_eq!(core::mem::size_of::<StatusPointers>(), 2);

/// Run time of the running context (row 71, D18).
pub(super) const CTX_TIMESTAMP: u32 = 0x3a8;
/// Cache control of command buffers (row 13).
pub(super) const CMD_BUF_CCTL: u32 = 0x84;
/// `CS_GPR` R0 (row 87).
pub(super) const GPR0: u32 = 0x600;
/// Registers that batches may use beyond those that are always allowed (row 79, Q23).
pub(super) const NONPRIVILEGED: u32 = 0x4d0;
/// Number of consecutive ones. (Those at 1D0h have another meaning on the blitter.)
pub(super) const NONPRIVILEGED_SLOTS: u32 = 12;
/// Elements of the submission queue: eight quadwords (row 81, B1).
pub(super) const SQ_CONTENTS: u32 = 0x510;
/// Loads the submission queue (row 82).
pub(super) const EXECLIST_CONTROL: u32 = 0x550;

/// [`EXECLIST_CONTROL`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct ListControl {
    /// Bit 0: take it now (B6).
    pub(super) load: bool,
    #[bits(31)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<ListControl>(), 4);

/// Interrupt of an engine: `MI_USER_INTERRUPT` (I1).
pub(super) const VECTOR_USER: u16 = 1 << 0;
/// Interrupt of an engine: an error (I2).
pub(super) const VECTOR_ERROR: u16 = 1 << 3;
/// Interrupt of an engine: a context switch event (I7).
pub(super) const VECTOR_SWITCH: u16 = 1 << 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_3_2_says() {
        assert_eq!(RingHead::from_bits(0x0020_0104).offset(), 0x104);
        assert_eq!(RingHead::from_bits(0x0040_0104).wraps(), 2);
        let ctl = RingCtl::new().with_pages_less_one(15).with_enable(true);
        assert_eq!(ctl.into_bits(), 0xf001);
        assert!(RingCtl::from_bits(1 << 10).semaphore_wait());
        assert!(RingCtl::from_bits(1 << 11).event_wait());
        let cctl = CmdCctl::new().with_read(2).with_write(2);
        assert_eq!(cctl.into_bits(), 0x102);
        let blit = BlitCctl::new().with_source(2).with_destination(2);
        assert_eq!(blit.into_bits(), 0x202);
        let pointers = StatusPointers::new().with_read(11).with_written(11);
        assert_eq!(pointers.into_bits(), 0x0b0b);
        assert_eq!(ListControl::new().with_load(true).into_bits(), 1);
        assert_eq!(masked(8, 0), 0x0008_0008);
        assert_eq!(masked(0, 0x100), 0x0100_0000);
    }
}

// SPDX-License-Identifier: GPL-2.0
//! Registers that this generation has alone, or elsewhere than later ones.
//!
//! The document says what they do and gives hardly any offset; those are rows G-nn of the digest, as each says.

pub(super) use crate::intel::ring::regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// The video engine's registers, on G4X (G-04).
pub(super) const VIDEO: Base = Base(0x4000);

// --- The translation table (§4.6, G-06, G-07, G-19) ---

/// Where the table is, how large, and whether it is on.
pub(super) const PGTBL_CTL: u32 = 0x2020;

/// [`PGTBL_CTL`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct PgtblCtl {
    /// Bit 0: accesses are translated. Not used on G4X.
    pub(super) enable: bool,
    /// Bits 3:1: how large it is, by [`TABLE_BYTES`].
    #[bits(3)]
    pub(super) size: u8,
    /// Bits 7:4: bits 35:32 of its address.
    #[bits(4)]
    pub(super) high: u8,
    #[bits(4)]
    __: u8,
    /// Bits 31:12: the page in memory where it begins.
    #[bits(20)]
    pub(super) page: u32,
}
const_assert_eq!(core::mem::size_of::<PgtblCtl>(), 4);

/// Bytes of the table for each [`PgtblCtl::size`] that there is.
pub(super) const TABLE_BYTES: [u32; 6] = [
    512 << 10,
    256 << 10,
    128 << 10,
    1 << 20,
    2 << 20,
    1536 << 10,
];

/// Bit 0: there is a table for each process.
pub(super) const PGTBL_CTL2: u32 = 0x20c4;
/// Writes of zero stand around those of [`PGTBL_CTL`], as upstream has it.
pub(super) const GFX_FLSH_CNTL: u32 = 0x2170;

// --- Interrupts (§5.4 to §5.6, G-13) ---

/// Enable: ones get on to the line.
pub(super) const IER: u32 = 0x20a0;
/// Identity; cleared by ones.
pub(super) const IIR: u32 = 0x20a4;
/// Mask: ones do not get into the identity. The device's, not an engine's.
pub(super) const DEVICE_IMR: u32 = 0x20a8;
/// Bit 1: `MI_USER_INTERRUPT` on the render engine.
pub(super) const RENDER_USER: u32 = 1 << 1;
/// Bit 15: an error in EIR.
pub(super) const MASTER_ERROR: u32 = 1 << 15;
/// Bit 25: `MI_USER_INTERRUPT` on the video engine.
pub(super) const VIDEO_USER: u32 = 1 << 25;

// --- Errors (§5.7, G-15) ---

/// Bit 1: memory could not be refreshed.
pub(super) const ERROR_REFRESH: u32 = 1 << 1;
/// Bit 3, on G4X: a command without privilege.
pub(super) const ERROR_COMMAND_PRIVILEGE: u32 = 1 << 3;
/// Bit 4, on G4X, where it is the table's on 965: memory without privilege.
pub(super) const ERROR_MEMORY_PRIVILEGE: u32 = 1 << 4;
/// Bit 5: the table's error, on G4X.
pub(super) const ERROR_PAGE_TABLE_G4X: u32 = 1 << 5;

// --- The render engine (G-11, G-16, G-18) ---

/// Lines of 64 bytes of a context image, less one.
pub(super) const CXT_SIZE: u32 = 0x21a0;
/// Bit 8 of [`CACHE_MODE_0`]: no pipelined flush of it.
pub(super) const CACHE_NO_PIPELINED_FLUSH: u16 = 1 << 8;
/// How memory is shared; masked, saved with a context (§5.8).
pub(super) const MI_ARB_STATE: u32 = 0x20e4;
/// Bit 2 of [`MI_ARB_STATE`]: the display does not fetch ahead by trickles.
pub(super) const ARB_NO_TRICKLE: u16 = 1 << 2;
/// Corrections; masked.
pub(super) const ECOSKPD: u32 = 0x21d0;
/// Bit 4 of [`ECOSKPD`]: a context's constant buffer is neither saved nor loaded.
pub(super) const ECO_NO_CONSTANT_BUFFER: u16 = 1 << 4;

// --- Clocks of units (G-33) ---

/// Which units' clocks are not gated.
pub(super) const RENCLK_GATE_D1: u32 = 0x6204;
/// More of them.
pub(super) const RENCLK_GATE_D2: u32 = 0x6208;
/// Those of the video decoder.
pub(super) const VDECCLK_GATE_D: u32 = 0x620c;
/// Bit 4 of [`VDECCLK_GATE_D`]: the video engine's parser.
pub(super) const VCP_NOT_GATED: u32 = 1 << 4;
/// Those of memories.
pub(super) const RAMCLK_GATE_D: u32 = 0x6210;

// --- The memory controller, through its mirror (G-26, G-27, G-40) ---

/// Bits 2:0: the speed of the front side bus.
pub(super) const CLKCFG: u32 = 0x1_0c00;
/// How memory channels are addressed, on mobile chips.
pub(super) const DCC: u32 = 0x1_0200;

/// [`DCC`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Dcc {
    /// Bits 1:0: [`Dcc::INTERLEAVED`], or one channel after the other.
    #[bits(2)]
    pub(super) mode: u8,
    #[bits(7)]
    __: u8,
    /// Bit 9: the channel depends on bit 17 of an address too.
    pub(super) by_bit_17: bool,
    /// Bit 10: the channel depends on no further bit.
    pub(super) plain: bool,
    #[bits(21)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<Dcc>(), 4);

impl Dcc {
    /// Two channels by turns.
    pub(super) const INTERLEAVED: u8 = 2;
}

/// More of it.
pub(super) const DCC2: u32 = 0x1_0204;
/// Bit 20 of [`DCC2`]: what does not fit both channels is not addressed in a way of its own.
pub(super) const DCC2_NOT_ENHANCED: u32 = 1 << 20;
/// Bits 31:16: where the last rank of channel 0 ends, on desktop chips.
pub(super) const C0DRB: u32 = 0x1_0204;
/// The same of channel 1.
pub(super) const C1DRB: u32 = 0x1_0604;

// --- Configuration space (G-20, G-09, G-19, G-27) ---

/// The reset register, of the device.
pub(super) const GDRST: u16 = 0xc0;
/// Bits 31:16 are the graphics control word, of the host bridge.
pub(super) const BRIDGE_GMCH: u16 = 0x50;

/// [`BRIDGE_GMCH`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Gmch {
    #[bits(20)]
    __: u32,
    /// Bits 23:20: memory that the firmware took, by a code.
    #[bits(4)]
    pub(super) stolen: u8,
    /// Bits 27:24: memory for the table, by a code, on G4X.
    #[bits(4)]
    pub(super) table: u8,
    #[bits(4)]
    __: u8,
}
const_assert_eq!(core::mem::size_of::<Gmch>(), 4);

/// Bits 31:0 of the address of the page that flushes the chipset, of the host bridge. Bit 0: there is one.
pub(super) const BRIDGE_FLUSH_PAGE: u16 = 0x70;
/// Bits 63:32.
pub(super) const BRIDGE_FLUSH_PAGE_HIGH: u16 = 0x74;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_digest_has_them() {
        // G-06: 31:12 base, 7:4 base[35:32], 3:1 size, 0 enable.
        let ctl = PgtblCtl::from_bits(0x7f80_00a7);
        assert_eq!((ctl.page(), ctl.high()), (0x7_f800, 0xa));
        assert_eq!((ctl.size(), ctl.enable()), (3, true));
        // 0 512 KB, 1 256 KB, 2 128 KB, 3 1 MB, 4 2 MB, 5 1.5 MB.
        assert_eq!(
            TABLE_BYTES,
            [0x8_0000, 0x4_0000, 0x2_0000, 0x10_0000, 0x20_0000, 0x18_0000]
        );
        // G-09, G-27: word 52h, bits 11:8 and 7:4.
        let gmch = Gmch::from_bits(0x0a50_0000);
        assert_eq!((gmch.table(), gmch.stolen()), (0xa, 5));
        // G-26: 1:0 mode, 9 bit 17, 10 disable.
        assert_eq!(Dcc::from_bits(0x602).into_bits(), 0x602);
        let dcc = Dcc::from_bits(0x202);
        assert_eq!((dcc.mode(), dcc.by_bit_17(), dcc.plain()), (2, true, false));
        assert!(Dcc::from_bits(0x400).plain());
    }

    #[test]
    fn interrupt_bits_are_those_of_g_13() {
        assert_eq!(
            (RENDER_USER, MASTER_ERROR, VIDEO_USER),
            (2, 0x8000, 0x0200_0000)
        );
        assert_eq!([IER, IIR, DEVICE_IMR], [0x20a0, 0x20a4, 0x20a8]);
    }
}

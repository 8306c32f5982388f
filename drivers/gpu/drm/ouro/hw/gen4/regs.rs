// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers that only this generation has, or has at another place than later ones.
//!
//! The document describes them with hardly any offset; the offsets are rows G-nn of the digest.

pub(super) use crate::intel::ring::regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// The video engine's registers, on G4X (G-04).
pub(super) const VIDEO: Base = Base(0x4000);

// --- The GGTT (§4.6, G-06, G-07, G-19) ---

/// Address, size and enable of the GGTT.
pub(super) const PGTBL_CTL: u32 = 0x2020;

/// The fields of [`PGTBL_CTL`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct PgtblCtl {
    /// Bit 0: address translation is enabled. Not used on G4X.
    pub(super) enable: bool,
    /// Bits 3:1: the size, an index of [`TABLE_BYTES`].
    #[bits(3)]
    pub(super) size: u8,
    /// Bits 7:4: bits 35:32 of the address.
    #[bits(4)]
    pub(super) high: u8,
    #[bits(4)]
    __: u8,
    /// Bits 31:12: the page in memory where the GGTT begins.
    #[bits(20)]
    pub(super) page: u32,
}
const_assert_eq!(core::mem::size_of::<PgtblCtl>(), 4);

/// Size of the GGTT in bytes, by [`PgtblCtl::size`].
pub(super) const TABLE_BYTES: [u32; 6] = [
    512 << 10,
    256 << 10,
    128 << 10,
    1 << 20,
    2 << 20,
    1536 << 10,
];

/// Bit 0: enables the PPGTT.
pub(super) const PGTBL_CTL2: u32 = 0x20c4;
/// Upstream writes zero to it before and after each write of [`PGTBL_CTL`].
pub(super) const GFX_FLSH_CNTL: u32 = 0x2170;

// --- Interrupts (§5.4 to §5.6, G-13) ---

/// Enable: a one passes the source on to the interrupt line.
pub(super) const IER: u32 = 0x20a0;
/// Identity; a one clears a bit.
pub(super) const IIR: u32 = 0x20a4;
/// Mask: a one keeps the source out of the identity. One for the whole device.
pub(super) const DEVICE_IMR: u32 = 0x20a8;
/// Bit 1: `MI_USER_INTERRUPT` on the render engine.
pub(super) const RENDER_USER: u32 = 1 << 1;
/// Bit 15: an error in EIR.
pub(super) const MASTER_ERROR: u32 = 1 << 15;
/// Bit 25: `MI_USER_INTERRUPT` on the video engine.
pub(super) const VIDEO_USER: u32 = 1 << 25;

// --- Errors (§5.7, G-15) ---

/// Bit 1: a memory refresh failed.
pub(super) const ERROR_REFRESH: u32 = 1 << 1;
/// Bit 3, on G4X: a privileged command in an unprivileged batch.
pub(super) const ERROR_COMMAND_PRIVILEGE: u32 = 1 << 3;
/// Bit 4, on G4X: a memory privilege violation. On 965 the bit is the page table error.
pub(super) const ERROR_MEMORY_PRIVILEGE: u32 = 1 << 4;
/// Bit 5: a page table error, on G4X.
pub(super) const ERROR_PAGE_TABLE_G4X: u32 = 1 << 5;

// --- The render engine (G-11, G-16, G-18) ---

/// The loaded context. A command loads it (§5.8.1.1).
pub(super) const CCID: u32 = 0x2180;

/// The fields of [`CCID`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Ccid {
    /// Bit 0: a context is loaded, which the next switch saves.
    pub(super) valid: bool,
    #[bits(10)]
    __: u16,
    /// Bits 31:11: address of its image, in units of [`Ccid::ALIGN`] bytes (§1.15).
    #[bits(21)]
    pub(super) image: u32,
}
const_assert_eq!(core::mem::size_of::<Ccid>(), 4);

impl Ccid {
    /// Alignment of an image in bytes.
    pub(super) const ALIGN: u64 = 2048;
}

/// Size of a context image in lines of 64 bytes, minus one.
pub(super) const CXT_SIZE: u32 = 0x21a0;
/// Bit 8 of [`CACHE_MODE_0`]: disable the pipelined flush of the render cache.
pub(super) const CACHE_NO_PIPELINED_FLUSH: u16 = 1 << 8;
/// Memory arbitration; masked, saved with a context (§5.8).
pub(super) const MI_ARB_STATE: u32 = 0x20e4;
/// Bit 2 of [`MI_ARB_STATE`]: disable trickle prefetch of the display.
pub(super) const ARB_NO_TRICKLE: u16 = 1 << 2;
/// Chicken bits; masked.
pub(super) const ECOSKPD: u32 = 0x21d0;
/// Bit 4 of [`ECOSKPD`]: do not save and restore a context's constant buffer.
pub(super) const ECO_NO_CONSTANT_BUFFER: u16 = 1 << 4;

// --- Clock gating (G-33) ---

/// Clock gating disables.
pub(super) const RENCLK_GATE_D1: u32 = 0x6204;
/// More clock gating disables.
pub(super) const RENCLK_GATE_D2: u32 = 0x6208;
/// Clock gating disables of the video decoder.
pub(super) const VDECCLK_GATE_D: u32 = 0x620c;
/// Bit 4 of [`VDECCLK_GATE_D`]: do not gate the clock of the video engine's parser.
pub(super) const VCP_NOT_GATED: u32 = 1 << 4;
/// Clock gating disables of memories.
pub(super) const RAMCLK_GATE_D: u32 = 0x6210;

// --- The memory controller, through its mirror (G-26, G-27, G-40) ---

/// Bits 2:0: the speed of the front side bus.
pub(super) const CLKCFG: u32 = 0x1_0c00;
/// Channel interleaving of the memory controller, on mobile chips.
pub(super) const DCC: u32 = 0x1_0200;

/// The fields of [`DCC`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Dcc {
    /// Bits 1:0: [`Dcc::INTERLEAVED`], or one channel after the other.
    #[bits(2)]
    pub(super) mode: u8,
    #[bits(7)]
    __: u8,
    /// Bit 9: the channel also depends on bit 17 of the address.
    pub(super) by_bit_17: bool,
    /// Bit 10: the channel depends on no higher address bit.
    pub(super) plain: bool,
    #[bits(21)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<Dcc>(), 4);

impl Dcc {
    /// Two interleaved channels.
    pub(super) const INTERLEAVED: u8 = 2;
}

/// More of the channels' configuration.
pub(super) const DCC2: u32 = 0x1_0204;
/// Bit 20 of [`DCC2`]: no special addressing of memory that only one channel has.
pub(super) const DCC2_NOT_ENHANCED: u32 = 1 << 20;
/// Bits 31:16: end of the last rank of channel 0, on desktop chips.
pub(super) const C0DRB: u32 = 0x1_0204;
/// End of the last rank of channel 1, like [`C0DRB`].
pub(super) const C1DRB: u32 = 0x1_0604;

// --- Configuration space (G-20, G-09, G-19, G-27) ---

/// The reset register of the device.
pub(super) const GDRST: u16 = 0xc0;
/// The host bridge's device (31:16) and vendor (15:0).
pub(super) const BRIDGE_ID: u16 = 0x00;
/// Address and enable of the registers of the memory controller in the host bridge, and with them
/// of their mirror. The offset and the bit are the upstream driver's (`MCHBAR_I965`,
/// `i915_gmch_bar_setup`).
pub(super) const BRIDGE_MCHBAR: u16 = 0x48;
/// Bit 0 of [`BRIDGE_MCHBAR`].
pub(super) const MCHBAR_ENABLE: u32 = 1 << 0;
/// Bits 31:16 are the graphics control word of the host bridge.
pub(super) const BRIDGE_GMCH: u16 = 0x50;

/// The fields of [`BRIDGE_GMCH`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Gmch {
    #[bits(20)]
    __: u32,
    /// Bits 23:20: code of the stolen memory's size.
    #[bits(4)]
    pub(super) stolen: u8,
    /// Bits 27:24: code of the GGTT's size, on G4X.
    #[bits(4)]
    pub(super) table: u8,
    #[bits(4)]
    __: u8,
}
const_assert_eq!(core::mem::size_of::<Gmch>(), 4);

/// Bits 31:0 of the address of the chipset flush page, in the host bridge. Bit 0: the page has an
/// address.
pub(super) const BRIDGE_FLUSH_PAGE: u16 = 0x70;
/// Bits 63:32 of that address.
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
        // §1.15: 31:11 address; G-16: 0 valid, 2 and 3 flags.
        let ccid = Ccid::from_bits(0x0123_490d);
        assert_eq!((ccid.image(), ccid.valid()), (0x0123_4800 >> 11, true));
        assert!(!Ccid::from_bits(!1).valid());
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

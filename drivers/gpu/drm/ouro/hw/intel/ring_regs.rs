// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of each of Intel's engines, at the same offsets from the engine's base on all
//! supported chips.
//!
//! Offsets and bits: rows G-06 to G-12 and G-42 of the digest of Sandy Bridge (descriptions: SNB
//! PRM V1P2 §5.3 to §5.9; the video engine has the same ones at another base, VCS §1.1.1), and
//! `Dn`, row n of §3.2 of the digest of DG2. Registers that only some chips have are in the chips'
//! own `regs`.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// The base of an engine's registers, in bytes (G-06; DG2's digest §3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Base(pub(crate) u32);

impl Base {
    /// The render engine.
    pub(crate) const RENDER: Self = Self(0x2000);
    /// The video engine, on Gen6.
    pub(crate) const VIDEO: Self = Self(0x1_2000);
    /// The blitter.
    pub(crate) const BLITTER: Self = Self(0x2_2000);

    /// Returns the offset of one of the registers below in this engine.
    pub(crate) const fn at(self, reg: u32) -> u32 {
        self.0.wrapping_add(reg)
    }
}

/// Returns the value that sets the bits `set` and clears the bits `clear` of a masked register:
/// bits 31:16 select which of bits 15:0 change (G-09; DG2's digest §3).
pub(crate) const fn masked(set: u16, clear: u16) -> u32 {
    let mask = set | clear;
    ((mask as u32) << 16) | set as u32
}

/// Tail of the ring: bits 20:3, a byte offset of a quadword (§5.3.4.2, G-07; D2). Reset 0.
pub(crate) const RING_TAIL: u32 = 0x30;
/// Bits of [`RING_TAIL`] with the offset.
pub(crate) const RING_TAIL_MASK: u32 = 0x1f_fff8;

/// Head of the ring (§5.3.4.2, G-07; D3). Reset 0; not changed when the ring is enabled.
pub(crate) const RING_HEAD: u32 = 0x34;

/// The fields of [`RING_HEAD`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(crate) struct RingHead {
    #[bits(2)]
    __: u8,
    /// Bits 20:2: the next dword to fetch.
    #[bits(19)]
    pub(crate) dword: u32,
    /// Bits 31:21: how often the head has wrapped.
    #[bits(11)]
    pub(crate) wraps: u16,
}
const_assert_eq!(core::mem::size_of::<RingHead>(), 4);

impl RingHead {
    /// Returns the byte offset.
    pub(crate) const fn offset(self) -> u32 {
        self.dword() << 2
    }
}

/// GGTT address of the ring, bits 31:12 (§5.3.4.2, G-07; D4). Reset 0.
pub(crate) const RING_START: u32 = 0x38;

/// Control of the ring (§5.3.4.2, §5.3.7.2, G-07; D5). Reset 0.
pub(crate) const RING_CTL: u32 = 0x3c;

/// The fields of [`RING_CTL`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(crate) struct RingCtl {
    /// Bit 0: the engine fetches commands.
    pub(crate) enable: bool,
    /// Bits 2:1: automatic report of the head. Disabled.
    #[bits(2)]
    pub(crate) report: u8,
    #[bits(7)]
    __: u8,
    /// Bit 10: the engine waits for a semaphore.
    pub(crate) semaphore_wait: bool,
    /// Bit 11: the engine waits for an event. On Gen6, writing a one ends the wait (G6-105).
    pub(crate) event_wait: bool,
    /// Bits 20:12: pages of the ring, minus one.
    #[bits(9)]
    pub(crate) pages_less_one: u16,
    #[bits(11)]
    __: u16,
}
const_assert_eq!(core::mem::size_of::<RingCtl>(), 4);

/// GGTT address of the engine's HWSP, bits 31:12 (Gen4's digest, G-10; D12). Reset 0x1fff_f000,
/// which is not mapped (§5.9). Gen6 and Gen7 have the register at another place.
pub(crate) const HWS_PGA: u32 = 0x80;

/// The instruction parser's error details (G-42; D10).
pub(crate) const IPEIR: u32 = 0x64;
/// Header of the command that is executed or has failed (G-42; D10).
pub(crate) const IPEHR: u32 = 0x68;
/// Idle units (ones); all ones after reset (§5.9, G-42; D11).
pub(crate) const INSTDONE: u32 = 0x6c;
/// State of the instruction parser (G-42; D11).
pub(crate) const INSTPS: u32 = 0x70;
/// Address of the current command, bits 31:0 (G-42; D11).
pub(crate) const ACTHD: u32 = 0x74;
/// Address that commands are fetched from, bits 31:0 (G-42; D11).
pub(crate) const DMA_FADD: u32 = 0x78;
/// Hardware status mask: a zero lets a change of that interrupt status be written to the HWSP
/// (§5.5; D16).
pub(crate) const HWSTAM: u32 = 0x98;

/// Mode of the engine; masked (G-09; D17).
pub(crate) const MI_MODE: u32 = 0x9c;
/// Bit 8 of [`MI_MODE`]: stop before the next command.
pub(crate) const MI_MODE_STOP: u16 = 1 << 8;
/// Bit 9 of [`MI_MODE`]: the engine is idle. Read only.
pub(crate) const MI_MODE_IDLE: u32 = 1 << 9;

/// The engine's own interrupt mask: a one masks the source (G-12, VCS §1.1.6; D19). All ones after
/// reset (§5.9).
pub(crate) const IMR: u32 = 0xa8;
/// Error identity: unmasked errors that have occurred; a one clears a bit (§5.7.1; D21).
pub(crate) const EIR: u32 = 0xb0;
/// Error mask: a one keeps the error out of [`EIR`]. All ones after reset (§5.9; D21).
pub(crate) const EMR: u32 = 0xb4;
/// Error status: the current errors. Read only (§5.7.1; D21).
pub(crate) const ESR: u32 = 0xb8;
/// Bit 0 of the error registers: a command that is unknown, or not allowed where it was (§5.3.7.6,
/// VCS §1.1.6.3).
pub(crate) const ERROR_INSTRUCTION: u32 = 1 << 0;

/// Address of the current command of a batch, bits 31:0 (G-42; D34).
pub(crate) const BB_ADDR: u32 = 0x140;

/// Mode of submission and address translation; masked. From Gen7 on (VCS §1.1.3.4: `MFX_MODE`;
/// V-06; D65).
pub(crate) const GFX_MODE: u32 = 0x29c;
/// The timestamp, low and high half (G-41; D67).
pub(crate) const TIMESTAMP: u32 = 0x358;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_write_names_the_bits_that_change() {
        // G-09: bits 31:16 enable; as in G-22, INSTPM = 0x02000200.
        assert_eq!(masked(1 << 9, 0), 0x0200_0200);
        assert_eq!(masked(0, 1 << 8), 0x0100_0000);
        assert_eq!(masked(1 << 9, 1 << 7), 0x0280_0200);
    }

    #[test]
    fn a_head_counts_wraps_apart() {
        // G-07: wraps 0xFFE00000, address 0x1FFFFC.
        let head = RingHead::from_bits(0x00a0_1238);
        assert_eq!(head.offset(), 0x1238);
        assert_eq!(head.wraps(), 5);
        assert_eq!(RingHead::from_bits(0x001f_fffc).offset(), 0x1f_fffc);
        assert_eq!(RingHead::from_bits(0xffe0_0000).offset(), 0);
    }

    #[test]
    fn ring_control_has_its_bits_where_g_07_says() {
        // 20:12 pages less one, 11 event wait, 10 semaphore wait, 2:1 report, 0 valid.
        let ctl = RingCtl::new().with_pages_less_one(3).with_enable(true);
        assert_eq!(ctl.into_bits(), 0x3001);
        assert_eq!(RingCtl::new().with_event_wait(true).into_bits(), 0x800);
        assert_eq!(RingCtl::new().with_semaphore_wait(true).into_bits(), 0x400);
        assert_eq!(RingCtl::new().with_report(3).into_bits(), 0x6);
        assert_eq!(
            RingCtl::new().with_pages_less_one(511).into_bits(),
            0x1f_f000
        );
    }
}

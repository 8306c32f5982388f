// SPDX-License-Identifier: GPL-2.0
//! Registers that each engine has, at offsets from the engine's base.
//!
//! What they do: SNB PRM V1P2 §5.3 to §5.9, which gives no offsets. Offsets and bits: G-06 to G-12,
//! G-20, G-37 and G-42 of the digest; video's are the same at another base (VCS §1.1.1).

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Where an engine's block of registers starts, in bytes (G-06).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Base(pub(super) u32);

impl Base {
    /// The render engine's.
    pub(super) const RENDER: Self = Self(0x2000);
    /// The video engine's.
    pub(super) const VIDEO: Self = Self(0x1_2000);
    /// The blitter's.
    pub(super) const BLITTER: Self = Self(0x2_2000);

    /// The offset of one of the registers below in this engine.
    pub(super) const fn at(self, reg: u32) -> u32 {
        self.0.wrapping_add(reg)
    }
}

/// A write that sets the bits `set` and clears the bits `clear` of a masked register: bits 31:16
/// say which of bits 15:0 change (G-09).
pub(super) const fn masked(set: u16, clear: u16) -> u32 {
    let mask = set | clear;
    ((mask as u32) << 16) | set as u32
}

/// Tail of the ring: bits 20:3, a byte offset of a quadword (§5.3.4.2, G-07). Reset 0.
pub(super) const RING_TAIL: u32 = 0x30;
/// Bits of [`RING_TAIL`] that are an offset.
pub(super) const RING_TAIL_MASK: u32 = 0x1f_fff8;

/// Head of the ring (§5.3.4.2, G-07). Reset 0; not changed when the ring is enabled.
pub(super) const RING_HEAD: u32 = 0x34;

/// [`RING_HEAD`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct RingHead {
    #[bits(2)]
    __: u8,
    /// Bits 20:2: dword that is fetched next.
    #[bits(19)]
    pub(super) dword: u32,
    /// Bits 31:21: how often the head went past the end.
    #[bits(11)]
    pub(super) wraps: u16,
}
const_assert_eq!(core::mem::size_of::<RingHead>(), 4);

impl RingHead {
    /// The byte offset.
    pub(super) const fn offset(self) -> u32 {
        self.dword() << 2
    }
}

/// Address of the ring in the global table, bits 31:12 (§5.3.4.2, G-07). Reset 0.
pub(super) const RING_START: u32 = 0x38;

/// Control of the ring (§5.3.4.2, §5.3.7.2, G-07). Reset 0.
pub(super) const RING_CTL: u32 = 0x3c;

/// [`RING_CTL`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct RingCtl {
    /// Bit 0: commands are fetched.
    pub(super) enable: bool,
    /// Bits 2:1: automatic report of the head. Off.
    #[bits(2)]
    pub(super) report: u8,
    #[bits(7)]
    __: u8,
    /// Bit 10: waits for a semaphore.
    pub(super) semaphore_wait: bool,
    /// Bit 11: waits for an event. Writing a one ends the wait (G6-105).
    pub(super) event_wait: bool,
    /// Bits 20:12: pages of the ring, less one.
    #[bits(9)]
    pub(super) pages_less_one: u16,
    #[bits(11)]
    __: u16,
}
const_assert_eq!(core::mem::size_of::<RingCtl>(), 4);

/// Power state messages; masked (G-37, V-14). Used on the video engine only.
pub(super) const PSMI_CTL: u32 = 0x50;
/// Bit 0 of [`PSMI_CTL`]: the engine sends no message that it goes to sleep.
pub(super) const PSMI_NO_SLEEP: u16 = 1 << 0;
/// Bit 3 of [`PSMI_CTL`]: the engine is asleep. Read only.
pub(super) const PSMI_ASLEEP: u32 = 1 << 3;

/// What the instruction parser choked on (G-42).
pub(super) const IPEIR: u32 = 0x64;
/// Header of the instruction that is executed or failed (G-42).
pub(super) const IPEHR: u32 = 0x68;
/// Units that are done, all ones after reset (§5.9, G-42).
pub(super) const INSTDONE: u32 = 0x6c;
/// State of the instruction parser (G-42).
pub(super) const INSTPS: u32 = 0x70;
/// Address of the command that is executed (G-42).
pub(super) const ACTHD: u32 = 0x74;
/// Address that commands are fetched from (G-42).
pub(super) const DMA_FADD: u32 = 0x78;
/// More units that are done; on the render engine only (G-42).
pub(super) const INSTDONE_2: u32 = 0x7c;
/// Which changes of the interrupt status are written to the status page: those with a zero (§5.5).
pub(super) const HWSTAM: u32 = 0x98;

/// Mode of the engine; masked (G-09).
pub(super) const MI_MODE: u32 = 0x9c;
/// Bit 6 of [`MI_MODE`]: the timer that dispatches vertex shaders (G-38). Render only.
pub(super) const MI_MODE_VS_TIMER: u16 = 1 << 6;
/// Bit 8 of [`MI_MODE`]: stop at the next command.
pub(super) const MI_MODE_STOP: u16 = 1 << 8;
/// Bit 9 of [`MI_MODE`]: nothing is being executed. Read only.
pub(super) const MI_MODE_IDLE: u32 = 1 << 9;
/// Bit 14 of [`MI_MODE`]: no tuning for asynchronous flips (G-38). Render only.
pub(super) const MI_MODE_ASYNC_FLIP: u16 = 1 << 14;

/// The engine's own interrupt mask; the bits are where [`super::gt_regs::GTIMR`] has them (G-12,
/// VCS §1.1.6). All ones after reset (§5.9).
pub(super) const IMR: u32 = 0xa8;
/// Errors that happened and are not masked; cleared by ones (§5.7.1).
pub(super) const EIR: u32 = 0xb0;
/// Errors that do not get into [`EIR`]: ones. All ones after reset (§5.9).
pub(super) const EMR: u32 = 0xb4;
/// Errors as they are now. Read only (§5.7.1).
pub(super) const ESR: u32 = 0xb8;
/// Bit 0 of the error registers: a command that the parser does not know, or that is not allowed
/// where it stood (§5.3.7.6, VCS §1.1.6.3).
pub(super) const ERROR_INSTRUCTION: u32 = 1 << 0;
/// Bit 4 of the error registers: an error of the translation tables, which only a reset clears
/// (§5.7.2).
pub(super) const ERROR_PAGE_TABLE: u32 = 1 << 4;

/// Parser mode; masked, saved with a context on the render engine (§5.8, G-10).
pub(super) const INSTPM: u32 = 0xc0;
/// Bit 5 of [`INSTPM`]: flush now. Clears itself (§5.3.11.2).
pub(super) const INSTPM_SYNC_FLUSH: u16 = 1 << 5;
/// Bit 7 of [`INSTPM`]: keeps the order of memory accesses (G-38). Render only.
pub(super) const INSTPM_FORCE_ORDERING: u16 = 1 << 7;
/// Bit 9 of [`INSTPM`]: that flush drops translations too (G-10).
pub(super) const INSTPM_TLB_INVALIDATE: u16 = 1 << 9;

/// Address in the batch that is executed (G-42).
pub(super) const BBADDR: u32 = 0x140;

/// [`BBADDR`] (VCS §1.1.7).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct BatchAddr {
    /// Bit 0: a batch is executed.
    pub(super) valid: bool,
    #[bits(1)]
    __: u8,
    /// Bits 31:2: the dword.
    #[bits(30)]
    pub(super) dword: u32,
}
const_assert_eq!(core::mem::size_of::<BatchAddr>(), 4);

/// Two words that wake the video engine when they are written (G-37).
pub(super) const RNCID: u32 = 0x198;
/// Which groups of sixteen directory entries are loaded: bit n for entries 16n to 16n + 15
/// (G-20, VCS §1.1.2.1). Reset 0: none.
pub(super) const PP_DIR_DCLV: u32 = 0x220;
/// Where the directory is in the global table's array (§2.3, G-20); see [`super::pte`]. Writing it loads it.
pub(super) const PP_DIR_BASE: u32 = 0x228;
/// Address of the status page in the global table, bits 31:12 (§5.5, G-08). After reset 0x1fff_f000,
/// which is nowhere (§5.9). Only this generation has it here.
pub(super) const HWS_PGA: u32 = 0x2080;

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
    fn engines_are_where_g_06_says() {
        assert_eq!(Base::RENDER.at(RING_TAIL), 0x2030);
        assert_eq!(Base::VIDEO.at(RING_TAIL), 0x1_2030);
        assert_eq!(Base::BLITTER.at(RING_TAIL), 0x2_2030);
        // G-08
        assert_eq!(Base::RENDER.at(HWS_PGA), 0x4080);
        assert_eq!(Base::VIDEO.at(HWS_PGA), 0x1_4080);
        assert_eq!(Base::BLITTER.at(HWS_PGA), 0x2_4080);
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

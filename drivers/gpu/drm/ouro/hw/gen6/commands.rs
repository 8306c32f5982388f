// SPDX-License-Identifier: GPL-2.0
//! Commands that the driver itself writes: one type each, made into dwords by `encode`.
//!
//! SNB PRM V1P2 says what they do and leaves their bits out; those are from §2.3 and §2.4 of the digest.
//! A header is `opcode << 23 | flags | dwords - 2`.

use crate::types::{GgttAddr, GpuAddr};

/// The header of a memory interface command of `dwords` dwords.
const fn mi(opcode: u32, dwords: u32) -> u32 {
    (opcode << 23) | dwords.wrapping_sub(2)
}

/// `MI_NOOP`.
pub(super) const NOOP: u32 = 0;
/// `MI_USER_INTERRUPT`: raises the engine's user interrupt; nothing if it is still raised (§5.4.6).
pub(super) const USER_INTERRUPT: u32 = 0x02 << 23;

/// Bit 2 of an address, in the commands that have it: it is one of the global table.
const GLOBAL: u32 = 1 << 2;

/// `MI_SET_CONTEXT`: saves the loaded context and loads another one (§5.8.1). On the render ring
/// only, never in a batch; a no-op must follow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SetContext {
    /// The image; a page.
    pub(super) image: GgttAddr,
    /// Whether the image is read: not if it was never written (§5.8.1.3).
    pub(super) restore: bool,
}

impl SetContext {
    /// Bit 8: the image is in the global table. Must be one.
    const GLOBAL_TABLE: u32 = 1 << 8;
    /// Bit 3: the extended part is saved when the context is switched away from.
    const SAVE_EXTENDED: u32 = 1 << 3;
    /// Bit 2: the extended part is loaded now.
    const RESTORE_EXTENDED: u32 = 1 << 2;
    /// Bit 0: nothing is loaded now.
    const RESTORE_INHIBIT: u32 = 1 << 0;

    /// The dwords.
    pub(super) const fn encode(self) -> [u32; 2] {
        let restore = if self.restore {
            Self::RESTORE_EXTENDED
        } else {
            Self::RESTORE_INHIBIT
        };
        let image = self.image.0 & 0xffff_f000;
        [
            mi(0x18, 2),
            image | Self::GLOBAL_TABLE | Self::SAVE_EXTENDED | restore,
        ]
    }
}

/// `MI_BATCH_BUFFER_START` (§5.3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BatchStart {
    /// First command, a dword below 4 GiB.
    pub(super) addr: u32,
    /// Whether it runs without privilege, in its own address space (§5.3.7.6).
    pub(super) user: bool,
}

impl BatchStart {
    /// Bit 8: no privilege, own address space.
    const USER: u32 = 1 << 8;

    /// One at `addr`, or `None` where no command can say that address.
    pub(super) fn at(addr: GpuAddr, user: bool) -> Option<Self> {
        let addr = u32::try_from(addr.0).ok()?;
        (addr & 3 == 0).then_some(Self { addr, user })
    }

    /// The dwords.
    pub(super) const fn encode(self) -> [u32; 2] {
        let user = if self.user { Self::USER } else { 0 };
        [mi(0x31, 2) | user, self.addr]
    }
}

/// `MI_LOAD_REGISTER_IMM`: writes registers when the parser gets there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LoadRegisters<const N: usize>(
    /// Offset and value of each.
    pub(super) [(u32, u32); N],
);

impl<const N: usize> LoadRegisters<N> {
    /// The header: bits 7:0 count the dwords after the first two.
    pub(super) const fn header(self) -> u32 {
        mi(0x22, (N as u32).wrapping_mul(2).wrapping_add(1))
    }

    /// The pairs, each as offset (bits 22:2) and value.
    pub(super) fn pairs(self) -> [[u32; 2]; N] {
        self.0.map(|(offset, value)| [offset & 0x7f_fffc, value])
    }
}

/// `MI_STORE_DATA_INDEX`: stores a dword in the status page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StoreStatus {
    /// Byte offset in the page, of a dword.
    pub(super) offset: u32,
    /// The number.
    pub(super) value: u32,
}

impl StoreStatus {
    /// The dwords.
    pub(super) const fn encode(self) -> [u32; 3] {
        [mi(0x21, 3), self.offset & 0xffc, self.value]
    }
}

/// `MI_FLUSH_DW`: the flush of the video engine and the blitter, with a store behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flush {
    /// Whether translations are dropped. Only with a store (VCS §1.2.7).
    pub(super) invalidate_tlb: bool,
    /// Whether the caches of the video pipeline are dropped.
    pub(super) invalidate_video: bool,
    /// A quadword to store when all is flushed: where, aligned to 8 and with bit 5 clear (an erratum,
    /// VCS §1.2.7), and the low half; the high half is zero.
    pub(super) store: (GgttAddr, u32),
}

impl Flush {
    /// Bit 18: translations.
    const TLB: u32 = 1 << 18;
    /// Bits 15:14 are 1: store the data.
    const STORE: u32 = 1 << 14;
    /// Bit 7: caches of the video pipeline.
    const VIDEO: u32 = 1 << 7;

    /// The dwords.
    pub(super) const fn encode(self) -> [u32; 4] {
        let mut flags = Self::STORE;
        if self.invalidate_tlb {
            flags |= Self::TLB;
        }
        if self.invalidate_video {
            flags |= Self::VIDEO;
        }
        [
            mi(0x26, 4) | flags,
            (self.store.0 .0 & 0xffff_fff8) | GLOBAL,
            self.store.1,
            0,
        ]
    }
}

/// `PIPE_CONTROL`: the flush of the render engine (§5.3.8, digest §2.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PipeControl {
    /// What to flush, invalidate and wait for: constants of this type.
    pub(super) flags: u32,
    /// A quadword to store behind it, as with [`Flush::store`].
    pub(super) store: Option<(GgttAddr, u32)>,
}

impl PipeControl {
    /// Bit 0: write back the depth cache.
    pub(super) const DEPTH_FLUSH: u32 = 1 << 0;
    /// Bit 1: wait for pixels before this one.
    pub(super) const SCOREBOARD_STALL: u32 = 1 << 1;
    /// Bit 2: drop cached state.
    pub(super) const STATE_INVALIDATE: u32 = 1 << 2;
    /// Bit 3: drop cached constants.
    pub(super) const CONSTANT_INVALIDATE: u32 = 1 << 3;
    /// Bit 4: drop cached vertices.
    pub(super) const VERTEX_INVALIDATE: u32 = 1 << 4;
    /// Bit 5: write back the data cache.
    pub(super) const DATA_FLUSH: u32 = 1 << 5;
    /// Bit 10: drop cached textures.
    pub(super) const TEXTURE_INVALIDATE: u32 = 1 << 10;
    /// Bit 11: drop cached instructions.
    pub(super) const INSTRUCTION_INVALIDATE: u32 = 1 << 11;
    /// Bit 12: write back the render target cache.
    pub(super) const RENDER_FLUSH: u32 = 1 << 12;
    /// Bits 15:14 are 1: store the data.
    const STORE: u32 = 1 << 14;
    /// Bit 18: drop translations. Only with a store.
    pub(super) const TLB_INVALIDATE: u32 = 1 << 18;
    /// Bit 20: the parser waits too.
    pub(super) const COMMAND_STALL: u32 = 1 << 20;

    /// The dwords. The header is of the 3D client: type 3, subtype 3, opcode 2, subopcode 0.
    pub(super) const fn encode(self) -> [u32; 5] {
        let header = 0x7a00_0000 | 3;
        match self.store {
            Some((addr, value)) => [
                header,
                self.flags | Self::STORE,
                (addr.0 & 0xffff_fff8) | GLOBAL,
                value,
                0,
            ],
            None => [header, self.flags, 0, 0, 0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_digest_2_3() {
        assert_eq!(USER_INTERRUPT, 0x0100_0000);
        assert_eq!(mi(0x18, 2), 0x0c00_0000);
        assert_eq!(mi(0x31, 2), 0x1880_0000);
        assert_eq!(mi(0x22, 3), 0x1100_0001);
        assert_eq!(mi(0x21, 3), 0x1080_0001);
        assert_eq!(mi(0x26, 4), 0x1300_0002);
    }

    #[test]
    fn a_fresh_context_is_not_restored() {
        // §5.8.1.3, G-29: address | 0x100 | 0x8 | 0x1.
        let c = SetContext {
            image: GgttAddr(0x0123_4000),
            restore: false,
        };
        assert_eq!(c.encode(), [0x0c00_0000, 0x0123_4109]);
    }

    #[test]
    fn a_saved_context_is_restored_with_its_extended_part() {
        // G-29: address | 0x100 | 0x8 | 0x4.
        let c = SetContext {
            image: GgttAddr(0x0123_4000),
            restore: true,
        };
        assert_eq!(c.encode(), [0x0c00_0000, 0x0123_410c]);
    }

    #[test]
    fn a_user_batch_has_bit_8() {
        let b = BatchStart::at(GpuAddr(0x7000_1004), true).unwrap();
        assert_eq!(b.encode(), [0x1880_0100, 0x7000_1004]);
        let b = BatchStart::at(GpuAddr(0x7000_1004), false).unwrap();
        assert_eq!(b.encode(), [0x1880_0000, 0x7000_1004]);
    }

    #[test]
    fn a_batch_start_refuses_what_its_field_cannot_say() {
        assert_eq!(BatchStart::at(GpuAddr(0x1_0000_0000), true), None);
        assert_eq!(BatchStart::at(GpuAddr(0x1002), true), None);
        assert!(BatchStart::at(GpuAddr(0xffff_fffc), true).is_some());
    }

    #[test]
    fn two_registers_in_one_load() {
        // Length field 2n - 1 = 3.
        let l = LoadRegisters([(0x20c0, 0x0080_0080), (0x2120, 0x0021_0000)]);
        assert_eq!(l.header(), 0x1100_0003);
        assert_eq!(l.pairs(), [[0x20c0, 0x0080_0080], [0x2120, 0x0021_0000]]);
    }

    #[test]
    fn a_status_store_names_its_dword() {
        let s = StoreStatus {
            offset: 0x200,
            value: 7,
        };
        assert_eq!(s.encode(), [0x1080_0001, 0x200, 7]);
    }

    #[test]
    fn a_flush_stores_a_quadword() {
        let f = Flush {
            invalidate_tlb: false,
            invalidate_video: false,
            store: (GgttAddr(0x0010_0100), 0xabcd),
        };
        assert_eq!(f.encode(), [0x1300_4002, 0x0010_0104, 0xabcd, 0]);
    }

    #[test]
    fn an_invalidating_flush_always_stores() {
        // VCS §1.2.7: bit 18 is inert without a store; bit 7 is the video pipeline's.
        let f = Flush {
            invalidate_tlb: true,
            invalidate_video: true,
            store: (GgttAddr(0x2000), 0),
        };
        assert_eq!(f.encode(), [0x1304_4082, 0x2004, 0, 0]);
    }

    #[test]
    fn pipe_control_has_the_global_bit_in_its_address() {
        // Digest §2.4: bit 2 of dword 2 on this generation.
        let p = PipeControl {
            flags: PipeControl::COMMAND_STALL,
            store: Some((GgttAddr(0x3000), 5)),
        };
        assert_eq!(p.encode(), [0x7a00_0003, 0x0010_4000, 0x3004, 5, 0]);
        let p = PipeControl {
            flags: PipeControl::COMMAND_STALL | PipeControl::SCOREBOARD_STALL,
            store: None,
        };
        assert_eq!(p.encode(), [0x7a00_0003, 0x0010_0002, 0, 0, 0]);
    }

    #[test]
    fn pipe_control_flags_are_those_of_digest_2_4() {
        for (flag, bit) in [
            (PipeControl::DEPTH_FLUSH, 0),
            (PipeControl::SCOREBOARD_STALL, 1),
            (PipeControl::STATE_INVALIDATE, 2),
            (PipeControl::CONSTANT_INVALIDATE, 3),
            (PipeControl::VERTEX_INVALIDATE, 4),
            (PipeControl::DATA_FLUSH, 5),
            (PipeControl::TEXTURE_INVALIDATE, 10),
            (PipeControl::INSTRUCTION_INVALIDATE, 11),
            (PipeControl::RENDER_FLUSH, 12),
            (PipeControl::TLB_INVALIDATE, 18),
            (PipeControl::COMMAND_STALL, 20),
        ] {
            assert_eq!(flag, 1 << bit);
        }
    }
}

// SPDX-License-Identifier: GPL-2.0
//! Memory interface commands that the driver itself writes, as Intel's engines have them: one type each, made
//! into dwords by `encode`.
//!
//! SNB PRM V1P2 says what they do and leaves their bits out; those are from §2.3 of the digest of Sandy Bridge,
//! and §2.1 and §2.2 of that of DG2, whose rows are cited as `DG2: S2`. A header is
//! `opcode << 23 | flags | dwords - 2`.

use crate::{
    ring::{Commands, Overflow},
    types::{GgttAddr, GpuAddr},
};

/// The header of a memory interface command of `dwords` dwords.
pub(crate) const fn mi(opcode: u32, dwords: u32) -> u32 {
    (opcode << 23) | dwords.wrapping_sub(2)
}

/// `MI_NOOP`.
pub(crate) const NOOP: u32 = 0;
/// `MI_USER_INTERRUPT`: raises the engine's user interrupt; nothing if it is still raised (§5.4.6).
pub(crate) const USER_INTERRUPT: u32 = 0x02 << 23;

/// `MI_ARB_ON_OFF`: nobody else may take the engine over from here on (DG2: row 8; VCS §1.2.3).
pub(crate) const ARB_OFF: u32 = 0x08 << 23;
/// `MI_ARB_ON_OFF`: others may again.
pub(crate) const ARB_ON: u32 = ARB_OFF | 1;

/// Bits 22:2 of a dword: a register's offset, in the commands that have one (VCS §1.2.8).
pub(crate) const REGISTER: u32 = 0x7f_fffc;

/// Bit 2 of an address, in the commands that have it: it is one of the global table.
pub(crate) const GLOBAL: u32 = 1 << 2;

/// `MI_SET_CONTEXT`: saves the loaded context and loads another one (§5.8.1). On the render ring
/// only, never in a batch; a no-op must follow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SetContext {
    /// The image; a page.
    pub(crate) image: GgttAddr,
    /// Whether the image is read: not if it was never written (§5.8.1.3).
    pub(crate) restore: bool,
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
    pub(crate) const fn encode(self) -> [u32; 2] {
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

/// The header of `MI_BATCH_BUFFER_START` (§5.3.5; J8). A `user`'s batch runs without privilege, in its own
/// address space (§5.3.7.6).
pub(crate) const fn batch_start(dwords: u32, user: bool) -> u32 {
    /// Bit 8: no privilege, own address space.
    const USER: u32 = 1 << 8;
    mi(0x31, dwords) | if user { USER } else { 0 }
}

/// `MI_BATCH_BUFFER_START` of machines whose addresses have 32 bits (§5.3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BatchStart {
    /// First command, a dword below 4 GiB.
    pub(crate) addr: u32,
    /// Whether it runs without privilege, in its own address space (§5.3.7.6).
    pub(crate) user: bool,
}

impl BatchStart {
    /// One at `addr`, or `None` where no command can say that address.
    pub(crate) fn at(addr: GpuAddr, user: bool) -> Option<Self> {
        let addr = u32::try_from(addr.0).ok()?;
        (addr & 3 == 0).then_some(Self { addr, user })
    }

    /// The dwords.
    pub(crate) const fn encode(self) -> [u32; 2] {
        [batch_start(2, self.user), self.addr]
    }
}

/// `MI_LOAD_REGISTER_IMM`: writes registers when the parser gets there. Offset and value of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LoadRegisters<'a>(pub(crate) &'a [(u32, u32)]);

impl LoadRegisters<'_> {
    /// Dwords of it.
    pub(crate) const fn dwords(self) -> usize {
        self.0.len().wrapping_mul(2).wrapping_add(1)
    }

    /// Writes it. Bits 7:0 of the header count the dwords after the first two.
    pub(crate) fn put(self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        out.put(&[mi(0x22, self.dwords() as u32)])?;
        for (offset, value) in self.0 {
            out.put(&[offset & REGISTER, *value])?;
        }
        Ok(())
    }
}

/// `MI_STORE_REGISTER_MEM`: stores a register in the global table's space (VCS §1.2.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreRegister {
    /// The register's offset.
    pub(crate) offset: u32,
    /// Where it goes: a dword.
    pub(crate) at: GgttAddr,
}

impl StoreRegister {
    /// Bit 22: the address is one of the global table.
    const GLOBAL: u32 = 1 << 22;

    /// The dwords.
    pub(crate) const fn encode(self) -> [u32; 3] {
        [
            mi(0x24, 3) | Self::GLOBAL,
            self.offset & REGISTER,
            self.at.0 & 0xffff_fffc,
        ]
    }
}

/// `MI_STORE_DATA_INDEX`: stores a dword in the status page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreStatus {
    /// Byte offset in the page, of a dword.
    pub(crate) offset: u32,
    /// The number.
    pub(crate) value: u32,
}

impl StoreStatus {
    /// The dwords.
    pub(crate) const fn encode(self) -> [u32; 3] {
        [mi(0x21, 3), self.offset & 0xffc, self.value]
    }

    /// Writes it so many times, as one: the room is looked at once.
    pub(crate) fn put_times<const N: usize>(self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        out.put([self.encode(); N].as_flattened())
    }
}

/// `MI_FLUSH_DW`: the flush of all engines without a 3D pipeline, with a store behind it. It is not posted: what
/// was written before is seen when the store is (DG2: S2, S3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flush {
    /// Whether translations are dropped. Only with a store (VCS §1.2.7).
    pub(crate) invalidate_tlb: bool,
    /// Whether the caches of the video pipeline are dropped.
    pub(crate) invalidate_video: bool,
    /// What to store in the global table when all is flushed: where, aligned to 8 and with bit 5 clear (an
    /// erratum, VCS §1.2.7; DG2: G7), and the number.
    pub(crate) store: (GgttAddr, u32),
}

impl Flush {
    /// Bit 18: translations.
    const TLB: u32 = 1 << 18;
    /// Bits 15:14 are 1: store the data.
    const STORE: u32 = 1 << 14;
    /// Bit 7: caches of the video pipeline.
    const VIDEO: u32 = 1 << 7;

    /// One that flushes and stores a number, and drops nothing.
    pub(crate) const fn storing(at: GgttAddr, number: u32) -> Self {
        Self {
            invalidate_tlb: false,
            invalidate_video: false,
            store: (at, number),
        }
    }

    /// One that drops translations, and the caches of the `video` pipeline; it stores 0 at `scratch`.
    pub(crate) const fn dropping(video: bool, scratch: GgttAddr) -> Self {
        Self {
            invalidate_tlb: true,
            invalidate_video: video,
            store: (scratch, 0),
        }
    }

    const fn header(self) -> u32 {
        let mut flags = Self::STORE;
        if self.invalidate_tlb {
            flags |= Self::TLB;
        }
        if self.invalidate_video {
            flags |= Self::VIDEO;
        }
        mi(0x26, 4) | flags
    }

    const fn place(self) -> u32 {
        (self.store.0 .0 & 0xffff_ffd8) | GLOBAL
    }

    /// The dwords of machines whose addresses have 32 bits: a quadword is stored, its high half zero.
    pub(crate) const fn encode(self) -> [u32; 4] {
        [self.header(), self.place(), self.store.1, 0]
    }

    /// The dwords of machines whose addresses have 48 bits: a dword is stored.
    pub(crate) const fn encode_wide(self) -> [u32; 4] {
        [self.header(), self.place(), 0, self.store.1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_digest_2_3() {
        assert_eq!(USER_INTERRUPT, 0x0100_0000);
        assert_eq!((ARB_OFF, ARB_ON), (0x0400_0000, 0x0400_0001));
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
        let mut buf = [0; 5];
        let mut out = Commands::new(&mut buf);
        let load = LoadRegisters(&[(0x20c0, 0x0080_0080), (0x2120, 0x0021_0000)]);
        load.put(&mut out).unwrap();
        let expected = [0x1100_0003, 0x20c0, 0x0080_0080, 0x2120, 0x0021_0000];
        assert_eq!(out.as_slice(), expected);
        assert_eq!(load.dwords(), 5);
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
}

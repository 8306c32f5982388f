// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The MI (memory interface) commands that the driver writes: a type per command, which `encode`
//! turns into dwords.
//!
//! SNB PRM V1P2 describes the commands without their bits; the bits are from §2.3 of the digest of
//! Sandy Bridge, and from §2.1 and §2.2 of the digest of DG2, whose rows are cited as `DG2: S2`. A
//! header is `opcode << 23 | flags | dwords - 2`.

use crate::{
    ring::{Commands, Overflow},
    types::{GgttAddr, GpuAddr},
};

/// Returns the header of an MI command of `dwords` dwords.
pub(crate) const fn mi(opcode: u32, dwords: u32) -> u32 {
    (opcode << 23) | dwords.wrapping_sub(2)
}

/// `MI_NOOP`.
pub(crate) const NOOP: u32 = 0;
/// `MI_USER_INTERRUPT`: raises the engine's user interrupt. It has no effect while the interrupt is
/// pending (§5.4.6).
pub(crate) const USER_INTERRUPT: u32 = 0x02 << 23;

/// `MI_ARB_ON_OFF`: disables preemption from here on (DG2: row 8; VCS §1.2.3).
pub(crate) const ARB_OFF: u32 = 0x08 << 23;
/// `MI_ARB_ON_OFF`: enables preemption again.
pub(crate) const ARB_ON: u32 = ARB_OFF | 1;

/// Bits 22:2 of a dword: the register's offset, in commands with a register (VCS §1.2.8).
pub(crate) const REGISTER: u32 = 0x7f_fffc;

/// Bit 2 of an address, in commands that have the bit: a GGTT address.
pub(crate) const GLOBAL: u32 = 1 << 2;

/// `MI_SET_CONTEXT`: saves the loaded context and loads another one (§5.8.1). It is allowed in the
/// render ring only, never in a batch, and a no-op must follow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SetContext {
    /// The context image; page aligned.
    pub(crate) image: GgttAddr,
    /// Whether to restore from the image; must be false if the image was never saved (§5.8.1.3).
    pub(crate) restore: bool,
}

impl SetContext {
    /// Bit 8: the image is in the GGTT. Must be set.
    const GLOBAL_TABLE: u32 = 1 << 8;
    /// Bit 3: save the extended state when the context is switched out.
    const SAVE_EXTENDED: u32 = 1 << 3;
    /// Bit 2: restore the extended state now.
    const RESTORE_EXTENDED: u32 = 1 << 2;
    /// Bit 0: restore nothing now.
    const RESTORE_INHIBIT: u32 = 1 << 0;

    /// Returns the dwords of the command.
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

/// Returns the header of `MI_BATCH_BUFFER_START` (§5.3.5; J8). With `user`, the batch runs
/// unprivileged in the PPGTT (§5.3.7.6).
pub(crate) const fn batch_start(dwords: u32, user: bool) -> u32 {
    /// Bit 8: unprivileged, in the PPGTT.
    const USER: u32 = 1 << 8;
    mi(0x31, dwords) | if user { USER } else { 0 }
}

/// `MI_BATCH_BUFFER_START` on chips with 32-bit addresses (§5.3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BatchStart {
    /// Address of the first command: dword aligned, below 4 GiB.
    pub(crate) addr: u32,
    /// Whether the batch runs unprivileged in the PPGTT (§5.3.7.6).
    pub(crate) user: bool,
}

impl BatchStart {
    /// Creates the command for a batch at `addr`; `None` if the address field cannot hold the
    /// address.
    pub(crate) fn at(addr: GpuAddr, user: bool) -> Option<Self> {
        let addr = u32::try_from(addr.0).ok()?;
        (addr & 3 == 0).then_some(Self { addr, user })
    }

    /// Returns the dwords of the command.
    pub(crate) const fn encode(self) -> [u32; 2] {
        [batch_start(2, self.user), self.addr]
    }
}

/// `MI_LOAD_REGISTER_IMM`: writes registers when the command is parsed. Pairs of offset and value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LoadRegisters<'a>(pub(crate) &'a [(u32, u32)]);

impl LoadRegisters<'_> {
    /// Returns the number of dwords of the command.
    pub(crate) const fn dwords(self) -> usize {
        self.0.len().wrapping_mul(2).wrapping_add(1)
    }

    /// Writes the command. Bits 7:0 of the header count the dwords after the first two.
    pub(crate) fn put(self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        out.put(&[mi(0x22, self.dwords() as u32)])?;
        for (offset, value) in self.0 {
            out.put(&[offset & REGISTER, *value])?;
        }
        Ok(())
    }
}

/// `MI_STORE_REGISTER_MEM`: stores a register at a GGTT address (VCS §1.2.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreRegister {
    /// Offset of the register.
    pub(crate) offset: u32,
    /// The destination; dword aligned.
    pub(crate) at: GgttAddr,
}

impl StoreRegister {
    /// Bit 22: the destination is a GGTT address.
    const GLOBAL: u32 = 1 << 22;

    /// Returns the dwords of the command.
    pub(crate) const fn encode(self) -> [u32; 3] {
        [
            mi(0x24, 3) | Self::GLOBAL,
            self.offset & REGISTER,
            self.at.0 & 0xffff_fffc,
        ]
    }
}

/// `MI_STORE_DATA_INDEX`: stores a dword in the HWSP (status page).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreStatus {
    /// Byte offset in the HWSP; dword aligned.
    pub(crate) offset: u32,
    /// The dword to store.
    pub(crate) value: u32,
}

impl StoreStatus {
    /// Returns the dwords of the command.
    pub(crate) const fn encode(self) -> [u32; 3] {
        [mi(0x21, 3), self.offset & 0xffc, self.value]
    }

    /// Writes the command `N` times, with one check of the available room.
    pub(crate) fn put_times<const N: usize>(self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        out.put([self.encode(); N].as_flattened())
    }
}

/// `MI_FLUSH_DW`: the flush of engines without a 3D pipeline, followed by a store. The store is not
/// posted: all earlier writes are visible when it is (DG2: S2, S3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flush {
    /// Whether to invalidate the TLBs. The bit needs a store (VCS §1.2.7).
    pub(crate) invalidate_tlb: bool,
    /// Whether to invalidate the caches of the video pipeline.
    pub(crate) invalidate_video: bool,
    /// GGTT address and value of the store after the flush. The address is aligned to 8 and has bit
    /// 5 clear (an erratum, VCS §1.2.7; DG2: G7).
    pub(crate) store: (GgttAddr, u32),
}

impl Flush {
    /// Bit 18: invalidate the TLBs.
    const TLB: u32 = 1 << 18;
    /// Bits 15:14 are 1: store the data.
    const STORE: u32 = 1 << 14;
    /// Bit 7: invalidate the caches of the video pipeline.
    const VIDEO: u32 = 1 << 7;

    /// Creates a flush that stores a value and invalidates nothing.
    pub(crate) const fn storing(at: GgttAddr, number: u32) -> Self {
        Self {
            invalidate_tlb: false,
            invalidate_video: false,
            store: (at, number),
        }
    }

    /// Creates a flush that invalidates the TLBs, and with `video` the caches of the video
    /// pipeline; it stores 0 at `scratch`.
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

    /// Returns the dwords for chips with 32-bit addresses: a quadword is stored, its high half
    /// zero.
    pub(crate) const fn encode(self) -> [u32; 4] {
        [self.header(), self.place(), self.store.1, 0]
    }

    /// Returns the dwords for chips with 48-bit addresses: a dword is stored.
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

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Cache control: by index, which commands name, and by kind of page, which entries name (digest
//! §5.4).
//!
//! For an index the driver sets L3 only. The last-level cache control (the registers at 4000h) is
//! for parts that share it with a CPU: the upstream driver does not write these on a card.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

use super::gt_regs as gt_reg;
use crate::io::Hw;

/// The index of accesses that pass all caches of the GPU.
pub(super) const UNCACHED: u8 = 1;
/// Registers of the L3 table, each for two indices; there are 64.
pub(super) const L3_REGISTERS: u32 = 32;

/// L3 control of an index.
#[bitfield(u16)]
#[derive(PartialEq, Eq)]
struct L3 {
    /// Bit 0: skip.
    skip: bool,
    /// Bits 3:1: when.
    #[bits(3)]
    when: u8,
    /// Bits 5:4: 1 uncached, 3 written back.
    #[bits(2)]
    cache: u8,
    /// Bit 6: coherent with the whole device.
    global: bool,
    /// Bit 7: looked up.
    lookup: bool,
    __: u8,
}
const_assert_eq!(core::mem::size_of::<L3>(), 2);

/// [`L3::cache`]: not at all.
const L3_UNCACHED: u8 = 1;
/// [`L3::cache`]: written back.
const L3_BACK: u8 = 3;

/// Returns the L3 control of an index; unused indices are as 3.
const fn l3(index: u32) -> u16 {
    let no = L3::new().with_cache(L3_UNCACHED);
    let entry = match index {
        0 => no.with_lookup(true),
        1 => no.with_global(true).with_lookup(true),
        2 => no.with_global(true),
        _ => L3::new().with_cache(L3_BACK).with_lookup(true),
    };
    entry.into_bits()
}

/// The page kinds: written back, write-combined, written through, uncached, and four more written
/// back (§3.3 row 5, §4.5).
const KINDS: [u32; 8] = [3, 1, 2, 0, 3, 3, 3, 3];

/// Returns the value of a register of the L3 table.
pub(super) const fn l3_pair(register: u32) -> u32 {
    let first = register.wrapping_mul(2);
    let (low, high) = (l3(first), l3(first.wrapping_add(1)));
    low as u32 | (high as u32) << 16
}

/// Writes all of them, to all instances ([`super::steering`]). A start of render or compute writes
/// the L3 table again ([`super::settings`]).
pub(super) fn set(hw: &Hw<'_>) {
    for register in 0..L3_REGISTERS {
        let at = gt_reg::LNCF_MOCS.wrapping_add(register.wrapping_mul(4));
        hw.regs.write32(at, l3_pair(register));
    }
    for (n, kind) in KINDS.iter().enumerate() {
        let at = gt_reg::PAT_INDEX.wrapping_add((n as u32).wrapping_mul(4));
        hw.regs.write32(at, *kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn indices_are_those_of_5_4() {
        // Cacheability at 5:4 (1 uncached, 3 back), global at 6, lookup at 7.
        assert_eq!([l3(0), l3(1), l3(2), l3(3)], [0x90, 0xd0, 0x50, 0xb0]);
        assert!((3..64).all(|n| l3(n) == 0xb0));
    }

    #[test]
    fn all_are_set() {
        let mock = Mock::default();
        set(&mock.hw());
        let log = mock.take();
        assert_eq!(log.len(), 32 + 8);
        assert_eq!(log[0], Access::W(0xb020, 0x00d0_0090));
        assert_eq!(log[1], Access::W(0xb024, 0x00b0_0050));
        assert_eq!(log[31], Access::W(0xb09c, 0x00b0_00b0));
        // 0 back, 1 combined, 2 through, 3 uncached, 4 to 7 back, in the numbers of that register.
        assert_eq!(
            log[32..36],
            [
                Access::W(0x4800, 3),
                Access::W(0x4804, 1),
                Access::W(0x4808, 2),
                Access::W(0x480c, 0)
            ]
        );
        assert_eq!(log[39], Access::W(0x481c, 3));
    }
}

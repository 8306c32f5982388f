// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers behind an index and a data register: of the bus interface, the memory controller and
//! the clocks (digest §5.2).
//! Index and data are two accesses. Registers of the bus interface are accessed under the lock of
//! the `Gt`, or while nothing runs; the others only during bring-up.
//! the `Gt`, or while nothing runs; the others only while a device is brought up.

use super::regs;
use crate::io::Registers;

/// Index that reads a register of the memory controller: selects all of its parts.
const MC_READ: u32 = 0x007f_0000;
/// Index that writes a register of the memory controller: bit 23 in addition (digest trap 2).
const MC_WRITE: u32 = 0x00ff_0000;
/// Index bit that writes a clock register.
const CLOCK_WRITE: u32 = 1 << 7;
/// Bits of [`regs::CLOCK_CNTL_INDEX`] with the index and its write bit.
const CLOCK_INDEX_BITS: u32 = 0xff;

/// Selects a register of the bus interface.
pub(super) fn select_pcie(regs: &dyn Registers, reg: u32) {
    regs.write32(regs::PCIE_INDEX, reg);
}

/// Reads a register of the bus interface.
pub(super) fn read_pcie(regs: &dyn Registers, reg: u32) -> u32 {
    select_pcie(regs, reg);
    regs.read32(regs::PCIE_DATA)
}

/// Writes a register of the bus interface.
pub(super) fn write_pcie(regs: &dyn Registers, reg: u32, value: u32) {
    select_pcie(regs, reg);
    regs.write32(regs::PCIE_DATA, value);
}

/// Reads a register of the memory controller.
pub(super) fn read_mc(regs: &dyn Registers, reg: u32) -> u32 {
    regs.write32(regs::MC_INDEX, MC_READ | reg);
    let value = regs.read32(regs::MC_DATA);
    regs.write32(regs::MC_INDEX, 0);
    value
}

/// Writes a register of the memory controller.
pub(super) fn write_mc(regs: &dyn Registers, reg: u32, value: u32) {
    regs.write32(regs::MC_INDEX, MC_WRITE | reg);
    regs.write32(regs::MC_DATA, value);
    regs.write32(regs::MC_INDEX, 0);
}

/// Changes bits of a clock register. The index is the lowest byte of its register. The driver has
/// no accesses of one byte, so the other bytes are written back unchanged.
pub(super) fn change_clock(regs: &dyn Registers, reg: u32, change: impl FnOnce(u32) -> u32) {
    let rest = regs.read32(regs::CLOCK_CNTL_INDEX) & !CLOCK_INDEX_BITS;
    regs.write32(regs::CLOCK_CNTL_INDEX, rest | reg);
    let value = regs.read32(regs::CLOCK_CNTL_DATA);
    regs.write32(regs::CLOCK_CNTL_INDEX, rest | reg | CLOCK_WRITE);
    regs.write32(regs::CLOCK_CNTL_DATA, change(value));
    // No other register is written.
    regs.write32(regs::CLOCK_CNTL_INDEX, rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn each_has_its_own_order() {
        let mock = Mock::default();
        let (r, w) = (Access::R, Access::W);
        mock.set(0x74, 0x55);
        assert_eq!(read_mc(&mock, 4), 0x55);
        write_mc(&mock, 1, 0xbfff_8000);
        assert_eq!(
            mock.take(),
            [
                w(0x70, 0x7f_0004),
                r(0x74),
                w(0x70, 0),
                w(0x70, 0xff_0001),
                w(0x74, 0xbfff_8000),
                w(0x70, 0),
            ]
        );
        write_pcie(&mock, 0x13, 7);
        assert_eq!(read_pcie(&mock, 0x13), 7);
        assert_eq!(
            mock.take(),
            [w(0x30, 0x13), w(0x34, 7), w(0x30, 0x13), r(0x34)]
        );
    }

    #[test]
    fn a_clocks_index_leaves_the_other_bytes_alone() {
        let mock = Mock::default();
        mock.set(0x8, 0x1234_5600);
        mock.set(0xc, 0x8000_0000);
        change_clock(&mock, 0x0f, |v| v | 1);
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                r(0x8),
                w(0x8, 0x1234_560f),
                r(0xc),
                w(0x8, 0x1234_568f),
                w(0xc, 0x8000_0001),
                w(0x8, 0x1234_5600),
            ]
        );
    }
}

// SPDX-License-Identifier: GPL-2.0
//! The translation table: where the firmware put it, switching it on, and having its changes seen (§4.6, G-06, G-09,
//! G-19).
//!
//! The CPU writes entries by a window behind the registers, which the device watches to drop what the command streamer
//! and the CPU's accesses have cached (§5.3.10.5). What the engines that draw have cached is dropped by the flush at
//! the beginning of each request.
//!
//! The chipset has buffers of its own between the CPU and memory. They are flushed by a write to a page on the bus
//! whose address is in the host bridge; the firmware may have given it one.

use super::regs::{
    Gmch, PgtblCtl, BRIDGE_FLUSH_PAGE, BRIDGE_FLUSH_PAGE_HIGH, GFX_FLSH_CNTL, PGTBL_CTL,
    PGTBL_CTL2, TABLE_BYTES,
};
use crate::{
    generation::DeviceError,
    io::Hw,
    types::{DmaAddr, PAGE_SIZE},
};

/// Bit 0 of [`BRIDGE_FLUSH_PAGE`]: the page has an address.
const HAS_ADDRESS: u32 = 1 << 0;
/// Bit 0 of [`PGTBL_CTL2`]: there is a table for each process.
const PER_PROCESS: u32 = 1 << 0;

/// What [`PGTBL_CTL`] is to hold: what the firmware left, switched on where the family has a switch (`switch`), else
/// with the size that the host bridge has for it.
pub(super) fn control(left: PgtblCtl, bridge: Gmch, switch: bool) -> PgtblCtl {
    if switch {
        return left.with_enable(true);
    }
    // By the bridge's code: 1, 2 and 1.5 MiB, with or without a table for VT-d (G-09).
    match bridge.table() {
        0x1 | 0x9 => left.with_size(3),
        0x3 | 0xb => left.with_size(4),
        0xa => left.with_size(5),
        _ => left,
    }
}

/// Bytes of the table, if its size is one that there is.
pub(super) fn bytes(control: PgtblCtl) -> Option<u32> {
    TABLE_BYTES.get(usize::from(control.size())).copied()
}

/// Has the device use the table as `control` says. Where there is a switch, accesses fail until then, after a reset
/// (§5.9).
pub(super) fn switch_on(hw: &Hw<'_>, control: PgtblCtl, switch: bool) -> Result<(), DeviceError> {
    if !switch {
        let processes = hw.regs.read32(PGTBL_CTL2);
        hw.regs.write32(PGTBL_CTL2, processes & !PER_PROCESS);
    }
    hw.regs.write32(GFX_FLSH_CNTL, 0);
    hw.regs.write32(PGTBL_CTL, control.into_bits());
    let now = hw.regs.read32(PGTBL_CTL);
    hw.regs.write32_flush(GFX_FLSH_CNTL, 0);
    match now {
        u32::MAX => Err(DeviceError::Gone),
        now if switch && !PgtblCtl::from_bits(now).enable() => Err(DeviceError::Unsupported(
            "a translation table that stays off",
        )),
        _ => Ok(()),
    }
}

/// Entries were written: they are in memory. Reading one has the device take those that were written before.
pub(super) fn flush(hw: &Hw<'_>) {
    let _ = hw.gtt.read32(0);
    hw.platform.flush_chipset();
}

/// Opens the page by which the chipset is flushed, at the firmware's address or a new one. The bridge forgets it when
/// the system sleeps.
pub(super) fn open_flush_page(hw: &Hw<'_>) {
    let low = hw.platform.bridge32(BRIDGE_FLUSH_PAGE);
    let high = hw.platform.bridge32(BRIDGE_FLUSH_PAGE_HIGH);
    if low == u32::MAX {
        hw.platform
            .warn("no host bridge: what the CPU writes may come late");
        return;
    }
    let given = (low & HAS_ADDRESS != 0)
        .then(|| DmaAddr(u64::from(high) << 32 | u64::from(low & !(PAGE_SIZE - 1))));
    let open = hw.platform.flush_page(given);
    match open {
        Some(at) if open != given => {
            hw.platform
                .bridge_write32(BRIDGE_FLUSH_PAGE_HIGH, (at.0 >> 32) as u32);
            hw.platform
                .bridge_write32(BRIDGE_FLUSH_PAGE, at.0 as u32 | HAS_ADDRESS);
        }
        Some(_) => {}
        None => hw
            .platform
            .warn("no page to flush the chipset: what the CPU writes may come late"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock, FREE_PAGE};

    #[test]
    fn the_size_is_the_bridges_on_g4x() {
        // G-09: word 52h, bits 11:8.
        for (code, size, mib_quarters) in [
            (0x1, 3, 4),
            (0x9, 3, 4),
            (0xa, 5, 6),
            (0x3, 4, 8),
            (0xb, 4, 8),
            // Else what the register says: 256 KiB.
            (0x0, 1, 1),
            (0x2, 1, 1),
        ] {
            let left = PgtblCtl::from_bits(0x7f80_0002);
            let bridge = Gmch::from_bits(code << 24);
            let control = control(left, bridge, false);
            assert_eq!(control.into_bits(), 0x7f80_0000 | size << 1);
            assert_eq!(bytes(control), Some(mib_quarters << 18));
            // 965 takes what is there, and has it on.
            let control = super::control(left, bridge, true);
            assert_eq!(control.into_bits(), 0x7f80_0003);
        }
        assert_eq!(bytes(PgtblCtl::new().with_size(6)), None);
        assert_eq!(bytes(PgtblCtl::new().with_size(7)), None);
    }

    #[test]
    fn on_965_it_must_be_on() {
        let mock = Mock::default();
        let control = PgtblCtl::from_bits(0x7f80_0001);
        switch_on(&mock.hw(), control, true).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::W(0x2170, 0),
                Access::W(0x2020, 0x7f80_0001),
                Access::R(0x2020),
                Access::W(0x2170, 0),
                Access::R(0x2170),
            ]
        );
        mock.fix(0x2020, 0x7f80_0000);
        assert!(matches!(
            switch_on(&mock.hw(), control, true),
            Err(DeviceError::Unsupported(_))
        ));
        mock.gone.set(true);
        assert_eq!(switch_on(&mock.hw(), control, true), Err(DeviceError::Gone));
    }

    #[test]
    fn on_g4x_the_tables_of_processes_are_off() {
        let mock = Mock::default();
        mock.set(0x20c4, 0x1234_5001);
        switch_on(&mock.hw(), PgtblCtl::from_bits(0x7f80_0006), false).unwrap();
        assert_eq!(
            mock.take()[..4],
            [
                Access::R(0x20c4),
                Access::W(0x20c4, 0x1234_5000),
                Access::W(0x2170, 0),
                Access::W(0x2020, 0x7f80_0006),
            ]
        );
    }

    #[test]
    fn entries_are_read_back_and_the_chipset_flushed() {
        let mock = Mock::default();
        flush(&mock.hw());
        assert_eq!(mock.take(), [Access::R(0)]);
        open_flush_page(&mock.hw());
        mock.take();
        flush(&mock.hw());
        assert_eq!(mock.take(), [Access::R(0), Access::FlushChipset]);
    }

    #[test]
    fn the_firmwares_page_is_taken() {
        let mock = Mock::default();
        mock.bridge(0x70, 0xfed1_3001);
        mock.bridge(0x74, 0x2);
        open_flush_page(&mock.hw());
        assert_eq!(mock.take(), []);
        let page = crate::io::Platform::flush_page(&mock, None);
        assert_eq!(page, Some(DmaAddr(0x2_fed1_3000)));
    }

    #[test]
    fn a_page_without_address_gets_one() {
        let mock = Mock::default();
        // After sleep it is forgotten, and gets the same.
        for _ in 0..2 {
            mock.bridge(0x70, 0);
            open_flush_page(&mock.hw());
            assert_eq!(
                mock.take(),
                [
                    Access::Bridge(0x74, 0),
                    Access::Bridge(0x70, FREE_PAGE.0 as u32 | 1)
                ]
            );
        }
        assert!(mock.warned.borrow().is_empty());
        mock.bridge(0x70, u32::MAX);
        open_flush_page(&mock.hw());
        assert_eq!((mock.take(), mock.warned.borrow().len()), ([].to_vec(), 1));
    }
}

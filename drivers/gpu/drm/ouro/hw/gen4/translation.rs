// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The GGTT: its place, its enable, and the visibility of its changes (§4.6, G-06, G-09, G-19).
//!
//! The CPU writes entries through a range behind the registers. The device watches the range and
//! invalidates the TLBs of the command streamer and of the CPU's accesses (§5.3.10.5). The flush at
//! the beginning of each request invalidates the TLBs of the drawing engines.
//!
//! The chipset buffers the CPU's writes to memory. A write to the flush page flushes these buffers;
//! the host bridge has the page's bus address, which the firmware may have set.

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
/// Bit 0 of [`PGTBL_CTL2`]: the PPGTT is enabled.
const PER_PROCESS: u32 = 1 << 0;

/// Returns the value for [`PGTBL_CTL`]: as the firmware left it, and enabled if the family has an
/// enable (`switch`), otherwise with the size from the host bridge.
pub(super) fn control(left: PgtblCtl, bridge: Gmch, switch: bool) -> PgtblCtl {
    if switch {
        return left.with_enable(true);
    }
    // The bridge's code: 1, 2 and 1.5 MiB, with or without a table for VT-d (G-09).
    match bridge.table() {
        0x1 | 0x9 => left.with_size(3),
        0x3 | 0xb => left.with_size(4),
        0xa => left.with_size(5),
        _ => left,
    }
}

/// Returns the size of the GGTT in bytes; `None` for an undefined size.
pub(super) fn bytes(control: PgtblCtl) -> Option<u32> {
    TABLE_BYTES.get(usize::from(control.size())).copied()
}

/// Writes `control` to the register. With an enable (`switch`), accesses fail between a reset and
/// this (§5.9).
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
            "PGTBL_CTL bit 0 stays 0: the GGTT cannot be enabled",
        )),
        _ => Ok(()),
    }
}

/// Makes entries in memory visible to the device: the read of an entry flushes earlier writes.
pub(super) fn flush(hw: &Hw<'_>) {
    let _ = hw.gtt.read32(0);
    hw.platform.flush_chipset();
}

/// Enables the chipset flush page, at the firmware's address or a new one. The bridge loses it in
/// system sleep.
pub(super) fn open_flush_page(hw: &Hw<'_>) {
    let low = hw.platform.bridge32(BRIDGE_FLUSH_PAGE);
    let high = hw.platform.bridge32(BRIDGE_FLUSH_PAGE_HIGH);
    if low == u32::MAX {
        hw.platform
            .warn("no host bridge, so no chipset flush page: the GPU may read stale memory");
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
            .warn("no chipset flush page: the GPU may read stale memory"),
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
            // Otherwise the register's size: 256 KiB.
            (0x0, 1, 1),
            (0x2, 1, 1),
        ] {
            let left = PgtblCtl::from_bits(0x7f80_0002);
            let bridge = Gmch::from_bits(code << 24);
            let control = control(left, bridge, false);
            assert_eq!(control.into_bits(), 0x7f80_0000 | size << 1);
            assert_eq!(bytes(control), Some(mib_quarters << 18));
            // 965 keeps the firmware's table, and enables it.
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
        // The bridge loses it in sleep, and gets the same address again.
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

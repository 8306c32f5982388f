// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device as a transport sees it: its BARs.

use crate::device::Bus;
use crate::model::{Region, SharedArea};
use crate::ring::config::BAR4_SIZE;
use crate::ring::device::{Bars, RingChip, RingGpu};

impl Bus for RingChip {
    fn name(bars: &Bars) -> &'static str {
        bars.chip.name
    }

    fn ids(bars: &Bars) -> (u16, u16) {
        (0x8086, bars.device_id)
    }

    fn regions(bars: &Bars) -> Vec<Region> {
        let shared = bars.file.clone().map(|file| SharedArea {
            offset: u64::from(bars.chip.bus.table),
            size: u64::from(bars.gtt.len()) * 4,
            file,
        });
        let region = |bar, size, shared| Region { bar, size, shared };
        vec![
            region(0, bars.chip.bus.bar0, shared),
            region(2, bars.aperture, None),
            region(4, u64::from(BAR4_SIZE), None),
        ]
    }

    fn read(device: &RingGpu, bar: u32, offset: u64, buf: &mut [u8]) {
        match bar {
            0 => device.dwords_read(offset, buf),
            2 => device.aperture_read(offset as u32, buf),
            // The I/O BAR is legacy and not used; a removed card floats.
            _ => buf.fill(if device.core().0.removed { 0xff } else { 0 }),
        }
    }

    fn write(device: &RingGpu, bar: u32, offset: u64, data: &[u8]) {
        match bar {
            0 => device.dwords_write(offset, data),
            2 => device.aperture_write(offset as u32, data),
            _ => {}
        }
    }

    /// Registers below, page-table entries above.
    fn dword(device: &RingGpu, at: u64) -> u32 {
        match (at as u32).checked_sub(device.bars.chip.bus.table) {
            None => device.mmio_read32(at as u32),
            Some(pte) => device.gtt_read(pte / 4),
        }
    }

    fn set_dword(device: &RingGpu, at: u64, value: u32) {
        match (at as u32).checked_sub(device.bars.chip.bus.table) {
            None => device.mmio_write32(at as u32, value),
            Some(pte) => device.gtt_write(pte / 4, value),
        }
    }

    fn has_msi(bars: &Bars) -> bool {
        bars.chip.bus.msi
    }

    /// Narrow accesses reach the MCHBAR alias only (§3).
    fn narrow(bars: &Bars, offset: u64, _len: usize) -> bool {
        u32::try_from(offset).is_ok_and(|at| bars.chip.mchbar.contains(at))
    }

    fn look(&mut self) {
        self.0.look_at_screen_for_good();
    }
}

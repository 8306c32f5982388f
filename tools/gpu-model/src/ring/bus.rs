// SPDX-License-Identifier: GPL-2.0
//! The device as a transport sees it: its BARs.

use crate::device::Bus;
use crate::model::{Region, SharedArea};
use crate::ring::config::{BAR0_SIZE, BAR4_SIZE};
use crate::ring::device::{Bars, RingChip, RingGpu};
use crate::ring::regs::{reg, MMIO_SIZE};

impl Bus for RingChip {
    fn name(bars: &Bars) -> &'static str {
        bars.chip.name
    }

    fn ids(bars: &Bars) -> (u16, u16) {
        (0x8086, bars.device_id)
    }

    fn regions(bars: &Bars) -> Vec<Region> {
        let shared = bars.file.clone().map(|file| SharedArea {
            offset: u64::from(MMIO_SIZE),
            size: u64::from(bars.gtt.len()) * 4,
            file,
        });
        let region = |bar, size, shared| Region { bar, size, shared };
        vec![
            region(0, BAR0_SIZE, shared),
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

    /// Registers below 2 MB, page-table entries above.
    fn dword(device: &RingGpu, at: u64) -> u32 {
        match (at as u32).checked_sub(MMIO_SIZE) {
            None => device.mmio_read32(at as u32),
            Some(pte) => device.gtt_read(pte / 4),
        }
    }

    fn set_dword(device: &RingGpu, at: u64, value: u32) {
        match (at as u32).checked_sub(MMIO_SIZE) {
            None => device.mmio_write32(at as u32, value),
            Some(pte) => device.gtt_write(pte / 4, value),
        }
    }

    /// Narrow accesses reach the MCHBAR alias only (§3).
    fn narrow(offset: u64, _len: usize) -> bool {
        (u64::from(reg::MCHBAR)..u64::from(reg::MCHBAR_END)).contains(&offset)
    }

    fn look(&mut self) {
        self.0.look_at_screen_for_good();
    }
}

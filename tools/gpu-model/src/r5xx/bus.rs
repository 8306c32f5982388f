// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device as a transport sees it: its BARs.

use super::config::{BAR_IO, BAR_MMIO, BAR_ROM, BAR_VRAM, IO_SIZE, MMIO_SIZE};
use super::device::{Bars, R5xx, R5xxChip};
use super::regs::reg;
use crate::device::Bus;
use crate::model::{Region, SharedArea};

impl Bus for R5xxChip {
    fn name(bars: &Bars) -> &'static str {
        bars.cfg.chip.name
    }

    fn ids(bars: &Bars) -> (u16, u16) {
        (0x1002, bars.cfg.chip.device_id)
    }

    fn regions(bars: &Bars) -> Vec<Region> {
        let shared = bars.vram.file().map(|file| SharedArea {
            offset: 0,
            // What the BAR shows of the memory that there is.
            size: bars.cfg.aperture.min(bars.cfg.vram),
            file,
        });
        let region = |bar, size, shared| Region { bar, size, shared };
        vec![
            region(BAR_VRAM, bars.cfg.aperture, shared),
            region(BAR_MMIO, u64::from(MMIO_SIZE), None),
            region(BAR_IO, u64::from(IO_SIZE), None),
            region(BAR_ROM, super::rom::SIZE as u64, None),
        ]
    }

    fn has_msi(bars: &Bars) -> bool {
        bars.cfg.msi
    }

    fn read(device: &R5xx, bar: u32, offset: u64, buf: &mut [u8]) {
        match bar {
            BAR_VRAM => device.aperture_read(offset, buf),
            BAR_ROM => {
                let at = offset as usize;
                match device.bars.rom.get(at..at + buf.len()) {
                    Some(bytes) if !device.core().0.removed => buf.copy_from_slice(bytes),
                    _ => buf.fill(0xff),
                }
            }
            _ => device.dwords_read(offset, buf),
        }
    }

    fn write(device: &R5xx, bar: u32, offset: u64, data: &[u8]) {
        match bar {
            BAR_VRAM => device.aperture_write(offset, data),
            BAR_ROM => {}
            _ => device.dwords_write(offset, data),
        }
    }

    /// CLOCK_CNTL_INDEX is written as one byte (digest §5.2); all else takes aligned dwords.
    fn narrow(_bars: &Self::Bars, offset: u64, len: usize) -> bool {
        offset & !3 == u64::from(reg::CLOCK_CNTL_INDEX) && offset as usize % 4 + len <= 4
    }

    fn rest(device: &R5xx, at: u64) -> u32 {
        device.core().0.get(at as u32)
    }
}

// SPDX-License-Identifier: GPL-2.0
//! The device as a transport sees it: configuration space, BARs of any access size, reset, report.

use super::config::{BAR_IO, BAR_MMIO, BAR_ROM, BAR_VRAM, IO_SIZE, MMIO_SIZE};
use super::core::{Core, ENGINES};
use super::device::R5xx;
use super::lint::Rule;
use super::regs::reg;
use crate::counters::Counter;
use crate::model::{GpuModel, Region, SharedArea};
use crate::window::{command, Action, Reach, COMMAND, SIZE, WINDOW};
use serde_json::Value;

impl Core {
    fn config_read(&mut self, offset: usize, buf: &mut [u8]) {
        self.notes.count(Counter::ConfigReads);
        if self.removed {
            buf.fill(0xff);
            return;
        }
        let pending = self.line && !self.pci.msi_enabled();
        self.pci.set_intx_pending(pending);
        self.pci.read(offset, buf);
        self.window.overlay(offset, buf, &self.notes.counters);
    }

    fn config_write(&mut self, offset: usize, data: &[u8]) {
        self.notes.count(Counter::ConfigWrites);
        let in_window = offset.checked_sub(WINDOW).filter(|at| *at < SIZE);
        let dword = <[u8; 4]>::try_from(data).map(u32::from_le_bytes);
        if self.removed {
            if let (Some(COMMAND), Ok(dword)) = (in_window, dword) {
                self.window_write(COMMAND, dword & command::RETURN);
            }
            return;
        }
        if let (Some(at), Ok(dword)) = (in_window, dword) {
            self.window_write(at, dword);
            return;
        }
        let had_msi = self.pci.msi_enabled();
        self.pci.write(offset, data);
        self.bus_master_changed();
        if had_msi != self.pci.msi_enabled() {
            self.interrupt_path_changed();
        }
    }

    fn window_write(&mut self, offset: usize, data: u32) {
        let reach = Reach {
            counters: &mut self.notes.counters,
            faults: &mut self.notes.faults,
            chaos: &mut self.notes.chaos,
            engines: &ENGINES,
        };
        let action = self.window.write(offset, data, reach);
        if matches!(action, Some(Action::Return | Action::ReturnAndPull)) && self.removed {
            self.power_on();
        }
        if matches!(action, Some(Action::Pull | Action::ReturnAndPull)) {
            self.remove();
        }
    }
}

impl GpuModel for R5xx {
    fn name(&self) -> &'static str {
        self.cfg.chip.name
    }

    fn regions(&self) -> Vec<Region> {
        // What the BAR shows of the memory that there is.
        let size = self.cfg.aperture.min(self.cfg.vram);
        let shared = self.vram.file().map(|file| SharedArea {
            offset: 0,
            size,
            file,
        });
        let region = |bar, size| Region {
            bar,
            size,
            shared: None,
        };
        vec![
            Region {
                bar: BAR_VRAM,
                size: self.cfg.aperture,
                shared,
            },
            region(BAR_MMIO, u64::from(MMIO_SIZE)),
            region(BAR_IO, u64::from(IO_SIZE)),
            region(BAR_ROM, super::rom::SIZE as u64),
        ]
    }

    fn has_msi(&self) -> bool {
        self.cfg.msi
    }

    fn bar_read(&self, bar: u32, offset: u64, buf: &mut [u8]) {
        if !self.inside(bar, offset, buf.len()) {
            buf.fill(0);
            return;
        }
        match bar {
            BAR_VRAM => self.aperture_read(offset, buf),
            BAR_ROM => {
                let at = offset as usize;
                match self.rom.get(at..at + buf.len()) {
                    Some(bytes) if !self.core().removed => buf.copy_from_slice(bytes),
                    _ => buf.fill(0xff),
                }
            }
            _ => self.registers_read(offset as u32, buf),
        }
    }

    fn bar_write(&self, bar: u32, offset: u64, data: &[u8]) {
        if !self.inside(bar, offset, data.len()) {
            return;
        }
        match bar {
            BAR_VRAM => self.aperture_write(offset, data),
            BAR_ROM => {}
            _ => self.registers_write(offset as u32, data),
        }
    }

    fn config_read(&self, offset: u64, buf: &mut [u8]) {
        self.core().config_read(offset as usize, buf);
    }

    fn config_write(&self, offset: u64, data: &[u8]) {
        self.core().config_write(offset as usize, data);
        self.wake();
    }

    fn intx_disabled(&self) -> bool {
        self.core().pci.intx_disabled()
    }

    fn reset(&self) {
        self.power_on();
    }

    fn start(&self) {
        self.start_engines();
    }

    fn stop(&self) {
        self.stop_engines();
        self.core().notes.trace.flush();
    }

    fn report(&self) -> Value {
        let chip = self.cfg.chip;
        let device = format!("1002:{:04x}", chip.device_id);
        self.core().notes.report(chip.name, &device)
    }

    fn strict_failure(&self) -> bool {
        self.core().notes.strict_failure()
    }
}

impl R5xx {
    /// True if an access lies in a region: no other one reaches the device.
    fn inside(&self, bar: u32, offset: u64, len: usize) -> bool {
        let size = match bar {
            BAR_VRAM => self.cfg.aperture,
            BAR_MMIO => u64::from(MMIO_SIZE),
            BAR_IO => u64::from(IO_SIZE),
            BAR_ROM => super::rom::SIZE as u64,
            _ => 0,
        };
        offset
            .checked_add(len as u64)
            .is_some_and(|end| end <= size)
    }

    /// CLOCK_CNTL_INDEX is written as one byte (digest §5.2); all else takes aligned dwords.
    fn narrow_allowed(offset: u32, len: usize) -> bool {
        offset & !3 == reg::CLOCK_CNTL_INDEX && offset as usize % 4 + len <= 4
    }

    fn registers_read(&self, offset: u32, buf: &mut [u8]) {
        let aligned = offset.is_multiple_of(4) && buf.len().is_multiple_of(4);
        if !aligned && !Self::narrow_allowed(offset, buf.len()) {
            self.core().notes.lint(Rule::BadAccess, || {
                format!("read {offset:#x}+{}", buf.len())
            });
        }
        let mut at = 0;
        while at < buf.len() {
            let here = offset + at as u32;
            let value = self.mmio_read32(here & !3);
            let skip = (here % 4) as usize;
            let n = (4 - skip).min(buf.len() - at);
            buf[at..at + n].copy_from_slice(&value.to_le_bytes()[skip..skip + n]);
            at += n;
        }
    }

    fn registers_write(&self, offset: u32, data: &[u8]) {
        if offset.is_multiple_of(4) && data.len().is_multiple_of(4) {
            for (i, c) in data.chunks_exact(4).enumerate() {
                let value = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
                self.mmio_write32(offset + 4 * i as u32, value);
            }
            return;
        }
        if !Self::narrow_allowed(offset, data.len()) {
            self.core().notes.lint(Rule::BadAccess, || {
                format!("write {offset:#x}+{}", data.len())
            });
            return;
        }
        let word = offset & !3;
        let skip = (offset % 4) as usize;
        let mut bytes = self.core().get(word).to_le_bytes();
        bytes[skip..skip + data.len()].copy_from_slice(data);
        self.mmio_write32(word, u32::from_le_bytes(bytes));
    }
}

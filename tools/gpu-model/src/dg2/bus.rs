// SPDX-License-Identifier: GPL-2.0
//! The device as a transport sees it: configuration space, BARs of any access size, reset, report.

use super::config::{BAR_GTTMMADR, BAR_LMEM, GTTMMADR_SIZE};
use super::core::Core;
use super::device::Dg2;
use super::engine::NAMES;
use super::ggtt;
use super::lint::Rule;
use super::regs::MMIO_SIZE;
use crate::counters::Counter;
use crate::model::{GpuModel, Region, SharedArea};
use crate::pci;
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
        let before = self.pci.word(pci::COMMAND);
        self.pci.write(offset, data);
        self.notes.note_config(&self.pci);
        self.watch_mastering(before);
        self.bus_master_changed();
    }

    fn window_write(&mut self, offset: usize, data: u32) {
        let reach = Reach {
            counters: &mut self.notes.counters,
            faults: &mut self.notes.faults,
            chaos: &mut self.notes.chaos,
            engines: &NAMES,
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

impl GpuModel for Dg2 {
    fn name(&self) -> &'static str {
        "dg2"
    }

    fn regions(&self) -> Vec<Region> {
        let table = self.ggtt.file().map(|file| SharedArea {
            offset: ggtt::OFFSET,
            size: ggtt::SIZE,
            file,
        });
        let memory = self.lmem.file().map(|file| SharedArea {
            offset: 0,
            size: self.cfg.aperture,
            file,
        });
        vec![
            Region {
                bar: BAR_GTTMMADR,
                size: GTTMMADR_SIZE,
                shared: table,
            },
            Region {
                bar: BAR_LMEM,
                size: self.cfg.aperture,
                shared: memory,
            },
        ]
    }

    fn has_msi(&self) -> bool {
        true
    }

    fn bar_read(&self, bar: u32, offset: u64, buf: &mut [u8]) {
        match bar {
            _ if !self.inside(bar, offset, buf.len()) => buf.fill(0),
            BAR_LMEM => self.lmem_read(offset, buf),
            _ => self.bar0_read(offset, buf),
        }
    }

    fn bar_write(&self, bar: u32, offset: u64, data: &[u8]) {
        match bar {
            _ if !self.inside(bar, offset, data.len()) => {}
            BAR_LMEM => self.lmem_write(offset, data),
            _ => self.bar0_write(offset, data),
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
        self.core().look_at_picture();
        let device = format!("8086:{:04x}", self.cfg.device_id);
        self.core().notes.report("dg2", &device)
    }

    fn strict_failure(&self) -> bool {
        self.core().notes.strict_failure()
    }

    fn registers(&self) -> Option<String> {
        let core = self.core();
        Some(core.notes.ledger.as_ref()?.lines("dg2"))
    }
}

impl Dg2 {
    /// True if an access lies in a region: no other one reaches the device.
    fn inside(&self, bar: u32, offset: u64, len: usize) -> bool {
        let size = match bar {
            BAR_GTTMMADR => GTTMMADR_SIZE,
            BAR_LMEM => self.cfg.aperture,
            _ => 0,
        };
        offset
            .checked_add(len as u64)
            .is_some_and(|end| end <= size)
    }

    /// A BAR0 read of any size: registers, then nothing, then the global table.
    fn bar0_read(&self, offset: u64, buf: &mut [u8]) {
        if !offset.is_multiple_of(4) || !buf.len().is_multiple_of(4) {
            self.core().notes.lint(Rule::BadAccess, || {
                format!("read {offset:#x}+{}", buf.len())
            });
        }
        if offset >= ggtt::OFFSET && buf.len() > 8 {
            self.core()
                .notes
                .lint(Rule::TableWidth, || format!("{offset:#x}+{}", buf.len()));
            buf.fill(0xff);
            return;
        }
        // Narrow reads see their part of the dword.
        let mut at = 0;
        while at < buf.len() {
            let here = offset + at as u64;
            let value = self.bar0_dword(here & !3);
            let skip = (here % 4) as usize;
            let n = (4 - skip).min(buf.len() - at);
            buf[at..at + n].copy_from_slice(&value.to_le_bytes()[skip..skip + n]);
            at += n;
        }
    }

    fn bar0_dword(&self, at: u64) -> u32 {
        match at.checked_sub(ggtt::OFFSET) {
            Some(place) => {
                let mut core = self.core();
                core.notes.count(Counter::GttReads);
                if core.removed {
                    !0
                } else {
                    self.ggtt.get_dword(place)
                }
            }
            None if at < u64::from(MMIO_SIZE) => self.mmio_read32(at as u32),
            None => {
                let mut core = self.core();
                core.notes.undocumented(at as u32, false);
                if core.removed {
                    !0
                } else {
                    0
                }
            }
        }
    }

    /// A BAR0 write. Entries of the table are quadwords, or their halves.
    fn bar0_write(&self, offset: u64, data: &[u8]) {
        if !offset.is_multiple_of(4) || !data.len().is_multiple_of(4) {
            self.core().notes.lint(Rule::BadAccess, || {
                format!("write {offset:#x}+{}", data.len())
            });
            return;
        }
        if offset >= ggtt::OFFSET && data.len() > 8 {
            self.core()
                .notes
                .lint(Rule::TableWidth, || format!("{offset:#x}+{}", data.len()));
            return;
        }
        for (i, c) in data.chunks_exact(4).enumerate() {
            let at = offset + 4 * i as u64;
            let value = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
            match at.checked_sub(ggtt::OFFSET) {
                Some(place) => {
                    let mut core = self.core();
                    core.notes.count(Counter::GttWrites);
                    if !core.removed {
                        self.ggtt.set_dword(place, value);
                    }
                }
                None if at < u64::from(MMIO_SIZE) => self.mmio_write32(at as u32, value),
                None => self.core().notes.undocumented(at as u32, true),
            }
        }
    }
}

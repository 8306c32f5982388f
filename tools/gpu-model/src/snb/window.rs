// SPDX-License-Identifier: GPL-2.0
//! The configuration space with the counters window ([`crate::window`]) in it.

use crate::snb::core::Core;
use crate::snb::engine::ENGINES;
use crate::snb::real::PowerOn;
use crate::window::{command, Action, Reach, COMMAND, SIZE, WINDOW};

impl Core {
    /// A dword written to the window, by offset from its start.
    fn window_write(&mut self, offset: usize, data: u32) {
        let engines = ENGINES.map(|e| e.name());
        let reach = Reach {
            counters: &mut self.notes.counters,
            faults: &mut self.notes.faults,
            chaos: &mut self.notes.chaos,
            engines: &engines,
        };
        let action = self.window.write(offset, data, reach);
        if matches!(action, Some(Action::Return | Action::ReturnAndPull)) && self.removed {
            self.power_on(PowerOn::Cold);
        }
        if matches!(action, Some(Action::Pull | Action::ReturnAndPull)) {
            self.remove();
        }
    }

    /// A config read, with the window and the pending interrupt filled in.
    pub fn config_read(&mut self, offset: usize, buf: &mut [u8]) {
        self.notes
            .counters
            .inc(crate::counters::Counter::ConfigReads);
        if self.removed {
            buf.fill(0xff);
            return;
        }
        let pending = self.line && !self.pci.msi_enabled();
        self.pci.set_intx_pending(pending);
        self.pci.read(offset, buf);
        self.window.overlay(offset, buf, &self.notes.counters);
    }

    /// A config write.
    pub fn config_write(&mut self, offset: usize, data: &[u8]) {
        self.notes
            .counters
            .inc(crate::counters::Counter::ConfigWrites);
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
        let mastered = self.masters();
        self.pci.write(offset, data);
        self.watch_master(mastered);
        let flr = crate::snb::config::AF_CONTROL;
        if let Some(control) = flr.checked_sub(offset).and_then(|i| data.get(i)) {
            if control & 1 != 0 {
                self.power_on(PowerOn::Function);
            }
        }
        self.notes.note_config(&self.pci);
    }
}

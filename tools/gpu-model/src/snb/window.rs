// SPDX-License-Identifier: GPL-2.0
//! The model's own PCI capability, through which a test in the guest reads counters and injects
//! faults. No chip has it; no driver looks at it.
//!
//! Vendor-specific capability (id 09h) at config offset 0xb0, 32 bytes:
//!
//! | offset | access | meaning |
//! | --- | --- | --- |
//! | b0 | R | 09h, next, length 20h, version 01h |
//! | b4 | R | signature 4d555047h ("GPUM") |
//! | b8 | R/W | index of a counter (order of `counters`) |
//! | bc | R | low half of the counter |
//! | c0 | R | high half |
//! | c4 | W | see [`command`] |
//! | c8 | W | inject: bits 7:0 fault code (position in `fault::KINDS`, from 1; 0 forgets all), 11:8 engine + 1 (0 any), 15:12 times (0 without end), 31:16 skip |
//! | cc | R/W | parameter of the next injected fault |
//!
//! A reset of the device leaves counters, snapshot, faults and chaos alone. While the card is pulled
//! all reads give all ones, and nothing is heard but the bit that puts it back.

use crate::chaos::Chaos;
use crate::counters::{Counters, COUNT};
use crate::fault::{Fault, Kind};
use crate::snb::config::WINDOW;
use crate::snb::core::Core;
use crate::snb::engine::ENGINES;

/// Signature at offset 0xb4.
pub const SIGNATURE: u32 = 0x4d55_5047;

/// Bits of the dword that is written at 0xc4; several are done in this order.
pub mod command {
    /// Take a snapshot of the counters, which reads then show.
    pub const SNAPSHOT: u32 = 1 << 0;
    /// Live values again.
    pub const LIVE: u32 = 1 << 1;
    /// Clear all counters.
    pub const CLEAR: u32 = 1 << 2;
    /// The card is back, as after power-on. The only bit that a card pulled before hears.
    pub const RETURN: u32 = 1 << 3;
    /// End of chaos.
    pub const CALM: u32 = 1 << 4;
    /// Gentle chaos, with the parameter as its seed.
    pub const GENTLE: u32 = 1 << 5;
    /// Hard chaos, with the parameter as its seed.
    pub const HARD: u32 = 1 << 6;
    /// The card is pulled, now.
    pub const PULL: u32 = 1 << 7;
}

/// State of the window.
#[derive(Default)]
pub(crate) struct Window {
    index: u32,
    value: u32,
    snapshot: Option<Counters>,
}

impl Core {
    /// One dword of the window, by offset from its start.
    pub fn window_read(&self, offset: usize) -> Option<u32> {
        let counters = self.window.snapshot.as_ref().unwrap_or(&self.counters);
        let value = counters.by_index(self.window.index as usize).unwrap_or(0);
        match offset {
            0x04 => Some(SIGNATURE),
            0x08 => Some(self.window.index),
            0x0c => Some(value as u32),
            0x10 => Some((value >> 32) as u32),
            0x14 => Some(COUNT as u32),
            0x18 => Some(0),
            0x1c => Some(self.window.value),
            _ => None,
        }
    }

    /// A dword written to the window.
    pub fn window_write(&mut self, offset: usize, data: u32) {
        match offset {
            0x08 => self.window.index = data,
            0x14 => self.window_command(data),
            0x18 => self.window_fault(data),
            0x1c => self.window.value = data,
            _ => {}
        }
    }

    fn window_command(&mut self, data: u32) {
        if data & command::SNAPSHOT != 0 {
            self.window.snapshot = Some(self.counters.clone());
        }
        if data & command::LIVE != 0 {
            self.window.snapshot = None;
        }
        if data & command::CLEAR != 0 {
            self.counters.clear();
        }
        if data & command::RETURN != 0 && self.removed {
            self.power_on();
        }
        if data & command::CALM != 0 {
            self.chaos = None;
        }
        let seed = u64::from(self.window.value);
        if data & command::GENTLE != 0 {
            self.chaos = Some(Chaos::new(seed, false));
        }
        if data & command::HARD != 0 {
            self.chaos = Some(Chaos::new(seed, true));
        }
        if data & command::PULL != 0 {
            self.remove();
        }
    }

    fn window_fault(&mut self, data: u32) {
        if data & 0xff == 0 {
            self.faults.clear();
            return;
        }
        let Some(kind) = Kind::from_code(data & 0xff) else {
            return;
        };
        let engine = ((data >> 8) & 0xf) as usize;
        let engine = engine
            .checked_sub(1)
            .and_then(|n| ENGINES.get(n))
            .map(|e| e.name().to_owned());
        self.faults.push(Fault {
            kind,
            engine,
            skip: u64::from(data >> 16),
            times: u64::from((data >> 12) & 0xf),
            value: u64::from(self.window.value),
        });
    }

    /// A config read, with the window and the pending interrupt filled in.
    pub fn config_read(&mut self, offset: usize, buf: &mut [u8]) {
        self.counters.inc(crate::counters::Counter::ConfigReads);
        if self.removed {
            buf.fill(0xff);
            return;
        }
        let pending = self.line && !self.pci.msi_enabled();
        self.pci.set_intx_pending(pending);
        self.pci.read(offset, buf);
        for (i, b) in buf.iter_mut().enumerate() {
            let at = (offset + i).wrapping_sub(WINDOW);
            if let Some(v) = (at < 0x20).then(|| self.window_read(at & !3)).flatten() {
                *b = v.to_le_bytes()[at & 3];
            }
        }
    }

    /// A config write.
    pub fn config_write(&mut self, offset: usize, data: &[u8]) {
        self.counters.inc(crate::counters::Counter::ConfigWrites);
        let in_window = offset.checked_sub(WINDOW).filter(|at| *at < 0x20);
        let dword = <[u8; 4]>::try_from(data).map(u32::from_le_bytes);
        if self.removed {
            if let (Some(0x14), Ok(dword)) = (in_window, dword) {
                self.window_command(dword & command::RETURN);
            }
            return;
        }
        if let (Some(at), Ok(dword)) = (in_window, dword) {
            self.window_write(at, dword);
            return;
        }
        self.pci.write(offset, data);
        let flr = crate::snb::config::AF_CONTROL;
        if let Some(control) = flr.checked_sub(offset).and_then(|i| data.get(i)) {
            if control & 1 != 0 {
                self.power_on();
            }
        }
    }
}

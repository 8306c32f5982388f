// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The models' own PCI capability, through which a test in the guest reads counters and injects
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
use crate::fault::{Fault, Faults, Kind};

/// Offset of the capability in the configuration space.
pub const OFFSET: usize = 0xb0;
/// Its size in bytes.
pub const SIZE: usize = 0x20;
/// Its first bytes after id and link: length 32, version 1.
pub const BODY: [u8; 2] = [0x20, 0x01];
/// Signature at offset 0xb4.
pub const SIGNATURE: u32 = 0x4d55_5047;
/// Offset, in the capability, of the dword that [`command`] describes.
pub const COMMAND: usize = 0x14;

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

/// What a write to the capability asks of the device itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Power-on state, if the card was pulled.
    Return,
    /// The card is pulled.
    Pull,
    /// The card is put back and pulled again.
    ReturnAndPull,
}

/// State of the test capability.
#[derive(Default)]
pub struct TestCapability {
    index: u32,
    value: u32,
    snapshot: Option<Counters>,
}

/// The parts of a device that the capability reaches.
pub struct Reach<'a> {
    /// Its counters.
    pub counters: &'a mut Counters,
    /// Faults to come.
    pub faults: &'a mut Faults,
    /// Faults at random.
    pub chaos: &'a mut Option<Chaos>,
    /// Names of the engines, in the order of their numbers.
    pub engines: &'a [&'a str],
}

impl TestCapability {
    /// One dword, by offset from the capability's start; `None` where the capability itself answers.
    pub fn read(&self, offset: usize, counters: &Counters) -> Option<u32> {
        let counters = self.snapshot.as_ref().unwrap_or(counters);
        let value = counters.by_index(self.index as usize).unwrap_or(0);
        match offset {
            0x04 => Some(SIGNATURE),
            0x08 => Some(self.index),
            0x0c => Some(value as u32),
            0x10 => Some((value >> 32) as u32),
            COMMAND => Some(COUNT as u32),
            0x18 => Some(0),
            0x1c => Some(self.value),
            _ => None,
        }
    }

    /// Puts the capability's bytes into a read of the configuration space that starts at `offset`.
    pub fn overlay(&self, offset: usize, buf: &mut [u8], counters: &Counters) {
        for (i, b) in buf.iter_mut().enumerate() {
            let at = (offset + i).wrapping_sub(OFFSET);
            let dword = (at < SIZE).then(|| self.read(at & !3, counters)).flatten();
            if let Some(v) = dword {
                *b = v.to_le_bytes()[at & 3];
            }
        }
    }

    /// A dword written at an offset from the capability's start.
    pub fn write(&mut self, offset: usize, data: u32, reach: Reach<'_>) -> Option<Action> {
        match offset {
            0x08 => self.index = data,
            COMMAND => return self.command(data, reach),
            0x18 => self.fault(data, reach),
            0x1c => self.value = data,
            _ => {}
        }
        None
    }

    fn command(&mut self, data: u32, reach: Reach<'_>) -> Option<Action> {
        if data & command::SNAPSHOT != 0 {
            self.snapshot = Some(reach.counters.clone());
        }
        if data & command::LIVE != 0 {
            self.snapshot = None;
        }
        if data & command::CLEAR != 0 {
            reach.counters.clear();
        }
        if data & command::CALM != 0 {
            *reach.chaos = None;
        }
        let seed = u64::from(self.value);
        if data & command::GENTLE != 0 {
            *reach.chaos = Some(Chaos::new(seed, false));
        }
        if data & command::HARD != 0 {
            *reach.chaos = Some(Chaos::new(seed, true));
        }
        match (data & command::RETURN != 0, data & command::PULL != 0) {
            (true, true) => Some(Action::ReturnAndPull),
            (true, false) => Some(Action::Return),
            (false, true) => Some(Action::Pull),
            (false, false) => None,
        }
    }

    fn fault(&mut self, data: u32, reach: Reach<'_>) {
        if data & 0xff == 0 {
            reach.faults.clear();
            return;
        }
        let Some(kind) = Kind::from_code(data & 0xff) else {
            return;
        };
        let engine = ((data >> 8) & 0xf) as usize;
        let engine = engine
            .checked_sub(1)
            .and_then(|n| reach.engines.get(n))
            .map(|e| (*e).to_owned());
        reach.faults.push(Fault {
            kind,
            engine,
            skip: u64::from(data >> 16),
            times: u64::from((data >> 12) & 0xf),
            value: u64::from(self.value),
        });
    }
}

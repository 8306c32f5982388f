// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A device as a library, the same for every chip: accesses of a CPU on one side, engines run step by
//! step or by threads on the other. What differs is a [`Chip`], which the state of each chip is, and a
//! [`Bus`], which says what lies behind its BARs.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | the lock, the clock, register accesses, what a test asks and sets |
//! | `threads.rs` | steps of engines, and their threads |
//! | `bus.rs` | the device as a transport sees it |

mod bus;
mod threads;

pub use bus::Bus;

use crate::chaos::Chaos;
use crate::clock::Clock;
use crate::counters::Counter;
use crate::fault::{Fault, Kind};
use crate::memory::lock;
use crate::model::Options;
use crate::notes::{NamedRule, Notes};
use crate::pci::PciConfig;
use crate::test_capability::TestCapability;
use crate::trace::Event;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use threads::Shared;

/// What one step of an engine did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// Something: executed a command, for instance.
    Ran,
    /// There is nothing to do.
    Idle,
    /// It waits for memory, a register or another engine to change.
    Waiting,
    /// It is stopped: by request, an error, a fault, a hang.
    Stopped,
    /// It goes on at this time (nanoseconds of the device's clock).
    NotBefore(u64),
}

/// What sets a device to its power-on state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerOn {
    /// Power: firmware has run, and no driver since.
    Cold,
    /// A reset by the bus. Before the first driver it equals a cold start; after it the machine has slept, so neither
    /// the display nor a ring is running.
    Bus,
    /// A function-level reset, after which no firmware runs.
    Function,
}

/// Work of an engine that is done with the device unlocked.
pub trait Job {
    /// Does it.
    fn run(&mut self);
}

impl Job for std::convert::Infallible {
    fn run(&mut self) {
        match *self {}
    }
}

/// What every chip's state has in it.
pub struct Parts<'a, R> {
    /// Its notes.
    pub notes: &'a mut Notes<R>,
    /// Its configuration space.
    pub pci: &'a mut PciConfig,
    /// The PCI capability through which a test in the guest reaches the model.
    pub test_capability: &'a mut TestCapability,
    /// A piece of work takes at least this long, in nanoseconds.
    pub delay_ns: &'a mut u64,
    /// The level of the interrupt line.
    pub line: bool,
    /// The card is pulled.
    pub removed: bool,
}

/// A chip: its whole state, which is behind one lock.
pub trait Chip: Sized + Send + 'static {
    /// The rules that it watches.
    type Rule: NamedRule + Send + 'static;
    /// One of its engines.
    type Engine: Copy + Send + Sync + 'static;
    /// Work that is done with the device unlocked.
    type Job: Job;
    /// What lies behind its BARs and needs no lock: tables, memory, sizes.
    type Bars: Send + Sync;

    /// Its engines, those together that share a thread and take turns on it.
    const THREADS: &'static [&'static [Self::Engine]];
    /// The engines' names, in the order of their numbers in the test capability.
    const NAMES: &'static [&'static str];
    /// Bytes of registers.
    const MMIO_SIZE: u32;
    /// The rule that an unaligned access, or one to no register, breaks.
    const BAD_ACCESS: Self::Rule;
    /// The limit of [`Device::run_until_idle`] is one of commands, not of rounds.
    const COUNTS_COMMANDS: bool = false;

    /// Returns the parts that every chip has.
    fn parts(&mut self) -> Parts<'_, Self::Rule>;
    /// Does at most one thing of an engine, unless it is to be done with the device unlocked.
    fn step(&mut self, e: Self::Engine) -> Result<StepResult, Self::Job>;
    /// Takes over what was done with the device unlocked.
    fn finish(&mut self, e: Self::Engine, job: Self::Job) -> StepResult;
    /// The CPU begins an access to a register: counts it, and makes true what has come due.
    fn begin_access(&mut self, offset: u32, write: bool);
    /// Reads a register for the CPU.
    fn cpu_read(&mut self, offset: u32) -> u32;
    /// Writes a register for the CPU, with its effects.
    fn cpu_write(&mut self, offset: u32, value: u32);
    /// Threads that a register write of the CPU can set going, as a mask. A thread that is woken for
    /// nothing costs the guest more than the write.
    fn starts(bars: &Self::Bars, offset: u32) -> u32;
    /// Threads that a step may have set going, as a mask.
    fn started(&mut self) -> u32 {
        0
    }
    /// The configuration space was written, and was `before` until then.
    fn config_written(&mut self, before: &PciConfig, offset: usize, data: &[u8]);
    /// A byte of the configuration space that the chip answers itself, if it is read alone; it may lie where
    /// the test capability is, which is read by dwords.
    fn config_byte(&mut self, _offset: usize) -> Option<u8> {
        None
    }
    /// Power-on state.
    fn power_on(&mut self, cause: PowerOn);
    /// Pulls the card.
    fn remove(&mut self);
    /// The threads are to stop: ends what takes long.
    fn stop(&mut self) {}
}

/// A modelled GPU.
pub struct Device<C: Chip> {
    shared: Arc<Shared<C>>,
    pub(crate) bars: C::Bars,
    /// Sizes of its regions, by BAR.
    sizes: [u64; 7],
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl<C: Chip> Device<C> {
    pub(crate) fn core(&self) -> MutexGuard<'_, C> {
        lock(&self.shared.core)
    }

    /// The device's clock.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Takes over what a server's options say of any chip.
    pub(crate) fn obey(&self, options: Options) {
        let mut core = self.core();
        let notes = core.parts().notes;
        for fault in options.faults {
            notes.faults.push(fault);
        }
        notes.chaos = options.chaos;
        notes.ledger = options.registers.then(Default::default);
        if let Some(file) = options.trace {
            notes.trace.set_file(file);
        }
    }

    /// True if there is a register at an offset; else the access is reported.
    fn has_register(core: &mut C, what: &str, offset: u32) -> bool {
        let there = offset.is_multiple_of(4) && offset < C::MMIO_SIZE;
        if !there {
            let notes = core.parts().notes;
            notes.lint(C::BAD_ACCESS, || format!("{what} {offset:#x}"));
        }
        there
    }

    /// True once the card has been pulled; each access is an opportunity to do so.
    fn gone(core: &mut C) -> bool {
        let parts = core.parts();
        if !parts.removed && parts.notes.inject(Kind::Remove, "").is_some() {
            core.remove();
        }
        core.parts().removed
    }

    /// A register read: 32 bits.
    pub fn mmio_read32(&self, offset: u32) -> u32 {
        let mut core = self.core();
        if !Self::has_register(&mut core, "read", offset) {
            return 0;
        }
        core.parts().notes.note_read(offset);
        core.begin_access(offset, false);
        if Self::gone(&mut core) {
            return !0;
        }
        let value = core.cpu_read(offset);
        let notes = core.parts().notes;
        notes.record(|| Event::Read { offset, value });
        value
    }

    /// A register write: 32 bits.
    pub fn mmio_write32(&self, offset: u32, value: u32) {
        let mut core = self.core();
        if !Self::has_register(&mut core, "write", offset) {
            return;
        }
        core.begin_access(offset, true);
        if !Self::gone(&mut core) {
            let notes = core.parts().notes;
            notes.record(|| Event::Write { offset, value });
            core.cpu_write(offset, value);
        }
        drop(core);
        self.shared.wake(C::starts(&self.bars, offset));
    }

    /// Power-on state.
    pub fn power_on(&self) {
        self.core().power_on(PowerOn::Bus);
        self.shared.wake(!0);
    }

    /// Pulls the card out.
    pub fn remove(&self) {
        self.core().remove();
        self.shared.wake(!0);
    }

    /// The level of the interrupt line.
    pub fn line(&self) -> bool {
        self.core().parts().line
    }

    /// Injects a fault.
    pub fn inject(&self, fault: Fault) {
        self.core().parts().notes.faults.push(fault);
    }

    /// Returns how many faults are still to come.
    pub fn faults_to_come(&self) -> usize {
        self.core().parts().notes.faults.len()
    }

    /// Forgets the faults still to come.
    pub fn clear_faults(&self) {
        self.core().parts().notes.faults.clear();
    }

    /// Begins chaos, or ends it.
    pub fn set_chaos(&self, chaos: Option<Chaos>) {
        self.core().parts().notes.chaos = chaos;
    }

    /// Changes the delay of a piece of work, in nanoseconds.
    pub fn set_delay(&self, ns: u64) {
        *self.core().parts().delay_ns = ns;
    }

    /// One counter.
    pub fn counter(&self, c: Counter) -> u64 {
        self.core().parts().notes.counters.get(c)
    }

    /// All counters zero again.
    pub fn clear_counters(&self) {
        self.core().parts().notes.counters.clear();
    }

    /// Returns how often a rule was broken, by the driver or by a program.
    pub fn lint_count(&self, rule: C::Rule) -> u64 {
        let mut core = self.core();
        let notes = core.parts().notes;
        let of = |lints: &BTreeMap<C::Rule, u64>| lints.get(&rule).copied().unwrap_or(0);
        of(&notes.lints) + of(&notes.client_lints)
    }

    /// The rules that the driver broke, with their counts.
    pub fn lints(&self) -> Vec<(C::Rule, u64)> {
        let mut core = self.core();
        let lints = core.parts().notes.lints.iter();
        lints.map(|(r, n)| (*r, *n)).collect()
    }

    /// The rules that programs broke (in batches or buffers that the driver does not vouch for), with
    /// their counts.
    pub fn client_lints(&self) -> Vec<(C::Rule, u64)> {
        let mut core = self.core();
        let lints = core.parts().notes.client_lints.iter();
        lints.map(|(r, n)| (*r, *n)).collect()
    }

    /// Undocumented registers that were accessed: offset, reads, writes. On an R5xx those behind
    /// PCIE_INDEX are counted from 0x10000, those behind MC_IND_INDEX from 0x20000.
    pub fn undocumented(&self) -> Vec<(u32, u64, u64)> {
        let mut core = self.core();
        let all = core.parts().notes.undocumented.iter();
        all.map(|(o, n)| (*o, n.0, n.1)).collect()
    }

    /// The events since the last call.
    pub fn take_events(&self) -> Vec<Event> {
        self.core().parts().notes.trace.take()
    }
}

impl<C: Chip> Drop for Device<C> {
    fn drop(&mut self) {
        self.stop_engines();
    }
}

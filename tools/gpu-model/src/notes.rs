// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What every device writes down and may be told to do wrong: counters, broken rules, accesses that
//! no document names, injected faults, the trace. One of these sits in a chip's core.

use crate::chaos::Chaos;
use crate::clock::Clock;
use crate::counters::{Counter, Counters};
use crate::fault::{Faults, Kind};
use crate::intel::regfile::Write;
use crate::ledger::{By, Ledger};
use crate::model::IrqSink;
use crate::pci::{self, PciConfig};
use crate::trace::{Event, Recorder};
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;

/// A rule of the documents that a chip watches.
pub trait NamedRule: Copy + Ord {
    /// Its name in reports and traces.
    fn name(self) -> &'static str;
}

/// A chip's own set of rules: the enum `Rule`, with a name for each.
macro_rules! rules {
    ($($(#[$doc:meta])* $id:ident = $name:literal,)*) => {
        /// A rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $($(#[$doc])* $id,)* }

        impl $crate::notes::NamedRule for Rule {
            fn name(self) -> &'static str {
                match self { $(Rule::$id => $name,)* }
            }
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[$(Rule::$id,)*];
        }
    };
}

pub(crate) use rules;

/// The notes of one device, with the chip's own set of rules.
pub struct Notes<R> {
    /// What was counted.
    pub counters: Counters,
    /// What happened.
    pub trace: Recorder,
    /// Faults still to come.
    pub faults: Faults,
    /// Faults at random.
    pub chaos: Option<Chaos>,
    /// The device's time.
    pub clock: Clock,
    /// Rules broken by the driver.
    pub lints: BTreeMap<R, u64>,
    /// Rules broken by a program's commands.
    pub client_lints: BTreeMap<R, u64>,
    /// Offset, then reads and writes, of registers that no document names.
    pub undocumented: BTreeMap<u32, (u64, u64)>,
    /// The command being executed is a program's, not the driver's.
    pub client: bool,
    /// Broken rules are not reported: the device follows another reading of its registers.
    pub muted: bool,
    /// The writer of each register, if recorded.
    pub ledger: Option<Ledger>,
    random: u64,
}

/// So many of a kind are told in words; all are counted. A broken loop must not fill the disk.
const TOLD: u64 = 32;
/// Undocumented offsets that are kept apart; the rest are only counted.
const OFFSETS: usize = 1 << 16;

impl<R: NamedRule> Notes<R> {
    /// Empty notes that keep the last `keep_events` events.
    pub fn new(clock: Clock, seed: u64, keep_events: usize) -> Self {
        Notes {
            counters: Counters::default(),
            trace: Recorder::new(keep_events),
            faults: Faults::default(),
            chaos: None,
            clock,
            lints: BTreeMap::new(),
            client_lints: BTreeMap::new(),
            undocumented: BTreeMap::new(),
            client: false,
            muted: false,
            ledger: None,
            random: seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// Counts one.
    pub fn count(&mut self, c: Counter) {
        self.counters.inc(c);
    }

    /// Records an event if events are wanted.
    pub fn record(&mut self, event: impl FnOnce() -> Event) {
        if self.trace.wanted() {
            let now = self.clock.now();
            self.trace.push(now, event());
        }
    }

    /// Reports a broken rule: the program's while [`Self::client`] is set, else the driver's.
    pub fn lint(&mut self, rule: R, detail: impl FnOnce() -> String) {
        if self.muted {
            return;
        }
        let lints = if self.client {
            self.counters.inc(Counter::ClientLints);
            &mut self.client_lints
        } else {
            self.counters.inc(Counter::Lints);
            &mut self.lints
        };
        let n = lints.entry(rule).or_insert(0);
        *n += 1;
        if *n <= TOLD {
            let now = self.clock.now();
            let (rule, detail) = (rule.name(), detail());
            self.trace.push(now, Event::Lint { rule, detail });
        }
    }

    /// Reports an access of the driver to a register that no document names.
    pub fn undocumented(&mut self, offset: u32, write: bool) {
        self.counters.inc(Counter::Undocumented);
        if self.undocumented.len() >= OFFSETS && !self.undocumented.contains_key(&offset) {
            return;
        }
        let n = self.undocumented.entry(offset).or_insert((0, 0));
        if write {
            n.1 += 1;
        } else {
            n.0 += 1;
        }
        if n.0 + n.1 == 1 {
            let what = if write { "write" } else { "read" };
            tracing::warn!("{what} of undocumented register {offset:#08x}");
        }
        self.record(|| Event::Undocumented { offset, write });
    }

    /// From here on, commands are a program's or the driver's.
    pub fn run_as(&mut self, client: bool) {
        self.client = client;
        if let (true, Some(ledger)) = (client, &mut self.ledger) {
            ledger.program();
        }
    }

    /// The CPU reads a register that there is.
    pub fn note_read(&mut self, offset: u32) {
        if let Some(ledger) = &mut self.ledger {
            ledger.read(offset);
        }
    }

    /// A register that holds `old` is written, unless a program's command does it.
    pub fn note_write(&mut self, offset: u32, by: By, rule: Write, old: u32, data: u32) {
        if let (false, Some(ledger)) = (self.client, &mut self.ledger) {
            ledger.write(offset, by, rule, old, data);
        }
    }

    /// The guest has written the configuration space: whether the card may reach memory.
    pub fn note_config(&mut self, config: &PciConfig) {
        if let Some(ledger) = &mut self.ledger {
            ledger.bus_master(config.word(pci::COMMAND) & pci::COMMAND_MASTER != 0);
        }
    }

    /// The time in so many microseconds.
    pub fn in_us(&self, us: u64) -> u64 {
        self.clock.now().saturating_add(us.saturating_mul(1000))
    }

    /// Returns whether each command is observed, or may be disturbed.
    pub fn watched(&self) -> bool {
        self.trace.wanted() || !self.faults.is_empty() || self.chaos.is_some()
    }

    /// An opportunity for an injected fault, by order or by chaos: its value if it takes effect.
    pub fn inject(&mut self, kind: Kind, engine: &str) -> Option<u64> {
        if self.faults.is_empty() && self.chaos.is_none() {
            return None;
        }
        let value = match self.faults.take(kind, engine) {
            Some(value) => value,
            None => self.chaos.as_mut()?.take(kind, engine)?,
        };
        self.counters.inc(Counter::Injected);
        let now = self.clock.now();
        let what = format!("{} {engine}", kind.name());
        self.trace
            .push(now, Event::Injected(what.trim_end().to_owned()));
        Some(value)
    }

    /// The interrupt line rises.
    pub fn line_rises(&mut self) {
        self.count(Counter::Interrupts);
        self.record(|| Event::Interrupt);
    }

    /// The message of a line that has risen: an injected fault loses it, or sends it twice.
    pub fn send(&mut self, irq: &dyn IrqSink) {
        if self.inject(Kind::LoseMsg, "").is_some() {
            return;
        }
        if self.inject(Kind::DupIrq, "").is_some() {
            irq.set_line(true);
        }
        irq.set_line(true);
    }

    /// The next pseudo-random number (xorshift*), from the seed.
    pub fn random(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// All of it, for the report of a device with this name and these ids ("1002:7140").
    pub fn report(&self, gpu: &str, device: &str) -> Value {
        let counters: Map<String, Value> = self
            .counters
            .iter()
            .map(|(n, v)| (n.to_owned(), json!(v)))
            .collect();
        let named = |lints: &BTreeMap<R, u64>| {
            let named = lints.iter().map(|(r, n)| (r.name().to_owned(), json!(n)));
            named.collect::<Map<String, Value>>()
        };
        let undocumented: Vec<Value> = self
            .undocumented
            .iter()
            .map(|(o, n)| json!({ "offset": format!("{o:#08x}"), "reads": n.0, "writes": n.1 }))
            .collect();
        let chaos = self.chaos.as_ref().map(|c| {
            let done: Map<String, Value> =
                c.done().map(|(n, v)| (n.to_owned(), json!(v))).collect();
            json!({ "seed": c.seed(), "hard": c.is_hard(), "done": done })
        });
        json!({
            "gpu": gpu,
            "device": device,
            "counters": counters,
            "lints": named(&self.lints),
            "client_lints": named(&self.client_lints),
            "undocumented": undocumented,
            "chaos": chaos,
        })
    }

    /// True when something happened that `--strict` does not forgive.
    pub fn strict_failure(&self) -> bool {
        !self.lints.is_empty() || !self.undocumented.is_empty()
    }
}

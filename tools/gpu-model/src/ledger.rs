// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Which registers were written: one entry for each register and each origin, with what was written and when for the
//! first time. Two drivers of one card can be compared by it, where a trace of each would be long and never the same.
//!
//! A program's own commands are not in it: what they write says nothing of the driver.

use crate::intel::regfile::{apply, Write};
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;

/// Who accesses a register for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The CPU.
    Cpu,
    /// A command in a ring, or in a batch that has the driver's privileges.
    Command,
    /// An engine that restores a context from its image.
    Image,
}

impl By {
    fn name(self) -> &'static str {
        match self {
            By::Cpu => "cpu",
            By::Command => "command",
            By::Image => "image",
        }
    }
}

/// Different values that are kept for a register, with the moment of the first time.
const VALUES: usize = 8;

/// A register as one origin has used it. Moments are numbers of accesses, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    reads: u64,
    writes: u64,
    first_read: Option<u64>,
    first: Option<u64>,
    /// Bits that a write has set, and that a write has cleared; of a masked register, only those that its mask named.
    ones: u32,
    zeros: u32,
    /// What the register held after the last write, and then when the first program began to work.
    now: u32,
    at_work: Option<u32>,
    values: Vec<(u32, u64)>,
    /// For each bit, the first write with a one there.
    bits: [Option<u64>; 32],
}

/// All registers that a driver has used.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    moment: u64,
    at_work: Option<u64>,
    bus_master: Option<u64>,
    entries: BTreeMap<(u32, By), Entry>,
}

impl Ledger {
    fn next(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    /// The CPU has read a register.
    pub fn read(&mut self, offset: u32) {
        let moment = self.next();
        let entry = self.entries.entry((offset, By::Cpu)).or_default();
        entry.reads += 1;
        entry.first_read.get_or_insert(moment);
    }

    /// A register that held `old` was written.
    pub fn write(&mut self, offset: u32, by: By, rule: Write, old: u32, data: u32) {
        let moment = self.next();
        let entry = self.entries.entry((offset, by)).or_default();
        let (named, bits) = match rule {
            Write::Masked(_) => (data >> 16, data & data >> 16),
            _ => (!0, data),
        };
        entry.writes += 1;
        entry.first.get_or_insert(moment);
        entry.ones |= bits & named;
        entry.zeros |= !bits & named;
        entry.now = apply(rule, old, data);
        for (i, first) in entry.bits.iter_mut().enumerate() {
            if bits >> i & 1 != 0 {
                first.get_or_insert(moment);
            }
        }
        if entry.values.len() < VALUES && !entry.values.iter().any(|(v, _)| *v == data) {
            entry.values.push((data, moment));
        }
    }

    /// The card may reach memory from now on, or not any more.
    pub fn bus_master(&mut self, on: bool) {
        if on && self.bus_master.is_none() {
            self.bus_master = Some(self.next());
        }
    }

    /// A command of a program is executed: the first one ends the time in which the driver brings the card up.
    pub fn program(&mut self) {
        if self.at_work.is_some() {
            return;
        }
        self.at_work = Some(self.next());
        for entry in self.entries.values_mut().filter(|e| e.writes > 0) {
            entry.at_work = Some(entry.now);
        }
    }

    /// As text: a line of JSON for the card, then one for each register and origin.
    pub fn lines(&self, gpu: &str) -> String {
        let mut events = Map::new();
        let named = [("bus-master", self.bus_master), ("work", self.at_work)];
        for (name, moment) in named {
            if let Some(moment) = moment {
                events.insert(name.to_owned(), json!(moment));
            }
        }
        let mut text = format!("{}\n", json!({ "gpu": gpu, "events": events }));
        for ((offset, by), entry) in &self.entries {
            text += &format!("{}\n", entry.line(*offset, *by));
        }
        text
    }
}

impl Entry {
    fn line(&self, offset: u32, by: By) -> Value {
        let hex = |v: u32| format!("{v:08x}");
        let bits: Map<String, Value> = (0..32)
            .zip(&self.bits)
            .filter_map(|(i, first)| Some((format!("{i}"), json!((*first)?))))
            .collect();
        let values: Vec<Value> = self
            .values
            .iter()
            .map(|(v, moment)| json!([hex(*v), moment]))
            .collect();
        json!({
            "register": format!("{offset:06x}"),
            "by": by.name(),
            "reads": self.reads,
            "writes": self.writes,
            "first_read": self.first_read,
            "first": self.first,
            "ones": hex(self.ones),
            "zeros": hex(self.zeros),
            "work": self.at_work.map(hex),
            "values": values,
            "bits": bits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(ledger: &Ledger, offset: u32, by: By) -> Value {
        ledger.entries[&(offset, by)].line(offset, by)
    }

    #[test]
    fn an_entry_says_what_was_written_and_when() {
        let mut ledger = Ledger::default();
        ledger.read(0x9400);
        ledger.write(0x9400, By::Cpu, Write::Bits(!0), 0x10, 0x90);
        ledger.write(0x9400, By::Cpu, Write::Bits(!0), 0x90, 0x80);
        ledger.write(0x9400, By::Cpu, Write::Bits(!0), 0x80, 0x90);
        assert_eq!(
            entry(&ledger, 0x9400, By::Cpu),
            json!({
                "register": "009400", "by": "cpu", "reads": 1, "writes": 3, "first_read": 1, "first": 2,
                "ones": "00000090", "zeros": "ffffff7f", "work": null,
                "values": [["00000090", 2], ["00000080", 3]], "bits": { "4": 2, "7": 2 },
            })
        );
    }

    #[test]
    fn a_masked_write_is_of_the_bits_that_it_names() {
        let mut ledger = Ledger::default();
        // VCS PRM 1.1.2.2: bits 31:16 name those of 15:0 that change.
        ledger.write(
            0x209c,
            By::Command,
            Write::Masked(0xffff),
            0x200,
            0x4100_0140,
        );
        let line = entry(&ledger, 0x209c, By::Command);
        assert_eq!(line["ones"], "00000100");
        assert_eq!(line["zeros"], "00004000");
        assert_eq!(line["bits"], json!({ "8": 1 }));
        ledger.program();
        assert_eq!(
            entry(&ledger, 0x209c, By::Command)["work"],
            "00000300",
            "what no mask named stays"
        );
    }

    #[test]
    fn the_first_program_ends_the_bring_up() {
        let mut ledger = Ledger::default();
        ledger.bus_master(true);
        ledger.write(0x20a8, By::Cpu, Write::Bits(!0), 0, 1);
        ledger.read(0x2030);
        ledger.program();
        ledger.write(0x20a8, By::Cpu, Write::Bits(!0), 1, 2);
        ledger.program();
        ledger.bus_master(true);
        assert_eq!(entry(&ledger, 0x20a8, By::Cpu)["work"], "00000001");
        let text = ledger.lines("snb");
        let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let events = json!({ "bus-master": 1, "work": 4 });
        assert_eq!(head, json!({ "gpu": "snb", "events": events }));
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn values_are_few_and_bits_are_all() {
        let mut ledger = Ledger::default();
        for i in 0..20 {
            ledger.write(0x5000, By::Image, Write::Bits(!0), 0, 1 << i);
        }
        let line = entry(&ledger, 0x5000, By::Image);
        assert_eq!(line["values"].as_array().unwrap().len(), 8);
        assert_eq!(line["bits"]["19"], 20);
    }
}

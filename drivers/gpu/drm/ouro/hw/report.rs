// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Engine errors and faults, decoded: for the log, the error state and tests.
//!
//! A report is plain data with room for every engine, and is made without allocation. Its `Display`
//! writes several lines, a block for each engine.

use crate::types::EngineId;
use core::fmt;

/// Number of engines that a report has room for.
pub const MAX_ENGINES: usize = 16;

/// The number of a bit, and its name.
pub type BitName = (u8, &'static str);

/// Names of the bits and numbers in an engine's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Names {
    /// Bits of the error registers.
    pub errors: &'static [BitName],
    /// Units, by their bit in the first word of `instdone`. Bits that stand for no unit are left
    /// out.
    pub units: &'static [BitName],
    /// Units, by their bit in the second word.
    pub more_units: &'static [BitName],
    /// Units that can fault, by their number.
    pub sources: &'static [BitName],
}

/// What an engine is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Activity {
    /// Byte offset of the next command in the ring.
    pub head: u32,
    /// Byte offset behind the last command in the ring.
    pub tail: u32,
    /// Address of the command that is executed now, in the ring or a batch.
    pub acthd: u64,
    /// Idle units (ones), in the words of [`EngineReport::instdone`]. They change while anything
    /// works, even within one command.
    pub units: [u32; 2],
    /// Whether it reports itself idle.
    pub idle: bool,
    /// Whether it waits for an event or a semaphore.
    pub waiting: bool,
}

/// Why a translation failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// An entry was not valid.
    InvalidEntry,
    /// A directory entry was not valid.
    InvalidDirectory,
    /// No directory was loaded.
    NoDirectory,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultKind::InvalidEntry => "invalid PTE",
            FaultKind::InvalidDirectory => "invalid PDE",
            FaultKind::NoDirectory => "page directory not loaded",
        })
    }
}

/// A failed translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageFault {
    /// Page-aligned address.
    pub addr: u64,
    /// Whether the access went through the GGTT.
    pub global: bool,
    /// The faulting unit, by the chip's number.
    pub source: u8,
    /// The reason.
    pub kind: FaultKind,
}

/// How an engine fetches batches, where a batch may call another (second level).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchLevels {
    /// Whether commands are fetched through the PPGTT, not the GGTT: of the batch that the ring
    /// started, and of a second-level batch.
    pub process: [bool; 2],
    /// Address in the last second-level batch.
    pub second: u64,
}

impl fmt::Display for BatchLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.process.map(|p| if p { "PPGTT" } else { "GGTT" });
        write!(
            f,
            "first level through the {first}, second level at 0x{:x} through the {second}",
            self.second
        )
    }
}

/// An engine's error state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineReport {
    /// Class and instance.
    pub id: EngineId,
    /// What it was doing.
    pub activity: Activity,
    /// Error identity: which errors it had latched.
    pub eir: u32,
    /// Error status: which ones persist.
    pub esr: u32,
    /// Instruction parser error: the offending dword.
    pub ipeir: u32,
    /// Header of the offending command, or of the one that executes.
    pub ipehr: u32,
    /// INSTDONE: idle units are ones, busy units zeros.
    pub instdone: u32,
    /// INSTDONE of more units, where the engine has it; all ones elsewhere.
    pub more_instdone: u32,
    /// State of the instruction parser.
    pub instps: u32,
    /// Address from which it fetches commands.
    pub fetch: u64,
    /// Address in the running batch; `None` if no batch runs.
    pub batch: Option<u64>,
    /// How batches of both levels are fetched, if the engine tells.
    pub levels: Option<BatchLevels>,
    /// The first failed translation since the last report.
    pub fault: Option<PageFault>,
    /// Names of the bits.
    pub names: &'static Names,
}

impl EngineReport {
    /// Returns whether there is an error or a fault.
    pub fn is_error(&self) -> bool {
        self.eir != 0 || self.fault.is_some()
    }
}

/// Writes the names of the set bits of `word`, and the numbers of bits without a name.
fn bits(f: &mut fmt::Formatter<'_>, word: u32, names: &[BitName]) -> fmt::Result {
    let mut first = true;
    for n in 0..32u8 {
        if word & 1u32.wrapping_shl(n.into()) == 0 {
            continue;
        }
        if !first {
            f.write_str(", ")?;
        }
        first = false;
        match names.iter().find(|(bit, _)| *bit == n) {
            Some((_, name)) => f.write_str(name)?,
            None => write!(f, "bit {n}")?,
        }
    }
    Ok(())
}

/// Writes the names of busy units, each with a blank before it. Returns whether there were any.
fn busy(f: &mut fmt::Formatter<'_>, done: u32, units: &[BitName]) -> Result<bool, fmt::Error> {
    let mut any = false;
    for (n, name) in units {
        if done & 1u32.wrapping_shl((*n).into()) == 0 {
            write!(f, " {name}")?;
            any = true;
        }
    }
    Ok(any)
}

impl fmt::Display for EngineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let a = &self.activity;
        let state = match (a.idle, a.waiting) {
            (true, _) => "idle",
            (false, true) => "waiting",
            (false, false) => "busy",
        };
        writeln!(
            f,
            "{}: {state}, head 0x{:x}, tail 0x{:x}, at 0x{:x}, fetching 0x{:x}",
            self.id, a.head, a.tail, a.acthd, self.fetch
        )?;
        if let Some(batch) = self.batch {
            writeln!(f, "  batch: 0x{batch:x}")?;
        }
        if let Some(levels) = &self.levels {
            writeln!(f, "  batches: {levels}")?;
        }
        write!(f, "  errors: 0x{:08x} (", self.eir)?;
        if self.eir == 0 {
            f.write_str("none")?;
        } else {
            bits(f, self.eir, self.names.errors)?;
        }
        writeln!(f, "), status 0x{:08x}", self.esr)?;
        writeln!(
            f,
            "  instruction: 0x{:08x}, parser error 0x{:08x}, parser state 0x{:08x}",
            self.ipehr, self.ipeir, self.instps
        )?;
        f.write_str("  busy units:")?;
        let first = busy(f, self.instdone, self.names.units)?;
        let second = busy(f, self.more_instdone, self.names.more_units)?;
        if !first && !second {
            f.write_str(" none")?;
        }
        writeln!(
            f,
            " (0x{:08x}, 0x{:08x})",
            self.instdone, self.more_instdone
        )?;
        if let Some(fault) = &self.fault {
            write!(
                f,
                "  page fault: 0x{:x} through the {}, by unit {}",
                fault.addr,
                if fault.global { "GGTT" } else { "PPGTT" },
                fault.source
            )?;
            let unit = self.names.sources.iter().find(|(n, _)| *n == fault.source);
            if let Some((_, name)) = unit {
                write!(f, " ({name})")?;
            }
            writeln!(f, ": {}", fault.kind)?;
        }
        Ok(())
    }
}

/// The error state of a device. Entries beyond the device's engines are `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// By engine, in the order of the topology.
    pub engines: [Option<EngineReport>; MAX_ENGINES],
    /// A device-wide error word, as the backend defines it.
    pub global: u32,
    /// Names of its bits.
    pub global_names: &'static [BitName],
}

impl Default for Report {
    fn default() -> Self {
        Self {
            engines: [None; MAX_ENGINES],
            global: 0,
            global_names: &[],
        }
    }
}

impl Report {
    /// Returns whether there is an error or a fault.
    pub fn is_error(&self) -> bool {
        self.global != 0 || self.engines.iter().flatten().any(EngineReport::is_error)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for engine in self.engines.iter().flatten() {
            engine.fmt(f)?;
        }
        if self.global != 0 {
            write!(f, "device: 0x{:08x} (", self.global)?;
            bits(f, self.global, self.global_names)?;
            writeln!(f, ")")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::EngineClass;
    use std::string::ToString;

    static NAMES: Names = Names {
        errors: &[(0, "instruction error")],
        units: &[(3, "ALPHA"), (31, "OMEGA")],
        more_units: &[(0, "BETA")],
        sources: &[(8, "reader")],
    };

    fn engine() -> EngineReport {
        EngineReport {
            id: EngineId {
                class: EngineClass::Video,
                instance: 0,
            },
            activity: Activity {
                head: 0x40,
                tail: 0x80,
                acthd: 0x12_3000,
                units: [0x7fff_ffff, 0xffff_fffe],
                idle: false,
                waiting: false,
            },
            eir: 0x21,
            esr: 1,
            ipeir: 0,
            ipehr: 0x7fff_0000,
            instdone: 0x7fff_ffff,
            more_instdone: 0xffff_fffe,
            instps: 2,
            fetch: 0x12_3040,
            batch: Some(0x12_3000),
            levels: None,
            fault: Some(PageFault {
                addr: 0x45_6000,
                global: true,
                source: 8,
                kind: FaultKind::InvalidEntry,
            }),
            names: &NAMES,
        }
    }

    #[test]
    fn a_report_reads_as_text() {
        let mut report = Report {
            global: 0x101,
            global_names: &[(8, "unloaded directory")],
            ..Report::default()
        };
        report.engines[0] = Some(engine());
        assert_eq!(
            report.to_string(),
            "vcs0: busy, head 0x40, tail 0x80, at 0x123000, fetching 0x123040\n\
             \x20 batch: 0x123000\n\
             \x20 errors: 0x00000021 (instruction error, bit 5), status 0x00000001\n\
             \x20 instruction: 0x7fff0000, parser error 0x00000000, parser state 0x00000002\n\
             \x20 busy units: OMEGA BETA (0x7fffffff, 0xfffffffe)\n\
             \x20 page fault: 0x456000 through the GGTT, by unit 8 (reader): \
             invalid PTE\n\
             device: 0x00000101 (bit 0, unloaded directory)\n"
        );
    }

    #[test]
    fn levels_of_batches_are_words() {
        for (process, first, second) in [
            ([true, false], "PPGTT", "GGTT"),
            ([false, true], "GGTT", "PPGTT"),
        ] {
            let text = EngineReport {
                levels: Some(BatchLevels {
                    process,
                    second: 0x4_5678,
                }),
                ..engine()
            }
            .to_string();
            let line = std::format!(
                "  batch: 0x123000\n  batches: first level through the {first}, \
                 second level at 0x45678 through the {second}\n"
            );
            assert!(text.contains(&line), "{text}");
        }
    }

    #[test]
    fn silence_is_no_error() {
        let mut report = Report::default();
        assert!(!report.is_error());
        assert_eq!(report.to_string(), "");
        report.engines[0] = Some(EngineReport {
            eir: 0,
            fault: None,
            ..engine()
        });
        assert!(!report.is_error());
        report.global = 1;
        assert!(report.is_error());
        report.global = 0;
        report.engines[15] = Some(engine());
        assert!(report.is_error());
    }
}

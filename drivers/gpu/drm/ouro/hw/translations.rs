// SPDX-License-Identifier: GPL-2.0
//! What an engine's units hold of the translation tables, or wait for: for the error state.
//!
//! A `Display` is one line without its end.

use crate::report::BitName;
use core::fmt;

/// How far a translation is that is not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The buffer did not have it.
    Missed,
    /// An earlier access to the same page has missed.
    Behind,
    /// It is translated but for the IOMMU.
    Guest,
    /// It is translated.
    Done,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Missed => "waits for its translation",
            Step::Behind => "waits for that of another",
            Step::Guest => "waits for the IOMMU",
            Step::Done => "translated",
        })
    }
}

/// A unit of which the lower bits of its number are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Those bits.
    pub low: u8,
    /// Which bits they are.
    pub mask: u8,
    /// What units are called, by their whole number.
    pub names: &'static [BitName],
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit {}", self.low)?;
        let mut before = " (";
        for (n, name) in self.names {
            if n & self.mask == self.low {
                write!(f, "{before}{name}")?;
                before = " or ";
            }
        }
        match before {
            " (" => Ok(()),
            _ => f.write_str(")"),
        }
    }
}

/// A translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TranslationEntry {
    /// A buffer of units (TLB) holds it.
    Held {
        /// Whose buffer it is.
        buffer: &'static str,
        /// Its number there.
        number: u8,
        /// Address of its page.
        page: u64,
        /// Whether it is of the global table; `None` where that is not said.
        global: Option<bool>,
    },
    /// An access waits for it, or for its turn after it.
    Pending {
        /// Its number among those that wait.
        number: u8,
        /// The access' address: before the translation as far as it is known, after it the page that was found.
        addr: u64,
        /// How far it is.
        step: Step,
        /// Who asks.
        unit: Unit,
    },
}

impl fmt::Display for TranslationEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TranslationEntry::Held {
                buffer,
                number,
                page,
                global,
            } => {
                write!(f, "TLB of {buffer}, entry {number}: 0x{page:x}")?;
                match global {
                    Some(true) => f.write_str(" through the global table"),
                    Some(false) => f.write_str(" through the process table"),
                    None => Ok(()),
                }
            }
            TranslationEntry::Pending {
                number,
                addr,
                step,
                unit,
            } => write!(f, "pending {number}: 0x{addr:x} by {unit}: {step}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn entries_read_as_text() {
        let held = |global| TranslationEntry::Held {
            buffer: "VCR",
            number: 63,
            page: 0x1234_5000,
            global,
        };
        for (global, end) in [
            (None, ""),
            (Some(true), " through the global table"),
            (Some(false), " through the process table"),
        ] {
            let text = std::format!("TLB of VCR, entry 63: 0x12345000{end}");
            assert_eq!(held(global).to_string(), text);
        }
        const NAMES: &[BitName] = &[(1, "reader"), (17, "writer")];
        for (low, step, words) in [
            (
                1,
                Step::Missed,
                "1 (reader or writer): waits for its translation",
            ),
            (
                1,
                Step::Behind,
                "1 (reader or writer): waits for that of another",
            ),
            (2, Step::Guest, "2: waits for the IOMMU"),
            (2, Step::Done, "2: translated"),
        ] {
            let pending = TranslationEntry::Pending {
                number: 7,
                addr: 0x40,
                step,
                unit: Unit {
                    low,
                    mask: 15,
                    names: NAMES,
                },
            };
            assert_eq!(
                pending.to_string(),
                std::format!("pending 7: 0x40 by unit {words}")
            );
        }
    }
}

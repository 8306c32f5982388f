// SPDX-License-Identifier: GPL-2.0 OR MIT
//! TLB entries and pending translations of an engine's units, for the error state.
//!
//! `Display` writes one line, without a newline.

use crate::report::BitName;
use core::fmt;

/// The progress of a pending translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The TLB does not have it.
    Missed,
    /// It waits for an earlier miss on the same page.
    Behind,
    /// It is translated, except by the IOMMU.
    Guest,
    /// It is translated.
    Done,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Missed => "TLB miss, waits for the page walk",
            Step::Behind => "waits for an earlier TLB miss on this page",
            Step::Guest => "waits for the IOMMU",
            Step::Done => "translated",
        })
    }
}

/// A unit, of whose number only some bits are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    /// The known bits.
    pub low: u8,
    /// The mask of the known bits.
    pub mask: u8,
    /// Names of units, by their whole number.
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

/// A translation that a unit holds or waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TranslationEntry {
    /// A TLB holds it.
    Held {
        /// Name of the TLB.
        buffer: &'static str,
        /// Index of the entry in the TLB.
        number: u8,
        /// Address of the page.
        page: u64,
        /// Whether it is a GGTT entry; `None` if the hardware does not tell.
        global: Option<bool>,
    },
    /// An access waits for it, or waits behind another such access.
    Pending {
        /// Index among the pending accesses.
        number: u8,
        /// Before the translation the access's address, as far as it is known; after it the page's.
        addr: u64,
        /// Its progress.
        step: Step,
        /// The unit that accesses.
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
                    Some(true) => f.write_str(" through the GGTT"),
                    Some(false) => f.write_str(" through the PPGTT"),
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
            (Some(true), " through the GGTT"),
            (Some(false), " through the PPGTT"),
        ] {
            let text = std::format!("TLB of VCR, entry 63: 0x12345000{end}");
            assert_eq!(held(global).to_string(), text);
        }
        const NAMES: &[BitName] = &[(1, "reader"), (17, "writer")];
        for (low, step, words) in [
            (
                1,
                Step::Missed,
                "1 (reader or writer): TLB miss, waits for the page walk",
            ),
            (
                1,
                Step::Behind,
                "1 (reader or writer): waits for an earlier TLB miss on this page",
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

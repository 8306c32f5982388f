// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Diagnostics of the video engine: how it fetches batches, and its address translations.

use super::regs::{self, BatchState, PendingAccess, PendingOffset, PendingPage};
use crate::{
    intel::{processor::names::VIDEO_SOURCES, ring::engine::Details},
    io::Hw,
    report::BatchLevels,
    translations::{Step, TranslationEntry, Unit},
};

/// The diagnostics of the video engine.
pub(super) static VIDEO: Details = Details {
    levels,
    translations,
};

/// Users of the TLBs, in the order of their registers (VCS §1.1.9.3.1 to §1.1.9.3.4).
const TLBS: [&str; 4] = ["VCS and VMC", "all media clients", "VDS and VLF FW", "VCR"];

fn levels(hw: &Hw<'_>) -> BatchLevels {
    let state = BatchState::from_bits(hw.regs.read32(regs::VCS_BB_STATE));
    BatchLevels {
        process: [state.first_process(), state.second_process()],
        second: (hw.regs.read32(regs::VCS_SECOND_BATCH) & !3).into(),
    }
}

/// Reads a bit vector of two registers.
fn bits(hw: &Hw<'_>, at: u32) -> u64 {
    let [low, high] = [0, 4].map(|n| u64::from(hw.regs.read32(at.wrapping_add(n))));
    high.wrapping_shl(32) | low
}

/// Returns the numbers of the bits that are set.
fn set(bits: u64) -> impl Iterator<Item = u8> {
    (0..regs::TLB_ENTRIES).filter(move |n| bits & 1u64.wrapping_shl((*n).into()) != 0)
}

/// Reads a register of an array.
fn entry(hw: &Hw<'_>, array: u32, number: u8) -> u32 {
    let at = u32::from(number).wrapping_mul(4);
    hw.regs.read32(array.wrapping_add(at))
}

fn translations(hw: &Hw<'_>, found: &mut dyn FnMut(TranslationEntry)) {
    let globals = hw.regs.read32(regs::GAC_ARB_CTL) & regs::GAC_GLOBAL_ENTRIES;
    for (n, buffer) in (0u32..).zip(TLBS) {
        let valid = n.wrapping_mul(regs::TLB_VALID_STEP);
        let array = n.wrapping_mul(regs::TLB_ADDRESS_STEP);
        for number in set(bits(hw, regs::TLB_VALID.wrapping_add(valid))) {
            let page = entry(hw, regs::TLB_ADDRESS.wrapping_add(array), number);
            found(TranslationEntry::Held {
                buffer,
                number,
                page: (page & !0xfff).into(),
                // Only the first TLB is divided.
                global: (n == 0).then_some(u32::from(number) < globals),
            });
        }
    }
    let ready = bits(hw, regs::PENDING_READY);
    for number in set(bits(hw, regs::PENDING_VALID)) {
        let page = PendingPage::from_bits(entry(hw, regs::PENDING_PAGE, number));
        let access = PendingAccess::from_bits(entry(hw, regs::PENDING_ACCESS, number));
        let ready = ready & 1u64.wrapping_shl(number.into()) != 0;
        // VCS §1.1.9.4.5, the table. Without an IOMMU the third state does not occur.
        let step = match (ready, page.status()) {
            (false, false) => Step::Missed,
            (false, true) => Step::Behind,
            (true, false) => Step::Guest,
            (true, true) => Step::Done,
        };
        let found_page = u64::from(page.page()) << 12;
        let addr = match ready {
            true => found_page,
            false => {
                let more = PendingOffset::from_bits(entry(hw, regs::PENDING_OFFSET, number));
                let offset = u64::from(more.offset()) << 10 | u64::from(access.offset()) << 6;
                found_page & 0xffff_f000 | offset
            }
        };
        found(TranslationEntry::Pending {
            number,
            addr,
            step,
            unit: Unit {
                low: access.unit(),
                mask: 0xf,
                names: VIDEO_SOURCES,
            },
        });
    }
}

#[cfg(test)]
mod tests;

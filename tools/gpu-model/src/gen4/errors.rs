// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Errors of the page table (4.6, 5.7.2), the types of its entries (4.6.1), what a batch may not (1.5.2).

use super::bits;
use crate::counters::Counter;
use crate::intel::pte::{Pte, PAGE};
use crate::ring::config::TABLE_BASE;
use crate::ring::core::{source, Core};
use crate::ring::engine::EngineId;
use crate::ring::lint::Rule;
use crate::ring::mmu::{FaultKind, MmuFault};

/// Who asked, in PGTBL_ER (G-07).
mod stream {
    pub const RENDER_CACHE: u32 = 1 << 24;
    pub const COMMAND_FETCH: u32 = 1 << 20;
    pub const COMMAND_STREAMER: u32 = 1 << 19;
    pub const DISPLAY_A: u32 = 1 << 4;
    /// An entry leads to memory that there is not.
    pub const ILLEGAL_MEMORY: u32 = 1 << 1;
    pub const HOST: u32 = 1 << 0;
}

/// The type of a snooped page: bits 2:1 (G-08).
pub(crate) const SNOOPED: u32 = 3;

/// PGTBL_CTL was written, or reset: 965 uses the table if bit 0 is set; G45 and GM45 always do (G-06).
pub(crate) fn table_switched(core: &mut Core) {
    let on = core.get(bits::PGTBL_CTL) & 1 != 0;
    core.cx.table_on = on || core.gen4().g4x;
}

/// PGTBL_CTL was written. A table at another place than the firmware's is memory that is not the graphics' own; the
/// model goes on with its entries.
pub(crate) fn table_written(core: &mut Core, value: u32) {
    table_switched(core);
    // G-06: bits 31:12, and 7:4 above them.
    let base = value & 0xffff_f0f0;
    if value & 1 != 0 && base != TABLE_BASE && !core.gen4().g4x {
        core.lint(Rule::TableMoved, || format!("{value:#x}"));
    }
}

/// A display plane fetches: "with the exception of processor Read, Cursor and VGA clients, access to graphics memory
/// is not permitted" while the table is off (4.6).
pub(crate) fn plane_fetches(core: &mut Core) {
    if !core.cx.table_on {
        core.lint(Rule::TableOff, || "plane A".to_owned());
        core.table_error(EngineId::Rcs, stream::DISPLAY_A);
    }
}

/// The per-process table is switched on or off: run lists and all that comes with it are not modelled.
pub(crate) fn process_table(core: &mut Core, on: bool) {
    if on {
        core.lint(Rule::ProcessTable, String::new);
    }
}

/// A translation of an engine failed: which stream it was, and the summary in EIR, which a reset alone clears.
pub(crate) fn page_fault(core: &mut Core, e: EngineId, fault: &MmuFault) -> bool {
    core.count(Counter::PageFaults);
    let mut from = match fault.source {
        source::BLT_READ | source::BLT_WRITE => stream::RENDER_CACHE,
        source::CS_WRITE => stream::COMMAND_STREAMER,
        _ => stream::COMMAND_FETCH,
    };
    match fault.kind {
        FaultKind::BadData => from |= stream::ILLEGAL_MEMORY,
        FaultKind::TableOff => core.lint(Rule::TableOff, || {
            format!("{} {:#x}", e.name(), fault.address)
        }),
        _ => {}
    }
    tracing::info!(
        engine = e.name(),
        "page-table error at {:#x} ({:?})",
        fault.address,
        fault.kind
    );
    core.table_error(e, from);
    true
}

/// The CPU goes through the aperture.
pub(crate) fn aperture(core: &mut Core, address: u32, pte: Pte, write: bool) {
    // 5.9: "accesses other than CPU reads ... will generate an error".
    if write && !core.cx.table_on {
        core.lint(Rule::TableOff, || format!("aperture {address:#x}"));
        core.table_error(EngineId::Rcs, stream::HOST);
    }
    if !pte.valid() {
        // 5.7.2: an invalid entry is an error of all streams.
        core.table_error(EngineId::Rcs, stream::HOST);
        return;
    }
    if write {
        core.aperture_drawn(address);
    }
    // 4.3.1, 4.6.1: such accesses are not snooped behind the table.
    if pte.cacheability() == SNOOPED {
        core.lint(Rule::SnoopedAperture, || format!("{address:#x}"));
    }
}

impl Core {
    /// Reports an entry of the wrong type under something that may lie in unsnooped memory only: rings, batches,
    /// contexts (4.6.1, 5.3.4.3, 5.3.6.1).
    pub fn watch_unsnooped(&mut self, what: &str, address: u32, len: usize) {
        if self.cfg.chip.gen4.is_none() {
            return;
        }
        let last = address.saturating_add(len.max(1) as u32 - 1);
        for page in address / PAGE..=last / PAGE {
            let pte = Pte(self.cx.gtt.get(page));
            if pte.valid() && pte.cacheability() == SNOOPED {
                self.lint(Rule::SnoopedStream, || format!("{what} {address:#x}"));
                return;
            }
        }
    }

    /// A batch of a program wanted what it may not: an error is flagged on G45 and GM45 (1.5.2), and nothing else
    /// happens. Which of the two bits is whose is nowhere said: memory's for stores, the command parser's for the
    /// rest.
    pub fn privilege_error(&mut self, memory: bool) {
        if self.gen4().g4x {
            let bit = if memory {
                bits::G4X_MEMORY_PRIVILEGE
            } else {
                bits::G4X_COMMAND_PRIVILEGE
            };
            self.spurious_error(EngineId::Rcs, bit);
        }
    }
}

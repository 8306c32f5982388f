// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Pages of different memory types that are direct neighbours in the GGTT of a G45 or GM45: snooped and unsnooped ones
//! (4.6.1, G-08). The streamer reads ahead of what it executes, past the end of a batch too (1.5), so it reads from one
//! type into the other. No document forbids it; the upstream driver keeps a page between them on chips whose CPU and
//! GPU share no cache (i915_ggtt_color_adjust in gt/intel_ggtt.c). What is read ahead in unused entries does no harm,
//! so a scratch page may be any page's neighbour.
//!
//! Pairs are looked for when the CPU gives work to a ring: all of the table for the first work of a ring since it was
//! enabled, afterwards entries whose write the model has seen, and some of the others in turn, since the guest maps
//! the table and may write it unseen.

use super::errors::SNOOPED;
use crate::counters::Counter;
use crate::intel::pte::{Pte, PAGE};
use crate::ring::core::Core;
use crate::ring::lint::Rule;
use std::collections::HashSet;

/// Entries that each piece of work looks at in turn, besides those that were written.
const IN_TURN: u32 = 512;
/// Written entries that are kept one by one; with more, all of the table is looked at.
const WRITTEN: usize = 4096;
/// Pages that count as scratch.
const SCRATCH: usize = 4;
/// Pairs that are known at a time.
const PAIRS: usize = 1 << 16;

/// What is known of the table.
#[derive(Default)]
pub(crate) struct Neighbours {
    /// Entries that were written since the last look.
    written: Vec<u32>,
    /// All of the table is to be looked at.
    all: bool,
    /// The entry to which the look in turn has come.
    turn: u32,
    /// Addresses of scratch pages: two neighbours or more lead to each.
    scratch: Vec<u64>,
    /// Pairs that are there, by their first entry.
    known: HashSet<u32>,
}

/// An entry was written.
pub(crate) fn entry_written(core: &mut Core, index: u32) {
    if !core.gen4().g4x {
        return;
    }
    let own = &mut core.own.neighbours;
    if own.written.len() < WRITTEN {
        own.written.push(index);
    } else {
        own.all = true;
    }
}

/// A ring was enabled, or the device powered on.
pub(crate) fn ring_enabled(core: &mut Core) {
    core.own.neighbours.all = true;
}

/// The CPU has given work to a ring.
pub(crate) fn work_given(core: &mut Core) {
    if !core.gen4().g4x {
        return;
    }
    let mut own = std::mem::take(&mut core.own.neighbours);
    let len = core.cx.gtt.len();
    let written = std::mem::take(&mut own.written);
    if std::mem::take(&mut own.all) {
        own.scratch = scratch(core);
        look(core, &mut own, 0..len);
    } else {
        for index in written {
            look(
                core,
                &mut own,
                index.saturating_sub(1)..index.saturating_add(1),
            );
        }
        let (from, end) = (own.turn, (own.turn + IN_TURN).min(len));
        look(core, &mut own, from..end);
        own.turn = if end == len { 0 } else { end };
    }
    core.own.neighbours = own;
}

/// Returns the pages to which several neighbours lead.
fn scratch(core: &Core) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    let mut before = None;
    for index in 0..core.cx.gtt.len() {
        let pte = Pte(core.cx.gtt.get(index));
        let page = pte.valid().then(|| core.cx.pte.address(pte));
        if let (true, Some(page)) = (page == before, page) {
            if found.len() < SCRATCH && !found.contains(&page) {
                found.push(page);
            }
        }
        before = page;
    }
    found
}

/// Looks at these entries, each with the one behind it.
fn look(core: &mut Core, own: &mut Neighbours, entries: std::ops::Range<u32>) {
    let mut first = Pte(core.cx.gtt.get(entries.start));
    for index in entries {
        // Past the end of the table entries are not valid.
        let second = Pte(core.cx.gtt.get(index.saturating_add(1)));
        let mixed = first.valid()
            && second.valid()
            && (first.cacheability() == SNOOPED) != (second.cacheability() == SNOOPED)
            && [first, second].iter().all(|pte| {
                let page = core.cx.pte.address(*pte);
                !own.scratch.contains(&page)
            });
        if !mixed {
            own.known.remove(&index);
        } else if own.known.len() < PAIRS && own.known.insert(index) {
            let at = u64::from(index) * u64::from(PAGE);
            core.count(Counter::MixedNeighbours);
            tracing::debug!("memory types change at {at:#x}: {first:x?} {second:x?}");
            if core.cfg.real.reads_across {
                core.lint(Rule::MixedNeighbours, || {
                    format!("{at:#x}: {first:x?} {second:x?}")
                });
            }
        }
        first = second;
    }
}

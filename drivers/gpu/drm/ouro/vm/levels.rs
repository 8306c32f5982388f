// SPDX-License-Identifier: GPL-2.0

//! The multi-level page tables of a PPGTT.
//!
//! Every entry is filled at all times, since the GPU prefetches: unmapped pages lead, at every
//! level, to a scratch page. Each PPGTT has its own, so that no client finds there what another one
//! wrote.
//!
//! A table is made when a page below it is mapped, and removed when none is mapped any more. It
//! still belongs to the PPGTT: an engine may have it in its TLB or page walk caches, and then for
//! this PPGTT's clients only.

use kernel::{prelude::*, sync::Arc};
use ouro_hw::{
    page_table::PageTable,
    types::{DmaAddr, PAGE_SIZE},
};
use ouro_kernel::{mmio, pages::DmaPages, pci::DmaDevice, Caching};

use super::{
    global::system,
    store::{Table, TableStore, Whose},
};

/// Most levels of a format.
const MAX_LEVELS: usize = 5;

/// A table, and the tables below it.
struct Node {
    table: Table,
    /// Number of entries in use.
    used: u32,
    /// Tables by entry; empty at the lowest level.
    below: KVVec<Option<KBox<Node>>>,
}

/// The page tables of a PPGTT.
pub(super) struct Levels {
    format: &'static dyn PageTable,
    store: Arc<TableStore>,
    whose: Whose,
    _scratch: DmaPages,
    /// The tables that lead to the scratch page: one for each level except the highest.
    _holes: KVec<Table>,
    /// The unused entry, by level, the lowest first.
    holes: [u64; MAX_LEVELS],
    levels: usize,
    per_table: usize,
    /// Bits of a page number for each level.
    each: u32,
    root: KBox<Node>,
    /// Removed tables. There is capacity for all tables.
    spare: [KVec<KBox<Node>>; 2],
    /// Number of all tables.
    count: usize,
}

/// Returns the index of a page's entry in the tables of a level, which have `1 << each` entries.
fn place(page: u64, level: usize, each: u32) -> usize {
    (page >> (each * level as u32)) as usize & ((1 << each) - 1)
}

impl Levels {
    /// Creates page tables of `format` for addresses of `bits` bits, with nothing mapped. Errors:
    /// `ENOSPC` if the store is full, `ENOMEM`, `EINVAL` if the format does not fit.
    pub(super) fn new(
        store: &Arc<TableStore>,
        whose: Whose,
        dma: &Arc<DmaDevice>,
        format: &'static dyn PageTable,
        bits: u8,
    ) -> Result<Self> {
        let per_table = format.entries_per_table() as usize;
        let each = per_table.checked_ilog2().ok_or(EINVAL)?;
        if each == 0 {
            return Err(EINVAL);
        }
        let levels = (u32::from(bits).saturating_sub(PAGE_SIZE.ilog2())).div_ceil(each) as usize;
        if levels == 0 || levels > MAX_LEVELS || format.entry_bytes() != 8 {
            return Err(EINVAL);
        }
        let page = DmaPages::new(dma, 1, Caching::WriteBack)?;
        let mut holes = [0; MAX_LEVELS];
        let mut scratch = KVec::with_capacity(levels, whose.flags())?;
        let mut entry = format.entry(system(page.address(0).ok_or(EINVAL)?));
        for (level, hole) in holes.iter_mut().take(levels).enumerate() {
            *hole = entry;
            if level + 1 < levels {
                let table = store.take(&whose)?;
                table.fill(per_table, entry);
                entry = format.directory_entry_of(table.page()).ok_or(EINVAL)?;
                scratch.push(table, whose.flags())?;
            }
        }
        let top = levels - 1;
        let root = node(
            store,
            &whose,
            per_table,
            top,
            holes.get(top).copied().ok_or(EINVAL)?,
        )?;
        mmio::wmb();
        Ok(Self {
            format,
            store: store.clone(),
            whose,
            _scratch: page,
            _holes: scratch,
            holes,
            levels,
            per_table,
            each,
            root,
            spare: [const { KVec::new() }; 2],
            count: 1,
        })
    }

    /// Returns the root table's address.
    pub(super) fn root(&self) -> DmaAddr {
        self.root.table.page().addr
    }

    /// Returns a new table of a level, with unused entries.
    fn table(&mut self, level: usize) -> Result<KBox<Node>> {
        let hole = self.holes.get(level).copied().ok_or(EINVAL)?;
        let spare = self.spare.get_mut(usize::from(level == 0)).ok_or(EINVAL)?;
        if let Some(node) = spare.pop() {
            node.table.fill(self.per_table, hole);
            return Ok(node);
        }
        // So that it can be removed where allocation is not allowed.
        let most = self.count + 1;
        spare.reserve(most, self.whose.flags())?;
        let node = node(&self.store, &self.whose, self.per_table, level, hole)?;
        self.count = most;
        Ok(node)
    }

    /// Returns the index of a page's entry in the tables of a level.
    fn index(&self, page: u64, level: usize) -> usize {
        place(page, level, self.each)
    }

    /// Writes the PTE of an unmapped page, and makes the tables that it needs. Errors: `ENOSPC`,
    /// `ENOMEM`: unused tables may remain, which [`clear`](Self::clear) of the page removes.
    pub(super) fn put(&mut self, page: u64, entry: u64) -> Result {
        // The lowest of the new tables.
        let mut made: Option<KBox<Node>> = None;
        let missing = {
            let mut at = &self.root;
            let mut level = self.levels - 1;
            loop {
                if level == 0 {
                    break None;
                }
                let index = self.index(page, level);
                match at.below.get(index).and_then(|n| n.as_ref()) {
                    Some(next) => at = next,
                    None => break Some(level),
                }
                level -= 1;
            }
        };
        if let Some(missing) = missing {
            // From the lowest level up, so that no PDE points to an incomplete table.
            for level in 0..missing {
                let mut table = match self.table(level) {
                    Ok(table) => table,
                    Err(e) => {
                        self.keep(made.take());
                        return Err(e);
                    }
                };
                if let Some(below) = made.take() {
                    let index = self.index(page, level);
                    link(self.format, &mut table, index, below);
                }
                made = Some(table);
            }
            mmio::wmb();
        }
        let (levels, each, format) = (self.levels, self.each, self.format);
        let place = |level: usize| place(page, level, each);
        let mut at = &mut self.root;
        for level in (1..levels).rev() {
            let index = place(level);
            if missing == Some(level) {
                if let Some(below) = made.take() {
                    link(format, at, index, below);
                }
            }
            at = at
                .below
                .get_mut(index)
                .and_then(|n| n.as_mut())
                .ok_or(EINVAL)?;
        }
        at.used += 1;
        at.table.write(place(0), entry);
        Ok(())
    }

    /// Keeps removed tables for reuse.
    fn keep(&mut self, mut table: Option<KBox<Node>>) {
        while let Some(mut node) = table {
            table = node.below.iter_mut().find_map(Option::take);
            node.used = 0;
            // There is capacity.
            if let Some(spare) = self.spare.get_mut(usize::from(node.below.is_empty())) {
                drop(spare.push_within_capacity(node));
            }
        }
    }

    /// Unmaps `count` mapped pages, and removes the tables that become unused. Allocates nothing.
    pub(super) fn clear(&mut self, first: u64, count: u32) {
        for page in first..first.saturating_add(count.into()) {
            self.clear_one(page);
        }
    }

    fn clear_one(&mut self, page: u64) {
        let (levels, each, holes) = (self.levels, self.each, self.holes);
        let place = |level: usize| place(page, level, each);
        let hole = |level: usize| holes.get(level).copied().unwrap_or(0);
        // The lowest table that stays: the one below it has no other use.
        let mut cut = None;
        {
            let mut at = &mut self.root;
            for level in (1..levels).rev() {
                let alone = at.used == 1 && level != levels - 1;
                if !alone {
                    cut = Some(level);
                }
                let index = place(level);
                let Some(next) = at.below.get_mut(index).and_then(|n| n.as_mut()) else {
                    return;
                };
                at = next;
            }
            at.table.write(place(0), hole(0));
            at.used = at.used.saturating_sub(1);
            if at.used != 0 {
                return;
            }
        }
        let mut at = &mut self.root;
        for level in (1..levels).rev() {
            let index = place(level);
            if cut == Some(level) {
                at.table.write(index, hole(level));
                at.used = at.used.saturating_sub(1);
                let gone = at.below.get_mut(index).and_then(Option::take);
                self.keep(gone);
                return;
            }
            let Some(next) = at.below.get_mut(index).and_then(|n| n.as_mut()) else {
                return;
            };
            at = next;
        }
    }
}

/// Allocates a table of a level, with unused entries.
fn node(
    store: &Arc<TableStore>,
    whose: &Whose,
    per_table: usize,
    level: usize,
    hole: u64,
) -> Result<KBox<Node>> {
    let mut below = KVVec::new();
    if level != 0 {
        below.reserve(per_table, whose.flags())?;
        for _ in 0..per_table {
            below.push(None, whose.flags())?;
        }
    }
    let table = store.take(whose)?;
    table.fill(per_table, hole);
    let node = Node {
        table,
        used: 0,
        below,
    };
    Ok(KBox::new(node, whose.flags())?)
}

/// Writes the PDE of a table to the one above.
fn link(format: &'static dyn PageTable, table: &mut Node, index: usize, below: KBox<Node>) {
    // `new` has made a PDE of a table in the store, so this cannot fail.
    if let (Some(entry), Some(place)) = (
        format.directory_entry_of(below.table.page()),
        table.below.get_mut(index),
    ) {
        *place = Some(below);
        table.used += 1;
        table.table.write(index, entry);
    }
}

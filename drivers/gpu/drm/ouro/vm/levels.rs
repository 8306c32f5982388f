// SPDX-License-Identifier: GPL-2.0

//! Tables of several levels, which are one address space's own.
//!
//! Every entry is filled at all times, since the GPU fetches ahead: where nothing is mapped it leads, at
//! whatever level, to a scratch page. That is the space's own as well, so that nobody finds there what
//! another one has written.
//!
//! A table is made when something is mapped there, and taken out when nothing is any more. It stays the
//! space's: an engine may still have copies of entries that lead to it, and these are its own clients'.

use kernel::{prelude::*, sync::Arc};
use ouro_hw::{
    page_table::PageTable,
    types::{DmaAddr, PAGE_SIZE},
};
use ouro_kernel::{mmio, pages::DmaPages, pci::DmaDevice, Caching};

use super::{
    global::system,
    store::{Table, TableStore},
};

/// Most levels that there are.
const MAX_LEVELS: usize = 5;

/// A table, and those below it.
struct Node {
    table: Table,
    /// Entries that are not holes.
    used: u32,
    /// By entry; empty at the lowest level.
    below: KVVec<Option<KBox<Node>>>,
}

/// The tables.
pub(super) struct Levels {
    format: &'static dyn PageTable,
    store: Arc<TableStore>,
    _scratch: DmaPages,
    /// What leads to the scratch page: one for each level but the highest.
    _holes: KVec<Table>,
    /// The entry of a hole, by level, the lowest first.
    holes: [u64; MAX_LEVELS],
    levels: usize,
    per_table: usize,
    /// Bits of a page's number for each level.
    each: u32,
    root: KBox<Node>,
    /// Tables that were taken out. There is room for all that there are.
    spare: KVec<KBox<Node>>,
    /// All tables that there are.
    count: usize,
}

/// The place of a page in the tables of a level, of which each has `1 << each` entries.
fn place(page: u64, level: usize, each: u32) -> usize {
    (page >> (each * level as u32)) as usize & ((1 << each) - 1)
}

impl Levels {
    /// Tables of `format` for addresses of so many bits, with nothing mapped. Errors: `ENOSPC` if the store
    /// has no room for them, `ENOMEM`, `EINVAL` for a format that is not of tables in it.
    pub(super) fn new(
        store: &Arc<TableStore>,
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
        let mut scratch = KVec::with_capacity(levels, GFP_KERNEL)?;
        let mut entry = format.entry(system(page.address(0).ok_or(EINVAL)?));
        for (level, hole) in holes.iter_mut().take(levels).enumerate() {
            *hole = entry;
            if level + 1 < levels {
                let table = store.take()?;
                table.fill(per_table, entry);
                entry = format.directory_entry_of(table.page()).ok_or(EINVAL)?;
                scratch.push(table, GFP_KERNEL)?;
            }
        }
        let top = levels - 1;
        let root = node(
            store,
            per_table,
            top,
            holes.get(top).copied().ok_or(EINVAL)?,
        )?;
        mmio::wmb();
        Ok(Self {
            format,
            store: store.clone(),
            _scratch: page,
            _holes: scratch,
            holes,
            levels,
            per_table,
            each,
            root,
            spare: KVec::new(),
            count: 1,
        })
    }

    /// The table at the top.
    pub(super) fn root(&self) -> DmaAddr {
        self.root.table.page().addr
    }

    /// A table of a level, with holes.
    fn table(&mut self, level: usize) -> Result<KBox<Node>> {
        let hole = self.holes.get(level).copied().ok_or(EINVAL)?;
        let lowest = |n: &Node| n.below.is_empty() == (level == 0);
        if let Some(at) = self.spare.iter().position(|n| lowest(n)) {
            let node = self.spare.remove(at).map_err(|_| EINVAL)?;
            node.table.fill(self.per_table, hole);
            return Ok(node);
        }
        // So that it can be taken out again where nothing may be allocated.
        let most = self.count + 1;
        self.spare.reserve(most - self.spare.len(), GFP_KERNEL)?;
        let node = node(&self.store, self.per_table, level, hole)?;
        self.count = most;
        Ok(node)
    }

    /// The place of a page in the tables of a level.
    fn index(&self, page: u64, level: usize) -> usize {
        place(page, level, self.each)
    }

    /// Puts an entry where a hole is, and makes the tables that it takes. Errors: `ENOSPC`, `ENOMEM`: then
    /// tables may have been made for nothing, which [`clear`](Self::clear) of the page takes out.
    pub(super) fn put(&mut self, page: u64, entry: u64) -> Result {
        // The first one that is not there.
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
            // From below, so that nothing leads to a table before it is whole.
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

    /// Keeps tables that are not used.
    fn keep(&mut self, mut table: Option<KBox<Node>>) {
        while let Some(mut node) = table {
            table = node.below.iter_mut().find_map(Option::take);
            node.used = 0;
            // There is room.
            drop(self.spare.push_within_capacity(node));
        }
    }

    /// Puts holes in place of `count` pages that were put there, and takes out the tables that are not used
    /// any more. Allocates nothing.
    pub(super) fn clear(&mut self, first: u64, count: u32) {
        for page in first..first.saturating_add(count.into()) {
            self.clear_one(page);
        }
    }

    fn clear_one(&mut self, page: u64) {
        let (levels, each, holes) = (self.levels, self.each, self.holes);
        let place = |level: usize| place(page, level, each);
        let hole = |level: usize| holes.get(level).copied().unwrap_or(0);
        // The lowest table that stays: the one below it is used for nothing else.
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

/// A new table of a level, with holes.
fn node(store: &Arc<TableStore>, per_table: usize, level: usize, hole: u64) -> Result<KBox<Node>> {
    let mut below = KVVec::new();
    if level != 0 {
        below.reserve(per_table, GFP_KERNEL)?;
        for _ in 0..per_table {
            below.push(None, GFP_KERNEL)?;
        }
    }
    let table = store.take()?;
    table.fill(per_table, hole);
    let node = Node {
        table,
        used: 0,
        below,
    };
    Ok(KBox::new(node, GFP_KERNEL)?)
}

/// Lets an entry of a table lead to another one.
fn link(format: &'static dyn PageTable, table: &mut Node, index: usize, below: KBox<Node>) {
    // Tables are in the store, for which there are entries: `new` made one.
    if let (Some(entry), Some(place)) = (
        format.directory_entry_of(below.table.page()),
        table.below.get_mut(index),
    ) {
        *place = Some(below);
        table.used += 1;
        table.table.write(index, entry);
    }
}

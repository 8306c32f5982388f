// SPDX-License-Identifier: GPL-2.0
//! A card's own memory as the CPU sees it, and trees of tables in it.

use gpu_model::dg2::Dg2;
use ouro_hw::{
    generation::Scanout,
    page_table::{Leaf, PageTable},
    types::{CacheLevel, DmaAddr, MemoryKind, Page, PAGE_SIZE},
};
use std::{ops::Range, sync::Arc};

/// The memory, given out from its beginning on and never taken back.
pub struct Local {
    gpu: Arc<Dg2>,
    next: u64,
    end: u64,
    /// What the firmware's picture is in.
    shown: Vec<Range<u64>>,
}

impl Local {
    /// `size` bytes of it, without what is shown.
    pub fn new(gpu: &Arc<Dg2>, size: u64, lit: &[Scanout]) -> Self {
        Self {
            shown: lit.iter().filter_map(|s| s.local.clone()).collect(),
            gpu: gpu.clone(),
            next: 0,
            end: size,
        }
    }

    /// Zeroed bytes, aligned to a power of two.
    pub fn take(&mut self, bytes: u64, align: u64) -> u64 {
        let mut at = self.next.next_multiple_of(align);
        let shown = |at: u64| {
            self.shown
                .iter()
                .find(|s| at < s.end && s.start < at + bytes)
        };
        while let Some(shown) = shown(at) {
            at = shown.end.next_multiple_of(align);
        }
        self.next = at + bytes;
        assert!(self.next <= self.end, "the card has more memory");
        self.put(at, &vec![0; bytes as usize / 4]);
        at
    }

    /// Writes dwords.
    pub fn put(&self, at: u64, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.gpu.lmem_write(at, &bytes);
    }

    /// Reads a dword.
    pub fn dword(&self, at: u64) -> u32 {
        let mut dword = [0; 4];
        self.gpu.lmem_read(at, &mut dword);
        u32::from_le_bytes(dword)
    }

    /// Reads a quadword.
    pub fn qword(&self, at: u64) -> u64 {
        u64::from(self.dword(at)) | u64::from(self.dword(at + 4)) << 32
    }

    fn put_qword(&self, at: u64, qword: u64) {
        self.put(at, &[qword as u32, (qword >> 32) as u32]);
    }
}

/// Four levels of tables, each of 512 entries, for addresses of 48 bits (digest §4.5).
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    root: u64,
}

impl Tree {
    /// One that maps nothing.
    pub fn new(local: &mut Local) -> Self {
        Self { root: table(local) }
    }

    /// Where its root is.
    pub fn root(&self) -> DmaAddr {
        DmaAddr(self.root)
    }

    /// The entry of `addr` in a table of a level (1 has pages of 4 KiB), with tables above it.
    fn place(&self, local: &mut Local, tables: &dyn PageTable, addr: u64, level: u32) -> u64 {
        let mut at = self.root;
        for above in (level..=4).rev() {
            let entry = at + 8 * (addr >> (12 + 9 * (above - 1)) & 0x1ff);
            if above == level {
                return entry;
            }
            at = local.qword(entry) & 0x3fff_ffff_f000;
            if at == 0 {
                at = table(local);
                let below = Page {
                    addr: DmaAddr(at),
                    memory: MemoryKind::Local,
                    cache: CacheLevel::None,
                };
                let value = tables.directory_entry_of(below).expect("a tree");
                local.put_qword(entry, value);
            }
        }
        unreachable!("levels are 1 to 4");
    }

    /// Maps one leaf that begins with `page`.
    pub fn map(
        &self,
        local: &mut Local,
        tables: &dyn PageTable,
        addr: u64,
        page: Page,
        leaf: Leaf,
    ) {
        let first = tables.leaf(page, leaf).expect("it is aligned");
        let (level, entries) = match leaf {
            Leaf::Page => (1, 1),
            Leaf::Run => (1, 16),
            Leaf::Table => (2, 1),
        };
        for n in 0..entries {
            let further = n * u64::from(PAGE_SIZE);
            let entry = self.place(local, tables, addr + further, level);
            local.put_qword(entry, first + further);
        }
    }

    /// Makes a page fault.
    pub fn unmap(&self, local: &mut Local, tables: &dyn PageTable, addr: u64) {
        let entry = self.place(local, tables, addr, 1);
        local.put_qword(entry, tables.invalid());
    }
}

fn table(local: &mut Local) -> u64 {
    local.take(PAGE_SIZE.into(), PAGE_SIZE.into())
}

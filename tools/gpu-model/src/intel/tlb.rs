// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Translation caches that keep stale entries until they are told not to.
//!
//! A real TLB is small and forgets; this one remembers, so that a driver that leaves out an
//! invalidation is found at once (SNB PRM V1P2 §4.6, §5.7.2.1: invalid entries are cached too).

use std::collections::HashMap;

/// The page table that translates a graphics address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// The GGTT.
    Ggtt,
    /// The PPGTT.
    Ppgtt,
}

/// How a client tags its entries (§2.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Command streamer and the other streams whose TLB is tagged by address alone: the same
    /// address must mean the same page in both spaces.
    Stream,
    /// Blitter and other data clients, tagged by space and address.
    Data,
}

/// A cached translation: the raw entry, valid or not, and the space it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cached {
    /// The page-table entry as it was read.
    pub pte: u32,
    /// Where it came from.
    pub space: AddressSpace,
    /// A program's batch asked for it, by an address of its own choice; not a ring, nor what is read ahead.
    pub program: bool,
}

/// The translation caches of one engine.
#[derive(Default)]
pub struct Tlb {
    stream: HashMap<u32, Cached>,
    data: HashMap<(AddressSpace, u32), Cached>,
}

/// Above this many entries a cache is emptied: no program of interest comes near.
const CAPACITY: usize = 1 << 18;

impl Tlb {
    /// The cached translation of a page (address / 4096), if there is one.
    pub fn get(&self, client: Client, space: AddressSpace, page: u32) -> Option<Cached> {
        match client {
            Client::Stream => self.stream.get(&page).copied(),
            Client::Data => self.data.get(&(space, page)).copied(),
        }
    }

    /// Pages that the streams have cached, in order, with the space of each.
    pub fn stream_pages(&self) -> Vec<(AddressSpace, u32)> {
        let mut pages: Vec<_> = self.stream.iter().map(|(p, c)| (c.space, *p)).collect();
        pages.sort_unstable_by_key(|(space, page)| (*space == AddressSpace::Ppgtt, *page));
        pages
    }

    /// Caches a translation, an invalid one as well.
    pub fn fill(&mut self, client: Client, page: u32, entry: Cached) {
        match client {
            Client::Stream => {
                if self.stream.len() >= CAPACITY {
                    self.stream.clear();
                }
                self.stream.insert(page, entry);
            }
            Client::Data => {
                if self.data.len() >= CAPACITY {
                    self.data.clear();
                }
                self.data.insert((entry.space, page), entry);
            }
        }
    }

    /// Forgets everything.
    pub fn flush(&mut self) {
        self.stream.clear();
        self.data.clear();
    }

    /// Forgets what was read from one space.
    pub fn flush_space(&mut self, space: AddressSpace) {
        self.stream.retain(|_, e| e.space != space);
        self.data.retain(|_, e| e.space != space);
    }

    /// Number of cached translations.
    pub fn len(&self) -> usize {
        self.stream.len() + self.data.len()
    }

    /// True if nothing is cached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_tagged_by_address_alone() {
        let mut t = Tlb::default();
        let entry = Cached {
            pte: 0x1001,
            space: AddressSpace::Ggtt,
            program: false,
        };
        t.fill(Client::Stream, 5, entry);
        let hit = t
            .get(Client::Stream, AddressSpace::Ppgtt, 5)
            .expect("hits over spaces");
        assert_eq!((hit.pte, hit.space), (0x1001, AddressSpace::Ggtt));
        t.fill(Client::Data, 5, entry);
        assert!(t.get(Client::Data, AddressSpace::Ppgtt, 5).is_none());
        t.flush_space(AddressSpace::Ppgtt);
        assert_eq!(t.len(), 2);
        t.flush_space(AddressSpace::Ggtt);
        assert!(t.is_empty());
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A list of what commands of batches wrote: the measure of a checker of batches.
//!
//! It has what a batch names: registers, entries of the global table, memory by its space. What an engine writes
//! for its own progress (HEAD, IPEHR, a message in NOPID) is not in it.

use crate::intel::tlb::AddressSpace;
use crate::memory::lock;
use std::sync::{Arc, Mutex};

/// A write of a batch's command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// A register.
    Register {
        /// Its byte offset.
        offset: u32,
        /// What was written; of a masked register with the mask.
        value: u32,
    },
    /// An entry of the global table, by its number.
    Entry(u32),
    /// Memory, whether there is some or not.
    Memory {
        /// The table that translated the address.
        space: AddressSpace,
        /// The first byte's.
        address: u32,
        /// How many bytes.
        bytes: u32,
    },
}

/// The list. Neighbours in memory that continue each other are one.
#[derive(Debug, Default)]
struct List {
    keep: usize,
    list: Vec<Wrote>,
    lost: u64,
}

/// The list of writes. Each writer has it; it is kept only on request.
#[derive(Clone, Debug, Default)]
pub struct WriteLog(Option<Arc<Mutex<List>>>);

impl WriteLog {
    /// A list of at most `keep` writes; none for 0.
    pub fn new(keep: usize) -> Self {
        let list = List {
            keep,
            ..List::default()
        };
        Self((keep != 0).then(|| Arc::new(Mutex::new(list))))
    }

    /// Adds a write, if the list is kept.
    pub fn push(&self, wrote: Wrote) {
        let Some(list) = &self.0 else {
            return;
        };
        let mut list = lock(list);
        if let (
            Some(Wrote::Memory {
                space,
                address,
                bytes,
            }),
            Wrote::Memory {
                space: now,
                address: at,
                bytes: more,
            },
        ) = (list.list.last_mut(), wrote)
        {
            if *space == now && address.wrapping_add(*bytes) == at {
                *bytes = bytes.saturating_add(more);
                return;
            }
        }
        if list.list.len() < list.keep {
            list.list.push(wrote);
        } else {
            list.lost += 1;
        }
    }

    /// The writes since the last call, in order, and the number of those that did not fit.
    pub fn take(&self) -> (Vec<Wrote>, u64) {
        match &self.0 {
            Some(list) => {
                let mut list = lock(list);
                (
                    std::mem::take(&mut list.list),
                    std::mem::take(&mut list.lost),
                )
            }
            None => (Vec::new(), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn memory(space: AddressSpace, address: u32, bytes: u32) -> Wrote {
        Wrote::Memory {
            space,
            address,
            bytes,
        }
    }

    #[test]
    fn neighbours_are_one_and_what_does_not_fit_is_counted() {
        let log = WriteLog::new(3);
        log.push(memory(AddressSpace::Ppgtt, 0x1000, 8));
        log.push(memory(AddressSpace::Ppgtt, 0x1008, 4));
        // Another space is no neighbour.
        log.push(memory(AddressSpace::Ggtt, 0x100c, 4));
        log.push(Wrote::Entry(3));
        log.push(Wrote::Entry(4));
        let writes = [
            memory(AddressSpace::Ppgtt, 0x1000, 12),
            memory(AddressSpace::Ggtt, 0x100c, 4),
            Wrote::Entry(3),
        ];
        assert_eq!(log.take(), (writes.to_vec(), 1));
        assert_eq!(log.take(), (Vec::new(), 0));
        let none = WriteLog::default();
        none.push(Wrote::Entry(3));
        assert_eq!(none.take(), (Vec::new(), 0));
    }
}

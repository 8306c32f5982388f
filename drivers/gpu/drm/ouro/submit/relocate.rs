// SPDX-License-Identifier: GPL-2.0

//! Relocations: the kernel writes BO addresses into other BOs before a batch reads them.

use kernel::prelude::*;
use ouro_core::relocation;
use ouro_kernel::{
    resv::{HasResv, LockedSet, Usage},
    task,
};

use super::exec::{wait_for, Entry, Exec, Stop};
use crate::gem::{access, Object};

/// A relocation: where a BO's address is written.
#[derive(Clone, Copy)]
pub(crate) struct Relocation {
    /// Index of the target BO in [`Exec::objects`].
    pub(crate) target: u32,
    /// The value to add to the address.
    pub(crate) delta: u32,
    /// Byte offset of the dword in the BO that has the relocation, a multiple of four and inside of
    /// the BO; bit 0 is [`Self::was_written`].
    place: u64,
    /// The address that is there already, as user space presumes. Updated when another one is
    /// written.
    pub(crate) presumed: u64,
}

/// Most relocations of a call: a power of two whose list fits into the largest allocation, which is
/// less than 2 GiB.
pub(crate) const MAX_RELOCATIONS: usize = 1 << 26;
const _: () = assert!(MAX_RELOCATIONS * size_of::<Relocation>() < 1 << 31);
/// Relocations that are written between two checks whether the caller has been killed.
const STEP: usize = 1 << 16;

impl Relocation {
    /// [`Self::place`]: another address was written.
    const WRITTEN: u64 = 1;

    /// Returns a relocation of the dword at `offset`, which is aligned.
    #[inline]
    pub(crate) const fn new(target: u32, delta: u32, offset: u64, presumed: u64) -> Self {
        Self {
            target,
            delta,
            place: offset & !Self::WRITTEN,
            presumed,
        }
    }

    /// Returns whether another address was written: user space must get it, or its presumption is
    /// wrong.
    #[inline]
    pub(crate) const fn was_written(&self) -> bool {
        self.place & Self::WRITTEN != 0
    }

    #[inline]
    const fn offset(&self) -> u64 {
        self.place & !Self::WRITTEN
    }
}

/// The relocations of a BO.
struct Addresses<'a> {
    objects: &'a [Entry],
    list: &'a mut [Relocation],
}

impl Addresses<'_> {
    /// Returns the address of a relocation's target.
    #[inline]
    fn target(objects: &[Entry], r: &Relocation) -> Option<u64> {
        objects.get(r.target as usize).map(|e| e.address.0)
    }
}

impl access::Writer for Addresses<'_> {
    fn write(self, dwords: &mut impl access::Dword) -> Result {
        for some in self.list.chunks_mut(STEP) {
            if task::is_killed() {
                return Err(EINTR);
            }
            for r in some {
                let target = Self::target(self.objects, r).ok_or(EINVAL)?;
                if target == r.presumed {
                    continue;
                }
                dwords.write(r.offset(), relocation::value(target, r.delta))?;
                r.presumed = target;
                r.place |= Relocation::WRITTEN;
            }
        }
        Ok(())
    }
}

impl Exec {
    /// Writes the addresses that differ from the presumed ones.
    pub(super) fn relocate(&mut self, locked: &LockedSet<Object>) -> Result<(), Stop> {
        if self.trust_presumed && self.objects.iter().all(|e| e.address.0 == e.presumed) {
            return Ok(());
        }
        // At the next attempt, it has addresses that this one wrote.
        self.trust_presumed = false;
        for i in 0..self.objects.len() {
            let own = |e: &mut Entry| core::mem::take(&mut e.relocations);
            let mut list = self.objects.get_mut(i).map(own).unwrap_or_default();
            if list.is_empty() {
                continue;
            }
            let done = self.write(i, &mut list, locked);
            // User space gets the addresses that were written, also if another one failed.
            if let Some(entry) = self.objects.get_mut(i) {
                entry.relocations = list;
            }
            done?;
        }
        Ok(())
    }

    /// Writes the addresses of `list`, the relocations of BO `i`, that differ from the presumed
    /// ones.
    fn write(
        &self,
        i: usize,
        list: &mut [Relocation],
        locked: &LockedSet<Object>,
    ) -> Result<(), Stop> {
        let entry = self.objects.get(i).ok_or(EINVAL)?;
        let differs = |r: &Relocation| Addresses::target(&self.objects, r) != Some(r.presumed);
        let Some(first) = list.iter().position(differs) else {
            return Ok(());
        };
        // Do not change a BO that the GPU may be reading.
        if !entry.object.resv().test_signaled(Usage::Read) {
            return Err(wait_for(&entry.object));
        }
        let addresses = Addresses {
            objects: &self.objects,
            list: list.get_mut(first..).ok_or(EINVAL)?,
        };
        access::poke(&entry.object, &self.resv(locked, i)?, addresses)?;
        Ok(())
    }
}

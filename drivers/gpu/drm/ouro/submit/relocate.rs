// SPDX-License-Identifier: GPL-2.0

//! Relocations: addresses of objects that the kernel writes into others, before a batch reads them.

use kernel::prelude::*;
use ouro_core::relocation;
use ouro_kernel::resv::{HasResv, LockedSet, Usage};

use super::exec::{wait_for, Exec, Stop};
use crate::gem::{access, Object};

/// A relocation: where an object's address goes.
#[derive(Clone, Copy)]
pub(crate) struct Relocation {
    /// The object: its place in [`Exec::objects`].
    pub(crate) target: usize,
    /// What is added to the address.
    pub(crate) delta: u32,
    /// Where in the object that has the relocation.
    pub(crate) offset: u64,
    /// The address that is there already, as user space believes. Updated when another one is
    /// written.
    pub(crate) presumed: u64,
    /// Whether another one was written: user space must be told, or it will believe in the old one.
    pub(crate) written: bool,
}

impl Exec {
    /// Writes the addresses that are not what user space believes.
    pub(super) fn relocate(&mut self, locked: &LockedSet<Object>) -> Result<(), Stop> {
        if self.trust_presumed && self.objects.iter().all(|e| e.address.0 == e.presumed) {
            return Ok(());
        }
        let bytes = u64::from(self.address_bits.div_ceil(32)) * 4;
        for i in 0..self.objects.len() {
            let mut idle = false;
            let count = self.objects.get(i).map_or(0, |e| e.relocations.len());
            for j in 0..count {
                let entry = self.objects.get(i).ok_or(EINVAL)?;
                let r = *entry.relocations.get(j).ok_or(EINVAL)?;
                let target = self.objects.get(r.target).ok_or(EINVAL)?.address;
                relocation::place(r.offset, bytes, entry.object.bytes()).map_err(|_| EINVAL)?;
                if target.0 == r.presumed {
                    continue;
                }
                // What the GPU may be reading is not changed under it.
                if !idle && !entry.object.resv().test_signaled(Usage::Read) {
                    return Err(wait_for(&entry.object));
                }
                idle = true;
                let value = relocation::value(target.0, r.delta, self.address_bits);
                let value = value.to_le_bytes();
                let value = value.get(..bytes as usize).ok_or(EINVAL)?;
                access::poke(&entry.object, &self.resv(locked, i)?, r.offset, value)?;
                if let Some(r) = self
                    .objects
                    .get_mut(i)
                    .and_then(|e| e.relocations.get_mut(j))
                {
                    r.presumed = target.0;
                    r.written = true;
                }
            }
        }
        Ok(())
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Command streams that are checked before they run, on chips that do not confine their clients.
//!
//! User space's dwords were copied once. The checker writes a second copy, with the BOs' addresses,
//! and that one runs. It is written when the BOs are bound, and they stay bound until it has run:
//! moving a BO waits for its fences.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, device::Device, prelude::*, sync::Arc};
use ouro_hw::{
    checker::{self, Plan, Resolve},
    fence_regs::Tiling,
    Checker,
};
use ouro_kernel::{drm::print, lazy::LazyVec};

use super::{
    exec::Entry,
    pool::{Pool, PoolShare, Shadow},
};

/// The BO that a relocation names.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    /// Index of the BO in [`Exec::objects`](super::exec::Exec::objects).
    pub(crate) object: usize,
    /// Its tiling.
    pub(crate) tiling: Option<Tiling>,
}

/// A command stream of user space, and its relocations.
#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) dwords: LazyVec<u32>,
    pub(crate) names: LazyVec<Name>,
    /// Whether the stream itself says how BOs are tiled.
    pub(crate) knows_tiling: bool,
    /// Room for the copy that the checker writes.
    copy: LazyVec<u32>,
}

/// Answers the checker's questions about BOs.
struct Named<'a> {
    names: &'a [Name],
    knows_tiling: bool,
    objects: &'a [Entry],
}

impl Resolve for Named<'_> {
    fn object(&self, n: u32) -> Option<checker::Object> {
        let name = self.names.get(n as usize)?;
        let entry = self.objects.get(name.object)?;
        Some(checker::Object {
            addr: entry.address,
            bytes: entry.object.bytes(),
            tiling: name.tiling,
        })
    }

    fn stream_knows_tiling(&self) -> bool {
        self.knows_tiling
    }
}

impl Stream {
    /// Most dwords of a stream.
    pub(crate) const MAX_DWORDS: usize = Pool::MAX_DWORDS;

    /// Makes room for the copy. Errors: `EINVAL` if the stream is empty or too long, `ENOMEM`.
    pub(crate) fn begin(&mut self) -> Result {
        let len = self.dwords.len();
        if len == 0 || len > Self::MAX_DWORDS {
            return Err(EINVAL);
        }
        if self.copy.len() < len {
            self.copy.resize(len, 0, GFP_KERNEL_ACCOUNT)?;
        }
        Ok(())
    }

    /// Forgets the stream, and keeps its memory for the next one, unless it is more than for `most`
    /// BOs and 64 times as many dwords.
    pub(super) fn end(&mut self, most: usize) {
        self.dwords.clear();
        self.names.clear();
        let dwords = self.dwords.capacity().max(self.copy.capacity());
        if dwords > 64 * most || self.names.capacity() > most {
            *self = Self::default();
        }
    }

    /// Checks the stream, with the BOs bound; `held_up` is as in [`Pool::keep`]. Returns the copy
    /// to run and its size in bytes. The rule that refuses it, and the dword, are logged
    /// (`drm.debug=2`).
    ///
    /// Errors: `EINVAL` if it is refused, `ENOSPC` while the pool is full, `ENOMEM`.
    pub(super) fn check(
        &mut self,
        dev: &Device,
        checker: &dyn Checker,
        pool: &Arc<Pool>,
        share: &Arc<PoolShare>,
        held_up: bool,
        objects: &[Entry],
    ) -> Result<(Shadow, u32)> {
        let named = Named {
            names: &self.names,
            knows_tiling: self.knows_tiling,
            objects,
        };
        // The chip does not confine clients, so user space's own dwords never run.
        let len = self.dwords.len();
        let copy = self.copy.get_mut(..len).ok_or(EINVAL)?;
        let verdict = checker.check(&self.dwords, &named, copy);
        let copy = match verdict.plan(false) {
            Plan::Patched(len) => self.copy.get(..len),
            Plan::Unchanged(len) => self.dwords.get(..len),
            Plan::Object => None,
            Plan::Refuse { at, rule } => {
                let dword = self.dwords.get(at).copied().unwrap_or(0);
                print::debug(
                    dev,
                    fmt!("command stream refused at dword {at} ({dword:#010x}): {rule}\n"),
                );
                return Err(EINVAL);
            }
        };
        let copy = copy.ok_or(EINVAL)?;
        Ok((pool.keep(copy, share, held_up)?, size_of_val(copy) as u32))
    }
}

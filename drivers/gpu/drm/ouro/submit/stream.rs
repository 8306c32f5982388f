// SPDX-License-Identifier: GPL-2.0

//! Command streams that are checked before they run, on chips that do not confine their clients.
//!
//! User space's dwords were copied once. Another copy of them, in the pool, gets the checker's
//! patches, the BOs' addresses, and that one runs. It is written when the BOs are bound, and they
//! stay bound until it has run: moving a BO waits for its fences.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, device::Device, prelude::*, sync::Arc};
use ouro_hw::{
    checker::{self, Patch, Plan, Resolve},
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
    /// Room for the checker's patches.
    patches: LazyVec<Patch>,
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

    /// Makes room for the patches. Errors: `EINVAL` if the stream is empty or too long, `ENOMEM`.
    pub(crate) fn begin(&mut self) -> Result {
        let len = self.dwords.len();
        if len == 0 || len > Self::MAX_DWORDS {
            return Err(EINVAL);
        }
        let most = Patch::most(len);
        if self.patches.len() < most {
            self.patches
                .resize(most, Patch::default(), GFP_KERNEL_ACCOUNT)?;
        }
        Ok(())
    }

    /// Forgets the stream, and keeps its memory for the next one, unless it is more than for `most`
    /// BOs and 64 times as many dwords.
    pub(super) fn end(&mut self, most: usize) {
        self.dwords.clear();
        self.names.clear();
        let patches = Patch::most(64 * most);
        let is_large = self.dwords.capacity() > 64 * most || self.patches.capacity() > patches;
        if is_large || self.names.capacity() > most {
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
        let list = self.patches.get_mut(..Patch::most(self.dwords.len()));
        let list = list.ok_or(EINVAL)?;
        // The chip does not confine clients, so user space's own dwords never run.
        let verdict = checker.check(&self.dwords, &named, list);
        let (dwords, patches) = match verdict.plan(false) {
            Plan::Copy { dwords, patches } => (self.dwords.get(..dwords), list.get(..patches)),
            Plan::Object => (None, None),
            Plan::Refuse { at, rule } => {
                let dword = self.dwords.get(at).copied().unwrap_or(0);
                print::debug(
                    dev,
                    fmt!("command stream refused at dword {at} ({dword:#010x}): {rule}\n"),
                );
                return Err(EINVAL);
            }
        };
        let dwords = dwords.ok_or(EINVAL)?;
        let shadow = pool.keep(dwords, patches.ok_or(EINVAL)?, share, held_up)?;
        Ok((shadow, size_of_val(dwords) as u32))
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Batches that are checked before they run, on chips that do not confine their clients.
//!
//! User space's dwords were copied once. What runs is another copy, which the checker writes, with the
//! addresses of the objects in it. It is made when the objects have their places, and these stay until
//! it has run: whatever moves an object waits for its fences.

use kernel::{device::Device, prelude::*, sync::Arc};
use ouro_hw::{
    checker::{self, Plan, Resolve},
    fence_regs::Tiling,
    Checker,
};
use ouro_kernel::drm::print;

use super::{
    exec::Entry,
    pool::{Pool, Shadow},
};

/// What a relocation names.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    /// The object: its place in [`Exec::objects`](super::exec::Exec::objects).
    pub(crate) object: usize,
    /// How it is tiled.
    pub(crate) tiling: Option<Tiling>,
}

/// A batch of user space, and what its relocations name.
pub(crate) struct Stream {
    dwords: KVVec<u32>,
    names: KVVec<Name>,
    /// Whether the dwords say themselves how objects are tiled.
    knows_tiling: bool,
    /// What the checker has written.
    copy: KVVec<u32>,
}

/// The objects, as the checker asks for them.
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
    /// Dwords of the longest one.
    pub(crate) const MAX_DWORDS: usize = Pool::MAX_DWORDS;

    /// Errors: `EINVAL` for one that is empty or too long, `ENOMEM`.
    pub(crate) fn new(dwords: KVVec<u32>, names: KVVec<Name>, knows_tiling: bool) -> Result<Self> {
        if dwords.is_empty() || dwords.len() > Self::MAX_DWORDS {
            return Err(EINVAL);
        }
        let copy = KVVec::from_elem(0, dwords.len(), GFP_KERNEL)?;
        Ok(Self {
            dwords,
            names,
            knows_tiling,
            copy,
        })
    }

    /// Checks it. The objects have their addresses. Returns what may run, and its bytes. The log says which rule
    /// refused it, at which dword (`drm.debug=2`).
    ///
    /// Errors: `EINVAL` if it is refused, `ENOSPC` if there is no room for the copy yet, `ENOMEM`.
    pub(super) fn check(
        &mut self,
        dev: &Device,
        checker: &dyn Checker,
        pool: &Arc<Pool>,
        objects: &[Entry],
    ) -> Result<(Shadow, u32)> {
        let named = Named {
            names: &self.names,
            knows_tiling: self.knows_tiling,
            objects,
        };
        // Where user space is not confined, its own dwords never run.
        let verdict = checker.check(&self.dwords, &named, &mut self.copy);
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
        Ok((pool.keep(copy)?, size_of_val(copy) as u32))
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Detiling of the device's own memory, where the CPU sees that through a window and no table is between.
//!
//! There are no views here: an object lies in the window in one piece, and user space's entries lead there. So
//! an object that is tiled gets a fence for all of it when it is touched; if all are taken, the one that was
//! touched longest ago loses its own, and its entries, so that its next touch is a fault. An object without
//! one is not mapped. It loses its fence before it moves, ends, or its tiles change.
//!
//! The lock is below an object's own. Entries of user space are put in and taken out under it.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{Arc, Mutex},
};
use ouro_hw::fence_regs::FenceRegion;
use ouro_kernel::gem::{FaultError, Weak};

use super::{
    super::{Bo, Object},
    fences::Fences,
};
use crate::hardware::Hardware;

/// Who has a fence.
struct Holder {
    /// The object's place in memory: it has no fence left when it is freed.
    id: usize,
    object: Weak<Bo>,
    /// When it was touched last.
    touched: u64,
}

/// What the lock protects.
struct Inner {
    holders: KVec<Option<Holder>>,
    /// Touches so far.
    now: u64,
}

/// The fences over the device's own memory.
#[pin_data]
pub(crate) struct Surfaces {
    #[pin]
    fences: Fences,
    #[pin]
    inner: Mutex<Inner>,
}

fn id(object: &Bo) -> usize {
    core::ptr::from_ref(object).addr()
}

impl Surfaces {
    /// All of them empty, in the device, too. Errors: `ENOMEM`.
    pub(crate) fn new(hardware: Arc<Hardware>) -> Result<Arc<Self>> {
        let count = hardware.topology().fences.map_or(0, |f| f.count());
        let mut holders = KVec::with_capacity(count.into(), GFP_KERNEL)?;
        for _ in 0..count {
            holders.push(None, GFP_KERNEL)?;
        }
        let this = Arc::pin_init(
            try_pin_init!(Self {
                fences <- Fences::new(hardware)?,
                inner <- new_mutex!(Inner { holders, now: 0 }, "ouro_surfaces"),
            }? Error),
            GFP_KERNEL,
        )?;
        this.fences.restore();
        Ok(this)
    }

    /// What the fences hold.
    pub(crate) fn fences(&self) -> &Fences {
        &self.fences
    }

    /// Gives an object a fence, if it has none, and maps what was touched by `insert`. The caller holds the
    /// object's lock. Where no fence can tell its tiles, it is seen as it is.
    pub(crate) fn show(
        &self,
        object: &Object,
        region: FenceRegion,
        insert: impl FnOnce() -> Result<(), FaultError>,
    ) -> Result<(), FaultError> {
        let mut inner = self.inner.lock();
        inner.now = inner.now.wrapping_add(1);
        let now = inner.now;
        let mut holders = inner.holders.iter_mut().flatten();
        if let Some(holder) = holders.find(|h| h.id == id(object)) {
            holder.touched = now;
            return insert();
        }
        // A free one is before any.
        let touched = |holder: &Option<Holder>| holder.as_ref().map(|h| h.touched);
        let holders = inner.holders.iter_mut().enumerate();
        let Some((n, holder)) = holders.min_by_key(|(_, holder)| touched(holder)) else {
            return insert();
        };
        if let Some(loser) = holder.take().and_then(|h| h.object.upgrade()) {
            loser.unmap_user();
        }
        if self.fences.set(n as u8, Some(region)).is_ok() {
            *holder = Some(Holder {
                id: id(object),
                object: object.downgrade(),
                touched: now,
            });
        }
        insert()
    }

    /// An object moves, ends, or is tiled in another way. No entry of user space leads to it; the caller holds
    /// its lock, or it has no references.
    pub(crate) fn release(&self, object: &Bo) {
        let mut inner = self.inner.lock();
        let mut holders = inner.holders.iter_mut().enumerate();
        let found = holders.find(|(_, holder)| holder.as_ref().is_some_and(|h| h.id == id(object)));
        if let Some((n, holder)) = found {
            *holder = None;
            // An empty fence can always be.
            let _ = self.fences.set(n as u8, None);
        }
    }
}

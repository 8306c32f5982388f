// SPDX-License-Identifier: GPL-2.0

//! Detiling of VRAM that the CPU sees through a BAR, without a table between.
//!
//! There are no views here: a BO is contiguous in the BAR, and user mappings point there. A tiled
//! BO gets a fence for all of it when it is touched; if all fences are in use, the least recently
//! touched BO loses its fence and its mappings, so that its next touch is a fault. A tiled BO
//! without a fence is not mapped. It loses its fence before it moves, is freed, or its tiling
//! changes.
//!
//! The lock is below a BO's own. User mappings are changed under it.

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

/// The BO that has a fence.
struct Holder {
    /// Address of the BO, which has no fence any more when it is freed.
    id: usize,
    object: Weak<Bo>,
    /// When it was last touched.
    touched: u64,
}

/// The state under the lock.
struct Inner {
    holders: KVec<Option<Holder>>,
    /// Number of touches so far.
    now: u64,
}

/// The fences over VRAM.
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
    /// Creates the state with all fences empty, in the device, too. Errors: `ENOMEM`.
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

    /// Returns the fences.
    pub(crate) fn fences(&self) -> &Fences {
        &self.fences
    }

    /// Gives a BO a fence, if it has none, and calls `insert` to map the touched pages. The caller
    /// holds the BO's lock. If no fence can describe the tiling, the BO is mapped as it is.
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
        // A free fence is preferred.
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

    /// An object moves, ends, or is tiled in another way. No entry of user space leads to it; the
    /// caller holds its lock, or it has no references.
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

// SPDX-License-Identifier: GPL-2.0

//! Userptr BOs: memory of a process.
//!
//! The pages are pinned for a batch, without locks held ([`pin`]), become the BO's backing when the
//! batch is bound, and are checked once more at publication ([`Pinned::is_valid`]): if the process
//! has changed its address space meanwhile, the batch starts over. Later changes wait until the GPU
//! is done ([`Watch`]); the next batch pins the new pages.
//!
//! Pinned pages count towards the process's `RLIMIT_MEMLOCK`.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    prelude::*,
    sync::{aref::ARef, Arc, SetOnce},
};
use ouro_kernel::{
    gem::Weak,
    resv::{HasResv, Usage},
    task, time,
    userptr::{Held, Invalidate, Sequence, UserRange},
    wait::{Interruptible, FOREVER},
};

use super::{bo, contents, region::Placements, Backing, Bo, Object};
use crate::device::Device;

/// Milliseconds that the process waits before the requests it waits for are pressed to end.
const PATIENCE_MS: u32 = 500;

/// Waits for the GPU when the process changes its address space (MMU notifier).
pub(crate) struct Watch {
    object: SetOnce<Weak<Bo>>,
}

impl Invalidate for Watch {
    fn invalidate(&self, may_wait: bool) -> bool {
        // Locks of the memory management are held: no reservation may be taken, and nothing freed
        // here. A BO without references is not used by the GPU.
        let Some(object) = self.object.as_ref().and_then(|object| object.upgrade()) else {
            return true;
        };
        let idle = || object.resv().test_signaled(Usage::Bookkeep);
        // Every fence is signalled: by the GPU, a reset, or the unbind. An endless batch must be
        // ended, because the process may be exiting, and with it the file that the batch came from:
        // pressed requests have a limit even while hangcheck is off. Only a fence of another driver
        // may take longer.
        let mut jiffies = time::ms(PATIENCE_MS);
        while !idle() {
            if !may_wait {
                return false;
            }
            let _ = object
                .resv()
                .wait(Usage::Bookkeep, Interruptible::No, jiffies);
            let runner = object.gpu().runner();
            object
                .resv()
                .each(Usage::Bookkeep, |fence| runner.press(fence));
            jiffies = FOREVER;
        }
        true
    }
}

/// The range of user memory of a BO.
pub(crate) type Range = UserRange<Watch>;

/// Creates a BO of the calling process's memory.
///
/// Errors: `EINVAL`, `E2BIG` or `EFAULT` for an invalid range, `ENOMEM`.
pub(crate) fn create(dev: &Device, address: u64, size: u64) -> Result<ARef<Object>> {
    let gpu = dev.gpu().bo_device();
    gpu.usable()?;
    let watch = Arc::new(
        Watch {
            object: SetOnce::new(),
        },
        GFP_KERNEL_ACCOUNT,
    )?;
    let range = Range::new(
        address,
        usize::try_from(size)?,
        gpu.notifier_lock().clone(),
        watch.clone(),
    )?;
    let args = bo::Args {
        gpu: gpu.clone(),
        placements: Placements::system(),
        align: 1,
        user: Some(range),
        fresh: None,
    };
    let object = Object::new(dev, size as usize, args)?;
    watch.object.populate(object.downgrade());
    Ok(object)
}

/// Pinned pages of a process.
pub(crate) struct Pinned {
    backing: Arc<Backing>,
    sequence: Sequence,
    new: bool,
}

impl Pinned {
    /// Returns whether the BO has never had these pages.
    pub(super) fn is_new(&self) -> bool {
        self.new
    }

    /// Returns whether these are still the process's pages. If so, they remain so while `held`
    /// lives.
    pub(crate) fn is_valid(&self, object: &Object, held: &Held<'_>) -> bool {
        object
            .user()
            .is_some_and(|range| range.is_valid(self.sequence, held))
    }

    pub(super) fn backing(&self) -> &Arc<Backing> {
        &self.backing
    }

    pub(super) fn sequence(&self) -> Sequence {
        self.sequence
    }
}

/// Pins a userptr BO's current pages; `None` for other BOs. Faults pages in, and waits for the GPU;
/// the caller holds no locks.
///
/// Errors: `EFAULT` if the memory is not mapped, not writable, or another process's; `ENOMEM`, also
/// beyond the process's limit; `ERESTARTSYS`, `ENODEV`.
pub(crate) fn pin(object: &Object) -> Result<Option<Pinned>> {
    let Some(range) = object.user() else {
        return Ok(None);
    };
    if !range.is_mine() {
        return Err(EFAULT);
    }
    loop {
        object.gpu().usable()?;
        let sequence = range.begin();
        if let Some(backing) = contents::user_backing(object, sequence) {
            return Ok(Some(Pinned {
                backing,
                sequence,
                new: false,
            }));
        }
        if range.len() > task::total_pages() {
            return Err(ENOMEM);
        }
        match range.pin(true, true) {
            Ok(pages) => {
                let backing = Backing::user(object.gpu().dma_device(), pages)?;
                return Ok(Some(Pinned {
                    backing,
                    sequence,
                    new: true,
                }));
            }
            Err(e) if e == EAGAIN || e == EINTR => {
                if kernel::current!().signal_pending() {
                    return Err(ERESTARTSYS);
                }
            }
            Err(e) => return Err(e),
        }
    }
}

/// Checks that the pages are present now. Errors: as [`pin`].
pub(crate) fn check(object: &Object) -> Result {
    pin(object).map(|_| ())
}

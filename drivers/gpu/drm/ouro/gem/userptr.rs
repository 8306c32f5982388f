// SPDX-License-Identifier: GPL-2.0

//! Objects that are memory of a process.
//!
//! Their pages are pinned for a batch, with no lock held ([`pin`]), become the object's backing when
//! the batch is placed, and are looked at once more when it is published ([`Pinned::is_valid`]): if
//! the process has changed what is at these addresses meanwhile, the batch begins again. What the
//! process changes later waits until the GPU is done ([`Watch`]); the next batch pins what is there
//! then.
//!
//! What is pinned counts for the process's `RLIMIT_MEMLOCK`.

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

/// For how long the process waits before what it waits for is pressed to end.
const PATIENCE_MS: u32 = 500;

/// Waits for the GPU when the process changes its memory.
pub(crate) struct Watch {
    object: SetOnce<Weak<Bo>>,
}

impl Invalidate for Watch {
    fn invalidate(&self, may_wait: bool) -> bool {
        // Locks of the memory management are held: no reservation is taken, and nothing is freed
        // here. An object without references is not used by the GPU.
        let Some(object) = self.object.as_ref().and_then(|object| object.upgrade()) else {
            return true;
        };
        let idle = || object.resv().test_signaled(Usage::Bookkeep);
        // Every fence is signalled: by the GPU, a reset, or the unbind. A batch that could go on for ever may
        // not: the process may be about to end, and with it the file that the batch came from.
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

/// The memory that an object is.
pub(crate) type Range = UserRange<Watch>;

/// Makes an object of memory of the calling process.
///
/// Errors: `EINVAL`, `E2BIG`, `EFAULT` for a range that cannot be, `ENOMEM`.
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

/// Pages of a process, as they were at some time.
pub(crate) struct Pinned {
    backing: Arc<Backing>,
    sequence: Sequence,
    new: bool,
}

impl Pinned {
    /// Whether the object has never had them.
    pub(super) fn is_new(&self) -> bool {
        self.new
    }

    /// Whether they still are what the process has at its addresses. They stay so while `held` lives.
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

/// Pins the memory of an object as it is now; `None` if the object is none of a process. Faults, and
/// waits for the GPU; nothing is locked.
///
/// Errors: `EFAULT` if it is not there, may not be written or is of another process; `ENOMEM`, also
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

/// Makes sure that the pages are there now. Errors: as for [`pin`].
pub(crate) fn check(object: &Object) -> Result {
    pin(object).map(|_| ())
}

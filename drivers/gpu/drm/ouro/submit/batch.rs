// SPDX-License-Identifier: GPL-2.0

//! The batch that a request runs, once the BOs have addresses: where it is, and its privilege.
//!
//! On an engine with a checker, a batch that runs with privilege is a copy in the pool, which user
//! space cannot reach. Its dwords are read from user memory once, before the check, and never after
//! it.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    prelude::*,
    sync::{aref::ARef, Arc},
    transmute::AsBytes,
};
use ouro_hw::{
    checker::{Placed, Plan},
    engine::{Batch, Privilege},
    types::GpuAddr,
    Checker,
};
use ouro_kernel::{
    drm::print,
    fence::{self, Fence},
    lazy::LazyVec,
    resv::{HasResv, LockedSet, Usage},
    work,
};

use super::{
    exec::{wait_for_up_to, Exec, Source, Stop},
    pool::{Pool, Shadow},
    request::{Captured, Evidence, Tracker},
};
use crate::gem::{access, contents, Object};

/// A batch that can run.
pub(super) struct Ready {
    /// Its address and privilege.
    pub(super) batch: Batch,
    /// The copy in the pool, if it runs from one.
    pub(super) shadow: Option<Shadow>,
    /// Whether it passed the checker; `None` if a batch in a BO was not checked.
    pub(super) passed: Option<bool>,
}

impl Ready {
    /// Returns the batch of a copy that passed the checker.
    fn copy(shadow: Shadow, len: u32, passed: Option<bool>) -> Self {
        Self {
            batch: Batch {
                addr: shadow.addr(),
                len,
                privilege: Privilege::Kernel,
            },
            shadow: Some(shadow),
            passed,
        }
    }
}

/// A full pool is waited for: requests in flight will free their copies. `len` is the batch's
/// length in dwords.
fn or_wait(e: Error, len: usize, held_up: Option<&ARef<Fence>>) -> Stop {
    match e == ENOSPC {
        true => Stop::Pool {
            pages: Pool::pages_of(len),
            held_up: held_up.cloned(),
        },
        false => Stop::Failed(e),
    }
}

/// Returns whether a fence is signalled within a bounded time: an engine has its request. Others,
/// and requests that wait for them, take as long as user space likes.
pub(super) fn is_bounded(fence: &Fence) -> bool {
    let mut is_bounded = true;
    fence.each(|part| {
        let emitted = fence::with_timeline::<Tracker, _>(part, |t, _| t.seqno().is_some());
        is_bounded &= emitted == Some(true) || part.is_signaled();
    });
    is_bounded
}

impl Evidence {
    /// Drops it where the caller may hold locks: these may be the last references to memory whose
    /// drop takes a reservation.
    pub(super) fn end(mut self, worker: &work::Queue) {
        let end = |captured: Captured| {
            if let Some(backing) = Arc::into_unique_or_drop(captured.backing) {
                Arc::from(backing).end(worker);
            }
        };
        self.batch.take().into_iter().for_each(end);
        while let Some(captured) = self.user.pop() {
            end(captured);
        }
    }
}

impl Exec {
    /// Prepares the batch, with the BOs locked and bound and relocations written. `held_up`: a
    /// fence that the request waits for, and that is not [bounded](is_bounded).
    ///
    /// Errors: `EINVAL` if the checker refuses it, `ENOMEM`. Returns [`Stop::Wait`] if the batch is
    /// being written, and [`Stop::Pool`] if the pool has no room for a copy.
    pub(super) fn ready(
        &mut self,
        locked: &LockedSet<Object>,
        held_up: Option<&ARef<Fence>>,
    ) -> Result<Ready, Stop> {
        let checker = self.target.engine().hw().checker();
        match &mut self.source {
            Source::Object {
                check: true,
                secure: false,
                ..
            } => {
                if let Some(checker) = checker {
                    return self.checked(checker, locked, held_up);
                }
            }
            Source::Object { .. } => {}
            Source::Stream(stream) => {
                let dev = self.gpu.hardware().dev();
                let (checker, pool) = checker.zip(self.gpu.pool()).ok_or(EINVAL)?;
                let share = self.context.holder().ok_or(EINVAL)?.pool_share();
                let is_held_up = held_up.is_some();
                let done = stream.check(dev, checker, pool, share, is_held_up, &self.objects);
                let (shadow, len) = done.map_err(|e| or_wait(e, stream.dwords.len(), held_up))?;
                return Ok(Ready::copy(shadow, len, None));
            }
        }
        self.original(None)
    }

    /// Returns the batch in its BO; without privilege, unless it was submitted as secure.
    fn original(&self, passed: Option<bool>) -> Result<Ready, Stop> {
        let Source::Object {
            index,
            start,
            len,
            secure,
            ..
        } = self.source
        else {
            return Err(EINVAL.into());
        };
        let object = self.objects.get(index).ok_or(EINVAL)?;
        Ok(Ready {
            batch: Batch {
                addr: GpuAddr(object.address.0.wrapping_add(start)),
                len,
                privilege: match secure {
                    true => Privilege::Kernel,
                    false => Privilege::User,
                },
            },
            shadow: None,
            passed,
        })
    }

    /// Copies the batch from its BO, up to the pool's limit, and runs the checker on the copy. The
    /// rule that refuses it, and the dword, are logged (`drm.debug=2`).
    fn checked(
        &self,
        checker: &dyn Checker,
        locked: &LockedSet<Object>,
        held_up: Option<&ARef<Fence>>,
    ) -> Result<Ready, Stop> {
        let Source::Object {
            index, start, len, ..
        } = self.source
        else {
            return Err(EINVAL.into());
        };
        let pool = self.gpu.pool().ok_or(EINVAL)?;
        let share = self.context.holder().ok_or(EINVAL)?.pool_share();
        let object = &self.objects.get(index).ok_or(EINVAL)?.object;
        // Another batch may be writing this one.
        if !object.resv().test_signaled(Usage::Write) {
            return Err(wait_for_up_to(object, Usage::Write));
        }
        let all = (len / 4) as usize;
        let dwords = all.min(Pool::MAX_BATCH_DWORDS);
        let goes_on = dwords < all;
        let resv = self.resv(locked, index)?;
        let ready = pool.with_scratch(dwords, |scratch| {
            access::peek(object, &resv, start, AsBytes::as_bytes_mut(scratch))?;
            let verdict = checker.check(scratch, &Placed { goes_on }, &mut []);
            if let Some((at, rule)) = verdict.reason() {
                let dword = scratch.get(at).copied().unwrap_or(0);
                print::debug(
                    self.gpu.hardware().dev(),
                    fmt!("batch checker: refused at dword {at} ({dword:#010x}): {rule}\n"),
                );
            }
            match verdict.plan(self.gpu.hardware().topology().confines()) {
                Plan::Copy { dwords, patches: 0 } => {
                    let copy = scratch.get(..dwords).ok_or(EINVAL)?;
                    let shadow = pool.keep(copy, &[], share, held_up.is_some())?;
                    Ok(Some((shadow, size_of_val(copy) as u32)))
                }
                Plan::Object => Ok(None),
                // There is no room for patches here.
                Plan::Refuse { .. } | Plan::Copy { .. } => Err(EINVAL),
            }
        });
        match ready.map_err(|e| or_wait(e, dwords, held_up))? {
            Some((shadow, len)) => Ok(Ready::copy(shadow, len, Some(true))),
            None => self.original(Some(false)),
        }
    }

    /// Returns what the error state needs of the BOs if the batch hangs. Errors: `ENOMEM`.
    pub(super) fn evidence(&self, shadow: Option<&Shadow>) -> Result<Evidence> {
        let captured = |entry: &super::exec::Entry| -> Result<Captured> {
            let backing = contents::present(&entry.object).ok_or(EINVAL)?;
            Ok(Captured {
                address: entry.address,
                pages: 0..backing.len(),
                backing,
                stale: entry.object.may_be_stale(),
            })
        };
        let batch = match (&self.source, shadow) {
            (_, Some(shadow)) => Some(Captured {
                address: shadow.addr(),
                pages: shadow.pages(),
                backing: shadow.backing().clone(),
                stale: false,
            }),
            (Source::Object { index, .. }, None) => {
                Some(captured(self.objects.get(*index).ok_or(EINVAL)?)?)
            }
            (Source::Stream(_), None) => None,
        };
        let mut evidence = Evidence {
            batch,
            user: LazyVec::new(),
        };
        if !self.kinds.captured {
            return Ok(evidence);
        }
        for entry in self.objects.iter().filter(|e| e.capture) {
            evidence.user.push(captured(entry)?, GFP_KERNEL_ACCOUNT)?;
        }
        Ok(evidence)
    }
}

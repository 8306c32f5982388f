// SPDX-License-Identifier: GPL-2.0

//! The batch of a request, when the objects have their addresses: what runs, from where, and with what privilege.
//!
//! Where the engine has a checker, what runs with privilege is a copy in the pool, which no process reaches. The
//! dwords are read from user memory once, before the check, and never after it.

use kernel::{prelude::*, transmute::AsBytes};
use ouro_hw::{
    checker::{Placed, Plan},
    engine::{Batch, Privilege},
    types::GpuAddr,
    Checker,
};
use ouro_kernel::{
    drm::print,
    lazy::LazyVec,
    resv::{HasResv, LockedSet, Usage},
};

use super::{
    exec::{wait_for_up_to, Exec, Source, Stop},
    pool::{Pool, Shadow},
    request::{Captured, Evidence},
};
use crate::gem::{access, contents, Object};

/// A batch that can run.
pub(super) struct Ready {
    /// Where it is, and what it may do.
    pub(super) batch: Batch,
    /// The copy that it is, if it is one.
    pub(super) shadow: Option<Shadow>,
    /// Whether it passed, if the checker of objects was asked.
    pub(super) passed: Option<bool>,
}

impl Ready {
    /// A copy that passed a checker.
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

/// A pool without room: what is under way gives it back.
fn or_wait(e: Error) -> Stop {
    match e == ENOSPC {
        true => Stop::Wait(None),
        false => Stop::Failed(e),
    }
}

impl Exec {
    /// Makes the batch ready, the objects being locked and placed, and relocations written.
    ///
    /// Errors: `EINVAL` if a checker refuses it, `ENOMEM`. It stops to wait for those who write the batch, and for
    /// room for a copy.
    pub(super) fn ready(&mut self, locked: &LockedSet<Object>) -> Result<Ready, Stop> {
        let checker = self.target.engine().hw().checker();
        match &mut self.source {
            Source::Object {
                check: true,
                secure: false,
                ..
            } => {
                if let Some(checker) = checker {
                    return self.checked(checker, locked);
                }
            }
            Source::Object { .. } => {}
            Source::Stream(stream) => {
                let dev = self.gpu.hardware().dev();
                let (checker, pool) = checker.zip(self.gpu.pool()).ok_or(EINVAL)?;
                let done = stream.check(dev, checker, pool, &self.objects);
                let (shadow, len) = done.map_err(or_wait)?;
                return Ok(Ready::copy(shadow, len, None));
            }
        }
        self.original(None)
    }

    /// The batch as user space wrote it, without privilege unless it was sent with some.
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

    /// Copies the batch from its object, up to what the pool takes, and asks the checker about the copy. The log
    /// says which rule decided, at which dword (`drm.debug=2`).
    fn checked(&self, checker: &dyn Checker, locked: &LockedSet<Object>) -> Result<Ready, Stop> {
        let Source::Object {
            index, start, len, ..
        } = self.source
        else {
            return Err(EINVAL.into());
        };
        let pool = self.gpu.pool().ok_or(EINVAL)?;
        let object = &self.objects.get(index).ok_or(EINVAL)?.object;
        // Another batch may write this one.
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
                    fmt!("batch does not pass at dword {at} ({dword:#010x}): {rule}\n"),
                );
            }
            match verdict.plan(self.gpu.hardware().topology().confines()) {
                Plan::Unchanged(len) => {
                    let copy = scratch.get(..len).ok_or(EINVAL)?;
                    Ok(Some((pool.keep(copy)?, size_of_val(copy) as u32)))
                }
                Plan::Object => Ok(None),
                // There is no room for a patched one.
                Plan::Refuse { .. } | Plan::Patched(_) => Err(EINVAL),
            }
        });
        match ready.map_err(or_wait)? {
            Some((shadow, len)) => Ok(Ready::copy(shadow, len, Some(true))),
            None => self.original(Some(false)),
        }
    }

    /// What is kept of the objects, should the batch hang. Errors: `ENOMEM`.
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
        for entry in self.objects.iter().filter(|e| e.capture) {
            evidence.user.push(captured(entry)?, GFP_KERNEL)?;
        }
        Ok(evidence)
    }
}

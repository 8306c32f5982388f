// SPDX-License-Identifier: GPL-2.0

//! The CPU's access to an object's bytes by copying, for user space and for relocations.
//!
//! A buffer of another device is seen through the kernel mapping that its exporter makes.

use kernel::prelude::*;
use ouro_kernel::{gem::Access, resv::Locked, task, uaccess};

use super::{bytes, caches, contents, Object};

/// Checks that `len` bytes from `offset` lie in the object.
pub(crate) fn range(object: &Object, offset: u64, len: u64) -> Result {
    match offset.checked_add(len) {
        Some(end) if end <= object.bytes() => Ok(()),
        _ => Err(EINVAL),
    }
}

/// Bytes that are copied between two looks whether the caller has been killed.
const STEP: u64 = 64 << 10;

/// Copies `len` bytes in steps: `copy` gets where in the object a step begins, where in user space, and
/// its bytes. User memory may be as slow as it likes: an aperture, or whatever a `userfaultfd` stands
/// for.
///
/// Errors: `EINTR` if the caller has been killed; those of `copy`.
fn in_steps(
    offset: u64,
    len: u64,
    user: u64,
    mut copy: impl FnMut(usize, u64, usize) -> Result,
) -> Result {
    let mut done = 0;
    while done < len {
        if task::is_killed() {
            return Err(EINTR);
        }
        let step = STEP.min(len - done);
        let to = user.checked_add(done).ok_or(EFAULT)?;
        copy((offset + done) as usize, to, step as usize)?;
        done += step;
    }
    Ok(())
}

/// Copies from the object to user space. No lock is held meanwhile.
///
/// Errors: `EINVAL` outside of the object, or for memory of a process, which has it at hand; `EFAULT`
/// for bad memory; `EINTR` if the caller has been killed.
pub(crate) fn read(object: &Object, offset: u64, len: u64, to: u64) -> Result {
    range(object, offset, len)?;
    if object.user().is_some() {
        return Err(EINVAL);
    }
    if let Some(buffer) = object.attachment() {
        let map = buffer.vmap()?;
        buffer.buf().begin_cpu_access(false)?;
        let done = in_steps(offset, len, to, |at, to, len| {
            bytes::view_to_user(map.view(), at, to, len)
        });
        let ended = buffer.buf().end_cpu_access(false);
        return done.and(ended);
    }
    let backing = contents::backing(object)?;
    in_steps(offset, len, to, |at, to, len| {
        caches::read(object, &backing, at as u64..at as u64 + len as u64)?;
        backing.copy_to_user(at, to, len)
    })
}

/// Copies from user space to the object. As [`read`]; `ENOMEM` before anything was written.
pub(crate) fn write(object: &Object, offset: u64, len: u64, from: u64) -> Result {
    range(object, offset, len)?;
    if object.user().is_some() {
        return Err(EINVAL);
    }
    if let Some(buffer) = object.attachment() {
        let map = buffer.vmap()?;
        buffer.buf().begin_cpu_access(true)?;
        let done = in_steps(offset, len, from, |at, from, len| {
            bytes::view_from_user(map.view(), at, from, len)
        });
        let ended = buffer.buf().end_cpu_access(true);
        return done.and(ended);
    }
    // It may move, or be given to the GPU, while user memory is waited for. So a step is fetched first,
    // and then written where the object is by then.
    let mut few = [0; 256];
    let mut many = KVVec::new();
    let buffer = if len <= few.len() as u64 {
        &mut few[..]
    } else {
        many.resize(STEP.min(len) as usize, 0, GFP_KERNEL)?;
        &mut many[..]
    };
    in_steps(offset, len, from, |at, from, len| {
        let bytes = buffer.get_mut(..len).ok_or(EINVAL)?;
        uaccess::read_into(from, bytes)?;
        put(object, at, bytes)
    })
}

/// Writes bytes where the object is now. Errors: as for [`contents::settled`].
fn put(object: &Object, offset: usize, bytes: &[u8]) -> Result {
    // Under the lock, or what is written would be lost if the object moved meanwhile.
    let (state, backing) = contents::settled(object)?;
    caches::write(object, &state, &backing, offset, bytes)
}

/// Reads bytes of an object that nobody writes but the CPU. `locked` is its reservation.
///
/// Errors: `EINVAL` outside of the object; as for [`contents::backing`].
pub(crate) fn peek(object: &Object, locked: &Locked<'_>, offset: u64, bytes: &mut [u8]) -> Result {
    range(object, offset, bytes.len() as u64)?;
    if let Some(buffer) = object.attachment() {
        return buffer.with_view(locked, |view| view.read(offset as usize, bytes));
    }
    let backing = contents::backing(object)?;
    caches::read(object, &backing, offset..offset + bytes.len() as u64)?;
    backing.read(offset as usize, bytes)
}

/// Lets `f` write bytes of the kernel's own into an object that is idle: it gets a function that writes some at an
/// offset. `locked` is the object's reservation. The object stays where it is meanwhile.
///
/// Errors: `EINVAL` outside of the object; as for [`contents::settled`]; those of `f`.
pub(crate) fn poke(
    object: &Object,
    locked: &Locked<'_>,
    f: impl FnOnce(&mut dyn FnMut(u64, &[u8]) -> Result) -> Result,
) -> Result {
    if let Some(buffer) = object.attachment() {
        return buffer.with_view(locked, |view| {
            f(&mut |offset, bytes| {
                range(object, offset, bytes.len() as u64)?;
                view.write(offset as usize, bytes)
            })
        });
    }
    let (state, backing) = contents::settled(object)?;
    f(&mut |offset, bytes| {
        range(object, offset, bytes.len() as u64)?;
        caches::write(object, &state, &backing, offset as usize, bytes)
    })
}

/// Somebody looks into a mapping of the object, as a debugger does. It is shown as it is in memory:
/// tiles are not undone.
///
/// Errors: `EINVAL` outside of the object; as for [`contents::backing`].
pub(super) fn look(object: &Object, offset: usize, access: Access<'_>) -> Result {
    let len = match &access {
        Access::Read(bytes) => bytes.len(),
        Access::Write(bytes) => bytes.len(),
    };
    range(object, offset as u64, len as u64)?;
    match access {
        Access::Read(bytes) => {
            let backing = contents::backing(object)?;
            caches::read(
                object,
                &backing,
                offset as u64..(offset + bytes.len()) as u64,
            )?;
            backing.read(offset, bytes)
        }
        Access::Write(bytes) => put(object, offset, bytes),
    }
}

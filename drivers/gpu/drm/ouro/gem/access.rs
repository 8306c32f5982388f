// SPDX-License-Identifier: GPL-2.0

//! CPU access to a BO by copying, for user space and for relocations.
//!
//! An imported dma-buf is accessed through the kernel mapping of its exporter.

use kernel::prelude::*;
use ouro_kernel::{
    gem::Access,
    pages::{Shmem, Words},
    resv::Locked,
    task, uaccess,
};

use super::{
    backing::Memory,
    bytes,
    caches::{self, Dwords},
    contents, Object,
};

/// Checks that `len` bytes from `offset` lie in the BO. Errors: `EINVAL`.
pub(crate) fn range(object: &Object, offset: u64, len: u64) -> Result {
    match offset.checked_add(len) {
        Some(end) if end <= object.bytes() => Ok(()),
        _ => Err(EINVAL),
    }
}

/// Bytes copied between checks whether the caller has been killed.
const STEP: u64 = 64 << 10;

/// Copies `len` bytes in steps: calls `copy` with a step's offset in the BO, its user address and
/// its length. User memory may be arbitrarily slow: an aperture, or a `userfaultfd`.
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

/// Returns whether a copy of `len` bytes, to or from a BO without backing, uses the shmem file with
/// its contents: if the CPU accesses only a part of a BO, the rest takes no memory until a batch
/// uses it. A copy of most of the BO allocates its backing at once, since a copy page by page costs
/// more.
fn is_part(object: &Object, len: u64) -> bool {
    len <= object.bytes() / 2
}

/// Copies from the BO to user space, without holding a lock meanwhile.
///
/// Errors: `EINVAL` outside of the BO, or for a userptr, which the process can access itself;
/// `EFAULT` for a bad address; `EINTR` if the caller has been killed.
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
    let file = match is_part(object, len) {
        true => contents::file(object)?,
        false => None,
    };
    if let Some(file) = file {
        match in_steps(offset, len, to, |at, to, len| {
            file.copy_to_user(at, to, len)
        }) {
            // There may be some when others have left.
            Err(e) if e == ENOMEM => {}
            done => return done,
        }
    }
    let backing = contents::backing(object)?;
    in_steps(offset, len, to, |at, to, len| {
        caches::read(object, &backing, at as u64..at as u64 + len as u64)?;
        backing.copy_to_user(at, to, len)
    })
}

/// Copies from user space to the BO. Errors: as [`read`]; `ENOMEM`. A part may have been written.
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
    let part = is_part(object, len);
    let mut few = [0; 256];
    let mut many = KVVec::new();
    in_steps(offset, len, from, |at, from, len| {
        // The object may move, or be given to the GPU, while user memory is waited for. So it is
        // waited for with nothing locked: where it is not there, a step is fetched first, and then
        // written where the object is by then.
        match put_present(object, part, at, from, len) {
            Err(e) if e == EFAULT => {}
            done => return done,
        }
        // No step is larger than the first one.
        if len > few.len() && many.len() < len {
            many.resize(len, 0, GFP_KERNEL)?;
        }
        let buffer = match len > few.len() {
            true => &mut many[..],
            false => &mut few[..],
        };
        let bytes = buffer.get_mut(..len).ok_or(EINVAL)?;
        uaccess::read_into(from, bytes)?;
        put(object, part, at, bytes)
    })
}

/// Writes bytes of user space to the BO's current memory, if they are present. Errors: `EFAULT` if
/// they are not, with a part written; as [`put`].
fn put_present(object: &Object, part: bool, offset: usize, from: u64, len: usize) -> Result {
    let copy = |file: &Shmem| file.copy_from_user_present(offset, from, len);
    if part && contents::write_file(object, copy)? {
        return Ok(());
    }
    let (state, backing) = contents::lock_populated(object)?;
    caches::write_present(object, &state, &backing, offset, from, len)
}

/// Writes bytes to the BO's current memory: `part` is [`is_part`] of the whole copy. Errors: as
/// [`contents::lock_populated`].
fn put(object: &Object, part: bool, offset: usize, bytes: &[u8]) -> Result {
    let write = |file: &Shmem| file.write(offset, bytes);
    if part && contents::write_file(object, write)? {
        return Ok(());
    }
    // Under the lock: a move meanwhile would lose the bytes.
    let (state, backing) = contents::lock_populated(object)?;
    caches::write(object, &state, &backing, offset, bytes)
}

/// Reads bytes of a BO that only the CPU writes. `locked` is its reservation.
///
/// Errors: `EINVAL` outside of the BO; as [`contents::backing`].
pub(crate) fn peek(object: &Object, locked: &Locked<'_>, offset: u64, bytes: &mut [u8]) -> Result {
    range(object, offset, bytes.len() as u64)?;
    if let Some(buffer) = object.attachment() {
        return buffer.with_view(locked, |view| view.read(offset as usize, bytes));
    }
    let backing = contents::backing_in(object, locked)?;
    caches::read(object, &backing, offset..offset + bytes.len() as u64)?;
    backing.read(offset as usize, bytes)
}

/// A way to write dwords into an idle BO ([`poke`]).
pub(crate) trait Dword {
    /// Writes a dword at a byte offset. Errors: `EINVAL` if that is not a multiple of 4, or outside
    /// of the BO.
    fn write(&mut self, offset: u64, value: u32) -> Result;
}

/// A loop that writes dwords; generic over [`Dword`], so that each kind of memory gets its own
/// compiled copy.
pub(crate) trait Writer {
    /// Writes them. Errors: those of [`Dword::write`]; its own.
    fn write(self, dwords: &mut impl Dword) -> Result;
}

/// By pages that the GPU snoops.
impl Dword for Words<'_> {
    #[inline]
    fn write(&mut self, offset: u64, value: u32) -> Result {
        self.write32(offset as usize, value)
    }
}

/// By pages that it does not snoop.
impl Dword for Dwords<'_> {
    #[inline]
    fn write(&mut self, offset: u64, value: u32) -> Result {
        Dwords::write(self, offset, value)
    }
}

/// By other means: a dword is written as bytes at an offset.
struct Bytes<F>(F);

impl<F: FnMut(usize, &[u8]) -> Result> Dword for Bytes<F> {
    #[inline(never)]
    fn write(&mut self, offset: u64, value: u32) -> Result {
        (self.0)(offset as usize, &value.to_le_bytes())
    }
}

/// Lets `writer` write dwords into an idle BO, for relocations. `locked` is the BO's reservation.
/// The BO does not move meanwhile.
///
/// Errors: as [`contents::lock_populated`]; those of `writer`.
pub(crate) fn poke(object: &Object, locked: &Locked<'_>, writer: impl Writer) -> Result {
    if let Some(buffer) = object.attachment() {
        // By its exporter's mapping.
        return buffer.with_view(locked, |view| {
            writer.write(&mut Bytes(|at, bytes: &[u8]| {
                range(object, at as u64, bytes.len() as u64)?;
                view.write(at, bytes)
            }))
        });
    }
    let (state, backing) = contents::lock_populated_in(object, Some(locked))?;
    // Pages behind the BO's are not its contents, but the file's.
    let whole = backing.state_pages() == 0;
    match backing.memory() {
        Memory::Pages(map) if whole => {
            let mut words = map.pages().words();
            if !caches::is_unsnooped(&state) {
                return writer.write(&mut words);
            }
            let mut dwords = Dwords::new(object, &state, &backing, words);
            let done = writer.write(&mut dwords);
            done.and(dwords.end())
        }
        // By its memory, with flushes if the GPU does not snoop it.
        _ => writer.write(&mut Bytes(|at, bytes: &[u8]| {
            range(object, at as u64, bytes.len() as u64)?;
            caches::write(object, &state, &backing, at, bytes)
        })),
    }
}

/// Accesses a mapping of the BO on behalf of another process, such as a debugger. Tiled contents
/// are accessed as they are in memory.
///
/// Errors: `EINVAL` outside of the BO; as [`contents::backing`].
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
        Access::Write(bytes) => put(object, false, offset, bytes),
    }
}

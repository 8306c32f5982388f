// SPDX-License-Identifier: GPL-2.0

//! User memory: arrays whose size user space gives, and single values.
//!
//! Must not be called under a reservation or any lock that a page fault may take.

use core::{mem::MaybeUninit, ptr};
use kernel::{
    alloc::flags::{__GFP_NOWARN, GFP_KERNEL_ACCOUNT},
    error::to_result,
    prelude::*,
    uaccess::{UserPtr, UserSlice},
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::task;

/// Reads `n` values from an address of user space. `n` is not trusted.
///
/// Errors: `EFAULT` if they are not mapped, `ENOMEM`, `EINVAL` for too many.
pub fn read_array<T: FromBytes>(address: u64, n: usize) -> Result<KVVec<T>> {
    let mut out = KVVec::new();
    read_over(address, n, &mut out)?;
    Ok(out)
}

/// Does what [`read_array()`] does, into the memory of `out`, whose contents are lost, as far as
/// that has room. More is charged to the caller's memory cgroup, since `out` may be kept.
pub fn read_over<T: FromBytes>(address: u64, n: usize, out: &mut KVVec<T>) -> Result {
    out.clear();
    let bytes = n.checked_mul(size_of::<T>()).ok_or(EINVAL)?;
    // Check before allocating a size that user space gives.
    check(address, bytes)?;
    out.reserve(n, GFP_KERNEL_ACCOUNT | __GFP_NOWARN)?;
    let mut reader = UserSlice::new(UserPtr::from_addr(address as usize), bytes).reader();
    // The capacity as bytes: either all are written, or none counts.
    let room = out.spare_capacity_mut();
    // SAFETY: The room is for at least `n` values, that is `bytes` bytes, of any contents.
    let room = unsafe { core::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), bytes) };
    reader.read_raw(room)?;
    // SAFETY: `n` values were written, and any bytes are a value.
    unsafe { out.inc_len(n) };
    Ok(())
}

/// Reads `n` values from an address of user space, at most `N`, and returns them.
///
/// Errors: `EFAULT` if they are not mapped, `EINVAL` for too many.
pub fn read_few<T: FromBytes, const N: usize>(
    address: u64,
    n: usize,
    few: &mut MaybeUninit<[T; N]>,
) -> Result<&[T]> {
    if n > N {
        return Err(EINVAL);
    }
    let bytes = n * size_of::<T>();
    let from = ptr::without_provenance(address as usize);
    let room = few.as_mut_ptr().cast::<T>();
    // SAFETY: There is room for `N` values, of any contents; the other address is checked.
    if unsafe { kernel::bindings::copy_from_user(room.cast(), from, bytes) } != 0 {
        return Err(EFAULT);
    }
    // SAFETY: `n` values were written, and any bytes are a value.
    Ok(unsafe { core::slice::from_raw_parts(room, n) })
}

/// Values that [`read_map()`] reads at once.
const STEP: usize = 32;
/// Values of a long list of [`read_map()`].
const LONG: usize = 1 << 12;

/// Reads `n` values from an address of user space, and returns what `f` makes of each. `n` is not
/// trusted.
///
/// Errors: as [`read_array()`]; `EINTR` if the caller has been killed; those of `f`.
pub fn read_map<T: FromBytes, U: Copy>(
    address: u64,
    n: usize,
    flags: kernel::alloc::Flags,
    mut f: impl FnMut(&T) -> Result<U>,
) -> Result<KVVec<U>> {
    // Check before allocating a size that user space gives.
    let bytes = n.checked_mul(size_of::<T>()).ok_or(EINVAL)?;
    check(address, bytes)?;
    // A long list without beginning or end is not worth an allocation of its length.
    if n > LONG {
        read::<T>(address)?;
        read::<T>(address + (bytes - size_of::<T>()) as u64)?;
    }
    let mut out: KVVec<U> = KVVec::with_capacity(n, flags | __GFP_NOWARN)?;
    let mut step = MaybeUninit::<[T; STEP]>::uninit();
    let mut at = address;
    while out.len() < n {
        let count = STEP.min(n - out.len());
        let some = read_few(at, count, &mut step)?;
        if task::is_killed() {
            return Err(EINTR);
        }
        for (value, room) in some.iter().zip(out.spare_capacity_mut()) {
            room.write(f(value)?);
        }
        // SAFETY: There is room for `n`, so each of the `count` values was written.
        unsafe { out.inc_len(count) };
        at = at.wrapping_add(size_of_val(some) as u64);
    }
    Ok(out)
}

/// Reads one value from an address of user space.
///
/// Errors: `EFAULT`.
pub fn read<T: FromBytes>(address: u64) -> Result<T> {
    let mut out = MaybeUninit::<T>::uninit();
    let mut reader = UserSlice::new(UserPtr::from_addr(address as usize), size_of::<T>()).reader();
    // SAFETY: The bytes of the value, of any contents.
    let room = unsafe { core::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), size_of::<T>()) };
    reader.read_raw(room)?;
    // SAFETY: All of it was written, and any bytes are a value.
    Ok(unsafe { out.assume_init() })
}

/// Reads bytes from an address of user space.
///
/// Errors: `EFAULT`.
pub fn read_into(address: u64, out: &mut [u8]) -> Result {
    UserSlice::new(UserPtr::from_addr(address as usize), out.len())
        .reader()
        .read_slice(out)
}

/// Writes one value to an address of user space.
///
/// Errors: `EFAULT`.
pub fn write<T: IntoBytes + Immutable + ?Sized>(address: u64, value: &T) -> Result {
    let bytes = value.as_bytes();
    UserSlice::new(UserPtr::from_addr(address as usize), bytes.len())
        .writer()
        .write_slice(bytes)
}

/// Most values that [`write_fields`] writes at once: the caller is not preempted meanwhile on some
/// kernels.
const FIELDS: usize = 1024;

/// Writes a field of each of `values` to an array of user space, whose elements are `stride` bytes
/// apart; the first field is at `address`.
///
/// Errors: `EFAULT`; some may have been written. `EINVAL`, with nothing written of this part, if
/// `field` does not return the same field of each value, or the stride is too large.
pub fn write_fields<T>(
    mut address: u64,
    stride: usize,
    values: &[T],
    field: fn(&T) -> &u64,
) -> Result {
    for some in values.chunks(FIELDS) {
        let span = stride.checked_mul(some.len()).ok_or(EINVAL)?;
        let at = |value: &T| ptr::from_ref(field(value)).addr();
        let own = |value: &T| ptr::from_ref(value).addr();
        // `field` may return any field, or one of anything else.
        let offset = some.first().map_or(0, |v| at(v).wrapping_sub(own(v)));
        let inside = offset.saturating_add(size_of::<u64>()) <= size_of::<T>();
        let same = |value: &T| at(value).wrapping_sub(own(value)) == offset;
        if !inside || !some.iter().all(same) {
            return Err(EINVAL);
        }
        // SAFETY: The field of each value is at `offset`, inside of the value, as was checked. The
        // function checks the addresses of user space.
        let failed = unsafe {
            crate::raw::ouro_put_fields(
                address as usize,
                stride,
                some.as_ptr().byte_add(offset).cast(),
                size_of::<T>(),
                some.len(),
            )
        };
        to_result(failed)?;
        address = address.wrapping_add(span as u64);
    }
    Ok(())
}

/// Checks whether an address range can be one of user space, mapped or not.
///
/// Errors: `EFAULT`.
pub fn check(address: u64, bytes: usize) -> Result {
    // SAFETY: Only numbers are compared.
    if unsafe { crate::raw::ouro_access_ok(address as usize, bytes) } == 0 {
        return Err(EFAULT);
    }
    Ok(())
}

// SPDX-License-Identifier: GPL-2.0
//! The two things that need `unsafe`: an ioctl on a DRM file, and a mapping.

use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::slice;

use rustix::io::{Errno, Result};
use rustix::ioctl::{opcode, Ioctl, IoctlOutput, Opcode};
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};

/// Type letter of DRM's ioctls.
const DRM: u8 = b'd';

/// An ioctl whose argument goes in and comes back.
struct DrmIoctl<'a, T> {
    number: u8,
    argument: &'a mut T,
}

// SAFETY: the opcode carries the size of `T`, so that the kernel reads and writes no more than the
// argument, which stays borrowed for the time of the call.
unsafe impl<T> Ioctl for DrmIoctl<'_, T> {
    type Output = ();
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::from_components(
            rustix::ioctl::Direction::ReadWrite,
            DRM,
            self.number,
            size_of::<T>(),
        )
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.argument).cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> Result<()> {
        Ok(())
    }
}

/// Calls a DRM ioctl, again when a signal came between.
///
/// `T` must be the structure that the uAPI names for `number`; the pointers that it holds must
/// lead to memory of the length that it says, alive until the call returns.
pub fn ioctl<T>(fd: BorrowedFd<'_>, number: u32, argument: &mut T) -> Result<()> {
    loop {
        let call = DrmIoctl {
            number: number as u8,
            argument: &mut *argument,
        };
        // SAFETY: see the contract above, which the callers in this module's parent keep.
        match unsafe { rustix::ioctl::ioctl(fd, call) } {
            Err(Errno::INTR | Errno::AGAIN) => {}
            done => return done,
        }
    }
}

/// A shared mapping of a buffer object.
pub struct Mapping {
    start: *mut u8,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes at the offset that the driver gave for a buffer.
    pub fn new(fd: BorrowedFd<'_>, offset: u64, length: usize) -> Result<Mapping> {
        // SAFETY: a new mapping at a place that the kernel chooses; nothing else is touched.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                fd,
                offset,
            )?
        };
        Ok(Mapping {
            start: start.cast(),
            length,
        })
    }

    /// Copies bytes in.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.length);
        // SAFETY: inside the mapping by the line above; `bytes` is not part of it, as no reference into it leaves this type.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), bytes.len()) }
    }

    /// Copies all bytes out.
    pub fn read(&self) -> Vec<u8> {
        // SAFETY: the mapping is `length` bytes long and lives; the GPU is idle, as the caller waited for it.
        unsafe { slice::from_raw_parts(self.start, self.length) }.to_vec()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and no reference into it is left.
        let _ = unsafe { munmap(self.start.cast(), self.length) };
    }
}

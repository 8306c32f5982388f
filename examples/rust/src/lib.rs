// SPDX-License-Identifier: GPL-2.0
//! What the examples share: a device, its ioctls, and buffer objects of the i915 interface.

use rustix::{
    fs::{open, Mode, OFlags},
    io::{Errno, Result},
    ioctl::{opcode, Direction, Ioctl, IoctlOutput, Opcode},
};
use std::{
    ffi::c_void,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

/// The structures and numbers of the kernel's headers, as bindgen translates them.
#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    clippy::all
)]
pub mod uapi {
    include!(concat!(env!("OUT_DIR"), "/uapi.rs"));
}

use uapi::*;

/// A structure that is the argument of one ioctl.
///
/// # Safety
/// The kernel's headers must name this structure for the ioctl `NUMBER`.
pub unsafe trait Argument {
    /// The number within DRM.
    const NUMBER: u32;
    /// What `_IOW` or `_IOWR` in the header says.
    const DIRECTION: Direction = Direction::ReadWrite;
}

/// Names the ioctl of a structure: `ioctl!(drm_version, 0x00)`, or `ioctl!(write drm_gem_close, 0x09)`.
macro_rules! ioctl {
    (write $type:ty, $number:expr) => {
        // SAFETY: the number and the direction are those that the header has for this structure.
        unsafe impl Argument for $type {
            const NUMBER: u32 = $number;
            const DIRECTION: Direction = Direction::Write;
        }
    };
    ($type:ty, $number:expr) => {
        // SAFETY: the number is the one that the header has for this structure.
        unsafe impl Argument for $type {
            const NUMBER: u32 = $number;
        }
    };
}

ioctl!(drm_version, 0x00);
ioctl!(drm_ouro_device, DRM_COMMAND_BASE + DRM_OURO_DEVICE);
ioctl!(drm_ouro_list, DRM_COMMAND_BASE + DRM_OURO_ENGINES);
ioctl!(drm_i915_getparam, DRM_COMMAND_BASE + DRM_I915_GETPARAM);
ioctl!(drm_i915_gem_create, DRM_COMMAND_BASE + DRM_I915_GEM_CREATE);
ioctl!(write drm_i915_gem_pread, DRM_COMMAND_BASE + DRM_I915_GEM_PREAD);
ioctl!(write drm_i915_gem_pwrite, DRM_COMMAND_BASE + DRM_I915_GEM_PWRITE);
// The number that also returns a fence.
ioctl!(
    drm_i915_gem_execbuffer2,
    DRM_COMMAND_BASE + DRM_I915_GEM_EXECBUFFER2_WR
);
ioctl!(drm_i915_gem_wait, DRM_COMMAND_BASE + DRM_I915_GEM_WAIT);
ioctl!(
    drm_i915_reset_stats,
    DRM_COMMAND_BASE + DRM_I915_GET_RESET_STATS
);

/// An ioctl on its way.
struct Call<'a, T>(&'a mut T);

// SAFETY: the opcode has the size of `T`, so the kernel stays within the argument, which is borrowed for the call.
unsafe impl<T: Argument> Ioctl for Call<'_, T> {
    type Output = ();
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::from_components(T::DIRECTION, b'd', T::NUMBER as u8, size_of::<T>())
    }
    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.0).cast()
    }
    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> Result<()> {
        Ok(())
    }
}

/// A render node.
pub struct Device(OwnedFd);

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Device {
    /// Opens a node.
    pub fn open(path: &str) -> Result<Self> {
        open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map(Self)
    }

    /// Calls an ioctl, again when a signal came between. Addresses in the argument must be those of memory that lives.
    pub fn call<T: Argument>(&self, argument: &mut T) -> Result<()> {
        loop {
            // SAFETY: `Argument` says that the kernel takes this structure for this number.
            match unsafe { rustix::ioctl::ioctl(&self.0, Call(argument)) } {
                Err(Errno::INTR | Errno::AGAIN) => {}
                done => return done,
            }
        }
    }

    /// Makes a buffer object of so many bytes, which are zero, and returns its handle.
    pub fn object(&self, size: usize) -> Result<u32> {
        let mut create = drm_i915_gem_create {
            size: size as u64,
            ..Default::default()
        };
        self.call(&mut create)?;
        Ok(create.handle)
    }

    /// Writes dwords to the beginning of a buffer object.
    pub fn write(&self, handle: u32, dwords: &[u32]) -> Result<()> {
        self.call(&mut drm_i915_gem_pwrite {
            handle,
            size: size_of_val(dwords) as u64,
            data_ptr: dwords.as_ptr() as u64,
            ..Default::default()
        })
    }

    /// Reads dwords from the beginning of a buffer object, when the GPU has written them.
    pub fn read(&self, handle: u32, dwords: &mut [u32]) -> Result<()> {
        self.call(&mut drm_i915_gem_pread {
            handle,
            size: size_of_val(dwords) as u64,
            data_ptr: dwords.as_mut_ptr() as u64,
            ..Default::default()
        })
    }
}

// SPDX-License-Identifier: GPL-2.0

//! The ioctl table.
//!
//! [`ioctls!`](crate::ioctls) takes numbers of any header, in any order and with gaps. The DRM core
//! returns `EINVAL` for a number that has no entry. A number that user space calls with structures
//! of several sizes is listed once, with the largest: the core fills the missing bytes with zeros,
//! and copies back only as many bytes as user space passed.

use core::marker::PhantomData;
use kernel::{bindings, prelude::*};

use super::{Device, Driver, File};

/// May be called on the render node.
pub const RENDER_ALLOW: u32 = bindings::drm_ioctl_flags_DRM_RENDER_ALLOW;

/// The ioctls of 32-bit programs. The core has those of its own ioctls; it passes a driver's on,
/// with as many bytes as the program has given. A handler whose argument has a pointer or `long` in
/// it must look at [`task::is_compat()`](crate::task::is_compat).
#[cfg(CONFIG_COMPAT)]
pub(crate) const COMPAT: Compat = Some(crate::raw::drm_compat_ioctl);
/// Without support of 32-bit programs.
#[cfg(not(CONFIG_COMPAT))]
pub(crate) const COMPAT: Compat = None;

type Compat = Option<unsafe extern "C" fn(*mut bindings::file, c_uint, c_ulong) -> c_long>;

/// One ioctl.
pub trait Handler<D: Driver> {
    /// The number, as in the header.
    const CMD: u32;

    /// The argument: a type of which all bit patterns are valid.
    type Arg: zerocopy::FromBytes;

    /// Handles the ioctl. `arg` is a copy, which is copied back to user space, even after an error.
    fn call(dev: &Device<D>, file: &File<D>, arg: &mut Self::Arg) -> Result;
}

/// An entry of an ioctl table.
#[repr(transparent)]
pub struct Entry<D: Driver>(bindings::drm_ioctl_desc, PhantomData<fn(&D)>);

// `derive` would require `D: Clone`.
impl<D: Driver> Copy for Entry<D> {}
impl<D: Driver> Clone for Entry<D> {
    fn clone(&self) -> Self {
        *self
    }
}

// SAFETY: Constant numbers and pointers to constants.
unsafe impl<D: Driver> Sync for Entry<D> {}

impl<D: Driver> Entry<D> {
    /// The entry of an unused number.
    pub const NONE: Self = Self(
        bindings::drm_ioctl_desc {
            cmd: 0,
            flags: 0,
            func: None,
            name: core::ptr::null(),
        },
        PhantomData,
    );

    /// Creates the entry of a handler.
    pub const fn new<H: Handler<D>>(flags: u32, name: &'static CStr) -> Self {
        const {
            assert!(
                kernel::ioctl::_IOC_SIZE(H::CMD) == size_of::<H::Arg>(),
                "the argument has not the size that the number says"
            )
        };
        const { assert!(align_of::<H::Arg>() <= 8, "the copy may be aligned to less") };
        const {
            assert!(
                kernel::ioctl::_IOC_TYPE(H::CMD) == kernel::uapi::DRM_IOCTL_BASE as u32,
                "not a number of a DRM ioctl"
            )
        };
        Self(
            bindings::drm_ioctl_desc {
                cmd: H::CMD,
                flags,
                func: Some(trampoline::<D, H>),
                name: kernel::str::as_char_ptr_in_const_context(name),
            },
            PhantomData,
        )
    }

    /// Returns the number; 0 for an unused one.
    pub const fn cmd(&self) -> u32 {
        self.0.cmd
    }

    /// Returns the index of a number in the table.
    pub const fn index(cmd: u32) -> usize {
        (kernel::ioctl::_IOC_NR(cmd) - kernel::uapi::DRM_COMMAND_BASE) as usize
    }
}

/// A table: the entry of number `DRM_COMMAND_BASE + i` is at `i`.
pub struct Table<D: Driver> {
    entries: &'static [Entry<D>],
}

impl<D: Driver> Table<D> {
    /// Creates a table. Used by [`ioctls!`](crate::ioctls).
    pub const fn new(entries: &'static [Entry<D>]) -> Self {
        Self { entries }
    }

    /// Returns the C table.
    pub(crate) const fn as_ptr(&self) -> *const bindings::drm_ioctl_desc {
        // CAST: `Entry` has no other field of a size.
        self.entries.as_ptr().cast()
    }

    /// Returns the number of entries.
    pub(crate) const fn len(&self) -> c_int {
        const { assert!(size_of::<Entry<D>>() == size_of::<bindings::drm_ioctl_desc>()) };
        self.entries.len() as c_int
    }
}

/// # Safety
///
/// Called by `drm_ioctl()` for an open file of a device of `D`, with a copy of the argument that
/// has at least the size that the number says.
unsafe extern "C" fn trampoline<D: Driver, H: Handler<D>>(
    dev: *mut bindings::drm_device,
    data: *mut c_void,
    file: *mut bindings::drm_file,
) -> c_int {
    // SAFETY: By the requirement of this function; the file keeps the device.
    let dev = unsafe { Device::<D>::from_raw(dev) };
    // SAFETY: As above.
    let file = unsafe { File::<D>::from_raw(file) };
    // SAFETY: `Entry::new()` has compared the sizes; all bit patterns are values; no other code has
    // the copy. It is from kmalloc, or on the stack as `char [128]`, which the ABI of x86-64 aligns
    // to 16; no argument wants more than 8.
    let arg = unsafe { &mut *data.cast::<H::Arg>() };
    match H::call(dev, file, arg) {
        Ok(()) => 0,
        Err(e) => e.to_errno(),
    }
}

/// Makes an ioctl table: `ioctls!(Driver; (NUMBER, Argument, flags, handler), ..)`.
///
/// A handler is `fn(&Device<Driver>, &File<Driver>, &mut Argument) -> Result`. The value is a
/// `&'static Table<Driver>`.
#[macro_export]
macro_rules! ioctls {
    ($driver:ty; $(($cmd:expr, $arg:ty, $flags:expr, $func:expr)),* $(,)?) => {{
        const LEN: usize = {
            let mut len = 0;
            $(
                let i = $crate::drm::ioctl::Entry::<$driver>::index($cmd) + 1;
                if i > len {
                    len = i;
                }
            )*
            len
        };
        const ENTRIES: &[$crate::drm::ioctl::Entry<$driver>; LEN] = &{
            let mut entries = [$crate::drm::ioctl::Entry::<$driver>::NONE; LEN];
            let mut used = [false; LEN];
            $({
                struct Call;
                impl $crate::drm::ioctl::Handler<$driver> for Call {
                    const CMD: u32 = $cmd;
                    type Arg = $arg;

                    #[inline]
                    fn call(
                        dev: &$crate::drm::Device<$driver>,
                        file: &$crate::drm::File<$driver>,
                        arg: &mut $arg,
                    ) -> ::kernel::error::Result {
                        $func(dev, file, arg)
                    }
                }
                let i = $crate::drm::ioctl::Entry::<$driver>::index($cmd);
                assert!(!used[i], "two ioctls of one number");
                used[i] = true;
                entries[i] = $crate::drm::ioctl::Entry::new::<Call>(
                    $flags,
                    ::kernel::c_str!(::core::stringify!($cmd)),
                );
            })*
            entries
        };
        const TABLE: &$crate::drm::ioctl::Table<$driver> =
            &$crate::drm::ioctl::Table::new(ENTRIES);
        TABLE
    }};
}

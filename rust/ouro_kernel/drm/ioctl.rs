// SPDX-License-Identifier: GPL-2.0

//! The ioctl table.
//!
//! [`ioctls!`](crate::ioctls) takes numbers of any header, in any order and with gaps. An entry
//! that is not there is answered with `EINVAL` by the DRM core. A number that user space calls
//! with structures of several sizes is entered once, with the largest: the core fills what is
//! missing with zeros, and copies back no more than what was given.

use core::marker::PhantomData;
use kernel::{bindings, prelude::*};

use super::{Device, Driver, File};

/// May be called on the render node.
pub const RENDER_ALLOW: u32 = bindings::drm_ioctl_flags_DRM_RENDER_ALLOW;
/// On the primary node: the file must be authenticated.
pub const AUTH: u32 = bindings::drm_ioctl_flags_DRM_AUTH;
/// On the primary node: the file must be the master.
pub const MASTER: u32 = bindings::drm_ioctl_flags_DRM_MASTER;
/// Only for root.
pub const ROOT_ONLY: u32 = bindings::drm_ioctl_flags_DRM_ROOT_ONLY;

/// 32 bit programs: all structures of the headers are the same for them.
#[cfg(CONFIG_COMPAT)]
pub(crate) const COMPAT: Compat = Some(crate::raw::drm_compat_ioctl);
/// No 32 bit programs.
#[cfg(not(CONFIG_COMPAT))]
pub(crate) const COMPAT: Compat = None;

type Compat = Option<unsafe extern "C" fn(*mut bindings::file, c_uint, c_ulong) -> c_long>;

/// One ioctl.
pub trait Handler<D: Driver> {
    /// Its number, as in the header.
    const CMD: u32;

    /// Its argument: numbers only, so that whatever user space wrote is a value.
    type Arg: zerocopy::FromBytes;

    /// Does it. `arg` is a copy; what is in it afterwards goes back to user space, also after an
    /// error.
    fn call(dev: &Device<D>, file: &File<D>, arg: &mut Self::Arg) -> Result;
}

/// The entry of a number in the table.
#[repr(transparent)]
pub struct Entry<D: Driver>(bindings::drm_ioctl_desc, PhantomData<fn(&D)>);

// `derive` would ask `D: Clone`.
impl<D: Driver> Copy for Entry<D> {}
impl<D: Driver> Clone for Entry<D> {
    fn clone(&self) -> Self {
        *self
    }
}

// SAFETY: Constant numbers and pointers to constants.
unsafe impl<D: Driver> Sync for Entry<D> {}

impl<D: Driver> Entry<D> {
    /// No ioctl.
    pub const NONE: Self = Self(
        bindings::drm_ioctl_desc {
            cmd: 0,
            flags: 0,
            func: None,
            name: core::ptr::null(),
        },
        PhantomData,
    );

    /// The ioctl of a handler.
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

    /// The number, 0 for no ioctl.
    pub const fn cmd(&self) -> u32 {
        self.0.cmd
    }

    /// Where in the table a number has its place.
    pub const fn index(cmd: u32) -> usize {
        (kernel::ioctl::_IOC_NR(cmd) - kernel::uapi::DRM_COMMAND_BASE) as usize
    }
}

/// A table: the entry of number `DRM_COMMAND_BASE + i` at `i`.
pub struct Table<D: Driver> {
    entries: &'static [Entry<D>],
}

impl<D: Driver> Table<D> {
    /// Made by [`ioctls!`](crate::ioctls).
    pub const fn new(entries: &'static [Entry<D>]) -> Self {
        Self { entries }
    }

    /// The C table.
    pub(crate) const fn as_ptr(&self) -> *const bindings::drm_ioctl_desc {
        // CAST: `Entry` has no other field of a size.
        self.entries.as_ptr().cast()
    }

    /// How many entries it has.
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
    // SAFETY: `Entry::new()` has compared the sizes; all bit patterns are values; nobody else has
    // the copy. It is from kmalloc, or on the stack as `char [128]`, which the ABI of x86-64 aligns to
    // 16; no argument wants more than 8.
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

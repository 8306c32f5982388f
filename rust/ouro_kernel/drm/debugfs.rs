// SPDX-License-Identifier: GPL-2.0

//! Files in `/sys/kernel/debug/dri/<device>`.
//!
//! They are created with the device, and removed when it is unplugged, before anything that they
//! access.

use kernel::{bindings, prelude::*, seq_file::SeqFile};

use super::{Device, Driver, UnregisteredDevice};

/// A file of a device.
pub trait DebugFile<D: Driver>: 'static {
    /// The file's name.
    const NAME: &'static CStr;

    /// Whether root may write to it.
    const WRITABLE: bool = false;

    /// Handles a read: `seq_print!(m, "..")`.
    fn show(dev: &Device<D>, m: &SeqFile) -> Result;

    /// Handles a write of at most a page.
    fn write(dev: &Device<D>, data: &[u8]) -> Result {
        let _ = (dev, data);
        Err(EINVAL)
    }
}

/// A file of a device that holds something while it is open. It is empty.
pub trait DebugHold<D: Driver>: Send + Sized + 'static {
    /// The file's name.
    const NAME: &'static CStr;

    /// Handles an open. The result is dropped when the file is closed, which may be long after the
    /// device was unplugged.
    fn open(dev: &Device<D>) -> Result<Self>;
}

impl<D: Driver> UnregisteredDevice<D> {
    /// Returns the directory of the device.
    pub fn debug_folder(&self) -> DebugFolder<'_, D> {
        DebugFolder {
            dev: self,
            // SAFETY: By the invariant of the device.
            dentry: unsafe { (*self.as_raw()).debugfs_root },
        }
    }
}

/// A directory of a device. In a kernel without debugfs it does not exist, and adding files has no
/// effect.
pub struct DebugFolder<'a, D: Driver> {
    dev: &'a UnregisteredDevice<D>,
    dentry: *mut bindings::dentry,
}

impl<D: Driver> DebugFolder<'_, D> {
    /// Adds a file.
    pub fn file<F: DebugFile<D>>(&self) -> &Self {
        let mode = if F::WRITABLE { 0o600 } else { 0o400 };
        self.add(F::NAME, mode, const { &Ops::<D, F>::OPS })
    }

    /// Adds a file that holds something while it is open.
    pub fn hold<H: DebugHold<D>>(&self) -> &Self {
        self.add(H::NAME, 0o400, const { &HoldOps::<D, H>::OPS })
    }

    fn add(
        &self,
        name: &'static CStr,
        mode: bindings::umode_t,
        ops: &'static bindings::file_operations,
    ) -> &Self {
        #[cfg(CONFIG_DEBUG_FS)]
        // SAFETY: The device removes its folder, and what is below it, before it goes itself.
        // The name and the operations live forever. debugfs copes with a folder that could
        // not be made.
        unsafe {
            bindings::debugfs_create_file_full(
                name.as_char_ptr(),
                mode,
                self.dentry,
                self.dev.as_raw().cast(),
                core::ptr::null(),
                ops,
            );
        }
        #[cfg(not(CONFIG_DEBUG_FS))]
        let _ = (name, mode, ops);
        self
    }

    /// Adds a directory. `name` is copied.
    pub fn folder(&self, name: &CStr) -> Self {
        Self {
            dev: self.dev,
            #[cfg(CONFIG_DEBUG_FS)]
            // SAFETY: As in `file()`.
            dentry: unsafe { bindings::debugfs_create_dir(name.as_char_ptr(), self.dentry) },
            #[cfg(not(CONFIG_DEBUG_FS))]
            dentry: {
                let _ = name;
                self.dentry
            },
        }
    }
}

/// The operations of a file.
struct Ops<D: Driver, F: DebugFile<D>>(core::marker::PhantomData<(D, F)>);

impl<D: Driver, F: DebugFile<D>> Ops<D, F> {
    const OPS: bindings::file_operations = bindings::file_operations {
        owner: kernel::module::this_module::<D::Module>().as_ptr(),
        open: Some(Self::open),
        read: Some(bindings::seq_read),
        write: Some(Self::write),
        llseek: Some(bindings::seq_lseek),
        release: Some(bindings::single_release),
        ..pin_init::zeroed()
    };

    /// # Safety
    ///
    /// Called by debugfs for a file of ours.
    unsafe extern "C" fn open(inode: *mut bindings::inode, file: *mut bindings::file) -> c_int {
        // SAFETY: By the requirement of this function.
        unsafe { bindings::single_open(file, Some(Self::show), (*inode).i_private) }
    }

    /// # Safety
    ///
    /// Called for a file that was opened by [`Ops::open()`]. debugfs sees to it that the file is
    /// not removed meanwhile, and so the device is there.
    unsafe extern "C" fn show(m: *mut bindings::seq_file, _: *mut c_void) -> c_int {
        // SAFETY: By the requirement of this function.
        let (dev, m) = unsafe {
            (
                Device::<D>::from_raw((*m).private.cast()),
                SeqFile::from_raw(m),
            )
        };
        match F::show(dev, m) {
            Ok(()) => 0,
            Err(e) => e.to_errno(),
        }
    }

    /// # Safety
    ///
    /// As for [`Ops::show()`].
    unsafe extern "C" fn write(
        file: *mut bindings::file,
        data: *const c_char,
        len: usize,
        _pos: *mut bindings::loff_t,
    ) -> isize {
        let len = len.min(crate::pages::PAGE_SIZE);
        let mut buf = KVec::new();
        let data = kernel::uaccess::UserPtr::from_addr(data.addr());
        let ret = kernel::uaccess::UserSlice::new(data, len)
            .read_all(&mut buf, GFP_KERNEL)
            .and_then(|()| {
                // SAFETY: By the requirement of this function.
                let dev = unsafe {
                    let m = (*file).private_data.cast::<bindings::seq_file>();
                    Device::<D>::from_raw((*m).private.cast())
                };
                F::write(dev, &buf)
            });
        match ret {
            Ok(()) => len as isize,
            Err(e) => e.to_errno() as isize,
        }
    }
}

/// The operations of a file that holds something while it is open.
struct HoldOps<D: Driver, H: DebugHold<D>>(core::marker::PhantomData<(D, H)>);

impl<D: Driver, H: DebugHold<D>> HoldOps<D, H> {
    const OPS: bindings::file_operations = bindings::file_operations {
        owner: kernel::module::this_module::<D::Module>().as_ptr(),
        open: Some(Self::open),
        release: Some(Self::release),
        ..pin_init::zeroed()
    };

    /// # Safety
    ///
    /// Called by debugfs for a file of ours, which is not removed meanwhile.
    unsafe extern "C" fn open(inode: *mut bindings::inode, file: *mut bindings::file) -> c_int {
        // SAFETY: By the requirement of this function the device is there.
        let dev = unsafe { Device::<D>::from_raw((*inode).i_private.cast()) };
        match H::open(dev).and_then(|held| Ok(KBox::new(held, GFP_KERNEL)?)) {
            Ok(held) => {
                // SAFETY: The file is being opened: no other code has it.
                unsafe { (*file).private_data = KBox::into_raw(held).cast() };
                0
            }
            Err(e) => e.to_errno(),
        }
    }

    /// # Safety
    ///
    /// Called once for a file that was opened by [`HoldOps::open()`], removed or not.
    unsafe extern "C" fn release(_: *mut bindings::inode, file: *mut bindings::file) -> c_int {
        // SAFETY: By the requirement of this function this is what `open()` left there.
        drop(unsafe { KBox::from_raw((*file).private_data.cast::<H>()) });
        0
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Files in `/sys/kernel/debug/dri/<device>`.
//!
//! They appear with the device, and go when it is unplugged, before anything that they reach.

use kernel::{bindings, prelude::*, seq_file::SeqFile};

use super::{Device, Driver, UnregisteredDevice};

/// A file of a device.
pub trait DebugFile<D: Driver>: 'static {
    /// Its name.
    const NAME: &'static CStr;

    /// Whether root may write to it.
    const WRITABLE: bool = false;

    /// Somebody reads it: `seq_print!(m, "..")`.
    fn show(dev: &Device<D>, m: &SeqFile) -> Result;

    /// Somebody has written this, at most a page of it.
    fn write(dev: &Device<D>, data: &[u8]) -> Result {
        let _ = (dev, data);
        Err(EINVAL)
    }
}

impl<D: Driver> UnregisteredDevice<D> {
    /// The folder of the device.
    pub fn debug_folder(&self) -> DebugFolder<'_, D> {
        DebugFolder {
            dev: self,
            // SAFETY: By the invariant of the device.
            dentry: unsafe { (*self.as_raw()).debugfs_root },
        }
    }
}

/// A folder of a device. In a kernel without debugfs it is nowhere, and stays empty.
pub struct DebugFolder<'a, D: Driver> {
    dev: &'a UnregisteredDevice<D>,
    dentry: *mut bindings::dentry,
}

impl<D: Driver> DebugFolder<'_, D> {
    /// Adds a file.
    pub fn file<F: DebugFile<D>>(&self) -> &Self {
        #[cfg(CONFIG_DEBUG_FS)]
        {
            let mode = if F::WRITABLE { 0o600 } else { 0o400 };
            // SAFETY: The device removes its folder, and what is below it, before it goes itself.
            // The name and the operations live for ever. debugfs copes with a folder that could
            // not be made.
            unsafe {
                bindings::debugfs_create_file_full(
                    F::NAME.as_char_ptr(),
                    mode,
                    self.dentry,
                    self.dev.as_raw().cast(),
                    core::ptr::null(),
                    const { &Ops::<D, F>::OPS },
                );
            }
        }
        self
    }

    /// Adds a folder. `name` is copied.
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

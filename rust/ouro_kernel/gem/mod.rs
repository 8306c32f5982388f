// SPDX-License-Identifier: GPL-2.0

//! Buffer objects.
//!
//! [`Object<T>`] is a reference counted `struct drm_gem_object` with the driver's data. It has no
//! memory of its own: the driver decides its backing ([`DriverObject`]). It has up to [`KINDS`]
//! mmap offsets, one for each kind of mapping.
//!
//! The life of an object: it is created by [`Object::new()`], and held by handles, mappings,
//! dma-bufs and [`ARef`]s. When the last of these is dropped, in any context, the driver gets it as
//! [`Dead`], and either drops it there or passes it to a worker.
//!
//! C header: `include/drm/drm_gem.h`

mod handle;
mod import;
pub(crate) mod mmap;
pub(crate) mod prime;
mod weak;

pub use self::handle::{Found, SOME};
pub use self::import::{Attachment, DmaBuf, ImportMap, ImportVmap};
pub use self::mmap::{Access, Fault, FaultError, KINDS};
pub use self::weak::Weak;

use core::{alloc::Layout, mem::offset_of, ops::Deref, ptr::NonNull};
use kernel::{
    alloc::{allocator::Kmalloc, flags::GFP_KERNEL_ACCOUNT, Allocator, NumaNode},
    bindings,
    prelude::*,
    sync::{
        aref::{ARef, AlwaysRefCounted},
        atomic::Atomic,
        Arc,
    },
    types::Opaque,
};

use crate::{
    drm::{Device, Driver, File},
    pages::Pages,
    release,
    resv::{HasResv, Locked, Resv},
    work, Caching,
};

/// The driver's data of an object, and its operations.
pub trait DriverObject: Sized + Send + Sync + 'static {
    /// The driver.
    type Driver: Driver<Object = Self>;

    /// The arguments of [`DriverObject::new()`].
    type Args;

    /// The kind of mapping that a dma-buf of the object uses.
    const EXPORT_KIND: u8;

    /// Creates the data of an object of `size` bytes, a multiple of the page size.
    fn new(dev: &Device<Self::Driver>, size: usize, args: Self::Args) -> impl PinInit<Self, Error>;

    /// The file gets a handle. Called for each handle; may allocate and sleep.
    fn open(obj: &Object<Self>, file: &File<Self::Driver>) -> Result {
        let _ = (obj, file);
        Ok(())
    }

    /// The file loses a handle. May sleep.
    fn close(obj: &Object<Self>, file: &File<Self::Driver>) {
        let _ = (obj, file);
    }

    /// The last reference is gone; no other code can reach the object.
    ///
    /// Called where the last reference was dropped, which may be under `mmap_lock`. Dropping `dead`
    /// frees it; [`Dead::defer()`] makes a worker call [`DriverObject::free_late()`].
    fn free(dead: Dead<Self>) {
        drop(dead);
    }

    /// Frees a deferred object, in a worker of [`release`]. May sleep.
    fn free_late(dead: Dead<Self>) {
        drop(dead);
    }

    /// Prepares a mapping of the object. `kind` is below [`KINDS`] and has an offset.
    ///
    /// Returns the CPU caching of the mapping. Errors are returned by `mmap()`.
    fn mmap(obj: &Object<Self>, kind: u8, write: bool) -> Result<Caching>;

    /// Handles a fault. Called under `mmap_lock`: may lock reservations, must not access user
    /// memory.
    ///
    /// Calls [`Fault::insert()`] at least for the page of the fault, under the lock that keeps the
    /// page in its place, so that [`Object::unmap_user()`] cannot run in between.
    fn fault(obj: &Object<Self>, fault: &mut Fault<'_>) -> core::result::Result<(), FaultError>;

    /// Handles an access to a mapping from outside, such as a debugger's: copies from or to the
    /// object, from `offset` on. Called under `mmap_lock`: as [`DriverObject::fault()`].
    ///
    /// On an error, the access fails as if nothing were mapped.
    fn access(obj: &Object<Self>, offset: usize, access: Access<'_>) -> Result {
        let _ = (obj, offset, access);
        Err(EOPNOTSUPP)
    }

    /// Imports a dma-buf that another device exported.
    ///
    /// Errors: `EOPNOTSUPP` without support.
    fn import(dev: &Device<Self::Driver>, buf: &DmaBuf) -> Result<ARef<Object<Self>>> {
        let _ = (dev, buf);
        Err(EOPNOTSUPP)
    }

    /// Returns whether the object may be exported as a dma-buf.
    ///
    /// Errors are returned by `PRIME_HANDLE_TO_FD`.
    fn export(obj: &Object<Self>) -> Result {
        let _ = obj;
        Ok(())
    }

    /// Whether other devices, and the rest of the kernel, can use the memory of objects through
    /// their dma-bufs. Then [`DriverObject::pin()`] and [`DriverObject::pages()`] are called.
    const SHARES: bool = false;

    /// Pins the memory of the object, in pages, until [`DriverObject::unpin()`]. May be called
    /// several times. `locked` is the reservation.
    ///
    /// Errors: those of allocating the memory.
    fn pin(obj: &Object<Self>, locked: &Locked<'_>) -> Result {
        let _ = (obj, locked);
        Err(EOPNOTSUPP)
    }

    /// Undoes one [`DriverObject::pin()`]. The reservation is locked.
    fn unpin(obj: &Object<Self>) {
        let _ = obj;
    }

    /// Returns the pages of a pinned object: the same each time.
    ///
    /// Errors: if it is not pinned.
    fn pages(obj: &Object<Self>) -> Result<Arc<Pages>> {
        let _ = obj;
        Err(EOPNOTSUPP)
    }

    /// Begins CPU access through a dma-buf. The caller holds no locks; may sleep. The kernel waits
    /// for fences afterwards: a driver that has to flush caches must wait for them itself first.
    ///
    /// Errors are returned to the caller.
    fn begin_cpu_access(obj: &Object<Self>, write: bool) -> Result {
        let _ = (obj, write);
        Ok(())
    }

    /// Ends the CPU access that [`DriverObject::begin_cpu_access()`] began.
    ///
    /// Errors are returned to the caller.
    fn end_cpu_access(obj: &Object<Self>, write: bool) -> Result {
        let _ = (obj, write);
        Ok(())
    }

    /// Returns the object's state for fdinfo. Must not sleep.
    fn status(obj: &Object<Self>) -> Status {
        let _ = obj;
        Status::default()
    }
}

/// The state of an object for fdinfo.
#[derive(Clone, Copy, Default)]
pub struct Status {
    /// The number of the region that it is in, or will be in: see
    /// [`File::show_memory()`](crate::drm::File::show_memory).
    pub region: usize,
    /// It has memory now.
    pub resident: bool,
    /// Its contents may be purged.
    pub purgeable: bool,
    /// The GPU uses it.
    pub active: bool,
}

/// A buffer object with the data of its driver, to which it derefs.
///
/// # Invariants
///
/// `obj` is an initialised `struct drm_gem_object` of the device `dev`, whose reference count is
/// not zero while a reference exists. `data` is initialised. Each entry of `nodes` is null or a
/// box of a node that is in the device's space of offsets; it never changes again while
/// references exist.
#[repr(C)]
pub struct Object<T: DriverObject> {
    obj: Opaque<bindings::drm_gem_object>,
    /// Null or a [`mmap::Node`], by kind.
    nodes: [Atomic<*mut mmap::Node>; KINDS],
    /// Where weak references find the object.
    cell: Arc<weak::Cell>,
    /// The buffer of an imported object, whose reservation it shares.
    import: Option<Arc<Attachment>>,
    /// The device lives as long as any of its objects.
    dev: ARef<Device<T::Driver>>,
    /// Runs [`DriverObject::free_late()`].
    late: Opaque<bindings::work_struct>,
    data: T,
}

// SAFETY: A GEM object is reference counted, and may be used by any thread; the data is `Send`
// and `Sync`.
unsafe impl<T: DriverObject> Send for Object<T> {}
// SAFETY: As above.
unsafe impl<T: DriverObject> Sync for Object<T> {}

// SAFETY: Forwards to the reference count of `struct drm_gem_object`.
unsafe impl<T: DriverObject> AlwaysRefCounted for Object<T> {
    fn inc_ref(&self) {
        // SAFETY: A shared reference means that the count is not zero.
        unsafe { bindings::drm_gem_object_get(self.as_raw()) }
    }

    unsafe fn dec_ref(obj: NonNull<Self>) {
        // SAFETY: The caller gives up a reference. The C object is the first field.
        unsafe { bindings::drm_gem_object_put(obj.cast().as_ptr()) }
    }
}

// SAFETY: `resv` of an object is set when it is made, and not changed.
unsafe impl<T: DriverObject> HasResv for Object<T> {
    fn resv(&self) -> &Resv {
        // SAFETY: By the invariant.
        unsafe { Resv::from_raw((*self.as_raw()).resv) }
    }
}

impl<T: DriverObject> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T: DriverObject> Object<T> {
    const FUNCS: bindings::drm_gem_object_funcs = bindings::drm_gem_object_funcs {
        free: Some(Self::free_callback),
        open: Some(Self::open_callback),
        close: Some(Self::close_callback),
        export: Some(prime::export_callback::<T>),
        pin: if T::SHARES {
            Some(prime::pin_callback::<T>)
        } else {
            None
        },
        unpin: if T::SHARES {
            Some(prime::unpin_callback::<T>)
        } else {
            None
        },
        get_sg_table: if T::SHARES {
            Some(prime::sg_table_callback::<T>)
        } else {
            None
        },
        vmap: if T::SHARES {
            Some(prime::vmap_callback::<T>)
        } else {
            None
        },
        vunmap: if T::SHARES {
            Some(prime::vunmap_callback::<T>)
        } else {
            None
        },
        mmap: Some(mmap::object_mmap_callback::<T>),
        vm_ops: mmap::vm_ops::<T>(),
        ..pin_init::zeroed()
    };

    /// Creates an object of `size` bytes, rounded up to pages.
    ///
    /// Errors: `EINVAL` for a size of zero, `ENOMEM`, those of [`DriverObject::new()`].
    pub fn new(dev: &Device<T::Driver>, size: usize, args: T::Args) -> Result<ARef<Self>> {
        Self::make(dev, size, None, args)
    }

    /// Creates an object of an imported buffer, which it holds, and whose reservation it shares.
    ///
    /// Errors: as [`Object::new()`].
    pub fn import(
        dev: &Device<T::Driver>,
        buf: Arc<Attachment>,
        args: T::Args,
    ) -> Result<ARef<Self>> {
        let size = buf.buf().size();
        Self::make(dev, size, Some(buf), args)
    }

    fn make(
        dev: &Device<T::Driver>,
        size: usize,
        import: Option<Arc<Attachment>>,
        args: T::Args,
    ) -> Result<ARef<Self>> {
        const { assert!(offset_of!(Self, obj) == 0) };
        let size = size
            .checked_next_multiple_of(kernel::page::PAGE_SIZE)
            .ok_or(EINVAL)?;
        if size == 0 {
            return Err(EINVAL);
        }
        let cell = weak::Cell::new()?;
        let layout = Kmalloc::aligned_layout(Layout::new::<Self>());
        let ptr: *mut Self =
            Kmalloc::alloc(layout, GFP_KERNEL_ACCOUNT | __GFP_ZERO, NumaNode::NO_NODE)?
                .cast()
                .as_ptr();
        // SAFETY: Memory of the right layout, at its place.
        let init = unsafe { pin_init::raw_try_init(&raw mut (*ptr).data, T::new(dev, size, args)) };
        if let Err(e) = init {
            // SAFETY: Just allocated, nothing in it.
            unsafe { Kmalloc::free(NonNull::new_unchecked(ptr).cast(), layout) };
            return Err(e);
        }
        // SAFETY: No other code knows the memory. The rest of the fields, one after the other.
        unsafe {
            (&raw mut (*ptr).nodes).write([const { Atomic::new(core::ptr::null_mut()) }; KINDS]);
            (&raw mut (*ptr).dev).write(dev.into());
            (&raw mut (*ptr).cell).write(cell);
            work::init_raw(
                Opaque::cast_into(&raw const (*ptr).late),
                Self::late_callback,
                kernel::static_lock_class!(),
            );
            let obj = Opaque::cast_into(&raw const (*ptr).obj);
            (*obj).funcs = const { &Self::FUNCS };
            if let Some(import) = &import {
                (*obj).import_attach = import.as_raw();
                (*obj).resv = (*import.buf().as_raw()).resv;
            }
            (&raw mut (*ptr).import).write(import);
            bindings::drm_gem_private_object_init(dev.as_raw(), obj, size);
            (*ptr).cell.fill(obj);
            // INVARIANT: All is initialised, and this is the first reference.
            Ok(ARef::from_raw(NonNull::new_unchecked(ptr)))
        }
    }

    /// Returns the C object.
    pub(crate) fn as_raw(&self) -> *mut bindings::drm_gem_object {
        self.obj.get()
    }

    /// The object behind a pointer.
    ///
    /// # Safety
    ///
    /// `ptr` is an object of a device of this driver, with a reference for as long as `'a`.
    pub(crate) unsafe fn from_raw<'a>(ptr: *mut bindings::drm_gem_object) -> &'a Self {
        // SAFETY: By the requirement of this function: all objects of such a device are made by
        // `Object::new()`. The C object is the first field.
        unsafe { &*ptr.cast() }
    }

    /// Takes over a reference, if there is an object.
    ///
    /// # Safety
    ///
    /// As for [`Object::from_raw()`], or null; the caller gives the reference away.
    pub(crate) unsafe fn take(ptr: *mut bindings::drm_gem_object) -> Option<ARef<Self>> {
        // SAFETY: By the requirement of this function.
        NonNull::new(ptr).map(|p| unsafe { ARef::from_raw(p.cast()) })
    }

    /// Returns the device.
    pub fn device(&self) -> &ARef<Device<T::Driver>> {
        &self.dev
    }

    /// Returns the buffer of an imported object.
    pub fn attachment(&self) -> Option<&Arc<Attachment>> {
        self.import.as_ref()
    }

    /// Returns the size in bytes, a multiple of the page size.
    pub fn size(&self) -> usize {
        // SAFETY: By the invariant; it does not change.
        unsafe { (*self.as_raw()).size }
    }

    /// # Safety
    ///
    /// Called by the DRM core for an object without references.
    unsafe extern "C" fn free_callback(obj: *mut bindings::drm_gem_object) {
        // SAFETY: By the requirement of this function.
        unsafe { Self::from_raw(obj) }.cell.empty();
        // INVARIANT: By the requirement of this function it is ours alone.
        // SAFETY: Not null.
        T::free(Dead(unsafe { NonNull::new_unchecked(obj.cast()) }));
    }

    /// # Safety
    ///
    /// Called by a worker for an object that [`Dead::defer()`] has queued.
    unsafe extern "C" fn late_callback(work: *mut bindings::work_struct) {
        let late: *const Opaque<bindings::work_struct> = Opaque::cast_from(work);
        // SAFETY: By the requirement of this function.
        let ptr = unsafe { kernel::container_of!(late, Self, late) };
        // INVARIANT: It was given away by `defer()`.
        // SAFETY: Not null.
        T::free_late(Dead(unsafe { NonNull::new_unchecked(ptr.cast_mut()) }));
        release::ended();
    }

    /// # Safety
    ///
    /// Called by the DRM core for an object of a device of this driver, and an open file of it.
    unsafe extern "C" fn open_callback(
        obj: *mut bindings::drm_gem_object,
        file: *mut bindings::drm_file,
    ) -> c_int {
        // SAFETY: By the requirement of this function.
        let (obj, file) = unsafe { (Self::from_raw(obj), File::from_raw(file)) };
        match T::open(obj, file) {
            Ok(()) => 0,
            Err(e) => e.to_errno(),
        }
    }

    /// # Safety
    ///
    /// As for [`Object::open_callback()`].
    unsafe extern "C" fn close_callback(
        obj: *mut bindings::drm_gem_object,
        file: *mut bindings::drm_file,
    ) {
        // SAFETY: By the requirement of this function.
        let (obj, file) = unsafe { (Self::from_raw(obj), File::from_raw(file)) };
        T::close(obj, file);
    }
}

/// An object without references. Dropping it frees it.
///
/// It derefs to the driver's data only: an [`Object`] can be referenced, and this one must not be
/// referenced any more.
///
/// # Invariants
///
/// All of the object is initialised, and this owns it.
pub struct Dead<T: DriverObject>(NonNull<Object<T>>);

// SAFETY: The object is `Send`, and this owns it.
unsafe impl<T: DriverObject> Send for Dead<T> {}

impl<T: DriverObject> Deref for Dead<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object().data
    }
}

impl<T: DriverObject> Dead<T> {
    /// Returns the object.
    fn object(&self) -> &Object<T> {
        // SAFETY: By the invariant.
        unsafe { self.0.as_ref() }
    }

    /// Returns whether it was imported: dropping it takes the buffer's reservation.
    pub fn is_imported(&self) -> bool {
        self.object().import.is_some()
    }

    /// Makes a worker of [`release`] call [`DriverObject::free_late()`]. Any context, allocates
    /// nothing.
    pub fn defer(self) {
        let this = core::mem::ManuallyDrop::new(self);
        // SAFETY: By the invariant; the object stays until the work has run, which takes over.
        let queued = unsafe { release::queue(this.object().late.get()) };
        if !queued {
            // There is no guard, hence no worker.
            T::free_late(Dead(this.0));
        }
    }
}

impl<T: DriverObject> Drop for Dead<T> {
    fn drop(&mut self) {
        let ptr = self.0.as_ptr();
        // SAFETY: By the invariant there are no references.
        unsafe { mmap::free_nodes(self.object()) };
        // SAFETY: By the invariant. The device goes last, since the C object needs its space of
        // offsets; the memory is from `Object::new()`.
        unsafe {
            bindings::drm_gem_object_release((*ptr).obj.get());
            core::ptr::drop_in_place(&raw mut (*ptr).data);
            let dev = core::ptr::read(&raw const (*ptr).dev);
            core::ptr::drop_in_place(&raw mut (*ptr).cell);
            core::ptr::drop_in_place(&raw mut (*ptr).import);
            let layout = Kmalloc::aligned_layout(Layout::new::<Object<T>>());
            Kmalloc::free(self.0.cast(), layout);
            drop(dev);
        }
    }
}

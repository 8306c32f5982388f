// SPDX-License-Identifier: GPL-2.0

//! A buffer object.
//!
//! It gets memory when it is first touched, and an address when it is first used by the GPU. It may
//! have to give up the address for others while it is idle; the memory stays until the last
//! reference is gone. That moment may come in any context, so that what has to be done then is left
//! to a worker, which gives the pages to the [`Retirer`](crate::submit::Retirer).
//!
//! Locks: the reservation, then [`Bo::state`]. User memory is touched under neither.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
};
use ouro_hw::types::GpuAddr;
use ouro_kernel::{
    gem::{self, Dead, Fault, FaultError},
    resv::{HasResv, Usage},
    Caching,
};

use super::{backing::Memory, Backing};
use crate::{
    driver::{Device, Ouro},
    gpu::Gpu,
    vm::{Mapping, Owner, Place},
};

/// An object as the DRM core knows it.
pub(crate) type Object = gem::Object<Bo>;

/// Largest object. A page number of it fits into 32 bits, with room to spare.
const MAX_SIZE: u64 = 1 << 40;

/// How user space sees an object: the kinds of mappings, by number.
pub(crate) mod kind {
    /// Through the aperture.
    pub(crate) const APERTURE: u8 = 0;
    /// Write-combined.
    pub(crate) const WRITE_COMBINED: u8 = 1;
    /// Cached.
    pub(crate) const CACHED: u8 = 2;
    /// Uncached.
    pub(crate) const UNCACHED: u8 = 3;
}

/// What is under [`Bo::state`].
struct State {
    // The address goes before the pages.
    mapping: Option<Mapping>,
    backing: Option<Arc<Backing>>,
}

/// An object in the statistics.
struct Counted(Arc<Gpu>, i64);

impl Counted {
    fn new(gpu: &Arc<Gpu>, bytes: u64) -> Self {
        gpu.count_object(1, bytes as i64);
        Self(gpu.clone(), bytes as i64)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count_object(-1, -self.1);
    }
}

/// What ouro adds to an object.
#[pin_data]
pub(crate) struct Bo {
    gpu: Arc<Gpu>,
    bytes: u64,
    _counted: Counted,
    /// Whether a batch has used it since it was last asked to make room.
    used: Atomic<bool>,
    #[pin]
    state: Mutex<State>,
}

/// Why an object cannot be bound where it should be, now.
pub(crate) enum BindError {
    /// It must not be moved before its fences are signalled.
    Busy,
    /// Any other reason.
    Failed(Error),
}

impl From<Error> for BindError {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

/// Makes an object of at least `size` bytes.
///
/// Errors: `EINVAL` for no size, `E2BIG` for one that cannot be, `ENOMEM`.
pub(crate) fn create(dev: &Device, size: u64) -> Result<ARef<Object>> {
    // What is rounded up beyond the last number is no size at all.
    let size = size.checked_next_multiple_of(4096).unwrap_or(0);
    if size == 0 {
        return Err(EINVAL);
    }
    if size > MAX_SIZE {
        return Err(E2BIG);
    }
    Object::new(dev, size as usize, dev.gpu().clone())
}

impl Bo {
    /// Bytes: whole pages.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its memory; it gets some if it has none. Process context.
    pub(crate) fn backing(&self) -> Result<Arc<Backing>> {
        let mut state = self.state.lock();
        self.backing_of(&mut state)
    }

    /// Whether it has an address.
    pub(crate) fn is_bound(&self) -> bool {
        self.state.lock().mapping.is_some()
    }

    /// Whether a batch has used it since this was asked last.
    pub(crate) fn take_used(&self) -> bool {
        self.used.xchg(false, ordering::Relaxed)
    }

    fn backing_of(&self, state: &mut State) -> Result<Arc<Backing>> {
        if let Some(backing) = &state.backing {
            return Ok(backing.clone());
        }
        self.gpu.usable()?;
        let backing = Backing::pages(self.gpu.dma_device(), self.bytes as usize)?;
        self.gpu.count_pages(i64::from(backing.len()));
        state.backing = Some(backing.clone());
        Ok(backing)
    }
}

/// Gives it an address at `place`, or keeps the one it has if that will do. Its reservation is
/// locked.
///
/// The range is at least `pad` bytes: what is beyond the object is the scratch page.
pub(crate) fn bind(
    object: &Object,
    place: Place,
    pad: u64,
) -> core::result::Result<GpuAddr, BindError> {
    object.used.store(true, ordering::Relaxed);
    let mut state = object.state.lock();
    let backing = object.backing_of(&mut state)?;
    if let Some(mapping) = &state.mapping {
        let at = mapping.addr().0;
        let fits = mapping.len() >= pad
            && match place {
                Place::At(addr) => at == addr.0,
                Place::Within { range, align } => {
                    at >= range.0 && at + mapping.len() <= range.1 && at & (align - 1) == 0
                }
            };
        if fits {
            return Ok(mapping.addr());
        }
        if !object.resv().test_signaled(Usage::Bookkeep) {
            return Err(BindError::Busy);
        }
        state.mapping = None;
    }
    let mapping = backing.bind(object.gpu.space(), place, pad, Owner::Object(object))?;
    let addr = mapping.addr();
    state.mapping = Some(mapping);
    Ok(addr)
}

/// Takes its address away, if it has one. Its reservation is locked.
pub(crate) fn unbind(object: &Object) -> core::result::Result<(), BindError> {
    let mut state = object.state.lock();
    if state.mapping.is_some() && !object.resv().test_signaled(Usage::Bookkeep) {
        return Err(BindError::Busy);
    }
    state.mapping = None;
    Ok(())
}

impl gem::DriverObject for Bo {
    type Driver = Ouro;
    type Args = Arc<Gpu>;
    const EXPORT_KIND: u8 = kind::WRITE_COMBINED;

    fn new(_: &Device, size: usize, gpu: Arc<Gpu>) -> impl PinInit<Self, Error> {
        let bytes = size as u64;
        try_pin_init!(Self {
            _counted: Counted::new(&gpu, bytes),
            gpu,
            bytes,
            used: Atomic::new(false),
            state <- new_mutex!(State {
                mapping: None,
                backing: None,
            }, "ouro_bo"),
        }? Error)
    }

    fn mmap(_: &Object, kind: u8, _write: bool) -> Result<Caching> {
        match kind {
            kind::CACHED => Ok(Caching::WriteBack),
            kind::UNCACHED => Ok(Caching::Uncached),
            // Without tiles to undo, the aperture shows what write-combining does.
            _ => Ok(Caching::WriteCombining),
        }
    }

    fn fault(object: &Object, fault: &mut Fault<'_>) -> core::result::Result<(), FaultError> {
        let mut state = object.state.lock();
        let backing = object.backing_of(&mut state)?;
        match backing.memory() {
            Memory::Pages(map) => {
                let pfn = map.pages().pfn(fault.page()).ok_or(FaultError::Bus)?;
                fault.insert(pfn)
            }
            Memory::Kernel(_) => Err(FaultError::Bus),
        }
    }

    fn free(dead: Dead<Self>) {
        // Tables are written under a mutex.
        dead.defer();
    }

    fn free_late(dead: Dead<Self>) {
        let (mapping, backing) = {
            let mut state = dead.state.lock();
            (state.mapping.take(), state.backing.take())
        };
        drop(mapping);
        if let Some(backing) = backing {
            dead.gpu.count_pages(-i64::from(backing.len()));
            dead.gpu.retirer().bury(backing);
        }
    }
}

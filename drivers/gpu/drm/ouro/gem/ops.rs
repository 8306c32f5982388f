// SPDX-License-Identifier: GPL-2.0

//! The DRM core's operations on a BO: create, map, export, import, free.

use kernel::{
    prelude::*,
    sync::{aref::ARef, atomic::ordering, Arc},
};
use ouro_hw::types::CacheLevel;
use ouro_kernel::{
    gem::{self, Access, Dead, DmaBuf, Fault, FaultError},
    pages::Pages,
    resv::{HasResv, Locked, Usage},
    task,
    wait::{Interruptible, FOREVER},
    Caching,
};

use super::{
    access,
    backing::Memory,
    bo::{kind, Advice, Args, Seen, MAX_SIZE},
    caches,
    contents::{self, NoBacking},
    early, migrate,
    region::{Placements, SYSTEM},
    view, Backing, Bo, Object,
};
use crate::device::{Device, Ouro};

/// How often a fault moves a BO to memory that the CPU sees, before it returns to retry.
const HIDDEN_TRIES: u32 = 4;

/// Returns the number of pages that one fault maps, if they are present, since a fault costs more
/// than some PTEs: those of one page table. Fewer if they are mapped through caches that the GPU
/// does not snoop, since mapped pages must be flushed later.
const fn around(snooped: bool, of: u8) -> usize {
    match (snooped, of) {
        (false, kind::CACHED) => 256,
        _ => 512,
    }
}

/// Consecutive faults that may find no memory before the thread gets a signal. A memory cgroup may
/// be at its limit forever.
const MAX_STARVED: u32 = 16;

impl gem::DriverObject for Bo {
    type Driver = Ouro;
    type Args = Args;
    const EXPORT_KIND: u8 = kind::CACHED;
    const SHARES: bool = true;

    fn new(_: &Device, size: usize, args: Args) -> impl PinInit<Self, Error> {
        Self::make(size as u64, args)
    }

    fn mmap(_: &Object, kind: u8, _write: bool) -> Result<Caching> {
        match kind {
            kind::CACHED => Ok(Caching::WriteBack),
            kind::UNCACHED => Ok(Caching::Uncached),
            // Also through the aperture.
            _ => Ok(Caching::WriteCombining),
        }
    }

    fn fault(object: &Object, fault: &mut Fault<'_>) -> core::result::Result<(), FaultError> {
        let done = if fault.kind() == kind::APERTURE {
            view::fault(object, fault)
        } else {
            show_page(object, fault)
        };
        match done {
            // On "no memory" the kernel retries the fault, forever if memory never becomes
            // available.
            Err(FaultError::NoMemory) => {
                let never = object.bytes() / 4096 > task::total_pages() as u64;
                if never || object.starved.fetch_add(1, ordering::Relaxed) >= MAX_STARVED {
                    object.starved.store(0, ordering::Relaxed);
                    return Err(FaultError::Bus);
                }
                Err(FaultError::NoMemory)
            }
            Ok(()) => {
                if object.starved.load(ordering::Relaxed) != 0 {
                    object.starved.store(0, ordering::Relaxed);
                }
                Ok(())
            }
            done => done,
        }
    }

    fn access(object: &Object, offset: usize, access: Access<'_>) -> Result {
        access::look(object, offset, access)
    }

    fn export(object: &Object) -> Result {
        // A process's memory must not be pinned for as long as an importer likes.
        match object.user() {
            Some(_) => Err(EINVAL),
            None => Ok(()),
        }
    }

    fn import(dev: &Device, buffer: &DmaBuf) -> Result<ARef<Object>> {
        let gpu = dev.gpu().bo_device();
        gpu.usable()?;
        if buffer.size() as u64 > MAX_SIZE {
            return Err(E2BIG);
        }
        let attachment = buffer.attach(gpu.dma_device())?;
        let args = Args {
            gpu: gpu.clone(),
            placements: Placements::system(),
            align: 1,
            user: None,
            fresh: None,
        };
        Object::import(dev, attachment, args)
    }

    fn pin(object: &Object, locked: &Locked<'_>) -> Result {
        if !object.placements().iter().any(|region| region == SYSTEM) {
            return Err(EOPNOTSUPP);
        }
        // Importers access it in system memory only, where it must stay from now on.
        migrate::move_to_system_and_wait(object, locked)?;
        let mut state = object.state.lock();
        let backing = match &state.backing {
            None if state.swapped.is_none() && state.advice == Advice::Need => {
                object.gpu().usable()?;
                let region = object.gpu().regions().get(SYSTEM).ok_or(EINVAL)?;
                let (fresh, early) = (state.fresh.as_ref(), state.early.as_ref());
                let backing = Backing::in_region(object.gpu(), region, object, fresh, early)?;
                contents::attach_backing(object, &mut state, &backing)?;
                backing
            }
            _ => contents::backing_of(object, &mut state).map_err(|e| match e {
                NoBacking::Full(_) => ENOMEM,
                NoBacking::Failed(e) => e,
            })?,
        };
        if backing.shmem().is_none() {
            return Err(EOPNOTSUPP);
        }
        state.pins = state.pins.checked_add(1).ok_or(EBUSY)?;
        Ok(())
    }

    fn unpin(object: &Object) {
        let mut state = object.state.lock();
        state.pins = state.pins.saturating_sub(1);
    }

    fn pages(object: &Object) -> Result<Arc<Pages>> {
        let state = object.state.lock();
        match state.backing.as_ref().map(|backing| backing.memory()) {
            Some(Memory::Pages(map)) if state.pins != 0 => Ok(map.pages().clone()),
            _ => Err(EOPNOTSUPP),
        }
    }

    fn begin_cpu_access(object: &Object, write: bool) -> Result {
        let usage = Usage::for_access(write);
        object.resv().wait(usage, Interruptible::Yes, FOREVER)?;
        caches::lend(object, write)
    }

    fn free(dead: Dead<Self>) {
        // Writing PTEs needs a mutex, which the caller may hold. Without any memory there are none,
        // and a worker would cost as much as all else.
        match task::may_sleep() && !dead.is_imported() && dead.has_nothing() {
            true => drop(dead),
            false => dead.defer(),
        }
    }

    fn free_late(dead: Dead<Self>) {
        let mut state = dead.state.lock();
        if let Some(aperture) = dead.gpu().aperture() {
            aperture.revoke(&dead);
        }
        if let Some(surfaces) = dead.gpu().surfaces() {
            surfaces.release(&dead);
        }
        state.bindings.clear();
        if let Some(backing) = &state.backing {
            // The contents are not needed any more: do not swap them out.
            backing.forget_contents();
        }
        dead.drop_backing(&mut state);
    }

    fn status(object: &Object) -> gem::Status {
        let Seen {
            region,
            resident,
            purgeable,
        } = object.seen();
        gem::Status {
            region,
            resident,
            purgeable,
            active: !object.resv().test_signaled(Usage::Bookkeep),
        }
    }
}

/// Maps the page of a fault from memory.
fn show_page(object: &Object, fault: &mut Fault<'_>) -> core::result::Result<(), FaultError> {
    if early::show(object, fault)? {
        return Ok(());
    }
    for _ in 0..HIDDEN_TRIES {
        let (mut state, backing) = contents::lock_populated(object)?;
        let frame = backing.frame(fault.page());
        if backing.is_windowed() {
            // The BAR is closed at the unbind, after all user mappings were removed.
            object.gpu().usable()?;
            if frame.is_none() {
                drop(state);
                migrate::move_to_system(object)?;
                continue;
            }
        }
        let around = around(state.cache() == CacheLevel::Coherent, fault.kind());
        let block = fault.page() - fault.page() % around;
        let shown = block..(block + around).min(backing.len() as usize);
        caches::map(object, &mut state, &backing, fault.kind(), shown)?;
        let region = match (state.tiled, backing.direct()) {
            (Some(tiled), Some(at)) => tiled.region(at, object.bytes()),
            _ => None,
        };
        let count = backing.len() as usize;
        let mut insert = || match backing.memory() {
            Memory::Pages(map) => fault.insert_pages(around, count, map.pages()),
            _ => fault.insert_around(around, 0..count, |page| backing.frame(page)),
        };
        return match (region, object.gpu().surfaces()) {
            (Some(region), Some(surfaces)) => surfaces.show(object, region, insert),
            _ => insert(),
        };
    }
    // Batches move the BO back to VRAM faster than the CPU can access it.
    Err(FaultError::Retry)
}

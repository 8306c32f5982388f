// SPDX-License-Identifier: GPL-2.0

//! CPU mappings with detiling: the aperture ([`aperture`]), detiling of VRAM ([`surfaces`]), the
//! fence registers of both ([`fences`]), and the page fault handler.
//!
//! A fault is mostly handled by the [`Aperture`]. This module makes room if BOs that batches use
//! are in the way of a view: holding only `mmap_lock`, because each BO has its own lock.

mod aperture;
mod fences;
mod surfaces;

pub(crate) use aperture::{Aperture, Tiled, Veil};
pub(crate) use surfaces::Surfaces;

use kernel::{
    sync::aref::ARef,
    time::{delay::fsleep, Delta},
};
use ouro_hw::types::{CacheLevel, GpuAddr, PAGE_SIZE};
use ouro_kernel::{
    gem::{Fault, FaultError},
    resv::{HasResv, Usage},
    time,
    wait::Interruptible,
};

use super::{bind, bo::kind, caches, contents, BoDevice, Object, Victim};
use crate::vm::allocator::RangeUse;
use aperture::{Refused, Shape};

/// How often the whole aperture is searched. BOs that are in the way because they are locked or
/// being destroyed are gone by then.
const SEARCHES: u32 = 200;
/// Milliseconds between two searches.
const SEARCH_MS: i64 = 1;
/// Milliseconds that a search waits for an object in use.
const WAIT_MS: u32 = 1000;

/// Maps the page of a fault.
pub(super) fn fault(
    object: &Object,
    fault: &mut Fault<'_>,
) -> core::result::Result<(), FaultError> {
    let gpu = object.gpu();
    let aperture = gpu.aperture().ok_or(FaultError::Bus)?;
    let mut search = Search::default();
    loop {
        match attempt(object, aperture, fault) {
            Ok(()) => return Ok(()),
            Err(Refused::Failed(e)) => return Err(e),
            Err(Refused::NoRoom(pages)) => search.make_room(gpu, aperture, pages)?,
            Err(Refused::Veiled) => {
                fsleep(Delta::from_millis(SEARCH_MS));
                if kernel::current!().signal_pending() {
                    return Err(FaultError::Retry);
                }
            }
            Err(Refused::Closed) => {
                // The device is gone: map the memory itself.
                let (_state, backing) = contents::lock_populated(object)?;
                return fault.insert(backing.frame(fault.page()).ok_or(FaultError::Bus)?);
            }
        }
    }
}

fn attempt(
    object: &Object,
    aperture: &Aperture,
    fault: &mut Fault<'_>,
) -> core::result::Result<(), Refused> {
    let (mut state, backing) = contents::lock_populated(object)?;
    if !object.gpu().coherence().shows_in_aperture(state.cache()) {
        // The access could stop the machine.
        return Err(FaultError::Bus.into());
    }
    caches::map(object, &mut state, &backing, kind::APERTURE, 0..0)?;
    let shape = Shape {
        cache: state.cache(),
        tiled: state.tiled,
    };
    aperture.fault(object, &backing, shape, fault)
}

/// A search for BOs of batches that can be evicted from the aperture.
#[derive(Default)]
struct Search {
    /// The next page to look at.
    at: u32,
    /// A BO in use that was in the way.
    busy: Option<ARef<Object>>,
    done: u32,
}

impl Search {
    /// Evicts BOs from some range of `pages` pages.
    ///
    /// Errors: `Retry` for a signal; `Bus` if what is in the way cannot be evicted.
    fn make_room(
        &mut self,
        gpu: &BoDevice,
        aperture: &Aperture,
        pages: u32,
    ) -> core::result::Result<(), FaultError> {
        loop {
            while self.at.saturating_add(pages) <= aperture.pages() {
                let at = self.at;
                self.at += pages;
                if self.clear(gpu, at, pages) {
                    return Ok(());
                }
            }
            self.at = 0;
            self.done += 1;
            if self.done > SEARCHES {
                return Err(FaultError::Bus);
            }
            match self.busy.take() {
                // It becomes idle: by itself, by a reset, or when the device is gone.
                Some(object) => {
                    object
                        .resv()
                        .wait(Usage::Bookkeep, Interruptible::Yes, time::ms(WAIT_MS))?;
                }
                None => fsleep(Delta::from_millis(SEARCH_MS)),
            }
            if kernel::current!().signal_pending() {
                return Err(FaultError::Retry);
            }
        }
    }

    /// Evicts the BOs, images and directories in a range. Returns false if some remain, or there
    /// were none.
    fn clear(&mut self, gpu: &BoDevice, at: u32, pages: u32) -> bool {
        let start = GpuAddr(u64::from(at) * u64::from(PAGE_SIZE));
        let mut moved = false;
        // Where neighbours may not differ, the aperture shows only uncached BOs.
        let in_the_way = || gpu.space().range_use(start, pages.into(), CacheLevel::None);
        while let RangeUse::Evictable(victim) = in_the_way() {
            let object = match victim {
                Victim::Object(object) => object,
                Victim::Hidden(hidden) if hidden.evict() => {
                    moved = true;
                    continue;
                }
                Victim::Hidden(_) => return false,
            };
            let Some(locked) = object.resv().try_lock() else {
                return false;
            };
            let unbound = bind::unbind(&object, gpu.space()).is_ok();
            drop(locked);
            if !unbound {
                self.busy.get_or_insert(object);
                return false;
            }
            moved = true;
        }
        moved
    }
}

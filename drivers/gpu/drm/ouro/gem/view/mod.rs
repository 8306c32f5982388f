// SPDX-License-Identifier: GPL-2.0

//! How the CPU sees objects through the aperture: the window itself ([`aperture`]), detiling of the
//! device's own memory ([`surfaces`]), the fences of both ([`fences`]), and here the page fault.
//!
//! Mostly it is the [`Aperture`]'s business. What is left to do here is to make room where objects
//! that batches have put into the aperture are in the way of a view: with no lock held but
//! `mmap_lock`, since each of them has its own.

mod aperture;
mod fences;
mod surfaces;

pub(crate) use aperture::{Aperture, Tiled, Veil};
pub(crate) use surfaces::Surfaces;

use kernel::{
    sync::aref::ARef,
    time::{delay::fsleep, Delta},
};
use ouro_hw::types::{GpuAddr, PAGE_SIZE};
use ouro_kernel::{
    gem::{Fault, FaultError},
    resv::{HasResv, Usage},
    time,
    wait::Interruptible,
};

use super::{bind, bo::kind, caches, contents, BoDevice, Object, Victim};
use crate::vm::population::Occupant;
use aperture::{Refused, Shape};

/// How often the whole aperture is searched. What is in the way for a moment, since it is locked or
/// on its way out, is gone by then.
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
                // The device is gone: what is left is the memory, as it is.
                let (_state, backing) = contents::settled(object)?;
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
    let (mut state, backing) = contents::settled(object)?;
    if !object.gpu().coherence().shows_in_aperture(state.cache()) {
        // It can stop the machine.
        return Err(FaultError::Bus.into());
    }
    caches::map(object, &mut state, &backing, kind::APERTURE, 0..0)?;
    let shape = Shape {
        cache: state.cache(),
        tiled: state.tiled,
    };
    aperture.fault(object, &backing, shape, fault)
}

/// A search for objects of batches that can leave the aperture.
#[derive(Default)]
struct Search {
    /// The page that comes next.
    at: u32,
    /// Something that is in use.
    busy: Option<ARef<Object>>,
    done: u32,
}

impl Search {
    /// Frees some stretch of `pages` of objects that can be moved.
    ///
    /// Errors: `Retry` for a signal; `Bus` if what is in the way does not move.
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
                // It ends: by itself, by a reset or with the device.
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

    /// Moves objects, images and directories in a stretch away. False: some stay, or there are none.
    fn clear(&mut self, gpu: &BoDevice, at: u32, pages: u32) -> bool {
        let start = GpuAddr(u64::from(at) * u64::from(PAGE_SIZE));
        let mut moved = false;
        while let Occupant::Kept(victim) = gpu.space().occupant(start, pages.into()) {
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

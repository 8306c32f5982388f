// SPDX-License-Identifier: GPL-2.0

//! A device as its buffer objects see it: its spaces, regions and windows, and how much of it they take.
//!
//! What runs requests is above: objects reach it by two traits. A [`Runner`] lets go of what engines may
//! still reach, and a [`Mover`] copies objects from one region to another.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
};
use ouro_hw::Coherence;
use ouro_kernel::{
    fence::Fence,
    pci::{Claim, DmaDevice},
    resv::Locked,
    userptr::NotifierLock,
};

use super::{
    caches::Flushed,
    region::{self, Local, Region},
    shrink::Reclaim,
    view::{Aperture, Surfaces},
    Backing, Object, Space,
};
use crate::{hardware::Hardware, vm::TableStore};

/// Whether work is taken. The values only go up.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum State {
    /// Nothing has been proved yet.
    Starting = 0,
    /// It runs.
    Running = 1,
    /// The driver was unbound, or the card is gone.
    Gone = 2,
}

/// Runs requests, and lets go of what they held.
pub(crate) trait Runner: Send + Sync {
    /// Keeps memory, which is out of the tables, until no engine reaches it. Process context.
    fn bury(&self, memory: Arc<Backing>);

    /// Lets go of all that can be let go of now. Process context.
    fn retire(&self);

    /// Returns whether nothing is on its way back.
    fn is_empty(&self) -> bool;

    /// Returns the number of requests that are published and not retired.
    fn live(&self) -> i64;

    /// Has a fence signalled soon, since somebody waits for it who cannot be woken up. Any context.
    fn press(&self, fence: &Fence);
}

/// Moves objects from one region to another.
pub(crate) trait Mover: Send + Sync {
    /// Moves an object into another region. `locked` is its reservation.
    ///
    /// Returns the fence of the move; `None` if it is there already, or has no memory yet. Errors:
    /// `ENOSPC` if the region has not so many pages, or the address space no room for the copy; `ENODEV`
    /// without an engine that copies; `ENOMEM`.
    fn start(
        &self,
        object: &Object,
        locked: &Locked<'_>,
        to: &Arc<Region>,
    ) -> Result<Option<ARef<Fence>>>;
}

/// What all objects of a device share.
#[pin_data]
pub(crate) struct BoDevice {
    hardware: Arc<Hardware>,
    space: Arc<Space>,
    /// Where the tables of contexts' own spaces are, on a chip where they have some.
    tables: Option<Arc<TableStore>>,
    aperture: Option<Arc<Aperture>>,
    /// Fences over memory of its own.
    surfaces: Option<Arc<Surfaces>>,
    dma: Arc<DmaDevice>,
    /// Where objects can live; the first is system memory.
    regions: KVec<Arc<Region>>,
    reclaim: Arc<Reclaim>,
    /// Held while batches that use memory of processes are published.
    notifier_lock: Arc<NotifierLock>,
    runner: Arc<dyn Runner>,
    /// There is none before the engines are there, nor after they have gone.
    #[pin]
    mover: Mutex<Option<Arc<dyn Mover>>>,
    state: Atomic<u32>,
    wedged: Atomic<bool>,
    objects: Atomic<i64>,
    object_bytes: Atomic<i64>,
    object_pages: Atomic<i64>,
    moved: Atomic<i64>,
    moves: Atomic<i64>,
    flushed: Flushed,
}

/// How much there is of objects.
pub(crate) struct Counts {
    /// Objects.
    pub(crate) objects: u64,
    /// Bytes of all objects.
    pub(crate) bytes: u64,
    /// Pages of memory that objects have.
    pub(crate) pages: u64,
    /// Bytes that were moved from one region to another so far.
    pub(crate) moved: u64,
    /// Objects that were, each time.
    pub(crate) moves: u64,
}

impl BoDevice {
    /// Makes what objects need. `aperture` is that window on the bus, if there is one, and `local` the
    /// device's own memory, of which `tables` is a part. Errors: `ENOMEM`.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        space: Arc<Space>,
        aperture: Option<Claim>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
        runner: Arc<dyn Runner>,
    ) -> Result<Arc<Self>> {
        let aperture = match aperture {
            Some(window) => Some(Aperture::new(hardware.clone(), space.clone(), window)?),
            None => None,
        };
        let surfaces = match (&aperture, &local) {
            (None, Some(_)) if hardware.topology().fences.is_some() => {
                Some(Surfaces::new(hardware.clone())?)
            }
            _ => None,
        };
        let moves = hardware.topology().coherence.is_whole();
        let regions = region::all(&dma, local, moves)?;
        Arc::pin_init(
            try_pin_init!(Self {
                hardware,
                space,
                tables,
                aperture,
                surfaces,
                dma,
                regions,
                reclaim: Reclaim::new()?,
                notifier_lock: NotifierLock::new()?,
                runner,
                mover <- new_mutex!(None, "ouro_mover"),
                state: Atomic::new(State::Starting as u32),
                wedged: Atomic::new(false),
                objects: Atomic::new(0),
                object_bytes: Atomic::new(0),
                object_pages: Atomic::new(0),
                moved: Atomic::new(0),
                moves: Atomic::new(0),
                flushed: Flushed::new(),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Checks that the device is there. Errors: `ENODEV` when it is gone.
    pub(crate) fn usable(&self) -> Result {
        if self.state.load(ordering::Acquire) == State::Gone as u32 {
            Err(ENODEV)
        } else {
            Ok(())
        }
    }

    /// Raises the state, if it is lower.
    pub(crate) fn advance_state(&self, to: State) {
        let mut now = self.state.load(ordering::Relaxed);
        while now < to as u32 {
            match self.state.cmpxchg(now, to as u32, ordering::Full) {
                Ok(_) => break,
                Err(n) => now = n,
            }
        }
    }

    /// As [`usable`](Self::usable), and `EIO` when it was given up: nothing can be run then.
    pub(crate) fn working(&self) -> Result {
        self.usable()?;
        if self.is_wedged() {
            return Err(EIO);
        }
        Ok(())
    }

    /// Returns whether the device was given up.
    pub(crate) fn is_wedged(&self) -> bool {
        self.wedged.load(ordering::Acquire)
    }

    /// The device is given up, or is back.
    pub(crate) fn set_wedged(&self, wedged: bool) {
        self.wedged.store(wedged, ordering::Release);
    }

    /// Returns what was flushed of the CPU's caches.
    pub(crate) fn flushed(&self) -> &Flushed {
        &self.flushed
    }

    /// Returns the device as its backend sees it.
    pub(crate) fn hardware(&self) -> &Arc<Hardware> {
        &self.hardware
    }

    /// Returns what the device sees of the CPU's caches.
    pub(crate) fn coherence(&self) -> Coherence {
        self.hardware.topology().coherence
    }

    /// Returns the global space.
    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Returns where the tables of contexts' own spaces are.
    pub(crate) fn tables(&self) -> Option<&Arc<TableStore>> {
        self.tables.as_ref()
    }

    /// Returns what undoes tiles in the device's own memory, where the CPU sees that through a window.
    pub(crate) fn surfaces(&self) -> Option<&Surfaces> {
        self.surfaces.as_deref()
    }

    /// Returns the window on what the global table maps, where there is one.
    pub(crate) fn aperture(&self) -> Option<&Aperture> {
        self.aperture.as_deref()
    }

    /// Returns the device that maps memory for DMA.
    pub(crate) fn dma_device(&self) -> &Arc<DmaDevice> {
        &self.dma
    }

    /// Returns where objects can live; the first is system memory.
    pub(crate) fn regions(&self) -> &[Arc<Region>] {
        &self.regions
    }

    /// Returns what is held while batches that use memory of processes are published.
    pub(crate) fn notifier_lock(&self) -> &Arc<NotifierLock> {
        &self.notifier_lock
    }

    /// Returns the objects whose memory can be given back.
    pub(crate) fn reclaim(&self) -> &Arc<Reclaim> {
        &self.reclaim
    }

    /// Returns who runs requests.
    pub(crate) fn runner(&self) -> &Arc<dyn Runner> {
        &self.runner
    }

    /// Returns who moves objects. Errors: `ENODEV` if there is nobody.
    pub(super) fn mover(&self) -> Result<Arc<dyn Mover>> {
        self.mover.lock().clone().ok_or(ENODEV)
    }

    /// Says who moves objects. Whoever was that is let go of.
    pub(crate) fn set_mover(&self, mover: Option<Arc<dyn Mover>>) {
        let last = core::mem::replace(&mut *self.mover.lock(), mover);
        drop(last);
    }

    /// Returns the bytes of a page's state of compression, which moves carry; 0 where there is none.
    pub(crate) fn state_bytes(&self) -> u32 {
        let mut engines = self.hardware.topology().engines.iter();
        let copier = engines.find(|engine| engine.desc().copy_pages != 0);
        copier.map_or(0, |engine| engine.desc().state_bytes)
    }

    /// Counts `n` more objects, of `bytes` in all.
    pub(crate) fn count_object(&self, n: i64, bytes: i64) {
        self.objects.fetch_add(n, ordering::Relaxed);
        self.object_bytes.fetch_add(bytes, ordering::Relaxed);
    }

    /// Counts `n` more pages of memory that objects have.
    pub(crate) fn count_pages(&self, n: i64) {
        self.object_pages.fetch_add(n, ordering::Relaxed);
    }

    /// An object of so many bytes is moved.
    pub(crate) fn count_moved(&self, bytes: u64) {
        self.moved.fetch_add(bytes as i64, ordering::Relaxed);
        self.moves.fetch_add(1, ordering::Relaxed);
    }

    /// Returns how much there is of objects.
    pub(crate) fn object_counts(&self) -> Counts {
        let get = |a: &Atomic<i64>| a.load(ordering::Relaxed).max(0) as u64;
        Counts {
            objects: get(&self.objects),
            bytes: get(&self.object_bytes),
            pages: get(&self.object_pages),
            moved: get(&self.moved),
            moves: get(&self.moves),
        }
    }
}

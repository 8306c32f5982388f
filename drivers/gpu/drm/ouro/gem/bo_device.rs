// SPDX-License-Identifier: GPL-2.0

//! The part of a device that all its BOs share: address spaces, regions, apertures, and statistics.
//!
//! The code that runs requests is above this layer: BOs reach it through two traits. A [`Runner`]
//! frees memory that engines may still reach, and a [`Mover`] copies BOs from one region to
//! another.

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

/// The state of the device. It only increases.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum State {
    /// Engines are not proven to work yet.
    Starting = 0,
    /// It runs.
    Running = 1,
    /// The driver was unbound, or the card is gone.
    Gone = 2,
}

/// Runs requests, and frees what they used.
pub(crate) trait Runner: Send + Sync {
    /// Keeps memory, which is unmapped, until no engine can reach it through its TLBs. Process
    /// context.
    fn quarantine_memory(&self, memory: Arc<Backing>);

    /// Frees everything that can be freed now. Process context.
    fn retire(&self);

    /// Returns whether nothing is waiting to be freed.
    fn is_empty(&self) -> bool;

    /// Returns the number of requests that are published and not retired.
    fn live(&self) -> i64;

    /// Makes a fence signal soon, because its waiter cannot be woken up. Any context.
    fn press(&self, fence: &Fence);
}

/// Moves BOs from one region to another.
pub(crate) trait Mover: Send + Sync {
    /// Moves a BO into another region. `locked` is its reservation.
    ///
    /// Returns the fence of the move; `None` if it is there already, or has no memory yet. Errors:
    /// `ENOSPC` if the region is full, or the address space has no room for the copy; `ENODEV`
    /// without an engine that copies; `ENOMEM`.
    fn start(
        &self,
        object: &Object,
        locked: &Locked<'_>,
        to: &Arc<Region>,
    ) -> Result<Option<ARef<Fence>>>;
}

/// The part of a device that all its BOs share.
#[pin_data]
pub(crate) struct BoDevice {
    hardware: Arc<Hardware>,
    space: Arc<Space>,
    /// VRAM for the page tables of PPGTTs, on chips that need it.
    tables: Option<Arc<TableStore>>,
    aperture: Option<Arc<Aperture>>,
    /// Fences over VRAM.
    surfaces: Option<Arc<Surfaces>>,
    dma: Arc<DmaDevice>,
    /// The regions for BOs; the first one is system memory.
    regions: KVec<Arc<Region>>,
    reclaim: Arc<Reclaim>,
    /// Held while batches that use userptr BOs are published.
    notifier_lock: Arc<NotifierLock>,
    runner: Arc<dyn Runner>,
    /// `None` before the engines exist, and after they are gone.
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

/// Statistics of BOs.
pub(crate) struct Counts {
    /// Number of BOs.
    pub(crate) objects: u64,
    /// Their size in bytes.
    pub(crate) bytes: u64,
    /// Number of pages that they have.
    pub(crate) pages: u64,
    /// Bytes moved between regions so far.
    pub(crate) moved: u64,
    /// Number of moves so far.
    pub(crate) moves: u64,
}

impl BoDevice {
    /// Creates the shared part of a device. `aperture` is the BAR range of the aperture, if there
    /// is one, and `local` the VRAM, without the part for `tables`. Errors: `ENOMEM`.
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

    /// Checks that the device is present. Errors: `ENODEV` if it is gone.
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

    /// Checks that the device is present and not wedged. Errors: `ENODEV`, `EIO`.
    pub(crate) fn working(&self) -> Result {
        self.usable()?;
        if self.is_wedged() {
            return Err(EIO);
        }
        Ok(())
    }

    /// Returns whether the device is wedged.
    pub(crate) fn is_wedged(&self) -> bool {
        self.wedged.load(ordering::Acquire)
    }

    /// Sets whether the device is wedged.
    pub(crate) fn set_wedged(&self, wedged: bool) {
        self.wedged.store(wedged, ordering::Release);
    }

    /// Returns the statistics of cache flushes.
    pub(crate) fn flushed(&self) -> &Flushed {
        &self.flushed
    }

    /// Returns the device's hardware.
    pub(crate) fn hardware(&self) -> &Arc<Hardware> {
        &self.hardware
    }

    /// Returns how coherent the device is with the CPU's caches.
    pub(crate) fn coherence(&self) -> Coherence {
        self.hardware.topology().coherence
    }

    /// Returns the global space.
    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Returns the VRAM for page tables.
    pub(crate) fn tables(&self) -> Option<&Arc<TableStore>> {
        self.tables.as_ref()
    }

    /// Returns the fences over VRAM, on chips where the CPU sees VRAM through a BAR with detiling.
    pub(crate) fn surfaces(&self) -> Option<&Surfaces> {
        self.surfaces.as_deref()
    }

    /// Returns the aperture, if there is one.
    pub(crate) fn aperture(&self) -> Option<&Aperture> {
        self.aperture.as_deref()
    }

    /// Returns the device for DMA mappings.
    pub(crate) fn dma_device(&self) -> &Arc<DmaDevice> {
        &self.dma
    }

    /// Returns the regions for BOs; the first one is system memory.
    pub(crate) fn regions(&self) -> &[Arc<Region>] {
        &self.regions
    }

    /// Returns the lock that is held while batches that use userptr BOs are published.
    pub(crate) fn notifier_lock(&self) -> &Arc<NotifierLock> {
        &self.notifier_lock
    }

    /// Returns the lists of BOs whose memory can be reclaimed.
    pub(crate) fn reclaim(&self) -> &Arc<Reclaim> {
        &self.reclaim
    }

    /// Returns the runner.
    pub(crate) fn runner(&self) -> &Arc<dyn Runner> {
        &self.runner
    }

    /// Returns the mover. Errors: `ENODEV` if there is none.
    pub(super) fn mover(&self) -> Result<Arc<dyn Mover>> {
        self.mover.lock().clone().ok_or(ENODEV)
    }

    /// Sets the mover, and drops the previous one.
    pub(crate) fn set_mover(&self, mover: Option<Arc<dyn Mover>>) {
        let last = core::mem::replace(&mut *self.mover.lock(), mover);
        drop(last);
    }

    /// Returns the bytes of compression state (CCS) per page that moves carry; 0 if there is none.
    pub(crate) fn state_bytes(&self) -> u32 {
        let mut engines = self.hardware.topology().engines.iter();
        let copier = engines.find(|engine| engine.desc().copy_pages != 0);
        copier.map_or(0, |engine| engine.desc().state_bytes)
    }

    /// Counts `n` more BOs, of `bytes` in all.
    pub(crate) fn count_object(&self, n: i64, bytes: i64) {
        self.objects.fetch_add(n, ordering::Relaxed);
        self.object_bytes.fetch_add(bytes, ordering::Relaxed);
    }

    /// Counts `n` more pages of BOs.
    pub(crate) fn count_pages(&self, n: i64) {
        self.object_pages.fetch_add(n, ordering::Relaxed);
    }

    /// Counts a move of a BO of `bytes` bytes.
    pub(crate) fn count_moved(&self, bytes: u64) {
        self.moved.fetch_add(bytes as i64, ordering::Relaxed);
        self.moves.fetch_add(1, ordering::Relaxed);
    }

    /// Returns the statistics of BOs.
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

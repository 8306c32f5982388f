// SPDX-License-Identifier: GPL-2.0

//! A device as the core sees it: its hardware, address space and engines, and what is alive on it.
//!
//! It is `'static` and outlives the binding of the driver: open files keep it. How it shows that it
//! works is in [`prove`], what contexts need in [`contexts`], how it sleeps and ends in
//! [`power`](crate::power). After [`Gpu::shutdown`] everything answers `ENODEV`, and nothing
//! waits.

pub(crate) mod activity;
mod contexts;
mod prove;

use kernel::{
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
    time::{delay::fsleep, Delta},
};
use ouro_hw::{generation::Space as Kind, types::EngineId, EngineClass};
use ouro_kernel::{
    pci::{Claim, DmaDevice},
    userptr::Gate,
};

use crate::{
    gem::{
        region::{self, Local, Region},
        shrink::Reclaim,
        view::{Aperture, Surfaces},
    },
    hardware::Hardware,
    look::Lit,
    reset::Recovery,
    submit::{pool::Pool, request::Awake, Context, Engine, Retirer},
    vm::{Space, TableStore},
};

/// Others wait for what the kernel does: it is more urgent than all that they can ask for.
const KERNEL_PRIORITY: i32 = 1 << 16;

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

/// A device.
pub(crate) struct Gpu {
    hardware: Arc<Hardware>,
    space: Arc<Space>,
    /// Where the tables of contexts' own spaces are, on a chip where they have some.
    tables: Option<Arc<TableStore>>,
    aperture: Option<Arc<Aperture>>,
    /// Fences over memory of its own.
    surfaces: Option<Arc<Surfaces>>,
    retirer: Arc<Retirer>,
    engines: KVec<Arc<Engine>>,
    dma: Arc<DmaDevice>,
    /// Where objects can live; the first is system memory.
    regions: KVec<Arc<Region>>,
    reclaim: Arc<Reclaim>,
    /// Where checked batches lie, on a chip that wants them checked.
    pool: Option<Arc<Pool>>,
    /// Shut while batches that use memory of processes are published.
    gate: Arc<Gate>,
    revision: u8,
    state: Atomic<u32>,
    /// What an idle engine holds.
    kernel_context: Arc<Context>,
    recovery: Arc<Recovery>,
    objects: Atomic<i64>,
    object_bytes: Atomic<i64>,
    object_pages: Atomic<i64>,
    moved: Atomic<i64>,
    moves: Atomic<i64>,
    contexts: Arc<Atomic<i64>>,
}

/// What is alive.
pub(crate) struct Counts {
    pub(crate) objects: u64,
    pub(crate) object_bytes: u64,
    pub(crate) object_pages: u64,
    /// Bytes that were moved from one region to another so far.
    pub(crate) moved: u64,
    /// Objects that were, each time.
    pub(crate) moves: u64,
    pub(crate) contexts: u64,
    pub(crate) fences: u64,
}

impl Gpu {
    /// Brings a device up: tables, and the memory of its engines, which [`prove`](Self::prove) starts.
    /// `aperture` is that window on the bus, if there is one, and `local` the device's own memory, of
    /// which `tables` is a part. Entries of `lit` stay as they are. The device is master of the bus afterwards.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        aperture: Option<Claim>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
        lit: &Lit,
    ) -> Result<Arc<Self>> {
        let _awake = Awake::new(&hardware)?;
        hardware.prepare()?;
        let space = Space::new(hardware.clone(), &dma, lit)?;
        Self::on(hardware, dma, space.clone(), aperture, local, tables)
            // The scratch page is about to be freed.
            .inspect_err(|_| space.retract())
    }

    /// The rest of [`new`](Self::new): the table is written.
    fn on(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        space: Arc<Space>,
        aperture: Option<Claim>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
    ) -> Result<Arc<Self>> {
        hardware.start(space.layout().ok_or(EINVAL)?)?;
        // What it was doing before it was reset may have reached any page.
        dma.set_master(true);
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
        let retirer = Retirer::new(hardware.clone())?;
        let contexts = Arc::new(Atomic::new(0), GFP_KERNEL)?;
        let revision = hardware.topology().revision;
        let count = hardware.topology().engines.len();
        let kernel_context = Context::new(count, &contexts, None)?;
        kernel_context.set_priority(KERNEL_PRIORITY);
        let mut engines = KVec::with_capacity(count, GFP_KERNEL)?;
        for index in 0..count {
            let engine = Engine::new(hardware.clone(), &space, &dma, index, retirer.clone())?;
            engines.push(engine, GFP_KERNEL)?;
        }
        let recovery = Recovery::new(
            hardware.clone(),
            space.clone(),
            surfaces.clone(),
            dma.clone(),
            retirer.clone(),
            &engines,
            kernel_context.clone(),
        )?;
        let pool = match hardware.topology().checker {
            Some(_) => Some(Pool::new(&space, &dma)?),
            None => None,
        };
        let regions = region::all(&dma, local)?;
        let gpu = Arc::new(
            Self {
                regions,
                hardware,
                space,
                tables,
                aperture,
                surfaces,
                retirer,
                engines,
                dma,
                reclaim: Reclaim::new()?,
                pool,
                gate: Gate::new()?,
                revision,
                state: Atomic::new(State::Starting as u32),
                kernel_context,
                recovery,
                objects: Atomic::new(0),
                object_bytes: Atomic::new(0),
                object_pages: Atomic::new(0),
                moved: Atomic::new(0),
                moves: Atomic::new(0),
                contexts,
            },
            GFP_KERNEL,
        )?;
        // They know each other until the end.
        gpu.retirer
            .set_engines(&gpu.engines, gpu.recovery.clone())?;
        Ok(gpu)
    }

    /// `ENODEV` when the device is gone.
    pub(crate) fn usable(&self) -> Result {
        if self.state.load(ordering::Acquire) == State::Gone as u32 {
            Err(ENODEV)
        } else {
            Ok(())
        }
    }

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
        if self.recovery.is_wedged() {
            return Err(EIO);
        }
        Ok(())
    }

    /// Waits until nothing is under way, for up to so many milliseconds. Errors: `ETIME`,
    /// `ERESTARTSYS`. Sleeps.
    pub(crate) fn wait_idle(&self, ms: u32) -> Result {
        for _ in 0..ms.max(1) {
            for engine in self.engines.iter() {
                engine.advance();
            }
            self.retirer.retire();
            if self.engines.iter().all(|e| e.is_idle()) {
                return Ok(());
            }
            if kernel::current!().signal_pending() {
                return Err(ERESTARTSYS);
            }
            fsleep(Delta::from_millis(1));
        }
        Err(ETIME)
    }

    /// Bytes of a space that batches are in.
    pub(crate) fn space_size(&self) -> u64 {
        match self.hardware.topology().space {
            Kind::PerContext { bits, .. } => 1 << bits,
            Kind::Global | Kind::Aliasing { .. } => self.space.size(),
        }
    }

    /// Whether it is a card with memory of its own whose interface is the narrow one of such cards.
    pub(crate) fn is_discrete(&self) -> bool {
        let topology = self.hardware.topology();
        topology.local.is_some() && matches!(topology.space, Kind::PerContext { .. })
    }

    /// Whether engines take what is most urgent first.
    pub(crate) fn has_scheduler(&self) -> bool {
        self.engines.iter().any(|e| e.has_lists())
    }

    /// The PCI revision.
    pub(crate) fn revision(&self) -> u8 {
        self.revision
    }

    /// What user space calls an engine.
    pub(crate) fn name_of(&self, engine: &Engine) -> Option<EngineId> {
        self.hardware.topology().name(engine.index())
    }

    /// The engine of a class and number, as user space calls it.
    pub(crate) fn engine(&self, class: EngineClass, instance: u8) -> Option<Arc<Engine>> {
        let is = |e: &&Arc<Engine>| self.name_of(e) == Some(EngineId { class, instance });
        self.engines.iter().find(is).cloned()
    }

    pub(crate) fn hardware(&self) -> &Arc<Hardware> {
        &self.hardware
    }

    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Where the tables of contexts' own spaces are.
    pub(crate) fn tables(&self) -> Option<&Arc<TableStore>> {
        self.tables.as_ref()
    }

    /// What undoes tiles in the device's own memory, where the CPU sees that through a window.
    pub(crate) fn surfaces(&self) -> Option<&Surfaces> {
        self.surfaces.as_deref()
    }

    /// The window on what the global table maps, where there is one.
    pub(crate) fn aperture(&self) -> Option<&Aperture> {
        self.aperture.as_deref()
    }

    /// What an idle engine holds.
    pub(crate) fn kernel_context(&self) -> &Arc<Context> {
        &self.kernel_context
    }

    pub(crate) fn retirer(&self) -> &Arc<Retirer> {
        &self.retirer
    }

    /// Who looks after engines that hang.
    pub(crate) fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    pub(crate) fn dma_device(&self) -> &Arc<DmaDevice> {
        &self.dma
    }

    pub(crate) fn regions(&self) -> &[Arc<Region>] {
        &self.regions
    }

    pub(crate) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Where checked batches lie, on a chip that wants them checked.
    pub(crate) fn pool(&self) -> Option<&Arc<Pool>> {
        self.pool.as_ref()
    }

    /// The objects whose memory can be given back.
    pub(crate) fn reclaim(&self) -> &Arc<Reclaim> {
        &self.reclaim
    }

    pub(crate) fn engines(&self) -> &[Arc<Engine>] {
        &self.engines
    }

    pub(crate) fn count_object(&self, n: i64, bytes: i64) {
        self.objects.fetch_add(n, ordering::Relaxed);
        self.object_bytes.fetch_add(bytes, ordering::Relaxed);
    }

    pub(crate) fn count_pages(&self, n: i64) {
        self.object_pages.fetch_add(n, ordering::Relaxed);
    }

    /// An object of so many bytes is moved.
    pub(crate) fn count_moved(&self, bytes: u64) {
        self.moved.fetch_add(bytes as i64, ordering::Relaxed);
        self.moves.fetch_add(1, ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> Counts {
        let get = |a: &Atomic<i64>| a.load(ordering::Relaxed).max(0) as u64;
        Counts {
            objects: get(&self.objects),
            object_bytes: get(&self.object_bytes),
            object_pages: get(&self.object_pages),
            moved: get(&self.moved),
            moves: get(&self.moves),
            contexts: get(&self.contexts),
            fences: self.retirer.live().max(0) as u64,
        }
    }

    /// The interrupt. Returns whether it was ours.
    pub(crate) fn interrupt(&self) -> bool {
        let events = self.hardware.interrupt();
        for engine in self.engines.iter() {
            if events.completed & (1 << engine.index()) != 0 {
                engine.interrupt();
            }
        }
        if events.errors != 0 {
            self.retirer.report_errors(events.errors);
        }
        events.ours
    }
}

// SPDX-License-Identifier: GPL-2.0

//! A device as the core sees it: its hardware, address space and engines, and what is alive on it.
//!
//! It is `'static` and outlives the binding of the driver: open files keep it. How it sleeps and ends
//! is in [`power`](crate::power). After [`Gpu::shutdown`] everything answers `ENODEV`, and nothing
//! waits.

use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc,
    },
    time::{delay::fsleep, Delta},
};
use ouro_hw::{engine::EventArea, generation::Space as Kind, types::EngineId, EngineClass};
use ouro_kernel::{
    fence::Fence,
    pci::DmaDevice,
    time,
    userptr::Gate,
    wait::{Interruptible, Waited},
};

use crate::{
    gem::{
        region::{self, Local, Region},
        shrink::Reclaim,
    },
    hardware::Hardware,
    reset::Recovery,
    submit::{
        guilt::Holder,
        image::{Image, InUse},
        lane::{Lane, Seat},
        pool::Pool,
        publish::{Draft, Parts},
        quota::{Quota, Share},
        request::{Awake, Work},
        Context, Engine, Retirer,
    },
    vm::{Aperture, Shared, Space, Surfaces, TableStore},
};

/// Milliseconds after which a client that has used up its quota looks whether that is still so.
const QUOTA_LOOK_MS: u32 = 20;
/// Looks for the first report of an engine, each after 100 microseconds.
const REPORT_LOOKS: u32 = 10_000;
/// Milliseconds that the device has for its first requests.
const FIRST_REQUEST_MS: u32 = 10_000;

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
    /// `aperture` is the bus address of that window, if there is one, and `local` the device's own memory, of
    /// which `tables` is a part.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        aperture: Option<u64>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
    ) -> Result<Arc<Self>> {
        let _awake = Awake::new(&hardware)?;
        let space = Space::new(hardware.clone(), &dma)?;
        hardware.start(space.layout().ok_or(EINVAL)?)?;
        let aperture = match aperture {
            Some(bus) => Some(Aperture::new(hardware.clone(), space.clone(), bus)?),
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

    /// Starts the engines, runs the first request on each of them, and records the golden image. The
    /// interrupt is connected. After an error, [`shutdown`](Self::shutdown) is due as ever.
    ///
    /// Errors: `EIO` if an engine does not answer.
    pub(crate) fn prove(&self) -> Result {
        let _awake = Awake::new(&self.hardware)?;
        self.hardware.flush_gtt();
        if let Some(engine) = self.engines.iter().find(|e| e.has_lists()) {
            let area = self.find_reports(engine)?;
            for engine in self.engines.iter() {
                engine.set_reports(area);
            }
            // It begins again, with somebody who listens.
            self.hardware.restart(self.space.layout().ok_or(EINVAL)?)?;
        }
        for engine in self.engines.iter() {
            engine.start()?;
        }
        self.hardware.irq_on();
        for engine in self.engines.iter() {
            if engine.has_lists() {
                self.record_first_image(engine)?;
            } else if self.has_images(engine) {
                self.record_golden(engine)?;
            }
            let fence = self.run(engine, &self.kernel_context, Work::Nothing)?;
            self.finish(engine, &fence)?;
        }
        self.advance_state(State::Running);
        Ok(())
    }

    /// Lets an engine run a context, and looks where it reports that. Errors: `EIO` if it does not run it.
    fn find_reports(&self, engine: &Arc<Engine>) -> Result<EventArea> {
        let guess = engine.hw().desc().events.ok_or(EINVAL)?;
        engine.start()?;
        let first = self.new_context(None)?;
        let fence = self.run(engine, &first, Work::Nothing)?;
        let done = engine.wait_until(|| fence.is_signaled());
        if done.is_err() {
            pr_err!("{:?} does not answer\n", engine.hw().desc().id);
            return Err(EIO);
        }
        for _ in 0..REPORT_LOOKS {
            if let Some(area) = engine.find_reports()? {
                return Ok(area);
            }
            fsleep(Delta::from_micros(100));
        }
        pr_warn!(
            "{:?} reports at no known place: {:#x} is taken for it\n",
            engine.hw().desc().id,
            guess.at
        );
        Ok(guess)
    }

    fn finish(&self, engine: &Engine, fence: &Fence) -> Result {
        match fence.wait(Interruptible::No, time::ms(FIRST_REQUEST_MS))? {
            Waited::Done(_) => Ok(()),
            Waited::TimedOut => {
                pr_err!("{:?} does not answer\n", engine.hw().desc().id);
                Err(EIO)
            }
        }
    }

    /// Whether the engine swaps images of contexts when it is told to in its ring.
    pub(crate) fn has_images(&self, engine: &Engine) -> bool {
        let has = self.hardware.topology().context.is_some() && engine.hw().desc().contexts;
        has && !engine.has_lists()
    }

    fn new_image(&self) -> Result<Arc<Image>> {
        let topology = self.hardware.topology();
        let align = topology.context.ok_or(ENODEV)?.alignment();
        Image::new(
            &self.space,
            &self.dma,
            &self.retirer,
            topology.context_bytes,
            align,
        )
    }

    /// Lets the device save the state of a context that has only ever held first values.
    fn record_golden(&self, engine: &Arc<Engine>) -> Result {
        let first = self.new_context(None)?;
        for context in [&first, &self.kernel_context] {
            context.make_image(|| self.new_image(), false)?;
        }
        self.run(engine, &first, Work::Golden)?;
        // The switch away is what saves it.
        let fence = self.run(engine, &self.kernel_context, Work::Nothing)?;
        self.finish(engine, &fence)?;
        let golden = self.new_image()?;
        golden.copy_from(first.image().ok_or(EINVAL)?);
        self.recovery.golden().populate(golden);
        Ok(())
    }

    /// Lets the device save the state of a context that has only ever held first values, on an engine that
    /// takes lists of contexts.
    fn record_first_image(&self, engine: &Arc<Engine>) -> Result {
        let first = self.new_context(None)?;
        let fence = self.run(engine, &first, Work::Golden)?;
        self.finish(engine, &fence)?;
        let seat = first.seat(engine).ok_or(EINVAL)?;
        // Without anything to do, the engine is idle, and has saved it.
        let begin = time::monotonic_ns();
        while engine.holds(seat.id()) {
            let ms = time::monotonic_ns().saturating_sub(begin) / 1_000_000;
            if ms > FIRST_REQUEST_MS.into() {
                pr_err!("{:?} does not save a context\n", engine.hw().desc().id);
                return Err(EIO);
            }
            fsleep(Delta::from_micros(100));
            engine.advance();
        }
        engine.set_golden(seat.lane().read()?)
    }

    /// Gives a context a place on an engine that takes lists of contexts. Errors: as
    /// [`prepare`](Self::prepare).
    fn new_seat(
        &self,
        context: &Context,
        engine: &Arc<Engine>,
        space: Arc<Shared>,
    ) -> Result<Seat> {
        let golden = engine.golden()?;
        let lane = Lane::new(
            &self.hardware,
            engine.hw(),
            &self.space,
            &self.dma,
            space,
            golden.as_deref(),
        )?;
        Seat::new(engine, lane, context)
    }

    /// The space that a context's batches are in. Process context. Errors: `ENOSPC` if there is no room
    /// for its tables, `ENOMEM`.
    pub(crate) fn space_of<'a>(&'a self, context: &'a Context) -> Result<&'a Arc<Space>> {
        if self.tables.is_none() {
            return Ok(&self.space);
        }
        Ok(self.own_space(context)?.space())
    }

    /// The space of its own that a context has. Errors: as [`new_space`](Self::new_space).
    pub(crate) fn own_space<'a>(&self, context: &'a Context) -> Result<&'a Arc<Shared>> {
        if let Some(space) = context.space() {
            return Ok(space);
        }
        context.make_space(|| self.new_space())
    }

    /// Whether contexts have spaces of their own.
    pub(crate) fn has_own_spaces(&self) -> bool {
        self.tables.is_some()
    }

    /// Makes a space for contexts. Errors: `ENODEV` where they have none of their own, `ENOSPC` if there is
    /// no room for its tables, `ENOMEM`.
    pub(crate) fn new_space(&self) -> Result<Arc<Shared>> {
        let tables = self.tables.as_ref().ok_or(ENODEV)?;
        let space = Space::own(self.hardware.clone(), &self.dma, tables)?;
        Ok(Arc::new(Shared::new(space, &self.retirer), GFP_KERNEL)?)
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

    /// Where the tables of contexts' own spaces are.
    pub(crate) fn tables(&self) -> Option<&Arc<TableStore>> {
        self.tables.as_ref()
    }

    /// Runs a request of the kernel's own.
    pub(crate) fn run(
        &self,
        engine: &Arc<Engine>,
        context: &Arc<Context>,
        work: Work,
    ) -> Result<ARef<Fence>> {
        let awake = Awake::new(&self.hardware)?;
        let in_use = self.prepare(context, engine)?;
        let mut timelines = context.timelines().lock();
        let timeline = timelines.get_mut(engine.index()).ok_or(EINVAL)?;
        let parts = Parts {
            context: Some(in_use),
            ..Parts::new(work, awake)
        };
        let line = context.line(engine);
        let prepared = Draft::new(engine, line, Some(timeline))?.complete(parts, KVVec::new())?;
        Ok(prepared.publish(self, |_| ()))
    }

    /// A share of what a client may have under way on a timeline. If that is used up, waits until
    /// something is retired, or answers `EAGAIN` if it may not `wait`. Sleeps. Errors:
    /// `ERESTARTSYS`, `EIO`, `ENODEV`.
    pub(crate) fn share(
        &self,
        quota: &Arc<Quota>,
        context: &Context,
        engine: &Engine,
        wait: bool,
    ) -> Result<Share> {
        let timeline = {
            let timelines = context.timelines().lock();
            let timeline = timelines.get(engine.index()).ok_or(EINVAL)?;
            timeline.quota().clone()
        };
        let mut looked = false;
        loop {
            if let Some(share) = Share::take(quota, &timeline) {
                return Ok(share);
            }
            self.working()?;
            engine.advance();
            self.retirer.retire();
            // What is done may not have been retired yet.
            if !core::mem::replace(&mut looked, true) {
                continue;
            }
            if !wait {
                return Err(EAGAIN);
            }
            let last = {
                let timelines = context.timelines().lock();
                timelines
                    .get(engine.index())
                    .and_then(|t| t.last().cloned())
            };
            match last {
                Some(fence) => drop(fence.wait(Interruptible::Yes, time::ms(QUOTA_LOOK_MS))?),
                None => fsleep(Delta::from_millis(1)),
            }
            if kernel::current!().signal_pending() {
                return Err(ERESTARTSYS);
            }
        }
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

    /// Who looks after engines that hang.
    pub(crate) fn recovery(&self) -> &Recovery {
        &self.recovery
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

    /// Makes a context of a client, or of the kernel.
    pub(crate) fn new_context(&self, holder: Option<&Arc<Holder>>) -> Result<Arc<Context>> {
        Context::new(self.engines.len(), &self.contexts, holder.cloned())
    }

    /// Gives a context what it needs to run on an engine. Process context.
    ///
    /// Errors: `ENOSPC` if there is no room for its image, `ENOMEM`, `EIO`.
    pub(crate) fn prepare(&self, context: &Arc<Context>, engine: &Arc<Engine>) -> Result<InUse> {
        if engine.has_lists() {
            let seat = match context.seat(engine) {
                Some(seat) => seat,
                None => {
                    let space = self.own_space(context)?.clone();
                    context.make_seat(engine, || self.new_seat(context, engine, space))?
                }
            };
            return Ok(InUse::seated(context, seat));
        }
        if !self.has_images(engine) {
            return InUse::new(context, None);
        }
        let image = match context.image() {
            Some(image) => image,
            None => {
                let golden = self.recovery.golden().as_ref().ok_or(EIO)?;
                context.make_image(
                    || {
                        let image = self.new_image()?;
                        image.copy_from(golden);
                        Ok(image)
                    },
                    true,
                )?
            }
        };
        InUse::new(context, Some(image))
    }

    pub(crate) fn hardware(&self) -> &Arc<Hardware> {
        &self.hardware
    }

    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
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

// SPDX-License-Identifier: GPL-2.0
//! A chip with a ring for each engine (Gen4, Gen6, Gen7): device, memory, tables, rings. The device has all
//! habits of real ones, unless a test wants another.

use crate::adapter::{Line, Time, Windows};
use gpu_model::{
    memory::VecMemory,
    ring::{chip, EngineId, Real, RingConfig, RingGpu},
};
use ouro_hw::{
    chips::{self, Chip},
    coherence::KernelUse,
    engine::{Batch, Emit, EngineMemory, Privilege, StatusPage, StatusPlace, Submission, Switch},
    generation::{DeviceError, Events, Layout, ResetScope, Scanout, Topology},
    gt::Gt,
    io::Hw,
    ring::{Commands, Ring},
    types::{CacheLevel, DmaAddr, GgttAddr, GpuAddr, MemoryKind, Page, Seqno, PAGE_SIZE},
};
use std::sync::Arc;

/// Bytes of memory, from bus address 0.
const MEMORY: usize = 16 << 20;
/// Bus address of the page behind every hole.
pub const SCRATCH: u64 = 0x1000;
/// Bus address of the first table behind the directory.
const TABLES: u64 = 0x10_0000;
/// Bus address of the first page that is handed out.
const POOL: u64 = 0x40_0000;
/// First address that is handed out in the global table: behind what firmware shows.
const FIRST_ADDR: u32 = 0x40_0000;

/// The engines as the model numbers them, in the topology's order.
pub const ENGINES: [EngineId; 3] = [EngineId::Rcs, EngineId::Bcs, EngineId::Vcs];
/// The render engine's number.
pub const RCS: usize = 0;
/// The blitter's number.
pub const BCS: usize = 1;
/// The video engine's number.
pub const VCS: usize = 2;

/// Memory that is bound in the tables.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Its address for the GPU.
    pub addr: u32,
    /// Its address on the bus.
    pub bus: u64,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The context switch.
    pub switch: Switch,
    /// The batch's address, and whether it is a user's.
    pub batch: Option<(u32, Privilege)>,
    /// The kernel's own commands.
    pub inline: &'a [u32],
}

impl Work<'static> {
    /// A user's batch, in whatever context is loaded.
    pub fn batch(addr: u32) -> Self {
        Self {
            switch: Switch::Stay,
            batch: Some((addr, Privilege::User)),
            inline: &[],
        }
    }
    /// Nothing but a context switch.
    pub fn switch(image: u32, saved: bool) -> Self {
        Self {
            switch: Switch::To {
                image: GgttAddr(image),
                saved,
            },
            batch: None,
            inline: &[],
        }
    }
}

/// An engine's memory and software state.
pub struct Port {
    /// What the backend is given.
    pub mem: EngineMemory,
    /// Where its ring is filled to.
    pub ring: Ring,
    ring_bus: u64,
    status_bus: u64,
    /// The number of the last request.
    pub seqno: Seqno,
    /// Microseconds that its batches may run before its watchdog interrupts.
    pub watchdog: Option<u32>,
}

/// The machine.
pub struct RingMachine {
    /// The device.
    pub gpu: Arc<RingGpu>,
    /// Its memory.
    pub memory: Arc<VecMemory>,
    /// Where its interrupts go.
    pub line: Arc<Line>,
    /// Its windows.
    pub windows: Windows<RingGpu>,
    /// Time.
    pub time: Time<RingGpu>,
    /// The chip.
    pub chip: &'static Chip,
    /// What it has.
    pub topo: Topology,
    /// Where the tables are.
    pub layout: Layout,
    /// The shared state.
    pub gt: Gt,
    /// The engines.
    pub ports: Vec<Port>,
    /// The directory that the next request loads, if it does.
    pub load: Option<GgttAddr>,
    next_addr: u32,
    next_bus: u64,
}

/// What a machine is made of.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The device's choices.
    pub config: RingConfig,
    /// Whether there is an IOMMU.
    pub iommu: bool,
}

/// Habits of the machines here. Tests count the driver's reads of the FIFO's room, of which there are more if it shows
/// none (`gen6_real` has that habit).
pub fn habits() -> Real {
    Real {
        full_fifo: false,
        ..Real::all()
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            config: RingConfig {
                gtt_mb: 1,
                real: habits(),
                ..RingConfig::default()
            },
            iommu: false,
        }
    }
}

impl Setup {
    /// An Ivy Bridge (GT2), with a table of 1 MiB.
    pub fn ivb() -> Self {
        Self {
            config: RingConfig {
                gtt_mb: 1,
                real: habits(),
                ..RingConfig::of(&chip::IVB)
            },
            iommu: false,
        }
    }
}

impl Default for RingMachine {
    fn default() -> Self {
        Self::new(&Setup::default())
    }
}

impl RingMachine {
    /// A machine whose device runs, with completions of no engine armed.
    pub fn new(setup: &Setup) -> Self {
        let mut machine = Self::stopped(setup).expect("the device is found");
        machine.start().expect("the device starts");
        machine
    }

    /// A machine whose device was probed only.
    pub fn stopped(setup: &Setup) -> Result<Self, DeviceError> {
        let memory = Arc::new(VecMemory::new(MEMORY));
        let line = Arc::new(Line::default());
        let gpu = Arc::new(RingGpu::new(
            setup.config.clone(),
            memory.clone(),
            line.clone(),
        ));
        // Memory space, as the PCI core enables it.
        gpu.config_write_at(4, &[2, 0]);
        let chip = chips::lookup(chips::INTEL, setup.config.device_id).expect("a known chip");
        // The table has as many bytes as are before it.
        let registers = 2 * u64::from(chip.generation.windows().gtt.start);
        let mut windows = Windows::new(&gpu, [registers, setup.config.aperture], setup.iommu);
        let time = Time(gpu.clone());
        let mut gt = Gt::default();
        chip.generation.wake(&windows.hw(), &mut gt, &time)?;
        let topo = chip.generation.probe(&windows.hw(), chip)?;
        windows.card = topo.card;
        let mut shown = Vec::new();
        chip.generation
            .scanouts(&windows.hw(), &topo, &mut |s| shown.push(s));
        let scratch = Page {
            addr: DmaAddr(SCRATCH),
            memory: MemoryKind::System,
            cache: topo.coherence.kernel(KernelUse::Scratch).cache,
        };
        let directory = topo.space.directory().map(|(directories, align)| {
            let slot = (topo.gtt_entries - directories) / align * align;
            GgttAddr(slot * PAGE_SIZE)
        });
        let mut machine = Self {
            gpu,
            memory,
            line,
            windows,
            time,
            chip,
            topo,
            layout: Layout { scratch, directory },
            gt,
            ports: Vec::new(),
            load: None,
            next_addr: FIRST_ADDR,
            next_bus: POOL,
        };
        machine
            .chip
            .generation
            .prepare(&machine.windows.hw(), &machine.topo, &machine.time)?;
        machine.fill_tables(&shown);
        for n in 0..machine.topo.engines.len() {
            let desc = machine.topo.engines[n].desc();
            let ring = machine.alloc(desc.ring_bytes / PAGE_SIZE);
            let status = machine.alloc(1);
            let cache = machine.topo.coherence.kernel(KernelUse::Status).cache;
            machine.bind_as(status.addr, status.bus, cache);
            let scratch = machine.alloc(1);
            machine.ports.push(Port {
                mem: EngineMemory {
                    ring: GgttAddr(ring.addr),
                    status: match machine.topo.status {
                        StatusPlace::Bus => StatusPage::Bus(DmaAddr(status.bus)),
                        _ => StatusPage::Ggtt(GgttAddr(status.addr)),
                    },
                    scratch: GgttAddr(scratch.addr),
                    directory,
                    card: 0,
                },
                ring: Ring::new(desc.ring_bytes),
                ring_bus: ring.bus,
                status_bus: status.bus,
                seqno: Seqno(0),
                watchdog: None,
            });
        }
        Ok(machine)
    }

    /// The device as a backend takes it.
    pub fn hw(&self) -> Hw<'_> {
        self.windows.hw()
    }

    /// Brings the device up: for the first time, or after a reset of all.
    pub fn start(&mut self) -> Result<(), DeviceError> {
        let hw = self.windows.hw();
        let generation = self.chip.generation;
        generation.start(&hw, &self.topo, &self.layout, &self.time)?;
        // Not before: a ring of the kernel before may still run.
        hw.platform.set_master(true);
        for n in 0..self.ports.len() {
            self.start_engine(n)?;
        }
        generation.irq_on(&self.windows.hw(), &mut self.gt);
        Ok(())
    }

    /// Starts one engine with an empty ring.
    pub fn start_engine(&mut self, n: usize) -> Result<(), DeviceError> {
        self.ports[n].ring.clear();
        let engine = self.topo.engines[n];
        engine.start(&self.windows.hw(), &self.ports[n].mem, &self.time)
    }

    /// Resets all engines, and starts again.
    pub fn reset(&mut self) -> Result<(), DeviceError> {
        let generation = self.chip.generation;
        generation.reset(&self.windows.hw(), ResetScope::All, &self.time)?;
        self.start()
    }

    fn write_entry(&self, index: u32, entry: u64) {
        self.windows
            .hw()
            .gtt
            .write32(index * self.topo.pages.entry_bytes(), entry as u32);
        if self.layout.directory.is_some() {
            let addr = TABLES + u64::from(index) * 4;
            self.memory
                .put_dwords(addr, &[entry as u32])
                .expect("tables are in memory");
        }
    }

    /// Fills the tables with the scratch page, but for what is shown, and the directory with tables.
    fn fill_tables(&self, shown: &[Scanout]) {
        let scratch = self.topo.pages.entry(self.layout.scratch);
        let kept = |index: u32| {
            let shows = |s: &Scanout| (s.first..s.first + s.entries).contains(&index);
            shown.iter().any(shows)
        };
        for index in (0..self.topo.gtt_entries).filter(|index| !kept(*index)) {
            self.write_entry(index, scratch);
        }
        let (Some(slot), Some((directories, _))) =
            (self.layout.directory, self.topo.space.directory())
        else {
            return;
        };
        let per_table = self.topo.pages.entries_per_table();
        let tables = self.topo.gtt_entries / per_table;
        for n in 0..directories {
            // Beyond the global table: one more table of scratch entries, the last one.
            let table = TABLES + u64::from(n.min(tables)) * u64::from(PAGE_SIZE);
            let entry = self
                .topo
                .pages
                .directory_entry(DmaAddr(table))
                .expect("two levels");
            let at = (slot.page() + n) * self.topo.pages.entry_bytes();
            self.windows.hw().gtt.write32(at, entry as u32);
        }
        for n in 0..per_table {
            let at = TABLES + u64::from(tables) * u64::from(PAGE_SIZE) + u64::from(n) * 4;
            self.memory
                .put_dwords(at, &[scratch as u32])
                .expect("tables are in memory");
        }
    }

    /// Binds a page, cached as objects are.
    pub fn bind(&self, addr: u32, bus: u64) {
        self.bind_as(addr, bus, self.topo.coherence.default_cache());
    }

    /// Binds a page.
    pub fn bind_as(&self, addr: u32, bus: u64, cache: CacheLevel) {
        let page = Page {
            addr: DmaAddr(bus),
            memory: MemoryKind::System,
            cache,
        };
        self.write_entry(addr / PAGE_SIZE, self.topo.pages.entry(page));
        self.chip.generation.gtt_flush(&self.windows.hw());
    }

    /// Makes a page fault.
    pub fn unbind(&self, addr: u32) {
        self.write_entry(addr / PAGE_SIZE, self.topo.pages.invalid());
        self.chip.generation.gtt_flush(&self.windows.hw());
    }

    /// Zeroed memory, bound, with a hole behind it.
    pub fn alloc(&mut self, pages: u32) -> Object {
        let object = Object {
            addr: self.next_addr,
            bus: self.next_bus,
        };
        for n in 0..pages {
            self.bind(
                object.addr + n * PAGE_SIZE,
                object.bus + u64::from(n * PAGE_SIZE),
            );
        }
        self.next_addr += (pages + 1) * PAGE_SIZE;
        self.next_bus += u64::from(pages * PAGE_SIZE);
        assert!(self.next_bus < MEMORY as u64, "the machine has more memory");
        object
    }

    /// Memory with dwords in it.
    pub fn object(&mut self, dwords: &[u32]) -> Object {
        let pages = (dwords.len() as u32 * 4).div_ceil(PAGE_SIZE);
        let object = self.alloc(pages);
        self.memory.put_dwords(object.bus, dwords).expect("it fits");
        object
    }

    /// A dword of memory.
    pub fn dword(&self, object: Object, n: u32) -> u32 {
        self.memory.dword(object.bus + u64::from(n) * 4)
    }

    /// Emits a request, writes it into the ring, and returns the tail that starts it.
    pub fn queue(&mut self, n: usize, work: &Work<'_>) -> Submission<'static> {
        let engine = self.topo.engines[n];
        let port = &mut self.ports[n];
        port.seqno = port.seqno.next();
        let request = Emit {
            switch: work.switch,
            known: None,
            directory: self.load.take(),
            watchdog: port.watchdog,
            batch: work.batch.map(|(addr, privilege)| Batch {
                addr: GpuAddr(addr.into()),
                len: 0,
                privilege,
            }),
            inline: work.inline,
            seqno: port.seqno,
        };
        let mut buf = vec![0; engine.desc().emit_dwords + work.inline.len()];
        let mut out = Commands::new(&mut buf);
        engine
            .emit(&request, &port.mem, &mut out)
            .expect("the bound holds");
        let slot = port.ring.reserve(out.len()).expect("the ring has room");
        if let Some((at, dwords)) = slot.pad {
            let noops = vec![0; dwords as usize];
            let bus = port.ring_bus + u64::from(at.0);
            self.memory
                .put_dwords(bus, &noops)
                .expect("rings are in memory");
        }
        let bus = port.ring_bus + u64::from(slot.start.0);
        self.memory
            .put_dwords(bus, out.as_slice())
            .expect("rings are in memory");
        Submission::Tail(slot.tail)
    }

    /// Emits and starts a request, without running it.
    pub fn submit(&mut self, n: usize, work: &Work<'_>) -> Result<Seqno, DeviceError> {
        let tail = self.queue(n, work);
        let engine = self.topo.engines[n];
        engine.submit(&self.windows.hw(), &mut self.gt, tail, &self.time)?;
        Ok(self.ports[n].seqno)
    }

    /// Runs the device until it has nothing to do. False if it does not come to that.
    pub fn run(&mut self) -> bool {
        let idle = self.gpu.run_until_idle(100_000);
        for n in 0..self.ports.len() {
            if self.done(n) == self.ports[n].seqno {
                let tail = self.ports[n].ring.tail();
                self.ports[n].ring.retire(tail);
            }
        }
        idle
    }

    /// Starts a request and runs the device. The request must complete.
    pub fn work(&mut self, n: usize, work: &Work<'_>) {
        let seqno = self.submit(n, work).expect("the engine takes it");
        assert!(self.run(), "the device comes to rest");
        assert_eq!(self.done(n), seqno, "the request completes");
    }

    /// The number of the last request that an engine completed.
    pub fn done(&self, n: usize) -> Seqno {
        let at = u64::from(self.topo.engines[n].desc().seqno_at);
        Seqno(self.memory.dword(self.ports[n].status_bus + at))
    }

    /// What the interrupt handler would do.
    pub fn interrupt(&self) -> Events {
        self.chip.generation.irq_ack(&self.windows.hw())
    }

    /// Arms or disarms an engine's interrupt.
    pub fn arm(&mut self, n: usize, on: bool) {
        self.chip
            .generation
            .irq_arm(&self.windows.hw(), &mut self.gt, n, on);
    }

    /// Returns how many warnings of the driver have the text.
    pub fn warnings(&self, text: &str) -> usize {
        let warned = self.windows.board.warned.lock().expect("a list");
        warned.iter().filter(|w| w.contains(text)).count()
    }

    /// Fails if a rule of the documents was broken, or a register touched that none names.
    #[track_caller]
    pub fn assert_lawful(&self) {
        assert_eq!(self.gpu.lints(), [], "no rule was broken");
        assert_eq!(self.gpu.undocumented(), [], "every register is documented");
    }
}

// SPDX-License-Identifier: GPL-2.0
//! A DG2 with its memory: what [`RingMachine`](crate::RingMachine) is for a chip whose engines take lists of
//! contexts.
//!
//! Who runs next, what an engine has of that and what it says of it are the core's own
//! ([`ouro_core::sched`], [`ouro_core::events`]). A context has an image, a ring, a page for its numbers and
//! an address space. The kernel's space maps everything of the global table at the same addresses.

mod contexts;

use crate::{
    adapter::{Line, Time, Windows},
    local::{Local, Tree},
};
use gpu_model::{
    clock::Clock,
    dg2::{Dg2, Dg2Config, Real},
    memory::VecMemory,
    model::GpuModel,
};
use ouro_core::{
    events::{self, Look},
    list::Load,
    sched::{self, Arena, Item, Policy, Scheduler, What},
};
use ouro_hw::{
    chips::{self, Chip},
    context::FirstImage,
    engine::{Batch, Emit, EngineMemory, ListEntry, PortEvent, Privilege, Submission, Switch},
    generation::{DeviceError, Events, Layout, ResetScope, Scanout, Topology, Translation},
    gt::Gt,
    io::Hw,
    page_table::{Leaf, PageTable},
    ring::{Commands, Ring},
    types::{
        CacheLevel, DmaAddr, EngineClass, GgttAddr, GpuAddr, MemoryKind, Page, RingOffset, Seqno,
        PAGE_SIZE,
    },
    Engine,
};
use std::{collections::VecDeque, sync::Arc};

/// Bytes of the system's memory, from bus address 0.
const MEMORY: usize = 16 << 20;
/// Bytes of the window with registers and the global table (digest §5.2).
const REGISTERS: u64 = 16 << 20;
/// Bus address of the page behind every hole.
const SCRATCH: u64 = 0x1000;
/// Bus address of the first page that is handed out.
const POOL: u64 = 0x10_0000;
/// First address that is handed out in the global table.
const FIRST_ADDR: u32 = 0x10_0000;
/// Alignment of all addresses: local memory is given out in pages of 64 KiB (digest §4.5).
const ALIGN: u32 = 64 << 10;
/// Steps of the longest run.
const STEPS: usize = 1_000_000;
/// Interrupts of the longest run.
const ROUNDS: usize = 10_000;

/// Times of the scheduler, in nanoseconds.
pub const POLICY: Policy = Policy {
    slice: 1_000_000,
    patience: 20_000_000,
    pause: 8_000_000,
    credit: 4_000_000,
};

/// Memory in the global table, and at the same address in the kernel's space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its address.
    pub addr: u32,
    /// Bytes.
    pub bytes: u32,
    /// Where it is.
    pub memory: MemoryKind,
    /// Its bus address, or its offset in local memory.
    pub at: u64,
}

/// A request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work<'a> {
    /// A program of user space, by its address in the context's space.
    pub batch: Option<u64>,
    /// The kernel's own commands.
    pub inline: &'a [u32],
}

impl Work<'static> {
    /// A program.
    pub const fn batch(addr: u64) -> Self {
        Self {
            batch: Some(addr),
            inline: &[],
        }
    }
}

impl<'a> Work<'a> {
    /// The kernel's own commands.
    pub const fn inline(inline: &'a [u32]) -> Self {
        Self {
            batch: None,
            inline,
        }
    }
}

/// Contexts and clients of a scheduler.
#[derive(Debug)]
pub struct Items(Vec<Item>);

impl Arena for Items {
    fn items(&self) -> &[Item] {
        &self.0
    }
    fn items_mut(&mut self) -> &mut [Item] {
        &mut self.0
    }
}

/// An engine: its status page, what reads it, who runs next.
pub struct Port {
    /// What the backend is given.
    pub mem: EngineMemory,
    /// The scheduler.
    pub sched: Scheduler<Items>,
    /// What the engine said, in order.
    pub said: Vec<PortEvent>,
    /// Lists that were loaded, in order.
    pub loads: Vec<Load>,
    status: Object,
    events: events::Events,
    next_id: u32,
}

/// A context on one engine.
pub struct Logical {
    /// Its engine, by its number in the topology.
    pub engine: usize,
    /// Its number in events.
    pub id: u32,
    /// Its image.
    pub image: Object,
    /// What the backend is given.
    pub mem: EngineMemory,
    /// What the scheduler knows it by.
    pub entity: sched::Entity,
    /// What stands for it in a list.
    pub descriptor: u64,
    /// The number of the last request.
    pub seqno: Seqno,
    /// Its tables.
    pub tree: Tree,
    ring: Ring,
    ring_at: Object,
    status: Object,
    pending: VecDeque<Pending>,
    /// Whether it has run nothing, and has no template.
    is_fresh: bool,
}

/// A request that is not known to have completed.
struct Pending {
    seqno: Seqno,
    tail: RingOffset,
    dwords: Vec<u32>,
}

/// What an engine said cannot be: only a reset helps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nonsense;

/// The machine.
pub struct Dg2Machine {
    /// The device.
    pub gpu: Arc<Dg2>,
    /// The system's memory.
    pub memory: Arc<VecMemory>,
    /// Its own memory.
    pub local: Local,
    /// Where its interrupts go.
    pub line: Arc<Line>,
    /// Its windows.
    pub windows: Windows<Dg2>,
    /// Time.
    pub time: Time<Dg2>,
    /// The chip.
    pub chip: &'static Chip,
    /// What it has.
    pub topo: Topology,
    /// The shared state.
    pub gt: Gt,
    /// Its engines, in the topology's order.
    pub ports: Vec<Port>,
    /// All contexts.
    pub contexts: Vec<Logical>,
    /// The kernel's own tables.
    pub kernel: Tree,
    /// Roots of trees whose end leads to a scratch page.
    ends: Vec<DmaAddr>,
    /// The format of tables.
    pub tables: &'static dyn PageTable,
    /// What the firmware left on: its entries and memory stay as they are.
    pub lit: Vec<Scanout>,
    next_addr: u32,
    next_bus: u64,
    seen: u64,
}

/// A page of memory that is snooped, or of the card's own.
pub const fn page(memory: MemoryKind, at: u64) -> Page {
    Page {
        addr: DmaAddr(at),
        memory,
        cache: match memory {
            MemoryKind::System => CacheLevel::Coherent,
            MemoryKind::Local => CacheLevel::None,
        },
    }
}

/// The status page as the reader of events sees it.
struct StatusMemory<'a>(&'a VecMemory, u64);

impl events::Page for StatusMemory<'_> {
    fn read(&self, offset: u32) -> u32 {
        self.0.dword(self.1 + u64::from(offset))
    }
    fn write(&mut self, offset: u32, value: u32) {
        let at = self.1 + u64::from(offset);
        self.0.put_dwords(at, &[value]).expect("it is in memory");
    }
}

/// A card as they are, but for the lock that its firmware sets.
pub fn config() -> Dg2Config {
    Dg2Config {
        real: Real::all(),
        ..Dg2Config::default()
    }
}

impl Default for Dg2Machine {
    fn default() -> Self {
        Self::new(config())
    }
}

impl Dg2Machine {
    /// One that runs, with completions of no engine armed.
    pub fn new(config: Dg2Config) -> Self {
        let mut m = Self::stopped(config).expect("the card is found");
        m.start().expect("the card starts");
        m
    }

    /// One that was probed only.
    pub fn stopped(config: Dg2Config) -> Result<Self, DeviceError> {
        Self::prepared(config, &|_| {})
    }

    /// The same, of a card that `prepare` has changed before it is probed.
    pub fn prepared(config: Dg2Config, prepare: &dyn Fn(&Dg2)) -> Result<Self, DeviceError> {
        let memory = Arc::new(VecMemory::new(MEMORY));
        let line = Arc::new(Line::default());
        let (aperture, device) = (config.aperture, config.device_id);
        let gpu = Dg2::new(config, memory.clone(), line.clone()).expect("there is memory");
        let gpu = Arc::new(gpu);
        // Memory space, as the PCI core enables it.
        gpu.config_write(4, &[2, 0]);
        prepare(&gpu);
        let windows = Windows::new(&gpu, [REGISTERS, aperture], false);
        let time = Time(gpu.clone());
        let chip = chips::lookup(chips::INTEL, device).expect("a known chip");
        let mut gt = Gt::default();
        chip.generation.wake(&windows.hw(), &mut gt, &time)?;
        let topo = chip.generation.probe(&windows.hw(), chip)?;
        let Translation::PerContext { tables, .. } = topo.space else {
            panic!("contexts have tables of their own");
        };
        let size = topo.local.expect("it has memory of its own").cpu_visible;
        let mut lit = Vec::new();
        let looks = Hw {
            card: topo.card,
            ..windows.hw()
        };
        chip.generation
            .scanouts(&looks, &topo, &mut |scanout| lit.push(scanout));
        let mut local = Local::new(&gpu, size, &lit);
        let kernel = Tree::new(&mut local);
        let mut m = Self {
            gpu,
            memory,
            local,
            line,
            windows,
            time,
            chip,
            topo,
            gt,
            ports: Vec::new(),
            contexts: Vec::new(),
            kernel,
            ends: Vec::new(),
            tables,
            next_addr: FIRST_ADDR,
            lit,
            next_bus: POOL,
            seen: 0,
        };
        for n in 0..m.topo.engines.len() {
            let desc = m.engine(n).desc();
            let area = desc.events.expect("it takes lists");
            let ouro_hw::PortKind::List { depth } = desc.port else {
                panic!("it takes lists");
            };
            let status = m.system(PAGE_SIZE);
            let mem = EngineMemory {
                ring: GgttAddr(0),
                status: ouro_hw::StatusPage::Ggtt(GgttAddr(status.addr)),
                scratch: GgttAddr(0),
                directory: None,
                card: m.topo.card,
            };
            m.ports.push(Port {
                mem,
                sched: scheduler(depth, area.entries),
                said: Vec::new(),
                loads: Vec::new(),
                status,
                events: events::Events::new(area),
                next_id: 1,
            });
        }
        Ok(m)
    }

    /// The device as a backend takes it.
    pub fn hw(&self) -> Hw<'_> {
        hw(&self.windows, self.topo.card)
    }

    /// An engine.
    pub fn engine(&self, n: usize) -> &'static dyn Engine {
        self.topo.engines[n]
    }

    /// The number of the first engine of a class.
    pub fn first(&self, class: EngineClass) -> usize {
        let mut all = self.topo.engines.iter();
        let place = all.position(|e| e.desc().id.class == class);
        place.expect("there is one")
    }

    /// The model's clock, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.clock().now()
    }

    fn clock(&self) -> &Clock {
        self.gpu.clock()
    }

    /// How many warnings with this text were logged.
    pub fn warnings(&self, text: &str) -> usize {
        let warned = self.windows.board.warned.lock().expect("a list");
        warned.iter().filter(|w| w.contains(text)).count()
    }

    /// Brings the device up: for the first time, or after a reset of all.
    pub fn start(&mut self) -> Result<(), DeviceError> {
        let layout = Layout {
            scratch: page(MemoryKind::System, SCRATCH),
            directory: None,
        };
        let generation = self.chip.generation;
        generation.start(&self.hw(), &self.topo, &layout, &self.time)?;
        // Not before: an engine that others left running would reach memory.
        self.hw().platform.set_master(true);
        for n in 0..self.ports.len() {
            self.start_engine(n)?;
        }
        generation.irq_on(&hw(&self.windows, self.topo.card), &mut self.gt);
        Ok(())
    }

    /// Starts one engine. What it had runs again.
    pub fn start_engine(&mut self, n: usize) -> Result<(), DeviceError> {
        let port = &mut self.ports[n];
        let mut page = StatusMemory(&self.memory, port.status.at);
        port.events.restart(&mut page);
        let engine = self.topo.engines[n];
        let hw = hw(&self.windows, self.topo.card);
        engine.start(&hw, &port.mem, &self.time)?;
        assert_eq!(engine.lost(&hw), None, "what it was set to stays");
        // All events are read in the interrupt.
        let generation = self.chip.generation;
        generation.irq_switches(&hw, &mut self.gt, n, true);
        Ok(())
    }

    /// Looks where an engine reports: started anew, it runs a context that has nothing to do, with a page of
    /// ones.
    pub fn find_events(&mut self, n: usize) -> Option<ouro_hw::engine::EventArea> {
        self.start_engine(n).expect("it starts");
        let status = self.ports[n].status;
        self.put(status, 0, &[u32::MAX; 1024]);
        let none = self.context(n);
        let entry = ListEntry {
            descriptor: self.contexts[none].descriptor,
            tail: RingOffset(0),
            restore: false,
        };
        self.load(n, &[entry]);
        assert!(self.gpu.run_until_idle(STEPS));
        let page: Vec<u32> = (0..1024).map(|d| self.dword(status, d)).collect();
        self.engine(n).find_events(&page)
    }

    /// The same, and reads the events there from now on.
    pub fn settle_events(&mut self) {
        for n in 0..self.ports.len() {
            let area = self.find_events(n).expect("it reports");
            self.ports[n].events = events::Events::new(area);
            self.start_engine(n).expect("it starts");
        }
        self.interrupt();
        self.seen = self.line.messages();
    }

    /// The engines that are reset with one.
    pub fn reset_with(&self, n: usize) -> Vec<usize> {
        let group = |n: usize| self.engine(n).desc().reset_group;
        let mut all: Vec<usize> = (0..self.ports.len()).collect();
        all.retain(|other| group(*other) == group(n));
        all
    }

    /// Resets and starts again. What was on the engines begins anew, without what had completed.
    pub fn reset(&mut self, scope: ResetScope) -> Result<(), DeviceError> {
        let generation = self.chip.generation;
        generation.reset(&self.hw(), scope, &self.time)?;
        let engines: Vec<usize> = match scope {
            ResetScope::All => (0..self.ports.len()).collect(),
            ResetScope::Engine(n) => self.reset_with(n),
        };
        for n in engines.iter().copied() {
            self.read_numbers(n);
            let of = |c: &Logical| c.engine == n && self.ports[n].sched.is_held(c.entity);
            let held: Vec<usize> = (0..self.contexts.len())
                .filter(|c| of(&self.contexts[*c]))
                .collect();
            let now = self.now();
            self.ports[n].sched.reset(now);
            for context in held {
                self.begin_anew(context);
            }
        }
        match scope {
            ResetScope::All => self.start()?,
            ResetScope::Engine(_) => {
                for n in engines.iter().copied() {
                    self.start_engine(n)?;
                }
            }
        }
        for n in engines {
            self.kick(n);
        }
        Ok(())
    }

    fn bind(&mut self, object: Object) {
        let pages = u64::from(object.bytes.div_ceil(PAGE_SIZE));
        for n in 0..pages {
            let page = page(object.memory, object.at + n * u64::from(PAGE_SIZE));
            let entry = self.topo.pages.entry(page);
            let at = (object.addr / PAGE_SIZE + n as u32) * self.topo.pages.entry_bytes();
            self.hw().gtt.write64(at, entry);
        }
        self.chip.generation.gtt_flush(&self.hw());
        let kernel = self.kernel;
        self.map(&kernel, object.addr.into(), object);
    }

    /// Maps an object in a space.
    pub fn map(&mut self, tree: &Tree, addr: u64, object: Object) {
        let leaf = match object.memory {
            MemoryKind::System => Leaf::Page,
            MemoryKind::Local => Leaf::Run,
        };
        let mut done = 0;
        while done < u64::from(object.bytes) {
            let page = page(object.memory, object.at + done);
            tree.map(&mut self.local, self.tables, addr + done, page, leaf);
            done += leaf.bytes();
        }
    }

    fn next(&mut self, bytes: u32) -> u32 {
        // A hole behind each.
        let all = bytes.next_multiple_of(ALIGN) + ALIGN;
        let shown = |addr: u32| {
            let of = |s: &&Scanout| {
                let (first, end) = (s.first * PAGE_SIZE, (s.first + s.entries) * PAGE_SIZE);
                addr < end && first < addr + all
            };
            self.lit.iter().find(of)
        };
        let mut addr = self.next_addr;
        while let Some(scanout) = shown(addr) {
            addr = ((scanout.first + scanout.entries) * PAGE_SIZE).next_multiple_of(ALIGN);
        }
        self.next_addr = addr + all;
        addr
    }

    /// Zeroed memory of the system's.
    pub fn system(&mut self, bytes: u32) -> Object {
        let object = Object {
            addr: self.next(bytes),
            bytes,
            memory: MemoryKind::System,
            at: self.next_bus,
        };
        self.next_bus += u64::from(bytes.next_multiple_of(PAGE_SIZE));
        assert!(self.next_bus <= MEMORY as u64, "there is more memory");
        self.bind(object);
        object
    }

    /// Zeroed memory of the card's own.
    pub fn local(&mut self, bytes: u32) -> Object {
        let bytes = bytes.next_multiple_of(ALIGN);
        let object = Object {
            addr: self.next(bytes),
            bytes,
            memory: MemoryKind::Local,
            at: self.local.take(bytes.into(), ALIGN.into()),
        };
        self.bind(object);
        object
    }

    /// Writes dwords by the CPU, from dword `n` on.
    pub fn put(&self, object: Object, n: u32, dwords: &[u32]) {
        let at = object.at + u64::from(n) * 4;
        match object.memory {
            MemoryKind::System => self.memory.put_dwords(at, dwords).expect("it is in memory"),
            MemoryKind::Local => self.local.put(at, dwords),
        }
    }

    /// Reads dword `n` by the CPU.
    pub fn dword(&self, object: Object, n: u32) -> u32 {
        let at = object.at + u64::from(n) * 4;
        match object.memory {
            MemoryKind::System => self.memory.dword(at),
            MemoryKind::Local => self.local.dword(at),
        }
    }
}

fn hw(windows: &Windows<Dg2>, card: u32) -> Hw<'_> {
    Hw {
        card,
        ..windows.hw()
    }
}

fn scheduler(depth: u8, entries: u8) -> Scheduler<Items> {
    Scheduler::new(Items(Vec::new()), depth, entries, POLICY)
}

// SPDX-License-Identifier: GPL-2.0
//! An R5xx with its memory: what [`RingMachine`](crate::RingMachine) is for a chip with tables and contexts.
//!
//! There is one ring and no context. Objects are in the system's memory, through the table, or in the
//! card's own, with a page that is nobody's behind each of them. User space's streams go the whole way: they
//! are checked, and the copy runs behind the known state, of which a client that follows itself gets the
//! last part only. The card has all habits of real ones, unless a test wants another.

use crate::adapter::{Line, Time, Windows};
use gpu_model::{
    memory::VecMemory,
    model::GpuModel,
    r5xx::{Chip as Model, R5xx, R5xxConfig, Real},
};
use ouro_hw::{
    checker::{self, Patch, Resolve, Verdict},
    chips::{self, Chip},
    engine::{Batch, Emit, EngineMemory, Privilege, StatusPage, Submission, Switch},
    fence_regs::Tiling,
    generation::{DeviceError, Events, Layout, ResetScope, Topology},
    gt::Gt,
    io::Hw,
    page_table::PageTable,
    ring::{Commands, Ring},
    types::{CacheLevel, DmaAddr, GgttAddr, GpuAddr, MemoryKind, Page, Seqno, PAGE_SIZE},
    Checker, Engine,
};
use std::sync::Arc;

/// Bytes of the system's memory, from bus address 0.
const MEMORY: usize = 16 << 20;
/// Bytes of the register window.
const REGISTERS: u64 = 64 << 10;
/// Bus address of the page behind every hole.
const SCRATCH: u64 = 0x1000;
/// Bus address of the first page that is handed out.
const POOL: u64 = 0x10_0000;
/// First address that is handed out in the table.
const FIRST_ADDR: u32 = 0x10_0000;
/// Dwords of the longest stream.
const MAX_STREAM: u32 = 64 * 1024;
/// Steps of the longest run: a dword of a stream, or a row of a blit, is one at most.
const STEPS: usize = 10_000_000;

/// The copy of a stream that may run.
pub fn patched(stream: &[u32], patches: &[Patch]) -> Vec<u32> {
    let mut copy = stream.to_vec();
    for Patch { at, value } in patches {
        copy[*at as usize] = *value;
    }
    copy
}

/// Memory that the card can reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its address for the card.
    pub addr: u32,
    /// Bytes that are its own.
    pub bytes: u32,
    /// Where the CPU finds it.
    place: ObjectAt,
}

/// Where the CPU finds an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ObjectAt {
    /// A bus address.
    System(u64),
    /// An offset in the window on the card's memory.
    Local(u64),
}

impl Object {
    /// The same, of which only so many bytes are its own.
    pub fn cut(self, bytes: u32) -> Self {
        assert!(bytes <= self.bytes);
        Self { bytes, ..self }
    }
}

/// A request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Job<'a> {
    /// Whose batch it is.
    pub client: u32,
    /// Where it is, and its bytes.
    pub batch: Option<(u32, u32)>,
    /// The kernel's own commands.
    pub inline: &'a [u32],
}

/// The machine.
pub struct R5xxMachine {
    /// The device.
    pub gpu: Arc<R5xx>,
    /// The system's memory.
    pub memory: Arc<VecMemory>,
    /// Where its interrupts go.
    pub line: Arc<Line>,
    /// Its windows.
    pub windows: Windows<R5xx>,
    /// Time.
    pub time: Time<R5xx>,
    /// The chip.
    pub chip: &'static Chip,
    /// What it has.
    pub topo: Topology,
    /// The shared state.
    pub gt: Gt,
    /// What the backend is given.
    pub mem: EngineMemory,
    /// The number of the last request.
    pub seqno: Seqno,
    layout: Layout,
    /// What is in the table.
    table: Vec<u64>,
    ring: Ring,
    ring_at: Object,
    status_at: Object,
    stream_at: Object,
    known_at: Object,
    last_client: Option<u32>,
    next_addr: u32,
    next_bus: u64,
    next_local: u32,
}

/// The program of the command processor: nothing looks at it but the model, which wants it to be there.
fn microcode() -> Vec<u8> {
    let words = (0u32..256).flat_map(|word| [word & 0xff, !word]);
    words.flat_map(u32::to_be_bytes).collect()
}

/// A card as they are.
pub fn config(name: &str) -> R5xxConfig {
    let mut config = R5xxConfig::new(Model::named(name).expect("a model"));
    config.real = Real::all();
    config.watch_bus_master = true;
    config
}

impl R5xxMachine {
    /// One that runs, with nothing armed.
    pub fn new(name: &str) -> Self {
        Self::with(config(name))
    }

    /// The same with the device's choices.
    pub fn with(config: R5xxConfig) -> Self {
        let mut card = Self::stopped(config).expect("the device is found");
        card.start().expect("the device starts");
        card
    }

    /// One that was probed only.
    pub fn stopped(config: R5xxConfig) -> Result<Self, DeviceError> {
        let memory = Arc::new(VecMemory::new(MEMORY));
        let line = Arc::new(Line::default());
        let aperture = config.aperture;
        let device = config.chip.device_id;
        let gpu = R5xx::new(config, memory.clone(), line.clone()).expect("there is memory");
        let gpu = Arc::new(gpu);
        // Memory space and bus mastering, as the PCI core enables them.
        gpu.config_write(4, &[6, 0]);
        let mut windows = Windows::new(&gpu, [aperture, REGISTERS], false);
        windows.firmware = microcode();
        let time = Time(gpu.clone());
        let chip = chips::lookup(chips::ATI, device).expect("a known chip");
        let mut gt = Gt::default();
        chip.generation.wake(&windows.hw(), &mut gt, &time)?;
        let topo = chip.generation.probe(&windows.hw(), chip)?;
        let nowhere = Object {
            addr: 0,
            bytes: 0,
            place: ObjectAt::System(0),
        };
        let mut card = Self {
            mem: EngineMemory {
                ring: GgttAddr(0),
                status: StatusPage::Ggtt(GgttAddr(0)),
                scratch: GgttAddr(0),
                directory: None,
                card: topo.card,
            },
            layout: Layout {
                scratch: page(SCRATCH),
                directory: None,
            },
            table: vec![0; topo.gtt_entries as usize],
            ring: Ring::new(topo.engines[0].desc().ring_bytes),
            gpu,
            memory,
            line,
            windows,
            time,
            chip,
            topo,
            gt,
            seqno: Seqno(0),
            ring_at: nowhere,
            status_at: nowhere,
            stream_at: nowhere,
            known_at: nowhere,
            last_client: None,
            next_addr: FIRST_ADDR,
            next_bus: POOL,
            next_local: 0,
        };
        card.prepare()?;
        for n in 0..card.topo.gtt_entries {
            card.write_entry(n, card.topo.pages.invalid());
        }
        let desc = card.engine().desc();
        card.ring_at = card.commands(desc.ring_bytes);
        card.status_at = card.system(PAGE_SIZE);
        card.stream_at = card.commands(MAX_STREAM * 4);
        card.mem.ring = GgttAddr(card.ring_at.addr);
        card.mem.status = StatusPage::Ggtt(GgttAddr(card.status_at.addr));
        card.mem.scratch = GgttAddr(card.system(PAGE_SIZE).addr);
        let mut known = vec![0; desc.known_dwords];
        let mut commands = Commands::new(&mut known);
        card.engine()
            .known_state(&mut commands)
            .expect("as many as are said");
        card.known_at = card.commands(commands.len() as u32 * 4);
        card.put(card.known_at, 0, commands.as_slice());
        Ok(card)
    }

    fn hw(&self) -> Hw<'_> {
        self.windows.hw()
    }

    /// The kernel's commands: the ring, the known state, the copy of a stream.
    pub fn kernels(&self) -> [Object; 3] {
        [self.ring_at, self.known_at, self.stream_at]
    }

    /// The engine.
    pub fn engine(&self) -> &'static dyn Engine {
        self.topo.engines[0]
    }

    /// The checker.
    pub fn checker(&self) -> &'static dyn Checker {
        self.engine().checker().expect("this chip confines nobody")
    }

    /// Makes the place of the table fit to be written.
    pub fn prepare(&self) -> Result<(), DeviceError> {
        let generation = self.chip.generation;
        generation.gtt_on(&self.hw(), false);
        generation.prepare(&self.hw(), &self.topo, &self.time)
    }

    /// Brings the device up after sleep: it has forgotten its registers and its memory.
    pub fn resume(&mut self) -> Result<(), DeviceError> {
        self.prepare()?;
        for (n, entry) in (0..).zip(self.table.clone()) {
            self.write_entry(n, entry);
        }
        self.start()
    }

    /// Brings the device up: for the first time, or after a reset.
    pub fn start(&mut self) -> Result<(), DeviceError> {
        let generation = self.chip.generation;
        generation.gtt_on(&self.hw(), false);
        generation.start(&self.windows.hw(), &self.topo, &self.layout, &self.time)?;
        generation.gtt_on(&self.hw(), true);
        self.ring.clear();
        self.last_client = None;
        self.engine()
            .start(&self.windows.hw(), &self.mem, &self.time)?;
        generation.irq_on(&self.windows.hw(), &mut self.gt);
        Ok(())
    }

    /// Resets and starts again.
    pub fn reset(&mut self) -> Result<(), DeviceError> {
        let generation = self.chip.generation;
        generation.reset(&self.windows.hw(), ResetScope::All, &self.time)?;
        self.start()
    }

    fn write_entry(&mut self, index: u32, entry: u64) {
        self.table[index as usize] = entry;
        let at = index * self.topo.pages.entry_bytes();
        self.hw().gtt.write32(at, entry as u32);
    }

    /// Zeroed memory of the system's, mapped, with a hole behind it.
    pub fn system(&mut self, bytes: u32) -> Object {
        self.map(bytes, |_, entry| entry)
    }

    /// The same for commands of the kernel's, which the card only reads.
    fn commands(&mut self, bytes: u32) -> Object {
        self.map(bytes, |pages, entry| pages.read_only(entry))
    }

    fn map(&mut self, bytes: u32, as_is: impl Fn(&dyn PageTable, u64) -> u64) -> Object {
        let object = Object {
            addr: self.next_addr,
            bytes,
            place: ObjectAt::System(self.next_bus),
        };
        let pages = bytes.div_ceil(PAGE_SIZE);
        for n in 0..pages {
            let page = page(self.next_bus + u64::from(n * PAGE_SIZE));
            let entry = as_is(self.topo.pages, self.topo.pages.entry(page));
            self.write_entry(object.addr / PAGE_SIZE + n, entry);
        }
        self.chip.generation.gtt_flush(&self.hw());
        self.next_addr += (pages + 1) * PAGE_SIZE;
        self.next_bus += u64::from(pages * PAGE_SIZE);
        assert!(self.next_bus <= MEMORY as u64, "there is more memory");
        object
    }

    /// Memory of the card's own, with a page behind it that is nobody's.
    pub fn local(&mut self, bytes: u32) -> Object {
        let local = self.topo.local.expect("it has memory of its own");
        let at = local.at.expect("without a table").0;
        let object = Object {
            addr: at + self.next_local,
            bytes,
            place: ObjectAt::Local(local.window_at + u64::from(self.next_local)),
        };
        self.next_local += (bytes.div_ceil(PAGE_SIZE) + 1) * PAGE_SIZE;
        assert!(u64::from(self.next_local) <= local.cpu_visible);
        object
    }

    /// Memory of the system's with dwords in it.
    pub fn object(&mut self, dwords: &[u32]) -> Object {
        let object = self.system(dwords.len() as u32 * 4);
        self.put(object, 0, dwords);
        object
    }

    /// Writes dwords by the CPU, from dword `n` on.
    pub fn put(&self, object: Object, n: u32, dwords: &[u32]) {
        let from = u64::from(n) * 4;
        match object.place {
            ObjectAt::System(bus) => self
                .memory
                .put_dwords(bus + from, dwords)
                .expect("it is in memory"),
            ObjectAt::Local(offset) => {
                let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
                self.gpu.aperture_write(offset + from, &bytes);
            }
        }
    }

    /// Reads dword `n` by the CPU.
    pub fn dword(&self, object: Object, n: u32) -> u32 {
        let from = u64::from(n) * 4;
        match object.place {
            ObjectAt::System(bus) => self.memory.dword(bus + from),
            ObjectAt::Local(offset) => {
                let mut dword = [0; 4];
                self.gpu.aperture_read(offset + from, &mut dword);
                u32::from_le_bytes(dword)
            }
        }
    }

    /// The known state that goes before a batch of this client.
    fn known(&self, client: u32) -> Batch {
        let skip = match self.last_client == Some(client) {
            true => self.engine().desc().private_dwords as u32 * 4,
            false => 0,
        };
        batch(self.known_at.addr + skip, self.known_at.bytes - skip)
    }

    /// Emits a request, writes it into the ring, and returns the tail that starts it.
    pub fn queue(&mut self, job: &Job<'_>) -> Submission<'static> {
        self.seqno = self.seqno.next();
        let request = Emit {
            switch: Switch::Stay,
            directory: None,
            known: job.batch.map(|_| self.known(job.client)),
            batch: job.batch.map(|(addr, bytes)| batch(addr, bytes)),
            inline: job.inline,
            watchdog: None,
            seqno: self.seqno,
        };
        if job.batch.is_some() {
            self.last_client = Some(job.client);
        }
        let desc = self.engine().desc();
        let mut buf = vec![0; desc.emit_dwords + job.inline.len()];
        let mut out = Commands::new(&mut buf);
        self.engine()
            .emit(&request, &self.mem, &mut out)
            .expect("the bound holds");
        let slot = self.ring.reserve(out.len()).expect("the ring has room");
        if let Some((at, dwords)) = slot.pad {
            let filler = vec![desc.noop; dwords as usize];
            self.put(self.ring_at, at.0 / 4, &filler);
        }
        self.put(self.ring_at, slot.start.0 / 4, out.as_slice());
        Submission::Tail(slot.tail)
    }

    /// Emits and starts a request, without running it.
    pub fn submit(&mut self, job: &Job<'_>) -> Seqno {
        let tail = self.queue(job);
        self.engine()
            .submit(&self.windows.hw(), &mut self.gt, tail, &self.time)
            .expect("it is awake");
        self.seqno
    }

    /// Runs the device until it has nothing to do. False if it does not come to that.
    pub fn run(&mut self) -> bool {
        let idle = self.gpu.run_until_idle(STEPS);
        if self.done() == self.seqno {
            let tail = self.ring.tail();
            self.ring.retire(tail);
        }
        idle
    }

    /// Starts a request and runs the device. The request must complete.
    #[track_caller]
    pub fn work(&mut self, job: &Job<'_>) {
        let seqno = self.submit(job);
        assert!(self.run(), "the device comes to rest");
        assert_eq!(self.done(), seqno, "the request completes");
    }

    /// The number of the last request that was completed.
    pub fn done(&self) -> Seqno {
        Seqno(self.dword(self.status_at, self.engine().desc().seqno_at / 4))
    }

    /// Checks a stream. The copy that may run, or why there is none.
    pub fn check(&self, stream: &[u32], named: &Named) -> Result<Vec<u32>, Refusal> {
        let mut list = vec![Patch::default(); Patch::most(stream.len())];
        match self.checker().check(stream, named, &mut list) {
            Verdict::Passes { dwords, patches } => Ok(patched(&stream[..dwords], &list[..patches])),
            Verdict::Reject { at, rule } => Err(Refusal { at, rule }),
            verdict => panic!("nobody is confined: {verdict:?}"),
        }
    }

    /// Where the copy of a stream runs.
    pub fn place(&mut self, copy: &[u32]) -> (u32, u32) {
        assert!(copy.len() as u32 <= MAX_STREAM, "there is room for it");
        self.put(self.stream_at, 0, copy);
        (self.stream_at.addr, copy.len() as u32 * 4)
    }

    /// A client's stream goes its way: checked, copied, run to its end. If it is refused, the dword that it
    /// is refused for.
    pub fn exec(&mut self, client: u32, stream: &[u32], named: &Named) -> Result<(), Refusal> {
        let copy = self.check(stream, named)?;
        let batch = Some(self.place(&copy));
        self.work(&Job {
            client,
            batch,
            ..Job::default()
        });
        Ok(())
    }

    /// What the interrupt handler would do.
    pub fn interrupt(&self) -> Events {
        self.chip.generation.irq_ack(&self.hw())
    }

    /// Arms or disarms the interrupt.
    pub fn arm(&mut self, on: bool) {
        let hw = self.windows.hw();
        self.chip.generation.irq_arm(&hw, &mut self.gt, 0, on);
    }

    /// Fails if a rule of the documents was broken, or a register touched that none names.
    #[track_caller]
    pub fn assert_lawful(&self) {
        assert_eq!(self.gpu.lints(), [], "no rule was broken");
        assert_eq!(self.gpu.undocumented(), [], "every register is documented");
    }
}

fn batch(addr: u32, len: u32) -> Batch {
    Batch {
        addr: GpuAddr(addr.into()),
        len,
        privilege: Privilege::User,
    }
}

fn page(bus: u64) -> Page {
    Page {
        addr: DmaAddr(bus),
        memory: MemoryKind::System,
        cache: CacheLevel::Coherent,
    }
}

/// Why a stream is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The dword at which the command stands that is the reason.
    pub at: usize,
    /// The rule that it broke.
    pub rule: &'static str,
}

/// What a stream's relocations name.
#[derive(Clone, Default)]
pub struct Named {
    /// The objects, in their order, and how they are tiled.
    pub objects: Vec<(Object, Option<Tiling>)>,
    /// Whether the stream says itself how they are.
    pub stream_knows: bool,
}

impl Named {
    /// Objects that are not tiled.
    pub fn new(objects: &[Object]) -> Self {
        Self {
            objects: objects.iter().map(|o| (*o, None)).collect(),
            stream_knows: true,
        }
    }
}

impl Resolve for Named {
    fn object(&self, n: u32) -> Option<checker::Object> {
        let (object, tiling) = *self.objects.get(n as usize)?;
        Some(checker::Object {
            addr: GpuAddr(object.addr.into()),
            bytes: object.bytes.into(),
            tiling,
        })
    }

    fn stream_knows_tiling(&self) -> bool {
        self.stream_knows
    }
}

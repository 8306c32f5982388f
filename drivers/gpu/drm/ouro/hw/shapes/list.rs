// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A chip with a list port: contexts by descriptor, released by events, each with its ring.

mod device;

use super::{op, Memory};
use crate::{
    context::{ContextImages, FirstImage},
    engine::{
        Emit, Engine, EngineDesc, EngineMemory, EventArea, ListEntry, PortEvent, PortKind,
        StatusPage, Submission,
    },
    generation::{DeviceError, LocalMemory, Translation},
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    mock::Mock,
    page_table::PageTable,
    report::Activity,
    ring::{Commands, Overflow, Ring},
    types::{
        CacheLevel, DmaAddr, EngineClass, EngineId, GgttAddr, GpuAddr, MemoryKind, Page,
        RingOffset, Seqno,
    },
};
use std::{vec, vec::Vec};

use device::Device;

const DEPTH: u8 = 8;
const ELEMENTS: u32 = 0x510;
const LOAD: u32 = 0x550;
/// In an image: tail of the ring, its address, head, state of the engine.
const TAIL: u32 = 0;
const RING: u32 = 4;
const HEAD: u32 = 8;
const STATE: u32 = 12;
const RING_BYTES: u32 = 4096;
const EVENTS: EventArea = EventArea {
    at: 0x40,
    entries: 12,
    last_at: 0xbc,
};

// --- The backend ---

struct ListEngine;
static ENGINE: ListEngine = ListEngine;
static DESC: EngineDesc = EngineDesc {
    id: EngineId {
        class: EngineClass::Compute,
        instance: 0,
    },
    registers: 0,
    port: PortKind::List { depth: DEPTH },
    ring_bytes: RING_BYTES,
    ring_end: u64::MAX,
    emit_dwords: 8,
    noop: op::NOOP,
    golden_dwords: 2,
    known_dwords: 0,
    private_dwords: 0,
    copy_pages: 0,
    state_bytes: 0,
    fill_pages: 0,
    seqno_at: 0x800,
    contexts: true,
    reset_group: Some(0),
    events: Some(EVENTS),
    watchdog: None,
};

impl Engine for ListEngine {
    fn desc(&self) -> &'static EngineDesc {
        &DESC
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        _mem: &EngineMemory,
        _wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        // After a reset, the port would run contexts that its elements still hold.
        for n in 0..u32::from(DEPTH) {
            hw.regs.write64(ELEMENTS + 8 * n, 0);
        }
        Ok(())
    }

    fn stop(&self, _hw: &Hw<'_>, _wait: &dyn SleepWait) -> Result<(), DeviceError> {
        Ok(())
    }

    fn emit(
        &self,
        request: &Emit<'_>,
        mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow> {
        // The execlist port switches contexts.
        out.put(request.inline)?;
        if let Some(batch) = request.batch {
            out.put(&[op::CALL | (batch.len / 4), batch.addr.0 as u32])?;
        }
        let number = mem.status.at(DESC.seqno_at)?;
        out.put(&[op::STORE, number.0, request.seqno.0])?;
        out.put(&[op::INTERRUPT])?;
        if out.len() % 2 == 1 {
            out.put(&[op::NOOP])?;
        }
        Ok(())
    }

    fn submit(
        &self,
        hw: &Hw<'_>,
        gt: &mut Gt,
        what: Submission<'_>,
        _wait: &dyn AtomicWait,
    ) -> Result<(), DeviceError> {
        let Submission::List { entries, tails } = what else {
            return Err(DeviceError::Unsupported(
                "ring submission on an execlist engine",
            ));
        };
        for n in 0..usize::from(DEPTH) {
            let descriptor = entries.get(n).map_or(0, |e| e.descriptor);
            hw.regs.write64(ELEMENTS + 8 * n as u32, descriptor);
        }
        tails();
        hw.regs.write32(LOAD, 1);
        gt.counts.port_writes += 1;
        Ok(())
    }

    fn event(&self, raw: u64) -> Option<PortEvent> {
        let id = |bits: u64| (bits != 0).then_some(bits as u32);
        Some(PortEvent {
            from: id(raw & 0xffff),
            to: id(raw >> 16 & 0xffff),
            finished: raw >> 32 & 1 != 0,
            new_list: raw >> 33 & 1 != 0,
        })
    }

    fn golden(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        out.put(&[op::STATE, 0x600d])
    }

    fn activity(&self, _hw: &Hw<'_>) -> Activity {
        Activity::default()
    }
}

struct Images;
static IMAGES: Images = Images;

impl ContextImages for Images {
    fn alignment(&self) -> u32 {
        4096
    }
    fn first_image(&self, what: &FirstImage, image: &mut [u32]) -> bool {
        let Some(image) = image.get_mut(..4) else {
            return false;
        };
        image.copy_from_slice(&[0, what.ring.0, 0, 0]);
        what.root.is_some() && what.ring_bytes == RING_BYTES
    }
    fn descriptor(&self, image: GgttAddr, id: u32) -> Option<u64> {
        (id != 0 && id < 0xffff).then_some(u64::from(id) << 39 | u64::from(image.0) | 1)
    }
}

/// Four levels, and memory of the device's own: bit 11 tells it from system memory, in entries of
/// pages and of tables.
struct Levels;
static LEVELS: Levels = Levels;

impl PageTable for Levels {
    fn entry_bytes(&self) -> u32 {
        8
    }
    fn entry(&self, page: Page) -> u64 {
        let local = u64::from(page.memory == MemoryKind::Local) << 11;
        page.addr.0 | local | 3
    }
    fn invalid(&self) -> u64 {
        0
    }
    fn entries_per_table(&self) -> u32 {
        512
    }
    fn directory_entry(&self, table: DmaAddr) -> Option<u64> {
        Some(table.0 | 3)
    }
    fn directory_entry_of(&self, table: Page) -> Option<u64> {
        Some(self.entry(table))
    }
}

// --- A core ---

struct Client {
    id: u32,
    priority: i32,
    image: u32,
    mem: EngineMemory,
    ring: Ring,
    seqno: Seqno,
    /// Whether the device may have its image.
    held: bool,
}

struct Core<'a> {
    memory: &'a Memory,
    device: Device<'a>,
    mock: Mock,
    gt: Gt,
    engine: &'static dyn Engine,
    images: &'static dyn ContextImages,
    clients: Vec<Client>,
    next: u32,
    seen: u32,
    status: u32,
}

impl<'a> Core<'a> {
    fn new(memory: &'a Memory) -> Self {
        let engine: &'static dyn Engine = &ENGINE;
        let events = engine.desc().events.expect("a list engine has events");
        let core = Self {
            memory,
            device: Device::new(memory, 0x1000),
            mock: Mock::default(),
            gt: Gt::default(),
            engine,
            images: &IMAGES,
            clients: Vec::new(),
            next: 0x2000,
            seen: u32::from(events.entries) - 1,
            status: 0x1000,
        };
        let mem = EngineMemory {
            ring: GgttAddr(0),
            status: StatusPage::Ggtt(GgttAddr(0x1000)),
            scratch: GgttAddr(0),
            directory: None,
            card: 0,
        };
        engine.start(&core.hw(), &mem, &core.mock).unwrap();
        core
    }

    fn hw(&self) -> Hw<'_> {
        Hw {
            regs: &self.device,
            ..self.mock.hw()
        }
    }

    fn page(&mut self) -> u32 {
        self.next += 4096;
        self.next - 4096
    }

    fn client(&mut self, priority: i32) -> usize {
        let (image, ring, status) = (self.page(), self.page(), self.page());
        let what = FirstImage {
            image: GgttAddr(0x0040_0000),
            card: 0,
            ring: GgttAddr(ring),
            ring_bytes: self.engine.desc().ring_bytes,
            root: Some(DmaAddr(0x1_0000_0000)),
        };
        let mut dwords = [0; 4];
        assert!(self.images.first_image(&what, &mut dwords));
        self.memory.put(image, &dwords);
        self.clients.push(Client {
            id: self.clients.len() as u32 + 1,
            priority,
            image,
            mem: EngineMemory {
                ring: GgttAddr(ring),
                status: StatusPage::Ggtt(GgttAddr(status)),
                scratch: GgttAddr(0),
                directory: None,
                card: 0,
            },
            ring: Ring::new(what.ring_bytes),
            seqno: Seqno(0),
            held: false,
        });
        self.clients.len() - 1
    }

    /// Queues a request without telling the device.
    fn queue(&mut self, n: usize, inline: &[u32]) {
        let client = &mut self.clients[n];
        client.seqno = client.seqno.next();
        let request = Emit {
            switch: crate::engine::Switch::Stay,
            known: None,
            directory: None,
            watchdog: None,
            batch: None,
            inline,
            seqno: client.seqno,
        };
        let mut buf = vec![0; self.engine.desc().emit_dwords + inline.len()];
        let mut out = Commands::new(&mut buf);
        self.engine.emit(&request, &client.mem, &mut out).unwrap();
        let slot = client.ring.reserve(out.len()).unwrap();
        self.memory
            .put(client.mem.ring.0 + slot.start.0, out.as_slice());
        self.memory.set(client.image + TAIL, slot.tail.0);
    }

    fn done(&self, n: usize) -> bool {
        let client = &self.clients[n];
        let at = client.mem.status.ggtt().unwrap().0 + self.engine.desc().seqno_at;
        Seqno(self.memory.get(at)).passed(client.seqno)
    }

    /// Gives the device the most urgent contexts that have work.
    fn submit(&mut self) {
        let PortKind::List { depth } = self.engine.desc().port else {
            panic!("a list");
        };
        let mut waiting: Vec<usize> = (0..self.clients.len()).filter(|n| !self.done(*n)).collect();
        waiting.sort_by_key(|n| -self.clients[*n].priority);
        waiting.truncate(depth.into());
        let entries: Vec<ListEntry> = waiting
            .iter()
            .map(|n| {
                let client = &mut self.clients[*n];
                client.held = true;
                ListEntry {
                    descriptor: self
                        .images
                        .descriptor(GgttAddr(client.image), client.id)
                        .unwrap(),
                    tail: client.ring.tail(),
                    restore: false,
                }
            })
            .collect();
        let mut gt = core::mem::take(&mut self.gt);
        let what = Submission::List {
            entries: &entries,
            tails: &|| (),
        };
        self.engine
            .submit(&self.hw(), &mut gt, what, &self.mock)
            .unwrap();
        self.gt = gt;
    }

    /// The interrupt: reads the events that are new. Returns the order in which contexts were
    /// loaded.
    fn interrupt(&mut self) -> Vec<u32> {
        let area = self.engine.desc().events.unwrap();
        let last = self.memory.get(self.status + area.last_at);
        let mut loaded = Vec::new();
        while self.seen != last {
            self.seen = (self.seen + 1) % u32::from(area.entries);
            let at = self.status + area.at + 8 * self.seen;
            let raw = u64::from(self.memory.get(at)) | u64::from(self.memory.get(at + 4)) << 32;
            let event = self.engine.event(raw).unwrap();
            if let Some(from) = event.from {
                self.clients[from as usize - 1].held = false;
            }
            loaded.extend(event.to);
        }
        loaded
    }
}

#[test]
fn contexts_run_in_order_of_priority_and_keep_their_state() {
    let memory = Memory::new(64);
    let mut core = Core::new(&memory);
    let out = core.page();
    let (low, high) = (core.client(0), core.client(5));
    core.queue(low, &[op::STATE, 11]);
    core.queue(high, &[op::STATE, 22]);
    core.submit();
    assert_eq!(core.gt.counts.port_writes, 1);
    core.device.run(100);
    assert_eq!(core.interrupt(), [2, 1]);
    assert!(core.done(low) && core.done(high));
    // Each finds its own state again.
    core.queue(low, &[op::STORE_STATE, out]);
    core.queue(high, &[op::STORE_STATE, out + 4]);
    core.submit();
    core.device.run(100);
    core.interrupt();
    assert_eq!((memory.get(out), memory.get(out + 4)), (11, 22));
}

#[test]
fn an_image_is_released_by_an_event_and_not_by_a_number() {
    let memory = Memory::new(64);
    let mut core = Core::new(&memory);
    let n = core.client(0);
    core.queue(n, &[]);
    core.submit();
    // The number is stored by the first of the two commands; the context is still loaded then.
    core.device.run(1);
    core.interrupt();
    assert!(core.done(n));
    assert!(core.clients[n].held);
    core.device.run(100);
    core.interrupt();
    assert!(!core.clients[n].held);
}

#[test]
fn an_urgent_list_takes_the_engine_away() {
    let memory = Memory::new(64);
    let mut core = Core::new(&memory);
    let (low, high) = (core.client(0), core.client(9));
    core.queue(low, &[op::NOOP; 20]);
    core.submit();
    core.device.run(5);
    core.queue(high, &[]);
    core.submit();
    core.device.run(3);
    assert!(core.done(high) && !core.done(low));
    core.device.run(100);
    assert_eq!(core.interrupt(), [1, 2, 1]);
    assert!(core.done(low));
    assert!(!core.clients[low].held && !core.clients[high].held);
}

#[test]
fn more_contexts_than_the_list_holds_take_turns() {
    let memory = Memory::new(128);
    let mut core = Core::new(&memory);
    let all: Vec<usize> = (0..11).map(|n| core.client(-n)).collect();
    for n in &all {
        core.queue(*n, &[]);
    }
    core.submit();
    core.device.run(1000);
    assert_eq!(core.interrupt().len(), 8);
    assert_eq!(all.iter().filter(|n| core.done(**n)).count(), 8);
    core.submit();
    core.device.run(1000);
    assert_eq!(core.interrupt(), [9, 10, 11]);
    assert!(all.iter().all(|n| core.done(*n)));
    // Contexts that a shorter list leaves in the elements do not run again.
    core.queue(all[0], &[]);
    core.submit();
    core.device.run(1000);
    assert_eq!(core.interrupt(), [1]);
}

#[test]
fn the_right_kind_of_port_is_asked_for() {
    let memory = Memory::new(16);
    let core = Core::new(&memory);
    let r = ENGINE.submit(
        &core.hw(),
        &mut Gt::default(),
        Submission::Tail(RingOffset(8)),
        &core.mock,
    );
    assert!(r.is_err());
}

#[test]
fn entries_tell_where_a_page_or_a_table_is() {
    let page = |memory| Page {
        addr: DmaAddr(0x12_3456_7000),
        memory,
        cache: CacheLevel::Coherent,
    };
    let pages: &dyn PageTable = &LEVELS;
    assert_eq!(pages.entry(page(MemoryKind::System)), 0x12_3456_7003);
    assert_eq!(pages.entry(page(MemoryKind::Local)), 0x12_3456_7803);
    assert_eq!(
        pages.directory_entry_of(page(MemoryKind::Local)),
        Some(0x12_3456_7803)
    );
}

#[test]
fn a_topology_can_say_all_that() {
    // Levels follow from the bits of an address: 12 of a page, 9 for each level.
    let space = Translation::PerContext {
        bits: 48,
        kept: 0,
        tables: &LEVELS,
    };
    let Translation::PerContext { bits, .. } = space else {
        panic!("per context");
    };
    let per_level = LEVELS.entries_per_table().trailing_zeros();
    assert_eq!((u32::from(bits) - 12) / per_level, 4);
    let local = LocalMemory {
        size: 16 << 30,
        cpu_visible: 256 << 20,
        window_at: 0,
        // It has entries like other memory.
        at: None,
        grain: 64 << 10,
    };
    assert!(local.size > u64::from(u32::MAX) && local.at.is_none());
    // An address beyond 4 GiB is one that a batch may have.
    assert!(GpuAddr(1 << 47).0 >> bits == 0);
}

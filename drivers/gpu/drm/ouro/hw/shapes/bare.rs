// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A chip without contexts: known state before another client's batch, every batch a checked copy.

use super::{op, Memory, Parser};
use crate::{
    checker::{Checker, Object, Patch, Plan, Resolve, Verdict},
    engine::{
        Batch, Emit, Engine, EngineDesc, EngineMemory, PortKind, Privilege, StatusPage, Submission,
        Switch,
    },
    generation::DeviceError,
    gt::Gt,
    io::{AtomicWait, Hw, Registers, SleepWait},
    mock::Mock,
    page_table::PageTable,
    report::Activity,
    ring::{Commands, Overflow, Ring},
    types::{
        CacheLevel, DmaAddr, EngineClass, EngineId, GgttAddr, GpuAddr, MemoryKind, Page, Seqno,
    },
};
use std::{cell::Cell, cell::RefCell, vec, vec::Vec};

const WRITE_POINTER: u32 = 0x714;
const RING_BYTES: u32 = 4096;
const KNOWN: u32 = 0x600d;
const KNOWN_AT: u32 = 0x3000;

// --- The backend ---

struct BareEngine;
static ENGINE: BareEngine = BareEngine;
static DESC: EngineDesc = EngineDesc {
    id: EngineId {
        class: EngineClass::Render,
        instance: 0,
    },
    registers: 0,
    port: PortKind::Ring,
    ring_bytes: RING_BYTES,
    ring_end: u64::MAX,
    emit_dwords: 8,
    noop: op::NOOP,
    golden_dwords: 0,
    known_dwords: 2,
    private_dwords: 0,
    copy_pages: 0,
    state_bytes: 0,
    fill_pages: 0,
    seqno_at: 0x10,
    contexts: false,
    reset_group: Some(0),
    events: None,
    watchdog: None,
};

impl Engine for BareEngine {
    fn desc(&self) -> &'static EngineDesc {
        &DESC
    }
    fn checker(&self) -> Option<&'static dyn Checker> {
        Some(&STORES)
    }
    fn start(
        &self,
        hw: &Hw<'_>,
        _mem: &EngineMemory,
        _wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        hw.regs.write32(WRITE_POINTER, 0);
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
        out.put(request.inline)?;
        for batch in request.known.iter().chain(&request.batch) {
            // It runs so many dwords: there is no command that ends it.
            let addr = u32::try_from(batch.addr.0).map_err(|_| Overflow)?;
            out.put(&[op::CALL | (batch.len / 4), addr])?;
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
        let Submission::Tail(tail) = what else {
            return Err(DeviceError::Unsupported(
                "execlist submission on an engine with a ring",
            ));
        };
        // In dwords, as this chip counts.
        hw.regs.write32(WRITE_POINTER, tail.0 / 4);
        gt.counts.port_writes += 1;
        Ok(())
    }
    fn golden(&self, _out: &mut Commands<'_>) -> Result<(), Overflow> {
        Ok(())
    }
    fn known_state(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        out.put(&[op::STATE, KNOWN])
    }
    fn activity(&self, _hw: &Hw<'_>) -> Activity {
        Activity::default()
    }
}

/// Stores go to relocated objects only, and inside them; nothing else is allowed but the state. A
/// store's address is the number of a relocation, in the upper half, and an offset, in the lower.
struct Stores;

fn reject(at: usize) -> Verdict {
    Verdict::Reject { at, rule: "store" }
}

static STORES: Stores = Stores;

impl Checker for Stores {
    fn check(&self, stream: &[u32], objects: &dyn Resolve, patches: &mut [Patch]) -> Verdict {
        let (mut at, mut patched) = (0, 0);
        while let Some(header) = stream.get(at) {
            let len = match header & 0xff00_0000 {
                op::NOOP => 1,
                op::STORE => 3,
                op::STATE | op::STORE_STATE => 2,
                _ => return reject(at),
            };
            let Some(command) = stream.get(at..at + len) else {
                return reject(at);
            };
            if let (op::STORE | op::STORE_STATE, Some(place)) =
                (header & 0xff00_0000, command.get(1))
            {
                let offset = u64::from(*place & 0xffff);
                let object = objects.object(*place >> 16);
                let object = object.filter(|object| offset + 4 <= object.bytes);
                let (Some(object), Some(patch)) = (object, patches.get_mut(patched)) else {
                    return reject(at);
                };
                *patch = Patch {
                    at: at as u32 + 1,
                    value: (object.addr.0 + offset) as u32,
                };
                patched += 1;
            }
            at += len;
        }
        Verdict::Passes {
            dwords: at,
            patches: patched,
        }
    }
}

/// One level; memory of the device's own is reached without a table, so only system memory has
/// entries.
struct Gart;
static GART: Gart = Gart;

impl PageTable for Gart {
    fn entry_bytes(&self) -> u32 {
        4
    }
    fn entry(&self, page: Page) -> u64 {
        match page.memory {
            MemoryKind::System => {
                let snooped = u64::from(page.cache == CacheLevel::Coherent) << 1;
                page.addr.0 >> 8 & 0xff_fff0 | snooped | 0xc
            }
            MemoryKind::Local => self.invalid(),
        }
    }
    fn invalid(&self) -> u64 {
        0
    }
    fn entries_per_table(&self) -> u32 {
        0
    }
    fn directory_entry(&self, _table: DmaAddr) -> Option<u64> {
        None
    }
}

// --- The device ---

struct Device {
    tail: Cell<u32>,
    head: Cell<u32>,
    parser: RefCell<Parser>,
}

impl Registers for Device {
    fn read32(&self, _offset: u32) -> u32 {
        panic!("nothing is read");
    }
    fn write32(&self, offset: u32, value: u32) {
        assert_eq!(offset, WRITE_POINTER);
        self.tail.set(value * 4);
    }
    fn write64(&self, _offset: u32, _value: u64) {
        panic!("there are no such registers");
    }
}

impl Device {
    fn run(&self, memory: &Memory, ring: u32) {
        while self.head.get() != self.tail.get() {
            let head = self.head.get();
            let taken = self.parser.borrow_mut().step(memory, ring + head);
            self.head.set((head + 4 * taken) % RING_BYTES);
        }
    }
}

// --- A core ---

struct Objects(Vec<(GpuAddr, u64)>);

impl Resolve for Objects {
    fn object(&self, n: u32) -> Option<Object> {
        let (addr, bytes) = *self.0.get(n as usize)?;
        Some(Object {
            addr,
            bytes,
            tiling: None,
        })
    }
}

/// A batch of so many dwords that was checked, or that the kernel wrote.
fn kernels(at: u32, dwords: usize) -> Batch {
    Batch {
        addr: GpuAddr(at.into()),
        len: 4 * dwords as u32,
        privilege: Privilege::Kernel,
    }
}

struct Core<'a> {
    memory: &'a Memory,
    device: Device,
    mock: Mock,
    gt: Gt,
    engine: &'static dyn Engine,
    mem: EngineMemory,
    ring: Ring,
    seqno: Seqno,
    /// Where the commands are that go before each batch.
    known: Batch,
    next: u32,
}

impl<'a> Core<'a> {
    fn new(memory: &'a Memory) -> Self {
        // Written once.
        let mut known = vec![0; ENGINE.desc().known_dwords];
        let mut commands = Commands::new(&mut known);
        ENGINE.known_state(&mut commands).unwrap();
        memory.put(KNOWN_AT, commands.as_slice());
        let core = Self {
            memory,
            device: Device {
                tail: Cell::new(1),
                head: Cell::new(0),
                parser: RefCell::default(),
            },
            mock: Mock::default(),
            gt: Gt::default(),
            engine: &ENGINE,
            mem: EngineMemory {
                ring: GgttAddr(0x1000),
                status: StatusPage::Ggtt(GgttAddr(0x2000)),
                scratch: GgttAddr(0),
                directory: None,
                card: 0,
            },
            ring: Ring::new(RING_BYTES),
            seqno: Seqno(0),
            known: kernels(KNOWN_AT, commands.len()),
            next: 0x4000,
        };
        core.engine
            .start(&core.hw(), &core.mem, &core.mock)
            .unwrap();
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

    /// A client's request: checked, copied, run to its end.
    fn exec(&mut self, stream: &[u32], objects: &Objects) -> Result<(), usize> {
        let mut list = vec![Patch::default(); Patch::most(stream.len())];
        let checker = self.engine.checker().expect("this chip has no checker");
        let (len, patches) = match checker.check(stream, objects, &mut list).plan(false) {
            Plan::Copy { dwords, patches } => (dwords, &list[..patches]),
            Plan::Refuse { at, .. } => return Err(at),
            plan => panic!("this chip does not copy batches: {plan:?}"),
        };
        let shadow = self.page();
        self.memory.put(shadow, &stream[..len]);
        for patch in patches {
            self.memory.put(shadow + 4 * patch.at, &[patch.value]);
        }

        self.seqno = self.seqno.next();
        let request = Emit {
            switch: Switch::Stay,
            known: Some(self.known),
            directory: None,
            batch: Some(kernels(shadow, len)),
            inline: &[],
            watchdog: None,
            seqno: self.seqno,
        };
        let mut buf = vec![0; self.engine.desc().emit_dwords];
        let mut out = Commands::new(&mut buf);
        self.engine.emit(&request, &self.mem, &mut out).unwrap();
        let slot = self.ring.reserve(out.len()).unwrap();
        if let Some((at, dwords)) = slot.pad {
            self.memory
                .put(self.mem.ring.0 + at.0, &vec![op::NOOP; dwords as usize]);
        }
        self.memory
            .put(self.mem.ring.0 + slot.start.0, out.as_slice());
        let mut gt = core::mem::take(&mut self.gt);
        self.engine
            .submit(&self.hw(), &mut gt, Submission::Tail(slot.tail), &self.mock)
            .unwrap();
        self.gt = gt;
        self.device.run(self.memory, self.mem.ring.0);
        let status = self.mem.status.ggtt().unwrap();
        let at = status.0 + self.engine.desc().seqno_at;
        assert_eq!(Seqno(self.memory.get(at)), self.seqno);
        self.ring.retire(slot.tail);
        self.next = shadow;
        Ok(())
    }
}

#[test]
fn state_is_known_after_another_batch() {
    let memory = Memory::new(16);
    let mut core = Core::new(&memory);
    let out = core.page();
    let objects = Objects(vec![(GpuAddr(out.into()), 4096)]);
    let read = |at: u32| [op::STORE_STATE, at];
    let [set, store] = [[op::STATE, 7], read(0)];
    core.exec(&[set, store].concat(), &objects).unwrap();
    core.exec(&read(4), &objects).unwrap();
    assert_eq!(memory.get(out), 7, "within a batch it stays");
    assert_eq!(memory.get(out + 4), KNOWN);
    assert_eq!(core.device.parser.borrow().interrupts, 2);
    assert_eq!(core.gt.counts.port_writes, 2);
}

#[test]
fn only_what_was_checked_runs() {
    let memory = Memory::new(16);
    let mut core = Core::new(&memory);
    let out = core.page();
    let objects = Objects(vec![(GpuAddr(out.into()), 16)]);
    core.exec(&[op::STORE, 12, 5], &objects).unwrap();
    assert_eq!(memory.get(out + 12), 5);
    for (stream, at) in [
        (&[op::STORE, 16, 5][..], 0),
        (&[op::NOOP, op::STORE, 1 << 16, 5], 1),
        (&[op::INTERRUPT], 0),
        (&[op::STATE, 1, op::CALL | 1, 0], 2),
        (&[op::STORE, 0], 0),
    ] {
        assert_eq!(core.exec(stream, &objects), Err(at));
    }
    assert_eq!(core.seqno, Seqno(1), "nothing of them was queued");
}

#[test]
fn the_ring_wraps() {
    let memory = Memory::new(16);
    let mut core = Core::new(&memory);
    let out = core.page();
    let objects = Objects(vec![(GpuAddr(out.into()), 4096)]);
    for n in 0..1000u32 {
        core.exec(&[op::STORE, 4 * (n % 1000), n], &objects)
            .unwrap();
    }
    assert_eq!(memory.get(out + 3996), 999);
}

#[test]
fn only_system_memory_has_entries() {
    let page = |memory| Page {
        addr: DmaAddr(0x1234_5000),
        memory,
        cache: CacheLevel::Coherent,
    };
    let pages: &dyn PageTable = &GART;
    assert_eq!(pages.entry(page(MemoryKind::System)), 0x12_345e);
    assert_eq!(pages.entry(page(MemoryKind::Local)), pages.invalid());
    assert_eq!(pages.directory_entry_of(page(MemoryKind::System)), None);
    assert_eq!(pages.directory_entry_of(page(MemoryKind::Local)), None);
}

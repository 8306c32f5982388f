// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A chip whose requests load the page directory of their address space: two engines with a ring
//! each and no contexts, a directory of four entries in the GGTT's array, page tables of four pages
//! of sixteen bytes. An engine keeps the directory entries that it has loaded, and all translations
//! in its TLB until a command drops them.

use super::Memory;
use crate::{
    engine::{
        Batch, Emit, Engine, EngineDesc, EngineMemory, PortKind, Privilege, StatusPage, Submission,
        Switch,
    },
    generation::DeviceError,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    report::Activity,
    ring::{Commands, Overflow},
    types::{EngineClass, EngineId, GgttAddr, GpuAddr, Seqno, PAGE_SIZE},
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    vec,
    vec::Vec,
};

/// Commands.
mod op {
    /// Drops translations.
    pub(super) const DROP: u32 = 1 << 24;
    /// Loads the directory in the slots from bits 23:0 on.
    pub(super) const LOAD: u32 = 2 << 24;
    /// Runs the batch at the address that follows, of the engine's space.
    pub(super) const CALL: u32 = 3 << 24;
    /// Stores the dword that follows at the address of bits 23:0, of the engine's space.
    pub(super) const STORE: u32 = 4 << 24;
    /// Ends a batch.
    pub(super) const END: u32 = 5 << 24;
}

/// Entries of a directory, entries of a table, bytes of a page.
const ENTRIES: u32 = 4;
const TABLE: u32 = 4;
const PAGE: u32 = 16;

// --- The backend ---

struct Loading;

static DESC: EngineDesc = EngineDesc {
    id: EngineId {
        class: EngineClass::Copy,
        instance: 0,
    },
    registers: 0,
    port: PortKind::Ring,
    ring_bytes: 4096,
    ring_end: u64::MAX,
    noop: 0,
    emit_dwords: 6,
    golden_dwords: 0,
    known_dwords: 0,
    private_dwords: 0,
    copy_pages: 0,
    state_bytes: 0,
    fill_pages: 0,
    seqno_at: 0,
    watchdog: None,
    contexts: false,
    reset_group: None,
    events: None,
};

impl Engine for Loading {
    fn desc(&self) -> &'static EngineDesc {
        &DESC
    }
    fn start(
        &self,
        _hw: &Hw<'_>,
        _mem: &EngineMemory,
        _wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        Ok(())
    }
    fn stop(&self, _hw: &Hw<'_>, _wait: &dyn SleepWait) -> Result<(), DeviceError> {
        Ok(())
    }
    fn emit(
        &self,
        request: &Emit<'_>,
        _mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow> {
        out.put(&[op::DROP])?;
        if let Some(slot) = request.directory {
            out.put(&[op::LOAD | slot.page(), op::DROP])?;
        }
        let batch = request.batch.ok_or(Overflow)?;
        out.put(&[op::CALL, batch.addr.0 as u32])
    }
    fn submit(
        &self,
        _hw: &Hw<'_>,
        _gt: &mut Gt,
        _what: Submission<'_>,
        _wait: &dyn AtomicWait,
    ) -> Result<(), DeviceError> {
        Ok(())
    }
    fn golden(&self, _out: &mut Commands<'_>) -> Result<(), Overflow> {
        Ok(())
    }
    fn activity(&self, _hw: &Hw<'_>) -> Activity {
        Activity::default()
    }
}

// --- The device ---

/// State of an engine.
#[derive(Default)]
struct Unit {
    directory: Option<Vec<u32>>,
    translations: RefCell<BTreeMap<u32, u32>>,
}

impl Unit {
    /// The place in memory of an address of the space that is loaded.
    fn at(&self, memory: &Memory, addr: u32) -> u32 {
        let page = addr / PAGE;
        let entry = || {
            let directory = self.directory.as_ref().expect("a directory is loaded");
            let table = directory[(page / TABLE) as usize];
            assert_ne!(table, 0, "address {addr:#x} has a table that was loaded");
            memory.get(table + page % TABLE * 4)
        };
        let page = *self
            .translations
            .borrow_mut()
            .entry(page)
            .or_insert_with(entry);
        page + addr % PAGE
    }

    fn run(&mut self, memory: &Memory, commands: &[u32]) {
        let mut commands = commands.iter();
        while let Some(header) = commands.next() {
            let operand = header & 0xff_ffff;
            match header & 0xff00_0000 {
                op::DROP => self.translations.borrow_mut().clear(),
                op::LOAD => {
                    let slots = (0..ENTRIES).map(|n| memory.get((operand + n) * 4));
                    self.directory = Some(slots.collect());
                }
                op::CALL => {
                    let mut at = *commands.next().expect("an address");
                    loop {
                        let header = memory.get(self.at(memory, at));
                        match header & 0xff00_0000 {
                            op::END => break,
                            op::STORE => {
                                let value = memory.get(self.at(memory, at + 4));
                                memory.set(self.at(memory, header & 0xff_ffff), value);
                                at += 8;
                            }
                            _ => panic!("no command {header:x} at {at:x}"),
                        }
                    }
                }
                _ => panic!("no command {header:x}"),
            }
        }
    }
}

// --- A core ---

/// A space: where its directory is, and its edition.
struct TestSpace {
    slot: u32,
    edition: u32,
}

struct Core {
    memory: Memory,
    units: [Unit; 2],
    /// By engine, the edition that it has loaded.
    loaded: [Option<u32>; 2],
    loads: Cell<u32>,
    editions: u32,
    next: u32,
}

impl Core {
    fn new() -> Self {
        Self {
            memory: Memory::new(4),
            units: Default::default(),
            loaded: [None; 2],
            loads: Cell::new(0),
            editions: 0,
            next: 0x1000,
        }
    }

    fn alloc(&mut self) -> u32 {
        self.next += PAGE;
        self.next
    }

    fn renew(&mut self, space: &mut TestSpace) {
        self.editions += 1;
        space.edition = self.editions;
    }

    fn space(&mut self, slot: u32) -> TestSpace {
        let mut space = TestSpace { slot, edition: 0 };
        self.renew(&mut space);
        space
    }

    /// Maps a page of new memory, and returns where that is.
    fn map(&mut self, space: &mut TestSpace, addr: u32) -> u32 {
        let slot = (space.slot + addr / PAGE / TABLE) * 4;
        if self.memory.get(slot) == 0 {
            let table = self.alloc();
            self.memory.set(slot, table);
            self.renew(space);
        }
        let page = self.alloc();
        self.memory
            .set(self.memory.get(slot) + addr / PAGE % TABLE * 4, page);
        page
    }

    fn exec(&mut self, engine: usize, space: &TestSpace, addr: u32) {
        let load = self.loaded[engine] != Some(space.edition);
        self.loaded[engine] = Some(space.edition);
        self.loads.set(self.loads.get() + u32::from(load));
        let request = Emit {
            switch: Switch::Stay,
            directory: load.then_some(GgttAddr(space.slot * PAGE_SIZE)),
            watchdog: None,
            known: None,
            batch: Some(Batch {
                addr: GpuAddr(addr.into()),
                len: 12,
                privilege: Privilege::User,
            }),
            inline: &[],
            seqno: Seqno(1),
        };
        let mem = EngineMemory {
            ring: GgttAddr(0),
            status: StatusPage::Ggtt(GgttAddr(0)),
            scratch: GgttAddr(0),
            directory: None,
            card: 0,
        };
        let mut buffer = vec![0; DESC.emit_dwords];
        let mut out = Commands::new(&mut buffer);
        Loading.emit(&request, &mem, &mut out).unwrap();
        self.units[engine].run(&self.memory, out.as_slice());
    }
}

/// Returns an address space whose batch at 0 stores `value` at 20h, and the place of that dword in
/// memory.
fn storing(core: &mut Core, slot: u32, value: u32) -> (TestSpace, u32) {
    let mut space = core.space(slot);
    let batch = core.map(&mut space, 0);
    let target = core.map(&mut space, 0x20);
    core.memory.put(batch, &[op::STORE | 0x24, value, op::END]);
    (space, target)
}

#[test]
fn spaces_have_their_own_bytes_at_the_same_addresses() {
    let mut core = Core::new();
    let spaces: Vec<_> = (0..8)
        .map(|n| storing(&mut core, 16 * n, 0x100 + n))
        .collect();
    for engine in [0, 1, 0] {
        for (space, _) in &spaces {
            core.exec(engine, space, 0);
        }
    }
    for (n, (_, target)) in spaces.iter().enumerate() {
        assert_eq!(core.memory.get(target + 4), 0x100 + n as u32);
    }
    assert_eq!(core.loads.get(), 24);
}

#[test]
fn a_space_that_stays_is_loaded_once() {
    let mut core = Core::new();
    let (space, target) = storing(&mut core, 0, 7);
    for _ in 0..5 {
        core.exec(0, &space, 0);
    }
    assert_eq!((core.loads.get(), core.memory.get(target + 4)), (1, 7));
}

#[test]
fn what_is_added_is_seen_by_the_next_request_of_each_engine() {
    let mut core = Core::new();
    let (mut space, _) = storing(&mut core, 0, 7);
    core.exec(0, &space, 0);
    core.exec(1, &space, 0);
    // A page behind a table that is there needs no load; one behind a new table does, on both
    // engines.
    let near = core.map(&mut space, 0x30);
    core.memory.put(near, &[op::STORE | 0x28, 8, op::END]);
    core.exec(0, &space, 0x30);
    assert_eq!(core.loads.get(), 2);
    let far = core.map(&mut space, 0x80);
    for engine in [1, 0] {
        core.memory
            .put(far, &[op::STORE | 0x8c, 9 + engine as u32, op::END]);
        core.exec(engine, &space, 0x80);
        assert_eq!(core.memory.get(far + 12), 9 + engine as u32);
    }
    assert_eq!(core.loads.get(), 4);
}

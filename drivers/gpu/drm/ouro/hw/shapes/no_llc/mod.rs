// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A chip without LLC: its engines do not snoop the CPU's caches, and its chipset buffers writes.
//!
//! Its status page is at a bus address, and all memory must be below 4 GiB. It is reset by a byte
//! of configuration space, which disables the GGTT and clears the fence registers. Batches of an
//! administrator may run with privilege. The modelled machine has a CPU cache that writes nothing
//! back by itself, and a chipset that forwards no buffered write by itself: the device does not see
//! a write until the core publishes it.

mod machine;

use super::op;
use crate::{
    chips::Chip,
    coherence::{Coherence, KernelUse},
    engine::{
        Batch, Emit, Engine, EngineDesc, EngineMemory, PortKind, Privilege, StatusPage,
        StatusPlace, Submission, Switch,
    },
    fence_regs::{BadRegion, FenceRegion, FenceRegs, Tiling},
    generation::{
        DeviceError, Events, Generation, Layout, Mapping, Pipes, ResetScope, SecureBatches,
        Swizzle, Topology, Translation, Window, Windows,
    },
    gt::Gt,
    io::{AtomicWait, Hw, Registers, SleepWait},
    mock::{Access, FREE_PAGE},
    page_table::PageTable,
    report::{Activity, Report},
    ring::{Commands, Overflow, Ring},
    types::{
        CacheLevel, DmaAddr, EngineClass, EngineId, GgttAddr, GpuAddr, MemoryKind, Page, Seqno,
        PAGE_SIZE,
    },
};
use machine::{CpuPage, NoLlcMachine};
use std::vec;

const TAIL: u32 = 0x30;
const STATUS: u32 = 0x80;
const TABLE: u32 = 0x20;
const FENCES: u32 = 0x3000;
const FENCE_COUNT: u8 = 2;
const RESET_BYTE: u16 = 0xc2;
const RESETTING: u8 = 1;
const FLUSH_PAGE_LOW: u16 = 0x70;
const RING_BYTES: u32 = 4096;
const SEQNO_AT: u32 = 0xc0;

// --- The backend ---

struct NoLlc(Coherence);
static NO_LLC: NoLlc = NoLlc(Coherence::None);
static SNOOPING: NoLlc = NoLlc(Coherence::Snoop);
struct NoLlcEngine;
static ENGINE: NoLlcEngine = NoLlcEngine;
static ENGINES: [&dyn Engine; 1] = [&ENGINE];
static DESC: EngineDesc = EngineDesc {
    id: EngineId {
        class: EngineClass::Render,
        instance: 0,
    },
    registers: 0,
    port: PortKind::Ring,
    ring_bytes: RING_BYTES,
    ring_end: u64::MAX,
    noop: op::NOOP,
    emit_dwords: 8,
    golden_dwords: 0,
    known_dwords: 0,
    private_dwords: 0,
    copy_pages: 0,
    state_bytes: 0,
    fill_pages: 0,
    seqno_at: SEQNO_AT,
    watchdog: None,
    contexts: false,
    reset_group: None,
    events: None,
};

impl Engine for NoLlcEngine {
    fn desc(&self) -> &'static EngineDesc {
        &DESC
    }
    fn start(
        &self,
        hw: &Hw<'_>,
        mem: &EngineMemory,
        _wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let status = match mem.status {
            StatusPage::Bus(addr) => addr.0 as u32,
            StatusPage::Ggtt(addr) => addr.0,
        };
        hw.regs.write32(STATUS, status);
        hw.regs.write32(TAIL, 0);
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
        if let Some(batch) = request.batch {
            // Bit 16: without privilege.
            let user = u32::from(batch.privilege == Privilege::User) << 16;
            let addr = u32::try_from(batch.addr.0).map_err(|_| Overflow)?;
            out.put(&[op::CALL | user | (batch.len / 4), addr])?;
        }
        // At an offset in the status page, wherever that is.
        out.put(&[op::STORE, SEQNO_AT, request.seqno.0])?;
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
        hw.platform.flush_chipset();
        gt.counts.port_extra_writes += 1;
        hw.regs.write32(TAIL, tail.0);
        gt.counts.port_writes += 1;
        Ok(())
    }
    fn golden(&self, _out: &mut Commands<'_>) -> Result<(), Overflow> {
        Ok(())
    }
    fn activity(&self, _hw: &Hw<'_>) -> Activity {
        Activity::default()
    }
}

struct Table;
static TABLES: Table = Table;

impl PageTable for Table {
    fn entry_bytes(&self) -> u32 {
        4
    }
    fn entry(&self, page: Page) -> u64 {
        assert_eq!(page.memory, MemoryKind::System);
        let snooped = u64::from(page.cache == CacheLevel::Coherent) * 6;
        page.addr.0 | snooped | 1
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

struct Fences;
static FENCE_REGS: Fences = Fences;

impl FenceRegs for Fences {
    fn count(&self) -> u8 {
        FENCE_COUNT
    }
    fn check(&self, _region: &FenceRegion) -> Result<(), BadRegion> {
        Ok(())
    }
    fn set(
        &self,
        regs: &dyn Registers,
        n: u8,
        region: Option<&FenceRegion>,
    ) -> Result<(), BadRegion> {
        let value = region.map_or(0, |r| r.start.0 | 1);
        regs.write32(FENCES + 4 * u32::from(n), value);
        Ok(())
    }
}

impl Generation for NoLlc {
    fn name(&self) -> &'static str {
        "no-llc"
    }
    fn windows(&self) -> Windows {
        let window = |bar, start, len, mapping| Window {
            bar,
            start,
            len,
            mapping,
        };
        Windows {
            regs: window(0, 0, 512 << 10, Mapping::Uncached),
            gtt: window(0, 512 << 10, 0, Mapping::WriteCombining),
            aperture: Some(window(2, 0, 0, Mapping::WriteCombining)),
            local: None,
        }
    }
    fn dma_bits(&self) -> u8 {
        match self.0 {
            Coherence::None => 32,
            _ => 36,
        }
    }
    fn secure_batches(&self) -> SecureBatches {
        SecureBatches::Master
    }
    fn reset_empties_fences(&self) -> bool {
        true
    }
    fn probe(&self, hw: &Hw<'_>, _chip: &Chip) -> Result<Topology, DeviceError> {
        Ok(Topology {
            engines: &ENGINES,
            gtt_entries: 1 << 16,
            pages: &TABLES,
            space: Translation::Global,
            aperture: hw.platform.bar_len(2),
            fences: Some(&FENCE_REGS),
            context: None,
            local: None,
            swizzle: Swizzle::Bit9_10_17,
            coherence: self.0,
            status: match self.0 {
                Coherence::None => StatusPlace::Bus,
                _ => StatusPlace::Aperture,
            },
            timestamp_hz: 1,
            context_bytes: 0,
            stolen_bytes: 0,
            revision: 0,
            msi: false,
            pipes: Pipes::default(),
            shaders: None,
            card: 0,
        })
    }
    fn start(
        &self,
        hw: &Hw<'_>,
        _topo: &Topology,
        _layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        // The bridge forgets where the page is when the system sleeps.
        let known = hw.platform.bridge32(FLUSH_PAGE_LOW);
        let firmware = (known & 1 != 0).then_some(DmaAddr((known & !1).into()));
        if let Some(at) = hw.platform.flush_page(firmware) {
            hw.platform.bridge_write32(FLUSH_PAGE_LOW, at.0 as u32 | 1);
        }
        self.reset(hw, ResetScope::All, wait)
    }
    fn stop(&self, _hw: &Hw<'_>) {}
    fn wake(&self, _hw: &Hw<'_>, _gt: &mut Gt, _wait: &dyn AtomicWait) -> Result<(), DeviceError> {
        Ok(())
    }
    fn sleep(&self, _hw: &Hw<'_>, _gt: &mut Gt) {}
    fn irq_on(&self, _hw: &Hw<'_>, _gt: &mut Gt) {}
    fn irq_off(&self, _hw: &Hw<'_>, _gt: &mut Gt) {}
    fn irq_arm(&self, _hw: &Hw<'_>, _gt: &mut Gt, _engine: usize, _on: bool) {}
    fn irq_ack(&self, _hw: &Hw<'_>) -> Events {
        Events::default()
    }
    fn reset(
        &self,
        hw: &Hw<'_>,
        _what: ResetScope,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        hw.platform.config_write8(RESET_BYTE, RESETTING);
        wait.pause(50);
        hw.platform.config_write8(RESET_BYTE, 0);
        wait.poll(50_000, &mut || hw.platform.config8(RESET_BYTE) == 0)
            .map_err(|_| DeviceError::Timeout("the reset byte"))
    }
    fn gtt_on(&self, hw: &Hw<'_>, on: bool) {
        hw.regs.write32(TABLE, on.into());
    }
    fn gtt_flush(&self, hw: &Hw<'_>) {
        hw.platform.flush_chipset();
    }
    fn errors(&self, _hw: &Hw<'_>, _gt: &mut Gt, _topo: &Topology) -> Report {
        Report::default()
    }
}

// --- A core ---

const RING_AT: u32 = 0x0f00_0000;

struct Core<'a> {
    machine: &'a NoLlcMachine,
    generation: &'static dyn Generation,
    topo: Topology,
    mem: EngineMemory,
    ring_page: CpuPage,
    status_page: CpuPage,
    ring: Ring,
    gt: Gt,
    seqno: Seqno,
    fences: [Option<FenceRegion>; FENCE_COUNT as usize],
}

impl<'a> Core<'a> {
    fn hw(machine: &'a NoLlcMachine) -> Hw<'a> {
        Hw {
            regs: machine,
            gtt: machine,
            platform: machine,
            firmware: &[],
            card: 0,
        }
    }

    fn new(machine: &'a NoLlcMachine, generation: &'static dyn Generation) -> Self {
        let chip = crate::chips::ALL[0];
        let topo = generation.probe(&Self::hw(machine), &chip).unwrap();
        // The highest pages that the device reaches.
        let mut next = 1u64 << generation.dma_bits();
        let mut allocate = |what| {
            next -= u64::from(PAGE_SIZE);
            let kind = topo.coherence.kernel(what);
            let cpu = CpuPage {
                at: next,
                write_combined: kind.write_combined,
            };
            let entry = topo.pages.entry(Page {
                addr: DmaAddr(next),
                memory: MemoryKind::System,
                cache: kind.cache,
            });
            (cpu, entry)
        };
        let (ring_page, ring_entry) = allocate(KernelUse::Commands);
        let (status_page, status_entry) = allocate(KernelUse::Status);
        let mut table = machine.table.borrow_mut();
        table.insert(RING_AT / PAGE_SIZE, ring_entry);
        let status = match topo.status {
            StatusPlace::Bus => {
                assert!(status_page.at < 1 << 32);
                StatusPage::Bus(DmaAddr(status_page.at))
            }
            StatusPlace::Aperture => {
                let at = topo.aperture as u32 - PAGE_SIZE;
                table.insert(at / PAGE_SIZE, status_entry);
                StatusPage::Ggtt(GgttAddr(at))
            }
            StatusPlace::Table => panic!("not on this chip"),
        };
        drop(table);
        let mut core = Self {
            machine,
            generation,
            topo,
            mem: EngineMemory {
                ring: GgttAddr(RING_AT),
                status,
                scratch: GgttAddr(0),
                directory: None,
                card: 0,
            },
            ring_page,
            status_page,
            ring: Ring::new(RING_BYTES),
            gt: Gt::default(),
            seqno: Seqno(0),
            fences: [None; FENCE_COUNT as usize],
        };
        core.bring_up();
        core
    }

    fn restore_fences(&self) {
        let regs = self.topo.fences.unwrap();
        for (n, region) in (0..).zip(&self.fences) {
            regs.set(self.machine, n, region.as_ref()).unwrap();
        }
    }

    /// Also after a reset.
    fn bring_up(&mut self) {
        let hw = Self::hw(self.machine);
        let layout = Layout {
            scratch: Page {
                addr: DmaAddr(0),
                memory: MemoryKind::System,
                cache: CacheLevel::None,
            },
            directory: None,
        };
        self.generation.gtt_on(&hw, false);
        self.generation
            .start(&hw, &self.topo, &layout, &self.machine.mock)
            .unwrap();
        self.generation.gtt_on(&hw, true);
        if self.generation.reset_empties_fences() {
            self.restore_fences();
        }
        self.ring.clear();
        self.topo.engines[0]
            .start(&hw, &self.mem, &self.machine.mock)
            .unwrap();
        self.machine.order.take();
    }

    fn exec(&mut self, privilege: Privilege) {
        self.seqno = self.seqno.next();
        let request = Emit {
            switch: Switch::Stay,
            directory: None,
            watchdog: None,
            known: None,
            batch: Some(Batch {
                addr: GpuAddr(0x1000),
                len: 8,
                privilege,
            }),
            inline: &[],
            seqno: self.seqno,
        };
        let mut buffer = vec![0; DESC.emit_dwords];
        let mut out = Commands::new(&mut buffer);
        self.topo.engines[0]
            .emit(&request, &self.mem, &mut out)
            .unwrap();
        let slot = self.ring.reserve(out.len()).unwrap();
        for (n, dword) in (0..).zip(out.as_slice()) {
            self.machine
                .write(self.ring_page, slot.start.0 + 4 * n, *dword);
        }
        let (hw, gt) = (Self::hw(self.machine), &mut self.gt);
        let tail = Submission::Tail(slot.tail);
        self.topo.engines[0]
            .submit(&hw, gt, tail, &self.machine.mock)
            .unwrap();
    }

    fn progress(&self) -> Seqno {
        Seqno(self.machine.read(self.status_page, SEQNO_AT))
    }
}

#[test]
fn a_request_is_one_flush_and_one_tail_and_no_read() {
    for generation in [&NO_LLC, &SNOOPING] {
        let machine = NoLlcMachine::default();
        let mut core = Core::new(&machine, generation);
        assert_eq!(core.progress(), Seqno(0));
        for n in 1..4 {
            core.exec(Privilege::User);
            let expected = [Access::FlushChipset, Access::W(TAIL, 24 * n)];
            assert_eq!(machine.order.take(), expected);
            assert_eq!(machine.run(RING_AT), [false]);
            assert_eq!(core.progress(), Seqno(n));
        }
        assert_eq!(machine.reads.get(), 0);
        let counts = core.gt.counts;
        assert_eq!((counts.port_writes, counts.port_extra_writes), (3, 3));
    }
}

#[test]
fn commands_in_the_cpus_cache_are_not_seen() {
    // This is what tells write-combined rings from others here.
    let machine = NoLlcMachine::default();
    let mut core = Core::new(&machine, &NO_LLC);
    core.ring_page.write_combined = false;
    core.exec(Privilege::User);
    assert_eq!(machine.run(RING_AT), []);
    assert_eq!(core.progress(), Seqno(0));
}

#[test]
fn memory_and_status_page_are_where_the_chip_reaches_them() {
    let machine = NoLlcMachine::default();
    let core = Core::new(&machine, &NO_LLC);
    assert_eq!(core.mem.status, StatusPage::Bus(DmaAddr(0xffff_e000)));
    assert_eq!(core.mem.status.ggtt(), None);
    assert_eq!(machine.registers.borrow()[&STATUS], 0xffff_e000);
    assert!(core.mem.status.at(0).is_err() && core.mem.status.in_table().is_err());

    let machine = NoLlcMachine::default();
    let core = Core::new(&machine, &SNOOPING);
    // Below the end of an aperture of 256 MiB; snooped, and beyond 4 GiB.
    assert_eq!(core.mem.status, StatusPage::Ggtt(GgttAddr(0x0fff_f000)));
    assert_eq!(machine.table.borrow()[&0xffff], 0xf_ffff_e007);
    assert_eq!(
        machine.table.borrow()[&(RING_AT / PAGE_SIZE)],
        0xf_ffff_f001
    );
}

#[test]
fn the_flush_page_is_found_or_made_and_told_again() {
    let machine = NoLlcMachine::default();
    let mut core = Core::new(&machine, &NO_LLC);
    let told = |at: DmaAddr| Access::Bridge(FLUSH_PAGE_LOW, at.0 as u32 | 1);
    let reset = [
        Access::Config(RESET_BYTE, 1),
        Access::Pause(50),
        Access::Config(RESET_BYTE, 0),
    ];
    let expected = [&[told(FREE_PAGE)][..], &reset].concat();
    assert_eq!(machine.mock.take(), expected);
    // The system has slept.
    machine.mock.bridge(FLUSH_PAGE_LOW, 0);
    core.bring_up();
    assert_eq!(machine.mock.take(), expected);

    // The firmware has one.
    let machine = NoLlcMachine::default();
    machine.mock.bridge(FLUSH_PAGE_LOW, 0xfed1_0001);
    let _core = Core::new(&machine, &NO_LLC);
    assert_eq!(machine.mock.take()[0], told(DmaAddr(0xfed1_0000)));
}

#[test]
fn after_a_reset_the_table_is_on_and_the_fences_hold_what_they_held() {
    let machine = NoLlcMachine::default();
    let mut core = Core::new(&machine, &NO_LLC);
    core.fences[1] = Some(FenceRegion {
        start: GgttAddr(0x8000),
        len: 0x1000,
        stride: 512,
        tiling: Tiling::X,
    });
    core.restore_fences();
    core.exec(Privilege::User);
    // The test has not run the engine: it hangs.
    core.bring_up();
    let registers = machine.registers.borrow().clone();
    assert_eq!(registers[&FENCES], 0);
    assert_eq!(registers[&(FENCES + 4)], 0x8001);
    assert_eq!(registers[&TABLE], 1);
    drop(registers);
    core.exec(Privilege::User);
    assert_eq!(machine.run(RING_AT), [false]);
    assert_eq!(core.progress(), Seqno(2));
}

#[test]
fn a_secure_batch_has_privilege() {
    let machine = NoLlcMachine::default();
    let mut core = Core::new(&machine, &NO_LLC);
    assert_eq!(core.generation.secure_batches(), SecureBatches::Master);
    core.exec(Privilege::Kernel);
    core.exec(Privilege::User);
    assert_eq!(machine.run(RING_AT), [true, false]);
}

#[test]
fn pages_of_tiled_objects_stay_where_their_address_orders_bytes() {
    let probe = |g: &NoLlc| {
        let machine = NoLlcMachine::default();
        let hw = Core::hw(&machine);
        g.probe(&hw, &crate::chips::ALL[0]).unwrap().swizzle
    };
    assert!(probe(&NO_LLC).depends_on_memory());
    assert!(Swizzle::Unknown.depends_on_memory());
    for stable in [Swizzle::None, Swizzle::Bit9_10, Swizzle::Bit9_10_11] {
        assert!(!stable.depends_on_memory());
    }
}

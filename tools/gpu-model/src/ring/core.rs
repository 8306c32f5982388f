// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device's state, and the small services that all its parts use: registers by offset,
//! counting, reporting, memory access of an engine.

use crate::clock::Clock;
use crate::counters::Counter;
use crate::device::PowerOn;
use crate::fault::Kind;
use crate::intel::gtt::PteArray;
use crate::intel::regfile::Domain;
use crate::intel::tlb::{AddressSpace, Client, Tlb};
use crate::ledger::By;
use crate::memory::GuestMemory;
use crate::model::IrqSink;
use crate::notes::Notes;
use crate::pci::PciConfig;
use crate::ring::blit::Blitter;
use crate::ring::chip::EngineRow;
use crate::ring::config::RingConfig;
use crate::ring::context::RenderState;
use crate::ring::engine::{Engine, EngineId};
use crate::ring::gt::Gt;
use crate::ring::later::Later;
use crate::ring::lint::Rule;
use crate::ring::lit::{Screen, WithStolen};
use crate::ring::mmu::{MemoryContext, Mmu, Note};
use crate::ring::real::Left;
use crate::ring::regs::MMIO_SIZE;
use crate::ring::writes::WriteLog;
use crate::test_capability::TestCapability;
use crate::trace::Event;
use std::sync::Arc;

/// Units that ask for translations: SRCID of a fault record. The numbers of the video engine are
/// documented (VCS PRM 1.1.9.4.6); the others use the same by choice.
pub(crate) mod source {
    pub const CS_READ: u32 = 0x00;
    pub const CS_WRITE: u32 = 0x08;
    pub const BLT_READ: u32 = 0x01;
    pub const BLT_WRITE: u32 = 0x09;
}

/// Bit of an engine's mode register: the per-process table is on (§4.6).
pub(crate) const PPGTT_ENABLE: u32 = 1 << 9;

/// Who accesses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The CPU, through BAR0.
    Cpu,
    /// A command streamer.
    Cs(EngineId),
}

impl Origin {
    /// As the list of writes has it.
    pub fn by(self) -> By {
        match self {
            Origin::Cpu => By::Cpu,
            Origin::Cs(_) => By::Command,
        }
    }
}

/// The whole device behind one lock.
pub(crate) struct Core {
    pub cfg: RingConfig,
    pub values: Vec<u32>,
    pub cx: MemoryContext,
    pub engines: Vec<Engine>,
    pub pci: PciConfig,
    pub irq: Arc<dyn IrqSink>,
    pub line: bool,
    pub notes: Notes<Rule>,
    pub later: Later,
    pub gt: Gt,
    pub render: RenderState,
    pub blitter: Blitter,
    pub test_capability: TestCapability,
    pub removed: bool,
    /// What firmware has left, and what is late.
    pub left: Left,
    /// The picture that firmware has left.
    pub screen: Screen,
    /// Engines whose registers another engine has written, as a mask.
    pub kicked: u8,
    /// What Gen4 has besides.
    pub own: crate::gen4::State,
    /// Second events of bits that are set in the identity register.
    pub queued_events: u32,
}

impl Core {
    pub fn new(
        cfg: RingConfig,
        gtt: Arc<dyn PteArray>,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let memory: Arc<dyn GuestMemory> = if cfg.real.lit {
            Arc::new(WithStolen(memory))
        } else {
            memory
        };
        let mut core = Core {
            pci: crate::ring::config::pci_config(&cfg),
            values: vec![0; (MMIO_SIZE / 4) as usize],
            cx: MemoryContext {
                gtt,
                memory,
                pte: cfg.chip.pte,
                ppgtt: false,
                stream_tlb: cfg.chip.ways.stream_tlb,
                table_on: true,
                program: false,
                big_pages: cfg.big_pages,
                writes: WriteLog::new(cfg.keep_writes),
            },
            engines: cfg.chip.engines.iter().map(|e| Engine::new(e.id)).collect(),
            irq,
            line: false,
            notes: Notes::new(clock, cfg.seed, cfg.keep_events),
            later: Later::default(),
            gt: Gt::default(),
            render: RenderState::default(),
            blitter: Blitter::default(),
            test_capability: TestCapability::default(),
            removed: false,
            left: Left::default(),
            screen: Screen::default(),
            kicked: 0,
            queued_events: 0,
            own: Default::default(),
            cfg,
        };
        core.power_on(PowerOn::Cold);
        core
    }

    /// Power-on state: everything, fences and configuration space as well (§5.9). Counters, lints
    /// and faults to come are the test's and stay.
    pub fn power_on(&mut self, cause: PowerOn) {
        self.look_at_screen_for_good();
        self.pci = crate::ring::config::pci_config(&self.cfg);
        let (first, end) = self.cfg.chip.mchbar.range;
        self.values[(first / 4) as usize..(end / 4) as usize].fill(0);
        self.reset_registers(|_| true);
        (self.cfg.chip.mchbar.memory)(self);
        for e in self.cfg.chip.engines.iter().map(|row| row.id) {
            self.engines[e as usize].stop_blit();
            let old = &self.engines[e as usize];
            let (busy, generation) = (old.busy, old.generation + 1);
            let mmu = old.mmu.is_some().then(|| Mmu::new(Tlb::default()));
            let flush_pending = mmu.is_none();
            self.engines[e as usize] = Engine {
                busy,
                generation,
                mmu,
                flush_pending,
                ..Engine::new(e)
            };
        }
        self.queued_events = 0;
        self.gt = Gt::default();
        self.later = Later::default();
        self.blitter.reset();
        self.removed = false;
        self.poison_render();
        (self.cfg.chip.hooks.power_on)(self);
        self.leave_behind(cause);
        self.update_line();
    }

    /// A register's stored value.
    pub fn get(&self, offset: u32) -> u32 {
        self.values.get((offset / 4) as usize).copied().unwrap_or(0)
    }

    /// Stores a register's value as it is.
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some(v) = self.values.get_mut((offset / 4) as usize) {
            *v = value;
        }
    }

    /// Returns the chip's row for an engine.
    pub fn row(&self, e: EngineId) -> &'static EngineRow {
        self.cfg.chip.engine(e)
    }

    /// A register of an engine's block.
    pub fn ring(&self, e: EngineId, offset: u32) -> u32 {
        self.get(self.row(e).base + offset)
    }

    /// Stores a register of an engine's block.
    pub fn set_ring(&mut self, e: EngineId, offset: u32, value: u32) {
        self.set(self.row(e).base + offset, value);
    }

    pub fn engine(&mut self, e: EngineId) -> &mut Engine {
        &mut self.engines[e as usize]
    }

    pub fn count(&mut self, c: Counter) {
        self.notes.count(c);
    }

    /// Records an event if events are wanted.
    pub fn record(&mut self, event: impl FnOnce() -> Event) {
        self.notes.record(event);
    }

    /// Reports a broken rule.
    pub fn lint(&mut self, rule: Rule, detail: impl FnOnce() -> String) {
        self.notes.lint(rule, detail);
    }

    /// Reports an access to a register that no document names.
    pub fn undocumented(&mut self, offset: u32, write: bool) {
        if self.notes.client {
            self.lint(Rule::ClientRegister, || format!("{offset:#08x}"));
        } else {
            self.notes.undocumented(offset, write);
        }
    }

    /// The time in so many microseconds.
    pub fn in_us(&self, us: u64) -> u64 {
        self.notes.in_us(us)
    }

    /// An opportunity for an injected fault, by order or by chaos: its value if it takes effect.
    pub fn inject(&mut self, kind: Kind, engine: &str) -> Option<u64> {
        self.notes.inject(kind, engine)
    }

    /// The next pseudo-random number, from the seed.
    pub fn random(&mut self) -> u64 {
        self.notes.random()
    }

    /// True while an engine's per-process table is on.
    pub fn ppgtt(&self, e: EngineId) -> bool {
        let mode = self.row(e).mode;
        mode.is_some_and(|mode| self.get(mode) & PPGTT_ENABLE != 0)
    }

    /// Returns the address space of an MI command's operand, by its "use global GTT" bit (§4.6.2).
    pub fn space(&self, e: EngineId, global: bool) -> AddressSpace {
        if global || !self.ppgtt(e) {
            AddressSpace::Ggtt
        } else {
            AddressSpace::Ppgtt
        }
    }

    /// Reads guest memory as an engine's command streamer; faults are latched.
    pub fn load(&mut self, e: EngineId, space: AddressSpace, va: u32, buf: &mut [u8]) {
        self.with_mmu(e, |mmu, cx| {
            mmu.read(cx, Client::Stream, space, source::CS_READ, va, buf)
        });
    }

    /// Translates an address as an engine's command streamer, without using what is there; faults are latched.
    pub fn touch(&mut self, e: EngineId, space: AddressSpace, va: u32) {
        self.with_mmu(e, |mmu, cx| {
            mmu.touch(cx, Client::Stream, space, source::CS_WRITE, va)
        });
    }

    /// One dword of guest memory as an engine's command streamer sees it.
    pub fn load32(&mut self, e: EngineId, space: AddressSpace, va: u32) -> u32 {
        let mut b = [0; 4];
        self.load(e, space, va, &mut b);
        u32::from_le_bytes(b)
    }

    /// Writes guest memory as an engine's command streamer; faults are latched.
    pub fn store(&mut self, e: EngineId, space: AddressSpace, va: u32, data: &[u8]) {
        self.count(Counter::Stores);
        self.with_mmu(e, |mmu, cx| {
            mmu.write(cx, Client::Stream, space, source::CS_WRITE, va, data)
        });
    }

    /// Runs `f` on an engine's translation unit and latches what faulted. While a blit has it away,
    /// a fresh one stands in.
    pub fn with_mmu(&mut self, e: EngineId, f: impl FnOnce(&mut Mmu, &MemoryContext)) {
        if self.inject(Kind::PageFault, e.name()).is_some() {
            if let Some(mmu) = &mut self.engines[e as usize].mmu {
                mmu.inject_fault();
            }
        }
        if self.inject(Kind::ForgetTlb, e.name()).is_some() {
            if let Some(mmu) = &mut self.engines[e as usize].mmu {
                mmu.flush();
            }
        }
        self.cx.ppgtt = self.ppgtt(e);
        self.cx.program = self.engine(e).batch.is_some();
        let mut spare = None;
        let mmu = match &mut self.engines[e as usize].mmu {
            Some(m) => m,
            None => spare.insert(Mmu::new(Tlb::default())),
        };
        f(mmu, &self.cx);
        let (faults, notes, high) = (mmu.take_faults(), mmu.take_notes(), mmu.take_high());
        self.notes.counters.add(Counter::HighAccesses, high);
        self.after_access(e, faults, notes);
    }

    /// Latches faults and reports broken translation rules of an access.
    pub fn after_access(
        &mut self,
        e: EngineId,
        faults: Vec<crate::ring::mmu::MmuFault>,
        notes: Vec<Note>,
    ) {
        let client = self.notes.client;
        for note in notes {
            self.notes.client = client || note.program;
            self.lint(note.rule, || format!("{} {:#x}", e.name(), note.address));
        }
        self.notes.client = client;
        for f in faults {
            self.page_fault(e, f);
        }
    }

    /// Sets all registers of the domains that `which` selects to their reset values.
    pub fn reset_registers(&mut self, which: impl Fn(Domain) -> bool) {
        for d in (self.cfg.chip.map)().iter() {
            if which(d.domain) {
                self.values[(d.offset / 4) as usize] = d.reset;
            }
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device as a library: what is a ring streamer's own of it. Each engine has a thread of its own.

use crate::clock::Clock;
use crate::counters::Counter;
use crate::device::{Chip, Device, Parts, PowerOn, StepResult};
use crate::intel::gtt::{HeapPtes, PteArray, SharedPtes};
use crate::memory::GuestMemory;
use crate::model::{IrqSink, Options};
use crate::pci::{self, PciConfig};
use crate::ring::blit::BlitJob;
use crate::ring::chip;
use crate::ring::config::{FifoDrain, RingConfig, AF_CONTROL};
use crate::ring::core::Core;
use crate::ring::engine::{Engine, EngineId, Stop};
use crate::ring::exec::Step;
use crate::ring::lint::Rule;
use crate::ring::regs::{reg, ring, MMIO_SIZE};
use crate::ring::writes::Wrote;
use std::sync::Arc;

/// A modelled GPU with ring buffers.
pub type RingGpu = Device<RingChip>;

/// The chip's state; its contents are private.
pub struct RingChip(pub(super) Core);

/// What lies behind its BARs.
pub struct Bars {
    pub(super) gtt: Arc<dyn PteArray>,
    /// The file behind the table, if it is shared with the guest.
    pub(super) file: Option<Arc<std::os::fd::OwnedFd>>,
    pub(super) aperture: u64,
    pub(super) chip: &'static chip::Chip,
    pub(super) device_id: u16,
}

/// Registers of an engine's block whose change can set a resting streamer going.
const STARTERS: [u32; 9] = [
    ring::EXCC,
    ring::TAIL,
    ring::HEAD,
    ring::CTL,
    ring::SYNC0,
    ring::SYNC1,
    ring::MI_MODE,
    ring::CNTR,
    ring::THRSH,
];

/// Registers of power management whose change can bring an interrupt of it.
const CLOCKS: [u32; 8] = [
    reg::RP_CONTROL,
    reg::RP_DOWN_TIMEOUT,
    reg::RP_UP_EI,
    reg::RP_DOWN_EI,
    reg::PMINTRMSK,
    reg::PMIMR,
    reg::PMIIR,
    reg::PMIER,
];

impl Chip for RingChip {
    type Rule = Rule;
    type Engine = EngineId;
    type Job = Box<BlitJob>;
    type Bars = Bars;

    /// All that a chip can have: one that it lacks is idle.
    const THREADS: &'static [&'static [EngineId]] =
        &[&[EngineId::Rcs], &[EngineId::Vcs], &[EngineId::Bcs]];
    const NAMES: &'static [&'static str] = &[
        EngineId::Rcs.name(),
        EngineId::Vcs.name(),
        EngineId::Bcs.name(),
    ];
    const MMIO_SIZE: u32 = MMIO_SIZE;
    const BAD_ACCESS: Rule = Rule::BadAccess;
    const COUNTS_COMMANDS: bool = true;

    fn parts(&mut self) -> Parts<'_, Rule> {
        Parts {
            notes: &mut self.0.notes,
            pci: &mut self.0.pci,
            test_capability: &mut self.0.test_capability,
            delay_ns: &mut self.0.cfg.delay_ns,
            line: self.0.line,
            removed: self.0.removed,
        }
    }

    fn step(&mut self, e: EngineId) -> Result<StepResult, Box<BlitJob>> {
        if e as usize >= self.0.engines.len() {
            return Ok(StepResult::Idle);
        }
        self.0.step(e).done()
    }

    fn finish(&mut self, e: EngineId, job: Box<BlitJob>) -> StepResult {
        // No blit begins at the end of one.
        self.0
            .finish_blit(e, *job)
            .done()
            .unwrap_or(StepResult::Ran)
    }

    fn begin_access(&mut self, offset: u32, write: bool) {
        self.0.begin_access(offset, write);
    }

    fn cpu_read(&mut self, offset: u32) -> u32 {
        self.0.cpu_read(offset)
    }

    fn cpu_write(&mut self, offset: u32, value: u32) {
        self.0.cpu_write(offset, value);
    }

    fn starts(bars: &Bars, offset: u32) -> u32 {
        match bars.chip.of_block(offset) {
            Some(row) if STARTERS.contains(&(offset - row.base)) => 1 << row.id as u32,
            None if bars.chip.bus.reset == chip::ResetBy::Register(offset) => !0,
            // One of them looks when something will be told.
            None if CLOCKS.contains(&offset) => 1,
            _ => 0,
        }
    }

    /// Streamers that wait for what another one may just have written, or whose registers it has written.
    fn started(&mut self) -> u32 {
        let kicked = std::mem::take(&mut self.0.kicked);
        let concerned = |e: &&Engine| e.wait.is_some() || kicked & e.id.mask() != 0;
        let engines = self.0.engines.iter().filter(concerned);
        engines.fold(0, |mask, e| mask | 1 << e.id as u32)
    }

    fn config_written(&mut self, before: &PciConfig, offset: usize, data: &[u8]) {
        self.0
            .watch_master(before.word(pci::COMMAND) & pci::COMMAND_MASTER != 0);
        (self.0.cfg.chip.hooks.config)(&mut self.0, offset, data);
        let by_function = self.0.cfg.chip.bus.function_reset;
        if let Some(control) = AF_CONTROL.checked_sub(offset).and_then(|i| data.get(i)) {
            if by_function && control & 1 != 0 {
                self.0.power_on(PowerOn::Function);
            }
        }
        self.0.notes.note_config(&self.0.pci);
    }

    fn config_byte(&mut self, offset: usize) -> Option<u8> {
        (self.0.cfg.chip.hooks.config_byte)(&mut self.0, offset)
    }

    fn power_on(&mut self, cause: PowerOn) {
        self.0.power_on(cause);
    }

    fn remove(&mut self) {
        self.0.remove();
    }

    /// A blit can take minutes.
    fn stop(&mut self) {
        for engine in &mut self.0.engines {
            engine.stop_blit();
        }
    }
}

impl Step {
    fn done(self) -> Result<StepResult, Box<BlitJob>> {
        Ok(match self {
            Step::Ran => StepResult::Ran,
            Step::Blit(job) => return Err(job),
            Step::Idle => StepResult::Idle,
            Step::Waiting => StepResult::Waiting,
            Step::Stopped => StepResult::Stopped,
            Step::NotBefore(t) => StepResult::NotBefore(t),
        })
    }
}

impl RingGpu {
    /// A device in process: hand-driven clock, no threads, page-table entries in plain memory.
    pub fn new(cfg: RingConfig, memory: Arc<dyn GuestMemory>, irq: Arc<dyn IrqSink>) -> Self {
        let gtt = Arc::new(HeapPtes::new(cfg.entries()));
        Self::with_table(cfg, gtt, None, memory, irq, Clock::manual())
    }

    /// A device in process that runs by itself: real time, FIFO draining with it; see
    /// [`Self::start_engines`].
    pub fn in_real_time(
        cfg: RingConfig,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> Self {
        let cfg = RingConfig {
            fifo: FifoDrain::Timed(100),
            ..cfg
        };
        let gtt = Arc::new(HeapPtes::new(cfg.entries()));
        Self::with_table(cfg, gtt, None, memory, irq, Clock::real())
    }

    /// A device for a server: real time, page-table entries shared with the guest unless trapped.
    ///
    /// # Errors
    /// When the shared memory cannot be had.
    pub fn for_server(
        chip: &'static chip::Chip,
        options: Options,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> anyhow::Result<Self> {
        let aperture_mb = options.aperture_mb.unwrap_or(256);
        anyhow::ensure!(
            aperture_mb.is_power_of_two() && aperture_mb <= 512,
            "the aperture is a power of two of megabytes, 512 at most"
        );
        anyhow::ensure!(
            options
                .gtt_kb
                .is_none_or(|kb| chip.gen4.is_some() && [128, 256, 512, 1024].contains(&kb)),
            "--gtt-kb is for Gen4: 128, 256, 512 or 1024"
        );
        anyhow::ensure!(
            (1..=2).contains(&options.gtt_mb),
            "the page table is 1 or 2 MB"
        );
        let device_id = options.device_id.unwrap_or(chip.ids[0]);
        anyhow::ensure!(
            chip.ids.contains(&device_id),
            "{} has no device id {device_id:04x}; it has {:04x?}",
            chip.name,
            chip.ids
        );
        let cfg = RingConfig {
            device_id,
            real: options.real.parse()?,
            vtd: options.vtd,
            legacy_forcewake: options.legacy_forcewake,
            gtt_mb: options.gtt_mb,
            gtt_kb: options.gtt_kb,
            aperture: u64::from(aperture_mb) << 20,
            swizzle: options.swizzle,
            delay_ns: options.delay_us.saturating_mul(1000),
            seed: options.seed,
            asleep_fifo: options.asleep_fifo,
            fifo: FifoDrain::Timed(100),
            keep_events: 0,
            watch_bus_master: true,
            strict: options.strict,
            ..RingConfig::of(chip)
        };
        let count = cfg.entries();
        let (gtt, file): (Arc<dyn PteArray>, _) = if options.trap_gtt {
            (Arc::new(HeapPtes::new(count)), None)
        } else {
            let at = u64::from(chip.bus.table);
            let shared = SharedPtes::new(count, at, chip.bus.bar0)?;
            let file = shared.file();
            (Arc::new(shared), Some(file))
        };
        let device = Self::with_table(cfg, gtt, file, memory, irq, Clock::real());
        device.obey(options);
        Ok(device)
    }

    fn with_table(
        cfg: RingConfig,
        gtt: Arc<dyn PteArray>,
        file: Option<Arc<std::os::fd::OwnedFd>>,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let bars = Bars {
            gtt: gtt.clone(),
            file,
            aperture: cfg.aperture,
            chip: cfg.chip,
            device_id: cfg.device_id,
        };
        let core = Core::new(cfg, gtt, memory, irq, clock.clone());
        Device::build(RingChip(core), bars, clock)
    }

    /// A register read: 64 bits, low half first.
    pub fn mmio_read64(&self, offset: u32) -> u64 {
        let low = self.mmio_read32(offset);
        u64::from(low) | u64::from(self.mmio_read32(offset.wrapping_add(4))) << 32
    }

    /// A register write: 64 bits, low half first.
    pub fn mmio_write64(&self, offset: u32, value: u64) {
        self.mmio_write32(offset, value as u32);
        self.mmio_write32(offset.wrapping_add(4), (value >> 32) as u32);
    }

    /// One global page-table entry, by index.
    pub fn gtt_read(&self, index: u32) -> u32 {
        let mut device = self.core();
        let core = &mut device.0;
        core.count(Counter::GttReads);
        if core.removed {
            return !0;
        }
        self.bars.gtt.get(index)
    }

    /// Writes a global page-table entry. Engines do not notice before their TLB is invalidated.
    pub fn gtt_write(&self, index: u32, value: u32) {
        let mut device = self.core();
        let core = &mut device.0;
        core.count(Counter::GttWrites);
        if !core.removed {
            self.bars.gtt.set(index, value);
            crate::gen4::neighbours::entry_written(core, index);
        }
    }

    /// Reads through the aperture.
    pub fn aperture_read(&self, offset: u32, buf: &mut [u8]) {
        self.core().0.aperture_read(offset, buf);
    }

    /// Writes through the aperture.
    pub fn aperture_write(&self, offset: u32, data: &[u8]) {
        self.core().0.aperture_write(offset, data);
    }

    /// Executes at most one command of an engine.
    pub fn step(&self, e: EngineId) -> StepResult {
        self.step_of(e)
    }

    /// Returns what commands of batches wrote since the last call, and the number of writes that did not fit
    /// ([`RingConfig::keep_writes`]).
    pub fn take_writes(&self) -> (Vec<Wrote>, u64) {
        self.core().0.cx.writes.take()
    }

    /// Why an engine does not run.
    pub fn stop_reason(&self, e: EngineId) -> Stop {
        self.core().0.engine(e).stop.clone()
    }

    /// Number of translations an engine has cached.
    pub fn cached_translations(&self, e: EngineId) -> usize {
        self.core()
            .0
            .engine(e)
            .mmu
            .as_ref()
            .map_or(0, |m| m.cached())
    }

    /// A filter of the video engine has counted: what a register of its statistics shows next.
    pub fn set_statistics(&self, offset: u32, value: u32) {
        self.core().0.set_statistics(offset, value);
    }

    /// The page that a probe has put into a slot (G45).
    pub fn probed(&self, slot: u32) -> Option<u32> {
        self.core().0.own.probes.get(&slot).copied()
    }

    /// The line that DPFC_SLB_DATA is at (GM45).
    pub fn slb_line(&self) -> u32 {
        self.core().0.slb_line()
    }

    /// Raises power-management events (bits of PMISR).
    pub fn raise_pm(&self, bits: u32) {
        self.core().0.pm_event(bits);
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device as a library: what is a DG2's own of it. One thread runs all engines in turn, so that a
//! semaphore of one is seen by another.

use super::config::Dg2Config;
use super::core::Core;
use super::engine::{EngineId, Stop, ENGINES, NAMES};
use super::ggtt::Ggtt;
use super::lint::Rule;
use super::lmem::Lmem;
use super::regs::{reg, ring, MMIO_SIZE};
use crate::clock::Clock;
use crate::counters::Counter;
use crate::device::{Chip, Device, Parts, PowerOn, StepResult};
use crate::memory::GuestMemory;
use crate::model::{IrqSink, Options};
use crate::pci::{self, PciConfig};
use std::convert::Infallible;
use std::sync::Arc;

/// A modelled DG2.
pub type Dg2 = Device<Dg2Chip>;

/// The chip's state; its contents are private.
pub struct Dg2Chip(pub(super) Core);

/// What lies behind its BARs.
pub struct Bars {
    pub(super) cfg: Dg2Config,
    pub(super) ggtt: Arc<Ggtt>,
    pub(super) lmem: Arc<Lmem>,
}

/// Local memory of a server's card, unless told otherwise.
const LMEM_MB: u32 = 256;
/// So much of it is filled with garbage at first.
const GARBAGE: u64 = 32 << 20;

impl Chip for Dg2Chip {
    type Rule = Rule;
    type Engine = EngineId;
    type Job = Infallible;
    type Bars = Bars;

    const THREADS: &'static [&'static [EngineId]] = &[&ENGINES];
    const NAMES: &'static [&'static str] = &NAMES;
    const MMIO_SIZE: u32 = MMIO_SIZE;
    const BAD_ACCESS: Rule = Rule::BadAccess;

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

    fn step(&mut self, e: EngineId) -> Result<StepResult, Infallible> {
        Ok(self.0.step(e))
    }

    fn finish(&mut self, _: EngineId, job: Infallible) -> StepResult {
        match job {}
    }

    fn begin_access(&mut self, offset: u32, write: bool) {
        self.0.count_access(offset, write);
        self.0.settle();
        self.0.count_standby();
    }

    fn cpu_read(&mut self, offset: u32) -> u32 {
        self.0.cpu_read(offset)
    }

    fn cpu_write(&mut self, offset: u32, value: u32) {
        self.0.cpu_write(offset, value);
        self.0.count_standby();
    }

    fn starts(_bars: &Self::Bars, offset: u32) -> u32 {
        let starts = match EngineId::of_block(offset) {
            Some(e) => matches!(
                offset - e.base(),
                ring::EXECLIST_CONTROL | ring::MI_MODE | ring::GFX_MODE
            ),
            None => offset == reg::GDRST,
        };
        u32::from(starts)
    }

    fn config_written(&mut self, before: &PciConfig, _: usize, _: &[u8]) {
        self.0.notes.note_config(&self.0.pci);
        self.0.watch_mastering(before.word(pci::COMMAND));
        self.0.watch_power(before);
        self.0.bus_master_changed();
    }

    fn power_on(&mut self, cause: PowerOn) {
        self.0.power_on(cause);
    }

    fn remove(&mut self) {
        self.0.remove();
    }
}

impl Dg2 {
    /// A device in process: hand-driven clock, no thread.
    ///
    /// # Errors
    /// When there is no memory for the card's own.
    pub fn new(
        cfg: Dg2Config,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> anyhow::Result<Self> {
        Self::private(cfg, memory, irq, Clock::manual())
    }

    /// A device in process that runs by itself, in real time; see [`Self::start_engines`].
    ///
    /// # Errors
    /// When there is no memory for the card's own.
    pub fn in_real_time(
        cfg: Dg2Config,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> anyhow::Result<Self> {
        Self::private(cfg, memory, irq, Clock::real())
    }

    fn private(
        cfg: Dg2Config,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let lmem = Lmem::private(cfg.lmem)?;
        let ggtt = Ggtt::private()?;
        Ok(Self::with_memory(cfg, ggtt, lmem, memory, irq, clock))
    }

    /// A device for a server: real time, local memory and global table shared with the guest unless
    /// they are trapped. Local memory begins with garbage, as a card's does.
    ///
    /// # Errors
    /// When the shared memory cannot be had, or a size is none.
    pub fn for_server(
        options: Options,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> anyhow::Result<Self> {
        let lmem_mb = options.vram_mb.unwrap_or(LMEM_MB);
        let aperture_mb = options.aperture_mb.unwrap_or(lmem_mb);
        for (mb, what) in [(lmem_mb, "local memory"), (aperture_mb, "the aperture")] {
            anyhow::ensure!(
                mb.is_power_of_two() && (16..=512).contains(&mb),
                "{what} is a power of two of megabytes from 16 to 512"
            );
        }
        anyhow::ensure!(
            aperture_mb <= lmem_mb,
            "the aperture is no larger than local memory"
        );
        anyhow::ensure!(!options.no_msi, "a DG2 has MSI");
        let cfg = Dg2Config {
            real: options.real.parse()?,
            locked: !options.unlocked,
            lmem: u64::from(lmem_mb) << 20,
            aperture: u64::from(aperture_mb) << 20,
            asleep_fifo: options.asleep_fifo,
            image_tails: options.image_tails,
            status_base: match options.document_status {
                true => 0x28,
                false => Dg2Config::default().status_base,
            },
            delay_ns: options.delay_us.saturating_mul(1000),
            seed: options.seed,
            keep_events: 0,
            watch_bus_master: true,
            ..Dg2Config::default()
        };
        let (ggtt, lmem) = if options.trap_gtt {
            (Ggtt::private()?, Lmem::private(cfg.lmem)?)
        } else {
            (Ggtt::shared()?, Lmem::shared(cfg.lmem)?)
        };
        lmem.fill_with_garbage(cfg.seed, GARBAGE);
        let device = Self::with_memory(cfg, ggtt, lmem, memory, irq, Clock::real());
        device.obey(options);
        Ok(device)
    }

    fn with_memory(
        cfg: Dg2Config,
        ggtt: Ggtt,
        lmem: Lmem,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let bars = Bars {
            cfg,
            ggtt: Arc::new(ggtt),
            lmem: Arc::new(lmem),
        };
        let core = Core::new(
            bars.cfg.clone(),
            bars.ggtt.clone(),
            bars.lmem.clone(),
            memory,
            irq,
            clock.clone(),
        );
        Device::build(Dg2Chip(core), bars, clock)
    }

    /// One entry of the global table.
    pub fn ggtt_read(&self, index: u64) -> u64 {
        self.bars.ggtt.get(index).0
    }

    /// Sets one entry of the global table.
    pub fn ggtt_write(&self, index: u64, value: u64) {
        self.bars.ggtt.set(index, value);
    }

    /// Reads local memory through BAR2.
    pub fn lmem_read(&self, offset: u64, buf: &mut [u8]) {
        let core = &mut self.core().0;
        core.notes.count(Counter::ApertureReads);
        if core.removed {
            buf.fill(0xff);
        } else {
            self.bars.lmem.read(offset, buf);
        }
    }

    /// Writes local memory through BAR2.
    pub fn lmem_write(&self, offset: u64, data: &[u8]) {
        let core = &mut self.core().0;
        core.notes.count(Counter::ApertureWrites);
        if !core.removed {
            self.bars.lmem.write(offset, data);
        }
    }

    /// Does at most one thing of an engine.
    pub fn step(&self, e: EngineId) -> StepResult {
        self.step_of(e)
    }

    /// Why an engine does not go on.
    pub fn stop_reason(&self, e: EngineId) -> Stop {
        self.core().0.engine(e).stop
    }

    /// Number of translations that an engine remembers.
    pub fn cached_translations(&self, e: EngineId) -> usize {
        self.core().0.engine(e).tlb.len()
    }
}

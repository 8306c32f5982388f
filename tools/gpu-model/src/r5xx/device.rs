// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device as a library: what is an R5xx's own of it. There is one stepper for all engines.

use super::access::Access;
use super::config::{R5xxConfig, MMIO_SIZE};
use super::core::{Core, Origin, ENGINES};
use super::cp::Lockup;
use super::lint::Rule;
use super::regs::{self, reg};
use super::three_d::ShadedVertex;
use super::vram::Vram;
use crate::clock::Clock;
use crate::counters::Counter;
use crate::device::{Chip, Device, Parts, PowerOn, StepResult};
use crate::memory::GuestMemory;
use crate::model::{IrqSink, Options};
use crate::pci::PciConfig;
use std::convert::Infallible;
use std::sync::Arc;

/// A modelled R5xx.
pub type R5xx = Device<R5xxChip>;

/// The chip's state; its contents are private.
pub struct R5xxChip(pub(super) Core);

/// What lies behind its BARs.
pub struct Bars {
    pub(super) cfg: R5xxConfig,
    pub(super) vram: Arc<Vram>,
    pub(super) rom: [u8; super::rom::SIZE],
}

impl Chip for R5xxChip {
    type Rule = Rule;
    type Engine = ();
    type Job = Infallible;
    type Bars = Bars;

    const THREADS: &'static [&'static [()]] = &[&[()]];
    const NAMES: &'static [&'static str] = &ENGINES;
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

    fn step(&mut self, (): ()) -> Result<StepResult, Infallible> {
        Ok(self.0.step())
    }

    fn finish(&mut self, (): (), job: Infallible) -> StepResult {
        match job {}
    }

    fn begin_access(&mut self, offset: u32, write: bool) {
        self.0.count_access(offset, write);
        self.0.settle();
    }

    fn cpu_read(&mut self, offset: u32) -> u32 {
        self.0.reg_read(offset)
    }

    fn cpu_write(&mut self, offset: u32, value: u32) {
        self.0.reg_write(offset, value, Origin::Cpu);
        self.0.after_access();
    }

    /// Returns the engines that a write can start: by registers of the command processor, of resets and of drawing.
    fn starts(_bars: &Self::Bars, offset: u32) -> u32 {
        let display = regs::class(offset) == Some(regs::Class::Display);
        u32::from(offset == reg::RBBM_SOFT_RESET || (offset >= reg::CP_RB_BASE && !display))
    }

    fn config_written(&mut self, before: &PciConfig, _: usize, _: &[u8]) {
        self.0.bus_master_changed();
        if before.msi_enabled() != self.0.pci.msi_enabled() {
            self.0.interrupt_path_changed();
        }
    }

    fn power_on(&mut self, _: PowerOn) {
        self.0.power_on();
    }

    fn remove(&mut self) {
        self.0.remove();
    }
}

impl R5xx {
    /// A device in process: hand-driven clock, no thread.
    ///
    /// # Errors
    /// When there is no memory for the card's own.
    pub fn new(
        cfg: R5xxConfig,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> anyhow::Result<Self> {
        let vram = Vram::private(cfg.vram)?;
        Ok(Self::with_memory(cfg, vram, memory, irq, Clock::manual()))
    }

    /// A device in process that runs by itself, in real time; see [`Self::start_engines`].
    ///
    /// # Errors
    /// When there is no memory for the card's own.
    pub fn in_real_time(
        cfg: R5xxConfig,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> anyhow::Result<Self> {
        let vram = Vram::private(cfg.vram)?;
        Ok(Self::with_memory(cfg, vram, memory, irq, Clock::real()))
    }

    /// A device for a server: real time, video memory shared with the guest unless it is trapped or
    /// there is no MSI. (QEMU unmaps what is shared at the first INTx, for good.) Video memory holds
    /// garbage at first, as a card's does.
    ///
    /// # Errors
    /// When the shared memory cannot be had, or a size is none.
    pub fn for_server(
        chip: &'static super::chip::Chip,
        options: Options,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> anyhow::Result<Self> {
        let size = |mb: u32, what: &str| {
            anyhow::ensure!(
                mb.is_power_of_two() && mb <= 512,
                "{what} is a power of two of megabytes, 512 at most"
            );
            Ok(u64::from(mb) << 20)
        };
        let vram = options.vram_mb.unwrap_or(64);
        let cfg = R5xxConfig {
            vram: size(vram, "video memory")?,
            aperture: size(options.aperture_mb.unwrap_or(vram), "the aperture")?,
            msi: !options.no_msi,
            delay_ns: options.delay_us.saturating_mul(1000),
            seed: options.seed,
            keep_events: 0,
            keep_accesses: 0,
            keep_vertices: 0,
            watch_bus_master: true,
            real: options.real.parse()?,
            ..R5xxConfig::new(chip)
        };
        let vram = if options.trap_gtt || options.no_msi {
            Vram::private(cfg.vram)?
        } else {
            Vram::shared(cfg.vram)?
        };
        vram.fill_with_garbage(cfg.seed);
        let device = Self::with_memory(cfg, vram, memory, irq, Clock::real());
        device.obey(Options {
            // There is no list of writes.
            registers: false,
            ..options
        });
        Ok(device)
    }

    fn with_memory(
        cfg: R5xxConfig,
        vram: Vram,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let bars = Bars {
            rom: super::rom::image(cfg.chip),
            vram: Arc::new(vram),
            cfg,
        };
        let (cfg, vram) = (bars.cfg.clone(), bars.vram.clone());
        let core = Core::new(cfg, vram, memory, irq, clock.clone());
        Device::build(R5xxChip(core), bars, clock)
    }

    /// Reads video memory through BAR0.
    pub fn aperture_read(&self, offset: u64, buf: &mut [u8]) {
        let core = &mut self.core().0;
        core.notes.count(Counter::ApertureReads);
        if core.removed {
            buf.fill(0xff);
        } else {
            self.bars.vram.cpu_read(offset, buf);
        }
    }

    /// Writes video memory through BAR0.
    pub fn aperture_write(&self, offset: u64, data: &[u8]) {
        let core = &mut self.core().0;
        core.notes.count(Counter::ApertureWrites);
        if !core.removed {
            self.bars.vram.cpu_write(offset, data);
        }
    }

    /// Does at most one thing: a packet, a part of drawing or of a DMA transfer.
    pub fn step(&self) -> StepResult {
        self.step_of(())
    }

    /// The memory accesses since the last call, and how many did not fit in the list.
    pub fn take_accesses(&self) -> (Vec<Access>, u64) {
        self.core().0.mc.log.take()
    }

    /// The vertices that programs have shaded since the last call, the first of them if there is no room for more.
    pub fn take_vertices(&self) -> Vec<ShadedVertex> {
        std::mem::take(&mut self.core().0.gfx.three.engine.kept)
    }

    /// Why the command processor does not run.
    pub fn lockup(&self) -> Option<Lockup> {
        self.core().0.cp.lockup
    }

    /// True once the vertex processor got another number of dwords than it wanted.
    pub fn vap_stuck(&self) -> bool {
        self.core().0.gfx.vap_stuck()
    }

    /// A register as one pipe has it: SU_REG_DEST and FG_ZBREG_DEST say which of them a write reaches.
    pub fn pipe_register(&self, pipe: usize, offset: u32) -> u32 {
        self.core().0.pipe_value(pipe, offset)
    }

    /// A dword of the pixel shaders' memory in one pipe: of the code, six for each of 512 instructions, or
    /// of the constants, four for each of 256. `None` where there is none.
    pub fn shader_dword(&self, pipe: usize, constant: bool, at: usize) -> Option<u32> {
        self.core().0.us_dword(pipe, constant, at)
    }

    /// Number of GART translations that are cached.
    pub fn cached_translations(&self) -> usize {
        self.core().0.mc.cached()
    }
}

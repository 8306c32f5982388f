// SPDX-License-Identifier: GPL-2.0
//! The device as a library: accesses of a CPU on one side, the engines run step by step or by a
//! thread on the other.

use super::access::Access;
use super::chip::Chip;
use super::config::{R5xxConfig, MMIO_SIZE};
use super::core::{Core, Step};
use super::cp::Lockup;
use super::lint::Rule;
use super::regs::{self, reg};
use super::vram::Vram;
use crate::chaos::Chaos;
use crate::clock::Clock;
use crate::counters::Counter;
use crate::fault::Fault;
use crate::memory::{lock, GuestMemory};
use crate::model::{IrqSink, Options};
use crate::trace::Event;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What one step of the engines did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// Something.
    Ran,
    /// There is nothing to do.
    Idle,
    /// The command processor waits.
    Waiting,
    /// It is locked up, or held in reset.
    Stopped,
    /// Something will begin at this time (nanoseconds of the device's clock).
    NotBefore(u64),
}

struct Shared {
    core: Mutex<Core>,
    changed: Condvar,
    quit: AtomicBool,
}

/// A modelled R5xx.
pub struct R5xx {
    shared: Arc<Shared>,
    pub(super) cfg: R5xxConfig,
    pub(super) vram: Arc<Vram>,
    pub(super) rom: [u8; super::rom::SIZE],
    clock: Clock,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How long the thread sleeps while it waits for memory to change.
const POLL: Duration = Duration::from_millis(1);

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
        Ok(Self::build(cfg, vram, memory, irq, Clock::manual()))
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
        Ok(Self::build(cfg, vram, memory, irq, Clock::real()))
    }

    /// A device for a server: real time, video memory shared with the guest unless it is trapped or
    /// there is no MSI. (QEMU unmaps what is shared at the first INTx, for good.) Video memory holds
    /// garbage at first, as a card's does.
    ///
    /// # Errors
    /// When the shared memory cannot be had, or a size is none.
    pub fn for_server(
        chip: &'static Chip,
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
        let device = Self::build(cfg, vram, memory, irq, Clock::real());
        {
            let mut core = device.core();
            let notes = &mut core.notes;
            options
                .faults
                .into_iter()
                .for_each(|f| notes.faults.push(f));
            notes.chaos = options.chaos;
            if let Some(file) = options.trace {
                notes.trace.set_file(file);
            }
        }
        Ok(device)
    }

    fn build(
        cfg: R5xxConfig,
        vram: Vram,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let vram = Arc::new(vram);
        let rom = super::rom::image(cfg.chip);
        let core = Core::new(cfg.clone(), vram.clone(), memory, irq, clock.clone());
        R5xx {
            shared: Arc::new(Shared {
                core: Mutex::new(core),
                changed: Condvar::new(),
                quit: AtomicBool::new(false),
            }),
            cfg,
            vram,
            rom,
            clock,
            thread: Mutex::new(None),
        }
    }

    pub(super) fn core(&self) -> std::sync::MutexGuard<'_, Core> {
        lock(&self.shared.core)
    }

    pub(super) fn wake(&self) {
        self.shared.changed.notify_all();
    }

    /// The device's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A register read: 32 bits.
    pub fn mmio_read32(&self, offset: u32) -> u32 {
        let mut core = self.core();
        if !offset.is_multiple_of(4) || offset >= MMIO_SIZE {
            core.notes
                .lint(Rule::BadAccess, || format!("read {offset:#x}"));
            return 0;
        }
        core.cpu_read(offset)
    }

    /// A register write: 32 bits.
    pub fn mmio_write32(&self, offset: u32, value: u32) {
        let mut core = self.core();
        if !offset.is_multiple_of(4) || offset >= MMIO_SIZE {
            core.notes
                .lint(Rule::BadAccess, || format!("write {offset:#x}"));
            return;
        }
        core.cpu_write(offset, value);
        drop(core);
        // A thread that is woken for nothing costs the guest more than the write. What can set the
        // engines going are the registers of the command processor, of resets and of drawing.
        let display = regs::class(offset) == Some(regs::Class::Display);
        if offset == reg::RBBM_SOFT_RESET || (offset >= reg::CP_RB_BASE && !display) {
            self.wake();
        }
    }

    /// Reads video memory through BAR0.
    pub fn aperture_read(&self, offset: u64, buf: &mut [u8]) {
        let mut core = self.core();
        core.notes.count(Counter::ApertureReads);
        if core.removed {
            buf.fill(0xff);
        } else {
            self.vram.cpu_read(offset, buf);
        }
    }

    /// Writes video memory through BAR0.
    pub fn aperture_write(&self, offset: u64, data: &[u8]) {
        let mut core = self.core();
        core.notes.count(Counter::ApertureWrites);
        if !core.removed {
            self.vram.cpu_write(offset, data);
        }
    }

    /// Power-on state.
    pub fn power_on(&self) {
        self.core().power_on();
        self.wake();
    }

    /// Does at most one thing: a packet, a part of drawing or of a DMA transfer.
    pub fn step(&self) -> StepResult {
        match self.core().step() {
            Step::Ran => StepResult::Ran,
            Step::Idle => StepResult::Idle,
            Step::Waiting => StepResult::Waiting,
            Step::Stopped => StepResult::Stopped,
            Step::NotBefore(t) => StepResult::NotBefore(t),
        }
    }

    /// Runs the engines, and the clock with them, until they cannot go on, or `max_steps` steps were
    /// taken. Returns true in the first case.
    pub fn run_until_idle(&self, max_steps: usize) -> bool {
        for _ in 0..max_steps {
            match self.step() {
                StepResult::Ran => {}
                StepResult::NotBefore(t) if self.clock.is_manual() => self.clock.advance_to(t),
                _ => return true,
            }
        }
        false
    }

    /// Starts the engines' thread, if it does not run already. Only for a device in real time.
    pub fn start_engines(&self) {
        let mut thread = lock(&self.thread);
        if thread.is_some() {
            return;
        }
        self.shared.quit.store(false, Ordering::SeqCst);
        let shared = self.shared.clone();
        *thread = Some(std::thread::spawn(move || shared.run()));
    }

    /// Stops the thread and waits for it.
    pub fn stop_engines(&self) {
        let thread = lock(&self.thread).take();
        self.shared.quit.store(true, Ordering::SeqCst);
        // Under the lock, so that the thread is not between its look at `quit` and its sleep.
        drop(self.core());
        self.wake();
        if let Some(t) = thread {
            // A thread that panicked has said so on standard error.
            let _ = t.join();
        }
    }

    /// Injects a fault.
    pub fn inject(&self, fault: Fault) {
        self.core().notes.faults.push(fault);
    }

    /// Begins chaos, or ends it.
    pub fn set_chaos(&self, chaos: Option<Chaos>) {
        self.core().notes.chaos = chaos;
    }

    /// Changes the delay of a piece of work, in nanoseconds.
    pub fn set_delay(&self, ns: u64) {
        self.core().cfg.delay_ns = ns;
    }

    /// One counter.
    pub fn counter(&self, c: Counter) -> u64 {
        self.core().notes.counters.get(c)
    }

    /// All counters zero again.
    pub fn clear_counters(&self) {
        self.core().notes.counters.clear();
    }

    /// How often a rule was broken, by the driver or by a program.
    pub fn lint_count(&self, rule: Rule) -> u64 {
        let core = self.core();
        let of = |lints: &std::collections::BTreeMap<Rule, u64>| lints.get(&rule).copied();
        of(&core.notes.lints).unwrap_or(0) + of(&core.notes.client_lints).unwrap_or(0)
    }

    /// The rules that the driver broke, with their counts.
    pub fn lints(&self) -> Vec<(Rule, u64)> {
        let core = self.core();
        core.notes.lints.iter().map(|(r, n)| (*r, *n)).collect()
    }

    /// The rules that programs broke in indirect buffers, with their counts.
    pub fn client_lints(&self) -> Vec<(Rule, u64)> {
        let core = self.core();
        let lints = core.notes.client_lints.iter();
        lints.map(|(r, n)| (*r, *n)).collect()
    }

    /// Undocumented registers that were accessed: offset, reads, writes. Those behind PCIE_INDEX are
    /// counted from 0x10000, those behind MC_IND_INDEX from 0x20000.
    pub fn undocumented(&self) -> Vec<(u32, u64, u64)> {
        let core = self.core();
        let all = core.notes.undocumented.iter();
        all.map(|(o, n)| (*o, n.0, n.1)).collect()
    }

    /// The events since the last call.
    pub fn take_events(&self) -> Vec<Event> {
        self.core().notes.trace.take()
    }

    /// The memory accesses since the last call, and how many did not fit in the list.
    pub fn take_accesses(&self) -> (Vec<Access>, u64) {
        self.core().mc.log.take()
    }

    /// Why the command processor does not run.
    pub fn lockup(&self) -> Option<Lockup> {
        self.core().cp.lockup
    }

    /// True once the vertex processor got another number of dwords than it wanted.
    pub fn vap_stuck(&self) -> bool {
        self.core().gfx.vap_stuck()
    }

    /// A register as one pipe has it: SU_REG_DEST and FG_ZBREG_DEST say which of them a write reaches.
    pub fn pipe_register(&self, pipe: usize, offset: u32) -> u32 {
        self.core().pipe_value(pipe, offset)
    }

    /// A dword of the pixel shaders' memory in one pipe: of the code, six for each of 512 instructions, or
    /// of the constants, four for each of 256. `None` where there is none.
    pub fn shader_dword(&self, pipe: usize, constant: bool, at: usize) -> Option<u32> {
        self.core().us_dword(pipe, constant, at)
    }

    /// Number of GART translations that are cached.
    pub fn cached_translations(&self) -> usize {
        self.core().mc.cached()
    }

    /// The level of the interrupt line.
    pub fn line(&self) -> bool {
        self.core().line
    }

    /// Pulls the card out.
    pub fn remove(&self) {
        self.core().remove();
        self.wake();
    }
}

impl Drop for R5xx {
    fn drop(&mut self) {
        self.stop_engines();
    }
}

impl Shared {
    /// The engines' thread: a step at a time, so that register accesses come in between.
    fn run(&self) {
        let mut core = lock(&self.core);
        while !self.quit.load(Ordering::SeqCst) {
            let sleep = match core.step() {
                Step::Ran => {
                    drop(core);
                    core = lock(&self.core);
                    continue;
                }
                Step::Idle | Step::Stopped => None,
                Step::Waiting => Some(POLL),
                Step::NotBefore(t) => {
                    let left = t.saturating_sub(core.notes.clock.now());
                    Some(Duration::from_nanos(left))
                }
            };
            core = match sleep {
                None => self.changed.wait(core).unwrap_or_else(|p| p.into_inner()),
                Some(time) => {
                    let woken = self.changed.wait_timeout(core, time);
                    woken.unwrap_or_else(|p| p.into_inner()).0
                }
            };
        }
    }
}

// SPDX-License-Identifier: GPL-2.0
//! The device as a library: accesses of a CPU on one side, the engines run step by step or by a
//! thread on the other. One thread runs them all in turn, so that a semaphore of one is seen by
//! another.

use super::config::Dg2Config;
use super::core::Core;
use super::engine::{EngineId, Stop, ENGINES};
use super::ggtt::Ggtt;
use super::lint::Rule;
use super::lmem::Lmem;
use super::regs::{reg, ring, MMIO_SIZE};
use super::stream::Step;
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

/// What one step of an engine did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// Something.
    Ran,
    /// There is nothing to do.
    Idle,
    /// It waits for memory or a register to change.
    Waiting,
    /// It is stopped: by request, an error, a fault, a hang.
    Stopped,
    /// It goes on at this time (nanoseconds of the device's clock).
    NotBefore(u64),
}

struct Shared {
    core: Mutex<Core>,
    changed: Condvar,
    quit: AtomicBool,
}

/// A modelled DG2.
pub struct Dg2 {
    shared: Arc<Shared>,
    pub(super) cfg: Dg2Config,
    pub(super) ggtt: Arc<Ggtt>,
    pub(super) lmem: Arc<Lmem>,
    clock: Clock,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How long the thread sleeps while an engine waits for memory to change.
const POLL: Duration = Duration::from_millis(1);
/// Local memory of a server's card, unless told otherwise.
const LMEM_MB: u32 = 256;
/// So much of it is filled with garbage at first.
const GARBAGE: u64 = 32 << 20;

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
        Ok(Self::build(cfg, Ggtt::private()?, lmem, memory, irq, clock))
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
        let device = Self::build(cfg, ggtt, lmem, memory, irq, Clock::real());
        {
            let mut core = device.core();
            let notes = &mut core.notes;
            options
                .faults
                .into_iter()
                .for_each(|f| notes.faults.push(f));
            notes.chaos = options.chaos;
            notes.ledger = options.registers.then(Default::default);
            if let Some(file) = options.trace {
                notes.trace.set_file(file);
            }
        }
        Ok(device)
    }

    fn build(
        cfg: Dg2Config,
        ggtt: Ggtt,
        lmem: Lmem,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let (ggtt, lmem) = (Arc::new(ggtt), Arc::new(lmem));
        let core = Core::new(
            cfg.clone(),
            ggtt.clone(),
            lmem.clone(),
            memory,
            irq,
            clock.clone(),
        );
        Dg2 {
            shared: Arc::new(Shared {
                core: Mutex::new(core),
                changed: Condvar::new(),
                quit: AtomicBool::new(false),
            }),
            cfg,
            ggtt,
            lmem,
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
        // A thread that is woken for nothing costs the guest more than the write.
        let starts = match EngineId::of_block(offset) {
            Some(e) => matches!(
                offset - e.base(),
                ring::EXECLIST_CONTROL | ring::MI_MODE | ring::GFX_MODE
            ),
            None => offset == reg::GDRST,
        };
        if starts {
            self.wake();
        }
    }

    /// One entry of the global table.
    pub fn ggtt_read(&self, index: u64) -> u64 {
        self.ggtt.get(index).0
    }

    /// Sets one entry of the global table.
    pub fn ggtt_write(&self, index: u64, value: u64) {
        self.ggtt.set(index, value);
    }

    /// Reads local memory through BAR2.
    pub fn lmem_read(&self, offset: u64, buf: &mut [u8]) {
        let mut core = self.core();
        core.notes.count(Counter::ApertureReads);
        if core.removed {
            buf.fill(0xff);
        } else {
            self.lmem.read(offset, buf);
        }
    }

    /// Writes local memory through BAR2.
    pub fn lmem_write(&self, offset: u64, data: &[u8]) {
        let mut core = self.core();
        core.notes.count(Counter::ApertureWrites);
        if !core.removed {
            self.lmem.write(offset, data);
        }
    }

    /// Power-on state.
    pub fn power_on(&self) {
        self.core().power_on();
        self.wake();
    }

    /// Does at most one thing of an engine.
    pub fn step(&self, e: EngineId) -> StepResult {
        match self.core().step(e) {
            Step::Ran => StepResult::Ran,
            Step::Idle => StepResult::Idle,
            Step::Waiting => StepResult::Waiting,
            Step::Stopped => StepResult::Stopped,
            Step::NotBefore(t) => StepResult::NotBefore(t),
        }
    }

    /// Runs all engines in turn, and the clock with them, until none can go on, or `max_steps` steps
    /// were taken. Returns true in the first case.
    pub fn run_until_idle(&self, max_steps: usize) -> bool {
        let mut steps = 0;
        loop {
            let mut ran = false;
            let mut next: Option<u64> = None;
            for e in ENGINES {
                match self.step(e) {
                    StepResult::Ran => ran = true,
                    StepResult::NotBefore(t) => next = Some(next.map_or(t, |n| n.min(t))),
                    _ => {}
                }
            }
            match next {
                _ if ran => {}
                Some(t) if self.clock.is_manual() => self.clock.advance_to(t),
                _ => return true,
            }
            steps += 1;
            if steps >= max_steps {
                return false;
            }
        }
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

    /// The rules that programs broke, with their counts.
    pub fn client_lints(&self) -> Vec<(Rule, u64)> {
        let core = self.core();
        let lints = core.notes.client_lints.iter();
        lints.map(|(r, n)| (*r, *n)).collect()
    }

    /// Undocumented registers that were accessed: offset, reads, writes.
    pub fn undocumented(&self) -> Vec<(u32, u64, u64)> {
        let core = self.core();
        let all = core.notes.undocumented.iter();
        all.map(|(o, n)| (*o, n.0, n.1)).collect()
    }

    /// The events since the last call.
    pub fn take_events(&self) -> Vec<Event> {
        self.core().notes.trace.take()
    }

    /// Why an engine does not go on.
    pub fn stop_reason(&self, e: EngineId) -> Stop {
        self.core().engine(e).stop
    }

    /// Number of translations that an engine remembers.
    pub fn cached_translations(&self, e: EngineId) -> usize {
        self.core().engine(e).tlb.len()
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

impl Drop for Dg2 {
    fn drop(&mut self) {
        self.stop_engines();
    }
}

impl Shared {
    /// The engines' thread: each in turn does one thing, and register accesses come in between.
    fn run(&self) {
        let mut core = lock(&self.core);
        while !self.quit.load(Ordering::SeqCst) {
            let mut ran = false;
            let mut sleep = None;
            for e in ENGINES {
                let at_most = match core.step(e) {
                    Step::Ran => {
                        ran = true;
                        drop(core);
                        core = lock(&self.core);
                        continue;
                    }
                    Step::Idle | Step::Stopped => continue,
                    Step::Waiting => POLL,
                    Step::NotBefore(t) => {
                        Duration::from_nanos(t.saturating_sub(core.notes.clock.now()))
                    }
                };
                sleep = Some(sleep.map_or(at_most, |s: Duration| s.min(at_most)));
            }
            if ran {
                continue;
            }
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

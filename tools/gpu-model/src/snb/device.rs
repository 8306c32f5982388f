// SPDX-License-Identifier: GPL-2.0
//! The device as a library: accesses of a CPU on one side, engines run step by step or by threads
//! on the other.

use crate::chaos::Chaos;
use crate::clock::Clock;
use crate::counters::Counter;
use crate::fault::Fault;
use crate::intel::gtt::{HeapPtes, PteArray, SharedPtes};
use crate::memory::{lock, GuestMemory};
use crate::model::{IrqSink, Options};
use crate::snb::config::{FifoDrain, SnbConfig, BAR0_SIZE};
use crate::snb::core::Core;
use crate::snb::engine::{Engine, EngineId, Stop, ENGINES};
use crate::snb::exec::Step;
use crate::snb::lint::Rule;
use crate::snb::real::PowerOn;
use crate::snb::regs::{reg, ring, MMIO_SIZE};
use crate::trace::Event;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What one step of an engine did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// Executed a command.
    Ran,
    /// Has nothing to do.
    Idle,
    /// Is blocked in a wait or a semaphore.
    Waiting,
    /// Is stopped: by request, by an error, or hung.
    Stopped,
    /// Will begin its next piece of work at this time (nanoseconds of the device's clock).
    NotBefore(u64),
}

struct Shared {
    core: Mutex<Core>,
    /// One for each engine's thread.
    changed: [Condvar; 3],
    quit: AtomicBool,
}

/// A modelled Sandy Bridge.
pub struct Snb {
    shared: Arc<Shared>,
    pub(super) gtt: Arc<dyn PteArray>,
    pub(super) file: Option<Arc<std::os::fd::OwnedFd>>,
    clock: Clock,
    pub(super) aperture: u64,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// How long an engine thread sleeps while it waits for memory to change.
const POLL: Duration = Duration::from_millis(1);

impl Snb {
    /// A device in process: hand-driven clock, no threads, page-table entries in plain memory.
    pub fn new(cfg: SnbConfig, memory: Arc<dyn GuestMemory>, irq: Arc<dyn IrqSink>) -> Self {
        let gtt = Arc::new(HeapPtes::new(cfg.gtt_mb << 18));
        Self::build(cfg, gtt, None, memory, irq, Clock::manual())
    }

    /// A device in process that runs by itself: real time, FIFO draining with it; see
    /// [`Self::start_engines`].
    pub fn in_real_time(
        cfg: SnbConfig,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
    ) -> Self {
        let cfg = SnbConfig {
            fifo: FifoDrain::Timed(100),
            ..cfg
        };
        let gtt = Arc::new(HeapPtes::new(cfg.gtt_mb << 18));
        Self::build(cfg, gtt, None, memory, irq, Clock::real())
    }

    /// A device for a server: real time, page-table entries shared with the guest unless trapped.
    ///
    /// # Errors
    /// When the shared memory cannot be had.
    pub fn for_server(
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
            (1..=2).contains(&options.gtt_mb),
            "the page table is 1 or 2 MB"
        );
        let cfg = SnbConfig {
            real: options.real.parse()?,
            vtd: options.vtd,
            gtt_mb: options.gtt_mb,
            aperture: u64::from(aperture_mb) << 20,
            swizzle: options.swizzle,
            delay_ns: options.delay_us.saturating_mul(1000),
            seed: options.seed,
            asleep_fifo: options.asleep_fifo,
            fifo: FifoDrain::Timed(100),
            keep_events: 0,
            watch_bus_master: true,
            strict: options.strict,
            ..SnbConfig::default()
        };
        let count = cfg.gtt_mb << 18;
        let (gtt, file): (Arc<dyn PteArray>, _) = if options.trap_gtt {
            (Arc::new(HeapPtes::new(count)), None)
        } else {
            let shared = SharedPtes::new(count, u64::from(MMIO_SIZE), BAR0_SIZE)?;
            let file = shared.file();
            (Arc::new(shared), Some(file))
        };
        let device = Self::build(cfg, gtt, file, memory, irq, Clock::real());
        {
            let mut core = device.core();
            options
                .faults
                .into_iter()
                .for_each(|f| core.notes.faults.push(f));
            core.notes.chaos = options.chaos;
            core.notes.ledger = options.registers.then(Default::default);
            if let Some(file) = options.trace {
                core.notes.trace.set_file(file);
            }
        }
        Ok(device)
    }

    fn build(
        cfg: SnbConfig,
        gtt: Arc<dyn PteArray>,
        file: Option<Arc<std::os::fd::OwnedFd>>,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let aperture = cfg.aperture;
        let core = Core::new(cfg, gtt.clone(), memory, irq, clock.clone());
        let shared = Shared {
            core: Mutex::new(core),
            changed: Default::default(),
            quit: AtomicBool::new(false),
        };
        Snb {
            shared: Arc::new(shared),
            gtt,
            file,
            clock,
            aperture,
            threads: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn core(&self) -> std::sync::MutexGuard<'_, Core> {
        lock(&self.shared.core)
    }

    /// The device's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A register read: 32 bits.
    pub fn mmio_read32(&self, offset: u32) -> u32 {
        let mut core = self.core();
        if !offset.is_multiple_of(4) || offset >= MMIO_SIZE {
            core.lint(Rule::BadAccess, || format!("read {offset:#x}"));
            return 0;
        }
        core.cpu_read(offset)
    }

    /// A register write: 32 bits.
    pub fn mmio_write32(&self, offset: u32, value: u32) {
        let mut core = self.core();
        if !offset.is_multiple_of(4) || offset >= MMIO_SIZE {
            core.lint(Rule::BadAccess, || format!("write {offset:#x}"));
            return;
        }
        core.cpu_write(offset, value);
        drop(core);
        self.shared.wake_for(offset);
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
        let mut core = self.core();
        core.count(Counter::GttReads);
        if core.removed {
            return !0;
        }
        self.gtt.get(index)
    }

    /// Writes a global page-table entry. Engines do not notice before their TLB is invalidated.
    pub fn gtt_write(&self, index: u32, value: u32) {
        let mut core = self.core();
        core.count(Counter::GttWrites);
        if !core.removed {
            self.gtt.set(index, value);
        }
    }

    /// Reads through the aperture.
    pub fn aperture_read(&self, offset: u32, buf: &mut [u8]) {
        self.core().aperture_read(offset, buf);
    }

    /// Writes through the aperture.
    pub fn aperture_write(&self, offset: u32, data: &[u8]) {
        self.core().aperture_write(offset, data);
    }

    /// Reads the PCI configuration space.
    pub fn config_read_at(&self, offset: usize, buf: &mut [u8]) {
        self.core().config_read(offset, buf);
    }

    /// Writes the PCI configuration space.
    pub fn config_write_at(&self, offset: usize, data: &[u8]) {
        let mut core = self.core();
        core.config_write(offset, data);
        drop(core);
        self.shared.wake_all();
    }

    /// Power-on state.
    pub fn power_on(&self) {
        self.core().power_on(PowerOn::Bus);
        self.shared.wake_all();
    }

    /// Executes at most one command of an engine.
    pub fn step(&self, e: EngineId) -> StepResult {
        let mut core = self.core();
        let step = match core.step(e) {
            Step::Blit(mut job) => {
                drop(core);
                job.run();
                self.core().finish_blit(e, *job)
            }
            other => other,
        };
        match step {
            Step::Ran | Step::Blit(_) => StepResult::Ran,
            Step::Idle => StepResult::Idle,
            Step::Waiting => StepResult::Waiting,
            Step::Stopped => StepResult::Stopped,
            Step::NotBefore(t) => StepResult::NotBefore(t),
        }
    }

    /// Runs all engines in turn, and the clock with them, until none can go on, or `max_steps`
    /// commands were executed. Returns true in the first case.
    pub fn run_until_idle(&self, max_steps: usize) -> bool {
        let mut left = max_steps;
        loop {
            let mut ran = false;
            let mut next: Option<u64> = None;
            for e in ENGINES {
                match self.step(e) {
                    StepResult::Ran if left == 0 => return false,
                    StepResult::Ran => {
                        left -= 1;
                        ran = true;
                    }
                    StepResult::NotBefore(t) => next = Some(next.map_or(t, |n| n.min(t))),
                    _ => {}
                }
            }
            match (ran, next) {
                (true, _) => {}
                (false, Some(t)) if self.clock.is_manual() => self.clock.advance_to(t),
                (false, _) => return true,
            }
        }
    }

    /// Starts a thread per engine. Does nothing if they run already. Only for a device in real time:
    /// a clock that stands still would make a delay endless.
    pub fn start_engines(&self) {
        let mut threads = lock(&self.threads);
        if !threads.is_empty() {
            return;
        }
        self.shared.quit.store(false, Ordering::SeqCst);
        for e in ENGINES {
            let shared = self.shared.clone();
            threads.push(std::thread::spawn(move || shared.run(e)));
        }
    }

    /// Stops the engine threads and waits for them.
    pub fn stop_engines(&self) {
        let threads = std::mem::take(&mut *lock(&self.threads));
        self.shared.quit.store(true, Ordering::SeqCst);
        // Under the lock, so that no thread is between its look at `quit` and its sleep. A blit can
        // take minutes, so it is ended.
        for engine in &mut self.core().engines {
            engine.stop_blit();
        }
        self.shared.wake_all();
        for t in threads {
            // A thread that panicked has said so on standard error.
            let _ = t.join();
        }
    }

    /// Injects a fault.
    pub fn inject(&self, fault: Fault) {
        self.core().notes.faults.push(fault);
    }

    /// How many faults are still to come.
    pub fn faults_to_come(&self) -> usize {
        self.core().notes.faults.len()
    }

    /// Forgets the faults still to come.
    pub fn clear_faults(&self) {
        self.core().notes.faults.clear();
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

    /// How often a rule was broken, by the driver or by a program in a non-secure batch.
    pub fn lint_count(&self, rule: Rule) -> u64 {
        let core = self.core();
        let count = |lints: &std::collections::BTreeMap<Rule, u64>| lints.get(&rule).copied();
        count(&core.notes.lints).unwrap_or(0) + count(&core.notes.client_lints).unwrap_or(0)
    }

    /// The rules that programs broke in non-secure batches, with their counts.
    pub fn client_lints(&self) -> Vec<(Rule, u64)> {
        self.core()
            .notes
            .client_lints
            .iter()
            .map(|(r, n)| (*r, *n))
            .collect()
    }

    /// The rules that the driver broke, with their counts.
    pub fn lints(&self) -> Vec<(Rule, u64)> {
        self.core()
            .notes
            .lints
            .iter()
            .map(|(r, n)| (*r, *n))
            .collect()
    }

    /// Undocumented registers that were accessed: offset, reads, writes.
    pub fn undocumented(&self) -> Vec<(u32, u64, u64)> {
        self.core()
            .notes
            .undocumented
            .iter()
            .map(|(o, n)| (*o, n.0, n.1))
            .collect()
    }

    /// The events since the last call.
    pub fn take_events(&self) -> Vec<Event> {
        self.core().notes.trace.take()
    }

    /// Why an engine does not run.
    pub fn stop_reason(&self, e: EngineId) -> Stop {
        self.core().engine(e).stop.clone()
    }

    /// Number of translations an engine has cached.
    pub fn cached_translations(&self, e: EngineId) -> usize {
        self.core().engine(e).mmu.as_ref().map_or(0, |m| m.cached())
    }

    /// Raises power-management events (bits of PMISR).
    pub fn raise_pm(&self, bits: u32) {
        self.core().pm_event(bits);
    }

    /// The level of the interrupt line.
    pub fn line(&self) -> bool {
        self.core().line
    }

    /// Pulls the card out.
    pub fn remove(&self) {
        self.core().remove();
    }
}

impl Drop for Snb {
    fn drop(&mut self) {
        self.stop_engines();
    }
}

/// Registers of an engine's block whose change can set a resting streamer going.
const STARTERS: [u32; 7] = [
    ring::EXCC,
    ring::TAIL,
    ring::HEAD,
    ring::CTL,
    ring::SYNC0,
    ring::SYNC1,
    ring::MI_MODE,
];

impl Shared {
    /// Wakes the threads that a register write may concern: a thread woken for nothing costs the
    /// guest more than the write.
    fn wake_for(&self, offset: u32) {
        match EngineId::of_block(offset) {
            Some(e) if STARTERS.contains(&(offset - e.base())) => {
                self.changed[e as usize].notify_all()
            }
            None if offset == reg::GDRST => self.wake_all(),
            _ => {}
        }
    }

    fn wake_all(&self) {
        self.changed.iter().for_each(Condvar::notify_all);
    }

    /// Wakes streamers that wait for what another one may just have written, or whose registers it
    /// has written.
    fn wake_waiting(&self, core: &mut Core) {
        let kicked = std::mem::take(&mut core.kicked);
        let concerned = |e: &&Engine| e.wait.is_some() || kicked & e.id.mask() != 0;
        for engine in core.engines.iter().filter(concerned) {
            self.changed[engine.id as usize].notify_all();
        }
    }

    /// An engine's thread: a command at a time, the device locked only for its own part of it.
    fn run(&self, e: EngineId) {
        let mut core = lock(&self.core);
        while !self.quit.load(Ordering::SeqCst) {
            match core.step(e) {
                Step::Ran => {
                    self.wake_waiting(&mut core);
                    // Register accesses come in between commands.
                    drop(core);
                    core = lock(&self.core);
                }
                Step::Blit(mut job) => {
                    drop(core);
                    job.run();
                    core = lock(&self.core);
                    core.finish_blit(e, *job);
                }
                Step::Idle | Step::Stopped => {
                    core = self.changed[e as usize]
                        .wait(core)
                        .unwrap_or_else(|p| p.into_inner());
                }
                Step::Waiting => {
                    let woken = self.changed[e as usize].wait_timeout(core, POLL);
                    core = woken.unwrap_or_else(|p| p.into_inner()).0;
                }
                Step::NotBefore(t) => {
                    let left = Duration::from_nanos(t.saturating_sub(core.notes.clock.now()));
                    let woken = self.changed[e as usize].wait_timeout(core, left);
                    core = woken.unwrap_or_else(|p| p.into_inner()).0;
                }
            }
        }
    }
}

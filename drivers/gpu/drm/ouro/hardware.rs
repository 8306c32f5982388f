// SPDX-License-Identifier: GPL-2.0

//! The device's hardware: register windows, the state that engines share, and wakefulness.
//!
//! All register accesses go through here. The structure is `'static`: it outlives the binding of
//! the driver, after which reads return all ones and writes have no effect.

use kernel::{
    device::Device,
    fmt, new_mutex, new_spinlock_irq,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Mutex, SpinLockIrq,
    },
    time::{delay, Delta, Instant, Monotonic},
};
use ouro_hw::{
    coherence::{KernelMapping, KernelUse},
    generation::{DeviceError, Layout, ResetScope},
    io::Timeout,
    report::Report,
    AtomicWait, Chip, Events, Generation, Gt, Hw, Platform, Registers, SleepWait, Topology,
};
use ouro_kernel::{
    mmio::{self, Bar},
    time, Caching,
};

use crate::{
    look::Look,
    report::{self, Level, Words},
};

mod awake;
mod clocks;

/// A mapped register window that counts accesses.
pub(crate) struct CountedBar {
    bar: Bar,
    reads: Atomic<u64>,
    writes: Atomic<u64>,
}

impl CountedBar {
    pub(crate) fn new(bar: Bar) -> Self {
        Self {
            bar,
            reads: Atomic::new(0),
            writes: Atomic::new(0),
        }
    }

    /// Returns the number of reads.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(ordering::Relaxed)
    }

    /// Returns the number of writes.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(ordering::Relaxed)
    }

    /// From now on, reads return all ones and writes have no effect.
    pub(crate) fn close(&self) {
        self.bar.revoke();
    }
}

impl Registers for CountedBar {
    fn read32(&self, offset: u32) -> u32 {
        self.reads.fetch_add(1, ordering::Relaxed);
        self.bar.read32(offset as usize)
    }

    fn write32(&self, offset: u32, value: u32) {
        self.writes.fetch_add(1, ordering::Relaxed);
        self.bar.write32(offset as usize, value);
    }

    fn write64(&self, offset: u32, value: u64) {
        self.writes.fetch_add(1, ordering::Relaxed);
        self.bar.write64(offset as usize, value);
    }
}

/// The kernel's implementations of waiting.
pub(crate) struct Waits;

impl AtomicWait for Waits {
    fn spin(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        for _ in 0..=micros {
            if done() {
                return Ok(());
            }
            delay::udelay(Delta::from_micros(1));
        }
        Err(Timeout)
    }
}

impl SleepWait for Waits {
    fn poll(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        let start = Instant::<Monotonic>::now();
        loop {
            // Take the time first, so that the condition is checked once more after a long sleep.
            let late = start.elapsed() > Delta::from_micros(i64::from(micros));
            if done() {
                return Ok(());
            }
            if late {
                return Err(Timeout);
            }
            delay::fsleep(Delta::from_micros(10));
        }
    }

    fn pause(&self, micros: u32) {
        delay::fsleep(Delta::from_micros(i64::from(micros)));
    }
}

/// Returns the CPU caching of a kernel page.
pub(crate) fn caching(mapping: KernelMapping) -> Caching {
    match mapping.write_combined {
        true => Caching::WriteCombining,
        false => Caching::WriteBack,
    }
}

/// Converts a device error into an errno.
pub(crate) fn errno(error: DeviceError) -> Error {
    match error {
        DeviceError::NoTranslationTable | DeviceError::Unsupported(_) => ENODEV,
        DeviceError::Gone => ENODEV,
        DeviceError::Timeout(_) => ETIMEDOUT,
    }
}

/// The hardware of a device.
#[pin_data]
pub(crate) struct Hardware {
    /// For the log.
    dev: ARef<Device>,
    chip: &'static Chip,
    regs: CountedBar,
    gtt: CountedBar,
    platform: KBox<dyn Platform + Send + Sync>,
    /// The microcode of the device, if it has one.
    firmware: KVVec<u8>,
    topology: Topology,
    /// [`Topology::card`], with the clocks in use. Written under `gt`.
    card: Atomic<u32>,
    /// The clock in MHz that user space wants while a client waits; 0: the chip's highest.
    boost: Atomic<u32>,
    #[pin]
    gt: SpinLockIrq<Gt>,
    /// Held while a worker invalidates TLBs or reads errors, which a suspend waits for. Outside
    /// `waking`.
    #[pin]
    serving: Mutex<()>,
    /// Number of users that keep the device awake. Leaves zero only under `waking`.
    users: Atomic<i64>,
    /// Whether the system sleeps, or is about to: its registers must not be accessed. Written under
    /// `waking`.
    suspended: Atomic<bool>,
    #[pin]
    waking: Mutex<()>,
    /// Held while events are acknowledged, since some chips report one at a time, and while
    /// interrupts are masked: a masked event must not be acknowledged. Taken inside of queues,
    /// before `gt`.
    #[pin]
    acking: SpinLockIrq<()>,
    interrupts: Atomic<u64>,
    pte_writes: Atomic<u64>,
    /// How often PTEs were written, and up to which of these writes they were flushed.
    gtt_written: Atomic<u64>,
    gtt_flushed: Atomic<u64>,
    /// Up to which write the flush was waited for.
    gtt_settled: Atomic<u64>,
    gtt_flushes: Atomic<u64>,
    /// When errors were last logged, in nanoseconds.
    reported: Atomic<u64>,
}

/// Least nanoseconds between two reports in the log.
const REPORT_PAUSE_NS: u64 = 1_000_000_000;
/// How often bring-up is tried.
const STARTS: u32 = 3;

impl Hardware {
    /// Creates the hardware of a probed device.
    pub(crate) fn new(
        dev: ARef<Device>,
        look: Look,
        regs: CountedBar,
        gtt: CountedBar,
        platform: KBox<dyn Platform + Send + Sync>,
        firmware: KVVec<u8>,
    ) -> Result<impl PinInit<Self, Error>> {
        let Look { chip, gt, topology } = look;
        Ok(try_pin_init!(Self {
            dev,
            chip,
            regs,
            gtt,
            platform,
            firmware,
            card: Atomic::new(topology.card),
            boost: Atomic::new(0),
            topology,
            gt <- new_spinlock_irq!(gt, "ouro_gt"),
            users: Atomic::new(0),
            suspended: Atomic::new(false),
            serving <- new_mutex!((), "ouro_serving"),
            waking <- new_mutex!((), "ouro_waking"),
            acking <- new_spinlock_irq!((), "ouro_acking"),
            interrupts: Atomic::new(0),
            pte_writes: Atomic::new(0),
            gtt_written: Atomic::new(0),
            gtt_flushed: Atomic::new(0),
            gtt_settled: Atomic::new(0),
            gtt_flushes: Atomic::new(0),
            reported: Atomic::new(0),
        }? Error))
    }

    /// Returns the device, for the log.
    pub(crate) fn dev(&self) -> &Device {
        &self.dev
    }

    pub(crate) fn chip(&self) -> &'static Chip {
        self.chip
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns how kernel pages are mapped.
    pub(crate) fn kernel_mapping(&self, what: KernelUse) -> KernelMapping {
        self.topology.coherence.kernel(what)
    }

    pub(crate) fn generation(&self) -> &'static dyn Generation {
        self.chip.generation
    }

    /// Returns the windows, for a backend.
    pub(crate) fn hw(&self) -> Hw<'_> {
        Hw {
            regs: &self.regs,
            gtt: &self.gtt,
            platform: &*self.platform,
            firmware: &self.firmware,
            card: self.card.load(ordering::Relaxed),
        }
    }

    /// Calls `f` with the state that engines share, under its lock. Any context.
    pub(crate) fn with_gt<R>(&self, f: impl FnOnce(&Hw<'_>, &mut Gt) -> R) -> R {
        let mut gt = self.gt.lock();
        f(&self.hw(), &mut gt)
    }

    /// Brings the device up from any state; the caller starts the engines afterwards. Does not
    /// touch fences. Tries several times, since one reset may not help. Sleeps.
    pub(crate) fn start(&self, layout: &Layout) -> Result {
        let start = || {
            let done = self.bring_up(|g, hw| g.start(hw, &self.topology, layout, &Waits));
            done.map_err(|e| self.failed(fmt!("GPU initialisation"), e))
        };
        let mut started = start();
        for _ in 1..STARTS {
            let Err(e) = started else {
                break;
            };
            if e == ENODEV {
                // The device is gone.
                break;
            }
            started = start();
        }
        started
    }

    /// Makes the memory of the GGTT writable, at first or again; before and after it the GGTT is
    /// off, until [`start`](Self::start). May clear fences. The device must be awake. Sleeps.
    /// Errors: `ENODEV` and others if the device's configuration has changed.
    pub(crate) fn prepare(&self) -> Result {
        let generation = self.generation();
        self.with_gt(|hw, _| generation.gtt_on(hw, false));
        generation
            .prepare(&self.hw(), &self.topology, &Waits)
            .map_err(|e| {
                dev_err!(self.dev, "GGTT set-up failed: {}\n", Words(e));
                errno(e)
            })
    }

    /// Masks all interrupts and acknowledges the pending ones.
    pub(crate) fn irq_off(&self) {
        self.with_gt(|hw, gt| self.generation().irq_off(hw, gt));
    }

    /// Unmasks interrupts. The engines must be started.
    pub(crate) fn irq_on(&self) {
        self.with_gt(|hw, gt| self.generation().irq_on(hw, gt));
    }

    /// Quiets the device.
    pub(crate) fn stop(&self) {
        let generation = self.generation();
        self.with_gt(|hw, gt| generation.irq_off(hw, gt));
        generation.stop(&self.hw());
    }

    /// Gives up the device after a failed bring-up: no interrupts, and it may sleep again.
    pub(crate) fn abandon(&self) {
        self.stop();
        self.suspend();
    }

    /// Resets engines, which ends their work. They must be started again. The device must be awake.
    /// Sleeps.
    pub(crate) fn reset(&self, scope: ResetScope) -> Result {
        let reset = self.generation().reset(&self.hw(), scope, &Waits);
        reset.map_err(|e| match scope {
            ResetScope::Engine(n) => {
                let id = self.topology.engines.get(n).map(|e| e.desc().id);
                match id.map(Words) {
                    Some(id) => self.failed(fmt!("{id}: engine reset"), e),
                    None => errno(e),
                }
            }
            ResetScope::All => self.failed(fmt!("GPU reset"), e),
        })
    }

    /// Ends the engines' work before their memory is freed; `idle`: they have none, and are
    /// stopped. The device must be awake. Sleeps. Errors: an engine may still run.
    pub(crate) fn end_work(&self, idle: bool) -> Result {
        self.generation()
            .end_work(&self.hw(), &self.topology, idle, &Waits)
            .map_err(|e| self.failed(fmt!("GPU reset at shutdown"), e))
    }

    /// Resets the device after a hang, and brings it up as [`start`](Self::start) does; does not
    /// touch fences. Interrupts are masked until [`irq_on`](Self::irq_on). The device must be
    /// awake. Sleeps.
    pub(crate) fn restart(&self, layout: &Layout) -> Result {
        self.bring_up(|g, hw| g.restart(hw, &self.topology, layout, &Waits))
            .map_err(|e| self.failed(fmt!("GPU reset"), e))
    }

    /// Brings the device up from any state, by `how`.
    fn bring_up(
        &self,
        how: impl FnOnce(&dyn Generation, &Hw<'_>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let generation = self.generation();
        // Other threads may write and flush PTEs meanwhile: they do so under the same lock.
        self.with_gt(|hw, _| generation.gtt_on(hw, false));
        how(generation, &self.hw())?;
        mmio::wmb();
        self.with_gt(|hw, _| generation.gtt_on(hw, true));
        Ok(())
    }

    /// Logs the error of a step.
    fn failed(&self, step: fmt::Arguments<'_>, error: DeviceError) -> Error {
        dev_err!(self.dev, "{step} failed: {}\n", Words(error));
        errno(error)
    }

    /// Reads and acknowledges the pending events. Any context.
    pub(crate) fn interrupt(&self) -> Events {
        // The handler may race with the search for a lost interrupt.
        let acking = self.acking.lock();
        let events = self.generation().irq_ack(&self.hw());
        drop(acking);
        if events.ours {
            self.interrupts.fetch_add(1, ordering::Relaxed);
        }
        events
    }

    /// Logs and clears the errors and faults that the device has latched. The device must be awake.
    /// Process context.
    pub(crate) fn report_errors(&self) {
        self.print_errors(self.take_errors());
    }

    fn print_errors(&self, errors: Report) {
        // Clients can cause any number of them.
        let now = time::monotonic_ns();
        let last = self.reported.load(ordering::Relaxed);
        if errors.is_error() && (last == 0 || now.wrapping_sub(last) > REPORT_PAUSE_NS) {
            self.reported.store(now, ordering::Relaxed);
            dev_err!(self.dev, "errors and faults since the last report:\n");
            report::print(&self.dev, Level::Error, &errors);
        }
    }

    /// Does what [`report_errors`](Self::report_errors) does, with the device kept awake for it.
    /// Sleeps. Errors: those of [`get`](Self::get).
    pub(crate) fn wake_to_report_errors(&self) -> Result {
        let errors = {
            let _serving = self.serving.lock();
            self.get()?;
            let errors = self.take_errors();
            self.put();
            errors
        };
        self.print_errors(errors);
        Ok(())
    }

    /// Returns and clears the errors and faults that the device has latched. The device must be
    /// awake. Process context.
    pub(crate) fn take_errors(&self) -> Report {
        self.with_gt(|hw, gt| self.generation().errors(hw, gt, &self.topology))
    }

    /// Arms or disarms the completion interrupt of an engine. Any context.
    pub(crate) fn arm(&self, engine: usize, on: bool) {
        let _acking = self.acking.lock();
        self.with_gt(|hw, gt| self.generation().irq_arm(hw, gt, engine, on));
    }

    /// Arms or disarms the context switch interrupt of an execlist engine. Returns whether it is
    /// armed: not while the device sleeps. Any context.
    pub(crate) fn arm_switches(&self, engine: usize, on: bool) -> bool {
        let _acking = self.acking.lock();
        self.with_gt(|hw, gt| {
            self.generation().irq_switches(hw, gt, engine, on);
            on && gt.awake
        })
    }

    /// Arms or disarms the watchdog interrupt of an engine. Any context.
    pub(crate) fn watch(&self, engine: usize, on: bool) {
        let _acking = self.acking.lock();
        self.with_gt(|hw, gt| self.generation().irq_watch(hw, gt, engine, on));
    }

    /// Writes GGTT entries, from `first` on. Only a few at a time: closing the window waits
    /// meanwhile.
    pub(crate) fn write_gtt(&self, first: u32, entries: &[u64]) {
        let count = entries.len() as u64;
        self.pte_writes.fetch_add(count, ordering::Relaxed);
        self.gtt.writes.fetch_add(count, ordering::Relaxed);
        if self.topology.pages.entry_bytes() == 8 {
            let at = first.wrapping_mul(8) as usize;
            self.gtt.bar.write64s(at, entries);
        } else {
            let at = first.wrapping_mul(4) as usize;
            let entries = entries.iter().map(|e| *e as u32);
            self.gtt.bar.write32s(at, entries);
        }
    }

    /// Reads a GGTT entry. Slow.
    pub(crate) fn read_gtt(&self, index: u32) -> u64 {
        if self.topology.pages.entry_bytes() == 8 {
            self.gtt.bar.read64(index as usize * 8)
        } else {
            self.gtt.bar.read32(index as usize * 4).into()
        }
    }

    /// Invalidates all TLBs that may survive the invalidations in requests: afterwards no unit
    /// reaches a page that was unmapped before. Sleeps.
    ///
    /// Errors: `EBUSY` while the device is suspended, `ENODEV`, `ETIMEDOUT`: TLBs may still hold
    /// translations then.
    pub(crate) fn invalidate_tlbs(&self) -> Result {
        let generation = self.generation();
        if !generation.holds_entries() {
            return Ok(());
        }
        let _serving = self.serving.lock();
        self.get()?;
        let done = generation.invalidate_tlbs(&self.hw(), &self.topology, &Waits);
        self.put();
        done.map_err(errno)
    }

    /// GGTT entries were written; [`flush_gtt`](Self::flush_gtt) makes them visible.
    pub(crate) fn gtt_written(&self) {
        self.gtt_written.fetch_add(1, ordering::Full);
    }

    /// Makes written GGTT entries visible to work that is submitted afterwards, if any were written
    /// since the last call. Any context.
    pub(crate) fn flush_gtt(&self) {
        self.flush_gtt_if_written(&self.gtt_flushed, |hw| self.generation().gtt_flush(hw));
    }

    /// Does what [`flush_gtt`](Self::flush_gtt) does, and waits until it has taken effect. Any
    /// context.
    pub(crate) fn settle_gtt(&self) {
        self.flush_gtt_if_written(&self.gtt_settled, |hw| self.generation().gtt_settle(hw));
    }

    fn flush_gtt_if_written(&self, done: &Atomic<u64>, flush: impl FnOnce(&Hw<'_>)) {
        let wanted = self.gtt_written.load(ordering::Acquire);
        if done.load(ordering::Acquire) >= wanted {
            return;
        }
        self.with_gt(|hw, _| {
            let written = self.gtt_written.load(ordering::Acquire);
            if done.load(ordering::Relaxed) < written {
                // PTEs may still be in the CPU's write-combining buffers.
                mmio::wmb();
                flush(hw);
                // A flush for submission is not needed any more, either.
                self.gtt_flushed.store(written, ordering::Release);
                done.store(written, ordering::Release);
                self.gtt_flushes.fetch_add(1, ordering::Relaxed);
            }
        });
    }

    /// Closes the GGTT's window; it is never opened again.
    pub(crate) fn close_table(&self) {
        self.gtt.close();
    }

    /// Closes all windows, which are never opened again: the device is going away.
    pub(crate) fn close(&self) {
        self.regs.close();
        self.close_table();
    }

    /// Returns the statistics.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            gt: self.gt.lock().counts,
            reads: self.regs.reads(),
            writes: self.regs.writes(),
            pte_writes: self.pte_writes.load(ordering::Relaxed),
            interrupts: self.interrupts.load(ordering::Relaxed),
            table_flushes: self.gtt_flushes.load(ordering::Relaxed),
        }
    }
}

/// Statistics of a device.
pub(crate) struct Counts {
    pub(crate) gt: ouro_hw::gt::GtCounts,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) pte_writes: u64,
    pub(crate) interrupts: u64,
    pub(crate) table_flushes: u64,
}

// SPDX-License-Identifier: GPL-2.0

//! The device as a backend sees it: windows, the state that its engines share, and who keeps it
//! awake.
//!
//! Everything that touches a register goes through here. The structure is `'static`: it outlives
//! the binding of the driver, after which the windows answer all ones and ignore writes.

use kernel::{
    device::Device,
    new_mutex, new_spinlock_irq,
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
    report::{self, Words},
};

/// A mapped window of registers, with a count of its accesses.
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

    /// Reads so far.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(ordering::Relaxed)
    }

    /// Writes so far.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(ordering::Relaxed)
    }

    /// From now on, reads are all ones and writes go nowhere.
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

/// Waiting in the kernel, in both ways.
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
            // The time is taken first: after a long sleep the condition gets a last look.
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

/// How the CPU maps a page of the kernel's own.
pub(crate) fn caching(mapping: KernelMapping) -> Caching {
    match mapping.write_combined {
        true => Caching::WriteCombining,
        false => Caching::WriteBack,
    }
}

/// The error that user space, or the log, gets of a failed bring-up.
pub(crate) fn errno(error: DeviceError) -> Error {
    match error {
        DeviceError::NoTranslationTable | DeviceError::Unsupported(_) => ENODEV,
        DeviceError::Gone => ENODEV,
        DeviceError::Timeout(_) => ETIMEDOUT,
    }
}

/// A device, as its backend sees it.
#[pin_data]
pub(crate) struct Hardware {
    /// For the log.
    dev: ARef<Device>,
    chip: &'static Chip,
    regs: CountedBar,
    gtt: CountedBar,
    platform: KBox<dyn Platform + Send + Sync>,
    /// The code that the device runs, where it runs any.
    firmware: KVVec<u8>,
    topology: Topology,
    #[pin]
    gt: SpinLockIrq<Gt>,
    /// How many keep the device awake. Zero to one and back only under `waking`.
    users: Atomic<i64>,
    #[pin]
    waking: Mutex<()>,
    /// Held by who takes events off the device, since some chips tell of one at a time, and by who masks
    /// some: a device is asked about none that it does not show any more. Behind queues, before `gt`.
    #[pin]
    acking: SpinLockIrq<()>,
    interrupts: Atomic<u64>,
    pte_writes: Atomic<u64>,
    /// How often entries were written, and how many of these times have taken effect.
    gtt_written: Atomic<u64>,
    gtt_flushed: Atomic<u64>,
    /// The same, where that was waited for.
    gtt_settled: Atomic<u64>,
    gtt_flushes: Atomic<u64>,
    /// When errors were printed last, in nanoseconds.
    reported: Atomic<u64>,
}

/// Nanoseconds between two reports in the log.
const REPORT_PAUSE_NS: u64 = 1_000_000_000;
/// How often a device is tried to be brought up.
const STARTS: u32 = 3;

impl Hardware {
    /// Takes a device that was looked at.
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
            topology,
            gt <- new_spinlock_irq!(gt, "ouro_gt"),
            users: Atomic::new(0),
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

    /// The device, for the log.
    pub(crate) fn dev(&self) -> &Device {
        &self.dev
    }

    pub(crate) fn chip(&self) -> &'static Chip {
        self.chip
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// How pages of the kernel's own are mapped.
    pub(crate) fn kernel_mapping(&self, what: KernelUse) -> KernelMapping {
        self.topology.coherence.kernel(what)
    }

    pub(crate) fn generation(&self) -> &'static dyn Generation {
        self.chip.generation
    }

    /// The windows, for a backend.
    pub(crate) fn hw(&self) -> Hw<'_> {
        Hw {
            regs: &self.regs,
            gtt: &self.gtt,
            platform: &*self.platform,
            firmware: &self.firmware,
            card: self.topology.card,
        }
    }

    /// Does something with what the engines share. Any context.
    pub(crate) fn with_gt<R>(&self, f: impl FnOnce(&Hw<'_>, &mut Gt) -> R) -> R {
        let mut gt = self.gt.lock();
        f(&self.hw(), &mut gt)
    }

    /// Brings the device up, whatever it was doing before; engines are started after it. Fences stay
    /// as they are. As a reset may not help at once, it is tried again some times. Sleeps.
    pub(crate) fn start(&self, layout: &Layout) -> Result {
        let start =
            || self.bring_up(|generation, hw| generation.start(hw, &self.topology, layout, &Waits));
        let mut started = start();
        for _ in 1..STARTS {
            let Err(e) = started else {
                break;
            };
            if e == ENODEV {
                // Nobody is there.
                break;
            }
            started = start();
        }
        started
    }

    /// Makes the place of the global table fit to be written, for the first time or again; before that and
    /// after it the table is off, until [`start`](Self::start). Fences may be lost by it. The device is
    /// awake. Sleeps. Errors: `ENODEV` and others if the device is not what it was, or not set up.
    pub(crate) fn prepare(&self) -> Result {
        let generation = self.generation();
        self.with_gt(|hw, _| generation.gtt_on(hw, false));
        generation
            .prepare(&self.hw(), &self.topology, &Waits)
            .map_err(|e| {
                dev_err!(self.dev, "{}\n", Words(e));
                errno(e)
            })
    }

    /// Lets no interrupt through, and leaves none pending.
    pub(crate) fn irq_off(&self) {
        self.with_gt(|hw, gt| self.generation().irq_off(hw, gt));
    }

    /// Lets interrupts through. The engines are started.
    pub(crate) fn irq_on(&self) {
        self.with_gt(|hw, gt| self.generation().irq_on(hw, gt));
    }

    /// Makes it quiet.
    pub(crate) fn stop(&self) {
        let generation = self.generation();
        self.with_gt(|hw, gt| generation.irq_off(hw, gt));
        generation.stop(&self.hw());
    }

    /// Resets engines: whatever they were running has ended. They must be started again. The
    /// device is awake. Sleeps.
    pub(crate) fn reset(&self, scope: ResetScope) -> Result {
        self.generation()
            .reset(&self.hw(), scope, &Waits)
            .map_err(|e| self.no_reset(e))
    }

    /// Resets the device after a hang, and brings it up again as far as [`start`](Self::start) does; fences stay
    /// as they are. No interrupt comes until [`irq_on`](Self::irq_on). The device is awake. Sleeps.
    pub(crate) fn restart(&self, layout: &Layout) -> Result {
        self.bring_up(|generation, hw| generation.restart(hw, &self.topology, layout, &Waits))
    }

    /// Brings it up from any state, by `how`.
    fn bring_up(
        &self,
        how: impl FnOnce(&dyn Generation, &Hw<'_>) -> Result<(), DeviceError>,
    ) -> Result {
        let generation = self.generation();
        // Others may write entries meanwhile, and let them take effect: that is under the same lock.
        self.with_gt(|hw, _| generation.gtt_on(hw, false));
        how(generation, &self.hw()).map_err(|e| self.no_reset(e))?;
        mmio::wmb();
        self.with_gt(|hw, _| generation.gtt_on(hw, true));
        Ok(())
    }

    fn no_reset(&self, error: DeviceError) -> Error {
        dev_err!(self.dev, "reset failed: {}\n", Words(error));
        errno(error)
    }

    /// Takes the events of an interrupt. Any context.
    pub(crate) fn interrupt(&self) -> Events {
        // The handler, and who looks for an interrupt that was lost.
        let acking = self.acking.lock();
        let events = self.generation().irq_ack(&self.hw());
        drop(acking);
        if events.ours {
            self.interrupts.fetch_add(1, ordering::Relaxed);
        }
        events
    }

    /// Prints the errors and faults that the device has latched, and clears them there. The device
    /// is awake. Process context.
    pub(crate) fn report_errors(&self) {
        let errors = self.take_errors();
        // A client can make as many of them as it likes.
        let now = time::monotonic_ns();
        let last = self.reported.load(ordering::Relaxed);
        if errors.is_error() && (last == 0 || now.wrapping_sub(last) > REPORT_PAUSE_NS) {
            self.reported.store(now, ordering::Relaxed);
            report::print(&self.dev, &errors);
        }
    }

    /// The errors and faults that the device has latched; it forgets them. It is awake. Process
    /// context.
    pub(crate) fn take_errors(&self) -> Report {
        self.with_gt(|hw, gt| self.generation().errors(hw, gt, &self.topology))
    }

    /// Arms or disarms the completion interrupt of an engine. Any context.
    pub(crate) fn arm(&self, engine: usize, on: bool) {
        let _acking = self.acking.lock();
        self.with_gt(|hw, gt| self.generation().irq_arm(hw, gt, engine, on));
    }

    /// Lets an engine's watchdog interrupt, or not. Any context.
    pub(crate) fn watch(&self, engine: usize, on: bool) {
        let _acking = self.acking.lock();
        self.with_gt(|hw, gt| self.generation().irq_watch(hw, gt, engine, on));
    }

    /// Writes entries of the global table, from `first` on. Not many at a time: whoever closes the window
    /// waits meanwhile.
    pub(crate) fn write_gtt(&self, first: u32, entries: &[u64]) {
        let count = entries.len() as u64;
        self.pte_writes.fetch_add(count, ordering::Relaxed);
        self.gtt.writes.fetch_add(count, ordering::Relaxed);
        let entries = entries.iter();
        if self.topology.pages.entry_bytes() == 8 {
            let at = first.wrapping_mul(8) as usize;
            self.gtt.bar.write64s(at, entries.copied());
        } else {
            let at = first.wrapping_mul(4) as usize;
            self.gtt.bar.write32s(at, entries.map(|e| *e as u32));
        }
    }

    /// Reads an entry of the global table. Slow.
    pub(crate) fn read_gtt(&self, index: u32) -> u64 {
        if self.topology.pages.entry_bytes() == 8 {
            self.gtt.bar.read64(index as usize * 8)
        } else {
            self.gtt.bar.read32(index as usize * 4).into()
        }
    }

    /// Throws away the copies of entries that units of the device hold, where they do so longer than requests
    /// say: afterwards none of them reaches a page that was unmapped before. One at a time. Sleeps.
    ///
    /// Errors: `ENODEV`, `ETIMEDOUT`: then they may hold some.
    pub(crate) fn invalidate_tlbs(&self) -> Result {
        let generation = self.generation();
        if !generation.holds_entries() {
            return Ok(());
        }
        self.get()?;
        let done = generation.invalidate_tlbs(&self.hw(), &self.topology, &Waits);
        self.put();
        done.map_err(errno)
    }

    /// Entries of the global table were written; they are to take effect by
    /// [`flush_gtt`](Self::flush_gtt).
    pub(crate) fn gtt_written(&self) {
        self.gtt_written.fetch_add(1, ordering::Full);
    }

    /// Lets what was written to the global table take effect for work that is submitted after it, if
    /// anything was since the last time. Any context.
    pub(crate) fn flush_gtt(&self) {
        self.take_effect(&self.gtt_flushed, |hw| self.generation().gtt_flush(hw));
    }

    /// The same for whatever comes after it: what was written has taken effect. Any context.
    pub(crate) fn settle_gtt(&self) {
        self.take_effect(&self.gtt_settled, |hw| self.generation().gtt_settle(hw));
    }

    fn take_effect(&self, done: &Atomic<u64>, flush: impl FnOnce(&Hw<'_>)) {
        let wanted = self.gtt_written.load(ordering::Acquire);
        if done.load(ordering::Acquire) >= wanted {
            return;
        }
        self.with_gt(|hw, _| {
            let written = self.gtt_written.load(ordering::Acquire);
            if done.load(ordering::Relaxed) < written {
                // Table entries may linger in the CPU's write-combining buffers.
                mmio::wmb();
                flush(hw);
                // Whichever it was, nobody need flush it again for submission.
                self.gtt_flushed.store(written, ordering::Release);
                done.store(written, ordering::Release);
                self.gtt_flushes.fetch_add(1, ordering::Relaxed);
            }
        });
    }

    /// Keeps the device awake. Process context: waking it may take a moment.
    pub(crate) fn get(&self) -> Result {
        let mut n = self.users.load(ordering::Relaxed);
        while n > 0 {
            match self.users.cmpxchg(n, n + 1, ordering::Full) {
                Ok(_) => return Ok(()),
                Err(now) => n = now,
            }
        }
        let _waking = self.waking.lock();
        if self.users.load(ordering::Relaxed) == 0 {
            self.with_gt(|hw, gt| self.generation().wake(hw, gt, &Waits))
                .map_err(errno)?;
        }
        self.users.fetch_add(1, ordering::Full);
        Ok(())
    }

    /// The opposite of [`get`](Self::get). The device stays awake until [`park`](Self::park).
    pub(crate) fn put(&self) {
        self.users.fetch_sub(1, ordering::Full);
    }

    /// Lets the device sleep if nobody keeps it awake. Process context.
    pub(crate) fn park(&self) {
        let _waking = self.waking.lock();
        if self.users.load(ordering::Relaxed) == 0 && self.with_gt(|_, gt| gt.awake) {
            // What batches did wrong while it was awake makes no interrupt on most chips.
            self.report_errors();
            self.with_gt(|hw, gt| self.generation().sleep(hw, gt));
        }
    }

    /// The system goes to sleep, whoever keeps the device awake: requests that are done, but not
    /// retired. Process context.
    pub(crate) fn suspend(&self) {
        let _waking = self.waking.lock();
        self.with_gt(|hw, gt| {
            if gt.awake {
                self.generation().sleep(hw, gt);
            }
        });
    }

    /// The opposite of [`suspend`](Self::suspend), for somebody who keeps it awake. Process
    /// context.
    pub(crate) fn resume(&self) -> Result {
        let _waking = self.waking.lock();
        self.with_gt(|hw, gt| self.generation().wake(hw, gt, &Waits))
            .map_err(errno)
    }

    /// Nothing reaches the global table from here on.
    pub(crate) fn close_table(&self) {
        self.gtt.close();
    }

    /// The device is going away: nothing reaches it from here on.
    pub(crate) fn close(&self) {
        self.regs.close();
        self.close_table();
    }

    /// What has happened so far.
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

/// Counters of a device.
pub(crate) struct Counts {
    pub(crate) gt: ouro_hw::gt::GtCounts,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) pte_writes: u64,
    pub(crate) interrupts: u64,
    pub(crate) table_flushes: u64,
}

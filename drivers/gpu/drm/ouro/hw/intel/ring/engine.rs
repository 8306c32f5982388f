// SPDX-License-Identifier: GPL-2.0 OR MIT
//! An engine with a ring: its description, start and stop.
//!
//! Engines share a register layout at different bases (SNB PRM V1P2 §1). Order of the start: G-26;
//! of the stop: G-25, §5.3.4.2.

use super::{
    emit::{self, Recipe},
    errors, fifo,
    golden::Golden,
    regs::{self, masked, Base, RingCtl, RingHead},
    submit, RingChip,
};
use crate::{
    checker::Checker,
    engine::{
        ContextWorkaround, Emit, Engine, EngineDesc, EngineMemory, PageCopy, PortKind, StatusPage,
        Submission,
    },
    generation::DeviceError,
    gt::Gt,
    intel::{blt, mi::NOOP},
    io::{AtomicWait, Hw, SleepWait},
    poll,
    report::{Activity, BatchLevels, Names},
    ring::{Commands, Overflow},
    translations::TranslationEntry,
    types::{EngineClass, EngineId},
};

/// Byte offset of the seqno of the last completed request in the HWSP. The first sixteen dwords
/// belong to the device (§5.5), and drivers by convention leave those up to 0xc0 free (digest
/// §4.6). Bit 5 must be clear (VCS §1.2.7).
pub(crate) const SEQNO_AT: u32 = 0x100;
/// Byte offset in the HWSP of a dword that the GPU writes and no code reads (digest §4.6).
pub(crate) const STATUS_SCRATCH_AT: u32 = 0x200;
/// Bytes of a ring: a little more than two hundred requests. G-46 has 16 KB, which 60 requests
/// fill.
const RING_BYTES: u32 = 64 * 1024;

/// The kind of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// 3D and media; the only kind with contexts.
    Render,
    /// Blitter.
    Blitter,
    /// Video decoding.
    Video,
}

/// Writes commands. Errors: [`Overflow`] if there is too little room.
pub(crate) type Write = fn(&mut Commands<'_>) -> Result<(), Overflow>;

/// Optional diagnostics of an engine.
pub(crate) struct Details {
    /// Reads how the engine fetches its batches.
    pub(crate) levels: fn(&Hw<'_>) -> BatchLevels,
    /// See [`Engine::translations`].
    pub(crate) translations: fn(&Hw<'_>, &mut dyn FnMut(TranslationEntry)),
}

/// An engine with one ring.
pub(crate) struct RingEngine {
    /// The chip of the engine.
    pub(crate) chip: &'static RingChip,
    /// The core's description of the engine.
    pub(crate) desc: &'static EngineDesc,
    /// The kind of the engine.
    pub(crate) kind: Kind,
    /// Base of the registers.
    pub(crate) base: Base,
    /// The register with the address of the HWSP.
    pub(crate) status_page: u32,
    /// The value of the status mask, which keeps status changes out of the HWSP; `None` without the
    /// register (§5.5).
    pub(crate) unreported: Option<u32>,
    /// The register of the first page fault (§5.7.2.1), if the engine has one.
    pub(crate) fault: Option<u32>,
    /// The register of the second `INSTDONE` word, if the engine has one.
    pub(crate) more_units: Option<u32>,
    /// The bit that resets this engine alone, if the chip can.
    pub(crate) reset: Option<u32>,
    /// The user interrupt's bit in the interrupt registers (G-12).
    pub(crate) user: u32,
    /// The error interrupt's bit in the interrupt registers (G-12).
    pub(crate) error: u32,
    /// The bits of `EIR` to report; 0 if the engine has no error registers.
    pub(crate) errors: u32,
    /// The commands around a request's batch.
    pub(crate) recipe: &'static Recipe,
    /// Whether the engine must be kept awake while its tail is written (G-37).
    pub(crate) handshake: bool,
    /// Commands that reset the write offsets of stream output buffers, if the engine has them.
    pub(crate) streams: Option<Write>,
    /// Commands that give all state a legal value.
    pub(crate) golden: Option<&'static Golden>,
    /// The checker of clients' batches, if the engine has one.
    pub(crate) checker: Option<&'static dyn Checker>,
    /// Names of the status bits.
    pub(crate) names: &'static Names,
    /// Optional diagnostics.
    pub(crate) details: Option<&'static Details>,
}

/// Returns the core's description of an engine that can only be reset together with all others.
pub(crate) const fn desc(
    kind: Kind,
    base: Base,
    recipe: &Recipe,
    golden: Option<&Golden>,
) -> EngineDesc {
    let (class, copy_pages) = match kind {
        Kind::Render => (EngineClass::Render, 0),
        Kind::Blitter => (EngineClass::Copy, blt::MAX_ROWS),
        Kind::Video => (EngineClass::Video, 0),
    };
    EngineDesc {
        id: EngineId { class, instance: 0 },
        registers: base.0,
        port: PortKind::Ring,
        ring_bytes: RING_BYTES,
        ring_end: u64::MAX,
        noop: NOOP,
        emit_dwords: recipe.dwords,
        golden_dwords: match golden {
            Some(golden) => golden.dwords(),
            None => 0,
        },
        known_dwords: 0,
        private_dwords: 0,
        copy_pages,
        state_bytes: 0,
        fill_pages: 0,
        seqno_at: SEQNO_AT,
        contexts: matches!(kind, Kind::Render),
        reset_group: None,
        events: None,
        watchdog: match recipe.watchdog {
            Some(watchdog) => Some(watchdog.limits()),
            None => None,
        },
    }
}

/// [`RingEngine::unreported`] of a render engine. At most one status change may be written to the
/// HWSP (VCS §1.1.6.1): it is the user interrupt, as in other drivers (G-26). No code reads it.
pub(crate) const RENDER_UNREPORTED: u32 = !1;
/// [`RingEngine::unreported`] of other engines: no status change is written.
pub(crate) const NOTHING_REPORTED: u32 = !0;

/// Returns the GGTT address of a status page: [`RingChip::status_page`] of chips with the HWSP in
/// the GGTT.
pub(crate) fn in_table(page: StatusPage) -> Result<u32, DeviceError> {
    page.in_table().map(|addr| addr.0)
}

/// Timeout in microseconds for an engine to become idle after it was told to stop (G-25).
const IDLE_MICROS: u32 = 100_000;
/// Timeout in microseconds for an engine to become idle before a reset, which follows in any case
/// (G-25).
const HUNG_MICROS: u32 = 1_000;
/// Timeout in microseconds of a synchronous flush (digest, peers' trace).
const FLUSH_MICROS: u32 = 2_000;
/// Timeout in microseconds for a ring register to read back as written (digest, peers' trace).
const RING_MICROS: u32 = 5_000;
/// Timeout in microseconds for the head, which is written repeatedly meanwhile (UW36).
const HEAD_MICROS: u32 = 50_000;

impl RingEngine {
    const fn named(&self, reg: u32, name: &'static str) -> poll::Named {
        poll::Named {
            offset: self.base.at(reg),
            name,
        }
    }

    fn write(&self, hw: &Hw<'_>, reg: u32, value: u32) {
        hw.regs.write32(self.base.at(reg), value);
    }

    fn write_flush(&self, hw: &Hw<'_>, reg: u32, value: u32) {
        hw.regs.write32_flush(self.base.at(reg), value);
    }

    fn read(&self, hw: &Hw<'_>, reg: u32) -> u32 {
        hw.regs.read32(self.base.at(reg))
    }

    /// Sets the head to an offset. A write may be lost after a reset, so it is repeated until it
    /// reads back (UW36).
    fn put_head(
        &self,
        hw: &Hw<'_>,
        to: u32,
        micros: u32,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let head = self.named(regs::RING_HEAD, "RING_HEAD");
        let there = |v| {
            let there = RingHead::from_bits(v).offset() == to;
            if !there {
                self.write(hw, regs::RING_HEAD, to);
            }
            there
        };
        self.write(hw, regs::RING_HEAD, to);
        poll::sleeping(hw.regs, wait, head, micros, &there)?;
        Ok(())
    }

    /// Stops the engine (G-25). Disabling a ring that is not empty is undefined (§5.3.4.2), so the
    /// head is set to the tail first. `micros` are the timeouts for the engine and for the head.
    fn halt(&self, hw: &Hw<'_>, micros: [u32; 2], wait: &dyn SleepWait) -> Result<(), DeviceError> {
        let [idle_micros, head_micros] = micros;
        fifo::room(self.chip, hw, 8, wait)?;
        self.write(hw, regs::MI_MODE, masked(regs::MI_MODE_STOP, 0));
        let mode = self.named(regs::MI_MODE, "MI_MODE");
        let idle = |v| v & regs::MI_MODE_IDLE != 0;
        let stopped = poll::sleeping(hw.regs, wait, mode, idle_micros, &idle);
        if stopped == Err(DeviceError::Gone) {
            return Err(DeviceError::Gone);
        }
        let tail = self.read(hw, regs::RING_TAIL) & regs::RING_TAIL_MASK;
        let head = RingHead::from_bits(self.read(hw, regs::RING_HEAD));
        let emptied = self.put_head(hw, tail, head_micros, wait);
        self.write_flush(hw, regs::RING_CTL, 0);
        let zeroed = self.put_head(hw, 0, head_micros, wait);
        self.write_flush(hw, regs::RING_TAIL, 0);
        if self.chip.engine_masks {
            self.write_flush(hw, regs::IMR, u32::MAX);
        }
        // An engine may not report idle although its ring was empty (UW17).
        if head.offset() != tail {
            stopped?;
        }
        emptied.and(zeroed)
    }

    /// Stops the engine before a reset. A timeout is no error.
    pub(crate) fn halt_hung(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        match self.halt(hw, [HUNG_MICROS; 2], wait) {
            Err(DeviceError::Timeout(_)) => Ok(()),
            other => other,
        }
    }

    /// Invalidates the command streamer's caches and TLBs while the ring is stopped (§5.3.11.2, VCS
    /// §4.7). The flush is known to hang sometimes; like the upstream driver, this continues then
    /// (UW35).
    fn sync_flush(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        let both = regs::INSTPM_SYNC_FLUSH | regs::INSTPM_TLB_INVALIDATE;
        let instpm = self.named(regs::INSTPM, "INSTPM");
        let flushed = |v| v & u32::from(regs::INSTPM_SYNC_FLUSH) == 0;
        for _ in 0..2 {
            self.write(hw, regs::INSTPM, masked(both, 0));
            match poll::sleeping(hw.regs, wait, instpm, FLUSH_MICROS, &flushed) {
                Err(DeviceError::Timeout(_)) => {}
                other => return other.map(|_| ()),
            }
        }
        hw.platform
            .warn("INSTPM: TLB invalidation not complete in time, stale TLB entries may remain");
        Ok(())
    }

    /// Returns the interrupt bit of the engine's watchdog; 0 without a watchdog.
    pub(crate) fn overdue(&self) -> u32 {
        self.recipe.watchdog.map_or(0, |w| w.interrupt)
    }

    /// Unmasks completions, errors (§5.6, §5.7.1) and the watchdog in the engine.
    fn unmask(&self, hw: &Hw<'_>) {
        if self.errors != 0 {
            let old = self.read(hw, regs::EIR);
            self.write(hw, regs::EIR, old);
            self.write(hw, regs::EMR, !self.errors);
        }
        if self.chip.engine_masks {
            self.write(hw, regs::IMR, !(self.user | self.error | self.overdue()));
        }
    }
}

impl Engine for RingEngine {
    fn desc(&self) -> &'static EngineDesc {
        self.desc
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        mem: &EngineMemory,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        // A ring at GGTT address 0 does not work (G-46).
        if mem.ring.0 == 0 {
            return Err(DeviceError::Unsupported("ring buffer at GGTT address 0"));
        }
        self.halt(hw, [IDLE_MICROS, HEAD_MICROS], wait)?;
        fifo::room(self.chip, hw, 20, wait)?;
        let status = (self.chip.status_page)(mem.status)?;
        hw.regs.write32_flush(self.status_page, status);
        if let Some(mask) = self.unreported {
            self.write(hw, regs::HWSTAM, mask);
        }
        if self.chip.sync_flush {
            self.sync_flush(hw, wait)?;
        }
        if let Some(watchdog) = self.recipe.watchdog {
            // A previous driver may have started it.
            let (counter, stopped) = watchdog.halted();
            hw.regs.write32(counter, stopped);
        }
        self.unmask(hw);

        self.write(hw, regs::RING_START, mem.ring.0);
        if let Some(slot) = mem.directory {
            (self.chip.load_directory)(hw, self.base, slot);
        }
        // Enabling the ring does not reset the head (§5.3.4.2).
        self.put_head(hw, 0, HEAD_MICROS, wait)?;
        self.write_flush(hw, regs::RING_TAIL, 0);

        let pages = RING_BYTES / crate::types::PAGE_SIZE;
        let enable = RingCtl::new()
            .with_pages_less_one(pages.wrapping_sub(1) as u16)
            .with_enable(true);
        self.write(hw, regs::RING_CTL, enable.into_bits());
        let ctl = self.named(regs::RING_CTL, "RING_CTL");
        let enabled = |v| RingCtl::from_bits(v).enable();
        poll::sleeping(hw.regs, wait, ctl, RING_MICROS, &enabled)?;
        self.write(hw, regs::MI_MODE, masked(0, regs::MI_MODE_STOP));
        // The ring is still empty; and the read drains the write FIFO.
        let head = self.named(regs::RING_HEAD, "RING_HEAD");
        let at_start = |v| RingHead::from_bits(v).offset() == 0;
        poll::sleeping(hw.regs, wait, head, RING_MICROS, &at_start)?;
        Ok(())
    }

    fn stop(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        self.halt(hw, [IDLE_MICROS, HEAD_MICROS], wait)
    }

    fn emit(
        &self,
        request: &Emit<'_>,
        mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow> {
        emit::request(self.recipe, request, mem, out)
    }

    fn submit(
        &self,
        hw: &Hw<'_>,
        gt: &mut Gt,
        what: Submission<'_>,
        wait: &dyn AtomicWait,
    ) -> Result<(), DeviceError> {
        submit::submit(self, hw, gt, what, wait)
    }

    fn checker(&self) -> Option<&'static dyn Checker> {
        self.checker
    }

    fn golden(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        self.golden.map_or(Ok(()), |golden| golden.commands(out))
    }

    fn context_workarounds(&self, each: &mut dyn FnMut(ContextWorkaround)) {
        if let Some(golden) = self.golden {
            golden.workarounds().for_each(each);
        }
    }

    fn golden_registers(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        self.golden.map_or(Ok(()), |golden| golden.registers(out))
    }

    fn restart_streams(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        self.streams.map_or(Err(Overflow), |commands| commands(out))
    }

    fn copy(&self, copy: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
        match self.kind {
            Kind::Blitter => blt::copy(copy, out),
            Kind::Render | Kind::Video => Err(Overflow),
        }
    }

    fn activity(&self, hw: &Hw<'_>) -> Activity {
        errors::activity(self, hw)
    }

    fn translations(&self, hw: &Hw<'_>, found: &mut dyn FnMut(TranslationEntry)) {
        if let Some(details) = self.details {
            (details.translations)(hw, found);
        }
    }

    fn kick(&self, hw: &Hw<'_>) -> bool {
        submit::kick(self, hw)
    }
}

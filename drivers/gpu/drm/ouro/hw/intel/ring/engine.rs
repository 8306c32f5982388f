// SPDX-License-Identifier: GPL-2.0
//! An engine with a ring: how it is described, started and stopped.
//!
//! Engines share a register layout at different bases (SNB PRM V1P2 §1). Order of starting: G-26; of
//! stopping: G-25, §5.3.4.2.

use super::{
    emit::{self, Recipe},
    errors, fifo,
    golden::Golden,
    regs::{self, masked, Base, RingCtl, RingHead},
    submit, RingChip,
};
use crate::{
    checker::Checker,
    engine::{Emit, Engine, EngineDesc, EngineMemory, PageCopy, PortKind, StatusPage, Submission},
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

/// Byte offset, in the status page, of the number of the last completed request. The first sixteen
/// dwords are the device's (§5.5), others up to 0xc0 are kept free by custom (digest §4.6). Bit 5 is clear
/// (VCS §1.2.7).
pub(crate) const SEQNO_AT: u32 = 0x100;
/// Byte offset, in the status page, of a dword that is written and never read (digest §4.6).
pub(crate) const STATUS_SCRATCH_AT: u32 = 0x200;
/// Bytes of a ring: a little more than two hundred requests. G-46 tells of 16 KB, which a client that
/// does not wait fills in 60.
const RING_BYTES: u32 = 64 * 1024;

/// What engines differ in beyond their registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// 3D and media; the only one with contexts.
    Render,
    /// The blitter.
    Blitter,
    /// Video decoding.
    Video,
}

/// Writes commands, or says that there is too little room.
pub(crate) type Write = fn(&mut Commands<'_>) -> Result<(), Overflow>;

/// What an engine can tell beside what all have.
pub(crate) struct Details {
    /// How its batches are fetched.
    pub(crate) levels: fn(&Hw<'_>) -> BatchLevels,
    /// See [`Engine::translations`].
    pub(crate) translations: fn(&Hw<'_>, &mut dyn FnMut(TranslationEntry)),
}

/// An engine with one ring.
pub(crate) struct RingEngine {
    /// The machine that it is in.
    pub(crate) chip: &'static RingChip,
    /// What the core knows of it.
    pub(crate) desc: &'static EngineDesc,
    /// What it differs from others in.
    pub(crate) kind: Kind,
    /// Where its registers are.
    pub(crate) base: Base,
    /// The register with the address of its status page.
    pub(crate) status_page: u32,
    /// What is not reported to the status page: its mask of status reports, where it has one (§5.5).
    pub(crate) unreported: Option<u32>,
    /// The register of its first page fault (§5.7.2.1), where it has one.
    pub(crate) fault: Option<u32>,
    /// The register with the second word of units that are done, where it has one.
    pub(crate) more_units: Option<u32>,
    /// The bit that resets it alone, where the chip does that.
    pub(crate) reset: Option<u32>,
    /// Its user interrupt in the interrupt registers (G-12).
    pub(crate) user: u32,
    /// Its error interrupt in the interrupt registers (G-12).
    pub(crate) error: u32,
    /// Its errors that are reported: those that it has; 0 where it has no error registers.
    pub(crate) errors: u32,
    /// What its requests are made of.
    pub(crate) recipe: &'static Recipe,
    /// Whether it must be kept awake around a write of its tail (G-37).
    pub(crate) handshake: bool,
    /// Commands by which the streams that shaders write start at the beginning of their buffers, where it has such
    /// streams.
    pub(crate) streams: Option<Write>,
    /// Commands that give all state a legal value.
    pub(crate) golden: Option<&'static Golden>,
    /// The checker of users' batches, where it has one.
    pub(crate) checker: Option<&'static dyn Checker>,
    /// What its bits are called.
    pub(crate) names: &'static Names,
    /// What it can tell beside that.
    pub(crate) details: Option<&'static Details>,
}

/// What the core knows of an engine, which is reset together with all others.
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

/// [`RingEngine::unreported`] of a render engine. One change of status at most may be written to the status page
/// (VCS §1.1.6.1): its user interrupt is, as others have it (G-26); nobody reads it.
pub(crate) const RENDER_UNREPORTED: u32 = !1;
/// The same of the others: nothing is.
pub(crate) const NOTHING_REPORTED: u32 = !0;

/// [`RingChip::status_page`] of chips whose status pages are in the global table.
pub(crate) fn in_table(page: StatusPage) -> Result<u32, DeviceError> {
    page.in_table().map(|addr| addr.0)
}

/// Microseconds until an engine that was told to stop is idle, when nothing is wrong (G-25).
const IDLE_MICROS: u32 = 100_000;
/// The same before a reset, where it does not matter much (G-25).
const HUNG_MICROS: u32 = 1_000;
/// Microseconds of a synchronous flush (digest, peers' trace).
const FLUSH_MICROS: u32 = 2_000;
/// Microseconds until a ring register reads what was written (digest, peers' trace).
const RING_MICROS: u32 = 5_000;
/// The same of the head, which is written again and again meanwhile (UW36).
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

    /// Puts the head to an offset. A write of it may be lost after a reset, so it is written until it reads
    /// back (UW36).
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

    /// Stops it (G-25). Disabling a ring that is not empty is undefined (§5.3.4.2), so the head is
    /// put to the tail first. `micros` are for the engine, and for the head.
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
        // An engine may not say that it is idle although its ring was empty (UW17).
        if head.offset() != tail {
            stopped?;
        }
        emptied.and(zeroed)
    }

    /// Stops it before a reset: whether it was idle does not matter.
    pub(crate) fn halt_hung(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        match self.halt(hw, [HUNG_MICROS; 2], wait) {
            Err(DeviceError::Timeout(_)) => Ok(()),
            other => other,
        }
    }

    /// Drops what the command streamer has cached, while the ring is stopped (§5.3.11.2, VCS §4.7). It is
    /// known not to end now and then, and the upstream driver goes on then (UW35).
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
            .warn("a command streamer does not end its flush: it may have old translations");
        Ok(())
    }

    /// The interrupt of its watchdog; no bit where it has none.
    pub(crate) fn overdue(&self) -> u32 {
        self.recipe.watchdog.map_or(0, |w| w.interrupt)
    }

    /// Lets through what the engine has to report: completions and errors (§5.6, §5.7.1), and its watchdog.
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
        // A ring at address 0 does not work (G-46).
        if mem.ring.0 == 0 {
            return Err(DeviceError::Unsupported("a ring at address 0"));
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
            // Whoever had the engine before may have started it.
            let (counter, stopped) = watchdog.halted();
            hw.regs.write32(counter, stopped);
        }
        self.unmask(hw);

        self.write(hw, regs::RING_START, mem.ring.0);
        if let Some(slot) = mem.directory {
            (self.chip.load_directory)(hw, self.base, slot);
        }
        // Enabling does not reset the head (§5.3.4.2).
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
        // Still empty; and the read empties the write FIFO.
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

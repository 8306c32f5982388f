// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What real machines do and a kind model spares its driver: what firmware or a
//! kernel before this one has left, and what takes effect late. Each habit can be chosen for itself.
//!
//! None of it stands in the documents. Each is what the upstream driver takes care of, and how
//! ([`Real`]). What a chip does by accident is an injected fault: an idle bit that stays clear
//! (`stuck-idle`), a head that does not take what is written (`deaf-head`), a sync flush whose bit stays
//! (`stuck-flush`).

use crate::device::PowerOn;
use crate::pci;
use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::lint::Rule;
use crate::ring::regs::{reg, ring};
use std::collections::HashMap;

crate::habits! {
    /// Habits of real machines, all off in a kind one.
    pub struct Real {
        /// Firmware has left a picture on the screen: pipe and plane A are on, and entries of the global
        /// table lead to stolen memory. Upstream keeps these entries until it has a picture of its own.
        lit,
        /// A kernel before this one has left the render ring running. Upstream resets the GPU before it
        /// allows DMA.
        running,
        /// Firmware has set bits in registers of which a driver wants others. Upstream reads before it
        /// writes.
        bits,
        /// Firmware has switched render standby on. Upstream switches it off at once, and on again when
        /// it has set it up.
        rc6,
        /// Interrupts of the display and of power management are pending and enabled. Upstream masks,
        /// disables and clears all blocks before it asks for an interrupt.
        pending,
        /// The acknowledge of forcewake stays up for 20 us after the release, while the well falls asleep.
        /// Upstream waits for it to go before it asks again.
        late_wake,
        /// The acknowledge of forcewake comes late: after 20 ms the first time, and at random later. Upstream waits 50 ms.
        late_ack,
        /// GT_THREAD_STATUS says for 6 ms that threads have not woken, the first time after a wake and at random later.
        /// Upstream waits 5 ms and goes on.
        late_threads,
        /// GTFIFOCTL has no free entries for 12 ms, the first time that it is read and at random, for a shorter time,
        /// later. Upstream waits 10 ms and goes on.
        full_fifo,
        /// What GFX_FLSH_CNTL throws away is gone with the next read of a register, for engines and for
        /// the aperture, which keeps translations too. Upstream reads the register back.
        late_flush,
        /// GDRST keeps its bits for some reads, and the reset is done with the last. Upstream polls it.
        late_reset,
        /// HEAD is not cleared when START is written, but shows START, on Gen4. Upstream writes HEAD after
        /// START, and again until it reads zero.
        start_in_head,
        /// A reset of the whole device clears PGTBL_CTL of a 965 altogether, not its enable bit alone. Upstream keeps
        /// base and size of the GGTT from the first probe on, and writes them when it enables the GGTT again.
        lost_base,
        /// CCID of a Gen4 has the context of a driver before this one, and says that it is valid: "the initial values of
        /// the CCIDs are UNDEFINED" (G45 PRM V1b 5.8.1.1), and 5.9 lists none. No reset clears it until CCID is written.
        /// Upstream resets the GPU first, and relies on it.
        old_context,
        /// What streamers of G45 and GM45 read ahead goes wrong where it passes from snooped pages to unsnooped ones, or
        /// back. Upstream keeps a page between them.
        reads_across,
    }
}

/// RC_CONTROL with standby on: hardware control, evaluation mode, RC6 (what upstream writes as well).
const STANDBY: u32 = 0x8804_0000;
/// DEIER of a machine in use, but for the master bit (SNB387, a real machine's error record).
const DISPLAY_ENABLED: u32 = 0x02bc_8585;
/// What is pending of it: the other chip's events and a vertical blank of pipe A.
const DISPLAY_PENDING: u32 = 0x0020_0080;
/// Power management's events: thresholds passed upwards and downwards, down timeout.
const PM_PENDING: u32 = 0x70;
/// Number of messages for one source that is not cleared that makes a storm.
const STORM: u32 = 100;
/// CCID of a driver before: a graphics address (bit 8) that no picture covers, with the extended part (bits 3 and 2).
const OLD_CONTEXT: u32 = 0x0038_d10d;
/// How long an acknowledge stays up, and how long the well then takes to wake again.
const WELL_US: u64 = 20;
/// Reads of GDRST until a late reset is done, and microseconds without any.
const RESET_READS: u32 = 3;
const RESET_US: u64 = 50;

/// State of what was left, and of what is late.
#[derive(Default)]
pub(crate) struct Left {
    /// A driver has written a register.
    pub met: bool,
    /// Firmware's bits are in force.
    bits: bool,
    /// The render ring runs as it was found.
    pub ring: bool,
    /// CCID is as it was found, and valid.
    pub ccid: bool,
    /// Standby is on as it was found.
    standby: bool,
    /// Work has been given since.
    worked: bool,
    /// Global translations go with the next register read.
    flush_due: bool,
    /// What the aperture has translated.
    aperture: HashMap<u32, u32>,
    /// Reads of GDRST that are left.
    reset_reads: u32,
    /// Sources of the last message that were not cleared since: GT, power management, display.
    uncleared: [u32; 3],
    storm: u32,
}

impl Core {
    /// Leaves the state after a reset of the whole device, besides the registers' own values.
    pub fn leave_behind(&mut self, cause: PowerOn) {
        let met = self.left.met && cause != PowerOn::Cold;
        self.left = Left {
            met,
            ..Left::default()
        };
        self.screen = Default::default();
        if cause == PowerOn::Function {
            return;
        }
        let real = self.cfg.real;
        if real.bits {
            self.left.bits = true;
            self.firmware_bits();
        }
        if real.rc6 && self.cfg.chip.forcewake.needed() {
            self.left.standby = true;
            self.set(reg::RC_CONTROL, STANDBY);
            // Evaluation interval, idle hysteresis and threshold, as upstream sets them.
            self.set(0xa0a8, 125_000);
            self.set(0xa0ac, 25);
            self.set(0xa0b8, 50_000);
            self.set(reg::PMINTRMSK, 0);
        }
        if real.pending && self.cfg.chip.irq.only {
            (self.cfg.chip.hooks.pending)(self);
        } else if real.pending {
            self.set(reg::DEIMR, !DISPLAY_ENABLED);
            // A chip may have its master bit on from the start.
            self.set(reg::DEIER, self.get(reg::DEIER) | DISPLAY_ENABLED);
            self.set(reg::DEIIR, DISPLAY_PENDING);
            self.set(reg::PMIMR, !PM_PENDING);
            self.set(reg::PMIER, PM_PENDING);
            self.set(reg::PMIIR, PM_PENDING);
        }
        if real.old_context && self.cfg.chip.gen4.is_some() {
            self.left.ccid = true;
            self.set_ring(EngineId::Rcs, ring::CCID, OLD_CONTEXT);
        }
        if real.lit && !met {
            self.light();
        }
        if real.running && !met {
            // A ring of 128 KB between two commands (SNB387, a real machine's error record).
            self.left.ring = true;
            for (offset, value) in [
                (ring::START, 0x0012_d000),
                (ring::HEAD, 0x0620_58cc),
                (ring::TAIL, 0x0000_5bf0),
                (ring::CTL, 0x0001_f001),
            ] {
                self.set_ring(EngineId::Rcs, offset, value);
            }
        }
    }

    /// Firmware's bits, after whatever has set registers to their reset values.
    pub fn firmware_bits(&mut self) {
        if self.left.bits {
            for (offset, bits, _) in self.cfg.chip.firmware_bits {
                self.set(*offset, self.get(*offset) | bits);
            }
        }
    }

    /// True if a display register keeps what is written, for the bits that firmware has set there.
    pub fn keeps_bits(&self, offset: u32) -> bool {
        self.left.bits
            && self
                .cfg
                .chip
                .firmware_bits
                .iter()
                .any(|row| row.0 == offset)
    }

    /// The CPU has written a register in which firmware has set bits.
    pub fn watch_bits(&mut self, offset: u32, old: u32, new: u32) {
        if !self.left.bits {
            return;
        }
        if let Some((_, bits, _)) = self
            .cfg
            .chip
            .firmware_bits
            .iter()
            .find(|row| row.0 == offset)
        {
            if old & bits & !new != 0 {
                self.lint(Rule::BitsLost, || {
                    format!("{offset:#07x} {old:#x} -> {new:#x}")
                });
            }
        }
    }

    /// True while the guest allows DMA.
    pub fn masters(&self) -> bool {
        self.pci.word(pci::COMMAND) & pci::COMMAND_MASTER != 0
    }

    /// The PCI command register may have changed; `before` says whether DMA was allowed.
    pub fn watch_master(&mut self, before: bool) {
        match (before, self.masters()) {
            // A reset of 965 takes the display along: upstream does without it, and so may a driver.
            (false, true) if self.left.ring && self.cfg.chip.gen4.is_none_or(|g| g.g4x) => {
                self.lint(Rule::DmaBeforeReset, String::new)
            }
            (true, false) => self.look_at_screen_for_good(),
            _ => {}
        }
    }

    /// True if an engine's ring was found running.
    pub fn found_running(&self, e: EngineId) -> bool {
        self.left.ring && self.row(e).renders
    }

    /// The CPU has written RC_CONTROL: standby is the driver's from now on.
    pub fn standby_taken(&mut self) {
        self.left.standby = false;
    }

    /// The CPU has given work to an engine.
    pub fn watch_work(&mut self) {
        self.left.worked = true;
        if !self.gt_held() {
            self.watch_standby();
        }
    }

    /// The GT may sleep: with standby as it was found, what engines have been given may be lost.
    pub fn watch_standby(&mut self) {
        if self.left.standby && self.left.worked {
            self.left.standby = false;
            self.lint(Rule::StandbyLeft, String::new);
        }
    }

    /// Forcewake is released: now, or in a while.
    pub fn release_well(&mut self) {
        self.watch_standby();
        if self.cfg.real.late_wake && self.gt.awake {
            self.later.sleep = Some(self.in_us(WELL_US));
        } else {
            self.gt.awake = false;
        }
    }

    /// The well has fallen asleep. If it was asked for meanwhile, it wakes now.
    pub fn fall_asleep(&mut self, at: u64) {
        self.gt.awake = false;
        if self.gt.asked != 0 {
            self.later.wake = Some(at + WELL_US * 1000);
        }
    }

    /// GFX_FLSH_CNTL is written.
    pub fn flush_written(&mut self) {
        if self.cfg.real.late_flush {
            self.left.flush_due = true;
        } else {
            self.flush_global_tlbs();
        }
    }

    /// A register is read: what was flushed is gone.
    pub fn flush_arrives(&mut self) {
        if std::mem::take(&mut self.left.flush_due) {
            self.left.aperture.clear();
            self.flush_global_tlbs();
        }
    }

    /// The entry that the aperture uses for a page.
    pub fn aperture_entry(&mut self, page: u32) -> u32 {
        // An entry that counts as soon as it is written is never late.
        if !self.cfg.real.late_flush || !self.cfg.chip.ways.stream_tlb {
            return self.cx.gtt.get(page);
        }
        let gtt = &self.cx.gtt;
        let cached = self.left.aperture.entry(page);
        *cached.or_insert_with(|| gtt.get(page))
    }

    /// GDRST is written with these bits: true if that takes its time.
    pub fn reset_is_late(&mut self, mask: u32) -> bool {
        if !self.cfg.real.late_reset {
            return false;
        }
        let mask = mask | self.get(reg::GDRST);
        self.set(reg::GDRST, mask);
        self.later.reset = Some((self.in_us(RESET_US), mask));
        self.left.reset_reads = RESET_READS;
        true
    }

    /// GDRST as it reads.
    pub fn gdrst_read(&mut self) -> u32 {
        let value = self.get(reg::GDRST);
        if self.left.reset_reads > 0 {
            self.left.reset_reads -= 1;
            if self.left.reset_reads == 0 {
                if let Some((_, mask)) = self.later.reset.take() {
                    self.reset_now(mask);
                }
            }
        }
        value
    }

    /// True while an engine is about to be reset.
    pub fn reset_coming(&self, e: EngineId) -> bool {
        self.left.reset_reads > 0
            && self
                .later
                .reset
                .is_some_and(|r| r.1 & (1 | self.row(e).reset_bit) != 0)
    }

    /// A message is about to be sent for these sources: GT, power management, display.
    pub fn watch_message(&mut self, pending: [u32; 3]) {
        if !self.cfg.real.pending {
            return;
        }
        let again = pending
            .iter()
            .zip(self.left.uncleared)
            .any(|(now, before)| now & before != 0);
        self.left.storm = if again { self.left.storm + 1 } else { 0 };
        self.left.uncleared = pending;
        if self.left.storm == STORM {
            self.lint(Rule::IrqStorm, || format!("{pending:x?}"));
        }
    }

    /// An identity register is written: the sources that are cleared.
    pub fn watch_clear(&mut self, offset: u32, ones: u32) {
        let block = match offset {
            _ if offset == self.cfg.chip.irq.identity => 0,
            reg::PMIIR => 1,
            reg::DEIIR => 2,
            _ => return,
        };
        self.left.uncleared[block] &= !ones;
    }
}

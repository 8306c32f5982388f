// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts: from an engine's event through ISR, the ring's mask, GTIMR, GTIIR, GTIER and the
//! master enable to the line, and into the status page (SNB PRM V1P2 §5.4–5.6; VCS PRM 1.1.6;
//! digest G-11..G-14).

use crate::counters::Counter;
use crate::fault::Kind;
use crate::intel::tlb::AddressSpace;
use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::lint::Rule;
use crate::ring::regs::{reg, ring};

/// Ring-local interrupt bits (VCS PRM 1.1.6; digest G-12).
pub mod bit {
    /// MI_USER_INTERRUPT.
    pub const USER: u32 = 0;
    /// A sync flush is done; toggles.
    pub const SYNC_STATUS: u32 = 2;
    /// OR of EIR.
    pub const MASTER_ERROR: u32 = 3;
    /// PIPE_CONTROL or MI_FLUSH_DW with notify.
    pub const NOTIFY: u32 = 4;
    /// The watchdog's threshold is exceeded.
    pub const TIMEOUT: u32 = 6;
    /// A page fault in the per-process table.
    pub const PAGE_FAULT: u32 = 7;
}

/// Bit 31 of DEIER lets interrupts out.
const MASTER_ENABLE: u32 = 1 << 31;

impl Core {
    /// An event without duration: the status bit rises and falls.
    pub fn pulse(&mut self, e: EngineId, local: u32) {
        if matches!(local, bit::USER | bit::NOTIFY) {
            if self.inject(Kind::LoseIrq, e.name()).is_some() {
                return;
            }
            if let Some(us) = self.inject(Kind::LateIrq, e.name()) {
                let at = self.in_us(us);
                self.later.interrupts.push(at, (e, local));
                return;
            }
        }
        self.blink(e, local);
    }

    /// A status bit rises and falls.
    pub fn blink(&mut self, e: EngineId, local: u32) {
        self.set_status(e, local, true);
        self.set_status(e, local, false);
    }

    /// Changes a status bit to a level.
    pub fn set_status(&mut self, e: EngineId, local: u32, level: bool) {
        self.status_changes(e, self.row(e).irq.mask(local), level);
    }

    /// Changes bits of the status to a level.
    pub fn status_changes(&mut self, e: EngineId, mask: u32, level: bool) {
        let block = &self.cfg.chip.irq;
        let old = self.get(block.status);
        let new = if level { old | mask } else { old & !mask };
        if new == old {
            return;
        }
        self.set(block.status, new);
        let ring_masked = !block.only && self.ring(e, ring::IMR) & mask != 0;
        let edges = (old ^ new) & (new ^ block.falling);
        if !ring_masked {
            self.identify(edges & !self.get(block.mask));
        }
        // Any change, in either direction (§5.5).
        let home = self.error_home(e);
        let reported = self.ring(home, ring::HWSTAM) & mask != mask
            && !(self.row(e).reports_unmasked && ring_masked);
        if reported {
            self.write_status_image(home);
        }
    }

    /// Events reach the identity register.
    fn identify(&mut self, events: u32) {
        if events == 0 {
            return;
        }
        let block = &self.cfg.chip.irq;
        let before = self.get(block.identity);
        if block.queues {
            self.queued_events |= before & events;
        }
        self.set(block.identity, before | events);
        self.update_line();
    }

    /// Ones are written to an identity register that keeps a second event: it shows now.
    pub fn events_cleared(&mut self, ones: u32) {
        let block = &self.cfg.chip.irq;
        let back = self.queued_events & ones;
        self.queued_events &= !ones;
        self.set(block.identity, self.get(block.identity) | back);
        self.update_line();
    }

    /// A sync flush of an engine is done.
    pub fn flush_done(&mut self, e: EngineId) {
        if !self.cfg.chip.ways.status_levels {
            self.toggle_status(e, bit::SYNC_STATUS);
            return;
        }
        // Set by each; the driver clears it before the next if the status page is to show it.
        let mask = self.row(e).irq.mask(bit::SYNC_STATUS);
        if self.get(reg::GTISR) & mask != 0 && self.ring(e, ring::HWSTAM) & mask == 0 {
            self.lint(Rule::SyncStatusKept, || e.name().to_owned());
        }
        self.set_status(e, bit::SYNC_STATUS, true);
    }

    /// Ones are written to GTIIR: a sync status that is a level goes with its bit.
    pub fn status_cleared(&mut self, ones: u32) {
        if !self.cfg.chip.ways.status_levels {
            return;
        }
        for row in self.cfg.chip.engines {
            if ones & row.irq.mask(bit::SYNC_STATUS) != 0 {
                self.set_status(row.id, bit::SYNC_STATUS, false);
            }
        }
    }

    /// HWSTAM of an engine is written: one bit at most is let through (VCS PRM 1.1.6.1).
    pub fn watch_reported(&mut self, e: EngineId, value: u32) {
        if self.cfg.chip.ways.one_reported && (!value).count_ones() > 1 {
            self.lint(Rule::ManyReported, || format!("{} {value:#010x}", e.name()));
        }
    }

    /// Inverts a status bit.
    pub fn toggle_status(&mut self, e: EngineId, local: u32) {
        let level = self.get(self.cfg.chip.irq.status) & self.row(e).irq.mask(local) == 0;
        self.set_status(e, local, level);
    }

    /// Writes the status bits to dword 0 of the status page: an engine's own in ring-local positions, or all of
    /// the chip's where one block has them.
    fn write_status_image(&mut self, e: EngineId) {
        let row = self.row(e);
        let status = self.get(self.cfg.chip.irq.status);
        let image = if self.cfg.chip.irq.only {
            status
        } else {
            row.irq.local(status) & !row.unreported
        };
        self.put_in_status_page(e, 0, &image.to_le_bytes());
    }

    /// Writes into an engine's status page: by a graphics address, or by one of the bus.
    pub fn put_in_status_page(&mut self, e: EngineId, offset: u32, data: &[u8]) {
        let page = self.get(self.row(e).hws_pga);
        if self.cfg.chip.ways.status_page_bits & 0xff0 == 0 {
            self.store(e, AddressSpace::Ggtt, page + offset, data);
            return;
        }
        let base = u64::from(page & 0xffff_f000) | u64::from(page & 0xf0) << 28;
        self.count(Counter::Stores);
        // Memory that is not there swallows the write.
        let _ = self.cx.memory.write(base + u64::from(offset), data);
    }

    /// Power-management events: latched through PMIMR into PMIIR.
    pub fn pm_event(&mut self, bits: u32) {
        let seen = bits & !self.get(reg::PMIMR);
        self.set(reg::PMIIR, self.get(reg::PMIIR) | seen);
        self.update_line();
    }

    /// Display events: latched through DEIMR into DEIIR.
    pub fn display_event(&mut self, bits: u32) {
        if self.cfg.chip.irq.only {
            self.status_changes(EngineId::Rcs, bits, true);
            self.status_changes(EngineId::Rcs, bits, false);
            return;
        }
        let seen = bits & !self.get(reg::DEIMR);
        self.set(reg::DEIIR, self.get(reg::DEIIR) | seen);
        self.update_line();
    }

    /// Recomputes the interrupt line and tells the sink when it changed.
    pub fn update_line(&mut self) {
        let block = &self.cfg.chip.irq;
        let engines = self.get(block.identity) & self.get(block.enable);
        let (pending, open) = if block.only {
            ([engines, 0, 0], true)
        } else {
            let power = self.get(reg::PMIIR) & self.get(reg::PMIER);
            let display = self.get(reg::DEIIR) & self.get(reg::DEIER) & !MASTER_ENABLE;
            let master = self.get(reg::DEIER) & MASTER_ENABLE != 0;
            ([engines, power, display], master)
        };
        let line = open && pending != [0; 3] && !self.removed;
        if line == self.line {
            return;
        }
        self.line = line;
        if line {
            self.notes.line_rises();
            self.watch_message(pending);
            self.notes.send(&*self.irq);
        } else {
            self.irq.set_line(false);
        }
    }
}

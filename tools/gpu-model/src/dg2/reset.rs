// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Resets: of an engine, of the GT, of the card (digest §5.6; the document says of a reset only what
//! it does not restore).

use super::core::Core;
use super::engine::{Engine, EngineId, ENGINES};
use super::lint::Rule;
use super::regs::{self, reg, ring};
use crate::counters::Counter;
use crate::device::PowerOn;
use crate::fault::Kind;
use crate::intel::regfile::Domain;
use crate::trace::Event;

/// RESET_CTL bit 0: the driver asks the engine to get ready.
pub(crate) const REQUEST: u32 = 1 << 0;
/// Bit 1: it is ready.
pub(crate) const READY: u32 = 1 << 1;
/// Bit 2: the engine met an error that it cannot leave by itself; it is ready as it is.
pub(crate) const CAT_ERROR: u32 = 1 << 2;

/// Bits of GDRST.
mod domain {
    pub const FULL: u32 = 1 << 0;
    pub const GUC: u32 = 1 << 3;
    /// SFC units and the security controller, of which nothing is modelled.
    pub const SILENT: u32 = 0xf << 17 | 1 << 21;
}

impl Core {
    /// RESET_CTL of an engine is written: masked bits.
    pub fn reset_control(&mut self, e: EngineId, data: u32) {
        let mut value = self.ering(e, ring::RESET_CTL);
        let mask = data >> 16;
        if mask & CAT_ERROR != 0 {
            self.engine(e).excused |= value & CAT_ERROR != 0;
            value &= !CAT_ERROR;
        }
        if mask & REQUEST != 0 {
            value &= !(REQUEST | READY);
            if data & REQUEST != 0 {
                value |= REQUEST | READY;
            }
        }
        self.set_ering(e, ring::RESET_CTL, value);
    }

    /// GDRST is written. The bits show until the reset is done.
    pub fn graphics_reset(&mut self, data: u32) {
        let old = self.get(reg::GDRST);
        if data == 0 || old != 0 {
            return;
        }
        if self.notes.inject(Kind::StuckReset, "").is_some() {
            self.set(reg::GDRST, data);
            self.stuck_reset = true;
            return;
        }
        if let Some(us) = self.notes.inject(Kind::LateReset, "") {
            self.set(reg::GDRST, data);
            self.later.reset = Some((self.notes.in_us(us), data));
            return;
        }
        self.reset_now(data);
    }

    /// The next write tries a reset that hangs again.
    pub fn graphics_reset_again(&mut self, data: u32) {
        if std::mem::take(&mut self.stuck_reset) {
            self.set(reg::GDRST, 0);
        }
        self.graphics_reset(data);
    }

    /// Does what GDRST asks.
    pub fn reset_now(&mut self, data: u32) {
        self.set(reg::GDRST, 0);
        let full = data & domain::FULL != 0;
        let mut all = domain::FULL | domain::GUC | domain::SILENT;
        for e in self.present() {
            all |= e.reset_bit();
            if full || data & e.reset_bit() != 0 {
                let control = self.ering(e, ring::RESET_CTL);
                // A compute engine goes with the render engine, which speaks for it.
                let spoken_for = full || e.class() == super::engine::Class::Compute;
                let asked = spoken_for || self.engine(e).excused;
                if !asked && control & (READY | CAT_ERROR) == 0 {
                    self.notes.lint(Rule::ResetNotReady, || e.name().to_owned());
                }
                self.reset_engine(e);
                // Of the GT and other engines nothing changes: upstream's selftest live_engine_reset_workarounds.
                self.firmware_bits(|d| d == Domain::Engine(e as u8));
            }
        }
        if data & !all != 0 {
            self.notes
                .lint(Rule::Reserved, || format!("GDRST {data:#010x}"));
        }
        let compute = data & EngineId::Rcs.reset_bit() != 0 && self.cfg.real.lost_l3;
        if full || compute {
            self.l3_lost();
        }
        if data & (domain::FULL | domain::GUC) != 0 {
            // The microcontroller is held in reset from now on.
            self.set(reg::GUC_STATUS, 1);
        }
        if full {
            self.reset_registers(|d| d == Domain::Gt);
            self.left.unreset = false;
            self.firmware_bits(|_| true);
        }
        self.update_line();
    }

    /// Resets an engine: the running context is lost and not saved, the registers have their reset values. The
    /// submission queue stays (B9), and so does the request of RESET_CTL until it is taken back.
    fn reset_engine(&mut self, e: EngineId) {
        self.notes.count(Counter::Resets);
        self.notes.record(|| Event::Reset { what: e.name() });
        self.left.running &= e != EngineId::Rcs;
        let control = self.ering(e, ring::RESET_CTL) & REQUEST;
        self.reset_registers(|d| d == Domain::Engine(e as u8));
        self.set_ering(e, ring::RESET_CTL, control | control << 1);
        self.set_ering(e, ring::ID, e.instance() << 4 | e.class() as u32);
        let engine = self.engine(e);
        *engine = Engine {
            port: engine.port,
            excused: engine.excused,
            events: engine.events,
            ..Engine::new()
        };
    }

    /// Sets all registers of the domains that `which` selects to their reset values.
    pub fn reset_registers(&mut self, which: impl Fn(Domain) -> bool) {
        for d in regs::map().iter() {
            if which(d.domain) {
                self.values[(d.offset / 4) as usize] = d.reset;
            }
        }
    }

    /// Engines that this card has.
    pub fn present(&self) -> impl Iterator<Item = EngineId> {
        let mask = self.cfg.engines;
        ENGINES.into_iter().filter(move |e| mask & e.mask() != 0)
    }

    /// GU_CNTL is written: bit 31 resets the whole card, and GU_DEBUG says when it is done.
    pub fn card_reset(&mut self, data: u32) {
        if data & 1 << 31 != 0 {
            self.notes.count(Counter::Resets);
            self.notes.record(|| Event::Reset { what: "all" });
            let pci = self.pci.clone();
            self.power_on(PowerOn::Function);
            self.darken();
            self.pci = pci;
            self.bus_master_changed();
            self.set(reg::GU_DEBUG, 1 << 31);
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What real machines with a DG2 do and a kind model spares its driver: each habit can be chosen for
//! itself.
//!
//! None of it stands in the document. Each is what the upstream driver takes care of ([`Real`]). Where a
//! habit has more to it, it has a file: `foreign.rs`, `l3.rs`, `lit.rs`,
//! `workarounds.rs`.

use super::config::PM;
use super::core::Core;
use super::engine::EngineId;
use super::lint::Rule;
use super::regs::ring;
use crate::device::PowerOn;
use crate::pci::{self, PciConfig};

crate::habits! {
    /// Habits of real machines, all off in a kind one.
    pub struct Real {
        /// Firmware leaves interrupts on of what is not an engine, and events of it pending. Upstream masks
        /// and clears all of them before it lets any interrupt out.
        foreign,
        /// A well falls asleep 20 microseconds after its release, and its acknowledge shows until then. Who
        /// asks for it in between takes that for an answer. Upstream waits for the acknowledge to fall first.
        late_wake,
        /// Registers that are changed by reading them first hold bits that firmware has set.
        bits,
        /// The picture of the firmware is on: a plane reads local memory through the global table.
        lit,
        /// The kernel before has left an engine running. Upstream resets all before it lets the card reach
        /// memory.
        running,
        /// Workarounds are asked for at the first load of an engine, and of contexts at the first program.
        workarounds,
        /// A reset of the render and compute engines loses the L3's table of MOCS. Upstream writes it whenever it sets
        /// the render engine up.
        lost_l3,
    }
}

/// What a kernel before this one has left.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    /// The render engine runs a context of its.
    pub running: bool,
    /// Nothing has reset the GT since then.
    pub unreset: bool,
}

impl Core {
    /// At power-on: what firmware and a kernel before leave behind, besides what they must. Once a driver has reset the
    /// GT, nothing runs until the machine starts again.
    pub fn leave_behind(&mut self, cause: PowerOn) {
        let real = self.cfg.real;
        let running = match cause {
            PowerOn::Cold => real.running,
            PowerOn::Bus => real.running && self.left.unreset,
            PowerOn::Function => false,
        };
        self.left = Left {
            running,
            unreset: running,
        };
        if running {
            self.set_ering(EngineId::Rcs, ring::EXECLIST_STATUS, 1);
            self.set_ering(EngineId::Rcs, ring::CTL, 1);
        }
        self.leave_interrupts();
        self.leave_picture();
        self.firmware_bits(|_| true);
    }

    /// The power state is written. `before` is what it was. In D3 the platform may take the card's power, and with it
    /// what local memory holds: the upstream driver saves all of it before each suspend (`lmem_suspend()`).
    pub fn watch_power(&mut self, before: &PciConfig) {
        let sleeps = |pci: &PciConfig| pci.word(PM + 4) & 3 == 3;
        if sleeps(&self.pci) && !sleeps(before) {
            self.darken();
            let lmem = &self.mem.lmem;
            lmem.fill_with_garbage(!self.cfg.seed, lmem.size());
        }
    }

    /// The command register of the configuration space is written. `before` is what it was.
    pub fn watch_mastering(&mut self, before: u16) {
        let on = self.pci.word(pci::COMMAND) & !before & pci::COMMAND_MASTER != 0;
        if on && self.left.unreset {
            self.notes.lint(Rule::DmaBeforeReset, String::new);
        }
    }
}

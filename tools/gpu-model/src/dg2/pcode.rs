// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The mailbox of the power controller (digest §5.9).

use super::core::Core;
use super::lint::Rule;
use super::regs::reg;
use crate::fault::Kind;

/// Bit 31: set to run the command, cleared when it is done.
const READY: u32 = 1 << 31;
/// Status in the command's place: there is no such command.
const ILLEGAL: u32 = 1;

/// The answer to this is bit 0 set once the card has been initialised.
const INIT_STATUS: u32 = 0x7e;
/// Power limits, of which there are none: refused, without harm.
const POWER_SETUP: u32 = 0x7c;
/// The frequency that is efficient, which the upstream driver asks for: refused, frequencies are not
/// modelled.
const EFFICIENT_FREQUENCY: u32 = 0x1a;

impl Core {
    /// The mailbox is written.
    pub fn pcode(&mut self, data: u32) {
        if data & READY == 0 || self.get(reg::PCODE_MAILBOX) & READY != 0 {
            return;
        }
        let busy = self.notes.inject(Kind::StuckPcode, "").is_some();
        let slow = self.notes.inject(Kind::SlowPcode, "");
        if busy || slow.is_some() {
            self.set(reg::PCODE_MAILBOX, data);
        }
        match slow {
            _ if busy => {}
            Some(us) => self.later.pcode = Some((self.notes.in_us(us), data)),
            None => self.pcode_now(data),
        }
    }

    /// The command is done.
    pub fn pcode_now(&mut self, data: u32) {
        let (status, answer) = match data & 0xff {
            INIT_STATUS => (0, 1),
            POWER_SETUP | EFFICIENT_FREQUENCY => (ILLEGAL, 0),
            other => {
                self.notes
                    .lint(Rule::UnknownPcode, || format!("{other:#x}"));
                (ILLEGAL, 0)
            }
        };
        self.set(reg::PCODE_MAILBOX, status);
        self.set(reg::PCODE_DATA, answer);
        self.set(reg::PCODE_DATA1, 0);
    }
}

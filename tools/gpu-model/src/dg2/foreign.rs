// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts of sources that are no engines, as firmware leaves them: enabled, with events pending ([`Real::foreign`];
//! registers and bits from the digest, §5.8, and from what the upstream driver resets).
//!
//! Each is a level: it sets its bits of the tree until the source is masked, disabled or cleared, whatever is written
//! to the tree. A driver that unmasks interrupts meanwhile is interrupted without end.
//!
//! [`Real::foreign`]: super::real::Real::foreign

use super::core::Core;
use super::lint::Rule;

/// A source of the GT: its bit in GT_INTR_DW0, registers that enable and mask it, its event there, and the
/// instance that it has in an identity.
struct Gt {
    bit: u32,
    enable: u32,
    mask: u32,
    event: u32,
    instance: u32,
}

const GT: [Gt; 4] = [
    // The GuC has something to say.
    gt(25, 0x19_0038, 0x19_00e8, 1 << 31, 0),
    // Power management.
    gt(16, 0x19_003c, 0x19_00ec, 1 << 17, 1),
    // The crypto unit.
    gt(19, 0x19_0040, 0x19_00f0, 1 << 18, 4),
    // The GUnit.
    gt(28, 0x19_0044, 0x19_00f4, 1 << 16, 5),
];

const fn gt(bit: u32, enable: u32, mask: u32, event: u32, instance: u32) -> Gt {
    Gt {
        bit,
        enable,
        mask,
        event,
        instance,
    }
}

/// Class of these in an identity.
const OTHER: u32 = 4;

/// A set of IMR, IIR and IER, its bit in GFX_MSTR, and the event that firmware leaves.
const SETS: [(u32, u32, u32); 3] = [
    // The power controller.
    (0x4_44e0, 30, 1 << 24),
    // The graphics unit: a request of the firmware (GSE).
    (0x4_44f0, 29, 1 << 27),
    // The display's pipe A: a blank.
    (PIPE_A, 16, 1 << 0),
];
const PIPE_A: u32 = 0x4_4400;
/// Bit 31 lets the display's interrupts out; 16 is pipe A.
const DISPLAY_INT_CTL: u32 = 0x4_4200;
const ENABLE: u32 = 1 << 31;

/// So many messages while a source stays are a storm.
const STORM: u32 = 100;

/// What is pending, and how many messages it has cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Foreign {
    /// Bits of GT_INTR_DW0.
    gt: u32,
    messages: u32,
}

impl Core {
    /// At power-on. The display has events only if it is on.
    pub fn leave_interrupts(&mut self) {
        self.foreign = Foreign::default();
        if !self.cfg.real.foreign {
            return;
        }
        for source in &GT {
            self.foreign.gt |= 1 << source.bit;
            self.set(source.enable, source.event);
            self.set(source.mask, !source.event);
        }
        for (base, _, event) in SETS {
            if base != PIPE_A || self.cfg.real.lit {
                self.set(base + 4, !event);
                self.set(base + 8, event);
                self.set(base + 12, event);
            }
        }
        if self.cfg.real.lit {
            self.set(DISPLAY_INT_CTL, ENABLE);
        }
    }

    /// Events of a source of the GT that get out.
    fn foreign_event(&self, source: &Gt) -> u32 {
        if self.foreign.gt & 1 << source.bit == 0 {
            return 0;
        }
        source.event & self.get(source.enable) & !self.get(source.mask)
    }

    /// Levels: bits of GT_INTR_DW0, and of GFX_MSTR.
    fn foreign_levels(&self) -> (u32, u32) {
        let gt = GT
            .iter()
            .filter(|s| self.foreign_event(s) != 0)
            .fold(0, |m, s| m | 1 << s.bit);
        let mut master = u32::from(gt != 0);
        for (base, bit, _) in SETS {
            let out = base != PIPE_A || self.get(DISPLAY_INT_CTL) & ENABLE != 0;
            if out && self.get(base + 8) & self.get(base + 12) != 0 {
                master |= 1 << bit;
            }
        }
        (gt, master)
    }

    /// Passes the levels upwards.
    pub fn foreign_rises(&mut self) {
        if !self.cfg.real.foreign {
            return;
        }
        let (gt, master) = self.foreign_levels();
        // Upstream clears no bit of GT_INTR_DW before it lets interrupts out, and expects none of what it masked.
        let all = GT.iter().fold(0, |m, s| m | 1 << s.bit);
        self.tree.banks[0] = self.tree.banks[0] & !all | gt;
        if master == 0 {
            self.foreign.messages = 0;
            return;
        }
        self.tree.master |= master;
        self.tree.tile = true;
    }

    /// A message is sent: whether that never ends.
    pub fn foreign_message(&mut self) {
        let (gt, master) = self.foreign_levels();
        if !self.cfg.real.foreign || master == 0 {
            return;
        }
        self.foreign.messages += 1;
        if self.foreign.messages >= STORM {
            self.foreign.messages = 0;
            self.notes.lint(Rule::IrqStorm, || {
                format!("GFX_MSTR {master:#010x}, GT_INTR_DW0 {gt:#010x}")
            });
        }
    }

    /// A register of a source that is not the GT's is written.
    pub fn foreign_written(&mut self, offset: u32) {
        if matches!(offset, 0x4_4200..=0x4_4fff) {
            self.update_line();
        }
    }

    /// A selector names a source that is no engine: its identity, and it is pending no more.
    pub fn foreign_selected(&mut self, bank: usize, data: u32) -> Option<u32> {
        let source = GT.iter().find(|s| bank == 0 && data == 1 << s.bit)?;
        let event = self.foreign_event(source);
        if event == 0 {
            return None;
        }
        self.foreign.gt &= !data;
        Some(source.instance << 20 | OTHER << 16 | event >> 16)
    }

    /// DISPLAY_INT_CTL shows what is pending below.
    pub fn display_pending(&self) -> u32 {
        let pipe = self.get(PIPE_A + 8) & self.get(PIPE_A + 12) != 0;
        self.get(DISPLAY_INT_CTL) & ENABLE | u32::from(pipe) << 16
    }
}

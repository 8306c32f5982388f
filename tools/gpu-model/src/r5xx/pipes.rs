// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Which pipes a register write reaches: SU_REG_DEST, and FG_ZBREG_DEST on chips with Z pipes.
//!
//! The guide names neither. AMD's page of ZB_ZPASS_ADDR tells that the write goes to one pipe after the
//! other is taken out, and that "both pipes should be enabled for further register writes"; users of the
//! chip write a counter's address once for each pipe (digest of 3D, §12.7). So every unit behind set-up
//! (SC, RS, US, TX, FG, ZB, RB3D) is there once for each pipe, with registers of its own, and every pipe
//! draws its part of the screen by what *it* has. A write that is meant for no pipe is lost.
//!
//! Pipe 0's registers are those of the register file. Of another pipe, only what differs is kept: nothing
//! as long as all writes reach all.

use super::core::Core;
use super::lint::Rule;
use super::regs::{self, reg};
use std::collections::BTreeMap;

/// Copies that a unit can have.
pub(crate) const MOST: usize = 4;

/// What the pipes have that pipe 0 does not.
#[derive(Default)]
pub(crate) struct Pipes {
    differs: [BTreeMap<u32, u32>; MOST - 1],
    /// The pipe by which [`Core::seen`] looks.
    view: usize,
}

/// What units a register write of theirs is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Before the pipes: there is one of it.
    Front,
    /// In each pipe.
    Raster,
    /// In each Z pipe, where a chip has such.
    Depth,
}

fn side(offset: u32) -> Side {
    match offset {
        reg::ZB_CNTL..=0x4ffc => Side::Depth,
        // RS, TX and the shader's memories, whose ports are among GA's; then all behind SU_REG_DEST.
        0x4074..=0x40b0
        | reg::TX_INVALTAGS..=0x4110
        | reg::GA_US_VECTOR_INDEX
        | reg::GA_US_VECTOR_DATA
        | 0x42cc..=0x4efc => Side::Raster,
        _ => Side::Front,
    }
}

/// The copies of a unit that a write reaches, a bit each, and those that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    pub mask: u8,
    pub all: u8,
}

impl Reach {
    /// Copies that it does not reach.
    pub fn missed(self) -> u8 {
        self.all & !self.mask
    }
}

impl Core {
    /// Which copies of its unit a register write reaches.
    pub fn reach(&self, offset: u32) -> Reach {
        let chip = self.cfg.chip;
        let pipes = ((1u32 << chip.pipes()) - 1) as u8;
        let selected = self.get(reg::SU_REG_DEST) as u8 & pipes;
        match side(offset) {
            Side::Front => Reach { mask: 1, all: 1 },
            Side::Depth if chip.z_pipes != 0 => {
                let all = ((1u32 << chip.z_pipes) - 1) as u8;
                // The way to the Z pipes leads through the first of the others.
                let open = selected & 1 != 0;
                let mask = if open {
                    self.get(reg::FG_ZBREG_DEST) as u8 & all
                } else {
                    0
                };
                Reach { mask, all }
            }
            Side::Raster | Side::Depth => Reach {
                mask: selected,
                all: pipes,
            },
        }
    }

    /// Stores what a write gives a register, in each pipe that it reaches.
    pub fn store(&mut self, offset: u32, data: u32, reach: Reach) {
        let old = self.get(offset);
        let new = regs::merge(offset, old, data);
        let base = if reach.mask & 1 != 0 { new } else { old };
        let alike = self.pipes.differs.iter().all(BTreeMap::is_empty);
        self.set(offset, base);
        if alike && reach.missed() == 0 {
            return;
        }
        for (n, differs) in (1..MOST).zip(&mut self.pipes.differs) {
            if reach.all >> n & 1 == 0 {
                continue;
            }
            let before = differs.get(&offset).copied().unwrap_or(old);
            let after = if reach.mask >> n & 1 != 0 {
                regs::merge(offset, before, data)
            } else {
                before
            };
            if after == base {
                differs.remove(&offset);
            } else {
                differs.insert(offset, after);
            }
        }
    }

    /// A register as the pipe has it by which the chip draws just now ([`Self::each_pipe`]).
    pub fn seen(&self, offset: u32) -> u32 {
        self.pipe_value(self.pipes.view, offset)
    }

    /// A register as one pipe has it.
    pub fn pipe_value(&self, pipe: usize, offset: u32) -> u32 {
        let differs = pipe.checked_sub(1).and_then(|n| self.pipes.differs.get(n));
        match differs.and_then(|d| d.get(&offset)) {
            Some(value) => *value,
            None => self.get(offset),
        }
    }

    /// Does something once for each pipe that can make a difference.
    pub fn each_pipe(&mut self, mut what: impl FnMut(&mut Core)) {
        what(self);
        for n in 1..MOST {
            if !self.pipes.differs[n - 1].is_empty() {
                self.pipes.view = n;
                what(self);
            }
        }
        self.pipes.view = 0;
    }

    /// The pipe by which the chip draws just now, and those that have what it has, a bit each.
    pub fn alike(&self) -> u8 {
        match self.pipes.view {
            0 => (1..MOST).fold(1, |mask, n| mask | u8::from(self.is_alike(n)) << n),
            n => 1 << n,
        }
    }

    /// True if a pipe has what pipe 0 has.
    pub fn is_alike(&self, pipe: usize) -> bool {
        let differs = pipe.checked_sub(1).and_then(|n| self.pipes.differs.get(n));
        differs.is_none_or(BTreeMap::is_empty)
    }

    /// Does something once as each of some pipes, a bit each, that can make a difference.
    pub fn as_pipes(&mut self, pipes: u8, mut what: impl FnMut(&mut Core)) {
        let mut first = false;
        for n in (0..MOST).filter(|n| pipes >> n & 1 != 0) {
            if self.is_alike(n) && std::mem::replace(&mut first, true) {
                continue;
            }
            self.pipes.view = n;
            what(self);
        }
        self.pipes.view = 0;
    }

    /// A flush, an invalidation or a wipe is not for all pipes. A program's is its own affair, unless
    /// nothing makes good for it before the fence.
    pub fn watch_reach(&mut self, offset: u32, reach: Reach) {
        if reach.missed() != 0 && !self.notes.client {
            self.notes.lint(Rule::FlushMissed, || {
                format!(
                    "{} reaches {:#x} of {:#x}",
                    regs::name(offset).unwrap_or("?"),
                    reach.mask,
                    reach.all
                )
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set-up and what is before it has one copy; SC (43A4) to RB3D (4EFC) one for each pipe, so have RS_IP,
    /// TX_INVALTAGS and TX_ENABLE, and the ports of the shader's memories; ZB begins at 4F00.
    #[test]
    fn who_is_behind_set_up() {
        for offset in [
            0x4018, 0x401c, 0x4020, 0x4274, 0x42a0, 0x42c4, 0x42c8, 0x2084, 0x142c,
        ] {
            assert_eq!(side(offset), Side::Front, "{offset:#x}");
        }
        for offset in [
            0x4074, 0x4100, 0x4104, 0x4250, 0x4254, 0x4300, 0x43a4, 0x43e4, 0x4540, 0x46a4, 0x4be8,
            0x4e00, 0x4e28, 0x4e4c, 0x4e88,
        ] {
            assert_eq!(side(offset), Side::Raster, "{offset:#x}");
        }
        for offset in [0x4f00, 0x4f18, 0x4f20, 0x4f5c, 0x4fd4] {
            assert_eq!(side(offset), Side::Depth, "{offset:#x}");
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Forcewake: which well a register is in, and who keeps it awake. The document says nothing of it;
//! requests, acknowledges, ranges and shadowed registers are from the digest (§3.3 rows 11-13, §5.5).

use super::core::Core;
use super::lint::Rule;
use crate::counters::Counter;
use crate::fault::Kind;

/// A power well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Well {
    Gt = 0,
    Render = 1,
    Vdbox0 = 2,
    Vdbox2 = 3,
    Vebox0 = 4,
    Vebox1 = 5,
}

/// Number of wells.
pub const WELLS: usize = 6;

/// Request and acknowledge of each well.
pub const REGISTERS: [(u32, u32); WELLS] = [
    (0xa188, 0x13_0044),
    (0xa278, 0x0d84),
    (0xa540, 0x0d50),
    (0xa548, 0x0d58),
    (0xa560, 0x0d70),
    (0xa564, 0x0d74),
];

/// First offset of each range, and its well. What is not listed is always on.
const RANGES: &[(u32, Option<Well>)] = &[
    (0x0_0000, None),
    (0x0_2000, Some(Well::Render)),
    (0x0_2700, Some(Well::Gt)),
    (0x0_4b00, None),
    (0x0_5200, Some(Well::Render)),
    (0x0_8000, Some(Well::Gt)),
    (0x0_8140, Some(Well::Render)),
    (0x0_8160, None),
    (0x0_8200, Some(Well::Gt)),
    (0x0_8300, Some(Well::Render)),
    (0x0_8500, Some(Well::Gt)),
    (0x0_8d00, Some(Well::Render)),
    (0x0_9000, Some(Well::Gt)),
    (0x0_94d0, Some(Well::Render)),
    (0x0_9560, None),
    (0x0_9680, Some(Well::Render)),
    (0x0_9800, Some(Well::Gt)),
    (0x0_d000, None),
    (0x0_d800, Some(Well::Render)),
    (0x0_d880, Some(Well::Gt)),
    (0x0_dc00, Some(Well::Render)),
    (0x0_dd00, Some(Well::Gt)),
    (0x0_de80, Some(Well::Render)),
    (0x0_e900, Some(Well::Gt)),
    (0x1_0000, None),
    (0x1_3000, Some(Well::Vdbox0)),
    (0x1_3200, Some(Well::Vdbox2)),
    (0x1_4800, Some(Well::Render)),
    (0x1_5000, Some(Well::Gt)),
    (0x1_6e00, Some(Well::Render)),
    (0x2_2000, Some(Well::Gt)),
    (0x2_4000, None),
    (0x2_4180, Some(Well::Gt)),
    (0x2_4a00, Some(Well::Render)),
    (0x2_5200, Some(Well::Gt)),
    (0x2_6000, Some(Well::Render)),
    (0x3_0000, Some(Well::Gt)),
    (0x4_0000, None),
    (0x1c_0000, Some(Well::Vdbox0)),
    (0x1c_4000, None),
    (0x1c_8000, Some(Well::Vebox0)),
    (0x1c_c000, Some(Well::Vdbox0)),
    (0x1c_d000, Some(Well::Vdbox2)),
    (0x1c_e000, None),
    (0x1d_0000, Some(Well::Vdbox2)),
    (0x1d_4000, None),
    (0x1d_8000, Some(Well::Vebox1)),
    (0x1e_0000, None),
];

/// Engines whose tail, submission queue and control wake their well by being written. The compute
/// engines are not among them.
const SHADOWED: [u32; 6] = [
    0x00_2000, 0x02_2000, 0x1c_0000, 0x1c_8000, 0x1d_0000, 0x1d_8000,
];

/// The well that a register is in; `None` if it is always on.
pub fn well(offset: u32) -> Option<Well> {
    let after = RANGES.partition_point(|r| r.0 <= offset);
    RANGES.get(after.checked_sub(1)?).and_then(|r| r.1)
}

/// True if a write wakes the well by itself.
pub fn shadowed(offset: u32) -> bool {
    match offset & 0xfff {
        0x030 | 0x510..=0x550 => SHADOWED.contains(&(offset & !0xfff)),
        _ => matches!(offset, 0xa008 | 0xa00c | 0xa188 | 0xa278 | 0xa540..=0xa56c),
    }
}

/// Which wells are asked to be awake, by the sixteen requests of each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wells {
    request: [u32; WELLS],
    acknowledge: [u32; WELLS],
    /// When an acknowledge that a fault has put off comes.
    later: [Option<u64>; WELLS],
    /// When a well that was released falls asleep, and its acknowledge with it.
    falls: [Option<u64>; WELLS],
}

/// Nanoseconds until the well falls asleep, and until it is awake again after a request meanwhile.
const FALL: u64 = 20_000;

impl Wells {
    /// Returns whether a request keeps the well awake.
    pub fn awake(&self, well: Well) -> bool {
        self.acknowledge[well as usize] != 0
    }

    /// Returns whether no request keeps any well awake.
    pub fn all_asleep(&self) -> bool {
        self.acknowledge.iter().all(|by| *by == 0)
    }

    /// Returns whether an acknowledgement is pending.
    pub fn any_later(&self) -> bool {
        self.later.iter().chain(&self.falls).any(Option::is_some)
    }

    /// The next time at which an acknowledge comes.
    pub fn settle(&mut self, now: u64) {
        for i in 0..WELLS {
            if let Some(at) = self.falls[i].take_if(|at| *at <= now) {
                self.acknowledge[i] = 0;
                if self.request[i] != 0 {
                    self.later[i] = Some(at + FALL);
                }
            }
            if self.later[i].take_if(|at| *at <= now).is_some() {
                self.acknowledge[i] = self.request[i];
            }
        }
    }
}

impl Core {
    /// A request or acknowledge register is read; `None` if it is neither.
    pub fn forcewake_read(&mut self, offset: u32) -> Option<u32> {
        let at = |r: &(u32, u32)| r.0 == offset || r.1 == offset;
        let i = REGISTERS.iter().position(at)?;
        Some(if REGISTERS[i].0 == offset {
            self.wells.request[i]
        } else {
            self.wells.acknowledge[i]
        })
    }

    /// A request register is written: masked bits, one for each who asks.
    pub fn forcewake_write(&mut self, offset: u32, data: u32) -> bool {
        let Some(i) = REGISTERS.iter().position(|r| r.0 == offset) else {
            return false;
        };
        let mask = data >> 16;
        let old = self.wells.request[i];
        let new = (old & !mask) | (data & mask);
        self.wells.request[i] = new;
        self.wells.later[i] = None;
        if self.cfg.real.late_wake {
            if self.wells.falls[i].is_some() {
                // Too late: what still shows is the acknowledge of before.
                return true;
            }
            if new == 0 && old != 0 {
                self.wells.falls[i] = Some(self.notes.clock.now() + FALL);
                return true;
            }
        }
        if new & !old != 0 {
            if self.notes.inject(Kind::StuckForcewake, "").is_some() {
                return true;
            }
            if let Some(us) = self.notes.inject(Kind::SlowWake, "") {
                self.wells.later[i] = Some(self.notes.in_us(us));
                return true;
            }
        }
        self.wells.acknowledge[i] = new;
        true
    }

    /// Returns whether an access of the CPU reaches its register: the well is awake, or the write wakes it.
    pub fn reachable(&mut self, offset: u32, write: bool) -> bool {
        let Some(well) = well(offset) else {
            return true;
        };
        if self.wells.awake(well) || (write && shadowed(offset)) {
            return true;
        }
        if REGISTERS.iter().any(|r| r.0 == offset || r.1 == offset) {
            return true;
        }
        let rule = if write {
            Rule::AsleepWrite
        } else {
            Rule::AsleepRead
        };
        self.notes.lint(rule, || format!("{offset:#08x} {well:?}"));
        write && self.cfg.asleep_fifo
    }

    /// Counts an access to the forcewake registers.
    pub fn count_forcewake(&mut self, offset: u32) {
        if REGISTERS.iter().any(|r| r.0 == offset || r.1 == offset) {
            self.notes.count(Counter::ForcewakeAccesses);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_digest_5_5() {
        for (offset, expected) in [
            (0x0_2000, Some(Well::Render)),
            (0x0_26ff, Some(Well::Render)),
            (0x1_a244, Some(Well::Render)),
            (0x2_2244, Some(Well::Gt)),
            (0x2_6244, Some(Well::Render)),
            (0x1c_0000, Some(Well::Vdbox0)),
            (0x1d_0000, Some(Well::Vdbox2)),
            (0x1c_8000, Some(Well::Vebox0)),
            (0x1d_8000, Some(Well::Vebox1)),
            (0x0_0d84, None),
            (0x10_1010, None),
            (0x19_0008, None),
        ] {
            assert_eq!(well(offset), expected, "{offset:#x}");
        }
    }

    #[test]
    fn compute_engines_are_not_shadowed() {
        assert!(shadowed(0x2_2550) && shadowed(0x0_2510) && shadowed(0x1d_8030));
        assert!(!shadowed(0x1_a550) && !shadowed(0x2_6510) && !shadowed(0x2_2554));
    }
}

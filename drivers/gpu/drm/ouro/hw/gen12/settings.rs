// SPDX-License-Identifier: GPL-2.0
//! What registers are set to each time that an engine starts: after power-on, a reset, a sleep. No image
//! holds them (D19, R4), or a first image is made of what they hold (D6).
//!
//! One list for all engines, and behind it the workarounds ([`super::workarounds`]). What is set is read back
//! ([`lost`]): a register that does not keep it is told of.

use super::{
    engine::ListEngine,
    faults, fuses, gt_regs as gt_reg, mocs,
    regs::{self, masked, CmdCctl},
    workarounds,
};
use crate::{
    io::Hw,
    types::EngineClass::{self, Compute, Copy, Render, Video, VideoEnhance},
};

/// Where a register is.
#[derive(Clone, Copy)]
enum SettingAt {
    /// At this offset from the engine's base: so many, one dword after the other.
    Engine(u32, u32),
    /// At this offset, for all engines.
    Card(u32),
}

/// What it holds.
#[derive(Clone, Copy)]
enum Held {
    /// A dword.
    Dword(u32),
    /// Of a masked register, bits that are set, and bits that are clear.
    Bits(u16, u16),
}

/// What it is to hold.
#[derive(Clone, Copy)]
enum Value {
    /// This.
    Fixed(Held),
    /// The offset of one of the registers that are open; where there are no more, of this one of the engine.
    Open(u32),
    /// Of a masked register, the slices of compute, of these bits.
    Slices(u16),
}

const fn bits(set: u16, clear: u16) -> Value {
    Value::Fixed(Held::Bits(set, clear))
}

/// A register that is set.
struct Setting {
    name: &'static str,
    on: &'static [EngineClass],
    at: SettingAt,
    to: Value,
}

const ALL: &[EngineClass] = &[Render, Copy, Compute, Video, VideoEnhance];

/// The parser's own accesses are not cached (digest §5.4).
const CACHING: (u16, u16) = {
    let uncached = mocs::UNCACHED << 1;
    let cctl = CmdCctl::new().with_read(uncached).with_write(uncached);
    let all = CmdCctl::new().with_read(0x7f).with_write(0x7f);
    (cctl.into_bits(), all.into_bits() & !cctl.into_bits())
};

/// All of them, in the order in which they are written.
static SETTINGS: [Setting; 5] = [
    Setting {
        name: "CMD_CCTL",
        on: ALL,
        at: SettingAt::Engine(regs::CMD_CCTL, 1),
        to: bits(CACHING.0, CACHING.1),
    },
    // P1: zero would start it. Its interrupt is masked, whatever a batch makes of it.
    Setting {
        name: "PR_CTR_CTL",
        on: ALL,
        at: SettingAt::Engine(regs::WATCHDOG_CONTROL, 1),
        to: Value::Fixed(Held::Dword(regs::WATCHDOG_STOP)),
    },
    // Q23: what others have opened for batches is shut. Each slot opens something: what user space sets by the
    // maker's advice, or what it may write anyway.
    Setting {
        name: "FORCE_TO_NONPRIV",
        on: ALL,
        at: SettingAt::Engine(regs::NONPRIVILEGED, regs::NONPRIVILEGED_SLOTS),
        to: Value::Open(regs::NOPID),
    },
    // Render and compute are reset together, and one may be all that the card has. Slices are not shared out by
    // load (workaround 14019159160).
    Setting {
        name: "RCU_MODE",
        on: &[Render, Compute],
        at: SettingAt::Card(gt_reg::RCU_MODE),
        to: bits(gt_reg::RCU_MODE_COMPUTE | gt_reg::RCU_MODE_FIXED, 0),
    },
    Setting {
        name: "CCS_MODE",
        on: &[Render, Compute],
        at: SettingAt::Card(gt_reg::CCS_MODE),
        to: Value::Slices(gt_reg::CCS_MODE_ALL),
    },
];

/// What the n-th register of a setting is to hold.
fn held(engine: &ListEngine, hw: &Hw<'_>, setting: &Setting, n: u32) -> Held {
    match setting.to {
        Value::Fixed(held) => held,
        Value::Open(other) => {
            let open = faults::open(engine.class()).get(n as usize).copied();
            Held::Dword(open.unwrap_or(engine.base.at(other)))
        }
        Value::Slices(all) => {
            let slices = fuses::slices(hw);
            Held::Bits(slices, all & !slices)
        }
    }
}

/// Those of an engine: each with its register's offset, and what that is to hold.
fn of<'a>(
    engine: &'a ListEngine,
    hw: &'a Hw<'_>,
) -> impl Iterator<Item = (&'static Setting, u32, Held)> + 'a {
    let its = SETTINGS.iter().filter(|s| s.on.contains(&engine.class()));
    its.flat_map(move |setting| {
        let (first, n) = match setting.at {
            SettingAt::Engine(reg, n) => (engine.base.at(reg), n),
            SettingAt::Card(offset) => (offset, 1),
        };
        (0..n).map(move |i| {
            let offset = first.wrapping_add(i.wrapping_mul(4));
            (setting, offset, held(engine, hw, setting, i))
        })
    })
}

/// Sets them. The parser stands still.
pub(super) fn apply(engine: &ListEngine, hw: &Hw<'_>) {
    for (_, offset, held) in of(engine, hw) {
        let value = match held {
            Held::Dword(value) => value,
            Held::Bits(set, clear) => masked(set, clear),
        };
        hw.regs.write32(offset, value);
    }
    workarounds::set_engine(engine, hw);
}

/// The name of one that does not hold what it was set to. A card that is gone loses nothing.
pub(super) fn lost(engine: &ListEngine, hw: &Hw<'_>) -> Option<&'static str> {
    let mut all = of(engine, hw);
    let found = all.find(|(_, offset, held)| {
        let now = hw.regs.read32(*offset);
        let kept = match *held {
            Held::Dword(value) => now == value,
            Held::Bits(set, clear) => now & u32::from(set | clear) == u32::from(set),
        };
        !kept && now != u32::MAX
    });
    match found {
        Some((setting, ..)) => Some(setting.name),
        None => workarounds::lost(engine, hw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gen12::engine, mock::Mock};

    /// Offsets of digest §3.2 rows 24, 23, 40 and 79, §3.3 row 18.
    #[test]
    fn each_engine_sets_its_own() {
        for engine in engine::ALL {
            let mock = Mock::default();
            apply(engine, &mock.hw());
            let base = engine.base.0;
            assert_eq!(mock.written(base + 0xc4), [0x3fff_0102]);
            // P1: one stops and clears it.
            assert_eq!(mock.written(base + 0x178), [1]);
            for slot in 0..12 {
                // Upstream's `dg2_whitelist_build`.
                let open = match (engine.class(), slot) {
                    (Render, 0) => 0x7304,
                    (Render, 1) => 0x7010,
                    _ => base + 0x94,
                };
                assert_eq!(mock.written(base + 0x4d0 + 4 * slot), [open]);
            }
            // Bits 0 and 1; no slice is there, so all are 7.
            let compute: [&[u32]; 2] = match engine.class() {
                Render | Compute => [&[0x0003_0003], &[0x0fff_0fff]],
                _ => [&[], &[]],
            };
            assert_eq!(mock.written(0x1_4800), compute[0]);
            assert_eq!(mock.written(0x1_4804), compute[1]);
        }
    }

    #[test]
    fn what_does_not_stay_is_named() {
        let rcs = engine::ALL[0];
        let good = || {
            let mock = Mock::default();
            mock.set(0x20c4, 0x8102);
            mock.set(0x2178, 1);
            mock.set(0x24d0, 0x7304);
            mock.set(0x24d4, 0x7010);
            for slot in 2..12 {
                mock.set(0x24d0 + 4 * slot, 0x2094);
            }
            mock.set(0x1_4800, 3);
            mock.set(0x1_4804, 0xfff);
            mock
        };
        assert_eq!(lost(rcs, &good().hw()), None);
        for (offset, value, name) in [
            (0x20c4, 0x0002, "CMD_CCTL"),
            (0x20c4, 0x0302, "CMD_CCTL"),
            (0x2178, 0, "PR_CTR_CTL"),
            (0x24d0, 0, "FORCE_TO_NONPRIV"),
            (0x24fc, 0x2098, "FORCE_TO_NONPRIV"),
            (0x1_4800, 2, "RCU_MODE"),
            (0x1_4800, 1, "RCU_MODE"),
            (0x1_4804, 0xff8, "CCS_MODE"),
        ] {
            let mock = good();
            mock.set(offset, value);
            assert_eq!(lost(rcs, &mock.hw()), Some(name), "{value:x}");
        }
        let mock = good();
        mock.gone.set(true);
        assert_eq!(lost(rcs, &mock.hw()), None);
    }
}

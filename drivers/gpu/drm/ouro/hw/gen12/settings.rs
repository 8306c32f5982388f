// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Register settings at each start of an engine: after power-on, a reset, a sleep. They are not in
//! context images (D19, R4), or first images are made from them (D6).
//!
//! One list for all engines, followed by the workarounds ([`super::workarounds`]). Settings are
//! read back ([`lost`]): a register that does not keep its value is reported.

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

/// The place of a register.
#[derive(Clone, Copy)]
enum SettingAt {
    /// So many consecutive dwords at this offset from the engine's base.
    Engine(u32, u32),
    /// So many consecutive dwords at this absolute offset, for all engines.
    Card(u32, u32),
}

/// The kind of a setting.
#[derive(Clone, Copy)]
enum Held {
    /// A dword.
    Dword(u32),
    /// Bits to set and to clear, of a masked register.
    Bits(u16, u16),
}

/// The value of a setting.
#[derive(Clone, Copy)]
enum Value {
    /// A constant.
    Fixed(Held),
    /// The offset of an allowed register; if there are no more, this one of the engine.
    Open(u32),
    /// The compute slices, of these bits of a masked register.
    Slices(u16),
    /// Cache control by index ([`mocs`]).
    L3,
}

const fn bits(set: u16, clear: u16) -> Value {
    Value::Fixed(Held::Bits(set, clear))
}

/// A register setting.
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

/// All settings, in the order in which they are written.
static SETTINGS: [Setting; 6] = [
    Setting {
        name: "CMD_CCTL",
        on: ALL,
        at: SettingAt::Engine(regs::CMD_CCTL, 1),
        to: bits(CACHING.0, CACHING.1),
    },
    // P1: zero would start it. Its interrupt is masked, whatever batches do.
    Setting {
        name: "PR_CTR_CTL",
        on: ALL,
        at: SettingAt::Engine(regs::WATCHDOG_CONTROL, 1),
        to: Value::Fixed(Held::Dword(regs::WATCHDOG_STOP)),
    },
    // Q23: registers that others allowed for batches are closed. Each slot allows a register: one
    // that user space sets as Intel recommends, or one that batches may write anyway.
    Setting {
        name: "FORCE_TO_NONPRIV",
        on: ALL,
        at: SettingAt::Engine(regs::NONPRIVILEGED, regs::NONPRIVILEGED_SLOTS),
        to: Value::Open(regs::NOPID),
    },
    // Render and compute are reset together, and a card may have only one of them. Slices are not
    // shared by load (workaround 14019159160).
    Setting {
        name: "RCU_MODE",
        on: &[Render, Compute],
        at: SettingAt::Card(gt_reg::RCU_MODE, 1),
        to: bits(gt_reg::RCU_MODE_COMPUTE | gt_reg::RCU_MODE_FIXED, 0),
    },
    Setting {
        name: "CCS_MODE",
        on: &[Render, Compute],
        at: SettingAt::Card(gt_reg::CCS_MODE, 1),
        to: Value::Slices(gt_reg::CCS_MODE_ALL),
    },
    // A reset of render loses it: upstream writes it at each start of render
    // (`intel_mocs_init_engine`), and has the microcontroller restore it after an engine's reset.
    Setting {
        name: "LNCFCMOCS",
        on: &[Render, Compute],
        at: SettingAt::Card(gt_reg::LNCF_MOCS, mocs::L3_REGISTERS),
        to: Value::L3,
    },
];

/// Returns the value of the n-th register of a setting.
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
        Value::L3 => Held::Dword(mocs::l3_pair(n)),
    }
}

/// Returns the settings of an engine: each with its register's offset, and its value.
fn of<'a>(
    engine: &'a ListEngine,
    hw: &'a Hw<'_>,
) -> impl Iterator<Item = (&'static Setting, u32, Held)> + 'a {
    let its = SETTINGS.iter().filter(|s| s.on.contains(&engine.class()));
    its.flat_map(move |setting| {
        let (first, n) = match setting.at {
            SettingAt::Engine(reg, n) => (engine.base.at(reg), n),
            SettingAt::Card(offset, n) => (offset, n),
        };
        (0..n).map(move |i| {
            let offset = first.wrapping_add(i.wrapping_mul(4));
            (setting, offset, held(engine, hw, setting, i))
        })
    })
}

/// Writes the settings. The parser must be stopped.
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

/// Returns the name of a register that lost its value. A lost device reports none.
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

    /// The L3 table of digest §5.4, by register.
    fn l3_table() -> impl Iterator<Item = (u32, u32)> {
        let values = [0x00d0_0090, 0x00b0_0050].into_iter();
        (0xb020..).step_by(4).zip(values.chain([0x00b0_00b0; 30]))
    }

    /// Offsets of digest §3.2 rows 24, 23, 40 and 79, §3.3 rows 14 and 18.
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
            let shares_l3 = matches!(engine.class(), Render | Compute);
            for (register, value) in l3_table() {
                let expected = [value];
                let expected = if shares_l3 { &expected[..] } else { &[] };
                assert_eq!(mock.written(register), expected, "{register:x}");
            }
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
            for (register, value) in l3_table() {
                mock.set(register, value);
            }
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
            (0xb020, 0, "LNCFCMOCS"),
            (0xb09c, 0x00b0_0090, "LNCFCMOCS"),
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

// SPDX-License-Identifier: GPL-2.0
//! What registers are set to each time that an engine starts: after power-on, a reset, a sleep. No image
//! holds them (D19, R4), or a first image is made of what they hold (D6).
//!
//! One list for all engines. Workarounds that are registers belong into it; the documents at hand name none
//! that is needed without the GuC. What is set is read back ([`lost`]): a register that does not keep it is
//! told of.

use super::{
    engine::ListEngine,
    gt_regs as gt_reg, mocs,
    regs::{self, masked, CmdCctl},
};
use crate::{
    io::Hw,
    types::EngineClass::{self, Compute, Copy, Render, Video, VideoEnhance},
};

/// Where a register is.
#[derive(Clone, Copy)]
enum Place {
    /// At this offset from the engine's base: so many, one dword after the other.
    Engine(u32, u32),
    /// At this offset, for all engines.
    Card(u32),
}

/// What it is to hold.
#[derive(Clone, Copy)]
enum Value {
    /// A dword.
    Dword(u32),
    /// Of a masked register, bits that are set, and bits that are clear.
    Bits(u16, u16),
    /// The offset of another register of the engine.
    Register(u32),
}

/// A register that is set.
struct Setting {
    name: &'static str,
    on: &'static [EngineClass],
    at: Place,
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
static SETTINGS: [Setting; 4] = [
    Setting {
        name: "CMD_CCTL",
        on: ALL,
        at: Place::Engine(regs::CMD_CCTL, 1),
        to: Value::Bits(CACHING.0, CACHING.1),
    },
    // P1: zero would start it. Its interrupt is masked, whatever a batch makes of it.
    Setting {
        name: "PR_CTR_CTL",
        on: ALL,
        at: Place::Engine(regs::WATCHDOG_CONTROL, 1),
        to: Value::Dword(regs::WATCHDOG_STOP),
    },
    // Q23: what others have opened for batches is shut. Each slot opens something; this, they may write anyway.
    Setting {
        name: "FORCE_TO_NONPRIV",
        on: ALL,
        at: Place::Engine(regs::NONPRIVILEGED, regs::NONPRIVILEGED_SLOTS),
        to: Value::Register(regs::NOPID),
    },
    // Render and compute are reset together, and one may be all that the card has.
    Setting {
        name: "RCU_MODE",
        on: &[Render, Compute],
        at: Place::Card(gt_reg::RCU_MODE),
        to: Value::Bits(gt_reg::RCU_MODE_COMPUTE, 0),
    },
];

/// Those of an engine: each with its register's offset.
fn of(engine: &ListEngine) -> impl Iterator<Item = (&'static Setting, u32)> + '_ {
    let its = SETTINGS.iter().filter(|s| s.on.contains(&engine.class()));
    its.flat_map(|setting| {
        let (first, n) = match setting.at {
            Place::Engine(reg, n) => (engine.base.at(reg), n),
            Place::Card(offset) => (offset, 1),
        };
        (0..n).map(move |i| (setting, first.wrapping_add(i.wrapping_mul(4))))
    })
}

/// Sets them. The parser stands still.
pub(super) fn apply(engine: &ListEngine, hw: &Hw<'_>) {
    for (setting, offset) in of(engine) {
        let value = match setting.to {
            Value::Dword(value) => value,
            Value::Bits(set, clear) => masked(set, clear),
            Value::Register(reg) => engine.base.at(reg),
        };
        hw.regs.write32(offset, value);
    }
}

/// The name of one that does not hold what it was set to. A card that is gone loses nothing.
pub(super) fn lost(engine: &ListEngine, hw: &Hw<'_>) -> Option<&'static str> {
    let mut all = of(engine);
    let found = all.find(|(setting, offset)| {
        let now = hw.regs.read32(*offset);
        let kept = match setting.to {
            Value::Dword(value) => now == value,
            Value::Bits(set, clear) => now & u32::from(set | clear) == u32::from(set),
            Value::Register(reg) => now == engine.base.at(reg),
        };
        !kept && now != u32::MAX
    });
    found.map(|(setting, _)| setting.name)
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
                assert_eq!(mock.written(base + 0x4d0 + 4 * slot), [base + 0x94]);
            }
            let compute: &[u32] = match engine.class() {
                Render | Compute => &[0x0001_0001],
                _ => &[],
            };
            assert_eq!(mock.written(0x1_4800), compute);
        }
    }

    #[test]
    fn what_does_not_stay_is_named() {
        let rcs = engine::ALL[0];
        let good = || {
            let mock = Mock::default();
            mock.set(0x20c4, 0x8102);
            mock.set(0x2178, 1);
            for slot in 0..12 {
                mock.set(0x24d0 + 4 * slot, 0x2094);
            }
            mock.set(0x1_4800, 3);
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

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the upstream driver writes to make a DG2 work right, and what it keeps ([`Real::workarounds`],
//! [`Real::bits`]). No document at hand has these registers. Registers, bits, numbers and for which chips each
//! is are facts of the upstream driver's lists.
//!
//! [`Real::workarounds`]: super::real::Real::workarounds
//! [`Real::bits`]: super::real::Real::bits

use super::core::Core;
use super::engine::{Class, EngineId};
use super::lint::Rule;
use super::regs;
use crate::intel::regfile::Domain;

/// The chips that a DG2 can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chip {
    G10,
    G11,
    G12,
}

impl Chip {
    /// By the PCI device.
    fn of(device: u16) -> Chip {
        match device {
            0x5693..=0x5695 | 0x56a5 | 0x56a6 | 0x56b0 | 0x56b1 | 0x56ba..=0x56bd | 0x56c1 => {
                Chip::G11
            }
            0x5696 | 0x5697 | 0x56a3 | 0x56a4 | 0x56b2 | 0x56b3 => Chip::G12,
            _ => Chip::G10,
        }
    }
}

const ALL: &[Chip] = &[Chip::G10, Chip::G11, Chip::G12];
const G10: &[Chip] = &[Chip::G10];
const G11: &[Chip] = &[Chip::G11];

/// When a workaround must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// At the first load of any engine.
    Any,
    /// Of an engine of 3D or compute; the last of a whole group's registers.
    Compute,
    /// Of the render engine.
    Render,
    /// Of the blitter.
    Copy,
    /// Of a video engine: its own register.
    Decode(EngineId),
    /// At the first program of the render engine: it may be part of the context.
    Context,
}

impl When {
    fn at_load(self, e: EngineId) -> bool {
        match self {
            When::Any => true,
            When::Compute => e.is_3d(),
            When::Render => e.class() == Class::Render,
            When::Copy => e.class() == Class::Copy,
            When::Decode(of) => e == of,
            When::Context => false,
        }
    }
}

/// A register, bits of it and their value, which workaround or tuning it is (or of whom), on which chips, when.
type Workaround = (u32, u32, u32, &'static str, &'static [Chip], When);

#[rustfmt::skip]
const WORKAROUNDS: &[Workaround] = &[
    // The GT.
    (0x1c_3f10, 1 << 22, 1 << 22, "14011060649", ALL, When::Decode(EngineId::Vcs0)),
    (0x1d_3f10, 1 << 22, 1 << 22, "14011060649", ALL, When::Decode(EngineId::Vcs2)),
    (0x9434, 1 << 17, 1 << 17, "22010523718", G10, When::Any),
    (0x9524, 1 << 28, 1 << 28, "14011006942", G10, When::Any),
    (0xe90c, 3 << 29, 0, "14014830051", ALL, When::Any),
    (0x9424, 1 << 1, 0, "14015795083", ALL, When::Any),
    (0xcf2c, 1 << 3, 1 << 3, "18018781329", ALL, When::Any),
    (0xcf30, 1 << 3, 1 << 3, "18018781329", ALL, When::Any),
    (0xcf34, 1 << 3, 1 << 3, "18018781329", ALL, When::Any),
    (0xcf38, 1 << 3, 1 << 3, "18018781329", ALL, When::Any),
    (0xcf54, 1 << 12 | 1 << 2, 1 << 12 | 1 << 2, "1509235366", ALL, When::Any),
    (0xb0b4, 1 << 19, 1 << 19, "14010648519", ALL, When::Any),
    (0xb188, 1 << 3, 1 << 3, "tuning: no caching of blends and fills", ALL, When::Any),
    (0x8724, 1 << 30, 1 << 30, "tuning: accesses of 32 bytes", ALL, When::Any),
    (0x10_1014, 1 << 17, 1 << 17, "22010954014", ALL, When::Any),
    // The render engine.
    (0xe18c, 1 << 9, 1 << 9, "1509727124", ALL, When::Render),
    (0xe4f4, 1 << 15, 1 << 15, "22012856258", ALL, When::Render),
    (0xe5f0, 7 << 11, 0, "22010960976, 14013347512", ALL, When::Render),
    (0xe5f0, 1 << 3, 1 << 3, "14015150844", ALL, When::Render),
    (0x20ec, 1 << 1, 1 << 1, "18019627453", ALL, When::Render),
    (0x20e0, 1 << 14, 1 << 14, "tuning: contexts choose preemption in 3D commands", ALL, When::Render),
    // Render and compute engines.
    (0xe530, 3 << 5, 2 << 5, "tuning: stack ids of ray tracing", ALL, When::Compute),
    (0xe18c, 1 << 0, 1 << 0, "border colours of indirect state", ALL, When::Compute),
    (0xe7cc, 1 << 4, 1 << 4, "22013037850", ALL, When::Compute),
    (0x83b4, 1 << 4, 1 << 4, "18017747507", ALL, When::Compute),
    (0xe7c8, 1 << 30, 1 << 30, "22014226127", ALL, When::Compute),
    (0xe48c, 1 << 11, 1 << 11, "14015227452", ALL, When::Compute),
    (0xe7cc, 1 << 23, 1 << 23, "22015475538", ALL, When::Compute),
    (0xe7cc, 1 << 26, 1 << 26, "18028616096", ALL, When::Compute),
    (0xe7cc, 7 << 5, 2 << 5, "22012826095, 22013059131", G11, When::Compute),
    (0xe7c8, 1 << 15, 1 << 15, "22013059131", G11, When::Compute),
    (0xe420, 1 << 3, 1 << 3, "22012654132", G11, When::Compute),
    (0x1_4800, 1 << 1, 1 << 1, "14019159160", ALL, When::Compute),
    // The blitter, in turns.
    (0x2_21d0, 3 << 11, 1 << 11, "16018031267, 16018063123", ALL, When::Copy),
    // Contexts of the render engine.
    (0x6208, 1 << 5, 1 << 5, "tuning: fast clip", ALL, When::Context),
    (0xb158, 0x3ff, 0x7f, "tuning: timer of the L3", ALL, When::Context),
    (0x6604, 0xff << 16, 4 << 16, "tuning: timer of tessellation", ALL, When::Context),
    (0x731c, 1 << 14, 1 << 14, "16013271637", ALL, When::Context),
    (0x83a4, 0xffff, 0x4000, "14014947963", ALL, When::Context),
    (0x703c, 1 << 5, 1 << 5, "18018764978", ALL, When::Context),
    (0x7004, 1 << 11, 1 << 11, "18019271663", ALL, When::Context),
    (0x7044, 1 << 5, 1 << 5, "14019877138", ALL, When::Context),
];

/// Registers that the render engine's images hold: upstream sets them once, for the image that all contexts begin
/// with. No document says where they stand there.
pub(crate) fn in_images() -> impl Iterator<Item = u32> {
    let held = WORKAROUNDS.iter().filter(|w| w.5 == When::Context);
    held.map(|w| w.0)
}

/// Registers that upstream reads before it writes them: bits that must stay, bits that a workaround takes away,
/// and what they stand for here. No source has their values as firmware leaves them: these are any that are not a
/// workaround's own.
const BITS: &[(u32, u32, u32, &str)] = &[
    (0x6604, 0xe0, 0, "timer of the geometry shader"),
    (0x8724, 1 << 4, 0, "queue of the memory interface"),
    (0x9424, 1 << 0, 1 << 1, "clock gating of the other domain"),
    (0x9434, 1 << 26, 0, "a unit that must not be gated"),
    (0x9524, 1 << 11, 0, "a unit that must not be gated"),
    (0xb0b4, 1 << 2, 0, "arbitration of the L3"),
    (0xb158, 3 << 20, 0, "credits of the L3"),
    (0xb188, 1 << 16, 0, "queue of the L3"),
    (0xcf2c, 1 << 17, 0, "translation of the render engine"),
    (0xcf30, 1 << 17, 0, "translation of compute engines"),
    (0xcf34, 1 << 17, 0, "translation of video engines"),
    (0xcf38, 1 << 17, 0, "translation of video enhancement"),
    (0xcf54, 1 << 24, 0, "translation"),
    (0xe530, 1 << 12, 0, "ray tracing"),
    (0xe7c8, 1 << 6, 0, "load and store cache"),
    (0xe7cc, 1 << 14, 0, "load and store cache"),
    (0xe90c, 1 << 7, 3 << 29, "arbitration of the system memory"),
    (0x10_1014, 1 << 5, 0, "a unit that must not be gated"),
    (0x1c_3f10, 1 << 9, 0, "a unit that must not be gated"),
    (0x1d_3f10, 1 << 9, 0, "a unit that must not be gated"),
];

/// Registers of these lists whose upper half is a mask.
pub(crate) const MASKED: &[u32] = &[
    0x20ec, 0x6208, 0x7004, 0x703c, 0x7044, 0x731c, 0x83a4, 0x83b4, 0xe18c, 0xe420, 0xe48c, 0xe4f4,
    0xe5f0,
];

impl Core {
    /// After power-on and resets: what firmware, or the chip by itself, sets in registers of the domains that `which`
    /// selects.
    pub fn firmware_bits(&mut self, which: impl Fn(Domain) -> bool) {
        if !self.cfg.real.bits {
            return;
        }
        for (at, keep, take, _) in BITS {
            if regs::map().get(*at).is_some_and(|d| which(d.domain)) {
                self.set(*at, self.get(*at) | keep | take);
            }
        }
    }

    /// A register has been written, but not by a program.
    pub fn watch_bits(&mut self, offset: u32, before: u32) {
        if !self.cfg.real.bits || self.notes.client {
            return;
        }
        let lost = before & !self.get(offset);
        if let Some((_, keep, _, what)) = BITS.iter().find(|b| b.0 == offset && b.1 & lost != 0) {
            self.notes.lint(Rule::BitsLost, || {
                format!("{offset:#08x} {:#x}: {what}", keep & lost)
            });
        }
    }

    /// An engine is loaded, for the first time since it was reset.
    pub fn watch_first_load(&mut self, e: EngineId) {
        if std::mem::replace(&mut self.engine(e).loaded, true) {
            return;
        }
        if self.cfg.real.workarounds {
            self.miss_workarounds(e, |w| w.at_load(e));
        }
        self.watch_l3(e);
    }

    /// A program begins, the first one on the engine since it was reset.
    pub fn watch_first_program(&mut self, e: EngineId) {
        if !self.cfg.real.workarounds || e != EngineId::Rcs {
            return;
        }
        if !std::mem::replace(&mut self.engine(e).programmed, true) {
            self.miss_workarounds(e, |w| w == When::Context);
        }
    }

    fn miss_workarounds(&mut self, e: EngineId, which: impl Fn(When) -> bool) {
        let chip = Chip::of(self.cfg.device_id);
        for (at, mask, value, number, chips, when) in WORKAROUNDS {
            if which(*when) && chips.contains(&chip) && self.get(*at) & mask != *value {
                let found = self.get(*at);
                let client = std::mem::take(&mut self.notes.client);
                self.notes.lint(Rule::WorkaroundMissing, || {
                    format!("{} {at:#08x} {found:#x}: {number}", e.name())
                });
                self.notes.client = client;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_inside_of_their_bits() {
        for (at, mask, value, ..) in WORKAROUNDS {
            assert_eq!(value & !mask, 0, "{at:#x}");
        }
    }

    #[test]
    fn bits_of_firmware_are_no_workarounds() {
        for (at, keep, take, _) in BITS {
            let all = WORKAROUNDS.iter().filter(|w| w.0 == *at);
            let masks = all.fold(0, |m, w| m | w.1);
            assert_eq!(keep & masks, 0, "{at:#x}");
            assert_eq!(take & !masks, 0, "{at:#x}");
        }
    }

    #[test]
    fn chips_by_their_devices() {
        assert_eq!(Chip::of(0x56a0), Chip::G10);
        assert_eq!(Chip::of(0x56a5), Chip::G11);
        assert_eq!(Chip::of(0x56b2), Chip::G12);
    }
}

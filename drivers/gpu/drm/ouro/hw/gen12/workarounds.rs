// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Workarounds: registers that are set because the chip has faults, or is faster so.
//!
//! The tables ([`super::faults`]) list them by the reset that loses their value:
//!
//! ```text
//! CARD      a reset of all               Generation::start
//! ENGINE    a reset of the engine        Engine::start
//! CONTEXT   none: each image has it      Engine::golden, which makes the first image; if the
//!                                        register must be read first, Engine::start
//! OPEN      as ENGINE: registers that user space may write for workarounds of its own
//! ```
//!
//! A masked register is written with the bits that change. Of another one, the bits that are not
//! named belong to the firmware or to the chip: it is read first. Registers that exist several
//! times are written in all instances and read in one that is there ([`super::steering`]).

use super::{
    commands::LoadRegister,
    engine::ListEngine,
    faults::{CARD, CONTEXT, ENGINE},
    fuses,
    parts::Parts,
    regs::masked,
};
use crate::{
    engine::ContextWorkaround,
    io::Hw,
    ring::{Commands, Overflow},
    types::EngineClass,
};

/// Where a register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegisterAt {
    /// At this offset.
    Card(u32),
    /// At this offset from the base of each engine of these classes.
    Own(u32),
}

/// How it changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// Of a masked register, bits that are set, and bits that are cleared.
    Masked {
        /// To ones.
        set: u16,
        /// To zeros.
        clear: u16,
    },
    /// Of another one, bits that are cleared first, and bits that are set then.
    Fields {
        /// To zeros.
        clear: u32,
        /// To ones.
        set: u32,
    },
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The maker's number; for a setting that is no workaround, what it is. Readers and tests need
    /// it.
    #[cfg_attr(not(test), expect(dead_code, reason = "the chip does not ask for it"))]
    pub(super) number: &'static str,
    /// The register's name.
    pub(super) name: &'static str,
    /// Where it is.
    pub(super) at: RegisterAt,
    /// What is done to it.
    pub(super) change: Change,
    /// Engines with whose start, or registers, it is; none for one of the card's.
    pub(super) on: &'static [EngineClass],
    /// Parts that need it.
    pub(super) parts: Parts,
    /// Whether what it reads is what was written.
    pub(super) reads: bool,
}

impl Change {
    /// Combines two changes of one register.
    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (
                Self::Masked { set, clear },
                Self::Masked {
                    set: more,
                    clear: less,
                },
            ) => Self::Masked {
                set: set | more,
                clear: clear | less,
            },
            (
                Self::Fields { clear, set },
                Self::Fields {
                    clear: less,
                    set: more,
                },
            ) => Self::Fields {
                clear: clear | less,
                set: set | more,
            },
            // A register is masked in all rows or in none.
            (one, _) => one,
        }
    }

    /// Returns the bits that change, and their value.
    fn bits(self) -> (u32, u32) {
        match self {
            Self::Masked { set, clear } => (u32::from(set | clear), u32::from(set)),
            Self::Fields { clear, set } => (clear | set, set),
        }
    }

    fn write(self, hw: &Hw<'_>, offset: u32) {
        let value = match self {
            Self::Masked { set, clear } => masked(set, clear),
            Self::Fields { clear, set } => match hw.regs.read32(offset) {
                // A card that is gone.
                u32::MAX => return,
                now => now & !clear | set,
            },
        };
        hw.regs.write32(offset, value);
    }
}

impl Row {
    /// Its offset, as far as it is `engine`'s.
    fn offset(&self, engine: &ListEngine) -> u32 {
        match self.at {
            RegisterAt::Card(offset) => offset,
            RegisterAt::Own(offset) => engine.base.at(offset),
        }
    }

    fn is_for(&self, hw: &Hw<'_>) -> bool {
        Parts::of(hw).any(self.parts)
    }

    /// Returns whether the register still holds the value that was written. A card that has gone
    /// counts as keeping it.
    fn is_kept(&self, hw: &Hw<'_>, offset: u32) -> bool {
        let now = hw.regs.read32(offset);
        let (all, set) = self.change.bits();
        now == u32::MAX || now & all == set
    }
}

/// The rows of the card, each with the offset of a register.
fn of_card<'a>(hw: &'a Hw<'_>) -> impl Iterator<Item = (&'static Row, u32)> + Clone + 'a {
    CARD.iter()
        .filter(|row| row.is_for(hw))
        .flat_map(move |row| {
            // One of the card's own is not an engine's: it is met once, with the first one.
            let engines = fuses::numbered(hw).filter(|(n, e)| match row.on {
                [] => *n == 0,
                on => on.contains(&e.class()),
            });
            engines.map(move |(_, e)| (row, row.offset(e)))
        })
}

/// The rows of an engine among `rows`.
fn of_engine<'a>(
    rows: &'static [Row],
    engine: &'a ListEngine,
    hw: &'a Hw<'_>,
) -> impl Iterator<Item = (&'static Row, u32)> + Clone + 'a {
    let its = rows
        .iter()
        .filter(|row| row.is_for(hw) && row.on.contains(&engine.class()));
    its.map(|row| (row, row.offset(engine)))
}

/// Writes each register once, where its first row is: what all rows do to it.
fn write_all<'a>(hw: &Hw<'_>, rows: impl Iterator<Item = (&'a Row, u32)> + Clone) {
    for (n, (row, offset)) in rows.clone().enumerate() {
        let mut same = rows.clone().enumerate().filter(|(_, r)| r.1 == offset);
        if same.next().is_some_and(|(first, _)| first == n) {
            let change = same.fold(row.change, |all, (_, (row, _))| all.and(row.change));
            change.write(hw, offset);
        }
    }
}

/// Sets those of the card, behind a reset of all.
pub(super) fn set_card(hw: &Hw<'_>) {
    write_all(hw, of_card(hw));
}

/// Sets those of an engine that stands still; and what its first image takes from its registers.
pub(super) fn set_engine(engine: &ListEngine, hw: &Hw<'_>) {
    write_all(hw, of_engine(&ENGINE, engine, hw));
    // A reset of an engine may have taken some of the card's along.
    let gone = of_card(hw).filter(|(row, offset)| !row.is_kept(hw, *offset));
    for (row, offset) in gone {
        row.change.write(hw, offset);
    }
    let first = of_engine(&CONTEXT, engine, hw);
    write_all(
        hw,
        first.filter(|(row, _)| matches!(row.change, Change::Fields { .. })),
    );
}

/// The name of a register that does not hold what it was set to. The card's are looked at with
/// render.
pub(super) fn lost(engine: &ListEngine, hw: &Hw<'_>) -> Option<&'static str> {
    let its = of_engine(&ENGINE, engine, hw);
    let card = of_card(hw).filter(|_| engine.class() == EngineClass::Render);
    its.chain(card)
        .find(|(row, offset)| row.reads && !row.is_kept(hw, *offset))
        .map(|(row, _)| row.name)
}

/// Dwords that [`golden`] writes.
pub(super) const fn golden_dwords(class: EngineClass) -> usize {
    match class {
        EngineClass::Render => {
            let (mut n, mut dwords) = (0, MESH.len());
            while n < CONTEXT.len() {
                if matches!(CONTEXT[n].change, Change::Masked { .. }) {
                    dwords += 3;
                }
                n += 1;
            }
            dwords
        }
        _ => 0,
    }
}

/// Workaround 14019789679: `3DSTATE_MESH_CONTROL`, all zero (digest §2.2 row 7).
const MESH: [u32; 5] = [0x7877_0003, 0, 0, 0, 0];

/// Writes what the first image of an engine is made by.
pub(super) fn golden(class: EngineClass, out: &mut Commands<'_>) -> Result<(), Overflow> {
    if class != EngineClass::Render {
        return Ok(());
    }
    for row in &CONTEXT {
        if let (RegisterAt::Card(offset), Change::Masked { set, clear }) = (row.at, row.change) {
            let value = masked(set, clear);
            out.put(&LoadRegister { offset, value }.encode_absolute())?;
        }
    }
    out.put(&MESH)
}

/// Returns the readable registers of [`CONTEXT`] for an engine's images.
pub(super) fn of_contexts(class: EngineClass) -> impl Iterator<Item = ContextWorkaround> {
    let its = CONTEXT.iter();
    its.filter(move |row| row.reads && row.on.contains(&class))
        .filter_map(|row| {
            let RegisterAt::Card(offset) = row.at else {
                return None;
            };
            let (bits, value) = row.change.bits();
            Some(ContextWorkaround {
                offset,
                bits,
                value,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen12::engine,
        mock::{Access, Mock},
    };
    use std::{string::ToString, vec::Vec};

    const DOCUMENT: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../../../Documentation/gpu/ouro/gen12.rst"
    ));
    /// Render, blitter, first compute, both video, both enhancers.
    const ENGINES: u32 = 0b11_1100_0111;

    fn card(mock: &Mock, parts: Parts) -> Hw<'_> {
        Hw {
            card: ENGINES | parts.card(),
            ..mock.hw()
        }
    }

    /// Returns the writes of `set` when all registers held `held` before.
    fn written(parts: Parts, held: u32, set: impl Fn(&Hw<'_>)) -> Vec<(u32, u32)> {
        let mock = Mock::default();
        for row in CARD.iter().chain(&ENGINE).chain(&CONTEXT) {
            for engine in engine::ALL {
                mock.set(row.offset(engine), held);
            }
        }
        set(&card(&mock, parts));
        let log = mock.take();
        let writes = log.iter().filter_map(|a| match a {
            Access::W(offset, value) => Some((*offset, *value)),
            _ => None,
        });
        writes.collect()
    }

    /// Offsets and bits of upstream's `dg2_ctx_gt_tuning_init` and `dg2_ctx_workarounds_init`.
    #[test]
    fn those_of_contexts_are_listed_for_debugging() {
        let listed: Vec<_> = of_contexts(EngineClass::Render)
            .map(|w| (w.offset, w.value, w.bits))
            .collect();
        let expected = [
            (0x6208, 0x20, 0x20),
            (0xb158, 0x7f, 0x3ff),
            (0x6604, 0x4_0000, 0xff_0000),
            (0x731c, 0x4000, 0x4000),
            (0x83a4, 0x4000, 0xffff),
            (0x703c, 0x20, 0x20),
            (0x7004, 0x800, 0x800),
            (0x7044, 0x20, 0x20),
        ];
        assert_eq!(listed, expected);
        assert_eq!(of_contexts(EngineClass::Copy).count(), 0);
    }

    /// Offsets and bits of upstream's `dg2_init_clock_gating`, `gt_tuning_settings` and
    /// `dg2_gt_workarounds_init`.
    #[test]
    fn the_cards_are_those_of_upstream() {
        let common = [
            (0x10_1014, 0x0002_0000),
            (0xb188, 0x0000_0008),
            (0x8724, 0x4000_0000),
            // Videos 0 and 2.
            (0x1c_3f10, 0x0040_0000),
            (0x1d_3f10, 0x0040_0000),
            (0xe90c, 0),
            (0x9424, 0),
            (0xcf2c, 8),
            (0xcf30, 8),
            (0xcf34, 8),
            (0xcf38, 8),
            (0xcf54, 0x1004),
            (0xb0b4, 0x0008_0000),
        ];
        assert_eq!(written(Parts::G11, 0, set_card), common);
        assert_eq!(written(Parts::G12, 0, set_card), common);
        let of_g10 = [(0x9434, 0x0002_0000), (0x9524, 0x1000_0000)];
        let mut all = common.to_vec();
        all.splice(5..5, of_g10);
        assert_eq!(written(Parts::G10, 0, set_card), all);
    }

    /// The other bits of a register are kept: if all bits are set, only the bits to clear change.
    #[test]
    fn other_bits_stay() {
        let held = 0xfff7_ffff;
        for (offset, value) in written(Parts::G10, held, set_card) {
            let expected = match offset {
                // Bits 30:29, and bit 1.
                0xe90c => held & !0x6000_0000,
                0x9424 => held & !2,
                0xb0b4 => 0xffff_ffff,
                _ => held,
            };
            assert_eq!(value, expected, "{offset:x}");
        }
    }

    /// Offsets and bits of upstream's `general_render_compute_wa_init`, `rcs_engine_wa_init` and,
    /// behind them, the two of `dg2_ctx_gt_tuning_init` that must be read.
    #[test]
    fn renders_are_those_of_upstream() {
        let rcs = engine::ALL[0];
        let common = [
            (0xe530, 0x40),
            // Bits 9 and 0.
            (0xe18c, 0x0201_0201),
            // Bits 26, 23 and 4.
            (0xe7cc, 0x0480_0010),
            (0x83b4, 0x0010_0010),
            (0xe7c8, 0x4000_0000),
            (0xe48c, 0x0800_0800),
            (0xe4f4, 0x8000_8000),
            // Bits 13:11 cleared, bit 3 set.
            (0xe5f0, 0x3808_0008),
            (0x20ec, 0x0002_0002),
            (0x20e0, 0x4000_4000),
            (0xb158, 0x7f),
            (0x6604, 0x0004_0000),
        ];
        // Registers of the card are as they should be.
        let kept = |row: &&Row| row.on.contains(&EngineClass::Render);
        let set = |hw: &Hw<'_>| set_engine(rcs, hw);
        let written = |parts, held, set: &dyn Fn(&Hw<'_>)| {
            let mut writes = written(parts, held, set);
            let rows: Vec<&Row> = ENGINE.iter().chain(&CONTEXT).filter(kept).collect();
            writes.retain(|(at, _)| rows.iter().any(|row| row.at == RegisterAt::Card(*at)));
            writes
        };
        let set: &dyn Fn(&Hw<'_>) = &set;
        assert_eq!(written(Parts::G10, 0, set), common);
        let mut all = common.to_vec();
        // Bits 7:5 are 2; bit 15; bit 3 of one that cannot be read.
        all[2].1 = 0x0480_0050;
        all[4].1 = 0x4000_8000;
        all.insert(6, (0xe420, 0x0008_0008));
        assert_eq!(written(Parts::G11, 0, set), all);
        // Bits 3:2 are 2, in the same register as bit 11.
        let mut all = common.to_vec();
        all.remove(5);
        all.insert(1, (0xe48c, 0x080c_0808));
        assert_eq!(written(Parts::G10.union(Parts::SERVER), 0, set), all);
        // Fields: the other bits stay.
        let held = written(Parts::G11, 0xfff7_ffff, set);
        for (offset, value) in [
            (0xe530, 0xfff7_ffdf),
            (0xb158, 0xfff7_fc7f),
            (0x6604, 0xff04_ffff),
        ] {
            assert!(held.contains(&(offset, value)), "{offset:x}");
        }
        assert!(held.contains(&(0xe7cc, 0xfff7_ff5f)));
    }

    #[test]
    fn the_blitter_takes_turns_and_others_have_none() {
        for engine in engine::ALL {
            let set = |hw: &Hw<'_>| set_engine(engine, hw);
            let mut writes = written(Parts::G12, 0, set);
            let cards: Vec<u32> = CARD.iter().map(|row| row.offset(engine)).collect();
            writes.retain(|(at, _)| !cards.contains(at) && at & 0xfff != 0xf10);
            match engine.class() {
                EngineClass::Render => assert_eq!(writes.len(), 12),
                // Bits 12:11 are 1.
                EngineClass::Copy => assert_eq!(writes, [(0x2_21d0, 0x1800_0800)]),
                _ => assert_eq!(writes, []),
            }
        }
    }

    /// Upstream's `dg2_ctx_workarounds_init`.
    #[test]
    fn a_first_image_is_made_by_those_of_contexts() {
        let mut buf = [7; 64];
        let mut out = Commands::new(&mut buf);
        golden(EngineClass::Render, &mut out).unwrap();
        #[rustfmt::skip]
        let expected = [
            0x1100_0001, 0x6208, 0x0020_0020,
            0x1100_0001, 0x731c, 0x4000_4000,
            // All bits count, and the count is 4000h.
            0x1100_0001, 0x83a4, 0xffff_4000,
            0x1100_0001, 0x703c, 0x0020_0020,
            0x1100_0001, 0x7004, 0x0800_0800,
            0x1100_0001, 0x7044, 0x0020_0020,
            0x7877_0003, 0, 0, 0, 0,
        ];
        assert_eq!(out.as_slice(), expected);
        assert_eq!(golden_dwords(EngineClass::Render), expected.len());
        let mut out = Commands::new(&mut buf);
        golden(EngineClass::Compute, &mut out).unwrap();
        assert_eq!((out.len(), golden_dwords(EngineClass::Compute)), (0, 0));
    }

    #[test]
    fn what_does_not_stay_is_named() {
        let (rcs, bcs) = (engine::ALL[0], engine::ALL[1]);
        let mock = Mock::default();
        let hw = card(&mock, Parts::G11);
        // What a reset has taken along is set again with a start.
        set_card(&hw);
        mock.take();
        mock.set(0xe90c, 0x6000_0001);
        set_engine(rcs, &hw);
        assert_eq!(mock.written(0xe90c), [1]);
        assert_eq!(mock.written(0xcf54), []);
        // A masked register keeps its lower half; the mock, all that was written.
        let settle = || {
            set_card(&hw);
            set_engine(rcs, &hw);
            for (offset, value) in [
                (0xe18c, 0x201),
                (0x83b4, 0x10),
                (0xe48c, 0x800),
                (0xe4f4, 0x8000),
                (0xe5f0, 0),
                (0x20ec, 2),
                (0x20e0, 0x4000),
                (0xe420, 0),
            ] {
                mock.set(offset, value);
            }
        };
        settle();
        assert_eq!(lost(rcs, &hw), None);
        // Those that cannot be read, or that firmware may have locked.
        mock.set(0x9424, 2);
        assert_eq!(lost(rcs, &hw), None);
        for (offset, value, name) in [
            (0xcf54, 0x1000, "XEHP_GAMCNTRL_CTRL"),
            (0xe90c, 0x2000_0000, "SARB_CHICKEN1"),
            (0x1d_3f10, 0, "VDBOX_CGCTL3F10"),
            (0xe7cc, 0x0480_0010, "LSC_CHICKEN_BIT_0_UDW"),
            (0xe18c, 1, "SAMPLER_MODE"),
        ] {
            settle();
            mock.set(offset, value);
            assert_eq!(lost(rcs, &hw), Some(name));
            assert_eq!(lost(bcs, &hw), Some("ECOSKPD"));
        }
        mock.gone.set(true);
        assert_eq!(lost(rcs, &hw), None);
        // Nothing is written to a card that is gone but what needs no reading.
        mock.take();
        set_card(&hw);
        assert!(mock.take().iter().all(|a| matches!(a, Access::R(_))));
    }

    #[test]
    fn each_row_is_in_the_documentation() {
        for row in CARD.iter().chain(&ENGINE).chain(&CONTEXT) {
            let (RegisterAt::Card(at) | RegisterAt::Own(at)) = row.at;
            let at = std::format!("{at:X}h");
            let found = DOCUMENT.lines().any(|line| {
                [row.number, row.name, &at]
                    .iter()
                    .all(|word| line.contains(&word.to_string()))
            });
            assert!(found, "{} {} {at}", row.number, row.name);
        }
    }
}

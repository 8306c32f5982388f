// SPDX-License-Identifier: GPL-2.0
//! Which chip a text is of: by its PCI device id (the kernel's `include/drm/intel/pciids.h`), the name of its platform,
//! or the generation that newer kernels tell.

use crate::command::Generation;
use crate::{gen12, gen4, gen6, gen7, kin};

/// A chip, as far as it matters here.
#[derive(Clone, Copy)]
pub struct Chip {
    /// Its name.
    pub name: &'static str,
    /// Its generation, times ten.
    pub generation: u16,
    /// Its commands, if they are known.
    pub commands: Option<&'static Generation>,
}

impl std::fmt::Debug for Chip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (Gen{})", self.name, self.generation)
    }
}

impl PartialEq for Chip {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.generation) == (other.name, other.generation)
    }
}

impl Eq for Chip {}

/// Name, platform's name in the kernel, generation times ten, device ids: a range each.
type Row = (&'static str, &'static str, u16, &'static [(u16, u16)]);

const CHIPS: &[Row] = &[
    ("i830M", "I830", 20, &[(0x3577, 0x3577)]),
    ("845G", "I845G", 20, &[(0x2562, 0x2562)]),
    ("855GM", "I85X", 20, &[(0x3582, 0x3582), (0x358e, 0x358e)]),
    ("865G", "I865G", 20, &[(0x2572, 0x2572)]),
    ("915G", "I915G", 30, &[(0x2582, 0x2582), (0x258a, 0x258a)]),
    ("915GM", "I915GM", 30, &[(0x2592, 0x2592)]),
    ("945G", "I945G", 30, &[(0x2772, 0x2772)]),
    ("945GM", "I945GM", 30, &[(0x27a2, 0x27a2), (0x27ae, 0x27ae)]),
    (
        "G33",
        "G33",
        30,
        &[(0x29b2, 0x29b2), (0x29c2, 0x29c2), (0x29d2, 0x29d2)],
    ),
    (
        "Pineview",
        "PINEVIEW",
        30,
        &[(0xa001, 0xa001), (0xa011, 0xa011)],
    ),
    (
        "965G",
        "I965G",
        40,
        &[
            (0x2972, 0x2972),
            (0x2982, 0x2982),
            (0x2992, 0x2992),
            (0x29a2, 0x29a2),
        ],
    ),
    ("GM965", "I965GM", 40, &[(0x2a02, 0x2a02), (0x2a12, 0x2a12)]),
    ("GM45", "GM45", 45, &[(0x2a42, 0x2a42)]),
    ("G45", "G45", 45, &[(0x2e02, 0x2e92)]),
    ("Ironlake", "IRONLAKE", 50, &[(0x0042, 0x0046)]),
    ("Sandy Bridge", "SANDYBRIDGE", 60, &[(0x0102, 0x0126)]),
    (
        "Haswell",
        "HASWELL",
        75,
        &[
            (0x0402, 0x042e),
            (0x0a02, 0x0a2e),
            (0x0c02, 0x0c2e),
            (0x0d02, 0x0d2e),
        ],
    ),
    ("Valleyview", "VALLEYVIEW", 70, &[(0x0f30, 0x0f33)]),
    ("Ivy Bridge", "IVYBRIDGE", 70, &[(0x0152, 0x016a)]),
    ("Broadwell", "BROADWELL", 80, &[(0x1602, 0x163e)]),
    ("Cherryview", "CHERRYVIEW", 80, &[(0x22b0, 0x22b3)]),
    ("Skylake", "SKYLAKE", 90, &[(0x1902, 0x193d)]),
    (
        "Broxton",
        "BROXTON",
        90,
        &[(0x0a84, 0x0a84), (0x1a84, 0x1a85), (0x5a84, 0x5a85)],
    ),
    (
        "Kaby Lake",
        "KABYLAKE",
        90,
        &[(0x5902, 0x593b), (0x87c0, 0x87c0)],
    ),
    ("Gemini Lake", "GEMINILAKE", 90, &[(0x3184, 0x3185)]),
    (
        "Coffee Lake",
        "COFFEELAKE",
        90,
        &[(0x3e90, 0x3ea9), (0x87ca, 0x87ca)],
    ),
    (
        "Comet Lake",
        "COMETLAKE",
        90,
        &[(0x9b21, 0x9b41), (0x9ba2, 0x9bf6)],
    ),
    ("Cannon Lake", "CANNONLAKE", 100, &[(0x5a40, 0x5a5c)]),
    ("Ice Lake", "ICELAKE", 110, &[(0x8a50, 0x8a71)]),
    ("Elkhart Lake", "ELKHARTLAKE", 110, &[(0x4541, 0x4571)]),
    ("Jasper Lake", "JASPERLAKE", 110, &[(0x4e51, 0x4e71)]),
    ("Tiger Lake", "TIGERLAKE", 120, &[(0x9a40, 0x9af8)]),
    ("Rocket Lake", "ROCKETLAKE", 120, &[(0x4c80, 0x4c9a)]),
    ("DG1", "DG1", 120, &[(0x4905, 0x4909)]),
    (
        "Alder Lake-S",
        "ALDERLAKE_S",
        120,
        &[(0x4680, 0x4693), (0xa780, 0xa78b)],
    ),
    (
        "Alder Lake-P",
        "ALDERLAKE_P",
        120,
        &[
            (0x4626, 0x462a),
            (0x46a0, 0x46d4),
            (0xa720, 0xa721),
            (0xa7a0, 0xa7ad),
        ],
    ),
    ("DG2", "DG2", 125, &[(0x5690, 0x56c2)]),
    (
        "Ponte Vecchio",
        "PONTEVECCHIO",
        126,
        &[(0x0b69, 0x0b6e), (0x0bd4, 0x0be5)],
    ),
    (
        "Meteor Lake",
        "METEORLAKE",
        127,
        &[(0x7d40, 0x7d45), (0x7d55, 0x7d60), (0x7dd5, 0x7dd5)],
    ),
    (
        "Arrow Lake",
        "ARROWLAKE",
        127,
        &[
            (0x7d41, 0x7d41),
            (0x7d51, 0x7d51),
            (0x7d67, 0x7d67),
            (0x7dd1, 0x7dd1),
            (0xb640, 0xb640),
        ],
    ),
    ("Lunar Lake", "LUNARLAKE", 200, &[(0x6420, 0x64b0)]),
    ("Battlemage", "BATTLEMAGE", 200, &[(0xe202, 0xe223)]),
    ("Panther Lake", "PANTHERLAKE", 300, &[(0xb080, 0xb0b0)]),
];

/// The commands of a generation, times ten.
pub fn commands(generation: u16) -> Option<&'static Generation> {
    Some(match generation {
        40 => &kin::GEN965,
        45 => &gen4::GENERATION,
        50 => &kin::GEN5,
        60 => &gen6::GENERATION,
        70 => &gen7::GENERATION,
        75 => &kin::GEN75,
        80 => &kin::GEN8,
        90 | 100 => &kin::GEN9,
        110 => &kin::GEN11,
        120 => &kin::GEN12,
        // Later ones have most of these, and more.
        125..=300 => &gen12::GENERATION,
        _ => return None,
    })
}

/// The generation, times ten, of some commands: the first that has them.
pub fn generation(of: &Generation) -> u16 {
    const ALL: [u16; 11] = [40, 45, 50, 60, 70, 75, 80, 90, 110, 120, 125];
    let same = |g: &u16| commands(*g).is_some_and(|c| c.name == of.name);
    ALL.into_iter().find(same).unwrap_or(0)
}

fn chip(row: &Row) -> Chip {
    Chip {
        name: row.0,
        generation: row.2,
        commands: commands(row.2),
    }
}

/// The chip with a PCI device id.
pub fn by_id(id: u64) -> Option<Chip> {
    let id = u16::try_from(id).ok()?;
    // Those with fewer ids are first asked: ranges of Arrow and Meteor Lake cross.
    let exact = CHIPS.iter().find(|c| c.3.iter().any(|r| r.0 == id));
    let range = || {
        CHIPS
            .iter()
            .find(|c| c.3.iter().any(|r| r.0 <= id && id <= r.1))
    };
    exact.or_else(range).map(chip)
}

/// The chip by the name that the kernel has for its platform.
pub fn by_platform(name: &str) -> Option<Chip> {
    let plain = |n: &str| n.replace(['_', '-', ' '], "").to_ascii_uppercase();
    let wanted = plain(name);
    CHIPS.iter().find(|c| plain(c.1) == wanted).map(chip)
}

/// What is known by a generation alone.
pub fn by_generation(generation: u16) -> Chip {
    Chip {
        name: "a chip",
        generation,
        commands: commands(generation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        for (id, name, generation) in [
            (0x2a42, "GM45", 45),
            (0x29a2, "965G", 40),
            (0x2e22, "G45", 45),
            (0x0046, "Ironlake", 50),
            (0x0126, "Sandy Bridge", 60),
            (0x0166, "Ivy Bridge", 70),
            (0x0a16, "Haswell", 75),
            (0x0a84, "Broxton", 90),
            (0x1916, "Skylake", 90),
            (0x8a52, "Ice Lake", 110),
            (0x9a49, "Tiger Lake", 120),
            (0x46a6, "Alder Lake-P", 120),
            (0x56a0, "DG2", 125),
            (0x7d45, "Meteor Lake", 127),
            (0x7d41, "Arrow Lake", 127),
            (0xe20b, "Battlemage", 200),
        ] {
            let chip = by_id(id).expect("known");
            assert_eq!((chip.name, chip.generation), (name, generation), "{id:#x}");
            assert!(chip.commands.is_some());
        }
        assert_eq!(by_id(0x1234), None);
        assert_eq!(by_id(0x1_2a42), None);
        assert!(by_id(0x27ae).is_some_and(|c| c.commands.is_none()));
    }

    #[test]
    fn platforms() {
        assert_eq!(by_platform("SANDYBRIDGE"), by_id(0x0116));
        assert_eq!(by_platform("Alderlake_P"), by_id(0x46a6));
        assert_eq!(by_platform("VAX"), None);
    }

    /// A range of ids belongs to one chip; a single id in another's range is found first.
    #[test]
    fn every_range_is_found() {
        for row in CHIPS {
            for (first, last) in row.3 {
                assert!(first <= last, "{}", row.0);
                assert_eq!(
                    by_id(u64::from(*first)).map(|c| c.name),
                    Some(row.0),
                    "{first:#x}"
                );
                assert_eq!(
                    by_id(u64::from(*last)).map(|c| c.name),
                    Some(row.0),
                    "{last:#x}"
                );
                assert_eq!(by_platform(row.1).map(|c| c.name), Some(row.0));
            }
        }
    }
}

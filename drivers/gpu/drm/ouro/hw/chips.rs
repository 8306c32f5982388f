// SPDX-License-Identifier: GPL-2.0
//! The chips: from PCI id to generation. The one place where a generation is chosen.

use crate::{gen12, gen6, generation::Generation, r5xx};

/// A chip.
#[derive(Clone, Copy)]
pub struct Chip {
    /// PCI vendor id.
    pub vendor: u16,
    /// PCI device id.
    pub device: u16,
    /// What it is called.
    pub name: &'static str,
    /// Its generation.
    pub generation: &'static dyn Generation,
}

/// Intel's PCI vendor id.
pub const INTEL: u16 = 0x8086;
/// ATI's PCI vendor id.
pub const ATI: u16 = 0x1002;

const fn snb(device: u16, name: &'static str) -> Chip {
    Chip {
        vendor: INTEL,
        device,
        name,
        generation: &gen6::GEN6,
    }
}

/// Sandy Bridge.
pub const SANDY_BRIDGES: &[Chip] = &[
    snb(0x0102, "Sandy Bridge GT1 desktop"),
    snb(0x0106, "Sandy Bridge GT1 mobile"),
    snb(0x010a, "Sandy Bridge GT1 server"),
    snb(0x0112, "Sandy Bridge GT2 desktop"),
    snb(0x0116, "Sandy Bridge GT2 mobile"),
    snb(0x0122, "Sandy Bridge GT2+ desktop"),
    snb(0x0126, "Sandy Bridge GT2+ mobile"),
];

const fn radeon(device: u16, name: &'static str, family: &'static r5xx::R5xx) -> Chip {
    Chip {
        vendor: ATI,
        device,
        name,
        generation: family,
    }
}

const fn r520(device: u16) -> Chip {
    radeon(device, "R520", &r5xx::R520)
}

const fn rv515(device: u16) -> Chip {
    radeon(device, "RV515", &r5xx::RV515)
}

const fn rv530(device: u16) -> Chip {
    radeon(device, "RV530", &r5xx::RV530)
}

const fn r580(device: u16) -> Chip {
    radeon(device, "R580", &r5xx::R520)
}

const fn rv570(device: u16) -> Chip {
    radeon(device, "RV570", &r5xx::R520)
}

const fn rv560(device: u16) -> Chip {
    radeon(device, "RV560", &r5xx::R520)
}

/// R5xx chips (digest §5.1).
#[rustfmt::skip]
pub const RADEONS: &[Chip] = &[
    r520(0x7100), r520(0x7101), r520(0x7102), r520(0x7103), r520(0x7104), r520(0x7105),
    r520(0x7106), r520(0x7108), r520(0x7109), r520(0x710a), r520(0x710b), r520(0x710c),
    r520(0x710e), r520(0x710f),
    rv515(0x7140), rv515(0x7141), rv515(0x7142), rv515(0x7143), rv515(0x7144), rv515(0x7145),
    rv515(0x7146), rv515(0x7147), rv515(0x7149), rv515(0x714a), rv515(0x714b), rv515(0x714c),
    rv515(0x714d), rv515(0x714e), rv515(0x714f), rv515(0x7151), rv515(0x7152), rv515(0x7153),
    rv515(0x715e), rv515(0x715f), rv515(0x7180), rv515(0x7181), rv515(0x7183), rv515(0x7186),
    rv515(0x7187), rv515(0x7188), rv515(0x718a), rv515(0x718b), rv515(0x718c), rv515(0x718d),
    rv515(0x718f), rv515(0x7193), rv515(0x7196), rv515(0x719b), rv515(0x719f), rv515(0x7200),
    rv515(0x7210), rv515(0x7211),
    rv530(0x71c0), rv530(0x71c1), rv530(0x71c2), rv530(0x71c3), rv530(0x71c4), rv530(0x71c5),
    rv530(0x71c6), rv530(0x71c7), rv530(0x71cd), rv530(0x71ce), rv530(0x71d2), rv530(0x71d4),
    rv530(0x71d5), rv530(0x71d6), rv530(0x71da), rv530(0x71de),
    r580(0x7240), r580(0x7243), r580(0x7244), r580(0x7245), r580(0x7246), r580(0x7247),
    r580(0x7248), r580(0x7249), r580(0x724a), r580(0x724b), r580(0x724c), r580(0x724d),
    r580(0x724e), r580(0x724f), r580(0x7284),
    rv570(0x7280), rv570(0x7288), rv570(0x7289), rv570(0x728b), rv570(0x728c),
    rv560(0x7281), rv560(0x7283), rv560(0x7287), rv560(0x7290), rv560(0x7291), rv560(0x7293),
    rv560(0x7297),
];

const fn arc(device: u16, name: &'static str, part: &'static gen12::Gen12) -> Chip {
    Chip {
        vendor: INTEL,
        device,
        name,
        generation: part,
    }
}

const fn g10(device: u16) -> Chip {
    arc(device, "DG2-G10", &gen12::G10)
}

const fn g11(device: u16) -> Chip {
    arc(device, "DG2-G11", &gen12::G11)
}

const fn g12(device: u16) -> Chip {
    arc(device, "DG2-G12", &gen12::G12)
}

const fn m150(device: u16) -> Chip {
    arc(device, "ATS-M150", &gen12::ATS_M150)
}

const fn m75(device: u16) -> Chip {
    arc(device, "ATS-M75", &gen12::ATS_M75)
}

/// DG2 and ATS-M (digest of Gen12, §5.1).
#[rustfmt::skip]
pub const ARCS: &[Chip] = &[
    g10(0x56a0), g10(0x56a1), g10(0x56a2), g10(0x56be), g10(0x56bf),
    g10(0x5690), g10(0x5691), g10(0x5692),
    g11(0x56a5), g11(0x56a6), g11(0x56b0), g11(0x56b1), g11(0x56ba), g11(0x56bb), g11(0x56bc),
    g11(0x56bd), g11(0x5693), g11(0x5694), g11(0x5695),
    g12(0x56a3), g12(0x56a4), g12(0x56b2), g12(0x56b3), g12(0x5696), g12(0x5697),
    m150(0x56c0), m150(0x56c2), m75(0x56c1),
];

/// All chips that have a backend.
const ALL: &[&[Chip]] = &[SANDY_BRIDGES, RADEONS, ARCS];

/// The chip of a PCI id.
pub fn lookup(vendor: u16, device: u16) -> Option<&'static Chip> {
    ALL.iter()
        .copied()
        .flatten()
        .find(|c| c.vendor == vendor && c.device == device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_id_is_one_chip() {
        let all = ALL.iter().copied().flatten();
        let ids: BTreeSet<_> = all.clone().map(|c| (c.vendor, c.device)).collect();
        assert_eq!(ids.len(), all.count());
    }

    #[test]
    fn arcs_have_the_ids_of_digest_5_1() {
        let of = |name| ARCS.iter().filter(|c| c.name == name).count();
        let families = ["DG2-G10", "DG2-G11", "DG2-G12", "ATS-M150", "ATS-M75"];
        assert_eq!(families.map(of), [8, 11, 6, 2, 1]);
        for (device, name) in [
            (0x56a0, "DG2-G10"),
            (0x5692, "DG2-G10"),
            (0x56bd, "DG2-G11"),
            (0x56a4, "DG2-G12"),
            (0x56c0, "ATS-M150"),
            (0x56c1, "ATS-M75"),
        ] {
            let chip = lookup(0x8086, device).unwrap();
            assert_eq!((chip.name, chip.generation.name()), (name, "gen12"));
        }
    }

    #[test]
    fn families_have_the_ids_of_digest_5_1() {
        let of = |name| RADEONS.iter().filter(|c| c.name == name).count();
        let families = ["R520", "RV515", "RV530", "R580", "RV570", "RV560"];
        assert_eq!(families.map(of), [14, 38, 16, 15, 5, 7]);
        for (device, name) in [
            (0x7100, "R520"),
            (0x7140, "RV515"),
            (0x7211, "RV515"),
            (0x71c5, "RV530"),
            (0x7240, "R580"),
            (0x7284, "R580"),
            (0x7280, "RV570"),
            (0x7297, "RV560"),
        ] {
            let chip = lookup(0x1002, device).unwrap();
            assert_eq!((chip.name, chip.generation.name()), (name, "r5xx"));
        }
        assert!(lookup(0x8086, 0x7140).is_none());
    }
}

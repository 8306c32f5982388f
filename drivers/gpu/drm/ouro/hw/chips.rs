// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The table of chips, from PCI id to generation: the one place that selects a generation.
//!
//! A new chip is one row of `for_each_chip!`; the table here and the module's PCI id table are both
//! built from these rows.

use crate::{gen12, gen4, gen6, gen7, generation::Generation, r5xx};

/// A chip.
#[derive(Clone, Copy)]
pub struct Chip {
    /// PCI vendor id.
    pub vendor: u16,
    /// PCI device id.
    pub device: u16,
    /// Marketing or code name.
    pub name: &'static str,
    /// Its generation.
    pub generation: &'static dyn Generation,
}

/// Intel's PCI vendor id.
pub const INTEL: u16 = 0x8086;
/// ATI's PCI vendor id.
pub const ATI: u16 = 0x1002;

/// Calls a macro with the rows of all chips: vendor, name, backend, and the PCI device ids of that
/// name.
///
/// The ids are literals because the kernel's macro for PCI id tables accepts nothing else. The
/// vendor is [`INTEL`] or [`ATI`], which are also the kernel's names.
#[macro_export]
#[rustfmt::skip]
macro_rules! for_each_chip {
    ($callback:ident) => {
        $callback! {
            // Gen4: 965G, GM965, G45, GM45 and their sisters (digest of it, G-01).
            INTEL "946GZ" gen4::DESKTOP_965 [0x2972];
            INTEL "G35" gen4::DESKTOP_965 [0x2982];
            INTEL "965Q" gen4::DESKTOP_965 [0x2992];
            INTEL "965G" gen4::DESKTOP_965 [0x29a2];
            INTEL "965GM" gen4::MOBILE_965 [0x2a02];
            INTEL "965GME" gen4::MOBILE_965 [0x2a12];
            INTEL "GM45" gen4::MOBILE_G4X [0x2a42];
            INTEL "Q45" gen4::DESKTOP_G4X [0x2e12];
            INTEL "G45" gen4::DESKTOP_G4X [0x2e02, 0x2e22];
            INTEL "G41" gen4::DESKTOP_G4X [0x2e32];
            INTEL "B43" gen4::DESKTOP_G4X [0x2e42, 0x2e92];
            // Sandy Bridge.
            INTEL "Sandy Bridge GT1 desktop" gen6::GEN6 [0x0102];
            INTEL "Sandy Bridge GT1 mobile" gen6::GEN6 [0x0106];
            INTEL "Sandy Bridge GT1 server" gen6::GEN6 [0x010a];
            INTEL "Sandy Bridge GT2 desktop" gen6::GEN6 [0x0112];
            INTEL "Sandy Bridge GT2 mobile" gen6::GEN6 [0x0116];
            INTEL "Sandy Bridge GT2+ desktop" gen6::GEN6 [0x0122];
            INTEL "Sandy Bridge GT2+ mobile" gen6::GEN6 [0x0126];
            // Ivy Bridge (digest of its video engine, V-01).
            INTEL "Ivy Bridge GT1 desktop" gen7::GT1 [0x0152];
            INTEL "Ivy Bridge GT1 mobile" gen7::GT1 [0x0156];
            INTEL "Ivy Bridge GT1 server" gen7::GT1 [0x015a];
            INTEL "Ivy Bridge GT2 desktop" gen7::GT2 [0x0162];
            INTEL "Ivy Bridge GT2 mobile" gen7::GT2 [0x0166];
            INTEL "Ivy Bridge GT2 server" gen7::GT2 [0x016a];
            // DG2 and ATS-M (digest of Gen12, §5.1).
            INTEL "DG2-G10" gen12::G10 [
                0x56a0, 0x56a1, 0x56a2, 0x56be, 0x56bf, 0x5690, 0x5691, 0x5692,
            ];
            INTEL "DG2-G11" gen12::G11 [
                0x56a5, 0x56a6, 0x56b0, 0x56b1, 0x56ba, 0x56bb, 0x56bc, 0x56bd, 0x5693, 0x5694,
                0x5695,
            ];
            INTEL "DG2-G12" gen12::G12 [0x56a3, 0x56a4, 0x56b2, 0x56b3, 0x5696, 0x5697];
            INTEL "ATS-M150" gen12::ATS_M150 [0x56c0, 0x56c2];
            INTEL "ATS-M75" gen12::ATS_M75 [0x56c1];
            // R5xx (digest §5.1).
            ATI "R520" r5xx::R520 [
                0x7100, 0x7101, 0x7102, 0x7103, 0x7104, 0x7105, 0x7106, 0x7108, 0x7109, 0x710a,
                0x710b, 0x710c, 0x710e, 0x710f,
            ];
            ATI "RV515" r5xx::RV515 [
                0x7140, 0x7141, 0x7142, 0x7143, 0x7144, 0x7145, 0x7146, 0x7147, 0x7149, 0x714a,
                0x714b, 0x714c, 0x714d, 0x714e, 0x714f, 0x7151, 0x7152, 0x7153, 0x715e, 0x715f,
                0x7180, 0x7181, 0x7183, 0x7186, 0x7187, 0x7188, 0x718a, 0x718b, 0x718c, 0x718d,
                0x718f, 0x7193, 0x7196, 0x719b, 0x719f, 0x7200, 0x7210, 0x7211,
            ];
            ATI "RV530" r5xx::RV530 [
                0x71c0, 0x71c1, 0x71c2, 0x71c3, 0x71c4, 0x71c5, 0x71c6, 0x71c7, 0x71cd, 0x71ce,
                0x71d2, 0x71d4, 0x71d5, 0x71d6, 0x71da, 0x71de,
            ];
            ATI "R580" r5xx::R520 [
                0x7240, 0x7243, 0x7244, 0x7245, 0x7246, 0x7247, 0x7248, 0x7249, 0x724a, 0x724b,
                0x724c, 0x724d, 0x724e, 0x724f, 0x7284,
            ];
            ATI "RV570" r5xx::R520 [0x7280, 0x7288, 0x7289, 0x728b, 0x728c];
            ATI "RV560" r5xx::R520 [0x7281, 0x7283, 0x7287, 0x7290, 0x7291, 0x7293, 0x7297];
        }
    };
}

macro_rules! rows {
    ($($vendor:ident $name:literal $generation:path [$($device:literal),* $(,)?];)*) => {
        &[$($(Chip {
            vendor: $vendor,
            device: $device,
            name: $name,
            generation: &$generation,
        }),*),*]
    };
}

/// All chips that the driver binds.
pub const ALL: &[Chip] = for_each_chip!(rows);

/// Returns the chip with a PCI id, if the driver supports it.
pub fn lookup(vendor: u16, device: u16) -> Option<&'static Chip> {
    ALL.iter()
        .find(|c| c.vendor == vendor && c.device == device)
}

/// Returns the chips of a backend, by [`Generation::name`].
pub fn of(generation: &str) -> impl Iterator<Item = &'static Chip> + '_ {
    ALL.iter()
        .filter(move |c| c.generation.name() == generation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, vec::Vec};

    #[test]
    fn each_id_is_one_chip() {
        let ids: BTreeSet<_> = ALL.iter().map(|c| (c.vendor, c.device)).collect();
        assert_eq!(ids.len(), ALL.len());
    }

    #[test]
    fn gen4_has_the_ids_of_g_01() {
        let ids: BTreeSet<_> = of("gen4").map(|c| c.device).collect();
        let expected = [
            0x2972, 0x2982, 0x2992, 0x29a2, 0x2a02, 0x2a12, 0x2a42, 0x2e02, 0x2e12, 0x2e22, 0x2e32,
            0x2e42, 0x2e92,
        ];
        assert_eq!(ids, BTreeSet::from(expected));
        // By family: bits of an address.
        let bits = |id| lookup(0x8086, id).unwrap().generation.dma_bits();
        assert_eq!([0x29a2, 0x2a02].map(bits), [32; 2]);
        assert_eq!([0x2a42, 0x2e22].map(bits), [36; 2]);
    }

    #[test]
    fn ivy_bridges_have_the_ids_of_v_01() {
        let ids: Vec<_> = of("gen7").map(|c| (c.vendor, c.device)).collect();
        let expected = [0x152, 0x156, 0x15a, 0x162, 0x166, 0x16a].map(|id| (0x8086, id));
        assert_eq!(ids, expected);
        let larger = |id| lookup(0x8086, id).unwrap().name.contains("GT2");
        assert_eq!(
            expected.map(|(_, id)| larger(id)),
            [false, false, false, true, true, true]
        );
    }

    #[test]
    fn arcs_have_the_ids_of_digest_5_1() {
        let named = |name| of("gen12").filter(|c| c.name == name).count();
        let families = ["DG2-G10", "DG2-G11", "DG2-G12", "ATS-M150", "ATS-M75"];
        assert_eq!(families.map(named), [8, 11, 6, 2, 1]);
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
        let named = |name| of("r5xx").filter(|c| c.name == name).count();
        let families = ["R520", "RV515", "RV530", "R580", "RV570", "RV560"];
        assert_eq!(families.map(named), [14, 38, 16, 15, 5, 7]);
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

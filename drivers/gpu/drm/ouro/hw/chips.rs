// SPDX-License-Identifier: GPL-2.0
//! The chips: from PCI id to generation. The one place where a generation is chosen.

use crate::{gen6, generation::Generation};

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

const fn snb(device: u16, name: &'static str) -> Chip {
    Chip {
        vendor: INTEL,
        device,
        name,
        generation: &gen6::GEN6,
    }
}

/// All chips that the driver binds.
pub const CHIPS: &[Chip] = &[
    snb(0x0102, "Sandy Bridge GT1 desktop"),
    snb(0x0106, "Sandy Bridge GT1 mobile"),
    snb(0x010a, "Sandy Bridge GT1 server"),
    snb(0x0112, "Sandy Bridge GT2 desktop"),
    snb(0x0116, "Sandy Bridge GT2 mobile"),
    snb(0x0122, "Sandy Bridge GT2+ desktop"),
    snb(0x0126, "Sandy Bridge GT2+ mobile"),
];

/// The chip of a PCI id.
pub fn lookup(vendor: u16, device: u16) -> Option<&'static Chip> {
    CHIPS
        .iter()
        .find(|c| c.vendor == vendor && c.device == device)
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Names of the bits of error and status registers, beside those of
//! [`crate::intel::processor::names`].
//!
//! Units: the public XML of this generation's registers (`INSTDONE_1`, `SC_INSTDONE`).

use crate::{
    intel::processor::names::ERRORS,
    report::{BitName, Names},
};

/// Bits of the device's error register at 0x40a0, with the names of the upstream tools. Accesses of
/// protected content to foreign memory have bits of their own.
#[rustfmt::skip]
pub(super) const TRANSLATION: &[BitName] = &[
    (0, "invalid PTE"), (1, "address of a protected read"), (2, "invalid PDE"),
    (3, "address of a protected read-only stream"), (4, "VT-d fault"),
    (5, "address of a protected write"), (6, "PDE: VT-d fault"), (8, "page directory not loaded"),
];

/// INSTDONE of the render engine. Bit 0 (ring enabled) is no unit.
#[rustfmt::skip]
const RENDER_UNITS: &[BitName] = &[
    (1, "VFG"), (2, "VS"), (3, "HS"), (4, "TE"), (5, "DS"), (6, "GS"), (7, "SOL"), (8, "CL"),
    (9, "SF"), (12, "TDG"), (13, "URBM"), (14, "SVG"), (15, "GAFS"), (16, "VFE"), (17, "TSG"),
    (18, "GAFM"), (19, "GAM"), (22, "SDE"), (23, "RCCFBC CS"),
];

/// The second INSTDONE word: units of the slices.
#[rustfmt::skip]
const SLICE_UNITS: &[BitName] = &[
    (0, "SVL"), (1, "WMFE"), (2, "WMBE"), (3, "HIZ"), (4, "STC"), (5, "IZ"), (6, "SBE"), (8, "RCZ"),
    (9, "RCC"), (10, "RCPBE"), (11, "RCPFE"), (12, "DAPB"), (13, "DAPRBE"), (14, "IECP"),
    (15, "SARB"), (16, "VSC"),
];

/// Names for the render engine.
pub(super) static RENDER: Names = Names {
    errors: ERRORS,
    units: RENDER_UNITS,
    more_units: SLICE_UNITS,
    sources: &[],
};

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Names of the bits of error and status registers.
//!
//! Errors: SNB PRM V1P2 §5.7. Units: digest G-42 (from the public XML of these registers).

use crate::{
    intel::processor::names::ERRORS,
    report::{BitName, Names},
};

/// Bits of [`super::gt_regs::ERROR_GEN6`] (G-23).
#[rustfmt::skip]
pub(crate) const TRANSLATION: &[BitName] = &[
    (0, "invalid PTE"), (1, "context image: invalid PTE"), (2, "invalid PDE"),
    (3, "HWSP: invalid PTE"), (4, "VT-d fault"), (5, "context image: VT-d fault"),
    (6, "PDE: VT-d fault"), (7, "HWSP: VT-d fault"), (8, "page directory not loaded"),
];

/// INSTDONE of the render engine. Bit 0 (ring enabled) is no unit.
#[rustfmt::skip]
const RENDER_UNITS: &[BitName] = &[
    (1, "AVS"), (2, "HIZ"), (3, "GW"), (4, "TS"), (6, "TD"), (7, "VFE"), (8, "IEF"), (9, "VSC"),
    (10, "ISC2/3"), (11, "ISC1/0"), (12, "IC0"), (13, "IC1"), (14, "IC2"), (15, "IC3"),
    (16, "EU00"), (17, "EU01"), (18, "EU02"), (19, "MA0"), (20, "EU10"), (21, "EU11"), (22, "EU12"),
    (23, "MA1"), (24, "EU20"), (25, "EU21"), (26, "EU22"), (27, "MA2"), (28, "EU30"), (29, "EU31"),
    (30, "EU32"), (31, "MA3"),
];

/// The second INSTDONE word.
#[rustfmt::skip]
const RENDER_MORE_UNITS: &[BitName] = &[
    (0, "VF"), (1, "VS0"), (2, "GS"), (3, "CL"), (4, "SF"), (5, "VME"), (6, "PL"), (7, "SO"),
    (8, "SI"), (9, "DG"), (10, "FT"), (11, "DM"), (12, "SC"), (13, "FL"), (14, "QC"), (15, "SVSM"),
    (16, "WMFE"), (17, "IZ"), (18, "PSD"), (19, "DAP"), (20, "RCZ"), (21, "VDI"), (22, "RCPBE"),
    (23, "RCPFE"), (24, "MT"), (25, "ISC"), (26, "SVG"), (27, "RCC"), (28, "SVRW"), (29, "WMBE"),
    (30, "CS"), (31, "GAM"),
];

/// Names for the render engine.
pub(crate) static RENDER: Names = Names {
    errors: ERRORS,
    units: RENDER_UNITS,
    more_units: RENDER_MORE_UNITS,
    sources: &[],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bit_has_two_names() {
        for table in [TRANSLATION, RENDER_UNITS, RENDER_MORE_UNITS] {
            assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
            assert!(table.iter().all(|(bit, _)| *bit < 32));
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Names of state and error bits (digest §3.1, §3.2).

use crate::report::{BitName, Names};

/// Bits of `RBBM_STATUS`, by busy unit.
pub(super) const UNITS: &[BitName] = &[
    (16, "command stream"),
    (17, "E2"),
    (18, "RB2D"),
    (19, "RB3D"),
    (20, "VAP"),
    (21, "RE"),
    (22, "TAM"),
    (23, "TDM"),
    (24, "PB"),
    (25, "TIM"),
    (26, "GA"),
    (27, "CBA2D"),
    (28, "HI"),
    (30, "VF"),
    (31, "GUI"),
];

/// Bits of `CP_STAT`, by busy part.
const PARTS: &[BitName] = &[
    (0, "MRU"),
    (1, "MWU"),
    (2, "RSIU"),
    (3, "RCIU"),
    (9, "ring fetch"),
    (10, "IB1 fetch"),
    (11, "ring queue"),
    (12, "IB1 queue"),
    (13, "CSI"),
    (14, "IB2 fetch"),
    (15, "IB2 queue"),
    (28, "GUI DMA"),
    (29, "video DMA"),
    (30, "stream"),
    (31, "CP"),
];

/// Faults in `GEN_INT_STATUS`.
const FAULTS: &[BitName] = &[(16, "memory probe"), (21, "memory protection")];

/// The names.
pub(super) static NAMES: Names = Names {
    errors: FAULTS,
    units: UNITS,
    more_units: PARTS,
    sources: &[],
};

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Names of the bits of error and status registers, by family.
//!
//! Errors: G-15. Page table errors: G-07. Units: the public tools of upstream (G-11); those of the
//! video engine are not known.

use crate::report::{BitName, Names};

/// Bits of the error registers of 965 (§5.7.1).
const ERRORS_965: &[BitName] = &[(0, "instruction"), (1, "memory refresh"), (4, "page table")];
/// Bits of the error registers of G4X.
const ERRORS_G4X: &[BitName] = &[
    (0, "instruction"),
    (1, "memory refresh"),
    (3, "command privilege"),
    (4, "memory privilege"),
    (5, "page table"),
];

/// Bits of PGTBL_ER (§5.7.2): the client that used an invalid entry.
#[rustfmt::skip]
pub(super) const TABLE: &[BitName] = &[
    (0, "invalid PTE of the host"), (1, "PTE maps no memory"), (4, "invalid PTE of display A"),
    (8, "invalid PTE of display B"), (17, "invalid PTE of the overlay"),
    (18, "invalid PTE of the cursor"), (19, "invalid PTE of the command streamer"),
    (20, "invalid PTE of the command fetch"), (21, "invalid PTE of the vertex fetch"),
    (22, "invalid PTE of the ROC"), (23, "invalid PTE of state and instructions"),
    (24, "invalid PTE of the render cache"), (26, "invalid PTE of the sampler"),
];

/// INSTDONE of both families. Bit 0 (ring enabled) is no unit.
#[rustfmt::skip]
const UNITS: &[BitName] = &[
    (1, "CP"), (2, "IC row 1"), (3, "IC row 0"), (4, "MA row 1"), (5, "MA row 0"), (6, "map L2"),
    (7, "map filter"), (8, "CC"), (9, "PS"), (10, "bypass"), (11, "filter"), (12, "sampler cache"),
    (13, "texture decompress"), (14, "texture fetch"), (15, "quad cache"), (16, "DG"),
    (17, "projection"), (18, "dispatcher"), (21, "WM"), (22, "SE"), (23, "SF"), (24, "row 1 EU 3"),
    (25, "row 1 EU 2"), (26, "row 1 EU 1"), (27, "row 1 EU 0"), (28, "row 0 EU 3"),
    (29, "row 0 EU 2"), (30, "row 0 EU 1"), (31, "row 0 EU 0"),
];

/// The second INSTDONE word of 965.
#[rustfmt::skip]
const MORE_UNITS_965: &[BitName] = &[
    (0, "VF"), (1, "VS0"), (2, "GS"), (3, "CL"), (4, "ISC"), (5, "URB"), (6, "UC0"), (7, "UC1"),
    (8, "EM0"), (9, "EM1"), (10, "MAW"), (11, "MASF"), (12, "MASM"), (13, "SVTW"), (14, "SVRR"),
    (15, "SVRW"), (16, "SVDR"), (17, "SVDW"), (18, "SVSM"), (19, "GW"),
];
/// The second INSTDONE word of G4X. Bit 18 is left out: a one means that the blitter is busy.
#[rustfmt::skip]
const MORE_UNITS_G4X: &[BitName] = &[
    (0, "VF"), (1, "VS0"), (2, "GS"), (3, "CL"), (4, "SF"), (5, "URB"), (6, "WIZ"), (7, "PL"),
    (8, "SO"), (9, "SI"), (10, "DG"), (11, "FT"), (12, "DM"), (13, "SC"), (14, "FL"), (15, "QC"),
    (16, "MASM"), (17, "SVSM"), (19, "MT idle"), (20, "MAWB"), (21, "DAP"), (22, "RC"), (23, "MT"),
    (24, "ISC"), (25, "SVRR"), (26, "SVRW"), (27, "SVDR"), (28, "SVDW"), (29, "MASF"), (30, "CS"),
    (31, "BCS"),
];

/// Names for the render engine of 965.
pub(super) static RENDER_965: Names = Names {
    errors: ERRORS_965,
    units: UNITS,
    more_units: MORE_UNITS_965,
    sources: &[],
};
/// Names for the render engine of G4X.
pub(super) static RENDER_G4X: Names = Names {
    errors: ERRORS_G4X,
    units: UNITS,
    more_units: MORE_UNITS_G4X,
    sources: &[],
};
/// Names for the video engine.
pub(super) static VIDEO: Names = Names {
    errors: &[],
    units: &[],
    more_units: &[],
    sources: &[],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bit_has_two_names() {
        for table in [
            ERRORS_965,
            ERRORS_G4X,
            TABLE,
            UNITS,
            MORE_UNITS_965,
            MORE_UNITS_G4X,
        ] {
            assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
            assert!(table.iter().all(|(bit, _)| *bit < 32));
        }
    }

    #[test]
    fn bit_4_is_another_error_on_each_family() {
        // G-15: 965 4 page table; G4X 5 page table, 4 memory privilege, 3 command privilege.
        let named = |table: &[BitName], bit| table.iter().find(|n| n.0 == bit).map(|n| n.1);
        assert_eq!(named(ERRORS_965, 4), Some("page table"));
        assert_eq!(named(ERRORS_965, 5), None);
        assert_eq!(named(ERRORS_G4X, 4), Some("memory privilege"));
        assert_eq!(named(ERRORS_G4X, 5), Some("page table"));
    }
}

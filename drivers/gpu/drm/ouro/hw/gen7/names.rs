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
    (0, "page"), (1, "place of a protected read"), (2, "directory entry"), (3, "place of a protected read-only stream"),
    (4, "page, IOMMU"), (5, "place of a protected write"), (6, "directory entry, IOMMU"), (8, "directory not loaded"),
];

/// INSTDONE of the render engine. Bit 0 (ring enabled) is no unit.
#[rustfmt::skip]
const RENDER_UNITS: &[BitName] = &[
    (1, "VFG"), (2, "VS"), (3, "HS"), (4, "TE"), (5, "DS"), (6, "GS"), (7, "SOL"), (8, "CL"), (9, "SF"), (12, "TDG"),
    (13, "URBM"), (14, "SVG"), (15, "GAFS"), (16, "VFE"), (17, "TSG"), (18, "GAFM"), (19, "GAM"), (22, "SDE"),
    (23, "RCCFBC CS"),
];

/// The second INSTDONE word: units of the slices.
#[rustfmt::skip]
const SLICE_UNITS: &[BitName] = &[
    (0, "SVL"), (1, "WMFE"), (2, "WMBE"), (3, "HIZ"), (4, "STC"), (5, "IZ"), (6, "SBE"), (8, "RCZ"), (9, "RCC"),
    (10, "RCPBE"), (11, "RCPFE"), (12, "DAPB"), (13, "DAPRBE"), (14, "IECP"), (15, "SARB"), (16, "VSC"),
];

/// Names for the render engine.
pub(super) static RENDER: Names = Names {
    errors: ERRORS,
    units: RENDER_UNITS,
    more_units: SLICE_UNITS,
    sources: &[],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gen7::GT2, generation::Generation, gt::Gt, mock::Mock, report::FaultKind};
    use std::string::ToString;

    #[test]
    fn no_bit_has_two_names() {
        for table in [TRANSLATION, RENDER_UNITS, SLICE_UNITS] {
            assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
            assert!(table.iter().all(|(bit, _)| *bit < 32));
        }
    }

    #[test]
    fn a_report_says_what_failed_and_who_is_busy() {
        let mock = Mock::default();
        mock.config(0x50, 0x0200);
        mock.set(0x21a8, 1);
        mock.aperture.set(256 << 20);
        let topo = GT2.probe(&mock.hw(), &crate::chips::ALL[0]).unwrap();
        mock.set(0x12_0008, 0x40);
        mock.fix(0x206c, !(1 << 7));
        mock.fix(0x7100, !(1 << 16));
        // V-17: page 31:12, 11 GGTT, source 10:3, kind 2:1, valid; VCS §1.1.9.4.6: source 8.
        for (kind, said) in [
            (0, FaultKind::InvalidEntry),
            (1, FaultKind::InvalidDirectory),
            (2, FaultKind::NoDirectory),
            (3, FaultKind::NoDirectory),
        ] {
            mock.set(0x4194, 0x0123_4000 | (8 << 3) | (kind << 1) | 1);
            let report = GT2.errors(&mock.hw(), &mut Gt::default(), &topo);
            let fault = report.engines[2].and_then(|e| e.fault).unwrap();
            assert_eq!((fault.addr, fault.global), (0x0123_4000, false));
            assert_eq!((fault.source, fault.kind), (8, said));
            let text = report.to_string();
            assert!(text.contains("by unit 8 (VCS write)"), "{text}");
            assert!(text.contains("busy units: SOL VSC ("), "{text}");
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Names of the bits of error and status registers that are the same on both generations.
//!
//! Errors: SNB PRM V1P2 §5.7. Units: digest G-42 (from the public XML of these registers). The
//! units that cause faults are documented for the video engine only (VCS §1.1.9.4.6, G-45).

use crate::report::{BitName, Names};

/// Bits of the error registers (§5.7.1, §5.7.2).
pub(crate) const ERRORS: &[BitName] = &[(0, "instruction"), (4, "page table")];

/// INSTDONE of the blitter.
pub(crate) const BLITTER_UNITS: &[BitName] = &[(1, "blitter"), (2, "GAB"), (3, "BCS")];

/// INSTDONE of the video engine.
#[rustfmt::skip]
pub(crate) const VIDEO_UNITS: &[BitName] = &[
    (1, "USB"), (2, "QRC"), (3, "SEC"), (4, "MPC"), (5, "VFT"), (6, "BSP"), (7, "VLF"), (8, "VOP"),
    (9, "VMC"), (10, "VIP"), (11, "VIT"), (12, "VDS"), (13, "VMX"), (14, "VCP"), (15, "VCD"),
    (16, "VAD"), (17, "VMD"), (18, "VIS"), (19, "VAC"), (20, "VAM"), (21, "JPG"), (22, "VBP"),
    (23, "VHR"), (24, "VCI"), (25, "VCR"), (26, "VIN"), (27, "VPR"), (28, "VTQ"), (30, "VCS"),
    (31, "GAC"),
];

/// Units of the video engine that access memory (VCS §1.1.9.4.6).
#[rustfmt::skip]
pub(crate) const VIDEO_SOURCES: &[BitName] = &[
    (0, "VCS read"), (1, "VMC read"), (2, "VMX RA read"), (3, "VMX BS read"), (4, "VMX RS read"),
    (5, "VIP read"), (6, "VLF read"), (7, "VDS ZL read"), (8, "VCS write"), (9, "VMX BS write"),
    (10, "VDS write"), (11, "VOP write"), (12, "VLF RS write"), (13, "VLF FD write"),
    (14, "VMX RS write"), (15, "BSP write"), (17, "VCR read"), (18, "VCR write"),
    (19, "VCS probe read"),
];

/// Names for the blitter.
pub(crate) static BLITTER: Names = Names {
    errors: ERRORS,
    units: BLITTER_UNITS,
    more_units: &[],
    sources: &[],
};

/// Names for the video engine.
pub(crate) static VIDEO: Names = Names {
    errors: ERRORS,
    units: VIDEO_UNITS,
    more_units: &[],
    sources: VIDEO_SOURCES,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bit_has_two_names() {
        for table in [ERRORS, BLITTER_UNITS, VIDEO_UNITS, VIDEO_SOURCES] {
            assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
            assert!(table.iter().all(|(bit, _)| *bit < 32));
        }
    }
}

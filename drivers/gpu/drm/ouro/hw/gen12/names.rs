// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Names of the bits and numbers of errors (I13, digest §5.12). Units have no names there.

use crate::report::{BitName, Names};

/// Of every engine.
pub(super) static ENGINE: Names = Names {
    errors: &[
        (0, "instruction error"),
        (2, "privilege violation"),
        (4, "page table error"),
    ],
    units: &[],
    more_units: &[],
    sources: &[],
};

/// Of the device: bits of the register of the first fault.
pub(super) static FAULT: &[BitName] = &[(0, "page fault")];

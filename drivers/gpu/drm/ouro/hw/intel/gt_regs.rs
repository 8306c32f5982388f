// SPDX-License-Identifier: GPL-2.0
//! Registers of the device around the engines that are at the same place from Gen6 on.
//!
//! Rows of the digest of Sandy Bridge (`G-nn`) and of DG2 (§3.3), as each says.

/// What to reset; a bit clears itself when that is done (G-24; row 10). Reached whether or not the device is awake.
pub(crate) const GDRST: u32 = 0x941c;
/// Bit 0 of [`GDRST`]: everything.
pub(crate) const GDRST_FULL: u32 = 1 << 0;
/// Bit 1 of [`GDRST`]: the render engine, and what computes with it (V-15). From Gen7 on.
pub(crate) const GDRST_RENDER: u32 = 1 << 1;

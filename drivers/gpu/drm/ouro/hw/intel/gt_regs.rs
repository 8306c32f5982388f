// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of the device outside the engines whose offsets are the same from Gen6 on.
//!
//! Citations: rows of the digest of Sandy Bridge (`G-nn`) and of DG2 (§3.3).

/// Reset control: a set bit starts a reset and clears itself when the reset is done (G-24; row 10).
/// The register can be accessed while the device is asleep.
pub(crate) const GDRST: u32 = 0x941c;
/// Bit 0 of [`GDRST`]: reset all engines.
pub(crate) const GDRST_FULL: u32 = 1 << 0;
/// Bit 1 of [`GDRST`]: reset the render engine, and the compute engines with it (V-15). From Gen7
/// on.
pub(crate) const GDRST_RENDER: u32 = 1 << 1;

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Draws, and what units accessed for them.

use gpu_model::r5xx::{Access, Unit};

/// VAP_VF_CNTL: triangles (4) by walk, 31:16 vertices.
pub fn vf(walk: u32, vertices: u32) -> u32 {
    vertices << 16 | walk << 4 | 4
}

/// Returns a unit's accesses, as address, length and write.
pub fn of(accesses: &[Access], unit: Unit) -> Vec<(u64, u64, bool)> {
    let mine = accesses.iter().filter(|a| a.unit == unit);
    mine.map(|a| (a.addr, a.len, a.write)).collect()
}

/// Reads of ranges of address and length.
pub fn reads(ranges: &[(u64, u64)]) -> Vec<(u64, u64, bool)> {
    ranges.iter().map(|&(a, l)| (a, l, false)).collect()
}

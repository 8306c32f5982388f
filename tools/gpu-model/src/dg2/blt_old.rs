// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The blitter's older commands, which test programs still use: XY_COLOR_BLT and XY_SRC_COPY_BLT. They
//! are those of G45 (PRM Vol 1b §8.9.9 and §8.9.15, §8.10.2, §8.10.7) with addresses of two dwords. All
//! pixels and all of their bytes are written as they come, row after row from the first; other raster
//! operations, clipping, write masks, and copies within one place are not modelled.

use super::blt::{coordinates, Job, Surface, Work};
use super::command::address;
use super::core::Core;
use super::engine::EngineId;
use super::tile::Tiling;

/// Opcodes, bits 28:22.
mod op {
    pub const COLOR: u32 = 0x50;
    pub const SRC_COPY: u32 = 0x53;
}

/// Name and length of a command of client 2, by opcode.
pub(crate) fn decode(opcode: u32) -> Option<(&'static str, usize)> {
    match opcode {
        op::COLOR => Some(("XY_COLOR_BLT", 7)),
        op::SRC_COPY => Some(("XY_SRC_COPY_BLT", 10)),
        _ => None,
    }
}

/// Raster operations (BR13 bits 23:16) that write the pattern, and the source.
const PATTERN: u32 = 0xf0;
const SOURCE: u32 = 0xcc;

/// Bytes of a pixel by BR13 bits 25:24; `None` if a pixel is not written in full.
fn depth(header: u32, br13: u32) -> Option<u64> {
    match br13 >> 24 & 3 {
        // Header bits 21:20: write alpha, write the other three.
        3 => (header >> 20 & 3 == 3).then_some(4),
        0 => Some(1),
        _ => Some(2),
    }
}

/// The pitch is in bytes, or in dwords of a tiled surface.
fn surface(base: u64, pitch: u32, tiled: bool) -> Surface {
    let (tiling, unit) = if tiled {
        (Tiling::X, 4)
    } else {
        (Tiling::Linear, 1)
    };
    Surface {
        base,
        pitch: u64::from(pitch & 0xffff) * unit,
        tiling,
    }
}

impl Core {
    /// An older command begins.
    pub(super) fn old_blit(&mut self, e: EngineId, d: &[u32]) -> Option<Job> {
        let copies = d[0] >> 22 & 0x7f == op::SRC_COPY;
        let operation = if copies { SOURCE } else { PATTERN };
        // Neither another operation nor clipping.
        let plain = d[1] >> 16 & 0xff == operation && d[1] >> 30 & 1 == 0;
        let cpp = self.modelled(e, depth(d[0], d[1]).filter(|_| plain))?;
        let to = surface(address(d, 4), d[1], d[0] >> 11 & 1 != 0);
        let work = if copies {
            let from = surface(address(d, 8), d[7], d[0] >> 15 & 1 != 0);
            let (x, y) = coordinates(d[6]);
            self.source(e, cpp, from, x, y)?
        } else {
            Work::Fill(d[6].to_le_bytes()[..cpp as usize].to_vec())
        };
        self.job(e, d, cpp, to, (d[2], d[3], 0), work)
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! How far the targets of a draw extend by other readings of their registers ([`Disputed`]).
//!
//! Once for each draw, and from one byte to another: an object that holds both holds all between them.

use super::push;
use super::surfaces::{Area, Target, Targets};
use crate::r5xx::access::{Access, Unit};
use crate::r5xx::core::Core;
use crate::r5xx::disputed::Disputed;
use crate::r5xx::tile::{Layout, Micro};

/// Pixels across and down a block that is cleared as a whole.
const CLEARED: u64 = 8;

impl Core {
    /// Lists what other readings of its targets touch in an area.
    pub(super) fn other_extents(&mut self, targets: &Targets, area: Area, out: &mut Vec<Access>) {
        for target in targets.surfaces.iter().chain(&targets.unknown) {
            // Samples are stored in tiles of both kinds, whatever the tile bits say.
            if let Some(layout) = target.sampled() {
                self.dispute(Disputed::Samples);
                target.list(target.whole(layout, area), out);
            }
            if targets.clears && target.unit == Unit::Depth {
                let blocks = Area {
                    x0: area.x0 / CLEARED * CLEARED,
                    y0: area.y0 / CLEARED * CLEARED,
                    x1: area.x1 | (CLEARED - 1),
                    y1: area.y1 | (CLEARED - 1),
                };
                let extent = target.extent(blocks);
                if extent != target.extent(area) {
                    self.dispute(Disputed::ClearedBlocks);
                    target.list(extent, out);
                }
            }
        }
        if let Some(target) = &targets.unknown {
            self.dispute(Disputed::DepthBlocks);
            target.list(target.extent(area), out);
            let square = Layout {
                micro: Micro::Square,
                ..target.layout
            };
            target.list(target.whole(square, area), out);
        }
    }
}

impl Target {
    /// Returns the layout of samples by the second reading, unless the tile bits say the same.
    fn sampled(&self) -> Option<Layout> {
        let micro = match (self.layout.micro, self.bytes) {
            // Of 16 bits all units have the square blocks, that of depth no others (§2.2).
            (Micro::Linear, 2) => Micro::Square,
            (_, 2) if self.unit == Unit::Depth => Micro::Square,
            (Micro::Linear, bytes) => Micro::tiled(bytes as u32).unwrap_or_default(),
            (own, _) => own,
        };
        let layout = Layout {
            macro_tiled: true,
            micro,
            ..self.layout
        };
        (self.samples > 1 && layout != self.layout).then_some(layout)
    }

    /// Returns offset and length from the first byte of an area to its last.
    pub(super) fn extent(&self, area: Area) -> (u64, u64) {
        let x = (area.x0 * self.bytes, (area.x1 + 1) * self.bytes);
        let row = |y: u64| self.layout.ranges(x, (y, y + 1)).next().unwrap_or_default();
        let (start, (last, len)) = (row(area.y0).0, row(area.y1));
        let n = self.samples;
        (start * n, (last + len - start) * n)
    }

    /// Returns offset and length from the base to the end of the last row of tiles that an area reaches, with pitch
    /// and rows rounded up to whole tiles.
    fn whole(&self, mut layout: Layout, area: Area) -> (u64, u64) {
        layout.pitch = layout.pitch.next_multiple_of(layout.pitch_unit());
        (0, layout.size(area.y1 + 1) * self.samples)
    }

    pub(super) fn list(&self, (offset, len): (u64, u64), out: &mut Vec<Access>) {
        let addr = self.base + offset;
        if self.read {
            push(out, Access::read(self.unit, addr, len));
        }
        if self.write {
            push(out, Access::write(self.unit, addr, len));
        }
    }
}

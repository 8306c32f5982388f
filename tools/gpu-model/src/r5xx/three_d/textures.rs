// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Where texels lie: levels, faces, slices (R5xx guide §2, §3; digest of R5xx, §5.7; digest of 3D, §10.2, §10.3).

use super::surfaces::layout;
use crate::r5xx::access::{Access, Unit};
use crate::r5xx::core::Core;
use crate::r5xx::disputed::Disputed;
use crate::r5xx::lint::Rule;
use crate::r5xx::regs::reg;
use crate::r5xx::tile::Layout;

/// How a texture stores its texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texels {
    Bytes(u64),
    /// Blocks of 4 x 4 texels, of so many bytes.
    Blocks(u64),
}

/// TX_FORMAT2 14: the format's top bit.
const MSB: u32 = 0x20;

/// By TX_FORMAT1 4:0, and [`MSB`].
fn texels(format: u32) -> Option<Texels> {
    Some(match format {
        0x00 | 0x02 | 0x05 => Texels::Bytes(1),
        0x01 | 0x03 | 0x06 | 0x07 | 0x0a | 0x0b | 0x12 | 0x14 | 0x15 | 0x18 => Texels::Bytes(2),
        0x04 | 0x08 | 0x09 | 0x0c | 0x0d | 0x13 | 0x19 | 0x1b | 0x1e => Texels::Bytes(4),
        0x0e | 0x1a | 0x1c => Texels::Bytes(8),
        0x1d => Texels::Bytes(16),
        0x0f => Texels::Blocks(8),
        0x10 | 0x11 | 0x1f => Texels::Blocks(16),
        // Depth of 24 bits with its stencil.
        0x26 => Texels::Bytes(4),
        // Blocks of one channel; of the rest no user is known.
        0x20.. => Texels::Blocks(8),
        _ => return None,
    })
}

/// TX_FILTER1, MACRO_SWITCH by its public name: macro tiles end at a side of one tile, too.
const MACRO_SWITCH: u32 = 1 << 22;

/// Layout of a level with so many bytes in a row and so many rows. The document does not tell where macro
/// tiles end; users of the chip count on it that levels which are smaller than one go on without, and give
/// them no more memory. `early`: levels which are as large as one, too.
fn of_level(whole: Layout, level: u32, row: u64, rows: u64, early: bool) -> Layout {
    let least = u64::from(early);
    let is_small = row < whole.pitch_unit() + least || rows < whole.row_unit() + least;
    Layout {
        macro_tiled: whole.macro_tiled && !(level > 0 && is_small),
        ..whole
    }
}

/// Bytes of a slice or face of such a level.
fn stored(whole: Layout, level: u32, row: u64, rows: u64, early: bool) -> u64 {
    let tiling = of_level(whole, level, row, rows, early);
    row.next_multiple_of(tiling.pitch_unit()) * rows.next_multiple_of(tiling.row_unit())
}

/// Which kind of texture (TX_FORMAT1 26:25).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    #[default]
    Flat,
    Volume,
    Cube,
}

/// A level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    /// From the texture's beginning.
    start: u64,
    layout: Layout,
    /// Bytes of a slice or face.
    layer: u64,
}

/// A texture in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Texture {
    pub base: u64,
    /// Bytes of all of it.
    pub size: u64,
    /// Bytes of all of it by any reading.
    reach: u64,
    /// TX_FORMAT1 4:0, and [`MSB`].
    pub format: u32,
    /// Texels of level 0.
    pub extent: [u64; 3],
    pub shape: Shape,
    /// Bytes of a texel, or of a block.
    pub bytes: u64,
    /// Texels are in blocks of four by four.
    pub blocks: bool,
    /// The finest level that is used, and the last.
    pub finest: u32,
    pub last: u32,
    pub levels: Vec<Level>,
}

impl Texture {
    /// All that it reads.
    pub fn access(&self) -> Access {
        Access::read(Unit::Texture, self.base, self.reach)
    }

    /// Texels of a level.
    pub fn extent_of(&self, level: u32) -> [u64; 3] {
        self.extent.map(|v| (v >> level).max(1))
    }

    /// Returns the address of a texel, or of its block; `None` outside of the texture.
    pub fn address(&self, level: u32, [x, y]: [u64; 2], layer: u64) -> Option<u64> {
        let l = self.levels.get(level as usize)?;
        let (x, y) = if self.blocks { (x / 4, y / 4) } else { (x, y) };
        let inside = l.layout.offset(x * self.bytes, y);
        let offset = l.start + layer * l.layer + inside;
        (offset + self.bytes <= self.size).then_some(self.base + offset)
    }
}

impl Core {
    /// A unit's texture: every level and face (fields from digest §5.7).
    pub(super) fn texture(&mut self, n: u32) -> Option<Texture> {
        let (f0, f1, f2) = (
            self.seen(reg::TX_FORMAT0 + 4 * n),
            self.seen(reg::TX_FORMAT1 + 4 * n),
            self.seen(reg::TX_FORMAT2 + 4 * n),
        );
        let offset = self.seen(reg::TX_OFFSET + 4 * n);
        let format = (f1 & 31) | if f2 >> 14 & 1 != 0 { MSB } else { 0 };
        let Some(texels) = texels(format) else {
            self.notes
                .lint(Rule::Format, || format!("texture {n}: {f1:#010x}"));
            return None;
        };
        let width = u64::from((f0 & 0x7ff) | (f2 >> 15 & 1) << 11) + 1;
        let height = u64::from((f0 >> 11 & 0x7ff) | (f2 >> 16 & 1) << 11) + 1;
        let depth = 1u64 << (f0 >> 22 & 15);
        let finest = self.seen(reg::TX_FILTER0 + 4 * n) >> 17 & 15;
        let last = f0 >> 26 & 15;
        if finest > last {
            self.dispute(Disputed::FinestLevel);
        }
        let pitch = (f0 >> 31 != 0).then_some(u64::from(f2 & 0x3fff) + 1);
        let (layers, shape) = match f1 >> 25 & 3 {
            1 => (depth, Shape::Volume),
            2 => (6, Shape::Cube),
            _ => (1, Shape::Flat),
        };
        let (bytes, blocks) = match texels {
            Texels::Bytes(b) => (b, false),
            Texels::Blocks(b) => (b, true),
        };
        let tiling = layout(offset >> 2 & 1 != 0, offset >> 3 & 3, bytes, 0);
        let Some(tiling) = tiling else {
            self.notes
                .lint(Rule::UnsupportedTiling, || format!("texture {n}"));
            return None;
        };
        let early = self.seen(reg::TX_FILTER1 + 4 * n) & MACRO_SWITCH != 0;
        let mut texture = Texture {
            base: u64::from(offset & !31),
            size: 0,
            reach: 0,
            format,
            extent: [
                width,
                height,
                if shape == Shape::Volume { depth } else { 1 },
            ],
            shape,
            bytes,
            blocks,
            finest: finest.min(last),
            last,
            levels: Vec::new(),
        };
        // S repeats, or is mirrored, over a width that is no power of two.
        let repeats = self.seen(reg::TX_FILTER0 + 4 * n) & 7 < 2 && !width.is_power_of_two();
        let mut wide = pitch.filter(|_| last.max(finest) > 0).map(|_| 0u64);
        for level in 0..=last.max(finest) {
            let down = |v: u64| (v >> level).max(1);
            let count = match shape {
                Shape::Volume => down(layers),
                _ => layers,
            };
            let (mut w, mut h) = (down(pitch.unwrap_or(width)), down(height));
            if pitch.is_none() {
                w = w.next_power_of_two();
            }
            // As users of the chip lay out what has more than one level or layer.
            if last > 0 || layers > 1 {
                h = h.next_power_of_two();
            }
            // Texels of a row that the pitch of all levels, or repetition, adds.
            let (mut same, mut repeated) = (pitch.unwrap_or(0), down(width.next_power_of_two()));
            if blocks {
                (w, h) = (w.div_ceil(4), h.div_ceil(4));
                (same, repeated) = (same.div_ceil(4), repeated.div_ceil(4));
            }
            if let Some(size) = &mut wide {
                *size = size.saturating_add(stored(tiling, level, same * bytes, h, early) * count);
            }
            let tiling = of_level(tiling, level, w * bytes, h, early);
            let row = (w * bytes).next_multiple_of(tiling.pitch_unit());
            let rows = h.next_multiple_of(tiling.row_unit());
            let layout = Layout {
                pitch: row,
                ..tiling
            };
            if pitch.is_some() && repeats {
                let x = (repeated * bytes).next_multiple_of(tiling.pitch_unit());
                let end =
                    texture.size + row * rows * (count - 1) + layout.offset(x - 1, rows - 1) + 1;
                texture.reach = texture.reach.max(end);
            }
            texture.levels.push(Level {
                start: texture.size,
                layout,
                layer: row * rows,
            });
            texture.size = texture
                .size
                .saturating_add((row * rows).saturating_mul(count));
        }
        if texture.reach > texture.size {
            self.dispute(Disputed::RepeatedWidth);
        }
        if wide.is_some_and(|wide| wide != texture.size) {
            self.dispute(Disputed::LevelPitch);
        }
        texture.reach = texture.reach.max(texture.size).max(wide.unwrap_or(0));
        Some(texture)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::r5xx::tile::Micro;

    /// Macro tiles of blocks of 4 by 2 pixels of four bytes are 32 by 16 pixels (§2.3): 128 bytes.
    #[test]
    fn small_levels_have_no_macro_tiles() {
        let whole = Layout {
            macro_tiled: true,
            micro: Micro::Tiled,
            pitch: 0,
        };
        for (level, row, rows, early, tiled) in [
            (1, 128, 16, false, true),
            (1, 124, 16, false, false),
            (1, 128, 15, false, false),
            (0, 4, 1, false, true),
            (1, 128, 32, true, false),
            (1, 256, 16, true, false),
            (1, 256, 32, true, true),
            (0, 128, 16, true, true),
        ] {
            let layout = of_level(whole, level, row, rows, early);
            assert_eq!(layout.macro_tiled, tiled, "{level}: {row} by {rows}");
            assert_eq!(layout.micro, Micro::Tiled);
        }
    }
}

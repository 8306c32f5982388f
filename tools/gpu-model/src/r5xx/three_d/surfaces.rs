// SPDX-License-Identifier: GPL-2.0
//! Surfaces that a draw can reach: colour, depth, resolve, textures (R5xx guide §2, §3; fields from
//! digest §3.5, §5.7).
//!
//! A draw may write any pixel inside of the scissor and read any texel of what is bound. Linear
//! surfaces are reported by rows, micro-tiled ones by their blocks, macro-tiled ones by whole tiles,
//! which is what must exist of them (§2.3; digest A5).

use super::push;
use crate::r5xx::access::{Access, Unit};
use crate::r5xx::core::Core;
use crate::r5xx::disputed::Disputed;
use crate::r5xx::lint::Rule;
use crate::r5xx::pipes::Reach;
use crate::r5xx::regs::reg;
use crate::r5xx::tile::{Layout, Micro, MACRO_BYTES, MICRO_BYTES};

/// Colour buffers.
const COLOURS: u32 = 4;
/// US_OUT_FMT: a target that shaders put out nothing for.
const OUT_UNUSED: u32 = 15;
/// Texture units.
const TEXTURES: u32 = 16;

/// Inclusive corners of what a draw can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    x0: u64,
    y0: u64,
    x1: u64,
    y1: u64,
}

/// A surface that is drawn to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    unit: Unit,
    base: u64,
    bytes: u64,
    layout: Layout,
    read: bool,
    write: bool,
    /// Samples of a pixel, which make everything so many times as large.
    samples: u64,
}

/// Everything that a draw can touch besides vertices.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    area: Option<Area>,
    surfaces: Vec<Target>,
    textures: Vec<Access>,
}

impl Targets {
    pub fn writes_colour(&self) -> bool {
        self.area.is_some() && self.writes(Unit::Color)
    }

    pub fn writes_depth(&self) -> bool {
        self.area.is_some() && self.writes(Unit::Depth)
    }

    fn writes(&self, unit: Unit) -> bool {
        self.surfaces.iter().any(|s| s.unit == unit && s.write)
    }
}

/// Bytes of a pixel by the colour format (RB3D_COLORPITCH 24:21).
fn colour_bytes(format: u32) -> Option<u64> {
    match format {
        9 => Some(1),
        3 | 4 | 13 | 15 => Some(2),
        5 | 6 | 11 | 12 => Some(4),
        10 => Some(8),
        7 => Some(16),
        _ => None,
    }
}

/// How a texture stores its texels (TX_FORMAT1 4:0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texels {
    Bytes(u64),
    /// Blocks of 4 x 4 texels, of so many bytes.
    Blocks(u64),
}

fn texels(format: u32) -> Option<Texels> {
    Some(match format {
        0x00 | 0x02 | 0x05 => Texels::Bytes(1),
        0x01 | 0x03 | 0x06 | 0x07 | 0x0a | 0x0b | 0x12 | 0x14 | 0x15 | 0x18 => Texels::Bytes(2),
        0x04 | 0x08 | 0x09 | 0x0c | 0x0d | 0x13 | 0x19 | 0x1b | 0x1e => Texels::Bytes(4),
        0x0e | 0x1a | 0x1c => Texels::Bytes(8),
        0x1d => Texels::Bytes(16),
        0x0f => Texels::Blocks(8),
        0x10 | 0x11 | 0x1f => Texels::Blocks(16),
        _ => return None,
    })
}

/// Layout by the two micro bits, 0 linear, 1 tiled, 2 square (digest §4.1); `None` for a form that
/// the document has not.
fn layout(macro_tiled: bool, micro: u32, bytes: u64, pitch: u64) -> Option<Layout> {
    let micro = match (micro, bytes) {
        (0, _) => Micro::Linear,
        (1, b) => Micro::tiled(b as u32)?,
        // Only pixels of 16 bits have a square form (§2.2).
        (2, 2) => Micro::Square,
        _ => return None,
    };
    Some(Layout {
        macro_tiled,
        micro,
        pitch,
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

impl Core {
    /// What the state says that a draw can touch.
    pub(super) fn targets(&mut self) -> Targets {
        let mut t = Targets {
            area: self.scissor(),
            ..Targets::default()
        };
        self.colour_targets(&mut t.surfaces);
        self.depth_target(&mut t.surfaces);
        self.resolve_target(&mut t.surfaces);
        let sampled = self.sampled();
        for n in 0..TEXTURES {
            if sampled >> n & 1 != 0 {
                t.textures.extend(self.texture(n));
            }
        }
        t
    }

    /// Units that textures are taken from, a bit each: those that are enabled, and those that the enabled ids
    /// lead to, the first of each id.
    fn sampled(&mut self) -> u32 {
        let enabled = self.seen(reg::TX_ENABLE) & 0xffff;
        let id = |core: &Core, n: u32| core.seen(reg::TX_FILTER0 + 4 * n) >> 28;
        let mut named = 0;
        for wanted in (0..TEXTURES).filter(|n| enabled >> n & 1 != 0) {
            if let Some(unit) = (0..TEXTURES).find(|n| id(self, *n) == wanted) {
                named |= 1 << unit;
            }
        }
        if named != enabled {
            self.dispute(Disputed::TextureId);
        }
        enabled | named
    }

    /// Slots of samples for each pixel of a target: those of GB_AA_CONFIG (0 on; 2:1 two, three, four, six).
    /// Six take eight unless they follow each other (ZB_BW_CNTL 17; digest of 3D, §12.5).
    fn samples(&self) -> u64 {
        let config = self.seen(reg::GB_AA_CONFIG);
        if config & 1 == 0 {
            return 1;
        }
        match config >> 1 & 3 {
            0 => 2,
            1 => 3,
            2 => 4,
            _ if self.seen(reg::ZB_BW_CNTL) >> 17 & 1 != 0 => 8,
            _ => 6,
        }
    }

    /// SC_SCISSOR0 and 1: x in 12:0, y in 25:13; the lower right corner is inside (digest §3.5).
    fn scissor(&self) -> Option<Area> {
        let corner = |v: u32| (u64::from(v & 0x1fff), u64::from(v >> 13 & 0x1fff));
        let (x0, y0) = corner(self.seen(reg::SC_SCISSOR0));
        let (x1, y1) = corner(self.seen(reg::SC_SCISSOR1));
        (x1 >= x0 && y1 >= y0).then_some(Area { x0, y0, x1, y1 })
    }

    fn colour_targets(&mut self, out: &mut Vec<Target>) {
        let control = self.seen(reg::RB3D_CCTL);
        // The first one's pixels go to so many; shaders put out pixels of their own for others, unless they are
        // told that there is no such target (US_OUT_FMT 4:0 15).
        let repeated = (control >> 5 & 3) + 1;
        let first = self.seen(reg::RB3D_COLORPITCH0) >> 21 & 15;
        let mask = self.seen(reg::RB3D_COLOR_CHANNEL_MASK);
        let read = self.seen(reg::RB3D_BLENDCNTL) & 4 != 0;
        let resolved = self.seen(reg::RB3D_AARESOLVE_CTL) & 1 != 0;
        if control >> 9 & 1 != 0 {
            self.dispute(Disputed::Compression);
        }
        // The clear of depth and colour together does not look at the mask.
        let clears = self.seen(reg::ZB_BW_CNTL) >> 5 & 1 != 0;
        for n in 0..COLOURS {
            if n >= repeated && self.seen(reg::US_OUT_FMT0 + 4 * n) & 31 == OUT_UNUSED {
                continue;
            }
            let write = mask >> (4 * n) & 15 != 0 || clears;
            // A resolve reads its samples.
            let read = read || (resolved && n == 0);
            if !write && !read {
                continue;
            }
            if resolved && n == 0 && mask & 15 == 0 {
                self.dispute(Disputed::Resolve);
            }
            let pitch = self.seen(reg::RB3D_COLORPITCH0 + 4 * n);
            // Without bit 14 all targets have the first one's format.
            let format = if control >> 14 & 1 != 0 {
                pitch >> 21 & 15
            } else {
                first
            };
            let Some(bytes) = colour_bytes(format) else {
                self.notes
                    .lint(Rule::Format, || format!("colour {pitch:#010x}"));
                continue;
            };
            let base = self.seen(reg::RB3D_COLOROFFSET0 + 4 * n);
            let tiles = pitch >> 16;
            let micro = tiles >> 1 & 3;
            // 2 x 2 blocks are for textures and the host only (§2.2).
            let known = layout(
                tiles & 1 != 0,
                micro,
                bytes,
                u64::from(pitch & 0x3ffe) * bytes,
            )
            .filter(|_| !(micro == 1 && bytes == 8));
            self.add_target(out, Unit::Color, base, bytes, known, (read, write));
        }
    }

    fn depth_target(&mut self, out: &mut Vec<Target>) {
        let control = self.seen(reg::ZB_CNTL);
        let (stencil, depth, writes) = (control & 1 != 0, control & 2 != 0, control & 4 != 0);
        if !stencil && !depth {
            return;
        }
        let bytes = match self.seen(reg::ZB_FORMAT) & 15 {
            0 | 1 => 2,
            2 => 4,
            other => {
                self.notes.lint(Rule::Format, || format!("depth {other}"));
                return;
            }
        };
        let pitch = self.seen(reg::ZB_DEPTHPITCH);
        let base = self.seen(reg::ZB_DEPTHOFFSET);
        let tiles = pitch >> 16;
        let micro = tiles >> 1 & 3;
        // Neither 8 x 4 nor 8 x 2 blocks for depth (§2.2).
        let known = layout(
            tiles & 1 != 0,
            micro,
            bytes,
            u64::from(pitch & 0x3ffc) * bytes,
        )
        .filter(|_| !(micro == 1 && bytes == 2));
        let write = stencil || writes;
        self.add_target(out, Unit::Depth, base, bytes, known, (true, write));
    }

    fn resolve_target(&mut self, out: &mut Vec<Target>) {
        if self.seen(reg::RB3D_AARESOLVE_CTL) & 1 == 0 {
            return;
        }
        let format = self.seen(reg::RB3D_COLORPITCH0) >> 21 & 15;
        let Some(bytes) = colour_bytes(format) else {
            return;
        };
        let pitch = u64::from(self.seen(reg::RB3D_AARESOLVE_PITCH) & 0x3ffe) * bytes;
        let base = self.seen(reg::RB3D_AARESOLVE_OFFSET);
        let known = Some(Layout::linear(pitch));
        self.add_target(out, Unit::Resolve, base, bytes, known, (false, true));
    }

    fn add_target(
        &mut self,
        out: &mut Vec<Target>,
        unit: Unit,
        base: u32,
        bytes: u64,
        known: Option<Layout>,
        (read, write): (bool, bool),
    ) {
        let Some(layout) = known else {
            self.notes.lint(Rule::UnsupportedTiling, || {
                format!("{unit:?} {bytes} bytes")
            });
            return;
        };
        // Low bits of a base are ignored (digest A1).
        let aligned = if layout.macro_tiled {
            u64::from(base).is_multiple_of(MACRO_BYTES)
        } else {
            u64::from(base).is_multiple_of(MICRO_BYTES)
        };
        if !aligned || !layout.pitch_ok() {
            self.notes.lint(Rule::SurfaceAlign, || {
                format!("{unit:?} {base:#x} {layout:?}")
            });
        }
        if !layout.pitch_ok() {
            return;
        }
        out.push(Target {
            unit,
            base: u64::from(base) & !31,
            bytes,
            layout,
            read,
            write,
            samples: if unit == Unit::Resolve {
                1
            } else {
                self.samples()
            },
        });
    }

    /// All that lies in a texture: every level and face (fields from digest §5.7).
    fn texture(&mut self, n: u32) -> Option<Access> {
        let (f0, f1, f2) = (
            self.seen(reg::TX_FORMAT0 + 4 * n),
            self.seen(reg::TX_FORMAT1 + 4 * n),
            self.seen(reg::TX_FORMAT2 + 4 * n),
        );
        let offset = self.seen(reg::TX_OFFSET + 4 * n);
        let Some(mut texels) = texels(f1 & 31) else {
            self.notes
                .lint(Rule::Format, || format!("texture {n}: {f1:#010x}"));
            return None;
        };
        // The format's top bit means blocks of one channel.
        if f2 >> 14 & 1 != 0 {
            texels = Texels::Blocks(8);
        }
        let width = u64::from((f0 & 0x7ff) | (f2 >> 15 & 1) << 11) + 1;
        let height = u64::from((f0 >> 11 & 0x7ff) | (f2 >> 16 & 1) << 11) + 1;
        let depth = 1u64 << (f0 >> 22 & 15);
        let finest = self.seen(reg::TX_FILTER0 + 4 * n) >> 17 & 15;
        let last = f0 >> 26 & 15;
        if finest > last {
            self.dispute(Disputed::FinestLevel);
        }
        let levels = last.max(finest);
        let pitch = (f0 >> 31 != 0).then_some(u64::from(f2 & 0x3fff) + 1);
        let (layers, shrink) = match f1 >> 25 & 3 {
            1 => (depth, true),
            2 => (6, false),
            _ => (1, false),
        };
        let unit_bytes = match texels {
            Texels::Bytes(b) | Texels::Blocks(b) => b,
        };
        let tiling = layout(offset >> 2 & 1 != 0, offset >> 3 & 3, unit_bytes, 0);
        let Some(tiling) = tiling else {
            self.notes
                .lint(Rule::UnsupportedTiling, || format!("texture {n}"));
            return None;
        };
        let early = self.seen(reg::TX_FILTER1 + 4 * n) & MACRO_SWITCH != 0;
        let mut size = 0u64;
        for level in 0..=levels {
            let down = |v: u64| (v >> level).max(1);
            let (mut w, mut h) = (down(pitch.unwrap_or(width)), down(height));
            if pitch.is_none() {
                w = w.next_power_of_two();
            }
            // As users of the chip lay out what has more than one level or layer.
            if last > 0 || layers > 1 {
                h = h.next_power_of_two();
            }
            if let Texels::Blocks(_) = texels {
                (w, h) = (w.div_ceil(4), h.div_ceil(4));
            }
            let tiling = of_level(tiling, level, w * unit_bytes, h, early);
            let row = (w * unit_bytes).next_multiple_of(tiling.pitch_unit());
            let rows = h.next_multiple_of(tiling.row_unit());
            let count = if shrink { down(layers) } else { layers };
            size = size.saturating_add((row * rows).saturating_mul(count));
        }
        let base = u64::from(offset & !31);
        Some(Access::read(Unit::Texture, base, size))
    }

    /// Adds what can be touched of the surfaces.
    pub(super) fn surface_accesses(&mut self, targets: &Targets, out: &mut Vec<Access>) {
        if let Some(area) = targets.area {
            for target in &targets.surfaces {
                for range in ranges(target, area) {
                    let (addr, len) = range;
                    if target.read {
                        push_surface(out, Access::read(target.unit, addr, len));
                    }
                    if target.write {
                        push_surface(out, Access::write(target.unit, addr, len));
                    }
                }
            }
            // Without a pixel nothing is sampled.
            out.extend(targets.textures.iter().copied());
        }
    }

    /// ZB_ZPASS_ADDR is written: the counted pixels go there, one dword of each selected pipe; they
    /// share an address (digest §3.5). Nothing is drawn here, so none were counted.
    pub fn zpass(&mut self, data: u32, reach: Reach) {
        if reach.mask == 0 {
            return;
        }
        let at = u64::from(data & !3);
        self.mc.write(
            Unit::ZPass,
            at,
            &self.seen(reg::ZB_ZPASS_DATA).to_le_bytes(),
        );
    }
}

/// Reads and writes of one surface alternate: each goes on from the last but one.
fn push_surface(out: &mut Vec<Access>, a: Access) {
    let back = out.len().saturating_sub(2);
    if let Some(last) = out[back..]
        .iter_mut()
        .rev()
        .find(|l| l.unit == a.unit && l.write == a.write && l.end() == a.addr)
    {
        last.len += a.len;
        return;
    }
    push(out, a);
}

/// Address and length of everything in an area of a surface.
fn ranges(target: &Target, area: Area) -> Vec<(u64, u64)> {
    let x = (area.x0 * target.bytes, (area.x1 + 1) * target.bytes);
    let ranges = target.layout.ranges(x, (area.y0, area.y1 + 1));
    let n = target.samples;
    ranges
        .map(|(o, len)| (target.base + o * n, len * n))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(macro_tiled: bool, micro: Micro, pitch: u64) -> Target {
        Target {
            unit: Unit::Color,
            base: 0,
            bytes: 4,
            layout: Layout {
                macro_tiled,
                micro,
                pitch,
            },
            read: false,
            write: true,
            samples: 1,
        }
    }

    const ONE_PIXEL: Area = Area {
        x0: 255,
        y0: 0,
        x1: 255,
        y1: 0,
    };

    /// Digest §5.7, weakness 12: with a pitch of 256 pixels of 32 bits, macro and micro tiles, the
    /// pixel (255, 0) lies in the eighth tile, at 0x38ec; a row of tiles has 16 KB.
    #[test]
    fn one_row_of_a_tiled_surface_is_a_row_of_tiles() {
        let t = target(true, Micro::Tiled, 1024);
        assert_eq!(ranges(&t, ONE_PIXEL), [(0x3800, 0x800)]);
        let row = Area { x0: 0, ..ONE_PIXEL };
        assert_eq!(ranges(&t, row), [(0, 16 << 10)]);
    }

    /// Macro tiles of blocks of 4 by 2 pixels of four bytes are 32 by 16 pixels (§2.3): 128 bytes.
    #[test]
    fn small_levels_have_no_macro_tiles() {
        let whole = target(true, Micro::Tiled, 0).layout;
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

    #[test]
    fn linear_rows_are_exact() {
        let t = target(false, Micro::Linear, 1024);
        assert_eq!(ranges(&t, ONE_PIXEL), [(0x3fc, 4)]);
        let two = Area {
            x0: 1,
            y0: 3,
            x1: 2,
            y1: 4,
        };
        assert_eq!(ranges(&t, two), [(0xc04, 8), (0x1004, 8)]);
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Surfaces that a draw can reach: colour, depth, resolve, textures (R5xx guide §2, §3; fields from
//! digest §3.5, §5.7).
//!
//! A draw may write any pixel inside of the scissor and read any texel of what is bound. Linear
//! surfaces are reported by rows, micro-tiled ones by their blocks, macro-tiled ones by whole tiles,
//! which is what must exist of them (§2.3; digest A5).

use super::push;
use super::unpipelined::Pipelined;
use crate::r5xx::access::{Access, Unit};
use crate::r5xx::core::Core;
use crate::r5xx::disputed::Disputed;
use crate::r5xx::lint::Rule;
use crate::r5xx::regs::reg;
use crate::r5xx::tile::{Layout, Micro, MACRO_BYTES, MICRO_BYTES};

/// Colour buffers.
pub(super) const COLOURS: u32 = 4;
/// US_OUT_FMT: a target that shaders put out nothing for.
const OUT_UNUSED: u32 = 15;
/// Texture units.
const TEXTURES: u32 = 16;

/// Inclusive corners of what a draw can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub x0: u64,
    pub y0: u64,
    pub x1: u64,
    pub y1: u64,
}

/// A surface that is drawn to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub unit: Unit,
    /// Which colour; its code of the format.
    pub number: u32,
    pub format: u32,
    pub base: u64,
    pub bytes: u64,
    pub layout: Layout,
    pub(super) read: bool,
    pub(super) write: bool,
    /// Samples of a pixel, which make everything so many times as large.
    pub samples: u64,
}

impl Target {
    /// A pixel of a sample of the surface.
    pub fn address(&self, x: u64, y: u64, sample: u64) -> u64 {
        let offset = self.layout.offset(x * self.bytes, y);
        if self.samples == 1 {
            return self.base + offset;
        }
        // Samples of what is stored in one piece follow each other (digest of 3D, §12.5).
        let piece = match (self.layout.macro_tiled, self.layout.is_linear()) {
            (true, _) => MACRO_BYTES,
            (false, false) => MICRO_BYTES,
            (false, true) => self.bytes,
        };
        let (whole, rest) = (offset / piece * piece, offset % piece);
        self.base + whole * self.samples + sample.min(self.samples - 1) * piece + rest
    }
}

/// Everything that a draw can touch besides vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    pub(super) area: Option<Area>,
    /// ZB_BW_CNTL 5: depth and colour are cleared.
    pub(super) clears: bool,
    pub(super) surfaces: Vec<Target>,
    /// Depth whose blocks its unit may not know: it is listed, not drawn.
    pub(super) unknown: Option<Target>,
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

    /// The same without textures.
    pub(super) fn untextured(&self) -> Targets {
        Targets {
            area: self.area,
            clears: self.clears,
            surfaces: self.surfaces.clone(),
            unknown: self.unknown,
            textures: Vec::new(),
        }
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

/// Layout by the two micro bits, 0 linear, 1 tiled, 2 square (digest §4.1); `None` for a form that
/// the document has not.
pub(super) fn layout(macro_tiled: bool, micro: u32, bytes: u64, pitch: u64) -> Option<Layout> {
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

impl Core {
    /// Returns the memory that a draw can access in this state.
    pub(super) fn targets(&mut self) -> Targets {
        let pipelined = self.pipelined();
        let mut t = self.reached(&pipelined);
        let sampled = self.sampled();
        for n in 0..TEXTURES {
            if sampled >> n & 1 != 0 {
                let texture = self.texture(n);
                t.textures.extend(texture.map(|t| t.access()));
            }
        }
        t
    }

    /// Returns the surfaces of a draw that has these pipelined registers.
    pub(super) fn reached(&mut self, pipelined: &Pipelined) -> Targets {
        let mut t = Targets {
            area: pipelined.area,
            // The clear of depth and colour together does not look at masks.
            clears: self.seen(reg::ZB_BW_CNTL) >> 5 & 1 != 0,
            ..Targets::default()
        };
        self.colour_targets(pipelined, &mut t);
        self.depth_target(pipelined, &mut t);
        self.resolve_target(&mut t.surfaces);
        t
    }

    /// Returns the registers that a draw which begins now has for itself.
    pub(super) fn pipelined(&self) -> Pipelined {
        Pipelined {
            area: self.scissor(),
            channels: self.seen(reg::RB3D_COLOR_CHANNEL_MASK),
            reads: self.seen(reg::RB3D_BLENDCNTL) & 4 != 0,
            unused: std::array::from_fn(|n| {
                self.seen(reg::US_OUT_FMT0 + 4 * n as u32) & 31 == OUT_UNUSED
            }),
            depth: self.seen(reg::ZB_CNTL) & 7,
        }
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

    fn colour_targets(&mut self, pipelined: &Pipelined, t: &mut Targets) {
        let control = self.seen(reg::RB3D_CCTL);
        // The first one's pixels go to so many; shaders put out pixels of their own for others, unless they are
        // told that there is no such target (US_OUT_FMT 4:0 15).
        let repeated = (control >> 5 & 3) + 1;
        let first = self.seen(reg::RB3D_COLORPITCH0) >> 21 & 15;
        let mask = pipelined.channels;
        let resolved = self.seen(reg::RB3D_AARESOLVE_CTL) & 1 != 0;
        if control >> 9 & 1 != 0 {
            self.dispute(Disputed::Compression);
        }
        for n in 0..COLOURS {
            if n >= repeated && pipelined.unused[n as usize] {
                continue;
            }
            // Without masks of their own, all have the first one's (RB3D_CCTL 12): its copies, and those that have
            // formats of their own (bit 14). As a reset leaves the registers, there is no other target.
            let shared = n < repeated || control >> 14 & 1 != 0;
            let own = if shared && control >> 12 & 1 == 0 {
                0
            } else {
                4 * n
            };
            let write = mask >> own & 15 != 0 || t.clears;
            // A resolve reads its samples.
            let read = pipelined.reads || (resolved && n == 0);
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
            // 2 x 2 blocks of 64 bits are "supported by: tx/hdp" (§2.2), so not by this unit. But user space fills
            // such textures by drawing, and gets them right on cards: it is told, and draws.
            if (micro, bytes) == (1, 8) {
                self.notes
                    .lint(Rule::UnsupportedTiling, || format!("colour {pitch:#010x}"));
            }
            let known = layout(
                tiles & 1 != 0,
                micro,
                bytes,
                u64::from(pitch & 0x3ffe) * bytes,
            );
            let what = (Unit::Color, n, format);
            let out = &mut t.surfaces;
            self.add_target(out, what, (base, bytes, known), (read, write));
        }
    }

    fn depth_target(&mut self, pipelined: &Pipelined, t: &mut Targets) {
        let bit = |n: u32| pipelined.depth >> n & 1 != 0;
        let (stencil, depth, writes, clears) = (bit(0), bit(1), bit(2), t.clears);
        if !stencil && !depth && !clears {
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
        let known = layout(
            tiles & 1 != 0,
            micro,
            bytes,
            u64::from(pitch & 0x3ffc) * bytes,
        );
        let write = stencil || writes || clears;
        let read = stencil || depth;
        let format = self.seen(reg::ZB_FORMAT) & 15;
        let what = (Unit::Depth, 0, format);
        if micro == 1 && bytes == 2 {
            // Neither 8 x 4 nor 8 x 2 blocks for depth (§2.2).
            let mut unknown = Vec::new();
            self.add_target(&mut unknown, what, (base, bytes, known), (read, write));
            t.unknown = unknown.pop();
            self.add_target(&mut t.surfaces, what, (base, bytes, None), (read, write));
            return;
        }
        self.add_target(&mut t.surfaces, what, (base, bytes, known), (read, write));
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
        let what = (Unit::Resolve, 0, format);
        self.add_target(out, what, (base, bytes, known), (false, true));
    }

    fn add_target(
        &mut self,
        out: &mut Vec<Target>,
        (unit, number, format): (Unit, u32, u32),
        (base, bytes, known): (u32, u64, Option<Layout>),
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
            number,
            format,
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
            self.other_extents(targets, area, out);
            // Without a pixel nothing is sampled.
            out.extend(targets.textures.iter().copied());
        }
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
impl Target {
    /// A colour or depth buffer of one sample, at 0.
    pub fn plain(unit: Unit, format: u32, layout: Layout) -> Self {
        Target {
            unit,
            number: 0,
            format,
            base: 0,
            bytes: colour_bytes(format).unwrap_or(4),
            layout,
            read: true,
            write: true,
            samples: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(macro_tiled: bool, micro: Micro, pitch: u64) -> Target {
        Target {
            unit: Unit::Color,
            number: 0,
            format: 6,
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

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The colour back end: discard, blend, raster operation, masks (digest of 3D, §13.1, §13.3, §13.4).

use super::packing::{from_half, Packing};
use super::pair::Pair;
use super::surfaces::Target;
use crate::r5xx::mc::Mc;
use crate::r5xx::pvs::Vec4;

/// Registers of RB3D that all targets share.
#[derive(Clone, Debug, Default)]
pub(super) struct Blend {
    /// RB3D_BLENDCNTL, RB3D_ABLENDCNTL.
    pub colour: u32,
    pub alpha: u32,
    /// RB3D_ROPCNTL.
    pub rop: u32,
    /// RB3D_CONSTANT_COLOR_AR, _GB.
    pub constant: [u32; 2],
    /// RB3D_DISCARD_SRC_PIXEL_LTE_THRESHOLD, _GTE_THRESHOLD.
    pub discard: [u32; 2],
}

/// A colour target, as a draw finds it.
#[derive(Clone, Debug)]
pub(super) struct Colour {
    pub target: Target,
    pub packing: Packing,
    /// Bits of a pixel that are written, and whether those are all.
    mask: u128,
    whole: bool,
    /// The shader's output that goes there.
    pub output: usize,
}

impl Colour {
    /// `lanes`: those that are written, a bit each.
    pub fn new(target: Target, packing: Packing, lanes: u32, output: usize) -> Self {
        let mask = packing.mask(lanes);
        Colour {
            target,
            mask,
            whole: mask.count_ones() as usize == 8 * packing.bytes,
            packing,
            output,
        }
    }
}

/// What the factors of a blend are made of.
struct Terms {
    source: Vec4,
    stored: Vec4,
    constant: Vec4,
}

impl Terms {
    /// The factors of the lanes by a code.
    fn factors(&self, code: u32) -> Vec4 {
        let (s, d, c) = (&self.source, &self.stored, &self.constant);
        let rest = |v: &Vec4| v.map(|v| 1.0 - v);
        match code {
            2 | 33 => [1.0; 4],
            3 | 34 => *s,
            4 | 35 => rest(s),
            9 | 36 => *d,
            10 | 37 => rest(d),
            5 | 38 => [s[3]; 4],
            6 | 39 => [1.0 - s[3]; 4],
            7 | 40 => [d[3]; 4],
            8 | 41 => [1.0 - d[3]; 4],
            11 | 42 => {
                let least = s[3].min(1.0 - d[3]);
                [least, least, least, 1.0]
            }
            43 => *c,
            44 => rest(c),
            45 => [c[3]; 4],
            46 => [1.0 - c[3]; 4],
            // 1, 32, and undefined codes.
            _ => [0.0; 4],
        }
    }

    /// Blends the lanes as a control register says.
    fn lanes(&self, control: u32) -> Vec4 {
        let (mut source, mut stored) = (control >> 16 & 63, control >> 24 & 63);
        // One code for both: alpha and 1 - alpha, or the other way round.
        match source {
            12 => (source, stored) = (38, 39),
            13 => (source, stored) = (39, 38),
            _ => {}
        }
        let (s, d) = (&self.source, &self.stored);
        let operation = control >> 12 & 7;
        let each = |f: fn(f32, f32) -> f32| std::array::from_fn(|n| f(s[n], d[n]));
        match operation {
            4 => return each(f32::min),
            5 => return each(f32::max),
            _ => {}
        }
        let (fs, fd) = (self.factors(source), self.factors(stored));
        let mixed = |n: usize| match operation {
            0 | 1 => s[n] * fs[n] + d[n] * fd[n],
            2 | 3 => s[n] * fs[n] - d[n] * fd[n],
            _ => d[n] * fd[n] - s[n] * fs[n],
        };
        let v = std::array::from_fn(mixed);
        match operation {
            // What is not a number stays.
            0 | 2 | 6 => v.map(|v| v.clamp(0.0, 1.0)),
            _ => v,
        }
    }
}

impl Blend {
    /// Blending is on, and the raster operation is not.
    fn blends(&self) -> bool {
        self.colour & 1 != 0 && self.rop & 4 == 0
    }

    /// The constant in the order of lanes: 0.10 of fixed targets, floats of 16 bits of others.
    fn constant(&self, c: &Colour) -> Vec4 {
        let [ar, gb] = self.constant;
        let value = |v: u32| match c.packing.is_fixed() {
            true => (v & 0x3ff) as f32 / 1023.0,
            false => from_half(v as u16),
        };
        let (r, a) = (value(ar & 0xffff), value(ar >> 16));
        let (b, g) = (value(gb & 0xffff), value(gb >> 16));
        // A target of one byte takes green (digest of 3D, D-25).
        let r = if c.target.format == 9 { g } else { r };
        [b, g, r, a]
    }

    fn blended(&self, c: &Colour, source: Vec4, stored: Vec4) -> Vec4 {
        let terms = Terms {
            source,
            stored,
            constant: self.constant(c),
        };
        let alpha = if self.colour & 2 != 0 {
            self.alpha
        } else {
            self.colour
        };
        let mut lanes = terms.lanes(self.colour);
        if alpha != self.colour {
            lanes[3] = terms.lanes(alpha)[3];
        }
        lanes
    }

    /// DISCARD_SRC_PIXELS, by bytes of the source.
    fn discards(&self, lanes: Vec4) -> bool {
        let mode = self.colour >> 3 & 7;
        if mode == 0 {
            return false;
        }
        let bytes = lanes.map(|v| (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u32);
        let [lte, gte] = self.discard.map(|v| [0, 8, 16, 24].map(|n| v >> n & 0xff));
        let below = |n: usize| bytes[n] <= lte[n];
        let above = |n: usize| bytes[n] >= gte[n];
        match mode {
            1 => below(3),
            2 => (0..3).all(below),
            3 => (0..4).all(below),
            4 => above(3),
            5 => (0..3).all(above),
            6 => (0..4).all(above),
            _ => false,
        }
    }

    /// Bits of a source and of what is stored, by ROP2's table: bit 3 for 1 and 1, 2 for 1 and 0.
    fn rop(&self, source: u128, stored: u128) -> u128 {
        let code = self.rop >> 8 & 15;
        let term = |bit: u32, v: u128| if code >> bit & 1 != 0 { v } else { 0 };
        // S, D as bits of the index: 11, 10, 01, 00.
        term(3, source & stored)
            | term(2, source & !stored)
            | term(1, !source & stored)
            | term(0, !source & !stored)
    }

    /// Writes a sample of two pixels that are side by side, of those that are drawn.
    pub fn write(
        &self,
        mc: &mut Mc,
        c: &Colour,
        (x, y, sample): (i64, i64, usize),
        mut drawn: [bool; 2],
        colours: [Vec4; 2],
    ) {
        let mask = c.mask;
        if mask == 0 {
            return;
        }
        let lanes = colours.map(|colour| {
            let lanes = c.packing.lanes(colour);
            if c.packing.is_fixed() {
                lanes.map(|v| if v.is_nan() { 0.0 } else { v.clamp(-1.0, 1.0) })
            } else {
                lanes
            }
        });
        for (drawn, lanes) in drawn.iter_mut().zip(lanes) {
            *drawn &= !self.discards(lanes);
        }
        if drawn == [false; 2] {
            return;
        }
        let pair = Pair::new(&c.target, x as u64, y as u64, sample as u64);
        let (blends, combines) = (self.blends(), self.rop & 4 != 0);
        let old = if c.whole && !blends && !combines {
            [0; 2]
        } else {
            pair.read(mc)
        };
        let new = std::array::from_fn(|n| {
            if !drawn[n] {
                return 0;
            }
            let mut lanes = lanes[n];
            if blends {
                lanes = self.blended(c, lanes, c.packing.unpack(old[n]));
            }
            let mut new = c.packing.pack(lanes);
            if combines {
                new = self.rop(new, old[n]);
            }
            old[n] & !mask | new & mask
        });
        pair.write(mc, drawn, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::r5xx::access::Unit;
    use crate::r5xx::tile::Layout;

    fn colour(format: u32, out_fmt: u32) -> Colour {
        let target = Target::plain(Unit::Color, format, Layout::linear(256));
        let packing = Packing::new(format, out_fmt).expect("a format");
        Colour::new(target, packing, 15, 0)
    }

    /// Digest of 3D, §15.4: As and 1 - As, of Cs = 0.25, As = 0.75, Cd = 0.5.
    #[test]
    fn a_blend_of_the_digest() {
        let b = Blend {
            colour: 1 | 38 << 16 | 39 << 24,
            ..Blend::default()
        };
        let c = colour(6, 0x1b00);
        let got = b.blended(&c, [0.25, 0.25, 0.25, 0.75], [0.5; 4]);
        assert_eq!(got[..3], [0.3125; 3]);
    }

    /// §13.3: factors, by both families of codes, and operations.
    #[test]
    fn factors_and_operations() {
        let t = Terms {
            source: [0.25, 0.5, 0.75, 0.625],
            stored: [0.5, 0.125, 1.0, 0.25],
            constant: [0.1, 0.2, 0.3, 0.4],
        };
        let at = |code: u32| t.factors(code)[1];
        for (gl, d3d, want) in [
            (34, 3, 0.5),
            (35, 4, 0.5),
            (36, 9, 0.125),
            (37, 10, 0.875),
            (38, 5, 0.625),
            (39, 6, 0.375),
            (40, 7, 0.25),
            (41, 8, 0.75),
            (42, 11, 0.625),
        ] {
            assert_eq!((at(gl), at(d3d)), (want, want), "{gl}");
        }
        assert_eq!([at(43), at(44), at(45), at(46)], [0.2, 0.8, 0.4, 0.6]);
        assert_eq!(t.factors(42)[3], 1.0);
        let lane = |operation: u32| t.lanes(operation << 12 | 33 << 16 | 33 << 24)[2];
        assert_eq!(lane(0), 1.0);
        assert_eq!(lane(1), 1.75);
        assert_eq!(lane(2), 0.0);
        assert_eq!(lane(3), -0.25);
        assert_eq!(lane(4), 0.75);
        assert_eq!(lane(5), 1.0);
        assert_eq!(lane(6), 0.25);
        // 2 and 1 are 1 and 0, by their D3D names.
        assert_eq!(t.lanes(2 << 16 | 1 << 24)[0], 0.25);
        // One code for both.
        assert_eq!(t.lanes(12 << 16)[0], 0.25 * 0.625 + 0.5 * 0.375);
    }

    /// §15.4: 0.25, 0.5, 1 are 0ff, 1ff, 3ff.
    #[test]
    fn constants_of_blends() {
        let b = Blend {
            constant: [0x3ff << 16 | 0xff, 0x1ff << 16],
            ..Blend::default()
        };
        let got = b.constant(&colour(6, 0x1b00));
        let want = [0.0, 511.0 / 1023.0, 255.0 / 1023.0, 1.0];
        assert_eq!(got, want);
        assert_eq!(b.constant(&colour(9, 0x1b00))[2], 511.0 / 1023.0);
        let b = Blend {
            constant: [0x3c00 << 16 | 0x3800, 0x3400],
            ..Blend::default()
        };
        assert_eq!(b.constant(&colour(10, 0x3900 | 18)), [0.25, 0.0, 0.5, 1.0]);
    }

    /// §13.4: the sixteen operations by their names.
    #[test]
    fn raster_operations() {
        let (s, d) = (0b1100u128, 0b1010u128);
        for (code, want) in [
            (0, 0),
            (1, !(s | d)),
            (2, !s & d),
            (3, !s),
            (4, s & !d),
            (5, !d),
            (6, s ^ d),
            (7, !(s & d)),
            (8, s & d),
            (9, !(s ^ d)),
            (10, d),
            (11, !s | d),
            (12, s),
            (13, s | !d),
            (14, s | d),
            (15, !0),
        ] {
            let b = Blend {
                rop: 4 | code << 8,
                ..Blend::default()
            };
            assert_eq!(b.rop(s, d), want, "{code}");
        }
    }

    /// §13.3: alphas of 1/255 are gone by Mesa's threshold of 1.
    #[test]
    fn discards() {
        let b = |mode: u32| Blend {
            colour: mode << 3,
            discard: [0x0101_0101, 0xfefe_fefe],
            ..Blend::default()
        };
        let dim = [0.5, 0.5, 0.5, 1.0 / 255.0];
        assert!(b(1).discards(dim) && !b(2).discards(dim) && !b(0).discards(dim));
        assert!(b(3).discards([0.0; 4]) && b(6).discards([1.0; 4]) && !b(6).discards(dim));
    }
}

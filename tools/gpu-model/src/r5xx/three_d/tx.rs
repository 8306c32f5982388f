// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Texture units: coordinates, wrap, filters, levels (digest of 3D, §10.4 to §10.7).

use super::texel::{border, in_block, linear, plain};
use super::textures::{Shape, Texture};
use crate::r5xx::core::Core;
use crate::r5xx::mc::Mc;
use crate::r5xx::pvs::Vec4;
use crate::r5xx::regs::reg;
use crate::r5xx::us::{Detail, Lookup, Quad, Sampler};

/// Texture units.
const UNITS: usize = 16;
/// What a unit answers that is off, or has no texture that there is (§10.1).
const NOTHING: Vec4 = [0.0, 0.0, 0.0, 1.0];
/// TX_FILTER1 21: blue is a DXT block's component 0.
const BLUE_FIRST: u32 = 1 << 21;
/// [`Unit::picks`]: 0 and 1.
const PICK_ZERO: u8 = 4;
const PICK_ONE: u8 = 5;
/// Coordinates are kept from being further out than this, in texels.
const FAR: f32 = (1 << 24) as f32;

/// A unit, as a draw finds it.
#[derive(Clone, Debug, Default)]
struct Unit {
    texture: Texture,
    /// TX_FILTER0, TX_FILTER1.
    filter: [u32; 2],
    /// TX_FORMAT1.
    format1: u32,
    /// Red, green, blue, alpha are these of components 0 to 3, 0 and 1.
    picks: [u8; 4],
    border: Vec4,
}

/// The sixteen units.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    all: [Option<Box<Unit>>; UNITS],
}

/// Units that look into memory.
pub(super) struct Reader<'a> {
    units: &'a Units,
    mc: &'a mut Mc,
}

impl Core {
    /// Those units that a program looks up, and that are on.
    pub(super) fn units(&mut self, wanted: u16) -> Units {
        let enabled = self.seen(reg::TX_ENABLE);
        let mut units = Units::default();
        for n in (0..UNITS as u32).filter(|n| (enabled & u32::from(wanted)) >> n & 1 != 0) {
            let Some(texture) = self.texture(n) else {
                continue;
            };
            let format1 = self.seen(reg::TX_FORMAT1 + 4 * n);
            let mut unit = Unit {
                texture,
                filter: [
                    self.seen(reg::TX_FILTER0 + 4 * n),
                    self.seen(reg::TX_FILTER1 + 4 * n),
                ],
                format1,
                picks: picks(format1),
                border: [0.0; 4],
            };
            let raw = border(
                unit.texture.format,
                self.seen(reg::TX_BORDER_COLOR_0 + 4 * n),
                unit.signs(),
            );
            unit.border = unit.selected(raw);
            units.all[n as usize] = Some(Box::new(unit));
        }
        units
    }
}

impl Units {
    pub fn sampler<'a>(&'a self, mc: &'a mut Mc) -> Reader<'a> {
        Reader { units: self, mc }
    }
}

/// Which texels of a row, and how much of the second; None is the border.
type Taps = ([Option<u64>; 2], f32);

/// Which components are red, green, blue, alpha: TX_FORMAT1 20:9.
fn picks(format1: u32) -> [u8; 4] {
    [12, 15, 18, 9].map(|shift: u32| match (format1 >> shift & 7) as u8 {
        n @ 0..=3 => n,
        5 => PICK_ONE,
        _ => PICK_ZERO,
    })
}

/// The largest whole number that is not above a coordinate, which is no further out than [`FAR`].
fn floor(v: f32) -> f32 {
    let near = v as i32 as f32;
    near - f32::from(u8::from(near > v))
}

/// A whole number, again from 0 after so many.
fn repeated(i: i64, n: i64) -> i64 {
    // Most are there already, and a division takes longer than the rest.
    if (0..n).contains(&i) {
        i
    } else {
        i.rem_euclid(n)
    }
}

/// A coordinate in texels by a wrap mode: among so many texels.
fn wrapped(mode: u32, u: f32, size: u64, smooth: bool) -> Taps {
    let u = if u.is_nan() { 0.0 } else { u.clamp(-FAR, FAR) };
    // Mirrored once: 3, 5, 7.
    let u = if matches!(mode, 3 | 5 | 7) {
        u.abs()
    } else {
        u
    };
    // Half of the border: not beyond the texture's ends.
    let u = if matches!(mode, 4 | 5) {
        u.clamp(0.0, size as f32)
    } else {
        u
    };
    let n = size as i64;
    let texel = |i: i64| match mode {
        0 => Some(repeated(i, n) as u64),
        1 => {
            let i = repeated(i, 2 * n);
            Some(i.min(2 * n - 1 - i) as u64)
        }
        // The end of the range is the last texel, if nothing is mixed.
        4 | 5 if !smooth => Some(i.clamp(0, n - 1) as u64),
        4..=7 => (0..n).contains(&i).then_some(i as u64),
        _ => Some(i.clamp(0, n - 1) as u64),
    };
    if !smooth {
        let i = texel(floor(u) as i64);
        return ([i, i], 0.0);
    }
    let u = u - 0.5;
    let first = floor(u);
    let i = first as i64;
    ([texel(i), texel(i + 1)], u - first)
}

/// Face, and coordinates on it from 0 to 1, of a direction.
fn on_cube([x, y, z]: [f32; 3], face: Option<u64>) -> (u64, f32, f32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let face = face.unwrap_or(if ax >= ay && ax >= az {
        u64::from(x < 0.0)
    } else if ay >= az {
        2 + u64::from(y < 0.0)
    } else {
        4 + u64::from(z < 0.0)
    });
    let (s, t, m) = match face {
        0 => (-z, -y, ax),
        1 => (z, -y, ax),
        2 => (x, z, ay),
        3 => (x, -z, ay),
        4 => (x, -y, az),
        _ => (-x, -y, az),
    };
    (face, (s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0)
}

impl Unit {
    /// Signs of components 0 to 3: TX_FORMAT1 8:5.
    fn signs(&self) -> u32 {
        self.format1 >> 5 & 15
    }

    fn wrap(&self, n: u32) -> u32 {
        self.filter[0] >> (3 * n) & 7
    }

    /// Red, green, blue, alpha of components: TX_FORMAT1 20:9, and GAMMA.
    fn selected(&self, [c0, c1, c2, c3]: Vec4) -> Vec4 {
        let all = [c0, c1, c2, c3, 0.0, 1.0, 0.0, 0.0];
        let [r, g, b, a] = self.picks.map(|n| all[usize::from(n & 7)]);
        if self.format1 >> 21 & 1 != 0 {
            [linear(r), linear(g), linear(b), a]
        } else {
            [r, g, b, a]
        }
    }

    fn texel(&self, mc: &mut Mc, level: u32, at: [Option<u64>; 2], layer: Option<u64>) -> Vec4 {
        let ([Some(x), Some(y)], Some(layer)) = (at, layer) else {
            return self.border;
        };
        let t = &self.texture;
        let Some(address) = t.address(level, [x, y], layer) else {
            return self.selected([0.0; 4]);
        };
        let mut raw = [0; 16];
        mc.peek(address, &mut raw[..t.bytes as usize]);
        self.selected(if t.blocks {
            let bgr = self.filter[1] & BLUE_FIRST != 0;
            in_block(t.format, &raw, (x, y), self.signs(), bgr)
        } else {
            plain(t.format, &raw, self.signs())
        })
    }

    /// A place of a level, in texels of it.
    fn at_level(&self, mc: &mut Mc, level: u32, at: [f32; 3], face: u64, smooth: bool) -> Vec4 {
        let size = self.texture.extent_of(level);
        let (xs, fx) = wrapped(self.wrap(0), at[0], size[0], smooth);
        let (ys, fy) = wrapped(self.wrap(1), at[1], size[1], smooth);
        // Between slices: VOL 16:15, as between texels unless it says else.
        let (zs, fz) = if self.texture.shape == Shape::Volume {
            let smooth = match self.filter[0] >> 15 & 3 {
                1 => false,
                2 => true,
                _ => smooth,
            };
            wrapped(self.wrap(2), at[2], size[2], smooth)
        } else {
            ([Some(face); 2], 0.0)
        };
        let mix = |a: Vec4, b: Vec4, f: f32| -> Vec4 {
            std::array::from_fn(|n| a[n] + (b[n] - a[n]) * f)
        };
        let mut slice = |z| {
            let mut row = |y| {
                let a = self.texel(mc, level, [xs[0], y], z);
                if fx == 0.0 {
                    return a;
                }
                mix(a, self.texel(mc, level, [xs[1], y], z), fx)
            };
            let a = row(ys[0]);
            if fy == 0.0 {
                return a;
            }
            mix(a, row(ys[1]), fy)
        };
        let a = slice(zs[0]);
        if fz == 0.0 {
            return a;
        }
        mix(a, slice(zs[1]), fz)
    }

    /// The level of detail of four pixels: 0 is one texel of level 0 to a pixel. `at` is in texels of that.
    fn detail(&self, lookup: &Lookup, at: &[[f32; 3]; 4]) -> [f32; 4] {
        // TX_FILTER1 12:3: LOD_BIAS, with five bits of a fraction.
        let bias = ((self.filter[1] << 19) as i32 >> 22) as f32 / 32.0;
        let length = |v: [f32; 3]| v.iter().map(|v| v * v).sum::<f32>().sqrt();
        let between = |a: usize, b: usize| length(std::array::from_fn(|n| at[b][n] - at[a][n]));
        let q = lookup.at[3];
        let scale = self.texture.extent.map(|v| v as f32);
        let lambda = |rho: f32| rho.log2() + bias;
        match &lookup.detail {
            Detail::Given => q.map(|q| q + bias),
            Detail::Computed => [lambda(between(0, 1).max(between(0, 2))); 4],
            Detail::Biased => {
                let all = lambda(between(0, 1).max(between(0, 2)));
                q.map(|q| all + q)
            }
            Detail::Gradients(dx, dy) => std::array::from_fn(|p| {
                let of = |d: &Quad| {
                    let unscaled = |n: usize| if lookup.unscaled { 1.0 } else { scale[n] };
                    let all = if self.texture.shape == Shape::Volume {
                        3
                    } else {
                        2
                    };
                    length(std::array::from_fn(|n| {
                        if n < all {
                            d[n][p] * unscaled(n)
                        } else {
                            0.0
                        }
                    }))
                };
                lambda(of(dx).max(of(dy)))
            }),
        }
    }

    /// True if a place has the same texels at each level of detail.
    fn has_one_level(&self) -> bool {
        let [mag, min] = [9, 11].map(|n| self.filter[0] >> n & 3 == 1);
        mag == min && !matches!(self.filter[0] >> 13 & 3, 1 | 2)
    }

    fn pixel(&self, mc: &mut Mc, at: [f32; 3], face: u64, lambda: f32) -> Vec4 {
        let (finest, last) = (self.texture.finest, self.texture.last);
        let lambda = if lambda.is_nan() { 0.0 } else { lambda };
        // MAG 10:9, MIN 12:11: 1 is a point; the rest is linear.
        let magnified = lambda <= 0.0;
        let code = self.filter[0] >> if magnified { 9 } else { 11 } & 3;
        let smooth = code != 1;
        let mut of = |level: u32| {
            let shrink = 1.0 / (1u32 << level) as f32;
            self.at_level(mc, level, at.map(|v| v * shrink), face, smooth)
        };
        let lambda = lambda.clamp(finest as f32, last as f32);
        match self.filter[0] >> 13 & 3 {
            1 => of((lambda + 0.5).floor() as u32),
            2 => {
                let (level, share) = (lambda.floor(), lambda - lambda.floor());
                let a = of(level as u32);
                if share == 0.0 {
                    return a;
                }
                let b = of(level as u32 + 1);
                std::array::from_fn(|n| a[n] + (b[n] - a[n]) * share)
            }
            _ => of(finest),
        }
    }

    fn sample(&self, mc: &mut Mc, lookup: &Lookup) -> Quad {
        let scale = self.texture.extent.map(|v| v as f32);
        let coordinates = |p: usize| [0, 1, 2].map(|n| lookup.at[n][p]);
        let mut faces = [0; 4];
        let mut places = [[0.0; 3]; 4];
        for p in 0..4 {
            let [s, t, r] = coordinates(p);
            let (s, t, r) = match self.texture.shape {
                Shape::Cube => {
                    let (face, s, t) = on_cube([s, t, r], None);
                    faces[p] = face;
                    (s, t, 0.0)
                }
                Shape::Flat => (s, t, 0.0),
                Shape::Volume => (s, t, r),
            };
            places[p] = if lookup.unscaled {
                [s, t, r]
            } else {
                [s * scale[0], t * scale[1], r * scale[2]]
            };
        }
        let mut distances = places;
        if self.texture.shape == Shape::Cube {
            // On the first pixel's face, wherever the others are.
            for (p, place) in distances.iter_mut().enumerate().skip(1) {
                let (_, s, t) = on_cube(coordinates(p), Some(faces[0]));
                *place = [s * scale[0], t * scale[1], 0.0];
            }
        }
        // Which level does not matter where there is one, and one filter.
        let lambda = if self.has_one_level() {
            [0.0; 4]
        } else {
            self.detail(lookup, &distances)
        };
        let all: [Vec4; 4] =
            std::array::from_fn(|p| self.pixel(mc, places[p], faces[p], lambda[p]));
        std::array::from_fn(|c| std::array::from_fn(|p| all[p][c]))
    }
}

impl Sampler for Reader<'_> {
    fn sample(&mut self, lookup: &Lookup) -> Quad {
        match &self.units.all[usize::from(lookup.unit) % UNITS] {
            Some(unit) => unit.sample(self.mc, lookup),
            None => NOTHING.map(|v| [v; 4]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digest of 3D, §10.4: texels of a coordinate among four, by the eight modes; None is the border.
    #[test]
    fn modes_of_wrapping() {
        let point = |mode, u| wrapped(mode, u, 4, false).0[0];
        let some = |all: [i64; 6]| all.map(|v| u64::try_from(v).ok());
        let at = [-4.5, -0.5, 1.5, 4.0, 4.5, 9.5];
        for (mode, want) in [
            (0, [3, 3, 1, 0, 0, 1]),
            (1, [3, 0, 1, 3, 3, 1]),
            (2, [0, 0, 1, 3, 3, 3]),
            (3, [3, 0, 1, 3, 3, 3]),
            (4, [0, 0, 1, 3, 3, 3]),
            (5, [3, 0, 1, 3, 3, 3]),
            (6, [-1, -1, 1, -1, -1, -1]),
            (7, [-1, 0, 1, -1, -1, -1]),
        ] {
            assert_eq!(at.map(|u| point(mode, u)), some(want), "{mode}");
        }
        // Between two texels; over the end.
        assert_eq!(wrapped(2, 1.75, 4, true), ([Some(1), Some(2)], 0.25));
        assert_eq!(wrapped(0, 0.0, 4, true), ([Some(3), Some(0)], 0.5));
        assert_eq!(wrapped(4, -9.0, 4, true), ([None, Some(0)], 0.5));
        assert_eq!(wrapped(6, f32::NAN, 4, false).0[0], Some(0));
    }

    /// OpenGL's table of faces: +x, -x, +y, -y, +z, -z.
    #[test]
    fn faces_of_cubes() {
        for (at, want) in [
            ([2.0, 1.0, -1.0], (0, 0.75, 0.25)),
            ([-2.0, 1.0, -1.0], (1, 0.25, 0.25)),
            ([1.0, 2.0, -1.0], (2, 0.75, 0.25)),
            ([1.0, -2.0, -1.0], (3, 0.75, 0.75)),
            ([1.0, 1.0, 2.0], (4, 0.75, 0.25)),
            ([1.0, 1.0, -2.0], (5, 0.25, 0.25)),
        ] {
            assert_eq!(on_cube(at, None), want, "{at:?}");
        }
    }
}

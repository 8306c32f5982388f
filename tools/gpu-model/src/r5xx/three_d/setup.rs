// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Set-up: what is left of a primitive in the window becomes edges and planes (digest of 3D, §6.3 to §6.6, §7.2, §7.3).
//!
//! Corners are in twelfths of a pixel, and so are samples: edges are exact.

use super::assemble::{Corner, ATTRIBUTES};
use super::clip::Placed;
use crate::r5xx::pvs::Vec4;
use std::cell::Cell;

/// Parts of a pixel that corners are rounded to.
pub(super) const PARTS: i64 = 12;
/// No corner is further away, in parts.
const FAR: f32 = (1 << 24) as f32;
/// Lines have corners that are finer by this.
const FINE: i64 = 16;

/// Registers of GA and SU.
#[derive(Clone, Debug, Default)]
pub(super) struct Registers {
    /// GA_POINT_SIZE, GA_POINT_MINMAX, GA_LINE_CNTL.
    pub point_size: u32,
    pub point_minmax: u32,
    pub line: u32,
    /// GA_POINT_S0, _T0, _S1, _T1.
    pub stuffed: [f32; 4],
    pub stipple: Stipple,
    /// GA_OFFSET.
    pub offset: u32,
    /// GA_ROUND_MODE.
    pub round: u32,
    /// GA_POLY_MODE.
    pub polygon: u32,
    /// GB_SELECT.
    pub select: u32,
    /// SU_CULL_MODE.
    pub cull: u32,
    /// SU_DEPTH_SCALE, SU_DEPTH_OFFSET.
    pub depth: (f32, f32),
    /// SU_POLY_OFFSET_ENABLE; scale and offset of front and back.
    pub offsets: u32,
    pub poly_offset: [(f32, f32); 2],
    /// SC_EDGERULE.
    pub edge_rule: u32,
    /// Of colours 0 to 3, two of each for those in front and two for those behind: there are four.
    pub two_sided: bool,
}

/// The coordinate that lines get for a texture with their stipple: how far along it is (digest of 3D, §6.4).
#[derive(Clone, Debug, Default)]
pub(super) struct Stipple {
    /// GA_LINE_STIPPLE_CONFIG.
    pub config: u32,
    /// Pixels of the lines of the draw so far.
    pub before: Cell<f64>,
}

impl Stipple {
    /// The coordinate at a line's first end, and how it grows to the other one, so many pixels away.
    fn along(&self, pixels: f64) -> (f64, f64) {
        // The scale is a float without its two lowest bits.
        let scale = f64::from(f32::from_bits(self.config & !3));
        // 1: each line begins at 0.
        let before = match self.config & 3 {
            1 => 0.0,
            _ => self.before.replace(self.before.get() + pixels),
        };
        (before * scale, pixels * scale)
    }
}

/// a * x + b * y + c, which is not negative inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub a: i64,
    pub b: i64,
    pub c: i64,
    /// What lies on the edge is inside.
    pub closed: bool,
}

/// What is linear in the window: from the first corner on, by pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Plane {
    pub at: f64,
    pub dx: f64,
    pub dy: f64,
}

impl Plane {
    /// Its value at a place, in pixels.
    pub fn value(&self, x: f64, y: f64) -> f64 {
        self.at + self.dx * x + self.dy * y
    }
}

/// The polygon that a line or a point is drawn of.
#[derive(Clone, Copy, Debug)]
struct Polygon {
    back: bool,
    /// What is added to its depths.
    offset: f64,
}

/// What is drawn: a convex area, and what varies over it.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub edges: Vec<Edge>,
    /// Pixels that it can touch: left, top, right, bottom, inclusive.
    pub bounds: [i64; 4],
    pub back: bool,
    /// Depth in the units of 24 bits, and what was added to a triangle's.
    pub depth: Plane,
    pub offset: f64,
    /// Shares of the second and the third corner.
    pub shares: [Plane; 2],
    /// 1 / w of the corners.
    pub q: [f64; 3],
    /// The first corner's attributes, and how the others differ.
    pub attributes: [[Vec4; 3]; ATTRIBUTES],
    /// S and T over a point; S along a line.
    pub stuffed: [Plane; 2],
}

fn parts(v: f32, nearest: bool) -> Option<i64> {
    if v.is_nan() {
        return None;
    }
    let v = (v * PARTS as f32).clamp(-FAR, FAR);
    let whole = if nearest {
        (v + 0.5).floor()
    } else {
        v.trunc()
    };
    Some(whole as i64)
}

impl Edge {
    /// From p to q, in units of `fine` to a part; `inside` is a point that is inside or on it.
    fn new(p: (i64, i64), q: (i64, i64), inside: (i64, i64), fine: i64, rule: u32) -> Self {
        let (mut a, mut b) = (p.1 - q.1, q.0 - p.0);
        let mut c = -(a * p.0 + b * p.1);
        if a * inside.0 + b * inside.1 + c < 0 {
            (a, b, c) = (-a, -b, -c);
        }
        // The enumeration of SC_EDGERULE: a bit set is an edge that is outside.
        let bit = match (rule >> 4 & 1 != 0, a, b) {
            (false, 0, b) => u32::from(b > 0),
            (false, a, _) => 2 + u32::from(a > 0),
            (true, a, 0) => u32::from(a > 0),
            (true, _, b) => 3 - u32::from(b > 0),
        };
        Edge {
            a: a * fine,
            b: b * fine,
            c,
            closed: rule >> bit & 1 == 0,
        }
    }
}

impl Registers {
    fn rule(&self, n: u32) -> u32 {
        self.edge_rule >> (5 * n) & 31
    }

    /// A corner's place in parts.
    fn corner(&self, p: &Placed) -> Option<(i64, i64)> {
        let nearest = self.round & 3 != 0;
        let moved = |v: f32, by: u32| Some(parts(v, nearest)? + i64::from(by as i16));
        Some((
            moved(p.at[0], self.offset & 0xffff)?,
            moved(p.at[1], self.offset >> 16)?,
        ))
    }

    fn depth_of(&self, z: f32) -> f64 {
        let z = f64::from(z) * f64::from(self.depth.0) + f64::from(self.depth.1);
        if z.is_nan() {
            0.0
        } else {
            z.clamp(-1e15, 1e15)
        }
    }

    /// 1 / w of a corner, unless a constant stands for it.
    fn q(&self, p: &Placed) -> f64 {
        if self.select >> 4 & 1 != 0 || p.at[3].is_nan() {
            1.0
        } else {
            p.at[3].into()
        }
    }

    fn attributes(&self, corners: [&Corner; 3], back: bool) -> [[Vec4; 3]; ATTRIBUTES] {
        std::array::from_fn(|n| {
            let from = if n < 2 && back && self.two_sided {
                n + 2
            } else {
                n
            };
            let [a, b, c] = corners.map(|c| c.attributes[from]);
            let less = |v: Vec4| std::array::from_fn(|n| v[n] - a[n]);
            [a, less(b), less(c)]
        })
    }

    fn poly_offset(&self, which: u32, depth: &Plane) -> f64 {
        if self.offsets >> which & 1 == 0 {
            return 0.0;
        }
        let (scale, offset) = self.poly_offset[usize::from(which == 1)];
        let slope = depth.dx.abs().max(depth.dy.abs()) / PARTS as f64;
        let by = f64::from(scale) * slope + f64::from(offset);
        if by.is_nan() {
            0.0
        } else {
            by
        }
    }

    /// Returns the offset of a point or a line: its polygon's, if it is an edge or a corner of one (§6.5:
    /// "offset enables apply to the polygon").
    fn offset_of(&self, of: Option<Polygon>, depth: &Plane) -> f64 {
        of.map_or_else(|| self.poly_offset(2, depth), |p| p.offset)
    }

    /// Front or back; `None` for what is culled.
    fn facing(&self, area: i64) -> Option<bool> {
        // y points downwards: what is counter-clockwise to the eye has a negative area here.
        let ccw = area < 0;
        let back = ccw != (self.cull >> 2 & 1 == 0);
        let culled = self.cull >> u32::from(back) & 1 != 0;
        (area != 0 && !culled).then_some(back)
    }

    /// Sets up a clipped primitive: one corner is a point, two a line, more a polygon around the first.
    pub fn shapes(&self, all: &[(Placed, bool)], out: &mut impl FnMut(Shape)) {
        match all {
            [] => {}
            [(p, _)] => {
                self.point(p, None).map(out);
            }
            [(a, _), (b, _)] => {
                self.line(a, b, None).map(out);
            }
            [(first, _), rest @ ..] => {
                for pair in rest.windows(2) {
                    let corners = [first, &pair[0].0, &pair[1].0];
                    // The polygon's mode: 0 points, 1 lines, of front and of back.
                    let Some(back) = self.facing_of(corners) else {
                        continue;
                    };
                    let mode = self.polygon >> if back { 7 } else { 4 } & 7;
                    if self.polygon & 3 == 1 && mode < 2 {
                        continue;
                    }
                    self.triangle(corners, back).map(&mut *out);
                }
                self.outline(all, out);
            }
        }
    }

    fn facing_of(&self, corners: [&Placed; 3]) -> Option<bool> {
        let [a, b, c] = [
            self.corner(corners[0])?,
            self.corner(corners[1])?,
            self.corner(corners[2])?,
        ];
        self.facing((b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1))
    }

    /// Edges or corners of a polygon, if its mode is so (§6.5).
    fn outline(&self, all: &[(Placed, bool)], out: &mut impl FnMut(Shape)) {
        if self.polygon & 3 != 1 {
            return;
        }
        let seen = (1..all.len() - 1).find_map(|n| {
            let corners = [&all[0].0, &all[n].0, &all[n + 1].0];
            let back = self.facing_of(corners)?;
            let offset = self.triangle(corners, back)?.offset;
            Some(Polygon { back, offset })
        });
        let Some(polygon) = seen else { return };
        let back = polygon.back;
        match self.polygon >> if back { 7 } else { 4 } & 7 {
            0 => {
                for (p, _) in all {
                    self.point(p, Some(polygon)).map(&mut *out);
                }
            }
            1 => {
                for (n, (a, own)) in all.iter().enumerate() {
                    if *own {
                        let b = &all[(n + 1) % all.len()].0;
                        self.line(a, b, Some(polygon)).map(&mut *out);
                    }
                }
            }
            _ => {}
        }
    }

    fn triangle(&self, corners: [&Placed; 3], back: bool) -> Option<Shape> {
        let p = [
            self.corner(corners[0])?,
            self.corner(corners[1])?,
            self.corner(corners[2])?,
        ];
        let rule = self.rule(0);
        let edges = (0..3)
            .map(|n| Edge::new(p[n], p[(n + 1) % 3], p[(n + 2) % 3], 1, rule))
            .collect();
        let area = (p[1].0 - p[0].0) * (p[2].1 - p[0].1) - (p[2].0 - p[0].0) * (p[1].1 - p[0].1);
        // The share of a corner is the distance from the edge across.
        let share = |from: usize, to: usize| {
            let (a, b) = (p[from].1 - p[to].1, p[to].0 - p[from].0);
            let c = -(a * p[from].0 + b * p[from].1);
            let scale = 1.0 / area as f64;
            Plane {
                at: c as f64 * scale,
                dx: (a * PARTS) as f64 * scale,
                dy: (b * PARTS) as f64 * scale,
            }
        };
        let shares = [share(2, 0), share(0, 1)];
        let z = corners.map(|c| self.depth_of(c.at[2]));
        let mix =
            |f: fn(&Plane) -> f64| f(&shares[0]) * (z[1] - z[0]) + f(&shares[1]) * (z[2] - z[0]);
        let mut depth = Plane {
            at: z[0] + mix(|p| p.at),
            dx: mix(|p| p.dx),
            dy: mix(|p| p.dy),
        };
        let offset = self.poly_offset(u32::from(back), &depth);
        depth.at += offset;
        Some(Shape {
            offset,
            edges,
            bounds: bounds(&p, 1),
            back,
            depth,
            shares,
            q: corners.map(|c| self.q(c)),
            attributes: self.attributes(corners.map(|c| &c.corner), back),
            stuffed: [Plane::default(); 2],
        })
    }

    /// Half of a point's width and height, in parts.
    fn point_half(&self, corner: &Corner) -> (i64, i64) {
        let Some(size) = corner.size else {
            let size = self.point_size;
            return (i64::from(size >> 16), i64::from(size & 0xffff));
        };
        let (least, most) = (self.point_minmax & 0xffff, self.point_minmax >> 16);
        // A diameter in pixels; what is not a number is the least.
        let half = (size * (PARTS / 2) as f32 + 0.5).floor();
        let half = half.max(least as f32).min(most as f32) as i64;
        (half, half)
    }

    fn point(&self, p: &Placed, of: Option<Polygon>) -> Option<Shape> {
        let (x, y) = self.corner(p)?;
        let (w, h) = self.point_half(&p.corner);
        if w == 0 || h == 0 {
            return None;
        }
        let around = [
            (x - w, y - h),
            (x + w, y - h),
            (x + w, y + h),
            (x - w, y + h),
        ];
        let rule = self.rule(1);
        let edges = (0..4)
            .map(|n| Edge::new(around[n], around[(n + 1) % 4], (x, y), 1, rule))
            .collect();
        let depth = Plane {
            at: self.depth_of(p.at[2]) + self.offset_of(of, &Plane::default()),
            ..Plane::default()
        };
        // S from the left to the right, T from the lower edge to the upper.
        let [s0, t0, s1, t1] = self.stuffed.map(f64::from);
        let along = |from: f64, to: f64, start: i64, size: i64| {
            let per = (to - from) * PARTS as f64 / size as f64;
            (from - per * start as f64 / PARTS as f64, per)
        };
        let (s, ds) = along(s0, s1, x - w, 2 * w);
        let (t, dt) = along(t1, t0, y - h, 2 * h);
        Some(Shape {
            edges,
            bounds: bounds(&around, 1),
            back: of.is_some_and(|p| p.back),
            depth,
            offset: 0.0,
            shares: [Plane::default(); 2],
            q: [self.q(p); 3],
            attributes: self.attributes([&p.corner; 3], false),
            stuffed: [
                Plane {
                    at: s,
                    dx: ds,
                    dy: 0.0,
                },
                Plane {
                    at: t,
                    dx: 0.0,
                    dy: dt,
                },
            ],
        })
    }

    fn line(&self, a: &Placed, b: &Placed, of: Option<Polygon>) -> Option<Shape> {
        let (p, q) = (self.corner(a)?, self.corner(b)?);
        let (dx, dy) = (q.0 - p.0, q.1 - p.1);
        if dx == 0 && dy == 0 {
            return None;
        }
        let half = f64::from(self.line & 0xffff) * FINE as f64;
        let (fx, fy) = (dx as f64, dy as f64);
        let length = fx.hypot(fy);
        let flat = dx.abs() >= dy.abs();
        // Ends: 0 horizontal, 1 vertical, 2 square by the slope, 3 perpendicular.
        let aside = match (self.line >> 16 & 3, flat) {
            (3, _) => (-fy / length * half, fx / length * half),
            (0, _) | (2, false) => (half, 0.0),
            _ => (0.0, half),
        };
        let aside = (aside.0.round() as i64, aside.1.round() as i64);
        let fine =
            |v: (i64, i64), sign: i64| (v.0 * FINE + sign * aside.0, v.1 * FINE + sign * aside.1);
        let around = [fine(p, 1), fine(q, 1), fine(q, -1), fine(p, -1)];
        // By the major axis: left to right, right to left, down, up.
        let rule = self.rule(match (flat, dx > 0, dy > 0) {
            (true, true, _) => 2,
            (true, false, _) => 3,
            (false, _, true) => 4,
            (false, _, false) => 5,
        });
        let middle = ((p.0 + q.0) * FINE / 2, (p.1 + q.1) * FINE / 2);
        let edges: Vec<_> = (0..4)
            .map(|n| Edge::new(around[n], around[(n + 1) % 4], middle, FINE, rule))
            .collect();
        if edges.iter().any(|e| e.a == 0 && e.b == 0) {
            return None;
        }
        // The share of the second: how far along.
        let scale = 1.0 / (fx * fx + fy * fy);
        let (x0, y0) = (p.0 as f64, p.1 as f64);
        let share = Plane {
            at: -(x0 * fx + y0 * fy) * scale,
            dx: fx * scale * PARTS as f64,
            dy: fy * scale * PARTS as f64,
        };
        let (za, zb) = (self.depth_of(a.at[2]), self.depth_of(b.at[2]));
        let mut depth = Plane {
            at: za + share.at * (zb - za),
            dx: share.dx * (zb - za),
            dy: share.dy * (zb - za),
        };
        depth.at += self.offset_of(of, &depth);
        let around = around.map(|v| (v.0, v.1));
        let (start, grows) = self.stipple.along(fx.abs().max(fy.abs()) / PARTS as f64);
        let along = Plane {
            at: start + grows * share.at,
            dx: grows * share.dx,
            dy: grows * share.dy,
        };
        Some(Shape {
            edges,
            bounds: bounds(&around, FINE),
            back: of.is_some_and(|p| p.back),
            depth,
            offset: 0.0,
            shares: [share, Plane::default()],
            q: [self.q(a), self.q(b), 0.0],
            attributes: self.attributes([&a.corner, &b.corner, &a.corner], false),
            stuffed: [along, Plane::default()],
        })
    }
}

/// Pixels around corners that are in units of `fine` to a part.
fn bounds(corners: &[(i64, i64)], fine: i64) -> [i64; 4] {
    let unit = PARTS * fine;
    let ends = |of: fn(&(i64, i64)) -> i64| {
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for v in corners.iter().map(of) {
            (least, most) = (least.min(v), most.max(v));
        }
        (least.div_euclid(unit), most.div_euclid(unit))
    };
    let ((x0, x1), (y0, y1)) = (ends(|c| c.0), ends(|c| c.1));
    [x0, y0, x1, y1]
}

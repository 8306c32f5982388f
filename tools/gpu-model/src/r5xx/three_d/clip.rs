// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The clipper and the viewport (R5xx guide §6.1, §6.4.14 to §6.4.17; digest of 3D, §4, §5).

use super::assemble::{Corner, Primitive};
use crate::r5xx::pvs::Vec4;

/// Planes of the view volume and of the user.
const PLANES: usize = 12;
/// VAP_CLIP_CNTL.
const CLIP_DISABLE: u32 = 1 << 16;
/// Only against planes of the user.
const USER_ONLY: u32 = 1 << 17;
/// What 1 / w is made of: not less, where nothing else keeps w from 0.
const LEAST_W: f32 = 1e-30;

/// Registers of the clipper and of the viewport, as a draw finds them.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// VAP_CLIP_CNTL.
    pub clip: u32,
    /// z goes from 0, not from -w: VAP_CNTL 22.
    pub from_zero: bool,
    /// VAP_GB_HORZ_CLIP_ADJ, VAP_GB_VERT_CLIP_ADJ.
    pub guard: [f32; 2],
    pub user: [Vec4; 6],
    /// VAP_VTE_CNTL.
    pub vte: u32,
    /// Scale and offset of x, y, z: VAP_VPORT_*.
    pub viewport: [(f32, f32); 3],
}

/// A vertex in the window: x, y and z, and 1 / w.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    pub at: Vec4,
    pub corner: Corner,
}

/// A polygon of the clipper: a triangle may gain a corner by each plane.
type Polygon = Vec<(Corner, bool)>;

fn dot(a: Vec4, b: Vec4) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

fn between(a: &Corner, b: &Corner, t: f32) -> Corner {
    let mix = |a: Vec4, b: Vec4| std::array::from_fn(|n| a[n] + (b[n] - a[n]) * t);
    Corner {
        position: mix(a.position, b.position),
        size: a.size,
        attributes: std::array::from_fn(|n| mix(a.attributes[n], b.attributes[n])),
    }
}

impl View {
    /// Planes that clip: a vertex is inside where its product is not negative. Near and far, left and right, bottom
    /// and top, the user's.
    fn planes(&self) -> impl Iterator<Item = Vec4> + '_ {
        let volume = self.clip & USER_ONLY == 0;
        let near = if self.from_zero { 0.0 } else { 1.0 };
        let [h, v] = self.guard;
        let fixed = [
            [0.0, 0.0, 1.0, near],
            [0.0, 0.0, -1.0, 1.0],
            [1.0, 0.0, 0.0, h],
            [-1.0, 0.0, 0.0, h],
            [0.0, 1.0, 0.0, v],
            [0.0, -1.0, 0.0, v],
        ];
        let user = (0..6).filter(|n| self.clip >> n & 1 != 0);
        let fixed = fixed.into_iter().filter(move |_| volume);
        fixed.chain(user.map(|n| self.user[n]))
    }

    /// x, y, z of the window and 1 / w, or what VTE_CNTL makes of the position instead.
    fn place(&self, corner: Corner) -> Placed {
        let bit = |n: u32| self.vte >> n & 1 != 0;
        let [x, y, z, w] = corner.position;
        let r = if bit(10) { 1.0 / w } else { w };
        let xy = if bit(8) { 1.0 } else { r };
        let mut at = [x * xy, y * xy, if bit(9) { z } else { z * r }, r];
        for (n, (scale, offset)) in self.viewport.into_iter().enumerate() {
            if bit(2 * n as u32) {
                at[n] *= scale;
            }
            if bit(2 * n as u32 + 1) {
                at[n] += offset;
            }
        }
        Placed { at, corner }
    }

    /// Clips a primitive, in the window: one corner of a point, two of a line, three or more around a polygon, each
    /// with whether the edge to the next one is the primitive's own. Empty if nothing is left.
    pub fn clip(&self, p: &Primitive, out: &mut Vec<(Placed, bool)>) {
        out.clear();
        let corners = &p.corners[..p.number];
        let own = |n: usize| p.edges >> n & 1 != 0;
        if self.clip & CLIP_DISABLE != 0 {
            let all = corners.iter().enumerate();
            out.extend(all.map(|(n, c)| (self.place(*c), own(n))));
            return;
        }
        if corners
            .iter()
            .any(|c| c.position.iter().any(|v| !v.is_finite()))
        {
            return;
        }
        // Most are inside of all planes, which then change nothing.
        let is_inside = |c: &Corner| {
            let [.., w] = c.position;
            w >= LEAST_W && self.planes().all(|plane| dot(c.position, plane) >= 0.0)
        };
        if corners.iter().all(is_inside) {
            let all = corners.iter().enumerate();
            out.extend(all.map(|(n, c)| (self.place(*c), own(n))));
            return;
        }
        let mut polygon: Polygon = Vec::with_capacity(3 + PLANES);
        polygon.extend(corners.iter().enumerate().map(|(n, c)| (*c, own(n))));
        for plane in self.planes() {
            polygon = match p.number {
                1 => Self::of_point(polygon, plane),
                2 => Self::of_line(polygon, plane),
                _ => Self::of_polygon(polygon, plane),
            };
            if polygon.is_empty() {
                return;
            }
        }
        // Planes keep w from being negative, but for the user's alone.
        if polygon.iter().any(|(c, _)| c.position[3] < LEAST_W) {
            let plane = [0.0, 0.0, 0.0, 1.0];
            polygon = match p.number {
                3 => Self::of_polygon(polygon, plane),
                _ => polygon,
            };
            for (c, _) in &mut polygon {
                c.position[3] = c.position[3].max(LEAST_W);
            }
        }
        out.extend(polygon.into_iter().map(|(c, own)| (self.place(c), own)));
    }

    /// A point's centre decides.
    fn of_point(all: Polygon, plane: Vec4) -> Polygon {
        let inside = |c: &Corner| dot(c.position, plane) >= 0.0;
        all.into_iter().filter(|(c, _)| inside(c)).collect()
    }

    fn of_line(all: Polygon, plane: Vec4) -> Polygon {
        let (a, b) = (all[0].0, all[1].0);
        let (da, db) = (dot(a.position, plane), dot(b.position, plane));
        let cut = || between(&a, &b, da / (da - db));
        match (da >= 0.0, db >= 0.0) {
            (true, true) => all,
            (false, false) => Vec::new(),
            (true, false) => vec![(a, true), (cut(), false)],
            (false, true) => vec![(cut(), true), (b, false)],
        }
    }

    /// Edges that a cut makes are not the polygon's own.
    fn of_polygon(all: Polygon, plane: Vec4) -> Polygon {
        let mut left = Polygon::with_capacity(all.len() + 1);
        for (n, &(a, own)) in all.iter().enumerate() {
            let b = all[(n + 1) % all.len()].0;
            let (da, db) = (dot(a.position, plane), dot(b.position, plane));
            match (da >= 0.0, db >= 0.0) {
                (true, true) => left.push((a, own)),
                (true, false) => {
                    left.push((a, own));
                    // From the inside to the outside, so that neighbours meet in one point.
                    left.push((between(&a, &b, da / (da - db)), false));
                }
                (false, true) => left.push((between(&b, &a, db / (db - da)), own)),
                (false, false) => {}
            }
        }
        if left.len() < 3 {
            left.clear();
        }
        left
    }
}

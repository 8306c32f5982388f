// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Scan conversion: which samples of which pixels a shape covers (digest of 3D, §7).

use super::setup::{Shape, PARTS};
use super::surfaces::Area;

/// SC_CLIP_RULE when all is inside.
const ALL: u32 = 0xffff;

/// Registers of SC, as a draw finds them.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    pub scissor: Option<Area>,
    /// SC_CLIP_n_A and _B: corners, inclusive.
    pub rectangles: [[i64; 4]; 4],
    /// SC_CLIP_RULE.
    pub rule: u32,
    /// SC_SCREENDOOR.
    pub screen_door: u32,
    /// Places of a pixel's samples, in parts.
    pub samples: Vec<(i64, i64)>,
}

/// Places of samples by GB_AA_CONFIG and GB_MSPOS0, 1: the middle if there is one.
pub(super) fn samples(config: u32, places: [u32; 2]) -> Vec<(i64, i64)> {
    if config & 1 == 0 {
        return vec![(PARTS / 2, PARTS / 2)];
    }
    let number = [2, 3, 4, 6][(config >> 1 & 3) as usize];
    let at = |n: u32| {
        let word = places[(n / 3) as usize] >> (8 * (n % 3));
        (i64::from(word & 15), i64::from(word >> 4 & 15))
    };
    (0..number).map(at).collect()
}

/// Four pixels of which some samples are covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Covered {
    /// The first pixel; both are even.
    pub x: i64,
    pub y: i64,
    /// Samples of each of the four.
    pub samples: [u8; 4],
}

impl Scan {
    /// The part of a shape's bounds that anything can be drawn in.
    pub fn bounds(&self, shape: &Shape) -> Option<[i64; 4]> {
        let Area { x0, y0, x1, y1 } = self.scissor?;
        let [left, top, right, bottom] = shape.bounds;
        let all = [
            left.max(x0 as i64),
            top.max(y0 as i64),
            right.min(x1 as i64),
            bottom.min(y1 as i64),
        ];
        (all[0] <= all[2] && all[1] <= all[3]).then_some(all)
    }

    /// Squares of two by two pixels, in the row that begins with `y`, that hold what is covered: columns of the first
    /// and the last pixel.
    pub fn row(&self, shape: &Shape, bounds: &[i64; 4], y: i64) -> Option<(i64, i64)> {
        let (mut left, mut right) = (bounds[0], bounds[2]);
        for e in &shape.edges {
            // The most that it comes to in a column of the row, at any sample.
            let at = |(sx, sy): &(i64, i64)| {
                let low = e.b * (PARTS * y + sy);
                let high = e.b * (PARTS * (y + 1) + sy);
                e.a * sx + low.max(high) + e.c
            };
            let most = self.samples.iter().map(at).max()?;
            let per = e.a * PARTS;
            match per {
                0 if most < 0 => return None,
                0 => {}
                1.. => left = left.max((-most).div_euclid(per)),
                _ => right = right.min(most.div_euclid(-per)),
            }
        }
        (left <= right).then_some((left & !1, right))
    }

    /// Samples of four pixels that a shape covers.
    pub fn cover(&self, shape: &Shape, bounds: &[i64; 4], (x, y): (i64, i64)) -> Covered {
        let mut samples = [0; 4];
        let drawn = self.drawn(bounds, (x, y));
        if drawn == 0 {
            return Covered { x, y, samples };
        }
        for (s, (sx, sy)) in self.samples.iter().enumerate() {
            let (px, py) = (PARTS * x + sx, PARTS * y + sy);
            let mut inside = drawn;
            for e in &shape.edges {
                let first = e.a * px + e.b * py + e.c - i64::from(!e.closed);
                let (right, below) = (e.a * PARTS, e.b * PARTS);
                let is_in = |v: i64, n: u32| u32::from(v >= 0) << n;
                inside &= is_in(first, 0)
                    | is_in(first + right, 1)
                    | is_in(first + below, 2)
                    | is_in(first + right + below, 3);
            }
            for (n, out) in samples.iter_mut().enumerate() {
                let door = self.screen_door >> (6 * n + s) & 1;
                *out |= ((inside >> n & door) << s) as u8;
            }
        }
        Covered { x, y, samples }
    }

    /// Those of four pixels that the bounds and SC_CLIP_RULE let through, a bit each.
    fn drawn(&self, bounds: &[i64; 4], (x, y): (i64, i64)) -> u32 {
        let mut all = 0;
        for n in 0..4 {
            let (x, y) = (x + (n & 1), y + (n >> 1));
            let here = x >= bounds[0] && x <= bounds[2] && y >= bounds[1] && y <= bounds[3];
            all |= u32::from(here && (self.rule & ALL == ALL || self.inside(x, y))) << n;
        }
        all
    }

    /// SC_CLIP_RULE's bit of the rectangles that a pixel is in.
    fn inside(&self, x: i64, y: i64) -> bool {
        let mut index = 0;
        for (n, [x0, y0, x1, y1]) in self.rectangles.into_iter().enumerate() {
            index |= u32::from((x0..=x1).contains(&x) && (y0..=y1).contains(&y)) << n;
        }
        self.rule >> index & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::assemble::{Corner, ATTRIBUTES};
    use super::super::clip::Placed;
    use super::super::setup::Registers;
    use super::*;

    /// Six rules of five bits: triangles 5, points 9, lines 5, 9, 26, 22 (digest §7.3).
    const RULES: u32 = 0x2da4_9525;

    fn scan(samples: Vec<(i64, i64)>) -> Scan {
        Scan {
            scissor: Some(Area {
                x0: 0,
                y0: 0,
                x1: 127,
                y1: 63,
            }),
            rule: ALL,
            screen_door: 0xff_ffff,
            samples,
            ..Scan::default()
        }
    }

    fn placed((x, y): (f32, f32)) -> (Placed, bool) {
        let corner = Corner {
            position: [0.0; 4],
            size: None,
            attributes: [[0.0; 4]; ATTRIBUTES],
        };
        let at = [x, y, 0.0, 1.0];
        (Placed { at, corner }, true)
    }

    fn registers() -> Registers {
        Registers {
            edge_rule: RULES,
            round: 1,
            depth: (16_777_215.0, 0.0),
            ..Registers::default()
        }
    }

    /// Samples of each pixel that is covered.
    fn drawn(registers: &Registers, scan: &Scan, at: &[(f32, f32)]) -> Vec<(i64, i64, u8)> {
        let corners: Vec<_> = at.iter().copied().map(placed).collect();
        let mut all = Vec::new();
        registers.shapes(&corners, &mut |shape| {
            let Some(bounds) = scan.bounds(&shape) else {
                return;
            };
            for y in (bounds[1] & !1..=bounds[3]).step_by(2) {
                let Some((left, right)) = scan.row(&shape, &bounds, y) else {
                    continue;
                };
                for x in (left..=right).step_by(2) {
                    let c = scan.cover(&shape, &bounds, (x, y));
                    for (n, mask) in c.samples.into_iter().enumerate().filter(|(_, m)| *m != 0) {
                        all.push((x + (n as i64 & 1), y + (n as i64 >> 1), mask));
                    }
                }
            }
        });
        all.sort_by_key(|(x, y, _)| (*y, *x));
        all
    }

    fn middle() -> Vec<(i64, i64)> {
        samples(0, [0; 2])
    }

    fn rows(all: &[(i64, i64, u8)]) -> Vec<String> {
        let sign = |x, y| all.iter().any(|p| (p.0, p.1) == (x, y));
        let row = |y| (0..4).map(|x| if sign(x, y) { '#' } else { '.' }).collect();
        (0..4).map(row).collect()
    }

    /// Digest of 3D, §15.4: triangles.
    #[test]
    fn triangles_of_the_digest() {
        for (at, want) in [
            (
                [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0)],
                ["###.", "##..", "#...", "...."],
            ),
            (
                [(0.5, 0.5), (4.5, 0.5), (0.5, 4.5)],
                ["####", "###.", "##..", "#..."],
            ),
            (
                [(0.5, 0.5), (4.5, 4.5), (0.5, 4.5)],
                ["....", "#...", "##..", "###."],
            ),
        ] {
            // Either way round: nothing is culled.
            for at in [at, [at[0], at[2], at[1]]] {
                let got = drawn(&registers(), &scan(middle()), &at);
                assert_eq!(rows(&got), want, "{at:?}");
            }
        }
    }

    /// The same: four samples of the first one.
    #[test]
    fn samples_of_the_digest() {
        // (4,4) (8,8) (2,10) (10,2).
        let four = samples(1 | 2 << 1, [0xa2_8844, 0x2a]);
        assert_eq!(four, [(4, 4), (8, 8), (2, 10), (10, 2)]);
        let at = [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0)];
        let got = drawn(&registers(), &scan(four), &at);
        let mask = |x, y| {
            let found = got.iter().find(|p| (p.0, p.1) == (x, y));
            found.map_or(0, |p| p.2)
        };
        for (y, want) in [[15, 15, 15, 1], [15, 15, 1, 0], [15, 1, 0, 0], [1, 0, 0, 0]]
            .into_iter()
            .enumerate()
        {
            let row: Vec<u8> = (0..4).map(|x| mask(x, y as i64)).collect();
            assert_eq!(row, want, "{y}");
        }
    }

    /// The same: the rectangle of a clear, and a sprite.
    #[test]
    fn points_of_the_digest() {
        for (at, size, x, y) in [
            ((42.0, 36.0), 192 | 384 << 16, (10, 73), (20, 51)),
            ((16.5, 16.5), 48 | 48 << 16, (13, 20), (12, 19)),
        ] {
            let r = Registers {
                point_size: size,
                ..registers()
            };
            let got: Vec<_> = drawn(&r, &scan(middle()), &[at])
                .into_iter()
                .map(|(x, y, _)| (x, y))
                .collect();
            let want: Vec<_> = (y.0..=y.1)
                .flat_map(|y| (x.0..=x.1).map(move |x| (x, y)))
                .collect();
            assert_eq!(got, want);
        }
    }

    /// A line of one pixel has one for each step of its longer side, in each direction (digest §6.4).
    #[test]
    fn thin_lines() {
        let r = Registers {
            line: 6 | 3 << 16,
            ..registers()
        };
        let pixels = |a, b| -> Vec<_> {
            let all = drawn(&r, &scan(middle()), &[a, b]);
            all.into_iter().map(|(x, y, _)| (x, y)).collect()
        };
        let across: Vec<_> = (2..7).map(|x| (x, 3)).collect();
        let down: Vec<_> = (2..7).map(|y| (3, y)).collect();
        assert_eq!(pixels((2.0, 3.5), (7.0, 3.5)), across);
        assert_eq!(pixels((7.0, 3.5), (2.0, 3.5)), across);
        assert_eq!(pixels((3.5, 2.0), (3.5, 7.0)), down);
        assert_eq!(pixels((3.5, 7.0), (3.5, 2.0)), down);
        // On the border of two rows, one of them.
        assert_eq!(pixels((2.0, 3.0), (7.0, 3.0)).len(), 5);
        assert!(pixels((2.0, 3.0), (2.0, 3.0)).is_empty());
    }

    /// SC_CLIP_RULE 0xaaaa: inside of rectangle 0 (digest §15.4); the scissor is inclusive.
    #[test]
    fn rectangles_clip() {
        let mut s = scan(middle());
        s.rule = 0xaaaa;
        s.rectangles[0] = [4, 4, 7, 7];
        let at = [(0.0, 0.0), (200.0, 0.0), (0.0, 200.0)];
        let got = drawn(&registers(), &s, &at);
        assert!(got.iter().any(|p| (p.0, p.1) == (7, 7)));
        assert!(!got.iter().any(|p| (p.0, p.1) == (8, 8)));
        assert_eq!(got.len(), 16);
        s.rule = 0x5555;
        s.scissor = Some(Area {
            x0: 3,
            y0: 4,
            x1: 8,
            y1: 7,
        });
        assert_eq!(drawn(&registers(), &s, &at).len(), 8);
        s.scissor = None;
        assert!(drawn(&registers(), &s, &at).is_empty());
    }

    /// Digest §6.5: FACE 0 has in front what is counter-clockwise to the eye, with y downwards.
    #[test]
    fn faces_are_culled() {
        // To the eye: from the lower left to the lower right to the upper left.
        let ccw = [(0.0, 4.0), (4.0, 4.0), (0.0, 0.0)];
        let cw = [ccw[0], ccw[2], ccw[1]];
        let with = |cull, at: &[(f32, f32)]| {
            let r = Registers {
                cull,
                ..registers()
            };
            !drawn(&r, &scan(middle()), at).is_empty()
        };
        for (cull, wants_ccw, wants_cw) in [
            (0, true, true),
            (1, false, true),
            (2, true, false),
            (3, false, false),
            (4 | 1, true, false),
            (4 | 2, false, true),
        ] {
            assert_eq!(
                (with(cull, &ccw), with(cull, &cw)),
                (wants_ccw, wants_cw),
                "{cull}"
            );
        }
    }

    /// Two triangles that meet share no pixel and leave none out.
    #[test]
    fn neighbours_share_nothing() {
        let corners = [(1.3, 2.2), (40.7, 5.9), (37.1, 44.4), (3.8, 30.6)];
        let all = |at: [(f32, f32); 3]| drawn(&registers(), &scan(middle()), &at);
        let one = [
            all([corners[0], corners[1], corners[2]]),
            all([corners[0], corners[2], corners[3]]),
        ]
        .concat();
        let other = [
            all([corners[1], corners[2], corners[3]]),
            all([corners[0], corners[1], corners[3]]),
        ]
        .concat();
        let sorted = |mut v: Vec<(i64, i64, u8)>| {
            v.sort_by_key(|(x, y, _)| (*y, *x));
            v
        };
        let (one, other) = (sorted(one), sorted(other));
        assert_eq!(one, other);
        assert!(one.windows(2).all(|w| w[0] != w[1]));
    }
}

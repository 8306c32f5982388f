// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Primitives from vertices (digest of 3D, §6.1, §6.2; R5xx guide §6.4.3).

use super::ShadedVertex;
use crate::r5xx::pvs::Vec4;

/// Colours, then textures.
pub(super) const ATTRIBUTES: usize = 12;

/// A vertex as the clipper takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Corner {
    pub position: Vec4,
    pub size: Option<f32>,
    pub attributes: [Vec4; ATTRIBUTES],
}

impl From<&ShadedVertex> for Corner {
    fn from(v: &ShadedVertex) -> Self {
        let all = v.colours.iter().chain(&v.textures);
        let mut attributes = [[0.0; 4]; ATTRIBUTES];
        for (to, from) in attributes.iter_mut().zip(all) {
            *to = from.unwrap_or_default();
        }
        Corner {
            position: v.position.unwrap_or_default(),
            size: v.point_size,
            attributes,
        }
    }
}

/// A primitive: the first `number` corners, and the vertex whose colours are those of all if it is flat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Primitive {
    pub number: usize,
    pub corners: [Corner; 3],
    pub provoking: Corner,
    /// Edges from each corner to the next that are edges of what the triangle is a part of.
    pub edges: u8,
}

/// VAP_VF_CNTL 3:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Points,
    Lines,
    LineStrip,
    LineLoop,
    Triangles,
    Fan,
    Strip,
    Quads,
    QuadStrip,
    Polygon,
}

impl Kind {
    pub fn new(code: u32) -> Option<Self> {
        Some(match code & 15 {
            1 => Kind::Points,
            2 => Kind::Lines,
            3 => Kind::LineStrip,
            4 => Kind::Triangles,
            5 => Kind::Fan,
            6 => Kind::Strip,
            12 => Kind::LineLoop,
            13 => Kind::Quads,
            14 => Kind::QuadStrip,
            15 => Kind::Polygon,
            _ => return None,
        })
    }
}

/// Takes vertices one after the other, and gives the primitives that they end.
#[derive(Debug)]
pub(super) struct Assembler {
    kind: Kind,
    /// GA_COLOR_CONTROL 17:16: first, second, third, last.
    mode: u32,
    taken: u64,
    first: Option<Corner>,
    second: Option<Corner>,
    /// The last ones, the newest at the end.
    held: [Option<Corner>; 4],
    /// The last triangle of a polygon so far: whether its last edge is the polygon's is not known yet.
    last: Option<Primitive>,
}

impl Assembler {
    pub fn new(kind: Kind, mode: u32) -> Self {
        Assembler {
            kind,
            mode: mode & 3,
            taken: 0,
            first: None,
            second: None,
            held: [None; 4],
            last: None,
        }
    }

    /// The vertex of the mode among those of a primitive.
    fn provoking(&self, all: &[Corner]) -> Corner {
        let last = all.len() - 1;
        match self.mode {
            0 => all[0],
            n @ 1..=2 => all[last.min(n as usize)],
            _ => all[last],
        }
    }

    fn line(&self, a: Corner, b: Corner) -> Primitive {
        Primitive {
            number: 2,
            corners: [a, b, b],
            provoking: self.provoking(&[a, b]),
            edges: 1,
        }
    }

    fn triangle(&self, corners: [Corner; 3], provoking: Corner, edges: u8) -> Primitive {
        Primitive {
            number: 3,
            corners,
            provoking,
            edges,
        }
    }

    /// Four corners of a quad, in its order, by two triangles around the first.
    fn quad(&self, q: [Corner; 4], provoking: Corner, out: &mut impl FnMut(Primitive)) {
        out(self.triangle([q[0], q[1], q[2]], provoking, 0b011));
        out(self.triangle([q[0], q[2], q[3]], provoking, 0b110));
    }

    /// The next vertex.
    pub fn push(&mut self, v: Corner, out: &mut impl FnMut(Primitive)) {
        self.held.rotate_left(1);
        self.held[3] = Some(v);
        let first = *self.first.get_or_insert(v);
        let n = self.taken;
        if n == 1 {
            self.second = Some(v);
        }
        self.taken += 1;
        let [a, b, c] = [1, 2, 0].map(|n| self.held[n].unwrap_or(v));
        // Of a quad the first never counts, and the third is the fourth.
        let flat = if self.mode < 2 { a } else { v };
        match self.kind {
            Kind::Points => out(Primitive {
                number: 1,
                corners: [v; 3],
                provoking: v,
                edges: 0,
            }),
            Kind::Lines if n % 2 == 1 => out(self.line(b, v)),
            Kind::LineStrip | Kind::LineLoop if n > 0 => out(self.line(b, v)),
            Kind::Triangles if n % 3 == 2 => {
                out(self.triangle([a, b, v], self.provoking(&[a, b, v]), 0b111));
            }
            Kind::Fan if n > 1 => {
                let provoking = self.provoking(&[first, b, v]);
                out(self.triangle([first, b, v], provoking, 0b111));
            }
            Kind::Strip if n > 1 => {
                let provoking = self.provoking(&[a, b, v]);
                // Every other one would face the other way.
                let corners = if n.is_multiple_of(2) {
                    [a, b, v]
                } else {
                    [b, a, v]
                };
                out(self.triangle(corners, provoking, 0b111));
            }
            Kind::Quads if n % 4 == 3 => self.quad([c, a, b, v], flat, out),
            Kind::QuadStrip if n > 2 && n % 2 == 1 => self.quad([c, a, v, b], flat, out),
            Kind::Polygon if n > 1 => {
                // The first, or the second; "last" is the first of a polygon (digest §6.2).
                let provoking = match self.mode {
                    3 => first,
                    _ => self.second.unwrap_or(first),
                };
                let opens = u8::from(n == 2);
                let next = self.triangle([first, b, v], provoking, 0b010 | opens);
                if let Some(triangle) = self.last.replace(next) {
                    out(triangle);
                }
            }
            _ => {}
        }
    }

    /// There are no more: a loop is closed.
    pub fn end(&mut self, out: &mut impl FnMut(Primitive)) {
        if let (Kind::LineLoop, Some(first), Some(last)) = (self.kind, self.first, self.held[3]) {
            if self.taken > 1 {
                out(self.line(last, first));
            }
        }
        if let Some(mut triangle) = self.last.take() {
            triangle.edges |= 0b100;
            out(triangle);
        }
        self.taken = 0;
        self.first = None;
        self.second = None;
        self.held = [None; 4];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(n: usize) -> Corner {
        Corner {
            position: [n as f32; 4],
            size: None,
            attributes: [[0.0; 4]; ATTRIBUTES],
        }
    }

    /// Numbers of the corners of what so many vertices make, and of the provoking ones.
    fn pieces(code: u32, mode: u32, vertices: usize) -> Vec<(Vec<usize>, usize)> {
        let mut all = Vec::new();
        let mut assembler = Assembler::new(Kind::new(code).expect("a kind"), mode);
        let number = |c: &Corner| c.position[0] as usize;
        let mut keep = |p: Primitive| {
            let corners = p.corners[..p.number].iter().map(number).collect();
            all.push((corners, number(&p.provoking)));
        };
        for n in 0..vertices {
            assembler.push(corner(n), &mut keep);
        }
        assembler.end(&mut keep);
        all
    }

    /// Digest of 3D, §6.1: pieces, and rests that are dropped.
    #[test]
    fn primitives_are_taken_apart() {
        let cases: &[(u32, usize, &[&[usize]])] = &[
            (1, 2, &[&[0], &[1]]),
            (2, 5, &[&[0, 1], &[2, 3]]),
            (3, 3, &[&[0, 1], &[1, 2]]),
            (12, 3, &[&[0, 1], &[1, 2], &[2, 0]]),
            (4, 8, &[&[0, 1, 2], &[3, 4, 5]]),
            (5, 4, &[&[0, 1, 2], &[0, 2, 3]]),
            (6, 5, &[&[0, 1, 2], &[2, 1, 3], &[2, 3, 4]]),
            (13, 7, &[&[0, 1, 2], &[0, 2, 3]]),
            (14, 7, &[&[0, 1, 3], &[0, 3, 2], &[2, 3, 5], &[2, 5, 4]]),
            (15, 5, &[&[0, 1, 2], &[0, 2, 3], &[0, 3, 4]]),
        ];
        for (code, vertices, want) in cases {
            let got: Vec<_> = pieces(*code, 3, *vertices)
                .into_iter()
                .map(|p| p.0)
                .collect();
            assert_eq!(got, *want, "{code}");
        }
        for code in [0, 7, 8, 9, 10, 11] {
            assert_eq!(Kind::new(code), None);
        }
    }

    /// §6.5: diagonals of quads and polygons are no edges; the last edge of a polygon is one.
    #[test]
    fn edges_of_polygons() {
        for (code, vertices, want) in [
            (4, 3, &[0b111][..]),
            (13, 4, &[0b011, 0b110]),
            (15, 3, &[0b111]),
            (15, 4, &[0b011, 0b110]),
            (15, 5, &[0b011, 0b010, 0b110]),
            (15, 2, &[]),
        ] {
            let mut edges = Vec::new();
            let mut assembler = Assembler::new(Kind::new(code).expect("a kind"), 3);
            let mut keep = |p: Primitive| edges.push(p.edges);
            for n in 0..vertices {
                assembler.push(corner(n), &mut keep);
            }
            assembler.end(&mut keep);
            assert_eq!(edges, want, "{code}, {vertices}");
        }
    }

    /// §6.2: first, second, third, last.
    #[test]
    fn provoking_vertices() {
        for (code, vertices, modes) in [
            (4, 6, [vec![0, 3], vec![1, 4], vec![2, 5], vec![2, 5]]),
            (
                6,
                5,
                [vec![0, 1, 2], vec![1, 2, 3], vec![2, 3, 4], vec![2, 3, 4]],
            ),
            (5, 4, [vec![0, 0], vec![1, 2], vec![2, 3], vec![2, 3]]),
            (3, 3, [vec![0, 1], vec![1, 2], vec![1, 2], vec![1, 2]]),
            (13, 4, [vec![1, 1], vec![1, 1], vec![3, 3], vec![3, 3]]),
            (14, 4, [vec![1, 1], vec![1, 1], vec![3, 3], vec![3, 3]]),
            (15, 4, [vec![1, 1], vec![1, 1], vec![1, 1], vec![0, 0]]),
            (1, 2, [vec![0, 1], vec![0, 1], vec![0, 1], vec![0, 1]]),
        ] {
            for (mode, want) in modes.into_iter().enumerate() {
                let got: Vec<_> = pieces(code, mode as u32, vertices)
                    .into_iter()
                    .map(|p| p.1)
                    .collect();
                assert_eq!(got, want, "{code}, mode {mode}");
            }
        }
    }
}

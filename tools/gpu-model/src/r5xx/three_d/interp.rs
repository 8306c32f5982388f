// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The rasteriser's instructions: what is interpolated, and where it goes (digest of 3D, §8, §6.3).

use super::assemble::ATTRIBUTES;
use super::setup::{Plane, Shape};
use crate::r5xx::us::{Lane, Pixels, Quad, TEMPORARIES};

/// Colours of a vertex.
const COLOURS: usize = 4;
/// Pointers of RS_IP that name constants.
const ZERO: u32 = 62;
const ONE: u32 = 63;

/// Where a component of a texture's coordinates comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Zero,
    One,
    /// An attribute's lane.
    Of(u8, u8),
    /// S or T of a point or a line.
    Stuffed(u8),
}

/// What an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Texture(u8, [Source; 4]),
    /// A colour by its format.
    Colour(u8, u8, u8),
    Position(u8),
    Face(u8),
}

/// Registers of RS, GA and VAP that say what there is.
#[derive(Clone, Debug, Default)]
pub(super) struct Registers {
    /// VAP_OUT_VTX_FMT_0, _1.
    pub formats: [u32; 2],
    /// GB_ENABLE.
    pub enable: u32,
    /// GA_ROUND_MODE.
    pub round: u32,
    /// RS_INST_COUNT.
    pub instructions: u32,
    pub ip: [u32; 16],
    pub inst: [u32; 16],
    /// GB_ENABLE's bit of the primitives that are drawn: 0 points, 1 lines; `None` for others.
    pub stuffing: Option<u32>,
}

/// A program of the rasteriser.
#[derive(Clone, Debug, Default)]
pub(super) struct Interpolators {
    ops: Vec<Op>,
    /// Attributes that are interpolated, a bit each.
    used: u16,
    clamp: [bool; 2],
}

impl Registers {
    /// Components of textures' coordinates, in the order of their sets.
    fn components(&self) -> Vec<Source> {
        let mut all = Vec::new();
        let stuffs = self.stuffing.is_some_and(|bit| self.enable >> bit & 1 != 0);
        for set in 0..8u8 {
            let stuffing = self.enable >> (16 + 2 * set) & 3;
            let stuffed = stuffs && stuffing != 0;
            let count = self.formats[1] >> (3 * set) & 7;
            if stuffed {
                all.extend([Source::Stuffed(0), Source::Stuffed(1)]);
                if stuffing == 2 {
                    all.push(Source::Zero);
                }
            } else if count != 0 {
                // A set has two at least.
                let lanes = count.clamp(2, 4) as u8;
                all.extend((0..lanes).map(|n| Source::Of(COLOURS as u8 + set, n)));
            }
        }
        all
    }

    /// Numbers of the colours that there are.
    fn colours(&self) -> Vec<u8> {
        let there = |n: &u8| self.formats[0] >> (1 + n) & 1 != 0;
        (0..COLOURS as u8).filter(there).collect()
    }

    /// The program. What points to nothing is 0.
    pub fn program(&self) -> Interpolators {
        let (components, colours) = (self.components(), self.colours());
        let mut p = Interpolators {
            clamp: [4, 5].map(|n| self.round >> n & 1 == 0),
            ..Interpolators::default()
        };
        for inst in &self.inst[..=(self.instructions & 15) as usize] {
            if inst >> 4 & 1 != 0 {
                let ip = self.ip[(inst & 15) as usize];
                let source = |pointer: u32| match pointer {
                    ZERO => Source::Zero,
                    ONE => Source::One,
                    n => components.get(n as usize).copied().unwrap_or(Source::Zero),
                };
                let from = [0, 6, 12, 18].map(|n| source(ip >> n & 63));
                for s in from {
                    if let Source::Of(n, _) = s {
                        p.used |= 1 << n;
                    }
                }
                p.ops.push(Op::Texture((inst >> 5 & 127) as u8, from));
            }
            let to = (inst >> 18 & 127) as u8;
            let ip = self.ip[(inst >> 12 & 15) as usize];
            match inst >> 16 & 3 {
                1 => {
                    let format = (ip >> 27 & 15) as u8;
                    let n = colours.get((ip >> 24 & 7) as usize).copied();
                    p.used |= n.map_or(0, |n| 1 << n);
                    p.ops.push(match n {
                        Some(n) => Op::Colour(to, n, format),
                        None => Op::Texture(to, [Source::Zero; 4]),
                    });
                }
                2 => p.ops.push(Op::Position(to)),
                3 => p.ops.push(Op::Face(to)),
                _ => {}
            }
        }
        p
    }
}

/// Middles of four pixels, and a plane's values there.
fn values(plane: &Plane, (x, y): (i64, i64)) -> [f64; 4] {
    let at = |n: i64| plane.value((x + (n & 1)) as f64 + 0.5, (y + (n >> 1)) as f64 + 0.5);
    [at(0), at(1), at(2), at(3)]
}

/// Shares of the second and the third corner, with perspective.
fn shares(shape: &Shape, at: (i64, i64)) -> [Lane; 2] {
    let [one, two] = [0, 1].map(|n| values(&shape.shares[n], at));
    let [q0, q1, q2] = shape.q;
    let mut all = [[0.0; 4]; 2];
    for n in 0..4 {
        let (a, b) = (one[n] * q1, two[n] * q2);
        let sum = (1.0 - one[n] - two[n]) * q0 + a + b;
        all[0][n] = (a / sum) as f32;
        all[1][n] = (b / sum) as f32;
    }
    all
}

/// R, G, B, A by COL_FMT: what it leaves of a colour.
fn by_format(c: Quad, format: u8) -> Quad {
    let [r, g, b, a] = c;
    let (zero, one) = ([0.0; 4], [1.0; 4]);
    match format {
        1 => [r, g, b, zero],
        2 => [r, g, b, one],
        4 => [zero, zero, zero, a],
        5 => [zero; 4],
        6 => [zero, zero, zero, one],
        8 => [one, one, one, a],
        9 => [one, one, one, zero],
        10 => [one; 4],
        // 0, and those that are reserved.
        _ => c,
    }
}

impl Interpolators {
    /// True if it is the same for all pixels of a shape.
    pub fn is_uniform(&self, shape: &Shape) -> bool {
        let varies = |op: &Op| match op {
            Op::Texture(_, from) => from.iter().any(|s| matches!(s, Source::Stuffed(_))),
            Op::Position(_) => true,
            Op::Colour(..) | Op::Face(_) => false,
        };
        shape.shares == [Plane::default(); 2] && !self.ops.iter().any(varies)
    }

    /// The alpha of a colour at the four pixels from (x, y) on, whether or not an instruction reads it.
    pub fn alpha(&self, shape: &Shape, colour: u8, at: (i64, i64)) -> Lane {
        let [a, d1, d2] = shape.attributes[usize::from(colour) % COLOURS].map(|v| v[3]);
        if shape.shares == [Plane::default(); 2] {
            return [a; 4];
        }
        let [l1, l2] = shares(shape, at);
        std::array::from_fn(|n| a + d1 * l1[n] + d2 * l2[n])
    }

    /// w at the four pixels from (x, y) on.
    pub fn w(shape: &Shape, at: (i64, i64)) -> Lane {
        let [one, two] = [0, 1].map(|n| values(&shape.shares[n], at));
        let [q0, q1, q2] = shape.q;
        std::array::from_fn(|n| {
            let q = (1.0 - one[n] - two[n]) * q0 + one[n] * q1 + two[n] * q2;
            (1.0 / q) as f32
        })
    }

    /// Writes to temporaries what the instructions say, for the four pixels from (x, y) on.
    pub fn run(&self, shape: &Shape, (x, y): (i64, i64), pixels: &mut Pixels) {
        let constant = shape.shares == [Plane::default(); 2];
        let [l1, l2] = if self.used == 0 || constant {
            [[0.0; 4]; 2]
        } else {
            shares(shape, (x, y))
        };
        let lane = |n: u8, lane: u8| -> Lane {
            let [a, d1, d2] = shape.attributes[usize::from(n) % ATTRIBUTES];
            let lane = usize::from(lane);
            if constant {
                return [a[lane]; 4];
            }
            std::array::from_fn(|p| a[lane] + d1[lane] * l1[p] + d2[lane] * l2[p])
        };
        let stuffed = |n: u8| values(&shape.stuffed[usize::from(n)], (x, y)).map(|v| v as f32);
        for op in &self.ops {
            let (to, value) = match *op {
                Op::Texture(to, from) => {
                    let value = from.map(|s| match s {
                        Source::Zero => [0.0; 4],
                        Source::One => [1.0; 4],
                        Source::Of(n, l) => lane(n, l),
                        Source::Stuffed(n) => stuffed(n),
                    });
                    (to, value)
                }
                Op::Colour(to, n, format) => {
                    let mut c = [lane(n, 0), lane(n, 1), lane(n, 2), lane(n, 3)];
                    for (n, l) in c.iter_mut().enumerate() {
                        if self.clamp[n / 3] {
                            *l = l.map(|v| if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) });
                        }
                    }
                    (to, by_format(c, format))
                }
                Op::Position(to) => {
                    let (x, y) = (x as f32, y as f32);
                    let columns = [x, x + 1.0, x, x + 1.0];
                    let rows = [y, y, y + 1.0, y + 1.0];
                    (to, [columns, rows, [0.0; 4], [0.0; 4]])
                }
                Op::Face(to) => {
                    let back = [f32::from(u8::from(shape.back)); 4];
                    (to, [back, [0.0; 4], [0.0; 4], [0.0; 4]])
                }
            };
            pixels.temporary[usize::from(to) % TEMPORARIES] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the digest of 3D, §8.3: a colour, a set of four, a set of a point's S and T.
    #[test]
    fn the_example_of_the_digest() {
        let mut r = Registers {
            formats: [1 | 1 << 1, 4],
            enable: 1 | 1 << 18,
            round: 0x31,
            instructions: 1,
            stuffing: Some(0),
            ..Registers::default()
        };
        r.ip[..2].copy_from_slice(&[0x000c_2040, 0x00ff_e144]);
        r.inst[..2].copy_from_slice(&[0x0001_0030, 0x0000_0051]);
        let p = r.program();
        let set = |n| [0, 1, 2, 3].map(|l| Source::Of(n, l));
        let point = [
            Source::Stuffed(0),
            Source::Stuffed(1),
            Source::Zero,
            Source::One,
        ];
        assert_eq!(
            p.ops,
            [
                Op::Texture(1, set(4)),
                Op::Colour(0, 0, 0),
                Op::Texture(2, point),
            ]
        );
        assert_eq!(p.used, 1 | 1 << 4);
    }

    /// COL_FMT's table (§8.1).
    #[test]
    fn formats_of_colours() {
        let c = [[0.1; 4], [0.2; 4], [0.3; 4], [0.4; 4]];
        let of = |format| by_format(c, format).map(|l| l[0]);
        for (format, want) in [
            (0, [0.1, 0.2, 0.3, 0.4]),
            (1, [0.1, 0.2, 0.3, 0.0]),
            (2, [0.1, 0.2, 0.3, 1.0]),
            (4, [0.0, 0.0, 0.0, 0.4]),
            (5, [0.0; 4]),
            (6, [0.0, 0.0, 0.0, 1.0]),
            (8, [1.0, 1.0, 1.0, 0.4]),
            (9, [1.0, 1.0, 1.0, 0.0]),
            (10, [1.0; 4]),
        ] {
            assert_eq!(of(format), want, "{format}");
        }
    }
}

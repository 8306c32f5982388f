// SPDX-License-Identifier: GPL-2.0 OR MIT
//! From a vertex to stored pixels: all that a draw does behind the vertex program (digest of 3D, §1.1).
//!
//! A piece of work is four pixels, so that a draw of any size can be done in slices. What it costs is counted in
//! instructions: those of the pixel program, and one for what else is done with the four.

use super::assemble::{Assembler, Corner, Primitive};
use super::cb::{Blend, Colour};
use super::clip::{Placed, View};
use super::fog::{Alpha, Fog, Thickness};
use super::interp::Interpolators;
use super::output::ShadedVertex;
use super::raster::{Covered, Scan};
use super::setup::{self, Shape, PARTS};
use super::surfaces::Target;
use super::tx::Units;
use super::zb::{quantized, Depth};
use crate::r5xx::mc::Mc;
use crate::r5xx::pvs::Vec4;
use crate::r5xx::us::{Notes, Pixels, Program, CONSTANTS, STEPS};
use std::collections::VecDeque;

/// Where samples of a colour buffer come together (RB3D_AARESOLVE).
#[derive(Clone, Debug)]
pub(super) struct Resolve {
    pub to: Target,
    /// RB3D_AARESOLVE_CTL.
    pub control: u32,
}

/// The registers of everything behind the vertex program, as a draw finds them.
pub(super) struct Pipeline {
    pub view: View,
    pub setup: setup::Registers,
    pub scan: Scan,
    pub interpolators: Interpolators,
    /// GA_COLOR_CONTROL.
    pub shade: u32,
    pub program: Program,
    pub constants: Box<[[f32; 4]; CONSTANTS]>,
    pub units: Units,
    pub alpha: Alpha,
    pub fog: Fog,
    /// FG_DEPTH_SRC: the program's depth counts.
    pub own_depth: bool,
    pub depth: Depth,
    pub blend: Blend,
    pub colours: Vec<Colour>,
    pub resolve: Option<Resolve>,
}

/// A draw's pixels.
pub(crate) struct Drawing {
    p: Box<Pipeline>,
    assembler: Assembler,
    clipped: Vec<(Placed, bool)>,
    waiting: VecDeque<Shape>,
    /// The shape that is drawn, where it can be, and the next four pixels of it with the last column of their row.
    now: Option<(Shape, [i64; 4], Cursor)>,
    /// All pixels of the shape are alike, as those of a clear, and the program has run over four of them.
    alike: Option<bool>,
    /// Samples that passed.
    pub passed: u64,
    /// Squares that the program ran over, and its instructions.
    pub shaded: u64,
    pub steps: u64,
    /// What the program did that it should not.
    pub notes: Notes,
}

#[derive(Clone, Copy)]
struct Cursor {
    x: i64,
    y: i64,
    last: i64,
}

/// What a row needs, of instructions.
const ROW: u64 = 1;

impl Drawing {
    pub fn new(p: Pipeline, assembler: Assembler) -> Self {
        Drawing {
            notes: Notes::NONE,
            p: Box::new(p),
            assembler,
            clipped: Vec::new(),
            waiting: VecDeque::new(),
            now: None,
            alike: None,
            passed: 0,
            shaded: 0,
            steps: 0,
        }
    }

    /// A vertex comes from its program.
    pub fn vertex(&mut self, v: &ShadedVertex) {
        let (p, clipped, waiting) = (&self.p, &mut self.clipped, &mut self.waiting);
        let mut take = |primitive| p.shapes(primitive, clipped, waiting);
        self.assembler.push(Corner::from(v), &mut take);
    }

    /// There are no more.
    pub fn end(&mut self) {
        let (p, clipped, waiting) = (&self.p, &mut self.clipped, &mut self.waiting);
        let mut take = |primitive| p.shapes(primitive, clipped, waiting);
        self.assembler.end(&mut take);
    }

    /// Draws what waits, as far as `left` instructions reach. True if nothing waits any more.
    pub fn draw(&mut self, mc: &mut Mc, pixels: &mut Pixels, left: &mut u64) -> bool {
        loop {
            if self.now.is_none() {
                let Some(shape) = self.waiting.pop_front() else {
                    return true;
                };
                *left = left.saturating_sub(ROW);
                self.alike = self.p.is_uniform(&shape).then_some(false);
                if let Some(bounds) = self.p.scan.bounds(&shape) {
                    let cursor = Cursor {
                        x: 0,
                        y: (bounds[1] & !1) - 2,
                        last: -1,
                    };
                    self.now = Some((shape, bounds, cursor));
                }
                continue;
            }
            let Some((shape, bounds, cursor)) = &mut self.now else {
                continue;
            };
            loop {
                if *left == 0 {
                    return false;
                }
                if cursor.x > cursor.last {
                    cursor.y += 2;
                    if cursor.y > bounds[3] {
                        break;
                    }
                    *left -= ROW;
                    let row = self.p.scan.row(shape, bounds, cursor.y);
                    (cursor.x, cursor.last) = row.unwrap_or((0, -1));
                    continue;
                }
                let covered = self.p.scan.cover(shape, bounds, (cursor.x, cursor.y));
                cursor.x += 2;
                let done = self.p.four(mc, pixels, shape, (covered, &mut self.alike));
                *left = left.saturating_sub(1 + done.steps);
                self.passed += done.passed;
                self.shaded += u64::from(done.steps != 0);
                self.steps += done.steps;
                self.notes.join(done.notes);
            }
            self.now = None;
        }
    }
}

/// What became of four pixels.
#[derive(Default)]
struct Four {
    steps: u64,
    passed: u64,
    notes: Notes,
}

impl Pipeline {
    /// Clips a primitive and sets up what is left.
    fn shapes(
        &self,
        mut primitive: Primitive,
        clipped: &mut Vec<(Placed, bool)>,
        waiting: &mut VecDeque<Shape>,
    ) {
        for n in 0..4 {
            let shade = |alpha: usize| self.shade >> (4 * n + 2 * alpha) & 3;
            let flat = primitive.provoking.attributes[n];
            for corner in &mut primitive.corners {
                if shade(0) == 1 {
                    corner.attributes[n][..3].copy_from_slice(&flat[..3]);
                }
                if shade(1) == 1 {
                    corner.attributes[n][3] = flat[3];
                }
            }
        }
        self.view.clip(&primitive, clipped);
        self.setup
            .shapes(clipped, &mut |shape| waiting.push_back(shape));
    }

    /// Depth of a sample of a pixel.
    fn depth_at(&self, shape: &Shape, (x, y): (i64, i64), sample: usize) -> u32 {
        let (sx, sy) = self.scan.samples[sample];
        let part = |whole: i64, part: i64| whole as f64 + part as f64 / PARTS as f64;
        quantized(shape.depth.value(part(x, sx), part(y, sy)))
    }

    /// Tests samples of four pixels, and leaves those that pass.
    fn test_depth(
        &self,
        mc: &mut Mc,
        shape: &Shape,
        covered: &mut Covered,
        own: Option<[f32; 4]>,
    ) -> u64 {
        let mut passed = 0;
        if self.depth.is_off() {
            return covered
                .samples
                .iter()
                .map(|m| u64::from(m.count_ones()))
                .sum();
        }
        let own = own.map(|lane| {
            lane.map(|v| quantized(f64::from(v.clamp(0.0, 1.0)) * f64::from(0xff_ffffu32)))
        });
        for row in 0..2 {
            let y = covered.y + row as i64;
            let [left, right] = [2 * row, 2 * row + 1];
            for sample in 0..self.scan.samples.len() {
                let drawn = [left, right].map(|n| covered.samples[n] >> sample & 1 != 0);
                if drawn == [false; 2] {
                    continue;
                }
                let fragments = match own {
                    Some(depths) => [depths[left], depths[right]],
                    None => [0, 1].map(|x| self.depth_at(shape, (covered.x + x, y), sample)),
                };
                let at = (covered.x, y, sample);
                let passes = self.depth.test(mc, at, drawn, fragments, shape.back);
                for (n, pass) in [left, right].into_iter().zip(passes) {
                    passed += u64::from(pass);
                    covered.samples[n] &= !(u8::from(!pass) << sample);
                }
            }
        }
        passed
    }

    /// Returns whether the program has the same output for all pixels of a shape.
    fn is_uniform(&self, shape: &Shape) -> bool {
        let p = &self.program;
        p.units() == 0 && !p.kills() && self.interpolators.is_uniform(shape)
    }

    fn four(
        &self,
        mc: &mut Mc,
        pixels: &mut Pixels,
        shape: &Shape,
        (mut c, alike): (Covered, &mut Option<bool>),
    ) -> Four {
        let mut four = Four::default();
        let any = |c: &Covered| c.samples.iter().any(|m| *m != 0);
        if !any(&c) {
            return four;
        }
        if let Some(resolve) = &self.resolve {
            self.resolve(mc, resolve, &c);
            return four;
        }
        let early = self.depth.early && !self.own_depth;
        if early {
            four.passed = self.test_depth(mc, shape, &mut c, None);
            if !any(&c) {
                return four;
            }
        }
        let shades = !self.colours.is_empty()
            || self.program.kills()
            || self.own_depth
            || self.alpha.is_on();
        if shades {
            if *alike != Some(true) {
                pixels.clear(&self.program);
                self.interpolators.run(shape, (c.x, c.y), pixels);
                let bits = (0..4).fold(0, |all, n| all | u8::from(c.samples[n] != 0) << n);
                // What is for all must not depend on who is drawn.
                let bits = if alike.is_some() { 15 } else { bits };
                let mut sampler = self.units.sampler(mc);
                let constants = &self.constants;
                let run = self
                    .program
                    .run(pixels, constants, bits, &mut sampler, STEPS);
                (four.steps, four.notes) = (run.steps, self.program.notes());
                four.notes.join(run.notes);
                *alike = alike.map(|_| true);
            }
            for (n, mask) in c.samples.iter_mut().enumerate() {
                let alpha = pixels.colour[0][3][n];
                if pixels.killed >> n & 1 != 0 || !self.alpha.passes(alpha) {
                    *mask = 0;
                }
                *mask &= self.alpha.mask(alpha, self.scan.samples.len());
            }
        }
        if !early {
            let own = self.own_depth.then_some(pixels.depth);
            four.passed = self.test_depth(mc, shape, &mut c, own);
        }
        let seen = self.seen(shape, (c.x, c.y));
        for colour in &self.colours {
            let out = &pixels.colour[colour.output];
            for row in 0..2 {
                let two = [2 * row, 2 * row + 1];
                let values = two.map(|n| {
                    let value = [out[0][n], out[1][n], out[2][n], out[3][n]];
                    seen.map_or(value, |seen| self.fog.over(seen[n], value))
                });
                for sample in 0..self.scan.samples.len() {
                    let drawn = two.map(|n| c.samples[n] >> sample & 1 != 0);
                    if drawn != [false; 2] {
                        let at = (c.x, c.y + row as i64, sample);
                        self.blend.write(mc, colour, at, drawn, values);
                    }
                }
            }
        }
        four
    }

    /// Shares of the colours of four pixels that are seen in the fog; `None` without fog.
    fn seen(&self, shape: &Shape, at: (i64, i64)) -> Option<[f32; 4]> {
        if !self.fog.is_on() {
            return None;
        }
        let thickness = match self.fog.thickness() {
            None => [0.0; 4],
            Some(Thickness::Alpha(colour)) => self.interpolators.alpha(shape, colour, at),
            Some(Thickness::W) => Interpolators::w(shape, at),
            Some(Thickness::Depth) => std::array::from_fn(|n| {
                let (x, y) = (at.0 + (n as i64 & 1), at.1 + (n as i64 >> 1));
                let depth = quantized(shape.depth.value(x as f64 + 0.5, y as f64 + 0.5));
                depth as f32 / 0xff_ffffu32 as f32
            }),
        };
        Some(thickness.map(|t| self.fog.seen(t)))
    }

    /// Makes one of a pixel's samples (digest of 3D, §13.6).
    fn resolve(&self, mc: &mut Mc, resolve: &Resolve, c: &Covered) {
        let Some(from) = self.colours.first() else {
            return;
        };
        let gamma = |v: f32, by: f32| {
            if resolve.control & 2 != 0 {
                v.powf(by)
            } else {
                v
            }
        };
        let samples = self.scan.samples.len();
        for (n, _) in c.samples.iter().enumerate().filter(|(_, m)| **m != 0) {
            let x = (c.x + (n as i64 & 1)) as u64;
            let y = (c.y + (n as i64 >> 1)) as u64;
            let mut sum: Vec4 = [0.0; 4];
            let mut first = [0.0; 4];
            for sample in 0..samples {
                let mut bytes = [0; 16];
                let at = from.target.address(x, y, sample as u64);
                mc.peek(at, &mut bytes[..from.packing.bytes]);
                let lanes = from.packing.unpack(u128::from_le_bytes(bytes));
                for (to, v) in sum.iter_mut().zip(lanes) {
                    *to += gamma(v, 2.2);
                }
                if sample == 0 {
                    first = lanes;
                }
            }
            let mut lanes = sum.map(|v| gamma(v / samples as f32, 1.0 / 2.2));
            if resolve.control & 4 == 0 {
                lanes[3] = first[3];
            }
            let new = from.packing.pack(lanes).to_le_bytes();
            mc.poke(resolve.to.address(x, y, 0), &new[..from.packing.bytes]);
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Four pixels, and a program that runs over them in step (digest of 3D, §9).
//!
//! The pixels are those of a square of two by two, since operations compare neighbours: (0,0), (1,0), (0,1), (1,1).
//! All of them execute, whether they are drawn or not.

use super::alu;
use super::decode::{Body, Program, CONSTANTS, SLOTS, TARGETS, TEMPORARIES};
use super::flow::{Flow, Votes};
use super::note::{Note, Notes};
use super::word::{kind, Cmn, TexAddr, TexDxdy, TexInst};

/// A channel of four pixels.
pub type Lane = [f32; 4];
/// Red, green, blue, alpha of four pixels.
pub type Quad = [Lane; 4];

/// Instructions after which a program of four pixels is ended.
pub const STEPS: u64 = 1 << 20;

/// How a texture is looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Detail {
    /// The level goes by the distances of coordinates among the four pixels.
    Computed,
    /// The same, with what Q has added.
    Biased,
    /// The level is Q.
    Given,
    /// The level goes by these distances to the right, and downwards.
    Gradients(Quad, Quad),
}

/// A look-up of four pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookup {
    /// Texture unit.
    pub unit: u8,
    /// S, T, R, Q.
    pub at: Quad,
    /// Which level.
    pub detail: Detail,
    /// Coordinates count texels.
    pub unscaled: bool,
}

/// Textures, as a program looks them up.
pub trait Sampler {
    /// Components 0 to 3 of four pixels.
    fn sample(&mut self, lookup: &Lookup) -> Quad;
}

/// Four pixels: their memories, and what is put out.
pub struct Pixels {
    /// Temporaries.
    pub temporary: Box<[Quad; TEMPORARIES]>,
    /// Colours that are put out, for each target.
    pub colour: [Quad; TARGETS],
    /// Targets that something was put out for, a bit each.
    pub written: u8,
    /// The depth that is put out.
    pub depth: Lane,
    /// Predicates of red, green, blue, alpha: a bit for each pixel.
    pub predicate: [u8; 4],
    /// The result of the last comparison, a bit for each pixel.
    pub result: u8,
    /// Pixels that were killed, a bit each.
    pub killed: u8,
}

impl Default for Pixels {
    fn default() -> Self {
        Pixels {
            temporary: Box::new([[[0.0; 4]; 4]; TEMPORARIES]),
            colour: [[[0.0; 4]; 4]; TARGETS],
            written: 0,
            depth: [0.0; 4],
            predicate: [0; 4],
            result: 0,
            killed: 0,
        }
    }
}

impl Pixels {
    /// As pixels are that no program has touched: all 0. On a chip temporaries keep what others left.
    pub fn clear(&mut self, program: &Program) {
        for t in &mut self.temporary[..program.temporaries] {
            *t = [[0.0; 4]; 4];
        }
        self.colour = [[[0.0; 4]; 4]; TARGETS];
        self.written = 0;
        self.depth = [0.0; 4];
        self.predicate = [0; 4];
        self.result = 0;
        self.killed = 0;
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Instructions that were executed.
    pub steps: u64,
    /// What was odd.
    pub notes: Notes,
}

/// Keeps what a mask of pixels has.
pub(super) fn store(to: &mut Lane, value: Lane, mask: u8) {
    if mask == 15 {
        *to = value;
        return;
    }
    for (n, v) in value.into_iter().enumerate() {
        if mask >> n & 1 != 0 {
            to[n] = v;
        }
    }
}

impl Program {
    /// Runs over four pixels, of which `covered` are drawn. `most` limits the instructions.
    pub fn run(
        &self,
        pixels: &mut Pixels,
        constants: &[[f32; 4]; CONSTANTS],
        covered: u8,
        sampler: &mut dyn Sampler,
        most: u64,
    ) -> Run {
        let mut run = Run {
            steps: 0,
            notes: Notes::NONE,
        };
        let mut flow = Flow::new();
        let mut at = self.first;
        loop {
            if run.steps >= most {
                run.notes.add(Note::TimeOut);
                return run;
            }
            let in_range = at.wrapping_sub(self.range.0) % SLOTS as u16;
            let Some(i) = self.slots.get(usize::from(in_range)) else {
                run.notes.add(Note::Range);
                return run;
            };
            run.steps += 1;
            let mut next = (at + 1) % SLOTS as u16;
            let active = flow.active();
            match &i.body {
                Body::Alu(inst) => {
                    let writers = if i.cmn.write_inactive() { 15 } else { active };
                    let masks = channel_masks(i.cmn, pixels, writers);
                    let mut machine = alu::Machine {
                        program: self,
                        pixels,
                        constants,
                        index: flow.index,
                        notes: &mut run.notes,
                    };
                    machine.execute(i.cmn, inst, masks, i.cmn.kind() == kind::OUT);
                }
                Body::Tex(inst, addr, dxdy) => {
                    let writers = if i.cmn.write_inactive() { 15 } else { active };
                    let masks = channel_masks(i.cmn, pixels, writers);
                    let words = (*inst, *addr, *dxdy);
                    let index = flow.index;
                    texture(pixels, i.cmn, words, index, (active, masks), sampler);
                }
                Body::Flow(inst, addr) => {
                    let votes = Votes {
                        result: pixels.result,
                        predicate: channel_masks(i.cmn, pixels, 15)[0],
                        covered,
                    };
                    let words = (*inst, *addr);
                    next = flow.execute(self, words, at, &votes, &mut run.notes);
                }
            }
            if at == self.end || covered & !pixels.killed == 0 {
                return run;
            }
            at = next;
        }
    }
}

/// Pixels that write each channel: those that may and whose predicate lets them.
fn channel_masks(cmn: Cmn, pixels: &Pixels, writers: u8) -> [u8; 4] {
    if (cmn.rgb_pred_sel(), cmn.alpha_pred_sel()) == (0, 0) {
        return [writers; 4];
    }
    let p = &pixels.predicate;
    let of = |select: u8, own: usize, invert: bool| {
        let bits = match select {
            1 => p[own],
            2..=5 => p[usize::from(select) - 2],
            // Without one, there is nothing to invert.
            _ => return writers,
        };
        writers & if invert { !bits } else { bits }
    };
    let rgb = |own| of(cmn.rgb_pred_sel(), own, cmn.rgb_pred_inv());
    let alpha = of(cmn.alpha_pred_sel(), 3, cmn.alpha_pred_inv());
    [rgb(0), rgb(1), rgb(2), alpha]
}

/// A temporary's address with aL.
pub(super) fn temporary(number: u8, relative: bool, index: i32) -> usize {
    let index = if relative { index } else { 0 };
    (i32::from(number) + index).rem_euclid(TEMPORARIES as i32) as usize
}

/// Channels of a register in the order of a swizzle of two bits each.
fn chosen(quad: &Quad, swizzle: u8) -> Quad {
    std::array::from_fn(|n| quad[usize::from(swizzle >> (2 * n) & 3)])
}

/// A texture instruction (§9.4).
fn texture(
    pixels: &mut Pixels,
    cmn: Cmn,
    (inst, addr, dxdy): (TexInst, TexAddr, TexDxdy),
    index: i32,
    (active, masks): (u8, [u8; 4]),
    sampler: &mut dyn Sampler,
) {
    let from = temporary(addr.src(), addr.src_rel(), index);
    let at = chosen(&pixels.temporary[from], addr.src_swiz());
    let gradient = |pixels: &Pixels, number, relative, swizzle| {
        let from = temporary(number, relative, index);
        chosen(&pixels.temporary[from], swizzle)
    };
    let mut lookup = Lookup {
        unit: inst.id(),
        at,
        detail: Detail::Computed,
        unscaled: inst.unscaled(),
    };
    match inst.inst() {
        1 => {}
        2 => {
            // What is below 0, and -0, kills: its sign alone counts, but for what is not a number.
            for n in 0..4 {
                let kills = at.iter().any(|l| l[n].is_sign_negative() && !l[n].is_nan());
                pixels.killed |= u8::from(kills) << n & active & masks[0];
            }
            return;
        }
        3 => {
            for n in 0..3 {
                lookup.at[n] = std::array::from_fn(|p| at[n][p] / at[3][p]);
            }
        }
        4 => lookup.detail = Detail::Biased,
        5 => lookup.detail = Detail::Given,
        6 => {
            let dx = gradient(pixels, dxdy.dx(), dxdy.dx_rel(), dxdy.dx_swiz());
            let dy = gradient(pixels, dxdy.dy(), dxdy.dy_rel(), dxdy.dy_swiz());
            lookup.detail = Detail::Gradients(dx, dy);
        }
        _ => return,
    }
    let texel = chosen(&sampler.sample(&lookup), addr.dst_swiz());
    let to = temporary(addr.dst(), addr.dst_rel(), index);
    for n in 0..4 {
        if cmn.wmask() >> n & 1 != 0 {
            store(&mut pixels.temporary[to][n], texel[n], masks[n]);
        }
    }
}

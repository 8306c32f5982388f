// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Flow control of the pixel shader: four pixels in step (digest of 3D, §9.6).
//!
//! A pixel that does not want what the others do waits: for the end of its branch, of its round, of its loop.

use super::decode::{Program, SLOTS};
use super::note::{Note, Notes};
use super::word::{FcAddr, FcInst, IntConst};

/// Loops, and calls, in each other.
const DEEP: usize = 4;
/// Branches in each other.
const BRANCHES: u8 = 32;

/// What a pixel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixel {
    Active,
    /// It waits for the end of a branch, so many ends from here.
    Branch(u8),
    /// It has left the loop of this depth.
    Left(u8),
    /// It waits for the next round of the loop of this depth.
    Round(u8),
}

/// A loop that is run.
#[derive(Clone, Copy, Debug, Default)]
struct Loop {
    left: u8,
    /// aL outside of it.
    outer: i32,
    step: i32,
    /// Pixels that were active when it began.
    entered: u8,
}

/// Where the four pixels are.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pixels: [Pixel; 4],
    loops: [Loop; DEEP],
    depth: usize,
    calls: [u16; DEEP],
    called: usize,
    /// aL.
    pub index: i32,
}

/// What a flow control instruction looks at.
pub(super) struct Votes {
    /// Pixels of which the comparison's result is set.
    pub result: u8,
    /// Pixels of which the instruction's predicate is.
    pub predicate: u8,
    /// Pixels that are drawn.
    pub covered: u8,
}

impl Flow {
    pub fn new() -> Self {
        Flow {
            pixels: [Pixel::Active; 4],
            loops: [Loop::default(); DEEP],
            depth: 0,
            calls: [0; DEEP],
            called: 0,
            index: 0,
        }
    }

    /// Pixels that execute, a bit each.
    pub fn active(&self) -> u8 {
        self.which(|p| p == Pixel::Active)
    }

    fn which(&self, is: impl Fn(Pixel) -> bool) -> u8 {
        let bit = |n: usize| u8::from(is(self.pixels[n])) << n;
        bit(0) | bit(1) | bit(2) | bit(3)
    }

    fn set(&mut self, mask: u8, to: Pixel) {
        for (n, p) in self.pixels.iter_mut().enumerate() {
            if mask >> n & 1 != 0 {
                *p = to;
            }
        }
    }

    /// Counters of branches: 1 decrements them, by so many, 2 increments them, and those of `aside` wait from now on.
    fn count(&mut self, op: u8, by: u8, aside: u8, notes: &mut Notes) {
        for (n, p) in self.pixels.iter_mut().enumerate() {
            *p = match (*p, op) {
                (Pixel::Branch(count), 1) => match count.checked_sub(by) {
                    Some(count) => Pixel::Branch(count),
                    None => Pixel::Active,
                },
                (Pixel::Branch(count), 2) => {
                    notes.add_if(count + 1 >= BRANCHES, Note::Nesting);
                    Pixel::Branch((count + 1).min(BRANCHES))
                }
                (Pixel::Active, 2) if aside >> n & 1 != 0 => Pixel::Branch(0),
                (other, _) => other,
            };
        }
    }

    /// Ends the innermost loop: aL is that outside of it, and who has left it goes on.
    fn pop(&mut self) {
        self.depth -= 1;
        self.index = self.loops[self.depth].outer;
        let left = self.which(|p| p == Pixel::Left(self.depth as u8));
        self.set(left, Pixel::Active);
    }

    /// Executes an instruction, and says which is next.
    pub fn execute(
        &mut self,
        program: &Program,
        (inst, addr): (FcInst, FcAddr),
        at: u16,
        votes: &Votes,
        notes: &mut Notes,
    ) -> u16 {
        let next = (at + 1) % SLOTS as u16;
        let base = if addr.jump_global() {
            0
        } else {
            program.offset
        };
        let mut target = (addr.jump_addr() + base) % SLOTS as u16;
        if inst.b_else() {
            let waiting = self.which(|p| p == Pixel::Branch(0));
            let active = self.active();
            self.set(active, Pixel::Branch(0));
            self.set(waiting, Pixel::Active);
        }
        let innermost = self.depth.wrapping_sub(1) as u8;
        let op = inst.op();
        if matches!(op, 2 | 4) {
            // The next round is everybody's who waits for it.
            let round = self.which(|p| p == Pixel::Round(innermost));
            self.set(round, Pixel::Active);
        }
        let active = self.active();
        let boolean = program.booleans >> addr.bool_addr() & 1;
        let mut wants = 0;
        for n in 0..4 {
            let (result, predicate) = (votes.result >> n & 1, votes.predicate >> n & 1);
            let index = u32::from(result) * 4 + u32::from(predicate) * 2 + boolean;
            wants |= (inst.jump_func() >> index & 1 & predicate) << n;
        }
        wants &= active;
        let voters = if inst.ignore_uncovered() {
            active & votes.covered
        } else {
            active
        };
        let mut jump = if inst.jump_any() {
            wants & voters != 0
        } else {
            wants & voters == voters
        };
        let counts = IntConst::from(program.integers[usize::from(addr.int_addr())]);
        match op {
            1 | 3 => {
                notes.add_if(counts.kr() == 0, Note::LoopCount);
                jump |= counts.kr() == 0;
            }
            2 | 4 => {
                if self.depth == 0 {
                    notes.add(Note::Unpaired);
                    return next;
                }
                let inner = &mut self.loops[self.depth - 1];
                inner.left = inner.left.saturating_sub(1);
                jump &= inner.left != 0;
                if op == 2 {
                    self.index = self.index.saturating_add(inner.step);
                }
            }
            5..=7 => {
                if self.depth == 0 {
                    notes.add(Note::Unpaired);
                    return next;
                }
                let entered = self.loops[self.depth - 1].entered;
                if op == 7 {
                    self.set(wants, Pixel::Round(innermost));
                    let here = |p| matches!(p, Pixel::Active | Pixel::Branch(_));
                    jump = self.which(here) & entered == 0;
                } else {
                    self.set(wants, Pixel::Left(innermost));
                    let gone = self.which(|p| p == Pixel::Left(innermost));
                    jump = entered & !gone == 0;
                }
            }
            _ => {}
        }
        if jump {
            match inst.a_op() {
                1 if self.called > 0 => {
                    self.called -= 1;
                    target = self.calls[self.called];
                }
                1 => {
                    notes.add(Note::Unpaired);
                    return next;
                }
                2 if self.called < DEEP => {
                    self.calls[self.called] = next;
                    self.called += 1;
                }
                2 => notes.add(Note::Nesting),
                _ => {}
            }
        }
        match (op, jump) {
            (1 | 3, false) if self.depth < DEEP => {
                self.loops[self.depth] = Loop {
                    left: counts.kr(),
                    outer: self.index,
                    step: counts.kb().into(),
                    entered: active,
                };
                self.depth += 1;
                if op == 1 {
                    self.index = counts.kg().into();
                }
            }
            (1 | 3, false) => notes.add(Note::Nesting),
            (2 | 4, false) | (5 | 6, true) => self.pop(),
            _ => {}
        }
        let (b_op, aside) = if jump {
            (inst.b_op1(), active & !wants)
        } else {
            (inst.b_op0(), wants)
        };
        self.count(b_op, inst.b_pop_cnt(), aside, notes);
        if jump {
            target
        } else {
            next
        }
    }
}

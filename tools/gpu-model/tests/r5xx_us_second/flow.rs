// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Flow control of four pixels in lock step: the numbered rules of the digest of 3D, §9.6.

use super::word::{fc, Fc};
use super::{Machine, Open};

/// State of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    Active,
    /// Waits in a branch, with a counter.
    Branch(i32),
    /// Has left the loop of this depth.
    Left(usize),
    /// Waits for the next round of the loop of this depth.
    Continued(usize),
}

/// A loop under way.
pub struct Loop {
    count: u8,
    /// aL outside.
    outer: i32,
    step: i8,
    /// LOOP, which has aL; REP has none.
    indexed: bool,
    /// Pixels that were active when it began.
    inside: [bool; 4],
}

impl Machine<'_> {
    fn states(&mut self) -> impl Iterator<Item = &mut State> {
        self.pixels.iter_mut().map(|p| &mut p.state)
    }

    /// Rule 2: an active pixel wants to jump.
    fn wants(&mut self, i: &Fc, pixel: usize) -> bool {
        let p = &self.pixels[pixel];
        if i.func >> 4 != i.func & 15 && !p.known {
            self.open = Some(Open::Result);
        }
        let predicate = match i.pred {
            0 => true,
            n => p.predicate[usize::from(n) - 2] != i.pred_inv,
        };
        let boolean = self.regs.booleans >> i.boolean & 1 != 0;
        let index = u8::from(p.result) * 4 + u8::from(predicate) * 2 + u8::from(boolean);
        predicate && i.func >> index & 1 != 0
    }

    /// B_OP0 or B_OP1 (rule 5). INCR of active pixels: those that do not go the way of the others.
    fn count_branches(&mut self, op: u8, pop: u8, stays: [bool; 4]) {
        for (n, s) in self.states().enumerate() {
            *s = match (*s, op) {
                (State::Branch(n), 1) if n - i32::from(pop) < 0 => State::Active,
                (State::Branch(n), 1) => State::Branch(n - i32::from(pop)),
                (State::Branch(n), 2) => State::Branch(n + 1),
                (State::Active, 2) if stays[n] => State::Branch(0),
                (other, _) => other,
            };
        }
    }

    /// The target, if the instruction jumps.
    pub(super) fn flow(&mut self, i: &Fc, pc: u16) -> Option<u16> {
        // Rule 1.
        if i.b_else {
            for s in self.states() {
                *s = match *s {
                    State::Active => State::Branch(0),
                    State::Branch(0) => State::Active,
                    other => other,
                };
            }
        }
        let depth = self.loops.len();
        if (i.op == fc::END_LOOP || i.op == fc::END_REP) && depth > 0 {
            // Rule 6: before the vote.
            for s in self.states() {
                if *s == State::Continued(depth) {
                    *s = State::Active;
                }
            }
        }
        let four = [0, 1, 2, 3];
        let active = four.map(|p| self.pixels[p].state == State::Active);
        let wants = four.map(|p| active[p] && self.wants(i, p));
        for p in &mut self.pixels {
            p.known = false;
        }
        // Rule 3.
        let voters = four
            .into_iter()
            .filter(|p| active[*p] && (self.covered[*p] || !i.covered_only));
        let votes: Vec<bool> = voters.map(|p| wants[p]).collect();
        let vote = match i.any {
            true => votes.contains(&true),
            false => !votes.contains(&false),
        };
        let jump = match i.op {
            fc::JUMP => vote,
            fc::LOOP | fc::REP => self.begin(i, vote, active),
            fc::END_LOOP | fc::END_REP => self.end(vote),
            fc::CONTINUE => self.leave(wants, State::Continued(depth)),
            _ => self.leave(wants, State::Left(depth)),
        };
        self.flows[usize::from(i.op)][usize::from(jump)] += 1;
        if jump && matches!(i.op, fc::BREAK_LOOP | fc::BREAK_REP) {
            self.pop();
        }
        // Rule 5.
        let (op, stays) = match jump {
            true => (i.b_op1, four.map(|p| active[p] && !wants[p])),
            false => (i.b_op0, wants),
        };
        self.count_branches(op, i.pop, stays);
        let target = (i.target + if i.global { 0 } else { self.regs.offset }) % 512;
        match (jump, i.a_op) {
            (false, _) => None,
            (true, 1) => {
                let to = self.calls.pop();
                if to.is_none() {
                    self.open = Some(Open::Unpaired);
                }
                to
            }
            (true, 2) => {
                self.calls.push((pc + 1) % 512);
                if self.calls.len() > 4 {
                    self.open = Some(Open::Nesting);
                }
                Some(target)
            }
            (true, _) => Some(target),
        }
    }

    /// LOOP and REP (rules 4 and 6).
    fn begin(&mut self, i: &Fc, vote: bool, inside: [bool; 4]) -> bool {
        let (count, start, step) = self.regs.integers[i.integer as usize];
        if vote || count == 0 {
            return true;
        }
        self.loops.push(Loop {
            count,
            outer: self.index,
            step,
            indexed: i.op == fc::LOOP,
            inside,
        });
        if self.loops.len() > 4 {
            self.open = Some(Open::Nesting);
        }
        if i.op == fc::LOOP {
            self.index = i32::from(start);
        }
        false
    }

    /// ENDLOOP and ENDREP.
    fn end(&mut self, vote: bool) -> bool {
        let Some(l) = self.loops.last_mut() else {
            self.open = Some(Open::Unpaired);
            return false;
        };
        l.count -= 1;
        if vote && l.count > 0 {
            if l.indexed {
                self.index += i32::from(l.step);
            }
            return true;
        }
        self.pop();
        false
    }

    /// The innermost loop is over, and pixels that have left it go on.
    fn pop(&mut self) {
        let depth = self.loops.len();
        if let Some(l) = self.loops.pop() {
            self.index = l.outer;
        }
        for s in self.states() {
            if *s == State::Left(depth) {
                *s = State::Active;
            }
        }
    }

    /// Breaks and CONTINUE (rules 7 and 8): pixels that want leave; the group jumps once there are none in the loop.
    fn leave(&mut self, wants: [bool; 4], to: State) -> bool {
        let Some(inside) = self.loops.last().map(|l| l.inside) else {
            self.open = Some(Open::Unpaired);
            return false;
        };
        for (n, s) in self.states().enumerate() {
            if wants[n] {
                *s = to;
            }
        }
        let is_break = matches!(to, State::Left(_));
        let stays = |s: &State| match s {
            State::Active | State::Branch(_) => true,
            State::Continued(_) => is_break,
            State::Left(_) => false,
        };
        let mut states = self.pixels.iter().map(|p| &p.state).zip(inside);
        !states.any(|(s, inside)| inside && stays(s))
    }
}

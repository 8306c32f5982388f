// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Programs with branches, loops and calls that nest as §9.6 has them.

use super::any::{alu, instruction, last};
use super::word::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// When pixels want to jump.
#[derive(Clone, Debug)]
pub struct Condition {
    pub func: u8,
    pub boolean: u8,
    pub pred: u8,
    pub pred_inv: bool,
    pub any: bool,
    pub covered_only: bool,
    /// Sets the result that the function counts on.
    pub result: Alu,
}

#[derive(Clone, Debug)]
pub enum Statement {
    Plain(Inst),
    If(
        Condition,
        Vec<Statement>,
        Option<(Condition, Vec<Statement>)>,
    ),
    /// REP or LOOP, integer constant, the condition of the beginning, the one of the end.
    Loop(bool, u8, Condition, Condition, Vec<Statement>),
    Break(Condition),
    Continue(Condition),
    /// A jump over statements, which is no branch.
    Skip(Condition, Vec<Statement>),
    /// Of a subroutine, by number.
    Call(Condition, u8),
    /// A jump back to these statements.
    Back(Condition, Vec<Statement>),
}

fn condition() -> impl Strategy<Value = Condition> {
    let func = prop_oneof![
        3 => Just(0x0fu8), 1 => Just(0xf0), 1 => Just(0), 1 => Just(0xff), 1 => Just(0xaa), 1 => Just(0xcc), 2 => any::<u8>(),
    ];
    (
        (func, 0u8..32),
        (prop_oneof![2 => Just(0u8), 1 => 2u8..6], any::<bool>()),
        (any::<bool>(), prop::bool::weighted(0.2)),
        alu(false),
    )
        .prop_map(
            |((func, boolean), (pred, pred_inv), (any, covered_only), mut result)| {
                result.result.0 = true;
                result.rgb.pred = 0;
                result.alpha.pred = 0;
                Condition {
                    func,
                    boolean,
                    pred,
                    pred_inv,
                    any,
                    covered_only,
                    result,
                }
            },
        )
        .boxed()
}

/// One that is constant for the comparison's result: a function of the predicate and the boolean.
fn unconditional() -> impl Strategy<Value = Condition> {
    condition().prop_map(|mut c| {
        c.func = c.func & 15 | c.func << 4;
        c
    })
}

pub fn statements(size: usize) -> impl Strategy<Value = Vec<Statement>> {
    let leaf = prop_oneof![
        10 => instruction(false).prop_map(Statement::Plain),
        2 => condition().prop_map(Statement::Break),
        2 => condition().prop_map(Statement::Continue),
        1 => (condition(), 0u8..3).prop_map(|(c, n)| Statement::Call(c, n)),
    ];
    let tree = leaf.prop_recursive(4, 24, 5, |inner| {
        let block = || vec(inner.clone(), 1..5);
        prop_oneof![
            4 => (condition(), block(), proptest::option::of((unconditional(), block())))
                .prop_map(|(c, a, b)| Statement::If(c, a, b)),
            4 => (any::<bool>(), 0u8..32, condition(), unconditional(), block())
                .prop_map(|(rep, n, a, b, body)| Statement::Loop(rep, n, a, b, body)),
            1 => (condition(), block()).prop_map(|(c, b)| Statement::Skip(c, b)),
            1 => (condition(), block()).prop_map(|(c, b)| Statement::Back(c, b)),
        ]
    });
    vec(tree, 1..size)
}

/// Loops of a place in a program: REP or LOOP, and how many branches are open in it.
type Loops<'a> = &'a mut Vec<(bool, u8, Vec<usize>, Vec<usize>)>;

/// Slots from 0 on.
#[derive(Default)]
pub struct Compiler {
    pub code: Vec<Inst>,
    /// Where subroutines begin.
    subroutines: Vec<u16>,
}

impl Compiler {
    /// Subroutines, then the program; returns its first slot. The last slot is an OUT.
    pub fn program(&mut self, subroutines: &[Vec<Statement>], main: &[Statement]) -> u16 {
        for s in subroutines {
            // None calls itself or a later one.
            let at = self.code.len() as u16;
            self.block(s, &mut Vec::new());
            let mut back = self.jump(fc::JUMP);
            (back.func, back.a_op) = (0xff, 1);
            self.code.push(Inst::Fc(back));
            self.subroutines.push(at);
        }
        let start = self.code.len() as u16;
        self.block(main, &mut Vec::new());
        self.code.push(last());
        start
    }

    fn jump(&self, op: u8) -> Fc {
        Fc {
            op,
            ..Fc::default()
        }
    }

    /// An FC instruction with this condition, and what it needs before.
    fn put(&mut self, op: u8, c: &Condition) -> usize {
        if c.func >> 4 != c.func & 15 {
            self.code.push(Inst::Alu(c.result));
        }
        let i = Fc {
            func: c.func,
            boolean: c.boolean,
            pred: c.pred,
            pred_inv: c.pred_inv,
            any: c.any,
            covered_only: c.covered_only,
            ..self.jump(op)
        };
        self.code.push(Inst::Fc(i));
        self.code.len() - 1
    }

    fn at(&mut self, slot: usize) -> &mut Fc {
        match &mut self.code[slot] {
            Inst::Fc(i) => i,
            _ => unreachable!(),
        }
    }

    /// The instruction at a slot jumps to the next slot that is filled.
    fn land(&mut self, slot: usize) {
        self.at(slot).target = self.code.len() as u16;
    }

    fn block(&mut self, all: &[Statement], loops: Loops) {
        for s in all {
            self.statement(s, loops);
        }
    }

    fn statement(&mut self, s: &Statement, loops: Loops) {
        match s {
            Statement::Plain(i) => self.code.push(*i),
            Statement::If(c, then, other) => {
                let begin = self.put(fc::JUMP, c);
                self.at(begin).b_op0 = 2;
                if other.is_some() {
                    self.at(begin).b_op1 = 2;
                } else {
                    // A jump of some that the others do not follow would need a branch to wait in.
                    self.at(begin).any = false;
                }
                if let Some(l) = loops.last_mut() {
                    l.1 += 1;
                }
                self.block(then, loops);
                let mut past = vec![begin];
                if let Some((c, other)) = other {
                    let swap = self.put(fc::JUMP, c);
                    let i = self.at(swap);
                    (i.b_else, i.b_op1, i.pop) = (true, 1, 1);
                    self.land(begin);
                    self.block(other, loops);
                    past = vec![swap];
                }
                if let Some(l) = loops.last_mut() {
                    l.1 -= 1;
                }
                let mut end = self.jump(fc::JUMP);
                (end.any, end.b_op0, end.pop) = (true, 1, 1);
                self.code.push(Inst::Fc(end));
                past.into_iter().for_each(|n| self.land(n));
            }
            Statement::Loop(rep, n, c, until, body) => {
                let begin = self.put(if *rep { fc::REP } else { fc::LOOP }, c);
                self.at(begin).integer = *n;
                let first = self.code.len() as u16;
                loops.push((*rep, 0, Vec::new(), Vec::new()));
                self.block(body, loops);
                let (_, _, breaks, continues) = loops.pop().unwrap_or_default();
                continues.into_iter().for_each(|n| self.land(n));
                let end = self.put(if *rep { fc::END_REP } else { fc::END_LOOP }, until);
                let i = self.at(end);
                (i.target, i.integer) = (first, *n);
                self.land(begin);
                breaks.into_iter().for_each(|n| self.land(n));
            }
            Statement::Break(c) | Statement::Continue(c) => {
                let Some((rep, open)) = loops.last().map(|l| (l.0, l.1)) else {
                    return;
                };
                let is_break = matches!(s, Statement::Break(_));
                let slot = self.put(
                    match (is_break, rep) {
                        (true, false) => fc::BREAK_LOOP,
                        (true, true) => fc::BREAK_REP,
                        _ => fc::CONTINUE,
                    },
                    c,
                );
                let i = self.at(slot);
                // Who counts here is not a matter of votes (rules 7 and 8).
                (i.any, i.covered_only) = (false, false);
                (i.b_op1, i.pop) = (u8::from(open > 0), open);
                if let Some(l) = loops.last_mut() {
                    if is_break { &mut l.2 } else { &mut l.3 }.push(slot);
                }
            }
            Statement::Skip(c, body) => {
                let slot = self.put(fc::JUMP, c);
                // A break behind it is for those that come there, so it is not in the loop.
                self.block(body, loops);
                self.land(slot);
            }
            Statement::Back(c, body) => {
                let to = self.code.len() as u16;
                self.block(body, loops);
                let slot = self.put(fc::JUMP, c);
                self.at(slot).target = to;
            }
            Statement::Call(c, n) => {
                if let Some(to) = self.subroutines.get(usize::from(*n)).copied() {
                    let slot = self.put(fc::JUMP, c);
                    let i = self.at(slot);
                    (i.a_op, i.target) = (2, to);
                }
            }
        }
    }

    /// Moves everything by some slots, modulo 512; jumps of odd slots are absolute, others by `offset`.
    pub fn place(&self, by: u16, offset: u16) -> Vec<Inst> {
        let mut all = vec![last(); 512];
        for (n, inst) in self.code.iter().enumerate() {
            let mut inst = *inst;
            if let Inst::Fc(i) = &mut inst {
                i.global = n % 2 == 1;
                let base = if i.global { by } else { by + 512 - offset };
                i.target = (i.target + base) % 512;
            }
            all[(n + usize::from(by)) % 512] = inst;
        }
        all
    }
}

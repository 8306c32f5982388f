// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI_MATH and its ALU (DG2 PRM Vol 8 "CS ALU Programming and Design", "Table for ALU OPCODE
//! Encodings", "Table for Register Encodings"). LOAD1 is called "1" once and "all ones" once; its
//! encoding is the inverted LOAD0, so it loads all ones here. The document does not say what CF is
//! after a subtraction; here it is the borrow.

use super::core::Core;
use super::engine::EngineId;
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted};
use super::stream::Flow;
use crate::slip::{self, Slip};

/// Codes of operands.
mod operand {
    pub const SRCA: u32 = 0x20;
    pub const SRCB: u32 = 0x21;
    pub const ACCU: u32 = 0x31;
    pub const ZF: u32 = 0x32;
    pub const CF: u32 = 0x33;
}

/// What the ALU holds besides the general registers; nothing of it is a register.
#[derive(Clone, Copy, Debug, Default)]
struct Alu {
    a: u64,
    b: u64,
    accu: u64,
    zero: bool,
    carry: bool,
}

impl Alu {
    /// An operation of SRCA and SRCB.
    fn compute(&mut self, op: u32) -> bool {
        let (value, carry) = match op {
            0x100 => self.a.overflowing_add(self.b),
            0x101 if slip::is(Slip::MathDifferenceReversed) => self.b.overflowing_sub(self.a),
            0x101 => self.a.overflowing_sub(self.b),
            0x102 => (self.a & self.b, false),
            0x103 => (self.a | self.b, false),
            0x104 => (self.a ^ self.b, false),
            0x105 => (self.a.checked_shl(distance(self.b)).unwrap_or(0), false),
            0x106 => (self.a.checked_shr(distance(self.b)).unwrap_or(0), false),
            0x107 => ((self.a as i64 >> distance(self.b)) as u64, false),
            _ => return false,
        };
        (self.accu, self.carry, self.zero) = (value, carry, value == 0);
        true
    }

    /// A source of a store; flags fill all bits.
    fn source(&self, code: u32) -> Option<u64> {
        let flag = |on: bool| if on { u64::MAX } else { 0 };
        match code {
            operand::ACCU => Some(self.accu),
            operand::ZF => Some(flag(self.zero)),
            operand::CF => Some(flag(self.carry && !slip::is(Slip::MathCarryLost))),
            _ => None,
        }
    }

    fn load(&mut self, code: u32, value: u64) -> bool {
        match code {
            operand::SRCA => self.a = value,
            operand::SRCB => self.b = value,
            _ => return false,
        }
        true
    }
}

/// Shifts are by 1, 2, 4, 8, 16 or 32: the next lower of these, and none by zero.
fn distance(value: u64) -> u32 {
    match value {
        0 => 0,
        v if slip::is(Slip::MathShiftByAny) => v as u32 & 63,
        v => 1 << v.ilog2().min(5),
    }
}

/// Returns whether a load of a register takes its inverse.
fn inverted(op: u32) -> bool {
    op == 0x480 && !slip::is(Slip::MathLoadNotInverted)
}

impl Core {
    /// Executes the instructions of one MI_MATH.
    pub fn math(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let space = if self.privileged(e) {
            AddressSpace::Ggtt
        } else {
            AddressSpace::Ppgtt
        };
        let mut alu = Alu::default();
        for i in &d[1..] {
            let (op, first, second) = (i >> 20, i >> 10 & 0x3ff, i & 0x3ff);
            let register = |code: u32| (code < 16).then_some(code);
            let good = match op {
                0x000 | 0x001 => true,
                // Stores by STOREIND, and all others before it, arrive.
                0x002 => {
                    self.drain(e);
                    true
                }
                0x080 | 0x480 => match register(second) {
                    Some(r) => {
                        let value = self.gpr(e, r);
                        alu.load(first, if inverted(op) { !value } else { value })
                    }
                    None => false,
                },
                0x081 => alu.load(first, 0),
                0x481 => alu.load(first, u64::MAX),
                0x082 => match (register(first), second) {
                    // Software orders it against earlier stores (S6).
                    (Some(r), operand::ACCU) => {
                        let value = self.load64(e, space, alu.accu & !7)?;
                        self.set_gpr(e, r, value);
                        true
                    }
                    _ => false,
                },
                0x100..=0x107 => alu.compute(op),
                0x180 | 0x580 => match (register(first), alu.source(second)) {
                    (Some(r), Some(value)) => {
                        self.set_gpr(e, r, if op == 0x580 { !value } else { value });
                        true
                    }
                    _ => false,
                },
                0x181 => match (first, register(second)) {
                    (operand::ACCU, Some(r)) => {
                        let value = self.gpr(e, r);
                        self.post(e, space, alu.accu & !7, &value.to_le_bytes())?;
                        true
                    }
                    _ => false,
                },
                _ => false,
            };
            if !good {
                self.notes
                    .lint(Rule::Alu, || format!("{} {i:#010x}", e.name()));
            }
        }
        Ok(Flow::Next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(op: u32, a: u64, b: u64) -> (u64, bool, bool) {
        let mut alu = Alu {
            a,
            b,
            ..Alu::default()
        };
        assert!(alu.compute(op));
        (alu.accu, alu.zero, alu.carry)
    }

    #[test]
    fn arithmetic_and_logic() {
        assert_eq!(run(0x100, 2, 3), (5, false, false));
        assert_eq!(run(0x100, u64::MAX, 1), (0, true, true));
        // "Accumulator is loaded with value of SRCA - SRCB on a subtraction."
        assert_eq!(run(0x101, 7, 2), (5, false, false));
        assert_eq!(run(0x101, 2, 3), (u64::MAX, false, true));
        assert_eq!(run(0x102, 0xf0, 0x3c), (0x30, false, false));
        assert_eq!(run(0x103, 0xf0, 0x3c), (0xfc, false, false));
        assert_eq!(run(0x104, 0xf0, 0xf0), (0, true, false));
    }

    #[test]
    fn shifts_take_the_next_lower_power() {
        // "a value of 15 will shift by 8. Value of zero means no shift."
        assert_eq!(run(0x105, 1, 15).0, 1 << 8);
        assert_eq!(run(0x105, 1, 0).0, 1);
        assert_eq!(run(0x105, 1, 63).0, 1 << 32);
        assert_eq!(run(0x106, 1 << 63, 32).0, 1 << 31);
        assert_eq!(run(0x107, 1 << 63, 1).0, 3 << 62);
        assert_eq!(run(0x107, 0x40, 4).0, 4);
    }
}

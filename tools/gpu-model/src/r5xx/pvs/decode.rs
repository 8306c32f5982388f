// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The code store, and what its instructions mean (R5xx guide §6.4.11, §6.5.1, §6.5.6, §6.5.9).
//!
//! An instruction is taken apart when it is written, so that no vertex has to. What is wrong with it is
//! noted then, and told whenever it is executed.

use super::note::{Note, Notes};
use super::opcode::{MathOp, VectorOp};
use super::word::{DualMath, Instruction, OpDstOperand, SrcOperand};

/// Instructions that the store holds.
pub const CODE: usize = 1024;

/// Where a source is read (PVS_SRC_REG_*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bank {
    Temporary,
    Input,
    Constant,
    Alternate,
}

/// What is added to an offset (ADDR_MODE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relative {
    No,
    /// A lane of A0.
    A0(u8),
    /// The loop's index.
    Loop,
}

impl Relative {
    fn new(mode: u8, lane: u8, notes: &mut Notes) -> Self {
        match mode {
            0 => Relative::No,
            1 => Relative::A0(lane),
            2 => Relative::Loop,
            _ => {
                notes.add(Note::AddressMode);
                Relative::No
            }
        }
    }
}

/// A source operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub bank: Bank,
    pub relative: Relative,
    pub offset: u8,
    /// For each lane: 0 to 3 x to w, 4 0.0, 5 1.0; 6 and 7 are 0.0 too.
    pub swizzle: [u8; 4],
    /// Bits of the value that stay: all but the sign for its magnitude.
    pub keep: u32,
    /// Bits that are turned then: the sign to negate.
    pub flip: [u32; 4],
}

const SIGN: u32 = 1 << 31;

fn bank(reg_type: u8) -> Bank {
    match reg_type & 3 {
        0 => Bank::Temporary,
        1 => Bank::Input,
        2 => Bank::Constant,
        _ => Bank::Alternate,
    }
}

fn keep(abs: bool) -> u32 {
    if abs {
        !SIGN
    } else {
        !0
    }
}

fn flip(modifier: u8) -> [u32; 4] {
    [0, 1, 2, 3].map(|n| u32::from(modifier >> n & 1) * SIGN)
}

impl Source {
    fn new(word: SrcOperand, notes: &mut Notes) -> Self {
        Source {
            bank: bank(word.reg_type()),
            relative: Relative::new(word.addr_mode(), word.addr_sel(), notes),
            offset: word.offset(),
            swizzle: [
                word.swizzle_x(),
                word.swizzle_y(),
                word.swizzle_z(),
                word.swizzle_w(),
            ],
            keep: keep(word.abs_xyzw()),
            flip: flip(word.modifier()),
        }
    }

    /// That of the math half: its two scalars are in x and y.
    fn dual(word: DualMath, notes: &mut Notes) -> Self {
        Source {
            bank: bank(word.reg_type()),
            relative: Relative::new(word.addr_mode(), word.addr_sel(), notes),
            offset: word.offset(),
            swizzle: [word.swizzle_x(), word.swizzle_y(), 4, 4],
            keep: keep(word.abs_xyzw()),
            flip: flip(word.modifier()),
        }
    }

    /// Returns where the operand is read, if one of these lanes is; two with the same share a port.
    fn address(&self, lanes: u8) -> Option<(Bank, Relative, u8)> {
        let reads = |n: usize| lanes >> n & 1 != 0 && self.swizzle[n] < 4;
        (0..4)
            .any(reads)
            .then_some((self.bank, self.relative, self.offset))
    }

    fn is_odd(&self, lanes: u8) -> bool {
        (0..4).any(|n| lanes >> n & 1 != 0 && self.swizzle[n] > 5)
    }
}

/// Where a result goes (PVS_DST_REG_*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Nowhere,
    Temporary,
    A0,
    Output,
    /// Outputs, the lane x in all.
    OutputReplicated,
    Alternate,
    Input,
}

/// The operation of the instruction's first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    None,
    Vector(VectorOp),
    Math(MathOp),
}

/// The math half of a dual operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub op: MathOp,
    pub src: Source,
    /// A vector of the alternate temporaries.
    pub offset: u8,
    /// The lane that is written.
    pub lane: u8,
}

/// An instruction, taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoded {
    pub op: Operation,
    /// A, B, C; those that the operation has not are not read.
    pub src: [Source; 3],
    /// Bit 0 A, 1 B, 2 C.
    pub sources: u8,
    pub target: Target,
    pub relative: Relative,
    pub offset: u8,
    /// Lanes, bit 0 x to bit 3 w.
    pub mask: u8,
    pub saturate: bool,
    pub half_saturate: bool,
    /// It does something only while the predicate is this.
    pub predicate: Option<bool>,
    pub half: Option<Half>,
    pub notes: Notes,
}

/// Returns the operation of the first word.
fn operation(word: OpDstOperand, notes: &mut Notes) -> Operation {
    let (code, math) = (word.opcode(), word.math_inst());
    if word.dual_math_op() && math {
        notes.add(Note::DualMath);
        return Operation::None;
    }
    if word.macro_inst() && (math || word.dual_math_op()) {
        notes.add(Note::Macro);
        if !math {
            return Operation::None;
        }
    } else if word.macro_inst() {
        // PVS_MACRO_OP_2CLK_MADD, PVS_MACRO_OP_2CLK_M2X_ADD.
        match code {
            0 => return Operation::Vector(VectorOp::MultiplyAdd),
            1 => return Operation::Vector(VectorOp::MultiplyX2Add),
            _ => {
                notes.add(Note::Macro);
                return Operation::None;
            }
        }
    }
    let op = if math {
        MathOp::from_opcode(code).map(Operation::Math)
    } else {
        VectorOp::from_opcode(code).map(Operation::Vector)
    };
    op.unwrap_or_else(|| {
        notes.add(Note::Opcode);
        Operation::None
    })
}

fn target(word: OpDstOperand, op: Operation, notes: &mut Notes) -> Target {
    match word.reg_type() {
        0 => Target::Temporary,
        1 => match op {
            Operation::Vector(v) if v.converts() => Target::A0,
            Operation::None => Target::Nowhere,
            _ => {
                notes.add(Note::AddressRegister);
                Target::Nowhere
            }
        },
        2 => Target::Output,
        3 => Target::OutputReplicated,
        4 if word.dual_math_op() => {
            notes.add(Note::DualDestination);
            Target::Nowhere
        }
        4 => Target::Alternate,
        5 => Target::Input,
        _ => {
            notes.add(Note::DestinationType);
            Target::Nowhere
        }
    }
}

impl Half {
    fn new(word: DualMath, notes: &mut Notes) -> Option<Self> {
        let op = MathOp::from_opcode(word.math_opcode());
        notes.add_if(op.is_none(), Note::Opcode);
        let op = op?;
        notes.add_if(op.sources() == 0b111, Note::DualMath);
        Some(Half {
            op,
            src: Source::dual(word, notes),
            offset: word.dst_offset(),
            lane: word.we_sel(),
        })
    }

    /// Lanes of its source that count.
    fn lanes(&self) -> u8 {
        let s = self.op.sources();
        s & 1 | u8::from(s & 6 != 0) << 1
    }
}

impl Decoded {
    /// Takes an instruction apart.
    pub fn new(word: Instruction) -> Self {
        let mut notes = Notes::NONE;
        let op = operation(word.op, &mut notes);
        let dual = word.op.dual_math_op();
        let target = target(word.op, op, &mut notes);
        let relative = match op {
            Operation::None => Relative::No,
            _ => Relative::new(word.op.addr_mode(), word.op.addr_sel(), &mut notes),
        };
        let mut sources = match op {
            Operation::None => 0,
            Operation::Vector(v) => v.sources(),
            Operation::Math(m) => m.sources(),
        };
        if dual && sources & 4 != 0 {
            notes.add(Note::DualSources);
            sources &= 3;
        }
        // Of what is not read nothing is noted.
        let mut unread = Notes::NONE;
        let words = [word.src0, word.src1, word.src2];
        let src = [0, 1, 2].map(|n| {
            let notes = if sources >> n & 1 != 0 {
                &mut notes
            } else {
                &mut unread
            };
            Source::new(words[n], notes)
        });
        let half = dual.then(|| Half::new(u32::from(word.src2).into(), &mut notes));
        let mut decoded = Decoded {
            op,
            src,
            sources,
            target,
            relative,
            offset: word.op.offset(),
            mask: word.op.write_enable(),
            saturate: match op {
                Operation::Math(_) => word.op.me_sat(),
                _ => word.op.ve_sat(),
            },
            half_saturate: word.op.me_sat(),
            predicate: word.op.pred_enable().then(|| word.op.pred_sense()),
            half: half.flatten(),
            notes,
        };
        decoded.watch_ports(word.op.macro_inst());
        decoded
    }

    /// Lanes of a source that count.
    fn lanes(&self, n: usize) -> u8 {
        if self.sources >> n & 1 == 0 {
            return 0;
        }
        // One lane of the result is in all that are written.
        let mask = match self.target {
            Target::OutputReplicated => u8::from(self.mask != 0),
            _ => self.mask,
        };
        match self.op {
            Operation::None => 0,
            Operation::Vector(v) => v.lanes(n, mask),
            Operation::Math(_) => 8,
        }
    }

    /// One address of inputs, constants and alternate temporaries each, and two of temporaries; three for
    /// a macro (§6.5.1, §6.5.6).
    fn watch_ports(&mut self, is_macro: bool) {
        let half = self.half.iter().map(|h| (h.src, h.lanes()));
        let sources = (0..3).map(|n| (self.src[n], self.lanes(n))).chain(half);
        let mut seen = [None; 4];
        let mut odd = false;
        for (slot, (source, lanes)) in seen.iter_mut().zip(sources) {
            *slot = source.address(lanes);
            odd |= source.is_odd(lanes);
        }
        self.notes.add_if(odd, Note::Swizzle);
        let addresses = |bank: Bank| {
            let of = |n: usize| seen[n].filter(|a| a.0 == bank);
            (0..4)
                .filter(|n| of(*n).is_some() && (0..*n).all(|m| of(m) != of(*n)))
                .count()
        };
        let one = [Bank::Input, Bank::Constant, Bank::Alternate];
        self.notes
            .add_if(one.iter().any(|b| addresses(*b) > 1), Note::SecondAddress);
        let three = addresses(Bank::Temporary) > 2;
        if is_macro && self.op != Operation::None && !matches!(self.op, Operation::Math(_)) {
            self.notes.add_if(!three, Note::NeedlessMacro);
        } else {
            self.notes.add_if(three, Note::ThreeTemporaries);
        }
        let both = match (self.op, self.half) {
            (Operation::Vector(v), Some(h)) => v.sets_predicate() && h.op.sets_predicate(),
            _ => false,
        };
        self.notes.add_if(both, Note::BothPredicates);
    }
}

/// PVS_CODE: 1024 instructions, in a ring (§6.4.11).
#[derive(Clone)]
pub struct Code {
    words: Vec<[u32; 4]>,
    decoded: Vec<Decoded>,
}

impl Default for Code {
    /// All bits zero.
    fn default() -> Self {
        Code {
            words: vec![[0; 4]; CODE],
            decoded: vec![Decoded::new(Instruction::default()); CODE],
        }
    }
}

impl Code {
    /// A store that begins with these instructions; more than there is room for are dropped.
    pub fn of(words: &[[u32; 4]]) -> Self {
        let mut code = Code::default();
        for (at, word) in words.iter().enumerate() {
            code.write(at, *word);
        }
        code
    }

    /// Writes an instruction. False if there is no such place.
    pub fn write(&mut self, at: usize, word: [u32; 4]) -> bool {
        let Some(place) = self.words.get_mut(at) else {
            return false;
        };
        if *place != word {
            *place = word;
            self.decoded[at] = Decoded::new(word.into());
        }
        true
    }

    /// An instruction's dwords; `None` beyond the end.
    pub fn word(&self, at: usize) -> Option<[u32; 4]> {
        self.words.get(at).copied()
    }

    /// Returns how many temporaries and alternate temporaries instructions name, up to the highest; the ring goes on
    /// from its end. Relative ones count by their offsets, those beyond a vertex's share not at all.
    pub fn registers(&self, first: u16, last: u16) -> (u8, u8) {
        let number = (CODE + usize::from(last) - usize::from(first)) % CODE + 1;
        let (mut temporary, mut alternate) = (0, 0);
        let mut name = |bank: Bank, offset: u8| match bank {
            Bank::Temporary if offset < 32 => temporary = temporary.max(offset + 1),
            Bank::Alternate if offset < 20 => alternate = alternate.max(offset + 1),
            _ => {}
        };
        for n in 0..number {
            let step = self.at(usize::from(first) + n);
            match step.target {
                Target::Temporary if step.op != Operation::None => {
                    name(Bank::Temporary, step.offset);
                }
                Target::Alternate => name(Bank::Alternate, step.offset),
                _ => {}
            }
            for source in (0..3).filter(|n| step.sources >> n & 1 != 0) {
                name(step.src[source].bank, step.src[source].offset);
            }
            if let Some(half) = &step.half {
                name(Bank::Alternate, half.offset);
                name(half.src.bank, half.src.offset);
            }
        }
        (temporary, alternate)
    }

    /// An instruction, in the ring.
    pub(super) fn at(&self, at: usize) -> &Decoded {
        &self.decoded[at % CODE]
    }
}

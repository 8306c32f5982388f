// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A vertex in the engine: its memories, and a program that runs over them (R5xx guide §6.5).

use super::decode::{Bank, Code, Decoded, Half, Operation, Relative, Source, Target, CODE};
use super::flow::{Entries, Flow, FlowControl, Next};
use super::math::{self, Scalars};
use super::note::{Note, Notes};
use super::opcode::MathOp;
use super::vector::{self, saturate, Output, Vec4};
use super::word::{CodeCntl0, ConstCntl};

/// Vectors of a vertex: inputs, temporaries, and outputs (§6.5.1: "up to 32").
pub const VECTORS: usize = 32;
/// Alternate temporaries of a vertex (§6.5.1).
pub const ALTERNATES: usize = 20;
/// Vectors of the constant store (§6.4.11).
pub const CONSTANTS: usize = 256;
/// Instructions after which a program is taken to be endless: four loops of 64 rounds in each other.
pub const STEPS: u64 = 1 << 24;

/// What a vertex has in the engine. It keeps what the one before has left: nothing clears it (§6.5).
#[derive(Clone, Debug, PartialEq)]
pub struct Vertex {
    /// IVM: its attributes.
    pub input: [Vec4; VECTORS],
    /// TRM: temporaries.
    pub temporary: [Vec4; VECTORS],
    /// ATRM: alternate temporaries.
    pub alternate: [Vec4; ALTERNATES],
    /// OVM: what the program makes of it.
    pub output: [Vec4; VECTORS],
    /// A0, -256 to 255.
    pub address: [i16; 4],
    /// The predicate.
    pub predicate: bool,
}

impl Default for Vertex {
    /// All bits zero.
    fn default() -> Self {
        Vertex {
            input: [[0.0; 4]; VECTORS],
            temporary: [[0.0; 4]; VECTORS],
            alternate: [[0.0; 4]; ALTERNATES],
            output: [[0.0; 4]; VECTORS],
            address: [0; 4],
            predicate: false,
        }
    }
}

/// The registers that say what runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    /// VAP_PVS_CODE_CNTL_0.
    pub code: CodeCntl0,
    /// VAP_PVS_CONST_CNTL.
    pub constants: ConstCntl,
    /// VAP_PVS_FLOW_CNTL_*.
    pub flow: FlowControl,
}

/// A program with its constants.
pub struct Program<'a> {
    code: &'a Code,
    constants: &'a [Vec4; CONSTANTS],
    first: u16,
    last: u16,
    base: u8,
    most: u8,
    entries: Entries,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Instructions that were executed, skipped ones too.
    pub steps: u64,
    /// What was odd.
    pub notes: Notes,
}

impl Run {
    /// False if it was stopped for being endless.
    pub fn ended(&self) -> bool {
        !self.notes.has(Note::TimeOut)
    }
}

impl<'a> Program<'a> {
    /// Creates a program from code, constants and registers.
    pub fn new(code: &'a Code, constants: &'a [Vec4; CONSTANTS], control: &Control) -> Self {
        Program {
            code,
            constants,
            first: control.code.first_inst(),
            last: control.code.last_inst(),
            base: control.constants.base_offset(),
            most: control.constants.max_const_addr(),
            entries: Entries::new(&control.flow),
        }
    }

    /// Runs over a vertex to its end; at most `steps` instructions.
    pub fn run(&self, vertex: &mut Vertex, steps: u64) -> Run {
        let mut progress = self.start();
        if !self.go_on(vertex, &mut progress, steps) {
            progress.notes.add(Note::TimeOut);
        }
        progress.run()
    }

    /// The program's beginning: PVS_FIRST_INST.
    pub fn start(&self) -> Progress {
        Progress {
            at: self.first,
            steps: 0,
            flow: Flow::new(),
            notes: Notes::NONE,
        }
    }

    /// Runs at most `steps` instructions, around the end of the store if need be, until behind PVS_LAST_INST
    /// nothing goes on elsewhere. True if that was the end.
    pub fn go_on(&self, vertex: &mut Vertex, progress: &mut Progress, steps: u64) -> bool {
        let mut engine = Engine {
            program: self,
            vertex,
            flow: &mut progress.flow,
            notes: progress.notes,
        };
        let mut at = progress.at;
        let mut ended = false;
        for _ in 0..steps {
            progress.steps += 1;
            engine.execute(self.code.at(at.into()));
            at = match engine.flow.after(&self.entries, at) {
                Next::At(to) => to,
                Next::Behind(last) if last == self.last => {
                    ended = true;
                    break;
                }
                Next::Behind(last) => (last + 1) % CODE as u16,
            };
        }
        progress.at = at;
        progress.notes = engine.notes;
        if ended {
            progress.flow.end();
        }
        ended
    }
}

/// How far a vertex has come in a program.
#[derive(Clone, Debug)]
pub struct Progress {
    at: u16,
    steps: u64,
    flow: Flow,
    notes: Notes,
}

impl Progress {
    /// Returns the result so far.
    pub fn run(&self) -> Run {
        let mut notes = self.notes;
        notes.join(self.flow.notes);
        Run {
            steps: self.steps,
            notes,
        }
    }
}

/// A vertex in a program.
struct Engine<'p, 'v> {
    program: &'p Program<'p>,
    vertex: &'v mut Vertex,
    flow: &'v mut Flow,
    notes: Notes,
}

impl Engine<'_, '_> {
    /// Executes an instruction. Both halves of a dual one see what was there before it.
    fn execute(&mut self, step: &Decoded) {
        self.notes.join(step.notes);
        if step.predicate.is_some_and(|p| p != self.vertex.predicate) {
            return;
        }
        let half = step.half.as_ref().map(|half| {
            let output = self.half(half);
            (half, output)
        });
        if step.op != Operation::None {
            let output = self.whole(step);
            self.write(step, output);
        }
        if let Some((half, output)) = half {
            if output.enable != 0 {
                let lane = usize::from(half.lane);
                let value = if step.half_saturate {
                    saturate(output.value)
                } else {
                    output.value
                };
                self.vertex.alternate[usize::from(half.offset)][lane] = value[lane];
            }
            self.set_predicate(output);
        }
    }

    fn whole(&mut self, step: &Decoded) -> Output {
        let has = |n: usize| step.sources >> n & 1 != 0;
        match step.op {
            Operation::None => Output {
                enable: 0,
                ..Output::scalar(0.0)
            },
            Operation::Vector(op) => {
                let mut v = [[0.0; 4]; 3];
                for (n, v) in v.iter_mut().enumerate() {
                    if has(n) {
                        *v = self.read(&step.src[n]);
                    }
                }
                vector::execute(op, &v[0], &v[1], &v[2])
            }
            Operation::Math(op) => {
                let mut w = [0.0; 3];
                for (n, w) in w.iter_mut().enumerate() {
                    if has(n) {
                        *w = self.read(&step.src[n])[3];
                    }
                }
                let [a, b, c] = w;
                self.math(op, Scalars { a, b, c }, step.src[0].swizzle[3])
            }
        }
    }

    /// The math half: A is its source's x, B and C are y.
    fn half(&mut self, half: &Half) -> Output {
        let [a, b, ..] = if half.op.sources() == 0 {
            [0.0; 4]
        } else {
            self.read(&half.src)
        };
        self.math(half.op, Scalars { a, b, c: b }, half.src.swizzle[0])
    }

    /// The power of e is in C by §6.5.8; user space of the chip has every single scalar in A, and 0 in
    /// those that it does not use. So a 0 that A's swizzle forces means C.
    fn math(&mut self, op: MathOp, mut s: Scalars, swizzle: u8) -> Output {
        if op == MathOp::ExpBaseEFf {
            self.notes
                .add_if(s.a.to_bits() != s.c.to_bits(), Note::ExpOperands);
            if swizzle == 4 {
                s.a = s.c;
            }
        }
        math::execute(op, s)
    }

    fn relative(&mut self, relative: Relative) -> i32 {
        match relative {
            Relative::No => 0,
            Relative::A0(lane) => self.vertex.address[usize::from(lane & 3)].into(),
            Relative::Loop => self.flow.index(),
        }
    }

    /// A source: lanes chosen, then their magnitude, then negated.
    fn read(&mut self, source: &Source) -> Vec4 {
        let at = i32::from(source.offset) + self.relative(source.relative);
        let v = match source.bank {
            Bank::Constant => self.constant(at, source.relative),
            bank => self.register(bank, at),
        };
        let lanes = [v[0], v[1], v[2], v[3], 0.0, 1.0, 0.0, 0.0];
        let lane = |n: usize| {
            let bits = lanes[usize::from(source.swizzle[n] & 7)].to_bits();
            f32::from_bits((bits & source.keep) ^ source.flip[n])
        };
        [lane(0), lane(1), lane(2), lane(3)]
    }

    fn register(&mut self, bank: Bank, at: i32) -> Vec4 {
        let memory = match bank {
            Bank::Input => &self.vertex.input[..],
            Bank::Alternate => &self.vertex.alternate[..],
            _ => &self.vertex.temporary[..],
        };
        let vector = usize::try_from(at).ok().and_then(|at| memory.get(at));
        if let Some(vector) = vector {
            return *vector;
        }
        self.notes.add(Note::SourceRange);
        [0.0; 4]
    }

    /// Relative ones are compared with PVS_MAX_CONST_ADDR, and 0 beyond (§6.5.1). What the base leads
    /// past the end goes on at the beginning: the store is a ring (§6.4.11).
    fn constant(&mut self, at: i32, relative: Relative) -> Vec4 {
        let program = self.program;
        if !(0..=i32::from(program.most)).contains(&at) {
            if relative != Relative::No {
                return [0.0; 4];
            }
            self.notes.add(Note::ConstantMax);
        }
        let at = at as usize + usize::from(program.base);
        self.notes.add_if(at >= CONSTANTS, Note::ConstantWrap);
        program.constants[at % CONSTANTS]
    }

    fn set_predicate(&mut self, output: Output) {
        if let Some(predicate) = output.predicate {
            self.vertex.predicate = predicate;
        }
    }

    fn write(&mut self, step: &Decoded, output: Output) {
        self.set_predicate(output);
        let mask = step.mask & output.enable;
        if mask == 0 || step.target == Target::Nowhere {
            return;
        }
        let value = if step.saturate {
            saturate(output.value)
        } else {
            output.value
        };
        if step.target == Target::A0 {
            return self.load_address(value, mask);
        }
        let at = i32::from(step.offset) + self.relative(step.relative);
        let vertex = &mut *self.vertex;
        let (memory, value) = match step.target {
            Target::Output => (&mut vertex.output[..], value),
            Target::OutputReplicated => (&mut vertex.output[..], [value[0]; 4]),
            Target::Alternate => (&mut vertex.alternate[..], value),
            Target::Input => (&mut vertex.input[..], value),
            _ => (&mut vertex.temporary[..], value),
        };
        let vector = usize::try_from(at).ok().and_then(|at| memory.get_mut(at));
        let Some(vector) = vector else {
            self.notes.add(Note::DestinationRange);
            return;
        };
        for (n, lane) in vector.iter_mut().enumerate() {
            if mask >> n & 1 != 0 {
                *lane = value[n];
            }
        }
    }

    /// Loads lanes of A0, clamped to -256 to 255; NaN, of which nothing is said, is 0.
    fn load_address(&mut self, value: Vec4, mask: u8) {
        for (n, value) in value.into_iter().enumerate() {
            if mask >> n & 1 != 0 {
                let inside = value.clamp(-256.0, 255.0);
                self.notes.add_if(inside != value, Note::AddressClamped);
                self.vertex.address[n] = inside as i16;
            }
        }
    }
}

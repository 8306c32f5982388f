// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The vertex shader once more, by another hand and as plainly as R5xx guide §6.5 prints it (what it leaves out: digest
//! of 3D, §3). Words are taken apart each time. A program that comes to a matter that the documents leave open says
//! so, and is not compared.

mod flow;
mod ops;

use gpu_model::r5xx::pvs::Vertex;

pub type Vec4 = [f32; 4];

/// Registers, as dwords.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    pub code_cntl_0: u32,
    pub const_cntl: u32,
    pub opc: u32,
    pub lw: [u32; 16],
    pub uw: [u32; 16],
    pub loop_index: [u32; 16],
}

/// Matters that the documents leave open (the table "disputed" in Documentation/gpu/ouro/model-r5xx.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// A reserved operation, register type or address mode, or A0 as the destination of another operation.
    Reserved,
    /// A register that the vertex does not have.
    Address,
    /// A constant past the maximum by an absolute address, or past 255 by its base.
    Constant,
    /// The loop's index outside of loops.
    Index,
    /// A dual operation against the restrictions of §6.5.6.
    Dual,
    /// COND_WRITE to OUT_REPL_X.
    Replicated,
    /// NaN where the listings do not tell: "not equal", saturated, in A0, a power.
    Nan,
    /// The greater of 0 and -0; -0 saturated.
    MinusZero,
    /// An operation of DX, whose result is infinite though its source is none of 0.
    Overflow,
    /// A.w and C.w differ where the guide has the source in C.w and user space in A.w (D-3).
    Operand,
    /// Exponent and mantissa of a denormal, an infinity or a NaN.
    Exponent,
    /// 0 ^ 0 and 1 ^ infinity.
    Power,
    /// A loop of no rounds, or of more than 255.
    Count,
    /// Deeper than eight (§6.5.5).
    Nesting,
    /// Several entries of flow control at one instruction, of which one is no loop.
    Shared,
    /// The end of the code memory.
    PastEnd,
}

pub struct Machine<'a> {
    code: &'a [[u32; 4]],
    constants: &'a [Vec4],
    regs: &'a Registers,
    v: &'a mut Vertex,
    nested: Vec<flow::Nested>,
    index: Option<i32>,
}

fn field(word: u32, high: u32, low: u32) -> u32 {
    word >> low & (u32::MAX >> (31 - (high - low)))
}

fn bit(word: u32, n: u32) -> bool {
    word >> n & 1 != 0
}

/// Results of an operation.
pub struct Outcome {
    value: Vec4,
    /// COND_WRITE: lanes that are written.
    enable: [bool; 4],
    predicate: Option<bool>,
}

impl Outcome {
    fn of(value: Vec4) -> Self {
        Outcome {
            value,
            enable: [true; 4],
            predicate: None,
        }
    }

    fn with_predicate(predicate: bool, value: f32) -> Self {
        Outcome {
            predicate: Some(predicate),
            ..Self::of([value; 4])
        }
    }
}

/// Runs; how many instructions that took. Stops after `limit`.
pub fn run(
    code: &[[u32; 4]],
    constants: &[Vec4],
    regs: &Registers,
    v: &mut Vertex,
    limit: u64,
) -> Result<u64, Open> {
    let mut m = Machine {
        code,
        constants,
        regs,
        v,
        nested: Vec::new(),
        index: None,
    };
    let last = field(regs.code_cntl_0, 29, 20);
    let mut pc = field(regs.code_cntl_0, 9, 0);
    for n in 1..=limit {
        let words = m.code.get(pc as usize).ok_or(Open::PastEnd)?;
        m.instruction(*words)?;
        match m.flow(pc)? {
            Some(to) => pc = to,
            None if pc == last => return Ok(n),
            None => pc += 1,
        }
    }
    Ok(limit)
}

impl Machine<'_> {
    /// The address of an operand: absolute, by A0 or by the loop's index.
    fn address(&self, mode: (bool, bool), sel: u32, offset: u32) -> Result<i32, Open> {
        let by = match mode {
            (false, false) => 0,
            (false, true) => i32::from(self.v.address[sel as usize]),
            (true, false) => self.index.ok_or(Open::Index)?,
            (true, true) => return Err(Open::Reserved),
        };
        Ok(offset as i32 + by)
    }

    fn constant(&self, at: i32, relative: bool) -> Result<Vec4, Open> {
        let (base, max) = (
            field(self.regs.const_cntl, 7, 0),
            field(self.regs.const_cntl, 23, 16),
        );
        if at < 0 || at > max as i32 {
            return if relative {
                Ok([0.0; 4])
            } else {
                Err(Open::Constant)
            };
        }
        let at = at as usize + base as usize;
        self.constants.get(at).copied().ok_or(Open::Constant)
    }

    /// A source before its swizzle.
    fn fetch(&self, word: u32) -> Result<Vec4, Open> {
        let mode = (bit(word, 31), bit(word, 4));
        let at = self.address(mode, field(word, 30, 29), field(word, 12, 5))?;
        let memory = match field(word, 1, 0) {
            0 => &self.v.temporary[..],
            1 => &self.v.input,
            2 => return self.constant(at, mode != (false, false)),
            _ => &self.v.alternate,
        };
        let at = usize::try_from(at).map_err(|_| Open::Address)?;
        memory.get(at).copied().ok_or(Open::Address)
    }

    /// A lane of a source: swizzle, magnitude, sign.
    fn lane(word: u32, v: Vec4, swizzle: u32, negate: bool) -> f32 {
        let lane = match swizzle {
            n @ 0..=3 => v[n as usize],
            5 => 1.0,
            _ => 0.0,
        };
        let lane = if bit(word, 3) { lane.abs() } else { lane };
        if negate {
            -lane
        } else {
            lane
        }
    }

    fn source(&self, word: u32) -> Result<Vec4, Open> {
        let v = self.fetch(word)?;
        Ok([0, 1, 2, 3].map(|n| {
            let swizzle = field(word, 15 + 3 * n, 13 + 3 * n);
            Self::lane(word, v, swizzle, bit(word, 25 + n))
        }))
    }

    fn saturated(v: f32) -> Result<f32, Open> {
        match v {
            v if v.is_nan() => Err(Open::Nan),
            v if v.to_bits() == 1 << 31 => Err(Open::MinusZero),
            v => Ok(v.clamp(0.0, 1.0)),
        }
    }

    fn instruction(&mut self, words: [u32; 4]) -> Result<(), Open> {
        let op = words[0];
        let (code, math, is_macro) = (field(op, 5, 0), bit(op, 6), bit(op, 7));
        let dual = bit(op, 28);
        let no_op = code == 0 && !is_macro;
        if dual && (math || is_macro || field(op, 11, 8) == 4) {
            return Err(Open::Dual);
        }
        // Sources that an operation does not have are not looked at, unless a dual operation takes their place.
        let has = if math {
            ops::math_sources(code)
        } else {
            ops::vector_sources(if is_macro { 4 } else { code })
        };
        if dual && has[2] {
            return Err(Open::Dual);
        }
        let mut sources = [[0.0; 4]; 3];
        for n in 0..3 {
            if has[n] {
                sources[n] = self.source(words[n + 1])?;
            }
        }
        let w = sources.map(|s| s[3]);
        let outcome = match (no_op, is_macro, math, code) {
            (true, ..) => None,
            (_, true, false, 0) => Some(ops::vector(4, &sources)?),
            (_, true, false, 1) => Some(ops::vector(11, &sources)?),
            (_, true, ..) => return Err(Open::Reserved),
            (_, _, true, _) => Some(ops::math(code, w)?),
            (_, _, false, _) => Some(ops::vector(code, &sources)?),
        };
        let half = if dual {
            self.math_half(words[3])?
        } else {
            None
        };
        if bit(op, 26) && self.v.predicate != bit(op, 27) {
            return Ok(());
        }
        let sets = |o: Option<&Outcome>| o.is_some_and(|o| o.predicate.is_some());
        if sets(outcome.as_ref()) && sets(half.as_ref().map(|h| &h.0)) {
            return Err(Open::Dual);
        }
        if let Some(outcome) = outcome {
            let converts = !math && !is_macro && matches!(code, 13 | 14);
            self.write(op, &outcome, bit(op, if math { 25 } else { 24 }), converts)?;
            self.v.predicate = outcome.predicate.unwrap_or(self.v.predicate);
        }
        if let Some((outcome, to, lane)) = half {
            let v = outcome.value[lane];
            self.v.alternate[to][lane] = if bit(op, 25) { Self::saturated(v)? } else { v };
            self.v.predicate = outcome.predicate.unwrap_or(self.v.predicate);
        }
        Ok(())
    }

    /// The math half of a dual operation, in place of the third source (§6.5.9): its result, register and lane.
    fn math_half(&self, word: u32) -> Result<Option<(Outcome, usize, usize)>, Open> {
        let code = field(word, 24, 21) | u32::from(bit(word, 2)) << 4;
        if code == 0 {
            return Ok(None);
        }
        let has = ops::math_sources(code);
        if has.iter().filter(|h| **h).count() > 2 {
            return Err(Open::Dual);
        }
        let v = self.fetch(word)?;
        let first = Self::lane(word, v, field(word, 15, 13), bit(word, 25));
        let second = Self::lane(word, v, field(word, 18, 16), bit(word, 26));
        let outcome = ops::math(code, [first, second, second])?;
        let (to, lane) = (field(word, 20, 19), field(word, 28, 27));
        Ok(Some((outcome, to as usize, lane as usize)))
    }

    fn write(&mut self, op: u32, outcome: &Outcome, sat: bool, converts: bool) -> Result<(), Open> {
        let mut value = outcome.value;
        let mask: [bool; 4] = std::array::from_fn(|n| bit(op, 20 + n as u32) && outcome.enable[n]);
        let kind = field(op, 11, 8);
        if kind == 3 {
            if outcome.enable != [true; 4] {
                return Err(Open::Replicated);
            }
            value = [value[0]; 4];
        }
        for (v, written) in value.iter_mut().zip(mask) {
            if sat && written {
                *v = Self::saturated(*v)?;
            }
        }
        let mode = (bit(op, 12), bit(op, 31));
        if kind == 1 {
            if !converts {
                return Err(Open::Reserved);
            }
            for ((to, v), written) in self.v.address.iter_mut().zip(value).zip(mask) {
                if written {
                    if v.is_nan() {
                        return Err(Open::Nan);
                    }
                    *to = v.clamp(-256.0, 255.0) as i16;
                }
            }
            return Ok(());
        }
        let at = self.address(mode, field(op, 30, 29), field(op, 19, 13))?;
        let memory = match kind {
            0 => &mut self.v.temporary[..],
            2 | 3 => &mut self.v.output,
            4 => &mut self.v.alternate,
            5 => &mut self.v.input,
            _ => return Err(Open::Reserved),
        };
        let at = usize::try_from(at).map_err(|_| Open::Address)?;
        let to = memory.get_mut(at).ok_or(Open::Address)?;
        for ((to, v), written) in to.iter_mut().zip(value).zip(mask) {
            if written {
                *to = v;
            }
        }
        Ok(())
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The vertex shader once more, as plainly as R5xx guide §6.5 prints it: every instruction is taken apart each time,
//! nothing is checked, nothing is told. What the guide leaves open is as the model's notes say.

use gpu_model::r5xx::pvs::Vertex;

/// Lanes X, Y, Z, W.
const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;
const W: usize = 3;

const MAX_FLOAT: f32 = f32::MAX;

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

/// A loop or a call that is under way.
struct Nested {
    entry: usize,
    /// Rounds that are left; of a call none.
    count: u32,
    /// The index outside.
    outer: Option<i32>,
}

struct Machine<'a> {
    constants: &'a [[f32; 4]],
    regs: &'a Registers,
    v: &'a mut Vertex,
    nested: Vec<Nested>,
    index: Option<i32>,
}

fn field(word: u32, high: u32, low: u32) -> u32 {
    word >> low & (u32::MAX >> (31 - (high - low)))
}

/// Runs; how many instructions that took. Stops after `limit`.
pub fn run(
    code: &[[u32; 4]],
    constants: &[[f32; 4]],
    regs: &Registers,
    v: &mut Vertex,
    limit: u64,
) -> u64 {
    let mut m = Machine {
        constants,
        regs,
        v,
        nested: Vec::new(),
        index: None,
    };
    let last = field(regs.code_cntl_0, 29, 20);
    let mut pc = field(regs.code_cntl_0, 9, 0);
    for n in 1..=limit {
        m.instruction(code[pc as usize]);
        match m.flow(pc) {
            Ok(to) => pc = to,
            Err(end) if end == last => return n,
            Err(end) => pc = (end + 1) % 1024,
        }
    }
    limit
}

impl Machine<'_> {
    // ---- §6.5.5

    /// Returns the target after an instruction; without one, the instruction after which to continue.
    fn flow(&mut self, pc: u32) -> Result<u32, u32> {
        let mut pc = pc;
        let mut skipped = 0;
        'again: loop {
            // Ends, from the inside.
            while let Some(top) = self.nested.last_mut() {
                let e = top.entry;
                if field(self.regs.uw[e], 9, 0) != pc {
                    break;
                }
                let rtn = field(self.regs.uw[e], 25, 16);
                if self.regs.opc >> (2 * e) & 3 == 3 {
                    self.nested.pop();
                    return Ok(rtn);
                }
                top.count -= 1;
                if top.count > 0 {
                    let step = field(self.regs.loop_index[e], 15, 8) as u8 as i8;
                    let index = self.index.unwrap() + i32::from(step);
                    self.index = Some(index.clamp(-256, 255));
                    return Ok(rtn);
                }
                self.index = top.outer;
                self.nested.pop();
            }
            // Activations, by number.
            let mut to = None;
            for e in 0..16 {
                let what = self.regs.opc >> (2 * e) & 3;
                if what == 0 || field(self.regs.lw[e], 9, 0) != pc {
                    continue;
                }
                let target = field(self.regs.lw[e], 25, 16);
                let full = self.nested.len() == 8;
                match what {
                    1 => return Ok(target),
                    3 if full => {}
                    3 => {
                        self.nested.push(Nested {
                            entry: e,
                            count: 0,
                            outer: None,
                        });
                        return Ok(target);
                    }
                    _ => {
                        let count = field(self.regs.lw[e], 23, 16);
                        if count == 0 {
                            let end = field(self.regs.uw[e], 9, 0);
                            skipped += 1;
                            if end == pc || skipped == 16 {
                                return Err(end);
                            }
                            pc = end;
                            continue 'again;
                        }
                        if full {
                            continue;
                        }
                        self.nested.push(Nested {
                            entry: e,
                            count,
                            outer: self.index,
                        });
                        if self.regs.loop_index[e] >> 31 == 0 {
                            self.index = Some(field(self.regs.loop_index[e], 7, 0) as i32);
                        } else if self.index.is_none() {
                            self.index = Some(0);
                        }
                        to = Some(field(self.regs.uw[e], 25, 16));
                    }
                }
            }
            return to.ok_or(pc);
        }
    }

    // ---- §6.5.9

    fn instruction(&mut self, i: [u32; 4]) {
        let op = i[0];
        let dual = op >> 28 & 1 != 0;
        let math_inst = op >> 6 & 1 != 0;
        let macro_inst = op >> 7 & 1 != 0;
        let opcode = field(op, 5, 0);
        if op >> 26 & 1 != 0 && (op >> 27 & 1 != 0) != self.v.predicate {
            return;
        }
        // Read everything before anything is written.
        let a = self.source(i[1]);
        let b = self.source(i[2]);
        let c = if dual { [0.0; 4] } else { self.source(i[3]) };
        let mut half = None;
        if dual {
            let word = i[3];
            // The vector has the two scalars in X and Y.
            let s = self.source(word);
            let opcode = field(word, 24, 21) | field(word, 2, 2) << 4;
            let a_is_zero = field(word, 15, 13) == 4;
            half = math(opcode, s[X], s[Y], s[Y], a_is_zero);
        }
        let whole = if dual && (math_inst || macro_inst) {
            None
        } else if math_inst {
            math(opcode, a[W], b[W], c[W], field(i[1], 24, 22) == 4)
        } else if macro_inst {
            match opcode {
                0 => vector(4, a, b, c),
                1 => vector(11, a, b, c),
                _ => None,
            }
        } else {
            vector(opcode, a, b, c)
        };
        if let Some(r) = whole {
            if let Some(p) = r.predicate_bit {
                self.v.predicate = p;
            }
            let sat = if math_inst { op >> 25 } else { op >> 24 } & 1 != 0;
            let out = if sat { r.out.map(clamp01) } else { r.out };
            let fixes = !math_inst && !macro_inst && (opcode == 13 || opcode == 14);
            self.destination(op, out, r.write_enable, fixes, dual);
        }
        if let Some(r) = half {
            if let Some(p) = r.predicate_bit {
                self.v.predicate = p;
            }
            let lane = field(i[3], 28, 27) as usize;
            let out = if op >> 25 & 1 != 0 {
                clamp01(r.out[lane])
            } else {
                r.out[lane]
            };
            self.v.alternate[field(i[3], 20, 19) as usize][lane] = out;
        }
    }

    fn relative(&self, mode: u32, sel: u32) -> i32 {
        match mode {
            1 => i32::from(self.v.address[sel as usize]),
            2 => self.index.unwrap_or(0),
            _ => 0,
        }
    }

    fn source(&self, s: u32) -> [f32; 4] {
        let mode = (s >> 31) << 1 | (s >> 4 & 1);
        let address = field(s, 12, 5) as i32 + self.relative(mode, field(s, 30, 29));
        let out_of = |memory: &[[f32; 4]]| {
            if address < 0 || address as usize >= memory.len() {
                [0.0; 4]
            } else {
                memory[address as usize]
            }
        };
        let v = match s & 3 {
            0 => out_of(&self.v.temporary),
            1 => out_of(&self.v.input),
            3 => out_of(&self.v.alternate),
            _ => {
                let max = field(self.regs.const_cntl, 23, 16) as i32;
                let base = field(self.regs.const_cntl, 7, 0);
                if (mode == 1 || mode == 2) && !(address >= 0 && address <= max) {
                    [0.0; 4]
                } else {
                    self.constants[(address as usize + base as usize) % 256]
                }
            }
        };
        let mut result = [0.0; 4];
        for (n, lane) in result.iter_mut().enumerate() {
            let selected = match s >> (13 + 3 * n) & 7 {
                0 => v[X],
                1 => v[Y],
                2 => v[Z],
                3 => v[W],
                5 => 1.0,
                _ => 0.0,
            };
            let selected = if s >> 3 & 1 != 0 {
                selected.abs()
            } else {
                selected
            };
            *lane = if s >> (25 + n) & 1 != 0 {
                -selected
            } else {
                selected
            };
        }
        result
    }

    fn destination(&mut self, op: u32, out: [f32; 4], enable: [bool; 4], fixes: bool, dual: bool) {
        let mode = (op >> 12 & 1) << 1 | op >> 31;
        let address = field(op, 19, 13) as i32 + self.relative(mode, field(op, 30, 29));
        let write: Vec<usize> = (0..4)
            .filter(|n| op >> (20 + n) & 1 != 0 && enable[*n])
            .collect();
        let kind = field(op, 11, 8);
        if kind == 1 {
            if fixes {
                for n in write {
                    // "truncate to minus infinity", then "clamped between -256 and 255".
                    self.v.address[n] = out[n].floor().clamp(-256.0, 255.0) as i16;
                    if out[n].is_nan() {
                        self.v.address[n] = 0;
                    }
                }
            }
            return;
        }
        let memory: &mut [[f32; 4]] = match kind {
            0 => &mut self.v.temporary,
            2 | 3 => &mut self.v.output,
            4 if dual => return,
            4 => &mut self.v.alternate,
            5 => &mut self.v.input,
            _ => return,
        };
        if address < 0 || address as usize >= memory.len() {
            return;
        }
        for n in write {
            memory[address as usize][n] = if kind == 3 { out[X] } else { out[n] };
        }
    }
}

fn clamp01(v: f32) -> f32 {
    if v >= 1.0 {
        1.0
    } else if v > 0.0 {
        v
    } else {
        0.0
    }
}

/// OUT, WRITE_ENABLE and PREDICATE_BIT of the listings.
struct Listed {
    out: [f32; 4],
    write_enable: [bool; 4],
    predicate_bit: Option<bool>,
}

fn plain(out: [f32; 4]) -> Option<Listed> {
    Some(Listed {
        out,
        write_enable: [true; 4],
        predicate_bit: None,
    })
}

fn with_predicate(bit: bool, w: f32) -> Option<Listed> {
    Some(Listed {
        out: [w; 4],
        write_enable: [true; 4],
        predicate_bit: Some(bit),
    })
}

// ---- §6.5.7

fn vector(opcode: u32, a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> Option<Listed> {
    let mut out = [0.0; 4];
    match opcode {
        1 => {
            out[X] = (((a[X] * b[X]) + (a[Y] * b[Y])) + (a[Z] * b[Z])) + (a[W] * b[W]);
            return plain([out[X]; 4]);
        }
        5 => {
            out[X] = 1.0;
            out[Y] = a[Y] * b[Y];
            out[Z] = a[Z];
            out[W] = b[W];
            return plain(out);
        }
        12 => {
            out[X] = if c[W] < (a[W] * b[W]) {
                c[W]
            } else if c[X] >= (a[X] * b[X]) {
                c[X]
            } else {
                a[X] * b[X]
            };
            return plain([out[X]; 4]);
        }
        15..=18 => {
            let so = match opcode {
                15 => b[W] == 0.0,
                16 => b[W] > 0.0,
                17 => b[W] >= 0.0,
                _ => b[W] != 0.0,
            };
            return if so && a[W] == 0.0 {
                with_predicate(true, 0.0)
            } else {
                with_predicate(false, a[W] + 1.0)
            };
        }
        19..=22 => {
            let enable = a.map(|a| match opcode {
                19 => a == 0.0,
                20 => a > 0.0,
                21 => a >= 0.0,
                _ => a != 0.0,
            });
            return Some(Listed {
                out: b,
                write_enable: enable,
                predicate_bit: None,
            });
        }
        _ => {}
    }
    for n in [X, Y, Z, W] {
        let (a, b, c) = (a[n], b[n], c[n]);
        let one_if = |so: bool| if so { 1.0 } else { 0.0 };
        out[n] = match opcode {
            2 => a * b,
            3 => a + b,
            4 => (a * b) + c,
            6 => a - a.floor(),
            7 if a > b => a,
            7 => b,
            8 if a < b => a,
            8 => b,
            9 => one_if(a >= b),
            10 => one_if(a < b),
            11 => (2.0 * (a * b)) + c,
            13 => a.floor(),
            14 => (a + 0.5).floor(),
            23 if a == 0.0 => b,
            24 if a > 0.0 => b,
            25 if a >= 0.0 => b,
            23..=25 => c,
            26 => one_if(a > b),
            27 => one_if(a == b),
            28 => one_if(a != b),
            _ => return None,
        };
    }
    plain(out)
}

// ---- §6.5.8

fn pow(x: f32, n: f32) -> f32 {
    let positive = n > 0.0;
    let negative = n < 0.0;
    if x == 0.0 && negative {
        return f32::INFINITY;
    }
    if x == 0.0 && positive {
        return 0.0;
    }
    if n == 0.0 {
        return 1.0;
    }
    if x.is_infinite() && negative {
        return 0.0;
    }
    if x.is_infinite() && positive {
        return f32::INFINITY;
    }
    if x > 1.0 && n == f32::NEG_INFINITY {
        return 0.0;
    }
    if x < 1.0 && n == f32::NEG_INFINITY {
        return f32::INFINITY;
    }
    if x > 1.0 && n == f32::INFINITY {
        return f32::INFINITY;
    }
    if x < 1.0 && n == f32::INFINITY {
        return 0.0;
    }
    f64::powf(x.into(), n.into()) as f32
}

fn power_func_ff(a: f32, c: f32) -> f32 {
    if a < 0.0 {
        -pow(a.abs(), c)
    } else {
        pow(a, c)
    }
}

fn two_to_the(x: f32) -> f32 {
    f64::powf(2.0, x.into()) as f32
}

fn log2_abs(x: f32) -> f32 {
    let x = f64::from(x.abs());
    x.log2() as f32
}

fn sin_cos(a: f32, f: fn(f64) -> f64, at_pi: f32) -> f32 {
    let pi = std::f32::consts::PI;
    if a.is_nan() || a >= pi || a <= -pi {
        return at_pi;
    }
    let v = f(a.into()) as f32;
    let least = f32::from_bits(0x3380_0000);
    if v.abs() >= least {
        v
    } else if v < 0.0 {
        -least
    } else {
        least
    }
}

fn math(opcode: u32, a: f32, b: f32, c: f32, a_is_zero: bool) -> Option<Listed> {
    let recip_sqrt = || (1.0 / f64::sqrt(f64::from(a.abs()))) as f32;
    let x = match opcode {
        1 => {
            let y = if a > 128.0 { 0.0 } else { a - a.floor() };
            return plain([two_to_the(a.floor()), y, two_to_the(a), 1.0]);
        }
        2 if a == 0.0 => return plain([-MAX_FLOAT, 1.0, -MAX_FLOAT, 1.0]),
        2 => {
            let mut mantissa = f64::from(a.abs());
            let mut exponent = 0.0;
            if a.is_nan() || a.is_infinite() {
                exponent = 128.0;
                mantissa = f64::from(f32::from_bits((a.to_bits() & 0x7f_ffff) | 0x3f80_0000));
            }
            while mantissa >= 2.0 {
                mantissa /= 2.0;
                exponent += 1.0;
            }
            while mantissa < 1.0 {
                mantissa *= 2.0;
                exponent -= 1.0;
            }
            return plain([exponent, mantissa as f32, log2_abs(a), 1.0]);
        }
        3 => f64::from(if a_is_zero { c } else { a }).exp() as f32,
        4 => {
            let y = if b > 0.0 { b } else { 0.0 };
            let mut z = 0.0;
            if b > 0.0 {
                let power = c.clamp(-128.0, 128.0);
                z = pow(if a > 0.0 { a } else { 0.0 }, power);
            }
            return plain([1.0, y, z, 1.0]);
        }
        5 => power_func_ff(a, c),
        6 | 8 if a == 0.0 => MAX_FLOAT,
        7 | 9 if a == 0.0 => 0.0,
        6 | 7 | 19 => 1.0 / a,
        8 | 9 | 20 => recip_sqrt(),
        10 => a * b,
        11 => two_to_the(a),
        12 if a == 0.0 => -MAX_FLOAT,
        12 | 18 => log2_abs(a),
        13 if a < b => 0.0,
        13 => power_func_ff(a, c),
        14 if a < b => 0.0,
        14 if a > 1.0 => 1.0,
        14 => power_func_ff(a, c),
        15 if a <= 0.0 => 0.0,
        15 if a > 1.0 => 1.0,
        15 => power_func_ff(a, c),
        16 if a == 0.0 => 0.0,
        16 => sin_cos(a, f64::sin, 0.0),
        17 => sin_cos(a, f64::cos, -1.0),
        21..=24 => {
            let so = match opcode {
                21 => a == 0.0,
                22 => a > 0.0,
                23 => a >= 0.0,
                _ => a != 0.0,
            };
            return with_predicate(so, if so { 0.0 } else { 1.0 });
        }
        25 => return with_predicate(false, MAX_FLOAT),
        26 => {
            return if a == 1.0 {
                with_predicate(true, 0.0)
            } else if a == 0.0 {
                with_predicate(false, 1.0)
            } else {
                with_predicate(false, a)
            }
        }
        27 => {
            let w = a - 1.0;
            return if w <= 0.0 {
                with_predicate(true, 0.0)
            } else {
                with_predicate(false, w)
            };
        }
        28 => {
            return if a == 0.0 {
                with_predicate(true, 0.0)
            } else {
                with_predicate(false, a)
            }
        }
        _ => return None,
    };
    plain([x; 4])
}

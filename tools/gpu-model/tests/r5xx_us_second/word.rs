// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Instructions, taken apart, and their six dwords (digest of 3D, §9.2, §9.4, §9.6).

/// Where a source comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Temp(u8),
    Const(u8),
    /// A float of seven bits.
    Inline(u8),
}

#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub place: Place,
    /// aL is added.
    pub rel: bool,
}

/// An argument: sources 0 to 2 or the presubtract result, and a swizzle for each lane (alpha has the first).
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    pub sel: u8,
    pub swizzle: [u8; 3],
    /// 0 none, 1 negated, 2 magnitude, 3 negated magnitude.
    pub modifier: u8,
}

/// One unit's part of an ALU or OUT instruction.
#[derive(Clone, Copy, Debug)]
pub struct Half {
    pub op: u8,
    pub to: u8,
    pub to_rel: bool,
    pub sources: [Source; 3],
    pub presubtract: u8,
    pub args: [Arg; 3],
    pub omod: u8,
    /// Render target, or comparison of the predicate.
    pub target: u8,
    /// 0 none, 1 each channel its own, 2 to 5 R to A.
    pub pred: u8,
    pub pred_inv: bool,
    pub clamp: bool,
    /// Channels written to temporaries: three bits, or one.
    pub wmask: u8,
    /// Channels put out, or predicates set.
    pub omask: u8,
}

#[derive(Clone, Copy, Debug)]
pub struct Alu {
    pub out: bool,
    pub rgb: Half,
    pub alpha: Half,
    /// Inactive pixels are written, too.
    pub inactive: bool,
    /// ALU_WMASK, ALU_RESULT_SEL (alpha), ALU_RESULT_OP.
    pub result: (bool, bool, u8),
    /// W_OMASK.
    pub depth: bool,
}

/// A register of a texture instruction, and a component for each of its four lanes.
#[derive(Clone, Copy, Debug)]
pub struct Reg {
    pub at: u8,
    pub rel: bool,
    pub lanes: [u8; 4],
}

#[derive(Clone, Copy, Debug)]
pub struct Tex {
    /// 0 NOP, 1 LD, 2 TEXKILL, 3 PROJ, 4 LODBIAS, 5 LOD, 6 DXDY.
    pub op: u8,
    pub unit: u8,
    pub unscaled: bool,
    pub from: Reg,
    pub to: Reg,
    pub dx: Reg,
    pub dy: Reg,
    pub wmask: u8,
    pub inactive: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Fc {
    pub op: u8,
    pub b_else: bool,
    pub any: bool,
    pub a_op: u8,
    pub func: u8,
    pub pop: u8,
    pub b_op0: u8,
    pub b_op1: u8,
    pub covered_only: bool,
    pub pred: u8,
    pub pred_inv: bool,
    pub boolean: u8,
    pub integer: u8,
    pub target: u16,
    pub global: bool,
}

/// Operations of FC_INST.
pub mod fc {
    pub const JUMP: u8 = 0;
    pub const LOOP: u8 = 1;
    pub const END_LOOP: u8 = 2;
    pub const REP: u8 = 3;
    pub const END_REP: u8 = 4;
    pub const BREAK_LOOP: u8 = 5;
    pub const BREAK_REP: u8 = 6;
    pub const CONTINUE: u8 = 7;
}

#[derive(Clone, Copy, Debug)]
pub enum Inst {
    Alu(Alu),
    Tex(Tex),
    Fc(Fc),
}

fn put(value: impl Into<u32>, at: u32) -> u32 {
    value.into() << at
}

fn addresses(half: &Half) -> u32 {
    let each = (0..).step_by(10).zip(half.sources);
    let words = each.map(|(at, s)| {
        let (addr, constant) = match s.place {
            Place::Temp(n) => (n, false),
            Place::Const(n) => (n, true),
            Place::Inline(n) => (n | 0x80, false),
        };
        put(addr, at) | put(constant, at + 8) | put(s.rel, at + 9)
    });
    words.fold(put(half.presubtract, 30), |all, w| all | w)
}

fn three(arg: &Arg, at: u32) -> u32 {
    put(arg.sel, at)
        | put(arg.swizzle[0], at + 2)
        | put(arg.swizzle[1], at + 5)
        | put(arg.swizzle[2], at + 8)
        | put(arg.modifier, at + 11)
}

fn one(arg: &Arg, at: u32) -> u32 {
    put(arg.sel, at) | put(arg.swizzle[0], at + 2) | put(arg.modifier, at + 5)
}

fn components(reg: &Reg, at: u32) -> u32 {
    put(reg.lanes[0], at)
        | put(reg.lanes[1], at + 2)
        | put(reg.lanes[2], at + 4)
        | put(reg.lanes[3], at + 6)
}

fn register(reg: &Reg, at: u32) -> u32 {
    put(reg.at, at) | put(reg.rel, at + 7) | components(reg, at + 8)
}

impl Alu {
    fn encode(&self) -> [u32; 6] {
        let (rgb, alpha) = (&self.rgb, &self.alpha);
        let cmn = put(self.out, 0)
            | put(rgb.pred, 3)
            | put(rgb.pred_inv, 6)
            | put(self.inactive, 7)
            | put(rgb.wmask, 11)
            | put(alpha.wmask, 14)
            | put(rgb.omask, 15)
            | put(alpha.omask, 18)
            | put(rgb.clamp, 19)
            | put(alpha.clamp, 20)
            | put(self.result.1, 21)
            | put(alpha.pred_inv, 22)
            | put(self.result.2, 23)
            | put(alpha.pred, 25);
        let rgb_inst = three(&rgb.args[0], 0)
            | three(&rgb.args[1], 13)
            | put(rgb.omod, 26)
            | put(rgb.target, 29)
            | put(self.result.0, 31);
        let alpha_inst = put(alpha.op, 0)
            | put(alpha.to, 4)
            | put(alpha.to_rel, 11)
            | one(&alpha.args[0], 12)
            | one(&alpha.args[1], 19)
            | put(alpha.omod, 26)
            | put(alpha.target, 29)
            | put(self.depth, 31);
        let rgba_inst = put(rgb.op, 0)
            | put(rgb.to, 4)
            | put(rgb.to_rel, 11)
            | three(&rgb.args[2], 12)
            | one(&alpha.args[2], 25);
        [
            cmn,
            addresses(rgb),
            addresses(alpha),
            rgb_inst,
            alpha_inst,
            rgba_inst,
        ]
    }
}

impl Tex {
    fn encode(&self) -> [u32; 6] {
        [
            3 | put(self.inactive, 7) | put(self.wmask, 11),
            put(self.unit, 16) | put(self.op, 22) | put(self.unscaled, 27),
            register(&self.from, 0) | register(&self.to, 16),
            register(&self.dx, 0) | register(&self.dy, 16),
            0,
            0,
        ]
    }
}

impl Fc {
    fn encode(&self) -> [u32; 6] {
        let inst = put(self.op, 0)
            | put(self.b_else, 4)
            | put(self.any, 5)
            | put(self.a_op, 6)
            | put(self.func, 8)
            | put(self.pop, 16)
            | put(self.b_op0, 24)
            | put(self.b_op1, 26)
            | put(self.covered_only, 28);
        let addr = put(self.boolean, 0)
            | put(self.integer, 8)
            | put(self.target, 16)
            | put(self.global, 31);
        let cmn = 2 | put(self.pred, 3) | put(self.pred_inv, 6) | 1 << 10;
        [cmn, 0, inst, addr, 0, 0]
    }
}

impl Inst {
    /// The dwords in the order of an upload.
    pub fn encode(&self) -> [u32; 6] {
        match self {
            Inst::Alu(i) => i.encode(),
            Inst::Tex(i) => i.encode(),
            Inst::Fc(i) => i.encode(),
        }
    }
}

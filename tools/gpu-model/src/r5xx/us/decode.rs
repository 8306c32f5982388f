// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A program's instructions, taken apart once for each draw (digest of 3D, §9.1, §9.2).

use super::note::{Note, Notes};
use super::word::{
    kind, Addr, AlphaInst, Cmn, CodeAddr, FcAddr, FcInst, RgbInst, RgbaInst, TexAddr, TexDxdy,
    TexInst,
};

/// Instructions that the memory holds.
pub const SLOTS: usize = 512;
/// Dwords of an instruction.
pub const DWORDS: usize = 6;
/// Temporaries.
pub const TEMPORARIES: usize = 128;
/// Constants.
pub const CONSTANTS: usize = 256;
/// Colour targets.
pub const TARGETS: usize = 4;

/// What steers a program.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// US_CONFIG.
    pub config: u32,
    /// US_CODE_ADDR.
    pub code_addr: u32,
    /// US_CODE_RANGE.
    pub code_range: u32,
    /// US_CODE_OFFSET.
    pub code_offset: u32,
    /// US_FC_BOOL_CONST.
    pub booleans: u32,
    /// US_FC_INT_CONST.
    pub integers: [u32; 32],
}

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    Alu(Alu),
    Tex(TexInst, TexAddr, TexDxdy),
    Flow(FcInst, FcAddr),
}

/// Lanes that operands are taken from: red, green, blue, alpha of three sources and of the presubtract's result,
/// then 0, 0.5 and 1.
pub(super) const LANES: usize = 19;
const ZERO: u8 = 16;
pub(super) const HALF: u8 = 17;
pub(super) const ONE: u8 = 18;

/// Where a lane of an operand comes from, and what becomes of its sign: which bits stay, and which change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub lane: u8,
    pub keep: u32,
    pub flip: u32,
}

impl Operand {
    fn new(sel: u8, swizzle: u8, modifier: u8) -> Self {
        const SIGN: u32 = 1 << 31;
        Operand {
            lane: match swizzle {
                n @ 0..=3 => 4 * sel + n,
                5 => HALF,
                6 => ONE,
                _ => ZERO,
            },
            keep: if modifier & 2 != 0 { !SIGN } else { !0 },
            flip: if modifier & 1 != 0 { SIGN } else { 0 },
        }
    }

    /// Those of the colours.
    fn three(sel: u8, swizzle: u16, modifier: u8) -> [Self; 3] {
        three(swizzle).map(|code| Self::new(sel, code, modifier))
    }
}

/// Dwords 1 to 5 of ALU and OUT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alu {
    pub rgb_addr: Addr,
    pub alpha_addr: Addr,
    pub rgb: RgbInst,
    pub alpha: AlphaInst,
    pub rgba: RgbaInst,
    /// Sources of which colours are read, and alphas; bit 3: the presubtract's result.
    pub uses_rgb: u8,
    pub uses_alpha: u8,
    /// Something looks at what the colours come to, or alpha.
    pub needs_rgb: bool,
    pub needs_alpha: bool,
    /// A, B and C of the colours, and of alpha.
    pub rgb_operands: [[Operand; 3]; 3],
    pub alpha_operands: [Operand; 3],
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub cmn: Cmn,
    pub body: Body,
}

/// A program, ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Instructions of the range.
    pub(super) slots: Vec<Instruction>,
    pub(super) first: u16,
    pub(super) end: u16,
    /// Slots that may be executed, of the memory: first and number.
    pub(super) range: (u16, u16),
    pub(super) offset: u16,
    /// 0 * x is 0, whatever x is.
    pub(super) zero_wins: bool,
    pub(super) booleans: u32,
    pub(super) integers: [u32; 32],
    /// Temporaries from 0 on that it may touch.
    pub(super) temporaries: usize,
    /// A pixel can be killed.
    pub(super) kills: bool,
    /// The depth is put out.
    pub(super) depth: bool,
    /// Texture units that are looked up, a bit each.
    pub(super) units: u16,
    /// What is odd about it without running it.
    pub(super) notes: Notes,
}

/// Bits of the source that a swizzle reads: of its colours, of its alpha.
fn swizzle_uses(sel: u8, swizzles: &[u8]) -> (u8, u8) {
    let colour = swizzles.iter().any(|s| *s < 3);
    let alpha = swizzles.contains(&3);
    (u8::from(colour) << sel, u8::from(alpha) << sel)
}

/// The three codes of a swizzle.
fn three(swizzle: u16) -> [u8; 3] {
    [0, 3, 6].map(|n| (swizzle >> n & 7) as u8)
}

impl Alu {
    fn new(cmn: Cmn, words: [u32; 6]) -> Self {
        let rgb = RgbInst::from(words[3]);
        let alpha = AlphaInst::from(words[4]);
        let rgba = RgbaInst::from(words[5]);
        let mut alu = Alu {
            rgb_addr: words[1].into(),
            alpha_addr: words[2].into(),
            rgb,
            alpha,
            rgba,
            uses_rgb: 0,
            uses_alpha: 0,
            needs_rgb: false,
            needs_alpha: false,
            rgb_operands: [
                Operand::three(rgb.sel_a(), rgb.swiz_a(), rgb.mod_a()),
                Operand::three(rgb.sel_b(), rgb.swiz_b(), rgb.mod_b()),
                Operand::three(rgba.sel_c(), rgba.swiz_c(), rgba.mod_c()),
            ],
            alpha_operands: [
                Operand::new(alpha.sel_a(), alpha.swiz_a(), alpha.mod_a()),
                Operand::new(alpha.sel_b(), alpha.swiz_b(), alpha.mod_b()),
                Operand::new(rgba.alpha_sel_c(), rgba.alpha_swiz_c(), rgba.alpha_mod_c()),
            ],
        };
        for (sel, swizzles) in [
            (rgb.sel_a(), &three(rgb.swiz_a())[..]),
            (rgb.sel_b(), &three(rgb.swiz_b())),
            (rgba.sel_c(), &three(rgba.swiz_c())),
            (alpha.sel_a(), &[alpha.swiz_a()]),
            (alpha.sel_b(), &[alpha.swiz_b()]),
            (rgba.alpha_sel_c(), &[rgba.alpha_swiz_c()]),
        ] {
            let (colour, alpha) = swizzle_uses(sel, swizzles);
            alu.uses_rgb |= colour;
            alu.uses_alpha |= alpha;
        }
        // MDH and MDV read source 0 whatever is selected.
        if matches!(rgba.rgb_op(), 11 | 12) {
            alu.uses_rgb |= 1;
        }
        if matches!(alpha.op(), 14 | 15) {
            alu.uses_alpha |= 1;
        }
        // The presubtract takes sources 0 and 1.
        let more = |uses: u8, op: u8| match (uses >> 3, op) {
            (0, _) => uses,
            (_, 0 | 3) => uses | 1,
            _ => uses | 3,
        };
        alu.uses_rgb = more(alu.uses_rgb, alu.rgb_addr.srcp_op());
        alu.uses_alpha = more(alu.uses_alpha, alu.alpha_addr.srcp_op());
        let masks = cmn.wmask() | cmn.omask();
        let compares = |of_alpha| rgb.alu_wmask() && cmn.alu_result_sel() == of_alpha;
        alu.needs_rgb = masks & 7 != 0 || compares(false);
        alu.needs_alpha = masks & 8 != 0 || compares(true) || alpha.w_omask();
        // SOP takes alpha's result.
        alu.needs_alpha |= alu.needs_rgb && rgba.rgb_op() == 10;
        alu
    }

    /// Temporaries from 0 on that it may touch.
    fn temporaries(&self) -> usize {
        let mut most = usize::from(self.rgba.addrd().max(self.alpha.addrd()));
        let relative = self.rgba.addrd_rel() || self.alpha.addrd_rel();
        let mut all = relative;
        for (addr, uses) in [
            (self.rgb_addr, self.uses_rgb),
            (self.alpha_addr, self.uses_alpha),
        ] {
            for (n, (number, constant, rel)) in addr.each().into_iter().enumerate() {
                if uses >> n & 1 != 0 && !constant && number < 128 {
                    most = most.max(usize::from(number));
                    all |= rel;
                }
            }
        }
        if all {
            TEMPORARIES
        } else {
            most + 1
        }
    }

    fn notes(&self, cmn: Cmn, notes: &mut Notes) {
        let (rgb, alpha) = (self.rgba.rgb_op(), self.alpha.op());
        notes.add_if(matches!(rgb, 6 | 13..=15) || alpha == 4, Note::Opcode);
        // r300 leaves OMOD 7 in a half that writes nothing, whose operation is then MAD: there is no result.
        let masks = cmn.wmask() | cmn.omask();
        let compared = |alpha: bool| self.rgb.alu_wmask() && cmn.alu_result_sel() == alpha;
        let rgb_kept = masks & 7 != 0 || compared(false);
        let put_out = cmn.kind() == kind::OUT && self.alpha.w_omask();
        let alpha_kept = masks & 8 != 0 || put_out || compared(true);
        let rgb_bypass = rgb_kept && self.rgb.omod() == 7 && !matches!(rgb, 4 | 5 | 7 | 8);
        let alpha_bypass = alpha_kept && self.alpha.omod() == 7 && !matches!(alpha, 2 | 3 | 5 | 6);
        notes.add_if(rgb_bypass || alpha_bypass, Note::Bypass);
        notes.add_if(
            cmn.rgb_pred_sel() > 5 || cmn.alpha_pred_sel() > 5,
            Note::Predicate,
        );
    }
}

impl Instruction {
    fn new(words: [u32; 6]) -> Self {
        let cmn = Cmn::from(words[0]);
        let body = match cmn.kind() {
            kind::FC => Body::Flow(words[2].into(), words[3].into()),
            kind::TEX => Body::Tex(words[1].into(), words[2].into(), words[3].into()),
            _ => Body::Alu(Alu::new(cmn, words)),
        };
        Instruction { cmn, body }
    }
}

impl Program {
    /// The program that `control` names in a memory of [`SLOTS`] instructions of [`DWORDS`] dwords. Missing dwords
    /// are 0.
    pub fn new(code: &[u32], control: &Control) -> Self {
        let get = |slot: usize| {
            std::array::from_fn(|n| code.get(slot * DWORDS + n).copied().unwrap_or(0))
        };
        let addr = CodeAddr::from(control.code_addr);
        let range = CodeAddr::from(control.code_range);
        let offset = (control.code_offset & 0x1ff) as u16;
        let last = |n: u16| (n + offset) % SLOTS as u16;
        let range = (range.low(), range.high() + 1);
        let in_range = (0..range.1).map(|n| usize::from(range.0 + n) % SLOTS);
        let slots: Vec<_> = in_range.map(|n| Instruction::new(get(n))).collect();
        let end = last(addr.high());
        let mut program = Program {
            first: last(addr.low()),
            end,
            range,
            offset,
            zero_wins: control.config >> 1 & 1 != 0,
            booleans: control.booleans,
            integers: control.integers,
            temporaries: 1,
            kills: false,
            depth: false,
            units: 0,
            notes: Notes::NONE,
            slots,
        };
        let mut notes = Notes::NONE;
        notes.add_if(addr.high() < addr.low(), Note::Wraps);
        let last = Cmn::from(get(usize::from(end))[0]);
        notes.add_if(last.kind() != kind::OUT, Note::LastNotOut);
        program.look_over(&mut notes);
        program.notes = notes;
        program
    }

    fn look_over(&mut self, notes: &mut Notes) {
        for i in &self.slots {
            match i.body {
                Body::Alu(alu) => {
                    self.temporaries = self.temporaries.max(alu.temporaries());
                    self.depth |= i.cmn.kind() == kind::OUT && alu.alpha.w_omask();
                    alu.notes(i.cmn, notes);
                }
                Body::Tex(inst, a, d) => {
                    let mut most = usize::from(a.src().max(a.dst()));
                    if inst.inst() == 6 {
                        most = most.max(usize::from(d.dx().max(d.dy())));
                    }
                    let all = a.src_rel() || a.dst_rel() || d.dx_rel() || d.dy_rel();
                    most = if all { TEMPORARIES - 1 } else { most };
                    self.temporaries = self.temporaries.max(most + 1);
                    self.kills |= inst.inst() == 2;
                    if !matches!(inst.inst(), 0 | 2) {
                        self.units |= 1 << inst.id();
                    }
                    notes.add_if(inst.inst() == 7, Note::Texture);
                }
                Body::Flow(..) => {}
            }
        }
    }

    /// True if it can kill a pixel.
    pub fn kills(&self) -> bool {
        self.kills
    }

    /// Texture units that it looks up, a bit each.
    pub fn units(&self) -> u16 {
        self.units
    }

    /// Returns what is odd about the program without running it.
    pub fn notes(&self) -> Notes {
        self.notes
    }
}

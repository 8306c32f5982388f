// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The six dwords of an instruction of the pixel shader, and the registers that steer a program (digest of 3D,
//! §9.1, §9.2, §9.4, §9.6).

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;
use std::mem::size_of;

/// Types of instructions: [`Cmn::kind`].
pub mod kind {
    #![allow(missing_docs)]
    pub const ALU: u8 = 0;
    pub const OUT: u8 = 1;
    pub const FC: u8 = 2;
    pub const TEX: u8 = 3;
}

/// US_CMN_INST: dword 0.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct Cmn {
    /// TYPE, 1:0.
    #[bits(2)]
    pub kind: u8,
    /// TEX_SEM_WAIT, 2.
    pub tex_sem_wait: bool,
    /// RGB_PRED_SEL, 5:3: 0 none, 1 each channel its own, 2 to 5 R, G, B, A.
    #[bits(3)]
    pub rgb_pred_sel: u8,
    /// RGB_PRED_INV, 6.
    pub rgb_pred_inv: bool,
    /// WRITE_INACTIVE, 7.
    pub write_inactive: bool,
    /// LAST, 8.
    pub last: bool,
    /// NOP, 9.
    pub nop: bool,
    /// ALU_WAIT, 10.
    pub alu_wait: bool,
    /// RGB_WMASK and ALPHA_WMASK, 14:11, red first: temporaries.
    #[bits(4)]
    pub wmask: u8,
    /// RGB_OMASK and ALPHA_OMASK, 18:15: outputs, or predicates.
    #[bits(4)]
    pub omask: u8,
    /// RGB_CLAMP, 19.
    pub rgb_clamp: bool,
    /// ALPHA_CLAMP, 20.
    pub alpha_clamp: bool,
    /// ALU_RESULT_SEL, 21: alpha, not red.
    pub alu_result_sel: bool,
    /// ALPHA_PRED_INV, 22.
    pub alpha_pred_inv: bool,
    /// ALU_RESULT_OP, 24:23: ==, <, >=, != 0.
    #[bits(2)]
    pub alu_result_op: u8,
    /// ALPHA_PRED_SEL, 27:25: 0 none, 1 A, 2 to 5 R, G, B, A.
    #[bits(3)]
    pub alpha_pred_sel: u8,
    /// STAT_WE, 31:28.
    #[bits(4)]
    pub stat_we: u8,
}

/// US_ALU_RGB_ADDR and US_ALU_ALPHA_ADDR: dwords 1 and 2.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct Addr {
    /// ADDR0, 7:0.
    pub addr0: u8,
    /// ADDR0_CONST, 8.
    pub const0: bool,
    /// ADDR0_REL, 9.
    pub rel0: bool,
    /// ADDR1, 17:10.
    pub addr1: u8,
    /// ADDR1_CONST, 18.
    pub const1: bool,
    /// ADDR1_REL, 19.
    pub rel1: bool,
    /// ADDR2, 27:20.
    pub addr2: u8,
    /// ADDR2_CONST, 28.
    pub const2: bool,
    /// ADDR2_REL, 29.
    pub rel2: bool,
    /// SRCP_OP, 31:30: 1 - 2 src0, src1 - src0, src1 + src0, 1 - src0.
    #[bits(2)]
    pub srcp_op: u8,
}

impl Addr {
    /// The three addresses: number, of a constant, relative.
    pub fn each(self) -> [(u8, bool, bool); 3] {
        [
            (self.addr0(), self.const0(), self.rel0()),
            (self.addr1(), self.const1(), self.rel1()),
            (self.addr2(), self.const2(), self.rel2()),
        ]
    }
}

/// US_ALU_RGB_INST: dword 3.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct RgbInst {
    /// RGB_SEL_A, 1:0: a source, or 3 the presubtract's result.
    #[bits(2)]
    pub sel_a: u8,
    /// RED_, GREEN_, BLUE_SWIZ_A, 10:2, three bits each.
    #[bits(9)]
    pub swiz_a: u16,
    /// RGB_MOD_A, 12:11: none, negative, absolute, negative absolute.
    #[bits(2)]
    pub mod_a: u8,
    /// RGB_SEL_B, 14:13.
    #[bits(2)]
    pub sel_b: u8,
    /// SWIZ_B, 23:15.
    #[bits(9)]
    pub swiz_b: u16,
    /// RGB_MOD_B, 25:24.
    #[bits(2)]
    pub mod_b: u8,
    /// OMOD, 28:26.
    #[bits(3)]
    pub omod: u8,
    /// TARGET, 30:29.
    #[bits(2)]
    pub target: u8,
    /// ALU_WMASK, 31: the result's comparison is kept.
    pub alu_wmask: bool,
}

/// US_ALU_ALPHA_INST: dword 4.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct AlphaInst {
    /// ALPHA_OP, 3:0.
    #[bits(4)]
    pub op: u8,
    /// ALPHA_ADDRD, 10:4.
    #[bits(7)]
    pub addrd: u8,
    /// ALPHA_ADDRD_REL, 11.
    pub addrd_rel: bool,
    /// ALPHA_SEL_A, 13:12.
    #[bits(2)]
    pub sel_a: u8,
    /// ALPHA_SWIZ_A, 16:14.
    #[bits(3)]
    pub swiz_a: u8,
    /// ALPHA_MOD_A, 18:17.
    #[bits(2)]
    pub mod_a: u8,
    /// ALPHA_SEL_B, 20:19.
    #[bits(2)]
    pub sel_b: u8,
    /// ALPHA_SWIZ_B, 23:21.
    #[bits(3)]
    pub swiz_b: u8,
    /// ALPHA_MOD_B, 25:24.
    #[bits(2)]
    pub mod_b: u8,
    /// OMOD, 28:26.
    #[bits(3)]
    pub omod: u8,
    /// TARGET, 30:29.
    #[bits(2)]
    pub target: u8,
    /// W_OMASK, 31: the result is the depth.
    pub w_omask: bool,
}

/// US_ALU_RGBA_INST: dword 5.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct RgbaInst {
    /// RGB_OP, 3:0.
    #[bits(4)]
    pub rgb_op: u8,
    /// RGB_ADDRD, 10:4.
    #[bits(7)]
    pub addrd: u8,
    /// RGB_ADDRD_REL, 11.
    pub addrd_rel: bool,
    /// RGB_SEL_C, 13:12.
    #[bits(2)]
    pub sel_c: u8,
    /// SWIZ_C, 22:14.
    #[bits(9)]
    pub swiz_c: u16,
    /// RGB_MOD_C, 24:23.
    #[bits(2)]
    pub mod_c: u8,
    /// ALPHA_SEL_C, 26:25.
    #[bits(2)]
    pub alpha_sel_c: u8,
    /// ALPHA_SWIZ_C, 29:27.
    #[bits(3)]
    pub alpha_swiz_c: u8,
    /// ALPHA_MOD_C, 31:30.
    #[bits(2)]
    pub alpha_mod_c: u8,
}

/// US_TEX_INST: dword 1.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct TexInst {
    /// Unused, 15:0.
    pub low: u16,
    /// TEX_ID, 19:16.
    #[bits(4)]
    pub id: u8,
    /// Unused, 21:20.
    #[bits(2)]
    pub between: u8,
    /// INST, 24:22: NOP, LD, TEXKILL, PROJ, LODBIAS, LOD, DXDY.
    #[bits(3)]
    pub inst: u8,
    /// TEX_SEM_ACQUIRE, 25.
    pub acquire: bool,
    /// IGNORE_UNCOVERED, 26.
    pub ignore_uncovered: bool,
    /// UNSCALED, 27: coordinates count texels.
    pub unscaled: bool,
    /// Unused, 31:28.
    #[bits(4)]
    pub high: u8,
}

/// US_TEX_ADDR: dword 2.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct TexAddr {
    /// SRC_ADDR, 6:0.
    #[bits(7)]
    pub src: u8,
    /// SRC_ADDR_REL, 7.
    pub src_rel: bool,
    /// SRC_S_, T_, R_, Q_SWIZ, 15:8.
    pub src_swiz: u8,
    /// DST_ADDR, 22:16.
    #[bits(7)]
    pub dst: u8,
    /// DST_ADDR_REL, 23.
    pub dst_rel: bool,
    /// DST_R_, G_, B_, A_SWIZ, 31:24.
    pub dst_swiz: u8,
}

/// US_TEX_ADDR_DXDY: dword 3.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct TexDxdy {
    /// DX_ADDR, 6:0.
    #[bits(7)]
    pub dx: u8,
    /// DX_ADDR_REL, 7.
    pub dx_rel: bool,
    /// DX swizzle, 15:8.
    pub dx_swiz: u8,
    /// DY_ADDR, 22:16.
    #[bits(7)]
    pub dy: u8,
    /// DY_ADDR_REL, 23.
    pub dy_rel: bool,
    /// DY swizzle, 31:24.
    pub dy_swiz: u8,
}

/// US_FC_INST: dword 2.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct FcInst {
    /// OP, 2:0: JUMP, LOOP, ENDLOOP, REP, ENDREP, BREAKLOOP, BREAKREP, CONTINUE.
    #[bits(3)]
    pub op: u8,
    /// Unused, 3.
    pub low: bool,
    /// B_ELSE, 4: who is active and who a branch has left aside change places.
    pub b_else: bool,
    /// JUMP_ANY, 5.
    pub jump_any: bool,
    /// A_OP, 7:6: 0 none, 1 pop, 2 push.
    #[bits(2)]
    pub a_op: u8,
    /// JUMP_FUNC, 15:8.
    pub jump_func: u8,
    /// B_POP_CNT, 20:16.
    #[bits(5)]
    pub b_pop_cnt: u8,
    /// Unused, 23:21.
    #[bits(3)]
    pub between: u8,
    /// B_OP0, 25:24, if there is no jump: 0 none, 1 decrement, 2 increment.
    #[bits(2)]
    pub b_op0: u8,
    /// B_OP1, 27:26, if there is one.
    #[bits(2)]
    pub b_op1: u8,
    /// IGNORE_UNCOVERED, 28.
    pub ignore_uncovered: bool,
    /// Unused, 31:29.
    #[bits(3)]
    pub high: u8,
}

/// US_FC_ADDR: dword 3.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct FcAddr {
    /// BOOL_ADDR, 4:0.
    #[bits(5)]
    pub bool_addr: u8,
    /// Unused, 7:5.
    #[bits(3)]
    pub low: u8,
    /// INT_ADDR, 12:8.
    #[bits(5)]
    pub int_addr: u8,
    /// Unused, 15:13.
    #[bits(3)]
    pub between: u8,
    /// JUMP_ADDR, 24:16.
    #[bits(9)]
    pub jump_addr: u16,
    /// Unused, 30:25.
    #[bits(6)]
    pub high: u8,
    /// JUMP_GLOBAL, 31: without US_CODE_OFFSET.
    pub jump_global: bool,
}

/// US_CODE_ADDR (START and END), US_CODE_RANGE (ADDR and SIZE - 1).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct CodeAddr {
    /// 8:0.
    #[bits(9)]
    pub low: u16,
    /// Unused, 15:9.
    #[bits(7)]
    pub between: u8,
    /// 24:16.
    #[bits(9)]
    pub high: u16,
    /// Unused, 31:25.
    #[bits(7)]
    pub rest: u8,
}

/// US_FC_INT_CONST.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct IntConst {
    /// KR, 7:0: rounds.
    pub kr: u8,
    /// KG, 15:8: the first value of aL.
    pub kg: u8,
    /// KB, 23:16: its step.
    pub kb: i8,
    /// Unused.
    pub rest: u8,
}

const_assert_eq!(size_of::<[Cmn; 6]>(), 24);
const_assert_eq!(size_of::<(Addr, RgbInst, AlphaInst, RgbaInst)>(), 16);
const_assert_eq!(size_of::<(TexInst, TexAddr, TexDxdy)>(), 12);
const_assert_eq!(size_of::<(FcInst, FcAddr, CodeAddr, IntConst)>(), 16);

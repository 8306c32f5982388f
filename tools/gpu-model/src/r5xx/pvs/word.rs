// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The words of a PVS instruction (R5xx guide §6.5.9) and of the registers that steer a program
//! (digest of 3D, §3.1, §3.4).
//!
//! The two bits of an address mode are in other places in a destination than in a source.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;
use std::mem::size_of;

/// PVS_OP_DST_OPERAND: what is done, and where the result goes.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct OpDstOperand {
    /// PVS_DST_OPCODE, 5:0.
    #[bits(6)]
    pub opcode: u8,
    /// PVS_DST_MATH_INST, 6: an operation of the math engine.
    pub math_inst: bool,
    /// PVS_DST_MACRO_INST, 7: one that takes two clocks.
    pub macro_inst: bool,
    /// PVS_DST_REG_TYPE, 11:8.
    #[bits(4)]
    pub reg_type: u8,
    /// PVS_DST_ADDR_MODE_1, 12.
    pub addr_mode_1: bool,
    /// PVS_DST_OFFSET, 19:13, in vectors.
    #[bits(7)]
    pub offset: u8,
    /// PVS_DST_WE_X, _Y, _Z, _W, 23:20.
    #[bits(4)]
    pub write_enable: u8,
    /// PVS_DST_VE_SAT, 24.
    pub ve_sat: bool,
    /// PVS_DST_ME_SAT, 25.
    pub me_sat: bool,
    /// PVS_DST_PRED_ENABLE, 26.
    pub pred_enable: bool,
    /// PVS_DST_PRED_SENSE, 27.
    pub pred_sense: bool,
    /// PVS_DST_DUAL_MATH_OP, 28.
    pub dual_math_op: bool,
    /// PVS_DST_ADDR_SEL, 30:29: the lane of A0.
    #[bits(2)]
    pub addr_sel: u8,
    /// PVS_DST_ADDR_MODE_0, 31.
    pub addr_mode_0: bool,
}

impl OpDstOperand {
    /// ADDR_MODE: 0 absolute, 1 A0, 2 the loop's index; 3 is not documented.
    pub fn addr_mode(self) -> u8 {
        u8::from(self.addr_mode_1()) << 1 | u8::from(self.addr_mode_0())
    }
}

/// PVS_SRC_OPERAND_0, 1, 2.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct SrcOperand {
    /// PVS_SRC_REG_TYPE, 1:0.
    #[bits(2)]
    pub reg_type: u8,
    /// SPARE_0, 2.
    pub spare_0: bool,
    /// PVS_SRC_ABS_XYZW, 3.
    pub abs_xyzw: bool,
    /// PVS_SRC_ADDR_MODE_0, 4.
    pub addr_mode_0: bool,
    /// PVS_SRC_OFFSET, 12:5, in vectors.
    pub offset: u8,
    /// PVS_SRC_SWIZZLE_X, 15:13.
    #[bits(3)]
    pub swizzle_x: u8,
    /// PVS_SRC_SWIZZLE_Y, 18:16.
    #[bits(3)]
    pub swizzle_y: u8,
    /// PVS_SRC_SWIZZLE_Z, 21:19.
    #[bits(3)]
    pub swizzle_z: u8,
    /// PVS_SRC_SWIZZLE_W, 24:22.
    #[bits(3)]
    pub swizzle_w: u8,
    /// PVS_SRC_MODIFIER_X, _Y, _Z, _W, 28:25: negate.
    #[bits(4)]
    pub modifier: u8,
    /// PVS_SRC_ADDR_SEL, 30:29: the lane of A0.
    #[bits(2)]
    pub addr_sel: u8,
    /// PVS_SRC_ADDR_MODE_1, 31.
    pub addr_mode_1: bool,
}

impl SrcOperand {
    /// ADDR_MODE, as [`OpDstOperand::addr_mode`].
    pub fn addr_mode(self) -> u8 {
        u8::from(self.addr_mode_1()) << 1 | u8::from(self.addr_mode_0())
    }
}

/// The math half of a dual operation, in the place of PVS_SRC_OPERAND_2.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct DualMath {
    /// PVS_SRC_REG_TYPE, 1:0.
    #[bits(2)]
    pub reg_type: u8,
    /// PVS_DST_OPCODE_MSB, 2.
    #[bits(1)]
    pub opcode_msb: u8,
    /// PVS_SRC_ABS_XYZW, 3.
    pub abs_xyzw: bool,
    /// PVS_SRC_ADDR_MODE_0, 4.
    pub addr_mode_0: bool,
    /// PVS_SRC_OFFSET, 12:5, in vectors.
    pub offset: u8,
    /// PVS_SRC_SWIZZLE_X, 15:13.
    #[bits(3)]
    pub swizzle_x: u8,
    /// PVS_SRC_SWIZZLE_Y, 18:16.
    #[bits(3)]
    pub swizzle_y: u8,
    /// DUAL_MATH_DST_OFFSET, 20:19: a vector of the alternate temporaries.
    #[bits(2)]
    pub dst_offset: u8,
    /// PVS_DST_OPCODE, 24:21, without its highest bit.
    #[bits(4)]
    pub opcode: u8,
    /// PVS_SRC_MODIFIER_X, _Y, 26:25.
    #[bits(2)]
    pub modifier: u8,
    /// PVS_DST_WE_SEL, 28:27: the one lane that is written.
    #[bits(2)]
    pub we_sel: u8,
    /// PVS_SRC_ADDR_SEL, 30:29.
    #[bits(2)]
    pub addr_sel: u8,
    /// PVS_SRC_ADDR_MODE_1, 31.
    pub addr_mode_1: bool,
}

impl DualMath {
    /// ADDR_MODE of its source, as [`OpDstOperand::addr_mode`].
    pub fn addr_mode(self) -> u8 {
        u8::from(self.addr_mode_1()) << 1 | u8::from(self.addr_mode_0())
    }

    /// The whole opcode.
    pub fn math_opcode(self) -> u8 {
        self.opcode_msb() << 4 | self.opcode()
    }
}

/// A PVS instruction, of 128 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    /// PVS_OP_DST_OPERAND, 31:0.
    pub op: OpDstOperand,
    /// PVS_SRC_OPERAND_0, 63:32.
    pub src0: SrcOperand,
    /// PVS_SRC_OPERAND_1, 95:64.
    pub src1: SrcOperand,
    /// PVS_SRC_OPERAND_2, 127:96, or the math half.
    pub src2: SrcOperand,
}

impl From<[u32; 4]> for Instruction {
    fn from(w: [u32; 4]) -> Self {
        Instruction {
            op: w[0].into(),
            src0: w[1].into(),
            src1: w[2].into(),
            src2: w[3].into(),
        }
    }
}

impl From<Instruction> for [u32; 4] {
    fn from(i: Instruction) -> Self {
        [i.op.into(), i.src0.into(), i.src1.into(), i.src2.into()]
    }
}

/// VAP_PVS_CODE_CNTL_0: what is executed. The document calls it VAP_PVS_CNTL (§6.4.14).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct CodeCntl0 {
    /// PVS_FIRST_INST, 9:0.
    #[bits(10)]
    pub first_inst: u16,
    /// PVS_XYZW_VALID_INST, 19:10: where the position is ready, for scheduling.
    #[bits(10)]
    pub xyzw_valid_inst: u16,
    /// PVS_LAST_INST, 29:20, executed as well.
    #[bits(10)]
    pub last_inst: u16,
    #[bits(2)]
    __: u8,
}

/// VAP_PVS_CONST_CNTL: which constants a program sees.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct ConstCntl {
    /// PVS_CONST_BASE_OFFSET, 7:0.
    pub base_offset: u8,
    __: u8,
    /// PVS_MAX_CONST_ADDR, 23:16.
    pub max_const_addr: u8,
    __: u8,
}

/// VAP_PVS_FLOW_CNTL_ADDRS_LW_n.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct FlowAddrsLw {
    /// ACT_ADRS, 15:0: behind this instruction it happens.
    pub act_adrs: u16,
    /// LOOP_CNT or JMP_INST, 31:16.
    pub count_or_target: u16,
}

/// VAP_PVS_FLOW_CNTL_ADDRS_UW_n.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct FlowAddrsUw {
    /// LAST_INST, 15:0, of a loop or a subroutine.
    pub last_inst: u16,
    /// RTN_INST, 31:16: where a subroutine returns to, or a loop's first instruction.
    pub rtn_inst: u16,
}

/// VAP_PVS_FLOW_CNTL_LOOP_INDEX_n.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct LoopIndex {
    /// INIT_VAL, 7:0.
    pub init_val: u8,
    /// STEP_VAL, 15:8.
    pub step_val: i8,
    #[bits(15)]
    __: u16,
    /// REPEAT_NO_FLI, 31: the index is the outer loop's.
    pub repeat_no_fli: bool,
}

const_assert_eq!(size_of::<OpDstOperand>(), 4);
const_assert_eq!(size_of::<SrcOperand>(), 4);
const_assert_eq!(size_of::<DualMath>(), 4);
const_assert_eq!(size_of::<Instruction>(), 16);
const_assert_eq!(size_of::<CodeCntl0>(), 4);
const_assert_eq!(size_of::<ConstCntl>(), 4);
const_assert_eq!(size_of::<FlowAddrsLw>(), 4);
const_assert_eq!(size_of::<FlowAddrsUw>(), 4);
const_assert_eq!(size_of::<LoopIndex>(), 4);

#[cfg(test)]
mod tests {
    use super::*;

    /// §6.5.9, "PVS Opcode & Destination Operand Description": each field by its first bit, alone.
    #[test]
    fn the_destination_has_the_printed_bits() {
        let at = |w: u32| OpDstOperand::from(w);
        assert_eq!(at(0x3f).opcode(), 63);
        assert!(at(1 << 6).math_inst() && at(1 << 7).macro_inst());
        assert_eq!(at(0xf00).reg_type(), 15);
        assert_eq!(at(1 << 12).addr_mode(), 2);
        assert_eq!(at(1 << 31).addr_mode(), 1);
        assert_eq!(at(0x7f << 13).offset(), 127);
        assert_eq!(at(0xf << 20).write_enable(), 15);
        assert!(at(1 << 24).ve_sat() && at(1 << 25).me_sat());
        assert!(at(1 << 26).pred_enable() && at(1 << 27).pred_sense());
        assert!(at(1 << 28).dual_math_op());
        assert_eq!(at(3 << 29).addr_sel(), 3);
    }

    /// §6.5.9, "PVS Source Operand Description".
    #[test]
    fn sources_have_the_printed_bits() {
        let at = |w: u32| SrcOperand::from(w);
        assert_eq!(at(3).reg_type(), 3);
        assert!(at(1 << 2).spare_0() && at(1 << 3).abs_xyzw());
        assert_eq!(at(1 << 4).addr_mode(), 1);
        assert_eq!(at(1 << 31).addr_mode(), 2);
        assert_eq!(at(0xff << 5).offset(), 255);
        assert_eq!(at(7 << 13).swizzle_x(), 7);
        assert_eq!(at(7 << 16).swizzle_y(), 7);
        assert_eq!(at(7 << 19).swizzle_z(), 7);
        assert_eq!(at(7 << 22).swizzle_w(), 7);
        assert_eq!(at(15 << 25).modifier(), 15);
        assert_eq!(at(3 << 29).addr_sel(), 3);
    }

    /// §6.5.9, "Dual Math Instruction".
    #[test]
    fn the_math_half_has_the_printed_bits() {
        let at = |w: u32| DualMath::from(w);
        assert_eq!(at(3).reg_type(), 3);
        assert_eq!(at(1 << 2).math_opcode(), 16);
        assert_eq!(at(15 << 21).math_opcode(), 15);
        assert_eq!(at(1 << 4).addr_mode(), 1);
        assert_eq!(at(1 << 31).addr_mode(), 2);
        assert_eq!(at(0xff << 5).offset(), 255);
        assert_eq!((at(7 << 13).swizzle_x(), at(7 << 16).swizzle_y()), (7, 7));
        assert_eq!(at(3 << 19).dst_offset(), 3);
        assert_eq!(at(3 << 25).modifier(), 3);
        assert_eq!(at(3 << 27).we_sel(), 3);
        assert_eq!(at(3 << 29).addr_sel(), 3);
    }

    /// Digest of 3D, §3.1, §3.4, §15.1: the loop of the flow-control example, and the first vector.
    #[test]
    fn registers_have_the_digests_bits() {
        let lw = FlowAddrsLw::from(0x00ff_0002);
        let uw = FlowAddrsUw::from(0x0003_0007);
        assert_eq!((lw.act_adrs(), lw.count_or_target()), (2, 255));
        assert_eq!((uw.last_inst(), uw.rtn_inst()), (7, 3));
        let index = LoopIndex::from(0x8000_ff10);
        assert_eq!((index.init_val(), index.step_val()), (16, -1));
        assert!(index.repeat_no_fli());
        let code = CodeCntl0::from(1 | 2 << 10 | 3 << 20);
        assert_eq!(
            (code.first_inst(), code.xyzw_valid_inst(), code.last_inst()),
            (1, 2, 3)
        );
        let constants = ConstCntl::from(0x00ff_0010);
        assert_eq!(
            (constants.base_offset(), constants.max_const_addr()),
            (16, 255)
        );
        let words = [0x00f0_0203, 0x00d1_0001, 0x0124_8001, 0x01ff_e001];
        assert_eq!(<[u32; 4]>::from(Instruction::from(words)), words);
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The operations of both engines, by the numbers of §6.5.9, and which of their sources count
//! (R5xx guide §6.5.7, §6.5.8).

/// Declares an engine's operations: number, name, sources that count (bit 0 A, 1 B, 2 C).
macro_rules! operations {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $id:ident = $n:literal, $sources:literal;)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $id = $n,)* }

        impl $name {
            /// All of them, by their opcodes.
            pub const ALL: &[$name] = &[$($name::$id,)*];

            /// The operation with an opcode; `None` where there is none.
            pub fn from_opcode(opcode: u8) -> Option<Self> {
                Self::ALL.get(usize::from(opcode)).copied()
            }

            /// Its sources: bit 0 A, 1 B, 2 C.
            pub const fn sources(self) -> u8 {
                match self { $($name::$id => $sources,)* }
            }
        }
    };
}

operations! {
    /// An operation of the vector engine (§6.5.7).
    VectorOp {
        /// VECTOR_NO_OP.
        NoOp = 0, 0b000;
        /// VE_DOT_PRODUCT.
        DotProduct = 1, 0b011;
        /// VE_MULTIPLY.
        Multiply = 2, 0b011;
        /// VE_ADD.
        Add = 3, 0b011;
        /// VE_MULTIPLY_ADD.
        MultiplyAdd = 4, 0b111;
        /// VE_DISTANCE_VECTOR.
        DistanceVector = 5, 0b011;
        /// VE_FRACTION.
        Fraction = 6, 0b001;
        /// VE_MAXIMUM.
        Maximum = 7, 0b011;
        /// VE_MINIMUM.
        Minimum = 8, 0b011;
        /// VE_SET_GREATER_THAN_EQUAL.
        SetGreaterThanEqual = 9, 0b011;
        /// VE_SET_LESS_THAN.
        SetLessThan = 10, 0b011;
        /// VE_MULTIPLYX2_ADD.
        MultiplyX2Add = 11, 0b111;
        /// VE_MULTIPLY_CLAMP.
        MultiplyClamp = 12, 0b111;
        /// VE_FLT2FIX_DX.
        Flt2FixDx = 13, 0b001;
        /// VE_FLT2FIX_DX_RND.
        Flt2FixDxRnd = 14, 0b001;
        /// VE_PRED_SET_EQ_PUSH.
        PredSetEqPush = 15, 0b011;
        /// VE_PRED_SET_GT_PUSH.
        PredSetGtPush = 16, 0b011;
        /// VE_PRED_SET_GTE_PUSH.
        PredSetGtePush = 17, 0b011;
        /// VE_PRED_SET_NEQ_PUSH.
        PredSetNeqPush = 18, 0b011;
        /// VE_COND_WRITE_EQ.
        CondWriteEq = 19, 0b011;
        /// VE_COND_WRITE_GT.
        CondWriteGt = 20, 0b011;
        /// VE_COND_WRITE_GTE.
        CondWriteGte = 21, 0b011;
        /// VE_COND_WRITE_NEQ.
        CondWriteNeq = 22, 0b011;
        /// VE_COND_MUX_EQ.
        CondMuxEq = 23, 0b111;
        /// VE_COND_MUX_GT.
        CondMuxGt = 24, 0b111;
        /// VE_COND_MUX_GTE.
        CondMuxGte = 25, 0b111;
        /// VE_SET_GREATER_THAN.
        SetGreaterThan = 26, 0b011;
        /// VE_SET_EQUAL.
        SetEqual = 27, 0b011;
        /// VE_SET_NOT_EQUAL.
        SetNotEqual = 28, 0b011;
    }
}

operations! {
    /// An operation of the math engine (§6.5.8). Of its sources only w counts: bases in A, clamps in B,
    /// powers in C. Where one scalar is all there is, A has it, as users of the chip count on; for
    /// [`MathOp::ExpBaseEFf`] the document says C.
    MathOp {
        /// MATH_NO_OP.
        NoOp = 0, 0b000;
        /// ME_EXP_BASE2_DX.
        ExpBase2Dx = 1, 0b001;
        /// ME_LOG_BASE2_DX.
        LogBase2Dx = 2, 0b001;
        /// ME_EXP_BASEE_FF.
        ExpBaseEFf = 3, 0b101;
        /// ME_LIGHT_COEFF_DX.
        LightCoeffDx = 4, 0b111;
        /// ME_POWER_FUNC_FF.
        PowerFuncFf = 5, 0b101;
        /// ME_RECIP_DX.
        RecipDx = 6, 0b001;
        /// ME_RECIP_FF.
        RecipFf = 7, 0b001;
        /// ME_RECIP_SQRT_DX.
        RecipSqrtDx = 8, 0b001;
        /// ME_RECIP_SQRT_FF.
        RecipSqrtFf = 9, 0b001;
        /// ME_MULTIPLY.
        Multiply = 10, 0b011;
        /// ME_EXP_BASE2_FULL_DX, which §6.5.8 calls ME_EXP_BASE2.
        ExpBase2FullDx = 11, 0b001;
        /// ME_LOG_BASE2_FULL_DX, which §6.5.8 calls ME_LOG_BASE2.
        LogBase2FullDx = 12, 0b001;
        /// ME_POWER_FUNC_FF_CLAMP_B.
        PowerFuncFfClampB = 13, 0b111;
        /// ME_POWER_FUNC_FF_CLAMP_B1.
        PowerFuncFfClampB1 = 14, 0b111;
        /// ME_POWER_FUNC_FF_CLAMP_01.
        PowerFuncFfClamp01 = 15, 0b101;
        /// ME_SIN.
        Sin = 16, 0b001;
        /// ME_COS.
        Cos = 17, 0b001;
        /// ME_LOG_BASE2_IEEE.
        LogBase2Ieee = 18, 0b001;
        /// ME_RECIP_IEEE.
        RecipIeee = 19, 0b001;
        /// ME_RECIP_SQRT_IEEE.
        RecipSqrtIeee = 20, 0b001;
        /// ME_PRED_SET_EQ.
        PredSetEq = 21, 0b001;
        /// ME_PRED_SET_GT.
        PredSetGt = 22, 0b001;
        /// ME_PRED_SET_GTE.
        PredSetGte = 23, 0b001;
        /// ME_PRED_SET_NEQ.
        PredSetNeq = 24, 0b001;
        /// ME_PRED_SET_CLR.
        PredSetClr = 25, 0b000;
        /// ME_PRED_SET_INV.
        PredSetInv = 26, 0b001;
        /// ME_PRED_SET_POP.
        PredSetPop = 27, 0b001;
        /// ME_PRED_SET_RESTORE.
        PredSetRestore = 28, 0b001;
    }
}

impl VectorOp {
    /// True for those that load A0.
    pub const fn converts(self) -> bool {
        matches!(self, VectorOp::Flt2FixDx | VectorOp::Flt2FixDxRnd)
    }

    /// True for those that set the predicate.
    pub const fn sets_predicate(self) -> bool {
        matches!(
            self,
            VectorOp::PredSetEqPush
                | VectorOp::PredSetGtPush
                | VectorOp::PredSetGtePush
                | VectorOp::PredSetNeqPush
        )
    }

    /// Lanes of a source (0 A, 1 B, 2 C) that make a difference to the lanes of `mask`.
    pub const fn lanes(self, source: usize, mask: u8) -> u8 {
        const X: u8 = 1;
        const Y: u8 = 2;
        const Z: u8 = 4;
        const W: u8 = 8;
        if self.sources() >> source & 1 == 0 {
            return 0;
        }
        match self {
            _ if self.sets_predicate() => W,
            VectorOp::DotProduct if mask != 0 => 15,
            VectorOp::MultiplyClamp if mask != 0 => X | W,
            VectorOp::DistanceVector => mask & if source == 0 { Y | Z } else { Y | W },
            _ => mask,
        }
    }
}

impl MathOp {
    /// True for those that set the predicate.
    pub const fn sets_predicate(self) -> bool {
        self as u8 >= MathOp::PredSetEq as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §6.5.9 lists 29 opcodes of either engine, 0 to 28.
    #[test]
    fn opcodes_are_the_places_in_the_lists() {
        for n in 0..29u8 {
            assert_eq!(VectorOp::from_opcode(n).map(|o| o as u8), Some(n));
            assert_eq!(MathOp::from_opcode(n).map(|o| o as u8), Some(n));
        }
        assert_eq!(
            (VectorOp::from_opcode(29), MathOp::from_opcode(29)),
            (None, None)
        );
        assert_eq!(VectorOp::ALL.len() + MathOp::ALL.len(), 58);
    }
}

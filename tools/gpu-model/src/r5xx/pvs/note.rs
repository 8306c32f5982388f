// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What a vertex program does that the document forbids or leaves open. It goes on, in the way that
//! each note says.

use crate::r5xx::notes::{Kind, Set};

/// A finding. Sections are the R5xx guide's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Note {
    /// No operation has this opcode (§6.5.9): nothing is done.
    Opcode,
    /// A macro that is none, or one of the math engine or of a dual operation (§6.5.9): a math operation is
    /// done without it, of the others nothing.
    Macro,
    /// A macro whose sources are not three different temporaries (§6.5.9): it is done all the same.
    NeedlessMacro,
    /// Three different temporaries without the macro, or in an operation that has none (§6.5.1, §6.5.7).
    ThreeTemporaries,
    /// Two different addresses of inputs, constants or alternate temporaries (§6.5.1): both are read.
    SecondAddress,
    /// Address mode 3, which is not defined: absolute.
    AddressMode,
    /// A swizzle of 6 or 7 in a lane that counts (§6.5.9): 0.
    Swizzle,
    /// A type of destination that is none (§6.5.9): nothing is written.
    DestinationType,
    /// A0 as the destination of another operation than the two that convert (§6.5.9): it stays.
    AddressRegister,
    /// A dual operation whose vector half has three sources (§6.5.6): the third is 0.
    DualSources,
    /// A dual operation whose vector half writes the alternate temporaries (§6.5.6): it does not.
    DualDestination,
    /// A dual operation whose math half has three scalars, or whose vector half is of the math engine
    /// (§6.5.6): the third scalar is the second, the other half does nothing.
    DualMath,
    /// Both halves of a dual operation set the predicate: the math engine's stays.
    BothPredicates,
    /// A source beyond a vertex's share of its memory (§6.5.1): 0.
    SourceRange,
    /// A destination beyond it: nothing is written.
    DestinationRange,
    /// A constant beyond PVS_MAX_CONST_ADDR, absolute (§6.5.1 checks relative ones): it is read.
    ConstantMax,
    /// Base and address of a constant exceed 255 (§6.4.11): it goes on at 0.
    ConstantWrap,
    /// A value for A0 beyond -256 to 255 (§6.5.1): clamped.
    AddressClamped,
    /// The loop's index outside of loops (§6.5.5): 0.
    NoLoop,
    /// ME_EXP_BASEE_FF with different A.w and C.w (§6.5.8): A.w counts, unless it is a swizzle's 0.
    ExpOperands,
    /// A loop of no rounds (§6.5.5): it is jumped over.
    LoopCount,
    /// A loop of more than 255 rounds (§6.5.5): the low byte counts.
    LoopCountWide,
    /// An address of flow control beyond 1023: its low 10 bits count.
    FlowAddress,
    /// More than eight loops and subroutines in each other (§6.5.5): the ninth is not entered.
    Nesting,
    /// The program ends inside of a loop or a subroutine.
    Unfinished,
    /// It has not ended after as many instructions as it was given.
    TimeOut,
}

/// All of them, in order.
const ALL: [Note; 26] = [
    Note::Opcode,
    Note::Macro,
    Note::NeedlessMacro,
    Note::ThreeTemporaries,
    Note::SecondAddress,
    Note::AddressMode,
    Note::Swizzle,
    Note::DestinationType,
    Note::AddressRegister,
    Note::DualSources,
    Note::DualDestination,
    Note::DualMath,
    Note::BothPredicates,
    Note::SourceRange,
    Note::DestinationRange,
    Note::ConstantMax,
    Note::ConstantWrap,
    Note::AddressClamped,
    Note::NoLoop,
    Note::ExpOperands,
    Note::LoopCount,
    Note::LoopCountWide,
    Note::FlowAddress,
    Note::Nesting,
    Note::Unfinished,
    Note::TimeOut,
];

impl Kind for Note {
    const ALL: &'static [Self] = &ALL;

    fn number(self) -> u8 {
        self as u8
    }
}

/// A set of notes.
pub type Notes = Set<Note>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_note_has_a_bit_of_its_own() {
        for (n, note) in ALL.into_iter().enumerate() {
            assert_eq!(note as usize, n);
            let one: Notes = [note].into_iter().collect();
            assert_eq!(one.iter().collect::<Vec<_>>(), [note]);
        }
    }
}

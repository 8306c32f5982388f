// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What a pixel program does that the documents forbid or leave open. It goes on, in the way that each note says.

use crate::r5xx::notes::{Kind, Set};

/// A finding. Sections are of the digest of 3D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Note {
    /// An operation of the ALU that is reserved (§9.3): 0.
    Opcode,
    /// OMOD 7, which leaves a result alone, of another operation than MIN, MAX, CMP and CND (§9.2): it does so. Of a
    /// half that has no result, as it writes nothing, nothing is said.
    Bypass,
    /// A predicate of 6 or 7 (§9.2): none.
    Predicate,
    /// A constant beyond 255, or a temporary beyond 127, by aL (§9.2): the address wraps.
    Relative,
    /// The last instruction is not OUT (§9.5): it is executed all the same.
    LastNotOut,
    /// END lies before START (§18): the program goes on at slot 0, as the guide has it (§7.2).
    Wraps,
    /// A jump out of US_CODE_RANGE (§9.1): the program ends.
    Range,
    /// More than four loops, four calls or 32 branches in each other (§9.6): the innermost is not counted.
    Nesting,
    /// A loop of no rounds (§9.6): it is jumped over.
    LoopCount,
    /// An end of a loop, a break or a return without what it ends (§9.6): nothing.
    Unpaired,
    /// A texture operation that is none (§9.4): nothing.
    Texture,
    /// The program has not ended after as many instructions as it was given (§9.6): outputs are as they are.
    TimeOut,
}

/// All of them, in order.
const ALL: [Note; 12] = [
    Note::Opcode,
    Note::Bypass,
    Note::Predicate,
    Note::Relative,
    Note::LastNotOut,
    Note::Wraps,
    Note::Range,
    Note::Nesting,
    Note::LoopCount,
    Note::Unpaired,
    Note::Texture,
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
            assert_eq!(format!("{one:?}"), format!("{{{note:?}}}"));
        }
    }
}

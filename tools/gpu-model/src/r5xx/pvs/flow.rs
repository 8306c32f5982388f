// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The flow-control unit: jumps, loops and subroutines by addresses (R5xx guide §6.5.5; digest of 3D, §3.4).
//!
//! No instruction jumps. Each of sixteen entries names an instruction after which it takes effect; loops and
//! subroutines also name a last one. Where several entries meet, ends come first, from the inside out, and then
//! beginnings, by the entries' numbers; the first jump ends that. The loop's end is checked before jumps, so that its
//! last instruction jumps out in the last round only.

use super::decode::CODE;
use super::note::{Note, Notes};
use super::word::{FlowAddrsLw, FlowAddrsUw, LoopIndex};

/// Entries.
pub const ENTRIES: usize = 16;
/// Loops and subroutines in each other (§6.5.5: "8 total").
const NESTING: usize = 8;
/// Limits of a loop's index, as of A0.
const INDEX: (i32, i32) = (-256, 255);

/// The registers of the unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowControl {
    /// VAP_PVS_FLOW_CNTL_OPC: two bits for each entry: 0 nothing, 1 jump, 2 loop, 3 subroutine.
    pub opc: u32,
    /// VAP_PVS_FLOW_CNTL_ADDRS_LW_n and _UW_n.
    pub addrs: [(FlowAddrsLw, FlowAddrsUw); ENTRIES],
    /// VAP_PVS_FLOW_CNTL_LOOP_INDEX_n.
    pub loop_index: [LoopIndex; ENTRIES],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Jump {
        target: u16,
    },
    Loop {
        count: u8,
        first: u16,
        index: LoopIndex,
    },
    Subroutine {
        target: u16,
        back: u16,
    },
}

/// An entry that does something.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u16,
    last: u16,
    what: What,
    /// What is odd about it.
    notes: Notes,
}

/// The entries of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    all: [Option<Entry>; ENTRIES],
    /// Addresses behind which something begins, a bit each.
    begins: [u64; CODE / 64],
}

impl Entries {
    pub fn new(control: &FlowControl) -> Self {
        let mut entries = Entries::default();
        for n in 0..ENTRIES {
            let (lw, uw) = control.addrs[n];
            let mut notes = Notes::NONE;
            let mut address = |v: u16| {
                notes.add_if(v >> 10 != 0, Note::FlowAddress);
                v & 0x3ff
            };
            let at = address(lw.act_adrs());
            let what = match control.opc >> (2 * n) & 3 {
                0 => continue,
                1 => What::Jump {
                    target: address(lw.count_or_target()),
                },
                2 => {
                    let first = address(uw.rtn_inst());
                    What::Loop {
                        count: lw.count_or_target() as u8,
                        first,
                        index: control.loop_index[n],
                    }
                }
                _ => What::Subroutine {
                    target: address(lw.count_or_target()),
                    back: address(uw.rtn_inst()),
                },
            };
            let last = match what {
                What::Jump { .. } => 0,
                _ => address(uw.last_inst()),
            };
            let many = matches!(what, What::Loop { .. }) && lw.count_or_target() > 255;
            notes.add_if(many, Note::LoopCountWide);
            entries.begins[usize::from(at / 64)] |= 1 << (at % 64);
            entries.all[n] = Some(Entry {
                at,
                last,
                what,
                notes,
            });
        }
        entries
    }
}

/// A loop or a subroutine that has begun.
#[derive(Clone, Copy, Debug)]
struct Frame {
    last: u16,
    what: Ends,
}

#[derive(Clone, Copy, Debug)]
enum Ends {
    Loop {
        first: u16,
        left: u8,
        step: i8,
        /// The index outside, if there is a loop.
        outside: Option<i32>,
    },
    Subroutine {
        back: u16,
    },
}

const NOTHING: Frame = Frame {
    last: 0,
    what: Ends::Subroutine { back: 0 },
};

/// Where a vertex is in a program.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    frames: [Frame; NESTING],
    depth: usize,
    /// Of the innermost loop, also inside of subroutines that it calls.
    index: Option<i32>,
    pub notes: Notes,
}

impl Flow {
    pub fn new() -> Self {
        Flow {
            frames: [NOTHING; NESTING],
            depth: 0,
            index: None,
            notes: Notes::NONE,
        }
    }

    /// The loop's index, which instructions may add to their offsets.
    pub fn index(&mut self) -> i32 {
        self.notes.add_if(self.index.is_none(), Note::NoLoop);
        self.index.unwrap_or(0)
    }

    /// Returns the successor of an instruction.
    pub fn after(&mut self, entries: &Entries, at: u16) -> Next {
        let mut at = at;
        // Loops of no rounds may lead to each other's ends in a circle.
        for _ in 0..ENTRIES {
            if !self.meets(entries, at) {
                break;
            }
            if let Some(to) = self.ends(at) {
                return Next::At(to);
            }
            match self.begins(entries, at) {
                // A loop of no rounds: its end may be another's, too.
                Next::Behind(last) if last != at => at = last,
                next => return next,
            }
        }
        Next::Behind(at)
    }

    /// True if anything begins or ends behind an instruction.
    fn meets(&self, entries: &Entries, at: u16) -> bool {
        let begins = entries.begins[usize::from(at / 64)] >> (at % 64) & 1 != 0;
        begins || (self.depth > 0 && self.frames[self.depth - 1].last == at)
    }

    /// Loops and subroutines that end here.
    fn ends(&mut self, at: u16) -> Option<u16> {
        while self.depth > 0 {
            let frame = &mut self.frames[self.depth - 1];
            if frame.last != at {
                return None;
            }
            match &mut frame.what {
                Ends::Subroutine { back } => {
                    let to = *back;
                    self.depth -= 1;
                    return Some(to);
                }
                Ends::Loop {
                    first,
                    left,
                    step,
                    outside,
                } => {
                    *left = left.saturating_sub(1);
                    if *left > 0 {
                        let next = self.index.unwrap_or(0) + i32::from(*step);
                        self.index = Some(next.clamp(INDEX.0, INDEX.1));
                        return Some(*first);
                    }
                    self.index = *outside;
                    self.depth -= 1;
                }
            }
        }
        None
    }

    /// Returns what begins after this instruction.
    fn begins(&mut self, entries: &Entries, at: u16) -> Next {
        let mut next = Next::Behind(at);
        for entry in entries.all.iter().flatten().filter(|e| e.at == at) {
            self.notes.join(entry.notes);
            match entry.what {
                What::Jump { target } => return Next::At(target),
                What::Subroutine { target, back } => {
                    if self.push(entry.last, Ends::Subroutine { back }) {
                        return Next::At(target);
                    }
                }
                What::Loop { count: 0, .. } => {
                    self.notes.add(Note::LoopCount);
                    return Next::Behind(entry.last);
                }
                What::Loop {
                    count,
                    first,
                    index,
                } => {
                    let outside = self.index;
                    let ends = Ends::Loop {
                        first,
                        left: count,
                        step: index.step_val(),
                        outside,
                    };
                    if self.push(entry.last, ends) {
                        self.index = if index.repeat_no_fli() {
                            Some(outside.unwrap_or(0))
                        } else {
                            Some(index.init_val().into())
                        };
                        next = Next::At(first);
                    }
                }
            }
        }
        next
    }

    fn push(&mut self, last: u16, what: Ends) -> bool {
        let Some(frame) = self.frames.get_mut(self.depth) else {
            self.notes.add(Note::Nesting);
            return false;
        };
        *frame = Frame { last, what };
        self.depth += 1;
        true
    }

    /// The program is over.
    pub fn end(&mut self) {
        self.notes.add_if(self.depth > 0, Note::Unfinished);
    }
}

/// Where a program goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// At an instruction.
    At(u16),
    /// Behind one, unless it is the last.
    Behind(u16),
}

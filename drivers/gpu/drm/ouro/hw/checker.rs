// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The trait of a command parser: it checks user batches before they run, on chips that do not
//! confine batches in hardware, or confine them more than necessary.
//!
//! An engine has a checker or none ([`Engine::checker`](crate::Engine::checker)). If it has one,
//! the core copies a batch once to memory that user space cannot reach, has the checker read that
//! copy, and runs the copy with privilege if it passes. Nothing is read from user memory after the
//! check, so a process cannot change a batch between check and execution.

use crate::{fence_regs::Tiling, types::GpuAddr};
use static_assertions::const_assert_eq;

/// The BO that a relocation names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its GPU address, which does not change until the batch has run.
    pub addr: GpuAddr,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its tiling, for commands that repeat it.
    pub tiling: Option<Tiling>,
}

/// Answers a checker's questions about a batch's relocations.
pub trait Resolve {
    /// Returns the BO that relocation `n` names.
    fn object(&self, n: u32) -> Option<Object>;
    /// Returns whether the stream itself says how BOs are tiled, so that the BO's tiling is
    /// ignored. (A command that needs a relocation only for its tiling needs none then.)
    fn stream_knows_tiling(&self) -> bool {
        false
    }
    /// Returns whether the batch is longer than the stream, which is the part of it that the core
    /// copied. A checker that finds no end of the batch then returns [`Verdict::Original`], since
    /// it has not seen all of it.
    fn goes_on(&self) -> bool {
        false
    }
}

/// The [`Resolve`] of a batch that was relocated in its BO: its relocations name no BO.
pub struct Placed {
    /// The answer of [`Resolve::goes_on`].
    pub goes_on: bool,
}

impl Resolve for Placed {
    fn object(&self, _: u32) -> Option<Object> {
        None
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }
}

/// A dword that has another value in the copy that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Patch {
    /// Index of the dword in the stream.
    pub at: u32,
    /// Its value in the copy.
    pub value: u32,
}

const_assert_eq!(size_of::<Patch>(), 8);

impl Patch {
    /// Returns the number of patches that are enough for a stream of `dwords` dwords. In clients'
    /// streams each has two dwords of its own: a relocation, or a packet that writes one register.
    pub const fn most(dwords: usize) -> usize {
        dwords / 2
    }
}

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Run a copy of the first dwords of the stream, with the first patches of the checker's list,
    /// from memory that user space cannot reach. Of two patches of one dword the later one counts.
    Passes {
        /// The number of dwords.
        dwords: usize,
        /// The number of patches.
        patches: usize,
    },
    /// Run the batch from its BO, without privilege: the hardware drops the commands that the batch
    /// may not use. The core refuses the batch if the chip does not confine batches, or there is no
    /// BO.
    Original {
        /// Index of the dword of the offending command, or the stream's length.
        at: usize,
        /// The rule that it broke, for the log.
        rule: &'static str,
    },
    /// Refuse the batch: the ioctl fails with `EINVAL`, and nothing runs.
    Reject {
        /// Index of the dword of the offending command, or the stream's length.
        at: usize,
        /// The rule that it broke, for the log.
        rule: &'static str,
    },
}

/// What the core does with a checked batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Run a copy with privilege.
    Copy {
        /// See [`Verdict::Passes`].
        dwords: usize,
        /// See [`Verdict::Passes`].
        patches: usize,
    },
    /// Run the batch from its BO, without privilege.
    Object,
    /// Refuse the batch because of this dword and rule.
    Refuse {
        /// See [`Verdict::Reject`].
        at: usize,
        /// See [`Verdict::Reject`].
        rule: &'static str,
    },
}

impl Verdict {
    /// Returns the verdict to run the first so many dwords unchanged.
    pub const fn unchanged(dwords: usize) -> Self {
        let patches = 0;
        Self::Passes { dwords, patches }
    }

    /// Returns the dword and the rule that decided, if the batch does not pass.
    pub const fn reason(self) -> Option<(usize, &'static str)> {
        match self {
            Verdict::Passes { .. } => None,
            Verdict::Original { at, rule } | Verdict::Reject { at, rule } => Some((at, rule)),
        }
    }

    /// Returns what to do with a batch. `confined`: the batch lies in a BO, from which it can run
    /// without privilege, and the hardware then confines it.
    pub const fn plan(self, confined: bool) -> Plan {
        match self {
            Verdict::Passes { dwords, patches } => Plan::Copy { dwords, patches },
            Verdict::Original { .. } if confined => Plan::Object,
            Verdict::Original { at, rule } | Verdict::Reject { at, rule } => {
                Plan::Refuse { at, rule }
            }
        }
    }
}

/// A command parser. Pure.
pub trait Checker: Sync {
    /// Checks `stream`, and writes to `patches`, from the first on, what differs in the copy to
    /// run: addresses, mostly. Accepts or refuses the stream as a whole. The copy may run only
    /// behind the engine's [`known_state`](crate::Engine::known_state), if it has one.
    ///
    /// A stream that needs more patches than there is room for is refused: [`Patch::most`] are
    /// enough for what clients send. A checker that never patches ignores the list, which may be
    /// empty.
    fn check(&self, stream: &[u32], objects: &dyn Resolve, patches: &mut [Patch]) -> Verdict;

    /// Returns the version of the rules, for uAPIs that report it; 0 elsewhere.
    fn version(&self) -> u8 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_confined_runs_from_its_object() {
        let at = 7;
        let original = Verdict::Original { at, rule: "r" };
        let refuse = Plan::Refuse { at, rule: "r" };
        let (dwords, patches) = (3, 2);
        let passes = Verdict::Passes { dwords, patches };
        let copy = Plan::Copy { dwords, patches };
        for (verdict, confined, plan) in [
            (original, true, Plan::Object),
            (original, false, refuse),
            (Verdict::Reject { at, rule: "r" }, true, refuse),
            (Verdict::Reject { at, rule: "r" }, false, refuse),
            (passes, true, copy),
            (passes, false, copy),
        ] {
            assert_eq!(verdict.plan(confined), plan);
            let passes = matches!(plan, Plan::Copy { .. });
            assert_eq!(verdict.reason(), (!passes).then_some((7, "r")));
        }
    }

    #[test]
    fn a_placed_batch_names_no_object() {
        assert_eq!(Placed { goes_on: false }.object(0), None);
        assert!(Placed { goes_on: true }.goes_on());
        assert!(!Placed { goes_on: false }.goes_on());
    }
}

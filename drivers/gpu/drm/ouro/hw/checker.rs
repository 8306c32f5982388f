// SPDX-License-Identifier: GPL-2.0
//! Checking what user space sent before it runs, where the chip itself does not confine it, or confines it more
//! than it has to.
//!
//! An engine has a checker or none ([`Engine::checker`](crate::Engine::checker)). Where it has one, the core copies a
//! batch once to memory that no process reaches, asks the checker about that copy, and runs it with the kernel's
//! privilege if it passes. Nothing is read from user memory after the check, so a process that writes its batch
//! meanwhile changes nothing of what runs.

use crate::{fence_regs::Tiling, types::GpuAddr};

/// What a relocation names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its address, which stays until what is checked has run.
    pub addr: GpuAddr,
    /// Bytes.
    pub bytes: u64,
    /// How it is tiled, for the commands that say so too.
    pub tiling: Option<Tiling>,
}

/// What the checker may ask about a relocation.
pub trait Resolve {
    /// The object that relocation `n` names.
    fn object(&self, n: u32) -> Option<Object>;
    /// Whether the stream says itself how objects are tiled, and what an object says of it does not count.
    /// (A command that would take a relocation for nothing but that has none then.)
    fn stream_knows_tiling(&self) -> bool {
        false
    }
    /// Whether the batch is longer than the stream, which is as much of it as the core copies. A checker that does
    /// not find the batch's end then says [`Verdict::Original`], since it has not seen all of it.
    fn goes_on(&self) -> bool {
        false
    }
}

/// No relocation names anything: of a batch that lies in an object, and was relocated there.
pub struct Placed {
    /// What [`Resolve::goes_on`] answers.
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

/// The verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Run the copy that the checker wrote: so many dwords of it.
    Copy(usize),
    /// Run the stream's first so many dwords as they are, from memory that user space does not reach. The checker
    /// wrote nothing.
    Unchanged(usize),
    /// Run the batch from the object where user space wrote it, without privilege: the chip drops the commands that
    /// the batch may not use. The core refuses it where the chip confines nobody, and where there is no object.
    Original {
        /// The dword at which the command stands that is the reason, or the stream's length.
        at: usize,
        /// The rule that it broke: a name for the log.
        rule: &'static str,
    },
    /// Refuse: user space gets `EINVAL`, and nothing runs.
    Reject {
        /// The dword at which the command stands that is the reason, or the stream's length.
        at: usize,
        /// The rule that it broke: a name for the log.
        rule: &'static str,
    },
}

/// What the core does with a batch that was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// It runs the checker's copy, so many dwords of it, with privilege.
    Patched(usize),
    /// It runs its own copy, so many dwords of it, with privilege.
    Unchanged(usize),
    /// It runs the object without privilege.
    Object,
    /// It refuses the batch: at this dword, by this rule.
    Refuse {
        /// See [`Verdict::Reject`].
        at: usize,
        /// See [`Verdict::Reject`].
        rule: &'static str,
    },
}

impl Verdict {
    /// The dword and the rule that decided, where a batch does not pass.
    pub const fn reason(self) -> Option<(usize, &'static str)> {
        match self {
            Verdict::Copy(_) | Verdict::Unchanged(_) => None,
            Verdict::Original { at, rule } | Verdict::Reject { at, rule } => Some((at, rule)),
        }
    }

    /// What becomes of a batch. `confined`: it lies in an object, from which it can run without privilege, and the
    /// chip then keeps it away from what it may not reach.
    pub const fn plan(self, confined: bool) -> Plan {
        match self {
            Verdict::Copy(len) => Plan::Patched(len),
            Verdict::Unchanged(len) => Plan::Unchanged(len),
            Verdict::Original { .. } if confined => Plan::Object,
            Verdict::Original { at, rule } | Verdict::Reject { at, rule } => {
                Plan::Refuse { at, rule }
            }
        }
    }
}

/// A checker. Pure.
pub trait Checker: Sync {
    /// Checks `stream`, and writes a copy that may run, with addresses filled in, to `out`, which is at
    /// least as long. The copy is accepted as a whole or not at all; it may only run behind the engine's
    /// [`known_state`](crate::Engine::known_state), where that has any.
    ///
    /// A checker that fills in nothing takes no notice of `out`, which may be empty, and says
    /// [`Verdict::Unchanged`].
    fn check(&self, stream: &[u32], objects: &dyn Resolve, out: &mut [u32]) -> Verdict;

    /// The version of its rules, where user space asks for one before it relies on them; 0 elsewhere.
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
        for (verdict, confined, plan) in [
            (original, true, Plan::Object),
            (original, false, refuse),
            (Verdict::Reject { at, rule: "r" }, true, refuse),
            (Verdict::Reject { at, rule: "r" }, false, refuse),
            (Verdict::Copy(3), true, Plan::Patched(3)),
            (Verdict::Copy(3), false, Plan::Patched(3)),
            (Verdict::Unchanged(3), true, Plan::Unchanged(3)),
            (Verdict::Unchanged(3), false, Plan::Unchanged(3)),
        ] {
            assert_eq!(verdict.plan(confined), plan);
            let passes = matches!(plan, Plan::Patched(_) | Plan::Unchanged(_));
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

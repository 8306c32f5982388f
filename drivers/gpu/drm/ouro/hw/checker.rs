// SPDX-License-Identifier: GPL-2.0
//! Checking what user space sent before it runs, where the chip itself does not confine it.

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
}

/// The verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Run the copy: so many dwords of it.
    Copy(usize),
    /// Run the original without privilege.
    Original,
    /// Refuse.
    Reject {
        /// The dword at which the command stands that is the reason, or the stream's length.
        at: usize,
        /// The rule that it broke: a name for the log.
        rule: &'static str,
    },
}

/// A checker. Pure.
pub trait Checker: Sync {
    /// Checks `stream`, and writes a copy that may run, with addresses filled in, to `out`, which is at
    /// least as long. The copy is accepted as a whole or not at all; it may only run behind the engine's
    /// [`known_state`](crate::Engine::known_state), where that has any.
    fn check(&self, stream: &[u32], objects: &dyn Resolve, out: &mut [u32]) -> Verdict;
}

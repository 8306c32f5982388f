// SPDX-License-Identifier: GPL-2.0
//! Checking what user space sent before it runs, where the chip itself does not confine it.

use crate::types::GpuAddr;

/// What the checker may ask about a relocation.
pub trait Resolve {
    /// Address and bytes of the object that relocation `n` names.
    fn object(&self, n: u32) -> Option<(GpuAddr, u64)>;
}

/// The verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Run the copy: so many dwords of it.
    Copy(usize),
    /// Run the original without privilege.
    Original,
    /// Refuse; the command at this dword is the reason.
    Reject(usize),
}

/// A checker. Pure.
pub trait Checker: Sync {
    /// Checks `stream`, and writes a copy that may run, with addresses filled in, to `out`.
    fn check(&self, stream: &[u32], objects: &dyn Resolve, out: &mut [u32]) -> Verdict;
}

// SPDX-License-Identifier: GPL-2.0

//! The line in the kernel log for a reset: engine, process, time, reason, and where the error state
//! is.

use core::fmt;
use ouro_hw::types::EngineId;

use super::Why;
use crate::submit::guilt::Holder;

/// The error state, as the log tells of it.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    /// There is none of this reset.
    None,
    /// That of this reset is in sysfs.
    Now,
    /// An earlier one is in sysfs, so that this one was dropped.
    Before,
}

/// A reset, as the log tells of it.
pub(super) struct Message<'a> {
    /// The engine.
    pub(super) engine: EngineId,
    /// The reason.
    pub(super) why: Why,
    /// The client whose request the engine worked on; `None` for the kernel's, or if it had none.
    pub(super) holder: Option<&'a Holder>,
    /// Milliseconds for which that request ran.
    pub(super) ran_ms: u64,
    /// The error state.
    pub(super) kept: Kept,
    /// The number n of `/sys/class/drm/card<n>`; `None` before the device is registered.
    pub(super) card: Option<u32>,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.why.is_hang() {
            "GPU hang"
        } else {
            "reset"
        };
        write!(f, "{what} on {}: ", self.engine)?;
        if let Some(holder) = self.holder {
            kernel::fmt::Display::fmt(holder, f)?;
            write!(f, " ran for {} ms, ", self.ran_ms)?;
        }
        f.write_str(self.why.text())?;
        let (Some(card), Kept::Now | Kept::Before) = (self.card, self.kept) else {
            return Ok(());
        };
        f.write_str(match self.kept {
            Kept::Before => "; an earlier error state is in ",
            _ => "; error state: ",
        })?;
        write!(f, "/sys/class/drm/card{card}/error")
    }
}

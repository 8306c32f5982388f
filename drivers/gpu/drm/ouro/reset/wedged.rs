// SPDX-License-Identifier: GPL-2.0

//! The cause for which a device is wedged, for the line in the kernel log.

use core::fmt;

use kernel::prelude::*;

/// The cause.
#[derive(Clone, Copy)]
pub(super) enum Cause {
    /// A hang, while resets are disabled.
    Disabled,
    /// Every reset failed; the log has the error of each.
    Failed,
    /// The kernel's copy or clear of a BO has hung: the BO has lost its contents.
    Move,
    /// The device does not wake up.
    Asleep(Error),
    /// Registers read all ones.
    Gone,
    /// Root cancelled all requests by debugfs.
    Cancelled,
    /// The device did not come back from a system sleep.
    Resume(Error),
}

impl Cause {
    /// Returns whether nothing is wrong with the device.
    pub(super) fn is_wanted(self) -> bool {
        matches!(self, Self::Cancelled)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("resets are disabled in debugfs (reset=0)"),
            Self::Failed => write!(f, "{} resets failed", super::act::TRIES),
            Self::Move => f.write_str("a copy or clear of a BO hung, its contents are lost"),
            Self::Asleep(e) => write!(f, "it does not wake up ({e:?})"),
            Self::Gone => f.write_str("registers read all ones, the device was removed or lost"),
            Self::Cancelled => f.write_str("requests are cancelled through debugfs"),
            Self::Resume(e) => write!(f, "resume failed ({e:?})"),
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! What user space says, turned into what the core does. One folder for each interface.
//!
//! Every argument is hostile: it is copied once, checked whole (unknown flags and padding that is
//! not zero are refused, as the interface's header documents it), and then turned into the core's
//! own types.

pub(crate) mod dumb;
pub(crate) mod i915;
pub(crate) mod ouro;
pub(crate) mod radeon;

use kernel::prelude::*;

/// `EINVAL` unless it is true.
fn require(condition: bool) -> Result {
    if condition {
        Ok(())
    } else {
        Err(EINVAL)
    }
}

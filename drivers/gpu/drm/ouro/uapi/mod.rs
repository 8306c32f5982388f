// SPDX-License-Identifier: GPL-2.0

//! The uAPIs: ioctl arguments are checked and turned into the core's types. One folder for each
//! interface.
//!
//! Every argument is hostile: it is copied once, checked completely (unknown flags and padding that
//! is not zero are refused, as the interface's header documents), and then turned into the core's
//! own types.

pub(crate) mod dumb;
pub(crate) mod i915;
pub(crate) mod ouro;
pub(crate) mod radeon;

use kernel::prelude::*;

/// Returns `EINVAL` unless `condition` holds.
fn require(condition: bool) -> Result {
    if condition {
        Ok(())
    } else {
        Err(EINVAL)
    }
}

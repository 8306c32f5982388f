// SPDX-License-Identifier: GPL-2.0

//! `GET_RESET_STATS`: the resets that affected a context.

use kernel::prelude::*;
use ouro_kernel::task;
use ouro_uapi::i915 as abi;

use super::require;
use crate::device::{Device, DrmFile};

/// `GET_RESET_STATS` returns how many batches of a context hung (`batch_active`), or were
/// interrupted by the reset for another one (`batch_pending`); `reset_count` is zero without
/// `CAP_SYS_ADMIN`. `flags` and `pad` must be zero.
///
/// Errors: `EINVAL` for flags or padding, `ENOENT` for an unknown context.
pub(super) fn stats(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_reset_stats) -> Result {
    require(arg.flags == 0 && arg.pad == 0)?;
    let client = file.inner();
    let context = client.context(arg.ctx_id)?;
    // Other clients' hangs are visible to privileged callers only.
    arg.reset_count = if task::capable(task::Capability::SysAdmin) {
        client.gpu().recovery().resets() as u32
    } else {
        0
    };
    arg.batch_active = context.guilt().active();
    arg.batch_pending = context.guilt().pending();
    Ok(())
}

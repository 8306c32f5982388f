// SPDX-License-Identifier: GPL-2.0

//! Chains of `struct i915_user_extension`.

use kernel::prelude::*;
use ouro_kernel::uaccess;
use ouro_uapi::i915 as abi;

use super::require;

/// Most extensions in a chain. A longer chain is a loop.
const MAX_CHAIN: usize = 32;

/// Calls `each` with the name and the address of each extension, in order.
///
/// Errors: `EFAULT`; `EINVAL` for an extension with flags or reserved fields that are not zero;
/// `E2BIG` for too many; those of `each`.
pub(super) fn walk(first: u64, mut each: impl FnMut(u32, u64) -> Result) -> Result {
    let mut next = first;
    for _ in 0..MAX_CHAIN {
        if next == 0 {
            return Ok(());
        }
        let base: abi::i915_user_extension = uaccess::read(next)?;
        require(base.flags == 0 && base.rsvd == [0; 4])?;
        each(base.name, next)?;
        next = base.next_extension;
    }
    if next == 0 {
        Ok(())
    } else {
        Err(E2BIG)
    }
}

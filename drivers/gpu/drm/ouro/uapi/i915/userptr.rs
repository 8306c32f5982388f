// SPDX-License-Identifier: GPL-2.0

//! `USERPTR`: BOs of the calling process's memory.

use kernel::prelude::*;
use ouro_hw::types::PAGE_SIZE;
use ouro_kernel::{uaccess, userptr as kernel_userptr};
use ouro_uapi::i915 as abi;

use super::require;
use crate::{
    device::{Device, DrmFile},
    gem::{bo, userptr},
};

/// `GEM_USERPTR` creates a BO of the calling process's memory: `user_size` bytes at `user_ptr`,
/// both whole pages. With `PROBE` the memory must be mapped. Returns `handle`.
///
/// Errors: `ENODEV` on a device that does not snoop, and for `READ_ONLY` and `UNSYNCHRONIZED`;
/// `EINVAL` for an unknown flag, a size of zero, and addresses or sizes that are not whole pages;
/// `E2BIG` for more than [`bo::MAX_SIZE`]; `EFAULT` for a range that cannot be user memory, and
/// with `PROBE` for one that is not mapped; `ENOMEM`.
pub(super) fn userptr(dev: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_userptr) -> Result {
    const FLAGS: u32 =
        abi::I915_USERPTR_READ_ONLY | abi::I915_USERPTR_PROBE | abi::I915_USERPTR_UNSYNCHRONIZED;
    if !file.gpu().coherence().snoops() {
        // The process does not know when to flush its caches.
        return Err(ENODEV);
    }
    require(arg.flags & !FLAGS == 0)?;
    if arg.user_size > bo::MAX_SIZE {
        return Err(E2BIG);
    }
    require(arg.user_size != 0)?;
    require((arg.user_ptr | arg.user_size) % u64::from(PAGE_SIZE) == 0)?;
    uaccess::check(arg.user_ptr, arg.user_size as usize)?;
    // No chip here can protect pages from batches, and pages are never used without an MMU
    // notifier.
    if arg.flags & (abi::I915_USERPTR_READ_ONLY | abi::I915_USERPTR_UNSYNCHRONIZED) != 0 {
        return Err(ENODEV);
    }
    if arg.flags & abi::I915_USERPTR_PROBE != 0 {
        kernel_userptr::probe(arg.user_ptr, arg.user_size as usize)?;
    }
    let object = userptr::create(dev, arg.user_ptr, arg.user_size)?;
    arg.handle = object.create_handle(file)?;
    Ok(())
}

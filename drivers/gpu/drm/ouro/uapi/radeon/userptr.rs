// SPDX-License-Identifier: GPL-2.0

//! `USERPTR`: an object that is memory of the calling process.

use kernel::prelude::*;
use ouro_hw::types::PAGE_SIZE;
use ouro_kernel::{uaccess, userptr as kernel_userptr};
use ouro_uapi::radeon as abi;

use super::{domain, require};
use crate::{
    device::{Device, DrmFile},
    gem::userptr,
};

/// `GEM_USERPTR` creates an object that is memory of the calling process.
///
/// Errors: `EINVAL` for unknown flags, for what is not of whole pages, and for `READONLY`, which no
/// table of these chips protects; `EACCES` without `ANONONLY` and `REGISTER`, by which user space
/// finds out that there is this ioctl; `EFAULT`, `ENOMEM`.
pub(super) fn userptr(
    dev: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_radeon_gem_userptr,
) -> Result {
    const NEEDED: u32 = abi::RADEON_GEM_USERPTR_ANONONLY | abi::RADEON_GEM_USERPTR_REGISTER;
    const FLAGS: u32 = NEEDED | abi::RADEON_GEM_USERPTR_READONLY | abi::RADEON_GEM_USERPTR_VALIDATE;
    require((arg.addr | arg.size) % u64::from(PAGE_SIZE) == 0)?;
    require(arg.flags & !FLAGS == 0)?;
    require(arg.flags & abi::RADEON_GEM_USERPTR_READONLY == 0)?;
    if arg.flags & NEEDED != NEEDED {
        return Err(EACCES);
    }
    require(arg.size != 0)?;
    if arg.size > dev.gpu().space().size() {
        return Err(ENOMEM);
    }
    uaccess::check(arg.addr, arg.size as usize)?;
    if arg.flags & abi::RADEON_GEM_USERPTR_VALIDATE != 0 {
        kernel_userptr::probe(arg.addr, arg.size as usize)?;
    }
    let object = userptr::create(dev, arg.addr, arg.size)?;
    object.notes().set_domain(domain::GTT);
    arg.handle = object.create_handle(file)?;
    Ok(())
}

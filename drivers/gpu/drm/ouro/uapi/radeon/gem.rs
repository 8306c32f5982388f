// SPDX-License-Identifier: GPL-2.0

//! BOs: creation, CPU access, waiting.

use kernel::{prelude::*, sync::aref::ARef};
use ouro_kernel::{
    resv::{HasResv, Usage},
    time,
    wait::{Interruptible, Waited},
};
use ouro_uapi::radeon as abi;

use super::{
    domain::{self, ALL, CPU},
    require,
};
use crate::{
    device::{Device, DrmFile},
    gem::{
        bo::{self, kind},
        Object,
    },
};

/// Most milliseconds that one call waits. User space calls again.
const WAIT_MS: u32 = 30_000;

fn lookup(file: &DrmFile, handle: u32) -> Result<ARef<Object>> {
    Object::lookup(file, handle)
}

/// `GEM_INFO` returns the sizes of the GART and of the VRAM, and how much VRAM the CPU sees. All
/// fields are output.
///
/// Errors: none of its own.
pub(super) fn info(_: &Device, file: &DrmFile, arg: &mut abi::drm_radeon_gem_info) -> Result {
    let gpu = file.gpu();
    let vram = domain::vram(gpu).map(|(_, region)| region);
    *arg = abi::drm_radeon_gem_info {
        gart_size: gpu.space().size(),
        vram_size: vram.map_or(0, |r| r.size()),
        vram_visible: vram.map_or(0, |r| r.visible()),
    };
    Ok(())
}

/// `GEM_CREATE` creates a BO in one of the domains of `initial_domain`. `size` is rounded up to
/// whole pages; `alignment` is zero or a power of two. Returns `handle`.
///
/// Errors: `EINVAL` for unknown domains or flags, a size of zero, or an invalid alignment;
/// `ENOMEM`, also for a size beyond the GART's; `ENFILE`.
pub(super) fn create(dev: &Device, file: &DrmFile, arg: &mut abi::drm_radeon_gem_create) -> Result {
    const FLAGS: u32 = abi::RADEON_GEM_NO_BACKING_STORE
        | abi::RADEON_GEM_GTT_UC
        | abi::RADEON_GEM_GTT_WC
        | abi::RADEON_GEM_CPU_ACCESS
        | abi::RADEON_GEM_NO_CPU_ACCESS;
    let gpu = dev.gpu();
    require(arg.flags & !FLAGS == 0)?;
    require(arg.initial_domain & !ALL == 0)?;
    let align = arg.alignment.max(1);
    require(align.is_power_of_two() && align <= gpu.space().size())?;
    if arg.size > gpu.space().size() {
        return Err(ENOMEM);
    }
    let placements = match arg.flags & abi::RADEON_GEM_NO_CPU_ACCESS {
        0 => domain::placements(gpu, arg.initial_domain),
        _ => domain::placements(gpu, arg.initial_domain).out_of_sight(),
    };
    let object = bo::create(dev, arg.size, align, placements)?;
    object.notes().set_domain(arg.initial_domain);
    object.notes().set_flags(arg.flags);
    arg.handle = object.create_handle(file)?;
    Ok(())
}

/// `GEM_MMAP` returns in `addr_ptr` the `mmap` offset of a BO. The flags of its creation select the
/// caching of the mapping; a BO that may be in VRAM is write-combined.
///
/// Errors: `EPERM` for a userptr, which the process can access itself; `ENOENT`.
pub(super) fn mmap(_: &Device, file: &DrmFile, arg: &mut abi::drm_radeon_gem_mmap) -> Result {
    let object = lookup(file, arg.handle)?;
    if object.user().is_some() {
        return Err(EPERM);
    }
    // A mapping through the BAR is not cached, so mappings never are, wherever the BO is now.
    let moves = object.placements().iter().any(|n| n != domain::SYSTEM);
    let flags = object.notes().flags();
    let kind = if moves {
        kind::WRITE_COMBINED
    } else if flags & abi::RADEON_GEM_GTT_UC != 0 {
        kind::UNCACHED
    } else if flags & abi::RADEON_GEM_GTT_WC != 0 {
        kind::WRITE_COMBINED
    } else {
        kind::CACHED
    };
    arg.addr_ptr = object.mmap_offset(kind)?;
    Ok(())
}

/// Waits until a BO is idle. Errors: `EBUSY` after [`WAIT_MS`], `ERESTARTSYS`.
fn wait(object: &Object) -> Result {
    let limit = time::ms(WAIT_MS);
    match object.resv().wait(Usage::Read, Interruptible::Yes, limit)? {
        Waited::Done(_) => Ok(()),
        Waited::TimedOut => Err(EBUSY),
    }
}

/// `GEM_SET_DOMAIN` waits until the CPU may use a BO, if the domain is CPU (the write domain if
/// there is one, otherwise the read domains). Other domains have no effect here: the next batch
/// names the one that it wants.
///
/// Errors: `EINVAL` for unknown domains, `ENOENT`; those of [`wait_idle`].
pub(super) fn set_domain(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_radeon_gem_set_domain,
) -> Result {
    require((arg.read_domains | arg.write_domain) & !ALL == 0)?;
    let object = lookup(file, arg.handle)?;
    let domain = match arg.write_domain {
        0 => arg.read_domains,
        written => written,
    };
    if domain == CPU {
        wait(&object)?;
    }
    Ok(())
}

/// `GEM_WAIT_IDLE` waits until the GPU does not use a BO any more.
///
/// Errors: `ENOENT`, `EBUSY` after thirty seconds, `ERESTARTSYS`.
pub(super) fn wait_idle(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_radeon_gem_wait_idle,
) -> Result {
    wait(&*lookup(file, arg.handle)?)
}

/// `GEM_BUSY` returns in `domain` the domain of a BO, and fails while the GPU uses the BO.
///
/// Errors: `EBUSY` if the GPU uses the BO (`domain` is valid nevertheless), `ENOENT`.
pub(super) fn busy(_: &Device, file: &DrmFile, arg: &mut abi::drm_radeon_gem_busy) -> Result {
    let object = lookup(file, arg.handle)?;
    arg.domain = domain::of(&object);
    if object.resv().test_signaled(Usage::Read) {
        Ok(())
    } else {
        Err(EBUSY)
    }
}

/// `GEM_OP` reads (`GET_INITIAL_DOMAIN`) or writes (`SET_INITIAL_DOMAIN`) the initial domain of a
/// BO in `value`.
///
/// Errors: `ENOENT`, `EPERM` for a userptr, `EINVAL` for an unknown operation or domain.
pub(super) fn op(_: &Device, file: &DrmFile, arg: &mut abi::drm_radeon_gem_op) -> Result {
    let object = lookup(file, arg.handle)?;
    if object.user().is_some() {
        return Err(EPERM);
    }
    match arg.op {
        abi::RADEON_GEM_OP_GET_INITIAL_DOMAIN => arg.value = object.notes().domain().into(),
        abi::RADEON_GEM_OP_SET_INITIAL_DOMAIN => {
            let domain = u32::try_from(arg.value).map_err(|_| EINVAL)?;
            require(domain & !ALL == 0)?;
            object.notes().set_domain(domain);
        }
        _ => return Err(EINVAL),
    }
    Ok(())
}

// SPDX-License-Identifier: GPL-2.0

//! Creation of BOs, with and without a list of regions.

use kernel::prelude::*;
use ouro_kernel::uaccess;
use ouro_uapi::i915 as abi;

use super::require;
use crate::{
    device::{Device, DrmFile},
    gem::{
        bo,
        region::{self, Kind, Placements},
    },
    gpu::Gpu,
};

/// Most extensions in a chain: more than there are. A longer chain is a loop.
const MAX_CHAIN: usize = 8;

/// `GEM_CREATE` creates a BO in system memory. `size` is rounded up to whole pages, and returned
/// so; `handle` is returned.
///
/// Errors: `EINVAL` for a size of zero, `E2BIG` for more than [`bo::MAX_SIZE`], `ENFILE`, `ENOMEM`.
pub(super) fn create(dev: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_create) -> Result {
    let object = bo::create(dev, arg.size, 1, Placements::system())?;
    arg.handle = object.create_handle(file)?;
    arg.size = object.bytes();
    arg.pad = 0;
    Ok(())
}

/// `GEM_CREATE_EXT` creates a BO as [`create`] does; the extension `MEMORY_REGIONS` lists the
/// regions where it may be, the preferred one first. The flag `NEEDS_CPU_ACCESS` demands a list
/// with VRAM and system memory. On cards with VRAM, a BO may always be moved to system memory.
///
/// Errors: `EINVAL` for an unknown flag, extension or region, for an extension or region that is
/// given twice, and for `NEEDS_CPU_ACCESS` without both kinds of memory; `E2BIG` for too many
/// extensions; `EFAULT`; `ENODEV` for protected contents and PAT indices, which no chip here has;
/// those of [`create`].
pub(super) fn create_ext(
    dev: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_create_ext,
) -> Result {
    require(arg.flags & !abi::I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS == 0)?;
    let gpu = dev.gpu();
    let mut placements = None;
    let mut next = arg.extensions;
    for _ in 0..MAX_CHAIN {
        if next == 0 {
            break;
        }
        let base: abi::i915_user_extension = uaccess::read(next)?;
        require(base.flags == 0 && base.rsvd == [0; 4])?;
        match base.name {
            abi::I915_GEM_CREATE_EXT_MEMORY_REGIONS => {
                // A second list would be ambiguous.
                require(placements.is_none())?;
                placements = Some(memory_regions(gpu, uaccess::read(next)?)?);
            }
            abi::I915_GEM_CREATE_EXT_PROTECTED_CONTENT => {
                let ext: ProtectedContent = uaccess::read(next)?;
                let flags = ext
                    .get(size_of::<abi::i915_user_extension>() / 4)
                    .copied()
                    .unwrap_or(0);
                require(flags == 0)?;
                return Err(ENODEV);
            }
            abi::I915_GEM_CREATE_EXT_SET_PAT => return Err(ENODEV),
            _ => return Err(EINVAL),
        }
        next = base.next_extension;
    }
    if next != 0 {
        return Err(E2BIG);
    }
    let mut placements = placements.unwrap_or(Placements::system());
    if arg.flags & abi::I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS != 0 {
        let has = |kind| {
            placements
                .iter()
                .any(|i| gpu.regions().get(i).is_some_and(|r| r.kind() == kind))
        };
        require(has(Kind::Local) && has(Kind::System))?;
    }
    if gpu.is_discrete() {
        // When VRAM is full, or while the device sleeps.
        if placements.push(region::SYSTEM) {
            placements = placements.compressible();
        }
        if arg.flags & abi::I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS == 0 {
            placements = placements.out_of_sight();
        }
    }
    let object = bo::create(dev, arg.size, 1, placements)?;
    arg.handle = object.create_handle(file)?;
    arg.size = object.bytes();
    Ok(())
}

/// `drm_i915_gem_create_ext_protected_content` as dwords: bindgen's type has padding.
type ProtectedContent =
    [u32; size_of::<abi::drm_i915_gem_create_ext_protected_content>() / size_of::<u32>()];

/// Returns the regions that user space lists, in its order.
fn memory_regions(
    gpu: &Gpu,
    ext: abi::drm_i915_gem_create_ext_memory_regions,
) -> Result<Placements> {
    require(ext.pad == 0)?;
    let count = ext.num_regions as usize;
    require(count != 0 && count <= region::MAX)?;
    let list: KVVec<abi::drm_i915_gem_memory_class_instance> =
        uaccess::read_array(ext.regions, count)?;
    let mut placements = Placements::none();
    for wanted in list.iter() {
        let kind = match u32::from(wanted.memory_class) {
            abi::drm_i915_gem_memory_class_I915_MEMORY_CLASS_SYSTEM => Kind::System,
            abi::drm_i915_gem_memory_class_I915_MEMORY_CLASS_DEVICE => Kind::Local,
            _ => return Err(EINVAL),
        };
        let index = gpu
            .regions()
            .iter()
            .position(|r| r.kind() == kind && r.instance() == wanted.memory_instance)
            .ok_or(EINVAL)?;
        require(placements.push(index))?;
    }
    Ok(placements)
}

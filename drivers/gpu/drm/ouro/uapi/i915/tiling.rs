// SPDX-License-Identifier: GPL-2.0

//! Tiling of BOs, for the CPU's view through the aperture. The GPU's commands specify tiling
//! themselves.

use kernel::prelude::*;
use ouro_hw::{
    fence_regs::{FenceRegion, Tiling},
    generation::{Swizzle, Topology},
    types::{GgttAddr, PAGE_SIZE},
    FenceRegs,
};
use ouro_uapi::i915 as abi;

use crate::{
    device::{Device, DrmFile},
    gem::{bind, view::Tiled, Object},
};

/// Returns the fences of the chip. Errors: `EOPNOTSUPP` if there are none.
fn fences(topology: &Topology) -> Result<&'static dyn FenceRegs> {
    topology.fences.ok_or(EOPNOTSUPP)
}

/// Returns the address bits that the chip swizzles into bit 6 of a BO's offsets, as far as they are
/// bits of the offset. User space fails if this is unknown; [`physical_swizzle`] reports that
/// instead.
fn swizzle(topology: &Topology, tiling: Option<Tiling>) -> u32 {
    let Some(tiling @ (Tiling::X | Tiling::Y)) = tiling else {
        return abi::I915_BIT_6_SWIZZLE_NONE;
    };
    match (topology.swizzle, tiling) {
        (Swizzle::None | Swizzle::Unknown, _) => abi::I915_BIT_6_SWIZZLE_NONE,
        (Swizzle::Bit9_10 | Swizzle::Bit9_10_17, Tiling::X) => abi::I915_BIT_6_SWIZZLE_9_10,
        (Swizzle::Bit9_10 | Swizzle::Bit9_10_17, _) => abi::I915_BIT_6_SWIZZLE_9,
        (Swizzle::Bit9_10_11, Tiling::X) => abi::I915_BIT_6_SWIZZLE_9_10_11,
        (Swizzle::Bit9_10_11, _) => abi::I915_BIT_6_SWIZZLE_9_11,
    }
}

/// Returns the swizzle for access to the memory itself; unknown if it depends on a page's physical
/// address, which the uAPI hides from user space.
fn physical_swizzle(topology: &Topology, tiling: Option<Tiling>) -> u32 {
    match tiling {
        Some(_) if topology.swizzle.depends_on_memory() => abi::I915_BIT_6_SWIZZLE_UNKNOWN,
        _ => swizzle(topology, tiling),
    }
}

fn mode(tiling: Option<Tiling>) -> u32 {
    match tiling {
        Some(Tiling::X) => abi::I915_TILING_X,
        Some(Tiling::Y) => abi::I915_TILING_Y,
        // The uAPI has no other tilings.
        _ => abi::I915_TILING_NONE,
    }
}

/// Returns the tiling that user space wants, if a fence of the chip can undo it. Errors: `EINVAL`.
fn wanted(fences: &dyn FenceRegs, mode: u32, stride: u32) -> Result<Option<Tiled>> {
    let tiling = match mode {
        abi::I915_TILING_NONE => return Ok(None),
        abi::I915_TILING_X => Tiling::X,
        abi::I915_TILING_Y => Tiling::Y,
        _ => return Err(EINVAL),
    };
    // The address does not matter for the check.
    let region = FenceRegion {
        start: GgttAddr(0),
        len: PAGE_SIZE,
        stride,
        tiling,
    };
    fences.check(&region).map_err(|_| EINVAL)?;
    Ok(Some(Tiled { tiling, stride }))
}

/// `GEM_SET_TILING` sets `tiling_mode` and `stride` of a BO, which a fence undoes in the aperture.
/// Returns `swizzle_mode`.
///
/// Errors: `EOPNOTSUPP` on a chip without fences; `ENOENT`; `ENXIO` for a userptr; `EINVAL` for an
/// unknown mode, and for a stride that no fence supports.
pub(super) fn set_tiling(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_set_tiling,
) -> Result {
    let topology = file.gpu().hardware().topology();
    let fences = fences(topology)?;
    let object = Object::lookup(file, arg.handle)?;
    if object.user().is_some() {
        return Err(ENXIO);
    }
    let tiled = wanted(fences, arg.tiling_mode, arg.stride)?;
    bind::set_tiled(&object, tiled);
    let tiling = tiled.map(|t| t.tiling);
    arg.tiling_mode = mode(tiling);
    arg.stride = tiled.map_or(0, |t| t.stride);
    arg.swizzle_mode = swizzle(topology, tiling);
    Ok(())
}

/// `GEM_GET_TILING` returns the tiling of a BO, the swizzle of its offsets, and the swizzle that a
/// program must undo if it maps the memory itself: unknown, if that depends on physical addresses.
///
/// Errors: `EOPNOTSUPP` on a chip without fences, `ENOENT`.
pub(super) fn get_tiling(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_get_tiling,
) -> Result {
    let topology = file.gpu().hardware().topology();
    fences(topology)?;
    let object = Object::lookup(file, arg.handle)?;
    let tiling = object.tiled().map(|t| t.tiling);
    arg.tiling_mode = mode(tiling);
    arg.swizzle_mode = swizzle(topology, tiling);
    arg.phys_swizzle_mode = physical_swizzle(topology, tiling);
    Ok(())
}

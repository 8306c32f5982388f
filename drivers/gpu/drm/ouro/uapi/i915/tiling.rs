// SPDX-License-Identifier: GPL-2.0

//! Tiling: how the bytes of an object are ordered, for those who look through the aperture. The GPU
//! is told by each command.

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

/// The fences of the chip. Without them there is no tiling to speak of.
fn fences(topology: &Topology) -> Result<&'static dyn FenceRegs> {
    topology.fences.ok_or(EOPNOTSUPP)
}

/// Which address bits the chip mixes into bit 6 of such an object, as far as they are bits of its own offsets.
/// Programs give up where they are told that nobody knows: that is for [`physical_swizzle`] to say.
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

/// Which bits they are for who looks at the memory itself. Where one of them is of the page's address in memory,
/// nobody can tell a program: the interface keeps that from it.
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
        // Others are no tilings of this interface.
        _ => abi::I915_TILING_NONE,
    }
}

/// What is asked for, if a fence of the chip can undo it.
fn wanted(fences: &dyn FenceRegs, mode: u32, stride: u32) -> Result<Option<Tiled>> {
    let tiling = match mode {
        abi::I915_TILING_NONE => return Ok(None),
        abi::I915_TILING_X => Tiling::X,
        abi::I915_TILING_Y => Tiling::Y,
        _ => return Err(EINVAL),
    };
    // Where it will be does not matter to its stride.
    let region = FenceRegion {
        start: GgttAddr(0),
        len: PAGE_SIZE,
        stride,
        tiling,
    };
    fences.check(&region).map_err(|_| EINVAL)?;
    Ok(Some(Tiled { tiling, stride }))
}

/// `GEM_SET_TILING` sets the tiling and the stride with which a detiling fence shows an object in
/// the aperture.
///
/// Errors: `EOPNOTSUPP` on a chip without fences; `ENOENT`; `ENXIO` for memory of a process;
/// `EINVAL` for an unknown mode, and for a stride that no fence can undo.
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

/// `GEM_GET_TILING` returns the tiling of an object, which address bits the chip mixes into bit 6 of it, and which
/// of them a program must undo that maps the memory itself: unknown, where these are bits of its address in memory.
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

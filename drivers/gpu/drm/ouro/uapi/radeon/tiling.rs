// SPDX-License-Identifier: GPL-2.0

//! Tiling: how the bytes of an object are ordered. It is kept for whoever shares the object, and for
//! streams that do not say it themselves.

use kernel::prelude::*;
use ouro_hw::{
    fence_regs::{FenceRegion, Tiling},
    generation::Topology,
    types::{GgttAddr, PAGE_SIZE},
};
use ouro_uapi::radeon as abi;

use super::require;
use crate::{
    device::{Device, DrmFile},
    gem::{bind, view::Tiled, Object},
};

/// What there is on these chips.
const FLAGS: u32 = abi::RADEON_TILING_MACRO
    | abi::RADEON_TILING_MICRO
    | abi::RADEON_TILING_SWAP_16BIT
    | abi::RADEON_TILING_SWAP_32BIT
    | abi::RADEON_TILING_SURFACE
    | abi::RADEON_TILING_MICRO_SQUARE;

/// Macro tiles of blocks.
const BOTH: u32 = abi::RADEON_TILING_MACRO | abi::RADEON_TILING_MICRO;
/// For machines with another order of bytes.
const SWAPS: u32 = abi::RADEON_TILING_SWAP_16BIT | abi::RADEON_TILING_SWAP_32BIT;

/// What a checker wants to know.
pub(super) fn of(object: &Object) -> Option<Tiling> {
    let flags = object.notes().tiling();
    let macros = flags & abi::RADEON_TILING_MACRO != 0;
    let micro = flags & abi::RADEON_TILING_MICRO != 0;
    let square = flags & abi::RADEON_TILING_MICRO_SQUARE != 0;
    match (macros, micro, square) {
        (false, false, false) => None,
        (true, false, false) => Some(Tiling::Macro),
        (false, true, false) => Some(Tiling::Micro),
        (true, true, false) => Some(Tiling::MacroMicro),
        (false, _, true) => Some(Tiling::Square),
        (true, _, true) => Some(Tiling::MacroSquare),
    }
}

/// How the CPU is to see it in the device's own memory: as rows, if it asks for that and a surface of the chip
/// can do it; else as it is.
fn seen(topology: &Topology, arg: &abi::drm_radeon_gem_set_tiling) -> Option<Tiled> {
    let tiling = match arg.tiling_flags & !(abi::RADEON_TILING_SURFACE | SWAPS) {
        _ if arg.tiling_flags & abi::RADEON_TILING_SURFACE == 0 => return None,
        abi::RADEON_TILING_MACRO => Tiling::Macro,
        abi::RADEON_TILING_MICRO => Tiling::Micro,
        BOTH => Tiling::MacroMicro,
        _ => return None,
    };
    let stride = arg.pitch;
    // Where it will be does not matter.
    let region = FenceRegion {
        start: GgttAddr(0),
        len: PAGE_SIZE,
        stride,
        tiling,
    };
    topology.fences?.check(&region).ok()?;
    Some(Tiled { tiling, stride })
}

/// `GEM_SET_TILING` sets the tiling and the pitch of an object.
///
/// Errors: `EINVAL` for flags that these chips do not have, `ENOENT`.
pub(super) fn set_tiling(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_radeon_gem_set_tiling,
) -> Result {
    require(arg.tiling_flags & !FLAGS == 0)?;
    let object = Object::lookup(file, arg.handle)?;
    object.notes().set_tiling(arg.tiling_flags, arg.pitch);
    bind::set_tiled(&object, seen(file.gpu().hardware().topology(), arg));
    Ok(())
}

/// `GEM_GET_TILING` returns the tiling and the pitch of an object.
///
/// Errors: `ENOENT`.
pub(super) fn get_tiling(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_radeon_gem_get_tiling,
) -> Result {
    let object = Object::lookup(file, arg.handle)?;
    arg.tiling_flags = object.notes().tiling();
    arg.pitch = object.notes().pitch();
    Ok(())
}

// SPDX-License-Identifier: GPL-2.0

//! Tiling of BOs. It is stored for other users of the BO, and for streams that do not specify it.

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

/// The tiling flags that these chips support.
const FLAGS: u32 = abi::RADEON_TILING_MACRO
    | abi::RADEON_TILING_MICRO
    | abi::RADEON_TILING_SWAP_16BIT
    | abi::RADEON_TILING_SWAP_32BIT
    | abi::RADEON_TILING_SURFACE
    | abi::RADEON_TILING_MICRO_SQUARE;

/// Macro tiles of micro tiles.
const BOTH: u32 = abi::RADEON_TILING_MACRO | abi::RADEON_TILING_MICRO;
/// Byte swapping, for big-endian machines.
const SWAPS: u32 = abi::RADEON_TILING_SWAP_16BIT | abi::RADEON_TILING_SWAP_32BIT;

/// Returns the tiling of a BO for the checker.
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

/// Returns the tiling to undo for the CPU's view of VRAM: if user space asks for that, and a
/// surface register of the chip supports it.
fn seen(topology: &Topology, arg: &abi::drm_radeon_gem_set_tiling) -> Option<Tiled> {
    let tiling = match arg.tiling_flags & !(abi::RADEON_TILING_SURFACE | SWAPS) {
        _ if arg.tiling_flags & abi::RADEON_TILING_SURFACE == 0 => return None,
        abi::RADEON_TILING_MACRO => Tiling::Macro,
        abi::RADEON_TILING_MICRO => Tiling::Micro,
        BOTH => Tiling::MacroMicro,
        _ => return None,
    };
    let stride = arg.pitch;
    // The address does not matter for the check.
    let region = FenceRegion {
        start: GgttAddr(0),
        len: PAGE_SIZE,
        stride,
        tiling,
    };
    topology.fences?.check(&region).ok()?;
    Some(Tiled { tiling, stride })
}

/// `GEM_SET_TILING` sets `tiling_flags` and `pitch` of a BO. With `RADEON_TILING_SURFACE`, CPU
/// mappings of VRAM show it as rows, if a surface register can do that.
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

/// `GEM_GET_TILING` returns `tiling_flags` and `pitch` of a BO.
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

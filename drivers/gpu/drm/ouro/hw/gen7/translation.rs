// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Enabling the PPGTT: each engine has its own mode register (VCS-003 to VCS-007, V-05, V-24); and
//! loading another page directory in a request.

use super::regs::{
    masked, Base, GAC_ECO_BITS, GAC_ECO_BITS_64_BYTES, GAM_ECOCHK, GAM_ECOCHK_GFDT, GAM_ECOCHK_LLC,
    GFX_MODE, GFX_MODE_PPGTT, INSTPM, INSTPM_TLB_INVALIDATE, PP_DIR_BASE, PP_DIR_DCLV,
};
use crate::{
    engine::EngineMemory,
    intel::{
        mi::{LoadRegisters, StoreRegister},
        processor::translation,
        pte,
        ring::fixes::{Fix, Fixes},
    },
    io::Hw,
    ring::{Commands, Overflow},
    types::GgttAddr,
};

/// Settings of caching, for all engines (V-24).
pub(super) const SETTINGS: Fixes = &[&[
    Fix::bits(GAC_ECO_BITS, GAC_ECO_BITS_64_BYTES, 0),
    Fix::bits(GAM_ECOCHK, GAM_ECOCHK_LLC, GAM_ECOCHK_GFDT),
]];

/// Loads an engine's page directory and enables its PPGTT (VCS-004, VCS-007). The ring must be
/// stopped.
pub(super) fn load_directory(hw: &Hw<'_>, engine: Base, slot: GgttAddr) {
    translation::load_directory(hw, engine, slot);
    hw.regs
        .write32(engine.at(GFX_MODE), masked(GFX_MODE_PPGTT, 0));
}

/// The number of dwords of [`emit_directory`].
pub(super) const LOAD_DWORDS: usize = 5 + 3 + 3;

/// Writes commands that load a page directory: all groups, then the base, whose write loads them
/// (VCS-004, VCS-040). Like the upstream driver (`load_pd_dir`), they then store the base, so that
/// the parser waits for the load, and set the bit of [`INSTPM`] that invalidates TLBs. A flush must
/// precede, and a flush and an invalidation must follow.
///
/// The document says that the bit acts in a synchronous flush (VCS-023), which no command can ask
/// for while the ring runs. Upstream is the witness that it is set here: engines cache the entries
/// of a directory (`gen6_ppgtt_clear_range`), and the document names no command that drops them.
pub(super) fn emit_directory(
    engine: Base,
    slot: GgttAddr,
    mem: &EngineMemory,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    let base = engine.at(PP_DIR_BASE);
    LoadRegisters(&[
        (engine.at(PP_DIR_DCLV), translation::ALL_GROUPS),
        (base, pte::directory_base(slot)),
    ])
    .put(out)?;
    let store = StoreRegister {
        offset: base,
        at: mem.scratch,
    };
    out.put(&store.encode())?;
    LoadRegisters(&[(engine.at(INSTPM), masked(INSTPM_TLB_INVALIDATE, 0))]).put(out)
}

#[cfg(test)]
mod tests;

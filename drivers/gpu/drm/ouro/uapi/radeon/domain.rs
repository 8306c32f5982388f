// SPDX-License-Identifier: GPL-2.0

//! The domains of the radeon uAPI, and the regions that they stand for.

use kernel::sync::Arc;
use ouro_uapi::radeon as abi;

use crate::{
    gem::{
        contents,
        region::{Kind, Placements, Region},
        Object,
    },
    gpu::Gpu,
};

/// CPU only.
pub(super) const CPU: u32 = abi::RADEON_GEM_DOMAIN_CPU;
/// System memory that the GPU reaches through the GART.
pub(super) const GTT: u32 = abi::RADEON_GEM_DOMAIN_GTT;
/// The device's own memory.
pub(super) const VRAM: u32 = abi::RADEON_GEM_DOMAIN_VRAM;
/// All of them.
pub(super) const ALL: u32 = CPU | GTT | VRAM;

/// The region number of system memory.
pub(super) const SYSTEM: usize = 0;

/// Returns the VRAM region and its number.
pub(super) fn vram(gpu: &Gpu) -> Option<(usize, &Arc<Region>)> {
    let mut regions = gpu.regions().iter().enumerate();
    regions.find(|(_, region)| region.kind() == Kind::Local)
}

/// Returns the regions where a BO of these domains may be.
pub(super) fn placements(gpu: &Gpu, domains: u32) -> Placements {
    let mut placements = Placements::none();
    if domains & VRAM != 0 {
        if let Some((number, _)) = vram(gpu) {
            placements.push(number);
        }
    }
    placements.push(SYSTEM);
    placements
}

/// Returns the domain that a BO is in; without memory, the one that it would be in.
pub(super) fn of(object: &Object) -> u32 {
    let gpu = object.gpu();
    let kind = match contents::present(object) {
        Some(backing) => backing.region(gpu.regions()).map(|r| r.kind()),
        None => {
            let best = object.placements().iter().next();
            best.and_then(|n| gpu.regions().get(n)).map(|r| r.kind())
        }
    };
    match kind {
        Some(Kind::Local) => VRAM,
        _ => GTT,
    }
}

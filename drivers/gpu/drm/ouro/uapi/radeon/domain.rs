// SPDX-License-Identifier: GPL-2.0

//! Domains of this interface, and the regions that they are.

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

/// The CPU alone.
pub(super) const CPU: u32 = abi::RADEON_GEM_DOMAIN_CPU;
/// System memory that the GPU reaches by its table.
pub(super) const GTT: u32 = abi::RADEON_GEM_DOMAIN_GTT;
/// The device's own memory.
pub(super) const VRAM: u32 = abi::RADEON_GEM_DOMAIN_VRAM;
/// All of them.
pub(super) const ALL: u32 = CPU | GTT | VRAM;

/// The number of system memory among the regions.
pub(super) const SYSTEM: usize = 0;

/// The device's own memory, and its number among the regions.
pub(super) fn vram(gpu: &Gpu) -> Option<(usize, &Arc<Region>)> {
    let mut regions = gpu.regions().iter().enumerate();
    regions.find(|(_, region)| region.kind() == Kind::Local)
}

/// Where an object of these domains may live.
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

/// Where an object is: if it has no memory yet, where that would be.
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

// SPDX-License-Identifier: GPL-2.0
//! What the interfaces say of a card. Sizes of the system's memory are left out: they are the machine's.

use std::time::{Duration, Instant};

use ouro_card::i915::{card_memory, parameter, query};
use ouro_card::uapi::*;
use ouro_card::Node;
use ouro_streams::Family;

/// Facts, by name.
type Facts = Vec<(String, String)>;

/// Names with their numbers.
macro_rules! named {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), $name)),*] };
}

/// Parameters of the i915 interface that are about the card.
const PARAMETERS: &[(&str, u32)] = named![
    I915_PARAM_CHIPSET_ID,
    I915_PARAM_REVISION,
    I915_PARAM_HAS_BSD,
    I915_PARAM_HAS_BSD2,
    I915_PARAM_HAS_BLT,
    I915_PARAM_HAS_VEBOX,
    I915_PARAM_HAS_LLC,
    I915_PARAM_HAS_WT,
    I915_PARAM_HAS_ALIASING_PPGTT,
    I915_PARAM_HAS_SEMAPHORES,
    I915_PARAM_HAS_SECURE_BATCHES,
    I915_PARAM_HAS_GPU_RESET,
    I915_PARAM_HAS_SCHEDULER,
    I915_PARAM_CMD_PARSER_VERSION,
    I915_PARAM_NUM_FENCES_AVAIL,
    I915_PARAM_CS_TIMESTAMP_FREQUENCY,
    I915_PARAM_MMAP_GTT_VERSION,
    I915_PARAM_PERF_REVISION,
];

/// The register of time, which the interface lets read (its description of I915_REG_READ).
const TIMESTAMP: u64 = 0x2358;
/// Time between two looks at it.
const PAUSE: Duration = Duration::from_millis(10);

fn register(node: &Node, offset: u64) -> Option<u64> {
    let mut read = drm_i915_reg_read {
        offset: offset | u64::from(I915_REG_READ_8B_WA),
        ..Default::default()
    };
    let asked = node.call("I915_REG_READ", DRM_I915_REG_READ, &mut read);
    asked.ok().map(|()| read.val)
}

fn digits(words: &[u64]) -> String {
    let bytes = words.iter().flat_map(|w| w.to_le_bytes());
    bytes.map(|b| format!("{b:02x}")).collect()
}

/// Facts of the i915 interface.
pub fn i915(node: &Node, family: Family) -> Facts {
    let mut facts = Facts::new();
    for (name, number) in PARAMETERS {
        let value = parameter(node, *number).map_or("unknown".into(), |v| format!("{v}"));
        facts.push(((*name).into(), value));
    }
    let begin = Instant::now();
    if let Some(first) = register(node, TIMESTAMP) {
        std::thread::sleep(PAUSE);
        if let Some(second) = register(node, TIMESTAMP) {
            let ns = begin.elapsed().as_nanos();
            let ticks = second.wrapping_sub(first);
            facts.push(("timestamp".into(), format!("{ticks} ticks in {ns} ns")));
        }
    }
    let mut aperture = drm_i915_gem_get_aperture::default();
    let asked = node.call(
        "I915_GEM_GET_APERTURE",
        DRM_I915_GEM_GET_APERTURE,
        &mut aperture,
    );
    if asked.is_ok() {
        facts.push(("address-space".into(), aperture.aper_size.to_string()));
    }
    if let Some(bytes) = card_memory(node) {
        facts.push(("card-memory".into(), bytes.to_string()));
    }
    // Asked for slices of a chip before them, the driver warns in the kernel's log.
    let topology = (family == Family::Gen12).then_some(("topology", DRM_I915_QUERY_TOPOLOGY_INFO));
    for (name, id) in topology
        .into_iter()
        .chain([("engines", DRM_I915_QUERY_ENGINE_INFO)])
    {
        if let Some(words) = query(node, id) {
            facts.push((name.into(), digits(&words)));
        }
    }
    let mut stats = drm_i915_reset_stats::default();
    let asked = node.call("I915_GET_RESET_STATS", DRM_I915_GET_RESET_STATS, &mut stats);
    if asked.is_ok() {
        let text = format!(
            "active {}, pending {}",
            stats.batch_active, stats.batch_pending
        );
        facts.push(("resets".into(), text));
    }
    facts
}

/// Requests of RADEON_INFO that are about the card; each answers with 32 bits.
const REQUESTS: &[(&str, u32)] = named![
    RADEON_INFO_DEVICE_ID,
    RADEON_INFO_NUM_GB_PIPES,
    RADEON_INFO_NUM_Z_PIPES,
    RADEON_INFO_ACCEL_WORKING,
    RADEON_INFO_ACCEL_WORKING2,
    RADEON_INFO_TILING_CONFIG,
    RADEON_INFO_CLOCK_CRYSTAL_FREQ,
    RADEON_INFO_NUM_BACKENDS,
    RADEON_INFO_NUM_TILE_PIPES,
    RADEON_INFO_FUSION_GART_WORKING,
    RADEON_INFO_MAX_PIPES,
    RADEON_INFO_MAX_SE,
    RADEON_INFO_MAX_SCLK,
    RADEON_INFO_GPU_RESET_COUNTER,
];

fn radeon_info(node: &Node, request: u32) -> Option<u64> {
    // Room for an answer of 64 bits.
    let mut value = 0u64;
    let mut info = drm_radeon_info {
        request,
        value: std::ptr::from_mut(&mut value) as u64,
        ..Default::default()
    };
    let asked = node.call("RADEON_INFO", DRM_RADEON_INFO, &mut info);
    asked.ok().map(|()| value)
}

/// Resets of the GPU since the driver came.
pub fn resets(node: &Node) -> Option<u64> {
    radeon_info(node, RADEON_INFO_GPU_RESET_COUNTER)
}

/// Facts of the radeon interface.
pub fn radeon(node: &Node) -> Facts {
    let text = |value: Option<u64>| value.map_or("unknown".into(), |v| format!("{v}"));
    let all = REQUESTS.iter();
    let mut facts: Facts = all
        .map(|(name, request)| ((*name).into(), text(radeon_info(node, *request))))
        .collect();
    let mut memory = drm_radeon_gem_info::default();
    let asked = node.call("RADEON_GEM_INFO", DRM_RADEON_GEM_INFO, &mut memory);
    if asked.is_ok() {
        facts.push(("card-memory".into(), memory.vram_size.to_string()));
    }
    facts
}

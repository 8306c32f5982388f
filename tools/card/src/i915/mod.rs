// SPDX-License-Identifier: GPL-2.0
//! Objects of the i915 interface.

mod bo;
pub mod local;

pub use bo::{Bo, Caching};

use super::uapi::*;
use super::Node;

/// Returns a parameter; `None` if the driver does not know it.
pub fn parameter(node: &Node, number: u32) -> Option<i32> {
    let mut value = 0;
    let mut get = drm_i915_getparam {
        param: number as i32,
        value: &mut value,
    };
    let asked = node.call("I915_GETPARAM", DRM_I915_GETPARAM, &mut get);
    asked.ok().map(|()| value)
}

/// Returns the answer to a query, in words of 64 bits; `None` if the driver has none.
pub fn query(node: &Node, id: u32) -> Option<Vec<u64>> {
    let mut item = drm_i915_query_item {
        query_id: u64::from(id),
        ..Default::default()
    };
    let ask = |item: &mut drm_i915_query_item| {
        let mut query = drm_i915_query {
            num_items: 1,
            items_ptr: std::ptr::from_mut(item) as u64,
            ..Default::default()
        };
        let asked = node.call("I915_QUERY", DRM_I915_QUERY, &mut query);
        asked.ok().filter(|()| item.length > 0)
    };
    ask(&mut item)?;
    let mut answer = vec![0u64; (item.length as usize).div_ceil(8)];
    item.data_ptr = answer.as_mut_ptr() as u64;
    ask(&mut item)?;
    Some(answer)
}

/// Returns bytes of the card's own memory; `None` if it has none.
pub fn card_memory(node: &Node) -> Option<u64> {
    // Two words, the first of which has the number of regions; then of each, class and instance, and its size.
    let answer = query(node, DRM_I915_QUERY_MEMORY_REGIONS)?;
    let words = size_of::<drm_i915_memory_region_info>() / 8;
    let class = drm_i915_gem_memory_class_I915_MEMORY_CLASS_DEVICE;
    let mut regions = answer
        .get(2..)?
        .chunks_exact(words)
        .take(answer[0] as usize);
    regions
        .find(|region| region[0] as u16 == class as u16)
        .map(|region| region[1])
}

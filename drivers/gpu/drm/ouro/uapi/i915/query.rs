// SPDX-License-Identifier: GPL-2.0

//! `QUERY`: longer answers, each item with its own error.

use kernel::prelude::*;
use ouro_hw::EngineClass;
use ouro_kernel::{task, uaccess};
use ouro_uapi::i915 as abi;
use zerocopy::{Immutable, IntoBytes};

use super::{engine_class, require};
use crate::{
    device::{Device, DrmFile},
    file::File,
    gem::region::Kind,
};

/// Most items of one call.
const MAX_ITEMS: u32 = 1024;

/// `QUERY` answers each item: writes the answer to the item's `data_ptr` if `length` is large
/// enough, and the required size, or the item's own negative error, to `length`. `flags` must be
/// zero.
///
/// Errors: `EINVAL` for a flag, for too many items, and for an item whose id is 0; `EFAULT` for an
/// item that cannot be read or written. An error of an item does not fail the call.
pub(super) fn query(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_query) -> Result {
    require(arg.flags == 0)?;
    require(arg.num_items <= MAX_ITEMS)?;
    let size = size_of::<abi::drm_i915_query_item>() as u64;
    let length = core::mem::offset_of!(abi::drm_i915_query_item, length) as u64;
    for i in 0..u64::from(arg.num_items) {
        let at = arg.items_ptr.wrapping_add(i * size);
        let item: abi::drm_i915_query_item = uaccess::read(at)?;
        require(item.query_id != 0)?;
        let answer = match one(&file.inner(), &item) {
            Ok(n) => n,
            // A bad `data_ptr` is an error of the item, like any other.
            Err(e) => e.to_errno(),
        };
        uaccess::write(at.wrapping_add(length), &answer)?;
    }
    Ok(())
}

/// Returns the size of the answer, which was written if the item had room for it.
fn one(file: &File, item: &abi::drm_i915_query_item) -> Result<i32> {
    match u32::try_from(item.query_id).map_err(|_| EINVAL)? {
        abi::DRM_I915_QUERY_ENGINE_INFO => engines(file, item),
        abi::DRM_I915_QUERY_MEMORY_REGIONS => regions(file, item),
        abi::DRM_I915_QUERY_TOPOLOGY_INFO => topology(file, item),
        abi::DRM_I915_QUERY_GEOMETRY_SUBSLICES => geometry(file, item),
        abi::DRM_I915_QUERY_PERF_CONFIG
        | abi::DRM_I915_QUERY_HWCONFIG_BLOB
        | abi::DRM_I915_QUERY_GUC_SUBMISSION_VERSION => Err(ENODEV),
        _ => Err(EINVAL),
    }
}

/// Writes a header and entries, or returns the room that they need.
///
/// The header in user memory must be zero.
fn answer<H, E>(item: &abi::drm_i915_query_item, header: &H, entries: &KVec<E>) -> Result<i32>
where
    H: IntoBytes + Immutable,
    E: IntoBytes + Immutable,
{
    let head = size_of::<H>();
    let each = size_of::<E>();
    let total = entries.len() * each + head;
    let total_i32 = i32::try_from(total).map_err(|_| EINVAL)?;
    // A negative length is an error of an earlier call that the program left there. Upstream takes
    // it for a large number.
    match item.length as u32 {
        0 => return Ok(total_i32),
        n if n < total_i32 as u32 => return Err(EINVAL),
        _ => {}
    }
    let there: KVVec<u32> = uaccess::read_array(item.data_ptr, head / 4)?;
    require(there.iter().all(|w| *w == 0))?;
    uaccess::write(item.data_ptr, header)?;
    let mut at = item.data_ptr.wrapping_add(head as u64);
    for e in entries.iter() {
        uaccess::write(at, e)?;
        at = at.wrapping_add(each as u64);
    }
    Ok(total_i32)
}

/// The fixed part of both answers: a count, and three dwords of zero.
type Header = [u32; 4];

/// Most subslices that can be reported, and most execution units in each.
const MAX_SUBSLICES: u16 = u32::BITS as u16;
const MAX_UNITS: u16 = u16::BITS as u16;

/// Reports all subslices. Errors: `ENODEV` if the fuses do not tell.
fn topology(file: &File, item: &abi::drm_i915_query_item) -> Result<i32> {
    require(item.flags == 0)?;
    let shaders = file.gpu().hardware().topology().shaders.ok_or(ENODEV)?;
    subslices(item, shaders.geometry | shaders.compute, shaders.units)
}

/// Reports the subslices that can render. The flags name a render engine. Errors: as [`topology`];
/// `EINVAL` for another engine.
fn geometry(file: &File, item: &abi::drm_i915_query_item) -> Result<i32> {
    let shaders = file.gpu().hardware().topology().shaders.ok_or(ENODEV)?;
    let (class, instance) = (item.flags as u16, item.flags >> 16);
    require(class == engine_class(EngineClass::Render))?;
    let instance = u8::try_from(instance).map_err(|_| EINVAL)?;
    file.gpu()
        .engine(EngineClass::Render, instance)
        .ok_or(EINVAL)?;
    subslices(item, shaders.geometry, shaders.units)
}

/// Writes a `drm_i915_query_topology_info`: one slice that has all subslices.
fn subslices(item: &abi::drm_i915_query_item, mask: u32, units: u16) -> Result<i32> {
    const SLICE_BYTES: u16 = 1;
    const SUBSLICE_BYTES: u16 = MAX_SUBSLICES / 8;
    const UNIT_BYTES: u16 = MAX_UNITS / 8;
    let header: [u16; 8] = [
        0,
        1,
        MAX_SUBSLICES,
        MAX_UNITS,
        SLICE_BYTES,
        SUBSLICE_BYTES,
        SLICE_BYTES + SUBSLICE_BYTES,
        UNIT_BYTES,
    ];
    const _: () = assert!(size_of::<[u16; 8]>() == size_of::<abi::drm_i915_query_topology_info>());
    let mut bytes = KVec::new();
    bytes.push(1u8, GFP_KERNEL)?;
    bytes.extend_from_slice(&mask.to_le_bytes(), GFP_KERNEL)?;
    for n in 0..MAX_SUBSLICES {
        let there = if mask >> n & 1 != 0 { units } else { 0 };
        bytes.extend_from_slice(&there.to_le_bytes(), GFP_KERNEL)?;
    }
    answer(item, &header, &bytes)
}

fn engines(file: &File, item: &abi::drm_i915_query_item) -> Result<i32> {
    require(item.flags == 0)?;
    let mut list = KVec::new();
    for engine in file.gpu().engines() {
        let id = file.gpu().name_of(engine).ok_or(EINVAL)?;
        list.push(
            abi::drm_i915_engine_info {
                engine: abi::i915_engine_class_instance {
                    engine_class: engine_class(id.class),
                    engine_instance: id.instance.into(),
                },
                flags: abi::I915_ENGINE_INFO_HAS_LOGICAL_INSTANCE.into(),
                logical_instance: id.instance.into(),
                ..Default::default()
            },
            GFP_KERNEL,
        )?;
    }
    let header: Header = [list.len() as u32, 0, 0, 0];
    answer(item, &header, &list)
}

/// An entry of `drm_i915_query_memory_regions` as quadwords: bindgen's type has a union.
type RegionInfo = [u64; 11];

fn regions(file: &File, item: &abi::drm_i915_query_item) -> Result<i32> {
    const _: () = assert!(size_of::<RegionInfo>() == size_of::<abi::drm_i915_memory_region_info>());
    require(item.flags == 0)?;
    let mut list = KVec::new();
    for region in file.gpu().regions() {
        let class = match region.kind() {
            Kind::System => 0u64,
            Kind::Local => 1,
        };
        let (instance, size) = (u64::from(region.instance()), region.size());
        let mut info: RegionInfo = [0; 11];
        // The first dword is class and instance; the second one is reserved.
        info[0] = class | instance << 16;
        info[1] = size;
        info[2] = match task::capable(task::Capability::Perfmon) {
            true => region.free().unwrap_or(size),
            // Other clients' memory usage is visible to privileged callers only.
            false => size,
        };
        // The CPU sees all of system memory.
        info[3] = region.visible();
        // Usage of the CPU-visible part is not counted separately: report an upper limit.
        info[4] = info[2].min(info[3]);
        list.push(info, GFP_KERNEL)?;
    }
    let header: Header = [list.len() as u32, 0, 0, 0];
    answer(item, &header, &list)
}

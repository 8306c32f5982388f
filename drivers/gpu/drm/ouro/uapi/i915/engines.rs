// SPDX-License-Identifier: GPL-2.0

//! `I915_CONTEXT_PARAM_ENGINES`: which engines the ring selector of `EXECBUFFER2` means in a
//! context, by place.

use kernel::{prelude::*, sync::Arc};
use ouro_hw::types::EngineId;
use ouro_kernel::uaccess;
use ouro_uapi::i915 as abi;

use super::{engine_class, extension, require};
use crate::{
    gpu::Gpu,
    submit::{context::EngineMap, Context},
};

/// Places that the ring selector can tell apart.
const MAX_ENGINES: usize = abi::I915_EXEC_RING_MASK as usize + 1;

/// Bytes of the structure without its array.
const HEADER: usize = size_of::<u64>();

/// Bytes of an entry.
const ENTRY: usize = size_of::<abi::i915_engine_class_instance>();

/// An entry with no engine.
const GAP: (u16, u16) = (
    abi::drm_i915_gem_engine_class_I915_ENGINE_CLASS_INVALID as u16,
    abi::I915_ENGINE_CLASS_INVALID_NONE as u16,
);

pub(super) fn set(gpu: &Gpu, context: &Context, arg: &abi::drm_i915_gem_context_param) -> Result {
    let size = arg.size as usize;
    if size == 0 {
        // Back to the old selectors.
        return context.set_engines(None).ok_or(EINVAL).map(drop);
    }
    let bytes = size.checked_sub(HEADER).ok_or(EINVAL)?;
    require(bytes % ENTRY == 0 && bytes / ENTRY <= MAX_ENGINES)?;
    let list: KVVec<abi::i915_engine_class_instance> =
        uaccess::read_array(arg.value.wrapping_add(HEADER as u64), bytes / ENTRY)?;
    let mut map: EngineMap = KVec::with_capacity(list.len(), GFP_KERNEL)?;
    for entry in list.iter() {
        let place = match (entry.engine_class, entry.engine_instance) {
            GAP => None,
            wanted => {
                let is = |id: EngineId| (engine_class(id.class), u16::from(id.instance)) == wanted;
                let mut engines = gpu.engines().iter();
                let found = engines.find(|e| is(e.hw().desc().id)).ok_or(ENOENT)?;
                Some(found.index())
            }
        };
        map.push(place, GFP_KERNEL)?;
    }
    extension::walk(uaccess::read(arg.value)?, |name, _| match name {
        // Engines are not chosen by anybody but user space, which does not need a scheduler.
        abi::I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE
        | abi::I915_CONTEXT_ENGINES_EXT_BOND
        | abi::I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT => Err(ENODEV),
        _ => Err(EINVAL),
    })?;
    drop(context.set_engines(Some(Arc::new(map, GFP_KERNEL)?)));
    Ok(())
}

pub(super) fn get(
    gpu: &Gpu,
    context: &Context,
    arg: &mut abi::drm_i915_gem_context_param,
) -> Result {
    let Some(map) = context.engines() else {
        arg.size = 0;
        return Ok(());
    };
    let size = HEADER + map.len() * ENTRY;
    if arg.size != 0 {
        require(arg.size as usize >= size)?;
        let extensions: u64 = uaccess::read(arg.value)?;
        require(extensions == 0)?;
        let mut at = arg.value.wrapping_add(HEADER as u64);
        for place in map.iter() {
            let engine = place.and_then(|index| gpu.engines().get(index));
            let (class, instance) = engine.map_or(GAP, |e| {
                let id = e.hw().desc().id;
                (engine_class(id.class), id.instance.into())
            });
            let entry = abi::i915_engine_class_instance {
                engine_class: class,
                engine_instance: instance,
            };
            uaccess::write(at, &entry)?;
            at = at.wrapping_add(ENTRY as u64);
        }
    }
    arg.size = size as u32;
    Ok(())
}

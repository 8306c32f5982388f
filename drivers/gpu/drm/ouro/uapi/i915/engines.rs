// SPDX-License-Identifier: GPL-2.0

//! Engine selection: `I915_CONTEXT_PARAM_ENGINES` sets an engine map, whose indices the ring
//! selector of `EXECBUFFER2` then means; without a map, the selector means a fixed ring name.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::Arc};
use ouro_hw::{types::EngineId, EngineClass};
use ouro_kernel::uaccess;
use ouro_uapi::i915 as abi;

use super::{engine_class, extension, require};
use crate::{
    gpu::Gpu,
    submit::{
        context::{EngineMap, Slot},
        lists::balanced::{Balanced, Target},
        Context, Engine,
    },
};

/// Most slots of an engine map: the range of the ring selector.
const MAX_ENGINES: usize = abi::I915_EXEC_RING_MASK as usize + 1;

/// Size of the parameter's structure without its array, in bytes.
const HEADER: usize = size_of::<u64>();

/// Size of an array entry in bytes.
const ENTRY: usize = size_of::<abi::i915_engine_class_instance>();

/// The entry of an empty slot.
const GAP: (u16, u16) = (
    abi::drm_i915_gem_engine_class_I915_ENGINE_CLASS_INVALID as u16,
    abi::I915_ENGINE_CLASS_INVALID_NONE as u16,
);

pub(super) fn set(gpu: &Gpu, context: &Context, arg: &abi::drm_i915_gem_context_param) -> Result {
    // The map can be set once, and before the first batch.
    require(context.has_open_engines())?;
    let size = arg.size as usize;
    let bytes = size.checked_sub(HEADER).ok_or(EINVAL)?;
    require(bytes % ENTRY == 0 && bytes / ENTRY <= MAX_ENGINES)?;
    let list: KVVec<abi::i915_engine_class_instance> =
        uaccess::read_array(arg.value.wrapping_add(HEADER as u64), bytes / ENTRY)?;
    let mut map: EngineMap = KVec::with_capacity(list.len(), GFP_KERNEL_ACCOUNT)?;
    for entry in list.iter() {
        let slot = match (entry.engine_class, entry.engine_instance) {
            GAP => Slot::Gap,
            _ => one(context, &map, find(gpu, entry).ok_or(ENOENT)?)?,
        };
        map.push(slot, GFP_KERNEL_ACCOUNT)?;
    }
    extension::walk(uaccess::read(arg.value)?, |name, at| match name {
        // On rings, requests run in order, and user space alone chooses engines.
        abi::I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE
        | abi::I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT
            if !gpu.has_scheduler() =>
        {
            Err(ENODEV)
        }
        abi::I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE => balance(gpu, context, &mut map, at),
        abi::I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT => parallel(gpu, &map, at),
        // Upstream allows it only before Gen12 and on a few chips of Gen12, whatever its contents.
        abi::I915_CONTEXT_ENGINES_EXT_BOND => Err(ENODEV),
        _ => Err(EINVAL),
    })?;
    context.set_engines(Arc::new(map, GFP_KERNEL_ACCOUNT)?)
}

/// Returns a slot for one engine. If the map has the engine already, the slot is a virtual engine
/// of one, so that each slot has its own timeline and state.
fn one(context: &Context, map: &EngineMap, engine: &Arc<Engine>) -> Result<Slot> {
    let index = engine.index();
    let same = |slot: &Slot| matches!(slot, Slot::Engine(other) if *other == index);
    if !map.iter().any(same) {
        return Ok(Slot::Engine(index));
    }
    let mut only = KVec::with_capacity(1, GFP_KERNEL_ACCOUNT)?;
    only.push(engine.clone(), GFP_KERNEL_ACCOUNT)?;
    Ok(Slot::Balanced(Balanced::new(context, only)?))
}

/// Returns the class and instance of an engine in the uAPI.
fn name(id: EngineId) -> (u16, u16) {
    (engine_class(id.class), id.instance.into())
}

/// Returns the engine that an array entry names.
fn find<'a>(gpu: &'a Gpu, entry: &abi::i915_engine_class_instance) -> Option<&'a Arc<Engine>> {
    let wanted = (entry.engine_class, entry.engine_instance);
    let is = |e: &&Arc<Engine>| gpu.name_of(e).map(name) == Some(wanted);
    gpu.engines().iter().find(is)
}

/// Returns the engine that a context parameter names, and the context, or the part of it, that it
/// runs: by class and instance, or, with `by_index`, by the index in the context's engine map,
/// which is in the instance. Errors: `EINVAL`, also for a virtual engine of several.
pub(super) fn named_by(
    gpu: &Gpu,
    context: &Arc<Context>,
    entry: &abi::i915_engine_class_instance,
    by_index: bool,
) -> Result<(Arc<Context>, Arc<Engine>)> {
    let own = |engine: &Arc<Engine>| (context.clone(), engine.clone());
    let named = match (by_index, context.engines()) {
        (false, None) => find(gpu, entry).map(own),
        (true, Some(map)) => match map.get(usize::from(entry.engine_instance)) {
            Some(Slot::Engine(index)) => gpu.engines().get(*index).map(own),
            Some(Slot::Balanced(balanced)) => match balanced.target() {
                // The engine has an earlier slot, too.
                Target::One(engine) => Some((balanced.part().clone(), engine.clone())),
                Target::Any(_) => None,
            },
            Some(Slot::Gap) | None => None,
        },
        // As upstream: a context with a map has its engines by index only, and one without has no
        // index.
        _ => None,
    };
    named.ok_or(EINVAL)
}

/// Returns the engines of an extension at `at`, whose structure `T` is followed by `count` names.
/// Errors: `EFAULT`, `EINVAL` for too many names, an unknown engine, or engines of different
/// classes.
fn named<T>(gpu: &Gpu, at: u64, count: usize) -> Result<KVec<Arc<Engine>>> {
    require(count <= MAX_ENGINES)?;
    let from = at.wrapping_add(size_of::<T>() as u64);
    let names: KVVec<abi::i915_engine_class_instance> = uaccess::read_array(from, count)?;
    let mut list = KVec::with_capacity(count, GFP_KERNEL_ACCOUNT)?;
    for name in names.iter() {
        let first = names.first().map(|n| n.engine_class);
        require(first == Some(name.engine_class))?;
        list.push(find(gpu, name).ok_or(EINVAL)?.clone(), GFP_KERNEL_ACCOUNT)?;
    }
    Ok(list)
}

/// Puts a virtual engine into an empty slot.
fn balance(gpu: &Gpu, context: &Context, map: &mut EngineMap, list: u64) -> Result {
    type Extension = abi::i915_context_engines_load_balance;
    let ext: Extension = uaccess::read(list)?;
    let at = usize::from(ext.engine_index);
    if !matches!(map.get(at).ok_or(EINVAL)?, Slot::Gap) {
        return Err(EEXIST);
    }
    require(ext.flags == 0 && ext.mbz64 == 0)?;
    let siblings = named::<Extension>(gpu, list, ext.num_siblings.into())?;
    let same = |one: &Arc<Engine>, other: &Arc<Engine>| one.index() == other.index();
    let twice = |(n, one): (usize, &Arc<Engine>)| siblings.iter().take(n).any(|o| same(o, one));
    require(!siblings.iter().enumerate().any(twice))?;
    let new = match siblings.as_slice() {
        [] => return Ok(()),
        [only] => one(context, map, only)?,
        _ => Slot::Balanced(Balanced::new(context, siblings)?),
    };
    *map.get_mut(at).ok_or(EINVAL)? = new;
    Ok(())
}

/// Checks the arguments of parallel submission, and then returns `ENODEV`: it is not supported, as
/// in upstream on chips without GuC submission.
fn parallel(gpu: &Gpu, map: &EngineMap, at: u64) -> Result {
    type Extension = abi::i915_context_engines_parallel_submit;
    let ext: Extension = uaccess::read(at)?;
    let slot = map.get(usize::from(ext.engine_index)).ok_or(EINVAL)?;
    require(matches!(slot, Slot::Gap))?;
    require(ext.mbz16 == 0 && ext.flags == 0 && { ext.mbz64 } == [0; 3])?;
    let (width, siblings) = (usize::from(ext.width), usize::from(ext.num_siblings));
    require(width >= 2 && siblings >= 1)?;
    let engines = named::<Extension>(gpu, at, width.checked_mul(siblings).ok_or(EINVAL)?)?;
    // Each set consists of the engines that follow those of the set before.
    let next = |(n, engine): (usize, &Arc<Engine>)| {
        let before = n.checked_sub(siblings).and_then(|n| engines.get(n));
        before.is_none_or(|before| before.index() + 1 == engine.index())
    };
    require(engines.iter().enumerate().all(next))?;
    Err(ENODEV)
}

/// The destination of a batch.
pub(super) struct Selected {
    /// The context, or its part on a virtual engine.
    pub(super) context: Arc<Context>,
    pub(super) target: Target,
}

/// Returns the destination that the ring selector names in a context. Errors: `EINVAL`, `ENOSPC`,
/// `ENOMEM`.
pub(super) fn select(gpu: &Gpu, context: Arc<Context>, flags: u64) -> Result<Selected> {
    let ring = (flags as u32) & abi::I915_EXEC_RING_MASK;
    let Some(map) = context.freeze_engines() else {
        return Ok(Selected {
            target: Target::One(by_name(
                gpu,
                ring,
                (flags as u32) & abi::I915_EXEC_BSD_MASK,
            )?),
            context,
        });
    };
    match map.get(ring as usize).ok_or(EINVAL)? {
        Slot::Gap => Err(EINVAL),
        Slot::Engine(index) => Ok(Selected {
            target: Target::One(gpu.engines().get(*index).cloned().ok_or(EINVAL)?),
            context,
        }),
        Slot::Balanced(balanced) => {
            let part = balanced.part().clone();
            if gpu.has_own_spaces() {
                let space = gpu.own_space(&context)?.clone();
                part.make_space(|| Ok(space))?;
            }
            Ok(Selected {
                target: balanced.target().clone(),
                context: part,
            })
        }
    }
}

/// Returns the engine of a ring name, for contexts without an engine map.
fn by_name(gpu: &Gpu, ring: u32, bsd: u32) -> Result<Arc<Engine>> {
    require(bsd == 0 || ring == abi::I915_EXEC_BSD)?;
    let class = match ring {
        abi::I915_EXEC_DEFAULT | abi::I915_EXEC_RENDER => EngineClass::Render,
        abi::I915_EXEC_BSD => EngineClass::Video,
        abi::I915_EXEC_BLT => EngineClass::Copy,
        abi::I915_EXEC_VEBOX => EngineClass::VideoEnhance,
        _ => return Err(EINVAL),
    };
    let instance = match bsd {
        abi::I915_EXEC_BSD_DEFAULT | abi::I915_EXEC_BSD_RING1 => 0,
        // On a chip with one video engine, any BSD selector means that one.
        _ if gpu.engine(class, 1).is_none() => 0,
        abi::I915_EXEC_BSD_RING2 => 1,
        _ => return Err(EINVAL),
    };
    gpu.engine(class, instance).ok_or(EINVAL)
}

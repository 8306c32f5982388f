// SPDX-License-Identifier: GPL-2.0

//! `I915_CONTEXT_PARAM_ENGINES`: which engines the ring selector of `EXECBUFFER2` means in a
//! context, by place.

use kernel::{prelude::*, sync::Arc};
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
    // Once, and before the first batch.
    require(context.has_open_engines())?;
    let size = arg.size as usize;
    let bytes = size.checked_sub(HEADER).ok_or(EINVAL)?;
    require(bytes % ENTRY == 0 && bytes / ENTRY <= MAX_ENGINES)?;
    let list: KVVec<abi::i915_engine_class_instance> =
        uaccess::read_array(arg.value.wrapping_add(HEADER as u64), bytes / ENTRY)?;
    let mut map: EngineMap = KVec::with_capacity(list.len(), GFP_KERNEL)?;
    for entry in list.iter() {
        let slot = match (entry.engine_class, entry.engine_instance) {
            GAP => Slot::Gap,
            _ => one(context, &map, find(gpu, entry).ok_or(ENOENT)?)?,
        };
        map.push(slot, GFP_KERNEL)?;
    }
    extension::walk(uaccess::read(arg.value)?, |name, at| match name {
        // Where requests run in their order, nobody chooses engines but user space.
        abi::I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE
        | abi::I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT
            if !gpu.has_scheduler() =>
        {
            Err(ENODEV)
        }
        abi::I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE => balance(gpu, context, &mut map, at),
        abi::I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT => parallel(gpu, &map, at),
        // For chips before Gen12, and a few of that, whatever it says.
        abi::I915_CONTEXT_ENGINES_EXT_BOND => Err(ENODEV),
        _ => Err(EINVAL),
    })?;
    context.set_engines(Arc::new(map, GFP_KERNEL)?)
}

/// A place for one engine. Each has a timeline and a state of its own.
fn one(context: &Context, map: &EngineMap, engine: &Arc<Engine>) -> Result<Slot> {
    let index = engine.index();
    let same = |slot: &Slot| matches!(slot, Slot::Engine(other) if *other == index);
    if !map.iter().any(same) {
        return Ok(Slot::Engine(index));
    }
    let mut only = KVec::with_capacity(1, GFP_KERNEL)?;
    only.push(engine.clone(), GFP_KERNEL)?;
    Ok(Slot::Balanced(Balanced::new(context, only)?))
}

/// An engine in an entry.
fn name(id: EngineId) -> (u16, u16) {
    (engine_class(id.class), id.instance.into())
}

/// The engine that user space calls so.
fn find<'a>(gpu: &'a Gpu, entry: &abi::i915_engine_class_instance) -> Option<&'a Arc<Engine>> {
    let wanted = (entry.engine_class, entry.engine_instance);
    let is = |e: &&Arc<Engine>| gpu.name_of(e).map(name) == Some(wanted);
    gpu.engines().iter().find(is)
}

/// The engines of an extension at `at`, whose structure is a `T` with `count` names behind. Errors: `EFAULT`,
/// `EINVAL` for too many, and for one that there is not, or not in the class of the others.
fn named<T>(gpu: &Gpu, at: u64, count: usize) -> Result<KVec<Arc<Engine>>> {
    require(count <= MAX_ENGINES)?;
    let from = at.wrapping_add(size_of::<T>() as u64);
    let names: KVVec<abi::i915_engine_class_instance> = uaccess::read_array(from, count)?;
    let mut list = KVec::with_capacity(count, GFP_KERNEL)?;
    for name in names.iter() {
        let first = names.first().map(|n| n.engine_class);
        require(first == Some(name.engine_class))?;
        list.push(find(gpu, name).ok_or(EINVAL)?.clone(), GFP_KERNEL)?;
    }
    Ok(list)
}

/// Puts a virtual engine into a gap.
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

/// Batches that begin together: what is wrong is said, but what is right is not offered, as on all chips whose
/// work no firmware hands out.
fn parallel(gpu: &Gpu, map: &EngineMap, at: u64) -> Result {
    type Extension = abi::i915_context_engines_parallel_submit;
    let ext: Extension = uaccess::read(at)?;
    let slot = map.get(usize::from(ext.engine_index)).ok_or(EINVAL)?;
    require(matches!(slot, Slot::Gap))?;
    require(ext.mbz16 == 0 && ext.flags == 0 && { ext.mbz64 } == [0; 3])?;
    let (width, siblings) = (usize::from(ext.width), usize::from(ext.num_siblings));
    require(width >= 2 && siblings >= 1)?;
    let engines = named::<Extension>(gpu, at, width.checked_mul(siblings).ok_or(EINVAL)?)?;
    // Of one set to the next, each is the one behind.
    let next = |(n, engine): (usize, &Arc<Engine>)| {
        let before = n.checked_sub(siblings).and_then(|n| engines.get(n));
        before.is_none_or(|before| before.index() + 1 == engine.index())
    };
    require(engines.iter().enumerate().all(next))?;
    Err(ENODEV)
}

/// Where a batch goes.
pub(super) struct Selected {
    /// The context, or the part of it that is on a virtual engine.
    pub(super) context: Arc<Context>,
    pub(super) target: Target,
}

/// What the selector means in a context.
pub(super) fn select(gpu: &Gpu, context: Arc<Context>, flags: u64) -> Result<Selected> {
    let ring = (flags as u32) & abi::I915_EXEC_RING_MASK;
    let Some(map) = context.settle_engines() else {
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

/// The engine that the selector means where there is no list.
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
        // A chip with one video engine takes any selector for it.
        _ if gpu.engine(class, 1).is_none() => 0,
        abi::I915_EXEC_BSD_RING2 => 1,
        _ => return Err(EINVAL),
    };
    gpu.engine(class, instance).ok_or(EINVAL)
}

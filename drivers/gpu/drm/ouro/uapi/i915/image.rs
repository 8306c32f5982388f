// SPDX-License-Identifier: GPL-2.0

//! `I915_CONTEXT_PARAM_CONTEXT_IMAGE`: the image with which a context begins on an execlist engine,
//! to replay a hang from an error state.
//!
//! The engine restores an image with privilege, whatever registers and commands are in it. So the
//! parameter is for root, and only with the module parameter `replay`.

use kernel::{prelude::*, sync::Arc};
use ouro_kernel::{task, uaccess};
use ouro_uapi::i915 as abi;

use super::{engines, require};
use crate::{
    gpu::Gpu,
    module_parameters,
    submit::{lists::logical_ring, Context},
};

type Image = abi::i915_gem_context_param_context_image;

/// Sets the image of one engine. The dwords of the ring and of the address space are replaced by
/// the context's own.
///
/// Errors: `EINVAL` without the module parameter, for a size that is too small, unknown flags,
/// padding, an engine that the context does not have or that is a virtual one, an engine without
/// execlists, and for an image that the engine cannot have saved; `EPERM` without `CAP_SYS_ADMIN`;
/// `EFAULT`; `EBUSY` if the context has an image on that engine already; `ENOMEM`.
pub(super) fn set(
    gpu: &Gpu,
    context: &Arc<Context>,
    arg: &abi::drm_i915_gem_context_param,
) -> Result {
    require(module_parameters::replay.value() != 0)?;
    if !task::capable(task::Capability::SysAdmin) {
        return Err(EPERM);
    }
    require(arg.size as usize >= size_of::<Image>())?;
    let asked: Image = uaccess::read(arg.value)?;
    require(asked.mbz == 0)?;
    require(asked.flags & !abi::I915_CONTEXT_IMAGE_FLAG_ENGINE_INDEX == 0)?;
    let by_index = asked.flags & abi::I915_CONTEXT_IMAGE_FLAG_ENGINE_INDEX != 0;
    let name = asked.engine;
    let (context, engine) = engines::named_by(gpu, context, &name, by_index)?;
    let images = engine.hw().images().ok_or(EINVAL)?;
    let bytes = images.saved_bytes();
    require(asked.size >= bytes)?;
    let image: KVVec<u32> = uaccess::read_array(asked.image, bytes as usize / 4)?;
    require(logical_ring::accepts(
        engine.hw(),
        gpu.hardware().topology(),
        &image,
    )?)?;
    context.choose_image(&engine, image)
}

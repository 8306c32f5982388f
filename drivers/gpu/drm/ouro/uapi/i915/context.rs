// SPDX-License-Identifier: GPL-2.0

//! Contexts: creation, destruction, parameters.

use kernel::{prelude::*, sync::Arc};
use ouro_kernel::{task, uaccess};
use ouro_uapi::i915 as abi;

use super::require;
use crate::{
    driver::{Device, DrmFile},
    submit::Context,
};

/// Extensions that one call may chain. More of them is a loop.
const MAX_CHAIN: usize = 32;

pub(super) fn create(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_create_ext,
) -> Result {
    const KNOWN: u32 = abi::I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS;
    // The old form of the call has a padding word where the flags are; both must be zero there. A
    // single timeline for all engines is not offered.
    require(arg.flags & !KNOWN == 0)?;
    let client = file.inner();
    client.gpu().usable()?;
    let context = client.gpu().new_context()?;
    if arg.flags & abi::I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS != 0 {
        let mut next = arg.extensions;
        for _ in 0..MAX_CHAIN {
            if next == 0 {
                break;
            }
            let base: abi::i915_user_extension = uaccess::read(next)?;
            require(base.flags == 0 && base.rsvd == [0; 4])?;
            if base.name != abi::I915_CONTEXT_CREATE_EXT_SETPARAM {
                return Err(EINVAL);
            }
            let ext: abi::drm_i915_gem_context_create_ext_setparam = uaccess::read(next)?;
            require(ext.param.ctx_id == 0)?;
            set(&context, &ext.param)?;
            next = base.next_extension;
        }
        if next != 0 {
            return Err(E2BIG);
        }
    }
    arg.ctx_id = client.add_context(context)?;
    Ok(())
}

pub(super) fn destroy(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_destroy,
) -> Result {
    require(arg.pad == 0)?;
    // The default context lives as long as the file.
    if arg.ctx_id == 0 {
        return Err(ENOENT);
    }
    file.inner().remove_context(arg.ctx_id)
}

pub(super) fn getparam(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_param,
) -> Result {
    let client = file.inner();
    let context = client.context(arg.ctx_id)?;
    let params = *context.params().lock();
    let value = match u32::try_from(arg.param).map_err(|_| EINVAL)? {
        abi::I915_CONTEXT_PARAM_GTT_SIZE => client.gpu().space().size(),
        abi::I915_CONTEXT_PARAM_NO_ERROR_CAPTURE => params.no_error_capture.into(),
        abi::I915_CONTEXT_PARAM_BANNABLE => params.bannable.into(),
        abi::I915_CONTEXT_PARAM_RECOVERABLE => params.recoverable.into(),
        abi::I915_CONTEXT_PARAM_PRIORITY => i64::from(params.priority) as u64,
        abi::I915_CONTEXT_PARAM_PERSISTENCE => params.persistent.into(),
        // Only with address spaces of their own have contexts one to show.
        abi::I915_CONTEXT_PARAM_VM => return Err(ENODEV),
        _ => return Err(EINVAL),
    };
    arg.size = 0;
    arg.value = value;
    Ok(())
}

pub(super) fn setparam(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_param,
) -> Result {
    let client = file.inner();
    let context = client.context(arg.ctx_id)?;
    set(&context, arg)
}

/// A parameter that is yes or no.
fn flag(arg: &abi::drm_i915_gem_context_param) -> Result<bool> {
    require(arg.size == 0)?;
    Ok(arg.value != 0)
}

fn set(context: &Arc<Context>, arg: &abi::drm_i915_gem_context_param) -> Result {
    let mut params = context.params().lock();
    match u32::try_from(arg.param).map_err(|_| EINVAL)? {
        abi::I915_CONTEXT_PARAM_NO_ERROR_CAPTURE => params.no_error_capture = flag(arg)?,
        abi::I915_CONTEXT_PARAM_BANNABLE => {
            let on = flag(arg)?;
            if !on && !task::capable(task::Capability::SysAdmin) {
                return Err(EPERM);
            }
            params.bannable = on;
        }
        abi::I915_CONTEXT_PARAM_RECOVERABLE => params.recoverable = flag(arg)?,
        abi::I915_CONTEXT_PARAM_PRIORITY => {
            require(arg.size == 0)?;
            // Requests run in their order here: there is no priority to set.
            return Err(ENODEV);
        }
        abi::I915_CONTEXT_PARAM_PERSISTENCE => {
            // A context that does not outlive its file needs a reset of what it runs then.
            if !flag(arg)? {
                return Err(ENODEV);
            }
            params.persistent = true;
        }
        _ => return Err(EINVAL),
    }
    Ok(())
}

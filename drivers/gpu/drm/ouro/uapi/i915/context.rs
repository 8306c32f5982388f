// SPDX-License-Identifier: GPL-2.0

//! Contexts: creation, destruction, parameters.

use kernel::{prelude::*, sync::Arc};
use ouro_kernel::{task, uaccess};
use ouro_uapi::i915 as abi;

use super::{engines, extension, require, watchdog};
use crate::{
    device::{Device, DrmFile},
    file::File,
    submit::Context,
};

/// Priorities that user space can give, and the one that it need not ask for.
const MIN_PRIORITY: i64 = abi::I915_CONTEXT_MIN_USER_PRIORITY as i64;
const MAX_PRIORITY: i64 = abi::I915_CONTEXT_MAX_USER_PRIORITY as i64;
const DEFAULT_PRIORITY: i64 = abi::I915_CONTEXT_DEFAULT_PRIORITY as i64;

/// `GEM_CONTEXT_CREATE` and `GEM_CONTEXT_CREATE_EXT` create a context and apply each extension
/// `SETPARAM` to it.
///
/// Errors: `EINVAL` for an unknown flag or extension, and for a context number in an extension;
/// `E2BIG` for too many extensions; `EFAULT`; `EIO` if the client is banned or the device has been
/// given up; `ENOSPC` for too many contexts of the file; those of [`setparam`].
pub(super) fn create(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_create_ext,
) -> Result {
    const KNOWN: u32 = abi::I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS;
    const IN_ORDER: u32 = abi::I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE;
    let client = file.inner();
    // The old form of the call has a padding word where the flags are; both must be zero there.
    let known = match client.gpu().has_scheduler() {
        true => KNOWN | IN_ORDER,
        false => KNOWN,
    };
    require(arg.flags & !known == 0)?;
    client.gpu().working()?;
    let context = client.new_context()?;
    if arg.flags & IN_ORDER != 0 {
        context.set_in_order();
    }
    if arg.flags & abi::I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS != 0 {
        extension::walk(arg.extensions, |name, at| {
            require(name == abi::I915_CONTEXT_CREATE_EXT_SETPARAM)?;
            let ext: abi::drm_i915_gem_context_create_ext_setparam = uaccess::read(at)?;
            require(ext.param.ctx_id == 0)?;
            set(&client, &context, &ext.param, Age::Fresh)
        })?;
    }
    arg.ctx_id = client.add_context(context)?;
    Ok(())
}

/// `GEM_CONTEXT_DESTROY` removes a context from the file; requests that are published go on.
///
/// Errors: `EINVAL` for padding, `ENOENT` for an unknown context and for the default one.
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

/// `GEM_CONTEXT_GETPARAM` reads one parameter of a context.
///
/// Errors: `ENOENT` for an unknown context; `ENODEV` for `SSEU` and `PROTECTED_CONTENT`, and for
/// `VM` where there is one address space; `ENOSPC` for `VM` if the file has too many numbers of
/// address spaces; those of [`watchdog::get`]; `EINVAL` for other parameters.
pub(super) fn getparam(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_param,
) -> Result {
    let client = file.inner();
    let context = client.context(arg.ctx_id)?;
    if arg.param == watchdog::PARAM {
        return watchdog::get(client.gpu(), &context, arg);
    }
    let params = context.params();
    let value = match u32::try_from(arg.param).map_err(|_| EINVAL)? {
        abi::I915_CONTEXT_PARAM_GTT_SIZE => client.gpu().space_size(),
        abi::I915_CONTEXT_PARAM_NO_ERROR_CAPTURE => params.no_error_capture.get().into(),
        abi::I915_CONTEXT_PARAM_BANNABLE => params.bannable.get().into(),
        abi::I915_CONTEXT_PARAM_RECOVERABLE => params.recoverable.get().into(),
        abi::I915_CONTEXT_PARAM_PRIORITY => i64::from(context.priority()) as u64,
        abi::I915_CONTEXT_PARAM_PERSISTENCE => params.persistent.get().into(),
        abi::I915_CONTEXT_PARAM_VM => {
            require_own_spaces(&client)?;
            // Each answer is a number more of the same space.
            let space = client.gpu().own_space(&context)?;
            client.add_space(space.clone())?.into()
        }
        // No chip here has slices to turn off, or protected content.
        abi::I915_CONTEXT_PARAM_SSEU | abi::I915_CONTEXT_PARAM_PROTECTED_CONTENT => {
            return Err(ENODEV)
        }
        _ => return Err(EINVAL),
    };
    arg.size = 0;
    arg.value = value;
    Ok(())
}

/// `GEM_CONTEXT_SETPARAM` changes one parameter of a context.
///
/// Errors: `ENOENT` for an unknown context, engine or address space; `EINVAL` for an unknown
/// parameter, a wrong size or value, and what a context takes only once or only at its creation;
/// `ENODEV` for what the chip does not have; `EPERM` for `BANNABLE` without `CAP_SYS_ADMIN`;
/// `EEXIST` for a virtual engine at a place that is no gap; `E2BIG` for too many extensions;
/// `EFAULT`; those of [`watchdog::set`].
pub(super) fn setparam(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_param,
) -> Result {
    let client = file.inner();
    let context = client.context(arg.ctx_id)?;
    set(&client, &context, arg, Age::InUse)
}

/// Whether user space knows a context already.
#[derive(PartialEq, Eq)]
enum Age {
    Fresh,
    InUse,
}

/// Errors: `ENODEV` on chips where user space has nothing to say about address spaces.
fn require_own_spaces(client: &File) -> Result {
    if client.gpu().shares_spaces() {
        Ok(())
    } else {
        Err(ENODEV)
    }
}

/// `GEM_VM_CREATE` creates an address space that contexts can share.
///
/// Errors: `ENODEV` where contexts do not share address spaces, whatever else is wrong; `EINVAL` for a flag
/// or any extension; `EFAULT`; `ENOSPC` for too many numbers of the file, or without room for the
/// tables.
pub(super) fn vm_create(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_vm_control,
) -> Result {
    let client = file.inner();
    require_own_spaces(&client)?;
    require(arg.flags == 0)?;
    // None is known.
    extension::walk(arg.extensions, |_, _| Err(EINVAL))?;
    arg.vm_id = client.add_space(client.gpu().new_space()?)?;
    Ok(())
}

/// `GEM_VM_DESTROY` gives up the number of an address space; contexts keep the space.
///
/// Errors: `EINVAL` for flags or extensions, `ENOENT` for an unknown address space.
pub(super) fn vm_destroy(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_vm_control,
) -> Result {
    require(arg.flags == 0 && arg.extensions == 0)?;
    file.inner().remove_space(arg.vm_id)
}

/// A parameter that is yes or no.
fn flag(arg: &abi::drm_i915_gem_context_param) -> Result<bool> {
    require(arg.size == 0)?;
    Ok(arg.value != 0)
}

fn set(
    client: &File,
    context: &Arc<Context>,
    arg: &abi::drm_i915_gem_context_param,
    age: Age,
) -> Result {
    let gpu = client.gpu();
    if arg.param == watchdog::PARAM {
        return watchdog::set(gpu, context, arg);
    }
    let params = context.params();
    match u32::try_from(arg.param).map_err(|_| EINVAL)? {
        abi::I915_CONTEXT_PARAM_NO_ERROR_CAPTURE => params.no_error_capture.set(flag(arg)?),
        abi::I915_CONTEXT_PARAM_BANNABLE => {
            let on = flag(arg)?;
            if !on && !task::capable(task::Capability::SysAdmin) {
                return Err(EPERM);
            }
            params.bannable.set(on);
        }
        abi::I915_CONTEXT_PARAM_RECOVERABLE => params.recoverable.set(flag(arg)?),
        abi::I915_CONTEXT_PARAM_PRIORITY => {
            require(arg.size == 0)?;
            if !gpu.has_scheduler() {
                // Requests run in their order: there is no priority to set.
                return Err(ENODEV);
            }
            let priority = arg.value as i64;
            require((MIN_PRIORITY..=MAX_PRIORITY).contains(&priority))?;
            if priority > DEFAULT_PRIORITY && !task::capable(task::Capability::SysNice) {
                return Err(EPERM);
            }
            if priority != DEFAULT_PRIORITY {
                gpu.retirer().ranks_differ();
            }
            context.set_priority(priority as i32);
        }
        abi::I915_CONTEXT_PARAM_PERSISTENCE => params.persistent.set(flag(arg)?),
        abi::I915_CONTEXT_PARAM_ENGINES => return engines::set(gpu, context, arg),
        abi::I915_CONTEXT_PARAM_VM => {
            require(arg.size == 0)?;
            require_own_spaces(client)?;
            // The default context has the space that it has.
            require(age == Age::Fresh || arg.ctx_id != 0)?;
            let id = u32::try_from(arg.value).map_err(|_| ENOENT)?;
            context.choose_space(client.space(id)?)?;
        }
        abi::I915_CONTEXT_PARAM_SSEU => {
            require(arg.size as usize >= size_of::<abi::drm_i915_gem_context_param_sseu>())?;
            return Err(ENODEV);
        }
        abi::I915_CONTEXT_PARAM_PROTECTED_CONTENT => {
            require(age == Age::Fresh)?;
            if flag(arg)? {
                return Err(ENODEV);
            }
        }
        _ => return Err(EINVAL),
    }
    Ok(())
}

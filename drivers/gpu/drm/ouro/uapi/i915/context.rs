// SPDX-License-Identifier: GPL-2.0

//! Contexts and VMs: creation, destruction, parameters.

use kernel::{prelude::*, sync::Arc};
use ouro_kernel::{task, uaccess};
use ouro_uapi::i915 as abi;

use super::{engines, extension, image, require, watchdog};
use crate::{
    device::{Device, DrmFile},
    file::File,
    submit::Context,
};

/// Priorities that user space can set, and the default one.
const MIN_PRIORITY: i64 = abi::I915_CONTEXT_MIN_USER_PRIORITY as i64;
const MAX_PRIORITY: i64 = abi::I915_CONTEXT_MAX_USER_PRIORITY as i64;
const DEFAULT_PRIORITY: i64 = abi::I915_CONTEXT_DEFAULT_PRIORITY as i64;

/// `GEM_CONTEXT_CREATE` and `GEM_CONTEXT_CREATE_EXT` create a context and apply each `SETPARAM`
/// extension to it.
///
/// `flags` may be `USE_EXTENSIONS`, and on execlist engines `SINGLE_TIMELINE`; in the old form of
/// the ioctl, the padding in the same place must be zero. `ctx_id` in an extension must be zero.
/// Returns `ctx_id`.
///
/// Errors: `EINVAL` for an unknown flag or extension, and for a context id in an extension; `E2BIG`
/// for too many extensions; `EFAULT`; `EIO` if the client is banned or the device is wedged;
/// `ENOSPC` for too many contexts of the file; `ENOMEM`; those of [`setparam`].
pub(super) fn create(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_create_ext,
) -> Result {
    const KNOWN: u32 = abi::I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS;
    const IN_ORDER: u32 = abi::I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE;
    let client = file.inner();
    // The old form of the ioctl has padding in place of the flags.
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

/// `GEM_CONTEXT_DESTROY` removes a context from the file. Its published requests continue if it is
/// persistent. `pad` must be zero.
///
/// Errors: `EINVAL` for padding, `ENOENT` for an unknown context and for the default one.
pub(super) fn destroy(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_destroy,
) -> Result {
    require(arg.pad == 0)?;
    // The default context exists as long as the file.
    if arg.ctx_id == 0 {
        return Err(ENOENT);
    }
    file.inner().remove_context(arg.ctx_id)
}

/// `GEM_CONTEXT_GETPARAM` returns a parameter of a context in `value`; for `WATCHDOG`, in the
/// structure that `value` points to. `size` returns zero.
///
/// Errors: `ENOENT` for an unknown context; `ENODEV` for `SSEU`, and for `VM` on chips with one
/// address space; `ENOSPC` for `VM` if the file has too many VM ids; those of [`watchdog::get`];
/// `EINVAL` for other parameters.
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
            // Each call returns a new id of the same VM.
            let space = client.gpu().own_space(&context)?;
            client.add_space(space.clone())?.into()
        }
        // No chip here can power slices down.
        abi::I915_CONTEXT_PARAM_SSEU => return Err(ENODEV),
        // No chip here has protected contents, so no context has some.
        abi::I915_CONTEXT_PARAM_PROTECTED_CONTENT => 0,
        _ => return Err(EINVAL),
    };
    arg.size = 0;
    arg.value = value;
    Ok(())
}

/// `GEM_CONTEXT_SETPARAM` sets a parameter of a context to `value`. `size` must be zero, except for
/// parameters that are structures.
///
/// Errors: `ENOENT` for an unknown context, engine or VM; `EINVAL` for an unknown parameter, a
/// wrong size or value, and for parameters that can be set only once or only at creation; `ENODEV`
/// for features that the chip does not have; `EPERM` for clearing `BANNABLE` without
/// `CAP_SYS_ADMIN`, and for a priority above the default without `CAP_SYS_NICE`; `EEXIST` for a
/// virtual engine in a slot that is not a gap; `E2BIG` for too many extensions; `EFAULT`; those of
/// [`watchdog::set`] and [`image::set`].
pub(super) fn setparam(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_context_param,
) -> Result {
    let client = file.inner();
    let context = client.context(arg.ctx_id)?;
    set(&client, &context, arg, Age::InUse)
}

/// Whether the context is being created, or user space has its id already.
#[derive(PartialEq, Eq)]
enum Age {
    Fresh,
    InUse,
}

/// Returns `ENODEV` on chips whose uAPI has no VMs.
fn require_own_spaces(client: &File) -> Result {
    if client.gpu().shares_spaces() {
        Ok(())
    } else {
        Err(ENODEV)
    }
}

/// `GEM_VM_CREATE` creates a VM (PPGTT) that contexts can share. `flags` must be zero; no extension
/// is known. Returns `vm_id`.
///
/// Errors: `ENODEV` on chips whose uAPI has no VMs, before all others; `EINVAL` for a flag or an
/// extension; `EFAULT`; `ENOSPC` for too many VM ids of the file, or if there is no room for page
/// tables; `ENOMEM`.
pub(super) fn vm_create(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_vm_control,
) -> Result {
    let client = file.inner();
    require_own_spaces(&client)?;
    require(arg.flags == 0)?;
    // No extension is known.
    extension::walk(arg.extensions, |_, _| Err(EINVAL))?;
    arg.vm_id = client.add_space(client.gpu().new_space(client.holder().of_tables())?)?;
    Ok(())
}

/// `GEM_VM_DESTROY` frees a VM id; contexts keep the VM. `flags` and `extensions` must be zero.
///
/// Errors: `EINVAL` for flags or extensions, `ENOENT` for an unknown VM.
pub(super) fn vm_destroy(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_vm_control,
) -> Result {
    require(arg.flags == 0 && arg.extensions == 0)?;
    file.inner().remove_space(arg.vm_id)
}

/// Returns a boolean parameter's value. Errors: `EINVAL` for a size.
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
                // A ring runs requests in order: there are no priorities.
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
            // The default context's VM cannot be changed.
            require(age == Age::Fresh || arg.ctx_id != 0)?;
            let id = u32::try_from(arg.value).map_err(|_| ENOENT)?;
            context.choose_space(client.space(id)?)?;
        }
        abi::I915_CONTEXT_PARAM_SSEU => {
            require(arg.size as usize >= size_of::<abi::drm_i915_gem_context_param_sseu>())?;
            return Err(ENODEV);
        }
        abi::I915_CONTEXT_PARAM_CONTEXT_IMAGE => {
            require(age == Age::InUse)?;
            image::set(gpu, context, arg)?;
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

// SPDX-License-Identifier: GPL-2.0

//! `DRM_OURO_CONTEXT_PARAM_WATCHDOG`: the time limit of a context's batches on an engine with a
//! watchdog. Upstream has no such parameter, and returns `EINVAL`.

use core::mem::offset_of;
use kernel::prelude::*;
use ouro_hw::engine::WatchdogLimits;
use ouro_kernel::uaccess;
use ouro_uapi::{i915 as abi, ouro as ouro_abi};

use super::{engine_class, require};
use crate::{gpu::Gpu, submit::Context};

use ouro_abi::drm_ouro_watchdog as Watchdog;

/// The number of the parameter.
pub(super) const PARAM: u64 = ouro_abi::DRM_OURO_CONTEXT_PARAM_WATCHDOG;

/// An engine with a watchdog.
struct Watched {
    index: usize,
    limits: WatchdogLimits,
}

/// Reads the parameter's structure, and finds the engine that it names.
///
/// Errors: `ENODEV` if no engine has a watchdog, before all others; `EINVAL` for another size,
/// flags, and an engine that does not exist or has no watchdog; `EFAULT`.
fn read(gpu: &Gpu, arg: &abi::drm_i915_gem_context_param) -> Result<(Watchdog, Watched)> {
    let engines = gpu.engines();
    let limits = |e: &crate::submit::Engine| e.hw().desc().watchdog;
    if !engines.iter().any(|e| limits(e).is_some()) {
        return Err(ENODEV);
    }
    require(arg.size as usize == size_of::<Watchdog>())?;
    let asked: Watchdog = uaccess::read(arg.value)?;
    require(asked.flags == 0)?;
    let wanted = (asked.engine_class, asked.engine_instance);
    let mut named = engines.iter().filter(|e| {
        let name = gpu.name_of(e);
        name.map(|id| (engine_class(id.class), id.instance.into())) == Some(wanted)
    });
    let engine = named.next().ok_or(EINVAL)?;
    let limits = limits(engine).ok_or(EINVAL)?;
    let index = engine.index();
    Ok((asked, Watched { index, limits }))
}

/// Sets the limit of batches published later. Errors: those of [`read`]; `EINVAL` for a limit that
/// the watchdog cannot be set to.
pub(super) fn set(gpu: &Gpu, context: &Context, arg: &abi::drm_i915_gem_context_param) -> Result {
    let (asked, watched) = read(gpu, arg)?;
    let micros = match asked.limit_us {
        0 => None,
        n => Some(u32::try_from(n).map_err(|_| EINVAL)?),
    };
    require(micros.is_none_or(|m| watched.limits.allow(m)))?;
    context.params().watchdogs.set(watched.index, micros);
    Ok(())
}

/// Returns the limit to user space. Errors: those of [`read`].
pub(super) fn get(gpu: &Gpu, context: &Context, arg: &abi::drm_i915_gem_context_param) -> Result {
    let (_, watched) = read(gpu, arg)?;
    let micros = context.params().watchdogs.get(watched.index);
    let at = offset_of!(Watchdog, limit_us) as u64;
    uaccess::write(arg.value.wrapping_add(at), &u64::from(micros.unwrap_or(0)))
}

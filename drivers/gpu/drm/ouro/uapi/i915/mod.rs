// SPDX-License-Identifier: GPL-2.0

//! The i915 uAPI (`include/uapi/drm/i915_drm.h`), as Mesa and IGT use it.

mod context;
mod create;
mod engines;
mod exec;
mod exec_fences;
mod extension;
mod gem;
mod getparam;
mod image;
mod query;
mod reg_read;
mod reset;
mod tiling;
mod userptr;
mod watchdog;

use kernel::prelude::*;
use ouro_kernel::drm::{self, ioctl::RENDER_ALLOW};
use ouro_uapi::{i915 as abi, ouro as ouro_abi};

use super::{ouro, require};
use crate::{
    device::{DrmFile, Ouro},
    fdinfo,
    gem::region::{Kind, Region},
};

/// The uAPI of Intel's devices.
pub(crate) struct I915;

impl drm::Personality for I915 {
    type Driver = Ouro;

    // User space picks its driver by this name.
    const INFO: drm::DriverInfo = drm::DriverInfo {
        major: 1,
        minor: 6,
        patchlevel: 0,
        name: c"i915",
        desc: c"ouro, with the i915 interface",
    };

    // Ioctls that exist in two sizes are listed once, with the larger one.
    const IOCTLS: &'static drm::ioctl::Table<Ouro> = ouro_kernel::ioctls!(Ouro;
        (abi::DRM_IOCTL_I915_GETPARAM, getparam::GetParam, RENDER_ALLOW, getparam::getparam),
        (abi::DRM_IOCTL_I915_GEM_CREATE, abi::drm_i915_gem_create, RENDER_ALLOW, create::create),
        (abi::DRM_IOCTL_I915_GEM_CREATE_EXT, abi::drm_i915_gem_create_ext, RENDER_ALLOW,
            create::create_ext),
        (abi::DRM_IOCTL_I915_GEM_PREAD, abi::drm_i915_gem_pread, RENDER_ALLOW, gem::pread),
        (abi::DRM_IOCTL_I915_GEM_PWRITE, abi::drm_i915_gem_pwrite, RENDER_ALLOW, gem::pwrite),
        (abi::DRM_IOCTL_I915_GEM_MMAP_OFFSET, abi::drm_i915_gem_mmap_offset, RENDER_ALLOW,
            gem::mmap_offset),
        (abi::DRM_IOCTL_I915_GEM_SET_DOMAIN, abi::drm_i915_gem_set_domain, RENDER_ALLOW,
            gem::set_domain),
        (abi::DRM_IOCTL_I915_GEM_MMAP, abi::drm_i915_gem_mmap, RENDER_ALLOW, gem::mmap),
        (abi::DRM_IOCTL_I915_GEM_SW_FINISH, abi::drm_i915_gem_sw_finish, RENDER_ALLOW,
            gem::sw_finish),
        (abi::DRM_IOCTL_I915_GEM_SET_CACHING, abi::drm_i915_gem_caching, RENDER_ALLOW,
            gem::set_caching),
        (abi::DRM_IOCTL_I915_GEM_GET_CACHING, abi::drm_i915_gem_caching, RENDER_ALLOW,
            gem::get_caching),
        (abi::DRM_IOCTL_I915_GEM_MADVISE, abi::drm_i915_gem_madvise, RENDER_ALLOW, gem::madvise),
        (abi::DRM_IOCTL_I915_GEM_USERPTR, abi::drm_i915_gem_userptr, RENDER_ALLOW,
            userptr::userptr),
        (abi::DRM_IOCTL_I915_GEM_THROTTLE, (), RENDER_ALLOW, gem::throttle),
        (abi::DRM_IOCTL_I915_GEM_BUSY, abi::drm_i915_gem_busy, RENDER_ALLOW, gem::busy),
        (abi::DRM_IOCTL_I915_GEM_WAIT, abi::drm_i915_gem_wait, RENDER_ALLOW, gem::wait),
        (abi::DRM_IOCTL_I915_GEM_GET_APERTURE, abi::drm_i915_gem_get_aperture, RENDER_ALLOW,
            gem::get_aperture),
        (abi::DRM_IOCTL_I915_GEM_SET_TILING, abi::drm_i915_gem_set_tiling, RENDER_ALLOW,
            tiling::set_tiling),
        (abi::DRM_IOCTL_I915_GEM_GET_TILING, abi::drm_i915_gem_get_tiling, RENDER_ALLOW,
            tiling::get_tiling),
        (abi::DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, abi::drm_i915_gem_execbuffer2, RENDER_ALLOW,
            exec::execbuffer2),
        (abi::DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, abi::drm_i915_gem_context_create_ext,
            RENDER_ALLOW, context::create),
        (abi::DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, abi::drm_i915_gem_context_destroy, RENDER_ALLOW,
            context::destroy),
        (abi::DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, abi::drm_i915_gem_context_param, RENDER_ALLOW,
            context::getparam),
        (abi::DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, abi::drm_i915_gem_context_param, RENDER_ALLOW,
            context::setparam),
        (abi::DRM_IOCTL_I915_GET_RESET_STATS, abi::drm_i915_reset_stats, RENDER_ALLOW,
            reset::stats),
        (abi::DRM_IOCTL_I915_GEM_VM_CREATE, abi::drm_i915_gem_vm_control, RENDER_ALLOW,
            context::vm_create),
        (abi::DRM_IOCTL_I915_GEM_VM_DESTROY, abi::drm_i915_gem_vm_control, RENDER_ALLOW,
            context::vm_destroy),
        (abi::DRM_IOCTL_I915_REG_READ, abi::drm_i915_reg_read, RENDER_ALLOW, reg_read::read),
        (abi::DRM_IOCTL_I915_QUERY, abi::drm_i915_query, RENDER_ALLOW, query::query),
        (ouro_abi::DRM_IOCTL_OURO_DEVICE, ouro_abi::drm_ouro_device, RENDER_ALLOW, ouro::device),
        (ouro_abi::DRM_IOCTL_OURO_ENGINES, ouro_abi::drm_ouro_list, RENDER_ALLOW, ouro::engines),
        (ouro_abi::DRM_IOCTL_OURO_REGIONS, ouro_abi::drm_ouro_list, RENDER_ALLOW, ouro::regions),
        (ouro_abi::DRM_IOCTL_OURO_STATS, ouro_abi::drm_ouro_stats, RENDER_ALLOW, ouro::stats),
    );

    fn show_fdinfo(file: &DrmFile, printer: &mut drm::Printer<'_>) {
        fdinfo::show(file, printer, region_name);
    }
}

/// Returns the name of a region in fdinfo: the class and the instance of
/// `struct drm_i915_gem_memory_class_instance`.
fn region_name(region: &Region) -> &'static CStr {
    match (region.kind(), region.instance()) {
        (Kind::System, _) => c"system0",
        (Kind::Local, 0) => c"local0",
        (Kind::Local, 1) => c"local1",
        (Kind::Local, _) => c"local2",
    }
}

/// Returns the number of an engine class in the uAPI (`enum drm_i915_gem_engine_class`).
pub(crate) fn engine_class(class: ouro_hw::EngineClass) -> u16 {
    use ouro_hw::EngineClass::*;
    (match class {
        Render => abi::drm_i915_gem_engine_class_I915_ENGINE_CLASS_RENDER,
        Copy => abi::drm_i915_gem_engine_class_I915_ENGINE_CLASS_COPY,
        Video => abi::drm_i915_gem_engine_class_I915_ENGINE_CLASS_VIDEO,
        VideoEnhance => abi::drm_i915_gem_engine_class_I915_ENGINE_CLASS_VIDEO_ENHANCE,
        Compute => abi::drm_i915_gem_engine_class_I915_ENGINE_CLASS_COMPUTE,
    }) as u16
}

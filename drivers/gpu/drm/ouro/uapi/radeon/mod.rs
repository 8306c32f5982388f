// SPDX-License-Identifier: GPL-2.0

//! The radeon uAPI (`include/uapi/drm/radeon_drm.h`), as Mesa's r300 driver uses it.
//!
//! A BO's domains are the core's regions: VRAM is the device's own memory, GTT is system memory. A
//! BO that may be in VRAM may also be in GTT: it is moved there when others need its memory.

mod cs;
mod domain;
mod gem;
mod info;
mod tiling;
mod userptr;

use kernel::prelude::*;
use ouro_kernel::drm::{self, ioctl::RENDER_ALLOW};
use ouro_uapi::{ouro as ouro_abi, radeon as abi};

use super::{ouro, require};
use crate::{
    device::{DrmFile, Ouro},
    fdinfo,
    gem::region::{Kind, Region},
};

/// The uAPI of ATI's devices.
pub(crate) struct Radeon;

impl drm::Personality for Radeon {
    type Driver = Ouro;

    // User space picks its driver by this name, and the available ioctls by the version.
    const INFO: drm::DriverInfo = drm::DriverInfo {
        major: 2,
        minor: 51,
        patchlevel: 0,
        name: c"radeon",
        desc: c"ouro, with the radeon interface",
    };

    const IOCTLS: &'static drm::ioctl::Table<Ouro> = ouro_kernel::ioctls!(Ouro;
        (abi::DRM_IOCTL_RADEON_GEM_INFO, abi::drm_radeon_gem_info, RENDER_ALLOW, gem::info),
        (abi::DRM_IOCTL_RADEON_GEM_CREATE, abi::drm_radeon_gem_create, RENDER_ALLOW, gem::create),
        (abi::DRM_IOCTL_RADEON_GEM_MMAP, abi::drm_radeon_gem_mmap, RENDER_ALLOW, gem::mmap),
        (abi::DRM_IOCTL_RADEON_GEM_SET_DOMAIN, abi::drm_radeon_gem_set_domain, RENDER_ALLOW,
            gem::set_domain),
        (abi::DRM_IOCTL_RADEON_GEM_WAIT_IDLE, abi::drm_radeon_gem_wait_idle, RENDER_ALLOW,
            gem::wait_idle),
        (abi::DRM_IOCTL_RADEON_CS, abi::drm_radeon_cs, RENDER_ALLOW, cs::cs),
        (abi::DRM_IOCTL_RADEON_INFO, abi::drm_radeon_info, RENDER_ALLOW, info::info),
        (abi::DRM_IOCTL_RADEON_GEM_SET_TILING, abi::drm_radeon_gem_set_tiling, RENDER_ALLOW,
            tiling::set_tiling),
        (abi::DRM_IOCTL_RADEON_GEM_GET_TILING, abi::drm_radeon_gem_get_tiling, RENDER_ALLOW,
            tiling::get_tiling),
        (abi::DRM_IOCTL_RADEON_GEM_BUSY, abi::drm_radeon_gem_busy, RENDER_ALLOW, gem::busy),
        (abi::DRM_IOCTL_RADEON_GEM_OP, abi::drm_radeon_gem_op, RENDER_ALLOW, gem::op),
        (abi::DRM_IOCTL_RADEON_GEM_USERPTR, abi::drm_radeon_gem_userptr, RENDER_ALLOW,
            userptr::userptr),
        (ouro_abi::DRM_IOCTL_OURO_DEVICE, ouro_abi::drm_ouro_device, RENDER_ALLOW, ouro::device),
        (ouro_abi::DRM_IOCTL_OURO_ENGINES, ouro_abi::drm_ouro_list, RENDER_ALLOW, ouro::engines),
        (ouro_abi::DRM_IOCTL_OURO_REGIONS, ouro_abi::drm_ouro_list, RENDER_ALLOW, ouro::regions),
        (ouro_abi::DRM_IOCTL_OURO_STATS, ouro_abi::drm_ouro_stats, RENDER_ALLOW, ouro::stats),
    );

    fn show_fdinfo(file: &DrmFile, printer: &mut drm::Printer<'_>) {
        fdinfo::show(file, printer, region_name);
    }
}

/// Returns the name of a region in fdinfo. A second VRAM region is the one for tests.
fn region_name(region: &Region) -> &'static CStr {
    match (region.kind(), region.instance()) {
        (Kind::System, _) => c"gtt",
        (Kind::Local, 0) => c"vram",
        (Kind::Local, _) => c"vram1",
    }
}

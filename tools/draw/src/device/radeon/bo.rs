// SPDX-License-Identifier: GPL-2.0
//! A buffer object of the radeon interface: it lives in a domain.

use anyhow::{bail, Context, Result};

use super::super::handle::Handle;
use super::super::sys::Mapping;
use super::super::uapi::*;
use super::super::Device;

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// The system's, through the table.
    Gtt,
    /// The card's.
    Vram,
}

impl Domain {
    /// Both.
    pub const ALL: [Domain; 2] = [Domain::Gtt, Domain::Vram];

    /// Its bit.
    pub const fn bit(self) -> u32 {
        match self {
            Domain::Gtt => RADEON_GEM_DOMAIN_GTT,
            Domain::Vram => RADEON_GEM_DOMAIN_VRAM,
        }
    }
}

/// A buffer object of an open device; closed when dropped.
pub struct Bo<'a> {
    handle: Handle<'a>,
    /// Its size in bytes.
    pub size: usize,
}

impl<'a> Bo<'a> {
    /// Its handle.
    pub fn handle(&self) -> u32 {
        self.handle.number
    }

    /// Makes one that may be in both memories. It is zero: the upstream driver leaves in `VRAM` what was
    /// there, and moves an object from `GTT` when a stream wants it.
    pub fn new(device: &'a Device, size: usize) -> Result<Bo<'a>> {
        let initial_domain = if device.is_peer() {
            RADEON_GEM_DOMAIN_GTT
        } else {
            RADEON_GEM_DOMAIN_VRAM | RADEON_GEM_DOMAIN_GTT
        };
        let mut create = drm_radeon_gem_create {
            size: size as u64,
            alignment: 4096,
            initial_domain,
            ..Default::default()
        };
        device.call("RADEON_GEM_CREATE", DRM_RADEON_GEM_CREATE, &mut create)?;
        Ok(Bo {
            handle: Handle {
                device,
                number: create.handle,
            },
            size,
        })
    }

    /// Maps it whole.
    pub fn map(&self) -> Result<Mapping> {
        let mut get = drm_radeon_gem_mmap {
            handle: self.handle.number,
            size: self.size as u64,
            ..Default::default()
        };
        self.handle
            .device
            .call("RADEON_GEM_MMAP", DRM_RADEON_GEM_MMAP, &mut get)?;
        Ok(Mapping::new(
            self.handle.device.fd(),
            get.addr_ptr,
            self.size,
        )?)
    }

    /// Waits until the GPU is done with it.
    pub fn wait(&self) -> Result<()> {
        let mut wait = drm_radeon_gem_wait_idle {
            handle: self.handle.number,
            pad: 0,
        };
        self.handle
            .device
            .call("RADEON_GEM_WAIT_IDLE", DRM_RADEON_GEM_WAIT_IDLE, &mut wait)
    }

    /// In which memory it is, when the GPU is done with it.
    pub fn domain(&self) -> Result<Domain> {
        let mut busy = drm_radeon_gem_busy {
            handle: self.handle.number,
            domain: 0,
        };
        self.handle
            .device
            .call("RADEON_GEM_BUSY", DRM_RADEON_GEM_BUSY, &mut busy)
            .context("busy after it was waited for")?;
        match Domain::ALL.into_iter().find(|d| d.bit() == busy.domain) {
            Some(domain) => Ok(domain),
            None => bail!("it is in domain {:#x}", busy.domain),
        }
    }
}

// SPDX-License-Identifier: GPL-2.0
//! A buffer object of the radeon interface: it lives in a domain.

use anyhow::{bail, Context, Result};

use crate::handle::Handle;
use crate::sys::Mapping;
use crate::uapi::*;
use crate::Node;

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

    /// Makes one, at first in these domains (bits of [`Domain::bit`]). In `GTT` it is zero; the upstream driver
    /// leaves in `VRAM` what was there, and moves an object from `GTT` when a stream wants it.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn new(node: &'a Node, size: usize, initial_domain: u32) -> Result<Bo<'a>> {
        let mut create = drm_radeon_gem_create {
            size: size as u64,
            alignment: 4096,
            initial_domain,
            ..Default::default()
        };
        node.call("RADEON_GEM_CREATE", DRM_RADEON_GEM_CREATE, &mut create)?;
        Ok(Bo {
            handle: Handle {
                node,
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
            .node
            .call("RADEON_GEM_MMAP", DRM_RADEON_GEM_MMAP, &mut get)?;
        Ok(Mapping::new(
            self.handle.node.fd(),
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
            .node
            .call("RADEON_GEM_WAIT_IDLE", DRM_RADEON_GEM_WAIT_IDLE, &mut wait)
    }

    /// In which memory it is, when the GPU is done with it.
    pub fn domain(&self) -> Result<Domain> {
        let mut busy = drm_radeon_gem_busy {
            handle: self.handle.number,
            domain: 0,
        };
        self.handle
            .node
            .call("RADEON_GEM_BUSY", DRM_RADEON_GEM_BUSY, &mut busy)
            .context("busy after it was waited for")?;
        match Domain::ALL.into_iter().find(|d| d.bit() == busy.domain) {
            Some(domain) => Ok(domain),
            None => bail!("it is in domain {:#x}", busy.domain),
        }
    }
}

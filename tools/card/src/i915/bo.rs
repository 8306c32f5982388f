// SPDX-License-Identifier: GPL-2.0
//! A buffer object.

use anyhow::Result;

use crate::handle::Handle;
use crate::sys::Mapping;
use crate::uapi::*;
use crate::Node;

/// How the CPU sees a buffer that it maps.
#[derive(Clone, Copy, Debug)]
pub enum Caching {
    /// Through its caches.
    WriteBack,
    /// Around them.
    WriteCombined,
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

    /// Makes one; the driver rounds the size up to pages.
    pub fn new(node: &'a Node, size: usize) -> Result<Bo<'a>> {
        let mut create = drm_i915_gem_create {
            size: size as u64,
            ..Default::default()
        };
        node.call("I915_GEM_CREATE", DRM_I915_GEM_CREATE, &mut create)?;
        Ok(Bo {
            handle: Handle {
                node,
                number: create.handle,
            },
            size,
        })
    }

    /// Maps it whole.
    pub fn map(&self, caching: Caching) -> Result<Mapping> {
        let flags = match caching {
            Caching::WriteBack => I915_MMAP_OFFSET_WB,
            Caching::WriteCombined => I915_MMAP_OFFSET_WC,
        };
        let mut get = drm_i915_gem_mmap_offset {
            handle: self.handle.number,
            flags: u64::from(flags),
            ..Default::default()
        };
        self.handle
            .node
            .call("I915_GEM_MMAP_OFFSET", DRM_I915_GEM_MMAP_GTT, &mut get)?;
        Ok(Mapping::new(self.handle.node.fd(), get.offset, self.size)?)
    }

    /// Writes by the PWRITE ioctl.
    pub fn pwrite(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let mut write = drm_i915_gem_pwrite {
            handle: self.handle.number,
            offset: offset as u64,
            size: bytes.len() as u64,
            data_ptr: bytes.as_ptr() as u64,
            ..Default::default()
        };
        self.handle
            .node
            .call("I915_GEM_PWRITE", DRM_I915_GEM_PWRITE, &mut write)
    }

    /// Reads all of it by the PREAD ioctl.
    pub fn pread(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0u8; self.size];
        let mut read = drm_i915_gem_pread {
            handle: self.handle.number,
            size: bytes.len() as u64,
            data_ptr: bytes.as_mut_ptr() as u64,
            ..Default::default()
        };
        self.handle
            .node
            .call("I915_GEM_PREAD", DRM_I915_GEM_PREAD, &mut read)?;
        Ok(bytes)
    }

    /// Makes it ready for the CPU; waits for the GPU.
    pub fn to_cpu(&self, caching: Caching, write: bool) -> Result<()> {
        let domain = match caching {
            Caching::WriteBack => I915_GEM_DOMAIN_CPU,
            Caching::WriteCombined => I915_GEM_DOMAIN_WC,
        };
        let write_domain = if write { domain } else { 0 };
        let mut set = drm_i915_gem_set_domain {
            handle: self.handle.number,
            read_domains: domain,
            write_domain,
        };
        self.handle
            .node
            .call("I915_GEM_SET_DOMAIN", DRM_I915_GEM_SET_DOMAIN, &mut set)
    }

    /// Waits until the GPU is done with it, at most `timeout` ns.
    pub fn wait(&self, timeout: i64) -> Result<()> {
        let mut wait = drm_i915_gem_wait {
            bo_handle: self.handle.number,
            flags: 0,
            timeout_ns: timeout,
        };
        self.handle
            .node
            .call("I915_GEM_WAIT", DRM_I915_GEM_WAIT, &mut wait)
    }

    /// Whether the GPU has work with it.
    pub fn busy(&self) -> Result<bool> {
        let mut busy = drm_i915_gem_busy {
            handle: self.handle.number,
            busy: 0,
        };
        self.handle
            .node
            .call("I915_GEM_BUSY", DRM_I915_GEM_BUSY, &mut busy)?;
        Ok(busy.busy != 0)
    }
}

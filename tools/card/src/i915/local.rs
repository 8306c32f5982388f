// SPDX-License-Identifier: GPL-2.0
//! Buffer objects of a card with memory of its own: it is said where they may live, they are mapped in one
//! way, and the client gives them their addresses.

use anyhow::{Context, Result};

use crate::handle::Handle;
use crate::sys::Mapping;
use crate::uapi::*;
use crate::Node;

/// Objects in the card's memory have whole pages of this size ("GEM_CREATE_EXT" in i915_drm.h).
const CARD_PAGE: usize = 64 << 10;
/// And addresses are multiples of this, so that no table has pages of two sizes (the same).
const ADDRESS_ALIGN: u64 = 2 << 20;
/// The first address: beyond what 32 bits say.
const FIRST_ADDRESS: u64 = 4 << 30;

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The system's.
    System,
    /// The card's.
    Card,
    /// The card's as long as there is room, or the system's.
    Either,
}

impl Memory {
    /// What the call wants to know, in order.
    fn regions(self) -> &'static [drm_i915_gem_memory_class_instance] {
        const fn region(class: u32) -> drm_i915_gem_memory_class_instance {
            drm_i915_gem_memory_class_instance {
                memory_class: class as u16,
                memory_instance: 0,
            }
        }
        const SYSTEM: drm_i915_gem_memory_class_instance =
            region(drm_i915_gem_memory_class_I915_MEMORY_CLASS_SYSTEM);
        const CARD: drm_i915_gem_memory_class_instance =
            region(drm_i915_gem_memory_class_I915_MEMORY_CLASS_DEVICE);
        match self {
            Memory::System => &[SYSTEM],
            Memory::Card => &[CARD],
            Memory::Either => &[CARD, SYSTEM],
        }
    }
}

/// Gives addresses to objects, none twice.
pub struct Addresses(u64);

impl Default for Addresses {
    /// None is given yet.
    fn default() -> Addresses {
        Addresses(FIRST_ADDRESS)
    }
}

impl Addresses {
    fn take(&mut self, size: usize) -> u64 {
        let at = self.0;
        self.0 += (size as u64).next_multiple_of(ADDRESS_ALIGN);
        at
    }
}

/// A buffer object of an open device; closed when dropped.
pub struct Bo<'a> {
    handle: Handle<'a>,
    /// Its size in bytes.
    pub size: usize,
    /// Its address in every context.
    pub address: u64,
}

impl<'a> Bo<'a> {
    /// Makes one of at least this size.
    pub fn new(
        node: &'a Node,
        addresses: &mut Addresses,
        memory: Memory,
        size: usize,
    ) -> Result<Bo<'a>> {
        let size = size.next_multiple_of(CARD_PAGE);
        let list = memory.regions();
        let regions = drm_i915_gem_create_ext_memory_regions {
            base: i915_user_extension {
                name: I915_GEM_CREATE_EXT_MEMORY_REGIONS,
                ..Default::default()
            },
            pad: 0,
            num_regions: list.len() as u32,
            regions: list.as_ptr() as u64,
        };
        let mut create = drm_i915_gem_create_ext {
            size: size as u64,
            extensions: std::ptr::from_ref(&regions) as u64,
            ..Default::default()
        };
        node.call("I915_GEM_CREATE_EXT", DRM_I915_GEM_CREATE_EXT, &mut create)
            .with_context(|| format!("{size} bytes in {memory:?}"))?;
        Ok(Bo {
            handle: Handle {
                node,
                number: create.handle,
            },
            size,
            address: addresses.take(size),
        })
    }

    /// Maps it whole.
    pub fn map(&self) -> Result<Mapping> {
        let mut get = drm_i915_gem_mmap_offset {
            handle: self.handle.number,
            flags: u64::from(I915_MMAP_OFFSET_FIXED),
            ..Default::default()
        };
        self.handle
            .node
            .call("I915_GEM_MMAP_OFFSET", DRM_I915_GEM_MMAP_GTT, &mut get)?;
        Ok(Mapping::new(self.handle.node.fd(), get.offset, self.size)?)
    }

    /// Waits until the GPU is done with it.
    pub fn wait(&self) -> Result<()> {
        let mut wait = drm_i915_gem_wait {
            bo_handle: self.handle.number,
            flags: 0,
            timeout_ns: crate::PATIENCE,
        };
        self.handle
            .node
            .call("I915_GEM_WAIT", DRM_I915_GEM_WAIT, &mut wait)
    }

    /// As an entry of a submission's list.
    pub fn entry(&self, write: bool) -> drm_i915_gem_exec_object2 {
        let write = if write { EXEC_OBJECT_WRITE } else { 0 };
        drm_i915_gem_exec_object2 {
            handle: self.handle.number,
            offset: self.address,
            flags: u64::from(EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS | write),
            ..Default::default()
        }
    }
}

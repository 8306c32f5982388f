// SPDX-License-Identifier: GPL-2.0
//! Streams by the i915 interface: a buffer object for each buffer, relocations for addresses.

use anyhow::Result;
use ouro_card::i915::{Bo, Caching};
use ouro_card::uapi::*;
use ouro_card::{Node, PATIENCE};
use ouro_streams::{Engine, Family, Patch, Stream, Target};

use super::{facts, Card};

/// A card whose rings have their batches from objects that the driver places.
pub struct Rings<'a> {
    node: &'a Node,
    family: Family,
}

impl<'a> Rings<'a> {
    /// One that has run nothing.
    pub fn new(node: &'a Node, family: Family) -> Rings<'a> {
        Rings { node, family }
    }

    fn ring(&self, engine: Engine) -> u32 {
        match (engine, self.family) {
            (Engine::Render, _) | (Engine::Blitter, Family::Gen4) => I915_EXEC_RENDER,
            (Engine::Blitter, _) => I915_EXEC_BLT,
            (Engine::Video, _) => I915_EXEC_BSD,
        }
    }

    /// An address as a relocation; flags that a command keeps in its low bits are part of the delta.
    fn relocation(
        &self,
        stream: &Stream,
        patch: &Patch,
        bos: &[Bo<'_>],
    ) -> drm_i915_gem_relocation_entry {
        let (place, offset) = match patch.target {
            Target::Buffer(index, offset) => (index, offset),
            Target::Batch(dword) => (stream.buffers.len(), 4 * dword as u32),
        };
        let domain = match stream.is_global {
            true => I915_GEM_DOMAIN_INSTRUCTION,
            false => I915_GEM_DOMAIN_RENDER,
        };
        drm_i915_gem_relocation_entry {
            target_handle: bos[place].handle(),
            delta: offset.wrapping_add(stream.dwords[patch.dword]),
            offset: 4 * patch.dword as u64,
            presumed_offset: u64::MAX,
            read_domains: domain,
            write_domain: if patch.write { domain } else { 0 },
        }
    }

    fn submit(&self, stream: &Stream, bos: &[Bo<'_>]) -> Result<()> {
        let relocations: Vec<_> = stream
            .patches
            .iter()
            .map(|patch| self.relocation(stream, patch, bos))
            .collect();
        let writes = |index| {
            stream
                .patches
                .iter()
                .any(|p| p.write && matches!(p.target, Target::Buffer(i, _) if i == index))
        };
        let batch = stream.buffers.len();
        let mut objects: Vec<drm_i915_gem_exec_object2> = bos
            .iter()
            .enumerate()
            .map(|(index, bo)| {
                let write = if writes(index) { EXEC_OBJECT_WRITE } else { 0 };
                let global = stream.is_global && index != batch;
                drm_i915_gem_exec_object2 {
                    handle: bo.handle(),
                    flags: u64::from(write | if global { EXEC_OBJECT_NEEDS_GTT } else { 0 }),
                    ..Default::default()
                }
            })
            .collect();
        objects[batch].relocs_ptr = relocations.as_ptr() as u64;
        objects[batch].relocation_count = relocations.len() as u32;
        let mut exec = drm_i915_gem_execbuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: objects.len() as u32,
            batch_len: 4 * stream.dwords.len() as u32,
            flags: u64::from(self.ring(stream.engine)),
            ..Default::default()
        };
        self.node
            .call("I915_GEM_EXECBUFFER2", DRM_I915_GEM_EXECBUFFER2, &mut exec)
    }
}

/// Whether a batch of this program was running when the GPU was reset.
pub fn has_hung(node: &Node) -> bool {
    let mut stats = drm_i915_reset_stats::default();
    let asked = node.call("I915_GET_RESET_STATS", DRM_I915_GET_RESET_STATS, &mut stats);
    asked.is_ok() && stats.batch_active != 0
}

impl Card for Rings<'_> {
    fn run(&mut self, stream: &Stream) -> Result<Vec<Vec<u8>>> {
        let mut bos = Vec::new();
        for buffer in &stream.buffers {
            let bo = Bo::new(self.node, buffer.bytes.len())?;
            bo.pwrite(0, &buffer.bytes)?;
            bos.push(bo);
        }
        let commands: Vec<u8> = stream.dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        let batch = Bo::new(self.node, commands.len().next_multiple_of(4096))?;
        batch.pwrite(0, &commands)?;
        bos.push(batch);
        self.submit(stream, &bos)?;
        let mut after = Vec::new();
        for (bo, buffer) in bos.iter().zip(&stream.buffers) {
            if buffer.is_result {
                bo.wait(PATIENCE)?;
                bo.to_cpu(Caching::WriteBack, false)?;
                after.push(bo.pread()?);
            }
        }
        Ok(after)
    }

    fn has_hung(&self) -> bool {
        has_hung(self.node)
    }

    fn facts(&self) -> (Vec<(String, String)>, &'static str) {
        (facts::i915(self.node, self.family), self.swizzle())
    }
}

impl Rings<'_> {
    /// Returns the fold of address bit 6 in X tiles, of an object that is tiled for the question.
    fn swizzle(&self) -> &'static str {
        let ask = || -> Result<u32> {
            let bo = Bo::new(self.node, 4096)?;
            let mut set = drm_i915_gem_set_tiling {
                handle: bo.handle(),
                tiling_mode: I915_TILING_X,
                stride: 512,
                ..Default::default()
            };
            self.node
                .call("I915_GEM_SET_TILING", DRM_I915_GEM_SET_TILING, &mut set)?;
            Ok(set.swizzle_mode)
        };
        match ask() {
            Ok(I915_BIT_6_SWIZZLE_9) => "9",
            Ok(I915_BIT_6_SWIZZLE_9_10) => "9-10",
            Ok(I915_BIT_6_SWIZZLE_NONE) | Err(_) => "none",
            Ok(_) => "other",
        }
    }
}

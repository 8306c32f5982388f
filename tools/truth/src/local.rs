// SPDX-License-Identifier: GPL-2.0
//! Streams on cards with memory of their own: the client gives addresses, and there are no relocations. Buffers are in
//! the system's memory, as the streams' fills say of them.

use anyhow::Result;
use ouro_card::i915::local::{Addresses, Bo, Memory};
use ouro_card::uapi::*;
use ouro_card::Node;
use ouro_streams::{Engine, Family, Stream, Target};

use super::{facts, i915, Card};

/// A card whose contexts have address spaces of 48 bits.
pub struct Spaces<'a> {
    node: &'a Node,
}

impl<'a> Spaces<'a> {
    /// One that has run nothing.
    pub fn new(node: &'a Node) -> Spaces<'a> {
        Spaces { node }
    }
}

impl Card for Spaces<'_> {
    fn run(&mut self, stream: &Stream) -> Result<Vec<Vec<u8>>> {
        // The objects of the stream before are gone, and their addresses are free.
        let mut addresses = Addresses::default();
        let mut bos = Vec::new();
        for buffer in &stream.buffers {
            let bo = Bo::new(
                self.node,
                &mut addresses,
                Memory::System,
                buffer.bytes.len(),
            )?;
            bo.map()?.write(0, &buffer.bytes);
            bos.push(bo);
        }
        let batch = Bo::new(
            self.node,
            &mut addresses,
            Memory::System,
            4 * stream.dwords.len(),
        )?;
        let places: Vec<u64> = bos.iter().map(|bo| bo.address).collect();
        let dwords = stream.placed(batch.address, &places);
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        batch.map()?.write(0, &bytes);
        let writes = |index| {
            let is = |target| matches!(target, Target::Buffer(i, _) if i == index);
            stream.patches.iter().any(|p| p.write && is(p.target))
        };
        let mut objects: Vec<drm_i915_gem_exec_object2> = bos
            .iter()
            .enumerate()
            .map(|(index, bo)| bo.entry(writes(index)))
            .collect();
        objects.push(batch.entry(false));
        let ring = match stream.engine {
            Engine::Render => I915_EXEC_RENDER,
            Engine::Blitter => I915_EXEC_BLT,
            Engine::Video => I915_EXEC_BSD,
        };
        let mut exec = drm_i915_gem_execbuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: objects.len() as u32,
            batch_len: bytes.len() as u32,
            flags: u64::from(ring | I915_EXEC_NO_RELOC),
            ..Default::default()
        };
        self.node
            .call("I915_GEM_EXECBUFFER2", DRM_I915_GEM_EXECBUFFER2, &mut exec)?;
        let mut after = Vec::new();
        for (bo, buffer) in bos.iter().zip(&stream.buffers) {
            if buffer.is_result {
                bo.wait()?;
                let mut bytes = bo.map()?.read();
                bytes.truncate(buffer.bytes.len());
                after.push(bytes);
            }
        }
        Ok(after)
    }

    fn has_hung(&self) -> bool {
        i915::has_hung(self.node)
    }

    fn facts(&self) -> (Vec<(String, String)>, &'static str) {
        (facts::i915(self.node, Family::Gen12), "none")
    }
}

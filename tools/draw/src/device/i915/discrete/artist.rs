// SPDX-License-Identifier: GPL-2.0
//! A context that draws the picture on surfaces of its own.

use anyhow::{Context, Result};

use super::super::super::Device;
use super::super::make_context;
use ouro_card::i915::local::{Addresses, Bo, Memory};
use ouro_card::uapi::*;
use ouro_scene::dg2::blt::{self, BltSurface};
use ouro_scene::dg2::Layout;
use ouro_scene::flat::{Paint, Step};
use ouro_scene::mi;
use ouro_scene::surface::{Surface, Tiling};

/// Blits after which another context may take the engine, at the latest.
const BLITS_IN_A_ROW: usize = 16;

/// What an artist is.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// How urgent it is.
    pub priority: i32,
    /// Blits of a batch.
    pub blits: usize,
    /// Whether it has no more than two batches under way.
    pub patient: bool,
    /// How rows of its picture lie.
    pub layout: Layout,
}

/// A context and its surfaces.
pub struct Artist<'a> {
    device: &'a Device,
    /// Its id.
    pub context: u32,
    /// What it is.
    pub manner: Manner,
    /// The scene's buffers, one that has pixels, and one through which pixels go.
    pub bos: Vec<Bo<'a>>,
    /// Blits that were submitted.
    pub done: usize,
    /// The last batch, and the one before it.
    last: Option<Bo<'a>>,
    before: Option<Bo<'a>>,
}

impl<'a> Artist<'a> {
    /// One with a context of its own.
    pub fn new(device: &'a Device, manner: Manner, bos: Vec<Bo<'a>>) -> Result<Artist<'a>> {
        Ok(Artist {
            device,
            context: context_of(device, manner.priority)?,
            manner,
            bos,
            done: 0,
            last: None,
            before: None,
        })
    }

    /// A surface of the scene, as this one has it.
    pub fn blt_surface(&self, surface: &Surface) -> BltSurface {
        let buffer = surface.base.buffer.0;
        BltSurface {
            address: self.bos[buffer].address + u64::from(surface.base.offset),
            pitch: surface.pitch,
            layout: match (buffer, surface.tiling) {
                (0, _) => self.manner.layout,
                (_, Tiling::Linear) => Layout::Linear,
                (_, Tiling::X) => Layout::X,
            },
            depth: surface.depth,
        }
    }

    /// Commands of these steps.
    fn commands(&self, steps: &[Step]) -> Result<Vec<u32>> {
        let mut out = Vec::new();
        // Buffers that were drawn on and may not be there yet. No document says that a blit waits for those
        // before it.
        let mut fresh = vec![false; self.bos.len()];
        for (n, step) in steps.iter().enumerate() {
            let to = self.blt_surface(&step.dst);
            match &step.paint {
                Paint::Colour(colour) => {
                    out.extend(blt::fill(&to, &step.rect, *colour, false)?);
                }
                Paint::Pixels(from) => {
                    if fresh[from.surface.base.buffer.0] {
                        out.extend(blt::FLUSH);
                        fresh.fill(false);
                    }
                    let source = self.blt_surface(&from.surface);
                    out.extend(blt::copy(&to, &step.rect, &source, (from.x, from.y))?);
                }
            }
            fresh[step.dst.base.buffer.0] = true;
            if (n + 1) % BLITS_IN_A_ROW == 0 {
                out.push(blt::ARB_CHECK);
            }
        }
        Ok(out)
    }

    /// Submits the next batch and does not wait for it.
    pub fn go_on(&mut self, steps: &[Step], addresses: &mut Addresses) -> Result<()> {
        if let (true, Some(before)) = (self.manner.patient, &self.before) {
            before.wait()?;
        }
        let rest = &steps[self.done..];
        let now = &rest[..rest.len().min(self.manner.blits)];
        let commands = self.commands(now)?;
        let objects: Vec<(&Bo<'_>, bool)> = self.bos.iter().map(|bo| (bo, true)).collect();
        let batch = submit(self.device, self.context, addresses, commands, &objects)?;
        self.before = self.last.replace(batch);
        self.done += now.len();
        Ok(())
    }

    /// Bytes of its surfaces.
    pub fn bytes(&self) -> usize {
        self.bos.iter().map(|bo| bo.size).sum()
    }

    /// Waits for what was submitted last.
    pub fn wait(&self) -> Result<()> {
        self.last.as_ref().map_or(Ok(()), Bo::wait)
    }
}

/// Makes a context of a priority.
pub fn context_of(device: &Device, priority: i32) -> Result<u32> {
    let context = make_context(device)?;
    let mut set = drm_i915_gem_context_param {
        ctx_id: context,
        param: u64::from(I915_CONTEXT_PARAM_PRIORITY),
        value: i64::from(priority) as u64,
        ..Default::default()
    };
    device
        .call(
            "I915_GEM_CONTEXT_SETPARAM",
            DRM_I915_GEM_CONTEXT_SETPARAM,
            &mut set,
        )
        .with_context(|| format!("priority {priority}"))?;
    Ok(context)
}

/// Submits commands to the blitter. They stay in the system's memory, where the CPU writes them.
pub fn submit<'a>(
    device: &'a Device,
    context: u32,
    addresses: &mut Addresses,
    mut commands: Vec<u32>,
    objects: &[(&Bo<'_>, bool)],
) -> Result<Bo<'a>> {
    commands.push(mi::BATCH_BUFFER_END);
    if !commands.len().is_multiple_of(2) {
        commands.push(mi::NOOP);
    }
    let bytes: Vec<u8> = commands.iter().flat_map(|d| d.to_le_bytes()).collect();
    let batch = Bo::new(device, addresses, Memory::System, bytes.len())?;
    batch.map()?.write(0, &bytes);
    again(device, context, &batch, bytes.len(), objects)?;
    Ok(batch)
}

/// Submits what is in a batch, so many bytes.
pub fn again(
    device: &Device,
    context: u32,
    batch: &Bo<'_>,
    bytes: usize,
    objects: &[(&Bo<'_>, bool)],
) -> Result<()> {
    let mut list: Vec<drm_i915_gem_exec_object2> =
        objects.iter().map(|(bo, write)| bo.entry(*write)).collect();
    list.push(batch.entry(false));
    let mut exec = drm_i915_gem_execbuffer2 {
        buffers_ptr: list.as_mut_ptr() as u64,
        buffer_count: list.len() as u32,
        batch_len: bytes as u32,
        flags: u64::from(I915_EXEC_BLT | I915_EXEC_NO_RELOC),
        rsvd1: u64::from(context),
        ..Default::default()
    };
    device.call("I915_GEM_EXECBUFFER2", DRM_I915_GEM_EXECBUFFER2, &mut exec)
}

// SPDX-License-Identifier: GPL-2.0
//! Drawing a scene with the GPU: uploads, batches on its engines, waits in
//! several ways, reads everything back, and counts what submissions cost.

mod batch;
mod discrete;
pub(super) mod swizzle;

use std::time::Instant;

use anyhow::{bail, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};

use super::compare::compare;
use super::cost::{self, EngineCost, COUNTED};
use super::{Device, Drawn, Peer, Personality, PATIENCE};
use crate::report::Coverage;
use batch::{Addressing, Batch, Objects, Submitted, Target};
use ouro_card::i915::{Bo, Caching};
use ouro_card::uapi::*;
use ouro_scene::blt::{Blit, Command};
use ouro_scene::mi::Layout;
use ouro_scene::reference::Memory;
use ouro_scene::scene::{Scene, Store, Storer, Upload, Work};
use ouro_scene::surface::{Address, BufferId, Depth, Rect, Surface, Tiling};
use swizzle::Swizzle;

/// Numbers of the syncobj ioctls.
const SYNCOBJ_CREATE: u32 = 0xbf;
const SYNCOBJ_DESTROY: u32 = 0xc0;
const SYNCOBJ_WAIT: u32 = 0xc3;

/// Contexts besides the file's own.
const CONTEXTS: usize = 3;

/// The interface.
pub struct I915;

impl Personality for I915 {
    fn name(&self) -> &'static str {
        "i915"
    }

    fn peer(&self, device: &Device) -> Result<Peer> {
        let there = |p| parameter(device, p) > 0;
        let mut engines = vec!["rcs0".to_owned()];
        engines.extend(there(I915_PARAM_HAS_BLT).then(|| "bcs0".to_owned()));
        engines.extend(there(I915_PARAM_HAS_BSD).then(|| "vcs0".to_owned()));
        Ok(Peer {
            vendor: 0x8086,
            device: parameter(device, I915_PARAM_CHIPSET_ID) as u16,
            engines,
        })
    }

    fn draw(&self, device: &Device, scene: &Scene) -> Result<Drawn> {
        if discrete::is_discrete(device) {
            return discrete::draw(device, scene);
        }
        let started = Instant::now();
        let expected = scene.expected().context("drawing in software")?;
        let software_seconds = started.elapsed().as_secs_f64();
        Ok(Drawn {
            coverage: Coverage::of(scene),
            software_seconds,
            ..draw(device, scene, &expected)?
        })
    }
}

/// A parameter; 0 if the driver does not know it.
fn parameter(device: &Device, number: u32) -> i32 {
    ouro_card::i915::parameter(device, number).unwrap_or(0)
}

/// Makes a context.
fn make_context(device: &Device) -> Result<u32> {
    let mut create = drm_i915_gem_context_create::default();
    device.call(
        "I915_GEM_CONTEXT_CREATE",
        DRM_I915_GEM_CONTEXT_CREATE,
        &mut create,
    )?;
    Ok(create.ctx_id)
}

/// Ends a context.
fn destroy_context(device: &Device, id: u32) -> Result<()> {
    let mut destroy = drm_i915_gem_context_destroy {
        ctx_id: id,
        ..Default::default()
    };
    device.call(
        "I915_GEM_CONTEXT_DESTROY",
        DRM_I915_GEM_CONTEXT_DESTROY,
        &mut destroy,
    )
}

/// Which engines the device has for the scene.
fn layout(device: &Device) -> Layout {
    if parameter(device, I915_PARAM_HAS_BLT) > 0 {
        Layout::Rings
    } else {
        Layout::Render
    }
}

const RENDER: (&str, u32) = ("rcs0", I915_EXEC_RENDER);
const BLITTER: (&str, u32) = ("bcs0", I915_EXEC_BLT);

/// The engine for blits: its name and its ring.
fn blitter(layout: Layout) -> (&'static str, u32) {
    match layout {
        Layout::Rings => BLITTER,
        Layout::Render => RENDER,
    }
}

/// The engine for stores: its name and its ring.
fn ring(layout: Layout, by: Storer) -> (&'static str, u32) {
    match by {
        _ if layout == Layout::Render => RENDER,
        Storer::RenderDword
        | Storer::RenderQword
        | Storer::PipeControl
        | Storer::PipeControlGlobal => RENDER,
        Storer::CopyFlush => BLITTER,
        Storer::VideoFlush => ("vcs0", I915_EXEC_BSD),
    }
}

/// A syncobj of the device, if it has them.
struct Syncobj<'a> {
    device: &'a Device,
    handle: u32,
}

impl<'a> Syncobj<'a> {
    fn new(device: &'a Device) -> Result<Syncobj<'a>> {
        let mut create = drm_syncobj_create::default();
        device.core("SYNCOBJ_CREATE", SYNCOBJ_CREATE, &mut create)?;
        Ok(Syncobj {
            device,
            handle: create.handle,
        })
    }

    /// Waits until it is signalled. The deadline is on the monotonic clock.
    fn wait(&self) -> Result<()> {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let mut handles = [self.handle];
        let mut wait = drm_syncobj_wait {
            handles: handles.as_mut_ptr() as u64,
            timeout_nsec: now.tv_sec * 1_000_000_000 + now.tv_nsec + PATIENCE,
            count_handles: 1,
            ..Default::default()
        };
        self.device.core("SYNCOBJ_WAIT", SYNCOBJ_WAIT, &mut wait)
    }
}

impl Drop for Syncobj<'_> {
    fn drop(&mut self) {
        let mut destroy = drm_syncobj_destroy {
            handle: self.handle,
            pad: 0,
        };
        let _ = self
            .device
            .core("SYNCOBJ_DESTROY", SYNCOBJ_DESTROY, &mut destroy);
    }
}

/// Finds out what the GPU does to bit 6: sets the first pixel of each row of a tile and looks.
fn probe_swizzle(device: &Device) -> Result<Swizzle> {
    let bos = [Bo::new(device, 4096)?];
    let base = Address {
        buffer: BufferId(0),
        offset: 0,
    };
    let tile = Surface {
        base,
        pitch: 512,
        width: 128,
        height: 8,
        depth: Depth::Bpp32,
        tiling: Tiling::X,
    };
    let fill = Command::Blit(Blit::fill(tile, Rect::new(0, 0, 1, 8), 0xffff_ffff));
    let batch = Batch::of_blits(&[fill], &mut Vec::new())?;
    let mut objects = Objects::new(device, &bos);
    let target = Target {
        ring: blitter(layout(device)).1,
        ..Default::default()
    };
    let _done = objects.submit(&batch[0], target, Addressing::Relocations)?;
    bos[0].wait(PATIENCE)?;
    bos[0].to_cpu(Caching::WriteBack, false)?;
    let bytes = bos[0].map(Caching::WriteBack)?.read();
    Swizzle::detect(&bytes)
        .context("no pixel of the first tiled blit arrived where any known swizzle puts it")
}

fn upload(bo: &Bo<'_>, how: Upload, bytes: &[u8]) -> Result<()> {
    match how {
        Upload::Zero => Ok(()),
        Upload::Pwrite => bo.pwrite(0, bytes),
        Upload::WriteBack => {
            bo.to_cpu(Caching::WriteBack, true)?;
            bo.map(Caching::WriteBack)?.write(0, bytes);
            Ok(())
        }
        Upload::WriteCombined => {
            bo.to_cpu(Caching::WriteCombined, true)?;
            bo.map(Caching::WriteCombined)?.write(0, bytes);
            Ok(())
        }
    }
}

fn is_tiled(surface: &Option<Surface>) -> bool {
    surface.is_some_and(|s| s.tiling == Tiling::X)
}

/// Draws the scene and compares all of it with what is expected.
fn draw(device: &Device, scene: &Scene, expected: &Memory) -> Result<Drawn> {
    let started = Instant::now();
    let mut drawn = Drawn::default();
    let before = device.stats()?;
    let swizzle = probe_swizzle(device)?;
    drawn.swizzle = Some(swizzle);

    let mut bos = Vec::new();
    for buffer in &scene.buffers {
        let bo = Bo::new(device, buffer.size)?;
        let bytes = if is_tiled(&buffer.surface) {
            swizzle.swap(&buffer.contents())
        } else {
            buffer.initial.clone()
        };
        upload(&bo, buffer.upload, &bytes)
            .with_context(|| format!("contents of {}", buffer.name))?;
        bos.push(bo);
    }

    let contexts = (0..CONTEXTS)
        .map(|_| make_context(device))
        .collect::<Result<Vec<u32>>>()?;
    let syncobj = if parameter(device, I915_PARAM_HAS_EXEC_FENCE_ARRAY) > 0 {
        Some(Syncobj::new(device)?)
    } else {
        None
    };
    run_sections(device, scene, &bos, &contexts, syncobj.as_ref(), &mut drawn)?;

    for ((buffer, expected), bo) in scene.buffers.iter().zip(&expected.buffers).zip(&bos) {
        bo.wait(PATIENCE)
            .with_context(|| format!("wait for {}", buffer.name))?;
        bo.to_cpu(Caching::WriteBack, false)?;
        let mut found = bo.map(Caching::WriteBack)?.read();
        if bo.pread()? != found {
            bail!(
                "{}: PREAD and the mapping give different bytes",
                buffer.name
            );
        }
        if bo.busy()? {
            bail!("{}: busy after it was waited for", buffer.name);
        }
        if is_tiled(&buffer.surface) {
            found = swizzle.swap(&found);
        }
        let (pixels, difference) = compare(buffer, expected, &found);
        drawn.pixels_checked += pixels;
        drawn.bytes_checked += found.len() as u64;
        drawn.differences.extend(difference);
        if drawn.picture.is_empty() {
            drawn.picture = found;
        }
    }
    drawn.seconds = started.elapsed().as_secs_f64();

    if !device.is_peer() {
        let engines: &[Storer] = match layout(device) {
            Layout::Rings => &[Storer::RenderDword, Storer::CopyFlush, Storer::VideoFlush],
            Layout::Render => &[Storer::RenderDword],
        };
        for &by in engines {
            drawn.costs.push(count_cost(device, by)?);
        }
    }
    for id in contexts {
        destroy_context(device, id)?;
    }
    drawn.counted(&before, &device.stats()?);
    Ok(drawn)
}

fn run_sections(
    device: &Device,
    scene: &Scene,
    bos: &[Bo<'_>],
    contexts: &[u32],
    syncobj: Option<&Syncobj<'_>>,
    drawn: &mut Drawn,
) -> Result<()> {
    let mut objects = Objects::new(device, bos);
    let layout = layout(device);
    let mut setup = Vec::new();
    let mut count = 0;
    for section in &scene.sections {
        let (batches, (engine, ring), context) = match &section.work {
            Work::Blits(commands) => (Batch::of_blits(commands, &mut setup)?, blitter(layout), 0),
            Work::Stores { by, context, list } => (
                Batch::of_stores(layout, *by, list),
                ring(layout, *by),
                contexts[*context],
            ),
        };
        // Kept until the section is done: nothing waits between batches.
        let mut kept: Vec<Submitted> = Vec::new();
        for (i, batch) in batches.iter().enumerate() {
            let last = i + 1 == batches.len();
            let signal = if last {
                syncobj.map_or(0, |s| s.handle)
            } else {
                0
            };
            // Blits change their context, too: the blitter has no state that could be lost.
            let context = if context == 0 && i % 3 == 1 {
                contexts[count % contexts.len()]
            } else {
                context
            };
            let target = Target {
                ring,
                context,
                signal,
                fence_out: last && signal == 0,
            };
            let way = Addressing::ALL[count % 4];
            let done = objects
                .submit(batch, target, way)
                .with_context(|| format!("{}, batch {i}", section.name))?;
            *drawn.submissions.entry(engine.into()).or_default() += 1;
            *drawn
                .ways
                .entry(format!("{:?}", done.addressing))
                .or_default() += 1;
            kept.push(done);
            count += 1;
        }
        match (syncobj, kept.last()) {
            (Some(syncobj), Some(_)) => syncobj
                .wait()
                .with_context(|| format!("{}: syncobj", section.name))?,
            (None, Some(last)) => {
                wait_fence(last).with_context(|| format!("{}: fence", section.name))?
            }
            (_, None) => {}
        }
    }
    Ok(())
}

/// Waits for a fence file by poll, and for the batch's object if there is none.
fn wait_fence(submitted: &Submitted<'_>) -> Result<()> {
    let Some(fence) = &submitted.fence else {
        return submitted.bo.wait(PATIENCE);
    };
    let timeout = Timespec {
        tv_sec: PATIENCE / 1_000_000_000,
        tv_nsec: 0,
    };
    if poll(&mut [PollFd::new(fence, PollFlags::IN)], Some(&timeout))? == 0 {
        bail!("the fence was not signalled in time");
    }
    Ok(())
}

/// Counts what a row of submissions costs while nobody waits for any of them.
fn count_cost(device: &Device, by: Storer) -> Result<EngineCost> {
    let layout = layout(device);
    let (engine, ring) = ring(layout, by);
    let bos = [Bo::new(device, 4096)?];
    let mut objects = Objects::new(device, &bos);
    let target = Target {
        ring,
        ..Default::default()
    };
    let at = |n: u64| Address {
        buffer: BufferId(0),
        offset: n as u32 * 8,
    };
    let store = |n: u64| {
        Batch::of_stores(
            layout,
            by,
            &[Store {
                at: at(n),
                value: 0x0b0f_0000 + n,
            }],
        )
    };
    let mut kept = Vec::new();

    // Once, so that everything is made and bound; then the object is emptied.
    for n in 0..COUNTED {
        kept.push(objects.submit(&store(n)[0], target, Addressing::Relocations)?);
    }
    bos[0].wait(PATIENCE)?;
    bos[0].pwrite(0, &[0; 4096])?;
    let cost = cost::count(
        device,
        engine,
        |n| kept[n].again(device),
        || bos[0].wait(PATIENCE),
    )?;
    let bytes = bos[0].pread()?;
    for n in 0..COUNTED {
        let start = n as usize * 8;
        let found = u32::from_le_bytes([
            bytes[start],
            bytes[start + 1],
            bytes[start + 2],
            bytes[start + 3],
        ]);
        if u64::from(found) != 0x0b0f_0000 + n {
            bail!("{engine}: store {n} left {found:#x}");
        }
    }
    Ok(cost)
}

// SPDX-License-Identifier: GPL-2.0
//! Drawing a scene with the GPU: uploads, batches on three engines, waits in
//! several ways, reads everything back, and counts what submissions cost.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{bail, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use serde::Serialize;

use super::batch::{Addressing, Batch, Objects, Submitted, Target};
use super::bo::{Bo, Caching};
use super::compare::{compare, Difference};
use super::swizzle::Swizzle;
use super::uapi::*;
use super::Device;
use ouro_scene::blt::{Blit, Command};
use ouro_scene::reference::Memory;
use ouro_scene::scene::{Scene, Store, Storer, Upload, Work};
use ouro_scene::surface::{Address, BufferId, Depth, Rect, Surface, Tiling};

/// Numbers of the syncobj ioctls.
const SYNCOBJ_CREATE: u32 = 0xbf;
const SYNCOBJ_DESTROY: u32 = 0xc0;
const SYNCOBJ_WAIT: u32 = 0xc3;

/// Contexts besides the file's own.
const CONTEXTS: usize = 3;
/// Submissions in a row whose cost is counted.
const COUNTED: u64 = 64;
/// Rows that are tried until one is not disturbed by an interrupt.
const ROWS: u32 = 8;
/// Longest wait for anything, in nanoseconds: a GPU that needs longer hangs.
const PATIENCE: i64 = 60_000_000_000;

/// What asynchronous submissions cost in register accesses.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EngineCost {
    /// Name of the engine.
    pub engine: String,
    /// Submissions counted.
    pub submissions: u64,
    /// Register writes that started work.
    pub port_writes: u64,
    /// Other register writes.
    pub other_writes: u64,
    /// Register reads but for the next ones.
    pub reads: u64,
    /// Reads of the room in the write FIFO.
    pub fifo_reads: u64,
    /// Writes that let changed table entries take effect.
    pub table_flushes: u64,
    /// Reads of the handshake that the document asks for before a tail write.
    pub handshake_reads: u64,
    /// Writes of the same.
    pub handshake_writes: u64,
    /// Times that the device was woken.
    pub wakes: u64,
    /// Times that an interrupt was armed, because somebody waited.
    pub irq_arms: u64,
    /// Interrupts in that time.
    pub interrupts: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Drawn {
    /// Pixels compared.
    pub pixels_checked: u64,
    /// Bytes compared.
    pub bytes_checked: u64,
    /// What is wrong.
    pub differences: Vec<Difference>,
    /// Submissions, by engine.
    pub submissions: BTreeMap<String, u64>,
    /// Submissions, by the way they say addresses.
    pub addressing: BTreeMap<String, u64>,
    /// Cost of submissions.
    pub costs: Vec<EngineCost>,
    /// Interrupts from first to last.
    pub interrupts: u64,
    /// Bit 6 of tiled addresses.
    pub swizzle: Option<Swizzle>,
    /// Drawing and reading back.
    pub seconds: f64,
    /// The picture's bytes.
    #[serde(skip)]
    pub picture: Vec<u8>,
}

fn ring(by: Storer) -> (&'static str, u32) {
    match by {
        Storer::RenderDword
        | Storer::RenderQword
        | Storer::PipeControl
        | Storer::PipeControlGlobal => ("rcs0", I915_EXEC_RENDER),
        Storer::CopyFlush => ("bcs0", I915_EXEC_BLT),
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
        ring: I915_EXEC_BLT,
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
pub fn draw(device: &Device, scene: &Scene, expected: &Memory) -> Result<Drawn> {
    let started = Instant::now();
    let mut drawn = Drawn::default();
    let interrupts = device.stats()?.interrupts;
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
        .map(|_| device.context())
        .collect::<Result<Vec<u32>>>()?;
    let syncobj = if device.parameter(I915_PARAM_HAS_EXEC_FENCE_ARRAY) > 0 {
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
        for by in [Storer::RenderDword, Storer::CopyFlush, Storer::VideoFlush] {
            drawn.costs.push(count_cost(device, by)?);
        }
    }
    for id in contexts {
        device.destroy_context(id)?;
    }
    drawn.interrupts = device.stats()?.interrupts - interrupts;
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
    let mut setup = Vec::new();
    let mut count = 0;
    for section in &scene.sections {
        let (batches, (engine, ring), context) = match &section.work {
            Work::Blits(commands) => (
                Batch::of_blits(commands, &mut setup)?,
                ("bcs0", I915_EXEC_BLT),
                0,
            ),
            Work::Stores { by, context, list } => {
                (Batch::of_stores(*by, list), ring(*by), contexts[*context])
            }
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
                .addressing
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
    let (engine, ring) = ring(by);
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
            by,
            &[Store {
                at: at(n),
                value: 0x0b0f_0000 + n,
            }],
        )
    };
    let mut kept = Vec::new();

    // Once, so that everything is made and bound; then the object is emptied, and one more wakes the device.
    for n in 0..COUNTED {
        kept.push(objects.submit(&store(n)[0], target, Addressing::Relocations)?);
    }
    bos[0].wait(PATIENCE)?;
    bos[0].pwrite(0, &[0; 4096])?;
    let mut rows = 0;
    let (before, after) = loop {
        kept[0].again(device)?;
        let before = device.stats()?;
        for one in &mut kept {
            one.again(device)?;
        }
        let after = device.stats()?;
        // An interrupt of earlier work falls into a row by chance; what it costs is not the row's.
        let quiet = after.interrupts == before.interrupts && after.irq_arms == before.irq_arms;
        rows += 1;
        if quiet || rows == ROWS {
            break (before, after);
        }
        bos[0].wait(PATIENCE)?;
    };
    bos[0].wait(PATIENCE)?;
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
    let port_writes = after.port_writes - before.port_writes;
    let handshake_reads = after.port_extra_reads - before.port_extra_reads;
    let handshake_writes = after.port_extra_writes - before.port_extra_writes;
    let fifo_reads = after.fifo_reads - before.fifo_reads;
    let table_flushes = after.table_flushes - before.table_flushes;
    Ok(EngineCost {
        engine: engine.into(),
        submissions: after.requests - before.requests,
        port_writes,
        other_writes: (after.reg_writes - before.reg_writes)
            .saturating_sub(port_writes + handshake_writes + table_flushes),
        reads: (after.reg_reads - before.reg_reads).saturating_sub(fifo_reads + handshake_reads),
        fifo_reads,
        table_flushes,
        handshake_reads,
        handshake_writes,
        wakes: after.wakes - before.wakes,
        irq_arms: after.irq_arms - before.irq_arms,
        interrupts: after.interrupts - before.interrupts,
    })
}

// SPDX-License-Identifier: GPL-2.0
//! The radeon interface, on R5xx: the picture is drawn by registers and by 2D packets, each in both
//! memories.

mod submit;

use std::time::Instant;

use anyhow::{bail, Context, Result};

use super::compare::compare;
use super::cost::{self, EngineCost, COUNTED};
use super::{Device, Drawn, Peer, Personality};
use crate::report::Coverage;
use ouro_card::radeon::{Bo, Domain};
use ouro_card::uapi::*;
use ouro_scene::plain::{Brush, Operation, Plain};
use ouro_scene::radeon::{Encoder, Stream, Way};
use ouro_scene::rop::Rop;
use ouro_scene::scene::{Buffer, Scene};
use ouro_scene::surface::{Address, BufferId, Depth, Rect, Surface, Tiling};
use submit::submit;

/// The engine.
const ENGINE: &str = "rcs0";

/// The interface.
pub struct Radeon;

impl Personality for Radeon {
    fn name(&self) -> &'static str {
        "radeon"
    }

    fn peer(&self, device: &Device) -> Result<Peer> {
        let mut id = 0u32;
        let mut info = drm_radeon_info {
            request: RADEON_INFO_DEVICE_ID,
            value: std::ptr::from_mut(&mut id) as u64,
            ..Default::default()
        };
        device.call("RADEON_INFO", DRM_RADEON_INFO, &mut info)?;
        Ok(Peer {
            vendor: 0x1002,
            device: id as u16,
            engines: vec![ENGINE.to_owned()],
        })
    }

    fn draw(&self, device: &Device, scene: &Scene) -> Result<Drawn> {
        let scene = scene.picture_alone();
        let started = Instant::now();
        let plain = Plain::of(&scene).context("drawing in software")?;
        let mut drawn = Drawn {
            software_seconds: started.elapsed().as_secs_f64(),
            ..Default::default()
        };
        let started = Instant::now();
        let before = device.stats()?;
        // No other driver lets 2D packets pass.
        let ways: &[Way] = if device.is_peer() {
            &[Way::Registers]
        } else {
            &[Way::Registers, Way::Packets]
        };
        for way in ways {
            for domain in Domain::ALL {
                draw_once(device, &scene, &plain, (*way, domain), &mut drawn)
                    .with_context(|| format!("by {way:?} in {domain:?}"))?;
            }
        }
        drawn.seconds = started.elapsed().as_secs_f64();
        let all = plain.parts.iter().flat_map(|part| &part.operations);
        drawn.coverage = Coverage::of_operations(all);
        if !device.is_peer() {
            drawn.costs.push(count_cost(device)?);
        }
        drawn.counted(&before, &device.stats()?);
        Ok(drawn)
    }
}

/// Byte offset of a pixel of four bytes in macro tiles of 64 by 8 pixels, each of blocks of 8 by 1
/// ("R5xx Acceleration" §2.3; the formula is that of its digest §4.1).
fn in_tiles(s: &Surface, x: u32, y: u32) -> usize {
    let tile = (y / 8) * (s.pitch / 256) + x / 64;
    (s.base.offset + tile * 2048 + ((y % 8) * 8 + x % 64 / 8) * 32 + x % 8 * 4) as usize
}

/// Bytes of a tiled surface as the scene has them.
fn detiled(s: &Surface, bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for y in 0..s.height {
        for x in 0..s.pitch / 4 {
            let (from, to) = (in_tiles(s, x, y), s.offset(x, y) as usize);
            out[to..to + 4].copy_from_slice(&bytes[from..from + 4]);
        }
    }
    out
}

/// Draws all of it in one way, in one memory, and compares.
fn draw_once(
    device: &Device,
    scene: &Scene,
    plain: &Plain,
    (way, domain): (Way, Domain),
    drawn: &mut Drawn,
) -> Result<()> {
    let mut bos = Vec::new();
    for buffer in &scene.buffers {
        bos.push(upload(device, buffer).with_context(|| format!("contents of {}", buffer.name))?);
    }
    for part in &plain.parts {
        let (mut stream, mut encoder) = (Stream::default(), Encoder::new(way));
        let mut send = |stream: &mut Stream| -> Result<()> {
            let stream = std::mem::take(stream);
            if !stream.is_empty() {
                submit(&stream, device, &bos, domain)?;
                *drawn.submissions.entry(ENGINE.into()).or_default() += 1;
                let kind = format!("{way:?} in {domain:?}");
                *drawn.ways.entry(kind).or_default() += 1;
            }
            Ok(())
        };
        let operations = part
            .operations
            .iter()
            .flat_map(Operation::without_colour_brush);
        for op in operations {
            encoder.add(&op, &mut stream)?;
            if stream.is_full() {
                encoder.flush(&mut stream)?;
                send(&mut stream).with_context(|| part.name.clone())?;
            }
        }
        encoder.flush(&mut stream)?;
        send(&mut stream).with_context(|| part.name.clone())?;
    }
    for (i, (buffer, expected)) in scene
        .buffers
        .iter()
        .zip(&plain.expected.buffers)
        .enumerate()
    {
        let found = read_back(device, &bos, i, (buffer, domain))
            .with_context(|| format!("read {}", buffer.name))?;
        let (pixels, difference) = compare(buffer, expected, &found);
        drawn.pixels_checked += pixels;
        drawn.bytes_checked += found.len() as u64;
        drawn.differences.extend(difference.map(|mut difference| {
            difference.buffer = format!("{} by {way:?} in {domain:?}", difference.buffer);
            difference
        }));
        if i == 0 {
            drawn.picture = found;
        }
    }
    Ok(())
}

/// Where an object may be at first, so that it is zero: both memories, or with another driver the system's.
fn first_domains(device: &Device) -> u32 {
    let both = Domain::Gtt.bit() | Domain::Vram.bit();
    if device.is_peer() {
        Domain::Gtt.bit()
    } else {
        both
    }
}

fn upload<'a>(device: &'a Device, buffer: &Buffer) -> Result<Bo<'a>> {
    let bo = Bo::new(device, buffer.size, first_domains(device))?;
    // A new object is zero.
    if !buffer.initial.is_empty() {
        bo.map()?.write(0, &buffer.initial);
    }
    Ok(bo)
}

/// All bytes of a buffer. It was drawn on where it should have been; for the CPU it goes to the
/// system's memory, since a look through the card's is slow.
fn read_back(
    device: &Device,
    bos: &[Bo<'_>],
    index: usize,
    (buffer, domain): (&Buffer, Domain),
) -> Result<Vec<u8>> {
    let bo = &bos[index];
    bo.wait()?;
    let is_drawn = buffer.surface.is_some();
    if is_drawn && bo.domain()? != domain {
        bail!("it is not in {domain:?}, where it was drawn");
    }
    let mut stream = Stream::default();
    stream.refer(BufferId(index), false);
    submit(&stream, device, bos, Domain::Gtt)?;
    bo.wait()?;
    let found = bo.map()?.read();
    Ok(match &buffer.surface {
        Some(s) if s.tiling == Tiling::X => detiled(s, &found),
        _ => found,
    })
}

/// Counts what a row of submissions costs: each one fills a pixel of its own.
fn count_cost(device: &Device) -> Result<EngineCost> {
    let bos = [Bo::new(device, 4096, first_domains(device))?];
    let dst = Surface {
        base: Address {
            buffer: BufferId(0),
            offset: 0,
        },
        pitch: 256,
        width: 64,
        height: 16,
        depth: Depth::Bpp32,
        tiling: Tiling::Linear,
    };
    let mut streams = Vec::new();
    for n in 0..COUNTED as i32 {
        let (mut stream, mut encoder) = (Stream::default(), Encoder::new(Way::Registers));
        let op = Operation {
            dst,
            rect: Rect::new(n % 64, n / 64, 1, 1),
            rop: Rop::PATTERN,
            mask: u32::MAX,
            source: None,
            brush: Brush::Solid(0x0b0f_0000 + n as u32),
        };
        encoder.add(&op, &mut stream)?;
        streams.push(stream);
    }
    // Once, so that all is where it will be; then the object is emptied.
    for stream in &streams {
        submit(stream, device, &bos, Domain::Gtt)?;
    }
    bos[0].wait()?;
    bos[0].map()?.write(0, &[0; 4096]);
    let cost = cost::count(
        device,
        ENGINE,
        |n| submit(&streams[n], device, &bos, Domain::Gtt),
        || bos[0].wait(),
    )?;
    let bytes = bos[0].map()?.read();
    for (n, pixel) in bytes.chunks_exact(4).take(COUNTED as usize).enumerate() {
        let found = u32::from_le_bytes([pixel[0], pixel[1], pixel[2], pixel[3]]);
        if found != 0x0b0f_0000 + n as u32 {
            bail!("store {n} left {found:#x}");
        }
    }
    Ok(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of the digest, §4.1: 32 bits for each pixel, macro tiles only, 256 pixels of pitch.
    #[test]
    fn tiles_are_those_of_the_document() {
        let s = Surface {
            base: Address {
                buffer: BufferId(0),
                offset: 0,
            },
            pitch: 1024,
            width: 256,
            height: 64,
            depth: Depth::Bpp32,
            tiling: Tiling::X,
        };
        let cases = [
            (1, 0, 0x4),
            (0, 1, 0x100),
            (5, 3, 0x314),
            (33, 17, 0x4184),
            (255, 63, 0xfffc),
        ];
        for (x, y, at) in cases {
            assert_eq!(in_tiles(&s, x, y), at, "({x}, {y})");
        }
    }
}

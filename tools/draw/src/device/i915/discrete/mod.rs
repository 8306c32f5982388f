// SPDX-License-Identifier: GPL-2.0
//! Cards with memory of their own, whose engines take lists of contexts: contexts of different priorities
//! draw the picture, each on surfaces of its own in the card's memory, and take the blitter away from each
//! other. A last batch puts a picture together from a stripe of each.

mod artist;
mod busy;

use std::time::Instant;

use anyhow::{bail, Context, Result};

use super::super::compare::compare;
use super::super::{Device, Drawn};
use super::{destroy_context, parameter};
use crate::picture;
use crate::report::{Coverage, Lists};
use artist::{submit, Artist, Manner};
use ouro_card::i915::card_memory;
use ouro_card::i915::local::{Addresses, Bo, Memory};
use ouro_card::uapi::*;
use ouro_scene::dg2::{blt, Layout};
use ouro_scene::flat::Step;
use ouro_scene::scene::{Buffer, Scene};
use ouro_scene::surface::Rect;

/// Contexts.
const CONTEXTS: usize = 8;
/// Blits of a batch: of the least urgent contexts, and of the most urgent ones.
const LONG: usize = 8192;
const SHORT: usize = 1024;
/// Bytes of a card's memory up to which it is filled, and of the objects that do it.
const CROWDED: u64 = 1 << 30;
const PIECE: usize = 4 << 20;
/// The blitter.
const ENGINE: &str = "bcs0";

/// What context n is: more urgent ones have shorter batches, and the most urgent ones wait for theirs.
fn manner(n: usize) -> Manner {
    Manner {
        priority: n as i32 * 200 - 700,
        blits: (LONG >> (n / 2)).max(SHORT),
        patient: n >= CONTEXTS - 2,
        layout: Layout::ALL[n % Layout::ALL.len()],
    }
}

/// Whether it is such a card.
pub fn is_discrete(device: &Device) -> bool {
    let preempts = parameter(device, I915_PARAM_HAS_SCHEDULER) as u32;
    preempts & I915_SCHEDULER_CAP_PREEMPTION != 0 && card_memory(device).is_some()
}

/// Draws the picture in all contexts, and compares all of it.
pub fn draw(device: &Device, scene: &Scene) -> Result<Drawn> {
    let scene = scene.picture_alone();
    let started = Instant::now();
    let expected = scene.expected().context("drawing in software")?;
    let software_seconds = started.elapsed().as_secs_f64();
    let flat = picture::flat(&scene)?;
    let steps: Vec<Step> = flat.parts.into_iter().flat_map(|p| p.steps).collect();

    let started = Instant::now();
    let lists = Lists::now(device)?;
    let mut drawn = Drawn {
        software_seconds,
        coverage: Coverage::of_steps(steps.iter().cycle().take(steps.len() * CONTEXTS)),
        in_software: Some((flat.in_software, flat.operations)),
        ..Default::default()
    };
    let before = device.stats()?;
    let mut addresses = Addresses::default();
    let mut artists = Vec::new();
    for n in 0..CONTEXTS {
        let mut bos = Vec::new();
        let of_scene = scene.buffers.iter().map(|b| (&b.initial[..], b.size));
        let more = [(&flat.pixels[..], flat.pixels.len()), (&[], flat.through)];
        for contents in of_scene.chain(more) {
            bos.push(upload(device, &mut addresses, Memory::Either, contents)?);
        }
        artists.push(Artist::new(device, manner(n), bos)?);
    }
    let mut crowded = false;
    while let Some(artist) = artists
        .iter_mut()
        .filter(|a| a.done < steps.len())
        .min_by_key(|a| a.done)
    {
        if !crowded && artist.done * 2 >= steps.len() {
            crowded = true;
            let surfaces = artist.bytes() * CONTEXTS;
            crowd(device, &mut addresses, artist.context, surfaces)
                .context("when others need the card's memory")?;
        }
        artist.go_on(&steps, &mut addresses)?;
        *drawn.submissions.entry(ENGINE.into()).or_default() += 1;
        let way = format!("{:?}", artist.manner.layout);
        *drawn.ways.entry(way).or_default() += 1;
    }
    let size = scene.buffers[0].size;
    let picture = upload(device, &mut addresses, Memory::Card, (&[], size))?;
    let _batch = put_together(device, &mut addresses, &scene, &artists, &picture)?;
    *drawn.submissions.entry(ENGINE.into()).or_default() += 1;
    picture.wait().context("the picture of all")?;
    for artist in &artists {
        let what = || format!("context of priority {}", artist.manner.priority);
        artist.wait().with_context(what)?;
        for (i, (buffer, expected)) in scene.buffers.iter().zip(&expected.buffers).enumerate() {
            let found = read(artist, buffer, i).with_context(what)?;
            judge(&mut drawn, buffer, (expected, &found), &what());
        }
    }
    drawn.picture = picture.map()?.read();
    drawn.picture.truncate(size);
    let found = std::mem::take(&mut drawn.picture);
    judge(
        &mut drawn,
        &scene.buffers[0],
        (&expected.buffers[0], &found),
        "all contexts",
    );
    drawn.picture = found;
    drawn.seconds = started.elapsed().as_secs_f64();
    for artist in artists {
        destroy_context(device, artist.context)?;
    }
    drawn.counted(&before, &device.stats()?);
    if !device.is_peer() {
        drawn.costs.push(busy::count_cost(device, &mut addresses)?);
    }
    if let (Some(before), Some(after)) = (lists, Lists::now(device)?) {
        let contexts = (0..CONTEXTS).map(manner);
        drawn.lists = Some(Lists {
            contexts: contexts.map(|m| (m.priority, m.blits)).collect(),
            ..after.since(&before)
        });
    }
    Ok(drawn)
}

/// Needs so much of the card's memory for a moment that half of what the artists have there must leave it. A
/// card of a usual size has room for all, and is left alone.
fn crowd(device: &Device, addresses: &mut Addresses, context: u32, surfaces: usize) -> Result<()> {
    let all = card_memory(device).unwrap_or(0);
    if all > CROWDED {
        return Ok(());
    }
    let mut crowd = Vec::new();
    let count = (all as usize).saturating_sub(surfaces / 2) / PIECE;
    for _ in 0..count {
        // It has memory when a batch uses it first.
        let bo = Bo::new(device, addresses, Memory::Card, PIECE)?;
        let batch = submit(device, context, addresses, Vec::new(), &[(&bo, true)])?;
        crowd.push((bo, batch));
    }
    crowd.iter().try_for_each(|(_, batch)| batch.wait())
}

/// An object with these first bytes.
fn upload<'a>(
    device: &'a Device,
    addresses: &mut Addresses,
    memory: Memory,
    (bytes, size): (&[u8], usize),
) -> Result<Bo<'a>> {
    let bo = Bo::new(device, addresses, memory, size)?;
    if !bytes.is_empty() {
        bo.map()?.write(0, bytes);
    }
    Ok(bo)
}

/// Has the last context copy a stripe of each one's picture.
fn put_together<'a>(
    device: &'a Device,
    addresses: &mut Addresses,
    scene: &Scene,
    artists: &[Artist<'_>],
    picture: &Bo<'_>,
) -> Result<Bo<'a>> {
    let surface = scene.picture;
    let to = blt::BltSurface {
        address: picture.address,
        pitch: surface.pitch,
        layout: Layout::Linear,
        depth: surface.depth,
    };
    let mut commands = Vec::new();
    let mut objects = vec![(picture, true)];
    let height = surface.height.div_ceil(artists.len() as u32) as i32;
    for (n, artist) in artists.iter().enumerate() {
        let y = n as i32 * height;
        let stripe = Rect::new(0, y, surface.width as i32, height).intersect(&surface.rect());
        let from = artist.blt_surface(&surface);
        commands.extend(blt::copy(&to, &stripe, &from, (0, y))?);
        objects.push((&artist.bos[0], false));
    }
    let Some(last) = artists.last() else {
        bail!("nobody draws");
    };
    submit(device, last.context, addresses, commands, &objects)
}

/// What an artist has left in a buffer of the scene.
fn read(artist: &Artist<'_>, buffer: &Buffer, index: usize) -> Result<Vec<u8>> {
    let bo = &artist.bos[index];
    bo.wait()
        .with_context(|| format!("wait for {}", buffer.name))?;
    let mut bytes = bo.map()?.read();
    bytes.truncate(buffer.size);
    Ok(match (index, &buffer.surface) {
        (0, Some(s)) => {
            let rows = s.height as usize;
            artist.manner.layout.to_rows(&bytes, s.pitch as usize, rows)
        }
        _ => bytes,
    })
}

fn judge(drawn: &mut Drawn, buffer: &Buffer, (expected, found): (&[u8], &[u8]), by: &str) {
    let (pixels, difference) = compare(buffer, expected, found);
    drawn.pixels_checked += pixels;
    drawn.bytes_checked += found.len() as u64;
    drawn.differences.extend(difference.map(|mut difference| {
        difference.buffer = format!("{} by {by}", difference.buffer);
        difference
    }));
}

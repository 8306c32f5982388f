// SPDX-License-Identifier: GPL-2.0
//! What stands inside the ring: the name in large letters made of strokes, a line
//! below it, and a ring buffer whose entries between head and tail are lit.
//!
//! Letters are mono bitmaps in four strengths, each expanded over the last one
//! with its own colour: edges get smooth although the blitter knows no blending.

use std::f32::consts::TAU;

use super::geometry::{ramp, segment, smooth, Colour};
use super::sky::CENTRE;
use super::snake::SKIN;
use super::spans::{over, paint};
use super::Studio;
use crate::blt::{Blit, Command, Ink, Mask, Packing, Setup, SetupKind};
use crate::font::Bitmap;
use crate::reference::ReferenceError;
use crate::rop::Rop;
use crate::surface::{Address, Rect, Surface, Tiling};

/// Height of the letters.
const TALL: f32 = 74.0;
/// Half the width of a stroke.
const STROKE: f32 = 6.4;
/// Colours of the name, from its upper to its lower edge.
const NAME: [(f32, u32); 3] = [(0.0, 0xfff3d0), (0.55, 0xf7c95c), (1.0, 0xd98a2b)];

/// Depth inside the strokes of the name at a point; positive inside.
fn name(x: f32, y: f32) -> f32 {
    let r = TALL / 2.0;
    let ring = |cx: f32| STROKE - ((x - cx).hypot(y - r) - (r - STROKE)).abs();
    let line = |ax: f32, ay: f32, bx: f32, by: f32| STROKE - segment(x, y, (ax, ay), (bx, by));
    let arc = |cx: f32, cy: f32, radius: f32, lower: bool, right: bool| {
        let inside = ((y > cy) == lower) && (right || x < cx + radius);
        if inside {
            STROKE - ((x - cx).hypot(y - cy) - radius).abs()
        } else {
            -9.0
        }
    };
    let (u, q) = (TALL + 20.0, r - STROKE - 3.0);
    let (left, right) = (u + STROKE, u + STROKE + 2.0 * q);
    let turn = TALL - STROKE - q;
    let letter_u = line(left, STROKE, left, turn)
        .max(line(right, STROKE, right, TALL - STROKE))
        .max(arc(left + q, turn, q, true, true));
    let stem = right + 20.0 + 2.0 * STROKE;
    let hook = 24.0;
    let letter_r =
        line(stem, STROKE, stem, TALL - STROKE).max(if x < stem + hook && y < STROKE + hook {
            STROKE - ((x - stem - hook).hypot(y - STROKE - hook) - hook).abs()
        } else {
            -9.0
        });
    let letter_r = letter_r.max(line(stem + hook, STROKE, stem + hook + 3.0, STROKE));
    let last = stem + hook + 3.0 + STROKE + 14.0 + r;
    ring(r).max(letter_u).max(letter_r).max(ring(last))
}

/// Width of the name.
const WIDE: usize = 330;

/// A line of text by XY_SETUP_BLT and XY_TEXT_BLT, rows packed as asked; `size` doublings. `asset` puts the
/// bits where the GPU finds them.
pub fn letters(
    dst: Surface,
    (x, y): (i32, i32),
    words: &str,
    (size, packing): (u32, Packing),
    colour: u32,
    asset: impl FnOnce(&[u8]) -> Address,
) -> [Command; 2] {
    let bitmap = (0..size).fold(Bitmap::text(words), |b, _| b.doubled());
    let align = if packing == Packing::Byte { 8 } else { 1 };
    let at = asset(&bitmap.packed(align));
    let setup = Setup {
        dst,
        clip_rect: dst.rect(),
        clip: true,
        rop: Rop::SOURCE,
        mask: Mask::ALL,
        background: 0,
        foreground: colour,
        kind: SetupKind::Text {
            transparent: true,
            pattern: None,
        },
    };
    let text = Command::Text {
        rect: Rect::new(x, y, bitmap.width as i32, bitmap.height as i32),
        at,
        packing,
        tiling: Tiling::Linear,
    };
    [Command::Setup(setup), text]
}

/// The column where words begin that are centred on column `x`.
pub fn left_of(x: i32, words: &str, size: u32) -> i32 {
    let width = words.chars().count() as i32 * (6 << size) - (1 << size);
    x - width / 2
}

/// The same, centred on a column.
pub fn centred(
    studio: &mut Studio,
    dst: Surface,
    (x, y): (i32, i32),
    words: &str,
    size: u32,
    colour: u32,
) -> Result<(), ReferenceError> {
    let at = (left_of(x, words, size), y);
    let asset = |bits: &[u8]| studio.asset(bits, 8);
    for command in letters(dst, at, words, (size, Packing::Byte), colour, asset) {
        studio.push(command)?;
    }
    Ok(())
}

fn ring_buffer(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    const ENTRIES: f32 = 120.0;
    let area = Rect::new(CENTRE.0 as i32 - 200, CENTRE.1 as i32 - 200, 400, 400);
    paint(studio, picture, area, |studio, x, y| {
        let (dx, dy) = (x as f32 + 0.5 - CENTRE.0, y as f32 + 0.5 - CENTRE.1);
        let square = dx * dx + dy * dy;
        if !(180.0 * 180.0..196.0 * 196.0).contains(&square) {
            return None;
        }
        let r = square.sqrt();
        let turn = ((dy.atan2(dx) + 1.36).rem_euclid(TAU)) / TAU;
        let entry = turn * ENTRIES;
        let off = (entry.fract() - 0.5).abs() * TAU * r / ENTRIES;
        let cover = (3.2 - off).clamp(0.0, 1.0) * (5.4 - (r - 188.0).abs()).clamp(0.0, 1.0);
        let slot = (entry.floor() + 0.5) / ENTRIES;
        let lit = smooth(0.14, 0.15, slot) * smooth(0.89, 0.88, slot);
        let colour = Colour::hex(0x3a3f78).mix(ramp(&SKIN, slot), 0.85 * lit);
        over(studio, &picture, x, y, colour, cover * (0.45 + 0.5 * lit))
    })
}

fn large_name(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    let (left, top) = (CENTRE.0 as i32 - WIDE as i32 / 2 + 4, CENTRE.1 as i32 - 66);
    let height = TALL as usize;
    for (strength, least) in [(0.3, -0.4), (0.55, -0.15), (0.8, 0.1), (1.0, 0.4)] {
        let bitmap = Bitmap::from_fn(WIDE, height, |x, y| {
            name(x as f32 + 0.5, y as f32 + 0.5) > least
        });
        let at = studio.bitmap(&bitmap);
        let row_bytes = WIDE.next_multiple_of(16) as u32 / 8;
        // One blit for each row, so that the colour changes from row to row.
        for row in 0..height as u32 {
            let ground = Colour::hex(studio.pixel(&picture, left - 2, top + row as i32));
            let foreground = ground.mix(ramp(&NAME, row as f32 / TALL), strength).pixel();
            let at = Address {
                offset: at.offset + row * row_bytes,
                ..at
            };
            let rect = Rect::new(left, top + row as i32, WIDE as i32, 1);
            studio.push(Blit::mono(
                picture,
                rect,
                at,
                Ink {
                    foreground,
                    background: None,
                },
            ))?;
        }
    }
    Ok(())
}

/// Draws all that stands inside the ring.
pub fn draw(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    let (x, y) = (CENTRE.0 as i32, CENTRE.1 as i32);
    studio.section("ring buffer");
    ring_buffer(studio, picture)?;
    studio.section("name");
    large_name(studio, picture)?;
    centred(
        studio,
        picture,
        (x, y + 40),
        "a ring whose head",
        1,
        0xc9cdf2,
    )?;
    centred(studio, picture, (x, y + 64), "chases its tail", 1, 0xc9cdf2)?;
    Ok(())
}

// SPDX-License-Identifier: GPL-2.0
//! Painting with scan lines: pixels become runs of one colour, runs of the same
//! colour share one XY_SETUP_MONO_PATTERN_SL_BLT with a solid pattern and follow
//! as XY_SCANLINES_BLT.

use std::collections::BTreeMap;

use super::geometry::Colour;
use super::Studio;
use crate::blt::{Command, Mask, Seed, Setup, SetupKind};
use crate::reference::ReferenceError;
use crate::rop::Rop;
use crate::surface::{Rect, Surface, Tiling};

/// The set-up for scan lines of one colour.
pub fn solid_setup(dst: Surface, colour: u32) -> Setup {
    Setup {
        dst,
        clip_rect: dst.rect(),
        clip: true,
        rop: Rop::PATTERN,
        mask: Mask::ALL,
        background: colour,
        foreground: 0,
        kind: SetupKind::MonoPattern {
            rows: [0; 8],
            transparent: false,
            solid: true,
        },
    }
}

/// Paints the pixels of `area` for which `colour` has an answer.
pub fn paint(
    studio: &mut Studio,
    dst: Surface,
    area: Rect,
    colour: impl Fn(&Studio, i32, i32) -> Option<u32>,
) -> Result<(), ReferenceError> {
    let mut runs: BTreeMap<u32, Vec<Rect>> = BTreeMap::new();
    for y in area.y1..area.y2 {
        let mut open: Option<(u32, i32)> = None;
        for x in area.x1..=area.x2 {
            let here = if x < area.x2 {
                colour(studio, x, y)
            } else {
                None
            };
            if let Some((c, start)) = open {
                if here != Some(c) {
                    runs.entry(c)
                        .or_default()
                        .push(Rect::new(start, y, x - start, 1));
                    open = None;
                }
            }
            if open.is_none() {
                open = here.map(|c| (c, x));
            }
        }
    }
    for (colour, mut rects) in runs {
        join_rows(&mut rects);
        studio.push(Command::Setup(solid_setup(dst, colour)))?;
        for rect in rects {
            studio.push(Command::Scanlines {
                rect,
                seed: Seed::default(),
                tiling: Tiling::Linear,
            })?;
        }
    }
    Ok(())
}

/// Runs that lie exactly below each other become one rectangle.
fn join_rows(rects: &mut Vec<Rect>) {
    rects.sort_by_key(|r| (r.x1, r.x2, r.y1));
    rects.dedup_by(|next, kept| {
        let joined = next.x1 == kept.x1 && next.x2 == kept.x2 && next.y1 == kept.y2;
        if joined {
            kept.y2 = next.y2;
        }
        joined
    });
}

/// A colour over what stands there now: 0 leaves it, 1 covers it.
pub fn over(
    studio: &Studio,
    dst: &Surface,
    x: i32,
    y: i32,
    colour: Colour,
    cover: f32,
) -> Option<u32> {
    if cover <= 0.02 {
        return None;
    }
    let below = Colour::hex(studio.pixel(dst, x, y));
    Some(below.mix(colour, cover.min(1.0)).coarse())
}

// SPDX-License-Identifier: GPL-2.0
//! Small rings that no blit draws: each pair of pixels is a value that an engine
//! stores, one icon for each store command and context. What stores it depends on the
//! chip, so their captions come with the heading.

use std::f32::consts::TAU;

use super::geometry::{ramp, smooth, Colour};
use super::{Store, Storer, Studio};
use crate::reference::ReferenceError;
use crate::surface::{Address, Surface};

/// Edge of an icon in pixels; even, as stores take two at a time.
const EDGE: u32 = 32;

/// How many there are.
pub const COUNT: usize = 6;
/// Where the first one is, and how far it is to the next. Even columns: a store of two pixels needs 8 bytes of
/// alignment.
const LEFT: u32 = 856;
const TOP: u32 = 728;
const STEP: u32 = 66;

/// The icons: by what, in which context, in which colour, what the section is called.
const ICONS: [(Storer, usize, u32, &str); COUNT] = [
    (Storer::RenderDword, 0, 0xf5b731, "rcs dword"),
    (Storer::RenderQword, 1, 0x9fce3a, "rcs qword"),
    (Storer::PipeControl, 2, 0x22c07a, "rcs pipe"),
    (Storer::PipeControlGlobal, 1, 0x17b1c4, "rcs global"),
    (Storer::CopyFlush, 0, 0x3d6bf2, "bcs flush"),
    (Storer::VideoFlush, 0, 0x9a6bff, "vcs flush"),
];

/// A little ring: bright at its head, thin at its tail.
fn pixel(x: u32, y: u32, hue: u32, ground: u32) -> u32 {
    let half = EDGE as f32 / 2.0;
    let (dx, dy) = (x as f32 + 0.5 - half, y as f32 + 0.5 - half);
    let turn = (dy.atan2(dx) + 1.2).rem_euclid(TAU) / TAU;
    let width = 0.8 + 3.4 * turn;
    let cover = (width + 0.5 - (dx.hypot(dy) - 10.5).abs()).clamp(0.0, 1.0);
    let colour = ramp(&[(0.0, 0x14183a), (0.35, hue), (1.0, hue)], turn)
        .add(Colour::hex(0xffffff).scale(0.45 * smooth(0.8, 1.0, turn)));
    let eye = smooth(1.9, 1.0, (dx - 1.6).hypot(dy + 11.0));
    Colour::hex(ground)
        .mix(colour, cover)
        .mix(Colour::hex(0x0a0a18), eye)
        .pixel()
}

/// The middle of a caption's upper edge.
pub(super) fn caption_at(icon: usize) -> (i32, i32) {
    let x = LEFT + icon as u32 * STEP + EDGE / 2;
    (x as i32, (TOP + EDGE + 5) as i32)
}

/// Draws the icons.
pub fn draw(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    for (i, (by, context, hue, name)) in ICONS.into_iter().enumerate() {
        let x0 = LEFT + i as u32 * STEP;
        let each = by.bytes() as u32 / 4;
        let mut list = Vec::new();
        for y in 0..EDGE {
            for x in (0..EDGE).step_by(each as usize) {
                let at = |x: u32| {
                    pixel(
                        x,
                        y,
                        hue,
                        studio.pixel(&picture, (x0 + x) as i32, (TOP + y) as i32),
                    )
                };
                let value = (0..each)
                    .rev()
                    .fold(0, |v, n| (v << 32) | u64::from(at(x + n)));
                let offset = picture.offset(x0 + x, TOP + y);
                list.push(Store {
                    at: Address {
                        offset,
                        ..picture.base
                    },
                    value,
                });
            }
        }
        studio.stores(name, by, context, list)?;
    }
    Ok(())
}

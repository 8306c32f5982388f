// SPDX-License-Identifier: GPL-2.0
//! The night behind the snake: a glow in steps of one level, a dithered veil of
//! 8 by 8 mono patterns at the right side, and stars by XY_PIXEL_BLT.

use super::geometry::{ramp, smooth, Noise};
use super::spans::{paint, solid_setup};
use super::Studio;
use crate::blt::{Blit, Command, Ink, Pattern, Seed};
use crate::reference::ReferenceError;
use crate::surface::{Rect, Surface, Tiling};

/// Centre of the ring.
pub const CENTRE: (f32, f32) = (400.0, 404.0);

/// From the corners to the glow.
const NIGHT: [(f32, u32); 4] = [
    (0.0, 0x060814),
    (0.45, 0x0c1228),
    (0.75, 0x161a3c),
    (1.0, 0x232052),
];

/// Steps of the glow: about as many as there are levels between its ends.
const STEPS: f32 = 72.0;

/// Thresholds of an 8 by 8 ordered dither, 0 to 63: bits of x^y and x, interleaved.
fn bayer(x: u32, y: u32) -> u32 {
    (0..3).fold(0, |v, bit| {
        let (a, b) = ((x >> bit) & 1, (y >> bit) & 1);
        (v << 2) | ((a ^ b) << 1) | b
    })
}

/// A pattern in which `level` of 64 bits are set, evenly spread.
pub fn dither(level: u32) -> [u8; 8] {
    std::array::from_fn(|y| {
        (0..8).fold(0, |row, x| {
            (row << 1) | u8::from(bayer(x, y as u32) < level)
        })
    })
}

/// Draws the sky.
pub fn draw(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    studio.section("night sky");
    let darkest = ramp(&NIGHT, 0.0).pixel();
    studio.push(Blit::fill(picture, picture.rect(), darkest))?;
    let steps: Vec<u32> = (0..=STEPS as usize)
        .map(|i| ramp(&NIGHT, i as f32 / STEPS).pixel())
        .collect();
    paint(studio, picture, picture.rect(), |_, x, y| {
        let (dx, dy) = ((x as f32 - CENTRE.0) / 620.0, (y as f32 - CENTRE.1) / 470.0);
        let square = dx * dx + dy * dy;
        if square >= 1.0 {
            return None;
        }
        let colour = steps[((1.0 - smooth(0.0, 1.0, square.sqrt())) * STEPS) as usize];
        (colour != darkest).then_some(colour)
    })?;

    // Towards the right the panel's ground comes in, ever denser.
    for column in 0..64 {
        let ink = Ink {
            foreground: 0x0e1226,
            background: None,
        };
        let pattern = Pattern::Mono {
            rows: dither(column),
            ink,
            seed: Seed::default(),
        };
        studio.push(Blit::pattern(
            picture,
            Rect::new(768 + column as i32 * 8, 0, 8, 800),
            pattern,
        ))?;
    }

    studio.section("stars");
    let mut noise = Noise(0x0b0f_2026);
    for (colour, count) in [
        (0x39406a, 160),
        (0x6a74a8, 90),
        (0xb9c3ee, 45),
        (0xfff4d6, 14),
    ] {
        studio.push(Command::Setup(solid_setup(picture, colour)))?;
        for _ in 0..count {
            let (x, y) = (noise.below(1280) as i16, noise.below(800) as i16);
            studio.push(Command::Pixel {
                x,
                y,
                tiling: Tiling::Linear,
            })?;
            if colour == 0xfff4d6 {
                for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
                    studio.push(Command::Pixel {
                        x: (x + dx).max(0),
                        y: (y + dy).max(0),
                        tiling: Tiling::Linear,
                    })?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dither_sets_as_many_bits_as_asked() {
        for level in 0..=64 {
            assert_eq!(
                dither(level)
                    .iter()
                    .map(|row| row.count_ones())
                    .sum::<u32>(),
                level
            );
        }
    }
}

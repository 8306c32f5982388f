// SPDX-License-Identifier: GPL-2.0
//! The right side: what the blitter can do. All 256 raster operations of three
//! pictures, its own ten patterns, a linear and an X-tiled surface with
//! overlapping copies, and pieces of 8 and 16 bits for each pixel.

use super::geometry::{ramp, smooth, Colour};
use super::snake::SKIN;
use super::title::centred;
use super::{heading, Studio, Upload};
use crate::blt::{Blit, Command, Ink, Key, KeyMode, Mask, Pattern, Seed, Setup, SetupKind, Source};
use crate::reference::ReferenceError;
use crate::rop::Rop;
use crate::surface::{Address, Depth, Rect, Surface, Tiling};

/// Left edge of everything here.
pub const LEFT: i32 = 844;
/// Pixels from cell to cell of the raster operations.
const PITCH: i32 = 24;
/// Width of everything here.
const WIDE: i32 = 16 * PITCH;
/// Edge of a cell.
const CELL: i32 = 21;
/// Soft ink of the captions.
const CAPTION: u32 = 0x8f96c8;

/// A linear surface of 32 bpp in memory of its own, filled by a function.
fn sprite(
    studio: &mut Studio,
    name: &str,
    upload: Upload,
    size: i32,
    f: impl Fn(f32, f32) -> u32,
) -> Surface {
    let base = Address {
        buffer: studio.next_buffer(),
        offset: 0,
    };
    let edge = size as u32;
    let surface = Surface {
        base,
        pitch: (edge * 4).next_multiple_of(64),
        width: edge,
        height: edge,
        depth: Depth::Bpp32,
        tiling: Tiling::Linear,
    };
    let mut contents = vec![0u8; surface.bytes() as usize];
    for y in 0..edge {
        for x in 0..edge {
            let at = surface.offset(x, y) as usize;
            contents[at..at + 4].copy_from_slice(
                &f(
                    (x as f32 + 0.5) / edge as f32,
                    (y as f32 + 0.5) / edge as f32,
                )
                .to_le_bytes(),
            );
        }
    }
    studio.image(name, surface, upload, &contents);
    surface
}

/// A frame of one pixel.
fn frame(studio: &mut Studio, dst: Surface, r: Rect, colour: u32) -> Result<(), ReferenceError> {
    for side in [
        Rect { y2: r.y1 + 1, ..r },
        Rect { y1: r.y2 - 1, ..r },
        Rect { x2: r.x1 + 1, ..r },
        Rect { x1: r.x2 - 1, ..r },
    ] {
        studio.push(Blit::fill(dst, side, colour))?;
    }
    Ok(())
}

/// Every raster operation of a disc, stripes and a slope.
fn raster_operations(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    let disc = sprite(studio, "disc", Upload::WriteBack, CELL, |x, y| {
        let r = (x - 0.5).hypot(y - 0.5);
        let ball = ramp(
            &[(0.0, 0xffe9a8), (0.6, 0xe58a2c), (1.0, 0x8a2f38)],
            (x - 0.32).hypot(y - 0.3) * 1.5,
        );
        Colour::hex(0x141036)
            .mix(ball, smooth(0.46, 0.42, r))
            .pixel()
    });
    let slope = sprite(studio, "slope", Upload::WriteCombined, CELL, |x, y| {
        ramp(
            &[(0.0, 0x0c2d4e), (0.5, 0x13808a), (1.0, 0x7fe0b0)],
            (x + y) / 2.0,
        )
        .pixel()
    });
    let stripes: Vec<u8> = (0..64)
        .flat_map(|i| {
            let (x, y) = (i % 8, i / 8);
            let colour: u32 = if (x + y) % 8 < 4 { 0x7048c8 } else { 0x2a1f66 };
            colour.to_le_bytes()
        })
        .collect();
    let stripes = studio.asset(&stripes, 256);

    studio.section("raster operations");
    let top = 122;
    for digit in 0..16 {
        let name = format!("{digit:X}");
        let place = digit * PITCH + CELL / 2 + 3;
        centred(studio, picture, (LEFT + place, top - 11), &name, 0, CAPTION)?;
        centred(
            studio,
            picture,
            (LEFT - 9, top + place - 6),
            &name,
            0,
            CAPTION,
        )?;
    }
    for code in 0..=255u8 {
        let (column, row) = (i32::from(code % 16), i32::from(code / 16));
        let cell = Rect::new(LEFT + column * PITCH + 1, top + row * PITCH + 1, CELL, CELL);
        studio.push(Blit::copy(picture, cell, slope, 0, 0))?;
        studio.push(Blit {
            rop: Rop(code),
            source: Source::Colour {
                surface: disc,
                x: 0,
                y: 0,
            },
            pattern: Pattern::Colour {
                at: stripes,
                seed: Seed {
                    x: 0,
                    y: column as u8 % 8,
                },
            },
            ..Blit::fill(picture, cell, 0)
        })?;
    }
    // The three operands on their own are framed: D, S and P.
    for code in [0xaa, 0xcc, 0xf0] {
        let cell = Rect::new(
            LEFT + code % 16 * PITCH,
            top + code / 16 * PITCH,
            CELL + 2,
            CELL + 2,
        );
        frame(studio, picture, cell, 0xfff3d0)?;
    }
    Ok(())
}

/// The ten patterns that the blitter has by itself, in the snake's colours.
fn fixed_patterns(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    studio.section("patterns");
    let top = 520;
    let step = WIDE as f32 / 10.0;
    for (i, code) in [0, 1, 2, 3, 4, 5, 8, 9, 10, 11].into_iter().enumerate() {
        let place = Rect::new(LEFT + (i as f32 * step) as i32 + 1, top, 35, 32);
        let colour = ramp(&SKIN, i as f32 / 9.0);
        let ink = Ink {
            foreground: colour.pixel(),
            background: Some(colour.scale(0.22).pixel()),
        };
        studio.push(Blit::pattern(
            picture,
            place,
            Pattern::Fixed {
                code,
                ink,
                seed: Seed {
                    x: i as u8 % 8,
                    y: 3,
                },
            },
        ))?;
    }
    Ok(())
}

/// The snake's head three times: through a tiled surface, and moved onto itself.
fn copies(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    const W: i32 = 188;
    const H: i32 = 92;
    let base = Address {
        buffer: studio.next_buffer(),
        offset: 0,
    };
    let tiled = Surface {
        base,
        pitch: 1024,
        width: 256,
        height: 96,
        depth: Depth::Bpp32,
        tiling: Tiling::X,
    };
    studio.surface("tiled", tiled, Upload::Zero);
    let top = 570;
    let (left, right) = (
        Rect::new(LEFT + 1, top, W, H),
        Rect::new(LEFT + WIDE - W - 2, top, W, H),
    );
    let (head_x, head_y) = (318, 78);

    studio.section("overlapping copies");
    // A window, then copies of it onto itself, each a step further: windows in a cascade.
    studio.push(Blit::fill(picture, left, 0x0e1430))?;
    let mut window = Rect::new(left.x1 + 4, left.y1 + 4, 126, 56);
    studio.push(Blit::copy(picture, window, picture, head_x + 52, head_y))?;
    frame(studio, picture, window, 0xf5b731)?;
    for _ in 0..3 {
        let next = Rect::new(window.x1 + 18, window.y1 + 9, 126, 56);
        studio.push(Blit::copy(
            picture,
            next,
            picture,
            window.x1 as i16,
            window.y1 as i16,
        ))?;
        window = next;
    }
    frame(studio, picture, left.inset(-1), 0x4a4f86)?;

    studio.section("tiled surface");
    studio.push(Blit::fill(tiled, tiled.rect(), 0x101430))?;
    let inside = Rect::new(0, 0, W, H);
    studio.push(Blit::copy(tiled, inside, picture, head_x, head_y))?;
    // Drawn on while it is tiled: a veil of pattern, cut by the clip rectangle, and a colour key.
    let veil = Setup {
        dst: tiled,
        clip_rect: Rect::new(0, 0, W / 2, H),
        clip: true,
        rop: Rop::PATTERN_XOR,
        mask: Mask::ALL,
        background: 0x0c1a10,
        foreground: 0x141024,
        kind: SetupKind::MonoPattern {
            rows: [0xf0, 0xf0, 0xf0, 0xf0, 0x0f, 0x0f, 0x0f, 0x0f],
            transparent: false,
            solid: false,
        },
    };
    studio.push(Command::Setup(veil))?;
    studio.push(Command::Scanlines {
        rect: inside,
        seed: Seed::default(),
        tiling: Tiling::X,
    })?;
    let moved = Blit::copy(tiled, Rect::new(8, 0, W - 8, H), tiled, 0, 0);
    studio.push(Blit {
        clip: true,
        ..moved
    })?;
    let key = Key {
        mode: KeyMode::Source,
        low: 0,
        high: 0x40_3030,
    };
    studio.push(Blit::fill(picture, right, 0x0e1430))?;
    studio.push(Blit {
        key: Some(key),
        ..Blit::copy(picture, right, tiled, 0, 0)
    })?;
    frame(studio, picture, right.inset(-1), 0x4a4f86)?;
    centred(
        studio,
        picture,
        ((left.x1 + left.x2) / 2, top + H + 5),
        "linear, onto itself",
        0,
        CAPTION,
    )?;
    centred(
        studio,
        picture,
        ((right.x1 + right.x2) / 2, top + H + 5),
        "through X tiles, keyed",
        0,
        CAPTION,
    )?;
    Ok(())
}

/// Bands that are drawn with 8 and 16 bits for each pixel into the memory of the same picture:
/// patterns of these depths reach single channels.
fn depths(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    let top = 684;
    let bytes = picture.as_depth(Depth::Bpp8);
    let halves = picture.as_depth(Depth::Bpp565);
    studio.section("8 bits for each pixel");
    for step in 0..47 {
        let x = LEFT + 1 + step * 4;
        let level = |channel: f32| {
            (40.0 + 200.0 * smooth(0.0, 1.0, 1.0 - (step as f32 / 47.0 - channel).abs() * 1.9))
                as u32
        };
        // Bits 0x88, 0x44 and 0x22 choose blue, green and red of each pixel.
        for (bits, channel) in [(0x88, 0.95), (0x44, 0.5), (0x22, 0.05)] {
            let ink = Ink {
                foreground: level(channel),
                background: None,
            };
            let rows = std::array::from_fn(|row| {
                if (row / 4) as i32 == step % 2 && bits == 0x44 {
                    0
                } else {
                    bits
                }
            });
            let place = Rect::new(x * 4, top, 16, 24);
            studio.push(Blit::pattern(
                bytes,
                place,
                Pattern::Mono {
                    rows,
                    ink,
                    seed: Seed::default(),
                },
            ))?;
        }
    }
    studio.section("16 bits for each pixel");
    for step in 0..47 {
        let x = LEFT + WIDE - 190 + step * 4;
        let t = step as f32 / 46.0;
        // The lower half holds green and blue, the upper one red.
        let low = ((60.0 + 190.0 * t) as u32) << 8 | (250.0 - 190.0 * t) as u32;
        let high = (60.0 + 190.0 * (1.0 - (2.0 * t - 1.0).abs())) as u32;
        let data: Vec<u32> = (0..32)
            .map(|i| {
                if (i / 4 + i) % 8 < 6 {
                    (high << 16) | low
                } else {
                    ((high / 3) << 16) | (low >> 1 & 0x7f7f)
                }
            })
            .collect();
        let place = Rect::new(x * 2, top, 8, 24);
        studio.push(Blit::pattern(
            halves,
            place,
            Pattern::ColourImmediate {
                data,
                seed: Seed::default(),
            },
        ))?;
    }
    centred(
        studio,
        picture,
        (LEFT + 95, top + 29),
        "8 bpp, by channel",
        0,
        CAPTION,
    )?;
    centred(
        studio,
        picture,
        (LEFT + WIDE - 96, top + 29),
        "16 bpp, by halves",
        0,
        CAPTION,
    )?;
    Ok(())
}

/// Draws the right side.
pub fn draw(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    heading::reserve(studio);
    raster_operations(studio, picture)?;
    fixed_patterns(studio, picture)?;
    copies(studio, picture)?;
    depths(studio, picture)
}

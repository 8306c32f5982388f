// SPDX-License-Identifier: GPL-2.0
//! Operands that are expanded: patterns, bits, text; and keys (G45 PRM Vol 1b §8.2.2, §8.9).

use ouro_scene::blt::{
    Blit, Command, Key, KeyMode, Mask, Packing, Pattern, Setup, SetupKind, Source,
};
use ouro_scene::rop::Rop;
use ouro_scene::surface::{Address, Depth, Rect, Surface, Tiling};

use super::canvas::{
    depth, ink, linear, pattern_here, pattern_in, rect, rop, rows, seed, HEIGHT, WIDTH,
};
use crate::draft::{Draft, Made, PAGE};
use crate::random::Random;

/// A fill with a pattern.
fn patterned(draft: &mut Draft, dst: Surface, pattern: Pattern) -> Made {
    let random = &mut draft.random;
    let blit = Blit::pattern(dst, rect(random, &dst), pattern).with_rop(rop(random, true, false));
    draft.command(blit)
}

/// XY_PAT_BLT and XY_PAT_BLT_IMMEDIATE.
pub fn pattern(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let buffer = draft.buffer(PAGE, false);
    for _ in 0..2 {
        let there = pattern_in(&mut draft.random, buffer);
        patterned(draft, dst, there)?;
        let here = pattern_here(&mut draft.random, dst.depth);
        patterned(draft, dst, here)?;
    }
    Ok(())
}

/// XY_MONO_PAT_BLT, each with two colours and with one.
pub fn mono_pattern(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    for turn in 0..4 {
        let random = &mut draft.random;
        let pattern = Pattern::Mono {
            rows: rows(random),
            ink: ink(random, turn % 2 != 0),
            seed: seed(random),
        };
        patterned(draft, dst, pattern)?;
    }
    Ok(())
}

/// XY_MONO_PAT_FIXED_BLT: each of the ten patterns.
pub fn fixed_pattern(draft: &mut Draft, case: u32) -> Made {
    const CODES: [u8; 10] = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11];
    let depth = depth(case);
    let dst = Surface {
        width: 24,
        height: 20,
        pitch: 24 * depth.bytes() + 4,
        ..linear(draft, depth, true)
    };
    for (at, code) in CODES.into_iter().enumerate() {
        let random = &mut draft.random;
        let pattern = Pattern::Fixed {
            code,
            ink: ink(random, false),
            seed: seed(random),
        };
        let (x, y) = (at as i32 % 3 * 8, at as i32 / 3 * 5);
        draft.command(Blit::pattern(dst, Rect::new(x, y, 8, 5), pattern))?;
    }
    Ok(())
}

/// A source of bits in memory.
fn bits_there(random: &mut Random, at: Address, transparent: bool) -> Source {
    Source::Mono {
        at: Address {
            offset: at.offset + 64 * random.range(0, 8) as u32,
            ..at
        },
        bit: random.range(0, 8) as u8,
        ink: ink(random, transparent),
    }
}

/// XY_MONO_SRC_COPY_BLT and XY_MONO_SRC_COPY_IMMEDIATE_BLT.
pub fn mono_source(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let buffer = draft.buffer(PAGE, false);
    let at = Address { buffer, offset: 0 };
    for turn in 0..4 {
        let random = &mut draft.random;
        let transparent = turn >= 2;
        let mut to = rect(random, &dst);
        let source = if turn % 2 == 0 {
            bits_there(random, at, transparent)
        } else {
            to.y2 = to.y2.min(to.y1 + 12);
            // Rows begin on 16 bits (§8.2.2.3).
            let bits = to.width().next_multiple_of(16) * to.height();
            Source::MonoImmediate {
                data: (0..bits.div_ceil(64) * 2).map(|_| random.dword()).collect(),
                ink: ink(random, transparent),
            }
        };
        let blit = Blit {
            source,
            pattern: Pattern::None,
            ..Blit::fill(dst, to, 0)
        };
        let rop = rop(random, false, true);
        draft.command(blit.with_rop(rop))?;
    }
    Ok(())
}

/// A set-up for pixels, lines and text.
fn setup(draft: &mut Draft, dst: Surface, kind: SetupKind) -> Made {
    let random = &mut draft.random;
    let (w, h) = (dst.width as i32, dst.height as i32);
    let is_text = matches!(kind, SetupKind::Text { pattern: None, .. });
    let setup = Setup {
        dst,
        clip_rect: Rect::new(2, 1, w - 5, h - 3),
        clip: random.coin(),
        rop: match is_text {
            true => rop(random, false, true),
            false => rop(random, true, false),
        },
        mask: match dst.depth {
            Depth::Bpp32 => random.pick(&[Mask::ALL, Mask::RGB, Mask::ALPHA]),
            _ => Mask::ALL,
        },
        background: random.dword(),
        foreground: random.dword(),
        kind,
    };
    draft.command(Command::Setup(setup))
}

/// XY_TEXT_BLT and XY_TEXT_IMMEDIATE_BLT behind XY_SETUP_BLT, rows by bits and by bytes.
pub fn text(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let buffer = draft.buffer(PAGE, false);
    for turn in 0..4 {
        let transparent = turn >= 2;
        setup(
            draft,
            dst,
            SetupKind::Text {
                transparent,
                pattern: None,
            },
        )?;
        for packing in [Packing::Bit, Packing::Byte] {
            let random = &mut draft.random;
            let mut rect = rect(random, &dst);
            let tiling = Tiling::Linear;
            let command = if turn % 2 == 0 {
                Command::Text {
                    rect,
                    at: Address {
                        buffer,
                        offset: 32 * random.range(0, 16) as u32,
                    },
                    packing,
                    tiling,
                }
            } else {
                rect.y2 = rect.y2.min(rect.y1 + 12);
                let width = match packing {
                    Packing::Bit => rect.width(),
                    Packing::Byte => rect.width().next_multiple_of(8),
                };
                let dwords = (width * rect.height()).div_ceil(64) * 2;
                Command::TextImmediate {
                    rect,
                    data: (0..dwords).map(|_| random.dword()).collect(),
                    packing,
                    tiling,
                }
            };
            draft.command(command)?;
        }
    }
    Ok(())
}

/// XY_PIXEL_BLT, which the clip rectangle always cuts, and XY_SCANLINES_BLT with each kind of pattern.
pub fn lines(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let buffer = draft.buffer(PAGE, false);
    let pattern = Address {
        buffer,
        offset: 256 * draft.random.range(0, 8) as u32,
    };
    let colour = |pattern| SetupKind::Text {
        transparent: false,
        pattern,
    };
    for turn in 0..4 {
        let kind = if turn == 0 {
            colour(Some(pattern))
        } else {
            SetupKind::MonoPattern {
                rows: rows(&mut draft.random),
                transparent: turn == 2,
                solid: turn == 3,
            }
        };
        setup(draft, dst, kind)?;
        for _ in 0..2 {
            let random = &mut draft.random;
            let command = Command::Scanlines {
                rect: rect(random, &dst),
                seed: seed(random),
                tiling: Tiling::Linear,
            };
            draft.command(command)?;
        }
    }
    setup(
        draft,
        dst,
        SetupKind::MonoPattern {
            rows: [0xff; 8],
            transparent: false,
            solid: true,
        },
    )?;
    for at in 0..8 {
        let random = &mut draft.random;
        // Some on the edges of the clip rectangle.
        let x = if at % 2 == 0 {
            2
        } else {
            random.range(0, WIDTH - 6)
        };
        let y = random.range(0, HEIGHT - 4);
        let command = Command::Pixel {
            x: x as i16,
            y: y as i16,
            tiling: Tiling::Linear,
        };
        draft.command(command)?;
    }
    Ok(())
}

/// A range of colours that about half of all pixels are in.
fn range(random: &mut Random, mode: KeyMode) -> Key {
    let (low, high) = (random.dword() & 0x1f1f_1f1f, random.dword() | 0xd0d0_d0d0);
    Key { mode, low, high }
}

/// Colour keys: on the source, and on the destination with a copy and with each kind of pattern.
pub fn key(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let src = Surface {
        pitch: dst.pitch,
        width: dst.width,
        height: dst.height,
        ..linear(draft, dst.depth, false)
    };
    let buffer = draft.buffer(PAGE, false);
    for mode in [KeyMode::Source, KeyMode::Destination] {
        let random = &mut draft.random;
        let to = rect(random, &dst);
        let blit = Blit {
            key: Some(range(random, mode)),
            ..Blit::copy(dst, to, src, to.x1 as i16, to.y1 as i16)
        };
        draft.command(blit)?;
    }
    for there in [true, false] {
        let random = &mut draft.random;
        let pattern = if there {
            pattern_in(random, buffer)
        } else {
            pattern_here(random, dst.depth)
        };
        let blit = Blit {
            key: Some(range(random, KeyMode::Destination)),
            ..Blit::pattern(dst, rect(random, &dst), pattern)
        };
        draft.command(blit)?;
    }
    Ok(())
}

/// The commands of three operands: each kind of source with each kind of pattern.
pub fn three_operands(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let surface = Surface {
        pitch: dst.pitch,
        width: dst.width,
        height: dst.height,
        ..linear(draft, dst.depth, false)
    };
    let buffer = draft.buffer(PAGE, false);
    for (colour, kind) in [
        (true, 0),
        (true, 1),
        (true, 2),
        (false, 0),
        (false, 1),
        (false, 2),
    ] {
        let random = &mut draft.random;
        let to = rect(random, &dst);
        let source = if colour {
            Source::Colour {
                surface,
                x: to.x1 as i16,
                y: to.y1 as i16,
            }
        } else {
            bits_there(random, Address { buffer, offset: 0 }, false)
        };
        let pattern = match kind {
            0 => pattern_in(random, buffer),
            1 => pattern_here(random, dst.depth),
            _ => Pattern::Mono {
                rows: rows(random),
                ink: ink(random, false),
                seed: seed(random),
            },
        };
        // All three matter.
        let rop = loop {
            let rop = Rop(random.dword() as u8);
            if rop.reads_source() && rop.reads_pattern() {
                break rop;
            }
        };
        let blit = Blit {
            source,
            pattern,
            rop,
            ..Blit::fill(dst, to, 0)
        };
        draft.command(blit)?;
    }
    Ok(())
}

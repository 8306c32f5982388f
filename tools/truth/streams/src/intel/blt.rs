// SPDX-License-Identifier: GPL-2.0
//! Fills and copies (G45 PRM Vol 1b §8.1 to §8.10; the later blitters have the same commands).

use ouro_scene::blt::encode::encode;
use ouro_scene::blt::{Blit, Command, Mask, Pattern, Source};
use ouro_scene::rop::Rop;
use ouro_scene::surface::{Address, Depth, Rect, Surface};

use super::canvas::{depth, linear, pattern_in, rect, rop, tiled, WIDTH};
use crate::draft::{Draft, Made};
use crate::stream::{Form, Target};

/// Blits of a stream.
const BLITS: usize = 4;

/// A fill by any operation of pattern and destination.
fn fill_of(draft: &mut Draft, dst: Surface) -> Blit {
    let random = &mut draft.random;
    Blit::fill(dst, rect(random, &dst), random.dword()).with_rop(rop(random, true, false))
}

/// XY_COLOR_BLT.
pub fn fill(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    for _ in 0..BLITS {
        let blit = fill_of(draft, dst);
        draft.command(blit)?;
    }
    Ok(())
}

/// COLOR_BLT: rows of bytes from an address.
pub fn linear_fill(draft: &mut Draft, case: u32) -> Made {
    let depth = depth(case);
    let dst = linear(draft, depth, true);
    let random = &mut draft.random;
    let width = (random.range(1, WIDTH - 8) as u32 * depth.bytes()) as u16;
    let command = Command::LinearFill {
        at: Address {
            offset: dst.base.offset + depth.bytes() * random.range(0, 8) as u32,
            ..dst.base
        },
        pitch: dst.pitch as u16,
        width,
        height: random.range(1, 15) as u16,
        depth,
        rop: rop(random, true, false),
        mask: Mask::ALL,
        colour: random.dword(),
    };
    draft.command(command)
}

/// SRC_COPY_BLT: rows of bytes from one address to another.
pub fn linear_copy(draft: &mut Draft, case: u32) -> Made {
    let depth = depth(case);
    let dst = linear(draft, depth, true);
    let src = linear(draft, depth, false);
    let random = &mut draft.random;
    let command = Command::LinearCopy {
        to: dst.base,
        to_pitch: dst.pitch as u16,
        from: src.base,
        from_pitch: src.pitch as u16,
        width: (random.range(1, WIDTH - 6) as u32 * depth.bytes()) as u16,
        height: random.range(1, 16) as u16,
        depth,
        rop: rop(random, false, true),
    };
    draft.command(command)
}

/// A copy with any operation of source and destination.
fn copy_of(draft: &mut Draft, dst: Surface, src: Surface) -> Blit {
    let random = &mut draft.random;
    let to = rect(random, &dst);
    let x = random.range(0, src.width as i32 - to.width() as i32 + 1);
    let y = random.range(0, src.height as i32 - to.height() as i32 + 1);
    Blit::copy(dst, to, src, x as i16, y as i16).with_rop(rop(random, false, true))
}

/// A source as large as the largest rectangle.
fn source(draft: &mut Draft, dst: &Surface) -> Surface {
    let src = linear(draft, dst.depth, false);
    let width = dst.width.max(src.width);
    Surface {
        width,
        height: dst.height.max(src.height),
        pitch: src
            .pitch
            .max((width * dst.depth.bytes()).next_multiple_of(4)),
        ..src
    }
}

/// XY_SRC_COPY_BLT.
pub fn copy(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let src = source(draft, &dst);
    for _ in 0..BLITS {
        let blit = copy_of(draft, dst, src);
        draft.command(blit)?;
    }
    Ok(())
}

/// All operations, each of three operands on six bytes by two rows.
pub fn operations(draft: &mut Draft, _case: u32) -> Made {
    let depth = Depth::Bpp8;
    let surface = |draft: &mut Draft, is_result| {
        let buffer = draft.buffer(crate::draft::PAGE, is_result);
        Surface {
            base: Address {
                buffer,
                offset: 256,
            },
            pitch: 96,
            width: 96,
            height: 32,
            depth,
            tiling: ouro_scene::surface::Tiling::Linear,
        }
    };
    let (dst, src) = (surface(draft, true), surface(draft, false));
    let buffer = draft.buffer(crate::draft::PAGE, false);
    let pattern = pattern_in(&mut draft.random, buffer);
    for code in 0..=255u8 {
        let (x, y) = (i32::from(code % 16) * 6, i32::from(code / 16) * 2);
        let blit = Blit {
            pattern: pattern.clone(),
            rop: Rop(code),
            ..Blit::copy(dst, Rect::new(x, y, 6, 2), src, x as i16, y as i16)
        };
        draft.command(blit)?;
    }
    Ok(())
}

/// Drawing inside a clip rectangle, of which each edge cuts something off.
pub fn clip(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let src = source(draft, &dst);
    for turn in 0..BLITS {
        let random = &mut draft.random;
        let (w, h) = (dst.width as i32, dst.height as i32);
        let (x, y) = (random.range(2, w / 2), random.range(2, h / 2));
        let rect = Rect::new(x, y, random.range(2, w - x), random.range(2, h - y));
        draft.command(Command::SetupClip { rect })?;
        let mut blit = if turn % 2 == 0 {
            fill_of(draft, dst)
        } else {
            copy_of(draft, dst, src)
        };
        // Two of its edges are outside: each of four in turn.
        if turn < 2 {
            (blit.rect.x1, blit.rect.y1) = (0, 0);
            blit.rect.x2 = blit.rect.x2.max(x + 2);
            blit.rect.y2 = blit.rect.y2.max(y + 2);
        } else {
            (blit.rect.x2, blit.rect.y2) = (w, h);
            blit.rect.x1 = blit.rect.x1.min(x + 1);
            blit.rect.y1 = blit.rect.y1.min(y + 1);
        }
        if let Source::Colour { x, y, .. } = &mut blit.source {
            (*x, *y) = (0, 0);
        }
        blit.clip = true;
        draft.command(blit)?;
    }
    Ok(())
}

/// Rectangles that are partly left of column 0 or above row 0, and those that are empty.
pub fn edges(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    for turn in 0..BLITS {
        let mut blit = fill_of(draft, dst);
        let by = draft.random.range(1, 6);
        match turn {
            0 => blit.rect.x1 = -by,
            1 => blit.rect.y1 = -by,
            2 => blit.rect.x2 = blit.rect.x1,
            _ => blit.rect.y2 = blit.rect.y1 - by,
        }
        draft.command(blit)?;
    }
    Ok(())
}

/// A copy whose source begins before row or column 0: the destination moves with it.
pub fn negative_source(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    let src = source(draft, &dst);
    for turn in 0..2 {
        let mut blit = copy_of(draft, dst, src);
        let by = draft.random.range(1, 4) as i16;
        blit.rect = Rect::new(1, 1, 10, 9);
        if let Source::Colour { x, y, .. } = &mut blit.source {
            (*x, *y) = if turn == 0 { (-by, 1) } else { (1, -by) };
        }
        draft.command(blit)?;
    }
    Ok(())
}

/// Channels of 32-bit pixels that are written: colour alone (24 bits), alpha alone, none.
pub fn mask(draft: &mut Draft, _case: u32) -> Made {
    const NONE: Mask = Mask {
        rgb: false,
        alpha: false,
    };
    let dst = linear(draft, Depth::Bpp32, true);
    let src = source(draft, &dst);
    for mask in [Mask::RGB, Mask::ALPHA, NONE] {
        for blit in [fill_of(draft, dst), copy_of(draft, dst, src)] {
            draft.command(Blit { mask, ..blit })?;
        }
    }
    Ok(())
}

/// Copies within a surface, by a few pixels in each direction.
pub fn overlap(draft: &mut Draft, case: u32) -> Made {
    let depth = depth(case);
    // Of operands that overlap, base and pitch are whole cache lines (§8.7.1).
    let buffer = draft.buffer(crate::draft::PAGE, true);
    let surface = Surface {
        base: Address {
            buffer,
            offset: 256,
        },
        pitch: 128,
        width: 128 / depth.bytes(),
        height: HEIGHT_OF_OVERLAP as u32,
        depth,
        tiling: ouro_scene::surface::Tiling::Linear,
    };
    for turn in 0..BLITS {
        let random = &mut draft.random;
        let (dx, dy) = (random.range(1, 4), random.range(1, 4));
        let (x, y) = match turn {
            0 => (dx, dy),
            1 => (-dx, -dy),
            2 => (dx, 0),
            _ => (-dx, 0),
        };
        let to = Rect::new(4, 4, 12, 10);
        let blit = Blit::copy(surface, to, surface, (4 + x) as i16, (4 + y) as i16);
        draft.command(blit)?;
    }
    Ok(())
}

/// Rows of [`overlap`]'s surface.
const HEIGHT_OF_OVERLAP: i32 = 24;

/// Rows that lie one before the other in memory: a negative pitch.
pub fn negative_pitch(draft: &mut Draft, case: u32) -> Made {
    let dst = linear(draft, depth(case), true);
    for _ in 0..2 {
        let packet = encode(&fill_of(draft, dst).into())?;
        let start = draft.place();
        draft.raw(&packet.dwords);
        draft.negate_pitch(start + 1, dst.pitch);
        // Row 0 is the last in memory.
        let target = Target::Buffer(
            dst.base.buffer.0,
            dst.base.offset + dst.pitch * (dst.height - 1),
        );
        draft.patch(start + 4, target, true, Form::Dword);
    }
    Ok(())
}

/// X tiles as destination, as source, and as both; their pitch is in dwords.
pub fn tiles(draft: &mut Draft, case: u32) -> Made {
    let depth = depth(case);
    let dst = tiled(draft, depth, true);
    let src = tiled(draft, depth, false);
    let plain = source(draft, &linear_like(&dst));
    // Across the tiles' borders.
    let column = 512 / depth.bytes() as i32 - 9;
    for turn in 0..3 {
        let random = &mut draft.random;
        let to = Rect::new(column, random.range(1, 4), 18, random.range(6, 12));
        let blit = match turn {
            0 => Blit::fill(dst, to, random.dword()),
            1 => Blit::copy(dst, to, src, (column - 3) as i16, 2),
            _ => Blit::copy(dst, to, plain, 1, 2),
        };
        draft.command(blit)?;
    }
    Ok(())
}

/// A linear surface of the usual size and of this one's depth.
fn linear_like(surface: &Surface) -> Surface {
    Surface {
        width: WIDTH as u32,
        height: super::canvas::HEIGHT as u32,
        ..*surface
    }
}

/// A larger fill and a copy of it, whose time is of interest.
pub fn bulk(draft: &mut Draft, case: u32) -> Made {
    const BYTES: usize = 256 << 10;
    let buffer = draft.buffer_of(vec![0; BYTES], true);
    let dst = Surface {
        base: Address { buffer, offset: 0 },
        pitch: 1024,
        width: 256,
        height: 256,
        depth: Depth::Bpp32,
        tiling: ouro_scene::surface::Tiling::Linear,
    };
    if case == 0 {
        let colour = draft.random.dword();
        return draft.command(Blit::fill(dst, dst.rect(), colour));
    }
    let buffer = draft.buffer(BYTES, false);
    let src = Surface {
        base: Address { buffer, offset: 0 },
        ..dst
    };
    draft.command(Blit {
        pattern: Pattern::None,
        ..Blit::copy(dst, dst.rect(), src, 0, 0)
    })
}

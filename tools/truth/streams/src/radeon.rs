// SPDX-License-Identifier: GPL-2.0
//! Streams for the 2D engine of R5xx ("R5xx Acceleration" §5.2.2), by registers, which packets of type 0 write: the
//! upstream driver takes no packet of type 3 that draws in 2D.

use ouro_scene::blt::encode::EncodeError;
use ouro_scene::plain::{Brush, From, Operation};
use ouro_scene::radeon::{Encoder, Stream, Way};
use ouro_scene::rop::Rop;
use ouro_scene::surface::{Address, Depth, Rect, Surface, Tiling};

use crate::draft::{Draft, Made, PAGE};
use crate::intel::canvas::{depth, ink, rect, rop, rows};
use crate::stream::{Engine, Form, Target};

/// Operations of a stream.
const OPERATIONS: usize = 4;

/// A buffer with a surface: whole kilobytes before it, rows of 64 bytes (digest of R5xx §2.3).
fn surface(draft: &mut Draft, depth: Depth, is_result: bool) -> Surface {
    let buffer = draft.buffer(PAGE, is_result);
    Surface {
        base: Address {
            buffer,
            offset: 1024,
        },
        pitch: 64 * depth.bytes().max(2) / 2,
        width: 24,
        height: 20,
        depth,
        tiling: Tiling::Linear,
    }
}

/// Writes operations.
fn draw(draft: &mut Draft, operations: &[Operation]) -> Made {
    draft.engine = Engine::Render;
    let (mut stream, mut encoder) = (Stream::default(), Encoder::new(Way::Registers));
    let mut add = || {
        for operation in operations {
            encoder.add(operation, &mut stream)?;
        }
        encoder.flush(&mut stream)
    };
    // The one error that there is: of a surface, or of a brush of colours.
    add().map_err(|_| EncodeError::NoSuchCommand)?;
    for (at, used) in stream.places() {
        let target = Target::Buffer(used.buffer.0, 0);
        draft.patch(*at, target, used.write, Form::PitchOffset);
    }
    draft.raw(stream.dwords());
    Ok(())
}

fn fill_of(draft: &mut Draft, dst: Surface) -> Operation {
    let random = &mut draft.random;
    Operation {
        dst,
        rect: rect(random, &dst),
        rop: rop(random, true, false),
        mask: dst.depth.mask(),
        source: None,
        brush: Brush::Solid(random.dword() & dst.depth.mask()),
    }
}

fn copy_of(draft: &mut Draft, dst: Surface, from: Surface) -> Operation {
    let random = &mut draft.random;
    let to = rect(random, &dst);
    let x = random.range(0, (from.width - to.width()) as i32 + 1);
    let y = random.range(0, (from.height - to.height()) as i32 + 1);
    Operation {
        dst,
        rect: to,
        rop: rop(random, false, true),
        mask: dst.depth.mask(),
        source: Some(From {
            surface: from,
            x,
            y,
        }),
        brush: Brush::None,
    }
}

/// Fills of one colour.
pub fn fill(draft: &mut Draft, case: u32) -> Made {
    let dst = surface(draft, depth(case), true);
    let all: Vec<Operation> = (0..OPERATIONS).map(|_| fill_of(draft, dst)).collect();
    draw(draft, &all)
}

/// Copies between surfaces.
pub fn copy(draft: &mut Draft, case: u32) -> Made {
    let dst = surface(draft, depth(case), true);
    let from = surface(draft, dst.depth, false);
    let all: Vec<Operation> = (0..OPERATIONS).map(|_| copy_of(draft, dst, from)).collect();
    draw(draft, &all)
}

/// All operations of a brush, a source and a destination.
pub fn operations(draft: &mut Draft, _case: u32) -> Made {
    let wide = |draft: &mut Draft, is_result| Surface {
        pitch: 128,
        width: 96,
        height: 20,
        ..surface(draft, Depth::Bpp8, is_result)
    };
    let (dst, from) = (wide(draft, true), wide(draft, false));
    let all: Vec<Operation> = (0..=255u8)
        .map(|code| {
            // Six bytes by a row each.
            let (x, y) = (i32::from(code % 16) * 6, i32::from(code / 16));
            Operation {
                rect: Rect::new(x, y, 6, 1),
                rop: Rop(code),
                source: Some(From {
                    surface: from,
                    x,
                    y,
                }),
                brush: Brush::Solid(draft.random.dword() & 0xff),
                ..fill_of(draft, dst)
            }
        })
        .collect();
    draw(draft, &all)
}

/// Copies within a surface, away from what is read.
pub fn overlap(draft: &mut Draft, case: u32) -> Made {
    let surface = surface(draft, depth(case), true);
    let all: Vec<Operation> = [(2, 1), (-2, -1), (3, 0), (-3, 0), (0, 2), (0, -2)]
        .into_iter()
        .map(|(x, y)| Operation {
            rect: Rect::new(5, 4, 12, 10),
            rop: Rop::SOURCE,
            source: Some(From {
                surface,
                x: 5 + x,
                y: 4 + y,
            }),
            ..copy_of(draft, surface, surface)
        })
        .collect();
    draw(draft, &all)
}

/// Bits of a pixel that are written.
pub fn mask(draft: &mut Draft, case: u32) -> Made {
    let dst = surface(draft, depth(case), true);
    let from = surface(draft, dst.depth, false);
    let mut all = Vec::new();
    for _ in 0..2 {
        for operation in [fill_of(draft, dst), copy_of(draft, dst, from)] {
            let mask = draft.random.dword() & dst.depth.mask();
            all.push(Operation { mask, ..operation });
        }
    }
    draw(draft, &all)
}

/// Brushes of bits, with two colours and with one.
pub fn brush(draft: &mut Draft, case: u32) -> Made {
    let dst = surface(draft, depth(case), true);
    let all: Vec<Operation> = (0..OPERATIONS)
        .map(|n| {
            let operation = fill_of(draft, dst);
            let random = &mut draft.random;
            let mut ink = ink(random, n % 2 != 0);
            ink.foreground &= dst.depth.mask();
            ink.background = ink.background.map(|b| b & dst.depth.mask());
            let rows = rows(random);
            Operation {
                brush: Brush::Mono { rows, ink },
                ..operation
            }
        })
        .collect();
    draw(draft, &all)
}

/// Macro tiles (digest of R5xx §4.1).
pub fn tiles(draft: &mut Draft, case: u32) -> Made {
    let depth = depth(case);
    let tiled = |draft: &mut Draft, is_result| Surface {
        base: Address {
            buffer: draft.buffer(8 * PAGE, is_result),
            offset: 0,
        },
        pitch: 1024,
        width: 1024 / depth.bytes(),
        height: 32,
        depth,
        tiling: Tiling::X,
    };
    let (dst, from) = (tiled(draft, true), tiled(draft, false));
    // Across the tiles' borders.
    let (x, y) = (dst.width as i32 / 2 - 9, 12);
    let all = [
        Operation {
            rect: Rect::new(x, y, 18, 9),
            ..fill_of(draft, Surface { width: 24, ..dst })
        },
        Operation {
            rect: Rect::new(x - 30, y, 18, 9),
            source: Some(From {
                surface: from,
                x: x - 3,
                y: 1,
            }),
            ..copy_of(
                draft,
                Surface { width: 24, ..dst },
                Surface { width: 24, ..from },
            )
        },
    ];
    let all = all.map(|operation| Operation { dst, ..operation });
    draw(draft, &all)
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
        tiling: Tiling::Linear,
    };
    let fill = Operation {
        rect: dst.rect(),
        rop: Rop::PATTERN,
        ..fill_of(draft, dst)
    };
    if case == 0 {
        return draw(draft, &[fill]);
    }
    let buffer = draft.buffer(BYTES, false);
    let from = Surface {
        base: Address { buffer, offset: 0 },
        ..dst
    };
    let copy = Operation {
        rop: Rop::SOURCE,
        source: Some(From {
            surface: from,
            x: 0,
            y: 0,
        }),
        brush: Brush::None,
        ..fill
    };
    draw(draft, &[copy])
}

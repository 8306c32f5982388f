// SPDX-License-Identifier: GPL-2.0
//! Surfaces and operands from random numbers. A surface has a margin on each side in its buffer, so that what is
//! written beyond it is seen.

use ouro_scene::blt::{Ink, Pattern, Seed};
use ouro_scene::rop::Rop;
use ouro_scene::surface::{Address, BufferId, Depth, Rect, Surface, Tiling};

use crate::draft::Draft;
use crate::random::Random;

/// Bytes before and behind a surface.
const MARGIN: u32 = 256;
/// Most pixels and rows of a surface.
pub const WIDTH: i32 = 24;
/// See [`WIDTH`].
pub const HEIGHT: i32 = 20;

/// A buffer with a linear surface of random pixels.
pub fn linear(draft: &mut Draft, depth: Depth, is_result: bool) -> Surface {
    let buffer = draft.buffer(crate::draft::PAGE, is_result);
    let random = &mut draft.random;
    let width = random.range(WIDTH - 6, WIDTH + 1) as u32;
    let grain = random.range(0, 3) as u32;
    Surface {
        base: Address {
            buffer,
            offset: MARGIN + 16 * random.range(0, 4) as u32,
        },
        pitch: (width * depth.bytes()).next_multiple_of(4) + 4 * grain,
        width,
        height: random.range(HEIGHT - 4, HEIGHT + 1) as u32,
        depth,
        tiling: Tiling::Linear,
    }
}

/// A buffer with a surface of two tiles beside each other and two rows of them.
pub fn tiled(draft: &mut Draft, depth: Depth, is_result: bool) -> Surface {
    let buffer = draft.buffer(4 * crate::draft::PAGE, is_result);
    Surface {
        base: Address { buffer, offset: 0 },
        pitch: 1024,
        width: 1024 / depth.bytes(),
        height: 16,
        depth,
        tiling: Tiling::X,
    }
}

/// A rectangle that is not empty, in a surface of this size.
pub fn rect(random: &mut Random, surface: &Surface) -> Rect {
    let (width, height) = (surface.width as i32, surface.height as i32);
    let w = random.range(1, width.min(WIDTH) + 1);
    let h = random.range(1, height.min(HEIGHT) + 1);
    let x = random.range(0, width - w + 1);
    let y = random.range(0, height - h + 1);
    Rect::new(x, y, w, h)
}

/// A raster operation that uses these operands and no other; the destination it may use.
pub fn rop(random: &mut Random, pattern: bool, source: bool) -> Rop {
    loop {
        let table = random.dword() as u8;
        let used = u8::from(pattern) << 2 | u8::from(source) << 1 | 1;
        let bits = (0..8u8).filter(|place| table >> (place & used) & 1 != 0);
        let rop = Rop(bits.fold(0, |code, place| code | 1 << place));
        if rop.reads_pattern() == pattern && rop.reads_source() == source {
            return rop;
        }
    }
}

/// The phase of a pattern.
pub fn seed(random: &mut Random) -> Seed {
    Seed {
        x: random.range(0, 8) as u8,
        y: random.range(0, 8) as u8,
    }
}

/// The colours of a monochrome operand.
pub fn ink(random: &mut Random, transparent: bool) -> Ink {
    let background = random.dword();
    Ink {
        foreground: random.dword(),
        background: (!transparent).then_some(background),
    }
}

/// Rows of a monochrome pattern.
pub fn rows(random: &mut Random) -> [u8; 8] {
    random.qword().to_le_bytes()
}

/// A pattern in a buffer.
pub fn pattern_in(random: &mut Random, buffer: BufferId) -> Pattern {
    let offset = 256 * random.range(0, 8) as u32;
    Pattern::Colour {
        at: Address { buffer, offset },
        seed: seed(random),
    }
}

/// A pattern in the command.
pub fn pattern_here(random: &mut Random, depth: Depth) -> Pattern {
    Pattern::ColourImmediate {
        data: (0..16 * depth.bytes()).map(|_| random.dword()).collect(),
        seed: seed(random),
    }
}

/// A depth of a case: all of them in turn.
pub fn depth(case: u32) -> Depth {
    Depth::ALL[case as usize % Depth::ALL.len()]
}

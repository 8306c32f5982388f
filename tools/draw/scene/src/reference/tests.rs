// SPDX-License-Identifier: GPL-2.0
//! The software blitter on small surfaces, with pictures written by hand.

use super::*;
use crate::blt::{Ink, Pattern};

const A: BufferId = BufferId(0);
const B: BufferId = BufferId(1);

fn surface(buffer: BufferId, width: u32, height: u32, depth: Depth) -> Surface {
    let base = Address { buffer, offset: 0 };
    Surface {
        base,
        pitch: width * depth.bytes(),
        width,
        height,
        depth,
        tiling: Tiling::Linear,
    }
}

fn memory() -> Memory {
    Memory {
        buffers: vec![vec![0; 4096], vec![0; 4096]],
    }
}

/// Rows of an 8 bpp surface as text: '.' is 0, else the digit.
fn picture(memory: &Memory, s: &Surface) -> Vec<String> {
    (0..s.height)
        .map(|y| {
            (0..s.width)
                .map(|x| match memory.pixel(s, x, y).unwrap() {
                    0 => '.',
                    v => char::from(b'0' + v as u8),
                })
                .collect()
        })
        .collect()
}

fn draw(memory: &mut Memory, commands: &[Command]) {
    let mut blitter = Blitter::new();
    for command in commands {
        blitter.draw(memory, command).expect("draws");
    }
}

#[test]
fn mono_rows_start_on_sixteen_bits() {
    let mut m = memory();
    m.buffers[1][..4].copy_from_slice(&[0b1010_0000, 0xff, 0b0101_0000, 0xff]);
    let s = surface(A, 4, 2, Depth::Bpp8);
    let ink = Ink {
        foreground: 1,
        background: None,
    };
    draw(
        &mut m,
        &[Blit::mono(
            s,
            s.rect(),
            Address {
                buffer: B,
                offset: 0,
            },
            ink,
        )
        .into()],
    );
    assert_eq!(picture(&m, &s), ["1.1.", ".1.1"]);
}

#[test]
fn text_is_packed_by_bit_or_byte() {
    for (packing, rows) in [
        (Packing::Bit, ["11...", "..11."]),
        (Packing::Byte, ["11...", "1...1"]),
    ] {
        let mut m = memory();
        let s = surface(A, 5, 2, Depth::Bpp8);
        let kind = SetupKind::Text {
            transparent: true,
            pattern: None,
        };
        let setup = Setup {
            dst: s,
            clip_rect: s.rect(),
            clip: false,
            rop: Rop::SOURCE,
            mask: Mask::ALL,
            background: 0,
            foreground: 1,
            kind,
        };
        // Bits 11000 00110 by bit; 11000 and, in the next byte, 10001 by byte.
        let data = vec![u32::from_le_bytes([0b1100_0001, 0b1000_1000, 0, 0]), 0];
        draw(
            &mut m,
            &[
                Command::Setup(setup),
                Command::TextImmediate {
                    rect: s.rect(),
                    data,
                    packing,
                    tiling: Tiling::Linear,
                },
            ],
        );
        assert_eq!(picture(&m, &s), rows, "{packing:?}");
    }
}

#[test]
fn patterns_hang_on_the_destination_and_its_seed() {
    let mut m = memory();
    let s = surface(A, 10, 2, Depth::Bpp8);
    let pattern = Pattern::Mono {
        rows: [0x80, 0x40, 0, 0, 0, 0, 0, 0],
        ink: Ink {
            foreground: 1,
            background: None,
        },
        seed: Seed::default(),
    };
    draw(
        &mut m,
        &[Blit::pattern(s, Rect::new(0, 0, 10, 2), pattern).into()],
    );
    assert_eq!(picture(&m, &s), ["1.......1.", ".1.......1"]);
    let mut m = memory();
    let pattern = Pattern::Fixed {
        code: 2,
        ink: Ink {
            foreground: 1,
            background: Some(2),
        },
        seed: Seed { x: 1, y: 0 },
    };
    draw(
        &mut m,
        &[Blit::pattern(s, Rect::new(1, 0, 9, 2), pattern).into()],
    );
    // Column x shows bit (x + 1) mod 8: ones where that is 0, then, a row below, 1.
    assert_eq!(picture(&m, &s), [".222222122", ".222222212"]);
}

#[test]
fn overlapping_copy_moves_as_if_read_first() {
    let mut m = memory();
    let s = surface(A, 6, 1, Depth::Bpp8);
    m.buffers[0][..6].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    draw(
        &mut m,
        &[Blit::copy(s, Rect::new(2, 0, 4, 1), s, 0, 0).into()],
    );
    assert_eq!(picture(&m, &s), ["121234"]);
    let other = Surface {
        base: Address {
            buffer: A,
            offset: 1,
        },
        ..s
    };
    let refused = Blitter::new().draw(
        &mut m,
        &Blit::copy(s, Rect::new(0, 0, 4, 1), other, 0, 0).into(),
    );
    assert_eq!(refused, Err(ReferenceError::Overlap));
}

#[test]
fn clip_cuts_blits_that_ask_and_all_pixels() {
    let mut m = memory();
    let s = surface(A, 5, 1, Depth::Bpp8);
    let kind = SetupKind::MonoPattern {
        rows: [0; 8],
        transparent: false,
        solid: true,
    };
    let setup = Setup {
        dst: s,
        clip_rect: Rect::new(1, 0, 3, 1),
        clip: false,
        rop: Rop::PATTERN,
        mask: Mask::ALL,
        background: 2,
        foreground: 0,
        kind,
    };
    let fill = |colour, clip| {
        Command::Blit(Blit {
            clip,
            ..Blit::fill(s, s.rect(), colour)
        })
    };
    let pixel = |x| Command::Pixel {
        x,
        y: 0,
        tiling: Tiling::Linear,
    };
    draw(
        &mut m,
        &[Command::Setup(setup), fill(1, true), pixel(0), pixel(1)],
    );
    assert_eq!(picture(&m, &s), [".211."]);
}

#[test]
fn masks_and_keys_keep_pixels() {
    let mut m = memory();
    let s = surface(A, 2, 1, Depth::Bpp32);
    m.buffers[0][..8].copy_from_slice(&[0x10, 0x20, 0x30, 0x40, 0x11, 0x21, 0x31, 0x41]);
    draw(
        &mut m,
        &[Blit {
            mask: Mask::RGB,
            ..Blit::fill(s, Rect::new(0, 0, 1, 1), 0xffff_ffff)
        }
        .into()],
    );
    assert_eq!(m.pixel(&s, 0, 0), Ok(0x40ff_ffff));
    let t = surface(B, 2, 1, Depth::Bpp32);
    let key = Key {
        mode: KeyMode::Source,
        low: 0x30_2010,
        high: 0x32_2212,
    };
    draw(
        &mut m,
        &[Blit {
            key: Some(key),
            ..Blit::copy(t, t.rect(), s, 0, 0)
        }
        .into()],
    );
    assert_eq!(
        (m.pixel(&t, 0, 0), m.pixel(&t, 1, 0)),
        (Ok(0x40ff_ffff), Ok(0))
    );
}

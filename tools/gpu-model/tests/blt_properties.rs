// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What holds for all blits: they come out as pixel after pixel, whatever the operands, the clip rectangle and the
//! overlap are; and no dwords whatever bring the blitter down.

use std::sync::LazyLock;

use crate::blt_support::reference::{ordinary, Draw, Surf, DRAWING};
use crate::blt_support::{Ram, GEN6};
use gpu_model::blt::{decode, execute, length, BltCaps, BltError, BltState};
use gpu_model::tiling::Swizzle;
use proptest::prelude::*;

/// The memory under test: room for two surfaces of 56 KB, monochrome sources and patterns.
static MEMORY: LazyLock<Ram> = LazyLock::new(|| Ram::noise(0x20000, 77));

fn draw_with_model(draw: &Draw, ram: &mut Ram, caps: &BltCaps) {
    let mut state = BltState::default();
    for cmd in draw.encode() {
        execute(&cmd, &mut state, ram, caps).unwrap_or_else(|e| panic!("{}: {e}", decode(&cmd)));
    }
}

fn first_difference(ram: &Ram, expected: &Ram) -> Option<usize> {
    // One comparison of memory is hundreds of times faster than one of each byte, without optimization.
    if ram.bytes == expected.bytes {
        return None;
    }
    ram.bytes
        .iter()
        .zip(&expected.bytes)
        .position(|(a, b)| a != b)
}

/// A surface that holds the coordinates of `draws`; upside down if the pitch is negative.
fn surface(base: u32, allow_negative: bool, allow_tiled: bool) -> impl Strategy<Value = Surf> {
    let linear = (48..128u32).prop_map(move |pitch| Surf {
        base,
        pitch: 4 * pitch as i32,
        tiled: false,
    });
    let negative = (48..64u32).prop_map(move |pitch| Surf {
        base: base + 0x6000,
        pitch: -4 * pitch as i32,
        tiled: false,
    });
    let tiled = (1..3i32).prop_map(move |tiles| Surf {
        base,
        pitch: 512 * tiles,
        tiled: true,
    });
    prop_oneof![
        3 => linear,
        u32::from(allow_negative) => negative,
        2 * u32::from(allow_tiled) => tiled,
    ]
}

/// Drawing commands with all that they have, operands apart from each other or in one surface.
fn draws() -> impl Strategy<Value = Draw> {
    let what = (
        prop::sample::select(&DRAWING[..]),
        0..4u32,
        any::<u8>(),
        0..4u32,
        prop::sample::select(&[0u32, 4, 5, 9, 11][..]),
    );
    let rect = (-6..40i32, -6..30i32, 0..40i32, 0..24i32);
    let clip = prop::option::of((0..40i32, 0..30i32, 0..40i32, 0..30i32));
    let source = (-5..40i32, -5..30i32, any::<bool>());
    let flags = any::<[bool; 5]>();
    let seeds = (0..8u32, 0..8u32, 0..8u32);
    let data = (any::<[u8; 8]>(), any::<[u32; 6]>(), any::<u32>());
    (what, rect, clip, source, flags, seeds, data).prop_flat_map(
        |(
            (opcode, depth, rop, mask, fixed),
            rect,
            clip,
            source,
            flags,
            seeds,
            (rows, colours, noise),
        )| {
            let coordinates = !matches!(opcode, 0x40 | 0x43);
            let may_be_negative = !matches!(opcode, 0x24 | 0x26 | 0x31);
            let mut draw = ordinary(opcode, depth, rop);
            draw.mask = mask;
            draw.fixed = fixed;
            draw.rect = (rect.0, rect.1, rect.0 + rect.2, rect.1 + rect.3);
            draw.clip = clip;
            draw.src_at = (source.0, source.1);
            // Backwards, the linear commands start at the other end of their lines.
            draw.right_to_left = source.2;
            [
                draw.byte_packed,
                draw.src_transparent,
                draw.pat_transparent,
                draw.solid,
                draw.mono_setup,
            ] = flags;
            draw.seed = (seeds.0, seeds.1);
            draw.bit = seeds.2;
            draw.pat_rows = rows;
            [draw.src_bg, draw.src_fg, draw.pat_bg, draw.pat_fg, _, _] = colours;
            let modes: &[u32] = if opcode == 0x73 {
                &[0, 1, 2, 3, 4, 5, 6, 7]
            } else {
                &[0, 2, 4, 5, 6, 7]
            };
            // A range that takes in about half of all values of a component.
            draw.key = (
                modes[seeds.2 as usize % modes.len()],
                0x2020_0821,
                0xb0b0_c5f7,
            );
            draw.mono_imm = Ram::noise(1024, noise).bytes;
            let needed = ((rect.2.max(0) + 15) / 16 * 2 + 2) * rect.3;
            draw.mono_imm
                .truncate((needed as usize).clamp(8, 960).next_multiple_of(8));
            draw.mono_at = 0x1_e000;
            draw.pat_at = 0x1_f000;
            let same = any::<bool>();
            let dst = surface(0x2000, may_be_negative, coordinates);
            (dst, surface(0x1_0000, true, coordinates), same).prop_map(move |(dst, src, same)| {
                let mut draw = draw.clone();
                draw.dst = dst;
                draw.src = src;
                if same {
                    draw.src = dst;
                    if !coordinates {
                        draw.src.base = draw.src.base.wrapping_add_signed(4 * source.0);
                    }
                }
                draw
            })
        },
    )
}

/// Immediate text and sources whose rectangle takes more bits than a command can carry.
fn too_long(draw: &Draw) -> bool {
    let (x1, y1, x2, y2) = draw.rect;
    let stride = match draw.opcode {
        0x71 => (draw.bit as i32 + x2 - x1 + 15) / 16 * 16,
        0x31 => (x2 - x1 + 7) / 8 * 8,
        _ => return false,
    };
    draw.mono_imm.len() as i32 * 8 < stride * (y2 - y1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// All commands, with overlap too: the bytes are those of the document's order, one pixel after the other.
    #[test]
    fn blits_equal_pixel_after_pixel(draw in draws()) {
        prop_assume!(!too_long(&draw));
        let memory = MEMORY.clone();
        let mut expected = memory.clone();
        draw.reference(&mut expected);
        let mut ram = memory;
        draw_with_model(&draw, &mut ram, &GEN6);
        let difference = first_difference(&ram, &expected);
        prop_assert_eq!(difference, None, "{:?}", draw.encode().iter().map(|c| decode(c)).collect::<Vec<_>>());
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// §8.9: a clipped blit is the blit, seen through the clip rectangle.
    #[test]
    fn clipping_is_masking(draw in draws(), clip in (0..40i32, 0..30i32, 0..40i32, 0..30i32)) {
        prop_assume!(!too_long(&draw) && !matches!(draw.opcode, 0x24 | 0x40 | 0x43));
        let mut draw = draw;
        // Apart, on an upright linear destination that lies whole in memory.
        draw.dst = Surf { base: 0x2000, pitch: 512, tiled: false };
        draw.src.base = if draw.src.pitch < 0 { 0x1_6000 } else { 0x1_0000 };
        let memory = MEMORY.clone();
        let (mut clipped, mut whole) = (memory.clone(), memory.clone());
        draw.clip = Some(clip);
        draw_with_model(&draw, &mut clipped, &GEN6);
        draw.clip = None;
        draw_with_model(&draw, &mut whole, &GEN6);
        for y in 0..60 {
            for x in 0..90 {
                let inside = (clip.0..clip.2).contains(&x) && (clip.1..clip.3).contains(&y);
                let at = 0x2000 + 512 * y as usize + draw.pixel() * x as usize;
                let from = if inside { &whole } else { &memory };
                prop_assert_eq!(clipped.at(at, draw.pixel()), from.at(at, draw.pixel()), "({}, {})", x, y);
            }
        }
    }

    /// §8.9: with one base for both operands a copy comes out as if it went through a second surface.
    #[test]
    fn overlapping_copies_equal_copies_through_another_surface(
        depth in 0..4u32,
        from in (0..30i32, 0..30i32),
        to in (0..30i32, 0..30i32),
        size in (1..30i32, 1..30i32),
        tiled in any::<bool>(),
       ) {
        let place = |base| Surf { base, pitch: 512, tiled };
        let copy = |(src, at): (Surf, (i32, i32)), (dst, first): (Surf, (i32, i32))| Draw {
            src,
            src_at: at,
            dst,
            rect: (first.0, first.1, first.0 + size.0, first.1 + size.1),
            ..ordinary(0x53, depth, 0xcc)
        };
        let mut direct = MEMORY.clone();
        let mut through = direct.clone();
        draw_with_model(&copy((place(0), from), (place(0), to)), &mut direct, &GEN6);
        draw_with_model(&copy((place(0), from), (place(0x10000), from)), &mut through, &GEN6);
        draw_with_model(&copy((place(0x10000), from), (place(0), to)), &mut through, &GEN6);
        prop_assert!(direct.bytes[..0x10000] == through.bytes[..0x10000]);
    }

    /// A blit to an X-tiled surface, taken apart by the figure's formula, is the blit to a linear one; with the fold
    /// of bit 6 as well.
    #[test]
    fn tiled_equals_linear_after_detiling(draw in draws(), fold in any::<bool>()) {
        prop_assume!(!too_long(&draw) && !matches!(draw.opcode, 0x40 | 0x43));
        let caps = BltCaps { swizzle_x: if fold { Swizzle::Bit9And10 } else { Swizzle::None }, ..GEN6 };
        let mut draw = draw;
        draw.src = Surf { base: 0x1_0000, pitch: 256, tiled: false };
        let memory = MEMORY.clone();
        let place = |x: usize, y: usize| {
            let offset = (y >> 3) * 1024 * 8 + (x >> 9) * 4096 + (y & 7) * 512 + (x & 511);
            0x2000 + if fold { offset ^ ((offset >> 9 ^ offset >> 10) & 1) << 6 } else { offset }
        };
        let mut linear = memory.clone();
        draw.dst = Surf { base: 0x2000, pitch: 1024, tiled: false };
        draw_with_model(&draw, &mut linear, &GEN6);
        let mut tiled = memory.clone();
        for y in 0..56 {
            for x in 0..1024 {
                tiled.bytes[place(x, y)] = memory.bytes[0x2000 + 1024 * y + x];
            }
        }
        draw.dst.tiled = true;
        draw_with_model(&draw, &mut tiled, &caps);
        for y in 0..56 {
            for x in 0..1024 {
                prop_assert_eq!(tiled.bytes[place(x, y)], linear.bytes[0x2000 + 1024 * y + x], "({}, {})", x, y);
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// Dwords without sense: each command ends, in a picture or an error, with its faults in the implementor's hands.
    #[test]
    fn garbage_does_no_harm(
        opcode in 0..128u32,
        dwords in prop::collection::vec(any::<u32>(), 1..80),
        fit in any::<bool>(),
        swctrl in prop::option::of(0..4u32),
        strict in any::<bool>(),
        state in any::<[u32; 10]>(),
    ) {
        let mut cmd = dwords;
        cmd[0] = 2 << 29 | opcode << 22 | cmd[0] & 0x003f_ffff;
        // Coordinates stay small, that the test ends; signs and all other dwords' bits do not matter for that.
        for dword in cmd.iter_mut().skip(2).take(5) {
            *dword &= 0x80ff_80ff;
        }
        // COLOR_BLT and SRC_COPY_BLT have height and width there, without a sign: 32768 rows of 32768 bytes.
        if let (0x40 | 0x43, Some(size)) = (opcode, cmd.get_mut(2)) {
            *size &= 0x00ff_00ff;
        }
        if fit {
            let length = cmd.len() as u32 - 1;
            cmd[0] = cmd[0] & !0xff | length.saturating_sub(1);
            let known = [5, 6, 8, 9, 3, 2, 4, 12, 7, 10];
            cmd.truncate(known[opcode as usize % known.len()].min(cmd.len()));
            cmd[0] = cmd[0] & !0xff | (cmd.len() as u32).saturating_sub(2);
        }
        let caps = BltCaps { swctrl, strict, swizzle_x: Swizzle::Bit9And10, swizzle_y: Swizzle::Bit9 };
        let mut state = BltState::restore(&state);
        state.br24 &= 0x7fff_7fff;
        state.br25 &= 0x7fff_7fff;
        let before = state;
        let mut ram = Ram::noise(0x4000, 3);
        let result = execute(&cmd, &mut state, &mut ram, &caps);
        prop_assert!(!decode(&cmd).is_empty());
        if length(cmd[0]) != Some(cmd.len()) {
            prop_assert!(result.is_err());
        }
        match result {
            Err(error) => {
                prop_assert!(error.dword() <= cmd.len());
                prop_assert!(!error.to_string().is_empty());
                prop_assert_eq!((ram.reads, ram.writes), (0, 0));
                prop_assert_eq!(state, before);
            }
            Ok(stats) => prop_assert!(!strict || stats.violations.is_empty()),
        }
    }

    /// A header of another client is not a BLT command, whatever follows.
    #[test]
    fn other_clients_are_refused(
        client in prop::sample::select(&[0u32, 1, 3, 4, 5, 6, 7][..]),
        rest in prop::collection::vec(any::<u32>(), 1..8),
    ) {
        let header = client << 29 | rest[0] >> 3;
        let cmd = [vec![header], rest].concat();
        prop_assert_eq!(length(header), None);
        let mut ram = Ram::new(16);
        let result = execute(&cmd, &mut BltState::default(), &mut ram, &GEN6);
        prop_assert_eq!(result, Err(BltError::NotBlt));
    }
}

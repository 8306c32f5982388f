// SPDX-License-Identifier: GPL-2.0
//! Every command, dword for dword, from the tables of G45 PRM Vol 1b §8.8 and §8.9.

use super::*;
use crate::rop::Rop;
use crate::surface::BufferId;

const DST: Address = Address {
    buffer: BufferId(0),
    offset: 0,
};
const SRC: Address = Address {
    buffer: BufferId(1),
    offset: 0,
};

/// 32 bpp, 1280 pixels across, linear: pitch field 0x1400.
fn screen() -> Surface {
    Surface {
        base: DST,
        pitch: 5120,
        width: 1280,
        height: 800,
        depth: Depth::Bpp32,
        tiling: Tiling::Linear,
    }
}

/// 32 bpp, 256 pixels across, X-tiled: pitch field 0x100 dwords.
fn tiled() -> Surface {
    Surface {
        base: SRC,
        pitch: 1024,
        width: 256,
        height: 64,
        depth: Depth::Bpp32,
        tiling: Tiling::X,
    }
}

/// 8 bpp, 1024 across, as in the examples of §8.2.3.
fn bytes() -> Surface {
    Surface {
        base: DST,
        pitch: 1024,
        width: 1024,
        height: 768,
        depth: Depth::Bpp8,
        tiling: Tiling::Linear,
    }
}

const INK: Ink = Ink {
    foreground: 0xf0f0,
    background: Some(0xb0b0),
};
const CLEAR: Ink = Ink {
    foreground: 0xf0f0,
    background: None,
};
const ROWS: [u8; 8] = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88];
const SEED: Seed = Seed { x: 5, y: 3 };

fn rect() -> Rect {
    Rect::new(16, 32, 64, 48)
}

/// What every XY command of `rect()` on `screen()` has in dwords 2 to 4.
const CORNERS: [u32; 3] = [0x0020_0010, 0x0050_0050, 0];

fn check(
    command: impl Into<Command>,
    name: &str,
    dwords: &[u32],
    addresses: &[(usize, Address, bool)],
) {
    let packet = encode(&command.into()).expect("encodes");
    assert_eq!(packet.name, name);
    assert_eq!(packet.dwords, dwords, "{name}: {:#010x?}", packet.dwords);
    let found: Vec<_> = packet
        .relocations
        .iter()
        .map(|r| (r.dword, r.target, r.write))
        .collect();
    assert_eq!(found, addresses, "{name}");
}

fn xy(first: u32, control: u32, rest: &[u32]) -> Vec<u32> {
    let mut all = vec![first, control];
    all.extend(CORNERS);
    all.extend(rest);
    all
}

#[test]
fn linear_commands() {
    let fill = Command::LinearFill {
        at: DST,
        pitch: 0x400,
        width: 0x40,
        height: 0x40,
        depth: Depth::Bpp8,
        rop: Rop::PATTERN,
        mask: Mask::ALL,
        colour: 7,
    };
    check(
        fill,
        "COLOR_BLT",
        &[0x5030_0003, 0x00f0_0400, 0x0040_0040, 0, 7],
        &[(3, DST, true)],
    );
    let copy = Command::LinearCopy {
        to: DST,
        to_pitch: 0x1400,
        from: SRC,
        from_pitch: 0x800,
        width: 256,
        height: 9,
        depth: Depth::Bpp32,
        rop: Rop::SOURCE,
    };
    check(
        copy,
        "SRC_COPY_BLT",
        &[0x50f0_0004, 0x03cc_1400, 0x0009_0100, 0, 0x800, 0],
        &[(3, DST, true), (5, SRC, false)],
    );
}

#[test]
fn fills_and_patterns() {
    let d = (4, DST, true);
    check(
        Blit::fill(screen(), rect(), 0xff00ff),
        "XY_COLOR_BLT",
        &xy(0x5430_0004, 0x03f0_1400, &[0xff00ff]),
        &[d],
    );
    let colour = Pattern::Colour {
        at: SRC,
        seed: SEED,
    };
    check(
        Blit::pattern(screen(), rect(), colour),
        "XY_PAT_BLT",
        &xy(0x5470_5304, 0x03f0_1400, &[0]),
        &[d, (5, SRC, false)],
    );
    let mono = |ink| Pattern::Mono {
        rows: ROWS,
        ink,
        seed: SEED,
    };
    let rest = [0xb0b0, 0xf0f0, 0x4433_2211, 0x8877_6655];
    check(
        Blit::pattern(screen(), rect(), mono(INK)),
        "XY_MONO_PAT_BLT",
        &xy(0x54b0_5307, 0x03f0_1400, &rest),
        &[d],
    );
    let rest = [0, 0xf0f0, 0x4433_2211, 0x8877_6655];
    check(
        Blit::pattern(screen(), rect(), mono(CLEAR)),
        "XY_MONO_PAT_BLT",
        &xy(0x54b0_5307, 0x13f0_1400, &rest),
        &[d],
    );
    let fixed = Pattern::Fixed {
        code: 0xb,
        ink: INK,
        seed: Seed::default(),
    };
    check(
        Blit::pattern(screen(), rect(), fixed),
        "XY_MONO_PAT_FIXED_BLT",
        &xy(0x5675_8005, 0x03f0_1400, &[0xb0b0, 0xf0f0]),
        &[d],
    );
    let data: Vec<u32> = (0..64).collect();
    let immediate = Pattern::ColourImmediate {
        data: data.clone(),
        seed: Seed::default(),
    };
    check(
        Blit::pattern(screen(), rect(), immediate),
        "XY_PAT_BLT_IMMEDIATE",
        &xy(0x5cb0_0043, 0x03f0_1400, &data),
        &[d],
    );
    let immediate = Pattern::ColourImmediate {
        data: data[..16].to_vec(),
        seed: Seed::default(),
    };
    check(
        Blit::pattern(bytes(), rect(), immediate),
        "XY_PAT_BLT_IMMEDIATE",
        &xy(0x5cb0_0013, 0x00f0_0400, &data[..16]),
        &[d],
    );
}

#[test]
fn sources() {
    let d = (4, DST, true);
    let tile = [0x0003_0002, 0x100, 0];
    check(
        Blit::copy(screen(), rect(), tiled(), 2, 3),
        "XY_SRC_COPY_BLT",
        &xy(0x54f0_8006, 0x03cc_1400, &tile),
        &[d, (7, SRC, false)],
    );
    let rest = [0, 0xb0b0, 0xf0f0];
    check(
        Blit::mono(screen(), rect(), SRC, INK),
        "XY_MONO_SRC_COPY_BLT",
        &xy(0x5530_0006, 0x03cc_1400, &rest),
        &[d, (5, SRC, false)],
    );
    let shifted = Blit {
        source: Source::Mono {
            at: SRC,
            bit: 6,
            ink: CLEAR,
        },
        ..Blit::mono(screen(), rect(), SRC, CLEAR)
    };
    check(
        shifted,
        "XY_MONO_SRC_COPY_BLT",
        &xy(0x553c_0006, 0x23cc_1400, &[0, 0, 0xf0f0]),
        &[d, (5, SRC, false)],
    );
    let immediate = Blit {
        source: Source::MonoImmediate {
            data: vec![1, 2],
            ink: INK,
        },
        ..Blit::mono(screen(), rect(), SRC, INK)
    };
    check(
        immediate,
        "XY_MONO_SRC_COPY_IMMEDIATE_BLT",
        &xy(0x5c70_0007, 0x03cc_1400, &[0xb0b0, 0xf0f0, 1, 2]),
        &[d],
    );
}

#[test]
fn three_operands() {
    let d = (4, DST, true);
    let rop = 0x03b8_1400;
    let colour = Source::Colour {
        surface: tiled(),
        x: 2,
        y: 3,
    };
    let mono = Source::Mono {
        at: SRC,
        bit: 0,
        ink: INK,
    };
    let data: Vec<u32> = (0..64).collect();
    let full = |source: &Source, pattern| Blit {
        source: source.clone(),
        ..Blit::pattern(screen(), rect(), pattern).with_rop(Rop::PATTERN_BY_SOURCE)
    };
    let pattern = Address {
        buffer: BufferId(2),
        offset: 256,
    };
    let memory = Pattern::Colour {
        at: pattern,
        seed: Seed::default(),
    };
    let immediate = Pattern::ColourImmediate {
        data: data.clone(),
        seed: Seed::default(),
    };
    let bits = Pattern::Mono {
        rows: ROWS,
        ink: CLEAR,
        seed: Seed::default(),
    };

    check(
        full(&colour, memory.clone()),
        "XY_FULL_BLT",
        &xy(0x5570_8007, rop, &[0x100, 0x0003_0002, 0, 0]),
        &[d, (7, SRC, false), (8, pattern, false)],
    );
    check(
        full(&mono, memory),
        "XY_FULL_MONO_SRC_BLT",
        &xy(0x55b0_0007, rop, &[0, 0xb0b0, 0xf0f0, 0]),
        &[d, (5, SRC, false), (8, pattern, false)],
    );
    check(
        full(&colour, bits.clone()),
        "XY_FULL_MONO_PATTERN_BLT",
        &xy(
            0x55f0_800a,
            0x13b8_1400,
            &[0x100, 0x0003_0002, 0, 0, 0xf0f0, 0x4433_2211, 0x8877_6655],
        ),
        &[d, (7, SRC, false)],
    );
    check(
        full(&mono, bits),
        "XY_FULL_MONO_PATTERN_MONO_SRC_BLT",
        &xy(
            0x5630_000a,
            0x13b8_1400,
            &[0, 0xb0b0, 0xf0f0, 0, 0xf0f0, 0x4433_2211, 0x8877_6655],
        ),
        &[d, (5, SRC, false)],
    );
    let tail = [&[0x100, 0x0003_0002, 0][..], &data].concat();
    check(
        full(&colour, immediate.clone()),
        "XY_FULL_IMMEDIATE_PATTERN_BLT",
        &xy(0x5d30_8046, rop, &tail),
        &[d, (7, SRC, false)],
    );
    let tail = [&[0, 0xb0b0, 0xf0f0][..], &data].concat();
    check(
        full(&mono, immediate),
        "XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT",
        &xy(0x5d70_0046, rop, &tail),
        &[d, (5, SRC, false)],
    );
}

#[test]
fn colour_keys() {
    let d = (4, DST, true);
    let key = |mode| {
        Some(Key {
            mode,
            low: 0x10,
            high: 0x20,
        })
    };
    let copy = Blit {
        key: key(KeyMode::Source),
        ..Blit::copy(screen(), rect(), tiled(), 2, 3)
    };
    check(
        copy,
        "XY_SRC_COPY_CHROMA_BLT",
        &xy(
            0x5cf2_8008,
            0x03cc_1400,
            &[0x0003_0002, 0x100, 0, 0x10, 0x20],
        ),
        &[d, (7, SRC, false)],
    );
    let colour = Pattern::Colour {
        at: SRC,
        seed: Seed::default(),
    };
    let pattern = Blit {
        key: key(KeyMode::Destination),
        ..Blit::pattern(screen(), rect(), colour)
    };
    check(
        pattern,
        "XY_PAT_CHROMA_BLT",
        &xy(0x5dbe_0006, 0x03f0_1400, &[0, 0x10, 0x20]),
        &[d, (5, SRC, false)],
    );
    let data: Vec<u32> = (0..64).collect();
    let immediate = Pattern::ColourImmediate {
        data: data.clone(),
        seed: Seed::default(),
    };
    let pattern = Blit {
        key: key(KeyMode::Destination),
        ..Blit::pattern(screen(), rect(), immediate)
    };
    let tail = [&[0x10, 0x20][..], &data].concat();
    check(
        pattern,
        "XY_PAT_CHROMA_BLT_IMMEDIATE",
        &xy(0x5dfe_0045, 0x03f0_1400, &tail),
        &[d],
    );
}

#[test]
fn set_up_and_its_users() {
    let setup = |kind| {
        Command::Setup(Setup {
            dst: screen(),
            clip_rect: rect(),
            clip: true,
            rop: Rop::SOURCE,
            mask: Mask::ALL,
            background: 1,
            foreground: 2,
            kind,
        })
    };
    let text = SetupKind::Text {
        transparent: true,
        pattern: None,
    };
    check(
        setup(text),
        "XY_SETUP_BLT",
        &[0x4070_0006, 0x63cc_1400, CORNERS[0], CORNERS[1], 0, 1, 2, 0],
        &[(4, DST, true)],
    );
    let mono = SetupKind::MonoPattern {
        rows: ROWS,
        transparent: false,
        solid: true,
    };
    check(
        setup(mono),
        "XY_SETUP_MONO_PATTERN_SL_BLT",
        &[
            0x4470_0007,
            0xc3cc_1400,
            CORNERS[0],
            CORNERS[1],
            0,
            1,
            2,
            0x4433_2211,
            0x8877_6655,
        ],
        &[(4, DST, true)],
    );
    check(
        Command::SetupClip { rect: rect() },
        "XY_SETUP_CLIP_BLT",
        &[0x40c0_0001, CORNERS[0], CORNERS[1]],
        &[],
    );
    check(
        Command::Pixel {
            x: 3,
            y: 4,
            tiling: Tiling::X,
        },
        "XY_PIXEL_BLT",
        &[0x4900_0800, 0x0004_0003],
        &[],
    );
    check(
        Command::Scanlines {
            rect: rect(),
            seed: SEED,
            tiling: Tiling::Linear,
        },
        "XY_SCANLINES_BLT",
        &[0x4940_5301, CORNERS[0], CORNERS[1]],
        &[],
    );
    check(
        Command::Text {
            rect: rect(),
            at: SRC,
            packing: Packing::Byte,
            tiling: Tiling::Linear,
        },
        "XY_TEXT_BLT",
        &[0x4981_0002, CORNERS[0], CORNERS[1], 0],
        &[(3, SRC, false)],
    );
    check(
        Command::TextImmediate {
            rect: rect(),
            data: vec![5, 6],
            packing: Packing::Bit,
            tiling: Tiling::Linear,
        },
        "XY_TEXT_IMMEDIATE_BLT",
        &[0x4c40_0003, CORNERS[0], CORNERS[1], 5, 6],
        &[],
    );
}

#[test]
fn what_cannot_be_written_is_refused() {
    let refused = |command: Blit, why| assert_eq!(encode(&command.into()), Err(why));
    refused(
        Blit::fill(screen(), Rect::new(0, 0, 40_000, 1), 0),
        EncodeError::Coordinate(40_000),
    );
    refused(
        Blit::fill(
            Surface {
                pitch: 32_768,
                ..screen()
            },
            rect(),
            0,
        ),
        EncodeError::Pitch(32_768),
    );
    refused(
        Blit::fill(
            Surface {
                pitch: 1000,
                ..tiled()
            },
            rect(),
            0,
        ),
        EncodeError::Pitch(1000),
    );
    let off_page = Surface {
        base: Address { offset: 512, ..SRC },
        ..tiled()
    };
    refused(
        Blit::fill(off_page, rect(), 0),
        EncodeError::TileAlignment(512),
    );
    let at = Address { offset: 128, ..SRC };
    refused(
        Blit::pattern(screen(), rect(), Pattern::Colour { at, seed: SEED }),
        EncodeError::PatternAlignment(128),
    );
    let odd = Source::MonoImmediate {
        data: vec![1, 2, 3],
        ink: INK,
    };
    refused(
        Blit {
            source: odd,
            ..Blit::mono(screen(), rect(), SRC, INK)
        },
        EncodeError::Immediate(3),
    );
    let none = Blit {
        pattern: Pattern::None,
        ..Blit::fill(screen(), rect(), 0)
    };
    refused(none, EncodeError::NoSuchCommand);
}

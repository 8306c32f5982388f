// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Wrong commands: which are refused, which are executed and reported, each with the dword that is wrong.

use crate::blt_support::{xy, Ram, GEN6};
use gpu_model::blt::{execute, BltCaps, BltError, BltState, BltStats, Rule, Violation};

/// State of a setup at 0x1000 with the given BR01, nothing clipped.
fn setup(br01: u32) -> BltState {
    BltState {
        br01,
        br09: 0x1000,
        br25: 0x7fff_7fff,
        ..BltState::default()
    }
}

fn try_on(cmd: &[u32], mut state: BltState, caps: &BltCaps) -> (Result<BltStats, BltError>, Ram) {
    let mut ram = Ram::new(0x20000);
    let result = execute(cmd, &mut state, &mut ram, caps);
    (result, ram)
}

fn try_one(cmd: &[u32]) -> Result<BltStats, BltError> {
    try_on(cmd, setup(0x00f0_0010), &GEN6).0
}

#[test]
fn malformed_commands_are_refused() {
    let square = [xy(0, 0), xy(4, 4), 0x1000];
    let fill = |header: u32, rest: &[u32]| [&[header, 0x00f0_0010][..], &square, rest].concat();
    for (cmd, expected, dword) in [
        (vec![], BltError::NotBlt, 0),
        (vec![0x0000_0000], BltError::NotBlt, 0),
        (
            vec![0x4100_0000, 0],
            BltError::UnknownOpcode { opcode: 4 },
            0,
        ),
        (
            fill(0x5430_0005, &[1, 2]),
            BltError::Length {
                expected: 6,
                got: 7,
            },
            0,
        ),
        (
            fill(0x5430_0003, &[]),
            BltError::Length {
                expected: 6,
                got: 5,
            },
            0,
        ),
        (
            fill(0x5430_0004, &[]),
            BltError::Truncated {
                announced: 6,
                got: 5,
            },
            0,
        ),
        (
            fill(0x5430_0004, &[1, 2]),
            BltError::Truncated {
                announced: 6,
                got: 7,
            },
            0,
        ),
        // §8.9.7, §8.9.18: the engine hangs on an odd number.
        (
            vec![0x4c40_0002, xy(0, 0), xy(4, 4), 0],
            BltError::ImmediateOdd { dword: 3, count: 1 },
            3,
        ),
        (
            fill(0x5c70_0008, &[1, 2, 0, 0, 0]),
            BltError::ImmediateOdd { dword: 7, count: 3 },
            7,
        ),
        // §8.10.10: and on data that do not come. 65 lines of 1 bit; 5 lines of 16 bits.
        (
            vec![0x4c40_0003, xy(0, 0), xy(1, 65), 0, 0],
            BltError::ImmediateShort {
                dword: 3,
                needed: 9,
                got: 8,
            },
            3,
        ),
        (
            vec![
                0x5c70_0007,
                0x00cc_0010,
                xy(0, 0),
                xy(1, 5),
                0x1000,
                1,
                2,
                0,
                0,
            ],
            BltError::ImmediateShort {
                dword: 7,
                needed: 9,
                got: 8,
            },
            7,
        ),
        // §8.9.11: 16 dwords at 8 bpp.
        (
            fill(0x5cb0_0023, &[0; 32]),
            BltError::PatternSize {
                dword: 5,
                needed: 16,
                got: 32,
            },
            5,
        ),
        // §8.9.10: a source key in a command without source.
        (
            fill(0x5db2_0006, &[0x2000, 1, 2]),
            BltError::KeyMode { mode: 1 },
            0,
        ),
        (
            fill(0x5df6_0015, &[0; 18]),
            BltError::KeyMode { mode: 3 },
            0,
        ),
    ] {
        let hangs = matches!(
            expected,
            BltError::ImmediateOdd { .. } | BltError::ImmediateShort { .. }
        );
        assert_eq!(expected.dword(), dword);
        assert_eq!(expected.hangs(), hangs);
        assert_eq!(try_one(&cmd), Err(expected), "{cmd:x?}");
    }
}

/// §8.9.1, §8.10.2: bases on 4 KB, pitches of 512 bytes; digest TIL-13.
#[test]
fn invalid_tiling_is_refused() {
    let rect = [xy(0, 0), xy(4, 4)];
    for (control, base, expected) in [
        (0x00f0_0080, 0x1000, None), // 128 dwords
        (0x00f0_ff80, 0x3000, None), // minus 128 dwords
        (0x00f0_0080, 0x1040, Some(4)),
        (0x00f0_0040, 0x1000, Some(1)),
        (0x00f0_0000, 0x1000, Some(1)),
    ] {
        let cmd = [&[0x5430_0804, control][..], &rect, &[base, 7]].concat();
        let error = try_one(&cmd).err();
        assert_eq!(
            error,
            expected.map(|dword| BltError::InvalidTiling { dword })
        );
    }
    for (pitch, base, expected) in [
        (0x80, 0x1000, None),
        (0x80, 0x1800, Some(7)),
        (0x81, 0x1000, Some(6)),
    ] {
        let cmd = [
            &[0x54f0_8006, 0x00cc_0010][..],
            &rect,
            &[0x4000, 0, pitch, base],
        ]
        .concat();
        let error = try_one(&cmd).err();
        assert_eq!(
            error,
            expected.map(|dword| BltError::InvalidTiling { dword })
        );
    }
    // Y tiles are 128 bytes wide.
    let gen7 = BltCaps {
        swctrl: Some(2),
        ..GEN6
    };
    let cmd = [&[0x5430_0804, 0x00f0_0020][..], &rect, &[0x1000, 7]].concat();
    assert!(try_on(&cmd, setup(0), &gen7).0.is_ok());
    assert_eq!(try_one(&cmd), Err(BltError::InvalidTiling { dword: 1 }));
}

/// §8.4: not for pixels and text; scan lines may.
#[test]
fn negative_pitch_of_the_setup() {
    for (cmd, refused) in [
        (vec![0x4900_0000, 0], true),
        (vec![0x4980_0002, 0, xy(1, 1), 0x2000], true),
        (vec![0x4c40_0003, 0, xy(1, 1), 0, 0], true),
        (vec![0x4940_0001, 0, xy(1, 1)], false),
    ] {
        let (result, ram) = try_on(&cmd, setup(0x00ff_fff0), &GEN6);
        assert_eq!(
            result.as_ref().err(),
            refused.then_some(&BltError::NegativePitch)
        );
        assert_eq!(ram.writes, usize::from(!refused));
    }
}

#[test]
fn broken_rules_are_reported_and_drawn() {
    let square = [xy(0, 0), xy(4, 4)];
    let fill = |header: u32, control: u32| [&[header, control][..], &square, &[0x1000, 7]].concat();
    let copy = |control: u32, dst: u32, pitch: u32, src: u32| {
        [&[0x54f0_0006, control][..], &square, &[dst, 0, pitch, src]].concat()
    };
    let text = |bytes: u32, rect: [u32; 2]| {
        let words = bytes / 4;
        [&[0x4c40_0001 + words][..], &rect, &vec![0; words as usize]].concat()
    };
    for (cmd, dword, rule) in [
        // §8.7.1.
        (
            fill(0x5430_1004, 0x00f0_0010),
            0,
            Rule::Reserved { bits: 0x1000 },
        ),
        (
            fill(0x5430_0004, 0x84f0_0010),
            1,
            Rule::Reserved { bits: 0x8400_0000 },
        ),
        (
            copy(0x00cc_0010, 0x1000, 0x0001_0010, 0x2000),
            6,
            Rule::Reserved { bits: 0x0001_0000 },
        ),
        (
            vec![0x5030_0023, 0x00f0_0010, 0x0001_0001, 0x1000, 7],
            0,
            Rule::Reserved { bits: 0x20 },
        ),
        // §8.9.15, §8.9.4.
        (
            copy(0x00f0_0010, 0x1000, 16, 0x2000),
            1,
            Rule::Rop { code: 0xf0 },
        ),
        (fill(0x5430_0004, 0x00cc_0010), 1, Rule::Rop { code: 0xcc }),
        (
            copy(0x0055_0010, 0x1000, 16, 0x2000),
            1,
            Rule::Rop { code: 0x55 },
        ),
        // §8.1.
        (
            fill(0x5430_0004, 0x00f0_0012),
            1,
            Rule::PitchGranularity { pitch: 18 },
        ),
        (
            copy(0x00cc_0010, 0x1000, 0xfffe, 0x2000),
            6,
            Rule::PitchGranularity { pitch: -2 },
        ),
        // §8.3.
        (
            copy(0x03cc_0010, 0x1002, 16, 0x2000),
            4,
            Rule::PixelAlignment,
        ),
        (
            copy(0x03cc_0010, 0x1000, 16, 0x2001),
            7,
            Rule::PixelAlignment,
        ),
        (
            vec![0x5030_0003, 0x03f0_0010, 0x0001_0006, 0x1000, 7],
            2,
            Rule::PixelAlignment,
        ),
        // §8.2.2.4: 256 bytes at 32 bpp.
        (
            [&[0x5470_0004, 0x03f0_0010][..], &square, &[0x1000, 0x2080]].concat(),
            5,
            Rule::PatternAlignment,
        ),
        // §8.2.2.3.
        (
            [
                &[0x5530_0006, 0x00cc_0010][..],
                &square,
                &[0x1000, 0x2001, 1, 2],
            ]
            .concat(),
            5,
            Rule::MonoAlignment,
        ),
        // §8.7.1.
        (
            [
                &[0x5530_0006, 0x00cc_0010, xy(0, 0), xy(32_746, 1)][..],
                &[0x1000, 0x2000, 1, 2],
            ]
            .concat(),
            3,
            Rule::MonoWidth { width: 32_746 },
        ),
        // §8.2.2.3.
        (
            text(136, [xy(0, 0), xy(32, 33)]),
            3,
            Rule::ImmediateLong { bytes: 136 },
        ),
        // §8.10.10: 4 bytes are taken.
        (
            text(16, [xy(0, 0), xy(32, 1)]),
            3,
            Rule::ImmediateLeftOver { bytes: 12 },
        ),
        // §8.9.14.
        (
            [&[0x5676_0005, 0x00f0_0010][..], &square, &[0x1000, 1, 2]].concat(),
            0,
            Rule::FixedPattern { code: 12 },
        ),
        // §8.2.1.2.
        (
            vec![0x5030_0003, 0x00f0_0010, 0x0001_8001, 0x1000, 7],
            2,
            Rule::LineLength { bytes: 32_769 },
        ),
        // §4.5.4.3.
        (
            vec![0x5430_0804, 0x00f0_0080, xy(500, 0), xy(513, 1), 0x1000, 7],
            1,
            Rule::BeyondPitch {
                end: 513,
                pitch: 512,
            },
        ),
        // §8.7.1: source line 1 and destination line 0 are in one cache line.
        (
            copy(0x00cc_0010, 0x1020, 16, 0x1000),
            7,
            Rule::CacheLineOverlap,
        ),
    ] {
        let text = cmd[0] == 0x4c40_0023 || cmd[0] == 0x4c40_0005;
        let state = setup(if text { 0x00cc_0020 } else { 0x00f0_0010 });
        let (result, ram) = try_on(&cmd, state, &GEN6);
        let violation = Violation { dword, rule };
        assert_eq!(result.unwrap().violations, [violation], "{cmd:x?}");
        assert_ne!(ram.writes, 0, "{rule}: not drawn");
        let strict = BltCaps {
            strict: true,
            ..GEN6
        };
        let (result, ram) = try_on(&cmd, state, &strict);
        let error = BltError::Violation(violation);
        assert_eq!(error.dword(), dword);
        assert_eq!(result, Err(error));
        assert_eq!((ram.reads, ram.writes), (0, 0), "{rule}: drawn");
    }
}

/// §8.7.1: no rule is broken with one base and pitches of 64 bytes.
#[test]
fn coherent_overlap_is_no_violation() {
    let cmd = [
        0x54f0_0006,
        0x00cc_0040,
        xy(2, 1),
        xy(40, 9),
        0x1000,
        xy(0, 0),
        0x40,
        0x1000,
    ];
    assert_eq!(try_one(&cmd).unwrap().violations, []);
}

/// Reserved bits do not act: the pixels are those of the command without them.
#[test]
fn reserved_bits_have_no_effect() {
    let fill = |header: u32, control: u32| vec![header, control, xy(0, 0), xy(4, 4), 0x1000, 7];
    let plain = try_on(&fill(0x5430_0004, 0x00f0_0010), setup(0), &GEN6).1;
    // Source tiling, seeds, solid pattern, transparencies: a fill has none of them.
    let bits = try_on(&fill(0x543f_f704, 0xb0f0_0010), setup(0), &GEN6).1;
    assert!(plain.bytes == bits.bytes);
    assert_eq!(plain.at(0x1000, 5), [7, 7, 7, 7, 0]);
}

/// Immediate patterns are the one thing that a chroma command without a source needs no memory for; §8.2.1.3.
#[test]
fn absent_operands_read_as_zero() {
    // ROP CC in a fill: the source is 0. ROP F0 in a copy: the pattern is 0.
    for cmd in [
        vec![0x5430_0004, 0x00cc_0010, xy(0, 0), xy(4, 1), 0x1000, 7],
        vec![
            0x54f0_0006,
            0x00f0_0010,
            xy(0, 0),
            xy(4, 1),
            0x1000,
            0,
            16,
            0x2000,
        ],
    ] {
        let mut ram = Ram::new(0x4000);
        ram.put(0x1000, &[1, 2, 3, 4, 5]);
        ram.put(0x2000, &[6; 4]);
        execute(&cmd, &mut BltState::default(), &mut ram, &GEN6).unwrap();
        assert_eq!(ram.at(0x1000, 5), [0, 0, 0, 0, 5]);
    }
}

/// §8.10.5, §8.10.11: bits 5:0 of a pattern's address are reserved.
#[test]
fn pattern_addresses_are_multiples_of_64() {
    let fill = [0x5470_0004, 0x00f0_0010, xy(0, 0), xy(4, 1), 0x1000, 0x203f];
    let setup = [0x4070_0006, 0x00f0_0010, 0, xy(9, 9), 0x1000, 1, 2, 0x203f];
    let lines = [0x4940_0001, xy(0, 0), xy(4, 1)];
    for cmds in [&[&fill[..]][..], &[&setup[..], &lines]] {
        let mut ram = Ram::new(0x4000);
        ram.put(0x2000, &[1, 2, 3, 4]);
        let mut state = BltState::default();
        for cmd in cmds {
            execute(cmd, &mut state, &mut ram, &GEN6).unwrap();
        }
        assert_eq!(ram.at(0x1000, 4), [1, 2, 3, 4]);
    }
}

/// Addresses have 32 bits and wrap: a line over the top goes on at 0, in two accesses.
#[test]
fn addresses_wrap_at_4_gb() {
    let mut ram = Ram::new(0x100);
    let cmd = [0x5030_0003, 0x00f0_0010, 0x0001_0008, 0xffff_fffc, 0x42];
    execute(&cmd, &mut BltState::default(), &mut ram, &GEN6).unwrap();
    assert_eq!(ram.at(0, 5), [0x42, 0x42, 0x42, 0x42, 0]);
    assert_eq!((ram.outside, ram.writes), (4, 2));
}

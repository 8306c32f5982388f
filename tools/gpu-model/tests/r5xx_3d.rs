// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Draws: exactly the vertices that are announced, and every byte that would be read or written (R5xx
//! guide §5.2.3, §6.2, §6.4.1, §6.6; fields from digest §2.6, §3.5, §4.7).

use crate::r5xx_rig::{draw::*, packet, type0, Rig, GTT};
use gpu_model::counters::Counter;
use gpu_model::r5xx::{Rule, Unit};

const VBUF: u32 = 0x28;
const IMMD: u32 = 0x29;
const INDX: u32 = 0x2a;
const LOAD_VBPNTR: u32 = 0x2f;
const INDX_BUFFER: u32 = 0x33;
const VBUF_2: u32 = 0x34;
const IMMD_2: u32 = 0x35;
const INDX_2: u32 = 0x36;
const DRAW_128: u32 = 0x39;
const MPEG_INDEX: u32 = 0x3a;

const WIDE: u32 = 1 << 11;

/// One array in video memory: vertices of 3 dwords, 4 apart.
fn one_array() -> Vec<u32> {
    packet(LOAD_VBPNTR, &[1, 4 << 8 | 3, 0x10_0000])
}

/// §5.2.3.1 to §5.2.3.7, §6.4.1: each draw with its right amount of data draws.
#[test]
fn the_right_number_of_vertices() {
    let size = [type0(0x20b4, 1), 2];
    let cases: &[(&str, Vec<u32>)] = &[
        ("VBUF", packet(VBUF, &[0, vf(2, 3)])),
        ("VBUF_2", packet(VBUF_2, &[vf(2, 3)])),
        ("IMMD", packet(IMMD, &[0, vf(3, 3), 1, 2, 3, 4, 5, 6])),
        ("IMMD_2", packet(IMMD_2, &[vf(3, 3), 1, 2, 3, 4, 5, 6])),
        (
            "INDX, 16 bits, odd",
            packet(INDX, &[0, vf(1, 3), 0x1_0000, 2]),
        ),
        (
            "INDX_2, 32 bits",
            packet(INDX_2, &[vf(1, 3) | WIDE, 0, 1, 2]),
        ),
        ("128", packet(DRAW_128, &[vf(1, 3), 0x1_0000, 2])),
        (
            "by registers",
            vec![
                type0(0x2084, 1),
                vf(3, 3),
                type0(0x2000, 6) | 1 << 15,
                1,
                2,
                3,
                4,
                5,
                6,
            ],
        ),
        (
            "by registers, anywhere in the port",
            vec![
                type0(0x2084, 1),
                vf(3, 3),
                type0(0x2010, 6),
                1,
                2,
                3,
                4,
                5,
                6,
            ],
        ),
        (
            "MPEG_INDEX",
            packet(MPEG_INDEX, &[1 << 11, 0, vf(1, 8), 2, 0, 4, 0, 0]),
        ),
        (
            "the other count, of 24 bits",
            [
                &[type0(0x2088, 1), 3][..],
                &packet(INDX_2, &[vf(1, 9) | 1 << 14, 0x1_0000, 2]),
            ]
            .concat(),
        ),
    ];
    for (name, stream) in cases {
        let rig = Rig::new();
        rig.run(&[&one_array(), &size[..], stream].concat());
        assert!(!rig.gpu.vap_stuck(), "{name}");
        assert_eq!(rig.gpu.counter(Counter::Draws3d), 1, "{name}");
        rig.run(&[type0(0x1720, 1), 1 << 17, type0(0x15e0, 1), 1]);
        assert_eq!(rig.reg(0x15e0), 1, "{name}");
        rig.clean();
    }
}

/// §6.6 and trap 4: a dword too few or too many, and the vertex processor waits without end: seen as a read pointer
/// that stands still, with bits 20 and 31 of RBBM_STATUS.
#[test]
fn the_wrong_number_of_vertices() {
    let size = [type0(0x20b4, 1), 2];
    let cases: &[(&str, Vec<u32>)] = &[
        (
            "IMMD_2, one short",
            packet(IMMD_2, &[vf(3, 3), 1, 2, 3, 4, 5]),
        ),
        (
            "IMMD_2, one more",
            packet(IMMD_2, &[vf(3, 3), 1, 2, 3, 4, 5, 6, 7]),
        ),
        (
            "IMMD_2, n - 1 vertices",
            packet(IMMD_2, &[vf(3, 3), 1, 2, 3, 4]),
        ),
        ("INDX_2, short", packet(INDX_2, &[vf(1, 5), 0x1_0000, 2])),
        ("INDX_2, more", packet(INDX_2, &[vf(1, 3), 0x1_0000, 2, 3])),
        (
            "INDX_2, 16 for 32 bits",
            packet(INDX_2, &[vf(1, 3) | WIDE, 0x1_0000, 2]),
        ),
        ("VBUF_2 with data", packet(VBUF_2, &[vf(2, 3), 1])),
        ("data without a reader", vec![type0(0x2000, 1), 1]),
        (
            "two draws, the first without its indices",
            [packet(INDX_2, &[vf(1, 3)]), packet(VBUF_2, &[vf(2, 3)])].concat(),
        ),
    ];
    for (name, stream) in cases {
        let rig = Rig::new();
        rig.run(&[&one_array(), &size[..], stream].concat());
        assert!(rig.gpu.vap_stuck(), "{name}");
        assert_eq!(rig.gpu.lint_count(Rule::VertexCount), 1, "{name}");
        rig.run(&[type0(0x1720, 1), 1 << 17, type0(0x15e0, 1), 1]);
        assert_eq!(rig.reg(0x15e0), 0, "{name}");
        assert_eq!(
            rig.reg(0xe40) & (1 << 31 | 1 << 20),
            1 << 31 | 1 << 20,
            "{name}"
        );
        // VAP and GA, which is what upstream resets first (digest §5.2).
        rig.set(0xf0, 0x2004);
        rig.set(0xf0, 0);
        rig.settle();
        assert_eq!(rig.reg(0x15e0), 1, "{name}");
    }
}

/// §5.2.3.11: indices from memory for a draw that has none; SKIP_COUNT drops the first ones, and the
/// size counts them.
#[test]
fn indices_from_memory() {
    for (skip, indices) in [(0, vec![0x1_0000, 2]), (3, vec![9, 9, 9, 0x1_0000, 2])] {
        let rig = Rig::new();
        rig.put_guest(0x8000, &indices);
        rig.gpu.take_accesses();
        let n = indices.len() as u32;
        rig.run(
            &[
                one_array(),
                packet(INDX_2, &[vf(1, 3)]),
                packet(INDX_BUFFER, &[0x8000_0810 | skip << 16, GTT + 0x8000, n]),
            ]
            .concat(),
        );
        let (all, _) = rig.gpu.take_accesses();
        let at = u64::from(GTT) + 0x8000;
        assert_eq!(of(&all, Unit::Index), reads(&[(at, 4 * u64::from(n))]));
        assert_eq!(rig.gpu.counter(Counter::Vertices), 3);
        rig.clean();
    }
    // Too short.
    let rig = Rig::new();
    rig.run(
        &[
            one_array(),
            packet(INDX_2, &[vf(1, 3)]),
            packet(INDX_BUFFER, &[0x8000_0810, GTT + 0x8000, 1]),
        ]
        .concat(),
    );
    assert!(rig.gpu.vap_stuck());
}

/// Trap 3: it writes any register. The model does it, and reports it for driver and program alike.
#[test]
fn the_index_buffer_writes_any_register() {
    let rig = Rig::new();
    rig.put_guest(0x8000, &[0x77, 0x88]);
    rig.run_indirect(&packet(INDX_BUFFER, &[0x578, GTT + 0x8000, 2]));
    assert_eq!((rig.reg(0x15e0), rig.reg(0x15e4)), (0x77, 0x88));
    assert!(rig.gpu.lints().contains(&(Rule::IndexPort, 1)));
    assert!(rig.gpu.lints().contains(&(Rule::PrivilegedRegister, 2)));
}

/// Name, stream, and what is read: addresses and lengths.
type Fetch = (&'static str, Vec<u32>, &'static [(u64, u64)]);

/// §6.2, digest §4.7: address + (vertex * stride + dword) * 4, of every array, for every vertex that
/// is named; biased, then limited.
#[test]
fn what_vertices_read() {
    let two = packet(LOAD_VBPNTR, &[2, 0x0201_0403, 0x10_0000, 0x20_0000]);
    let three = packet(
        LOAD_VBPNTR,
        &[3, 0x0202_0303, 0x1000, 0x2000, 0x0000_0001, 0x3000],
    );
    let limits =
        |bias: u32, min: u32, max: u32| vec![type0(0x208c, 1), bias, type0(0x2134, 2), max, min];
    let cases: &[Fetch] = &[
        (
            "two arrays, indices 5 and 1: 3 of 4 dwords, and 1 of 2",
            [two.clone(), packet(INDX_2, &[vf(1, 2), 0x1_0005])].concat(),
            &[
                (0x10_0010, 12),
                (0x10_0050, 12),
                (0x20_0008, 4),
                (0x20_0028, 4),
            ],
        ),
        (
            "a list",
            [two.clone(), packet(VBUF_2, &[vf(2, 2)])].concat(),
            &[
                (0x10_0000, 12),
                (0x10_0010, 12),
                (0x20_0000, 4),
                (0x20_0008, 4),
            ],
        ),
        (
            "odd arrays, without gaps, and a stride of nothing",
            [three, packet(VBUF_2, &[vf(2, 10)])].concat(),
            &[(0x1000, 120), (0x2000, 80), (0x3000, 4)],
        ),
        (
            "a bias of two",
            [
                two.clone(),
                limits(2, 0, 0xff_ffff),
                packet(INDX_2, &[vf(1, 1), 3]),
            ]
            .concat(),
            &[(0x10_0050, 12), (0x20_0028, 4)],
        ),
        (
            "a bias of minus two, and 32 bits of index",
            [
                two.clone(),
                limits(-2i32 as u32, 0, 0xff_ffff),
                packet(INDX_2, &[vf(1, 1) | WIDE, 3]),
            ]
            .concat(),
            &[(0x10_0010, 12), (0x20_0008, 4)],
        ),
    ];
    for (name, stream, expected) in cases {
        let rig = Rig::new();
        rig.gpu.take_accesses();
        rig.run(stream);
        let (all, lost) = rig.gpu.take_accesses();
        assert_eq!(of(&all, Unit::Vertex), reads(expected), "{name}");
        assert_eq!(lost, 0);
        rig.clean();
    }
    let rig = Rig::new();
    let stream = [two, limits(0, 1, 3), packet(INDX_2, &[vf(1, 2), 9 << 16])].concat();
    rig.run(&stream);
    let (all, _) = rig.gpu.take_accesses();
    let expected = [
        (0x10_0010, 12),
        (0x10_0030, 12),
        (0x20_0008, 4),
        (0x20_0018, 4),
    ];
    assert_eq!(
        of(&all, Unit::Vertex),
        reads(&expected),
        "limited to 1 and 3"
    );
    assert_eq!(rig.gpu.lint_count(Rule::IndexClamped), 2);
}

/// §5.2.3.9 and digest J6: 1 to 16 arrays, and the length that goes with the number.
#[test]
fn numbers_of_arrays() {
    for (body, rule) in [
        (vec![0], Rule::VertexArrays),
        (vec![17; 26], Rule::VertexArrays),
        (vec![1, 0, 0, 0], Rule::LongPacket),
        (vec![2, 0, 0], Rule::ShortPacket),
    ] {
        let rig = Rig::new();
        rig.run(&packet(LOAD_VBPNTR, &body));
        assert_eq!(rig.gpu.lint_count(rule), 1, "{body:?}");
    }
    let rig = Rig::new();
    rig.run(&packet(VBUF_2, &[vf(2, 3)]));
    assert_eq!(rig.gpu.lint_count(Rule::VertexArrays), 1, "none are loaded");
}

/// Walks that do not go with their packets, and draws of nothing (§5.2.3, §6.4.1).
#[test]
fn draws_that_are_none() {
    for (body, opcode, rule) in [
        (vec![vf(3, 1), 0], INDX_2, Rule::PrimWalk),
        (vec![vf(0, 3)], VBUF_2, Rule::PrimWalk),
        (vec![vf(2, 0)], VBUF_2, Rule::EmptyDraw),
    ] {
        let rig = Rig::new();
        rig.run(
            &[
                &one_array(),
                &[type0(0x20b4, 1), 1][..],
                &packet(opcode, &body),
            ]
            .concat(),
        );
        assert_ne!(rig.gpu.lint_count(rule), 0, "{opcode:#x}");
    }
    // Without a primitive type nothing starts (§6.4.1).
    let rig = Rig::new();
    rig.run(&[type0(0x2084, 1), 3 << 16 | 2 << 4]);
    assert_eq!(rig.gpu.counter(Counter::Draws3d), 0);
    rig.clean();
}

/// §6.4.10, §6.4.11: vectors of four dwords, an index that goes on and wraps at the end of the code,
/// and 256 constants only.
#[test]
fn shader_memories() {
    let rig = Rig::new();
    rig.set(0x2200, 1023);
    for n in 0..8 {
        rig.set(0x2204, 0x100 + n);
    }
    for (at, first) in [(1023, 0x100), (0, 0x104)] {
        rig.set(0x2200, at);
        let vector: Vec<u32> = (0..4).map(|_| rig.reg(0x2204)).collect();
        assert_eq!(vector, [first, first + 1, first + 2, first + 3]);
    }
    // The planes go from 1542 back to 1536; 1543 stays, by either port.
    for (at, port, next) in [
        (1542, 0x2204, 1536),
        (1543, 0x2208, 1543),
        (1535 - 256, 0x2208, 1279),
    ] {
        rig.set(0x2200, at);
        for n in 0..8 {
            rig.set(port, 0x200 + n);
            if at == 1279 && n == 3 {
                break;
            }
        }
        let first = if at == 1279 { 0x200 } else { 0x204 };
        rig.set(0x2200, next);
        assert_eq!(rig.reg(0x2204), first, "{at}");
    }
    rig.clean();
    rig.set(0x2200, 1280);
    for n in 0..4 {
        rig.set(0x2208, n);
    }
    assert_eq!(rig.gpu.lint_count(Rule::ShaderAddress), 1);
    // 512 instructions of six dwords.
    rig.set(0x4250, 511);
    for n in 0..6 {
        rig.set(0x4254, n);
    }
    assert_eq!(rig.gpu.lint_count(Rule::ShaderAddress), 1);
    rig.set(0x4254, 0);
    assert_eq!(rig.gpu.lint_count(Rule::ShaderAddress), 2);
}

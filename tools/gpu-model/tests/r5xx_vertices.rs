// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Draws run the vertex program over what they fetch (R5xx guide §6.2, §6.4.7, §6.4.11, §6.5; digest of 3D, §2, §3).

use crate::r5xx_rig::{config, draw::*, packet, type0, Rig, GTT};
use gpu_model::counters::Counter;
use gpu_model::r5xx::{R5xxConfig, Rule, ShadedVertex, Unit};

const LOAD_VBPNTR: u32 = 0x2f;
const VBUF_2: u32 = 0x34;
const IMMD_2: u32 = 0x35;
const INDX_2: u32 = 0x36;

/// Half of VAP_PROG_STREAM_CNTL: the last element.
const LAST: u32 = 1 << 13;
/// VAP_VF_CNTL: VTX_REUSE_DIS.
const REUSE_DIS: u32 = 1 << 12;
const FLOAT_3: u32 = 2;
const FLOAT_4: u32 = 3;
const BYTE_NORMAL: u32 = 4 | 1 << 15;
/// Half of VAP_PROG_STREAM_CNTL_EXT: xyzw, all written.
const XYZW: u32 = 0xf688;
/// The same with 1.0 in w.
const XYZ1: u32 = 0xfa88;

fn write(at: u32, values: &[u32]) -> Vec<u32> {
    let mut all = vec![type0(at, values.len() as u32)];
    all.extend(values);
    all
}

/// Vectors of the vertex engine from one on: code from 0, constants from 1024 (§6.4.11).
fn upload(at: u32, vectors: &[[u32; 4]]) -> Vec<u32> {
    let dwords = vectors.concat();
    let mut all = write(0x2200, &[at]);
    all.push(type0(0x2208, dwords.len() as u32) | 1 << 15);
    all.extend(dwords);
    all
}

fn floats(v: [f32; 4]) -> [u32; 4] {
    v.map(f32::to_bits)
}

/// Output 0 = constant 0 * input 0 (VE_MULTIPLY); output 1 = input 1 (VE_ADD of 0).
const CODE: [[u32; 4]; 2] = [
    [0x00f0_0202, 0x00d1_0002, 0x00d1_0001, 0],
    [0x00f0_2203, 0x00d1_0021, 0x0124_8021, 0],
];

/// The state for that: position of three floats, colour of four bytes, into inputs 0 and 1; both come out.
fn state(constant: [f32; 4]) -> Vec<u32> {
    [
        write(0x2150, &[FLOAT_3 | (BYTE_NORMAL | 1 << 8 | LAST) << 16]),
        write(0x21e0, &[XYZ1 | XYZW << 16]),
        write(0x22d0, &[(CODE.len() as u32 - 1) << 20, 255 << 16]),
        // Position and colour 0.
        write(0x2090, &[3, 0]),
        upload(0, &CODE),
        upload(1024, &[floats(constant)]),
    ]
    .concat()
}

const AT: u32 = 0x10_0000;

/// Vertex n of the array at [`AT`]: (n, n + 0.5, -n), and a colour; a dword of it is not the vertex's.
fn put_vertices(rig: &Rig, number: u32) {
    for n in 0..number {
        let f = n as f32;
        let [x, y, z, _] = floats([f, f + 0.5, -f, 0.0]);
        rig.put(AT + 20 * n, &[x, y, z, 0xff00_0000 | n, 0xdead_beef]);
    }
}

fn array() -> Vec<u32> {
    packet(LOAD_VBPNTR, &[1, 5 << 8 | 4, AT])
}

/// Returns the result of [`CODE`] for vertex n with a constant of (2, 4, 8, 1).
fn want(n: u32) -> ShadedVertex {
    let f = n as f32;
    let mut v = ShadedVertex {
        position: Some([2.0 * f, 4.0 * (f + 0.5), -8.0 * f, 1.0]),
        ..ShadedVertex::default()
    };
    v.colours[0] = Some([f / 255.0, 0.0, 0.0, 1.0]);
    v
}

const CONSTANT: [f32; 4] = [2.0, 4.0, 8.0, 1.0];

#[test]
fn a_list_is_fetched_and_shaded() {
    let rig = Rig::new();
    put_vertices(&rig, 6);
    rig.gpu.take_accesses();
    rig.run(&[state(CONSTANT), array(), packet(VBUF_2, &[vf(2, 6)])].concat());
    let all: Vec<_> = (0..6).map(want).collect();
    assert_eq!(rig.gpu.take_vertices(), all);
    assert_eq!(rig.gpu.counter(Counter::VerticesShaded), 6);
    assert_eq!(rig.gpu.counter(Counter::VsInstructions), 12);
    // Each is told as read, once.
    let (accesses, _) = rig.gpu.take_accesses();
    let at: Vec<_> = (0..6).map(|n| (u64::from(AT) + 20 * n, 16)).collect();
    assert_eq!(of(&accesses, Unit::Vertex), reads(&at));
    rig.clean();
}

/// Indices are biased and kept within the limits before they name a vertex.
#[test]
fn indices_name_vertices() {
    for (bias, min, max, wanted) in [
        (0, 0, 0xff_ffff, [3, 1, 3]),
        (2, 0, 0xff_ffff, [5, 3, 5]),
        (0x1ff_ffff, 0, 0xff_ffff, [2, 0, 2]),
        (0, 2, 2, [2, 2, 2]),
    ] {
        let rig = Rig::new();
        put_vertices(&rig, 6);
        let limits = [write(0x208c, &[bias]), write(0x2134, &[max, min])].concat();
        let draw = packet(INDX_2, &[vf(1, 3), 0x1_0003, 3]);
        rig.run(&[state(CONSTANT), array(), limits, draw].concat());
        assert_eq!(rig.gpu.take_vertices(), wanted.map(want));
    }
}

/// A vertex is shaded once for an index that comes again in the same draw, unless VTX_REUSE_DIS is set (digest of 3D,
/// §2.1). What comes out is the same, but what the next draw makes of it is its own.
#[test]
fn shaded_vertices_are_reused() {
    let indices = [0x1_0000, 0, 0x0401_0001, 1];
    let order = [0, 1, 0, 0, 1, 0x401, 1];
    for (reuses, shaded) in [(0, 4), (REUSE_DIS, 7)] {
        let rig = Rig::new();
        put_vertices(&rig, 0x402);
        let draw = packet(INDX_2, &[&[vf(1, 7) | reuses], &indices[..]].concat());
        let twice = upload(1024, &[floats([0.0; 4])]);
        rig.run(&[state(CONSTANT), array(), draw.clone(), twice, draw].concat());
        let all = rig.gpu.take_vertices();
        let positions: Vec<_> = all.iter().map(|v| v.position).collect();
        assert_eq!(positions[..7], order.map(|n| want(n).position));
        assert_eq!(positions[7..], [Some([0.0; 4]); 7]);
        assert_eq!(rig.gpu.counter(Counter::VerticesShaded), 2 * shaded);
    }
}

/// Two arrays: the elements go through all that one has, then the next.
#[test]
fn arrays_follow_each_other() {
    let rig = Rig::new();
    for n in 0..3u32 {
        let f = n as f32;
        rig.put(AT + 12 * n, &floats([f, f + 0.5, -f, 0.0])[..3]);
        rig.put(AT + 0x1000 + 4 * n, &[0xff00_0000 | n]);
    }
    let arrays = packet(LOAD_VBPNTR, &[2, 0x0101_0303, AT, AT + 0x1000]);
    rig.run(&[state(CONSTANT), arrays, packet(VBUF_2, &[vf(2, 3)])].concat());
    assert_eq!(rig.gpu.take_vertices(), [0, 1, 2].map(want));
    rig.clean();
}

/// A stride of nothing is the same for all vertices (K2).
#[test]
fn constant_attributes() {
    let rig = Rig::new();
    put_vertices(&rig, 1);
    let array = packet(LOAD_VBPNTR, &[1, 4, AT]);
    rig.run(&[state(CONSTANT), array, packet(VBUF_2, &[vf(2, 3)])].concat());
    assert_eq!(rig.gpu.take_vertices(), [0, 0, 0].map(want));
}

/// Vertices in the stream.
#[test]
fn embedded_vertices_are_shaded() {
    let rig = Rig::new();
    let mut body = vec![vf(3, 3)];
    for n in 0..3u32 {
        let f = n as f32;
        body.extend(&floats([f, f + 0.5, -f, 0.0])[..3]);
        body.push(0xff00_0000 | n);
    }
    rig.run(&[state(CONSTANT), write(0x20b4, &[4]), packet(IMMD_2, &body)].concat());
    assert_eq!(rig.gpu.take_vertices(), [0, 1, 2].map(want));
    rig.clean();
}

/// VAP_CNTL_STATUS 1:0 turns the bytes of fetched dwords about.
#[test]
fn fetched_dwords_are_swapped() {
    let rig = Rig::new();
    let [x, y, z, _] = floats([1.0, 1.5, -1.0, 0.0]);
    rig.put(AT, &[x, y, z, 0xff00_0001].map(u32::swap_bytes));
    let swap = write(0x2140, &[2]);
    rig.run(&[state(CONSTANT), array(), swap, packet(VBUF_2, &[vf(2, 1)])].concat());
    assert_eq!(rig.gpu.take_vertices(), [want(1)]);
}

/// A draw has code and constants as they are when it begins, whatever is written behind it.
#[test]
fn draws_have_their_own_constants() {
    let rig = Rig::new();
    put_vertices(&rig, 2);
    let draw = packet(VBUF_2, &[vf(2, 2)]);
    let other = upload(1024, &[floats([1.0; 4])]);
    let code = upload(0, &[[0; 4]; 2]);
    rig.run(&[state(CONSTANT), array(), draw.clone(), other, draw, code].concat());
    let shaded = rig.gpu.take_vertices();
    assert_eq!(shaded[..2], [want(0), want(1)]);
    assert_eq!(shaded[3].position, Some([1.0, 1.5, -1.0, 1.0]));
}

/// VAP_CNTL_STATUS 8: inputs are outputs, and no program runs.
#[test]
fn without_a_program() {
    let rig = Rig::new();
    put_vertices(&rig, 2);
    let bypass = [
        write(0x2140, &[1 << 8]),
        write(0x2150, &[FLOAT_3 | (BYTE_NORMAL | 2 << 8 | LAST) << 16]),
    ];
    rig.run(
        &[
            state(CONSTANT),
            bypass.concat(),
            array(),
            packet(VBUF_2, &[vf(2, 2)]),
        ]
        .concat(),
    );
    let shaded = rig.gpu.take_vertices();
    assert_eq!(shaded[1].position, Some([1.0, 1.5, -1.0, 1.0]));
    assert_eq!(shaded[1].colours[0], want(1).colours[0]);
    assert_eq!(rig.gpu.counter(Counter::VsInstructions), 0);
}

/// Nothing clears what a vertex leaves in the engine: the next one sees it.
#[test]
fn temporaries_are_left() {
    let rig = Rig::new();
    put_vertices(&rig, 3);
    // Temporary 0 += input 0; output 0 = temporary 0.
    let code = [
        [0x00f0_0003, 0x00d1_0000, 0x00d1_0001, 0],
        [0x00f0_0203, 0x00d1_0000, 0x0124_8000, 0],
    ];
    let draw = packet(VBUF_2, &[vf(2, 3)]);
    rig.run(&[state(CONSTANT), upload(0, &code), array(), draw].concat());
    let x: Vec<_> = rig
        .gpu
        .take_vertices()
        .iter()
        .map(|v| v.position.map(|p| p[0]))
        .collect();
    assert_eq!(x, [Some(0.0), Some(1.0), Some(3.0)]);
}

/// Without a word in VAP_PROG_STREAM_CNTL nothing is shaded; with a wrong one it is told.
#[test]
fn stream_control_is_watched() {
    let wide = FLOAT_4 | (FLOAT_4 | 1 << 8 | LAST) << 16;
    for (cntl, shaded, told) in [
        (0, 0, 0),
        (FLOAT_3 | LAST, 2, 0),
        // Eight dwords of four.
        (wide, 2, 1),
        // None is the last.
        (FLOAT_4, 2, 1),
        (13 | LAST, 2, 1),
    ] {
        let rig = Rig::new();
        put_vertices(&rig, 2);
        let cntl = write(0x2150, &[cntl]);
        rig.run(&[state(CONSTANT), cntl, array(), packet(VBUF_2, &[vf(2, 2)])].concat());
        assert_eq!(rig.gpu.counter(Counter::VerticesShaded), shaded);
        assert_eq!(rig.gpu.lint_count(Rule::StreamControl), told);
    }
}

/// §6.4.2, §6.5.2: slots are 10 at most, and 128 vectors by those of an input and of an output; controllers 6, 128 by
/// temporaries, 20 by alternate temporaries.
#[test]
fn slots_and_controllers_are_watched() {
    let element = |at: u32| FLOAT_3 | (BYTE_NORMAL | at << 8 | LAST) << 16;
    // Temporary (0) or alternate temporary (4) n = input 0.
    let code = |kind: u32, n: u32| {
        upload(
            0,
            &[[
                0x00f0_0003 | kind << 8 | n << 13,
                0x00d1_0001,
                0x0124_8001,
                0,
            ]],
        )
    };
    for (cntl, stream, program, told) in [
        (10 | 6 << 4, element(1), code(0, 0), 0),
        (11, element(1), code(0, 0), 1),
        (7 << 4, element(1), code(0, 0), 1),
        // 17 inputs: 7 slots.
        (7, element(16), code(0, 0), 0),
        (8, element(16), code(0, 0), 1),
        // 32 temporaries: 4 controllers; 10 alternate ones: 2.
        (4 << 4, element(1), code(0, 31), 0),
        (5 << 4, element(1), code(0, 31), 1),
        (2 << 4, element(1), code(4, 9), 0),
        (3 << 4, element(1), code(4, 9), 1),
    ] {
        let rig = Rig::new();
        put_vertices(&rig, 1);
        let change = [
            write(0x2080, &[cntl]),
            write(0x2150, &[stream]),
            write(0x22d0, &[0]),
            program,
        ];
        rig.run(
            &[
                state(CONSTANT),
                change.concat(),
                array(),
                packet(VBUF_2, &[vf(2, 1)]),
            ]
            .concat(),
        );
        assert_eq!(
            rig.gpu.lint_count(Rule::VertexSlots),
            told,
            "{cntl:#x} {stream:#x}"
        );
    }
}

/// A program's mistake is reported once for each draw, and as the program's.
#[test]
fn wrong_programs_are_told() {
    let rig = Rig::new();
    put_vertices(&rig, 5);
    // Opcode 63.
    let code = upload(0, &[[0x00f0_003f, 0, 0, 0]]);
    let draw = packet(VBUF_2, &[vf(2, 5)]);
    rig.run_indirect(&[state(CONSTANT), code, array(), draw].concat());
    assert_eq!(rig.gpu.client_lints(), [(Rule::VertexProgram, 1)]);
    assert_eq!(rig.gpu.lints(), []);
    assert_eq!(rig.gpu.take_vertices().len(), 5);
}

/// A jump from the program's end to its beginning.
fn endless() -> Vec<u32> {
    [write(0x22dc, &[1]), write(0x2500, &[1, 0])].concat()
}

const FENCE: [u32; 4] = [0x0000_05c8, 1 << 17, 0x0000_0578, 1];

/// A program that never ends hangs the vertex processor, until it is reset (L16).
#[test]
fn an_endless_program_hangs() {
    let rig = Rig::with(R5xxConfig {
        shader_steps: 200_000,
        ..config("rv515")
    });
    put_vertices(&rig, 2);
    let draw = packet(VBUF_2, &[vf(2, 2)]);
    rig.run_indirect(&[state(CONSTANT), array(), endless(), draw].concat());
    rig.run(&FENCE);
    assert!(rig.gpu.vap_stuck());
    assert_eq!(rig.reg(0x15e0), 0);
    assert_eq!(rig.gpu.counter(Counter::VsInstructions), 200_000);
    assert_eq!(rig.gpu.counter(Counter::VerticesShaded), 0);
    assert_eq!(rig.gpu.counter(Counter::Lockups), 1);
    assert_eq!(
        rig.gpu.client_lints(),
        [(Rule::VertexProgram, 1), (Rule::EndlessProgram, 1)]
    );
    // RBBM_STATUS: busy, and the vertex processor.
    assert_eq!(rig.reg(0xe40) & (1 << 31 | 1 << 20), 1 << 31 | 1 << 20);
    // VAP and GA.
    rig.set(0xf0, 0x2004);
    rig.set(0xf0, 0);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 1);
    assert!(!rig.gpu.vap_stuck());
    // A good draw draws.
    let draw = packet(VBUF_2, &[vf(2, 2)]);
    rig.run(&[write(0x22dc, &[0]), draw].concat());
    assert_eq!(rig.gpu.take_vertices(), [want(0), want(1)]);
}

/// A fetch that leads nowhere is told once for each vertex, and gets what the address of discarded reads has: zeroes.
#[test]
fn arrays_that_are_nowhere() {
    let rig = Rig::new();
    let array = packet(LOAD_VBPNTR, &[1, 5 << 8 | 4, 0x8000_0000]);
    rig.run_indirect(&[state(CONSTANT), array, packet(VBUF_2, &[vf(2, 3)])].concat());
    assert_eq!(rig.gpu.client_lints(), [(Rule::Unmapped, 3)]);
    let positions: Vec<_> = rig.gpu.take_vertices().iter().map(|v| v.position).collect();
    assert_eq!(positions, [Some([0.0, 0.0, 0.0, 1.0]); 3]);
    // A page of the system whose entry has bit 1 (digest §4.4).
    rig.put_guest(0x8000, &floats([3.0, 4.0, 5.0, 0.0]));
    rig.set_entry(8, 0x8 << 4 | 0xe);
    rig.flush_gart();
    let array = packet(LOAD_VBPNTR, &[1, 5 << 8 | 4, GTT + 0x8000]);
    rig.run_indirect(&[array, packet(VBUF_2, &[vf(2, 1)])].concat());
    assert!(rig.gpu.client_lints().contains(&(Rule::PteReserved, 1)));
    let positions: Vec<_> = rig.gpu.take_vertices().iter().map(|v| v.position).collect();
    assert_eq!(positions, [Some([6.0, 16.0, 40.0, 1.0])]);
}

/// Flow control of the last entry: a loop of three rounds whose index, from 2 on by 2, names constants.
#[test]
fn loops_have_their_registers() {
    let rig = Rig::new();
    put_vertices(&rig, 1);
    // Nothing; temporary 0 += constant I0; output 0 = temporary 0.
    let code = [
        [0; 4],
        [0x00f0_0003, 0x00d1_0000, 0x80d1_0002, 0],
        [0x00f0_0203, 0x00d1_0000, 0x0124_8000, 0],
    ];
    let constants: Vec<_> = (0..8).map(|n| floats([2f32.powi(n); 4])).collect();
    let flow = [
        write(0x22d0, &[2 << 20]),
        write(0x22dc, &[2 << 30]),
        write(0x2578, &[3 << 16, 1 | 1 << 16]),
        write(0x22cc, &[2 | 2 << 8]),
    ];
    let program = [upload(0, &code), upload(1024, &constants), flow.concat()];
    rig.run(
        &[
            state(CONSTANT),
            program.concat(),
            array(),
            packet(VBUF_2, &[vf(2, 1)]),
        ]
        .concat(),
    );
    let shaded = rig.gpu.take_vertices();
    assert_eq!(shaded[0].position, Some([4.0 + 16.0 + 64.0; 4]));
    rig.clean();
}

/// A long draw is done in slices: the model is blocked no longer than for one, and a fence behind it comes at its end.
#[test]
fn long_draws_are_done_in_slices() {
    let rig = Rig::new();
    put_vertices(&rig, 1);
    // 255 rounds of 255 rounds of the second instruction: 65,025, and some around.
    let flow = [
        write(0x22d0, &[3 << 20]),
        write(0x22dc, &[2 | 2 << 2]),
        write(0x2500, &[255 << 16, 2 | 1 << 16, 255 << 16, 1 | 1 << 16]),
    ];
    let draw = packet(VBUF_2, &[vf(2, 100)]);
    let array = packet(LOAD_VBPNTR, &[1, 4, AT]);
    rig.submit(&[state(CONSTANT), flow.concat(), array, draw, FENCE.to_vec()].concat());
    let mut steps = 0;
    let mut before = 0;
    while rig.reg(0x15e0) == 0 {
        rig.gpu.step();
        let done = rig.gpu.counter(Counter::VsInstructions);
        assert!(done - before <= 1 << 16, "{done}");
        before = done;
        steps += 1;
        assert!(steps < 1000);
    }
    assert_eq!(rig.gpu.counter(Counter::VerticesShaded), 100);
    let (accesses, _) = rig.gpu.take_accesses();
    assert_eq!(of(&accesses, Unit::Vertex), reads(&[(AT.into(), 16)]));
    rig.clean();
}

/// The command processor waits while draws hold many indices: what a guest can make the model keep is bounded.
#[test]
fn held_indices_fill_the_queue() {
    let rig = Rig::new();
    put_vertices(&rig, 1);
    let number = 1 << 18;
    // VAP_ALT_NUM_VERTICES, and indices of 32 bits from memory: whatever is there, all beyond the limits. Each is shaded.
    let limits = [write(0x2134, &[0, 0]), write(0x2088, &[number])].concat();
    rig.run(&[state(CONSTANT), array(), limits].concat());
    let draw = packet(INDX_2, &[vf(1, 0) | 1 << 14 | REUSE_DIS | 1 << 11]);
    let indices = packet(0x33, &[0x8000_0810, 0, number]);
    let one = [draw, indices].concat();
    rig.submit(&one.repeat(5));
    let mut most = 0;
    let draws = || rig.gpu.counter(Counter::Draws3d);
    let shaded = || rig.gpu.counter(Counter::VerticesShaded);
    while rig.gpu.counter(Counter::VerticesShaded) < 5 * u64::from(number) {
        rig.gpu.step();
        most = most.max(draws() - shaded() / u64::from(number));
    }
    assert_eq!((draws(), most), (5, 4));
}

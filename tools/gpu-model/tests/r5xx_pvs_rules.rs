// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Addresses of vertex programs and their limits (R5xx guide §6.5.1, §6.4.11), and programs that are wrong: each
//! has a result, and is told.

use crate::r5xx_pvs_rig::*;
use gpu_model::r5xx::pvs::{Note, Notes, Vec4};

fn only(note: Note) -> Notes {
    [note].into_iter().collect()
}

/// A vector for each place of a memory.
fn mark(n: usize) -> Vec4 {
    [n as f32, 0.5, -(n as f32), 1000.0 + n as f32]
}

fn marked(code: &[[u32; 4]]) -> VertexShaderTest {
    let mut b = VertexShaderTest::new(code);
    let v = &mut b.vertex;
    for (n, t) in v.temporary.iter_mut().enumerate() {
        *t = mark(n);
    }
    for (n, t) in v.input.iter_mut().enumerate() {
        *t = mark(100 + n);
    }
    for (n, t) in v.alternate.iter_mut().enumerate() {
        *t = mark(200 + n);
    }
    for (n, t) in b.constants.iter_mut().enumerate() {
        *t = mark(300 + n);
    }
    b
}

/// §6.5.1: up to 32 vectors of inputs and temporaries and 20 alternate temporaries for a vertex, 256
/// constants; beyond there is nothing, and it is told.
#[test]
fn memories_have_their_sizes() {
    for (kind, last, first) in [
        (TEMP, 31, 0),
        (INPUT, 31, 100),
        (ALT, 19, 200),
        (CONST, 255, 300),
    ] {
        let mut b = marked(&[mov(6, src(kind, last))]);
        b.clean();
        assert_eq!(b.temp(6), mark(first + last as usize));
        if last < 255 {
            let mut b = marked(&[mov(6, src(kind, last + 1))]);
            assert_eq!(b.run().notes, only(Note::SourceRange), "{kind}");
            assert_eq!(b.temp(6), [0.0; 4]);
        }
    }
    for (kind, last) in [(0, 31), (2, 31), (4, 19), (5, 31)] {
        let from = swizzled(CONST, 0, [5; 4]);
        let write = |at| [dst_of(3, kind, at), from, swizzled(CONST, 0, [4; 4]), 0];
        let mut b = marked(&[write(last)]);
        let before = b.vertex.clone();
        b.clean();
        assert_ne!(b.vertex, before);
        let mut b = marked(&[write(last + 1)]);
        assert_eq!(b.run().notes, only(Note::DestinationRange), "{kind}");
        assert_eq!(b.vertex, before);
    }
}

/// Address mode 1 adds a lane of A0 to any source's offset, or a destination's.
#[test]
fn a0_is_added_to_offsets() {
    let a0 = [3, -2, 0, 10];
    for (lane, a) in a0.into_iter().enumerate() {
        for (kind, first) in [(TEMP, 0), (INPUT, 100), (ALT, 200), (CONST, 300)] {
            let mut b = marked(&[mov(25, by_a0(src(kind, 5), lane as u32))]);
            b.vertex.address = a0;
            b.clean();
            assert_eq!(b.temp(25), mark((first + 5 + i32::from(a)) as usize));
        }
        for kind in [0, 2, 4, 5] {
            let relative = 1 << 31 | (lane as u32) << 29;
            let zero = swizzled(CONST, 9, [4; 4]);
            let mut b = marked(&[[dst_of(3, kind, 5) | relative, src(CONST, 9), zero, 0]]);
            b.vertex.address = a0;
            let mut want = b.vertex.clone();
            let at = (5 + a) as usize;
            match kind {
                0 => want.temporary[at] = mark(309),
                2 => want.output[at] = mark(309),
                4 => want.alternate[at] = mark(309),
                _ => want.input[at] = mark(309),
            }
            b.clean();
            assert_eq!(b.vertex, want, "{kind} {lane}");
        }
    }
}

/// Address mode 2 adds the loop's index, of all memories; "the resulting address is not clamped for the
/// input, output, and temporary memories": here it leads to nothing.
#[test]
fn the_loops_index_is_added_to_offsets() {
    let run = |word: [u32; 4], init: u32| {
        let mut b = marked(&[[0; 4], word]);
        entry(&mut b.control.flow, 0, 2, 1 << 16, 1 | 1 << 16);
        b.control.flow.loop_index[0] = init.into();
        let run = b.run();
        (b, run.notes)
    };
    for (kind, first) in [(TEMP, 0), (INPUT, 100), (ALT, 200), (CONST, 300)] {
        let (b, notes) = run(mov(25, by_loop(src(kind, 5))), 7);
        assert_eq!((b.temp(25), notes), (mark(first + 12), Notes::NONE));
        if kind != CONST {
            let (b, notes) = run(mov(25, by_loop(src(kind, 5))), 27);
            assert_eq!((b.temp(25), notes), ([0.0; 4], only(Note::SourceRange)));
        }
    }
    for kind in [0, 2, 4, 5] {
        let zero = swizzled(CONST, 9, [4; 4]);
        let word = [dst_of(3, kind, 5) | 1 << 12, src(CONST, 9), zero, 0];
        let (b, notes) = run(word, 7);
        let v = &b.vertex;
        let memory = [
            &v.temporary[..],
            &[],
            &v.output[..],
            &[],
            &v.alternate[..],
            &v.input[..],
        ];
        assert_eq!((memory[kind as usize][12], notes), (mark(309), Notes::NONE));
        let (b, notes) = run(word, 27);
        assert_eq!(
            (b.vertex, notes),
            (marked(&[[0; 4]]).vertex, only(Note::DestinationRange))
        );
    }
}

/// "If the resultant address is out of the range 0 to MAX_SHADER_CONST, (0,0,0,0) is returned": of what A0
/// or a loop's index leads to, before PVS_CONST_BASE_OFFSET is added. An absolute one is read and told.
#[test]
fn constants_have_a_range() {
    for (offset, a0, base, max, want) in [
        (5, 0, 0, 10, mark(305)),
        (5, 5, 0, 10, mark(310)),
        (5, 6, 0, 10, [0.0; 4]),
        (5, -5, 0, 10, mark(300)),
        (5, -6, 0, 10, [0.0; 4]),
        (5, 5, 40, 10, mark(350)),
        (5, 6, 40, 10, [0.0; 4]),
        (5, -6, 40, 10, [0.0; 4]),
        (5, 250, 0, 255, mark(555)),
        (6, 250, 0, 255, [0.0; 4]),
        (255, 255, 255, 255, [0.0; 4]),
    ] {
        let mut b = marked(&[mov(6, by_a0(src(CONST, offset), 2))]);
        b.vertex.address[2] = a0;
        b.control.constants = (base | max << 16).into();
        b.clean();
        assert_eq!(b.temp(6), want, "{offset} {a0} {base} {max}");
    }
    for (offset, base, max, want, notes) in [
        (7, 0, 7, mark(307), Notes::NONE),
        (8, 0, 7, mark(308), only(Note::ConstantMax)),
        (7, 100, 7, mark(407), Notes::NONE),
        // The store is a ring.
        (7, 250, 7, mark(301), only(Note::ConstantWrap)),
    ] {
        let mut b = marked(&[mov(6, src(CONST, offset))]);
        b.control.constants = (base | max << 16).into();
        assert_eq!(b.run().notes, notes);
        assert_eq!(b.temp(6), want);
    }
}

/// §6.5.1: "a single operation may only use one unique address from the IVM, CSM, or ATRM"; of temporaries it has two
/// ports. Operands that the operation does not have, or all of whose lanes are forced, do not count.
#[test]
fn ports_of_memories() {
    let mad = |a, b, c| [dst(4, 6), a, b, c];
    let one = swizzled(INPUT, 7, [5; 4]);
    let second = only(Note::SecondAddress);
    let cases = [
        (
            mad(src(INPUT, 0), src(INPUT, 0), src(INPUT, 0)),
            Notes::NONE,
        ),
        (mad(src(INPUT, 0), src(CONST, 0), src(ALT, 0)), Notes::NONE),
        (mad(src(INPUT, 0), src(INPUT, 1), src(TEMP, 0)), second),
        (mad(src(CONST, 0), src(TEMP, 1), src(CONST, 2)), second),
        (mad(src(TEMP, 0), src(ALT, 1), src(ALT, 2)), second),
        (
            mad(src(CONST, 0), by_a0(src(CONST, 0), 0), src(TEMP, 0)),
            second,
        ),
        (
            mad(
                by_a0(src(CONST, 0), 0),
                by_a0(src(CONST, 0), 1),
                src(TEMP, 0),
            ),
            second,
        ),
        (
            mad(
                by_a0(src(CONST, 0), 3),
                by_a0(src(CONST, 0), 3),
                src(TEMP, 0),
            ),
            Notes::NONE,
        ),
        (mad(src(INPUT, 0), one, src(TEMP, 0)), Notes::NONE),
        (mad(src(TEMP, 0), src(TEMP, 1), src(TEMP, 1)), Notes::NONE),
        (
            mad(src(TEMP, 0), src(TEMP, 1), src(TEMP, 2)),
            only(Note::ThreeTemporaries),
        ),
        // VE_COND_MUX_EQ, VE_MULTIPLY_CLAMP, ME_LIGHT_COEFF_DX.
        (
            [dst(23, 6), src(TEMP, 0), src(TEMP, 1), src(TEMP, 2)],
            only(Note::ThreeTemporaries),
        ),
        (
            [dst(12, 6), src(TEMP, 0), src(TEMP, 1), src(TEMP, 2)],
            only(Note::ThreeTemporaries),
        ),
        (
            [dst(4 | ME, 6), src(TEMP, 0), src(TEMP, 1), src(TEMP, 2)],
            only(Note::ThreeTemporaries),
        ),
        // VE_ADD has two sources.
        (
            [dst(3, 6), src(INPUT, 0), src(TEMP, 1), src(INPUT, 2)],
            Notes::NONE,
        ),
        // Both halves of a dual operation share the ports.
        (
            [
                dst(3, 6) | 1 << 28,
                src(INPUT, 0),
                src(TEMP, 1),
                INPUT | 1 << 5 | 6 << 21,
            ],
            second,
        ),
        (
            [
                dst(3, 6) | 1 << 28,
                src(TEMP, 0),
                src(TEMP, 1),
                TEMP | 2 << 5 | 6 << 21,
            ],
            only(Note::ThreeTemporaries),
        ),
        (
            [
                dst(3, 6) | 1 << 28,
                src(INPUT, 0),
                src(TEMP, 1),
                INPUT | 6 << 21,
            ],
            Notes::NONE,
        ),
    ];
    for (word, want) in cases {
        assert_eq!(marked(&[word]).run().notes, want, "{word:08x?}");
    }
}

/// Instructions that are wrong, what is told, and what temporary 6 and alternate 0 have then. Temporary 6
/// has mark 6 before, alternate 0 mark 200.
#[test]
fn wrong_instructions_have_results() {
    let (input, zero) = (src(INPUT, 0), swizzled(INPUT, 0, [4; 4]));
    // alternate 0.x = 1 / constant 1.y, which is 0.5.
    let half = CONST | 1 << 5 | 1 << 13 | 6 << 21;
    let alternate = [2.0, 0.5, -200.0, 1200.0];
    let dual = 1 << 28;
    type Case = ([u32; 4], Note, Vec4, Vec4);
    let cases: &[Case] = &[
        (
            [dst(29, 6), input, input, input],
            Note::Opcode,
            mark(6),
            mark(200),
        ),
        (
            [dst(63, 6), input, input, input],
            Note::Opcode,
            mark(6),
            mark(200),
        ),
        (
            [dst(29 | ME, 6), input, input, input],
            Note::Opcode,
            mark(6),
            mark(200),
        ),
        (
            [dst(0x8f, 6), input, input, input],
            Note::Macro,
            mark(6),
            mark(200),
        ),
        (
            [dst_of(3, 6, 6), input, zero, 0],
            Note::DestinationType,
            mark(6),
            mark(200),
        ),
        (
            [dst_of(3, 15, 6), input, zero, 0],
            Note::DestinationType,
            mark(6),
            mark(200),
        ),
        (
            [dst_of(3, 1, 6), input, zero, 0],
            Note::AddressRegister,
            mark(6),
            mark(200),
        ),
        (
            [dst_of(6 | ME, 1, 6), input, zero, 0],
            Note::AddressRegister,
            mark(6),
            mark(200),
        ),
        // Address mode 3, of a source and of a destination.
        (
            [dst(3, 6), input | 1 << 31 | 1 << 4, zero, 0],
            Note::AddressMode,
            mark(100),
            mark(200),
        ),
        (
            [dst(3, 6) | 1 << 31 | 1 << 12, input, zero, 0],
            Note::AddressMode,
            mark(100),
            mark(200),
        ),
        (
            [dst(3, 6), swizzled(INPUT, 0, [0, 6, 7, 3]), zero, 0],
            Note::Swizzle,
            [100.0, 0.0, 0.0, 1100.0],
            mark(200),
        ),
        // A dual multiplication and addition has no C.
        (
            [dst(4, 6) | dual, input, swizzled(INPUT, 0, [5; 4]), half],
            Note::DualSources,
            mark(100),
            alternate,
        ),
        (
            [dst_of(3, 4, 0) | dual, input, zero, half],
            Note::DualDestination,
            mark(6),
            alternate,
        ),
        (
            [dst(6 | ME, 6) | dual, input, zero, half],
            Note::DualMath,
            mark(6),
            alternate,
        ),
        (
            [dst(0x80, 6) | dual, input, zero, half],
            Note::Macro,
            mark(6),
            alternate,
        ),
        // ME_LIGHT_COEFF_DX has three scalars: z is not written, x is 1.
        (
            [dst(3, 6) | dual, input, zero, CONST | 1 << 5 | 4 << 21],
            Note::DualMath,
            mark(100),
            [1.0, 0.5, -200.0, 1200.0],
        ),
        // Opcode 31 of the math half.
        (
            [dst(3, 6) | dual, input, zero, half | 1 << 2 | 15 << 21],
            Note::Opcode,
            mark(100),
            mark(200),
        ),
    ];
    for (word, note, temp, alternate) in cases {
        let mut b = marked(&[*word]);
        assert_eq!(b.run().notes, only(*note), "{word:08x?}");
        assert_eq!(
            (b.temp(6), b.vertex.alternate[0]),
            (*temp, *alternate),
            "{word:08x?}"
        );
    }
    // The same predicated on what is not so: it does nothing, and is told.
    for (word, note, ..) in cases {
        let mut b = marked(&[[word[0] | 3 << 26, word[1], word[2], word[3]]]);
        let before = b.vertex.clone();
        assert_eq!(b.run().notes, only(*note), "{word:08x?}");
        assert_eq!(b.vertex, before);
    }
}

/// Swizzles 6 and 7 in lanes that do not count stand in real streams (digest of 3D, §3.1).
#[test]
fn unused_swizzles_are_not_told() {
    let odd = |s| swizzled(INPUT, 0, s);
    for word in [
        [
            dst(3, 6) & !(10 << 20),
            odd([0, 7, 2, 7]),
            odd([0, 7, 2, 7]),
            odd([7; 4]),
        ],
        [dst(6 | ME, 6), odd([7, 7, 7, 3]), odd([7; 4]), odd([7; 4])],
        // (1, A.y * B.y, A.z, B.w)
        [dst(5, 6), odd([7, 1, 2, 7]), odd([7, 1, 7, 3]), 0],
        [
            dst(12, 6),
            odd([0, 7, 7, 3]),
            odd([0, 7, 7, 3]),
            odd([0, 7, 7, 3]),
        ],
        [dst(15, 6), odd([7, 7, 7, 3]), odd([7, 7, 7, 3]), 0],
        [dst_of(3, 3, 6), odd([0, 7, 7, 7]), odd([0, 7, 7, 7]), 0],
    ] {
        marked(&[word]).clean();
    }
    let dot = [dst(1, 6) & !(14 << 20), odd([0, 1, 2, 7]), odd([0; 4]), 0];
    assert_eq!(marked(&[dot]).run().notes, only(Note::Swizzle));
}

/// A0 is clamped, and that is told (digest of 3D, §18); what is not a number is 0.
#[test]
fn a0_that_is_clamped_is_told() {
    for (value, want, told) in [
        (255.9, 255, false),
        (256.0, 255, true),
        (-256.0, -256, false),
        (-256.5, -256, true),
        (NAN, 0, true),
    ] {
        let mut b = VertexShaderTest::new(&[[dst_of(13, 1, 0), src(INPUT, 0), 0, 0]]);
        b.vertex.input[0] = [value; 4];
        let notes = b.run().notes;
        assert_eq!(
            (b.vertex.address[0], notes.has(Note::AddressClamped)),
            (want, told)
        );
    }
}

/// Digest of 3D, D-3: the power of e is A.w, unless A's w is a forced 0: then C.w. Different ones are told.
#[test]
fn the_power_of_e() {
    let at = |s: u32| swizzled(INPUT, 0, [s; 4]);
    for (a, c, want, told) in [
        (at(0), at(0), f32::exp(2.0), false),
        (at(0), at(4), f32::exp(2.0), true),
        (at(4), at(1), f32::exp(3.0), true),
        (at(0), at(1), f32::exp(2.0), true),
    ] {
        let mut b = VertexShaderTest::new(&[[dst(3 | ME, 6), a, a, c]]);
        b.vertex.input[0] = [2.0, 3.0, 0.0, 0.0];
        let notes = b.run().notes;
        assert_eq!(notes.has(Note::ExpOperands), told);
        near(b.temp(6), [want; 4]);
    }
}

/// Both halves of a dual operation set the predicate: VE_PRED_SET_EQ_PUSH would, ME_PRED_SET_CLR does not.
#[test]
fn two_predicates() {
    let zero = swizzled(INPUT, 0, [4; 4]);
    let clear = INPUT | 1 << 2 | 9 << 21;
    let mut b = VertexShaderTest::new(&[[dst(15, 6) | 1 << 28, zero, zero, clear]]);
    assert_eq!(b.run().notes, only(Note::BothPredicates));
    assert!(!b.vertex.predicate);
}

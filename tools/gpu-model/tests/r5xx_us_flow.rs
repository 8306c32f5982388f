// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The pixel shader: branches, loops, calls, and what is odd (digest of 3D, §9.5, §9.6, vectors of §15.2).

use crate::r5xx_us_rig::*;
use gpu_model::r5xx::us::{Note, Notes, Program, Run, STEPS};

/// U33: a constant by aL, which is 1 in a loop whose constant says so.
#[test]
fn constants_by_the_loops_index() {
    let body = [
        0x00003800, 0x08020300, 0x08020080, 0x00db0220, 0x00000000, 0x00490030,
    ];
    let mut b = PixelShaderTest::new(&[begin_loop(2), body, end_loop(1), LAST]);
    b.control.integers[0] = 1 | 1 << 8;
    assert_eq!(
        b.run(),
        Run {
            steps: 4,
            notes: Notes::NONE
        }
    );
    assert_eq!(b.temporary(3), [7.0, 7.0, 7.0, KEPT]);
}

/// U39 to U42 in the slots that they are for: 5 IF, 8 ELSE, 11 ENDIF.
fn branches(with_else: bool) -> Vec<[u32; 6]> {
    let mut code = vec![LAST; 13];
    code[4] = CONDITION;
    code[5] = [0x402, 0, 0x12000f00, 0x000c0000, 0, 0];
    code[6] = COUNT;
    if with_else {
        code[5] = [0x402, 0, 0x1a000f00, 0x00090000, 0, 0];
        code[8] = [0x402, 0, 0x04010010, 0x000c0000, 0, 0];
        // Twice.
        (code[9], code[10]) = (COUNT, COUNT);
    }
    code[11] = [0x402, 0, 0x01010020, 0x000c0000, 0, 0];
    code
}

/// The divergence test of §15.2: who counts once has gone into the branch, who counts twice into its other side.
#[test]
fn pixels_part_and_meet() {
    for (red, with_else, want) in [
        ([1.0, 0.0, 1.0, 0.0], false, [1.0, 0.0, 1.0, 0.0]),
        ([0.0; 4], false, [0.0; 4]),
        ([1.0; 4], false, [1.0; 4]),
        ([1.0, 0.0, 1.0, 0.0], true, [1.0, 2.0, 1.0, 2.0]),
        ([0.0; 4], true, [2.0; 4]),
        ([1.0; 4], true, [1.0; 4]),
    ] {
        let mut code = branches(with_else);
        // Behind the branch all count ten more by U5's sum, if all are active again.
        code[12] = COUNT;
        code.push(LAST);
        let mut b = PixelShaderTest::new(&code);
        b.pixels.temporary[0][0] = red;
        b.pixels.temporary[1][3] = [0.0; 4];
        assert_eq!(b.run().notes, Notes::NONE);
        let got = b.pixels.temporary[1][3].map(|v| v - 1.0);
        assert_eq!(got, want, "{red:?}, else {with_else}");
    }
}

/// "a breaks in iteration 1, b in 2, c and d never: loop ends when count is 0; on exit a, b -> ACTIVE" (§15.2).
#[test]
fn pixels_leave_a_loop() {
    // Red of temporary 0 shrinks by 1 each round, and a pixel leaves when it is 0: IF of "not != 0" needs the result
    // inverted, so the comparison is == here (ALU_RESULT_OP 0).
    let shrink = [
        0x0800,
        0x0802_0000,
        0x0802_0080,
        0x00db_0220,
        0,
        0x00ed_8000,
    ];
    let equal = [
        CONDITION[0] & !(3 << 23),
        CONDITION[1],
        CONDITION[2],
        CONDITION[3],
        0,
        CONDITION[5],
    ];
    let branch = [0x402, 0, 0x12000f00, 0x0007_0000, 0, 0];
    let leave = [0x402, 0, 0x1401ff05, 0x0009_0000, 0, 0];
    let end_if = [0x402, 0, 0x01010020, 0x0007_0000, 0, 0];
    let code = [
        begin_loop(8),
        COUNT,
        shrink,
        equal,
        branch,
        leave,
        end_if,
        // Slot 7 is behind ENDIF.
        LAST,
        end_loop(1),
        COUNT,
        LAST,
    ];
    let mut b = PixelShaderTest::new(&code);
    b.control.integers[0] = 0xff;
    b.pixels.temporary[0][0] = [1.0, 2.0, -1.0, -1.0];
    b.pixels.temporary[1][3] = [0.0; 4];
    let run = b.run();
    assert_eq!(run.notes, Notes::NONE);
    assert_eq!(b.pixels.temporary[1][3], [2.0, 3.0, 256.0, 256.0]);
    // All leave in the third round: 3 rounds, less what the break jumps over.
    let mut b = PixelShaderTest::new(&code);
    b.control.integers[0] = 0xff;
    b.pixels.temporary[0][0] = [1.0, 2.0, 3.0, 3.0];
    b.pixels.temporary[1][3] = [0.0; 4];
    let run = b.run();
    assert_eq!(b.pixels.temporary[1][3], [2.0, 3.0, 4.0, 4.0]);
    assert!(run.steps < 30, "{}", run.steps);
}

/// CONTINUE (U45): the rest of the round is for the others.
#[test]
fn pixels_skip_a_round() {
    let branch = [0x402, 0, 0x12000f00, 0x0005_0000, 0, 0];
    let skip = [0x402, 0, 0x1401ff07, 0x0006_0000, 0, 0];
    let end_if = [0x402, 0, 0x01010020, 0x0005_0000, 0, 0];
    let code = [
        begin_loop(6),
        CONDITION,
        branch,
        skip,
        end_if,
        COUNT,
        end_loop(1),
        LAST,
    ];
    let mut b = PixelShaderTest::new(&code);
    b.control.integers[0] = 5;
    b.pixels.temporary[0][0] = [0.0, 1.0, 0.0, 1.0];
    b.pixels.temporary[1][3] = [0.0; 4];
    assert_eq!(b.run().notes, Notes::NONE);
    assert_eq!(b.pixels.temporary[1][3], [5.0, 0.0, 5.0, 0.0]);
}

/// U47 and U48: a call if boolean 3 is set, and back.
#[test]
fn calls_by_a_boolean() {
    for (booleans, want) in [(1 << 3, 2.0), (!(1 << 3), 1.0)] {
        let mut code = vec![LAST; 42];
        code[0] = [0x402, 0, 0x0000_aaa0, 0x0028_0003, 0, 0];
        code[1] = COUNT;
        code[40] = COUNT;
        code[41] = [0x402, 0, 0x0000_ff60, 0, 0, 0];
        let mut b = PixelShaderTest::new(&code);
        // 0 to 2, of all that is in the range.
        b.control.code_addr = 2 << 16;
        b.control.booleans = booleans;
        b.pixels.temporary[1][3] = [0.0; 4];
        assert_eq!(b.run().notes, Notes::NONE);
        assert_eq!(b.pixels.temporary[1][3], [want; 4]);
    }
}

/// START, END and targets of jumps are moved by US_CODE_OFFSET, modulo 512 (guide §7; digest §9.1).
#[test]
fn programs_lie_anywhere() {
    let mut b = PixelShaderTest::new(&[LAST; 512]);
    for (slot, words) in [(511, COUNT), (0, COUNT), (1, LAST)] {
        b.code[6 * slot..][..6].copy_from_slice(&words);
    }
    b.control.code_addr = 1 | 3 << 16;
    b.control.code_range = 511 | 2 << 16;
    b.control.code_offset = 510;
    b.pixels.temporary[1][3] = [0.0; 4];
    assert_eq!(
        b.run(),
        Run {
            steps: 3,
            notes: Notes::NONE
        }
    );
    assert_eq!(b.pixels.temporary[1][3], [2.0; 4]);
}

/// "The program counter wraps at 512 automatically, so it is valid to load shader programs which utilize the
/// bottommost and topmost regions" (guide §7.2): START 511, END 1. It is told (digest §18).
#[test]
fn programs_go_on_at_the_bottom() {
    let mut b = PixelShaderTest::new(&[LAST; 512]);
    for slot in [511, 0] {
        b.code[6 * slot..][..6].copy_from_slice(&COUNT);
    }
    b.control.code_addr = 511 | 1 << 16;
    b.control.code_range = 511 | 2 << 16;
    b.pixels.temporary[1][3] = [0.0; 4];
    let notes = Program::new(&b.code, &b.control).notes();
    assert_eq!(notes, [Note::Wraps].into_iter().collect());
    assert_eq!(b.run().steps, 3);
    assert_eq!(b.pixels.temporary[1][3], [2.0; 4]);
}

/// Whatever is wrong is told, and ends.
#[test]
fn odd_programs() {
    let note = |n: Note| -> Notes { [n].into_iter().collect() };
    // Without end: a jump to itself, which all pixels take.
    let mut b = PixelShaderTest::new(&[[0x402, 0, 0xff00, 0, 0, 0], LAST]);
    assert_eq!(
        b.run(),
        Run {
            steps: STEPS,
            notes: note(Note::TimeOut)
        }
    );
    let mut b = PixelShaderTest::new(&[[0x402, 0, 0xff00, 9 << 16, 0, 0], LAST]);
    assert_eq!(
        b.run(),
        Run {
            steps: 1,
            notes: note(Note::Range)
        }
    );
    let mut b = PixelShaderTest::new(&[end_loop(0), LAST]);
    assert_eq!(b.run().notes, note(Note::Unpaired));
    let mut b = PixelShaderTest::new(&[begin_loop(2), LAST, COUNT]);
    assert!(b.run().notes.has(Note::LoopCount));
    let program = |words: [u32; 6]| {
        let b = PixelShaderTest::new(&[words]);
        Program::new(&b.code, &b.control).notes()
    };
    assert_eq!(program(LAST), Notes::NONE);
    assert_eq!(program(COUNT), note(Note::LastNotOut));
    assert_eq!(program([5, 0, 0, 0, 0, 6]), note(Note::Opcode));
    // §9.2: OMOD 7 is legal for MIN, MAX, CMP and CND alone. What it would be done to: a temporary, an output, the
    // depth, what is compared.
    const OMOD: u32 = 7 << 26;
    for words in [
        [5 | 1 << 11, 0, 0, OMOD, 0, 0],
        [5 | 1 << 17, 0, 0, OMOD, 0, 0],
        [5, 0, 0, OMOD | 1 << 31, 0, 0],
        [5 | 1 << 14, 0, 0, 0, OMOD, 0],
        [5 | 1 << 18, 0, 0, 0, OMOD, 0],
        [5, 0, 0, 0, OMOD | 1 << 31, 0],
        [5 | 1 << 21, 0, 0, 1 << 31, OMOD, 0],
    ] {
        assert_eq!(program(words), note(Note::Bypass), "{words:x?}");
    }
    // The other half's is not; nor is what r300 sends, MAX of alpha alone.
    for words in [
        [5 | 1 << 14, 0, 0, OMOD, 0, 0],
        [5 | 1 << 11, 0, 0, 0, OMOD, 0],
        [0x4005, 0x0802_0000, 0x0802_0080, OMOD, 0x1c80_0003, 0],
    ] {
        assert_eq!(program(words), Notes::NONE, "{words:x?}");
    }
}

mod random {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// No program panics, and all end.
        #[test]
        fn programs_end(code in prop::collection::vec(any::<u32>(), 6 * 40),
                        types in prop::collection::vec(0u32..4, 40),
                        control in any::<[u32; 4]>(),
                        integers in any::<[u32; 32]>(),
                        covered in 1u8..16) {
            let mut b = PixelShaderTest::new(&[LAST; 40]);
            b.code = code;
            for (n, kind) in types.into_iter().enumerate() {
                b.code[6 * n] = b.code[6 * n] & !3 | kind;
            }
            if control[3] & 1 == 0 {
                b.control.code_addr = control[0];
                b.control.code_range = control[1];
                b.control.code_offset = control[2];
            }
            b.control.integers = integers;
            let program = Program::new(&b.code, &b.control);
            let run = program.run(&mut b.pixels, &b.constants, covered, &mut b.echo, 4096);
            prop_assert!(run.steps <= 4096);
            b.pixels.clear(&program);
            prop_assert!(b.pixels.temporary.iter().all(|t| *t == [[0.0; 4]; 4]
                || t.iter().all(|l| l.iter().all(|v| *v == KEPT || v.abs() <= 3.0))));
        }
    }
}

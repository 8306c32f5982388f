// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Jumps, loops and subroutines of vertex programs (R5xx guide §6.5.5; digest of 3D, §3.4, §15.1).

use crate::r5xx_pvs_rig::*;
use gpu_model::r5xx::pvs::{Note, Notes};

const JUMP: u32 = 1;
const LOOP: u32 = 2;
const JSR: u32 = 3;

/// So many instructions, of which each adds 1 to a temporary of its own.
fn counting(n: u32, last: u32) -> VertexShaderTest {
    let add = |n| [dst(3, n), src(TEMP, n), swizzled(TEMP, n, [5; 4]), 0];
    let mut b = VertexShaderTest::new(&(0..n).map(add).collect::<Vec<_>>());
    b.control.code = (last << 20).into();
    b
}

/// Returns how often each instruction has run.
fn counts(b: &VertexShaderTest) -> Vec<u32> {
    let n = b.code.len();
    b.vertex.temporary[..n]
        .iter()
        .map(|t| t[0] as u32)
        .collect()
}

fn lw(act: u32, other: u32) -> u32 {
    act | other << 16
}

fn uw(last: u32, back: u32) -> u32 {
    last | back << 16
}

fn only(note: Note) -> Notes {
    [note].into_iter().collect()
}

/// The printed loop: 0 to 2, then 255 times 3 to 7, then 8 and 9 are 1280 instructions.
#[test]
fn the_digests_loop() {
    let mut b = counting(10, 9);
    entry(&mut b.control.flow, 0, LOOP, 0x00ff_0002, 0x0003_0007);
    b.control.flow.loop_index[0] = 0x0000_0100.into();
    assert_eq!(b.clean().steps, 1280);
    assert_eq!(counts(&b), [1, 1, 1, 255, 255, 255, 255, 255, 1, 1]);
}

/// The printed jump: entry 1, behind 4 to 9.
#[test]
fn the_digests_jump() {
    let mut b = counting(10, 9);
    entry(&mut b.control.flow, 1, JUMP, 0x0009_0004, 0);
    assert_eq!(b.clean().steps, 6);
    assert_eq!(counts(&b), [1, 1, 1, 1, 1, 0, 0, 0, 0, 1]);
}

/// The printed subroutine: entry 2, behind 5 to 20 to 24, and back to 6.
#[test]
fn the_digests_subroutine() {
    let mut b = counting(25, 9);
    entry(&mut b.control.flow, 2, JSR, 0x0014_0005, 0x0006_0018);
    assert_eq!(b.clean().steps, 15);
    let want: Vec<u32> = (0..25).map(|n| u32::from(!(10..20).contains(&n))).collect();
    assert_eq!(counts(&b), want);
}

/// An entry whose two bits are 0 does nothing: that is how a condition is false.
#[test]
fn entries_that_are_off() {
    let mut b = counting(10, 9);
    for n in 0..16 {
        entry(&mut b.control.flow, n, 0, lw(4, 9), uw(7, 2));
    }
    assert_eq!(b.clean().steps, 10);
}

/// All sixteen entries work: each jumps over an instruction.
#[test]
fn sixteen_entries() {
    let mut b = counting(32, 31);
    for n in 0..16 {
        let at = 2 * n as u32;
        entry(&mut b.control.flow, n, JUMP, lw(at, (at + 2).min(31)), 0);
    }
    // The last one leads from 30 to 31.
    assert_eq!(b.clean().steps, 17);
}

/// "The hardware is capable of backward jumps": one that never ends is stopped.
#[test]
fn endless_programs_are_stopped() {
    let mut b = counting(4, 3);
    b.limit = 1000;
    entry(&mut b.control.flow, 0, JUMP, lw(2, 1), 0);
    let run = b.run();
    assert_eq!(
        (run.steps, run.notes, run.ended()),
        (1000, only(Note::TimeOut), false)
    );
    // Four loops in each other of 255 rounds each end, but not in this time.
    let mut b = counting(6, 5);
    b.limit = 100_000;
    for n in 0..4 {
        entry(
            &mut b.control.flow,
            n as usize,
            LOOP,
            lw(n, 255),
            uw(4, n + 1),
        );
    }
    let run = b.run();
    assert_eq!((run.steps, run.ended()), (100_000, false));
    // A jump behind itself whose instruction is the last one.
    let mut b = counting(1, 0);
    b.limit = 10;
    entry(&mut b.control.flow, 0, JUMP, lw(0, 0), 0);
    assert!(!b.run().ended());
}

/// Constant n is 2 to the n for n below 16: which of them were added shows in the sum.
fn indexed(code: &[[u32; 4]]) -> VertexShaderTest {
    let mut b = VertexShaderTest::new(code);
    for n in 0..16 {
        b.constants[n] = [2f32.powi(n as i32); 4];
    }
    b.constants[255] = [0.5; 4];
    b
}

/// Temporary `at` += constant I0.
fn add_indexed(at: u32) -> [u32; 4] {
    [dst(3, at), src(TEMP, at), by_loop(src(CONST, 0)), 0]
}

/// i = INIT + n * STEP (§6.5.5, "iloop"), clamped to -256 to 255; the loop runs its count "regardless".
#[test]
fn the_loops_index() {
    let nop = [0; 4];
    for (init, step, count, want) in [
        (2, 3, 4, 4.0 + 32.0 + 256.0 + 2048.0),
        (5, 0, 3, 96.0),
        // Step -2, as a signed byte; below 0 there is no constant.
        (3, 0xfe, 4, 8.0 + 2.0),
        // 15, 142, 255, 255, 255: 127 each.
        (15, 127, 5, 32768.0 + 1.5),
        (255, 1, 3, 1.5),
    ] {
        let mut b = indexed(&[nop, add_indexed(0), nop]);
        entry(&mut b.control.flow, 0, LOOP, lw(0, count), uw(1, 1));
        b.control.flow.loop_index[0] = (init | step << 8).into();
        assert_eq!(b.clean().steps, 2 + u64::from(count));
        assert_eq!(b.temp(0), [want; 4], "{init} {step} {count}");
    }
    // Down to -256 and no further: 250 + 256 = 506 rounds away, so by 128 each, 2 and then 3 of 5 at -256.
    let mut b = indexed(&[
        nop,
        [dst(3, 0), src(TEMP, 0), by_loop(src(CONST, 255)), 0],
        nop,
    ]);
    b.control.constants = (255 << 16).into();
    entry(&mut b.control.flow, 0, LOOP, lw(0, 5), uw(1, 1));
    b.control.flow.loop_index[0] = 0x8000.into();
    b.constants[127] = [64.0; 4];
    // 255 + 0, 255 - 128, 255 - 256 and on: -1 is no constant.
    b.clean();
    assert_eq!(b.temp(0), [64.5; 4]);
}

/// Only the innermost index is seen; the outer one is back behind the inner loop.
#[test]
fn nested_loops_have_their_own_index() {
    let nop = [0; 4];
    // 0; outer 1..=4: 1 adds to t0, 2; inner 3: adds to t1; 4 adds to t2.
    let code = [
        nop,
        add_indexed(0),
        nop,
        add_indexed(1),
        add_indexed(2),
        nop,
    ];
    let mut b = indexed(&code);
    entry(&mut b.control.flow, 0, LOOP, lw(0, 2), uw(4, 1));
    entry(&mut b.control.flow, 1, LOOP, lw(2, 3), uw(3, 3));
    b.control.flow.loop_index[0] = (1 | 4 << 8).into();
    b.control.flow.loop_index[1] = (8 | 1 << 8).into();
    assert_eq!(b.clean().steps, 1 + 2 * (2 + 3 + 1) + 1);
    assert_eq!(b.temp(0), [2.0 + 32.0; 4]);
    assert_eq!(b.temp(1), [2.0 * (256.0 + 512.0 + 1024.0); 4]);
    assert_eq!(b.temp(2), [2.0 + 32.0; 4]);
}

/// "The inner-most fixed-point loop index is visible within all nested subroutines."
#[test]
fn subroutines_see_the_index() {
    let nop = [0; 4];
    // 0; loop 1..=2, behind 1 to the subroutine 4..=5, back to 2; 3 is the last.
    let mut b = indexed(&[nop, nop, add_indexed(1), nop, add_indexed(0), nop]);
    b.control.code = (3 << 20).into();
    entry(&mut b.control.flow, 0, LOOP, lw(0, 2), uw(2, 1));
    entry(&mut b.control.flow, 1, JSR, lw(1, 4), uw(5, 2));
    b.control.flow.loop_index[0] = (2 | 1 << 8).into();
    assert_eq!(b.clean().steps, 1 + 2 * 4 + 1);
    assert_eq!((b.temp(0), b.temp(1)), ([12.0; 4], [12.0; 4]));
}

/// A loop repeat (bit 31) begins with the index of the loop around it and steps it; "the original
/// fixed-point loop index is popped" behind it.
#[test]
fn loop_repeats_inherit_the_index() {
    let nop = [0; 4];
    let code = [nop, add_indexed(0), add_indexed(1), add_indexed(2), nop];
    for (step, inner) in [(0, 2.0 * (8.0 + 16.0)), (3, 8.0 + 64.0 + 16.0 + 128.0)] {
        let mut b = indexed(&code);
        entry(&mut b.control.flow, 0, LOOP, lw(0, 2), uw(3, 1));
        entry(&mut b.control.flow, 1, LOOP, lw(1, 2), uw(2, 2));
        b.control.flow.loop_index[0] = (3 | 1 << 8).into();
        // Its own INIT of 9 does not count.
        b.control.flow.loop_index[1] = (9 | step << 8 | 1 << 31).into();
        assert_eq!(b.clean().steps, 1 + 2 * (1 + 2 + 1) + 1);
        assert_eq!(b.temp(0), [24.0; 4]);
        assert_eq!(b.temp(1), [inner; 4], "{step}");
        assert_eq!(b.temp(2), [24.0; 4]);
    }
}

/// Loops that end together end from the inside out; those that begin together do so by their numbers.
#[test]
fn loops_that_share_an_end() {
    let mut b = counting(5, 4);
    entry(&mut b.control.flow, 0, LOOP, lw(0, 3), uw(3, 1));
    entry(&mut b.control.flow, 1, LOOP, lw(1, 4), uw(3, 2));
    assert_eq!(b.clean().steps, 1 + 3 * (1 + 4 * 2) + 1);
    assert_eq!(counts(&b), [1, 3, 12, 12, 1]);
    let mut b = counting(3, 2);
    entry(&mut b.control.flow, 0, LOOP, lw(0, 3), uw(1, 1));
    entry(&mut b.control.flow, 1, LOOP, lw(0, 4), uw(1, 1));
    // The inner one is not begun again: its activation is outside of the outer one.
    assert_eq!(b.clean().steps, 1 + 4 + 2 + 1);
}

/// Eight in each other, in any mixture; the ninth is not entered.
#[test]
fn eight_may_nest() {
    // Subroutine n is instruction n, and calls n + 1 behind it.
    for depth in [4, 8, 9, 12] {
        let mut b = counting(16, 1);
        for n in 0..depth {
            let at = if n == 0 { 0 } else { n + 1 };
            // It returns to behind itself: to its last instruction, which all but the first have at 15.
            entry(
                &mut b.control.flow,
                n as usize,
                JSR,
                lw(at, n + 2),
                uw(15, if n == 0 { 1 } else { 15 }),
            );
        }
        let run = b.run();
        assert_eq!(run.notes.has(Note::Nesting), depth > 8, "{depth}");
    }
    // Four loops and four subroutines: of each block of three the second and third are a loop of two rounds, in
    // which the next block is called behind the second. 3 for the last block, then 1 + 2 * (1 + 3 + 1), and so on.
    for (ninth, want) in [(false, Notes::NONE), (true, only(Note::Nesting))] {
        let mut b = counting(15, 2);
        let flow = &mut b.control.flow;
        for n in 0..4 {
            let (at, i) = (3 * n, 2 * n as usize);
            entry(flow, i, LOOP, lw(at, 2), uw(at + 2, at + 1));
            entry(flow, i + 1, JSR, lw(at + 1, at + 3), uw(at + 5, at + 2));
        }
        if ninth {
            entry(flow, 8, LOOP, lw(12, 2), uw(14, 13));
        }
        let run = b.run();
        assert_eq!((run.steps, run.notes), (123, want));
    }
}

/// "When a loop count is set to 0, the driver must change the loop instruction to a jump": it is done as one.
#[test]
fn loops_of_no_rounds() {
    let mut b = counting(6, 5);
    entry(&mut b.control.flow, 0, LOOP, lw(1, 0), uw(3, 2));
    let run = b.run();
    assert_eq!((run.steps, run.notes), (4, only(Note::LoopCount)));
    assert_eq!(counts(&b), [1, 1, 0, 0, 1, 1]);
    // In a loop that ends together with it.
    let mut b = counting(6, 5);
    entry(&mut b.control.flow, 0, LOOP, lw(0, 3), uw(3, 1));
    entry(&mut b.control.flow, 1, LOOP, lw(1, 0), uw(3, 2));
    assert_eq!(b.run().steps, 1 + 3 + 2);
    // Two that lead to each other.
    let mut b = counting(6, 5);
    entry(&mut b.control.flow, 0, LOOP, lw(1, 0), uw(3, 2));
    entry(&mut b.control.flow, 1, LOOP, lw(3, 0), uw(1, 2));
    assert!(b.run().ended());
    // At the end of the program, which it is then.
    let mut b = counting(6, 5);
    entry(&mut b.control.flow, 0, LOOP, lw(1, 0), uw(5, 2));
    assert_eq!(b.run().steps, 2);
}

/// Counts have eight bits and addresses ten; the low ones count.
#[test]
fn fields_that_are_too_large() {
    let mut b = counting(3, 2);
    entry(&mut b.control.flow, 0, LOOP, lw(0, 0x103), uw(1, 1));
    let run = b.run();
    assert_eq!((run.steps, run.notes), (5, only(Note::LoopCountWide)));
    let mut b = counting(3, 2);
    entry(&mut b.control.flow, 0, JUMP, lw(0, 0x402), 0);
    let run = b.run();
    assert_eq!((run.steps, run.notes), (2, only(Note::FlowAddress)));
    // Nothing is said of what is not used.
    let mut b = counting(3, 2);
    entry(&mut b.control.flow, 0, JUMP, lw(9, 0x402), 0);
    b.clean();
}

/// The code store "can operate as a ring": 1022, 1023, 0, 1.
#[test]
fn the_code_store_is_a_ring() {
    let mut b = VertexShaderTest::new(&vec![mov(5, src(INPUT, 0)); 1024]);
    for (n, at) in [1022, 1023, 0, 1].into_iter().enumerate() {
        b.code[at] = mov(n as u32, src(INPUT, 0));
    }
    b.vertex.input[0] = [3.0; 4];
    b.control.code = (1022 | 1 << 20).into();
    assert_eq!(b.clean().steps, 4);
    assert_eq!(
        b.vertex.temporary[..6],
        [[3.0; 4], [3.0; 4], [3.0; 4], [3.0; 4], [0.0; 4], [0.0; 4]]
    );
}

/// A jump out of a loop to the end: "the jump target label is also within the same loop block" it is not.
#[test]
fn programs_that_end_inside_of_a_loop() {
    let mut b = counting(5, 4);
    entry(&mut b.control.flow, 0, LOOP, lw(0, 3), uw(3, 1));
    entry(&mut b.control.flow, 1, JUMP, lw(1, 4), 0);
    let run = b.run();
    assert_eq!((run.steps, run.notes), (3, only(Note::Unfinished)));
}

/// The index outside of any loop is 0.
#[test]
fn the_index_without_a_loop() {
    let mut b = indexed(&[add_indexed(0)]);
    assert_eq!(b.run().notes, only(Note::NoLoop));
    assert_eq!(b.temp(0), [1.0; 4]);
}

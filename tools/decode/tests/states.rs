// SPDX-License-Identifier: GPL-2.0
//! Error states in words: whole texts and what is printed of them, letter by letter.

use ouro_decode::report;
use ouro_decode::state::{ErrorState, NotAState};

/// A batch that starts itself for ever; the engine stands at its third command.
const LOOP: &str = include_str!("loop.txt");

fn printed(text: &str) -> String {
    let state = ErrorState::read(text.as_bytes()).expect("an error state");
    let mut out = Vec::new();
    report::print(&state, &mut out).expect("memory takes everything");
    String::from_utf8(out).expect("text")
}

#[test]
fn an_endless_loop() {
    assert_eq!(printed(LOOP), include_str!("loop.out"));
}

/// An R5xx that stands at a draw: the ring says how long its batch is.
#[test]
fn a_card_that_draws_for_ever() {
    let state = include_str!("card.txt");
    assert_eq!(printed(state), include_str!("card.out"));
}

/// A DG2: the ring is the context's, addresses have two dwords, and the batch starts itself.
#[test]
fn a_context_that_keeps_its_engine() {
    let state = include_str!("turns.txt");
    assert_eq!(printed(state), include_str!("turns.out"));
}

#[test]
fn the_parts_of_a_text() {
    let state = ErrorState::read(LOOP.as_bytes()).expect("an error state");
    assert!(state.complete);
    assert_eq!(state.value("device"), Some("8086:0116 revision 9"));
    assert_eq!(state.value("left out"), Some("1"));
    assert_eq!(state.value("nothing"), None);
    assert_eq!(state.engine_number("rcs0", "head"), Some(0x28));
    assert_eq!(state.engine_number("rcs0", "at"), Some(0x10038));
    assert_eq!(state.engine_number("vcs0", "head"), None);
    assert_eq!(state.registers.len(), 9);
    let kinds: Vec<_> = state
        .pieces
        .iter()
        .map(|p| (p.kind.as_str(), p.address, p.dwords.len()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("user", 0x12000, 3),
            ("batch", 0x10000, 32),
            ("ring", 0xfe_0000, 23)
        ]
    );
    assert_eq!(state.pieces[1].dwords[4], 0x7a00_0003);
    assert_eq!(state.pieces[1].index(0x1_0013), Some(4));
    assert_eq!(state.pieces[1].index(0x1_0080), None);
    assert_eq!(state.pieces[1].index(0xffff), None);
}

#[test]
fn what_is_no_error_state() {
    for (text, why) in [
        ("No error state collected\n", NotAState::Empty),
        ("", NotAState::Unknown),
        ("\nouro error state 1\n", NotAState::Unknown),
        ("ouro error state one\n", NotAState::Unknown),
        ("ouro error state 2\ndevice: x\n", NotAState::Version(2)),
    ] {
        assert_eq!(ErrorState::read(text.as_bytes()), Err(why), "{text:?}");
    }
}

/// The lines that were printed from the one that begins with `from` to the next empty one.
fn section<'a>(all: &'a str, from: &str) -> Vec<&'a str> {
    let lines = all.lines().skip_while(|l| !l.starts_with(from));
    lines.take_while(|l| !l.is_empty()).collect()
}

#[test]
fn an_engine_that_stands_in_its_ring() {
    // A ring: MI_USER_INTERRUPT, a command that is none, and the tail behind it.
    let text = "ouro error state 1\ngeneration: gen6\nengine: bcs0\nbatch: none\n\
        bcs0: busy, head 0x4, tail 0x8, at 0x4, fetching 0x30004\n\
        bcs0 --- ring = 0x00000000 00030000\n~!<<*\"&HDe3z\n--- end of error state\n";
    assert_eq!(
        section(&printed(text), "ring"),
        [
            "ring of bcs0 at 0x00030000",
            "  0x00030000  01000000  MI_USER_INTERRUPT",
            "> 0x00030004  11000001  MI_LOAD_REGISTER_IMM <- here <- head",
            ">                         cut off: 2 dwords are missing",
            "  0x00030008  00000000  MI_NOOP <- tail",
        ]
    );
}

#[test]
fn an_engine_where_no_batch_led_it() {
    // The batch ends at once; the engine stands in another object.
    let text = "ouro error state 1\ngeneration: gen6\nengine: rcs0\nbatch: 0x10000\n\
        rcs0: busy, head 0x4, tail 0x8, at 0x12004, fetching 0x12004\n\
        rcs0 --- user = 0x00000000 00012000\n~zzz\n\
        rcs0 --- batch = 0x00000000 00010000\n~\"TSN&z\n--- end of error state\n";
    let all = printed(text);
    assert_eq!(
        section(&all, "batch at"),
        [
            "batch at 0x00010000",
            "  0x00010000  05000000  MI_BATCH_BUFFER_END"
        ]
    );
    assert_eq!(
        section(&all, "the engine stood"),
        [
            "the engine stood at 0x00012004, where no batch led it",
            "> 0x00012004  00000000  MI_NOOP <- here",
            "  0x00012008  00000000  MI_NOOP",
        ]
    );
}

/// A context image has an address of the GGTT: a batch at the same one is another memory.
#[test]
fn a_context_image_is_no_batch() {
    let text = "ouro error state 1\ngeneration: gen12\nengine: rcs0\nbatch: 0x10000\n\
        rcs0: busy, head 0x4, tail 0x8, at 0x10004, fetching 0x10004\n\
        rcs0 --- HW context = 0x00000000 00010000\n~zzz\n--- end of error state\n";
    let all = printed(text);
    assert!(!all.contains("MI_NOOP"), "{all}");
    // The same memory of user space is printed.
    let user = printed(&text.replace("HW context", "user"));
    assert!(user.contains("MI_NOOP"), "{user}");
}

#[test]
fn a_text_that_is_cut_or_damaged() {
    let cut = LOOP.split_at(LOOP.len() - 40).0;
    assert!(printed(cut).contains("the text is cut off: its last line is missing\n"));
    let damaged = LOOP.replace("~zzz\n", "~zz~z\n");
    let all = printed(&damaged);
    assert!(all.contains("rcs0 user at 0x12000: damaged in the text\n"));
    assert!(all.contains("  0x00012000, 8 bytes, user\n"));
    // A batch without a copy, a generation without tables.
    let gone = LOOP
        .replace("--- batch =", "--- ghost =")
        .replace("0 00010000", "0 00090000");
    assert!(printed(&gone).contains("batch at 0x00010010: no copy of it\n"));
    let foreign = LOOP.replace("generation: gen6", "generation: gen99");
    assert!(printed(&foreign).contains("the commands of gen99 are not known here\n"));
}

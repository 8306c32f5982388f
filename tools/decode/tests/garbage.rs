// SPDX-License-Identifier: GPL-2.0
//! Whatever a GPU wrote over a batch, a ring or the text of an error state: it is printed, all of it,
//! without a panic and without end.

use ouro_decode::command::Engine;
use ouro_decode::posts::print::Options;
use ouro_decode::posts::{self, Post};
use ouro_decode::print::{Marks, Printer};
use ouro_decode::report;
use ouro_decode::state::ErrorState;
use ouro_decode::stream::Walk;
use ouro_decode::GENERATIONS;
use proptest::prelude::*;

mod samples;

const LOOP: &[u8] = include_bytes!("loop.txt");

/// Prints a text if it can be read; the size of what was printed.
fn print(text: &[u8]) -> usize {
    let mut out = Vec::new();
    if let Ok(state) = ErrorState::read(text) {
        report::print(&state, &mut out).expect("memory takes everything");
    }
    out.len()
}

/// Prints what was posted, if it can be read, in both ways; the size of what was printed.
fn post(text: &[u8]) -> usize {
    let mut out = Vec::new();
    if let Ok(post) = Post::read(text) {
        for whole in [false, true] {
            posts::print::print(&post, Options { whole }, &mut out)
                .expect("memory takes everything");
        }
    }
    out.len()
}

/// One of the texts that are posted.
fn posted() -> impl Strategy<Value = Vec<u8>> {
    let all = samples::all().into_iter().map(String::into_bytes);
    proptest::sample::select(all.collect::<Vec<_>>())
}

fn engine() -> impl Strategy<Value = Engine> {
    proptest::sample::select(&Engine::ALL[..])
}

/// Dwords that are often headers, small addresses or zero.
fn dwords() -> impl Strategy<Value = Vec<u32>> {
    let one = prop_oneof![
        4 => (0..0x40u32, 0..8u32, any::<u32>()).prop_map(|(op, n, f)| op << 23 | n | f & 0x7f_ff00),
        2 => (0..0x80u32, 0..12u32).prop_map(|(op, n)| 2 << 29 | op << 22 | n),
        2 => any::<u16>().prop_map(|v| 0x7800_0000 | u32::from(v)),
        2 => (0..0x200u32).prop_map(|a| a * 4),
        2 => Just(0),
        2 => any::<u32>(),
        1 => Just(0x1880_0100),
        1 => Just(0x18c0_0101),
    ];
    proptest::collection::vec(one, 0..400)
}

/// Text as an error state has it.
fn digits(dwords: &[u32]) -> String {
    let mut out = String::from("~");
    for d in dwords {
        if *d == 0 {
            out.push('z');
            continue;
        }
        for power in [85u32.pow(4), 85 * 85 * 85, 85 * 85, 85, 1] {
            out.push(char::from(0x21 + (d / power % 85) as u8));
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        print(&bytes);
        post(&bytes);
        let mut text = b"ouro error state 1\n".to_vec();
        text.extend(bytes);
        print(&text);
    }

    #[test]
    fn a_good_text_with_bytes_changed(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        end in any::<prop::sample::Index>(),
    ) {
        let mut text = LOOP.to_vec();
        for (at, byte) in &changes {
            let n = at.index(text.len());
            text[n] = *byte;
        }
        print(&text);
        print(&text[..end.index(text.len())]);
    }

    #[test]
    fn a_posted_text_with_bytes_changed(
        text in posted(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        (from, to) in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let mut text = text;
        for (at, byte) in &changes {
            let n = at.index(text.len());
            text[n] = *byte;
        }
        post(&text);
        // A part of it, from the start and from anywhere.
        let (from, to) = (from.index(text.len()), to.index(text.len()));
        post(&text[..to]);
        post(&text[from.min(to)..to]);
    }

    #[test]
    fn a_posted_text_with_lines_moved(
        text in posted(),
        moves in proptest::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 1..12),
    ) {
        let mut lines: Vec<&[u8]> = text.split(|b| *b == b'\n').collect();
        for (a, b) in moves {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        post(&lines.join(&b'\n'));
    }

    #[test]
    fn a_posted_text_with_any_commands(
        batch in dwords(), user in dwords(), ring in dwords(), acthd in 0..0x900u64, head in 0..0x400u32,
        tail in 0..0x400u32, id in proptest::sample::select(vec![0x29a2, 0x2a42, 0x0046, 0x0126, 0x0166, 0x0a16, 0x1916,
            0x8a52, 0x9a49, 0x56a0]),
    ) {
        let text = format!(
            "PCI ID: {id:#06x}\nrcs0 command stream:\n  START: 0x00100000\n  HEAD: {head:#x}\n  TAIL: {tail:#x}\n  \
             ACTHD: {acthd:#x}\n  IPEHR: 0x7a000003\n\
             rcs0 --- batch = 0x00000000 00000000\n{}\nrcs0 --- user = 0x00000000 00000400\n{}\n\
             rcs0 --- ring = 0x00000000 00100000\n{}\n",
            digits(&batch), digits(&user), digits(&ring),
        );
        let dwords = batch.len() + user.len() + ring.len();
        prop_assert!(post(text.as_bytes()) <= 2 * (4000 + 60 * 200 * dwords));
    }

    #[test]
    fn a_walk_has_every_dword_once(all in dwords(), engine in engine(), at in 0..500usize) {
        for generation in GENERATIONS {
            let mut next = at;
            for item in Walk::new(generation, engine, &all, at, usize::MAX) {
                prop_assert_eq!(item.at, next);
                prop_assert!(!item.dwords.is_empty() && item.dwords.len() <= item.length);
                next += item.dwords.len();
            }
            prop_assert_eq!(next, at.max(all.len()));
        }
    }

    #[test]
    fn any_commands_are_printed(all in dwords(), engine in engine(), base in any::<u64>(), at in any::<u64>()) {
        for generation in GENERATIONS {
            for follow in [false, true] {
                let mut out = Vec::new();
                let marks = Marks { offending: Some(at), labels: vec![(base, "first")] };
                let mut printer = Printer { generation, out: &mut out, marks };
                let walk = Walk::new(generation, engine, &all, 0, usize::MAX);
                printer.stream(walk, base, follow, |_| true).expect("memory takes everything");
                let text = String::from_utf8(out).expect("text");
                prop_assert!(text.lines().count() <= 3 * all.len());
            }
        }
    }

    #[test]
    fn batches_that_lead_anywhere(
        batch in dwords(), user in dwords(), ring in dwords(),
        engine in prop_oneof![Just("rcs0"), Just("vcs0"), Just("bcs0"), Just("ccs0"), Just("none")],
        generation in (0..GENERATIONS.len()).prop_map(|n| GENERATIONS[n].name),
        start in 0..0x900u64, at in 0..0x900u64, head in any::<u32>(), tail in 0..0x800u32,
    ) {
        let text = format!(
            "ouro error state 1\ngeneration: {generation}\nengine: {engine}\nbatch: {start:#x}\n\
             {engine}: busy, head {head:#x}, tail {tail:#x}, at {at:#x}, fetching 0x0\n\
             {engine} --- user = 0x00000000 00000400\n{}\n\
             {engine} --- batch = 0x00000000 00000000\n{}\n\
             {engine} --- ring = 0x00000000 00100000\n{}\n--- end of error state\n",
            digits(&user), digits(&batch), digits(&ring),
        );
        let dwords = batch.len() + user.len() + ring.len();
        // Each dword is printed a few times at most, however the batches lead into each other.
        prop_assert!(print(text.as_bytes()) <= 2000 + 40 * 200 * dwords);
    }
}

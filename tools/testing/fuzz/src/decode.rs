// SPDX-License-Identifier: GPL-2.0
//! The decoder: the text of an error state, and streams of any dwords.

use crate::source::Source;
use ouro_core::ascii85;
use ouro_decode::command::Engine;
use ouro_decode::digits;
use ouro_decode::print::{Marks, Printer};
use ouro_decode::report;
use ouro_decode::state::ErrorState;
use ouro_decode::stream::Walk;
use ouro_decode::GENERATIONS;

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    let engine = Engine::ALL[s.below(Engine::ALL.len() as u64) as usize];
    if s.flag() {
        let generation = GENERATIONS[s.below(GENERATIONS.len() as u64) as usize].name;
        state(generation, s.rest());
        return;
    }
    let marks = Marks {
        offending: Some(s.odd()),
        labels: vec![(s.odd(), "label")],
    };
    let (base, follow) = (s.odd(), s.flag());
    let dwords: Vec<u32> = s
        .rest()
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect();
    // What the driver writes is what the decoder reads.
    let mut text = Vec::new();
    for dword in &dwords {
        let mut digits = [0; ascii85::MAX];
        let len = ascii85::encode(*dword, &mut digits);
        text.extend_from_slice(&digits[..len]);
    }
    assert_eq!(digits::dwords(&text), (dwords.clone(), false));
    for generation in GENERATIONS {
        let walk = Walk::new(generation, engine, &dwords, 0, usize::MAX);
        let seen: usize = walk.clone().map(|item| item.dwords.len()).sum();
        assert_eq!(seen, dwords.len());
        let mut out = Vec::new();
        let mut printer = Printer {
            generation,
            out: &mut out,
            marks: marks.clone(),
        };
        let printed = printer.stream(walk, base, follow, |_| true);
        printed.expect("memory takes everything");
    }
}

fn state(generation: &str, bytes: &[u8]) {
    let head = format!("generation: {generation}\nengine: rcs0\nbatch: 0x1000\n");
    let mut text = [b"ouro error state 1\n", head.as_bytes()].concat();
    text.extend_from_slice(bytes);
    let mut out = Vec::new();
    let state = ErrorState::read(&text).expect("the first line is right");
    report::print(&state, &mut out).expect("memory takes everything");
    let _ = ErrorState::read(bytes);
}

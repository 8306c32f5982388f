// SPDX-License-Identifier: GPL-2.0
//! What the grammar of streams is worth: most of its streams pass, and nothing that can pass is left out.

use ouro_fuzz::streams::StreamMachine;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

/// Commands that pass (digest §2.2): NOP; draws of a list, embedded and indexed; arrays; indices; the draws
/// without a format; copies and fills of rectangles.
const COMMANDS: [u32; 12] = [
    0x10, 0x28, 0x29, 0x2a, 0x2f, 0x33, 0x34, 0x35, 0x36, 0x92, 0x9a, 0x9b,
];
const STREAMS: usize = 1000;

#[test]
fn most_streams_pass_and_every_command_does() {
    let mut m = StreamMachine::default();
    // The same ones each time.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let bytes = proptest::collection::vec(any::<u8>(), 400..3000);
    for _ in 0..STREAMS {
        let tree = bytes.new_tree(&mut runner).expect("bytes");
        m.attempt(&tree.current());
    }
    let tally = &m.tally;
    println!(
        "{} of {} streams passed; rules: {:?}; {} registers; commands: {:x?}; bytes: {:?}",
        tally.passed,
        tally.streams,
        tally.rules,
        tally.registers.len(),
        tally.commands,
        tally.bytes,
    );
    assert!(tally.passed * 2 >= tally.streams);
    for opcode in COMMANDS {
        assert!(tally.commands.contains_key(&opcode), "{opcode:x}");
    }
    assert_eq!(tally.commands.len(), COMMANDS.len(), "no others");
    assert!(tally.registers.len() > 400, "and most registers");
}

// SPDX-License-Identifier: GPL-2.0
//! Streams that a client has sent, written down: `tools/testing/mesa/streams`, in the format of
//! `tools/testing/mesa/record.c`.

use std::path::Path;
use std::process::Command;

/// A stream of a client of an R5xx, which says itself how its objects are tiled.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Bytes of its objects, one for each relocation.
    pub objects: Vec<u32>,
    /// What it sent.
    pub dwords: Vec<u32>,
}

/// Those of Mesa's r300, on RV515.
pub fn r300() -> Vec<Recorded> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mesa/streams/r300.gz");
    let out = Command::new("gzip").arg("-dc").arg(&file).output();
    let out = out.expect("gzip is there");
    assert!(out.status.success(), "{file:?}");
    parse(&String::from_utf8(out.stdout).expect("text"))
}

fn parse(text: &str) -> Vec<Recorded> {
    let number = |word: &str| u32::from_str_radix(word, 16).expect("a number");
    let mut all = Vec::new();
    let mut next = Recorded::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("object") => next.objects.push(number(words.next().expect("a size"))),
            Some("dwords") => {
                next.dwords.extend(words.map(number));
                all.push(std::mem::take(&mut next));
            }
            Some("answer") => assert_eq!(words.next(), Some("0"), "the kernel took it"),
            _ => panic!("what is this: {line}"),
        }
    }
    all
}

// SPDX-License-Identifier: GPL-2.0
//! Streams are safe: on the model none stops an engine, and none breaks a rule that the model watches.

use ouro_compare::{build, run};
use ouro_streams::file::Left;

#[test]
fn streams_run_and_break_no_rule() {
    for name in [
        "snb", "ivb", "g45", "gm45", "g965", "gm965", "dg2", "rv515", "rv530", "r520", "r580",
    ] {
        for seed in [1, 2] {
            let (family, mut machine) = build(name, false).expect("a model");
            for outcome in run(family, seed, machine.as_mut()).expect("streams") {
                let what = format!("{name}, seed {seed}: {} {}", outcome.rule, outcome.case);
                let Left::Bytes { changed, .. } = &outcome.left else {
                    panic!("{what}: {:?}", outcome.left);
                };
                assert!(!changed.is_empty(), "{what} changes nothing");
                assert_eq!(machine.broken(), Vec::<String>::new(), "{what}");
            }
        }
    }
}

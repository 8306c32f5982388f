// SPDX-License-Identifier: GPL-2.0
//! Whatever stands in a trace: JSON that is whole, or an error, and what begins on a track ends there.

use ouro_decode::trace::{convert, Options};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

fn converted(text: &str) -> Option<Value> {
    let mut out = Vec::new();
    convert(text, Options::default(), &mut out).ok()?;
    Some(serde_json::from_slice(&out).expect("JSON, whole"))
}

/// A line's words: kind, engine, place, numbers, name.
fn line() -> impl Strategy<Value = String> {
    let engine = prop::sample::select(&["rcs", "bcs", "a\"b\\c\u{1}", ""][..]);
    let name = prop::sample::select(
        &[
            "MI_NOOP",
            "MI_SET_CONTEXT",
            "MI_USER_INTERRUPT",
            "XY\t\"BLT",
        ][..],
    );
    let parts = (0..8u8, engine, any::<bool>(), any::<u64>(), name);
    parts.prop_map(|(kind, engine, batch, number, name)| match kind {
        0 => format!("W {:06x} {:08x}", number >> 40, number as u32),
        1 => format!("S {engine} {number:016x}"),
        2 => "I".to_owned(),
        3 => format!("X {engine}"),
        4 => format!("P {engine} {number:016x}"),
        5 => format!("L {engine} {name}"),
        _ => {
            let place = if batch { "batch" } else { "ring" };
            format!("C {engine} {place} {number:x} {name} 0c000000 {number:08x}")
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "[0-9a-fRWCSIXPLUF .\n\u{0}-\u{ff}]{0,200}") {
        converted(&text);
    }

    #[test]
    fn any_events(lines in prop::collection::vec((0..50u32, line()), 0..60)) {
        let text: String = lines.iter().map(|(t, l)| format!("0.{t:09} {l}\n")).collect();
        let all = converted(&text).expect("a trace");
        let mut depth: BTreeMap<u64, i64> = BTreeMap::new();
        let mut last = 0.0;
        for e in all["traceEvents"].as_array().expect("a list") {
            let d = depth.entry(e["tid"].as_u64().unwrap_or(0)).or_default();
            match e["ph"].as_str() {
                Some("B") => *d += 1,
                Some("E") => *d -= 1,
                _ => {}
            }
            prop_assert!(*d >= 0, "{}", e);
            let at = e["ts"].as_f64().unwrap_or(last);
            prop_assert!(at >= last);
            last = at;
        }
        prop_assert!(depth.values().all(|d| *d == 0));
    }
}

// SPDX-License-Identifier: GPL-2.0

use super::*;

fn converted(text: &str) -> Vec<Value> {
    let mut out = Vec::new();
    convert(text, Options::default(), &mut out).expect("a trace");
    let all: Value = serde_json::from_slice(&out).expect("JSON, whole");
    all["traceEvents"].as_array().expect("a list").clone()
}

/// Begins, ends and moments as one line each: time, track's name, what.
fn story(events: &[Value]) -> Vec<String> {
    let name = |tid: &Value| {
        let named = events
            .iter()
            .find(|e| e["name"] == "thread_name" && e["tid"] == *tid);
        named.map_or("?", |e| e["args"]["name"].as_str().unwrap_or("?"))
    };
    let line = |e: &Value| {
        let what = match e["ph"].as_str()? {
            "B" => format!("+ {}", e["name"].as_str()?),
            "E" => "-".to_owned(),
            "i" => format!("! {}", e["name"].as_str()?),
            _ => return None,
        };
        Some(format!("{} {} {what}", e["ts"].as_f64()?, name(&e["tid"])))
    };
    events.iter().filter_map(line).collect()
}

/// What begins ends, and on no track ends more than began.
fn balanced(events: &[Value]) {
    let mut depth = std::collections::BTreeMap::new();
    for e in events {
        let d: &mut i64 = depth.entry(e["tid"].to_string()).or_default();
        match e["ph"].as_str() {
            Some("B") => *d += 1,
            Some("E") => *d -= 1,
            _ => {}
        }
        assert!(*d >= 0, "{e}");
    }
    assert!(depth.values().all(|d| *d == 0), "{depth:?}");
}

#[test]
fn a_request_of_a_ring() {
    let events = converted(
        "0.000001 W 002030 00000020\n\
         0.000002 C rcs ring 00000000 MI_SET_CONTEXT 0c000000 00123108\n\
         0.000003 C rcs ring 00000008 MI_BATCH_BUFFER_START 18800000 00010000\n\
         0.000004 C rcs batch 00010000 PIPE_CONTROL 7a000003 00101000 00000000 00000000 00000000\n\
         0.000005 C rcs batch 00010014 MI_BATCH_BUFFER_END 05000000\n\
         0.000006 C rcs ring 00000010 MI_USER_INTERRUPT 01000000\n\
         0.000007 I\n",
    );
    assert_eq!(
        story(&events),
        [
            "1 registers ! write 002030",
            "2 rcs + context 0x123000",
            "2 rcs + request 1",
            "2 rcs + MI_SET_CONTEXT",
            "3 rcs -",
            "3 rcs + MI_BATCH_BUFFER_START",
            "4 rcs -",
            "4 rcs + batch 0x10000",
            "4 rcs + PIPE_CONTROL",
            "5 rcs -",
            "5 rcs + MI_BATCH_BUFFER_END",
            "6 rcs -",
            "6 rcs -",
            "6 rcs + MI_USER_INTERRUPT",
            "6 rcs -",
            "6 rcs -",
            "7 interrupts ! interrupt",
            "7 rcs -",
        ]
    );
    balanced(&events);
}

/// Statuses as the digest prints them, §4.4: idle to 1; 2 takes the engine from 1, detail 5; 2 to idle.
#[test]
fn contexts_of_lists() {
    let events = converted(
        "0.000001 S rcs0 03fffc0200000400\n\
         0.000002 C rcs0 ring 00000000 MI_ARB_CHECK 02800000\n\
         0.000003 S rcs0 0000040200000805\n\
         0.000004 P rcs0 0000000100002000\n\
         0.000005 X rcs0\n\
         0.000006 L privilege rcs0 MI_UPDATE_GTT\n",
    );
    assert_eq!(
        story(&events),
        [
            "1 rcs0 + context 1",
            "2 rcs0 + request 1",
            "2 rcs0 + MI_ARB_CHECK",
            "3 rcs0 ! preempted",
            "3 rcs0 -",
            "3 rcs0 -",
            "3 rcs0 -",
            "3 rcs0 + context 2",
            "4 rcs0 ! page fault",
            "5 rcs0 -",
            "5 rcs0 ! reset",
            "6 findings ! broken rule",
        ]
    );
    let colour = |name: &str| {
        let e = events.iter().find(|e| e["name"] == name);
        e.and_then(|e| e["cname"].as_str().map(str::to_owned))
    };
    assert!(colour("context 1").is_some());
    assert_ne!(colour("context 1"), colour("context 2"));
    balanced(&events);
}

/// Of an R5xx the place of a register packet is the register.
#[test]
fn a_request_of_r5xx() {
    let events = converted(
        "0.000001 C cp ring 00000738 TYPE0\n\
         0.000002 C cp batch c0003500 3D_DRAW_IMMD_2 00000034\n\
         0.000003 C cp ring 00000044 TYPE0\n\
         0.000004 C cp ring 00000738 TYPE0\n",
    );
    let begins: Vec<String> = story(&events);
    let begins: Vec<&str> = begins
        .iter()
        .filter_map(|l| l.split_once("+ ").map(|l| l.1))
        .collect();
    assert_eq!(
        begins,
        [
            "request 1",
            "TYPE0",
            "indirect buffer",
            "3D_DRAW_IMMD_2",
            "TYPE0",
            "request 2",
            "TYPE0"
        ]
    );
    balanced(&events);
}

#[test]
fn what_is_no_trace_is_told() {
    for (text, line) in [
        ("0.1 I\nnonsense", 2),
        ("x R 0 0", 1),
        ("0.1 R 2030", 1),
        ("0.1 C rcs nowhere 0 X", 1),
        ("0.1 Z", 1),
        ("inf I", 1),
    ] {
        let error = convert(text, Options::default(), &mut Vec::new()).expect_err(text);
        let cause = error.get_ref().and_then(|e| e.downcast_ref::<NotATrace>());
        assert_eq!(cause, Some(&NotATrace { line }), "{text}");
    }
}

/// Time does not go back, though lines may.
#[test]
fn times_do_not_go_back() {
    let events = converted("0.000005 I\n0.000004 I\n");
    assert_eq!(
        story(&events),
        ["5 interrupts ! interrupt", "5 interrupts ! interrupt"]
    );
}

#[test]
fn registers_can_be_left_out() {
    let options = Options {
        without_registers: true,
    };
    let mut out = Vec::new();
    convert("0.1 R 002030 00000000\n", options, &mut out).expect("a trace");
    let all: Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(all["traceEvents"].as_array().map(Vec::len), Some(1));
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A trace of a model, converted for viewers by `ouro-decode --what trace`: engines are tracks, and on them lie
//! contexts, requests, batches and commands; preemptions, page faults and resets are marks.

use crate::dg2_rig::*;
use gpu_model::dg2::EngineId;
use serde_json::Value;

const E: EngineId = EngineId::Rcs;

/// The lines of a trace of all that has happened, an event each microsecond.
fn trace(rig: &Rig) -> String {
    let events = rig.gpu.take_events();
    let line = |(n, e)| format!("{:.9} {e}\n", n as f64 / 1e6);
    events.iter().enumerate().map(line).collect()
}

fn converted(text: &str) -> Vec<Value> {
    let mut out = Vec::new();
    let options = ouro_decode::trace::Options {
        without_registers: true,
    };
    ouro_decode::trace::convert(text, options, &mut out).expect("a trace");
    let all: Value = serde_json::from_slice(&out).expect("JSON, whole");
    all["traceEvents"].as_array().expect("a list").clone()
}

/// Returns what begins and what is marked on an engine's track, without commands.
fn story(events: &[Value], track: &str) -> Vec<String> {
    let named = |e: &&Value| e["name"] == "thread_name" && e["args"]["name"] == track;
    let tid = &events.iter().find(named).expect("the track")["tid"];
    let of = events.iter().filter(|e| e["tid"] == *tid);
    let names = of.filter(|e| e["ph"] == "B" || e["ph"] == "i");
    let names = names.filter_map(|e| e["name"].as_str());
    let no_command = |n: &&str| !n.starts_with("MI_");
    names.filter(no_command).map(str::to_owned).collect()
}

#[test]
fn a_preemption_a_fault_and_a_reset() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    // Context 1 waits in a batch and gives way to 2, which reads where no page is.
    rig.batch(0x8_0000, &[0x0e00_9003, 1, 0x1000, 1, 0, NOOP]);
    rig.append(0, &start(USER + 0x8_0000));
    rig.append(1, &start(0x2_0000_0000));
    rig.load(E, &[descriptor(0)]);
    for _ in 0..4 {
        rig.gpu.step(E);
    }
    rig.load(E, &[descriptor(1)]);
    assert!(rig.gpu.run_until_idle(1000));
    rig.eset(E, 0xd0, 0x0001_0001);
    rig.set(0x941c, 1 << 1);
    let text = trace(&rig);
    // `make check` takes these lines from the output, and loads them into Perfetto's trace processor.
    for line in text.lines() {
        println!("trace: {line}");
    }
    let events = converted(&text);
    assert_eq!(
        story(&events, "rcs"),
        [
            "context 1",
            "request 1",
            "batch 0x100080000",
            "preempted",
            "context 2",
            "request 2",
            "page fault",
            "reset"
        ]
    );
    let colours: Vec<_> = events.iter().filter_map(|e| e["cname"].as_str()).collect();
    assert_eq!(colours.len(), 2);
    assert_ne!(colours[0], colours[1]);
    // All that began has ended.
    let count = |ph: &str| events.iter().filter(|e| e["ph"] == ph).count();
    assert_eq!(count("B"), count("E"));
}

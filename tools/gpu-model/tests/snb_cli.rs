// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The program `gpu-model` itself: its arguments, its socket, its report and exit status.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use vfio_user::Client;

/// A bound for things that happen in milliseconds: not a measurement.
const PATIENCE: Duration = Duration::from_secs(120);

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gpu-model"))
}

fn run(args: &[&str]) -> Output {
    program().args(args).output().expect("runs")
}

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("gpu-model-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("folder");
    dir
}

fn serve(dir: &Path, more: &[&str]) -> Child {
    let socket = dir.join("socket");
    let child = program()
        .args(["--gpu", "snb", "--socket"])
        .arg(&socket)
        .arg("--report")
        .arg(dir.join("report.json"))
        .arg("--trace")
        .arg(dir.join("trace.txt"))
        .args(more)
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let start = Instant::now();
    while !socket.exists() {
        assert!(start.elapsed() < PATIENCE, "no socket");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn report(dir: &Path) -> Value {
    let text = std::fs::read_to_string(dir.join("report.json")).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn lists_the_models() {
    let out = run(&["--list"]);
    assert!(out.status.success());
    assert_eq!(
        String::from_utf8_lossy(&out.stdout),
        "snb\nivb\ng45\ngm45\ng965\ngm965\nrv515\nrv530\nr520\nr580\ndg2\n"
    );
}

#[test]
fn refuses_what_it_does_not_know() {
    let out = run(&["--gpu", "nv50", "--socket", "/nowhere/socket"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr)
        .contains("there are: snb ivb g45 gm45 g965 gm965 rv515"));
    let out = run(&["--gpu", "snb", "--socket", "/nowhere/socket"]);
    assert_eq!(out.status.code(), Some(1), "no such folder");
    for bad in [
        &["--gpu", "snb"][..],
        &["--gpu", "snb", "--socket", "s", "--fault", "melt"],
        &["--gpu", "snb", "--socket", "s", "--asleep-writes", "maybe"],
    ] {
        assert_eq!(run(bad).status.code(), Some(2), "{bad:?}");
    }
    let out = run(&["--gpu", "snb", "--socket", "s", "--gtt-mb", "3"]);
    assert_eq!(out.status.code(), Some(1));
    let out = run(&["--gpu", "snb", "--socket", "s", "--aperture-mb", "100"]);
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn reports_when_the_client_hangs_up() {
    let dir = folder("hang-up");
    let mut child = serve(&dir, &["--fault", "stuck-reset"]);
    let mut client = Client::new(&dir.join("socket")).expect("connects");
    let write =
        |c: &mut Client, o: u64, v: u32| c.region_write(0, o, &v.to_le_bytes()).expect("writes");
    write(&mut client, 0x941c, 1);
    let mut b = [0; 4];
    client.region_read(0, 0x941c, &mut b).expect("reads");
    assert_eq!(u32::from_le_bytes(b), 1, "the fault of the command line");
    client.shutdown().expect("hangs up");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    let r = report(&dir);
    assert_eq!(r["counters"]["reg_writes"], 1);
    assert_eq!(r["counters"]["reg_reads"], 1);
    assert_eq!(r["counters"]["injected"], 1);
    assert_eq!(r["strict_failed"], false);
    let trace = std::fs::read_to_string(dir.join("trace.txt")).expect("a trace");
    let events: Vec<&str> = trace
        .lines()
        .filter_map(|l| l.split_once(' '))
        .map(|l| l.1)
        .collect();
    assert_eq!(
        events,
        ["W 00941c 00000001", "F stuck-reset", "R 00941c 00000001"]
    );
    // What `ouro-decode --what trace` makes of the file: JSON, an injected fault between two accesses.
    let mut json = Vec::new();
    ouro_decode::trace::convert(&trace, Default::default(), &mut json).expect("a trace");
    let all: serde_json::Value = serde_json::from_slice(&json).expect("JSON, whole");
    let marks: Vec<&str> = all["traceEvents"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|e| e["ph"] == "i")
        .filter_map(|e| e["name"].as_str())
        .collect();
    assert_eq!(marks, ["write 00941c", "injected", "read 00941c"]);
    assert!(!dir.join("socket").exists(), "cleans up");
    std::fs::remove_dir_all(dir).expect("removes");
}

#[test]
fn strict_fails_on_an_undocumented_register() {
    let dir = folder("strict");
    let mut child = serve(&dir, &["--strict"]);
    let mut client = Client::new(&dir.join("socket")).expect("connects");
    client
        .region_read(0, 0x1f_0000, &mut [0; 4])
        .expect("reads");
    client.shutdown().expect("hangs up");
    assert_eq!(child.wait().expect("ends").code(), Some(3));
    let r = report(&dir);
    assert_eq!(r["strict_failed"], true);
    assert_eq!(r["undocumented"][0]["offset"], "0x1f0000");
    std::fs::remove_dir_all(dir).expect("removes");
}

#[test]
fn reports_when_told_to_end() {
    let dir = folder("term");
    let mut child = serve(&dir, &[]);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("signal");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    assert_eq!(report(&dir)["gpu"], "snb");
    assert!(!dir.join("socket").exists(), "cleans up");
    std::fs::remove_dir_all(dir).expect("removes");
}

#[test]
fn takes_over_a_stale_socket() {
    let dir = folder("stale");
    std::fs::write(dir.join("socket"), "").expect("something in the way");
    // `serve` would see the stale file at once; the connection shows that it was replaced.
    let mut child = serve(&dir, &[]);
    let start = Instant::now();
    let client = loop {
        match Client::new(&dir.join("socket")) {
            Ok(c) => break c,
            Err(_) => assert!(start.elapsed() < PATIENCE, "not replaced"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    client.shutdown().expect("hangs up");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    std::fs::remove_dir_all(dir).expect("removes");
}

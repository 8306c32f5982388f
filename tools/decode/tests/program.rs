// SPDX-License-Identifier: GPL-2.0
//! The program `ouro-decode`: its arguments, its input, its exit.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ouro-decode"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdin = child.stdin.take().expect("piped");
    // It may end without reading.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn an_error_state_from_a_file_and_from_standard_input() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/loop.txt");
    let expected = include_str!("loop.out");
    let out = run(&[path], b"");
    assert!(out.status.success());
    assert_eq!(text(&out.stdout), expected);
    let out = run(&["-"], include_bytes!("loop.txt"));
    assert_eq!(text(&out.stdout), expected);
}

#[test]
fn a_batch_of_hexadecimal_numbers() {
    // A fill of 2 x 1 pixels of 32 bits with 7 at 0x80000, on a surface 64 bytes wide.
    let input = b"54300004 03f00040 00000000 0x00010002 00080000 00000007\n05000000 ffffffff";
    let args = [
        "--what",
        "batch",
        "--hex",
        "--engine",
        "bcs",
        "--address",
        "0x5000",
        "--at",
        "20488",
    ];
    let out = run(&args, input);
    assert!(out.status.success());
    assert_eq!(
        text(&out.stdout),
        "\
> 0x00005000  54300004  XY_COLOR_BLT: write alpha, write RGB
> 0x00005004  03f00040    depth 32, rop 0xf0, pitch 64
> 0x00005008  00000000    left 0, top 0 <- here
> 0x0000500c  00010002    right 2, bottom 1
> 0x00005010  00080000    destination 0x00080000
> 0x00005014  00000007    colour 0x7
  0x00005018  05000000  MI_BATCH_BUFFER_END
"
    );
}

#[test]
fn a_ring_of_bytes() {
    let mut input = Vec::new();
    for dword in [0x0500_0000u32, 0x1320_4001, 0x0000_00c0, 9] {
        input.extend(dword.to_le_bytes());
    }
    input.push(1);
    let out = run(&["--what", "ring", "--engine", "vcs0"], &input);
    assert_eq!(
        text(&out.stdout),
        "  0x00000000  05000000  MI_BATCH_BUFFER_END
  0x00000004  13204001  MI_FLUSH_DW: into the status page, then store immediate
  0x00000008  000000c0    address 0x000000c0
  0x0000000c  00000009    data 0x00000009
"
    );
}

#[test]
fn mistakes_are_told() {
    for (args, input, said) in [
        (
            &[][..],
            &b"No error state collected\n"[..],
            "there is no error state",
        ),
        (&[], b"hello", "this is not an error state of ouro"),
        (&["/nonexistent"], b"", "No such file"),
        (
            &["--what", "batch", "--hex"],
            b"12 zz",
            "\"zz\" is no number",
        ),
        (
            &["--what", "batch", "--engine", "xcs"],
            b"",
            "no engine \"xcs\"",
        ),
        (
            &["--what", "batch", "--generation", "gen10"],
            b"",
            "no generation \"gen10\": gen4-965 gen4 gen5",
        ),
        (
            &["--what", "batch", "--at", "0xg"],
            b"",
            "\"0xg\" is no number",
        ),
    ] {
        let out = run(args, input);
        assert!(!out.status.success(), "{args:?}");
        assert!(
            text(&out.stderr).contains(said),
            "{args:?}: {}",
            text(&out.stderr)
        );
    }
}

#[test]
fn a_copy_of_memory_alone() {
    // 0xbdda is 6 * 85^2 + 61 * 85 + 67: the digits ! ! ' ^ d.
    let ours = b"ouro error state 1\ngeneration: gen12\nengine: rcs0\n\
        rcs0 --- user = 0x00000001 00400000\n~!!'^dz\n--- end of error state\n";
    let upstreams = b"GPU HANG: ecode 12:1:8ed9fff2\nKernel: 7.3.4\nrcs0 command stream:\n\
        rcs0 --- user = 0x00000001 00400000\n~!!'^dz\n";
    for input in [&ours[..], upstreams] {
        let out = run(&["--memory", "0x100400000"], input);
        assert!(out.status.success(), "{}", text(&out.stderr));
        assert_eq!(
            text(&out.stdout),
            "0x100400000: 0000bdda\n0x100400004: 00000000\n"
        );
        let out = run(&["--memory", "0x1000"], input);
        assert!(!out.status.success());
        assert!(text(&out.stderr).contains("no copy of memory begins at 0x00001000"));
    }
}

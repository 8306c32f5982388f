// SPDX-License-Identifier: GPL-2.0
//! What people post, in words: one text of each kind and age.

mod samples;

use ouro_decode::posts::print::{print, Options};
use ouro_decode::posts::{NotAPost, Post, Role};

fn printed(text: &str, whole: bool) -> String {
    let post = Post::read(text.as_bytes()).expect("a post");
    let mut out = Vec::new();
    print(&post, Options { whole }, &mut out).expect("memory takes everything");
    String::from_utf8(out).expect("text")
}

/// The lines from one that begins with `from` to the next empty one.
fn section<'a>(all: &'a str, from: &str) -> Vec<&'a str> {
    let lines = all.lines().skip_while(|l| !l.starts_with(from));
    lines.take_while(|l| !l.is_empty()).collect()
}

#[test]
fn gm45_of_2013() {
    let all = printed(&samples::gm45(), false);
    assert!(all.starts_with("error state of i915, GM45 (Gen4.5)\n\nWhat is wrong\n"));
    assert_eq!(
        section(&all, "What is wrong"),
        [
            "What is wrong",
            "  render: it stands at CONSTANT_BUFFER (0x10c53034, 0x34 bytes into the batch at 0x10c53000)",
            "    the command that it took last stands right before: 3DPRIMITIVE (IPEHR 0x7b003804)",
            "    the last work before it: 3DPRIMITIVE at 0x10c5301c",
            "    a draw does not end: look at the state and the shaders that were set before it",
            "    requests not done: 2, numbers 0x11 to 0x12; the last that was done is 0x10",
            "    HEAD is in request 0x11: this one hangs, the others wait behind it",
            "    a process waits for it",
            "    units that are not done: 7 execution units, vertex fetch, windower",
            "  EIR 0x00000020: page table error",
            "  page table error, PGTBL_ER 0x00100000: fetch of commands: invalid entry",
        ]
    );
    let batch = section(&all, "Batch of render ring");
    assert_eq!(batch.len(), 8);
    assert_eq!(
        batch[1],
        "  0x10c53000  69040000  PIPELINE_SELECT: pipeline 3D"
    );
    assert!(batch[4].starts_with("> 0x10c53034  60020100  CONSTANT_BUFFER: "));
    assert!(batch[4].ends_with(" <- ACTHD"));
    assert_eq!(batch[7], "  0x10c53058  05000000  MI_BATCH_BUFFER_END");
    let ring = section(&all, "Ring of render ring");
    // The end of the ring from a little before the head, then its start up to the tail.
    assert_eq!(ring[0], "Ring of render ring at 0x00001000, 4096 bytes");
    let head = ring
        .iter()
        .position(|l| l.ends_with("<- HEAD"))
        .expect("the head");
    assert!(ring[head].starts_with("> 0x00001fe8  02000024  MI_FLUSH"));
    assert!(ring[head - 1].contains("MI_BATCH_BUFFER_START"));
    assert!(ring[head - 1].ends_with("batch 0x10c53000"));
    assert!(ring[head + 4].starts_with("  0x00001000  02000026  MI_FLUSH"));
    assert_eq!(ring.last(), Some(&"> 0x00001028            <- TAIL"));
    assert!(all.contains("\nRing of bsd ring at 0x00022000, 4096 bytes\n  all zero: nothing was ever written to it\n"));
    assert!(all.contains(" commands, all known\n"));
    // With all of it, remains begin behind the rest of the command that the tail has cut.
    let whole = printed(&samples::gm45(), true);
    let ring = section(&whole, "Ring of render ring");
    assert!(ring.iter().any(|l| l.ends_with("<- HEAD")));
    assert!(!ring
        .iter()
        .any(|l| l.contains("unknown") || l.contains("no command")));
}

#[test]
fn a_965_of_2010() {
    let all = printed(&samples::first_kernels(), false);
    assert_eq!(
        section(&all, "What is wrong"),
        [
            "What is wrong",
            "  render ring: it stands at XY_SRC_COPY_BLT (0x03000004, 0x4 bytes into the batch at 0x03000000)",
            "    the command that it took last stands right before: PIPELINE_SELECT (IPEHR 0x61040000)",
            "    done up to number 0x7",
            "  EIR 0x00000010: page table error",
            "  page table error, PGTBL_ER 0x00000001: host: invalid entry",
        ]
    );
    assert!(section(&all, "Batch of render ring")[2].ends_with("source 0x00300000 <- ACTHD"));
}

#[test]
fn sandy_bridge_of_2018() {
    let all = printed(&samples::sandy_bridge(), false);
    assert_eq!(
        section(&all, "What is wrong"),
        [
            "What is wrong",
            "  hang on Gen6, engine 0, code 0xf288ffec (command xor done units), in ffmpeg [3825], \
             reason: Hang on rcs0, action: reset",
            "  render, hung: it stands in its ring, 0x1c bytes into it, at MI_STORE_DATA_INDEX",
            "    the command that it took last stands right before: PIPE_CONTROL (IPEHR 0x7a000003)",
            "    it waits for the work before it: what hangs is an earlier command",
            "    requests not done: 2, numbers 0x5 to 0x6; the last that was done is 0x4",
            "    HEAD is in request 0x5: this one hangs, the others wait behind it",
            "    ffmpeg [3825] waits for number 0x6",
            "    it worked for ffmpeg [3825], ctx 3 [4], score 0",
            "    page fault: fault at 0x02000000 in the PPGTT: page directory not valid, source 0x0",
            "    units that are not done: vertex fetch, thread spawner",
            "  ERROR 0x00000005: page fault: PTE is not valid; page directory entry is not valid",
        ]
    );
    assert_eq!(
        section(&all, "Batch of rcs0")[0],
        "Batch of rcs0 at 0x02000000, submitted by ffmpeg [3825], ctx 3 [4], score 0"
    );
    assert!(all.contains("\n  0x7fdfd000, 4096 bytes: rcs0 HW Status\n"));
}

#[test]
fn tiger_lake_of_2023() {
    let all = printed(&samples::tiger_lake(), false);
    assert_eq!(
        section(&all, "What is wrong"),
        [
            "What is wrong",
            "  hang on Gen12, engine 1, code 85dffffb (command xor done units), in chrome [1818]",
            "  rcs0, hung: it stands at 3DPRIMITIVE (0x00200028, 0x28 bytes into memory at 0x00200000)",
            "    the command that it took last stands right before: MI_SEMAPHORE_WAIT (IPEHR 0x0e008002)",
            "    it waits for a number that another engine or the CPU has not written",
            "    in hand: request 0xa of process 1818, context 0x1e44, not done",
            "    it worked for chrome[1818] prio 0, guilty 1 active 0, runtime total 0ns, avg 0ns",
            "    units that are not done: vertex shader, command streamer",
            "  page fault: address 0x000000300000 in the PPGTT",
        ]
    );
    assert_eq!(
        section(&all, "Batch of rcs0 at 0x00100000")[2],
        "  0x00100010  18800101  MI_BATCH_BUFFER_START: in the context's space, batch 0x00200000"
    );
    let second = section(&all, "Batch of rcs0 at 0x00200000");
    assert!(second[3].starts_with("> 0x00200028  7b000005  3DPRIMITIVE"));
}

/// User space extends the sign of addresses, the engine does not.
#[test]
fn addresses_in_the_upper_half() {
    let text = samples::tiger_lake()
        .replace("ACTHD: 0x00000000 00200028", "ACTHD: 0xffffffff 80200028")
        .replace("user = 0x00000000 00200000", "user = 0x0000ffff 80200000");
    let all = printed(&text, false);
    let line = "  rcs0, hung: it stands at 3DPRIMITIVE (0xffffffff80200028, 0x28 bytes into memory at 0xffff80200000)";
    assert!(section(&all, "What is wrong").contains(&line), "{all}");
    assert!(all.contains("> 0xffff80200028  7b000005  3DPRIMITIVE"));
}

#[test]
fn a_walker_under_xe() {
    let all = printed(&samples::xe(), false);
    assert_eq!(
        section(&all, "What is wrong"),
        [
            "What is wrong",
            "  rcs5: it stands in its ring, 0x40 bytes into it",
            "    requests not done: 1, number -127",
            "    job -127 was begun, -128 was the last to end",
            "    it worked for vkcube",
            "  rcs0: it stands at COMPUTE_WALKER (0x7f0100000010, 0x10 bytes into the batch at 0x7f0100000000)",
            "    it has taken this command (IPEHR 0x72080025)",
            "    a shader does not end",
            "    errors of the engine: instruction error: a command that is none, or not allowed",
            "  missing: memory of rcs5 at 0x7f0200000000: could not be copied: error -14",
        ]
    );
    let batch = section(&all, "Batch of rcs5 at 0x7f0100000000");
    assert!(batch[2].ends_with("<- ACTHD"));
    assert_eq!(batch[4], "  0x7f01000000b8  05000000  MI_BATCH_BUFFER_END");
    assert_eq!(section(&all, "Batch of rcs5 at 0x7f0100001000").len(), 3);
}

#[test]
fn a_radeon_in_the_log() {
    assert_eq!(
        printed(samples::RADEON, false),
        "kernel log\n\nWhat is wrong\n\
         \x20 ring 0 has not moved for 10003 ms\n\
         \x20 ring 0: fence 0x100e came, 0x1011 was waited for: 3 not done, the first of them hangs\n\
         \x20 82 dwords of commands that were not done were saved for after the reset\n\
         \x20 reset, before it: RBBM_STATUS 0x80100040: busy: the chip (GUI active), vertex processing (VAP)\n\
         \x20 the reset went well, says the driver\n\
         \nDevice\n  device: RV515 0x1002:0x7187 0x1043:0x0146\n"
    );
}

/// The parts of a text that went through mail: line ends, wrapped lines, lost indentation, something before it.
#[test]
fn a_text_that_was_mailed() {
    let text = samples::gm45();
    let expected = Post::read(text.as_bytes());
    let crlf = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(Post::read(crlf.as_bytes()), expected);
    let long = samples::sandy_bridge();
    let mut wrapped = String::new();
    for line in long.lines() {
        let packed = line.starts_with(':');
        for (n, c) in line.chars().enumerate() {
            if packed && n > 0 && n % 76 == 0 {
                wrapped.push('\n');
            }
            wrapped.push(c);
        }
        wrapped.push('\n');
    }
    assert_ne!(wrapped, long);
    assert_eq!(Post::read(wrapped.as_bytes()), Post::read(long.as_bytes()));
    let behind = format!("Hello,\nhere is: what\n[    1.0] [drm] GPU HANG: ecode 4:0\n\n{text}");
    assert_eq!(Post::read(behind.as_bytes()), expected);
    let flat: String = text
        .lines()
        .map(|l| format!("{}\n", l.trim_start()))
        .collect();
    let flat = Post::read(flat.as_bytes()).expect("a post");
    let expected = expected.expect("a post");
    assert_eq!(flat.buffers, expected.buffers);
    assert_eq!(flat.engines, expected.engines);
}

#[test]
fn parts_of_a_text() {
    let post = Post::read(samples::tiger_lake().as_bytes()).expect("a post");
    let roles: Vec<_> = post
        .buffers
        .iter()
        .map(|b| (b.role, b.address, b.dwords.len()))
        .collect();
    assert_eq!(
        roles,
        [
            (Role::Ring, 0xae_1000, 1024),
            (Role::Other, 0xad_0000, 3),
            (Role::Batch, 0x10_0000, 1024),
            (Role::User, 0x20_0000, 1024),
        ]
    );
    assert_eq!(post.engines.len(), 1);
    assert_eq!(post.value("graphics version"), Some("12"));
}

/// What was taken and did not end, and whose it was.
#[test]
fn contexts_and_empty_rings() {
    let text = samples::sandy_bridge()
        .replace("0x0620001c", "0x06200060")
        .replace("0620001c", "06200060")
        .replace("ERROR: 0x", "CCID: 0x7fdf310d\nERROR: 0x");
    let all = printed(&text, false);
    let wrong = section(&all, "What is wrong");
    for line in [
        "    its ring is empty: all commands were taken, and their numbers did not come",
        "    its context has its image at 0x7fdf3000",
    ] {
        assert!(wrong.contains(&line), "{all}");
    }
    assert!(all.contains("\n    0x5 of context 0x4 from 0x0 to 0x30, process 3825\n"));
}

/// Some post what another decoder made of the text: memory is told by address, and has words behind it.
#[test]
fn what_another_decoder_has_read() {
    let mut text = String::new();
    let mut base = 0;
    for line in samples::gm45().lines() {
        match (line.split_once(" --- "), line.split_once(" :  ")) {
            (Some((ring, rest)), _) if rest.contains(" = 0x") => {
                let (kind, address) = rest.split_once(" = ").expect("an address");
                base = u32::from_str_radix(&address[2..], 16).expect("a number");
                let kind = if kind == "gtt_offset" {
                    "batch buffer"
                } else {
                    "ring buffer"
                };
                text += &format!("{kind} ({ring}) at 0x00000000_{base:08x}; HEAD points to: 0x00000000_00000000\n");
            }
            (_, Some((offset, value))) => {
                let at = base + u32::from_str_radix(offset, 16).expect("a number");
                text += &format!("0x{at:08x}:      0x{value}: COMMAND\n");
            }
            _ => text += &format!("{line}\n"),
        }
    }
    let post = Post::read(text.as_bytes()).expect("a post");
    let expected = Post::read(samples::gm45().as_bytes()).expect("a post");
    let memory = |p: &Post| -> Vec<_> {
        p.buffers
            .iter()
            .map(|b| (b.role, b.address, b.dwords.clone()))
            .collect()
    };
    assert_eq!(memory(&post), memory(&expected));
    assert_eq!(
        section(&printed(&text, false), "What is wrong"),
        section(&printed(&samples::gm45(), false), "What is wrong")
    );
}

/// Where a text ends, it says what is missing.
#[test]
fn texts_that_are_cut() {
    let wrong = |text: &str| section(&printed(text, false), "What is wrong").join("\n");
    let old = samples::gm45();
    let at = old.find("000003fc :").expect("a line of the batch");
    assert!(wrong(&old[..at]).contains("missing: batch of render ring at 0x10c53000: the text ends within a page, after 1020 bytes"));
    let at = old.find("render ring --- gtt").expect("the first copy");
    assert!(wrong(&old[..at]).contains(
        "render: it stands at 0x10c53034, in an object of 4096 bytes at 0x10c53000, of which there is no copy"
    ));
    let xe = samples::xe();
    let at = xe.find("GuC ID").expect("the queue");
    assert_eq!(
        wrong(&xe[..at]),
        "What is wrong\n  missing: the text has no engine, or is cut off before the first"
    );
    let new = samples::sandy_bridge();
    let ring = new.find("rcs0 --- ringbuffer").expect("the ring");
    let text = &new[..ring + 60];
    assert!(
        wrong(text).contains("missing: ring of rcs0 at 0x12d000: "),
        "{}",
        wrong(text)
    );
    let text = &new[..ring + 42];
    assert!(
        wrong(text).contains("missing: ring of rcs0 at 0x12d000: nothing of it is in the text"),
        "{}",
        wrong(text)
    );
    let lines: String = old
        .lines()
        .filter(|l| !l.starts_with("00000008 :"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert!(wrong(&lines).contains("1 dwords before offset 0xc are missing"));
}

/// A chip that no table has: everything but commands is told.
#[test]
fn chips_that_are_not_known() {
    let text = samples::gm45().replace("0x2a42", "0x1234");
    let all = printed(&text, false);
    assert!(all.contains("the chip is not told, or not known: commands cannot be read"));
    assert!(all.contains("requests not done: 2"));
    let old = samples::gm45().replace("0x2a42", "0x27ae");
    assert!(printed(&old, false).contains("the commands of Gen3 are not known here"));
}

#[test]
fn compressed_files() {
    use flate2::{write::GzEncoder, Compression};
    use std::io::Write;
    let text = samples::tiger_lake();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder
        .write_all(text.as_bytes())
        .expect("memory takes all");
    let file = encoder.finish().expect("memory takes all");
    assert_eq!(Post::read(&file), Post::read(text.as_bytes()));
    // What is before the damage is taken.
    assert!(Post::read(&file[..file.len() - 12]).is_ok());
    assert!(matches!(
        Post::read(&file[..12]),
        Err(NotAPost::Compressed(_))
    ));
}

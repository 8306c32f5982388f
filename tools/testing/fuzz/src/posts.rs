// SPDX-License-Identifier: GPL-2.0
//! What people post, to the decoder: any bytes, and texts with the right words in any order around any memory.

use crate::source::Source;
use ouro_core::ascii85;
use ouro_decode::posts::print::{print, Options};
use ouro_decode::posts::Post;
use std::fmt::Write;

/// Lines that begin something, of all kinds.
const HEADINGS: &[&str] = &[
    "render command stream:",
    "rcs0 command stream:",
    "bsd2 command stream:",
    "Video (BSD) command stream:",
    "global --- GuC Error Capture on vcs1 command stream:",
    "batch buffer (render ring) at 0x00000000_00001000",
    "ringbuffer (blt) at 0x00002000; HEAD points to: 0x00002010",
    "Active [3]:",
    "Pinned (global) [2]:",
    "Pipe [0]:",
    "rcs0 --- 2 requests",
    "rcs0 --- ? waiters [unable to acquire spinlock]",
    "**** Xe Device Coredump ****",
    "**** GuC CT ****",
    "**** Job ****",
    "**** HW Engines ****",
    "**** VM state ****",
    "GuC ID: 5",
    "\tName: rcs5",
    "rcs0 (physical), logical instance=0",
    "GPU HANG: ecode 6:0:0xf288ffec, in ffmpeg [3825], reason: Hang on rcs0, action: reset",
    "radeon 0000:01:00.0: ring 0 stalled for more than 10003msec",
];

/// Names of values.
const NAMES: &[&str] = &[
    "PCI ID",
    "gen",
    "EIR",
    "PGTBL_ER",
    "ERROR",
    "FAULT_TLB_DATA",
    "START",
    "HEAD",
    "TAIL",
    "CTL",
    "ACTHD",
    "ACTHD_UDW",
    "ACTHD_LDW",
    "IPEHR",
    "INSTDONE",
    "INSTDONE1",
    "FAULT_REG",
    "ESR",
    "seqno",
    "last_seqno",
    "hung",
    "RING_HEAD",
    "LRC Tail",
    "Seqno",
    "batch_addr[0]",
    "fence[0]",
];

const IDS: &[u32] = &[
    0x29a2, 0x2a42, 0x0046, 0x0126, 0x0166, 0x0a16, 0x1616, 0x1916, 0x8a52, 0x9a49, 0x56a0, 0x27ae,
];

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    let whole = s.flag();
    let text = if s.flag() {
        s.rest().to_vec()
    } else {
        words(&mut s).into_bytes()
    };
    let Ok(post) = Post::read(&text) else {
        return;
    };
    let mut out = Vec::new();
    print(&post, Options { whole }, &mut out).expect("memory takes everything");
    // However copies lead into each other, a dword is printed a few times at most.
    let dwords: usize = post.buffers.iter().map(|b| b.dwords.len()).sum();
    assert!(out.len() <= 20_000 + 60 * text.len() + 2000 * dwords);
    let _ = format!("{post:?}");
}

/// A number as it may stand there: near others, so that they meet.
fn number(s: &mut Source<'_>) -> u64 {
    match s.below(4) {
        0 => s.odd(),
        1 => s.below(64) * 4,
        _ => 0x1000 * s.below(4) + s.below(32) * 4,
    }
}

/// A text of such lines.
fn words(s: &mut Source<'_>) -> String {
    let id = IDS[s.below(IDS.len() as u64) as usize];
    let mut out = format!("PCI ID: {id:#06x}\n");
    // Writing to a string cannot fail.
    while !s.is_empty() {
        let _ = match s.below(8) {
            0 => writeln!(out, "{}", HEADINGS[s.below(HEADINGS.len() as u64) as usize]),
            1 => {
                let request = (number(s), number(s), number(s));
                writeln!(
                    out,
                    "  pid 1, seqno 4:{:08x}!+, head {:08x}, tail {:08x}",
                    request.0, request.1, request.2
                )
            }
            2 => writeln!(out, "  {:08x} {:8} 0050 0000 dirty", number(s), number(s)),
            3 => copy(s, &mut out),
            4 if s.flag() => {
                let (at, dword) = (number(s), s.u32());
                writeln!(out, "0x{at:08x}:      0x{dword:08x}: WORDS")
            }
            4 => {
                let name = NAMES[s.below(NAMES.len() as u64) as usize];
                let (above, below) = (s.below(3), number(s));
                writeln!(out, "  {name}: {above:#010x} {:08x}", below as u32)
            }
            _ => {
                let name = NAMES[s.below(NAMES.len() as u64) as usize];
                writeln!(out, "  {name}: {:#010x}", number(s))
            }
        };
    }
    out
}

/// A copy of some dwords, in one of the ways.
fn copy(s: &mut Source<'_>, out: &mut String) -> std::fmt::Result {
    let name = [
        "gtt_offset",
        "ringbuffer",
        "batch",
        "ring",
        "user",
        "HW context",
    ][s.below(6) as usize];
    let address = number(s);
    let way = s.below(4);
    match way {
        3 => write!(out, "[{address:x}].data: ")?,
        _ => writeln!(
            out,
            "rcs0 --- {name} = 0x{:08x} {:08x}",
            address >> 32,
            address as u32
        )?,
    }
    let count = s.below(48);
    let mut digits = [0; ascii85::MAX];
    if way > 0 {
        out.push_str(["", "~", ":", ""][way as usize]);
    }
    for n in 0..count {
        // Headers, small numbers, anything.
        let dword = match s.below(6) {
            0 => 0,
            1 => number(s) as u32,
            2 => (s.below(0x40) as u32) << 23 | s.below(8) as u32,
            3 => 0x1880_0101,
            4 => 0x7800_0000 | s.u32() & 0xffff_00ff,
            _ => s.u32(),
        };
        match way {
            0 => writeln!(out, "{:08x} :  {dword:08x}", n * 4)?,
            _ => {
                let len = ascii85::encode(dword, &mut digits);
                out.push_str(&String::from_utf8_lossy(&digits[..len]));
            }
        }
    }
    writeln!(out)
}

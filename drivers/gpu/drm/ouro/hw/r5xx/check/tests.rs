// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the checker as a whole: the weaknesses of another checker.
//!
//! `weakness_n_…` is number n of the weaknesses found in another checker (digest §5.7): it accepts
//! the streams that are refused here.

use super::*;
use crate::r5xx::known;
use std::{collections::BTreeSet, vec};

pub(super) use super::by_hand::*;

#[test]
fn a_draw_passes_and_gets_its_addresses() {
    let stream = target().and(array()).and(list(3));
    let out = stream.check(&objects(&[TARGET, 48])).unwrap();
    #[rustfmt::skip]
    let expected = [
        0x10f9, 63 << 13 | 63,
        0x1383, 0xf,
        // The first object's address; the relocation is a NOP (§5.2.1).
        0x138a, 0x0100_0000, 0xc000_1000, 0,
        0x138e, 6 << 21 | 64,
        0xc002_2f00, 1, 0x404, 0x0200_0000, 0xc000_1000, 4,
        0xc000_3400, 3 << 16 | 2 << 4 | 4,
    ];
    assert_eq!(out, expected);
    // Each byte less is one too few.
    assert!(!stream.passes(&[TARGET - 1, 48]));
    assert!(!stream.passes(&[TARGET, 47]));
}

#[test]
fn weakness_1_indices_go_to_the_index_port_and_nowhere_else() {
    let draw = |to: u32| {
        let stream = array().set(0x2134, &[2]).and(indexed(3));
        stream.command(0x33, &[to, 0, 2]).object(0)
    };
    let bytes = [4096, 48];
    assert!(draw(0x8000_0810).passes(&bytes));
    // One register not set; another one; skipping; a scratch register, the next buffer, bit 13.
    for to in [
        0x810,
        0x8000_0811,
        0x8001_0810,
        0x8000_0578,
        0x8000_01ce,
        0x8000_2810,
    ] {
        assert!(!draw(to).passes(&bytes), "{to:x}");
    }
}

#[test]
fn weakness_2_indices_lie_inside_their_object() {
    let draw = |offset: u32| {
        let stream = array().set(0x2134, &[2]).and(indexed(6));
        stream.command(0x33, &[0x8000_0810, offset, 3]).object(0)
    };
    // Three dwords, counted in bytes, behind the offset.
    assert!(draw(0).passes(&[12, 48]));
    assert!(!draw(0).passes(&[11, 48]));
    assert!(draw(84).passes(&[96, 48]));
    assert!(!draw(88).passes(&[96, 48]));
    assert!(!draw(96).passes(&[96, 48]));
    assert!(!draw(2).passes(&[96, 48]));
    let out = draw(84).check(&objects(&[96, 48])).unwrap();
    assert!(out.windows(2).any(|w| w == [0x8000_0810, 0x0100_0054]));
}

#[test]
fn weakness_3_a_list_of_arrays_is_as_long_as_it_says() {
    let load = |number: u32, body: usize, relocations: u32| {
        let mut all = vec![0x0101_0101; body];
        all[0] = number;
        // Places are the second and third of each three.
        for (n, dword) in all.iter_mut().enumerate().skip(1) {
            *dword = if n % 3 == 1 { 0x0101_0101 } else { 0 };
        }
        let mut stream = new().command(0x2f, &all);
        for _ in 0..relocations {
            stream = stream.object(0);
        }
        stream
    };
    // 1 + ceil(3n / 2) dwords (§5.2.3.9, digest §4.7).
    for (n, body) in [(1, 3), (2, 4), (3, 6), (4, 7), (15, 24), (16, 25)] {
        assert!(load(n, body, n).passes(&[4096]), "{n}");
        // Behind the last one of an odd number may be a place that is zero.
        assert_eq!(load(n, body + 1, n).passes(&[4096]), n % 2 != 0, "{n}");
        assert!(!load(n, body + 2, n).passes(&[4096]), "{n}");
        assert!(!load(n, body - 1, n).passes(&[4096]), "{n}");
        assert!(!load(n, body, n - 1).passes(&[4096]), "{n}");
    }
    for n in [0, 17, 31] {
        for body in 1..50 {
            assert!(!load(n, body, 17).passes(&[4096]), "{n} in {body}");
        }
    }
    assert!(!load(1 | 1 << 6, 3, 1).passes(&[4096]));
    // Bits that are in no field (digest §4.7).
    for bit in [7, 15] {
        let stream = new().command(0x2f, &[1, 0x404 | 1 << bit, 0]).object(0);
        assert!(!stream.passes(&[4096]), "{bit}");
    }
    // What Mesa's r300 sends without the vertex engine; and a place that is not zero.
    for (place, passes) in [(0, true), (4, false)] {
        let stream = new().command(0x2f, &[1, 0x404, 0, place]).object(0);
        assert_eq!(stream.and(list(3)).passes(&[48]), passes, "{place}");
        let stream = new().command(0x2f, &[1, 0x404, 0, place]).object(0);
        assert!(!stream.and(list(3)).passes(&[47]), "{place}");
    }
    // The copy has the documented length, and a filler.
    let stream = new().command(0x2f, &[1, 0x404, 16, 0]).object(0);
    let fill = 1 << 31;
    let nop = [0xc000_1000, 0];
    let copy = [0xc002_2f00, 1, 0x404, address(0) + 16, fill, nop[0], nop[1]];
    assert_eq!(stream.check(&objects(&[64])), Ok(copy.to_vec()));
    // An element of nothing.
    assert!(!new()
        .command(0x2f, &[1, 0x400, 0])
        .object(0)
        .passes(&[4096]));
}

#[test]
fn weakness_4_the_last_vertex_counts_whole_and_with_every_offset() {
    // Three vertices of 4 dwords, 6 dwords apart, from byte 8 on: 8 + (2 * 6 + 4) * 4.
    let draw = new().command(0x2f, &[1, 0x604, 8]).object(0).and(list(3));
    assert!(draw.passes(&[72]));
    assert!(!draw.passes(&[71]));
    // The offset of indices moves the last one.
    let moved = new().set(0x208c, &[1]).and(draw.clone());
    assert!(moved.passes(&[96]));
    assert!(!moved.passes(&[95]));
    // And the first one, which must not be before the object (25 bits, with a sign).
    let before = new().set(0x208c, &[0x1ff_ffff]).and(draw);
    assert!(!before.passes(&[96]));
    // By indices: the largest one that the chip lets through.
    let by_index = |max: u32| {
        let stream = new().set(0x2134, &[max]);
        let stream = stream.command(0x2f, &[1, 0x604, 8]).object(0);
        stream.and(indexed(3).command(0x33, &[0x8000_0810, 0, 2]).object(0))
    };
    let limit = |stream: Stream, bytes: u64| stream.check(&objects(&[bytes])).map(|out| out[1]);
    assert_eq!(limit(by_index(2), 72), Ok(2));
    // The copy lets through no more than the array has: four dwords each, six from one to the next,
    // the first two dwords behind the start.
    assert_eq!(limit(by_index(3), 72), Ok(2));
    assert_eq!(limit(by_index(0xff_ffff), 1 << 28), Ok(0xaa_aaa9));
    assert_eq!(limit(by_index(3), 24), Ok(0));
    assert!(limit(by_index(3), 23).is_err());
    // A limit of an earlier draw stays as it is, since that draw needs it.
    let twice = |bytes: u64| {
        let smaller = new().command(0x2f, &[1, 0x604, 8 + 24]).object(0);
        let again = indexed(3).command(0x33, &[0x8000_0810, 0, 2]).object(0);
        by_index(2).and(smaller).and(again).passes(&[bytes])
    };
    assert!(twice(96));
    assert!(!twice(95));
    // An element that all vertices share.
    let shared = new()
        .command(0x2f, &[1, 0x004, 0])
        .object(0)
        .and(list(0xffff));
    assert!(shared.passes(&[16]));
    // A texture's offset counts as well: 8 by 8 texels of a byte, rows padded to 32.
    let texture = |offset: u32| {
        let stream = array().set(0x4400, &[0x12]).set(0x4480, &[7 << 11 | 7]);
        let stream = stream.set(0x4540, &[offset]).object(0);
        stream.set(0x4104, &[1]).and(list(3))
    };
    assert!(texture(0).passes(&[256, 48]));
    assert!(!texture(0).passes(&[255, 48]));
    assert!(texture(64).passes(&[320, 48]));
    assert!(!texture(64).passes(&[319, 48]));
}

/// §6.2: limits prevent "requests to illegal or unavailable memory addresses", so what they limit
/// is the vertex that is fetched. Witness RW39 shows that the offset is added before.
#[test]
fn an_offset_of_indices_moves_no_vertex_past_the_limits() {
    let draw = |offset: u32, limits: [u32; 2], bytes: u64| {
        let stream = new().set(0x2134, &limits).set(0x208c, &[offset]);
        let stream = stream.command(0x2f, &[1, 0x604, 8]).object(0);
        let stream = stream.and(indexed(3).command(0x33, &[0x8000_0810, 0, 2]).object(0));
        stream
            .check(&objects(&[bytes]))
            .map(|out| out[1..4].to_vec())
    };
    // Up to the largest one and the smallest one (25 bits, with a sign).
    for offset in [
        0, 1, 3, 20_000, 0xff_ffff, 0x1ff_ffff, 0x1ff_fffd, 0x100_0000,
    ] {
        let copy = |last: u32, first: u32| Ok(vec![last, first, 0x208c / 4]);
        // Three vertices of 4 dwords, 6 dwords apart, from byte 8 on: 8 + (2 * 6 + 4) * 4.
        assert_eq!(draw(offset, [2, 0], 72), copy(2, 0), "{offset:x}");
        assert_eq!(draw(offset, [3, 0], 72), copy(2, 0), "{offset:x}");
        assert_eq!(draw(offset, [2, 0], 71), copy(1, 0), "{offset:x}");
        assert_eq!(draw(offset, [2, 2], 72), copy(2, 2), "{offset:x}");
        assert!(draw(offset, [2, 3], 72).is_err(), "{offset:x}");
    }
    // 32,768 vertices of 32 bytes in 1 MiB, base 20000: all that the object has may be drawn.
    let large = new().set(0x208c, &[20_000]).set(0x2134, &[0x7fff, 0]);
    let large = large.command(0x2f, &[1, 0x808, 0]).object(0);
    let large = large.and(indexed(3).command(0x33, &[0x8000_0810, 0, 2]).object(0));
    let copy = large.check(&objects(&[1 << 20])).unwrap();
    assert_eq!(
        copy[..5],
        [0x208c / 4, 20_000, 0x1_0000 | (0x2134 / 4), 0x7fff, 0]
    );
}

#[test]
fn weakness_5_blits_lie_inside_their_surfaces() {
    // 32-bit copy (digest §2.3: 52cc36c3 less the clips), pitch 256 bytes, to the right and down.
    let blit = |from: u32, to: u32, size: u32| {
        new()
            .set(0x146c, &[0x52cc_36c3])
            .set(0x1428, &[4 << 22])
            .object(0)
            .set(0x142c, &[4 << 22])
            .object(1)
            .set(0x16c0, &[3])
            .set(0x1434, &[from, to])
            .set(0x143c, &[size])
    };
    // 10 columns and 4 rows, from (5, 2) to (54, 1): y in the upper half.
    let stream = blit(2 << 16 | 5, 1 << 16 | 54, 4 << 16 | 10);
    // Rows 0 to 5 of 256 bytes, and rows 0 to 4.
    assert!(stream.passes(&[1536, 1280]));
    assert!(!stream.passes(&[1535, 1280]));
    assert!(!stream.passes(&[1536, 1279]));
    // A column more is in the next row.
    assert!(!blit(2 << 16 | 5, 1 << 16 | 54, 4 << 16 | 11).passes(&[1536, 1280]));
    // 40 columns and 30 rows: rows 0 to 29, and 0 to 31.
    let tall = blit(0, 2 << 16, 30 << 16 | 40);
    assert!(tall.passes(&[7680, 8192]));
    assert!(!tall.passes(&[7679, 8192]));
    assert!(!tall.passes(&[7680, 8191]));
    // Before the first column or row.
    assert!(!blit(2 << 16 | 5, 0xffff, 4 << 16 | 1).passes(&[1 << 20, 1 << 20]));
    assert!(!blit(0xffff << 16, 0, 4 << 16 | 1).passes(&[1 << 20, 1 << 20]));
    // The offset counts: 1 KiB.
    let far = |bytes| {
        let stream = new()
            .set(0x146c, &[0x52f0_36d2])
            .set(0x142c, &[4 << 22 | 1])
            .object(0);
        let stream = stream.set(0x16c0, &[3]).set(0x1438, &[0]);
        stream.set(0x1598, &[1 << 16 | 2]).check(&objects(&[bytes]))
    };
    assert!(far(1536).is_ok() && far(1535).is_err());
    // Written as the object's address, in KiB.
    assert!(far(1536).unwrap().contains(&(4 << 22 | 0x4001)));
}

#[test]
fn weakness_6_no_draw_is_started_by_a_register() {
    for value in [0, 3 << 16 | 2 << 4 | 4, 0xffff_ffff] {
        let stream = target().and(array()).set(0x2084, &[value]);
        assert!(!stream.passes(&[TARGET, 48]), "{value:x}");
        // Nor as one of several.
        let stream = target().and(array()).set(0x2080, &[0, value]);
        assert!(!stream.passes(&[TARGET, 48]), "{value:x}");
    }
    // Nor do vertices or indices come by their ports.
    for register in (0x2000..0x2080).step_by(4) {
        assert!(!new().set(register, &[0]).passes(&[]), "{register:x}");
    }
}

#[test]
fn weakness_7_registers_at_the_end_of_the_list_are_refused() {
    for register in (0x5000..0x8000).step_by(4) {
        assert!(
            !new().set(register, &[0]).object(0).passes(&[4096]),
            "{register:x}"
        );
    }
    // A packet that goes on into one that is refused is refused as a whole.
    assert!(new().set(0x4fd4, &[0]).passes(&[]));
    assert!(!new().set(0x4fd4, &[0, 0]).passes(&[]));
}

#[test]
fn weakness_8_a_relocation_names_a_whole_record_of_the_list() {
    let with = |place: u32| {
        let mut stream = new().set(0x4e28, &[0]);
        stream.0.extend([0xc000_1000, place]);
        stream
    };
    let two = [4096, 4096];
    assert!(with(0).passes(&two) && with(4).passes(&two));
    for place in [1, 2, 3, 5, 8, 9, 0xffff_fffc, 0xffff_ffff] {
        assert!(!with(place).passes(&two), "{place}");
    }
    // Without one, or with something else in its place.
    assert!(!new().set(0x4e28, &[0]).passes(&two));
    assert!(!new()
        .set(0x4e28, &[0])
        .set(0x4e0c, &[0])
        .object(0)
        .passes(&two));
    let mut short = new().set(0x4e28, &[0]);
    short.0.push(0xc000_1000);
    assert!(!short.passes(&two));
    // Several, in the order of the registers.
    let out = new().set(0x4e28, &[32, 64]).object(1).object(0);
    let out = out.check(&objects(&two)).unwrap();
    assert_eq!(out[1..3], [0x0200_0020, 0x0100_0040]);
}

#[test]
fn weakness_9_a_draw_has_all_its_indices_and_vertices() {
    let bytes = [4096, 48];
    let start = || array().set(0x2134, &[2]);
    // §5.2.3.3: two to a dword, or one of 32 bits (bit 11).
    let draw = |n: u32, wide: u32, dwords: usize| {
        let mut body = vec![n << 16 | wide << 11 | 1 << 4 | 4];
        body.extend(vec![0; dwords]);
        start().command(0x36, &body)
    };
    for (n, wide, dwords) in [(1, 0, 1), (2, 0, 1), (3, 0, 2), (3, 1, 3), (6, 0, 3)] {
        assert!(draw(n, wide, dwords).passes(&bytes), "{n} {wide}");
        assert!(!draw(n, wide, dwords + 1).passes(&bytes), "{n} {wide}");
        assert!(
            dwords == 1 || !draw(n, wide, dwords - 1).passes(&bytes),
            "{n} {wide}"
        );
    }
    // In a buffer: as many, and at once.
    let from = |size| new().command(0x33, &[0x8000_0810, 0, size]).object(0);
    assert!(start().and(indexed(3)).and(from(2)).passes(&bytes));
    for size in [0, 1, 3, 0x80_0002] {
        assert!(
            !start().and(indexed(3)).and(from(size)).passes(&bytes),
            "{size}"
        );
    }
    assert!(!start().and(indexed(3)).passes(&bytes), "none come");
    assert!(!start().and(from(2)).passes(&bytes), "nothing waits");
    assert!(!start()
        .and(indexed(3))
        .and(from(2))
        .and(from(2))
        .passes(&bytes));
    for between in [new().set(0x4e0c, &[0]), list(3), new().command(0x10, &[0])] {
        let stream = start().and(indexed(3)).and(between).and(from(2));
        assert!(!stream.passes(&bytes));
    }
    // §5.2.3.2: vertices in the packet; the register says how many dwords each has.
    let embedded = |n: u32, size: u32, dwords: usize| {
        let mut body = vec![n << 16 | 3 << 4 | 4];
        body.extend(vec![0; dwords]);
        new().set(0x20b4, &[size]).command(0x35, &body)
    };
    assert!(embedded(3, 4, 12).passes(&[]));
    for (n, size, dwords) in [(3, 4, 11), (3, 4, 13), (3, 0, 0), (0, 4, 0), (2, 6, 13)] {
        assert!(
            !embedded(n, size, dwords).passes(&[]),
            "{n} {size} {dwords}"
        );
    }
    // A count in another register (bit 14), of 24 bits.
    let other = |n: u32, dwords: usize| {
        let mut body = vec![1 << 14 | 1 << 4 | 4];
        body.extend(vec![0; dwords]);
        start().set(0x2088, &[n]).command(0x36, &body)
    };
    assert!(other(7, 4).passes(&bytes) && !other(0xff00_0007, 4).passes(&bytes));
    assert!(!other(7, 3).passes(&bytes) && !other(0, 1).passes(&bytes));
}

#[test]
fn weakness_10_counts_of_pixels_lie_inside_their_object() {
    let query = |pipes: u32, offset: u32| {
        let stream = new().set(0x42c8, &[pipes]).set(0x4f5c, &[offset]).object(0);
        stream.set(0x42c8, &[0xf])
    };
    // A dword of each pipe that is asked.
    for (pipes, bytes) in [(1, 4), (8, 4), (3, 8), (0xf, 16), (0, 4)] {
        assert!(query(pipes, 0).passes(&[bytes]), "{pipes}");
        assert!(!query(pipes, 0).passes(&[bytes - 1]), "{pipes}");
        assert!(query(pipes, 100).passes(&[100 + bytes]), "{pipes}");
        assert!(!query(pipes, 100).passes(&[99 + bytes]), "{pipes}");
    }
    assert!(!query(1, 2).passes(&[4096]));
    // All of them, if nothing was said.
    assert!(!new().set(0x4f5c, &[0]).object(0).passes(&[15]));
    // RV530 has another register for it, and the others do not.
    let depth = |units: u32| {
        let stream = new().set(0x4be8, &[units]).set(0x4f5c, &[0]).object(0);
        stream.set(0x4be8, &[3])
    };
    assert!(depth(1).check_by(&WITH_DEPTH_PIPES, &objects(&[4])).is_ok());
    assert!(depth(3)
        .check_by(&WITH_DEPTH_PIPES, &objects(&[7]))
        .is_err());
    assert!(!depth(1).passes(&[4096]));
}

/// Registers without state: a write only starts an operation.
const ACTIONS: &[u32] = &[
    // Flushes and waits.
    0x1714, 0x1720, 0x2284, 0x342c, 0x4100, 0x4e4c, 0x4f18,
    // The old data port of the memory that 2208 fills.
    0x2204, // Asks for a count to be written.
    0x4f5c,
];

#[test]
fn weakness_11_all_that_a_stream_can_leave_behind_is_undone() {
    // What is left of the memories is its own client's; what all else is, the proof counts on.
    let known = known::tests::written();
    let always = known::tests::written_always();
    let mut let_pass = BTreeSet::new();
    for register in (0..0x8000).step_by(4) {
        for checker in [&STREAMS, &WITH_DEPTH_PIPES] {
            let plain = new().set(register, &[0]);
            let related = plain.clone().object(0);
            for stream in [plain, related] {
                if stream.check_by(checker, &objects(&[1 << 20])).is_ok() {
                    let_pass.insert(register);
                }
            }
        }
    }
    assert!(let_pass.len() > 480, "the list is there");
    for register in &let_pass {
        assert!(
            known.contains_key(register) || ACTIONS.contains(register),
            "{register:x} is not undone"
        );
        let memory = [0x2200, 0x2208, 0x4250, 0x4254].contains(register);
        assert!(
            memory || always.contains_key(register) == known.contains_key(register),
            "{register:x} is not undone between batches of one client"
        );
    }
    // What arrays leave behind: how many there are, what and where (digest §3.4).
    for register in (0x20c0..=0x2120).step_by(4) {
        assert!(always.contains_key(&register), "{register:x}");
    }
}

#[test]
fn weakness_12_a_row_of_tiles_counts_whole() {
    // The digest's example: pitch 256, 32 bits, macro tiles and blocks, one row: 16 KiB.
    let row = |fields: u32| {
        new()
            .set(0x43e4, &[255])
            .set(0x4e0c, &[0xf])
            .set(0x4e28, &[0])
            .object(0)
            .set(0x4e38, &[6 << 21 | fields << 16 | 256])
            .and(array())
            .and(list(3))
    };
    // 16: macro; 18:17: 1 blocks. Rows of 16, 8, 2, 1 (digest §4.1).
    for (fields, bytes) in [(3, 16384), (1, 8192), (2, 2048), (0, 1024)] {
        assert!(row(fields).passes(&[bytes, 48]), "{fields}");
        assert!(!row(fields).passes(&[bytes - 1, 48]), "{fields}");
    }
    // 32 bits have no square blocks.
    assert!(!row(4).passes(&[1 << 20, 48]) && !row(6).passes(&[1 << 20, 48]));
}

#[test]
fn weakness_13_nothing_is_drawn_beyond_the_pitch() {
    let draw = |corner: u32| target().set(0x43e4, &[corner]).and(array()).and(list(3));
    // The scissor ends with the pitch of 64 in the copy, wherever it was.
    let at = target().0.len() + 1;
    for (corner, copied) in [
        (63, 63),
        (64, 63),
        (0x1fff, 63),
        (2 << 13 | 99, 2 << 13 | 63),
    ] {
        let copy = draw(corner).check(&objects(&[TARGET, 48])).unwrap();
        assert_eq!(copy[at], copied, "{corner:x}");
    }
    // Its rows are still to be there.
    assert!(!draw(64 << 13 | 64).passes(&[TARGET, 48]));
    // For what was drawn before, it was right: the second target has a pitch of 32.
    let narrow = || idle().set(0x4e38, &[6 << 21 | 32]);
    let two = draw(63).and(narrow()).and(list(3));
    assert!(!two.passes(&[1 << 20, 48]));
    let said = draw(63).and(narrow()).set(0x43e4, &[63]).and(list(3));
    assert!(said.passes(&[1 << 20, 48]));
    // For depth as well: enabled, 16 bits, pitch 32.
    let depth = |corner: u32| {
        let stream = new().set(0x43e4, &[corner]).set(0x4f00, &[2]);
        let stream = stream.set(0x4f20, &[0]).object(0).set(0x4f24, &[32]);
        stream.and(array()).and(list(3))
    };
    assert!(depth(31).passes(&[64, 48]) && !depth(31).passes(&[63, 48]));
    assert!(depth(32).passes(&[64, 48]) && !depth(32).passes(&[63, 48]));
}

#[test]
fn weakness_14_what_a_stream_does_not_say_is_known_and_off() {
    // A scissor and a draw: writes nothing, since the known state writes no channel, tests no depth
    // and samples no texture.
    let bare = new()
        .set(0x43e4, &[0x1fff << 13 | 0x1fff])
        .and(array())
        .and(list(3));
    assert!(bare.passes(&[0, 48]));
    let known = known::tests::written_always();
    for register in [0x4e0c, 0x4e04, 0x4f1c, 0x4104, 0x4f00, 0x4e88] {
        assert_eq!(known[&register], [0], "{register:x}");
        // Whatever switches one of them on needs all that belongs to it.
        let on = match register {
            0x4e0c => 1,
            0x4e04 => 1 << 2,
            0x4f1c => 1 << 5,
            0x4104 => 1 << 15,
            0x4f00 => 2,
            _ => 1,
        };
        let stream = new().set(register, &[on]).and(bare.clone());
        assert!(!stream.passes(&[1 << 30, 48]), "{register:x}");
    }
}

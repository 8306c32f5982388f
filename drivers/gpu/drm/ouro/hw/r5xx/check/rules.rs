// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the checker beyond the other checker's weaknesses.

use super::{tests::*, *};
use crate::fence_regs::Tiling;
use std::{vec, vec::Vec};

#[test]
fn samples_take_memory() {
    // GB_AA_CONFIG: bit 0 on, 2:1 for 2, 3, 4, 6 samples.
    for (config, samples) in [(0, 1), (6, 1), (1, 2), (2, 1), (5, 4), (7, 6)] {
        let stream = new()
            .set(0x4020, &[config])
            .and(target())
            .and(array())
            .and(list(3));
        assert!(stream.passes(&[TARGET * samples, 48]), "{config}");
        assert!(!stream.passes(&[TARGET * samples - 1, 48]), "{config}");
    }
}

#[test]
fn stencil_alone_uses_the_depth_target() {
    for bit in [1, 2, 4] {
        let stream = new().set(0x4f00, &[bit]).and(array()).and(list(3));
        assert!(!stream.passes(&[1 << 20, 48]));
    }
}

#[test]
fn several_targets_are_each_looked_at() {
    let two = |count: u32| {
        target()
            .set(0x4e00, &[1 << 14 | count << 5])
            .set(0x4e2c, &[0])
            .object(2)
            .set(0x4e3c, &[10 << 21 | 64])
            .and(array())
            .and(list(3))
    };
    assert!(two(0).passes(&[TARGET, 48, 1]));
    // 64 rows of 64 pixels of eight bytes.
    assert!(two(1).passes(&[TARGET, 48, 32768]));
    assert!(!two(1).passes(&[TARGET, 48, 32767]));
    assert!(
        !two(2).passes(&[TARGET, 48, 32768]),
        "the third one has no place"
    );
}

#[test]
fn targets_that_shaders_put_out_for_are_looked_at() {
    // US_OUT_FMT of the second and the fourth; 15 is none. RB3D_CCTL repeats nothing.
    let put_out = |register: u32, format: u32| {
        target()
            .set(0x4e00, &[1 << 14])
            .set(register, &[format])
            .set(register - 0x46a4 + 0x4e28, &[0])
            .object(2)
            .set(register - 0x46a4 + 0x4e38, &[6 << 21 | 64])
            .and(array())
            .and(list(3))
    };
    for register in [0x46a8, 0x46b0] {
        // C4_8, C4_32_FP, by their public names; other bits are channels.
        for format in [0, 21, 0x1b00] {
            let stream = put_out(register, format);
            assert!(stream.passes(&[TARGET, 48, TARGET]), "{format:x}");
            assert!(!stream.passes(&[TARGET, 48, TARGET - 1]), "{format:x}");
        }
        for format in [15, 0x1b0f] {
            assert!(put_out(register, format).passes(&[TARGET, 48, 1]));
        }
    }
    // A target that is nowhere.
    let nowhere = target().set(0x46ac, &[0]).and(array()).and(list(3));
    assert!(!nowhere.passes(&[TARGET, 48]));
    // The known state puts out nothing there.
    let known = crate::r5xx::known::tests::written_always();
    assert_eq!([0x46a8, 0x46ac, 0x46b0].map(|r| known[&r][0]), [15; 3]);
}

#[test]
fn targets_without_pixels_of_their_own_have_the_first_ones() {
    // RB3D_CCTL 14: formats are their own. The first one's pixels are four bytes, the second one's
    // one (9), or four (6).
    let two = |own: u32, format: u32| {
        target()
            .set(0x4e00, &[own << 14 | 1 << 5])
            .set(0x4e2c, &[0])
            .object(2)
            .set(0x4e3c, &[format << 21 | 64])
            .and(array())
            .and(list(3))
    };
    assert!(two(1, 9).passes(&[TARGET, 48, 4096]));
    assert!(!two(1, 9).passes(&[TARGET, 48, 4095]));
    assert!(!two(0, 9).passes(&[TARGET, 48, TARGET]));
    assert!(two(0, 6).passes(&[TARGET, 48, TARGET]));
    assert!(!two(0, 6).passes(&[TARGET, 48, TARGET - 1]));
}

#[test]
fn resolved_samples_lie_inside() {
    // Of two samples: a resolve needs multisampling (digest of 3D §13.6).
    let resolve = |pitch: u32| {
        target()
            .set(0x4020, &[1])
            .set(0x4e80, &[0])
            .object(2)
            .set(0x4e84, &[pitch])
            .set(0x4e88, &[1])
            .and(array())
            .and(list(3))
    };
    assert!(resolve(64).passes(&[2 * TARGET, 48, TARGET]));
    assert!(!resolve(64).passes(&[2 * TARGET, 48, TARGET - 1]));
    // With half of the pitch, half of the columns are drawn.
    assert!(resolve(32).passes(&[2 * TARGET, 48, TARGET / 2]));
    assert!(!resolve(32).passes(&[2 * TARGET, 48, TARGET / 2 - 1]));
}

#[test]
fn formats_have_their_bytes() {
    // Digest §3.5; nothing for the codes that are none.
    for (format, bytes) in [
        (3, 2),
        (4, 2),
        (5, 4),
        (6, 4),
        (7, 16),
        (9, 1),
        (10, 8),
        (11, 4),
        (12, 4),
        (13, 2),
        (15, 2),
    ] {
        let stream = new()
            .set(0x4e38, &[format << 21 | 64])
            .and(array())
            .and(list(3));
        let stream = new()
            .set(0x43e4, &[63])
            .set(0x4e0c, &[1])
            .set(0x4e28, &[0])
            .object(0)
            .and(stream);
        assert!(stream.passes(&[64 * bytes, 48]), "{format}");
        assert!(!stream.passes(&[64 * bytes - 1, 48]), "{format}");
    }
    for format in [0, 1, 2, 8, 14] {
        let stream = target()
            .set(0x4e38, &[format << 21 | 64])
            .and(array())
            .and(list(3));
        assert!(!stream.passes(&[1 << 20, 48]), "{format}");
    }
}

#[test]
fn an_objects_tiles_are_filled_in() {
    let mut all = objects(&[1 << 20, 48]);
    all.stream_knows = false;
    for (tiling, fields) in [
        (None, 0),
        (Some(Tiling::Macro), 1),
        (Some(Tiling::Micro), 2),
        (Some(Tiling::MacroMicro), 3),
        (Some(Tiling::Square), 4),
        (Some(Tiling::MacroSquare), 5),
    ] {
        all.list[0].tiling = tiling;
        // Colour and depth: 16 and 18:17; textures: 2 and 4:3. What the stream says does not count.
        for register in [0x4e38, 0x4f24] {
            let out = new().set(register, &[64 | 7 << 16]).object(0);
            assert_eq!(out.check(&all).unwrap()[1], 64 | fields << 16, "{tiling:?}");
            assert!(new().set(register, &[64]).check(&all).is_err());
        }
        let out = new()
            .set(0x4540, &[0x1c | 1])
            .object(0)
            .check(&all)
            .unwrap();
        assert_eq!(out[1], address(0) | 1 | fields << 2, "{tiling:?}");
        let blit = new().set(0x142c, &[3 << 30]).object(0).check(&all);
        let bits = match fields {
            4.. => None,
            f => Some(0x4000 | (f & 1) << 30 | (f >> 1) << 31),
        };
        assert_eq!(blit.ok().map(|o| o[1]), bits, "{tiling:?}");
    }
    for tiling in [Tiling::X, Tiling::Y] {
        all.list[0].tiling = Some(tiling);
        assert!(new().set(0x4e38, &[64]).object(0).check(&all).is_err());
    }
}

#[test]
fn waits_that_may_never_end_are_refused() {
    for bit in 0..32u32 {
        let idle = [9, 14, 15, 16, 17, 18, 28].contains(&bit);
        assert_eq!(new().set(0x1720, &[1 << bit]).passes(&[]), idle, "{bit}");
    }
}

#[test]
fn shared_memory_of_the_chip_is_nobodys() {
    for bit in [0, 2, 3, 4] {
        assert!(!new().set(0x4f1c, &[1 << bit]).passes(&[]), "{bit}");
    }
    assert!(!new().set(0x4e00, &[1 << 10]).passes(&[]));
    for register in [0x4028, 0x4f30, 0x4f34, 0x4f44, 0x4f54] {
        assert!(new().set(register, &[0]).passes(&[]));
        assert!(!new().set(register, &[1]).passes(&[]), "{register:x}");
    }
    assert_eq!(
        new().set(0x43a4, &[0x1d]).check(&objects(&[])).unwrap()[1],
        0x1c
    );
    // Compressed colour's memory, and the packets that fill such memories.
    for register in (0x4e54..=0x4e7c).step_by(4) {
        assert!(!new().set(register, &[0]).passes(&[]), "{register:x}");
    }
    for opcode in [0x32, 0x37, 0x38] {
        assert!(!new().command(opcode, &[0, 1, 0]).passes(&[]), "{opcode:x}");
    }
}

#[test]
fn packets_that_are_not_for_user_space_are_refused() {
    // Type 1, and reserved bits of types 0 and 3.
    for header in [
        0x4000_0000,
        0x2000 | 0x1383,
        0x4000 | 0x1383,
        0xc000_1001,
        0xc000_1080,
    ] {
        assert!(!Stream(vec![header, 0, 0]).passes(&[]), "{header:x}");
    }
    assert!(Stream(vec![0x8000_0000, 0xbfff_ffff]).passes(&[]));
    // Every opcode but those of the list, however long.
    let allowed = [
        0x10, 0x28, 0x29, 0x2a, 0x2f, 0x33, 0x34, 0x35, 0x36, 0x92, 0x9a, 0x9b,
    ];
    for opcode in (0..256).filter(|o| !allowed.contains(o)) {
        for len in [1, 2, 3, 6, 17] {
            assert!(
                !new().command(opcode, &vec![0; len]).passes(&[4096]),
                "{opcode:x}"
            );
        }
    }
    // Registers of the command processor, of memory, of interrupts.
    for register in (0..0x1400).step_by(4).chain((0x15e0..0x1600).step_by(4)) {
        assert!(
            !new().set(register, &[0]).object(0).passes(&[4096]),
            "{register:x}"
        );
    }
    for register in [
        0x1600, 0x1604, 0x1608, 0x170c, 0x1724, 0x16e0, 0x16e4, 0x4018, 0x402c, 0x20c0,
    ] {
        assert!(
            !new().set(register, &[0]).object(0).passes(&[4096]),
            "{register:x}"
        );
    }
}

#[test]
fn a_packet_that_does_not_end_is_refused() {
    let stream = target().and(array()).and(list(3));
    let len = stream.0.len();
    // Ends in the middle of a packet, but for the places where one begins.
    let all = objects(&[TARGET, 48]);
    for end in 0..len {
        let cut = Stream(stream.0[..end].to_vec());
        let starts = [0, 2, 4, 8, 10, 16];
        assert_eq!(cut.check(&all).is_ok(), starts.contains(&end), "{end}");
    }
    // Where the reason is.
    let bad = target().set(0x2084, &[0]);
    assert_eq!(bad.check(&all), Err(10));
}

#[test]
fn the_same_register_over_and_over_is_looked_at_each_time() {
    // Bit 15: two values to one register, the second of which is refused.
    let stream = |values: [u32; 2]| {
        let mut all = vec![1 << 16 | 1 << 15 | (0x1720 / 4)];
        all.extend(values);
        Stream(all)
    };
    assert!(stream([1 << 16, 1 << 17]).passes(&[]));
    assert!(!stream([1 << 16, 1 << 0]).passes(&[]));
}

#[test]
fn a_stream_with_more_patches_than_there_is_room_for_is_refused() {
    let stream = target().0;
    let verdict = |room: usize| {
        let mut list = vec![Patch::default(); room];
        STREAMS.check(&stream, &objects(&[TARGET]), &mut list)
    };
    // Its only patch is the address of 4E28, behind two registers.
    let rule = "patches";
    assert_eq!(verdict(0), Verdict::Reject { at: 4, rule });
    let (dwords, patches) = (stream.len(), 1);
    assert_eq!(verdict(1), Verdict::Passes { dwords, patches });
    // Bit 15: SC_HYPERZ_EN over and over, which no client writes twice: a patch for each dword.
    let hierarchy = |times: u32| {
        let mut all = vec![(times - 1) << 16 | 1 << 15 | (0x43a4 / 4)];
        all.resize(1 + times as usize, 1);
        Stream(all)
    };
    assert_eq!(hierarchy(1).refusal(&[]), None);
    assert_eq!(hierarchy(2).refusal(&[]), Some("patches"));
}

#[test]
fn limits_of_indices_are_vertices_in_any_order() {
    // Array 1: four dwords a vertex. The last index is 0x2134, the first one 0x2138.
    let limits = |last: u32, first: u32| new().set(0x2134, &[last, first]).and(array());
    let indices = || indexed(2).command(0x33, &[0x8000_0810, 0, 1]).object(0);
    for (last, first, bytes) in [(2, 0, 48), (2, 2, 48), (0, 2, 48), (1, 3, 64)] {
        let stream = limits(last, first).and(indices());
        assert!(stream.passes(&[4, bytes]), "{last} {first}");
        // The copy can lower the last index, but not the first one.
        let lowered = stream.check(&objects(&[4, bytes - 1])).map(|out| out[1]);
        assert_eq!(lowered.ok(), (first < last).then_some(1), "{last} {first}");
    }
    // A list of two, which the limit from below may move.
    for (first, bytes) in [(0, 32), (1, 32), (2, 48)] {
        let stream = limits(5, first).and(list(2));
        assert!(stream.passes(&[4, bytes]), "{first}");
        assert!(!stream.passes(&[4, bytes - 1]), "{first}");
    }
}

/// §5.2.3.2, §5.2.3.3, §5.2.3.5, §5.2.3.6: "Up to 16,380 DWORDs" behind a format, 16,381 without.
#[test]
fn draws_have_no_more_dwords_than_documented() {
    // VF_CNTL: triangles; vertices that follow, of one dword, or indices of 32 bits.
    let draw = |opcode: u32, control: u32, dwords: u32| {
        let format = matches!(opcode, 0x29 | 0x2a).then_some(0);
        let mut body: Vec<u32> = format.into_iter().collect();
        body.push(dwords << 16 | control);
        body.extend(vec![0; dwords as usize]);
        let stream = new().set(0x20b4, &[1]).set(0x2134, &[0, 0]);
        let stream = stream.command(0x2f, &[1, 0x404, 0]).object(0);
        stream.command(opcode, &body).refusal(&[16])
    };
    let (embedded, indices) = (0x34, 0x814);
    for (opcode, control, most) in [
        (0x29, embedded, 16_380),
        (0x35, embedded, 16_381),
        (0x2a, indices, 16_380),
        (0x36, indices, 16_381),
    ] {
        assert_eq!(draw(opcode, control, most), None, "{opcode:x}");
        let more = draw(opcode, control, most + 1);
        assert_eq!(more, Some("length"), "{opcode:x}");
    }
}

/// Digest §3.5: 3:2 free, 1:0 flush; bit 4 makes a sync pulse.
#[test]
fn a_flush_of_colour_does_not_signal() {
    for bit in 0..32u32 {
        let expected = (bit > 3).then_some("register-bits");
        assert_eq!(new().set(0x4e4c, &[1 << bit]).refusal(&[]), expected);
    }
}

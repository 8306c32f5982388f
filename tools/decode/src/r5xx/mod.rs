// SPDX-License-Identifier: GPL-2.0
//! R5xx: packets of its command processor, and its registers.
//!
//! Packets are from "R5xx Acceleration" revision 1.3 (§5), what that has no numbers for from its
//! digest (§2, §3). One engine takes them all, in its ring and in indirect buffers.

mod packets;
mod registers;
mod two_d;

use crate::command::{Engine, Generation, Length};

/// R5xx.
pub static GENERATION: Generation = Generation {
    name: "r5xx",
    commands: |_| packets::COMMANDS,
    unknown,
    register: registers::name,
    fields: registers::fields,
    // Type 2: all of it but the type is ignored (§5.1.3).
    padding: |header| (header >> 30 == 2).then_some("filler"),
    tells_header: false,
    era: None,
};

/// All types say their length; of type 3 there are opcodes that no table has.
fn unknown(_: Engine, _: u32) -> (Length, &'static str) {
    (Length::Body, "unknown packet of type 3")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Show, Tail};
    use crate::print::{Marks, Printer};
    use crate::stream::Walk;

    fn found(header: u32) -> (&'static str, usize) {
        let dwords = [header];
        let mut walk = Walk::new(&GENERATION, Engine::Render, &dwords, 0, 1);
        let item = walk.next().expect("one packet");
        (item.name, item.length)
    }

    fn printed(dwords: &[u32]) -> Vec<String> {
        let mut out = Vec::new();
        let mut printer = Printer {
            generation: &GENERATION,
            out: &mut out,
            marks: Marks::default(),
        };
        let walk = Walk::new(&GENERATION, Engine::Render, dwords, 0, usize::MAX);
        printer
            .stream(walk, 0, true, |_| true)
            .expect("memory takes everything");
        let text = String::from_utf8(out).expect("text");
        // Without the address, which is the index, and the dword.
        text.lines()
            .map(|l| l.get(24..).unwrap_or(l).to_owned())
            .collect()
    }

    #[test]
    fn headers_have_names_and_lengths() {
        // §5.1.1 to §5.1.4: COUNT, in 29:16, is the body's dwords less one.
        for (header, name, length) in [
            (0x0000_05c8, "type 0", 2),
            (0x0003_05c8, "type 0", 5),
            (0x3fff_8810, "type 0", 0x4001),
            (0x0001_01ce, "indirect buffer", 3),
            (0x4000_0000, "type 1", 3),
            (0x8000_0000, "filler", 1),
            (0xbfff_ffff, "filler", 1),
            (0xc000_1000, "NOP", 2),
            (0xc008_9b00, "BITBLT_MULTI", 10),
            (0xc000_3400, "3D_DRAW_VBUF_2", 2),
            (0xc002_3300, "INDX_BUFFER", 4),
            (0xc001_7700, "unknown packet of type 3", 3),
            (0xffff_ff00, "unknown packet of type 3", 0x4001),
        ] {
            assert_eq!(found(header), (name, length), "{header:#010x}");
        }
    }

    #[test]
    fn no_packet_hides_another() {
        for c in packets::COMMANDS.iter().copied().flatten() {
            assert_eq!(c.header & !c.mask, 0, "{}", c.name);
            let first = GENERATION
                .find(Engine::Render, c.header)
                .map(|found| found.name);
            assert_eq!(first, Some(c.name), "{:#010x}", c.header);
            for f in c.fields() {
                assert!(f.low <= f.high && f.high < 32, "{} {}", c.name, f.name);
            }
        }
    }

    #[test]
    fn registers_go_up_or_stay() {
        // The end of a fence as the kernel's radeon writes it (digest §2.9).
        assert_eq!(
            printed(&[
                0x000110f8,
                0,
                0x0003_e07f,
                0x5c8,
                0x30200,
                0x11,
                0x0400_0000
            ]),
            [
                "type 0: from 0x043e0 (SC_SCISSOR0)",
                "  SC_SCISSOR0 = 0x00000000: x 0, y 0",
                "  SC_SCISSOR1 = 0x0003e07f: x 127, y 31",
                "type 0: from 0x01720 (WAIT_UNTIL)",
                "  WAIT_UNTIL = 0x00030200: GUI DMA idle, 2D idle and clean, 3D idle and clean",
                "type 0: from 0x00044 (GEN_INT_STATUS)",
                "  GEN_INT_STATUS = 0x04000000: raise software interrupt",
            ]
        );
        assert_eq!(
            printed(&[0x0001_8881, 1, 2]),
            [
                "type 0: from 0x02204 (VAP_PVS_VECTOR_DATA_REG), each to the same",
                "  VAP_PVS_VECTOR_DATA_REG = 0x00000001",
                "  VAP_PVS_VECTOR_DATA_REG = 0x00000002",
            ]
        );
        // Type 1: 10:0 is the first, 21:11 the second (§5.1.2).
        assert_eq!(
            printed(&[0x4000_0000 | 0x5c9 << 11 | 0x5c8, 1 << 14, 0x33]),
            [
                "type 1: first 0x01720 (WAIT_UNTIL), second 0x01724 (ISYNC_CNTL)",
                "  WAIT_UNTIL = 0x00004000: 2D idle",
                "  ISYNC_CNTL = 0x00000033",
            ]
        );
        // No register has a name there.
        assert_eq!(
            printed(&[0x1fff, 7]),
            ["type 0: from 0x07ffc", "  register 0x07ffc = 0x00000007"]
        );
    }

    #[test]
    fn a_blit_in_words() {
        // A move of pages as the kernel's radeon writes it (digest §2.9): source and destination in
        // the settings, both clips, no brush, one rectangle of 1024 x 5.
        assert_eq!(
            printed(&[
                0xc008_9b00, 0x52cc_36ff, 0x1000_0001, 0x1000_0002, 0x1fff_1fff, 0, 0x1fff_1fff, 0,
                0x0002_0003, 1024 << 16 | 5,
            ]),
            [
                "BITBLT_MULTI",
                "  source given, destination given, source clip, destination clip, brush none, depth 8888, \
                 source like it, rop 0xcc, from memory, no comparison, no write mask",
                "  source pitch 64 x 64, offset 1 KiB x 1",
                "  destination pitch 64 x 64, offset 1 KiB x 2",
                "  source clip bottom 8191, right 8191",
                "  clip top 0, left 0",
                "  clip bottom 8191, right 8191",
                "  source x 0, y 0",
                "  destination x 2, y 3",
                "  width 1024, height 5",
            ]
        );
        // A solid brush, then two rectangles.
        assert_eq!(
            printed(&[
                0xc005_9a00,
                0x00f0_06d0,
                0xff,
                1 << 16 | 2,
                3 << 16 | 4,
                5 << 16,
                6
            ])[2..],
            [
                "  foreground 0xff",
                "  x 1, y 2",
                "  width 3, height 4",
                "  x 5, y 0",
                "  width 0, height 6",
            ]
        );
    }

    #[test]
    fn arrays_and_indices() {
        // Three arrays: two records of three dwords, the last one cut by half (digest §2.6).
        assert_eq!(
            printed(&[
                0xc005_2f00,
                3,
                0x0302_0604,
                0x1000,
                0x2000,
                0x0101,
                0x3000,
                0
            ])[..7],
            [
                "3D_LOAD_VBPNTR",
                "  arrays 3",
                "  first: dwords 4, stride 6, second: dwords 2, stride 3",
                "  first array 0x00001000",
                "  second array 0x00002000",
                "  first: dwords 1, stride 1, second: dwords 0, stride 0",
                "  first array 0x00003000",
            ]
        );
        assert_eq!(
            printed(&[0xc001_3600, 0x0003_0014, 0x0002_0001]),
            [
                "3D_DRAW_INDX_2",
                "  of triangles, by indices, vertices 3",
                "  data 0x00020001",
            ]
        );
        assert_eq!(
            printed(&[0xc002_3300, 0x8000_0810, 0x4000, 3]),
            [
                "INDX_BUFFER",
                "  to 0x02040 (VAP_PORT_IDX0), each to the same",
                "  address 0x00004000",
                "  dwords 3",
            ]
        );
    }

    #[test]
    fn tails_are_of_what_is_there() {
        for c in packets::COMMANDS.iter().copied().flatten() {
            let Tail::Layout(layout) = c.tail else {
                continue;
            };
            // Whatever the packet has, and however short it is.
            for value in [0, u32::MAX, 0x52cc_36ff] {
                let all = [c.header, value, value, value, value];
                for n in 1..=5 {
                    for f in layout(&all[..n.min(4)], n) {
                        assert!(f.low <= f.high && f.high < 32, "{} {}", c.name, f.name);
                        assert!(!matches!(f.show, Show::RegisterIndex) || c.name == "INDX_BUFFER");
                    }
                }
            }
        }
    }
}

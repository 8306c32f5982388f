// SPDX-License-Identifier: GPL-2.0
//! What commands are called and how long they are, from Gen4 to Gen12.5. The tables of a generation
//! ([`crate::command::Command`]) say what is in a command; where they have none, this says as much as is needed to
//! pass on to the next one and to tell a reader what it was.
//!
//! Opcodes and names are those of the user-space driver's descriptions and, for the codecs of G4X to Gen5, AV1,
//! the newer encoder's and the video enhancement engine, of the video drivers'; what is in G45 PRM Vol 1b and in the digests agrees with
//! them. Bits 31:29 of a header are the client: 0 the memory interface, 2 the blitter, 3 everything else. Of client
//! 3, bits 28:27 are the pipe: 0 common, 1 common with one dword, 2 media, 3 3D.

mod mi;
mod render;
mod video;

use crate::command::{Engine, Length};
use crate::gen6;

/// Generations in their order. Steppings within a generation that change commands are their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Era {
    /// 965G and GM965.
    Gen4,
    /// G45 and GM45.
    G4x,
    /// Ironlake.
    Gen5,
    /// Sandy Bridge.
    Gen6,
    /// Ivy Bridge, Valleyview.
    Gen7,
    /// Haswell.
    Gen75,
    /// Broadwell, Cherryview.
    Gen8,
    /// Skylake to Comet Lake, Broxton, Gemini Lake.
    Gen9,
    /// Ice Lake, Elkhart Lake.
    Gen11,
    /// Tiger Lake to Alder Lake, DG1.
    Gen12,
    /// DG2, Meteor Lake.
    Gen125,
}

/// A command from one generation to another.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    since: Era,
    until: Era,
    /// The header's bits that tell it: 28:23 of client 0, else 31:16.
    head: u16,
    name: &'static str,
}

const fn row(since: Era, until: Era, head: u16, name: &'static str) -> Row {
    Row {
        since,
        until,
        head,
        name,
    }
}

/// Of the video enhancement engine.
const ENHANCE: &[Row] = &[
    row(Era::Gen75, Era::Gen125, 0x7400, "VEBOX_SURFACE_STATE"),
    row(Era::Gen9, Era::Gen125, 0x7401, "VEBOX_TILING_CONVERT"),
    row(Era::Gen75, Era::Gen125, 0x7402, "VEBOX_STATE"),
    row(Era::Gen75, Era::Gen125, 0x7403, "VEBOX_DI_IECP"),
];

fn named(rows: &[Row], era: Era, head: u16) -> Option<&'static str> {
    let mut all = rows.iter();
    all.find(|r| r.head == head && r.since <= era && era <= r.until)
        .map(|r| r.name)
}

/// The name of the command that a header begins.
pub fn name(era: Era, engine: Engine, header: u32) -> Option<&'static str> {
    let head = (header >> 16) as u16;
    match (header >> 29, engine) {
        (0, _) => named(mi::ROWS, era, (header >> 23) as u16),
        // Gen8 and later have other operands, but the same opcodes.
        (2, _) => {
            let mut all = gen6::blt::COMMANDS.iter();
            all.find(|c| header & c.mask == c.header).map(|c| c.name)
        }
        (3, Engine::Render | Engine::Compute) => named(render::ROWS, era, head),
        (3, Engine::Video) => named(video::ROWS, era, head),
        (3, Engine::Enhance) => named(ENHANCE, era, head).or_else(|| named(video::ROWS, era, head)),
        _ => None,
    }
}

/// The length of a command that no table describes; `None` for what no client takes.
pub fn length(era: Era, engine: Engine, header: u32) -> Option<Length> {
    let opcode = header >> 23 & 0x3f;
    Some(match (header >> 29, header >> 27 & 3, engine) {
        (0, ..) if opcode < 0x10 => Length::One,
        // Gen6 to Gen7 have commands with six bits, Gen8 has stores with ten.
        (0, ..) if era < Era::Gen8 => Length::Upto(5),
        (0, ..) if opcode == 0x20 => Length::Upto(9),
        (0, ..) => Length::Upto(7),
        (2, ..) => Length::Upto(7),
        // Of the codecs one command counts further.
        (3, 1, _) => Length::One,
        (3, _, Engine::Video | Engine::Enhance) if header >> 24 & 7 == 6 => Length::Upto(15),
        (3, _, Engine::Video | Engine::Enhance) if era < Era::Gen6 => Length::Upto(15),
        (3, _, Engine::Video | Engine::Enhance) => Length::Upto(11),
        (3, 2, _) => Length::Upto(15),
        (3, 3, _) if matches!(header >> 16, 0x7843..=0x7847 | 0x7917) => Length::Upto(8),
        // On 965 these two stand where later commands count.
        (3, ..) if era == Era::Gen4 && matches!(header >> 16, 0x6104 | 0x780b) => Length::One,
        (3, ..) => Length::Upto(7),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Engine::{Blitter, Enhance, Render, Video};
    use Era::*;

    /// Headers as they stand in documents and drivers' packets.
    #[test]
    fn names_and_lengths() {
        for (era, engine, header, told, dwords) in [
            (Gen4, Render, 0x6104_0000, Some("PIPELINE_SELECT"), 1),
            (Gen4, Render, 0x780b_0001, Some("3DSTATE_VF_STATISTICS"), 1),
            (G4x, Render, 0x680b_0000, Some("3DSTATE_VF_STATISTICS"), 1),
            (G4x, Render, 0x6002_0100, Some("CONSTANT_BUFFER"), 2),
            (G4x, Render, 0x7808_0003, Some("3DSTATE_VERTEX_BUFFERS"), 5),
            (G4x, Video, 0x7408_0004, Some("AVC_BSD_OBJECT"), 6),
            (Gen5, Render, 0x7910_0000, Some("3DSTATE_CLEAR_PARAMS"), 2),
            (Gen6, Render, 0x7805_0001, Some("3DSTATE_URB"), 3),
            (Gen7, Render, 0x7805_0005, Some("3DSTATE_DEPTH_BUFFER"), 7),
            (Gen7, Render, 0x7917_0101, Some("3DSTATE_SO_DECL_LIST"), 259),
            (Gen75, Enhance, 0x7403_0000, Some("VEBOX_DI_IECP"), 2),
            (Gen8, Render, 0x7852_0003, Some("3DSTATE_WM_HZ_OP"), 5),
            (Gen9, Video, 0x7390_0011, Some("HCP_PIC_STATE"), 19),
            (Gen12, Video, 0x71b0_004a, Some("AVP_PIC_STATE"), 76),
            (Gen12, Video, 0x738a_0001, Some("VD_CONTROL_STATE"), 3),
            (Gen9, Render, 0x0e00_0002, Some("MI_SEMAPHORE_WAIT"), 4),
            (Gen12, Render, 0x786d_0005, Some("3DSTATE_CONSTANT_ALL"), 7),
            (Gen125, Render, 0x7208_0025, Some("COMPUTE_WALKER"), 39),
            (Gen9, Blitter, 0x54c0_0008, Some("XY_SRC_COPY_BLT"), 10),
            // Not yet, no more, not of this engine.
            (Gen6, Render, 0x7852_0003, None, 5),
            (Gen6, Render, 0x6002_0000, None, 2),
            (Gen9, Blitter, 0x7808_0003, None, 5),
            (Gen9, Blitter, 0x5c00_0008, None, 10),
        ] {
            let length = length(era, engine, header).expect("a length");
            let found = (name(era, engine, header), length.of(header));
            assert_eq!(found, (told, dwords), "{era:?} {header:#010x}");
        }
        for none in [0x2000_0000, 0x8000_0000, 0xffff_ffff] {
            assert_eq!(length(Gen9, Render, none), None);
            assert_eq!(name(Gen9, Render, none), None);
        }
    }

    /// In one generation no header has two names.
    #[test]
    fn a_header_has_one_name() {
        for rows in [mi::ROWS, render::ROWS, video::ROWS, ENHANCE] {
            for (n, a) in rows.iter().enumerate() {
                assert!(a.since <= a.until, "{}", a.name);
                let later = rows[n + 1..].iter();
                for b in later.filter(|b| b.head == a.head) {
                    assert!(
                        a.until < b.since || b.until < a.since,
                        "{} {}",
                        a.name,
                        b.name
                    );
                }
            }
        }
    }
}

// SPDX-License-Identifier: GPL-2.0
//! The few commands besides blits that the client uses: stores of values, each
//! in the address space of its batch, and the end of a batch.
//!
//! Sandy Bridge's own document names these commands without their bits; these
//! are G45 PRM Vol 1b §1 (MI commands) and, for MI_FLUSH_DW and PIPE_CONTROL,
//! the public Sandy Bridge PRM Vol 1 Part 3 and Vol 2 Part 1. Gen4 lets no user's
//! batch store by MI commands (G45 PRM Vol 1b §1.5.2): there the blitter stores
//! 32 bits (§8.9.8), and PIPE_CONTROL 64 (digest of Gen4, G-24).

use bitfield_struct::bitfield;

use crate::blt::encode::{Packet, Relocation};
use crate::scene::{Store, Storer};

/// MI_BATCH_BUFFER_END.
pub const BATCH_BUFFER_END: u32 = 0x0a << 23;
/// MI_NOOP.
pub const NOOP: u32 = 0;

/// Dword 0 of MI_STORE_DATA_IMM and MI_FLUSH_DW.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct MiHeader {
    /// Bits 5:0: dwords of the command less two.
    #[bits(6)]
    pub length: u8,
    #[bits(8)]
    __: u8,
    /// Bits 15:14: what MI_FLUSH_DW writes afterwards; 1 is the value in the command.
    #[bits(2)]
    pub post_sync: u8,
    #[bits(6)]
    __: u8,
    /// Bit 22: the address is a global one.
    pub global: bool,
    /// Bits 28:23: which command.
    #[bits(6)]
    pub opcode: u8,
    /// Bits 31:29: 0.
    #[bits(3)]
    pub client: u8,
}

/// Dword 1 of PIPE_CONTROL: what is used of it.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct PipeFlags {
    #[bits(1)]
    __: u8,
    /// Bit 1: stall at the pixel scoreboard.
    pub stall_at_scoreboard: bool,
    #[bits(12)]
    __: u16,
    /// Bits 15:14: what is written afterwards; 1 is the value in the command.
    #[bits(2)]
    pub post_sync: u8,
    #[bits(4)]
    __: u8,
    /// Bit 20: the command streamer waits for what came before.
    pub cs_stall: bool,
    #[bits(11)]
    __: u16,
}

/// Dword 0 of PIPE_CONTROL with five dwords: 3D, sub-type 3, opcode 2.
const PIPE_CONTROL: u32 = 0x7a00_0003;

/// The global address space, in the dword of PIPE_CONTROL's address (Sandy Bridge and Gen4 have it there).
const PIPE_GLOBAL: u32 = 1 << 2;

/// Gen4's PIPE_CONTROL of four dwords, which stores 64 bits afterwards: its flags are in dword 0.
const RENDER_PIPE_CONTROL: u32 = 0x7a00_4002;

/// XY_COLOR_BLT of one pixel of 32 bits; its address and its colour follow.
const PIXEL: [u32; 4] = [0x5430_0004, 0x03f0_0040, 0, 0x0001_0001];

/// How a chip shares its work among engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A ring each for render, blitter and video.
    Rings,
    /// The render engine does all of it, as on Gen4.
    Render,
}

/// What an engine needs before its first store: the render engine waits for the pixel pipe,
/// without which a Sandy Bridge may hang on the writes that follow.
pub fn prologue(layout: Layout, by: Storer) -> Vec<u32> {
    match by {
        _ if layout == Layout::Render => Vec::new(),
        Storer::PipeControl | Storer::PipeControlGlobal => {
            let flags = PipeFlags::new()
                .with_cs_stall(true)
                .with_stall_at_scoreboard(true);
            vec![PIPE_CONTROL, flags.into_bits(), 0, 0, 0]
        }
        _ => Vec::new(),
    }
}

/// The command that stores a value; the low bits of a relocated dword hold flags.
pub fn store(layout: Layout, by: Storer, store: &Store) -> Packet {
    let (name, dword, dwords) = match layout {
        Layout::Rings => store_by_ring(by, store.value),
        Layout::Render => store_by_render(by, store.value),
    };
    Packet {
        name,
        dwords,
        relocations: vec![Relocation {
            dword,
            target: store.at,
            write: true,
        }],
    }
}

/// A store of Gen4's render engine: its name, the dword of the address, the dwords.
fn store_by_render(by: Storer, value: u64) -> (&'static str, usize, Vec<u32>) {
    let (low, high) = (value as u32, (value >> 32) as u32);
    let pipe = |address| {
        (
            "PIPE_CONTROL",
            1,
            vec![RENDER_PIPE_CONTROL, address, low, high],
        )
    };
    match by {
        Storer::RenderDword => {
            let [command, how, from, to] = PIXEL;
            ("XY_COLOR_BLT", 4, vec![command, how, from, to, 0, low])
        }
        Storer::PipeControlGlobal => pipe(PIPE_GLOBAL),
        Storer::RenderQword | Storer::PipeControl | Storer::CopyFlush | Storer::VideoFlush => {
            pipe(0)
        }
    }
}

/// A store of an engine that has a ring of its own, likewise.
fn store_by_ring(by: Storer, value: u64) -> (&'static str, usize, Vec<u32>) {
    let (low, high) = (value as u32, (value >> 32) as u32);
    let header = |opcode: u8, length: u8, post_sync: u8| {
        MiHeader::new()
            .with_opcode(opcode)
            .with_length(length)
            .with_post_sync(post_sync)
            .into_bits()
    };
    // It stalls the streamer, as each fourth one in a row has to on Ivy Bridge.
    let pipe = PipeFlags::new()
        .with_post_sync(1)
        .with_cs_stall(true)
        .with_stall_at_scoreboard(true)
        .into_bits();
    match by {
        Storer::RenderDword => ("MI_STORE_DATA_IMM", 2, vec![header(0x20, 2, 0), 0, 0, low]),
        Storer::RenderQword => (
            "MI_STORE_DATA_IMM",
            2,
            vec![header(0x20, 3, 0), 0, 0, low, high],
        ),
        Storer::PipeControl => ("PIPE_CONTROL", 2, vec![PIPE_CONTROL, pipe, 0, low, high]),
        Storer::PipeControlGlobal => (
            "PIPE_CONTROL",
            2,
            vec![PIPE_CONTROL, pipe, PIPE_GLOBAL, low, high],
        ),
        Storer::CopyFlush | Storer::VideoFlush => {
            ("MI_FLUSH_DW", 1, vec![header(0x26, 2, 1), 0, low, high])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{Address, BufferId};

    #[test]
    fn stores_are_those_of_the_documents() {
        let at = Address {
            buffer: BufferId(3),
            offset: 0x40,
        };
        let value = Store {
            at,
            value: 0x1122_3344_5566_7788,
        };
        let cases: [(Storer, &[u32], usize); 6] = [
            (Storer::RenderDword, &[0x1000_0002, 0, 0, 0x5566_7788], 2),
            (
                Storer::RenderQword,
                &[0x1000_0003, 0, 0, 0x5566_7788, 0x1122_3344],
                2,
            ),
            (
                Storer::PipeControl,
                &[0x7a00_0003, 0x10_4002, 0, 0x5566_7788, 0x1122_3344],
                2,
            ),
            (
                Storer::PipeControlGlobal,
                &[0x7a00_0003, 0x10_4002, 4, 0x5566_7788, 0x1122_3344],
                2,
            ),
            (
                Storer::CopyFlush,
                &[0x1300_4002, 0, 0x5566_7788, 0x1122_3344],
                1,
            ),
            (
                Storer::VideoFlush,
                &[0x1300_4002, 0, 0x5566_7788, 0x1122_3344],
                1,
            ),
        ];
        for (by, dwords, place) in cases {
            let packet = store(Layout::Rings, by, &value);
            assert_eq!(packet.dwords, dwords, "{by:?}");
            assert_eq!(
                packet.relocations,
                [Relocation {
                    dword: place,
                    target: at,
                    write: true
                }],
                "{by:?}"
            );
        }
        assert_eq!(
            prologue(Layout::Rings, Storer::PipeControl),
            [0x7a00_0003, 0x0010_0002, 0, 0, 0]
        );
        // Gen4: §8.9.8; G-24.
        let pipe = [0x7a00_4002, 0, 0x5566_7788, 0x1122_3344];
        let global = [0x7a00_4002, 4, 0x5566_7788, 0x1122_3344];
        let pixel = [0x5430_0004, 0x03f0_0040, 0, 0x0001_0001, 0, 0x5566_7788];
        let cases: [(Storer, &[u32], usize); 4] = [
            (Storer::RenderDword, &pixel, 4),
            (Storer::PipeControl, &pipe, 1),
            (Storer::PipeControlGlobal, &global, 1),
            (Storer::VideoFlush, &pipe, 1),
        ];
        for (by, dwords, place) in cases {
            let packet = store(Layout::Render, by, &value);
            assert_eq!(
                (&packet.dwords[..], packet.relocations[0].dword),
                (dwords, place)
            );
            assert!(prologue(Layout::Render, by).is_empty());
        }
        assert_eq!(BATCH_BUFFER_END, 0x0500_0000);
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands that an engine runs in each context restore: in the middle of it (K4) for registers
//! that the restore does not cover, and behind it (K5) on the blitter. They are behind the context
//! in its image, so each context has its own.
//!
//! The commands and their reasons are from the upstream driver (`gt/intel_lrc.c`,
//! `gt/intel_gt_regs.h`, Linux 7.3). User batches may read the context's clock and, on render,
//! write the cache control of command buffers: neither may be that of another context.

use super::{
    blt,
    commands::{CopyRegister, LoadFromMemory, LoadRegister, PipeControl, NOOP},
    faults::{VERTEX_WATERMARK, WATERMARK},
    parts::Parts,
    regs,
};
use crate::{
    intel::pipe_bits,
    types::{EngineClass, GgttAddr, GpuAddr, PAGE_SIZE},
};

/// Dwords of a cache line.
const LINE: usize = 16;
/// Dwords of [`Within`].
const MOST: usize = 2 * LINE;

/// The commands within a restore.
pub(super) struct Within {
    /// No-ops behind the last one.
    pub(super) dwords: [u32; MOST],
    /// Cache lines with commands.
    pub(super) lines: u32,
}

/// Values of registers in an image: dwords of its page 1 (D5, D10).
enum Value {
    /// Of the context's clock.
    Clock = 0x23,
    /// Of the first general register.
    Gpr0 = 0x85,
    /// Of the cache control of command buffers.
    CommandCaching = 0xc7,
}

/// Loads the first general register from the image at `image`.
fn load(image: GgttAddr, value: Value) -> [u32; 4] {
    let at = PAGE_SIZE.wrapping_add((value as u32).wrapping_mul(4));
    let load = LoadFromMemory {
        offset: regs::GPR0,
        from: GgttAddr(image.0.wrapping_add(at)),
    };
    load.encode()
}

/// Copies the first general register to another register.
fn copy(to: u32) -> [u32; 3] {
    let from = regs::GPR0;
    CopyRegister { from, to }.encode()
}

/// Returns the commands within a restore of the context whose image is at `image`.
pub(super) fn within(class: EngineClass, parts: Parts, image: GgttAddr) -> Within {
    let mut dwords = [NOOP; MOST];
    let mut used = 0usize;
    let mut to = dwords.iter_mut();
    let mut put = |dwords: &[u32]| {
        for (from, to) in dwords.iter().zip(&mut to) {
            *to = *from;
            used = used.wrapping_add(1);
        }
    };
    let render = class == EngineClass::Render;
    // The clock is written twice, as upstream does.
    put(&load(image, Value::Clock));
    put(&copy(regs::CTX_TIMESTAMP));
    put(&copy(regs::CTX_TIMESTAMP));
    if render {
        put(&load(image, Value::CommandCaching));
        put(&copy(regs::CMD_BUF_CCTL));
    }
    put(&load(image, Value::Gpr0));
    // Workaround 16013000631.
    if parts.any(Parts::G11) && (render || class == EngineClass::Compute) {
        let drop = PipeControl {
            data_pipeline: false,
            flags: pipe_bits::INSTRUCTION_INVALIDATE,
            store: None,
        };
        put(&drop.encode());
    }
    if render {
        // Workaround 16014892111: the register loses its value.
        let watermark = LoadRegister {
            offset: WATERMARK,
            value: VERTEX_WATERMARK,
        };
        put(&watermark.encode_absolute());
    }
    let lines = used.div_ceil(LINE) as u32;
    Within { dwords, lines }
}

/// Width of an address in bits.
pub(super) const SPACE_BITS: u8 = 48;
/// Bytes at the end of each space that are never mapped: they lead to the space's scratch page.
pub(super) const KEPT: u32 = 64 << 10;
/// Their address.
const HOLE: GpuAddr = GpuAddr((1 << SPACE_BITS) - KEPT as u64);

/// `MI_BATCH_BUFFER_END`.
const BATCH_END: u32 = 0x0a << 23;

/// Returns the batch behind a restore. `None` if the engine has none.
pub(super) fn behind(class: EngineClass) -> Option<[u32; blt::EMPTY_FILL_DWORDS + 1]> {
    // Workarounds 16018031267 and 16018063123, whose other half is `ECOSKPD`.
    if class != EngineClass::Copy {
        return None;
    }
    let mut batch = [BATCH_END; blt::EMPTY_FILL_DWORDS + 1];
    for (to, from) in batch.iter_mut().zip(blt::empty_fill(HOLE)) {
        *to = from;
    }
    Some(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: GgttAddr = GgttAddr(0x0045_6000);

    /// Upstream's `gen12_emit_indirect_ctx_rcs`: CTX_TIMESTAMP at 3A8h, CMD_BUF_CCTL at 84h, GPR0
    /// at 600h; DRAW_WATERMARK at 26C0h is 3FFh.
    #[test]
    fn renders_commands_are_those_of_upstream() {
        #[rustfmt::skip]
        let all = [
            0x14c8_0002, 0x600, 0x0045_708c, 0,
            0x150c_0001, 0x600, 0x3a8, 0x150c_0001, 0x600, 0x3a8,
            0x14c8_0002, 0x600, 0x0045_731c, 0, 0x150c_0001, 0x600, 0x84,
            0x14c8_0002, 0x600, 0x0045_7214, 0,
            0x7a00_0004, 0x800, 0, 0, 0, 0,
            0x1100_0001, 0x26c0, 0x3ff, 0, 0,
        ];
        // Bit 11 of a flush: instructions. The part G11 alone.
        let mut fewer = [0; 32];
        fewer[..21].copy_from_slice(&all[..21]);
        fewer[21..24].copy_from_slice(&all[27..30]);
        for (parts, expected) in [
            (Parts::G10, fewer),
            (Parts::G12, fewer),
            (Parts::G11, all),
            (Parts::G11.union(Parts::SERVER), all),
        ] {
            let commands = within(EngineClass::Render, parts, IMAGE);
            assert_eq!((commands.dwords, commands.lines), (expected, 2));
        }
    }

    /// Upstream's `gen12_emit_indirect_ctx_xcs`.
    #[test]
    fn others_commands_are_those_of_upstream() {
        #[rustfmt::skip]
        let common = [
            0x14c8_0002, 0x600, 0x0045_708c, 0,
            0x150c_0001, 0x600, 0x3a8, 0x150c_0001, 0x600, 0x3a8,
            0x14c8_0002, 0x600, 0x0045_7214, 0,
        ];
        let mut expected = [0; 32];
        expected[..14].copy_from_slice(&common);
        for class in [
            EngineClass::Compute,
            EngineClass::Copy,
            EngineClass::Video,
            EngineClass::VideoEnhance,
        ] {
            let commands = within(class, Parts::G10, IMAGE);
            assert_eq!((commands.dwords, commands.lines), (expected, 1));
            let commands = within(class, Parts::G11, IMAGE);
            if class == EngineClass::Compute {
                assert_eq!(commands.dwords[..14], common);
                assert_eq!(commands.dwords[14..17], [0x7a00_0004, 0x800, 0]);
                assert_eq!(commands.lines, 2);
            } else {
                assert_eq!((commands.dwords, commands.lines), (expected, 1));
            }
        }
    }

    /// Upstream's `xehp_emit_fastcolor_blt_wabb`: a fill of 8 bits a pixel, four rows of one, in a
    /// surface of 2 by 5 whose rows have 64 bytes.
    #[test]
    fn the_blitter_fills_nothing_behind_each_restore() {
        #[rustfmt::skip]
        let expected = [
            // Cache control is that of all fills; the scratch page is in system memory.
            0x5100_000e, 0x0040_003f, 0, 0x0004_0001, 0xffff_0000, 0xffff, 0x8000_0000,
            0, 0, 0, 0, 0, 0, 0x2000_4004, 0x10, 0, 0x0500_0000,
        ];
        assert_eq!(behind(EngineClass::Copy), Some(expected));
        for class in [
            EngineClass::Render,
            EngineClass::Compute,
            EngineClass::Video,
            EngineClass::VideoEnhance,
        ] {
            assert_eq!(behind(class), None);
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The known state: commands that run before each batch of user space and undo the state that
//! another batch left.
//!
//! The chip has no contexts. It keeps all state that the last batch wrote: registers, the memory of
//! the vertex engine (§6.4.10) and of the pixel shaders (§7.2). All state that a batch may write is
//! set to one fixed value, mostly zero: no draw, no buffer address, no fetch, other clients' clocks
//! hidden. The checker starts from these values, so state that is left over cannot mislead it, and
//! a client cannot run or read the code and constants of another one. The backend's page of the
//! documentation lists the state that commands cannot reach.
//!
//! Nine tenths of the commands clear the two memories, and come first. No rule of the checker
//! depends on the contents of these memories, so they are cleared only when the client changes: a
//! client that submits again finds its own contents.

use super::{emit, packets, regs};
use crate::ring::{Commands, Overflow};

/// First register, last register, and the value of all registers in that range.
pub(super) type Block = (u32, u32, u32);

/// Registers behind the masks of pipes, which are written first. Offsets and names: digest §3.3 to
/// §3.5 and §5.7; values that are not zero have their reason.
pub(super) const BLOCKS: &[Block] = &[
    // The 2D engine: surfaces, source and destination, control (copy nothing), brush.
    (0x1428, 0x142c, 0),
    (0x1434, 0x1438, 0),
    (0x146c, 0x146c, 0),
    (0x1474, 0x1484, 0),
    (0x15c0, 0x15c8, 0),
    (0x15cc, 0x15cc, u32::MAX),
    (0x15d8, 0x15dc, 0),
    // To the right and down (digest §3.3): both registers, since both have the directions.
    (regs::DP_CNTL, regs::DP_CNTL, regs::DP_RIGHT_DOWN),
    (0x16cc, 0x16cc, u32::MAX),
    (
        regs::DP_CNTL_XDIR_YDIR_YMAJOR,
        regs::DP_CNTL_XDIR_YDIR_YMAJOR,
        regs::DP_XDIR_YDIR,
    ),
    // Defaults that packets without their own values use: no address, and no clipping.
    (0x16e0, 0x16e4, 0),
    (0x16e8, 0x16e8, 0x1fff_1fff),
    (0x16ec, 0x16ec, 0),
    (0x16f0, 0x16f4, 0x1fff_1fff),
    // Byte order of data from the host.
    (0x172c, 0x172c, 0),
    // Vertices: viewport, control, index offset, formats.
    (0x1d98, 0x1dac, 0),
    (0x2080, 0x2080, 0),
    (0x2088, 0x2094, 0),
    (0x20b0, 0x20b4, 0),
    // No vertex arrays, and no addresses of any.
    (0x20c0, 0x2120, 0),
    (0x2134, 0x2138, 0),
    (0x2140, 0x2140, 0),
    (0x2150, 0x216c, 0),
    (0x2180, 0x21c4, 0),
    (0x21dc, 0x21fc, 0),
    (0x2218, 0x226c, 0),
    // Clocks until an incomplete group of vertices proceeds; without this value (the reset value is
    // "never", §6.4.9) the chip may hang.
    (0x2288, 0x2288, 0xffff),
    (0x2290, 0x22dc, 0),
    (0x2500, 0x257c, 0),
    // Raster: formats; sample positions as radeon and radeonhd set them (digest §2.9).
    (0x4000, 0x4008, 0),
    (0x4010, 0x4010, 0x6666_6666),
    (0x4014, 0x4014, 0x0666_6666),
    (0x401c, 0x4020, 0),
    (0x4028, 0x4028, 0),
    (0x4074, 0x40b0, 0),
    (0x4104, 0x4104, 0),
    (0x4114, 0x4120, 0),
    (0x4200, 0x420c, 0),
    (0x4214, 0x4214, 0),
    (0x421c, 0x421c, 0),
    (0x4230, 0x4238, 0),
    (0x4258, 0x4258, 0),
    (0x4260, 0x4268, 0),
    // Avoids deadlocks, and fast (digest §2.9, §3.5).
    (regs::GA_ENHANCE, regs::GA_ENHANCE, 3),
    (0x4278, 0x4280, 0),
    // Polygon and rounding modes as radeon and radeonhd set them (digest §2.9).
    (0x4288, 0x4288, 0x120),
    (0x428c, 0x428c, 5),
    (0x4290, 0x4298, 0),
    (0x42a0, 0x42b8, 0),
    (0x42c0, 0x42c4, 0),
    (0x4300, 0x4304, 0),
    (0x4320, 0x435c, 0),
    (0x43a4, 0x43a8, 0),
    (0x43b0, 0x43d0, 0),
    (0x43e0, 0x43e8, 0),
    // Textures: each has its own logical id (31:28); filters, sizes, formats, pitches, addresses,
    // keys, borders.
    (0x4400, 0x4400, 0),
    (0x4404, 0x4404, 1 << 28),
    (0x4408, 0x4408, 2 << 28),
    (0x440c, 0x440c, 3 << 28),
    (0x4410, 0x4410, 4 << 28),
    (0x4414, 0x4414, 5 << 28),
    (0x4418, 0x4418, 6 << 28),
    (0x441c, 0x441c, 7 << 28),
    (0x4420, 0x4420, 8 << 28),
    (0x4424, 0x4424, 9 << 28),
    (0x4428, 0x4428, 10 << 28),
    (0x442c, 0x442c, 11 << 28),
    (0x4430, 0x4430, 12 << 28),
    (0x4434, 0x4434, 13 << 28),
    (0x4438, 0x4438, 14 << 28),
    (0x443c, 0x443c, 15 << 28),
    (0x4440, 0x45fc, 0),
    // Pixel shaders.
    (0x4600, 0x4604, 0),
    (0x4620, 0x4624, 0),
    (0x4630, 0x4638, 0),
    (0x4640, 0x467c, 0),
    // Outputs of the shaders: the first target; none (15, by its public name) for three more.
    (0x46a4, 0x46a4, 0),
    (0x46a8, 0x46b0, 15),
    (0x46b4, 0x46b4, 0),
    (0x46c0, 0x46c4, 0),
    // Fog, and the unit of depth that gets the commands.
    (0x4bc0, 0x4bd8, 0),
    (0x4be0, 0x4be0, 0),
    (0x4c00, 0x4dfc, 0),
    // Colour: no target, nothing written.
    (0x4e00, 0x4e24, 0),
    (0x4e28, 0x4e44, 0),
    (0x4e48, 0x4e48, 0),
    (0x4e50, 0x4e50, 0),
    (0x4e80, 0x4e88, 0),
    (0x4ea0, 0x4ea4, 0),
    (0x4ef8, 0x4efc, 0),
    // Depth: off, no target; hierarchies off and without address.
    (0x4f00, 0x4f14, 0),
    (0x4f1c, 0x4f28, 0),
    (0x4f30, 0x4f34, 0),
    (0x4f44, 0x4f44, 0),
    (0x4f54, 0x4f58, 0),
    (0x4fd4, 0x4fd4, 0),
];

/// Index of the vertex engine's memory, in vectors (§6.4.10).
const PVS_INDEX: u32 = 0x2200;
/// Data of the vertex engine's memory.
const PVS_DATA: u32 = 0x2208;
/// A write waits until the vertex engine no longer uses the state that is about to change (§6.4.8).
const PVS_FLUSH: u32 = 0x2284;
/// Parts of that memory: first vector, vectors (digest §4.5): code, constants, clip planes and
/// point scale, texture coordinates of points (which the index does not run on to).
const PVS_PARTS: [(u32, usize); 4] = [(0, 1024), (1024, 256), (1536, 7), (1543, 1)];
/// Index of the pixel shaders' memory.
const US_INDEX: u32 = 0x4250;
/// Data of the pixel shaders' memory.
const US_DATA: u32 = 0x4254;
/// [`US_INDEX`]: selects constants instead of instructions.
const US_CONSTANTS: u32 = 1 << 16;
/// Parts of that memory: index, dwords (§7.2, digest §2.8): 512 instructions of six dwords, 256
/// constants.
const US_PARTS: [(u32, usize); 2] = [(0, 512 * 6), (US_CONSTANTS, 256 * 4)];

/// Dwords of a vector.
const VECTOR: usize = 4;

/// Dwords of a wait until the vertex engine is idle.
const WAIT: usize = 2;

const fn private() -> usize {
    // All pipes get the writes.
    let mut dwords = emit::MASK_DWORDS + WAIT;
    let mut i = 0;
    while i < PVS_PARTS.len() {
        dwords += 2 + 1 + PVS_PARTS[i].1 * VECTOR;
        i += 1;
    }
    i = 0;
    while i < US_PARTS.len() {
        dwords += 2 + 1 + US_PARTS[i].1;
        i += 1;
    }
    dwords
}

const fn registers() -> usize {
    let mut dwords = emit::MASK_DWORDS + WAIT;
    let mut i = 0;
    while i < BLOCKS.len() {
        let (first, last, _) = BLOCKS[i];
        dwords += 1 + ((last - first) / 4 + 1) as usize;
        i += 1;
    }
    dwords
}

/// Dwords that clear the two memories; these come first.
pub(super) const PRIVATE_DWORDS: usize = private();
/// Dwords that [`commands`] writes.
pub(super) const DWORDS: usize = PRIVATE_DWORDS + registers();

/// Writes the commands. Both parts begin with the masks, since either part can be the first.
pub(super) fn commands(depth_pipes: bool, out: &mut Commands<'_>) -> Result<(), Overflow> {
    emit::masks(depth_pipes, out)?;
    packets::write(out, PVS_FLUSH, &[0])?;
    for (first, vectors) in PVS_PARTS {
        packets::write(out, PVS_INDEX, &[first])?;
        packets::repeat(out, PVS_DATA, 0, vectors.saturating_mul(VECTOR))?;
    }
    for (first, dwords) in US_PARTS {
        packets::write(out, US_INDEX, &[first])?;
        packets::repeat(out, US_DATA, 0, dwords)?;
    }
    emit::masks(depth_pipes, out)?;
    packets::write(out, PVS_FLUSH, &[0])?;
    for (first, last, value) in BLOCKS {
        let count = (last.wrapping_sub(*first) / 4).wrapping_add(1);
        let header = packets::registers(*first, count as usize, false).ok_or(Overflow)?;
        out.put(&[header])?;
        for _ in 0..count {
            out.put(&[*value])?;
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::{collections::BTreeMap, vec, vec::Vec};

    /// Returns the registers that the commands write on RV530, with the values that each gets.
    pub(in crate::r5xx) fn written() -> BTreeMap<u32, Vec<u32>> {
        written_from(true, 0)
    }

    /// The same for the commands that run before each batch.
    pub(in crate::r5xx) fn written_always() -> BTreeMap<u32, Vec<u32>> {
        written_from(true, PRIVATE_DWORDS)
    }

    fn written_from(depth_pipes: bool, first: usize) -> BTreeMap<u32, Vec<u32>> {
        let mut buf = vec![0; DWORDS];
        let mut out = Commands::new(&mut buf);
        commands(depth_pipes, &mut out).unwrap();
        assert_eq!(out.len(), DWORDS, "as many as are said");
        let mut all: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut stream = out.as_slice()[first..].iter().copied();
        while let Some(header) = stream.next() {
            if header == 0x8000_0000 {
                continue;
            }
            // §5.1.1: type 0; index 12:0, one register 15, count less one 29:16.
            assert_eq!(header >> 30, 0);
            let mut at = (header & 0x1fff) * 4;
            for _ in 0..(header >> 16 & 0x3fff) + 1 {
                all.entry(at).or_default().push(stream.next().unwrap());
                at += if header & 0x8000 == 0 { 4 } else { 0 };
            }
        }
        all
    }

    #[test]
    fn memories_are_cleared_whole() {
        let all = written();
        // Digest §4.5: 1024 vectors of code, 256 of constants, 7 and 1 more; from these places.
        assert_eq!(all[&0x2208].len(), (1024 + 256 + 7 + 1) * 4);
        assert_eq!(all[&0x2200], [0, 1024, 1536, 1543]);
        // Digest §2.8: 512 slots of six dwords; constants by bit 16.
        assert_eq!(all[&0x4254].len(), 512 * 6 + 256 * 4);
        assert_eq!(all[&0x4250], [0, 0x1_0000]);
        assert!(all[&0x2208].iter().chain(&all[&0x4254]).all(|v| *v == 0));
    }

    #[test]
    fn only_memories_are_private() {
        let mut all = written();
        let always = written_always();
        // Digest §3.4, §2.8: the vertex engine's index and data, the pixel shaders'; the flush is
        // in both.
        for reg in [0x2200, 0x2208, 0x4250, 0x4254] {
            assert!(all.remove(&reg).is_some() && !always.contains_key(&reg));
        }
        // In both parts: the flush, and the masks of pipes.
        for (reg, value) in [(0x2284, 0), (0x42c8, 0xf), (0x4be8, 3)] {
            assert_eq!(all.remove(&reg).unwrap(), [value; 2]);
            assert_eq!(always[&reg], [value]);
        }
        for (reg, values) in &all {
            assert_eq!(always[reg], *values, "{reg:x}");
        }
        // 1288 vectors of four, 512 slots of six, 256 constants of four; a header and an index for
        // each of six parts, the flush, and two masks.
        assert_eq!(PRIVATE_DWORDS, 5152 + 3072 + 1024 + 6 * 3 + 2 + 4);
        const { assert!(DWORDS - PRIVATE_DWORDS < 1024, "a tenth of it") };
    }

    #[test]
    fn nothing_is_drawn_fetched_or_started() {
        let all = written();
        // Registers that start an operation: blits, lines, draws, ports, queries (digest §3.3,
        // §3.4).
        for reg in [0x143c, 0x1598, 0x1600, 0x1604, 0x2084, 0x4f5c, 0x73c, 0x728] {
            assert!(!all.contains_key(&reg), "{reg:x}");
        }
        for reg in (0x2000..0x2080).step_by(4) {
            assert!(!all.contains_key(&reg), "{reg:x}");
        }
        // Weakness 14 (digest §5.7): features that must be off.
        for reg in [
            0x4e0c, 0x4e04, 0x4f1c, 0x4104, 0x4f00, 0x4e00, 0x20c0, 0x2134,
        ] {
            assert_eq!(all[&reg], [0], "{reg:x}");
        }
    }

    /// AMD's page of `ZB_ZPASS_ADDR`: registers behind the set-up unit are written only in the
    /// pipes that the mask selects.
    #[test]
    fn the_masks_of_pipes_come_first() {
        for depth_pipes in [false, true] {
            let mut buf = vec![0; DWORDS];
            let mut out = Commands::new(&mut buf);
            commands(depth_pipes, &mut out).unwrap();
            // 42C8 / 4, and 4BE8 / 4, which only RV530 has.
            let second = match depth_pipes {
                true => [0x12fa, 3],
                false => [0x8000_0000; 2],
            };
            for first in [0, PRIVATE_DWORDS] {
                assert_eq!(out.as_slice()[first..first + 2], [0x10b2, 0xf]);
                assert_eq!(out.as_slice()[first + 2..first + 4], second);
            }
            let all = written_from(depth_pipes, 0);
            assert_eq!(all.contains_key(&0x4be8), depth_pipes);
        }
    }

    /// AMD's page of `TX_FILTER0`: 31:28.
    #[test]
    fn each_texture_has_its_own_logical_id() {
        let all = written_always();
        for unit in 0..16u32 {
            assert_eq!(all[&(0x4400 + 4 * unit)], [unit << 28]);
        }
    }

    /// Digest §3.3: bits 0 and 1, and 31 and 15: columns to the right, rows down.
    #[test]
    fn blits_go_to_the_right_and_down() {
        let all = written_always();
        assert_eq!(
            (&all[&0x16c0][..], &all[&0x16d0][..]),
            (&[3][..], &[0x8000_8000][..])
        );
    }

    #[test]
    fn blocks_are_in_order_and_apart() {
        for pair in BLOCKS.windows(2) {
            assert!(pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0, "{pair:x?}");
        }
    }

    #[test]
    fn too_little_room_is_an_error() {
        let mut buf = vec![0; DWORDS - 1];
        assert_eq!(commands(true, &mut Commands::new(&mut buf)), Err(Overflow));
    }
}

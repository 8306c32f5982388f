// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The blitter: copies and fills of whole pages (digest §2.2 rows 2 and 3, M34).
//!
//! Addresses are those of the running context's PPGTT, also for commands in the ring: the kernel's
//! context maps pages at their GGTT addresses. A page is a row of 1024 pixels of 32 bits.
//!
//! VRAM has a byte of compression state (CCS) for each 256 bytes (digest §5.2, "flat CCS"). Memory
//! of another client is reused uncompressed: its CCS is set to zero first, so that no earlier
//! contents can be decompressed from it ([`forget`]). If BO pages are moved out of VRAM and back,
//! they may be compressed: then their CCS moves along ([`carry`]).

use super::commands::{split, NOOP};
use crate::{
    engine::{PageCopy, PageFill},
    intel::blt::{header, COPY_32},
    ring::{Commands, Overflow},
    types::{EngineClass, GgttAddr, GpuAddr, MemoryKind, PAGE_SIZE},
};

/// Most rows of a copy or fill: coordinates have 16 bits and a sign.
pub(super) const MAX_ROWS: u32 = 0x4000;

/// Pages whose CCS is one block of 256 bytes, the smallest unit of the command.
const STATE_PAGES: u32 = 16;

/// Bytes of CCS per page, on engines that can copy it.
pub(super) const fn state_bytes(class: EngineClass) -> u32 {
    match class {
        EngineClass::Copy => PAGE_SIZE / 256,
        _ => 0,
    }
}

/// Bits 20:19 of the header are 2: 32 bits per pixel.
const FILL_32: u32 = 2 << 19;
/// Bit 31 of the destination's dword 6: system memory.
const FILL_SYSTEM: u32 = 1 << 31;
/// Cache control of a fill's destination, bits 27:21 of dword 1, as `index << 1`: see
/// [`super::mocs`].
const FILL_MOCS: u32 = (super::mocs::UNCACHED as u32) << 1 << 21;

/// Cache control of the surfaces of a CCS copy, as `index << 1` in bits 31:25 of the upper half of
/// an address.
const STATE_MOCS: u32 = (super::mocs::UNCACHED as u32) << 1 << 25;
/// Bit 21 of the header of a CCS copy: the source is the CCS as data, not the surface that it
/// belongs to.
const STATE_FROM_DATA: u32 = 1 << 21;
/// Bit 20 of the header of a CCS copy: the destination is the CCS as data.
const STATE_TO_DATA: u32 = 1 << 20;
/// The short `MI_FLUSH_DW`: bit 16 flushes the CCS cache, bit 9 the last-level cache.
const FLUSH: [u32; 3] = [0x1300_0001 | 1 << 16 | 1 << 9, 0, 0];

/// Returns the corner behind the last pixel of `pages` pages.
fn corner(pages: u32) -> Result<u32, Overflow> {
    if pages == 0 || pages > MAX_ROWS {
        return Err(Overflow);
    }
    Ok((pages << 16) | (PAGE_SIZE / 4))
}

fn address(at: GgttAddr) -> Result<[u32; 2], Overflow> {
    split(GpuAddr(at.0.into())).ok_or(Overflow)
}

/// `XY_FAST_COPY_BLT`.
pub(super) fn copy(copy: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let (to, from) = (address(copy.to)?, address(copy.from)?);
    corner(copy.pages)?;
    if copy.state.is_none() {
        forget(copy.memory, copy.to, copy.pages, out)?;
    }
    out.put(&[
        header(0x42, 10),
        COPY_32 | PAGE_SIZE,
        0,
        corner(copy.pages)?,
        to[0],
        to[1],
        0,
        PAGE_SIZE,
        from[0],
        from[1],
    ])?;
    copy.state.map_or(Ok(()), |state| carry(copy, state, out))
}

/// `XY_CTRL_SURF_COPY_BLT` (§2.2 row 5): saves the CCS of copied pages to `state`, or restores it
/// from there, depending on which side is VRAM.
fn carry(copy: &PageCopy, state: GgttAddr, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let (from, to, data) = match copy.memory {
        MemoryKind::Local => (state, copy.to, STATE_FROM_DATA),
        MemoryKind::System => (copy.from, state, STATE_TO_DATA),
    };
    let surface = if data == STATE_FROM_DATA { to } else { from };
    state_copy(from, to, data, whole_blocks(surface, copy.pages)?, out)
}

/// Returns the number of CCS blocks of `pages` pages. A partial block would be shared with other
/// pages.
fn whole_blocks(at: GgttAddr, pages: u32) -> Result<u32, Overflow> {
    let whole = at.0.is_multiple_of(STATE_PAGES * PAGE_SIZE) && pages.is_multiple_of(STATE_PAGES);
    if !whole || pages > MAX_ROWS {
        return Err(Overflow);
    }
    Ok(pages / STATE_PAGES)
}

/// Copies CCS blocks; `data` tells which side is data. Earlier writes are in memory before the
/// copy.
fn state_copy(
    from: GgttAddr,
    to: GgttAddr,
    data: u32,
    blocks: u32,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    let (from, to) = (address(from)?, address(to)?);
    out.put(&FLUSH)?;
    out.put(&[
        header(0x48, 5) | data | blocks.wrapping_sub(1) << 8,
        from[0],
        from[1] | STATE_MOCS,
        to[0],
        to[1] | STATE_MOCS,
    ])?;
    out.put(&FLUSH)?;
    // Whole quadwords.
    out.put(&[NOOP])
}

/// `XY_FAST_COLOR_BLT`.
pub(super) fn fill(fill: &PageFill, out: &mut Commands<'_>) -> Result<(), Overflow> {
    corner(fill.pages)?;
    forget(fill.memory, fill.to, fill.pages, out)?;
    color(fill, out)
}

/// `XY_CTRL_SURF_COPY_BLT` (§2.2 row 5): marks VRAM as uncompressed. The zeros for that are put
/// into its own first pages, which are rewritten afterwards.
fn forget(
    memory: MemoryKind,
    to: GgttAddr,
    pages: u32,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    if memory != MemoryKind::Local {
        return Ok(());
    }
    let blocks = whole_blocks(to, pages)?;
    color(
        &PageFill {
            to,
            pages: pages.div_ceil(256),
            value: 0,
            memory,
        },
        out,
    )?;
    state_copy(to, to, STATE_FROM_DATA, blocks, out)
}

fn color(fill: &PageFill, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let to = address(fill.to)?;
    let memory = match fill.memory {
        MemoryKind::System => FILL_SYSTEM,
        MemoryKind::Local => 0,
    };
    out.put(&[
        header(0x44, 16) | FILL_32,
        FILL_MOCS | (PAGE_SIZE - 1),
        0,
        corner(fill.pages)?,
        to[0],
        to[1],
        memory,
        fill.value,
    ])?;
    // The rest of the colour, beyond 32 bits, and of the linear surface.
    out.put(&[0; 8])
}

/// Dwords of [`empty_fill`].
pub(super) const EMPTY_FILL_DWORDS: usize = 16;

/// A fill of system memory whose four pieces write no byte, says the upstream driver
/// (`xehp_emit_fastcolor_blt_wabb`): from `to` on, of a surface of 2 by 5 pixels of 8 bits, with
/// rows of 64 bytes.
pub(super) fn empty_fill(to: GpuAddr) -> [u32; EMPTY_FILL_DWORDS] {
    const SURFACE_2_BY_5: [u32; 2] = [0x2000_4004, 0x10];
    let mut fill = [0; EMPTY_FILL_DWORDS];
    let head = [
        header(0x44, 16),
        FILL_MOCS | (64 - 1),
        0,
        // Four rows of one pixel.
        4 << 16 | 1,
        to.0 as u32,
        (to.0 >> 32) as u32,
        FILL_SYSTEM,
    ];
    let places = fill.iter_mut();
    let (zeros, last) = ([0; 6], [0]);
    let dwords = head
        .iter()
        .chain(&zeros)
        .chain(&SURFACE_2_BY_5)
        .chain(&last);
    for (to, from) in places.zip(dwords) {
        *to = *from;
    }
    fill
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::COPY_DWORDS;

    #[test]
    fn a_copy_is_that_of_2_2() {
        let mut buf = [0; 16];
        let mut out = Commands::new(&mut buf);
        let what = PageCopy {
            from: GgttAddr(0x0100_0000),
            to: GgttAddr(0x0200_0000),
            pages: 3,
            memory: MemoryKind::System,
            state: None,
        };
        copy(&what, &mut out).unwrap();
        assert_eq!(
            out.as_slice(),
            [
                // 0x42, ten dwords; 32 bits; from 0,0 to 1024,3; to; from 0,0; pitch; from.
                0x5080_0008,
                0x0300_1000,
                0,
                0x0003_0400,
                0x0200_0000,
                0,
                0,
                0x1000,
                0x0100_0000,
                0,
            ]
        );
    }

    #[test]
    fn a_fill_is_that_of_2_2() {
        let mut buf = [7; 16];
        let mut out = Commands::new(&mut buf);
        let what = PageFill {
            to: GgttAddr(0x0200_0000),
            pages: 0x4000,
            value: 0xdead_beef,
            memory: MemoryKind::System,
        };
        fill(&what, &mut out).unwrap();
        assert_eq!(
            out.as_slice(),
            [
                // 0x44, 16 dwords, bits 20:19; index 1 at 27:21 (as 2), pitch - 1; corners; to;
                // system memory; colour.
                0x5110_000e,
                0x0040_0fff,
                0,
                0x4000_0400,
                0x0200_0000,
                0,
                0x8000_0000,
                0xdead_beef,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
            ]
        );
    }

    #[test]
    fn memory_of_the_card_s_own_is_not_compressed_behind_a_fill() {
        let mut buf = [7; COPY_DWORDS];
        let mut out = Commands::new(&mut buf);
        let what = PageFill {
            to: GgttAddr(0x0200_0000),
            pages: 0x4000,
            value: 0xdead_beef,
            memory: MemoryKind::Local,
        };
        fill(&what, &mut out).unwrap();
        let all = out.as_slice();
        // 64 MiB have 256 KiB of CCS: zeros for that are 64 rows of a page.
        assert_eq!(
            all[..8],
            [
                0x5110_000e,
                0x0040_0fff,
                0,
                0x0040_0400,
                0x0200_0000,
                0,
                0,
                0
            ]
        );
        assert_eq!(
            all[16..28],
            [
                // MI_FLUSH_DW of three dwords, bits 16 and 9.
                0x1301_0201,
                0,
                0,
                // 0x48, five dwords; the source is data (bit 21); 1024 blocks; index 1 at 31:25 (as
                // 2).
                0x5223_ff03,
                0x0200_0000,
                0x0400_0000,
                0x0200_0000,
                0x0400_0000,
                0x1301_0201,
                0,
                0,
                0,
            ]
        );
        assert_eq!(
            all[28..36],
            [
                0x5110_000e,
                0x0040_0fff,
                0,
                0x4000_0400,
                0x0200_0000,
                0,
                0,
                0xdead_beef
            ]
        );
        assert_eq!(all.len(), COPY_DWORDS);
    }

    #[test]
    fn the_state_of_compression_goes_along_both_ways() {
        for (memory, bit, from, to) in [
            // It leaves VRAM: the source is the surface, the destination is data (bit 20).
            (MemoryKind::System, 1 << 20, 0x0100_0000, 0x0300_0000),
            // It enters VRAM: the source is data (bit 21).
            (MemoryKind::Local, 1 << 21, 0x0300_0000, 0x0200_0000),
        ] {
            let mut buf = [7; COPY_DWORDS];
            let mut out = Commands::new(&mut buf);
            let what = PageCopy {
                from: GgttAddr(0x0100_0000),
                to: GgttAddr(0x0200_0000),
                pages: 48,
                memory,
                state: Some(GgttAddr(0x0300_0000)),
            };
            copy(&what, &mut out).unwrap();
            assert_eq!(
                out.as_slice(),
                [
                    0x5080_0008,
                    0x0300_1000,
                    0,
                    0x0030_0400,
                    0x0200_0000,
                    0,
                    0,
                    0x1000,
                    0x0100_0000,
                    0,
                    0x1301_0201,
                    0,
                    0,
                    // Three blocks of 64 KiB.
                    0x5200_0203 | bit,
                    from,
                    0x0400_0000,
                    to,
                    0x0400_0000,
                    0x1301_0201,
                    0,
                    0,
                    0,
                ]
            );
            // A partial block may be shared.
            for what in [
                PageCopy { pages: 8, ..what },
                PageCopy {
                    from: GgttAddr(0x0100_8000),
                    to: GgttAddr(0x0200_8000),
                    ..what
                },
            ] {
                let mut buf = [0; COPY_DWORDS];
                assert_eq!(copy(&what, &mut Commands::new(&mut buf)), Err(Overflow));
            }
        }
        // A byte for each 256 (§5.2): sixteen for a page.
        assert_eq!(state_bytes(EngineClass::Copy), 16);
        assert_eq!(state_bytes(EngineClass::Render), 0);
    }

    #[test]
    fn too_many_pages_and_none_are_refused() {
        for pages in [0, 0x4001, u32::MAX] {
            let mut buf = [0; 16];
            let what = PageCopy {
                from: GgttAddr(0),
                to: GgttAddr(0x0200_0000),
                pages,
                memory: MemoryKind::System,
                state: None,
            };
            assert_eq!(copy(&what, &mut Commands::new(&mut buf)), Err(Overflow));
            let what = PageFill {
                to: GgttAddr(0),
                pages,
                value: 0,
                memory: MemoryKind::Local,
            };
            assert_eq!(fill(&what, &mut Commands::new(&mut buf)), Err(Overflow));
        }
    }
}

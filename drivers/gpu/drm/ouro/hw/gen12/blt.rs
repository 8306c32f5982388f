// SPDX-License-Identifier: GPL-2.0
//! The blitter: copies and fills of whole pages (digest §2.2 rows 2 and 3, M34).
//!
//! Its addresses are those of the space of the context that runs, in the ring too: the kernel's own context
//! has the pages at the same addresses as the global table. A page is a row of 1024 pixels of 32 bits.

use super::commands::split;
use crate::{
    engine::{PageCopy, PageFill},
    ring::{Commands, Overflow},
    types::{GgttAddr, GpuAddr, MemoryKind, PAGE_SIZE},
};

/// Rows of one copy or fill: coordinates have 16 bits and a sign.
pub(super) const MAX_ROWS: u32 = 0x4000;

/// The header of a blitter command (D:Command Header: client 2).
const fn header(opcode: u32, dwords: u32) -> u32 {
    2 << 29 | opcode << 22 | dwords.wrapping_sub(2)
}

/// Bits 26:24 of the second dword are 3: 32 bits to a pixel.
const COPY_32: u32 = 3 << 24;
/// Bits 20:19 of the header are 2: 32 bits to a pixel.
const FILL_32: u32 = 2 << 19;
/// Bit 31 of the destination's dword 6: it is in system memory.
const FILL_SYSTEM: u32 = 1 << 31;
/// Cache control of a fill's destination, bits 27:21 of dword 1, as `index << 1`: see [`super::mocs`].
const FILL_MOCS: u32 = (super::mocs::UNCACHED as u32) << 1 << 21;

/// The corner behind the last pixel of so many pages.
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
    ])
}

/// `XY_FAST_COLOR_BLT`.
pub(super) fn fill(fill: &PageFill, out: &mut Commands<'_>) -> Result<(), Overflow> {
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
    // The rest of the colour, which 32 bits do not have, and of the surface, which is linear.
    out.put(&[0; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_that_of_2_2() {
        let mut buf = [0; 16];
        let mut out = Commands::new(&mut buf);
        let what = PageCopy {
            from: GgttAddr(0x0100_0000),
            to: GgttAddr(0x0200_0000),
            pages: 3,
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
            memory: MemoryKind::Local,
        };
        fill(&what, &mut out).unwrap();
        assert_eq!(
            out.as_slice(),
            [
                // 0x44, 16 dwords, bits 20:19; index 1 at 27:21 (as 2), pitch - 1; corners; to; colour.
                0x5110_000e,
                0x0040_0fff,
                0,
                0x4000_0400,
                0x0200_0000,
                0,
                0,
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
        let mut buf = [7; 16];
        let mut out = Commands::new(&mut buf);
        let system = PageFill {
            memory: MemoryKind::System,
            ..what
        };
        fill(&system, &mut out).unwrap();
        assert_eq!(out.as_slice()[6], 0x8000_0000);
    }

    #[test]
    fn too_many_pages_and_none_are_refused() {
        for pages in [0, 0x4001, u32::MAX] {
            let mut buf = [0; 16];
            let what = PageCopy {
                from: GgttAddr(0),
                to: GgttAddr(0x0200_0000),
                pages,
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

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The blitter's commands: their header, and the copy of pages on chips with 32-bit addresses.
//!
//! Layout: §2.5 of the digest of Sandy Bridge. A page is copied as a row of 1024 pixels of four
//! bytes, so one command copies as many pages as a surface has rows.

use crate::{
    engine::PageCopy,
    ring::{Commands, Overflow},
    types::{GgttAddr, PAGE_SIZE},
};

/// The largest number of rows of a surface: coordinates are signed and have 16 bits.
pub(crate) const MAX_ROWS: u32 = 0x7fff;

/// Returns the header of a blitter command (client 2) without its length.
pub(crate) const fn opcode(opcode: u32) -> u32 {
    (2 << 29) | (opcode << 22)
}

/// Returns the header of a blitter command of `dwords` dwords.
pub(crate) const fn header(number: u32, dwords: u32) -> u32 {
    opcode(number) | dwords.wrapping_sub(2)
}

/// Bits 25:24 of the second dword of a copy are 3: 32 bits per pixel.
pub(crate) const COPY_32: u32 = 3 << 24;

/// Bits 21:20 of the header: write alpha and colours.
pub(crate) const ALL_BYTES: u32 = 3 << 20;

/// `XY_SRC_COPY_BLT` between linear surfaces with four bytes per pixel, all of which are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CopyRows {
    from: GgttAddr,
    to: GgttAddr,
    /// The number of rows, each of which is a page.
    rows: u16,
}

impl CopyRows {
    /// Bits 23:16: the raster operation that copies the source.
    const SOURCE: u32 = 0xcc << 16;
    /// Pixels per row.
    const WIDTH: u32 = PAGE_SIZE / 4;

    /// Returns the dwords of the command.
    const fn encode(self) -> [u32; 8] {
        [
            header(0x53, 8) | ALL_BYTES,
            COPY_32 | Self::SOURCE | PAGE_SIZE,
            0,
            ((self.rows as u32) << 16) | Self::WIDTH,
            self.to.0,
            0,
            PAGE_SIZE,
            self.from.0,
        ]
    }
}

/// Writes a copy of pages. Errors: [`Overflow`] for no pages or more than [`MAX_ROWS`], too.
pub(crate) fn copy(copy: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let rows = match u16::try_from(copy.pages) {
        Ok(rows) if rows != 0 && copy.pages <= MAX_ROWS => rows,
        _ => return Err(Overflow),
    };
    out.put(
        &CopyRows {
            from: copy.from,
            to: copy.to,
            rows,
        }
        .encode(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::COPY_DWORDS, types::MemoryKind};

    fn written(pages: u32) -> Result<[u32; 8], Overflow> {
        let mut buf = [0xdead_beef; COPY_DWORDS];
        let mut out = Commands::new(&mut buf);
        copy(
            &PageCopy {
                from: GgttAddr(0x0123_4000),
                to: GgttAddr(0x7fff_0000),
                pages,
                memory: MemoryKind::System,
                state: None,
            },
            &mut out,
        )?;
        let mut all = [0; 8];
        all.copy_from_slice(out.as_slice());
        Ok(all)
    }

    #[test]
    fn a_copy_dword_by_dword() {
        // Digest 2.5: 2 << 29 | 53h << 22 | 6, alpha (21) and RGB (20); depth 3, ROP CC, pitch in
        // bytes; y1:x1; y2:x2, exclusive; destination; source y1:x1; source pitch; source.
        let expected = [
            0x54f0_0006,
            0x03cc_1000,
            0,
            0x0003_0400,
            0x7fff_0000,
            0,
            0x1000,
            0x0123_4000,
        ];
        assert_eq!(written(3), Ok(expected));
    }

    #[test]
    fn coordinates_are_signed_and_have_16_bits() {
        assert!(written(0x7fff).is_ok_and(|c| c[3] == 0x7fff_0400));
        assert_eq!(written(0x8000), Err(Overflow));
        assert_eq!(written(0x1_0001), Err(Overflow));
        assert_eq!(written(0), Err(Overflow));
    }
}

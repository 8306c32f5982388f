// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Copies of pages by the 2D engine (§5.2.2.9, digest §2.9).
//!
//! A page is a row of 1024 pixels of four bytes, so that one packet copies as many pages as a
//! surface has rows. The end of each request has the flush and the wait for the copy
//! ([`super::emit`]).
//!
//! The directions are set first: it is not documented whether the packet obeys `DP_CNTL`, and a
//! client's batch may have changed it. A copy to the left from column 0 would copy nothing.

use super::{packets, regs};
use crate::{
    engine::PageCopy,
    ring::{Commands, Overflow},
    types::{GgttAddr, PAGE_SIZE},
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Most rows of a surface: clip rectangles end at 1FFFh, and it is not documented whether that row
/// is inside.
pub(super) const MAX_ROWS: u32 = 0x1fff;

/// `BITBLT_MULTI`.
const BITBLT_MULTI: u8 = 0x9b;
/// Both corners of a clip rectangle without effect (digest §6.1, trap 9).
const NO_CLIP: u32 = 0x1fff_1fff;
/// Pixels of a row.
const WIDTH: u32 = PAGE_SIZE / 4;

/// `GUI_CONTROL` (§5.2.2, digest §2.3).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct GuiControl {
    /// Bit 0: pitch and offset of the source follow.
    src_pitch_offset: bool,
    /// Bit 1: pitch and offset of the destination follow.
    dst_pitch_offset: bool,
    /// Bit 2: the source's clip corner follows.
    src_clip: bool,
    /// Bit 3: the destination's clip corners follow.
    dst_clip: bool,
    /// Bits 7:4: brush type; 15 for none.
    #[bits(4)]
    brush: u8,
    /// Bits 11:8: destination format; 6 for four bytes per pixel.
    #[bits(4)]
    dst_type: u8,
    /// Bits 13:12: source format; 3 for the destination's.
    #[bits(2)]
    src_type: u8,
    #[bits(2)]
    __: u8,
    /// Bits 23:16: raster operation on source, pattern and destination.
    rop: u8,
    /// Bits 26:24: source; 2 for memory.
    #[bits(3)]
    src_load: u8,
    __: bool,
    /// Bit 28: no colour compare.
    no_compare: bool,
    __: bool,
    /// Bit 30: no write mask.
    no_mask: bool,
    __: bool,
}
const_assert_eq!(core::mem::size_of::<GuiControl>(), 4);

/// Pitch and offset of a surface: pitch in bytes 29:22 by 64, offset 21:0 by 1024 (row I3).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct PitchOffset {
    #[bits(22)]
    offset_1k: u32,
    pitch_64: u8,
    /// Bits 31:30: tiling.
    #[bits(2)]
    tiles: u8,
}
const_assert_eq!(core::mem::size_of::<PitchOffset>(), 4);

/// Returns pitch and offset of a surface at an address, with one page per row.
fn surface(at: GgttAddr) -> u32 {
    PitchOffset::new()
        .with_offset_1k(at.0 / 1024)
        .with_pitch_64((PAGE_SIZE / 64) as u8)
        .into_bits()
}

/// Writes a copy of pages.
pub(super) fn copy(copy: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let aligned = (copy.from.0 | copy.to.0).is_multiple_of(1024);
    if copy.pages == 0 || copy.pages > MAX_ROWS || !aligned {
        return Err(Overflow);
    }
    let control = GuiControl::new()
        .with_src_pitch_offset(true)
        .with_dst_pitch_offset(true)
        .with_src_clip(true)
        .with_dst_clip(true)
        .with_brush(15)
        .with_dst_type(6)
        .with_src_type(3)
        .with_rop(0xcc)
        .with_src_load(2)
        .with_no_compare(true)
        .with_no_mask(true);
    let body = [
        control.into_bits(),
        surface(copy.from),
        surface(copy.to),
        NO_CLIP,
        0,
        NO_CLIP,
        0,
        0,
        WIDTH << 16 | copy.pages,
    ];
    packets::write(out, regs::DP_CNTL, &[regs::DP_RIGHT_DOWN])?;
    packets::write(out, regs::DP_CNTL_XDIR_YDIR_YMAJOR, &[regs::DP_XDIR_YDIR])?;
    out.put(&[packets::command(BITBLT_MULTI, body.len()).ok_or(Overflow)?])?;
    out.put(&body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::COPY_DWORDS, types::MemoryKind};

    fn written(from: u32, to: u32, pages: u32) -> Result<[u32; 14], Overflow> {
        let mut buf = [0; COPY_DWORDS];
        let mut out = Commands::new(&mut buf);
        copy(
            &PageCopy {
                from: GgttAddr(from),
                to: GgttAddr(to),
                pages,
                memory: MemoryKind::System,
                state: None,
            },
            &mut out,
        )?;
        let mut all = [0; 14];
        all.copy_from_slice(out.as_slice());
        Ok(all)
    }

    #[test]
    fn a_copy_dword_by_dword() {
        // Digest §2.9: C0089B00 52CC36FF SRC DST 1FFF1FFF 0 1FFF1FFF 0 0 (1024 << 16 | pages); SRC
        // and DST are 64 << 22 | address >> 10. §3.3: 16C0 and 16D0, to the right and down.
        let expected = [
            0x05b0,
            3,
            0x05b4,
            0x8000_8000,
            0xc008_9b00,
            0x52cc_36ff,
            0x1000_048d,
            0x1020_0400,
            0x1fff_1fff,
            0,
            0x1fff_1fff,
            0,
            0,
            0x0400_0003,
        ];
        assert_eq!(written(0x0012_3400, 0x8010_0000, 3), Ok(expected));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(written(0x1000, 0x2000, 0x1fff).is_ok());
        assert_eq!(written(0x1000, 0x2000, 0x2000), Err(Overflow));
        assert_eq!(written(0x1000, 0x2000, 0), Err(Overflow));
        assert_eq!(written(0x1200, 0x2000, 1), Err(Overflow));
    }
}

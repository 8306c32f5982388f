// SPDX-License-Identifier: GPL-2.0
//! The two commands of DG2's blitter that fill and copy, and what stands between them (digest of DG2 PRM
//! Vol 8, §2.1 and §2.2: the document itself names commands and gives no bits).

use anyhow::{bail, Result};
use bitfield_struct::bitfield;

use super::layout::Layout;
use crate::surface::{Depth, Rect};

/// MI_ARB_CHECK: a place where another context may take the engine (§2.1 row 6).
pub const ARB_CHECK: u32 = 0x05 << 23;

/// MI_FLUSH_DW of four dwords that stores nothing (§2.1 row 27): what was written is seen by what follows.
pub const FLUSH: [u32; 4] = [0x26 << 23 | 2, 0, 0, 0];

/// A rectangle of memory, as a command names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BltSurface {
    /// Address of the first pixel.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// How rows lie.
    pub layout: Layout,
    /// Bytes of a pixel.
    pub depth: Depth,
}

/// Dword 0 of XY_FAST_COLOR_BLT (§2.2 row 2).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct FillHeader {
    /// Bits 7:0: dwords less two.
    length: u8,
    #[bits(11)]
    __: u16,
    /// Bits 21:19: 0, 1, 2 for pixels of 8, 16, 32 bits.
    #[bits(3)]
    depth: u8,
    /// Bits 28:22: 44h.
    #[bits(7)]
    opcode: u8,
    /// Bits 31:29: 2.
    #[bits(3)]
    client: u8,
}

/// Its dword 1.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct FillSurface {
    /// Bits 17:0: the pitch less one; of tiles in dwords.
    #[bits(18)]
    pitch_less_one: u32,
    #[bits(3)]
    __: u8,
    /// Bits 27:21: what caches do, as twice the index of §5.4.
    #[bits(7)]
    cache: u8,
    #[bits(2)]
    __: u8,
    /// Bits 31:30: how rows lie.
    #[bits(2)]
    tiling: u8,
}

/// The index that caches nothing (§5.4).
const UNCACHED: u8 = 1;

/// Dword 0 of XY_FAST_COPY_BLT (§2.2 row 3).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct CopyHeader {
    /// Bits 7:0: dwords less two.
    length: u8,
    #[bits(5)]
    __: u8,
    /// Bits 14:13: how rows of the destination lie.
    #[bits(2)]
    to_tiling: u8,
    #[bits(5)]
    __: u8,
    /// Bits 21:20: and those of the source.
    #[bits(2)]
    from_tiling: u8,
    /// Bits 28:22: 42h.
    #[bits(7)]
    opcode: u8,
    /// Bits 31:29: 2.
    #[bits(3)]
    client: u8,
}

/// Its dword 1.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct CopySurface {
    /// Bits 15:0: pitch of the destination; of tiles in dwords.
    pitch: u16,
    __: u8,
    /// Bits 26:24: 0, 1, 3 for pixels of 8, 16, 32 bits.
    #[bits(3)]
    depth: u8,
    #[bits(3)]
    __: u8,
    /// Bit 30: tiles of the destination are of the newer kind.
    to_four: bool,
    /// Bit 31: those of the source are.
    from_four: bool,
}

/// What stands for a layout, in all three fields.
fn code(layout: Layout) -> u8 {
    match layout {
        Layout::Linear => 0,
        Layout::X => 1,
        Layout::Four => 2,
    }
}

impl BltSurface {
    /// The pitch in the field's unit. The documents have no limits: these are the fields' widths.
    fn pitch(&self) -> Result<u32> {
        let unit = if self.layout == Layout::Linear { 1 } else { 4 };
        let (row, _) = self.layout.tile();
        if !self.pitch.is_multiple_of(row) || self.pitch / unit > 0x7fff || self.pitch == 0 {
            bail!("the blitter has no such surface: {self:x?}");
        }
        Ok(self.pitch / unit)
    }
}

/// A corner: row in 31:16, column in 15:0.
fn corner(x: i32, y: i32) -> Result<u32> {
    let (x, y) = (i16::try_from(x)?, i16::try_from(y)?);
    Ok(u32::from(y as u16) << 16 | u32::from(x as u16))
}

fn halves(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

/// XY_FAST_COLOR_BLT of a rectangle, in the card's own memory or the system's.
pub fn fill(to: &BltSurface, rect: &Rect, colour: u32, in_system: bool) -> Result<[u32; 16]> {
    let header = FillHeader::new()
        .with_client(2)
        .with_opcode(0x44)
        .with_length(14)
        .with_depth(to.depth.bytes().ilog2() as u8);
    let surface = FillSurface::new()
        .with_pitch_less_one(to.pitch()? - 1)
        .with_cache(UNCACHED << 1)
        .with_tiling(code(to.layout));
    let mut out = [0; 16];
    out[..4].copy_from_slice(&[
        header.into_bits(),
        surface.into_bits(),
        corner(rect.x1, rect.y1)?,
        corner(rect.x2, rect.y2)?,
    ]);
    out[4..6].copy_from_slice(&halves(to.address));
    // Bit 31 of dword 6: which memory.
    out[6] = u32::from(in_system) << 31;
    out[7] = colour;
    Ok(out)
}

/// XY_FAST_COPY_BLT of a rectangle, from a column and row on.
pub fn copy(
    to: &BltSurface,
    rect: &Rect,
    from: &BltSurface,
    (x, y): (i32, i32),
) -> Result<[u32; 10]> {
    let header = CopyHeader::new()
        .with_client(2)
        .with_opcode(0x42)
        .with_length(8)
        .with_to_tiling(code(to.layout))
        .with_from_tiling(code(from.layout));
    let surface = CopySurface::new()
        .with_pitch(to.pitch()? as u16)
        .with_depth(match to.depth {
            Depth::Bpp8 => 0,
            Depth::Bpp565 | Depth::Bpp1555 => 1,
            Depth::Bpp32 => 3,
        })
        .with_to_four(to.layout == Layout::Four)
        .with_from_four(from.layout == Layout::Four);
    let (to_at, from_at) = (halves(to.address), halves(from.address));
    Ok([
        header.into_bits(),
        surface.into_bits(),
        corner(rect.x1, rect.y1)?,
        corner(rect.x2, rect.y2)?,
        to_at[0],
        to_at[1],
        corner(x, y)?,
        from.pitch()?,
        from_at[0],
        from_at[1],
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURFACE: BltSurface = BltSurface {
        address: 0x0001_2340_0000,
        pitch: 5120,
        layout: Layout::Linear,
        depth: Depth::Bpp32,
    };

    /// §2.2 row 2: 5100000Eh and 2 in 20:19; index 1 as 2 in 27:21, pitch less one; corners; destination;
    /// memory; colour.
    #[test]
    fn a_fill_is_that_of_the_digest() {
        let rect = Rect::new(3, 2, 10, 20);
        let dwords = fill(&SURFACE, &rect, 0x00c0_ffee, false).expect("it can be said");
        assert_eq!(
            dwords[..8],
            [
                0x5110_000e,
                0x0040_13ff,
                0x0002_0003,
                0x0016_000d,
                0x2340_0000,
                1,
                0,
                0x00c0_ffee
            ]
        );
        assert_eq!(dwords[8..], [0; 8]);
        // Tiles: their pitch is in dwords, and they are named in 31:30. Bit 31 of dword 6: the system's memory.
        let tiles = BltSurface {
            layout: Layout::Four,
            depth: Depth::Bpp8,
            ..SURFACE
        };
        let dwords = fill(&tiles, &rect, 7, true).expect("it can be said");
        assert_eq!(dwords[..2], [0x5100_000e, 0x8040_04ff]);
        assert_eq!(dwords[6], 0x8000_0000);
    }

    /// §2.2 row 3: 50800008h, tiles in 21:20 and 14:13 and bits 31 and 30, 3 in 26:24; corners; destination;
    /// source.
    #[test]
    fn a_copy_is_that_of_the_digest() {
        let rect = Rect::new(3, 2, 10, 20);
        let from = BltSurface {
            address: 0x2_0000_0000,
            pitch: 1024,
            ..SURFACE
        };
        let dwords = copy(&SURFACE, &rect, &from, (5, 6)).expect("it can be said");
        let expected = [
            0x5080_0008,
            0x0300_1400,
            0x0002_0003,
            0x0016_000d,
            0x2340_0000,
            1,
            0x0006_0005,
            0x400,
            0,
            2,
        ];
        assert_eq!(dwords, expected);
        let to = |layout| BltSurface { layout, ..SURFACE };
        let dwords = copy(&to(Layout::X), &rect, &from, (5, 6)).expect("it can be said");
        assert_eq!(dwords[..2], [0x5080_2008, 0x0300_0500]);
        let dwords = copy(&to(Layout::Four), &rect, &to(Layout::Four), (0, 0)).expect("it can");
        assert_eq!(dwords[..2], [0x50a0_4008, 0xc300_0500]);
        assert_eq!(dwords[7], 0x500);
    }

    #[test]
    fn a_pitch_is_whole_rows_of_tiles() {
        let narrow = BltSurface {
            pitch: 640,
            layout: Layout::X,
            ..SURFACE
        };
        assert!(fill(&narrow, &Rect::new(0, 0, 1, 1), 0, false).is_err());
    }

    #[test]
    fn small_commands_are_those_of_the_digest() {
        assert_eq!(ARB_CHECK, 0x0280_0000);
        assert_eq!(FLUSH, [0x1300_0002, 0, 0, 0]);
    }
}

// SPDX-License-Identifier: GPL-2.0
//! The first two dwords of a blitter command, and those that hold coordinates
//! (G45 PRM Vol 1b §8.8, §8.9; Sandy Bridge has the same).

use bitfield_struct::bitfield;

/// Client field of 2D commands (bits 31:29).
pub const CLIENT_2D: u8 = 2;

/// Dword 0 of most commands.
///
/// Bits 19:17 are the first bit of a mono source, or the mode of a colour key;
/// bits 21:20 act on surfaces of 32 bpp only.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct Header {
    /// Bits 7:0: dwords of the command less two.
    pub length: u8,
    /// Bits 10:8: pattern row for y = 0.
    #[bits(3)]
    pub vertical_seed: u8,
    /// Bit 11: the destination is X-tiled.
    pub tiled_destination: bool,
    /// Bits 14:12: pattern column for x = 0.
    #[bits(3)]
    pub horizontal_seed: u8,
    /// Bit 15: the source is X-tiled.
    pub tiled_source: bool,
    /// Bit 16: rows of text start on a byte.
    pub byte_packed: bool,
    /// Bits 19:17: first bit of a mono source; or the mode of a colour key.
    #[bits(3)]
    pub start_bit: u8,
    /// Bit 20: write the colour channels.
    pub write_rgb: bool,
    /// Bit 21: write the alpha channel.
    pub write_alpha: bool,
    /// Bits 28:22: which command.
    #[bits(7)]
    pub opcode: u8,
    /// Bits 31:29: 2.
    #[bits(3, default = CLIENT_2D)]
    pub client: u8,
}

/// Dword 0 of XY_MONO_PAT_FIXED_BLT, where bits 18:15 choose the pattern (§8.9.14).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct FixedPatternHeader {
    /// Bits 7:0: dwords of the command less two.
    pub length: u8,
    /// Bits 10:8: pattern row for y = 0.
    #[bits(3)]
    pub vertical_seed: u8,
    /// Bit 11: the destination is X-tiled.
    pub tiled_destination: bool,
    /// Bits 14:12: pattern column for x = 0.
    #[bits(3)]
    pub horizontal_seed: u8,
    /// Bits 18:15: the pattern's code.
    #[bits(4)]
    pub pattern: u8,
    #[bits(1)]
    __: u8,
    /// Bit 20: write the colour channels.
    pub write_rgb: bool,
    /// Bit 21: write the alpha channel.
    pub write_alpha: bool,
    /// Bits 28:22: which command.
    #[bits(7)]
    pub opcode: u8,
    /// Bits 31:29: 2.
    #[bits(3, default = CLIENT_2D)]
    pub client: u8,
}

/// Dword 1 of drawing commands (BR13) and of the set-up commands (BR01).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct Control {
    /// Bits 15:0: pitch of the destination; bytes if linear, dwords if tiled.
    pub pitch: u16,
    /// Bits 23:16: raster operation.
    pub rop: u8,
    /// Bits 25:24: colour depth.
    #[bits(2)]
    pub depth: u8,
    #[bits(2)]
    __: u8,
    /// Bit 28: zeros of a mono pattern leave the destination alone.
    pub pattern_transparent: bool,
    /// Bit 29: zeros of a mono source leave the destination alone.
    pub source_transparent: bool,
    /// Bit 30: draw inside the clip rectangle only; X direction in SRC_COPY_BLT.
    pub clip: bool,
    /// Bit 31: the pattern is one colour, its background colour.
    pub solid: bool,
}

/// A dword with a row in 31:16 and a column in 15:0, each 16 bits and signed.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct Point {
    /// Bits 15:0: column.
    pub x: i16,
    /// Bits 31:16: row.
    pub y: i16,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opcode and length of each command with both bits of the write mask set where it has them
    /// (G45 PRM Vol 1b §8.8 and §8.9, "Instruction Target" and "Dword Length").
    #[test]
    fn headers_are_those_of_the_document() {
        for (opcode, length, mask, dword) in [
            (0x40, 3, true, 0x5030_0003),
            (0x43, 4, true, 0x50f0_0004),
            (0x01, 6, true, 0x4070_0006),
            (0x03, 1, false, 0x40c0_0001),
            (0x24, 0, false, 0x4900_0000),
            (0x50, 4, true, 0x5430_0004),
            (0x53, 6, true, 0x54f0_0006),
        ] {
            let header = Header::new()
                .with_opcode(opcode)
                .with_length(length)
                .with_write_rgb(mask)
                .with_write_alpha(mask);
            assert_eq!(header.into_bits(), dword, "opcode {opcode:02x}");
        }
    }

    #[test]
    fn fields_lie_where_the_document_says() {
        assert_eq!(
            Header::new().with_tiled_destination(true).into_bits(),
            0x4000_0800
        );
        assert_eq!(
            Header::new().with_tiled_source(true).into_bits(),
            0x4000_8000
        );
        assert_eq!(
            Header::new().with_byte_packed(true).into_bits(),
            0x4001_0000
        );
        assert_eq!(Header::new().with_start_bit(7).into_bits(), 0x400e_0000);
        assert_eq!(
            Header::new()
                .with_horizontal_seed(5)
                .with_vertical_seed(3)
                .into_bits(),
            0x4000_5300
        );
        assert_eq!(
            FixedPatternHeader::new().with_pattern(0xb).into_bits(),
            0x4005_8000
        );
        let control = Control::new()
            .with_pitch(0x1400)
            .with_rop(0xf0)
            .with_depth(3)
            .with_clip(true);
        assert_eq!(control.into_bits(), 0x43f0_1400);
        assert_eq!(
            Control::new()
                .with_solid(true)
                .with_source_transparent(true)
                .into_bits(),
            0xa000_0000
        );
        assert_eq!(
            Control::new().with_pattern_transparent(true).into_bits(),
            0x1000_0000
        );
        assert_eq!(
            Point::new().with_y(-1).with_x(0x7fff).into_bits(),
            0xffff_7fff
        );
    }
}

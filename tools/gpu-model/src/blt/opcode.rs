// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The BLT commands and what their dwords are (G45 PRM V1b §8.8, §8.9): one table for the parser, the length rule and
//! the trace.
//!
//! Gen6 and Gen7 have the same commands with the same layout (the SNB PRM seed has no BLT chapter; gen6-snb.md §2.5).

/// What an operand dword holds, by the internal register that it loads (§8.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// BR13, in a setup command BR01: raster operation, depth, pitch, switches.
    Control,
    /// BR14: 31:16 lines, 15:0 bytes per line. §8.10.10 shows 13 bits of each, the packets show 16; all 16 count.
    Size,
    /// BR09: base of the destination surface; in the linear commands the first byte written.
    DstBase,
    /// BR22: first destination pixel.
    DstFirst,
    /// BR23: destination pixel after the last.
    DstEnd,
    /// BR11: 15:0 signed source pitch.
    SrcPitch,
    /// BR26: first source pixel.
    SrcFirst,
    /// BR12: base of the colour source; in the linear command the first byte read.
    SrcBase,
    /// BR12: monochrome source, at the first destination pixel.
    MonoSource,
    /// BR18: source background colour.
    SrcBackground,
    /// BR19: source foreground colour.
    SrcForeground,
    /// BR18: low end of the colour key.
    KeyLow,
    /// BR19: high end of the colour key.
    KeyHigh,
    /// BR15: address of the colour pattern.
    PatternBase,
    /// BR16: pattern background or solid colour.
    PatternBackground,
    /// BR17: pattern foreground colour.
    PatternForeground,
    /// BR20: rows 0 to 3 of a monochrome pattern.
    PatternLow,
    /// BR21: rows 4 to 7 of a monochrome pattern.
    PatternHigh,
    /// BR24: first pixel inside the clip rectangle.
    ClipFirst,
    /// BR25: pixel after the last inside the clip rectangle.
    ClipEnd,
    /// BR05: setup background colour.
    SetupBackground,
    /// BR06: setup foreground colour.
    SetupForeground,
    /// BR07: setup pattern address.
    SetupPattern,
}

/// Data that follow the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Immediate {
    /// None: the command has one length.
    None,
    /// A monochrome source: an even number of dwords.
    Source,
    /// A colour pattern: 16, 32 or 64 dwords, by the depth.
    Pattern,
}

/// Header bits that some commands define (§8.10.1 has the meanings; positions are those of the commands, which differ
/// from BR00's).
pub(super) mod header {
    /// 32 bpp byte mask: 21 alpha, 20 red, green and blue.
    pub const MASK: u32 = 3 << 20;
    /// Bit of a monochrome source's first byte that is the first pixel of each line.
    pub const BIT_POSITION: u32 = 7 << 17;
    /// Transparency range mode.
    pub const KEY_MODE: u32 = 7 << 17;
    /// Fixed pattern.
    pub const FIXED_PATTERN: u32 = 15 << 15;
    /// Text: lines start on a byte.
    pub const BYTE_PACKED: u32 = 1 << 16;
    /// The colour source is tiled.
    pub const SRC_TILED: u32 = 1 << 15;
    /// Pattern pixel that belongs to destination X = 0.
    pub const SEED_X: u32 = 7 << 12;
    /// The destination is tiled.
    pub const DST_TILED: u32 = 1 << 11;
    /// Pattern line that belongs to destination Y = 0.
    pub const SEED_Y: u32 = 7 << 8;
    /// Both seeds and the destination's tiling.
    pub const PATTERN: u32 = SEED_X | DST_TILED | SEED_Y;
}

/// Bits of the control dword (BR01, BR13) that some commands define (§8.10.2, §8.10.9).
pub(super) mod control {
    /// The pattern is the background colour.
    pub const SOLID: u32 = 1 << 31;
    /// Draw only inside the clip rectangle.
    pub const CLIP: u32 = 1 << 30;
    /// SRC_COPY_BLT: right to left.
    pub const RIGHT_TO_LEFT: u32 = 1 << 30;
    /// Source pixels of bit 0 are not written.
    pub const SRC_TRANSPARENT: u32 = 1 << 29;
    /// Pattern pixels of bit 0 are not written. §8.9.23 prints 28:27 for it; all other sections bit 28.
    pub const PAT_TRANSPARENT: u32 = 1 << 28;
    /// BR01's copy of the byte mask of the setup command's header.
    pub const SETUP_MASK: u32 = 3 << 26;
    /// Depth, raster operation and pitch, in every command.
    pub const ALWAYS: u32 = 0x03ff_ffff;
}

/// A command of chapter 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Header bits 28:22.
    pub opcode: u8,
    /// The document's name.
    pub name: &'static str,
    /// Section that defines it.
    pub section: &'static str,
    /// What dwords 1 and following hold.
    pub fields: &'static [Field],
    /// What follows them.
    pub immediate: Immediate,
    /// Header bits 21:8 that the command defines; of the two linear commands 21:5.
    pub header: u32,
    /// Control bits above 25 that the command defines.
    pub control: u32,
}

impl Command {
    /// The command of a header's opcode field.
    pub fn of(header: u32) -> Option<&'static Command> {
        let opcode = opcode(header);
        COMMANDS.iter().find(|c| c.opcode == opcode)
    }

    /// Dwords in front of immediate data.
    pub const fn dwords(&self) -> usize {
        1 + self.fields.len()
    }

    /// Index of the dword that holds `field`.
    pub fn index(&self, field: Field) -> Option<usize> {
        self.fields.iter().position(|&f| f == field).map(|i| i + 1)
    }

    /// Returns whether the length field has only bits 4:0 (§8.8: the linear commands).
    pub const fn is_linear(opcode: u8) -> bool {
        matches!(opcode, 0x40 | 0x43)
    }
}

/// Header bits 28:22.
pub(super) const fn opcode(header: u32) -> u8 {
    (header >> 22) as u8 & 0x7f
}

/// Total dwords that a BLT header announces: the length field plus 2. `None` for another client than 2.
///
/// The labels of the last immediate dword ("DWL+3", "DWL+4") contradict each other; field plus 2 is the one rule that
/// fits every command of fixed length.
pub(super) const fn length(header: u32) -> Option<usize> {
    if header >> 29 != 2 {
        return None;
    }
    let field = if Command::is_linear(opcode(header)) {
        header & 0x1f
    } else {
        header & 0xff
    };
    Some(field as usize + 2)
}

/// Every command of §8.8 and §8.9.
pub(super) const COMMANDS: &[Command] = {
    use control::{CLIP, PAT_TRANSPARENT, RIGHT_TO_LEFT, SOLID, SRC_TRANSPARENT};
    use header::{
        BIT_POSITION, BYTE_PACKED, DST_TILED, FIXED_PATTERN, KEY_MODE, MASK, PATTERN, SRC_TILED,
    };
    use Field::*;
    /// The fields of a command that draws a rectangle: these first, then its own.
    macro_rules! xy {
        ($($field:ident),* $(,)?) => {
            &[Control, DstFirst, DstEnd, DstBase, $($field),*]
        };
    }

    const fn command(
        opcode: u8,
        name: &'static str,
        section: &'static str,
        (header, control): (u32, u32),
        fields: &'static [Field],
        immediate: Immediate,
    ) -> Command {
        Command {
            opcode,
            name,
            section,
            fields,
            immediate,
            header,
            control,
        }
    }
    &[
        command(
            0x01,
            "XY_SETUP_BLT",
            "8.9.1",
            (MASK | DST_TILED, CLIP | SRC_TRANSPARENT),
            &[
                Control,
                ClipFirst,
                ClipEnd,
                DstBase,
                SetupBackground,
                SetupForeground,
                SetupPattern,
            ],
            Immediate::None,
        ),
        command(
            0x11,
            "XY_SETUP_MONO_PATTERN_SL_BLT",
            "8.9.2",
            (MASK | DST_TILED, SOLID | CLIP | PAT_TRANSPARENT),
            &[
                Control,
                ClipFirst,
                ClipEnd,
                DstBase,
                SetupBackground,
                SetupForeground,
                PatternLow,
                PatternHigh,
            ],
            Immediate::None,
        ),
        command(
            0x03,
            "XY_SETUP_CLIP_BLT",
            "8.9.3",
            (DST_TILED, 0),
            &[ClipFirst, ClipEnd],
            Immediate::None,
        ),
        command(
            0x24,
            "XY_PIXEL_BLT",
            "8.9.4",
            (DST_TILED, 0),
            &[DstFirst],
            Immediate::None,
        ),
        command(
            0x25,
            "XY_SCANLINES_BLT",
            "8.9.5",
            (PATTERN, 0),
            &[DstFirst, DstEnd],
            Immediate::None,
        ),
        command(
            0x26,
            "XY_TEXT_BLT",
            "8.9.6",
            (BYTE_PACKED | DST_TILED, 0),
            &[DstFirst, DstEnd, MonoSource],
            Immediate::None,
        ),
        command(
            0x31,
            "XY_TEXT_IMMEDIATE_BLT",
            "8.9.7",
            (BYTE_PACKED | DST_TILED, 0),
            &[DstFirst, DstEnd],
            Immediate::Source,
        ),
        command(
            0x40,
            "COLOR_BLT",
            "8.8.1",
            (MASK, 0),
            &[Control, Size, DstBase, PatternBackground],
            Immediate::None,
        ),
        command(
            0x43,
            "SRC_COPY_BLT",
            "8.8.2",
            (MASK, RIGHT_TO_LEFT),
            &[Control, Size, DstBase, SrcPitch, SrcBase],
            Immediate::None,
        ),
        command(
            0x50,
            "XY_COLOR_BLT",
            "8.9.8",
            (MASK | DST_TILED, CLIP),
            xy!(PatternBackground),
            Immediate::None,
        ),
        command(
            0x51,
            "XY_PAT_BLT",
            "8.9.9",
            (MASK | PATTERN, CLIP),
            xy!(PatternBase),
            Immediate::None,
        ),
        command(
            0x76,
            "XY_PAT_CHROMA_BLT",
            "8.9.10",
            (MASK | KEY_MODE | PATTERN, CLIP),
            xy!(PatternBase, KeyLow, KeyHigh),
            Immediate::None,
        ),
        command(
            0x72,
            "XY_PAT_BLT_IMMEDIATE",
            "8.9.11",
            (MASK | PATTERN, CLIP),
            xy!(),
            Immediate::Pattern,
        ),
        command(
            0x77,
            "XY_PAT_CHROMA_BLT_IMMEDIATE",
            "8.9.12",
            (MASK | KEY_MODE | PATTERN, CLIP),
            xy!(KeyLow, KeyHigh),
            Immediate::Pattern,
        ),
        command(
            0x52,
            "XY_MONO_PAT_BLT",
            "8.9.13",
            (MASK | PATTERN, CLIP | PAT_TRANSPARENT),
            xy!(
                PatternBackground,
                PatternForeground,
                PatternLow,
                PatternHigh
            ),
            Immediate::None,
        ),
        // §8.9.14 names a "bit mask enable" in control bit 27, which it also calls reserved; no bit mask register
        // exists, so it is reserved here.
        command(
            0x59,
            "XY_MONO_PAT_FIXED_BLT",
            "8.9.14",
            (MASK | FIXED_PATTERN | PATTERN, CLIP | PAT_TRANSPARENT),
            xy!(PatternBackground, PatternForeground),
            Immediate::None,
        ),
        command(
            0x53,
            "XY_SRC_COPY_BLT",
            "8.9.15",
            (MASK | SRC_TILED | DST_TILED, CLIP),
            xy!(SrcFirst, SrcPitch, SrcBase),
            Immediate::None,
        ),
        command(
            0x73,
            "XY_SRC_COPY_CHROMA_BLT",
            "8.9.16",
            (MASK | KEY_MODE | SRC_TILED | DST_TILED, CLIP),
            xy!(SrcFirst, SrcPitch, SrcBase, KeyLow, KeyHigh),
            Immediate::None,
        ),
        command(
            0x54,
            "XY_MONO_SRC_COPY_BLT",
            "8.9.17",
            (MASK | BIT_POSITION | DST_TILED, CLIP | SRC_TRANSPARENT),
            xy!(MonoSource, SrcBackground, SrcForeground),
            Immediate::None,
        ),
        command(
            0x71,
            "XY_MONO_SRC_COPY_IMMEDIATE_BLT",
            "8.9.18",
            (MASK | BIT_POSITION | DST_TILED, CLIP | SRC_TRANSPARENT),
            xy!(SrcBackground, SrcForeground),
            Immediate::Source,
        ),
        // From here on the source pitch stands before the source coordinates.
        command(
            0x55,
            "XY_FULL_BLT",
            "8.9.19",
            (MASK | SRC_TILED | PATTERN, CLIP),
            xy!(SrcPitch, SrcFirst, SrcBase, PatternBase),
            Immediate::None,
        ),
        command(
            0x74,
            "XY_FULL_IMMEDIATE_PATTERN_BLT",
            "8.9.20",
            (MASK | SRC_TILED | PATTERN, CLIP),
            xy!(SrcPitch, SrcFirst, SrcBase),
            Immediate::Pattern,
        ),
        command(
            0x56,
            "XY_FULL_MONO_SRC_BLT",
            "8.9.21",
            (MASK | BIT_POSITION | PATTERN, CLIP | SRC_TRANSPARENT),
            xy!(MonoSource, SrcBackground, SrcForeground, PatternBase),
            Immediate::None,
        ),
        command(
            0x75,
            "XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT",
            "8.9.22",
            (MASK | BIT_POSITION | PATTERN, CLIP | SRC_TRANSPARENT),
            xy!(MonoSource, SrcBackground, SrcForeground),
            Immediate::Pattern,
        ),
        command(
            0x57,
            "XY_FULL_MONO_PATTERN_BLT",
            "8.9.23",
            (MASK | SRC_TILED | PATTERN, SOLID | CLIP | PAT_TRANSPARENT),
            xy!(
                SrcPitch,
                SrcFirst,
                SrcBase,
                PatternBackground,
                PatternForeground,
                PatternLow,
                PatternHigh
            ),
            Immediate::None,
        ),
        command(
            0x58,
            "XY_FULL_MONO_PATTERN_MONO_SRC_BLT",
            "8.9.24",
            (
                MASK | BIT_POSITION | PATTERN,
                SOLID | CLIP | SRC_TRANSPARENT | PAT_TRANSPARENT,
            ),
            xy!(
                MonoSource,
                SrcBackground,
                SrcForeground,
                PatternBackground,
                PatternForeground,
                PatternLow,
                PatternHigh
            ),
            Immediate::None,
        ),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    /// "DWord Length" of every section, plus 2.
    #[test]
    fn lengths_are_those_of_the_sections() {
        for (opcode, name, field) in [
            (0x40, "COLOR_BLT", 0x3),
            (0x43, "SRC_COPY_BLT", 0x4),
            (0x01, "XY_SETUP_BLT", 0x6),
            (0x11, "XY_SETUP_MONO_PATTERN_SL_BLT", 0x7),
            (0x03, "XY_SETUP_CLIP_BLT", 0x1),
            (0x24, "XY_PIXEL_BLT", 0x0),
            (0x25, "XY_SCANLINES_BLT", 0x1),
            (0x26, "XY_TEXT_BLT", 0x2),
            (0x31, "XY_TEXT_IMMEDIATE_BLT", 0x1),
            (0x50, "XY_COLOR_BLT", 0x4),
            (0x51, "XY_PAT_BLT", 0x4),
            (0x76, "XY_PAT_CHROMA_BLT", 0x6),
            (0x72, "XY_PAT_BLT_IMMEDIATE", 0x3),
            (0x77, "XY_PAT_CHROMA_BLT_IMMEDIATE", 0x5),
            (0x52, "XY_MONO_PAT_BLT", 0x7),
            (0x59, "XY_MONO_PAT_FIXED_BLT", 0x5),
            (0x53, "XY_SRC_COPY_BLT", 0x6),
            (0x73, "XY_SRC_COPY_CHROMA_BLT", 0x8),
            (0x54, "XY_MONO_SRC_COPY_BLT", 0x6),
            (0x71, "XY_MONO_SRC_COPY_IMMEDIATE_BLT", 0x5),
            (0x55, "XY_FULL_BLT", 0x7),
            (0x74, "XY_FULL_IMMEDIATE_PATTERN_BLT", 0x6),
            (0x56, "XY_FULL_MONO_SRC_BLT", 0x7),
            (0x75, "XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT", 0x6),
            (0x57, "XY_FULL_MONO_PATTERN_BLT", 0xa),
            (0x58, "XY_FULL_MONO_PATTERN_MONO_SRC_BLT", 0xa),
        ] {
            let command = Command::of(2 << 29 | opcode << 22).unwrap();
            assert_eq!(command.name, name);
            assert_eq!(command.dwords(), field + 2, "{name}");
        }
        assert_eq!(COMMANDS.len(), 26);
    }

    #[test]
    fn length_counts_the_field_and_two() {
        for (header, expected) in [
            (0x5030_0003, Some(5)),
            (0x50f0_0004, Some(6)),
            (0x5030_00e3, Some(5)), // bits 7:5 are no length in the linear commands
            (0x54f0_0006, Some(8)),
            (0x4c40_0021, Some(0x23)),
            (0x4100_0005, Some(7)), // undefined opcode: skipped by its length
            (0x0000_0000, None),
            (0x7a00_0002, None),
        ] {
            assert_eq!(length(header), expected, "{header:#010x}");
        }
    }
}

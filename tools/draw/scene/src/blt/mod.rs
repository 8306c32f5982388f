// SPDX-License-Identifier: GPL-2.0
//! What the blitter can be asked to do, as typed commands.
//!
//! A [`Command`] says what is drawn. [`encode`] turns it into dwords for the GPU,
//! [`crate::reference`] draws it in software. The two share nothing else.

pub mod dword;
pub mod encode;

use serde::{Deserialize, Serialize};

use crate::rop::Rop;
use crate::surface::{Address, Depth, Rect, Surface, Tiling};

/// Which channels of a 32 bpp pixel are written (G45 PRM Vol 1b §8.10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    /// Bits 23:0.
    pub rgb: bool,
    /// Bits 31:24.
    pub alpha: bool,
}

impl Mask {
    /// All channels.
    pub const ALL: Mask = Mask {
        rgb: true,
        alpha: true,
    };
    /// The colour channels alone.
    pub const RGB: Mask = Mask {
        rgb: true,
        alpha: false,
    };
    /// The alpha channel alone.
    pub const ALPHA: Mask = Mask {
        rgb: false,
        alpha: true,
    };
}

/// The two colours of a mono source or pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ink {
    /// Colour of ones.
    pub foreground: u32,
    /// Colour of zeros, or nothing: then they leave the destination alone.
    pub background: Option<u32>,
}

/// Pattern column and row that belong to (0, 0) of the destination, each 0 to 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed {
    /// Column.
    pub x: u8,
    /// Row.
    pub y: u8,
}

/// The source operand of an XY command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// None.
    None,
    /// Pixels of a surface, from this corner on. Depth as the destination's.
    Colour {
        /// Where they are read.
        surface: Surface,
        /// First column.
        x: i16,
        /// First row.
        y: i16,
    },
    /// Bits in memory; rows start on 16 bits, the first one `bit` later.
    Mono {
        /// First byte.
        at: Address,
        /// Bit in it, 0 to 7, where 0 is the most significant.
        bit: u8,
        /// Colours.
        ink: Ink,
    },
    /// Bits in the command; rows start on 16 bits.
    MonoImmediate {
        /// An even number of dwords, at most 32.
        data: Vec<u32>,
        /// Colours.
        ink: Ink,
    },
}

/// The pattern operand of an XY command: 8 by 8 pixels, repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// None.
    None,
    /// One colour.
    Solid(u32),
    /// 64 pixels in memory, aligned to their size.
    Colour {
        /// First pixel.
        at: Address,
        /// Phase.
        seed: Seed,
    },
    /// 64 pixels in the command.
    ColourImmediate {
        /// 16, 32 or 64 dwords, by depth.
        data: Vec<u32>,
        /// Phase.
        seed: Seed,
    },
    /// 64 bits in the command; bit 7 of byte n is the left end of row n.
    Mono {
        /// Rows.
        rows: [u8; 8],
        /// Colours.
        ink: Ink,
        /// Phase.
        seed: Seed,
    },
    /// One of the ten patterns that the blitter knows.
    Fixed {
        /// Its code: 0 to 5, 8 to 11.
        code: u8,
        /// Colours.
        ink: Ink,
        /// Phase.
        seed: Seed,
    },
}

/// Which operand a colour key looks at (G45 PRM Vol 1b §8.10.1, bits 19:17 of dword 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyMode {
    /// Draw where the source's colour is outside the range.
    Source,
    /// Draw where the destination's colour is inside the range.
    Destination,
}

/// A colour key: a range for each channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// What it looks at.
    pub mode: KeyMode,
    /// Lowest value of each channel.
    pub low: u32,
    /// Highest.
    pub high: u32,
}

/// An XY command without set-up: a rectangle from source, pattern and destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blit {
    /// Where.
    pub dst: Surface,
    /// Which pixels.
    pub rect: Rect,
    /// Raster operation.
    pub rop: Rop,
    /// Channels written.
    pub mask: Mask,
    /// Whether the clip rectangle of the last set-up acts.
    pub clip: bool,
    /// Source.
    pub source: Source,
    /// Pattern.
    pub pattern: Pattern,
    /// Colour key.
    pub key: Option<Key>,
}

impl Blit {
    /// A rectangle of one colour.
    pub fn fill(dst: Surface, rect: Rect, colour: u32) -> Blit {
        Blit {
            dst,
            rect,
            rop: Rop::PATTERN,
            mask: Mask::ALL,
            clip: false,
            source: Source::None,
            pattern: Pattern::Solid(colour),
            key: None,
        }
    }

    /// A copy of what stands at (x, y) of another surface, or the same.
    pub fn copy(dst: Surface, rect: Rect, surface: Surface, x: i16, y: i16) -> Blit {
        Blit {
            rop: Rop::SOURCE,
            source: Source::Colour { surface, x, y },
            pattern: Pattern::None,
            ..Blit::fill(dst, rect, 0)
        }
    }

    /// A rectangle filled with a pattern.
    pub fn pattern(dst: Surface, rect: Rect, pattern: Pattern) -> Blit {
        Blit {
            pattern,
            ..Blit::fill(dst, rect, 0)
        }
    }

    /// Bits in memory, expanded to colours.
    pub fn mono(dst: Surface, rect: Rect, at: Address, ink: Ink) -> Blit {
        Blit {
            rop: Rop::SOURCE,
            source: Source::Mono { at, bit: 0, ink },
            pattern: Pattern::None,
            ..Blit::fill(dst, rect, 0)
        }
    }

    /// The same with another raster operation.
    pub fn with_rop(self, rop: Rop) -> Blit {
        Blit { rop, ..self }
    }
}

/// What the set-up commands leave behind for PIXEL, SCANLINES and TEXT, and the
/// clip rectangle for all (G45 PRM Vol 1b §8.9.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Where.
    pub dst: Surface,
    /// Clip rectangle.
    pub clip_rect: Rect,
    /// Whether it acts on SCANLINES and TEXT.
    pub clip: bool,
    /// Raster operation.
    pub rop: Rop,
    /// Channels written.
    pub mask: Mask,
    /// Background colour; that of PIXEL, too.
    pub background: u32,
    /// Foreground colour.
    pub foreground: u32,
    /// Which of the two set-up commands.
    pub kind: SetupKind,
}

/// The two set-up commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SetupKind {
    /// XY_SETUP_BLT: for text, pixels, and scan lines of a colour pattern.
    Text {
        /// Zeros of text leave the destination alone.
        transparent: bool,
        /// Colour pattern of scan lines, if they are used.
        pattern: Option<Address>,
    },
    /// XY_SETUP_MONO_PATTERN_SL_BLT: for scan lines of a mono pattern.
    MonoPattern {
        /// Rows of the pattern.
        rows: [u8; 8],
        /// Zeros leave the destination alone.
        transparent: bool,
        /// The pattern is the background colour alone.
        solid: bool,
    },
}

/// How rows of text follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Packing {
    /// The next row starts at the next bit.
    Bit,
    /// The next row starts at the next byte.
    Byte,
}

/// One blitter command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// COLOR_BLT: linear fill; `width` in bytes.
    LinearFill {
        /// First byte.
        at: Address,
        /// Bytes from row to row.
        pitch: u16,
        /// Bytes in a row.
        width: u16,
        /// Rows.
        height: u16,
        /// Depth of the colour.
        depth: Depth,
        /// Raster operation.
        rop: Rop,
        /// Channels written.
        mask: Mask,
        /// Colour.
        colour: u32,
    },
    /// SRC_COPY_BLT: linear copy from left to right; `width` in bytes.
    LinearCopy {
        /// First byte written.
        to: Address,
        /// Bytes from row to row there.
        to_pitch: u16,
        /// First byte read.
        from: Address,
        /// Bytes from row to row there, a multiple of four.
        from_pitch: u16,
        /// Bytes in a row.
        width: u16,
        /// Rows.
        height: u16,
        /// Depth, which says what the mask means.
        depth: Depth,
        /// Raster operation.
        rop: Rop,
    },
    /// Any XY command that needs no set-up.
    Blit(Blit),
    /// One of the two set-up commands.
    Setup(Setup),
    /// XY_SETUP_CLIP_BLT: the clip rectangle alone.
    SetupClip {
        /// The rectangle.
        rect: Rect,
    },
    /// XY_PIXEL_BLT.
    Pixel {
        /// Column.
        x: i16,
        /// Row.
        y: i16,
        /// Tiling of the set-up's destination.
        tiling: Tiling,
    },
    /// XY_SCANLINES_BLT.
    Scanlines {
        /// Which pixels.
        rect: Rect,
        /// Phase of the pattern.
        seed: Seed,
        /// Tiling of the set-up's destination.
        tiling: Tiling,
    },
    /// XY_TEXT_BLT.
    Text {
        /// Which pixels.
        rect: Rect,
        /// First byte of the bits.
        at: Address,
        /// How rows follow each other.
        packing: Packing,
        /// Tiling of the set-up's destination.
        tiling: Tiling,
    },
    /// XY_TEXT_IMMEDIATE_BLT.
    TextImmediate {
        /// Which pixels.
        rect: Rect,
        /// An even number of dwords, at most 32.
        data: Vec<u32>,
        /// How rows follow each other.
        packing: Packing,
        /// Tiling of the set-up's destination.
        tiling: Tiling,
    },
}

impl From<Blit> for Command {
    fn from(blit: Blit) -> Command {
        Command::Blit(blit)
    }
}

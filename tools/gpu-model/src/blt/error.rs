// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What can be wrong with a BLT command.
//!
//! Two kinds: a [`BltError`] stops the command before it has read or written anything; a [`Violation`] breaks a rule of
//! the document whose effect on real hardware is undefined or harmless, and the model draws on, in the way that the
//! variant says, and reports it. `BltCaps::strict` turns the second kind into the first.

use thiserror::Error;

/// A command that is not executed. Nothing was read or written, and no state changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BltError {
    /// There is no header, or its client (bits 31:29) is not 2.
    #[error("not a BLT command")]
    NotBlt,
    /// An opcode that chapter 8 does not define.
    #[error("DW0: undefined BLT opcode {opcode:#04x}")]
    UnknownOpcode {
        /// Header bits 28:22.
        opcode: u8,
    },
    /// The slice does not have the number of dwords that the header announces.
    #[error("DW0: {got} dwords given, the header announces {announced}")]
    Truncated {
        /// Dwords that the header announces.
        announced: usize,
        /// Dwords given.
        got: usize,
    },
    /// The header's length field does not fit the opcode.
    #[error("DW0: total length {got} dwords, the opcode has {expected}")]
    Length {
        /// Dwords that the opcode has; for immediate data, the least.
        expected: usize,
        /// Dwords that the header announces.
        got: usize,
    },
    /// An odd number of immediate dwords: the engine hangs (§8.9.7, §8.9.18).
    #[error("DW{dword}: odd number of immediate dwords ({count})")]
    ImmediateOdd {
        /// First immediate dword.
        dword: usize,
        /// Immediate dwords given.
        count: usize,
    },
    /// Fewer immediate data than the rectangle consumes: the engine waits for them without end (§8.10.10).
    #[error("DW{dword}: {got} bytes of immediate source, the rectangle takes {needed}")]
    ImmediateShort {
        /// First immediate dword.
        dword: usize,
        /// Bytes that the rectangle takes.
        needed: u64,
        /// Bytes given.
        got: u64,
    },
    /// Immediate pattern of another size than 8 x 8 pixels of the command's depth (§8.9.11).
    #[error("DW{dword}: {got} dwords of immediate pattern, the depth takes {needed}")]
    PatternSize {
        /// First immediate dword.
        dword: usize,
        /// 16, 32 or 64 dwords, for 8, 16 and 32 bits per pixel.
        needed: usize,
        /// Dwords given.
        got: usize,
    },
    /// A tiled operand whose base is not on 4 KB, or whose pitch is not a positive or negative multiple of the tile's
    /// width (§8.9.1, §8.10.2). The class is Invalid Tiling (§5.7.2, table 5-3).
    #[error("DW{dword}: invalid tiling")]
    InvalidTiling {
        /// Dword that holds the base or the pitch.
        dword: usize,
    },
    /// A source key in a command without a source (§8.9.10, §8.9.12: illegal).
    #[error("DW0: transparency range mode {mode} in a command without source")]
    KeyMode {
        /// Header bits 19:17.
        mode: u8,
    },
    /// A negative pitch in XY_PIXEL_BLT, XY_TEXT_BLT or XY_TEXT_IMMEDIATE_BLT (§8.4, §8.9.4, §8.9.6, §8.9.7).
    #[error("DW0: negative pitch in BR01")]
    NegativePitch,
    /// A [`Violation`], under `BltCaps::strict`.
    #[error(transparent)]
    Violation(#[from] Violation),
}

impl BltError {
    /// Index of the dword that is wrong; one past the end where immediate data are missing.
    pub const fn dword(&self) -> usize {
        match self {
            BltError::NotBlt
            | BltError::UnknownOpcode { .. }
            | BltError::Truncated { .. }
            | BltError::Length { .. }
            | BltError::KeyMode { .. }
            | BltError::NegativePitch => 0,
            BltError::ImmediateOdd { dword, .. }
            | BltError::ImmediateShort { dword, .. }
            | BltError::PatternSize { dword, .. }
            | BltError::InvalidTiling { dword } => *dword,
            BltError::Violation(violation) => violation.dword,
        }
    }

    /// Returns whether the document says that the engine hangs on this.
    pub const fn hangs(&self) -> bool {
        matches!(
            self,
            BltError::ImmediateOdd { .. } | BltError::ImmediateShort { .. }
        )
    }
}

/// A rule that a command broke, although it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("DW{dword}: {rule}")]
pub struct Violation {
    /// Index of the dword that breaks the rule.
    pub dword: usize,
    /// The rule.
    pub rule: Rule,
}

/// The rules of [`Violation`], each with what the model does when it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rule {
    /// Reserved fields must be 0 (§8.7.1). Executed as if they were.
    #[error("reserved bits {bits:#010x} set")]
    Reserved {
        /// The bits that were set.
        bits: u32,
    },
    /// The raster operation takes an operand that the command does not have, or a source copy takes none (§8.9.4,
    /// §8.9.15). An absent operand reads as 0.
    #[error("raster operation {code:#04x} does not fit the command's operands")]
    Rop {
        /// The raster operation.
        code: u8,
    },
    /// Linear colour operands have a pitch that is a multiple of 4 bytes (§8.1). Executed with the pitch as given.
    #[error("pitch of {pitch} bytes is not a multiple of 4")]
    PitchGranularity {
        /// Pitch in bytes.
        pitch: i32,
    },
    /// All pixels are naturally aligned (§8.3). Executed at the address as given.
    #[error("address or width does not fall on a pixel")]
    PixelAlignment,
    /// Colour patterns lie on a multiple of their size (§8.2.2.4). Executed with address bits 31:6.
    #[error("pattern is not aligned to its size")]
    PatternAlignment,
    /// Rows of monochrome sources start on 16 bits (§8.2.2.3). Executed with rows counted from the address as given.
    #[error("monochrome source is not aligned to 16 bits")]
    MonoAlignment,
    /// Monochrome sources are at most 32,745 pixels wide (§8.7.1). Executed.
    #[error("monochrome source of {width} pixels per line")]
    MonoWidth {
        /// Width of the rectangle in pixels.
        width: u32,
    },
    /// Immediate sources are at most 128 bytes (§8.2.2.3). Executed with all data.
    #[error("immediate source of {bytes} bytes")]
    ImmediateLong {
        /// Size in bytes.
        bytes: usize,
    },
    /// More immediate data than the rectangle takes, beyond the padding to a quadword (§8.10.10). The rest is skipped.
    #[error("{bytes} bytes of immediate source are left over")]
    ImmediateLeftOver {
        /// Left over bytes, padding included.
        bytes: u64,
    },
    /// Fixed patterns 6, 7 and 12 to 15 are reserved (§8.9.14). Executed with an all-zero pattern.
    #[error("reserved fixed pattern {code}")]
    FixedPattern {
        /// Header bits 18:15.
        code: u8,
    },
    /// Lines are at most 32,768 bytes (§8.2.1.2). Executed.
    #[error("lines of {bytes} bytes")]
    LineLength {
        /// Length in bytes.
        bytes: u32,
    },
    /// A tiled operand is wider than its pitch (§4.5.4.3). Executed: the row runs on into the next row of tiles.
    #[error("row reaches byte {end} of a tiled pitch of {pitch}")]
    BeyondPitch {
        /// Last byte column plus 1.
        end: u32,
        /// Pitch in bytes.
        pitch: u32,
    },
    /// A source line shares a cache line with the destination line before it, which is undefined unless both have
    /// one base and pitches that are multiples of 64 bytes (§8.7.1). Executed line by line.
    #[error("source line shares a cache line with the destination line before it")]
    CacheLineOverlap,
}

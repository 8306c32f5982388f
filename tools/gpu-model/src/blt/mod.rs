// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The blitter: fills, copies, patterns, text; every command of G45 PRM V1b chapter 8 ("BLT Engine"), which Gen6 and
//! Gen7 have unchanged (gen6-snb.md §2.5).
//!
//! A command streamer asks [`length`] how many dwords a command has, hands all of them to [`execute`], and gives the
//! engine its memory by [`BltMemory`]. What persists from command to command is [`BltState`], what differs from chip to
//! chip [`BltCaps`]. [`decode()`] puts a command in words, for traces.
//!
//! | file | what |
//! | --- | --- |
//! | `opcode.rs` | the commands, what their dwords hold, which bits they define |
//! | `parse.rs`, `operands.rs` | a command and the state become one blit: rectangle, clipping, directions; operands |
//! | `rules.rs`, `error.rs` | what a command can do wrong |
//! | `engine.rs` | the blit is done, line by line |
//! | `rop.rs` | raster operations |
//! | `surface.rs`, `pattern.rs`, `mono.rs`, `key.rs` | the operands, and the colour key |
//!
//! Lines are done in the order that the document gives, each read from memory after the one before was written, so that
//! overlapping operands come out as on the hardware; where a command's X direction is the wrong one for its overlap,
//! source pixels are overwritten before they are read (§8.2.1.5), pixel by pixel. The document leaves open what happens
//! between operands that alias through different tilings; here each line is read whole before it is written.

mod decode;
mod engine;
mod error;
mod key;
mod mono;
mod opcode;
mod operands;
mod parse;
mod pattern;
mod rop;
mod rules;
mod state;
mod surface;

pub use decode::decode;
pub use error::{BltError, Rule, Violation};
pub use rop::Rop;
pub use state::{BltState, STATE_DWORDS};

use crate::tiling::{Swizzle, Tiling};

/// Memory as the blitter sees it, by graphics address. Faults are the implementor's: it latches them, answers reads
/// with zeros and drops writes.
pub trait BltMemory {
    /// Reads bytes from `addr` on. Never crosses the end of the 32-bit address space.
    fn read(&mut self, addr: u64, buf: &mut [u8]);

    /// Writes bytes from `addr` on. Never crosses the end of the 32-bit address space.
    fn write(&mut self, addr: u64, data: &[u8]);

    /// Writes the bytes whose `enable` is not 0, as a bus with byte enables does; both slices have one length.
    ///
    /// The provided body reads, merges and writes back. An implementor with real byte enables may do better.
    fn write_enabled(&mut self, addr: u64, data: &[u8], enable: &[u8]) {
        let mut merged = vec![0; data.len()];
        self.read(addr, &mut merged);
        for ((to, from), enable) in merged.iter_mut().zip(data).zip(enable) {
            if *enable != 0 {
                *to = *from;
            }
        }
        self.write(addr, &merged);
    }
}

/// Pixel format (BR13 bits 25:24). §8.10.9 alone has 24 bits for code 2 and calls 3 reserved; every command's table,
/// BR01 (§8.10.2) and "8, 16 and 32 bits per pixel" (§8.3) stand against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// Code 0: 8 bits, an index.
    Bpp8,
    /// Code 1: 16 bits, 5:6:5.
    Rgb565,
    /// Code 2: 16 bits, 1:5:5:5.
    Argb1555,
    /// Code 3: 32 bits, 8:8:8:8.
    Argb8888,
}

impl Depth {
    /// The depth of a control dword.
    pub const fn of(control: u32) -> Depth {
        match (control >> 24) & 3 {
            0 => Depth::Bpp8,
            1 => Depth::Rgb565,
            2 => Depth::Argb1555,
            _ => Depth::Argb8888,
        }
    }

    /// Bytes per pixel.
    pub const fn bytes(self) -> usize {
        match self {
            Depth::Bpp8 => 1,
            Depth::Rgb565 | Depth::Argb1555 => 2,
            Depth::Argb8888 => 4,
        }
    }
}

/// What a chip's blitter can do, and the settings that it takes from elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BltCaps {
    /// BCS_SWCTRL as it stands, on chips that have it (Gen6, Gen7): bit 0 makes tiled sources Y-tiled, bit 1 tiled
    /// destinations. `None` on Gen4, where tiled is X-tiled.
    pub swctrl: Option<u32>,
    /// Fold of address bit 6 in X-tiled operands.
    pub swizzle_x: Swizzle,
    /// Fold of address bit 6 in Y-tiled operands.
    pub swizzle_y: Swizzle,
    /// Refuse a command that breaks a rule ([`Violation`]), instead of executing it as the rule's variant says.
    pub strict: bool,
}

impl BltCaps {
    /// BCS_SWCTRL: tiled sources are Y-tiled.
    const SWCTRL_SRC_Y: u32 = 1 << 0;
    /// BCS_SWCTRL: tiled destinations are Y-tiled.
    const SWCTRL_DST_Y: u32 = 1 << 1;

    /// Layout of a tiled source.
    fn src_tiling(&self) -> (Tiling, Swizzle) {
        self.tiling(Self::SWCTRL_SRC_Y)
    }

    /// Layout of a tiled destination.
    fn dst_tiling(&self) -> (Tiling, Swizzle) {
        self.tiling(Self::SWCTRL_DST_Y)
    }

    fn tiling(&self, bit: u32) -> (Tiling, Swizzle) {
        if self.swctrl.unwrap_or(0) & bit != 0 {
            (Tiling::Y, self.swizzle_y)
        } else {
            (Tiling::X, self.swizzle_x)
        }
    }
}

/// What a command did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BltStats {
    /// Pixels inside the clipped rectangle, masked ones included.
    pub pixels: u64,
    /// Bytes read from memory, operands of all kinds.
    pub bytes_read: u64,
    /// Bytes written to memory; with byte enables only the enabled ones.
    pub bytes_written: u64,
    /// Rules that the command broke.
    pub violations: Vec<Violation>,
}

/// Number of BLT commands that the engine executes.
pub const COMMANDS: usize = opcode::COMMANDS.len();

/// Length in dwords of the command whose header is given, if it is a BLT command (client 2), be its opcode defined or
/// not.
pub fn length(header: u32) -> Option<usize> {
    opcode::length(header)
}

/// Executes one whole command: header, operands, immediate data.
///
/// # Errors
///
/// The command is malformed or outside what the document defines; then nothing was read, written or changed.
pub fn execute(
    cmd: &[u32],
    state: &mut BltState,
    mem: &mut dyn BltMemory,
    caps: &BltCaps,
) -> Result<BltStats, BltError> {
    let parse::Parsed { action, violations } = parse::parse(cmd, state, caps)?;
    if let (true, Some(first)) = (caps.strict, violations.first()) {
        return Err(BltError::Violation(*first));
    }
    let mut stats = BltStats::default();
    match action {
        parse::Action::Setup(new) => *state = new,
        parse::Action::Nothing => {}
        parse::Action::Draw(blit) => stats = blit.draw(mem),
    }
    stats.violations = violations;
    Ok(stats)
}

// SPDX-License-Identifier: GPL-2.0
//! From typed commands to dwords: opcodes, lengths and the order of the fields
//! (G45 PRM Vol 1b §8.8.1 to §8.9.24; Sandy Bridge takes the same commands).

use thiserror::Error;

use super::dword::{Control, FixedPatternHeader, Header, Point};
use super::{
    Blit, Command, Ink, Key, KeyMode, Mask, Packing, Pattern, Seed, Setup, SetupKind, Source,
};
use crate::surface::{Address, Depth, Rect, Surface, Tiling};

/// Why a command has no encoding.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EncodeError {
    /// The blitter has no command with these operands.
    #[error("no command has this source with this pattern")]
    NoSuchCommand,
    /// A coordinate does not fit 16 bits with a sign.
    #[error("coordinate {0} does not fit 16 bits")]
    Coordinate(i32),
    /// A pitch does not fit its field, or is no multiple of what it must be.
    #[error("pitch {0} cannot be written")]
    Pitch(u32),
    /// Immediate data of a wrong size: mono data in whole qwords up to 128 bytes, patterns of their depth.
    #[error("{0} dwords of immediate data")]
    Immediate(usize),
    /// A colour pattern that does not lie on a multiple of its size.
    #[error("pattern at offset {0:#x}")]
    PatternAlignment(u32),
    /// A tiled surface that does not start on a page.
    #[error("tiled surface at offset {0:#x}")]
    TileAlignment(u32),
}

/// A place in a command that needs the GPU address of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Which dword.
    pub dword: usize,
    /// What it must name.
    pub target: Address,
    /// Whether the GPU writes there.
    pub write: bool,
}

/// A command as the GPU reads it, but for addresses, which are zero here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Name of the command in the document.
    pub name: &'static str,
    /// The dwords.
    pub dwords: Vec<u32>,
    /// Where addresses go.
    pub relocations: Vec<Relocation>,
}

impl Packet {
    fn new(name: &'static str) -> Packet {
        Packet {
            name,
            dwords: vec![0],
            relocations: Vec::new(),
        }
    }

    fn push(&mut self, dword: u32) {
        self.dwords.push(dword);
    }

    fn address(&mut self, target: Address, write: bool) {
        self.relocations.push(Relocation {
            dword: self.dwords.len(),
            target,
            write,
        });
        self.dwords.push(0);
    }

    fn point(&mut self, x: i32, y: i32) -> Result<(), EncodeError> {
        let narrow = |v: i32| i16::try_from(v).map_err(|_| EncodeError::Coordinate(v));
        self.push(
            Point::new()
                .with_x(narrow(x)?)
                .with_y(narrow(y)?)
                .into_bits(),
        );
        Ok(())
    }

    fn corners(&mut self, rect: &Rect) -> Result<(), EncodeError> {
        self.point(rect.x1, rect.y1)?;
        self.point(rect.x2, rect.y2)
    }

    /// Puts dword 0 in, now that the length is known: total less two.
    fn finish(mut self, header: Header) -> Packet {
        self.dwords[0] = header
            .with_length((self.dwords.len() - 2) as u8)
            .into_bits();
        self
    }
}

/// The pitch field: bytes if linear, dwords if tiled (§8.10.2). It has a sign.
fn pitch_field(surface: &Surface) -> Result<u16, EncodeError> {
    let (field, grain) = match surface.tiling {
        Tiling::Linear => (surface.pitch, 4),
        Tiling::X => (surface.pitch / 4, 512),
    };
    if field > i16::MAX as u32 || !surface.pitch.is_multiple_of(grain) {
        return Err(EncodeError::Pitch(surface.pitch));
    }
    if surface.tiling == Tiling::X && !surface.base.offset.is_multiple_of(4096) {
        return Err(EncodeError::TileAlignment(surface.base.offset));
    }
    Ok(field as u16)
}

fn with_mask(header: Header, mask: Mask) -> Header {
    header.with_write_rgb(mask.rgb).with_write_alpha(mask.alpha)
}

fn with_seed(header: Header, seed: Seed) -> Header {
    header
        .with_horizontal_seed(seed.x & 7)
        .with_vertical_seed(seed.y & 7)
}

fn is_tiled(tiling: Tiling) -> bool {
    tiling == Tiling::X
}

/// Immediate mono data: an even number of dwords, at most 128 bytes (§8.2.2.3).
fn mono_data(data: &[u32]) -> Result<&[u32], EncodeError> {
    if data.is_empty() || !data.len().is_multiple_of(2) || data.len() > 32 {
        return Err(EncodeError::Immediate(data.len()));
    }
    Ok(data)
}

/// A colour pattern lies on a multiple of its size: 64 pixels (§8.2.2.4).
fn pattern_address(at: Address, depth: Depth) -> Result<Address, EncodeError> {
    if !at.offset.is_multiple_of(64 * depth.bytes()) {
        return Err(EncodeError::PatternAlignment(at.offset));
    }
    Ok(at)
}

/// A colour pattern in the command is 64 pixels (§8.9.11).
fn pattern_data(data: &[u32], depth: Depth) -> Result<&[u32], EncodeError> {
    if data.len() as u32 != 16 * depth.bytes() {
        return Err(EncodeError::Immediate(data.len()));
    }
    Ok(data)
}

/// Eight rows as the two dwords of BR20 and BR21: row 0 is the lowest byte (§8.9.14.1).
fn pattern_rows(rows: &[u8; 8]) -> [u32; 2] {
    let bits = u64::from_le_bytes(*rows);
    [bits as u32, (bits >> 32) as u32]
}

/// The dwords of a command.
pub fn encode(command: &Command) -> Result<Packet, EncodeError> {
    match command {
        Command::LinearFill {
            at,
            pitch,
            width,
            height,
            depth,
            rop,
            mask,
            colour,
        } => {
            let mut p = Packet::new("COLOR_BLT");
            p.push(
                Control::new()
                    .with_pitch(*pitch)
                    .with_rop(rop.0)
                    .with_depth(depth.code())
                    .into_bits(),
            );
            p.push((u32::from(*height) << 16) | u32::from(*width));
            p.address(*at, true);
            p.push(*colour);
            Ok(p.finish(with_mask(Header::new().with_opcode(0x40), *mask)))
        }
        Command::LinearCopy {
            to,
            to_pitch,
            from,
            from_pitch,
            width,
            height,
            depth,
            rop,
        } => {
            if from_pitch % 4 != 0 {
                return Err(EncodeError::Pitch(u32::from(*from_pitch)));
            }
            let mut p = Packet::new("SRC_COPY_BLT");
            p.push(
                Control::new()
                    .with_pitch(*to_pitch)
                    .with_rop(rop.0)
                    .with_depth(depth.code())
                    .into_bits(),
            );
            p.push((u32::from(*height) << 16) | u32::from(*width));
            p.address(*to, true);
            p.push(u32::from(*from_pitch));
            p.address(*from, false);
            Ok(p.finish(with_mask(Header::new().with_opcode(0x43), Mask::ALL)))
        }
        Command::Blit(blit) => encode_blit(blit),
        Command::Setup(setup) => encode_setup(setup),
        Command::SetupClip { rect } => {
            let mut p = Packet::new("XY_SETUP_CLIP_BLT");
            p.corners(rect)?;
            Ok(p.finish(Header::new().with_opcode(0x03)))
        }
        Command::Pixel { x, y, tiling } => {
            let mut p = Packet::new("XY_PIXEL_BLT");
            p.point(i32::from(*x), i32::from(*y))?;
            Ok(p.finish(
                Header::new()
                    .with_opcode(0x24)
                    .with_tiled_destination(is_tiled(*tiling)),
            ))
        }
        Command::Scanlines { rect, seed, tiling } => {
            let mut p = Packet::new("XY_SCANLINES_BLT");
            p.corners(rect)?;
            Ok(p.finish(with_seed(
                Header::new()
                    .with_opcode(0x25)
                    .with_tiled_destination(is_tiled(*tiling)),
                *seed,
            )))
        }
        Command::Text {
            rect,
            at,
            packing,
            tiling,
        } => {
            let mut p = Packet::new("XY_TEXT_BLT");
            p.corners(rect)?;
            p.address(*at, false);
            Ok(p.finish(text_header(0x26, *packing, *tiling)))
        }
        Command::TextImmediate {
            rect,
            data,
            packing,
            tiling,
        } => {
            let mut p = Packet::new("XY_TEXT_IMMEDIATE_BLT");
            p.corners(rect)?;
            p.dwords.extend_from_slice(mono_data(data)?);
            Ok(p.finish(text_header(0x31, *packing, *tiling)))
        }
    }
}

fn text_header(opcode: u8, packing: Packing, tiling: Tiling) -> Header {
    Header::new()
        .with_opcode(opcode)
        .with_byte_packed(packing == Packing::Byte)
        .with_tiled_destination(is_tiled(tiling))
}

fn encode_setup(setup: &Setup) -> Result<Packet, EncodeError> {
    let control = Control::new()
        .with_pitch(pitch_field(&setup.dst)?)
        .with_rop(setup.rop.0)
        .with_depth(setup.dst.depth.code())
        .with_clip(setup.clip);
    let (name, opcode, control) = match &setup.kind {
        SetupKind::Text { transparent, .. } => (
            "XY_SETUP_BLT",
            0x01,
            control.with_source_transparent(*transparent),
        ),
        SetupKind::MonoPattern {
            transparent, solid, ..
        } => (
            "XY_SETUP_MONO_PATTERN_SL_BLT",
            0x11,
            control
                .with_pattern_transparent(*transparent)
                .with_solid(*solid),
        ),
    };
    let mut p = Packet::new(name);
    p.push(control.into_bits());
    p.corners(&setup.clip_rect)?;
    p.address(setup.dst.base, true);
    p.push(setup.background);
    p.push(setup.foreground);
    match &setup.kind {
        SetupKind::Text {
            pattern: Some(at), ..
        } => p.address(pattern_address(*at, setup.dst.depth)?, false),
        SetupKind::Text { pattern: None, .. } => p.push(0),
        SetupKind::MonoPattern { rows, .. } => p.dwords.extend(pattern_rows(rows)),
    }
    let header = Header::new()
        .with_opcode(opcode)
        .with_tiled_destination(is_tiled(setup.dst.tiling));
    Ok(p.finish(with_mask(header, setup.mask)))
}

/// Name, opcode, and whether pitch stands before the corner of a colour source.
fn choose(blit: &Blit) -> Result<(&'static str, u8), EncodeError> {
    let destination_key = matches!(
        blit.key,
        Some(Key {
            mode: KeyMode::Destination,
            ..
        })
    );
    let source_key = matches!(
        blit.key,
        Some(Key {
            mode: KeyMode::Source,
            ..
        })
    );
    Ok(
        match (&blit.source, &blit.pattern, source_key, destination_key) {
            (Source::None, Pattern::Solid(_), false, false) => ("XY_COLOR_BLT", 0x50),
            (Source::None, Pattern::Colour { .. }, false, false) => ("XY_PAT_BLT", 0x51),
            (Source::None, Pattern::Mono { .. }, false, false) => ("XY_MONO_PAT_BLT", 0x52),
            (Source::Colour { .. }, Pattern::None, false, false) => ("XY_SRC_COPY_BLT", 0x53),
            (Source::Mono { .. }, Pattern::None, false, false) => ("XY_MONO_SRC_COPY_BLT", 0x54),
            (Source::Colour { .. }, Pattern::Colour { .. }, false, false) => ("XY_FULL_BLT", 0x55),
            (Source::Mono { .. }, Pattern::Colour { .. }, false, false) => {
                ("XY_FULL_MONO_SRC_BLT", 0x56)
            }
            (Source::Colour { .. }, Pattern::Mono { .. }, false, false) => {
                ("XY_FULL_MONO_PATTERN_BLT", 0x57)
            }
            (Source::Mono { .. }, Pattern::Mono { .. }, false, false) => {
                ("XY_FULL_MONO_PATTERN_MONO_SRC_BLT", 0x58)
            }
            (Source::None, Pattern::Fixed { .. }, false, false) => ("XY_MONO_PAT_FIXED_BLT", 0x59),
            (Source::MonoImmediate { .. }, Pattern::None, false, false) => {
                ("XY_MONO_SRC_COPY_IMMEDIATE_BLT", 0x71)
            }
            (Source::None, Pattern::ColourImmediate { .. }, false, false) => {
                ("XY_PAT_BLT_IMMEDIATE", 0x72)
            }
            (Source::Colour { .. }, Pattern::None, _, _) => ("XY_SRC_COPY_CHROMA_BLT", 0x73),
            (Source::Colour { .. }, Pattern::ColourImmediate { .. }, false, false) => {
                ("XY_FULL_IMMEDIATE_PATTERN_BLT", 0x74)
            }
            (Source::Mono { .. }, Pattern::ColourImmediate { .. }, false, false) => {
                ("XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT", 0x75)
            }
            (Source::None, Pattern::Colour { .. }, false, true) => ("XY_PAT_CHROMA_BLT", 0x76),
            (Source::None, Pattern::ColourImmediate { .. }, false, true) => {
                ("XY_PAT_CHROMA_BLT_IMMEDIATE", 0x77)
            }
            _ => return Err(EncodeError::NoSuchCommand),
        },
    )
}

/// Background, then foreground.
fn push_ink(p: &mut Packet, ink: &Ink) {
    p.push(ink.background.unwrap_or(0));
    p.push(ink.foreground);
}

fn encode_blit(blit: &Blit) -> Result<Packet, EncodeError> {
    let (name, opcode) = choose(blit)?;
    let depth = blit.dst.depth;
    let mut p = Packet::new(name);
    let mut header = Header::new()
        .with_opcode(opcode)
        .with_tiled_destination(is_tiled(blit.dst.tiling));
    let mut control = Control::new()
        .with_pitch(pitch_field(&blit.dst)?)
        .with_rop(blit.rop.0)
        .with_depth(depth.code())
        .with_clip(blit.clip);

    match &blit.source {
        Source::Colour { surface, .. } => {
            header = header.with_tiled_source(is_tiled(surface.tiling))
        }
        Source::Mono { bit, ink, .. } => {
            header = header.with_start_bit(bit & 7);
            control = control.with_source_transparent(ink.background.is_none());
        }
        Source::MonoImmediate { ink, .. } => {
            control = control.with_source_transparent(ink.background.is_none())
        }
        Source::None => {}
    }
    match &blit.pattern {
        Pattern::Colour { seed, .. } | Pattern::ColourImmediate { seed, .. } => {
            header = with_seed(header, *seed)
        }
        Pattern::Mono { ink, seed, .. } | Pattern::Fixed { ink, seed, .. } => {
            header = with_seed(header, *seed);
            control = control.with_pattern_transparent(ink.background.is_none());
        }
        Pattern::None | Pattern::Solid(_) => {}
    }
    if let Some(key) = &blit.key {
        header = header.with_start_bit(match key.mode {
            KeyMode::Source => 0b001,
            KeyMode::Destination => 0b111,
        });
    }

    p.push(control.into_bits());
    p.corners(&blit.rect)?;
    p.address(blit.dst.base, true);
    match &blit.source {
        Source::Colour { surface, x, y } => {
            let pitch = u32::from(pitch_field(surface)?);
            // The commands with three operands have these two the other way round (§8.9.19).
            if matches!(blit.pattern, Pattern::None) {
                p.point(i32::from(*x), i32::from(*y))?;
                p.push(pitch);
            } else {
                p.push(pitch);
                p.point(i32::from(*x), i32::from(*y))?;
            }
            p.address(surface.base, false);
        }
        Source::Mono { at, ink, .. } => {
            p.address(*at, false);
            push_ink(&mut p, ink);
        }
        Source::MonoImmediate { data, ink } => {
            push_ink(&mut p, ink);
            p.dwords.extend_from_slice(mono_data(data)?);
        }
        Source::None => {}
    }
    // The key stands before an immediate pattern, and after a pattern's address (§8.9.10, §8.9.12).
    match &blit.pattern {
        Pattern::Solid(colour) => p.push(*colour),
        Pattern::Colour { at, .. } => {
            p.address(pattern_address(*at, depth)?, false);
            push_key(&mut p, &blit.key);
        }
        Pattern::ColourImmediate { data, .. } => {
            push_key(&mut p, &blit.key);
            p.dwords.extend_from_slice(pattern_data(data, depth)?);
        }
        Pattern::Mono { rows, ink, .. } => {
            push_ink(&mut p, ink);
            p.dwords.extend(pattern_rows(rows));
        }
        Pattern::Fixed { code, ink, .. } => {
            push_ink(&mut p, ink);
            p.dwords[0] = FixedPatternHeader::from_bits(header.into_bits())
                .with_pattern(*code)
                .with_write_rgb(blit.mask.rgb)
                .with_write_alpha(blit.mask.alpha)
                .with_length((p.dwords.len() - 2) as u8)
                .into_bits();
            return Ok(p);
        }
        Pattern::None => push_key(&mut p, &blit.key),
    }
    Ok(p.finish(with_mask(header, blit.mask)))
}

fn push_key(p: &mut Packet, key: &Option<Key>) {
    if let Some(key) = key {
        p.push(key.low);
        p.push(key.high);
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;

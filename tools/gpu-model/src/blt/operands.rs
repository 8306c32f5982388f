// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Operands of a command: surfaces, sources, patterns, the colour key and the byte mask (G45 PRM V1b §8.9, §8.10).

use super::engine::Source;
use super::key::{Key, Operand};
use super::mono::{Bits, Mono, Packing};
use super::opcode::{control, header, Field, Immediate};
use super::parse::{Parser, Point};
use super::pattern::{fixed, Pattern};
use super::surface::Surface;
use super::{BltError, Depth, Rule};
use crate::slip::{self, Slip};
use crate::tiling::{Swizzle, Tiling};

impl Parser<'_> {
    /// Byte enables of the 32 bpp byte mask; other depths have none (§8.10.1).
    pub(super) fn byte_enables(&self) -> [u8; 4] {
        if self.depth() != Depth::Argb8888 || slip::is(Slip::MaskIgnored) {
            return [0xff; 4];
        }
        let mask = if self.has(Field::Control) {
            (self.header & header::MASK) >> 20
        } else {
            match slip::is(Slip::SetupMaskIgnored) {
                true => 3,
                false => (self.control & control::SETUP_MASK) >> 26,
            }
        };
        let mask = match slip::is(Slip::MaskSwapped) {
            true => mask >> 1 | mask << 1,
            false => mask,
        };
        let byte = |enabled: bool| if enabled { 0xff } else { 0 };
        let (colour, alpha) = (byte(mask & 1 != 0), byte(mask & 2 != 0));
        [colour, colour, colour, alpha]
    }

    /// A colour operand of an XY command. The pitch is in bytes if linear, in dwords if tiled (§8.10.2), whatever the
    /// tables' titles say.
    pub(super) fn surface(
        &mut self,
        (base, base_dword): (u32, usize),
        (pitch, pitch_dword): (u32, usize),
        tiled: Option<(Tiling, Swizzle)>,
    ) -> Result<Surface, BltError> {
        let pitch = match slip::is(Slip::PitchUnsigned) {
            true => i64::from(pitch as u16 & 0x7fff),
            false => i64::from(pitch as i16),
        };
        let Some((tiling, swizzle)) = tiled else {
            self.check_linear(pitch, pitch_dword);
            if !(base as usize).is_multiple_of(self.depth().bytes()) {
                self.violation(base_dword, Rule::PixelAlignment);
            }
            return Ok(Surface {
                base: base.into(),
                pitch,
                tiling: Tiling::Linear,
                swizzle: Swizzle::None,
            });
        };
        let pitch = match slip::is(Slip::TiledPitchInBytes) {
            true => (pitch * 2).max(tiling.tile_width() as i64),
            false => pitch * 4,
        };
        if base % 4096 != 0 {
            return Err(BltError::InvalidTiling { dword: base_dword });
        }
        if pitch == 0 || pitch % tiling.tile_width() as i64 != 0 {
            return Err(BltError::InvalidTiling { dword: pitch_dword });
        }
        Ok(Surface {
            base: base.into(),
            pitch,
            tiling,
            swizzle,
        })
    }

    /// A colour operand of a linear command, as a surface whose line 0 is the operand's first.
    pub(super) fn linear_surface(
        &mut self,
        base: Field,
        (pitch, pitch_dword): (u32, usize),
        width: u64,
        backwards: bool,
    ) -> Surface {
        let address = u64::from(self.get(base));
        // The address is that of the first byte that is accessed (§8.8.2): backwards, the last of the line.
        let address = if backwards {
            address.wrapping_add(1).wrapping_sub(width)
        } else {
            address
        };
        let pitch = i64::from(pitch as i16);
        self.check_linear(pitch, pitch_dword);
        if !address.is_multiple_of(self.depth().bytes() as u64) {
            self.violation(self.index(base), Rule::PixelAlignment);
        }
        Surface {
            base: address,
            pitch,
            tiling: Tiling::Linear,
            swizzle: Swizzle::None,
        }
    }

    /// The source operand at the first pixel that is drawn. `size` is the rectangle before clipping, which gives a
    /// monochrome source its layout.
    pub(super) fn source(
        &mut self,
        first: Point,
        skipped: Point,
        size: (u64, u64),
    ) -> Result<Source, BltError> {
        if self.has(Field::SrcBase) {
            let tiled = (self.header & header::SRC_TILED != 0).then(|| self.caps.src_tiling());
            let surface = self.surface(
                (self.get(Field::SrcBase), self.index(Field::SrcBase)),
                (self.get(Field::SrcPitch), self.index(Field::SrcPitch)),
                tiled,
            )?;
            return Ok(Source::Colour {
                surface,
                x: (first.x + skipped.x) as u64 * self.depth().bytes() as u64,
                y: (first.y + skipped.y) as u64,
            });
        }
        let immediate = self.command.immediate == Immediate::Source;
        if !immediate && !self.has(Field::MonoSource) {
            return Ok(Source::Absent);
        }
        let mono = self.mono(immediate, size)?;
        Ok(Source::Mono {
            mono,
            column: skipped.x as u64,
            line: skipped.y as u64,
        })
    }

    fn mono(&mut self, immediate: bool, (width, height): (u64, u64)) -> Result<Mono, BltError> {
        let text = !self.has(Field::Control);
        let packing = match (text, self.header & header::BYTE_PACKED != 0) {
            (true, false) => Packing::Bit,
            (true, true) if slip::is(Slip::TextRowsOnBits) => Packing::Bit,
            (true, true) => Packing::Byte,
            (false, _) if slip::is(Slip::MonoRowsOnBytes) => Packing::Byte,
            (false, _) => Packing::Word,
        };
        let position = if text || slip::is(Slip::MonoFirstBitIgnored) {
            0
        } else {
            u64::from((self.header & header::BIT_POSITION) >> 17)
        };
        let (background, foreground) = if text {
            (self.state.br05, self.state.br06)
        } else {
            (
                self.get(Field::SrcBackground),
                self.get(Field::SrcForeground),
            )
        };
        let (background, foreground) = match slip::is(Slip::ColoursSwapped) {
            true => (foreground, background),
            false => (background, foreground),
        };
        let address = self.get(Field::MonoSource);
        let mono = Mono {
            bits: if immediate {
                Bits::Immediate(self.immediate_bytes())
            } else {
                Bits::Memory(address.into())
            },
            first: position,
            stride: packing.stride(width, position),
            background,
            foreground,
            transparent: self.control & control::SRC_TRANSPARENT != 0,
        };
        if width > 32_745 {
            self.violation(
                self.index(Field::DstEnd),
                Rule::MonoWidth {
                    width: width as u32,
                },
            );
        }
        if packing == Packing::Word && !immediate && !address.is_multiple_of(2) {
            self.violation(self.index(Field::MonoSource), Rule::MonoAlignment);
        }
        if immediate {
            self.check_immediate_source(mono.size(width, height))?;
        }
        Ok(mono)
    }

    /// The pattern, and the mask of a transparent one.
    pub(super) fn pattern(
        &mut self,
        pixel_command: bool,
    ) -> Result<(Pattern, Option<[u8; 8]>), BltError> {
        let state = *self.state;
        let pattern = match self.command.opcode {
            // "BR05 is also used as the solid pattern for the PIXEL_BLT instruction" (§8.10.3).
            _ if pixel_command => Pattern::Solid(state.br05),
            0x25 if !state.mono_pattern => self.pattern_at(state.br07, 0),
            0x25 => self.mono_pattern(rows(state.br20, state.br21), state.br05, state.br06),
            0x59 => {
                let code = ((self.header & header::FIXED_PATTERN) >> 15) as u8;
                let rows = fixed(code).unwrap_or_else(|| {
                    self.violation(0, Rule::FixedPattern { code });
                    [0; 8]
                });
                self.coloured_mono_pattern(rows)
            }
            _ if self.has(Field::PatternLow) => {
                let rows = rows(self.get(Field::PatternLow), self.get(Field::PatternHigh));
                self.coloured_mono_pattern(rows)
            }
            _ if self.has(Field::PatternBase) => {
                self.pattern_at(self.get(Field::PatternBase), self.index(Field::PatternBase))
            }
            _ if self.command.immediate == Immediate::Pattern => {
                let (needed, got) = (16 * self.depth().bytes(), self.immediate().len());
                if needed != got {
                    let dword = self.command.dwords();
                    return Err(BltError::PatternSize { dword, needed, got });
                }
                Pattern::Immediate(self.immediate_bytes())
            }
            _ if self.has(Field::PatternBackground) => {
                Pattern::Solid(self.get(Field::PatternBackground))
            }
            _ => Pattern::Absent,
        };
        let mask = match &pattern {
            // The one pixel's pattern is always solid and BR05; the transparency of a monochrome pattern has no part
            // in it.
            _ if pixel_command => None,
            _ if self.control & control::PAT_TRANSPARENT & self.pattern_control() == 0 => None,
            // All bits of a solid pattern's data count as 0 (§8.10.2): with transparency nothing is drawn (§8.9.23).
            Pattern::Solid(_) => Some([0; 8]),
            Pattern::Mono { rows, .. } => Some(*rows),
            _ => None,
        };
        Ok((pattern, mask))
    }

    /// A colour pattern in memory. §8.9.1 and §8.9.10 print address bits 26:6, the others 28:6; all bits above 5 count,
    /// as the engine has 32.
    fn pattern_at(&mut self, address: u32, dword: usize) -> Pattern {
        if !(address as usize).is_multiple_of(64 * self.depth().bytes()) {
            self.violation(dword, Rule::PatternAlignment);
        }
        Pattern::Memory(u64::from(address & !0x3f))
    }

    /// Control bits that the command, or the setup before it, defines.
    fn pattern_control(&self) -> u32 {
        match self.command.opcode {
            0x25 => control::SOLID | control::PAT_TRANSPARENT,
            _ => self.command.control,
        }
    }

    fn coloured_mono_pattern(&self, rows: [u8; 8]) -> Pattern {
        let (background, foreground) = (
            self.get(Field::PatternBackground),
            self.get(Field::PatternForeground),
        );
        self.mono_pattern(rows, background, foreground)
    }

    fn mono_pattern(&self, rows: [u8; 8], background: u32, foreground: u32) -> Pattern {
        if self.control & control::SOLID & self.pattern_control() != 0 {
            return Pattern::Solid(background);
        }
        Pattern::Mono {
            rows,
            background,
            foreground,
        }
    }

    pub(super) fn seed(&self) -> (u64, u64) {
        let field = |mask: u32| {
            u64::from((self.header & self.command.header & mask) >> mask.trailing_zeros())
        };
        let unless = |slip, value| if slip::is(slip) { 0 } else { value };
        (
            unless(Slip::SeedXIgnored, field(header::SEED_X)),
            unless(Slip::SeedYIgnored, field(header::SEED_Y)),
        )
    }

    pub(super) fn key(&self) -> Result<Option<Key>, BltError> {
        if !self.has(Field::KeyLow) {
            return Ok(None);
        }
        let mode = ((self.header & header::KEY_MODE) >> 17) as u8;
        let key = Key::new(mode, self.get(Field::KeyLow), self.get(Field::KeyHigh));
        match key {
            Some(key) if key.operand == Operand::Source && !self.has(Field::SrcBase) => {
                Err(BltError::KeyMode { mode })
            }
            key => Ok(key),
        }
    }
}

/// Rows of a monochrome pattern: the least significant byte of BR20 is row 0 (§8.9.14.1).
fn rows(low: u32, high: u32) -> [u8; 8] {
    let all = u64::from(high) << 32 | u64::from(low);
    match slip::is(Slip::PatternRowsReversed) {
        true => all.to_be_bytes(),
        false => all.to_le_bytes(),
    }
}

// SPDX-License-Identifier: GPL-2.0
//! From a command and the setup state to a blit: operands, rectangle, clipping, directions (G45 PRM V1b §8.8, §8.9).

use super::engine::{Blit, Source};
use super::key::{Key, Operand};
use super::mono::{Bits, Mono, Packing};
use super::opcode::{control, header, Command, Field, Immediate};
use super::pattern::{fixed, Pattern};
use super::rop::Rop;
use super::surface::Surface;
use super::{BltCaps, BltError, BltState, Depth, Rule, Violation};
use crate::tiling::{Swizzle, Tiling};

/// What a command asks for.
pub(super) struct Parsed {
    /// The deed.
    pub action: Action,
    /// Rules that the command broke.
    pub violations: Vec<Violation>,
}

/// A command's deed.
#[allow(
    clippy::large_enum_variant,
    reason = "lives for one command, on the stack"
)]
pub(super) enum Action {
    /// The state becomes this.
    Setup(BltState),
    /// The rectangle is empty, or clipped away: no access is made (§8.9).
    Nothing,
    /// Draw.
    Draw(Blit),
}

/// Reads a command.
pub(super) fn parse(cmd: &[u32], state: &BltState, caps: &BltCaps) -> Result<Parsed, BltError> {
    let mut parser = Parser::new(cmd, state, caps)?;
    parser.check_reserved();
    let action = match parser.command.opcode {
        0x01 | 0x03 | 0x11 => Action::Setup(parser.setup()),
        0x40 | 0x43 => parser.linear()?,
        _ => parser.xy()?,
    };
    Ok(Parsed {
        action,
        violations: parser.violations,
    })
}

struct Parser<'a> {
    cmd: &'a [u32],
    command: &'static Command,
    header: u32,
    /// BR13, or BR01 for the commands that use the setup state.
    control: u32,
    state: &'a BltState,
    caps: &'a BltCaps,
    violations: Vec<Violation>,
}

/// A point of a coordinate dword: 31:16 Y, 15:0 X, both signed.
#[derive(Clone, Copy)]
struct Point {
    x: i64,
    y: i64,
}

impl Point {
    const fn signed(dword: u32) -> Point {
        Point {
            x: dword as i16 as i64,
            y: (dword >> 16) as i16 as i64,
        }
    }

    /// A clip coordinate: 30:16 Y, 14:0 X, positive.
    const fn clip(dword: u32) -> Point {
        Point {
            x: (dword & 0x7fff) as i64,
            y: (dword >> 16 & 0x7fff) as i64,
        }
    }
}

/// The part of a command's rectangle that is drawn.
struct Clipped {
    first: Point,
    width: u64,
    height: u64,
    /// Pixels and lines cut off at the left and the top.
    skipped: Point,
}

impl<'a> Parser<'a> {
    fn new(cmd: &'a [u32], state: &'a BltState, caps: &'a BltCaps) -> Result<Self, BltError> {
        let header = *cmd.first().ok_or(BltError::NotBlt)?;
        let announced = super::opcode::length(header).ok_or(BltError::NotBlt)?;
        let command = Command::of(header).ok_or(BltError::UnknownOpcode {
            opcode: super::opcode::opcode(header),
        })?;
        let expected = command.dwords();
        let fits = match command.immediate {
            Immediate::None => announced == expected,
            Immediate::Source | Immediate::Pattern => announced >= expected,
        };
        if !fits {
            return Err(BltError::Length {
                expected,
                got: announced,
            });
        }
        if cmd.len() != announced {
            return Err(BltError::Truncated {
                announced,
                got: cmd.len(),
            });
        }
        let control = match command.index(Field::Control) {
            Some(index) => cmd[index],
            None => state.br01,
        };
        Ok(Parser {
            cmd,
            command,
            header,
            control,
            state,
            caps,
            violations: Vec::new(),
        })
    }

    /// The dword of a field; 0 if the command has no such field.
    fn get(&self, field: Field) -> u32 {
        self.command.index(field).map_or(0, |index| self.cmd[index])
    }

    fn has(&self, field: Field) -> bool {
        self.command.index(field).is_some()
    }

    /// Index of the dword of a field, or of the header if the field comes from the state.
    fn index(&self, field: Field) -> usize {
        self.command.index(field).unwrap_or(0)
    }

    fn immediate(&self) -> &'a [u32] {
        &self.cmd[self.command.dwords()..]
    }

    fn immediate_bytes(&self) -> Vec<u8> {
        self.immediate()
            .iter()
            .flat_map(|dword| dword.to_le_bytes())
            .collect()
    }

    fn violation(&mut self, dword: usize, rule: Rule) {
        self.violations.push(Violation { dword, rule });
    }

    /// "All reserved fields must be programmed to 0s" (§8.7.1).
    fn check_reserved(&mut self) {
        let length = if Command::is_linear(self.command.opcode) {
            0x1f
        } else {
            0xff
        };
        let mut found = vec![(
            0,
            self.header & 0x003f_ffff & !(self.command.header | length),
        )];
        for (i, field) in self.command.fields.iter().enumerate() {
            let defined = match field {
                Field::Control => control::ALWAYS | self.command.control,
                Field::ClipFirst | Field::ClipEnd => 0x7fff_7fff,
                Field::SrcPitch => 0xffff,
                _ => !0,
            };
            found.push((i + 1, self.cmd[i + 1] & !defined));
        }
        for (dword, bits) in found {
            if bits != 0 {
                self.violation(dword, Rule::Reserved { bits });
            }
        }
    }

    /// The state after a setup command.
    fn setup(&self) -> BltState {
        let mut state = BltState {
            br24: self.get(Field::ClipFirst) & 0x7fff_7fff,
            br25: self.get(Field::ClipEnd) & 0x7fff_7fff,
            ..*self.state
        };
        // XY_SETUP_CLIP_BLT has the clip rectangle only. Its tiling bit says nothing that could be kept: the commands
        // that draw carry their own (§8.9.4 to §8.9.7).
        if !self.has(Field::Control) {
            return state;
        }
        let mask = (self.header & header::MASK) >> 20;
        state.br01 = self.control & (control::ALWAYS | self.command.control) | mask << 26;
        state.br05 = self.get(Field::SetupBackground);
        state.br06 = self.get(Field::SetupForeground);
        state.br09 = self.get(Field::DstBase);
        state.mono_pattern = self.has(Field::PatternLow);
        if state.mono_pattern {
            state.br20 = self.get(Field::PatternLow);
            state.br21 = self.get(Field::PatternHigh);
        } else {
            // §8.9.1 prints 26:6, §8.10.5 28:6; all bits above 5 count, see the engine's address space.
            state.br07 = self.get(Field::SetupPattern) & !0x3f;
        }
        state
    }

    fn depth(&self) -> Depth {
        Depth::of(self.control)
    }

    fn rop(&self) -> Rop {
        Rop((self.control >> 16) as u8)
    }

    /// Byte enables of the 32 bpp byte mask; other depths have none (§8.10.1).
    fn byte_enables(&self) -> [u8; 4] {
        if self.depth() != Depth::Argb8888 {
            return [0xff; 4];
        }
        let mask = if self.has(Field::Control) {
            (self.header & header::MASK) >> 20
        } else {
            (self.control & control::SETUP_MASK) >> 26
        };
        let byte = |enabled: bool| if enabled { 0xff } else { 0 };
        let (colour, alpha) = (byte(mask & 1 != 0), byte(mask & 2 != 0));
        [colour, colour, colour, alpha]
    }

    /// A colour operand of an XY command. The pitch is in bytes if linear, in dwords if tiled (§8.10.2), whatever the
    /// tables' titles say.
    fn surface(
        &mut self,
        (base, base_dword): (u32, usize),
        (pitch, pitch_dword): (u32, usize),
        tiled: Option<(Tiling, Swizzle)>,
    ) -> Result<Surface, BltError> {
        let pitch = i64::from(pitch as i16);
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
        let pitch = pitch * 4;
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

    fn check_linear(&mut self, pitch: i64, dword: usize) {
        if pitch % 4 != 0 {
            self.violation(
                dword,
                Rule::PitchGranularity {
                    pitch: pitch as i32,
                },
            );
        }
    }

    /// COLOR_BLT and SRC_COPY_BLT: addresses, bytes and lines instead of coordinates; no clipping, no tiles (§8.8).
    fn linear(&mut self) -> Result<Action, BltError> {
        let size = self.get(Field::Size);
        let (width, height) = (u64::from(size & 0xffff), u64::from(size >> 16));
        let has_source = self.has(Field::SrcBase);
        let backwards_x = has_source && self.control & control::RIGHT_TO_LEFT != 0;
        let pixel = self.depth().bytes() as u64;
        if width % pixel != 0 {
            self.violation(self.index(Field::Size), Rule::PixelAlignment);
        }
        self.check_line(width);

        let pitch = (self.control, self.index(Field::Control));
        let dst = self.linear_surface(Field::DstBase, pitch, width, backwards_x);
        let source = if has_source {
            let pitch = (self.get(Field::SrcPitch), self.index(Field::SrcPitch));
            Source::Colour {
                surface: self.linear_surface(Field::SrcBase, pitch, width, backwards_x),
                x: 0,
                y: 0,
            }
        } else {
            Source::Absent
        };
        let pattern = if has_source {
            Pattern::Absent
        } else {
            Pattern::Solid(self.get(Field::PatternBackground))
        };
        self.check_rop(&source, &pattern);
        if width == 0 || height == 0 {
            return Ok(Action::Nothing);
        }
        let blit = Blit {
            depth: self.depth(),
            rop: self.rop(),
            enable: self.byte_enables(),
            dst,
            x: 0,
            y: 0,
            bytes: width as usize,
            lines: height,
            source,
            pattern,
            pattern_mask: None,
            seed: (0, 0),
            key: None,
            backwards_x,
            backwards_y: false,
        };
        self.check_overlap(&blit);
        Ok(Action::Draw(blit))
    }

    /// A colour operand of a linear command, as a surface whose line 0 is the operand's first.
    fn linear_surface(
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

    /// All commands with coordinates that draw.
    fn xy(&mut self) -> Result<Action, BltError> {
        let depth = self.depth();
        let pixel = depth.bytes() as u64;
        let dst = self.destination()?;
        let pixel_command = !self.has(Field::DstEnd);
        let mut first = Point::signed(self.get(Field::DstFirst));
        let end = if pixel_command {
            Point {
                x: first.x + 1,
                y: first.y + 1,
            }
        } else {
            Point::signed(self.get(Field::DstEnd))
        };

        // A negative source coordinate moves the destination's first pixel by as much, before anything is clipped
        // (§8.9). §8.1 wants positive sources; the later and more detailed text counts.
        let mut src_first = Point::signed(self.get(Field::SrcFirst));
        if self.has(Field::SrcBase) {
            first.x += (-src_first.x).max(0);
            first.y += (-src_first.y).max(0);
            src_first.x = src_first.x.max(0);
            src_first.y = src_first.y.max(0);
        }
        let clip_always = pixel_command;
        let clipped = self.clip(first, end, clip_always);
        let skipped = clipped.as_ref().map_or(Point { x: 0, y: 0 }, |c| c.skipped);

        let (width, height) = (
            (end.x - first.x).max(0) as u64,
            (end.y - first.y).max(0) as u64,
        );
        let source = self.source(src_first, skipped, (width, height))?;
        let (pattern, pattern_mask) = self.pattern(pixel_command)?;
        let key = self.key()?;
        self.check_rop(&source, &pattern);

        let Some(Clipped {
            first,
            width,
            height,
            ..
        }) = clipped
        else {
            return Ok(Action::Nothing);
        };
        self.check_line(width * pixel);

        // The engine looks at the bases and the first coordinates only, not for a true overlap (§8.9). Both first
        // coordinates have been moved by the same amounts, so it does not matter that they are clipped.
        let (mut backwards_x, mut backwards_y) = (false, false);
        if let Source::Colour { surface, x, y } = &source {
            if surface.base == dst.base {
                backwards_x = *x < first.x as u64 * pixel;
                backwards_y = *y < first.y as u64;
            }
        }
        let blit = Blit {
            depth,
            rop: self.rop(),
            enable: self.byte_enables(),
            dst,
            x: first.x as u64 * pixel,
            y: first.y as u64,
            bytes: (width * pixel) as usize,
            lines: height,
            source,
            pattern,
            pattern_mask,
            seed: self.seed(),
            key,
            backwards_x,
            backwards_y,
        };
        self.check_pitch(&blit);
        self.check_overlap(&blit);
        Ok(Action::Draw(blit))
    }

    fn destination(&mut self) -> Result<Surface, BltError> {
        let tiled = (self.header & header::DST_TILED != 0).then(|| self.caps.dst_tiling());
        let (base, dword) = if self.has(Field::Control) {
            (self.get(Field::DstBase), self.index(Field::DstBase))
        } else {
            (self.state.br09, 0)
        };
        // XY_SCANLINES_BLT alone of the commands on the setup state may have a negative pitch (§8.4).
        if matches!(self.command.opcode, 0x24 | 0x26 | 0x31) && (self.control as i16) < 0 {
            return Err(BltError::NegativePitch);
        }
        let pitch_dword = self.index(Field::Control);
        self.surface((base, dword), (self.control, pitch_dword), tiled)
    }

    /// Cuts the rectangle to the clip rectangle, or at 0 if clipping is off (§8.1, §8.9). `None`: nothing is left.
    fn clip(&self, first: Point, end: Point, always: bool) -> Option<Clipped> {
        let (mut low, mut high) = (Point { x: 0, y: 0 }, end);
        if always || self.control & control::CLIP != 0 {
            low = Point::clip(self.state.br24);
            let clip_end = Point::clip(self.state.br25);
            high = Point {
                x: end.x.min(clip_end.x),
                y: end.y.min(clip_end.y),
            };
        }
        let drawn = Point {
            x: first.x.max(low.x),
            y: first.y.max(low.y),
        };
        if high.x <= drawn.x || high.y <= drawn.y {
            return None;
        }
        Some(Clipped {
            first: drawn,
            width: (high.x - drawn.x) as u64,
            height: (high.y - drawn.y) as u64,
            skipped: Point {
                x: drawn.x - first.x,
                y: drawn.y - first.y,
            },
        })
    }

    /// The source operand at the first pixel that is drawn. `size` is the rectangle before clipping, which gives a
    /// monochrome source its layout.
    fn source(
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
            (true, true) => Packing::Byte,
            (false, _) => Packing::Word,
        };
        let position = if text {
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

    fn check_immediate_source(&mut self, needed: u64) -> Result<(), BltError> {
        let (dword, count) = (self.command.dwords(), self.immediate().len());
        let bytes = count * 4;
        if count % 2 != 0 {
            return Err(BltError::ImmediateOdd { dword, count });
        }
        if needed > bytes as u64 {
            return Err(BltError::ImmediateShort {
                dword,
                needed,
                got: bytes as u64,
            });
        }
        if bytes > 128 {
            self.violation(dword, Rule::ImmediateLong { bytes });
        }
        let left = bytes as u64 - needed;
        if left >= 8 {
            self.violation(dword, Rule::ImmediateLeftOver { bytes: left });
        }
        Ok(())
    }

    /// The pattern, and the mask of a transparent one.
    fn pattern(&mut self, pixel_command: bool) -> Result<(Pattern, Option<[u8; 8]>), BltError> {
        let state = *self.state;
        let pattern = match self.command.opcode {
            // "BR05 is also used as the solid pattern for the PIXEL_BLT instruction" (§8.10.3).
            _ if pixel_command => Pattern::Solid(state.br05),
            0x25 if !state.mono_pattern => Pattern::Memory(state.br07.into()),
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
                let address = self.get(Field::PatternBase);
                if !(address as usize).is_multiple_of(64 * self.depth().bytes()) {
                    self.violation(self.index(Field::PatternBase), Rule::PatternAlignment);
                }
                // §8.9.10 prints 26:6, the others 28:6; all bits above 5 count, see the engine's address space.
                Pattern::Memory(u64::from(address & !0x3f))
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

    fn seed(&self) -> (u64, u64) {
        let field = |mask: u32| {
            u64::from((self.header & self.command.header & mask) >> mask.trailing_zeros())
        };
        (field(header::SEED_X), field(header::SEED_Y))
    }

    fn key(&self) -> Result<Option<Key>, BltError> {
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

    /// The raster operation takes the operands that the command has; the source copies must have the source in it, and
    /// no pattern (§8.9.15). The remark that ROP F0 needs a monochrome source (§8.10.2) is against every fill and is
    /// not followed.
    fn check_rop(&mut self, source: &Source, pattern: &Pattern) {
        let rop = self.rop();
        let no_source = matches!(source, Source::Absent);
        let no_pattern = matches!(pattern, Pattern::Absent);
        let source_copy = matches!(self.command.opcode, 0x53 | 0x54 | 0x71 | 0x73);
        if rop.uses_source() && no_source
            || rop.uses_pattern() && no_pattern
            || source_copy && !rop.uses_source()
        {
            let dword = self.index(Field::Control);
            self.violation(dword, Rule::Rop { code: rop.0 });
        }
    }

    fn check_line(&mut self, bytes: u64) {
        if bytes > 32_768 {
            let dword = self
                .command
                .index(Field::Size)
                .unwrap_or_else(|| self.index(Field::DstEnd));
            self.violation(
                dword,
                Rule::LineLength {
                    bytes: bytes as u32,
                },
            );
        }
    }

    fn check_pitch(&mut self, blit: &Blit) {
        let mut check = |surface: &Surface, x: u64, dword: usize| {
            let (end, pitch) = (x + blit.bytes as u64, surface.pitch.unsigned_abs());
            if surface.tiling != Tiling::Linear && end > pitch {
                let (end, pitch) = (end as u32, pitch as u32);
                self.violations.push(Violation {
                    dword,
                    rule: Rule::BeyondPitch { end, pitch },
                });
            }
        };
        check(
            &blit.dst,
            blit.x,
            self.command.index(Field::Control).unwrap_or(0),
        );
        if let Source::Colour { surface, x, .. } = &blit.source {
            check(
                surface,
                *x,
                self.command.index(Field::SrcPitch).unwrap_or(0),
            );
        }
    }

    /// The restriction on overlapping linear operands (§8.7.1).
    fn check_overlap(&mut self, blit: &Blit) {
        let Source::Colour { surface: src, x, y } = &blit.source else {
            return;
        };
        let linear = src.tiling == Tiling::Linear && blit.dst.tiling == Tiling::Linear;
        let aligned = |pitch: i64| pitch % 64 == 0;
        let coherent = src.base == blit.dst.base && aligned(src.pitch) && aligned(blit.dst.pitch);
        if !linear || coherent || !blit.rop.uses_source() {
            return;
        }
        let last = blit.bytes as u64 - 1;
        let overlaps = (1..blit.lines).any(|line| {
            let source = src.address(*x, y + line);
            let destination = blit.dst.address(blit.x, blit.y + line - 1);
            source / 64 <= (destination + last) / 64 && destination / 64 <= (source + last) / 64
        });
        if overlaps {
            self.violation(self.index(Field::SrcBase), Rule::CacheLineOverlap);
        }
    }
}

/// Rows of a monochrome pattern: the least significant byte of BR20 is row 0 (§8.9.14.1).
fn rows(low: u32, high: u32) -> [u8; 8] {
    (u64::from(high) << 32 | u64::from(low)).to_le_bytes()
}

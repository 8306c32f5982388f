// SPDX-License-Identifier: GPL-2.0 OR MIT
//! From a command and the setup state to a blit: operands, rectangle, clipping, directions (G45 PRM V1b §8.8, §8.9).

use super::engine::{Blit, Source};
use super::opcode::{control, header, Command, Field, Immediate};
use super::pattern::Pattern;
use super::rop::Rop;
use super::surface::Surface;
use super::{BltCaps, BltError, BltState, Depth, Rule, Violation};
use crate::slip::{self, Slip};

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

/// A command that is being read.
pub(super) struct Parser<'a> {
    pub(super) cmd: &'a [u32],
    pub(super) command: &'static Command,
    pub(super) header: u32,
    /// BR13, or BR01 for the commands that use the setup state.
    pub(super) control: u32,
    pub(super) state: &'a BltState,
    pub(super) caps: &'a BltCaps,
    pub(super) violations: Vec<Violation>,
}

/// A point of a coordinate dword: 31:16 Y, 15:0 X, both signed.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: i64,
    pub(super) y: i64,
}

impl Point {
    const fn signed(dword: u32) -> Point {
        Point {
            x: dword as i16 as i64,
            y: (dword >> 16) as i16 as i64,
        }
    }

    /// One pixel to the right and below, while this slip is asked for.
    fn later(self, slip: Slip) -> Point {
        let by = i64::from(slip::is(slip));
        Point {
            x: self.x + by,
            y: self.y + by,
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
    pub(super) fn get(&self, field: Field) -> u32 {
        self.command.index(field).map_or(0, |index| self.cmd[index])
    }

    pub(super) fn has(&self, field: Field) -> bool {
        self.command.index(field).is_some()
    }

    /// Index of the dword of a field, or of the header if the field comes from the state.
    pub(super) fn index(&self, field: Field) -> usize {
        self.command.index(field).unwrap_or(0)
    }

    pub(super) fn immediate(&self) -> &'a [u32] {
        &self.cmd[self.command.dwords()..]
    }

    pub(super) fn immediate_bytes(&self) -> Vec<u8> {
        self.immediate()
            .iter()
            .flat_map(|dword| dword.to_le_bytes())
            .collect()
    }

    pub(super) fn violation(&mut self, dword: usize, rule: Rule) {
        self.violations.push(Violation { dword, rule });
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

    pub(super) fn depth(&self) -> Depth {
        Depth::of(self.control)
    }

    pub(super) fn rop(&self) -> Rop {
        Rop((self.control >> 16) as u8).slipped()
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
            Point::signed(self.get(Field::DstEnd)).later(Slip::EndInclusive)
        };

        // A negative source coordinate moves the destination's first pixel by as much, before anything is clipped
        // (§8.9). §8.1 wants positive sources; the later and more detailed text counts.
        let mut src_first = Point::signed(self.get(Field::SrcFirst));
        if self.has(Field::SrcBase) {
            if !slip::is(Slip::NegativeSourceKept) {
                first.x += (-src_first.x).max(0);
                first.y += (-src_first.y).max(0);
            }
            src_first.x = src_first.x.max(0);
            src_first.y = src_first.y.max(0);
        }
        let clip_always = pixel_command && !slip::is(Slip::PixelNotClipped);
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
                backwards_x = *x < first.x as u64 * pixel && !slip::is(Slip::NeverRightToLeft);
                backwards_y = *y < first.y as u64 && !slip::is(Slip::NeverUpwards);
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
        let asked = self.control & control::CLIP != 0 && !slip::is(Slip::ClipIgnored);
        if always || asked {
            low = Point::clip(self.state.br24).later(Slip::ClipFirstExclusive);
            let clip_end = Point::clip(self.state.br25).later(Slip::ClipEndInclusive);
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
            skipped: match slip::is(Slip::ClipKeepsSource) {
                true => Point { x: 0, y: 0 },
                false => Point {
                    x: drawn.x - first.x,
                    y: drawn.y - first.y,
                },
            },
        })
    }
}

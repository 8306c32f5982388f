// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Brushes and raster operations (R5xx guide §5.2.2: BRUSH_PACKET, WIN31_ROP).

use super::{Control, Op};
use crate::r5xx::core::Core;
use crate::r5xx::lint::Rule;
use crate::r5xx::regs::reg;
use crate::slip::{self, Slip};

/// What a rectangle is filled with, or a line drawn.
#[derive(Clone, Debug)]
pub(crate) enum Brush {
    /// There is none: the pattern is zero.
    None,
    /// One colour.
    Solid(u32),
    /// 8 x 8 bits.
    Mono {
        rows: [u8; 8],
        foreground: u32,
        /// `None`: transparent.
        background: Option<u32>,
        origin: (i32, i32),
    },
    /// A pen of 32 bits, for lines.
    Pen {
        bits: u32,
        foreground: u32,
        background: Option<u32>,
    },
    /// 8 x 8 pixels.
    Colour {
        pixels: Box<[u32; 64]>,
        origin: (i32, i32),
    },
}

/// Codes of BRUSH_TYPE.
pub(super) mod code {
    pub const MONO: u32 = 0;
    pub const MONO_TRANSPARENT: u32 = 1;
    pub const PEN: u32 = 6;
    pub const PEN_TRANSPARENT: u32 = 7;
    pub const COLOUR: u32 = 10;
    pub const SOLID: u32 = 13;
    pub const SOLID_2: u32 = 14;
    pub const NONE: u32 = 15;
}

/// The result of a raster operation: the code is the truth table itself, bit 4 P + 2 S + D.
pub(super) fn rop3(code: u8, pattern: u32, source: u32, destination: u32) -> u32 {
    (0..8).fold(0, |result, n| {
        if code >> n & 1 == 0 {
            return result;
        }
        let p = if n & 4 != 0 { pattern } else { !pattern };
        let s = if n & 2 != 0 { source } else { !source };
        let d = if n & 1 != 0 {
            destination
        } else {
            !destination
        };
        result | (p & s & d)
    })
}

/// Returns whether the result depends on the source.
pub(super) fn uses_source(code: u8) -> bool {
    code >> 2 & 0x33 != code & 0x33
}

/// Returns whether the result depends on the pattern.
pub(super) fn uses_pattern(code: u8) -> bool {
    code >> 4 != code & 0x0f
}

/// Returns whether the result depends on the destination's old value.
pub(super) fn uses_destination(code: u8) -> bool {
    code >> 1 & 0x55 != code & 0x55
}

impl Brush {
    /// The pattern's pixel at a place; `None` where it is transparent.
    pub fn at(&self, x: i32, y: i32) -> Option<u32> {
        match self {
            Brush::None => Some(0),
            Brush::Solid(colour) => Some(*colour),
            Brush::Mono {
                rows,
                foreground,
                background,
                origin,
            } => {
                let column = (x - origin.0).rem_euclid(8);
                let row = (y - origin.1).rem_euclid(8) as usize;
                let row = match slip::is(Slip::PatternRowsReversed) {
                    true => 7 - row,
                    false => row,
                };
                let shift = match slip::is(Slip::PatternBitsReversed) {
                    true => column,
                    false => 7 - column,
                };
                match rows[row] >> shift & 1 {
                    0 if slip::is(Slip::MonoZerosDrawn) => background.or(Some(0)),
                    0 => *background,
                    _ => Some(*foreground),
                }
            }
            Brush::Colour { pixels, origin } => {
                let column = (x - origin.0).rem_euclid(8);
                let row = (y - origin.1).rem_euclid(8);
                Some(pixels[(8 * row + column) as usize])
            }
            // A pen goes along a line, not over a place.
            Brush::Pen { .. } => self.along(0),
        }
    }

    /// The pen's pixel so many steps along a line; other brushes have one colour there.
    pub fn along(&self, step: u32) -> Option<u32> {
        match self {
            Brush::Pen {
                bits,
                foreground,
                background,
            } => {
                if bits >> (31 - step % 32) & 1 != 0 {
                    Some(*foreground)
                } else {
                    *background
                }
            }
            Brush::Solid(colour) => Some(*colour),
            _ => Some(0),
        }
    }
}

impl Core {
    /// The brush that the registers describe; `None` for a reserved code.
    pub(super) fn brush(&mut self, control: Control) -> Option<Brush> {
        let foreground = self.get(reg::DP_BRUSH_FRGD_CLR);
        let opaque = self.get(reg::DP_BRUSH_BKGD_CLR);
        let place = self.get(reg::BRUSH_Y_X);
        let origin = ((place & 31) as i32, (place >> 8 & 31) as i32);
        let order = |v: u32| {
            if control.lsb_first() {
                v.reverse_bits()
            } else {
                v
            }
        };
        let first = order(self.get(reg::BRUSH_DATA0));
        let second = order(self.get(reg::BRUSH_DATA0 + 4));
        let brush = match control.brush() {
            kind @ (code::MONO | code::MONO_TRANSPARENT) => {
                let bits = u64::from(first) << 32 | u64::from(second);
                Brush::Mono {
                    rows: bits.to_be_bytes(),
                    foreground,
                    background: (kind == code::MONO).then_some(opaque),
                    origin,
                }
            }
            kind @ (code::PEN | code::PEN_TRANSPARENT) => Brush::Pen {
                bits: first,
                foreground,
                background: (kind == code::PEN).then_some(opaque),
            },
            code::COLOUR => Brush::Colour {
                pixels: Box::new(self.colour_brush(control)),
                origin,
            },
            code::SOLID | code::SOLID_2 => Brush::Solid(foreground),
            code::NONE => Brush::None,
            other => {
                self.notes
                    .lint(Rule::GuiControl, || format!("brush {other}"));
                return None;
            }
        };
        if matches!(brush, Brush::None) && uses_pattern(control.rop()) {
            self.notes.lint(Rule::BrushUse, || "there is none".into());
        }
        Some(brush)
    }

    /// The 64 pixels of a colour brush, out of its dwords.
    fn colour_brush(&self, control: Control) -> [u32; 64] {
        let bytes = control.brush_bytes();
        let per_dword = 4 / bytes;
        std::array::from_fn(|n| {
            let n = n as u32;
            let dword = self.get(reg::BRUSH_DATA0 + 4 * (n / per_dword));
            let value = dword >> (8 * bytes * (n % per_dword));
            match bytes {
                1 => value & 0xff,
                2 => value & 0xffff,
                _ => value,
            }
        })
    }

    /// Lines are drawn with pens, or with one colour (§5.2.2; GARBLE 5).
    pub(super) fn check_pen(&mut self, op: &Op) {
        if !matches!(op.brush, Brush::Pen { .. } | Brush::Solid(_)) {
            self.notes
                .lint(Rule::BrushUse, || format!("line with {:?}", op.brush));
        }
    }

    /// Areas are not painted with pens (§5.2.2).
    pub(super) fn check_area(&mut self, op: &Op) {
        if matches!(op.brush, Brush::Pen { .. }) {
            self.notes.lint(Rule::BrushUse, || "area with a pen".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes and what they are called in the Windows SDK that the document refers to.
    #[test]
    fn raster_operations_of_the_sdk() {
        let (p, s, d) = (0xff00_f0f0, 0x00ff_cccc, 0x1234_aaaa);
        for (code, expected) in [
            (0x00, 0),
            (0x0f, !p),
            (0x33, !s),
            (0x55, !d),
            (0x5a, d ^ p),
            (0x66, d ^ s),
            (0x88, d & s),
            (0xb8, p ^ (s & (d ^ p))),
            (0xcc, s),
            (0xee, d | s),
            (0xf0, p),
            (0xff, !0),
        ] {
            assert_eq!(rop3(code, p, s, d), expected, "{code:#x}");
        }
        assert!(uses_source(0xcc) && !uses_source(0xf0));
        assert!(uses_pattern(0xf0) && !uses_pattern(0xcc));
        assert!(uses_destination(0x66) && !uses_destination(0xcc));
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What a 2D operation would touch by other readings of its registers ([`Disputed`]).
//!
//! Clip rectangles are drawn without their right and bottom edges; that they have them is a reading as
//! well (digest §6.1, 9), which is not worth a word.

use super::brush::uses_destination;
use super::{Clip, Control, From, Op, Piece, Surface};
use crate::r5xx::access::{Access, Unit};
use crate::r5xx::core::Core;
use crate::r5xx::disputed::Disputed;
use crate::r5xx::regs::reg;
use crate::r5xx::tile::{Layout, Micro, MACRO_BYTES};
use crate::slip::{self, Slip};

/// The widest pitch, which the field of 8 bits does not hold.
const WIDEST: u64 = 256 * 64;
/// DP_CNTL: tiles of the destination.
const DST_MACRO: u32 = 1 << 3;
const DST_MICRO: u32 = 1 << 4;

/// Other readings of an operation.
#[derive(Debug, Default)]
pub(crate) struct Also {
    pub dst: Vec<Surface>,
    pub src: Vec<Surface>,
    pub pieces: Vec<Piece>,
}

/// A surface as a register of pitch and offset has it (§5.2.2), and what else it may mean.
pub(super) fn surfaces(value: u32, bytes: u32) -> Option<(Surface, Vec<Surface>)> {
    let micro = if value >> 31 != 0 {
        Micro::tiled(bytes)
    } else {
        Some(Micro::Linear)
    };
    let unit = if slip::is(Slip::PitchHalved) { 32 } else { 64 };
    let told = u64::from(value >> 22 & 0xff) * unit;
    let base = u64::from(value & 0x3f_ffff) << 10;
    let mut layout = Layout {
        macro_tiled: value >> 30 & 1 != 0,
        micro: micro?,
        pitch: told,
    };
    let unit = if layout.is_linear() {
        1
    } else {
        layout.pitch_unit()
    };
    let pitches = match told {
        0 => [WIDEST, 0],
        p => [p.next_multiple_of(unit), p / unit * unit],
    };
    let bases = match layout.macro_tiled {
        true => [base, base / MACRO_BYTES * MACRO_BYTES],
        false => [base, base],
    };
    let mut all = Vec::new();
    for pitch in pitches {
        for base in bases {
            layout.pitch = pitch;
            let surface = Surface { base, layout };
            if !all.contains(&surface) {
                all.push(surface);
            }
        }
    }
    let first = all.remove(0);
    Some((first, all))
}

impl Surface {
    /// Columns from `x0` to `x1` and rows from `y0` to `y1`, both ends outside.
    fn touch(self, write: bool, (x0, x1): (u64, u64), (y0, y1): (u64, u64), out: &mut Vec<Access>) {
        for (offset, len) in self.layout.ranges((x0, x1), (y0, y1)) {
            let addr = self.base + offset;
            let access = Access {
                unit: Unit::TwoD,
                write,
                addr,
                len,
            };
            if out.last() != Some(&access) {
                out.push(access);
            }
        }
    }
}

impl Core {
    /// Other surfaces that an operation may mean.
    pub(super) fn other_surfaces(&mut self, control: Control, bytes: u32, op: &mut Op) {
        let default = self.get(reg::DEFAULT_OFFSET);
        for (bit, register) in [(0, reg::SRC_PITCH_OFFSET), (1, reg::DST_PITCH_OFFSET)] {
            let list = match (bit, op.src) {
                (0, None) => continue,
                (0, _) => &mut op.also.src,
                _ => &mut op.also.dst,
            };
            let value = self.get(register);
            let (_, others) = surfaces(value, bytes).unzip();
            let mut what = Vec::new();
            if let Some(others) = others.filter(|o: &Vec<_>| !o.is_empty()) {
                list.extend(others);
                what.push(Disputed::Pitch);
            }
            if !control.bit(bit) && value != default {
                if let Some((first, others)) = surfaces(default, bytes) {
                    list.push(first);
                    list.extend(others);
                }
                what.push(Disputed::DefaultSurface);
            }
            what.into_iter().for_each(|w| self.dispute(w));
        }
        let tiles = self.get(reg::DP_CNTL) & (DST_MACRO | DST_MICRO);
        if tiles == 0 {
            return;
        }
        self.dispute(Disputed::DestinationTiles);
        let Some(tiled) = Micro::tiled(bytes) else {
            return;
        };
        let (macro_tiled, micro) = (tiles & DST_MACRO != 0, tiles & DST_MICRO != 0);
        let mut all = vec![op.dst];
        all.extend(&op.also.dst);
        for surface in all {
            let of = surface.layout;
            for (macro_tiled, micro) in [
                (macro_tiled, micro),
                (
                    macro_tiled || of.macro_tiled,
                    micro || of.micro != Micro::Linear,
                ),
            ] {
                let mut layout = Layout {
                    macro_tiled,
                    micro: if micro { tiled } else { Micro::Linear },
                    ..of
                };
                layout.pitch = layout.pitch.next_multiple_of(layout.pitch_unit());
                op.also.dst.push(Surface { layout, ..surface });
            }
        }
    }

    /// All that an operation may touch besides what it does, from its registers and its pieces.
    pub(super) fn other_accesses(&mut self, op: &Op) -> Vec<Access> {
        let control = Control(self.get(reg::DP_GUI_MASTER_CNTL));
        // What was armed behind the bit is on, or not.
        let compares = op.compare.is_on() && control.bit(28);
        if compares {
            self.dispute(Disputed::Comparison);
        }
        if !op.also.pieces.is_empty() {
            self.dispute(Disputed::Directions);
        }
        let all = || op.pieces.iter().chain(&op.also.pieces);
        let other =
            !(op.also.dst.is_empty() && op.also.src.is_empty() && op.also.pieces.is_empty());
        let mut out = Vec::new();
        if !(other || compares || all().any(|p| p.meets_an_edge(op))) {
            return out;
        }
        let reads = uses_destination(op.rop) || op.compare.is_on() || op.is_masked();
        for piece in all() {
            let Some((to, from)) = piece.areas(op) else {
                continue;
            };
            for dst in [op.dst].iter().chain(&op.also.dst) {
                let (x, y) = to.bytes(op.bytes);
                if reads {
                    dst.touch(false, x, y, &mut out);
                }
                dst.touch(true, x, y, &mut out);
            }
            for src in op.src.iter().chain(&op.also.src) {
                let Some(from) = from else { continue };
                let (x, y) = match op.mono {
                    // A bit for each, fetched by dwords.
                    Some(_) => from.bits(),
                    None => from.bytes(op.bytes),
                };
                src.touch(false, x, y, &mut out);
            }
        }
        out
    }
}

/// Pixels of a surface: right and bottom are outside, none is negative.
#[derive(Clone, Copy)]
struct Area(Clip);

impl Area {
    fn bytes(self, bytes: u32) -> ((u64, u64), (u64, u64)) {
        let (c, n) = (self.0, u64::from(bytes));
        let x = (c.left as u64 * n, c.right as u64 * n);
        (x, (c.top as u64, c.bottom as u64))
    }

    fn bits(self) -> ((u64, u64), (u64, u64)) {
        let c = self.0;
        let x = (c.left as u64 / 32 * 4, (c.right as u64).div_ceil(32) * 4);
        (x, (c.top as u64, c.bottom as u64))
    }
}

impl Piece {
    /// True if a clip rectangle's right or bottom edge goes through it.
    fn meets_an_edge(&self, op: &Op) -> bool {
        let &Piece::Rect {
            x,
            y,
            w,
            h,
            ref from,
            ..
        } = self
        else {
            return false;
        };
        let (right, bottom) = (x + w as i32, y + h as i32);
        let source = match from {
            From::Memory(sx, sy) => sx + w as i32 > op.src_clip.0 || sy + h as i32 > op.src_clip.1,
            _ => false,
        };
        right > op.clip.right || bottom > op.clip.bottom || source
    }

    /// Returns the area if clip rectangles include their right and bottom edges, and that of the source.
    fn areas(&self, op: &Op) -> Option<(Area, Option<Area>)> {
        let &Piece::Rect {
            x,
            y,
            w,
            h,
            ref from,
            ..
        } = self
        else {
            return None;
        };
        let mut to = Clip {
            left: x.max(op.clip.left),
            top: y.max(op.clip.top),
            right: (x + w as i32).min(op.clip.right + 1),
            bottom: (y + h as i32).min(op.clip.bottom + 1),
        };
        let mut source = None;
        if let &From::Memory(sx, sy) = from {
            to.left = to.left.max(x - sx);
            to.top = to.top.max(y - sy);
            to.right = to.right.min(x - sx + op.src_clip.0 + 1);
            to.bottom = to.bottom.min(y - sy + op.src_clip.1 + 1);
            source = Some(Area(Clip {
                left: to.left - x + sx,
                top: to.top - y + sy,
                right: to.right - x + sx,
                bottom: to.bottom - y + sy,
            }));
        }
        (to.left < to.right && to.top < to.bottom).then_some((Area(to), source))
    }
}

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
/// Coordinates range from -8192 to 8191 (§5.2.2.7 to §5.2.2.9).
const LEAST: i32 = -8192;
const COORDINATES: i32 = 16384;

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

    /// The same from the first byte to the last, as one access.
    fn touch_extent(self, write: bool, x: (u64, u64), y: (u64, u64), out: &mut Vec<Access>) {
        let edges = [(y.0, y.0 + 1), (y.1 - 1, y.1)];
        let ends = edges.map(|row| self.layout.ranges(x, row).next());
        if let [Some((start, _)), Some((last, len))] = ends {
            out.push(Access {
                unit: Unit::TwoD,
                write,
                addr: self.base + start,
                len: last + len - start,
            });
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
        let wrapped: Vec<Piece> = all().flat_map(Piece::wrapped).collect();
        for piece in &wrapped {
            op.touch(piece, Surface::touch_extent, &mut out);
        }
        if !out.is_empty() || all().any(|p| p.leaves_coordinates(op)) {
            self.dispute(Disputed::Coordinates);
        }
        if other || compares || all().any(|p| p.meets_an_edge(op)) {
            for piece in all() {
                op.touch(piece, Surface::touch, &mut out);
            }
        }
        out
    }
}

/// Lists a read or write of columns (bytes) and rows of a surface.
type Lister = fn(Surface, bool, (u64, u64), (u64, u64), &mut Vec<Access>);

impl Op {
    /// Lists what a piece touches of all surfaces that it may mean.
    fn touch(&self, piece: &Piece, list: Lister, out: &mut Vec<Access>) {
        let Some((to, from)) = piece.areas(self) else {
            return;
        };
        let reads = uses_destination(self.rop) || self.compare.is_on() || self.is_masked();
        for dst in [self.dst].iter().chain(&self.also.dst) {
            let (x, y) = to.bytes(self.bytes);
            if reads {
                list(*dst, false, x, y, out);
            }
            list(*dst, true, x, y, out);
        }
        for src in self.src.iter().chain(&self.also.src) {
            let Some(from) = from else { continue };
            let (x, y) = match self.mono {
                // A bit for each, fetched by dwords.
                Some(_) => from.bits(),
                None => from.bytes(self.bytes),
            };
            list(*src, false, x, y, out);
        }
    }
}

/// A coordinate as its 14 bits hold it.
fn fold(at: i32) -> i32 {
    (at - LEAST).rem_euclid(COORDINATES) + LEAST
}

/// Returns the parts of `n` pixels between which a coordinate wraps, of those that begin at `starts`: offset and
/// length.
fn parts(starts: &[i32], n: i32) -> Vec<(i32, i32)> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < n {
        let room = starts.iter().map(|s| LEAST + COORDINATES - fold(s + at));
        let len = room.fold(n - at, i32::min);
        all.push((at, len));
        at += len;
    }
    all
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

/// Corner, size, and the source's corner.
type Corners = ([i32; 2], [i32; 2], Option<[i32; 2]>);

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

    /// Returns the rectangles that it consists of if its coordinates wrap, those alone that are elsewhere then.
    fn wrapped(&self) -> Vec<Piece> {
        let Some(([x, y], [w, h], source)) = self.corners() else {
            return Vec::new();
        };
        let stays = |at: i32, n: i32| fold(at) == at && at + n <= LEAST + COORDINATES;
        if [Some([x, y]), source]
            .into_iter()
            .flatten()
            .all(|[x, y]| stays(x, w) && stays(y, h))
        {
            return Vec::new();
        }
        let starts =
            |n: usize, at: i32| -> Vec<i32> { source.iter().map(|s| s[n]).chain([at]).collect() };
        let columns = parts(&starts(0, x), w);
        let mut all = Vec::new();
        for (down, h) in parts(&starts(1, y), h) {
            for &(right, w) in &columns {
                let moved = |[x, y]: [i32; 2]| [x + right, y + down];
                let folded = |at| moved(at).map(fold);
                let to = folded([x, y]);
                let from = source.map(folded);
                if to == moved([x, y]) && from == source.map(moved) {
                    continue;
                }
                all.push(Piece::Rect {
                    x: to[0],
                    y: to[1],
                    w: w as u32,
                    h: h as u32,
                    from: from.map_or(From::Nothing, |[x, y]| From::Memory(x, y)),
                    up: false,
                    left: false,
                });
            }
        }
        all
    }

    /// Returns whether pixels with coordinates past 8191 are drawn or read.
    fn leaves_coordinates(&self, op: &Op) -> bool {
        let past = |a: &Area| a.0.right.max(a.0.bottom) > LEAST + COORDINATES;
        self.corners()
            .filter(|([x, y], [w, h], source)| {
                let ends = |[x, y]: [i32; 2]| (x + w).max(y + h);
                ends([*x, *y]).max(source.map_or(0, ends)) > LEAST + COORDINATES
            })
            .and_then(|_| self.areas(op))
            .is_some_and(|(to, from)| past(&to) || from.as_ref().is_some_and(past))
    }

    /// Returns the corner of a rectangle, its size, and the source's corner.
    fn corners(&self) -> Option<Corners> {
        match self {
            &Piece::Rect {
                x,
                y,
                w,
                h,
                ref from,
                ..
            } => {
                let source = match from {
                    &From::Memory(x, y) => Some([x, y]),
                    _ => None,
                };
                Some(([x, y], [w as i32, h as i32], source))
            }
            Piece::Line { .. } => None,
        }
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

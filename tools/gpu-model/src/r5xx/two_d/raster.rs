// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Doing 2D operations, row by row (R5xx guide §5.2.2).

use super::brush::{rop3, uses_destination, uses_pattern, uses_source};
use super::{Compare, From, Mono, Op, Piece, Surface};
use crate::r5xx::access::Unit;
use crate::r5xx::core::Core;
use crate::slip::{self, Slip};

/// Pixels that are drawn before others get their turn.
const BUDGET: u64 = 1 << 16;

/// A row of pixels to draw: from, to (outside), and the row.
#[derive(Clone, Copy)]
struct Span {
    x0: i32,
    x1: i32,
    y: i32,
}

impl Span {
    fn len(&self) -> usize {
        (self.x1 - self.x0).max(0) as usize
    }
}

/// Returns whether a pixel is written, and whether its bits are flipped instead (§5.2.2.10).
fn decide(compare: &Compare, bytes: u32, source: u32, destination: u32) -> (bool, bool) {
    let pixel = if bytes == 4 {
        !0
    } else {
        (1 << (8 * bytes)) - 1
    };
    let mask = compare.mask & pixel;
    let equal = |a: u32, b: u32| (a ^ b) & mask == 0;
    let (by_source, flip) = match compare.control & 7 {
        1 => (false, false),
        4 => (equal(source, compare.src), false),
        5 => (!equal(source, compare.src), false),
        7 => (true, equal(source, compare.src)),
        _ => (true, false),
    };
    // The destination's functions say what is kept.
    let by_destination = match compare.control >> 8 & 7 {
        1 => false,
        4 => !equal(destination, compare.dst),
        5 => equal(destination, compare.dst),
        _ => true,
    };
    match compare.control >> 24 & 3 {
        0 => (by_destination, false),
        1 => (by_source, flip),
        _ => (by_source && by_destination, flip),
    }
}

impl Core {
    /// Goes on with an operation; true when it is done.
    pub fn draw_2d(&mut self, op: &mut Op) -> bool {
        for access in std::mem::take(&mut op.others) {
            self.mc.touch(access);
        }
        let mut left = BUDGET;
        while let Some(piece) = op.pieces.get(op.piece).cloned() {
            let drawn = match &piece {
                Piece::Line { from, to, phase } => {
                    op.piece += 1;
                    self.line(op, *from, *to, *phase)
                }
                Piece::Rect { h, .. } if op.row >= *h => {
                    op.piece += 1;
                    op.row = 0;
                    1
                }
                Piece::Rect { .. } => self.rows(op, &piece, left),
            };
            left = left.saturating_sub(drawn);
            if left == 0 {
                return op.piece >= op.pieces.len();
            }
        }
        true
    }

    /// Some rows of a rectangle; how many pixels, or at least one for each row.
    fn rows(&mut self, op: &mut Op, piece: &Piece, budget: u64) -> u64 {
        let Piece::Rect {
            x,
            y,
            w,
            h,
            from,
            up,
            left,
        } = piece
        else {
            return 1;
        };
        let mut done = 0;
        while op.row < *h && done < budget {
            let up = *up && !slip::is(Slip::NeverUpwards);
            let left = *left && !slip::is(Slip::NeverRightToLeft);
            let row = if up { h - 1 - op.row } else { op.row };
            op.row += 1;
            done += 1 + self.row(op, (*x, *y), (*w, row), from, left);
        }
        done
    }

    fn row(
        &mut self,
        op: &Op,
        (x, y): (i32, i32),
        (w, row): (u32, u32),
        from: &From,
        left: bool,
    ) -> u64 {
        let y = y + row as i32;
        if y < op.clip.top || y >= op.clip.bottom {
            return 0;
        }
        let mut span = Span {
            x0: x.max(op.clip.left),
            x1: (x + w as i32).min(op.clip.right),
            y,
        };
        let mut origin = None;
        if let From::Memory(sx, sy) = from {
            let sy = sy + row as i32;
            if sy < 0 || sy >= op.src_clip.1 {
                return 0;
            }
            span.x0 = span.x0.max(x - sx);
            span.x1 = span.x1.min(x + op.src_clip.0 - sx);
            origin = Some((sx - x, sy));
        }
        if span.x1 <= span.x0 {
            return 0;
        }
        // In the same row of the same surface, the wrong direction reads what was just written.
        let smears = origin.is_some_and(|(dx, sy)| {
            let same = op.mono.is_none() && op.src == Some(op.dst) && sy == y;
            same && ((left && dx > 0) || (!left && dx < 0))
        });
        if !smears {
            return self.span(op, span, origin, from, (x, row, w));
        }
        let (x0, x1) = (span.x0, span.x1);
        let one = |x: i32, core: &mut Core| {
            let pixel = Span {
                x0: x,
                x1: x + 1,
                y,
            };
            core.span(op, pixel, origin, from, (x0, row, w))
        };
        if left {
            (x0..x1).rev().map(|x| one(x, self)).sum()
        } else {
            (x0..x1).map(|x| one(x, self)).sum()
        }
    }

    /// Draws a run of pixels. `origin` is what to add to a column for the source's, and its row;
    /// `place` the rectangle's left edge, the row in it, and its width.
    fn span(
        &mut self,
        op: &Op,
        span: Span,
        origin: Option<(i32, i32)>,
        from: &From,
        place: (i32, u32, u32),
    ) -> u64 {
        let n = span.len();
        // A pixel, or nothing where a mono source is transparent.
        let source: Vec<Option<u32>> = match (from, origin, op.mono) {
            (From::Memory(..), Some((dx, sy)), Some(mono)) => {
                self.mono_from_memory(op, span, dx, sy, mono)
            }
            (From::Memory(..), Some((dx, sy)), None) => match op.src {
                Some(src) => {
                    let moved = Span {
                        x0: span.x0 + dx,
                        x1: span.x1 + dx,
                        y: sy,
                    };
                    let pixels = self.load_span(&src, op.bytes, moved);
                    pixels.into_iter().map(Some).collect()
                }
                None => vec![Some(0); n],
            },
            (From::Dwords(data), _, mono) => (span.x0..span.x1)
                .map(|x| {
                    let column = (x - place.0) as u32;
                    host_pixel(data, op.bytes, mono, column, place.1, place.2)
                })
                .collect(),
            _ => vec![Some(0); n],
        };
        let pattern: Vec<Option<u32>> = if uses_pattern(op.rop) {
            (span.x0..span.x1).map(|x| op.brush.at(x, span.y)).collect()
        } else {
            vec![Some(0); n]
        };
        self.combine(op, span, &source, &pattern)
    }

    fn combine(
        &mut self,
        op: &Op,
        span: Span,
        source: &[Option<u32>],
        pattern: &[Option<u32>],
    ) -> u64 {
        let pixel = if op.bytes == 4 {
            !0
        } else {
            (1 << (8 * op.bytes)) - 1
        };
        let needed = uses_destination(op.rop) || op.compare.is_on() || op.is_masked();
        let destination = if needed {
            self.load_span(&op.dst, op.bytes, span)
        } else {
            vec![0; span.len()]
        };
        let mut out = Vec::with_capacity(span.len());
        for ((s, p), d) in source.iter().zip(pattern).zip(&destination) {
            let (Some(s), Some(p)) = (s, p) else {
                out.push(None);
                continue;
            };
            let (write, flip) = decide(&op.compare, op.bytes, *s, *d);
            let value = if flip {
                d ^ op.mono.map_or(op.compare.src, |m| m.foreground)
            } else {
                rop3(op.rop, *p, *s, *d)
            };
            let value = (value & op.write_mask) | (d & !op.write_mask);
            out.push(write.then_some(value & pixel));
        }
        self.store_span(&op.dst, op.bytes, span, &out)
    }

    /// Reads a row of pixels.
    fn load_span(&mut self, surface: &Surface, bytes: u32, span: Span) -> Vec<u32> {
        let mut raw = vec![0; span.len() * bytes as usize];
        let mut x = span.x0.max(0) as u64 * u64::from(bytes);
        let mut done = 0;
        while done < raw.len() {
            let n = (raw.len() - done).min(surface.layout.run(x) as usize);
            let at = surface.base + surface.layout.offset(x, span.y.max(0) as u64);
            self.mc.read(Unit::TwoD, at, &mut raw[done..done + n]);
            done += n;
            x += n as u64;
        }
        raw.chunks_exact(bytes as usize)
            .map(|c| c.iter().rev().fold(0, |v, b| v << 8 | u32::from(*b)))
            .collect()
    }

    /// Writes the pixels of a row that there are; how many.
    fn store_span(
        &mut self,
        surface: &Surface,
        bytes: u32,
        span: Span,
        out: &[Option<u32>],
    ) -> u64 {
        let mut written = 0;
        let mut at = 0;
        while at < out.len() {
            let run = out[at..].iter().take_while(|p| p.is_some()).count();
            if run == 0 {
                at += 1;
                continue;
            }
            let raw: Vec<u8> = out[at..at + run]
                .iter()
                .flatten()
                .flat_map(|p| p.to_le_bytes().into_iter().take(bytes as usize))
                .collect();
            let mut x = (span.x0.max(0) as u64 + at as u64) * u64::from(bytes);
            let mut done = 0;
            while done < raw.len() {
                let n = (raw.len() - done).min(surface.layout.run(x) as usize);
                let to = surface.base + surface.layout.offset(x, span.y.max(0) as u64);
                self.mc.write(Unit::TwoD, to, &raw[done..done + n]);
                done += n;
                x += n as u64;
            }
            written += run as u64;
            at += run;
        }
        self.count_pixels(written);
        written
    }

    /// A mono source in memory: a bit for each pixel, rows at the source's pitch.
    fn mono_from_memory(
        &mut self,
        op: &Op,
        span: Span,
        dx: i32,
        sy: i32,
        mono: Mono,
    ) -> Vec<Option<u32>> {
        let Some(src) = op.src else {
            return vec![Some(0); span.len()];
        };
        let mut dword = (u64::MAX, 0);
        (span.x0..span.x1)
            .map(|x| {
                let column = (x + dx).max(0) as u64;
                let offset = src.layout.offset(column / 32 * 4, sy.max(0) as u64);
                if dword.0 != offset {
                    dword = (offset, self.mc.read32(Unit::TwoD, src.base + offset));
                }
                expand(mono, dword.1, column as u32 % 32)
            })
            .collect()
    }

    /// A line by Bresenham's rule, without its last pixel. How many pixels, at least one.
    fn line(&mut self, op: &Op, from: (i32, i32), to: (i32, i32), phase: u32) -> u64 {
        let (dx, dy) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        let (sx, sy) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
        let steps = dx.max(dy);
        let (mut x, mut y) = from;
        let mut error = if dx >= dy { dx } else { dy };
        for n in 0..steps {
            self.line_pixel(op, x, y, op.brush.along(phase + n as u32));
            if dx >= dy {
                x += sx;
                error -= 2 * dy;
                if error < 0 {
                    y += sy;
                    error += 2 * dx;
                }
            } else {
                y += sy;
                error -= 2 * dx;
                if error < 0 {
                    x += sx;
                    error += 2 * dy;
                }
            }
        }
        1 + steps as u64
    }

    fn line_pixel(&mut self, op: &Op, x: i32, y: i32, pattern: Option<u32>) {
        let c = op.clip;
        if x < c.left || x >= c.right || y < c.top || y >= c.bottom {
            return;
        }
        let span = Span {
            x0: x,
            x1: x + 1,
            y,
        };
        let source = if uses_source(op.rop) {
            op.mono.map_or(Some(0), |m| Some(m.foreground))
        } else {
            Some(0)
        };
        self.combine(op, span, &[source], &[pattern]);
    }
}

/// The colour of one bit of a dword.
fn expand(mono: Mono, dword: u32, n: u32) -> Option<u32> {
    let shift = if mono.lsb_first { n } else { 31 - n };
    if dword >> shift & 1 != 0 {
        Some(mono.foreground)
    } else {
        mono.background
    }
}

/// A pixel of the host's data: a bit or some bytes, one after the other over all rows (§5.2.2:
/// "linear trajectory").
fn host_pixel(
    data: &[u32],
    bytes: u32,
    mono: Option<Mono>,
    column: u32,
    row: u32,
    width: u32,
) -> Option<u32> {
    let get = |n: u64| data.get(n as usize).copied().unwrap_or(0);
    let (column, row, width) = (u64::from(column), u64::from(row), u64::from(width));
    match mono {
        Some(mono) => {
            let stride = if mono.byte_aligned {
                width.div_ceil(8) * 8
            } else {
                width
            };
            let bit = row * stride + column;
            expand(mono, get(bit / 32), (bit % 32) as u32)
        }
        None => {
            let per_dword = u64::from(4 / bytes);
            let n = row * width + column;
            let value = get(n / per_dword) >> (8 * u64::from(bytes) * (n % per_dword));
            Some(if bytes == 4 {
                value
            } else {
                value & ((1 << (8 * bytes)) - 1)
            })
        }
    }
}

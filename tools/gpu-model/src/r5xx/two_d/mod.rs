// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The 2D engine (R5xx guide §5.2.2; registers from digest §3.3).
//!
//! A packet writes registers and triggers, and so does a stream of type-0 writes: an operation is
//! always built from the registers, at its trigger, and keeps what it took from them.
//!
//! Where the document is silent: a clip rectangle's right and bottom edges are outside of it; a
//! brush's origin is the coordinate in BRUSH_Y_X; a line has no last pixel; colours for pixels of
//! less than 32 bits are taken as pixels, by their low bits.

mod brush;
mod packets;
mod raster;
mod readings;

pub(crate) use brush::Brush;
use readings::{surfaces, Also};

use super::access::Access;
use super::core::Core;
use super::gfx::{Gfx, Job};
use super::lint::Rule;
use super::regs::reg;
use super::tile::Layout;
use crate::blt::Rop;
use crate::slip::{self, Slip};

/// GUI_CONTROL, which is the image of DP_GUI_MASTER_CNTL (§5.2.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control(pub u32);

/// Where the source comes from (SRC_LOAD).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Memory.
    Memory,
    /// The host; rows of a mono bitmap begin at a byte if true.
    Host(bool),
}

impl Control {
    fn bit(self, n: u32) -> bool {
        self.0 >> n & 1 != 0
    }

    /// Code of the brush.
    pub fn brush(self) -> u32 {
        self.0 >> 4 & 15
    }

    /// Bytes of a pixel; `None` for types that only the 3D pipe knows, and reserved ones.
    pub fn bytes_per_pixel(self) -> Option<u32> {
        match self.0 >> 8 & 15 {
            2 => Some(1),
            3 | 4 => Some(2),
            6 => Some(4),
            _ => None,
        }
    }

    /// The same for the length of a colour brush, by the type's size alone.
    fn brush_bytes(self) -> u32 {
        match self.0 >> 8 & 15 {
            2 | 7 | 8 | 9 => 1,
            3 | 4 | 11 | 12 | 15 => 2,
            _ => 4,
        }
    }

    /// Mono source: true if its background is transparent; `None` for pixels like the destination's.
    pub fn mono(self) -> Option<bool> {
        match self.0 >> 12 & 3 {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// Bits of a dword are taken from the least significant on.
    pub fn lsb_first(self) -> bool {
        self.bit(14)
    }

    pub fn rop(self) -> u8 {
        Rop((self.0 >> 16) as u8).slipped().0
    }

    pub fn load(self) -> Option<Load> {
        match self.0 >> 24 & 7 {
            2 => Some(Load::Memory),
            3 => Some(Load::Host(false)),
            4 => Some(Load::Host(true)),
            _ => None,
        }
    }

    /// Codes that the document reserves, or that the 2D pipe does not do.
    fn reserved(self) -> bool {
        let source = self.bit(27) || self.0 >> 12 & 3 == 2;
        let uses_source = brush::uses_source(self.rop());
        self.bit(15)
            || self.bit(29)
            || self.bytes_per_pixel().is_none()
            || (uses_source && (source || self.load().is_none()))
    }
}

/// A surface that 2D draws in or reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surface {
    pub base: u64,
    pub layout: Layout,
}

/// A rectangle; right and bottom are outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clip {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

/// Colour comparison (§5.2.2.10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compare {
    pub control: u32,
    pub src: u32,
    pub dst: u32,
    pub mask: u32,
}

impl Compare {
    /// Returns whether the source decides (CMP_ENABLE 1 or 2, and a function that depends on it).
    fn uses_source(&self) -> bool {
        self.control >> 24 & 3 != 0 && self.control & 7 >= 4
    }

    /// Returns whether pixels may be left unchanged.
    fn is_on(&self) -> bool {
        self.control & 0x707 != 0
    }
}

/// Colours of a mono source, and how its bits lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mono {
    pub foreground: u32,
    /// `None`: transparent.
    pub background: Option<u32>,
    pub lsb_first: bool,
    /// Rows begin at a byte.
    pub byte_aligned: bool,
}

/// Where a piece's source pixels are.
#[derive(Clone, Debug)]
pub(crate) enum From {
    /// It has none.
    Nothing,
    /// In memory, with the top left corner there.
    Memory(i32, i32),
    /// In these dwords, one pixel after the other.
    Dwords(Vec<u32>),
}

/// One thing to draw.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// A rectangle. `up` and `left` say in which order rows and pixels are done.
    Rect {
        x: i32,
        y: i32,
        w: u32,
        h: u32,
        from: From,
        up: bool,
        left: bool,
    },
    /// A line; `phase` is the pen's position at its beginning.
    Line {
        from: (i32, i32),
        to: (i32, i32),
        phase: u32,
    },
}

/// An operation: what it took from the registers, and its pieces.
#[derive(Debug)]
pub(crate) struct Op {
    pub client: bool,
    pub bytes: u32,
    pub rop: u8,
    pub dst: Surface,
    pub src: Option<Surface>,
    pub mono: Option<Mono>,
    pub brush: Brush,
    pub clip: Clip,
    /// Source pixels from here on are not drawn.
    pub src_clip: (i32, i32),
    pub compare: Compare,
    pub write_mask: u32,
    pub pieces: Vec<Piece>,
    /// Other readings.
    pub also: Also,
    /// What those would touch, until it is told.
    pub others: Vec<Access>,
    /// The piece under way, and its rows that are done.
    pub piece: usize,
    pub row: u32,
}

/// A blit that the host's data is awaited for.
#[derive(Debug)]
pub(crate) struct HostBlit {
    op: Op,
    need: usize,
    data: Vec<u32>,
}

/// State of the engine that is in no register.
#[derive(Default)]
pub(crate) struct State {
    /// Waits for HOST_DATA.
    pub host: Option<HostBlit>,
    /// Loaded by LOAD_PALETTE.
    pub palette: Vec<u32>,
    /// SRC_PITCH_OFFSET and DST_PITCH_OFFSET hold the defaults.
    default_src: bool,
    default_dst: bool,
    /// Directions by DP_CNTL_XDIR_YDIR_YMAJOR since the last write of DP_CNTL: to the left, upwards.
    pub directions: Option<(bool, bool)>,
}

impl Op {
    /// Returns whether some bits of a pixel are left unchanged.
    fn is_masked(&self) -> bool {
        let pixel = if self.bytes == 4 {
            !0
        } else {
            (1 << (8 * self.bytes)) - 1
        };
        self.write_mask & pixel != pixel
    }
}

impl Gfx {
    /// DP_CNTL_XDIR_YDIR_YMAJOR was written: 31 and 15 are the directions, as 0 and 1 of DP_CNTL.
    pub fn directions_2d(&mut self, data: u32) {
        self.two.directions = Some((data >> 31 == 0, data >> 15 & 1 == 0));
    }

    /// SRC_PITCH_OFFSET or DST_PITCH_OFFSET was written.
    pub fn named_2d(&mut self, offset: u32) {
        if offset == reg::SRC_PITCH_OFFSET {
            self.two.default_src = false;
        } else {
            self.two.default_dst = false;
        }
    }
}

/// Sign-extends the 14 bits of a coordinate.
fn signed14(v: u32) -> i32 {
    ((v << 18) as i32) >> 18
}

/// Dwords that a source of the host's has (§5.2.2.3).
fn host_dwords(w: u32, h: u32, bytes: u32, mono: Option<Mono>) -> usize {
    let (w, h) = (u64::from(w), u64::from(h));
    let bits = match mono {
        Some(m) if m.byte_aligned => w.div_ceil(8) * 8 * h,
        Some(_) => w * h,
        None => w * h * u64::from(bytes) * 8,
    };
    bits.div_ceil(32) as usize
}

impl Core {
    /// DP_GUI_MASTER_CNTL is written: bits that are clear bring back the defaults (§5.2.2).
    pub fn master_control(&mut self, data: u32) {
        let control = Control(data);
        let default = self.get(reg::DEFAULT_OFFSET);
        let corner = self.get(reg::DEFAULT_SC_BOTTOM_RIGHT);
        if !control.bit(0) {
            self.set(reg::SRC_PITCH_OFFSET, default);
            self.gfx.two.default_src = true;
        }
        if !control.bit(1) {
            self.set(reg::DST_PITCH_OFFSET, default);
            self.gfx.two.default_dst = true;
        }
        if !control.bit(2) {
            self.set(reg::SRC_SC_BOTTOM_RIGHT, corner);
        }
        if !control.bit(3) {
            self.set(reg::SC_TOP_LEFT, 0);
            self.set(reg::SC_BOTTOM_RIGHT, corner);
        }
        if control.bit(28) {
            let compare = self.get(reg::CLR_CMP_CNTL) & !0x707;
            self.set(reg::CLR_CMP_CNTL, compare);
        }
        if control.bit(30) {
            self.set(reg::DP_WRITE_MSK, !0);
            self.set(reg::CLR_CMP_MSK, !0);
        }
    }

    /// A surface as a pitch-and-offset register has it (§5.2.2).
    fn surface_2d(&mut self, offset: u32, bytes: u32) -> Option<Surface> {
        let value = self.get(offset);
        let two = &self.gfx.two;
        let default = match offset {
            reg::SRC_PITCH_OFFSET => two.default_src,
            _ => two.default_dst,
        };
        if default && !self.gfx.default_set {
            self.notes
                .lint(Rule::DefaultUnset, || format!("{offset:#06x}"));
        }
        let (surface, others) = surfaces(value, bytes)?;
        if !others.is_empty() {
            self.notes
                .lint(Rule::PitchOffset, || format!("{value:#010x}"));
        }
        Some(surface)
    }

    /// An operation as the registers have it now, without its pieces. `None` if it cannot be done.
    fn operation(&mut self) -> Option<Op> {
        let control = Control(self.get(reg::DP_GUI_MASTER_CNTL));
        if control.reserved() {
            self.notes
                .lint(Rule::GuiControl, || format!("{:#010x}", control.0));
        }
        let bytes = control.bytes_per_pixel()?;
        let dst = self.surface_2d(reg::DST_PITCH_OFFSET, bytes)?;
        let compare = Compare {
            control: self.get(reg::CLR_CMP_CNTL),
            src: self.get(reg::CLR_CMP_CLR_SRC),
            dst: self.get(reg::CLR_CMP_CLR_DST),
            mask: self.get(reg::CLR_CMP_MSK),
        };
        let load = control.load();
        let host = matches!(load, Some(Load::Host(_)));
        let drawn = brush::uses_source(control.rop());
        // Who compares looks at the source, though the operation has none.
        let compared = compare.uses_source() && !host && !drawn;
        let uses_source = drawn || compared;
        let src = if compared || (drawn && load == Some(Load::Memory)) {
            Some(self.surface_2d(reg::SRC_PITCH_OFFSET, bytes)?)
        } else {
            None
        };
        let mono = control
            .mono()
            .filter(|_| uses_source)
            .map(|transparent| Mono {
                foreground: self.get(reg::DP_SRC_FRGD_CLR),
                background: (!transparent).then(|| self.get(reg::DP_SRC_BKGD_CLR)),
                lsb_first: control.lsb_first(),
                byte_aligned: load == Some(Load::Host(true)),
            });
        let known_src = matches!(compare.control & 7, 0 | 1 | 4 | 5 | 7);
        let known_dst = matches!(compare.control >> 8 & 7, 0 | 1 | 4 | 5);
        if !known_src || !known_dst || compare.control >> 24 & 3 == 3 {
            self.notes
                .lint(Rule::ColourCompare, || format!("{:#010x}", compare.control));
        }
        let corner = |v: u32| ((v & 0x3fff) as i32, (v >> 16 & 0x3fff) as i32);
        let (left, top) = corner(self.get(reg::SC_TOP_LEFT));
        let (right, bottom) = corner(self.get(reg::SC_BOTTOM_RIGHT));
        let mut op = Op {
            client: self.notes.client,
            bytes,
            rop: control.rop(),
            dst,
            src,
            mono,
            brush: self.brush(control)?,
            clip: Clip {
                left,
                top,
                right,
                bottom,
            },
            src_clip: corner(self.get(reg::SRC_SC_BOTTOM_RIGHT)),
            compare,
            write_mask: match slip::is(Slip::MaskIgnored) {
                true => !0,
                false => self.get(reg::DP_WRITE_MSK),
            },
            pieces: Vec::new(),
            also: Also::default(),
            others: Vec::new(),
            piece: 0,
            row: 0,
        };
        self.other_surfaces(control, bytes, &mut op);
        Some(op)
    }

    /// Queues an operation if there is something in it.
    fn queue_2d(&mut self, mut op: Op) {
        if !op.pieces.is_empty() {
            self.compared_source(&mut op);
            op.others = self.other_accesses(&op);
            self.queue(Job::Two(Box::new(op)));
        }
    }

    /// An area whose pixels are compared with a source that its operation does not have: it is where
    /// SRC_Y_X says.
    fn compared_source(&mut self, op: &mut Op) {
        let at = self.get(reg::SRC_Y_X);
        for piece in &mut op.pieces {
            if let (Piece::Rect { from, .. }, Some(_)) = (piece, op.src) {
                if matches!(from, From::Nothing) {
                    *from = From::Memory(signed14(at), signed14(at >> 16));
                }
            }
        }
    }

    /// DST_HEIGHT_WIDTH or DST_WIDTH_HEIGHT is written: a rectangle, at the corner from which DP_CNTL
    /// says that it is drawn (digest §3.3).
    pub fn rectangle_trigger(&mut self, offset: u32) {
        let value = self.get(offset);
        let (w, h) = if offset == reg::DST_HEIGHT_WIDTH {
            (value & 0x3fff, value >> 16 & 0x3fff)
        } else {
            (value >> 16 & 0x3fff, value & 0x3fff)
        };
        let Some(mut op) = self.operation() else {
            return;
        };
        let direction = self.get(reg::DP_CNTL);
        let (left, up) = (direction & 1 == 0, direction & 2 == 0);
        let beyond = u32::from(slip::is(Slip::EndInclusive));
        let (dst, src) = (self.get(reg::DST_Y_X), self.get(reg::SRC_Y_X));
        if w == 0 || h == 0 {
            return;
        }
        let (w, h) = (w + beyond, h + beyond);
        let from_memory = op.src.is_some();
        let piece = |(left, up): (bool, bool)| {
            // The corner is the one where drawing begins.
            let corner = |v: u32| {
                let x = signed14(v) - if left { w as i32 - 1 } else { 0 };
                let y = signed14(v >> 16) - if up { h as i32 - 1 } else { 0 };
                (x, y)
            };
            let (x, y) = corner(dst);
            let (sx, sy) = corner(src);
            let from = if from_memory {
                From::Memory(sx, sy)
            } else {
                From::Nothing
            };
            Piece::Rect {
                x,
                y,
                w,
                h,
                from,
                up,
                left,
            }
        };
        op.pieces.push(piece((left, up)));
        let other = self.gfx.two.directions;
        op.also
            .pieces
            .extend(other.filter(|d| *d != (left, up)).map(piece));
        if brush::uses_source(op.rop) && op.src.is_none() {
            // It waits for the host's data.
            let need = host_dwords(w, h, op.bytes, op.mono);
            self.gfx.two.host = Some(HostBlit {
                op,
                need,
                data: Vec::new(),
            });
            return;
        }
        self.queue_2d(op);
    }

    /// HOST_DATA is written: a dword for the blit that waits.
    pub fn host_data(&mut self, data: u32) {
        let Some(host) = &mut self.gfx.two.host else {
            self.notes
                .lint(Rule::RasterCount, || "nothing waits".into());
            return;
        };
        host.data.push(data);
        if host.data.len() < host.need {
            return;
        }
        let Some(HostBlit { mut op, data, .. }) = self.gfx.two.host.take() else {
            return;
        };
        if let Some(Piece::Rect { from, .. }) = op.pieces.first_mut() {
            *from = From::Dwords(data);
        }
        self.queue_2d(op);
    }

    /// DST_LINE_END is written: a line from DST_LINE_START.
    pub fn line_trigger(&mut self) {
        let Some(mut op) = self.operation() else {
            return;
        };
        self.check_pen(&op);
        let at = |v: u32| (signed14(v), signed14(v >> 16));
        op.pieces.push(Piece::Line {
            from: at(self.get(reg::DST_LINE_START)),
            to: at(self.get(reg::DST_LINE_END)),
            phase: self.get(reg::DST_LINE_PATCOUNT) & 31,
        });
        self.queue_2d(op);
    }
}

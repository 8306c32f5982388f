// SPDX-License-Identifier: GPL-2.0 OR MIT
//! GM965's framebuffer compressor (6): it writes run lengths of a plane's lines to memory, and watches for drawing on
//! them. The offsets are the digest's (G-31).
//!
//! A pass begins with a vertical blank and takes a millisecond; it reads the lines at its end, so that a line that is
//! drawn on meanwhile stays modified. Only tests look at the result: nothing is displayed. Stolen memory is not
//! distinguished from other memory (6.4, 15).

use super::display::{Pipe, B, CNTR, ON, SRC, STRIDE, SURF, TILED};
use super::{rle, Compressor};
use crate::intel::pte::{Pte, PAGE};
use crate::ring::core::Core;
use crate::ring::lint::Rule;
use crate::tiling::{self, Swizzle, Tiling};
use std::collections::HashMap;

pub(crate) const BASE: u32 = 0x3200;
pub(crate) const LENGTHS: u32 = 0x3204;
pub(crate) const CONTROL: u32 = 0x3208;
pub(crate) const COMMAND: u32 = 0x320c;
pub(crate) const STATUS: u32 = 0x3210;
pub(crate) const CONTROL2: u32 = 0x3214;
pub(crate) const FENCE_OFFSET: u32 = 0x3218;
pub(crate) const MODIFICATIONS: u32 = 0x3220;
pub(crate) const TAGS: u32 = 0x3300;

/// FBC_CONTROL.
const ENABLE: u32 = 1 << 31;
const PERIODIC: u32 = 1 << 30;
const STOP: u32 = 1 << 15;
const UNCOMPRESSIBLE: u32 = 1 << 14;
/// FBC_STATUS.
const COMPRESSING: u32 = 1 << 31;
const COMPRESSED: u32 = 1 << 30;
const MODIFIED: u32 = 1 << 29;
/// How long a pass takes, in microseconds: an assumption.
const PASS_US: u64 = 1000;

/// What a pair of lines is (6.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Modified = 0,
    Uncompressed = 1,
    Uncompressible = 2,
    Compressed = 3,
}

/// State of a compressor of either kind.
#[derive(Default)]
pub(crate) struct State {
    /// The pass that is under way ends then.
    ends: Option<u64>,
    /// A pass was asked for.
    requested: bool,
    /// Vertical blanks until the next pass.
    countdown: u32,
    /// Pairs that were modified since the last pass.
    modified: u32,
    /// GM45's.
    pub dpfc: super::dpfc::State,
}

/// A plane as it is scanned out.
pub(super) struct Shape {
    pub base: u32,
    pub pitch: u32,
    pub bytes: usize,
    pub width: u32,
    pub lines: u32,
    /// The first line and byte of the surface that are shown.
    pub top: u32,
    pub left: u32,
}

/// Rows that a blit has drawn, by page: a bit for each of the eight rows of an X tile.
pub(crate) type Drawn = HashMap<u32, u8>;

impl Core {
    /// The plane that is compressed.
    fn compressed_plane(&self) -> u32 {
        match self.gen4().compressor {
            Some(Compressor::Dpfc) => self.get(CONTROL) >> 30 & 1,
            _ => self.get(CONTROL2) & 1,
        }
    }

    /// Returns the layout of the compressed picture (6.2.2); `None` while nothing is shown, or not from X tiles.
    pub(super) fn compressed_shape(&self) -> Option<Shape> {
        let plane = self.compressed_plane();
        let at = B * plane;
        let cntr = self.get(CNTR + at);
        let pipe = self.plane_pipe(plane as usize);
        if cntr & ON == 0 || cntr & TILED == 0 || !self.pipe_on(pipe) {
            return None;
        }
        let total = self.get(0x6_0000 + B * pipe as u32);
        let source = self.get(SRC + B * pipe as u32);
        let width = match total {
            0 => (source >> 16 & 0xfff) + 1,
            h => (h & 0xfff) + 1,
        };
        let tile = self.get(0x7_01a4 + at);
        Some(Shape {
            base: self.get(SURF + at) & 0xffff_f000,
            pitch: (self.get(STRIDE + at) & 0xffff).max(512),
            bytes: if matches!(cntr >> 26 & 0xf, 4 | 5) {
                2
            } else {
                4
            },
            width,
            lines: self.lines(pipe).1 as u32,
            top: tile >> 16 & 0xfff,
            left: tile & 0xfff,
        })
    }

    /// True while a pass is under way.
    pub fn compressing(&self) -> bool {
        self.own.compressor.ends.is_some()
    }

    fn compressor(&self) -> Option<Compressor> {
        self.cfg.chip.gen4.and_then(|g| g.compressor)
    }

    /// When the pass under way ends.
    pub fn pass_ends(&self) -> Option<u64> {
        self.own.compressor.ends
    }

    /// True while GM965's is on.
    fn rle_on(&self) -> bool {
        self.compressor() == Some(Compressor::Rle) && self.get(CONTROL) & ENABLE != 0
    }

    /// A blit is to tell where it draws.
    pub fn watches_drawing(&self) -> bool {
        self.rle_on() || self.dpfc_on()
    }

    /// Reads a register of the compressor.
    pub fn compressor_read(&mut self, offset: u32) -> Option<u32> {
        match self.compressor()? {
            Compressor::Dpfc => self.dpfc_read(offset),
            Compressor::Rle if offset == STATUS => {
                let busy = if self.compressing() { COMPRESSING } else { 0 };
                let any = if self.own.compressor.modified > 0 {
                    MODIFIED
                } else {
                    0
                };
                Some(self.get(STATUS) & COMPRESSED | busy | any)
            }
            Compressor::Rle => None,
        }
    }

    /// A register was written.
    pub fn compressor_written(&mut self, offset: u32, old: u32, new: u32) {
        match self.compressor() {
            Some(Compressor::Dpfc) => return self.dpfc_written(offset, old, new),
            Some(Compressor::Rle) => {}
            None => return,
        }
        // 6.3.1: frozen until it is off and has come to rest.
        let on = self.get(CONTROL) & old & ENABLE != 0 && offset == CONTROL
            || offset != CONTROL && self.rle_on()
            || self.compressing();
        let frozen = match offset {
            CONTROL => !ENABLE,
            BASE | LENGTHS | CONTROL2 | FENCE_OFFSET | MODIFICATIONS => !0,
            _ => 0,
        };
        if on && (old ^ new) & frozen != 0 {
            self.lint(Rule::Compressor, || format!("{offset:#x} while on"));
        }
        match offset {
            CONTROL if !old & new & ENABLE != 0 => {
                if self.compressing() {
                    self.lint(Rule::Compressor, || "on before it was off".to_owned());
                }
                self.watch_restrictions();
                self.all_modified();
                self.own.compressor.countdown = new >> 16 & 0x3fff;
            }
            COMMAND if new & 1 != 0 => {
                self.own.compressor.requested = true;
                self.set(COMMAND, 0);
            }
            _ => {}
        }
    }

    /// 6.4: what it can compress.
    fn watch_restrictions(&mut self) {
        let Some(shape) = self.compressed_shape() else {
            return;
        };
        let stride = ((self.get(CONTROL) >> 5 & 0xff) + 1) * 64;
        let format = self.get(CNTR + B * self.compressed_plane()) >> 26 & 0xf;
        let fine = (2048..=16384).contains(&shape.pitch)
            && shape.pitch.is_multiple_of(512)
            && (640..=2048).contains(&shape.width)
            && shape.width.is_multiple_of(8)
            && (480..=1536).contains(&shape.lines)
            && shape.lines.is_multiple_of(2)
            && stride <= shape.pitch
            && matches!(format, 4..=7);
        if !fine {
            let (w, h) = (shape.width, shape.lines);
            self.lint(Rule::Compressor, || {
                format!("{w} by {h}, pitch {}", shape.pitch)
            });
        }
    }

    fn tag(&self, pair: u32) -> u32 {
        self.get(TAGS + 4 * (pair / 16).min(48)) >> (2 * (pair % 16)) & 3
    }

    fn set_tag(&mut self, pair: u32, tag: Tag) {
        let at = TAGS + 4 * (pair / 16).min(48);
        let shift = 2 * (pair % 16);
        let value = self.get(at) & !(3 << shift) | (tag as u32) << shift;
        self.set(at, value);
    }

    /// 6.8.4: base address, enable, reset.
    fn all_modified(&mut self) {
        for i in 0..49 {
            self.set(TAGS + 4 * i, 0);
        }
        self.set(STATUS, 0);
        let pairs = self.compressed_shape().map_or(1, |s| s.lines.div_ceil(2));
        self.own.compressor.modified = pairs;
    }

    /// A line of what is shown was drawn on.
    fn line_modified(&mut self, line: u32, top: u32) {
        // 6.8.1: with an odd first line the first tag is that line's alone.
        let pair = (line + (top & 1)) / 2;
        if self.tag(pair) != Tag::Modified as u32 {
            self.set_tag(pair, Tag::Modified);
            self.own.compressor.modified += 1;
            if self.compressing() && self.get(CONTROL) & STOP != 0 {
                self.own.compressor.ends = None;
            }
        }
    }

    /// Lines of the surface, from the place in X tiles of a byte behind its base.
    fn surface_line(shape: &Shape, behind: u32) -> u32 {
        behind / (shape.pitch * 8) * 8 + behind % PAGE / 512
    }

    /// Lines of what is shown that were drawn on: counted by the kind of compressor.
    fn touched(&mut self, shape: &Shape, line: u32) {
        let Some(shown) = line.checked_sub(shape.top).filter(|l| *l < shape.lines) else {
            return;
        };
        if self.rle_on() {
            self.line_modified(shown, shape.top);
        } else {
            self.dpfc_touched(shown);
        }
    }

    /// The CPU has written behind a fence: told by its number and the line at which the surface begins behind it.
    pub fn aperture_drawn(&mut self, address: u32) {
        let (fenced, number) = match self.compressor() {
            Some(Compressor::Rle) if self.rle_on() => {
                (self.get(CONTROL2) & 2 != 0, self.get(CONTROL) & 0xf)
            }
            Some(Compressor::Dpfc) if self.dpfc_on() => {
                (self.get(CONTROL) & (1 << 29) != 0, self.get(CONTROL) & 0xf)
            }
            _ => return,
        };
        let fence = self.fence(number).filter(|f| f.contains(address));
        if let (true, Some(fence), Some(shape)) = (fenced, fence, self.compressed_shape()) {
            let line = Self::surface_line(&shape, address - fence.start);
            if let Some(line) = line.checked_sub(self.get(FENCE_OFFSET)) {
                self.touched(&shape, line);
            }
        }
    }

    /// The render cache was drawn on.
    pub fn cache_drawn(&mut self, drawn: &Drawn) {
        let Some(shape) = self.compressed_shape() else {
            return;
        };
        for (page, rows) in drawn {
            let Some(behind) = (page * PAGE).checked_sub(shape.base) else {
                continue;
            };
            for row in (0..8).filter(|row| rows >> row & 1 != 0) {
                let line = Self::surface_line(&shape, behind + row * 512);
                self.touched(&shape, line);
            }
        }
    }

    /// A register of pipes or planes was written: a new base is a new picture.
    pub fn compressor_watches(&mut self, offset: u32) {
        let plane = self.compressed_plane();
        if self.rle_on() && offset == SURF + B * plane {
            self.all_modified();
        }
    }

    /// A plane has flipped.
    pub fn compressor_nuked(&mut self, plane: usize) {
        if plane as u32 != self.compressed_plane() {
            return;
        }
        if self.rle_on() {
            self.all_modified();
        } else if self.dpfc_on() {
            self.dpfc_nuked();
        }
    }

    /// A vertical blank: a pass may begin (6.8.2).
    pub fn compressor_blank(&mut self, pipe: Pipe) {
        if self.plane_pipe(self.compressed_plane() as usize) != pipe {
            return;
        }
        if self.compressor() == Some(Compressor::Dpfc) {
            return self.dpfc_blank();
        }
        if !self.rle_on() || self.compressed_shape().is_none() {
            return;
        }
        let control = self.get(CONTROL);
        let mut due = std::mem::take(&mut self.own.compressor.requested);
        if control & PERIODIC != 0 {
            let state = &mut self.own.compressor;
            state.countdown = state.countdown.saturating_sub(1);
            if state.countdown == 0 {
                state.countdown = control >> 16 & 0x3fff;
                // 6.7.3: bit 0 says that the number in 31:1 counts.
                let least = match self.get(MODIFICATIONS) {
                    m if m & 1 != 0 => m >> 1,
                    _ => 1,
                };
                due |= self.own.compressor.modified >= least;
            }
        }
        if due && self.own.compressor.modified > 0 && !self.compressing() {
            self.pass_begins();
        }
    }

    fn pass_begins(&mut self) {
        for pair in 0..49 * 16 {
            if self.tag(pair) == Tag::Modified as u32 {
                self.set_tag(pair, Tag::Uncompressed);
            }
        }
        self.set(STATUS, 0);
        self.own.compressor.modified = 0;
        self.own.compressor.ends = Some(self.in_us(PASS_US));
    }

    /// The end of a pass, once it has come.
    pub fn compressor_settles(&mut self, now: u64) {
        if self.own.compressor.ends.take_if(|at| *at <= now).is_none() {
            return;
        }
        let Some(shape) = self.compressed_shape().filter(|_| self.rle_on()) else {
            return;
        };
        let pairs = (shape.lines + (shape.top & 1)).div_ceil(2);
        for pair in 0..pairs {
            if self.tag(pair) != Tag::Uncompressed as u32 {
                continue;
            }
            let first = (pair * 2).saturating_sub(shape.top & 1);
            let end = (pair * 2 + 2 - (shape.top & 1)).min(shape.lines);
            let done: Vec<bool> = (first..end)
                .map(|line| self.compress_line(&shape, line))
                .collect();
            let tag = match done.iter().filter(|d| **d).count() {
                n if n == done.len() => Tag::Compressed,
                0 if self.get(CONTROL) & UNCOMPRESSIBLE != 0 => Tag::Uncompressible,
                _ => Tag::Uncompressed,
            };
            self.set_tag(pair, tag);
        }
        self.set(STATUS, COMPRESSED);
    }

    /// One line: its runs and their number; false if they are too long.
    fn compress_line(&mut self, shape: &Shape, line: u32) -> bool {
        let pixels = self.scan_line(shape, line);
        let stride = u64::from((self.get(CONTROL) >> 5 & 0xff) + 1) * 64;
        let Some(runs) = rle::compress(&pixels, shape.bytes == 4, stride as usize) else {
            return false;
        };
        let bytes: Vec<u8> = runs.iter().flat_map(|r| r.to_le_bytes()).collect();
        let (base, lengths) = (u64::from(self.get(BASE)), u64::from(self.get(LENGTHS)));
        // 6.6.4: the byte of line 0 is displaced by the low six bits of the offset in Y; sets less one.
        let at = lengths + u64::from(shape.top & 63) + u64::from(line);
        let sets = (bytes.len() / 32 - 1) as u8;
        self.cx
            .memory
            .write(base + u64::from(line) * stride, &bytes)
            .is_ok()
            && self.cx.memory.write(at, &[sets]).is_ok()
    }

    /// The pixels of a line as they are in memory.
    fn scan_line(&self, shape: &Shape, line: u32) -> Vec<u32> {
        let swizzle = if self.swizzles(self.cfg.chip.swizzling.aperture) {
            Swizzle::Bit9And10
        } else {
            Swizzle::None
        };
        let y = u64::from(line + shape.top);
        (0..shape.width)
            .map(|x| {
                let byte = u64::from(x + shape.left) * shape.bytes as u64;
                let pitch = u64::from(shape.pitch);
                let at = tiling::detile(Tiling::X, swizzle, pitch, y * pitch + byte);
                let address = shape.base.wrapping_add(at as u32);
                let pte = Pte(self.cx.gtt.get(address / PAGE));
                let mut pixel = [0; 4];
                if pte.valid() {
                    let pa = self.cx.pte.address(pte) | u64::from(address % PAGE);
                    let _ = self.cx.memory.read(pa, &mut pixel[..shape.bytes]);
                }
                u32::from_le_bytes(pixel)
            })
            .collect()
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The blitter: fills, copies, and copies of compression state (digest §2.2 rows 2 to 5; the document
//! has none of them). Older commands are in `blt_old`. Addresses are per-process ones. A large
//! operation is done in parts, between which the device answers.

use super::command::address;
use super::core::Core;
use super::engine::{EngineId, Stop};
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted, Phys};
use super::stream::{Flow, Step};
use super::tile::Tiling;
use crate::counters::Counter;
use crate::slip::{self, Slip};

/// Opcodes, bits 28:22.
mod op {
    pub const BLOCK_COPY: u32 = 0x41;
    pub const FAST_COPY: u32 = 0x42;
    pub const FAST_COLOR: u32 = 0x44;
    pub const CTRL_SURF_COPY: u32 = 0x48;
}

/// Name and length of a command of client 2.
pub(crate) fn decode(header: u32) -> Option<(&'static str, usize)> {
    let (name, length) = match header >> 22 & 0x7f {
        op::BLOCK_COPY => ("XY_BLOCK_COPY_BLT", 22),
        op::FAST_COPY => ("XY_FAST_COPY_BLT", 10),
        op::FAST_COLOR => ("XY_FAST_COLOR_BLT", 16),
        op::CTRL_SURF_COPY => ("XY_CTRL_SURF_COPY_BLT", 5),
        other => super::blt_old::decode(other)?,
    };
    ((header & 0xff) as usize + 2 == length).then_some((name, length))
}

/// So many bytes are written at most before the device is looked at again.
const PART: u64 = 64 << 10;

/// A surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    pub base: u64,
    pub pitch: u64,
    pub tiling: Tiling,
}

/// What there is to do.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// A pixel over and over.
    Fill(Vec<u8>),
    /// From the place of a source's pixel.
    Copy(Surface, u64, u64),
}

/// A rectangle that is being drawn: bytes from `x` on, `width` of them, rows `y` to `end`.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    work: Work,
    to: Surface,
    x: u64,
    width: u64,
    y: u64,
    first: u64,
    end: u64,
    /// Dwords of the command, to move on by.
    len: usize,
}

/// Bytes of a pixel by the depth field of the newer commands.
fn depth(field: u32) -> Option<u64> {
    [1, 2, 4, 8, 12, 16].get(field as usize).copied()
}

/// Tiling by the field of the newer commands.
fn tiling(field: u32) -> Option<Tiling> {
    match field & 3 {
        0 => Some(Tiling::Linear),
        1 => Some(Tiling::X),
        2 => Some(Tiling::Four),
        _ => None,
    }
}

/// A coordinate: low or high half of a dword, signed.
pub(super) fn coordinates(d: u32) -> (i64, i64) {
    (
        i64::from(d as u16 as i16),
        i64::from((d >> 16) as u16 as i16),
    )
}

impl Core {
    /// A command of the blitter begins.
    pub fn begin_blit(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        self.notes.count(Counter::BltCommands);
        let job = match d[0] >> 22 & 0x7f {
            op::FAST_COLOR => self.fast_color(e, d),
            op::FAST_COPY => self.fast_copy(e, d),
            op::BLOCK_COPY => self.block_copy(e, d),
            op::CTRL_SURF_COPY => {
                self.ctrl_surf(e, d)?;
                None
            }
            _ => self.old_blit(e, d),
        };
        self.engine(e).blit = job;
        Ok(match self.engine(e).blit {
            // It is the command until it is done.
            Some(_) => Flow::Stay,
            None => Flow::Next,
        })
    }

    fn fast_color(&mut self, e: EngineId, d: &[u32]) -> Option<Job> {
        let cpp = depth(d[0] >> 19 & 7);
        let to = self.surface(e, d[1], address(d, 4));
        let (cpp, to) = (self.modelled(e, cpp)?, to?);
        let colour: Vec<u8> = d[7..11].iter().flat_map(|c| c.to_le_bytes()).collect();
        let mut pixel = colour[..cpp as usize].to_vec();
        if slip::is(Slip::FastColourFirstByte) {
            pixel.fill(colour[0]);
        }
        self.job(e, d, cpp, to, (d[2], d[3], d[6]), Work::Fill(pixel))
    }

    fn block_copy(&mut self, e: EngineId, d: &[u32]) -> Option<Job> {
        let cpp = depth(d[0] >> 19 & 7);
        let to = self.surface(e, d[1], address(d, 4));
        let from = self.surface(e, d[8], address(d, 9));
        let (cpp, to, from) = (self.modelled(e, cpp)?, to?, from?);
        let (x, y) = coordinates(d[7]);
        let (dx, dy) = coordinates(d[11] & 0x3fff_3fff);
        let work = self.source(e, cpp, from, x + dx, y + dy)?;
        self.job(e, d, cpp, to, (d[2], d[3], d[6]), work)
    }

    /// Its pitch is in bytes, or in dwords of a tiled surface, and not less one.
    fn fast_copy(&mut self, e: EngineId, d: &[u32]) -> Option<Job> {
        let cpp = match d[1] >> 24 & 7 {
            0 => Some(1),
            1 => Some(2),
            3 => Some(4),
            4 => Some(8),
            5 => Some(16),
            _ => None,
        };
        // Two bits in the header; code 2 is Tile4 if a bit of the second dword says so.
        let kind = |field: u32, four: bool| match field & 3 {
            0 => Some(Tiling::Linear),
            1 => Some(Tiling::X),
            2 if four => Some(Tiling::Four),
            _ => None,
        };
        let (from_kind, to_kind) = (
            kind(d[0] >> 20, d[1] >> 31 != 0),
            kind(d[0] >> 13, d[1] >> 30 & 1 != 0),
        );
        let cpp = self.modelled(e, cpp)?;
        let (from_kind, to_kind) = (self.modelled(e, from_kind)?, self.modelled(e, to_kind)?);
        let unit = |tiling| match tiling {
            Tiling::X | Tiling::Four if !slip::is(Slip::FastPitchInBytes) => 4,
            _ => 1,
        };
        let surface = |pitch: u32, base, tiling| Surface {
            base,
            pitch: u64::from(pitch & 0xffff) * unit(tiling),
            tiling,
        };
        let to = surface(d[1], address(d, 4), to_kind);
        let from = surface(d[7], address(d, 8), from_kind);
        let (x, y) = coordinates(d[6]);
        let work = self.source(e, cpp, from, x, y)?;
        self.job(e, d, cpp, to, (d[2], d[3], 0), work)
    }

    /// Ignores what is not modelled.
    pub(super) fn modelled<T>(&mut self, e: EngineId, what: Option<T>) -> Option<T> {
        if what.is_none() {
            self.notes.lint(Rule::NotModelled, || {
                format!("{} format or tiling", e.name())
            });
        }
        what
    }

    /// A surface of the newer commands: pitch less one in 17:0, tiling in 31:30.
    fn surface(&mut self, e: EngineId, d: u32, base: u64) -> Option<Surface> {
        let tiling = tiling(d >> 30);
        let tiling = self.modelled(e, tiling)?;
        let unit = if tiling == Tiling::Linear { 1 } else { 4 };
        let less = u64::from(!slip::is(Slip::FastPitchNotLessOne));
        Some(Surface {
            base,
            pitch: (u64::from(d & 0x3_ffff) + less) * unit,
            tiling,
        })
    }

    /// Returns the source of a copy, from a pixel on.
    pub(super) fn source(
        &mut self,
        e: EngineId,
        cpp: u64,
        from: Surface,
        x: i64,
        y: i64,
    ) -> Option<Work> {
        let (x, y) = match slip::is(Slip::FastSourceIgnored) {
            true => (0, 0),
            false => (x, y),
        };
        match (u64::try_from(x), u64::try_from(y)) {
            (Ok(x), Ok(y)) => Some(Work::Copy(from, x * cpp, y)),
            _ => {
                self.notes
                    .lint(Rule::BlitSurface, || format!("{} source {x} {y}", e.name()));
                None
            }
        }
    }

    /// The rectangle from one corner to the other, which lies outside; moved by an offset.
    pub(super) fn job(
        &mut self,
        e: EngineId,
        d: &[u32],
        cpp: u64,
        to: Surface,
        (first, last, offset): (u32, u32, u32),
        work: Work,
    ) -> Option<Job> {
        let (dx, dy) = coordinates(offset & 0x3fff_3fff);
        let ((x1, y1), (x2, y2)) = (coordinates(first), coordinates(last));
        let beyond = i64::from(slip::is(Slip::FastEndInclusive));
        let (x1, y1, x2, y2) = (x1 + dx, y1 + dy, x2 + dx + beyond, y2 + dy + beyond);
        if x2 <= x1 || y2 <= y1 {
            return None;
        }
        let (tile_width, _) = to.tiling.tile();
        let misplaced = to.tiling != Tiling::Linear
            && (!to.base.is_multiple_of(4096) || !to.pitch.is_multiple_of(tile_width));
        if x1 < 0 || y1 < 0 || misplaced || to.pitch == 0 {
            self.notes.lint(Rule::BlitSurface, || {
                format!("{} {to:x?} at {x1} {y1}", e.name())
            });
            return None;
        }
        Some(Job {
            work,
            to,
            x: x1 as u64 * cpp,
            width: (x2 - x1) as u64 * cpp,
            y: y1 as u64,
            first: y1 as u64,
            end: y2 as u64,
            len: d.len(),
        })
    }

    /// Draws the next rows of what has begun.
    pub fn continue_blit(&mut self, e: EngineId) -> Step {
        let Some(mut job) = self.engine(e).blit.take() else {
            return Step::Ran;
        };
        let mut done = 0;
        while done < PART && job.y < job.end {
            if self.blit_row(e, &job).is_err() {
                return Step::Stopped;
            }
            job.y += 1;
            done += job.width;
        }
        if job.y < job.end {
            self.engine(e).blit = Some(job);
            return Step::Ran;
        }
        if self.engine(e).stop != Stop::Running {
            return Step::Stopped;
        }
        self.advance(e, job.len, Flow::Next)
    }

    fn blit_row(&mut self, e: EngineId, job: &Job) -> Result<(), Faulted> {
        let mut row = vec![0; job.width as usize];
        match &job.work {
            Work::Fill(pixel) => {
                for p in row.chunks_exact_mut(pixel.len()) {
                    p.copy_from_slice(pixel);
                }
            }
            Work::Copy(from, x, y) => {
                let y = y + (job.y - job.first);
                for (at, range) in runs(from, *x, y, job.width) {
                    self.load(e, AddressSpace::Ppgtt, at, &mut row[range])?;
                }
            }
        }
        for (at, range) in runs(&job.to, job.x, job.y, job.width) {
            self.store(e, AddressSpace::Ppgtt, at, &row[range])?;
        }
        self.notes.counters.add(Counter::BltBytes, job.width);
        Ok(())
    }

    /// XY_CTRL_SURF_COPY_BLT: blocks of 256 bytes of compression state, each of 64 KB of local memory.
    /// A surface is named by its own address, or (access bit 1) the state lies in memory as data.
    fn ctrl_surf(&mut self, e: EngineId, d: &[u32]) -> Result<(), Faulted> {
        let blocks = u64::from(d[0] >> 8 & 0x3ff) + 1;
        let place = |at: usize| address(d, at) & 0xffff_ffff_ffff;
        let (from, to) = (place(1), place(3));
        let direct = |bit: u32| d[0] >> bit & 1 != 0;
        for i in 0..blocks {
            let mut state = [0; 256];
            match self.state_place(e, from, i, direct(21), false)? {
                Some(at) => self.mem.lmem.read(at, &mut state),
                None => self.load(e, AddressSpace::Ppgtt, from + 256 * i, &mut state)?,
            }
            match self.state_place(e, to, i, direct(20), true)? {
                Some(at) => self.mem.lmem.write(at, &state),
                None => self.store(e, AddressSpace::Ppgtt, to + 256 * i, &state)?,
            }
        }
        Ok(())
    }

    /// Returns the place of the state of a surface's block in the flat CCS; `None` for state that is data.
    fn state_place(
        &mut self,
        e: EngineId,
        surface: u64,
        block: u64,
        direct: bool,
        write: bool,
    ) -> Result<Option<u64>, Faulted> {
        if direct {
            return Ok(None);
        }
        let va = surface + (block << 16);
        match self.translate(e, AddressSpace::Ppgtt, va, write)? {
            Phys::Local(at) => Ok(Some(self.mem.lmem.ccs_base() + at / 256)),
            _ => {
                self.notes.lint(Rule::BlitSurface, || {
                    format!("{} no local memory", e.name())
                });
                Ok(Some(u64::MAX))
            }
        }
    }
}

/// Address and range of the pieces of a row that lie side by side.
fn runs(s: &Surface, x: u64, y: u64, width: u64) -> Vec<(u64, std::ops::Range<usize>)> {
    let mut all = Vec::new();
    let mut done = 0;
    while done < width {
        let here = x + done;
        let run = s.tiling.run();
        let n = if run == u64::MAX {
            width
        } else {
            (run - here % run).min(width - done)
        };
        let at = s.base.wrapping_add(s.tiling.offset(here, y, s.pitch));
        all.push((at, done as usize..(done + n) as usize));
        done += n;
    }
    all
}

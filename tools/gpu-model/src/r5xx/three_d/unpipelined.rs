// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of targets, which are not pipelined ([`Disputed::Unpipelined`]).
//!
//! AMD's R5xx page of RB3D_COLOROFFSET: "the cache must be empty before this is changed"; the R3xx guide has the same of
//! RB3D_AARESOLVE_OFFSET, _PITCH and _CTL. By the second reading, a write of such a register moves the pixels of draws
//! that are in the pipeline or in a cache. A draw is in memory once its caches are flushed, and the stream then waits
//! for WAIT_UNTIL 17. For a cache that the draw does not use, the wait is enough.

use super::surfaces::{Area, Targets, COLOURS};
use crate::r5xx::access::{Access, Unit};
use crate::r5xx::core::Core;
use crate::r5xx::disputed::Disputed;
use crate::r5xx::gfx::Cache;
use crate::r5xx::pipes::Reach;
use crate::r5xx::regs::reg;
use std::collections::VecDeque;

/// Draws of different targets that are in flight at a time: those before them are in memory.
const MOST: usize = 32;

/// Registers that a draw keeps, whatever is written behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pipelined {
    /// SC_SCISSOR0 and 1.
    pub area: Option<Area>,
    /// RB3D_COLOR_CHANNEL_MASK.
    pub channels: u32,
    /// RB3D_BLENDCNTL 2.
    pub reads: bool,
    /// US_OUT_FMT 4:0 is 15.
    pub unused: [bool; COLOURS as usize],
    /// ZB_CNTL 2:0.
    pub depth: u32,
}

/// A draw's pixels in one cache and on the way there.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Pipes whose cache was not flushed, a bit each.
    dirty: u8,
    /// The stream has not waited since the draw, or since the flush of a cache that holds its pixels.
    in_flight: bool,
}

impl Progress {
    fn draw(&mut self, uses: bool, all: u8) {
        self.dirty |= if uses { all } else { 0 };
        self.in_flight = true;
    }

    fn wait(&mut self) {
        self.in_flight = self.dirty != 0;
    }
}

/// A draw whose pixels may not be in memory.
#[derive(Debug)]
struct Drawn {
    /// Pipes that had these registers, a bit each.
    pipes: u8,
    pipelined: Pipelined,
    targets: Targets,
    colour: Progress,
    depth: Progress,
}

/// The draws in flight, oldest first.
#[derive(Debug, Default)]
pub(super) struct InFlight(VecDeque<Drawn>);

/// The cache that a unit's pixels go through.
fn cache(unit: Unit) -> Cache {
    match unit {
        Unit::Depth => Cache::Depth,
        _ => Cache::Colour,
    }
}

/// True for a register of the targets.
pub(crate) fn is_unpipelined(offset: u32) -> bool {
    matches!(
        offset,
        reg::GB_AA_CONFIG | reg::RB3D_CCTL | reg::RB3D_COLOROFFSET0
            ..reg::RB3D_COLORPITCH_END
                | reg::RB3D_AARESOLVE_OFFSET
                | reg::RB3D_AARESOLVE_PITCH
                | reg::RB3D_AARESOLVE_CTL
                | reg::ZB_FORMAT
                | reg::ZB_BW_CNTL
                | reg::ZB_DEPTHOFFSET
                | reg::ZB_DEPTHPITCH
    )
}

impl Drawn {
    /// True if a write of a register moves the pixels that go through a cache.
    fn is_moved_by(&self, offset: u32, cache: Cache) -> bool {
        let of_depth = reg::ZB_FORMAT <= offset;
        match (offset, cache) {
            (reg::GB_AA_CONFIG, Cache::Colour) => self.colour.in_flight,
            (reg::GB_AA_CONFIG, Cache::Depth) => self.depth.in_flight,
            // Its clear is one of colour, too, and it has the places of samples.
            (reg::ZB_BW_CNTL, Cache::Colour) => self.colour.in_flight && self.depth.in_flight,
            (_, Cache::Colour) => !of_depth && self.colour.in_flight,
            (_, Cache::Depth) => of_depth && self.depth.in_flight,
        }
    }
}

impl super::State {
    /// A cache is flushed in some pipes.
    pub fn flush(&mut self, cache: Cache, reach: Reach) {
        for drawn in &mut self.in_flight.0 {
            let progress = match cache {
                Cache::Colour => &mut drawn.colour,
                Cache::Depth => &mut drawn.depth,
            };
            progress.dirty &= !reach.mask;
        }
    }

    /// The stream has waited until the 3D engine is idle and clean.
    pub fn clean(&mut self) {
        self.in_flight.0.retain_mut(|drawn| {
            drawn.colour.wait();
            drawn.depth.wait();
            drawn.colour.in_flight || drawn.depth.in_flight
        });
    }
}

impl Core {
    /// Remembers a draw that begins, with the registers of the pipe that is looked at.
    pub(super) fn track_draw(&mut self, targets: &Targets) {
        if targets.area.is_none() {
            return;
        }
        let (pipes, pipelined, targets) = (self.alike(), self.pipelined(), targets.untextured());
        let all = |offset| self.reach(offset).all;
        let (colour, depth) = (all(reg::RB3D_DSTCACHE_CTLSTAT), all(reg::ZB_ZCACHE_CTLSTAT));
        let units = targets.surfaces.iter().chain(&targets.unknown);
        let [of_colour, of_depth] =
            [Cache::Colour, Cache::Depth].map(|c| units.clone().any(|t| cache(t.unit) == c));
        let draws = &mut self.gfx.three.in_flight.0;
        let same = |d: &Drawn| d.pipes == pipes && d.pipelined == pipelined && d.targets == targets;
        let mut drawn = match draws.iter().rposition(same) {
            Some(n) => draws.remove(n),
            None => None,
        }
        .unwrap_or_else(|| Drawn {
            pipes,
            pipelined,
            targets,
            colour: Progress::default(),
            depth: Progress::default(),
        });
        drawn.colour.draw(of_colour, colour);
        drawn.depth.draw(of_depth, depth);
        if draws.len() == MOST {
            draws.pop_front();
        }
        draws.push_back(drawn);
    }

    /// A register of the targets, which held `old` in pipe 0, is written by a stream.
    pub fn target_written(&mut self, offset: u32, old: u32) {
        let alike = (1..crate::r5xx::pipes::MOST).all(|n| self.is_alike(n));
        if self.gfx.three.in_flight.0.is_empty() || alike && old == self.get(offset) {
            return;
        }
        let draws = std::mem::take(&mut self.gfx.three.in_flight);
        let mut moved = Vec::new();
        self.notes.muted = true;
        for drawn in &draws.0 {
            let [colour, depth] =
                [Cache::Colour, Cache::Depth].map(|c| drawn.is_moved_by(offset, c));
            if !colour && !depth {
                continue;
            }
            let before = self.extents(&drawn.targets);
            let is_new = |a: &Access| {
                let wanted = match cache(a.unit) {
                    Cache::Colour => colour,
                    Cache::Depth => depth,
                };
                wanted && !before.iter().any(|b| holds(b, a))
            };
            self.as_pipes(drawn.pipes, |core| {
                let targets = core.reached(&drawn.pipelined);
                moved.extend(core.extents(&targets).into_iter().filter(is_new));
            });
        }
        self.notes.muted = false;
        self.gfx.three.in_flight = draws;
        if moved.is_empty() {
            return;
        }
        self.dispute(Disputed::Unpipelined);
        moved.sort_unstable();
        moved.dedup();
        for access in moved {
            self.mc.touch(access);
        }
    }

    /// Lists all targets of a draw, by all readings, from the first byte to the last.
    fn extents(&mut self, targets: &Targets) -> Vec<Access> {
        let mut all = Vec::new();
        if let Some(area) = targets.area {
            for target in &targets.surfaces {
                target.list(target.extent(area), &mut all);
            }
            self.other_extents(targets, area, &mut all);
        }
        all
    }
}

/// True if an access is a part of another.
fn holds(all: &Access, part: &Access) -> bool {
    let same = all.unit == part.unit && all.write == part.write;
    same && all.addr <= part.addr && part.end() <= all.end()
}

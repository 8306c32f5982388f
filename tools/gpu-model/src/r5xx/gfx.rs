// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The queue of drawing work between the command processor and the engines, and the caches that keep
//! what was drawn (R5xx guide §4.9; digest §2.9).
//!
//! Both drawing engines take their work from one queue, in order. They begin only when the command
//! processor can go no further: what does not wait for them is too early.

use super::access::{Access, Unit};
use super::core::{Core, Step};
use super::cp::Wait;
use super::irq;
use super::lint::Rule;
use super::pipes::Reach;
use super::regs::reg;
use super::three_d::Slice;
use super::{three_d, two_d};
use crate::counters::Counter;
use crate::fault::Kind;
use std::collections::VecDeque;

/// Work that fits in the queue.
const QUEUE: usize = 64;
/// Dwords of indices and vertices with which it is full, too. A card keeps none of them; this model keeps them until
/// the draw's turn.
const HELD: usize = 1 << 20;
/// The model does not stall the host, whose work is lost from here on.
const MOST: usize = 4096;

/// A piece of drawing work.
pub(crate) enum Job {
    /// A 2D operation.
    Two(Box<two_d::Op>),
    /// A 3D draw with all that it needs.
    Three(Box<three_d::Draw>),
    /// A write of the counter of samples, behind draws that count.
    Count(three_d::Count),
}

/// What stands in the way of saying that all is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    Nothing,
    Busy,
    Dirty,
}

/// The caches of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    Colour,
    Depth,
}

/// Ranges of pixels that are remembered until they are flushed; more are not told.
const REMEMBERED: usize = 256;

/// Pixels that were drawn, in the caches of the pipes.
#[derive(Default)]
struct Pixels {
    /// Pipes that hold some, a bit each.
    dirty: u8,
    /// Where they go.
    to: Vec<Access>,
    /// A flush has gone by pipes that hold some.
    missed: bool,
}

impl Pixels {
    fn drawn(&mut self, draw: &three_d::Draw, unit: Unit, all: u8) {
        self.dirty |= all;
        let room = REMEMBERED.saturating_sub(self.to.len());
        let writes = draw.accesses().iter().filter(|a| a.write && a.unit == unit);
        self.to.extend(writes.take(room));
    }

    /// A flush reaches some pipes. What comes to memory now and should have long before.
    fn flush(&mut self, reach: Reach) -> Vec<Access> {
        if self.dirty == 0 {
            return Vec::new();
        }
        self.dirty &= !reach.mask;
        let late = if self.missed && reach.mask != 0 {
            self.to.clone()
        } else {
            Vec::new()
        };
        self.missed = self.dirty != 0;
        if !self.missed {
            self.to.clear();
        }
        late
    }
}

/// The drawing side of the chip.
#[derive(Default)]
pub(crate) struct Gfx {
    queue: VecDeque<Job>,
    /// State of the 2D engine that is in no register.
    pub two: two_d::State,
    /// The vertex processor and its memories.
    pub three: three_d::State,
    /// DEFAULT_OFFSET or DEFAULT_PITCH were written.
    pub default_set: bool,
    dirty_2d: bool,
    colour: Pixels,
    depth: Pixels,
    /// An injected hang of the 2D engine.
    hung: bool,
    /// The draw at the head of the queue never ends.
    endless: bool,
    not_before: u64,
    rested: bool,
    /// It was busy when looked at last.
    active: bool,
}

impl Gfx {
    /// True while a 2D operation is under way or waits for its turn.
    pub fn busy_2d(&self) -> bool {
        self.hung || self.two.host.is_some() || self.queue.iter().any(|j| matches!(j, Job::Two(_)))
    }

    /// True while a draw is under way, or one waits for its vertices.
    pub fn busy_3d(&self) -> bool {
        let of_3d = |job: &Job| matches!(job, Job::Three(_) | Job::Count(_));
        self.three.pending.is_some() || self.queue.iter().any(of_3d)
    }

    /// True once the vertex processor got another number of dwords than it wanted.
    pub fn vap_stuck(&self) -> bool {
        self.three.stuck
    }

    /// True if the queue takes more.
    pub fn room(&self) -> bool {
        let held = |job: &Job| match job {
            Job::Two(_) | Job::Count(_) => 0,
            Job::Three(draw) => draw.held(),
        };
        self.queue.len() < QUEUE && self.queue.iter().map(held).sum::<usize>() < HELD
    }

    /// Resets the vertex processor: what it holds is gone.
    pub fn reset_vap(&mut self) {
        self.three.reset();
        self.endless = false;
        self.queue.retain(|j| matches!(j, Job::Two(_)));
    }

    /// Resets the 2D engine.
    pub fn reset_2d(&mut self) {
        self.hung = false;
        self.two.host = None;
        self.queue.retain(|j| !matches!(j, Job::Two(_)));
        self.dirty_2d = false;
    }

    /// The 2D destination cache is flushed: bits 1:0 of its control say so (digest §3.3).
    pub fn flush_2d(&mut self, data: u32) {
        if data & 3 != 0 {
            self.dirty_2d = false;
        }
    }

    /// Returns the work that is not in memory yet.
    pub fn unfinished(&self) -> Unfinished {
        if self.busy_2d() || self.busy_3d() {
            Unfinished::Busy
        } else if self.dirty_2d || self.colour.dirty != 0 || self.depth.dirty != 0 {
            Unfinished::Dirty
        } else {
            Unfinished::Nothing
        }
    }
}

impl Core {
    /// Queues work; the command processor then waits if there is no room for more.
    pub fn queue(&mut self, job: Job) {
        if self.gfx.queue.len() >= MOST {
            self.notes
                .lint(Rule::QueueOverflow, || "by register writes".into());
            return;
        }
        match &job {
            Job::Two(_) => {
                self.notes.count(Counter::Draws2d);
                self.gfx.dirty_2d = true;
            }
            Job::Three(draw) => {
                self.notes.count(Counter::Draws3d);
                let (colour, depth) = (draw.writes_colour(), draw.writes_depth());
                if colour {
                    let all = self.reach(reg::RB3D_DSTCACHE_CTLSTAT).all;
                    self.gfx.colour.drawn(draw, Unit::Color, all);
                }
                if depth {
                    let all = self.reach(reg::ZB_ZCACHE_CTLSTAT).all;
                    self.gfx.depth.drawn(draw, Unit::Depth, all);
                }
            }
            Job::Count(_) => {}
        }
        self.gfx.queue.push_back(job);
        if !self.gfx.room() && self.cp.wait.is_none() {
            self.cp.wait = Some(Wait::Draw);
        }
    }

    /// A cache of pixels is flushed, in the pipes that the write reaches. What an earlier flush has missed
    /// is written now, to wherever it was drawn.
    pub fn flush_pixels(&mut self, cache: Cache, reach: Reach) {
        self.gfx.three.flush(cache, reach);
        let pixels = match cache {
            Cache::Colour => &mut self.gfx.colour,
            Cache::Depth => &mut self.gfx.depth,
        };
        for access in pixels.flush(reach) {
            self.mc.touch(access);
        }
    }

    /// A fence is written: no pipe may hold pixels that a flush has missed.
    pub fn watch_missed(&mut self) {
        let gfx = &self.gfx;
        if gfx.colour.missed || gfx.depth.missed {
            let (colour, depth) = (gfx.colour.dirty, gfx.depth.dirty);
            self.notes.lint(Rule::FlushMissed, || {
                format!("a fence, and pipes {colour:#x} hold colour, {depth:#x} depth")
            });
        }
    }

    /// A part of the work at the head of the queue.
    pub fn gfx_step(&mut self) -> Step {
        if self.gfx.hung || self.gfx.endless {
            return Step::Stopped;
        }
        let now = self.notes.clock.now();
        if now < self.gfx.not_before {
            return Step::NotBefore(self.gfx.not_before);
        }
        let Some(job) = self.gfx.queue.pop_front() else {
            return Step::Idle;
        };
        if !std::mem::take(&mut self.gfx.rested) {
            if let Some(us) = self.notes.inject(Kind::Pause, "2d") {
                self.gfx.rested = true;
                self.gfx.not_before = self.notes.in_us(us);
                self.gfx.queue.push_front(job);
                return Step::NotBefore(self.gfx.not_before);
            }
        }
        match job {
            Job::Two(mut op) => {
                self.notes.client = op.client;
                if self.notes.inject(Kind::Hang, "2d").is_some() {
                    self.gfx.hung = true;
                } else {
                    self.before_access("2d");
                    if !self.draw_2d(&mut op) {
                        self.gfx.queue.push_front(Job::Two(op));
                        self.gfx.rested = true;
                    }
                }
            }
            Job::Three(mut draw) => {
                self.notes.client = draw.client;
                let slice = self.draw_3d(&mut draw);
                if slice != Slice::Done {
                    self.gfx.queue.push_front(Job::Three(draw));
                    self.gfx.rested = true;
                    self.gfx.endless = slice == Slice::Endless;
                }
            }
            Job::Count(count) => {
                self.notes.client = count.client;
                self.count_samples(&count);
            }
        }
        self.after_access();
        self.notes.client = false;
        Step::Ran
    }

    /// Tells when the drawing engines have gone idle (GEN_INT_STATUS bit 19).
    pub fn notice_idle(&mut self) {
        let active = self.gfx.busy_2d() || self.gfx.busy_3d() || self.cp_busy();
        if self.gfx.active && !active {
            self.set(
                reg::GEN_INT_STATUS,
                self.get(reg::GEN_INT_STATUS) | irq::bit::GUI_IDLE,
            );
            self.update_line();
        }
        self.gfx.active = active;
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What is waited for and what is flipped: MI_WAIT_FOR_EVENT (1.21, 5.3.7.2, 5.3.7.3), MI_DISPLAY_FLIP (1.6),
//! MI_OVERLAY_FLIP (1.12), MI_LOAD_SCAN_LINES (1.9, 1.10).

use super::bits;
use super::display::{Flip, Pipe, ScanLineRange, FLIPS};
use crate::ring::core::Core;
use crate::ring::engine::{EngineId, Wait};
use crate::ring::exec::Flow;
use crate::ring::lint::Rule;
use crate::ring::regs::ring;

/// Bits of the header that name an event or a condition of the display: 18:16, 14:13, 8:1.
pub(crate) const EVENTS: u32 = 0x0007_61fe;
/// The start of a vertical blank, of pipe A and B: none on 965G (BWT013).
const STARTS: u32 = 3 << 17;

/// What a streamer waits for of the display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// This time.
    Time(u64),
    /// An event that will not come.
    Never,
    /// A flip of a plane: A, B, C.
    Flip(usize),
    /// A flip of the overlay.
    Overlay,
    /// The compressor has nothing to do.
    Compressor,
}

impl Core {
    /// The command: a condition code, or events.
    pub fn gen4_wait(&mut self, e: EngineId, header: u32) -> Flow {
        if !self.row(e).renders {
            // 2.12: all of it is reserved.
            return Flow::Next;
        }
        // A wait that is tried again keeps what it was begun for.
        if let Some(Wait::Display(awaited)) = self.engine(e).wait {
            return self.still_awaited(awaited);
        }
        let code = header >> 9 & 0xf;
        let mut events = header & EVENTS;
        if events.count_ones() + u32::from(code != 0) > 1 {
            self.lint(Rule::ManyEvents, || format!("{header:#010x}"));
        }
        if code > self.row(e).conditions.count_ones() {
            self.lint(Rule::Reserved, || format!("condition code {code}"));
            return Flow::Next;
        }
        if code != 0 {
            let excc = self.ring(e, ring::EXCC);
            return match excc & (1 << (code - 1)) {
                0 => Flow::Next,
                _ => Flow::Wait(Wait::Condition(code - 1)),
            };
        }
        if self.gen4().broadwater && events & STARTS != 0 {
            self.lint(Rule::Reserved, || format!("BWT013 {header:#010x}"));
            events &= !STARTS;
        }
        match (0..19).find(|n| events >> n & 1 != 0) {
            Some(event) => match self.awaited(event) {
                Some(awaited) => self.still_awaited(awaited),
                None => Flow::Next,
            },
            None => Flow::Next,
        }
    }

    fn still_awaited(&mut self, awaited: Awaited) -> Flow {
        if self.has_come(awaited) {
            Flow::Next
        } else {
            Flow::Wait(Wait::Display(awaited))
        }
    }

    /// Returns the present state of the header's event; `None` if its condition is not pending.
    fn awaited(&self, event: u32) -> Option<Awaited> {
        let now = self.notes.clock.now();
        let at = |pipe: Pipe, comes: bool, time: fn(&Core, Pipe, u64) -> u64| {
            if comes && self.pipe_on(pipe) {
                Awaited::Time(time(self, pipe, now))
            } else {
                Awaited::Never
            }
        };
        let blank = |pipe| at(pipe, self.blank_enabled(pipe), Core::next_blank);
        let line = |pipe| {
            at(pipe, true, |core, pipe, now| {
                core.next_line(pipe, core.line(pipe, now) + 1, now)
            })
        };
        let flip = |plane: usize| {
            let pending = self.own.display.flips[plane].is_some();
            pending.then_some(Awaited::Flip(plane))
        };
        match event {
            1 => self.window_left(Pipe::A, now),
            2 => flip(0),
            3 | 17 => Some(blank(Pipe::A)),
            4 => self.compressing().then_some(Awaited::Compressor),
            5 => self.window_left(Pipe::B, now),
            6 => flip(1),
            7 | 18 => Some(blank(Pipe::B)),
            8 => flip(2),
            13 => Some(line(Pipe::A)),
            14 => Some(line(Pipe::B)),
            // On G45 and GM45 sprite B's, of which none is modelled.
            _ => self.own.display.overlay_pending.then_some(Awaited::Overlay),
        }
    }

    /// When the refresh of a pipe leaves its window; `None` if it is outside, or if there is no window.
    fn window_left(&self, pipe: Pipe, now: u64) -> Option<Awaited> {
        let window = self.own.display.windows[pipe as usize]?;
        if !self.pipe_on(pipe) {
            return None;
        }
        let line = self.line(pipe, now);
        let within = (window.first..=window.last).contains(&line);
        let leaves = match (window.inside, within) {
            (true, true) => window.last + 1,
            (false, false) => window.first,
            _ => return None,
        };
        Some(Awaited::Time(self.next_line(pipe, leaves, now)))
    }

    /// True if what is waited for has come.
    pub fn has_come(&mut self, awaited: Awaited) -> bool {
        match awaited {
            Awaited::Time(at) => self.notes.clock.now() >= at,
            Awaited::Never => false,
            Awaited::Flip(plane) => self.own.display.flips[plane].is_none(),
            Awaited::Overlay => !self.own.display.overlay_pending,
            Awaited::Compressor => !self.compressing(),
        }
    }

    /// When a streamer that waits for the display is worth another look.
    pub fn display_wakes(&self, e: EngineId) -> Option<u64> {
        let now = self.notes.clock.now();
        let blank = |pipe| self.pipe_on(pipe).then(|| self.next_blank(pipe, now));
        match self.engines[e as usize].wait {
            Some(Wait::Display(Awaited::Time(at))) => Some(at),
            Some(Wait::Display(Awaited::Flip(plane))) => blank(self.plane_pipe(plane.min(1))),
            Some(Wait::Display(Awaited::Overlay)) => blank(Pipe::A),
            Some(Wait::Display(Awaited::Compressor)) => self.pass_ends(),
            _ => None,
        }
    }

    /// MI_LOAD_SCAN_LINES_INCL and _EXCL: the last one counts.
    pub fn load_scan_lines(&mut self, d: &[u32], inside: bool) -> Flow {
        let window = ScanLineRange {
            inside,
            first: u64::from(d[1] >> 16),
            last: u64::from(d[1] & 0xffff),
        };
        match d[0] >> 20 & 3 {
            n @ (0 | 1) => self.own.display.windows[n as usize] = Some(window),
            n => self.lint(Rule::Reserved, || format!("scan lines of pipe {n}")),
        }
        Flow::Next
    }

    /// MI_DISPLAY_FLIP.
    pub fn gen4_flip(&mut self, d: &[u32]) -> Flow {
        let plane = (d[0] >> 20 & 3) as usize;
        let asynchronous = d[0] & (1 << 22) != 0;
        let Some(status) = FLIPS.get(plane) else {
            self.lint(Rule::Reserved, || format!("flip of plane {plane}"));
            return Flow::Next;
        };
        let mut flip = Flip {
            base: d[2] & 0xffff_f000,
            pitch: d[1] & 0x7ff8,
            tiled: d[2] & 1 != 0,
        };
        if asynchronous {
            let (pitch, tiled) = self.plane_shape(plane);
            // "Supported on X-Tiled Frame buffers only", "Display Planes A and B only", buffers of 32 KB; pitch and
            // tiling stay. A queue and the panel fitter are for others.
            let wrong = !tiled || plane == 2 || d[2] & 0x7000 != 0 || d[1] >> 29 & 1 != 0;
            if wrong || d.len() > 3 || !pitch.is_power_of_two() {
                self.lint(Rule::AsyncFlip, || format!("{:#010x} {:#x}", d[0], d[2]));
            }
            flip = Flip {
                pitch,
                tiled,
                ..flip
            };
        }
        if self.own.display.flips[plane].is_some() {
            // 5.4.4: "Requesting a flip operation when one is already pending is UNDEFINED".
            self.lint(Rule::FlipPending, || format!("plane {plane}"));
        }
        self.status_changes(EngineId::Rcs, *status, true);
        if asynchronous || !self.pipe_on(self.plane_pipe(plane.min(1))) {
            self.own.display.flips[plane] = None;
            self.flip_done(plane, flip);
        } else {
            self.own.display.flips[plane] = Some(flip);
        }
        Flow::Next
    }

    /// MI_OVERLAY_FLIP: on, any number of continues, off (1.12.2).
    pub fn overlay_flip(&mut self, d: &[u32]) -> Flow {
        let mode = d[0] >> 21 & 3;
        let on = self.own.display.overlay;
        if !matches!((mode, on), (0, true) | (1, false) | (2, true)) {
            self.lint(Rule::OverlayOrder, || format!("mode {mode}"));
        }
        // 1.12: turning it off without the coefficients "can lead to a hang".
        if mode == 2 && d[1] & 1 == 0 {
            self.lint(Rule::OverlayOrder, || "off without coefficients".to_owned());
        }
        self.own.display.overlay = match mode {
            1 => true,
            2 => false,
            _ => on,
        };
        self.status_changes(EngineId::Rcs, bits::FLIP_OVERLAY, true);
        if self.pipe_on(Pipe::A) {
            self.own.display.overlay_pending = true;
        } else {
            self.status_changes(EngineId::Rcs, bits::FLIP_OVERLAY, false);
        }
        Flow::Next
    }

    /// Pitch and tiling of a plane.
    fn plane_shape(&self, plane: usize) -> (u32, bool) {
        use super::display::{B, CNTR, STRIDE, TILED};
        let at = B * plane.min(1) as u32;
        (self.get(STRIDE + at), self.get(CNTR + at) & TILED != 0)
    }
}

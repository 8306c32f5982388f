// SPDX-License-Identifier: GPL-2.0 OR MIT
//! As much of the display as commands can wait for: two pipes that count lines, planes A and B that flip
//! (5.3.7.3, 5.4.4 to 5.4.6; registers by G-32). Nothing is shown.
//!
//! A pipe runs while bit 31 of its register is set, sixty times a second; VTOTAL says how many lines there are and
//! how many are shown. The vertical blank begins behind the last of these.

use super::{bits, State};
use crate::ring::core::Core;
use crate::ring::engine::EngineId;

/// Nanoseconds of a frame.
const PERIOD: u64 = 16_666_667;
/// Lines of a frame, and of them shown, if VTOTAL does not say.
const LINES: (u64, u64) = (806, 768);

const CONF: u32 = 0x7_0008;
const VTOTAL: u32 = 0x6_000c;
const DSL: u32 = 0x7_0000;
const FRAME: u32 = 0x7_0040;
pub(super) const CNTR: u32 = 0x7_0180;
pub(super) const STRIDE: u32 = 0x7_0188;
pub(super) const SURF: u32 = 0x7_019c;
pub(super) const SRC: u32 = 0x6_001c;
/// From a register of pipe or plane A to that of B.
pub(super) const B: u32 = 0x1000;
/// Registers of A that keep what is written.
const STORED: [u32; 9] = [
    0x6_0000, VTOTAL, SRC, CONF, CNTR, 0x7_0184, STRIDE, SURF, 0x7_01a4,
];
/// CNTR: the plane is on, its pipe in 25:24, X tiles.
pub(super) const ON: u32 = 1 << 31;
pub(super) const TILED: u32 = 1 << 10;
/// PIPESTAT: vertical blank and its start, status; enables are 16 bits up.
const STATUS_BLANK: u32 = 1 << 1 | 1 << 2;
/// PIPESTAT bit 17: the vertical blank may be waited for (1.21).
const BLANK_ENABLE: u32 = 1 << 17;

/// A pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pipe {
    A = 0,
    B = 1,
}

/// Both.
const PIPES: [Pipe; 2] = [Pipe::A, Pipe::B];

/// A flip that waits for the vertical blank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flip {
    pub base: u32,
    pub pitch: u32,
    pub tiled: bool,
}

/// The scan lines within which, or outside of which, the stream waits (1.9, 1.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanLineRange {
    /// The stream waits while the refresh is within the lines; otherwise while it is outside.
    pub inside: bool,
    /// The first line, inclusive.
    pub first: u64,
    /// The last line, inclusive.
    pub last: u64,
}

/// State of the display.
#[derive(Default)]
pub(crate) struct Display {
    /// Vertical blanks that have been seen.
    blanks: [u64; 2],
    /// Pending flips of planes A, B and C.
    pub flips: [Option<Flip>; 3],
    pub windows: [Option<ScanLineRange>; 2],
    /// The overlay is on; a flip of it is pending.
    pub overlay: bool,
    pub overlay_pending: bool,
}

/// True for a register that keeps what is written.
pub(crate) fn stores(offset: u32) -> bool {
    STORED.contains(&offset) || STORED.contains(&offset.wrapping_sub(B))
}

impl Core {
    /// A display register as it reads, on Gen4.
    pub fn pipe_read_gen4(&self, offset: u32) -> Option<u32> {
        self.cfg.chip.gen4.and_then(|_| self.pipe_read(offset))
    }

    fn pipe_read(&self, offset: u32) -> Option<u32> {
        let now = self.notes.clock.now();
        for pipe in PIPES {
            let at = offset.wrapping_sub(B * pipe as u32);
            match at {
                DSL if self.pipe_on(pipe) => return Some(self.line(pipe, now) as u32),
                FRAME if self.pipe_on(pipe) => return Some((now / PERIOD) as u32),
                // Bit 30: it runs.
                CONF => {
                    return Some(self.get(offset) & !(1 << 30) | self.get(offset) >> 1 & 1 << 30)
                }
                _ => {}
            }
        }
        stores(offset).then(|| self.get(offset))
    }

    /// True while a pipe runs.
    pub fn pipe_on(&self, pipe: Pipe) -> bool {
        self.get(CONF + B * pipe as u32) & ON != 0
    }

    /// Lines of a frame, and of them shown.
    pub fn lines(&self, pipe: Pipe) -> (u64, u64) {
        match self.get(VTOTAL + B * pipe as u32) {
            0 => LINES,
            v => {
                let total = u64::from(v >> 16 & 0x1fff) + 1;
                (total, (u64::from(v & 0xfff) + 1).min(total))
            }
        }
    }

    /// When a line of the frame that begins at a time begins.
    fn begins(&self, pipe: Pipe, frame: u64, line: u64) -> u64 {
        let (total, _) = self.lines(pipe);
        frame * PERIOD + (line * PERIOD).div_ceil(total)
    }

    /// The line that is drawn.
    pub fn line(&self, pipe: Pipe, now: u64) -> u64 {
        now % PERIOD * self.lines(pipe).0 / PERIOD
    }

    /// When a line next begins.
    pub fn next_line(&self, pipe: Pipe, line: u64, now: u64) -> u64 {
        let line = line % self.lines(pipe).0;
        let this = self.begins(pipe, now / PERIOD, line);
        if this > now {
            this
        } else {
            self.begins(pipe, now / PERIOD + 1, line)
        }
    }

    /// When the vertical blank next begins.
    pub fn next_blank(&self, pipe: Pipe, now: u64) -> u64 {
        self.next_line(pipe, self.lines(pipe).1, now)
    }

    /// The pipe that a plane is on.
    pub fn plane_pipe(&self, plane: usize) -> Pipe {
        match self.get(CNTR + B * plane as u32) >> 24 & 3 {
            0 => Pipe::A,
            _ => Pipe::B,
        }
    }

    /// True if PIPESTAT lets a vertical blank be waited for.
    pub fn blank_enabled(&self, pipe: Pipe) -> bool {
        self.get(bits::PIPEASTAT + B * pipe as u32) & BLANK_ENABLE != 0
    }

    /// A flip is done: the status falls, which is its interrupt (5.4.4).
    pub fn flip_done(&mut self, plane: usize, flip: Flip) {
        let at = B * plane as u32;
        if plane < 2 {
            self.set(SURF + at, flip.base);
            self.set(STRIDE + at, flip.pitch);
            let cntr = self.get(CNTR + at) & !TILED;
            self.set(CNTR + at, cntr | if flip.tiled { TILED } else { 0 });
        }
        self.compressor_nuked(plane);
        self.status_changes(EngineId::Rcs, FLIPS[plane], false);
    }

    /// Time has passed: vertical blanks.
    pub fn display_settles(&mut self, now: u64) {
        for pipe in PIPES {
            if !self.pipe_on(pipe) {
                continue;
            }
            let (total, shown) = self.lines(pipe);
            let offset = (shown % total * PERIOD).div_ceil(total);
            let blanks = (now + PERIOD - offset) / PERIOD;
            let before = std::mem::replace(&mut self.own.display.blanks[pipe as usize], blanks);
            if blanks > before {
                self.blank(pipe);
            }
        }
    }

    /// The vertical blank of a pipe: registers first, then who waits, then the interrupt (5.3.7.3.1).
    fn blank(&mut self, pipe: Pipe) {
        for plane in 0..self.own.display.flips.len() {
            if self.plane_pipe(plane.min(1)) == pipe {
                if let Some(flip) = self.own.display.flips[plane].take() {
                    self.flip_done(plane, flip);
                }
            }
        }
        if pipe == Pipe::A && std::mem::take(&mut self.own.display.overlay_pending) {
            self.status_changes(EngineId::Rcs, bits::FLIP_OVERLAY, false);
        }
        self.compressor_blank(pipe);
        let stat = bits::PIPEASTAT + B * pipe as u32;
        let (blank, event) = match pipe {
            Pipe::A => (bits::VBLANK_A, bits::EVENT_A),
            Pipe::B => (bits::VBLANK_B, bits::EVENT_B),
        };
        self.set(stat, self.get(stat) | STATUS_BLANK);
        let mut events = blank;
        if self.get(stat) >> 16 & STATUS_BLANK != 0 {
            events |= event;
        }
        self.display_event(events);
    }

    /// A pipe was switched on: it counts from here.
    pub fn display_written(&mut self, offset: u32) {
        for pipe in PIPES {
            if offset == CONF + B * pipe as u32 {
                let (total, shown) = self.lines(pipe);
                let offset = (shown % total * PERIOD).div_ceil(total);
                let now = self.notes.clock.now();
                self.own.display.blanks[pipe as usize] = (now + PERIOD - offset) / PERIOD;
            }
        }
        self.compressor_watches(offset);
    }
}

/// Status bits of flips of planes A, B, C.
pub(super) const FLIPS: [u32; 3] = [bits::FLIP_A, bits::FLIP_B, bits::FLIP_C];

/// Everything that waits for a blank is dropped.
pub(super) fn dark(state: &mut State) {
    state.display = Display::default();
}

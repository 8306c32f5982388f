// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The three command streams: where their dwords come from, and the packet that each is in the
//! middle of (R5xx guide §4.4, §4.6, §4.10, §4.11, §5.1).

use super::access::Unit;
use super::core::{Core, Origin};
use super::cp::Lockup;
use super::lint::Rule;
use super::regs::reg;
use crate::counters::Counter;
use crate::fault::Kind;
use std::collections::VecDeque;

/// The ring, or what is pushed in its place.
pub(crate) const RING: usize = 0;

/// Dwords that the host can push before they are taken. The chip has its queue's size and stalls the host; a model
/// cannot.
const QUEUE: usize = 16384;

/// A packet that has begun.
#[derive(Clone, Debug)]
pub(crate) enum Packet {
    /// Its header has been fetched.
    Start(u32),
    /// Type 0: registers still to be written.
    Registers { offset: u32, one: bool, left: u32 },
    /// Type 1: the first of its two registers, if not written yet, and the second.
    Two { first: Option<u32>, second: u32 },
    /// Type 3: its body as far as it was fetched.
    Body { header: u32, body: Vec<u32> },
    /// INDX_BUFFER: dwords that are still to be moved.
    Move(Mover),
}

/// What INDX_BUFFER moves from memory to registers (§5.2.3.11).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    /// Address of the next dword.
    pub at: u64,
    /// Dwords to come, and how many of them are dropped first.
    pub left: u32,
    pub skip: u32,
    /// Offset of the register, which stays if `one`.
    pub to: u32,
    pub one: bool,
}

/// One stream.
#[derive(Default)]
pub(crate) struct Stream {
    /// Address of the indirect buffer.
    base: u64,
    /// Its dwords, and how many were fetched.
    size: u32,
    pos: u32,
    /// It is pushed by the host, not fetched.
    pushed: bool,
    /// The packet it is in.
    pub packet: Option<Packet>,
    /// Dwords that a condition skips.
    pub skip: u32,
    /// An injected fault has taken one of its dwords: what follows is not what the driver passed.
    pub torn: bool,
}

/// How the streams are fed.
#[derive(Default)]
pub(crate) struct Streams {
    pub all: [Stream; 3],
    /// The one that runs: 0 the ring, 1 and 2 the indirect buffers.
    pub level: usize,
    /// What the host pushed: ring, indirect.
    queue: [VecDeque<u32>; 2],
}

/// How a stream gets its data: CP_CSQ_CNTL 31:28 (digest §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    Off,
    Push,
    Pull,
}

/// The modes of the ring and of the indirect streams.
pub(crate) fn feeds(csq_cntl: u32) -> (Feed, Feed) {
    match csq_cntl >> 28 {
        1 => (Feed::Push, Feed::Off),
        2 => (Feed::Pull, Feed::Off),
        3 => (Feed::Push, Feed::Pull),
        4 => (Feed::Pull, Feed::Pull),
        15 => (Feed::Push, Feed::Push),
        _ => (Feed::Off, Feed::Off),
    }
}

impl Core {
    /// Dwords in the ring.
    fn ring_size(&self) -> u32 {
        2 << (self.get(reg::CP_RB_CNTL) & 0x3f).min(28)
    }

    /// True if the stream of the ring has nothing more.
    pub fn ring_empty(&self) -> bool {
        match feeds(self.get(reg::CP_CSQ_CNTL)).0 {
            Feed::Off => true,
            Feed::Push => self.cp.streams.queue[RING].is_empty(),
            Feed::Pull => self.get(reg::CP_RB_RPTR) == self.get(reg::CP_RB_WPTR),
        }
    }

    /// The next dword of the running stream; `None` if there is none now.
    pub fn fetch(&mut self) -> Option<u32> {
        match self.cp.streams.level {
            RING => self.fetch_ring(),
            level => self.fetch_indirect(level),
        }
    }

    fn fetch_ring(&mut self) -> Option<u32> {
        match feeds(self.get(reg::CP_CSQ_CNTL)).0 {
            Feed::Off => return None,
            Feed::Push => return self.cp.streams.queue[RING].pop_front(),
            Feed::Pull => {}
        }
        let size = self.ring_size();
        let (rptr, wptr) = (self.get(reg::CP_RB_RPTR), self.get(reg::CP_RB_WPTR));
        if rptr == wptr {
            return None;
        }
        let at = u64::from(self.get(reg::CP_RB_BASE)) + 4 * u64::from(rptr % size);
        self.cp.streams.all[RING].torn |= self.mc.fail_next;
        let dword = self.mc.read32(Unit::Ring, at);
        // Wraps to the beginning (§4.4).
        let next = (rptr + 1) % size;
        self.set(reg::CP_RB_RPTR, next);
        let block = 2 << (self.get(reg::CP_RB_CNTL) >> 8 & 0x3f).min(28);
        if next.is_multiple_of(block) || next == self.get(reg::CP_RB_WPTR) {
            self.publish_rptr();
        }
        Some(dword)
    }

    /// Tells the host the read pointer: at every block, and whenever the ring runs empty (§4.4).
    pub fn publish_rptr(&mut self) {
        const NO_UPDATE: u32 = 1 << 27;
        if self.get(reg::CP_RB_CNTL) & NO_UPDATE != 0 {
            return;
        }
        let at = self.get(reg::CP_RB_RPTR_ADDR) & !3;
        let rptr = self.get(reg::CP_RB_RPTR);
        self.notes.count(Counter::WriteBacks);
        self.mc
            .write(Unit::WriteBack, at.into(), &rptr.to_le_bytes());
    }

    fn fetch_indirect(&mut self, level: usize) -> Option<u32> {
        let s = &mut self.cp.streams.all[level];
        if s.pos >= s.size {
            return None;
        }
        if s.pushed {
            let dword = self.cp.streams.queue[1].pop_front()?;
            s.pos += 1;
            return Some(dword);
        }
        let at = s.base + 4 * u64::from(s.pos);
        s.pos += 1;
        self.before_access("cp");
        self.cp.streams.all[level].torn |= self.mc.fail_next;
        Some(self.mc.read32(Unit::Indirect, at))
    }

    /// True if the running stream has lost a dword to an injected fault.
    pub fn is_torn(&self) -> bool {
        self.cp.streams.all[self.cp.streams.level].torn
    }

    /// True if the running stream is an indirect buffer that is used up.
    pub fn indirect_done(&self) -> bool {
        let s = &self.cp.streams.all[self.cp.streams.level];
        self.cp.streams.level != RING && s.pos >= s.size
    }

    /// The end of the running indirect buffer: its parent goes on (§4.6).
    pub fn leave_indirect(&mut self) {
        let streams = &mut self.cp.streams;
        streams.all[streams.level] = Stream::default();
        streams.level = streams.level.saturating_sub(1);
    }

    /// A size was written: the indirect buffer begins (§4.10).
    pub fn indirect_start(&mut self, offset: u32, origin: Origin) {
        let level = if offset == reg::CP_IB_BUFSZ { 1 } else { 2 };
        let base = if level == 1 {
            reg::CP_IB_BASE
        } else {
            reg::CP_IB2_BASE
        };
        let size = self.get(offset);
        let running = self.cp.streams.level;
        let Origin::Cp(last) = origin else {
            self.notes
                .lint(Rule::IbLevel, || format!("{size} dwords, by the host"));
            return;
        };
        if running + 1 != level {
            self.notes.lint(Rule::IbLevel, || {
                format!("buffer {level} from level {running}")
            });
            self.lock_up(Lockup::Stream);
            return;
        }
        if !last {
            // The next packet would be taken from the buffer, and the rest of this one from where?
            self.notes
                .lint(Rule::IbSizeNotLast, || format!("{size} dwords"));
            self.lock_up(Lockup::Stream);
            return;
        }
        let feed = feeds(self.get(reg::CP_CSQ_CNTL)).1;
        if feed == Feed::Off {
            self.notes
                .lint(Rule::StreamOff, || format!("{size} dwords"));
            return;
        }
        if size == 0 {
            return;
        }
        self.notes.count(Counter::Batches);
        let torn = self.is_torn();
        self.cp.streams.all[level] = Stream {
            torn,
            base: self.get(base).into(),
            size,
            pushed: feed == Feed::Push,
            ..Stream::default()
        };
        self.cp.streams.level = level;
    }

    /// The host pushes a dword: only the order counts, not the address (§4.11).
    pub fn push_data(&mut self, offset: u32, data: u32) {
        let (ring, indirect) = feeds(self.get(reg::CP_CSQ_CNTL));
        let (n, feed) = if offset < reg::CP_CSQ_APER_INDIRECT {
            (0, ring)
        } else {
            (1, indirect)
        };
        if feed != Feed::Push {
            self.notes
                .lint(Rule::StreamOff, || format!("pushed {data:#010x}"));
        } else if self.cp.streams.queue[n].len() >= QUEUE {
            self.notes
                .lint(Rule::PushOverflow, || format!("{data:#010x}"));
        } else {
            self.cp.streams.queue[n].push_back(data);
        }
    }

    /// The write pointer was written: the read pointer may be set with it (§4.8).
    pub fn wptr_written(&mut self) {
        const RPTR_WR_ENA: u32 = 1 << 31;
        if self.get(reg::CP_RB_CNTL) & RPTR_WR_ENA != 0 {
            self.set(reg::CP_RB_RPTR, self.get(reg::CP_RB_RPTR_WR));
        }
        let (wptr, size) = (self.get(reg::CP_RB_WPTR), self.ring_size());
        if wptr >= size {
            self.notes
                .lint(Rule::WptrOutOfRing, || format!("{wptr:#x} of {size:#x}"));
            self.set(reg::CP_RB_WPTR, wptr % size);
        }
    }

    /// The ring's place, or its size, was changed.
    pub fn ring_changed(&mut self, offset: u32) {
        let running = feeds(self.get(reg::CP_CSQ_CNTL)).0 == Feed::Pull;
        if running && !self.ring_empty() {
            self.notes
                .lint(Rule::RingChanged, || format!("{offset:#06x}"));
        }
    }

    /// The mode was written: only when nothing is under way (§4.3). Switching off is what a reset
    /// begins with, whatever hangs (§4.8).
    pub fn mode_written(&mut self, old: u32) {
        let new = self.get(reg::CP_CSQ_CNTL);
        if old >> 28 == new >> 28 || new >> 28 == 0 {
            return;
        }
        self.need_pipes(reg::CP_CSQ_CNTL);
        let streams = &self.cp.streams;
        let packet = streams.all.iter().any(|s| s.packet.is_some());
        let queued = streams.queue.iter().any(|q| !q.is_empty());
        if streams.level != RING || packet || queued {
            self.notes.lint(Rule::ModeChanged, || {
                format!("{:x} to {:x}", old >> 28, new >> 28)
            });
        }
    }

    /// A scratch register was written: mirrored to memory if its bit says so (§4.9).
    pub fn scratch_written(&mut self, n: u32) {
        if self.get(reg::SCRATCH_UMSK) & (1 << n) == 0 {
            return;
        }
        let mut value = self.get(reg::SCRATCH_REG0 + 4 * n);
        if self.notes.inject(Kind::Garbage, "cp").is_some() {
            value = self.notes.random() as u32;
        }
        let at = self.get(reg::SCRATCH_ADDR) + 4 * n;
        self.notes.count(Counter::WriteBacks);
        self.mc
            .write(Unit::WriteBack, at.into(), &value.to_le_bytes());
    }
}

impl Streams {
    /// Returns how many dwords of an indirect buffer were fetched.
    pub fn position(&self, level: usize) -> u32 {
        self.all.get(level).map_or(0, |s| s.pos)
    }

    /// Returns whether the host has pushed dwords that are not taken yet.
    pub fn has_queued(&self) -> bool {
        self.queue.iter().any(|q| !q.is_empty())
    }
}

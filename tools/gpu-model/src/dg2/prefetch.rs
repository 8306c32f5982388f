// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Prefetch (DG2 PRM Vol 8 "Command Fetch", "Advanced Command Prefetch", "Self-Modifying Code"), from the ring and from
//! batches: a program that changes commands after they were fetched runs the old ones, as on the chip.
//!
//! Lines of 64 bytes are fetched, sixteen of them from the one that is executed on: the depth that the document gives
//! as the largest. (Other chips were seen with DMA_FADD 8 lines ahead, Gen4, and 31, Gen3; for DG2 no observation is
//! published.) In the ring nothing is fetched behind the tail, nor across the ring's end. The fetched lines are dropped
//! at a jump, when a context is restored and when the ring is extended.
//!
//! The pre-parser runs through the fetched lines and continues at the target of the first batch start that it finds:
//! eight lines there are fetched before the commands in between are executed, and by the translations of that moment,
//! which the engine keeps. An invalidation in between comes too late for them. Only MI_ARB_CHECK that turns the
//! pre-parser off stops it, until another one turns it on again.

use super::core::Core;
use super::engine::EngineId;
use super::mem::{AddressSpace, Faulted};
use super::mi::{op, opcode};
use super::regs::ring;
use std::collections::VecDeque;

/// Bytes of a line.
const LINE: u64 = 64;
/// Lines that are fetched from where the streamer stands.
const AHEAD: usize = 16;
/// Lines that the pre-parser fetches behind a batch start.
const TARGET: usize = 8;
/// Bit 10 of GFX_MODE keeps the pre-parser off for all contexts.
const GLOBAL_OFF: u32 = 1 << 10;
/// MI_ARB_CHECK: bit 8 lets bit 0 through, which turns the pre-parser off (T4).
const PREPARSER_OFF: u32 = 1 << 8 | 1 << 0;

/// Lines that follow each other, as they were when they were fetched.
struct Lines {
    space: AddressSpace,
    /// Address of the first.
    first: u64,
    bytes: VecDeque<[u8; LINE as usize]>,
}

impl Lines {
    fn new(space: AddressSpace, va: u64) -> Self {
        let (first, bytes) = (va & !(LINE - 1), VecDeque::new());
        Lines {
            space,
            first,
            bytes,
        }
    }

    /// Returns the address of the next line.
    fn end(&self) -> u64 {
        self.first.wrapping_add(LINE * self.bytes.len() as u64)
    }

    fn line(&self, space: AddressSpace, at: u64) -> Option<&[u8; LINE as usize]> {
        if space != self.space || at < self.first {
            return None;
        }
        self.bytes.get(((at - self.first) / LINE) as usize)
    }

    fn dword(&self, at: u64) -> Option<u32> {
        let skip = (at % LINE) as usize;
        let b = self.line(self.space, at)?.get(skip..skip + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

/// What an engine has fetched.
#[derive(Default)]
pub(crate) struct Fetched {
    /// Of the stream that is executed.
    stream: Option<Lines>,
    /// The command that is executed, and the one behind it; anything else is a jump.
    here: u64,
    next: u64,
    /// How far the pre-parser has come.
    parsed: u64,
    /// What it has found behind the batch start that it stands at.
    target: Option<Lines>,
}

impl Fetched {
    /// Nothing is fetched any more.
    pub fn forget(&mut self) {
        *self = Fetched::default();
    }

    /// The stream goes on elsewhere: what the pre-parser has found there is all that is known of it.
    pub fn jump(&mut self, space: AddressSpace, to: u64) {
        let found = |l: &Lines| l.space == space && l.first == to & !(LINE - 1);
        self.stream = self.target.take().filter(found);
        (self.here, self.next, self.parsed) = (to, to, to);
    }
}

impl Core {
    /// The streamer has jumped, to where it stands now.
    pub fn fetch_elsewhere(&mut self, e: EngineId) {
        let (at, space) = self.place(e);
        self.engine(e).fetched.jump(space, at);
    }

    /// Bytes of the stream, as they were fetched.
    pub fn fetch_bytes(
        &mut self,
        e: EngineId,
        space: AddressSpace,
        va: u64,
        buf: &mut [u8],
    ) -> Result<(), Faulted> {
        if !self.cfg.prefetch {
            return self.load(e, space, va, buf);
        }
        let mut done = 0;
        while done < buf.len() {
            let here = va.wrapping_add(done as u64);
            let (line, skip) = (here & !(LINE - 1), (here % LINE) as usize);
            let n = (LINE as usize - skip).min(buf.len() - done);
            let fetched = self.engine(e).fetched.stream.as_ref();
            let bytes = match fetched.and_then(|l| l.line(space, line)) {
                Some(bytes) => *bytes,
                None => {
                    let mut bytes = [0; LINE as usize];
                    self.load(e, space, line, &mut bytes)?;
                    let stream = &mut self.engine(e).fetched.stream;
                    if !matches!(stream, Some(l) if l.space == space && l.end() == line) {
                        *stream = Some(Lines::new(space, line));
                    }
                    if let Some(lines) = stream {
                        lines.bytes.push_back(bytes);
                    }
                    bytes
                }
            };
            buf[done..done + n].copy_from_slice(&bytes[skip..skip + n]);
            done += n;
        }
        Ok(())
    }

    /// Fetches what lies ahead of a command of `len` dwords, before it is executed.
    pub fn fetch_ahead(&mut self, e: EngineId, len: usize) {
        if !self.cfg.prefetch {
            return;
        }
        let (at, space) = self.place(e);
        let limit = self.stream_ends(e);
        let fetched = &mut self.engine(e).fetched;
        if at != fetched.here && at != fetched.next {
            // Around the ring's end.
            (fetched.target, fetched.parsed) = (None, at);
        }
        (fetched.here, fetched.next) = (at, at.wrapping_add(4 * len as u64));
        if fetched.parsed < at {
            // It stood at a batch that was not taken, or was off.
            (fetched.target, fetched.parsed) = (None, at);
        }
        let Some(mut lines) = fetched.stream.take_if(|l| l.line(space, at).is_some()) else {
            return;
        };
        while lines.first < at & !(LINE - 1) {
            lines.bytes.pop_front();
            lines.first += LINE;
        }
        self.fetch_lines(e, &mut lines, AHEAD, limit);
        if self.engine(e).preparser && self.ering(e, ring::GFX_MODE) & GLOBAL_OFF == 0 {
            self.parse_ahead(e, &lines, limit);
        }
        self.engine(e).fetched.stream = Some(lines);
    }

    /// Returns where the stream certainly ends: a ring at its tail, or at its own end.
    fn stream_ends(&self, e: EngineId) -> u64 {
        if !self.engines[e as usize].frames.is_empty() {
            return u64::MAX;
        }
        let head = self.ering(e, ring::HEAD) & 0x1f_fffc;
        let tail = self.ering(e, ring::TAIL);
        let end = if tail >= head {
            tail
        } else {
            self.ring_size(e)
        };
        u64::from(self.ering(e, ring::START)) + u64::from(end)
    }

    /// Fetches the missing lines, as far as they are mapped; a prefetch latches no fault.
    fn fetch_lines(&mut self, e: EngineId, lines: &mut Lines, count: usize, limit: u64) {
        while lines.bytes.len() < count && lines.end() < limit {
            let mut bytes = [0; LINE as usize];
            if !self.peek(e, lines.space, lines.end(), &mut bytes) {
                return;
            }
            lines.bytes.push_back(bytes);
        }
    }

    /// The pre-parser: finds the next start of a batch among what was fetched, and goes there.
    fn parse_ahead(&mut self, e: EngineId, lines: &Lines, limit: u64) {
        if self.engine(e).fetched.target.is_some() {
            return;
        }
        loop {
            let at = self.engine(e).fetched.parsed;
            let Some(header) = lines.dword(at).filter(|_| at < limit) else {
                return;
            };
            let Some((_, len)) = Self::decode(e, header) else {
                return;
            };
            match (header >> 29, opcode(header)) {
                (0, op::BATCH_BUFFER_START) => {
                    let (low, high) = (lines.dword(at + 4), lines.dword(at + 8));
                    let (Some(low), Some(high)) = (low, high) else {
                        return;
                    };
                    let target = u64::from(low & !7) | u64::from(high & 0xffff) << 32;
                    let global = lines.space == AddressSpace::Ggtt && header & 1 << 8 == 0;
                    let to = if global {
                        AddressSpace::Ggtt
                    } else {
                        AddressSpace::Ppgtt
                    };
                    let mut found = Lines::new(to, target);
                    self.fetch_lines(e, &mut found, TARGET, u64::MAX);
                    self.engine(e).fetched.target = Some(found);
                    return;
                }
                (0, op::BATCH_BUFFER_END) => return,
                (0, op::ARB_CHECK) if header & PREPARSER_OFF == PREPARSER_OFF => return,
                _ => self.engine(e).fetched.parsed = at.wrapping_add(4 * len as u64),
            }
        }
    }
}

// SPDX-License-Identifier: GPL-2.0
//! Fetching ahead (DG2 PRM Vol 8 "Command Fetch", "Advanced Command Prefetch", "Self-Modifying
//! Code"). Only where it is asked for ([`super::Dg2Config::prefetch`]): a program that changes commands
//! which were fetched already then runs the old ones, as it may on the chip.
//!
//! Lines of 64 bytes are fetched, sixteen of them from the one that is executed on: the depth that the
//! document gives as the largest. The pre-parser goes on at the target of a batch start that is among
//! them, unless it is off. What was fetched is forgotten when another context is restored, when the
//! ring is extended, and, but for a target that the pre-parser has seen, at a jump.

use super::core::Core;
use super::engine::EngineId;
use super::mem::{Faulted, Space};
use super::mi::{op, opcode};
use super::regs::ring;

/// Bytes of a line.
const LINE: u64 = 64;
/// Lines that are fetched from where the streamer stands.
const AHEAD: u64 = 16;
/// Bit 10 of GFX_MODE keeps the pre-parser off for all contexts.
const GLOBAL_OFF: u32 = 1 << 10;

/// A line as it was when it was fetched.
struct Line {
    space: Space,
    at: u64,
    bytes: [u8; LINE as usize],
}

/// What an engine has fetched.
#[derive(Default)]
pub(crate) struct Fetched {
    lines: Vec<Line>,
    /// Where the stream is expected next; anything else is a jump.
    next: Option<(Space, u64)>,
}

impl Fetched {
    /// Nothing is fetched any more.
    pub fn forget(&mut self) {
        *self = Fetched::default();
    }

    fn find(&self, space: Space, at: u64) -> Option<&Line> {
        self.lines.iter().find(|l| l.space == space && l.at == at)
    }
}

impl Core {
    /// Bytes of the stream, as they were fetched.
    pub fn fetch_bytes(
        &mut self,
        e: EngineId,
        space: Space,
        va: u64,
        buf: &mut [u8],
    ) -> Result<(), Faulted> {
        // The ring's end is where it is written next: nothing behind it may be old.
        if !self.cfg.prefetch || self.engine(e).frames.is_empty() {
            self.engine(e).fetched.forget();
            return self.load(e, space, va, buf);
        }
        let mut done = 0;
        while done < buf.len() {
            let here = va.wrapping_add(done as u64);
            let (line, skip) = (here & !(LINE - 1), (here % LINE) as usize);
            let n = (LINE as usize - skip).min(buf.len() - done);
            if self.engine(e).fetched.find(space, line).is_none() {
                let mut bytes = [0; LINE as usize];
                self.load(e, space, line, &mut bytes)?;
                let at = line;
                self.engine(e).fetched.lines.push(Line { space, at, bytes });
            }
            if let Some(found) = self.engine(e).fetched.find(space, line) {
                buf[done..done + n].copy_from_slice(&found.bytes[skip..skip + n]);
            }
            done += n;
        }
        Ok(())
    }

    /// Fetches what lies ahead of a command, before it is executed.
    pub fn fetch_ahead(&mut self, e: EngineId, len: usize) {
        if !self.cfg.prefetch {
            return;
        }
        let Some(frame) = self.engine(e).frames.last().copied() else {
            return;
        };
        let preparser = self.engine(e).preparser && self.ering(e, ring::GFX_MODE) & GLOBAL_OFF == 0;
        let here = (frame.space, frame.addr);
        let fetched = &mut self.engine(e).fetched;
        if fetched.next != Some(here) && !preparser {
            fetched.lines.clear();
        }
        fetched.next = Some((frame.space, frame.addr + 4 * len as u64));
        self.fetch_lines(e, frame.space, frame.addr);
        if preparser {
            self.look_into_batches(e, frame.space, frame.addr);
        }
        // What lies behind will not come again.
        let from = frame.addr & !(LINE - 1);
        let fetched = &mut self.engine(e).fetched;
        let most = 4 * AHEAD as usize;
        fetched
            .lines
            .retain(|l| l.space != frame.space || l.at >= from || l.at + LINE * AHEAD < from);
        let spare = fetched.lines.len().saturating_sub(most);
        fetched.lines.drain(..spare);
    }

    /// Fetches the lines from an address on, as far as they are mapped; no fault is latched for what
    /// nobody has asked for.
    fn fetch_lines(&mut self, e: EngineId, space: Space, va: u64) {
        for i in 0..AHEAD {
            let at = (va & !(LINE - 1)).wrapping_add(i * LINE);
            if self.engine(e).fetched.find(space, at).is_some() {
                continue;
            }
            let mut bytes = [0; LINE as usize];
            if !self.peek(e, space, at, &mut bytes) {
                return;
            }
            self.engine(e).fetched.lines.push(Line { space, at, bytes });
        }
    }

    /// The pre-parser: finds the next start of a batch among what was fetched, and goes there.
    fn look_into_batches(&mut self, e: EngineId, space: Space, va: u64) {
        let mut at = va;
        for _ in 0..LINE * AHEAD / 4 {
            let dword = |core: &Core, at: u64| {
                let found = core.engines[e as usize]
                    .fetched
                    .find(space, at & !(LINE - 1))?;
                let skip = (at % LINE) as usize;
                let b = found.bytes.get(skip..skip + 4)?;
                Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            };
            let Some(header) = dword(self, at) else {
                return;
            };
            let Some((_, len)) = Self::decode(e, header) else {
                return;
            };
            match (header >> 29, opcode(header)) {
                (0, op::BATCH_BUFFER_START) => {
                    let (Some(low), Some(high)) = (dword(self, at + 4), dword(self, at + 8)) else {
                        return;
                    };
                    let target = u64::from(low & !7) | u64::from(high & 0xffff) << 32;
                    let global = space == Space::Ggtt && header & 1 << 8 == 0;
                    let to = if global { Space::Ggtt } else { Space::Ppgtt };
                    self.fetch_lines(e, to, target);
                    return;
                }
                (0, op::BATCH_BUFFER_END) => return,
                _ => at += 4 * len as u64,
            }
        }
    }
}

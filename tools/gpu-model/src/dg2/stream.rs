// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The command streamers: fetch from ring and batches, decode, advance, wait, yield (DG2 PRM Vol 8
//! "Command Buffers", "Command Streamer Command Formats", "Command Streamer Preemptable Commands").
//! One command per step, so that no stream, however wrong, keeps the model from answering.

use super::core::Core;
use super::engine::{EngineId, Stop};
use super::execlist::detail;
use super::irq::vector;
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted};
use super::mi::{self, op};
use super::regs::ring;
use crate::counters::Counter;
pub(crate) use crate::device::StepResult as Step;
use crate::fault::Kind;
use crate::trace::Event;

/// What a batch is to the one that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Started from the ring.
    First,
    /// Started from a batch, to which it returns.
    Second,
    /// The commands of INDIRECT_CTX: until an address; then the restore goes on at a dword of the
    /// image, if the engine context is restored at all.
    Indirect { end: u64, rest: Option<usize> },
    /// The batch of BB_PER_CTX_PTR.
    PerContext,
}

/// A batch that is being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The next command.
    pub addr: u64,
    pub space: AddressSpace,
    pub privileged: bool,
    pub kind: FrameKind,
}

impl Frame {
    fn is_workaround(&self) -> bool {
        matches!(
            self.kind,
            FrameKind::Indirect { .. } | FrameKind::PerContext
        )
    }
}

/// What a streamer waits for; the command is executed again to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A semaphore that is polled.
    Poll,
    /// A semaphore that looks again when it is signalled.
    Signal,
}

/// Where the stream goes after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next command.
    Next,
    /// To the next command, and this is a place to be preempted at.
    Yield,
    /// Into a batch that returns here.
    Call(Frame),
    /// Into a batch that takes the place of this one.
    Chain(u64, AddressSpace, bool),
    /// Back from the batch.
    Return,
    /// Back from all batches, to the ring.
    ReturnAll,
    /// Nowhere yet.
    Wait(Wait),
    /// Nowhere until the blit that has begun is done.
    Stay,
    /// Nowhere: the engine has stopped.
    Stop,
}

impl Core {
    /// Ring size in bytes: CTL bits 20:12 are pages less one.
    pub fn ring_size(&self, e: EngineId) -> u32 {
        (self.ering(e, ring::CTL) & 0x1f_f000) + 0x1000
    }

    fn engine_ref(&self, e: EngineId) -> &super::engine::Engine {
        &self.engines[e as usize]
    }

    /// True while the streamer executes nothing.
    pub fn is_idle(&self, e: EngineId) -> bool {
        let engine = self.engine_ref(e);
        let stopped = self.ering(e, ring::MI_MODE) & 1 << 8 != 0;
        let left = self.left.running && e == EngineId::Rcs;
        engine.stop == Stop::Running && (stopped || engine.current.is_none() && !left)
    }

    /// Does at most one thing of an engine: a switch, a command, a part of a blit.
    pub fn step(&mut self, e: EngineId) -> Step {
        self.settle();
        let step = self.step_now(e);
        if step == Step::Ran {
            return step;
        }
        // A posted write completes in any case.
        self.drain(e);
        match (step, self.later.next()) {
            (Step::Idle | Step::Stopped | Step::Waiting, Some(at)) => Step::NotBefore(at),
            _ => step,
        }
    }

    fn step_now(&mut self, e: EngineId) -> Step {
        if self.removed || self.engine(e).stop != Stop::Running {
            return Step::Stopped;
        }
        if self.cfg.engines & e.mask() == 0 || !self.execlists(e) {
            return Step::Idle;
        }
        if self.ering(e, ring::MI_MODE) & 1 << 8 != 0 {
            return Step::Stopped;
        }
        if self.engine(e).current.is_none() {
            return if self.wake_up(e) {
                Step::Ran
            } else {
                Step::Idle
            };
        }
        self.watch(e);
        let not_before = self.engine(e).not_before;
        if not_before != 0 {
            if self.notes.clock.now() < not_before {
                return Step::NotBefore(not_before);
            }
            self.engine(e).not_before = 0;
        }
        if self.engine(e).blit.is_some() {
            return self.continue_blit(e);
        }
        if self.engine(e).frames.is_empty() {
            if let Some(step) = self.at_ring(e) {
                return step;
            }
        }
        if self.engine(e).wait == Some(Wait::Signal) && !self.engine(e).signalled {
            return self.waiting(e, Wait::Signal);
        }
        if !std::mem::take(&mut self.engine(e).rested) {
            if let Some(us) = self.notes.inject(Kind::Pause, e.name()) {
                let until = self.notes.in_us(us);
                let engine = self.engine(e);
                engine.rested = true;
                engine.not_before = until;
                return Step::NotBefore(until);
            }
        }
        if self.notes.inject(Kind::Hang, e.name()).is_some() {
            self.engine(e).stop = Stop::Hung;
            return Step::Stopped;
        }
        if self.notes.inject(Kind::SpuriousIrq, e.name()).is_some() {
            self.event_now(e, vector::USER);
        }
        if let Some(value) = self.notes.inject(Kind::SpuriousError, e.name()) {
            self.error(e, (value as u32).max(1));
        }
        self.notes.run_as(!self.privileged(e));
        let step = self.run_command(e);
        self.notes.client = false;
        step.unwrap_or(Step::Stopped)
    }

    /// In the ring: the end of the element, or a ring that cannot be executed.
    fn at_ring(&mut self, e: EngineId) -> Option<Step> {
        let head = self.ering(e, ring::HEAD) & 0x1f_fffc;
        let tail = self.ering(e, ring::TAIL);
        let enabled = self.ering(e, ring::CTL) & 1 != 0;
        if enabled && head == tail {
            self.element_done(e);
            return Some(Step::Ran);
        }
        let size = self.ring_size(e);
        if enabled && tail < size && head < size {
            return None;
        }
        if !self.engine(e).partial_reported {
            self.engine(e).partial_reported = true;
            self.notes.lint(Rule::RingShape, || {
                format!("{} head {head:#x} tail {tail:#x} size {size:#x}", e.name())
            });
        }
        Some(Step::Idle)
    }

    /// The wait goes on, unless the engine is wanted elsewhere.
    fn waiting(&mut self, e: EngineId, wait: Wait) -> Step {
        if self.may_yield(e) {
            self.leave(e, detail::SEMAPHORE, wait == Wait::Signal);
            return Step::Ran;
        }
        // In signal mode another element runs meanwhile, unless that is inhibited (D7, G3).
        let inhibited = self.ering(e, ring::CTX_CONTROL) & 1 << 3 != 0;
        if wait == Wait::Signal && !inhibited && self.engine(e).arbitration {
            self.leave(e, detail::SEMAPHORE, true);
            return Step::Ran;
        }
        Step::Waiting
    }

    /// Returns whether the engine is at a place where it can be preempted, and a preemption is pending.
    fn may_yield(&mut self, e: EngineId) -> bool {
        let engine = self.engine(e);
        engine.pending.is_some()
            && engine.arbitration
            && !engine.frames.iter().any(Frame::is_workaround)
    }

    /// True while what is executed may do everything (Q1).
    pub fn privileged(&self, e: EngineId) -> bool {
        self.engine_ref(e)
            .frames
            .last()
            .is_none_or(|f| f.privileged)
    }

    /// Returns the address of the next command.
    pub fn place(&self, e: EngineId) -> (u64, AddressSpace) {
        match self.engine_ref(e).frames.last() {
            Some(f) => (f.addr, f.space),
            None => {
                let head = self.ering(e, ring::HEAD) & 0x1f_fffc;
                let start = u64::from(self.ering(e, ring::START));
                (start + u64::from(head), AddressSpace::Ggtt)
            }
        }
    }

    /// Fetches `count` dwords at the streamer's place; in the ring, around its end.
    fn fetch(&mut self, e: EngineId, count: usize) -> Result<Vec<u32>, Faulted> {
        let (at, space) = self.place(e);
        let mut bytes = vec![0u8; count * 4];
        let first = if self.engine(e).frames.is_empty() {
            let head = self.ering(e, ring::HEAD) & 0x1f_fffc;
            let to_end = self.ring_size(e).saturating_sub(head) as usize;
            to_end.min(bytes.len())
        } else {
            bytes.len()
        };
        let start = u64::from(self.ering(e, ring::START));
        self.fetch_bytes(e, space, at, &mut bytes[..first])?;
        if first < bytes.len() {
            self.fetch_bytes(e, space, start, &mut bytes[first..])?;
        }
        let dword = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
        Ok(bytes.chunks_exact(4).map(dword).collect())
    }

    /// Name and length of a command by its header; `None` if this engine has no such command.
    pub fn decode(e: EngineId, header: u32) -> Option<(&'static str, usize)> {
        match header >> 29 {
            0 => mi::decode(header, e.class()).map(|(d, n)| (d.name, n)),
            2 if e == EngineId::Bcs => super::blt::decode(header),
            3 => mi::decode_engine(header, e),
            _ => None,
        }
    }

    fn run_command(&mut self, e: EngineId) -> Result<Step, Faulted> {
        let (at, _) = self.place(e);
        let header = self.fetch(e, 1)?[0];
        self.set_ering(e, ring::IPEHR, header);
        let Some((name, len)) = Self::decode(e, header) else {
            self.notes
                .lint(Rule::Instruction, || format!("{} {header:#010x}", e.name()));
            self.instruction_error(e, header);
            return Ok(Step::Stopped);
        };
        let in_ring = self.engine(e).frames.is_empty();
        if in_ring && !self.ring_holds(e, len) {
            return Ok(Step::Idle);
        }
        // Padding is no work.
        if self.engine(e).work_begins && header != 0 {
            self.engine(e).work_begins = false;
            let extra = self.notes.inject(Kind::Delay, e.name()).unwrap_or(0);
            let until = self.notes.in_us(extra).saturating_add(self.cfg.delay_ns);
            if self.notes.clock.now() < until {
                self.engine(e).not_before = until;
                return Ok(Step::NotBefore(until));
            }
        }
        let mut d = self.fetch(e, len)?;
        self.fetch_ahead(e, len);
        // The header was fetched once: memory that changed in between must not make another command.
        d[0] = header;
        self.notes.count(e.commands_counter());
        if self.engine(e).wait.is_none() {
            self.notes.record(|| Event::Command {
                engine: e.name(),
                address: at,
                batch: !in_ring,
                name,
                dwords: d.iter().take(16).copied().collect(),
            });
        }
        let flow = if self.nooped(e, &d) {
            Flow::Next
        } else {
            match header >> 29 {
                0 => self.run_mi(e, &d)?,
                2 => self.begin_blit(e, &d)?,
                _ if header >> 16 == mi::PIPE_CONTROL => self.pipe_control(e, &d)?,
                _ => {
                    self.notes.count(Counter::SkippedCommands);
                    Flow::Next
                }
            }
        };
        Ok(self.advance(e, len, flow))
    }

    /// True if predication makes a command one that does nothing.
    fn nooped(&self, e: EngineId, d: &[u32]) -> bool {
        // All commands but those that have a bit of their own for it, and the one that ends it (N3).
        if self.ering(e, ring::SET_PREDICATE_RESULT) & 1 != 0 {
            let own = match (d[0] >> 29, mi::opcode(d[0])) {
                (0, op::SET_PREDICATE) => true,
                (
                    0,
                    op::BATCH_BUFFER_START
                    | op::BATCH_BUFFER_END
                    | op::CONDITIONAL_BATCH_BUFFER_END,
                ) => d[0] & 1 << 15 == 0,
                _ => false,
            };
            if !own {
                return true;
            }
        }
        mi::predicated(d[0]) && self.ering(e, ring::PREDICATE_RESULT) & 1 == 0
    }

    /// True if the ring holds all of a command of `len` dwords before the tail.
    fn ring_holds(&mut self, e: EngineId, len: usize) -> bool {
        let size = self.ring_size(e);
        let head = self.ering(e, ring::HEAD) & 0x1f_fffc;
        let tail = self.ering(e, ring::TAIL);
        let held = tail.wrapping_add(size).wrapping_sub(head) % size;
        if u64::from(held) >= len as u64 * 4 {
            return true;
        }
        if !self.engine(e).partial_reported {
            self.engine(e).partial_reported = true;
            self.notes.lint(Rule::PartialCommand, || {
                format!("{} head {head:#x} tail {tail:#x}", e.name())
            });
        }
        false
    }

    /// Moves on after a command of `len` dwords.
    pub fn advance(&mut self, e: EngineId, len: usize, flow: Flow) -> Step {
        if self.engine(e).stop != Stop::Running {
            return Step::Stopped;
        }
        if let Flow::Wait(wait) = flow {
            self.engine(e).signalled = false;
            if self.engine(e).wait.replace(wait).is_none() {
                self.event(e, vector::SEMAPHORE);
                self.notes.count(Counter::SemaphoreWaits);
            }
            return self.waiting(e, wait);
        }
        if flow == Flow::Stay {
            return Step::Ran;
        }
        self.engine(e).wait = None;
        let bytes = len as u64 * 4;
        match flow {
            Flow::Stop | Flow::Stay | Flow::Wait(_) => return Step::Stopped,
            Flow::Next | Flow::Yield => self.move_on(e, bytes),
            Flow::Call(frame) => {
                self.move_on(e, bytes);
                if !frame.privileged {
                    self.watch_first_program(e);
                }
                if frame.kind == FrameKind::First {
                    self.engine(e).pace.begin();
                }
                self.engine(e).frames.push(frame);
            }
            Flow::Chain(addr, space, privileged) => {
                self.engine(e).pace.jump();
                if let Some(f) = self.engine(e).frames.last_mut() {
                    (f.addr, f.space, f.privileged) = (addr, space, privileged);
                }
            }
            Flow::Return => self.return_to(e, usize::MAX),
            // What a restore executes has no ring below it.
            Flow::ReturnAll => match self.engine(e).frames.iter().any(Frame::is_workaround) {
                true => self.return_to(e, usize::MAX),
                false => self.return_to(e, 0),
            },
        }
        if matches!(
            flow,
            Flow::Call(_) | Flow::Chain(..) | Flow::Return | Flow::ReturnAll
        ) {
            self.fetch_elsewhere(e);
        }
        let engine = &mut self.engines[e as usize];
        if !engine.frames.is_empty() {
            if let Some(time) = engine.pace.command(&self.notes.clock) {
                engine.not_before = time;
            }
        }
        self.indirect_ended(e);
        if flow == Flow::Yield && self.may_yield(e) {
            self.leave(e, detail::PREEMPTED, false);
        }
        Step::Ran
    }

    /// Leaves the innermost batch, and those in which more than `level` lie one in another. BB_ADDR keeps the
    /// last one, without its valid bit (witness TW07, a real Tiger Lake).
    fn return_to(&mut self, e: EngineId, level: usize) {
        let left = self.engine(e).frames.pop();
        self.engine(e).frames.truncate(level);
        if let (Some(f), true) = (left, self.engine(e).frames.is_empty()) {
            self.set_ering(e, ring::BB_HEAD, f.addr as u32 & !3);
            self.set_ering(e, ring::BB_HEAD_UDW, (f.addr >> 32) as u32 & 0xffff);
        }
    }

    fn move_on(&mut self, e: EngineId, bytes: u64) {
        if let Some(f) = self.engine(e).frames.last_mut() {
            f.addr = f.addr.wrapping_add(bytes);
            return;
        }
        let size = self.ring_size(e);
        let value = self.ering(e, ring::HEAD);
        let head = (value & 0x1f_fffc).wrapping_add(bytes as u32);
        let new = if head >= size {
            (value & 0xffe0_0000).wrapping_add(0x20_0000) | ((head - size) % size)
        } else {
            value & 0xffe0_0000 | head
        };
        self.set_ering(e, ring::HEAD, new);
    }

    /// The commands of INDIRECT_CTX have no end of their own but their size (K4).
    fn indirect_ended(&mut self, e: EngineId) {
        if let Some(Frame {
            addr,
            kind: FrameKind::Indirect { end, rest },
            ..
        }) = self.engine(e).frames.last().copied()
        {
            if addr >= end {
                self.engine(e).frames.pop();
                self.resume_restore(e, rest);
            }
        }
    }
}

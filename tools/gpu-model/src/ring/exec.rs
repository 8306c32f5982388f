// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The command streamers: fetch from ring and batch, decode, advance, wait, stop
//! (SNB PRM V1P2 §5.3.3–5.3.7). One command per step, so that no stream of commands, however
//! wrong, keeps the model from answering.

use crate::counters::Counter;
use crate::fault::Kind;
use crate::intel::pte::PAGE;
use crate::intel::tlb::{AddressSpace, Client};
use crate::intel::{cmd3d, mi};
use crate::ring::blit::BlitJob;
use crate::ring::core::{source, Core};
use crate::ring::engine::{Batch, EngineId, FlushPrelude, Stop, Wait};
use crate::ring::irq::bit;
use crate::ring::lint::Rule;
use crate::ring::mmu::{MemoryContext, Mmu};
use crate::ring::regs::ring;
use crate::trace::Event;

/// MI_NOOPs are gone over together up to the next multiple of so many bytes.
const NOOPS: usize = 256;

/// What one step of an engine did.
pub(crate) enum Step {
    /// Executed a command.
    Ran,
    /// Nothing to do.
    Idle,
    /// Blocked in a wait or semaphore; worth another look when something changes.
    Waiting,
    /// Stopped by an error, a hang or a stop request.
    Stopped,
    /// Work begins no earlier than at this time.
    NotBefore(u64),
    /// A blit, to be run without the device locked and handed to [`Core::finish_blit`].
    Blit(Box<BlitJob>),
}

/// Where the stream goes after a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next command.
    Next,
    /// Into a batch buffer; the ring continues after this command.
    Batch(Batch),
    /// Into a batch of the second level; its end comes back behind this command.
    Call(Batch),
    /// Back to the ring, or from the second level to where it was called.
    EndBatch,
    /// To another place in the ring (UHPTR).
    RingHead(u32),
    /// Nowhere yet; the command is tried again.
    Wait(Wait),
    /// Nowhere: the streamer has stopped at this command.
    Stop,
}

fn dwords(bytes: &[u8]) -> Vec<u32> {
    let dwords = bytes.chunks_exact(4);
    dwords
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect()
}

/// A step that only time makes another one of.
fn earliest(step: Step, times: [Option<u64>; 3]) -> Step {
    match times.into_iter().flatten().min() {
        Some(at) => Step::NotBefore(at),
        None => step,
    }
}

impl Core {
    /// Ring size in bytes: CTL bits 20:12 are pages less one.
    pub fn ring_size(&self, e: EngineId) -> u32 {
        (self.ring(e, ring::CTL) & 0x1f_f000) + 0x1000
    }

    /// True while the streamer executes nothing: disabled, stopped at a command boundary, or empty.
    pub fn is_idle(&self, e: EngineId) -> bool {
        let engine = &self.engines[e as usize];
        if engine.busy || engine.stop != Stop::Running {
            return false;
        }
        let enabled = self.ring(e, ring::CTL) & 1 != 0;
        let stopped = self.ring(e, ring::MI_MODE) & (1 << 8) != 0;
        let head = self.ring(e, ring::HEAD) & 0x1f_fffc;
        !enabled || stopped || (engine.batch.is_none() && head == self.ring(e, ring::TAIL))
    }

    /// RING_CTL bits 11 (event wait) and 10 (semaphore wait).
    pub fn wait_bits(&self, e: EngineId) -> u32 {
        match self.engines[e as usize].wait {
            Some(Wait::Condition(_) | Wait::Display(_)) => 1 << 11,
            Some(Wait::SemaphoreRegister { .. } | Wait::SemaphoreMemory) => 1 << 10,
            None => 0,
        }
    }

    /// Executes at most one command of an engine.
    pub fn step(&mut self, e: EngineId) -> Step {
        self.settle();
        let step = self.step_now(e);
        let late = self.later.interrupts.next(|i| i.0 == e);
        let watchdog = self.watchdog_due(e);
        self.count_clocks();
        match step {
            // An engine at rest that still owes an interrupt.
            Step::Idle | Step::Stopped => {
                let clocks = self.clocks_due();
                earliest(step, [late, watchdog, clocks])
            }
            Step::Waiting => earliest(step, [self.display_wakes(e), watchdog, None]),
            step => step,
        }
    }

    fn step_now(&mut self, e: EngineId) -> Step {
        if self.engine(e).busy {
            return Step::Waiting;
        }
        if self.removed || self.engine(e).stop != Stop::Running {
            return Step::Stopped;
        }
        if self.ring(e, ring::CTL) & 1 == 0 {
            return Step::Idle;
        }
        // A ring that was found running reads nothing before DMA is allowed.
        if self.reset_coming(e) || self.found_running(e) && !self.masters() {
            return Step::Stopped;
        }
        if self.ring(e, ring::MI_MODE) & (1 << 8) != 0 {
            return Step::Stopped;
        }
        if self.engine(e).batch.is_none() {
            let head = self.ring(e, ring::HEAD) & 0x1f_fffc;
            if self.engine(e).missed_tail {
                return Step::Idle;
            }
            if head == self.ring(e, ring::TAIL) {
                self.engine(e).work_begins = true;
                self.watch_arbitration(e);
                // An empty ring is an arbitration point (§5.3.7.4).
                return if self.take_pending_head(e) {
                    Step::Ran
                } else {
                    Step::Idle
                };
            }
        }
        if let Some(wait) = self.engine(e).wait {
            if !self.engine(e).wait_cancelled && !self.wait_over(e, wait) {
                return Step::Waiting;
            }
        }
        let not_before = self.engine(e).not_before;
        if self.notes.clock.now() < not_before {
            return Step::NotBefore(not_before);
        }
        if !std::mem::take(&mut self.engine(e).rested) {
            if let Some(us) = self.inject(Kind::Pause, e.name()) {
                let until = self.in_us(us);
                let engine = self.engine(e);
                engine.rested = true;
                engine.not_before = until;
                return Step::NotBefore(until);
            }
        }
        if self.inject(Kind::Hang, e.name()).is_some() {
            self.engine(e).stop = Stop::Hung;
            return Step::Stopped;
        }
        self.misfire(e);
        self.notes.run_as(self.unprivileged(e));
        let step = self.run_command(e);
        self.notes.client = false;
        step
    }

    /// A ring has run empty.
    fn watch_arbitration(&mut self, e: EngineId) {
        let engine = self.engine(e);
        let off = !engine.arbitration && !std::mem::replace(&mut engine.arbitration_told, true);
        if off && self.cfg.chip.ways.arbitration_at_end {
            self.lint(Rule::ArbitrationOff, || e.name().to_owned());
        }
    }

    /// Opportunities for what an engine says without a reason.
    fn misfire(&mut self, e: EngineId) {
        if self.inject(Kind::SpuriousIrq, e.name()).is_some() {
            self.blink(e, bit::USER);
        }
        if let Some(value) = self.inject(Kind::SpuriousError, e.name()) {
            self.spurious_error(e, (value as u32).max(1));
        }
    }

    fn wait_over(&mut self, e: EngineId, wait: Wait) -> bool {
        match wait {
            Wait::Condition(code) => self.ring(e, ring::EXCC) & (1 << code) == 0,
            Wait::SemaphoreRegister { offset, data } => self.get(offset) > data,
            Wait::Display(awaited) => self.has_come(awaited),
            // Only memory knows: run the command again.
            Wait::SemaphoreMemory => true,
        }
    }

    /// Returns the graphics address of the next command, and the address space of its fetch.
    fn fetch_place(&mut self, e: EngineId) -> (u32, AddressSpace) {
        match self.engine(e).batch {
            Some(b) => (b.address, self.space(e, !b.non_secure)),
            None => {
                let head = self.ring(e, ring::HEAD) & 0x1f_fffc;
                (
                    self.ring(e, ring::START).wrapping_add(head),
                    Self::RING_SPACE,
                )
            }
        }
    }

    /// Fetches `count` dwords of the command at the streamer's place; in the ring, around its end.
    fn fetch(&mut self, e: EngineId, count: usize) -> Vec<u32> {
        let (at, space) = self.fetch_place(e);
        let in_ring = self.engine(e).batch.is_none();
        let mut bytes = vec![0u8; count * 4];
        if let Some(page) = self.engine(e).batch.and_then(|b| b.physical) {
            return self.fetch_physical(page, at, bytes);
        }
        self.watch_unsnooped(e.name(), at, bytes.len());
        let size = self.ring_size(e);
        let start = self.ring(e, ring::START);
        let first = if in_ring {
            let to_end = size.saturating_sub(self.ring(e, ring::HEAD) & 0x1f_fffc) as usize;
            to_end.min(bytes.len())
        } else {
            bytes.len()
        };
        self.load(e, space, at, &mut bytes[..first]);
        if first < bytes.len() {
            self.load(e, space, start, &mut bytes[first..]);
        }
        dwords(&bytes)
    }

    /// Fetches from a page of the bus, of which `at` has the low bits; nothing beyond its end.
    fn fetch_physical(&mut self, page: u64, at: u32, mut bytes: Vec<u8>) -> Vec<u32> {
        let offset = at % PAGE;
        let inside = bytes.len().min((PAGE - offset) as usize);
        if self
            .cx
            .memory
            .read(page + u64::from(offset), &mut bytes[..inside])
            .is_err()
        {
            bytes.fill(0);
        }
        dwords(&bytes)
    }

    /// True if a command of a batch in one page of the bus does not lie in it (Gen4).
    fn leaves_page(&self, e: EngineId, at: u32, len: usize) -> bool {
        let batch = self.engines[e as usize].batch;
        batch.is_some_and(|b| {
            let Some(page) = b.physical else { return false };
            u64::from(at) - u64::from(at % PAGE) != page & 0xffff_f000
                || at % PAGE + len as u32 * 4 > PAGE
        })
    }

    /// Name and length of a command by its header; `None` if this engine has no such command.
    fn decode(&self, e: EngineId, header: u32) -> Option<(&'static str, usize)> {
        let row = self.row(e);
        match header >> 29 {
            0 => mi::decode(self.cfg.chip.mi, header, e.mask()).map(|(d, n)| (d.name, n)),
            2 => row.two_d?(header),
            3 => row.three_d?(header),
            _ => None,
        }
    }

    fn run_command(&mut self, e: EngineId) -> Step {
        let (at, space) = self.fetch_place(e);
        let header = self.fetch(e, 1)[0];
        self.set_ring(e, ring::IPEHR, header);
        let Some((name, len)) = self.decode(e, header) else {
            self.instruction_error(e, header);
            return Step::Stopped;
        };
        let in_batch = self.engine(e).batch.is_some();
        if self.leaves_page(e, at, len) {
            // 5.3.5.2: such a batch "cannot exceed one physical page".
            self.instruction_error(e, header);
            return Step::Stopped;
        }
        if !in_batch && !self.ring_holds(e, len) {
            return Step::Idle;
        }
        // Padding is no work.
        if self.engine(e).work_begins && header != 0 {
            self.engine(e).work_begins = false;
            let extra = self.inject(Kind::Delay, e.name()).unwrap_or(0);
            let until = self.in_us(extra).saturating_add(self.cfg.delay_ns);
            if self.notes.clock.now() < until {
                self.engine(e).not_before = until;
                return Step::NotBefore(until);
            }
        }
        // A batch that runs in circles rests now and then, at any of its commands.
        let alone = self.notes.watched() || self.engine(e).pace.circles();
        let physical = self.engine(e).batch.is_some_and(|b| b.physical.is_some());
        if in_batch && header == 0 && !alone && !physical {
            return self.go_over_noops(e, at, space);
        }
        let mut d = self.fetch(e, len);
        // The header was fetched once: memory that changed in between, or a fault of the second
        // fetch, must not make another command of it.
        d[0] = header;
        self.prefetch(e, space, at, at.wrapping_add(len as u32 * 4));
        if self.engine(e).stop != Stop::Running {
            return Step::Stopped;
        }
        self.count_commands(e, 1);
        let place = if in_batch {
            at
        } else {
            self.ring(e, ring::HEAD) & 0x1f_fffc
        };
        if self.notes.trace.wanted() && self.engine(e).wait.is_none() {
            let dwords = d.iter().take(16).copied().collect();
            self.record(|| Event::Command {
                engine: e.name(),
                address: place.into(),
                batch: in_batch,
                name,
                dwords,
            });
        }
        if self.engine(e).expect_noop && !in_batch {
            self.engine(e).expect_noop = false;
            if header >> 23 != 0 {
                self.lint(Rule::SetContextNoNoop, || format!("{header:#010x}"));
            }
        }
        let flow = match header >> 29 {
            0 => self.run_mi(e, &d),
            2 => {
                self.drawing_begins(e, true);
                return self.begin_blit(e, d);
            }
            _ if header >> 16 == cmd3d::PIPE_CONTROL => {
                let own = (self.cfg.chip.hooks.command)(self, e, &d);
                own.unwrap_or_else(|| self.pipe_control(e, &d))
            }
            _ => self.skip(e, name, &d),
        };
        self.advance(e, d.len(), flow)
    }

    /// So many commands were run.
    fn count_commands(&mut self, e: EngineId, n: u64) {
        let counter = self.row(e).counters.commands;
        self.notes.counters.add(counter, n);
    }

    /// The streamer reads ahead of the command at `at`, of which `end` is the end, at least a line behind
    /// it. In a ring it does not turn back at the end.
    fn prefetch(&mut self, e: EngineId, space: AddressSpace, at: u32, end: u32) {
        if !self.cfg.prefetch || self.engine(e).batch.is_some_and(|b| b.physical.is_some()) {
            return;
        }
        let last = (self.ahead(e, at) - 1).max(u64::from(end) + 63);
        let pages = u64::from(end) / u64::from(PAGE)..=last / u64::from(PAGE);
        let touch = |mmu: &mut Mmu, cx: &MemoryContext| {
            for page in pages {
                let va = (page * u64::from(PAGE)) as u32;
                mmu.touch(cx, Client::Stream, space, source::CS_READ, va);
            }
        };
        if self.engine(e).batch.is_some() {
            return self.with_mmu(e, |mmu, cx| {
                // Where a batch lies is the driver's choice, and so is what lies behind it.
                let cx = MemoryContext {
                    program: false,
                    ..cx.clone()
                };
                touch(mmu, &cx)
            });
        }
        self.cx.ppgtt = self.ppgtt(e);
        self.cx.program = false;
        if let Some(mmu) = &mut self.engines[e as usize].mmu {
            // No opportunity for injected faults: those are accesses whose data are used.
            touch(mmu, &self.cx);
            let (faults, notes) = (mmu.take_faults(), mmu.take_notes());
            self.after_access(e, faults, notes);
        }
    }

    /// Up to where the streamer has read ahead when it is at `at`.
    fn ahead(&self, e: EngineId, at: u32) -> u64 {
        let in_batch = self.engines[e as usize].batch.is_some();
        let lines = self.cfg.chip.ahead[usize::from(in_batch)];
        u64::from(at & !63) + lines * 64
    }

    /// DMA_FADD: where the streamer reads next. At rest that is behind all that it was given.
    pub fn fetch_address(&mut self, e: EngineId) -> u32 {
        let (at, _) = self.fetch_place(e);
        if self.engine(e).batch.is_none() && self.is_idle(e) {
            return self
                .ring(e, ring::START)
                .wrapping_add(self.ring(e, ring::TAIL));
        }
        if self.cfg.prefetch {
            self.ahead(e, at) as u32
        } else {
            at
        }
    }

    /// The MI_NOOP at `at` in a batch, and with it those that follow, as far as [`NOOPS`] reach: a batch
    /// may consist of them, and one after the other takes a hundred times as long.
    fn go_over_noops(&mut self, e: EngineId, at: u32, space: AddressSpace) -> Step {
        let mut bytes = [0; NOOPS];
        let rest = &mut bytes[at as usize % NOOPS..];
        self.load(e, space, at, rest);
        let zeros = rest.chunks_exact(4).take_while(|c| **c == [0; 4]).count();
        // The one at `at` was fetched before; memory may have changed since.
        let n = zeros.max(1);
        self.prefetch(e, space, at, at.wrapping_add(n as u32 * 4));
        if self.engine(e).stop != Stop::Running {
            return Step::Stopped;
        }
        self.count_commands(e, n as u64);
        self.advance(e, n, Flow::Next)
    }

    /// True if the ring holds all of a command of `len` dwords before the tail.
    fn ring_holds(&mut self, e: EngineId, len: usize) -> bool {
        let size = self.ring_size(e);
        let head = self.ring(e, ring::HEAD) & 0x1f_fffc;
        let tail = self.ring(e, ring::TAIL);
        let bytes = len as u32 * 4;
        let held = if tail >= head {
            tail - head
        } else {
            (size + tail).saturating_sub(head)
        };
        if held < bytes {
            // Undefined on the chip; here the streamer waits for the rest.
            if !self.engine(e).partial_reported {
                self.engine(e).partial_reported = true;
                self.lint(Rule::PartialCommand, || {
                    format!("{} head {head:#x} tail {tail:#x}", e.name())
                });
            }
            return false;
        }
        if head < size && head + bytes > size {
            self.lint(Rule::CommandWraps, || {
                format!("{} head {head:#x}", e.name())
            });
        }
        true
    }

    /// 3D and media commands are parsed and have no effect but on the saved state; INSTPM can switch
    /// off 3D state (bit 1), 3D rendering (bit 2) and media (bit 3) commands (§5.3.3).
    fn skip(&mut self, e: EngineId, name: &str, d: &[u32]) -> Flow {
        self.count(Counter::SkippedCommands);
        self.drawing_begins(e, false);
        if !self.row(e).renders {
            return Flow::Next;
        }
        let off = self.ring(e, ring::INSTPM);
        let media = (d[0] >> 27) & 3 == 2;
        if name == "3DPRIMITIVE" {
            if off & (1 << 2) == 0 {
                self.engine(e).prelude = FlushPrelude::None;
            }
        } else if off & (1 << if media { 3 } else { 1 }) == 0 {
            self.render.absorb(d);
        }
        Flow::Next
    }

    /// Moves on after a command of `len` dwords.
    pub fn advance(&mut self, e: EngineId, len: usize, flow: Flow) -> Step {
        if self.engine(e).stop != Stop::Running {
            return Step::Stopped;
        }
        let wait = match flow {
            Flow::Wait(w) if !self.engine(e).wait_cancelled => Some(w),
            _ => None,
        };
        self.engine(e).wait = wait;
        if wait.is_some() {
            return Step::Waiting;
        }
        self.engine(e).wait_cancelled = false;
        let bytes = len as u32 * 4;
        match flow {
            Flow::Stop => return Step::Stopped,
            Flow::RingHead(head) => self.set_ring(e, ring::HEAD, head),
            Flow::Batch(target) => {
                if self.engine(e).batch.is_none() {
                    self.advance_ring(e, bytes);
                }
                self.engine(e).batch = Some(target);
            }
            Flow::Call(target) => {
                self.pass(e, bytes);
                let engine = self.engine(e);
                engine.caller = Some(engine.batch.replace(target));
            }
            Flow::EndBatch => {
                let engine = self.engine(e);
                engine.batch = engine.caller.take().flatten();
            }
            Flow::Next | Flow::Wait(_) => self.pass(e, bytes),
        }
        let engine = &mut self.engines[e as usize];
        if engine.batch.is_some() {
            if let Some(time) = engine.pace.command(&self.notes.clock) {
                engine.not_before = time;
            }
        }
        Step::Ran
    }

    /// Goes over so many bytes of the batch or the ring.
    fn pass(&mut self, e: EngineId, bytes: u32) {
        match &mut self.engine(e).batch {
            Some(b) => b.address = b.address.wrapping_add(bytes),
            None => self.advance_ring(e, bytes),
        }
    }

    fn advance_ring(&mut self, e: EngineId, bytes: u32) {
        let size = self.ring_size(e);
        let value = self.ring(e, ring::HEAD);
        let (wraps, old) = (value & 0xffe0_0000, value & 0x1f_fffc);
        let mut head = old + bytes;
        let mut new_wraps = wraps;
        if head >= size {
            head = (head - size) % size;
            new_wraps = wraps.wrapping_add(0x20_0000);
        }
        self.set_ring(e, ring::HEAD, new_wraps | head);
        self.forget_pending_head(e, head);
        // Automatic report at boundaries of 64 KB (1) or 128 KB (3) (§5.3.4.2; VCS PRM 1.1.4).
        let boundary = match (self.ring(e, ring::CTL) >> 1) & 3 {
            1 => 64 << 10,
            3 => 128 << 10,
            _ => return,
        };
        if new_wraps != wraps || old / boundary != head / boundary {
            self.report_head(e);
        }
    }

    /// MI_MODE bit 11: the pending head is no more valid where the head comes to it (VCS PRM 1.1.3.3).
    fn forget_pending_head(&mut self, e: EngineId, head: u32) {
        let pending = self.ring(e, ring::UHPTR);
        let wanted = self.cfg.chip.ways.mode_bits && self.ring(e, ring::MI_MODE) & (1 << 11) != 0;
        if wanted && pending & 1 != 0 && pending & 0x1f_fff8 == head {
            self.set_ring(e, ring::UHPTR, pending & !1);
        }
    }

    /// Writes HEAD to dword 4 of the status page (digest G-49).
    pub fn report_head(&mut self, e: EngineId) {
        let head = self.ring(e, ring::HEAD);
        self.status_page_store(e, 16, &head.to_le_bytes());
    }

    /// Takes the pending head pointer at an arbitration point (§5.3.7.5); true if it was valid.
    pub fn take_pending_head(&mut self, e: EngineId) -> bool {
        let pending = self.ring(e, ring::UHPTR);
        if pending & 1 == 0 || !self.engine(e).arbitration {
            return false;
        }
        self.set_ring(e, ring::UHPTR, pending & !1);
        let wraps = self.ring(e, ring::HEAD) & 0xffe0_0000;
        self.set_ring(e, ring::HEAD, wraps | pending & 0x1f_fff8);
        true
    }
}

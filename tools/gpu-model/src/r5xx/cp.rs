// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The command processor: takes packets from the running stream, one at a time (R5xx guide §4, §5.1).

use super::core::{Core, Origin, Step};
use super::lint::Rule;
use super::microcode::MicroEngine;
use super::regs::{self, reg, Class};
use super::stream::{feeds, Feed, Packet, Streams, RING};
use crate::counters::Counter;
use crate::fault::Kind;
use crate::trace::Event;

/// Why the command processor does not go on, until a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lockup {
    /// An injected hang.
    Injected,
    /// The streams are out of step: a bad start or end of an indirect buffer, a short packet.
    Stream,
    /// There is no microcode.
    NoMicrocode,
    /// It waits for what cannot come.
    Wait,
}

/// What the command processor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The conditions of WAIT_UNTIL.
    Until(u32),
    /// A semaphore; then a value is put into it.
    Semaphore { slot: u32, then: Option<u32> },
    /// A semaphore in memory.
    Memory(u64),
    /// Room in the queue of drawing work, or an engine that takes no more.
    Draw,
    /// Room in the queue of the DMA channel.
    Dma,
}

/// The command processor.
pub(crate) struct Cp {
    pub streams: Streams,
    pub me: MicroEngine,
    pub lockup: Option<Lockup>,
    pub wait: Option<Wait>,
    /// The next packet that is no padding begins a piece of work, which is delayed first. Work ends
    /// with a software interrupt, or when the ring is empty.
    pub work_begins: bool,
    /// Not before this time.
    pub not_before: u64,
    /// An injected pause is over; the next packet runs.
    pub rested: bool,
    /// Values for scratch registers that wait for a pulse of the colour caches (§4.9).
    pub resync: std::collections::VecDeque<(u32, u32)>,
}

impl Default for Cp {
    fn default() -> Self {
        Cp {
            streams: Streams::default(),
            me: MicroEngine::default(),
            lockup: None,
            wait: None,
            work_begins: true,
            not_before: 0,
            rested: false,
            resync: std::collections::VecDeque::new(),
        }
    }
}

impl Cp {
    /// Returns how many dwords of an indirect buffer were fetched.
    pub fn position(&self, level: usize) -> u32 {
        self.streams.position(level)
    }
}

impl Core {
    /// Stops the command processor until it is reset.
    pub fn lock_up(&mut self, why: Lockup) {
        self.notes.count(Counter::Lockups);
        self.cp.lockup = Some(why);
    }

    /// True while the command processor has something to do, or is stuck with it.
    pub fn cp_busy(&self) -> bool {
        let cp = &self.cp;
        let off = feeds(self.get(reg::CP_CSQ_CNTL)).0 == Feed::Off;
        cp.lockup.is_some()
            || cp.wait.is_some()
            || cp.streams.level != RING
            || cp.streams.all[RING].packet.is_some()
            || (!off && !self.ring_empty())
            || !cp.resync.is_empty()
    }

    /// CP_STAT (digest §3.1).
    pub fn cp_stat(&self) -> u32 {
        let mut value = 0;
        if self.cp_busy() {
            value |= 1 << 31 | 1 << 30 | 1 << 13;
        }
        if !self.ring_empty() || self.cp.streams.has_queued() {
            value |= 1 << 11;
        }
        if self.cp.streams.level >= 1 {
            value |= 1 << 12;
        }
        if self.cp.streams.level == 2 {
            value |= 1 << 15;
        }
        value | u32::from(self.dma.gui_active()) << 28 | u32::from(self.dma.vid_active()) << 29
    }

    /// One packet, or a part of it.
    pub fn cp_step(&mut self) -> Step {
        if self.cp.lockup.is_some() || self.cp_in_reset() {
            return Step::Stopped;
        }
        if feeds(self.get(reg::CP_CSQ_CNTL)).0 == Feed::Off {
            return Step::Idle;
        }
        let now = self.notes.clock.now();
        if now < self.cp.not_before {
            return Step::NotBefore(self.cp.not_before);
        }
        if let Some(wait) = self.cp.wait {
            if !self.wait_over(wait) {
                return Step::Waiting;
            }
            self.cp.wait = None;
        }
        // A program's commands are those of the indirect buffers.
        self.notes.client = self.cp.streams.level != RING;
        let step = self.go_on();
        self.after_access();
        self.notes.client = false;
        step
    }

    fn go_on(&mut self) -> Step {
        let level = self.cp.streams.level;
        if self.cp.streams.all[level].skip != 0 {
            return self.skip_one(level);
        }
        match self.cp.streams.all[level].packet.take() {
            None => self.next_header(level),
            Some(Packet::Start(header)) => self.begin(level, header),
            Some(packet) => self.proceed(level, packet),
        }
    }

    /// Drops dwords that a condition has ruled out.
    fn skip_one(&mut self, level: usize) -> Step {
        match self.fetch() {
            Some(_) => {
                self.cp.streams.all[level].skip -= 1;
                Step::Ran
            }
            None => self.starved(level),
        }
    }

    /// There is no dword for what has begun.
    fn starved(&mut self, level: usize) -> Step {
        if self.indirect_done() {
            self.notes
                .lint(Rule::IbUnderrun, || format!("level {level}"));
            self.lock_up(Lockup::Stream);
            return Step::Ran;
        }
        Step::Idle
    }

    fn next_header(&mut self, level: usize) -> Step {
        match self.fetch() {
            Some(header) => {
                // Padding is no work.
                if header >> 30 != 2 {
                    self.cp.streams.all[level].packet = Some(Packet::Start(header));
                }
                Step::Ran
            }
            None if self.indirect_done() => {
                self.leave_indirect();
                Step::Ran
            }
            None => {
                if level == RING {
                    self.cp.work_begins = true;
                    self.cp.streams.all[RING].torn = false;
                }
                Step::Idle
            }
        }
    }

    /// A packet's header: what may hold it up, and then what it is (§5.1).
    fn begin(&mut self, level: usize, header: u32) -> Step {
        if let Some(t) = self.hold_up() {
            self.cp.streams.all[level].packet = Some(Packet::Start(header));
            self.cp.not_before = t;
            return Step::NotBefore(t);
        }
        self.notes.count(Counter::CpPackets);
        if self.notes.inject(Kind::Hang, "cp").is_some() {
            self.lock_up(Lockup::Injected);
            return Step::Ran;
        }
        if self.notes.inject(Kind::SpuriousIrq, "cp").is_some() {
            self.interrupt_now(super::irq::bit::SW_INT);
        }
        let count = (header >> 16 & 0x3fff) + 1;
        let packet = match header >> 30 {
            0 => Packet::Registers {
                offset: (header & 0x1fff) * 4,
                one: header & (1 << 15) != 0,
                left: count,
            },
            1 => Packet::Two {
                first: Some((header & 0x7ff) * 4),
                second: (header >> 11 & 0x7ff) * 4,
            },
            _ => {
                if header & 0xff != 0 {
                    self.notes
                        .lint(Rule::ReservedBits, || format!("{header:#010x}"));
                }
                Packet::Body {
                    header,
                    body: Vec::new(),
                }
            }
        };
        self.proceed(level, packet)
    }

    /// The time until which the next packet must wait.
    fn hold_up(&mut self) -> Option<u64> {
        if std::mem::take(&mut self.cp.work_begins) {
            let more = self.notes.inject(Kind::Delay, "cp").unwrap_or(0);
            let ns = self.cfg.delay_ns.saturating_add(more.saturating_mul(1000));
            if ns != 0 {
                return Some(self.notes.clock.now().saturating_add(ns));
            }
        }
        if !std::mem::take(&mut self.cp.rested) {
            if let Some(us) = self.notes.inject(Kind::Pause, "cp") {
                self.cp.rested = true;
                return Some(self.notes.in_us(us));
            }
        }
        None
    }

    /// Goes on with a packet until it is done, holds, or has no dwords.
    fn proceed(&mut self, level: usize, packet: Packet) -> Step {
        match packet {
            Packet::Start(_) => Step::Ran,
            Packet::Registers { offset, one, left } => self.registers(level, offset, one, left),
            Packet::Two { first, second } => self.two(level, first, second),
            Packet::Body { header, body } => self.body(level, header, body),
            Packet::Move(mover) => {
                self.move_dwords(level, mover);
                Step::Ran
            }
        }
    }

    fn registers(&mut self, level: usize, mut offset: u32, one: bool, mut left: u32) -> Step {
        self.trace(level, "TYPE0", offset, &[]);
        while left > 0 {
            let Some(data) = self.fetch() else {
                self.cp.streams.all[level].packet = Some(Packet::Registers { offset, one, left });
                return self.starved(level);
            };
            left -= 1;
            self.stream_write(offset, data, left == 0);
            if !one {
                offset = (offset + 4) & 0x7fff;
            }
            let moved = self.cp.streams.level != level;
            if self.cp.lockup.is_some() || moved || self.cp.wait.is_some() {
                if left > 0 {
                    self.cp.streams.all[level].packet =
                        Some(Packet::Registers { offset, one, left });
                }
                return Step::Ran;
            }
        }
        Step::Ran
    }

    fn two(&mut self, level: usize, mut first: Option<u32>, second: u32) -> Step {
        loop {
            let Some(data) = self.fetch() else {
                self.cp.streams.all[level].packet = Some(Packet::Two { first, second });
                return self.starved(level);
            };
            match first.take() {
                Some(offset) => self.stream_write(offset, data, false),
                None => {
                    self.stream_write(second, data, true);
                    return Step::Ran;
                }
            }
            if self.cp.lockup.is_some() || self.cp.wait.is_some() {
                self.cp.streams.all[level].packet = Some(Packet::Two {
                    first: None,
                    second,
                });
                return Step::Ran;
            }
        }
    }

    fn body(&mut self, level: usize, header: u32, mut body: Vec<u32>) -> Step {
        let need = (header >> 16 & 0x3fff) as usize + 1;
        while body.len() < need {
            match self.fetch() {
                Some(dword) => body.push(dword),
                None => {
                    self.cp.streams.all[level].packet = Some(Packet::Body { header, body });
                    return self.starved(level);
                }
            }
        }
        if !self.cp.me.is_loaded() {
            self.notes
                .lint(Rule::NoMicrocode, || format!("{header:#010x}"));
            self.lock_up(Lockup::NoMicrocode);
            return Step::Ran;
        }
        self.execute(level, header, &body);
        Step::Ran
    }

    /// A register write out of a stream.
    pub fn stream_write(&mut self, offset: u32, data: u32, last: bool) {
        self.notes.count(Counter::CsRegWrites);
        if regs::class(offset) == Some(Class::Draw) && offset < reg::WAIT_UNTIL {
            self.before_access("cp");
        }
        self.reg_write(offset, data, Origin::Cp(last));
    }

    /// Records an executed packet.
    pub fn trace(&mut self, level: usize, name: &'static str, address: u32, dwords: &[u32]) {
        self.notes.record(|| Event::Command {
            engine: "cp",
            address: address.into(),
            batch: level != RING,
            name,
            dwords: dwords.iter().copied().take(16).collect(),
        });
    }
}

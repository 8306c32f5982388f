// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The two DMA channels: descriptor tables and direct descriptors (R5xx guide §4.7, §4.14).
//!
//! Offsets are from digest §3.1. Positions of CP_SYNC, ABORT_EN and ACTIVE are in no source: CP_SYNC
//! is bit 0 of the table's address, and the status shows ABORT_EN in bit 20, ACTIVE in bit 21, the
//! free entries of the queue in 4:0.

use super::access::Unit;
use super::core::{Core, Origin, Step};
use super::cp::Wait;
use super::irq::bit;
use super::lint::Rule;
use super::regs::reg;
use crate::counters::Counter;
use crate::fault::Kind;
use std::collections::VecDeque;

/// Entries of a channel's queue.
const QUEUE: usize = 16;
/// Bytes that one step moves.
const CHUNK: u32 = 64 << 10;
/// Descriptors of a table after which it is taken for endless.
const MOST: u32 = 4096;
/// DMA_xxx_STATUS.
const ABORT_EN: u32 = 1 << 20;
const ACTIVE: u32 = 1 << 21;
/// DMA_xxx_TABLE_ADDR.
const CP_SYNC: u32 = 1;

/// A descriptor's command word (§4.7).
mod command {
    pub const EOL: u32 = 1 << 31;
    pub const INTDIS: u32 = 1 << 30;
    pub const DAIC: u32 = 1 << 29;
    pub const SAIC: u32 = 1 << 28;
    pub const DAS: u32 = 1 << 27;
    pub const SAS: u32 = 1 << 26;
    pub const DST_SWAP: u32 = 3 << 24;
    pub const SRC_SWAP: u32 = 3 << 22;
    pub const BYTES: u32 = 0x1f_ffff;
}

/// Work of a channel.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// The table at this address, so many descriptors done.
    Table { at: u64, done: u32 },
    /// One descriptor, from a table or not.
    One(Transfer),
}

/// A transfer under way.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    src: u32,
    dst: u32,
    left: u32,
    command: u32,
}

#[derive(Default)]
struct Channel {
    queue: VecDeque<Work>,
    abort: bool,
}

impl Channel {
    fn active(&self) -> bool {
        !self.queue.is_empty()
    }
}

/// Both channels.
#[derive(Default)]
pub(crate) struct Dma {
    channels: [Channel; 2],
}

const GUI: usize = 0;
const VID: usize = 1;

fn channel(offset: u32) -> usize {
    if offset < reg::DMA_VID_TABLE_ADDR {
        GUI
    } else {
        VID
    }
}

impl Dma {
    pub fn gui_active(&self) -> bool {
        self.channels[GUI].active()
    }

    pub fn vid_active(&self) -> bool {
        self.channels[VID].active()
    }

    /// True if the GUI channel takes more direct descriptors.
    pub fn room(&self) -> bool {
        self.channels[GUI].queue.len() < QUEUE
    }

    pub fn reset(&mut self) {
        *self = Dma::default();
    }
}

impl Core {
    /// CP_GUI_COMMAND is written: the descriptor in the three registers, the last of its list (§4.14).
    pub fn dma_direct(&mut self) {
        let transfer = self.transfer(
            self.get(reg::CP_GUI_SRC_ADDR),
            self.get(reg::CP_GUI_DST_ADDR),
            self.get(reg::CP_GUI_COMMAND) | command::EOL,
        );
        // A stream waits for room; other data beyond the room are lost.
        if self.dma.channels[GUI].queue.len() >= 2 * QUEUE {
            self.notes
                .lint(Rule::DmaOverflow, || format!("{transfer:x?}"));
            return;
        }
        self.dma.channels[GUI].queue.push_back(Work::One(transfer));
        if !self.dma.room() && self.cp.wait.is_none() {
            self.cp.wait = Some(Wait::Dma);
        }
    }

    /// DMA_xxx_TABLE_ADDR is written: a table is queued, and the first one starts (§4.14).
    pub fn dma_table(&mut self, offset: u32, data: u32) {
        let n = channel(offset);
        if self.dma.channels[n].queue.len() >= QUEUE {
            self.notes.lint(Rule::DmaOverflow, || format!("{data:#x}"));
            return;
        }
        let at = u64::from(data & !15);
        if at < self.mc.fb.0 || at > self.mc.fb.1 {
            self.notes.lint(Rule::DmaTable, || format!("{data:#x}"));
        }
        let work = Work::Table { at, done: 0 };
        self.dma.channels[n].queue.push_back(work);
        // The micro-engine writes no register while the table runs.
        if data & CP_SYNC != 0 && self.cp.wait.is_none() {
            self.cp.wait = Some(Wait::Until(1 << (9 - n)));
        }
    }

    /// DMA_xxx_STATUS is written: only ABORT_EN can be.
    pub fn dma_abort(&mut self, offset: u32, data: u32) {
        let c = &mut self.dma.channels[channel(offset)];
        let abort = data & ABORT_EN != 0;
        let early = c.abort && !abort && c.active();
        c.abort = abort;
        if early {
            self.notes.lint(Rule::DmaAbort, || format!("{offset:#06x}"));
        }
    }

    /// DMA_xxx_STATUS is read.
    pub fn dma_status(&mut self, offset: u32) -> u32 {
        let c = &self.dma.channels[channel(offset)];
        let free = QUEUE.saturating_sub(c.queue.len()) as u32;
        let active = if c.active() { ACTIVE } else { 0 };
        free | active | if c.abort { ABORT_EN } else { 0 }
    }

    fn transfer(&mut self, src: u32, dst: u32, command: u32) -> Transfer {
        self.notes.count(Counter::DmaDescriptors);
        let mut t = Transfer {
            src,
            dst,
            left: command & command::BYTES,
            command,
        };
        let registers = command & (command::DAS | command::SAS) != 0;
        if registers {
            self.notes
                .lint(Rule::DmaRegisters, || format!("{command:#010x}"));
        }
        if command & (command::DST_SWAP | command::SRC_SWAP) != 0 {
            self.notes
                .lint(Rule::DmaSwap, || format!("{command:#010x}"));
        }
        // Dwords only: the low bits of count and addresses are ignored (§4.7).
        if registers || command & (command::DAIC | command::SAIC) != 0 {
            t.src &= !3;
            t.dst &= !3;
            t.left &= !3;
        }
        t
    }

    /// A part of a transfer of either channel.
    pub fn dma_step(&mut self) -> Step {
        for n in [GUI, VID] {
            let Some(work) = self.dma.channels[n].queue.front().copied() else {
                continue;
            };
            if let Some(us) = self.notes.inject(Kind::Pause, "dma") {
                return Step::NotBefore(self.notes.in_us(us.max(1)));
            }
            if self.dma.channels[n].abort {
                self.dma.channels[n].queue.clear();
                return Step::Ran;
            }
            match work {
                Work::Table { at, done } => self.next_descriptor(n, at, done),
                Work::One(t) => self.dma_move(n, t),
            }
            self.after_access();
            return Step::Ran;
        }
        Step::Idle
    }

    fn next_descriptor(&mut self, n: usize, at: u64, done: u32) {
        let mut b = [0; 16];
        self.before_access("dma");
        self.mc.read(Unit::Dma, at, &mut b);
        let word = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let transfer = self.transfer(word(0), word(4), word(8));
        let queue = &mut self.dma.channels[n].queue;
        queue.pop_front();
        if word(8) & command::EOL == 0 {
            if done + 1 < MOST {
                queue.push_front(Work::Table {
                    at: at + 16,
                    done: done + 1,
                });
            } else {
                self.notes
                    .lint(Rule::DmaTable, || format!("no end at {at:#x}"));
            }
        }
        self.dma.channels[n].queue.push_front(Work::One(transfer));
    }

    fn dma_move(&mut self, n: usize, mut t: Transfer) {
        let dwords = t.command & (command::DAS | command::SAS | command::DAIC | command::SAIC) != 0;
        let mut budget = if dwords { CHUNK / 16 } else { CHUNK };
        let src_step = if t.command & command::SAIC == 0 { 4 } else { 0 };
        let dst_step = if t.command & command::DAIC == 0 { 4 } else { 0 };
        while t.left > 0 && budget > 0 {
            if dwords {
                let value = self.dma_get(&t);
                self.dma_put(&t, value);
                t.src = t.src.wrapping_add(src_step);
                t.dst = t.dst.wrapping_add(dst_step);
                t.left -= 4;
                budget -= 4;
                continue;
            }
            // Byte by byte, whatever the alignment (§4.1); a page at a time here.
            let len = t.left.min(4096).min(budget);
            let mut b = vec![0; len as usize];
            self.before_access("dma");
            self.mc.read(Unit::Dma, t.src.into(), &mut b);
            self.mc.write(Unit::Dma, t.dst.into(), &b);
            t.src = t.src.wrapping_add(len);
            t.dst = t.dst.wrapping_add(len);
            t.left -= len;
            budget -= len;
        }
        let queue = &mut self.dma.channels[n].queue;
        queue.pop_front();
        if t.left > 0 {
            queue.push_front(Work::One(t));
        } else if t.command & command::EOL != 0 && t.command & command::INTDIS == 0 {
            let bits = [bit::GUI_DMA, bit::VID_DMA];
            self.interrupt(bits[n], "dma");
        }
    }

    fn dma_get(&mut self, t: &Transfer) -> u32 {
        if t.command & command::SAS != 0 {
            self.reg_read(t.src & 0xfffc)
        } else {
            self.mc.read32(Unit::Dma, t.src.into())
        }
    }

    fn dma_put(&mut self, t: &Transfer, value: u32) {
        if t.command & command::DAS != 0 {
            self.reg_write(t.dst & 0xfffc, value, Origin::Dma);
        } else {
            self.mc.write(Unit::Dma, t.dst.into(), &value.to_le_bytes());
        }
    }
}

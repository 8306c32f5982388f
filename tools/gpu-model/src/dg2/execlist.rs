// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Submission: the queue of eight that software fills, the queue that is executed, the switches
//! between contexts and what is reported of them (DG2 PRM Vol 8 "Execution List Submission Port",
//! "Context Status", "Preemption"; bits from the digest, §4.1 and §4.4).

use super::context::TAIL;
use super::core::Core;
use super::engine::{EngineId, Stop};
use super::irq::vector;
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted};
use super::regs::ring;
use crate::counters::Counter;
use crate::fault::Kind;
use crate::trace::Event;

/// Elements of a queue.
pub const ELEMENTS: usize = 8;
/// Entries of the status buffer.
pub const STATUS_ENTRIES: u32 = 12;
/// The reserved context ID.
const IDLE: u64 = 0xffff;

/// EXECLIST_STATUS of an engine that has run something and idles (witness TW01, a real Tiger Lake).
const IDLE_STATUS: u32 = 0x1_8001;

/// Switch details (digest E14).
pub(crate) mod detail {
    pub const COMPLETE: u32 = 0;
    pub const SEMAPHORE: u32 = 4;
    pub const PREEMPTED: u32 = 5;
}

/// A context descriptor (digest §4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor(pub u64);

impl Descriptor {
    /// Bit 0.
    pub fn valid(self) -> bool {
        self.0 & 1 != 0
    }

    /// Bit 2: the image is restored even if the context runs already.
    pub fn force_restore(self) -> bool {
        self.0 & 4 != 0
    }

    /// Bits 4:3; 3 is the 48-bit mode.
    pub fn addressing(self) -> u64 {
        self.0 >> 3 & 3
    }

    /// Bits 31:12: global address of the image.
    pub fn lrca(self) -> u64 {
        self.0 & 0xffff_f000
    }

    /// Bits 54:39: the context's ID.
    pub fn id(self) -> u64 {
        self.0 >> 39 & 0xffff
    }

    /// Bits 63:58: software's counter.
    pub fn counter(self) -> u64 {
        self.0 >> 58
    }
}

/// A queue that is executed from its first element to its last; invalid ones are skipped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    elements: [Descriptor; ELEMENTS],
    next: usize,
}

impl Queue {
    /// The next valid element.
    fn take(&mut self) -> Option<Descriptor> {
        while let Some(d) = self.elements.get(self.next) {
            self.next += 1;
            if d.valid() {
                return Some(*d);
            }
        }
        None
    }
}

/// Builds the status qword (digest §4.4).
fn status(
    instance: u32,
    new_queue: bool,
    away: Option<Descriptor>,
    to: Option<Descriptor>,
    detail: u32,
    wait_mode: bool,
) -> u64 {
    let id = |d: Option<Descriptor>| d.map_or(IDLE, Descriptor::id);
    let counter = |d: Option<Descriptor>| d.map_or(0, Descriptor::counter);
    u64::from(detail)
        | u64::from(instance) << 4
        | id(to) << 10
        | counter(to) << 26
        | u64::from(wait_mode) << 32
        | u64::from(new_queue) << 33
        | id(away) << 42
        | counter(away) << 58
}

impl Core {
    /// True while the engine's mode register has execlists on: bit 3 disables the legacy mode (A5, as
    /// upstream and a real Tiger Lake have it), or bit 15, as the vendor does (witness VW38).
    pub fn execlists(&self, e: EngineId) -> bool {
        self.ering(e, ring::GFX_MODE) & (1 << 3 | 1 << 15) != 0
    }

    /// The port is written: the elements are filled in turn, each by its lower half and its upper (B2;
    /// the order is the vendor's, witness VW46).
    pub fn port_written(&mut self, e: EngineId, data: u32) {
        let half = self.engine(e).port;
        self.engine(e).port = (half + 1) % (2 * ELEMENTS);
        let at = ring::SQ + 4 * half as u32;
        self.set_ering(e, at, data);
    }

    /// EXECLIST_CONTROL is written. Bit 0 samples the submission queue.
    pub fn execlist_control(&mut self, e: EngineId, data: u32) {
        if data & 1 == 0 {
            return;
        }
        if !self.execlists(e) {
            self.notes.lint(Rule::LoadDisabled, || e.name().to_owned());
            return;
        }
        self.notes.count(Counter::Loads);
        self.watch_first_load(e);
        self.engine(e).excused = false;
        if self.engine(e).pending.is_some() {
            self.notes.count(Counter::LoadsUnacknowledged);
        }
        let mut queue = Queue::default();
        for i in 0..ELEMENTS {
            let at = ring::SQ + 8 * i as u32;
            let (low, high) = (self.ering(e, at), self.ering(e, at + 4));
            let d = Descriptor(u64::from(low) | u64::from(high) << 32);
            queue.elements[i] = d;
            if d.valid() {
                self.check_descriptor(e, d);
            }
        }
        self.engine(e).pending = Some(queue);
    }

    fn check_descriptor(&mut self, e: EngineId, d: Descriptor) {
        self.notes.count(Counter::Submissions);
        if d.id() == IDLE {
            self.notes
                .lint(Rule::IdleContextId, || format!("{} {:#x}", e.name(), d.0));
        }
        if d.addressing() != 3 {
            self.notes
                .lint(Rule::AddressingMode, || format!("{} {:#x}", e.name(), d.0));
        }
    }

    /// The engine is idle and a queue is pending: its first element runs.
    pub fn wake_up(&mut self, e: EngineId) -> bool {
        let Some(mut queue) = self.engine(e).pending.take() else {
            return false;
        };
        let first = queue.take();
        self.engine(e).queue = queue;
        if first.is_none() {
            self.notes.lint(Rule::EmptyLoad, || e.name().to_owned());
        }
        self.notes.count(Counter::QueueSwitches);
        self.report_switch(e, true, None, first, detail::COMPLETE, false);
        if let Some(d) = first {
            self.begin(e, d);
        }
        true
    }

    /// The running element is done: its tail is reached.
    pub fn element_done(&mut self, e: EngineId) {
        self.leave(e, detail::COMPLETE, false);
    }

    /// The running element is left: for a newer queue if there is one, else for the next element.
    pub fn leave(&mut self, e: EngineId, why: u32, wait_mode: bool) {
        let Some(away) = self.engine(e).current else {
            return;
        };
        self.engine(e).wait = None;
        let new = self.engine(e).pending.take();
        let new_queue = new.is_some();
        if let Some(queue) = new {
            self.engine(e).queue = queue;
        }
        let to = self.engine(e).queue.take();
        if new_queue {
            self.notes.count(Counter::QueueSwitches);
            let again = to.filter(|d| d.lrca() == away.lrca());
            if let Some(d) = again {
                if !d.force_restore() {
                    self.lite_restore(e, away, d);
                    return;
                }
                // Its tail is the new one, not that which the save would write.
                if self.sample_tail(e, d).is_err() {
                    return;
                }
            }
            if why != detail::COMPLETE && again.is_none() {
                self.notes.count(Counter::Preemptions);
            }
        }
        self.save_context(e, away);
        if self.engine(e).stop != Stop::Running {
            return;
        }
        self.engine(e).current = None;
        // The upper half keeps the last context (TW01).
        self.set_ering(e, ring::EXECLIST_STATUS, IDLE_STATUS);
        self.report_switch(e, new_queue, Some(away), to, why, wait_mode);
        if let Some(d) = to {
            self.begin(e, d);
        }
    }

    /// Handles a load of the running context: only its tail is read again (B12).
    fn lite_restore(&mut self, e: EngineId, away: Descriptor, d: Descriptor) {
        self.notes.count(Counter::LiteRestores);
        if (away.id(), away.counter()) != (d.id(), d.counter()) {
            self.notes.lint(Rule::ContextIdChanged, || {
                format!("{} {:#x} {:#x}", e.name(), away.0, d.0)
            });
        }
        if self.sample_tail(e, d).is_err() {
            return;
        }
        self.engine(e).partial_reported = false;
        self.engine(e).current = Some(d);
        self.show_running(e, d);
        self.report_switch(e, true, Some(away), Some(d), detail::COMPLETE, false);
    }

    /// Reads the tail of an image, at its place in the first list.
    fn sample_tail(&mut self, e: EngineId, d: Descriptor) -> Result<(), Faulted> {
        let tail = self.load32(e, AddressSpace::Ggtt, d.lrca() + 0x1000 + 4 * TAIL as u64)?;
        let size = self.ring_size(e);
        let head = self.ering(e, ring::HEAD) & 0x1f_fffc;
        let held = |tail: u32| tail.wrapping_add(size).wrapping_sub(head) % size;
        let tail = tail & 0x1f_fff8;
        if tail < size && held(tail) < held(self.ering(e, ring::TAIL)) {
            self.notes
                .lint(Rule::TailBackwards, || format!("{} {tail:#x}", e.name()));
        }
        self.set_ering(e, ring::TAIL, tail);
        self.engine(e).fetched.forget();
        Ok(())
    }

    fn begin(&mut self, e: EngineId, d: Descriptor) {
        self.engine(e).current = Some(d);
        self.engine(e).work_begins = true;
        self.show_running(e, d);
        self.restore_context(e, d);
    }

    fn show_running(&mut self, e: EngineId, d: Descriptor) {
        // Of the low half only that something runs is known (E21).
        self.set_ering(e, ring::EXECLIST_STATUS, 1);
        self.set_ering(e, ring::EXECLIST_STATUS_HI, (d.0 >> 32) as u32);
        self.set_ering(e, ring::CURRENT_LRCA, d.lrca() as u32);
    }

    /// A status: entry, then write pointer, then interrupt.
    fn report_switch(
        &mut self,
        e: EngineId,
        new_queue: bool,
        away: Option<Descriptor>,
        to: Option<Descriptor>,
        why: u32,
        wait_mode: bool,
    ) {
        // Which bit masks which reason is not known: all ones masks all (E3).
        if self.ering(e, ring::CSB_INTERRUPT_MASK) == !0 {
            return;
        }
        let entry = status(e.instance(), new_queue, away, to, why, wait_mode);
        self.notes.count(Counter::StatusEntries);
        self.notes.record(|| Event::Switch {
            engine: e.name(),
            status: entry,
        });
        let pointer = self.ering(e, ring::CSB_POINTER);
        if pointer & 0xf >= STATUS_ENTRIES {
            self.notes
                .lint(Rule::StatusPointer, || format!("{} {pointer:#x}", e.name()));
        }
        let index = if pointer & 0xf >= STATUS_ENTRIES - 1 {
            0
        } else {
            (pointer & 0xf) + 1
        };
        let stored = match self.notes.inject(Kind::Garbage, e.name()) {
            Some(_) => self.notes.random(),
            None => entry,
        };
        let base = self.cfg.status_base;
        self.status_page_store(e, 4 * (base + 2 * index), &stored.to_le_bytes());
        self.status_page_store(e, 4 * (base + 31), &index.to_le_bytes());
        let mirror = match index {
            0..=5 => ring::CSB_LOW + 8 * index,
            _ => ring::CSB_HIGH + 8 * (index - 6),
        };
        self.set_ering(e, mirror, stored as u32);
        self.set_ering(e, mirror + 4, (stored >> 32) as u32);
        self.set_ering(e, ring::CSB_POINTER, pointer & !0xf | index);
        self.event(e, vector::SWITCH);
    }

    /// Stores into the global status page; dropped and reported if there is none (H1).
    pub fn status_page_store(&mut self, e: EngineId, offset: u32, data: &[u8]) {
        let page = self.ering(e, ring::HWS_PGA);
        let pte = self.mem.ggtt.get(u64::from(page >> 12));
        let place = pte.address() + u64::from(offset);
        let at = match (pte.present(), pte.local()) {
            (true, true) => Some(super::mem::Phys::Local(place)),
            (true, false) => Some(super::mem::Phys::System(place)),
            (false, _) => None,
        };
        let done = page != 0 && at.is_some_and(|at| self.mem.write(at, data));
        if !done {
            self.notes
                .lint(Rule::StatusPage, || format!("{} {page:#x}", e.name()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: u64) -> Option<Descriptor> {
        Some(Descriptor(id << 39 | 1))
    }

    #[test]
    fn status_words_of_digest_4_4() {
        // The three encodings that the digest prints, with contexts 1 and 2.
        assert_eq!(
            status(0, true, None, of(1), 0, false),
            0x03ff_fc02_0000_0400
        );
        assert_eq!(
            status(0, false, of(1), None, 0, false),
            0x0000_0400_03ff_fc00
        );
        assert_eq!(
            status(0, true, of(2), of(2), 0, false),
            0x0000_0802_0000_0800
        );
        // Preempted: detail 5. A semaphore in signal mode: detail 4, bit 32.
        assert_eq!(
            status(0, true, of(1), of(2), 5, false),
            0x0000_0402_0000_0805
        );
        assert_eq!(
            status(2, false, of(1), of(2), 4, true),
            0x0000_0401_0000_0824
        );
    }

    #[test]
    fn descriptors_of_digest_4_1() {
        let d = Descriptor(0xa800_0080_0123_4119);
        assert!(d.valid() && !d.force_restore());
        assert_eq!((d.addressing(), d.lrca()), (3, 0x0123_4000));
        assert_eq!((d.id(), d.counter()), (1, 0x2a));
    }

    #[test]
    fn invalid_elements_are_skipped() {
        let mut q = Queue::default();
        q.elements[1] = Descriptor(1 << 39 | 1);
        q.elements[7] = Descriptor(2 << 39 | 1);
        assert_eq!(q.take().map(Descriptor::id), Some(1));
        assert_eq!(q.take().map(Descriptor::id), Some(2));
        assert_eq!(q.take(), None);
        assert_eq!(q.take(), None);
    }
}

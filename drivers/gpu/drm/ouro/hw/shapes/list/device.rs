// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device: an execlist port, which reports events of the contexts in its list, and a parser.

use super::super::{Memory, Parser};
use super::{DEPTH, ELEMENTS, EVENTS, HEAD, LOAD, RING, RING_BYTES, STATE, TAIL};
use crate::io::Registers;
use std::{cell::RefCell, collections::VecDeque};

pub(super) struct Device<'a> {
    memory: &'a Memory,
    status: u32,
    elements: RefCell<[u64; DEPTH as usize]>,
    queue: RefCell<VecDeque<(u32, u32)>>,
    running: RefCell<Option<(u32, u32)>>,
    pending_load: RefCell<bool>,
    last: RefCell<u32>,
    parser: RefCell<Parser>,
}

impl Registers for Device<'_> {
    fn read32(&self, _offset: u32) -> u32 {
        panic!("nothing is read");
    }
    fn write32(&self, offset: u32, value: u32) {
        assert_eq!((offset, value), (LOAD, 1));
        let elements = *self.elements.borrow();
        *self.queue.borrow_mut() = elements
            .iter()
            .filter(|e| **e & 1 != 0)
            .map(|e| ((e >> 39) as u32, *e as u32 & 0xffff_f000))
            .collect();
        *self.pending_load.borrow_mut() = true;
    }
    fn write64(&self, offset: u32, value: u64) {
        self.elements.borrow_mut()[(offset - ELEMENTS) as usize / 8] = value;
    }
}

impl<'a> Device<'a> {
    pub(super) fn new(memory: &'a Memory, status: u32) -> Self {
        memory.set(status + EVENTS.last_at, u32::from(EVENTS.entries) - 1);
        Self {
            memory,
            status,
            elements: RefCell::default(),
            queue: RefCell::default(),
            running: RefCell::default(),
            pending_load: RefCell::default(),
            last: RefCell::new(u32::from(EVENTS.entries) - 1),
            parser: RefCell::default(),
        }
    }

    fn report(&self, from: u32, to: u32, finished: bool, new_list: bool) {
        let mut last = self.last.borrow_mut();
        *last = (*last + 1) % u32::from(EVENTS.entries);
        let at = self.status + EVENTS.at + 8 * *last;
        let flags = u32::from(finished) | u32::from(new_list) << 1;
        self.memory.put(at, &[from | to << 16, flags]);
        self.memory.set(self.status + EVENTS.last_at, *last);
        self.parser.borrow_mut().interrupts += 1;
    }

    /// Saves the running context and loads the next one.
    fn switch(&self, finished: bool) {
        let new_list = core::mem::take(&mut *self.pending_load.borrow_mut());
        let old = self.running.take();
        let next = self.queue.borrow_mut().pop_front();
        if let Some((_, image)) = old {
            self.memory.set(image + STATE, self.parser.borrow().state);
        }
        if let Some((_, image)) = next {
            self.parser.borrow_mut().state = self.memory.get(image + STATE);
        }
        *self.running.borrow_mut() = next;
        let id = |c: Option<(u32, u32)>| c.map_or(0, |(id, _)| id);
        self.report(id(old), id(next), finished, new_list);
    }

    /// Executes at most `commands` commands.
    pub(super) fn run(&self, mut commands: u32) {
        loop {
            if *self.pending_load.borrow() {
                let finished = self.running.borrow().is_none();
                self.switch(finished);
            }
            let Some((_, image)) = *self.running.borrow() else {
                return;
            };
            let head = self.memory.get(image + HEAD);
            if head == self.memory.get(image + TAIL) {
                self.switch(true);
                continue;
            }
            if commands == 0 {
                return;
            }
            commands -= 1;
            let ring = self.memory.get(image + RING);
            let taken = self.parser.borrow_mut().step(self.memory, ring + head);
            self.memory
                .set(image + HEAD, (head + 4 * taken) % RING_BYTES);
        }
    }
}

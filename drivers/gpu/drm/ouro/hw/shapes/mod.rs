// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Invented chips that test the traits: they use the parts of the traits that a chip with rings
//! only does not need.
//!
//! [`list`] has an execlist port of eight contexts, each with its own ring, context images that are
//! released by an event, a PPGTT of several levels for each context, and local memory. [`bare`] has
//! one ring and no contexts: the known state is set before every batch, and every batch is a
//! checked copy. [`guarded`] drops more commands of unprivileged batches than it must: one of its
//! engines has a checker, and a batch that passes runs with privilege. [`directories`] has requests
//! that load the page directory of their client's address space. [`no_llc`] does not snoop the
//! CPU's caches. The tests drive each chip as the core does: through the traits only.

mod bare;
mod directories;
mod guarded;
mod list;
mod no_llc;

use crate::types::PAGE_SIZE;
use std::{cell::RefCell, vec, vec::Vec};

/// Memory that CPU and device share. Addresses in the global table are addresses in it.
struct Memory(RefCell<Vec<u32>>);

impl Memory {
    fn new(pages: u32) -> Self {
        Self(RefCell::new(vec![0; (pages * PAGE_SIZE / 4) as usize]))
    }

    fn get(&self, addr: u32) -> u32 {
        self.0.borrow()[addr as usize / 4]
    }

    fn set(&self, addr: u32, value: u32) {
        self.0.borrow_mut()[addr as usize / 4] = value;
    }

    fn put(&self, addr: u32, dwords: &[u32]) {
        for (n, dword) in dwords.iter().enumerate() {
            self.set(addr + 4 * n as u32, *dword);
        }
    }
}

/// The commands of both chips.
mod op {
    /// Nothing.
    pub(super) const NOOP: u32 = 0;
    /// Stores the second dword that follows at the address in the first one.
    pub(super) const STORE: u32 = 1 << 24;
    /// Runs so many dwords (bits 23:0) at the address that follows.
    pub(super) const CALL: u32 = 2 << 24;
    /// Raises the interrupt.
    pub(super) const INTERRUPT: u32 = 3 << 24;
    /// Sets the engine's state to the dword that follows.
    pub(super) const STATE: u32 = 4 << 24;
    /// Stores the state at the address that follows.
    pub(super) const STORE_STATE: u32 = 5 << 24;
}

/// State of an interpreter of these commands.
#[derive(Default)]
struct Parser {
    state: u32,
    interrupts: u32,
}

impl Parser {
    /// Executes a command; returns the dwords that it took.
    fn step(&mut self, memory: &Memory, at: u32) -> u32 {
        let header = memory.get(at);
        match header & 0xff00_0000 {
            op::NOOP => 1,
            op::STORE => {
                memory.set(memory.get(at + 4), memory.get(at + 8));
                3
            }
            op::CALL => {
                self.run(memory, memory.get(at + 4), header & 0xff_ffff);
                2
            }
            op::INTERRUPT => {
                self.interrupts += 1;
                1
            }
            op::STATE => {
                self.state = memory.get(at + 4);
                2
            }
            op::STORE_STATE => {
                memory.set(memory.get(at + 4), self.state);
                2
            }
            _ => panic!("no command {header:x} at {at:x}"),
        }
    }

    fn run(&mut self, memory: &Memory, start: u32, dwords: u32) {
        let mut at = 0;
        while at < dwords {
            at += self.step(memory, start + 4 * at);
        }
        assert_eq!(at, dwords, "a batch ends with a command");
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Memory, the CPU's cache before it, the chipset behind both, and the engine that executes what it
//! finds in memory.

use super::{op, RESETTING, RESET_BYTE, RING_BYTES, STATUS, TABLE, TAIL};
use crate::{
    io::{Platform, Registers},
    mock::{Access, Mock},
    types::{DmaAddr, PAGE_SIZE},
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    vec,
    vec::Vec,
};

/// Memory by bus address, the CPU's cache before it, and the chipset's buffers between both and the
/// device.
#[derive(Default)]
pub(super) struct NoLlcMachine {
    /// Memory as the device reads it, by bus address.
    memory: RefCell<BTreeMap<u64, u32>>,
    /// Writes that the chipset has not put into memory yet.
    buffers: RefCell<Vec<(u64, u32)>>,
    /// Lines of the CPU's cache, which never writes back by itself.
    cache: RefCell<BTreeMap<u64, u32>>,
    /// Entries of the GGTT: the bus address of each page, and whether the device snoops.
    pub(super) table: RefCell<BTreeMap<u32, u64>>,
    pub(super) registers: RefCell<BTreeMap<u32, u32>>,
    /// Registers that were read.
    pub(super) reads: Cell<u32>,
    head: Cell<u32>,
    /// Registers and flushes, in their order.
    pub(super) order: RefCell<Vec<Access>>,
    pub(super) mock: Mock,
}

/// A page of the kernel's own, as the CPU has it.
#[derive(Clone, Copy)]
pub(super) struct CpuPage {
    pub(super) at: u64,
    pub(super) write_combined: bool,
}

impl NoLlcMachine {
    pub(super) fn write(&self, page: CpuPage, offset: u32, value: u32) {
        let at = page.at + u64::from(offset);
        match page.write_combined {
            true => self.buffers.borrow_mut().push((at, value)),
            false => drop(self.cache.borrow_mut().insert(at, value)),
        }
    }

    pub(super) fn read(&self, page: CpuPage, offset: u32) -> u32 {
        let at = page.at + u64::from(offset);
        let cached = self.cache.borrow().get(&at).copied();
        let memory = self.memory.borrow().get(&at).copied().unwrap_or(0);
        match page.write_combined {
            true => memory,
            false => cached.unwrap_or(memory),
        }
    }

    /// Returns the dword that the device reads at a GGTT address.
    fn fetch(&self, addr: u32) -> u32 {
        assert_eq!(
            self.registers.borrow().get(&TABLE),
            Some(&1),
            "the table is off"
        );
        let entry = self.table.borrow().get(&(addr / PAGE_SIZE)).copied();
        let entry = entry.expect("an entry");
        assert_eq!(entry & 7, 1, "commands are not snooped");
        let at = (entry & !0xfff) + u64::from(addr % PAGE_SIZE);
        self.memory.borrow().get(&at).copied().unwrap_or(0)
    }

    /// A write of the device at a bus address: it invalidates the CPU's cache line.
    fn post(&self, at: u64, value: u32) {
        self.cache.borrow_mut().remove(&at);
        self.memory.borrow_mut().insert(at, value);
    }

    /// The engine runs up to its tail. Returns whether batches had privilege.
    pub(super) fn run(&self, ring: u32) -> Vec<bool> {
        let mut privileged = vec![];
        let tail = self.registers.borrow().get(&TAIL).copied().unwrap_or(0);
        while self.head.get() != tail {
            let at = ring + self.head.get();
            let header = self.fetch(at);
            let len = match header & 0xff00_0000 {
                op::CALL => {
                    privileged.push(header & 1 << 16 == 0);
                    2
                }
                op::STORE => {
                    let status = self.registers.borrow()[&STATUS];
                    let page = self.table.borrow().get(&(status / PAGE_SIZE)).copied();
                    let page = page.map_or(status.into(), |entry| entry & !0xfff);
                    let offset = self.fetch(at + 4);
                    self.post(page + u64::from(offset), self.fetch(at + 8));
                    3
                }
                _ => 1,
            };
            self.head.set((self.head.get() + 4 * len) % RING_BYTES);
        }
        privileged
    }
}

impl Registers for NoLlcMachine {
    fn read32(&self, offset: u32) -> u32 {
        self.reads.set(self.reads.get() + 1);
        self.registers.borrow().get(&offset).copied().unwrap_or(0)
    }
    fn write32(&self, offset: u32, value: u32) {
        self.order.borrow_mut().push(Access::W(offset, value));
        self.registers.borrow_mut().insert(offset, value);
    }
    fn write64(&self, _offset: u32, _value: u64) {
        panic!("there are no such registers");
    }
}

impl Platform for NoLlcMachine {
    fn config32(&self, offset: u16) -> u32 {
        self.mock.config32(offset)
    }
    fn config_write8(&self, offset: u16, value: u8) {
        if offset == RESET_BYTE && value == RESETTING {
            // All registers, the table's and the fences' among them.
            self.registers.borrow_mut().clear();
            self.head.set(0);
        }
        self.mock.config_write8(offset, value);
    }
    fn bridge32(&self, offset: u16) -> u32 {
        self.mock.bridge32(offset)
    }
    fn bridge_write32(&self, offset: u16, value: u32) {
        self.mock.bridge_write32(offset, value);
    }
    fn flush_page(&self, at: Option<DmaAddr>) -> Option<DmaAddr> {
        self.mock.flush_page(at)
    }
    fn flush_chipset(&self) {
        self.order.borrow_mut().push(Access::FlushChipset);
        self.memory.borrow_mut().extend(self.buffers.take());
    }
    fn bar_len(&self, bar: u8) -> u64 {
        match bar {
            2 => 256 << 20,
            _ => 1 << 20,
        }
    }
    fn iommu(&self) -> bool {
        false
    }
    fn set_master(&self, _on: bool) {}
    fn warn(&self, what: &'static str) {
        panic!("{what}");
    }
}

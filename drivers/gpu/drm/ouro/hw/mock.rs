// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A mock device: registers that record the accesses and their order.
//!
//! It knows no chip. A test sets what a register reads; a write changes that, unless the test fixed
//! the value.

use crate::{
    engine::{EngineMemory, StatusPage},
    fence_regs::{FenceRegion, Tiling},
    io::{AtomicWait, Hw, Platform, Registers, SleepWait, Timeout},
    types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page},
};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

/// Where an engine has its memory: what tests of requests and of starting take, if nothing is said.
pub(crate) const MEMORY: EngineMemory = EngineMemory {
    ring: GgttAddr(0x0001_0000),
    status: StatusPage::Ggtt(GgttAddr(0x0002_0000)),
    scratch: GgttAddr(0x0003_0000),
    directory: None,
    card: 0,
};

/// Returns a page of system memory.
pub(crate) const fn page(addr: u64, cache: CacheLevel) -> Page {
    Page {
        addr: DmaAddr(addr),
        memory: MemoryKind::System,
        cache,
    }
}

/// Returns a region for a fence or surface register.
pub(crate) const fn region(start: u32, len: u32, stride: u32, tiling: Tiling) -> FenceRegion {
    FenceRegion {
        start: GgttAddr(start),
        len,
        stride,
        tiling,
    }
}

/// One access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// A read of 32 bits.
    R(u32),
    /// A write of 32 bits.
    W(u32, u32),
    /// A write of 64 bits.
    W64(u32, u64),
    /// A pause of so many microseconds.
    Pause(u32),
    /// Bus mastering was enabled or disabled.
    Master(bool),
    /// A write of 8 bits of configuration space.
    Config(u16, u8),
    /// A write of 32 bits of the host bridge's configuration space.
    Bridge(u16, u32),
    /// A chipset flush.
    FlushChipset,
}

/// The mock device, its platform and its clock.
#[derive(Default)]
pub(crate) struct Mock {
    log: RefCell<Vec<Access>>,
    values: RefCell<BTreeMap<u32, u32>>,
    scripts: RefCell<BTreeMap<u32, VecDeque<u32>>>,
    fixed: RefCell<BTreeSet<u32>>,
    config: RefCell<BTreeMap<u16, u32>>,
    bridge: RefCell<BTreeMap<u16, u32>>,
    /// Address of the chipset flush page, once it is mapped.
    flush_page: Cell<Option<DmaAddr>>,
    /// Size of the aperture's BAR in bytes.
    pub(crate) aperture: Cell<u64>,
    /// Size of the VRAM's BAR in bytes.
    pub(crate) memory: Cell<u64>,
    /// The microcode.
    pub(crate) firmware: Vec<u8>,
    /// Whether there is an IOMMU.
    pub(crate) iommu: Cell<bool>,
    /// Whether contexts must share a PPGTT.
    pub(crate) shares_ppgtt: Cell<bool>,
    /// Whether the device is gone: it reads all ones.
    pub(crate) gone: Cell<bool>,
    /// Warnings logged.
    pub(crate) warned: RefCell<Vec<&'static str>>,
}

/// A free page on the bus.
pub(crate) const FREE_PAGE: DmaAddr = DmaAddr(0xdf00_0000);

/// Number of polls before a wait times out.
const LOOKS: usize = 4;

impl Mock {
    /// Sets what a register reads until it is written.
    pub(crate) fn set(&self, offset: u32, value: u32) {
        self.values.borrow_mut().insert(offset, value);
    }

    /// Sets what a register reads, whatever is written.
    pub(crate) fn fix(&self, offset: u32, value: u32) {
        self.set(offset, value);
        self.fixed.borrow_mut().insert(offset);
    }

    /// Sets the results of a register's next reads; they come before values set or written.
    pub(crate) fn script(&self, offset: u32, values: &[u32]) {
        self.scripts
            .borrow_mut()
            .insert(offset, values.iter().copied().collect());
    }

    /// Sets what configuration space reads.
    pub(crate) fn config(&self, offset: u16, value: u32) {
        self.config.borrow_mut().insert(offset, value);
    }

    /// Sets what the host bridge's configuration space reads.
    pub(crate) fn bridge(&self, offset: u16, value: u32) {
        self.bridge.borrow_mut().insert(offset, value);
    }

    /// Returns the accesses since the last call.
    pub(crate) fn take(&self) -> Vec<Access> {
        self.log.take()
    }

    /// Returns the values written to a register since the last call of `take`.
    pub(crate) fn written(&self, offset: u32) -> Vec<u32> {
        self.log
            .borrow()
            .iter()
            .filter_map(|a| match a {
                Access::W(o, v) if *o == offset => Some(*v),
                _ => None,
            })
            .collect()
    }

    /// Returns the device as a backend accesses it. The GGTT's window is the same registers.
    pub(crate) fn hw(&self) -> Hw<'_> {
        Hw {
            regs: self,
            gtt: self,
            platform: self,
            firmware: &self.firmware,
            card: 0,
        }
    }
}

impl Registers for Mock {
    fn read32(&self, offset: u32) -> u32 {
        self.log.borrow_mut().push(Access::R(offset));
        if self.gone.get() {
            return u32::MAX;
        }
        let next = self
            .scripts
            .borrow_mut()
            .get_mut(&offset)
            .and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| self.values.borrow().get(&offset).copied().unwrap_or(0))
    }

    fn write32(&self, offset: u32, value: u32) {
        self.log.borrow_mut().push(Access::W(offset, value));
        if !self.fixed.borrow().contains(&offset) {
            self.set(offset, value);
        }
    }

    fn write64(&self, offset: u32, value: u64) {
        self.log.borrow_mut().push(Access::W64(offset, value));
    }
}

impl Platform for Mock {
    fn config32(&self, offset: u16) -> u32 {
        self.config.borrow().get(&offset).copied().unwrap_or(0)
    }

    fn config_write8(&self, offset: u16, value: u8) {
        self.log.borrow_mut().push(Access::Config(offset, value));
        let shift = 8 * (offset & 3);
        let mut config = self.config.borrow_mut();
        let dword = config.entry(offset & !3).or_default();
        *dword = *dword & !(0xff << shift) | u32::from(value) << shift;
    }

    fn bridge32(&self, offset: u16) -> u32 {
        self.bridge.borrow().get(&offset).copied().unwrap_or(0)
    }

    fn bridge_write32(&self, offset: u16, value: u32) {
        self.log.borrow_mut().push(Access::Bridge(offset, value));
        self.bridge.borrow_mut().insert(offset, value);
    }

    fn flush_page(&self, at: Option<DmaAddr>) -> Option<DmaAddr> {
        let open = self.flush_page.get().or(at);
        self.flush_page.set(open.or(Some(FREE_PAGE)));
        self.flush_page.get()
    }

    fn flush_chipset(&self) {
        if self.flush_page.get().is_some() {
            self.log.borrow_mut().push(Access::FlushChipset);
        }
    }

    fn bar_len(&self, bar: u8) -> u64 {
        match bar {
            0 => self.memory.get(),
            2 => self.aperture.get(),
            _ => 0,
        }
    }

    fn iommu(&self) -> bool {
        self.iommu.get()
    }

    fn shares_ppgtt(&self) -> bool {
        self.shares_ppgtt.get()
    }

    fn set_master(&self, on: bool) {
        self.log.borrow_mut().push(Access::Master(on));
    }

    fn warn(&self, what: &'static str) {
        self.warned.borrow_mut().push(what);
    }
}

impl AtomicWait for Mock {
    fn spin(&self, _micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        if (0..LOOKS).any(|_| done()) {
            Ok(())
        } else {
            Err(Timeout)
        }
    }
}

impl SleepWait for Mock {
    fn poll(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        self.spin(micros, done)
    }

    fn pause(&self, micros: u32) {
        self.log.borrow_mut().push(Access::Pause(micros));
    }
}

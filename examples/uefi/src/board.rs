// SPDX-License-Identifier: GPL-2.0
//! The device as firmware shows it: configuration space and base address registers, by the protocol of the root bridge.

use alloc::vec;
use core::{cell::RefCell, time::Duration};
use ouro_hw::{
    generation::Window,
    io::{AtomicWait, Platform, Registers, SleepWait, Timeout},
};
use uefi::{
    boot::{self, OpenProtocolAttributes, OpenProtocolParams, ScopedProtocol},
    println,
    proto::pci::{root_bridge::PciRootBridgeIo, PciIoAddress},
    Status,
};

/// The class of display controllers, in the upper byte of dword 08h.
const DISPLAY: u32 = 3;
/// The command register: memory space, mastering of the bus.
const COMMAND: u16 = 4;
const MEMORY: u8 = 1 << 1;
const MASTER: u8 = 1 << 2;

/// A device on the first bus, and the host bridge.
pub struct Board {
    bridge: RefCell<ScopedProtocol<PciRootBridgeIo>>,
    at: PciIoAddress,
    /// Its vendor.
    pub vendor: u16,
    /// Its device id.
    pub device: u16,
    bars: [(u64, u64); 6],
}

impl Board {
    /// Finds a vendor's display controller, and has it answer in memory space.
    pub fn find(vendor: u16) -> uefi::Result<Self> {
        let handle = boot::get_handle_for_protocol::<PciRootBridgeIo>()?;
        let params = OpenProtocolParams {
            handle,
            agent: boot::image_handle(),
            controller: None,
        };
        // SAFETY: it is not taken from the bus's own driver, whose disk and console are in use; nobody else runs.
        let bridge = unsafe { boot::open_protocol(params, OpenProtocolAttributes::GetProtocol)? };
        let mut board = Self {
            bridge: RefCell::new(bridge),
            at: PciIoAddress::new(0, 0, 0),
            vendor,
            device: 0,
            bars: [(0, 0); 6],
        };
        for dev in 0..32 {
            board.at = PciIoAddress::new(0, dev, 0);
            let id = board.config32(0);
            if id as u16 == vendor && board.config32(8) >> 24 == DISPLAY {
                board.device = (id >> 16) as u16;
                board.size();
                board.set_master(false);
                return Ok(board);
            }
        }
        Err(Status::NOT_FOUND.into())
    }

    fn config_write32(&self, offset: u16, value: u32) {
        let at = self.at.with_register(offset as u8);
        let _ = self.bridge.borrow_mut().pci().write_one(at, value);
    }

    /// Finds where the base address registers are and how large: ones are written, and zeros stay where it has no bits.
    fn size(&mut self) {
        self.config_write8(COMMAND, 0);
        let mut bar = 0;
        while bar < 6 {
            let at = 0x10 + 4 * bar as u16;
            let low = self.config32(at);
            let wide = low & 7 == 4;
            let high = if wide { self.config32(at + 4) } else { 0 };
            self.config_write32(at, !0);
            let mut mask = u64::from(self.config32(at) & !0xf) | !0 << 32;
            self.config_write32(at, low);
            if wide {
                self.config_write32(at + 4, !0);
                mask = mask & 0xffff_ffff | u64::from(self.config32(at + 4)) << 32;
                self.config_write32(at + 4, high);
            }
            // Not one of I/O space.
            if low & 1 == 0 && mask as u32 != 0 {
                self.bars[bar] = (u64::from(high) << 32 | u64::from(low & !0xf), !mask + 1);
            }
            bar += if wide { 2 } else { 1 };
        }
    }
}

impl Platform for Board {
    fn config32(&self, offset: u16) -> u32 {
        let at = self.at.with_register(offset as u8);
        self.bridge.borrow_mut().pci().read_one(at).unwrap_or(!0)
    }
    fn config_write8(&self, offset: u16, value: u8) {
        let at = self.at.with_register(offset as u8);
        let _ = self.bridge.borrow_mut().pci().write_one(at, value);
    }
    fn bridge32(&self, offset: u16) -> u32 {
        let at = PciIoAddress::new(0, 0, 0).with_register(offset as u8);
        self.bridge.borrow_mut().pci().read_one(at).unwrap_or(!0)
    }
    fn bar_len(&self, bar: u8) -> u64 {
        self.bars.get(usize::from(bar)).map_or(0, |b| b.1)
    }
    /// Said to be there, so that the backend uses the GGTT alone: this program makes no directory.
    fn iommu(&self) -> bool {
        true
    }
    fn set_master(&self, on: bool) {
        self.config_write8(COMMAND, if on { MEMORY | MASTER } else { MEMORY });
    }
    fn warn(&self, what: &'static str) {
        println!("warning: {what}");
    }
}

impl Board {
    fn look(&self, micros: u32, step: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        let mut passed = 0;
        loop {
            if done() {
                return Ok(());
            }
            if passed >= micros {
                return Err(Timeout);
            }
            boot::stall(Duration::from_micros(step.into()));
            passed += step;
        }
    }
}

impl AtomicWait for Board {
    fn spin(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        self.look(micros, 1, done)
    }
}

impl SleepWait for Board {
    fn poll(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        self.look(micros, 100, done)
    }
    fn pause(&self, micros: u32) {
        boot::stall(Duration::from_micros(micros.into()));
    }
}

/// A part of a base address register's memory.
pub struct Bar<'a> {
    board: &'a Board,
    start: u64,
    len: u32,
}

impl<'a> Bar<'a> {
    /// The part that a backend wants.
    pub fn new(board: &'a Board, window: Window) -> Self {
        let (base, whole) = *board.bars.get(usize::from(window.bar)).unwrap_or(&(0, 0));
        // A length of 0: up to the end.
        let len = match window.len {
            0 => whole.saturating_sub(window.start.into()) as u32,
            len => len,
        };
        Self {
            board,
            start: base + u64::from(window.start),
            len,
        }
    }

    /// Writes the same dword to the first so many places.
    pub fn fill(&self, count: u32, value: u32) {
        let dwords = vec![value; count.min(self.len / 4) as usize];
        let _ = self
            .board
            .bridge
            .borrow_mut()
            .memory()
            .write(self.start, &dwords);
    }
}

impl Registers for Bar<'_> {
    fn read32(&self, offset: u32) -> u32 {
        let at = self.start + u64::from(offset);
        let read = |at| self.board.bridge.borrow_mut().memory().read_one(at);
        if offset < self.len {
            read(at).unwrap_or(!0)
        } else {
            !0
        }
    }
    fn write32(&self, offset: u32, value: u32) {
        if offset < self.len {
            let at = self.start + u64::from(offset);
            let _ = self.board.bridge.borrow_mut().memory().write_one(at, value);
        }
    }
    fn write64(&self, offset: u32, value: u64) {
        if offset < self.len {
            let at = self.start + u64::from(offset);
            let _ = self.board.bridge.borrow_mut().memory().write_one(at, value);
        }
    }
}

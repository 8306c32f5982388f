// SPDX-License-Identifier: GPL-2.0
//! The model as a backend wants to see it: windows, surroundings, time.

use gpu_model::{model::IrqSink, snb::Snb};
use ouro_hw::io::{AtomicWait, Hw, Platform, Registers, SleepWait, Timeout};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The register window.
pub struct Regs(pub std::sync::Arc<Snb>);

impl Registers for Regs {
    fn read32(&self, offset: u32) -> u32 {
        self.0.mmio_read32(offset)
    }
    fn write32(&self, offset: u32, value: u32) {
        self.0.mmio_write32(offset, value);
    }
    fn write64(&self, offset: u32, value: u64) {
        self.0.mmio_write64(offset, value);
    }
}

/// The table's window.
pub struct Table(pub std::sync::Arc<Snb>);

impl Registers for Table {
    fn read32(&self, offset: u32) -> u32 {
        self.0.gtt_read(offset / 4)
    }
    fn write32(&self, offset: u32, value: u32) {
        self.0.gtt_write(offset / 4, value);
    }
    fn write64(&self, offset: u32, value: u64) {
        self.0.gtt_write(offset / 4, value as u32);
        self.0.gtt_write(offset / 4 + 1, (value >> 32) as u32);
    }
}

/// The board: configuration space, sizes of windows, an IOMMU or none.
pub struct Board {
    /// The device.
    pub gpu: std::sync::Arc<Snb>,
    /// Bytes of its aperture.
    pub aperture: u64,
    /// Whether an IOMMU is said to be there.
    pub iommu: bool,
}

impl Platform for Board {
    fn config32(&self, offset: u16) -> u32 {
        let mut dword = [0; 4];
        self.gpu.config_read_at(offset.into(), &mut dword);
        u32::from_le_bytes(dword)
    }
    fn bridge32(&self, _offset: u16) -> u32 {
        0
    }
    fn bar_len(&self, bar: u8) -> u64 {
        match bar {
            0 => 4 << 20,
            2 => self.aperture,
            _ => 0,
        }
    }
    fn iommu(&self) -> bool {
        self.iommu
    }
}

/// Time: the model's clock, moved on by whoever waits.
pub struct Time(pub std::sync::Arc<Snb>);

/// How often a wait looks; the clock moves on by a share of its limit each time.
const LOOKS: u64 = 100;

impl Time {
    fn advance(&self, ns: u64) {
        let clock = self.0.clock();
        clock.advance_to(clock.now() + ns);
    }

    fn look(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        for _ in 0..LOOKS {
            if done() {
                return Ok(());
            }
            self.advance(u64::from(micros) * 1000 / LOOKS);
        }
        Err(Timeout)
    }
}

impl AtomicWait for Time {
    fn spin(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        self.look(micros, done)
    }
}

impl SleepWait for Time {
    fn poll(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        self.look(micros, done)
    }
    fn pause(&self, micros: u32) {
        self.advance(u64::from(micros) * 1000);
    }
}

/// The interrupt line's end: counts messages, and knows the level.
#[derive(Default)]
pub struct Line {
    messages: AtomicU64,
    level: AtomicBool,
}

impl Line {
    /// Messages so far.
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::SeqCst)
    }
    /// The level.
    pub fn level(&self) -> bool {
        self.level.load(Ordering::SeqCst)
    }
}

impl IrqSink for Line {
    fn set_line(&self, asserted: bool) {
        self.level.store(asserted, Ordering::SeqCst);
        if asserted {
            self.messages.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// All of it, as one thing.
pub struct Windows {
    /// Registers.
    pub regs: Regs,
    /// The table.
    pub table: Table,
    /// The board.
    pub board: Board,
}

impl Windows {
    /// As a backend takes it.
    pub fn hw(&self) -> Hw<'_> {
        Hw {
            regs: &self.regs,
            gtt: &self.table,
            platform: &self.board,
            firmware: &[],
        }
    }
}

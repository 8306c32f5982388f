// SPDX-License-Identifier: GPL-2.0
//! The model as a backend wants to see it: windows, surroundings, time.

use gpu_model::{
    clock::Clock,
    dg2::Dg2,
    model::{GpuModel, IrqSink},
    r5xx::R5xx,
    ring::RingGpu,
};
use ouro_hw::io::{AtomicWait, Hw, Platform, Registers, SleepWait, Timeout};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What the adapter needs of a model, beside what all of them have.
pub trait Device: GpuModel {
    /// Reads a register.
    fn read(&self, offset: u32) -> u32;
    /// Writes a register.
    fn write(&self, offset: u32, value: u32);
    /// Writes two registers at once.
    fn write_long(&self, offset: u32, value: u64);
    /// Reads a dword of the table's window.
    fn table_read(&self, offset: u32) -> u32;
    /// Writes a dword of the table's window.
    fn table_write(&self, offset: u32, value: u32);
    /// Writes a quadword of the table's window.
    fn table_write_long(&self, offset: u32, value: u64) {
        self.table_write(offset, value as u32);
        self.table_write(offset + 4, (value >> 32) as u32);
    }
    /// Its clock.
    fn time(&self) -> &Clock;
}

impl Device for RingGpu {
    fn read(&self, offset: u32) -> u32 {
        self.mmio_read32(offset)
    }
    fn write(&self, offset: u32, value: u32) {
        self.mmio_write32(offset, value);
    }
    fn write_long(&self, offset: u32, value: u64) {
        self.mmio_write64(offset, value);
    }
    fn table_read(&self, offset: u32) -> u32 {
        self.gtt_read(offset / 4)
    }
    fn table_write(&self, offset: u32, value: u32) {
        self.gtt_write(offset / 4, value);
    }
    fn time(&self) -> &Clock {
        self.clock()
    }
}

/// The table is the first thing in the card's memory.
impl Device for R5xx {
    fn read(&self, offset: u32) -> u32 {
        self.mmio_read32(offset)
    }
    fn write(&self, offset: u32, value: u32) {
        self.mmio_write32(offset, value);
    }
    fn write_long(&self, offset: u32, _value: u64) {
        panic!("there are no registers of 64 bits at {offset:#x}");
    }
    fn table_read(&self, offset: u32) -> u32 {
        let mut dword = [0; 4];
        self.aperture_read(offset.into(), &mut dword);
        u32::from_le_bytes(dword)
    }
    fn table_write(&self, offset: u32, value: u32) {
        self.aperture_write(offset.into(), &value.to_le_bytes());
    }
    fn time(&self) -> &Clock {
        self.clock()
    }
}

/// Entries of the table have 64 bits, and are written whole (digest §4.6).
impl Device for Dg2 {
    fn read(&self, offset: u32) -> u32 {
        self.mmio_read32(offset)
    }
    fn write(&self, offset: u32, value: u32) {
        self.mmio_write32(offset, value);
    }
    fn write_long(&self, offset: u32, _value: u64) {
        panic!("there are no registers of 64 bits at {offset:#x}");
    }
    fn table_read(&self, offset: u32) -> u32 {
        (self.ggtt_read(u64::from(offset / 8)) >> (offset % 8 * 8)) as u32
    }
    fn table_write(&self, offset: u32, _value: u32) {
        panic!("half an entry is written at {offset:#x}");
    }
    fn table_write_long(&self, offset: u32, value: u64) {
        self.ggtt_write(u64::from(offset / 8), value);
    }
    fn time(&self) -> &Clock {
        self.clock()
    }
}

/// The register window.
pub struct Regs<D>(pub Arc<D>);

impl<D: Device> Registers for Regs<D> {
    fn read32(&self, offset: u32) -> u32 {
        self.0.read(offset)
    }
    fn write32(&self, offset: u32, value: u32) {
        self.0.write(offset, value);
    }
    fn write64(&self, offset: u32, value: u64) {
        self.0.write_long(offset, value);
    }
}

/// The table's window.
pub struct Table<D>(pub Arc<D>);

impl<D: Device> Registers for Table<D> {
    fn read32(&self, offset: u32) -> u32 {
        self.0.table_read(offset)
    }
    fn write32(&self, offset: u32, value: u32) {
        self.0.table_write(offset, value);
    }
    fn write64(&self, offset: u32, value: u64) {
        self.0.table_write_long(offset, value);
    }
}

/// The board: configuration space, sizes of windows, an IOMMU or none.
pub struct Board<D> {
    /// The device.
    pub gpu: Arc<D>,
    /// Bytes of its base address registers 0 and 2.
    pub bars: [u64; 2],
    /// Whether an IOMMU is said to be there.
    pub iommu: bool,
    /// What was said for the log.
    pub warned: Mutex<Vec<&'static str>>,
}

/// Configuration space: the command register, with memory space and mastering of the bus.
const COMMAND: u8 = 4;
const MEMORY: u8 = 1 << 1;
const MASTER: u8 = 1 << 2;

impl<D: Device> Platform for Board<D> {
    fn config32(&self, offset: u16) -> u32 {
        let mut dword = [0; 4];
        self.gpu.config_read(offset.into(), &mut dword);
        u32::from_le_bytes(dword)
    }
    fn config8(&self, offset: u16) -> u8 {
        let mut byte = [0];
        self.gpu.config_read(offset.into(), &mut byte);
        byte[0]
    }
    fn config_write8(&self, offset: u16, value: u8) {
        self.gpu.config_write(offset.into(), &[value]);
    }
    fn bar_len(&self, bar: u8) -> u64 {
        match bar {
            0 => self.bars[0],
            2 => self.bars[1],
            _ => 0,
        }
    }
    fn iommu(&self) -> bool {
        self.iommu
    }
    fn set_master(&self, on: bool) {
        let command = if on { MEMORY | MASTER } else { MEMORY };
        self.gpu.config_write(COMMAND.into(), &[command, 0]);
    }
    fn warn(&self, what: &'static str) {
        self.warned.lock().expect("nobody panicked").push(what);
    }
}

/// Time: the model's clock, moved on by whoever waits.
pub struct Time<D>(pub Arc<D>);

/// How often a wait looks; the clock moves on by a share of its limit each time.
const LOOKS: u64 = 100;

impl<D: Device> Time<D> {
    fn advance(&self, ns: u64) {
        let clock = self.0.time();
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

impl<D: Device> AtomicWait for Time<D> {
    fn spin(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        self.look(micros, done)
    }
}

impl<D: Device> SleepWait for Time<D> {
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
pub struct Windows<D> {
    /// Registers.
    pub regs: Regs<D>,
    /// The table.
    pub table: Table<D>,
    /// The board.
    pub board: Board<D>,
    /// The file that the device needs.
    pub firmware: Vec<u8>,
    /// What its backend has found out about it.
    pub card: u32,
}

impl<D: Device> Windows<D> {
    /// The windows of a device.
    pub fn new(gpu: &Arc<D>, bars: [u64; 2], iommu: bool) -> Self {
        Self {
            regs: Regs(gpu.clone()),
            table: Table(gpu.clone()),
            board: Board {
                gpu: gpu.clone(),
                bars,
                iommu,
                warned: Mutex::default(),
            },
            firmware: Vec::new(),
            card: 0,
        }
    }

    /// As a backend takes it.
    pub fn hw(&self) -> Hw<'_> {
        Hw {
            regs: &self.regs,
            gtt: &self.table,
            platform: &self.board,
            firmware: &self.firmware,
            card: self.card,
        }
    }
}

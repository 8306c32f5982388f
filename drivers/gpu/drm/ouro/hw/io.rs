// SPDX-License-Identifier: GPL-2.0
//! How a backend reaches the world: registers, the platform around the device, and time.

/// A window of registers. Offsets are in bytes from its start.
///
/// A card that is gone reads all ones and ignores writes; so does an offset out of range. Writes are
/// posted and stay in order.
pub trait Registers {
    /// Reads 32 bits.
    fn read32(&self, offset: u32) -> u32;
    /// Writes 32 bits.
    fn write32(&self, offset: u32, value: u32);
    /// Writes 64 bits in one access.
    fn write64(&self, offset: u32, value: u64);

    /// Writes 32 bits, and reads them back so that the device has them.
    fn write32_flush(&self, offset: u32, value: u32) {
        self.write32(offset, value);
        let _ = self.read32(offset);
    }
}

/// What surrounds the device.
pub trait Platform {
    /// Reads 32 bits of the device's own configuration space; `offset` is a multiple of 4.
    fn config32(&self, offset: u16) -> u32;
    /// Reads 32 bits of the host bridge's configuration space (0:00.0).
    fn bridge32(&self, offset: u16) -> u32;
    /// Bytes of one of the device's base address registers, 0 where there is none.
    fn bar_len(&self, bar: u8) -> u64;
    /// Whether an IOMMU translates the device's accesses.
    fn iommu(&self) -> bool;
    /// Lets the device be master of the bus, or not: without it, it reaches no memory, and sends no
    /// message. Process context. The core lets it before it probes a device; whoever takes it away in
    /// [`prepare`](crate::Generation::prepare) or [`reset`](crate::Generation::reset) gives it back at the
    /// end of [`start`](crate::Generation::start).
    fn set_master(&self, on: bool);
    /// A line for the log: something is not as it should be, and the backend goes on all the same.
    fn warn(&self, what: &'static str);
}

/// The condition did not come true in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeout;

/// Waiting by spinning, where sleeping is forbidden.
pub trait AtomicWait {
    /// Polls `done` until it says true, for at most `micros` microseconds.
    fn spin(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout>;
}

/// Waiting by sleeping.
pub trait SleepWait {
    /// Polls `done` until it says true, for at most `micros` microseconds, and sleeps in between.
    fn poll(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout>;
    /// Lets `micros` microseconds pass.
    fn pause(&self, micros: u32);
}

/// A device's windows.
#[derive(Clone, Copy)]
pub struct Hw<'a> {
    /// The registers (`Topology` of every generation counts offsets from here).
    pub regs: &'a dyn Registers,
    /// The translation table's window: entry `n` at `n * entry size`. Counted apart from the registers.
    pub gtt: &'a dyn Registers,
    /// What surrounds the device.
    pub platform: &'a dyn Platform,
    /// The file that [`Generation::firmware`](crate::Generation::firmware) names; empty where there is
    /// none, or it was not loaded yet.
    pub firmware: &'a [u8],
    /// What [`Topology::card`](crate::generation::Topology::card) says; 0 as long as the card was not
    /// probed.
    pub card: u32,
}

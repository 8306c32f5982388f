// SPDX-License-Identifier: GPL-2.0
//! How a backend reaches the world: registers, the platform around the device, and time.

use crate::types::DmaAddr;
use core::fmt;

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

/// Configuration space: the dword with the revision in bits 7:0, of any device on the bus.
pub const PCI_REVISION: u16 = 0x08;

/// What surrounds the device.
pub trait Platform {
    /// Reads 32 bits of the device's own configuration space; `offset` is a multiple of 4.
    fn config32(&self, offset: u16) -> u32;
    /// Reads 8 bits of it.
    fn config8(&self, offset: u16) -> u8 {
        (self.config32(offset & !3) >> (8 * (offset & 3))) as u8
    }
    /// Writes 8 bits of it. Any context.
    fn config_write8(&self, offset: u16, value: u8) {
        let _ = (offset, value);
    }
    /// Reads 32 bits of the host bridge's configuration space; ones where there is none. `offset` is a multiple
    /// of 4.
    fn bridge32(&self, offset: u16) -> u32 {
        let _ = offset;
        !0
    }
    /// Writes 32 bits of it. Any context.
    fn bridge_write32(&self, offset: u16, value: u32) {
        let _ = (offset, value);
    }
    /// Opens the page on the bus by which the chipset's write buffers are flushed: at `at` if the firmware has given
    /// it an address, else at one below 4 GiB that nobody has. Returns where it is, for the chipset's register;
    /// `None` if there is no room for it. Once it is open it stays where it is until the driver is unbound, and each
    /// call returns that. Process context.
    ///
    /// The chipset may forget the address when the system sleeps: a backend calls this in
    /// [`start`](crate::Generation::start), and writes what it returns.
    fn flush_page(&self, at: Option<DmaAddr>) -> Option<DmaAddr> {
        let _ = at;
        None
    }
    /// Has the chipset write what its buffers hold to memory, before the device reads it: a posted write of 1 to
    /// that page; nothing if it is not open. Before a tail write, and after table entries. Any context.
    fn flush_chipset(&self) {}
    /// Bytes of one of the device's base address registers, 0 where there is none.
    fn bar_len(&self, bar: u8) -> u64;
    /// Whether an IOMMU may translate the device's accesses: [`Iommu::between`].
    fn iommu(&self) -> bool;
    /// Lets the device be master of the bus, or not: without it, it reaches no memory, and sends no
    /// message. Process context. The core lets it when [`start`](crate::Generation::start) has returned for the
    /// first time: until then an engine may go on with what it was doing before. Whoever takes it away in
    /// [`prepare`](crate::Generation::prepare) or [`reset`](crate::Generation::reset) gives it back at the
    /// end of [`start`](crate::Generation::start).
    fn set_master(&self, on: bool);
    /// A line for the log: something is not as it should be, and the backend goes on all the same.
    fn warn(&self, what: &'static str);
}

/// What is known of an IOMMU between the device and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Iommu {
    /// There is none.
    Absent,
    /// There is one, in whatever mode: what upstream takes as reason enough (UW27).
    Present,
    /// The kernel is a guest: of the host's IOMMU, without which no device is passed through, nothing
    /// is seen (UW27).
    Hidden,
}

impl Iommu {
    /// What is between, by the administrator's word (0: none; 1: one), or else by whether the kernel knows
    /// one and whether it is a guest.
    pub const fn between(word: u32, known: bool, guest: bool) -> Self {
        match (word, known, guest) {
            (0, _, _) => Iommu::Absent,
            (1, _, _) | (_, true, _) => Iommu::Present,
            (_, false, true) => Iommu::Hidden,
            (_, false, false) => Iommu::Absent,
        }
    }

    /// Whether the device's accesses may be translated.
    pub const fn may_translate(self) -> bool {
        !matches!(self, Iommu::Absent)
    }
}

impl fmt::Display for Iommu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Iommu::Absent => "no IOMMU",
            Iommu::Present => "behind an IOMMU",
            Iommu::Hidden => "in a guest, whose host's IOMMU is not seen",
        })
    }
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

#[cfg(test)]
mod tests {
    use super::Iommu;

    #[test]
    fn a_guest_and_any_iommu_count_as_translated() {
        // the administrator's word, what the kernel knows, whether it is a guest (UW27)
        for (word, known, guest, iommu) in [
            (2, false, false, Iommu::Absent),
            (2, true, false, Iommu::Present),
            (2, false, true, Iommu::Hidden),
            (2, true, true, Iommu::Present),
            (0, true, true, Iommu::Absent),
            (0, false, true, Iommu::Absent),
            (1, false, false, Iommu::Present),
            (7, false, true, Iommu::Hidden),
        ] {
            assert_eq!(Iommu::between(word, known, guest), iommu);
        }
        assert!(Iommu::Present.may_translate() && Iommu::Hidden.may_translate());
        assert!(!Iommu::Absent.may_translate());
    }
}

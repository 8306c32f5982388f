// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The interfaces a backend uses: registers, the platform around the device, and time.

use crate::types::DmaAddr;
use core::fmt;

/// A range of registers. Offsets are in bytes from its start.
///
/// If the device is gone, or an offset is out of range, reads return all ones and writes have no
/// effect. Writes are posted and stay in order.
pub trait Registers {
    /// Reads 32 bits.
    fn read32(&self, offset: u32) -> u32;
    /// Writes 32 bits.
    fn write32(&self, offset: u32, value: u32);
    /// Writes 64 bits in one access.
    fn write64(&self, offset: u32, value: u64);

    /// Writes 32 bits and reads them back, which makes the write reach the device.
    fn write32_flush(&self, offset: u32, value: u32) {
        self.write32(offset, value);
        let _ = self.read32(offset);
    }
}

/// Configuration space: the dword with the revision in bits 7:0, of any device on the bus.
pub const PCI_REVISION: u16 = 0x08;

/// The platform around the device: configuration space, host bridge, chipset, IOMMU, log.
pub trait Platform {
    /// Reads 32 bits of the device's configuration space; `offset` is a multiple of 4.
    fn config32(&self, offset: u16) -> u32;
    /// Reads 8 bits of the device's configuration space.
    fn config8(&self, offset: u16) -> u8 {
        (self.config32(offset & !3) >> (8 * (offset & 3))) as u8
    }
    /// Writes 8 bits of the device's configuration space. Any context.
    fn config_write8(&self, offset: u16, value: u8) {
        let _ = (offset, value);
    }
    /// Reads 32 bits of the host bridge's configuration space; all ones if there is no bridge.
    /// `offset` is a multiple of 4.
    fn bridge32(&self, offset: u16) -> u32 {
        let _ = offset;
        !0
    }
    /// Writes 32 bits of the host bridge's configuration space. Any context.
    fn bridge_write32(&self, offset: u16, value: u32) {
        let _ = (offset, value);
    }
    /// Maps the chipset flush page, a write to which flushes the chipset's write buffers: at `at`
    /// if the firmware assigned an address, otherwise at a free bus address below 4 GiB. Returns
    /// the page's bus address, which the backend writes to the chipset's register; `None` if there
    /// is no free address. The page stays mapped at that address until the driver is unbound;
    /// further calls return the same address. Process context.
    ///
    /// The chipset may lose its register over system sleep, so a backend calls this in
    /// [`start`](crate::Generation::start) and writes the register each time.
    fn flush_page(&self, at: Option<DmaAddr>) -> Option<DmaAddr> {
        let _ = at;
        None
    }
    /// Flushes the chipset's write buffers to memory before the device reads it: a posted write to
    /// the flush page. Does nothing if the page is not mapped. Needed before a tail write and after
    /// writing PTEs. Any context.
    fn flush_chipset(&self) {}
    /// Returns the size of a BAR in bytes; 0 if the device has no such BAR.
    fn bar_len(&self, bar: u8) -> u64;
    /// Returns whether an IOMMU may translate the device's DMA: [`Iommu::between`].
    fn iommu(&self) -> bool;
    /// Returns whether all contexts must use one aliasing PPGTT, also on a chip on which each can
    /// have its own.
    fn shares_ppgtt(&self) -> bool {
        false
    }
    /// Enables or disables bus mastering; while it is disabled, the device can neither access
    /// memory nor send an MSI. Process context. The core enables it after the first
    /// [`start`](crate::Generation::start), because until then an engine may still execute what it
    /// was given before. A backend that disables it in [`prepare`](crate::Generation::prepare) or
    /// [`reset`](crate::Generation::reset) enables it again at the end of
    /// [`start`](crate::Generation::start).
    fn set_master(&self, on: bool);
    /// Logs a warning about a fault that the backend can work around.
    fn warn(&self, what: &'static str);
}

/// What is known of an IOMMU between the device and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Iommu {
    /// There is no IOMMU.
    Absent,
    /// There is an IOMMU, in any mode; upstream decides by the same fact (UW27).
    Present,
    /// The kernel runs in a guest, which cannot see the host's IOMMU. Pass-through of a device
    /// always uses one (UW27).
    Hidden,
}

impl Iommu {
    /// Derives the state from the administrator's parameter `word` (0: no IOMMU, 1: an IOMMU), or,
    /// if that is neither, from whether the kernel knows an IOMMU and whether it runs in a guest.
    pub const fn between(word: u32, known: bool, guest: bool) -> Self {
        match (word, known, guest) {
            (0, _, _) => Iommu::Absent,
            (1, _, _) | (_, true, _) => Iommu::Present,
            (_, false, true) => Iommu::Hidden,
            (_, false, false) => Iommu::Absent,
        }
    }

    /// Returns whether the device's DMA may be translated.
    pub const fn may_translate(self) -> bool {
        !matches!(self, Iommu::Absent)
    }
}

impl fmt::Display for Iommu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Iommu::Absent => "no IOMMU",
            Iommu::Present => "the GPU is behind an IOMMU",
            Iommu::Hidden => "the host of this guest may have an IOMMU (iommu=0: it has none)",
        })
    }
}

/// The condition did not become true in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeout;

/// Waiting by spinning, for atomic context.
pub trait AtomicWait {
    /// Polls `done` until it returns true, for at most `micros` microseconds.
    fn spin(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout>;
}

/// Waiting by sleeping, for process context.
pub trait SleepWait {
    /// Polls `done` until it returns true, for at most `micros` microseconds, and sleeps between
    /// polls.
    fn poll(&self, micros: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout>;
    /// Sleeps for `micros` microseconds.
    fn pause(&self, micros: u32);
}

/// A device as its backend accesses it.
#[derive(Clone, Copy)]
pub struct Hw<'a> {
    /// The registers. Every generation counts register offsets from here.
    pub regs: &'a dyn Registers,
    /// The window of GGTT entries: entry `n` is at `n * entry size`.
    pub gtt: &'a dyn Registers,
    /// What surrounds the device.
    pub platform: &'a dyn Platform,
    /// The microcode that [`Generation::firmware`](crate::Generation::firmware) names; empty if
    /// there is none, or it is not loaded yet.
    pub firmware: &'a [u8],
    /// A copy of [`Topology::card`](crate::generation::Topology::card); 0 until the card has been
    /// probed.
    pub card: u32,
}

#[cfg(test)]
mod tests {
    use super::Iommu;

    #[test]
    fn a_guest_and_any_iommu_count_as_translated() {
        // the administrator's parameter, whether the kernel knows an IOMMU, whether it is a guest
        // (UW27)
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

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the host bridge shows through BAR0 (G-26, G-27, G-40), and the bridge itself for tests in process: its
//! configuration space has the size of the table and of stolen memory, and the address of the flush page (G-09, G-19).

use crate::pci::PciConfig;
use crate::ring::core::Core;
use std::ops::Range;

/// How channels of a mobile chip are used: 1:0 how, 10 whether bits are folded, 9 which.
pub const DCC: u32 = 0x1_0200;
/// Rows of the last rank of each channel of a desktop chip: the upper half of the dword. On a mobile chip the first is
/// DCC2.
pub const C0DRB3: u32 = 0x1_0204;
/// See [`C0DRB3`].
pub const C1DRB3: u32 = 0x1_0604;
/// Clocks of the front side bus and of memory.
pub const CLKCFG: u32 = 0x1_0c00;

/// 965G and G45 compare the last rank's rows: equal channels are interleaved (G-26).
pub(crate) fn channels(core: &mut Core) {
    let second = if core.cfg.swizzle { 0x20 } else { 0x10 };
    core.set(C0DRB3, 0x20 << 16);
    core.set(C1DRB3, second << 16);
    core.set(CLKCFG, CLOCKS);
}

/// GM965 and GM45 say it: interleaved channels that fold bits 9 and 10, or a single channel. Bit 20 of DCC2 says that
/// it can be known.
pub(crate) fn mobile_channels(core: &mut Core) {
    // 2: interleaved; bit 10: bit 11 or 17 is not folded in besides.
    let how = if core.cfg.swizzle { 2 | 1 << 10 } else { 0 };
    core.set(DCC, how);
    core.set(C0DRB3, 1 << 20);
    core.set(CLKCFG, CLOCKS);
}

/// A bus of 800 MHz and memory of 667: not zero, which is what upstream wants of it (peer digest B).
const CLOCKS: u32 = 0x32;

/// The host bridge, 00:00.0, for a driver in process. In a machine it is the machine's own.
pub struct HostBridge {
    config: PciConfig,
    flushes: u64,
}

impl HostBridge {
    /// Offset of the word with the sizes of the table (11:8) and of stolen memory (7:4).
    pub const SIZES: usize = 0x52;
    /// Offsets of the address of the flush page, low and high half; bit 0 says that there is one.
    pub const FLUSH: Range<usize> = 0x70..0x78;

    /// A bridge that says these sizes and has no flush page yet.
    pub fn new(sizes: u16) -> Self {
        let mut config = PciConfig::new(0x8086, 0x2e20, 3, 0x06_0000, (0x8086, 0x2e20));
        config.put(Self::SIZES, &sizes.to_le_bytes());
        config.allow(Self::FLUSH.start, &[0xff; 8]);
        HostBridge { config, flushes: 0 }
    }

    /// Reads its configuration space.
    pub fn config_read(&self, offset: usize, buf: &mut [u8]) {
        self.config.read(offset, buf);
    }

    /// Writes its configuration space.
    pub fn config_write(&mut self, offset: usize, data: &[u8]) {
        self.config.write(offset, data);
    }

    /// The CPU writes to an address of the bus that is no memory: counted if it is the flush page. True if it is.
    pub fn write(&mut self, address: u64) -> bool {
        let low = self.config.dword(Self::FLUSH.start);
        let page = u64::from(low & 0xffff_f000)
            | u64::from(self.config.dword(Self::FLUSH.start + 4)) << 32;
        let hit = low & 1 != 0 && address & !0xfff == page;
        self.flushes += u64::from(hit);
        hit
    }

    /// Returns how often the flush page was written.
    pub fn flushes(&self) -> u64 {
        self.flushes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flush_page_counts_once_it_is_there() {
        // G-19: IFPADDR at 70h and 74h, bit 0 valid.
        let mut bridge = HostBridge::new(0x0130);
        let mut sizes = [0; 2];
        bridge.config_read(0x52, &mut sizes);
        assert_eq!(u16::from_le_bytes(sizes), 0x0130);
        assert!(!bridge.write(0xfed1_0000));
        bridge.config_write(0x70, &0xfed1_0001u32.to_le_bytes());
        assert!(bridge.write(0xfed1_0000) && bridge.write(0xfed1_0ffc));
        assert!(!bridge.write(0xfed1_1000));
        assert_eq!(bridge.flushes(), 2);
        bridge.config_write(0x74, &1u32.to_le_bytes());
        assert!(!bridge.write(0xfed1_0000) && bridge.write(0x1_fed1_0000));
    }
}

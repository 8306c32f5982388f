// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A conventional PCI configuration space: bytes, write masks and capabilities.
//!
//! PCI Local Bus 3.0 §6.1 and §6.8 (MSI), PCI Power Management 1.2 §3.2. What is special to a chip
//! (GMCH control, stolen base) the chip puts in itself.

/// Size of a conventional configuration space in bytes.
pub const CONFIG_SIZE: usize = 256;

/// Offset of the command register.
pub const COMMAND: usize = 0x04;
/// Offset of the status register.
pub const STATUS: usize = 0x06;
/// Command bit 10: INTx is not asserted.
pub const COMMAND_INTX_DISABLE: u16 = 1 << 10;
/// Command bit 2: bus mastering allowed.
pub const COMMAND_MASTER: u16 = 1 << 2;
/// Status bit 3: INTx pending.
pub const STATUS_INTX: u8 = 1 << 3;

/// A configuration space.
#[derive(Clone)]
pub struct PciConfig {
    bytes: [u8; CONFIG_SIZE],
    writable: [u8; CONFIG_SIZE],
    msi: Option<usize>,
    last_capability: usize,
}

impl PciConfig {
    /// A device with ids, a class (24 bits: base, sub, interface) and pin INTA.
    pub fn new(vendor: u16, device: u16, revision: u8, class: u32, subsystem: (u16, u16)) -> Self {
        let mut c = PciConfig {
            bytes: [0; CONFIG_SIZE],
            writable: [0; CONFIG_SIZE],
            msi: None,
            last_capability: 0,
        };
        c.put(0x00, &vendor.to_le_bytes());
        c.put(0x02, &device.to_le_bytes());
        // I/O, memory, bus master; INTx disable.
        c.allow(COMMAND, &0x0407u16.to_le_bytes());
        c.put(0x08, &[revision]);
        c.put(0x09, &class.to_le_bytes()[..3]);
        c.put(0x2c, &subsystem.0.to_le_bytes());
        c.put(0x2e, &subsystem.1.to_le_bytes());
        c.allow(0x0c, &[0xff]);
        c.allow(0x3c, &[0xff]);
        c.put(0x3d, &[1]);
        c
    }

    /// Sets bytes that the guest cannot change, unless [`Self::allow`] says so too.
    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        for (i, b) in bytes.iter().enumerate() {
            if let Some(slot) = self.bytes.get_mut(offset + i) {
                *slot = *b;
            }
        }
    }

    /// Lets the guest write the bits that are set in `mask`.
    pub fn allow(&mut self, offset: usize, mask: &[u8]) {
        for (i, m) in mask.iter().enumerate() {
            if let Some(slot) = self.writable.get_mut(offset + i) {
                *slot = *m;
            }
        }
    }

    /// A 64-bit memory BAR of `size` bytes (a power of two) in words `index` and `index + 1`.
    pub fn bar64(&mut self, index: usize, size: u64, prefetchable: bool) {
        let offset = 0x10 + 4 * index;
        self.put(offset, &[if prefetchable { 0x0c } else { 0x04 }]);
        self.allow(offset, &(!(size - 1)).to_le_bytes());
    }

    /// An I/O BAR of `size` bytes (a power of two).
    pub fn bar_io(&mut self, index: usize, size: u32) {
        let offset = 0x10 + 4 * index;
        self.put(offset, &[0x01]);
        self.allow(offset, &(!(size - 1) & 0xffff).to_le_bytes());
    }

    /// The expansion ROM's BAR, of `size` bytes (a power of two, 2 KB at least).
    pub fn bar_rom(&mut self, size: u32) {
        self.allow(0x30, &(!(size - 1) | 1).to_le_bytes());
    }

    /// Appends a capability with `body` after its id and next bytes.
    pub fn capability(&mut self, offset: usize, id: u8, body: &[u8]) {
        let link = if self.last_capability == 0 {
            0x34
        } else {
            self.last_capability + 1
        };
        self.put(link, &[offset as u8]);
        self.bytes[STATUS] |= 0x10;
        self.put(offset, &[id, 0]);
        self.put(offset + 2, body);
        self.last_capability = offset;
    }

    /// A one-vector, 32-bit MSI capability.
    pub fn msi(&mut self, offset: usize) {
        self.capability(offset, 0x05, &[0; 8]);
        self.allow(offset + 2, &0x0001u16.to_le_bytes());
        self.allow(offset + 4, &0xffff_fffcu32.to_le_bytes());
        self.allow(offset + 8, &0xffffu16.to_le_bytes());
        self.msi = Some(offset);
    }

    /// A power-management capability: D0 and D3hot.
    pub fn power_management(&mut self, offset: usize) {
        self.capability(offset, 0x01, &[0x22, 0x00, 0, 0, 0, 0]);
        self.allow(offset + 4, &[0x03]);
    }

    /// Reads bytes; those past the end read zero.
    pub fn read(&self, offset: usize, buf: &mut [u8]) {
        for (i, b) in buf.iter_mut().enumerate() {
            *b = self.bytes.get(offset + i).copied().unwrap_or(0);
        }
    }

    /// Writes bytes through the write masks.
    pub fn write(&mut self, offset: usize, data: &[u8]) {
        for (i, d) in data.iter().enumerate() {
            let at = offset + i;
            if let (Some(b), Some(m)) = (self.bytes.get_mut(at), self.writable.get(at)) {
                *b = (*b & !m) | (d & m);
            }
        }
    }

    /// One little-endian word.
    pub fn word(&self, offset: usize) -> u16 {
        let mut b = [0; 2];
        self.read(offset, &mut b);
        u16::from_le_bytes(b)
    }

    /// One little-endian dword.
    pub fn dword(&self, offset: usize) -> u32 {
        let mut b = [0; 4];
        self.read(offset, &mut b);
        u32::from_le_bytes(b)
    }

    /// True once the guest has enabled MSI.
    pub fn msi_enabled(&self) -> bool {
        self.msi.is_some_and(|o| self.bytes[o + 2] & 1 != 0)
    }

    /// True if the guest has forbidden INTx.
    pub fn intx_disabled(&self) -> bool {
        self.word(COMMAND) & COMMAND_INTX_DISABLE != 0
    }

    /// Shows or hides the pending bit in the status register.
    pub fn set_intx_pending(&mut self, pending: bool) {
        self.bytes[STATUS] =
            (self.bytes[STATUS] & !STATUS_INTX) | if pending { STATUS_INTX } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_capabilities_and_bars() {
        let mut c = PciConfig::new(0x8086, 0x0116, 9, 0x038000, (0x17aa, 0x21da));
        c.bar64(0, 4 << 20, false);
        c.bar64(2, 256 << 20, true);
        c.bar_io(4, 64);
        c.msi(0x90);
        c.power_management(0xd0);
        assert_eq!(c.dword(0x00), 0x0116_8086);
        assert_eq!(c.dword(0x08), 0x0380_0009);
        assert_eq!(c.word(0x34), 0x0090);
        assert_eq!(c.word(0x90), 0xd005);
        assert_eq!(c.word(0xd0), 0x0001);
        // BAR sizing (PCI 3.0 §6.2.5.1): all ones read back as the size mask with the type bits.
        c.write(0x10, &[0xff; 8]);
        assert_eq!((c.dword(0x10), c.dword(0x14)), (0xffc0_0004, 0xffff_ffff));
        c.write(0x18, &[0xff; 8]);
        assert_eq!((c.dword(0x18), c.dword(0x1c)), (0xf000_000c, 0xffff_ffff));
        c.write(0x20, &[0xff; 4]);
        assert_eq!(c.dword(0x20), 0x0000_ffc1);
        c.write(0x04, &0xffffu16.to_le_bytes());
        assert_eq!(c.word(0x04), 0x0407);
        assert!(c.intx_disabled());
        c.write(0x00, &[0; 4]);
        assert_eq!(c.dword(0x00), 0x0116_8086, "ids are read-only");
        assert!(!c.msi_enabled());
        c.write(0x92, &[1]);
        assert!(c.msi_enabled());
    }
}

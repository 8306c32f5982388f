// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What can be chosen about a modelled DG2, and its PCI configuration space (digest §5.1, §5.2).

use super::engine::EngineId;
use super::real::Real;
use crate::pci::PciConfig;
use crate::test_capability;

/// Choices. The default is a card for tests in process, with all engines.
#[derive(Clone, Debug)]
pub struct Dg2Config {
    /// PCI device: 56A0, the desktop DG2-G10.
    pub device_id: u16,
    /// Stepping: 8, the first that was sold.
    pub revision: u8,
    /// Bytes of local memory.
    pub lmem: u64,
    /// Bytes of it that the CPU sees through BAR2.
    pub aperture: u64,
    /// Which engines there are, by [`EngineId::mask`].
    pub engines: u16,
    /// First dword of the context status buffer in the status page: 10h as the upstream driver has
    /// it, or 28h as the document (digest §4.4).
    pub status_base: u32,
    /// Firmware has locked the memory of the GuC: execlists are not for software (digest §5.13).
    pub locked: bool,
    /// Posted stores arrive as late as they may; else at once.
    pub late_stores: bool,
    /// Commands are fetched ahead of their execution, and the pre-parser goes into batches before that.
    pub prefetch: bool,
    /// Writes to a sleeping well reach their register all the same.
    pub asleep_fifo: bool,
    /// A save leaves the tail in the image as it is, and does not write the one that the engine had.
    pub image_tails: bool,
    /// Habits of real machines.
    pub real: Real,
    /// A piece of work takes at least this long, in nanoseconds.
    pub delay_ns: u64,
    /// Seed for garbage.
    pub seed: u64,
    /// Events that the recorder keeps.
    pub keep_events: usize,
    /// The chip reaches guest memory only while bus mastering is on.
    pub watch_bus_master: bool,
}

impl Default for Dg2Config {
    fn default() -> Self {
        Dg2Config {
            device_id: 0x56a0,
            revision: 0x08,
            lmem: 64 << 20,
            aperture: 64 << 20,
            engines: 0x3ff,
            status_base: 0x10,
            locked: false,
            late_stores: true,
            prefetch: true,
            asleep_fifo: false,
            image_tails: false,
            real: Real::default(),
            delay_ns: 0,
            seed: 0,
            keep_events: 65536,
            watch_bus_master: false,
        }
    }
}

impl Dg2Config {
    /// The same with other engines.
    pub fn with_engines(self, engines: &[EngineId]) -> Self {
        let engines = engines.iter().fold(0, |m, e| m | e.mask());
        Dg2Config { engines, ..self }
    }
}

/// BAR of registers and global table.
pub const BAR_GTTMMADR: u32 = 0;
/// Its size.
pub const GTTMMADR_SIZE: u64 = 16 << 20;
/// BAR of local memory.
pub const BAR_LMEM: u32 = 2;

/// Offset of the PCI Express capability.
const EXPRESS: usize = 0x70;
/// Offset of the MSI capability.
const MSI: usize = 0x40;
/// Offset of the power-management capability.
pub(crate) const PM: usize = 0xd0;
/// Graphics control: bits 7:6 are 3, so the global table has 8 MB (digest §4.6).
const GGC: usize = 0x52 - 2;

/// PCI Express capability, version 2, after its id and link: an endpoint with a x16 link at
/// 16 GT/s that can be reset by function.
const EXPRESS_BODY: [u8; 18] = [
    0x02, 0x00, // Capabilities: version 2, endpoint.
    0x21, 0x80, 0x00, 0x10, // Device capabilities: function level reset.
    0x10, 0x28, 0x00, 0x00, // Device control and status.
    0x04, 0x0d, 0x00, 0x00, // Link capabilities: 16 GT/s, x16.
    0x40, 0x00, 0x04, 0x11, // Link control and status.
];

/// The configuration space at power-on.
pub fn pci_config(cfg: &Dg2Config) -> PciConfig {
    let mut c = PciConfig::new(
        0x8086,
        cfg.device_id,
        cfg.revision,
        0x03_8000,
        (0x8086, 0x1020),
    );
    c.bar64(BAR_GTTMMADR as usize, GTTMMADR_SIZE, false);
    c.bar64(BAR_LMEM as usize, cfg.aperture, true);
    c.msi(MSI);
    c.put(GGC, &0x00c0u16.to_le_bytes());
    c.capability(EXPRESS, 0x10, &EXPRESS_BODY);
    c.capability(test_capability::OFFSET, 0x09, &test_capability::BODY);
    c.power_management(PM);
    c
}

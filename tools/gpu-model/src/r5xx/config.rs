// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What can be chosen about a modelled R5xx, and its PCI configuration space (digest §5.1, §5.4).

use super::chip::Chip;
use super::real::Real;
use crate::pci::PciConfig;
use crate::test_capability;

/// Choices. The default is a small card for tests in process.
#[derive(Clone, Debug)]
pub struct R5xxConfig {
    /// Which chip.
    pub chip: &'static Chip,
    /// Bytes of video memory.
    pub vram: u64,
    /// Bytes of the video memory that the CPU sees through BAR0.
    pub aperture: u64,
    /// Whether there is an MSI capability.
    pub msi: bool,
    /// A piece of work takes at least this long, in nanoseconds.
    pub delay_ns: u64,
    /// Seed for garbage.
    pub seed: u64,
    /// Events that the recorder keeps.
    pub keep_events: usize,
    /// Memory accesses that are kept for [`super::R5xx::take_accesses`]; 0 for none.
    pub keep_accesses: usize,
    /// Shaded vertices that are kept for [`super::R5xx::take_vertices`]; 0 for none.
    pub keep_vertices: usize,
    /// Instructions after which a vertex program is taken to be endless.
    pub shader_steps: u64,
    /// The chip reaches guest memory only while bus mastering is on.
    pub watch_bus_master: bool,
    /// Habits of real cards.
    pub real: Real,
}

impl R5xxConfig {
    /// A chip with 16 MB of video memory, all of it visible.
    pub fn new(chip: &'static Chip) -> Self {
        R5xxConfig {
            chip,
            vram: 16 << 20,
            aperture: 16 << 20,
            msi: true,
            delay_ns: 0,
            seed: 0,
            keep_events: 65536,
            keep_accesses: 65536,
            keep_vertices: 4096,
            shader_steps: super::pvs::STEPS,
            watch_bus_master: false,
            real: Real::default(),
        }
    }
}

/// BAR of video memory.
pub const BAR_VRAM: u32 = 0;
/// BAR of the registers.
pub const BAR_MMIO: u32 = 2;
/// BAR of the I/O ports: the first 256 bytes of the registers.
pub const BAR_IO: u32 = 4;
/// The expansion ROM.
pub const BAR_ROM: u32 = 6;
/// Size of the register BAR.
pub const MMIO_SIZE: u32 = 64 << 10;
/// Size of the I/O BAR.
pub const IO_SIZE: u32 = 256;

/// Offset of the power-management capability.
const PM: usize = 0x50;
/// Offset of the PCI Express capability.
const EXPRESS: usize = 0x58;
/// Offset of the MSI capability.
const MSI: usize = 0x80;

/// PCI Express capability, version 1, after its id and link (PCI Express 1.0a §7.8): an endpoint
/// with a x16 link at 2.5 GT/s. A driver enables the GART only where it finds one.
const EXPRESS_BODY: [u8; 18] = [
    0x01, 0x00, // Capabilities: version 1, endpoint.
    0xa0, 0x0f, 0x00, 0x00, // Device capabilities: latencies as the usual card has.
    0x10, 0x28, 0x00, 0x00, // Device control and status.
    0x01, 0x0d, 0x00, 0x00, // Link capabilities: 2.5 GT/s, x16.
    0x40, 0x00, 0x01, 0x11, // Link control and status: x16 at 2.5 GT/s.
];

/// The configuration space at power-on.
pub fn pci_config(cfg: &R5xxConfig) -> PciConfig {
    let chip = cfg.chip;
    // Not VGA: no firmware must run the ROM's code or use its shadow (digest §5.4).
    let mut c = PciConfig::new(
        0x1002,
        chip.device_id,
        chip.revision,
        0x03_8000,
        (0x1002, 0x0b12),
    );
    c.bar64(BAR_VRAM as usize, cfg.aperture, true);
    c.bar64(BAR_MMIO as usize, u64::from(MMIO_SIZE), false);
    c.bar_io(BAR_IO as usize, IO_SIZE);
    c.bar_rom(super::rom::SIZE as u32);
    c.power_management(PM);
    c.capability(EXPRESS, 0x10, &EXPRESS_BODY);
    if cfg.msi {
        c.msi(MSI);
    }
    c.capability(test_capability::OFFSET, 0x09, &test_capability::BODY);
    c
}

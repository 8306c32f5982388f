// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What can be chosen about a modelled chip, and its PCI configuration space
//! (digest G-01..G-05; peer digest A.2).

use super::chip::{self, Chip};
use super::real::Real;
use crate::pci::PciConfig;
use crate::test_capability;

/// How the GT write FIFO drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FifoDrain {
    /// By itself, one entry in this many nanoseconds.
    Timed(u64),
    /// Only while the driver looks at its room: a driver that does not count is found.
    OnRead,
}

/// Choices. [`RingConfig::default`] is the strict one for tests in process, of a Sandy Bridge.
#[derive(Clone, Debug)]
pub struct RingConfig {
    /// The chip.
    pub chip: &'static Chip,
    /// PCI device id.
    pub device_id: u16,
    /// The device sits behind an IOMMU that translates.
    pub vtd: bool,
    /// Megabytes of global page-table entries (GGMS): 1 or 2, for 1 or 2 GB of addresses.
    pub gtt_mb: u32,
    /// Kilobytes of entries of a Gen4, if not as many as usual.
    pub gtt_kb: Option<u32>,
    /// Bytes of aperture: 64, 128, 256 or 512 MB (§4.4); less, for tests.
    pub aperture: u64,
    /// Habits of real machines.
    pub real: Real,
    /// A piece of work takes at least this long, in nanoseconds.
    pub delay_ns: u64,
    /// Seed for garbage.
    pub seed: u64,
    /// Writes to a sleeping GT go through the FIFO and take effect, as the upstream driver expects;
    /// else they are dropped. Both ways they are reported.
    pub asleep_fifo: bool,
    /// Forcewake of several threads is off, where a chip has it.
    pub legacy_forcewake: bool,
    /// How the FIFO drains.
    pub fifo: FifoDrain,
    /// Reads of PSMI_CTL that still show the video engine asleep after it was told to wake.
    pub vcs_wake_reads: u32,
    /// Data clients use 32 KB pages (§2.3).
    pub big_pages: bool,
    /// Equal memory channels, so that address bit 6 is swizzled (G-31).
    pub swizzle: bool,
    /// The streamer reads ahead in batches and rings (§5.3.4.2).
    pub prefetch: bool,
    /// Events that the recorder keeps.
    pub keep_events: usize,
    /// Writes of batches that are kept for [`super::RingGpu::take_writes`]; 0 for none.
    pub keep_writes: usize,
    /// A tail write while bus mastering is off is reported.
    pub watch_bus_master: bool,
    /// Whether broken rules and undocumented accesses count as failure.
    pub strict: bool,
}

impl Default for RingConfig {
    fn default() -> Self {
        Self::of(&chip::SNB)
    }
}

impl RingConfig {
    /// Number of entries of the global table.
    pub fn entries(&self) -> u32 {
        let kb = self.gtt_kb.or(self.chip.bus.table_kb);
        kb.unwrap_or(self.gtt_mb << 10) << 8
    }

    /// The strict one of a chip.
    pub fn of(chip: &'static Chip) -> Self {
        RingConfig {
            chip,
            device_id: chip.ids[0],
            vtd: false,
            gtt_mb: 2,
            gtt_kb: None,
            aperture: 256 << 20,
            real: Real::default(),
            delay_ns: 0,
            seed: 0,
            asleep_fifo: false,
            legacy_forcewake: false,
            fifo: FifoDrain::OnRead,
            vcs_wake_reads: 1,
            big_pages: false,
            swizzle: false,
            prefetch: true,
            keep_events: 65536,
            keep_writes: 0,
            watch_bus_master: false,
            strict: false,
        }
    }
}

/// Offset of GMCH control.
pub const GGC: usize = 0x50;
/// Where a mobile Gen4 says its clocks (GCFGC of upstream).
const CLOCKS: usize = 0xf0;
/// Offset of the base of stolen memory.
pub const BDSM: usize = 0x5c;
/// Where stolen memory is, if there is any: below the place of devices, and above all memory of a guest.
pub const STOLEN_BASE: u32 = 0xbda0_0000;
/// Its size.
pub const STOLEN_SIZE: u64 = 32 << 20;
/// Where the GGTT of a 965 lies, behind stolen memory: "physically located in Main Memory" (G45 PRM V1b 4.6), and the
/// firmware's to place. The model's entries are in memory of their own, so this is what PGTBL_CTL shows and no more.
pub const TABLE_BASE: u32 = STOLEN_BASE + STOLEN_SIZE as u32;
/// Offset of the advanced-features capability, whose control byte starts a function-level reset.
pub const AF_CAP: usize = 0xa4;
/// Offset of the byte whose bit 0 starts a function-level reset.
pub const AF_CONTROL: usize = AF_CAP + 4;

/// Size of the I/O BAR.
pub const BAR4_SIZE: u32 = 64;

/// The configuration space at power-on.
pub fn pci_config(cfg: &RingConfig) -> PciConfig {
    let mut c = PciConfig::new(0x8086, cfg.device_id, 0x09, 0x03_8000, (0x8086, 0x2010));
    c.bar64(0, cfg.chip.bus.bar0, false);
    c.bar64(2, cfg.aperture, true);
    c.bar_io(4, BAR4_SIZE);
    if let Some(gen4) = cfg.chip.gen4 {
        gen4_config(&mut c, cfg, gen4.g4x);
        if gen4.mobile {
            // The display's core clock, as firmware leaves it: 12:8 less one chooses from 1/16, 1/10 and 1/8 of a PLL
            // of 3,200 MHz (register 10c0fh: 0); upstream finds a mobile chip without one broken.
            c.put(CLOCKS, &0x0100_u16.to_le_bytes());
        }
        return c;
    }
    // GGMS in 9:8; stolen memory in 7:3, in units of 32 MB.
    let stolen = u32::from(cfg.real.lit);
    c.put(
        GGC,
        &(((cfg.gtt_mb & 3) << 8 | stolen << 3) as u16).to_le_bytes(),
    );
    c.put(BDSM, &(stolen * STOLEN_BASE).to_le_bytes());
    // ASLS: scratch for the firmware's OpRegion address; there is none.
    c.allow(0xfc, &[0xff; 4]);
    c.msi(0x90);
    c.power_management(0xd0);
    // Advanced features: six bytes, transactions pending and function-level reset supported.
    c.capability(AF_CAP, 0x13, &[0x06, 0x03, 0x00, 0x00]);
    c.capability(test_capability::OFFSET, 0x09, &test_capability::BODY);
    c
}

/// Configuration space of Gen4: a mirror of the bridge's sizes (G-09, G-27), the size of the aperture (G-03), the base
/// of stolen memory (G-27). No messages (G-14); the reset byte at C0h (G-20) answers to accesses of one byte, so that
/// the test capability can lie where it lies on all chips.
fn gen4_config(c: &mut PciConfig, cfg: &RingConfig, g4x: bool) {
    // 7:4: stolen memory, of which 32 MB are 5. 11:8: the table, of which 1 MB is 1; 965 says it in PGTBL_CTL.
    let stolen = (u16::from(cfg.real.lit) * 5) << 4;
    let table = u16::from(g4x) << 8;
    c.put(0x52, &(stolen | table).to_le_bytes());
    let base = if cfg.real.lit { STOLEN_BASE } else { 0 };
    c.put(BDSM, &base.to_le_bytes());
    let aperture = match cfg.aperture >> 20 {
        512 => 6,
        256 => 2,
        _ => 0,
    };
    c.put(0x62, &[aperture]);
    c.allow(0xfc, &[0xff; 4]);
    c.power_management(0xd0);
    c.capability(test_capability::OFFSET, 0x09, &test_capability::BODY);
}

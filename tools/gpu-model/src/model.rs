// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What every modelled GPU offers to a transport, and the list of those that exist.
//!
//! A chip, or a family of chips, is a folder; pieces that several Intel chips share are in `intel`.
//! To add one: implement [`GpuModel`], and name it in [`NAMES`] and [`build`].

use crate::memory::GuestMemory;
use serde_json::Value;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Where a model's interrupt line ends. Called with the device locked: must not call back.
pub trait IrqSink: Send + Sync {
    /// The line's level changed. A message-signalled interrupt is sent for each `true`; a second
    /// `true` in a row is a second message.
    fn set_line(&self, asserted: bool);
}

/// A sink that goes nowhere.
pub struct NoIrq;

impl IrqSink for NoIrq {
    fn set_line(&self, _asserted: bool) {}
}

/// One PCI region of a device.
pub struct Region {
    /// BAR number; 6 is the expansion ROM.
    pub bar: u32,
    /// Size in bytes.
    pub size: u64,
    /// A part that the guest may map instead of trapping: offset, size and the file behind the
    /// whole region.
    pub shared: Option<SharedArea>,
}

/// The mappable part of a region.
pub struct SharedArea {
    /// Offset in the region, and in the file.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// The file.
    pub file: Arc<OwnedFd>,
}

/// A modelled GPU as a transport sees it. Register accesses never fail: a device has no way to
/// say so.
pub trait GpuModel: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// Its BARs.
    fn regions(&self) -> Vec<Region>;
    /// True when it has an MSI capability.
    fn has_msi(&self) -> bool;
    /// Reads from a BAR.
    fn bar_read(&self, bar: u32, offset: u64, buf: &mut [u8]);
    /// Writes to a BAR.
    fn bar_write(&self, bar: u32, offset: u64, data: &[u8]);
    /// Reads from the configuration space.
    fn config_read(&self, offset: u64, buf: &mut [u8]);
    /// Writes to the configuration space.
    fn config_write(&self, offset: u64, data: &[u8]);
    /// True while the guest forbids INTx in the PCI command register.
    fn intx_disabled(&self) -> bool;
    /// Power-on state again.
    fn reset(&self);
    /// Starts the engine threads.
    fn start(&self);
    /// Stops the engine threads and waits for them.
    fn stop(&self);
    /// Counters, broken rules, undocumented accesses.
    fn report(&self) -> Value;
    /// True when something happened that `--strict` does not forgive.
    fn strict_failure(&self) -> bool;
    /// Returns the writer of each register, if [`Options::registers`] asked for it and the model can tell.
    fn registers(&self) -> Option<String> {
        None
    }
}

/// What a server may ask of any model.
pub struct Options {
    /// Microseconds that a piece of work takes at least.
    pub delay_us: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// Faults to inject.
    pub faults: Vec<crate::fault::Fault>,
    /// Faults at random.
    pub chaos: Option<crate::chaos::Chaos>,
    /// Whether it is written down who wrote which register.
    pub registers: bool,
    /// File for the trace.
    pub trace: Option<std::fs::File>,
    /// Whether page-table entries, or video memory, are trapped instead of shared with the guest.
    pub trap_gtt: bool,
    /// Whether writes to a sleeping GT go through its FIFO instead of being dropped.
    pub asleep_fifo: bool,
    /// Whether a DG2's engines leave the tail in an image as it is when they save it.
    pub image_tails: bool,
    /// Whether a DG2's engines report on their contexts where the document says.
    pub document_status: bool,
    /// Megabytes of aperture, where the chip has a choice; `None` for the chip's usual size.
    pub aperture_mb: Option<u32>,
    /// Megabytes of video memory, where the chip has its own; `None` for the chip's usual size.
    pub vram_mb: Option<u32>,
    /// Leave out the MSI capability, where a chip can do without.
    pub no_msi: bool,
    /// Habits of real cards, by their names with commas between.
    pub real: String,
    /// Whether forcewake of several threads is off, where a chip has it.
    pub legacy_forcewake: bool,
    /// Whether the device sits behind an IOMMU that translates.
    pub vtd: bool,
    /// Whether a DG2's firmware has left execlists to software; a card that is sold has not.
    pub unlocked: bool,
    /// Equal memory channels: address bit 6 is swizzled.
    pub swizzle: bool,
    /// Megabytes of page-table entries, where the chip has a choice.
    pub gtt_mb: u32,
    /// Kilobytes of a Gen4's page-table entries; `None` for the chip's usual size.
    pub gtt_kb: Option<u32>,
    /// PCI device id, of a chip that is sold under several; `None` for the usual one.
    pub device_id: Option<u16>,
    /// Whether broken rules and undocumented accesses make the process fail.
    pub strict: bool,
}

impl Default for Options {
    /// A device that behaves, as large as the usual card.
    fn default() -> Self {
        Options {
            delay_us: 0,
            seed: 0,
            faults: Vec::new(),
            chaos: None,
            registers: false,
            trace: None,
            trap_gtt: false,
            asleep_fifo: false,
            image_tails: false,
            document_status: false,
            aperture_mb: None,
            vram_mb: None,
            no_msi: false,
            real: String::new(),
            legacy_forcewake: false,
            vtd: false,
            unlocked: false,
            swizzle: false,
            gtt_mb: 2,
            gtt_kb: None,
            device_id: None,
            strict: false,
        }
    }
}

/// All models, by name.
pub const NAMES: &[&str] = &[
    "snb", "ivb", "g45", "gm45", "g965", "gm965", "rv515", "rv530", "r520", "r580", "dg2",
];

/// Builds the model called `name`; `None` if there is none.
///
/// # Errors
/// When shared memory for its page table or video memory cannot be had, or the options do not suit it.
pub fn build(
    name: &str,
    options: Options,
    memory: Arc<dyn GuestMemory>,
    irq: Arc<dyn IrqSink>,
) -> Option<anyhow::Result<Arc<dyn GpuModel>>> {
    let several = crate::ring::Chip::named(name).is_some();
    if options.device_id.is_some() && !several && NAMES.contains(&name) {
        return Some(Err(anyhow::anyhow!("{name} has one device id")));
    }
    match name {
        "dg2" => Some(crate::dg2::Dg2::for_server(options, memory, irq).map(|m| Arc::new(m) as _)),
        _ => {
            if let Some(chip) = crate::ring::Chip::named(name) {
                let model = crate::ring::RingGpu::for_server(chip, options, memory, irq);
                return Some(model.map(|m| Arc::new(m) as _));
            }
            let chip = crate::r5xx::Chip::named(name)?;
            let model = crate::r5xx::R5xx::for_server(chip, options, memory, irq);
            Some(model.map(|m| Arc::new(m) as _))
        }
    }
}

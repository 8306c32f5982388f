// SPDX-License-Identifier: GPL-2.0

//! The platform of a device: configuration space, the host bridge, the bus.

use kernel::{
    device::{self, Bound},
    pci,
    prelude::*,
    sync::{aref::ARef, Arc},
};
use ouro_hw::{types::DmaAddr, Iommu, Platform};
use ouro_kernel::{
    bridge::HostBridge,
    pci::{Config, DmaDevice},
};

/// The platform of a device.
pub(crate) struct Surroundings {
    config: Config,
    bridge: Option<HostBridge>,
    bars: [u64; 6],
    dma: Arc<DmaDevice>,
    iommu: Iommu,
    shares_ppgtt: bool,
    /// For the log.
    dev: ARef<device::Device>,
}

impl Surroundings {
    /// Creates the platform: sizes of the device's BARs, and its device for DMA. Errors: `ENOMEM`.
    pub(crate) fn new(
        pdev: &pci::Device<Bound>,
        bars: [u64; 6],
        dma: Arc<DmaDevice>,
        iommu: Iommu,
        shares_ppgtt: bool,
    ) -> Result<KBox<Self>> {
        let this = Self {
            config: Config::new(pdev)?,
            bridge: HostBridge::find(pdev)?,
            bars,
            dma,
            iommu,
            shares_ppgtt,
            dev: pdev.as_ref().into(),
        };
        Ok(KBox::new(this, GFP_KERNEL)?)
    }
}

impl Platform for Surroundings {
    fn config32(&self, offset: u16) -> u32 {
        self.config.read32(offset)
    }

    fn config8(&self, offset: u16) -> u8 {
        self.config.read8(offset)
    }

    fn config_write8(&self, offset: u16, value: u8) {
        self.config.write8(offset, value);
    }

    fn bridge32(&self, offset: u16) -> u32 {
        self.bridge.as_ref().map_or(!0, |b| b.read32(offset))
    }

    fn bridge_write32(&self, offset: u16, value: u32) {
        if let Some(bridge) = &self.bridge {
            bridge.write32(offset, value);
        }
    }

    fn flush_page(&self, at: Option<DmaAddr>) -> Option<DmaAddr> {
        let bridge = self.bridge.as_ref()?;
        let page = bridge.flush_page(at.map(|at| at.0));
        let page = page.inspect_err(|e| {
            dev_warn!(self.dev, "cannot map the chipset flush page: {e:?}\n");
        });
        Some(DmaAddr(page.ok()?))
    }

    fn flush_chipset(&self) {
        if let Some(bridge) = &self.bridge {
            bridge.flush_chipset();
        }
    }

    fn bar_len(&self, bar: u8) -> u64 {
        self.bars.get(usize::from(bar)).copied().unwrap_or(0)
    }

    fn iommu(&self) -> bool {
        self.iommu.may_translate()
    }

    fn shares_ppgtt(&self) -> bool {
        self.shares_ppgtt
    }

    fn set_master(&self, on: bool) {
        self.dma.set_master(on);
    }

    fn warn(&self, what: &'static str) {
        dev_warn!(self.dev, "{what}\n");
    }
}

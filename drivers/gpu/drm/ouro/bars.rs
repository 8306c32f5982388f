// SPDX-License-Identifier: GPL-2.0

//! The BARs of a device: claiming and mapping them. The log names a BAR that cannot be had.

use kernel::{
    device::{Bound, Core},
    pci,
    prelude::*,
};
use ouro_hw::generation::{Mapping, Window, Windows};
use ouro_kernel::{
    mmio::Bar,
    pci::{request_region, reserve_write_combining, take_from_firmware, Claim},
    Caching,
};

use crate::hardware::CountedBar;

/// The claimed BARs of a device.
pub(crate) struct Claims<'a> {
    pdev: &'a pci::Device<Bound>,
    bars: [Option<Claim>; 6],
}

impl<'a> Claims<'a> {
    pub(crate) fn new(pdev: &'a pci::Device<Bound>) -> Self {
        Self {
            pdev,
            bars: [const { None }; 6],
        }
    }

    /// Claims a BAR under a name, unless it is claimed. Errors: those of [`request_region`].
    fn bar(&mut self, bar: u8, name: &'static CStr) -> Result<Claim> {
        let claimed = self.bars.get_mut(usize::from(bar)).ok_or(EINVAL)?;
        match claimed {
            Some(claim) => Ok(claim.clone()),
            None => {
                let claim = request_region(self.pdev, bar.into(), name)
                    .inspect_err(|e| dev_err!(self.pdev, "cannot claim BAR {bar}: {e:?}\n"))?;
                *claimed = Some(claim.clone());
                Ok(claim)
            }
        }
    }

    /// Claims and maps a range of a BAR.
    pub(crate) fn window(&mut self, window: Window, name: &'static CStr) -> Result<CountedBar> {
        let part = self.bar(window.bar, name)?;
        part.part(window.start.into(), window.len.into())
            .and_then(|part| Bar::map(self.pdev, part, caching(window.mapping)))
            .map(CountedBar::new)
            .inspect_err(|e| dev_err!(self.pdev, "cannot map BAR {}: {e:?}\n", window.bar))
    }
}

fn caching(mapping: Mapping) -> Caching {
    match mapping {
        Mapping::Uncached => Caching::Uncached,
        Mapping::WriteCombining => Caching::WriteCombining,
    }
}

/// The BARs of a device with its GGTT and memory. A framebuffer driver of the firmware may own them
/// until the device is accepted.
pub(crate) struct MemoryBars {
    pub(crate) gtt: CountedBar,
    /// The BAR of VRAM, and where VRAM begins in it.
    pub(crate) local: Option<(Claim, u64)>,
    pub(crate) aperture: Option<Claim>,
}

impl MemoryBars {
    /// Takes the BARs from the firmware's framebuffer driver.
    pub(crate) fn take(
        pdev: &pci::Device<Core<'_>>,
        windows: &Windows,
        claims: &mut Claims<'_>,
    ) -> Result<Self> {
        take_from_firmware(pdev, c"ouro").inspect_err(|e| {
            dev_err!(
                pdev,
                "cannot remove the firmware's framebuffer driver: {e:?}\n"
            );
        })?;
        let gtt = claims.window(windows.gtt, c"ouro tables")?;
        let local = match windows.local {
            Some(window) => Some((claims.bar(window.bar, c"ouro memory")?, window.start.into())),
            None => None,
        };
        let aperture = match windows.aperture {
            Some(aperture) => {
                let window = claims.bar(aperture.bar, c"ouro aperture")?;
                // Before user space maps pages of it.
                reserve_write_combining(pdev, aperture.bar.into())
                    .inspect_err(|e| dev_err!(pdev, "no write-combining aperture: {e:?}\n"))?;
                Some(window.part(aperture.start.into(), 0)?)
            }
            None => None,
        };
        Ok(Self {
            gtt,
            local,
            aperture,
        })
    }
}

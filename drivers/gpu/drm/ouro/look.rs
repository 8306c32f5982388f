// SPDX-License-Identifier: GPL-2.0

//! Probing a device, and finding what its display shows, before the driver changes anything.

use core::ops::Range;
use kernel::{device::Device, prelude::*};
use ouro_core::disjoint::Disjoint;
use ouro_hw::{generation::Scanout, types::PAGE_SIZE, Chip, Gt, Hw, Platform, Registers, Topology};

use crate::{
    hardware::{errno, CountedBar, Hardware, Waits},
    report::Words,
};

/// The window of a GGTT that is not mapped yet.
struct Unmapped;

impl Registers for Unmapped {
    fn read32(&self, _offset: u32) -> u32 {
        !0
    }

    fn write32(&self, _offset: u32, _value: u32) {}

    fn write64(&self, _offset: u32, _value: u64) {}
}

/// A device that was woken and probed. Its memory and its GGTT were not touched.
pub(crate) struct Look {
    pub(crate) chip: &'static Chip,
    pub(crate) gt: Gt,
    pub(crate) topology: Topology,
}

impl Look {
    /// Probes a device by its registers only. A device that is refused may sleep again.
    ///
    /// Errors: `ENODEV` if it is gone, or its configuration is not supported; `ETIMEDOUT`. The log
    /// says why.
    pub(crate) fn new(
        dev: &Device,
        chip: &'static Chip,
        regs: &CountedBar,
        platform: &dyn Platform,
        firmware: &[u8],
    ) -> Result<Self> {
        let mut gt = Gt::default();
        let hw = Hw {
            regs,
            gtt: &Unmapped,
            platform,
            firmware,
            card: 0,
        };
        let woken = chip.generation.wake(&hw, &mut gt, &Waits);
        let step = if woken.is_ok() { "probe" } else { "forcewake" };
        match woken.and_then(|()| chip.generation.probe(&hw, chip)) {
            Ok(topology) => Ok(Self { chip, gt, topology }),
            Err(e) => {
                doze(chip, &hw, &mut gt);
                dev_err!(dev, "{step} failed: {}\n", Words(e));
                Err(errno(e))
            }
        }
    }

    /// Gives up the device, which may sleep again.
    pub(crate) fn abandon(mut self, regs: &CountedBar, platform: &dyn Platform) {
        let hw = Hw {
            regs,
            gtt: &Unmapped,
            platform,
            firmware: &[],
            card: self.topology.card,
        };
        doze(self.chip, &hw, &mut self.gt);
    }
}

fn doze(chip: &Chip, hw: &Hw<'_>, gt: &mut Gt) {
    if gt.awake {
        chip.generation.sleep(hw, gt);
    }
}

/// Number of display planes tracked separately; further ranges are merged with these.
pub(crate) const PLANES: usize = 8;

/// Ranges of GGTT entries.
pub(crate) type EntryRanges = Disjoint<PLANES>;

/// What the device still uses of what the firmware, or a previous driver, has left. What display
/// planes show stays unchanged.
#[derive(Default)]
pub(crate) struct Lit {
    /// GGTT entries.
    pub(crate) entries: EntryRanges,
    /// Bytes of VRAM.
    pub(crate) local: Disjoint<PLANES>,
    /// GGTT entries through which the device may save the context of a previous driver: they keep
    /// the scratch page.
    pub(crate) image: Range<u64>,
}

impl Lit {
    /// Finds what the device uses. Called before any write to the device, which must be awake.
    pub(crate) fn find(hardware: &Hardware) -> Self {
        let mut lit = Self::default();
        let entries = u64::from(hardware.topology().gtt_entries);
        let found = &mut |scanout: Scanout| {
            let first = u64::from(scanout.first);
            let end = (first + u64::from(scanout.entries)).min(entries);
            lit.entries.add(first..end);
            if let Some(bytes) = scanout.local {
                let page = u64::from(PAGE_SIZE);
                let end = bytes.end.checked_next_multiple_of(page);
                lit.local
                    .add(bytes.start & !(page - 1)..end.unwrap_or(u64::MAX));
            }
        };
        hardware
            .generation()
            .scanouts(&hardware.hw(), hardware.topology(), found);
        let image = hardware
            .generation()
            .loaded_image(&hardware.hw(), hardware.topology());
        lit.image = image.map_or(0..0, |image| image.start.into()..image.end.into());
        lit
    }
}

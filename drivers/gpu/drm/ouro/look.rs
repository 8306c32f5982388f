// SPDX-License-Identifier: GPL-2.0

//! What a device is, and what it shows, before the driver changes anything of it.

use kernel::{device::Device, prelude::*};
use ouro_core::disjoint::Disjoint;
use ouro_hw::{generation::Scanout, types::PAGE_SIZE, Chip, Gt, Hw, Platform, Registers, Topology};

use crate::{
    hardware::{errno, CountedBar, Hardware, Waits},
    report::Words,
};

/// The window of a table that is not mapped yet.
struct Unmapped;

impl Registers for Unmapped {
    fn read32(&self, _offset: u32) -> u32 {
        !0
    }

    fn write32(&self, _offset: u32, _value: u32) {}

    fn write64(&self, _offset: u32, _value: u64) {}
}

/// A device that was woken, and asked what it has. No memory of it was touched, nor its table.
pub(crate) struct Look {
    pub(crate) chip: &'static Chip,
    pub(crate) gt: Gt,
    pub(crate) topology: Topology,
}

impl Look {
    /// Looks at a device, by its registers alone. One that is refused is let asleep again.
    ///
    /// Errors: `ENODEV` if it is gone, or cannot be used as it is set up; `ETIMEDOUT`. The log says why.
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
        let topology = chip
            .generation
            .wake(&hw, &mut gt, &Waits)
            .and_then(|()| chip.generation.probe(&hw, chip));
        match topology {
            Ok(topology) => Ok(Self { chip, gt, topology }),
            Err(e) => {
                doze(chip, &hw, &mut gt);
                dev_err!(dev, "{}\n", Words(e));
                Err(errno(e))
            }
        }
    }

    /// Lets the device go, asleep again.
    pub(crate) fn leave(mut self, regs: &CountedBar, platform: &dyn Platform) {
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

/// Planes of the display that are kept apart from each other; more of them are kept together.
pub(crate) const PLANES: usize = 8;

/// Ranges of entries of the global table.
pub(crate) type EntryRanges = Disjoint<PLANES>;

/// What the firmware left on the screen, which stays there.
#[derive(Default)]
pub(crate) struct Lit {
    /// Entries of the global table.
    pub(crate) entries: EntryRanges,
    /// Bytes of the device's own memory.
    pub(crate) local: Disjoint<PLANES>,
}

impl Lit {
    /// Finds what planes of the display show. Before anything of the device is written. The device is awake.
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
        lit
    }
}

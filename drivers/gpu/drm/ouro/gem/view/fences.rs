// SPDX-License-Identifier: GPL-2.0

//! The contents of a device's fence registers.
//!
//! The table is authoritative, and the registers are a copy of it. It has a spinlock of its own,
//! under which only registers are accessed, so that they can be rewritten wherever that is needed:
//!
//! * [`Fences::restore`] is called when the device is started, and on resume;
//! * a reset of engines preserves the fences if the document says so (SNB PRM V1P2 §4.5.4.1.1:
//!   "unaffected by graphics reset"). Other chips lose them (`Generation::reset_empties_fences`),
//!   and for fences over VRAM no document tells: the reset calls `restore()`, which neither sleeps
//!   nor allocates. Until then the CPU would see tiles, so programs lose their mappings before
//!   (`Aperture::veil`).

use kernel::{
    new_spinlock_irq,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq,
    },
};
use ouro_hw::fence_regs::FenceRegion;

use crate::hardware::Hardware;

/// The fences of a device; none if the chip has none.
#[pin_data]
pub(crate) struct Fences {
    hardware: Arc<Hardware>,
    #[pin]
    table: SpinLockIrq<KVec<Option<FenceRegion>>>,
    writes: Atomic<u64>,
}

impl Fences {
    /// Creates an empty table; the registers are unchanged until [`restore`](Self::restore).
    pub(crate) fn new(hardware: Arc<Hardware>) -> Result<impl PinInit<Self>> {
        let count = hardware.topology().fences.map_or(0, |f| f.count());
        let mut table = KVec::with_capacity(count.into(), GFP_KERNEL)?;
        for _ in 0..count {
            table.push(None, GFP_KERNEL)?;
        }
        Ok(pin_init!(Self {
            hardware,
            table <- new_spinlock_irq!(table, "ouro_fences"),
            writes: Atomic::new(0),
        }))
    }

    /// Sets or clears fence `n`. Any context.
    ///
    /// Errors: `EINVAL` if there is no such fence, or it cannot hold the region; it is empty then.
    pub(crate) fn set(&self, n: u8, region: Option<FenceRegion>) -> Result {
        let regs = self.hardware.topology().fences.ok_or(EINVAL)?;
        let mut table = self.table.lock();
        let slot = table.get_mut(usize::from(n)).ok_or(EINVAL)?;
        *slot = None;
        self.writes.fetch_add(1, ordering::Relaxed);
        if regs
            .set(self.hardware.hw().regs, n, region.as_ref())
            .is_err()
        {
            let _ = regs.set(self.hardware.hw().regs, n, None);
            return Err(EINVAL);
        }
        *slot = region;
        Ok(())
    }

    /// Writes all registers, because the device lost them, or another driver used them. Any
    /// context.
    pub(crate) fn restore(&self) {
        let Some(regs) = self.hardware.topology().fences else {
            return;
        };
        let table = self.table.lock();
        for (n, region) in (0u8..).zip(table.iter()) {
            // It cannot fail: the table's entries were in the registers before.
            let _ = regs.set(self.hardware.hw().regs, n, region.as_ref());
        }
    }

    /// Returns how often a fence was set or cleared.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(ordering::Relaxed)
    }
}

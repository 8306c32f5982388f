// SPDX-License-Identifier: GPL-2.0

//! What the detiling fences of a device hold.
//!
//! The table is the truth, the registers repeat it. It has a spinlock of its own, under which
//! nothing but registers is touched, so that they can be written anew wherever that is needed:
//!
//! * when the device is started, and on resume, [`Fences::restore`] is called;
//! * a reset of engines leaves fences alone where the document says so (SNB PRM V1P2 §4.5.4.1.1:
//!   "unaffected by graphics reset"). Other chips lose them (`Generation::reset_empties_fences`), and of those over
//!   the device's own memory no document says it: whoever resets calls `restore()` after it, which neither sleeps nor
//!   allocates. Until then the CPU sees tiles: before it, programs lose their mappings of them (`Aperture::veil`).

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

/// The fences of a device: none, on a chip without.
#[pin_data]
pub(crate) struct Fences {
    hardware: Arc<Hardware>,
    #[pin]
    table: SpinLockIrq<KVec<Option<FenceRegion>>>,
    writes: Atomic<u64>,
}

impl Fences {
    /// All of them empty; the registers are as they were until [`restore`](Self::restore).
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

    /// Sets fence `n`, or clears it. Any context.
    ///
    /// Errors: `EINVAL` if there is no such fence, or none can hold the region; it is empty then.
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

    /// Writes all registers anew, since the device has forgotten them, or somebody else used them.
    /// Any context.
    pub(crate) fn restore(&self) {
        let Some(regs) = self.hardware.topology().fences else {
            return;
        };
        let table = self.table.lock();
        for (n, region) in (0u8..).zip(table.iter()) {
            // What is in the table has been in the register.
            let _ = regs.set(self.hardware.hw().regs, n, region.as_ref());
        }
    }

    /// How often one was set or cleared.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(ordering::Relaxed)
    }
}

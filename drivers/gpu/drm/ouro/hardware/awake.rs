// SPDX-License-Identifier: GPL-2.0

//! Keeps the device awake while it has users, and lets it sleep: forcewake, and suspend.

use kernel::{prelude::*, sync::atomic::ordering};

use super::{errno, Hardware, Waits};

impl Hardware {
    /// Keeps the device awake. Process context: waking may take a while. User space is frozen
    /// during a suspend; of the other users it waits only for those that hold `serving` or the
    /// lock of the recovery.
    ///
    /// Errors: `EBUSY` while it is suspended; those of the chip's `wake()`.
    pub(crate) fn get(&self) -> Result {
        if self.suspended.load(ordering::Acquire) {
            return Err(EBUSY);
        }
        let mut n = self.users.load(ordering::Relaxed);
        while n > 0 {
            match self.users.cmpxchg(n, n + 1, ordering::Full) {
                Ok(_) => return Ok(()),
                Err(now) => n = now,
            }
        }
        let _waking = self.waking.lock();
        if self.suspended.load(ordering::Relaxed) {
            return Err(EBUSY);
        }
        if self.users.load(ordering::Relaxed) == 0 {
            self.wake()?;
        }
        self.users.fetch_add(1, ordering::Full);
        Ok(())
    }

    /// Undoes [`get`](Self::get). The device stays awake until [`park`](Self::park).
    pub(crate) fn put(&self) {
        self.users.fetch_sub(1, ordering::Full);
    }

    /// Lets the device sleep if it has no users. Process context.
    pub(crate) fn park(&self) {
        let _waking = self.waking.lock();
        if self.users.load(ordering::Relaxed) == 0 && self.with_gt(|_, gt| gt.awake) {
            // On most chips, errors of batches cause no interrupt.
            self.report_errors();
            self.with_gt(|hw, gt| self.generation().sleep(hw, gt));
        }
    }

    /// Puts the device to sleep, even if it has users: at a system suspend, requests that have
    /// completed but are not retired. Work that still runs does not wake it: see
    /// [`get`](Self::get). Process context.
    pub(crate) fn suspend(&self) {
        let _serving = self.serving.lock();
        let _waking = self.waking.lock();
        self.suspended.store(true, ordering::Release);
        self.with_gt(|hw, gt| {
            if gt.awake {
                self.generation().sleep(hw, gt);
            }
            // The firmware, or the kernel that loads a hibernation image, may request forcewake.
            gt.cleared = false;
        });
    }

    /// Undoes [`suspend`](Self::suspend). Process context.
    pub(crate) fn resume(&self) -> Result {
        let _waking = self.waking.lock();
        let woken = self.wake();
        self.suspended.store(false, ordering::Release);
        woken
    }

    /// Takes forcewake. Called under `waking`.
    fn wake(&self) -> Result {
        self.with_gt(|hw, gt| self.generation().wake(hw, gt, &Waits))
            .map_err(errno)
    }
}

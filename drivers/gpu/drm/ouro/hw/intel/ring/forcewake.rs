// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Forcewake: keeping the device awake (G-15, G-17).
//!
//! Registers below 0x4_0000 are in a power well that the device turns off when it idles. A
//! forcewake bit keeps it on. The core holds forcewake from before it publishes work until the work
//! is retired, so that neither a submission nor an interrupt has to wait for the device.
//!
//! A device that answers late is taken to be awake, with a warning ([`late`]).

use super::{
    fifo::{self, Fifo},
    late,
    regs::masked,
    RingChip,
};
use crate::{
    generation::DeviceError,
    gt::Gt,
    intel::late::{in_time, Late},
    io::{AtomicWait, Hw, SleepWait},
    poll,
};

/// A forcewake method of a machine.
pub(crate) struct Method {
    /// The request register; masked.
    pub(crate) request: u32,
    /// The bit of the request.
    pub(crate) on: u16,
    /// The register whose bit 0 acknowledges the request.
    pub(crate) answer: poll::Named,
    /// Returns whether the machine uses this method. The device is awake; if this method has not
    /// woken it, registers read 0.
    pub(crate) works: fn(&Hw<'_>) -> bool,
}

impl Method {
    fn request(&self, hw: &Hw<'_>, on: bool) {
        let value = if on {
            masked(self.on, 0)
        } else {
            masked(0, self.on)
        };
        hw.regs.write32(self.request, value);
    }
}

/// Forcewake of a machine.
pub(crate) struct Forcewake {
    /// The possible methods, at least one: the machine uses the first that works.
    pub(crate) methods: &'static [Method],
    /// Returns the index of the machine's method; `None` until the device was probed.
    pub(crate) known: fn(&Hw<'_>) -> Option<usize>,
    /// The register of the threads' status.
    pub(crate) threads: poll::Named,
    /// Its bits that are set while threads are not in C0.
    pub(crate) not_c0: u32,
    /// The FIFO of writes to the engines.
    pub(crate) fifo: Fifo,
    /// Raises the clock, as soon as the device is awake.
    pub(crate) fast: fn(&Hw<'_>),
    /// Lowers the clock, before the device may sleep.
    pub(crate) slow: fn(&Hw<'_>),
}

impl Forcewake {
    /// Returns the machine's method, if it is known.
    fn method(&self, hw: &Hw<'_>) -> Option<&'static Method> {
        match (self.methods, (self.known)(hw)) {
            ([only], _) => Some(only),
            (methods, known) => methods.get(known?),
        }
    }

    /// Requests forcewake by one method, and waits until the device is awake. Returns the first
    /// answer that was late.
    fn wake_by(
        &self,
        method: &Method,
        hw: &Hw<'_>,
        wait: &dyn AtomicWait,
    ) -> Result<Option<Late>, DeviceError> {
        let spin = |what, micros, done: &dyn Fn(u32) -> bool| {
            in_time(poll::spinning(hw.regs, wait, what, micros, done))
        };
        let mut first = None;
        // An acknowledgement of an earlier request must not count as one of this request.
        if is_awake(hw.regs.read32(method.answer.offset)) {
            method.request(hw, false);
            if !spin(method.answer, ACK_MICROS, &|v| !is_awake(v))? {
                first = Some(late::RELEASE);
            }
        }
        method.request(hw, true);
        if !spin(method.answer, ACK_MICROS, &is_awake)? {
            first = first.or(Some(late::ACKNOWLEDGE));
        }
        if !spin(self.threads, THREADS_MICROS, &|v| self.in_c0(v))? {
            first = first.or(Some(late::THREADS));
        }
        Ok(first)
    }

    /// Clears the requests of the firmware or of a previous driver, by whatever bits: they would
    /// keep the device awake whatever the driver requests. Upstream clears them all, too
    /// (`fw_domain_reset`), also on resume (`intel_uncore_resume_early`). With a single method
    /// there is only the driver's bit.
    fn clear(&self, hw: &Hw<'_>) {
        if self.methods.len() > 1 {
            for method in self.methods {
                hw.regs.write32(method.request, masked(0, u16::MAX));
            }
        }
    }

    /// Tries the methods one after the other until one works. Returns its first answer that was
    /// late.
    fn find(&self, hw: &Hw<'_>, wait: &dyn AtomicWait) -> Result<Option<Late>, DeviceError> {
        for tried in self.methods {
            let late = self.wake_by(tried, hw, wait)?;
            if (tried.works)(hw) {
                return Ok(late);
            }
            tried.request(hw, false);
        }
        Err(DeviceError::Unsupported(
            "forcewake by FORCEWAKE or FORCEWAKE_MT",
        ))
    }

    const fn in_c0(&self, status: u32) -> bool {
        status & self.not_c0 == 0
    }

    /// Clears the record of accesses that were lost earlier (G-16): they were not the driver's.
    fn clear_lost(&self, hw: &Hw<'_>) {
        let lost = hw.regs.read32(self.fifo.lost);
        if lost != 0 {
            hw.regs.write32(self.fifo.lost, lost);
        }
    }
}
/// Timeout in microseconds of an acknowledgement, of a request or its release (G-15).
const ACK_MICROS: u32 = 50_000;
/// Timeout in microseconds for all threads to be in C0 (G-17).
const THREADS_MICROS: u32 = 5_000;

const fn is_awake(ack: u32) -> bool {
    ack & 1 != 0
}

/// Wakes the device, unless it is awake.
///
/// Errors: [`DeviceError::Gone`], or [`DeviceError::Unsupported`] if no method works.
pub(crate) fn wake(
    chip: &RingChip,
    hw: &Hw<'_>,
    gt: &mut Gt,
    wait: &dyn AtomicWait,
) -> Result<(), DeviceError> {
    if gt.awake {
        return Ok(());
    }
    if let Some(w) = &chip.wake {
        if !gt.cleared {
            w.clear(hw);
            gt.cleared = true;
        }
        let late = match w.method(hw) {
            Some(method) => w.wake_by(method, hw, wait)?,
            None => w.find(hw, wait)?,
        };
        if let Some(late) = late {
            late.log_once(hw, gt);
        }
        w.clear_lost(hw);
        (w.fast)(hw);
    }
    gt.awake = true;
    gt.counts.wakes = gt.counts.wakes.wrapping_add(1);
    // Counts the FIFO's room, so that the first submission need not read it.
    fifo::refill(chip, hw, gt)
}

/// Releases forcewake.
pub(crate) fn sleep(chip: &RingChip, hw: &Hw<'_>, gt: &mut Gt) {
    if gt.awake {
        if let Some(w) = &chip.wake {
            (w.slow)(hw);
            match w.method(hw) {
                Some(method) => method.request(hw, false),
                None => w
                    .methods
                    .iter()
                    .for_each(|method| method.request(hw, false)),
            }
        }
        gt.awake = false;
        gt.fifo = 0;
    }
}

/// Makes sure that the device is awake and stays so, for callers without `Gt`: a reset may have
/// lost the request. Errors: as [`wake`].
pub(crate) fn hold(chip: &RingChip, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    if let Some(w) = &chip.wake {
        let method = w.method(hw).or(w.methods.first());
        let method = method.ok_or(DeviceError::Unsupported(
            "forcewake by FORCEWAKE or FORCEWAKE_MT",
        ))?;
        method.request(hw, true);
        let sleep = |what, micros, done: &dyn Fn(u32) -> bool| {
            in_time(poll::sleeping(hw.regs, wait, what, micros, done))
        };
        if !sleep(method.answer, ACK_MICROS, &is_awake)? {
            late::ACKNOWLEDGE.log(hw);
        }
        if !sleep(w.threads, THREADS_MICROS, &|v| w.in_c0(v))? {
            late::THREADS.log(hw);
        }
        w.clear_lost(hw);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::CHIP,
        mock::{Access, Mock},
    };

    /// Returns a device that acknowledges at once.
    fn device() -> Mock {
        let mock = Mock::default();
        mock.fix(0x13_0090, 1);
        mock.script(0x13_0090, &[0]);
        mock.set(0x12_0008, 0x40);
        mock
    }

    #[test]
    fn it_is_woken_in_the_documented_order() {
        let mock = device();
        let mut gt = Gt::default();
        wake(&CHIP, &mock.hw(), &mut gt, &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::R(0x13_0090),
                Access::W(0xa18c, 0x0001_0001),
                Access::R(0x13_0090),
                Access::R(0x13_805c),
                Access::R(0x12_0000),
                Access::R(0x12_0008),
            ]
        );
        assert!(gt.awake);
        assert_eq!((gt.fifo, gt.counts.wakes), (44, 1));
    }

    #[test]
    fn an_awake_device_is_left_alone() {
        let mock = device();
        let mut gt = Gt {
            awake: true,
            ..Gt::default()
        };
        wake(&CHIP, &mock.hw(), &mut gt, &mock).unwrap();
        assert_eq!(mock.take(), []);
        assert_eq!(gt.counts.wakes, 0);
    }

    #[test]
    fn an_old_answer_is_not_taken_for_ours() {
        let mock = device();
        mock.script(0x13_0090, &[1, 1, 0, 0, 1]);
        wake(&CHIP, &mock.hw(), &mut Gt::default(), &mock).unwrap();
        assert_eq!(
            mock.take()[..7],
            [
                Access::R(0x13_0090),
                Access::W(0xa18c, 0x0001_0000),
                Access::R(0x13_0090),
                Access::R(0x13_0090),
                Access::W(0xa18c, 0x0001_0001),
                Access::R(0x13_0090),
                Access::R(0x13_0090),
            ]
        );
    }

    #[test]
    fn lost_accesses_are_cleared() {
        let mock = device();
        mock.set(0x12_0000, 0x5);
        wake(&CHIP, &mock.hw(), &mut Gt::default(), &mock).unwrap();
        assert_eq!(mock.written(0x12_0000), [5]);
    }

    #[test]
    fn a_late_answer_is_logged_once_and_work_goes_on() {
        // Upstream goes on after each: fw_domain_wait_ack_clear, fw_domain_wait_ack_set,
        // __gen6_gt_wait_for_thread_c0.
        for (register, value, what) in [
            (0x13_0090, 3, "was not cleared"),
            (0x13_0090, 0, "not acknowledged"),
            (0x13_805c, 4, "not in C0"),
        ] {
            let mock = device();
            mock.script(register, &[]);
            mock.fix(register, value);
            let mut gt = Gt::default();
            wake(&CHIP, &mock.hw(), &mut gt, &mock).unwrap();
            assert!(gt.awake);
            assert_eq!(mock.written(0xa18c).last(), Some(&0x0001_0001));
            // The room was counted: a submission need not read it.
            assert_eq!(gt.fifo, 44);
            sleep(&CHIP, &mock.hw(), &mut gt);
            if register != 0x13_0090 {
                mock.script(0x13_0090, &[0]);
            }
            wake(&CHIP, &mock.hw(), &mut gt, &mock).unwrap();
            let warned = mock.warned.borrow();
            assert!(warned.len() == 1 && warned[0].contains(what), "{warned:?}");
        }
    }

    #[test]
    fn a_reset_goes_on_after_a_late_answer() {
        for (register, value) in [(0x13_0090, 0), (0x13_805c, 4)] {
            let mock = device();
            mock.script(register, &[]);
            mock.fix(register, value);
            hold(&CHIP, &mock.hw(), &mock).unwrap();
            assert_eq!(mock.warned.borrow().len(), 1);
        }
    }

    #[test]
    fn a_device_that_is_gone_does_not_wake_up() {
        let mock = device();
        mock.gone.set(true);
        let mut gt = Gt::default();
        let r = wake(&CHIP, &mock.hw(), &mut gt, &mock);
        assert_eq!((r, gt.awake), (Err(DeviceError::Gone), false));
        let r = hold(&CHIP, &mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Gone));
    }

    #[test]
    fn sleep_is_one_write_and_forgets_the_room() {
        let mock = device();
        let mut gt = Gt {
            awake: true,
            fifo: 9,
            ..Gt::default()
        };
        sleep(&CHIP, &mock.hw(), &mut gt);
        sleep(&CHIP, &mock.hw(), &mut gt);
        assert_eq!(mock.take(), [Access::W(0xa18c, 0x0001_0000)]);
        assert_eq!((gt.awake, gt.fifo), (false, 0));
    }

    #[test]
    fn the_clock_is_fast_while_it_is_awake() {
        let mock = device();
        let hw = Hw {
            card: 0x000d_001a,
            ..mock.hw()
        };
        let mut gt = Gt::default();
        wake(&CHIP, &hw, &mut gt, &mock).unwrap();
        let log = mock.take();
        // The clock is raised before the FIFO's room is counted.
        assert_eq!(
            log[log.len() - 2..],
            [Access::W(0xa008, 0x3400_0000), Access::R(0x12_0008)]
        );
        sleep(&CHIP, &hw, &mut gt);
        assert_eq!(
            mock.take(),
            [
                Access::W(0xa008, 0x1a00_0000),
                Access::W(0xa18c, 0x0001_0000)
            ]
        );
    }

    #[test]
    fn hold_asks_again() {
        let mock = device();
        mock.script(0x13_0090, &[]);
        hold(&CHIP, &mock.hw(), &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::W(0xa18c, 0x0001_0001),
                Access::R(0x13_0090),
                Access::R(0x13_805c),
                Access::R(0x12_0000),
            ]
        );
    }
}

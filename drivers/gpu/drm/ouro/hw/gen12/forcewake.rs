// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Forcewake (digest §5.5).
//!
//! Each domain has its own request: one that all engines need, and those of the media engines that
//! the card has. All are held together: writes to a sleeping domain are lost, and writes to the
//! compute engines' submission queues do not wake theirs.

use super::{
    engine::{Well, ALL},
    fuses, poll,
    regs::masked,
};
use crate::{
    generation::DeviceError,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
};

/// A forcewake domain: its request and acknowledge registers.
struct Unit {
    request: u32,
    answer: poll::Named,
}

const fn unit(request: u32, answer: u32, name: &'static str) -> Unit {
    Unit {
        request,
        answer: poll::Named {
            offset: answer,
            name,
        },
    }
}

/// The domain that all engines need (digest §3.3 row 11).
const GT: Unit = unit(0xa188, 0x13_0044, "FORCEWAKE_ACK_GT");
/// Render and compute (row 12).
const RENDER: Unit = unit(0xa278, 0x0d84, "FORCEWAKE_ACK_RENDER");
/// Bit 0 of request and acknowledge: the driver's.
const DRIVER: u16 = 1 << 0;
/// Bit 15 of request and acknowledge: a fallback if the first is not acknowledged.
const FALLBACK: u16 = 1 << 15;
/// The bits that the first wake clears: upstream's (`fw_domain_reset`), which keeps bit 12.
const ANY: u16 = 0xefff;
/// Microseconds until an acknowledge.
const MICROS: u32 = 50_000;

/// Returns the domain of a media engine (row 13).
fn of(well: Well) -> Option<Unit> {
    let nth = |base: u32, n: u8| base.wrapping_add(u32::from(n).wrapping_mul(4));
    match well {
        Well::None | Well::Render => None,
        Well::Video(n) => Some(unit(nth(0xa540, n), nth(0x0d50, n), "FORCEWAKE_ACK_VIDEO")),
        Well::Enhance(n) => Some(unit(
            nth(0xa560, n),
            nth(0x0d70, n),
            "FORCEWAKE_ACK_ENHANCE",
        )),
    }
}

/// Returns the domains of this card; without media before it was probed.
fn units(hw: &Hw<'_>) -> impl Iterator<Item = Unit> {
    let media = fuses::numbered(hw).filter_map(|(_, e)| of(e.well));
    [GT, RENDER].into_iter().chain(media)
}

/// Clears the requests of the firmware or of a previous driver: they would keep a domain awake
/// whatever the driver requests. Media engines may be fused off, and their domains with them, so no
/// acknowledge is waited for.
fn clear(hw: &Hw<'_>) {
    let media = ALL.iter().filter_map(|engine| of(engine.well));
    for unit in [GT, RENDER].into_iter().chain(media) {
        hw.regs.write32(unit.request, masked(0, ANY));
    }
}

/// Waits until a domain's acknowledge has a bit set, or clear.
type Answered<'a> = dyn Fn(poll::Named, u16, bool) -> Result<u32, DeviceError> + 'a;

const fn says(answer: u32, bit: u16, on: bool) -> bool {
    (answer & bit as u32 != 0) == on
}

/// Writes the driver's request bit, and waits for the acknowledge.
fn request(hw: &Hw<'_>, unit: &Unit, on: bool, answered: &Answered<'_>) -> Result<(), DeviceError> {
    let write = |bit: u16, on| {
        let value = if on { masked(bit, 0) } else { masked(0, bit) };
        hw.regs.write32(unit.request, value);
    };
    write(DRIVER, on);
    match answered(unit.answer, DRIVER, on) {
        // An acknowledge can be lost if the request meets a wake-up of the device's own; another
        // request is acknowledged, and shows the first one's acknowledge, too.
        Err(DeviceError::Timeout(_)) => {
            write(FALLBACK, true);
            let seen = answered(unit.answer, FALLBACK, true)
                .and_then(|_| answered(unit.answer, DRIVER, on));
            write(FALLBACK, false);
            seen.map(|_| ())
        }
        other => other.map(|_| ()),
    }
}

/// Takes a domain that was released. The acknowledge of an earlier request clears late: it must not
/// be taken for this one's, or writes would go to a domain that falls asleep.
fn rouse(hw: &Hw<'_>, unit: &Unit, answered: &Answered<'_>) -> Result<(), DeviceError> {
    let now = hw.regs.read32(unit.answer.offset);
    if now != u32::MAX && says(now, DRIVER, true) {
        match request(hw, unit, false, answered) {
            Err(DeviceError::Timeout(_)) => {
                hw.platform.warn(
                    "forcewake: the acknowledge of a released domain was not cleared in time",
                );
            }
            other => other?,
        }
    }
    request(hw, unit, true, answered)
}

/// Takes forcewake.
pub(super) fn wake(hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError> {
    if gt.awake {
        return Ok(());
    }
    // The card was not probed: this is the first wake.
    if hw.card == 0 {
        clear(hw);
    }
    for unit in units(hw) {
        rouse(hw, &unit, &|answer, bit, on| {
            poll::spinning(hw.regs, wait, answer, MICROS, &|v| says(v, bit, on))
        })?;
    }
    gt.awake = true;
    gt.counts.wakes = gt.counts.wakes.wrapping_add(1);
    Ok(())
}

/// Releases forcewake.
pub(super) fn sleep(hw: &Hw<'_>, gt: &mut Gt) {
    if gt.awake {
        for unit in units(hw) {
            hw.regs.write32(unit.request, masked(0, DRIVER));
        }
        gt.awake = false;
    }
}

/// Makes sure that forcewake is held, where `Gt` is not available: a reset may have cleared
/// requests, and the card's domains were not known when it was first taken. Requests that exist are
/// not released: other threads may be using their domains.
pub(super) fn hold(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    for unit in units(hw) {
        request(hw, &unit, true, &|answer, bit, on| {
            poll::sleeping(hw.regs, wait, answer, MICROS, &|v| says(v, bit, on))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    const UNITS: [(u32, u32); 6] = [
        (0xa188, 0x13_0044),
        (0xa278, 0x0d84),
        (0xa540, 0x0d50),
        (0xa548, 0x0d58),
        (0xa560, 0x0d70),
        (0xa564, 0x0d74),
    ];

    /// One that sleeps, and answers at once.
    fn device() -> Mock {
        let mock = Mock::default();
        for (_, answer) in UNITS {
            mock.fix(answer, 1);
            mock.script(answer, &[0]);
        }
        mock
    }

    /// One that is awake.
    fn awake() -> Mock {
        let mock = device();
        for (_, answer) in UNITS {
            mock.script(answer, &[]);
        }
        mock
    }

    fn probed(mock: &Mock) -> Hw<'_> {
        Hw {
            card: 0b11_1100_0111,
            ..mock.hw()
        }
    }

    #[test]
    fn all_units_of_the_card_are_woken() {
        let mock = device();
        let mut gt = Gt::default();
        wake(&probed(&mock), &mut gt, &mock).unwrap();
        let expected: std::vec::Vec<_> = UNITS
            .iter()
            .flat_map(|(request, answer)| {
                [
                    Access::R(*answer),
                    Access::W(*request, 0x0001_0001),
                    Access::R(*answer),
                ]
            })
            .collect();
        assert_eq!(mock.take(), expected);
        assert_eq!((gt.awake, gt.counts.wakes), (true, 1));
        wake(&probed(&mock), &mut gt, &mock).unwrap();
        assert_eq!(mock.take(), []);
        sleep(&probed(&mock), &mut gt);
        sleep(&probed(&mock), &mut gt);
        assert_eq!(mock.take(), UNITS.map(|(r, _)| Access::W(r, 0x0001_0000)));
        assert!(!gt.awake);
    }

    #[test]
    fn the_first_wake_clears_all_requests() {
        // Upstream's fw_domain_reset: 0xefff from Gen12 on, of all domains and without a wait.
        let mock = device();
        wake(&mock.hw(), &mut Gt::default(), &mock).unwrap();
        let log = mock.take();
        assert_eq!(log[..6], UNITS.map(|(r, _)| Access::W(r, 0xefff_0000)));
        // Before a card is known, no media domain is requested.
        assert_eq!(log.len(), 6 + 6);
        assert_eq!(log[7], Access::W(0xa188, 0x0001_0001));
        // The fuses are known.
        let mock = device();
        wake(&probed(&mock), &mut Gt::default(), &mock).unwrap();
        assert_eq!(mock.written(0xa188), [0x0001_0001]);
        let mock = awake();
        hold(&probed(&mock), &mock).unwrap();
        assert_eq!(mock.take().len(), 12);
    }

    #[test]
    fn an_answer_of_before_is_waited_away() {
        let mock = device();
        // It was released a moment ago: the old acknowledge is still set, clears, and is set again.
        mock.script(0x13_0044, &[1, 1, 1, 0, 0, 1]);
        wake(&probed(&mock), &mut Gt::default(), &mock).unwrap();
        let (r, w) = (Access::R(0x13_0044), |v| Access::W(0xa188, v));
        let (off, on) = (w(0x0001_0000), w(0x0001_0001));
        assert_eq!(mock.take()[..8], [r, off, r, r, r, on, r, r]);
        assert!(mock.warned.borrow().is_empty());
        // A held domain is not released.
        let mock = awake();
        hold(&mock.hw(), &mock).unwrap();
        assert_eq!(mock.written(0xa188), [0x0001_0001]);
    }

    #[test]
    fn one_that_does_not_fall_asleep_is_told_of() {
        let mock = awake();
        let mut gt = Gt::default();
        mock.fix(0x13_0044, 0x8001);
        wake(&mock.hw(), &mut gt, &mock).unwrap();
        assert_eq!(
            mock.written(0xa188),
            [
                0xefff_0000,
                0x0001_0000,
                0x8000_8000,
                0x8000_0000,
                0x0001_0001
            ]
        );
        assert_eq!(mock.warned.borrow().len(), 2);
        assert!(gt.awake);
    }

    #[test]
    fn a_lost_request_is_helped() {
        let mock = awake();
        mock.fix(0x13_0044, 0x8001);
        mock.script(0x13_0044, &[0, 0, 0, 0, 0x8000]);
        hold(&mock.hw(), &mock).unwrap();
        assert_eq!(
            mock.written(0xa188),
            [0x0001_0001, 0x8000_8000, 0x8000_0000]
        );
    }

    #[test]
    fn one_that_does_not_answer_is_named() {
        let mock = device();
        mock.fix(0x0d84, 0);
        let mut gt = Gt::default();
        let r = wake(&mock.hw(), &mut gt, &mock);
        assert_eq!(r, Err(DeviceError::Timeout("FORCEWAKE_ACK_RENDER")));
        assert!(!gt.awake);
        mock.gone.set(true);
        assert_eq!(wake(&mock.hw(), &mut gt, &mock), Err(DeviceError::Gone));
    }
}

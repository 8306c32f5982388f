// SPDX-License-Identifier: GPL-2.0
//! Waking the device (digest §5.5).
//!
//! Units of power are asked for one by one: those that all engines need, and those of the media engines
//! that the card has. All are held together: what is written to a sleeping one is lost, and the compute
//! engines' submission queues are not among the registers that wake theirs.

use super::{engine::Well, fuses, poll, regs::masked};
use crate::{
    generation::BringUpError,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
};

/// The unit of a request, and where its answer is.
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

/// What all engines need (digest §3.3 row 11).
const GT: Unit = unit(0xa188, 0x13_0044, "FORCEWAKE_ACK_GT");
/// Render and compute (row 12).
const RENDER: Unit = unit(0xa278, 0x0d84, "FORCEWAKE_ACK_RENDER");
/// Bit 0 of a request and its answer: the driver's.
const DRIVER: u16 = 1 << 0;
/// Bit 15 of the same: in case the first one is not answered.
const FALLBACK: u16 = 1 << 15;
/// Microseconds until an answer.
const MICROS: u32 = 50_000;

/// A media engine's (row 13).
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

/// The units of this card. Before it was probed, those without media.
fn units(hw: &Hw<'_>) -> impl Iterator<Item = Unit> {
    let media = fuses::numbered(hw).filter_map(|(_, e)| of(e.well));
    [GT, RENDER].into_iter().chain(media)
}

/// Asks for a unit, and waits for the answer with `answered`.
fn ask(
    hw: &Hw<'_>,
    unit: &Unit,
    answered: &dyn Fn(poll::Named, u16) -> Result<u32, BringUpError>,
) -> Result<(), BringUpError> {
    let want = |bit: u16| {
        hw.regs.write32(unit.request, masked(bit, 0));
        answered(unit.answer, bit).map(|_| ())
    };
    match want(DRIVER) {
        // A request can be lost on the way out of sleep; another one wakes it, and the first is seen.
        Err(BringUpError::Timeout(_)) => {
            want(FALLBACK)?;
            let seen = answered(unit.answer, DRIVER).map(|_| ());
            hw.regs.write32(unit.request, masked(0, FALLBACK));
            seen
        }
        other => other,
    }
}

/// Wakes it.
pub(super) fn wake(hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), BringUpError> {
    if gt.awake {
        return Ok(());
    }
    for unit in units(hw) {
        ask(hw, &unit, &|answer, bit| {
            poll::spinning(hw.regs, wait, answer, MICROS, &|v| v & u32::from(bit) != 0)
        })?;
    }
    gt.awake = true;
    gt.counts.wakes = gt.counts.wakes.wrapping_add(1);
    Ok(())
}

/// Lets it sleep.
pub(super) fn sleep(hw: &Hw<'_>, gt: &mut Gt) {
    if gt.awake {
        for unit in units(hw) {
            hw.regs.write32(unit.request, masked(0, DRIVER));
        }
        gt.awake = false;
    }
}

/// Makes sure that it is awake and stays so, where `Gt` cannot be had: a reset may have lost requests, and
/// what the card has was not known when it was first woken.
pub(super) fn hold(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
    for unit in units(hw) {
        ask(hw, &unit, &|answer, bit| {
            poll::sleeping(hw.regs, wait, answer, MICROS, &|v| v & u32::from(bit) != 0)
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    const ALL: [(u32, u32); 6] = [
        (0xa188, 0x13_0044),
        (0xa278, 0x0d84),
        (0xa540, 0x0d50),
        (0xa548, 0x0d58),
        (0xa560, 0x0d70),
        (0xa564, 0x0d74),
    ];

    fn device() -> Mock {
        let mock = Mock::default();
        for (_, answer) in ALL {
            mock.fix(answer, 1);
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
        let expected: std::vec::Vec<_> = ALL
            .iter()
            .flat_map(|(request, answer)| [Access::W(*request, 0x0001_0001), Access::R(*answer)])
            .collect();
        assert_eq!(mock.take(), expected);
        assert_eq!((gt.awake, gt.counts.wakes), (true, 1));
        wake(&probed(&mock), &mut gt, &mock).unwrap();
        assert_eq!(mock.take(), []);
        sleep(&probed(&mock), &mut gt);
        sleep(&probed(&mock), &mut gt);
        assert_eq!(mock.take(), ALL.map(|(r, _)| Access::W(r, 0x0001_0000)));
        assert!(!gt.awake);
    }

    #[test]
    fn before_a_card_is_known_media_is_left_alone() {
        let mock = device();
        wake(&mock.hw(), &mut Gt::default(), &mock).unwrap();
        assert_eq!(mock.take().len(), 4);
        hold(&probed(&mock), &mock).unwrap();
        assert_eq!(mock.take().len(), 12);
    }

    #[test]
    fn a_lost_request_is_helped() {
        let mock = device();
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
        assert_eq!(r, Err(BringUpError::Timeout("FORCEWAKE_ACK_RENDER")));
        assert!(!gt.awake);
        mock.gone.set(true);
        assert_eq!(wake(&mock.hw(), &mut gt, &mock), Err(BringUpError::Gone));
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Forcewake (digest §5.5).
//!
//! Each domain has its own request: one that all engines need, and those of the media engines that
//! the card has. All are held together: writes to a sleeping domain are lost, and writes to the
//! compute engines' submission queues do not wake theirs.
//!
//! A domain that answers late is taken to be awake, with a warning ([`Late`]): upstream goes on,
//! too (`fw_domain_wait_ack_clear`, `fw_domain_wait_ack_set`).

use super::{
    engine::{Well, ALL},
    fuses, poll,
    regs::masked,
};
use crate::{
    generation::DeviceError,
    gt::Gt,
    intel::late::{in_time, Late},
    io::{AtomicWait, Hw, SleepWait},
};

/// A forcewake domain.
struct Domain {
    /// Its request register.
    request: u32,
    /// Its acknowledge register.
    answer: poll::Named,
    /// The acknowledge of a request that was released did not clear.
    release: Late,
    /// A request was not acknowledged.
    acknowledge: Late,
}

/// The domain with bits `2 * n` and `2 * n + 1` of [`Gt::warned`].
macro_rules! domain {
    ($n:literal, $request:literal, $answer:literal, $name:literal) => {
        Domain {
            request: $request,
            answer: poll::Named {
                offset: $answer,
                name: $name,
            },
            release: Late::new(
                2 * $n,
                concat!(
                    "forcewake: the acknowledge of the previous request was not cleared in time (",
                    $name,
                    ")"
                ),
            ),
            acknowledge: Late::new(
                2 * $n + 1,
                concat!(
                    "forcewake: not acknowledged in time, register accesses may be lost (",
                    $name,
                    ")"
                ),
            ),
        }
    };
}

/// The domain that all engines need (digest §3.3 row 11).
static GT: Domain = domain!(0, 0xa188, 0x13_0044, "FORCEWAKE_ACK_GT");
/// Render and compute (row 12).
static RENDER: Domain = domain!(1, 0xa278, 0x0d84, "FORCEWAKE_ACK_RENDER");
/// Video decoders, by their number (row 13).
static VIDEO_0: Domain = domain!(2, 0xa540, 0x0d50, "FORCEWAKE_ACK_VDBOX0");
static VIDEO_2: Domain = domain!(3, 0xa548, 0x0d58, "FORCEWAKE_ACK_VDBOX2");
/// Video enhancers, by their number (row 13).
static ENHANCE_0: Domain = domain!(4, 0xa560, 0x0d70, "FORCEWAKE_ACK_VEBOX0");
static ENHANCE_1: Domain = domain!(5, 0xa564, 0x0d74, "FORCEWAKE_ACK_VEBOX1");
/// Bit 0 of request and acknowledge: the driver's.
const DRIVER: u16 = 1 << 0;
/// Bit 15 of request and acknowledge: a fallback if the first is not acknowledged.
const FALLBACK: u16 = 1 << 15;
/// The bits of others that are cleared: upstream's (`fw_domain_reset`), which keeps bit 12.
const ANY: u16 = 0xefff;
/// Microseconds until an acknowledge.
const MICROS: u32 = 50_000;

/// Returns the domain of a media engine.
const fn of(well: Well) -> Option<&'static Domain> {
    match well {
        Well::None | Well::Render => None,
        Well::Video0 => Some(&VIDEO_0),
        Well::Video2 => Some(&VIDEO_2),
        Well::Enhance0 => Some(&ENHANCE_0),
        Well::Enhance1 => Some(&ENHANCE_1),
    }
}

/// Returns the domains of this card; without media before it was probed.
fn domains(hw: &Hw<'_>) -> impl Iterator<Item = &'static Domain> {
    let media = fuses::numbered(hw).filter_map(|(_, e)| of(e.well));
    [&GT, &RENDER].into_iter().chain(media)
}

/// Clears the requests of the firmware or of a previous driver: they would keep a domain awake
/// whatever the driver requests. Media engines may be fused off, and their domains with them, so no
/// acknowledge is waited for.
fn clear(hw: &Hw<'_>) {
    let media = ALL.iter().filter_map(|engine| of(engine.well));
    for domain in [&GT, &RENDER].into_iter().chain(media) {
        hw.regs.write32(domain.request, masked(0, ANY));
    }
}

/// Waits until a domain's acknowledge has a bit set, or clear; returns whether that was in time.
type Answered<'a> = dyn Fn(poll::Named, u16, bool) -> Result<bool, DeviceError> + 'a;

const fn says(answer: u32, bit: u16, on: bool) -> bool {
    (answer & bit as u32 != 0) == on
}

/// Writes the driver's request bit, and waits for the acknowledge. Returns whether it came in time.
fn request(
    hw: &Hw<'_>,
    domain: &Domain,
    on: bool,
    answered: &Answered<'_>,
) -> Result<bool, DeviceError> {
    let write = |bit: u16, on| {
        let value = if on { masked(bit, 0) } else { masked(0, bit) };
        hw.regs.write32(domain.request, value);
    };
    write(DRIVER, on);
    if answered(domain.answer, DRIVER, on)? {
        return Ok(true);
    }
    // An acknowledge can be lost if the request meets a wake-up of the device's own; another
    // request is acknowledged, and shows the first one's acknowledge, too.
    write(FALLBACK, true);
    let seen = match answered(domain.answer, FALLBACK, true) {
        Ok(true) => answered(domain.answer, DRIVER, on),
        other => other,
    };
    write(FALLBACK, false);
    seen
}

/// Takes a domain that was released. The acknowledge of an earlier request clears late: it must not
/// be taken for this one's, or writes would go to a domain that falls asleep.
fn rouse(
    hw: &Hw<'_>,
    gt: &mut Gt,
    domain: &Domain,
    answered: &Answered<'_>,
) -> Result<(), DeviceError> {
    let now = hw.regs.read32(domain.answer.offset);
    if now != u32::MAX && says(now, DRIVER, true) && !request(hw, domain, false, answered)? {
        domain.release.log_once(hw, gt);
    }
    if !request(hw, domain, true, answered)? {
        domain.acknowledge.log_once(hw, gt);
    }
    Ok(())
}

/// Takes forcewake. Errors: [`DeviceError::Gone`].
pub(super) fn wake(hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError> {
    if gt.awake {
        return Ok(());
    }
    if !gt.cleared {
        clear(hw);
        gt.cleared = true;
    }
    for domain in domains(hw) {
        rouse(hw, gt, domain, &|answer, bit, on| {
            let done = |v| says(v, bit, on);
            in_time(poll::spinning(hw.regs, wait, answer, MICROS, &done))
        })?;
    }
    gt.awake = true;
    gt.counts.wakes = gt.counts.wakes.wrapping_add(1);
    Ok(())
}

/// Releases forcewake.
pub(super) fn sleep(hw: &Hw<'_>, gt: &mut Gt) {
    if gt.awake {
        for domain in domains(hw) {
            hw.regs.write32(domain.request, masked(0, DRIVER));
        }
        gt.awake = false;
    }
}

/// Makes sure that forcewake is held, where `Gt` is not available: a reset may have cleared
/// requests, and the card's domains were not known when it was first taken. Requests that exist are
/// not released: other threads may be using their domains. Errors: [`DeviceError::Gone`].
pub(super) fn hold(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    for domain in domains(hw) {
        let held = request(hw, domain, true, &|answer, bit, on| {
            let done = |v| says(v, bit, on);
            in_time(poll::sleeping(hw.regs, wait, answer, MICROS, &done))
        })?;
        if !held {
            domain.acknowledge.log(hw);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    const DOMAINS: [(u32, u32); 6] = [
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
        for (_, answer) in DOMAINS {
            mock.fix(answer, 1);
        }
        fall_asleep(&mock);
        mock
    }

    /// The domains of a device were released: their next acknowledge reads 0.
    fn fall_asleep(mock: &Mock) {
        for (_, answer) in DOMAINS {
            mock.script(answer, &[0]);
        }
    }

    /// One that is awake.
    fn awake() -> Mock {
        let mock = device();
        for (_, answer) in DOMAINS {
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

    /// A state whose device has only the driver's requests.
    fn cleared() -> Gt {
        Gt {
            cleared: true,
            ..Gt::default()
        }
    }

    #[test]
    fn all_domains_of_the_card_are_woken() {
        let mock = device();
        let mut gt = cleared();
        wake(&probed(&mock), &mut gt, &mock).unwrap();
        let expected: std::vec::Vec<_> = DOMAINS
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
        assert_eq!(mock.take(), DOMAINS.map(|(r, _)| Access::W(r, 0x0001_0000)));
        assert!(!gt.awake);
    }

    #[test]
    fn the_first_wake_clears_all_requests() {
        // Upstream's fw_domain_reset: 0xefff from Gen12 on, of all domains and without a wait.
        let mock = device();
        let mut gt = Gt::default();
        wake(&mock.hw(), &mut gt, &mock).unwrap();
        let log = mock.take();
        assert_eq!(log[..6], DOMAINS.map(|(r, _)| Access::W(r, 0xefff_0000)));
        // Before a card is known, no media domain is requested.
        assert_eq!(log.len(), 6 + 6);
        assert_eq!(log[7], Access::W(0xa188, 0x0001_0001));
        // Later ones do not.
        sleep(&mock.hw(), &mut gt);
        fall_asleep(&mock);
        wake(&mock.hw(), &mut gt, &mock).unwrap();
        assert!(!mock.take().contains(&Access::W(0xa188, 0xefff_0000)));
    }

    #[test]
    fn the_first_wake_after_a_suspend_clears_them_again() {
        // Upstream's intel_uncore_resume_early.
        let mock = device();
        let mut gt = cleared();
        gt.cleared = false;
        wake(&probed(&mock), &mut gt, &mock).unwrap();
        let log = mock.take();
        assert_eq!(log[..6], DOMAINS.map(|(r, _)| Access::W(r, 0xefff_0000)));
        assert_eq!(log.len(), 6 + 18);
        // Nothing is cleared while domains are held.
        let mock = awake();
        gt.cleared = false;
        wake(&probed(&mock), &mut gt, &mock).unwrap();
        assert_eq!(mock.take(), []);
        hold(&probed(&mock), &mock).unwrap();
        assert_eq!(mock.take().len(), 12);
    }

    #[test]
    fn an_answer_of_before_is_waited_away() {
        let mock = device();
        // It was released a moment ago: the old acknowledge is still set, clears, and is set again.
        mock.script(0x13_0044, &[1, 1, 1, 0, 0, 1]);
        wake(&probed(&mock), &mut cleared(), &mock).unwrap();
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
        // Upstream's fw_domain_wait_ack_clear: the driver goes on.
        assert!(gt.awake);
        let told = |name: &str| {
            let all = mock.warned.borrow();
            all.iter()
                .filter(|w| w.contains("was not cleared in time") && w.contains(name))
                .count()
        };
        assert_eq!((told("ACK_GT"), told("ACK_RENDER")), (1, 1));
        sleep(&mock.hw(), &mut gt);
        wake(&mock.hw(), &mut gt, &mock).unwrap();
        assert_eq!(mock.warned.borrow().len(), 2);
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
    fn one_that_does_not_answer_is_named_once_and_work_goes_on() {
        // Upstream's fw_domain_wait_ack_set logs the domain, and returns nothing.
        for ((request, answer), name) in DOMAINS.into_iter().zip([
            "FORCEWAKE_ACK_GT",
            "FORCEWAKE_ACK_RENDER",
            "FORCEWAKE_ACK_VDBOX0",
            "FORCEWAKE_ACK_VDBOX2",
            "FORCEWAKE_ACK_VEBOX0",
            "FORCEWAKE_ACK_VEBOX1",
        ]) {
            let mock = device();
            mock.fix(answer, 0);
            let mut gt = cleared();
            wake(&probed(&mock), &mut gt, &mock).unwrap();
            assert_eq!((gt.awake, gt.counts.wakes), (true, 1));
            // The fallback was tried; the domain stays requested, as those behind it.
            assert_eq!(
                mock.written(request),
                [0x0001_0001, 0x8000_8000, 0x8000_0000]
            );
            assert_eq!(mock.written(0xa564)[..1], [0x0001_0001]);
            sleep(&probed(&mock), &mut gt);
            fall_asleep(&mock);
            wake(&probed(&mock), &mut gt, &mock).unwrap();
            let warned = mock.warned.take();
            assert!(
                warned.len() == 1 && warned[0].contains("not acknowledged"),
                "{warned:?}"
            );
            assert!(warned[0].contains(name), "{warned:?}");
            // A reset or a start.
            mock.take();
            hold(&probed(&mock), &mock).unwrap();
            assert_eq!(
                mock.written(request),
                [0x0001_0001, 0x8000_8000, 0x8000_0000]
            );
            assert_eq!(mock.warned.take(), warned);
        }
    }

    #[test]
    fn each_domain_has_warnings_of_its_own() {
        let mut gt = cleared();
        for value in [0, 0x8001] {
            let mock = awake();
            for (_, answer) in DOMAINS {
                mock.fix(answer, value);
            }
            wake(&probed(&mock), &mut gt, &mock).unwrap();
            assert_eq!(mock.warned.borrow().len(), 6, "{value:x}");
            sleep(&probed(&mock), &mut gt);
        }
    }

    #[test]
    fn a_card_that_is_gone_does_not_wake_up() {
        let mock = device();
        mock.gone.set(true);
        let mut gt = Gt::default();
        let r = wake(&mock.hw(), &mut gt, &mock);
        assert_eq!((r, gt.awake), (Err(DeviceError::Gone), false));
        let r = hold(&mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Gone));
        assert!(mock.warned.borrow().is_empty());
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Waking the chip by each of its two methods.

use crate::{
    gen7::GT2,
    generation::{DeviceError, Generation},
    gt::Gt,
    io::Hw,
    mock::{Access, Mock},
};
use std::vec::Vec;

/// Returns a device that acknowledges at once, with `ecobus` in its register.
fn device(ecobus: u32) -> Mock {
    let mock = Mock::default();
    mock.set(0x12_0008, 0x40);
    mock.fix(0xa180, ecobus);
    mock
}

#[test]
fn with_mt_forcewake_the_device_is_woken_by_its_bit() {
    let mock = device(0x20);
    mock.script(0x13_0040, &[0, 1]);
    GT2.wake(&mock.hw(), &mut Gt::default(), &mock).unwrap();
    assert_eq!(
        mock.take(),
        [
            // G-15, upstream's fw_domain_reset: all bits are cleared.
            Access::W(0xa188, 0xffff_0000),
            Access::W(0xa18c, 0xffff_0000),
            Access::R(0x13_0040),
            Access::W(0xa188, 0x0001_0001),
            Access::R(0x13_0040),
            Access::R(0x13_805c),
            Access::R(0xa180),
            Access::R(0x12_0000),
            Access::R(0x12_0008),
        ]
    );
}

#[test]
fn where_they_may_not_it_is_asked_as_before() {
    // The device wakes and reports the method disabled, or does not wake at all.
    for answers in [[0, 1].as_slice(), &[]] {
        let mock = device(0);
        mock.script(0x13_0040, answers);
        mock.script(0x13_0090, &[0, 1]);
        GT2.wake(&mock.hw(), &mut Gt::default(), &mock).unwrap();
        assert_eq!(
            mock.written(0xa188),
            [0xffff_0000, 0x0001_0001, 0x0001_0000]
        );
        assert_eq!(mock.written(0xa18c), [0xffff_0000, 0x0001_0001]);
    }
}

#[test]
fn one_that_answers_late_is_warned_of() {
    // Multi-threaded forcewake works, although threads are late; or it is disabled, and the method
    // of Gen6 is late.
    for (ecobus, requests) in [
        (0x20, [[0, 1].as_slice(), &[0]]),
        (0, [&[0, 1, 0], &[0, 1]]),
    ] {
        let mock = device(ecobus);
        mock.script(0x13_0040, &[0, 1]);
        mock.fix(0x13_805c, 1);
        GT2.wake(&mock.hw(), &mut Gt::default(), &mock).unwrap();
        for (register, expected) in [0xa188, 0xa18c].into_iter().zip(requests) {
            let bits: Vec<_> = mock.written(register).iter().map(|v| v & 1).collect();
            assert_eq!(bits, expected, "{ecobus:x} {register:x}");
        }
        assert_eq!(mock.warned.borrow().len(), 1);
    }
    let mock = device(0);
    mock.gone.set(true);
    assert_eq!(
        GT2.wake(&mock.hw(), &mut Gt::default(), &mock),
        Err(DeviceError::Gone)
    );
}

#[test]
fn what_was_found_is_not_looked_for_again() {
    // Bits 31:24 of `Card`.
    for (card, request, answer) in [
        (0x0100_0000, 0xa188, 0x13_0040),
        (0x0200_0000, 0xa18c, 0x13_0090),
    ] {
        let mock = device(0x20);
        mock.script(answer, &[0, 1]);
        let hw = Hw { card, ..mock.hw() };
        let mut gt = Gt {
            cleared: true,
            ..Gt::default()
        };
        GT2.wake(&hw, &mut gt, &mock).unwrap();
        GT2.sleep(&hw, &mut gt);
        assert_eq!(
            mock.take(),
            [
                Access::R(answer),
                Access::W(request, 0x0001_0001),
                Access::R(answer),
                Access::R(0x13_805c),
                Access::R(0x12_0000),
                Access::R(0x12_0008),
                Access::W(request, 0x0001_0000),
            ]
        );
    }
}

#[test]
fn the_first_wake_after_a_suspend_clears_all_requests() {
    // Upstream's intel_uncore_resume_early.
    let mock = device(0x20);
    mock.script(0x13_0040, &[0, 1]);
    let hw = Hw {
        card: 0x0100_0000,
        ..mock.hw()
    };
    let mut gt = Gt::default();
    GT2.wake(&hw, &mut gt, &mock).unwrap();
    assert_eq!(
        mock.take()[..4],
        [
            Access::W(0xa188, 0xffff_0000),
            Access::W(0xa18c, 0xffff_0000),
            Access::R(0x13_0040),
            Access::W(0xa188, 0x0001_0001),
        ]
    );
    assert!(gt.cleared);
}

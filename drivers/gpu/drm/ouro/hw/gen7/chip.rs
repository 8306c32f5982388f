// SPDX-License-Identifier: GPL-2.0
//! What this generation is among machines with a ring per engine, and how it is woken.
//!
//! Several may ask it to stay awake, each by a bit of its own; firmware may have left that off, which a register in
//! the power well says (V-04). So the first time it is asked in the one way, and if it does not wake, or says that
//! this is off, in the way of the former generation.

use super::{
    engine::RINGS,
    names,
    regs::{self, ECOBUS, ECOBUS_MT},
    translation,
};
use crate::{
    intel::{
        processor,
        ring::{forcewake::Way, RingChip},
    },
    io::Hw,
    poll::Named,
    report::FaultKind,
};

/// Whether several may ask. The device is awake; if it is not, the register reads 0.
fn several_may_ask(hw: &Hw<'_>) -> bool {
    hw.regs.read32(ECOBUS) & ECOBUS_MT != 0
}

/// The number of the way in which the device is woken: of those in [`CHIP`], from 1 on. It is awake.
pub(super) fn way(hw: &Hw<'_>) -> u8 {
    if several_may_ask(hw) {
        1
    } else {
        2
    }
}

/// The description.
pub(super) static CHIP: RingChip = processor::chip(processor::Chip {
    engines: &RINGS,
    ways: &[
        Way {
            request: regs::FORCEWAKE_MT,
            on: regs::FORCEWAKE_ON,
            answer: Named {
                offset: regs::FORCEWAKE_MT_ACK,
                name: "FORCEWAKE_MT_ACK",
            },
            works: several_may_ask,
        },
        processor::LEGACY_WAKE,
    ],
    translation_names: names::TRANSLATION,
    // V-17: 0 page, 1 directory entry not valid, 2 not loaded, 3 both.
    fault_kinds: [
        FaultKind::InvalidEntry,
        FaultKind::InvalidDirectory,
        FaultKind::NoDirectory,
        FaultKind::NoDirectory,
    ],
    load_directory: translation::load_directory,
});

#[cfg(test)]
mod tests {
    use crate::{
        gen7::GT2,
        generation::{DeviceError, Generation},
        gt::Gt,
        io::Hw,
        mock::{Access, Mock},
    };

    /// A device whose registers answer at once, with `ecobus`.
    fn device(ecobus: u32) -> Mock {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        mock.fix(0xa180, ecobus);
        mock
    }

    #[test]
    fn where_several_may_ask_it_is_asked_by_its_bit() {
        let mock = device(0x20);
        mock.script(0x13_0040, &[0, 1]);
        GT2.wake(&mock.hw(), &mut Gt::default(), &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::W(0xa188, 0x0001_0000),
                Access::W(0xa18c, 0x0001_0000),
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
        // It wakes and says so, or does not wake at all.
        for answers in [[0, 1].as_slice(), &[]] {
            let mock = device(0);
            mock.script(0x13_0040, answers);
            mock.script(0x13_0090, &[0, 1]);
            GT2.wake(&mock.hw(), &mut Gt::default(), &mock).unwrap();
            assert_eq!(
                mock.written(0xa188),
                [0x0001_0000, 0x0001_0001, 0x0001_0000]
            );
            assert_eq!(mock.written(0xa18c), [0x0001_0000, 0x0001_0001]);
        }
    }

    #[test]
    fn one_that_does_not_wake_is_named() {
        let mock = device(0);
        assert_eq!(
            GT2.wake(&mock.hw(), &mut Gt::default(), &mock),
            Err(DeviceError::Timeout("FORCEWAKE_ACK"))
        );
        mock.gone.set(true);
        assert_eq!(
            GT2.wake(&mock.hw(), &mut Gt::default(), &mock),
            Err(DeviceError::Gone)
        );
    }

    #[test]
    fn what_was_found_is_not_looked_for_again() {
        // Bits 31:24 of the card's word.
        for (card, request, answer) in [
            (0x0100_0000, 0xa188, 0x13_0040),
            (0x0200_0000, 0xa18c, 0x13_0090),
        ] {
            let mock = device(0x20);
            mock.script(answer, &[0, 1]);
            let hw = Hw { card, ..mock.hw() };
            let mut gt = Gt::default();
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
}

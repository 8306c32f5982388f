// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Workarounds: bits that must differ from their values after a reset (G-38).
//!
//! Bits of registers that a context saves are set here and in the golden state ([`super::golden`]).

use super::{
    gt_regs as gt_reg,
    regs::{self, masked, Base, MI_MODE, MI_MODE_ASYNC_FLIP, MI_MODE_VS_TIMER},
};
use crate::intel::{
    processor::STANDBY_OFF,
    ring::fixes::{Fix, Fixes},
};

/// Workarounds of the render engine, to apply after each of its resets.
pub(super) const RENDER: Fixes = &[&[
    // Bit 14: disable an optimization for asynchronous flips. Bit 6: dispatch single vertices after
    // a timeout.
    Fix::masked(
        Base::RENDER.at(MI_MODE),
        MI_MODE_ASYNC_FLIP | MI_MODE_VS_TIMER,
        0,
    ),
    // Bit 10: disable hierarchical depth planes with four samples.
    Fix::masked(gt_reg::CHICKEN_3D, 1 << 10, 0),
    // Bits 5 and 1: disable fast clipping and culling in the strips-and-fans unit.
    Fix::masked(gt_reg::CHICKEN3_3D, (1 << 5) | (1 << 1), 0),
    // Bits 9 and 7 are 1 and 0: distribute pixels over the slices in blocks of 16 by 4.
    Fix::masked(gt_reg::GT_MODE, 1 << 9, 1 << 7),
    // Bit 5 clear: the other eviction policy of the stencil cache is not supported. Bit 0 clear: no
    // operational flush of the render cache.
    Fix::write(regs::CACHE_MODE_0, CACHE_MODE_0),
]];

/// The value of `CACHE_MODE_0` in contexts.
pub(super) const CACHE_MODE_0: u32 = masked(
    0,
    gt_reg::CACHE_MODE_0_STC_EVICT | regs::CACHE_MODE_0_OPERATIONAL_FLUSH,
);

/// Workarounds of the whole device: clock gating disables. Those that the firmware has set stay
/// (UW47).
pub(super) const DEVICE: Fixes = &[
    STANDBY_OFF,
    &[
        // Bits 5 (blitter) and 7 (command streamer).
        Fix::bits(gt_reg::UCGCTL1, (1 << 5) | (1 << 7), 0),
        // Bits 12 (colour cache) and 11 (pixel back end).
        Fix::bits(gt_reg::UCGCTL2, (1 << 12) | (1 << 11), 0),
    ],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::CHIP,
        intel::ring::fixes,
        mock::{Access, Mock},
    };

    fn device_with_room() -> Mock {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        mock
    }

    #[test]
    fn the_render_engines_are_those_of_g_38() {
        let mock = device_with_room();
        fixes::apply(&CHIP, &mock.hw(), RENDER, &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::R(0x12_0008),
                Access::W(0x209c, 0x4040_4040),
                Access::W(0x2084, 0x0400_0400),
                Access::W(0x2090, 0x0022_0022),
                Access::W(0x20d0, 0x0280_0200),
                Access::W(0x2120, 0x0021_0000),
            ]
        );
    }

    #[test]
    fn the_devices_are_those_of_g_38_and_g_39() {
        let mock = device_with_room();
        fixes::apply(&CHIP, &mock.hw(), DEVICE, &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::R(0x12_0008),
                Access::W(0xa090, 0),
                Access::W(0xa094, 0),
                Access::R(0x9400),
                Access::W(0x9400, 0xa0),
                Access::R(0x9404),
                Access::W(0x9404, 0x1800),
            ]
        );
    }

    #[test]
    fn clocks_that_the_firmware_does_not_gate_stay_so() {
        let mock = device_with_room();
        mock.set(0x9400, 0x8000_0080);
        mock.set(0x9404, 0x0000_0002);
        fixes::apply(&CHIP, &mock.hw(), DEVICE, &mock).unwrap();
        assert_eq!(mock.written(0x9400), [0x8000_00a0]);
        assert_eq!(mock.written(0x9404), [0x1802]);
    }
}

// SPDX-License-Identifier: GPL-2.0
//! Bits that must be other than after a reset (G-38), each with its reason.
//!
//! Those in registers that a context saves are here and in its first image too ([`super::golden`]).

use super::{
    gt_regs as gt_reg,
    regs::{masked, Base, MI_MODE, MI_MODE_ASYNC_FLIP, MI_MODE_VS_TIMER},
    CHIP,
};
use crate::{
    generation::BringUpError,
    intel::ring::fifo,
    io::{Hw, SleepWait},
};

/// A register, with what is written, or the bits that are set.
struct Fix {
    offset: u32,
    value: u32,
}

/// The render engine's. All are masked registers.
const RENDER: [Fix; 5] = [
    // Bit 14: no tuning for asynchronous flips. Bit 6: single vertices are dispatched after a time.
    Fix {
        offset: Base::RENDER.at(MI_MODE),
        value: masked(MI_MODE_ASYNC_FLIP | MI_MODE_VS_TIMER, 0),
    },
    // Bit 10: no planes of hierarchical depth with four samples.
    Fix {
        offset: gt_reg::CHICKEN_3D,
        value: masked(1 << 10, 0),
    },
    // Bits 5 and 1: no fast clipping and culling in the strips-and-fans unit.
    Fix {
        offset: gt_reg::CHICKEN3_3D,
        value: masked((1 << 5) | (1 << 1), 0),
    },
    // Bits 9 and 7 are 1 and 0: pixels go to the slices in blocks of 16 by 4.
    Fix {
        offset: gt_reg::GT_MODE,
        value: masked(1 << 9, 1 << 7),
    },
    // Bit 5 clear: the other policy of eviction from the stencil cache is not supported. Bit 0 clear: no
    // operational flush of the render cache.
    Fix {
        offset: gt_reg::CACHE_MODE_0,
        value: CACHE_MODE_0,
    },
];

/// What contexts have in `CACHE_MODE_0`.
pub(super) const CACHE_MODE_0: u32 = masked(
    0,
    gt_reg::CACHE_MODE_0_STC_EVICT | gt_reg::CACHE_MODE_0_OPERATIONAL_FLUSH,
);

/// Units whose clocks are not gated, beside those that the firmware says: bits 5 (blitter) and 7 (command
/// streamer); bits 12 (colour cache) and 11 (pixel back end).
const UNGATED: [Fix; 2] = [
    Fix {
        offset: gt_reg::UCGCTL1,
        value: (1 << 5) | (1 << 7),
    },
    Fix {
        offset: gt_reg::UCGCTL2,
        value: (1 << 12) | (1 << 11),
    },
];

/// Applies those that hold for the whole device, and turns render standby off: the device is kept
/// awake while it works (G-39). The firmware may know of more units that must not be gated: what it has set
/// stays (UW47).
pub(super) fn device(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
    fifo::room(&CHIP, hw, 4, wait)?;
    hw.regs.write32(gt_reg::RC_CONTROL, 0);
    hw.regs.write32(gt_reg::RC_STATE, 0);
    for fix in UNGATED {
        let old = hw.regs.read32(fix.offset);
        hw.regs.write32(fix.offset, old | fix.value);
    }
    Ok(())
}

/// Applies the render engine's, after a reset of it.
pub(super) fn render(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
    fifo::room(&CHIP, hw, 6, wait)?;
    for fix in RENDER {
        hw.regs.write32(fix.offset, fix.value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    fn device_with_room() -> Mock {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        mock
    }

    #[test]
    fn the_render_engines_are_those_of_g_38() {
        let mock = device_with_room();
        render(&mock.hw(), &mock).unwrap();
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
        device(&mock.hw(), &mock).unwrap();
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
        device(&mock.hw(), &mock).unwrap();
        assert_eq!(mock.written(0x9400), [0x8000_00a0]);
        assert_eq!(mock.written(0x9404), [0x1802]);
    }
}

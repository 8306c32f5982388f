// SPDX-License-Identifier: GPL-2.0 OR MIT
//! TLB invalidation by registers (U6).
//!
//! A request invalidates its engine's TLB before it runs (`emit`). An engine without new requests
//! keeps its TLB, and could reach pages that were reused. Therefore, before memory is reused, each
//! class of engines is invalidated by its register, which has a bit for each of its engines; the
//! bit clears itself when done.
//!
//! The document does not cover this. Offsets and bits are those of the upstream driver
//! (`gt/intel_tlb.c`, `gt/intel_engine_cs.c`, `gt/intel_gt_regs.h`, Linux 7.3), which invalidates
//! whenever it frees pages. The registers have several instances: writes go to all, and reads
//! combine them ([`super::steering`]).

use super::{engine::ListEngine, fuses, poll, regs::masked};
use crate::{
    generation::DeviceError,
    io::{Hw, SleepWait},
    types::EngineClass,
};

/// Microseconds until an engine has dropped all: upstream waits for four milliseconds, and says
/// that 100 µs is a long time.
const MICROS: u32 = 40_000;

/// The register of an engine's class, and whether it is masked.
const fn of(class: EngineClass) -> (poll::Named, bool) {
    let (offset, name, is_masked) = match class {
        EngineClass::Render => (0xced8, "GFX_TLB_INV_CR", false),
        EngineClass::Video => (0xcedc, "VD_TLB_INV_CR", true),
        EngineClass::VideoEnhance => (0xcee0, "VE_TLB_INV_CR", true),
        EngineClass::Copy => (0xcee4, "BLT_TLB_INV_CR", false),
        EngineClass::Compute => (0xcf04, "COMPCTX_TLB_INV_CR", true),
    };
    (poll::Named { offset, name }, is_masked)
}

/// An engine's bit.
const fn bit(engine: &ListEngine) -> u16 {
    1u16.wrapping_shl(engine.desc.id.instance as u32)
}

/// Has all engines drop all, and waits until they have.
pub(super) fn invalidate(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    for (_, engine) in fuses::numbered(hw) {
        let (register, is_masked) = of(engine.class());
        let ask = match is_masked {
            true => masked(bit(engine), 0),
            false => u32::from(bit(engine)),
        };
        hw.regs.write32(register.offset, ask);
    }
    for (_, engine) in fuses::numbered(hw) {
        let (register, _) = of(engine.class());
        let over = |v| v & u32::from(bit(engine)) == 0;
        poll::sleeping(hw.regs, wait, register, MICROS, &over)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    fn probed(mock: &Mock) -> Hw<'_> {
        Hw {
            card: 0b11_1100_0111,
            ..mock.hw()
        }
    }

    fn device() -> Mock {
        let mock = Mock::default();
        for register in [0xced8, 0xcedc, 0xcee0, 0xcee4, 0xcf04] {
            mock.fix(register, 0);
        }
        mock
    }

    /// Offsets, bits and masks of upstream's `intel_engine_init_tlb_invalidation`.
    #[test]
    fn all_are_asked_before_any_is_waited_for() {
        let mock = device();
        mock.script(0xcee4, &[1, 1, 0]);
        invalidate(&probed(&mock), &mock).unwrap();
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                w(0xced8, 1),
                w(0xcee4, 1),
                w(0xcf04, 0x0001_0001),
                // Videos 0 and 2, enhancers 0 and 1.
                w(0xcedc, 0x0001_0001),
                w(0xcedc, 0x0004_0004),
                w(0xcee0, 0x0001_0001),
                w(0xcee0, 0x0002_0002),
                r(0xced8),
                r(0xcee4),
                r(0xcee4),
                r(0xcee4),
                r(0xcf04),
                r(0xcedc),
                r(0xcedc),
                r(0xcee0),
                r(0xcee0),
            ]
        );
    }

    #[test]
    fn an_engine_that_does_not_drop_them_is_named() {
        for (register, stuck, name) in [
            (0xced8, 1, "GFX_TLB_INV_CR"),
            (0xcedc, 4, "VD_TLB_INV_CR"),
            (0xcee0, 2, "VE_TLB_INV_CR"),
            (0xcee4, 1, "BLT_TLB_INV_CR"),
            (0xcf04, 1, "COMPCTX_TLB_INV_CR"),
        ] {
            let mock = device();
            mock.fix(register, stuck);
            let r = invalidate(&probed(&mock), &mock);
            assert_eq!(r, Err(DeviceError::Timeout(name)));
        }
        let mock = device();
        // Another engine's bit is another engine's.
        mock.fix(0xcedc, 2);
        assert_eq!(invalidate(&probed(&mock), &mock), Ok(()));
        mock.gone.set(true);
        let r = invalidate(&probed(&mock), &mock);
        assert_eq!(r, Err(DeviceError::Gone));
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Workarounds: bits that must differ from their values after a reset, as in the upstream driver
//! (G-18, G-33).
//!
//! Bits of registers that a context saves (§5.8) are in the golden state ([`super::golden`]). Clock
//! gating and planes of the display are left out: the driver does not use the display.

use super::regs::{
    Base, ECOSKPD, ECO_NO_CONSTANT_BUFFER, MI_MODE, MI_MODE_VS_TIMER, RAMCLK_GATE_D,
    RENCLK_GATE_D1, RENCLK_GATE_D2,
};
use crate::intel::ring::fixes::{Fix, Fixes};

/// Workarounds of the render engine on all chips. They do not stick on 965G.
const RENDER: &[Fix] = &[
    // WaTimedSingleVertexDispatch.
    Fix::masked(Base::RENDER.at(MI_MODE), MI_MODE_VS_TIMER, 0),
    // A context load fetches its constant buffer at once, from memory that may have been freed; so
    // contexts have none. User space sets it in each batch.
    Fix::masked(ECOSKPD, ECO_NO_CONSTANT_BUFFER, 0),
];

/// Workarounds of 965G: the clocks of RCZ, RCC, RCPB, FBC and ISC are not gated.
pub(super) const DESKTOP_965: Fixes = &[
    &[
        Fix::write(
            RENCLK_GATE_D1,
            1 << 30 | 1 << 29 | 1 << 28 | 1 << 23 | 1 << 16,
        ),
        Fix::write(RENCLK_GATE_D2, 0),
    ],
    RENDER,
];
/// Workarounds of 965GM: the clock of RCC is not gated.
pub(super) const MOBILE_965: Fixes = &[
    &[
        Fix::write(RENCLK_GATE_D1, 1 << 29),
        Fix::write(RENCLK_GATE_D2, 0),
        Fix::write(RAMCLK_GATE_D, 0),
    ],
    RENDER,
];
/// Workarounds of G4X: the clocks of VF, GS and CL are not gated.
pub(super) const G4X: Fixes = &[
    &[
        Fix::write(RENCLK_GATE_D1, 0),
        Fix::write(RENCLK_GATE_D2, 1 << 9 | 1 << 7 | 1 << 6),
        Fix::write(RAMCLK_GATE_D, 0),
    ],
    RENDER,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen4::engine::CHIP_965,
        intel::ring::fixes,
        mock::{Access, Mock},
    };
    use std::vec::Vec;

    fn written(list: Fixes) -> Vec<(u32, u32)> {
        let mock = Mock::default();
        fixes::apply(&CHIP_965, &mock.hw(), list, &mock).unwrap();
        let writes = mock.take().into_iter().filter_map(|a| match a {
            Access::W(at, value) => Some((at, value)),
            _ => None,
        });
        writes.collect()
    }

    #[test]
    fn they_are_upstreams() {
        // G-33: bits 30, 29, 28, 23, 16; bit 29; bits 9, 7, 6. G-18: 21d0h bit 4. MI_MODE bit 6.
        let common = [(0x209c, 0x0040_0040), (0x21d0, 0x0010_0010)];
        for (list, clocks) in [
            (DESKTOP_965, &[(0x6204, 0x7081_0000), (0x6208, 0)][..]),
            (
                MOBILE_965,
                &[(0x6204, 0x2000_0000), (0x6208, 0), (0x6210, 0)],
            ),
            (G4X, &[(0x6204, 0), (0x6208, 0x2c0), (0x6210, 0)]),
        ] {
            assert_eq!(written(list), [clocks, &common].concat());
        }
    }
}

// SPDX-License-Identifier: GPL-2.0
//! Bits that must be other than after a reset, each with its reason, as the upstream driver has them (G-18, G-33).
//!
//! Those in registers that a context saves (§5.8) are in its first image ([`super::golden`]). What concerns the
//! display's clocks and planes is left out: nothing is shown.

use super::regs::{
    Base, ECOSKPD, ECO_NO_CONSTANT_BUFFER, MI_MODE, MI_MODE_VS_TIMER, RAMCLK_GATE_D,
    RENCLK_GATE_D1, RENCLK_GATE_D2,
};
use crate::intel::ring::fixes::{Fix, Fixes};

/// Those of the render engine, of all chips. They do not stick on 965G.
const RENDER: &[Fix] = &[
    // WaTimedSingleVertexDispatch.
    Fix::masked(Base::RENDER.at(MI_MODE), MI_MODE_VS_TIMER, 0),
    // A constant buffer that a context loads is fetched at once, from where it may not be any more; so contexts have
    // none. User space sets it in each batch.
    Fix::masked(ECOSKPD, ECO_NO_CONSTANT_BUFFER, 0),
];

/// Those of 965G: RCZ, RCC, RCPB, FBC and ISC are not gated.
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
/// Of 965GM: RCC is not gated.
pub(super) const MOBILE_965: Fixes = &[
    &[
        Fix::write(RENCLK_GATE_D1, 1 << 29),
        Fix::write(RENCLK_GATE_D2, 0),
        Fix::write(RAMCLK_GATE_D, 0),
    ],
    RENDER,
];
/// Of G4X: VF, GS and CL are not gated.
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

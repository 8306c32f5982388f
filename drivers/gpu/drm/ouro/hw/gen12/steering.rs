// SPDX-License-Identifier: GPL-2.0
//! Registers that exist several times: which of them an access goes to (digest §5.7).
//!
//! Writes go to all, reads to the first one. (A first one that was fused off reads zero; what the driver
//! reads there, the first fault, is then seen by what the engine says.)

use super::gt_regs::{self as gt_reg, Steer};
use crate::io::Hw;

/// Group of the translation units that reads go to.
const GAM_GROUP: u8 = 1;

/// Sets all selectors.
pub(super) fn set(hw: &Hw<'_>) {
    for (selector, group) in [
        (gt_reg::STEER_CONFIG, 0),
        (gt_reg::STEER_SF, 0),
        (gt_reg::STEER_SLICE, 0),
        (gt_reg::STEER_GAM, GAM_GROUP),
    ] {
        let steer = Steer::new().with_multicast(true).with_group(group);
        hw.regs.write32(selector, steer.into_bits());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn writes_go_to_all() {
        let mock = Mock::default();
        set(&mock.hw());
        assert_eq!(
            mock.take(),
            [
                Access::W(0xfd0, 0x8000_0000),
                Access::W(0xfd8, 0x8000_0000),
                Access::W(0xfdc, 0x8000_0000),
                Access::W(0xfe0, 0x8800_0000),
            ]
        );
    }
}

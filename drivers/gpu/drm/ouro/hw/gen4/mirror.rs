// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The mirror of the memory controller: a range of the device's registers through which it shows
//! registers of the host bridge (G-26, G-40). The firmware may have left it disabled.

use super::regs::{BRIDGE_ID, BRIDGE_MCHBAR, MCHBAR_ENABLE};
use crate::io::Hw;

/// The host bridges of these chipsets: device and vendor, as in configuration space. The names are
/// those of upstream's list (`drivers/char/agp/intel-agp.h`).
const BRIDGES: [u32; 13] = [
    0x2970_8086, // 946GZ
    0x2980_8086, // G35
    0x2990_8086, // 965Q
    0x29a0_8086, // 965G
    0x2a00_8086, // 965GM
    0x2a10_8086, // 965GME
    0x2a40_8086, // GM45
    0x2e00_8086, // Eaglelake
    0x2e10_8086, // Q45
    0x2e20_8086, // G45
    0x2e30_8086, // G41
    0x2e40_8086, // B43
    0x2e90_8086, // B43
];

/// Returns whether registers of the memory controller can be read through the mirror.
///
/// Upstream enables a mirror that it finds disabled (`i915_gmch_bar_setup`), which takes a free
/// range of the bus; this driver does without the registers.
///
/// Any other bridge is a virtual machine's, and its register at 48h is not this one. The device
/// behind it is a model, or a real one whose host bridge the guest cannot ask: the mirror is read
/// as it is.
pub(super) fn is_on(hw: &Hw<'_>) -> bool {
    !BRIDGES.contains(&hw.platform.bridge32(BRIDGE_ID))
        || hw.platform.bridge32(BRIDGE_MCHBAR) & MCHBAR_ENABLE != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn a_bridge_of_these_chipsets_says_whether_it_is_on() {
        // Devices of the upstream driver's intel-agp.h; MCHBAR_I965 of its pci_config.h, bit 0.
        for device in [
            0x2970, 0x2980, 0x2990, 0x29a0, 0x2a00, 0x2a10, 0x2a40, 0x2e00, 0x2e10, 0x2e20, 0x2e30,
            0x2e40, 0x2e90,
        ] {
            let mock = Mock::default();
            mock.bridge(0x00, device << 16 | 0x8086);
            for (value, on) in [
                (0xfed1_4001, true),
                (0xfed1_4000, false),
                (1, true),
                (0, false),
            ] {
                mock.bridge(0x48, value);
                assert_eq!(is_on(&mock.hw()), on, "{device:#x} {value:#x}");
            }
            assert_eq!(mock.take(), []);
        }
    }

    #[test]
    fn with_another_bridge_it_is_taken_to_be_on() {
        // QEMU's two (82441FX and Q35), one of another vendor, and none.
        for id in [0x1237_8086, 0x29c0_8086, 0x2a40_1022, u32::MAX] {
            let mock = Mock::default();
            mock.bridge(0x00, id);
            mock.bridge(0x48, 0);
            assert!(is_on(&mock.hw()), "{id:#x}");
        }
    }
}

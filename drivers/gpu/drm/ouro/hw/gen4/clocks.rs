// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The frequency of the timestamp (G-40). The firmware sets the engines' clock.

use super::regs::CLKCFG;
use crate::io::Hw;

/// Ticks per second of the upper dword on G4X: one per 1024 ns.
pub(super) const G4X_HZ: u32 = 976_562;

/// Bits of [`CLKCFG`] with the speed of the front side bus.
const FSB: u32 = 7;
/// The assumed bus clock for an unknown code, in kHz: the fastest, as upstream assumes.
const UNKNOWN: u32 = 1_333_333;
/// Bus clocks by code, in kHz, on mobile chips.
#[rustfmt::skip]
const MOBILE: [Option<u32>; 8] = [
    Some(400_000), Some(533_333), Some(800_000), Some(666_667), None, None, Some(1_066_667),
    Some(1_333_333),
];
/// Bus clocks by code, in kHz, on desktop chips.
#[rustfmt::skip]
const DESKTOP: [Option<u32>; 8] = [
    Some(1_066_667), Some(533_333), Some(800_000), Some(666_667), Some(1_333_333), Some(400_000),
    Some(1_600_000), None,
];

/// Ticks per second on 965 with an unknown bus clock.
const ASSUMED_HZ: u32 = quarter_hz(UNKNOWN);

/// Returns the ticks per second on 965: a quarter of the bus clock, rounded to kHz.
pub(super) fn timestamp_hz(hw: &Hw<'_>, mobile: bool) -> u32 {
    let table = if mobile { &MOBILE } else { &DESKTOP };
    let code = hw.regs.read32(CLKCFG) & FSB;
    let khz = table.get(code as usize).copied().flatten();
    khz.map_or(ASSUMED_HZ, quarter_hz)
}

/// Returns the ticks per second on 965 if the bus clock cannot be read.
pub(super) fn assumed_hz(hw: &Hw<'_>) -> u32 {
    hw.platform
        .warn("MCHBAR is disabled: the TIMESTAMP frequency is assumed");
    ASSUMED_HZ
}

const fn quarter_hz(khz: u32) -> u32 {
    (khz.wrapping_add(2) / 4).wrapping_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn a_965_counts_by_its_bus() {
        for (mobile, code, hz) in [
            (true, 0, 100_000_000),
            (true, 1, 133_333_000),
            (true, 2, 200_000_000),
            (true, 3, 166_667_000),
            (true, 4, 333_333_000),
            (true, 6, 266_667_000),
            (true, 7, 333_333_000),
            (false, 0, 266_667_000),
            (false, 2, 200_000_000),
            (false, 4, 333_333_000),
            (false, 5, 100_000_000),
            (false, 6, 400_000_000),
            (false, 7, 333_333_000),
            // Only bits 2:0 count.
            (true, 0xffff_fff8, 100_000_000),
        ] {
            let mock = Mock::default();
            mock.set(0x1_0c00, code);
            assert_eq!(timestamp_hz(&mock.hw(), mobile), hz, "{mobile} {code}");
        }
        assert_eq!(ASSUMED_HZ, 333_333_000);
        // 10^9 / 1024.
        assert_eq!(G4X_HZ, 976_562);
    }
}

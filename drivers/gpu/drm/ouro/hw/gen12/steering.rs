// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Multicast registers, which have several instances: steering of accesses (digest §5.7).
//!
//! Writes go to all instances. Reads go to one that exists: an instance that was fused off reads
//! zero, and a read-modify-write would lose bits in all. The existing ones are determined as the
//! upstream driver does (`xehp_init_mcr`, Linux 7.3): slices and their parts by the fuses; of the
//! memory controller, unit 2 exists on every card.

use super::gt_regs::{self as gt_reg, Steer};
use crate::io::Hw;

/// Group of the translation units that reads go to.
const GAM_GROUP: u8 = 1;
/// Unit of the memory controller that reads go to.
const CONTROLLER: u8 = 2;
/// Subslices per slice.
const SUBSLICES: u32 = 4;
/// Subslices per memory quarter.
const QUARTER: u32 = 8;

/// Returns the groups of `n` subslices that have some: a bit each.
fn pieces(subslices: u32, size: u32) -> u32 {
    (0..u32::BITS / size).fold(0, |all, n| {
        let its = subslices >> (n * size) & ((1 << size) - 1);
        all | u32::from(its != 0) << n
    })
}

/// Returns an existing slice and subslice; preferably a slice whose number is also that of an
/// existing quarter, since the same selector has both.
fn present(subslices: u32) -> (u8, u8) {
    let slices = pieces(subslices, SUBSLICES);
    let both = slices & pieces(subslices, QUARTER);
    let candidates = if both != 0 { both } else { slices };
    if candidates == 0 {
        return (0, 0);
    }
    let slice = candidates.trailing_zeros();
    let first = (subslices >> (slice * SUBSLICES)).trailing_zeros();
    (slice as u8, first as u8)
}

/// Writes all selectors.
pub(super) fn set(hw: &Hw<'_>) {
    let subslices = hw.regs.read32(gt_reg::GEOMETRY_DSS) | hw.regs.read32(gt_reg::COMPUTE_DSS);
    let (slice, subslice) = present(subslices);
    for (selector, group, instance) in [
        (gt_reg::STEER_CONFIG, 0, CONTROLLER),
        (gt_reg::STEER_SF, 0, CONTROLLER),
        (gt_reg::STEER_SLICE, slice, subslice),
        (gt_reg::STEER_GAM, GAM_GROUP, 0),
    ] {
        let steer = Steer::new()
            .with_multicast(true)
            .with_group(group)
            .with_instance(instance);
        hw.regs.write32(selector, steer.into_bits());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    fn selectors(geometry: u32, compute: u32) -> [u32; 4] {
        let mock = Mock::default();
        mock.set(0x913c, geometry);
        mock.set(0x9144, compute);
        set(&mock.hw());
        [0xfd0, 0xfd8, 0xfdc, 0xfe0].map(|selector| {
            let written = mock.written(selector);
            assert_eq!(written.len(), 1);
            written[0]
        })
    }

    #[test]
    fn writes_go_to_all_and_reads_to_one_that_is_there() {
        // Bit 31 multicast, 30:27 group, 26:24 instance.
        assert_eq!(
            selectors(0xffff_ffff, 0),
            [0x8200_0000, 0x8200_0000, 0x8000_0000, 0x8800_0000]
        );
        // The slice and subslice of the first one of both fuses: 5 is slice 1, subslice 1; there is
        // no quarter 1, and so the slice is taken that is there.
        assert_eq!(selectors(0x20, 0)[2], 0x8900_0000);
        assert_eq!(selectors(0, 0x20)[2], 0x8900_0000);
        // Slices 1 and 2, of quarters 0 and 1: number 1 is both.
        assert_eq!(selectors(0x0100, 0x80)[2], 0x8b00_0000);
        // Slices 3 and 7, quarters 1 and 3: 3 is both.
        assert_eq!(selectors(0x8000_4000, 0)[2], 0x9a00_0000);
        assert_eq!(selectors(0, 0)[2], 0x8000_0000);
    }
}

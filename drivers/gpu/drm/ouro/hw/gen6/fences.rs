// SPDX-License-Identifier: GPL-2.0
//! Detiling fences (SNB PRM V1P2 §4.5.4.1.1).
//!
//! They hold for the CPU's accesses through the aperture only. Each is 64 bits, written in two
//! halves: it is made invalid first and valid last, so that no mixture of two ever acts.

use super::gt_regs::FENCE;
use crate::{
    fence_regs::{BadRegion, FenceRegion, FenceRegs, Tiling},
    io::Registers,
    types::PAGE_SIZE,
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// How many there are.
const COUNT: u8 = 16;
/// Bytes of a row of an X tile, of which a stride is a multiple.
const X_STRIDE: u32 = 512;
/// Bytes of a row of a Y tile.
const Y_STRIDE: u32 = 128;
/// Largest stride, in bytes.
const MAX_STRIDE: u32 = 128 * 1024;
/// Bytes in which the register counts a stride.
const STRIDE_UNIT: u32 = 128;

/// A fence register.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
struct Fence {
    /// Bit 0.
    valid: bool,
    /// Bit 1: Y tiles, not X.
    y: bool,
    #[bits(10)]
    __: u16,
    /// Bits 31:12: first page.
    #[bits(20)]
    first: u32,
    /// Bits 41:32: stride in 128 bytes, less one.
    #[bits(10)]
    stride_less_one: u16,
    #[bits(2)]
    __: u8,
    /// Bits 63:44: last page, which is in it.
    #[bits(20)]
    last: u32,
}
const_assert_eq!(core::mem::size_of::<Fence>(), 8);

/// The fences.
pub(super) struct Fences;

/// The fences' one object.
pub(super) static FENCES: Fences = Fences;

/// What the register holds for a region.
fn encode(region: &FenceRegion) -> Result<Fence, BadRegion> {
    let unit = match region.tiling {
        Tiling::X => X_STRIDE,
        Tiling::Y => Y_STRIDE,
        _ => return Err(BadRegion),
    };
    let stride_fits =
        region.stride != 0 && region.stride.is_multiple_of(unit) && region.stride <= MAX_STRIDE;
    let whole_pages = (region.start.0 | region.len).is_multiple_of(PAGE_SIZE) && region.len != 0;
    if !stride_fits || !whole_pages {
        return Err(BadRegion);
    }
    let last_byte = region
        .start
        .0
        .checked_add(region.len.wrapping_sub(1))
        .ok_or(BadRegion)?;
    let stride = (region.stride / STRIDE_UNIT).wrapping_sub(1);
    Ok(Fence::new()
        .with_valid(true)
        .with_y(region.tiling == Tiling::Y)
        .with_first(region.start.page())
        .with_stride_less_one(stride as u16)
        .with_last(last_byte / PAGE_SIZE))
}

impl FenceRegs for Fences {
    fn count(&self) -> u8 {
        COUNT
    }

    fn check(&self, region: &FenceRegion) -> Result<(), BadRegion> {
        encode(region).map(|_| ())
    }

    fn set(
        &self,
        regs: &dyn Registers,
        n: u8,
        region: Option<&FenceRegion>,
    ) -> Result<(), BadRegion> {
        if n >= COUNT {
            return Err(BadRegion);
        }
        let value = match region {
            Some(region) => encode(region)?.into_bits(),
            None => 0,
        };
        let low = FENCE.wrapping_add(u32::from(n).wrapping_mul(8));
        let high = low.wrapping_add(4);
        regs.write32_flush(low, 0);
        regs.write32(high, (value >> 32) as u32);
        regs.write32_flush(low, value as u32);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mock::{Access, Mock},
        types::GgttAddr,
    };
    use proptest::prelude::*;

    fn region(start: u32, len: u32, stride: u32, tiling: Tiling) -> FenceRegion {
        FenceRegion {
            start: GgttAddr(start),
            len,
            stride,
            tiling,
        }
    }

    #[test]
    fn the_example_of_digest_4_4() {
        let f = encode(&region(0x10_0000, 0x4_0000, 2048, Tiling::X)).unwrap();
        assert_eq!(f.into_bits(), 0x0013_f00f_0010_0001);
    }

    #[test]
    fn fields_at_their_ends() {
        for (r, value) in [
            // §4.5.4.1.1: least stride of X is 3, of Y 0; greatest 3ff.
            (region(0, 0x1000, 512, Tiling::X), 0x0000_0003_0000_0001u64),
            (region(0, 0x1000, 128, Tiling::Y), 0x0000_0000_0000_0003),
            (
                region(0x1000, 0x1000, 131072, Tiling::Y),
                0x0000_13ff_0000_1003,
            ),
            (
                region(0xffff_e000, 0x2000, 131072, Tiling::X),
                0xffff_f3ff_ffff_e001,
            ),
        ] {
            assert_eq!(encode(&r).map(Fence::into_bits), Ok(value));
            assert_eq!(FENCES.check(&r), Ok(()));
        }
    }

    #[test]
    fn what_no_fence_can_describe_is_refused() {
        for r in [
            region(0x800, 0x1000, 512, Tiling::X),
            region(0, 0x1800, 512, Tiling::X),
            region(0, 0, 512, Tiling::X),
            region(0, 0x1000, 0, Tiling::X),
            region(0, 0x1000, 0, Tiling::Y),
            region(0, 0x1000, 128, Tiling::X),
            region(0, 0x1000, 640, Tiling::X),
            region(0, 0x1000, 64, Tiling::Y),
            region(0, 0x1000, 131072 + 512, Tiling::X),
            region(0, 0x1000, 131072 + 128, Tiling::Y),
            region(0xffff_f000, 0x2000, 512, Tiling::X),
        ] {
            let mock = Mock::default();
            assert_eq!(FENCES.check(&r), Err(BadRegion));
            assert_eq!(FENCES.set(&mock, 0, Some(&r)), Err(BadRegion));
            assert_eq!(mock.take(), []);
        }
    }

    #[test]
    fn a_fence_is_invalid_while_it_changes() {
        let mock = Mock::default();
        let r = region(0x10_0000, 0x4_0000, 2048, Tiling::X);
        FENCES.set(&mock, 15, Some(&r)).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::W(0x10_0078, 0),
                Access::R(0x10_0078),
                Access::W(0x10_007c, 0x0013_f00f),
                Access::W(0x10_0078, 0x0010_0001),
                Access::R(0x10_0078),
            ]
        );
        FENCES.set(&mock, 0, None).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::W(0x10_0000, 0),
                Access::R(0x10_0000),
                Access::W(0x10_0004, 0),
                Access::W(0x10_0000, 0),
                Access::R(0x10_0000),
            ]
        );
        assert_eq!(FENCES.count(), 16);
        assert_eq!(FENCES.set(&mock, 16, None), Err(BadRegion));
    }

    proptest! {
        #[test]
        fn a_fence_says_its_region(first in 0u32..1 << 20, pages in 1u32..1 << 20, units in 1u32..=1024, y: bool) {
            let (tiling, unit) = if y { (Tiling::Y, 128) } else { (Tiling::X, 512) };
            let stride = units * unit;
            let r = region(first << 12, pages << 12, stride, tiling);
            match encode(&r) {
                Ok(f) => {
                    let f = f.into_bits();
                    prop_assert_eq!(f & 3, 1 + 2 * u64::from(y));
                    prop_assert_eq!(f >> 12 & 0xfffff, u64::from(first));
                    prop_assert_eq!((f >> 44) + 1, u64::from(first) + u64::from(pages));
                    prop_assert_eq!(((f >> 32 & 0x3ff) + 1) * 128, u64::from(stride));
                }
                Err(BadRegion) => prop_assert!(
                    u64::from(first) + u64::from(pages) > 1 << 20 || stride > 131072
                ),
            }
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The fence registers (SNB PRM V1P2 §4.5.4.1.1).

use crate::intel::fences::Fences;

/// 16 fences, with strides up to 128 KiB.
pub(super) static FENCES: Fences = Fences::from_gen6(16, 128 * 1024);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fence_regs::{BadRegion, FenceRegs, Tiling},
        mock::{region, Access, Mock},
    };
    use proptest::prelude::*;

    #[test]
    fn the_example_of_digest_4_4() {
        let f = FENCES
            .encode(&region(0x10_0000, 0x4_0000, 2048, Tiling::X))
            .unwrap();
        assert_eq!(f, 0x0013_f00f_0010_0001);
    }

    #[test]
    fn fields_at_their_ends() {
        for (r, value) in [
            // §4.5.4.1.1: smallest stride of X is 3, of Y 0; largest 3ff.
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
            assert_eq!(FENCES.encode(&r), Ok(value));
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
        fn a_fence_says_its_region(
            first in 0u32..1 << 20,
            pages in 1u32..1 << 20,
            units in 1u32..=1024,
            y: bool,
        ) {
            let (tiling, unit) = if y { (Tiling::Y, 128) } else { (Tiling::X, 512) };
            let stride = units * unit;
            let r = region(first << 12, pages << 12, stride, tiling);
            match FENCES.encode(&r) {
                Ok(f) => {
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

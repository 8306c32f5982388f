// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The fence registers (§4.5.4.1; offsets and fields, G-12). They detile the CPU's accesses through
//! the aperture only, and a reset clears them (§5.9).

use crate::intel::fences::{Fences, Measure};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// 16 fences at 0x3000, with strides up to 256 X tiles or 1024 Y tiles.
pub(super) static FENCES: Fences = Fences {
    at: 0x3000,
    count: 16,
    max_stride: 128 * 1024,
    fields,
};

/// A fence register. Later generations have the stride in the upper half.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
struct Fence {
    /// Bit 0: the fence is valid.
    valid: bool,
    /// Bit 1: Y tiles (0: X tiles).
    y: bool,
    /// Bits 11:2: stride in units of 128 bytes, minus one, for both kinds of tiles.
    #[bits(10)]
    stride_less_one: u16,
    /// Bits 31:12: first page.
    #[bits(20)]
    first: u32,
    #[bits(12)]
    __: u16,
    /// Bits 63:44: last page, inclusive.
    #[bits(20)]
    last: u32,
}
const_assert_eq!(core::mem::size_of::<Fence>(), 8);

fn fields(measure: Measure) -> u64 {
    Fence::new()
        .with_valid(true)
        .with_y(measure.y)
        .with_stride_less_one(measure.stride_less_one)
        .with_first(measure.first)
        .with_last(measure.last)
        .into_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fence_regs::{BadRegion, FenceRegion, FenceRegs, Tiling},
        mock::{region, Access, Mock},
    };

    /// Returns a region of 1 MiB.
    const fn stripes(stride: u32, tiling: Tiling) -> FenceRegion {
        region(0x0040_0000, 0x0010_0000, stride, tiling)
    }

    #[test]
    fn a_fence_is_written_invalid_first_and_valid_last() {
        // G-12: LO 31:12 start, 11:2 pitch/128 - 1, 1 Y, 0 valid; HI 31:12 start + size - 4096.
        let mock = Mock::default();
        let x = stripes(512, Tiling::X);
        FENCES.set(&mock, 2, Some(&x)).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::W(0x3010, 0),
                Access::R(0x3010),
                Access::W(0x3014, 0x004f_f000),
                Access::W(0x3010, 0x0040_000d),
                Access::R(0x3010),
            ]
        );
        FENCES.set(&mock, 15, None).unwrap();
        assert_eq!(mock.take()[0], Access::W(0x3078, 0));
        assert_eq!(FENCES.set(&mock, 16, None), Err(BadRegion));
        assert_eq!((mock.take(), FENCES.count()), ([].to_vec(), 16));
    }

    #[test]
    fn a_gm45_had_these() {
        // Witness GW16, GW18: start, size and stride of X tiles, and the register, from a machine's
        // error state.
        for (start, len, stride, register) in [
            (0x0ce1_f000, 4 << 20, 5120, 0x0d21_e000_0ce1_f09d),
            (0x06d1_6000, 48 << 10, 512, 0x06d2_1000_06d1_600d),
            (0x06c8_b000, 256 << 10, 1024, 0x06cc_a000_06c8_b01d),
        ] {
            let encoded = FENCES.encode(&region(start, len, stride, Tiling::X));
            assert_eq!(encoded, Ok(register), "{start:#x}");
        }
    }

    #[test]
    fn strides_go_to_128_kib() {
        // §4.5.4.1: 256 X tiles of 512 bytes, 1024 Y tiles of 128.
        for (stride, tiling, low) in [
            (128 * 1024, Tiling::X, Some(0x0040_0ffd)),
            (128 * 1024, Tiling::Y, Some(0x0040_0fff)),
            (128, Tiling::Y, Some(0x0040_0003)),
            (128 * 1024 + 512, Tiling::X, None),
            (128 * 1024 + 128, Tiling::Y, None),
            (128, Tiling::X, None),
            (0, Tiling::Y, None),
            (512, Tiling::Macro, None),
        ] {
            let encoded = FENCES.encode(&stripes(stride, tiling)).map(|f| f as u32);
            assert_eq!(encoded.ok(), low, "{stride}");
            assert_eq!(
                FENCES.check(&stripes(stride, tiling)).is_ok(),
                low.is_some()
            );
        }
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The alpha test, and alpha as a mask of samples (digest of 3D, §11).

use super::packing::{from_half, half};

/// FG_ALPHA_FUNC, FG_ALPHA_VALUE.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alpha {
    pub function: u32,
    pub value: u32,
}

impl Alpha {
    /// True if alphas decide about anything.
    pub fn is_on(self) -> bool {
        self.tests() || self.masks()
    }

    fn tests(self) -> bool {
        self.function >> 11 & 1 != 0
    }

    fn masks(self) -> bool {
        self.function >> 16 & 1 != 0
    }

    /// Returns whether a fragment with this alpha passes the test.
    pub fn passes(self, alpha: f32) -> bool {
        if !self.tests() {
            return true;
        }
        let fixed = |v: f32, most: f32| (v.clamp(0.0, 1.0) * most + 0.5).floor();
        let (a, reference) = if self.function >> 28 & 1 != 0 {
            (from_half(half(alpha)), from_half(self.value as u16))
        } else if self.function >> 12 & 1 != 0 {
            (fixed(alpha, 255.0), (self.function & 0xff) as f32)
        } else {
            (fixed(alpha, 1023.0), (self.value & 0x3ff) as f32)
        };
        // OpenGL's order, not that of depths.
        match self.function >> 8 & 7 {
            0 => false,
            1 => a < reference,
            2 => a == reference,
            3 => a <= reference,
            4 => a > reference,
            5 => a != reference,
            6 => a >= reference,
            _ => true,
        }
    }

    /// Samples of so many that an alpha leaves: the first ones.
    pub fn mask(self, alpha: f32, samples: usize) -> u8 {
        if !self.masks() {
            return !0;
        }
        let some = (alpha.clamp(0.0, 1.0) * samples as f32 + 0.5) as u32;
        ((1u32 << some) - 1) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digest of 3D, §15.4: 8 bits, reference 0x80, >=, 0.5 is 128 and passes.
    #[test]
    fn the_test_of_the_digest() {
        let t = Alpha {
            function: 0x80 | 6 << 8 | 1 << 11 | 1 << 12,
            value: 0,
        };
        assert!(t.passes(0.5) && !t.passes(0.497));
    }

    /// §11: functions, in OpenGL's order; references of 10 bits and of half floats.
    #[test]
    fn functions_of_alpha() {
        let at = |function: u32, alpha: f32, value, wide: bool| {
            let format = if wide { 1 << 28 } else { 0 };
            let function = function << 8 | 1 << 11 | format;
            Alpha { function, value }.passes(alpha)
        };
        for (alpha, want) in [
            (0.25, [false, true, false, true, false, true, false, true]),
            (0.5, [false, false, true, true, false, false, true, true]),
            (0.75, [false, false, false, false, true, true, true, true]),
        ] {
            let of = |wide, value| [0, 1, 2, 3, 4, 5, 6, 7].map(|f| at(f, alpha, value, wide));
            assert_eq!(of(true, 0x3800), want, "{alpha}");
            assert_eq!(of(false, 512), want, "{alpha}");
        }
        assert!(Alpha::default().passes(0.0));
    }

    #[test]
    fn alpha_is_a_mask() {
        let m = Alpha {
            function: 1 << 16,
            value: 0,
        };
        assert_eq!([0.0, 0.5, 1.0].map(|a| m.mask(a, 4)), [0, 3, 15]);
        assert_eq!(m.mask(f32::NAN, 4), 0);
        assert_eq!(Alpha::default().mask(0.0, 4), 0xff);
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The alpha test, alpha as a mask of samples, and fog (digest of 3D, §11, §6.7).

use super::packing::{from_half, half};
use crate::r5xx::pvs::Vec4;

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

/// What decides how thick the fog is at a pixel (GB_SELECT 2:0, §6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thickness {
    /// The alpha of a colour.
    Alpha(u8),
    /// w of the vertices.
    W,
    /// Depth, 0 to 1.
    Depth,
}

/// FG_FOG_BLEND, FG_FOG_FACTOR, FG_FOG_COLOR_R, _G, _B; GB_SELECT; GA_FOG_SCALE, GA_FOG_OFFSET.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fog {
    pub blend: u32,
    pub factor: u32,
    pub colour: [u32; 3],
    pub select: u32,
    pub scale: f32,
    pub offset: f32,
}

/// A number of ten bits, of which the largest is 1 (0.10).
fn tenth(v: u32) -> f32 {
    (v & 0x3ff) as f32 / 1023.0
}

impl Fog {
    /// True if there is fog.
    pub fn is_on(self) -> bool {
        self.blend & 1 != 0
    }

    /// FN is the constant of FG_FOG_FACTOR.
    fn is_constant(self) -> bool {
        self.blend >> 1 & 3 == 3
    }

    /// Returns the source of the factor; `None` if it is a constant.
    pub fn thickness(self) -> Option<Thickness> {
        if self.is_constant() {
            return None;
        }
        Some(match self.select & 7 {
            n @ 0..=3 => Thickness::Alpha(n as u8),
            4 => Thickness::W,
            // 6 and 7 are reserved.
            _ => Thickness::Depth,
        })
    }

    /// The share of a colour that is seen, 0 to 1, at a thickness. The base of the exponential functions
    /// is not documented: it is e, as in OpenGL.
    pub fn seen(self, thickness: f32) -> f32 {
        let v = thickness * self.scale + self.offset;
        let f = match self.blend >> 1 & 3 {
            0 => v,
            1 => (-v).exp(),
            2 => (-v * v).exp(),
            _ => tenth(self.factor),
        };
        if f.is_nan() {
            0.0
        } else {
            f.clamp(0.0, 1.0)
        }
    }

    /// A colour in the fog. Alpha is not changed.
    pub fn over(self, seen: f32, [r, g, b, a]: Vec4) -> Vec4 {
        let mix = |c: f32, fog: u32| seen * c + (1.0 - seen) * tenth(fog);
        let [fr, fg, fb] = self.colour;
        [mix(r, fr), mix(g, fg), mix(b, fb), a]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §11: FN 0 linear, 1 exponential, 2 with the square, 3 a constant of 0.10; the scale, then the offset.
    #[test]
    fn functions_of_fog() {
        let fog = |function: u32| Fog {
            blend: 1 | function << 1,
            factor: 1023 / 3,
            scale: 0.5,
            offset: 0.25,
            ..Fog::default()
        };
        // 0.5 * 0.5 + 0.25 is 0.5: e^-0.5, e^-0.25.
        for (function, want) in [(0, 0.5), (1, 0.606_530_7), (2, 0.778_800_8), (3, 1.0 / 3.0)] {
            let got = fog(function).seen(0.5);
            assert!((got - want).abs() < 1e-6, "{function}: {got}");
        }
        assert_eq!([fog(0).seen(9.0), fog(0).seen(-9.0)], [1.0, 0.0]);
        assert_eq!(fog(0).seen(f32::NAN), 0.0);
        assert!(fog(0).is_on() && !Fog::default().is_on());
    }

    /// §6.7: FOG_SELECT 0 to 3 are alphas of colours, 4 is 1 / (1 / W), 5 is Z.
    #[test]
    fn sources_of_fog() {
        let at = |select: u32, blend: u32| {
            Fog {
                select,
                blend,
                ..Fog::default()
            }
            .thickness()
        };
        assert_eq!(at(0, 1), Some(Thickness::Alpha(0)));
        assert_eq!(at(3, 1), Some(Thickness::Alpha(3)));
        assert_eq!(at(4, 1), Some(Thickness::W));
        assert_eq!(at(5 | 1 << 3, 1), Some(Thickness::Depth));
        assert_eq!(at(4, 1 | 3 << 1), None);
    }

    /// §11: C = f C + (1 - f) fog, and alpha is as it was.
    #[test]
    fn colours_in_fog() {
        let fog = Fog {
            colour: [1023, 0, 0x7c00 | 1023],
            ..Fog::default()
        };
        let got = fog.over(0.25, [0.0, 1.0, 0.5, 0.125]);
        assert_eq!(got, [0.75, 0.25, 0.875, 0.125]);
        assert_eq!(fog.over(1.0, [0.5; 4]), [0.5; 4]);
    }

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

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! How colours are stored: lanes C0 to C3, what they hold, and where (digest of 3D, §13.2).

use crate::r5xx::pvs::Vec4;

/// How a lane's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// 0 to 1.
    Unsigned,
    /// -1 to 1.
    Signed,
    /// A float of 16 bits, or of 32.
    Float,
}

/// A lane in a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub lane: u8,
    pub shift: u8,
    pub bits: u8,
    pub coding: Coding,
}

/// A pixel's format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packing {
    pub bytes: usize,
    pub fields: Vec<Field>,
    /// Which of A, R, G, B (0 to 3) goes to C0 to C3: US_OUT_FMT 15:8.
    pub selects: [u8; 4],
    /// C0 to C3 are its four bytes, each from 0 to 1: what most pixels are.
    plain: bool,
    /// No lane is a float.
    fixed: bool,
}

/// US_OUT_FMT 4:0, those that name a width.
mod out {
    pub const ONE_16: u32 = 3;
    pub const FOUR_16: u32 = 5;
    pub const ONE_FLOAT16: u32 = 16;
    pub const FOUR_FLOAT16: u32 = 18;
    pub const ONE_FLOAT32: u32 = 19;
    pub const TWO_FLOAT32: u32 = 20;
    pub const FOUR_FLOAT32: u32 = 21;
}

/// A lane, its first bit, its width.
type Lane = (u8, u8, u8);

/// Lanes by RB3D_COLORPITCH 24:21, and a pixel's bytes.
fn by_format(format: u32) -> Option<(usize, &'static [Lane])> {
    Some(match format {
        3 => (2, &[(0, 0, 5), (1, 5, 5), (2, 10, 5), (3, 15, 1)]),
        4 => (2, &[(0, 0, 5), (1, 5, 6), (2, 11, 5)]),
        5 => (4, &[(0, 0, 10), (1, 10, 10), (2, 20, 10), (3, 30, 2)]),
        6 => (4, &[(0, 0, 8), (1, 8, 8), (2, 16, 8), (3, 24, 8)]),
        7 => (16, &[(0, 0, 32), (1, 32, 32), (2, 64, 32), (3, 96, 32)]),
        9 => (1, &[(2, 0, 8)]),
        10 => (8, &[(0, 0, 16), (1, 16, 16), (2, 32, 16), (3, 48, 16)]),
        // YUV: as bytes.
        11 | 12 => (4, &[(0, 0, 8), (1, 8, 8), (2, 16, 8), (3, 24, 8)]),
        13 => (2, &[(2, 0, 8), (0, 8, 8)]),
        15 => (2, &[(0, 0, 4), (1, 4, 4), (2, 8, 4), (3, 12, 4)]),
        _ => return None,
    })
}

impl Packing {
    /// From RB3D_COLORPITCH 24:21 and US_OUT_FMT. None for a format that is reserved.
    pub fn new(format: u32, out_fmt: u32) -> Option<Self> {
        let (bytes, own) = by_format(format)?;
        let selects = [8, 10, 12, 14].map(|n| (out_fmt >> n & 3) as u8);
        let signed = |lane: u8| match out_fmt >> (16 + lane) & 1 {
            0 => Coding::Unsigned,
            _ => Coding::Signed,
        };
        // So many lanes of a width, one after the other.
        let run = |lanes: &[u8], bits: u8, float: bool| -> Vec<Field> {
            let field = |(n, lane): (usize, &u8)| Field {
                lane: *lane,
                shift: n as u8 * bits,
                bits,
                coding: if float { Coding::Float } else { signed(*lane) },
            };
            lanes.iter().enumerate().map(field).collect()
        };
        let lanes = [0, 1, 2, 3];
        let mut fields = match out_fmt & 31 {
            n @ out::ONE_16..=out::FOUR_16 => run(&lanes[..1 << (n - out::ONE_16)], 16, false),
            n @ out::ONE_FLOAT16..=out::FOUR_FLOAT16 => {
                run(&lanes[..1 << (n - out::ONE_FLOAT16)], 16, true)
            }
            out::ONE_FLOAT32 => run(&lanes[..1], 32, true),
            // Red and green are C0 and C2, with nothing in C1 (digest of 3D, D-24).
            out::TWO_FLOAT32 if selects[1] == 0 && selects[2] != 0 => run(&[0, 2], 32, true),
            out::TWO_FLOAT32 => run(&lanes[..2], 32, true),
            out::FOUR_FLOAT32 => run(&lanes, 32, true),
            _ => own
                .iter()
                .map(|&(lane, shift, bits)| Field {
                    lane,
                    shift,
                    bits,
                    coding: match bits {
                        32 => Coding::Float,
                        _ => signed(lane),
                    },
                })
                .collect(),
        };
        fields.retain(|f| usize::from(f.shift + f.bits) <= 8 * bytes);
        let is_byte = |(n, f): (usize, &Field)| {
            let at = (usize::from(f.lane), usize::from(f.shift), f.bits);
            at == (n, 8 * n, 8) && f.coding == Coding::Unsigned
        };
        Some(Packing {
            bytes,
            plain: fields.len() == 4 && fields.iter().enumerate().all(is_byte),
            fixed: fields.iter().all(|f| f.coding != Coding::Float),
            fields,
            selects,
        })
    }

    /// Red, green, blue, alpha in the order of lanes.
    pub fn lanes(&self, colour: Vec4) -> Vec4 {
        let [r, g, b, a] = colour;
        let argb = [a, r, g, b];
        std::array::from_fn(|n| argb[usize::from(self.selects[n] & 3)])
    }

    /// True if no lane is a float.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// Bits of a pixel.
    pub fn pack(&self, lanes: Vec4) -> u128 {
        if self.plain {
            let bytes = std::array::from_fn(|n| unsigned(lanes[n], 255.0) as u8);
            return u32::from_le_bytes(bytes).into();
        }
        let bits = |f: &Field| u128::from(f.encode(lanes[usize::from(f.lane)])) << f.shift;
        self.fields.iter().map(bits).fold(0, |all, b| all | b)
    }

    /// Lanes of a pixel; of those that it has not, alpha is 1, the others are 0. One of 8 bits is an intensity,
    /// "duplicated for all 3 channels" (R5xx guide, list of data types, 9); it is alpha as well where the shader's alpha
    /// was stored. (Inferred: cards blend both luminance and alpha by the alpha of the target, and come out right.)
    pub fn unpack(&self, pixel: u128) -> Vec4 {
        if self.plain {
            return from_bytes((pixel as u32).to_le_bytes());
        }
        if let (1, [only]) = (self.bytes, &self.fields[..]) {
            let v = only.decode(pixel as u32 & 0xff);
            return [v, v, v, if self.selects[2] == 0 { v } else { 1.0 }];
        }
        let mut lanes = [0.0, 0.0, 0.0, 1.0];
        for f in &self.fields {
            let mask = (1u128 << f.bits) - 1;
            lanes[usize::from(f.lane)] = f.decode((pixel >> f.shift & mask) as u32);
        }
        lanes
    }

    /// Bits of a pixel that a mask of lanes lets through.
    pub fn mask(&self, lanes: u32) -> u128 {
        let mine = self.fields.iter().filter(|f| lanes >> f.lane & 1 != 0);
        mine.fold(0, |all, f| all | ((1u128 << f.bits) - 1) << f.shift)
    }
}

impl Field {
    fn most(&self) -> f64 {
        ((1u64 << self.bits) - 1) as f64
    }

    fn encode(&self, v: f32) -> u32 {
        let wide = f64::from(v);
        match self.coding {
            Coding::Float if self.bits == 16 => u32::from(half(v)),
            Coding::Float => v.to_bits(),
            _ if v.is_nan() => 0,
            Coding::Unsigned => unsigned(v, self.most()),
            Coding::Signed => {
                let most = ((1u64 << (self.bits - 1)) - 1) as f64;
                let v = (wide.clamp(-1.0, 1.0) * most).round() as i32;
                v as u32 & (self.most() as u32)
            }
        }
    }

    fn decode(&self, v: u32) -> f32 {
        match self.coding {
            Coding::Float if self.bits == 16 => from_half(v as u16),
            Coding::Float => f32::from_bits(v),
            Coding::Unsigned => (f64::from(v) / self.most()) as f32,
            Coding::Signed => signed(v, self.bits.into()),
        }
    }
}

/// A number from 0 to 1 as one from 0 to `most`: directly from the float, to the nearest (digest of 3D, D-26). What is
/// not a number becomes 0.
fn unsigned(v: f32, most: f64) -> u32 {
    (f64::from(v).clamp(0.0, 1.0) * most + 0.5) as u32
}

/// Four components of a byte each, of which the largest is 1.
pub(super) fn from_bytes(bytes: [u8; 4]) -> Vec4 {
    bytes.map(|b| f32::from(b) / 255.0)
}

/// A signed number of so many bits, of which the largest is 1.
pub(super) fn signed(v: u32, bits: u32) -> f32 {
    let wide = ((v << (32 - bits)) as i32) >> (32 - bits);
    let most = ((1u64 << (bits - 1)) - 1).max(1) as f32;
    (wide as f32 / most).max(-1.0)
}

/// The float of 16 bits next to one of 32; of two, the even one.
pub(super) fn half(v: f32) -> u16 {
    let bits = v.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    let exponent = (magnitude >> 23) as i32 - 112;
    if exponent >= 31 {
        return sign | 0x7c00;
    }
    let (value, drop) = if exponent > 0 {
        ((exponent as u32) << 23 | magnitude & 0x7f_ffff, 13)
    } else {
        // A denormal: the mantissa with its leading bit, further to the right.
        let drop = 14 - exponent;
        if drop > 24 {
            return sign;
        }
        (magnitude & 0x7f_ffff | 0x80_0000, drop as u32)
    };
    let (kept, rest, middle) = (value >> drop, value & ((1 << drop) - 1), 1 << (drop - 1));
    let up = rest > middle || (rest == middle && kept & 1 != 0);
    sign | (kept + u32::from(up)) as u16
}

/// A float of 16 bits.
pub(super) fn from_half(h: u16) -> f32 {
    super::psc::half_float(h.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOUR: Vec4 = [1.0, 0.5, 0.25, 0.75];
    /// Selects of US_OUT_FMT for C0 to C3.
    const BGRA: u32 = 0x1b00;
    const RGBA: u32 = 0x3900;

    fn packed(format: u32, out_fmt: u32, colour: Vec4) -> u128 {
        let p = Packing::new(format, out_fmt).expect("a format");
        p.pack(p.lanes(colour))
    }

    /// Digest of 3D, §15.3: what is stored of (1, 0.5, 0.25, 0.75).
    #[test]
    fn pixels_of_the_digest() {
        for (name, format, out_fmt, want) in [
            ("BGRA8", 6, BGRA, 0xbfff_8040),
            ("RGBA8", 6, RGBA, 0xbf40_80ff),
            ("RGB565", 4, BGRA, 0xfc08),
            ("ARGB1555", 3, BGRA, 0xfe08),
            ("ARGB4444", 15, BGRA, 0xbf84),
            ("BGR10A2", 5, BGRA | 1, 0xbff8_0100),
            // C0 = G, C2 = R.
            ("R8G8", 13, 2 << 8 | 1 << 12, 0x80ff),
            // C0 = A, C2 = R.
            ("L8A8", 13, 1 << 12, 0xbfff),
            ("RGBA16", 10, RGBA | 5, 0xbfff_4000_8000_ffff),
            ("RGBA16F", 10, RGBA | 18, 0x3a00_3400_3800_3c00),
            ("R8 of I8", 9, 1 << 12, 0xff),
        ] {
            assert_eq!(packed(format, out_fmt, COLOUR), want, "{name}");
        }
        let snorm = packed(6, RGBA | 15 << 16, [1.0, -0.5, 0.25, -1.0]);
        // -0.5 * 127 lies between two: the digest has the one away from 0 cut off.
        assert!(matches!(snorm, 0x8120_c07f | 0x8120_c17f), "{snorm:#x}");
        let f32s = packed(7, RGBA | 21, COLOUR);
        assert_eq!(f32s as u32, 1f32.to_bits());
        assert_eq!((f32s >> 96) as u32, 0.75f32.to_bits());
        assert_eq!(Packing::new(14, BGRA), None);
    }

    /// A read returns what was stored.
    #[test]
    fn pixels_come_back() {
        for (format, out_fmt) in [(6, BGRA), (4, RGBA), (5, RGBA), (10, RGBA | 18), (13, BGRA)] {
            let p = Packing::new(format, out_fmt).expect("a format");
            for pixel in [0u128, 0x1234_5678, 0x0f0f_3c01, 0x3bff_2400] {
                let pixel = pixel & p.mask(15);
                assert_eq!(p.pack(p.unpack(pixel)), pixel, "{format}");
            }
        }
        // An intensity is in all three colours (guide, data type 9), and in alpha if alpha was stored: C2_SEL.
        for (out_fmt, alpha) in [(1 << 12, 1.0), (0, 0.2)] {
            let p = Packing::new(9, out_fmt).expect("a format");
            assert_eq!(p.unpack(0x33), [0.2, 0.2, 0.2, alpha]);
        }
        // Without an alpha, it is 1.
        let p = Packing::new(4, BGRA).expect("a format");
        assert_eq!(p.unpack(0xf800), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(p.mask(4), 0xf800);
    }

    #[test]
    fn half_floats_are_rounded() {
        for (v, want) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (f32::INFINITY, 0x7c00),
            (5.960_464_5e-8, 1),
            (2.98e-8, 0),
            (6.1e-5, 0x03ff),
            (1.000_488_3, 0x3c00),
            (1.001_464_8, 0x3c02),
        ] {
            assert_eq!(half(v), want, "{v}");
        }
        assert_eq!(half(f32::NAN) & 0x7fff, 0x7e00);
    }
}

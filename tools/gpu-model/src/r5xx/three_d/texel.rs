// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What a texel's bits mean (digest of 3D, §10.2): components 0 to 3, of which 0 has the lowest bits.

use super::packing::{from_bytes, from_half, signed};
use crate::r5xx::pvs::Vec4;

/// First bit and width of each component of formats of integers.
fn fields(format: u32) -> Option<&'static [(u8, u8)]> {
    Some(match format {
        0 => &[(0, 8)],
        1 => &[(0, 16)],
        2 => &[(0, 4), (4, 4)],
        3 => &[(0, 8), (8, 8)],
        4 => &[(0, 16), (16, 16)],
        5 => &[(0, 2), (2, 3), (5, 3)],
        6 => &[(0, 5), (5, 6), (11, 5)],
        7 => &[(0, 5), (5, 5), (10, 6)],
        8 => &[(0, 10), (10, 11), (21, 11)],
        9 => &[(0, 11), (11, 11), (22, 10)],
        10 => &[(0, 4), (4, 4), (8, 4), (12, 4)],
        11 => &[(0, 5), (5, 5), (10, 5), (15, 1)],
        12 | 19 => &[(0, 8), (8, 8), (16, 8), (24, 8)],
        13 => &[(0, 10), (10, 10), (20, 10), (30, 2)],
        14 => &[(0, 16), (16, 16), (32, 16), (48, 16)],
        // The third is made of the two.
        18 => &[(0, 8), (8, 8)],
        22 => &[(0, 16)],
        23 => &[(0, 16), (16, 16)],
        // Depth first (digest of 3D, D-18).
        0x26 => &[(8, 24), (0, 8)],
        _ => return None,
    })
}

/// Bits of integers, of which a mask of components are signed.
fn integers(bits: u64, fields: &[(u8, u8)], signs: u32) -> Vec4 {
    let mut all = [0.0; 4];
    for (n, (shift, width)) in fields.iter().enumerate() {
        let most = (1u64 << width) - 1;
        let v = (bits >> shift & most) as u32;
        all[n] = if signs >> n & 1 != 0 && *width > 1 {
            signed(v, u32::from(*width))
        } else {
            // No component has more than 24 bits: both are exact as floats, and the quotient is the nearest.
            v as f32 / most as f32
        };
    }
    all
}

/// Components of a texel that is not in a block; what it has not is 0.
pub(super) fn plain(format: u32, raw: &[u8; 16], signs: u32) -> Vec4 {
    // What most textures are.
    if let (12 | 19, 0, [a, b, c, d, ..]) = (format, signs, raw) {
        return from_bytes([*a, *b, *c, *d]);
    }
    let bits = u128::from_le_bytes(*raw);
    let halves = |number: usize| -> Vec4 {
        let at = |n: usize| from_half((bits >> (16 * n)) as u16);
        std::array::from_fn(|n| if n < number { at(n) } else { 0.0 })
    };
    let floats = |number: usize| -> Vec4 {
        let at = |n: usize| f32::from_bits((bits >> (32 * n)) as u32);
        std::array::from_fn(|n| if n < number { at(n) } else { 0.0 })
    };
    match format {
        24..=26 => halves(1 << (format - 24)),
        27..=29 => floats(1 << (format - 27)),
        18 => {
            let mut c = integers(bits as u64, &[(0, 8), (8, 8)], signs);
            c[2] = (1.0 - c[0] * c[0] - c[1] * c[1]).max(0.0).sqrt();
            c
        }
        _ => fields(format).map_or([0.0; 4], |f| integers(bits as u64, f, signs)),
    }
}

/// Eight values between two, by three bits each; six, with the ends of the range, if the first is not the larger.
fn eight(block: &[u8], at: usize, sign: bool) -> f32 {
    let value = |b: u8| match sign {
        true => f32::from(b as i8).max(-127.0) / 127.0,
        false => f32::from(b) / 255.0,
    };
    let (a, b) = (value(block[0]), value(block[1]));
    let bits = block[2..8]
        .iter()
        .rev()
        .fold(0u64, |all, v| all << 8 | u64::from(*v));
    let index = (bits >> (3 * at) & 7) as u8;
    let more = match sign {
        true => block[0] as i8 > block[1] as i8,
        false => block[0] > block[1],
    };
    let mix = |n: u8, of: u8| (f32::from(of - n) * a + f32::from(n) * b) / f32::from(of);
    match (index, more) {
        (0, _) => a,
        (1, _) => b,
        (n, true) => mix(n - 1, 7),
        (6, false) => value(if sign { 0x81 } else { 0 }),
        (7, false) => value(if sign { 0x7f } else { 0xff }),
        (n, false) => mix(n - 1, 5),
    }
}

/// Two colours of 5, 6 and 5 bits, and two between them; of DXT1 one and black without alpha, if the first is not the
/// larger.
fn four(block: &[u8], at: usize, always: bool) -> Vec4 {
    let word = |n: usize| u16::from_le_bytes([block[n], block[n + 1]]);
    let (a, b) = (word(0), word(2));
    let colour = |v: u16| {
        let part = |shift: u16, bits: u16| {
            let most = (1 << bits) - 1;
            f32::from(v >> shift & most) / f32::from(most)
        };
        [part(11, 5), part(5, 6), part(0, 5), 1.0]
    };
    let (ca, cb) = (colour(a), colour(b));
    let mix = |n: f32| std::array::from_fn(|i| ca[i] + (cb[i] - ca[i]) * n);
    match (block[4 + at / 4] >> (2 * (at % 4)) & 3, always || a > b) {
        (0, _) => ca,
        (1, _) => cb,
        (2, true) => mix(1.0 / 3.0),
        (_, true) => mix(2.0 / 3.0),
        (2, false) => mix(0.5),
        (_, false) => [0.0; 4],
    }
}

/// Components of a texel of a block. `bgr`: TX_FILTER1 21, blue is component 0.
pub(super) fn in_block(
    format: u32,
    block: &[u8; 16],
    (x, y): (u64, u64),
    signs: u32,
    bgr: bool,
) -> Vec4 {
    let at = (4 * (y % 4) + x % 4) as usize;
    let sign = |n: u32| signs >> n & 1 != 0;
    let mut c = match format {
        15 => four(block, at, false),
        16 => {
            let mut c = four(&block[8..], at, true);
            c[3] = f32::from(block[at / 2] >> (4 * (at % 2)) & 15) / 15.0;
            c
        }
        17 => {
            let mut c = four(&block[8..], at, true);
            c[3] = eight(block, at, false);
            c
        }
        31 => {
            return [
                eight(block, at, sign(0)),
                eight(&block[8..], at, sign(1)),
                0.0,
                0.0,
            ]
        }
        0x25 => return [eight(block, at, sign(0)), 0.0, 0.0, 0.0],
        _ => return [0.0; 4],
    };
    if bgr {
        c.swap(0, 2);
    }
    c
}

/// TX_BORDER_COLOR, as user space packs it for a format (§10.4).
pub(super) fn border(format: u32, value: u32, signs: u32) -> Vec4 {
    let raw = |v: u32| {
        let mut all = [0; 16];
        all[..4].copy_from_slice(&v.to_le_bytes());
        all
    };
    match format {
        // As a texel: what has 2 to 5 bits, ten, or one or two of 16, and one of 32; depth.
        1 | 2 | 4..=6 | 8..=11 | 13 | 22..=25 | 27 | 0x26 => plain(format, &raw(value), signs),
        // Nibbles, of which the second counts.
        0x25 => [(value >> 4 & 15) as f32 / 15.0, 0.0, 0.0, 0.0],
        _ => plain(12, &raw(value), signs),
    }
}

/// From what sRGB stores to what is added.
pub(super) fn linear(v: f32) -> f32 {
    if v <= 0.040_45 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texel(format: u32, bits: u128, signs: u32) -> Vec4 {
        plain(format, &bits.to_le_bytes(), signs)
    }

    /// Digest of 3D, §15.3.
    #[test]
    fn texels_of_the_digest() {
        assert_eq!(texel(6, 0x07e0, 0), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(texel(11, 0xfc00, 0), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(texel(0, 0x80, 1)[0], -1.0);
        assert!((texel(24, 0x3555, 0)[0] - 0.333_251_95).abs() < 1e-8);
        let mut block = [0; 16];
        block[..8].copy_from_slice(&[0x00, 0xf8, 0x1f, 0x00, 0xe4, 0xe4, 0xe4, 0xe4]);
        let row: Vec<_> = (0..4)
            .map(|x| in_block(15, &block, (x, 2), 0, false))
            .collect();
        let want = [
            (255.0, 0.0, 0.0),
            (0.0, 0.0, 255.0),
            (170.0, 0.0, 85.0),
            (85.0, 0.0, 170.0),
        ];
        for (got, (r, g, b)) in row.iter().zip(want) {
            for (got, want) in got.iter().zip([r, g, b]) {
                assert!((got * 255.0 - want).abs() < 1e-3, "{got} {want}");
            }
        }
        assert_eq!(in_block(15, &block, (0, 0), 0, true), [0.0, 0.0, 1.0, 1.0]);
        // ATI1N, ff and 00, index 2.
        let one = [0xff, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let got = in_block(0x25, &one, (0, 0), 0, false)[0];
        assert!((got * 255.0 - 218.571).abs() < 1e-3);
        for (byte, want) in [
            (10, 0.003_035_3),
            (64, 0.051_269_5),
            (128, 0.215_860_5),
            (188, 0.502_886_5),
        ] {
            assert!((linear(byte as f32 / 255.0) - want).abs() < 1e-6);
        }
    }

    /// Each format of integers: its bits, all set, are 1 in each component that it has.
    #[test]
    fn components_of_formats() {
        for (format, bytes, components) in [
            (0, 1, 1),
            (1, 2, 1),
            (2, 1, 2),
            (3, 2, 2),
            (4, 4, 2),
            (5, 1, 3),
            (6, 2, 3),
            (7, 2, 3),
            (8, 4, 3),
            (9, 4, 3),
            (10, 2, 4),
            (11, 2, 4),
            (12, 4, 4),
            (13, 4, 4),
            (14, 8, 4),
            (0x26, 4, 2),
        ] {
            let ones = !(!0u128 << (8 * bytes));
            let want: Vec4 = std::array::from_fn(|n| f32::from(u8::from(n < components)));
            assert_eq!(texel(format, ones, 0), want, "{format}");
        }
        assert_eq!(texel(0x26, 0x8000_00ff, 0)[1], 1.0);
        assert!((texel(0x26, 0x8000_0000, 0)[0] - 0.5).abs() < 1e-6);
        assert_eq!(texel(28, 0x3f80_0000, 0), [1.0, 0.0, 0.0, 0.0]);
    }
}

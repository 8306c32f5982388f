// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Programmable stream control: from the dwords of a vertex to the inputs of its program (R5xx guide §6.4.7;
//! digest of 3D, §2.2).
//!
//! Up to sixteen elements lie behind each other in what all arrays have of a vertex. Each is converted to four floats,
//! swizzled, and written to one input vector.

use crate::r5xx::pvs::Vec4;
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;
use std::mem::size_of;

/// Elements.
pub(super) const ELEMENTS: usize = 16;

/// Half of VAP_PROG_STREAM_CNTL_n.
#[bitfield(u16)]
#[derive(PartialEq, Eq)]
struct StreamCntl {
    /// DATA_TYPE, 3:0.
    #[bits(4)]
    data_type: u8,
    /// SKIP_DWORDS, 7:4, behind the element.
    #[bits(4)]
    skip_dwords: u8,
    /// DST_VEC_LOC, 12:8.
    #[bits(5)]
    dst_vec_loc: u8,
    /// LAST_VEC, 13: no element follows.
    last_vec: bool,
    /// SIGNED, 14.
    signed: bool,
    /// NORMALIZE, 15.
    normalize: bool,
}

/// Half of VAP_PROG_STREAM_CNTL_EXT_n.
#[bitfield(u16)]
#[derive(PartialEq, Eq)]
struct StreamCntlExt {
    /// SWIZZLE_SELECT_X, 2:0: 0 to 3 x to w, 4 0.0, 5 1.0.
    #[bits(3)]
    swizzle_x: u8,
    /// SWIZZLE_SELECT_Y, 5:3.
    #[bits(3)]
    swizzle_y: u8,
    /// SWIZZLE_SELECT_Z, 8:6.
    #[bits(3)]
    swizzle_z: u8,
    /// SWIZZLE_SELECT_W, 11:9.
    #[bits(3)]
    swizzle_w: u8,
    /// WRITE_ENA, 15:12.
    #[bits(4)]
    write_ena: u8,
}

const_assert_eq!(size_of::<StreamCntl>(), 2);
const_assert_eq!(size_of::<StreamCntlExt>(), 2);

/// How signed normalised integers become floats (VAP_PSC_SGN_NORM_CNTL, two bits of each element).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignedNormal {
    /// v / (2^(n-1) - 1).
    Zero,
    /// The same, not below -1.
    ZeroClamp,
    /// (2 v + 1) / (2^n - 1): no integer is 0. The register's page prints 2^n, and examples for this.
    NoZero,
}

/// What is odd about the registers, or a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    /// None of the sixteen elements is the last.
    NoLast,
    /// A reserved type: nothing is written from there on.
    Type(u8),
    /// The second half of FLOAT_8 would be input 32.
    Vector,
    /// A reserved method or swizzle: the first method, 0.0.
    Code,
    /// The arrays have fewer dwords of a vertex than its elements: the rest is 0.
    Short,
}

/// Types of elements.
mod kind {
    pub const FLOAT_1: u8 = 0;
    pub const FLOAT_4: u8 = 3;
    pub const BYTE: u8 = 4;
    pub const D3DCOLOR: u8 = 5;
    pub const SHORT_2: u8 = 6;
    pub const SHORT_4: u8 = 7;
    pub const VECTOR_3_TTT: u8 = 8;
    pub const VECTOR_3_EET: u8 = 9;
    pub const FLOAT_8: u8 = 10;
    pub const FLT16_2: u8 = 11;
    pub const FLT16_4: u8 = 12;
}

/// An element.
#[derive(Clone, Copy, Debug)]
struct Element {
    cntl: StreamCntl,
    ext: StreamCntlExt,
    method: SignedNormal,
}

/// The elements of a vertex.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    elements: [Element; ELEMENTS],
    number: usize,
    /// What was odd about the registers.
    pub odd: Option<Oddity>,
}

impl Stream {
    /// From VAP_PROG_STREAM_CNTL_0 to 7, the same of _EXT, and VAP_PSC_SGN_NORM_CNTL. `None` if nothing was
    /// ever written there: no vertex is fetched for a program then.
    pub fn new(cntl: [u32; 8], ext: [u32; 8], sgn_norm: u32) -> Option<Self> {
        if cntl == [0; 8] {
            return None;
        }
        let half = |words: &[u32; 8], n: usize| (words[n / 2] >> (16 * (n % 2))) as u16;
        let mut odd = None;
        let mut number = 0;
        let mut ended = false;
        let elements = std::array::from_fn(|n| {
            let element = Element {
                cntl: half(&cntl, n).into(),
                ext: half(&ext, n).into(),
                method: match sgn_norm >> (2 * n) & 3 {
                    1 => SignedNormal::ZeroClamp,
                    2 => SignedNormal::NoZero,
                    _ => SignedNormal::Zero,
                },
            };
            if !ended {
                number = n + 1;
                ended = element.cntl.last_vec();
                let method = sgn_norm >> (2 * n) & 3;
                odd = odd.or(element.oddity(method == 3));
            }
            element
        });
        if !ended {
            odd = Some(Oddity::NoLast);
        }
        Some(Stream {
            elements,
            number,
            odd,
        })
    }

    /// Input vectors up to the highest that an element names.
    pub fn vectors(&self) -> u32 {
        let of = |e: &Element| {
            let two = e.cntl.data_type() == kind::FLOAT_8;
            u32::from(e.cntl.dst_vec_loc()) + 1 + u32::from(two)
        };
        self.elements[..self.number]
            .iter()
            .map(of)
            .max()
            .unwrap_or(0)
    }

    /// Converts the dwords of a vertex. Lanes that no element writes stay.
    pub fn load(&self, dwords: &[u32], input: &mut [Vec4; 32]) -> Option<Oddity> {
        let mut at = 0;
        for element in &self.elements[..self.number] {
            let Some(size) = element.dwords() else {
                break;
            };
            let get = |n: usize| dwords.get(at + n).copied().unwrap_or(0);
            let to = usize::from(element.cntl.dst_vec_loc());
            if element.cntl.data_type() == kind::FLOAT_8 {
                element.store(input, to, floats([get(0), get(1), get(2), get(3)]));
                element.store(input, to + 1, floats([get(4), get(5), get(6), get(7)]));
            } else {
                element.store(input, to, element.convert([get(0), get(1), get(2), get(3)]));
            }
            if at + size > dwords.len() {
                return Some(Oddity::Short);
            }
            at += size + usize::from(element.cntl.skip_dwords());
        }
        None
    }
}

fn floats(v: [u32; 4]) -> Vec4 {
    v.map(f32::from_bits)
}

/// A float of 16 bits: sign, five bits of exponent with a bias of 15, ten of mantissa, with denormals.
pub(super) fn half_float(h: u32) -> f32 {
    let (sign, exponent, mantissa) = (h >> 15 & 1, h >> 10 & 31, h & 0x3ff);
    let magnitude = match exponent {
        0 => mantissa as f32 / (1 << 24) as f32,
        31 => f32::from_bits(0x7f80_0000 | mantissa << 13),
        _ => f32::from_bits((exponent + 112) << 23 | mantissa << 13),
    };
    if sign != 0 {
        -magnitude
    } else {
        magnitude
    }
}

impl Element {
    fn oddity(&self, method: bool) -> Option<Oddity> {
        let (cntl, ext) = (self.cntl, self.ext);
        let swizzles = [
            ext.swizzle_x(),
            ext.swizzle_y(),
            ext.swizzle_z(),
            ext.swizzle_w(),
        ];
        let written = |n: usize| ext.write_ena() >> n & 1 != 0;
        if self.dwords().is_none() {
            Some(Oddity::Type(cntl.data_type()))
        } else if cntl.data_type() == kind::FLOAT_8 && cntl.dst_vec_loc() == 31 {
            Some(Oddity::Vector)
        } else if (0..4).any(|n| written(n) && swizzles[n] > 5)
            || (method && cntl.signed() && cntl.normalize())
        {
            Some(Oddity::Code)
        } else {
            None
        }
    }

    /// Dwords that it has in a vertex.
    fn dwords(&self) -> Option<usize> {
        Some(match self.cntl.data_type() {
            n @ kind::FLOAT_1..=kind::FLOAT_4 => usize::from(n) + 1,
            kind::SHORT_4 | kind::FLT16_4 => 2,
            kind::FLOAT_8 => 8,
            kind::BYTE..=kind::VECTOR_3_EET | kind::FLT16_2 => 1,
            _ => return None,
        })
    }

    /// An integer of so many bits.
    fn integer(&self, value: u32, bits: u32) -> f32 {
        let most = ((1u32 << bits) - 1) as f32;
        let unsigned = value & ((1 << bits) - 1);
        // The sign is moved to the top and back.
        let signed = ((value << (32 - bits)) as i32) >> (32 - bits);
        match (self.cntl.signed(), self.cntl.normalize()) {
            (false, false) => unsigned as f32,
            (false, true) => unsigned as f32 / most,
            (true, false) => signed as f32,
            (true, true) => {
                let positive = ((1u32 << (bits - 1)) - 1) as f32;
                match self.method {
                    SignedNormal::Zero => signed as f32 / positive,
                    SignedNormal::ZeroClamp => (signed as f32 / positive).max(-1.0),
                    SignedNormal::NoZero => (2 * signed + 1) as f32 / most,
                }
            }
        }
    }

    /// Four floats of an element's dwords: y and z that it has not are 0, w is 1.
    fn convert(&self, d: [u32; 4]) -> Vec4 {
        let int = |v: u32, bits: u32| self.integer(v, bits);
        let [f0, f1, f2, f3] = floats(d);
        match self.cntl.data_type() {
            0 => [f0, 0.0, 0.0, 1.0],
            1 => [f0, f1, 0.0, 1.0],
            2 => [f0, f1, f2, 1.0],
            3 => [f0, f1, f2, f3],
            kind::BYTE => [0, 8, 16, 24].map(|n| int(d[0] >> n, 8)),
            kind::D3DCOLOR => [16, 8, 0, 24].map(|n| int(d[0] >> n, 8)),
            kind::SHORT_2 => [int(d[0], 16), int(d[0] >> 16, 16), 0.0, 1.0],
            kind::SHORT_4 => [d[0], d[0] >> 16, d[1], d[1] >> 16].map(|v| int(v, 16)),
            kind::VECTOR_3_TTT => [int(d[0], 10), int(d[0] >> 10, 10), int(d[0] >> 20, 10), 1.0],
            kind::VECTOR_3_EET => [int(d[0], 11), int(d[0] >> 11, 11), int(d[0] >> 22, 10), 1.0],
            kind::FLT16_2 => [half_float(d[0]), half_float(d[0] >> 16), 0.0, 1.0],
            _ => [d[0], d[0] >> 16, d[1], d[1] >> 16].map(half_float),
        }
    }

    fn store(&self, input: &mut [Vec4; 32], to: usize, value: Vec4) {
        let Some(vector) = input.get_mut(to) else {
            return;
        };
        let ext = self.ext;
        let lanes = [value[0], value[1], value[2], value[3], 0.0, 1.0, 0.0, 0.0];
        let swizzles = [
            ext.swizzle_x(),
            ext.swizzle_y(),
            ext.swizzle_z(),
            ext.swizzle_w(),
        ];
        for (n, lane) in vector.iter_mut().enumerate() {
            if ext.write_ena() >> n & 1 != 0 {
                *lane = lanes[usize::from(swizzles[n])];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: u32 = 1 << 13;
    const SIGNED: u32 = 1 << 14;
    const NORMALIZE: u32 = 1 << 15;
    /// x, y, z, w as they are, all written.
    const XYZW: u32 = 1 << 3 | 2 << 6 | 3 << 9 | 15 << 12;

    /// Input 0 of one element.
    fn one(cntl: u32, method: u32, dwords: &[u32]) -> Vec4 {
        let mut regs = ([0; 8], [0; 8]);
        (regs.0[0], regs.1[0]) = (cntl | LAST, XYZW);
        let stream = Stream::new(regs.0, regs.1, method).expect("one element");
        assert_eq!(stream.odd, None);
        let mut input = [[9.0; 4]; 32];
        assert_eq!(stream.load(dwords, &mut input), None);
        assert_eq!(input[1..], [[9.0; 4]; 31]);
        input[0]
    }

    fn near(got: Vec4, want: Vec4) {
        let fits = got.into_iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-7);
        assert!(fits, "{got:?}, not {want:?}");
    }

    /// Digest of 3D, §15.3, the rows of PSC, printed with seven decimals.
    #[test]
    fn vectors_of_the_digest() {
        let d = [0x80ff_7f01];
        near(
            one(4 | NORMALIZE, 0, &d),
            [0.003_921_6, 0.498_039_2, 1.0, 0.501_960_8],
        );
        near(
            one(4 | SIGNED | NORMALIZE, 2, &d),
            [0.011_764_7, 1.0, -0.003_921_6, -1.0],
        );
        assert_eq!(one(9, 0, &[0x0040_0800]), [0.0, 1.0, 1.0, 1.0]);
        assert_eq!(one(11, 0, &[0xc000_3c00]), [1.0, -2.0, 0.0, 1.0]);
    }

    /// §2.2 of it: dwords and lanes of each type.
    #[test]
    fn types_of_elements() {
        let f = [1.5f32, -2.0, 3.25, 4.0].map(f32::to_bits);
        for (cntl, dwords, want) in [
            (0, &f[..1], [1.5, 0.0, 0.0, 1.0]),
            (1, &f[..2], [1.5, -2.0, 0.0, 1.0]),
            (2, &f[..3], [1.5, -2.0, 3.25, 1.0]),
            (3, &f[..], [1.5, -2.0, 3.25, 4.0]),
            (4, &[0x0403_02ff][..], [255.0, 2.0, 3.0, 4.0]),
            (4 | SIGNED, &[0x8003_02ff], [-1.0, 2.0, 3.0, -128.0]),
            (5, &[0x0403_02ff], [3.0, 2.0, 255.0, 4.0]),
            (6, &[0x8000_ffff], [65535.0, 32768.0, 0.0, 1.0]),
            (6 | SIGNED, &[0x8000_ffff], [-1.0, -32768.0, 0.0, 1.0]),
            (7, &[0x0002_0001, 0x0004_0003], [1.0, 2.0, 3.0, 4.0]),
            (8, &[0x3fe0_0801], [1.0, 2.0, 1022.0, 1.0]),
            (8 | SIGNED, &[0x3fe0_0801], [1.0, 2.0, -2.0, 1.0]),
            (9 | SIGNED, &[0x8020_07ff], [-1.0, -1024.0, -512.0, 1.0]),
            (
                12,
                &[0xbc00_3800, 0x4200_0001],
                [0.5, -1.0, 5.960_464_5e-8, 3.0],
            ),
        ] {
            assert_eq!(one(cntl, 0, dwords), want, "{cntl:#x}");
        }
    }

    /// The table of methods, of n = 8.
    #[test]
    fn methods_of_signed_normals() {
        let d = [0x7f00_8180];
        let cntl = 4 | SIGNED | NORMALIZE;
        near(one(cntl, 0, &d), [-1.007_874, -1.0, 0.0, 1.0]);
        near(one(cntl, 1, &d), [-1.0, -1.0, 0.0, 1.0]);
        near(one(cntl, 2, &d), [-1.0, -0.992_156_9, 0.003_921_57, 1.0]);
    }

    /// Infinity and what is not a number stay that.
    #[test]
    fn ends_of_half_floats() {
        assert_eq!(half_float(0x7c00), f32::INFINITY);
        assert_eq!(half_float(0xfc00), f32::NEG_INFINITY);
        assert!(half_float(0x7e00).is_nan());
        assert_eq!(half_float(0x7bff), 65504.0);
        assert_eq!(half_float(0x0400), 0.000_061_035_156);
        assert_eq!(half_float(0x8000).to_bits(), 1 << 31);
    }

    /// Elements follow each other with what is skipped between them, go where they say, by their swizzle and
    /// mask; behind the last there is none. FLOAT_8 fills two vectors.
    #[test]
    fn elements_of_a_vertex() {
        let cntl = [(1 << 4) | (10 | 5 << 8) << 16, (2 << 8 | LAST) | 3 << 16];
        // z, 1, 0, x; y and w only.
        let ext = [
            (2 | 5 << 3 | 4 << 6 | 15 << 12) | XYZW << 16,
            XYZW & 0xfff | 10 << 12,
        ];
        let mut regs = ([0; 8], [0; 8]);
        (regs.0[0], regs.0[1]) = (cntl[0], cntl[1]);
        (regs.1[0], regs.1[1]) = (ext[0], ext[1]);
        let stream = Stream::new(regs.0, regs.1, 0).expect("elements");
        let dwords: Vec<u32> = (1..=11).map(|n| (n as f32).to_bits()).collect();
        let mut input = [[9.0; 4]; 32];
        assert_eq!(stream.load(&dwords, &mut input), None);
        let mut want = [[9.0; 4]; 32];
        want[0] = [0.0, 1.0, 0.0, 1.0];
        want[5] = [3.0, 4.0, 5.0, 6.0];
        want[6] = [7.0, 8.0, 9.0, 10.0];
        want[2] = [9.0, 0.0, 9.0, 1.0];
        assert_eq!(input, want);
    }

    /// Mistakes are reported: no last element, reserved types, a vector too many, a vertex that is too short.
    #[test]
    fn odd_streams() {
        let odd = |cntl: [u32; 8], ext: u32, method| {
            Stream::new(cntl, [ext; 8], method).expect("elements").odd
        };
        let first = |half: u32| [half, 0, 0, 0, 0, 0, 0, 0];
        assert!(Stream::new([0; 8], [XYZW; 8], 0).is_none());
        assert_eq!(odd(first(1), XYZW, 0), Some(Oddity::NoLast));
        assert_eq!(odd(first(13 | LAST), XYZW, 0), Some(Oddity::Type(13)));
        assert_eq!(
            odd(first(10 | 31 << 8 | LAST), XYZW, 0),
            Some(Oddity::Vector)
        );
        assert_eq!(odd(first(3 | LAST), XYZW | 7, 0), Some(Oddity::Code));
        assert_eq!(
            odd(first(4 | SIGNED | NORMALIZE | LAST), XYZW, 3),
            Some(Oddity::Code)
        );
        assert_eq!(odd(first(4 | LAST), XYZW, 3), None);
        let stream = Stream::new(first(3 | LAST), [XYZW; 8], 0).expect("elements");
        let mut input = [[9.0; 4]; 32];
        let one = 1f32.to_bits();
        assert_eq!(stream.load(&[one; 3], &mut input), Some(Oddity::Short));
        assert_eq!(input[0], [1.0, 1.0, 1.0, 0.0]);
    }
}

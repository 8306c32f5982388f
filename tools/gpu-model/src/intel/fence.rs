// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Fence registers: detiling of CPU accesses through the aperture (SNB PRM V1P2 §4.5.4.1).
//!
//! The walk itself is in [`crate::tiling`].

use crate::tiling::{self, Swizzle, Tiling};

/// A chip's fence registers: 64 bits each, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct FenceUnit {
    /// Offset of the first.
    pub base: u32,
    /// How many there are.
    pub count: u32,
    /// Bits that are stored: of the low half and of the high half.
    pub stored: [u32; 2],
    /// What a value means; `None` unless valid.
    pub decode: fn(u64) -> Option<Fence>,
}

impl FenceUnit {
    /// Offsets of all of them.
    pub fn range(&self) -> std::ops::Range<u32> {
        self.base..self.base + 8 * self.count
    }
}

/// Sixteen fences (§4.5.4.1.1).
pub const GEN6: FenceUnit = FenceUnit {
    base: 0x10_0000,
    count: 16,
    stored: [0xffff_f003, 0xffff_f3ff],
    decode: |v| Fence::decode(v, 0x3ff),
};

/// 32 fences, of which the pitch is 256 KB at most (digest of Gen7, V-03).
pub const GEN7: FenceUnit = FenceUnit {
    count: 32,
    stored: [0xffff_f003, 0xffff_f7ff],
    decode: |v| Fence::decode(v, 0x7ff),
    ..GEN6
};

/// Sixteen fences of which the pitch stands in the low half, up to 128 KB (G45 PRM V1b 4.5.4.1; digest of Gen4,
/// G-12).
pub const GEN4: FenceUnit = FenceUnit {
    base: 0x3000,
    count: 16,
    stored: [0xffff_ffff, 0xffff_f000],
    decode: Fence::decode_low,
};

/// A decoded fence register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// First byte of the region.
    pub start: u32,
    /// Last byte of the region; the register's upper bound is an inclusive page.
    pub last: u32,
    /// Row pitch in bytes.
    pub pitch: u32,
    /// Y walk instead of X.
    pub y_walk: bool,
}

impl Fence {
    /// Decodes a register whose pitch has the bits of `pitch` in the high half; `None` unless valid (bit 0).
    pub fn decode(v: u64, pitch: u32) -> Option<Fence> {
        if v & 1 == 0 {
            return None;
        }
        let lo = v as u32;
        let hi = (v >> 32) as u32;
        Some(Fence {
            start: lo & 0xffff_f000,
            last: (hi & 0xffff_f000) | 0xfff,
            pitch: ((hi & pitch) + 1) * 128,
            y_walk: lo & 2 != 0,
        })
    }

    /// Decodes a register whose pitch is in bits 11:2 of the low half; `None` unless valid (bit 0).
    pub fn decode_low(v: u64) -> Option<Fence> {
        if v & 1 == 0 {
            return None;
        }
        let (lo, hi) = (v as u32, (v >> 32) as u32);
        Some(Fence {
            start: lo & 0xffff_f000,
            last: (hi & 0xffff_f000) | 0xfff,
            pitch: ((lo >> 2 & 0x3ff) + 1) * 128,
            y_walk: lo & 2 != 0,
        })
    }

    /// True when the byte at `ga` lies in the region; never when the bounds are crossed.
    pub fn contains(&self, ga: u32) -> bool {
        self.start <= ga && ga <= self.last
    }

    /// True when two regions share a byte, which the document leaves undefined.
    pub fn overlaps(&self, other: &Fence) -> bool {
        self.start <= other.last
            && other.start <= self.last
            && self.start <= self.last
            && other.start <= other.last
    }

    /// True when the pitch is a whole number of tile widths: 512 bytes (X) or 128 (Y).
    pub fn pitch_ok(&self) -> bool {
        self.y_walk || self.pitch.is_multiple_of(512)
    }

    /// The graphics address behind the linear address `ga` inside the region; `swizzle` says which
    /// bits symmetric dual-channel memory folds into bit 6 for X and for Y (digest G-31).
    pub fn detile(&self, ga: u32, swizzle: bool) -> u32 {
        let (tiling, fold) = match self.y_walk {
            true => (Tiling::Y, Swizzle::Bit9),
            false => (Tiling::X, Swizzle::Bit9And10),
        };
        let fold = if swizzle { fold } else { Swizzle::None };
        let offset = tiling::detile(
            tiling,
            fold,
            u64::from(self.pitch),
            u64::from(ga - self.start),
        );
        self.start.wrapping_add(offset as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_the_example_of_the_digest() {
        // §4.5.4.1.1: start 0x100000, size 0x40000, stride 2048, X walk.
        let f = (GEN6.decode)(0x0013_F00F_0010_0001).expect("valid");
        assert_eq!(
            f,
            Fence {
                start: 0x10_0000,
                last: 0x13_ffff,
                pitch: 2048,
                y_walk: false
            }
        );
        assert!((GEN6.decode)(0x0013_F00F_0010_0000).is_none());
        assert!(f.contains(0x10_0000) && f.contains(0x13_ffff) && !f.contains(0x14_0000));
    }

    #[test]
    fn fences_of_a_real_gen4() {
        // GW16: a GM45's error record: start 0x0ce1f000, pitch 5,120, X, last page 0x0d21e000.
        let f = (GEN4.decode)(0x0d21_e000_0ce1_f09d).expect("valid");
        assert_eq!(
            f,
            Fence {
                start: 0x0ce1_f000,
                last: 0x0d21_efff,
                pitch: 5120,
                y_walk: false
            }
        );
        assert_eq!(GEN4.range(), 0x3000..0x3080);
        // G45 PRM V1b 4.5.4.1: 128 KB at most.
        let wide = (GEN4.decode)(0x0000_0fff_0000_0fff).expect("valid");
        assert_eq!((wide.pitch, wide.y_walk), (128 << 10, true));
    }

    #[test]
    fn a_pitch_of_256_kb() {
        // Digest of Gen7, V-03.
        let f = (GEN7.decode)(0x0013_f7ff_0010_0003).expect("valid");
        assert_eq!((f.pitch, f.y_walk), (256 << 10, true));
        assert_eq!(GEN7.range(), 0x10_0000..0x10_0100);
    }

    #[test]
    fn walks() {
        // §4.5.2: with a pitch of four tiles, X (513, 9) lies at 0x5201 and Y (145, 33) at 0x5211.
        let x = Fence {
            start: 0,
            last: 0xf_ffff,
            pitch: 4 * 512,
            y_walk: false,
        };
        assert_eq!(x.detile(9 * 2048 + 513, false), 0x5201);
        let y = Fence {
            start: 0,
            last: 0xf_ffff,
            pitch: 4 * 128,
            y_walk: true,
        };
        assert_eq!(y.detile(33 * 512 + 145, false), 0x5211);
    }

    #[test]
    fn x_with_pitch_of_one_tile_is_linear() {
        // §4.5.2.
        let f = Fence {
            start: 0x4000,
            last: 0x7fff,
            pitch: 512,
            y_walk: false,
        };
        for a in (0x4000..0x8000).step_by(4) {
            assert_eq!(f.detile(a, false), a);
        }
    }

    #[test]
    fn y_rows_share_a_line() {
        // §4.5.3: an even row and the row below share a 64-byte line.
        let f = Fence {
            start: 0,
            last: 0xffff,
            pitch: 256,
            y_walk: true,
        };
        for y in (0..32).step_by(2) {
            let a = f.detile(y * 256, false);
            let b = f.detile((y + 1) * 256, false);
            assert_eq!(a / 64, b / 64);
        }
    }

    #[test]
    fn detiling_is_a_permutation() {
        for (pitch, y_walk) in [(512 * 3, false), (128 * 5, true)] {
            let size = pitch * if y_walk { 32 } else { 8 } * 2;
            let f = Fence {
                start: 0x1000,
                last: 0x1000 + size - 1,
                pitch,
                y_walk,
            };
            for swizzle in [false, true] {
                let mut seen = vec![false; size as usize];
                for l in 0..size {
                    let a = f.detile(0x1000 + l, swizzle) - 0x1000;
                    assert!(!std::mem::replace(&mut seen[a as usize], true));
                }
            }
        }
    }
}

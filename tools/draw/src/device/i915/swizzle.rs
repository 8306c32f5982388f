// SPDX-License-Identifier: GPL-2.0
//! Address bit 6 in tiled surfaces. A machine with two memory channels may have
//! the GPU exchange it with higher bits, which the CPU does not: so what it is
//! must be found out before tiled bytes are compared.

use serde::Serialize;

/// What the GPU does to bit 6 of an address in an X-tiled surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Swizzle {
    /// Nothing.
    None,
    /// Exclusive or with bit 9.
    Bit9,
    /// Exclusive or with bits 9 and 10.
    Bit9And10,
}

impl Swizzle {
    const ALL: [Swizzle; 3] = [Swizzle::None, Swizzle::Bit9, Swizzle::Bit9And10];

    /// Where the byte lies that an unswizzled machine would have at `offset`.
    pub fn apply(self, offset: usize) -> usize {
        let flip = match self {
            Swizzle::None => 0,
            Swizzle::Bit9 => offset >> 3,
            Swizzle::Bit9And10 => (offset >> 3) ^ (offset >> 4),
        };
        offset ^ (flip & 64)
    }

    /// Bytes of an unswizzled surface as this machine has them, or back: it is its own inverse.
    pub fn swap(self, bytes: &[u8]) -> Vec<u8> {
        (0..bytes.len()).map(|i| bytes[self.apply(i)]).collect()
    }

    /// From one tile in which the first pixel of each of the 8 rows was set: where did they land?
    pub fn detect(tile: &[u8]) -> Option<Swizzle> {
        Self::ALL
            .into_iter()
            .find(|s| (0..8).all(|row| tile.get(s.apply(row * 512)).is_some_and(|b| *b != 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_six_follows_bits_nine_and_ten() {
        let cases = [
            (0x000, 0x000, 0x000),
            (0x200, 0x240, 0x240),
            (0x400, 0x400, 0x440),
            (0x600, 0x640, 0x600),
        ];
        for (offset, bit9, both) in cases {
            assert_eq!(Swizzle::None.apply(offset), offset);
            assert_eq!(Swizzle::Bit9.apply(offset), bit9);
            assert_eq!(Swizzle::Bit9And10.apply(offset), both);
        }
    }

    #[test]
    fn a_tile_tells_its_swizzle() {
        for swizzle in Swizzle::ALL {
            let mut plain = vec![0u8; 4096];
            for row in 0..8 {
                plain[row * 512] = 1;
            }
            assert_eq!(Swizzle::detect(&swizzle.swap(&plain)), Some(swizzle));
        }
        assert_eq!(Swizzle::detect(&[0; 4096]), None);
    }
}

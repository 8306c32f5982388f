// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Two pixels of a target, side by side, that are read and written together: nearly always they are one access.

use super::surfaces::Target;
use crate::r5xx::mc::Mc;

/// Two pixels that are accessed together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    bytes: usize,
    first: u64,
    second: u64,
}

impl Pair {
    /// A sample of two pixels, the second to the right of the first, whose column is even.
    pub fn new(target: &Target, x: u64, y: u64, sample: u64) -> Self {
        let first = target.address(x, y, sample);
        Pair {
            bytes: target.bytes as usize,
            first,
            // No row of a tile is narrower than two pixels.
            second: match target.samples {
                1 => first + target.bytes,
                _ => target.address(x + 1, y, sample),
            },
        }
    }

    /// One after the other in memory.
    fn is_one(self) -> bool {
        self.second == self.first + self.bytes as u64
    }

    /// Reads both.
    pub fn read(self, mc: &mut Mc) -> [u128; 2] {
        let mut raw = [0; 32];
        let (first, second) = raw[..2 * self.bytes].split_at_mut(self.bytes);
        if self.is_one() {
            mc.peek(self.first, &mut raw[..2 * self.bytes]);
        } else {
            mc.peek(self.first, first);
            mc.peek(self.second, second);
        }
        [0, self.bytes].map(|at| number(&raw[at..at + self.bytes]))
    }

    /// Writes those that are to be.
    pub fn write(self, mc: &mut Mc, which: [bool; 2], pixels: [u128; 2]) {
        let mut raw = [0; 32];
        for (n, pixel) in pixels.into_iter().enumerate() {
            let at = n * self.bytes;
            raw[at..at + self.bytes].copy_from_slice(&pixel.to_le_bytes()[..self.bytes]);
        }
        let (first, second) = raw[..2 * self.bytes].split_at(self.bytes);
        match which {
            [true, true] if self.is_one() => mc.poke(self.first, &raw[..2 * self.bytes]),
            _ => {
                if which[0] {
                    mc.poke(self.first, first);
                }
                if which[1] {
                    mc.poke(self.second, second);
                }
            }
        }
    }
}

/// A number of up to sixteen bytes, the lowest first.
fn number(bytes: &[u8]) -> u128 {
    match bytes {
        [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]).into(),
        _ => {
            let mut all = [0; 16];
            all[..bytes.len()].copy_from_slice(bytes);
            u128::from_le_bytes(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::VecMemory;
    use crate::r5xx::access::Unit;
    use crate::r5xx::tile::{Layout, Micro};
    use crate::r5xx::vram::Vram;
    use std::sync::Arc;

    /// Two pixels of an even column are one after the other wherever they lie, also of the widest format in the
    /// narrowest block (§2.2): a pair is where each of the two is.
    #[test]
    fn pairs_are_two_pixels() {
        let layouts = [1, 2, 4, 8, 16].into_iter().flat_map(|bytes| {
            let micro = [Some(Micro::Linear), Micro::tiled(bytes as u32)];
            let square = (bytes == 2).then_some(Micro::Square);
            let all = micro.into_iter().chain([square]).flatten();
            all.flat_map(move |m| [(bytes, false, m), (bytes, true, m)])
        });
        for (bytes, macro_tiled, micro) in layouts {
            for samples in [1, 2, 4] {
                let layout = Layout {
                    macro_tiled,
                    micro,
                    pitch: 256 * bytes,
                };
                let mut t = Target::plain(Unit::Color, 6, layout);
                (t.bytes, t.samples) = (bytes, samples);
                for (x, y) in (0..64).flat_map(|n| [(2 * n, n), (2 * n, 63 - n)]) {
                    for sample in 0..samples {
                        let pair = Pair::new(&t, x, y, sample);
                        let each = [x, x + 1].map(|x| t.address(x, y, sample));
                        assert_eq!([pair.first, pair.second], each, "{t:?} {x} {y}");
                    }
                }
            }
        }
    }

    /// Of a pair, those pixels are written that are to be, whether the two lie together or not.
    #[test]
    fn pairs_are_written_in_part() {
        let vram = Arc::new(Vram::private(4096).expect("memory"));
        let mut mc = Mc::new(vram, Arc::new(VecMemory::new(0)), 0);
        for second in [0x104, 0x180] {
            let pair = Pair {
                bytes: 4,
                first: 0x100,
                second,
            };
            let mut stored = |which, pixels| {
                pair.write(&mut mc, which, pixels);
                pair.read(&mut mc)
            };
            assert_eq!(stored([true, true], [1, 2]), [1, 2]);
            assert_eq!(stored([false, true], [3, 4]), [1, 4]);
            assert_eq!(stored([true, false], [5, 6]), [5, 4]);
            assert_eq!(stored([false, false], [7, 8]), [5, 4]);
            // At its own place each.
            let mut bytes = [0; 4];
            mc.peek(second, &mut bytes);
            assert_eq!(bytes, [4, 0, 0, 0]);
        }
    }
}

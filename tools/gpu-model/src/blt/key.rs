// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Colour keys: pixels are written or left according to a range of colours (G45 PRM V1b §8.2.1.4, §8.10.1).

use super::Depth;
use crate::slip::{self, Slip};

/// Transparency range mode and colour range of a chroma command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Whose pixel is compared.
    pub operand: Operand,
    /// Whether the alpha component is compared as well.
    pub alpha: bool,
    /// Least value of each component, inclusive (BR18).
    pub low: u32,
    /// Greatest value of each component, inclusive (BR19).
    pub high: u32,
}

/// The operand of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// Pixels whose source is outside the range are written.
    Source,
    /// Pixels whose destination is inside the range are written.
    Destination,
}

impl Key {
    /// Key of header bits 19:17: 001 source, 011 source and alpha, 101 destination and alpha, 111 destination; an even
    /// mode compares nothing. BR00 shows the field in bits 10:8; the commands have it in 19:17.
    pub fn new(mode: u8, low: u32, high: u32) -> Option<Key> {
        let (operand, alpha) = match mode & 7 {
            0b001 => (Operand::Source, false),
            0b011 => (Operand::Source, true),
            0b101 => (Operand::Destination, true),
            0b111 => (Operand::Destination, false),
            _ => return None,
        };
        Some(Key {
            operand,
            alpha,
            low,
            high,
        })
    }

    /// Returns whether a pixel of the compared operand lets the destination be written.
    pub fn writes(&self, depth: Depth, pixel: u32) -> bool {
        let inside = components(depth).iter().all(|c| {
            let part = |value: u32| (value >> c.shift) & c.mask;
            (c.alpha && !self.alpha)
                || (part(self.low)..=part(self.high)).contains(&part(pixel))
                    && !(slip::is(Slip::KeyHighExclusive) && part(pixel) == part(self.high))
        });
        (inside == (self.operand == Operand::Destination)) != slip::is(Slip::KeyInverted)
    }
}

/// A component's place in a pixel.
struct Component {
    shift: u32,
    mask: u32,
    alpha: bool,
}

/// The components of a pixel. An 8-bit pixel is an index: one component.
fn components(depth: Depth) -> &'static [Component] {
    const fn colour(shift: u32, mask: u32) -> Component {
        Component {
            shift,
            mask,
            alpha: false,
        }
    }
    const fn alpha(shift: u32, mask: u32) -> Component {
        Component {
            shift,
            mask,
            alpha: true,
        }
    }
    match depth {
        Depth::Bpp8 => const { &[colour(0, 0xff)] },
        Depth::Rgb565 => const { &[colour(11, 0x1f), colour(5, 0x3f), colour(0, 0x1f)] },
        Depth::Argb1555 => {
            const {
                &[
                    alpha(15, 1),
                    colour(10, 0x1f),
                    colour(5, 0x1f),
                    colour(0, 0x1f),
                ]
            }
        }
        Depth::Argb8888 => {
            const {
                &[
                    alpha(24, 0xff),
                    colour(16, 0xff),
                    colour(8, 0xff),
                    colour(0, 0xff),
                ]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §8.10.1: components are compared one by one, bounds included; source keys write outside the range, destination
    /// keys inside.
    #[test]
    fn ranges_are_per_component() {
        let (low, high) = (0x0010_2030, 0x0020_3040);
        for (mode, pixel, written) in [
            (0b001, 0x0010_2030, false),
            (0b001, 0x0020_3040, false),
            (0b001, 0x0015_2535, false),
            // Below the range as a number's last component, inside as a whole number: outside.
            (0b001, 0x0015_252f, true),
            (0b001, 0x0015_3135, true),
            (0b001, 0xff15_2535, false), // alpha is not compared
            (0b011, 0xff15_2535, true),  // alpha is compared: outside 0..=0
            (0b011, 0x0015_2535, false),
            (0b111, 0x0015_2535, true),
            (0b111, 0xff15_2535, true),
            (0b111, 0x0015_2541, false),
            (0b101, 0xff15_2535, false),
            (0b101, 0x0015_2535, true),
        ] {
            let key = Key::new(mode, low, high).unwrap();
            assert_eq!(
                key.writes(Depth::Argb8888, pixel),
                written,
                "mode {mode:03b} pixel {pixel:#010x}"
            );
        }
        for mode in [0b000, 0b010, 0b100, 0b110] {
            assert_eq!(Key::new(mode, low, high), None);
        }
    }

    #[test]
    fn components_of_the_shallow_depths() {
        for (depth, low, high, pixel, inside) in [
            (Depth::Bpp8, 0x10, 0x20, 0x20, true),
            (Depth::Bpp8, 0x10, 0x20, 0x21, false),
            // 565: red 2..=3, green 0x10..=0x11, blue 1..=1.
            (Depth::Rgb565, 0x1201, 0x1a21, 0x1a01, true),
            (Depth::Rgb565, 0x1201, 0x1a21, 0x1a02, false),
            (Depth::Rgb565, 0x1201, 0x1a21, 0x9a01, false),
            // 1555: bit 15 is alpha and not a part of red.
            (Depth::Argb1555, 0x0000, 0x0400, 0x8400, true),
            (Depth::Argb1555, 0x0000, 0x0400, 0x0800, false),
        ] {
            let key = Key::new(0b111, low, high).unwrap();
            assert_eq!(key.writes(depth, pixel), inside, "{depth:?} {pixel:#06x}");
        }
        assert!(!Key::new(0b101, 0, 0x0400)
            .unwrap()
            .writes(Depth::Argb1555, 0x8400));
    }
}

// SPDX-License-Identifier: GPL-2.0
//! Raster operations: any function of destination, source and pattern, bit by
//! bit (G45 PRM Vol 1b §8.2.1.3). Bit `4P + 2S + D` of the code is the result
//! for these three input bits.

use serde::{Deserialize, Serialize};

/// One of the 256 raster operations, by its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, PartialOrd, Ord, Deserialize)]
pub struct Rop(pub u8);

impl Rop {
    /// Destination := source.
    pub const SOURCE: Rop = Rop(0xcc);
    /// Destination := pattern.
    pub const PATTERN: Rop = Rop(0xf0);
    /// Destination := source xor destination.
    pub const SOURCE_XOR: Rop = Rop(0x66);
    /// Destination := pattern xor destination.
    pub const PATTERN_XOR: Rop = Rop(0x5a);
    /// Destination := pattern where the source is 0, else destination.
    pub const PATTERN_BY_SOURCE: Rop = Rop(0xb8);

    /// The result, for all bits of the three operands at once.
    pub fn apply(self, pattern: u32, source: u32, destination: u32) -> u32 {
        let mut result = 0;
        for minterm in 0..8 {
            if self.0 & (1 << minterm) != 0 {
                let p = if minterm & 4 != 0 { pattern } else { !pattern };
                let s = if minterm & 2 != 0 { source } else { !source };
                let d = if minterm & 1 != 0 {
                    destination
                } else {
                    !destination
                };
                result |= p & s & d;
            }
        }
        result
    }

    /// Whether the result depends on the source.
    pub fn reads_source(self) -> bool {
        (self.0 >> 2) & 0x33 != self.0 & 0x33
    }

    /// Whether the result depends on the pattern.
    pub fn reads_pattern(self) -> bool {
        self.0 >> 4 != self.0 & 0x0f
    }

    /// Whether the result depends on the destination.
    pub fn reads_destination(self) -> bool {
        (self.0 >> 1) & 0x55 != self.0 & 0x55
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A formula of the document as a function of pattern, source, destination.
    type Formula = fn(u32, u32, u32) -> u32;

    /// Formulas of tables 8-1 to 8-4 (G45 PRM Vol 1b §8.2.1.3).
    #[test]
    fn codes_do_what_the_tables_say() {
        let cases: [(u8, Formula); 16] = [
            (0x00, |_, _, _| 0),
            (0x11, |_, s, d| !(d | s)),
            (0x33, |_, s, _| !s),
            (0x44, |_, s, d| s & !d),
            (0x55, |_, _, d| !d),
            (0x5a, |p, _, d| p ^ d),
            (0x66, |_, s, d| s ^ d),
            (0x88, |_, s, d| s & d),
            (0xaa, |_, _, d| d),
            (0xb8, |p, s, d| p ^ (s & (d ^ p))),
            (0xbb, |_, s, d| !s | d),
            (0xc0, |p, s, _| p & s),
            (0xcc, |_, s, _| s),
            (0xee, |_, s, d| s | d),
            (0xf0, |p, _, _| p),
            (0xff, |_, _, _| !0),
        ];
        let (p, s, d) = (0x0f0f_1234, 0x3333_5678, 0x5555_9abc);
        for (code, formula) in cases {
            assert_eq!(Rop(code).apply(p, s, d), formula(p, s, d), "{code:02x}");
        }
    }

    #[test]
    fn operands_are_read_only_when_they_matter() {
        for (rop, source, pattern, destination) in [
            (0x00, false, false, false),
            (0xcc, true, false, false),
            (0xf0, false, true, false),
            (0xaa, false, false, true),
            (0xb8, true, true, true),
            (0x88, true, false, true),
            (0x5a, false, true, true),
            (0xff, false, false, false),
        ] {
            let r = Rop(rop);
            assert_eq!(
                (r.reads_source(), r.reads_pattern(), r.reads_destination()),
                (source, pattern, destination),
                "{rop:02x}"
            );
        }
    }
}

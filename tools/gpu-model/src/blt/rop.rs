// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Raster operations: what is written, from pattern, source and destination (G45 PRM V1b §8.2.1.3, tables 8-1 to 8-4).
//!
//! The code is the truth table itself: a result bit is bit `4 * P + 2 * S + D` of the code. Every legible formula of
//! the four tables agrees with that.

use crate::slip::{self, Slip};

/// One of the 256 raster operations, by its code (BR13 bits 23:16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rop(pub u8);

impl Rop {
    /// Writes the source.
    pub const SOURCE: Rop = Rop(0xcc);
    /// Writes the pattern.
    pub const PATTERN: Rop = Rop(0xf0);

    /// The operation that is done: another one while a slip is asked for.
    pub(crate) fn slipped(self) -> Rop {
        let exchanged = |a: u8, b: u8| {
            let place = |i: u8| {
                i & !(a | b) | if i & a != 0 { b } else { 0 } | if i & b != 0 { a } else { 0 }
            };
            Rop((0..8).fold(0, |code, i| code | (self.0 >> place(i) & 1) << i))
        };
        if slip::is(Slip::RopInverted) {
            Rop(!self.0)
        } else if slip::is(Slip::RopSourceForDestination) {
            exchanged(1, 2)
        } else if slip::is(Slip::RopPatternForSource) {
            exchanged(2, 4)
        } else {
            self
        }
    }

    /// Returns whether the result depends on the pattern. Other operands are not read (§8.2.1.3).
    pub const fn uses_pattern(self) -> bool {
        self.0 >> 4 != self.0 & 0x0f
    }

    /// Returns whether the result depends on the source.
    pub const fn uses_source(self) -> bool {
        (self.0 >> 2) & 0x33 != self.0 & 0x33
    }

    /// Returns whether the result depends on the destination's old value.
    pub const fn uses_destination(self) -> bool {
        (self.0 >> 1) & 0x55 != self.0 & 0x55
    }

    /// The result for 64 bits of each operand.
    #[inline(always)]
    pub fn word(self, pattern: u64, source: u64, destination: u64) -> u64 {
        // The table as a tree of choices; the leaves are constant over a whole row.
        let leaf = std::array::from_fn(|i| 0u64.wrapping_sub(u64::from(self.0 >> i) & 1));
        select_tree(leaf, pattern, source, destination)
    }

    /// Replaces `destination` by the result, byte for byte. The three slices have one length.
    pub fn apply(self, pattern: &[u8], source: &[u8], destination: &mut [u8]) {
        let load = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or([0; 8]));
        let mut words = destination.chunks_exact_mut(8);
        let operands = pattern.chunks_exact(8).zip(source.chunks_exact(8));
        for (d, (p, s)) in words.by_ref().zip(operands) {
            d.copy_from_slice(&self.word(load(p), load(s), load(d)).to_ne_bytes());
        }
        let rest = words.into_remainder();
        let start = pattern.len() - rest.len();
        for (i, d) in rest.iter_mut().enumerate() {
            *d = self.word(
                pattern[start + i].into(),
                source[start + i].into(),
                (*d).into(),
            ) as u8;
        }
    }
}

/// Chooses one of eight leaves per bit, by pattern, source and destination.
#[inline(always)]
const fn select_tree(leaf: [u64; 8], p: u64, s: u64, d: u64) -> u64 {
    let p0 = select(s, select(d, leaf[3], leaf[2]), select(d, leaf[1], leaf[0]));
    let p1 = select(s, select(d, leaf[7], leaf[6]), select(d, leaf[5], leaf[4]));
    select(p, p1, p0)
}

/// `one` where `condition` has a 1, else `zero`.
#[inline(always)]
const fn select(condition: u64, one: u64, zero: u64) -> u64 {
    zero ^ (condition & (one ^ zero))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formulas as tables 8-1 to 8-4 print them, with the code beside them.
    #[test]
    fn codes_mean_what_the_tables_print() {
        let (p, s, d) = (0xf0u8, 0xcc, 0xaa);
        for (code, expected) in [
            (0x00, 0),
            (0x01, !(d | (p | s))),
            (0x0f, !p),
            (0x11, !(d | s)),
            (0x1e, p ^ (d | s)),
            (0x33, !s),
            (0x3c, p ^ s),
            (0x42, (s ^ d) & (p ^ d)),
            (0x55, !d),
            (0x5a, d ^ p),
            (0x66, d ^ s),
            (0x77, !(d & s)),
            (0x88, d & s),
            (0x99, !(d ^ s)),
            (0xa5, !(p ^ d)),
            (0xaa, d),
            (0xb8, p ^ (s & (d ^ p))),
            (0xbb, d | !s),
            (0xc0, p & s),
            (0xca, d ^ (p & (s ^ d))),
            (0xcc, s),
            (0xe2, d ^ (s & (p ^ d))),
            (0xee, d | s),
            (0xf0, p),
            (0xfb, d | (p | !s)),
            (0xfe, d | (p | s)),
            (0xff, 0xff),
        ] {
            // Over these three operands each of the eight combinations occurs once, in the order of the table.
            assert_eq!(expected, code, "the document's formula for {code:#04x}");
            let mut out = [d];
            Rop(code).apply(&[p], &[s], &mut out);
            assert_eq!(out[0], expected, "{code:#04x}");
        }
    }

    #[test]
    fn operands_are_used_as_the_tables_say() {
        for (code, pattern, source, destination) in [
            (0x00, false, false, false),
            (0xff, false, false, false),
            (0xf0, true, false, false),
            (0x0f, true, false, false),
            (0xcc, false, true, false),
            (0x33, false, true, false),
            (0xaa, false, false, true),
            (0x55, false, false, true),
            (0x5a, true, false, true),
            (0x66, false, true, true),
            (0x3c, true, true, false),
            (0xb8, true, true, true),
        ] {
            let rop = Rop(code);
            assert_eq!(rop.uses_pattern(), pattern, "{code:#04x} pattern");
            assert_eq!(rop.uses_source(), source, "{code:#04x} source");
            assert_eq!(
                rop.uses_destination(),
                destination,
                "{code:#04x} destination"
            );
        }
    }

    #[test]
    fn tails_are_computed_like_words() {
        for length in 0..=19 {
            let pattern = vec![0x0f; length];
            let source = vec![0x33; length];
            let mut out = vec![0x55; length];
            Rop(0x96).apply(&pattern, &source, &mut out);
            // 96 is D xor (P xor S).
            assert_eq!(out, vec![0x69; length]);
        }
    }
}

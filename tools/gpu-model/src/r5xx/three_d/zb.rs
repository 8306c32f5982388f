// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Depth and stencil (digest of 3D, §12).

use super::pair::Pair;
use super::surfaces::Target;
use crate::r5xx::mc::Mc;

/// The largest depth: 24 bits.
const MOST: u32 = 0xff_ffff;

/// Registers of ZB, as a draw finds them.
#[derive(Clone, Debug, Default)]
pub(super) struct Depth {
    pub target: Option<Target>,
    /// ZB_CNTL, ZB_ZSTENCILCNTL.
    pub control: u32,
    pub functions: u32,
    /// ZB_STENCILREFMASK, _BF.
    pub reference: [u32; 2],
    /// ZB_ZTOP: before shading.
    pub early: bool,
    /// ZB_BW_CNTL 5: this pattern is stored, whatever else is said.
    pub clear: Option<u32>,
}

fn compare(function: u32, a: u32, b: u32) -> bool {
    match function & 7 {
        0 => false,
        1 => a < b,
        2 => a <= b,
        3 => a == b,
        4 => a >= b,
        5 => a > b,
        6 => a != b,
        _ => true,
    }
}

fn operated(operation: u32, old: u32, reference: u32) -> u32 {
    match operation & 7 {
        0 => old,
        1 => 0,
        2 => reference,
        3 => (old + 1).min(0xff),
        4 => old.saturating_sub(1),
        5 => !old & 0xff,
        6 => (old + 1) & 0xff,
        _ => old.wrapping_sub(1) & 0xff,
    }
}

/// A depth of 24 bits from what a plane has.
pub(super) fn quantized(depth: f64) -> u32 {
    // The conversion rounds towards 0: other than downwards only below 0, where the result is 0 either way, as it is for
    // what is not a number.
    ((depth + 0.5) as i64).clamp(0, MOST.into()) as u32
}

impl Depth {
    fn stencil(&self) -> bool {
        self.control & 1 != 0
    }

    fn tests_depth(&self) -> bool {
        self.control & 2 != 0
    }

    /// True if nothing is read or written.
    pub fn is_off(&self) -> bool {
        self.clear.is_none() && !self.stencil() && !self.tests_depth()
    }

    /// Returns the new stored value, and whether the fragment passes.
    fn outcome(&self, stored: u32, wide: bool, fragment: u32, back: bool) -> (u32, bool) {
        let (old_depth, old_stencil) = if wide {
            (stored >> 8, stored & 0xff)
        } else {
            (stored, 0)
        };
        let fragment = if wide { fragment } else { fragment >> 8 };
        let second = back && self.control >> 4 & 1 != 0;
        let shift = if second { 15 } else { 3 };
        let own_masks = second && self.control >> 6 & 1 != 0;
        let reference = self.reference[usize::from(own_masks)];
        let (value, mask) = (reference & 0xff, reference >> 8 & 0xff);
        let write_mask = reference >> 16 & 0xff;
        let operation = |n: u32| self.functions >> (shift + 3 * n);
        let stencil = self.stencil() && wide;
        let stencil_ok = !stencil || compare(operation(0), value & mask, old_stencil & mask);
        let depth_ok = !self.tests_depth() || compare(self.functions, fragment, old_depth);
        let passes = stencil_ok && depth_ok;
        let mut new_stencil = old_stencil;
        if stencil {
            // SFAIL, ZPASS, ZFAIL follow the function.
            let n = match (stencil_ok, depth_ok) {
                (false, _) => 1,
                (true, true) => 2,
                (true, false) => 3,
            };
            let new = operated(operation(n), old_stencil, value);
            new_stencil = old_stencil & !write_mask | new & write_mask;
        }
        // Depth is written only while it is tested (digest of 3D, D-22).
        let writes = passes && self.tests_depth() && self.control & 4 != 0;
        let depth = if writes { fragment } else { old_depth };
        let new = if wide {
            depth << 8 | new_stencil
        } else {
            depth
        };
        (new, passes)
    }

    /// Tests a sample of two pixels that are side by side, of those that are drawn, and stores what comes of it.
    /// Returns which of them pass.
    pub fn test(
        &self,
        mc: &mut Mc,
        (x, y, sample): (i64, i64, usize),
        drawn: [bool; 2],
        fragments: [u32; 2],
        back: bool,
    ) -> [bool; 2] {
        let Some(target) = &self.target else {
            return drawn;
        };
        let wide = target.bytes == 4;
        let pair = Pair::new(target, x as u64, y as u64, sample as u64);
        if let Some(pattern) = self.clear {
            pair.write(mc, drawn, [pattern.into(); 2]);
            return drawn;
        }
        let stored = pair.read(mc);
        let (mut passes, mut changes, mut new) = (drawn, [false; 2], stored);
        for n in 0..2 {
            if drawn[n] {
                let (after, pass) = self.outcome(stored[n] as u32, wide, fragments[n], back);
                (new[n], passes[n]) = (after.into(), pass);
                changes[n] = new[n] != stored[n];
            }
        }
        if changes != [false; 2] {
            pair.write(mc, changes, new);
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digest of 3D, §15.3: a quarter is 400000 or 4000, as a card of the same kind stores it.
    #[test]
    fn depths_of_the_digest() {
        let of = |z: f64| quantized(z * f64::from(MOST));
        assert_eq!(
            [0.0, 0.25, 0.5, 0.75, 1.0].map(of),
            [0, 0x40_0000, 0x80_0000, 0xbf_ffff, 0xff_ffff]
        );
        assert_eq!(of(0.25) >> 8, 0x4000);
        assert_eq!([of(-1.0), of(2.0), of(f64::NAN)], [0, MOST, 0]);
    }

    /// §15.4: reference 5, mask ff, old 4, >=, inc-wrap, write mask f: 5.
    #[test]
    fn a_stencil_of_the_digest() {
        let d = Depth {
            control: 1,
            functions: 4 << 3 | 6 << 9,
            reference: [5 | 0xff << 8 | 0xf << 16, 0],
            ..Depth::default()
        };
        assert_eq!(d.outcome(0x12_3404, true, 0, false), (0x12_3405, true));
        // 5 >= 6 fails: SFAIL keeps.
        assert_eq!(d.outcome(6, true, 0, false), (6, false));
    }

    /// §12.1, §12.2: functions, operations, and which of them when.
    #[test]
    fn functions_and_operations() {
        let less = [0, 1, 2, 3, 4, 5, 6, 7].map(|f| compare(f, 1, 2));
        assert_eq!(less, [false, true, true, false, false, false, true, true]);
        let equal = [0, 1, 2, 3, 4, 5, 6, 7].map(|f| compare(f, 2, 2));
        assert_eq!(equal, [false, false, true, true, true, false, false, true]);
        let ops = |old| [0, 1, 2, 3, 4, 5, 6, 7].map(|o| operated(o, old, 9));
        assert_eq!(ops(0), [0, 0, 9, 1, 0, 0xff, 1, 0xff]);
        assert_eq!(ops(0xff), [0xff, 0, 9, 0xff, 0xfe, 0, 0, 0xfe]);
        // Z fails: ZFAIL (14:12) increments; depth stays.
        let d = Depth {
            control: 7,
            functions: 1 | 7 << 3 | 1 << 9 | 3 << 12,
            reference: [0xff << 8 | 0xff << 16, 0],
            ..Depth::default()
        };
        assert_eq!(d.outcome(5 << 8 | 7, true, 6, false), (5 << 8 | 8, false));
        assert_eq!(d.outcome(5 << 8 | 7, true, 4, false), (4 << 8, true));
        // 16 bits: the upper ones of the fragment.
        let d = Depth {
            control: 6,
            functions: 1,
            ..Depth::default()
        };
        assert_eq!(d.outcome(0x4000, false, 0x3f_ff00, false), (0x3fff, true));
        // Depth is not written without its test.
        let d = Depth { control: 4, ..d };
        assert_eq!(d.outcome(0x4000, false, 0, false), (0x4000, true));
    }

    /// Bit 4: those behind have functions of their own; bit 6: references, too.
    #[test]
    fn two_sides() {
        let d = |control| Depth {
            control,
            functions: 7 << 3 | 2 << 9 | 7 << 15 | 6 << 21,
            reference: [0x11 | 0xff << 16, 0x22 | 0xff << 16],
            ..Depth::default()
        };
        assert_eq!(d(1).outcome(3, true, 0, true), (0x11, true));
        assert_eq!(d(1 | 1 << 4).outcome(3, true, 0, true), (4, true));
        assert_eq!(d(1 | 1 << 4).outcome(3, true, 0, false), (0x11, true));
        let own = Depth {
            functions: 7 << 15 | 2 << 21,
            ..d(1 | 1 << 4 | 1 << 6)
        };
        assert_eq!(own.outcome(3, true, 0, true), (0x22, true));
    }
}

// SPDX-License-Identifier: GPL-2.0

//! The veil: no access to tiled BOs through the aperture during a reset.
//!
//! Some chips lose their fence registers in a reset (G45 PRM Vol 1b §5.9). Until the driver writes
//! them again, the bytes of a tiled BO are at other addresses of the aperture. So the driver draws
//! a veil before the reset and lifts it afterwards: drawing it unmaps BOs with a fence from user
//! space, and page faults on them wait until it is lifted.

/// The next step of a reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Draw a veil, with no lock held; then check again whether a reset is needed.
    Veil,
    /// Reset.
    Reset,
}

/// Returns the next step. `empties_fences`: a reset of the chip clears the fence registers.
/// `veiled`: the veil is drawn.
pub const fn before_reset(empties_fences: bool, veiled: bool) -> Next {
    if empties_fences && !veiled {
        Next::Veil
    } else {
        Next::Reset
    }
}

/// Returns whether a page fault on a BO waits while there are `veils` veils.
pub const fn fault_waits(needs_fence: bool, veils: u32) -> bool {
    needs_fence && veils != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// A chip, a window on it, and a program's mapping of a tiled object in it.
    struct Machine {
        empties: bool,
        fences: bool,
        veils: u32,
        mapped: bool,
    }

    /// The result of a program's write.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Write {
        Right,
        Wrong,
        Waits,
    }

    impl Machine {
        fn write(&mut self) -> Write {
            if !self.mapped {
                if fault_waits(true, self.veils) {
                    return Write::Waits;
                }
                self.mapped = true;
            }
            match self.fences {
                true => Write::Right,
                false => Write::Wrong,
            }
        }

        /// A reset from its beginning to its end; the program writes after each step.
        fn reset(&mut self) -> Vec<Write> {
            let mut writes = Vec::new();
            let mut veiled = false;
            if before_reset(self.empties, veiled) == Next::Veil {
                (self.veils, self.mapped, veiled) = (self.veils + 1, false, true);
                writes.push(self.write());
            }
            assert_eq!(before_reset(self.empties, veiled), Next::Reset);
            self.fences = !self.empties;
            writes.push(self.write());
            self.fences = true;
            writes.push(self.write());
            self.veils -= u32::from(veiled);
            writes.push(self.write());
            writes
        }
    }

    #[test]
    fn nobody_writes_to_tiles_without_their_fences() {
        // §5.9: Gen4 forgets them. Sandy Bridge keeps them (V1P2 §4.5.4.1.1).
        use Write::{Right, Waits};
        for (empties, expected) in [
            (true, &[Waits, Waits, Waits, Right][..]),
            (false, &[Right, Right, Right]),
        ] {
            let mut machine = Machine {
                empties,
                fences: true,
                veils: 0,
                mapped: true,
            };
            for _ in 0..3 {
                assert_eq!(machine.reset(), expected);
            }
        }
    }

    #[test]
    fn two_resets_have_two_veils() {
        // One that was lifted leaves the other.
        assert!(fault_waits(true, 2) && fault_waits(true, 1) && !fault_waits(true, 0));
        // What needs no fence is where it was.
        assert!(!fault_waits(false, 1));
    }
}

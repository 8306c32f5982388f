// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The two display pipes: register offsets, as in the upstream driver (G-32). The overlay of 965 is
//! left out: firmware does not use it.

use crate::intel::processor::display::{Pipes, TWO_PIPES, VGA_SECOND};

/// Control of the VGA plane.
const VGA: u32 = 0x7_1400;

/// The pipes of 965, whose primary planes can be on either pipe.
pub(super) static PIPES_965: Pipes = Pipes {
    pipes: TWO_PIPES,
    choice: 3 << 24,
    vga: VGA,
    vga_second: VGA_SECOND,
};
/// The pipes of G4X.
pub(super) static PIPES_G4X: Pipes = Pipes {
    pipes: TWO_PIPES,
    choice: 0,
    vga: VGA,
    vga_second: VGA_SECOND,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{intel::processor::display::scanouts, mock::Mock};
    use std::vec::Vec;

    /// Returns the entries of plane A with 1024 by 768 pixels of four bytes at 8 MiB, if its
    /// control register is `control` and only the pipe `runs` is enabled.
    fn found(pipes: &Pipes, control: u32, runs: u32) -> Vec<(u32, u32)> {
        let mock = Mock::default();
        mock.set(0x7_1400, 0x8000_0000);
        mock.set(runs, 0x8000_0000);
        mock.set(0x6_001c, 0x03ff_02ff);
        mock.set(0x6_101c, 0x03ff_02ff);
        mock.set(0x7_0180, control);
        mock.set(0x7_0188, 4096);
        mock.set(0x7_019c, 0x0080_0000);
        let mut all = Vec::new();
        scanouts(&mock.hw(), pipes, 0x2_0000, &mut |s| {
            all.push((s.first, s.entries));
        });
        all
    }

    #[test]
    fn a_plane_is_on_its_pipe() {
        let shown = [(0x800, 768)];
        for (pipes, control, runs, expected) in [
            (&PIPES_G4X, 0x8000_0000, 0x7_0008, &shown[..]),
            (&PIPES_G4X, 0x8100_0000, 0x7_0008, &shown),
            (&PIPES_G4X, 0x8000_0000, 0x7_1008, &[]),
            (&PIPES_G4X, 0x0000_0000, 0x7_0008, &[]),
            // Bits 25:24 of the control: the pipe.
            (&PIPES_965, 0x8000_0000, 0x7_0008, &shown),
            (&PIPES_965, 0x8100_0000, 0x7_0008, &[]),
            (&PIPES_965, 0x8100_0000, 0x7_1008, &shown),
            (&PIPES_965, 0x8300_0000, 0x7_1008, &[]),
        ] {
            assert_eq!(found(pipes, control, runs), expected, "{control:#x}");
        }
    }

    #[test]
    fn vga_is_at_71400() {
        // Bit 31: off; bit 29: on the second pipe, which is disabled here (G-32).
        for (vga, expected) in [(0, &[(0, 64)][..]), (1 << 31, &[]), (1 << 29, &[])] {
            let mock = Mock::default();
            mock.set(0x7_0008, 0x8000_0000);
            mock.set(0x7_1400, vga);
            let mut all = Vec::new();
            scanouts(&mock.hw(), &PIPES_965, 0x2_0000, &mut |s| {
                all.push((s.first, s.entries));
            });
            assert_eq!(all, expected, "{vga:#x}");
        }
    }
}

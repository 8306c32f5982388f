// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The blitter's state: what setup commands leave behind for later commands, and what a logical context saves
//! (G45 PRM V1b §8.4).

/// Dwords of a saved state.
pub const STATE_DWORDS: usize = 10;

/// The setup registers. All other registers of the engine live only as long as a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BltState {
    /// BR00 bit 29: the last setup was for a monochrome pattern (§8.10.1).
    pub mono_pattern: bool,
    /// BR01: raster operation, depth, pitch, switches; bits 27:26 hold the byte mask of the setup's header (§8.10.2).
    pub br01: u32,
    /// BR05: background colour (§8.10.3).
    pub br05: u32,
    /// BR06: foreground colour (§8.10.4).
    pub br06: u32,
    /// BR07: address of the colour pattern (§8.10.5).
    pub br07: u32,
    /// BR09: destination base (§8.10.6).
    pub br09: u32,
    /// BR20: monochrome pattern, rows 0 to 3.
    pub br20: u32,
    /// BR21: monochrome pattern, rows 4 to 7.
    pub br21: u32,
    /// BR24: clip rectangle, first pixel: 30:16 Y, 14:0 X.
    pub br24: u32,
    /// BR25: clip rectangle, pixel after the last: 30:16 Y, 14:0 X.
    pub br25: u32,
}

impl BltState {
    /// BR00's bit that tells the kind of the last setup.
    const BR00_MONO_PATTERN: u32 = 1 << 29;

    /// The state as dwords, for a context image. The document lists what is saved (§8.4), not where; the order here
    /// is by register.
    pub const fn save(&self) -> [u32; STATE_DWORDS] {
        [
            if self.mono_pattern {
                Self::BR00_MONO_PATTERN
            } else {
                0
            },
            self.br01,
            self.br05,
            self.br06,
            self.br07,
            self.br09,
            self.br20,
            self.br21,
            self.br24,
            self.br25,
        ]
    }

    /// The state that [`save`](Self::save) gave.
    pub const fn restore(image: &[u32; STATE_DWORDS]) -> BltState {
        let [br00, br01, br05, br06, br07, br09, br20, br21, br24, br25] = *image;
        BltState {
            mono_pattern: br00 & Self::BR00_MONO_PATTERN != 0,
            br01,
            br05,
            br06,
            br07,
            br09,
            br20,
            br21,
            br24,
            br25,
        }
    }
}

// SPDX-License-Identifier: GPL-2.0
//! What a draw writes: colour, depth, and what samples are resolved to (digest §3.5, §5.7).
//!
//! The only bound on where pixels go is the scissor. Whether the chip stops at a target's pitch is not told, so
//! the scissor must not go beyond it ([`State::draws`] sees to that); and all rows of tiles that it reaches must be there.

use super::{
    require,
    state::State,
    surface::{self, Tiles},
    Checked, Place, Refused,
};

/// A colour target, or what samples are resolved to.
#[derive(Clone, Copy, Default)]
pub(super) struct Target {
    /// Where it is.
    pub(super) place: Option<Place>,
    /// Its register of pitch, tiles and format.
    pub(super) pitch: u32,
}

/// Bytes of a pixel by the format in `COLORPITCH` 24:21. Formats of YUV count 32 bits for two pixels in §3;
/// they get as much for one.
fn colour_bytes(pitch: u32) -> Checked<u32> {
    match pitch >> 21 & 0xf {
        9 => Ok(1),
        3 | 4 | 13 | 15 => Ok(2),
        5 | 6 | 11 | 12 => Ok(4),
        10 => Ok(8),
        7 => Ok(16),
        _ => Err(Refused),
    }
}

/// Tiles by the fields that colour and depth have at the same place: 16 and 18:17.
pub(super) fn tiles(pitch: u32) -> Checked<Tiles> {
    Tiles::from_fields(pitch >> 16 & 1, pitch >> 17 & 3)
}

/// Puts an object's tiles into those fields.
pub(super) fn with_tiles(pitch: u32, tiles: Tiles) -> u32 {
    let (macro_tiles, micro) = tiles.fields();
    pitch & !(7 << 16) | macro_tiles << 16 | micro << 17
}

/// `RB3D_BLENDCNTL`: the target is read.
const BLEND_READS: u32 = 1 << 2;
/// `ZB_BW_CNTL`: clears colour along with depth.
pub(super) const CLEARS_COLOUR: u32 = 1 << 5;
/// `RB3D_COLOR_CHANNEL_MASK`: channels of four targets.
const CHANNELS: u32 = 0xffff;
/// `ZB_CNTL`: stencil, depth, writes of depth.
const DEPTH_USES: u32 = 7;
/// `GB_AA_CONFIG`: there are samples, and how many.
const SAMPLES_ON: u32 = 1;

impl State {
    /// Samples of each pixel, which are all in memory.
    fn samples(&self) -> u64 {
        match (self.samples & SAMPLES_ON != 0, self.samples >> 1 & 3) {
            (false, _) => 1,
            (true, 0) => 2,
            (true, 1) => 3,
            (true, 2) => 4,
            (true, _) => 6,
        }
    }

    /// Columns and rows that the scissor lets through, counted from the corner.
    fn extent(&self) -> (u32, u32) {
        let corner = self.scissor;
        (
            (corner & 0x1fff).wrapping_add(1),
            (corner >> 13 & 0x1fff).wrapping_add(1),
        )
    }

    fn covered(&self, place: Option<Place>, pitch: u32, pixel: u32, tiles: Tiles) -> Checked<u64> {
        let place = place.ok_or(Refused)?;
        let (columns, rows) = self.extent();
        require(columns <= pitch && place.offset.is_multiple_of(tiles.alignment()))?;
        surface::bytes(pitch, rows, pixel, tiles)
    }

    /// Colour targets that are used, and whether depth is.
    fn used(&self) -> (usize, bool) {
        let clears = self.bandwidth & CLEARS_COLOUR != 0;
        let colours = self.channels & CHANNELS != 0 || self.blend & BLEND_READS != 0 || clears;
        let count = match colours {
            true => (self.colour_control >> 5 & 3) + 1,
            false => 0,
        };
        (
            count as usize,
            self.depth_control & DEPTH_USES != 0 || clears,
        )
    }

    /// The smallest pitch of what a draw may write, in pixels.
    pub(super) fn narrowest(&self) -> u32 {
        let (count, depth) = self.used();
        let colours = self.colours.iter().take(count).map(|t| t.pitch & 0x3ffe);
        let depth = depth.then_some(self.depth.pitch & 0x3ffc);
        let resolved = (self.resolve & 1 != 0).then_some(self.resolved.pitch & 0x3ffe);
        let all = colours.chain(depth).chain(resolved);
        all.min().unwrap_or(u32::MAX)
    }

    /// Whether all that a draw may write, and read there, is inside.
    pub(super) fn targets(&self) -> Checked<()> {
        let (count, depth) = self.used();
        for target in self.colours.iter().take(count) {
            let tiles = tiles(target.pitch)?;
            let pixel = colour_bytes(target.pitch)?;
            let bytes = self.covered(target.place, target.pitch & 0x3ffe, pixel, tiles)?;
            let bytes = bytes.checked_mul(self.samples()).ok_or(Refused)?;
            target.place.ok_or(Refused)?.holds(bytes)?;
        }
        if depth {
            let pixel = match self.depth_format & 0xf {
                0 | 1 => 2,
                2 => 4,
                _ => return Err(Refused),
            };
            let tiles = tiles(self.depth.pitch)?;
            let bytes = self.covered(self.depth.place, self.depth.pitch & 0x3ffc, pixel, tiles)?;
            let bytes = bytes.checked_mul(self.samples()).ok_or(Refused)?;
            self.depth.place.ok_or(Refused)?.holds(bytes)?;
        }
        if self.resolve & 1 != 0 {
            // Pixels and tiles are those of the first target.
            let [first, ..] = &self.colours;
            let (tiles, pixel) = (tiles(first.pitch)?, colour_bytes(first.pitch)?);
            let to = &self.resolved;
            let bytes = self.covered(to.place, to.pitch & 0x3ffe, pixel, tiles)?;
            to.place.ok_or(Refused)?.holds(bytes)?;
        }
        Ok(())
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The memory that a draw writes: colour, depth, and the resolve target of multisampling (digest
//! §3.5, §5.7).
//!
//! Only the scissor bounds the pixels of a draw. It is not documented whether the chip stops at a
//! target's pitch, so the scissor must not extend beyond the pitch ([`State::draws`] makes sure of
//! it), and the target must have all rows of tiles inside the scissor. Depth may also have the
//! pixels behind its pitch by the address formula: for an occlusion query without depth, Mesa's
//! r300 enables the test with a depth target of four columns, which is the colour target's BO.
//!
//! With multisampling the tile bits of colour and depth may not describe the samples: their layout
//! is not documented, but clients take it to be macro tiles of blocks whatever the bits say (digest
//! of 3D §12.5), and in a resolve the bits describe the destination (§13.6). So samples must be
//! inside by the bits and by [`SAMPLE_TILES`].

use super::{
    require, slot,
    state::State,
    surface::{self, is_aligned, Micro, Tiles},
    BoOffset, Checked, Refused,
};

/// Returns the bytes per pixel of the format in `COLORPITCH` 24:21. YUV formats have 32 bits for
/// two pixels in §3; the checker takes 32 bits for one.
fn colour_bytes(pitch: u32) -> Checked<u32> {
    match BYTES[(pitch >> 21 & 0xf) as usize] {
        0 => Err(Refused::Colour),
        bytes => Ok(bytes.into()),
    }
}

/// By format; 0 if there is none.
const BYTES: [u8; 16] = [0, 0, 0, 2, 2, 4, 4, 16, 0, 1, 8, 4, 4, 2, 0, 2];

/// Decodes the tiling of colour and depth, which have the same fields: 16 and 18:17.
pub(super) fn tiles(pitch: u32) -> Checked<Tiles> {
    Tiles::from_fields(pitch >> 16 & 1, pitch >> 17 & 3)
}

/// Writes a BO's tiling into those fields.
pub(super) fn with_tiles(pitch: u32, tiles: Tiles) -> u32 {
    let (macro_tiles, micro) = tiles.fields();
    pitch & !(7 << 16) | macro_tiles << 16 | micro << 17
}

/// `RB3D_BLENDCNTL`: blending, and a read of the target for it.
const BLENDS: u32 = 1 << 0 | 1 << 2;
/// `RB3D_ROPCNTL`: pixels are combined with those of the target.
const COMBINES: u32 = 1 << 2;
/// `ZB_BW_CNTL`: clears colour along with depth.
pub(super) const CLEARS_COLOUR: u32 = 1 << 5;
/// `RB3D_COLOR_CHANNEL_MASK`: channels of four targets.
const CHANNELS: u32 = 0xffff;
/// `RB3D_CCTL`: each target gets its own pixels; otherwise all get those of the first.
const OWN_PIXELS: u32 = 1 << 14;
/// `US_OUT_FMT`: format of a pixel shader's output.
const OUT_FORMAT: u32 = 0x1f;
/// `US_OUT_FMT`: unused output.
pub(super) const OUT_UNUSED: u32 = 15;
/// `ZB_CNTL`: stencil, depth, writes of depth.
const DEPTH_USES: u32 = 7;
/// `GB_AA_CONFIG`: enables multisampling; the number of samples is in other bits.
const SAMPLES_ON: u32 = 1;

/// Bytes of a row with all its samples that the colour unit can address. Mesa's r300 limits widths
/// because of an error of the chip: to 1360 pixels of eight bytes with six samples, to 2048 of them
/// with four, to 2720 pixels of four bytes with six. This value allows these and no wider ones. It
/// also holds for one sample: rows of 4096 pixels of sixteen bytes are the longest of clients.
const SAMPLES_ROW: u64 = 1 << 16;
/// Tiling that samples may have besides that of the bits.
const SAMPLE_TILES: Tiles = Tiles {
    macro_tiles: true,
    micro: Micro::Tiled,
};
/// The same with the other blocks of two bytes per pixel (§2.2).
const SQUARE_TILES: Tiles = Tiles {
    macro_tiles: true,
    micro: Micro::Square,
};

/// Pitch in pixels of `RB3D_COLORPITCH` and of `RB3D_AARESOLVE_PITCH`.
const COLOUR_COLUMNS: u32 = 0x3ffe;
/// Pitch in pixels of `ZB_DEPTHPITCH`.
const DEPTH_COLUMNS: u32 = 0x3ffc;

/// Targets that a draw may write.
struct Used {
    /// The colour targets, one bit each.
    colours: u32,
    depth: bool,
    /// Whether colour is cleared along with depth.
    clears: bool,
    /// Whether there is a resolve target.
    resolved: bool,
}

/// A target.
struct Target {
    place: BoOffset,
    /// Pixels of a row.
    pitch: u32,
    /// Bytes of a pixel.
    pixel: u32,
    tiles: Tiles,
    /// Samples of a pixel.
    samples: u64,
    /// Whether it is the source of a resolve, whose tile bits describe the destination: its pitch
    /// need not be one of such tiles.
    is_source: bool,
}

impl State {
    /// Returns the samples of each pixel; all of them are in memory. Three are refused: how they
    /// lie there is not documented, and no client asks for them.
    fn samples(&self) -> Checked<u64> {
        let config = self.kept.get(slot::SAMPLES);
        Ok(match (config & SAMPLES_ON != 0, config >> 1 & 3) {
            (false, _) => 1,
            (true, 0) => 2,
            (true, 1) => return Err(Refused::Colour),
            (true, 2) => 4,
            (true, _) => 6,
        })
    }

    /// Checks that the target has so many columns of the rows inside the scissor, by all layouts
    /// that its samples may have. Columns behind the pitch count by the address formula.
    fn covered(&self, target: &Target, columns: u32, rule: Refused) -> Checked<()> {
        let rows = (self.kept.get(slot::SCISSOR) >> 13 & 0x1fff).wrapping_add(1);
        let (pitch, pixel, tiles) = (target.pitch, target.pixel, target.tiles);
        let by = |tiles| match columns > pitch {
            true => surface::beyond(pitch, columns, rows, pixel, tiles),
            false => surface::rounded(pitch, rows, pixel, tiles),
        };
        let mut bytes = match target.is_source {
            true => surface::rounded(pitch, rows, pixel, tiles)?,
            false => surface::bytes(pitch, rows, pixel, tiles)?,
        };
        if columns > pitch {
            bytes = bytes.max(by(tiles)?);
        }
        let mut alignment = tiles.alignment();
        if target.samples > 1 {
            bytes = bytes.max(by(SAMPLE_TILES)?);
            if pixel == 2 {
                bytes = bytes.max(by(SQUARE_TILES)?);
            }
            alignment = SAMPLE_TILES.alignment();
        }
        require(is_aligned(target.place.offset, alignment), rule)?;
        let bytes = bytes.checked_mul(target.samples).ok_or(rule)?;
        target.place.holds(bytes, rule)
    }

    /// Returns the colour targets that get pixels: those to which `RB3D_CCTL` repeats the first
    /// target's pixels, and those with a shader output of their own, which `RB3D_CCTL` does not
    /// count.
    fn put_out(&self) -> u32 {
        let repeated = self.kept.get(slot::COLOUR_CONTROL) >> 5 & 3;
        let mut used = 0xfu32 >> 3u32.wrapping_sub(repeated);
        for n in 0..self.colours.len() {
            let format = self.kept.nth(slot::OUT_FORMAT, n) & OUT_FORMAT;
            used |= u32::from(format != OUT_UNUSED) << n;
        }
        used
    }

    /// Returns the targets that a draw may write.
    fn used(&self) -> Used {
        let is = |slot, bits| self.kept.get(slot) & bits != 0;
        let clears = is(slot::BANDWIDTH, CLEARS_COLOUR);
        let reads = is(slot::BLEND, BLENDS) || is(slot::COLOUR_ROP, COMBINES);
        let colours = is(slot::CHANNELS, CHANNELS) || reads || clears;
        let colours = if colours { self.put_out() } else { 0 };
        let resolved = is(slot::RESOLVE, 1);
        Used {
            // A resolve reads the first target's samples, whatever channels are written.
            colours: colours | u32::from(resolved),
            depth: is(slot::DEPTH_CONTROL, DEPTH_USES) || clears,
            clears,
            resolved,
        }
    }

    /// Checks that all pixels that a draw may write, or read in its targets, are inside them, if
    /// the draw does not extend beyond the smallest pitch of the targets. Returns that pitch in
    /// pixels.
    pub(super) fn targets(&self) -> Checked<u32> {
        let used = self.used();
        let samples = self.samples()?;
        // Without multisampling it is not documented what a resolve reads.
        require(!used.resolved || samples > 1, Refused::Resolve)?;
        let first = self.kept.get(slot::COLOUR_PITCH);
        let own = self.kept.get(slot::COLOUR_CONTROL) & OWN_PIXELS != 0;
        let mut least = u32::MAX;
        // A clear of colour along with depth is of macro tiles, in all surfaces (digest of 3D
        // §12.6). It writes without tests, and how it treats rows is not documented.
        let clears = |tiles: Tiles| require(!used.clears || tiles.macro_tiles, Refused::Tiling);
        let mut colours = used.colours;
        while colours != 0 {
            let n = colours.trailing_zeros() as usize;
            colours &= colours.wrapping_sub(1);
            let pitch = self.kept.nth(slot::COLOUR_PITCH, n);
            let (tiles, pixel) = (tiles(pitch)?, colour_bytes(pitch)?);
            require(own || pixel == colour_bytes(first)?, Refused::Colour)?;
            clears(tiles)?;
            let place = *self.colours.get(n).ok_or(Refused::Colour)?;
            let columns = pitch & COLOUR_COLUMNS;
            let width = match samples > 1 {
                true => surface::align(columns.into(), SAMPLE_TILES.grain(pixel)?.0),
                false => columns.into(),
            };
            let row = width.wrapping_mul(pixel.into()).wrapping_mul(samples);
            require(row <= SAMPLES_ROW, Refused::Colour)?;
            let target = Target {
                place,
                pitch: columns,
                pixel,
                tiles,
                samples,
                is_source: used.resolved && n == 0,
            };
            self.covered(&target, columns, Refused::Colour)?;
            least = least.min(columns);
        }
        if used.depth {
            let pixel = match self.kept.get(slot::DEPTH_FORMAT) & 0xf {
                0 | 1 => 2,
                2 => 4,
                _ => return Err(Refused::Depth),
            };
            let pitch = self.kept.get(slot::DEPTH_PITCH);
            let columns = pitch & DEPTH_COLUMNS;
            let tiles = tiles(pitch)?;
            clears(tiles)?;
            // The depth unit does not support blocks of 8 by 2 (§2.2; digest A3). Samples may have
            // other tiles than those of the bits: see above.
            let oblong = pixel == 2 && tiles.micro == Micro::Tiled;
            require(samples > 1 || !oblong, Refused::Tiling)?;
            let target = Target {
                place: self.depth,
                pitch: columns,
                pixel,
                tiles,
                samples,
                is_source: false,
            };
            self.covered(&target, columns, Refused::Depth)?;
            let drawn = (self.kept.get(slot::SCISSOR) & 0x1fff).wrapping_add(1);
            let drawn = drawn.min(least);
            let ends = used.clears
                || drawn > columns && self.covered(&target, drawn, Refused::Depth).is_err();
            least = if ends { least.min(columns) } else { least };
        }
        if used.resolved {
            // Pixels and tiles are those of the first target.
            let (tiles, pixel) = (tiles(first)?, colour_bytes(first)?);
            let columns = self.kept.get(slot::RESOLVED_PITCH) & COLOUR_COLUMNS;
            let target = Target {
                place: self.resolved,
                pitch: columns,
                pixel,
                tiles,
                samples: 1,
                is_source: false,
            };
            self.covered(&target, columns, Refused::Resolve)?;
            least = least.min(columns);
        }
        Ok(least)
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The memory that a draw samples (digest §3.5, §5.7; the document has no registers of textures).
//!
//! Levels are consecutive in memory. A level's row is padded to a block or a tile, and its number
//! of rows to whole blocks or tiles. The chip stores levels that are smaller than a macro tile
//! without macro tiles; the first level is taken to have them in any case. A height is rounded up
//! to the next power of two, unless the texture clamps; with more than one level or layer, it
//! always is, and the levels' heights are halves of that: the rows of clients, and not less than
//! other ways to round them up. A width without a pitch is always rounded up, since no other row
//! length is documented. A width with a pitch is rounded up as the height is, and must not exceed
//! the pitch, which only a texture of one level may have. Layers are as far apart as if the width
//! were rounded up, too: on real chips cubes of other sizes are sampled past the image (digest of
//! 3D §10.7).
//!
//! A bit of `TX_FILTER1`, `MACRO_SWITCH` by its public name, selects where macro tiles end: at
//! levels with a side of less than one tile, or of at most one tile. The computed size is enough
//! for both.

use super::{
    require, slot,
    state::State,
    surface::{self, Tiles},
    BoOffset, Checked, Refused,
};

/// A texture's registers.
struct Texture {
    /// `TX_FILTER0`: 2:0 and 5:3 wrap modes, 20:17 the finest level, 31:28 the logical id.
    filter: u32,
    /// `TX_FORMAT0`: 10:0 width less one, 21:11 height less one, 25:22 logarithm of the depth,
    /// 29:26 the last level, 31 whether the pitch is used.
    size: u32,
    /// `TX_FORMAT1`: 4:0 format, 26:25 flat, deep or a cube.
    format: u32,
    /// `TX_FORMAT2`: 13:0 pitch less one, 14 more formats, 15 and 16 bit 11 of width and height.
    pitch: u32,
    /// `TX_OFFSET`: 2 macro tiles, 4:3 blocks.
    offset: u32,
    /// Its address.
    place: BoOffset,
}

/// Texture units.
pub(super) const UNITS: usize = 16;
/// `TX_FILTER0`: where the logical id is.
pub(super) const ID_SHIFT: u32 = 28;
/// `TX_FILTER0`: a clamping wrap mode.
const CLAMPS: u32 = 2;
/// `TX_FILTER0`: the repeating wrap mode.
const REPEATS: u32 = 0;

/// The unit of a fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Texels {
    /// Bytes of a unit.
    bytes: u32,
    /// Texels on a side of a unit: the logarithm.
    side: u32,
}

impl Texels {
    const fn plain(bytes: u32) -> Self {
        Self { bytes, side: 0 }
    }

    const fn block(bytes: u32) -> Self {
        Self { bytes, side: 2 }
    }
}

/// By the format of `TX_FORMAT1`.
static FORMATS: [Option<Texels>; 32] = formats();

const fn formats() -> [Option<Texels>; 32] {
    let mut all = [None; 32];
    let mut format = 0;
    while format < all.len() {
        all[format] = match format {
            0x00 | 0x02 | 0x05 => Some(Texels::plain(1)),
            0x01 | 0x03 | 0x06 | 0x07 | 0x0a | 0x0b | 0x12 | 0x14 | 0x15 | 0x18 => {
                Some(Texels::plain(2))
            }
            0x04 | 0x08 | 0x09 | 0x0c | 0x0d | 0x17 | 0x19 | 0x1b | 0x1e => Some(Texels::plain(4)),
            0x0e | 0x1a | 0x1c => Some(Texels::plain(8)),
            0x1d => Some(Texels::plain(16)),
            0x0f => Some(Texels::block(8)),
            0x10 | 0x11 | 0x1f => Some(Texels::block(16)),
            _ => None,
        };
        format += 1;
    }
    all
}

impl Texture {
    /// Returns the unit of the format. Formats with bit 14 are documented by their public names
    /// only: ATI1N (5) and Y8X24 (6) imply a size; the others get the largest size.
    fn texels(&self) -> Checked<Texels> {
        let format = self.format & 0x1f;
        if self.pitch & 1 << 14 != 0 {
            return Ok(match format {
                5 => Texels::block(8),
                6 => Texels::plain(4),
                _ => Texels::plain(16),
            });
        }
        FORMATS
            .get(format as usize)
            .copied()
            .flatten()
            .ok_or(Refused::Texture)
    }

    fn tiles(&self) -> Checked<Tiles> {
        Tiles::from_fields(self.offset >> 2 & 1, self.offset >> 3 & 3)
    }

    /// Returns a side of level 0 for memory; `field` is the side less one, `more` its bit 11.
    fn side(&self, field: u32, more: u32, wrap: u32) -> u32 {
        let side = (field & 0x7ff | (more & 1) << 11).wrapping_add(1);
        match wrap & 7 {
            // These modes clamp, and access nothing beyond the side (digest §5.7).
            CLAMPS | 4 | 6 => side,
            _ => side.next_power_of_two(),
        }
    }

    /// Checks that the whole texture is inside its BO.
    fn check(&self) -> Checked<()> {
        let (texels, tiles) = (self.texels()?, self.tiles()?);
        // Tiles of compressed blocks are not documented, and clients have none.
        require(
            texels.side == 0 || tiles == Tiles::default(),
            Refused::Tiling,
        )?;
        let height = self.side(self.size >> 11, self.pitch >> 16, self.filter >> 3);
        // The finest level should be one of the texture's, but Mesa's r300 sends others. It is not
        // documented which level the chip uses then, so all up to it must be there.
        let finest = self.filter >> 17 & 0xf;
        let last = (self.size >> 26 & 0xf).max(finest);
        let kind = self.format >> 25 & 3;
        require(kind != 3, Refused::Texture)?;
        // The depth of flat textures and cubes is not documented.
        let depth = 1u32 << (self.size >> 22 & 0xf);
        require(kind == 1 || depth == 1, Refused::Texture)?;
        let faces = if kind == 2 { 6 } else { 1 };
        let is_layered = depth > 1 || faces > 1;
        // A row must have room for the width, otherwise the last row would extend beyond the end.
        let pitch = (self.pitch & 0x3fff).wrapping_add(1);
        let width = match self.size >> 31 {
            0 => self.side(self.size, self.pitch >> 15, REPEATS),
            _ => {
                // A wrap mode that does not clamp may access columns up to the next power of two.
                let width = self.side(self.size, self.pitch >> 15, self.filter);
                // Only level 0 has a pitch (digest of 3D §10.3); the pitch of others would be a
                // guess.
                let is_one = last == 0;
                require(is_one && width <= pitch, Refused::Texture)?;
                match is_layered {
                    true => pitch.max(width.next_power_of_two()),
                    false => pitch,
                }
            }
        };
        // Faces are squares; it is not documented which side the chip takes if they are not.
        let twelfth = (self.pitch >> 15 ^ self.pitch >> 16) & 1;
        let is_square = (self.size ^ self.size >> 11) & 0x7ff | twelfth == 0;
        require(kind != 2 || is_square, Refused::Texture)?;
        // The contiguous unit, of levels as large as a macro tile and of smaller ones.
        let grain = tiles.grain(texels.bytes)?;
        let small = Tiles {
            macro_tiles: false,
            ..tiles
        };
        let more = (1u32 << texels.side).wrapping_sub(1);
        let height = match last > 0 || is_layered {
            true => height.next_power_of_two(),
            false => height,
        };
        let mut total = 0u64;
        for level in 0..last.wrapping_add(1) {
            let at = |side: u32| (side >> level).max(1);
            let whole = |side: u32| side.wrapping_add(more) >> texels.side;
            let (columns, rows) = (whole(at(width)), whole(at(height)));
            let grain = match level > 0 && (columns < grain.0 || rows < grain.1) {
                true => small.grain(texels.bytes)?,
                false => grain,
            };
            let pitch = surface::align(columns.into(), grain.0);
            let layer = surface::padded(pitch, rows, texels.bytes, grain.1)?;
            let layers = u64::from((depth >> level).max(1)).wrapping_mul(faces);
            total = layer
                .checked_mul(layers)
                .and_then(|bytes| total.checked_add(bytes))
                .ok_or(Refused::Texture)?;
        }
        let aligned = surface::is_aligned(self.place.offset, tiles.alignment());
        require(aligned, Refused::Texture)?;
        self.place.holds(total, Refused::Texture)
    }
}

impl State {
    /// Checks that all textures that a draw may sample are inside their BOs.
    pub(super) fn sampled(&self) -> Checked<()> {
        let mut on = self.kept.get(slot::TEXTURES_ON);
        if on == 0 {
            return Ok(());
        }
        // It is not documented whether shaders and `TX_ENABLE` name units or logical ids. So both
        // must be equal, also for disabled units: a disabled unit with another unit's id would be
        // sampled in its place. The loop has no branch per unit: sixteen branches would take longer
        // than the sixteen values.
        let mut others = 0;
        for unit in 0..UNITS {
            others |= self.kept.nth(slot::TX_FILTER, unit) >> ID_SHIFT ^ unit as u32;
        }
        require(others == 0, Refused::TextureId)?;
        while on != 0 {
            let n = on.trailing_zeros() as usize;
            on &= on.wrapping_sub(1);
            let register = |slot| self.kept.nth(slot, n);
            let texture = Texture {
                filter: register(slot::TX_FILTER),
                size: register(slot::TX_SIZE),
                format: register(slot::TX_FORMAT),
                pitch: register(slot::TX_PITCH),
                offset: register(slot::TX_OFFSET),
                place: *self.textures.get(n).ok_or(Refused::Texture)?,
            };
            texture.check()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;

    /// A texture of object 0 in unit 0, and a draw.
    fn draw(filter: u32, size: u32, format: u32, pitch: u32, offset: u32) -> Stream {
        new()
            .set(0x4400, &[filter])
            .set(0x4480, &[size])
            .set(0x44c0, &[format])
            .set(0x4500, &[pitch])
            .set(0x4540, &[offset])
            .object(0)
            .set(0x4104, &[1])
            .and(array())
            .and(list(3))
    }

    /// Clamps both ways.
    const CLAMP: u32 = 2 << 3 | 2;
    /// Four bytes a texel.
    const RGBA: u32 = 0xc;

    fn needs(stream: &Stream, bytes: u64) {
        assert!(stream.passes(&[bytes, 48]), "{bytes} are enough");
        assert!(!stream.passes(&[bytes - 1, 48]), "{bytes} are needed");
    }

    fn size(width: u32, height: u32, last_level: u32) -> u32 {
        (width - 1) | ((height - 1) << 11) | last_level << 26
    }

    #[test]
    fn levels_add_up() {
        // 64 by 32 of four bytes; then 32x16, 16x8, 8x4; then rows padded to 8: 8x2, 8x1, 8x1.
        needs(&draw(CLAMP, size(64, 32, 0), RGBA, 0, 0), 8192);
        needs(
            &draw(CLAMP, size(64, 32, 3), RGBA, 0, 0),
            8192 + 2048 + 512 + 128,
        );
        needs(
            &draw(CLAMP, size(64, 32, 6), RGBA, 0, 0),
            10880 + 64 + 32 + 32,
        );
    }

    #[test]
    fn depth_and_faces_multiply() {
        let volume = size(16, 16, 1) | 2 << 22;
        // Four layers of 16 by 16, then two of 8 by 8.
        needs(
            &draw(CLAMP, volume, RGBA | 1 << 25, 0, 0),
            4 * 1024 + 2 * 256,
        );
        needs(
            &draw(CLAMP, size(16, 16, 1), RGBA | 2 << 25, 0, 0),
            6 * (1024 + 256),
        );
        assert!(!draw(CLAMP, size(16, 16, 0), RGBA | 3 << 25, 0, 0).passes(&[1 << 20, 48]));
    }

    #[test]
    fn sides_are_powers_of_two_unless_they_clamp_or_have_a_pitch() {
        for (filter, rows) in [(CLAMP, 20), (0, 32), (2, 32), (2 << 3, 20)] {
            needs(&draw(filter, size(40, 20, 0), RGBA, 0, 0), 64 * rows * 4);
            // With a pitch: no less than the next power of two, unless columns clamp.
            let by_pitch = size(40, 20, 0) | 1 << 31;
            let pitch = if filter & 7 == 2 { 40 } else { 64 };
            let stream = draw(filter, by_pitch, RGBA, pitch as u32 - 1, 0);
            needs(&stream, pitch * rows * 4);
        }
    }

    #[test]
    fn heights_of_levels_and_layers_are_powers_of_two() {
        // 16 by 20 of four bytes: 32 rows, then 10 as 16, then 5 as 8; rows of 16, 8 and 4 padded
        // to 8.
        needs(
            &draw(CLAMP, size(16, 20, 2), RGBA, 0, 0),
            (16 * 32 + 8 * 16 + 8 * 8) * 4,
        );
        // Two layers, six faces, which are squares; a flat one has 20.
        let deep = size(16, 20, 0) | 1 << 22;
        needs(&draw(CLAMP, deep, RGBA | 1 << 25, 0, 0), 2 * 16 * 32 * 4);
        needs(
            &draw(CLAMP, size(20, 20, 0), RGBA | 2 << 25, 0, 0),
            6 * 32 * 32 * 4,
        );
        needs(&draw(CLAMP, size(16, 20, 0), RGBA, 0, 0), 16 * 20 * 4);
    }

    /// `TX_FILTER1` 22: macro tiles end at levels with a side of less than one tile, or of at most
    /// one.
    #[test]
    fn what_is_counted_is_enough_wherever_tiles_end() {
        // Blocks of 4 by 2 texels of four bytes, tiles of 8 by 8 of those.
        let (block, tile) = ((4u64, 2u64), (32u64, 16u64));
        for (width, height) in [(64, 64), (256, 16), (32, 256), (128, 32), (64, 24)] {
            for macro_switch in [0, 1 << 22] {
                let mut bytes = 0;
                for level in 0..6 {
                    let columns = (width >> level).max(1u64);
                    let rows = (height >> level).max(1u64).next_power_of_two();
                    let ends = match macro_switch {
                        0 => columns < tile.0 || rows < tile.1,
                        _ => columns <= tile.0 || rows <= tile.1,
                    };
                    let grain = if ends { block } else { tile };
                    bytes += columns.next_multiple_of(grain.0) * rows.next_multiple_of(grain.1) * 4;
                }
                let stream = new().set(0x4440, &[macro_switch]).and(draw(
                    CLAMP,
                    size(width as u32, height as u32, 5),
                    RGBA,
                    0,
                    4 | 8,
                ));
                assert!(!stream.passes(&[bytes - 1, 48]), "{width} {height}");
            }
        }
    }

    #[test]
    fn the_twelfth_bit_of_a_side_counts() {
        // 4096 by 2: 11 bits of the width less one here, the twelfth in bit 15 of the other
        // register.
        needs(
            &draw(CLAMP, size(2048, 2, 0), RGBA, 1 << 15, 0),
            4096 * 2 * 4,
        );
        needs(&draw(CLAMP, size(8, 1, 0), RGBA, 1 << 16, 0), 8 * 2049 * 4);
    }

    #[test]
    fn a_pitch_counts_and_holds_the_width() {
        let by_pitch = 1 << 31;
        needs(
            &draw(CLAMP, size(40, 4, 0) | by_pitch, RGBA, 63, 0),
            64 * 4 * 4,
        );
        assert!(!draw(CLAMP, size(65, 4, 0) | by_pitch, RGBA, 63, 0).passes(&[1 << 20, 48]));
    }

    #[test]
    fn tiles_are_whole_and_end_where_levels_are_small() {
        // Macro tiles (bit 2) of 64 by 8 texels of four bytes; blocks too (bit 3): 32 by 16.
        needs(&draw(CLAMP, size(65, 9, 0), RGBA, 0, 4), 128 * 16 * 4);
        needs(&draw(CLAMP, size(33, 17, 0), RGBA, 0, 4 | 8), 64 * 32 * 4);
        // 64 by 32 with both, then 32 by 16 still, then 16 by 8 in blocks of 4 by 2.
        let levels = 64 * 32 * 4 + 32 * 16 * 4 + 16 * 8 * 4;
        needs(&draw(CLAMP, size(64, 32, 2), RGBA, 0, 4 | 8), levels);
        // Aligned to a tile.
        assert!(draw(CLAMP, size(64, 8, 0), RGBA, 0, 4 | 2048).passes(&[4096, 48]));
        assert!(!draw(CLAMP, size(64, 8, 0), RGBA, 0, 4 | 1024).passes(&[4096, 48]));
        // Neither blocks of 16 bytes nor a third kind of block.
        assert!(!draw(CLAMP, size(64, 8, 0), 0x1d, 0, 8).passes(&[1 << 20, 48]));
        assert!(!draw(CLAMP, size(64, 8, 0), RGBA, 0, 3 << 3).passes(&[1 << 20, 48]));
    }

    #[test]
    fn formats_have_their_bytes() {
        // 32 by 4 texels: one row of blocks.
        for (format, bytes) in [
            (0x00, 128),
            (0x02, 128),
            (0x05, 128),
            (0x01, 256),
            (0x03, 256),
            (0x06, 256),
            (0x07, 256),
            (0x0a, 256),
            (0x0b, 256),
            (0x12, 256),
            (0x14, 256),
            (0x15, 256),
            (0x18, 256),
            (0x04, 512),
            (0x08, 512),
            (0x09, 512),
            (0x0c, 512),
            (0x0d, 512),
            (0x17, 512),
            (0x19, 512),
            (0x1b, 512),
            (0x1e, 512),
            (0x0e, 1024),
            (0x1a, 1024),
            (0x1c, 1024),
            (0x1d, 2048),
            // Blocks of 4 by 4 texels: 8 and 16 bytes.
            (0x0f, 64),
            (0x10, 128),
            (0x11, 128),
            (0x1f, 128),
        ] {
            needs(&draw(CLAMP, size(32, 4, 0), format, 0, 0), bytes);
        }
        for format in [0x13, 0x16] {
            assert!(!draw(CLAMP, size(32, 4, 0), format, 0, 0).passes(&[1 << 20, 48]));
        }
        // Bit 14: blocks, a depth of 24 bits, and formats without documentation.
        for (format, bytes) in [(5, 64), (6, 512), (0, 2048), (1, 2048), (0x1f, 2048)] {
            needs(&draw(CLAMP, size(32, 4, 0), format, 1 << 14, 0), bytes);
        }
    }

    #[test]
    fn only_textures_that_are_on_are_looked_at() {
        let other = draw(CLAMP, size(64, 64, 0), RGBA, 0, 0);
        let other = new().and(other).set(0x4104, &[0]).and(list(3));
        // The refused first draw is left out.
        let off = new()
            .set(0x4480, &[size(64, 64, 0)])
            .and(array())
            .and(list(3));
        assert!(off.passes(&[1, 48]) && !other.passes(&[1, 48]));
        for unit in 0..16 {
            let on = new().set(0x4104, &[1 << unit]).and(array()).and(list(3));
            assert!(!on.passes(&[1 << 20, 48]), "{unit} has no place");
        }
    }
}

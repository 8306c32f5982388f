// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Where a byte of a tiled surface lies: the X, Y and W walks and the bit-6 swizzle.
//!
//! A surface is a row of 4 KB tiles, repeated downwards: X tiles are 512 bytes by 8 rows, Y tiles 128 bytes by 32 rows,
//! W tiles 64 bytes by 64 rows (SNB PRM V1P1 §4.5.1-4.5.3; G45 PRM V1b §4.5.1-4.5.3). Two users: the engines, which
//! come with a coordinate ([`offset`]), and the fences of the processor's aperture, which come with an address that
//! counts the surface as if it were linear ([`detile`]).
//!
//! The printed pseudocode of §4.5.3 computes a byte column without multiplying the tile's index by the tile's width,
//! and adds the low bits of the Y walk's column twice; both would send different bytes to one address. What stands
//! here is the walk that the text and the figures describe; the tests show that it is a bijection.

/// The walk of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// No tiles: row after row (§4.5.1).
    #[default]
    Linear,
    /// Tiles of 512 bytes by 8 rows, each row contiguous.
    X,
    /// Tiles of 128 bytes by 32 rows, made of columns of 16 bytes.
    Y,
    /// Tiles of 64 bytes by 64 rows, made of nested squares (stencil buffers).
    W,
}

/// Size of every tile in bytes.
pub const TILE_SIZE: u64 = 4096;

impl Tiling {
    /// Width of a tile in bytes; 1 for linear memory.
    pub const fn tile_width(self) -> u64 {
        match self {
            Tiling::Linear => 1,
            Tiling::X => 512,
            Tiling::Y => 128,
            Tiling::W => 64,
        }
    }

    /// Height of a tile in rows; 1 for linear memory.
    pub const fn tile_height(self) -> u64 {
        match self {
            Tiling::Linear => 1,
            Tiling::X => 8,
            Tiling::Y => 32,
            Tiling::W => 64,
        }
    }
}

/// Which address bits the memory controller folds into bit 6 of a tiled address, so that neighbouring rows fall on
/// different channels.
///
/// The documents are silent about it. Gen6 with equal channels takes bits 9 and 10 for X tiles and bit 9 for Y tiles
/// (see the digest gen6-snb.md, gap G-31); the other two occur on Gen4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// Bit 6 is left alone.
    #[default]
    None,
    /// Bit 6 is exclusive-ored with bit 9.
    Bit9,
    /// Bit 6 is exclusive-ored with bits 9 and 10.
    Bit9And10,
    /// Bit 6 is exclusive-ored with bits 9 and 11.
    Bit9And11,
    /// Bit 6 is exclusive-ored with bits 9, 10 and 11.
    Bit9And10And11,
}

impl Swizzle {
    /// The address after the fold. Doing it twice gives the first address back.
    pub const fn apply(self, address: u64) -> u64 {
        let folded = match self {
            Swizzle::None => 0,
            Swizzle::Bit9 => address >> 9,
            Swizzle::Bit9And10 => (address >> 9) ^ (address >> 10),
            Swizzle::Bit9And11 => (address >> 9) ^ (address >> 11),
            Swizzle::Bit9And10And11 => (address >> 9) ^ (address >> 10) ^ (address >> 11),
        };
        address ^ ((folded & 1) << 6)
    }
}

/// Offset in bytes from the surface's base of byte column `x` in row `y`; no swizzle.
///
/// `pitch` is in bytes and signed, as the blitter's pitches are; for a tiled surface it is a multiple of the tile's
/// width (a remainder is ignored). Linear surfaces: `y * pitch + x`.
pub fn offset(tiling: Tiling, pitch: i64, x: u64, y: u64) -> i64 {
    let (width, height) = (tiling.tile_width(), tiling.tile_height());
    if tiling == Tiling::Linear {
        return pitch * y as i64 + x as i64;
    }
    let tiles_per_row = pitch / width as i64;
    let tile = tiles_per_row * (y / height) as i64 + (x / width) as i64;
    tile * TILE_SIZE as i64 + in_tile(tiling, x % width, y % height) as i64
}

/// Offset inside one tile of byte column `x` in row `y`, both counted from the tile's corner.
const fn in_tile(tiling: Tiling, x: u64, y: u64) -> u64 {
    match tiling {
        Tiling::Linear => x,
        Tiling::X => 512 * y + x,
        Tiling::Y => 512 * (x / 16) + 16 * y + x % 16,
        Tiling::W => {
            512 * (x / 8)
                + 64 * (y / 8)
                + 32 * (y / 4 % 2)
                + 16 * (x / 4 % 2)
                + 8 * (y / 2 % 2)
                + 4 * (x / 2 % 2)
                + 2 * (y % 2)
                + x % 2
        }
    }
}

/// Returns how many bytes from column `x` on are contiguous in memory, before the walk or the swizzle jumps. Linear
/// memory has no such end: `u64::MAX`.
pub const fn contiguous(tiling: Tiling, swizzle: Swizzle, x: u64) -> u64 {
    let unit = match (tiling, swizzle) {
        (Tiling::Linear, _) => return u64::MAX,
        (Tiling::X, Swizzle::None) => 512,
        (Tiling::X, _) => 64,
        (Tiling::Y, _) => 16,
        (Tiling::W, _) => 2,
    };
    unit - x % unit
}

/// Returns where the processor's access at `linear` bytes into a fenced region lands, in bytes from the region's start.
///
/// A fence lets the processor see a tiled surface row after row (§4.5.4.1): the address is cut into a row and a byte
/// column, and these walk the tiles. `pitch` is the fence's pitch in bytes. The fold acts on the offset, which is the
/// same as on the address because a fenced region starts on a page.
pub fn detile(tiling: Tiling, swizzle: Swizzle, pitch: u64, linear: u64) -> u64 {
    if tiling == Tiling::Linear || pitch < tiling.tile_width() {
        return linear;
    }
    let offset = offset(tiling, pitch as i64, linear % pitch, linear / pitch);
    swizzle.apply(offset as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand from §4.5.3 with a pitch of 4 tiles for X and Y and of 2 tiles for W.
    #[test]
    fn walks_lead_where_the_figures_show() {
        for (tiling, pitch, x, y, expected) in [
            (Tiling::Linear, 640, 256, 256, 0x28100), // the example of G45 §8.2.2.1
            (Tiling::Linear, 1024, 128, 128, 0x20080), // the example of G45 §8.2.3.1
            (Tiling::X, 2048, 0, 0, 0x0000),
            (Tiling::X, 2048, 511, 0, 0x01ff),
            (Tiling::X, 2048, 512, 0, 0x1000),
            (Tiling::X, 2048, 0, 1, 0x0200),
            (Tiling::X, 2048, 0, 8, 0x4000),
            (Tiling::X, 2048, 513, 9, 0x5201),
            (Tiling::Y, 512, 15, 0, 0x000f),
            (Tiling::Y, 512, 16, 0, 0x0200),
            (Tiling::Y, 512, 0, 1, 0x0010),
            (Tiling::Y, 512, 0, 32, 0x4000),
            (Tiling::Y, 512, 145, 33, 0x5211),
            (Tiling::W, 128, 1, 0, 0x0001),
            (Tiling::W, 128, 0, 1, 0x0002),
            (Tiling::W, 128, 4, 0, 0x0010),
            (Tiling::W, 128, 0, 4, 0x0020),
            (Tiling::W, 128, 8, 0, 0x0200),
            (Tiling::W, 128, 0, 8, 0x0040),
            (Tiling::W, 128, 64, 0, 0x1000),
            (Tiling::W, 128, 0, 64, 0x2000),
        ] {
            assert_eq!(
                offset(tiling, pitch, x, y),
                expected,
                "{tiling:?} ({x},{y})"
            );
        }
    }

    /// A negative pitch leads upwards from the base, tile row by tile row.
    #[test]
    fn negative_pitch_walks_upwards() {
        assert_eq!(offset(Tiling::Linear, -64, 3, 2), -125);
        assert_eq!(offset(Tiling::X, -1024, 0, 8), -0x2000);
        assert_eq!(offset(Tiling::X, -1024, 1, 9), -0x2000 + 0x201);
    }

    #[test]
    fn every_byte_has_one_place() {
        for (tiling, tiles) in [
            (Tiling::X, 1),
            (Tiling::X, 3),
            (Tiling::Y, 1),
            (Tiling::Y, 5),
            (Tiling::W, 1),
            (Tiling::W, 3),
        ] {
            for swizzle in [
                Swizzle::None,
                Swizzle::Bit9,
                Swizzle::Bit9And10,
                Swizzle::Bit9And10And11,
            ] {
                let pitch = tiles * tiling.tile_width();
                let size = 2 * tiles * TILE_SIZE;
                let mut seen = vec![false; size as usize];
                for linear in 0..size {
                    let place = detile(tiling, swizzle, pitch, linear) as usize;
                    assert!(
                        !seen[place],
                        "{tiling:?} pitch {pitch}: two bytes at {place:#x}"
                    );
                    seen[place] = true;
                }
            }
        }
    }

    /// gen6-snb.md G-31: X tiles fold bits 9 and 10, Y tiles bit 9.
    #[test]
    fn swizzle_folds_the_named_bits() {
        for (swizzle, address, expected) in [
            (Swizzle::None, 0x0e00, 0x0e00),
            (Swizzle::Bit9, 0x0200, 0x0240),
            (Swizzle::Bit9, 0x0400, 0x0400),
            (Swizzle::Bit9, 0x0240, 0x0200),
            (Swizzle::Bit9And10, 0x0200, 0x0240),
            (Swizzle::Bit9And10, 0x0400, 0x0440),
            (Swizzle::Bit9And10, 0x0600, 0x0600),
            (Swizzle::Bit9And10, 0x0800, 0x0800),
            (Swizzle::Bit9And11, 0x0800, 0x0840),
            (Swizzle::Bit9And11, 0x0400, 0x0400),
            (Swizzle::Bit9And10And11, 0x0e00, 0x0e40),
        ] {
            assert_eq!(swizzle.apply(address), expected, "{swizzle:?} {address:#x}");
        }
    }

    /// Row 1 of an X tile has bit 9 set: its first 64 bytes trade places with the second.
    #[test]
    fn fence_applies_the_swizzle() {
        assert_eq!(detile(Tiling::X, Swizzle::Bit9And10, 512, 512), 0x240);
        assert_eq!(detile(Tiling::X, Swizzle::Bit9And10, 512, 512 + 64), 0x200);
        assert_eq!(detile(Tiling::X, Swizzle::None, 1024, 1024 + 513), 0x1201);
        assert_eq!(detile(Tiling::Y, Swizzle::Bit9, 128, 16), 0x240);
        assert_eq!(detile(Tiling::Linear, Swizzle::Bit9, 512, 512), 512);
    }

    #[test]
    fn contiguous_runs_end_where_the_walk_jumps() {
        for tiling in [Tiling::X, Tiling::Y, Tiling::W] {
            for swizzle in [Swizzle::None, Swizzle::Bit9, Swizzle::Bit9And10] {
                for y in 0..64 {
                    let mut x = 0;
                    while x < 1024 {
                        let run = contiguous(tiling, swizzle, x);
                        let at = |x| swizzle.apply(offset(tiling, 1024, x, y) as u64);
                        for i in 0..run {
                            assert_eq!(
                                at(x + i),
                                at(x) + i,
                                "{tiling:?} {swizzle:?} ({x}+{i},{y})"
                            );
                        }
                        x += run;
                    }
                }
            }
        }
    }
}

// SPDX-License-Identifier: GPL-2.0
//! Where pixels are: buffers, surfaces in them, rectangles, and the way from
//! (x, y) to a byte (G45 PRM Vol 1b §8.9 for linear surfaces, Sandy Bridge PRM
//! Vol 1 Part 2 §4.5 for X tiles).

use serde::{Deserialize, Serialize};

/// One buffer object of the scene, by its place in [`crate::scene::Scene::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BufferId(pub usize);

/// A byte in a buffer object. Becomes a GPU address when the buffer has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The buffer object.
    pub buffer: BufferId,
    /// Byte offset in it.
    pub offset: u32,
}

/// Colour depth of a surface (G45 PRM Vol 1b §8.10.2, bits 25:24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, PartialOrd, Ord, Deserialize)]
pub enum Depth {
    /// 8 bits for each pixel.
    Bpp8,
    /// 16 bits, 5:6:5.
    Bpp565,
    /// 16 bits, 1:5:5:5.
    Bpp1555,
    /// 32 bits.
    Bpp32,
}

impl Depth {
    /// Every depth the blitter knows.
    pub const ALL: [Depth; 4] = [Depth::Bpp8, Depth::Bpp565, Depth::Bpp1555, Depth::Bpp32];

    /// Bytes of one pixel.
    pub const fn bytes(self) -> u32 {
        match self {
            Depth::Bpp8 => 1,
            Depth::Bpp565 | Depth::Bpp1555 => 2,
            Depth::Bpp32 => 4,
        }
    }

    /// The two bits of a command that say so.
    pub const fn code(self) -> u8 {
        match self {
            Depth::Bpp8 => 0,
            Depth::Bpp565 => 1,
            Depth::Bpp1555 => 2,
            Depth::Bpp32 => 3,
        }
    }

    /// The bits of a pixel that exist.
    pub const fn mask(self) -> u32 {
        match self {
            Depth::Bpp8 => 0xff,
            Depth::Bpp565 | Depth::Bpp1555 => 0xffff,
            Depth::Bpp32 => 0xffff_ffff,
        }
    }
}

/// How rows lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tiling {
    /// One row after the other.
    Linear,
    /// Tiles of 512 bytes by 8 rows, 4 KiB each.
    X,
}

/// A two-dimensional piece of a buffer object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surface {
    /// Pixel (0, 0).
    pub base: Address,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Colour depth.
    pub depth: Depth,
    /// How rows lie in memory.
    pub tiling: Tiling,
}

impl Surface {
    /// Byte offset in the buffer of pixel (x, y), before any swizzle of address bit 6.
    ///
    /// X tile: Sandy Bridge PRM Vol 1 Part 2 §4.5.3, for a pitch in whole tiles.
    pub fn offset(&self, x: u32, y: u32) -> u32 {
        let byte = x * self.depth.bytes();
        self.base.offset
            + match self.tiling {
                Tiling::Linear => y * self.pitch + byte,
                Tiling::X => {
                    (y / 8) * (self.pitch * 8) + (byte / 512) * 4096 + (y % 8) * 512 + byte % 512
                }
            }
    }

    /// Bytes from the start of pixel (0, 0) that the surface covers.
    pub fn bytes(&self) -> u32 {
        match self.tiling {
            Tiling::Linear => self.pitch * self.height,
            Tiling::X => self.pitch * self.height.next_multiple_of(8),
        }
    }

    /// The whole surface.
    pub fn rect(&self) -> Rect {
        Rect::new(0, 0, self.width as i32, self.height as i32)
    }

    /// The same bytes seen with another depth: linear surfaces only.
    pub fn as_depth(&self, depth: Depth) -> Surface {
        Surface {
            depth,
            width: self.width * self.depth.bytes() / depth.bytes(),
            ..*self
        }
    }
}

/// A rectangle of pixels; the second corner is outside (G45 PRM Vol 1b §8.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rect {
    /// Left column.
    pub x1: i32,
    /// Top row.
    pub y1: i32,
    /// First column to the right that is outside.
    pub x2: i32,
    /// First row below that is outside.
    pub y2: i32,
}

impl Rect {
    /// From corner and size.
    pub const fn new(x: i32, y: i32, width: i32, height: i32) -> Rect {
        Rect {
            x1: x,
            y1: y,
            x2: x + width,
            y2: y + height,
        }
    }

    /// Pixels across.
    pub const fn width(&self) -> u32 {
        if self.x2 > self.x1 {
            (self.x2 - self.x1) as u32
        } else {
            0
        }
    }

    /// Rows.
    pub const fn height(&self) -> u32 {
        if self.y2 > self.y1 {
            (self.y2 - self.y1) as u32
        } else {
            0
        }
    }

    /// What both cover.
    pub fn intersect(&self, other: &Rect) -> Rect {
        Rect {
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
            x2: self.x2.min(other.x2),
            y2: self.y2.min(other.y2),
        }
    }

    /// Smaller by `by` pixels on each side.
    pub const fn inset(&self, by: i32) -> Rect {
        Rect {
            x1: self.x1 + by,
            y1: self.y1 + by,
            x2: self.x2 - by,
            y2: self.y2 - by,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(pitch: u32, depth: Depth, tiling: Tiling) -> Surface {
        let base = Address {
            buffer: BufferId(0),
            offset: 0,
        };
        Surface {
            base,
            pitch,
            width: 1,
            height: 1,
            depth,
            tiling,
        }
    }

    /// Worked numbers of G45 PRM Vol 1b §8.2.3: 640 and 1024 pixels of 8 bpp across.
    #[test]
    fn linear_offsets_are_those_of_the_document() {
        let a = surface(640, Depth::Bpp8, Tiling::Linear);
        for (line, offset) in [0x28100, 0x28380, 0x28600, 0x28880].into_iter().enumerate() {
            assert_eq!(a.offset(256, 256 + line as u32), offset);
        }
        assert_eq!(
            surface(1024, Depth::Bpp8, Tiling::Linear).offset(128, 128),
            0x20080
        );
    }

    /// Sandy Bridge PRM Vol 1 Part 2 §4.5: 4 tiles of pitch, byte 513 of row 9.
    #[test]
    fn x_tile_offset_is_that_of_the_document() {
        assert_eq!(surface(2048, Depth::Bpp8, Tiling::X).offset(513, 9), 0x5201);
    }

    #[test]
    fn x_tiles_give_each_byte_one_place() {
        let s = surface(1536, Depth::Bpp8, Tiling::X);
        let mut seen = vec![false; 1536 * 16];
        for y in 0..16 {
            for x in 0..1536 {
                let at = s.offset(x, y) as usize;
                assert!(
                    !std::mem::replace(&mut seen[at], true),
                    "({x}, {y}) shares byte {at}"
                );
            }
        }
    }
}

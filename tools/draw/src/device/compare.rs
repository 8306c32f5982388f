// SPDX-License-Identifier: GPL-2.0
//! What the GPU left against what it should have left: each pixel of a surface,
//! then each byte beside the pixels.

use std::fmt;

use serde::Serialize;

use ouro_scene::scene::Buffer;
use ouro_scene::surface::Surface;

/// A pixel that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// Column; of a byte beside the pixels, its offset.
    pub x: u32,
    /// Row.
    pub y: u32,
    /// What should be there.
    pub expected: u32,
    /// What is there.
    pub found: u32,
}

/// All that is wrong in a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the buffer.
    pub buffer: String,
    /// Pixels that are wrong.
    pub pixels: u64,
    /// Bytes outside of the pixels that are wrong.
    pub bytes_beside: u64,
    /// The first of them.
    pub first: Vec<Mismatch>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} pixels and {} other bytes differ",
            self.buffer, self.pixels, self.bytes_beside
        )?;
        for m in &self.first {
            write!(
                f,
                "\n  ({}, {}) should be {:#010x}, is {:#010x}",
                m.x, m.y, m.expected, m.found
            )?;
        }
        Ok(())
    }
}

/// How many wrong pixels are named.
const NAMED: usize = 12;

fn pixel(bytes: &[u8], surface: &Surface, x: u32, y: u32) -> u32 {
    let at = surface.offset(x, y) as usize;
    bytes[at..at + surface.depth.bytes() as usize]
        .iter()
        .rev()
        .fold(0, |v, b| (v << 8) | u32::from(*b))
}

/// Compares one buffer; also the number of pixels that were compared.
pub fn compare(buffer: &Buffer, expected: &[u8], found: &[u8]) -> (u64, Option<Difference>) {
    let mut d = Difference {
        buffer: buffer.name.clone(),
        pixels: 0,
        bytes_beside: 0,
        first: Vec::new(),
    };
    let count = buffer
        .surface
        .map_or(0, |s| u64::from(s.width) * u64::from(s.height));
    if expected == found {
        return (count, None);
    }
    if let Some(surface) = &buffer.surface {
        for y in 0..surface.height {
            for x in 0..surface.width {
                let (expected, found) =
                    (pixel(expected, surface, x, y), pixel(found, surface, x, y));
                if expected != found {
                    d.pixels += 1;
                    if d.first.len() < NAMED {
                        d.first.push(Mismatch {
                            x,
                            y,
                            expected,
                            found,
                        });
                    }
                }
            }
        }
    }
    let bytes = expected.iter().zip(found).filter(|(a, b)| a != b).count() as u64;
    if d.pixels == 0 {
        d.bytes_beside = bytes + expected.len().abs_diff(found.len()) as u64;
        let wrong = expected
            .iter()
            .zip(found)
            .enumerate()
            .filter(|(_, (a, b))| a != b)
            .take(NAMED);
        d.first = wrong
            .map(|(i, (a, b))| Mismatch {
                x: i as u32,
                y: 0,
                expected: (*a).into(),
                found: (*b).into(),
            })
            .collect();
    }
    (count, Some(d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ouro_scene::scene::Upload;
    use ouro_scene::surface::{Address, BufferId, Depth, Tiling};

    #[test]
    fn a_wrong_pixel_is_named_and_so_is_a_byte_beside() {
        let base = Address {
            buffer: BufferId(0),
            offset: 0,
        };
        let surface = Surface {
            base,
            pitch: 16,
            width: 3,
            height: 2,
            depth: Depth::Bpp32,
            tiling: Tiling::Linear,
        };
        let buffer = Buffer {
            name: "b".into(),
            size: 32,
            initial: Vec::new(),
            upload: Upload::Zero,
            surface: Some(surface),
        };
        let expected = vec![0u8; 32];
        assert_eq!(compare(&buffer, &expected, &expected), (6, None));
        let mut found = expected.clone();
        found[16 + 4] = 7;
        let (_, difference) = compare(&buffer, &expected, &found);
        assert_eq!(
            difference.unwrap().first,
            [Mismatch {
                x: 1,
                y: 1,
                expected: 0,
                found: 7
            }]
        );
        let mut found = expected.clone();
        found[13] = 9;
        let difference = compare(&buffer, &expected, &found).1.unwrap();
        assert_eq!((difference.pixels, difference.bytes_beside), (0, 1));
    }
}

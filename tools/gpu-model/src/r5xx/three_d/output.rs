// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the vectors of a shaded vertex mean (R5xx guide §6.4.5, §6.5.1; digest of 3D, §3.5).
//!
//! A program packs its outputs: position, point size, colours 0 to 3, textures 0 to 7, in this order, without those that
//! VAP_OUT_VTX_FMT_0 and _1 leave out. What it writes behind them is dropped.

use crate::r5xx::pvs::{Vec4, VECTORS};

/// A vertex as its program leaves it, before it is clipped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShadedVertex {
    /// In clip space.
    pub position: Option<Vec4>,
    /// In x.
    pub point_size: Option<f32>,
    /// Colours.
    pub colours: [Option<Vec4>; 4],
    /// Textures' coordinates, and whatever else is interpolated.
    pub textures: [Option<Vec4>; 8],
}

/// VAP_OUT_VTX_FMT_0: position.
const POS: u32 = 1;
/// The first colour; the others follow.
const COLOR0: u32 = 1 << 1;
/// Point size.
const PT_SIZE: u32 = 1 << 16;

/// Which outputs there are, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutFormat {
    /// Vectors of position, point size, four colours, eight textures.
    slots: [Option<u8>; 14],
}

impl OutFormat {
    /// From VAP_OUT_VTX_FMT_0 and _1, whose three bits of each texture count its lanes. `bypass`: no program
    /// runs, and input vectors have places of their own for each.
    pub fn new(fmt0: u32, fmt1: u32, bypass: bool) -> Self {
        let mut next = 0;
        let slots = std::array::from_fn(|n| {
            let there = match n {
                0 => fmt0 & POS != 0,
                1 => fmt0 & PT_SIZE != 0,
                2..=5 => fmt0 & COLOR0 << (n - 2) != 0,
                _ => fmt1 >> (3 * (n - 6)) & 7 != 0,
            };
            let slot = if bypass { n as u8 } else { next };
            next += u8::from(there);
            there.then_some(slot)
        });
        OutFormat { slots }
    }

    /// Returns how many vectors there are.
    pub fn vectors(&self) -> u32 {
        self.slots.iter().flatten().count() as u32
    }

    /// A vertex of these vectors.
    pub fn vertex(&self, vectors: &[Vec4; VECTORS]) -> ShadedVertex {
        let at = |n: usize| self.slots[n].map(|s| vectors[usize::from(s)]);
        ShadedVertex {
            position: at(0),
            point_size: at(1).map(|v| v[0]),
            colours: std::array::from_fn(|n| at(2 + n)),
            textures: std::array::from_fn(|n| at(6 + n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors() -> [Vec4; VECTORS] {
        std::array::from_fn(|n| [n as f32; 4])
    }

    /// §6.5.1: "if the only attributes present in the OVFR are Pos, Pt_Size, Clr1 and Tex 2, then these values must
    /// be written to output vectors 0-3".
    #[test]
    fn outputs_are_packed() {
        let format = OutFormat::new(1 | 1 << 16 | 1 << 2, 4 << 6, false);
        let mut want = ShadedVertex {
            position: Some([0.0; 4]),
            point_size: Some(1.0),
            ..ShadedVertex::default()
        };
        want.colours[1] = Some([2.0; 4]);
        want.textures[2] = Some([3.0; 4]);
        assert_eq!(format.vertex(&vectors()), want);
    }

    /// Digest of 3D, §2.3: 0 position, 1 point size, 2 to 5 colours, 6 to 13 textures.
    #[test]
    fn without_a_program_they_have_places() {
        let format = OutFormat::new(1 | 1 << 2, 4 << 6, true);
        let mut want = ShadedVertex {
            position: Some([0.0; 4]),
            ..ShadedVertex::default()
        };
        want.colours[1] = Some([3.0; 4]);
        want.textures[2] = Some([8.0; 4]);
        assert_eq!(format.vertex(&vectors()), want);
    }
}

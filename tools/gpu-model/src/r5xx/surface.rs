// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The surface registers: ranges of video memory that the CPU sees without tiles (R5xx guide §2.2;
//! offsets and fields from digest §3.2, §5.2).

use super::core::Core;
use super::lint::Rule;
use super::regs::reg;
use super::tile::{Layout, Micro};

/// Number of surface registers.
pub const SURFACES: u32 = 8;
/// SURFACE_CNTL: no translation at all.
const TRANSLATION_DISABLE: u32 = 1 << 8;
/// SURFACEn_INFO.
const MACRO: u32 = 1 << 16;
const MICRO: u32 = 1 << 17;

/// A range of video memory that is tiled, and the CPU does not see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// First byte, an offset in video memory.
    pub start: u64,
    /// Size in bytes: whole rows of tiles.
    pub size: u64,
    /// How the chip stores it.
    pub layout: Layout,
}

impl Surface {
    /// The byte after the last.
    pub fn end(&self) -> u64 {
        self.start + self.size
    }
}

impl Core {
    /// Reads all surface registers again.
    pub fn surfaces_changed(&mut self) {
        let mut surfaces: Vec<Surface> = Vec::new();
        if self.get(reg::SURFACE_CNTL) & TRANSLATION_DISABLE == 0 {
            for n in 0..SURFACES {
                let Some(s) = self.surface(n) else { continue };
                if surfaces
                    .iter()
                    .any(|o| s.start < o.end() && o.start < s.end())
                {
                    self.notes
                        .lint(Rule::SurfaceOverlap, || format!("{n} {s:x?}"));
                    continue;
                }
                surfaces.push(s);
            }
        }
        self.mc.vram().set_surfaces(surfaces);
    }

    /// A surface register that has an effect.
    fn surface(&mut self, n: u32) -> Option<Surface> {
        let at = reg::SURFACE0_LOWER + 0x10 * n;
        let info = self.get(at + 8);
        // Bounds are addresses of the aperture; the upper one is the last byte (digest §5.2).
        let (lower, upper) = (u64::from(self.get(at)), u64::from(self.get(at + 4)));
        let layout = Layout {
            macro_tiled: info & MACRO != 0,
            micro: if info & MICRO != 0 {
                Micro::Tiled
            } else {
                Micro::Linear
            },
            pitch: u64::from(info & 0xffff) * 8,
        };
        if layout.is_linear() || upper <= lower {
            return None;
        }
        let row = layout.pitch * layout.row_unit();
        let end = (upper + 1).min(self.mc.vram().size());
        if !layout.pitch_ok() || end.saturating_sub(lower) < row {
            self.notes.lint(Rule::SurfaceShape, || {
                format!("{n} {lower:#x}..{end:#x} {layout:?}")
            });
            return None;
        }
        Some(Surface {
            start: lower,
            size: (end - lower) / row * row,
            layout,
        })
    }
}

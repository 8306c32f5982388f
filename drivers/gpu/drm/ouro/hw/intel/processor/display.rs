// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The display as the firmware left it: which GGTT entries its planes use. Read only.
//!
//! A plane fetches through the GGTT while its pipe runs. There are two or three pipes, each with a
//! primary plane, a sprite and a cursor, and a VGA plane on one of them. Another volume of the
//! document covers the display; offsets and bits are those of the upstream driver. The registers
//! are outside the power well.

use crate::{generation::Scanout, io::Hw, types::PAGE_SIZE};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Offsets of a pipe's registers.
pub(crate) struct Pipe {
    /// Width and height of the pipe.
    pub(crate) source: u32,
    /// The pipe's enable and state bits.
    pub(crate) config: u32,
    /// Control of the cursor.
    pub(crate) cursor: u32,
    /// Control of the primary plane.
    pub(crate) primary: u32,
    /// Control of the sprite.
    pub(crate) sprite: u32,
}

/// The pipes of a chip.
pub(crate) struct Pipes {
    /// All pipes; at least two.
    pub(crate) pipes: &'static [Pipe],
    /// The bits of a primary plane's control that hold the number of its pipe; 0 if each plane is
    /// on the pipe with the same number.
    pub(crate) choice: u32,
    /// Control of the VGA plane.
    pub(crate) vga: u32,
    /// The bit of [`vga`](Self::vga) for the second pipe; 0 if the plane is always on the first
    /// one.
    pub(crate) vga_second: u32,
}

/// The pipes of chips with two, as in the upstream driver.
pub(crate) const TWO_PIPES: &[Pipe] = &[
    Pipe {
        source: 0x6_001c,
        config: 0x7_0008,
        cursor: 0x7_0080,
        primary: 0x7_0180,
        sprite: 0x7_2180,
    },
    Pipe {
        source: 0x6_101c,
        config: 0x7_1008,
        cursor: 0x7_00c0,
        primary: 0x7_1180,
        sprite: 0x7_3180,
    },
];
/// A bit of [`Pipes::vga`] on chips with two pipes: the plane is on the second one.
pub(crate) const VGA_SECOND: u32 = 1 << 29;

/// Bits of [`Pipe::config`]: bit 31, the pipe is enabled; bit 30, the pipe is still running.
const PIPE_RUNS: u32 = (1 << 31) | (1 << 30);

// Registers of a primary plane or a sprite, relative to its control register.
const LINEAR_OFFSET: u32 = 0x04;
const STRIDE: u32 = 0x08;
const SPRITE_SIZE: u32 = 0x10;
const SURFACE: u32 = 0x1c;
const TILE_OFFSET: u32 = 0x24;
const SPRITE_SCALE: u32 = 0x84;
/// Base register of a cursor, relative to its control register.
const CURSOR_BASE: u32 = 0x04;

/// Control of a primary plane or a sprite.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct PlaneControl {
    #[bits(10)]
    __: u16,
    /// Bit 10: X tiles.
    tiled: bool,
    #[bits(20)]
    __: u32,
    /// Bit 31: the plane is enabled.
    enable: bool,
}
const_assert_eq!(core::mem::size_of::<PlaneControl>(), 4);

/// A width and a height, each minus one.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Size {
    /// Bits 15:0.
    low: u16,
    /// Bits 31:16.
    high: u16,
}
const_assert_eq!(core::mem::size_of::<Size>(), 4);

/// Scaling of a sprite.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Scale {
    /// Bits 10:0: rows of the source, minus one.
    #[bits(11)]
    height: u16,
    #[bits(5)]
    __: u8,
    /// Bits 26:16: columns of the source, minus one.
    #[bits(11)]
    width: u16,
    #[bits(4)]
    __: u8,
    /// Bit 31: scaling is enabled.
    enable: bool,
}
const_assert_eq!(core::mem::size_of::<Scale>(), 4);

/// Significant bits of a stride.
const STRIDE_MASK: u32 = 0xffff_ffc0;
/// Rows of an X tile.
const TILE_ROWS: u64 = 8;
/// The largest number of bytes per pixel.
const PIXEL_BYTES: u64 = 8;

/// Bits of a cursor's control with its size and format; 0: the cursor is off.
const CURSOR_MODE: u32 = 0x27;

/// Control of the VGA plane, from Gen6 on.
pub(crate) const VGA: u32 = 0x4_1000;
/// Bit 31 of [`Pipes::vga`]: the plane is off.
const VGA_OFF: u32 = 1 << 31;
/// Bytes of VGA memory.
const VGA_BYTES: u64 = 256 << 10;

/// Returns the GGTT entries for `bytes` bytes from `base` on, up to the end of the GGTT (`table`
/// entries).
fn entries(base: u32, bytes: u64, table: u32) -> Option<Scanout> {
    let first = base / PAGE_SIZE;
    let wanted = bytes.div_ceil(PAGE_SIZE.into());
    let there = table.checked_sub(first)?;
    let entries = u32::try_from(wanted).unwrap_or(u32::MAX).min(there);
    (entries != 0).then_some(Scanout {
        first,
        entries,
        local: None,
    })
}

/// Returns the size of a cursor in bytes.
const fn cursor_bytes(mode: u32) -> u64 {
    match mode & CURSOR_MODE {
        0 => 0,
        // 64 by 64, with 2 and with 32 bits per pixel
        0x04 => 64 * 64 / 4,
        0x07 | 0x27 => 64 * 64 * 4,
        0x02 | 0x22 => 128 * 128 * 4,
        // 256 by 256; other modes are not documented
        _ => 256 * 256 * 4,
    }
}

/// Returns how many bytes a plane may fetch from its surface. A stride of 0 repeats one row.
fn plane_bytes(hw: &Hw<'_>, plane: u32, tiled: bool, columns: u16, rows: u16) -> u64 {
    let read = |at: u32| hw.regs.read32(plane.wrapping_add(at));
    let stride = u64::from(read(STRIDE) & STRIDE_MASK);
    let columns = u64::from(columns).saturating_add(1);
    let rows = u64::from(rows).saturating_add(1);
    let (skipped, rows) = if tiled {
        let above = u64::from(Size::from_bits(read(TILE_OFFSET)).high());
        (0, rows.saturating_add(above).next_multiple_of(TILE_ROWS))
    } else {
        (u64::from(read(LINEAR_OFFSET)), rows)
    };
    let shown = stride
        .saturating_mul(rows)
        .max(columns.saturating_mul(PIXEL_BYTES));
    skipped.saturating_add(shown)
}

/// Finds the GGTT entries that enabled planes use, in a GGTT of `table` entries. Read only.
pub(crate) fn scanouts(hw: &Hw<'_>, display: &Pipes, table: u32, found: &mut dyn FnMut(Scanout)) {
    let mut show = |base: u32, bytes: u64| {
        if let Some(scanout) = entries(base, bytes, table) {
            found(scanout);
        }
    };
    let read = |offset: u32| hw.regs.read32(offset);
    let vga = read(display.vga);
    let runs = |pipe: &Pipe| read(pipe.config) & PIPE_RUNS != 0;
    for (n, pipe) in display.pipes.iter().enumerate() {
        let control = read(pipe.primary);
        let plane = PlaneControl::from_bits(control);
        let of = match display.choice {
            0 => Some(pipe),
            mask => {
                let chosen = (control & mask) >> mask.trailing_zeros();
                display.pipes.get(chosen as usize)
            }
        };
        if let Some(of) = of.filter(|of| plane.enable() && runs(of)) {
            // Width in the high half, height in the low one.
            let size = Size::from_bits(read(of.source));
            let bytes = plane_bytes(hw, pipe.primary, plane.tiled(), size.high(), size.low());
            show(read(pipe.primary.wrapping_add(SURFACE)), bytes);
        }
        if !runs(pipe) {
            continue;
        }
        let sprite = PlaneControl::from_bits(read(pipe.sprite));
        if sprite.enable() {
            let scale = Scale::from_bits(read(pipe.sprite.wrapping_add(SPRITE_SCALE)));
            let (columns, rows) = if scale.enable() {
                (scale.width(), scale.height())
            } else {
                // Height in the high half, width in the low one.
                let size = Size::from_bits(read(pipe.sprite.wrapping_add(SPRITE_SIZE)));
                (size.low(), size.high())
            };
            let bytes = plane_bytes(hw, pipe.sprite, sprite.tiled(), columns, rows);
            show(read(pipe.sprite.wrapping_add(SURFACE)), bytes);
        }
        let cursor = cursor_bytes(read(pipe.cursor));
        if cursor != 0 {
            show(read(pipe.cursor.wrapping_add(CURSOR_BASE)), cursor);
        }
        // The VGA plane shows the beginning of stolen memory. No document says whether it fetches
        // through the GGTT; §5.9 has it work while the GGTT is off. The firmware maps stolen memory
        // by the first entries, so these are kept.
        let vga_pipe = usize::from(vga & display.vga_second != 0);
        if vga & VGA_OFF == 0 && vga_pipe == n {
            show(0, VGA_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::PIPES,
        mock::{Access, Mock},
    };
    use std::vec::Vec;

    /// Entries of a GGTT of 1 MiB.
    const TABLE: u32 = 262_144;

    /// Returns a device whose display is off.
    fn dark() -> Mock {
        let mock = Mock::default();
        mock.set(0x4_1000, 0x8000_0000);
        mock
    }

    /// Returns the entries found, and checks that nothing was written.
    fn found(mock: &Mock) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        scanouts(&mock.hw(), &PIPES, TABLE, &mut |s| {
            assert_eq!(s.local, None);
            all.push((s.first, s.entries));
        });
        assert!(mock.take().iter().all(|a| matches!(a, Access::R(_))));
        all
    }

    /// Enables a pipe of 1920 by 1080 whose primary plane shows 32 bits per pixel from 0x40000 on.
    fn lit(mock: &Mock, pipe: u32) {
        mock.set(0x7_0008 + pipe * 0x1000, 0xc000_0000);
        mock.set(0x6_001c + pipe * 0x1000, 0x077f_0437);
        mock.set(0x7_0180 + pipe * 0x1000, 0x9800_0000);
        mock.set(0x7_0188 + pipe * 0x1000, 7680);
        mock.set(0x7_019c + pipe * 0x1000, 0x0004_0000);
    }

    #[test]
    fn a_dark_device_shows_nothing() {
        assert_eq!(found(&dark()), []);
        // Planes are enabled, but no pipe runs.
        let mock = dark();
        lit(&mock, 0);
        mock.set(0x7_0008, 0);
        mock.set(0x7_0080, 0x27);
        mock.set(0x7_2180, 0x8000_0000);
        mock.set(0x4_1000, 0);
        assert_eq!(found(&mock), []);
        // A pipe runs, and no plane is on it.
        let mock = dark();
        lit(&mock, 1);
        mock.set(0x7_1180, 0x1800_0000);
        assert_eq!(found(&mock), []);
    }

    #[test]
    fn a_primary_plane_is_its_rows() {
        for pipe in [0, 1] {
            let mock = dark();
            lit(&mock, pipe);
            // 7680 * 1080 is 2025 pages.
            assert_eq!(found(&mock), [(0x40, 2025)]);
            // The pipe was disabled, and still runs.
            mock.set(0x7_0008 + pipe * 0x1000, 0x4000_0000);
            assert_eq!(found(&mock), [(0x40, 2025)]);
        }
        let mock = dark();
        lit(&mock, 0);
        lit(&mock, 1);
        mock.set(0x7_119c, 0x1000_0000);
        assert_eq!(found(&mock), [(0x40, 2025), (0x1_0000, 2025)]);
    }

    #[test]
    fn an_offset_belongs_to_it() {
        let mock = dark();
        lit(&mock, 0);
        mock.set(0x7_0184, 0x2000);
        assert_eq!(found(&mock), [(0x40, 2027)]);
        // Tiled: whole tiles of eight rows; 1080 and 5 are 136 of them, of 8192 bytes a row.
        mock.set(0x7_0180, 0x9800_0400);
        mock.set(0x7_0188, 8192);
        mock.set(0x7_01a4, 0x0005_0003);
        assert_eq!(found(&mock), [(0x40, 2176)]);
    }

    #[test]
    fn a_sprite_is_its_source() {
        for (plane, config) in [(0x7_2180, 0x7_0008), (0x7_3180, 0x7_1008)] {
            let mock = dark();
            mock.set(config, 0x8000_0000);
            mock.set(plane, 0x8000_0000);
            mock.set(plane + 0x08, 4096);
            // 640 by 480
            mock.set(plane + 0x10, 0x01df_027f);
            mock.set(plane + 0x1c, 0x0080_0000);
            assert_eq!(found(&mock), [(0x800, 480)]);
            // of 320 by 240
            mock.set(plane + 0x84, 0x813f_00ef);
            assert_eq!(found(&mock), [(0x800, 240)]);
        }
    }

    #[test]
    fn a_cursor_is_as_large_as_its_mode_says() {
        for (mode, pages) in [
            (0x04, 1),
            (0x07, 4),
            (0x27, 4),
            (0x02, 16),
            (0x22, 16),
            (0x03, 64),
            (0x23, 64),
            (0x01, 64),
        ] {
            for (cursor, config) in [(0x7_0080, 0x7_0008), (0x7_00c0, 0x7_1008)] {
                let mock = dark();
                mock.set(config, 0x8000_0000);
                mock.set(cursor, 0x0400_0000 | mode);
                mock.set(cursor + 4, 0x0030_0000);
                assert_eq!(found(&mock), [(0x300, pages)], "mode {mode:#x}");
            }
        }
    }

    #[test]
    fn vga_is_the_first_entries() {
        for (control, config) in [(0, 0x7_0008), (0x2000_0000, 0x7_1008)] {
            let mock = dark();
            mock.set(0x4_1000, control);
            mock.set(config, 0x8000_0000);
            assert_eq!(found(&mock), [(0, 64)]);
            mock.set(0x4_1000, control | 0x8000_0000);
            assert_eq!(found(&mock), []);
        }
    }

    #[test]
    fn garbage_is_cut_to_the_table() {
        // No stride: a row of 1920 pixels of at most eight bytes.
        let mock = dark();
        lit(&mock, 0);
        mock.set(0x7_0188, 0x3f);
        assert_eq!(found(&mock), [(0x40, 4)]);
        // The largest stride reaches past the end of the GGTT.
        mock.set(0x7_0188, 0xffff_ffff);
        mock.set(0x6_001c, 0xffff_ffff);
        mock.set(0x7_0184, 0xffff_ffff);
        assert_eq!(found(&mock), [(0x40, 262_080)]);
        mock.set(0x7_019c, 0x3fff_ffff);
        assert_eq!(found(&mock), [(262_143, 1)]);
        mock.set(0x7_019c, 0x4000_0000);
        assert_eq!(found(&mock), []);
        // All registers read as ones.
        let mock = dark();
        mock.gone.set(true);
        assert_eq!(found(&mock), []);
    }
}

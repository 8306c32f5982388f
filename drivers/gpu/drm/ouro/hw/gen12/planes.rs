// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Display planes that the firmware left on: their GGTT ranges, and the memory behind.
//!
//! Nothing is written here. The document does not cover the display; offsets and bits are those of
//! the upstream driver (`display/skl_universal_plane_regs.h`, `intel_cursor_regs.h`,
//! `intel_display_regs.h`, Linux 7.3): four pipes, 1000h apart, each with five planes, 100h apart,
//! and a cursor. A pipe without power reads as off, or all ones. The registers may hold nonsense,
//! so at most [`MOST`] entries are reported per plane, and none beyond the GGTT.

use super::pte::{self, Behind};
use crate::{
    generation::{Scanout, Topology},
    io::Hw,
    types::PAGE_SIZE,
};
use bitfield_struct::bitfield;
use core::ops::Range;
use static_assertions::const_assert_eq;

/// Number of pipes, and their distance.
const PIPES: (u32, u32) = (4, 0x1000);
/// Planes of a pipe, and their distance.
const PLANES: (u32, u32) = (5, 0x100);
/// Whether a pipe runs: bit 31.
const TRANSCONF: u32 = 0x7_0008;
/// Control of a plane.
const PLANE_CTL: u32 = 0x7_0180;
/// Bytes, or tiles, from one row to the next, bits 11:0.
const PLANE_STRIDE: u32 = 0x7_0188;
/// Height and width, each less one, bits 31:16 and 15:0.
const PLANE_SIZE: u32 = 0x7_0190;
/// Address of the surface, bits 31:12.
const PLANE_SURF: u32 = 0x7_019c;
/// Row and column of the plane in its surface, bits 31:16 and 15:0.
const PLANE_OFFSET: u32 = 0x7_01a4;
/// Control of a cursor.
const CURSOR_CTL: u32 = 0x7_0080;
/// Address of a cursor, bits 31:12.
const CURSOR_BASE: u32 = 0x7_0084;
/// Bit 31 of the first two.
const ENABLE: u32 = 1 << 31;

/// Most entries of a plane: a surface of 512 MiB.
const MOST: u64 = 128 << 10;
/// Most ranges of VRAM reported per plane; further ones are merged.
const PIECES: u32 = 32;

/// [`PLANE_CTL`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct PlaneCtl {
    /// Bits 1:0: rotation in quarters.
    #[bits(2)]
    turned: u8,
    __: u8,
    /// Bits 12:10: 0 rows, 1 X tiles, 4 Y tiles, 5 tiles of 4 KiB.
    #[bits(3)]
    tiles: u8,
    #[bits(18)]
    __: u32,
    /// Bit 31: it is on.
    enable: bool,
}
const_assert_eq!(core::mem::size_of::<PlaneCtl>(), 4);

/// Returns the bytes per unit of [`PLANE_STRIDE`], and the rows of a tile.
const fn tile(tiles: u8) -> (u32, u32) {
    match tiles {
        0 => (64, 1),
        1 => (512, 8),
        _ => (128, 32),
    }
}

/// Bytes of a surface.
fn surface(ctl: PlaneCtl, stride: u32, size: u32, offset: u32) -> u64 {
    let stride = u64::from(stride & 0xfff);
    let (height, width) = ((size >> 16) + 1, (size & 0xffff) + 1);
    let rows = height + (offset >> 16);
    if ctl.turned() & 1 != 0 {
        // The stride counts tiles of a column. The longer side gives the number of columns, at 8
        // bytes a pixel.
        let columns = rows.max(width).div_ceil(128 / 8);
        return stride * u64::from(PAGE_SIZE) * u64::from(columns);
    }
    let (unit, tile_rows) = tile(ctl.tiles());
    stride * u64::from(unit) * u64::from(rows.next_multiple_of(tile_rows))
}

/// Returns the bytes of a cursor; `None` if it is off. The mode is in bits 5 and 2:0; a pixel has
/// 32 bits except in mode 4.
const fn cursor(ctl: u32) -> Option<u64> {
    let side: u64 = match ctl & 0x27 {
        0 => return None,
        0x04 => return Some(64 * 64 / 4),
        0x07 | 0x27 => 64,
        0x02 | 0x22 => 128,
        _ => 256,
    };
    Some(side * side * 4)
}

/// An active plane: its first byte in the GGTT, and its size in bytes.
struct Shown {
    at: u32,
    bytes: u64,
}

/// Returns the active planes of a pipe.
fn shown<'a>(hw: &'a Hw<'_>, pipe: u32) -> impl Iterator<Item = Shown> + 'a {
    let read = move |register: u32| hw.regs.read32(register.wrapping_add(pipe * PIPES.1));
    let is_on = |value| value != u32::MAX && value & ENABLE != 0;
    let runs = is_on(read(TRANSCONF));
    let planes = (0..PLANES.0).filter_map(move |plane| {
        let read = |register: u32| read(register.wrapping_add(plane * PLANES.1));
        let ctl = if runs { read(PLANE_CTL) } else { 0 };
        is_on(ctl).then(|| Shown {
            at: read(PLANE_SURF),
            bytes: surface(
                PlaneCtl::from_bits(ctl),
                read(PLANE_STRIDE),
                read(PLANE_SIZE),
                read(PLANE_OFFSET),
            ),
        })
    });
    let pointer = match if runs { read(CURSOR_CTL) } else { 0 } {
        u32::MAX => None,
        ctl => cursor(ctl).map(|bytes| Shown {
            at: read(CURSOR_BASE),
            bytes,
        }),
    };
    planes.chain(pointer)
}

/// Returns the memory of a PTE; VRAM only as far as the driver would allocate it.
fn behind(hw: &Hw<'_>, topo: &Topology, entry: u32) -> Behind {
    let at = entry.wrapping_mul(8);
    let low = u64::from(hw.gtt.read32(at));
    let high = u64::from(hw.gtt.read32(at.wrapping_add(4)));
    let usable = topo.local.map_or(0, |local| local.size);
    match pte::behind(low | high << 32) {
        Behind::Local(page) if page >= usable => Behind::System,
        behind => behind,
    }
}

/// A growing range.
struct Piece {
    first: u32,
    end: u32,
    local: Option<Range<u64>>,
}

impl Piece {
    fn new(entry: u32, local: Option<Range<u64>>) -> Self {
        Self {
            first: entry,
            end: entry.wrapping_add(1),
            local,
        }
    }

    /// Returns whether an entry continues the range.
    fn meets(&self, entry: u32, local: &Option<Range<u64>>) -> bool {
        let memory = match (&self.local, local) {
            (None, None) => true,
            (Some(its), Some(more)) => its.end == more.start,
            _ => false,
        };
        memory && self.end == entry
    }

    /// Extends the range to an entry.
    fn take(&mut self, entry: u32, local: Option<Range<u64>>) {
        self.end = entry.wrapping_add(1);
        self.local = match (self.local.take(), local) {
            (Some(its), Some(more)) => Some(its.start.min(more.start)..its.end.max(more.end)),
            (its, more) => its.or(more),
        };
    }

    fn told(self) -> Scanout {
        Scanout {
            first: self.first,
            entries: self.end.wrapping_sub(self.first),
            local: self.local,
        }
    }
}

/// Reports the range of a plane. Invalid entries are skipped.
fn follow(hw: &Hw<'_>, topo: &Topology, what: &Shown, found: &mut dyn FnMut(Scanout)) {
    let first = what.at / PAGE_SIZE;
    let bytes = what.bytes.clamp(1, MOST * u64::from(PAGE_SIZE));
    let entries = bytes.div_ceil(PAGE_SIZE.into()) as u32;
    let end = first.saturating_add(entries).min(topo.gtt_entries);
    let mut piece: Option<Piece> = None;
    let mut pieces = 0u32;
    for entry in first..end {
        let local = match behind(hw, topo, entry) {
            Behind::Nothing => continue,
            Behind::System => None,
            Behind::Local(page) => Some(page..page.saturating_add(PAGE_SIZE.into())),
        };
        match &mut piece {
            Some(last) if pieces >= PIECES || last.meets(entry, &local) => last.take(entry, local),
            _ => {
                pieces = pieces.wrapping_add(1);
                if let Some(done) = piece.replace(Piece::new(entry, local)) {
                    found(done.told());
                }
            }
        }
    }
    if let Some(last) = piece {
        found(last.told());
    }
}

/// Finds the active planes.
pub(super) fn find(hw: &Hw<'_>, topo: &Topology, found: &mut dyn FnMut(Scanout)) {
    for pipe in 0..PIPES.0 {
        for what in shown(hw, pipe) {
            follow(hw, topo, &what, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen12::{parts::Parts, topology},
        mock::{Access, Mock},
    };
    use proptest::prelude::*;
    use std::vec::Vec;

    /// 1 GiB of VRAM of which 1 GiB less 64 KiB is allocated; 4 GiB of GGTT.
    fn device() -> (Mock, Mock, Topology) {
        let mock = Mock::default();
        mock.config(0x00, 0x56a0_8086);
        mock.config(0x50, 0xc0);
        mock.set(0x10_1010, 0x80);
        mock.set(0x4900, 1 << 8);
        mock.set(0x4910, 0x3fff << 8);
        mock.aperture.set(256 << 20);
        let topo = topology::probe(&mock.hw(), Parts::G10).unwrap();
        mock.take();
        (mock, Mock::default(), topo)
    }

    fn found(device: &(Mock, Mock, Topology)) -> Vec<Scanout> {
        let (mock, table, topo) = device;
        let hw = Hw {
            gtt: table,
            ..mock.hw()
        };
        let mut all = Vec::new();
        find(&hw, topo, &mut |scanout| all.push(scanout));
        let log = mock.take();
        assert!(log.iter().all(|a| matches!(a, Access::R(_))));
        assert!(table.take().iter().all(|a| matches!(a, Access::R(_))));
        all
    }

    /// Entries from `first` on: bit 0 present, bit 1 local.
    fn map(table: &Mock, first: u32, pages: impl Iterator<Item = u64>) {
        for (n, page) in (first..).zip(pages) {
            table.set(8 * n, page as u32);
            table.set(8 * n + 4, (page >> 32) as u32);
        }
    }

    fn local(first: u64) -> impl Iterator<Item = u64> {
        (0..).map(move |n| (first + n * 4096) | 3)
    }

    /// A picture of 1920 x 1080 from 32 MiB of the table on, in rows: 120 units of 64 bytes.
    fn light(mock: &Mock, pipe: u32) {
        let at = pipe * 0x1000;
        mock.set(at + 0x7_0008, 0xc000_0000);
        mock.set(at + 0x7_0180, 0x8400_0000);
        mock.set(at + 0x7_0188, 120);
        mock.set(at + 0x7_0190, 0x0437_077f);
        mock.set(at + 0x7_019c, 0x0200_0000);
    }

    #[test]
    fn nothing_is_on() {
        let device = device();
        assert_eq!(found(&device), []);
        // A plane of a pipe that does not run; one without power.
        light(&device.0, 0);
        map(&device.1, 0x2000, local(0).take(4096));
        device.0.set(0x7_0008, 0);
        assert_eq!(found(&device), []);
        device.0.set(0x7_0008, 0xffff_ffff);
        assert_eq!(found(&device), []);
        // A pipe without planes.
        device.0.set(0x7_0008, 0xc000_0000);
        device.0.set(0x7_0180, 0x0400_0000);
        assert_eq!(found(&device), []);
    }

    #[test]
    fn the_picture_of_the_firmware_is_found() {
        // 1080 rows of 7680 bytes are 2025 pages.
        for pipe in 0..4 {
            let device = device();
            light(&device.0, pipe);
            map(&device.1, 0x2000, local(0x10_0000).take(4096));
            let picture = Scanout {
                first: 0x2000,
                entries: 2025,
                local: Some(0x10_0000..0x10_0000 + 2025 * 4096),
            };
            assert_eq!(found(&device), [picture]);
        }
    }

    #[test]
    fn surfaces_are_of_their_shape() {
        let of =
            |ctl, stride, size, offset| surface(PlaneCtl::from_bits(ctl), stride, size, offset);
        // Ten rows: in rows of 64 bytes, X tiles of 8 and others of 32 rows; begun at row 7.
        assert_eq!(of(0, 3, 0x0009_0000, 0), 1920);
        assert_eq!(of(1 << 10, 3, 0x0009_0000, 0), 3 * 512 * 16);
        assert_eq!(of(4 << 10, 3, 0x0009_0000, 0), 3 * 128 * 32);
        assert_eq!(of(5 << 10, 3, 0x0009_0000, 0), 3 * 128 * 32);
        assert_eq!(of(0, 3, 0x0009_0000, 0x0007_0000), 3 * 64 * 17);
        // Turned: columns of 3 tiles, of 16 pixels of the longer side.
        assert_eq!(of(1 | 5 << 10, 3, 0x0009_0020, 0), 3 * 4096 * 3);
    }

    #[test]
    fn cursors_are_of_their_mode() {
        let modes = [0, 0x04, 0x27, 0x07, 0x22, 0x02, 0x23, 0x01].map(cursor);
        let expected = [0, 1024, 16384, 16384, 65536, 65536, 262_144, 262_144];
        assert_eq!(modes.map(|m| m.unwrap_or(0)), expected);
        let device = device();
        device.0.set(0x7_2008, 0x8000_0000);
        device.0.set(0x7_2080, 0x0400_0027);
        device.0.set(0x7_2084, 0x0300_0000);
        map(&device.1, 0x3000, local(0x40_0000).take(8));
        let pointer = Scanout {
            first: 0x3000,
            entries: 4,
            local: Some(0x40_0000..0x40_4000),
        };
        assert_eq!(found(&device), [pointer]);
    }

    #[test]
    fn pieces_are_told_apart() {
        let device = device();
        light(&device.0, 0);
        device.0.set(0x7_0188, 64);
        device.0.set(0x7_0190, 0x0005_00ff);
        // Two pages of local memory, a hole, one further on, one of the system's, and one that is
        // the firmware's.
        let pages = [
            0x1000 | 3,
            0x2000 | 3,
            0,
            0x9000 | 3,
            0x5000 | 1,
            0x3fff_f000 | 3,
        ];
        map(&device.1, 0x2000, pages.into_iter());
        let piece = |first, entries, local| Scanout {
            first,
            entries,
            local,
        };
        assert_eq!(
            found(&device),
            [
                piece(0x2000, 2, Some(0x1000..0x3000)),
                piece(0x2003, 1, Some(0x9000..0xa000)),
                piece(0x2004, 2, None),
            ]
        );
        // In pieces all over, the last of many is all that is left.
        device.0.set(0x7_0190, 0x0063_00ff);
        map(&device.1, 0x2000, (0..100).map(|n| (200 - 2 * n) << 12 | 3));
        let all = found(&device);
        assert_eq!(all.len(), 32);
        assert_eq!(all[31], piece(0x201f, 69, Some(0x2000..0x8b000)));
    }

    proptest! {
        /// Whatever the registers hold, reported ranges are inside the GGTT and the allocated VRAM.
        #[test]
        fn nonsense_stays_within_bounds(
            registers in proptest::collection::vec((0u32..0x400, any::<u32>()), 0..40),
            surf in 0xfff0_0000u32..,
            entries in proptest::collection::vec(any::<u64>(), 0..256),
        ) {
            let device = device();
            light(&device.0, 1);
            for (at, value) in registers {
                device.0.set(0x7_1000 + 4 * (at & 0xff), value);
            }
            device.0.set(0x7_119c, surf);
            map(&device.1, surf >> 12, entries.into_iter());
            for scanout in found(&device) {
                let end = u64::from(scanout.first) + u64::from(scanout.entries);
                prop_assert!(scanout.entries > 0 && end <= 1 << 20);
                if let Some(local) = scanout.local {
                    prop_assert!(local.start < local.end && local.end <= 0x3fff_0000);
                }
            }
        }
    }
}

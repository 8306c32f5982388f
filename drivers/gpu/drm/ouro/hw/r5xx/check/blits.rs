// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The memory that a blit of the 2D engine accesses when register writes start it (§5.2.2; digest
//! §2.3, §3.3).
//!
//! A write of the size starts a blit. Both surfaces must have been set by then, and both rectangles
//! must be inside them; the checker does not rely on clip rectangles. The value of the corners
//! after a blit is not documented, so the next blit must set them again.
//!
//! Two bits of `DP_GUI_MASTER_CNTL` act when they are written: if bit 0 or 1 is clear, the write
//! loads the default surface, so the stream must set the surface again; bit 28 clears the functions
//! of `CLR_CMP_CNTL` (§5.2.2), which may be set again after it. It is not documented whether bit 28
//! also is a mode: the checker takes colour compare to be on if either reading has it on.

use super::{
    registers, require,
    state::State,
    surface::{self, is_aligned, Micro, Tiles},
    BoOffset, Checked, Cursor, Refused, RELOCATION_DWORDS,
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// `DP_GUI_MASTER_CNTL` (digest §2.3).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Control {
    /// Bit 0: the source surface is in its register.
    pub(super) src_pitch_offset: bool,
    /// Bit 1: the destination surface is in its register.
    pub(super) dst_pitch_offset: bool,
    #[bits(2)]
    __: u8,
    /// Bits 7:4: the brush.
    #[bits(4)]
    pub(super) brush: u8,
    /// Bits 11:8: code of the bytes per pixel.
    #[bits(4)]
    dst_type: u8,
    /// Bits 13:12: 3 for the destination's pixel format.
    #[bits(2)]
    src_type: u8,
    #[bits(2)]
    __: u8,
    /// Bits 23:16: raster operation.
    rop: u8,
    /// Bits 26:24: source; 2 for memory.
    #[bits(3)]
    src_load: u8,
    /// Bit 27: more kinds of sources.
    src_type_more: bool,
    /// Bit 28: clears the compare functions, and disables the compare.
    no_compare: bool,
    #[bits(3)]
    __: u8,
}
const_assert_eq!(core::mem::size_of::<Control>(), 4);

/// `CLR_CMP_CNTL`, and the effect of `DP_GUI_MASTER_CNTL` on it.
#[derive(Clone, Copy, Default)]
struct Compare {
    /// The value that was written.
    function: u32,
    /// Whether it was written after the last control that clears it.
    is_behind: bool,
}

impl Compare {
    /// Returns whether colour compare may be on.
    const fn is_on(self, control: Control) -> bool {
        self.function != 0 && (self.is_behind || !control.no_compare())
    }
}

/// A surface of the 2D engine.
#[derive(Clone, Copy)]
pub(super) struct Surface {
    place: BoOffset,
    /// Bytes from one row to the next.
    pitch: u32,
    tiles: Tiles,
}

/// State of the 2D engine, as the stream has written it.
#[derive(Clone, Copy)]
pub(super) struct Blit {
    /// `DP_GUI_MASTER_CNTL`.
    control: Control,
    compare: Compare,
    /// Source and destination.
    pub(super) surfaces: [Option<Surface>; 2],
    /// Their corners, as `SRC_Y_X` and `DST_Y_X` have them.
    pub(super) corners: [Option<u32>; 2],
    /// Whether columns go to the right, and rows down: by `DP_CNTL` alone, and by the last written
    /// one of its two registers. It is not documented that both registers set the same bits, so a
    /// blit must be inside by both. `None` behind a packet, which may change the registers.
    pub(super) directions: [Option<[bool; 2]>; 2],
}

impl Blit {
    /// The known state: no surfaces, no compare, to the right and down.
    pub(super) const fn new() -> Self {
        Self {
            control: Control::new(),
            compare: Compare {
                function: 0,
                is_behind: false,
            },
            surfaces: [None; 2],
            corners: [None; 2],
            directions: [Some([true; 2]); 2],
        }
    }

    /// Writes `DP_GUI_MASTER_CNTL`.
    pub(super) fn control(&mut self, control: Control) {
        let named = [control.src_pitch_offset(), control.dst_pitch_offset()];
        for (is_named, surface) in named.into_iter().zip(&mut self.surfaces) {
            if !is_named {
                *surface = None;
            }
        }
        if control.no_compare() {
            self.compare.is_behind = false;
        }
        self.control = control;
    }

    /// Marks the control, surfaces and directions as unknown: it is not documented which values the
    /// registers have behind a packet.
    pub(super) fn forget(&mut self) {
        self.control = Control::new();
        self.surfaces = [None; 2];
        self.directions = [None; 2];
    }
}

/// Number of coordinates that are not negative: they range from -8192 to 8191 (§5.2.2.7 to
/// §5.2.2.9).
const COORDINATES: u32 = 1 << 13;
/// Unit of a surface's offset in bytes.
const OFFSET_UNIT: u32 = 1024;
/// Unit of a pitch in bytes.
const PITCH_UNIT: u32 = 64;

impl Surface {
    /// Decodes the register: 31 blocks, 30 macro tiles, 29:22 pitch, 21:0 offset, with its
    /// relocation at `next`. Returns the surface and the register's value in the copy.
    pub(super) fn new(value: u32, next: usize, cursor: &mut Cursor<'_>) -> Checked<(Self, u32)> {
        let object = cursor.object(next)?;
        let offset = (value & 0x3f_ffff).checked_mul(OFFSET_UNIT);
        let (place, address) = BoOffset::new(&object, offset.ok_or(Refused::Offset)?)?;
        require(address.is_multiple_of(OFFSET_UNIT), Refused::Offset)?;
        let tiles = match cursor.knows_tiling {
            true => Tiles::from_fields(value >> 30 & 1, value >> 31)?,
            false => Tiles::of(object.tiling)?,
        };
        let (macro_tiles, micro) = tiles.fields();
        require(tiles.micro != Micro::Square, Refused::Tiling)?;
        let pitch = (value >> 22 & 0xff).wrapping_mul(PITCH_UNIT);
        let value =
            value & 0x3fc0_0000 | (address / OFFSET_UNIT) | (macro_tiles << 30) | (micro << 31);
        Ok((
            Self {
                place,
                pitch,
                tiles,
            },
            value,
        ))
    }

    /// Returns whether a rectangle from a corner on, in the given directions, is inside the
    /// surface.
    fn holds(
        &self,
        corner: u32,
        size: (u32, u32),
        directions: [bool; 2],
        pixel: u32,
    ) -> Checked<()> {
        let end = |from: u32, length: u32, forward: bool| {
            // 14 bits, the highest is the sign: no coordinate may be negative.
            require(from < COORDINATES, Refused::Surface)?;
            let end = match forward {
                true => from.wrapping_add(length),
                false => {
                    require(length <= from.wrapping_add(1), Refused::Surface)?;
                    from.wrapping_add(1)
                }
            };
            // The coordinate behind 8191 may be -8192.
            require(end <= COORDINATES, Refused::Surface)?;
            Ok(end)
        };
        let columns = end(corner & 0xffff, size.0, directions[0])?;
        let rows = end(corner >> 16, size.1, directions[1])?;
        require(columns.wrapping_mul(pixel) <= self.pitch, Refused::Surface)?;
        let aligned = is_aligned(self.place.offset, self.tiles.alignment());
        require(aligned, Refused::Surface)?;
        let bytes = surface::bytes(self.pitch / pixel, rows, pixel, self.tiles)?;
        self.place.holds(bytes, Refused::Surface)
    }
}

/// `DP_CNTL`: columns go to the right; rows go down.
const DP_CNTL: [u32; 2] = [1 << 0, 1 << 1];
/// `DP_CNTL_XDIR_YDIR_YMAJOR`: the same.
const DP_CNTL_DIRECTIONS: [u32; 2] = [1 << 31, 1 << 15];

/// Decodes the directions of a register that must have no other bits.
fn directions(value: u32, bits: [u32; 2]) -> Checked<[bool; 2]> {
    require(value & !(bits[0] | bits[1]) == 0, Refused::Bits)?;
    Ok(bits.map(|bit| value & bit != 0))
}

impl State {
    /// [`State::write`] of a register of the 2D engine.
    pub(super) fn write_2d(
        &mut self,
        register: u32,
        at: usize,
        value: u32,
        next: usize,
        cursor: &mut Cursor<'_>,
    ) -> Checked<usize> {
        let n = |first: u32| (register.wrapping_sub(first) / 4) as usize;
        match register {
            0x1428 | 0x142c => {
                let (surface, value) = Surface::new(value, next, cursor)?;
                let place = self.blit.surfaces.get_mut(n(0x1428));
                *place.ok_or(Refused::Register)? = Some(surface);
                cursor.put(at, value)?;
                return Ok(next.wrapping_add(RELOCATION_DWORDS));
            }
            0x1434 | 0x1438 => {
                let corner = self.blit.corners.get_mut(n(0x1434));
                *corner.ok_or(Refused::Register)? = Some(value);
            }
            0x143c => self.blit(value & 0xffff, value >> 16)?,
            0x1598 => self.blit(value >> 16, value & 0xffff)?,
            0x146c => {
                require(value & !registers::BLIT_CONTROL == 0, Refused::Bits)?;
                self.blit.control(Control::from_bits(value));
            }
            0x15c0 => {
                require(value & !registers::BLIT_COMPARE == 0, Refused::Bits)?;
                self.blit.compare = Compare {
                    function: value,
                    is_behind: true,
                };
            }
            // Only the directions of both registers are allowed: other bits tile the destination
            // (4:3 of the first).
            0x16c0 => self.blit.directions = [Some(directions(value, DP_CNTL)?); 2],
            0x16d0 => {
                self.blit.directions[1] = Some(directions(value, DP_CNTL_DIRECTIONS)?);
            }
            _ => return Err(Refused::Register),
        }
        Ok(next)
    }

    /// Checks a blit of this many columns and rows.
    pub(super) fn blit(&mut self, columns: u32, rows: u32) -> Checked<()> {
        let blit = &mut self.blit;
        let control = blit.control;
        let size = |v: u32| require(v != 0 && v < 1 << 13, Refused::BlitSize);
        size(columns).and(size(rows))?;
        let pixel = match control.dst_type() {
            2 => 1,
            3 | 4 => 2,
            6 => 4,
            _ => return Err(Refused::BlitControl),
        };
        let plain = control.dst_pitch_offset() && !control.src_type_more();
        let plain = plain && control.src_load() == 2 && control.src_type() == 3;
        require(plain, Refused::BlitControl)?;
        let [source, destination] = blit.surfaces;
        let [from, to] = core::mem::take(&mut blit.corners);
        let size = (columns, rows);
        let to_surface = destination.ok_or(Refused::Surface)?;
        let to = to.ok_or(Refused::Surface)?;
        for directions in blit.directions {
            let directions = directions.ok_or(Refused::BlitControl)?;
            to_surface.holds(to, size, directions, pixel)?;
        }
        // Bits of the ROP code where the source makes a difference.
        let rop = control.rop();
        let depends = ((rop >> 2) ^ rop) & 0x33 != 0;
        if depends || blit.compare.is_on(control) {
            require(control.src_pitch_offset(), Refused::BlitControl)?;
            let surface = source.ok_or(Refused::Surface)?;
            // The 2D engine does not support micro blocks in a source (digest §5.7).
            require(surface.tiles.micro == Micro::Linear, Refused::Tiling)?;
            let from = from.ok_or(Refused::Surface)?;
            for directions in blit.directions.into_iter().flatten() {
                surface.holds(from, size, directions, pixel)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;

    /// A fill (ROP F0) or copy (CC) of `size` (rows, columns) from object 0 to object 1, corners
    /// (0, 0).
    fn blit(control: u32, size: u32) -> Stream {
        new()
            .set(0x146c, &[control])
            .set(0x1428, &[4 << 22])
            .object(0)
            .set(0x142c, &[4 << 22])
            .object(1)
            .set(0x16c0, &[3])
            .set(0x1434, &[0, 0])
            .set(0x143c, &[size])
    }

    /// Digest §2.3: copy of 32 bits a pixel, both surfaces named, no brush, no comparing, no mask.
    const COPY: u32 = 0x52cc_36f3;
    /// The same with the pattern only.
    const FILL: u32 = 0x52f0_36d3;
    const ONE: u32 = 1 << 16 | 1;

    #[test]
    fn a_source_counts_only_where_it_is_used() {
        assert!(blit(COPY, ONE).passes(&[256, 256]));
        assert!(!blit(COPY, ONE).passes(&[255, 256]));
        assert!(blit(FILL, ONE).passes(&[255, 256]));
        // Colour compare reads the source as well, unless bit 28 disables it.
        let compares = new().set(0x15c0, &[4]);
        assert!(compares.clone().and(blit(FILL, ONE)).passes(&[255, 256]));
        assert!(!compares
            .and(blit(FILL & !(1 << 28), ONE))
            .passes(&[255, 256]));
        // All codes: the source matters if the result differs between its two values, bits 5:4 and
        // 7:6, 1:0 and 3:2.
        for rop in 0..256u32 {
            let with = rop >> 2 & 3 | (rop >> 6 & 3) << 2;
            let without = rop & 3 | (rop >> 4 & 3) << 2;
            let stream = blit(COPY & !0xff_0000 | rop << 16, ONE);
            assert_eq!(stream.passes(&[255, 256]), with == without, "{rop:x}");
        }
    }

    #[test]
    fn controls_that_reach_elsewhere_are_refused() {
        let both = [1 << 20, 1 << 20];
        assert!(blit(COPY, ONE).passes(&both));
        for (what, control) in [
            ("default destination", COPY & !2),
            ("default source", COPY & !1),
            ("reserved type", COPY & !0xf00),
            ("type of 3D", COPY & !0xf00 | 7 << 8),
            ("mono source", COPY & !0x3000),
            ("host data", COPY & !(7 << 24) | 3 << 24),
            ("more types", COPY | 1 << 27),
        ] {
            assert!(!blit(control, ONE).passes(&both), "{what}");
        }
        for size in [0, 1, 1 << 16, 0x2000 << 16 | 1, 1 << 16 | 0xffff] {
            assert!(!blit(COPY, size).passes(&both), "{size:x}");
        }
    }

    #[test]
    fn directions_move_the_rectangle() {
        // From (9, 4), 5 columns and 3 rows.
        let stream = |register: u32, directions: u32| {
            new()
                .set(0x146c, &[FILL])
                .set(0x142c, &[4 << 22])
                .object(0)
                .set(register, &[directions])
                .set(0x1438, &[4 << 16 | 9])
                .set(0x1598, &[5 << 16 | 3])
        };
        // Rows 4 to 6 going down, 2 to 4 going up. By the other register alone: both.
        for (register, down, up, rows) in
            [(0x16c0, 3, 1, 5), (0x16d0, 1 << 31 | 1 << 15, 1 << 31, 7)]
        {
            assert!(stream(register, down).passes(&[7 * 256]));
            assert!(!stream(register, down).passes(&[7 * 256 - 1]));
            assert!(stream(register, up).passes(&[rows * 256]));
            assert!(!stream(register, up).passes(&[rows * 256 - 1]));
        }
        // To the left, from column 9: ten columns, not eleven.
        let left = |columns: u32| {
            let stream = new().set(0x146c, &[FILL]).set(0x142c, &[4 << 22]).object(0);
            let stream = stream.set(0x16c0, &[2]).set(0x1438, &[9]);
            stream.set(0x1598, &[columns << 16 | 1])
        };
        assert!(left(10).passes(&[256]) && !left(11).passes(&[1 << 20]));
    }

    #[test]
    fn corners_are_told_each_time() {
        let once = blit(FILL, ONE);
        assert!(once.passes(&[256, 256]));
        assert!(!once.clone().set(0x143c, &[ONE]).passes(&[256, 256]));
        assert!(once
            .set(0x1438, &[0])
            .set(0x143c, &[ONE])
            .passes(&[256, 256]));
    }

    #[test]
    fn tiles_of_a_destination_are_whole_and_a_source_has_no_blocks() {
        let stream = |bits: u32| {
            let stream = new()
                .set(0x146c, &[FILL])
                .set(0x142c, &[4 << 22 | bits << 30])
                .object(0);
            stream
                .set(0x16c0, &[3])
                .set(0x1438, &[0])
                .set(0x143c, &[ONE])
        };
        // 256 bytes: 30 macro: 8 rows; 31 blocks: 2; both: 16.
        for (bits, rows) in [(1, 8), (2, 2), (3, 16)] {
            assert!(stream(bits).passes(&[256 * rows]));
            assert!(!stream(bits).passes(&[256 * rows - 1]));
        }
        let source = |bits: u32| {
            let stream = new().set(0x1428, &[4 << 22 | bits << 30]).object(0);
            blit(COPY, ONE)
                .and(stream)
                .set(0x1434, &[0, 0])
                .set(0x143c, &[ONE])
        };
        assert!(source(1).passes(&[2048, 256]) && !source(1).passes(&[2047, 256]));
        assert!(!source(2).passes(&[1 << 20, 256]));
    }
}

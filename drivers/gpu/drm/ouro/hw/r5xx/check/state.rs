// SPDX-License-Identifier: GPL-2.0
//! What the proof depends on: the registers that it needs, as a stream has written them so far.
//!
//! A stream begins with the values of the [known state](crate::r5xx::known): zero for all of them but the
//! pipes, and the targets that shaders put out nothing for.

use super::{
    blits::Blit,
    require,
    slot::{self, Kept},
    surface::Tiles,
    targets,
    vertices::{Array, MAX_ARRAYS},
    Checked, Cursor, Place, Refused, RELOCATION_DWORDS,
};

/// The state.
pub(super) struct State {
    /// Whether RV530's register is there.
    depth_pipes: bool,
    /// Registers that are values and nothing else.
    pub(super) kept: Kept,
    /// Where in the stream the scissor was said, if nothing was drawn since.
    scissor_at: Option<usize>,
    /// Where the four targets are, what samples are resolved to, and depth.
    pub(super) colours: [Option<Place>; 4],
    pub(super) resolved: Option<Place>,
    pub(super) depth: Option<Place>,
    pub(super) textures: [Option<Place>; 16],
    pub(super) arrays: [Array; MAX_ARRAYS],
    pub(super) array_count: usize,
    pub(super) blit: Blit,
}

/// [`slot::SCISSOR`]: the column.
const SCISSOR_X: u32 = 0x1fff;
impl State {
    /// The known state.
    pub(super) fn new(depth_pipes: bool) -> Self {
        let mut kept = Kept::new();
        kept.set(slot::PIPES, 0xf);
        for n in 1..4 {
            kept.set_nth(slot::OUT_FORMAT, n, targets::OUT_UNUSED);
        }
        Self {
            depth_pipes,
            kept,
            scissor_at: None,
            colours: [None; 4],
            resolved: None,
            depth: None,
            textures: [None; 16],
            arrays: [Array::default(); MAX_ARRAYS],
            array_count: 0,
            blit: Blit::default(),
        }
    }

    /// Something is drawn. The scissor must not go beyond the smallest pitch of a target: if it does, and was said for
    /// this draw first, it ends with the pitch in the copy. (Some clear more columns than a target has: what would
    /// lie behind the pitch is in rows that they clear as well.)
    pub(super) fn draws(&mut self, pitch: u32, cursor: &mut Cursor<'_>) -> Checked<()> {
        let said = self.scissor_at.take();
        let scissor = self.kept.get(slot::SCISSOR);
        if scissor & SCISSOR_X >= pitch {
            let scissor = scissor & !SCISSOR_X | pitch.wrapping_sub(1);
            self.kept.set(slot::SCISSOR, scissor);
            cursor.put(said.ok_or(Refused)?, scissor)?;
        }
        Ok(())
    }

    /// The dword at `at` of the stream is for a register that is more than a value which is kept: it takes a
    /// relocation, starts something, or is another one in the copy. Or it is refused. The next relocation would be at
    /// `next`; returns where the one after those that were taken would be.
    pub(super) fn write(
        &mut self,
        register: u32,
        at: usize,
        value: u32,
        next: usize,
        cursor: &mut Cursor<'_>,
    ) -> Checked<usize> {
        let behind = next.wrapping_add(RELOCATION_DWORDS);
        let n = |first: u32| (register.wrapping_sub(first) / 4) as usize;
        match register {
            0x43e4 => {
                self.scissor_at = Some(at);
                self.kept.set(slot::SCISSOR, value);
                Ok(next)
            }
            0x4540..=0x457c => {
                let object = cursor.object(next)?;
                let (place, address) = Place::new(&object, value & !0x1f)?;
                let flags = if cursor.knows_tiling {
                    value & 0x1f
                } else {
                    let (macro_tiles, micro) = Tiles::of(object.tiling)?.fields();
                    value & 3 | macro_tiles << 2 | micro << 3
                };
                // An address has no bits where the flags are.
                require(address & 0x1f == 0)?;
                *self.textures.get_mut(n(0x4540)).ok_or(Refused)? = Some(place);
                self.kept.set_nth(slot::TX_OFFSET, n(0x4540), flags);
                cursor.put(at, address | flags)?;
                Ok(behind)
            }
            0x4e28..=0x4e34 => {
                let place = self.colours.get_mut(n(0x4e28)).ok_or(Refused)?;
                relocated(place, at, value, next, cursor)
            }
            0x4e80 => relocated(&mut self.resolved, at, value, next, cursor),
            0x4f20 => relocated(&mut self.depth, at, value, next, cursor),
            0x4e38..=0x4e44 => self.tiled(slot::COLOUR_PITCH, n(0x4e38), at, value, next, cursor),
            0x4f24 => self.tiled(slot::DEPTH_PITCH, 0, at, value, next, cursor),
            0x4f5c => {
                // Each unit that is asked writes its count.
                let units = match self.depth_pipes {
                    true => self.kept.get(slot::DEPTH_UNITS) & 3,
                    false => self.kept.get(slot::PIPES) & 0xf,
                };
                let (place, address) = Place::new(&cursor.object(next)?, value)?;
                require(value.is_multiple_of(4))?;
                place.holds(u64::from(units.count_ones().max(1)).wrapping_mul(4))?;
                cursor.put(at, address)?;
                Ok(behind)
            }
            0x4be8 if self.depth_pipes => {
                self.kept.set(slot::DEPTH_UNITS, value);
                Ok(next)
            }
            // Whoever asks for a hierarchy does without.
            0x43a4 => {
                cursor.put(at, value & !1)?;
                Ok(next)
            }
            _ => self.write_2d(register, at, value, next, cursor),
        }
    }

    /// A register of pitch and tiles. It comes with a relocation, unless the stream knows the tiles better.
    fn tiled(
        &mut self,
        slot: u8,
        n: usize,
        at: usize,
        value: u32,
        mut next: usize,
        cursor: &mut Cursor<'_>,
    ) -> Checked<usize> {
        let mut pitch = value;
        if !cursor.knows_tiling {
            let tiles = Tiles::of(cursor.object(next)?.tiling)?;
            pitch = targets::with_tiles(value, tiles);
            next = next.wrapping_add(RELOCATION_DWORDS);
        }
        self.kept.set_nth(slot, n, pitch);
        cursor.put(at, pitch)?;
        Ok(next)
    }
}

/// A register that is an address.
fn relocated(
    place: &mut Option<Place>,
    at: usize,
    value: u32,
    next: usize,
    cursor: &mut Cursor<'_>,
) -> Checked<usize> {
    let (new, address) = Place::new(&cursor.object(next)?, value)?;
    *place = Some(new);
    cursor.put(at, address)?;
    Ok(next.wrapping_add(RELOCATION_DWORDS))
}

// SPDX-License-Identifier: GPL-2.0
//! What the proof depends on: the registers that it needs, as a stream has written them so far.
//!
//! A stream begins with the values of the [known state](crate::r5xx::known): zero for all of them but the
//! pipes.

use super::{
    blits::{Blit, Surface},
    require,
    surface::Tiles,
    targets::{self, Target},
    textures::Texture,
    vertices::{Array, MAX_ARRAYS},
    Checked, Cursor, Place, Refused,
};

/// The state.
pub(super) struct State {
    /// Whether RV530's register is there.
    depth_pipes: bool,
    /// `SC_SCISSOR1`: the last column 12:0 and row 25:13 that are drawn.
    pub(super) scissor: u32,
    /// Where in the stream that was said, if nothing was drawn since.
    scissor_at: Option<usize>,
    /// `GB_AA_CONFIG`.
    pub(super) samples: u32,
    /// `RB3D_CCTL`, `RB3D_BLENDCNTL`, `RB3D_COLOR_CHANNEL_MASK`.
    pub(super) colour_control: u32,
    pub(super) blend: u32,
    pub(super) channels: u32,
    /// The four targets.
    pub(super) colours: [Target; 4],
    /// `RB3D_AARESOLVE_CTL`, and where that goes.
    pub(super) resolve: u32,
    pub(super) resolved: Target,
    /// `ZB_CNTL`, `ZB_FORMAT`, `ZB_BW_CNTL`.
    pub(super) depth_control: u32,
    pub(super) depth_format: u32,
    pub(super) bandwidth: u32,
    pub(super) depth: Target,
    /// `TX_ENABLE`.
    pub(super) textures_on: u32,
    pub(super) textures: [Texture; 16],
    /// `VAP_VTX_SIZE`, `VAP_ALT_NUM_VERTICES`, `VAP_INDEX_OFFSET`, `VAP_VF_MIN_VTX_INDX`,
    /// `VAP_VF_MAX_VTX_INDX`.
    pub(super) vertex_size: u32,
    pub(super) vertices: u32,
    pub(super) index_offset: u32,
    pub(super) min_index: u32,
    pub(super) max_index: u32,
    pub(super) arrays: [Array; MAX_ARRAYS],
    pub(super) array_count: usize,
    /// Dwords of indices that the last draw waits for.
    pub(super) wanted_indices: Option<u32>,
    /// `SU_REG_DEST`, and `FG_ZBREG_DEST` of RV530.
    pipes: u32,
    depth_units: u32,
    pub(super) blit: Blit,
}

/// The last column and row that are drawn.
const SC_SCISSOR1: u32 = 0x43e4;
/// [`SC_SCISSOR1`]: the column.
const SCISSOR_X: u32 = 0x1fff;
/// `WAIT_UNTIL`: engines being idle or clean, which they will be. Others may never come.
const WAITS: u32 = 1 << 9 | 0x1f << 14 | 1 << 28;
/// `RB3D_CCTL`: compressed colour.
const COMPRESSED: u32 = 1 << 10;
/// `ZB_BW_CNTL`: hierarchy of depth, compression, fast clears: memory of the chip's own that is shared.
const HIERARCHY: u32 = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4;
/// `DP_CNTL`: columns go to the right; rows go down.
const DP_CNTL: [u32; 2] = [1 << 0, 1 << 1];
/// `DP_CNTL_XDIR_YDIR_YMAJOR`: the same.
const DP_CNTL_DIRECTIONS: [u32; 2] = [1 << 31, 1 << 15];

impl State {
    /// The known state.
    pub(super) fn new(depth_pipes: bool) -> Self {
        Self {
            depth_pipes,
            scissor: 0,
            scissor_at: None,
            samples: 0,
            colour_control: 0,
            blend: 0,
            channels: 0,
            colours: [Target::default(); 4],
            resolve: 0,
            resolved: Target::default(),
            depth_control: 0,
            depth_format: 0,
            bandwidth: 0,
            depth: Target::default(),
            textures_on: 0,
            textures: [Texture::default(); 16],
            vertex_size: 0,
            vertices: 0,
            index_offset: 0,
            min_index: 0,
            max_index: 0,
            arrays: [Array::default(); MAX_ARRAYS],
            array_count: 0,
            wanted_indices: None,
            pipes: 0xf,
            depth_units: 0,
            blit: Blit::default(),
        }
    }

    /// A register is written that is not one of [`free_from`](super::registers::free_from). Returns what is
    /// written in the copy.
    pub(super) fn write(
        &mut self,
        register: u32,
        value: u32,
        cursor: &mut Cursor<'_>,
    ) -> Checked<u32> {
        let n = |first: u32| (register.wrapping_sub(first) / 4) as usize;
        let kept = match register {
            0x2088 => &mut self.vertices,
            0x208c => &mut self.index_offset,
            0x20b4 => &mut self.vertex_size,
            0x2134 => &mut self.max_index,
            0x2138 => &mut self.min_index,
            0x4020 => &mut self.samples,
            0x42c8 => &mut self.pipes,
            0x43e4 => &mut self.scissor,
            0x4104 => &mut self.textures_on,
            0x4400..=0x443c => &mut self.textures.get_mut(n(0x4400)).ok_or(Refused)?.filter,
            0x4480..=0x44bc => &mut self.textures.get_mut(n(0x4480)).ok_or(Refused)?.size,
            0x44c0..=0x44fc => &mut self.textures.get_mut(n(0x44c0)).ok_or(Refused)?.format,
            0x4500..=0x453c => &mut self.textures.get_mut(n(0x4500)).ok_or(Refused)?.pitch,
            0x4be8 if self.depth_pipes => &mut self.depth_units,
            0x4e00 => {
                require(value & COMPRESSED == 0)?;
                &mut self.colour_control
            }
            0x4e04 => &mut self.blend,
            0x4e0c => &mut self.channels,
            0x4e84 => &mut self.resolved.pitch,
            0x4e88 => &mut self.resolve,
            0x4f00 => &mut self.depth_control,
            0x4f10 => &mut self.depth_format,
            0x4f1c => {
                require(value & HIERARCHY == 0)?;
                &mut self.bandwidth
            }
            0x146c => &mut self.blit.control,
            0x15c0 => &mut self.blit.compare,
            _ => return self.write_other(register, value, cursor),
        };
        *kept = value;
        Ok(value)
    }

    /// The dword at `at` of the stream was for a register.
    pub(super) fn wrote(&mut self, register: u32, at: usize) {
        if register == SC_SCISSOR1 {
            self.scissor_at = Some(at);
        }
    }

    /// Something is drawn. The scissor must not go beyond the pitch of a target: if it does, and was said for this
    /// draw first, it ends with the pitch in the copy. (Some clear more columns than a target has: what would
    /// lie behind the pitch is in rows that they clear as well.)
    pub(super) fn draws(&mut self, cursor: &mut Cursor<'_>) -> Checked<()> {
        let said = self.scissor_at.take();
        let pitch = self.narrowest();
        if pitch != 0 && self.scissor & SCISSOR_X >= pitch {
            self.scissor = self.scissor & !SCISSOR_X | pitch.wrapping_sub(1);
            cursor.put(said.ok_or(Refused)?, self.scissor)?;
        }
        Ok(())
    }

    /// Registers that take a relocation, start something, or are let pass with some values only.
    fn write_other(&mut self, register: u32, value: u32, cursor: &mut Cursor<'_>) -> Checked<u32> {
        let n = |first: u32| (register.wrapping_sub(first) / 4) as usize;
        match register {
            0x4540..=0x457c => {
                let texture = self.textures.get_mut(n(0x4540)).ok_or(Refused)?;
                let object = cursor.object()?;
                let (place, address) = Place::new(&object, value & !0x1f)?;
                let flags = if cursor.objects.stream_knows_tiling() {
                    value & 0x1f
                } else {
                    let (macro_tiles, micro) = Tiles::of(object.tiling)?.fields();
                    value & 3 | macro_tiles << 2 | micro << 3
                };
                // An address has no bits where the flags are.
                require(address & 0x1f == 0)?;
                texture.place = Some(place);
                texture.offset = address | flags;
                Ok(texture.offset)
            }
            0x4e28..=0x4e34 => {
                let target = self.colours.get_mut(n(0x4e28)).ok_or(Refused)?;
                relocated(&mut target.place, value, cursor)
            }
            0x4e80 => relocated(&mut self.resolved.place, value, cursor),
            0x4f20 => relocated(&mut self.depth.place, value, cursor),
            0x4e38..=0x4e44 => {
                let target = self.colours.get_mut(n(0x4e38)).ok_or(Refused)?;
                tiled(&mut target.pitch, value, cursor)
            }
            0x4f24 => tiled(&mut self.depth.pitch, value, cursor),
            0x4f5c => {
                // Each unit that is asked writes its count.
                let units = match self.depth_pipes {
                    true => self.depth_units & 3,
                    false => self.pipes & 0xf,
                };
                let (place, address) = Place::new(&cursor.object()?, value)?;
                require(value.is_multiple_of(4))?;
                place.holds(u64::from(units.count_ones().max(1)).wrapping_mul(4))?;
                Ok(address)
            }
            0x1428 | 0x142c => {
                let (surface, value) = Surface::new(value, cursor)?;
                *self.blit.surfaces.get_mut(n(0x1428)).ok_or(Refused)? = Some(surface);
                Ok(value)
            }
            0x1434 | 0x1438 => {
                *self.blit.corners.get_mut(n(0x1434)).ok_or(Refused)? = Some(value);
                Ok(value)
            }
            0x143c => self.blit(value & 0xffff, value >> 16).map(|()| value),
            0x1598 => self.blit(value >> 16, value & 0xffff).map(|()| value),
            0x16c0 => {
                self.blit.directions = DP_CNTL.map(|bit| value & bit != 0);
                Ok(value)
            }
            0x16d0 => {
                self.blit.directions = DP_CNTL_DIRECTIONS.map(|bit| value & bit != 0);
                Ok(value)
            }
            0x1720 => require(value & !WAITS == 0).map(|()| value),
            0x172c => require(value <= 3).map(|()| value),
            // Whoever asks for a hierarchy does without.
            0x43a4 => Ok(value & !1),
            0x4028 | 0x4f30 | 0x4f34 | 0x4f44 | 0x4f54 => require(value == 0).map(|()| value),
            _ => Err(Refused),
        }
    }
}

/// A register that is an address.
fn relocated(place: &mut Option<Place>, value: u32, cursor: &mut Cursor<'_>) -> Checked<u32> {
    let (new, address) = Place::new(&cursor.object()?, value)?;
    *place = Some(new);
    Ok(address)
}

/// A register of pitch and tiles. It comes with a relocation, unless the stream knows the tiles better.
fn tiled(pitch: &mut u32, value: u32, cursor: &mut Cursor<'_>) -> Checked<u32> {
    *pitch = value;
    if !cursor.objects.stream_knows_tiling() {
        let tiles = Tiles::of(cursor.object()?.tiling)?;
        *pitch = targets::with_tiles(value, tiles);
    }
    Ok(*pitch)
}

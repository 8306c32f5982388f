// SPDX-License-Identifier: GPL-2.0
//! Arrays of vertices, indices, and the draws that use them (§5.2.3, §6.2, §6.4.1; digest §2.6, §4.7).

use super::{
    super::packets::PacketType, require, slot, state::State, BoOffset, Checked, Cursor, Refused,
    RELOCATION_DWORDS,
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Arrays that there are (row J6).
pub(super) const MAX_ARRAYS: usize = 16;

/// An array: its element of vertex `v` is at `place + v * stride`, both in dwords.
#[derive(Clone, Copy, Default)]
pub(super) struct Array {
    place: BoOffset,
    /// Dwords of an element.
    count: u8,
    /// Dwords from one element to the next; 0 for one that all share.
    stride: u8,
}

/// `VAP_VF_CNTL`: what is drawn (digest §2.6). Bits without a name here are refused: reserved ones; 12, by which
/// vertices are not used again; 13, by which an index is two, of which nobody tells what is clamped.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Draw {
    /// Bits 3:0: points, lines, ...; 0 for nothing.
    #[bits(4)]
    primitive: u8,
    /// Bits 5:4: where vertices come from.
    #[bits(2)]
    walk: u8,
    #[bits(5)]
    low: u8,
    /// Bit 11: indices have 32 bits.
    wide: bool,
    #[bits(2)]
    dual: u8,
    /// Bit 14: their number is in `VAP_ALT_NUM_VERTICES`.
    alternative: bool,
    high: bool,
    /// Bits 31:16: how many vertices.
    vertices: u16,
}
const_assert_eq!(core::mem::size_of::<Draw>(), 4);

/// [`Draw::walk`]: indices.
const WALK_INDICES: u8 = 1;
/// [`Draw::walk`]: one after the other.
const WALK_LIST: u8 = 2;
/// [`Draw::walk`]: in the packet.
const WALK_EMBEDDED: u8 = 3;

/// [`Draw::primitive`], one bit each: points to strips of triangles (1 to 6), loops, quads and polygons (12 to 15).
/// Not 0, by which nothing is started, 7, which takes words of flags with its indices, nor 8 to 11, which are none.
const PRIMITIVES: u32 = 0x7e | 0xf000;

/// Header of `INDX_BUFFER`, the packet that hands a draw the indices in a buffer: three dwords.
const INDX_BUFFER: u32 = 0xc002_3300;
/// First dword of `INDX_BUFFER`: all to one register (31), skip nothing (18:16), the port of indices (12:0).
/// Nothing else may be written by that way (weakness 1).
const TO_INDEX_PORT: u32 = 0x8000_0810;
/// Dwords that the size of `INDX_BUFFER` can say: 23 bits (digest §2.6).
const MAX_INDEX_DWORDS: u32 = (1 << 23) - 1;
/// Dwords of vertices that the document gives `3D_DRAW_IMMD_2`.
const MAX_EMBEDDED: usize = 16_381;

impl State {
    /// `3D_LOAD_VBPNTR`.
    pub(super) fn arrays(
        &mut self,
        cursor: &mut Cursor<'_>,
        at: usize,
        len: usize,
    ) -> Checked<usize> {
        let number = *cursor.body(at, len)?.first().ok_or(Refused::Length)?;
        // Bit 5 asks to fetch early.
        require(number & !0x3f == 0, Refused::Array)?;
        let number = (number & 0x1f) as usize;
        require((1..=MAX_ARRAYS).contains(&number), Refused::Array)?;
        // A dword of what they are for each two, and one of where for each one.
        let dwords = 1 + number + number.div_ceil(2);
        require(len == dwords, Refused::Length)?;
        let mut next = at.wrapping_add(len);
        let mut arrays = [Array::default(); MAX_ARRAYS];
        for (n, array) in arrays.iter_mut().take(number).enumerate() {
            let pair = at + 1 + n / 2 * 3;
            let what = *cursor.stream.get(pair).ok_or(Refused::Truncated)?;
            let what = if n % 2 == 0 { what } else { what >> 16 };
            // Two fields of seven bits.
            require(what & 0x8080 == 0, Refused::Array)?;
            let place_at = pair + 1 + n % 2;
            let offset = *cursor.stream.get(place_at).ok_or(Refused::Truncated)?;
            require(offset.is_multiple_of(4), Refused::Array)?;
            let object = cursor.object(next)?;
            next = next.wrapping_add(RELOCATION_DWORDS);
            let (place, address) = BoOffset::new(&object, offset)?;
            cursor.put(place_at, address)?;
            *array = Array {
                place,
                count: (what & 0x7f) as u8,
                stride: (what >> 8 & 0x7f) as u8,
            };
            require(array.count != 0, Refused::Array)?;
        }
        self.arrays = arrays;
        self.array_count = number;
        Ok(next)
    }

    /// How many vertices a draw has. One less, as the document says (§6.4.1), would make the chip wait for ever
    /// (digest garble 8).
    fn count(&self, draw: Draw) -> Checked<u32> {
        let count = match draw.alternative() {
            true => self.kept.get(slot::VERTICES),
            false => draw.vertices().into(),
        };
        let unknown = u8::from(draw.high()) | draw.low() | draw.dual();
        let known = unknown == 0 && PRIMITIVES & 1 << draw.primitive() != 0;
        require(count != 0 && known, Refused::Draw)?;
        Ok(count)
    }

    /// Whether all arrays have their vertices up to `last`, whether the offset of indices is added before
    /// they are clamped or after (which is not told), and none is before the first.
    fn fetched(&self, first: u32, last: u32) -> Checked<()> {
        // 25 bits, with a sign.
        let offset = (self.kept.get(slot::INDEX_OFFSET) << 7) as i32 >> 7;
        let begins = i64::from(first) + i64::from(offset) >= 0;
        require(begins && self.array_count != 0, Refused::Array)?;
        let last = u64::from(last).wrapping_add(u64::from(offset.max(0).unsigned_abs()));
        for array in self.arrays.iter().take(self.array_count) {
            let bytes = last
                .checked_mul(array.stride.into())
                .and_then(|d| d.checked_add(array.count.into()))
                .and_then(|d| d.checked_mul(4))
                .ok_or(Refused::Array)?;
            array.place.holds(bytes, Refused::Array)?;
        }
        Ok(())
    }

    /// What every draw touches beside its vertices.
    fn surroundings(&mut self, cursor: &mut Cursor<'_>, at: usize) -> Checked<()> {
        let pitch = self.targets()?;
        self.draws(cursor, at, pitch)?;
        self.sampled()
    }

    /// `3D_DRAW_VBUF` at `at`, as the others are: `VF_CNTL` alone.
    pub(super) fn draw_list(
        &mut self,
        cursor: &mut Cursor<'_>,
        at: usize,
        body: &[u32],
    ) -> Checked<()> {
        let draw = Draw::from_bits(*body.first().ok_or(Refused::Length)?);
        require(draw.walk() == WALK_LIST, Refused::Draw)?;
        let count = self.count(draw)?;
        // Whether these are clamped, too, is not told: then a limit from below is a vertex as well.
        self.fetched(0, count.wrapping_sub(1).max(self.kept.get(slot::MIN_INDEX)))?;
        self.surroundings(cursor, at)
    }

    /// `3D_DRAW_IMMD`: `VF_CNTL`, and the vertices.
    pub(super) fn draw_embedded(
        &mut self,
        cursor: &mut Cursor<'_>,
        at: usize,
        body: &[u32],
    ) -> Checked<()> {
        let (draw, vertices) = body.split_first().ok_or(Refused::Length)?;
        let draw = Draw::from_bits(*draw);
        let fits = vertices.len() <= MAX_EMBEDDED;
        require(draw.walk() == WALK_EMBEDDED && fits, Refused::Draw)?;
        let size = self.kept.get(slot::VERTEX_SIZE);
        require(size != 0, Refused::Draw)?;
        let dwords = u64::from(self.count(draw)?).wrapping_mul(size.into());
        require(dwords == vertices.len() as u64, Refused::Length)?;
        self.surroundings(cursor, at)
    }

    /// `3D_DRAW_INDX`: `VF_CNTL`, and the indices. If there are none, they are in a buffer that the next packet
    /// names, at `next`: nothing but fillers comes between.
    pub(super) fn draw_indexed(
        &mut self,
        cursor: &mut Cursor<'_>,
        at: usize,
        body: &[u32],
        next: usize,
    ) -> Checked<usize> {
        let (draw, indices) = body.split_first().ok_or(Refused::Length)?;
        let draw = Draw::from_bits(*draw);
        require(draw.walk() == WALK_INDICES, Refused::Draw)?;
        let count = self.count(draw)?;
        let dwords = if draw.wide() {
            count
        } else {
            count.div_ceil(2)
        };
        // The chip clamps indices to these two (§6.2), in either order.
        let limits = [
            self.kept.get(slot::MIN_INDEX),
            self.kept.get(slot::MAX_INDEX),
        ];
        self.fetched(limits[0].min(limits[1]), limits[0].max(limits[1]))?;
        self.surroundings(cursor, at)?;
        if indices.is_empty() {
            return from_buffer(cursor, next, dwords);
        }
        require(dwords as usize == indices.len(), Refused::Indices)?;
        Ok(next)
    }
}

/// `INDX_BUFFER`: so many dwords of indices, for the draw before it.
fn from_buffer(cursor: &mut Cursor<'_>, mut at: usize, wanted: u32) -> Checked<usize> {
    loop {
        let header = *cursor.stream.get(at).ok_or(Refused::Indices)?;
        at = at.wrapping_add(1);
        match PacketType::of(header) {
            PacketType::Filler => {}
            _ if header == INDX_BUFFER => break,
            _ => return Err(Refused::Indices),
        }
    }
    let [to, offset, size] = *cursor.body(at, 3)? else {
        return Err(Refused::Truncated);
    };
    let relocation = at.wrapping_add(3);
    let whole = to == TO_INDEX_PORT && offset.is_multiple_of(4) && size == wanted;
    require(whole && size <= MAX_INDEX_DWORDS, Refused::Indices)?;
    let object = cursor.object(relocation)?;
    let (place, address) = BoOffset::new(&object, offset)?;
    place.holds(u64::from(size).wrapping_mul(4), Refused::Indices)?;
    cursor.put(at.wrapping_add(1), address)?;
    Ok(relocation.wrapping_add(RELOCATION_DWORDS))
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Arrays of vertices, indices, and the draws that use them (§5.2.3, §6.2, §6.4.1; digest §2.6,
//! §4.7).

use super::{
    super::packets::{command, PacketType, FILLER},
    opcode, require, slot,
    state::{last_write, State},
    BoOffset, Checked, Cursor, Refused, RELOCATION_DWORDS,
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Number of arrays (row J6).
pub(super) const MAX_ARRAYS: usize = 16;

/// An array: the element of vertex `v` is at `place + v * stride`, both in dwords.
#[derive(Clone, Copy, Default)]
pub(super) struct Array {
    place: BoOffset,
    /// Dwords of an element.
    count: u8,
    /// Dwords from one element to the next; 0 if all vertices share one.
    stride: u8,
}

/// `VAP_VF_CNTL`: the draw (digest §2.6). Other bits are refused: reserved ones; 12, which disables
/// the reuse of vertices; 13, which packs two indices, where it is not documented how they are
/// clamped.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Draw {
    /// Bits 3:0: points, lines, ...; 0 for none.
    #[bits(4)]
    primitive: u8,
    /// Bits 5:4: source of the vertices.
    #[bits(2)]
    walk: u8,
    #[bits(5)]
    low: u8,
    /// Bit 11: indices have 32 bits.
    wide: bool,
    #[bits(2)]
    dual: u8,
    /// Bit 14: the number of vertices is in `VAP_ALT_NUM_VERTICES`.
    alternative: bool,
    high: bool,
    /// Bits 31:16: number of vertices.
    vertices: u16,
}
const_assert_eq!(core::mem::size_of::<Draw>(), 4);

/// [`Draw::walk`]: indices.
const WALK_INDICES: u8 = 1;
/// [`Draw::walk`]: consecutive vertices.
const WALK_LIST: u8 = 2;
/// [`Draw::walk`]: in the packet.
const WALK_EMBEDDED: u8 = 3;

/// [`Draw::primitive`], one bit each: points to strips of triangles (1 to 6), loops, quads and
/// polygons (12 to 15). Not 0, which draws nothing; 7, which has flag words with its indices; nor
/// the reserved 8 to 11.
const PRIMITIVES: u32 = 0x7e | 0xf000;

/// Header of `INDX_BUFFER`, the packet with the address of a draw's index buffer: three dwords.
const INDX_BUFFER: u32 = 0xc002_3300;
/// First dword of `INDX_BUFFER`: all dwords to one register (31), skip none (18:16), the index port
/// (12:0). No other register may be written this way (weakness 1).
const TO_INDEX_PORT: u32 = 0x8000_0810;
/// Most dwords of `INDX_BUFFER`: 23 bits (digest §2.6).
const MAX_INDEX_DWORDS: u32 = (1 << 23) - 1;
/// Index of `VAP_VF_MAX_VTX_INDX`.
const MAX_INDEX: usize = 0x2134 / 4;
/// Most dwords behind the header of a draw with vertices or indices (§5.2.3.2, §5.2.3.3, §5.2.3.5,
/// §5.2.3.6): 16,381 of them behind `VF_CNTL`, 16,380 behind a format and `VF_CNTL`.
pub(super) const MAX_DRAW: usize = 16_382;

impl State {
    /// Checks `3D_LOAD_VBPNTR`.
    pub(super) fn arrays(
        &mut self,
        cursor: &mut Cursor<'_>,
        at: usize,
        len: usize,
    ) -> Checked<usize> {
        let number = *cursor.body(at, len)?.first().ok_or(Refused::Length)?;
        // Bit 5 enables early fetch.
        require(number & !0x3f == 0, Refused::Array)?;
        let number = (number & 0x1f) as usize;
        require((1..=MAX_ARRAYS).contains(&number), Refused::Array)?;
        // A dword of sizes for each two arrays, and an address for each array. If the last one is
        // alone, Mesa's r300 without the vertex engine sends an address for the other as well: the
        // copy has a filler there, and the documented length.
        let dwords = 1 + number + number.div_ceil(2);
        let pairs = 1 + number.div_ceil(2) * 3;
        require(len == dwords || len == pairs, Refused::Length)?;
        if len > dwords {
            require(cursor.body(at, len)?.last() == Some(&0), Refused::Array)?;
            cursor.put(at.wrapping_add(dwords), FILLER)?;
            let header = command(opcode::LOAD_VBPNTR, dwords).ok_or(Refused::Length)?;
            cursor.put(at.wrapping_sub(1), header)?;
        }
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

    /// Returns the number of vertices of a draw. The number less one, as the document has it
    /// (§6.4.1), would make the chip wait without end (digest garble 8).
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

    /// Returns the index offset: 25 bits, with a sign.
    fn index_offset(&self) -> i32 {
        (self.kept.get(slot::INDEX_OFFSET) << 7) as i32 >> 7
    }

    /// Checks that all arrays have their vertices up to `last`.
    fn have(&self, last: u64) -> Checked<()> {
        require(self.array_count != 0, Refused::Array)?;
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

    /// Checks that all arrays have the vertices of a list of `count`. It is not documented whether
    /// the chip adds the index offset to them, and whether it clamps them: a smallest index counts
    /// as a vertex, and none may be before the first.
    fn have_list(&self, count: u32) -> Checked<()> {
        let last = count.wrapping_sub(1).max(self.kept.get(slot::MIN_INDEX));
        let offset = u64::try_from(self.index_offset()).map_err(|_| Refused::Array)?;
        self.have(u64::from(last).wrapping_add(offset))
    }

    /// Lowers the greatest index, `most`, to that of the last vertex that all arrays have, for the
    /// draw at `at`, and returns it (row K3). The limit must have been set for this draw first, as
    /// for the [scissor](State::draws). (Mesa computes it from the size of a BO and the stride,
    /// and does not subtract the offset of an element inside of a vertex.)
    fn lower_limit(&mut self, cursor: &mut Cursor<'_>, at: usize, most: u32) -> Checked<u32> {
        let mut last = most;
        for array in self.arrays.iter().take(self.array_count) {
            let dwords = (array.place.room / 4).checked_sub(array.count.into());
            let dwords = dwords.ok_or(Refused::Array)?;
            if let Some(vertices) = dwords.checked_div(array.stride.into()) {
                last = last.min(vertices);
            }
        }
        let said = last_write(cursor.stream, self.drawn, at, MAX_INDEX);
        cursor.put(said.ok_or(Refused::Array)?, last)?;
        self.kept.set(slot::MAX_INDEX, last);
        Ok(last)
    }

    /// Checks the targets and textures of a draw.
    fn surroundings(&mut self, cursor: &mut Cursor<'_>, at: usize) -> Checked<()> {
        let pitch = self.targets()?;
        self.draws(cursor, at, pitch)?;
        self.sampled()
    }

    /// Checks `3D_DRAW_VBUF` at `at`, like the others: `VF_CNTL` only.
    pub(super) fn draw_list(
        &mut self,
        cursor: &mut Cursor<'_>,
        at: usize,
        body: &[u32],
    ) -> Checked<()> {
        let draw = Draw::from_bits(*body.first().ok_or(Refused::Length)?);
        require(draw.walk() == WALK_LIST, Refused::Draw)?;
        let count = self.count(draw)?;
        self.have_list(count)?;
        self.surroundings(cursor, at)
    }

    /// Checks `3D_DRAW_IMMD`: `VF_CNTL`, and the vertices.
    pub(super) fn draw_embedded(
        &mut self,
        cursor: &mut Cursor<'_>,
        at: usize,
        body: &[u32],
    ) -> Checked<()> {
        let (draw, vertices) = body.split_first().ok_or(Refused::Length)?;
        let draw = Draw::from_bits(*draw);
        require(draw.walk() == WALK_EMBEDDED, Refused::Draw)?;
        let size = self.kept.get(slot::VERTEX_SIZE);
        require(size != 0, Refused::Draw)?;
        let dwords = u64::from(self.count(draw)?).wrapping_mul(size.into());
        require(dwords == vertices.len() as u64, Refused::Length)?;
        self.surroundings(cursor, at)
    }

    /// Checks `3D_DRAW_INDX`: `VF_CNTL`, and the indices. Without indices, the next packet, at
    /// `next`, has the address of a buffer with them; only fillers may come before it.
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
        // The chip adds the index offset, which may be negative, and then clamps the sum to these
        // two limits (§6.2; digest of 3D §2.1; witness RW39). Either may be the larger.
        let (least, most) = (
            self.kept.get(slot::MIN_INDEX),
            self.kept.get(slot::MAX_INDEX),
        );
        if self.have(least.max(most).into()).is_err() {
            let most = self.lower_limit(cursor, at, most)?;
            self.have(least.max(most).into())?;
        }
        self.surroundings(cursor, at)?;
        if indices.is_empty() {
            return from_buffer(cursor, next, dwords);
        }
        require(dwords as usize == indices.len(), Refused::Indices)?;
        Ok(next)
    }
}

/// Checks `INDX_BUFFER`: `wanted` dwords of indices, for the preceding draw.
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

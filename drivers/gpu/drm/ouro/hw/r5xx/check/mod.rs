// SPDX-License-Identifier: GPL-2.0
//! The checker of command streams: what user space may run.
//!
//! The chip confines nobody: a command reaches every register and, through them, all memory. So a stream
//! is read packet by packet, and a copy of it is made that may run, or it is refused as a whole. In the copy
//! every address is that of an object the stream's sender named, plus an offset inside it; and all that a
//! draw or a blit can touch from there, with what the registers say at that moment, has been proved to be
//! inside the object.
//!
//! * Packets of type 0 write registers that [`registers`] and [`State::write`] list, and of those the bits that are
//!   listed. What the proof depends on is kept in [`State`], beginning with the value that the
//!   [known state](super::known) gives it, so that nothing which a stream did not say can matter.
//! * Two registers are masks of the pipes that later writes of registers reach ([`masks`]). While one is not full,
//!   nothing passes but what a query of counts needs: all pipes hold what [`State`] says.
//! * Packets of type 3 are those in [`Checker::check`]'s list: draws, their arrays and indices,
//!   [`rectangles`], and the one that does nothing and carries relocations. There is none that hides a
//!   stream or writes a register by another way. Types 1 and 2: refused, and a filler.
//! * A relocation is a `NOP` of one dword behind the packet that needs it: the place, in dwords, of a
//!   record of four in the sender's list (digest §5.7). The copy has fillers there.
//!
//! The copy begins as the stream, and what differs is written over it. Most of a stream is packets of one register
//! each that need nothing but their value kept: [`plain`] goes over those, with one look into a table for each.
//!
//! [`surface`] knows how much memory rows of tiles take; [`targets`], [`textures`], [`vertices`] and
//! [`blits`] decide for what the unit of that name touches. Nothing is allocated, and a stream takes time in
//! proportion to its length (a draw: to the arrays and textures it uses).

mod blits;
#[cfg(test)]
mod by_hand;
#[cfg(test)]
mod holes;
mod masks;
#[cfg(test)]
mod random;
mod rectangles;
mod refused;
mod registers;
#[cfg(test)]
mod rules;
mod slot;
mod state;
mod surface;
mod targets;
#[cfg(test)]
mod tests;
mod textures;
mod vertices;

use super::packets::{CommandHeader, PacketType, RegisterHeader, FILLER};
use crate::checker::{Checker, Object, Resolve, Verdict};
use rectangles::Rectangles;
use refused::{require, Checked, Refused};
use registers::{Rules, REGISTERS};
use slot::Kept;
use state::State;

/// Opcodes of type 3 (digest §2.2).
mod opcode {
    /// Does nothing.
    pub(super) const NOP: u8 = 0x10;
    /// Draws from arrays, one vertex after the other; with a dword of format that is not used.
    pub(super) const DRAW_VBUF: u8 = 0x28;
    /// Draws vertices that follow.
    pub(super) const DRAW_IMMD: u8 = 0x29;
    /// Draws from arrays by indices.
    pub(super) const DRAW_INDX: u8 = 0x2a;
    /// Says where the arrays are.
    pub(super) const LOAD_VBPNTR: u8 = 0x2f;
    /// As the first three, without that dword.
    pub(super) const DRAW_VBUF_2: u8 = 0x34;
    /// See [`DRAW_VBUF_2`].
    pub(super) const DRAW_IMMD_2: u8 = 0x35;
    /// See [`DRAW_VBUF_2`].
    pub(super) const DRAW_INDX_2: u8 = 0x36;
    /// Copies a rectangle.
    pub(super) const BITBLT: u8 = 0x92;
    /// Fills rectangles.
    pub(super) const PAINT_MULTI: u8 = 0x9a;
    /// Copies rectangles.
    pub(super) const BITBLT_MULTI: u8 = 0x9b;
}

/// Header of the packet that carries a relocation.
const RELOCATION: u32 = 0xc000_1000;
/// Bits of a header of type 0 that are the first register.
const INDEX_BITS: u32 = 13;
/// Dwords of that packet.
const RELOCATION_DWORDS: usize = 2;
/// Dwords of a record in the sender's list.
const RECORD_DWORDS: u32 = 4;

/// The stream and its copy. How far they have come is not here: it goes from call to return, in the processor's
/// registers, as each packet has to wait for it.
struct Cursor<'a> {
    stream: &'a [u32],
    objects: &'a dyn Resolve,
    /// What [`Resolve::stream_knows_tiling`] says.
    knows_tiling: bool,
    /// The copy. It begins as the whole stream, and gets what is to be different; if the stream is refused,
    /// nobody takes it.
    out: &'a mut [u32],
}

impl<'a> Cursor<'a> {
    /// Dwords `at..at + len`, which belong to the packet at hand.
    fn body(&self, at: usize, len: usize) -> Checked<&'a [u32]> {
        let end = at.checked_add(len).ok_or(Refused::Truncated)?;
        self.stream.get(at..end).ok_or(Refused::Truncated)
    }

    /// Writes a dword of the copy.
    fn put(&mut self, at: usize, value: u32) -> Checked<()> {
        *self.out.get_mut(at).ok_or(Refused::Truncated)? = value;
        Ok(())
    }

    /// Takes the relocation at `at`, behind the packet at hand.
    fn object(&mut self, at: usize) -> Checked<Object> {
        let packet = self.stream.get(at..).and_then(|rest| rest.first_chunk());
        let [header, place]: [u32; RELOCATION_DWORDS] = *packet.ok_or(Refused::Relocation)?;
        let names = header == RELOCATION && place.is_multiple_of(RECORD_DWORDS);
        require(names, Refused::Relocation)?;
        let packet = self
            .out
            .get_mut(at..)
            .and_then(|rest| rest.first_chunk_mut());
        *packet.ok_or(Refused::Relocation)? = [FILLER; RELOCATION_DWORDS];
        let object = self.objects.object(place / RECORD_DWORDS);
        object.ok_or(Refused::Relocation)
    }
}

/// An object with an offset that is inside it; at first, none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct BoOffset {
    /// Bytes from there to the object's end, or less if they are more than can be said; zero if there is no object.
    room: u32,
    /// The offset, for its alignment.
    offset: u32,
}

impl BoOffset {
    /// Says where an offset into an object is, and the address there.
    fn new(object: &Object, offset: u32) -> Checked<(Self, u32)> {
        let room = object.bytes.checked_sub(offset.into());
        let room = room.filter(|room| *room != 0).ok_or(Refused::Offset)?;
        // The object's last byte has an address, and so have all before it.
        let end = object.addr.0.checked_add(object.bytes);
        require(end.is_some_and(|end| end <= 1 << 32), Refused::Offset)?;
        let address = (object.addr.0 as u32).wrapping_add(offset);
        let room = room.min(u32::MAX.into()) as u32;
        Ok((Self { room, offset }, address))
    }

    /// Whether so many bytes are there, as a rule asks for.
    fn holds(&self, bytes: u64, rule: Refused) -> Checked<()> {
        require(self.room != 0 && bytes <= self.room.into(), rule)
    }
}

/// The checker, as one family has it.
pub(super) struct Streams {
    /// Whether a register of RV530 is there.
    depth_pipes: bool,
}

/// For RV530.
pub(super) static WITH_DEPTH_PIPES: Streams = Streams { depth_pipes: true };
/// For all others.
pub(super) static STREAMS: Streams = Streams { depth_pipes: false };

impl Checker for Streams {
    fn check(&self, stream: &[u32], objects: &dyn Resolve, out: &mut [u32]) -> Verdict {
        self.check_with(plain, stream, objects, out)
    }
}

/// Where the first packet is at which there is more to do than what was done.
type Skim = fn(&mut State, &[u32], usize) -> usize;

impl Streams {
    /// [`Checker::check`]. Nearly all packets are done with in `skim`, and the same would come out without it.
    #[inline]
    fn check_with(
        &self,
        skim: Skim,
        stream: &[u32],
        objects: &dyn Resolve,
        out: &mut [u32],
    ) -> Verdict {
        let Some(out) = out.get_mut(..stream.len()) else {
            return reject(0, Refused::Truncated);
        };
        for (to, from) in out.iter_mut().zip(stream) {
            *to = *from;
        }
        let knows_tiling = objects.stream_knows_tiling();
        let mut cursor = Cursor {
            stream,
            objects,
            knows_tiling,
            out,
        };
        let mut state = State::new(self.depth_pipes, knows_tiling);
        let mut next = 0;
        loop {
            let at = match state.masks.are_full() {
                true => skim(&mut state, stream, next),
                false => next,
            };
            let Some(header) = stream.get(at) else { break };
            match packet(&mut state, &mut cursor, at.wrapping_add(1), *header) {
                Ok(behind) => next = behind,
                Err(rule) => return reject(at, rule),
            }
        }
        // The request's own flushes come behind.
        match state.masks.are_full() {
            true => Verdict::Copy(stream.len()),
            false => reject(stream.len(), Refused::PipeMask),
        }
    }
}

fn reject(at: usize, rule: Refused) -> Verdict {
    Verdict::Reject {
        at,
        rule: rule.name(),
    }
}

/// Goes over packets of type 0 that need no more than their bits to be compared and their values to be kept: of up to
/// four registers, or of any number in one row of the list; and over fillers and relocations that nobody took. All masks are full. Returns where the first other packet begins, or the stream ends.
///
/// Not inlined, so that what it needs is in the processor's registers: a stream's time is spent here.
#[inline(never)]
fn plain(state: &mut State, stream: &[u32], mut at: usize) -> usize {
    let [_, values @ ..] = stream else {
        return at;
    };
    let State { kept, rules, .. } = state;
    while let (Some(value), Some(header)) = (values.get(at), stream.get(at)) {
        // A header with nothing in it but the register: one dword follows (§5.1.1).
        if (*header as usize) < REGISTERS {
            if !rules.at(*header).keep(*value, kept) {
                break;
            }
            at = at.wrapping_add(2);
            continue;
        }
        // Two registers, or up to four: as above, the processor need not wait for the count to go on.
        let behind = match header >> INDEX_BITS {
            8 => keep::<2>(kept, rules, *header, stream, at),
            16 => keep::<3>(kept, rules, *header, stream, at),
            24 => keep::<4>(kept, rules, *header, stream, at),
            _ => pass(rules, *header, stream, at),
        };
        match behind {
            Some(behind) => at = behind,
            None => break,
        }
    }
    at
}

/// Keeps what the packet at `at` gives `N` registers, and returns where the next one begins; or nothing if there is
/// more to do for one of them. (Those before it are kept then, as they will be once more.)
#[inline(always)]
fn keep<const N: usize>(
    kept: &mut Kept,
    rules: &Rules,
    header: u32,
    stream: &[u32],
    at: usize,
) -> Option<usize> {
    let values: &[u32; N] = stream.get(at.wrapping_add(1)..)?.first_chunk()?;
    let behind = at.wrapping_add(1 + N);
    let rule = rules.at(header);
    if rule.length() >= N {
        // All are in one row, so one mask is for all of them, and their slots follow each other.
        if !rule.passes(values.iter().fold(0, |all, value| all | value)) {
            return None;
        }
        kept.set_all(rule.slot(), values);
        return Some(behind);
    }
    for (register, value) in (header..).zip(values) {
        if !rules.at(register).keep(*value, kept) {
            return None;
        }
    }
    Some(behind)
}

/// Where the next packet begins, if the one at `at` has any number of registers of one row whose bits are all right
/// and whose values nobody asks for, or none.
#[inline(always)]
fn pass(rules: &Rules, header: u32, stream: &[u32], at: usize) -> Option<usize> {
    if header >> 30 != 0 {
        return match header {
            RELOCATION => Some(at.wrapping_add(RELOCATION_DWORDS)),
            _ if PacketType::of(header) == PacketType::Filler => Some(at.wrapping_add(1)),
            _ => None,
        };
    }
    // Nothing is above the count.
    let more = (header >> 16) as usize;
    let rule = rules.at(header);
    let first = at.wrapping_add(1);
    let behind = first.wrapping_add(more).wrapping_add(1);
    let header = RegisterHeader::from_bits(header);
    let in_row = if header.one() { 0 } else { more } < rule.length();
    let values = stream.get(first..behind)?;
    let is_free = rule.slot() == slot::NOBODYS && in_row;
    let passes = header.reserved() == 0 && is_free && rule.pass_all(values);
    passes.then_some(behind)
}

/// Checks a packet whose body begins at `at`, and its relocations. Returns where the next one begins, as those do
/// that follow.
fn packet(state: &mut State, cursor: &mut Cursor<'_>, at: usize, header: u32) -> Checked<usize> {
    if (header as usize) < REGISTERS {
        let value = *cursor.stream.get(at).ok_or(Refused::Truncated)?;
        return register(state, cursor, header, at, value, at.wrapping_add(1));
    }
    match PacketType::of(header) {
        PacketType::Filler => Ok(at),
        PacketType::Two => Err(Refused::Header),
        PacketType::Registers => {
            write_registers(state, cursor, at, RegisterHeader::from_bits(header))
        }
        PacketType::Command => command(state, cursor, at, CommandHeader::from_bits(header)),
    }
}

/// Type 0.
fn write_registers(
    state: &mut State,
    cursor: &mut Cursor<'_>,
    first: usize,
    header: RegisterHeader,
) -> Checked<usize> {
    require(header.reserved() == 0, Refused::Header)?;
    let count = usize::from(header.count_less_one()).wrapping_add(1);
    let body = cursor.body(first, count)?;
    // Relocations are taken from behind the packet while it is read.
    let mut next = first.wrapping_add(count);
    let mut index = u32::from(header.index());
    let step = u32::from(!header.one());
    for (at, value) in (first..).zip(body) {
        next = register(state, cursor, index, at, *value, next)?;
        index = index.wrapping_add(step);
    }
    Ok(next)
}

/// The dword at `at` is for a register. The next relocation would be at `next`; returns where the one after those
/// that were taken would be.
#[inline]
fn register(
    state: &mut State,
    cursor: &mut Cursor<'_>,
    index: u32,
    at: usize,
    value: u32,
    next: usize,
) -> Checked<usize> {
    require((index as usize) < REGISTERS, Refused::Register)?;
    let register = index.wrapping_mul(4);
    state.masks.pass(register)?;
    if state.rules.at(index).keep(value, &mut state.kept) {
        return Ok(next);
    }
    state.write(register, at, value, next, cursor)
}

/// Type 3.
fn command(
    state: &mut State,
    cursor: &mut Cursor<'_>,
    at: usize,
    header: CommandHeader,
) -> Checked<usize> {
    let len = usize::from(header.count_less_one()).wrapping_add(1);
    require(header.reserved() == 0, Refused::Header)?;
    let is_nop = header.opcode() == opcode::NOP;
    require(is_nop || state.masks.are_full(), Refused::PipeMask)?;
    let body = cursor.body(at, len)?;
    let (start, next) = (at.wrapping_sub(1), at.wrapping_add(len));
    // Behind the dword that is not used, if there is one.
    let draw = match header.opcode() {
        opcode::DRAW_VBUF | opcode::DRAW_IMMD | opcode::DRAW_INDX => {
            body.get(1..).ok_or(Refused::Length)?
        }
        _ => body,
    };
    match header.opcode() {
        opcode::NOP => {}
        opcode::LOAD_VBPNTR => return state.arrays(cursor, at, len),
        opcode::DRAW_VBUF | opcode::DRAW_VBUF_2 => {
            require(draw.len() == 1, Refused::Length)?;
            state.draw_list(cursor, start, draw)?;
        }
        opcode::DRAW_IMMD | opcode::DRAW_IMMD_2 => {
            state.draw_embedded(cursor, start, draw)?;
        }
        opcode::DRAW_INDX | opcode::DRAW_INDX_2 => {
            return state.draw_indexed(cursor, start, draw, next);
        }
        opcode::PAINT_MULTI => return state.rectangles(cursor, at, len, Rectangles::Paint),
        opcode::BITBLT => return state.rectangles(cursor, at, len, Rectangles::Copy(1)),
        opcode::BITBLT_MULTI => {
            return state.rectangles(cursor, at, len, Rectangles::Copy(usize::MAX));
        }
        _ => return Err(Refused::Opcode),
    }
    Ok(next)
}

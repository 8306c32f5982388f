// SPDX-License-Identifier: GPL-2.0
//! The checker of command streams: what user space may run.
//!
//! The chip confines nobody: a command reaches every register and, through them, all memory. So a stream
//! is read packet by packet, and a copy of it is made that may run, or it is refused as a whole. In the copy
//! every address is that of an object the stream's sender named, plus an offset inside it; and all that a
//! draw or a blit can touch from there, with what the registers say at that moment, has been proved to be
//! inside the object.
//!
//! * Packets of type 0 write registers that [`registers`] lists, and no others. Those that the proof depends
//!   on are kept in [`State`]; each of them begins with the value that the
//!   [known state](super::known) gives it, so that nothing which a stream did not say can matter.
//! * Packets of type 3 are those in [`Checker::check`]'s list: draws, their arrays and indices,
//!   [`rectangles`], and the one that does nothing and carries relocations. There is none that hides a
//!   stream or writes a register by another way. Types 1 and 2: refused, and a filler.
//! * A relocation is a `NOP` of one dword behind the packet that needs it: the place, in dwords, of a
//!   record of four in the sender's list (digest §5.7). The copy has fillers there.
//!
//! [`surface`] knows how much memory rows of tiles take; [`targets`], [`textures`], [`vertices`] and
//! [`blits`] decide for what the unit of that name touches. Nothing is allocated, and a stream takes time in
//! proportion to its length (a draw: to the arrays and textures it uses).

mod blits;
#[cfg(test)]
mod random;
mod rectangles;
mod registers;
#[cfg(test)]
mod rules;
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
use state::State;

/// What a packet is refused for does not matter to anybody but who debugs: the offset says where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Refused;

/// Whether to go on.
type Checked<T> = Result<T, Refused>;

/// `Ok` if it is so.
fn require(is_so: bool) -> Checked<()> {
    if is_so {
        Ok(())
    } else {
        Err(Refused)
    }
}

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
    /// Hands the draw before it the indices in a buffer.
    pub(super) const INDX_BUFFER: u8 = 0x33;
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
/// Dwords of a record in the sender's list.
const RECORD_DWORDS: u32 = 4;

/// The stream and its copy, and how far they have come.
struct Cursor<'a> {
    stream: &'a [u32],
    objects: &'a dyn Resolve,
    out: &'a mut [u32],
    /// The first dword that is not of the packet at hand, or of its relocations.
    next: usize,
}

impl Cursor<'_> {
    /// Takes a dword over as it is.
    fn take(&mut self) -> Checked<u32> {
        let value = *self.stream.get(self.next).ok_or(Refused)?;
        self.put(self.next, value)?;
        self.next = self.next.checked_add(1).ok_or(Refused)?;
        Ok(value)
    }

    /// Takes dwords over as they are, up to `end`.
    fn take_to(&mut self, end: usize) -> Checked<()> {
        self.copy(self.next, end)?;
        self.next = end;
        Ok(())
    }

    /// Dwords `from..to` go into the copy as they are.
    fn copy(&mut self, from: usize, to: usize) -> Checked<()> {
        let source = self.stream.get(from..to).ok_or(Refused)?;
        let out = self.out.get_mut(from..to).ok_or(Refused)?;
        for (to, from) in out.iter_mut().zip(source) {
            *to = *from;
        }
        Ok(())
    }

    /// Dwords `at..at + len`, which belong to the packet at hand.
    fn body(&self, at: usize, len: usize) -> Checked<&[u32]> {
        let end = at.checked_add(len).ok_or(Refused)?;
        self.stream.get(at..end).ok_or(Refused)
    }

    /// Writes a dword of the copy.
    fn put(&mut self, at: usize, value: u32) -> Checked<()> {
        *self.out.get_mut(at).ok_or(Refused)? = value;
        Ok(())
    }

    /// Takes the next relocation, behind the packet at hand.
    fn object(&mut self) -> Checked<Object> {
        let at = self.next;
        require(self.stream.get(at) == Some(&RELOCATION))?;
        let place = *self.stream.get(at.wrapping_add(1)).ok_or(Refused)?;
        require(place.is_multiple_of(RECORD_DWORDS))?;
        self.put(at, FILLER)?;
        self.put(at.wrapping_add(1), FILLER)?;
        self.next = at.wrapping_add(2);
        self.objects.object(place / RECORD_DWORDS).ok_or(Refused)
    }
}

/// An object with an offset that is inside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    /// Bytes from there to the object's end.
    room: u64,
    /// The offset, for its alignment.
    offset: u32,
}

impl Place {
    /// Says where an offset into an object is, and the address there.
    fn new(object: &Object, offset: u32) -> Checked<(Self, u32)> {
        let room = object.bytes.checked_sub(offset.into()).ok_or(Refused)?;
        require(room != 0)?;
        let address = object.addr.0.checked_add(offset.into()).ok_or(Refused)?;
        // The object's last byte has an address as well.
        let last = address.checked_add(room.wrapping_sub(1)).ok_or(Refused)?;
        require(u32::try_from(last).is_ok())?;
        let place = Self { room, offset };
        Ok((place, u32::try_from(address).map_err(|_| Refused)?))
    }

    /// Whether so many bytes are there.
    fn holds(&self, bytes: u64) -> Checked<()> {
        require(bytes <= self.room)
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
        let mut cursor = Cursor {
            stream,
            objects,
            out,
            next: 0,
        };
        let mut state = State::new(self.depth_pipes);
        while cursor.next < stream.len() {
            let at = cursor.next;
            if packet(&mut state, &mut cursor).is_err() {
                return Verdict::Reject(at);
            }
        }
        if state.draw_is_open() {
            // The engine would wait for its indices.
            return Verdict::Reject(stream.len());
        }
        Verdict::Copy(stream.len())
    }
}

/// Checks the next packet and its relocations.
fn packet(state: &mut State, cursor: &mut Cursor<'_>) -> Checked<()> {
    let header = cursor.take()?;
    match PacketType::of(header) {
        PacketType::Filler => Ok(()),
        PacketType::Two => Err(Refused),
        PacketType::Registers => write_registers(state, cursor, RegisterHeader::from_bits(header)),
        PacketType::Command => command(state, cursor, CommandHeader::from_bits(header)),
    }
}

/// Type 0.
fn write_registers(
    state: &mut State,
    cursor: &mut Cursor<'_>,
    header: RegisterHeader,
) -> Checked<()> {
    let count = usize::from(header.count_less_one()).wrapping_add(1);
    require(header.reserved() == 0 && !state.draw_is_open())?;
    let first = cursor.next;
    let end = first.checked_add(count).ok_or(Refused)?;
    // Relocations are taken from behind the packet while it is read.
    cursor.next = end;
    let mut register = u32::from(header.index()).wrapping_mul(4);
    let step = if header.one() { 0 } else { 4 };
    let mut at = first;
    while at < end {
        // Most dwords go to registers of which any value is harmless: those are copied together.
        let free = registers::free_from(register, step, end.wrapping_sub(at));
        if free != 0 {
            let next = at.checked_add(free).ok_or(Refused)?;
            cursor.copy(at, next)?;
            register = register.wrapping_add(step.wrapping_mul(free as u32));
            at = next;
            continue;
        }
        let value = *cursor.stream.get(at).ok_or(Refused)?;
        let value = state.write(register, value, cursor)?;
        cursor.put(at, value)?;
        state.wrote(register, at);
        register = register.wrapping_add(step);
        at = at.wrapping_add(1);
    }
    Ok(())
}

/// Type 3.
fn command(state: &mut State, cursor: &mut Cursor<'_>, header: CommandHeader) -> Checked<()> {
    let len = usize::from(header.count_less_one()).wrapping_add(1);
    require(header.reserved() == 0)?;
    let at = cursor.next;
    cursor.take_to(at.checked_add(len).ok_or(Refused)?)?;
    if header.opcode() == opcode::INDX_BUFFER {
        return state.indices(cursor, at, len);
    }
    // Nothing comes between a draw and its indices.
    require(!state.draw_is_open())?;
    // Dwords before the one that says what is drawn.
    let skip = match header.opcode() {
        opcode::DRAW_VBUF | opcode::DRAW_IMMD | opcode::DRAW_INDX => 1,
        _ => 0,
    };
    match header.opcode() {
        opcode::NOP => Ok(()),
        opcode::LOAD_VBPNTR => state.arrays(cursor, at, len),
        opcode::DRAW_VBUF | opcode::DRAW_VBUF_2 => {
            require(len == skip + 1)?;
            state.draws(cursor)?;
            state.draw_list(cursor.body(at, len)?.get(skip..).ok_or(Refused)?)
        }
        opcode::DRAW_IMMD | opcode::DRAW_IMMD_2 => {
            state.draws(cursor)?;
            state.draw_embedded(cursor.body(at, len)?.get(skip..).ok_or(Refused)?)
        }
        opcode::DRAW_INDX | opcode::DRAW_INDX_2 => {
            state.draws(cursor)?;
            state.draw_indexed(cursor.body(at, len)?.get(skip..).ok_or(Refused)?)
        }
        opcode::PAINT_MULTI => state.rectangles(cursor, at, len, Rectangles::Paint),
        opcode::BITBLT => state.rectangles(cursor, at, len, Rectangles::Copy(1)),
        opcode::BITBLT_MULTI => state.rectangles(cursor, at, len, Rectangles::Copy(usize::MAX)),
        _ => Err(Refused),
    }
}

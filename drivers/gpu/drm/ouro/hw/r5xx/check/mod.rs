// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The checker of command streams from user space.
//!
//! The chip has no protection: a command can write every register and, through the registers,
//! access all memory. So the checker reads a stream packet by packet. It either lists the patches
//! that make a copy which may run, or refuses the whole stream. In the copy, every address is that
//! of a BO in the client's list plus an offset inside the BO, and the checker has proved that all
//! memory that a draw or a blit can access from there, with the register values at that point, is
//! inside the BO.
//!
//! * Packets of type 0 write registers that [`registers`] and [`State::write`] list, and only the
//!   listed bits. The registers that the proof depends on are kept in [`State`], which begins with
//!   the values of the [known state](super::known), so that no state from before the stream
//!   matters.
//! * Registers of targets take effect at once, also for a draw in flight: behind a draw they may be
//!   written after a flush and a wait only ([`in_flight`]).
//! * Two registers are masks of the pipes that later register writes reach ([`masks`]). While a
//!   mask is not full, only the registers of an occlusion query may be written: so all pipes have
//!   the state in [`State`].
//! * Packets of type 3 are those in [`Checker::check`]'s list: draws, their arrays and indices,
//!   [`rectangles`], and the `NOP`, which carries relocations. None of them contains another stream
//!   or writes a register indirectly. Type 1 is refused, type 2 is a filler.
//! * A relocation is a `NOP` with one dword after the packet that needs it: the offset in dwords of
//!   a record of four dwords in the client's list (digest §5.7). It is a `NOP` in the copy, too.
//!
//! Most packets of a stream write one register whose value is only kept: [`plain`] handles those,
//! with one table lookup each.
//!
//! [`surface`] computes the memory that rows of tiles take; [`targets`], [`textures`], [`vertices`]
//! and [`blits`] check the accesses of their unit. The checker allocates nothing, and its time is
//! proportional to the length of the stream (for a draw: to the arrays and textures that it uses).

mod blits;
#[cfg(test)]
mod by_hand;
#[cfg(test)]
mod holes;
mod in_flight;
#[cfg(test)]
mod layouts;
mod masks;
#[cfg(test)]
mod multisampling;
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

use super::packets::{CommandHeader, PacketType, RegisterHeader};
use crate::checker::{Checker, Object, Patch, Resolve, Verdict};
use rectangles::Rectangles;
use refused::{require, Checked, Refused};
use registers::{Rules, Work, REGISTERS};
use slot::Kept;
use state::State;

/// Opcodes of type 3 (digest §2.2).
mod opcode {
    /// No operation.
    pub(super) const NOP: u8 = 0x10;
    /// Draws consecutive vertices from arrays; has a dword with a format that is not used.
    pub(super) const DRAW_VBUF: u8 = 0x28;
    /// Draws vertices that are in the packet.
    pub(super) const DRAW_IMMD: u8 = 0x29;
    /// Draws from arrays by indices.
    pub(super) const DRAW_INDX: u8 = 0x2a;
    /// Sets the addresses of the arrays.
    pub(super) const LOAD_VBPNTR: u8 = 0x2f;
    /// Same as [`DRAW_VBUF`], without the format dword.
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
/// Dwords of the packet that carries a relocation.
const RELOCATION_DWORDS: usize = 2;
/// Dwords of a record in the client's list.
const RECORD_DWORDS: u32 = 4;

/// The stream and its patches. The position is passed from call to return instead, to keep it in a
/// CPU register: each packet has to wait for it.
struct Cursor<'a> {
    stream: &'a [u32],
    objects: &'a dyn Resolve,
    /// Result of [`Resolve::stream_knows_tiling`].
    knows_tiling: bool,
    /// The dwords that differ in the copy: the first `patched`.
    patches: &'a mut [Patch],
    patched: usize,
}

impl<'a> Cursor<'a> {
    /// Returns dwords `at..at + len`, which belong to the current packet.
    fn body(&self, at: usize, len: usize) -> Checked<&'a [u32]> {
        let end = at.checked_add(len).ok_or(Refused::Truncated)?;
        self.stream.get(at..end).ok_or(Refused::Truncated)
    }

    /// Patches a dword.
    fn put(&mut self, at: usize, value: u32) -> Checked<()> {
        let patch = self.patches.get_mut(self.patched);
        let at = at as u32;
        *patch.ok_or(Refused::Patches)? = Patch { at, value };
        self.patched = self.patched.wrapping_add(1);
        Ok(())
    }

    /// Resolves the relocation at `at`, behind the current packet.
    fn object(&self, at: usize) -> Checked<Object> {
        let packet = self.stream.get(at..).and_then(|rest| rest.first_chunk());
        let [header, place]: [u32; RELOCATION_DWORDS] = *packet.ok_or(Refused::Relocation)?;
        let names = header == RELOCATION && place.is_multiple_of(RECORD_DWORDS);
        require(names, Refused::Relocation)?;
        let object = self.objects.object(place / RECORD_DWORDS);
        object.ok_or(Refused::Relocation)
    }
}

/// A BO and an offset inside it; initially none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct BoOffset {
    /// Bytes from the offset to the BO's end, saturated; zero if there is no BO.
    room: u32,
    /// The offset, for its alignment.
    offset: u32,
}

impl BoOffset {
    /// Returns an offset into a BO, and its address.
    fn new(object: &Object, offset: u32) -> Checked<(Self, u32)> {
        let room = object.bytes.checked_sub(offset.into());
        let room = room.filter(|room| *room != 0).ok_or(Refused::Offset)?;
        // If the BO's last byte has an address in the field, so have all bytes before it.
        let end = object.addr.0.checked_add(object.bytes);
        require(end.is_some_and(|end| end <= 1 << 32), Refused::Offset)?;
        let address = (object.addr.0 as u32).wrapping_add(offset);
        let room = room.min(u32::MAX.into()) as u32;
        Ok((Self { room, offset }, address))
    }

    /// Fails with `rule` if the BO has fewer than `bytes` bytes from the offset on.
    fn holds(&self, bytes: u64, rule: Refused) -> Checked<()> {
        require(self.room != 0 && bytes <= self.room.into(), rule)
    }
}

/// The checker, for one family.
pub(super) struct Streams {
    /// Whether the chip has RV530's mask of units of depth.
    depth_pipes: bool,
}

/// For RV530.
pub(super) static WITH_DEPTH_PIPES: Streams = Streams { depth_pipes: true };
/// For all other families.
pub(super) static STREAMS: Streams = Streams { depth_pipes: false };

impl Checker for Streams {
    fn check(&self, stream: &[u32], objects: &dyn Resolve, patches: &mut [Patch]) -> Verdict {
        self.check_with(plain, stream, objects, patches)
    }
}

/// A function that skips packets that need no further work, and returns the place of the first
/// other one.
type Skim = fn(&mut State, &[u32], usize) -> usize;

impl Streams {
    /// [`Checker::check`]. `skim` handles nearly all packets; the result does not depend on it.
    #[inline]
    fn check_with(
        &self,
        skim: Skim,
        stream: &[u32],
        objects: &dyn Resolve,
        patches: &mut [Patch],
    ) -> Verdict {
        let knows_tiling = objects.stream_knows_tiling();
        let mut cursor = Cursor {
            stream,
            objects,
            knows_tiling,
            patches,
            patched: 0,
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
        // The request's own flushes follow.
        match state.masks.are_full() {
            true => Verdict::Passes {
                dwords: stream.len(),
                patches: cursor.patched,
            },
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

/// Handles type-0 packets whose values are only compared with the allowed bits and kept: packets of
/// up to four registers, or of any number in one row of the list; also fillers, and relocations
/// that no packet has taken. All masks must be full. Returns the place of the first other packet,
/// or the end of the stream.
///
/// Not inlined, so that its variables are in CPU registers: a check spends most of its time here.
#[inline(never)]
fn plain(state: &mut State, stream: &[u32], mut at: usize) -> usize {
    let [_, values @ ..] = stream else {
        return at;
    };
    let State {
        kept, rules, work, ..
    } = state;
    let (rules, work) = (*rules, *work);
    let packet = |at: usize| Some((*stream.get(at)?, *values.get(at)?));
    while let Some((mut header, mut value)) = packet(at) {
        // A header with the register only: one dword follows (§5.1.1). What follows that is looked
        // at here, too: most are of this kind, and for the CPU it is a branch of its own.
        if (header as usize) < REGISTERS {
            if !rules.at(header).keep(value, kept, work) {
                return at;
            }
            at = at.wrapping_add(2);
            match packet(at) {
                Some(next) => (header, value) = next,
                None => return at,
            }
            if (header as usize) < REGISTERS {
                if !rules.at(header).keep(value, kept, work) {
                    return at;
                }
                at = at.wrapping_add(2);
                continue;
            }
        }
        // Two registers, or up to four: as above, the CPU can go on before it has computed the
        // count.
        let dwords = match header >> INDEX_BITS {
            8 if keep::<2>(kept, rules, work, header, stream, at) => 3,
            16 if keep::<3>(kept, rules, work, header, stream, at) => 4,
            24 if keep::<4>(kept, rules, work, header, stream, at) => 5,
            8 | 16 | 24 => return at,
            _ => match pass(rules, work, header, stream, at) {
                Some(dwords) => dwords,
                None => return at,
            },
        };
        at = at.wrapping_add(dwords);
    }
    at
}

/// Keeps the values that the packet at `at` writes to `N` registers; returns whether it did, which
/// it does not if one of the registers needs further work. (Values before that one are kept then,
/// and are kept again later.)
#[inline(always)]
fn keep<const N: usize>(
    kept: &mut Kept,
    rules: &Rules,
    work: Work,
    header: u32,
    stream: &[u32],
    at: usize,
) -> bool {
    let values = stream.get(at.wrapping_add(1)..);
    let Some(values) = values.and_then(|values| values.first_chunk::<N>()) else {
        return false;
    };
    let rule = rules.at(header);
    if rule.length() >= N {
        // All registers are in one row, so they share one mask, and have consecutive slots.
        let all = values.iter().fold(0, |all, value| all | value);
        let passes = rule.passes(all, work);
        if passes {
            kept.set_all(rule.slot(), values);
        }
        return passes;
    }
    let mut writes = (header..).zip(values);
    writes.all(|(register, value)| rules.at(register).keep(*value, kept, work))
}

/// Returns the dwords of the packet at `at`, if it writes any number of registers of one row whose
/// bits are allowed and whose values no rule needs, or no registers.
#[inline(always)]
fn pass(rules: &Rules, work: Work, header: u32, stream: &[u32], at: usize) -> Option<usize> {
    if header >> 30 != 0 {
        return match header {
            RELOCATION => Some(RELOCATION_DWORDS),
            _ if PacketType::of(header) == PacketType::Filler => Some(1),
            _ => None,
        };
    }
    // The header has no bits above the count.
    let more = (header >> 16) as usize;
    let rule = rules.at(header);
    let dwords = more.wrapping_add(2);
    let header = RegisterHeader::from_bits(header);
    let in_row = if header.one() { 0 } else { more } < rule.length();
    let values = stream.get(at.wrapping_add(1)..at.wrapping_add(dwords))?;
    let is_free = rule.slot() == slot::NO_RULE && in_row;
    let passes = header.reserved() == 0 && is_free && rule.pass_all(values, work);
    passes.then_some(dwords)
}

/// Checks a packet whose body begins at `at`, and its relocations. Returns the place of the next
/// packet, like the functions below.
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

/// Checks a packet of type 0.
fn write_registers(
    state: &mut State,
    cursor: &mut Cursor<'_>,
    first: usize,
    header: RegisterHeader,
) -> Checked<usize> {
    require(header.reserved() == 0, Refused::Header)?;
    let count = usize::from(header.count_less_one()).wrapping_add(1);
    let body = cursor.body(first, count)?;
    // The packet's relocations follow it, and are resolved while it is read.
    let mut next = first.wrapping_add(count);
    let mut index = u32::from(header.index());
    let step = u32::from(!header.one());
    for (at, value) in (first..).zip(body) {
        next = register(state, cursor, index, at, *value, next)?;
        index = index.wrapping_add(step);
    }
    Ok(next)
}

/// Checks the dword at `at`, which is written to a register. The next relocation is at `next`;
/// returns the place of the next relocation that is not used yet.
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
    if state
        .rules
        .at(index)
        .keep(value, &mut state.kept, state.work)
    {
        return Ok(next);
    }
    state.write(register, at, value, next, cursor)
}

/// Checks a packet of type 3.
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
    // Behind the format dword, if there is one.
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
            require(len <= vertices::MAX_DRAW, Refused::Length)?;
            state.draw_embedded(cursor, start, draw)?;
        }
        opcode::DRAW_INDX | opcode::DRAW_INDX_2 => {
            require(len <= vertices::MAX_DRAW, Refused::Length)?;
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

// SPDX-License-Identifier: GPL-2.0
//! Streams of commands: packets ("R5xx Acceleration" §5.1), and the objects that they name by relocations
//! (its digest §5.7).

use bitfield_struct::bitfield;

use crate::surface::BufferId;

/// Dwords after which a stream is closed.
const FULL: usize = 8 << 10;

/// Header of a packet of type 0, which writes registers one after the other (§5.1.1).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct RegisterHeader {
    /// Bits 12:0: the first register, in dwords.
    #[bits(13)]
    pub index: u16,
    #[bits(3)]
    __: u8,
    /// Bits 29:16: registers less one.
    #[bits(14)]
    pub count_less_one: u16,
    /// Bits 31:30: 0.
    #[bits(2)]
    pub kind: u8,
}

/// Header of a packet of type 3, a command (§5.1.4).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct CommandHeader {
    __: u8,
    /// Bits 15:8.
    pub opcode: u8,
    /// Bits 29:16: dwords that follow less one.
    #[bits(14)]
    pub count_less_one: u16,
    /// Bits 31:30: 3.
    #[bits(2)]
    pub kind: u8,
}

/// The command that does nothing (§5.2.4), which carries relocations.
const NOP: u8 = 0x10;
/// Dwords of a record in the list of relocations.
pub const RECORD_DWORDS: u32 = 4;

/// An object in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Which.
    pub buffer: BufferId,
    /// Whether it is written.
    pub write: bool,
}

/// Commands in the making.
#[derive(Clone, Default)]
pub struct Stream {
    dwords: Vec<u32>,
    used: Vec<Used>,
    /// Dwords with a pitch and an offset, and the object whose address is added there.
    places: Vec<(usize, Used)>,
}

impl Stream {
    /// Registers, from one on.
    pub fn registers(&mut self, first: u32, values: &[u32]) {
        let header = RegisterHeader::new()
            .with_index((first / 4) as u16)
            .with_count_less_one(values.len() as u16 - 1);
        self.dwords.push(header.into_bits());
        self.dwords.extend_from_slice(values);
    }

    /// A command.
    pub fn command(&mut self, opcode: u8, body: &[u32]) {
        let header = CommandHeader::new()
            .with_kind(3)
            .with_opcode(opcode)
            .with_count_less_one(body.len() as u16 - 1);
        self.dwords.push(header.into_bits());
        self.dwords.extend_from_slice(body);
    }

    /// The object that the packet before this means by the dword at `at`.
    pub fn object(&mut self, buffer: BufferId, write: bool, at: usize) {
        self.places.push((at, Used { buffer, write }));
        self.refer(buffer, write);
    }

    /// An object, by its place in the list.
    pub fn refer(&mut self, buffer: BufferId, write: bool) {
        let place = match self.used.iter_mut().position(|u| u.buffer == buffer) {
            Some(place) => place,
            None => {
                self.used.push(Used { buffer, write });
                self.used.len() - 1
            }
        };
        self.used[place].write |= write;
        self.command(NOP, &[place as u32 * RECORD_DWORDS]);
    }

    /// Whether it should be submitted before more is added.
    pub fn is_full(&self) -> bool {
        self.dwords.len() >= FULL
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.dwords.is_empty()
    }

    /// Its dwords.
    pub fn dwords(&self) -> &[u32] {
        &self.dwords
    }

    /// Its objects, in the order of the list of relocations.
    pub fn used(&self) -> &[Used] {
        &self.used
    }

    /// Dwords with a pitch and an offset, and the object whose address is added there.
    pub fn places(&self) -> &[(usize, Used)] {
        &self.places
    }
}

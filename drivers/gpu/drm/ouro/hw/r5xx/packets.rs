// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Packets (§5.1), which the command processor reads from the ring and from buffers.

use crate::ring::{Commands, Overflow};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// The packet without effect: type 2, one dword (§5.1.3).
pub(super) const FILLER: u32 = 0x8000_0000;
/// Most dwords of a packet's body: the count has 14 bits, and is the number less one (§5.1).
pub(super) const MAX_BODY: usize = 1 << 14;

/// Packet types, bits 31:30 of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PacketType {
    /// Type 0: writes consecutive registers, or one register repeatedly.
    Registers,
    /// Type 1: writes two registers.
    Two,
    /// Type 2: filler.
    Filler,
    /// Type 3: a command that the microcode executes.
    Command,
}

impl PacketType {
    /// Returns the type of a header.
    pub(super) const fn of(header: u32) -> Self {
        match header >> 30 {
            0 => PacketType::Registers,
            1 => PacketType::Two,
            2 => PacketType::Filler,
            _ => PacketType::Command,
        }
    }
}

/// Header of type 0 (§5.1.1).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct RegisterHeader {
    /// Bits 12:0: the first register, in dwords.
    #[bits(13)]
    pub(super) index: u16,
    /// Bits 14:13, reserved.
    #[bits(2)]
    pub(super) reserved: u8,
    /// Bit 15: all dwords go to the same register.
    pub(super) one: bool,
    /// Bits 29:16: dwords of the body, less one.
    #[bits(14)]
    pub(super) count_less_one: u16,
    /// Bits 31:30: 0.
    #[bits(2)]
    pub(super) kind: u8,
}
const_assert_eq!(core::mem::size_of::<RegisterHeader>(), 4);

/// Header of type 3 (§5.1.4).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct CommandHeader {
    /// Bits 7:0, reserved.
    pub(super) reserved: u8,
    /// Bits 15:8: opcode.
    pub(super) opcode: u8,
    /// Bits 29:16: dwords of the body, less one.
    #[bits(14)]
    pub(super) count_less_one: u16,
    /// Bits 31:30: 3.
    #[bits(2)]
    kind: u8,
}
const_assert_eq!(core::mem::size_of::<CommandHeader>(), 4);

/// Returns the header that writes registers from a byte offset on; `None` if `offset` is no
/// register's or `dwords` does not fit.
pub(super) const fn registers(offset: u32, dwords: usize, one: bool) -> Option<u32> {
    if dwords == 0 || dwords > MAX_BODY || !offset.is_multiple_of(4) || offset > 0x7ffc {
        return None;
    }
    let header = RegisterHeader::new()
        .with_index((offset / 4) as u16)
        .with_one(one)
        .with_count_less_one((dwords - 1) as u16);
    Some(header.into_bits())
}

/// Returns the header of a command; `None` if it has no body, or if the body does not fit.
pub(super) const fn command(opcode: u8, dwords: usize) -> Option<u32> {
    if dwords == 0 || dwords > MAX_BODY {
        return None;
    }
    let header = CommandHeader::new()
        .with_opcode(opcode)
        .with_count_less_one((dwords - 1) as u16)
        .with_kind(3);
    Some(header.into_bits())
}

/// Writes consecutive registers.
pub(super) fn write(out: &mut Commands<'_>, offset: u32, values: &[u32]) -> Result<(), Overflow> {
    out.put(&[registers(offset, values.len(), false).ok_or(Overflow)?])?;
    out.put(values)
}

/// Writes one register `times` times.
pub(super) fn repeat(
    out: &mut Commands<'_>,
    offset: u32,
    value: u32,
    times: usize,
) -> Result<(), Overflow> {
    out.put(&[registers(offset, times, true).ok_or(Overflow)?])?;
    for _ in 0..times {
        out.put(&[value])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_5_1() {
        // Digest §2.9: the ring's call of a buffer is 101CE, a scratch write 578, copies 201C8.
        assert_eq!(registers(0x738, 2, false), Some(0x0001_01ce));
        assert_eq!(registers(0x15e0, 1, false), Some(0x578));
        assert_eq!(registers(0x720, 3, false), Some(0x0002_01c8));
        assert_eq!(registers(0x2208, 4, true), Some(0x0003_8882));
        assert_eq!(registers(0x7ffc, 1 << 14, false), Some(0x3fff_1fff));
        for (offset, dwords) in [(0x8000, 1), (2, 1), (0, 0), (0, (1 << 14) + 1)] {
            assert_eq!(registers(offset, dwords, false), None);
        }
        // Digest §2.9: C0089B00.
        assert_eq!(command(0x9b, 9), Some(0xc008_9b00));
        assert_eq!((command(0x9b, 0), command(0x9b, 16385)), (None, None));
        let header = CommandHeader::from_bits(0xc008_9b00);
        assert_eq!((header.opcode(), header.count_less_one()), (0x9b, 8));
        assert_eq!(PacketType::of(0xc008_9b00), PacketType::Command);
        assert_eq!(PacketType::of(FILLER), PacketType::Filler);
        assert_eq!(PacketType::of(0x4000_0000), PacketType::Two);
        assert_eq!(PacketType::of(0x3fff_ffff), PacketType::Registers);
    }

    #[test]
    fn writes_carry_their_values() {
        let mut buf = [0; 8];
        let mut out = Commands::new(&mut buf);
        write(&mut out, 0x43e0, &[1, 2]).unwrap();
        repeat(&mut out, 0x4254, 9, 3).unwrap();
        assert_eq!(out.as_slice(), [0x0001_10f8, 1, 2, 0x0002_9095, 9, 9, 9]);
        assert_eq!(write(&mut out, 0x43e0, &[1]), Err(Overflow));
    }
}

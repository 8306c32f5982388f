// SPDX-License-Identifier: GPL-2.0
//! Reading streams of an R5xx that passed the checker (§5.1).

/// What is in a stream.
pub enum Packet {
    /// A command's opcode.
    Command(u32),
    /// A register, and what it gets.
    Register(u32, u32),
}

/// Goes through a stream that passed.
pub fn packets(stream: &[u32], mut seen: impl FnMut(Packet)) {
    let mut rest = stream;
    while let Some((header, behind)) = rest.split_first() {
        if header >> 30 == 2 {
            rest = behind;
            continue;
        }
        let (body, next) = behind.split_at((header >> 16 & 0x3fff) as usize + 1);
        rest = next;
        if header >> 30 == 3 {
            seen(Packet::Command(header >> 8 & 0xff));
            continue;
        }
        let step = if header & 1 << 15 == 0 { 4 } else { 0 };
        for (n, value) in body.iter().enumerate() {
            seen(Packet::Register(
                (header & 0x1fff) * 4 + n as u32 * step,
                *value,
            ));
        }
    }
}

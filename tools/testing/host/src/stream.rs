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

/// Whether a texture has macro tiles and more than one level. No document tells at which level the chip goes
/// on without them. Its users count on that it does where a level is smaller than a tile, and the checker
/// does; the model never does, so that it reports too much.
pub fn has_levels_of_macro_tiles(copy: &[u32]) -> bool {
    let (mut levels, mut tiles) = (0u32, 0u32);
    packets(copy, |packet| match packet {
        Packet::Register(at @ 0x4480..=0x44bc, value) if value >> 26 & 0xf != 0 => {
            levels |= 1 << ((at - 0x4480) / 4);
        }
        Packet::Register(at @ 0x4540..=0x457c, value) if value & 4 != 0 => {
            tiles |= 1 << ((at - 0x4540) / 4);
        }
        _ => {}
    });
    levels & tiles != 0
}

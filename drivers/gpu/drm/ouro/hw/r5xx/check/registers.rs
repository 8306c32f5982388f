// SPDX-License-Identifier: GPL-2.0
//! Registers that a stream may write.
//!
//! Here are those of which any value is harmless to memory: they shape what is drawn. Those of which not any
//! is are in [`super::state::State::write`]. Places: digest §5.7 (what others let pass) and §3.3 to §3.5.
//! Left out of that list: lines (1600 to 1608), sizes of queues (4024), memory of compressed colour (4E54 to
//! 4E7C), waiting for the display (0218, 6538).

/// First and last register of each stretch, in order.
pub(super) const FREE: &[(u32, u32)] = &[
    // Brush and colours of the 2D engine; comparing of colours is in the state.
    (0x1474, 0x1484),
    (0x15c4, 0x15cc),
    (0x15d8, 0x15dc),
    (0x16cc, 0x16cc),
    // Clip rectangles only ever take away.
    (0x16e8, 0x16f4),
    // Flush of the 2D engine's cache.
    (0x1714, 0x1714),
    (0x1d98, 0x1dac),
    (0x2080, 0x2080),
    (0x2090, 0x2094),
    (0x20b0, 0x20b0),
    (0x2140, 0x2140),
    (0x2150, 0x216c),
    (0x2180, 0x21c4),
    (0x21dc, 0x21fc),
    // The vertex engine's memory.
    (0x2200, 0x2208),
    (0x2218, 0x226c),
    (0x2284, 0x2288),
    (0x2290, 0x22dc),
    (0x2500, 0x257c),
    (0x342c, 0x342c),
    (0x4000, 0x4008),
    (0x4010, 0x4014),
    (0x401c, 0x401c),
    (0x4074, 0x40b0),
    (0x4100, 0x4100),
    (0x4114, 0x4120),
    (0x4200, 0x420c),
    (0x4214, 0x4214),
    (0x421c, 0x421c),
    (0x4230, 0x4238),
    // The pixel shaders' memory.
    (0x4250, 0x4258),
    (0x4260, 0x4268),
    (0x4278, 0x4280),
    (0x4288, 0x4298),
    (0x42a0, 0x42b8),
    (0x42c0, 0x42c4),
    (0x4300, 0x4304),
    (0x4320, 0x435c),
    (0x43a8, 0x43a8),
    // Clip rectangles.
    (0x43b0, 0x43d0),
    (0x43e0, 0x43e0),
    (0x43e8, 0x43e8),
    (0x4440, 0x447c),
    (0x4580, 0x4604),
    (0x4620, 0x4624),
    (0x4630, 0x4638),
    (0x4640, 0x467c),
    (0x46a4, 0x46b4),
    (0x46c0, 0x46c4),
    (0x4bc0, 0x4bd8),
    (0x4be0, 0x4be0),
    (0x4c00, 0x4dfc),
    (0x4e08, 0x4e08),
    (0x4e10, 0x4e24),
    (0x4e48, 0x4e50),
    (0x4ea0, 0x4ea4),
    (0x4ef8, 0x4efc),
    (0x4f04, 0x4f08),
    (0x4f14, 0x4f18),
    (0x4f28, 0x4f28),
    (0x4f58, 0x4f58),
    (0x4fd4, 0x4fd4),
];

/// Registers that a packet can name: 13 bits (§5.1.1).
const REGISTERS: usize = 1 << 13;

/// For each register, how many of a stretch are left from it on: zero for one that is not in the list.
static LEFT: [u8; REGISTERS] = left();

const fn left() -> [u8; REGISTERS] {
    let mut left = [0; REGISTERS];
    let mut i = 0;
    while i < FREE.len() {
        let (first, last) = FREE[i];
        let mut register = first / 4;
        while register <= last / 4 {
            let more = last / 4 - register + 1;
            left[register as usize] = if more > 255 { 255 } else { more as u8 };
            register += 1;
        }
        i += 1;
    }
    left
}

/// Of `count` dwords, how many of the first ones surely go to registers of which any value is harmless: not zero
/// if the first one does. They are `step` bytes apart, which is zero for one register over and over.
pub(super) fn free_from(register: u32, step: u32, count: usize) -> usize {
    match LEFT.get(register as usize / 4) {
        None | Some(0) => 0,
        Some(_) if step == 0 => count,
        Some(left) => count.min(usize::from(*left)),
    }
}

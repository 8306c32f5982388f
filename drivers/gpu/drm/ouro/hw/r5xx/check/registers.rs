// SPDX-License-Identifier: GPL-2.0
//! Registers that a stream may write.
//!
//! Two lists: [`FREE`], of which any value is harmless to memory (they shape what is drawn); [`KEPT`], whose
//! values the proof needs. Those that take a relocation, start something, or change in the copy are in
//! [`State::write`](super::state::State::write).
//! Places: digest §5.7 (what others let pass) and §3.3 to §3.5. Left out of what is there: lines (1600 to
//! 1608), sizes of queues (4024), memory of compressed colour (4E54 to 4E7C), waiting for the display (0218,
//! 6538).
//!
//! They become one table with a byte for each register, since most of a stream is packets of one register
//! each: a write is looked up once and, where it needs no more, stored without asking which list it was.

use super::slot::{self, Kept};
use static_assertions::const_assert;

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
    (0x43e8, 0x43e8),
    (0x4440, 0x447c),
    (0x4580, 0x4604),
    (0x4620, 0x4624),
    (0x4630, 0x4638),
    (0x4640, 0x467c),
    (0x46b4, 0x46b4),
    (0x46c0, 0x46c4),
    (0x4bc0, 0x4bd8),
    (0x4be0, 0x4be0),
    (0x4c00, 0x4dfc),
    (0x4e10, 0x4e24),
    (0x4e48, 0x4e50),
    (0x4ea0, 0x4ea4),
    (0x4ef8, 0x4efc),
    (0x4f14, 0x4f18),
    (0x4f28, 0x4f28),
    (0x4f58, 0x4f58),
    (0x4fd4, 0x4fd4),
];

/// All bits of a register.
const ALL: u64 = u32::MAX as u64;
/// `WAIT_UNTIL`: engines being idle or clean, which they will be. Others may never come.
const WAITS: u32 = 1 << 9 | 0x1f << 14 | 1 << 28;
/// `RB3D_CCTL`: compressed colour.
const COMPRESSED: u64 = 1 << 10;
/// `ZB_BW_CNTL`: hierarchy of depth, compression, fast clears: memory of the chip's own that is shared.
const HIERARCHY: u64 = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4;

/// Not bits, but an object that says how what is behind the register is tiled.
const TILED: u64 = 1 << 33;

/// First and last register of each stretch, the slot of the first, and bits that must be zero. Some have registers
/// in them that nobody asks for, as those that clients write along with them.
const KEPT: &[(u32, u32, u8, u64)] = &[
    (0x146c, 0x146c, slot::BLIT_CONTROL, 0),
    (0x15c0, 0x15c0, slot::BLIT_COMPARE, 0),
    (0x1720, 0x1720, slot::WAIT, !WAITS as u64),
    (0x172c, 0x172c, slot::SWAP, ALL & !3),
    (0x2088, 0x2088, slot::VERTICES, 0),
    (0x208c, 0x208c, slot::INDEX_OFFSET, 0),
    (0x20b4, 0x20b4, slot::VERTEX_SIZE, 0),
    // And the next, MIN_INDEX.
    (0x2134, 0x2138, slot::MAX_INDEX, 0),
    (0x4020, 0x4020, slot::SAMPLES, 0),
    (0x4028, 0x4028, slot::ZERO, ALL),
    (0x4104, 0x4104, slot::TEXTURES_ON, 0),
    (0x42c8, 0x42c8, slot::PIPES, 0),
    (0x43a4, 0x43a4, slot::HYPERZ, 1),
    (0x43e0, 0x43e4, slot::SCISSORS, 0),
    (0x4400, 0x443c, slot::TX_FILTER, 0),
    (0x4480, 0x44bc, slot::TX_SIZE, 0),
    (0x44c0, 0x44fc, slot::TX_FORMAT, 0),
    (0x4500, 0x453c, slot::TX_PITCH, 0),
    (0x46a4, 0x46b0, slot::OUT_FORMAT, 0),
    (0x4e00, 0x4e00, slot::COLOUR_CONTROL, COMPRESSED),
    (0x4e04, 0x4e0c, slot::BLEND, 0),
    (0x4e38, 0x4e44, slot::COLOUR_PITCH, TILED),
    (0x4e84, 0x4e84, slot::RESOLVED_PITCH, 0),
    (0x4e88, 0x4e88, slot::RESOLVE, 0),
    (0x4f00, 0x4f08, slot::DEPTH_CONTROL, 0),
    (0x4f10, 0x4f10, slot::DEPTH_FORMAT, 0),
    (0x4f1c, 0x4f1c, slot::BANDWIDTH, HIERARCHY),
    (0x4f24, 0x4f24, slot::DEPTH_PITCH, TILED),
    (0x4f30, 0x4f34, slot::ZERO, ALL),
    (0x4f44, 0x4f44, slot::ZERO, ALL),
    (0x4f54, 0x4f54, slot::ZERO, ALL),
];

/// Registers that a packet can name: 13 bits (§5.1.1).
pub(super) const REGISTERS: usize = 1 << 13;

/// What becomes of a write, in one byte: the slot for [`KEPT`]; for [`FREE`] one which nobody asks for. From 80h on it
/// has to be looked at: the slot of one that [`Looks`] knows more of, or 80h for registers that are in no list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule(u8);

impl Rule {
    /// Of [`FREE`].
    pub(super) const FREE: Self = Self(slot::NOBODYS);
    const OTHER: Self = Self(0x80 | slot::NOBODYS);

    /// Of the register with this index; only its 13 bits count.
    #[inline]
    pub(super) fn of(index: u32) -> Self {
        RULES[index as usize % REGISTERS]
    }

    /// The slot, and whether whatever is written goes there.
    #[inline]
    pub(super) const fn slot(self) -> (u8, bool) {
        (self.0 & !Self::OTHER.0, self.0 < Self::OTHER.0)
    }

    /// Keeps what the register gets, if that is all there is to do; whether it was.
    #[inline]
    pub(super) fn keep(self, value: u32, kept: &mut Kept, looks: &Looks) -> bool {
        let (slot, any) = self.slot();
        let keeps = any || looks.pass(slot, value);
        if keeps {
            kept.set(slot, value);
        }
        keeps
    }
}

/// What must be zero of values that have to be looked at, by their slots, which are the first ones: bits of the register,
/// and above them [`ALWAYS`].
pub(super) struct Looks([u64; slot::ANY as usize]);

/// A bit that no value leaves zero.
const ALWAYS: u64 = 1 << 32;

impl Looks {
    /// Those of a stream that knows how its objects are tiled, or does not.
    pub(super) const fn of(knows_tiling: bool) -> &'static Self {
        static KNOWS: Looks = looks(true);
        static ASKS: Looks = looks(false);
        match knows_tiling {
            true => &KNOWS,
            false => &ASKS,
        }
    }

    /// Whether a value may be kept.
    #[inline]
    const fn pass(&self, slot: u8, value: u32) -> bool {
        const_assert!(slot::ANY.is_power_of_two());
        (value as u64 | ALWAYS) & self.0[(slot % slot::ANY) as usize] == 0
    }
}

/// How many registers from the one with this index on are kept, whatever they get, in slots that follow each other or
/// in none: none, up to 255. A stretch of those that are in none is as good as its first one's slot.
#[inline]
pub(super) fn stretch(index: u32) -> usize {
    STRETCHES[index as usize % REGISTERS].into()
}

static RULES: [Rule; REGISTERS] = rules();
static STRETCHES: [u8; REGISTERS] = stretches();

const fn rules() -> [Rule; REGISTERS] {
    let mut all = [Rule::OTHER; REGISTERS];
    let mut i = 0;
    while i < FREE.len() {
        let (first, last) = FREE[i];
        let mut at = first;
        while at <= last {
            list(&mut all, at, Rule::FREE);
            at += 4;
        }
        i += 1;
    }
    i = 0;
    while i < KEPT.len() {
        let (first, last, slot, bits) = KEPT[i];
        let looked_at = if bits == 0 { 0 } else { Rule::OTHER.0 };
        let mut at = first;
        while at <= last {
            let n = if slot == slot::ZERO {
                0
            } else {
                (at - first) / 4
            };
            list(&mut all, at, Rule(looked_at | (slot + n as u8)));
            at += 4;
        }
        i += 1;
    }
    all
}

const fn stretches() -> [u8; REGISTERS] {
    let mut all = [0; REGISTERS];
    let mut i = 0;
    while i < FREE.len() {
        let (first, last) = FREE[i];
        stretch_from(&mut all, first, last);
        i += 1;
    }
    i = 0;
    while i < KEPT.len() {
        let (first, last, _, bits) = KEPT[i];
        if bits == 0 {
            stretch_from(&mut all, first, last);
        }
        i += 1;
    }
    all
}

const fn stretch_from(all: &mut [u8; REGISTERS], first: u32, last: u32) {
    let mut at = first;
    while at <= last {
        let length = (last - at) / 4 + 1;
        all[at as usize / 4] = if length > 0xff { 0xff } else { length as u8 };
        at += 4;
    }
}

/// A register comes into the table; from one list only.
const fn list(all: &mut [Rule; REGISTERS], register: u32, rule: Rule) {
    let at = register as usize / 4;
    assert!(all[at].0 == Rule::OTHER.0, "it is in two lists");
    all[at] = rule;
}

const fn looks(knows_tiling: bool) -> Looks {
    // What is in no list is not kept.
    let mut all = [ALWAYS; slot::ANY as usize];
    let mut i = 0;
    while i < KEPT.len() {
        let (first, last, slot, bits) = KEPT[i];
        let mut at = first;
        while bits != 0 && at <= last {
            let n = if slot == slot::ZERO {
                0
            } else {
                (at - first) as usize / 4
            };
            all[slot as usize + n] = match (bits == TILED, knows_tiling) {
                (true, true) => 0,
                (true, false) => ALWAYS,
                (false, _) => bits,
            };
            at += 4;
        }
        i += 1;
    }
    Looks(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(register: u32) -> Rule {
        Rule::of(register / 4)
    }

    #[test]
    fn a_stretch_ends_where_the_list_says() {
        // Digest §5.7: 4E48 to 4E50, 4EF8 to 4EFC, 4C00 to 4DFC; all single ones but the last.
        for (register, more) in [(0x4e48, 2), (0x4e4c, 1), (0x4e50, 0), (0x4ef8, 1)] {
            assert_eq!(stretch(register / 4), more + 1, "{register:x}");
        }
        assert_eq!(stretch(0x4c00 / 4), 128);
        // Digest §3.5: TX_FORMAT1 of sixteen.
        for n in 0..16 {
            assert_eq!(stretch(0x44c0 / 4 + n), 16 - n as usize);
        }
        // One that is looked at, two that take a relocation, one that is in no list, a port.
        for register in [0x4e00, 0x4e28, 0x4e38, 0x4018, 0x2084] {
            assert_eq!(stretch(register / 4), 0, "{register:x}");
        }
    }

    #[test]
    fn each_register_has_a_slot_of_its_own() {
        let mut kept = Kept::new();
        let looks = Looks::of(false);
        let rows = KEPT.iter().filter(|row| row.3 == 0);
        let registers = || rows.clone().flat_map(|row| (row.0..=row.1).step_by(4));
        for register in registers() {
            assert!(
                rule(register).keep(register, &mut kept, looks),
                "{register:x}"
            );
        }
        // And those of which any value is harmless have none of these.
        for register in FREE.iter().flat_map(|row| (row.0..=row.1).step_by(4)) {
            assert!(rule(register).keep(1, &mut kept, looks), "{register:x}");
        }
        for register in registers() {
            assert_eq!(kept.get(rule(register).0), register);
            assert_ne!(rule(register).0, slot::NOBODYS);
        }
        // Digest §3.5: the fourth texture's format, the index offset.
        assert_eq!(kept.nth(slot::TX_FORMAT, 3), 0x44cc);
        assert_eq!(kept.get(slot::INDEX_OFFSET), 0x208c);
    }

    #[test]
    fn what_needs_more_is_not_kept() {
        let mut kept = Kept::new();
        // Relocations, starts, what is no register of the list; bits that must be zero.
        for (register, value) in [
            (0x4e28, 0),
            (0x143c, 0),
            (0x2084, 0),
            (0x1720, 1),
            (0x4e00, 1 << 10),
            (0x43a4, 1),
            (0x4f54, 1 << 31),
        ] {
            for knows_tiling in [false, true] {
                let looks = Looks::of(knows_tiling);
                assert!(
                    !rule(register).keep(value, &mut kept, looks),
                    "{register:x}"
                );
            }
        }
        // Digest §3.5: pitches of colour and depth. Whoever knows the tiles needs no object for them.
        for register in [0x4e38, 0x4e3c, 0x4e40, 0x4e44, 0x4f24] {
            for knows_tiling in [false, true] {
                let looks = Looks::of(knows_tiling);
                let keeps = rule(register).keep(register, &mut kept, looks);
                assert_eq!(keeps, knows_tiling, "{register:x}");
            }
            assert_eq!(kept.get(rule(register).slot().0), register);
        }
    }
}
